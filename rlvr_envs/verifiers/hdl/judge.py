"""The verdict on an answer in Verilog."""

from dataclasses import replace

from rlvr_envs.core.errors import ConfigError, SandboxError, did_you_mean
from rlvr_envs.core.verdict import Status, Verdict
from rlvr_envs.verifiers.hdl.aig import NetlistError
from rlvr_envs.verifiers.hdl.elaborate import Refusal
from rlvr_envs.verifiers.hdl.equivalence import Outcome, Pair, ReferenceRefused, decide_once, pair
from rlvr_envs.verifiers.hdl.interface import Reference
from rlvr_envs.verifiers.hdl.simulate import DEEP, QUICK, Effort, compare
from rlvr_envs.verifiers.hdl.waveform import waveform

REWARDS = ("equivalence", "graded")

# With ``graded``: for a module that compiles, for the right ports, and for outputs that no short
# simulation tells from the right ones. Together well below an equivalent module.
COMPILES = 0.1
PORTS = 0.2
OUTPUTS = 0.3
_LOOKED_AT = 16  # outputs that are simulated one by one


def judge(
    answer: str,
    reference: Reference,
    *,
    reward: str = "equivalence",
    accept_bounded: bool = True,
    deep: Effort = DEEP,
) -> Verdict:
    """Judge a module by whether it is equivalent to a reference.

    Args:
        answer: Verilog or SystemVerilog, from anybody.
        reference: what it has to be equivalent to.
        reward: ``"equivalence"`` gives 1 or 0; ``"graded"`` gives a module that is not equivalent
            0.1 for compiling, 0.2 with the right ports, and up to 0.3 more for the share of the
            outputs that never differed in a short simulation.
        accept_bounded: whether an answer counts in which a long simulation found no difference,
            where no proof was found either; False leaves it unscored.
        deep: how much is simulated where no proof is found.

    Returns:
        The verdict. Its parts are ``compiles``, ``ports``, and, where both hold, ``proved`` (1
        where the verdict is certain, 0 where no difference was found within ``depth`` cycles),
        ``cycle`` of the first difference, ``state_bits`` and ``cells`` of the answer.

    Raises:
        ConfigError: there is no such reward.
        DependencyError: the tools are not installed.
        SandboxUnavailable: no sandbox works here.

    Examples:
        >>> from rlvr_envs.verifiers.hdl.interface import Port, Reference
        >>> from rlvr_envs.verifiers.hdl.judge import judge
        >>> golden = "module TopModule(input a, output y); assign y = ~a; endmodule"
        >>> reference = Reference(golden, (Port("a", "input"), Port("y", "output")))
        >>> judge("module TopModule(input a, output y); assign y = !a; endmodule", reference).score
        1.0
        >>> judge("module TopModule(input a, output y); assign y = a; endmodule", reference).score
        0.0
    """
    if reward not in REWARDS:
        hint = did_you_mean(reward, REWARDS)
        raise ConfigError(f"reward is one of {', '.join(REWARDS)}, got {reward!r}{hint}")
    try:
        found = pair(answer, reference)
        if isinstance(found, Refusal):
            return refused(found, reward)
        outcome = decide_once(found, deep)
    except (ReferenceRefused, NetlistError, SandboxError) as error:
        return Verdict.verifier_error(str(error))
    verdict = _verdict(found, outcome, reward)
    return verdict if accept_bounded else only_proved(verdict)


def only_proved(verdict: Verdict) -> Verdict:
    """Return a verdict, or that an answer is not scored which was taken for right without proof."""
    if verdict.status is not Status.CORRECT or verdict.parts["proved"]:
        return verdict
    return Verdict.verifier_error(f"{verdict.detail}, and accept_bounded is False")


def refused(refusal: Refusal, reward: str = "equivalence") -> Verdict:
    """Return the verdict on an answer that could not be compared."""
    if refusal.stage == "fault":
        return Verdict.verifier_error(refusal.detail)
    compiles = refusal.stage == "ports"
    detail = refusal.detail
    if refusal.stage == "compile":
        detail = f"it does not compile: {detail}"
    score = COMPILES if compiles and reward == "graded" else 0.0
    return Verdict.graded(score, detail, compiles=float(compiles), ports=0.0)


def _verdict(pair: Pair, outcome: Outcome, reward: str) -> Verdict:
    parts = {
        "compiles": 1.0,
        "ports": 1.0,
        "proved": float(outcome.proved),
        "state_bits": float(pair.netlist.state_bits),
        "cells": float(pair.netlist.cells),
    }
    if outcome.equal and outcome.proved:
        return Verdict.correct("it is equivalent to the reference (proved)", **parts)
    if outcome.difference is None:
        parts["depth"] = float(outcome.depth)
        looked = f"{outcome.depth} cycles"
        if pair.reference.clocking is None:
            looked = f"{outcome.depth * DEEP.lanes} inputs"
        if outcome.equal:
            return Verdict.correct(f"no difference was found in {looked} (not proved)", **parts)
        detail = (
            f"it could not be shown to be right: no difference was found in {looked}, but it "
            f"holds {pair.netlist.state_bits} bits of state, where {pair.gold_netlist.state_bits} "
            "would do"
        )
        return Verdict.undecided(detail, **parts)
    parts["cycle"] = float(outcome.difference.cycle)
    detail = "it behaves differently:\n" + waveform(
        pair.gold, pair.gate, pair.reference, outcome.difference
    )
    if reward == "equivalence":
        return Verdict.wrong(detail, **parts)
    share = _agreement(pair)
    return Verdict.graded(PORTS + OUTPUTS * share, detail, **parts, outputs=share)


def _agreement(pair: Pair) -> float:
    """Return the share of the outputs that a short simulation does not tell from the right ones."""
    names = list(pair.gold.outputs)[:_LOOKED_AT]
    same = 0
    for name in names:
        gold = replace(
            pair.gold,
            outputs={name: pair.gold.outputs[name]},
            unknown={n: row for n, row in pair.gold.unknown.items() if n == name},
        )
        gate = replace(pair.gate, outputs={name: pair.gate.outputs[name]})
        found = compare(gold, gate, pair.reference, clocked=pair.clocked, effort=QUICK)
        same += found is None
    return same / len(names)
