"""Environments and wrappers from text."""

import pytest

from rlvr_envs.agents.grpo.parts import EnvMaker
from rlvr_envs.agents.grpo.plugins import parse_call
from rlvr_envs.core.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("fixed", "fixed", {}),
        (" Horizon(turns=3) ", "Horizon", {"turns": 3}),
        ("X(a=-1.5, b='c', d=(1, 2))", "X", {"a": -1.5, "b": "c", "d": (1, 2)}),
        ("X(a=y, b=z(c=x(d=1)))", "X", {"a": "y", "b": "z(c=x(d=1))"}),
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


def test_tasks_without_levels_are_made_without_one():
    make = EnvMaker(['MathDataset-v0(path="sample")', "Gcd-v0"], [], {})
    _, info = make("MathDataset-v0", 3).reset(seed=0)
    assert (info["task"], info["difficulty"]) == ("rlvr/MathDataset-v0", None)
    assert make("Gcd-v0", 3).reset(seed=0)[1]["difficulty"] == 3


def test_a_mixture_stands_for_its_tasks():
    make = EnvMaker(['Math-v0(tasks=("Gcd-v0", "NextTerm-v0"), answer_format="json")'], [], {})
    env = make("NextTerm-v0", 1)
    prompt, info = env.reset(seed=0)
    assert info["task"] == "rlvr/NextTerm-v0"
    assert "json" in prompt.lower()
    assert make(None, 0).reset(seed=0)[1]["task"] == "rlvr/Gcd-v0"


def test_without_tasks_a_proposal_must_say_one():
    make = EnvMaker([], [], {})
    assert make("Gcd-v0", 0).reset(seed=0)[1]["task"] == "rlvr/Gcd-v0"
    with pytest.raises(ConfigError, match="needs tasks"):
        make(None, 0)


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


def test_hints_by_name():
    make = EnvMaker(["SubsetSum-v0"], ['HintOnRequest(hints="reference")'], {})
    prompt, _ = make(None, 0).reset(seed=1, options={"hint_level": 1})
    assert "how a right answer begins" in prompt
