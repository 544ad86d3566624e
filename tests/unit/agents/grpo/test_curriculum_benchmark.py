"""The comparison of a curriculum with fixed difficulty: what its interval is of."""

import importlib.util
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

BENCHMARKS = Path(__file__).resolve().parents[4] / "benchmarks"


@pytest.fixture(scope="module")
def benchmark():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        spec = importlib.util.spec_from_file_location(
            "grpo_curriculum", BENCHMARKS / "grpo_curriculum.py"
        )
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(BENCHMARKS))
    return module


def run(seed, curriculum, score):
    return {"seed": seed, "curriculum": curriculum, "after": {"score": score}}


def test_differences_are_paired_by_seed_and_the_interval_is_students(benchmark):
    runs = [run(seed, "fixed", seed / 10) for seed in range(3)]
    runs += [run(2, "dump", 0.5), run(0, "dump", 0.1), run(1, "dump", 0.3)]
    found = benchmark.compared(runs)
    assert found["differences"] == [0.1, 0.2, 0.3]
    assert found["mean"] == 0.2
    # 4.3027 is the 97.5 % quantile of t with two degrees of freedom; the deviation is 0.1.
    assert found["interval"] == pytest.approx([0.2 - 0.2484, 0.2 + 0.2484], abs=1e-4)
    assert benchmark.compared([*runs[:1], run(0, "dump", 0.1)])["interval"] is None


def test_scores_are_told_by_level(benchmark):
    row = {"held_out/score": 0.5, "held_out/greedy": 1.0, "held_out/unscored": 0.0}
    row |= {"held_out/Gcd-v0/0": 0.75, "held_out/Gcd-v0/1": 0.25}
    assert benchmark.held_out(row) == {"score": 0.5, "level 0": 0.75, "level 1": 0.25}
