"""Output prediction: the interpreter agrees with real runs, and only the whole output counts."""

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.code.output_prediction import (
    OutputPredictionConfig,
    OutputPredictionProblem,
    OutputPredictionTask,
)
from rlvr_envs.generators.programs.emit import EMITTED
from rlvr_envs.generators.programs.json_text import program_text
from rlvr_envs.generators.programs.nodes import Print, Program, Var
from rlvr_envs.verifiers.program import run_python

TASK = OutputPredictionTask(OutputPredictionConfig())


@pytest.mark.parametrize("difficulty", [0, 3, 7, 12])
def test_the_shown_program_prints_the_hidden_output(difficulty):
    task = OutputPredictionTask(OutputPredictionConfig.at(difficulty))
    for seed in range(6):
        problem = task.generate(stream("prints", seed))
        result = run_python(problem.code, problem.stdin)
        assert result.stdout.decode() == problem.output


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("7 12\n-3 4", 1.0),
        ("  7 12 \r\n-3   4\n\n", 1.0),
        ("7 12 -3", 0.0),
        ("7 12\n-3 4 5", 0.0),
        ("7 12\n3 4", 0.0),
        ("-3 4\n7 12", 0.0),
        ("7, 12\n-3, 4", 0.0),
        ("The output is 7 12\n-3 4", 0.0),
        ("7 12\n-3 4.0", 0.0),
        ("", 0.0),
    ],
)
def test_answers(answer, score):
    problem = OutputPredictionProblem("python", "", "", "7 12\n-3 4\n")
    assert TASK.verify(problem, answer).score == score


@pytest.mark.parametrize("language", EMITTED)
def test_every_language_shows_the_same_program(language):
    here = OutputPredictionTask(OutputPredictionConfig(language=language))
    problem, other = here.generate(stream("same", 4)), TASK.generate(stream("same", 4))
    assert (problem.stdin, problem.output) == (other.stdin, other.output)
    assert f"```{language}\n" in here.prompt(problem)


@pytest.mark.parametrize(
    "knob", [{"size": 0}, {"length": 33}, {"magnitude": 0}, {"language": "cobol"}]
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        OutputPredictionConfig(**knob)


def test_effort_and_baseline():
    config = OutputPredictionConfig.at(2)
    task = OutputPredictionTask(config)
    program = Program((("a", "int"),), (), (Print((Var("a") + 1,)),))
    problem = OutputPredictionProblem("python", "print(a + 1)", "7\n", "8\n", program_text(program))
    assert task.effort(problem) == 4  # the statement, the sum and what is added
    assert task.baseline(stream("rng"), problem) == "7"


def test_runs_get_longer_from_level_to_level_and_stay_bounded():
    for difficulty in (0, 5, 10, 30):
        task = OutputPredictionTask(OutputPredictionConfig.at(difficulty))
        most = 4 * task.config.size**2 + 40
        efforts = [task.effort(task.generate(stream("steps", s))) for s in range(3)]
        assert max(efforts) <= most
