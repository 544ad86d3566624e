"""Lights out: press cells until every light is off."""

from dataclasses import dataclass
from functools import cache
from itertools import combinations, islice

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.grids.cells import bits, neighbours, read_cells, show_cells
from rlvr_envs.verifiers.grids import show_grid

_ON, _OFF = "1", "0"
_FEW = (
    "A solution with as few presses as possible earns full marks; a longer one earns the fewest "
    "possible presses divided by its own."
)
_LARGEST = 50  # side
_MOST_GUESSES = 20_000  # at the presses in the first row, to measure effort

# Rows, columns and presses of the first levels.
_LEVELS = (
    *((5, 5, 3), (5, 5, 5), (5, 5, 8), (5, 6, 9), (6, 6, 12), (6, 7, 14), (7, 7, 18), (7, 8, 21)),
    *((8, 8, 25), (8, 9, 29), (9, 10, 35)),
)
_MAX_SIDE = 16  # up to here the shortest solution is found; at most 2**16 are compared


@dataclass(frozen=True, slots=True, kw_only=True)
class LightsOutConfig(TaskConfig):
    """The size of the board, and how many presses make the position."""

    n_rows: int = knob(5, "rows of the board", low=2, high=_LARGEST)
    n_columns: int = knob(5, "columns of the board", low=2, high=_LARGEST)
    n_presses: int = knob(8, "cells pressed to make the position, or up to a quarter fewer")
    optimal_only: bool = knob(False, "a shortest solution earns 1, a longer one shortest/length")

    def check(self) -> None:
        n_cells = self.n_rows * self.n_columns
        if not 1 <= self.n_presses <= n_cells:
            raise ConfigError(
                f"n_presses must be from 1 to the {n_cells} cells, got {self.n_presses}"
            )
        if self.optimal_only and min(self.n_rows, self.n_columns) > _MAX_SIDE:
            raise ConfigError(
                f"optimal_only needs n_rows or n_columns of at most {_MAX_SIDE}, got {self}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "LightsOutConfig":
        """More presses overlap on a 5x5 board up to level 2, then the board grows with them."""
        if difficulty < len(_LEVELS):
            n_rows, n_columns, n_presses = _LEVELS[difficulty]
        else:
            n_rows = min(_LARGEST, 4 + difficulty // 2)
            n_columns = min(_LARGEST, 5 + (difficulty + 1) // 2)
            n_presses = n_rows * n_columns * 2 // 5
        return cls(n_rows=n_rows, n_columns=n_columns, n_presses=n_presses)


@dataclass(frozen=True, slots=True)
class LightsOutProblem:
    """The lights, row by row, and presses that put them out."""

    lights: tuple[str, ...]
    presses: tuple[int, ...] = hidden()  # as few as are known; cells from 0, row by row


@register("LightsOut-v0", domain="puzzles")
class LightsOutTask(Task[LightsOutConfig, LightsOutProblem]):
    """Switch every light off, where a press also toggles the adjacent lights.

    Description:
        The position is made by pressing random cells of a board with all lights off, so it can be
        solved.

    Observation:
        The board, ``1`` for a light that is on and ``0`` for one that is off.

    Action:
        The cells to press, as pairs (row, column), each at most once; their order does not matter.

    Reward:
        1 if every light is off in the end, otherwise 0. With ``optimal_only``, a solution with more
        presses than the shortest earns the shortest number divided by its own.

    Verification:
        The presses are carried out. Pressing is linear over the field of two elements: the shortest
        solution is the best of one solution plus each element of the kernel. No known gaps.

    Difficulty:
        At first a few presses stand apart, and each shows. With more of them the patterns overlap,
        and on larger boards nothing but the lights of the row above tells where to press, for each
        guess at the first row.

    References:
        Anderson and Feil, "Turning Lights Out with Linear Algebra", Mathematics Magazine, 1998.
    """

    def generate(self, rng: Rng) -> LightsOutProblem:
        config = self.config
        masks = _masks(config.n_rows, config.n_columns)
        kernel = _kernel(config.n_rows, config.n_columns)
        order = rng.permutation(len(masks)).tolist()
        n_presses = integer(rng, config.n_presses - config.n_presses // 4, config.n_presses)
        pressed = sum(1 << cell for cell in order[:n_presses])
        if not _lights(pressed, masks):  # without one of its presses it does something
            pressed ^= 1 << order[0]
        if len(kernel) <= _MAX_SIDE:
            pressed = _shortest(pressed, kernel)
        lights = _lights(pressed, masks)
        rows = tuple(
            "".join(
                _ON if lights >> (r * config.n_columns + c) & 1 else _OFF
                for c in range(config.n_columns)
            )
            for r in range(config.n_rows)
        )
        return LightsOutProblem(rows, tuple(bits(pressed)))

    def prompt(self, problem: LightsOutProblem) -> str:
        n_rows, n_columns = len(problem.lights), len(problem.lights[0])
        few = f" {_FEW}" if self.config.optimal_only else ""
        return (
            f"Every cell of a board with {n_rows} rows and {n_columns} columns has a light "
            f"({_ON} is on, {_OFF} is off):\n\n{show_grid(problem.lights)}\n\nPressing a cell "
            "toggles its own light and the lights of the cells directly above, below, to the left "
            "and to the right of it, where they exist: on becomes off, and off becomes on. Find "
            "cells to press so that all lights are off in the end. Press each cell at most once; "
            f"the order does not matter.{few} Answer with the cells as pairs (row, column), "
            "separated by commas. Rows and columns are numbered from 1 from the top left: (1, 2) "
            "is the cell in row 1, column 2."
        )

    def verify(self, problem: LightsOutProblem, answer: str) -> Verdict:
        n_rows, n_columns = len(problem.lights), len(problem.lights[0])
        cells = read_cells(answer, n_rows, n_columns)
        if cells is None:
            return Verdict.unparsable("expected cells of the board such as (1, 2), (3, 1)")
        if len(set(cells)) < len(cells):
            return Verdict.wrong("a cell occurs twice")
        pressed = sum(1 << cell for cell in cells)
        left = _position(problem) ^ _lights(pressed, _masks(n_rows, n_columns))
        if left:
            return Verdict.wrong(f"{left.bit_count()} lights are on in the end")
        if not self.config.optimal_only or len(cells) <= len(problem.presses):
            return Verdict.correct(presses=float(len(cells)))
        share = len(problem.presses) / len(cells)
        return Verdict.graded(
            share, "solved, with more presses than needed", presses=float(len(cells))
        )

    def solve(self, problem: LightsOutProblem) -> str:
        return show_cells(problem.presses, len(problem.lights[0]))

    def explain(self, problem: LightsOutProblem) -> list[str]:
        """Return row by row what is pressed, which below the first row the lights above force."""
        n_rows, n_columns = len(problem.lights), len(problem.lights[0])
        masks, lights = _masks(n_rows, n_columns), _position(problem)
        steps = []
        for row in range(n_rows):
            cells = [cell for cell in problem.presses if cell // n_columns == row]
            lights ^= _lights(sum(1 << cell for cell in cells), masks)
            marks = [_ON if lights >> cell & 1 else _OFF for cell in range(len(masks))]
            board = show_grid([marks[i : i + n_columns] for i in range(0, len(marks), n_columns)])
            why = (
                f"For the lights of row {row}, press in row {row + 1}" if row else "Press in row 1"
            )
            steps.append(f"{why}: {show_cells(cells, n_columns) or 'nothing'}. Then:\n{board}")
        return steps

    def effort(self, problem: LightsOutProblem) -> int:
        """Count the cells passed by one who guesses the first row, and then follows the lights.

        Guesses with few presses come first; in each row below, the lights left above are put out.
        """
        return _guesses(problem) * len(problem.lights) * len(problem.lights[0])

    def baseline(self, rng: Rng, problem: LightsOutProblem) -> str:
        """Press while that puts out more lights than it lights, most first, at most once a cell."""
        n_columns = len(problem.lights[0])
        masks = _masks(len(problem.lights), n_columns)
        lights, chosen = _position(problem), set[int]()
        while lights:
            gains = [
                (2 * (lights & mask).bit_count() - mask.bit_count(), -cell)
                for cell, mask in enumerate(masks)
                if cell not in chosen
            ]
            gain, cell = max(gains, default=(0, 0))
            if gain <= 0:
                break
            chosen.add(-cell)
            lights ^= masks[-cell]
        return show_cells(sorted(chosen) or [0], n_columns)


def _masks(n_rows: int, n_columns: int) -> list[int]:
    """Return the lights that each press changes, as bits."""
    return [
        sum(1 << other for other in (cell, *beside))
        for cell, beside in enumerate(neighbours(n_rows, n_columns))
    ]


def _lights(pressed: int, masks: list[int]) -> int:
    lights = 0
    for cell in bits(pressed):
        lights ^= masks[cell]
    return lights


def _position(problem: LightsOutProblem) -> int:
    return int("".join(problem.lights)[::-1], 2)


def _guesses(problem: LightsOutProblem) -> int:
    """Return how many presses of the first row are tried until one puts out all lights."""
    width = len(problem.lights[0])
    rows = [int(row, 2) for row in problem.lights]
    patterns = (
        sum(1 << place for place in places)
        for count in range(width + 1)
        for places in combinations(range(width), count)
    )
    guesses = 0
    for pattern in islice(patterns, _MOST_GUESSES):
        guesses += 1
        above, pressed = 0, pattern
        for row in rows:
            spread = (pressed ^ pressed << 1 ^ pressed >> 1) & (1 << width) - 1
            above, pressed = pressed, row ^ above ^ spread
        if not pressed:
            break
    return guesses


@cache
def _kernel(n_rows: int, n_columns: int) -> list[int]:
    """Return a basis of the presses that change nothing."""
    pivots: list[tuple[int, int, int]] = []  # lights, the presses behind them, their lowest light
    kernel = []
    for cell, changed in enumerate(_masks(n_rows, n_columns)):
        lights, pressed = changed, 1 << cell
        for pivot, behind, low in pivots:
            if lights & low:
                lights, pressed = lights ^ pivot, pressed ^ behind
        if lights:
            pivots.append((lights, pressed, lights & -lights))
        else:
            kernel.append(pressed)
    return kernel


def _shortest(pressed: int, kernel: list[int]) -> int:
    """Return the solution with the fewest presses; they are walked through in Gray code."""
    best = pressed
    for step in range(1, 2 ** len(kernel)):
        pressed ^= kernel[(step & -step).bit_length() - 1]
        if (pressed.bit_count(), pressed) < (best.bit_count(), best):
            best = pressed
    return best
