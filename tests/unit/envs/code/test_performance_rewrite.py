"""PerformanceRewrite: the steps agree, and only an answer that is both right and fast passes."""

import inspect

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import integer, integers, stream
from rlvr_envs.envs.code.performance_rewrite import (
    STAGES,
    PerformanceRewriteConfig,
    PerformanceRewriteTask,
)
from rlvr_envs.generators.code_length import code_length
from rlvr_envs.generators.slow_programs import fast_stages as _fast_stages
from rlvr_envs.generators.slow_programs import slow_stages as _slow_stages

NAMES = [name for tier in STAGES for name in tier]
TASK = PerformanceRewriteTask(PerformanceRewriteConfig.at(3))
PROBLEM = TASK.generate(stream("PerformanceRewrite", 1))
ORACLE = TASK.solve(PROBLEM)


def test_every_step_is_used():
    slow = [name for name, value in vars(_slow_stages).items() if inspect.isfunction(value)]
    fast = [name for name, value in vars(_fast_stages).items() if inspect.isfunction(value)]
    assert sorted(slow) == sorted(fast) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_slow_and_fast_steps_agree(name):
    rng = stream("steps", name)
    slow, fast = getattr(_slow_stages, name), getattr(_fast_stages, name)
    for largest in (2, 9, 999):
        for size in (0, 1, 2, 3, 7, 12, 25):
            for _ in range(8):
                xs = list(integers(rng, 0, largest, size))
                a, m = integer(rng, 1, 20), integer(rng, 50, 5000)
                assert slow(xs, a, m) == fast(xs, a, m)


@pytest.mark.parametrize("name", NAMES)
def test_slow_steps_do_not_depend_on_what_is_in_the_list(name):
    # The time at full length is worked out from the time at a short one.
    source = inspect.getsource(getattr(_slow_stages, name))
    assert source.count("for j in range(") == 1
    assert "break" not in source
    assert "continue" not in source


def test_oracle_and_what_it_shows():
    verdict = TASK.verify(PROBLEM, ORACLE)
    assert verdict.score == 1.0
    assert verdict.parts["speedup"] > 5 * PROBLEM.speedup


def test_the_given_code_is_too_slow():
    verdict = TASK.verify(PROBLEM, PROBLEM.source)
    assert verdict.score == 0.0
    assert "too long" in verdict.detail
    assert verdict.parts["fraction"] == 1.0


def test_a_step_left_slow_is_too_slow():
    task = PerformanceRewriteTask(PerformanceRewriteConfig(n_steps=2, tier=0, speedup=20))
    problem = task.generate(stream("PerformanceRewrite", 2))
    slow_last = problem.recipe.text(_slow_stages).split("\n\n\n")[1]
    fast = task.solve(problem)
    fast_last = next(part for part in fast.split("\n\n\n") if part.startswith("def step_2"))
    half = fast.replace(fast_last, slow_last)
    assert slow_last.startswith("def step_2")
    assert task.verify(problem, half).score == 0.0


CHEATS = {
    "fast and wrong": "def solve(xs):\n    return len(xs) * 7 % 1000",
    "a table of the examples": "def solve(xs):\n    return {examples}.get(tuple(xs), 0)",
    "calls the given code": "from __main__ import solve as given\ndef solve(xs):\n    return given(xs)",
    "finds the given code": "import sys\ndef solve(xs):\n    return sys.modules['reference'].solve(xs)",
    "a result that is equal to everything": (
        "class Any(int):\n    def __eq__(self, other):\n        return True\n"
        "def solve(xs):\n    return Any(3)"
    ),
    "prints instead": "def solve(xs):\n    print(0)",
    "another clock": "import time\ntime.process_time = lambda: 0.0\n{source}",
    "a child does the work": (
        "import os\n{source}\nslow = solve\ndef solve(xs):\n    r, w = os.pipe()\n"
        "    if os.fork() == 0:\n        os.write(w, str(slow(xs)).encode())\n        os._exit(0)\n"
        "    os.wait()\n    return int(os.read(r, 99))"
    ),
    "work while loading": "{source}\nfor _ in range(9):\n    solve(list(range(9000)))",
    "memory of earlier calls": (
        "import json, os\n{source}\nslow = solve\ndef solve(xs):\n    key = '/tmp/' + str(hash(tuple(xs)))\n"
        "    if not os.path.exists(key):\n        open(key, 'w').write(str(slow(xs)))\n"
        "    return int(open(key).read())"
    ),
}


@pytest.mark.parametrize("cheat", CHEATS)
def test_cheats_earn_nothing(cheat):
    examples = {example.xs: example.result for example in PROBLEM.examples}
    text = CHEATS[cheat].replace("{examples}", repr(examples)).replace("{source}", PROBLEM.source)
    verdict = TASK.verify(PROBLEM, text)
    assert verdict.score == 0.0
    assert verdict.scored


@pytest.mark.parametrize("knob", [{"n_steps": 0}, {"tier": 4}, {"speedup": 5}])
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        PerformanceRewriteConfig(**knob)


def test_effort_and_baseline():
    assert TASK.baseline(stream("rng"), PROBLEM) == PROBLEM.source
    tiers = {name: number for number, names in enumerate(STAGES, 1) for name in names}
    lengths = [
        tiers[step.name] * code_length(inspect.getsource(getattr(_fast_stages, step.name)))
        for step in PROBLEM.recipe.steps
    ]
    assert TASK.effort(PROBLEM) == sum(lengths) > 0
