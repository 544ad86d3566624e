"""Checks that every task must pass, usable from tests, from `rlvr check` and by third parties."""

from rlvr_envs.conformance.checks import CHECKS
from rlvr_envs.conformance.look import Check, ConformanceError, NotApplicable

__all__ = ["CHECKS", "Check", "ConformanceError", "NotApplicable"]
