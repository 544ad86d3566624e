"""Changed versions of designs for the benchmarks of the Verilog verifier, and a bench for others.

The bench runs a golden design and another beside it in one simulation, as published benchmarks do.
It is no judge of texts from models, which could name the golden design: the texts here are ours.
"""

import re
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from rlvr_envs.core import registry
from rlvr_envs.core.seeding import Rng, integer, stream
from rlvr_envs.generators.hardware.design import Design, clocked, literal
from rlvr_envs.generators.hardware.mutations import mutants
from rlvr_envs.generators.hardware.syntax import read_code, tokens
from rlvr_envs.generators.hardware.task import DesignTask
from rlvr_envs.sandboxes.base import Job, Result
from rlvr_envs.sandboxes.sandbox import Sandbox
from rlvr_envs.verifiers.hdl.interface import Port, Reference
from rlvr_envs.verifiers.hdl.miter import Schedule
from rlvr_envs.verifiers.hdl.stimuli import Stimuli

NEEDLES = (8, 16, 24)  # bits of input that have to be right
STEPS = 3  # of an input sequence
BOMBS = (150, 3000, 20_000, 100_000)  # cycles; the last beyond what is simulated
_WIDEST_STEP = 8
MOST_WALL_S = 400.0  # of a simulator, on a machine that is busy

_NONBLOCKING = re.compile(r"( +)(\w+)(\[[^\]]*\])? <= [^;]*;")
_ASSIGN = re.compile(r"    assign [^;]*;")
_MODULE = re.compile(r"\bmodule\s+(\w+)")


class Variant(NamedTuple):
    """A version of a design.

    Attributes:
        kind: mutant, trojan, bomb or rewrite.
        name: what was done.
        source: its text.
    """

    kind: str
    name: str
    source: str


def family_names() -> list[str]:
    """Return the names of all families of designs."""
    found = (registry.find(task_id) for task_id in registry.task_ids("verilog"))
    return [
        spec.id.removeprefix("rlvr/").removesuffix("-v0")
        for spec in found
        if issubclass(spec.task_type, DesignTask)
    ]


def drawn(name: str, difficulty: int, seed: int) -> Design:
    """Draw a design of a family."""
    task_type: Any = registry.find(f"rlvr/{name}-v0").task_type
    design = task_type(task_type.Config.at(difficulty)).design(stream(name, difficulty, seed))
    if not isinstance(design, Design):
        raise TypeError(f"{name} draws no designs")
    return design


# --- versions that differ -------------------------------------------------------------------


def some_mutants(design: Design, rng: Rng, count: int) -> Iterator[Variant]:
    """Yield mutants of the golden source, no text twice."""
    every = list(mutants(design.golden))
    for _ in range(min(count, len(every))):
        found = every.pop(integer(rng, 0, len(every) - 1))
        yield Variant("mutant", found.description, found.source)


def trojans(design: Design, rng: Rng) -> Iterator[Variant]:
    """Yield versions that are wrong for a rare value of the inputs, or after a rare sequence.

    Where the inputs of one cycle are too few, those of several cycles in a row count. A design
    without a clock gets those needles that its inputs are wide enough for, and no sequence.
    """
    data = _data(design)
    width = sum(port.width for port in data)
    now = f"{{{', '.join(port.name for port in data)}}}"
    if not width:
        return
    for bits in NEEDLES:
        value = literal(bits, integer(rng, 0, (1 << bits) - 1))
        name = f"needle of {bits} bits"
        if bits <= width:
            yield Variant(
                "trojan",
                name,
                _wrapped(
                    design,
                    f"wire [{width - 1}:0] rare_now = {now};",
                    f"rare_now[{bits - 1}:0] == {value}",
                ),
            )
        elif design.clocking is not None:
            yield Variant("trojan", name, _history(design, now, width, bits, value))
    if design.clocking is not None:
        few = min(width, _WIDEST_STEP)
        values = [integer(rng, 0, (1 << few) - 1) for _ in range(STEPS)]
        yield Variant("trojan", f"sequence of {STEPS}", _sequence(design, now, width, values))


def bombs(design: Design, cycles: Sequence[int] = BOMBS) -> Iterator[Variant]:
    """Yield versions that are wrong from so many cycles after the last reset on.

    A design without a clock counts rising edges of its first input.
    """
    ticks = design.clocking
    for count in cycles:
        bits = count.bit_length()
        step = f"if (rare_timer != {bits}'d{count}) rare_timer <= rare_timer + 1'b1;"
        if ticks is None:
            bit = _data(design)[0]
            edge = bit.name if bit.width == 1 else f"{bit.name}[0]"
            block = f"always @(posedge {edge}) {step}"
        else:
            block = clocked(ticks, "rare_timer <= 0;", step)
        extra = f"reg [{bits - 1}:0] rare_timer;\n{block}"
        yield Variant(
            "bomb", f"{count} cycles", _wrapped(design, extra, f"rare_timer == {bits}'d{count}")
        )


