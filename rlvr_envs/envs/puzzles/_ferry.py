"""A boat, two banks, and who may not be left with whom.

Travellers are numbered from 0, and sets of them are the bits of an integer. A state is the set on
the starting bank, times two, plus one if the boat is at the other bank.
"""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.moves.search import Route, shortest_path

Guarded = tuple[int, int, int]  # two travellers, and the one in whose presence they get on

MAX_TRAVELLERS = 12


@dataclass(frozen=True)
class Crossing:
    """Who is to cross, and the rules.

    Attributes:
        n_travellers: how many there are.
        seats: how many the boat holds.
        rowers: those who can row.
        guarded: pairs who may share a bank only with a third one there.
        outnumbered: two groups; where any of the first are on a bank, no more of the second may be
            there than of the first. Either may be empty.
    """

    n_travellers: int
    seats: int
    rowers: tuple[int, ...]
    guarded: tuple[Guarded, ...]
    outnumbered: tuple[tuple[int, ...], tuple[int, ...]]

    @cached_property
    def loads(self) -> tuple[int, ...]:
        """Every set that may go in the boat."""
        rowing = bits(self.rowers)
        sizes = range(1, self.seats + 1)
        groups = (g for k in sizes for g in itertools.combinations(range(self.n_travellers), k))
        return tuple(load for load in map(bits, groups) if load & rowing)

    @cached_property
    def groups(self) -> tuple[int, int]:
        """The two groups of ``outnumbered``, as bits."""
        first, second = self.outnumbered
        return bits(first), bits(second)

    @cached_property
    def safe(self) -> tuple[bool, ...]:
        """Of every set, whether it may be on the starting bank and the others on the other."""
        everyone = (1 << self.n_travellers) - 1
        peaceful = [self.trouble(bank) is None for bank in range(everyone + 1)]
        return tuple(here and there for here, there in zip(peaceful, peaceful[::-1], strict=True))

    def trouble(self, bank: int) -> Guarded | str | None:
        """Return what is wrong with a set on a bank: a pair left alone, or a group outnumbered."""
        for one, other, guard in self.guarded:
            if bank >> one & bank >> other & ~(bank >> guard) & 1:
                return one, other, guard
        few, many = [(bank & group).bit_count() for group in self.groups]
        return "outnumbered" if 0 < few < many else None

    def moves(self, state: int) -> Iterator[tuple[int, int]]:
        """Yield every load that may cross, with the state after it."""
        start_bank, over = state >> 1, state & 1
        here = (1 << self.n_travellers) - 1 ^ start_bank if over else start_bank
        for load in self.loads:
            if not load & ~here and self.safe[start_bank ^ load]:
                yield load, (start_bank ^ load) << 1 | 1 - over

    @property
    def start(self) -> int:
        """The state in which everyone is still to cross."""
        return ((1 << self.n_travellers) - 1) << 1

    @property
    def fewest(self) -> int:
        """The number of crossings if everyone got on with everyone."""
        # All but the first full boat cross in round trips, which take over one less than its seats.
        return 1 + 2 * max(0, -((self.seats - self.n_travellers) // (self.seats - 1)))

    def solve(self) -> Route[int]:
        """Return the loads of a solution with the fewest crossings."""
        return shortest_path(self.start, self.moves, is_over, limit=2 << MAX_TRAVELLERS)


def is_over(state: int) -> bool:
    """Return whether everyone has crossed."""
    return state == 1


def bits(members: Iterable[int]) -> int:
    """Return a set of numbers as bits."""
    return sum(1 << member for member in members)


def draw_crossing(
    rng: Rng, n_travellers: int, max_seats: int, max_guarded: int, *, n_draws: int
) -> tuple[Crossing, tuple[int, ...]]:
    """Draw rules ``n_draws`` times; return those that cost most, and the loads of a solution.

    What rules cost is the number of crossings beyond those that the boat's size asks for.
    """
    solved: list[tuple[Crossing, tuple[int, ...]]] = []
    for _ in range(n_draws):
        crossing = _draw(rng, n_travellers, max_seats, max_guarded)
        loads = crossing.solve().moves
        if loads is not None:
            solved.append((crossing, loads))
    if solved:
        return max(solved, key=lambda pair: (len(pair[1]) - pair[0].fewest, len(pair[1])))
    # Without rules a single rower takes the others across one by one.
    free = Crossing(n_travellers, 2, (integer(rng, 0, n_travellers - 1),), (), ((), ()))
    return free, free.solve().moves or ()


def _draw(rng: Rng, n_travellers: int, max_seats: int, max_guarded: int) -> Crossing:
    """Draw rules that allow the first position, though perhaps no solution."""
    order = rng.permutation(n_travellers).tolist()
    n_rowers = integer(rng, 1, max(1, n_travellers // 2))
    rowers = order[:n_rowers]
    guarded = []
    for _ in range(integer(rng, 1, max_guarded)):
        guard = pick(rng, rowers)
        one, other = sorted(rng.choice(n_travellers - 1, 2, replace=False).tolist())
        # Numbers from the guard's on are shifted, so that the guard is not one of the pair.
        guarded.append((one + (one >= guard), other + (other >= guard), guard))
    groups: tuple[tuple[int, ...], tuple[int, ...]] = (), ()
    if n_travellers >= 5 and integer(rng, 0, 1):
        mixed = rng.permutation(n_travellers).tolist()
        size = integer(rng, 2, n_travellers // 2)
        groups = tuple(sorted(mixed[:size])), tuple(sorted(mixed[-size:]))
    return Crossing(
        n_travellers,
        integer(rng, 2, min(max_seats, n_travellers - 1)),
        tuple(sorted(rowers)),
        tuple(sorted(set(guarded))),
        groups,
    )
