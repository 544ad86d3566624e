"""Lights out: press cells until every light is off."""

from dataclasses import dataclass

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
_MAX_SIDE = 16  # up to here the shortest solution is found; at most 2**16 are compared


@dataclass(frozen=True, slots=True, kw_only=True)
class LightsOutConfig(TaskConfig):
    """The size of the board, and how many presses make the position."""

    n_rows: int = knob(5, "rows of the board", low=2, high=_LARGEST)
    n_columns: int = knob(5, "columns of the board", low=2, high=_LARGEST)
    n_presses: int = knob(8, "cells pressed to make the position, at most; at least half as many")
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
        """Each level adds a row or a column, and up to two presses."""
        return cls(
            n_rows=min(_LARGEST, 3 + difficulty // 2),
            n_columns=min(_LARGEST, 3 + (difficulty + 1) // 2),
            n_presses=min(_LARGEST**2, 3 + 2 * difficulty),
        )


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
        The board and the number of presses grow.

    References:
        Anderson and Feil, "Turning Lights Out with Linear Algebra", Mathematics Magazine, 1998.
    """

    def generate(self, rng: Rng) -> LightsOutProblem:
        config = self.config
        masks = _masks(config.n_rows, config.n_columns)
        kernel, _ = _eliminate(config.n_rows, config.n_columns)
        order = rng.permutation(len(masks)).tolist()
        n_presses = integer(rng, (config.n_presses + 1) // 2, config.n_presses)
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
        """Return the row additions of an elimination, and the solutions compared."""
        kernel, additions = _eliminate(len(problem.lights), len(problem.lights[0]))
        return additions + (1 << len(kernel))

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


def _eliminate(n_rows: int, n_columns: int) -> tuple[list[int], int]:
    """Return a basis of the presses that change nothing, and the row additions it took."""
    pivots: list[tuple[int, int, int]] = []  # lights, the presses behind them, their lowest light
    kernel, additions = [], 0
    for cell, changed in enumerate(_masks(n_rows, n_columns)):
        lights, pressed = changed, 1 << cell
        for pivot, behind, low in pivots:
            if lights & low:
                lights, pressed = lights ^ pivot, pressed ^ behind
                additions += 1
        if lights:
            pivots.append((lights, pressed, lights & -lights))
        else:
            kernel.append(pressed)
    return kernel, additions


def _shortest(pressed: int, kernel: list[int]) -> int:
    """Return the solution with the fewest presses; they are walked through in Gray code."""
    best = pressed
    for step in range(1, 2 ** len(kernel)):
        pressed ^= kernel[(step & -step).bit_length() - 1]
        if (pressed.bit_count(), pressed) < (best.bit_count(), best):
            best = pressed
    return best
