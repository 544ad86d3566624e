"""The packages of the extra ``solvers``, imported when a task first needs one."""

import importlib
from typing import Any

from rlvr_envs.core.errors import DependencyError
from rlvr_envs.core.extras import hint

# Module: the package that has it.
PACKAGES = {
    "ortools.sat.python.cp_model": "ortools",
    "z3": "z3-solver",
}


def require(module: str) -> Any:
    """Return a module of `PACKAGES`.

    Raises:
        DependencyError: its package is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise DependencyError(
            f"this task needs the package {PACKAGES[module]!r}, which cannot be imported "
            f"({error}): {hint('solvers')}"
        ) from error
