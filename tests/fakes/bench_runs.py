"""A made-up benchmark: a suite, and runs whose final scores a test chooses."""

from collections.abc import Mapping, Sequence

from rlvr_envs.bench.results import Algorithm, Point, Run
from rlvr_envs.bench.suite import Experiment, Split, Suite, TaskLevels

START = 0.1
SAMPLES, TOKENS = 1000, 8000
AXES = ("basics", "noise", "long answers", "forgetting")


def suite(experiments: int = 4, seeds: int = 5, **settings) -> Suite:
    """Return a suite whose experiments are called e0, e1, …"""
    return Suite(
        name="made-up-v1",
        title="A suite for tests.",
        **{"status": "draft", "draft": 2, "protocol": 1} | settings,
        seeds=tuple(range(seeds)),
        fractions=(0.0, 0.5, 1.0),
        responses=4,
        experiments=tuple(
            Experiment(
                name=f"e{number}",
                question=f"Does it learn task {number}?",
                axis=AXES[number % len(AXES)],
                train=(TaskLevels(task="rlvr/Gcd-v0", levels=(0,)),),
                splits={"test": Split(problems=10)},
                start="tiny",
                max_tokens=8,
                context=64,
                samples=SAMPLES,
                tokens=TOKENS,
            )
            for number in range(experiments)
        ),
    )


def run(of: Suite, name: str, experiment: str, seed: int, final: float, **settings) -> Run:
    """Return a run that rises from `START` to ``final`` in a line, and uses all of its samples.

    It needs ``tokens`` (10,000), so its score when `TOKENS` were used is not yet the final one.
    """
    tokens = settings.pop("tokens", 10_000)
    points = tuple(
        Point(
            samples=int(share * SAMPLES),
            tokens=int(share * tokens),
            score=START + share * (final - START),
            solved=0.0,
            greedy=None,
            unscored=0.02 * share,
            device_s=60.0 * share,
            responses_sha256="0" * 64,
        )
        for share in of.fractions
    )
    usual = {
        "suite_hash": settings.get("suite_hash") or of.hash,
        "split": "test",
        "algorithm": Algorithm(name=name, settings={"lr": 0.1}),
        "trust": "plug-in",
        "cpu_s": 120.0,
        "memory_mib": 100.0,
        "machine": {"processor": "an abacus", "cores": 2},
        "versions": {"rlvr_envs": "0.1.0"},
    }
    return Run(suite=of.name, experiment=experiment, seed=seed, points=points, **usual | settings)


def entry(of: Suite, name: str, finals: Mapping[str, Sequence[float]], **settings) -> list[Run]:
    """Return an algorithm's runs from the final scores of each experiment, seed by seed."""
    settings = {"suite_hash": of.hash} | settings
    return [
        run(of, name, experiment, seed, final, **settings)
        for experiment, scores in finals.items()
        for seed, final in enumerate(scores)
    ]


def drawn(of: Suite, name: str, rng, mean: float = 0.5, spread: float = 0.05) -> list[Run]:
    """Return an algorithm's runs with final scores around a mean."""
    finals = {
        each.name: rng.normal(mean, spread, len(of.seeds)).clip(0, 1) for each in of.experiments
    }
    return entry(of, name, {name: scores.tolist() for name, scores in finals.items()})
