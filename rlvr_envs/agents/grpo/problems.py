"""What a run may pose: its tasks with their shares and levels, the rows of a file, and splits."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from rlvr_envs.agents.grpo import plugins
from rlvr_envs.agents.grpo.config import Data
from rlvr_envs.agents.grpo.plugins import parse_call
from rlvr_envs.core import registry
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.instance import Instance, Row
from rlvr_envs.core.seeding import Rng, draw_seed
from rlvr_envs.core.source import Source, open_source
from rlvr_envs.core.task import IndexedTask
from rlvr_envs.curricula.base import Proposal
from rlvr_envs.datasets.read import read_rows, split_files
from rlvr_envs.datasets.split import read_splits, split_of
from rlvr_envs.evaluation.plan import Cell as Asked
from rlvr_envs.evaluation.plan import Plan, Question, read_difficulties, read_knobs

Cell = tuple[str, int | None]  # a task's id, and a difficulty level

# So many seeds are tried for a problem of a split before there is said to be none.
_TRIES = 1000
# What is the environment's and not the task's: a held-out problem is asked without it.
_OF_THE_ENV = ("max_turns",)


def read_task(text: str) -> tuple[str, dict[str, Any]]:
    """Return full id and knobs of ``Gcd-v0`` or ``MathDataset-v0(path="train.jsonl")``.

    Raises:
        ConfigError: knobs are no plain values.
        RegistrationError: there is no such task.
    """
    name, bracket, _ = text.partition("(")
    knobs = parse_call(f"task{text[len(name) :]}")[1] if bracket else {}
    return registry.full_id(name.strip()), knobs


def expand(
    tasks: Sequence[str], weights: Sequence[float] = ()
) -> tuple[dict[str, dict[str, Any]], dict[str, float]]:
    """Return knobs and shares by full id; a mixture becomes its tasks, which split its share.

    Raises:
        ConfigError: a task is there twice, or the weights do not fit.
        RegistrationError: there is no such task.
    """
    if weights and (len(weights) != len(tasks) or min(weights) <= 0):
        raise ConfigError(
            f"weights are positive, one for each of the {len(tasks)} tasks; got {tuple(weights)}"
        )
    found: dict[str, dict[str, Any]] = {}
    shares: dict[str, float] = {}
    for text, weight in zip(tasks, weights or (1.0,) * len(tasks), strict=True):
        name, knobs = read_task(text)
        members = {name: 1.0}
        if name in registry.mixture_ids():
            mixed = {key: knobs.pop(key) for key in ("tasks", "weights") if key in knobs}
            source = open_source(name, **mixed)
            members = dict(zip(source.task_ids, source.weights, strict=True))
        else:
            registry.find(name)
        for member, share in members.items():
            if member in found:
                raise ConfigError(
                    f"a task stands in tasks once, with one set of knobs; {member} is there twice "
                    f"(the second time by {text})"
                )
            found[member], shares[member] = knobs, weight * share
    return found, shares


def has_levels(task: str) -> bool:
    """Whether a task has difficulty levels; the rows of a data set are as hard as they are."""
    if task in registry.mixture_ids():
        return True
    try:
        registry.find(task).task_type.Config.at(0)
    except ConfigError:
        return False
    return True


def is_numbered(task: str) -> bool:
    """Whether a task's problems are numbered, as the rows of a data set are."""
    return issubclass(registry.find(task).task_type, IndexedTask)


