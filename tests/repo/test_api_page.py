"""What packages export is documented, and stands on the page of the API."""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import rlvr_envs

PAGE = (Path(__file__).parents[2] / "docs/api.md").read_text("utf-8")
SECTION = re.compile(r"^::: ([\w.]+)\n((?:    .*\n)*)", re.MULTILINE)
PACKAGES = ["rlvr_envs"] + [
    f"rlvr_envs.{found.name}" for found in pkgutil.iter_modules(rlvr_envs.__path__) if found.ispkg
]
EXPORTS = [
    (package, name)
    for package in PACKAGES
    for name in getattr(importlib.import_module(package), "__all__", ())
    if not name.startswith("__")
]


def listed():
    """Return the names that the page documents, and the modules that it documents as a whole."""
    names, modules = set(), set()
    for path, options in SECTION.findall(PAGE):
        members = re.search(r"members: \[(.*)\]", options)
        if members:
            names |= {f"{path}.{name}" for name in members[1].split(", ")}
        elif path.rpartition(".")[2][0].isupper() or not inspect.ismodule(resolve(path)):
            names.add(path)
        else:
            modules.add(path)
    return names, modules


def resolve(path):
    """Return the module or the object of a path."""
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        module, _, name = path.rpartition(".")
        return getattr(importlib.import_module(module), name)


@pytest.mark.parametrize(("package", "name"), EXPORTS, ids=lambda value: value)
def test_every_export_stands_on_the_page(package, name):
    names, modules = listed()
    found = getattr(importlib.import_module(package), name)
    home = f"{getattr(found, '__module__', package)}.{getattr(found, '__qualname__', name)}"
    assert {f"{package}.{name}", home} & names or {package, home.rpartition(".")[0]} & modules, (
        f"put '::: {home}' into docs/api.md"
    )


@pytest.mark.parametrize(("package", "name"), EXPORTS, ids=lambda value: value)
def test_every_exported_class_and_function_has_a_docstring(package, name):
    found = getattr(importlib.import_module(package), name)
    if inspect.isclass(found) or inspect.isfunction(found):
        assert (inspect.getdoc(found) or "").strip()
        assert not inspect.getdoc(found).startswith(f"{name}(")  # a dataclass's own signature


def test_every_section_of_the_page_exists():
    paths = [path for path, _ in SECTION.findall(PAGE)]
    assert len(paths) == len(set(paths)) > 20
    for path in paths:
        assert inspect.getdoc(resolve(path)), path
    names, _ = listed()
    for name in names:
        resolve(name)
