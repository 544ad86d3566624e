"""The math verifier on public data: golds, model responses and other projects' labelled pairs."""

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from rlvr_envs.verifiers.symbolic import compile_gold, judge_math, verify_math

DATA = Path(__file__).parents[3] / "shared" / "data" / "math"
UNESCAPED_DOLLAR = re.compile(r"(?<!\\)\$")
GOLD_SETS = ("math500", "aime24", "amc23", "minerva_math", "olympiadbench", "gsm8k")

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"the public math data is not beside the repository ({DATA.name})"
)


def rows(name: str) -> list[dict[str, Any]]:
    with (DATA / f"{name}.jsonl").open() as lines:
        return [json.loads(line) for line in lines]


def verifiable(name: str) -> list[str]:
    golds = [row["gold"] for row in rows(f"gold/{name}")]
    return [gold for gold in golds if compile_gold(gold).verifiable]


@pytest.mark.parametrize("name", GOLD_SETS)
def test_nearly_every_gold_can_be_judged(name: str) -> None:
    golds = [row["gold"] for row in rows(f"gold/{name}")]
    assert len(verifiable(name)) >= 0.998 * len(golds)


def rewritings(gold: str) -> list[str]:
    """Return the same answer in other spellings, none of them equal as text."""
    spaced = re.sub(r"(?<![\\A-Za-z0-9{,!])([+=,])(?!\\)", r" \1 ", gold)
    return [
        f" {gold} .",
        f"${UNESCAPED_DOLLAR.sub('', gold)}$",
        gold.replace(r"\frac", r"\dfrac").replace(r"\sqrt ", r"\sqrt"),
        gold.replace(r"\left", "").replace(r"\right", ""),
        spaced,
        re.sub(r"(?<=[0-9}])\s+(?=\\(?:sqrt|pi))", r" \\cdot ", gold),
        gold.replace("(", r"\left(").replace(")", r"\right)") if r"\left" not in gold else gold,
    ]


@pytest.mark.parametrize("name", GOLD_SETS)
def test_every_gold_accepts_its_rewritings(name: str) -> None:
    refused = [
        (gold, answer)
        for gold in verifiable(name)
        for answer in rewritings(gold)
        if judge_math(gold, answer).score != 1.0
    ]
    assert refused == []


def test_scientific_golds_accept_powers_of_ten() -> None:
    golds = [gold for gold in verifiable("minerva_math") if re.fullmatch(r"[0-9.]+e-?[0-9]+", gold)]
    assert len(golds) > 50
    for gold in golds:
        mantissa, exponent = gold.split("e")
        assert judge_math(gold, rf"{mantissa} \times 10^{{{exponent}}}").score == 1.0
        assert judge_math(gold, rf"{mantissa} \times 10^{{{int(exponent) + 1}}}").score == 0.0


@pytest.mark.parametrize("name", GOLD_SETS)
def test_finite_decimals_and_fractions_are_the_same_number(name: str) -> None:
    checked = 0
    for gold in verifiable(name):
        match = re.fullmatch(r"\\frac\{(\d+)\}\{(2|4|5|8|10|16|20|25|40|50)\}", gold.strip("$"))
        if match:
            checked += 1
            assert judge_math(gold, f"{int(match[1]) / int(match[2])}").score == 1.0
            assert judge_math(gold, f"{(int(match[1]) + 1) / int(match[2])}").score == 0.0
    assert checked or name in ("aime24", "amc23", "minerva_math", "gsm8k")


def test_golds_of_other_problems_are_not_accepted() -> None:
    golds = sorted({gold.strip("$ ") for name in GOLD_SETS for gold in verifiable(name)})
    chance = random.Random(0)
    for _ in range(3_000):
        gold, answer = chance.sample(golds, 2)
        if judge_math(gold, answer).score == 1.0:
            # Different texts may say the same: then both directions agree on it.
            assert judge_math(answer, gold).score == 1.0, (gold, answer)


def test_labels_of_model_responses() -> None:
    wrong_label = 72  # the data's README: 10{,}000 is labelled wrong for 10000
    for row in rows("responses/qwen_math_cot_100"):
        verdict = verify_math(row["gold"], row["response"])
        expected = row["label"] or (row["id"] == wrong_label and verdict.score == 1.0)
        assert (verdict.score == 1.0) == expected, (row["id"], row["gold"], verdict)


def test_labels_of_grade_school_responses() -> None:
    judged = 0
    for row in rows("responses/gsm8k_openai"):
        last = row["response"].strip().splitlines()[-1]
        if not last.startswith("A: "):
            continue
        judged += 1
        verdict = judge_math(row["gold"], last.removeprefix("A: "))
        assert (verdict.score == 1.0) == row["label"], (row["gold"], last)
    assert judged > 5_000
