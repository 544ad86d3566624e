"""Verdicts that are wrong now and then, as those of a verifier that errs.

Unlike `rlvr_envs.wrappers.NoisyVerifier`, which leaves the verdict alone, nothing that an algorithm
sees tells the truth: rewards, scores, curricula and wrappers all go by the verdict that is given.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium

from rlvr_envs.agents.grpo.parts import EnvMaker
from rlvr_envs.bench.results import Response
from rlvr_envs.bench.suite import Noise
from rlvr_envs.core.instance import Instance, Row
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status, Verdict


def noisy(verdict: Verdict, noise: Noise | None, prompt: str, actions: Sequence[str]) -> Verdict:
    """Return what a verifier with faults says where the true one says ``verdict``.

    The same actions after the same prompt are always judged alike. What counts as right has full
    marks; what was not scored stays so.
    """
    if noise is None or not verdict.scored:
        return verdict
    right = verdict.status is Status.CORRECT
    rate = noise.fails_right if right else noise.passes_wrong
    errs = stream("noisy verdict", prompt, *actions).random() < rate
    return Verdict.correct() if right != errs else Verdict.wrong("")


class NoisyVerdict(gymnasium.Wrapper[str, str, str, str]):
    """Passes a share of wrong responses and fails a share of right ones.

    Args:
        env: an environment of this package.
        noise: how often.
    """

    def __init__(self, env: gymnasium.Env[str, str], noise: Noise) -> None:
        super().__init__(env)
        self._noise, self._prompt = noise, ""
        self._actions: list[str] = []

    def reset(self, **arguments: Any) -> tuple[str, dict[str, Any]]:
        """Begin an episode."""
        self._prompt, info = self.env.reset(**arguments)
        self._actions = []
        return self._prompt, info

    def step(self, action: str) -> tuple[str, Any, bool, bool, dict[str, Any]]:
        """Take an action, and judge the last one with faults."""
        text, reward, terminated, truncated, info = self.env.step(action)
        self._actions.append(action)
        if (terminated or truncated) and info["scored"]:
            given = noisy(info["verdict"], self._noise, self._prompt, self._actions)
            reward, info = given.score, {**info, "verdict": given}
        return text, reward, terminated, truncated, info


class NoisyEnvMaker(EnvMaker):
    """Makes environments whose verdicts have faults, within an algorithm's own wrappers."""

    def __init__(self, *arguments: Any, noise: Noise) -> None:
        super().__init__(*arguments)
        self._noise = noise

    def bare(
        self, name: str, level: int | None, knobs: Mapping[str, Any]
    ) -> gymnasium.Env[str, str]:
        """Return the environment with faults."""
        return NoisyVerdict(super().bare(name, level, knobs), self._noise)


def reward(row: str | Row, response: Response, noise: Noise | None = None) -> float | None:
    """Return what a response to a training row earns; None where it could not be scored.

    Args:
        row: as it was exported, or its JSON text.
        response: what the model wrote, or its actions where the task has several turns.
        noise: of the experiment.

    Raises:
        RowError: the row was altered.
    """
    instance = Instance.from_row(json.loads(row) if isinstance(row, str) else row)
    actions = [response] if isinstance(response, str) else list(response)
    verdict = noisy(instance.judge(response), noise, instance.prompt(), actions)
    return verdict.score if verdict.scored else None
