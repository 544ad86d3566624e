"""Gymnasium environments for reinforcement learning with verifiable rewards.

Importing this package registers every id with Gymnasium::

    import gymnasium as gym
    import rlvr_envs

    env = gym.make("rlvr/Math-v0", difficulty=2)
    prompt, info = env.reset(seed=7)
    _, reward, _, _, info = env.step(my_model(prompt))
"""

from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.errors import RlvrEnvsError
from rlvr_envs.core.gym_ids import register_ids
from rlvr_envs.core.registry import register
from rlvr_envs.core.rows import list_tasks, make_problem, solve, verify
from rlvr_envs.core.task import IndexedTask, InteractiveTask, Reply, Session, Task
from rlvr_envs.core.verdict import Status, Verdict
from rlvr_envs.core.version import __version__

__all__ = [
    "IndexedTask",
    "InteractiveTask",
    "Reply",
    "RlvrEnvsError",
    "Session",
    "Status",
    "Task",
    "Verdict",
    "__version__",
    "answer_format",
    "list_tasks",
    "make_problem",
    "register",
    "register_ids",
    "solve",
    "verify",
]

register_ids()
