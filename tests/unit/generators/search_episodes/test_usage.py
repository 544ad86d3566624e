"""The calls of search tasks as functions: the actions that they mean."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlvr_envs.core.tools import BadCall
from rlvr_envs.generators.search_episodes.protocol import (
    ANSWER,
    QUESTION,
    SYNTAXES,
    Call,
    Malformed,
    parse_action,
)
from rlvr_envs.generators.search_episodes.usage import tools


def named(syntax, last=ANSWER):
    return {tool.name: tool for tool in tools(syntax, last)}


def test_the_last_call_has_the_name_that_the_task_gives_it():
    assert list(named("tags")) == ["search", "open", "find", "answer"]
    assert list(named("json", QUESTION)) == ["search", "open", "find", "question"]
    assert named("tags")["open"].parameters["required"] == ["page"]


@pytest.mark.parametrize("syntax", SYNTAXES)
@pytest.mark.parametrize(
    ("name", "arguments", "call"),
    [
        ("search", {"query": '"Anna Vell"'}, Call("search", '"Anna Vell"')),
        ("open", {"page": "anna-vell"}, Call("open", "anna-vell")),
        ("open", {"section": "Life", "page": "anna-vell"}, Call("open", "anna-vell#Life")),
        ("open", {"page": "anna-vell", "section": ""}, Call("open", "anna-vell")),
        ("find", {"text": " born "}, Call("find", "born")),
        ("question", {"question": "Who?"}, Call(ANSWER, "Who?")),
    ],
)
def test_a_function_call_is_the_action_of_the_same_call(syntax, name, arguments, call):
    action = named(syntax, QUESTION)[name].action(arguments)
    assert parse_action(action, syntax, QUESTION) == call


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("search", "x</search><answer>y"),
        ("answer", "x</answer><answer>y"),
        ("answer", "x</answer> and more"),
    ],
)
def test_a_text_that_would_be_another_call_is_refused(name, text):
    tool = named("tags")[name]
    with pytest.raises(BadCall, match="cannot contain a call"):
        tool.action(dict.fromkeys(list(tool.arguments)[:1], text))


@given(st.sampled_from(SYNTAXES), st.sampled_from(["search", "find", "answer"]), st.text())
def test_any_text_is_its_own_call_or_none(syntax, name, text):
    tool = named(syntax)[name]
    try:
        action = tool.action(dict.fromkeys(tool.arguments, text))
    except BadCall:
        return
    read = parse_action(action, syntax)
    assert isinstance(read, Malformed) or read == Call(name, text.strip())
