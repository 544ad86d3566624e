"""Published recipes, as settings of the agent; what a recipe leaves open keeps its default.

A preset is a start: whatever is said beside it on the command line replaces its setting.
"""

from typing import Any

from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.core.errors import ConfigError, did_you_mean

PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    # arXiv 2402.03300
    "grpo": {
        "advantage": "grpo",
        "clip_high": 0.2,
        "aggregation": "sequence_mean",
        "kl": "k3",
        "kl_coef": 0.04,
    },
    # arXiv 2503.20783
    "dr_grpo": {"advantage": "dr_grpo", "clip_high": 0.2, "aggregation": "constant_length"},
    # arXiv 2503.14476
    "dapo": {
        "advantage": "grpo",
        "clip_low": 0.2,
        "clip_high": 0.28,
        "aggregation": "token_mean",
        "dynamic_sampling": True,
        "overlong": "penalty",
    },
    # arXiv 2402.14740
    "rloo": {"advantage": "rloo", "objective": "reinforce", "aggregation": "sequence_sum"},
    "reinforce": {
        "advantage": "reinforce",
        "objective": "reinforce",
        "aggregation": "sequence_sum",
    },
    # arXiv 2501.03262
    "reinforce_plus_plus": {
        "advantage": "reinforce_plus_plus",
        "clip_high": 0.2,
        "aggregation": "token_mean",
    },
    # arXiv 2507.18071
    "gspo": {
        "advantage": "grpo",
        "ratio": "sequence",
        "clip_low": 3e-4,
        "clip_high": 4e-4,
        "aggregation": "sequence_mean",
    },
    # ScaleRL's use of arXiv 2506.13585
    "cispo": {"advantage": "lite_ppo", "objective": "cispo", "clip_high": 5.0},
    # arXiv 2506.02864
    "bnpo": {"advantage": "bnpo", "aggregation": "sequence_sum", "clip_dual": 10.0},
    # arXiv 2508.08221
    "lite_ppo": {"advantage": "lite_ppo", "clip_high": 0.2},
    "ngrpo": {"advantage": "ngrpo", "clip_low": 0.16, "clip_high": 0.24},
    "mc_grpo": {"advantage": "mc_grpo", "group_size": 9},
    # arXiv 2506.01347
    "psr": {"advantage": "psr"},
    "nsr": {"advantage": "nsr"},
    "weighted_reinforce": {"advantage": "weighted_reinforce"},
    # arXiv 2503.14286
    "topr": {"objective": "topr", "ratio": "sequence", "aggregation": "sequence_sum"},
    "soft_adaptive": {"advantage": "grpo", "objective": "soft_adaptive"},
    # arXiv 2509.02522, with one update a step
    "pacs": {"advantage": "pacs", "objective": "reinforce", "aggregation": "sequence_sum"},
    # arXiv 2510.04474, with one update a step, which makes its trust region idle
    "drpo": {"advantage": "drpo", "objective": "reinforce", "aggregation": "sequence_mean"},
    # arXiv 2602.21420; its shape and strength are others' reports
    "ace_experimental": {"advantage": "grpo", "kl": "k3", "kl_coef": 0.0, "ace_experimental": 1.0},
    # arXiv 2509.18314, by its abstract
    "tempo_experimental": {"advantage": "tempo_experimental", "clip_high": 0.2},
    # arXiv 2506.20520
    "asym_re": {"advantage": "asym_re", "objective": "reinforce", "aggregation": "sequence_sum"},
    # arXiv 2509.24203
    "one_side": {"objective": "one_side"},
    "opmd_experimental": {"objective": "opmd_experimental", "aggregation": "sequence_sum"},
    # arXiv 2602.00983 and 2601.05607, by others' reports
    "dispo_experimental": {"objective": "dispo_experimental"},
    "dhpo_experimental": {"objective": "dhpo_experimental"},
    "minpro": {"ratio": "prefix"},
    "balanced": {"aggregation": "balanced"},
    # of Dr. Kernel: one advantage a turn
    "trloo": {"advantage": "trloo"},
    # arXiv 2505.24864; weight of the KL and interval of the resets are not verified
    "prorl": {
        "advantage": "grpo",
        "clip_low": 0.2,
        "clip_high": 0.4,
        "dynamic_sampling": True,
        "kl": "k3",
        "kl_coef": 1e-4,
        "reference_every": 200,
    },
}


def preset(name: str) -> Config:
    """Return the defaults with a preset's settings.

    Raises:
        ConfigError: there is none of that name.
    """
    if name not in PRESETS:
        hint = did_you_mean(name, tuple(PRESETS))
        raise ConfigError(f"no preset {name!r}{hint} (known: {', '.join(PRESETS)})")
    return Config(**PRESETS[name])
