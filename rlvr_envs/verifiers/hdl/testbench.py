"""The verdict of a testbench that a dataset gives instead of a reference.

The testbench and the answer share a simulator, so nothing of the answer's text may come there: it
is elaborated alone, and its netlist is written anew (`rewrite`), without a name, a task, a delay or
a macro of its author. All that an answer then has is its ports. What the testbench prints is marked
with a number that is drawn for the run, so that not even a string made of outputs can pose as one
of its lines. A verdict is which of its calls printed, and it stands only for testbenches that some
wrong modules were run through first, none of which may look right.

Testbenches often change inputs at the very clock edge at which a design reads them, and which comes
first is then up to the simulator and to how the design is written. A netlist has no such order of
its own: it is run with its clock in time, which reads the old inputs, and, where that is not right,
a moment later, which reads those that are assigned at once.
"""

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from rlvr_envs.core.errors import SandboxError
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.sandboxes.base import Job, Limits, RunStatus
from rlvr_envs.sandboxes.shared import shared_sandbox
from rlvr_envs.verifiers.hdl.bench_text import PLACE, Bench, BenchRefused, failures
from rlvr_envs.verifiers.hdl.elaborate import Refusal, rewrite
from rlvr_envs.verifiers.hdl.equivalence import ports_differ
from rlvr_envs.verifiers.hdl.icarus import ran_out, require
from rlvr_envs.verifiers.hdl.interface import Port
from rlvr_envs.verifiers.hdl.judge import refused

_LIMITS = Limits(
    cpu_s=6.0,
    memory_mib=512,
    file_mib=32,
    disk_mib=64,
    stdout_kib=4096,
    output_kib=4096,
)
_MOST_TEXT = 1 << 20  # characters of a netlist
_MOST_DETAIL = 600
_SHOWN = 3  # lines of a testbench that a verdict quotes
_UNKNOWN = (0, 1)  # what an answer's x and z are shown as, in a run each
_NOISE = 3
_CORE = f"core_{PLACE}"  # what a design is called inside its wrapper
# The ends that the testbench or the design under test caused; all others are the machine's, since
# nothing in a simulation sleeps.
_ENDLESS = (RunStatus.CPU_TIMEOUT, RunStatus.MEMORY, RunStatus.OUTPUT_LIMIT, RunStatus.FILE_LIMIT)


@dataclass(frozen=True, slots=True)
class _Run:
    """What a testbench said of a design."""

    compiled: bool  # whether Icarus could read the two
    ended: bool  # whether it came to an end of its own
    passed: bool  # whether it ended, said that all is well, and nothing else
    failed: tuple[str, ...] = ()  # what it said of failures, the first lines of it
    fault: str = ""  # why it did not run at all, or not to its end
    slow: bool = False  # whether that is for its CPU time


def judge_by_bench(
    answer: str, bench: Bench, top: str, ports: Sequence[Port], *, reward: str = "equivalence"
) -> Verdict:
    """Judge a module by a dataset's testbench, in Icarus.

    Args:
        answer: Verilog or SystemVerilog, from anybody.
        bench: the testbench, which `check_bench` has to let pass.
        top: the module under test.
        ports: that it has to have, in the order of the testbench's connections.
        reward: as for `judge`; nothing is given for a part of the testbench.

    Returns:
        The verdict. Its part ``proved`` is always 0: a testbench tries some inputs.

    Raises:
        ToolchainMissing: Icarus is not installed.
        DependencyError: the tools for synthesis are not.
    """
    require()
    try:
        netlist = rewrite(answer, top)
        if isinstance(netlist, Refusal):
            return refused(netlist, reward)
        if wrong := ports_differ(netlist.ports, tuple(ports)):
            return refused(Refusal("ports", wrong), reward)
        if len(netlist.text) > _MOST_TEXT:
            return refused(Refusal("resource", "the design is too large to be simulated"), reward)
        parts = {"compiles": 1.0, "ports": 1.0, "proved": 0.0}
        core = _body(netlist.text, top)
        clocks = frozenset(name for name, _ in netlist.clocks if name)
        found = _both(core, bench, top, ports)
        late = clocks and not found.passed and _both(core, bench, top, ports, clocks).passed
        if not found.passed and not late:
            return Verdict.wrong(_why_wrong(found), **parts, testbench=0.0)
    except (BenchRefused, SandboxError) as error:
        return Verdict.verifier_error(str(error))
    said = "it passes the problem's testbench, which tries some inputs (not proved)"
    return Verdict.correct(said, **parts, testbench=1.0)


