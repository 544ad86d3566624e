"""Digests of what a task generates, for comparing processes."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence

from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import RlvrEnvsError
from rlvr_envs.core.problem import canonical
from rlvr_envs.core.registry import find
from rlvr_envs.core.task import IndexedTask

_CODE = (
    "import json, sys; import rlvr_envs; from rlvr_envs.conformance.digests import digest; "
    "print(json.dumps({i: digest(i) for i in sys.argv[1:]}, sort_keys=True))"
)


def digest(task_id: str) -> str:
    """Return 32 hex digits of the problems, references and steps of a few seeds and levels."""
    spec = find(task_id)
    levels = (None,) if issubclass(spec.task_type, IndexedTask) else (0, 3, 6)
    sha = hashlib.sha256()
    for level in levels:
        env = TextEnv(task_id, difficulty=level, **dict(spec.example))
        for seed in range(3):
            env.reset(seed=seed)
            row = env.instance.to_row()
            steps = env.instance.task.explain(env.instance.problem)
            parts = [row["prompt"], row["problem"], row["reference"], steps]
            sha.update(canonical(parts).encode())
    return sha.hexdigest()[:32]


def digests_in_child(task_ids: Sequence[str], hash_seed: str) -> dict[str, str]:
    """Return id → digest as a new interpreter under another hash seed computes it.

    Raises:
        RlvrEnvsError: the interpreter failed; the message ends with what it printed.
    """
    done = subprocess.run(  # noqa: S603 - this interpreter and a constant program
        [sys.executable, "-c", _CODE, *task_ids],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RlvrEnvsError(f"a fresh process failed: {done.stderr[-2000:]}")
    found: dict[str, str] = json.loads(done.stdout)
    return found
