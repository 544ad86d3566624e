"""Hostile answers: none is rewarded, none crashes, none is slow, none runs code."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from rlvr_envs.core.verdict import Status
from rlvr_envs.verifiers.mathtext import fallback
from rlvr_envs.verifiers.symbolic import judge_antiderivative, judge_math, verify_math

CORPUS = json.loads((Path(__file__).parent / "math_answers.json").read_text())
GOLDS = ("42", r"\sqrt{2}+40", "x^2+1", "(3,4]", "1,2", r"\text{even}", "0.5", r"\frac{2}{3}")


def spell(answer: str | dict[str, Any]) -> str:
    """Write out an answer that the corpus stores as a repetition."""
    if isinstance(answer, str):
        return answer
    times = answer["times"]
    closing = answer["suffix"] * (times if answer["prefix"] != answer["suffix"] else 1)
    return answer["prefix"] * times + answer["middle"] + closing


CASES = [
    pytest.param(spell(answer), id=f"{group['group']}-{place}")
    for group in CORPUS
    for place, answer in enumerate(group["answers"])
]


@pytest.mark.parametrize("answer", CASES)
def test_hostile_answers_earn_nothing(answer: str) -> None:
    for gold in GOLDS:
        verdict = judge_math(gold, answer)
        assert verdict.score == 0.0, (gold, verdict)
        assert verdict.scored, (gold, verdict)
        boxed = verify_math(gold, f"\\boxed{{{answer}}}")
        assert boxed.score == 0.0, (gold, boxed)


@pytest.mark.parametrize("answer", CASES)
def test_hostile_answers_to_an_integral_earn_nothing(answer: str) -> None:
    assert judge_antiderivative("x e^x", answer).score == 0.0


@pytest.mark.parametrize("answer", CASES)
def test_hostile_golds_never_crash(answer: str) -> None:
    verdict = judge_math(answer[:3_000], "17")
    assert verdict.score == 0.0


def test_no_answer_ran(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    payloads = (
        f"__import__('pathlib').Path('{marker}').touch()",
        f"[open('{marker}', 'w')]",
        f"\\text{{}}open('{marker}', 'w')",
        f"x.__class__.__base__.__subclasses__(open('{marker}', 'w'))",
    )
    for payload, gold in product(payloads, GOLDS):
        assert judge_math(gold, payload).score == 0.0
        assert fallback.equal_by_sympy("x", payload) is not True
    assert not marker.exists()


def test_text_around_the_box_earns_nothing() -> None:
    for text in ("42", "The answer is 42.", "#### 42", "<answer>42</answer>", "Final: $42$"):
        assert verify_math("42", text).status is Status.UNPARSABLE
        assert verify_math("42", text + r" \boxed{41}").status is Status.WRONG


def test_many_boxes_are_no_answer() -> None:
    response = ", ".join(f"\\boxed{{{number}}}" for number in range(50))
    assert verify_math("42", response).score == 0.0
