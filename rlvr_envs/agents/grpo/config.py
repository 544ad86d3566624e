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
    """What is trained on."""

    tasks: tuple[str, ...] = ()
    """Ids of tasks and mixtures, such as Gcd-v0, or with knobs: MathDataset-v0(path="a.jsonl");
    none where the rows of a file say their tasks."""
    weights: tuple[float, ...] = ()
    """The share of each task; none for equal ones."""
    difficulty: str = "0"
    """A rung of the ladder, or a range such as 0-5, from which each group draws one; tasks without
    a ladder, such as those of data sets, ignore it."""
    knobs: tuple[str, ...] = ()
    """Settings of all tasks, as NAME=VALUE."""
    wrappers: tuple[str, ...] = ()
    """Wrappers around the environments, from the inside out: NAME or NAME(argument=value, …)."""
    curriculum: str = "fixed"
    """What task and difficulty come next, such as growing_horizon(over=success_band)."""
    source: str = "auto"
    """Which problems of them: stream (always new ones), pool (they return), epochs (the rows of
    data sets) or rows (of a file by rlvr generate); auto is epochs for data sets, else stream."""
    splits: str = ""
    """Shares of all problems, such as train=0.9,test=0.1: trained on the first, evaluated on the
    last; data sets and rows need them to be evaluated."""


@dataclass(frozen=True, kw_only=True)
class Policy(_Checked):
    """The model, and where it is computed."""

    model: str = "tiny"
    """A folder, a hub's name, a GGUF file, smollm2, or tiny: a small one made for the tasks."""
    lora_rank: int = 0
    """Train low-rank adapters of this rank (peft) instead of all weights; 0 for all weights."""
    gradient_checkpointing: bool = False
    """Compute activations twice to save memory."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where the model lives; auto takes a GPU if there is one."""
    bf16: bool | None = None
    """Compute in bfloat16 with float32 weights; None for wherever there is a GPU."""
    threads: int | None = None
    """CPU threads of torch; None: one under 20 million weights, else one for each core."""


@dataclass(frozen=True, kw_only=True)
class Sampling(_Checked):
    """How episodes are played."""

    groups: int = 16
    """Problems in a step."""
    group_size: int = 8
    """Episodes of each problem."""
    max_tokens: int = 256
    """The most tokens of an action."""
    context: int = 2048
    """The most tokens of an episode, prompt and observations included."""
    temperature: float = 1.0
    """Of sampling."""
    system_prompt: str = ""
    """Said before the problem, if the model's chat has such a place."""
    template: str = ""
    """A file with a chat template (Jinja), the name of one of the tokenizer's, or none for texts on
    lines of their own; empty for the tokenizer's own."""
    template_args: tuple[str, ...] = ()
    """What the template is told, as NAME=VALUE, such as enable_thinking=false."""
    sampler: str = "auto"
    """The engine: slots (our own), generate (plain transformers), vllm …; auto is slots where it
    knows the model, else generate."""
    dynamic_sampling: bool = False
    """Draw groups until enough of them have rewards that differ (DAPO)."""
    max_rounds: int = 8
    """Rounds of drawing in a step, at most, with dynamic sampling."""
    max_staleness: int = 0
    """Updates that may lie between the weights that sampled and those that learn; above 0 the next
    steps are sampled while one is learned."""


@dataclass(frozen=True, kw_only=True)
class Algorithm(_Checked):
    """What is minimised."""

    estimator: str = "dr_grpo"
    """Advantages: what an episode's reward is worth beside the others'."""
    loss: str = "clipped"
    """The loss of a token."""
    aggregation: str = "token_mean"
    """How much each episode's tokens weigh."""
    correction: str = "truncate"
    """How the difference between sampler and trainer is corrected."""
    kl: Literal["none", "k1", "k2", "k3", "forward_kl", "jensen_shannon"] = "none"
    """The penalty on the distance from the reference model; all but k2 and k3 times the ratio."""
    kl_coef: float = 0.001
    """Its weight."""
    reference_every: int | None = None
    """Steps after which the reference model becomes the trained one (ProRL); None for never."""
    entropy_coef: float = 0.0
    """The weight of a bonus on the entropy of the tokens' distributions."""
    overlong: Literal["count", "mask", "penalty"] = "count"
    """Answers cut off at the limit: counted as they are, left out, or their length penalised."""
    overlong_buffer: int = 64
    """Tokens over which that penalty grows."""
    leave_out: tuple[Literal["over_turn", "void_turn"], ...] = ()
    """Episodes not to train on: those that ran out of turns (Mini-o3), or had a turn without a
    call or an answer (SimpleTIR)."""
    callbacks: tuple[str, ...] = ()
    """What else is done with groups, batches and steps."""


