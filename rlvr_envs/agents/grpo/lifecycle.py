"""How a run is set up, hands its weights over, is saved, and goes on from a checkpoint."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from rlvr_envs.agents.grpo import callbacks, plugins
from rlvr_envs.agents.grpo.chat import Chat
from rlvr_envs.agents.grpo.config import Config, flat
from rlvr_envs.agents.grpo.config_file import check_same, write_config
from rlvr_envs.agents.grpo.curriculum import make_curriculum
from rlvr_envs.agents.grpo.demonstration import texts
from rlvr_envs.agents.grpo.learner import Learner, make_optimizer
from rlvr_envs.agents.grpo.model import checkpoint, policy
from rlvr_envs.agents.grpo.model.distributed import Workers
from rlvr_envs.agents.grpo.parts import EnvMaker, MakeEnv, both_seats
from rlvr_envs.agents.grpo.problems import Problems
from rlvr_envs.agents.grpo.rollout import Rollout
from rlvr_envs.agents.grpo.run import Callback, Run
from rlvr_envs.agents.grpo.sampling.sampler import Sampler
from rlvr_envs.agents.grpo.sampling.weights import weights_of
from rlvr_envs.agents.grpo.sources import make_source
from rlvr_envs.agents.grpo.tracking.alarms import Alarms
from rlvr_envs.agents.grpo.tracking.best import Best
from rlvr_envs.agents.grpo.tracking.metrics import Metrics
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.curricula import Curriculum
from rlvr_envs.evaluation.plan import read_knobs
from rlvr_envs.evaluation.torch_threads import thread_count

CHECKPOINTS = "checkpoints"


def begin(
    config: Config,
    *,
    curriculum: Curriculum | None,
    make_env: MakeEnv | None,
    quiet: bool,
    first: Sequence[Callback] = (),
) -> Run:
    """Load everything, and go on from the newest checkpoint if the configuration says so.

    The callbacks ``first`` are told before those of the configuration.
    """
    folder = Path(config.output.out)
    kept = checkpoint.newest(folder / CHECKPOINTS) if config.output.resume else None
    if kept is not None:
        before = check_same(config, folder)
        if config.policy.threads is None:  # another number rounds sums differently
            config = config.replace(threads=before.policy.threads)
    maker = make_env or EnvMaker(
        config.data.tasks, config.data.wrappers, read_knobs(config.data.knobs)
    )
    problems = Problems(config.data)
    curriculum = curriculum or make_curriculum(config, problems)
    workers = Workers(config.policy.device)
    worked = config.optimiser.warm_start_worked
    model, tokenizer = policy.load(config, lambda: texts(maker, problems, worked=worked))
    threads = config.policy.threads or thread_count(model)
    torch.set_num_threads(threads)
    config = config.replace(threads=threads)
    if workers.is_main and not quiet:
        weights = sum(int(weight.numel()) for weight in model.parameters()) / 1e6
        sys.stderr.write(
            f"{weights:.2f} million weights on {workers.device}, CPU threads: {threads}\n"
        )
    ends = model.generation_config.eos_token_id
    chat = Chat(
        tokenizer,
        template=config.sampling.template,
        template_args=read_knobs(config.sampling.template_args),
        system_prompt=config.sampling.system_prompt,
        end_tokens=ends if isinstance(ends, list) else [] if ends is None else [ends],
    )
    if chat.template is not None:
        tokenizer.chat_template = chat.template  # checkpoints are to be asked as they were trained
    reference = policy.load_reference(config, model) if config.needs_reference else None
    if kept is not None:
        checkpoint.load_weights(kept, model)
    model, optimizer = workers.wrap(model, make_optimizer(model, config))
    learner = Learner(
        config=config,
        workers=workers,
        model=model,
        reference=reference,
        optimizer=optimizer,
        pad_token=chat.pad_token,
        bf16=workers.device.type == "cuda" if config.policy.bf16 is None else config.policy.bf16,
    )
    sampler = make_sampler(config, learner, chat)
    run = Run(
        config=config,
        folder=folder,
        workers=workers,
        tokenizer=tokenizer,
        learner=learner,
        chat=chat,
        sampler=sampler,
        rollout=make_rollout(config, maker, sampler, chat),
        make_env=maker,
        curriculum=curriculum,
        problems=problems,
        source=make_source(config.data.source, problems, config.seed),
        callbacks=[*first, *callbacks.made(config.callbacks), Alarms(config)],
        metrics=Metrics(
            folder if workers.is_main else folder / "workers" / str(workers.rank),
            report=config.output.report if workers.is_main else (),
            total=config.optimiser.warm_start + config.optimiser.steps,
            quiet=quiet or not workers.is_main,
            config=flat(config),
        ),
    )
    if kept is not None:
        restore(run, kept)
        if workers.is_main and not quiet and (told := _finished(run)):
            sys.stderr.write(f"{told}\n")
    elif workers.is_main:
        write_config(config, folder)
    if config.sampling.max_staleness and (workers.size > 1 or not sampler.concurrent):
        raise ConfigError(
            "max_staleness above 0 samples while the model is trained: it takes one process, and a "
            f"sampler with weights of its own (vllm), got {workers.size} processes and "
            f"{config.sampling.sampler}"
        )
    hand_over(run)
    return run


def _finished(run: Run) -> str:
    """Say that there is nothing left to do, and how to go on; empty where there is."""
    told = f"{run.folder}: the run is finished at step {run.step}"
    patience = run.config.evaluation.patience
    if run.step >= run.total:
        more = 2 * run.config.optimiser.steps
        return f"{told}; to extend it, ask for more steps, such as --resume --steps {more}"
    if run.best.over(patience):
        return (
            f"{told}, after {run.best.since} evaluations that were not better; to extend it, "
            f"have more patience, such as --resume --patience {2 * patience}"
        )
    return ""


def make_rollout(config: Config, make_env: MakeEnv, sampler: Sampler, chat: Chat) -> Rollout:
    """Return what plays episodes within a configuration's limits."""
    return Rollout(
        both_seats(make_env) if config.sampling.self_play else make_env,
        sampler,
        chat,
        max_tokens=config.sampling.max_tokens,
        context=config.sampling.context,
        temperature=config.sampling.temperature,
        keeps_targets=config.estimator.wants("beliefs"),
    )


