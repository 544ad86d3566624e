"""The knight's tour: every square of a board with holes is visited once."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.verifiers.parse import words

FREE, HOLE = ".", "#"
_MAX_SIDE = 12
_COLUMNS = "ABCDEFGHIJKL"
_MAX_WALKS = 40  # drawn to find one of the length asked for
_EFFORT_LIMIT = 4_000  # squares that measuring the effort may step on
_N_HARD = 4  # boards by Warnsdorff's rule, of which the one that a search finds hardest is taken
_N_TRIES = 6  # by Warnsdorff's rule, of which those that fail are counted to compare boards
_LEAPS = ((-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class KnightsTourConfig(TaskConfig):
    """The size of the board, and how many squares of it the knight must visit."""

    side: int = knob(5, "rows and columns of the board", low=4, high=_MAX_SIDE)
    n_squares: int = knob(15, "free squares; the others are holes")
    n_boards: int = knob(
        3, "boards that are drawn, of which the hardest is taken", low=1, high=1000
    )

    def check(self) -> None:
        if not 3 <= self.n_squares <= self.side**2:
            raise ConfigError(f"need 3 <= n_squares <= side ** 2 ({self.side**2}), got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "KnightsTourConfig":
        """The board grows from 5x5 to 12x12, with more free squares, and more are compared."""
        side = min(_MAX_SIDE, 5 + (difficulty + 1) // 3)
        return cls(
            side=side,
            n_squares=min(side**2 * 3 // 4, 6 + 3 * difficulty),
            n_boards=min(60, 1 + 2 * difficulty),
        )


@dataclass(frozen=True, slots=True)
class KnightsTourProblem:
    """The board, one row a line, and where the knight starts."""

    board: str
    start: str
    solution: str = hidden()


@register("KnightsTour-v0", domain="puzzles")
class KnightsTourTask(Task[KnightsTourConfig, KnightsTourProblem]):
    """Find a knight's tour of the free squares of a board with holes.

    Description:
        The free squares are those of a random walk of a knight, so that there is a tour; the other
        squares are holes. Known patterns for full boards do not help. Of several boards, those on
        which Warnsdorff's rule fails most often are compared by a search, and the one that takes it
        longest is taken.

    Observation:
        The rules, the board with its columns lettered and its rows numbered, and the first square.

    Action:
        The squares in the order of the tour, from the first on.

    Reward:
        1 for a tour of knight's moves that starts on the first square and visits every free square
        exactly once, otherwise 0.

    Verification:
        The tour is followed square by square. Any tour counts. No known gaps.

    Difficulty:
        The board and the number of free squares grow. At first Warnsdorff's rule finds a tour; on
        the boards that are taken later it fails, and one has to see dead ends in advance.

    References:
        Conrad, Hindrichs, Morsy and Wegener, "Solution of the knight's Hamiltonian path problem on
        chessboards", 1994.
        Warnsdorff, "Des Rösselsprunges einfachste und allgemeinste Lösung", 1823, for the rule that
        goes to the square with the fewest ways on.
    """

    def generate(self, rng: Rng) -> KnightsTourProblem:
        config = self.config
        walks = [_long_walk(rng, config.side, config.n_squares) for _ in range(config.n_boards)]
        walks.sort(key=lambda walk: (len(walk), _failures(rng, walk, config.side)))
        walk = max(walks[-_N_HARD:], key=lambda walk: (len(walk), _steps(walk, config.side, 400)))
        free = frozenset(walk)
        signs = [FREE if square in free else HOLE for square in range(config.side**2)]
        rows = [signs[i : i + config.side] for i in range(0, len(signs), config.side)]
        return KnightsTourProblem(
            "\n".join(map("".join, rows)), _name(walk[0], config.side), _show(walk, config.side)
        )

    def prompt(self, problem: KnightsTourProblem) -> str:
        rows = problem.board.split("\n")
        width = len(str(len(rows)))
        header = " " * (width + 1) + " ".join(_COLUMNS[: len(rows)])
        lines = [f"{n:>{width}} {' '.join(row)}" for n, row in enumerate(rows, 1)]
        picture = "\n".join([header, *lines])
        return (
            f"On this board, {FREE} is a free square and {HOLE} is a hole. Columns have letters "
            f"and rows have numbers.\n\n{picture}\n\nFind a knight's tour: a chess knight starts "
            f"on {problem.start} and visits each of the {problem.board.count(FREE)} free squares "
            "exactly once, including the start. It need not return to the start. In each move, the "
            "knight goes two squares along a row or a column and then one square at a right angle "
            "to that. It may jump over any squares, including holes, but must land on a free "
            "square. Answer with the squares in the order of the tour, starting with "
            f"{problem.start}, separated by commas. Write the column letter before the row number: "
            "C2 is column C, row 2."
        )

    def verify(self, problem: KnightsTourProblem, answer: str) -> Verdict:
        free, side = _read_board(problem.board)
        tour = _read(answer, side)
        if tour is None:
            return Verdict.unparsable("expected squares of the board, such as A1, B3, D4")
        fault = _fault(tour, free, _squares(side)[problem.start], side)
        return Verdict.wrong(fault) if fault else Verdict.correct("every free square is visited")

    def solve(self, problem: KnightsTourProblem) -> str:
        return problem.solution

    def explain(self, problem: KnightsTourProblem) -> list[str]:
        """Return square by square where the knight can go, and how many ways on there are."""
        free, side = _read_board(problem.board)
        tour, near = _read(problem.solution, side) or [], _near(side)
        left = set(free) - {tour[0]}
        steps = []
        for here, there in itertools.pairwise(tour):
            options = [
                f"{_name(square, side)} ({sum(other in left for other in near[square])})"
                for square in near[here]
                if square in left
            ]
            steps.append(
                f"From {_name(here, side)} the knight reaches, with so many ways on, "
                f"{', '.join(options)}. Go to {_name(there, side)}."
            )
            left.remove(there)
        return steps

    def effort(self, problem: KnightsTourProblem) -> int:
        """Count the squares that a search steps on until it has a tour.

        It goes by Warnsdorff's rule, and turns back where two squares are dead ends.
        """
        free, side = _read_board(problem.board)
        start = _squares(side)[problem.start]
        return _steps([start, *(free - {start})], side, _EFFORT_LIMIT)

    def baseline(self, rng: Rng, problem: KnightsTourProblem) -> str:
        """Go by Warnsdorff's rule, always to the square with the fewest ways on, ties at random."""
        free, side = _read_board(problem.board)
        return _show(_by_rule(rng, free, _squares(side)[problem.start], side), side)


