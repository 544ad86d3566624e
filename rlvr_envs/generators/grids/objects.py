"""Rules on the objects of coloured grids: their words, what they do, and a search for all that fit.

A grid is a tuple of rows of digits, 0 being the background. An object is a set of cells of one
colour that are connected through shared sides, as large as possible. A step is a selection of
objects and an action on them, each a word such as ``colour 2`` or ``slide left``; a rule is a
sequence of steps.

Inside, a set of cells is an integer: cell (r, c) of a board with n columns is the bit r * n + c.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

from rlvr_envs.core.errors import RowError
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.grids.examples import Grid

Step = tuple[str, str]  # a selection and an action
Rule = tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Thing:
    """An object: its colour, and its cells."""

    colour: int
    cells: int


@dataclass(frozen=True, eq=False)
class Board:
    """The size of a grid, and geometry on it; `board_of` makes one of a size."""

    n_rows: int
    n_columns: int

    @cached_property
    def whole(self) -> int:
        """All cells."""
        return (1 << self.n_rows * self.n_columns) - 1

    @cached_property
    def rows(self) -> list[int]:
        """The cells of each row."""
        row = (1 << self.n_columns) - 1
        return [row << r * self.n_columns for r in range(self.n_rows)]

    @cached_property
    def columns(self) -> list[int]:
        """The cells of each column."""
        column = sum(1 << r * self.n_columns for r in range(self.n_rows))
        return [column << c for c in range(self.n_columns)]

    @cached_property
    def edge(self) -> int:
        """The cells at the edge."""
        return self.rows[0] | self.rows[-1] | self.columns[0] | self.columns[-1]

    def moved(self, cells: int, direction: str) -> int:
        """Return cells one place further; those that leave the board disappear."""
        if direction == "up":
            return cells >> self.n_columns
        if direction == "down":
            return cells << self.n_columns & self.whole
        if direction == "left":
            return (cells & ~self.columns[0]) >> 1
        return (cells & ~self.columns[-1]) << 1

    def beside(self, cells: int) -> int:
        """Return cells and those that share a side with them."""
        inner, last = cells & ~self.columns[0], cells & ~self.columns[-1]
        wide = cells | inner >> 1 | last << 1
        return (wide | cells >> self.n_columns | cells << self.n_columns) & self.whole

    def around(self, cells: int) -> int:
        """Return cells and those that share a side or a corner with them."""
        inner, last = cells & ~self.columns[0], cells & ~self.columns[-1]
        wide = cells | inner >> 1 | last << 1
        return (wide | wide >> self.n_columns | wide << self.n_columns) & self.whole

    def connected(self, seed: int, within: int) -> int:
        """Return the cells of ``within`` that are connected with those of ``seed``."""
        reached = seed & within
        while True:
            further = self.beside(reached) & within
            if further == reached:
                return reached
            reached = further

    @lru_cache(maxsize=8192)  # noqa: B019 (boards are kept for ever)
    def box(self, cells: int) -> tuple[int, int, int, int]:
        """Return the first row, the last row, the first column and the last column of cells."""
        rows = [r for r, row in enumerate(self.rows) if cells & row]
        columns = [c for c, column in enumerate(self.columns) if cells & column]
        return rows[0], rows[-1], columns[0], columns[-1]

    def filled(self, box: tuple[int, int, int, int]) -> int:
        """Return the cells of a rectangle."""
        top, bottom, left, right = box
        row = ((1 << right - left + 1) - 1) << left
        return sum(row << r * self.n_columns for r in range(top, bottom + 1))

    def cut(self, cells: int, box: tuple[int, int, int, int]) -> int:
        """Return the cells in a rectangle, as cells of a board of its size."""
        top, bottom, left, right = box
        width = right - left + 1
        whole = (1 << width) - 1
        return sum(
            (cells >> (top + r) * self.n_columns + left & whole) << r * width
            for r in range(bottom - top + 1)
        )

    @lru_cache(maxsize=8192)  # noqa: B019
    def enclosed(self, cells: int) -> int:
        """Return the cells from which every way to the edge meets ``cells``."""
        outside = self.whole & ~cells
        return outside & ~self.connected(self.edge, outside)

    @lru_cache(maxsize=8192)  # noqa: B019
    def mirrored(self, cells: int, across: bool) -> int:
        """Return cells mirrored in their box: left and right swapped, or top and bottom."""
        top, bottom, left, right = self.box(cells)
        made = 0
        for r in range(top, bottom + 1):
            for c in range(left, right + 1):
                if cells >> r * self.n_columns + c & 1:
                    to = (r, left + right - c) if across else (top + bottom - r, c)
                    made |= 1 << to[0] * self.n_columns + to[1]
        return made

    def shape(self, cells: int) -> tuple[int, int, int]:
        """Return a value that is the same for objects that a shift makes equal."""
        top, bottom, left, right = self.box(cells)
        return cells >> top * self.n_columns + left, bottom - top, right - left

    def show(self, masks: Sequence[int]) -> Grid:
        """Return the grid of which ``masks[colour]`` are the cells of a colour."""
        text = ["0"] * (self.n_rows * self.n_columns)
        for colour, cells in enumerate(masks):
            rest = cells
            while rest:
                text[(rest & -rest).bit_length() - 1] = str(colour)
                rest &= rest - 1
        whole = "".join(text)
        size = self.n_columns
        return tuple(whole[i : i + size] for i in range(0, len(whole), size))


Scene = tuple[Board, tuple[int, ...]]  # and the cells of each colour
_DIGITS = 10


@cache
def board_of(n_rows: int, n_columns: int) -> Board:
    """Return the board of a size, whose geometry is computed once."""
    return Board(n_rows, n_columns)


def read(grid: Grid) -> Scene:
    """Return the scene that a grid shows."""
    masks = [0] * _DIGITS
    for place, digit in enumerate("".join(grid)):
        if digit != "0":
            masks[int(digit)] |= 1 << place
    return board_of(len(grid), len(grid[0])), tuple(masks)


@lru_cache(maxsize=8192)
def things_in(scene: Scene) -> tuple[Thing, ...]:
    """Return the objects of a scene, in the order of their first cells."""
    board, masks = scene
    things = []
    for colour, cells in enumerate(masks):
        rest = cells
        while rest:
            found = board.connected(rest & -rest, rest)
            things.append(Thing(colour, found))
            rest &= ~found
    return tuple(sorted(things, key=lambda thing: thing.cells & -thing.cells))


Select = Callable[[Board, Sequence[Thing], int], list[Thing]]
Act = Callable[[Board, Sequence[Thing], Sequence[Thing], str], Scene]


def _most(things: Sequence[Thing], value: Callable[[Thing], int]) -> list[Thing]:
    """Return the things of the greatest value."""
    best = max(map(value, things))
    return [thing for thing in things if value(thing) == best]


def _furthest(side: int, sign: int) -> Select:
    """Return the selection of what reaches furthest to a side, an index of `Board.box`."""
    return lambda board, things, _: _most(things, lambda t: sign * board.box(t.cells)[side])


def _those(holds: Callable[[Board, Thing], bool]) -> Select:
    """Return the selection of the objects for which something holds."""
    return lambda board, things, _: [thing for thing in things if holds(board, thing)]


def _height(board: Board, thing: Thing) -> int:
    top, bottom, _, _ = board.box(thing.cells)
    return bottom - top + 1


def _width(board: Board, thing: Thing) -> int:
    _, _, left, right = board.box(thing.cells)
    return right - left + 1


def _alone(board: Board, things: Sequence[Thing], colour: int) -> list[Thing]:
    colours = [thing.colour for thing in things]
    return [thing for thing in things if colours.count(thing.colour) == 1]


def _twins(board: Board, things: Sequence[Thing], colour: int) -> list[Thing]:
    shapes = [board.shape(thing.cells) for thing in things]
    return [t for t, shape in zip(things, shapes, strict=True) if shapes.count(shape) > 1]


# What each selection is called, and what it selects. Of a word such as "colour 2" the first part is
# the kind; {} is the rest.
SELECTIONS: dict[str, tuple[str, Select]] = {
    "every": ("every object", lambda board, things, _: list(things)),
    "colour": (
        "the objects of colour {}",
        lambda board, things, colour: [t for t in things if t.colour == colour],
    ),
    "largest": (
        "the object with the most cells, or all such objects if there are several",
        lambda board, things, _: _most(things, lambda t: t.cells.bit_count()),
    ),
    "smallest": (
        "the object with the fewest cells, or all such objects if there are several",
        lambda board, things, _: _most(things, lambda t: -t.cells.bit_count()),
    ),
    "leftmost": (
        "the object that reaches furthest left, or all such objects if there are several",
        _furthest(2, -1),
    ),
    "rightmost": (
        "the object that reaches furthest right, or all such objects if there are several",
        _furthest(3, 1),
    ),
    "highest": (
        "the object that reaches furthest up, or all such objects if there are several",
        _furthest(0, -1),
    ),
    "lowest": (
        "the object that reaches furthest down, or all such objects if there are several",
        _furthest(1, 1),
    ),
    "outer": (
        "the objects that touch the edge of the grid",
        _those(lambda board, t: bool(t.cells & board.edge)),
    ),
    "inner": (
        "the objects that do not touch the edge of the grid",
        _those(lambda board, t: not t.cells & board.edge),
    ),
    "odd": (
        "the objects with an odd number of cells",
        _those(lambda board, t: t.cells.bit_count() % 2 == 1),
    ),
    "even": (
        "the objects with an even number of cells",
        _those(lambda board, t: t.cells.bit_count() % 2 == 0),
    ),
    "full": (
        "the objects that are full rectangles (a single cell or a straight line is one too)",
        _those(lambda board, t: board.filled(board.box(t.cells)) == t.cells),
    ),
    "alone": ("the objects whose colour no other object has", _alone),
    "ring": (
        (
            "the objects that enclose at least one cell, from which no way through shared sides "
            "leads to the edge of the grid without entering the object"
        ),
        _those(lambda board, t: bool(board.enclosed(t.cells))),
    ),
    "twin": (
        (
            "the objects with the same shape as another object (the colour does not matter; a "
            "turned or mirrored shape is another shape)"
        ),
        _twins,
    ),
    "symmetric": (
        "the objects that do not change when left and right are swapped",
        _those(lambda board, t: board.mirrored(t.cells, True) == t.cells),
    ),
    "wide": (
        "the objects that are wider than they are tall",
        _those(lambda board, t: _width(board, t) > _height(board, t)),
    ),
    "tall": (
        "the objects that are taller than they are wide",
        _those(lambda board, t: _width(board, t) < _height(board, t)),
    ),
}


def _repainted(board: Board, others: Sequence[Thing], made: Sequence[Thing]) -> Scene:
    """Return the scene of objects that stay and of objects that give way to them."""
    masks = [0] * _DIGITS
    taken = 0
    for thing in (*others, *sorted(made, key=lambda thing: thing.colour)):
        cells = thing.cells & ~taken
        masks[thing.colour] |= cells
        taken |= cells
    return board, tuple(masks)


def _cells(things: Sequence[Thing]) -> int:
    cells = 0
    for thing in things:
        cells |= thing.cells
    return cells


def _changed(change: Callable[[Board, int, str], int]) -> Act:
    """Return the action that gives each selected object other cells."""
    return lambda board, chosen, others, to: _repainted(
        board, others, [Thing(t.colour, change(board, t.cells, to)) for t in chosen]
    )


def _painted(added: Callable[[Board, int], int], *, own: bool = False) -> Act:
    """Return the action that paints background cells, in the object's own colour or another."""

    def act(board: Board, chosen: Sequence[Thing], others: Sequence[Thing], colour: str) -> Scene:
        new = [Thing(t.colour if own else int(colour), added(board, t.cells)) for t in chosen]
        return _repainted(board, [*others, *chosen], new)

    return act


