from fractions import Fraction
from itertools import product

import pytest
import sympy

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.function_composition import (
    Function,
    FunctionCompositionConfig,
    FunctionCompositionProblem,
    FunctionCompositionTask,
)

X = sympy.Symbol("x")


def composed(problem: FunctionCompositionProblem) -> sympy.Expr:
    inner = X if problem.argument is None else sympy.Integer(problem.argument)
    for function in reversed(problem.functions):
        top, bottom = (
            sum(c * inner**k for k, c in enumerate(part))
            for part in (function.top, function.bottom)
        )
        inner = top / bottom
    return sympy.expand(inner)


@pytest.mark.parametrize("form", ["value", "expression"])
@pytest.mark.parametrize("difficulty", [0, 3, 6, 10])
def test_the_result_is_that_of_the_composition(difficulty, form):
    rung = FunctionCompositionConfig.at(difficulty)
    knobs = {name: getattr(rung, name) for name in rung.__slots__} | {"forms": (form,)}
    task = FunctionCompositionTask(FunctionCompositionConfig(**knobs))
    for seed in range(5):
        problem = task.generate(stream("composition", difficulty, seed))
        shown = composed(problem)
        found = sympy.Poly(shown, X).all_coeffs()[::-1] if form == "expression" else [shown]
        assert [Fraction(int(c.p), int(c.q)) for c in found] == list(problem.result)


def test_whole_small_world_of_values():
    task = FunctionCompositionTask(FunctionCompositionConfig.at(0))
    for seed in range(20):
        problem = task.generate(stream("composition", seed))
        right = composed(problem)
        for guess in range(-150, 151):
            assert (task.verify(problem, str(guess)).score == 1.0) == (guess == right)


def test_whole_small_world_of_expressions():
    config = FunctionCompositionConfig(max_coefficient=3, n_quadratics=0, forms=("expression",))
    task = FunctionCompositionTask(config)
    for seed in range(20):
        problem = task.generate(stream("composition", seed))
        slope, constant = sympy.Poly(composed(problem), X).all_coeffs()
        for a, b in product(range(-9, 10), range(-12, 13, 2)):
            passed = task.verify(problem, f"{a}x + {b}").score == 1.0
            assert passed == ((a, b) == (slope, constant))


EXPRESSION = FunctionCompositionProblem(  # (x + 2)^2 - 1
    (Function((-1, 0, 1)), Function((2, 1))), None, (Fraction(3), Fraction(4), Fraction(1))
)


@pytest.mark.parametrize(
    "text", ["x^2 + 4x + 3", "3 + 4x + x^2", "f(g(x)) = x^{2} + 4 x + 3", "x² + 4·x + 3"]
)
def test_equal_polynomials_pass(text):
    assert FunctionCompositionTask(FunctionCompositionConfig()).verify(EXPRESSION, text).score == 1


@pytest.mark.parametrize(
    "text",
    [
        "(x+2)^2 - 1",
        "(x+1)(x+3)",
        "x^2 + 2x + 2x + 3",
        "x^2 + 4x",
        "f(g(x))",
        "y^2 + 4y + 3",
        "3",
        "x^{99999} + 4x + 3",
        "",
    ],
)
def test_unexpanded_and_wrong_polynomials_do_not_pass(text):
    assert FunctionCompositionTask(FunctionCompositionConfig()).verify(EXPRESSION, text).score == 0


def test_a_value_must_be_worked_out():
    task = FunctionCompositionTask(FunctionCompositionConfig())
    problem = FunctionCompositionProblem(EXPRESSION.functions, 3, (Fraction(24),))
    assert task.verify(problem, "24").score == 1.0
    for text in ("(3+2)^2 - 1", "5^2 - 1", "f(g(3))", "25"):
        assert task.verify(problem, text).score == 0.0


def test_a_composition_that_always_meets_a_pole_still_gives_a_problem():
    config = FunctionCompositionConfig(
        max_coefficient=2, max_argument=1, n_quadratics=0, n_quotients=2, forms=("value",)
    )
    task = FunctionCompositionTask(config)
    for seed in range(200):
        problem = task.generate(stream("poles", seed))
        assert composed(problem).is_finite


@pytest.mark.parametrize(
    "knobs",
    [
        {"n_functions": 1},
        {"max_coefficient": 1},
        {"max_argument": 0},
        {"n_quadratics": 2, "n_quotients": 1},
        {"n_quotients": -1},
        {"forms": ()},
        {"forms": ("sketch",)},
    ],
)
def test_bad_knobs_are_refused(knobs):
    with pytest.raises(ConfigError):
        FunctionCompositionConfig(**knobs)


def test_effort_and_baseline_of_a_small_problem():
    task = FunctionCompositionTask(FunctionCompositionConfig())
    functions = (Function((1, 2)), Function((0, 0, 1)))
    problem = FunctionCompositionProblem(functions, 3, (Fraction(19),))
    # 3^2 takes two steps of Horner's rule, 2 * 9 + 1 one; 18 + 1 is a sum of two digits.
    assert task.effort(problem) == 2 * (1 + 1) + 1 + 2
    assert task.baseline(stream("baseline"), problem) == "7"
    problem = FunctionCompositionProblem(functions, None, (Fraction(1), Fraction(0), Fraction(2)))
    assert task.baseline(stream("baseline"), problem) == "2x + 1"
