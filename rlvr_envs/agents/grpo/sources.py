"""Sources: which problem is posed where a curriculum has said what kind.

A source is registered like every plug-in, and resumes from its state. A proposal that names a
problem already stays as it is.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol

from rlvr_envs.agents.grpo import plugins
from rlvr_envs.agents.grpo.episode import Group
from rlvr_envs.agents.grpo.plugins import source
from rlvr_envs.agents.grpo.problems import Problems, is_numbered
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import Rng, draw_seed, pick, stream
from rlvr_envs.curricula.base import Problem, Proposal


class Source(Protocol):
    """What turns proposals into problems."""

    def draw(self, proposals: Sequence[Proposal], step: int, attempt: int) -> list[Proposal]:
        """Return the proposals, each with a problem: a seed, a row or the index of one."""

    def record(self, group: Group) -> None:
        """Take down how a group went."""

    def state_dict(self) -> dict[str, Any]:
        """Return the state, as JSON can hold it."""

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state that `state_dict` returned."""


def make_source(named: str, problems: Problems, seed: int) -> Source:
    """Return the source of a name; auto is epochs where a task's problems are numbered.

    Raises:
        ConfigError: there is none of that name, or its settings do not fit.
    """
    if named == "auto":
        named = "epochs" if problems.numbered else "stream"
    known = {"seed": seed, "tasks": tuple(problems.knobs), "problems": problems}
    made: Source = plugins.source.choose(named)(known)
    return made


@source(name="stream")
class Stream:
    """Poses a new problem every time."""

    def __init__(self, seed: int, problems: Problems) -> None:
        self._seed, self._problems = seed, problems

    def draw(self, proposals: Sequence[Proposal], step: int, attempt: int) -> list[Proposal]:
        """Return the proposals with seeds that no other step or attempt has."""
        return [
            given
            if given.problem is not None
            else fresh(self._problems, given, stream("train", self._seed, step, attempt, k))
            for k, given in enumerate(proposals)
        ]

    def record(self, group: Group) -> None:
        """Take down nothing."""

    def state_dict(self) -> dict[str, Any]:
        """Return nothing: the step says all."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take nothing."""


def fresh(problems: Problems, proposal: Proposal, rng: Rng) -> Proposal:
    """Return a proposal with a problem of its kind that is drawn from all there are to train on."""
    if problems.rows:
        rows = problems.rows_of(proposal.task, proposal.difficulty)
        row = rows[int(rng.integers(len(rows)))]
        return replace(proposal, task=row["id"], difficulty=row.get("difficulty"), row=row)
    task = problems.name(proposal.task)
    if is_numbered(task):
        index = pick(rng, problems.indices(task))
        return replace(proposal, index=index, reset_seed=draw_seed(rng))
    return replace(proposal, problem_seed=problems.seed(rng, task, proposal.difficulty))


class _Rates:
    """How often problems were solved, and which of them are worth posing."""

    def __init__(self, least: float, most: float) -> None:
        if not 0 <= least <= most <= 1:
            raise ConfigError(
                f"least and most are shares with 0 <= least <= most <= 1, got {least} and {most}"
            )
        self.least, self.most = least, most
        self.last: dict[str, float] = {}  # the newest mean score, by problem

    def admits(self, name: str, before: object = None) -> bool:
        """Whether the newest pass rate, or else one that is known beforehand, is in the band."""
        rate = self.last.get(name, before)
        return not isinstance(rate, (int, float)) or self.least <= rate <= self.most

    def add(self, name: str, scores: Sequence[float]) -> None:
        if scores and (self.least, self.most) != (0, 1):
            self.last[name] = sum(scores) / len(scores)


