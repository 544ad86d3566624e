import ast
import operator
from fractions import Fraction

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.random_calculation import (
    RandomCalculationConfig,
    RandomCalculationProblem,
    RandomCalculationTask,
    closeness,
)

OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: lambda base, exponent: base ** int(exponent),
}


def evaluated(latex: str) -> Fraction:
    """Evaluate the LaTeX by way of Python's own grammar: an oracle that shares no code."""
    text = latex.replace(r"\left", "").replace(r"\right", "").replace("^", "**")
    text = text.replace(r"\times", "*").replace(r"\div", "/").replace(r"}{", ")/(")
    text = text.replace(r"\frac{", "((").replace("}", "))")

    def walk(node: ast.expr) -> Fraction:
        if isinstance(node, ast.BinOp):
            return OPERATORS[type(node.op)](walk(node.left), walk(node.right))
        assert isinstance(node, ast.Constant)
        return Fraction(node.value)

    return walk(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize("difficulty", range(0, 21, 4))
def test_the_value_is_that_of_the_expression(difficulty):
    task = RandomCalculationTask(RandomCalculationConfig.at(difficulty))
    for seed in range(20):
        problem = task.generate(stream("calculation", difficulty, seed))
        assert evaluated(problem.expression) == problem.value


def test_whole_small_world():
    task = RandomCalculationTask(RandomCalculationConfig.at(0))
    for seed in range(20):
        problem = task.generate(stream("calculation", seed))
        right = evaluated(problem.expression)
        for guess in range(-110, 111):
            assert (task.verify(problem, str(guess)).score == 1.0) == (guess == right)


def test_equal_forms_pass_and_the_copied_question_does_not():
    task = RandomCalculationTask(RandomCalculationConfig())
    problem = RandomCalculationProblem(r"\frac{1}{2} + 5^2", Fraction(51, 2))
    for form in ("25.5", "51/2", r"\frac{102}{4}", r"25\frac{1}{2}", r"x = \frac{51}{2}"):
        assert task.verify(problem, form).score == 1.0
    for form in (problem.expression, "1/2 + 25", "26", "25.50001", "-51/2", ""):
        assert task.verify(problem, form).score == 0.0


@pytest.mark.parametrize(
    ("answer", "value", "score"),
    [("4", 5, 0.4), ("5.5", 5, 0.7), ("0", 5, 0.0), ("9", 0, 0.0), ("-5", 5, 0.0)],
)
def test_graded_scores_worked_by_hand(answer, value, score):
    task = RandomCalculationTask(RandomCalculationConfig(graded=True))
    verdict = task.verify(RandomCalculationProblem("?", Fraction(value)), answer)
    assert verdict.score == pytest.approx(score, abs=1e-6)


def test_graded_full_marks_only_for_the_value():
    task = RandomCalculationTask(RandomCalculationConfig(graded=True))
    problem = RandomCalculationProblem("?", Fraction(10**30))
    assert task.verify(problem, str(10**30)).score == 1.0
    assert task.verify(problem, "1e30").score == 1.0
    assert closeness(Fraction(10**30) + Fraction(1, 10**40), problem.value) < 1.0
    for form in (r"\infty", "NaN", "x", "5*2", ""):
        assert task.verify(problem, form).score == 0.0


@pytest.mark.parametrize(
    "knobs", [{"n_steps": 0}, {"max_integer": 1}, {"atoms": ()}, {"atoms": ("root",)}]
)
def test_bad_knobs_are_refused(knobs):
    with pytest.raises(ConfigError):
        RandomCalculationConfig(**knobs)


def test_effort_and_baseline_of_a_small_expression():
    task = RandomCalculationTask(RandomCalculationConfig())
    problem = RandomCalculationProblem(r"12 \times 3 - 40", Fraction(-4))
    assert task.explain(problem) == ["12 * 3 = 36", "36 - 40 = -4"]
    assert task.effort(problem) == 5 + 5 + 2
    assert task.baseline(stream("b"), problem) == "55"
