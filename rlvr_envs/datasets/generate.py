"""Generation: from a plan to a folder of rows, in steps that any interruption may cut short.

Candidates are drawn in any order by any number of processes, and are then taken in the order of
the plan's slots: one whose fingerprint was seen, or whose question stands in a benchmark, makes
way for the next of its cell. So the bytes depend on the plan and the package's version alone.
"""

import json
from collections import Counter, deque
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.instance import Row
from rlvr_envs.core.problem import canonical
from rlvr_envs.core.tables import entries, require_pyarrow
from rlvr_envs.datasets.card import write_card
from rlvr_envs.datasets.decontaminate import Benchmarks
from rlvr_envs.datasets.draw import Drawer, Recipe, question
from rlvr_envs.datasets.plan import Cell, Plan
from rlvr_envs.datasets.split import split_of
from rlvr_envs.datasets.store import (
    DATA,
    locked,
    open_manifest,
    write_manifest,
    write_rows,
)
from rlvr_envs.executors import Executor, Serial

# A cell is used up once this many candidates in a row were known, and eight times its rows.
PATIENCE = 2000
PATIENCE_PER_ROW = 8


@dataclass(slots=True)
class Progress:
    """What has become of a cell's candidates; kept in the manifest between runs."""

    drawn: int = 0  # candidates looked at, which is also the number of the next one
    accepted: int = 0
    repeated: int = 0  # the question was there already
    contaminated: int = 0  # the question stands in a benchmark
    misses: int = 0  # candidates refused since the last accepted one
    exhausted: bool = False


@dataclass(slots=True)
class _Line:
    """The candidates of a cell, waiting in order."""

    cell: Cell
    recipe: Recipe
    progress: Progress
    waiting: deque[Row] = field(default_factory=deque)

    def job(self, count: int) -> tuple[Recipe, int, int]:
        """Return the order for the next candidates behind those that wait."""
        return self.recipe, self.progress.drawn + len(self.waiting), count

    def used_up(self) -> bool:
        """Return whether looking on is not worth it."""
        return self.progress.misses >= PATIENCE + PATIENCE_PER_ROW * self.progress.accepted


def generate(
    plan: Plan,
    out: Path,
    *,
    executor: Executor | None = None,
    benchmarks: Benchmarks | None = None,
    progress: Callable[[int, int], None] = lambda rows, total: None,
) -> dict[str, Any]:
    """Write the dataset of a plan to a folder, or finish what an earlier run began there.

    Args:
        plan: what to generate.
        out: the folder; made where there is none.
        executor: where candidates are drawn, in this process by default; the bytes do not depend on
            it.
        benchmarks: what no question may overlap with; the plan names their files.
        progress: is told how many rows are there and how many there will be.

    Returns:
        The manifest.

    Raises:
        ConfigError: the folder holds something else, or the distinct problems run out.
        OracleError: a task's own answer is not judged correct.
        DependencyError: Parquet is wanted and pyarrow is missing.
    """
    if plan.file_format == "parquet":
        require_pyarrow()
    if bool(plan.benchmarks) != (benchmarks is not None):
        raise ConfigError("the plan names the files of the benchmarks: give both or neither")
    if out.exists() and not out.is_dir():
        raise ConfigError(f"{str(out)!r} is a file: name a folder")
    out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        stack.enter_context(locked(out))
        run = _Run(plan, out, benchmarks, progress)
        run.report(0)
        drawer = Drawer(executor or Serial(), run.report)
        while run.slots_left():
            run.shard(drawer)
        if not run.manifest["complete"]:
            write_card(out, plan, run.manifest)
            run.manifest["complete"] = True
            write_manifest(out, run.manifest)
    return run.manifest


