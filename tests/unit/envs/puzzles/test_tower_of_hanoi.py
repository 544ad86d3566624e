"""Tower of Hanoi: the whole small world, shortest lengths by another method, forms, knobs."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.tower_of_hanoi import (
    TowerOfHanoiConfig,
    TowerOfHanoiProblem,
    TowerOfHanoiTask,
)
from rlvr_envs.generators.moves import hanoi

TASK = TowerOfHanoiTask(TowerOfHanoiConfig.at(0))
STRICT = TowerOfHanoiTask(TowerOfHanoiConfig(optimal_only=True))
# Both discs from peg 1 to peg 3.
TOWER = TowerOfHanoiProblem(3, (0, 0), (2, 2), 8, 3, ((0, 1), (0, 2), (1, 2)))


def play(start, moves, n_pegs):
    """The position after the moves, with stacks of discs, or None if one breaks a rule."""
    stacks = [
        [disc for disc in reversed(range(len(start))) if start[disc] == p] for p in range(n_pegs)
    ]
    for source, target in moves:
        if source == target or not stacks[source]:
            return None
        if stacks[target] and stacks[target][-1] < stacks[source][-1]:
            return None
        stacks[target].append(stacks[source].pop())
    return tuple(next(p for p in range(n_pegs) if disc in stacks[p]) for disc in range(len(start)))


@pytest.mark.parametrize("seed", range(12))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("TowerOfHanoi", seed))
    pairs = list(itertools.product(range(problem.n_pegs), repeat=2))
    solved = []
    for length in range(1, 4):
        for moves in itertools.product(pairs, repeat=length):
            reached = play(problem.start, moves, problem.n_pegs) == problem.goal
            verdict = TASK.verify(problem, ", ".join(f"{a + 1}-{b + 1}" for a, b in moves))
            assert (verdict.score == 1.0) == reached
            if reached:
                solved.append(length)
    assert min(solved, default=4) == min(problem.shortest, 4)


def to_one_peg(discs, peg):
    """Moves that gather the discs on one peg of three: Hinz's recursion from the largest down."""
    if not discs:
        return 0
    if discs[-1] == peg:
        return to_one_peg(discs[:-1], peg)
    return to_one_peg(discs[:-1], 3 - discs[-1] - peg) + 2 ** (len(discs) - 1)


def on_three_pegs(start, goal):
    """The shortest length: the largest disc that differs moves once, or twice by the third peg."""
    while start and start[-1] == goal[-1]:
        start, goal = start[:-1], goal[:-1]
    if not start:
        return 0
    here, there = start[-1], goal[-1]
    other = 3 - here - there
    smaller, wanted = start[:-1], goal[:-1]
    once = to_one_peg(smaller, other) + 1 + to_one_peg(wanted, other)
    twice = to_one_peg(smaller, there) + 1 + 2 ** len(smaller) - 1 + 1 + to_one_peg(wanted, here)
    return min(once, twice)


@pytest.mark.parametrize("difficulty", [0, 4, 10, 12])
def test_shortest_by_the_recursion_for_three_pegs(difficulty):
    config = TowerOfHanoiConfig(n_discs=TowerOfHanoiConfig.at(difficulty).n_discs, max_pegs=3)
    for seed in range(8):
        problem = TowerOfHanoiTask(config).generate(stream("TowerOfHanoi", "three", seed))
        assert problem.shortest == on_three_pegs(problem.start, problem.goal)
        assert problem.shortest < problem.max_moves
        assert play(problem.start, problem.solution, 3) == problem.goal


@pytest.mark.parametrize("n_discs", [1, 2, 3, 5])
def test_three_pegs_without_a_search(n_discs):
    for seed in range(20):
        start, goal = hanoi.draw_positions(stream("TowerOfHanoi", "pair", seed), n_discs, 3)
        moves = hanoi.shortest(start, goal, 3)
        assert play(start, moves, 3) == goal
        assert len(moves) == on_three_pegs(start, goal)
    assert hanoi.shortest((0, 1), (0, 1), 3) == ()


def reached(start, n_pegs):
    """How many moves each position takes, by trying every pair of pegs."""
    known, layer = {start: 0}, [start]
    for position in layer:
        for move in itertools.permutations(range(n_pegs), 2):
            after = play(position, [move], n_pegs)
            if after is not None and after not in known:
                known[after] = known[position] + 1
                layer.append(after)
    return known


