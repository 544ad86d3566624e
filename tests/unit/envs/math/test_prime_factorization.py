"""PrimeFactorization: the whole small world, forms of the answer, the primes behind it."""

import itertools
import math
import re

import pytest
import sympy

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.math.prime_factorization import (
    PrimeFactorizationConfig,
    PrimeFactorizationProblem,
    PrimeFactorizationTask,
)
from rlvr_envs.generators.mathematics.primes import draw_prime, is_prime

TASK = PrimeFactorizationTask(PrimeFactorizationConfig.at(0))
PROBLEM = PrimeFactorizationProblem(360, ((2, 3), (3, 2), (5, 1)))


def products(n, least=1):
    """Every way to write n as a product of factors from ``least`` up, rising."""
    yield (n,)
    for factor in range(max(2, least), math.isqrt(n) + 1):
        if n % factor == 0:
            yield from ((factor, *rest) for rest in products(n // factor, factor))


@pytest.mark.parametrize("seed", range(20))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("PrimeFactorization", seed))
    passed = 0
    for factors in products(problem.n):
        prime = all(all(f % d for d in range(2, f)) for f in factors)
        for order in itertools.islice(itertools.permutations(factors), 6):
            assert TASK.verify(problem, " * ".join(map(str, order))).score == float(prime)
            passed += prime
    assert passed >= 1


@pytest.mark.parametrize(
    "answer",
    [
        "2^3 * 3^2 * 5",
        r"5 \cdot 2^{3} \cdot 3^{2}",
        r"$2^3 \times 3^2 \times 5$",
        "2**3*3**2*5",
        "2 × 2 × 2 × 3 × 3 × 5",
        "2³·3²·5",
        "(2^3)(3^2)(5)".replace(")(", ")*("),
        "(2)^3 * (3)^(2) * 5^1",
        "360 = 2^3 * 3^2 * 5",
        "2^2 * 3^2 * 5 * 2",
    ],
)
def test_forms_of_the_right_product_pass(answer):
    assert TASK.verify(PROBLEM, answer).score == 1.0


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ("360", Status.WRONG),
        ("8 * 9 * 5", Status.WRONG),
        ("2^3 * 3^2 * 5 * 1", Status.WRONG),
        ("2^3 * 3^2 * 5^0", Status.WRONG),
        ("2^3 * 3 * 5", Status.WRONG),
        ("2^3 * 3^2 * 5 * 7", Status.WRONG),
        ("2^999999", Status.WRONG),
        ("", Status.UNPARSABLE),
        ("2, 3, 5", Status.UNPARSABLE),
        ("2^3 + 3^2", Status.UNPARSABLE),
        ("2^3 * 3^2 *", Status.UNPARSABLE),
        ("2^3 3^2 5", Status.UNPARSABLE),
        ("(2)3 * 5", Status.UNPARSABLE),
        ("2^{3 * 3^2 * 5", Status.UNPARSABLE),
        ("2^3 * 3^2 * 5 = 360 = 1", Status.UNPARSABLE),
        ("2^3^1 * 3^2 * 5", Status.UNPARSABLE),
        ("2*" * 5_000, Status.UNPARSABLE),
    ],
)
def test_other_texts_earn_nothing(answer, status):
    assert TASK.verify(PROBLEM, answer).status is status


def test_primality_agrees_with_an_independent_test():
    for value in [*range(-3, 2_000), 3215031751, 3474749660383, 2**61 - 1, 2**67 - 1]:
        assert is_prime(value) == sympy.isprime(value)


def test_drawn_primes_lie_in_range():
    for seed in range(200):
        prime = draw_prime(stream("prime", seed), 50, 100)
        assert 50 <= prime <= 100
        assert sympy.isprime(prime)
    with pytest.raises(ValueError, match="no prime lies between 24 and 28"):
        draw_prime(stream("prime"), 24, 28)


@pytest.mark.parametrize("difficulty", [4, 10])
def test_hidden_factors_are_prime_and_multiply_to_the_number(difficulty):
    task = PrimeFactorizationTask(PrimeFactorizationConfig.at(difficulty))
    for seed in range(20):
        problem = task.generate(stream("PrimeFactorization", difficulty, seed))
        assert all(sympy.isprime(prime) for prime, _ in problem.factors)
        assert math.prod(p**e for p, e in problem.factors) == problem.n


@pytest.mark.parametrize("knobs", [{"max_cofactor": 1}, {"max_prime": 1}, {"n_primes": -1}])
def test_config_is_checked(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        PrimeFactorizationConfig(**knobs)


@pytest.mark.parametrize("kind", ["close", "powers", "binomial"])
def test_other_kinds_of_integers(kind):
    task = PrimeFactorizationTask(PrimeFactorizationConfig(kinds=(kind,)))
    for seed in range(20):
        problem = task.generate(stream(kind, seed))
        assert dict(problem.factors) == sympy.factorint(problem.n)
        numbers = [int(each) for each in re.findall(r"\d+", problem.shown)]
        if kind == "close":
            (low, _), (high, _) = problem.factors
            assert low < high < 1.3 * low
        elif kind == "powers":
            assert problem.n == numbers[0] ** numbers[1] - numbers[2] ** numbers[1] ** (
                len(numbers) > 3
            )
        else:
            assert problem.n == math.comb(*numbers)
        assert (str(problem.n) in task.prompt(problem)) == (kind == "close")


@pytest.mark.parametrize(
    ("n", "factors", "shown", "effort"),
    [
        (22, ((2, 1), (11, 1)), "", 2 * 3),  # divisors up to 3, on two digits
        (899, ((29, 1), (31, 1)), "", 9),  # 30 * 30 - 1 * 1: one square on three digits
        (1295, ((5, 1), (7, 1), (37, 1)), "6^{4} - 1", 2 + 2 + 2 * 6),  # of 5, 7 and 37
    ],
)
def test_effort_of_small_integers(n, factors, shown, effort):
    assert TASK.effort(PrimeFactorizationProblem(n, factors, shown)) == effort


def test_baseline_divides_by_small_primes():
    assert TASK.baseline(stream("b"), PROBLEM) == "2 * 2 * 2 * 3 * 3 * 5"
    problem = PrimeFactorizationProblem(2 * 121, ((2, 1), (11, 2)))
    assert TASK.baseline(stream("b"), problem) == "2 * 121"
