from itertools import combinations_with_replacement, product

import pytest
import sympy

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.polynomial_factorization import (
    PolynomialFactorizationConfig,
    PolynomialFactorizationProblem,
    PolynomialFactorizationTask,
)
from rlvr_envs.generators.mathematics.effort import written

X = sympy.Symbol("x")


@pytest.mark.parametrize("difficulty", [0, 3, 5, 7, 10])
def test_the_planted_factors_are_irreducible_and_multiply_to_the_polynomial(difficulty):
    task = PolynomialFactorizationTask(PolynomialFactorizationConfig.at(difficulty))
    for seed in range(4):
        problem = task.generate(stream("factors", difficulty, seed))
        content, factors = sympy.Poly(problem.coefficients[::-1], X).factor_list()
        found = sorted(
            tuple(int(c) for c in factor.all_coeffs()[::-1])
            for factor, count in factors
            for _ in range(count)
        )
        assert (int(content), found) == (problem.content, list(problem.factors))


def test_whole_small_world():
    knobs = {"n_factors": 2, "max_degree": 1, "max_coefficient": 3, "max_leading": 1}
    task = PolynomialFactorizationTask(PolynomialFactorizationConfig(**knobs, max_content=2))
    linear = [(a, b) for a, b in product((1, 2, -1), range(-3, 4))]
    for seed in range(8):
        problem = task.generate(stream("factors", seed))
        c, b, a = problem.coefficients
        for lead in (1, 2, -1):
            for (p, q), (r, s) in combinations_with_replacement(linear, 2):
                text = f"{lead}({p}x + {q})({r}x + {s})".replace("+ -", "- ")
                equal = (lead * p * r, lead * (p * s + q * r), lead * q * s) == (a, b, c)
                primitive = all(sympy.gcd(u, v) == 1 for u, v in ((p, q), (r, s)))
                passed = task.verify(problem, text).score == 1.0
                assert passed == (equal and primitive), (problem, text)


PROBLEM = PolynomialFactorizationProblem(  # 2 (x + 1)^2 (x - 3) (x^2 + 1)
    (-6, -10, -8, -8, -2, 2), 2, ((-3, 1), (1, 0, 1), (1, 1), (1, 1))
)


@pytest.mark.parametrize(
    "text",
    [
        "2(x+1)^2(x-3)(x^2+1)",
        r"2\left(x - 3\right)\left(x^2 + 1\right)\left(x+1\right)(x+1)",
        r"-2 \cdot (3 - x) \cdot (1 + x^2) \cdot (x + 1)^{2}",
        "2*(x+1)**2*(x-3)*(x**2+1)",
        "(x+1)(2)(-x-1)(3-x)(x²+1)",
        "P(x) = 2(x+1)^2(x-3)(x^2+1)",
        "2((x+1)(x-3))(x+1)(x^2+1)",
        "2x^5-2x^4-8x^3-8x^2-10x-6 = 2(x+1)^2(x-3)(x^2+1)",
    ],
)
def test_every_order_and_sign_is_accepted(text):
    task = PolynomialFactorizationTask(PolynomialFactorizationConfig())
    assert task.verify(PROBLEM, text).score == 1.0


@pytest.mark.parametrize(
    "text",
    [
        "2x^5-2x^4-8x^3-8x^2-10x-6",
        "(2x+2)(x+1)(x-3)(x^2+1)",
        "2(x^2+2x+1)(x-3)(x^2+1)",
        "2(x+1)(x^2-2x-3)(x^2+1)",
        "(x+1)^2(x-3)(x^2+1)",
        "-2(x+1)^2(x-3)(x^2+1)",
        "2(x+1)(x-3)(x^2+1)",
        "2(x+1)^3(x-3)(x^2+1)",
        "2(x+1)^2(x-3)(x^2+1)(x+5)/(x+5)",
        "4(x/2+1/2)(x+1)(x-3)(x^2+1)",
        "2(x+1)^2(x-3)(x^2+1)+x-x",
        "2(y+1)^2(y-3)(y^2+1)",
        "2(x+1)^2(x-3)(x-i)(x+i)",
        "x^5 = 2(x+1)^2(x-3)(x^2+1)",
        "2(x+1)^{2}(x-3)^{99999999}(x^2+1)",
        r"\{x+1, x-3, x^2+1\}",
        "",
    ],
)
def test_incomplete_and_wrong_products_are_rejected(text):
    task = PolynomialFactorizationTask(PolynomialFactorizationConfig())
    assert task.verify(PROBLEM, text).score == 0.0


@pytest.mark.parametrize(
    "knobs",
    [
        {"n_factors": 1},
        {"max_degree": 0},
        {"max_coefficient": 1},
        {"max_leading": 0},
        {"max_content": 0},
    ],
)
def test_bad_knobs_are_refused(knobs):
    with pytest.raises(ConfigError):
        PolynomialFactorizationConfig(**knobs)


def test_effort_and_baseline_of_a_small_polynomial():
    task = PolynomialFactorizationTask(PolynomialFactorizationConfig())
    problem = PolynomialFactorizationProblem((12, -10, 2), 2, ((-3, 1), (-2, 1)))
    # 12 and 2 have 6 and 2 divisors: the exponents 2, 1 and 1 give 12 candidates of either sign.
    assert task.effort(problem) == 24 + written(task.explain(problem))
    assert task.baseline(stream("b"), problem) == r"2\left(x^2 - 5x + 6\right)"
