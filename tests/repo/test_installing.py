"""What messages, pages and extras say about installing holds."""

import ast
import re
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from rlvr_envs.cli.doctor import PURPOSES

ROOT = Path(__file__).resolve().parents[2]
HINTS = "rlvr_envs/core/extras.py"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
USED = {
    name: found for name, found in EXTRAS.items() if name not in ("all", "dev", "docs", "mutation")
}
MODULES = {
    str(path.relative_to(ROOT)): path.read_text("utf-8")
    for path in (ROOT / "rlvr_envs").rglob("*.py")
}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)

# How a module names another that it imports, or looks for: by a statement, in a call, in a constant.
LOADED = re.compile(
    r"""^\s*(?:import|from)\ (\w+)
    | (?:__import__|_client|_require|find_spec|import_module|require)\("(\w+)
    | ^_MODULE\ =\ "(\w+)""",
    re.MULTILINE | re.VERBOSE,
)


def normal(requirement):
    """Return the normal form of a package's name."""
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", requirement)[0]).lower()


def test_nothing_says_to_install_this_project_by_name(tracked):
    """The name on PyPI belongs to somebody else: whoever follows the advice runs their code."""
    offenders = []
    for path in tracked:
        if path.name != "pyproject.toml":
            text = path.read_bytes().decode("utf-8", "replace")
            found = re.findall(r"pip3? install[^\n]*rlvr[-_]envs|rlvr[-_]envs\[", text)
            offenders += [f"{path.relative_to(ROOT)}: {each}" for each in found]
    assert not offenders


def test_the_extra_of_everything_asks_for_the_used_ones():
    assert EXTRAS["all"] == [f"{PROJECT['name']}[{','.join(sorted(USED))}]"]
    assert set(PURPOSES) == set(USED)


def test_hints_come_from_one_place():
    offenders = []
    for name, text in MODULES.items():
        if name == HINTS or "pip install" not in text:
            continue
        nodes = list(ast.walk(ast.parse(text)))
        docs = {ast.get_docstring(n, clean=False) for n in nodes if isinstance(n, DOCUMENTED)}
        said = {str(n.value) for n in nodes if isinstance(n, ast.Constant)} - docs
        offenders += [name for each in said if "pip install" in each]
    assert not offenders


def test_hints_name_extras_and_packages_that_exist():
    hints = []
    for text in MODULES.values():
        hints += re.findall(r"""\bhint\(["']([\w-]+)["'](?:, ["']([\w-]+)["'])?\)""", text)
    assert len(hints) >= 12
    for extra, package in hints:
        assert extra in EXTRAS
        assert not package or package in {normal(each) for each in EXTRAS[extra]}


@pytest.mark.parametrize("extra", sorted(USED))
def test_every_package_of_an_extra_is_imported(extra):
    """An extra that nothing uses yet would install packages for nothing."""
    loaded = {name for text in MODULES.values() for found in LOADED.findall(text) for name in found}
    provided = {normal(each): set() for each in EXTRAS[extra]}
    for module, distributions in packages_distributions().items():
        for package in provided.keys() & {normal(each) for each in distributions}:
            provided[package].add(module)
    absent = [package for package, modules in provided.items() if not modules]
    assert not [name for name in provided if name not in absent and not provided[name] & loaded]
    if absent:
        pytest.skip(f"not installed: {', '.join(absent)}")
