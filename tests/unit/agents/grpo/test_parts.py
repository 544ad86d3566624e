"""Environments, wrappers and curricula from text."""

import pytest

from rlvr_envs.agents.grpo.parts import EnvMaker, make_curriculum, parse_call
from rlvr_envs.core.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("fixed", "fixed", {}),
        (" Horizon(turns=3) ", "Horizon", {"turns": 3}),
        ("X(a=-1.5, b='c', d=(1, 2))", "X", {"a": -1.5, "b": "c", "d": (1, 2)}),
    ],
)
def test_calls_are_read(text, name, arguments):
    assert parse_call(text) == (name, arguments)


@pytest.mark.parametrize("text", ["", "1", "X(3)", "X(a=open('f'))", "a.b", "X(**{'a': 1})", "X(a"])
def test_what_is_no_plain_call_is_refused(text):
    with pytest.raises(ConfigError, match="expected NAME"):
        parse_call(text)


def test_wrappers_go_around_from_the_inside_out():
    make = EnvMaker(["ChainSearch-v0"], ["SearchR1Reward", "ToolCost(per_call=0.1)"], {})
    env = make("ChainSearch-v0", 1)
    assert [type(env).__name__, type(env.env).__name__] == ["ToolCost", "SearchR1Reward"]


def test_no_task_means_the_first():
    env = EnvMaker(["Gcd-v0", "NextTerm-v0"], [], {})(None, 0)
    assert env.reset(seed=0)[1]["task"] == "rlvr/Gcd-v0"


def test_unknown_wrappers_and_arguments_are_named():
    with pytest.raises(ConfigError, match="no wrapper 'Horizn'; did you mean 'Horizon'"):
        EnvMaker(["Gcd-v0"], ["Horizn(turns=1)"], {})
    with pytest.raises(ConfigError, match=r"wrapper Horizon: .*'trns'"):
        EnvMaker(["ChainSearch-v0"], ["Horizon(trns=1)"], {})("ChainSearch-v0", 0)


@pytest.mark.parametrize(
    "text",
    [
        "fixed",
        "linear(steps=10)",
        "rising_window",
        "success_band",
        "dump",
        "prompt_gdro",
        "rollout_gdro(groups=4)",
        "weakness(survey_steps=2)",
    ],
)
def test_curricula_propose_the_tasks_and_rungs(text):
    made = make_curriculum(text, ["Gcd-v0", "NextTerm-v0"], (0, 1, 2), seed=3)
    proposals = [made.propose() for _ in range(20)]
    assert {proposal.task for proposal in proposals} <= {"rlvr/Gcd-v0", "rlvr/NextTerm-v0"}
    assert all(proposal.difficulty >= 0 for proposal in proposals)
    assert len({proposal.task for proposal in proposals}) == 2


def test_curricula_that_do_not_exist_or_lack_something_are_named():
    with pytest.raises(ConfigError, match="no curriculum 'fixd'; did you mean 'fixed'"):
        make_curriculum("fixd", ["Gcd-v0"], (0,), 0)
    with pytest.raises(ConfigError, match=r"curriculum linear: .*'steps'"):
        make_curriculum("linear", ["Gcd-v0"], (0, 1), 0)


def test_what_wrappers_remember_is_shared_and_goes_on():
    make = EnvMaker(["Gcd-v0"], ["HintOnFailure()"], {})
    first, second = make(None, 1), make(None, 1)
    assert first.memory is second.memory
    for _ in range(20):  # more than its patience
        first.reset(options={"problem_seed": 5})
        first.step("no")
    state = make.state_dict()
    hinted = second.reset(options={"problem_seed": 5})[1]["hint_level"]
    assert hinted > 0
    again = EnvMaker(["Gcd-v0"], ["HintOnFailure()"], {})
    again.load_state_dict(state)
    assert again.state_dict() == state  # before there is an environment
    assert again(None, 1).reset(options={"problem_seed": 5})[1]["hint_level"] == hinted
    early = EnvMaker(["Gcd-v0"], ["HintOnFailure()"], {})
    env = early(None, 1)
    early.load_state_dict(state)
    assert env.reset(options={"problem_seed": 5})[1]["hint_level"] == hinted
    assert EnvMaker(["Gcd-v0"], ["FormatReward"], {}).state_dict() == {}
