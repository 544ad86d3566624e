"""Cryptarithm: an addition in which letters replace the digits."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.grids.candidates import Network, RowSet, Rule, Table, shuffled
from rlvr_envs.generators.grids.deductions import Words, worked
from rlvr_envs.generators.words.names import joined
from rlvr_envs.verifiers.certificate import items

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LARGEST = 100  # number of addends, and of digits
_DRAWS = 4
_GENERATE_NODES = 5_000  # of one search; giving up gives a letter, never a second solution
_EFFORT_NODES = 200_000

# Addends, digits of the longest ones, and letters to find of the first levels.
_LEVELS = (
    *((2, 2, 1), (2, 3, 2), (2, 3, 4), (2, 4, 4), (3, 4, 5), (3, 4, 6), (3, 4, 8), (3, 5, 8)),
    *((3, 5, 10), (4, 5, 9), (4, 5, 10)),
)
_PAIR = re.compile(r"\s*([A-Z])\s*[=:]\s*([0-9]{1,2})\s*", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class CryptarithmConfig(TaskConfig):
    """The size of the addition, its base, and how many letters there are to find at most."""

    n_addends: int = knob(2, "words that are added", low=2, high=_LARGEST)
    length: int = knob(4, "digits of the longest addends", low=2, high=_LARGEST)
    base: int = knob(10, "base in which the numbers are written", low=4, high=len(_ALPHABET))
    max_unknown: int = knob(
        10, "letters to find; fewer where a unique solution needs more given digits", low=1
    )

    @classmethod
    def at(cls, difficulty: int) -> "CryptarithmConfig":
        """More letters to find, more digits and addends; beyond level 10 the base grows."""
        if difficulty < len(_LEVELS):
            n_addends, length, max_unknown = _LEVELS[difficulty]
        else:
            n_addends, length, max_unknown = 2 + difficulty // 5, 2 + difficulty // 3, difficulty
        return cls(
            n_addends=min(_LARGEST, n_addends),
            length=min(_LARGEST, length),
            base=min(len(_ALPHABET), 10 + max(0, difficulty - 10) // 2),
            max_unknown=max_unknown,
        )


@dataclass(frozen=True, slots=True)
class CryptarithmProblem:
    """Words that add up to the total; ``told`` are letters whose digits are known."""

    base: int
    addends: tuple[str, ...]
    total: str
    told: tuple[tuple[str, int], ...]
    digits: tuple[tuple[str, int], ...] = hidden()


@register("Cryptarithm-v0", domain="puzzles")
class CryptarithmTask(Task[CryptarithmConfig, CryptarithmProblem]):
    """Find the digit behind each letter of an addition.

    Description:
        Random numbers and their sum are written with a random letter for each digit. While an
        exact search finds a second solution, the digit of a letter that rules it out is given; of
        a few additions, the one that needs the fewest given digits is taken.

    Observation:
        The addition in letters, and the given digits.

    Action:
        All the letters with their digits, such as ``A=3, B=0``.

    Reward:
        1 for digits that make the addition correct and follow every rule, otherwise 0.

    Verification:
        The rules: different letters have different digits, no number starts with 0, and the sum
        is correct. Any assignment that follows them passes. No known gaps.

    Difficulty:
        Letters to find are added, then digits, addends, and in the end a base beyond ten. With
        few given digits, carries into several columns have to be told apart by cases.

    References:
        Nozaki, Hendrian, Yoshinaka and Shinohara, "Enumeration of Cryptarithms Using Deterministic
        Finite Automata", 2018. Eppstein, "On the NP-Completeness of Cryptarithms", 1987.
    """

    def generate(self, rng: Rng) -> CryptarithmProblem:
        best: CryptarithmProblem | None = None
        for _ in range(_DRAWS):
            problem = self._draw(rng, len(best.told) if best else len(_ALPHABET))
            if problem is None:
                continue
            wanted = max(0, len(problem.digits) - self.config.max_unknown)
            if best is None or len(problem.told) < len(best.told):
                best = problem
            if len(problem.told) <= wanted:
                break
        if best is None:
            raise ConfigError(f"the number of draws is positive, got {_DRAWS}")
        return best

    def _draw(self, rng: Rng, most: int) -> CryptarithmProblem | None:
        """Return a problem; None if it needs given digits beyond the first, ``most`` in all."""
        config = self.config
        lengths = [
            config.length,
            *(config.length - integer(rng, 0, 1) for _ in range(1, config.n_addends)),
        ]
        numbers = [_random_number(rng, length, config.base) for length in lengths]
        names = [_ALPHABET[i] for i in shuffled(rng, len(_ALPHABET))[: config.base]]
        *addends, total = (
            "".join(names[digit] for digit in _digits(number, config.base))
            for number in (*numbers, sum(numbers))
        )
        used = set("".join((*addends, total)))
        digits = tuple((name, names.index(name)) for name in sorted(used))
        letters = Letters(config.base, tuple(addends), total)
        order = [digits[i] for i in shuffled(rng, len(digits))]
        told = dict(order[config.max_unknown :])
        solution = dict(digits)
        while True:
            found = search_digits(letters, told, other_than=solution, max_nodes=_GENERATE_NODES)
            if found.complete and not found.solutions:
                break
            rival = found.solutions[0] if found.solutions else {}
            name = next(n for n, d in order if n not in told and rival.get(n) != d)
            told[name] = solution[name]
            if len(told) >= most:
                return None
        return CryptarithmProblem(
            config.base, tuple(addends), total, tuple(sorted(told.items())), digits
        )

    def prompt(self, problem: CryptarithmProblem) -> str:
        base = problem.base
        given = ", ".join(f"{name} = {digit}" for name, digit in problem.told)
        known = f" These digits are given: {given}." if given else ""
        included = ", including the given ones" if given else ""
        names = ", ".join(_letters_of(problem))
        return (
            f"In this addition, each letter stands for a digit from 0 to {base - 1}:\n\n"
            f"{' + '.join(problem.addends)} = {problem.total}\n\n"
            f"{'' if base == 10 else f'The numbers are written in base {base}. '}The same letter "
            "always stands for the same digit, and different letters stand for different digits. "
            f"No number starts with 0. The addition must be correct.{known} There is "
            f"exactly one solution. Answer with the digits of all letters ({names}){included}, "
            "written like X=3, Y=8"
            f"{'' if base == 10 else ' (write digits above 9 as decimal numbers)'}."
        )

    def verify(self, problem: CryptarithmProblem, answer: str) -> Verdict:
        digits = _read(answer)
        if digits is None:
            return Verdict.unparsable("expected letters with their digits, such as A=1, B=2")
        if sorted(digits) != _letters_of(problem):
            return Verdict.wrong("the letters are not those of the addition")
        words = (*problem.addends, problem.total)
        *addends, total = (_value(word, digits, problem.base) for word in words)
        faults = (
            (len(set(digits.values())) < len(digits), "two letters have the same digit"),
            (max(digits.values()) >= problem.base, f"a digit is above {problem.base - 1}"),
            (any(digits[n] != digit for n, digit in problem.told), "a given digit was changed"),
            (any(digits[word[0]] == 0 for word in words), "a number starts with 0"),
            (sum(addends) != total, "the addition is not correct"),
        )
        fault = next((why for broken, why in faults if broken), None)
        return Verdict.correct() if fault is None else Verdict.wrong(fault)

    def solve(self, problem: CryptarithmProblem) -> str:
        return _written(problem.digits)

    def explain(self, problem: CryptarithmProblem) -> list[str]:
        """Return what the columns, from the right, leave for the letters and the carries."""
        letters = Letters(problem.base, problem.addends, problem.total)
        return explained(letters, dict(problem.told), dict(problem.digits))

    def effort(self, problem: CryptarithmProblem) -> int:
        """Count the digits tried until the search has proven that there is one solution."""
        letters = Letters(problem.base, problem.addends, problem.total)
        return search_digits(letters, dict(problem.told), max_nodes=_EFFORT_NODES).nodes

    def baseline(self, rng: Rng, problem: CryptarithmProblem) -> str:
        """Give random unused digits to the letters whose digits are not given."""
        told = dict(problem.told)
        free = [d for d in shuffled(rng, problem.base) if d not in told.values()]
        return _written([(n, told[n] if n in told else free.pop()) for n in _letters_of(problem)])


def _letters_of(problem: CryptarithmProblem) -> list[str]:
    return sorted(set("".join((*problem.addends, problem.total))))


def _random_number(rng: Rng, length: int, base: int) -> int:
    return integer(rng, base ** (length - 1), base**length - 1)


def _digits(number: int, base: int) -> list[int]:
    found: list[int] = []
    while number:
        number, digit = divmod(number, base)
        found.append(digit)
    return found[::-1]


def _value(word: str, digits: Mapping[str, int], base: int) -> int:
    total = 0
    for name in word:
        total = total * base + digits[name]
    return total


def _written(digits: Sequence[tuple[str, int]]) -> str:
    return ", ".join(f"{name}={digit}" for name, digit in digits)


def _read(answer: str) -> dict[str, int] | None:
    """Return letters with digits, one or more; None for any other text, or a letter twice."""
    pieces = items(answer[:2000])
    pairs = [_PAIR.fullmatch(piece) for piece in pieces]
    if len(answer) > 2000 or None in pairs:
        return None
    digits = {pair[1]: int(pair[2]) for pair in pairs if pair is not None}
    return digits if len(digits) == len(pairs) else None


# Exact search for the digits behind letters in an addition.


_MOST_ROWS = 50_000  # of a column; one with more is left out of worked solutions


@dataclass(frozen=True, slots=True)
class Letters:
    """An addition in letters."""

    base: int
    addends: tuple[str, ...]
    total: str


@lru_cache(maxsize=16)
def _weights(letters: Letters) -> dict[str, int]:
    """Return what each letter counts for in addends minus total, the greatest first."""
    weights: dict[str, int] = {}
    for sign, words in ((1, letters.addends), (-1, (letters.total,))):
        for word in words:
            worth = sign
            for name in reversed(word):
                weights[name] = weights.get(name, 0) + worth
                worth *= letters.base
    return dict(sorted(weights.items(), key=lambda item: (-abs(item[1]), item[0])))


@dataclass(frozen=True, slots=True)
class FoundDigits:
    """The solutions found, how many digits were tried, and whether there are no others."""

    solutions: tuple[dict[str, int], ...]
    nodes: int
    complete: bool


def search_digits(
    letters: Letters,
    told: Mapping[str, int],
    *,
    max_nodes: int,
    other_than: Mapping[str, int] | None = None,
) -> FoundDigits:
    """Look for up to two solutions, or for one other than a solution that is known.

    Digits are given to the letters of the greatest weight first, and only those are tried with
    which the letters left can still make the difference of both sides zero.
    """
    weights = _weights(letters)
    leading = {word[0] for word in (*letters.addends, letters.total)}
    names = [name for name in weights if name not in told]
    plan = _plan(names, weights, leading, letters.base)
    start = sum(weights[name] * digit for name, digit in told.items())
    used = sum(1 << digit for digit in told.values())
    limit = 2 if other_than is None else 1
    solutions: list[dict[str, int]] = []
    stack: list[tuple[int, int, tuple[int, ...]]] = [(start, used, ())]
    nodes = 0
    while stack and len(solutions) < limit and nodes < max_nodes:
        difference, used, digits = stack.pop()
        if len(digits) == len(names):
            solution = {**told, **dict(zip(names, digits, strict=True))}
            if difference == 0 and solution != other_than:
                solutions.append(solution)
            continue
        weight, sign, size, first, most_left, least_left = plan[len(digits)]
        balance = sign * difference
        least, most = -((balance + most_left) // size), -(balance + least_left) // size
        for digit in range(max(first, least), min(letters.base - 1, most) + 1):
            if not used >> digit & 1:
                nodes += 1
                stack.append((difference + weight * digit, used | 1 << digit, (*digits, digit)))
    return FoundDigits(tuple(solutions), nodes, not stack and len(solutions) < limit)


def _plan(
    names: Sequence[str], weights: Mapping[str, int], leading: set[str], base: int
) -> list[tuple[int, int, int, int, int, int]]:
    """Return what bounds the digit of each letter.

    It is a letter's weight, the sign and the size of it, the least digit, and the greatest and the
    least sum that the letters behind it can have, both times the sign. A letter without weight may
    have any digit.
    """
    plan = []
    lowest = highest = 0
    for name in reversed(names):
        weight, first = weights[name], int(name in leading)
        if weight > 0:
            plan.append((weight, 1, weight, first, highest, lowest))
            lowest, highest = lowest + weight * first, highest + weight * (base - 1)
        elif weight < 0:
            plan.append((weight, -1, -weight, first, -lowest, -highest))
            lowest, highest = lowest + weight * (base - 1), highest + weight * first
        else:
            plan.append((0, 0, 1, first, 0, 1 - base))
    return plan[::-1]


def explained(letters: Letters, told: Mapping[str, int], digits: Mapping[str, int]) -> list[str]:
    """Return how the digits are found from the columns of the addition.

    Args:
        letters: the addition.
        told: the digits that are known.
        digits: the only solution.
    """
    names = sorted(digits)
    words, base = (*letters.addends, letters.total), letters.base
    width = len(letters.total)
    # The carry into a column, counted from the right and from 0, is a cell behind the letters.
    masks = [
        1 << told[name]
        if name in told
        else (1 << base) - 1 - any(name == word[0] for word in words)
        for name in names
    ]
    n_addends = len(letters.addends)
    masks += [1, *[(1 << n_addends) - 1] * (width - 1), 1]
    solution, carry = [digits[name] for name in names], 0
    rules: list[Rule] = []
    said, sums = [], []
    for place in range(width):
        column = [word[-1 - place] for word in letters.addends if len(word) > place]
        below = letters.total[-1 - place]
        sums.append(f"column {place + 1} is {' + '.join(column) or 0} = {below}")
        solution.append(carry)
        carry = (sum(digits[name] for name in column) + carry) // base
        used = sorted({*column, below})
        if n_addends * base ** len(set(column)) > _MOST_ROWS:
            continue
        cells = (*(names.index(name) for name in used), len(names) + place, len(names) + place + 1)
        rules.append(Table(cells, _column_rows(base, n_addends, (tuple(column), below))))
        carried = f" + the carry into column {place + 1}" if place else ""
        onward = f" + {base} times the carry into column {place + 2}" if place + 1 < width else ""
        said.append(f"{' + '.join(column) or 0}{carried} = {below}{onward}")
    network = Network(len(masks), groups=(tuple(range(len(names))),), rules=rules)
    called = [*names, *(f"the carry into column {place + 1}" for place in range(width + 1))]
    speech = Words(called.__getitem__, "the other letters", {}, said)
    first = f"From the right, and but for carries, {joined(sums)}."
    return [first, *worked(network, masks, (*solution, 0), speech)]


@lru_cache(maxsize=64)
def _column_rows(base: int, n_addends: int, column: tuple[tuple[str, ...], str]) -> RowSet:
    """Return the digits that a column may have, its letters in order, and the carries behind."""
    addends, below = column
    names = sorted(set(addends))
    rows = []
    for row in product(range(base), repeat=len(names)):
        digits = dict(zip(names, row, strict=True))
        for carry in range(n_addends):
            onward, digit = divmod(sum(digits[name] for name in addends) + carry, base)
            if digits.get(below, digit) == digit:
                found = digits | {below: digit}
                rows.append((*(found[name] for name in sorted(found)), carry, onward))
    return RowSet(rows)
