"""A second opinion on an answer: Icarus Verilog, a simulator of events that knows x and z.

Synthesis and simulation read some texts differently: sensitivity lists that lack a signal, races
between blocks, delays, a division by zero. An answer that is equivalent to its reference after
synthesis can be run here beside it: each alone in a process of its own, on the same inputs, under a
bench of ours that writes down the outputs; the two records are compared outside. Nothing that an
answer prints is read, and an answer that came this far holds nothing that prints.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from rlvr_envs.core.errors import SandboxError, ToolchainMissing
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.sandboxes.base import Job, Limits, Result, RunStatus
from rlvr_envs.sandboxes.languages import find_tool
from rlvr_envs.sandboxes.shared import shared_sandbox
from rlvr_envs.verifiers.hdl.interface import Port, Reference
from rlvr_envs.verifiers.hdl.miter import Schedule
from rlvr_envs.verifiers.hdl.source import Source, read_source
from rlvr_envs.verifiers.hdl.stimuli import Stimuli

LEAST_VERSION = 11
RUNS = 4
CYCLES = 256
BENCH = "rlvr_envs_bench"
_HINT = "as root: apt-get install iverilog"
_TRACE, _STIMULI = "trace.txt", "stimuli.txt"
_VERSION = re.compile(r"version (\d+)")
_LIMITS = Limits(cpu_s=5.0, memory_mib=512, file_mib=32, disk_mib=64)
_MOST_DETAIL = 600


@dataclass(frozen=True, slots=True)
class Trace:
    """What a design showed under the bench.

    Attributes:
        rows: for each moment that was looked at, the outputs as words of 0, 1, x and z, in the
            order of the reference's ports; fewer where the run did not come to its end.
        fault: why there is none, or not all of it.
        compiled: whether Icarus could read the source.
        slow: whether that is for its CPU time.
    """

    rows: tuple[tuple[str, ...], ...]
    fault: str = ""
    compiled: bool = True
    slow: bool = False


def available() -> bool:
    """Return whether there is an Icarus here that is new enough."""
    try:
        require()
    except ToolchainMissing:
        return False
    return True


@lru_cache(maxsize=1)
def require() -> None:
    """Raise `ToolchainMissing`, with the way to install it, unless Icarus is `available`.

    Raises:
        SandboxError: the sandbox failed.
    """
    missing = [tool for tool in ("iverilog", "vvp") if find_tool(tool) is None]
    if missing:
        raise ToolchainMissing(
            f"simulating Verilog needs Icarus Verilog ({' and '.join(missing)}), which is not "
            f"installed; {_HINT}"
        )
    result = shared_sandbox().run(Job(argv=("vvp", "-V"), limits=_LIMITS))
    found = _VERSION.search((result.stdout + result.stderr).decode(errors="replace"))
    if found is None:
        raise SandboxError(f"vvp does not tell its version: {result.detail}")
    if int(found[1]) < LEAST_VERSION:
        raise ToolchainMissing(
            f"simulating Verilog needs Icarus Verilog {LEAST_VERSION} or later, this is {found[1]}"
        )


def cosimulate(answer: str, reference: Reference, verdict: Verdict) -> Verdict:
    """Return a verdict that stands only if Icarus sees no difference either.

    Args:
        answer: a source that was taken for equivalent.
        reference: to what. Where it shows an x or a z, anything is right.
        verdict: what was found before. It stands too where Icarus cannot read the reference; its
            part ``icarus`` then is 0.

    Raises:
        ToolchainMissing: Icarus is not installed.
    """
    require()
    try:
        gold = _reference_trace(reference)
        if not gold.compiled or gold.fault:
            return Verdict.correct(verdict.detail, **{**verdict.parts, "icarus": 0.0})
        read = read_source(answer, reference.top)
        gate = run(read.text if isinstance(read, Source) else answer, reference)
    except SandboxError as error:
        return Verdict.verifier_error(str(error))
    parts = {**verdict.parts, "icarus": 1.0}
    if not gate.compiled:
        return Verdict.wrong(f"Icarus, which has to agree, cannot read it: {gate.fault}", **parts)
    wrong = difference(gold, gate, reference)
    if wrong:
        return Verdict.wrong(f"a simulation tells it from the reference: {wrong}", **parts)
    return Verdict.correct(f"{verdict.detail}, and a simulation agrees", **parts)


def difference(gold: Trace, gate: Trace, reference: Reference) -> str:
    """Return the first difference between two records as a sentence, nothing if there is none."""
    outputs = [port for port in reference.ports if port.direction == "output"]
    looks = _looks(reference)
    held = Schedule.of(reference, True).held
    for number, (right, found) in enumerate(zip(gold.rows, gate.rows, strict=False)):
        if number // looks % CYCLES < held:
            continue
        for port, expected, got in zip(outputs, right, found, strict=True):
            if any(e in "01" and e != g for e, g in zip(expected, got, strict=True)):
                return (
                    f"in step {number // looks}, `{port.name}` has to be {expected}, and is {got}"
                )
    if len(gate.rows) < len(gold.rows):
        return gate.fault or "it ends too early"
    return ""


@lru_cache(maxsize=64)
def _reference_trace(reference: Reference) -> Trace:
    """Return the trace of a reference, which is kept; one that takes too long is not.

    Raises:
        SandboxError: the sandbox failed, or the reference took too long.
    """
    trace = run(reference.source, reference)
    if trace.slow:
        raise SandboxError(f"simulating the reference took too long: {trace.fault}")
    return trace


def run(source: str, reference: Reference) -> Trace:
    """Run one design alone.

    Args:
        source: of the design.
        reference: says which ports it has, and which are clock and reset.

    Raises:
        SandboxError: the sandbox failed.
    """
    job = Job(
        compile=("iverilog", "-g2012", "-s", BENCH, "-o", "design.vvp", "bench.sv", "design.sv"),
        argv=("vvp", "-n", "design.vvp"),
        files={
            "bench.sv": bench(reference).encode(),
            "design.sv": source.encode(errors="replace"),
            _STIMULI: stimuli(reference).encode(),
        },
        limits=_LIMITS,
        collect=(_TRACE,),
    )
    result = shared_sandbox().run(job)
    if result.status in (RunStatus.SANDBOX_ERROR, RunStatus.WALL_TIMEOUT):  # nothing here sleeps
        raise SandboxError(f"the simulation did not run: {result.detail}")
    if result.status is RunStatus.COMPILE_ERROR:
        said = result.stderr.decode(errors="replace") or result.detail
        slow = ran_out(result, job.compile_limits)
        return Trace((), said.strip()[:_MOST_DETAIL], compiled=False, slow=slow)
    text = result.files.get(_TRACE, b"").decode("ascii", "replace")
    widths = [port.width for port in reference.ports if port.direction == "output"]
    rows = [tuple(line.split(" ")) for line in text.split("\n")]
    whole = [row for row in rows if [len(word) for word in row] == widths]
    wanted = RUNS * CYCLES * _looks(reference)
    fault = "" if len(whole) == wanted else f"the simulation does not end: {result.detail}"
    return Trace(tuple(whole[:wanted]), fault, slow=ran_out(result, _LIMITS))


def ran_out(result: Result, limits: Limits) -> bool:
    """Return whether a run, or a compiler's, was ended for its CPU time."""
    return result.status is RunStatus.CPU_TIMEOUT or result.cpu_s > limits.cpu_s


