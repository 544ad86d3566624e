"""Curricula: what to pose next, given how it went so far; usable by any trainer.

Each keeps to the protocol `Curriculum`, and its state is plain JSON.
"""

from rlvr_envs.curricula.adaptive_group import AdaptiveGroup, AdaptiveGroups
from rlvr_envs.curricula.base import Curriculum, Played, Proposal
from rlvr_envs.curricula.dump import Dump
from rlvr_envs.curricula.fixed import Fixed
from rlvr_envs.curricula.gdro import PassRateBins, PromptGdro
from rlvr_envs.curricula.hard_focus import HardFocus
from rlvr_envs.curricula.horizon import GrowingHorizon
from rlvr_envs.curricula.learning_progress import LearningProgress
from rlvr_envs.curricula.levels import OnLevels
from rlvr_envs.curricula.linear import Linear
from rlvr_envs.curricula.nested import Nested
from rlvr_envs.curricula.oversampled import Oversampled
from rlvr_envs.curricula.pairs import HardBrittlePairs
from rlvr_envs.curricula.rising_window import RisingWindow
from rlvr_envs.curricula.rollout_gdro import RolloutGdro
from rlvr_envs.curricula.staged import Stage, StagedDomains
from rlvr_envs.curricula.success_band import Control, Curation, SuccessBand
from rlvr_envs.curricula.weakness import Weakness

__all__ = [
    "AdaptiveGroup",
    "AdaptiveGroups",
    "Control",
    "Curation",
    "Curriculum",
    "Dump",
    "Fixed",
    "GrowingHorizon",
    "HardBrittlePairs",
    "HardFocus",
    "LearningProgress",
    "Linear",
    "Nested",
    "OnLevels",
    "Oversampled",
    "PassRateBins",
    "Played",
    "PromptGdro",
    "Proposal",
    "RisingWindow",
    "RolloutGdro",
    "Stage",
    "StagedDomains",
    "SuccessBand",
    "Weakness",
]
