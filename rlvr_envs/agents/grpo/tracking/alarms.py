"""Warnings of runs that go wrong: what collapses, which steps teach nothing, why, and what to do.

`collapses` and `silence` decide, from numbers alone; `Alarms` remembers what they look at while a
run goes on, and says each thing once.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.run import Callback, Run
from rlvr_envs.agents.grpo.tracking.metrics import WHY_EQUAL

Numbers = Mapping[str, float]

WINDOW = 10  # steps over which means are taken
# They are compared with means over the first steps, few of them where steps have many episodes: a
# poor recipe may ruin a model within ten.
_FIRST_EPISODES, _FIRST_STEPS = 64, 2
_MEANS = ("entropy", "truncated", "reward/mean", "score/mean", "unscored")

_ENTROPY_LEFT = 0.1  # of the start: less is too little
_ENTROPY_GROWN = 1.75  # times the start, and nats more: more is too much
_ENTROPY_RISE = 0.2
_LEARNED = 0.95  # from this mean score on, answers may be alike
_CUT_OFF = 0.5  # the share of episodes
_CUT_OFF_RISE = 0.25
_REWARD_LEFT = 0.3  # of the best window, and lost: less is a collapse
_REWARD_LOST = 0.1
_UNSCORED = 0.2  # the share of episodes

# So many groups in a row without a signal, in steps or more, or so many steps, are no chance.
_SILENT_GROUPS, _SILENT_STEPS = 32, 2
_SILENT_STEPS_ALONE = 10
_SHORT_STEPS = 3  # in which dynamic sampling found too few groups

_ADVICE = {
    "failed": "the tasks are too hard for the model as it is: lower --difficulty, warm-start it "
    "(--warm-start 50), or show hints (--wrappers HintOnFailure)",
    "solved": "the tasks are learned: raise --difficulty, or let a curriculum do so (--curriculum "
    "success_band)",
    "equal": "rewards do not tell the answers apart: look at samples.jsonl, and at wrappers that "
    "shape rewards",
    "unscored": "the last text of an episode in samples.jsonl says why, and `rlvr doctor` what is "
    "missing",
}
_WORDS = {
    "failed": "failed throughout",
    "solved": "were solved throughout",
    "equal": "had equal rewards between",
    "unscored": "could not be scored",
}


def collapses(start: Numbers, now: Numbers, best: float) -> dict[str, str]:
    """Return name → text of what has moved to an extreme.

    Args:
        start: means over the first steps.
        now: means over the last ones.
        best: the highest mean reward of the first steps or as many in a row as are in ``now``.
    """
    found = {}
    entropy, before = now.get("entropy", math.nan), start.get("entropy", math.nan)
    told = f"entropy {{}} from {before:.3g} to {entropy:.3g} nats a token: "
    if entropy < _ENTROPY_LEFT * before and now.get("score/mean", 0.0) < _LEARNED:
        found["entropy_low"] = told.format("fell") + (
            "answers to a problem are nearly the same, so there is little left to compare; lower "
            "--learning-rate, or pay for entropy (--entropy-coef 0.001)"
        )
    if entropy > _ENTROPY_GROWN * before and entropy > before + _ENTROPY_RISE:
        found["entropy_high"] = told.format("rose") + (
            "the model is losing what it knew; lower --learning-rate, clip (--loss clipped), or "
            "hold it to where it began (--kl k3)"
        )
    cut, at_first = now.get("truncated", 0.0), start.get("truncated", 0.0)
    if cut >= _CUT_OFF and cut >= at_first + _CUT_OFF_RISE:
        found["truncated"] = (
            f"{cut:.0%} of episodes are cut off at a limit, {at_first:.0%} were at the start: "
            "answers grow without end; lower --learning-rate, or penalise length (--overlong "
            "penalty)"
        )
    elif cut >= _CUT_OFF:
        found["truncated"] = (
            f"{cut:.0%} of episodes are cut off at a limit, and were from the start: raise "
            "--max-tokens or --context, or warm-start the model (--warm-start 50)"
        )
    reward = now.get("reward/mean", math.nan)
    if reward <= _REWARD_LEFT * best and reward <= best - _REWARD_LOST:
        found["reward"] = (
            f"the mean reward fell from {best:.3g} at its best to {reward:.3g}: unless a "
            "curriculum made the problems harder, lower --learning-rate and go back to an earlier "
            "checkpoint"
        )
    if now.get("unscored", 0.0) >= _UNSCORED:
        found["unscored"] = (
            f"{now['unscored']:.0%} of episodes could not be scored: {_ADVICE['unscored']}"
        )
    return found


def silence(silent: Numbers) -> dict[str, str]:
    """Return name → text, if steps in a row have taught nothing.

    Args:
        silent: how many ``steps`` in a row, and how many ``groups`` were drawn in them; of these
            how many there were of each of `WHY_EQUAL`; and the share that was ``truncated``.
    """
    steps, groups = silent.get("steps", 0), silent.get("groups", 0)
    many = groups >= _SILENT_GROUPS and steps >= _SILENT_STEPS
    if not many and steps < _SILENT_STEPS_ALONE:
        return {}
    told = f"nothing was learned in the last {steps:.0f} steps: "
    if sum(silent.get(why, 0.0) for why in WHY_EQUAL) < groups - 0.5:  # some could be compared
        return {
            "no_update": told + "rewards differ, but gradients were not finite, or settings leave "
            "all episodes out (--overlong mask, --leave-out)"
        }
    why = _most(silent)
    parts = ", ".join(f"{silent[w]:.0f} {_WORDS[w]}" for w in WHY_EQUAL if silent.get(w))
    told += f"of {groups:.0f} groups {parts}: {_ADVICE[why]}"
    if why == "failed" and silent.get("score", 0.0) > 0:
        told += (
            f"; but the first steps had a mean score of {silent['score']:.2g}: if the problems are "
            "no harder now, the model has collapsed, so lower --learning-rate"
        )
    if why == "failed" and silent.get("truncated", 0.0) >= _CUT_OFF:
        told += f"; {silent['truncated']:.0%} of answers are cut off, so --max-tokens may be short"
    return {f"no_signal_{why}": told}


def shortage(steps: Sequence[Numbers], wanted: int, rounds: int) -> dict[str, str]:
    """Return name → text, if dynamic sampling keeps running out of rounds.

    Args:
        steps: the last ones.
        wanted: how many groups a step is to have.
        rounds: how often it draws at most.
    """
    last = steps[-_SHORT_STEPS:]
    if len(last) < _SHORT_STEPS or any(step["groups/kept"] >= wanted for step in last):
        return {}
    kept, drawn = (sum(step[f"groups/{name}"] for step in last) for name in ("kept", "drawn"))
    counts = {
        why: sum(step[f"groups/{why}"] * step["groups/drawn"] for step in last) for why in WHY_EQUAL
    }
    return {
        "out_of_rounds": (
            f"dynamic sampling ran out of its {rounds} rounds in {len(last)} steps in a row: of "
            f"{drawn:.0f} groups {kept:.0f} had rewards that differ, {len(last) * wanted} are "
            f"wanted. Mostly, {_ADVICE[_most(counts)]}; or allow more rounds (--max-rounds)"
        )
    }


def _most(counts: Numbers) -> str:
    return max(WHY_EQUAL, key=lambda why: counts.get(why, 0.0))


class Alarms(Callback):
    """Looks at each step's numbers and says on stderr, once each, what is going wrong."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._start: list[dict[str, float]] = []
        self._recent: list[dict[str, float]] = []
        self._best = 0.0
        self._silent: dict[str, float] = {}
        self._told: list[str] = []

    def on_step(self, run: Run, numbers: dict[str, float]) -> None:
        for name, text in self.look(numbers).items():
            run.metrics.tell(f"warning/{name}", f"warning: {text}")

    def look(self, numbers: Numbers) -> dict[str, str]:
        """Return name → text of what is to be said after a step, and was not said before."""
        if "groups/drawn" not in numbers:  # a supervised step
            return {}
        kept = [*_MEANS, "groups/drawn", "groups/kept", *(f"groups/{why}" for why in WHY_EQUAL)]
        row = {n: float(numbers[n]) for n in kept if math.isfinite(numbers.get(n, math.nan))}
        self._recent = [*self._recent, row][-WINDOW:]
        first = sum(step["groups/drawn"] for step in self._start) * self._config.sampling.group_size
        if len(self._start) < _FIRST_STEPS or (
            first < _FIRST_EPISODES and len(self._start) < WINDOW
        ):
            self._start.append(row)
        found = self._silence(numbers, row)
        sampling = self._config.sampling
        if sampling.dynamic_sampling and not found:
            found |= shortage(self._recent, sampling.groups, sampling.max_rounds)
        if len(self._recent) == WINDOW:
            start, now = _means(self._start), _means(self._recent)
            self._best = max(self._best, *(each.get("reward/mean", 0.0) for each in (start, now)))
            found |= collapses(start, now, self._best)
        new = {name: text for name, text in found.items() if name not in self._told}
        self._told += new
        return new

    def _silence(self, numbers: Numbers, row: Numbers) -> dict[str, str]:
        """Count steps without a signal."""
        algorithm, equal = self._config.algorithm, numbers.get("zero_variance") == 1.0
        # A penalty or a bonus moves the weights also where nothing can be compared.
        pulled = algorithm.kl != "none" or algorithm.entropy_coef > 0
        compares = self._config.estimator.plugin.traits.get("compares")
        updated = math.isfinite(numbers.get("grad_norm", math.nan))
        if updated and not (pulled and compares and equal):
            self._silent = {}
            return {}
        drawn = row["groups/drawn"]
        added = {"steps": 1.0, "groups": drawn}
        added |= {why: drawn * row.get(f"groups/{why}", 0.0) for why in WHY_EQUAL}
        self._silent = {name: self._silent.get(name, 0.0) + more for name, more in added.items()}
        score = _means(self._start).get("score/mean", 0.0)
        return silence(self._silent | {"truncated": row.get("truncated", 0.0), "score": score})

    def state_dict(self) -> dict[str, Any]:
        return {
            "start": self._start,
            "recent": self._recent,
            "best": self._best,
            "silent": self._silent,
            "told": self._told,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self._start, self._recent = list(state["start"]), list(state["recent"])
        self._best, self._silent = state["best"], dict(state["silent"])
        self._told = list(state["told"])


def _means(steps: Sequence[Numbers]) -> dict[str, float]:
    """Return the means of what was measured."""
    found = {name: [step[name] for step in steps if name in step] for name in _MEANS}
    return {name: fmean(values) for name, values in found.items() if values}
