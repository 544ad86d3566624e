from fractions import Fraction

import sympy

from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.mathematics.polynomials import (
    add,
    compose,
    content,
    evaluate,
    multiply,
    random_polynomial,
    trim,
)

X = sympy.Symbol("x")


def shown(coefficients):
    return sympy.Poly(coefficients[::-1] or (0,), X)


def test_operations_agree_with_sympy():
    for seed in range(30):
        rng = stream("polynomials", seed)
        left, right = random_polynomial(rng, 3, 5), random_polynomial(rng, 2, 5)
        assert shown(add(left, right)) == shown(left) + shown(right)
        assert shown(multiply(left, right)) == shown(left) * shown(right)
        assert shown(compose(left, right)) == shown(left).compose(shown(right))
        assert evaluate(left, 7) == shown(left).eval(7)
        assert content(left) == shown(left).content()


def test_zero_and_cancelled_powers():
    assert trim((0, 0)) == ()
    assert add((1, 2), (3, -2)) == (4,)
    assert add((1, 2), (-1, -2)) == ()
    assert multiply((), (1, 2)) == ()
    assert evaluate((), Fraction(1, 2)) == 0