def _long_walk(rng: Rng, side: int, wanted: int) -> list[int]:
    """Draw walks that visit no square twice until one has ``wanted`` squares.

    If none has after many draws, the longest of them is returned.
    """
    longest: list[int] = []
    for _ in range(_MAX_WALKS):
        walk = [integer(rng, 0, side**2 - 1)]
        while len(walk) < wanted:
            options = [square for square in _near(side)[walk[-1]] if square not in walk]
            if not options:
                break
            walk.append(pick(rng, options))
        longest = max(longest, walk, key=len)
        if len(longest) == wanted:
            break
    return longest


def _fault(tour: list[int], free: frozenset[int], start: int, side: int) -> str:
    """Return what is wrong with a tour, or the empty string."""
    if tour[0] != start:
        return "the tour does not start on the given square"
    if len(set(tour)) < len(tour):
        return "a square is visited twice"
    if not free.issuperset(tour):
        return "the tour enters a hole"
    for one, other in itertools.pairwise(tour):
        if other not in _near(side)[one]:
            return f"{_show([one, other], side)} is not a knight's move"
    return "" if len(tour) == len(free) else f"only {len(tour)} of {len(free)} squares are visited"


def _by_rule(rng: Rng, free: frozenset[int], start: int, side: int) -> list[int]:
    """Return the squares visited by Warnsdorff's rule until there is no way on."""
    tour = [start]
    left = set(free) - {start}
    near = _near(side)
    while options := [square for square in near[tour[-1]] if square in left]:
        ways = {square: sum(other in left for other in near[square]) for square in options}
        fewest = min(ways.values())
        tour.append(pick(rng, [square for square in options if ways[square] == fewest]))
        left.remove(tour[-1])
    return tour


def _failures(rng: Rng, walk: list[int], side: int) -> int:
    """Return how many tries by Warnsdorff's rule miss a square."""
    free = frozenset(walk)
    tours = [_by_rule(rng, free, walk[0], side) for _ in range(_N_TRIES)]
    return sum(len(tour) < len(free) for tour in tours)


def _steps(free: Sequence[int], side: int, limit: int) -> int:
    """Return on how many squares a search steps that starts on the first of the free ones."""
    left = set(free)
    trail = [iter(free[:1])]
    path: list[int] = []
    steps = 0
    while trail and steps < limit:
        square = next(trail[-1], None)
        if square is None:
            trail.pop()
            if path:
                left.add(path.pop())
            continue
        steps += 1
        path.append(square)
        left.remove(square)
        if not left:
            break
        is_lost = _is_lost(square, left, side)
        trail.append(iter(()) if is_lost else _by_fewest_ways_on(square, left, side))
    return steps


def _is_lost(here: int, left: set[int], side: int) -> bool:
    """Return whether a square cannot be reached, or two of them only as the last one."""
    near = _near(side)
    beside = near[here]
    ways = [sum(other in left for other in near[s]) + (s in beside) for s in left]
    return 0 in ways or ways.count(1) > 1


def _by_fewest_ways_on(square: int, left: set[int], side: int) -> Iterator[int]:
    near = _near(side)
    options = [other for other in near[square] if other in left]
    return iter(sorted(options, key=lambda other: sum(next_ in left for next_ in near[other])))


@cache
def _near(side: int) -> tuple[tuple[int, ...], ...]:
    """Return the squares that are a knight's move from each square."""
    found = []
    for square in range(side**2):
        row, column = divmod(square, side)
        cells = [(row + down, column + right) for down, right in _LEAPS]
        found.append(tuple(r * side + c for r, c in cells if 0 <= r < side and 0 <= c < side))
    return tuple(found)


def _name(square: int, side: int) -> str:
    return f"{_COLUMNS[square % side]}{square // side + 1}"


@cache
def _squares(side: int) -> dict[str, int]:
    return {_name(square, side): square for square in range(side**2)}


def _read_board(board: str) -> tuple[frozenset[int], int]:
    """Return the free squares and the side of the board."""
    signs = board.replace("\n", "")
    free = frozenset(square for square, sign in enumerate(signs) if sign == FREE)
    return free, board.count("\n") + 1


def _read(answer: str, side: int) -> list[int] | None:
    pieces = words(answer, max_items=2 * side**2)
    found = [_squares(side).get(piece.upper()) for piece in pieces or ()]
    known = [square for square in found if square is not None]
    return known if known and len(known) == len(found) else None


def _show(tour: list[int], side: int) -> str:
    return ", ".join(_name(square, side) for square in tour)