def _slid(board: Board, chosen: Sequence[Thing], others: Sequence[Thing], to: str) -> Scene:
    side, sign = {"up": (0, 1), "down": (1, -1), "left": (2, 1), "right": (3, -1)}[to]
    taken = _cells([*others, *chosen])
    made = []
    for thing in sorted(chosen, key=lambda t: sign * board.box(t.cells)[side]):
        cells = thing.cells
        taken &= ~cells
        while True:
            further = board.moved(cells, to)
            if further.bit_count() < cells.bit_count() or further & taken:
                break
            cells = further
        taken |= cells
        made.append(Thing(thing.colour, cells))
    return _repainted(board, others, made)


def _rays(board: Board, chosen: Sequence[Thing], others: Sequence[Thing], to: str) -> Scene:
    free = board.whole & ~_cells([*others, *chosen])
    made = []
    for thing in chosen:
        front, painted = thing.cells, 0
        while front:
            front = board.moved(front, to) & free
            painted |= front
        made.append(Thing(thing.colour, painted))
    return _repainted(board, [*others, *chosen], made)


def _cropped(board: Board, chosen: Sequence[Thing], others: Sequence[Thing], _: str) -> Scene:
    box = board.box(_cells(chosen))
    masks = [0] * _DIGITS
    for thing in (*others, *chosen):
        masks[thing.colour] |= board.cut(thing.cells, box)
    return board_of(box[1] - box[0] + 1, box[3] - box[2] + 1), tuple(masks)


