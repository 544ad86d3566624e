"""Candidates: the numbered draws of a cell, the same whoever makes them.

Candidate ``k`` of a cell depends on the dataset's seed, the source, the level and ``k``, and on
nothing else, so any process may draw it. Which candidates become rows is decided in
`rlvr_envs.datasets.generate`, in one process and in order.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import cast

from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.errors import RlvrEnvsError
from rlvr_envs.core.instance import Instance, Row
from rlvr_envs.core.problem import canonical
from rlvr_envs.core.seeding import SEED_LIMIT
from rlvr_envs.core.source import Source, open_source
from rlvr_envs.datasets.plan import Cell, Plan
from rlvr_envs.executors import Call, Executor

CHUNK = 16  # candidates a worker draws at once: enough to pay for the message, few enough to share
CPU_S = 1800.0  # for a chunk; a task that needs more has a bug, and the run says which
_CHUNKS_A_BATCH = 8
_DRAW_CHUNK = f"{__name__}:draw_chunk"
_ATTEMPTS = 3  # an oracle answer that could not be scored is judged again, then reported


class OracleError(RlvrEnvsError):
    """A task's own answer does not earn full marks, or the task fails to give one."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a process must know to draw the candidates of a cell; small, and picklable."""

    source: str
    level: int | None
    seed: int
    knobs: str
    answer_format: str | None
    check: bool

    @classmethod
    def of(cls, plan: Plan, cell: Cell) -> "Recipe":
        """Return the recipe of a cell of a plan."""
        knobs = canonical(dict(plan.knobs))
        return cls(cell.source, cell.level, plan.seed, knobs, plan.answer_format, plan.check)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Candidates in order; those after a fault were not drawn."""

    rows: list[Row] = field(default_factory=list)
    fault: str = ""


@lru_cache(maxsize=1024)
def _source(recipe: Recipe) -> Source:
    return open_source(
        recipe.source,
        difficulty=recipe.level,
        answer_format=recipe.answer_format,
        knobs=json.loads(recipe.knobs),
    )


def problem_seed(recipe: Recipe, number: int) -> int:
    """Return the problem seed of a candidate."""
    level = "default" if recipe.level is None else recipe.level
    key = f"dataset {recipe.seed} {recipe.source} {level} {number}"
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") % SEED_LIMIT


def draw_chunk(recipe: Recipe, first: int, count: int) -> Chunk:
    """Return candidates ``first`` to ``first + count - 1`` of a cell; a fault is not raised.

    Faults travel as text, because an exception from a worker would lose its words on the way.
    """
    rows: list[Row] = []
    for number in range(first, first + count):
        seed = problem_seed(recipe, number)
        try:
            instance = _source(recipe).draw(seed)
            fault = _oracle_fault(instance) if recipe.check else ""
            rows.append(instance.to_row())
        except Exception as error:  # noqa: BLE001 - reported with the seed that brings it back
            fault = f"{type(error).__name__}: {error}"
        if fault:
            where = f"{recipe.source} at difficulty {recipe.level}, problem_seed={seed}"
            return Chunk(rows, f"{where}: {fault}")
    return Chunk(rows)


def _oracle_fault(instance: Instance) -> str:
    solution = instance.solution()
    verdict = instance.judge(solution)
    for _ in range(_ATTEMPTS - 1):
        if verdict.scored:
            break
        verdict = instance.judge(solution)
    if verdict.score == 1.0:
        return ""
    return (
        f"{instance.spec.id} judges its own answer {verdict.status} ({verdict.score:g}): "
        f"{verdict.detail or 'no detail'}"
    )


def question(row: Row) -> str:
    """Return the prompt of a row without the sentence about the answer's format."""
    ending = f"\n\n{answer_format(row['answer_format']).instruction()}"
    return str(row["prompt"]).removesuffix(ending)


Jobs = Sequence[tuple[Recipe, int, int]]


class Drawer:
    """Draws candidates; results come in order.

    Args:
        executor: where.
        progress: is told how many candidates have just been drawn.
    """

    def __init__(self, executor: Executor, progress: Callable[[int], None]) -> None:
        self._executor = executor
        self._progress = progress

    def draw(self, jobs: Jobs) -> list[list[Row]]:
        """Return the candidates of each job (recipe, first, count).

        Raises:
            OracleError: a task fails, or its own answer is not judged correct.
            WorkerError: a worker process was lost.
        """
        found: list[list[Row]] = [[] for _ in jobs]
        pieces = [
            (index, (recipe, at, min(CHUNK, first + count - at)))
            for index, (recipe, first, count) in enumerate(jobs)
            for at in range(first, first + count, CHUNK)
        ]
        calls = (Call(piece) for _, piece in pieces)
        outcomes = self._executor.map(_DRAW_CHUNK, calls, cpu_s=CPU_S, batch=_CHUNKS_A_BATCH)
        for (index, _), outcome in zip(pieces, outcomes, strict=True):
            if outcome.error is not None:
                raise outcome.error
            chunk = cast(Chunk, outcome.value)
            if chunk.fault:
                raise OracleError(chunk.fault)
            found[index] += chunk.rows
            self._progress(len(chunk.rows))
        return found
