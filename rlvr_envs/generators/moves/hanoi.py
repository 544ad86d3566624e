"""The tower of Hanoi with any number of pegs: its moves, its words, its shortest solutions.

A state names the peg of each disc, discs from the smallest to the largest and pegs from 0. Every
such tuple is one position, since discs on a peg can only lie in order of size.
"""

import re
from collections.abc import Iterator

from rlvr_envs.core.seeding import Rng, integer, integers
from rlvr_envs.generators.moves.search import Route, shortest_path
from rlvr_envs.verifiers.markup import hyphened
from rlvr_envs.verifiers.parse import words

Pegs = tuple[int, ...]
MoveOnPegs = tuple[int, int]  # from a peg to a peg

# Positions of the largest puzzle whose shortest solution is still searched for: 11 discs on three
# pegs, 8 on four.
MAX_POSITIONS = 200_000

_MOVE = re.compile(r"([0-9]{1,3})(?:-|->|→)([0-9]{1,3})")


def moves_of(state: Pegs, n_pegs: int) -> Iterator[tuple[MoveOnPegs, Pegs]]:
    """Yield every legal move with the state after it."""
    tops = [len(state)] * n_pegs  # the smallest disc of each peg
    for disc in range(len(state) - 1, -1, -1):
        tops[state[disc]] = disc
    for source, disc in enumerate(tops):
        for target, other in enumerate(tops):
            if disc < other:
                yield (source, target), (*state[:disc], target, *state[disc + 1 :])


def after(state: Pegs, move: MoveOnPegs) -> Pegs | str:
    """Return the state after a move, or why the move is not legal, with pegs numbered from 1."""
    source, target = move
    disc = state.index(source) if source in state else None
    if disc is None:
        return f"peg {source + 1} is empty"
    if source == target:
        return f"disc {disc + 1} is already on peg {target + 1}"
    if target in state[:disc]:
        smaller = state.index(target) + 1
        return f"disc {disc + 1} must not be put on disc {smaller}, which is smaller"
    return (*state[:disc], target, *state[disc + 1 :])


def shortest(start: Pegs, goal: Pegs, n_pegs: int) -> Route[MoveOnPegs]:
    """Return a shortest solution; each disc out of place needs at least one move."""
    return shortest_path(
        start,
        lambda state: moves_of(state, n_pegs),
        goal.__eq__,
        limit=MAX_POSITIONS,
        estimate=lambda state: sum(map(int.__ne__, state, goal)),
    )


def shortest_on_three_pegs(start: Pegs, goal: Pegs) -> list[MoveOnPegs]:
    """Return a shortest solution: the largest disc that differs moves once, or twice round."""
    if start == goal:
        return []
    if start[-1] == goal[-1]:
        return shortest_on_three_pegs(start[:-1], goal[:-1])
    here, there = start[-1], goal[-1]
    spare = 3 - here - there
    smaller, wanted = start[:-1], goal[:-1]
    once = [*_gathered(smaller, spare), (here, there), *_scattered(wanted, spare)]
    across = _gathered((there,) * len(smaller), here)
    twice = [
        *(*_gathered(smaller, there), (here, spare), *across),
        *((spare, there), *_scattered(wanted, here)),
    ]
    return min(once, twice, key=len)


def _gathered(state: Pegs, peg: int) -> list[MoveOnPegs]:
    """Return the moves that bring all discs to one of three pegs."""
    if not state:
        return []
    if state[-1] == peg:
        return _gathered(state[:-1], peg)
    spare = 3 - state[-1] - peg
    smaller = state[:-1]
    return [
        *(*_gathered(smaller, spare), (state[-1], peg)),
        *_gathered((spare,) * len(smaller), peg),
    ]


def _scattered(goal: Pegs, peg: int) -> list[MoveOnPegs]:
    """Return the moves that bring all discs from one of three pegs to a position."""
    return [(target, source) for source, target in reversed(_gathered(goal, peg))]


def draw_positions(rng: Rng, n_discs: int, n_pegs: int) -> tuple[Pegs, Pegs]:
    """Draw two positions between which the largest disc moves."""
    start = integers(rng, 0, n_pegs - 1, n_discs)
    smaller = integers(rng, 0, n_pegs - 1, n_discs - 1)
    return start, (*smaller, (start[-1] + integer(rng, 1, n_pegs - 1)) % n_pegs)


def read_moves(answer: str, n_pegs: int, limit: int) -> list[MoveOnPegs] | None:
    """Return moves such as ``1-3, 2-3`` as pairs of pegs from 0; None if they are not moves."""
    pieces = words(hyphened(answer), max_items=limit)
    if not pieces:
        return None
    found = [(int(m[1]) - 1, int(m[2]) - 1) for m in map(_MOVE.fullmatch, pieces) if m]
    known = all(0 <= peg < n_pegs for move in found for peg in move)
    return found if known and len(found) == len(pieces) else None


def show_move(move: MoveOnPegs) -> str:
    """Return a move as `read_moves` reads it."""
    return f"{move[0] + 1}-{move[1] + 1}"


def show_state(state: Pegs, n_pegs: int) -> str:
    """Return a position, one peg per line, each with its discs from the bottom to the top."""
    lines = []
    for peg in range(n_pegs):
        discs = [str(disc + 1) for disc in range(len(state) - 1, -1, -1) if state[disc] == peg]
        lines.append(f"Peg {peg + 1}: {', '.join(discs) or 'empty'}")
    return "\n".join(lines)


def rules(n_discs: int, n_pegs: int) -> str:
    """Return the rules in words."""
    discs = (
        f"{n_discs} discs, numbered from 1 (the smallest) to {n_discs} (the largest)"
        if n_discs > 1
        else "one disc, with the number 1"
    )
    return (
        f"This is a Tower of Hanoi puzzle with {n_pegs} pegs, numbered from 1 to {n_pegs}, and "
        f"{discs}. A move takes the top disc of one peg and puts it on top of another peg. A disc "
        "must never be put on a smaller disc."
    )