ACTIONS: dict[str, tuple[str, Act]] = {
    "recolour": (
        "give them the colour {}",
        lambda board, chosen, others, colour: _repainted(
            board, others, [Thing(int(colour), t.cells) for t in chosen]
        ),
    ),
    "remove": (
        "remove them",
        lambda board, chosen, others, _: _repainted(board, others, []),
    ),
    "keep": (
        "remove all objects that are not selected",
        lambda board, chosen, others, _: _repainted(board, [], chosen),
    ),
    "shift": (
        "shift them {} by one cell",
        _changed(lambda board, cells, to: board.moved(cells, to)),
    ),
    "slide": (
        (
            "slide them {}, each until it meets the edge or another object: the one nearest to "
            "that edge goes first, and of equally near ones the one whose first cell, row by "
            "row from the top left, comes first"
        ),
        _slid,
    ),
    "ray": (
        (
            "from each of their cells, paint the cells {} in its colour, up to the edge or the "
            "next cell that is not background"
        ),
        _rays,
    ),
    "mirror": (
        "mirror each of them within its bounding box, {}",
        _changed(lambda board, cells, to: board.mirrored(cells, to == "sideways")),
    ),
    "box": (
        "paint the background cells of their bounding boxes in their own colour",
        _painted(lambda board, cells: board.filled(board.box(cells)), own=True),
    ),
    "fill": (
        (
            "paint the background cells that they enclose in the colour {}; an enclosed cell is "
            "one from which no way through shared sides leads to the edge of the grid without "
            "entering the object"
        ),
        _painted(lambda board, cells: board.enclosed(cells)),
    ),
    "frame": (
        "paint the background cells that share a side or a corner with them in the colour {}",
        _painted(lambda board, cells: board.around(cells)),
    ),
    "crop": (
        "crop the grid to the smallest rectangle that contains all of them",
        _cropped,
    ),
}
_COLOURED = {"colour", "recolour", "fill", "frame"}
_DIRECTIONS = ("up", "down", "left", "right")
_WORDS = {
    ("ray", "up"): "above it",
    ("ray", "down"): "below it",
    ("ray", "left"): "to the left of it",
    ("ray", "right"): "to the right of it",
    ("mirror", "sideways"): "left and right swapped",
    ("mirror", "upright"): "top and bottom swapped",
}


