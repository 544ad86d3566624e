"""The code in docs/curricula.md runs, and says what it shows."""

import json
import re
from pathlib import Path

from rlvr_envs import curricula

TEXT = (Path(__file__).resolve().parents[3] / "docs/curricula.md").read_text("utf-8")


def run(number):
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert len(blocks) == 2
    scope = {}
    exec(compile(blocks[number], "curricula.md", "exec"), scope)
    return scope


def test_a_success_band():
    scope = run(0)
    assert scope["curriculum"].level("rlvr/Gcd-v0") == 3.0
    assert set(scope["scores"]) == {1.0}
    assert json.loads(scope["saved"])["step"] == 3


def test_the_growing_horizon():
    scope = run(1)
    assert scope["horizons"] == [2, 2, 4, 4, 8, 8]
    assert scope["scores"] == [0.0] * 4
    assert json.loads(scope["saved"])["learnt"]["stage"] == 2


def test_the_table_names_every_curriculum():
    named = set(re.findall(r"^\| `(\w+)` \| .* \| .* \|", TEXT, re.MULTILINE))
    parts = {"Control", "Curation", "Curriculum", "Nested", "OnLevels", "PassRateBins"}
    parts |= {"Played", "Proposal", "Stage"}
    assert named == set(curricula.__all__) - parts
