"""Maze: the moves from the start to the goal."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.grids.cells import neighbours, show_cells
from rlvr_envs.generators.grids.mazes import (
    FREE,
    GOAL,
    MOVES,
    START,
    WALL,
    apart,
    distances,
    draw_maze,
    step,
)
from rlvr_envs.generators.moves.scoring import SHORTEST_WANTED, graded, plural
from rlvr_envs.verifiers.grids import read_moves, show_grid

_MAX_SIDE = 200
_DENSEST = 4  # a way has at most one move for so many cells, so that it can be drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class MazeConfig(TaskConfig):
    """The size of the maze, and the shape of its only shortest path."""

    n_rows: int = knob(10, "rows of the board", low=3, high=_MAX_SIDE)
    n_columns: int = knob(10, "columns of the board", low=3, high=_MAX_SIDE)
    path_length: int = knob(15, "moves of the shortest path")
    n_turns: int = knob(5, "changes of direction on the shortest path")
    n_loops: int = knob(3, "cells opened, where possible, to make other, longer paths", low=0)
    optimal_only: bool = knob(False, "the shortest path earns 1, a longer one shortest/length")

    def check(self) -> None:
        longest = max(3, self.n_rows * self.n_columns // _DENSEST)
        if not 2 <= self.path_length <= longest:
            raise ConfigError(f"need path_length from 2 to a quarter of the cells, got {self}")
        straight = max(self.n_rows, self.n_columns) - 1
        fewest = max(0, -(-self.path_length // straight) - 1)
        if not fewest <= self.n_turns < self.path_length:
            raise ConfigError(
                f"a path of {self.path_length} moves in this maze has from {fewest} to "
                f"{self.path_length - 1} turns, got {self}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "MazeConfig":
        """Each level adds two rows and columns; the path and its turns grow faster and faster."""
        difficulty = min(difficulty, (_MAX_SIDE - 5) // 2)
        path_length = 5 + 4 * difficulty + difficulty * difficulty // 2
        return cls(
            n_rows=5 + 2 * difficulty,
            n_columns=5 + 2 * difficulty,
            path_length=path_length,
            n_turns=max(2, path_length // 3),
            n_loops=difficulty,
        )


@dataclass(frozen=True, slots=True)
class MazeProblem:
    """The maze, row by row, and the only shortest path."""

    rows: tuple[str, ...]
    moves: str = hidden()


@register("Maze-v0", domain="puzzles")
class MazeTask(Task[MazeConfig, MazeProblem]):
    """Walk through a maze of cells from the start to the goal.

    Description:
        A random path of a given length and number of turns is planted. Branches grow from it and
        from each other without meeting. Then some cells are opened that make other paths, all
        longer than the planted one. Where no path of the given shape is found soon, it is shorter.

    Observation:
        The maze: ``#`` for a wall, ``.`` for a free cell, ``S`` for the start, ``G`` for the goal.

    Action:
        The moves as letters: ``U`` (up), ``D`` (down), ``L`` (left), ``R`` (right).

    Reward:
        1 for any path to the goal, otherwise 0. With ``optimal_only``, a path longer than the
        shortest earns the shortest length divided by its own.

    Verification:
        The moves are carried out: none may leave the board or enter a wall, and the last one must
        end at the goal. At most four moves for each cell of the board are read. The planted path
        is the only shortest one by construction. No known gaps.

    Difficulty:
        The board, the length of the path, its turns and the loops grow, each by its own knob. Only
        size grows here: a longer path passes more branches and loops, which lead astray.

    References:
        "Ariadne: A Controllable Framework for Probing and Extending VLM Reasoning Boundaries",
        2025, for path length and number of turns as knobs.
    """

    def generate(self, rng: Rng) -> MazeProblem:
        config = self.config
        shape = (config.n_rows, config.n_columns)
        return MazeProblem(
            *draw_maze(rng, shape, config.path_length, config.n_turns, config.n_loops)
        )

    def prompt(self, problem: MazeProblem) -> str:
        wanted = SHORTEST_WANTED if self.config.optimal_only else "Any such path is correct."
        return (
            f"In this maze, {WALL} is a wall, {FREE} is a free cell, {START} is the start and "
            f"{GOAL} is the goal:\n\n{show_grid(problem.rows)}\n\nFind a path from {START} to "
            f"{GOAL}. Each move goes one cell up (U), down (D), left (L) or right (R). You may not "
            f"leave the maze or enter a wall, and the last move must end at {GOAL}. Use at most "
            f"{_limit(problem)} moves. {wanted} Answer with the moves as one string of letters, "
            "such as RDUL."
        )

    def verify(self, problem: MazeProblem, answer: str) -> Verdict:
        moves = read_moves(answer, {move: move for move in MOVES}, limit=_limit(problem))
        if moves is None:
            return Verdict.unparsable(
                f"expected at most {_limit(problem)} moves, each U, D, L or R"
            )
        cells, shape = "".join(problem.rows), (len(problem.rows), len(problem.rows[0]))
        cell = cells.index(START)
        for i, move in enumerate(moves, 1):
            after = step(cell, move, *shape)
            if after is None or cells[after] == WALL:
                place = "a wall" if after is not None else "the border"
                return Verdict.wrong(f"move {i} ({move}) runs into {place}")
            cell = after
        if cells[cell] != GOAL:
            return Verdict.wrong("the last move does not end at the goal")
        return graded(len(moves), len(problem.moves), optimal_only=self.config.optimal_only)

    def solve(self, problem: MazeProblem) -> str:
        return problem.moves

    def explain(self, problem: MazeProblem) -> list[str]:
        """Return the cells that each number of moves reaches, and the way back from the goal."""
        cells, shape = "".join(problem.rows), (len(problem.rows), len(problem.rows[0]))
        open_cells = {cell for cell, mark in enumerate(cells) if mark != WALL}
        goal = cells.index(GOAL)
        reached = distances(shape, open_cells, cells.index(START))
        steps = []
        for length in range(1, reached[goal] + 1):
            layer = show_cells((c for c, far in reached.items() if far == length), shape[1])
            steps.append(f"First reached by {plural(length, 'move')}: (row, column) {layer}")
        way = [goal]
        while reached[way[-1]]:
            way.append(
                next(
                    c
                    for c in neighbours(*shape)[way[-1]]
                    if c in open_cells and reached[c] < reached[way[-1]]
                )
            )
        steps.append(f"Back from the goal, each cell one move nearer: {show_cells(way, shape[1])}")
        return steps

    def effort(self, problem: MazeProblem) -> int:
        """Return the cells that a breadth-first search reaches before the goal."""
        cells, shape = "".join(problem.rows), (len(problem.rows), len(problem.rows[0]))
        open_cells = {cell for cell, mark in enumerate(cells) if mark != WALL}
        reached = distances(shape, open_cells, cells.index(START))
        return list(reached).index(cells.index(GOAL))

    def baseline(self, rng: Rng, problem: MazeProblem) -> str:
        """Go to a new cell as near to the goal as the crow flies, until there is none."""
        cells, shape = "".join(problem.rows), (len(problem.rows), len(problem.rows[0]))
        cell, goal = cells.index(START), cells.index(GOAL)
        seen, moves = {cell}, ""
        while cell != goal:
            options = [(move, step(cell, move, *shape)) for move in MOVES]
            new = [
                (apart(after, goal, shape[1]), move, after)
                for move, after in options
                if after is not None and cells[after] != WALL and after not in seen
            ]
            if not new:
                break
            least = min(new)[0]
            _, move, cell = pick(rng, [option for option in new if option[0] == least])
            seen.add(cell)
            moves += move
        return moves


def _limit(problem: MazeProblem) -> int:
    return 4 * len(problem.rows) * len(problem.rows[0])
