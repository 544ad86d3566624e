"""Water jugs: all short answers poured by other code, exact lengths, forms, knobs."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.water_jugs import WaterJugsConfig, WaterJugsProblem, WaterJugsTask

TASK = WaterJugsTask(WaterJugsConfig.at(0))
STRICT = WaterJugsTask(WaterJugsConfig(optimal_only=True))
CLASSIC = WaterJugsProblem(
    (3, 5),
    (0, 0),
    ((1, 4),),
    True,
    6,
    "fill 2, pour 2 to 1, empty 1, pour 2 to 1, fill 2, pour 2 to 1",
)
DRY = WaterJugsProblem((8, 5, 3), (8, 0, 0), ((0, 3),), False, 1, "pour 1 to 2")


def pour(litres, sizes, words):
    """The contents after a move, litre by litre."""
    litres = dict(litres)
    kind, jug, *into = words.replace(" to", "").split()
    jug = int(jug)
    if kind == "fill":
        litres[jug] = sizes[jug]
    elif kind == "empty":
        litres[jug] = 0
    else:
        while litres[jug] and litres[int(into[0])] < sizes[int(into[0])]:
            litres[jug] -= 1
            litres[int(into[0])] += 1
    return litres


def moves_of(problem):
    jugs = range(1, len(problem.capacities) + 1)
    tap = [f"{kind} {jug}" for jug in jugs for kind in ("fill", "empty")] if problem.has_tap else []
    return tap + [f"pour {a} to {b}" for a, b in itertools.permutations(jugs, 2)]


def numbered(amounts):
    return dict(enumerate(amounts, 1))


def is_done(problem, litres):
    return all(litres[jug + 1] == amount for jug, amount in problem.goal)


@pytest.mark.parametrize("seed", range(6))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("WaterJugs", seed))
    sizes = numbered(problem.capacities)
    for length in range(1, 4):
        for moves in itertools.product(moves_of(problem), repeat=length):
            litres = numbered(problem.start)
            for move in moves:
                litres = pour(litres, sizes, move)
            done = is_done(problem, litres)
            assert (TASK.verify(problem, ", ".join(moves)).score == 1.0) == done
            assert not done or length >= problem.shortest


@pytest.mark.parametrize("difficulty", [0, 3, 5, 9])
def test_shortest_lengths_are_exact(difficulty):
    for seed in range(3):
        problem = WaterJugsTask(WaterJugsConfig.at(difficulty)).generate(stream("Exact", seed))
        sizes = numbered(problem.capacities)
        layer = [numbered(problem.start)]
        seen, depth = {problem.start}, 0
        while not any(is_done(problem, litres) for litres in layer):
            after = [pour(litres, sizes, move) for litres in layer for move in moves_of(problem)]
            fresh = {tuple(litres.values()) for litres in after} - seen
            seen |= fresh
            layer = [numbered(amounts) for amounts in sorted(fresh)]
            depth += 1
        assert problem.shortest == depth >= 1


def test_problems_without_a_tap():
    task = WaterJugsTask(WaterJugsConfig(no_tap_percent=100))
    for seed in range(5):
        problem = task.generate(stream("WaterJugs", "dry", seed))
        assert not problem.has_tap
        assert max(problem.start) == max(problem.capacities) == sum(problem.start)
        assert "tap" not in problem.solution
        assert "cannot add water" in task.prompt(problem)
        assert task.verify(problem, "fill 1, " + problem.solution).score == 0.0


@pytest.mark.parametrize(
    ("answer", "score", "strict"),
    [
        (CLASSIC.solution, 1.0, 1.0),
        ("Fill jug 2; pour 2 into 1\nempty 1, pour 2->1, fill 2, pour 2-1", 1.0, 1.0),
        (rf"\text{{{CLASSIC.solution}}}", 1.0, 1.0),
        (f"```\n{CLASSIC.solution}\n```", 1.0, 1.0),
        ("fill 2, fill 2, pour 2 1, empty 1, pour 2 1, fill 2, pour 2 1", 1.0, 6 / 7),
        ("fill 2, pour 2 to 1, empty 1, pour 2 to 1, fill 2", 0.0, 0.0),
        ("fill 2, pour 2 to 1, empty 1, pour 2 to 1, fill 2, pour 2 to 2", 0.0, 0.0),
        ("fill 0, " + CLASSIC.solution, 0.0, 0.0),
        ("fill 3, " + CLASSIC.solution, 0.0, 0.0),
        ("fill -1, " + CLASSIC.solution, 0.0, 0.0),
        (CLASSIC.solution + ",", 0.0, 0.0),
        (CLASSIC.solution + ", then 4 litres", 0.0, 0.0),
        ("drink 1", 0.0, 0.0),
        ("empty 1, " * 494 + CLASSIC.solution, 1.0, 6 / 500),
        ("empty 1, " * 495 + CLASSIC.solution, 0.0, 0.0),
    ],
)
def test_forms_and_near_misses(answer, score, strict):
    assert TASK.verify(CLASSIC, answer).score == score
    assert STRICT.verify(CLASSIC, answer).score == pytest.approx(strict)


def test_only_pouring_without_a_tap():
    assert TASK.verify(DRY, "pour 1 to 2").score == 1.0
    assert TASK.verify(DRY, "empty 1, fill 3, pour 3 to 1").score == 0.0


@pytest.mark.parametrize(
    "knob",
    [
        {"n_jugs": 1},
        {"n_jugs": 7},
        {"n_targets": 0},
        {"n_targets": 4},
        {"max_capacity": 4},
        {"no_tap_percent": 101},
        {"max_states": 0},
        {"least_moves": 0},
        {"least_moves": 31},
        {"most_moves": 0},
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        WaterJugsConfig(**knob)


def test_effort_counts_the_nearer_states():
    assert TASK.effort(DRY) == 1  # the start alone
    two = WaterJugsProblem((3, 5), (0, 0), ((1, 3),), True, 2, "fill 1, pour 1 to 2")
    assert TASK.effort(two) == 3  # both empty, or one of them full


def test_the_baseline_stops_at_the_goal():
    one = WaterJugsProblem((3, 5), (3, 5), ((0, 0), (1, 5)), True, 1, "empty 1")
    assert TASK.baseline(stream("baseline"), one) == "empty 1"


@pytest.mark.parametrize("most", [1, 3, 6])
def test_no_solution_is_longer_than_asked(most):
    task = WaterJugsTask(WaterJugsConfig(most_moves=most, least_moves=1))
    for seed in range(5):
        assert 1 <= task.generate(stream("WaterJugs", "most", seed)).shortest <= most
