"""The page of algorithms has every preset, plug-in and measurement, as the registries have them."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def script():
    path = ROOT / "scripts" / "gen_algorithms_page.py"
    spec = importlib.util.spec_from_file_location("gen_algorithms_page", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_are_those_of_the_registries(script):
    text = script.PAGE.read_text("utf-8")
    # In a process of its own: presets come in the order of imports, and other tests register some.
    made = "import gen_algorithms_page as g; print(g.page(g.PAGE.read_text('utf-8')), end='')"
    found = subprocess.check_output(
        [sys.executable, "-c", made], text=True, cwd=ROOT / "scripts", encoding="utf-8"
    )
    assert text == found, "run python scripts/gen_algorithms_page.py"
    assert text.count("<!-- end of ") == 3


def test_every_preset_was_measured(script):
    from rlvr_envs.agents.grpo.presets import recipes

    measured = {line.split("`")[1] for line in script.mechanisms()[2:]}
    # What a preset's wrappers, callbacks or masks do is not in the loss, and measured elsewhere.
    others = {"wrappers", "callbacks", "leave_out"}
    plain = {each.name for each in recipes() if not others & each.settings.keys()}
    assert plain <= measured <= {each.name for each in recipes()}