@lru_cache(maxsize=256)
def check_bench(bench: Bench, top: str, ports: tuple[Port, ...], right: str = "") -> None:
    """Raise for a testbench that cannot tell wrong modules: outputs of 0, of 1 and at random.

    Args:
        bench: the testbench.
        top: the module under test.
        ports: of that module.
        right: a right module, if there is one, in a text that is the dataset's and prints nothing.

    Raises:
        BenchRefused: it does not compile, one of them looks right, or none is said to be wrong; or
            the right one is.
        ToolchainMissing: Icarus is not installed.
        SandboxError: the machine could not do it, or not in time.
    """
    require()
    told = slow = False
    fault = ""
    for name, body in _wrong_modules(ports):
        found = _run(_wrapped(body, top, ports, 0, frozenset()), bench)
        slow |= found.slow
        if not found.compiled and not found.slow:
            raise BenchRefused(f"its testbench does not compile in Icarus: {found.fault}")
        if found.passed:
            raise BenchRefused(f"its testbench lets a module pass whose outputs are {name}")
        told |= found.ended and bool(found.failed)
        fault = fault or found.fault
    if not told:
        why = f": {fault}" if fault else ""
        kind = SandboxError if slow else BenchRefused
        raise kind(f"its testbench never says that a wrong module fails, and ends{why}")
    if right:
        _check_right(_run(right, bench))


def _check_right(found: _Run) -> None:
    """Raise where a testbench does not let the right module pass."""
    if found.passed:
        return
    kind = SandboxError if found.slow else BenchRefused
    why = _why_wrong(found) if found.compiled else found.fault
    raise kind(f"its testbench does not let its reference pass: {why}")


def _why_wrong(found: _Run) -> str:
    if not found.compiled:  # the testbench with other modules was
        return f"the netlist of the design cannot be simulated: {found.fault}"
    if found.failed:
        return "the testbench says: " + "\n".join(found.failed)
    if found.ended:
        return "the testbench ends without saying that all is well"
    return f"the testbench does not come to its end with it: {found.fault}"


def _both(
    core: str, bench: Bench, top: str, ports: Sequence[Port], late: frozenset[str] = frozenset()
) -> _Run:
    """Return what is said of a design, its unknown outputs taken for 0 and for 1; a fault first."""
    first, second = _UNKNOWN
    found = _run(_wrapped(core, top, ports, first, late), bench)
    return _run(_wrapped(core, top, ports, second, late), bench) if found.passed else found


def _run(design: str, bench: Bench) -> _Run:
    """Run a testbench on a design.

    Args:
        design: what `_wrapped` gives.
        bench: the testbench.

    Raises:
        BenchRefused: the counts of the testbench cannot be read.
        SandboxError: the sandbox failed.
    """
    nonce = secrets.token_hex(8)
    job = Job(
        compile=("iverilog", "-g2012", "-o", "design.vvp", "bench.sv", "design.v"),
        argv=("vvp", "-n", "design.vvp"),
        files={
            "bench.sv": bench.text(nonce).encode(errors="replace"),
            "design.v": design.replace(PLACE, nonce).encode(errors="replace"),
        },
        limits=_LIMITS,
    )
    result = shared_sandbox().run(job)
    if result.status is RunStatus.COMPILE_ERROR:
        said = result.stderr.decode(errors="replace").replace(nonce, "") or result.detail
        slow = ran_out(result, job.compile_limits)
        return _Run(False, False, False, (), said.strip()[:_MOST_DETAIL], slow)
    own = result.ok or result.status is RunStatus.NONZERO_EXIT  # $fatal exits with 1
    if not own and result.status not in _ENDLESS:
        raise SandboxError(f"the simulation did not run: {result.detail}")
    heard = _heard(result.stdout.decode(errors="replace"), nonce, bench, own, result.detail)
    return replace(heard, slow=ran_out(result, _LIMITS))


