"""Gymnasium wrappers: rewards and limits around any environment whose verdicts fit them.

A wrapper shapes what an agent earns and sees. It never changes a verdict, so an evaluation is the
same with and without it; only `SelfPlay` and `PythonTool` leave an episode unscored whose solver or
sandbox broke down. `rlvr_envs.wrappers.vector` has the reward wrappers and `Horizon` for many
environments at once.
"""

from rlvr_envs.wrappers.attempts import Attempt, Attempts
from rlvr_envs.wrappers.augmentation import PromptAugmentation
from rlvr_envs.wrappers.confidence import (
    Calibrated,
    CalibratedConfidence,
    auroc,
    brier_score,
    calibration,
    expected_calibration_error,
)
from rlvr_envs.wrappers.failures import Failures
from rlvr_envs.wrappers.format_reward import Format, FormatReward
from rlvr_envs.wrappers.guidance import GuidanceAfterFailure
from rlvr_envs.wrappers.hints import (
    HintOnFailure,
    HintOnRequest,
    ItemResponseHints,
    reference_prefixes,
    solution_prefixes,
    worked_prefixes,
)
from rlvr_envs.wrappers.horizon import Horizon
from rlvr_envs.wrappers.item_response import ItemResponse
from rlvr_envs.wrappers.knowledge_points import KnowledgePoints, MinimalSubset
from rlvr_envs.wrappers.length import (
    Overlong,
    Redundancy,
    RedundancyPenalty,
    SoftOverlong,
    best_groups,
    group_length_rewards,
)
from rlvr_envs.wrappers.noise import (
    AppealRate,
    Noise,
    NoisyVerifier,
    backward_corrected,
    forward_corrected,
)
from rlvr_envs.wrappers.played import EpisodeReward, EpisodeScheme, Played
from rlvr_envs.wrappers.python_tool import PythonTool
from rlvr_envs.wrappers.recorder import Recorder, read_records, replay
from rlvr_envs.wrappers.retry import UnaryRetry, VerbalRetry
from rlvr_envs.wrappers.schemes import ASearcher, Scheme, SearchR1, ToolCosts
from rlvr_envs.wrappers.search_rewards import ASearcherReward, SearchR1Reward
from rlvr_envs.wrappers.self_correction import SelfCorrection
from rlvr_envs.wrappers.self_play import SelfPlay
from rlvr_envs.wrappers.shaping import ShapedReward
from rlvr_envs.wrappers.spurious import Flips, Phrases, RandomFlips, ReasoningPattern
from rlvr_envs.wrappers.step_credit import StepCredit
from rlvr_envs.wrappers.tool_cost import ToolCost
from rlvr_envs.wrappers.variants import CheckedVariants

__all__ = [
    "ASearcher",
    "ASearcherReward",
    "AppealRate",
    "Attempt",
    "Attempts",
    "Calibrated",
    "CalibratedConfidence",
    "CheckedVariants",
    "EpisodeReward",
    "EpisodeScheme",
    "Failures",
    "Flips",
    "Format",
    "FormatReward",
    "GuidanceAfterFailure",
    "HintOnFailure",
    "HintOnRequest",
    "Horizon",
    "ItemResponse",
    "ItemResponseHints",
    "KnowledgePoints",
    "MinimalSubset",
    "Noise",
    "NoisyVerifier",
    "Overlong",
    "Phrases",
    "Played",
    "PromptAugmentation",
    "PythonTool",
    "RandomFlips",
    "ReasoningPattern",
    "Recorder",
    "Redundancy",
    "RedundancyPenalty",
    "Scheme",
    "SearchR1",
    "SearchR1Reward",
    "SelfCorrection",
    "SelfPlay",
    "ShapedReward",
    "SoftOverlong",
    "StepCredit",
    "ToolCost",
    "ToolCosts",
    "UnaryRetry",
    "VerbalRetry",
    "auroc",
    "backward_corrected",
    "best_groups",
    "brier_score",
    "calibration",
    "expected_calibration_error",
    "forward_corrected",
    "group_length_rewards",
    "read_records",
    "reference_prefixes",
    "replay",
    "solution_prefixes",
    "worked_prefixes",
]
