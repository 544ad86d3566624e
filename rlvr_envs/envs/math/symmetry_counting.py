"""Counting colourings up to symmetry, by the lemma of Burnside and Pólya's theorem."""

import string
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import comb, factorial, gcd, lcm, prod

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, pick
from rlvr_envs.generators.mathematics.families import (
    Family,
    FamilyTask,
    Numbers,
    Question,
    window,
)
from rlvr_envs.generators.mathematics.primes import draw_prime, factor_small
from rlvr_envs.generators.mathematics.steps import total
from rlvr_envs.generators.mathematics.words import listed

# How many symmetries have which cycles; cycles are pairs of a length and how often it occurs.
Cycles = tuple[tuple[int, int], ...]
Index = dict[Cycles, int]

_WIDEST = 30  # sizes beyond this give numbers of hundreds of digits, which teach nothing
_COLOURS = ("red", "blue", "green", "white", "black")
_UNUSED = "Not every colour has to be used."

_CORNERS: Index = {
    ((1, 8),): 1,
    ((4, 2),): 6,
    ((2, 4),): 9,
    ((1, 2), (3, 2)): 8,
}
_FACES: Index = {
    ((1, 6),): 1,
    ((1, 2), (4, 1)): 6,
    ((1, 2), (2, 2)): 3,
    ((2, 3),): 6,
    ((3, 2),): 8,
}
_EDGES: Index = {
    ((1, 12),): 1,
    ((4, 3),): 6,
    ((2, 6),): 3,
    ((1, 2), (2, 5)): 6,
    ((3, 4),): 8,
}
_SOLIDS: tuple[tuple[str, str, Index], ...] = (
    ("tetrahedron", "4 faces", {((1, 4),): 1, ((1, 1), (3, 1)): 8, ((2, 2),): 3}),
    ("tetrahedron", "6 edges", {((1, 6),): 1, ((3, 2),): 8, ((1, 2), (2, 2)): 3}),
    ("cube", "6 faces", _FACES),
    ("cube", "8 corners", _CORNERS),
    ("cube", "12 edges", _EDGES),
    ("regular octahedron", "6 corners", _FACES),
    ("regular octahedron", "8 faces", _CORNERS),
    ("regular octahedron", "12 edges", _EDGES),
)


def _cycles(*lengths: int) -> Cycles:
    return tuple(sorted(Counter(lengths).items()))


def _order(index: Index) -> int:
    return sum(index.values())


def _shown(cycles: Cycles) -> str:
    return ", ".join(f"{many} of length {length}" for length, many in cycles)


def _coloured(index: Index, colours: int) -> tuple[int, list[str]]:
    """Return the number of colourings up to symmetry, and the steps to it."""
    steps, fixed = [], 0
    for cycles, many in index.items():
        n_cycles = sum(times for _, times in cycles)
        fixed += many * colours**n_cycles
        steps.append(
            f"Symmetries with cycles {_shown(cycles)}: {many}. Each fixes {colours}^{n_cycles} = "
            f"{colours**n_cycles} colourings."
        )
    return fixed // _order(index), _burnside(index, steps, fixed)


def _burnside(index: Index, steps: list[str], fixed: int) -> list[str]:
    order = _order(index)
    return [
        (
            f"By Burnside's lemma, the answer is the mean number of colourings that one of the "
            f"{order} symmetries fixes. A fixed colouring has one colour on each cycle."
        ),
        *steps,
        f"{fixed} / {order} = {fixed // order}",
    ]


def _with_content(index: Index, content: Numbers) -> tuple[int, list[str]]:
    """Return the number of colourings with given numbers of places of each colour, and steps."""
    steps, fixed = [], 0
    for cycles, many in index.items():
        ways = _spread(cycles, content)
        fixed += many * ways
        steps.append(
            f"Symmetries with cycles {_shown(cycles)}: {many}. Each fixes {ways} colourings."
        )
    return fixed // _order(index), _burnside(index, steps, fixed)