def kind_of(word: str) -> str:
    """Return the kind of a word, without its colour or direction."""
    return word.partition(" ")[0]


def described(word: str) -> str:
    """Return a selection or an action in words."""
    kind, _, rest = word.partition(" ")
    text = (SELECTIONS.get(kind) or ACTIONS[kind])[0]
    return text.format(_WORDS.get((kind, rest), rest))


def _words_of(kind: str, n_colours: int) -> list[str]:
    """Return the words of a kind: with each colour or direction, where it has one."""
    if kind in _COLOURED:
        return [f"{kind} {colour}" for colour in range(1, n_colours + 1)]
    if kind in ("shift", "slide", "ray"):
        return [f"{kind} {to}" for to in _DIRECTIONS]
    return [f"{kind} sideways", f"{kind} upright"] if kind == "mirror" else [kind]


def draw_words(
    rng: Rng, kinds: Collection[str], count: int, n_colours: int, left_out: frozenset[str]
) -> tuple[str, ...]:
    """Draw different words, of as many kinds as possible, in the order of the kinds."""
    words = [_words_of(kind, n_colours) for kind in kinds if kind not in left_out]
    order = rng.permutation(len(words)).tolist()
    found: list[tuple[int, str]] = []
    while len(found) < count:
        for place in order:
            left = [word for word in words[place] if (place, word) not in found]
            if left and len(found) < count:
                found.append((place, pick(rng, left)))
    return tuple(word for _, word in sorted(found))


