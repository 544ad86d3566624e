"""The section of docs/wrappers.md on rewards, prompts, tools and records says what is so."""

import re
from pathlib import Path

import pytest

from rlvr_envs import wrappers
from rlvr_envs.wrappers.augmentation import TEMPLATES

TEXT = (Path(__file__).resolve().parents[3] / "docs/wrappers.md").read_text("utf-8")
SECTION = re.split(r"^## ", TEXT.split("## Rewards, prompts, tools and records")[1], flags=re.M)[0]
BLOCKS = re.findall(r"```python\n(.*?)\n```(?!\")", SECTION, re.DOTALL)


def run(block):
    scope = {}
    exec(compile(block, "wrappers.md", "exec"), scope)
    return scope


def test_there_are_two_blocks():
    assert len(BLOCKS) == 2


def test_a_stack_of_wrappers():
    scope = run(BLOCKS[0])
    assert scope["output"] == "```output\n42\n```\n(3 more messages.)"
    parts = {"environment": 0.0, "format": 0.1, "overlong": 0.0}
    assert scope["info"]["reward_parts"] == pytest.approx(parts)
    assert scope["info"]["tool_runs"] == 1


def test_a_confidence():
    scope = run(BLOCKS[1])
    parts = {"format": 0.5, "accuracy": 0.0, "brier": 0.42}
    assert scope["info"]["reward_parts"] == pytest.approx(parts)
    assert scope["info"]["confidence"] == 0.4


@pytest.mark.parametrize(
    "name",
    [
        *("NoisyVerifier", "RandomFlips", "ReasoningPattern", "CalibratedConfidence"),
        *("SoftOverlong", "RedundancyPenalty", "FormatReward", "PromptAugmentation"),
        *("PythonTool", "Recorder"),
    ],
)
def test_every_wrapper_has_a_row(name):
    assert hasattr(wrappers, name)
    assert re.search(rf"^\| `{name}`", SECTION, re.MULTILINE)


def test_the_number_of_prompts():
    assert f"one of {len(TEMPLATES)} prompts" in SECTION
