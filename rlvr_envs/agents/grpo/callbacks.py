"""Callbacks: what is told of groups, batches and steps while a run goes on, and may change them.

A callback is a subclass of `Callback` that is registered::

    @callback
    class Skip(Callback):
        def __init__(self, *, under: float = 0.1): ...
        def on_group(self, run, group): ...

With several processes each has its own, all are told the same, and so all come to the same state.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rlvr_envs.agents.grpo.demonstration import demonstrate
from rlvr_envs.agents.grpo.episode import Episode, Group
from rlvr_envs.agents.grpo.run import Callback, Run
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.curricula.base import Proposal
from rlvr_envs.wrappers.hints import gives_hints

if TYPE_CHECKING:
    from rlvr_envs.agents.grpo.plugins import Choice


def made(choices: "Sequence[Choice]") -> list[Callback]:
    """Return the callbacks that a configuration chooses.

    Raises:
        ConfigError: what is registered makes no callback.

    Examples:
        >>> from rlvr_envs.agents.grpo.callbacks import made
        >>> from rlvr_envs.agents.grpo.plugins import callback
        >>> from rlvr_envs.agents.grpo.run import Callback
        >>> @callback
        ... class Quiet(Callback):
        ...     pass
        >>> len(made([callback.choose("Quiet")]))
        1
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
    run: Run, group: Group, *, problem: Proposal | None = None, worked: bool = True
) -> Episode | None:
    """Return the oracle's answer to a group's problem, without a hint, or None if it is too long.

    With ``worked`` the worked solution comes before the answer, where the task has one.
    ``problem`` is another problem of the group's task and difficulty.

    Examples:
        >>> from rlvr_envs.agents.grpo.callbacks import demonstration
        >>> from rlvr_envs.agents.grpo.run import Callback
        >>> class Demonstrated(Callback):
        ...     def on_group(self, run, group):
        ...         if not any(group.scores) and (shown := demonstration(run, group)):
        ...             group.episodes[0] = shown
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
