"""The problems of an experiment, drawn anew from the suite and checked against its digests.

A problem belongs to the split that its fingerprint says, so training, validation and test share
none, whatever is drawn; the start checkpoints have only been shown problems of the training split.
"""

import hashlib
import math
from collections.abc import Sequence
from itertools import pairwise

from rlvr_envs.bench.suite import Experiment, TaskLevels
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.instance import Instance, Row
from rlvr_envs.core.problem import canonical
from rlvr_envs.core.seeding import draw_seed, stream
from rlvr_envs.core.source import open_source
from rlvr_envs.datasets.split import read_splits, split_of

SPLIT_SHARES = "train=0.8,validation=0.05,test=0.15"
_SPLITS = read_splits(SPLIT_SHARES)
_TRIES = 400  # draws for each problem that is wanted


def draw(experiment: Experiment, split: str) -> list[Row]:
    """Return the rows of a split, without checking them.

    Raises:
        ConfigError: a task has too few problems.
        RegistrationError: there is no such task.
    """
    kinds = experiment.test if split == "test" and experiment.test else experiment.train
    cells = [
        (kind, level, kind.share / len(kind.levels)) for kind in kinds for level in kind.levels
    ]
    counts = _counts([share for _, _, share in cells], experiment.splits[split].problems)
    found: dict[str, Instance] = {}  # by fingerprint: two levels may ask the same question
    for (kind, level, _), count in zip(cells, counts, strict=True):
        _add(found, kind, level, split, count)
    return [instance.to_row() for instance in found.values()]


def _counts(shares: Sequence[float], total: int) -> list[int]:
    """Divide a number by shares, so that the parts add up to it."""
    edges = [round(total * sum(shares[:k]) / math.fsum(shares)) for k in range(len(shares) + 1)]
    return [high - low for low, high in pairwise(edges)]


def _add(found: dict[str, Instance], kind: TaskLevels, level: int, split: str, count: int) -> None:
    """Add so many problems of a level that are not there yet."""
    source = open_source(
        kind.task,
        difficulty=level,
        answer_format=kind.answer_format or None,
        knobs=kind.knobs,
    )
    rng = stream("bench", kind.task, level, canonical(kind.knobs), split)
    wanted = len(found) + count
    for _ in range(_TRIES * count):
        if len(found) == wanted:
            return
        instance = source.draw(draw_seed(rng))
        fingerprint = instance.fingerprint()
        if split_of(fingerprint, _SPLITS) == split:
            found.setdefault(fingerprint, instance)
    if len(found) < wanted:
        raise ConfigError(
            f"{kind.task} at level {level} has too few problems: the split {split} is to have "
            f"{count}, and {_TRIES * count} draws gave {count - wanted + len(found)}"
        )


def digest(rows: Sequence[Row]) -> str:
    """Return the SHA-256 over what an algorithm meets: seeds, questions and prompts."""
    told = [[row["id"], row["problem_seed"], row["fingerprint"], row["prompt"]] for row in rows]
    return hashlib.sha256(canonical(told).encode()).hexdigest()


def rows_of(experiment: Experiment, split: str) -> Sequence[Row]:
    """Return the rows of a split of a finished suite.

    Raises:
        ConfigError: this version of the package draws other problems than the suite was made with.
    """
    key = (experiment.name, split, experiment.splits[split].digest)
    if key not in _kept:
        _kept[key] = _checked(experiment, split)
    return _kept[key]


_kept: dict[tuple[str, str, str], list[Row]] = {}  # drawing takes seconds


def _checked(experiment: Experiment, split: str) -> list[Row]:
    rows = draw(experiment, split)
    if digest(rows) != experiment.splits[split].digest:
        raise ConfigError(
            f"the {split} problems of {experiment.name} are not those that the suite was made "
            "with: a task has changed since. Use the version of rlvr_envs that has this suite, or "
            "make a new draft with `rlvr bench freeze`"
        )
    return rows
