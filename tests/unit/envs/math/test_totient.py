"""Totient: the whole small world, every kind, configuration."""

import math

import pytest
import sympy

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.totient import TotientConfig, TotientProblem, TotientTask
from rlvr_envs.generators.mathematics.effort import written

ENUMERATED = {
    "totient": lambda n: sum(math.gcd(k, n) == 1 for k in range(1, n + 1)),
    "divisor_count": lambda n: sum(n % k == 0 for k in range(1, n + 1)),
    "divisor_sum": lambda n: sum(k for k in range(1, n + 1) if n % k == 0),
    "coprime_sum": lambda n: sum(k for k in range(1, n + 1) if math.gcd(k, n) == 1),
}
PLAIN = tuple(ENUMERATED)


def of_kind(kind, difficulty=0):
    return TotientTask(TotientConfig(**{**knobs(difficulty), "kinds": (kind,)}))


def knobs(difficulty):
    config = TotientConfig.at(difficulty)
    return {name: getattr(config, name) for name in ("max_cofactor", "max_prime", "n_primes")}


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("kind", PLAIN)
def test_whole_small_world(kind, seed):
    task = of_kind(kind)
    problem = task.generate(stream("Totient", kind, seed))
    expected = ENUMERATED[kind](problem.n)
    window = range(max(0, expected - 15), expected + 16)
    assert [v for v in window if task.verify(problem, str(v)).score == 1.0] == [expected]


@pytest.mark.parametrize("kind", PLAIN)
def test_larger_values_agree_with_enumeration(kind):
    task = of_kind(kind, difficulty=2)
    for seed in range(30):
        problem = task.generate(stream("Totient", "larger", seed))
        assert int(task.solve(problem)) == ENUMERATED[kind](problem.n)


def test_divisors_of_a_power_agree_with_enumeration():
    task = of_kind("power_divisors")
    problem = TotientProblem("power_divisors", 12, 28, 3)
    assert task.prompt(problem) == "How many positive divisors does $12^{3}$ have?"
    assert ENUMERATED["divisor_count"](12**3) == 28
    for seed in range(20):
        drawn = task.generate(stream("power", seed))
        expected = math.prod(1 + drawn.exponent * e for e in sympy.factorint(drawn.n).values())
        assert drawn.value == expected


def test_the_largest_preimage_agrees_with_enumeration():
    task = of_kind("preimage")
    totients = [sympy.totient(m) for m in range(1, 12_000)]
    for seed in range(20):
        problem = task.generate(stream("preimage", seed))
        assert problem.n <= 1_200  # m / totient(m) is below 5 for all m up to here
        assert problem.value == max(m for m, t in enumerate(totients, 1) if t == problem.n)


def test_effort_and_baseline_of_a_small_problem():
    task = of_kind("totient")
    problem = TotientProblem("totient", 22, 10)
    # 22 = 2 * 11: the last divisor tried is 3, on two digits; then the worked lines.
    assert task.effort(problem) == 2 * 3 + written(task.explain(problem))
    assert task.baseline(stream("b"), problem) == "10"
    assert task.baseline(stream("b"), TotientProblem("totient", 121, 110)) == "120"


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"kinds": ()}, "kinds are"),
        ({"kinds": ("mobius",)}, "kinds are"),
        ({"max_cofactor": 1}, "max_cofactor"),
        ({"max_prime": 1}, "max_prime"),
        ({"n_primes": -1}, "n_primes"),
    ],
)
def test_config_is_checked(knobs, message):
    with pytest.raises(ConfigError, match=message):
        TotientConfig(**knobs)
