"""Clues about who lives where in a row of houses, and an exact search for all that fits them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

from rlvr_envs.generators.grids.candidates import Network, RowSet, Table
from rlvr_envs.generators.grids.deductions import Words, worked

# Kind: whether values at houses p and q, counted from 0 and never of the same person unless the
# kind is about that, satisfy a clue between them.
BETWEEN_TWO: dict[str, Callable[[int, int, int], bool]] = {
    "same": lambda p, q, _: p == q,
    "different": lambda p, q, _: p != q,
    "directly left": lambda p, q, _: q - p == 1,
    "left": lambda p, q, _: p < q,
    "next": lambda p, q, _: abs(p - q) == 1,
    "apart": lambda p, q, gap: abs(p - q) == gap + 1,
}
# Kind: whether a value at house p, of n, satisfies a clue about it alone.
OF_ONE: dict[str, Callable[[int, int, int], bool]] = {
    "at": lambda p, number, _: p + 1 == number,
    "not at": lambda p, number, _: p + 1 != number,
    "at an end": lambda p, _, n: p in (0, n - 1),
}


@dataclass(frozen=True, slots=True)
class Clue:
    """A fact about one value or two, which are numbered row by row through the categories.

    Attributes:
        kind: one of `BETWEEN_TWO` or `OF_ONE`.
        first: the value that the clue is about.
        second: the other value; -1 where there is none.
        number: the house of "at" and "not at", from 1, or the houses in between for "apart".
    """

    kind: str
    first: int
    second: int = -1
    number: int = 0


def explained(
    clues: Sequence[Clue],
    clauses: Sequence[str],
    people: Sequence[str],
    categories: Sequence[str],
    houses: Sequence[int],
) -> list[str]:
    """Return who can be found to live where, step by step.

    Args:
        clues: what is told.
        clauses: the clues in words.
        people: what the person with each value is called.
        categories: the names of the categories.
        houses: the house of each value in the only table that fits, from 1.
    """
    n = len(people) // len(categories)
    rules = []
    for clue in clues:
        cells = (clue.first,) if clue.kind in OF_ONE else (clue.first, clue.second)
        fitting = [
            tuple(p + 1 for p in row)
            for row in product(range(n), repeat=len(cells))
            if satisfied(clue, dict(zip(cells, row, strict=True)), n)
        ]
        rules.append(Table(cells, RowSet(fitting)))
    groups = {tuple(range(i * n, i * n + n)): name for i, name in enumerate(categories)}
    network = Network(len(people), groups=tuple(groups), rules=rules, n_values=n)
    words = Words(
        people.__getitem__,
        "the other people's houses",
        groups,
        [f"{clause} (clue {number})" for number, clause in enumerate(clauses, 1)],
        lambda value: f"house {value}",
        "lives in",
        "no other {group} fits {value}",
        "no {group} fits {value}",
    )
    return worked(network, [(2 << n) - 2] * len(people), tuple(houses), words)


def satisfied(clue: Clue, houses: Sequence[int] | Mapping[int, int], n_houses: int) -> bool:
    """Return whether a clue holds where value v is at house ``houses[v]``, from 0."""
    if clue.kind in OF_ONE:
        return OF_ONE[clue.kind](houses[clue.first], clue.number, n_houses)
    return BETWEEN_TWO[clue.kind](houses[clue.first], houses[clue.second], clue.number)


@cache
def _images(kind: str, number: int, n_houses: int) -> tuple[list[int], list[int]]:
    """Return, for each set of houses of the first value, those of the second, and conversely."""
    holds = BETWEEN_TWO[kind]
    forward, backward = [], []
    for houses in range(1 << n_houses):
        own = [p for p in range(n_houses) if houses >> p & 1]
        reached = {q for q in range(n_houses) for p in own if holds(p, q, number)}
        forward.append(sum(1 << q for q in reached))
        reached = {p for p in range(n_houses) for q in own if holds(p, q, number)}
        backward.append(sum(1 << p for p in reached))
    return forward, backward


class Search:
    """A search for tables that fit a set of clues, by propagation and trial.

    A domain is the set of houses where a value may be, as the bits of an integer.

    Attributes:
        steps: the domains that were narrowed so far.
    """

    def __init__(self, n_houses: int, n_categories: int, clues: Sequence[Clue]) -> None:
        self.n_houses = n_houses
        self.steps = 0
        n_values = n_houses * n_categories
        self._start = [(1 << n_houses) - 1] * n_values
        self._links: list[list[tuple[int, list[int]]]] = [[] for _ in range(n_values)]
        for clue in clues:
            self._add(clue)

    def _add(self, clue: Clue) -> None:
        n = self.n_houses
        if clue.kind in OF_ONE:
            holds = OF_ONE[clue.kind]
            fitting = sum(1 << p for p in range(n) if holds(p, clue.number, n))
            self._start[clue.first] &= fitting
            return
        forward, backward = _images(clue.kind, clue.number, n)
        self._links[clue.first].append((clue.second, forward))
        self._links[clue.second].append((clue.first, backward))

    def tables(self, limit: int, max_steps: int) -> list[list[int]] | None:
        """Return up to ``limit`` fitting tables as the house of each value.

        None if more than ``max_steps`` further domains had to be narrowed before that was known.
        """
        found: list[list[int]] = []
        last = self.steps + max_steps
        stack = [(list(self._start), list(range(len(self._start))))]
        while stack and len(found) < limit:
            if self.steps > last:
                return None
            domains, changed = stack.pop()
            if not self._propagate(domains, changed):
                continue
            open_values = [v for v, domain in enumerate(domains) if domain & (domain - 1)]
            if not open_values:
                found.append([domain.bit_length() - 1 for domain in domains])
                continue
            value = min(open_values, key=lambda v: domains[v].bit_count())
            for p in range(self.n_houses):
                if domains[value] >> p & 1:
                    child = list(domains)
                    child[value] = 1 << p
                    stack.append((child, [value]))
        return found

    def _propagate(self, domains: list[int], changed: list[int]) -> bool:
        """Narrow the domains as far as single clues and categories tell; False if one is empty."""
        queue = changed
        while queue:
            value = queue.pop()
            domain = domains[value]
            if not domain:
                return False
            for other, image in self._links[value]:
                narrowed = domains[other] & image[domain]
                if narrowed != domains[other]:
                    domains[other] = narrowed
                    self.steps += 1
                    queue.append(other)
            if not self._one_each(value, domains, queue):
                return False
        return True

    def _one_each(self, value: int, domains: list[int], queue: list[int]) -> bool:
        """Give every house one value of the value's category; False if a house can have none."""
        n = self.n_houses
        base = value - value % n
        domain = domains[value]
        single = not domain & (domain - 1)
        once = twice = 0
        for other in range(base, base + n):
            if single and other != value and domains[other] & domain:
                domains[other] &= ~domain
                self.steps += 1
                queue.append(other)
            twice |= once & domains[other]
            once |= domains[other]
        if once != (1 << n) - 1:
            return False
        lone = once & ~twice
        for other in range(base, base + n):
            own = domains[other] & lone
            if own and own != domains[other]:
                domains[other] = own
                self.steps += 1
                queue.append(other)
        return True
