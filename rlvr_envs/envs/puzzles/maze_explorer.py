"""Maze explorer: find the goal of a maze, seeing only the cells around."""

from dataclasses import dataclass, replace

from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.task import InteractiveTask, Reply
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.grids.cells import show_cell
from rlvr_envs.generators.grids.mazes import FREE, GOAL, MOVES, START, WALL, draw_maze, step
from rlvr_envs.generators.moves.scoring import plural
from rlvr_envs.generators.moves.seals import seal
from rlvr_envs.generators.moves.turns import TURNS_AT_MOST, boxed
from rlvr_envs.verifiers.grids import read_moves, show_grid

_YOU = "@"
_BOXED = answer_format("boxed")
_MOVES_AT_MOST = 1000  # of one message
_LETTERS = {letter: letter for letter in MOVES}


@dataclass(frozen=True, slots=True, kw_only=True)
class MazeExplorerConfig(TaskConfig):
    """The size of the maze, and the path from start to goal."""

    n_rows: int = knob(9, "rows of the board", low=3)
    n_columns: int = knob(9, "columns of the board", low=3)
    path_length: int = knob(12, "moves of the only shortest path")
    n_turns: int = knob(4, "changes of direction on the shortest path")
    n_loops: int = knob(2, "cells opened, where possible, to make other, longer paths", low=0)
    view: int = knob(1, "cells that are visible in each direction", low=1, high=100)
    tells_place: bool = knob(True, "whether the player is told its row and column")

    def check(self) -> None:
        n_cells = self.n_rows * self.n_columns
        if n_cells > TURNS_AT_MOST:
            raise ConfigError(f"need n_rows * n_columns <= {TURNS_AT_MOST}, got {self}")
        if not 2 <= self.path_length <= max(3, n_cells // 4):
            raise ConfigError(f"need path_length from 2 to a quarter of the cells, got {self}")
        straight = max(self.n_rows, self.n_columns) - 1
        fewest = max(0, -(-self.path_length // straight) - 1)
        if not fewest <= self.n_turns < self.path_length:
            raise ConfigError(f"need n_turns in {fewest}..{self.path_length - 1}, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "MazeExplorerConfig":
        """The path grows with each level, the board with most of them, up to 37 rows and columns.

        Below level 3 the player sees two cells far, then one. From level 6 on it is not told its
        position.
        """
        level = min(difficulty, 40)
        side = 6 + 6 * max(0, level - 3) // 7
        path_length = min(3 + 2 * level + level * level // 8, side * side // 4)
        return cls(
            n_rows=side,
            n_columns=side,
            path_length=path_length,
            n_turns=path_length // 3,
            n_loops=level // 2,
            view=2 if level < 3 else 1,
            tells_place=level < 6,
        )


@dataclass(frozen=True, slots=True)
class MazeExplorerProblem:
    """What the player knows at the start; the maze is hidden. Cells are numbered from 0."""

    n_rows: int
    n_columns: int
    start: int
    surroundings: tuple[str, ...]  # of the start
    n_turns: int
    seal: str  # of the maze
    rows: tuple[str, ...] = hidden()
    moves: str = hidden()  # the only shortest path
    tells_place: bool = True


class MazeExplorerSession:
    """One episode: walk as far as a message says, and see what is around."""

    def __init__(self, problem: MazeExplorerProblem) -> None:
        self._problem = problem
        self._cell = problem.start
        self._turns = self._moves = 0

    def reply(self, action: str) -> Reply:
        """Make the moves of a message until a wall is in the way or the goal is reached."""
        problem = self._problem
        self._turns += 1
        found = _BOXED.extract(action)
        moves = read_moves(found.answer or "", _LETTERS, limit=_MOVES_AT_MOST)
        if moves is None:
            told = "There were no moves in your message. Give moves (U, D, L or R) in \\boxed{}."
        else:
            told = self._walk(moves)
        if self._mark() == GOAL:
            return Reply(
                "You are at the goal.", Verdict.correct("the goal is reached", **self._parts())
            )
        left = problem.n_turns - self._turns
        if left < 1:
            reason = f"the goal was not reached within {plural(problem.n_turns, 'message')}"
            verdict = Verdict.wrong(reason, **self._parts())
            return Reply("", verdict, void=moves is None, out_of_turns=True)
        view = show_grid(_surroundings(problem.rows, self._cell, len(problem.surroundings) // 2))
        if problem.tells_place:
            told += f" You are at {show_cell(self._cell, problem.n_columns)}."
        return Reply(f"{view}\n\n{told} ({plural(left, 'message')} left.)", void=moves is None)

    def _walk(self, moves: list[str]) -> str:
        problem = self._problem
        for i, move in enumerate(moves):
            after = step(self._cell, move, problem.n_rows, problem.n_columns)
            if after is None or "".join(problem.rows)[after] == WALL:
                return f"A wall was in the way after {plural(i, 'move')}."
            self._cell = after
            self._moves += 1
            if self._mark() == GOAL:
                break
        return f"You made {plural(len(moves), 'move')}."

    def _mark(self) -> str:
        return self._problem.rows[self._cell // self._problem.n_columns][
            self._cell % self._problem.n_columns
        ]

    def _parts(self) -> dict[str, float]:
        return {
            "turns": float(self._turns),
            "moves": float(self._moves),
            "shortest": float(len(self._problem.moves)),
        }


@register("MazeExplorer-v0", domain="puzzles", max_turns=TURNS_AT_MOST)
class MazeExplorerTask(InteractiveTask[MazeExplorerConfig, MazeExplorerProblem]):
    r"""Find the goal of a maze, seeing only the cells around.

    Description:
        A maze as in `Maze-v0`, but hidden: after each message, the player sees only the cells
        around its position. Remembering what was seen is a part of the task.

    Observation:
        The rules, the size of the board and the cells around the start; then, after each message,
        the cells around the new position and the messages left. At low levels also the row and
        column of the position.

    Action:
        A message with moves in `\boxed{}`, each U, D, L or R. They are made one after the other
        until a wall is in the way.

    Reward:
        1 when the goal is reached, 0 when the messages run out.

    Episode End:
        At the goal, or when no messages are left.

    Verification:
        The moves are made. There are twice as many messages as the oracle needs, which walks in
        each message to the nearest cell from where it sees more, and uses only what it was shown.
        The verdict's parts say how many moves were made and how many the shortest path has.
        No known gaps.

    Difficulty:
        The board, the length of the path, its turns and the loops grow. The player first sees two
        cells far, then one, and later has to keep track of its position.

    References:
        Tarry, "Le problème des labyrinthes", Nouvelles Annales de Mathématiques, 1895, for
        exploring a maze from within.
    """

    def generate(self, rng: Rng) -> MazeExplorerProblem:
        config = self.config
        shape = (config.n_rows, config.n_columns)
        rows, moves = draw_maze(rng, shape, config.path_length, config.n_turns, config.n_loops)
        cells = "".join(rows)
        start = cells.index(START)
        problem = MazeExplorerProblem(
            n_rows=config.n_rows,
            n_columns=config.n_columns,
            start=start,
            surroundings=_surroundings(rows, start, config.view),
            n_turns=len(cells),
            seal=seal(rows),
            rows=rows,
            moves=moves,
            tells_place=config.tells_place,
        )
        return replace(problem, n_turns=2 * len(self.play(problem)))

    def prompt(self, problem: MazeExplorerProblem) -> str:
        side = len(problem.surroundings)
        place, seen = ", at a place that you are not told", "the cells around your new position"
        if problem.tells_place:
            place = (
                f", at {show_cell(problem.start, problem.n_columns)}. Cells are written (row, "
                "column), numbered from 1 from the top left"
            )
            seen = "your new position and the cells around it"
        return (
            f"You are in a maze on a board with {problem.n_rows} rows and {problem.n_columns} "
            f"columns{place}. Walk to the goal, which is somewhere in the maze. You see only the "
            f"{side} by {side} cells around you:\n\n"
            f"{show_grid(problem.surroundings)}\n\n{_YOU} is your position, {WALL} is a wall or "
            f"outside the board, {FREE} is a free cell and {GOAL} is the goal. Each move goes one "
            "cell up (U), down (D), left (L) or right (R). Give from 1 to "
            f"{_MOVES_AT_MOST} moves in each message, in \\boxed{{}}: for example, {boxed('UD')} "
            "goes up and then down. The moves are made one after the other until a wall is in the "
            f"way or you reach the goal. After each message you see {seen}. A message without "
            f"moves counts too. You have {plural(problem.n_turns, 'message')}."
        )

    def begin(self, problem: MazeExplorerProblem) -> MazeExplorerSession:
        return MazeExplorerSession(problem)

    def play(self, problem: MazeExplorerProblem) -> list[str]:
        """Explore as a player can: by what is shown, always to the nearest promising cell."""
        explorer, start = _Explorer(problem), self.prompt(problem)

        def policy(text: str) -> str:
            if text != start:
                explorer.see(text.split("\n\n")[0].replace(" ", "").split("\n"))
            return boxed(explorer.next_moves())

        return self.played(problem, policy, turns=problem.n_turns)

    def baseline(self, rng: Rng, problem: MazeExplorerProblem) -> list[str]:
        """Walk in a random direction until a wall is in the way, again and again."""
        far = max(problem.n_rows, problem.n_columns)
        return self.played(
            problem, lambda _: boxed(pick(rng, tuple(MOVES)) * far), turns=problem.n_turns
        )


class _Explorer:
    """Remembers what was seen, and decides where to go.

    It does not know where on the board it began: cells are numbered on a board that is twice as
    large, with the start in the middle.
    """

    def __init__(self, problem: MazeExplorerProblem) -> None:
        self._shape = (2 * problem.n_rows + 1, 2 * problem.n_columns + 1)
        self._cell = problem.n_rows * self._shape[1] + problem.n_columns
        self._seen: dict[int, str] = {}
        self.see(list(problem.surroundings))

    def see(self, view: list[str]) -> None:
        """Note what is around the place that was reached."""
        n_rows, n_columns = self._shape
        reach = len(view) // 2
        top, left = self._cell // n_columns - reach, self._cell % n_columns - reach
        for r, line in enumerate(view, top):
            for c, mark in enumerate(line, left):
                if 0 <= r < n_rows and 0 <= c < n_columns:
                    self._seen[r * n_columns + c] = mark

    def next_moves(self) -> str:
        """Return the moves to the goal, if a way is known, or to the nearest promising cell."""
        ways = {self._cell: ""}
        queue, nearest = [self._cell], -1
        for cell in queue:
            for move in MOVES:
                after = step(cell, move, *self._shape)
                if after is None or after in ways or self._seen.get(after, WALL) == WALL:
                    continue
                ways[after] = ways[cell] + move
                if self._seen[after] == GOAL:
                    return ways[after]
                if nearest < 0 and self._is_promising(after):
                    nearest = after
                queue.append(after)
        self._cell = nearest
        return ways[nearest]

    def _is_promising(self, cell: int) -> bool:
        """Tell whether a cell has a neighbour that was not seen yet."""
        return any(step(cell, move, *self._shape) not in self._seen for move in MOVES)


def _surroundings(rows: tuple[str, ...], cell: int, reach: int) -> tuple[str, ...]:
    """Return the cells around one, with a wall for whatever lies outside the board."""
    n_columns = len(rows[0])
    row, column = divmod(cell, n_columns)
    pad = WALL * reach
    padded = [WALL * (n_columns + 2 * reach)] * reach
    padded = [*padded, *(pad + line.replace(START, FREE) + pad for line in rows), *padded]
    view = [line[column : column + 2 * reach + 1] for line in padded[row : row + 2 * reach + 1]]
    view[reach] = view[reach][:reach] + _YOU + view[reach][reach + 1 :]
    return tuple(view)
