"""The code in docs/wrappers.md runs, and says what it shows."""

import re
from pathlib import Path

import pytest

TEXT = (Path(__file__).resolve().parents[3] / "docs/wrappers.md").read_text("utf-8")
SECTIONS = {
    section.partition("\n")[0]: re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    for section in re.split(r"^##? ", TEXT, flags=re.MULTILINE)
}
# Sections whose code has a test file of its own.
ELSEWHERE = {"Second attempts and hints", "Rewards, prompts, tools and records"}


def run(block):
    scope = {}
    exec(compile(block, "wrappers.md", "exec"), scope)
    return scope


def test_one_environment():
    scope = run(*SECTIONS["Wrappers"])
    assert scope["info"]["reward_parts"] == {"search_r1": 0.2, "tool_cost": 0.0}
    assert scope["info"]["verdict"].score == 0.0
    assert scope["terminated"] is True


def test_many_environments():
    scope = run(*SECTIONS["Many environments"])
    assert scope["infos"]["reward_parts"]["asearcher"].tolist() == [0.0] * 4
    assert scope["infos"]["reward_parts"]["_asearcher"].all()
    assert scope["terminated"].all()


def test_checked_variants():
    scope = run(*SECTIONS["Checked variants"])
    assert scope["info"]["variant"] == ("names", "order", "facts", "story")


def test_no_block_is_left_out():
    with_code = {heading for heading, blocks in SECTIONS.items() if blocks}
    assert with_code - ELSEWHERE == {"Wrappers", "Many environments", "Checked variants"}


@pytest.mark.parametrize("name", ["SearchR1Reward", "ASearcherReward", "ToolCost", "Horizon"])
def test_every_wrapper_has_a_row(name):
    assert re.search(rf"^\| `{name}` \|", TEXT, re.MULTILINE)
