"""Gymnasium environments for reinforcement learning with verifiable rewards."""

from rlvr_envs.core.verdict import Status, Verdict

__all__ = ["Status", "Verdict"]
__version__ = "0.1.0"