@pytest.mark.parametrize(("n_discs", "n_pegs"), [(1, 4), (3, 4), (2, 7), (3, 3), (6, 4)])
def test_shortest_between_any_two_positions(n_discs, n_pegs):
    """Up to 1,024 positions the ways to a goal are kept; there are more with six discs."""
    positions = list(itertools.product(range(n_pegs), repeat=n_discs))
    starts = positions if len(positions) < 100 else positions[7 : len(positions) : 2000]
    for start in starts:
        known = reached(start, n_pegs)
        assert len(known) == len(positions)
        for goal in positions if len(positions) < 100 else positions[::500]:
            moves = hanoi.shortest(start, goal, n_pegs)
            assert play(start, moves, n_pegs) == goal
            assert len(moves) == known[goal]


def test_placed_discs_stay():
    task = TowerOfHanoiTask(TowerOfHanoiConfig(n_discs=5, n_placed=3))
    for seed in range(6):
        problem = task.generate(stream("TowerOfHanoi", "placed", seed))
        assert problem.start[2:] == problem.goal[2:]
        assert problem.start[1] != problem.goal[1]
        assert play(problem.start, problem.solution, problem.n_pegs) == problem.goal
        assert problem.max_moves == 8
        assert task.explain(problem)[0].startswith("Disc 2,")


def test_effort_and_the_baseline_on_the_smallest_tower():
    one = TowerOfHanoiProblem(3, (0,), (2,), 4, 1, ((0, 2),))
    assert TASK.effort(one) == 1
    assert TASK.effort(TOWER) == 3
    assert TASK.baseline(stream("baseline"), one) == "1-3"  # the goal is next to the start


@pytest.mark.parametrize(("n_discs", "length"), [(3, 5), (4, 9), (5, 13), (6, 17)])
def test_shortest_of_towers_on_four_pegs(n_discs, length):
    moves = hanoi.shortest((0,) * n_discs, (3,) * n_discs, 4)
    assert len(moves) == length  # the Frame-Stewart numbers, proven for four pegs


@pytest.mark.parametrize(
    ("answer", "score", "strict"),
    [
        ("1-2, 1-3, 2-3", 1.0, 1.0),
        ("[1-2 1-3 2-3]", 1.0, 1.0),
        ("1->2; 1→3\n2-3", 1.0, 1.0),
        ("1-2, 2-1, 1-2, 1-3, 2-3", 1.0, 0.6),
        ("1 - 2, 1 -> 3, 2- 3", 1.0, 1.0),
        ("1\u20132, 1 \u2212 3, 2\u20143", 1.0, 1.0),
        ("1-2 - 1-3 - 2-3", 0.0, 0.0),
        ("1-2, 1-3", 0.0, 0.0),
        ("1-3, 1-3", 0.0, 0.0),  # the larger on the smaller disc
        ("1-1, 1-2, 1-3, 2-3", 0.0, 0.0),
        ("2-3, 1-2, 1-3, 2-3", 0.0, 0.0),  # from an empty peg
        ("0-1, 0-2, 1-2", 0.0, 0.0),
        ("1-4, 1-3, 4-3", 0.0, 0.0),
        ("1-2, 1-3, 2-3 or so", 0.0, 0.0),
        ("12, 13, 23", 0.0, 0.0),
        ("1-2.0, 1-3, 2-3", 0.0, 0.0),
        ("", 0.0, 0.0),
        ("1-2, 2-1, 1-2, 2-1, 1-2, 2-1, 1-2, 1-3, 2-3", 0.0, 0.0),  # nine moves
    ],
)
def test_forms_and_near_misses(answer, score, strict):
    assert TASK.verify(TOWER, answer).score == score
    assert STRICT.verify(TOWER, answer).score == pytest.approx(strict)


def test_the_prompt_asks_for_shortest_solutions_only_where_they_count():
    assert "as few moves as possible" in STRICT.prompt(TOWER)
    assert "as few moves as possible" not in TASK.prompt(TOWER)


@pytest.mark.parametrize(
    "knob", [{"n_discs": 0}, {"max_pegs": 2}, {"n_discs": 9}, {"n_discs": 10**9}, {"n_placed": 4}]
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        TowerOfHanoiConfig(**knob)
