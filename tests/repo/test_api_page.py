"""What packages export is documented, and stands on the page of the API."""

import importlib
import inspect

import pytest
from api_page import EXPORTS, PAGE, SECTION, find, listed


@pytest.mark.parametrize(("package", "name"), EXPORTS, ids=lambda value: value)
def test_every_export_stands_on_the_page(package, name):
    names, modules = listed()
    home = find(package, name)
    assert {f"{package}.{name}", home.path} & names or {package, home.module} & modules, (
        f"put '::: {home.path}' into docs/api.md"
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
    names, modules = listed()
    for path in names:
        assert find(*path.rsplit(".", 1)).doc, path
    for path in modules:
        assert inspect.getdoc(importlib.import_module(path)), path
