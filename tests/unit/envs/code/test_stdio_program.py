"""StdioProgram: right programs in several languages pass, everything else does not."""

import dataclasses

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import fingerprint
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.code.stdio_program import StdioProgramConfig, StdioProgramTask
from rlvr_envs.generators.algorithms.plan import (
    FAMILIES,
    Plan,
    answer,
    draw_inputs,
    draw_plan,
    program,
)
from rlvr_envs.generators.algorithms.scales import FULL, scale_of, size_of
from rlvr_envs.generators.programs.emit import emit
from rlvr_envs.generators.programs.stdin import stdin_text
from rlvr_envs.sandboxes import languages
from rlvr_envs.sandboxes.base import Limits
from rlvr_envs.verifiers.program import StdioTest, judge_stdio


def make(difficulty=0, seed=0, **knobs):
    config = dataclasses.replace(StdioProgramConfig.at(difficulty), **knobs)
    task = StdioProgramTask(config)
    return task, task.generate(stream("stdio program", seed))


@pytest.mark.parametrize("language", ["python", "c", "javascript", "perl", "bash"])
@pytest.mark.parametrize("difficulty", [0, 10])
def test_the_oracle_passes(language, difficulty):
    if not languages.find(language).available():
        pytest.skip(f"the toolchain of {language} is not installed")
    task, problem = make(difficulty, 3, language=language)
    verdict = task.verify(problem, task.solve(problem))
    assert verdict.score == 1.0, verdict
    assert verdict.parts["tests_total"] == len(problem.tests) >= task.config.n_tests


def test_another_way_to_the_answer_passes():
    task, problem = make(3, 1, families=("most_frequent",), n_stages=0, n_parts=1)
    modulus, sign = problem.plan.parameters
    source = f"""
import collections, sys
words = sys.stdin.read().split()[1:]
counts = collections.Counter(int(word) % {modulus} for word in words)
print(min(range({modulus}), key=lambda rest: (-counts[rest], {sign} * rest)))
"""
    assert task.verify(problem, source).score == 1.0


def test_brute_force_passes_small_tests_and_fails_large_ones_on_time():
    family = ("count_inversions",)
    knobs = {"families": family, "n_stages": 0, "n_parts": 1}
    for difficulty, passes in ((1, True), (10, False)):
        task, problem = make(difficulty, 2, **knobs)
        slow = emit(program(problem.plan, slow=True), "python")
        verdict = task.verify(problem, slow)
        assert (verdict.score == 1.0) is passes, verdict
    assert "too long" in verdict.detail
    assert task.verify(problem, task.solve(problem)).score == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("language", ["python", "c", "javascript"])
@pytest.mark.parametrize("name", FAMILIES)
def test_brute_force_runs_out_of_time_and_the_oracle_does_not(name, language):
    if not languages.find(language).available():
        pytest.skip(f"the toolchain of {language} is not installed")
    plan = draw_plan(stream("slow", name), [name], 0, 1)
    inputs = draw_inputs(plan, 0, size_of(FAMILIES[name], FULL, language))
    test = StdioTest(stdin_text(program(plan), inputs), str(answer(plan, inputs)))
    limits = Limits(cpu_s=scale_of(language).cpu_s)
    verdicts = [
        judge_stdio(emit(program(plan, slow=slow), language), language, [test], limits=limits)
        for slow in (False, True)
    ]
    assert [verdict.score for verdict in verdicts] == [1.0, 0.0], verdicts
    # Python and JavaScript bound the depth of recursion, which ends some before their time.
    assert "too long" in verdicts[1].detail or name in ("coin_ways", "fewest_coins")


def test_answers_that_know_only_the_examples_fail():
    for seed in range(6):
        task, problem = make(2, seed)
        known = {example.stdin: example.expected for example in problem.examples}
        table = f"import sys\nprint({known!r}.get(sys.stdin.read(), '0'))\n"
        assert task.verify(problem, table).score == 0.0
        most = max(
            (test.expected for test in problem.tests),
            key=[test.expected for test in problem.tests].count,
        )
        assert task.verify(problem, f"print({most!r})").score == 0.0


