"""Exact search for the digits behind letters in an addition."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from rlvr_envs.generators.grids.candidates import Network, RowSet, Rule, Table
from rlvr_envs.generators.grids.deductions import Words, worked
from rlvr_envs.generators.words.names import joined

_MOST_ROWS = 50_000  # of a column; one with more is left out of worked solutions


@dataclass(frozen=True, slots=True)
class Letters:
    """An addition in letters."""

    base: int
    addends: tuple[str, ...]
    total: str

    def weights(self) -> dict[str, int]:
        """Return what each letter counts for in addends minus total, the greatest first."""
        weights: dict[str, int] = {}
        for sign, words in ((1, self.addends), (-1, (self.total,))):
            for word in words:
                for place, name in enumerate(reversed(word)):
                    weights[name] = weights.get(name, 0) + sign * self.base**place
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
    weights = letters.weights()
    leading = {word[0] for word in (*letters.addends, letters.total)}
    names = [name for name in weights if name not in told]
    lowest, highest = _reach(names, weights, leading, letters.base)
    start = sum(weights[name] * digit for name, digit in told.items())
    limit = 2 if other_than is None else 1
    solutions: list[dict[str, int]] = []
    stack: list[tuple[int, tuple[int, ...]]] = [(start, ())]
    nodes = 0
    while stack and len(solutions) < limit and nodes < max_nodes:
        difference, digits = stack.pop()
        at = len(digits)
        if at == len(names):
            solution = {**told, **dict(zip(names, digits, strict=True))}
            if difference == 0 and solution != other_than:
                solutions.append(solution)
            continue
        weight, used = weights[names[at]], {*digits, *told.values()}
        for digit in range(names[at] in leading, letters.base):
            after = difference + weight * digit
            if digit not in used and lowest[at + 1] <= -after <= highest[at + 1]:
                nodes += 1
                stack.append((after, (*digits, digit)))
    return FoundDigits(tuple(solutions), nodes, not stack and len(solutions) < limit)


def _reach(
    names: list[str], weights: Mapping[str, int], leading: set[str], base: int
) -> tuple[list[int], list[int]]:
    """Return the least and the greatest sum that the letters from each one on can have."""
    lowest, highest = [0], [0]
    for name in reversed(names):
        ends = [weights[name] * digit for digit in (int(name in leading), base - 1)]
        lowest.append(lowest[-1] + min(ends))
        highest.append(highest[-1] + max(ends))
    return lowest[::-1], highest[::-1]


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
