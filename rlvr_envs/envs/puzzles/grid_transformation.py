"""Grid transformation: find the rule behind examples, and apply it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations

from rlvr_envs.core.errors import ConfigError, RowError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.grids.examples import Example, Grid, judge_output, show_examples
from rlvr_envs.verifiers.grids import show_grid

MAX_LENGTH = 3  # of a program: all programs up to this length are tried
MAX_COLOURS = 5
_REDRAWS = 40

# The length of the rule, the kinds of operations and the colours of the first levels.
_LEVELS = (
    *((1, 6, 2), (1, 14, 2), (2, 6, 2), (2, 12, 2), (2, 23, 2), (3, 10, 2), (3, 14, 3)),
    *((3, 18, 3), (3, 20, 4), (3, 23, 4)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GridTransformationConfig(TaskConfig):
    """The length of the rule, and what the examples look like."""

    length: int = knob(2, "operations in the rule", low=1, high=MAX_LENGTH)
    n_examples: int = knob(3, "examples of input and output", low=2, high=10)
    n_colours: int = knob(3, "colours", low=1, high=MAX_COLOURS)
    n_kinds: int = knob(23, "kinds of operations to choose from", low=4, high=23)
    min_side: int = 3
    max_side: int = 5

    def check(self) -> None:
        if not 3 <= self.min_side <= self.max_side <= MAX_SIDE // 2:
            raise ConfigError(f"need 3 <= min_side <= max_side <= {MAX_SIDE // 2}, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "GridTransformationConfig":
        """Longer lists of operations, then rules of two (from level 2) and three (from 5)."""
        if difficulty < len(_LEVELS):
            length, n_kinds, n_colours = _LEVELS[difficulty]
        else:
            length, n_kinds, n_colours = MAX_LENGTH, len(KINDS), MAX_COLOURS
        return cls(
            length=length,
            n_colours=n_colours,
            n_kinds=n_kinds,
            min_side=min(3 + difficulty // 4, MAX_SIDE // 2),
            max_side=min(3 + (difficulty + 1) // 2, MAX_SIDE // 2),
        )


@dataclass(frozen=True, slots=True)
class GridTransformationProblem:
    """Examples of a rule of at most ``length`` operations of some kinds, and another grid."""

    length: int
    n_colours: int
    kinds: tuple[str, ...]
    examples: tuple[Example, ...]
    test: Grid
    program: tuple[str, ...] = hidden()


@register("GridTransformation-v0", domain="puzzles", answer_format="tag")
class GridTransformationTask(Task[GridTransformationConfig, GridTransformationProblem]):
    """Infer a transformation of grids from examples, and apply it to another grid.

    Description:
        The rule is a sequence of operations from a stated list, such as rotating, shifting,
        pushing, recolouring and cropping. No shorter sequence fits the examples, and all
        sequences up to the stated length that fit them agree on the test grid.

    Observation:
        The possible operations, the examples, and the test grid.

    Action:
        The output grid for the test grid.

    Reward:
        1 if every cell is right, otherwise 0.

    Verification:
        The rule is applied. That the examples leave no other answer is proven by trying all
        sequences of operations up to the stated length. No known gaps.

    Difficulty:
        First the list of operations that the rule may use grows from six kinds to 23, then the
        rule gets a second and a third operation, of few kinds at first, so that several steps must
        be told apart from what they leave. Grids and the number of colours grow slowly.

    References:
        Chollet, "On the Measure of Intelligence", 2019 (arXiv:1911.01547).
    """

    def generate(self, rng: Rng) -> GridTransformationProblem:
        config = self.config
        for _ in range(_REDRAWS):
            problem = self._draw(rng)
            if problem is not None and self._is_sound(problem):
                return problem
        # A test grid that is an example leaves no doubt whatever the rule.
        given, kinds = self._grid(rng), self._kinds(rng)
        program = language(config.n_colours, kinds)[:1]
        examples = (Example(given, _transformed(program, given)),) * config.n_examples
        return GridTransformationProblem(
            config.length, config.n_colours, kinds, examples, given, program
        )

    def _kinds(self, rng: Rng) -> tuple[str, ...]:
        """Draw the kinds of operations that the rule may use, in the order of the list."""
        possible = [kind for kind in KINDS if language(self.config.n_colours, (kind,))]
        chosen = rng.permutation(len(possible))[: self.config.n_kinds].tolist()
        return tuple(possible[i] for i in sorted(chosen))

    def _draw(self, rng: Rng) -> GridTransformationProblem | None:
        """Draw a rule and grids; None if a grid would become too large."""
        config = self.config
        kinds = self._kinds(rng)
        program = tuple(
            pick(rng, language(config.n_colours, (pick(rng, kinds),))) for _ in range(config.length)
        )
        grids = [self._grid(rng) for _ in range(config.n_examples + 1)]
        made = [run_program(program, grid) for grid in grids]
        if None in made:
            return None
        *given, test = grids
        examples = tuple(Example(g, m) for g, m in zip(given, made, strict=False) if m is not None)
        return GridTransformationProblem(
            config.length, config.n_colours, kinds, examples, test, program
        )

    def _grid(self, rng: Rng) -> Grid:
        """Draw a grid, half of it 0, in which every colour occurs."""
        config = self.config
        n_rows = integer(rng, config.min_side, config.max_side)
        n_columns = integer(rng, config.min_side, config.max_side)
        cells = [
            str(integer(rng, 1, config.n_colours)) if integer(rng, 0, 1) else "0"
            for _ in range(n_rows * n_columns)
        ]
        places = rng.permutation(len(cells)).tolist()
        for colour, place in enumerate(places[: config.n_colours], start=1):
            cells[place] = str(colour)
        text = "".join(cells)
        return tuple(text[i : i + n_columns] for i in range(0, len(text), n_columns))

    def _is_sound(self, problem: GridTransformationProblem) -> bool:
        """Return whether the answer is the only one, takes the whole rule, and changes the grid."""
        answer = _transformed(problem.program, problem.test)
        if answer == problem.test:
            return False
        found = _fits(problem)
        return found.outputs == {answer: problem.length}

    def prompt(self, problem: GridTransformationProblem) -> str:
        operations = "\n".join(f"- {DESCRIPTIONS[kind]}" for kind in problem.kinds)
        examples = show_examples(problem.examples)
        rule = (
            "one operation from the list below"
            if problem.length == 1
            else f"at most {problem.length} operations from the list below, carried out one after "
            "the other"
        )
        grids = (*(example.given for example in problem.examples), problem.test)
        side = max(max(len(grid), len(grid[0])) for grid in grids)
        limit = f" No grid ever gets more than {MAX_SIDE} rows or columns."
        few = {1: "the only colour is 1", 2: "the colours are 1 and 2"}
        colours = few.get(problem.n_colours, f"the colours are 1 to {problem.n_colours}")
        return (
            "A hidden rule turns each input grid into its output grid. Find the rule from the "
            "examples and apply it to the test input. In the grids, 0 is the background; "
            f"{colours}. The rule consists of {rule}. It is the same for all grids."
            f"{limit if side * 2**problem.length > MAX_SIDE else ''}\n\n"
            f"The possible operations:\n{operations}\n\n{examples}\n\n"
            f"Test input:\n{show_grid(problem.test)}\n\nWhat is the output for the test input? "
            "Only one output agrees with the examples. Answer with the output grid in the same "
            "form."
        )

    def verify(self, problem: GridTransformationProblem, answer: str) -> Verdict:
        return judge_output(_transformed(problem.program, problem.test), answer)

    def solve(self, problem: GridTransformationProblem) -> str:
        return show_grid(_transformed(problem.program, problem.test))

    def explain(self, problem: GridTransformationProblem) -> list[str]:
        """Return what each operation makes of the first input, and then of the test input."""
        steps = []
        for name, start in (("Input 1", problem.examples[0].given), ("Test input", problem.test)):
            for i, operation in enumerate(problem.program, 1):
                grid = show_grid(_transformed(problem.program[:i], start))
                steps.append(f"{name}, operation {i}, {described(operation)}:\n{grid}")
        return steps

    def effort(self, problem: GridTransformationProblem) -> int:
        """Count the operations tried out by a search through all rules."""
        return _fits(problem).tried

    def baseline(self, rng: Rng, problem: GridTransformationProblem) -> str:
        """Apply one operation at random."""
        operation = pick(rng, language(problem.n_colours, problem.kinds))
        return show_grid(_transformed((operation,), problem.test))


def _fits(problem: GridTransformationProblem) -> "Fits":
    """Return what the rules that fit the examples make of the test grid."""
    pairs = [(example.given, example.made) for example in problem.examples]
    operations = language(problem.n_colours, problem.kinds)
    return fits(pairs, problem.test, operations, problem.length)


def _transformed(program: tuple[str, ...], grid: Grid) -> Grid:
    """Return what a program makes of a grid that it does not make too large."""
    return run_program(program, grid) or grid


# A language of grid transformations, and an exhaustive search for the programs that fit examples.
#
# A grid is a tuple of rows of digits; 0 is the background, other digits are colours. An operation
# is written as its name and the colours it is about, such as ``swap 1 2``; a program is a sequence
# of operations. No grid on the way may have more than `MAX_SIDE` rows or columns.


Change = Callable[[Grid], Grid]
MAX_SIDE = 30


@dataclass(frozen=True, slots=True)
class Operation:
    """What an operation does, and how to look for what it came from."""

    run: Change  # makes a grid out of a grid
    back: Change  # makes, of a grid that ``run`` can make at all, one that ``run`` makes it of
    is_one_to_one: bool = False  # whether no other grid gives the same

    def can_make(self, grid: Grid) -> bool:
        """Return whether the operation makes this grid of any grid."""
        return self.run(self.back(grid)) == grid


def _transposed(grid: Grid) -> Grid:
    return tuple(map("".join, zip(*grid, strict=True)))


def _flipped(grid: Grid) -> Grid:
    return tuple(row[::-1] for row in grid)


def _fallen_right(grid: Grid) -> Grid:
    return tuple(row.replace("0", "").rjust(len(row), "0") for row in grid)


def _fallen_left(grid: Grid) -> Grid:
    return tuple(row.replace("0", "").ljust(len(row), "0") for row in grid)


def _cropped(grid: Grid) -> Grid:
    rows = [i for i, row in enumerate(grid) if row.strip("0")]
    columns = [j for j, column in enumerate(_transposed(grid)) if column.strip("0")]
    if not rows:
        return grid
    return tuple(row[columns[0] : columns[-1] + 1] for row in grid[rows[0] : rows[-1] + 1])


def _enlarged(grid: Grid) -> Grid:
    wide = ("".join(cell * 2 for cell in row) for row in grid)
    return tuple(row for row in wide for _ in range(2))


def _turned_right(grid: Grid) -> Grid:
    return _transposed(grid[::-1])


def _turned_left(grid: Grid) -> Grid:
    return _transposed(grid)[::-1]


def _turned_twice(grid: Grid) -> Grid:
    return _flipped(grid)[::-1]


def _shifted_right(grid: Grid) -> Grid:
    return tuple(row[-1] + row[:-1] for row in grid)


def _shifted_left(grid: Grid) -> Grid:
    return tuple(row[1:] + row[0] for row in grid)


def _shifted_down(grid: Grid) -> Grid:
    return grid[-1:] + grid[:-1]


def _shifted_up(grid: Grid) -> Grid:
    return grid[1:] + grid[:1]


def _upturned(grid: Grid) -> Grid:
    return grid[::-1]


def _fallen_down(grid: Grid) -> Grid:
    return _transposed(_fallen_right(_transposed(grid)))


def _fallen_up(grid: Grid) -> Grid:
    return _transposed(_fallen_left(_transposed(grid)))


def _doubled_right(grid: Grid) -> Grid:
    return tuple(row + row[::-1] for row in grid)


def _doubled_down(grid: Grid) -> Grid:
    return grid + grid[::-1]


def _left_half(grid: Grid) -> Grid:
    return tuple(row[: (len(row) + 1) // 2] for row in grid)


def _top_half(grid: Grid) -> Grid:
    return grid[: (len(grid) + 1) // 2]


def _thinned(grid: Grid) -> Grid:
    return tuple(row[::2] for row in grid[::2])


def _unchanged(grid: Grid) -> Grid:
    return grid


# Operations without colours: what they do, in words, and how.
_FIXED = {
    "rotate right": (
        "rotate the grid by 90 degrees clockwise",
        Operation(_turned_right, _turned_left, True),
    ),
    "rotate left": (
        "rotate the grid by 90 degrees anticlockwise",
        Operation(_turned_left, _turned_right, True),
    ),
    "rotate twice": (
        "rotate the grid by 180 degrees",
        Operation(_turned_twice, _turned_twice, True),
    ),
    "flip sideways": ("mirror the grid left to right", Operation(_flipped, _flipped, True)),
    "flip upright": ("mirror the grid top to bottom", Operation(_upturned, _upturned, True)),
    "transpose": (
        "transpose the grid: its rows become its columns, in the same order",
        Operation(_transposed, _transposed, True),
    ),
    "shift right": (
        "shift every column one place to the right; the last column becomes the first",
        Operation(_shifted_right, _shifted_left, True),
    ),
    "shift left": (
        "shift every column one place to the left; the first column becomes the last",
        Operation(_shifted_left, _shifted_right, True),
    ),
    "shift down": (
        "shift every row one place down; the last row becomes the first",
        Operation(_shifted_down, _shifted_up, True),
    ),
    "shift up": (
        "shift every row one place up; the first row becomes the last",
        Operation(_shifted_up, _shifted_down, True),
    ),
    "fall right": (
        "push the coloured cells of each row to the right end, keeping their order",
        Operation(_fallen_right, _unchanged),
    ),
    "fall left": (
        "push the coloured cells of each row to the left end, keeping their order",
        Operation(_fallen_left, _unchanged),
    ),
    "fall down": (
        "push the coloured cells of each column to the bottom, keeping their order",
        Operation(_fallen_down, _unchanged),
    ),
    "fall up": (
        "push the coloured cells of each column to the top, keeping their order",
        Operation(_fallen_up, _unchanged),
    ),
    "crop": (
        "cut off the outer rows and columns that contain only 0s",
        Operation(_cropped, _unchanged),
    ),
    "double right": (
        "append the left-right mirror image of the grid on its right side",
        Operation(_doubled_right, _left_half),
    ),
    "double down": (
        "append the top-bottom mirror image of the grid below it",
        Operation(_doubled_down, _top_half),
    ),
    "enlarge": (
        "replace every cell by a 2×2 block of the same value",
        Operation(_enlarged, _thinned),
    ),
    "left half": (
        "keep only the left half, including the middle column if there is one",
        Operation(_left_half, _doubled_right),
    ),
    "top half": (
        "keep only the top half, including the middle row if there is one",
        Operation(_top_half, _doubled_down),
    ),
}
# Operations about colours.
_COLOURED = {
    "swap": "swap two colours",
    "recolour": "replace one colour everywhere by another colour or by 0",
    "frame": "add a frame of one colour, one cell wide, around the grid",
}
DESCRIPTIONS = {name: words for name, (words, _) in _FIXED.items()} | _COLOURED
KINDS = tuple(DESCRIPTIONS)


def described(name: str) -> str:
    """Return an operation in words."""
    match name.split(" "):
        case ["swap", a, b]:
            return f"swap the colours {a} and {b}"
        case ["recolour", a, b]:
            return f"replace the colour {a} by {b}"
        case ["frame", a]:
            return f"add a frame of the colour {a}, one cell wide, around the grid"
    return _FIXED[name][0]


@cache
def language(n_colours: int, kinds: tuple[str, ...] = KINDS) -> tuple[str, ...]:
    """Return all operations of some kinds on the colours from 1 to ``n_colours``."""
    colours = [str(colour) for colour in range(1, n_colours + 1)]
    swaps = [f"swap {a} {b}" for a, b in combinations(colours, 2)]
    changes = [f"recolour {a} {b}" for a, b in permutations(["0", *colours], 2) if a != "0"]
    everything = (*_FIXED, *swaps, *changes, *(f"frame {a}" for a in colours))
    return tuple(name for name in everything if name in kinds or name.split(" ")[0] in kinds)


@cache
def _operation(name: str) -> Operation:
    if name in _FIXED:
        return _FIXED[name][1]
    match name.split(" "):
        case ["swap", a, b]:
            return _swap(str.maketrans(a + b, b + a))
        case ["recolour", a, b]:
            return Operation(lambda grid: tuple(row.replace(a, b) for row in grid), _unchanged)
        case ["frame", a]:
            return Operation(lambda grid: _framed(grid, a), _unframed)
    raise RowError(f"no operation on grids is called {name!r:.80}")


def _swap(table: dict[int, int]) -> Operation:
    def swapped(grid: Grid) -> Grid:
        return tuple(row.translate(table) for row in grid)

    return Operation(swapped, swapped, True)


def _framed(grid: Grid, colour: str) -> Grid:
    edge = colour * (len(grid[0]) + 2)
    return (edge, *(f"{colour}{row}{colour}" for row in grid), edge)


def _unframed(grid: Grid) -> Grid:
    has_inside = len(grid) > 2 and len(grid[0]) > 2
    return tuple(row[1:-1] for row in grid[1:-1]) if has_inside else grid


def is_small(grid: Grid) -> bool:
    """Return whether a grid keeps to `MAX_SIDE`."""
    return len(grid) <= MAX_SIDE and len(grid[0]) <= MAX_SIDE


def run_program(program: Sequence[str], grid: Grid) -> Grid | None:
    """Return what a program makes of a grid, or None if a grid on the way is too large.

    Raises:
        RowError: an operation does not exist.
    """
    for name in program:
        grid = _operation(name).run(grid)
        if not is_small(grid):
            return None
    return grid


@dataclass(frozen=True, slots=True)
class Fits:
    """What the programs that fit some examples make of another grid.

    Attributes:
        outputs: what they make of it, and the length of the shortest program that does.
        tried: how many ways there were to go on with another operation, after programs that have
            made the same of every grid are taken as one.
    """

    outputs: dict[Grid, int]
    tried: int


State = tuple[Grid, ...]  # what a program has made of the examples, and of the test grid last


def fits(
    examples: Sequence[tuple[Grid, Grid]], test: Grid, names: Sequence[str], max_length: int
) -> Fits:
    """Try all programs of at most ``max_length`` of the operations with some names."""
    state: State = (*(given for given, _ in examples), test)
    targets: State = tuple(wanted for _, wanted in examples)
    outputs: dict[Grid, int] = {test: 0} if state[:-1] == targets else {}
    operations = [_operation(name) for name in names]
    seen = {state}
    frontier = [state]
    tried = 0
    for length in range(1, max_length):
        reached = []
        tried += len(frontier) * len(operations)
        for state in frontier:
            for operation in operations:
                after = tuple(map(operation.run, state))
                if after not in seen and all(map(is_small, after)):
                    seen.add(after)
                    reached.append(after)
                    if after[:-1] == targets:
                        outputs.setdefault(after[-1], length)
        frontier = reached
    tried += len(frontier) * len(operations)
    for output in _last_step(frontier, targets, operations):
        outputs.setdefault(output, max_length)
    return Fits(outputs, tried)


def _last_step(
    frontier: Sequence[State], targets: State, operations: Sequence[Operation]
) -> list[Grid]:
    """Return what becomes of the test grid where one more operation gives all targets."""
    by_first: dict[Grid, list[State]] = {}
    for state in frontier:
        by_first.setdefault(state[0], []).append(state)
    found = []
    for operation in operations:
        if not all(map(operation.can_make, targets)):
            continue
        if operation.is_one_to_one:
            origins = [operation.back(targets[0])]
        else:
            origins = [first for first in by_first if operation.run(first) == targets[0]]
        for state in (state for first in origins for state in by_first.get(first, ())):
            after = tuple(map(operation.run, state))
            if after[:-1] == targets and is_small(after[-1]):
                found.append(after[-1])
    return found