@pytest.mark.parametrize("source", ["", "print(", "raise SystemExit", "3"])
def test_broken_programs_fail(source):
    task, problem = make(0, 5)
    assert task.verify(problem, source).score == 0.0


def test_another_question_of_the_family_fails():
    task, problem = make(4, 1, families=("count_pairs",))
    modulus, rest = problem.plan.parameters
    other = dataclasses.replace(problem.plan, parameters=(modulus, (rest + 1) % modulus))
    assert task.verify(problem, emit(program(other), "python")).score == 0.0


def test_examples_and_tests_hold_right_answers_and_differ():
    for seed in range(20):
        _, problem = make(5, seed)
        shown = {example.stdin for example in problem.examples}
        assert len(shown) == 2
        for test in problem.tests:
            inputs = draw_inputs(problem.plan, test.seed, test.size)
            assert test.expected == str(answer(problem.plan, inputs))
        outputs = [test.expected for test in problem.tests]
        assert max(map(outputs.count, outputs)) < len(outputs)


def test_prompts_say_what_is_needed():
    task, problem = make(6, 4, language="rust")
    prompt = task.prompt(problem)
    for text in ("standard input", "one integer", "CPU time", "Rust", problem.examples[0].stdin):
        assert text in prompt
    assert emit(program(problem.plan), "rust")[:200] not in prompt


def test_there_are_many_questions():
    task, _ = make(4)
    plans = [task.generate(stream("many", seed)).plan for seed in range(300)]
    assert len(set(plans)) > 250
    assert len({plan.family for plan in plans}) > 15
    problems = {fingerprint("x", task.generate(stream("many", seed))) for seed in range(40)}
    assert len(problems) == 40


def test_levels_bring_families():
    assert set(StdioProgramConfig.at(0).names()) < set(StdioProgramConfig.at(3).names())
    assert {FAMILIES[name].level for name in StdioProgramConfig.at(9).names()} == {4, 5, 6, 7}
    met = {name for level in range(10) for name in StdioProgramConfig.at(level).names()}
    assert met == set(FAMILIES)
    assert StdioProgramConfig(families=("knapsack",), level=0).names() == ("knapsack",)


@pytest.mark.parametrize(
    "knobs",
    [
        {"language": "pyton"},
        {"families": ("nothing",)},
        {"n_tests": 3},
        {"first_level": 5, "level": 4},
        {"n_parts": 0},
        {"growth": -1},
    ],
)
def test_bad_knobs_are_errors(knobs):
    with pytest.raises(ConfigError):
        StdioProgramConfig(**knobs)


def test_plans_are_values():
    assert Plan("knapsack", ()) == Plan("knapsack", ())


def test_programs_with_one_number_wrong_fail():
    for seed in range(8):
        _, problem = make(4, seed, families=("heaviest_apart",), n_stages=0, n_parts=1)
        (least,) = problem.plan.parameters
        for wrong in (least - 1, least + 1):
            other = dataclasses.replace(problem.plan, parameters=(wrong,))
            inputs = [draw_inputs(problem.plan, test.seed, test.size) for test in problem.tests[:8]]
            assert any(answer(other, each) != answer(problem.plan, each) for each in inputs)


def test_examples_say_something():
    for difficulty in (0, 4, 9):
        outputs = [{e.expected for e in make(difficulty, seed)[1].examples} for seed in range(12)]
        assert sum(len(each) == 2 for each in outputs) >= 10


def test_effort_and_baseline():
    task, problem = make(0, 3)
    longer = dataclasses.replace(problem.tests[0], size=8)
    easy = dataclasses.replace(problem, tests=(dataclasses.replace(longer, size=7),))
    # A size of 8 takes four bits, one of 7 takes three.
    assert 4 * task.effort(easy) == 3 * task.effort(dataclasses.replace(problem, tests=(longer,)))
    shown = task.verify(problem, task.baseline(stream("baseline"), problem))
    assert shown.score == 0.0
    assert shown.parts["compiled"] == 1.0
