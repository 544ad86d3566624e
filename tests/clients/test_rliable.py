"""rliable: our aggregates, intervals, profiles and probabilities of improvement equal its own."""

import json
from pathlib import Path

import pytest

RUN = Path(__file__).with_name("rliable_run.py")
STATISTICS = ["iqm", "mean", "median", "optimality_gap", "probability"]


@pytest.fixture(scope="module")
def kept():
    """What the one run has printed, for all tests here."""
    return {}


@pytest.fixture
def numbers(client, kept):
    if not kept:
        kept.update(json.loads(client.run(RUN).splitlines()[-1]))
    return kept


@pytest.mark.parametrize("name", STATISTICS)
def test_aggregates_are_equal(numbers, name):
    pairs = [(theirs, ours) for which, theirs, ours in numbers["points"] if which == name]
    assert len(pairs) == 50
    for theirs, ours in pairs:
        assert ours == pytest.approx(theirs, abs=1e-12)


def test_profiles_are_exactly_equal(numbers):
    assert len(numbers["profiles"]) == 50
    for theirs, ours in numbers["profiles"]:
        assert ours == theirs


@pytest.mark.parametrize("name", [*STATISTICS, "profile"])
def test_ends_of_intervals_agree(numbers, name):
    theirs, ours = numbers["intervals"][name]
    assert ours == pytest.approx(theirs, abs=0.01)
    assert theirs[0] < theirs[-1]
