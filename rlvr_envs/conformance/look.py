"""What every check needs: problems of a task to look at, and the ways to say what was seen."""

from collections.abc import Callable, Iterator

from rlvr_envs.core import registry
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import RlvrEnvsError
from rlvr_envs.core.instance import Instance
from rlvr_envs.core.task import IndexedTask


class ConformanceError(RlvrEnvsError):
    """A task breaks a promise; the message says which and what was seen."""


class NotApplicable(RlvrEnvsError):
    """The task has nothing that this check could look at; the message says why."""


Check = Callable[[str], None]


def require(holds: bool, message: str) -> None:
    """Raise unless it holds."""
    if not holds:
        raise ConformanceError(message)


def make_env(task_id: str, difficulty: object = None) -> TextEnv:
    """Return a task's environment, with the knobs of its example."""
    spec = registry.find(task_id)
    return TextEnv(task_id, difficulty=difficulty, **dict(spec.example))


def needs_generator(task_id: str) -> None:
    """Leave out a task whose problems are the rows of a file."""
    if issubclass(registry.find(task_id).task_type, IndexedTask):
        raise NotApplicable("its problems are the rows of a file")


def draw(task_id: str, count: int, *, rungs: tuple[int, ...]) -> Iterator[Instance]:
    """Yield ``count`` instances at each rung, or at the defaults where there is no ladder."""
    indexed = issubclass(registry.find(task_id).task_type, IndexedTask)
    for rung in (None,) if indexed else rungs:
        env = make_env(task_id, rung)
        for seed in range(count):
            env.reset(seed=seed)
            yield env.instance


def draw_answered(task_id: str, count: int, *, rungs: tuple[int, ...]) -> Iterator[Instance]:
    """Yield what `draw` does; leave out a task that is played in several turns."""
    for instance in draw(task_id, count, rungs=rungs):
        if instance.interactive:
            raise NotApplicable("an episode is judged by its actions")
        yield instance


def how_many(task_id: str, count: int) -> int:
    """Return how many instances to look at: a third where each starts programs of its own."""
    return -(-count // 3) if registry.find(task_id).task_type.judged_in_sandbox else count
