"""Refactoring under an interface: module, class and expected values agree; shortcuts fail."""

import json
import re

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import integer, stream
from rlvr_envs.envs.code.interface_refactor import (
    InterfaceRefactorConfig,
    InterfaceRefactorProblem,
    InterfaceRefactorTask,
)
from rlvr_envs.generators.code_length import code_length
from rlvr_envs.generators.stateful_modules.check import interface_fault
from rlvr_envs.generators.stateful_modules.interfaces import FEATURES, Interface
from rlvr_envs.generators.stateful_modules.runs import draw_script, drive_script, expected
from rlvr_envs.generators.stateful_modules.stateful import (
    Operation,
    draw_machine,
    run,
    value,
    written,
)

TASK = InterfaceRefactorTask(InterfaceRefactorConfig())


def test_statements_worked_by_hand():
    body = (
        ("add", "level", ("*", "n", 2)),
        ("push", "log", ("%", "level", 5)),
        ("push", "log", ("last", "log")),
        ("if", ("<", ("sum", "log"), 3), (("set", "level", 0),), (("shift", "log", "level"),)),
        ("keep", "log", 2),
    )
    operation = Operation("f", ("n",), (">", "n", 9), body, ("max", "level", ("len", "log")))
    state = {"level": 1, "log": [7]}
    assert run(operation, state, (3,)) == 14  # 1 + 2 * 3, and the 7 that was first
    assert state == {"level": 14, "log": [2, 2]}
    assert run(operation, state, (10,)) is None
    assert state == {"level": 14, "log": [2, 2]}


@pytest.mark.parametrize("seed", range(15))
def test_the_shown_module_does_what_is_expected_of_one_object(seed):
    rng = stream("module", seed)
    machine = draw_machine(rng, 2, 2, 3, 4)
    interface = Interface(machine, "Depot", ("a", "b", "c"), ((0,), (0,), (0,)), ())
    space = {}
    exec(interface.module(), space)
    state = machine.start(tuple(value for _, value in machine.counters))
    for _ in range(40):
        operation = machine.operations[integer(rng, 0, 2)]
        args = tuple(integer(rng, -3, 12) for _ in operation.params)
        assert space[operation.name](*args) == run(operation, state, args)
        assert {name: space[f"get_{name}"]() for name in state} == state


@pytest.mark.parametrize("n_features", range(len(FEATURES) + 1))
def test_the_solution_does_what_is_expected_of_many_objects(n_features):
    task = InterfaceRefactorTask(InterfaceRefactorConfig(n_features=n_features, n_lists=2))
    for seed in range(6):
        problem = task.generate(stream("many", seed))
        space = {}
        exec(problem.source, space)
        for script, told in problem.tests:
            assert drive_script(json.loads(script), space[problem.name]) == json.loads(told)
    assert task.verify(problem, task.solve(problem)).score == 1.0


def test_scripts_use_every_feature():
    rng = stream("features")
    machine = draw_machine(rng, 1, 1, 1, 1)
    params = tuple(range(len(machine.operations[0].params)))
    interface = Interface(machine, "Depot", ("turn",), (params,), FEATURES)
    script = draw_script(rng, interface, 200)
    used = {step[0] for step in script} | {step[2] for step in script}
    assert {"new", "clone", "length", "equality", "reset", "undo", "history", "turn"} <= used
    told = expected(interface, script)
    assert {True, False, None} <= {value for value in told if isinstance(value, bool | None)}


STUB = '''class Depot:
    def __init__(self, level: int = 3) -> None:
        """Start."""
        ...

    def put(self, k: int, n: int) -> int:
        """Do what `f(n, k)` does."""
        ...

    @property
    def level(self) -> int: ...

    def clone(self) -> "Depot": ...
'''
GOOD = '''"""A depot."""
import copy


class Depot:
    """It holds things."""

    def __init__(self, level: int = 3) -> None:
        self._level = level

    def put(self, k: int, n: int) -> int:
        self._level += self._half(n) * k
        return self._level

    @property
    def level(self) -> int:
        return self._level

    def clone(self) -> "Depot":
        return copy.copy(self)

    @staticmethod
    def _half(n: int) -> int:
        return n // 2
'''


