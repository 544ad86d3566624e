"""Callbacks: what is told of groups, batches and steps while a run goes on, and may change them.

A callback is a subclass of `Callback` that is registered::

    @callback
    class Skip(Callback):
        def __init__(self, *, under: float = 0.1): ...
        def on_group(self, run, group): ...

With several processes each has its own, all are told the same, and so all come to the same state.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rlvr_envs.agents.grpo.episode import Episode, Group
from rlvr_envs.agents.grpo.warm_start import demonstrate
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.curricula.base import Proposal
from rlvr_envs.wrappers.hints import gives_hints

if TYPE_CHECKING:
    from rlvr_envs.agents.grpo.plugins import Choice
    from rlvr_envs.agents.grpo.run import Run


class Callback:
    """Does nothing; override what you need."""

    def on_group(self, run: "Run", group: Group) -> None:
        """Look at a group that was played, before it is kept or thrown away; it may be changed."""

    def more(self, run: "Run", group: Group) -> Proposal | None:
        """Return what else to play of a group now, or None; asked again after it was played."""
        return None

    def on_batch(self, run: "Run", episodes: list[Episode]) -> list[Episode]:
        """Return what to learn from in this step: a group's episodes have the same number."""
        return episodes

    def on_step(self, run: "Run", numbers: dict[str, float]) -> None:
        """Look at a step's numbers before they are logged; they may be added to."""

    def on_evaluate(self, run: "Run", numbers: dict[str, float]) -> None:
        """Look at the numbers of a held-out evaluation, which only the first process has."""

    def on_end(self, run: "Run") -> None:
        """Do what is to be done when a run ends, or is interrupted."""

    def state_dict(self) -> dict[str, Any]:
        """Return what has to be kept in checkpoints, as JSON can hold it."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state that `state_dict` returned."""


def made(choices: "Sequence[Choice]") -> list[Callback]:
    """Return the callbacks that a configuration chooses.

    Raises:
        ConfigError: what is registered makes no callback.
    """
    found = [(choice, choice({})) for choice in choices]
    for choice, each in found:
        if not isinstance(each, Callback):
            raise ConfigError(
                f"the callback {choice.name} makes a {type(each).__name__}: it is to be a subclass "
                f"of {Callback.__module__}.Callback"
            )
    return [each for _, each in found]


def demonstration(
    run: "Run", group: Group, *, problem: Proposal | None = None, worked: bool = True
) -> Episode | None:
    """Return the oracle's answer to a group's problem, without a hint, or None if it is too long.

    With ``worked`` the worked solution comes before the answer, where the task has one.
    ``problem`` is another problem of the group's task and difficulty.
    """
    posed = group.posed
    cell = (posed.task, posed.difficulty)
    if cell not in run.envs:
        run.envs[cell] = run.make_env(*cell)
    asked = problem or group.proposal
    if gives_hints(run.envs[cell]):
        asked = replace(asked, hint=0)
    given = demonstrate(run.envs[cell], run.chat, asked, group=posed.group, worked=worked)
    return given if given.n_tokens <= run.config.sampling.context else None
