"""SymmetryCounting: every family against listing all colourings, wrong answers, knobs."""

from itertools import combinations, permutations, product

import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.symmetry_counting import (
    FAMILIES,
)


def answer(kind, *numbers):
    return FAMILIES[kind].state(*numbers).answer


def orbits(group, colourings):
    """Return representatives of colourings under permutations of their places."""
    seen, found = set(), []
    for colouring in colourings:
        if colouring not in seen:
            found.append(colouring)
            seen |= {tuple(colouring[i] for i in images) for images in group}
    return found


def count(group, colours):
    return len(orbits(group, product(range(colours), repeat=len(group[0]))))


def of_content(group, content):
    places = len(group[0])
    colourings = (
        c
        for c in product(range(len(content)), repeat=places)
        if all(c.count(i) == n for i, n in enumerate(content))
    )
    return len(orbits(group, colourings))


def rotations(n):
    return [[(i + k) % n for i in range(n)] for k in range(n)]


def dihedral(n):
    return rotations(n) + [list(reversed(r)) for r in rotations(n)]


def board(rows, columns, flips):
    turned = [[(r, c) for c in range(columns)] for r in range(rows)]
    shapes = []
    for start in (turned, [row[::-1] for row in turned]) if flips else (turned,):
        grid = start
        for _ in range(4):
            grid = [list(row) for row in zip(*grid[::-1], strict=True)]
            if (len(grid), len(grid[0])) == (rows, columns):
                shapes.append([r * columns + c for row in grid for r, c in row])
    return shapes


def turns():
    """Return the rotations of the cube as maps of vectors."""
    found = []
    for axes in permutations(range(3)):
        inversions = sum(axes[i] > axes[j] for i, j in combinations(range(3), 2))
        for signs in product((1, -1), repeat=3):
            if (-1) ** inversions * signs[0] * signs[1] * signs[2] == 1:
                found.append(
                    lambda v, axes=axes, signs=signs: tuple(
                        s * v[a] for a, s in zip(axes, signs, strict=True)
                    )
                )
    return found


SPACE = list(product((-1, 0, 1), repeat=3))


def cube_part(zeros):
    """Return how the rotations move the corners, edges or faces: points with so many zeros."""
    points = [p for p in SPACE if p.count(0) == zeros]
    return [[points.index(turn(p)) for p in points] for turn in turns()]


def tetrahedron(size):
    """Return how even permutations of four corners move the corners or the edges."""
    parts = [set(part) for part in combinations(range(4), size)]
    even = [
        p
        for p in permutations(range(4))
        if sum(p[i] > p[j] for i, j in combinations(range(4), 2)) % 2 == 0
    ]
    return [[parts.index({p[i] for i in part}) for part in parts] for p in even]


SOLIDS = [
    tetrahedron(1), tetrahedron(2), cube_part(2), cube_part(0), cube_part(1),
    cube_part(2), cube_part(0), cube_part(1),
]  # fmt: skip


@pytest.mark.parametrize("n", range(2, 9))
def test_strips_rings_and_bracelets(n):
    for colours in (1, 2, 3):
        assert answer("strips", n, colours) == count(
            [list(range(n)), list(range(n))[::-1]], colours
        )
        assert answer("rings", n, colours) == answer("prime_rings", n, colours)
        assert answer("rings", n, colours) == count(rotations(n), colours)
        if n > 2:
            assert answer("bracelets", n, colours) == count(dihedral(n), colours)
        free = sum(
            len({tuple(c[i] for i in r) for r in rotations(n)}) == n
            for c in orbits(rotations(n), product(range(colours), repeat=n))
        )
        assert answer("primitive_rings", n, colours) == free


@pytest.mark.parametrize("flips", [0, 1])
def test_boards(flips):
    for rows, columns, colours in [
        (2, 3, 2),
        (2, 3, 3),
        (3, 4, 2),
        (2, 5, 2),
        (3, 3, 2),
        (2, 2, 5),
        (1, 4, 3),
    ]:
        kind = "squares" if rows == columns else "rectangles"
        expected = count(board(rows, columns, flips), colours)
        assert answer(kind, rows, columns, flips, colours) == expected
    assert answer("squares", 3, 3, flips, 3) == count(board(3, 3, flips), 3)


