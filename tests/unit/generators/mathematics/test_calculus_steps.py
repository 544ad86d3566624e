"""Worked solutions in calculus: the functions they state are right, not only the numbers."""

import pytest

from rlvr_envs.core.env import TextEnv
from rlvr_envs.generators.mathematics.calculus import (
    X,
    add,
    call,
    differentiate,
    latex,
    mul,
    num,
    power,
)
from rlvr_envs.generators.mathematics.calculus_steps import derivative_steps, from_text
from rlvr_envs.generators.mathematics.integration_steps import integral_steps
from rlvr_envs.verifiers.symbolic import judge_antiderivative, judge_math

LEVELS = range(9)
SEEDS = 8


def problems(name):
    for level in LEVELS:
        env = TextEnv(f"rlvr/{name}-v0", difficulty=level)
        for seed in range(SEEDS):
            env.reset(seed=seed)
            yield env.instance.task, env.instance.problem


def test_a_function_survives_being_written_and_read():
    for _, problem in problems("Derivative"):
        assert latex(from_text(problem.function)) == problem.function


@pytest.mark.parametrize("text", ["\\binom{3}{x}", "x^y", "(1, 2)"])
def test_other_texts_are_refused(text):
    with pytest.raises(ValueError, match="of this kind"):
        from_text(text)


def test_the_last_rule_gives_the_derivative():
    for task, problem in problems("Derivative"):
        last = task.explain(problem)[-1]
        if problem.point is None:
            stated, kind = last.rpartition(" is ")[2].rstrip("."), "expression"
        else:
            stated, kind = last.removeprefix(f"Put in x = {problem.point}: "), "real"
        assert judge_math(problem.derivative, stated, answer_type=kind, exact=True).score == 1


def test_every_rule_of_a_function_is_named():
    function = mul(power(X, 3), call("sin", add(mul(num(2), X), num(1))))
    assert derivative_steps(function) == [
        "Power rule: the derivative of x^3 is 3x^2.",
        "Power rule: the derivative of 2x + 1 is 2.",
        "Chain rule: the derivative of \\sin(2x + 1) is 2\\cos(2x + 1).",
        f"Product rule: the derivative of {latex(function)} is {latex(differentiate(function))}.",
    ]


def test_antiderivatives_that_steps_lead_to_are_right():
    found = 0
    for _, problem in problems("IndefiniteIntegral"):
        steps = integral_steps(from_text(problem.integrand))
        if steps is not None:
            found += 1
            assert (
                steps[0][-1].rstrip(".").endswith(latex(steps[1])) or "chain rule" in steps[0][-1]
            )
            assert judge_antiderivative(problem.integrand, latex(steps[1]), variable="x").score == 1
    assert found > 3 * SEEDS


def test_values_of_definite_integrals_are_right():
    found = 0
    for task, problem in problems("DefiniteIntegral"):
        steps = task.explain(problem)
        if steps:
            found += 1
            value = steps[-1].removeprefix("Upper minus lower: ")
            assert judge_math(problem.value, value, answer_type="real", exact=True).score == 1
    assert found > 4 * SEEDS


def test_substitution_and_parts_are_named():
    inner = add(power(X, 2), num(1))
    steps, whole = integral_steps(mul(num(6), X, call("cos", inner)))
    assert steps[:2] == [
        "Substitute u for x^2 + 1; its derivative is 2x.",
        "The factor 6x is 3 times that.",
    ]
    assert whole == mul(num(3), call("sin", inner))
    steps, whole = integral_steps(mul(X, call("exp", mul(num(2), X))))
    assert steps[0].startswith("Integrate by parts")
    assert judge_antiderivative("x e^{2x}", latex(whole), variable="x").score == 1


def test_what_the_rules_do_not_cover_has_no_steps():
    assert integral_steps(call("ln", X)) is None
    assert integral_steps(mul(call("sin", X), call("exp", X))) is None


def test_limits_by_derivatives_end_in_the_limit():
    for task, problem in problems("Limit"):
        steps = task.explain(problem)
        if steps and "l'Hospital" in steps[0]:
            value = steps[-1].rpartition(" = ")[2]
            assert judge_math(problem.limit, value, answer_type="real").score == 1


def test_derivatives_of_parts_agree_with_differentiation():
    function = from_text("\\frac{\\sin(3x)}{x^2 + 1}")
    assert derivative_steps(function)[-1] == (
        f"Quotient rule: the derivative of {latex(function)} is {latex(differentiate(function))}."
    )
