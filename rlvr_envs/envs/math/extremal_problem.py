"""Extremal problems: the largest or smallest number that a known theorem gives."""

from dataclasses import dataclass
from math import comb, prod

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers
from rlvr_envs.generators.mathematics.families import (
    Family,
    FamilyTask,
    Numbers,
    Question,
    window,
)
from rlvr_envs.generators.mathematics.steps import total
from rlvr_envs.generators.mathematics.words import counted, listed

_COLOURS = ("red", "blue", "green", "white", "black", "yellow", "grey", "brown", "pink", "purple")
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19)
_WIDEST = 40  # sizes beyond this give numbers of hundreds of digits, which teach nothing


def _bound(size: int) -> int:
    """Return the largest n of a question."""
    bound: int = 100 * 5**size
    return bound


# Subsets of 1..n without a difference; numbers: n, the difference.


def _draw_difference(rng: Rng, size: int) -> Numbers:
    return integer(rng, 40, 2 * _bound(size)), integer(rng, 3, 15 + 3 * size)


def _state_difference(n: int, step: int) -> Question:
    return _no_difference(n, step, "How many numbers can be chosen from 1 to {n} at most")


def _no_difference(n: int, step: int, asked: str) -> Question:
    whole, rest = divmod(n, 2 * step)
    answer = whole * step + min(rest, step)
    return Question(
        f"{asked.format(n=n)} so that no two chosen numbers differ by exactly {step}?",
        answer,
        [
            (
                f"Cut 1 to {n} into blocks of {2 * step}. In a block the pairs (i, i + {step}) "
                f"allow one number each, and the first {step} numbers of each block do."
            ),
            f"{n} = {whole} * {2 * step} + {rest}",
            f"{whole} * {step} + {min(rest, step)} = {answer}",
        ],
        (n + 1) // 2,
    )


# The pigeonhole principle; numbers: how many alike are wanted, then the socks of each colour.


