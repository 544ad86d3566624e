"""Checks that every task must pass, usable from tests, from `rlvr check` and by third parties.

``CHECKS[name](Subject("rlvr/Sudoku-v0"))`` raises `ConformanceError` if the task breaks it.
"""

from rlvr_envs.conformance.checks import CHECKS
from rlvr_envs.conformance.subject import Check, ConformanceError, NotApplicable, Subject

__all__ = ["CHECKS", "Check", "ConformanceError", "NotApplicable", "Subject"]
