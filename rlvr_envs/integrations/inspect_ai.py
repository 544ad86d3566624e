"""Tasks for Inspect (the ``inspect_ai`` package): every domain and every task by its own name.

Inspect finds this module by the entry point ``rlvr_envs`` of the group ``inspect_ai``::

    inspect eval rlvr_envs/math -T difficulty=0-2 -T count=50 --model openai/gpt-5-mini
    inspect eval rlvr_envs/Sudoku-v0 -T difficulty=3 --model openai/gpt-5-mini
    inspect eval rlvr_envs/rlvr -T ids=Gcd-v0,Sudoku-v0 --model openai/gpt-5-mini
"""

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from anyio import to_thread
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from rlvr_envs.core import registry
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.instance import Instance, Row
from rlvr_envs.core.rows import list_tasks
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.evaluation.episode import extracted
from rlvr_envs.integrations.judging import judge_apart
from rlvr_envs.integrations.rows import read_options

# Where the solver leaves the verdict on an interactive episode, for the scorer.
_VERDICT = "rlvr_verdict"


@solver
def play() -> Solver:
    """Answer a problem of one turn, or play an interactive one turn by turn to its end.

    An episode also ends at the turn limit of its task and at Inspect's own limits.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        row = state.metadata["row"]
        env = TextEnv(row["id"])
        await to_thread.run_sync(partial(env.reset, options={"problem": row}))
        while True:
            state = await generate(state)
            if not env.instance.interactive:
                return state
            observation, _, terminated, truncated, info = await to_thread.run_sync(
                env.step, state.output.completion
            )
            if terminated or truncated:
                state.store.set(_VERDICT, info["verdict"].to_json())
                return state
            state.messages.append(ChatMessageUser(content=observation))
            if state.completed:  # a limit of Inspect's
                return state

    return solve


@scorer(metrics=[mean(), stderr(cluster="fingerprint")])
def verdict() -> Scorer:
    """Score by the verifier; where that fails, the sample counts as not scored."""

    async def score(state: TaskState, target: Target) -> Score:
        instance = Instance.from_row(state.metadata["row"])
        response = state.output.completion
        if not instance.interactive:
            found = await to_thread.run_sync(judge_apart, instance, response)
            answer = await to_thread.run_sync(extracted, instance, response)
            return _score(found, answer)
        stored = state.store.get(_VERDICT)
        if stored is not None:
            return _score(Verdict.from_json(stored), response)
        return _score(Verdict.wrong("the episode was not over when the sample ended"), response)

    return score


def _score(found: Verdict, answer: str | None) -> Score:
    return Score(
        value=found.score if found.scored else math.nan,
        answer=answer,
        explanation=found.detail or found.status.value,
        metadata={"status": found.status.value, "parts": dict(found.parts)},
    )


def to_sample(row: Row) -> Sample:
    """Return a row as a sample; its metadata holds the whole row."""
    reference = row.get("reference")
    return Sample(
        input=row["prompt"],
        target=reference if reference is not None else "",
        metadata={
            "id": row["id"],
            "difficulty": row.get("difficulty"),
            "fingerprint": Instance.from_row(row).fingerprint(),
            "row": row,
        },
    )


def to_task(rows: Sequence[Row]) -> Task:
    """Return an Inspect task of rows.

    Raises:
        RowError: a row is incomplete or was altered.
    """
    samples = MemoryDataset([to_sample(row) for row in rows], name="rlvr_envs")
    return Task(dataset=samples, solver=play(), scorer=verdict())


@task
def rlvr(ids: str | list[str] | None = None, dataset: str | None = None, **options: Any) -> Task:
    """Problems of any ids, or the rows of a dataset.

    Args:
        ids: one id or several, such as ``Gcd-v0,Sudoku-v0``.
        dataset: a dataset folder or a file of rows, instead of ids.
        **options: ``count``; ``split`` of a dataset; ``difficulty``, ``seed``, ``answer_format``
            and knobs of new problems.

    Raises:
        ConfigError: an option is unknown, out of range or missing.
    """
    if (ids is None) == (dataset is None):
        raise ConfigError("rlvr needs one of ids (-T ids=Gcd-v0) and dataset (-T dataset=FOLDER)")
    if dataset is not None:
        return to_task(read_options(Path(dataset), options))
    return to_task(read_options(ids or [], options))


def _register(name: str, task_id: str) -> None:
    @task(name=name)
    def run(**options: Any) -> Task:
        return to_task(read_options(task_id, options))


for _domain, _mixture in registry.DOMAINS.items():
    _register(_domain, f"{registry.NAMESPACE}/{_mixture}-v0")
for _task_id in list_tasks():
    _register(_task_id.removeprefix(f"{registry.NAMESPACE}/"), _task_id)