def make_sampler(config: Config, learner: Learner, chat: Chat) -> Sampler:
    """Return the engine that a configuration names."""
    known = {
        "model": learner.workers.sampling_model(learner.model),
        "chat": chat,
        "context": config.sampling.context,
        "dtype": torch.bfloat16 if learner.bf16 else None,
        "folder": Path(config.output.out),
        "workers": learner.workers,
    }
    named = config.sampling.sampler
    made: Sampler
    try:
        made = plugins.sampler.choose("slots" if named == "auto" else named)(known)
    except ConfigError:  # a kind of attention that slots do not know
        if named != "auto":
            raise
        made = plugins.sampler.choose("generate")(known)
    return made


def refresh(run: Run) -> None:
    """Let the sampler see the weights as they are; for all workers."""
    run.learner.version += 1
    hand_over(run)


def hand_over(run: Run) -> None:
    """Give the sampler the weights as they are; for all workers."""
    model = run.workers.sampling_model(run.learner.model)
    run.sampler.update(lambda: weights_of(model), run.learner.version)
    run.workers.barrier()  # before all have done so, nobody may sample


def save(run: Run) -> Path:
    """Write a checkpoint and return its folder; for all workers, of which the first one writes."""
    learner, workers = run.learner, run.workers
    model = workers.sampling_model(learner.model)
    state = {
        "step": run.step,
        "optimizer": workers.optimizer_state(learner.optimizer),
        "curriculum": run.curriculum.state_dict(),
        "source": run.source.state_dict(),
        "best": run.best.state_dict(),
        "callbacks": [callback.state_dict() for callback in run.callbacks],
        "environments": state_of(run.make_env),
        "reference": {} if learner.reference is None else learner.reference.state_dict(),
        "rng": checkpoint.rng_state(),
    }
    folder = run.folder / CHECKPOINTS
    written = None
    if workers.is_main:
        written = checkpoint.save(
            folder,
            run.step,
            state,
            model,
            run.tokenizer,
            keep=run.config.output.keep,
            best=run.best.step == run.step,
        )
    kept: Path = workers.broadcast_object(written)
    return kept


def state_of(make_env: MakeEnv) -> dict[str, Any]:
    """Return what the environments remember; a maker of the user's own need have no state."""
    remembered = getattr(make_env, "state_dict", dict)
    state: dict[str, Any] = remembered()
    return state


def restore(run: Run, kept: Path) -> None:
    """Go on from a checkpoint, whose weights are in the model already."""
    state = checkpoint.load_state(kept)
    run.step, run.newest = state["step"], kept
    run.learner.version = run.step
    run.best = Best(**state["best"])
    run.workers.load_optimizer_state(run.learner.optimizer, state["optimizer"])
    run.curriculum.load_state_dict(state["curriculum"])
    run.source.load_state_dict(state["source"])
    for callback, told in zip(run.callbacks, state["callbacks"], strict=True):
        callback.load_state_dict(told)
    if state["environments"]:
        run.make_env.load_state_dict(state["environments"])  # type: ignore[attr-defined]
    if run.learner.reference is not None:
        run.learner.reference.load_state_dict(state["reference"])
    checkpoint.set_rng_state(state["rng"])
