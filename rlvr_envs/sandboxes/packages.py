"""Packages that jobs in Python may import besides the standard library, such as numpy.

They are those of the system, for the interpreter that runs jobs: Debian's python3-numpy, for
example. A job sees none of them unless it asks.
"""

import subprocess
from dataclasses import replace
from functools import lru_cache

from rlvr_envs.core.errors import ConfigError, ToolchainMissing
from rlvr_envs.sandboxes.backend import interpreter
from rlvr_envs.sandboxes.base import Job, Limits
from rlvr_envs.sandboxes.sandbox import Sandbox

_ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
_LIMITS = Limits(cpu_s=30.0, memory_mib=1024)


def check_packages(packages: object) -> None:
    """Check names of packages.

    Raises:
        ConfigError: they are no tuple of names that can be imported.
    """
    named = isinstance(packages, tuple) and all(
        isinstance(name, str) and name.isascii() and name.isidentifier() for name in packages
    )
    if not named:
        raise ConfigError(f"packages are a tuple of names such as ('numpy',), got {packages!r:.80}")


def with_packages(job: Job, packages: tuple[str, ...], sandbox: Sandbox) -> Job:
    """Return a job in Python that may import packages of the system, and all that they import.

    Libraries of numbers get one thread, since a job's CPU time is the sum over its threads.

    Args:
        job: one with a `script`.
        packages: what has to be there; without any the job stays as it is.
        sandbox: where it is to run.

    Raises:
        ConfigError: a name is none, or the job has no script.
        ToolchainMissing: the sandbox's Python lacks one.
    """
    if not packages:
        return job
    check_packages(packages)
    if not job.script:
        raise ConfigError(f"packages are for Python, and the job runs {job.argv[0]!r}")
    _require(sandbox, packages)
    return _opened(job)


def _opened(job: Job) -> Job:
    folders = _folders()
    return replace(
        job,
        programs=(*(job.programs or ()), *folders),
        env={**_ONE_THREAD, **job.env, "PYTHONPATH": ":".join(folders)},
        limit_address_space=False,  # which such libraries reserve much of
    )


@lru_cache(maxsize=1)
def _folders() -> tuple[str, ...]:
    """Return where the interpreter that runs jobs has its packages."""
    code = "import site; print(*site.getsitepackages(), sep='\\n')"
    command = [interpreter()[0], "-I", "-c", code]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)  # noqa: S603
    return tuple(answer.stdout.splitlines())


@lru_cache(maxsize=32)
def _require(sandbox: Sandbox, packages: tuple[str, ...]) -> None:
    source = f"import {', '.join(packages)}"
    job = Job(script="main.py", files={"main.py": source.encode()}, limits=_LIMITS)
    result = sandbox.run(_opened(job))
    if not result.ok:
        told = result.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        debian = " ".join(f"python3-{name}" for name in packages)
        raise ToolchainMissing(
            f"answers may import {', '.join(packages)}, which the Python of the sandbox cannot: "
            f"{told or result.detail:.200}; on Debian, as root: apt-get install {debian}"
        )