def stimuli(reference: Reference) -> str:
    """Return the inputs of all steps, one line of bits for each."""
    inputs = _inputs(reference)
    widths = {port.name: port.width for port in sorted(inputs, key=lambda port: port.name)}
    source = Stimuli(widths, Schedule.of(reference, True), RUNS, seed=0)
    steps = [source.next() for _ in range(CYCLES)]
    lines = []
    for run_number in range(RUNS):
        for step in steps:
            bits = iter(step)
            words = {n: [next(bits) >> run_number & 1 for _ in range(widths[n])] for n in widths}
            rows = [words[port.name][::-1] for port in inputs]
            lines.append("".join(str(bit) for row in rows for bit in row) or "0")
    return "\n".join(lines) + "\n"


def bench(reference: Reference) -> str:
    """Return the bench: it sets inputs while the clock is low, and looks before every edge."""
    inputs = _inputs(reference)
    outputs = [port for port in reference.ports if port.direction == "output"]
    clock = reference.clocking.clock if reference.clocking else ""
    wires = ", ".join(f".{port.name}({_wire(port.name)})" for port in reference.ports)
    formats = " ".join("%b" for _ in outputs)
    shown = ", ".join(_wire(port.name) for port in outputs)
    look = f'#5 $fdisplay(file, "{formats}", {shown});'
    width = max(1, sum(port.width for port in inputs))
    last = RUNS * CYCLES - 1
    head = [f"    reg [{port.width - 1}:0] {_wire(port.name)};" for port in inputs]
    head += [f"    wire [{port.width - 1}:0] {_wire(port.name)};" for port in outputs]
    head += [f"    reg {_wire(clock)};"] if clock else []
    target = ", ".join(_wire(port.name) for port in inputs)
    body = [f"{{{target}}} = rows[step];"] if inputs else []
    body.append(look)
    if clock:
        body = [f"{_wire(clock)} = 0;", "#5;", *body, f"{_wire(clock)} = 1;", look]
    return "\n".join(
        [
            "`timescale 1ns / 1ps",
            f"module {BENCH};",
            *head,
            f"    reg [{width - 1}:0] rows [0:{last}];",
            "    integer step, file;",
            f"    {reference.top} device ({wires});",
            "    initial begin",
            f'        $readmemb("{_STIMULI}", rows);',
            f'        file = $fopen("{_TRACE}");',
            f"        for (step = 0; step <= {last}; step = step + 1) begin",
            *(f"            {line}" for line in body),
            "        end",
            "        $finish;",
            "    end",
            "endmodule",
            "",
        ]
    )


def _looks(reference: Reference) -> int:
    """Return how often outputs are looked at in a step."""
    return 2 if reference.clocking else 1


def _inputs(reference: Reference) -> list[Port]:
    """Return the inputs but the clock."""
    clock = reference.clocking.clock if reference.clocking else ""
    return [p for p in reference.ports if p.direction == "input" and p.name != clock]


def _wire(name: str) -> str:
    """Return a name of the bench that nothing else there has."""
    return f"port_{name}"