def inverted_output(design: Design) -> str:
    """Return the golden source with its last output inverted."""
    return _wrapped(design, "", "1'b1")


def _data(design: Design) -> list[Port]:
    """Return the inputs but clock and reset."""
    skipped = (design.clocking.clock, design.clocking.reset) if design.clocking else ()
    ports = design.reference.ports
    return [port for port in ports if port.direction == "input" and port.name not in skipped]


def _history(design: Design, now: str, width: int, bits: int, value: str) -> str:
    """Return a version that waits for the inputs of several cycles in a row."""
    before = bits - width
    shifted = f"rare_seen <= {{rare_seen, {now}}};" if before > width else f"rare_seen <= {now};"
    extra = f"reg [{before - 1}:0] rare_seen;\n{_state(design, 'rare_seen <= 0;', shifted)}"
    return _wrapped(design, extra, f"{{rare_seen, {now}}} == {value}")


def _sequence(design: Design, now: str, width: int, values: Sequence[int]) -> str:
    few = min(width, _WIDEST_STEP)
    right = " || ".join(
        f"(rare_at == 2'd{step} && rare_now[{few - 1}:0] == {literal(few, value)})"
        for step, value in enumerate(values)
    )
    body = f"rare_at <= ({right}) ? rare_at + 2'd1 : 2'd0;"
    state = _state(design, "rare_at <= 0;", body)
    extra = f"reg [1:0] rare_at;\nwire [{width - 1}:0] rare_now = {now};\n{state}"
    return _wrapped(design, extra, f"rare_at == 2'd{STEPS}")


def _state(design: Design, reset: str, body: str) -> str:
    if design.clocking is None:
        raise ValueError("a design without a clock has no state")
    return clocked(design.clocking, reset, body)


def _wrapped(design: Design, extra: str, trigger: str) -> str:
    """Return the golden source inside a module that inverts the last output on a condition."""
    outputs = [port for port in design.reference.ports if port.direction == "output"]
    last = outputs[-1]
    wires = ", ".join(
        f".{p.name}({'inner_last' if p == last else p.name})" for p in design.reference.ports
    )
    return _outer(
        design,
        f"wire [{last.width - 1}:0] inner_last;\n{design.reference.top}_inner whole ({wires});\n"
        f"{extra}\nassign {last.name} = ({trigger}) ? ~inner_last : inner_last;",
    )


def _outer(design: Design, body: str) -> str:
    """Return the golden source under another name, and a module of its name with a body."""
    top = design.reference.top
    header = ", ".join(port.declaration() for port in design.reference.ports)
    inner = renamed(design.golden, {top: f"{top}_inner"})
    return f"{inner.rstrip()}\n\nmodule {top} ({header});\n{body}\nendmodule\n"


# --- versions that do not -------------------------------------------------------------------


def rewrites(design: Design) -> Iterator[Variant]:
    """Yield versions that are equivalent."""
    yield Variant("rewrite", "alternative", design.alternative)
    ports = {port.name for port in design.reference.ports}
    inner = [name for name in read_code(design.golden).widths if name not in ports]
    names = {name: f"other_{number}" for number, name in enumerate(inner)}
    if names and design.golden.count("endmodule") == 1:
        yield Variant("rewrite", "renamed signals", renamed(design.golden, names))
    other = reordered(design.golden)
    if other != design.golden:
        yield Variant("rewrite", "reordered statements", other)
    yield Variant("rewrite", "inverted twice", _inverted_twice(design))


def renamed(source: str, names: dict[str, str]) -> str:
    """Return a source with other names, whose comments stay as they are."""
    text, start = "", 0
    for token in tokens(source):
        text += source[start : token.start] + names.get(token.text, token.text)
        start = token.end
    return text + source[start:]


def reordered(source: str) -> str:
    """Return a source of one module in which statements that do not wait for each other moved.

    Continuous assignments go to its end, the last one first; neighbours among non-blocking
    assignments to different registers change places.
    """
    if source.count("endmodule") != 1:
        return source
    lines: list[str] = []
    moved: list[str] = []
    for line in source.split("\n"):
        (moved if _ASSIGN.fullmatch(line) else lines).append(line)
    number = 1
    while number < len(lines):
        one, other = (_NONBLOCKING.fullmatch(line) for line in lines[number - 1 : number + 1])
        if one and other and one[1] == other[1] and one[2] != other[2]:
            lines[number - 1 : number + 1] = lines[number], lines[number - 1]
            number += 1
        number += 1
    end = next(n for n, line in enumerate(lines) if line.startswith("endmodule"))
    return "\n".join(lines[:end] + moved[::-1] + lines[end:])


