"""Formulas that are not verified say so in their docs and in their file's list."""

import importlib
import inspect

import pytest

pytest.importorskip("torch")

FILES = (
    "advantage",
    "advantage_variants",
    "loss",
    "loss_variants",
    "selection",
    "sequence_loss",
    "turns",
)


@pytest.mark.parametrize("name", FILES)
def test_the_list_names_what_the_docs_call_experimental(name):
    module = importlib.import_module(f"rlvr_envs.agents.grpo.formulas.{name}")
    own = {
        function.__name__: inspect.getdoc(function) or ""
        for _, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not function.__name__.startswith("_")
    }
    assert own
    assert len(set(module.EXPERIMENTAL)) == len(module.EXPERIMENTAL)
    marked = {name for name, doc in own.items() if "experimental" in doc.lower()}
    assert marked == set(module.EXPERIMENTAL)
