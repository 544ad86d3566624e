"""Rules on objects: every step by plain sets of cells, all rules of a problem by brute force."""

import itertools

import pytest

from rlvr_envs.core.errors import RowError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.object_transformation import (
    ObjectTransformationConfig,
    ObjectTransformationTask,
)
from rlvr_envs.generators.grids.objects import SELECTIONS, apply, described

UP, DOWN, LEFT, RIGHT = (-1, 0), (1, 0), (0, -1), (0, 1)
WAYS = {"up": UP, "down": DOWN, "left": LEFT, "right": RIGHT}
COLOURS = "123"
WORDS = [
    *(
        word
        for kind in SELECTIONS
        for word in (["colour 1", "colour 2"] if kind == "colour" else [kind])
    )
]
DEEDS = [
    *("recolour 2", "remove", "keep", "mirror sideways", "mirror upright", "box", "fill 3"),
    *("frame 1", "crop", *(f"{kind} {to}" for kind in ("shift", "slide", "ray") for to in WAYS)),
]


# The language once more, on dictionaries from places to digits.


def read(grid):
    cells = {(r, c): d for r, row in enumerate(grid) for c, d in enumerate(row)}
    return cells, len(grid), len(grid[0])


def flood(start, inside):
    found, waiting = {start}, [start]
    while waiting:
        r, c = waiting.pop()
        for down, right in WAYS.values():
            place = r + down, c + right
            if place in inside and place not in found:
                found.add(place)
                waiting.append(place)
    return found


def things_of(grid):
    cells, _, _ = read(grid)
    left, found = {p for p, d in cells.items() if d != "0"}, []
    for place in sorted(left):
        if any(place in thing for _, thing in found):
            continue
        colour = cells[place]
        found.append((colour, flood(place, {p for p in left if cells[p] == colour})))
    return found


def enclosed(thing, n_rows, n_columns):
    free = set(itertools.product(range(n_rows), range(n_columns))) - thing
    outside = set()
    for r, c in free:
        if r in (0, n_rows - 1) or c in (0, n_columns - 1):
            outside |= flood((r, c), free)
    return free - outside


def spans(thing):
    rows, columns = [r for r, _ in thing], [c for _, c in thing]
    return min(rows), max(rows), min(columns), max(columns)


def rectangle(thing):
    top, bottom, left, right = spans(thing)
    return set(itertools.product(range(top, bottom + 1), range(left, right + 1)))


def flipped(thing, sideways):
    top, bottom, left, right = spans(thing)
    return {(r, left + right - c) if sideways else (top + bottom - r, c) for r, c in thing}


def at_corner(thing):
    top, _, left, _ = spans(thing)
    return {(r - top, c - left) for r, c in thing}


def selected(word, things, n_rows, n_columns):
    sizes = [len(thing) for _, thing in things]
    height = lambda t: spans(t)[1] - spans(t)[0]  # noqa: E731
    width = lambda t: spans(t)[3] - spans(t)[2]  # noqa: E731
    rule = {
        "every": lambda colour, t: True,
        "colour": lambda colour, t: colour == word[-1],
        "largest": lambda colour, t: len(t) == max(sizes),
        "smallest": lambda colour, t: len(t) == min(sizes),
        "leftmost": lambda colour, t: spans(t)[2] == min(spans(o)[2] for _, o in things),
        "rightmost": lambda colour, t: spans(t)[3] == max(spans(o)[3] for _, o in things),
        "highest": lambda colour, t: spans(t)[0] == min(spans(o)[0] for _, o in things),
        "lowest": lambda colour, t: spans(t)[1] == max(spans(o)[1] for _, o in things),
        "outer": lambda colour, t: any(
            r in (0, n_rows - 1) or c in (0, n_columns - 1) for r, c in t
        ),
        "inner": lambda colour, t: all(0 < r < n_rows - 1 and 0 < c < n_columns - 1 for r, c in t),
        "odd": lambda colour, t: len(t) % 2,
        "even": lambda colour, t: not len(t) % 2,
        "full": lambda colour, t: t == rectangle(t),
        "alone": lambda colour, t: sum(o == colour for o, _ in things) == 1,
        "ring": lambda colour, t: enclosed(t, n_rows, n_columns),
        "twin": lambda colour, t: any(o != t and at_corner(o) == at_corner(t) for _, o in things),
        "symmetric": lambda colour, t: flipped(t, True) == t,
        "wide": lambda colour, t: width(t) > height(t),
        "tall": lambda colour, t: width(t) < height(t),
    }[word.split(" ")[0]]
    return [thing for thing in things if rule(*thing)]


