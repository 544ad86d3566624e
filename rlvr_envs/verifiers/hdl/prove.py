"""Proving that two designs are equal, or finding a run in which they are not.

The engines are those of ABC, which runs in the sandbox on the joined graph. What it claims to be a
difference counts only after our own simulator has shown it.

How far an engine comes depends on CPU time, so which of *equal* and *open* comes out for a design
at the edge may change from machine to machine. *Differs* needs a run that anybody can replay. The
last engine stops at numbers of conflicts and steps alone, far before its limit of CPU time, so a
difference that it is able to find is found everywhere.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rlvr_envs.core.errors import SandboxError
from rlvr_envs.sandboxes.base import Job, Limits, Result, RunStatus
from rlvr_envs.verifiers.hdl.aig import Aig
from rlvr_envs.verifiers.hdl.interface import Reference
from rlvr_envs.verifiers.hdl.miter import Miter, Schedule, miter
from rlvr_envs.verifiers.hdl.sandbox import abc_path, hdl_sandbox
from rlvr_envs.verifiers.hdl.simulate import Difference, replay

_STATUS = re.compile(rb"Status = (-?\d)\s+Frames = (-?\d+)")
_GRAPH, _SWEPT, _RUN = "miter.aig", "swept.aig", "run.cex"
_NOTHING = re.compile(rb"aig \d+ \d+ 0 1 0\n0\n")  # no latch, no gate, and the output is 0
_LONGEST_RUN = 20_000  # steps


@dataclass(frozen=True, slots=True)
class Engine:
    """A way to decide."""

    name: str  # what reports call it
    script: str  # commands of ABC between reading the graph and telling the outcome
    cpu_s: float  # when it is ended, in seconds of CPU time


# Sweeping merges the state that both designs have alike; often nothing is left then. The second
# of each pair ends by its own limits, after less than a second in all that was measured.
_SWEEP = f"strash; scorr; write_aiger {_SWEPT}"
COMBINATIONAL = (
    Engine("iprove", "strash; iprove", 2.0),
    Engine("sat", "strash; dsat -C 10000", 2.0),
)
SEQUENTIAL = (
    Engine("pdr", f"{_SWEEP}; pdr", 2.5),
    Engine("bmc", "strash; bmc3 -F 40 -C 3000", 2.0),
)


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of the attempt."""

    status: str  # equal (proved), differs (shown), or open
    engine: str = ""  # the one that decided, or empty
    depth: int = 0  # steps that the last engine looked at, where it tells
    difference: Difference | None = None  # a run that shows it
    cpu_s: float = 0.0  # CPU seconds of all engines


def prove(
    gold: Aig,
    gate: Aig,
    reference: Reference,
    *,
    clocked: bool,
    engines: Sequence[Engine] = (),
) -> Proof:
    """Try to prove that two designs are equal.

    Args:
        gold: what is right.
        gate: what is judged.
        reference: says which input is the clock and which resets.
        clocked: whether a step is a cycle of the clock.
        engines: tried in turn; by default those for combinational or sequential designs.

    Raises:
        SandboxError: the sandbox failed.
        DependencyError: the tools or a sandbox for them are missing.
    """
    joined = miter(gold, gate, reference, clocked)
    if joined.bad == 0:
        return Proof("equal", "hashing")
    proof = Proof("open")
    for engine in engines or (SEQUENTIAL if joined.latches else COMBINATIONAL):
        result = _run(engine, joined)
        spent = proof.cpu_s + result.cpu_s
        told = _STATUS.findall(result.stdout)
        status, depth = (int(number) for number in told[-1]) if told else (-1, 0)
        proof = Proof("open", engine.name, max(depth, 0), cpu_s=spent)
        if _NOTHING.match(result.files.get(_SWEPT, b"")):
            return replace(proof, status="equal", engine="sweep")
        if status == 1:
            return replace(proof, status="equal")
        if status == 0:
            run = result.files.get(_RUN, b"").decode("ascii", "replace")
            difference = _difference(run, gold, gate, reference, clocked)
            if difference is not None:
                return replace(proof, status="differs", difference=difference)
    return proof


def _run(engine: Engine, joined: Miter) -> Result:
    """Run an engine; that it takes too much is no failure."""
    script = f"read_aiger {_GRAPH}; {engine.script}; print_status; write_cex -s -a {_RUN}"
    limits = Limits(
        cpu_s=engine.cpu_s, memory_mib=1024, processes=8, stdout_kib=4096, output_kib=4096
    )
    job = Job(
        argv=(abc_path(), "-c", script),
        files={_GRAPH: joined.aiger},
        limits=limits,
        collect=(_SWEPT, _RUN),
    )
    result = hdl_sandbox().run(job)
    ours = (RunStatus.SANDBOX_ERROR, RunStatus.WALL_TIMEOUT)  # nothing in a proof sleeps
    if result.status in ours or result.exit_code == 127:
        raise SandboxError(f"the proof did not run: {result.detail}")
    return result


def _difference(
    text: str, gold: Aig, gate: Aig, reference: Reference, clocked: bool
) -> Difference | None:
    """Return the run that an engine found, if it really shows a difference.

    The text has a line of the state at first and a line of inputs for each step.
    """
    lines = text.split("\n")[1 : _LONGEST_RUN + 1]
    width = sum(len(bits) for bits in gold.inputs.values()) + len(gold.free) + len(gate.free)
    rows: list[tuple[tuple[int, ...], tuple[int, int]]] = []
    for line in lines:
        if len(line) != width or not set(line) <= {"0", "1"}:
            break
        rows.append(_step(line, len(rows), gold, Schedule.of(reference, clocked)))
    if not rows:
        return None
    found = Difference(clocked, tuple(row[0] for row in rows), tuple(row[1] for row in rows))
    for number, row in enumerate(replay(gold, gate, reference, found)):
        if row.differing():
            return Difference(clocked, found.inputs[: number + 1], found.free[: number + 1])
    return None


def _step(
    line: str, step: int, gold: Aig, schedule: Schedule
) -> tuple[tuple[int, ...], tuple[int, int]]:
    """Return the values of ports and of free inputs, as the miter forces them."""
    inputs, start = [], 0
    for name, bits in gold.inputs.items():
        word = _number(line[start : start + len(bits)])
        start += len(bits)
        forced = schedule.forced(name, step)
        inputs.append(word if forced is None else forced)
    split = start + len(gold.free)
    return tuple(inputs), (_number(line[start:split]), _number(line[split:]))


def _number(digits: str) -> int:
    """Return what binary digits mean, the lowest first."""
    return int(digits[::-1] or "0", 2)
