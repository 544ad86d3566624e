"""The code in the section on second attempts and hints of docs/wrappers.md says what it shows."""

import re
from pathlib import Path

import pytest

TEXT = (Path(__file__).resolve().parents[3] / "docs/wrappers.md").read_text("utf-8")
SECTION = TEXT.partition("## Second attempts and hints\n")[2].partition("\n## ")[0]
BLOCKS = re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)


def run(block):
    scope = {}
    exec(compile(block, "wrappers.md", "exec"), scope)
    return scope


def test_every_block_is_looked_at():
    assert len(BLOCKS) == 2


def test_a_retry():
    scope = run(BLOCKS[0])
    assert '"Incorrect. Please think again."' in BLOCKS[0]
    assert scope["info"]["reward_parts"] == {"answer": 0.5, "repetition": 0.0}
    assert scope["info"]["attempt_scores"] == (0.0, 1.0)
    first = run(BLOCKS[0].rsplit("text, reward", 1)[0])
    assert first["text"] == "Incorrect. Please think again."


def test_a_hint():
    scope = run(BLOCKS[1])
    assert scope["info"]["hint_level"] == 1
    assert scope["prompt"] == f"{scope['info']['bare_prompt']}\n\n{scope['info']['hint']}"
    assert len(scope["state"]["problems"]) == 1


@pytest.mark.parametrize(
    "name",
    [
        "UnaryRetry",
        "VerbalRetry",
        "SelfCorrection",
        "GuidanceAfterFailure",
        "HintOnFailure",
        "ItemResponseHints",
    ],
)
def test_every_wrapper_has_a_row(name):
    assert re.search(rf"^\| `{name}` \|", SECTION, re.MULTILINE)
