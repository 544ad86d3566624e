"""The tower of Hanoi between any two positions, on three or more pegs."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.moves import hanoi
from rlvr_envs.generators.moves.scoring import SHORTEST_WANTED, graded, plural, stray


@dataclass(frozen=True, slots=True, kw_only=True)
class TowerOfHanoiConfig(TaskConfig):
    """How many discs and pegs there are, and whether a longer solution earns less."""

    n_discs: int = knob(4, "discs", low=1)
    n_placed: int = knob(0, "discs, the largest ones, that are already where they belong", low=0)
    max_pegs: int = knob(4, "the number of pegs is drawn from 3 up to this", low=3)
    n_draws: int = knob(
        1, "pairs of positions drawn, of which the one farthest apart is taken", low=1, high=20
    )
    optimal_only: bool = knob(False, "a longer solution earns only shortest length / length")

    def check(self) -> None:
        if self.n_placed >= self.n_discs:
            raise ConfigError(f"need n_placed < n_discs, got {self}")
        if min(self.n_discs, self.max_pegs) > 20 or (
            self.max_pegs ** min(self.n_discs, 20) > hanoi.MAX_POSITIONS
        ):
            raise ConfigError(
                f"max_pegs ** n_discs positions are at most {hanoi.MAX_POSITIONS:,}, so that the "
                f"shortest solution can be found, got {self}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "TowerOfHanoiConfig":
        """Two discs must move at first, and one more at every second level.

        At odd levels the positions are farther apart than usual. At the first levels larger discs
        lie still below. Beyond level 10 there are three pegs; a disc is added every third level, up
        to 11 discs, whose solutions have up to 2,047 moves.
        """
        if difficulty > 10:
            return cls(n_discs=min(11, 7 + (difficulty - 10) // 3), max_pegs=3, n_draws=3)
        n_moving = 2 + difficulty // 2
        n_placed = max(0, 5 - n_moving)
        return cls(
            n_discs=n_moving + n_placed, n_placed=n_placed, n_draws=4 if difficulty % 2 else 1
        )


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
        tower applies as it stands. At low levels the largest discs stay where they are; the largest
        of the others always has to move.

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
        a recursion on three pegs, and from an exact search on more. No known gaps.

    Difficulty:
        More discs must move, with twice the moves for each on three pegs. Only size grows: one
        recursion solves all. See `TowerOfHanoiConfig.at`.

    References:
        Hinz, Klavžar, Milutinović and Petr, "The Tower of Hanoi: Myths and Maths", 2013.
        Stewart, "Solution to advanced problem 3918", 1941, for four pegs.
    """

    def generate(self, rng: Rng) -> TowerOfHanoiProblem:
        config = self.config
        n_pegs = integer(rng, 3, config.max_pegs)
        n_moving = config.n_discs - config.n_placed
        drawn = [hanoi.draw_positions(rng, n_moving, n_pegs) for _ in range(config.n_draws)]
        solved = [(hanoi.shortest(start, goal, n_pegs), start, goal) for start, goal in drawn]
        moves, start, goal = max(solved, key=lambda each: len(each[0]))
        placed = integers(rng, 0, n_pegs - 1, config.n_placed)
        return TowerOfHanoiProblem(
            n_pegs, start + placed, goal + placed, 2 ** (n_moving + 1), len(moves), moves
        )

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
        state = problem.start
        largest = max(i for i, peg in enumerate(state) if peg != problem.goal[i])
        first = (
            f"Disc {largest + 1}, the largest that must move, must get from peg "
            f"{state[largest] + 1} to peg {problem.goal[largest] + 1}. When it moves, the smaller "
            "discs must all lie on other pegs than the two that it moves between."
        )
        steps = [first]
        for number, move in enumerate(problem.solution, 1):
            disc = state.index(move[0]) + 1
            state = dict(hanoi.moves_of(state, problem.n_pegs))[move]
            pegs = hanoi.show_state(state, problem.n_pegs).replace("\n", "; ")
            steps.append(f"Move {number}, {hanoi.show_move(move)}, takes disc {disc}. {pegs}")
        return steps

    def effort(self, problem: TowerOfHanoiProblem) -> int:
        """Count the moves of a shortest solution."""
        return problem.shortest

    def baseline(self, rng: Rng, problem: TowerOfHanoiProblem) -> str:
        """Move at random, never back to a position, until the goal comes up."""
        moves = stray(
            problem.start,
            lambda state: hanoi.moves_of(state, problem.n_pegs),
            problem.goal.__eq__,
            rng,
            limit=problem.max_moves,
        )
        return ", ".join(map(hanoi.show_move, moves))