class Problems:
    """The problems of a run: of which tasks and levels, and which of them are held out.

    With splits a problem is in one of them by its fingerprint, so that what is trained on is never
    asked in the held-out evaluation, however the two were drawn.

    Args:
        data: what the configuration says.

    Raises:
        ConfigError: tasks, weights, difficulty or splits are wrong, or the rows cannot be read.
        RegistrationError: there is no such task.
    """

    def __init__(self, data: Data) -> None:
        self.knobs, self.weights = expand(data.tasks, data.weights)
        self._levels = read_difficulties(data.difficulty)
        self._shared = read_knobs(data.knobs)
        splits = read_splits(data.splits) if data.splits else ()
        if len(splits) == 1:
            raise ConfigError(
                f"splits={data.splits!r} leaves nothing to evaluate on: name two or more, such as "
                "train=0.9,test=0.1"
            )
        self._splits = splits
        self._sources: dict[Cell, Source] = {}
        self._indices: dict[tuple[str, bool], list[int]] = {}
        self._held_out: list[Row] = []  # of a folder that is cut in splits
        self._chosen: dict[tuple[str | None, int | None, bool], list[Row]] = {}
        self.rows = self._rows(data.source)

    def _rows(self, source: str) -> tuple[Row, ...]:
        """Return the rows to train on; take down those that a folder holds out, and their tasks."""
        where = file_of(source)
        if where is None:
            return ()
        path, split = Path(where[0]), where[1]
        names = list(split_files(path, None))
        train = split or names[0]
        rows = _read(path, train)
        if len(names) > 1 and names[-1] != train:
            if self._splits:
                raise ConfigError(f"{path} is cut in {', '.join(names)} already: leave out splits")
            self._held_out = _read(path, names[-1])
        counts = Counter(row["id"] for row in rows)
        lacking = [task for task in self.knobs if task not in counts]
        if not rows or lacking:
            raise ConfigError(f"{path} has no row of {', '.join(lacking) or 'any task'}")
        if not self.knobs:
            self.knobs = {task: {} for task in counts}
            self.weights = {task: float(count) for task, count in counts.items()}
        else:
            self._held_out = [row for row in self._held_out if row["id"] in self.knobs]
        kept = tuple(row for row in rows if row["id"] in self.knobs)
        shared = {row["fingerprint"] for row in kept} & {r["fingerprint"] for r in self._held_out}
        if shared:
            raise ConfigError(f"{len(shared)} problems of {path} are in {train} and {names[-1]}")
        return kept

    @cached_property
    def cells(self) -> list[Cell]:
        """All pairs of a task and a level; tasks without levels have the level None."""
        if self.rows:
            return sorted({_cell(row) for row in self.rows}, key=str)
        return [
            (task, level)
            for task in self.knobs
            for level in (self._levels if has_levels(task) else (None,))
        ]

    @property
    def numbered(self) -> list[str]:
        """The tasks whose problems are numbered."""
        return [task for task in self.knobs if is_numbered(task)]

    @property
    def split(self) -> bool:
        """Whether a part of the problems is held out."""
        return bool(self._splits or self._held_out)

    def name(self, task: str | None) -> str:
        """Return the full id of a proposal's task; None is the first."""
        return next(iter(self.knobs)) if task is None else registry.full_id(task)

    def source(self, task: str, level: int | None) -> Source:
        """Return where the problems of a task and a level come from."""
        cell = (task, level if has_levels(task) else None)
        if cell not in self._sources:
            knobs = self._shared | self.knobs.get(task, {})
            own = {key: value for key, value in knobs.items() if key not in _OF_THE_ENV}
            label = own.pop("answer_format", None)
            self._sources[cell] = open_source(
                task, difficulty=cell[1], answer_format=label, knobs=own
            )
        return self._sources[cell]

    def instance(self, proposal: Proposal) -> Instance:
        """Return the problem that a proposal names by row, number or seed."""
        if proposal.row is not None:
            return Instance.from_row(proposal.row)
        source = self.source(self.name(proposal.task), proposal.difficulty)
        if proposal.index is not None:
            return source.at_index(proposal.index)
        return source.draw(proposal.problem_seed or 0)

    def admits(self, fingerprint: str, *, held_out: bool = False) -> bool:
        """Whether a problem is of the split to train on, or of the one that is held out."""
        if not self._splits:
            return True
        return split_of(fingerprint, self._splits) == self._splits[-1 if held_out else 0][0]

    def seed(self, rng: Rng, task: str, level: int | None) -> int:
        """Draw the seed of a problem to train on.

        Raises:
            ConfigError: with splits, there seems to be none.
        """
        if not self._splits:
            return draw_seed(rng)
        source = self.source(task, level)
        for _ in range(_TRIES):
            seed = draw_seed(rng)
            if self.admits(source.draw(seed).fingerprint()):
                return seed
        raise ConfigError(
            f"{task} at difficulty {level} has too few problems: none of {_TRIES} is of the split "
            f"{self._splits[0][0]}"
        )

    def indices(self, task: str, *, held_out: bool = False) -> list[int]:
        """Return the numbers of a data set's problems to train on, or of those held out.

        Raises:
            ConfigError: there are none.
        """
        key = (task, held_out)
        if key not in self._indices:
            posed = self.source(task, None).draw(0).task
            size = len(posed) if isinstance(posed, IndexedTask) else 0
            self._indices[key] = [
                index
                for index in range(size)
                if not self._splits or self.admits(self._print(task, index), held_out=held_out)
            ]
            _need(self._indices[key], task, held_out)
        return self._indices[key]

    def _print(self, task: str, index: int) -> str:
        return self.source(task, None).at_index(index).fingerprint()

    def rows_of(
        self, task: str | None = None, level: int | None = None, *, held_out: bool = False
    ) -> list[Row]:
        """Return the rows of a task and a level, or of any, to train on or held out.

        Raises:
            ConfigError: there are none.
        """
        wanted = None if task is None else registry.full_id(task)
        key = (wanted, level, held_out)
        if key not in self._chosen:
            self._chosen[key] = [
                row
                for row in (held_out and self._held_out) or self.rows
                if wanted in (None, row["id"])
                and level in (None, row.get("difficulty"))
                and self.admits(row["fingerprint"], held_out=held_out)
            ]
            _need(self._chosen[key], f"{wanted or 'any task'} at difficulty {level}", held_out)
        return self._chosen[key]

    def questions(self, count: int) -> list[Question]:
        """Return held-out problems, ``count`` of each task and level where there are so many.

        Without splits they are those of ``rlvr eval --per-task --seed 0``.
        """
        found: list[Question] = []
        stored = self.rows_of(held_out=True) if self.rows else []
        for task, level in sorted({_cell(row) for row in stored}, key=str) or self.cells:
            cell = Asked(self.source(task, level), level)
            if stored:
                rows = [row for row in stored if _cell(row) == (task, level)][:count]
                found += [Question(cell, None, place, row) for place, row in enumerate(rows)]
                continue
            plan = Plan(ids=(task,), difficulties=(level,), episodes=count)
            found += cell.questions(plan, self._is_held_out if self._splits else None)
        return found

    def _is_held_out(self, instance: Instance) -> bool:
        return self.admits(instance.fingerprint(), held_out=True)


