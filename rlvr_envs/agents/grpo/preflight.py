"""What cannot work, said before anything is loaded."""

import inspect
import json
import os
from importlib.util import find_spec
from pathlib import Path

import gymnasium

from rlvr_envs.agents.grpo import callbacks, plugins
from rlvr_envs.agents.grpo.config import Config, flat
from rlvr_envs.agents.grpo.config_file import CONFIG
from rlvr_envs.agents.grpo.credit import MOVING
from rlvr_envs.agents.grpo.curriculum import make_curriculum
from rlvr_envs.agents.grpo.demonstration import pose, text_env
from rlvr_envs.agents.grpo.parts import EnvMaker, MakeEnv
from rlvr_envs.agents.grpo.problems import Cell, Problems
from rlvr_envs.agents.grpo.sources import fresh, make_source
from rlvr_envs.agents.grpo.trial import try_out
from rlvr_envs.core import registry
from rlvr_envs.core.both_seats import two_seats
from rlvr_envs.core.errors import ConfigError, DependencyError, RlvrEnvsError
from rlvr_envs.core.extras import hint, pip_install
from rlvr_envs.core.instance import Instance
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.task import InteractiveTask
from rlvr_envs.curricula.base import Curriculum, Proposal
from rlvr_envs.evaluation.local_model import find_model, load_tokenizer, pick_device
from rlvr_envs.evaluation.plan import read_knobs
from rlvr_envs.evaluation.store import CONFIG as EVALUATED

_COUNTS = {
    "steps": 1,
    "groups": 1,
    "group_size": 1,
    "max_tokens": 1,
    "context": 2,
    "max_rounds": 1,
    "epochs": 1,
    "minibatches": 1,
    "micro_tokens": 1,
    "evaluate_problems": 1,
    "save_every": 1,
    "keep": 1,
    "warmup": 0,
    "warm_start": 0,
    "warm_start_batch": 1,
    "lora_rank": 0,
    "evaluate_every": 0,
    "evaluate_samples": 1,
    "patience": 0,
    "max_staleness": 0,
    "samples": 0,
}
_RANGES = {"warm_start_noise": (0.0, 1.0), "final_rate": (0.0, 1.0)}
_ABOVE_0 = ("temperature", "learning_rate", "warm_start_learning_rate", "max_grad_norm")
_FROM_0 = ("kl_coef", "entropy_coef", "weight_decay")


def check(config: Config) -> None:
    """Raise the first thing that is wrong with a configuration.

    Raises:
        ConfigError: settings are out of range or do not fit each other, a task is unknown, there
            is no GPU, or the folder holds another run.
        DependencyError: a package is missing.
    """
    _check_packages(config)
    _check_counts(config)
    _check_numbers(config)
    _check_groups(config)
    _check_objective(config)
    _check_self_play(config)
    try_out(config)
    _check_places(config)
    data = config.data
    maker = EnvMaker(data.tasks, data.wrappers, read_knobs(data.knobs))
    problems = Problems(data)
    _check_tasks(config, problems, maker)
    callbacks.made(config.callbacks)
    curriculum = make_curriculum(config, problems)
    _check_curriculum(curriculum, config.data.curriculum)
    if config.sampling.self_play and hasattr(curriculum, "more"):
        raise ConfigError(
            f"the curriculum {config.data.curriculum} goes by the answers of a group, which "
            "self_play has of two seats: take another curriculum"
        )
    make_source(data.source, problems, config.seed)
    _check_model(config)
    _check_sampler(config)
    _check_chat(config, problems)


def _check_packages(config: Config) -> None:
    wanted = {"torch": "train", "transformers": "train"}
    if config.policy.lora_rank:
        wanted["peft"] = "lora"
    for package, extra in wanted.items():
        if find_spec(package) is None:
            raise DependencyError(f"training needs {package}: {hint(extra)}")
    for package in config.output.report:
        if find_spec(package) is None:
            raise DependencyError(f"report={package} needs a package: {pip_install(package)}")


def _check_counts(config: Config) -> None:
    values = flat(config)
    for name, least in _COUNTS.items():
        if values[name] < least:
            raise ConfigError(f"{name} is from {least}, got {values[name]}")
    for name in ("stop_after", "reference_every", "threads"):
        if values[name] is not None and values[name] < 1:
            raise ConfigError(f"{name} is from 1, or left out, got {values[name]}")


def _check_numbers(config: Config) -> None:
    values = flat(config)
    for name in _ABOVE_0:
        if not values[name] > 0:
            raise ConfigError(f"{name} is above 0, got {values[name]}")
    for name in _FROM_0:
        if not values[name] >= 0:
            raise ConfigError(f"{name} is from 0, got {values[name]}")
    for name, (low, high) in _RANGES.items():
        if not low <= values[name] <= high:
            raise ConfigError(f"{name} is from {low} to {high}, got {values[name]}")
    if config.evaluation.patience and not config.evaluation.evaluate_every:
        raise ConfigError(
            f"patience={config.evaluation.patience} counts held-out evaluations, and there are "
            "none: give evaluate_every"
        )
    if not all(0 <= beta < 1 for beta in config.optimiser.betas):
        raise ConfigError(f"betas are from 0 and under 1, got {config.optimiser.betas}")


