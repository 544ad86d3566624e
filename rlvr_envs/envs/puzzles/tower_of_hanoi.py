"""The tower of Hanoi between any two positions, on three or more pegs."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.moves import hanoi
from rlvr_envs.generators.moves.scoring import SHORTEST_WANTED, graded, plural, stray


@dataclass(frozen=True, slots=True, kw_only=True)
class TowerOfHanoiConfig(TaskConfig):
    """How many discs and pegs there are, and whether a longer solution earns less."""

    n_discs: int = knob(4, "discs", low=1)
    max_pegs: int = knob(4, "the number of pegs is drawn from 3 up to this", low=3)
    optimal_only: bool = knob(False, "a longer solution earns only shortest length / length")

    def check(self) -> None:
        if min(self.n_discs, self.max_pegs) > 20 or (
            self.max_pegs ** min(self.n_discs, 20) > hanoi.MAX_POSITIONS
        ):
            raise ConfigError(
                f"max_pegs ** n_discs positions are at most {hanoi.MAX_POSITIONS:,}, so that the "
                f"shortest solution can be found, got {self}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "TowerOfHanoiConfig":
        """A disc is added every second level; from level 3 on there may be a fourth peg.

        Beyond level 10 there are three pegs, with which the moves nearly double with each disc; a
        disc is added every fifth level, up to 11 discs, whose solutions have up to 2,047 moves.
        """
        if difficulty > 10:
            return cls(n_discs=min(11, 5 + difficulty // 5), max_pegs=3)
        return cls(n_discs=2 + difficulty // 2, max_pegs=3 if difficulty < 3 else 4)


@dataclass(frozen=True, slots=True)
class TowerOfHanoiProblem:
    """The peg of each disc, from the smallest disc on; pegs are counted from 0."""

    n_pegs: int
    start: tuple[int, ...]
    goal: tuple[int, ...]
    max_moves: int  # more are not read
    shortest: int = hidden()
    solution: tuple[tuple[int, int], ...] = hidden()


@register("TowerOfHanoi-v0", domain="puzzles")
class TowerOfHanoiTask(Task[TowerOfHanoiConfig, TowerOfHanoiProblem]):
    """Move discs between pegs, never onto a smaller one, from one position to another.

    Description:
        Both positions are drawn at random among all legal ones, so that no recipe for moving one
        tower applies as it stands. The largest disc always has to move.

    Observation:
        The rules, and the discs on each peg at the start and at the end.

    Action:
        The moves in order, each as the number of the peg that a disc is taken from, a hyphen and
        the number of the peg that it is put on.

    Reward:
        1 for legal moves that end in the goal position. Under ``optimal_only`` the length of a
        shortest solution divided by the number of moves. Otherwise 0.

    Verification:
        The moves are played. An answer with more moves than the prompt allows, which is twice what
        any problem of its size needs on three pegs, is not read. The shortest solution comes from
        an exact search. No known gaps.

    Difficulty:
        Discs are added; a fourth peg may be added; its solutions are shorter but harder to find.
        See `TowerOfHanoiConfig.at`.

    References:
        Hinz, Klavžar, Milutinović and Petr, "The Tower of Hanoi: Myths and Maths", 2013.
        Stewart, "Solution to advanced problem 3918", 1941, for four pegs.
    """

    def generate(self, rng: Rng) -> TowerOfHanoiProblem:
        n_discs = self.config.n_discs
        n_pegs = integer(rng, 3, self.config.max_pegs)
        start, goal = hanoi.draw_positions(rng, n_discs, n_pegs)
        moves = hanoi.shortest(start, goal, n_pegs).moves or ()
        return TowerOfHanoiProblem(n_pegs, start, goal, 2 ** (n_discs + 1), len(moves), moves)

    def prompt(self, problem: TowerOfHanoiProblem) -> str:
        wanted = f" {SHORTEST_WANTED}" if self.config.optimal_only else ""
        return (
            f"{hanoi.rules(len(problem.start), problem.n_pegs)}\n\n"
            "Start, with the discs of each peg listed from bottom to top:\n\n"
            f"{hanoi.show_state(problem.start, problem.n_pegs)}\n\n"
            f"Goal:\n\n{hanoi.show_state(problem.goal, problem.n_pegs)}\n\n"
            f"Find a sequence of at most {plural(problem.max_moves, 'move')} that leads from the "
            f"start to the goal.{wanted} Answer with the moves in order, separated by commas. "
            "Write each move as the peg that you take the disc from, a hyphen and the peg that you "
            "put it on: for example, 1-2, 2-1 moves the top disc of peg 1 to peg 2 and then the "
            "top disc of peg 2 to peg 1."
        )

    def verify(self, problem: TowerOfHanoiProblem, answer: str) -> Verdict:
        moves = hanoi.read_moves(answer, problem.n_pegs, problem.max_moves)
        if moves is None:
            return Verdict.unparsable(
                f"expected at most {problem.max_moves} moves between pegs 1 to {problem.n_pegs}, "
                "such as 1-2, 2-1"
            )
        state = problem.start
        for number, move in enumerate(moves, 1):
            following = hanoi.after(state, move)
            if isinstance(following, str):
                return Verdict.wrong(f"move {number} is not possible: {following}")
            state = following
        if state != problem.goal:
            return Verdict.wrong("the moves end in another position")
        return graded(len(moves), problem.shortest, optimal_only=self.config.optimal_only)

    def solve(self, problem: TowerOfHanoiProblem) -> str:
        return ", ".join(map(hanoi.show_move, problem.solution))

    def explain(self, problem: TowerOfHanoiProblem) -> list[str]:
        """Return what the largest disc needs, and then the position after each move."""
        state, largest = problem.start, len(problem.start)
        first = (
            f"Disc {largest}, the largest, must get from peg {problem.start[-1] + 1} to peg "
            f"{problem.goal[-1] + 1}. When it moves, the smaller discs must all lie on other pegs "
            "than the two that it moves between."
        )
        steps = [first]
        for number, move in enumerate(problem.solution, 1):
            disc = state.index(move[0]) + 1
            state = dict(hanoi.moves_of(state, problem.n_pegs))[move]
            pegs = hanoi.show_state(state, problem.n_pegs).replace("\n", "; ")
            steps.append(f"Move {number}, {hanoi.show_move(move)}, takes disc {disc}. {pegs}")
        return steps

    def effort(self, problem: TowerOfHanoiProblem) -> int:
        return hanoi.shortest(problem.start, problem.goal, problem.n_pegs).expanded

    def baseline(self, rng: Rng, problem: TowerOfHanoiProblem) -> str:
        moves = stray(
            problem.start,
            lambda state: hanoi.moves_of(state, problem.n_pegs),
            problem.goal.__eq__,
            rng,
            limit=problem.max_moves,
        )
        return ", ".join(map(hanoi.show_move, moves))
