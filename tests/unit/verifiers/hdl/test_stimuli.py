"""Inputs to try designs with: what they are biased to, and that those of a seed never change."""

import hashlib

import pytest

from rlvr_envs.verifiers.hdl.miter import Schedule
from rlvr_envs.verifiers.hdl.stimuli import Stimuli

WIDTHS = {"clk": 1, "rst": 1, "en": 1, "a": 8, "b": 8, "c": 4}


def drawn(schedule, steps, lanes=32, seed=7):
    """Return the bits of some steps."""
    stimuli = Stimuli(WIDTHS, schedule, lanes, seed)
    return [stimuli.next() for _ in range(steps)]


def digest(found):
    return hashlib.sha256("".join(map(repr, found)).encode()).hexdigest()[:16]


@pytest.mark.parametrize(
    ("schedule", "value"),
    [
        (Schedule(), "0816bc980ce91063"),
        (Schedule("", "rst", 1, 1), "d41b5ff2f4b1a5f4"),
        (Schedule("clk", "rst", 0, 2), "d48881c17e22187f"),
        (Schedule("clk", "", 1, 0), "5af5c7fa541eeb80"),
    ],
)
def test_the_inputs_of_a_seed_never_change(schedule, value):
    # What a design was tried with is a part of its verdict.
    assert digest(drawn(schedule, 1200)) == value


def test_nor_do_those_of_a_run_long_enough_to_wait():
    assert digest(drawn(Schedule(), 5000, lanes=8)) == "13413cba93af1844"


def test_another_seed_gives_other_inputs():
    assert drawn(Schedule(), 20, seed=1) != drawn(Schedule(), 20, seed=2)
