"""Answer formats: what is extracted, and what is not."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlvr_envs.core.answer import ANSWER_FORMATS, answer_format
from rlvr_envs.core.errors import ConfigError

LABELS = ("boxed", "tag", "json", "raw", "fenced:python")


def found(label, text):
    return answer_format(label).extract(text).answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (r"so \boxed{42}.", "42"),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{ {1,2} }", "{1,2}"),
        (r"\boxed{\{1,2\}}", r"\{1,2\}"),
        (r"\fbox{7}", "7"),
        (r"\boxed {7}", "7"),
        (r"\boxed{41} no wait, \boxed{42}", "42"),
        (r"\boxed{41}, \boxed{42}", "41, 42"),
        (r"$\boxed{41}$ and $\boxed{42}$", "41, 42"),
        (r"\boxed{42}. So the answer is \boxed{42}", "42"),
        (r"\boxed{42} and \boxed{42}", "42"),
        (r"\boxed{42} then cut off \boxed{43", "42"),
        (r"a stray } brace, { and \boxed{5}", "5"),
        (r"\boxed{\boxed{5}}", "5"),
        (r"\boxed{\fbox{\boxed{ 5 }}}", "5"),
        (r"\boxed{10}, \boxed{10.0}", "10"),
        (r"\boxed{\frac12} and \boxed{0.5}", r"\frac12"),
        (r"\boxed{1,000} and \boxed{1{,}000}", "1,000"),
        (r"\boxed{1, 2} and \boxed{1,2}", "1, 2"),
        (r"\boxed{41} \boxed{42}", "42"),
        (r"\boxed{41}. \boxed{42}", "42"),
        ("\\boxed{41}\n\n\\boxed{42}", "42"),
        ("\\boxed{41},\n\n\\boxed{42}", "42"),
        (r"\boxed{41}; or \boxed{42}", "42"),
        (r"$x = \boxed{41}$, $y = \boxed{42}$", "41, 42"),
        (r"\boxed{41}, no: $\boxed{42}$", "42"),
        (r"\(\boxed{41}\) and \(\boxed{42}\)", "41, 42"),
        (r"**\boxed{41}**, **\boxed{42}**", "41, 42"),
        (r"\boxed{41}~\mbox{ and }~\boxed{42}", "41, 42"),
        (r"\boxed{41} \text{, and } \boxed{42}", "41, 42"),
        ("- \\boxed{41}\n- \\boxed{42}", "41, 42"),
        ("1. x = \\boxed{41}\n2. y = \\boxed{42}", "41, 42"),
        (r"\\boxed{10} no wait, it is \\boxed{30}", "30"),
        (r"\boxed 42", "42"),
        (r"\boxed 3,000.", "3,000"),
        (r"a \boxed and no number", None),
        (r"\boxed{10}. Put your final answer in \boxed{}.", "10"),
        (r"\boxed{10}, in the form \boxed{...}", "10"),
        (r"\boxed{10}, not \boxed{\text{...}}", "10"),
        (r"\boxed{10}, where one writes \boxed{answer}", "10"),
        (r"\boxed{answer}", "answer"),
        ("\\boxed{\u200b10\ufeff}", "10"),
        (r"\boxed{a\}b}", r"a\}b"),
        ("the answer is 42", None),
        (r"\boxed{}", None),
        (r"\boxed{42", None),
        (r"\boxed42", None),
        ("Put your final answer in \\boxed{}.", None),
        (", ".join(rf"\boxed{{{i}}}" for i in range(9)), None),
        (", ".join(rf"\boxed{{{i}}}" for i in range(8)), "0, 1, 2, 3, 4, 5, 6, 7"),
        (", ".join(rf"\boxed{{{i}}}" for i in range(9)) + r" so \boxed{9}", "9"),
        (r"\boxed{0} so " + ", ".join(r"\boxed{1}" for _ in range(8)), "1"),
        (r"\boxed{1} x \boxed{2}, \boxed{3}", "2, 3"),
        (r"\boxed{1}, \boxed{}", "1"),
        (r"\boxed{}, \boxed{1} or \boxed{2}", "2"),
        (r"\boxed{a \boxed{b} c} and \fbox{d}", r"a \boxed{b} c, d"),
        (r"\boxed{ a } \quad \text{or} \quad \boxed{ b }", "b"),
        (r"\boxed{ a } \quad \text{and} \quad \boxed{ b }", "a, b"),
        (r"\boxed{7} " + r"\boxed{" * 12, "7"),
        (r"{\boxed{5}", "5"),
        (r"\boxed{5} {", "5"),
        (r"} \boxed{5}", "5"),
        (r"<think>\boxed{1}</think> so \boxed{2}", "2"),
        (r"<think>\boxed{1}</think> no idea", None),
        (r"\boxed{2} <think>\boxed{1}", "2"),
        (r"\boxed{1} <think> hm </think> \boxed{2}", "2"),
        (r"<think>a</think> \boxed{1} <think>b</think> no idea", None),
    ],
)
def test_boxed(text, answer):
    assert found("boxed", text) == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<answer>a</answer>", "a"),
        ("<answer>a</answer> or <answer> b </answer>", "b"),
        ("<answer>a<answer>b</answer>", "b"),
        ("<answer>a</answer> and <answer>cut", "a"),
        ("<answer></answer>", None),
        ("</answer>a<answer>", None),
        ("<answer>a</answer> </answer>", "a"),
        ("<answer><answer>a</answer></answer>", "a"),
        ("<answer>a</answer>, as asked between <answer> and </answer>.", "a"),
        ("I put it between <answer> and </answer>.", None),
        ("<answer>and</answer>", "and"),
        ("<answer>a</answer>, not <answer>...</answer> nor <answer>your answer</answer>", "a"),
        ("<answer>answer</answer>", "answer"),
        ("<answer>**a**</answer>", "a"),
        ("<answer>$a$</answer>", "a"),
        (r"<answer>\(a\)</answer>", "a"),
        ("<answer>`a b`</answer>", "a b"),
        ("<answer>\n```text\na\nb\n```\n</answer>", "a\nb"),
        ("<answer>a*b*c</answer>", "a*b*c"),
        ("</answer><answer>a", None),
        ("x<answer> </answer>", None),
        ("a", None),
    ],
)
def test_tag(text, answer):
    assert found("tag", text) == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("```python\nx = 1\n```", "x = 1"),
        ("```python\nx = 1\n```\n```Python\nx = 2\n```", "x = 2"),
        ("```\nx = 1\n```", "x = 1"),
        ("```python\nx = 1\n```\n```\noutput\n```", "x = 1"),
        ("```python\nx = 1\n```\n```text\noutput\n```", "x = 1"),
        ("~~~python\nx = 1\n~~~", "x = 1"),
        ("````python\n```\ninner\n```\n````", "```\ninner\n```"),
        ("```py\nx = 1\n```", "x = 1"),
        ("```PYTHON3\nx = 1\n```", "x = 1"),
        ("   ```python\nx = 1\n   ```", "x = 1"),
        ("    ```python\n    x = 1\n      y = 2\n    ```", "x = 1\n  y = 2"),
        ("1. Here:\n\n   ```python\n   x = 1\n\n   y = 2\n   ```", "x = 1\n\ny = 2"),
        ("- ```python\n  x = 1\n  ```", "x = 1"),
        ("```python\n    ```\nx = 1\n    ```\n```", "    ```\nx = 1\n    ```"),
        ("```{.python}\nx = 1\n```", "x = 1"),
        ("```py3\nx = 1\n```", "x = 1"),
        ("\ufeff```python\nx = 1\n```", "x = 1"),
        ('```python\nx = "</think>"\n```', 'x = "</think>"'),
        ("```python\nx = 1 # <think>\n```", "x = 1 # <think>"),
        ("```python title=a\nx = 1\n`````", "x = 1"),
        ("```python\n\nx = 1\n\n```", "\nx = 1\n"),
        ("````python\nx = 1\n```", None),
        ("```python\nx = 1\n~~~", None),
        ("```text\nx = 1\n```", None),
        ("```\nx = 1\n```\n```\nx = 2\n```", "x = 2"),
        ("```\nx = 1\n```\n```python\nx = 2\n```\n```\nx = 3\n```", "x = 2"),
        ("```python\nx = 1\n```text\n```", "x = 1\n```text"),
        ("``python\nx = 1\n``", None),
        ("```python\nx = 1", None),
        ("```python\n```", None),
        ("```python\n \n```", None),
        ("x = 1", None),
    ],
)
def test_fenced(text, answer):
    assert found("fenced:python", text) == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('```json\n{"a": 1}\n```', '{"a": 1}'),
        ('{"a": 1}', '{"a": 1}'),
        ('I say {"a": 1}', None),
        ("```json\n{\n```", None),
        ("[" * 100_000, None),
    ],
)
def test_json(text, answer):
    assert found("json", text) == answer


@pytest.mark.parametrize("label", LABELS)
@given(text=st.text())
def test_any_text_is_extracted_without_raising(label, text):
    extraction = answer_format(label).extract(text)
    assert (extraction.answer is None) == bool(extraction.reason)


@pytest.mark.parametrize("label", ["boxed", "tag", "raw", "fenced:python"])
@given(text=st.text("ab1 +-^_{}\\frac`", min_size=1).map(str.strip).filter(bool))
def test_wrapped_answers_come_back(label, text):
    balanced = text.count("{") == text.count("}") == 0 and "\\" not in text
    if (label == "boxed" and not balanced) or (label == "tag" and text[0] == text[-1] == "`"):
        return
    assert found(label, answer_format(label).wrap(text)) == text


def test_an_echoed_instruction_is_no_answer():
    for label in ("boxed", "json", "fenced:python"):
        form = answer_format(label)
        assert form.extract(f"I should obey: {form.instruction()}").answer is None


HOSTILE = {
    "open boxes": r"\boxed{" * 100_000,
    "boxes": r"\boxed{1} " * 100_000,
    "nested boxes": r"\boxed{" * 50_000 + "}" * 50_000,
    "fences": "```python\n" * 50_000,
    "backticks": "`" * 1_000_000,
    "fence and word": "```" + "a" * 500_000 + "`",
    "fence and spaces": "```" + " " * 500_000 + "`",
    "tags": "<answer>" * 100_000,
    "thoughts": "<think>" * 100_000 + "</think>" * 100_000,
    "joiners": r"\boxed{1}" + r"\text{ and }" * 50_000 + r"x\boxed{2}",
    "box and spaces": "\\boxed" + " " * 500_000,
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("label", LABELS)
def test_time_is_linear(label, name):
    # A quadratic extractor would need minutes here: the bound is about the order, not the speed.
    begin = time.process_time()
    answer_format(label).extract(HOSTILE[name])
    assert time.process_time() - begin < 10


def test_unknown_formats_are_refused():
    for label in ("box", "fenced:", "fenced", "fenced:a b", ""):
        with pytest.raises(ConfigError, match="no answer format"):
            answer_format(label)
    assert len(ANSWER_FORMATS) == 5


@pytest.mark.parametrize(
    ("answer", "fence"),
    [("x", "```"), ("a ``` b", "````"), ("a ```` b", "`````"), ("a `` b", "```"), ("", "```")],
)
def test_a_fence_is_longer_than_those_in_the_answer(answer, fence):
    assert answer_format("fenced:c++").wrap(answer) == f"{fence}c++\n{answer}\n{fence}"


@pytest.mark.parametrize(
    ("label", "reason"),
    [
        ("boxed", r"no complete \boxed{} was found"),
        ("tag", "no complete <answer>...</answer> was found"),
        ("json", "no complete JSON answer was found"),
        ("fenced:go", "no complete ```go code block was found"),
        ("raw", "the response is empty"),
    ],
)
def test_a_reason_says_what_was_looked_for(label, reason):
    assert answer_format(label).extract(" ") == (None, reason)
    assert answer_format(label).label == label


def test_an_empty_answer_is_told_from_none():
    assert answer_format("tag").extract("<answer> </answer>").reason == "the answer tag is empty"
    assert answer_format("fenced:go").extract("```go\n```").reason == "the code block is empty"
    assert answer_format("boxed").extract(r"\boxed{ }").reason == r"the \boxed{} is empty"
    spray = r"\boxed{1}, " * 9
    told = "more than 8 boxed answers stand side by side"
    assert answer_format("boxed").extract(spray).reason == told
