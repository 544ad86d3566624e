"""Sources: which problem is posed where a curriculum has said what kind.

A source is registered like every plug-in, and resumes from its state.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from rlvr_envs.agents.grpo import plugins
from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.episode import Group
from rlvr_envs.agents.grpo.parts import MakeEnv
from rlvr_envs.agents.grpo.plugins import source
from rlvr_envs.core.seeding import draw_seed, stream
from rlvr_envs.curricula.base import Proposal


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


def make_source(config: Config, make_env: MakeEnv) -> Source:
    """Return the source that a configuration names."""
    named = config.data.source
    made: Source = plugins.source.choose("stream" if named == "auto" else named)(
        {"seed": config.seed, "tasks": config.data.tasks, "make_env": make_env}
    )
    return made


@source(name="stream")
class Stream:
    """Poses a new problem every time."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def draw(self, proposals: Sequence[Proposal], step: int, attempt: int) -> list[Proposal]:
        """Return the proposals with seeds that no other step or attempt has."""
        return [
            replace(proposal, problem_seed=draw_seed(stream("train", self._seed, step, attempt, k)))
            if proposal.problem_seed is None
            else proposal
            for k, proposal in enumerate(proposals)
        ]

    def record(self, group: Group) -> None:
        """Take down nothing."""

    def state_dict(self) -> dict[str, Any]:
        """Return nothing: the step says all."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take nothing."""
