"""River crossing: a small boat, and travellers who must not be left together."""

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.moves.scoring import SHORTEST_WANTED, graded, listing, stray
from rlvr_envs.generators.moves.search import Route, shortest_path
from rlvr_envs.verifiers.markup import unmarked
from rlvr_envs.verifiers.parse import MAX_CHARACTERS, words

Guarded = tuple[int, int, int]  # two travellers, and the one in whose presence they get on


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


MOVE_LIMIT = 200
_NAMES = (
    *("Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gail", "Hugo", "Iris", "Jack", "Kate", "Liam"),
    *("Mona", "Ned", "Olga", "Paul", "Rosa", "Sam", "Tess", "Umar", "Vera", "Will", "Yara", "Zoe"),
)
_BREAK = re.compile(r"[;\n]")


MAX_TRAVELLERS = 13


@dataclass(frozen=True, slots=True, kw_only=True)
class RiverCrossingConfig(TaskConfig):
    """How many travellers and rules there are."""

    n_travellers: int = knob(5, "travellers", low=3, high=MAX_TRAVELLERS)
    max_seats: int = knob(3, "most seats in the boat; their number is drawn from 2 on")
    max_guarded: int = knob(
        4, "most pairs who need a third person with them on a bank", low=1, high=100
    )
    n_draws: int = knob(
        4,
        "sets of rules drawn, of which the one that costs most crossings is taken",
        low=1,
        high=1000,
    )
    optimal_only: bool = knob(False, "a longer solution earns only shortest length / length")

    def check(self) -> None:
        if not 2 <= self.max_seats < self.n_travellers:
            raise ConfigError(f"need max_seats in 2..n_travellers - 1, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "RiverCrossingConfig":
        """Each level adds a traveller, up to 13, and more rules; the boat may hold three at times.

        More sets of rules are drawn, to find hard ones; beyond level 10 only that goes on.
        """
        return cls(
            n_travellers=min(MAX_TRAVELLERS, 3 + difficulty),
            max_seats=3 if difficulty else 2,
            max_guarded=min(20, 2 + difficulty),
            n_draws=min(20, 2 + difficulty // 2),
        )


@dataclass(frozen=True, slots=True)
class RiverCrossingProblem:
    """The names of the travellers, and rules in which they are numbered from 0."""

    names: tuple[str, ...]
    seats: int
    rowers: tuple[int, ...]
    guarded: tuple[tuple[int, int, int], ...]
    outnumbered: tuple[tuple[int, ...], tuple[int, ...]]
    shortest: int = hidden()
    solution: str = hidden()


@register("RiverCrossing-v0", domain="puzzles", answer_format="tag")
class RiverCrossingTask(Task[RiverCrossingConfig, RiverCrossingProblem]):
    """Ferry travellers over a river without leaving the wrong ones together.

    Description:
        The boat is small, only some can row, some pairs may share a bank only while a third person
        is there, and in some problems one group must not be outnumbered by another. The rules are
        drawn at random, so that no known puzzle's answer applies.

    Observation:
        The travellers and the rules.

    Action:
        The crossings in order, one per line, each as the names of those in the boat.

    Reward:
        1 for crossings within the rules after which everyone is on the far bank. Under
        ``optimal_only`` the number of crossings in a shortest solution divided by the number of
        crossings. Otherwise 0.

    Verification:
        The crossings are played, and both banks are checked after each; an answer of more than 200
        is not read. A shortest solution comes from a search of all positions, which proves that
        there is one. No known gaps.

    Difficulty:
        The travellers and the rules grow in number. See `RiverCrossingConfig.at`.

    References:
        Alcuin of York (attributed), "Propositiones ad Acuendos Juvenes", about 800.
        Ito, Langerman and Yoshida, "Generalized River Crossing Problems", 2015.
    """

    def generate(self, rng: Rng) -> RiverCrossingProblem:
        config = self.config
        crossing, loads = draw_crossing(
            rng,
            config.n_travellers,
            config.max_seats,
            config.max_guarded,
            n_draws=config.n_draws,
        )
        drawn = rng.permutation(len(_NAMES))[: config.n_travellers].tolist()
        names = tuple(_NAMES[index] for index in drawn)
        return RiverCrossingProblem(
            names=names,
            seats=crossing.seats,
            rowers=crossing.rowers,
            guarded=crossing.guarded,
            outnumbered=crossing.outnumbered,
            shortest=len(loads),
            solution=_show(loads, names),
        )

    def prompt(self, problem: RiverCrossingProblem) -> str:
        names = problem.names
        wanted = (
            f" {SHORTEST_WANTED.replace('move', 'crossing')}" if self.config.optimal_only else ""
        )
        return (
            f"{listing(names)} want to cross a river from the left bank to the right bank. They "
            f"have one boat, which is on the left bank.\n\n{_rules(problem)}\n\n"
            "The rules about banks apply to both banks after each crossing, when everyone in the "
            "boat has landed. They do not apply in the boat.\n\nFind a sequence of at most "
            f"{MOVE_LIMIT} crossings after which everyone is on the right bank.{wanted} The first "
            "crossing goes from left to right, the second from right to left, and so on.\n\n"
            "Answer with the crossings in order, one per line. For each crossing, write the names "
            "of all people in the boat, separated by spaces."
        )

    def verify(self, problem: RiverCrossingProblem, answer: str) -> Verdict:
        loads = _read(answer, problem.names)
        if loads is None:
            return Verdict.unparsable(
                f"expected at most {MOVE_LIMIT} lines of names of travellers, none twice in a line"
            )
        crossing = _crossing(problem)
        left, everyone = (1 << len(problem.names)) - 1, (1 << len(problem.names)) - 1
        for number, load in enumerate(loads, 1):
            here = left if number % 2 else everyone ^ left
            reason = _fault(crossing, load, here)
            left ^= load
            for bank in (left, everyone ^ left):
                reason = reason or _told(crossing.trouble(bank), problem.names)
            if reason:
                return Verdict.wrong(f"crossing {number}: {reason}")
        if left:
            return Verdict.wrong("not everyone is on the right bank after the crossings")
        return graded(len(loads), problem.shortest, optimal_only=self.config.optimal_only)

    def solve(self, problem: RiverCrossingProblem) -> str:
        return problem.solution

    def explain(self, problem: RiverCrossingProblem) -> list[str]:
        """Return who is on which bank after each crossing."""
        names, steps = problem.names, []
        banks = [set(names), set[str]()]
        for number, line in enumerate(problem.solution.split("\n")):
            here, there = number % 2, 1 - number % 2
            banks[here] -= set(line.split())
            banks[there] |= set(line.split())
            left, right = (
                " ".join(name for name in names if name in bank) or "nobody" for bank in banks
            )
            way = "right" if there else "left"
            steps.append(f"{line} to the {way}. On the left: {left}. On the right: {right}.")
        return steps

    def effort(self, problem: RiverCrossingProblem) -> int:
        """Count the positions that a breadth-first search looks at before everyone is over."""
        return _crossing(problem).solve().expanded

    def baseline(self, rng: Rng, problem: RiverCrossingProblem) -> str:
        """Cross at random within the rules, never back to a position, until everyone is over."""
        crossing = _crossing(problem)
        limit = 3 * len(problem.names)
        loads = stray(crossing.start, crossing.moves, is_over, rng, limit=limit)
        return _show(loads or (1,), problem.names)


def _crossing(problem: RiverCrossingProblem) -> Crossing:
    return Crossing(
        len(problem.names), problem.seats, problem.rowers, problem.guarded, problem.outnumbered
    )


def _rules(problem: RiverCrossingProblem) -> str:
    """Return the rules, one per line."""
    names = problem.names
    rowers = listing([names[rower] for rower in problem.rowers])
    lines = [
        f"The boat holds at most {problem.seats} people, including the one who rows.",
        f"Only {rowers} can row. At least one of them must be in the boat on every crossing."
        if len(problem.rowers) > 1
        else f"Only {rowers} can row, so {rowers} must be in the boat on every crossing.",
    ]
    lines += [
        f"{names[one]} and {names[other]} may be on the same bank only if {names[guard]} is also "
        "there."
        for one, other, guard in problem.guarded
    ]
    few, many = (
        listing([names[i] for i in group]) if group else "" for group in problem.outnumbered
    )
    if few:
        lines.append(
            f"There are two groups: the first is {few}; the second is {many}. On a bank where "
            "anyone of the first group is, there must not be more people of the second group than "
            "of the first."
        )
    return "\n".join(f"- {line}" for line in lines)


def _fault(crossing: Crossing, load: int, here: int) -> str:
    """Return why a load cannot go in the boat, or the empty string."""
    if load & ~here:
        return "someone in the boat was not on its bank"
    if load.bit_count() > crossing.seats:
        return "there are too many people in the boat"
    if not load & bits(crossing.rowers):
        return "no one in the boat can row"
    return ""


def _told(trouble: Guarded | str | None, names: tuple[str, ...]) -> str:
    if trouble is None:
        return ""
    if isinstance(trouble, str):
        return "the second group outnumbers the first on a bank"
    one, other, guard = trouble
    return f"{names[one]} and {names[other]} are on a bank without {names[guard]}"


def _read(answer: str, names: tuple[str, ...]) -> list[int] | None:
    """Return the loads as sets of travellers; lines may also be separated by semicolons."""
    if len(answer) > MAX_CHARACTERS:
        return None
    bit = {name.lower(): 1 << index for index, name in enumerate(names)}
    lines = [line for line in _BREAK.split(unmarked(answer)) if line.strip()]
    loads = []
    for line in lines[: MOVE_LIMIT + 1]:
        members = [bit.get(word.lower(), 0) for word in words(line) or ()]
        if not members or 0 in members or len(set(members)) < len(members):
            return None
        loads.append(sum(members))
    return loads if 0 < len(loads) <= MOVE_LIMIT else None


def _show(loads: tuple[int, ...] | list[int], names: tuple[str, ...]) -> str:
    lines = [[name for i, name in enumerate(names) if load >> i & 1] for load in loads]
    return "\n".join(" ".join(line) for line in lines)


# A boat, two banks, and who may not be left with whom.
#
# Travellers are numbered from 0, and sets of them are the bits of an integer. A state is the set on
# the starting bank, times two, plus one if the boat is at the other bank.


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
