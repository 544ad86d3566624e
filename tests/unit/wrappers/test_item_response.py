"""Item-response curves: the formula, its fit, and what is shown by it."""

import json
import math
import threading

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.wrappers.item_response import Curve, ItemResponse, fit


def test_the_formula():
    curve = Curve(floor=0.2, slope=2.0, offset=-0.5)
    assert curve.accuracy(0.5) == pytest.approx(0.2 + 0.8 / 2)
    assert curve.accuracy(1.0) == pytest.approx(0.2 + 0.8 / (1 + math.exp(-1)))
    assert curve.accuracy(0.0) == pytest.approx(0.2 + 0.8 / (1 + math.exp(1)))


def test_its_inverse():
    curve = Curve(floor=0.2, slope=8.0, offset=-0.5)
    assert curve.share(0.6) == pytest.approx(0.5)
    # (1 - 0.2) / (0.5 - 0.2) - 1 = 5 / 3
    assert curve.share(0.5) == pytest.approx(0.5 - math.log(5 / 3) / 8)
    for accuracy in (0.3, 0.5, 0.9):
        assert curve.accuracy(curve.share(accuracy)) == pytest.approx(accuracy)
    assert curve.share(0.2) == curve.share(0.1) == 0.0
    assert curve.share(1.0) == curve.share(0.9999) == 1.0


@pytest.mark.parametrize("floor", [0.02, 0.1, 0.25])
@pytest.mark.parametrize("slope", [5.0, 12.0])
@pytest.mark.parametrize("middle", [0.2, 0.5, 0.8])
def test_a_fit_finds_the_curve_that_the_points_are_on(floor, slope, middle):
    true = Curve(floor, slope, -middle)
    shares = [0.0, 0.2, 0.4, 0.6, 0.8, 0.95]
    found = fit([(share, true.accuracy(share)) for share in shares])
    for share in shares:
        assert found.accuracy(share) == pytest.approx(true.accuracy(share), abs=0.02)
    assert found.share(0.5) == pytest.approx(true.share(0.5), abs=0.02)


def test_a_fit_has_least_squares():
    """No curve nearby is better, the pull to the usual one being faint."""
    points = [(0.0, 0.1), (0.4, 0.3), (0.5, 0.35), (0.7, 0.8), (0.9, 0.85)]
    best = fit(points)

    def cost(curve):
        return sum((curve.accuracy(share) - accuracy) ** 2 for share, accuracy in points)

    for factor in (0.8, 1.25):
        assert cost(best) < cost(Curve(best.floor * factor, best.slope, best.offset)) + 2e-4
        assert cost(best) < cost(Curve(best.floor, best.slope * factor, best.offset))
        assert cost(best) < cost(Curve(best.floor, best.slope, best.offset * factor))


def test_it_agrees_with_another_solver():
    optimize = pytest.importorskip("scipy.optimize")
    points = [(0.1, 0.125), (0.4, 0.375), (0.6, 0.75), (0.9, 0.875)]

    def curve(share, floor, slope, offset):
        return [Curve(floor, slope, offset).accuracy(float(p)) for p in share]

    theirs, _ = optimize.curve_fit(
        curve,
        [p for p, _ in points],
        [a for _, a in points],
        p0=(0.05, 10.0, -0.5),
        bounds=([0.003, 1.0, -1.5], [0.88, 60.0, 0.5]),
    )
    ours = fit(points)

    def cost(found):
        return sum((found.accuracy(share) - accuracy) ** 2 for share, accuracy in points)

    assert cost(ours) <= cost(Curve(*theirs)) + 2e-4


@pytest.mark.parametrize("points", [[(0.75, 1.0)], [(0.75, 0.0)], [(0.0, 0.0)], [(0.5, 0.5)] * 4])
def test_one_point_is_enough_for_a_curve(points):
    curve = fit(points)
    assert 0 < curve.floor < 1
    assert curve.slope > 0
    if points[0][1] == 1.0:
        assert curve.share(0.5) < 0.7
    if points[0] == (0.75, 0.0):
        assert curve.share(0.5) > 0.8
    if points[0][1] == 0.5:
        assert curve.share(0.5) == pytest.approx(0.5, abs=0.01)


def test_a_problem_begins_with_all_steps_but_one():
    memory = ItemResponse()
    for steps in range(1, 12):
        assert memory.level("p", steps) == steps - 1


