"""The curricula of `rlvr_envs.curricula` as plug-ins, over the tasks and rungs of a run.

What a curriculum takes: ``seed``; ``tasks``, full ids; ``arms``, pairs of a task and a rung;
``weights``, the tasks' shares; ``low`` and ``high``, the ends of the rungs.
"""

from collections.abc import Sequence

from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.parts import Cell, cells_of
from rlvr_envs.agents.grpo.plugins import curriculum
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.curricula import Curriculum, Fixed, Proposal, SuccessBand


def make_curriculum(config: Config) -> Curriculum:
    """Return the curriculum that a configuration names.

    Raises:
        ConfigError: there is none of that name, or its settings or the tasks' weights do not fit.
    """
    arms = cells_of(config)
    tasks = tuple(dict.fromkeys(task for task, _ in arms))
    weights = config.data.weights or (1.0,) * len(tasks)
    if len(weights) != len(tasks) or min(weights, default=1.0) <= 0:
        raise ConfigError(
            f"weights are positive, one for each of the {len(tasks)} tasks; got {weights}"
        )
    rungs = [rung for _, rung in arms if rung is not None]
    made: Curriculum = curriculum_of(config.data.curriculum)(
        {
            "seed": config.seed,
            "tasks": tasks,
            "arms": arms,
            "weights": weights,
            "low": min(rungs, default=0),
            "high": max(rungs, default=0),
        }
    )
    return made


curriculum_of = curriculum.choose


@curriculum
def fixed(arms: Sequence[Cell], tasks: Sequence[str], weights: Sequence[float], seed: int) -> Fixed:
    """Return `Fixed`: each task by its weight, each of its rungs alike."""
    count = {task: sum(arm[0] == task for arm in arms) for task in tasks}
    share = dict(zip(tasks, weights, strict=True))
    return Fixed(
        [Proposal(task=task, difficulty=rung) for task, rung in arms],
        [share[task] / count[task] for task, _ in arms],
        seed,
    )


@curriculum
def success_band(tasks: Sequence[str], high: int, seed: int) -> SuccessBand:
    """Return `SuccessBand`."""
    return SuccessBand(dict.fromkeys(tasks, high), seed=seed)
