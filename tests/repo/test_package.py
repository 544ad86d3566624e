"""What must hold of the package as a whole."""

import importlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import rlvr_envs
from rlvr_envs.core import registry

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
HEAVY = (
    "sympy",
    "torch",
    "docker",
    "math_verify",
    "pyarrow",
    "plotly",
    "rich",
    "httpx",
    "transformers",
)


def child(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout


def test_public_names_are_sorted_complete_and_documented():
    assert rlvr_envs.__all__ == sorted(rlvr_envs.__all__)
    for name in rlvr_envs.__all__:
        assert getattr(rlvr_envs, name) is not None
        if name != "__version__":
            assert getattr(rlvr_envs, name).__doc__, name


def test_importing_is_light():
    loaded = json.loads(child("import json, sys, rlvr_envs; print(json.dumps(list(sys.modules)))"))
    assert not {name for name in loaded if name.split(".")[0] in HEAVY}
    assert not [name for name in loaded if re.match(r"rlvr_envs\.envs\.\w+\.", name)]


def test_making_and_judging_a_plain_problem_needs_no_heavy_module():
    code = (
        "import json, sys, gymnasium, rlvr_envs; env = gymnasium.make('rlvr/Gcd-v0');"
        "env.reset(seed=0); env.step('\\\\boxed{3}'); print(json.dumps(list(sys.modules)))"
    )
    assert not {name for name in json.loads(child(code)) if name.split(".")[0] in HEAVY}


def test_the_package_never_shadows_another_project():
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    assert packages["targets"]["wheel"]["packages"] == ["rlvr_envs"]


def test_no_duplicate_command_names():
    assert list(PROJECT["scripts"]) == ["rlvr"]


def test_lower_bounds_only():
    every = [r for part in PROJECT["optional-dependencies"].values() for r in part]
    every += PROJECT["dependencies"]
    assert not [r for r in every if "==" in r or "<" in r]


@pytest.mark.parametrize("extra", ["report"])
def test_extras_of_development_are_importable(extra):
    for requirement in PROJECT["optional-dependencies"][extra]:
        assert importlib.util.find_spec(re.match(r"[\w-]+", requirement)[0].replace("-", "_"))


def test_the_tree_names_what_exists():
    block = (ROOT / "docs" / "architecture.md").read_text().split("```")[1]
    core = {path.stem for path in (ROOT / "rlvr_envs/core").glob("*.py") if path.stem[0] != "_"}
    named = {line.split()[0] for line in block.splitlines() if line.startswith("    ")}
    assert core - named <= {"gym_ids", "version"}
    for folder in re.findall(r"^(?:  )?(\w+)/ ", block, re.MULTILINE):
        assert (ROOT / folder).is_dir() or (ROOT / "rlvr_envs" / folder).is_dir(), folder


def test_the_readme_counts_and_quotes_tasks_as_they_are():
    text = (ROOT / "README.md").read_text()
    assert f"all {len(registry.task_ids())} tasks" in text
    rows = re.findall(r"^\|.*`rlvr/\w+-v0`.*\| `(\w+-v0)` \| (.*) \|$", text, re.MULTILINE)
    assert len(rows) == 6
    for task, quoted in rows:
        posed = {
            rlvr_envs.make_problem(f"rlvr/{task}", difficulty=level, seed=seed)["prompt"]
            for level in (0, 1, 2)
            for seed in (1, 4, 7)
        }
        assert any(quoted in prompt for prompt in posed), task


@pytest.mark.skipif(not hasattr(os, "forkpty"), reason="needs a pseudo-terminal")
def test_the_picture_of_play_is_what_a_run_shows_today():
    script = [sys.executable, str(ROOT / "scripts" / "record_play.py"), "--check"]
    subprocess.run(script, check=True)


def test_import_contracts():
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
