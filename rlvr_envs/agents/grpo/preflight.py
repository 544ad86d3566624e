"""What cannot work, said before anything is loaded."""

import os
from importlib.util import find_spec
from pathlib import Path

from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.config_file import CONFIG
from rlvr_envs.agents.grpo.parts import EnvMaker, MakeEnv, make_curriculum
from rlvr_envs.core.errors import ConfigError, DependencyError
from rlvr_envs.core.extras import hint, pip_install
from rlvr_envs.evaluation.local_model import pick_device
from rlvr_envs.evaluation.plan import read_difficulties, read_knobs

# Estimators for which an episode alone in its group always has the advantage 0, or none at all.
_COMPARING = (
    "dr_grpo",
    "grpo",
    "rloo",
    "lite_ppo",
    "bnpo",
    "mc_grpo",
    "trloo",
    "asym_re",
    "pacs",
    "drpo",
    "tempo_experimental",
)
# Estimators that tell an answer's turns or tokens apart.
_FINE = ("trloo", "tempo_experimental")
_COUNTS = {
    "steps": 1,
    "groups": 1,
    "group_size": 1,
    "max_tokens": 1,
    "context": 2,
    "slots": 1,
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
    "samples": 0,
}
_RANGES = {"warm_start_noise": (0.0, 1.0), "mismatch_limit": (1.0, float("inf"))}
_ABOVE_0 = (
    "temperature",
    "learning_rate",
    "warm_start_learning_rate",
    "max_grad_norm",
    "length_temperature",
)
_BOUNDED = ("bnpo", "psr", "nsr", "weighted_reinforce", "pacs", "drpo")  # rewards from 0 to 1
_FROM_0 = ("clip_low", "clip_high", "kl_coef", "entropy_coef", "weight_decay", "ace_experimental")


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
    _check_places(config)
    _check_tasks(config, EnvMaker(config.tasks, config.wrappers, read_knobs(config.knobs)))
    difficulties = read_difficulties(config.difficulty)
    make_curriculum(config.curriculum, config.tasks, difficulties, config.seed)
    _check_model(config)


def _check_packages(config: Config) -> None:
    wanted = {"torch": "train", "transformers": "train"}
    if config.lora_rank:
        wanted["peft"] = "lora"
    for package, extra in wanted.items():
        if find_spec(package) is None:
            raise DependencyError(f"training needs {package}: {hint(extra)}")
    for package in config.report:
        if find_spec(package) is None:
            raise DependencyError(f"report={package} needs a package: {pip_install(package)}")


def _check_counts(config: Config) -> None:
    for name, least in _COUNTS.items():
        if getattr(config, name) < least:
            raise ConfigError(f"{name} is from {least}, got {getattr(config, name)}")
    for name in ("stop_after", "reference_every", "threads"):
        if getattr(config, name) is not None and getattr(config, name) < 1:
            raise ConfigError(f"{name} is from 1, or left out, got {getattr(config, name)}")


def _check_numbers(config: Config) -> None:
    for name in _ABOVE_0:
        if not getattr(config, name) > 0:
            raise ConfigError(f"{name} is above 0, got {getattr(config, name)}")
    for name in _FROM_0:
        if not getattr(config, name) >= 0:
            raise ConfigError(f"{name} is from 0, got {getattr(config, name)}")
    for name, (low, high) in _RANGES.items():
        if not low <= getattr(config, name) <= high:
            raise ConfigError(f"{name} is from {low} to {high}, got {getattr(config, name)}")


def _check_groups(config: Config) -> None:
    size = config.group_size
    if config.advantage in _COMPARING and size < 2:
        raise ConfigError(
            f"advantage={config.advantage} compares the answers of a group: group_size is from 2, "
            f"got {size} (advantage=reinforce needs no group)"
        )
    if config.advantage == "mc_grpo" and size % 2 == 0:
        raise ConfigError(f"advantage=mc_grpo needs an odd group_size, got {size}")
    if config.dynamic_sampling and size < 2:
        raise ConfigError("dynamic_sampling looks for groups whose rewards differ: group_size >= 2")
    if config.minibatches > config.groups * size:
        raise ConfigError(
            f"minibatches={config.minibatches} is more than the {config.groups * size} episodes of "
            "a step"
        )


