"""What a training run is told, in groups; from these fields the command line is made.

The names of all fields are different, so `make_config` and `Config.replace` take them without their
groups, as the command line does.
"""

import dataclasses
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Literal

from rlvr_envs.agents.grpo import plugins
from rlvr_envs.agents.grpo.plugins import Choice
from rlvr_envs.core.errors import ConfigError, did_you_mean


class _Checked:
    """Checks the types of its fields as it is made; lists become tuples."""

    def __post_init__(self) -> None:
        hints = typing.get_type_hints(type(self))
        for each in dataclasses.fields(self):  # type: ignore[arg-type]  # which all groups are
            value = getattr(self, each.name)
            if isinstance(value, list):
                value = tuple(value)
                object.__setattr__(self, each.name, value)
            kind = hints[each.name]
            if not plugins.fits(value, kind):
                told = str(kind).replace("typing.", "") if typing.get_args(kind) else kind.__name__
                raise ConfigError(f"{each.name} is {told}, got {value!r}")


@dataclass(frozen=True, kw_only=True)
class Data(_Checked):
    """The problems to train on."""

    tasks: tuple[str, ...] = ()
    """Ids of tasks and mixtures, such as Gcd-v0, or with knobs: MathDataset-v0(path="a.jsonl").
    Leave it empty where the rows of a file name their tasks."""
    weights: tuple[float, ...] = ()
    """The weight of each task in the mixture (default: equal weights)."""
    difficulty: str = "0"
    """A difficulty level, or a range such as 0-5 from which each group draws a level. Tasks without
    levels, such as data sets, ignore it."""
    knobs: tuple[str, ...] = ()
    """Knobs for all tasks, as NAME=VALUE."""
    wrappers: tuple[str, ...] = ()
    """Wrappers of the environments, innermost first: NAME or NAME(argument=value, …)."""
    curriculum: str = "fixed"
    """What chooses the next task and level, such as growing_horizon(over=success_band)."""
    source: str = "auto"
    """Where problems come from: stream (new ones), pool (problems return), epochs (passes over a
    data set) or rows (a file by rlvr generate). auto is epochs for data sets, else stream."""
    splits: str = ""
    """Splits of the problems, such as train=0.9,test=0.1: the first is trained on, the last is held
    out for evaluation. Data sets and rows need splits to be evaluated."""


@dataclass(frozen=True, kw_only=True)
class Policy(_Checked):
    """The model and its device."""

    model: str = "tiny"
    """A folder, a name on the model hub, a GGUF file, smollm2, or tiny: a small model made for the
    tasks."""
    lora_rank: int = 0
    """Rank of LoRA adapters (peft); 0 trains all weights."""
    reference: str = ""
    """Reference model, or teacher, of the same tokenizer (default: the model as it begins)."""
    gradient_checkpointing: bool = False
    """Recompute activations in the backward pass to save memory."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Device of the model; auto takes a GPU if there is one."""
    bf16: bool | None = None
    """Compute in bfloat16 with float32 weights (default: on a GPU)."""
    threads: int | None = None
    """CPU threads of torch (default: one below 20 million weights, else one per core)."""


@dataclass(frozen=True, kw_only=True)
class Sampling(_Checked):
    """How episodes are sampled."""

    groups: int = 16
    """Problems per training step."""
    group_size: int = 8
    """Episodes per problem."""
    max_tokens: int = 256
    """Maximum tokens of a response."""
    context: int = 2048
    """Maximum tokens of an episode, with prompt and observations."""
    temperature: float = 1.0
    """Sampling temperature."""
    system_prompt: str = ""
    """System prompt, where the chat template has one."""
    template: str = ""
    """Chat template: a Jinja file, the name of one of the tokenizer's templates, or none for plain
    lines (default: the tokenizer's own)."""
    template_args: tuple[str, ...] = ()
    """Arguments of the chat template, as NAME=VALUE, such as enable_thinking=false."""
    sampler: str = "auto"
    """Sampling engine: slots (our own), generate (plain transformers), vllm …; auto is slots where
    it supports the model, else generate."""
    dynamic_sampling: bool = False
    """Sample groups until enough of them have rewards that differ (DAPO)."""
    self_play: bool = False
    """One model plays both seats of two-player games, each seat's turns being an episode of their
    own. Evaluation is still against the tasks' opponents."""
    max_rounds: int = 8
    """Maximum rounds of dynamic sampling per step."""
    max_staleness: int = 0
    """Maximum number of updates between the weights that sample and those that are trained. Above
    0, the next steps are sampled while one is trained."""


