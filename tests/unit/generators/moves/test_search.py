"""Shortest paths on a grid with walls, against networkx; limits, and what a stray player does."""

import pytest

from rlvr_envs.core.seeding import integer, stream
from rlvr_envs.generators.moves.scoring import graded, stray
from rlvr_envs.generators.moves.search import distances, reachable, shortest_path

SIZE = 7
STEPS = {"R": (0, 1), "D": (1, 0), "L": (0, -1), "U": (-1, 0)}


def maze(seed):
    rng = stream("maze", seed)
    cells = [(r, c) for r in range(SIZE) for c in range(SIZE)]
    free = {cell for cell in cells if integer(rng, 0, 9) > 2} | {(0, 0)}

    def neighbours(cell):
        for name, (down, right) in STEPS.items():
            other = cell[0] + down, cell[1] + right
            if other in free:
                yield name, other

    return free, neighbours


def hand_distances(free):
    """Lengths of shortest ways from the corner, by relaxing every edge until nothing changes."""
    far = dict.fromkeys(free, 10**6) | {(0, 0): 0}
    for _ in range(len(free)):
        for r, c in free:
            for down, right in STEPS.values():
                other = r + down, c + right
                if other in free:
                    far[other] = min(far[other], far[r, c] + 1)
    return far


@pytest.mark.parametrize("seed", range(8))
def test_paths_are_shortest(seed):
    free, neighbours = maze(seed)
    far = hand_distances(free)
    reached, complete = distances([(0, 0)], neighbours, limit=1000)
    assert complete
    assert sorted(reachable((0, 0), neighbours, limit=len(reached))) == sorted(reached)
    assert reachable((0, 0), neighbours, limit=len(reached) - 1) is None
    assert reached == {cell: steps for cell, steps in far.items() if steps < 10**6}
    for goal in sorted(free):
        plain = shortest_path((0, 0), neighbours, goal.__eq__, limit=1000)
        guided = shortest_path(
            (0, 0),
            neighbours,
            goal.__eq__,
            limit=1000,
            estimate=lambda cell, goal=goal: abs(cell[0] - goal[0]) + abs(cell[1] - goal[1]),
        )
        if goal not in reached:
            assert plain.moves is guided.moves is None
            assert plain.complete
            continue
        assert guided.expanded <= plain.expanded
        for route in (plain, guided):
            assert len(route.moves) == far[goal]
            r = c = 0
            for name in route.moves:
                r, c = r + STEPS[name][0], c + STEPS[name][1]
                assert (r, c) in free
            assert (r, c) == goal


def test_limits_are_kept():
    def line(n):
        yield "on", n + 1

    route = shortest_path(0, line, lambda n: n == 50, limit=20)
    assert (route.moves, route.expanded, route.complete) == (None, 20, False)
    known, complete = distances([0], line, limit=20)
    assert (len(known), complete) == (20, False)


def test_a_search_from_a_goal_has_nothing_to_do():
    assert shortest_path(3, lambda n: [], lambda n: n == 3, limit=1).moves == ()


def test_a_stray_player_stops_at_the_goal_in_dead_ends_and_at_the_limit():
    def fork(n):
        return [("a", n + 1), ("back", max(0, n - 1))]

    rng = stream("stray", 1)
    assert stray(0, fork, lambda n: n == 3, rng, limit=10) == ["a", "a", "a"]
    assert stray(0, fork, lambda n: n == 9, rng, limit=4) == ["a"] * 4
    assert stray(0, lambda n: [("b", 1)] if n == 0 else [], lambda n: False, rng, limit=9) == ["b"]


def test_scores_of_lengths():
    assert graded(4, 4, optimal_only=True).score == 1.0
    assert graded(8, 4, optimal_only=True).score == 0.5
    assert graded(8, 4, optimal_only=False).score == 1.0
    assert not graded(3, 4, optimal_only=False).scored
