"""Refactoring under an interface: turn a module with global state into a class."""

import json
from dataclasses import dataclass
from typing import Any

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.code_length import code_length
from rlvr_envs.generators.specified_functions.definitions import definition
from rlvr_envs.generators.stateful_modules.check import interface_fault
from rlvr_envs.generators.stateful_modules.interfaces import FEATURES, Interface
from rlvr_envs.generators.stateful_modules.runs import draw_script, drive_script, expected
from rlvr_envs.generators.stateful_modules.stateful import draw_machine
from rlvr_envs.verifiers.program import Call, judge_function

_TESTS = 8
_CLASSES = ("Depot", "Meter", "Tracker", "Mixer", "Engine", "Gauge", "Vault", "Station")
_METHODS = (
    *("add", "apply", "bump", "feed", "fold", "join", "lift", "mark", "mix", "move", "push"),
    *("scan", "spin", "step", "swap", "take", "trim", "turn"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class InterfaceRefactorConfig(TaskConfig):
    """How large the module is, and what the class has on top of it."""

    n_counters: int = knob(2, "integers of the state", low=1)
    n_lists: int = knob(1, "lists of the state", low=0)
    n_operations: int = knob(2, "functions that change the state", low=1)
    n_statements: int = knob(2, "statements of each function, beside the one that all have", low=0)
    n_features: int = knob(
        2, "how many of reset, __len__, clone, __eq__, undo and history", low=0, high=len(FEATURES)
    )
    script_length: int = knob(
        12, "calls in a hidden test, not counting those that read the state at the end", low=1
    )

    @classmethod
    def at(cls, difficulty: int) -> "InterfaceRefactorConfig":
        """The state, the functions, their statements and the features of the class grow."""
        return cls(
            n_counters=1 + (difficulty + 1) // 3,
            n_lists=(difficulty + 2) // 4,
            n_operations=1 + difficulty // 2,
            n_statements=difficulty,
            n_features=min((2 * difficulty + 1) // 3, len(FEATURES)),
            script_length=8 + 2 * min(difficulty, 10),
        )


@dataclass(frozen=True, slots=True)
class InterfaceRefactorProblem:
    """A module and an interface; hidden scripts with their results, and a solution."""

    module: str
    name: str
    stub: str
    tests: tuple[tuple[str, str], ...] = hidden()
    source: str = hidden()


@register("InterfaceRefactor-v0", domain="code", answer_format="fenced:python")
class InterfaceRefactorTask(Task[InterfaceRefactorConfig, InterfaceRefactorProblem]):
    """Rewrite a module of functions on global variables as a class with a given interface.

    Description:
        The module has integers and lists as global variables, functions that change them or
        refuse to, and functions that read them. The class renames the functions, orders their
        parameters anew, raises where they returned None, reads by properties, and, further on,
        can be reset, measured, copied and compared, takes calls back and lists them.

    Observation:
        The module, the interface as a class without bodies, and the rules.

    Action:
        Python source with the class.

    Reward:
        1 if the class has exactly the given interface and all hidden tests pass, otherwise 0.

    Verification:
        The syntax tree of the answer must have exactly the class, the signatures and nothing else
        on the top level, so that loading it does nothing. Then eight hidden scripts of calls on
        several objects in turn run in a sandbox; what they return is compared outside. The lists
        that are read are emptied between calls, so that state that leaks out shows.

    Difficulty:
        The state, the functions and their statements grow, and what the class has on top.

    References:
        Fowler, Refactoring: Improving the Design of Existing Code (combine functions into class).
    """

    judged_in_sandbox = True

    def generate(self, rng: Rng) -> InterfaceRefactorProblem:
        config = self.config
        machine = draw_machine(
            rng, config.n_counters, config.n_lists, config.n_operations, config.n_statements
        )
        verbs = rng.permutation(len(_METHODS)).tolist()
        orders = tuple(
            tuple(rng.permutation(len(operation.params)).tolist())
            for operation in machine.operations
        )
        interface = Interface(
            machine,
            pick(rng, _CLASSES),
            tuple(_method(verbs, place) for place in range(config.n_operations)),
            orders,
            FEATURES[: config.n_features],
        )
        scripts = [draw_script(rng, interface, config.script_length) for _ in range(_TESTS)]
        return InterfaceRefactorProblem(
            interface.module(),
            interface.name,
            interface.stub(),
            tuple((_text(script), _text(expected(interface, script))) for script in scripts),
            interface.solution(),
        )

    def prompt(self, problem: InterfaceRefactorProblem) -> str:
        refusals = ""
        if "ValueError" in problem.stub:
            refusals = "\n- A call that raises ValueError must change nothing."
        return (
            f"This module keeps its state in global variables:\n\n```python\n{problem.module}\n"
            f"```\n\nRewrite it as a class with this interface:\n\n```python\n{problem.stub}\n"
            "```\n\nRules:\n\n- At the top level, write only imports and this one class. The class "
            "has "
            "no base classes and no decorators.\n- In the class body, write only methods. Keep the "
            "signatures exactly as above: the same parameters, defaults, annotations and "
            "decorators. Add no other methods, except helper methods whose names begin with one "
            "underscore.\n- Do not use `global` or `nonlocal`. Several objects exist at the same "
            f"time, and they must share no state.{refusals}"
        )

    def verify(self, problem: InterfaceRefactorProblem, answer: str) -> Verdict:
        fault = interface_fault(answer, problem.stub)
        if fault is None:
            return Verdict.unparsable("expected Python source")
        if fault:
            return Verdict.wrong(fault)
        driver = definition(drive_script, "drive_script")
        source = (
            f"{answer}\n\n\nfrom typing import Any\n\n\n{driver}\n\n\n"
            f"def run_script(script):\n    return drive_script(script, {problem.name})\n"
        )
        calls = [Call((json.loads(script),), json.loads(told)) for script, told in problem.tests]
        return judge_function(source, "run_script", calls)

    def solve(self, problem: InterfaceRefactorProblem) -> str:
        return problem.source

    def effort(self, problem: InterfaceRefactorProblem) -> int:
        """Count the words and signs of the reference class."""
        return code_length(problem.source)

    def baseline(self, rng: Rng, problem: InterfaceRefactorProblem) -> str:
        """Return the interface as it is shown, with methods that do nothing."""
        return problem.stub


def _method(verbs: list[int], place: int) -> str:
    turn, index = divmod(place, len(verbs))
    return _METHODS[verbs[index]] + (f"_{turn + 1}" if turn else "")


def _text(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"))
