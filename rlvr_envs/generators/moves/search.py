"""Shortest paths through a puzzle's states: breadth-first and A* search with a state limit.

A state is any hashable value, most often a tuple. ``neighbours(state)`` gives its moves as pairs
of a move and the state after it, always in the same order, so that the paths found are the same
on every machine.
"""

import heapq
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

State = TypeVar("State", bound=Hashable)
Move = TypeVar("Move")
Neighbours = Callable[[State], Iterable[tuple[Move, State]]]


@dataclass(frozen=True, slots=True)
class Route(Generic[Move]):
    """What a search found.

    Attributes:
        moves: a shortest sequence of moves to a goal; None where no goal was reached.
        expanded: the number of states whose moves were looked at.
        complete: whether every reachable state was seen before the search gave up, so that
            ``moves`` being None proves that no goal can be reached.
    """

    moves: tuple[Move, ...] | None
    expanded: int
    complete: bool


def shortest_path(
    start: State,
    neighbours: Neighbours[State, Move],
    is_goal: Callable[[State], bool],
    *,
    limit: int,
    estimate: Callable[[State], int] | None = None,
) -> Route[Move]:
    """Return a shortest sequence of moves from ``start`` to a goal, expanding ``limit`` states.

    Args:
        start: the first state.
        neighbours: the moves of a state.
        is_goal: whether a state is a goal.
        limit: how many states may be expanded before the search gives up.
        estimate: a number of moves that the way to a goal takes at least. It must fall by at most
            one with a move; without it the search is breadth-first.
    """
    estimated = estimate or (lambda _: 0)
    # With an estimate, ties go to the state found last, which is mostly the one nearest to a goal.
    turn = 1 if estimate is None else -1
    came: dict[State, tuple[State, Move] | None] = {start: None}
    cost = {start: 0}
    queue: list[tuple[int, int, State]] = [(estimated(start), 0, start)]
    order, expanded = 0, 0
    closed: set[State] = set()
    while queue:
        _, _, state = heapq.heappop(queue)
        if state in closed:
            continue
        if is_goal(state):
            return Route(_way_back(came, state), expanded, False)
        if expanded == limit:
            return Route(None, expanded, False)
        closed.add(state)
        expanded += 1
        after = cost[state] + 1
        for move, following in neighbours(state):
            if after < cost.get(following, after + 1):
                came[following] = state, move
                cost[following] = after
                order += turn
                heapq.heappush(queue, (after + estimated(following), order, following))
    return Route(None, expanded, True)


def _way_back(came: dict[State, tuple[State, Move] | None], state: State) -> tuple[Move, ...]:
    moves: list[Move] = []
    step = came[state]
    while step is not None:
        moves.append(step[1])
        step = came[step[0]]
    return tuple(reversed(moves))


def reachable(
    start: State, neighbours: Neighbours[State, Move], *, limit: int
) -> list[State] | None:
    """Return every state that can be reached, or None if there are more than ``limit``."""
    found = [start]
    known = {start}
    for state in found:
        for _, other in neighbours(state):
            if other not in known:
                known.add(other)
                found.append(other)
        if len(found) > limit:
            return None
    return found


def distances(
    starts: Iterable[State], neighbours: Neighbours[State, Move], *, limit: int
) -> tuple[dict[State, int], bool]:
    """Return how far states are from the nearest start, and whether these are all the states.

    Whole layers are found one after another until ``limit`` states are known, so every distance is
    exact even where the search stopped early. The states stand in the order they were found in.
    """
    known = dict.fromkeys(starts, 0)
    layer, depth = list(known), 0
    while layer and len(known) < limit:
        depth += 1
        following = []
        for state in layer:
            for _, other in neighbours(state):
                if other not in known:
                    known[other] = depth
                    following.append(other)
        layer = following
    return known, not layer
