"""Executors by name."""

from typing import Any

from rlvr_envs.core.errors import ConfigError, did_you_mean
from rlvr_envs.core.executor import MEMORY_MIB, Executor, Processes, Serial

EXECUTORS = ("serial", "processes", "ray")
"""What `open_executor` opens by name.

Examples:
    >>> from rlvr_envs.executors import EXECUTORS
    >>> EXECUTORS
    ('serial', 'processes', 'ray')
"""


def open_executor(
    name: str | None = None,
    *,
    workers: int | None = None,
    address: str | None = None,
    memory_mib: int | None = MEMORY_MIB,
) -> Executor:
    """Return an executor.

    Args:
        name: ``"serial"``, ``"processes"`` or ``"ray"``; None for processes where more than one
            worker is asked for, and else for this process alone.
        workers: processes of this machine, or of each node; by default as many as there are cores.
        address: of a Ray cluster, such as ``"auto"`` or ``"ray://head:10001"``; None starts one
            on this machine.
        memory_mib: address space that a worker may take beyond its first imports; None for no
            limit, as training needs: torch alone maps more than that where it is built for a GPU.

    Raises:
        ConfigError: there is no such executor, or an argument does not fit it.
        DependencyError: it needs a package that is missing.

    Examples:
        >>> from rlvr_envs.executors import Call, open_executor
        >>> with open_executor("serial") as executor:
        ...     [outcome] = executor.map("math:gcd", [Call((12, 18))], cpu_s=1)
        >>> outcome.value
        6
    """
    if name is None:
        name = "serial" if workers in (None, 1) else "processes"
    if name not in EXECUTORS:
        hint = did_you_mean(name, EXECUTORS)
        raise ConfigError(f"no executor {name!r}{hint} (known: {', '.join(EXECUTORS)})")
    if address is not None and name != "ray":
        raise ConfigError(f"an address is for the executor 'ray', not for {name!r}")
    if workers is not None and workers < 1:
        raise ConfigError(f"workers must be at least 1, got {workers}")
    if name == "serial":
        if workers not in (None, 1):
            raise ConfigError(f"the executor 'serial' has one worker, got workers={workers}")
        return Serial()
    if name == "processes":
        return Processes(workers, memory_mib=memory_mib)
    return _ray(workers=workers, address=address, memory_mib=memory_mib)


def _ray(**arguments: Any) -> Executor:
    from rlvr_envs.executors.ray import RayExecutor

    return RayExecutor(**arguments)
