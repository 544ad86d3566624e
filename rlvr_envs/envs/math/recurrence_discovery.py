"""Counting problems whose answer follows a recurrence that the solver has to find."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

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
from rlvr_envs.generators.mathematics.primes import draw_prime
from rlvr_envs.generators.mathematics.words import listed

Matrix = list[list[int]]

_LETTERS = "ABCDE"


def _large(rng: Rng, size: int) -> int:
    """Draw a number of steps; from level 3 on it is too large to add up by hand."""
    return integer(rng, 7, 12 * 4**size)


def _modulus(rng: Rng, size: int) -> int:
    """Draw a prime modulus, large enough that residues are hard to guess."""
    return draw_prime(rng, 500, 1_000 * (1 + size))


def _rest(modulus: int) -> str:
    return f"What is the remainder of this number when it is divided by {modulus}?"


def _multiply(left: Matrix, right: Matrix, modulus: int) -> Matrix:
    columns = list(zip(*right, strict=True))
    return [
        [sum(a * b for a, b in zip(row, column, strict=True)) % modulus for column in columns]
        for row in left
    ]


def _applied(matrix: Matrix, vector: Sequence[int], times: int, modulus: int) -> list[int]:
    """Return a power of a matrix applied to a column, modulo a number."""
    column = [[value % modulus] for value in vector]
    while times:
        if times & 1:
            column = _multiply(matrix, column, modulus)
        matrix, times = _multiply(matrix, matrix, modulus), times >> 1
    return [value for (value,) in column]


def _linear(coefficients: Sequence[int], first: Sequence[int], n: int, modulus: int) -> int:
    """Return a(n) modulo a number, where a(i) is the sum of coefficients[j] * a(i - 1 - j)."""
    order = len(coefficients)
    rows = [list(coefficients)] + [[int(i == j) for j in range(order)] for i in range(order - 1)]
    return _applied(rows, list(reversed(first)), n, modulus)[-1]


def _rule(coefficients: Sequence[int]) -> str:
    terms = [f"{c} * a(n - {i})" for i, c in enumerate(coefficients, 1) if c]
    return f"a(n) = {' + '.join(terms)}".replace("+ -", "- ")


# Lines and circles in the plane; numbers: which, how many.


def _draw_regions(rng: Rng, size: int) -> Numbers:
    return integer(rng, 0, 3), integer(rng, 5, 300 * 3**size)


def _state_regions(which: int, n: int) -> Question:
    told, answer, gain = (
        (
            (
                f"{n} straight lines lie in a plane. No two are parallel, and no three meet in a "
                "point."
            ),
            1 + n + comb(n, 2),
            "The k-th line meets k - 1 others and so crosses k regions: it adds k.",
        ),
        (
            (
                f"{n} circles lie in a plane. Any two of them cross in two points, and no "
                "three meet in a point."
            ),
            n * n - n + 2,
            "The k-th circle is cut into 2(k - 1) arcs: for k > 1 it adds 2(k - 1).",
        ),
        (
            (
                f"{n} V-shapes lie in a plane. A V-shape is two rays with a common end. Any two of "
                "them cross in four points, and no three meet in a point."
            ),
            2 * n * n - n + 1,
            "The k-th V-shape has 4(k - 1) crossings: it adds 4(k - 1) + 1.",
        ),
        (
            (
                f"{n} planes lie in space. Any three of them meet in exactly one point, and no "
                "four meet in a point."
            ),
            comb(n, 3) + comb(n, 2) + n + 1,
            (
                "The k-th plane is cut by the others in k - 1 lines: it adds as many regions "
                "as k - 1 lines make in a plane."
            ),
        ),
    )[which]
    return Question(
        f"{told} Into how many regions do they cut {'space' if which == 3 else 'the plane'}?",
        answer,
        ["Without any of them there is 1 region.", gain, f"The sum for k up to {n} is {answer}."],
        2 * n * n if which else comb(n, 2),
    )


# Tilings of a strip; numbers: length, modulus, then colours of the tiles of length 1, 2, ...


def _draw_tiles(rng: Rng, size: int) -> Numbers:
    kinds = integers(rng, 1, 4 + size // 3, 2 + min(size // 4, 2))
    return (_large(rng, size), _modulus(rng, size), *kinds)


def _state_tiles(n: int, modulus: int, *kinds: int) -> Question:
    first = [0] * (len(kinds) - 1) + [1]
    shifted = _linear(kinds, first, n + len(kinds) - 1, modulus)
    tiles = listed(
        [f"tiles of length {i} in {k} colour{'s' if k > 1 else ''}" for i, k in enumerate(kinds, 1)]
    )
    return Question(
        f"A strip of length {n} and width 1 is covered without gaps by {tiles}, all of width 1. "
        "There are enough of each. Two coverings are different if the tiles, in order from left to "
        f"right, differ in length or colour. Take the number of different coverings. "
        f"{_rest(modulus)}",
        shifted,
        [
            (
                "Look at the last tile: its length and colour are free, and before it stands a "
                "shorter strip."
            ),
            f"{_rule(kinds)}, with a(0) = 1 and a(n) = 0 for negative n",
            f"By powers of the matrix of this rule, a({n}) leaves {shifted} modulo {modulus}.",
        ],
        pow(sum(kinds), n, modulus),
    )


# Strings without long runs of one letter; numbers: length, modulus, alphabet, longest run.


def _draw_runs(rng: Rng, size: int) -> Numbers:
    return (
        *(_large(rng, size), _modulus(rng, size)),
        *(integer(rng, 2, 4 + size // 3), integer(rng, 1, 3)),
    )


def _state_runs(n: int, modulus: int, letters: int, longest: int) -> Question:
    coefficients = [letters - 1] * (longest + 1)
    counts = [letters**i for i in range(longest + 1)]
    answer = _linear(coefficients, counts, n, modulus)
    alphabet = listed(list(_named(letters)))
    run = "A" * (longest + 1)
    return Question(
        f"You form strings of {n} letters from {alphabet}. {run} must not occur in a string as a "
        f"block of neighbours. Take the number of such strings. {_rest(modulus)}",
        answer,
        [
            f"Cut the string after its last letter that is no A: at most {longest} A's follow.",
            f"{_rule(coefficients)}, and a(i) = {letters}^i for i up to {longest}",
            f"By powers of the matrix of this rule, a({n}) leaves {answer} modulo {modulus}.",
        ],
        (pow(letters, n, modulus) - 1) % modulus,
    )


def _named(letters: int) -> str:
    return "".join(chr(ord("A") + i) for i in range(letters))


# The problem of Josephus; numbers: people, step.


def _draw_josephus(rng: Rng, size: int) -> Numbers:
    return integer(rng, 15, 1_000 * 4**size), integer(rng, 2, 3)


def _state_josephus(people: int, step: int) -> Question:
    steps = []
    if step == 2:
        power = 1 << (people.bit_length() - 1)
        answer = 2 * (people - power) + 1
        steps = [
            "With a power of 2, each round ends where it began, so number 1 is left.",
            (
                f"{people} = {power} + {people - power}. After {people - power} have gone, the "
                "next in turn is number 1 of a circle whose size is a power of 2."
            ),
            f"2 * {people - power} + 1 = {answer}",
        ]
    else:
        # Every third goes: from the back, the survivor moves on by 3 for each person added.
        place, n = 0, 1
        while n < people:
            skip = max(1, min((n - place) // (step - 1), people - n))
            place = (place + skip * step) % (n + skip)
            n += skip
            steps.append(f"With {n} people, number {place + 1} is left.")
        answer = place + 1
        steps = [
            (
                f"One more person moves the last one on by {step} places round the circle, so many "
                "steps can be taken at once."
            ),
            *steps[-4:],
        ]
    order = {2: "second", 3: "third"}[step]
    return Question(
        f"{people} people stand in a circle, numbered from 1 to {people} in order. Counting starts "
        f"with number 1, and every {order} person leaves the circle: number {step} is the first to "
        "go, and counting goes on with the next one who is still there. Which number does the last "
        "person have?",
        answer,
        steps,
        people - people % step,
    )


# Towers of Hanoi; numbers: rule, discs, modulus.


def _draw_hanoi(rng: Rng, size: int) -> Numbers:
    return integer(rng, 0, 2), _large(rng, size), _modulus(rng, size)


def _state_hanoi(rule: int, n: int, modulus: int) -> Question:
    if rule == 0:
        answer = (pow(3, n, modulus) - 1) % modulus
        extra = "A disc may only be moved to or from the middle peg. "
        goal = "from the left peg to the right peg"
        law = "a(n) = 3 * a(n - 1) + 2, as the smaller discs cross three times"
    elif rule == 1:
        answer = 2 * (pow(2, n, modulus) - 1) % modulus
        extra = "There are two equal discs of each size, which may lie on each other in any order. "
        goal = "from the left peg to the right peg"
        law = "a(n) = 2 * a(n - 1) + 2, as both largest discs move once"
    else:
        # a: one step in the allowed direction; b: two steps, with b as long as possible.
        counts = _applied([[0, 2, 1], [1, 2, 2], [0, 0, 1]], [0, 0, 1], n, modulus)
        answer = counts[0]
        extra = "A disc may only be moved from left to middle, middle to right, or right to left. "
        goal = "from the left peg to the middle peg"
        law = "a(n) = 2 * b(n - 1) + 1 for one peg on, b(n) = a(n - 1) + 2 * b(n - 1) + 2 for two"
    size = f"{n} sizes" if rule == 1 else f"{n} discs of different sizes"
    discs = f"discs of {size}" if rule == 1 else size
    return Question(
        f"There are three pegs: left, middle and right. On the left peg lie {discs}, the "
        f"largest at the bottom. A move takes the top disc of a peg to another peg, never onto "
        f"a smaller disc. {extra}Take the smallest number of moves that brings all discs "
        f"{goal}. {_rest(modulus)}",
        answer,
        [
            "All discs but the largest must be out of the way before it moves.",
            f"{law}, with no moves for no discs",
            f"For {n}, this leaves {answer} modulo {modulus}.",
        ],
        (pow(2, n, modulus) - 1) % modulus,
    )


# Compositions; numbers: sum, modulus, which parts are allowed.


def _draw_parts(rng: Rng, size: int) -> Numbers:
    kind = integer(rng, 0, 2)
    return _large(rng, size), _modulus(rng, size), kind, integer(rng, 2, 4 + size // 4)


def _state_parts(n: int, modulus: int, kind: int, k: int) -> Question:
    if kind == 0:  # parts of at least k
        coefficients, told = [1] + [0] * (k - 2) + [1], f"at least {k}"
        first = [0] * (k - 1) + [1] if k > 1 else [1]
        answer = _linear(coefficients, first, n - 1, modulus)
        law = f"either the last part is {k}, or it can be made smaller by 1"
    elif kind == 1:  # parts of at most k
        coefficients, told = [1] * k, f"at most {k}"
        answer = _linear(coefficients, [0] * (k - 1) + [1], n + k - 1, modulus)
        law = f"the last part is one of 1 to {k}"
    else:  # no part is k
        coefficients, told = [2] + [0] * (k - 2) + [-1, 1], f"not {k}"
        answer = _linear(coefficients, _without(k), n, modulus)
        law = f"subtract the rule for n - 1 from the sum over all last parts but {k}"
    return Question(
        f"You write {n} as a sum of positive integers in which each term is {told}. The order of "
        "the terms counts, and a single term is a sum too. Take the number of ways to do so. "
        f"{_rest(modulus)}",
        answer,
        [
            f"Let a(n) be the number of ways for n; {law}.",
            f"{_rule(coefficients)} for large enough n",
            f"By powers of the matrix of this rule, a({n}) leaves {answer} modulo {modulus}.",
        ],
        pow(2, n - 1, modulus),
    )


def _without(k: int) -> list[int]:
    """Return the numbers of compositions of 0 to k without a part k."""
    found = [1]
    for n in range(1, k + 1):
        found.append(sum(found[n - part] for part in range(1, n + 1) if part != k))
    return found


# Strings without two forbidden neighbours; numbers: length, modulus, letters, then pairs.


def _draw_neighbours(rng: Rng, size: int) -> Numbers:
    letters = 3 + min(size // 5, 2)
    while True:
        pairs = {integers(rng, 0, letters - 1, 2) for _ in range(letters)}
        if any(a != b for a, b in pairs):
            break
    flat = [value for pair in sorted(pairs) for value in pair]
    return (_large(rng, size), _modulus(rng, size), letters, *flat)


def _state_neighbours(n: int, modulus: int, letters: int, *flat: int) -> Question:
    banned = set(zip(flat[::2], flat[1::2], strict=True))
    matrix = [[int((b, a) not in banned) for b in range(letters)] for a in range(letters)]
    answer = sum(_applied(matrix, [1] * letters, n - 1, modulus)) % modulus
    blocks = listed([_LETTERS[a] + _LETTERS[b] for a, b in sorted(banned)], "or")
    rules = [
        f"{_LETTERS[a].lower()}(n) = "
        + (" + ".join(f"{_LETTERS[b].lower()}(n - 1)" for b in range(letters) if row[b]) or "0")
        for a, row in enumerate(matrix)
    ]
    return Question(
        f"You form strings of {n} letters from {listed(list(_LETTERS[:letters]))}. Nowhere in a "
        f"string may {blocks} occur as two neighbouring letters in this order. Take the number of "
        f"such strings. {_rest(modulus)}",
        answer,
        [
            "Count the strings by their last letter.",
            "; ".join(rules),
            (
                f"By powers of this matrix, all strings of {n} letters leave {answer} modulo "
                f"{modulus}."
            ),
        ],
        (pow(letters, n, modulus) - (n - 1) * len(banned) * letters ** min(n - 2, 9)) % modulus,
    )


# Domino tilings and walks; numbers: which, length, modulus.


def _draw_dominoes(rng: Rng, size: int) -> Numbers:
    return integer(rng, 0, 2), _large(rng, size), _modulus(rng, size)


_BOARDS = (
    ("a board of 2 rows and {n} columns", "dominoes and squares of side 2", (1, 2), (1, 1)),
    ("a board of 3 rows and {m} columns", "dominoes", (4, -1), (1, 3)),
    (
        "a board of 2 rows and {n} columns",
        "dominoes and L-shaped pieces of three cells, in any direction",
        (2, 0, 1),
        (1, 1, 2),
    ),
)


def _state_dominoes(which: int, n: int, modulus: int) -> Question:
    board, pieces, coefficients, first = _BOARDS[which]
    answer = _linear(coefficients, first, n, modulus)
    index = f"a(n) belongs to 2n columns, so n = {n}" if which == 1 else "a(n) belongs to n columns"
    return Question(
        f"You cover {board.format(n=n, m=2 * n)} without gaps and overlaps by {pieces}. "
        "A domino covers two neighbouring cells of a row or a column. Coverings that differ by a "
        "reflection or rotation of the board count as different. Take the number of coverings. "
        f"{_rest(modulus)}",
        answer,
        [
            (
                "Look at how the first columns are covered until a straight cut through the "
                "board is possible, and subtract the rules for two neighbouring lengths."
            ),
            f"{_rule(coefficients)}, from a(0) on: {', '.join(map(str, first))}; {index}",
            f"By powers of the matrix of this rule, a({n}) leaves {answer} modulo {modulus}.",
        ],
        _linear((1, 1), (1, 1), n, modulus),
    )


# Permutations that move nothing far; numbers: length, modulus, distance.


def _draw_near(rng: Rng, size: int) -> Numbers:
    return _large(rng, size), _modulus(rng, size), integer(rng, 1, 2 + (size > 5))


def _state_near(n: int, modulus: int, most: int) -> Question:
    # A state says which of the 2 * most + 1 places around the current one are taken.
    width = 2 * most + 1
    states = [s for s in range(1 << width) if s.bit_count() == most and not s >> (width - 1)]
    index = {state: i for i, state in enumerate(states)}
    matrix = [[0] * len(states) for _ in states]
    for state, at in index.items():
        for place in range(width):
            if not state >> place & 1:
                after = state | 1 << place
                if after & 1:
                    matrix[index[after >> 1]][at] += 1
    start = index[(1 << most) - 1]  # the places before the first one count as taken
    vector = [int(i == start) for i in range(len(states))]
    answer = _applied(matrix, vector, n, modulus)[start]
    return Question(
        f"{n} people stand in a row and form a new row. Nobody may end more than "
        f"{most} place{'s' if most > 1 else ''} away from the old place. (Staying is allowed.) "
        f"Take the number of possible new rows. {_rest(modulus)}",
        answer,
        [
            (
                f"Place the people from left to right. All that matters is which of the "
                f"{width} places near the current one are taken; the leftmost one must be "
                "taken before going on."
            ),
            (
                f"There are {len(states)} such states, and the matrix of steps between them has "
                f"{sum(map(sum, matrix))} ones."
            ),
            f"After {n} steps all places must be taken: this leaves {answer} modulo {modulus}.",
        ],
        pow(width, n, modulus),
    )


# The index of one recurrence is the value of another; numbers: first n, tiles, then the second.


def _draw_composed(rng: Rng, size: int) -> Numbers:
    which, n = integer(rng, 0, 3), integer(rng, 5, 9 + 3 * size)
    return (which, n, _modulus(rng, size), *integers(rng, 1, 4 + size // 3, 2 + min(size // 8, 1)))


def _state_composed(which: int, n: int, modulus: int, *kinds: int) -> Question:
    inner = _state_regions(which, n)
    m = int(inner.answer)  # type: ignore[arg-type]  # regions are counted
    outer = _state_tiles(m, modulus, *kinds)
    told = inner.text.replace(
        "Into how many regions do they cut", "Let m be the number of regions of"
    )
    return Question(
        f"{told.removesuffix('?')}. {outer.text.replace(f'length {m} and', 'length m and')}",
        outer.answer,
        [*inner.steps, f"So m = {m}.", *outer.steps],
        outer.guess,
    )


FAMILIES = {
    "regions": Family(1, _draw_regions, _state_regions),
    "tiles": Family(1, _draw_tiles, _state_tiles),
    "josephus": Family(2, _draw_josephus, _state_josephus),
    "towers": Family(2, _draw_hanoi, _state_hanoi),
    "runs": Family(3, _draw_runs, _state_runs),
    "compositions": Family(3, _draw_parts, _state_parts),
    "neighbours": Family(4, _draw_neighbours, _state_neighbours),
    "coverings": Family(4, _draw_dominoes, _state_dominoes),
    "near_permutations": Family(5, _draw_near, _state_near),
    "composed": Family(6, _draw_composed, _state_composed),
}
KINDS = tuple(FAMILIES)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecurrenceDiscoveryConfig(TaskConfig):
    """What is counted, and how large it is."""

    kinds: tuple[str, ...] = knob(KINDS, "what is counted; each problem has one", choices=KINDS)
    size: int = knob(0, "how large it is", low=0)

    @classmethod
    def at(cls, difficulty: int) -> "RecurrenceDiscoveryConfig":
        """Four neighbouring families of the list; lengths grow fourfold a level.

        From level 10 on it is the last four: strings without forbidden neighbours, coverings,
        permutations that move nothing far, and one recurrence at the value of another.
        """
        return cls(kinds=window(KINDS, difficulty), size=difficulty)


@register("RecurrenceDiscovery-v0", domain="math")
class RecurrenceDiscoveryTask(FamilyTask[RecurrenceDiscoveryConfig]):
    """Find the recurrence of a counting problem, and its value far out.

    Description:
        Ten families: regions cut by lines, circles, V-shapes or planes; tiles of several lengths
        and colours; the problem of Josephus; towers of Hanoi with other rules; strings without
        long runs or without forbidden neighbours; compositions; coverings of boards; permutations
        that move nothing far; and a recurrence at the value of another one.

    Observation:
        What is counted, and mostly a prime to take the remainder by.

    Action:
        One integer.

    Reward:
        1 for the right integer, otherwise 0.

    Verification:
        Exact, on integers. No known gaps.

    Difficulty:
        Each level asks four families. Higher ones need recurrences with more states: one term,
        several terms, systems by last letter, transfer matrices. Lengths grow fourfold a level.

    References:
        Graham, Knuth and Patashnik, Concrete Mathematics, chapters 1 and 7. Stanley, Enumerative
        Combinatorics, volume 1, section 4.7.
    """

    Config = RecurrenceDiscoveryConfig
    families = FAMILIES
    answer_type = "integer"
    form = "Answer with an integer."
