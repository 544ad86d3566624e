"""verifiers: a taskset of our problems, for ``vf-eval rlvr_vf`` and trainers that play tasksets.

verifiers imports a taskset by a name without dots, so the top-level module ``rlvr_vf`` stands for
this one. A rollout whose verifier failed is recorded as an error without a reward: the means of
verifiers leave it out.
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import verifiers.v1 as vf
from pydantic import Field

from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import ConfigError, WorkerError
from rlvr_envs.core.instance import Instance
from rlvr_envs.core.verdict import Status, Verdict
from rlvr_envs.integrations.judging import judge_apart
from rlvr_envs.integrations.rows import open_rows

__all__ = ["RlvrEnv", "RlvrTaskset"]


class RlvrTasksetConfig(vf.TasksetConfig):
    """Which problems to load: new ones of ids, or the rows of a dataset."""

    ids: list[str] = Field(default_factory=list)
    """Ids of tasks or mixtures, such as Gcd-v0."""
    dataset: Path | None = None
    """A dataset folder or file of rows, instead of ids."""
    count: int | None = None
    """How many problems; 100 new ones, or all rows of a dataset, by default."""
    difficulty: str | None = None
    """Difficulty levels of new problems, such as 3, 0-3 or 0,2,5."""
    seed: int = 0
    """What new problems are derived from."""
    split: str | None = None
    """The split of a dataset folder; all of them by default."""
    answer_format: str | None = None
    """The answer format of new problems, instead of each task's own."""
    knobs: dict[str, Any] = Field(default_factory=dict)
    """Fields of the tasks' configuration, by name."""


class RlvrData(vf.TaskData):
    """One problem; ``row`` has hidden data, which only the verifier reads."""

    row: dict[str, Any]


class RlvrState(vf.State):
    """What an interactive episode ended in."""

    verdict: Any = None


class RlvrTask(vf.Task[RlvrData, RlvrState, vf.TaskConfig]):
    """Judges one rollout."""

    @vf.reward
    async def rlvr_score(self, trace: vf.Trace) -> float:
        """Return the verdict's score.

        The share of each status and the parts of the verdict are metrics.

        Raises:
            WorkerError: the verifier failed, so that the rollout has no reward.
        """
        verdict = trace.state.verdict or await self._judge(trace)
        trace.info["verdict"] = verdict.to_json()
        trace.record_metrics({f"is_{status}": status is verdict.status for status in Status})
        trace.record_metrics(verdict.parts)
        if not verdict.scored:
            raise WorkerError(f"this rollout is not scored: {verdict.detail}")
        return float(verdict.score)

    async def validate(self, runtime: vf.Runtime) -> bool:
        """Return whether the oracle's solution earns full marks, for ``vf-validate``."""
        instance = Instance.from_row(self.data.row)
        verdict = await asyncio.to_thread(judge_apart, instance, instance.solution())
        return verdict.status is Status.CORRECT

    async def _judge(self, trace: vf.Trace) -> Verdict:
        instance = Instance.from_row(self.data.row)
        if not instance.interactive:
            return await asyncio.to_thread(judge_apart, instance, trace.last_reply)
        actions = [(message.content or "").strip() for message in trace.assistant_messages]
        return await asyncio.to_thread(judge_apart, instance, actions)


class RlvrTaskset(vf.Taskset[RlvrTask, RlvrTasksetConfig]):
    """The problems that the configuration names."""

    def load(self) -> Iterator[RlvrTask]:
        """Yield one task for each row.

        Raises:
            ConfigError: there are ids and a dataset, or neither, or an argument does not fit.
        """
        config = self.config
        if bool(config.ids) == (config.dataset is not None):
            raise ConfigError("name --env.taskset.ids or --env.taskset.dataset, one of the two")
        rows = open_rows(
            config.dataset or config.ids,
            count=config.count,
            difficulty=config.difficulty,
            seed=config.seed,
            split=config.split,
            answer_format=config.answer_format,
            knobs=config.knobs,
        )
        for number, row in enumerate(rows):
            data = RlvrData(name=f"{row['id']}#{number}", prompt=row["prompt"], row=row)
            yield RlvrTask(data, config.task)


class RlvrEnvConfig(vf.EnvConfig):
    """By default the model answers in plain text, without tools and without a cloud."""

    agent: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"}, runtime={"type": "subprocess"})


class RlvrEnv(vf.Env[RlvrEnvConfig]):
    """Plays a rollout: one answer, or the turns of an interactive task."""

    async def run(self, task: RlvrTask, agents: vf.Agents) -> None:
        """Let the model answer once, or until the episode is over."""
        row = task.data.row
        if not Instance.from_row(row).interactive:
            await agents.agent.run(task)
            return
        env = TextEnv(row["id"], with_reference=False)
        await asyncio.to_thread(env.reset, options={"problem": row})
        async with agents.agent.interaction(task) as interaction:
            segment = await interaction.turn()
            while not segment.terminated:
                observation, _, over, cut_off, info = await asyncio.to_thread(
                    env.step, segment.last_reply
                )
                if over or cut_off:
                    interaction.trace.state.verdict = info["verdict"]
                    break
                segment = await interaction.turn(observation)