@dataclass(frozen=True, kw_only=True)
class Algorithm(_Checked):
    """The objective."""

    estimator: str = "dr_grpo"
    """Advantage estimator."""
    loss: str = "clipped"
    """Loss per token."""
    aggregation: str = "token_mean"
    """How token losses are averaged."""
    correction: str = "truncate"
    """Correction for the mismatch between sampler and trainer (importance sampling)."""
    kl: Literal["none", "k1", "k2", "k3", "forward_kl", "jensen_shannon"] = "none"
    """Estimator of the KL penalty to the reference model; all but k2 and k3 are multiplied by the
    importance ratio."""
    kl_coef: float = 0.001
    """Weight of the KL penalty."""
    reference_every: int | None = None
    """Steps after which the reference model is reset to the trained one (ProRL; default: never)."""
    entropy_coef: float = 0.0
    """Weight of the entropy bonus."""
    overlong: Literal["count", "mask", "penalty"] = "count"
    """Truncated responses: count them, mask them out, or penalise their length (DAPO)."""
    overlong_buffer: int = 64
    """Tokens before the limit over which the length penalty grows."""
    leave_out: tuple[Literal["over_turn", "void_turn"], ...] = ()
    """Episodes to mask out: over_turn (ran out of turns, Mini-o3), void_turn (a turn had neither a
    call nor an answer, SimpleTIR)."""
    callbacks: tuple[str, ...] = ()
    """Callbacks on groups, batches and steps."""


@dataclass(frozen=True, kw_only=True)
class Optimiser(_Checked):
    """The optimiser, and the supervised steps before."""

    steps: int = 200
    """Training steps; each samples new episodes."""
    epochs: int = 1
    """Passes over the episodes of a step."""
    minibatches: int = 1
    """Optimiser steps per pass."""
    learning_rate: float = 1e-6
    """AdamW learning rate after the warm-up."""
    warmup: int = 10
    """Steps of linear learning-rate warm-up."""
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    """Learning-rate schedule after the warm-up."""
    final_rate: float = 0.0
    """Final learning rate, as a share of learning_rate."""
    betas: tuple[float, float] = (0.9, 0.95)
    """AdamW betas."""
    weight_decay: float = 0.0
    """AdamW weight decay."""
    max_grad_norm: float = 1.0
    """Gradient clipping: maximum norm."""
    micro_tokens: int = 16_384
    """Tokens per micro-batch in training, with padding."""
    warm_start: int = 0
    """Steps of SFT warm-up on the tasks' own solutions, before reinforcement learning."""
    warm_start_batch: int = 64
    """Demonstrations per SFT step."""
    warm_start_noise: float = 0.0
    """Share of SFT demonstrations that show the solution of another problem."""
    warm_start_learning_rate: float = 3e-3
    """Learning rate of the SFT warm-up."""
    warm_start_worked: bool = False
    """Put the worked solution before the answer in SFT demonstrations, where a task has one."""


@dataclass(frozen=True, kw_only=True)
class Evaluation(_Checked):
    """Evaluation on held-out problems."""

    evaluate_every: int = 0
    """Steps between held-out evaluations, also at the start and the end; 0 for none."""
    evaluate_problems: int = 64
    """Held-out problems per task and level."""
    evaluate_samples: int = 1
    """Sampled responses per held-out problem, for pass@k too."""
    patience: int = 0
    """Early stopping: evaluations in a row without a better score; 0 for never."""