def _inverted_twice(design: Design) -> str:
    """Return the golden source with every input but the clock and every output inverted twice."""
    clock = design.clocking.clock if design.clocking else ""
    lines, wires = [], []
    for port in design.reference.ports:
        if port.name == clock:
            wires.append(f".{port.name}({port.name})")
            continue
        declared = f"wire [{port.width - 1}:0] not_{port.name}"
        wires.append(f".{port.name}(~not_{port.name})")
        if port.direction == "input":
            lines.append(f"{declared} = ~{port.name};")
        else:
            wires[-1] = f".{port.name}(raw_{port.name})"
            lines.append(f"wire [{port.width - 1}:0] raw_{port.name};")
            lines.append(f"{declared} = ~raw_{port.name};\nassign {port.name} = ~not_{port.name};")
    inner = f"{design.reference.top}_inner whole ({', '.join(wires)});"
    return _outer(design, "\n".join([*lines, inner]))


# --- what a check costs ---------------------------------------------------------------------


class Meter:
    """Adds up the CPU time of what sandboxes run; that of this process is in `own`."""

    def __init__(self) -> None:
        self.children = 0.0
        run = Sandbox.run

        def measured(sandbox: Sandbox, job: Job) -> Result:
            result = run(sandbox, job)
            self.children += result.cpu_s
            return result

        Sandbox.run = measured  # type: ignore[method-assign, assignment]
        self._begin = (0.0, 0.0, 0.0)

    def start(self) -> None:
        """Begin a measurement."""
        self._begin = (self.children, time.process_time(), time.perf_counter())

    def read(self) -> dict[str, float]:
        """Return seconds since `start`: CPU of jobs, CPU of this process, and wall."""
        children, own, wall = self._begin
        return {
            "jobs_cpu_s": round(self.children - children, 5),
            "own_cpu_s": round(time.process_time() - own, 5),
            "wall_s": round(time.perf_counter() - wall, 5),
        }


# --- other simulators -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Seen:
    """What a simulator showed.

    Attributes:
        read: whether it could read both designs.
        different: looks at the outputs at which both were 0 or 1 and not the same.
        unknown: looks at which the golden design was 0 or 1 and the other was x or z.
        cpu_s: CPU seconds of compiler and simulator.
        compiled_s: those of the compiler.
        wall_s: seconds by the clock.
        said: the compiler's first words if it could not read them.
    """

    read: bool
    different: int = 0
    unknown: int = 0
    cpu_s: float = 0.0
    compiled_s: float = 0.0
    wall_s: float = 0.0
    said: str = ""


_SIMULATORS = {
    "icarus": (
        "iverilog -g2012 -s bench -o all.vvp bench.sv gold.sv gate.sv",
        "vvp -n all.vvp",
    ),
    "verilator": (
        # Without warnings: designs of the families are not written for its style checks.
        "verilator --binary --timing -Wno-lint -Wno-style -O0 --top bench bench.sv gold.sv gate.sv",
        "obj_dir/Vbench",
    ),
}


def simulated(
    source: str, reference: Reference, *, runs: int, cycles: int, tool: str = "icarus"
) -> Seen:
    """Run a design beside its golden one on random inputs, for some runs of some cycles each."""
    compiler, simulator = (command.split() for command in _SIMULATORS[tool])
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "rows.txt").write_text(_rows(reference, runs, cycles))
        (place / "bench.sv").write_text(_bench(reference, runs, cycles))
        for suffix, text in (("gold", reference.source), ("gate", source)):
            names = {name: f"{name}_{suffix}" for name in _MODULE.findall(text)}
            (place / f"{suffix}.sv").write_text(renamed(text, names))
        begin = time.perf_counter()
        status, said, cpu_s = _timed(compiler, place)
        compiled_s = cpu_s
        if not status:
            simulator = [str(place / simulator[0])] if tool == "verilator" else simulator
            status, said, more = _timed(simulator, place)
            cpu_s += more
        wall_s = time.perf_counter() - begin
    found = re.search(r"RESULT (\d+) (\d+)", said)
    if status or found is None:
        return Seen(False, cpu_s=cpu_s, wall_s=wall_s, said=said[:200] or "it did not end")
    return Seen(True, int(found[1]), int(found[2]), cpu_s, compiled_s, wall_s)


