"""Grid transformation: find the rule behind examples, and apply it."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.envs.puzzles._grid_rules import (
    DESCRIPTIONS,
    MAX_SIDE,
    Grid,
    described,
    fits,
    language,
    run_program,
)
from rlvr_envs.envs.puzzles._puzzle import PuzzleTask
from rlvr_envs.verifiers.grids import read_grid, show_grid

MAX_LENGTH = 3  # of a program: all programs up to this length are tried
MAX_COLOURS = 5
_REDRAWS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class GridTransformationConfig:
    """The length of the rule, and what the examples look like."""

    length: int = 2  # operations in a row
    n_examples: int = 3
    n_colours: int = 3
    min_side: int = 3
    max_side: int = 5

    def __post_init__(self) -> None:
        if not 1 <= self.length <= MAX_LENGTH or not 1 <= self.n_colours <= MAX_COLOURS:
            raise ConfigError(
                f"length is from 1 to {MAX_LENGTH} and n_colours from 1 to {MAX_COLOURS}, got "
                f"{self}"
            )
        if not 2 <= self.n_examples <= 10:
            raise ConfigError(f"n_examples is from 2 to 10, got {self.n_examples}")
        if not 3 <= self.min_side <= self.max_side <= MAX_SIDE // 2:
            raise ConfigError(
                f"min_side is from 3 and max_side from min_side to {MAX_SIDE // 2}, got {self}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "GridTransformationConfig":
        """Grids get larger and more colourful; from 4 the rule has two steps, from 8 three."""
        return cls(
            length=min(1 + difficulty // 4, MAX_LENGTH),
            n_colours=min(2 + difficulty // 3, MAX_COLOURS),
            min_side=min(3 + difficulty // 4, MAX_SIDE // 2),
            max_side=min(3 + difficulty // 2, MAX_SIDE // 2),
        )


@dataclass(frozen=True, slots=True)
class Example:
    """A grid and what the rule makes of it, as rows of digits."""

    given: Grid
    made: Grid


@dataclass(frozen=True, slots=True)
class GridTransformationProblem:
    """Examples of a rule of at most ``length`` operations, and another grid."""

    length: int
    n_colours: int
    examples: tuple[Example, ...]
    test: Grid
    program: tuple[str, ...] = hidden()


@register("GridTransformation-v0", domain="puzzles", answer_format="tag")
class GridTransformationTask(PuzzleTask[GridTransformationConfig, GridTransformationProblem]):
    """Infer a transformation of grids from examples, and apply it to another grid.

    Description:
        The rule is a sequence of operations out of a stated list, such as turning, shifting,
        falling, recolouring and cropping. No shorter sequence fits the examples, and all
        sequences up to the stated length that fit them agree on the test grid.

    Observation:
        The possible operations, the examples, and the test grid.

    Action:
        What the rule makes of the test grid.

    Reward:
        1 if every cell is right, otherwise 0.

    Episode End:
        After one step.

    Verification:
        The rule is applied. That the examples leave no other answer is proven by trying all
        sequences of operations up to the stated length. No known gaps.

    Difficulty:
        Grids and the number of colours grow, and so does the length of the rule, up to three.

    References:
        Chollet, "On the Measure of Intelligence", 2019 (arXiv:1911.01547).

    Version History:
        v0: first version.
    """

    def generate(self, rng: Rng) -> GridTransformationProblem:
        config = self.config
        for _ in range(_REDRAWS):
            problem = self._draw(rng)
            if problem is not None and self._is_sound(problem):
                return problem
        # A test grid that is an example leaves no doubt whatever the rule.
        given = self._grid(rng)
        example = Example(given, _transformed(("rotate right",), given))
        return GridTransformationProblem(
            config.length,
            config.n_colours,
            (example,) * config.n_examples,
            given,
            ("rotate right",),
        )

    def _draw(self, rng: Rng) -> GridTransformationProblem | None:
        """Draw a rule and grids; None if a grid would become too large."""
        config = self.config
        operations = language(config.n_colours)
        program = tuple(pick(rng, operations) for _ in range(config.length))
        grids = [self._grid(rng) for _ in range(config.n_examples + 1)]
        made = [run_program(program, grid) for grid in grids]
        if None in made:
            return None
        *given, test = grids
        examples = tuple(Example(g, m) for g, m in zip(given, made, strict=False) if m is not None)
        return GridTransformationProblem(config.length, config.n_colours, examples, test, program)

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
        pairs = [(example.given, example.made) for example in problem.examples]
        found = fits(pairs, problem.test, problem.n_colours, problem.length)
        return found.outputs == {answer: problem.length}

    def prompt(self, problem: GridTransformationProblem) -> str:
        operations = "\n".join(f"- {words}" for words in DESCRIPTIONS)
        examples = "\n\n".join(
            f"Input {i}:\n{show_grid(example.given)}\n\nOutput {i}:\n{show_grid(example.made)}"
            for i, example in enumerate(problem.examples, start=1)
        )
        most = (
            "one operation out of this list"
            if problem.length == 1
            else f"at most {problem.length} operations out of this list, done one after the other"
        )
        colours = "1" if problem.n_colours == 1 else f"1 to {problem.n_colours}"
        return (
            "A rule turns each input grid into its output grid. In the grids, 0 is the background; "
            f"the colours are {colours}. The rule consists of {most}, the same for every grid; no "
            f"grid on the way has more than {MAX_SIDE} rows or columns:\n\n{operations}\n\n"
            f"{examples}\n\n"
            f"Test input:\n{show_grid(problem.test)}\n\nWhat is the output for the test input? The "
            "examples leave only one possibility. Answer with the output grid in the same form."
        )

    def verify(self, problem: GridTransformationProblem, answer: str) -> Verdict:
        expected = _transformed(problem.program, problem.test)
        grid = read_grid(answer, len(expected), len(expected[0]), "0123456789")
        if grid is None:
            return Verdict.unparsable("expected a grid of digits of the right size")
        if tuple("".join(row) for row in grid) != expected:
            return Verdict.wrong("not every cell is right")
        return Verdict.correct()

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
        pairs = [(example.given, example.made) for example in problem.examples]
        return fits(pairs, problem.test, problem.n_colours, problem.length).tried

    def guess(self, problem: GridTransformationProblem, rng: Rng) -> str:
        """Try one operation at random."""
        made = run_program((pick(rng, language(problem.n_colours)),), problem.test)
        return show_grid(made or problem.test)


def _transformed(program: tuple[str, ...], grid: Grid) -> Grid:
    """Return what a program makes of a grid that it does not make too large."""
    return run_program(program, grid) or grid