def _check_objective(config: Config) -> None:
    if config.clip_dual is not None and config.clip_dual < 1 + config.clip_high:
        raise ConfigError(
            f"clip_dual is at least 1 + clip_high = {1 + config.clip_high}, got {config.clip_dual}"
        )
    if config.objective == "clipped" and config.clip_low > 1:
        raise ConfigError(f"clip_low is from 0 to 1, got {config.clip_low}")
    if not all(0 <= beta < 1 for beta in config.betas):
        raise ConfigError(f"betas are from 0 and under 1, got {config.betas}")
    if config.overlong == "penalty" and config.advantage in _BOUNDED:
        raise ConfigError(
            f"advantage={config.advantage} takes rewards from 0 to 1, and overlong=penalty makes "
            "them less: take overlong=mask"
        )
    if config.reference_every is not None and config.kl == "none":
        raise ConfigError("reference_every renews the reference model: there is none with kl=none")
    if config.overlong == "penalty" and not 0 < config.overlong_buffer <= config.max_tokens:
        raise ConfigError(
            f"overlong_buffer is from 1 to max_tokens = {config.max_tokens}, got "
            f"{config.overlong_buffer}"
        )
    _check_grain(config)


def _check_grain(config: Config) -> None:
    """What looks at whole answers needs one advantage for each."""
    if config.ace_experimental and config.kl == "none":
        raise ConfigError(
            "ace_experimental compares with the reference model: there is none with kl=none (take "
            "kl=k3 with kl_coef=0)"
        )
    if config.advantage in _FINE:
        told = f"advantage={config.advantage} has more than one advantage for an answer"
        if config.ratio == "sequence":
            raise ConfigError(f"a sequence's ratio has one advantage: {told}; take ratio=token")
        if config.aggregation == "balanced":
            raise ConfigError(f"balanced aggregation needs one for an answer: {told}")
        if config.ace_experimental:
            raise ConfigError(f"ace_experimental looks at whole answers: {told}")


def _check_places(config: Config) -> None:
    if config.engine == "server":
        for name in ("server", "server_model", "server_update"):
            if not getattr(config, name):
                raise ConfigError(f"engine=server needs {name}")
    folder = Path(config.out)
    if folder.is_file():
        raise ConfigError(f"out={config.out} is a file, and a run is a folder")
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise ConfigError(f"out={config.out}: {there} cannot be written to")
    if not config.resume and (folder / CONFIG).exists():
        raise ConfigError(
            f"{config.out} holds a run already: go on with it by resume, or choose another out"
        )


def _check_tasks(config: Config, make_env: MakeEnv) -> None:
    if not config.tasks:
        raise ConfigError('there is nothing to train on: give tasks, such as "Gcd-v0"')
    rungs = read_difficulties(config.difficulty)
    for task in config.tasks:
        for rung in {rungs[0], rungs[-1]}:
            env = make_env(task, rung)
            prompt, _ = env.reset(options={"problem_seed": 0})
            # No tokenizer spends fewer tokens than one for 40 characters of English.
            if len(prompt) / 40 > config.context:
                raise ConfigError(
                    f"the prompts of {task} at difficulty {rung} have {len(prompt)} characters, "
                    f"which no context of {config.context} tokens holds: raise context"
                )
            env.close()


def _check_model(config: Config) -> None:
    """Find out whether the model is there, and fits on the GPU."""
    from rlvr_envs.agents.grpo.model import policy

    policy.check(config)
    n_weights = _count_weights(config.model) if pick_device(config.device) == "cuda" else None
    if n_weights is None:
        return
    import torch

    # Weights in float32, and in bfloat16 to compute with; a gradient and two moments of AdamW for
    # each that is trained. Activations come on top.
    each = 4 + 2 + (0 if config.lora_rank else 4 + 8)
    free, _ = torch.cuda.mem_get_info()
    if n_weights * each > free:
        raise ConfigError(
            f"training {config.model} takes {n_weights * each / 2**30:.1f} GiB and more, "
            f"{free / 2**30:.1f} GiB are free on the GPU: take lora_rank or a smaller model"
        )


def _count_weights(model: str) -> int | None:
    """Return how many weights a model has, by its configuration; None if that is unknown."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    try:
        with torch.device("meta"):
            empty = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(model))
    except (OSError, ValueError):  # the tiny model, a GGUF file
        return None
    return sum(int(weight.numel()) for weight in empty.parameters())