@dataclass(frozen=True, kw_only=True)
class Output(_Checked):
    """Files of the run."""

    out: str = "runs/grpo"
    """The folder of the run."""
    save_every: int = 50
    """Steps between checkpoints."""
    keep: int = 2
    """Checkpoints to keep, besides the best by held-out score."""
    resume: bool = False
    """Resume from the newest checkpoint in the folder."""
    stop_after: int | None = None
    """Stop this process after so many steps, with a checkpoint, where time is limited."""
    samples: int = 2
    """Episodes per step to log in full."""
    report: tuple[Literal["tensorboard", "wandb", "trackio"], ...] = ()
    """Trackers of metrics besides metrics.jsonl."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """How to train a model on environments.

    The defaults are DAPO's clipping and aggregation with Dr. GRPO's advantages: no division by a
    standard deviation, no KL penalty, no reference model.

    Raises:
        ConfigError: a plug-in file fails, or there is no plug-in of a name or no such setting.

    Examples:
        >>> from rlvr_envs.agents.grpo.config import Config
        >>> config = Config().replace(steps=50, loss="cispo(high=4.0)")
        >>> config.loss.settings
        {'high': 4.0}
    """

    data: Data = field(default_factory=Data)
    policy: Policy = field(default_factory=Policy)
    sampling: Sampling = field(default_factory=Sampling)
    algorithm: Algorithm = field(default_factory=Algorithm)
    optimiser: Optimiser = field(default_factory=Optimiser)
    evaluation: Evaluation = field(default_factory=Evaluation)
    output: Output = field(default_factory=Output)
    seed: int = 0
    """Random seed."""
    plugins: tuple[str, ...] = ()
    """Python files that register your plug-ins."""

    def __post_init__(self) -> None:
        for path in self.plugins:
            plugins.load_file(path)
        _ = self.estimator, self.loss, self.aggregation, self.correction, self.callbacks
        if self.sampling.sampler != "auto":
            plugins.sampler.choose(self.sampling.sampler)
        if self.data.source != "auto":
            plugins.source.choose(self.data.source)
        plugins.curriculum.choose(self.data.curriculum)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle settings alone: another process has first to load the plug-ins that they name."""
        values = {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}
        return partial(Config, **values), ()

    @cached_property
    def estimator(self) -> Choice:
        """The plug-in that gives advantages."""
        return plugins.estimator.choose(self.algorithm.estimator)

    @cached_property
    def loss(self) -> Choice:
        """The plug-in that gives the losses of tokens."""
        return plugins.loss.choose(self.algorithm.loss)

    @cached_property
    def aggregation(self) -> Choice:
        """The plug-in that weighs episodes."""
        return plugins.aggregation.choose(self.algorithm.aggregation)

    @cached_property
    def correction(self) -> Choice:
        """The plug-in that corrects for the sampler."""
        return plugins.correction.choose(self.algorithm.correction)

    @cached_property
    def callbacks(self) -> list[Choice]:
        """The plug-ins that are told of groups, batches and steps."""
        return [plugins.callback.choose(text) for text in self.algorithm.callbacks]

    @property
    def needs_reference(self) -> bool:
        """Whether there is a reference model."""
        return self.algorithm.kl != "none" or self.loss.wants("reference")

    @property
    def updates(self) -> int:
        """Optimiser steps in a training step."""
        return self.optimiser.epochs * self.optimiser.minibatches

    def replace(self, **settings: Any) -> "Config":
        """Return this configuration with some fields changed, named without their groups.

        Raises:
            ConfigError: there is no field of a name.
        """
        changed: dict[str, dict[str, Any]] = {}
        for name, value in settings.items():
            changed.setdefault(group_of(name), {})[name] = value
        own = changed.pop("", {})
        groups = {
            group: dataclasses.replace(getattr(self, group), **values)
            for group, values in changed.items()
        }
        return dataclasses.replace(self, **groups, **own)


GROUPS: dict[str, type[Any]] = {
    each.name: each.default_factory  # type: ignore[misc]  # which these are
    for each in dataclasses.fields(Config)
    if each.default_factory is not dataclasses.MISSING
}
_OWN = tuple(each.name for each in dataclasses.fields(Config) if each.name not in GROUPS)
_GROUP_OF = {
    each.name: group for group, kind in GROUPS.items() for each in dataclasses.fields(kind)
} | dict.fromkeys(_OWN, "")


def group_of(name: str) -> str:
    """Return the group of a field, empty for the configuration's own.

    Raises:
        ConfigError: there is none of that name.
    """
    if name not in _GROUP_OF:
        raise ConfigError(f"there is no setting {name!r}{did_you_mean(name, _GROUP_OF)}")
    return _GROUP_OF[name]


def flat(config: Config) -> dict[str, Any]:
    """Return all settings by name, without their groups."""
    return {
        name: getattr(getattr(config, group) if group else config, name)
        for name, group in _GROUP_OF.items()
    }


def from_groups(values: Mapping[str, Any], start: Config | None = None) -> Config:
    """Return a configuration from settings in their groups, as files have them.

    Raises:
        ConfigError: a group or setting is unknown, or stands in another's place.
    """
    settings: dict[str, Any] = {}
    for name, value in values.items():
        if name in _OWN:
            settings[name] = _frozen(value)
        elif name in GROUPS and isinstance(value, Mapping):
            for each, given in value.items():
                if group_of(each) != name:
                    raise ConfigError(
                        f"{each} is a setting of {group_of(each) or 'no group'}, not of {name}"
                    )
                settings[each] = _frozen(given)
        else:
            known = (*GROUPS, *_OWN)
            raise ConfigError(
                f"there is no group {name!r}{did_you_mean(name, known)} (known: {', '.join(known)})"
            )
    return (start or Config()).replace(**settings)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