def _heard(output: str, nonce: str, bench: Bench, ended: bool, fault: str) -> _Run:
    """Return what the marked lines say."""
    parts = re.split(rf"{nonce}:(\d+):", output)
    ran: set[int] = set()
    failed: list[str] = []
    for number, printed in zip(map(int, parts[1::2]), parts[2::2], strict=True):
        ran.add(number)
        if failures(bench.sites[number], printed) and len(failed) < _SHOWN:
            failed.append(printed.strip()[: _MOST_DETAIL // _SHOWN])
    wanted = bench.passing()
    passed = ended and not failed and not (wanted and ran.isdisjoint(wanted))
    return _Run(True, ended, passed, tuple(failed), "" if ended else fault)


def _body(text: str, top: str) -> str:
    """Return a rewritten netlist under another name."""
    return re.sub(rf"^module {re.escape(top)}\(", f"module {_CORE}(", text, flags=re.MULTILINE)


def _wrapped(core: str, top: str, ports: Sequence[Port], unknown: int, late: frozenset[str]) -> str:
    """Return a design inside a module that shows unknown bits of its outputs as 0 or as 1.

    Many testbenches compare with ``!=``, which takes whatever is unknown for equal.

    Args:
        core: the design, as a module `_CORE`.
        top: the name that the testbench has for it.
        ports: of the design.
        unknown: what x and z at its outputs are shown as.
        late: clocks that reach it when all that is assigned at the same moment is settled.
    """
    listed = ",\n    ".join(port.declaration() for port in ports)
    body, connected = [], []
    for place, port in enumerate(ports):
        inner = f"{_prefix(ports)}{place}"
        if port.direction == "input" and port.name not in late:
            inner = port.name
        elif port.direction == "input":
            body.append(f"    reg {inner};\n    always @({port.name}) #0 {inner} = {port.name};")
        else:
            body.append(f"    wire [{port.width - 1}:0] {inner};")
            body.append(f"    assign {port.name} = {_known(inner, port.width, unknown)};")
        connected.append(f".{port.name}({inner})")
    body.append(f"    {_CORE} core ({', '.join(connected)});")
    lines = "\n".join(body)
    return f"`resetall\nmodule {top} (\n    {listed}\n);\n{lines}\nendmodule\n{core}\n"


def _known(wire: str, width: int, unknown: int) -> str:
    bits = [f"{wire}[{bit}] === 1'b{1 - unknown}" for bit in range(width - 1, -1, -1)]
    return "{" + ", ".join(f"({bit})" if unknown == 0 else f"!({bit})" for bit in bits) + "}"


def _wrong_modules(ports: Sequence[Port]) -> list[tuple[str, str]]:
    """Return modules that are wrong unless the outputs are constant, each with what it shows."""
    outputs = [port for port in ports if port.direction == "output"]
    names = ", ".join(port.name for port in ports if port.direction == "input")
    head = f"module {_CORE} (" + ", ".join(port.declaration() for port in ports) + ");\n"
    found = []
    for value in (0, 1):
        body = "".join(f"assign {p.name} = {{{p.width}{{1'b{value}}}}};\n" for p in outputs)
        found.append((f"all {value}", f"{head}{body}endmodule\n"))
    for seed in range(_NOISE if names else 0):
        prefix = _prefix(ports)
        drawn = f"{prefix}_seed"
        body = f"integer {drawn} = {seed};\n"
        draws = ""
        for place, port in enumerate(outputs):
            body += f"reg [{port.width - 1}:0] {prefix}{place};\n"
            body += f"assign {port.name} = {prefix}{place};\n"
            draws += f"{prefix}{place} = {_random(port.width, drawn)}; "
        body += f"initial begin {draws} end\nalways @({names}) begin {draws} end\n"
        found.append(("random", f"{head}{body}endmodule\n"))
    return found


def _random(width: int, seed: str) -> str:
    words = ", ".join(f"$random({seed})" for _ in range((width + 31) // 32))
    return f"{{{words}}}"


def _prefix(ports: Sequence[Port]) -> str:
    """Return the beginning of names that no port has."""
    prefix = "n"
    while any(port.name.startswith(prefix) for port in ports):
        prefix += "n"
    return prefix