def file_of(source: str) -> tuple[str, str] | None:
    """Return path and split of the rows that a source reads, itself or through another.

    Raises:
        ConfigError: there is no such source, or it reads rows and is told no path.
    """
    if source == "auto":
        return None
    chosen = plugins.source.choose(source)
    if chosen.plugin.traits.get("reads_rows"):
        if not chosen.settings["path"]:
            raise ConfigError(f'the source {chosen.name} needs a file: {chosen.name}(path="…")')
        return str(chosen.settings["path"]), str(chosen.settings["split"])
    return file_of(chosen.settings["over"]) if "over" in chosen.settings else None


def _read(path: Path, split: str) -> list[Row]:
    """Return the rows of a split, each with the full id of its task and a fingerprint."""
    rows = (
        {**row, "id": registry.full_id(str(row.get("id", "")))} for row in read_rows(path, split)
    )
    found = [{**row, "fingerprint": _fingerprint(row)} for row in rows]
    for row in found:
        rate = row.get("pass_rate")
        if rate is not None and not (isinstance(rate, (int, float)) and 0 <= rate <= 1):
            raise ConfigError(
                f"{path}: the row with the fingerprint {row['fingerprint']} has the pass_rate "
                f"{rate!r}: give a number from 0 to 1, or leave it out"
            )
    return found


def _fingerprint(row: Mapping[str, Any]) -> str:
    return str(row.get("fingerprint") or Instance.from_row(row).fingerprint())


def _cell(row: Mapping[str, Any]) -> Cell:
    return row["id"], row.get("difficulty")


def _need(found: Sequence[object], what: str, held_out: bool) -> None:
    if not found:
        kind = "to evaluate on" if held_out else "to train on"
        raise ConfigError(f"there is no problem of {what} {kind}: change the file or the splits")