def test_the_interface_is_kept_by_a_good_class():
    assert interface_fault(GOOD, STUB) == ""
    unquoted = "from __future__ import annotations\n" + GOOD.split("\n", 1)[1]
    assert interface_fault(unquoted.replace('"Depot"', "Depot"), STUB) == ""


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("import copy\n", "import copy\nlevel = 3\n", "top level"),
        ("import copy\n", "import copy\ndef f(): pass\n", "top level"),
        ("import copy\n", "import copy\nclass Other: pass\n", "no other class"),
        ("class Depot:", "class Store:", "define Depot"),
        ("class Depot:", "class Depot(dict):", "bases"),
        ("class Depot:", "@print\nclass Depot:", "decorators"),
        ("        self._level = level", "        global _level\n        _level = level", "global"),
        ('    """It holds things."""', "    held = []", "other than methods"),
        ("k: int, n: int", "n: int, k: int", "put"),
        ("k: int, n: int", "k, n", "put"),
        ("k: int, n: int", "*args", "put"),
        ("level: int = 3", "level: int = 4", "__init__"),
        ("    @property\n", "", "level"),
        ("    def clone", "    def copy", "copy is not part"),
        ("    def clone", "    def _clone", "clone is missing"),
        ("    def clone", "    async def clone", "clone"),
        (
            "    @staticmethod\n    def _half",
            "    def put(self):\n        pass\n\n    def _half",
            "twice",
        ),
    ],
)
def test_faults_are_named(old, new, fault):
    assert old in GOOD
    assert fault in interface_fault(GOOD.replace(old, new), STUB)


def test_an_encoding_hides_nothing():
    # As UTF-7, "+AAo-" is the end of a line, so that the comment ends and a variable is made.
    plain = GOOD.split("\n", 1)[1].replace("+=", "-=")
    hiding = "# coding: utf-7\n# harmless +AAo-level = 3\n" + plain
    assert interface_fault(plain, STUB) == ""
    assert "top level" in interface_fault(hiding, STUB)


@pytest.mark.parametrize("text", ["class Depot", "42 is the answer", "\x00", "(" * 999])
def test_what_is_no_python_is_unparsable(text):
    assert interface_fault(text, STUB) is None


def module_inside(problem: InterfaceRefactorProblem) -> str:
    """Return a class that keeps its state on itself: one object, whatever is asked for."""
    return re.sub(r"\bself\._(?!given|past|[a-z]+\()", f"{problem.name}._", problem.source)


def test_shortcuts_fail():
    problem = TASK.generate(stream("shortcuts", 3))
    assert TASK.verify(problem, problem.source).score == 1.0
    shared = module_inside(problem)
    leaking = re.sub(r"return list\(self\.(\w+)\)", r"return self.\1", problem.source)
    no_reset = problem.source.replace("= self._given", "= self._given; self._past = 1") + "x = 1\n"
    for source in (shared, leaking, no_reset, problem.stub, problem.module):
        assert source != problem.source
        assert TASK.verify(problem, source).score == 0.0


def test_refusals_must_raise():
    for seed in range(20):
        problem = TASK.generate(stream("refusals", seed))
        quiet = problem.source.replace("raise ValueError", "return None")
        if quiet != problem.source and any("ValueError" in told for _, told in problem.tests):
            assert TASK.verify(problem, quiet).score == 0.0
            return
    pytest.fail("no operation refuses in 20 problems")


@pytest.mark.parametrize(
    "knob", [{"n_counters": 0}, {"n_operations": 0}, {"n_lists": -1}, {"n_features": 7}]
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        InterfaceRefactorConfig(**knob)


def test_expressions_are_written_as_they_are_run():
    rng, names = stream("written"), {"a": 7, "b": -3, "c": 5}
    operators = ["+", "-", "*", "%", "min", "max"]

    def draw(depth):
        if depth == 0:
            return [*names, 2, 4][integer(rng, 0, 4)]
        operator = operators[integer(rng, 0, 5)]
        right = integer(rng, 2, 9) if operator == "%" else draw(depth - 1)
        return (operator, draw(depth - 1), right)

    for _ in range(300):
        expression = draw(integer(rng, 1, 4))
        assert eval(written(expression, str), names.copy()) == value(expression, names)


def test_effort_and_baseline():
    task = InterfaceRefactorTask(InterfaceRefactorConfig())
    problem = task.generate(stream("refactor", 0))
    assert task.effort(problem) == code_length(problem.source)
    stub = task.baseline(stream("rng"), problem)
    assert stub == problem.stub
    assert task.verify(problem, stub).score == 0.0