def slid(chosen, cells, full, way):
    """Return all cells after objects have slid, the one furthest ahead first."""
    down, right = way
    ahead = {i: max(r * down + c * right for r, c in t) for i, (_, t) in enumerate(chosen)}
    for i in sorted(ahead, key=lambda i: -ahead[i]):
        colour, now = chosen[i]
        full = {p: d for p, d in full.items() if p not in now}
        while True:
            further = {(r + down, c + right) for r, c in now}
            if not further <= set(cells) - set(full):
                break
            now = further
        full.update(dict.fromkeys(now, colour))
    return full


def new_cells(kind, rest, thing, size, full):
    """Return the cells that an object gets or paints, some of which may be taken."""
    n_rows, n_columns = size
    if kind == "shift":
        return {(r + WAYS[rest][0], c + WAYS[rest][1]) for r, c in thing}
    if kind == "ray":
        found = set()
        for r, c in thing:
            for far in range(1, 99):
                place = r + far * WAYS[rest][0], c + far * WAYS[rest][1]
                if not (0 <= place[0] < n_rows and 0 <= place[1] < n_columns) or place in full:
                    break
                found.add(place)
        return found
    return {
        "recolour": lambda: thing,
        "keep": lambda: thing,
        "remove": set,
        "mirror": lambda: flipped(thing, rest == "sideways"),
        "box": lambda: rectangle(thing),
        "fill": lambda: enclosed(thing, n_rows, n_columns),
        "frame": lambda: {(r + i, c + j) for r, c in thing for i in (-1, 0, 1) for j in (-1, 0, 1)},
    }[kind]()


def done(step, grid):
    """Return what a step makes of a grid."""
    word, deed = step
    cells, n_rows, n_columns = read(grid)
    things = things_of(grid)
    chosen = selected(word, things, n_rows, n_columns) if things else []
    kind, _, rest = deed.partition(" ")
    if not chosen:
        return grid
    if kind == "crop":
        top, bottom, left, right = spans({p for _, t in chosen for p in t})
        return tuple(row[left : right + 1] for row in grid[top : bottom + 1])
    full = {p: colour for colour, t in things for p in t}
    if kind == "slide":
        return shown(slid(chosen, cells, full, WAYS[rest]), n_rows, n_columns)
    stay = {p: colour for colour, t in things if (colour, t) not in chosen for p in t}
    base = full if kind in ("ray", "box", "fill", "frame") else {} if kind == "keep" else stay
    made = {}
    for colour, thing in chosen:
        paint = rest if kind in ("recolour", "fill", "frame") else colour
        for place in new_cells(kind, rest, thing, (n_rows, n_columns), full):
            if place in cells and place not in base:
                made[place] = min(made.get(place, "9"), paint)
    return shown({**made, **base}, n_rows, n_columns)


def shown(cells, n_rows, n_columns):
    return tuple("".join(cells.get((r, c), "0") for c in range(n_columns)) for r in range(n_rows))


def brute(rule, grid):
    for step in rule:
        grid = done(step, grid)
    return grid


def grids(level, count):
    task = ObjectTransformationTask(ObjectTransformationConfig.at(level))
    return [task._grid(stream("grids", level, i)) for i in range(count)]


@pytest.mark.parametrize("word", WORDS)
def test_each_step_is_what_its_words_say(word):
    """Random grids of objects, and random grids of single cells, which touch."""
    rng = stream("noise", word)
    noise = [tuple("".join(map(str, rng.integers(0, 4, 6))) for _ in range(5)) for _ in range(4)]
    for grid in (*grids(7, 4), *noise):
        for deed in DEEDS:
            assert apply(((word, deed),), grid) == done((word, deed), grid), (word, deed, grid)


@pytest.mark.parametrize(("level", "seed"), [(0, 0), (3, 1), (4, 2), (5, 3), (6, 4)])
def test_one_output_is_left_by_all_rules(level, seed):
    task = ObjectTransformationTask(ObjectTransformationConfig.at(level))
    problem = task.generate(stream("ObjectTransformation", level, seed))
    steps = list(itertools.product(problem.selections, problem.actions))
    found = {}
    for length in range(problem.n_steps, 0, -1):
        for rule in itertools.product(steps, repeat=length):
            if all(brute(rule, e.given) == e.made for e in problem.examples):
                found[brute(rule, problem.test)] = length
    assert found == {brute(problem.rule, problem.test): problem.n_steps}
    assert task.verify(problem, task.solve(problem)).score == 1.0


def test_words_are_described():
    assert described("colour 2") == "the objects of colour 2"
    assert described("ray left").startswith("from each of their cells, paint the cells to the left")
    assert described("mirror upright").endswith("top and bottom swapped")


def test_a_rule_that_is_none_is_an_error_of_the_row():
    with pytest.raises(RowError, match="'glow'"):
        apply((("largest", "glow"),), ("10", "00"))
