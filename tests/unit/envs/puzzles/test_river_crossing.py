"""River crossing: all short answers by other rules, exact lengths, classics, forms, knobs."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles import river_crossing
from rlvr_envs.envs.puzzles.river_crossing import (
    RiverCrossingConfig,
    RiverCrossingProblem,
    RiverCrossingTask,
)

TASK = RiverCrossingTask(RiverCrossingConfig.at(0))
STRICT = RiverCrossingTask(RiverCrossingConfig(optimal_only=True))
# Ada with a wolf (Ben), a goat (Cleo) and a cabbage (Dan).
FARMER = RiverCrossingProblem(
    names=("Ada", "Ben", "Cleo", "Dan"),
    seats=2,
    rowers=(0,),
    guarded=((1, 2, 0), (2, 3, 0)),
    outnumbered=((), ()),
    shortest=7,
    solution="Ada Cleo\nAda\nAda Ben\nAda Cleo\nAda Dan\nAda\nAda Cleo",
)


def is_quiet(problem, bank):
    """Whether no rule is broken on a bank, by the words of the prompt."""
    for one, other, guard in problem.guarded:
        if one in bank and other in bank and guard not in bank:
            return False
    first, second = (len(bank & set(group)) for group in problem.outnumbered)
    return first == 0 or second <= first


def cross(problem, banks, load):
    """The banks after a crossing, the boat's own bank first; None if a rule is broken."""
    here, there = banks
    load = set(load)
    if not load <= here or len(load) > problem.seats or not load & set(problem.rowers):
        return None
    here, there = here - load, there | load
    return (there, here) if is_quiet(problem, here) and is_quiet(problem, there) else None


def loads_of(problem):
    people = range(len(problem.names))
    return [g for k in range(1, problem.seats + 1) for g in itertools.combinations(people, k)]


def everyone(problem):
    return frozenset(range(len(problem.names)))


@pytest.mark.parametrize(("difficulty", "seed"), [(0, 0), (0, 1), (0, 2), (2, 3), (2, 4)])
def test_whole_small_world(difficulty, seed):
    task = RiverCrossingTask(RiverCrossingConfig.at(difficulty))
    problem = task.generate(stream("RiverCrossing", seed))
    for length in (1, 2, 3):
        for loads in itertools.product(loads_of(problem), repeat=length):
            banks = everyone(problem), frozenset()
            for load in loads:
                banks = banks and cross(problem, banks, load)
            over = banks is not None and length % 2 == 1 and banks[0] == everyone(problem)
            text = "\n".join(" ".join(problem.names[i] for i in load) for load in loads)
            assert (task.verify(problem, text).score == 1.0) == over


def fewest(problem):
    layer = [(everyone(problem), frozenset(), 0)]
    seen, depth = set(layer), 0
    while layer and not any(side and here == everyone(problem) for here, _, side in layer):
        after = []
        for here, there, side in layer:
            for load in loads_of(problem):
                banks = cross(problem, (here, there), load)
                if banks and (*banks, 1 - side) not in seen:
                    seen.add((*banks, 1 - side))
                    after.append((*banks, 1 - side))
        layer, depth = after, depth + 1
    return depth if layer else None


@pytest.mark.parametrize("difficulty", [0, 2, 4, 6])
def test_shortest_lengths_are_exact(difficulty):
    task = RiverCrossingTask(RiverCrossingConfig.at(difficulty))
    for seed in range(5):
        problem = task.generate(stream("RiverCrossing", "exact", seed))
        assert problem.shortest == fewest(problem)


@pytest.mark.parametrize(
    ("crossing", "length"),
    [
        (river_crossing.Crossing(4, 2, (0,), ((1, 2, 0), (2, 3, 0)), ((), ())), 7),  # the farmer
        # Missionaries and cannibals, with two and with three seats.
        (river_crossing.Crossing(6, 2, tuple(range(6)), (), ((0, 1, 2), (3, 4, 5))), 11),
        (
            river_crossing.Crossing(
                10, 3, tuple(range(10)), (), (tuple(range(5)), tuple(range(5, 10)))
            ),
            11,
        ),
        (river_crossing.Crossing(8, 2, tuple(range(8)), (), ((0, 1, 2, 3), (4, 5, 6, 7))), None),
        (river_crossing.Crossing(7, 3, (0,), (), ((), ())), 5),  # nobody minds anybody
    ],
)
def test_classics(crossing, length):
    route = crossing.solve()
    assert (route.moves and len(route.moves)) == length
    assert route.complete == (length is None)
    assert crossing.guarded or crossing.outnumbered[0] or crossing.fewest == length


@pytest.mark.parametrize(("n_travellers", "seats"), [(3, 2), (7, 2), (7, 3), (12, 5)])
def test_what_is_fewest_without_rules(n_travellers, seats):
    crossing = river_crossing.Crossing(n_travellers, seats, (0,), (), ((), ()))
    assert len(crossing.solve().moves) == crossing.fewest


@pytest.mark.parametrize(
    ("answer", "score", "strict"),
    [
        (FARMER.solution, 1.0, 1.0),
        (f"```text\n{FARMER.solution}\n```", 1.0, 1.0),
        ("cleo, ada; ada; [ben ada]; ada cleo; ada dan;\n\nada; cleo ada;", 1.0, 1.0),
        ("Ada Cleo\nAda\nAda\nAda\n" + FARMER.solution.split("\n", 2)[2], 1.0, 7 / 9),
        (FARMER.solution.rsplit("\n", 1)[0], 0.0, 0.0),
        ("Ada Ben\nAda", 0.0, 0.0),  # the goat eats the cabbage
        ("Ada Ben Cleo Dan", 0.0, 0.0),
        ("Cleo\nAda", 0.0, 0.0),
        ("Ada Cleo\nAda Ben", 0.0, 0.0),
        ("Ada Ada Cleo\n" + FARMER.solution.split("\n", 1)[1], 0.0, 0.0),
        (FARMER.solution.replace("Ben", "Eve"), 0.0, 0.0),
        (FARMER.solution.replace("Ada Ben", "Ada and Ben"), 1.0, 1.0),
        ("", 0.0, 0.0),
        ("Ada Cleo\n" + "Ada\n" * 193 + FARMER.solution.split("\n", 2)[2], 1.0, 7 / 199),
        ("Ada Cleo\n" + "Ada\n" * 195 + FARMER.solution.split("\n", 2)[2], 0.0, 0.0),
    ],
)
def test_forms_and_near_misses(answer, score, strict):
    assert TASK.verify(FARMER, answer).score == score
    assert STRICT.verify(FARMER, answer).score == pytest.approx(strict)


def test_rules_that_never_let_anyone_cross_are_not_posed():
    crossing, loads = river_crossing.draw_crossing(
        stream("RiverCrossing", "none"), 5, 2, 3, n_draws=0
    )
    assert (crossing.guarded, crossing.outnumbered) == ((), ((), ()))
    assert len(loads) == crossing.fewest == 7


@pytest.mark.parametrize(
    "knob",
    [
        {"n_travellers": 2},
        {"n_travellers": 14},
        {"max_seats": 1},
        {"max_seats": 5},
        {"max_guarded": 0},
        {"n_draws": 0},
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        RiverCrossingConfig(**knob)


def test_effort_counts_the_positions_looked_at():
    assert TASK.effort(FARMER) == 9  # all ten positions of the riddle but the last one


def test_the_baseline_keeps_the_rules():
    first = TASK.baseline(stream("baseline"), FARMER).split("\n")
    assert first[:2] == ["Ada Cleo", "Ada"]  # nothing else is allowed at first
