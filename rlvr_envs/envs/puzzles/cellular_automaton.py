"""Cellular automata: the pattern some steps later."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rlvr_envs.core.errors import RowError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.words.names import joined
from rlvr_envs.verifiers.grids import read_grid, show_grid

Cells = tuple[str, ...]  # rows of 0s and 1s

_LIFE_LIKE = re.compile(r"B([0-8]*)/S([0-8]*)", re.ASCII)
_REDRAWS = 50  # of a problem in which too little happens
# Rules whose patterns neither die out nor freeze at once.
_LIVELY = ("B3/S23", "B36/S23", "B3/S12345", "B368/S245", "B3678/S34678", "B35678/S5678", "B2/S0")
KINDS = ("either", "elementary", "life_like")

# Side of the grid and steps on it of the first levels.
_GRIDS = ((4, 1), (5, 1), (6, 1), (5, 2), (6, 2), (7, 2), (6, 3), (7, 3), (8, 3), (7, 4), (8, 4))


@dataclass(frozen=True, slots=True, kw_only=True)
class CellularAutomatonConfig(TaskConfig):
    """The kind of automaton, its size, and how far ahead to look."""

    kind: Literal["either", "elementary", "life_like"] = knob(
        "either", "either: one of the two, drawn for each problem", choices=KINDS
    )
    width: int = knob(12, "cells of the row", low=5, high=200)
    row_steps: int = knob(5, "steps of an automaton on a row", low=1, high=100)
    side: int = knob(6, "rows and columns of the grid", low=4, high=40)
    grid_steps: int = knob(2, "steps of an automaton on a grid", low=1, high=100)

    @classmethod
    def at(cls, difficulty: int) -> "CellularAutomatonConfig":
        """More steps and cells; a step on a grid is more work, so there are fewer of them."""
        if difficulty < len(_GRIDS):
            side, grid_steps = _GRIDS[difficulty]
        else:
            side, grid_steps = min(3 + difficulty // 2, 40), min(1 + difficulty // 3, 100)
        return cls(
            width=min(7 + 2 * difficulty, 200),
            row_steps=min(1 + 2 * difficulty, 100),
            side=side,
            grid_steps=grid_steps,
        )


@dataclass(frozen=True, slots=True)
class CellularAutomatonProblem:
    """The rule is a number from 0 to 255 for a row, and like "B3/S23" for a grid."""

    rule: str
    wraps: bool
    start: Cells
    n_steps: int
    final: Cells = hidden()


@register("CellularAutomaton-v0", domain="puzzles", answer_format="tag")
class CellularAutomatonTask(Task[CellularAutomatonConfig, CellularAutomatonProblem]):
    """Predict a cellular automaton for some steps.

    Description:
        Either an elementary automaton, a row in which a cell's next value depends on its own and
        on its two neighbours' values, or a life-like one, a grid in which it depends on its own
        value and on how many of its eight neighbours are 1. Outside are 0s, or the edges wrap
        around. Runs that end all 0 or all 1, or in which a pattern occurs twice, are avoided.

    Observation:
        The rule in full, what happens at the edges, the pattern, and the number of steps.

    Action:
        The pattern after that many steps.

    Reward:
        1 if every cell is right, otherwise 0.

    Verification:
        The automaton is run. No known gaps.

    Difficulty:
        Patterns get larger, and the number of steps grows. Only size can grow: a mistake in one
        cell spreads to others with every step.

    References:
        Wolfram, "Statistical Mechanics of Cellular Automata", 1983. Gardner, "The Fantastic
        Combinations of John Conway's New Solitaire Game 'Life'", 1970.
    """

    def generate(self, rng: Rng) -> CellularAutomatonProblem:
        for _ in range(_REDRAWS):
            problem = self._draw(rng)
            if _is_eventful(problem):
                return problem
        return self._draw(rng)

    def _draw(self, rng: Rng) -> CellularAutomatonProblem:
        config = self.config
        row = config.kind == "elementary" or (config.kind == "either" and integer(rng, 0, 1) == 0)
        n_rows, n_columns = (1, config.width) if row else (config.side, config.side)
        n_steps = config.row_steps if row else config.grid_steps
        rule = str(integer(rng, 1, 254)) if row else _draw_life_like(rng)
        wraps = bool(integer(rng, 0, 1))
        start = tuple("".join(map(str, integers(rng, 0, 1, n_columns))) for _ in range(n_rows))
        final = patterns(rule, start, wraps, n_steps)[-1]
        return CellularAutomatonProblem(rule, wraps, start, n_steps, final)

    def prompt(self, problem: CellularAutomatonProblem) -> str:
        shape = "row" if len(problem.start) == 1 else "grid"
        steps = "1 step" if problem.n_steps == 1 else f"{problem.n_steps} steps"
        return (
            f"Each cell of a {shape} is 0 or 1. In each step, all cells change at the same time. "
            f"{_rule_in_words(problem)}\n\nThe {shape} at the start:\n\n"
            f"{show_grid(problem.start)}\n\nWhat does the {shape} look like after {steps}? Answer "
            f"with the {shape} in the same form."
        )

    def verify(self, problem: CellularAutomatonProblem, answer: str) -> Verdict:
        n_rows, n_columns = len(problem.start), len(problem.start[0])
        grid = read_grid(answer, n_rows, n_columns, "01")
        if grid is None:
            return Verdict.unparsable(
                f"expected {n_rows} x {n_columns} cells (rows x columns), each 0 or 1"
            )
        final = patterns(problem.rule, problem.start, problem.wraps, problem.n_steps)[-1]
        if tuple("".join(row) for row in grid) != final:
            return Verdict.wrong("at least one cell is wrong")
        return Verdict.correct()

    def solve(self, problem: CellularAutomatonProblem) -> str:
        return show_grid(problem.final)

    def explain(self, problem: CellularAutomatonProblem) -> list[str]:
        """Return for each step what is around the cells, and then the pattern after it."""
        found = patterns(problem.rule, problem.start, problem.wraps, problem.n_steps)
        steps = []
        for number, cells in enumerate(found[:-1], 1):
            after = show_grid(found[number])
            if len(cells) == 1:
                around = " ".join(_threes(cells[0], problem.wraps))
                steps.append(f"Step {number}: the cells with their neighbours are {around}")
                steps.append(f"After step {number}: {after}")
                continue
            counts = "\n".join(" ".join(map(str, row)) for row in _around(cells, problem.wraps))
            steps.append(f"Step {number}: this many of the cells around each cell are 1:\n{counts}")
            steps.append(f"After step {number}:\n{after}")
        return steps

    def effort(self, problem: CellularAutomatonProblem) -> int:
        """Count the cells looked at to work out the next values: three or nine for each."""
        looked_at = 3 if len(problem.start) == 1 else 9
        return looked_at * problem.n_steps * len(problem.start) * len(problem.start[0])

    def baseline(self, rng: Rng, problem: CellularAutomatonProblem) -> str:
        """Toss a coin for each cell."""
        return show_grid([[str(integer(rng, 0, 1)) for _ in row] for row in problem.start])


def patterns(rule: str, start: Cells, wraps: bool, n_steps: int) -> list[Cells]:
    """Return the patterns of an automaton, from the start to the one after some steps.

    Raises:
        RowError: there is no such rule.
    """
    life_like = _LIFE_LIKE.fullmatch(rule)
    if life_like is None and not (rule.isdecimal() and int(rule) < 256):
        raise RowError(f"no cellular automaton has the rule {rule!r:.80}")
    found = [start]
    for _ in range(n_steps):
        if life_like is None:
            found.append((_row_step(int(rule), found[-1][0], wraps),))
        else:
            found.append(_grid_step(life_like[1], life_like[2], found[-1], wraps))
    return found


def _is_eventful(problem: CellularAutomatonProblem) -> bool:
    """Return whether no pattern occurs twice and the last one has both 0s and 1s."""
    found = patterns(problem.rule, problem.start, problem.wraps, problem.n_steps)
    return len(set(found)) == len(found) and len(set("".join(problem.final))) == 2


def _row_step(rule: int, row: str, wraps: bool) -> str:
    return "".join(str(rule >> int(three, 2) & 1) for three in _threes(row, wraps))


def _threes(row: str, wraps: bool) -> list[str]:
    """Return each cell with its two neighbours."""
    padded = f"{row[-1]}{row}{row[0]}" if wraps else f"0{row}0"
    return [padded[i : i + 3] for i in range(len(row))]


def _grid_step(birth: str, survival: str, cells: Cells, wraps: bool) -> Cells:
    return tuple(
        "".join(
            "01"[str(count) in (survival if cell == "1" else birth)]
            for cell, count in zip(row, counts, strict=True)
        )
        for row, counts in zip(cells, _around(cells, wraps), strict=True)
    )


def _around(cells: Cells, wraps: bool) -> list[list[int]]:
    """Return how many of the cells around each cell are 1."""
    width = len(cells[0])
    empty = "0" * width
    rows = (cells[-1], *cells, cells[0]) if wraps else (empty, *cells, empty)
    padded = [f"{row[-1]}{row}{row[0]}" if wraps else f"0{row}0" for row in rows]
    found = []
    for above, row, below in zip(padded, padded[1:], padded[2:], strict=False):
        alive = [(above[j] + row[j] + below[j]).count("1") for j in range(width + 2)]
        own = row[1:-1]
        found.append([sum(alive[j : j + 3]) - int(cell) for j, cell in enumerate(own)])
    return found


def _draw_life_like(rng: Rng) -> str:
    """Draw a well-known rule, or one in which no cell comes to life out of nothing."""
    if integer(rng, 0, 1):
        return pick(rng, _LIVELY)
    birth = "".join(str(count) for count in range(1, 9) if not integer(rng, 0, 2))
    survival = "".join(str(count) for count in range(9) if integer(rng, 0, 1))
    return f"B{birth or 3}/S{survival or 23}"


def _rule_in_words(problem: CellularAutomatonProblem) -> str:
    life_like = _LIFE_LIKE.fullmatch(problem.rule)
    if life_like is None:
        table = "\n".join(f"{i:03b} -> {int(problem.rule) >> i & 1}" for i in range(7, -1, -1))
        edges = (
            "The row is a ring: the first and the last cell are neighbours."
            if problem.wraps
            else "Outside the row, all cells count as 0."
        )
        return (
            "This table gives the new value of a cell for the old values of its left neighbour, "
            f"the cell itself and its right neighbour, in this order:\n\n{table}\n\n{edges}"
        )
    edges = (
        "The grid wraps around: the first row is below the last row, and the first column is to "
        "the right of the last column."
        if problem.wraps
        else "Outside the grid, all cells count as 0."
    )
    return (
        "The new value of a cell depends on its old value and on how many of its eight neighbours, "
        f"including diagonal ones, are 1. {_change('A 0 becomes 1', life_like[1], 'stays 0')} "
        f"{_change('A 1 stays 1', life_like[2], 'becomes 0')} {edges}"
    )


def _change(what: str, counts: Sequence[str], otherwise: str) -> str:
    """Return when a cell gets a value, given the counts of neighbours that are 1."""
    if not counts:
        return f"{what[:3]} always {otherwise}."
    verb = "is" if counts == "1" else "are"
    return f"{what} if {joined(list(counts), 'or')} of them {verb} 1; otherwise it {otherwise}."
