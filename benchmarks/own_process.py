"""Runs a piece of a benchmark in a process of its own, whose CPU seconds are told."""

import multiprocessing
import resource
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.tracking.metrics import read


def apart(function: Callable[..., Any], *args: Any, **kwargs: Any) -> float:
    """Call a function in a process of its own, and return that one's CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = multiprocessing.get_context("spawn").Process(
        target=function, args=args, kwargs=kwargs
    )
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit(f"{function.__name__}{args} ended with exit status {process.exitcode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def trained(config: Config) -> tuple[dict[int, dict[str, float]], float]:
    """Train in an empty folder; return what was measured by step, and the CPU seconds."""
    from rlvr_envs.agents.grpo.train import train

    folder = Path(config.output.out)
    shutil.rmtree(folder, ignore_errors=True)
    cpu_s = apart(train, config, quiet=True)
    return read(folder), round(cpu_s, 1)