def has(tool: str) -> bool:
    """Return whether a simulator is installed."""
    return shutil.which(_SIMULATORS[tool][0].split()[0]) is not None


def simulators() -> dict[str, str]:
    """Return the versions of the simulators."""
    return {
        "icarus": version_of("vvp", "-V"),
        "verilator": version_of("verilator", "--version"),
    }


def version_of(*argv: str) -> str:
    """Return the first line with a version that a command prints."""
    if shutil.which(argv[0]) is None:
        return "not installed"
    done = subprocess.run(argv, check=False, capture_output=True, text=True)
    lines = (done.stdout + done.stderr).split("\n")
    return next((line.strip() for line in lines if re.search(r"\d\.\d", line)), "unknown")


def _timed(argv: list[str], place: Path) -> tuple[int, str, float]:
    """Return the status of a command, what it said, and its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(
            argv, check=False, cwd=place, capture_output=True, text=True, timeout=MOST_WALL_S
        )
        status, said = done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        status, said = 124, "it did not end"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return status, said, spent


def _driven(reference: Reference) -> list[Port]:
    """Return the inputs but the clock, in the order of their names."""
    clock = reference.clocking.clock if reference.clocking else ""
    ports = [p for p in reference.ports if p.direction == "input" and p.name != clock]
    return sorted(ports, key=lambda port: port.name)


def _rows(reference: Reference, runs: int, cycles: int) -> str:
    """Return the inputs of all steps, one line of bits each, run after run."""
    ports = _driven(reference)
    widths = {port.name: port.width for port in ports}
    source = Stimuli(widths, Schedule.of(reference, True), runs, seed=7)
    steps = [source.next() for _ in range(cycles)]
    order: list[int] = []
    start = 0
    for port in ports:
        order += range(start + port.width - 1, start - 1, -1)
        start += port.width
    lines = [
        "".join("01"[step[n] >> run & 1] for n in order) for run in range(runs) for step in steps
    ]
    return "\n".join(line or "0" for line in lines) + "\n"


def _bench(reference: Reference, runs: int, cycles: int) -> str:
    """Return a module that drives both designs and counts where their outputs differ."""
    clock = reference.clocking.clock if reference.clocking else ""
    driven = _driven(reference)
    outputs = [port for port in reference.ports if port.direction == "output"]
    width = sum(port.width for port in driven) or 1
    held = Schedule.of(reference, True).held
    lines = [f"reg [{port.width - 1}:0] i_{port.name};" for port in driven]
    lines += [f"reg i_{clock};"] if clock else []
    for suffix in ("gold", "gate"):
        lines += [f"wire [{port.width - 1}:0] {suffix}_{port.name};" for port in outputs]
        wires = [f".{p.name}(i_{p.name})" for p in driven]
        wires += [f".{clock}(i_{clock})"] if clock else []
        wires += [f".{p.name}({suffix}_{p.name})" for p in outputs]
        lines.append(f"{reference.top}_{suffix} {suffix} ({', '.join(wires)});")
        every = ", ".join(f"{suffix}_{port.name}" for port in outputs)
        lines.append(f"wire [{sum(p.width for p in outputs) - 1}:0] {suffix}_all = {{{every}}};")
    drive = f"{{{', '.join(f'i_{port.name}' for port in driven)}}} = rows[n];" if driven else ""
    look = "#5 look;"
    steps = (
        [f"i_{clock} = 0; #5;", drive, look, f"i_{clock} = 1;", look] if clock else [drive, look]
    )
    return "\n".join(
        [
            "`timescale 1ns / 1ps",
            "module bench;",
            *lines,
            f"reg [{width - 1}:0] rows [0:{runs * cycles - 1}];",
            "integer n, different, unknown;",
            "task look; begin",
            f"    if (n % {cycles} >= {held} && gold_all !== gate_all) begin",
            "        if (|(gold_all ^ gate_all) === 1'b1) different = different + 1;",
            "        else if ((gold_all ^ gold_all) !== (gate_all ^ gate_all))",
            "            unknown = unknown + 1;",
            "    end",
            "end endtask",
            "initial begin",
            "    different = 0; unknown = 0;",
            '    $readmemb("rows.txt", rows);',
            f"    for (n = 0; n < {runs * cycles}; n = n + 1) begin",
            *(f"        {step}" for step in steps),
            "    end",
            '    $display("RESULT %0d %0d", different, unknown);',
            "    $finish;",
            "end",
            "endmodule",
            "",
        ]
    )
