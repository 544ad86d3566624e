"""The code in docs/curricula.md runs, and says what it shows."""

import json
import re
from pathlib import Path


def test_the_growing_horizon():
    text = (Path(__file__).resolve().parents[3] / "docs/curricula.md").read_text("utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    scope = {}
    exec(compile(block, "curricula.md", "exec"), scope)
    assert scope["horizons"] == [2, 2, 4, 4, 8, 8]
    assert scope["scores"] == [0.0] * 4
    assert json.loads(scope["saved"])["stage"] == 2