class _Run:
    def __init__(
        self,
        plan: Plan,
        out: Path,
        benchmarks: Benchmarks | None,
        progress: Callable[[int, int], None],
    ) -> None:
        self.plan = plan
        self.out = out
        self.benchmarks = benchmarks
        self.progress = progress
        self.order = plan.order()
        self.manifest = open_manifest(out, json.loads(canonical(plan.to_json())))
        self.shards = int(self.manifest.get("shards", 0))
        states = self.manifest.get("cells") or [{} for _ in plan.cells()]
        self.lines = [
            _Line(cell, Recipe.of(plan, cell), Progress(**state))
            for cell, state in zip(plan.cells(), states, strict=True)
        ]
        self.counts = Counter(
            {tuple(key): count for *key, count in self.manifest.get("counts", [])}
        )
        self.seen = {
            str(entry.data["fingerprint"])
            for file in self.manifest["files"]
            for entry in entries(out / file["name"], ("fingerprint",))
        }
        self.drawn = 0
        (out / DATA).mkdir(exist_ok=True)

    def slots_left(self) -> bool:
        return self.shards * self.plan.shard_rows < len(self.order)

    def report(self, drawn: int) -> None:
        """Tell the caller about candidates that were drawn; most of them become rows."""
        self.drawn += drawn
        self.progress(min(len(self.seen) + self.drawn, self.plan.total), self.plan.total)

    def shard(self, drawer: Drawer) -> None:
        """Draw the rows of the next shard and write them."""
        start = self.shards * self.plan.shard_rows
        slots = self.order[start : start + self.plan.shard_rows].tolist()
        self._stock(drawer, slots)
        parts: dict[str, list[Row]] = {name: [] for name, _ in self.plan.splits}
        for slot in slots:
            row = self._next(drawer, self.lines[slot])
            if row is not None:
                self.seen.add(row["fingerprint"])
                split = split_of(row["fingerprint"], self.plan.splits)
                parts[split].append(row)
                self.counts[split, row["id"], row["difficulty"]] += 1
        self._write({name: rows for name, rows in parts.items() if rows})
        self.drawn = 0
        self.report(0)

    def _stock(self, drawer: Drawer, slots: list[int]) -> None:
        """Draw, all at once, what the shard needs if no candidate is refused."""
        wanted = []
        for index, count in sorted(Counter(slots).items()):
            line = self.lines[index]
            missing = count - len(line.waiting)
            if missing > 0 and not line.progress.exhausted:
                wanted.append((line, missing))
        found = drawer.draw([line.job(missing) for line, missing in wanted])
        for (line, _), rows in zip(wanted, found, strict=True):
            line.waiting.extend(rows)

    def _next(self, drawer: Drawer, line: _Line) -> Row | None:
        """Return the next row of a cell, or None once it is used up and that is allowed."""
        state = line.progress
        while not state.exhausted:
            if not line.waiting:
                # The longer the search, the larger the helping.
                (rows,) = drawer.draw([line.job(min(256, 1 + state.misses))])
                line.waiting.extend(rows)
            row = line.waiting.popleft()
            state.drawn += 1
            if row["fingerprint"] in self.seen:
                state.repeated += 1
            elif self.benchmarks is not None and self.benchmarks.overlap(question(row)):
                state.contaminated += 1
            else:
                state.accepted += 1
                state.misses = 0
                return row
            state.misses += 1
            state.exhausted = line.used_up()
        if self.plan.allow_fewer:
            return None
        raise ConfigError(_exhausted(line))

    def _write(self, parts: dict[str, list[Row]]) -> None:
        for split, rows in parts.items():
            name = f"{DATA}/{split}-{self.shards:05d}.{self.plan.file_format}"
            digest = write_rows(self.out / name, rows, self.plan.file_format)
            self.manifest["files"].append(
                {"name": name, "split": split, "rows": len(rows), "sha256": digest}
            )
        self.shards += 1
        counts = sorted(self.counts.items(), key=lambda item: str(item[0]))
        self.manifest |= {
            "shards": self.shards,
            "counts": [[*key, count] for key, count in counts],
            "cells": [asdict(line.progress) for line in self.lines],
        }
        write_manifest(self.out, self.manifest)


def _exhausted(line: _Line) -> str:
    cell, state = line.cell, line.progress
    level = "" if cell.level is None else f" at difficulty {cell.level}"
    refused = f"{state.repeated} repeated a question of this dataset"
    if state.contaminated:
        refused += f", {state.contaminated} overlap with the benchmarks"
    return (
        f"{cell.source}{level} has run out of distinct problems: {state.accepted} of the "
        f"{cell.count} wanted were found in {state.drawn} draws ({refused}). Ask for fewer, "
        "raise the difficulty, or take what there is with --allow-fewer"
    )
