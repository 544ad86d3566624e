"""Number theory structure: every kind against counting, wrong answers, spellings."""

import itertools
import math

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.number_theory_structure import (
    FAMILIES,
    KINDS,
    NumberTheoryStructureConfig,
    NumberTheoryStructureTask,
)


def power_remainder(base, exponent, modulus):
    value = 1
    for _ in range(exponent):
        value = value * base % modulus
    return value


def zeros_in(base, value):
    """Return how often a base divides an integer, by ever larger powers of it."""
    powers = [base]
    while value % powers[-1] == 0:
        powers.append(powers[-1] ** 2)
    count = 0
    for k in reversed(range(len(powers))):
        if value % powers[k] == 0:
            value //= powers[k]
            count += 1 << k
    return count


def order(base, modulus):
    value, k = base % modulus, 1
    while value != 1:
        value, k = value * base % modulus, k + 1
    return k


def decimal_period(n):
    seen, rest = {}, 1
    while rest not in seen:
        seen[rest] = len(seen)
        rest = rest * 10 % n
    return len(seen) - seen[rest]


def fibonacci(n):
    low, high = 0, 1
    for _ in range(n):
        low, high = high, low + high
    return low


def fibonacci_remainder(index, modulus):
    def product(a, b):
        return [[(row[0] * b[0][k] + row[1] * b[1][k]) % modulus for k in range(2)] for row in a]

    power, result = [[1, 1], [1, 0]], [[1, 0], [0, 1]]
    while index:
        if index % 2:
            result = product(result, power)
        power, index = product(power, power), index // 2
    return result[0][1]


def repunit(n):
    value, count = 1 % n, 1
    while value:
        value, count = (value * 10 + 1) % n, count + 1
    return count


def lifted_exponent(prime, a, b, n):
    exponent, k = math.factorial(n), 0
    while pow(a, exponent, prime ** (k + 1)) == pow(b, exponent, prime ** (k + 1)):
        k += 1
    return k


def binomial_row(prime, n):
    """Count by Pascal's rule for the exponents of the prime: C(n, k) = C(n, k - 1) (n - k + 1)/k."""
    exponent = count = 0
    for k in range(n + 1):
        if k:
            top, bottom = n - k + 1, k
            while top % prime == 0:
                top, exponent = top // prime, exponent + 1
            while bottom % prime == 0:
                bottom, exponent = bottom // prime, exponent - 1
        count += exponent == 0
    return count


def wilson(prime, below, factor):
    value = factor
    for k in range(1, prime - below):
        value = value * k % prime
    return value


COUNTED = {
    "factorial_zeros": lambda n: zeros_in(10, math.factorial(n)),
    "power_remainder": power_remainder,
    "power_gcd": lambda base, one, two: math.gcd(base**one - 1, base**two - 1),
    "wilson": wilson,
    "base_zeros": lambda n, base: zeros_in(base, math.factorial(n)),
    "order": order,
    "fibonacci_gcd": lambda one, two: math.gcd(fibonacci(one), fibonacci(two)),
    "decimal_period": decimal_period,
    "lucas": lambda prime, n, k: math.comb(n, k) % prime,
    "residue_sum": lambda prime: sum({x * x % prime for x in range(prime)}),
    "roots_of_unity": lambda k, n: sum(pow(x, k, n) == 1 for x in range(n)),
    "repunit": repunit,
    "binomial_row": binomial_row,
    "tower": lambda base, first, second, modulus: pow(base, first**second, modulus),
    "universal_exponent": lambda n: math.lcm(
        *(order(a, n) for a in range(2, min(n, 200)) if math.gcd(a, n) == 1)
    ),
    "power_values": lambda k, *primes: len(
        {pow(x, k, math.prod(primes)) for x in range(math.prod(primes))}
    ),
    "lifted_exponent": lifted_exponent,
    "exact_order": lambda d, *primes: sum(
        pow(x, d, math.prod(primes)) == 1 and order(x, math.prod(primes)) == d
        for x in range(1, math.prod(primes))
    ),
    "fibonacci_remainder": fibonacci_remainder,
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_agrees_with_counting(kind):
    family = FAMILIES[kind]
    for n, size in itertools.product(range(8), (0, 4)):
        numbers = family.draw(stream(kind, n), size)
        if kind == "lifted_exponent":
            numbers = (*numbers[:3], numbers[3] % 60 + 2)  # a power that can be computed
        assert family.state(*numbers).answer == COUNTED[kind](*numbers), numbers


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_makes_problems_at_every_size(kind):
    for size in (0, 10, 40, 100):
        task = NumberTheoryStructureTask(NumberTheoryStructureConfig(kinds=(kind,), size=size))
        problems = [task.generate(stream(kind, size, n)) for n in range(20)]
        assert all(task.verify(p, task.solve(p)).score == 1.0 for p in problems)
        assert len({task.prompt(p) for p in problems}) > 12


def test_more_than_two_primes():
    for name, numbers in {"power_values": (6, 7, 13, 19), "exact_order": (6, 7, 13, 19)}.items():
        assert FAMILIES[name].state(*numbers).answer == COUNTED[name](*numbers)
    assert len(FAMILIES["power_values"].draw(stream("many"), 24)) == 5


def posed(kind, *numbers):
    task = NumberTheoryStructureTask(NumberTheoryStructureConfig.at(3))
    question = FAMILIES[kind].state(*numbers)
    return task, task.Problem(kind, numbers, str(question.answer), tuple(question.steps))


# 3^(4^5) modulo 77: the order of 3 is 30, 4^5 leaves 4, and 81 leaves 4
RIGHT = ["4", " 4 ", "4.0", "$4$", "+4", "x = 4", "\\text{4}", "four", "04"]
WRONG = [
    *("", " ", "?", "3", "5", "81", "77", "-4", "0", "1", "-73", "4 or 5", "3, 4, 5", "4.5", "40"),
    *("3^{4^5} \\bmod 77", "81 - 77", "2^2", "3^4", "3^{4^5}", "{4, 81}", "between 3 and 5"),
    *("9^{9^9}", "4" * 4000, "nan", "\\infty", "x", "k", "4/0", "\\frac{4}{0}", "4i", "the order"),
]


@pytest.mark.parametrize("answer", RIGHT)
def test_right_answers_in_several_forms(answer):
    task, problem = posed("tower", 3, 4, 5, 77)
    assert problem.answer == "4"
    assert task.verify(problem, answer).score == 1.0


@pytest.mark.parametrize("answer", WRONG)
def test_wrong_answers_earn_nothing(answer):
    task, problem = posed("tower", 3, 4, 5, 77)
    assert task.verify(problem, answer).score == 0.0


def test_prompt_and_other_answers_earn_nothing():
    task, problem = posed("tower", 3, 4, 5, 77)
    assert task.verify(problem, task.prompt(problem)).score == 0.0
    assert task.verify(problem, task.baseline(stream("b"), problem)).score == 0.0
    _, other = posed("tower", 3, 4, 6, 77)
    assert task.verify(problem, other.answer).score == 0.0


@pytest.mark.parametrize(
    ("knobs", "message"),
    [({"kinds": ()}, "kinds are"), ({"kinds": ("euler",)}, "kinds are"), ({"size": 101}, "size")],
)
def test_config_is_checked(knobs, message):
    with pytest.raises(ConfigError, match=message):
        NumberTheoryStructureConfig(**knobs)
