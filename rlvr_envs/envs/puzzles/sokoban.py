"""Sokoban: boxes are pushed onto goals."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.grids import sokoban
from rlvr_envs.generators.moves.scoring import (
    MOST_LEAST_MOVES,
    SHORTEST_WANTED,
    graded,
    long_enough,
    stray,
)
from rlvr_envs.generators.moves.search import shortest_path
from rlvr_envs.verifiers.grids import read_moves

MOVE_LIMIT = 1000
_EFFORT_LIMIT = 200_000  # states that measuring the effort may expand


@dataclass(frozen=True, slots=True, kw_only=True)
class SokobanConfig(TaskConfig):
    """The size of the room, and how far positions are searched."""

    side: int = knob(5, "side of the square that contains the room")
    n_floor: int = knob(16, "cells that are not walls")
    n_boxes: int = 2
    n_rooms: int = knob(
        2,
        "rooms drawn for a problem; the one with the longest solution is taken",
        low=1,
        high=100,
    )
    max_states: int = knob(5000, "positions searched in a room", low=100, high=10**6)
    least_moves: int = knob(
        4,
        "moves of a shortest solution at least, if such a problem is found in time",
        low=1,
        high=MOST_LEAST_MOVES,
    )
    optimal_only: bool = knob(False, "a longer solution earns only shortest length / length")

    def check(self) -> None:
        sokoban.RoomSize(self.side, self.n_floor, self.n_boxes)

    @classmethod
    def at(cls, difficulty: int) -> "SokobanConfig":
        """The room grows, boxes are added, up to four, and longer solutions are looked for."""
        size = sokoban.RoomSize.at(difficulty)
        return cls(
            side=size.side,
            n_floor=size.n_floor,
            n_boxes=size.n_boxes,
            least_moves=min(MOST_LEAST_MOVES, 2 + difficulty),
            n_rooms=min(6, 1 + difficulty // 2),
            max_states=min(100_000, 500 + 1000 * difficulty + 4000 * max(0, difficulty - 10)),
        )


@dataclass(frozen=True, slots=True)
class SokobanProblem:
    """The room and what is in it, one row per line."""

    board: str
    shortest: int = hidden()
    solution: str = hidden()


@register("Sokoban-v0", domain="puzzles")
class SokobanTask(Task[SokobanConfig, SokobanProblem]):
    """Push every box onto a goal, in a room where a careless push cannot be undone.

    Description:
        A room of irregular shape. The position is one of the farthest from the end that were found
        by playing backwards from the solved ones, so it can always be solved.

    Observation:
        The rules, and the room as a grid of signs, which are explained.

    Action:
        The moves in order, as the letters U, D, L and R.

    Reward:
        1 for possible moves after which every box stands on a goal. Under ``optimal_only`` the
        length of a shortest solution divided by the number of moves. Otherwise 0.

    Verification:
        The moves are played; an answer of more than 1,000 is not read. The length of a shortest
        solution, counted in moves and not in pushes, is exact: all positions nearer to the end were
        searched. No known gaps.

    Difficulty:
        The room, the number of boxes and the length of the solution grow. See `SokobanConfig.at`.

    References:
        Hearn and Demaine, "PSPACE-Completeness of Sliding-Block Puzzles and Other Problems through
        the Nondeterministic Constraint Logic Model of Computation", 2005.
        Taylor and Parberry, "Procedural Generation of Sokoban Levels", 2011, for playing backwards.
    """

    def generate(self, rng: Rng) -> SokobanProblem:
        config = self.config
        size = sokoban.RoomSize(config.side, config.n_floor, config.n_boxes)
        position = long_enough(
            lambda: sokoban.draw_position(
                rng,
                size,
                n_rooms=config.n_rooms,
                max_states=config.max_states,
                max_length=MOVE_LIMIT,
            ),
            lambda position: len(position.solution),
            config.least_moves,
        )
        board = position.room.show(position.state)
        return SokobanProblem(board, len(position.solution), position.solution)

    def prompt(self, problem: SokobanProblem) -> str:
        wanted = f" {SHORTEST_WANTED}" if self.config.optimal_only else ""
        return (
            "Solve this Sokoban puzzle: push every box onto a goal. In the picture, "
            f"{sokoban.legend(problem.board)}.\n\n{problem.board}\n\n{sokoban.RULES}\n\n"
            f"Use at most {MOVE_LIMIT:,} moves.{wanted} Answer with the letters of the moves in "
            "order: for example, RL means right, then left."
        )

    def verify(self, problem: SokobanProblem, answer: str) -> Verdict:
        letters = read_moves(answer, {letter: letter for letter in "UDLR"}, limit=MOVE_LIMIT)
        if letters is None:
            return Verdict.unparsable(f"expected at most {MOVE_LIMIT} letters U, D, L and R")
        room, state = sokoban.read_board(problem.board)
        for number, letter in enumerate(letters, 1):
            after = room.after(state, letter)
            if after is None:
                return Verdict.wrong(f"move {number}, {letter}, is not possible")
            state = after
        if not room.is_solved(state):
            return Verdict.wrong("not every box is on a goal after the moves")
        return graded(len(letters), problem.shortest, optimal_only=self.config.optimal_only)

    def solve(self, problem: SokobanProblem) -> str:
        return problem.solution

    def explain(self, problem: SokobanProblem) -> list[str]:
        """Return the room after the moves up to each push."""
        room, state = sokoban.read_board(problem.board)
        steps, letters = [], ""
        for letter in problem.solution:
            before, state = state, dict(room.moves(state))[letter]
            letters += letter
            if state[1] != before[1]:
                steps.append(f"After {letters}:\n{room.show(state)}")
                letters = ""
        return steps

    def effort(self, problem: SokobanProblem) -> int:
        """Count the positions that a breadth-first search looks at before the room is solved."""
        room, state = sokoban.read_board(problem.board)
        return shortest_path(state, room.moves, room.is_solved, limit=_EFFORT_LIMIT).expanded

    def baseline(self, rng: Rng, problem: SokobanProblem) -> str:
        """Move at random, never back to a position, until the room is solved."""
        room, state = sokoban.read_board(problem.board)
        return "".join(stray(state, room.moves, room.is_solved, rng, limit=MOVE_LIMIT))
