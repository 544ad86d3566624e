"""Rows: the small public API that the command line, the exporters and every trainer share."""

from collections.abc import Mapping, Sequence
from typing import Any

from rlvr_envs.core import registry
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import ConfigError, UsageError
from rlvr_envs.core.instance import Instance, Row, row_errors
from rlvr_envs.core.verdict import Verdict


def list_tasks(domain: str | None = None) -> list[str]:
    """Return the ids of the registered tasks, sorted; of one domain, if it is named.

    Raises:
        RegistrationError: there is no such domain.

    Examples:
        >>> import rlvr_envs
        >>> "rlvr/Gcd-v0" in rlvr_envs.list_tasks("math")
        True
    """
    return registry.task_ids(domain)


def make_problem(
    id: str,  # noqa: A002 - the word of the row's own key
    *,
    seed: int | None = None,
    problem_seed: int | None = None,
    difficulty: object = None,
    **knobs: Any,
) -> Row:
    r"""Return a problem as a row.

    The problem is the one that ``gym.make(id, ...).reset(seed=seed)`` poses, or the one of a
    problem seed.

    Raises:
        ConfigError: both or none of the seeds are given, or an argument is unknown or out of
            range.
        RegistrationError: there is no such id.

    Examples:
        >>> import rlvr_envs
        >>> row = rlvr_envs.make_problem("rlvr/Gcd-v0", seed=0, difficulty=0)
        >>> row["prompt"]
        'What is the greatest common divisor of 112 and 128?\n\nPut your final answer in \\boxed{}.'
    """
    if (seed is None) == (problem_seed is None):
        raise ConfigError("make_problem needs one of seed=... and problem_seed=...")
    env = TextEnv(id, difficulty=difficulty, **knobs)
    options = None if problem_seed is None else {"problem_seed": problem_seed}
    env.reset(seed=seed, options=options)
    return env.instance.to_row()


def solve(row: Mapping[str, Any], *, trusted: bool = False) -> str | list[str]:
    r"""Return the oracle's full response to a row, or its actions where the task is interactive.

    It runs in this process without a limit: an altered row may take for ever. For rows of
    strangers there is ``rlvr verify --oracle``.

    Args:
        row: the row.
        trusted: whether the task may open the files, folders and servers that the row names.

    Raises:
        RowError: the row is incomplete or was altered.
        UsageError: the task has no oracle for such a row.

    Examples:
        >>> import rlvr_envs
        >>> rlvr_envs.solve(rlvr_envs.make_problem("rlvr/Gcd-v0", seed=0, difficulty=0))
        '\\boxed{16}'
    """
    instance = Instance.from_row(row, trusted=trusted)
    with row_errors(instance.spec.id):
        return instance.solution()


def verify(
    row: Mapping[str, Any], response: str | Sequence[str], *, trusted: bool = False
) -> Verdict:
    r"""Judge a model's full response to a row, or the actions of an interactive episode.

    It runs in this process without a limit: an altered row may take for ever. For rows of
    strangers there are ``rlvr verify`` and `rlvr_envs.datasets.score.judge`.

    Args:
        row: the row.
        response: the response, or the actions.
        trusted: whether the task may open the files, folders and servers that the row names.

    Raises:
        RowError: the row is incomplete or was altered.
        UsageError: the row's task is interactive and the response is one text.

    Examples:
        >>> import rlvr_envs
        >>> row = rlvr_envs.make_problem("rlvr/Gcd-v0", seed=0, difficulty=0)
        >>> rlvr_envs.verify(row, r"Both are multiples of \boxed{16}.")
        Verdict(score=1.0, status=<Status.CORRECT: 'correct'>, detail='the answer is right (compared
        letter by letter)', parts={'stage': 1.0})
        >>> rlvr_envs.verify(row, r"\boxed{8}").score
        0.0
    """
    instance = Instance.from_row(row, trusted=trusted)
    if instance.interactive and isinstance(response, str):
        raise UsageError(
            f"{instance.spec.id} is played in several messages, so its response is the list of all "
            f"of them, got the text {response!r:.40}: pass [text] if there was one message, or "
            "play the row with gym.make(id) and reset(options={'problem': row})"
        )
    return instance.judge(response)