def _spread(cycles: Cycles, content: Numbers) -> int:
    """Return in how many ways cycles can get colours so that each colour covers its number."""
    (length, many), *rest = sorted(cycles, key=lambda each: -each[1])
    if not rest:
        if any(count % length for count in content):
            return 0
        return _multinomial([count // length for count in content])
    found = 0
    few_length, few = rest[-1]
    others = ((length, many), *rest[:-1])
    for share in _shares(few, len(content)):
        left = tuple(c - few_length * s for c, s in zip(content, share, strict=True))
        if min(left) >= 0:
            found += _multinomial(share) * _spread(others, left)
    return found


def _shares(things: int, takers: int) -> Iterator[tuple[int, ...]]:
    if takers == 1:
        yield (things,)
        return
    for first in range(things + 1):
        for rest in _shares(things - first, takers - 1):
            yield (first, *rest)


def _multinomial(counts: tuple[int, ...] | list[int]) -> int:
    return factorial(sum(counts)) // prod(map(factorial, counts))


def _rotations(n: int) -> Index:
    """Return the cycle index of the rotations of n beads."""
    index: Counter[Cycles] = Counter()
    for turn in range(n):
        length = n // gcd(turn, n)
        index[((length, n // length),)] += 1
    return dict(index)


def _dihedral(n: int) -> Index:
    """Return the cycle index of the rotations and reflections of n beads."""
    index = Counter(_rotations(n))
    if n % 2:
        index[_cycles(1, *[2] * (n // 2))] += n
    else:
        index[_cycles(*[2] * (n // 2))] += n // 2
        index[_cycles(1, 1, *[2] * (n // 2 - 1))] += n // 2
    return dict(index)


# Strips that may be turned round; numbers: cells, colours.


def _draw_strip(rng: Rng, size: int) -> Numbers:
    return integer(rng, 3, 6 + min(size, _WIDEST)), integer(rng, 2, 300 + 20 * size)


def _state_strip(cells: int, colours: int) -> Question:
    index = {_cycles(*[1] * cells): 1, _cycles(*[1] * (cells % 2), *[2] * (cells // 2)): 1}
    answer, steps = _coloured(index, colours)
    return Question(
        f"A strip has {cells} cells in a row. Each cell gets one of {colours} colours. {_UNUSED} "
        "Two strips count as the same if one becomes the other when it is turned round, so that "
        "left and right change places. How many different strips are there?",
        answer,
        steps,
        colours**cells // 2,
    )


# Rings; numbers: beads, colours.


def _draw_prime_ring(rng: Rng, size: int) -> Numbers:
    return draw_prime(rng, 3, 7 + min(size, _WIDEST)), integer(rng, 2, 300 + 20 * size)


def _draw_ring(rng: Rng, size: int) -> Numbers:
    size = min(size, _WIDEST)
    return 2 * integer(rng, 2, 4 + size) + integer(rng, 0, 1), integer(rng, 2, 150)


def _state_ring(beads: int, colours: int) -> Question:
    answer, steps = _coloured(_rotations(beads), colours)
    return Question(
        f"A ring has {beads} beads. Each bead gets one of {colours} colours. {_UNUSED} Two rings "
        "count as the same if a rotation takes one to the other; a ring must not be turned over. "
        "How many different rings are there?",
        answer,
        steps,
        colours**beads // beads,
    )


def _state_bracelet(beads: int, colours: int) -> Question:
    answer, steps = _coloured(_dihedral(beads), colours)
    return Question(
        f"A bracelet has {beads} beads. Each bead gets one of {colours} colours. {_UNUSED} Two "
        "bracelets count as the same if one becomes the other when it is rotated or turned over. "
        "How many different bracelets are there?",
        answer,
        steps,
        _coloured(_rotations(beads), colours)[0] // 2,
    )


# Rings without a symmetry; numbers: beads, colours.


def _state_primitive(beads: int, colours: int) -> Question:
    primes = list(factor_small(beads))
    terms = []
    for chosen in range(1 << len(primes)):
        divisor = prod(p for i, p in enumerate(primes) if chosen >> i & 1)
        terms.append((-1) ** chosen.bit_count() * colours ** (beads // divisor))
    return Question(
        f"A ring has {beads} beads. Each bead gets one of {colours} colours. {_UNUSED} Two rings "
        "count as the same if a rotation takes one to the other; a ring must not be turned over. "
        "How many different rings are there that only a full turn takes to themselves?",
        sum(terms) // beads,
        [
            (
                "Count rows of beads that no shift takes to themselves, by inclusion and "
                f"exclusion over the primes {listed([*map(str, primes)])} of {beads}."
            ),
            f"{total(terms)} = {sum(terms)}",
            f"Each ring is {beads} such rows: {sum(terms)} / {beads} = {sum(terms) // beads}",
        ],
        _coloured(_rotations(beads), colours)[0],
    )


# Boards; numbers: rows, columns, whether they may be flipped, colours.


def _draw_rectangle(rng: Rng, size: int) -> Numbers:
    size = min(size, _WIDEST)
    rows = integer(rng, 2, 3 + size // 4)
    columns = rows + integer(rng, 1, 2 + size // 4)
    return rows, columns, integer(rng, 0, 1), integer(rng, 2, 120 + 5 * size)


def _draw_square(rng: Rng, size: int) -> Numbers:
    size = min(size, _WIDEST)
    side = integer(rng, 2, 5 + size // 4)
    return side, side, integer(rng, 0, 1), integer(rng, 2, 30 + 5 * size)


def _board_index(rows: int, columns: int, flips: int) -> Index:
    cells = [(r, c) for r in range(rows) for c in range(columns)]
    last, end = rows - 1, columns - 1
    maps: list[Callable[[int, int], tuple[int, int]]] = [
        lambda r, c: (r, c),
        lambda r, c: (last - r, end - c),
    ]
    if flips:
        maps += [lambda r, c: (last - r, c), lambda r, c: (r, end - c)]
    if rows == columns:
        maps += [lambda r, c: (c, last - r), lambda r, c: (last - c, r)]
        if flips:
            maps += [lambda r, c: (c, r), lambda r, c: (last - c, last - r)]
    index: Counter[Cycles] = Counter()
    for each in maps:
        lengths, seen = [], set()
        for cell in cells:
            length = 0
            while cell not in seen:
                seen.add(cell)
                cell, length = each(*cell), length + 1  # noqa: PLW2901 - follow the cycle
            if length:
                lengths.append(length)
        index[_cycles(*lengths)] += 1
    return dict(index)


def _state_board(rows: int, columns: int, flips: int, colours: int) -> Question:
    index = _board_index(rows, columns, flips)
    answer, steps = _coloured(index, colours)
    allowed = "rotated or reflected" if flips else "rotated"
    return Question(
        f"A board has {rows} rows and {columns} columns. Each cell gets one of {colours} colours. "
        f"{_UNUSED} Two boards count as the same if one becomes the other when it is {allowed}. "
        "How many different boards are there?",
        answer,
        steps,
        colours ** (rows * columns) // _order(index),
    )


# Boards on a torus; numbers: rows, columns, colours.


def _draw_torus(rng: Rng, size: int) -> Numbers:
    size = min(size, _WIDEST)
    return (*integers(rng, 2, 4 + size // 4, 2), integer(rng, 2, 9 + 2 * size))


def _state_torus(rows: int, columns: int, colours: int) -> Question:
    index: Counter[Cycles] = Counter()
    for down in range(rows):
        for right in range(columns):
            length = lcm(rows // gcd(rows, down), columns // gcd(columns, right))
            index[((length, rows * columns // length),)] += 1
    answer, steps = _coloured(dict(index), colours)
    return Question(
        f"A pattern has {rows} rows and {columns} columns, and each cell has one of {colours} "
        f"colours. {_UNUSED} The pattern repeats over the whole plane in both directions. Two "
        "patterns count as the same if their planes are equal after a shift by whole cells. How "
        "many different patterns are there?",
        answer,
        steps,
        colours ** (rows * columns) // (rows * columns),
    )


# Solids; numbers: which solid and part, then colours or the content.


def _draw_solid(rng: Rng, size: int) -> Numbers:
    return integer(rng, 0, len(_SOLIDS) - 1), integer(rng, 2, 30 * 2**size)


def _state_solid(which: int, colours: int) -> Question:
    solid, part, index = _SOLIDS[which]
    answer, steps = _coloured(index, colours)
    places = sum(length * many for length, many in next(iter(index)))
    return Question(
        f"Each of the {part} of a {solid} gets one of {colours} colours. {_UNUSED} Two colourings "
        f"count as the same if a rotation of the {solid} in space takes one to the other. How many "
        "different colourings are there?",
        answer,
        steps,
        colours**places // _order(index),
    )


def _draw_content(rng: Rng, places: int, colours: int) -> Numbers:
    """Return how many places each colour gets, at least one."""
    content = [1] * colours
    for _ in range(places - colours):
        content[integer(rng, 0, colours - 1)] += 1
    return tuple(content)


def _named(content: Numbers, noun: str) -> str:
    return (
        listed([f"{n} {colour}" for n, colour in zip(content, _COLOURS, strict=False)]) + f" {noun}"
    )


def _draw_solid_content(rng: Rng, size: int) -> Numbers:
    which = pick(rng, [i for i, (_, part, _) in enumerate(_SOLIDS) if part[:2] in ("8 ", "12")])
    places = 12 if _SOLIDS[which][1].startswith("12") else 8
    while True:  # until some symmetry but the identity fixes a colouring
        content = _draw_content(rng, places, min(integer(rng, 2, 4 + size // 4), 5))
        if _multinomial(content) // 24 != _with_content(_SOLIDS[which][2], content)[0]:
            return (which, *content)


def _state_solid_content(which: int, *content: int) -> Question:
    solid, part, index = _SOLIDS[which]
    answer, steps = _with_content(index, content)
    noun = part.split()[1]
    return Question(
        f"The {part} of a {solid} are coloured: {_named(content, noun)}. Two colourings count as "
        f"the same if a rotation of the {solid} in space takes one to the other. How many "
        "different colourings are there?",
        answer,
        steps,
        _multinomial(content) // _order(index),
    )


# Rings with given beads; numbers: a factor that all counts have, then the counts without it.


def _draw_ring_content(rng: Rng, size: int) -> Numbers:
    shared = integer(rng, 2, 4)
    parts = _draw_content(rng, integer(rng, 4, 6 + min(size, _WIDEST) // 2), integer(rng, 2, 4))
    return tuple(shared * part for part in parts)


def _state_ring_content(*content: int) -> Question:
    answer, steps = _with_content(_rotations(sum(content)), content)
    return Question(
        f"A ring is made of {_named(content, 'beads')}. Two rings count as the same if a rotation "
        "takes one to the other; a ring must not be turned over. How many different rings are "
        "there?",
        answer,
        steps,
        _multinomial(content) // sum(content),
    )


def _state_bracelet_content(*content: int) -> Question:
    answer, steps = _with_content(_dihedral(sum(content)), content)
    return Question(
        f"A bracelet is made of {_named(content, 'beads')}. Two bracelets count as the same if one "
        "becomes the other when it is rotated or turned over. How many different bracelets are "
        "there?",
        answer,
        steps,
        _with_content(_rotations(sum(content)), content)[0] // 2,
    )


# Structures up to new names; numbers: sizes, then colours.


def _partitions(n: int, most: int | None = None) -> Iterator[tuple[int, ...]]:
    most = n if most is None else most
    if n == 0:
        yield ()
    for first in range(min(n, most), 0, -1):
        for rest in _partitions(n - first, first):
            yield (first, *rest)


def _permutations(lengths: tuple[int, ...]) -> int:
    """Return how many permutations have cycles of these lengths."""
    counts = Counter(lengths)
    centraliser: int = prod(length**many * factorial(many) for length, many in counts.items())
    return factorial(sum(lengths)) // centraliser


def _draw_relations(rng: Rng, size: int) -> Numbers:
    return integer(rng, 4, 5 + min(size // 4, 3)), integer(rng, 2, 6 + size)


def _state_relations(people: int, colours: int) -> Question:
    index: Counter[Cycles] = Counter()
    for lengths in _partitions(people):
        pairs = []
        for i, a in enumerate(lengths):
            pairs += [a] * ((a - 1) // 2) + [a // 2] * (a % 2 == 0)
            pairs += [lcm(a, b) for b in lengths[i + 1 :] for _ in range(gcd(a, b))]
        index[_cycles(*pairs)] += _permutations(lengths)
    answer, steps = _coloured(dict(index), colours)
    return Question(
        f"In a network of {people} equal computers, each two are joined by a cable in one of "
        f"{colours} colours. {_UNUSED} Two networks count as the same if one becomes the other "
        "when computers change places together with their cables. How many different networks "
        "are there?",
        answer,
        steps,
        Fraction(colours ** comb(people, 2), factorial(people)).__ceil__(),
    )


def _draw_matrices(rng: Rng, size: int) -> Numbers:
    return (*integers(rng, 2, 4 + min(size // 5, 2), 2), integer(rng, 2, 5 + size))


def _state_matrices(rows: int, columns: int, colours: int) -> Question:
    index: Counter[Cycles] = Counter()
    for down in _partitions(rows):
        for right in _partitions(columns):
            cells = [lcm(a, b) for a in down for b in right for _ in range(gcd(a, b))]
            index[_cycles(*cells)] += _permutations(down) * _permutations(right)
    answer, steps = _coloured(dict(index), colours)
    order = factorial(rows) * factorial(columns)
    return Question(
        f"A table has {rows} rows and {columns} columns, and each cell holds a number from 1 to "
        f"{colours}. Two tables count as the same if one becomes the other when whole rows change "
        "places and whole columns change places. How many different tables are there?",
        answer,
        steps,
        Fraction(colours ** (rows * columns), order).__ceil__(),
    )


def _draw_renamed(rng: Rng, size: int) -> Numbers:
    return integer(rng, 6, 14 + 2 * min(size, _WIDEST)), integer(rng, 2, 4 + min(size // 5, 2))


def _state_renamed(beads: int, colours: int) -> Question:
    fixed, steps = 0, []
    for cycles, turns in _rotations(beads).items():
        length, many = cycles[0]
        stays = sum(
            _permutations(lengths) * sum(a for a in lengths if length % a == 0) ** many
            for lengths in _partitions(colours)
        )
        fixed += turns * stays
        steps.append(
            f"Rotations with {many} cycles of length {length}: {turns}. Over all "
            f"{factorial(colours)} ways to rename colours, they fix {stays} rings."
        )
    order = beads * factorial(colours)
    letters = listed(list(string.ascii_uppercase[:colours]))
    return Question(
        f"A ring has {beads} beads, and each bead has one of the {colours} letters {letters}. Not "
        "every letter has to be used. Two rings count as the same if a rotation takes one to the "
        "other after the letters were perhaps renamed: all beads with one letter get a new one, "
        "and different letters stay different. How many different rings are there?",
        fixed // order,
        [
            (
                "By Burnside's lemma, count pairs of a rotation and a renaming. With cycles of "
                "length m, the letter of one bead of a cycle must return after m renamings."
            ),
            *steps,
            f"{fixed} / ({beads} * {factorial(colours)}) = {fixed // order}",
        ],
        _coloured(_rotations(beads), colours)[0] // factorial(colours),
    )


FAMILIES = {
    "strips": Family(1, _draw_strip, _state_strip),
    "prime_rings": Family(1, _draw_prime_ring, _state_ring),
    "rectangles": Family(2, _draw_rectangle, _state_board),
    "rings": Family(2, _draw_ring, _state_ring),
    "bracelets": Family(2, _draw_ring, _state_bracelet),
    "solids": Family(3, _draw_solid, _state_solid),
    "squares": Family(3, _draw_square, _state_board),
    "primitive_rings": Family(3, _draw_ring, _state_primitive),
    "rings_of_given_beads": Family(4, _draw_ring_content, _state_ring_content),
    "shifted_patterns": Family(4, _draw_torus, _state_torus),
    "bracelets_of_given_beads": Family(5, _draw_ring_content, _state_bracelet_content),
    "solids_of_given_colours": Family(5, _draw_solid_content, _state_solid_content),
    "renamed_letters": Family(6, _draw_renamed, _state_renamed),
    "tables": Family(6, _draw_matrices, _state_matrices),
    "networks": Family(6, _draw_relations, _state_relations),
}
KINDS = tuple(FAMILIES)


@dataclass(frozen=True, slots=True, kw_only=True)
class SymmetryCountingConfig(TaskConfig):
    """What is coloured, and how large it is."""

    kinds: tuple[str, ...] = knob(KINDS, "what is coloured; each problem has one", choices=KINDS)
    size: int = knob(0, "how large it is, and how many colours there are", low=0)

    @classmethod
    def at(cls, difficulty: int) -> "SymmetryCountingConfig":
        """Four neighbouring families of the list; sizes and colours grow with the level.

        From level 10 on it is the last four: solids with given colours, rings whose letters may be
        renamed, tables, and networks.
        """
        return cls(kinds=window(KINDS, difficulty), size=difficulty)


@register("SymmetryCounting-v0", domain="math")
class SymmetryCountingTask(FamilyTask[SymmetryCountingConfig]):
    """Count colourings that differ by more than a symmetry.

    Description:
        Fifteen families: strips, rings and bracelets, also with given beads or without a symmetry
        of their own; rectangular and square boards; patterns of the plane; the tetrahedron, the
        cube and the octahedron; rings whose letters may be renamed; tables whose rows and columns
        change places; networks of equal computers.

    Observation:
        What is coloured with how many colours, and which colourings count as the same.

    Action:
        One integer.

    Reward:
        1 for the right integer, otherwise 0.

    Verification:
        Exact, on integers. No known gaps.

    Difficulty:
        Each level asks four families. Higher ones have larger groups: of two elements, rotations,
        reflections, rotations in space, and permutations of names, rows or vertices. Given
        numbers of each colour come in. Sizes and colours grow.

    References:
        Cameron, Combinatorics: Topics, Techniques, Algorithms, chapter 15. Harary and Palmer,
        Graphical Enumeration, chapters 2 and 4.
    """

    Config = SymmetryCountingConfig
    families = FAMILIES
    answer_type = "integer"
    form = "Answer with an integer."
