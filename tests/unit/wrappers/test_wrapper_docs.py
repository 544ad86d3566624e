"""The code in docs/wrappers.md runs, and says what it shows."""

import re
from pathlib import Path

import pytest

TEXT = (Path(__file__).resolve().parents[3] / "docs/wrappers.md").read_text("utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def run(block):
    scope = {}
    exec(compile(block, "wrappers.md", "exec"), scope)
    return scope


def test_one_environment():
    scope = run(BLOCKS[0])
    assert scope["info"]["reward_parts"] == {"search_r1": 0.2, "tool_cost": 0.0}
    assert scope["info"]["verdict"].score == 0.0
    assert scope["terminated"] is True


def test_many_environments():
    scope = run(BLOCKS[1])
    assert scope["infos"]["reward_parts"]["asearcher"].tolist() == [0.0] * 4
    assert scope["infos"]["reward_parts"]["_asearcher"].all()
    assert scope["terminated"].all()


def test_no_block_is_left_out():
    assert len(BLOCKS) == 2


@pytest.mark.parametrize("name", ["SearchR1Reward", "ASearcherReward", "ToolCost", "Horizon"])
def test_every_wrapper_has_a_row(name):
    assert re.search(rf"^\| `{name}` \|", TEXT, re.MULTILINE)
