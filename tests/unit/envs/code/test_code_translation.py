"""CodeTranslation: translations that agree pass; near misses, which languages invite, do not."""

import dataclasses
import re

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.code.code_translation import CodeTranslationConfig, CodeTranslationTask
from rlvr_envs.sandboxes import languages


def make(difficulty=0, seed=0, **knobs):
    config = dataclasses.replace(CodeTranslationConfig.at(difficulty), **knobs)
    task = CodeTranslationTask(config)
    return task, task.generate(stream("code translation", seed))


@pytest.mark.parametrize(
    ("source", "target"),
    [("rust", "python"), ("python", "c"), ("c", "javascript"), ("fortran", "perl")],
)
def test_the_oracle_passes(source, target):
    if not languages.find(target).available():
        pytest.skip(f"the toolchain of {target} is not installed")
    for difficulty in (0, 6, 10):
        task, problem = make(difficulty, 2, source=source, target=target)
        verdict = task.verify(problem, task.solve(problem))
        assert verdict.score == 1.0, verdict
        assert verdict.parts["tests_total"] == len(problem.tests) >= 8


def test_a_given_python_program_judges_itself():
    # The text that the prompt shows is the program whose outputs are expected.
    for seed in range(8):
        task, problem = make(7, seed, source="python", target="javascript")
        judge = CodeTranslationTask(CodeTranslationConfig(source="c", target="python"))
        assert judge.verify(problem, problem.code).score == 1.0
        assert problem.code in task.prompt(problem)


def test_division_that_rounds_towards_zero_fails():
    caught = 0
    for seed in range(12):
        task, problem = make(6, seed)
        wrong = re.sub(r"(\w+) % (\d+)\b", r"(\1 - \2 * int(\1 / \2))", problem.translation)
        if wrong != problem.translation:
            caught += task.verify(problem, wrong).score == 0.0
    assert caught >= 4


def test_the_source_unchanged_and_constants_fail():
    for seed in range(6):
        task, problem = make(3, seed)
        assert task.verify(problem, problem.code).score == 0.0
        outputs = [test.expected for test in problem.tests]
        most = max(outputs, key=outputs.count)
        assert task.verify(problem, f"print({most!r})").score == 0.0
        known = {problem.example.stdin: problem.example.expected}
        table = f"import sys\nprint({known!r}.get(sys.stdin.read(), '0'))\n"
        assert task.verify(problem, table).score == 0.0


def test_the_example_is_no_hidden_test_and_outputs_vary():
    for difficulty in (0, 4, 9):
        for seed in range(12):
            _, problem = make(difficulty, seed)
            inputs = [test.stdin for test in problem.tests]
            assert problem.example.stdin not in inputs
            assert len(set(inputs)) == len(inputs) >= 8
            assert len({test.expected for test in problem.tests}) >= 3


@pytest.mark.parametrize(
    "knobs",
    [
        {"source": "python"},
        {"target": "cobol"},
        {"source": "javascipt"},
        {"size": 0},
        {"level": -1},
        {"n_tests": 3},
    ],
)
def test_bad_knobs_are_errors(knobs):
    with pytest.raises(ConfigError):
        CodeTranslationConfig(**knobs)


def test_effort_and_baseline():
    task, problem = make(0, 1)
    assert task.effort(dataclasses.replace(problem, code="console.log(a + 1);")) == 9
    constant = task.baseline(stream("rng"), problem)
    verdict = task.verify(problem, constant)
    assert verdict.score == 0.0
    assert verdict.parts["compiled"] == 1.0
