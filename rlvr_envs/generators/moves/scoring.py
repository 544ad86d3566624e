"""What the move puzzles share: how moves are scored, and a player who does not plan."""

from collections.abc import Callable, Collection
from typing import TypeVar

from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.moves.search import Move, Neighbours, State

T = TypeVar("T")

MOST_LEAST_MOVES = 30  # highest value of a knob
_MAX_DRAWS = 20

SHORTEST_WANTED = (
    "A solution with as few moves as possible earns full marks; a longer one earns less."
)


def long_enough(draw: Callable[[], T], n_moves: Callable[[T], int], least: int) -> T:
    """Draw until a solution takes ``least`` moves; return the longest where none in time does."""
    drawn = list[T]()
    for _ in range(_MAX_DRAWS):
        drawn.append(draw())
        if n_moves(drawn[-1]) >= least:
            return drawn[-1]
    return max(drawn, key=n_moves)


def graded(n_moves: int, shortest: int, *, optimal_only: bool) -> Verdict:
    """Score a sequence of moves that reaches the goal.

    Any earns full marks, or, under ``optimal_only``, the share of its length that was needed.
    """
    parts = {"moves": float(n_moves), "shortest": float(shortest)}
    if n_moves < shortest:
        return Verdict.verifier_error(
            f"{n_moves} moves, but the shortest known solution has {shortest}"
        )
    if n_moves == shortest:
        return Verdict.correct("solved with as few moves as possible", **parts)
    if optimal_only:
        return Verdict.graded(shortest / n_moves, "solved, with more moves than needed", **parts)
    return Verdict.correct("solved", **parts)


def stray(
    start: State,
    neighbours: Neighbours[State, Move],
    is_goal: Callable[[State], bool],
    rng: Rng,
    *,
    limit: int,
) -> list[Move]:
    """Return the moves of a player who never goes back to a state and otherwise moves at random.

    They end at a goal, in a dead end or after ``limit`` moves; there is always at least one move
    where the start has one.
    """
    state, seen, moves = start, {start}, list[Move]()
    while len(moves) < limit:
        options = [(move, other) for move, other in neighbours(state) if other not in seen]
        if not options:
            break
        wins = [option for option in options if is_goal(option[1])]
        move, state = pick(rng, wins or options)
        moves.append(move)
        seen.add(state)
        if wins:
            break
    return moves


def plural(count: int, noun: str) -> str:
    """Return a number with its noun, such as ``1 move`` or ``3 moves``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listing(words: Collection[str]) -> str:
    """Return words as a list in a sentence: ``a``, ``a and b``, ``a, b and c``."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
