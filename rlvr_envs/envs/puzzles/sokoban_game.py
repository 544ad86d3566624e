"""Sokoban played move by move; taking back a move costs a turn."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng
from rlvr_envs.core.task import InteractiveTask
from rlvr_envs.generators.grids import sokoban
from rlvr_envs.generators.moves.scoring import MOST_LEAST_MOVES, long_enough, stray
from rlvr_envs.generators.moves.turns import TURNS_AT_MOST, Rules, Turns, boxed, protocol
from rlvr_envs.verifiers.grids import read_moves

_LETTERS = {letter: letter for letter in "UDLR"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SokobanGameConfig(TaskConfig):
    """The size of the room, how far positions are searched, and the number of turns."""

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
    n_turns: int = knob(
        60,
        "messages allowed at most; fewer where two for each move of a shortest solution are fewer",
        low=2,
        high=TURNS_AT_MOST,
    )
    least_moves: int = knob(
        4,
        "moves of a shortest solution at least, if such a problem is found in time",
        low=1,
        high=MOST_LEAST_MOVES,
    )
    optimal_only: bool = knob(False, "a longer game earns only fewest turns / turns")

    def check(self) -> None:
        sokoban.RoomSize(self.side, self.n_floor, self.n_boxes)

    @classmethod
    def at(cls, difficulty: int) -> "SokobanGameConfig":
        """The room grows, boxes are added, up to four, and longer solutions are looked for."""
        size = sokoban.RoomSize.at(difficulty)
        return cls(
            side=size.side,
            n_floor=size.n_floor,
            n_boxes=size.n_boxes,
            least_moves=min(MOST_LEAST_MOVES, 2 + difficulty),
            n_rooms=min(3, 1 + difficulty // 4),
            max_states=min(50_000, 500 + 1000 * difficulty),
            n_turns=min(TURNS_AT_MOST, 20 + 10 * difficulty),
        )


@dataclass(frozen=True, slots=True)
class SokobanGameProblem:
    """The room and what is in it, one row per line, and the number of turns."""

    board: str
    n_turns: int
    shortest: int = hidden()
    solution: str = hidden()


@register("SokobanGame-v0", domain="puzzles", max_turns=TURNS_AT_MOST)
class SokobanGameTask(InteractiveTask[SokobanGameConfig, SokobanGameProblem]):
    r"""Push every box onto a goal, one move per message, and see the room after each.

    Description:
        As `Sokoban-v0`, but played turn by turn. Moves may be taken back, so that a careless push
        costs turns and not the game.

    Observation:
        The rules, the room as a grid of signs and the number of turns; then after each move the
        room and the number of turns left.

    Action:
        A message with one move in `\boxed{}`: U, D, L or R, or "undo" to take back the last move.

    Reward:
        1 when every box stands on a goal; under ``optimal_only`` the length of a shortest solution
        divided by the number of turns taken. 0 when the turns run out.

    Episode End:
        When the room is solved, or when there are no turns left.

    Verification:
        The moves are played. A message without a possible move costs a turn and changes nothing.
        There are about twice as many turns as the shortest solution has moves. No known gaps.

    Difficulty:
        The room, the number of boxes and the length of the solution grow. See
        `SokobanGameConfig.at`.

    References:
        Taylor and Parberry, "Procedural Generation of Sokoban Levels", 2011, for playing backwards.
    """

    def generate(self, rng: Rng) -> SokobanGameProblem:
        config = self.config
        size = sokoban.RoomSize(config.side, config.n_floor, config.n_boxes)
        position = long_enough(
            lambda: sokoban.draw_position(
                rng,
                size,
                n_rooms=config.n_rooms,
                max_states=config.max_states,
                max_length=config.n_turns // 2,
            ),
            lambda position: len(position.solution),
            config.least_moves,
        )
        board = position.room.show(position.state)
        shortest = len(position.solution)
        n_turns = min(config.n_turns, 2 * shortest + 2)
        return SokobanGameProblem(board, n_turns, shortest, position.solution)

    def prompt(self, problem: SokobanGameProblem) -> str:
        wanted = (
            " A game with as few turns as possible earns full marks; a longer one earns less."
            if self.config.optimal_only
            else ""
        )
        game = protocol(problem.n_turns, "U", "moves you up", may_undo=True)
        return (
            "Solve this Sokoban puzzle: push every box onto a goal. In the picture, "
            f"{sokoban.legend()}.\n\n{problem.board}\n\n{sokoban.RULES}\n\n{game}{wanted}"
        )

    def begin(self, problem: SokobanGameProblem) -> Turns[sokoban.State]:
        room, start = sokoban.read_board(problem.board)

        def after(state: sokoban.State, move: str) -> sokoban.State | str:
            letters = read_moves(move, _LETTERS, limit=1)
            if letters is None:
                return "a move is U, D, L, R or undo"
            return room.after(state, letters[0]) or f"a wall or a box blocks {letters[0]}"

        return Turns(
            Rules(after=after, show=room.show, is_goal=room.is_solved, may_undo=True),
            start,
            n_turns=problem.n_turns,
            shortest=problem.shortest,
            optimal_only=self.config.optimal_only,
        )

    def play(self, problem: SokobanGameProblem) -> list[str]:
        return [boxed(letter) for letter in problem.solution]

    def baseline(self, rng: Rng, problem: SokobanGameProblem) -> list[str]:
        """Move at random, never back to a position, until the room is solved."""
        room, state = sokoban.read_board(problem.board)
        moves = stray(state, room.moves, room.is_solved, rng, limit=problem.n_turns)
        return [boxed(letter) for letter in moves]
