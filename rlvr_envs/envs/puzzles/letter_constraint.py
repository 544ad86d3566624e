"""A string of letters that meets conditions on its letters and their places."""

import re
from dataclasses import dataclass
from string import ascii_uppercase

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.envs.puzzles._letter_conditions import KINDS, LetterCondition, offer
from rlvr_envs.envs.puzzles._puzzle import PuzzleTask
from rlvr_envs.verifiers.markup import unmarked

_COMPARED = 4  # conditions of which the one that excludes most is taken
_RIVALS = 60  # strings with the same letters in another order, to be excluded
_MOST_NODES = 20_000  # of the search that measures effort
_SEPARATORS = re.compile(r"[\s,;]+")
_MOST_CONDITIONS = 1000
_QUOTES = "\"'."


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterConstraintConfig:
    """How long the string is, of how many letters, and under how many conditions."""

    length: int = 6
    n_letters: int = 3
    n_conditions: int = 5

    def __post_init__(self) -> None:
        if not 3 <= self.length <= 100 or not 2 <= self.n_letters <= len(ascii_uppercase):
            raise ConfigError(
                f"need length in 3..100 and n_letters in 2..{len(ascii_uppercase)}, got {self}"
            )
        if not 1 <= self.n_conditions <= _MOST_CONDITIONS:
            raise ConfigError(
                f"n_conditions is from 1 to {_MOST_CONDITIONS}, got {self.n_conditions}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "LetterConstraintConfig":
        """The string grows by a letter a rung, the conditions by two, the alphabet more slowly."""
        return cls(
            length=min(100, 4 + difficulty),
            n_letters=min(len(ascii_uppercase), 3 + difficulty // 3),
            n_conditions=min(_MOST_CONDITIONS, 2 + 2 * difficulty),
        )


@dataclass(frozen=True, slots=True)
class LetterConstraintProblem:
    """The length of the string, its alphabet, the conditions, and a string that meets them."""

    length: int
    alphabet: str
    conditions: tuple[LetterCondition, ...]
    text: str = hidden()


@register("LetterConstraint-v0", domain="puzzles")
class LetterConstraintTask(PuzzleTask[LetterConstraintConfig, LetterConstraintProblem]):
    """Find a string over a small alphabet that meets every condition.

    Description:
        A few letters and a random string of them are drawn. Conditions are read off the string, so
        that they can be met: numbers of letters, parts that stand there or do not, letters that
        come before or after others, places that hold the same letter or different ones. Of several
        conditions at a time, the one is taken that excludes most other orders of the letters.

    Observation:
        The alphabet, the length and the conditions.

    Action:
        The string.

    Reward:
        1 for any string that meets every condition, otherwise 0. The verdict's parts say what
        share of the conditions is met.

    Episode End:
        After one step.

    Verification:
        Every condition is checked on the string by a program. No known gaps.

    Difficulty:
        The string and the number of conditions grow, and more slowly the alphabet.

    References:
        Tsang, "Foundations of Constraint Satisfaction", 1993, for backtracking over such
        conditions, which `effort` counts.

    Version History:
        v0: first version.
    """

    def generate(self, rng: Rng) -> LetterConstraintProblem:
        config = self.config
        drawn = sorted(rng.permutation(len(ascii_uppercase))[: config.n_letters].tolist())
        alphabet = "".join(ascii_uppercase[i] for i in drawn)
        text = "".join(pick(rng, alphabet) for _ in range(config.length))
        conditions = _read_off(rng, text, alphabet, config.n_conditions)
        return LetterConstraintProblem(config.length, alphabet, conditions, text)

    def prompt(self, problem: LetterConstraintProblem) -> str:
        listed = "\n".join(f"- {condition.say()}" for condition in problem.conditions)
        return (
            f"Find a string of {problem.length} letters, each of them one of "
            f"{', '.join(problem.alphabet)}. A letter may occur several times or not at all. "
            f"Places are numbered from 1, from the left. All of this must hold:\n\n{listed}\n\n"
            "Answer with the string."
        )

    def verify(self, problem: LetterConstraintProblem, answer: str) -> Verdict:
        if len(answer) > 10 * problem.length + 100:
            return Verdict.unparsable(f"expected {problem.length} letters")
        text = _SEPARATORS.sub("", unmarked(answer).strip(_QUOTES))
        if not {*problem.alphabet, *problem.alphabet.lower()}.issuperset(text) or not text:
            return Verdict.unparsable(f"expected letters out of {', '.join(problem.alphabet)}")
        if len(text) != problem.length:
            return Verdict.wrong(f"expected {problem.length} letters, got {len(text)}")
        unmet = sum(not c.allows(text.upper(), len(text)) for c in problem.conditions)
        share = 1 - unmet / len(problem.conditions)
        if unmet:
            return Verdict.wrong(f"{unmet} of the conditions are not met", share=share)
        return Verdict.correct(share=share)

    def solve(self, problem: LetterConstraintProblem) -> str:
        return problem.text

    def explain(self, problem: LetterConstraintProblem) -> list[str]:
        """Return place by place the letters with which every condition can still hold."""
        steps = []
        for place, letter in enumerate(problem.text):
            beginning = problem.text[:place]
            possible = ", ".join(text[-1] for text in _extensions(problem, beginning))
            steps.append(f"Place {place + 1}: no condition rules out {possible}. Take {letter}.")
        return steps

    def effort(self, problem: LetterConstraintProblem) -> int:
        """Return how many beginnings a search looks at that fills the places from the left."""
        stack, nodes = [""], 0
        while stack and nodes < _MOST_NODES:
            beginning = stack.pop()
            nodes += 1
            if len(beginning) == problem.length:
                break
            stack += reversed(_extensions(problem, beginning))
        return nodes

    def guess(self, problem: LetterConstraintProblem, rng: Rng) -> str:
        """Write letter after letter, each so that no condition is broken yet if that can be."""
        text = ""
        while len(text) < problem.length:
            text = pick(rng, _extensions(problem, text) or [text + c for c in problem.alphabet])
        return text


def _extensions(problem: LetterConstraintProblem, beginning: str) -> list[str]:
    """Return the beginnings that are one letter longer and can still meet every condition."""
    longer = (beginning + letter for letter in problem.alphabet)
    return [
        text for text in longer if all(c.allows(text, problem.length) for c in problem.conditions)
    ]


def _read_off(rng: Rng, text: str, alphabet: str, count: int) -> tuple[LetterCondition, ...]:
    """Return different conditions that a string meets, which few other strings meet together."""
    rivals = ["".join(text[i] for i in rng.permutation(len(text)).tolist()) for _ in range(_RIVALS)]
    kinds, found = list(KINDS), list[LetterCondition]()
    for _ in range(count):
        offered = [offer(pick(rng, kinds), text, alphabet, rng) for _ in range(_COMPARED)]
        new = [c for c in offered if c is not None and not _follows(c, found)]
        if not new:
            continue
        best = max(new, key=lambda c: sum(not c.allows(rival, len(text)) for rival in rivals))
        found.append(best)
        rivals = [rival for rival in rivals if best.allows(rival, len(text))]
    return tuple(found) or (LetterCondition("count", text[0], text.count(text[0])),)


def _follows(condition: LetterCondition, known: list[LetterCondition]) -> bool:
    """Return whether a condition is among the known ones, or is about a part of a known part."""
    longer = (c.letters for c in known if c.kind == condition.kind == "part")
    return condition in known or any(condition.letters in letters for letters in longer)