@lru_cache(maxsize=8192)
def _selected(selection: str, scene: Scene) -> tuple[list[Thing], list[Thing]]:
    """Return the objects that a selection takes, and the others."""
    things = things_in(scene)
    kind, _, colour = selection.partition(" ")
    chosen = SELECTIONS[kind][1](scene[0], things, int(colour or 0)) if things else []
    return chosen, [thing for thing in things if thing not in chosen]


def apply_step(step: Step, scene: Scene) -> Scene:
    """Return what a step makes of a scene."""
    selection, action = step
    chosen, others = _selected(selection, scene)
    kind, _, rest = action.partition(" ")
    return ACTIONS[kind][1](scene[0], chosen, others, rest) if chosen else scene


def apply(rule: Rule, grid: Grid) -> Grid:
    """Return what a rule makes of a grid, step by step.

    Raises:
        RowError: a step is not one of the language, as in a row that somebody has changed.
    """
    scene = read(grid)
    for step in rule:
        try:
            scene = apply_step(step, scene)
        except (KeyError, ValueError, IndexError) as error:
            raise RowError(f"the rule has a step {step!r:.80} that is none") from error
    board, masks = scene
    return board.show(masks)


@dataclass(frozen=True, slots=True)
class Fits:
    """The outputs of the rules that fit, with the fewest steps for each; steps tried for them."""

    outputs: dict[Grid, int]
    tried: int


def fits(
    given: tuple[Grid, ...], made: tuple[Grid, ...], test: Grid, steps: Sequence[Step], length: int
) -> Fits:
    """Return what the rules of at most a length make of a grid, if they fit all examples."""
    outputs: dict[Scene, int] = {}
    goals = tuple(map(read, made))
    layer = [tuple(map(read, (*given, test)))]
    seen = set(layer)
    tried = 0
    for count in range(1, length + 1):
        following = []
        for scenes in layer:
            for step in steps:
                tried += 1
                if count == length:
                    fit = all(
                        apply_step(step, scene) == goal
                        for scene, goal in zip(scenes, goals, strict=False)
                    )
                    if fit:
                        outputs.setdefault(apply_step(step, scenes[-1]), count)
                    continue
                after = tuple(apply_step(step, scene) for scene in scenes)
                if after in seen:
                    continue
                seen.add(after)
                following.append(after)
                if after[:-1] == goals:
                    outputs.setdefault(after[-1], count)
        layer = following
    shown = {board.show(masks): count for (board, masks), count in outputs.items()}
    return Fits(shown, tried)


def draw_pattern(rng: Rng) -> set[tuple[int, int]]:
    """Draw the cells of a shape: a rectangle, a ring, or one that grew, symmetric or not."""
    kind = integer(rng, 0, 4)
    if kind == 0:
        n_rows, n_columns = integer(rng, 1, 3), integer(rng, 1, 3)
        return {(r, c) for r in range(n_rows) for c in range(n_columns)}
    if kind == 1:
        n_rows, n_columns = integer(rng, 3, 4), integer(rng, 3, 4)
        return {
            (r, c)
            for r in range(n_rows)
            for c in range(n_columns)
            if r in (0, n_rows - 1) or c in (0, n_columns - 1)
        }
    cells = {(0, 0)}
    for _ in range(integer(rng, 2, 5)):
        r, c = pick(rng, sorted(cells))
        down, right = pick(rng, ((0, 1), (0, -1), (1, 0), (-1, 0)))
        if max(abs(r + down), abs(c + right)) <= 1:
            cells.add((r + down, c + right))
    if kind == 2:  # symmetric
        cells |= {(r, -c) for r, c in cells}
    top, left = min(r for r, _ in cells), min(c for _, c in cells)
    return {(r - top, c - left) for r, c in cells}


def draw_place(rng: Rng, pattern: set[tuple[int, int]], board: Board, taken: int) -> int:
    """Return the cells of a shape at a free place; none if there is no such place."""
    height, width = max(r for r, _ in pattern) + 1, max(c for _, c in pattern) + 1
    cells = sum(1 << r * board.n_columns + c for r, c in pattern)
    places = [
        cells << r * board.n_columns + c
        for r in range(board.n_rows - height + 1)
        for c in range(board.n_columns - width + 1)
    ]
    free = [place for place in places if not place & taken]
    return pick(rng, free) if free else 0
