"""From a source text to a netlist of and-gates and flip-flops, in the sandbox.

Every source is elaborated alone, in a process and a design of its own: an answer can name nothing
of a reference. What comes back is plain data. Which text may be elaborated at all is decided in
`rlvr_envs.verifiers.hdl.source`.
"""

import json
import signal
import threading
from collections import OrderedDict
from dataclasses import asdict, dataclass, replace
from typing import Any

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.sandboxes.base import Job, Limits, Result, RunStatus
from rlvr_envs.verifiers.hdl.interface import Port
from rlvr_envs.verifiers.hdl.sandbox import hdl_sandbox
from rlvr_envs.verifiers.hdl.source import Refusal, Source, read_source

# Netlists of references that stay; one of a typical problem has some tens of KiB.
KEPT = 256

LAX_SHARE = 0.4  # of the CPU time, for the second front end

MOST_DETAIL = 600  # characters of a compiler's messages
MOST_ERRORS = 4
MOST_LINE = 100  # characters of a source line in them

# The slots of the sandbox have loaded the module: a job does not even compile it.
_JOB = "main.py"
_JOB_TEXT = b"import _elaborate_job\n\n_elaborate_job.main()\n"
_ANOTHER = (
    "a tool that defines other names than SYNTHESIS reads another design: leave out conditions on "
    "what tools define"
)
_COLLECTED = (
    "stage",
    "refusal.json",
    "result.json",
    "diagnostics.json",
    "out.aag",
    "out.map",
    "out.v",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ElaborationLimits:
    """What an elaboration may use, and how large a design may be."""

    cpu_s: float = 5.0  # CPU seconds
    memory_mib: int = 1024  # resident memory
    state_bits: int = 16384  # flip-flops, latches, and bits of memories that are written
    rom_bits: int = 1 << 18  # bits of memories that are only read
    ands: int = 200_000  # and-gates of the result

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value <= 0:
                raise ConfigError(f"the limit {name} is above 0, got {value!r}")

    def job(self) -> Limits:
        """Return the limits of the process."""
        return Limits(cpu_s=self.cpu_s, memory_mib=self.memory_mib, processes=16, file_mib=32)


DEFAULT = ElaborationLimits()
# A reference is elaborated once, and what it needs is nobody's fault: there is no haste.
REFERENCE = ElaborationLimits(cpu_s=30.0)


@dataclass(frozen=True, slots=True)
class Netlist:
    """A design as and-gates and flip-flops.

    Attributes:
        ports: of the module, in its order.
        clocks: what moves the state, sorted and distinct: the input, or nothing where the clock is
            made inside, and "posedge" or "negedge"; and the input with "level" where a clock is
            read as data too. An asynchronous reset is no clock.
        latches: bits that a level moves.
        state_bits: bits of flip-flops, latches and memories that are written.
        cells: simple gates and flip-flops, before they are turned into and-gates.
        resets: inputs that set or clear state without a clock, and the level at which they do.
        aiger: the ASCII AIGER file, with symbols; uninitialised state starts as an input says.
        map: the names of inputs, outputs and latches, as ``write_aiger -map`` writes them: all but
            those of constant outputs, which are among the symbols.
        text: of `rewrite` alone, which gives neither gates nor map: the design in Verilog.
    """

    ports: tuple[Port, ...]
    clocks: tuple[tuple[str, str], ...]
    latches: int
    state_bits: int
    cells: int
    aiger: bytes
    map: str
    resets: tuple[tuple[str, int], ...] = ()
    text: str = ""


def passing(refusal: Refusal) -> bool:
    """Return whether another run, on another machine perhaps, may say otherwise."""
    return refusal.stage in ("timeout", "fault")


def elaborate(
    source: str,
    top: str,
    *,
    clocked: bool = True,
    split_x: bool = False,
    trusted: bool = False,
    limits: ElaborationLimits = DEFAULT,
) -> Netlist | Refusal:
    """Return the netlist of a module, or why there is none.

    Args:
        source: Verilog or SystemVerilog, from anybody.
        top: the name of the module.
        clocked: whether a step is a cycle of the one clock; otherwise clocks are inputs that
            change like any other.
        split_x: for references that show an x: every output ``name`` becomes ``name_d``, and
            ``name_x`` that is one where it is an x.
        trusted: for references of datasets, which may hold prints and assertions.
        limits: of the elaboration.

    Raises:
        DependencyError: the tools or a sandbox for them are missing.
    """
    request = {"top": top, "clocked": clocked, "split_x": split_x, "rewrite": False}
    request["tristate"] = not trusted  # what a reference leaves open is looked at more closely
    return _elaborated(read_source(source, top, trusted=trusted), request, limits)


def rewrite(source: str, top: str, *, limits: ElaborationLimits = DEFAULT) -> Netlist | Refusal:
    """Return a design written anew in Verilog, as its `text`, or why there is none.

    It is one module with the name and the ports of the old one. Nothing else of the source is
    left: no names, comments, macros, delays or modules, and no words at all that its author chose.
    Unlike gates, it keeps unknown values and asynchronous resets, as a simulator needs them.

    Raises:
        DependencyError: the tools or a sandbox for them are missing.
    """
    request = {"top": top, "clocked": True, "split_x": False, "rewrite": True, "tristate": True}
    return _elaborated(read_source(source, top), request, limits)


def _elaborated(
    read: Source | Refusal, request: dict[str, Any], limits: ElaborationLimits
) -> Netlist | Refusal:
    if isinstance(read, Refusal):
        return read
    request = {**request, **asdict(limits)}
    outcome = _synthesised(read, request, limits)
    if read.others and isinstance(outcome, Netlist):
        return _same_for_all(read, outcome, request, limits) or outcome
    return outcome


def _same_for_all(
    read: Source, synthesised: Netlist, request: dict[str, Any], limits: ElaborationLimits
) -> Refusal | None:
    """Return why a text is not judged of which tools read more than one design; None if it is.

    Args:
        read: the text.
        synthesised: what synthesis makes of it.
        request: that was made.
        limits: of each synthesis.
    """
    found = [] if request["rewrite"] else [synthesised]  # which has no gates where it is rewritten
    request = {**request, "rewrite": False}
    for text in read.others if found else (read.hardware, *read.others):
        outcome = _synthesised(Source(text, read.top, read.modules), request, limits)
        if isinstance(outcome, Refusal):
            if passing(outcome):
                return outcome
            return Refusal(outcome.stage, f"{_ANOTHER} ({outcome.detail})"[:MOST_DETAIL])
        found.append(outcome)
    if all(_gates(other) == _gates(found[0]) for other in found):
        return None
    return Refusal("forbidden", _ANOTHER)


def _gates(netlist: Netlist) -> tuple[Any, ...]:
    """Return all of a design but the names inside of it."""
    lines = netlist.aiger.decode().split("\n")
    return netlist.ports, netlist.clocks, [line for line in lines if line[:1].isdigit()], lines[0]


def _synthesised(
    read: Source, request: dict[str, Any], limits: ElaborationLimits
) -> Netlist | Refusal:
    """Return what synthesis makes of a text."""
    result = _run(read, {**request, "lax": False}, limits)
    outcome = _outcome(read, result, limits)
    failed = _stage(result) == "synthesis" and result.status is RunStatus.NONZERO_EXIT
    if (failed and not _endless_loops(result)) or _loses_registers(result):
        # The text is legal, and the front end cannot do it: another one, which would pass a lot
        # that is not legal, perhaps can.
        lax_limits = replace(limits, cpu_s=LAX_SHARE * limits.cpu_s)
        result = _run(read, {**request, "lax": True}, lax_limits)
        second = _outcome(read, result, lax_limits)
        if result.ok or (isinstance(second, Refusal) and passing(second)):
            return second
    return outcome


def _loses_registers(result: Result) -> bool:
    """Return whether there may be registers that only the branch of an asynchronous reset assigns.

    They keep their value otherwise. The first front end makes no register of them, and leaves them
    undetermined.
    """
    return bool(json.loads(result.files.get("result.json", b"{}")).get("lost"))


_references: OrderedDict[tuple[Any, ...], Netlist | Refusal] = OrderedDict()
_lock = threading.Lock()


def elaborate_once(
    source: str, top: str, *, clocked: bool = True, split_x: bool = False, trusted: bool = False
) -> Netlist | Refusal:
    """Return what `elaborate` returns, from memory where it was asked before; for references.

    One that takes too long is no fault of its text, but one of ours: it is tried again next time.
    """
    key = (source, top, clocked, split_x, trusted)
    with _lock:
        if key in _references:
            _references.move_to_end(key)
            return _references[key]
    found = elaborate(
        source, top, clocked=clocked, split_x=split_x, trusted=trusted, limits=REFERENCE
    )
    if isinstance(found, Refusal) and passing(found):
        return replace(found, stage="fault")
    with _lock:
        _references[key] = found
        while len(_references) > KEPT:
            _references.popitem(last=False)
    return found


def _run(source: Source, request: dict[str, Any], limits: ElaborationLimits) -> Result:
    files = {
        _JOB: _JOB_TEXT,
        "answer.sv": source.text.encode(errors="replace"),
        "hardware.sv": (source.hardware or source.text).encode(errors="replace"),
        "request.json": json.dumps(request).encode(),
    }
    job = Job(script=_JOB, files=files, limits=limits.job(), collect=_COLLECTED)
    return hdl_sandbox().run(job)


def _stage(result: Result) -> str:
    return result.files.get("stage", b"").decode(errors="replace").strip()


def _outcome(source: Source, result: Result, limits: ElaborationLimits) -> Netlist | Refusal:
    """Return what a run of the job means."""
    if result.ok and "result.json" in result.files:
        return _netlist(result)
    if result.ok and "refusal.json" in result.files:
        return Refusal(**json.loads(result.files["refusal.json"]))
    if result.status is RunStatus.NONZERO_EXIT:
        return _error(source, result)
    killed = result.status is RunStatus.SIGNAL and result.signal == signal.SIGKILL
    if result.status is RunStatus.SIGNAL and not killed:
        return Refusal("unsupported", "the synthesis tool breaks down on this design")
    # The machine may have limits of its own, on time or memory; and nothing here sleeps by itself.
    used = max(result.cpu_s / limits.cpu_s, result.peak_memory_mib / limits.memory_mib)
    ours = (RunStatus.OK, RunStatus.SANDBOX_ERROR, RunStatus.WALL_TIMEOUT)
    if result.status in ours or (killed and used < 0.5):
        return Refusal("fault", f"the elaboration gave no result: {result.detail}"[:MOST_DETAIL])
    taken = f"{result.cpu_s:.0f} s of CPU time, {result.peak_memory_mib:.0f} MiB of memory"
    timely = result.status is not RunStatus.CPU_TIMEOUT and not killed
    stage = "resource" if timely else "timeout"
    return Refusal(stage, f"elaborating the design takes too much ({taken})")


def _netlist(result: Result) -> Netlist | Refusal:
    facts = json.loads(result.files["result.json"])
    try:
        ports = tuple(Port(*port) for port in facts["ports"])
    except ConfigError as error:
        return Refusal("unsupported", str(error)[:MOST_DETAIL])
    text = result.files.get("out.v", b"")
    if not text and not {"out.aag", "out.map"} <= result.files.keys():
        return Refusal("resource", "the netlist of the design is too large")
    return Netlist(
        ports=ports,
        clocks=tuple((name, edge) for name, edge in facts["clocks"]),
        latches=facts["latches"],
        state_bits=facts["state_bits"],
        cells=facts["cells"],
        aiger=result.files.get("out.aag", b""),
        map=result.files.get("out.map", b"").decode(),
        resets=tuple((name, level) for name, level in facts["resets"]),
        text=text.decode(),
    )


def _error(source: Source, result: Result) -> Refusal:
    """Return the refusal for a run that an error of the tools ended."""
    stderr = result.stderr.decode(errors="replace")
    if "Traceback (most recent call last)" in stderr:
        return Refusal("fault", f"the elaboration failed: {stderr.strip().splitlines()[-1]:.500}")
    stage = _stage(result)
    errors = _errors(result)
    if stage == "compile":
        return Refusal("compile", _message(source, errors) or _last_error(stderr))
    endless = _endless_loops(result)
    if endless:
        return Refusal("resource", f"{endless[0]}: the loop runs too often to be unrolled")
    said = _message(source, errors) or _last_error(stderr)
    if "logic loop" in said:
        return Refusal("compile", "the design has a combinational loop")
    return Refusal("unsupported", f"this cannot be synthesised here: {said}"[:MOST_DETAIL])


def _endless_loops(result: Result) -> list[str]:
    """Return the places of loops that were unrolled as far as it goes."""
    limited = [entry for entry in _errors(result) if entry["message"].startswith("unroll limit")]
    return [entry.get("location", "a loop") for entry in limited]


def _errors(result: Result) -> list[dict[str, Any]]:
    """Return the compiler's errors; that there is no module to begin with only if it is all."""
    try:
        found = json.loads(result.files.get("diagnostics.json", b"[]"))
    except ValueError:  # the process ended while it was written
        return []
    errors = [entry for entry in found if entry["severity"] in ("error", "fatal error")]
    return [entry for entry in errors if entry["code"] != "InvalidTopModule"] or errors


def _message(source: Source, errors: list[dict[str, Any]]) -> str:
    """Return errors as text: each with its place, and each line of the source with its first."""
    if errors and errors[0]["code"] == "InvalidTopModule":
        return source.without_top()
    text, shown = "", 0
    for entry in errors[:MOST_ERRORS]:
        place = entry.get("location", "")
        more = f"{place}: {entry['message']}\n" if place else f"{entry['message']}\n"
        line = int(place.split(":")[1]) if place else 0
        if line != shown:
            more += f"    {source.line(line).strip():.{MOST_LINE}}\n"
            shown = line
        if text and len(text) + len(more) > MOST_DETAIL:
            break
        text += more
    return text.rstrip()[:MOST_DETAIL]


def _last_error(stderr: str) -> str:
    """Return the last error that Yosys wrote."""
    found = [line for line in stderr.splitlines() if "ERROR: " in line]
    return (
        found[-1].partition("ERROR: ")[2][:MOST_DETAIL] if found else "an error without a message"
    )


__all__ = [
    "DEFAULT",
    "ElaborationLimits",
    "Netlist",
    "Refusal",
    "elaborate",
    "elaborate_once",
    "passing",
    "rewrite",
]
