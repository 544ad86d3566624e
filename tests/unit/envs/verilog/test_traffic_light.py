"""TrafficLight: both sources against each other and a model in Python, and wrong answers."""

from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.traffic_light import (
    FEATURES,
    Crossing,
    Phase,
    TrafficLightConfig,
    TrafficLightTask,
)
from rlvr_envs.verifiers.hdl.judge import judge

PHASES = (
    Phase("MAIN_GO", "G", "R", 3),
    Phase("MAIN_STOP", "Y", "R", 2),
    Phase("SIDE_GO", "R", "G", 2, 5),
    Phase("SIDE_STOP", "R", "Y", 1),
    Phase("WALK", "R", "R", 2),
)
CROSSING = Crossing(PHASES, 1, "YRG", True, "car", FEATURES)
LIGHT = Crossing(
    (Phase("GO", "G", "", 4), Phase("STOP_SOON", "Y", "", 1), Phase("STOP", "R", "", 3)),
    start=2,
    order="RYG",
    button_wins=False,
    car="car",
    features=(),
)


def drawn(difficulty, seed):
    task = TrafficLightTask(TrafficLightConfig.at(difficulty))
    return task.design(stream("light", difficulty, seed))


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 5, 6, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(2):
        design = drawn(difficulty, seed)
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail


def test_a_single_light_runs_through_its_phases(run_design):
    design = LIGHT.design(stream("single"))
    shown = [row["light"] for row in run_design(design, [{}] * 12)]
    red, yellow, green = 4, 2, 1
    assert shown == [red] * 3 + [green] * 4 + [yellow] + [red] * 3 + [green]


@pytest.mark.parametrize("button_wins", [False, True])
def test_a_crossing_runs_as_its_rules_say(button_wins, run_design, random_rows):
    design = replace(CROSSING, button_wins=button_wins).design(stream("rules", button_wins))
    rows = random_rows(design, 800, seed=int(button_wins))
    for number, row in enumerate(rows):
        row["tick"] |= number % 4 > 0
        row["button"] &= number % 7 == 0
        row["night"] &= number % 100 > 80
    bit = {"Y": 4, "R": 2, "G": 1}
    phase, steps, asked, met, seen = 1, 0, 0, set(), []  # phase 5 flashes
    for row in rows:
        met.add((phase, steps))
        if phase == 5:
            main, side = (0, 0) if steps % 2 else (bit["Y"], bit["R"])
        else:
            main, side = bit[PHASES[phase].main], bit[PHASES[phase].side]
        seen.append({"main": main, "side": side, "walk": int(phase == 4), "asked": asked})
        begins = False
        if row["tick"]:
            steps += 1
            if row["night"]:
                steps = steps if phase == 5 else 0
                phase = 5
            elif phase == 5:
                phase, steps = 0, 0
            elif over(phase, steps, row["car"], asked):
                phase, steps = following(phase, asked), 0
                begins = phase == 4
        asked = after_edge(asked, row["button"], begins, button_wins)
    assert {(n, 0) for n in range(6)} <= met
    assert (2, 4) in met
    assert run_design(design, rows) == seen


def over(phase, steps, car, asked):
    if steps < PHASES[phase].time:
        return False
    if phase == 0:
        return bool(car or asked)
    return phase != 2 or not car or steps >= 5


def following(phase, asked):
    return 4 if phase == 3 and asked else (0 if phase >= 3 else phase + 1)


def after_edge(asked, button, begins, button_wins):
    if begins:
        return int(button and button_wins)
    return int(asked or button)


def test_wrong_answers_are_told():
    design = CROSSING.design(stream("wrong"))
    others = [
        replace(CROSSING, start=0),
        replace(CROSSING, order="RYG"),
        replace(CROSSING, button_wins=False),
        replace(CROSSING, phases=(Phase("MAIN_GO", "G", "R", 4), *PHASES[1:])),
        replace(CROSSING, phases=(*PHASES[:2], Phase("SIDE_GO", "R", "G", 2, 6), *PHASES[3:])),
    ]
    for other in others:
        verdict = judge(other.design(stream("wrong")).golden, design.reference)
        assert verdict.score == 0.0, other
        assert "differently" in verdict.detail


def test_a_sensor_that_is_not_asked_about_is_wrong():
    design = CROSSING.design(stream("sensor"))
    for old, new in ((" && (car || asked)", ""), ("(car || asked)", "car"), ("!car || ", "")):
        assert old in design.golden
        assert judge(design.golden.replace(old, new), design.reference).score == 0.0


@pytest.mark.parametrize("knobs", [{"longest": 1}, {"longest": 41}, {"features": 7}])
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        TrafficLightConfig(**knobs)
