"""Verdicts that are wrong now and then, as those of a verifier that errs.

Unlike `rlvr_envs.wrappers.NoisyVerifier`, which leaves the verdict alone, nothing that an algorithm
sees tells the truth: rewards, scores, curricula and wrappers all go by the verdict that is given.
"""

from collections.abc import Mapping
from typing import Any

import gymnasium

from rlvr_envs.agents.grpo.parts import EnvMaker
from rlvr_envs.bench.suite import Noise
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status, Verdict


class NoisyVerdict(gymnasium.Wrapper[str, str, str, str]):
    """Passes a share of wrong responses and fails a share of right ones.

    The same response to the same problem is always judged alike, as by a verifier with faults.
    A response counts as right only with full marks.

    Args:
        env: an environment of this package.
        noise: how often.
    """

    def __init__(self, env: gymnasium.Env[str, str], noise: Noise) -> None:
        super().__init__(env)
        self._noise, self._said = noise, [""]

    def reset(self, **arguments: Any) -> tuple[str, dict[str, Any]]:
        """Begin an episode."""
        text, info = self.env.reset(**arguments)
        self._said = [text]
        return text, info

    def step(self, action: str) -> tuple[str, Any, bool, bool, dict[str, Any]]:
        """Take an action, and judge the last one with faults."""
        text, reward, terminated, truncated, info = self.env.step(action)
        self._said.append(action)
        if (terminated or truncated) and info["scored"]:
            right = info["verdict"].status is Status.CORRECT
            rate = self._noise.fails_right if right else self._noise.passes_wrong
            right ^= bool(stream("noisy verdict", *self._said).random() < rate)
            verdict = Verdict.correct() if right else Verdict.wrong("")
            reward, info = float(right), {**info, "verdict": verdict}
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
