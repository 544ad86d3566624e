"""ComplexityRewrite: the functions agree, and only an answer within the bound passes."""

import inspect

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import integer, integers, stream
from rlvr_envs.envs.code.complexity_rewrite import (
    Argument,
    ComplexityRewriteConfig,
    ComplexityRewriteProblem,
    ComplexityRewriteTask,
    Part,
    _text,
)
from rlvr_envs.generators.code_length import code_length
from rlvr_envs.generators.slow_programs import fast_functions as _fast_functions
from rlvr_envs.generators.slow_programs import slow_functions as _slow_functions
from rlvr_envs.generators.slow_programs.bounds import GROWTH, KINDS

TASK = ComplexityRewriteTask(ComplexityRewriteConfig.at(4))


def problem_of(*names):
    parts = tuple(Part(name, 3, 2, 99_991, 5) for name in names)
    arguments = tuple(Argument(*KINDS[name][1:4]) for name in names)
    source = _text(parts, 999_983, _slow_functions)
    return ComplexityRewriteProblem(source, (), arguments, parts, 999_983, 7)


def test_every_function_is_known():
    for module in (_slow_functions, _fast_functions):
        own = [
            name
            for name, value in vars(module).items()
            if inspect.isfunction(value) and value.__module__ == module.__name__
        ]
        assert sorted(own) == sorted(KINDS)
    assert {kind.bound for kind in KINDS.values()} == set(GROWTH)


@pytest.mark.parametrize("name", KINDS)
def test_slow_and_fast_functions_agree(name):
    rng = stream("functions", name)
    kind = KINDS[name]
    slow, fast = getattr(_slow_functions, name), getattr(_fast_functions, name)
    for _ in range(120):
        size = integer(rng, 0, kind.small)
        largest = (2, 9, 200)[integer(rng, 0, 2)]
        data = size if kind.takes == "int" else list(integers(rng, 0, largest, size))
        a, b, m = integer(rng, 1, 9), integer(rng, 1, 9), integer(rng, 10, 3000)
        assert slow(data, a, b, m) == fast(data, a, b, m), (data, a, b, m)


@pytest.mark.parametrize("name", KINDS)
def test_oracle_passes(name):
    problem = problem_of(name)
    assert TASK.verify(problem, TASK.solve(problem)).score == 1.0


@pytest.mark.parametrize("name", ["pairs_of_sum", "two_term", "grid_paths", "coprime_pairs"])
def test_the_given_code_is_too_slow(name):
    problem = problem_of(name)
    verdict = TASK.verify(problem, problem.source)
    assert verdict.score == 0.0
    assert verdict.scored
    assert verdict.parts["fraction"] == 1.0  # it is right on small inputs


def test_every_function_must_be_rewritten():
    problem = problem_of("best_block", "two_term")
    slow, fast = problem.source.split("\n\n\n"), TASK.solve(problem).split("\n\n\n")
    assert TASK.verify(problem, "\n\n\n".join([slow[0], fast[1], slow[2]])).score == 0.0
    assert TASK.verify(problem, "\n\n\n".join([fast[0], slow[1], slow[2]])).score == 0.0
    assert TASK.verify(problem, "\n\n\n".join([fast[0], fast[1], slow[2]])).score == 1.0


PAIRS = "def solve(x1):\n    k = 5\n    {body}\n    return 5 * (count % 99991) % 999983"


def test_growth_that_built_in_functions_hide_is_seen():
    # Searching for bytes takes quadratic time with so small a constant that it is in time.
    body = (
        "rests = bytes(x % k for x in x1)\n    count = 0\n"
        "    for i, x in enumerate(x1):\n        count += rests.count((2 - x) % k, 0, i)"
    )
    problem = problem_of("pairs_of_sum")
    verdict = TASK.verify(problem, PAIRS.format(body=body))
    assert verdict.score == 0.0
    assert verdict.detail in (
        "the time grows faster than the bound says",
        "it takes too long on a large input",
    )


@pytest.mark.parametrize(
    "answer",
    [
        "def solve(x1):\n    return 0",
        "def solve(x1, x2=None):\n    raise SystemExit(0)",
        "def solve(x1):\n    while True: pass",
        "x1 = 3",
        "def solve(x1) return",
    ],
)
def test_wrong_answers(answer):
    verdict = TASK.verify(problem_of("best_block"), answer)
    assert verdict.score == 0.0
    assert verdict.scored


@pytest.mark.parametrize("knob", [{"n_functions": 0}, {"tier": 4}, {"max_constant": 1}])
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        ComplexityRewriteConfig(**knob)


def test_effort_and_baseline():
    easy, hard = problem_of("pairs_of_sum"), problem_of("staircase")
    assert TASK.baseline(stream("rng"), easy) == easy.source
    assert TASK.effort(easy) == code_length(inspect.getsource(_fast_functions.pairs_of_sum))
    assert TASK.effort(hard) == 4 * code_length(inspect.getsource(_fast_functions.staircase))
    both = problem_of("pairs_of_sum", "staircase")
    assert TASK.effort(both) == TASK.effort(easy) + TASK.effort(hard)
