"""Every public name of the page of the API has an example that runs, and names what there is."""

import builtins
import doctest
import inspect
import re
import sys
import types

import gymnasium
import pytest
from api_page import public

from rlvr_envs.core import errors, registry
from rlvr_envs.core.errors import DependencyError

NAMES = public()
EXAMPLE = "example_of_the_page"  # the module that examples run in
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
SKIPPED_AT_MOST = 20


def section(doc, title):
    """Return the names that a section of a docstring describes, None where there is none."""
    found = re.search(rf"^{title}:\n((?:[ ]+.*\n|\n)*)", doc + "\n", re.MULTILINE)
    return found and re.findall(r"^ {4}\*{0,2}(\w+)(?: \(.*?\))?:", found[1], re.MULTILINE)


def examples(doc):
    """Return the examples in the section of examples."""
    _, title, text = doc.partition("\nExamples:\n")
    return doctest.DocTestParser().get_examples(text) if title else []


@pytest.fixture
def module(monkeypatch):
    """The module of an example; what the example registers is forgotten after it."""
    made = types.ModuleType(EXAMPLE)
    monkeypatch.setitem(sys.modules, EXAMPLE, made)
    yield made
    for task_id, spec in list(registry._SPECS.items()):
        if spec.task_type.__module__ == EXAMPLE:
            del registry._SPECS[task_id]
            gymnasium.registry.pop(task_id, None)
    if plugins := sys.modules.get("rlvr_envs.agents.grpo.plugins"):
        for kind in plugins.REGISTRIES:
            for name, plugin in list(kind._plugins.items()):
                if plugin.make.__module__ == EXAMPLE:
                    del kind._plugins[name]
    if presets := sys.modules.get("rlvr_envs.agents.grpo.presets"):
        presets._RECIPES.pop("mine", None)


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name.path)
def test_every_public_name_has_an_example(name):
    assert examples(name.doc), "end its docstring in a section 'Examples:' with lines of doctest"


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name.path)
def test_examples_give_what_they_say(name, module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(name.doc, vars(module), name.path, None, None)
    try:
        doctest.DebugRunner(optionflags=FLAGS).run(test)
    except doctest.DocTestFailure as failure:
        if "SandboxUnavailable: " in failure.got:
            pytest.skip(failure.got.strip().splitlines()[-1])
        shown = failure.example
        pytest.fail(f">>> {shown.source}expected:\n{shown.want}got:\n{failure.got}")
    except doctest.UnexpectedException as failure:
        error = failure.exc_info[1]
        is_elsewhere = isinstance(error, ModuleNotFoundError) and not error.name.startswith("rlvr")
        if isinstance(error, DependencyError) or is_elsewhere:
            pytest.skip(str(error))
        raise error from None


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name.path)
def test_arguments_and_errors_that_are_described_exist(name):
    home = vars(pytest.importorskip(name.module, exc_type=ImportError))
    for path, parameters, doc in name.callables:
        described = section(doc, "Args")
        if described is not None:
            assert sorted(described) == sorted(parameters), path
        for raised in section(doc, "Raises") or ():
            known = getattr(errors, raised, home.get(raised, getattr(builtins, raised, None)))
            assert inspect.isclass(known), f"{path} raises {raised}"
            assert issubclass(known, Exception), f"{path} raises {raised}"


def test_few_lines_of_examples_are_left_out():
    assert len(NAMES) > 200
    lines = [each for name in NAMES for each in examples(name.doc)]
    assert sum(doctest.SKIP in each.options for each in lines) <= SKIPPED_AT_MOST