def test_shifted_patterns():
    for rows, columns, colours in [
        (2, 2, 3),
        (2, 3, 2),
        (3, 2, 3),
        (3, 3, 2),
        (2, 4, 2),
        (3, 4, 2),
        (1, 6, 3),
    ]:
        group = [
            [
                (r + i) % rows * columns + (c + j) % columns
                for r in range(rows)
                for c in range(columns)
            ]
            for i in range(rows)
            for j in range(columns)
        ]
        assert answer("shifted_patterns", rows, columns, colours) == count(group, colours)


@pytest.mark.parametrize("which", range(8))
def test_solids(which):
    group = SOLIDS[which]
    assert len({tuple(images) for images in group}) == (12 if which < 2 else 24)
    for colours in (2, 3) if len(group[0]) < 12 else (2,):
        assert answer("solids", which, colours) == count(group, colours)
    text = FAMILIES["solids"].state(which, 2).text
    assert f"the {len(group[0])} " in text


@pytest.mark.parametrize("which", range(8))
def test_solids_of_given_colours(which):
    places = len(SOLIDS[which][0])
    contents = [(places - k, k) for k in range(1, places // 2 + 1)]
    if places < 12:
        contents += [(places - 3, 2, 1), (places - 4, 2, 2)]
    for content in contents:
        assert answer("solids_of_given_colours", which, *content) == of_content(
            SOLIDS[which], content
        )


@pytest.mark.parametrize(
    "content",
    [(2, 2), (4, 2), (3, 3), (4, 4), (6, 4), (2, 2, 2), (3, 3, 3), (4, 2, 2), (5, 1), (3, 2, 1)],
)
def test_rings_of_given_beads(content):
    n = sum(content)
    assert answer("rings_of_given_beads", *content) == of_content(rotations(n), content)
    assert answer("bracelets_of_given_beads", *content) == of_content(dihedral(n), content)


def test_tables():
    for rows, columns, colours in [
        (2, 2, 2),
        (2, 2, 4),
        (2, 3, 2),
        (3, 2, 3),
        (3, 3, 2),
        (2, 4, 2),
        (3, 4, 2),
    ]:
        group = [
            [r * columns + c for r in down for c in right]
            for down in permutations(range(rows))
            for right in permutations(range(columns))
        ]
        assert answer("tables", rows, columns, colours) == count(group, colours)


def test_networks():
    for people, colours in [(3, 2), (3, 4), (4, 2), (4, 3), (5, 2)]:
        pairs = list(combinations(range(people), 2))
        group = [
            [pairs.index(tuple(sorted((p[a], p[b])))) for a, b in pairs]
            for p in permutations(range(people))
        ]
        assert answer("networks", people, colours) == count(group, colours)
    graphs = [4, 11, 34, 156, 1044]  # OEIS A000088
    assert [answer("networks", n, 2) for n in range(3, 8)] == graphs


def test_renamed_letters():
    for beads, letters in [(3, 2), (6, 2), (8, 2), (9, 2), (4, 3), (6, 3), (7, 3), (5, 4)]:
        seen, found = set(), 0
        for ring in product(range(letters), repeat=beads):
            if ring in seen:
                continue
            found += 1
            for names in permutations(range(letters)):
                renamed = [names[letter] for letter in ring]
                seen |= {tuple(renamed[i] for i in r) for r in rotations(beads)}
        assert answer("renamed_letters", beads, letters) == found


def test_drawn_numbers_fit():
    for seed in range(60):
        which, *content = FAMILIES["solids_of_given_colours"].draw(stream("solid", seed), seed % 12)
        assert sum(content) == len(SOLIDS[which][0])
        assert min(content) > 0
        content = FAMILIES["rings_of_given_beads"].draw(stream("ring", seed), seed % 12)
        assert len(content) <= 5
        assert min(content) > 1
