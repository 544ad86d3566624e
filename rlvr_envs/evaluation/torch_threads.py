"""How many CPU threads torch computes with.

The threads of an operation wait for each other at its end. The operations of a small model take
microseconds, so that more threads gain nothing. docs/training.md has the measurements.
"""

import os
from functools import cache
from pathlib import Path
from typing import Any

# Models with fewer weights compute in one thread.
SMALL_WEIGHTS = 20_000_000

_QUOTA = Path("/sys/fs/cgroup/cpu.max")  # of a container: microseconds in a period, and the period


def thread_count(model: Any) -> int:
    """Return the threads for a model: one for a small one, else one for each core of this process.

    The variable ``OMP_NUM_THREADS`` has the last word; torchrun and accelerate set it.
    """
    usual = _usual()
    if os.environ.get("OMP_NUM_THREADS"):
        return usual
    weights = sum(int(weight.numel()) for weight in model.parameters())
    return 1 if weights < SMALL_WEIGHTS else usual


@cache  # later calls would see what was set meanwhile
def _usual() -> int:
    """Return torch's own choice, which knows nothing of a container's share of the machine."""
    import torch

    own: int = torch.get_num_threads()
    try:
        quota, period = _QUOTA.read_text("ascii").split()
        return max(1, min(own, int(quota) // int(period)))
    except (OSError, ValueError):  # no control groups, or "max"
        return own