@dataclass(frozen=True, kw_only=True)
class Optimiser(_Checked):
    """How the weights move."""

    steps: int = 200
    """Training steps, each of which samples new episodes."""
    epochs: int = 1
    """Passes over a step's episodes."""
    minibatches: int = 1
    """Optimiser steps in a pass."""
    learning_rate: float = 1e-6
    """AdamW's, after the warm-up."""
    warmup: int = 10
    """Steps over which the learning rate rises to that; Adam's first steps are long."""
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    """How it falls from there to the last step."""
    final_rate: float = 0.0
    """The share of the learning rate that would be left after the last step."""
    betas: tuple[float, float] = (0.9, 0.95)
    """AdamW's."""
    weight_decay: float = 0.0
    """AdamW's."""
    max_grad_norm: float = 1.0
    """Gradients longer than that are shortened to it."""
    micro_tokens: int = 16_384
    """Tokens, padding included, that go through the model at a time while training."""
    warm_start: int = 0
    """Supervised steps on the tasks' own solutions before anything else."""
    warm_start_batch: int = 64
    """Demonstrations in such a step."""
    warm_start_noise: float = 0.0
    """The share of their demonstrations that give another problem's solution."""
    warm_start_learning_rate: float = 3e-3
    """Their learning rate."""
    warm_start_worked: bool = False
    """Whether demonstrations hold the worked solution before the answer, where a task has one."""


@dataclass(frozen=True, kw_only=True)
class Evaluation(_Checked):
    """What is measured on problems that are not trained on."""

    evaluate_every: int = 0
    """Steps between held-out evaluations; 0 for none. One comes at the start and at the end too."""
    evaluate_problems: int = 64
    """Held-out problems of each task and difficulty."""
    evaluate_samples: int = 1
    """Sampled answers to each, from which pass@k is had too."""
    patience: int = 0
    """Evaluations in a row without a better score after which to stop; 0 for never."""


@dataclass(frozen=True, kw_only=True)
class Output(_Checked):
    """What is kept."""

    out: str = "runs/grpo"
    """The folder of the run."""
    save_every: int = 50
    """Steps between checkpoints."""
    keep: int = 2
    """Checkpoints to keep, besides the best by held-out score."""
    resume: bool = False
    """Go on from the newest checkpoint in the folder."""
    stop_after: int | None = None
    """Stop after that many steps of this process, with a checkpoint; where time is limited."""
    samples: int = 2
    """Episodes of each step to write out in full."""
    report: tuple[Literal["tensorboard", "wandb", "trackio"], ...] = ()
    """Where metrics go besides metrics.jsonl."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """How to train a model on environments.

    The defaults are DAPO's clipping and aggregation with Dr. GRPO's advantages: no division by a
    standard deviation, no KL penalty, no reference model.

    Raises:
        ConfigError: a plug-in file fails, or there is no plug-in of a name or no such setting.
    """

    data: Data = field(default_factory=Data)
    policy: Policy = field(default_factory=Policy)
    sampling: Sampling = field(default_factory=Sampling)
    algorithm: Algorithm = field(default_factory=Algorithm)
    optimiser: Optimiser = field(default_factory=Optimiser)
    evaluation: Evaluation = field(default_factory=Evaluation)
    output: Output = field(default_factory=Output)
    seed: int = 0
    """Of everything that is drawn."""
    plugins: tuple[str, ...] = ()
    """Python files that register plug-ins of yours."""

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
