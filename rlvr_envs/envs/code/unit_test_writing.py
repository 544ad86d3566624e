"""Unit tests that distinguish a function from slightly changed versions of it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, draw_seed, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Status, Verdict
from rlvr_envs.generators.code_length import code_length
from rlvr_envs.generators.programs.mutate import Mistake
from rlvr_envs.generators.programs.nodes import Program
from rlvr_envs.generators.tested_functions.functions import (
    KINDS,
    Args,
    Tested,
    rule_function,
    trial_inputs,
)
from rlvr_envs.generators.tested_functions.quality import first_failure, kept, mutant, output, slips
from rlvr_envs.generators.tested_functions.suite import read_suite
from rlvr_envs.generators.tested_functions.values import SuiteError

_REDRAWS = 2  # of a function whose mutants often do the same
_TOLD = 0.75
_INPUTS = 240  # that decide which mutants are taken to do the same as the function


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitTestWritingConfig(TaskConfig):
    """How many rules the function has, and how many mutants the tests should fail on."""

    n_rules: int = knob(2, "rules of the function", low=1, high=60)
    n_mutants: int = knob(10, "mutants that the tests should fail on", low=2, high=500)
    max_checks: int = knob(24, "largest number of calls in the tests", low=1, high=1000)

    @classmethod
    def at(cls, difficulty: int) -> "UnitTestWritingConfig":
        """Each level adds two mutants; every second a rule, and the others allow fewer calls."""
        n_rules = min(60, 1 + difficulty // 2)
        return cls(
            n_rules=n_rules,
            n_mutants=min(500, 6 + 2 * difficulty),
            max_checks=min(1000, 16 + 4 * n_rules - 6 * (difficulty % 2)),
        )


@dataclass(frozen=True, slots=True)
class UnitTestWritingProblem:
    """The function with its specification, and the mutants."""

    function: str
    specification: str
    source: str
    kind: str
    n_rules: int
    max_checks: int
    seed: int = hidden()  # of the function
    mutants: tuple[int, ...] = hidden()  # indices of the changes to it
    witness: tuple[Args, ...] = hidden()  # arguments that distinguish all of them

    @property
    def subject(self) -> Tested:
        """The function."""
        return rule_function(self.kind, self.n_rules, self.seed)


class _Drawn(NamedTuple):
    """A function with mutants, those that inputs tell from it, and these inputs."""

    kind: str
    seed: int
    subject: Tested
    mutants: dict[int, Program]
    told: tuple[int, ...]
    inputs: tuple[Args, ...]


@register("UnitTestWriting-v0", domain="code", answer_format="fenced:python")
class UnitTestWritingTask(Task[UnitTestWritingConfig, UnitTestWritingProblem]):
    """Write unit tests that pass on a function and fail on changed versions of it.

    Description:
        The function follows a list of rules. Mutants of it have one hidden change each: another
        operator, number or variable, a rule left out, branches swapped. Changes that make no
        difference on some 240 inputs, most at the edges of the rules, are left out.

    Observation:
        The function's specification and code, and what a suite may consist of.

    Action:
        Python code with tests: assertions that compare a call of the function with a value.

    Reward:
        The share of the mutants on which a test fails; 0 if one fails on the function itself.

    Verification:
        The suite is read as data (calls and expected values) and never run, so it cannot look at
        the code that it tests; what is more than literals, loops over them, and comparisons is
        refused. The calls are then made by an interpreter of the function's own representation,
        bounded in steps. Static measures of the suite (repeated and idle assertions, tests without
        any, the largest test) are parts of the verdict, without influence on the score. Known gap:
        ``pytest.raises`` and properties of the result other than equality are not understood.

    Difficulty:
        The number of rules and of mutants grows; every second level allows fewer calls.

    References:
        Steenhoek et al., Reinforcement Learning from Automatic Feedback for High-Quality Unit Test
        Generation, 2023; R. DeMillo, R. Lipton and F. Sayward, Hints on test data selection, 1978.
    """

    def generate(self, rng: Rng) -> UnitTestWritingProblem:
        config = self.config
        drawn = self._draw(rng)
        for _ in range(_REDRAWS):
            if len(drawn.told) >= _TOLD * len(drawn.mutants):
                break  # else, some rules hardly ever apply
            drawn = self._draw(rng)
        subject = drawn.subject
        told = drawn.told[-config.n_mutants :]
        chosen = {number: drawn.mutants[number] for number in told}
        _, witness = kept(subject.program, chosen, drawn.inputs)
        return UnitTestWritingProblem(
            function=subject.function.name,
            specification=subject.specification,
            source=subject.source,
            kind=drawn.kind,
            n_rules=config.n_rules,
            max_checks=max(config.max_checks, 2 * len(witness)),
            seed=drawn.seed,
            mutants=tuple(sorted(told)),
            witness=witness,
        )

    def _draw(self, rng: Rng) -> _Drawn:
        kind, seed = pick(rng, KINDS), draw_seed(rng)
        n_rules = self.config.n_rules
        subject = rule_function(kind, n_rules, seed)
        mutants = self._mutants(rng, subject.program, slips(kind, n_rules, seed))
        told, inputs = kept(subject.program, mutants, trial_inputs(rng, subject, _INPUTS))
        return _Drawn(kind, seed, subject, mutants, told, inputs)

    def _mutants(
        self, rng: Rng, program: Program, options: Sequence[Mistake]
    ) -> dict[int, Program]:
        """Draw twice as many mutants as are wanted: the easier half is left out."""
        mutants: dict[int, Program] = {}
        for number in rng.permutation(len(options)).tolist():
            changed = mutant(program, options[number])
            if changed is not None:
                mutants[number] = changed
            if len(mutants) == 2 * self.config.n_mutants:
                break
        return mutants

    def prompt(self, problem: UnitTestWritingProblem) -> str:
        name = problem.function
        return (
            f"Write unit tests for this Python function.\n\n{problem.specification}\n\n"
            f"```python\n{problem.source}\n```\n\n"
            "All tests must pass on this function; if one fails, you score 0. The tests are then "
            "tried on mutants: copies of the function, each with one mistake. Your score is the "
            "share of the mutants on which at least one test fails.\n\n"
            "Write functions with names of the form `test_...` and assertions of the form "
            f"`assert {name}(...) == value`. The tests may make at most {problem.max_checks} calls "
            f"of {name} in total; each pass of a loop counts. The tests are read, not run. Use "
            "only "
            "literals, names assigned to literals, and arithmetic on them as arguments and values. "
            "You may use `for` loops over literal lists and `pytest.mark.parametrize`, but no "
            "other imports, no other calls, no conditions and no `try`."
        )

    def verify(self, problem: UnitTestWritingProblem, answer: str) -> Verdict:
        subject = problem.subject
        function, program = subject.function, subject.program
        try:
            suite = read_suite(answer, function, problem.max_checks)
        except SuiteError as error:
            return Verdict.unparsable(str(error))
        quality = suite.quality()
        if not suite.checks:
            return Verdict(
                0.0, Status.WRONG, "the tests contain no assertion that calls the function", quality
            )
        failing = first_failure(program, function, suite.checks)
        if failing:
            return Verdict(0.0, Status.WRONG, f"{failing} fails on the function itself", quality)
        killed = 0
        options = slips(problem.kind, problem.n_rules, problem.seed)
        for number in problem.mutants:
            changed = mutant(program, options[number])
            killed += changed is not None and bool(first_failure(changed, function, suite.checks))
        total = len(problem.mutants)
        parts = {"mutants_killed": float(killed), "mutants": float(total), **quality}
        graded = Verdict.graded(killed / total, f"the tests fail on {killed} of {total} mutants")
        return Verdict(graded.score, graded.status, graded.detail, parts)

    def solve(self, problem: UnitTestWritingProblem) -> str:
        program = problem.subject.program
        tests = []
        for number, args in enumerate(problem.witness, 1):
            shown = ", ".join(repr(list(a) if isinstance(a, tuple) else a) for a in args)
            text = output(program, args)
            value = repr(text) if problem.subject.function.returns == "str" else text
            tests.append(f"def test_{number}():\n    assert {problem.function}({shown}) == {value}")
        return "\n\n\n".join(tests)

    def effort(self, problem: UnitTestWritingProblem) -> int:
        """Count the words and signs of the function, once for each call of the reference tests."""
        return len(problem.witness) * code_length(problem.source)

    def baseline(self, rng: Rng, problem: UnitTestWritingProblem) -> str:
        """Write one test, of the empty list or text or of two zeros."""
        start = re.search(r"The total starts at (\d+)", problem.specification)
        if "takes a string" in problem.specification:
            check = '("") == ""'
        else:
            check = f"([]) == {start[1]}" if start is not None else "(0, 0) == 0"
        return f"def test_empty():\n    assert {problem.function}{check}"