class _Passes:
    """Goes through lists again and again, each time in a new order.

    What is worth posing is decided at the beginning of an epoch; if nothing is, all comes back.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._places: dict[str, dict[str, Any]] = {}  # of each list: epoch, size, taken, left out
        self._orders: dict[str, list[int]] = {}

    def take(self, kind: str, size: int, admits: Callable[[int], bool]) -> tuple[int, int]:
        """Return the next place in a list, and the number of its epoch.

        Args:
            kind: which list.
            size: of the list.
            admits: whether a place is worth posing in an epoch that begins.

        Raises:
            ConfigError: the list has another length than when it was begun.
        """
        at = self._places.get(kind)
        if at is not None and at["size"] != size:
            raise ConfigError(
                f"there were {at['size']} problems ({kind}) when the run began, now there are "
                f"{size}: give it the same file, or begin a new run"
            )
        if at is None or at["taken"] == size - len(at["out"]):
            out = [place for place in range(size) if not admits(place)]
            epoch = 0 if at is None else at["epoch"] + 1
            at = {"epoch": epoch, "size": size, "taken": 0, "out": out if len(out) < size else []}
            self._places[kind] = at
            self._orders.pop(kind, None)
        if kind not in self._orders:
            left = sorted(set(range(size)) - set(at["out"]))
            rng = stream("epochs", self._seed, kind, at["epoch"])
            self._orders[kind] = [left[place] for place in rng.permutation(len(left))]
        at["taken"] += 1
        return self._orders[kind][at["taken"] - 1], at["epoch"]

    def state_dict(self) -> dict[str, Any]:
        return {kind: dict(at) for kind, at in self._places.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self._places = {kind: dict(at) for kind, at in state.items()}
        self._orders = {}


class _Epochs:
    """What passes over problems have in common: the filter, and the state."""

    def __init__(self, seed: int, problems: Problems, least: float, most: float) -> None:
        self._seed, self._problems = seed, problems
        self._stream = Stream(seed, problems)
        self._rates = _Rates(least, most)
        self._passes = _Passes(seed)

    def draw(self, proposals: Sequence[Proposal], step: int, attempt: int) -> list[Proposal]:
        """Return the proposals, each with the next problem of its kind."""
        return self._stream.draw([self._next(given) for given in proposals], step, attempt)

    def _next(self, proposal: Proposal) -> Proposal:
        raise NotImplementedError

    def record(self, group: Group) -> None:
        """Take down a group's mean score, by which the next epoch is filtered."""
        self._rates.add(name_of(group.arm[0], group.proposal.problem), group.scores)

    def state_dict(self) -> dict[str, Any]:
        """Return the places in all orders, and the rates if there is a filter."""
        return {"places": self._passes.state_dict(), "rates": dict(self._rates.last)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""
        self._passes.load_state_dict(state["places"])
        self._rates.last = dict(state["rates"])


def name_of(task: str, problem: Problem) -> str:
    """Return what names a problem among all, for states."""
    return f"{task} {problem}"


@source(name="epochs")
class Epochs(_Epochs):
    """Passes over the rows of data sets, shuffled anew each time; other tasks pose new problems.

    From the second epoch on, problems whose newest group had a mean score below ``least`` or above
    ``most`` are left out until nothing else is left: the filter of AceReason-Nemotron (arXiv
    2505.16400), which drops what became too easy, is ``most=0.99``.
    """

    def __init__(
        self, seed: int, problems: Problems, *, least: float = 0.0, most: float = 1.0
    ) -> None:
        super().__init__(seed, problems, least, most)

    def _next(self, proposal: Proposal) -> Proposal:
        task = self._problems.name(proposal.task)
        if proposal.problem is not None or not is_numbered(task):
            return proposal
        indices = self._problems.indices(task)
        place, epoch = self._passes.take(
            task,
            len(indices),
            lambda place: self._rates.admits(name_of(task, indices[place])),
        )
        reset_seed = draw_seed(stream("reset", self._seed, task, indices[place], epoch))
        return replace(proposal, index=indices[place], reset_seed=reset_seed)


@source(name="rows", reads_rows=True)
class Rows(_Epochs):
    """Passes over the rows of a file by `rlvr generate`, shuffled anew each time.

    A row says its task, so that tasks may be left out of the configuration; with tasks, only their
    rows are posed, each task's as often as its weight says. ``path`` may be a folder that is cut in
    splits: ``split`` is trained on, by default the first, and the last is held out. ``least`` and
    ``most`` filter as those of `epochs` do, and before the first epoch by a row's ``pass_rate``
    where it has one: the offline filter.
    """

    def __init__(
        self,
        seed: int,
        problems: Problems,
        *,
        path: str = "",
        split: str = "",
        least: float = 0.0,
        most: float = 1.0,
    ) -> None:
        super().__init__(seed, problems, least, most)
        if not problems.rows:
            raise ConfigError(f"the source rows has nothing to pose: path={path!r} split={split!r}")

    def state_dict(self) -> dict[str, Any]:
        """Return the state, and which rows it is of."""
        return super().state_dict() | {"rows": self._digest}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state.

        Raises:
            ConfigError: it is of other rows, or of the same in another order.
        """
        if state["rows"] != self._digest:
            raise ConfigError(
                f"the {len(self._problems.rows)} rows are not those that the run began with, or "
                "are in another order: give it the same file, or begin a new run"
            )
        super().load_state_dict(state)

    @cached_property
    def _digest(self) -> str:
        names = [
            [row["id"], row.get("difficulty"), row["fingerprint"]] for row in self._problems.rows
        ]
        return hashlib.sha256(json.dumps(names).encode()).hexdigest()

    def _next(self, proposal: Proposal) -> Proposal:
        if proposal.problem is not None:
            return proposal
        kind = f"{proposal.task} {proposal.difficulty}"
        rows = self._problems.rows_of(proposal.task, proposal.difficulty)

        def admits(place: int) -> bool:
            name = name_of(rows[place]["id"], rows[place]["fingerprint"])
            return self._rates.admits(name, rows[place].get("pass_rate"))

        place, epoch = self._passes.take(kind, len(rows), admits)
        row, rng = rows[place], stream("reset", self._seed, kind, place, epoch)
        given = replace(proposal, task=row["id"], difficulty=row.get("difficulty"), row=row)
        return replace(given, reset_seed=draw_seed(rng))


@source(name="pool")
class Pool:
    """Poses problems that return, so that hints, pass rates and rounds have something to go by.

    Each task and level has a pool of at most ``size`` problems. A share ``fresh`` of groups takes a
    new one, from the source ``over``; the others take one of the pool, drawn evenly among those
    that the step has not posed yet and whose newest group had a mean score from ``least`` to
    ``most``. A new problem takes the place of the one that is out of the band or, if there is none,
    was tried most often; the oldest of several.
    """

    def __init__(  # noqa: PLR0913 - two are handed in, the others are settings
        self,
        seed: int,
        problems: Problems,
        *,
        size: int = 4096,
        fresh: float = 0.25,
        least: float = 0.0,
        most: float = 1.0,
        over: str = "auto",
    ) -> None:
        if size < 1:
            raise ConfigError(f"the pool's size is from 1, got {size}")
        if not 0 <= fresh <= 1:
            raise ConfigError(f"the pool's fresh is a share from 0 to 1, got {fresh}")
        self._seed, self._size, self._fresh = seed, size, fresh
        self._rates = _Rates(least, most)
        self._over = make_source(over, problems, seed)
        self._pools: dict[str, dict[str, dict[str, Any]]] = {}  # kind → name → entry
        self._posed: Counter[str] = Counter()  # in the running step, by name
        self._step = -1

    def draw(self, proposals: Sequence[Proposal], step: int, attempt: int) -> list[Proposal]:
        """Return the proposals, each with a problem of its pool or a new one."""
        if step != self._step:
            self._step, self._posed = step, Counter()
        return [
            given
            if given.problem is not None
            else self._drawn(given, stream("pool", self._seed, step, attempt, k), step)
            for k, given in enumerate(proposals)
        ]

    def _drawn(self, proposal: Proposal, rng: Rng, step: int) -> Proposal:
        kind = f"{proposal.task} {proposal.difficulty}"
        pool = self._pools.setdefault(kind, {})
        free = [name for name in pool if not self._posed[name] and self._rates.admits(name)]
        if not free or rng.random() < self._fresh:
            # A number in place of the attempt's, so that each is drawn from a stream of its own.
            (found,) = self._over.draw([proposal], step, draw_seed(rng))
            name = name_of(found.task or "", found.problem)
            if name not in pool:
                pool[name] = {"problem": named(found), "tries": 0, "sum": 0.0}
                if len(pool) > self._size:
                    self._leave(pool, name)
        else:
            name = pick(rng, free)
            found = replace(proposal, **pool[name]["problem"])
        self._posed[name] += 1
        return replace(found, reset_seed=draw_seed(rng))

    def _leave(self, pool: dict[str, dict[str, Any]], new: str) -> None:
        """Take out the problem that is worth least."""
        old = [name for name in pool if name != new]
        leaving = max(old, key=lambda name: (not self._rates.admits(name), pool[name]["tries"]))
        del pool[leaving]
        self._rates.last.pop(leaving, None)

    def record(self, group: Group) -> None:
        """Take down a group in the entry of its problem."""
        self._over.record(group)
        for task in (group.proposal.task or "", group.arm[0]):
            name = name_of(task, group.proposal.problem)
            for pool in self._pools.values():
                if name in pool and group.scores:
                    pool[name]["tries"] += len(group.scores)
                    pool[name]["sum"] += sum(group.scores)
                    self._rates.add(name, group.scores)
                    return

    def rates(self) -> dict[str, float | None]:
        """Return the pass rate of each problem in a pool; None for those never scored."""
        return {
            name: entry["sum"] / entry["tries"] if entry["tries"] else None
            for pool in self._pools.values()
            for name, entry in pool.items()
        }

    def state_dict(self) -> dict[str, Any]:
        """Return the pools and what new problems come from."""
        return {"pools": self._pools, "last": self._rates.last, "over": self._over.state_dict()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""
        self._pools = {
            kind: {name: dict(entry) for name, entry in pool.items()}
            for kind, pool in state["pools"].items()
        }
        self._rates.last = dict(state["last"])
        self._over.load_state_dict(state["over"])


def named(proposal: Proposal) -> dict[str, Any]:
    """Return the fields of a proposal that say its problem."""
    if proposal.row is not None:
        row = dict(proposal.row)
        return {"task": proposal.task, "difficulty": proposal.difficulty, "row": row}
    return {"index": proposal.index, "problem_seed": proposal.problem_seed}
