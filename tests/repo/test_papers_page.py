"""The page of papers: what it names exists, and each thing that is built has a test and a use."""

import ast
import importlib
import sys
import tomllib
from pathlib import Path

import pytest

from rlvr_envs import wrappers
from rlvr_envs.agents.grpo import plugins, presets
from rlvr_envs.core import registry

ROOT = Path(__file__).resolve().parents[2]
PAPERS = tomllib.loads((ROOT / "scripts/papers.toml").read_text("utf-8"))
ROWS = [row for rows in PAPERS.values() for row in rows]
KEYS = {"name", "title", "built", "what", "but", "uses", "test"}


@pytest.fixture(scope="module")
def known():
    """Return the names of presets, curricula and wrappers, as rows write them."""
    plugins.load()
    names = {
        "preset": {each.name for each in presets.recipes()},
        "curriculum": {each.name for each in plugins.curriculum},
        "wrapper": set(wrappers.__all__),
    }
    return {f"{kind}:{name}" for kind, found in names.items() for name in found}


@pytest.fixture(scope="module")
def generator():
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        return importlib.import_module("gen_papers_page")
    finally:
        sys.path.pop(0)


def is_importable(name):
    """Whether a name is a module's, or that of something in one."""
    module, _, attribute = name.rpartition(".")
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        return hasattr(importlib.import_module(module), attribute)
    return True


def has_test(node):
    """Whether a test file, and the function in it, exist."""
    path, _, function = node.partition("::")
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    names = {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}
    return function in names if function else any(name.startswith("test_") for name in names)


def test_there_is_a_row_for_each_paper():
    assert {part: len(rows) for part, rows in PAPERS.items()} == {
        "environments": 34,
        "rewards": 33,
        "curricula": 22,
        "optimisation": 58,
    }
    assert len({row["name"] for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_a_row_names_what_exists(row, known):
    assert set(row) <= KEYS
    if row["built"] == "no":
        assert row["but"]
        assert not {"what", "uses", "test"} & set(row)
        return
    assert row["built"] in {"exact", "reduced", "interface"}
    assert ("but" in row) == (row["built"] != "exact")
    assert row["what"]
    assert row["uses"]
    for use in row["uses"]:
        if use.endswith("-v0"):
            assert registry.full_id(use) in registry.all_ids()
        else:
            assert use in known or (":" not in use and is_importable(use))
    assert has_test(row["test"])


def test_every_preset_of_the_zoo_has_a_row(known):
    """A method that nobody put on the page is found here."""
    used = {use for row in ROWS for use in row.get("uses", ())}
    ours = {"default", "reinforce"}
    elsewhere = {  # of papers that the list does not have
        *("grpo", "dr_grpo", "dapo", "rloo", "reinforce_plus_plus", "gspo", "cispo"),
        *("soft_adaptive", "reinforce_plus_plus_baseline", "spiral"),
    }
    missing = {name for name in known if name.startswith("preset:")} - used
    assert missing <= {f"preset:{name}" for name in ours | elsewhere}


def test_the_page_counts_and_shows_every_row(generator):
    page = generator.page(PAPERS)
    for row in ROWS:
        assert row["name"].replace("|", "\\|") in page
    for use in {use for row in ROWS for use in row.get("uses", ())}:
        assert f"`{generator.command(use)}`" in page
    built = sum(row["built"] == "exact" for row in PAPERS["curricula"])
    assert f"| Curricula and sampling | {built} |" in page
    assert generator.command("preset:guide") == "rlvr train guide"
    assert generator.command("wrapper:UnaryRetry") == "rlvr train --wrappers UnaryRetry"
    assert generator.command("Gcd-v0") == "rlvr show Gcd-v0"


def test_a_bar_in_a_cell_does_not_end_it(generator):
    row = {"name": "A|B", "title": "C", "built": "no", "but": "|x| is not computed"}
    empty = {part: [] for part in PAPERS}
    page = generator.page({**empty, "rewards": [row]})
    assert r"| **A\|B**: C | no | \|x\| is not computed |  |  |" in page
