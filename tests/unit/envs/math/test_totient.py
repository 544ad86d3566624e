"""Totient: the whole small world, every kind, configuration."""

import math

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.totient import KINDS, TotientConfig, TotientTask

ENUMERATED = {
    "totient": lambda n: sum(math.gcd(k, n) == 1 for k in range(1, n + 1)),
    "divisor_count": lambda n: sum(n % k == 0 for k in range(1, n + 1)),
    "divisor_sum": lambda n: sum(k for k in range(1, n + 1) if n % k == 0),
}


def of_kind(kind, difficulty=0):
    return TotientTask(TotientConfig(**{**knobs(difficulty), "kinds": (kind,)}))


def knobs(difficulty):
    config = TotientConfig.at(difficulty)
    return {name: getattr(config, name) for name in ("max_cofactor", "max_prime", "n_primes")}


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("kind", KINDS)
def test_whole_small_world(kind, seed):
    task = of_kind(kind)
    problem = task.generate(stream("Totient", kind, seed))
    expected = ENUMERATED[kind](problem.n)
    window = range(max(0, expected - 15), expected + 16)
    assert [v for v in window if task.verify(problem, str(v)).score == 1.0] == [expected]


@pytest.mark.parametrize("kind", KINDS)
def test_larger_values_agree_with_enumeration(kind):
    task = of_kind(kind, difficulty=2)
    for seed in range(30):
        problem = task.generate(stream("Totient", "larger", seed))
        assert int(task.solve(problem)) == ENUMERATED[kind](problem.n)


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
