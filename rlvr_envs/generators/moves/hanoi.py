"""The tower of Hanoi with any number of pegs: its moves, its words, its shortest solutions.

A state names the peg of each disc, discs from the smallest to the largest and pegs from 0. Every
such tuple is one position, since discs on a peg can only lie in order of size.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from rlvr_envs.core.seeding import Rng, integer, integers
from rlvr_envs.generators.moves.search import shortest_path
from rlvr_envs.verifiers.markup import hyphened
from rlvr_envs.verifiers.parse import words

Pegs = tuple[int, ...]
MoveOnPegs = tuple[int, int]  # from a peg to a peg

# Positions of the largest puzzle whose shortest solution is still searched for: 11 discs on three
# pegs, 8 on four.
MAX_POSITIONS = 200_000
_MAX_TREE = 1024  # positions up to which the ways from all of them are found at once, and kept

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


def shortest(start: Pegs, goal: Pegs, n_pegs: int) -> tuple[MoveOnPegs, ...]:
    """Return a shortest solution."""
    if n_pegs == 3:
        return _on_three_pegs(start, goal)
    if n_pegs ** len(goal) > _MAX_TREE:
        return _searched(start, goal, n_pegs)
    # Goals that differ only in the pegs' names share a tree: there are few of them.
    names = list(dict.fromkeys(reversed(goal)))
    names += [peg for peg in range(n_pegs) if peg not in names]
    renamed = {peg: name for name, peg in enumerate(names)}
    state = tuple([renamed[peg] for peg in start])
    onward = _tree(tuple([renamed[peg] for peg in goal]), n_pegs)
    moves = []
    step = onward[state]
    while step is not None:
        (source, target), state = step
        moves.append((names[source], names[target]))
        step = onward[state]
    return tuple(moves)


def _searched(start: Pegs, goal: Pegs, n_pegs: int) -> tuple[MoveOnPegs, ...]:
    """Return what an A* search finds; each disc out of place needs at least one move."""
    route = shortest_path(
        start,
        lambda state: moves_of(state, n_pegs),
        goal.__eq__,
        limit=MAX_POSITIONS,
        estimate=lambda state: sum(map(int.__ne__, state, goal)),
    )
    return route.moves or ()


@lru_cache(maxsize=128)
def _tree(goal: Pegs, n_pegs: int) -> dict[Pegs, tuple[MoveOnPegs, Pegs] | None]:
    """Return the first move of a shortest way from each position to the goal, and where it ends."""
    onward: dict[Pegs, tuple[MoveOnPegs, Pegs] | None] = {goal: None}
    waiting = [goal]
    for state in waiting:
        for (source, target), other in moves_of(state, n_pegs):
            if other not in onward:
                onward[other] = (target, source), state
                waiting.append(other)
    return onward


def _on_three_pegs(start: Pegs, goal: Pegs) -> tuple[MoveOnPegs, ...]:
    """Return a shortest solution: the largest disc that differs moves once, or twice round."""
    if start == goal:
        return ()
    if start[-1] == goal[-1]:
        return _on_three_pegs(start[:-1], goal[:-1])
    here, there = start[-1], goal[-1]
    spare = 3 - here - there
    smaller, wanted = start[:-1], goal[:-1]
    before, behind = _gathered(smaller, spare), _gathered(wanted, spare)
    early, late = _gathered(smaller, there), _gathered(wanted, here)
    if len(before) + len(behind) <= len(early) + 2 ** len(smaller) + len(late):
        return (*before, (here, there), *_reversed(behind))
    across = _gathered((there,) * len(smaller), here)
    return (*early, (here, spare), *across, (spare, there), *_reversed(late))


@lru_cache(maxsize=512)
def _gathered(state: Pegs, peg: int) -> tuple[MoveOnPegs, ...]:
    """Return the moves that bring all discs to one of three pegs."""
    if not state:
        return ()
    smaller, on = state[:-1], state[-1]
    if on == peg:
        return _gathered(smaller, peg)
    spare = 3 - on - peg
    return (*_gathered(smaller, spare), (on, peg), *_gathered((spare,) * len(smaller), peg))


def _reversed(moves: tuple[MoveOnPegs, ...]) -> list[MoveOnPegs]:
    """Return the moves that take moves back."""
    return [(target, source) for source, target in moves[::-1]]


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


@lru_cache(maxsize=1024)
def show_state(state: Pegs, n_pegs: int) -> str:
    """Return a position, one peg per line, each with its discs from the bottom to the top."""
    pegs: list[list[str]] = [[] for _ in range(n_pegs)]
    for disc in range(len(state), 0, -1):
        pegs[state[disc - 1]].append(str(disc))
    return "\n".join(
        [f"Peg {peg}: {', '.join(discs) or 'empty'}" for peg, discs in enumerate(pegs, 1)]
    )


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