def _draw_socks(rng: Rng, size: int) -> Numbers:
    wanted = integer(rng, 4, 12 + 4 * size)
    colours = min(3 + size // 2, len(_COLOURS))
    few, many = integer(rng, 1, wanted - 2), integer(rng, wanted, 2 * wanted)
    return (wanted, few, *integers(rng, 1, wanted + 3, colours - 2), many)


def _state_socks(wanted: int, *counts: int) -> Question:
    worst = [min(count, wanted - 1) for count in counts]
    answer = sum(worst) + 1
    socks = listed([f"{n} {colour}" for n, colour in zip(counts, _COLOURS, strict=False)])
    return Question(
        f"A drawer holds {socks} socks. You take socks out without looking. What is the smallest "
        f"number of socks you must take to be sure that {wanted} of them have the same colour?",
        answer,
        [
            f"In the worst case you take at most {wanted - 1} of each colour first.",
            f"{total(worst)} = {sum(worst)}",
            f"The next sock decides: {sum(worst)} + 1 = {answer}",
        ],
        len(counts) * (wanted - 1) + 1,
    )


# Subsets of 1..n without a sum; numbers: n, the sum.


def _draw_no_sum(rng: Rng, size: int) -> Numbers:
    n = integer(rng, 30, 2 * _bound(size))
    return n, integer(rng, n // 2, 2 * n - 5)


def _state_no_sum(n: int, wanted: int) -> Question:
    low = max(1, wanted - n)
    pairs = (wanted - 1) // 2 - low + 1
    return Question(
        f"How many numbers can be chosen from 1 to {n} at most so that no two different chosen "
        f"numbers have the sum {wanted}?",
        n - pairs,
        [
            (
                f"The pairs (i, {wanted} - i) with i < {wanted} - i go from i = {low} to "
                f"i = {(wanted - 1) // 2}: {pairs} pairs."
            ),
            "Each pair must lose a number, and one is enough.",
            f"{n} - {pairs} = {n - pairs}",
        ],
        n - wanted // 2 if wanted <= n else n // 2,
    )


# Pieces that attack near squares; numbers: rows, columns, reach.


def _draw_reach(rng: Rng, size: int) -> Numbers:
    rows, columns = integers(rng, 8, 40 * 3**size, 2)
    reach = integer(rng, 1, 4 + size // 2)
    return rows + (rows % (reach + 1) == 0), columns, reach  # so that the edge matters


def _state_reach(rows: int, columns: int, reach: int) -> Question:
    high, wide = -(-rows // (reach + 1)), -(-columns // (reach + 1))
    return Question(
        f"A piece attacks every square that can be reached in at most {counted(reach, 'move')} "
        "of a chess king (sideways, up, down or diagonally), also across other pieces. How "
        f"many such pieces can stand on a board with {rows} rows and {columns} columns at most "
        "so that no piece attacks another?",
        high * wide,
        [
            (
                f"Any square of side {reach + 1} holds at most one piece. {high} times {wide} such "
                "squares cover the board; those at the edge may stick out."
            ),
            f"One piece in the first corner of each does it: {high} * {wide} = {high * wide}",
        ],
        rows * columns // (reach + 1) ** 2,
    )


# Subsets of 1..n without a multiple; numbers: n, the factor.


def _draw_multiple(rng: Rng, size: int) -> Numbers:
    return integer(rng, 60, 5 * _bound(size)), integer(rng, 2, 6 + size // 2)


def _state_multiple(n: int, factor: int) -> Question:
    return _no_multiple(n, factor, "How many numbers can be chosen from 1 to {n} at most")


def _no_multiple(n: int, factor: int, asked: str) -> Question:
    terms, power = [n], factor
    while power <= n:
        terms.append(n // power * (-1 if len(terms) % 2 else 1))
        power *= factor
    return Question(
        f"{asked.format(n=n)} so that no chosen number is {factor} times another one?",
        sum(terms),
        [
            (
                f"The numbers m, {factor}m, {factor**2}m, ... form a chain for each m that "
                f"{factor} does not divide. Of neighbours in a chain only one may be chosen."
            ),
            f"So choose the numbers that {factor} divides an even number of times.",
            f"{total(terms)} = {sum(terms)}",
        ],
        n - n // factor,
    )


# Subsets of 1..n without a divisible sum; numbers: n, the divisor.


def _draw_divisible(rng: Rng, size: int) -> Numbers:
    return integer(rng, 60 + 9 * size, 2 * _bound(size)), integer(rng, 4, 14 + 3 * size)


def _state_divisible(n: int, divisor: int) -> Question:
    sizes = [n // divisor + (0 < r <= n % divisor) for r in range(divisor)]
    pairs = [max(sizes[r], sizes[divisor - r]) for r in range(1, (divisor + 1) // 2)]
    single = (sizes[0] > 0) + (divisor % 2 == 0 and sizes[divisor // 2] > 0)
    answer = sum(pairs) + single
    alone = "0" if divisor % 2 else f"0 and {divisor // 2}"
    return Question(
        f"How many numbers can be chosen from 1 to {n} at most so that no two different chosen "
        f"numbers have a sum that {divisor} divides?",
        answer,
        [
            (
                f"Sort the numbers by the remainder r modulo {divisor}. Remainders r and "
                f"{divisor} - r exclude each other, so take the larger class of the two."
            ),
            f"{len(pairs)} pairs of classes give {sum(pairs)} numbers.",
            (
                f"With remainder {alone} only one number each can be chosen: "
                f"{sum(pairs)} + {single} = {answer}"
            ),
        ],
        n // 2 + 1,
    )


# Monotone subsequences; numbers: the wanted lengths.


def _draw_increasing(rng: Rng, size: int) -> Numbers:
    return integers(rng, 4, 30 * 3**size, 2)


def _state_increasing(up: int, down: int) -> Question:
    return _monotone(up, down, "What is the smallest n such that every")


def _monotone(up: int, down: int, asked: str) -> Question:
    answer = (up - 1) * (down - 1) + 1
    return Question(
        f"{asked} sequence of n different real numbers has an increasing subsequence of {up} terms "
        f"or a decreasing subsequence of {down} terms? (The terms of a subsequence need not be "
        "neighbours.)",
        answer,
        [
            (
                "Give each term the pair of lengths of the longest increasing and the longest "
                "decreasing subsequence that end in it. No two terms have the same pair."
            ),
            (
                f"Without such subsequences there are at most {up - 1} * {down - 1} = "
                f"{answer - 1} pairs, and a sequence with so many terms exists."
            ),
            f"{answer - 1} + 1 = {answer}",
        ],
        up + down - 1,
    )


# Edges of graphs that fall apart; numbers: vertices, parts.


def _draw_parts(rng: Rng, size: int) -> Numbers:
    n = integer(rng, 20, 60 * 3**size)
    return n, integer(rng, 2, n // 3)


def _state_parts(n: int, parts: int) -> Question:
    return Question(
        f"A country has {n} towns. A road joins two towns, and two towns have at most one road "
        f"between them. The towns fall into at least {parts} groups without any road from one "
        "group to another. How many roads can there be at most?",
        comb(n - parts + 1, 2),
        [
            (
                "Moving a town from a smaller group to a larger one adds roads, so all groups "
                "but one are single towns."
            ),
            f"The large group has {n} - {parts - 1} = {n - parts + 1} towns.",
            f"{n - parts + 1} * {n - parts} / 2 = {comb(n - parts + 1, 2)}",
        ],
        parts * comb(n // parts, 2),
    )


# Turan's theorem; numbers: people, the largest clique.


def _draw_turan(rng: Rng, size: int) -> Numbers:
    n, clique = integer(rng, 20, 60 * 3**size), integer(rng, 2, 8 + size)
    return n + (n % clique == 0), clique  # so that the groups are not all alike


def _state_turan(n: int, clique: int) -> Question:
    return _turan(n, clique, f"A club has {n} members.", str(n))


def _turan(n: int, clique: int, told: str, name: str) -> Question:
    small, larger = divmod(n, clique)
    inside = larger * comb(small + 1, 2) + (clique - larger) * comb(small, 2)
    answer = comb(n, 2) - inside
    return Question(
        f"{told} Among any {clique + 1} of the {name} members there are two who have never met. "
        "How many pairs of members can have met at most?",
        answer,
        [
            (
                f"Turán: the most pairs meet if the members form {clique} groups of nearly "
                "equal size and two members have met exactly if they are in different groups."
            ),
            (
                f"{n} = {clique} * {small} + {larger}, so {larger} groups have {small + 1} "
                f"members and {clique - larger} have {small}."
            ),
            (
                f"Pairs inside groups: {larger} * {comb(small + 1, 2)} + {clique - larger} * "
                f"{comb(small, 2)} = {inside}"
            ),
            f"{n} * {n - 1} / 2 - {inside} = {answer}",
        ],
        comb(clique, 2) * small * small,
    )


# Eggs and floors; numbers: eggs, drops.


def _draw_eggs(rng: Rng, size: int) -> Numbers:
    size = min(size, _WIDEST)
    return integer(rng, 3, 5 + size // 2), integer(rng, 8, 30 + 8 * size)


def _state_eggs(eggs: int, drops: int) -> Question:
    terms = [comb(drops, i) for i in range(1, min(eggs, drops) + 1)]
    return Question(
        f"You have {eggs} equal eggs. In a tower there is a highest floor from which an egg does "
        "not break when it falls, perhaps floor 0, the ground. From higher floors every egg "
        "breaks. A broken egg cannot be used again. What is the largest number of floors (above "
        f"the ground) of a tower in which you can always find that floor with at most {drops} "
        "drops?",
        sum(terms),
        [
            (
                "If the first egg breaks, e - 1 eggs and d - 1 drops must do for the floors below, "
                "else e eggs and d - 1 drops for those above: f(e, d) = f(e - 1, d - 1) + "
                "f(e, d - 1) + 1."
            ),
            "So f(e, d) is the sum of the binomial coefficients C(d, i) for i from 1 to e.",
            f"{total(terms)} = {sum(terms)}",
        ],
        2**drops - 1 if eggs > 4 else comb(drops + 1, 2),
    )


# Families of sets that meet; numbers: ground set, set size, common elements.


def _draw_meeting(rng: Rng, size: int) -> Numbers:
    size = min(size, _WIDEST)
    chosen, common = integer(rng, 3, 6 + size // 2), integer(rng, 1, 2)
    return integer(rng, (common + 1) * (chosen - common + 1), 30 + 5 * size), chosen, common


def _state_meeting(n: int, chosen: int, common: int) -> Question:
    answer = comb(n - common, chosen - common)
    return Question(
        f"A school has {n} pupils. It forms teams of exactly {chosen} pupils; a pupil can be in "
        f"many teams, and no two teams are the same. Any two teams share at least "
        f"{counted(common, 'member')}. How many teams can there be at most?",
        answer,
        [
            (
                f"All teams that hold the same {counted(common, 'pupil')} meet the rule: "
                f"choose the other {chosen - common} of {n - common}."
            ),
            (
                f"Erdős, Ko and Rado (and Wilson): for {n} >= ({common} + 1) * ({chosen} - "
                f"{common} + 1) there are never more."
            ),
            f"C({n - common}, {chosen - common}) = {answer}",
        ],
        comb(n, chosen) // 2,
    )


# Longest trails; numbers: whether it must close, vertices, and the vertices of a second side or 0.


def _draw_trail(rng: Rng, size: int) -> Numbers:
    first, second = integers(rng, 7, 40 * 2**size, 2)
    if integer(rng, 0, 1):  # some degree is odd, so that streets must be left out
        return integer(rng, 0, 1), first + (first % 2 == second % 2 == 0), second
    return integer(rng, 0, 1), first + first % 2, 0


def _state_trail(closed: int, first: int, second: int) -> Question:
    if second:
        whole = first * second
        kept = first % 2, second % 2
        # Each vertex of odd degree must lose an edge, and an edge between both sides helps two.
        lost = {(0, 0): 0, (0, 1): first, (1, 0): second, (1, 1): max(first, second)}[kept]
        odd = first * kept[1] + second * kept[0]
        place = (
            f"A city has {first} squares in the north and {second} in the south. One street joins "
            "each square in the north with each in the south, and there are no others."
        )
        spread = f"{first} * {second} = {whole} streets; {odd} squares have an odd number of them."
    else:
        whole = comb(first, 2)
        odd = first if first % 2 == 0 else 0
        lost = odd // 2
        place = f"A city has {first} squares. One street joins each two squares."
        spread = f"{whole} streets; {odd} squares have an odd number of them."
    spared = _spared(closed, lost, first, second)
    helped = "one square of each side" if second else "two squares"
    return Question(
        f"{place} You walk along streets and use no street twice. "
        f"{'You end at the square where you started.' if closed else 'You may end at any square.'} "
        "How many streets can your walk use at most?",
        whole - spared,
        [
            f"There are {spread}",
            (
                "By Euler, a set of streets that hangs together can be walked in one go if at "
                "most two squares have an odd number of them, and back to the start if none has."
            ),
            (
                f"A street that is left out helps {helped}"
                f"{'' if closed else ', and two squares may stay odd'}. So at least {spared} "
                "streets must be left out, and that is enough."
            ),
            f"{whole} - {spared} = {whole - spared}",
        ],
        whole,
    )


def _spared(closed: int, lost: int, first: int, second: int) -> int:
    """Return how many edges an open or closed trail leaves out, given what a closed one does."""
    if closed or not lost:
        return lost
    # Two vertices may stay odd. On the larger side they save two edges, otherwise one.
    return lost - 2 if second and first != second else lost - 1


# Matchings; numbers: vertices, the largest matching.


def _draw_matching(rng: Rng, size: int) -> Numbers:
    n = integer(rng, 20, 60 * 3**size)
    return n, integer(rng, 2, n // 2 - 1)


def _state_matching(n: int, pairs: int) -> Question:
    clique, hubs = comb(2 * pairs + 1, 2), comb(pairs, 2) + pairs * (n - pairs)
    return Question(
        f"A club has {n} members. Some pairs of members have played a game against each other. "
        f"There are no {pairs + 1} such pairs without a common member, so that at most {pairs} of "
        "these games could be replayed at the same time. How many pairs of members can have played "
        "at most?",
        max(clique, hubs),
        [
            "Erdős and Gallai: one of two patterns is best.",
            (
                f"All pairs within {2 * pairs + 1} members: {2 * pairs + 1} * {2 * pairs} / 2 = "
                f"{clique}"
            ),
            (
                f"All pairs with one of {pairs} members in it: {pairs} * {pairs - 1} / 2 + "
                f"{pairs} * {n - pairs} = {hubs}"
            ),
            f"The larger one is {max(clique, hubs)}.",
        ],
        min(clique, hubs),
    )


# Antichains of divisors; numbers: the exponents.


def _draw_antichain(rng: Rng, size: int) -> Numbers:
    return integers(rng, 1, 5 + size // 2, min(4 + size // 3, len(_PRIMES)))


def _levels(exponents: Numbers) -> list[int]:
    """Return how many divisors have each number of prime factors."""
    counts = [1]
    for e in exponents:
        wider = [0] * (len(counts) + e)
        for i, count in enumerate(counts):
            for k in range(e + 1):
                wider[i + k] += count
        counts = wider
    return counts


def _state_antichain(*exponents: int) -> Question:
    counts = _levels(exponents)
    middle = sum(exponents) // 2
    powers = zip(_PRIMES, exponents, strict=False)
    named = " \\cdot ".join(str(p) if e == 1 else f"{p}^{{{e}}}" for p, e in powers if e)
    return Question(
        f"Let $n = {named}$. How many divisors of n can be chosen at most so that no chosen number "
        "divides another chosen one?",
        counts[middle],
        [
            (
                "The divisors can be cut into chains that are symmetric around the middle (de "
                "Bruijn, van Ebbenhorst Tengbergen and Kruyswijk), so the middle layer is best."
            ),
            f"It holds the divisors with {middle} of the {sum(exponents)} prime factors.",
            (
                "Their number is a coefficient of the product of (1 + x + ... + x^e) over the "
                f"exponents e: that of x^{middle} is {counts[middle]}."
            ),
        ],
        prod(e + 1 for e in exponents) // (max(exponents) + 1),
    )


# Families of sets without long chains; numbers: ground set, sets of a chain.


def _draw_chains(rng: Rng, size: int) -> Numbers:
    n = integer(rng, 7, 20 + 3 * min(size, _WIDEST))
    return n, integer(rng, 3, n - 2)


def _state_chains(n: int, longest: int) -> Question:
    layers = sorted((comb(n, i) for i in range(n + 1)), reverse=True)[:longest]
    return Question(
        f"A set has {n} elements. You choose subsets of it. There must not be {longest + 1} chosen "
        "subsets of which each one but the last is a proper subset of the next. How many subsets "
        "can you choose at most?",
        sum(layers),
        [
            (
                f"Erdős: the {longest} largest layers are best, as each of the {n}! maximal chains "
                f"meets the choice at most {longest} times."
            ),
            f"The largest binomial coefficients of {n}: {', '.join(map(str, layers))}",
            f"{total(layers)} = {sum(layers)}",
        ],
        longest * comb(n, n // 2),
    )


# Families of sets with common elements; numbers: ground set, common elements.


def _draw_common(rng: Rng, size: int) -> Numbers:
    n = integer(rng, 7, 22 + 3 * min(size, _WIDEST))
    return n, integer(rng, 2, n // 2)


def _state_common(n: int, common: int) -> Question:
    even = (n + common) % 2 == 0
    base = n if even else n - 1
    start = (base + common) // 2
    layers = [comb(base, i) for i in range(start, base + 1)]
    answer = sum(layers) * (1 if even else 2)
    steps = [
        (
            "Katona: if n + t is even, all subsets with at least (n + t) / 2 elements are best. "
            "If it is odd, leave one element aside, choose so among the others, and add it freely."
        ),
        f"Subsets of {base} elements with at least {start}: {total(layers)} = {sum(layers)}",
    ]
    if not even:
        steps.append(f"2 * {sum(layers)} = {answer}")
    return Question(
        f"A set has {n} elements. You choose subsets of it, of any sizes, so that any two chosen "
        f"subsets have at least {common} common elements. How many subsets can you choose at most?",
        answer,
        steps,
        2 ** (n - common),
    )


# The answer of one problem in another; numbers: first problem, second one, their parameters.


def _draw_composed(rng: Rng, size: int) -> Numbers:
    first = integer(rng, 0, 2)
    if first == 2:
        a, b = integers(rng, 4, 9 + 4 * size, 2)
    else:
        a, b = integer(rng, 40, 200 * (1 + size)), integer(rng, 3, 9 + size)
    return first, a, b, integer(rng, 3, 9 + size)


def _state_composed(first: int, a: int, b: int, clique: int) -> Question:
    count = "Let m be the largest number of integers from 1 to {n} that can be chosen"
    if first == 0:
        begin = _no_difference(a, b, count)
    elif first == 1:
        begin = _no_multiple(a, b, count)
    else:
        begin = _monotone(a, b, "Let m be the smallest number n such that every")
    m = int(begin.answer)  # type: ignore[arg-type]  # these answers are integers
    then = _turan(m, clique, "A club has m members.", "m")
    told = begin.text.replace("? (The", ". (The")
    told = told if told.endswith(")") else f"{told.removesuffix('?')}."
    guess = _turan(int(begin.guess), clique, "", "")  # type: ignore[arg-type]  # as above
    return Question(
        f"{told} {then.text}",
        then.answer,
        [*begin.steps, f"So m = {m}.", *then.steps],
        guess.guess,
    )


FAMILIES = {
    "no_difference": Family(1, _draw_difference, _state_difference),
    "socks": Family(1, _draw_socks, _state_socks),
    "no_sum": Family(1, _draw_no_sum, _state_no_sum),
    "reach": Family(2, _draw_reach, _state_reach),
    "no_multiple": Family(2, _draw_multiple, _state_multiple),
    "divisible_sums": Family(2, _draw_divisible, _state_divisible),
    "monotone": Family(3, _draw_increasing, _state_increasing),
    "separate_groups": Family(3, _draw_parts, _state_parts),
    "turan": Family(3, _draw_turan, _state_turan),
    "eggs": Family(4, _draw_eggs, _state_eggs),
    "meeting_teams": Family(4, _draw_meeting, _state_meeting),
    "trails": Family(4, _draw_trail, _state_trail),
    "matchings": Family(5, _draw_matching, _state_matching),
    "antichain": Family(5, _draw_antichain, _state_antichain),
    "chains": Family(5, _draw_chains, _state_chains),
    "common_elements": Family(6, _draw_common, _state_common),
    "composed": Family(6, _draw_composed, _state_composed),
}
KINDS = tuple(FAMILIES)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtremalProblemConfig(TaskConfig):
    """The families of problems, and the size of their numbers."""

    kinds: tuple[str, ...] = knob(KINDS, "families; each problem has one of them", choices=KINDS)
    size: int = knob(0, "how large the numbers are", low=0)

    @classmethod
    def at(cls, difficulty: int) -> "ExtremalProblemConfig":
        """Four neighbouring families of the list; the numbers grow with the level.

        From level 10 on it is the last four: antichains of divisors, families of sets without long
        chains or with common elements, and two extremal problems in turn.
        """
        return cls(kinds=window(KINDS, difficulty), size=difficulty)


@register("ExtremalProblem-v0", domain="math")
class ExtremalProblemTask(FamilyTask[ExtremalProblemConfig]):
    """Find the largest or smallest possible number in a combinatorial situation.

    Description:
        Seventeen families: numbers without a given difference, sum or multiple; socks; pieces
        that do not attack each other; monotone subsequences; graphs with many parts, without a
        clique or without a matching; trails; eggs and floors; families of sets; antichains of
        divisors; and a problem whose answer is the parameter of another one.

    Observation:
        The situation in words, and what to maximise or minimise.

    Action:
        One integer.

    Reward:
        1 for the right integer, otherwise 0.

    Verification:
        Exact, on integers. No known gaps.

    Difficulty:
        Each level asks four families. Higher ones need a stronger theorem: from pairing and the
        pigeonhole principle to those of Turán, Erdős and Gallai, Erdős, Ko and Rado, and Katona.
        The numbers grow.

    References:
        Jukna, Extremal Combinatorics, chapters 4, 7 and 8. Bollobás, Combinatorics.
    """

    Config = ExtremalProblemConfig
    families = FAMILIES
    answer_type = "integer"
    form = "Answer with an integer."