def played(memory, accuracy, steps=8, rollouts=8):
    """Play one round whose mean score is the accuracy; return the level it was played at."""
    level = memory.level("p", steps)
    right = round(accuracy * rollouts)
    for i in range(rollouts):
        assert memory.level("p", steps) == level  # within a round it stays
        memory.record("p", level, steps, float(i < right))
    return level


@pytest.mark.parametrize(
    ("share", "level"), [(0.0, 0), (0.43, 3), (0.44, 4), (0.875, 7), (0.95, 7), (1.0, 7)]
)
def test_a_share_is_rounded_to_steps_and_never_to_all_of_them(share, level):
    memory = ItemResponse()
    record = {"share": share, "scores": [], "points": []}
    memory.load_state_dict({"kind": "item_response", "problems": {"p": record}})
    assert memory.level("p", 8) == level


def test_failures_alone_never_show_the_whole():
    memory = ItemResponse()
    for _ in range(9):
        assert played(memory, 0.0) == 7


def test_right_answers_shorten_a_hint_and_wrong_ones_lengthen_it():
    memory = ItemResponse()
    assert played(memory, 1.0) == 7
    shorter = memory.level("p", 8)
    assert shorter < 7
    assert played(memory, 0.0) == shorter
    assert shorter < memory.level("p", 8) <= 7


def test_the_level_is_where_the_fitted_curve_has_the_target():
    memory = ItemResponse(target=0.25)
    first = played(memory, 1.0)
    second = played(memory, 0.5)
    shares = [(first / 8, 1.0), (second / 8, 0.5)]
    assert memory.level("p", 8) == math.floor(fit(shares).share(0.25) * 8 + 0.5)


@pytest.mark.parametrize("middle", [0.3, 0.6])
def test_the_accuracy_of_a_simulated_agent_comes_to_the_target(middle):
    memory = ItemResponse(rollouts=100, rounds=4)
    true = Curve(0.05, 12.0, -middle)
    for _ in range(4):
        played(memory, true.accuracy(memory.level("p", 40) / 40), steps=40, rollouts=100)
    assert true.accuracy(memory.level("p", 40) / 40) == pytest.approx(0.5, abs=0.1)


def test_the_points_are_dropped_after_the_rounds_and_the_share_is_kept():
    memory = ItemResponse(rounds=2)
    played(memory, 1.0)
    assert len(memory.state_dict()["problems"]["p"]["points"]) == 1
    played(memory, 0.5)
    state = memory.state_dict()["problems"]["p"]
    assert (state["points"], state["scores"]) == ([], [])
    assert memory.level("p", 8) == math.floor(state["share"] * 8 + 0.5)


def test_episodes_of_an_earlier_level_do_not_count():
    memory = ItemResponse(rollouts=2)
    for _ in range(2):
        memory.record("p", 7, 8, 1.0)
    before = memory.state_dict()
    memory.record("p", 7, 8, 0.0)
    assert memory.state_dict() == before


def test_problems_are_apart():
    memory = ItemResponse(rollouts=1)
    memory.record("p", 7, 8, 1.0)
    assert memory.level("p", 8) < 7
    assert memory.level("q", 8) == 7


def test_the_state_goes_through_json():
    memory = ItemResponse(rollouts=2, rounds=3)
    for score in (1.0, 1.0, 0.0):
        memory.record("p", memory.level("p", 9), 9, score)
    other = ItemResponse(rollouts=2, rounds=3)
    other.load_state_dict(json.loads(json.dumps(memory.state_dict())))
    assert other.state_dict() == memory.state_dict()
    for either in (memory, other):
        either.record("p", either.level("p", 9), 9, 1.0)
    assert other.state_dict() == memory.state_dict()
    assert other.level("p", 9) == memory.level("p", 9)


@pytest.mark.parametrize(
    "state",
    [
        None,
        {},
        {"kind": "failures", "problems": {}},
        {"kind": "item_response"},
        {"kind": "item_response", "problems": {"p": {"share": 0.5}}},
    ],
)
def test_states_of_something_else(state):
    with pytest.raises(ConfigError, match="state of"):
        ItemResponse().load_state_dict(state)


@pytest.mark.parametrize(
    "options",
    [{"rollouts": 0}, {"rounds": True}, {"target": 0.0}, {"target": 1.0}, {"target": "half"}],
)
def test_arguments_out_of_range(options):
    with pytest.raises(ConfigError):
        ItemResponse(**options)


def test_threads_lose_no_score():
    memory = ItemResponse(rollouts=1000)

    def work():
        for _ in range(100):
            memory.record("p", 7, 8, 1.0)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(memory.state_dict()["problems"]["p"]["scores"]) == 400
