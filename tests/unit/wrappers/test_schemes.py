"""The reward schemes against their formulas, and what no choice of numbers may break."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.wrappers import ASearcher, SearchR1, ToolCosts

shares = st.floats(0, 0.99)
prices = st.floats(0, 10)


def verdict(score=0.0, **parts):
    told = {"em": float(score == 1.0), "f1": score, "malformed": 0.0, "answered": 1.0}
    told |= {"evidence_opened": 0.0, "declined": 0.0, "calls": 4.0, "result_chars": 1000.0}
    return Verdict.graded(score, **(told | parts))


@pytest.mark.parametrize(
    ("reached", "outcome", "variant"),
    [
        ({"score": 1.0}, 1.0, 1.0),
        ({"score": 1.0, "malformed": 2.0}, 1.0, 0.8),
        ({"score": 1.0, "trailing": 1.0}, 1.0, 0.8),
        ({"score": 0.4}, 0.0, 0.2),
        ({"score": 0.0, "evidence_opened": 0.9}, 0.0, 0.2),
        ({"score": 0.0, "evidence_opened": 1.0}, 0.0, 0.3),
        ({"score": 0.0, "evidence_opened": 1.0, "malformed": 1.0}, 0.0, 0.1),
        ({"score": 0.0, "answered": 0.0, "evidence_opened": 1.0}, 0.0, 0.0),
        ({"score": 0.0, "answered": 0.0, "malformed": 1.0}, 0.0, 0.0),
    ],
)
def test_search_r1(reached, outcome, variant):
    assert SearchR1().reward(verdict(**reached), 0.7) == outcome
    scheme = SearchR1(structure=0.2, final=0.1, retrieval=0.1)
    assert scheme.reward(verdict(**reached), 0.7) == pytest.approx(variant)


def test_search_r1_needs_only_what_it_reads():
    assert SearchR1().needs == ("em",)
    assert SearchR1(structure=0.1).needs == ("em", "malformed")
    assert SearchR1().reward(Verdict.correct(em=1.0), 0.0) == 1.0
    assert SearchR1(structure=0.1).reward(Verdict.wrong("", em=0.0, malformed=0.0), 0.0) == 0.1


@given(shares, shares, shares, st.booleans(), st.booleans(), st.booleans())
def test_in_search_r1_a_wrong_answer_is_always_below_a_right_one(s, f, r, ugly, messy, found):
    try:
        scheme = SearchR1(structure=s, final=f, retrieval=r)
    except ConfigError:
        assert max(f, s + r) >= 1 - s
        return
    right = scheme.reward(verdict(1.0, malformed=float(ugly)), 0.0)
    wrong = verdict(0.0, malformed=float(messy), evidence_opened=float(found))
    assert scheme.reward(wrong, 0.0) < right


@pytest.mark.parametrize(
    ("reached", "f1", "em"),
    [
        ({"score": 1.0}, 1.0, 1.0),
        ({"score": 1.0, "malformed": 1.0}, 0.0, 0.0),
        ({"score": 1.0, "trailing": 1.0}, 0.0, 0.0),
        ({"score": 0.0, "f1": 0.6}, 0.6, 0.0),
        ({"score": 0.0, "f1": 0.6, "f1_augmented": 0.8}, 0.66, 0.0),
        ({"score": 0.0, "f1": 0.6, "f1_augmented": 0.2}, 0.6, 0.0),
        ({"score": 0.0, "em_augmented": 1.0}, 0.0, 0.3),
    ],
)
def test_asearcher(reached, f1, em):
    assert ASearcher().reward(verdict(**reached), 0.9) == pytest.approx(f1)
    assert ASearcher(measure="em").reward(verdict(**reached), 0.9) == pytest.approx(em)


def test_declining_costs_only_where_there_is_an_answer():
    scheme = ASearcher(decline_penalty=0.5)
    assert scheme.reward(verdict(0.0, declined=1.0), 0.0) == -0.5
    assert scheme.reward(verdict(0.0, declined=1.0, malformed=1.0), 0.0) == -0.5
    assert scheme.reward(verdict(1.0, declined=1.0), 1.0) == 1.0
    assert scheme.reward(verdict(0.0), 0.0) == 0.0
    assert ASearcher().reward(verdict(0.0, declined=1.0), 0.0) == 0.0


def test_tool_costs():
    scheme = ToolCosts(per_call=0.02, per_result_char=1e-5, per_malformed=0.03)
    told = verdict(malformed=2.0)  # 4 calls and 1000 characters: 0.08 + 0.01 + 0.06
    assert scheme.reward(told, 1.0) == pytest.approx(0.85)
    assert scheme.reward(told, 0.5) == pytest.approx(0.425)
    assert scheme.reward(told, 0.0) == 0.0
    assert scheme.reward(told, -0.5) == -0.5
    always = ToolCosts(per_call=0.02, per_result_char=1e-5, per_malformed=0.03, charge="always")
    assert always.reward(told, 0.0) == pytest.approx(-0.15)
    assert always.reward(told, 1.0) == pytest.approx(0.85)


def test_tool_costs_need_the_parts_that_have_a_price():
    assert ToolCosts().needs == ("calls",)
    assert ToolCosts(per_call=0, per_malformed=1.0).needs == ("malformed",)
    assert ToolCosts(per_call=0).reward(Verdict.correct(), 1.0) == 1.0


@given(prices, prices, prices, st.floats(0.001, 0.999), st.sampled_from(["earned", "always"]))
def test_quick_and_wrong_never_beats_slow_and_right(call, char, malformed, cap, charge):
    scheme = ToolCosts(
        per_call=call, per_result_char=char, per_malformed=malformed, cap=cap, charge=charge
    )
    slow = verdict(1.0, calls=1e4, result_chars=1e8, malformed=100.0)
    quick = verdict(0.0, calls=0.0, result_chars=0.0)
    assert scheme.reward(slow, 1.0) > scheme.reward(quick, 0.0)
    assert scheme.reward(slow, 1.0) >= 1 - cap


@given(st.floats(0, 1), st.floats(0, 1e4), st.floats(0, 1e4))
def test_of_two_equal_answers_the_one_with_fewer_calls_is_no_worse(earned, few, many):
    few, many = sorted((few, many))
    for charge in ("earned", "always"):
        scheme = ToolCosts(charge=charge)
        less = scheme.reward(verdict(calls=few), earned)
        assert less >= scheme.reward(verdict(calls=many), earned)


def test_without_success_calls_are_free_unless_always_charged():
    """Otherwise an agent that still fails learns to make no calls."""
    none, many = verdict(calls=0.0), verdict(calls=40.0)
    assert ToolCosts().reward(none, 0.0) == ToolCosts().reward(many, 0.0) == 0.0
    always = ToolCosts(charge="always")
    assert always.reward(none, 0.0) > always.reward(many, 0.0)


def test_no_cap_has_to_be_asked_for_and_turns_the_order_round():
    scheme = ToolCosts(per_call=0.1, cap=None)
    assert scheme.reward(verdict(1.0, calls=20.0), 1.0) == pytest.approx(-1.0)
    assert scheme.reward(verdict(0.0, calls=0.0), 0.0) == 0.0


def test_calls_that_nobody_counted_are_not_free():
    assert ToolCosts(cap=0.3, charge="always").cut_off(0.0) == -0.3
    assert ToolCosts(cap=0.3).cut_off(0.0) == 0.0
    assert ToolCosts(cap=None).cut_off(0.0) == 0.0
    with pytest.raises(ConfigError, match="give a cap"):
        ToolCosts(cap=None, charge="always").cut_off(0.0)


@pytest.mark.parametrize(
    ("scheme", "options"),
    [
        (SearchR1, {"structure": -0.1}),
        (SearchR1, {"final": 1.0}),
        (SearchR1, {"retrieval": "0.1"}),
        (SearchR1, {"structure": 0.5}),
        (SearchR1, {"structure": 0.2, "final": 0.8}),
        (SearchR1, {"final": float("nan")}),
        (ASearcher, {"measure": "F1"}),
        (ASearcher, {"decline_penalty": -0.5}),
        (ASearcher, {"decline_penalty": float("inf")}),
        (ToolCosts, {"per_call": -1}),
        (ToolCosts, {"per_malformed": float("nan")}),
        (ToolCosts, {"cap": 1}),
        (ToolCosts, {"cap": 0}),
        (ToolCosts, {"charge": "never"}),
    ],
)
def test_numbers_that_make_no_scheme(scheme, options):
    with pytest.raises(ConfigError):
        scheme(**options)
