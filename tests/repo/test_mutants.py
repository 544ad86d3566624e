"""The settings of `make mutants` name what there is."""

import re
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GROUPS = tomllib.loads((ROOT / "tests/mutation/groups.toml").read_text())["group"]
EQUIVALENT = tomllib.loads((ROOT / "tests/mutation/equivalent.toml").read_text())["mutant"]


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group["modules"])
def test_a_group_names_modules_and_tests(group):
    folder = ROOT / "rlvr_envs" / group["area"].split("/")[0]
    names = [str(path.relative_to(folder).with_suffix("")) for path in folder.rglob("*.py")]
    for pattern in group["modules"].split():
        assert any(fnmatchcase(name, pattern) for name in names), pattern
    for pattern in group["tests"].split():
        assert list((ROOT / "tests").glob(pattern)), pattern


@pytest.mark.parametrize("mutant", EQUIVALENT, ids=lambda mutant: mutant["line"][:40])
def test_an_equivalent_mutant_is_of_a_line_that_is_there(mutant):
    assert mutant["reason"]
    assert mutant["becomes"] != mutant["line"]
    if "file" in mutant:
        text = (ROOT / mutant["file"]).read_text()
        assert mutant["line"] in map(str.strip, text.splitlines())
        assert re.search(rf"\b(def|class) {mutant['function']}\(", text)
