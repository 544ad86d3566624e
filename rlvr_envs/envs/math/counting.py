"""Combinatorics: how many ways there are."""

import string
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import comb, factorial, lcm, perm, prod

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, pick
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.counting_steps import STEPS
from rlvr_envs.generators.mathematics.effort import WorkedTask
from rlvr_envs.generators.mathematics.words import counted, listed
from rlvr_envs.verifiers.symbolic import judge_math

# The kinds of counting questions: how each draws its numbers, is worded, and is counted.
#
# Each kind is four functions. ``draw(rng, size)`` gives the numbers of a question; ``ask(numbers,
# surface)`` words it in one of `SURFACES` ways: an even or odd setting, each with its own nouns;
# ``count(numbers)`` is the answer, and ``hurried(numbers)`` is what one gets without the rule that
# makes the question hard.

Numbers = tuple[int, ...]
SURFACES = 16
_COLOURS = ("red", "blue", "green", "white", "black", "yellow", "orange", "purple")
_BODIES = (
    *(("committee", "teacher", "parent"), ("jury", "violinist", "pianist")),
    *(("team", "nurse", "doctor"), ("crew", "sailor", "cook")),
    *(("panel", "writer", "painter"), ("group", "girl", "boy")),
    *(("council", "farmer", "baker"), ("delegation", "student", "professor")),
    *(("board", "engineer", "lawyer"), ("quiz team", "aunt", "uncle")),
    *(("choir", "tenor", "soprano"), ("patrol", "guard", "ranger")),
    *(("band", "drummer", "singer"), ("club", "member", "guest")),
    *(("staff", "chemist", "biologist"), ("troupe", "dancer", "actor")),
)
_THINGS = ("sweets", "apples", "coins", "pencils", "balls", "stickers", "cards", "nuts")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of counting question."""

    draw: Callable[[Rng, int], Numbers]
    ask: Callable[[Numbers, int], str]
    count: Callable[[Numbers], int]
    hurried: Callable[[Numbers], int]


# Arrangements of a multiset in a row; numbers: whether the first kind must be spread, then copies.


def _draw_arrangement(rng: Rng, size: int) -> Numbers:
    n_kinds = integer(rng, 2, min(2 + size // 3, len(_COLOURS)))
    copies = integers(rng, 1 + size // 8, 2 + size // 3, n_kinds)
    spread = integer(rng, 0, 1) and 1 < copies[0] <= sum(copies[1:]) + 1
    return (int(spread), *copies)


def _ask_arrangement(numbers: Numbers, surface: int) -> str:
    spread, *copies = numbers
    setting, turn = surface % 2, surface // 2
    if setting:
        colours = _COLOURS[turn:] + _COLOURS[:turn]
        beads = [f"{n} {colour}" for n, colour in zip(copies, colours, strict=False)]
        rule = f" No two {colours[0]} beads may be next to each other." if spread else ""
        return (
            f"You put {listed(beads)} beads in a row and use all of them.{rule} Beads of the same "
            "colour are identical. Read each row from left to right. How many different rows are "
            "possible?"
        )
    alphabet = string.ascii_uppercase[turn:]
    letters = "".join(n * letter for n, letter in zip(copies, alphabet, strict=False))
    rule = f" so that no two letters {alphabet[0]} are next to each other" if spread else ""
    return f"How many different strings can you form with all the letters of {letters}{rule}?"


def _count_arrangement(numbers: Numbers) -> int:
    spread, *copies = numbers
    if spread:
        rest = sum(copies[1:])
        return _multinomial(copies[1:]) * comb(rest + 1, copies[0])
    return _multinomial(copies)


def _multinomial(copies: list[int]) -> int:
    return factorial(sum(copies)) // prod(map(factorial, copies))


# Committees from two groups; numbers: first group, second group, seats, least from the first.


def _draw_committee(rng: Rng, size: int) -> Numbers:
    first, second = integers(rng, 2 + size // 3, size + 1, 2)
    seats = integer(rng, 2 + size // 6, (first + second) // 2)
    return first, second, seats, integer(rng, 1, max(1, min(first, seats) - 1))


def _ask_committee(numbers: Numbers, surface: int) -> str:
    first, second, seats, least = numbers
    body, one, two = _BODIES[surface]
    return (
        f"A {body} of {counted(seats, 'person', 'people')} is chosen from {counted(first, one)} "
        f"and {counted(second, two)}. It must include at least {counted(least, one)}. In how many "
        "ways can it be chosen?"
    )


def _count_committee(numbers: Numbers) -> int:
    first, second, seats, least = numbers
    return sum(comb(first, k) * comb(second, seats - k) for k in range(least, seats + 1))


# Lattice paths around blocked points; numbers: width, height, then the points' coordinates.


def _draw_paths(rng: Rng, size: int) -> Numbers:
    width, height = integers(rng, 2 + size // 3, size + 1, 2)
    blocked: list[tuple[int, int]] = []
    for _ in range(integer(rng, 1 + size // 4, 1 + size // 2)):
        point = (integer(rng, 0, width), integer(rng, 0, height))
        if point not in ((0, 0), (width, height), *blocked):
            blocked.append(point)
    return (width, height, *(value for point in sorted(blocked) for value in point))


def _ask_paths(numbers: Numbers, surface: int) -> str:
    width, height, *flat = numbers
    points = listed([f"$({x}, {y})$" for x, y in _pairs(flat)], "or")
    if surface % 2:
        avoid = f" The robot must not visit {points}." if points else ""
        return (
            f"A robot walks from $(0, 0)$ to $({width}, {height})$ on the points with integer "
            f"coordinates. Each step adds 1 to exactly one of its two coordinates.{avoid} "
            "How many different walks are possible?"
        )
    avoid = f" The path must not pass through {points}." if points else ""
    return (
        f"A lattice path leads from $(0, 0)$ to $({width}, {height})$. Every step goes one unit to "
        f"the right or one unit up.{avoid} How many such paths are there?"
    )


def _count_paths(numbers: Numbers) -> int:
    width, height, *flat = numbers
    blocked = set(_pairs(flat))
    column = [0] * (height + 1)
    column[0] = 1
    for x in range(width + 1):
        for y in range(height + 1):
            if (x, y) in blocked:
                column[y] = 0
            elif y:
                column[y] += column[y - 1]
    return column[height]


def _pairs(flat: list[int]) -> list[tuple[int, int]]:
    return list(zip(flat[::2], flat[1::2], strict=True))


# Identical things to different takers; numbers: things, takers, least and most for each.


def _draw_shares(rng: Rng, size: int) -> Numbers:
    takers = integer(rng, 2 + size // 5, 2 + size // 2)
    least = integer(rng, 0, 1 + size // 8)
    most = least + integer(rng, 2, size)
    return integer(rng, takers * least + 1, takers * most - 1), takers, least, most


def _ask_shares(numbers: Numbers, surface: int) -> str:
    things, takers, least, most = numbers
    if surface % 2:
        unknowns = [f"x_{{{i}}}" for i in range(1, takers + 1)]
        return (
            f"How many integer solutions does the equation ${' + '.join(unknowns)} = {things}$ "
            f"have in which every unknown is at least {least} and at most {most}?"
        )
    noun = _THINGS[surface // 2]
    bounds = f"must get at least {least} and" if least else "gets"
    return (
        f"You give all of {things} identical {noun} to {takers} children. Every child {bounds} "
        f"at most {most} of them. In how many ways can you do this? "
        f"Two ways differ if some child gets a different number of {noun}."
    )


def _count_shares(numbers: Numbers) -> int:
    things, takers, least, most = numbers
    spare, room = things - takers * least, most - least + 1
    return sum(
        (-1) ** over * comb(takers, over) * comb(spare - over * room + takers - 1, takers - 1)
        for over in range(min(takers, spare // room) + 1)
    )


# A round table; numbers: people, special people, whether those are kept apart.


def _draw_table(rng: Rng, size: int) -> Numbers:
    people = integer(rng, 4 + size // 2, size + 4)
    special = integer(rng, 2, max(2, people // 2 - 1))
    return people, special, integer(rng, 0, 1)


def _ask_table(numbers: Numbers, surface: int) -> str:
    people, special, apart = numbers
    group = ("sisters", "friends")[surface % 2]
    if not apart:
        rule = f"the {special} {group} sit in consecutive seats"
    elif special == 2:
        rule = f"the 2 {group} do not sit next to each other"
    else:
        rule = f"no two of the {special} {group} sit next to each other"
    return (
        f"{people} people sit at a round table with {people} seats. Among them are {special} "
        f"{group}. Seatings that differ only by a rotation count as the same, but mirror images "
        f"count as different. In how many ways can the people sit so that {rule}?"
    )


def _count_table(numbers: Numbers) -> int:
    people, special, apart = numbers
    others = people - special
    if apart:
        return factorial(others - 1) * perm(others, special)
    return factorial(others) * factorial(special)


# Multiples; numbers: the limit, whether the multiples are avoided, then the divisors.


def _draw_multiples(rng: Rng, size: int) -> Numbers:
    wanted = integer(rng, min(2 + size // 8, 4), min(2 + size // 4, 6))
    drawn = sorted(set(integers(rng, 2, 6 + size, wanted)))
    divisors = [d for i, d in enumerate(drawn) if all(d % e for e in drawn[:i])]
    if len(divisors) < 2:
        divisors.append(divisors[0] + 1)  # never a multiple of its predecessor
    return (integer(rng, 10 * size, 12 * size * size), integer(rng, 0, 1), *divisors)


def _ask_multiples(numbers: Numbers, surface: int) -> str:
    limit, avoided, *divisors = numbers
    texts = [str(divisor) for divisor in divisors]
    amount = "none" if avoided else "at least one"
    if surface % 2:
        return (
            f"Tickets are numbered from 1 to {limit}. A ticket wins if its number is a multiple of "
            f"{amount} of the numbers {listed(texts)}. How many tickets win?"
        )
    return (
        f"How many integers from 1 to {limit} (inclusive) are divisible by {amount} of the "
        f"numbers {listed(texts)}?"
    )


def _count_multiples(numbers: Numbers) -> int:
    limit, avoided, *divisors = numbers
    none: int = sum(
        (-1) ** chosen * (limit // lcm(*group))
        for chosen in range(len(divisors) + 1)
        for group in combinations(divisors, chosen)
    )
    return none if avoided else limit - none


# Strings without long runs; numbers: length, symbols, the run that is forbidden.


def _draw_runs(rng: Rng, size: int) -> Numbers:
    return integer(rng, 3 + size // 2, size + 5), integer(rng, 2, 3 + size // 5), integer(rng, 2, 4)


def _ask_runs(numbers: Numbers, surface: int) -> str:
    length, symbols, run = numbers
    if surface % 2:
        return (
            f"You paint each of {length} posts in a row in one of {symbols} colours. One of the "
            f"colours is red. No {run} consecutive posts may all be red. In how many ways can you "
            "paint the posts?"
        )
    return (
        f"A code is a sequence of {length} integers, each from 0 to {symbols - 1}. How many codes "
        f"do not contain {run} consecutive zeros?"
    )


def _count_runs(numbers: Numbers) -> int:
    length, symbols, run = numbers
    endings = [1] + [0] * (run - 1)  # by the length of the run at the end
    for _ in range(length):
        endings = [(symbols - 1) * sum(endings), *endings[:-1]]
    return sum(endings)


# Chosen places in a row that keep their distance; numbers: places, chosen ones, gap.


def _draw_spaced(rng: Rng, size: int) -> Numbers:
    gap, chosen = integer(rng, 1, 2 + size // 6), integer(rng, 2 + size // 8, 2 + size // 3)
    return (chosen - 1) * (gap + 1) + 1 + integer(rng, 1, size + 2), chosen, gap


def _ask_spaced(numbers: Numbers, surface: int) -> str:
    places, chosen, gap = numbers
    if surface % 2:
        return (
            f"You choose a set of {chosen} different integers from 1 to {places}. Any two of them "
            f"must differ by more than {gap}. How many such sets are there?"
        )
    return (
        f"A street has {places} plots in a row. You choose {chosen} of the plots and build a "
        f"house on each. At least {counted(gap, 'free plot')} must lie between any two houses. "
        "In how many ways can you choose the plots?"
    )


def _count_spaced(numbers: Numbers) -> int:
    places, chosen, gap = numbers
    return comb(places - (chosen - 1) * gap, chosen)


# Permutations with fixed points; numbers: things, how many stay in place.


def _draw_fixed(rng: Rng, size: int) -> Numbers:
    things = integer(rng, 3 + size // 2, size + 4)
    return things, integer(rng, 0, things // 2)


def _ask_fixed(numbers: Numbers, surface: int) -> str:
    things, fixed = numbers
    if surface % 2:
        return (
            f"{things} guests leave their hats at the door. When they go home, each guest takes "
            "one hat. In how many ways can they take the hats so that the number of guests who get "
            f"their own hat is exactly {fixed}?"
        )
    return (
        f"How many permutations $\\pi$ of the numbers from 1 to {things} have exactly {fixed} "
        f"fixed point{'' if fixed == 1 else 's'} (numbers $i$ with $\\pi(i) = i$)?"
    )


def _count_fixed(numbers: Numbers) -> int:
    things, fixed = numbers
    moved = things - fixed
    derangements: int = sum(
        (-1) ** k * (factorial(moved) // factorial(k)) for k in range(moved + 1)
    )
    return comb(things, fixed) * derangements


# Different things into parts that are not empty; numbers: things, parts, whether parts differ.


def _draw_parts(rng: Rng, size: int) -> Numbers:
    things = integer(rng, 3 + size // 2, size + 4)
    return things, integer(rng, 2, things - 1), integer(rng, 0, 1)


def _ask_parts(numbers: Numbers, surface: int) -> str:
    things, parts, named = numbers
    if surface % 2:
        rule = (
            f"give {things} different toys to {parts} children so that each child gets at least one"
            if named
            else f"pack {things} different toys into {parts} identical bags so that no bag is empty"
        )
        return f"In how many ways can you {rule}?"
    if named:
        return (
            f"How many surjective functions are there from a set of {things} elements to a set of "
            f"{parts} elements?"
        )
    return (
        f"In how many ways can you partition a set of {things} elements into {parts} nonempty "
        "subsets?"
    )


def _count_parts(numbers: Numbers) -> int:
    things, parts, named = numbers
    onto: int = sum((-1) ** k * comb(parts, k) * (parts - k) ** things for k in range(parts + 1))
    return onto if named else onto // factorial(parts)


KINDS = {
    "arrangement": Kind(
        *(_draw_arrangement, _ask_arrangement, _count_arrangement),
        lambda n: factorial(sum(n[1:])),
    ),
    "committee": Kind(
        *(_draw_committee, _ask_committee, _count_committee),
        lambda n: comb(n[0] + n[1], n[2]),
    ),
    "paths": Kind(
        *(_draw_paths, _ask_paths, _count_paths),
        lambda n: comb(n[0] + n[1], n[0]),
    ),
    "shares": Kind(
        *(_draw_shares, _ask_shares, _count_shares),
        lambda n: comb(n[0] + n[1] - 1, n[1] - 1),
    ),
    "multiples": Kind(
        *(_draw_multiples, _ask_multiples, _count_multiples),
        lambda n: sum(n[0] // divisor for divisor in n[2:]),
    ),
    "table": Kind(
        *(_draw_table, _ask_table, _count_table),
        lambda n: factorial(n[0] - 1),
    ),
    "runs": Kind(
        *(_draw_runs, _ask_runs, _count_runs),
        lambda n: n[1] ** n[0],
    ),
    "spaced": Kind(
        *(_draw_spaced, _ask_spaced, _count_spaced),
        lambda n: comb(n[0], n[1]),
    ),
    "fixed_points": Kind(
        *(_draw_fixed, _ask_fixed, _count_fixed),
        lambda n: factorial(n[0] - n[1]),
    ),
    "parts": Kind(
        *(_draw_parts, _ask_parts, _count_parts),
        lambda n: n[1] ** n[0],
    ),
}
_WIDE = 5  # the first kinds, which have many small questions
_SHORT = ("multiples", "table", "spaced")
_ATTEMPTS = 20  # after so many draws in a row, an answer below 2 is accepted


@dataclass(frozen=True, slots=True, kw_only=True)
class CountingConfig(TaskConfig):
    """The kinds of questions and their size."""

    kinds: tuple[str, ...] = knob(
        tuple(KINDS), "kinds of questions; each problem has one of them", choices=KINDS
    )
    size: int = knob(
        16, "roughly the number of things, people, places or steps in a question", low=2
    )

    @classmethod
    def at(cls, difficulty: int) -> "CountingConfig":
        """The size grows by three each level.

        Five kinds come in at level 2, and those that stay a single formula leave after level 5.
        """
        kinds = tuple(KINDS)[: _WIDE if difficulty < 2 else None]
        if difficulty > 5:
            kinds = tuple(kind for kind in kinds if kind not in _SHORT)
        return cls(kinds=kinds, size=4 + 3 * difficulty)


@dataclass(frozen=True, slots=True)
class CountingProblem:
    """The kind of question, its wording, the numbers in it, and the count."""

    kind: str
    surface: int
    numbers: tuple[int, ...]
    count: int = hidden()


@register("Counting-v0", domain="math")
class CountingTask(WorkedTask[CountingConfig, CountingProblem]):
    """Count the arrangements, choices or paths that a question in words describes.

    Description:
        Ten kinds, each in two settings: arrangements of a multiset; committees with a quota;
        lattice paths around blocked points; identical things distributed within bounds; round
        tables with people together or apart; multiples (inclusion and exclusion); strings
        without long runs; choices with a minimum distance; permutations with fixed points;
        partitions and surjections.

    Observation:
        One question in words.

    Action:
        One integer. A formula, such as a factorial or a binomial coefficient, earns nothing.

    Reward:
        1 for the right count, otherwise 0.

    Verification:
        Exact, on integers. No known gaps.

    Difficulty:
        The number of things grows, so listing all cases becomes impossible. Kinds with many small
        questions come first; those that stay short leave.

    References:
        Stanley, Enumerative Combinatorics, volume 1, chapters 1 and 2.
    """

    def generate(self, rng: Rng) -> CountingProblem:
        kind = pick(rng, self.config.kinds)
        surface = integer(rng, 0, SURFACES - 1)
        numbers: tuple[int, ...] = ()
        count = 0
        for _ in range(_ATTEMPTS):
            numbers = KINDS[kind].draw(rng, self.config.size)
            count = KINDS[kind].count(numbers)
            if count >= 2:
                break
        return CountingProblem(kind, surface, numbers, count)

    def prompt(self, problem: CountingProblem) -> str:
        question = KINDS[problem.kind].ask(problem.numbers, problem.surface)
        return f"{question} Answer with an integer, not a formula."

    def verify(self, problem: CountingProblem, answer: str) -> Verdict:
        return judge_math(str(problem.count), answer, answer_type="integer")

    def solve(self, problem: CountingProblem) -> str:
        return str(problem.count)

    def baseline(self, rng: Rng, problem: CountingProblem) -> str:
        """Count as if the rule that makes the question hard were not there."""
        return str(KINDS[problem.kind].hurried(problem.numbers))

    def explain(self, problem: CountingProblem) -> list[str]:
        return STEPS[problem.kind](problem.numbers)
