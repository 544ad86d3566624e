"""Curricula: what to pose next, given how it went so far; usable by any trainer.

Each keeps to the protocol `Curriculum`, and its state is plain JSON.
"""

from rlvr_envs.curricula.base import Curriculum, Proposal
from rlvr_envs.curricula.fixed import Fixed
from rlvr_envs.curricula.horizon import GrowingHorizon
from rlvr_envs.curricula.linear import Linear

__all__ = ["Curriculum", "Fixed", "GrowingHorizon", "Linear", "Proposal"]
