"""Input prediction: every input is judged as a real run of the shown program says."""

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.code.input_prediction import (
    InputPredictionConfig,
    InputPredictionProblem,
    InputPredictionTask,
)
from rlvr_envs.generators.programs.json_text import program_text
from rlvr_envs.generators.programs.nodes import Bool, If, Int, Print, Program, Var, While
from rlvr_envs.generators.programs.sample_runs import input_format
from rlvr_envs.verifiers.program import run_python

TASK = InputPredictionTask(InputPredictionConfig())


@pytest.mark.parametrize("seed", range(6))
def test_whole_small_world(seed):
    task = InputPredictionTask(InputPredictionConfig(size=1, magnitude=10))
    problem = task.generate(stream("small", 100 + seed))
    if problem.reads.count("\n") or "an integer" not in problem.reads:
        shape = (
            ["3\n1 2 {}", "2\n{} {}", "1\n{}"] if "list" in problem.reads else ["2\n{}", "{}\n2"]
        )
    else:
        shape = ["{}"]
    for number in range(-6, 14, 3):
        for form in shape:
            text = form.replace("{}", str(number)) + "\n"
            result = run_python(problem.code, text)
            expected = 1.0 if result.ok and result.stdout.decode() == problem.output else 0.0
            assert task.verify(problem, text).score == expected, (problem.code, text)
    assert run_python(problem.code, problem.witness).stdout.decode() == problem.output


def stored(body):
    program = Program((("a", "int"),), (), body)
    return InputPredictionProblem("python", "", "", "49\n", program_text(program), "7\n")


def test_any_input_that_gives_the_output_is_right():
    problem = stored((Print((Var("a") * Var("a"),)),))
    assert [n for n in range(-50, 50) if TASK.verify(problem, str(n)).score == 1.0] == [-7, 7]
    for text in ("7.0", "seven", "7 or -7", "49", "1001", "a = 7", ""):
        assert TASK.verify(problem, text).score == 0.0, text


def test_inputs_on_which_the_program_fails_or_never_ends_are_wrong():
    by_zero = stored((Print((Int(343) // Var("a"),)),))
    assert TASK.verify(by_zero, "7").score == 1.0
    assert TASK.verify(by_zero, "0").status == "wrong"
    endless = stored((If(Var("a").ne(7), (While(Bool(True), ()),)), Print((Int(49),))))
    assert TASK.verify(endless, "7").score == 1.0
    assert TASK.verify(endless, "8").status == "wrong"


@pytest.mark.parametrize("knob", [{"size": 0}, {"length": 0}, {"language": "Python"}])
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        InputPredictionConfig(**knob)


def test_effort_and_baseline():
    task = InputPredictionTask(InputPredictionConfig())
    program = Program((("xs", "list"), ("s", "str"), ("a", "int")), (), (Print((Var("a") + 1,)),))
    problem = InputPredictionProblem(
        "python", "", input_format(program), "8\n", program_text(program), "2\n3 4\nab\n7\n"
    )
    assert task.effort(problem) == 4
    assert task.baseline(stream("rng"), problem) == "1\n1\na\n1"
    assert task.verify(problem, task.baseline(stream("rng"), problem)).score == 0.0
