"""A string of letters that meets conditions on its letters and their positions."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from string import ascii_uppercase

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.verifiers.markup import unmarked

# Conditions on a string of letters: what they say, and whether a beginning can still meet them.
#
# A condition is read off a string that exists. A beginning as long as the string is the string, and
# then "can still meet" is "meets".


@dataclass(frozen=True, slots=True)
class LetterCondition:
    """One condition: its kind, the letters in it, and the numbers in it; places are from 1."""

    kind: str
    letters: str = ""
    number: int = 0
    other: int = 0

    def say(self) -> str:
        """Return the condition as a sentence."""
        return KINDS[self.kind].say(self)

    def allows(self, beginning: str, length: int) -> bool:
        """Return False if no string of ``length`` letters that begins so meets the condition.

        It may be True in vain, but not for a beginning of the whole length.
        """
        return KINDS[self.kind].allows(self, beginning, length - len(beginning))


@dataclass(frozen=True, slots=True)
class LetterKind:
    """A kind of condition.

    Attributes:
        say: a condition as a sentence.
        allows: whether a beginning with so many letters to come can meet a condition.
        offer: a condition that a string over an alphabet meets, or None.
    """

    say: Callable[[LetterCondition], str]
    allows: Callable[[LetterCondition, str, int], bool]
    offer: Callable[[str, str, Rng], LetterCondition | None]


def _two(rng: Rng, count: int) -> tuple[int, int]:
    """Draw two different places, the smaller first."""
    one, other = sorted(rng.permutation(count)[:2].tolist())
    return one + 1, other + 1


def _offer_count(text: str, alphabet: str, rng: Rng) -> LetterCondition:
    letter = pick(rng, alphabet)
    return LetterCondition("count", letter, text.count(letter))


def _offer_more(text: str, alphabet: str, rng: Rng) -> LetterCondition | None:
    one, other = (alphabet[i - 1] for i in _two(rng, len(alphabet)))
    if text.count(one) == text.count(other):
        return None
    return LetterCondition("more", max(one + other, other + one, key=lambda p: text.count(p[0])))


def _offer_pair(text: str, alphabet: str, rng: Rng) -> LetterCondition:
    one, other = _two(rng, len(text))
    kind = "same" if text[one - 1] == text[other - 1] else "different"
    return LetterCondition(kind, "", one, other)


def _offer_part(text: str, alphabet: str, rng: Rng) -> LetterCondition:
    size = integer(rng, 2, 3)
    start = integer(rng, 0, len(text) - size)
    return LetterCondition("part", text[start : start + size])


def _offer_missing_part(text: str, alphabet: str, rng: Rng) -> LetterCondition | None:
    missing = [a + b for a in alphabet for b in alphabet if a + b not in text]
    return LetterCondition("missing part", pick(rng, missing)) if missing else None


def _offer_choice(text: str, alphabet: str, rng: Rng) -> LetterCondition | None:
    place = integer(rng, 1, len(text))
    others = alphabet.replace(text[place - 1], "")
    if len(others) < 2:
        return None
    letters = "".join(sorted(text[place - 1] + pick(rng, others)))
    return LetterCondition("choice", letters, place)


def _offer_order(text: str, alphabet: str, rng: Rng) -> LetterCondition | None:
    found = list(dict.fromkeys(text))
    if len(found) < 2:
        return None
    one, other = _two(rng, len(found))
    return LetterCondition("order", found[one - 1] + found[other - 1])


def _offer_followed(text: str, alphabet: str, rng: Rng) -> LetterCondition | None:
    after: dict[str, set[str]] = {}
    for one, other in pairwise(text):
        after.setdefault(one, set()).add(other)
    options = [
        letter + min(following)
        for letter, following in sorted(after.items())
        if len(following) == 1 and letter != text[-1]
    ]
    return LetterCondition("followed", pick(rng, options)) if options else None


def _run(text: str) -> int:
    """Return the length of the longest run of one letter."""
    longest = length = 1
    for one, other in pairwise(text):
        length = length + 1 if one == other else 1
        longest = max(longest, length)
    return longest


def _allows_pair(condition: LetterCondition, text: str) -> bool:
    if condition.other > len(text):
        return True
    equal = text[condition.number - 1] == text[condition.other - 1]
    return equal == (condition.kind == "same")


def _allows_part(condition: LetterCondition, text: str, left: int) -> bool:
    part = condition.letters
    if part in text:
        return True
    begun = max(n for n in range(len(part)) if text.endswith(part[:n]))
    return len(part) - begun <= left


def _allows_order(condition: LetterCondition, text: str, left: int) -> bool:
    one, other = (text.find(letter) for letter in condition.letters)
    missing = (one < 0) + (other < 0)
    return missing <= left and (other < 0 or 0 <= one < other)


def _allows_followed(condition: LetterCondition, text: str, left: int) -> bool:
    letter, following = condition.letters[0], condition.letters[1]
    if text.endswith(letter) and not left:
        return False
    return all(other == following for one, other in pairwise(text) if one == letter)


def _occurs(count: int) -> str:
    few = {0: "does not occur", 1: "occurs exactly once", 2: "occurs exactly twice"}
    return few.get(count, f"occurs exactly {count} times")


def _pair(kind: str, say: str) -> LetterKind:
    return LetterKind(
        lambda c: say.format(c.number, c.other),
        lambda c, text, left: _allows_pair(c, text),
        lambda text, alphabet, rng: (
            found if (found := _offer_pair(text, alphabet, rng)).kind == kind else None
        ),
    )


KINDS: dict[str, LetterKind] = {
    "count": LetterKind(
        lambda c: f"{c.letters} {_occurs(c.number)}.",
        lambda c, text, left: 0 <= c.number - text.count(c.letters) <= left,
        _offer_count,
    ),
    "more": LetterKind(
        lambda c: f"{c.letters[0]} occurs more often than {c.letters[1]}.",
        lambda c, text, left: text.count(c.letters[0]) + left > text.count(c.letters[1]),
        _offer_more,
    ),
    "same": _pair("same", "Positions {} and {} have the same letter."),
    "different": _pair("different", "Positions {} and {} have different letters."),
    "part": LetterKind(
        lambda c: f"The string contains {c.letters} as consecutive letters.",
        _allows_part,
        _offer_part,
    ),
    "missing part": LetterKind(
        lambda c: f"The string does not contain {c.letters} as consecutive letters.",
        lambda c, text, left: c.letters not in text,
        _offer_missing_part,
    ),
    "choice": LetterKind(
        lambda c: f"Position {c.number} has {c.letters[0]} or {c.letters[1]}.",
        lambda c, text, left: len(text) < c.number or text[c.number - 1] in c.letters,
        _offer_choice,
    ),
    "order": LetterKind(
        lambda c: (
            f"{c.letters[0]} and {c.letters[1]} both occur, and the first {c.letters[0]} comes "
            f"before the first {c.letters[1]}."
        ),
        _allows_order,
        _offer_order,
    ),
    "followed": LetterKind(
        lambda c: f"Every {c.letters[0]} is immediately followed by {c.letters[1]}.",
        _allows_followed,
        _offer_followed,
    ),
    "variety": LetterKind(
        lambda c: (
            f"Exactly {c.number} different letters occur."
            if c.number > 1
            else "All letters are the same."
        ),
        lambda c, text, left: 0 <= c.number - len(set(text)) <= left,
        lambda text, alphabet, rng: LetterCondition("variety", "", len(set(text))),
    ),
    "longest run": LetterKind(
        lambda c: (
            "No two adjacent letters are the same."
            if c.number == 1
            else f"The longest run of the same letter has length {c.number}."
        ),
        lambda c, text, left: (
            not text or (_run(text) <= c.number and (left > 0 or _run(text) == c.number))
        ),
        lambda text, alphabet, rng: LetterCondition("longest run", "", _run(text)),
    ),
}


def offer(kind: str, text: str, alphabet: str, rng: Rng) -> LetterCondition | None:
    """Return a condition of a kind that a string meets; None where there is none."""
    return KINDS[kind].offer(text, alphabet, rng)


_COMPARED = 4  # conditions of which the one that excludes most is taken
_RIVALS = 60  # strings with the same letters in another order, to be excluded
_MOST_NODES = 20_000  # of the search that measures effort
_FEW_NODES = 500  # of the same to compare problems
_SEPARATORS = re.compile(r"[\s,;]+")
_MOST_CONDITIONS = 1000
_QUOTES = "\"'."


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterConstraintConfig(TaskConfig):
    """The length of the string, the size of its alphabet, and the number of conditions."""

    length: int = knob(6, "letters of the string", low=3, high=100)
    n_letters: int = knob(3, "letters to choose from", low=2, high=len(ascii_uppercase))
    n_conditions: int = knob(5, "conditions", low=1, high=_MOST_CONDITIONS)
    n_compared: int = knob(
        1, "problems that are drawn, of which the hardest to search is taken", low=1, high=100
    )

    @classmethod
    def at(cls, difficulty: int) -> "LetterConstraintConfig":
        """Each level adds a letter and two conditions; every third one a letter to choose from."""
        return cls(
            length=min(100, 4 + difficulty),
            n_letters=min(len(ascii_uppercase), 3 + difficulty // 3),
            n_conditions=min(_MOST_CONDITIONS, 2 + 2 * difficulty),
            n_compared=1 + difficulty % 3,
        )


@dataclass(frozen=True, slots=True)
class LetterConstraintProblem:
    """The length of the string, its alphabet, the conditions, and a string that meets them."""

    length: int
    alphabet: str
    conditions: tuple[LetterCondition, ...]
    text: str = hidden()


@register("LetterConstraint-v0", domain="puzzles")
class LetterConstraintTask(Task[LetterConstraintConfig, LetterConstraintProblem]):
    """Find a string over a small alphabet that meets every condition.

    Description:
        A few letters and a random string of them are drawn. The conditions are true of this string,
        so that they can be met. They are about the counts of letters, parts that occur or do not
        occur, letters that come before or after others, and positions with the same letter or
        different ones. Of several conditions at a time, the one that excludes most other orders of
        the letters is taken. Of a few such problems, the one that takes a search longest is taken.

    Observation:
        The alphabet, the length and the conditions.

    Action:
        The string.

    Reward:
        1 for any string that meets every condition, otherwise 0. The verdict's parts say what
        share of the conditions is met.

    Verification:
        Every condition is checked on the string by a program. No known gaps.

    Difficulty:
        The string and the number of conditions grow, and more slowly the alphabet; on one alphabet
        harder problems are chosen, in which conditions on parts, counts and order clash late.

    References:
        Tsang, "Foundations of Constraint Satisfaction", 1993, for backtracking over such
        conditions, which `effort` counts.
    """

    literal_answer = True

    def generate(self, rng: Rng) -> LetterConstraintProblem:
        drawn = [self._draw(rng) for _ in range(self.config.n_compared)]
        return max(drawn, key=lambda p: _nodes(p, _FEW_NODES)) if len(drawn) > 1 else drawn[0]

    def _draw(self, rng: Rng) -> LetterConstraintProblem:
        config = self.config
        drawn = sorted(rng.permutation(len(ascii_uppercase))[: config.n_letters].tolist())
        alphabet = "".join(ascii_uppercase[i] for i in drawn)
        text = "".join(pick(rng, alphabet) for _ in range(config.length))
        conditions = _read_off(rng, text, alphabet, config.n_conditions)
        return LetterConstraintProblem(config.length, alphabet, conditions, text)

    def prompt(self, problem: LetterConstraintProblem) -> str:
        listed = "\n".join(f"- {condition.say()}" for condition in problem.conditions)
        return (
            f"Find a string of {problem.length} letters that meets all the conditions below. Each "
            f"letter must be one of {', '.join(problem.alphabet)}. A letter may occur several "
            "times or not at all. Positions are numbered from 1, from the left.\n\n"
            f"{listed}\n\nAnswer with the string."
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
            steps.append(f"Position {place + 1}: no condition rules out {possible}. Take {letter}.")
        return steps

    def effort(self, problem: LetterConstraintProblem) -> int:
        """Return how many beginnings a search looks at that fills the places from the left."""
        return _nodes(problem, _MOST_NODES)

    def baseline(self, rng: Rng, problem: LetterConstraintProblem) -> str:
        """Write letter after letter, each so that no condition is broken yet if that can be."""
        text = ""
        while len(text) < problem.length:
            text = pick(rng, _extensions(problem, text) or [text + c for c in problem.alphabet])
        return text


def _nodes(problem: LetterConstraintProblem, limit: int) -> int:
    """Return how many beginnings a search looks at until it has a string."""
    stack, nodes = [""], 0
    while stack and nodes < limit:
        beginning = stack.pop()
        nodes += 1
        if len(beginning) == problem.length:
            break
        stack += reversed(_extensions(problem, beginning))
    return nodes


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
