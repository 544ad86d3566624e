"""What of a response is said and what is thought."""

import time

import pytest

from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.thoughts import DELIMITERS, VARIABLE, spoken


def test_what_follows_the_last_thought_is_said():
    assert spoken("a<think>b</think>c") == "c"
    assert spoken("a<think>b") == "a"
    assert spoken("a</think>b</think>c") == "c"
    assert spoken("<think>a") == ""
    assert spoken("a") == "a"


@pytest.mark.parametrize(("begin", "end"), DELIMITERS)
def test_thoughts_of_models_in_use_earn_nothing(begin, end):
    boxed = answer_format("boxed")
    assert boxed.extract(rf"{begin}Perhaps \boxed{{1}}{end}It is \boxed{{2}}.").answer == "2"
    assert boxed.extract(rf"{begin}Perhaps \boxed{{1}}{end}No idea.").answer is None
    assert boxed.extract(rf"{begin}Perhaps \boxed{{1}}").answer is None
    assert boxed.extract(rf"Perhaps \boxed{{1}}{end} I give up.").answer is None
    assert boxed.extract(f"{begin}\nx\n{end}\n\n\\boxed{{2}}").answer == "2"


def test_what_stands_around_a_final_channel_is_no_answer():
    text = "<|channel|>analysis<|message|>1?<|end|><|start|>assistant<|channel|>final<|message|>2"
    assert answer_format("raw").extract(f"{text}<|return|>").answer == "2"


@pytest.mark.parametrize(
    "mention",
    [
        "It stands after </think>, as you asked.",
        "I did not use the <think> tag.",
        "I thought between <think> and </think>.",
        "The marks `<think>` and `</think>` are left out.",
        'I wrote no "<think>" here.',
        "Without any </think> token.",
        "```html\nA page with <think> in it\n```",
        "```python\nprint('</think>')\n```",
    ],
)
def test_a_delimiter_that_is_only_mentioned_hides_nothing(mention):
    boxed = answer_format("boxed")
    assert boxed.extract(rf"\boxed{{2}} {mention}").answer == "2"
    assert boxed.extract(f"{mention}\n\\boxed{{2}}").answer == "2"


def test_a_delimiter_alone_on_its_line_counts_in_any_block():
    text = "I think:\n```python\nx = 1\n</think>\n```python\nx = 2\n```"
    assert answer_format("fenced:python").extract(text).answer == "x = 2"


def test_a_code_block_that_a_thought_cuts_off_hides_nothing():
    form = answer_format("fenced:python")
    answer = "```python\nx = 2\n```"
    for thought in ("Perhaps ```python\n7\n```?", "```python\nx = 1", "```\n```python\n7"):
        assert form.extract(f"<think>{thought}</think>\nSo it is\n\n{answer}\n").answer == "x = 2"
    quoted = "```python\nx = 1\n```\n\n<think>\n```python\n7\n```\n</think>\n\n" + answer
    assert form.extract(quoted).answer == "x = 2"


def test_the_last_of_very_many_code_blocks_is_found():
    text = "```python\nx = 1\n```\n\n" * 3_000 + "```python\nx = 2\n```"
    assert answer_format("fenced:python").extract(text).answer == "x = 2"


def test_delimiters_can_be_added(monkeypatch):
    text = r"<plan>\boxed{1}</plan> \boxed{2} <plan>\boxed{3}"
    assert answer_format("boxed").extract(text).answer == "3"
    monkeypatch.setenv(VARIABLE, '[["<plan>", "</plan>"]]')
    assert answer_format("boxed").extract(text).answer == "2"
    assert spoken("<think>a</think>b") == "b"
    for bad in ("<plan>", '["<plan>"]', "[1]"):
        monkeypatch.setenv(VARIABLE, bad)
        with pytest.raises(ConfigError, match="JSON list of pairs"):
            spoken("a <think>")


@pytest.mark.parametrize(
    "text",
    [
        "<think>" * 100_000 + "</think>" * 100_000,
        "a <think> " * 100_000,
        "```\n</think>\n" * 50_000,
        "1. " * 300_000 + "</think>",
        "<|return|>" * 100_000 + "x",
        "```python\n" * 50_000 + "<think>",
        "```python\n<think></think>\n" * 20_000,
        "~~~\n```\n" * 50_000 + "</think>",
        ("```p\n" + " " * 10 + "````p\n") * 40_000 + "</think>",
        "```p\n" * 900 + "<think> " * 50_000 + "\n```",
    ],
)
def test_time_is_linear(text):
    # Quadratic reading would need minutes here: the bound is about the order, not the speed.
    begin = time.process_time()
    spoken(text)
    assert time.process_time() - begin < 10
