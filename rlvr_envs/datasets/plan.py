"""The plan of a dataset: what is to be generated, checked before anything is.

A plan is cut into *cells*, one for each source and level, with an exact number of rows each. The
rows of all cells are shuffled into one order of *slots*; slots are cut into shards. All of this
follows from the plan alone.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from rlvr_envs.core import registry
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.source import open_source
from rlvr_envs.datasets.split import WHOLE, Splits

# (level, share); the level None stands for the defaults of the knobs.
Difficulties = tuple[tuple[int | None, Fraction], ...]

FILE_FORMATS = ("jsonl", "parquet")
_PART = re.compile(r"(\d+)(?:-(\d+))?(?::(\d+(?:\.\d+)?|\.\d+))?", re.ASCII)


def read_difficulties(text: str | None) -> Difficulties:
    """Return the shares of the levels of ``"3"``, ``"0-5"`` or ``"0:0.5,1:0.3,2-4:0.2"``.

    A part without a weight weighs 1; a range shares its weight among its levels.

    Raises:
        ConfigError: the text has another form, or no weight is positive.
    """
    if text is None:
        return ((None, Fraction(1)),)
    shares: dict[int | None, Fraction] = {}
    for part in text.split(","):
        match = _PART.fullmatch(part.strip())
        low = int(match[1]) if match else 0
        high = int(match[2] or low) if match else -1
        if match is None or high < low:
            raise ConfigError(
                f"a difficulty is '3', '0-5' or weighted '0:0.5,1:0.3,2-4:0.2', got {text!r}"
            )
        weight = Fraction(match[3] or 1) / (high - low + 1)
        for level in range(low, high + 1):
            shares[level] = shares.get(level, Fraction(0)) + weight
    total = sum(shares.values())
    if not total:
        raise ConfigError(f"no difficulty of {text!r} has a weight above 0")
    return tuple((level, share / total) for level, share in shares.items() if share)


@dataclass(frozen=True, slots=True)
class Cell:
    """Rows of one source at one level."""

    source: str
    level: int | None
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that the bytes of a dataset depend on, apart from the package's version.

    Attributes:
        sources: (id, rows) of tasks and mixtures.
        seed: of the whole dataset.
        difficulty: as `read_difficulties` takes it; None for the defaults of the knobs.
        splits: (name, share).
        knobs: fields of the configuration, for single tasks.
        answer_format: instead of each task's own.
        file_format: jsonl or parquet.
        shard_rows: rows a shard, all splits together; what a kill can cost at most.
        check: whether each row's oracle answer must be judged correct before it is written.
        allow_fewer: whether running out of distinct problems ends a cell rather than the run.
        benchmarks: (file name, sha256) of what the rows were decontaminated against.
        licence: of the rows, for the card; None for the package's own.
    """

    sources: tuple[tuple[str, int], ...]
    seed: int = 0
    difficulty: str | None = None
    splits: Splits = WHOLE
    knobs: Mapping[str, Any] = field(default_factory=dict)
    answer_format: str | None = None
    file_format: str = "jsonl"
    shard_rows: int = 5000
    check: bool = True
    allow_fewer: bool = False
    benchmarks: tuple[tuple[str, str], ...] = ()
    licence: str | None = None

    def __post_init__(self) -> None:
        full = tuple((registry.full_id(name), count) for name, count in self.sources)
        object.__setattr__(self, "sources", full)
        if not full or any(count < 1 for _, count in full):
            raise ConfigError(f"a dataset needs ids with a positive count each, got {full}")
        if len(dict(full)) < len(full):
            raise ConfigError(f"an id comes twice in {[name for name, _ in full]}")
        if self.seed < 0 or self.shard_rows < 1:
            raise ConfigError(
                f"need seed >= 0 and shard_rows >= 1, got {self.seed} and {self.shard_rows}"
            )
        if self.file_format not in FILE_FORMATS:
            allowed = " or ".join(FILE_FORMATS)
            raise ConfigError(f"the file format is {allowed}, got {self.file_format!r}")
        for cell in self.cells():
            open_source(
                cell.source,
                difficulty=cell.level,
                answer_format=self.answer_format,
                knobs=self.knobs,
            )

    @property
    def total(self) -> int:
        """The number of rows."""
        return sum(count for _, count in self.sources)

    def cells(self) -> list[Cell]:
        """Return the cells, in order; counts add up exactly for each source."""
        shares = read_difficulties(self.difficulty)
        return [
            Cell(name, level, part)
            for name, count in self.sources
            for (level, _), part in zip(shares, _apportion(count, shares), strict=True)
        ]

    def order(self) -> npt.NDArray[np.int64]:
        """Return the index of the cell that each row comes from, shuffled."""
        cells = self.cells()
        slots = np.repeat(np.arange(len(cells)), [cell.count for cell in cells])
        rng = stream("dataset order", self.seed)
        return slots[rng.permutation(len(slots))]

    def to_json(self) -> dict[str, Any]:
        """Return the plan as JSON data, equal for equal plans."""
        return {
            "sources": [list(source) for source in self.sources],
            "seed": self.seed,
            "difficulty": self.difficulty,
            "splits": [[name, str(share)] for name, share in self.splits],
            "knobs": dict(self.knobs),
            "answer_format": self.answer_format,
            "file_format": self.file_format,
            "shard_rows": self.shard_rows,
            "check": self.check,
            "allow_fewer": self.allow_fewer,
            "benchmarks": [list(file) for file in self.benchmarks],
            "licence": self.licence,
        }


def _apportion(count: int, shares: Difficulties) -> list[int]:
    """Return whole numbers in these shares that add up to ``count`` (largest remainder)."""
    exact = [count * share for _, share in shares]
    parts = [int(value) for value in exact]
    by_remainder = sorted(range(len(parts)), key=lambda i: (parts[i] - exact[i], i))
    for i in by_remainder[: count - sum(parts)]:
        parts[i] += 1
    return parts