def _check_groups(config: Config) -> None:
    size, groups = config.sampling.group_size, config.sampling.groups
    traits, name = config.estimator.plugin.traits, config.estimator.name
    if traits.get("compares") and size < 2:
        raise ConfigError(
            f"the estimator {name} compares the answers of a group: group_size is from 2, got "
            f"{size} (the estimator reinforce needs no group)"
        )
    if traits.get("odd") and size % 2 == 0:
        raise ConfigError(f"the estimator {name} needs an odd group_size, got {size}")
    if config.sampling.dynamic_sampling and size < 2:
        raise ConfigError("dynamic_sampling looks for groups whose rewards differ: group_size >= 2")
    if config.optimiser.minibatches > groups and any(map(config.estimator.wants, MOVING)):
        raise ConfigError(
            f"the estimator {name} joins a group's episodes, which learn together: minibatches="
            f"{config.optimiser.minibatches} is more than the {groups} groups of a step"
        )
    if config.optimiser.minibatches > groups * size:
        raise ConfigError(
            f"minibatches={config.optimiser.minibatches} is more than the {groups * size} episodes "
            "of a step"
        )


def _check_objective(config: Config) -> None:
    algorithm, longest = config.algorithm, config.sampling.max_tokens
    if algorithm.reference_every is not None and not config.needs_reference:
        raise ConfigError("reference_every resets the reference model: there is none with kl=none")
    if algorithm.reference_every is not None and config.policy.reference:
        raise ConfigError(
            f"reference_every resets the reference model, and {config.policy.reference!r} is to "
            "stay as it is: give one of them"
        )
    if algorithm.overlong == "penalty" and not 0 < algorithm.overlong_buffer <= longest:
        raise ConfigError(
            f"overlong_buffer is from 1 to max_tokens = {longest}, got {algorithm.overlong_buffer}"
        )
    if config.estimator.plugin.traits.get("level"):
        told = f"the estimator {config.estimator.name} has more than one advantage for an episode"
        for choice in (config.loss, config.aggregation):
            if choice.plugin.traits.get("one_advantage"):
                kind = choice.plugin.kind
                raise ConfigError(f"the {kind} {choice.name} takes one for an episode: {told}")
    if config.loss.wants("scales") and not config.estimator.plugin.traits.get("scales"):
        raise ConfigError(
            f"the loss {config.loss.name} takes scales, which the estimator "
            f"{config.estimator.name} does not give"
        )


def _check_self_play(config: Config) -> None:
    """See that what both seats of a game play with and learn by makes sense for both."""
    needed = config.estimator.plugin.traits.get("needs")
    if needed and needed not in [choice.name for choice in config.callbacks]:
        raise ConfigError(
            f"the estimator {config.estimator.name} takes what the callback {needed} notes: "
            f'give callbacks="{needed}"'
        )
    if not config.sampling.self_play:
        return
    if config.data.wrappers:
        raise ConfigError(
            "self_play plays both seats of the games themselves, and wrappers are of one agent: "
            f"leave out wrappers={', '.join(config.data.wrappers)}"
        )
    if config.estimator.wants("beliefs"):
        raise ConfigError(
            f"the estimator {config.estimator.name} asks for the oracle's solution, which "
            "self_play has for one seat only"
        )


def _check_places(config: Config) -> None:
    out = config.output.out
    folder = Path(out)
    if folder.is_file():
        raise ConfigError(f"out={out} is a file, and a run is a folder")
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise ConfigError(f"out={out}: {there} cannot be written to")
    if not config.output.resume and (folder / CONFIG).exists():
        raise ConfigError(f"{out} holds a run already: go on by --resume, or choose another --out")
    if (folder / EVALUATED).exists():
        raise ConfigError(f"{out} holds a run of `rlvr eval`: choose another --out")


def _check_tasks(config: Config, problems: Problems, make_env: MakeEnv) -> None:
    if not problems.knobs:
        raise ConfigError('there is nothing to train on: give tasks, such as "Gcd-v0"')
    stored = "the rows" if problems.rows else ", ".join(problems.numbered)
    if config.evaluation.evaluate_every and stored and not problems.split:
        raise ConfigError(
            f"held-out evaluation needs problems of {stored} that are not trained on: cut them, "
            "such as by splits=train=0.9,test=0.1, or set evaluate_every=0"
        )
    if config.evaluation.evaluate_every:
        problems.questions(1)
    _check_rows(problems)
    context = config.sampling.context
    ends: dict[str, list[Cell]] = {}
    for cell in problems.cells:
        ends.setdefault(cell[0], []).append(cell)
    for task, level in {cell for cells in ends.values() for cell in (cells[0], cells[-1])}:
        env = make_env(task, level)
        asked = Proposal(task=task, difficulty=level)
        prompt, _ = pose(env, fresh(problems, asked, stream("preflight", task)))
        if config.sampling.self_play:
            _check_seats(text_env(env).instance)
        _check_hints(config, env)
        # No tokenizer spends fewer tokens than one for 40 characters of English.
        if len(prompt) / 40 > context:
            raise ConfigError(
                f"the prompts of {task} at difficulty {level} have {len(prompt)} characters, "
                f"which no context of {context} tokens holds: raise context"
            )
        env.close()


