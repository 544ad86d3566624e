"""Published recipes, as settings of the agent; what a recipe leaves open keeps its default.

A preset is a start: whatever is said beside it replaces its setting. The zoo and others' plug-ins
add theirs with `recipe`.
"""

from dataclasses import dataclass, field
from typing import Any

from rlvr_envs.agents.grpo import plugins
from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.core.errors import ConfigError, did_you_mean


@dataclass(frozen=True, slots=True)
class Recipe:
    """Settings that were published together.

    Attributes:
        name: of the preset.
        paper: where they were published.
        differs: what of the paper is not reproduced; empty where all is.
        settings: by name, without their groups.

    Examples:
        >>> from rlvr_envs.agents.grpo.presets import recipes
        >>> {recipe.name: recipe.paper for recipe in recipes()}["default"]
        "DAPO's clipping and aggregation, Dr. GRPO's advantages"
    """

    name: str
    paper: str
    differs: str = ""
    settings: dict[str, Any] = field(default_factory=dict)


_RECIPES: dict[str, Recipe] = {}


def recipe(name: str, paper: str, *, differs: str = "", **settings: Any) -> None:
    """Add a preset; `Config` says what can be set.

    Raises:
        ConfigError: there is another of that name.

    Examples:
        >>> from rlvr_envs.agents.grpo.presets import preset, recipe
        >>> recipe("mine", "our report, section 3", loss="cispo", group_size=16)
        >>> preset("mine").sampling.group_size
        16
    """
    added = Recipe(name, paper, differs, settings)
    if _RECIPES.get(name, added) != added:
        raise ConfigError(f"there is a preset {name!r} already")
    _RECIPES[name] = added


def recipes() -> list[Recipe]:
    """Return all presets, the core's first.

    Examples:
        >>> from rlvr_envs.agents.grpo.presets import recipes
        >>> [recipe.name for recipe in recipes()][:3]
        ['default', 'grpo', 'dr_grpo']
    """
    plugins.load()
    return list(_RECIPES.values())


def settings_of(name: str) -> dict[str, Any]:
    """Return the settings of a preset, by name and without their groups.

    Raises:
        ConfigError: there is none of that name.

    Examples:
        >>> from rlvr_envs.agents.grpo.presets import settings_of
        >>> settings_of("dapo")["loss"]
        'clipped(low=0.2, high=0.28)'
    """
    known = {each.name: each for each in recipes()}
    if name not in known:
        hint = did_you_mean(name, known)
        raise ConfigError(f"no preset {name!r}{hint} (known: {', '.join(known)})")
    return known[name].settings


def preset(name: str = "default", **settings: Any) -> Config:
    """Return the configuration of a preset, with settings that replace its own.

    Raises:
        ConfigError: there is none of that name, or no such setting.

    Examples:
        >>> from rlvr_envs.agents.grpo.presets import preset
        >>> preset("dr_grpo", steps=50).algorithm.loss
        'clipped(high=0.2)'
    """
    for path in settings.get("plugins", ()):
        plugins.load_file(path)
    return Config().replace(**{**settings_of(name), **settings})


recipe("default", "DAPO's clipping and aggregation, Dr. GRPO's advantages")
recipe(
    "grpo",
    "DeepSeekMath, arXiv 2402.03300",
    estimator="grpo",
    loss="clipped(high=0.2)",
    aggregation="sequence_mean",
    group_size=64,
    kl="k3",
    kl_coef=0.04,
)
recipe(
    "dr_grpo",
    "arXiv 2503.20783",
    estimator="dr_grpo",
    loss="clipped(high=0.2)",
    aggregation="constant_length",
    group_size=8,
    minibatches=8,
)
recipe(
    "dapo",
    "arXiv 2503.14476",
    estimator="grpo",
    loss="clipped(low=0.2, high=0.28)",
    aggregation="token_mean",
    group_size=16,
    dynamic_sampling=True,
    overlong="penalty",
    minibatches=16,
)
recipe(
    "rloo",
    "arXiv 2402.14740",
    differs="the KL penalty is in the loss, token by token, and not in the answer's reward",
    estimator="rloo",
    loss="reinforce",
    aggregation="sequence_sum",
    group_size=4,
    kl="k1",
    kl_coef=0.03,
)
recipe(
    "reinforce",
    "Williams, 1992",
    estimator="reinforce",
    loss="reinforce",
    aggregation="sequence_sum",
)
recipe(
    "reinforce_plus_plus",
    "arXiv 2501.03262",
    differs="the KL penalty is in the loss, and not in tokens' rewards; its weight is OpenRLHF's "
    "default",
    estimator="reinforce_plus_plus",
    loss="clipped(high=0.2)",
    aggregation="token_mean",
    groups=128,
    group_size=1,
    minibatches=8,
    kl="k1",
    kl_coef=0.01,
)
recipe(
    "gspo",
    "arXiv 2507.18071",
    differs="the size of groups is not known",
    estimator="grpo",
    loss="gspo",
    aggregation="sequence_mean",
    correction='truncate(level="sequence")',
    minibatches=4,
)
recipe(
    "cispo",
    "MiniMax-M1, arXiv 2506.13585",
    differs="the bound on ratios was not published: it is ScaleRL's, arXiv 2510.13786",
    estimator="grpo",
    loss="cispo(high=5.0)",
    dynamic_sampling=True,
    overlong="penalty",
    minibatches=16,
)
recipe(
    "lite_ppo",
    "arXiv 2508.08221",
    differs="the number of minibatches is not known",
    estimator="lite_ppo",
    loss="clipped(high=0.2)",
    group_size=8,
    minibatches=4,
)
recipe(
    "soft_adaptive",
    "Soft Adaptive Policy Optimization, arXiv 2511.20347",
    differs="the size of groups is not known",
    estimator="grpo",
    loss="soft_adaptive",
    aggregation="sequence_mean",
    minibatches=4,
)
