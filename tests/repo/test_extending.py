"""The page on extending the agent names what plug-ins may take, neither less nor more."""

import re
from pathlib import Path

import pytest

pytest.importorskip("torch")

from rlvr_envs.agents.grpo.plugins import REGISTRIES

PAGE = Path(__file__).parents[2] / "docs" / "extending_the_agent.md"


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.kind)
def test_the_page_names_what_a_plug_in_may_take(registry):
    text = PAGE.read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| `@{registry.kind}` \| (.*?) \|", text, re.MULTILINE)
    told = set(re.findall(r"`(\w+)`", row))
    if not told:  # the list stands in a paragraph of its own
        title = f"**{registry.kind.capitalize()}{'e' if registry.kind == 'loss' else ''}s**"
        found = re.search(rf"{re.escape(title)} may take (.*?)\. ", text, re.DOTALL)
        told = set(re.findall(r"`(\w+)`", found[1])) if found else set()
    assert told == set(registry.inputs)