def _check_seats(posed: Instance) -> None:
    if two_seats(posed.task, posed.problem) is None:
        raise ConfigError(
            f"self_play takes games for two, and {posed.spec.id} is none: docs/games.md lists them"
        )


def _check_hints(config: Config, env: gymnasium.Env[str, str]) -> None:
    """See that what asks for hints gets them."""
    for choice in config.callbacks:
        if choice.plugin.traits.get("hints"):
            try:
                env.reset(seed=0, options={"problem_seed": 0, "hint_level": 1})
            except ConfigError as error:
                raise ConfigError(
                    f"the callback {choice.name} asks for hints, and nothing here gives any: add "
                    f'wrappers="HintOnRequest" ({error})'
                ) from error


def _check_curriculum(made: Curriculum, named: str) -> None:
    """See that a plug-in does what a trainer asks of a curriculum."""
    told = f"the curriculum {named}"
    for name in ("propose", "record", "end_step", "state_dict", "load_state_dict"):
        method = getattr(made, name, None)
        if not callable(method):
            raise ConfigError(f"{told} makes a {type(made).__name__}, which has no {name}")
        taken = [*inspect.signature(getattr(Curriculum, name)).parameters][1:]
        try:
            inspect.signature(method).bind(*taken)
        except TypeError as error:
            raise ConfigError(
                f"{told}: it is called as {name}({', '.join(taken)}) ({error})"
            ) from error
    proposal = made.propose()
    if not isinstance(proposal, Proposal):
        raise ConfigError(f"{told} is to propose a Proposal, got {proposal!r:.80}")
    try:
        json.dumps(made.state_dict(), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{told}: checkpoints keep its state as JSON ({error})") from error


def _check_rows(problems: Problems) -> None:
    """See that every row can be posed, so that none is left out in silence later."""
    for place, row in enumerate(problems.rows):
        try:
            Instance.from_row(row)
        except RlvrEnvsError as error:
            raise ConfigError(f"row {place} cannot be posed: {error}") from error


def _check_model(config: Config) -> None:
    """Find out whether the model is there, and fits on the GPU."""
    from rlvr_envs.agents.grpo.model import policy

    policy.check(config)
    chosen = config.policy
    n_weights = _count_weights(chosen.model) if pick_device(chosen.device) == "cuda" else None
    if n_weights is None:
        return
    import torch

    # Weights in float32, and in bfloat16 to compute with; a gradient and two moments of AdamW for
    # each that is trained. Activations come on top.
    each = 4 + 2 + (0 if chosen.lora_rank else 4 + 8)
    free, _ = torch.cuda.mem_get_info()
    if n_weights * each > free:
        raise ConfigError(
            f"training {chosen.model} takes {n_weights * each / 2**30:.1f} GiB and more, "
            f"{free / 2**30:.1f} GiB are free on the GPU: take lora_rank or a smaller model"
        )


def _check_sampler(config: Config) -> None:
    """Find out whether the engine is there, where it can be asked beforehand."""
    if config.sampling.sampler != "auto":
        choice = plugins.sampler.choose(config.sampling.sampler)
        if check := choice.plugin.traits.get("check"):
            check(choice.settings, config.sampling.context)


def _check_chat(config: Config, problems: Problems) -> None:
    """Find out whether the chat template frames episodes, by the tokenizer alone."""
    from rlvr_envs.agents.grpo.chat import check_template
    from rlvr_envs.agents.grpo.model import policy

    if config.policy.model == policy.TINY:
        return
    kinds = [registry.find(task).task_type for task in problems.knobs]
    check_template(
        load_tokenizer(config.policy.model),
        several_turns=bool(config.data.wrappers)
        or any(issubclass(kind, InteractiveTask) for kind in kinds),
        template=config.sampling.template,
        template_args=read_knobs(config.sampling.template_args),
        system_prompt=config.sampling.system_prompt,
    )


def _count_weights(model: str) -> int | None:
    """Return how many weights a model has, by its configuration; None if that is unknown."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    from rlvr_envs.agents.grpo.model import policy

    if model == policy.TINY or (files := find_model(model)).gguf is not None:
        return None
    try:
        with torch.device("meta"):
            empty = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(files.place))
    except (OSError, ValueError):  # of a kind that transformers does not know
        return None
    return sum(int(weight.numel()) for weight in empty.parameters())
