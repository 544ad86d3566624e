"""Messages of an agent: what is a call, what only looks like one, and that any text is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlvr_envs.conformance.trouble import TROUBLE
from rlvr_envs.generators.search_episodes.protocol import (
    MAX_ARGUMENT_CHARS,
    MAX_CHARS,
    SYNTAXES,
    Call,
    Malformed,
    call_text,
    parse_action,
)


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("<search>Anna Vell</search>", Call("search", "Anna Vell")),
        ("I look.\n<access> anna-vell#Life </access>", Call("open", "anna-vell#Life")),
        ("<find>born</find> then", Call("find", "born", more=True)),
        ("<answer>Vel <b></answer>", Call("answer", "Vel <b>")),
        ("<think><search>a</search></think><search>b</search>", Call("search", "b")),
        ("<search>a</search></think><search>b</search>", Call("search", "b")),
        ("<search>a</search><search>b</search>", Call("search", "a", more=True)),
        ("<information><answer>x</answer></information><find>y</find>", Call("find", "y")),
        ("<search>a</search><information>b</information>", Call("search", "a", more=True)),
        ("<search><answer>x</answer></search>", Call("search", "<answer>x</answer>")),
        ("<answer>x</answer> no, <answer>y</answer>", Call("answer", "y")),
        ("<answer>x</answer><search>y</search>", Call("answer", "x", more=True)),
        (
            "<answer>x</answer><information><answer>y</answer></information>",
            Call("answer", "x", more=True),
        ),
    ],
)
def test_tags(message, call):
    assert parse_action(message, "tags") == call


@pytest.mark.parametrize(
    "message",
    [
        "",
        "Anna Vell",
        "<search>Anna",
        "<search></search>",
        "<think><search>a</search>",
        "<search>a</search><think>b</think>",
        "<information><answer>x</answer>",
        "<SEARCH>a</SEARCH>",
        '{"name": "search", "arguments": {"query": "a"}}',
        f"<search>{'a' * (MAX_ARGUMENT_CHARS + 1)}</search>",
        f"<search>a</search>{' ' * MAX_CHARS}",
    ],
)
def test_what_is_no_call_in_tags(message):
    assert isinstance(parse_action(message, "tags"), Malformed)


SEARCH_A = '{"name": "search", "arguments": {"query": "a"}}'


@pytest.mark.parametrize(
    ("message", "call"),
    [
        (SEARCH_A, Call("search", "a")),
        (f"So:\n<tool_call>\n{SEARCH_A}\n</tool_call>", Call("search", "a")),
        (f"So:\n```json\n{SEARCH_A}\n```\nor", Call("search", "a", more=True)),
        (
            '{"type": "function", "function": {"name": "find", "arguments": "{\\"text\\": \\"b\\"}"}}',
            Call("find", "b"),
        ),
        ('{"name": "open", "arguments": {"page": "a", "section": "Life"}}', Call("open", "a#Life")),
        ('{"name": "open", "arguments": {"page": "a", "section": null}}', Call("open", "a")),
        ('{"name": "open", "arguments": {"page": "a", "section": 2}}', Call("open", "a#2")),
        ('{"name": "answer", "arguments": {"answer": 1503}}', Call("answer", "1503")),
        ('{"name": "answer", "arguments": {"answer": ["a b", "c"]}}', Call("answer", "a b, c")),
        (
            (
                f"<tool_response>{SEARCH_A}</tool_response>"
                '<tool_call>{"name": "find", "arguments": {"text": "b"}}</tool_call>'
            ),
            Call("find", "b"),
        ),
    ],
)
def test_json(message, call):
    assert parse_action(message, "json") == call


@pytest.mark.parametrize(
    "message",
    [
        "<search>a</search>",
        "{",
        "[1]",
        "<tool_call>[]</tool_call>",
        '{"name": "search"}',
        '{"name": "shell", "arguments": {"query": "a"}}',
        '{"name": ["search"], "arguments": {"query": "a"}}',
        '{"name": "search", "arguments": {"text": "a"}}',
        '{"name": "search", "arguments": {"query": "a", "k": 5}}',
        '{"name": "search", "arguments": {"query": null}}',
        '{"name": "search", "arguments": {"query": true}}',
        '{"name": "search", "arguments": {"query": {"a": 1}}}',
        '{"name": "search", "arguments": {"query": " "}}',
        '{"name": "search", "arguments": "{"}',
        '{"name": "answer", "arguments": {"answer": ' + "9" * 5000 + "}}",
        '{"a":' * 4000,
        f"<think>{SEARCH_A}</think>",
        f"```json\n{SEARCH_A}",
    ],
)
def test_what_is_no_call_in_json(message):
    assert isinstance(parse_action(message, "json"), Malformed)


PIECES = [
    "<search>",
    "</search>",
    "<think>",
    "</think>",
    "<information>",
    "a",
    "```json\n",
    "{",
    "}",
]


@pytest.mark.parametrize("syntax", SYNTAXES)
@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5)), max_size=12))
def test_any_text_is_read(syntax, pieces):
    found = parse_action("".join(pieces), syntax)
    assert isinstance(found, Malformed) or found.text.strip()


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_what_breaks_readers_is_no_call(syntax):
    for name, text in TROUBLE.items():
        assert isinstance(parse_action(text, syntax), Malformed), name


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_openers_without_end_take_no_time(syntax):
    for text in ("<search>" * 12_000, "<information>" * 7_000, "<tool_call></tool_call>" * 4_000):
        assert isinstance(parse_action(text, syntax), Malformed)


@pytest.mark.parametrize("syntax", SYNTAXES)
@pytest.mark.parametrize("tool", ["search", "open", "find", "answer"])
def test_a_written_call_reads_back(syntax, tool):
    call = Call(tool, 'anna "vell" #2')
    assert parse_action(call_text(call, syntax), syntax) == call
