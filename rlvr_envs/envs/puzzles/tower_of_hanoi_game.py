"""The tower of Hanoi played move by move."""

from dataclasses import dataclass
from functools import partial

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.task import InteractiveTask
from rlvr_envs.generators.moves import hanoi
from rlvr_envs.generators.moves.scoring import stray
from rlvr_envs.generators.moves.search import distances
from rlvr_envs.generators.moves.turns import TURNS_AT_MOST, Rules, Turns, boxed, protocol

_MAX_DISCS = 9
_ALL = 4**_MAX_DISCS  # positions


# Discs and moves of the first levels.
_LEVELS = (
    *((6, 2), (6, 3), (6, 4), (6, 6), (6, 9), (6, 13)),
    *((6, 18), (7, 25), (7, 34), (7, 46), (7, 62)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TowerOfHanoiGameConfig(TaskConfig):
    """How many discs and pegs there are, how far the goal is, and how many turns there are."""

    n_discs: int = knob(4, "discs", low=1, high=_MAX_DISCS)
    n_pegs: int = knob(3, "pegs", choices=(3, 4))
    n_moves: int = knob(
        0, "moves of a shortest solution; 0 for two positions drawn at random", low=0
    )
    spare_percent: int = knob(
        100, "extra turns, as a percentage of those that are needed", low=0, high=1000
    )
    optimal_only: bool = knob(False, "a longer game earns only fewest turns / turns")

    @classmethod
    def at(cls, difficulty: int) -> "TowerOfHanoiGameConfig":
        """The goal is a third farther away with each level, and every few levels add a disc."""
        beyond = difficulty - len(_LEVELS)
        discs, moves = _LEVELS[difficulty] if beyond < 0 else (8 + (beyond >= 5), 70 + 10 * beyond)
        return cls(
            n_discs=discs, n_moves=min(moves, 200), spare_percent=max(50, 100 - 5 * difficulty)
        )


@dataclass(frozen=True, slots=True)
class TowerOfHanoiGameProblem:
    """The peg of each disc, from the smallest disc on; pegs are counted from 0."""

    n_pegs: int
    start: tuple[int, ...]
    goal: tuple[int, ...]
    n_turns: int
    shortest: int = hidden()
    solution: tuple[tuple[int, int], ...] = hidden()


@register("TowerOfHanoiGame-v0", domain="puzzles", max_turns=TURNS_AT_MOST)
class TowerOfHanoiGameTask(InteractiveTask[TowerOfHanoiGameConfig, TowerOfHanoiGameProblem]):
    r"""Move discs from peg to peg, one move per message, until they reach a given position.

    Description:
        As `TowerOfHanoi-v0`, but played turn by turn: the position after each move is shown, and
        an impossible move is explained. The start is drawn at random among all legal positions, and
        the goal among those that are a given number of moves away.

    Observation:
        The rules, both positions and the number of turns; then after each move the position and
        the number of turns left.

    Action:
        A message with one move in `\boxed{}`: the number of the peg that a disc is taken from, a
        hyphen and the number of the peg that it is put on.

    Reward:
        1 when the goal position is reached; under ``optimal_only`` the length of a shortest
        solution divided by the number of turns taken. 0 when the turns run out.

    Episode End:
        With the goal position, or when there are no turns left.

    Verification:
        The moves are played. A message without a possible move costs a turn and changes nothing.
        At first there are twice as many turns as a shortest solution has moves. No known gaps.

    Difficulty:
        The goal is farther away, which takes longer plans of discs that make room for others;
        discs are added, and there are fewer turns to spare. Only size grows: one recursion solves
        all. See `TowerOfHanoiGameConfig.at`.

    References:
        Hinz, Klavžar, Milutinović and Petr, "The Tower of Hanoi: Myths and Maths", 2013.
    """

    def generate(self, rng: Rng) -> TowerOfHanoiGameProblem:
        config = self.config
        start, goal = hanoi.draw_positions(rng, config.n_discs, config.n_pegs)
        if config.n_moves:
            known, _ = distances([start], partial(hanoi.moves_of, n_pegs=config.n_pegs), limit=_ALL)
            far = min(config.n_moves, max(known.values()))
            goal = pick(rng, [state for state, moves in known.items() if moves == far])
        moves = hanoi.shortest(start, goal, config.n_pegs)
        n_turns = 1 + len(moves) * (100 + config.spare_percent) // 100
        return TowerOfHanoiGameProblem(config.n_pegs, start, goal, n_turns, len(moves), moves)

    def prompt(self, problem: TowerOfHanoiGameProblem) -> str:
        wanted = (
            " A game with as few turns as possible earns full marks; a longer one earns less."
            if self.config.optimal_only
            else ""
        )
        game = protocol(problem.n_turns, "1-3", "moves the top disc of peg 1 to peg 3")
        return (
            f"{hanoi.rules(len(problem.start), problem.n_pegs)}\n\n"
            "Start, with the discs of each peg listed from bottom to top:\n\n"
            f"{hanoi.show_state(problem.start, problem.n_pegs)}\n\n"
            f"Goal:\n\n{hanoi.show_state(problem.goal, problem.n_pegs)}\n\n{game}{wanted}"
        )

    def begin(self, problem: TowerOfHanoiGameProblem) -> Turns[hanoi.Pegs]:
        def after(state: hanoi.Pegs, move: str) -> hanoi.Pegs | str:
            read = hanoi.read_moves(move, problem.n_pegs, 1)
            if read is None:
                return (
                    f"a move is between two of the pegs 1 to {problem.n_pegs}, such as "
                    f"{boxed('1-3')}"
                )
            return hanoi.after(state, read[0])

        return Turns(
            Rules(
                after=after,
                show=lambda state: hanoi.show_state(state, problem.n_pegs),
                is_goal=problem.goal.__eq__,
            ),
            problem.start,
            n_turns=problem.n_turns,
            shortest=problem.shortest,
            optimal_only=self.config.optimal_only,
        )

    def play(self, problem: TowerOfHanoiGameProblem) -> list[str]:
        return [boxed(hanoi.show_move(move)) for move in problem.solution]

    def baseline(self, rng: Rng, problem: TowerOfHanoiGameProblem) -> list[str]:
        """Move at random, never back to a position, until the goal comes up."""
        moves = stray(
            problem.start,
            partial(hanoi.moves_of, n_pegs=problem.n_pegs),
            problem.goal.__eq__,
            rng,
            limit=problem.n_turns,
        )
        return [boxed(hanoi.show_move(move)) for move in moves]
