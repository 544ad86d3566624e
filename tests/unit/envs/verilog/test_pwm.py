"""Pwm: both sources against each other and a model in Python, and wrong answers."""

import itertools
from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.pwm import FEATURES, Modulator, PwmConfig, PwmTask
from rlvr_envs.verifiers.hdl.judge import judge

ALL = Modulator(3, 6, (0, 2), 2, 1, False, 4, 3, "pwm", FEATURES)
PLAIN = replace(ALL, phases=(0,), features=FEATURES[:1])


def drawn(difficulty, seed):
    return PwmTask(PwmConfig.at(difficulty)).design(stream("pwm", difficulty, seed))


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 5, 6, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(2):
        design = drawn(difficulty, seed)
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail


@pytest.mark.parametrize(
    ("level", "registered", "features"),
    list(itertools.product((0, 1), (False, True), (FEATURES[:3], FEATURES))),
)
def test_pulses_are_those_of_a_carrier_in_a_list(
    level, registered, features, run_design, random_rows
):
    phases = (0, 2) if "channels" in features else (0,)
    made = replace(ALL, phases=phases, level=level, registered=registered, features=features)
    design = made.design(stream("list", level, registered))
    rows = random_rows(design, 300, seed=level)
    center = "center" in features
    carrier = [0, 1, 2, 3, 4, 5, *([4, 3, 2, 1] if center else [])]
    place, used = 0 if center else 4, 3
    past, seen = [[0, 0] for _ in phases], []
    names = ["pwm", *(["other"] if "dead" in features else [])]
    before = dict.fromkeys(names, 0 if level else 2 ** len(phases) - 1)
    for number, row in enumerate(rows):
        row["enable"] |= number % 4 > 0
        on = [int((carrier[place] + phase) % 6 < used) for phase in phases]
        pulses = {"pwm": on, "other": [0 for _ in on]}
        if "dead" in features:
            pulses["pwm"] = [int(all([o, *p])) for o, p in zip(on, past, strict=True)]
            pulses["other"] = [int(not any([o, *p])) for o, p in zip(on, past, strict=True)]
        past = [[o, p[0]] for o, p in zip(on, past, strict=True)]
        now = {
            name: sum(
                int((bit & row["enable"]) == level) << i for i, bit in enumerate(pulses[name])
            )
            for name in names
        }
        seen.append(before if registered else now)
        before = now
        if row["enable"]:
            place = (place + 1) % len(carrier)
            used = row["duty"] if place == 0 else used
    assert run_design(design, rows) == seen


def test_wrong_answers_are_told():
    design = ALL.design(stream("wrong"))
    others = [
        replace(ALL, period=7),
        replace(ALL, phases=(0, 3)),
        replace(ALL, dead=3),
        replace(ALL, dead=1),
        replace(ALL, level=0),
        replace(ALL, duty=4),
    ]
    for other in others:
        verdict = judge(other.design(stream("wrong")).golden, design.reference)
        assert verdict.score == 0.0, other
        assert "differently" in verdict.detail


def test_one_more_is_wrong_and_a_cycle_later_too():
    design = PLAIN.design(stream("plain"))
    assert judge(design.alternative, design.reference).score == 1.0
    longer = design.golden.replace("(count < duty)", "(count <= duty)")
    assert longer != design.golden
    assert judge(longer, design.reference).score == 0.0
    later = replace(PLAIN, registered=True).design(stream("plain"))
    assert judge(later.golden, design.reference).score == 0.0


@pytest.mark.parametrize(
    "knobs",
    [{"width": 1}, {"width": 11}, {"features": 7}, {"channels": 1}, {"channels": 7}, {"dead": 0}],
)
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        PwmConfig(**knobs)
