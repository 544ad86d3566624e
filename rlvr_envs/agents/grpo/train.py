"""The training loop; read it from `train` on.

A step samples groups of episodes, compares each with its group, and moves the weights. All that is
drawn comes from streams that the number of the step names, so a run that goes on from a checkpoint
goes on as if it had never stopped.
"""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.episode import Episode
from rlvr_envs.agents.grpo.evaluate import held_out
from rlvr_envs.agents.grpo.formulas.advantage import informative
from rlvr_envs.agents.grpo.parts import MakeEnv
from rlvr_envs.agents.grpo.preflight import check
from rlvr_envs.agents.grpo.run import Run, begin, refresh, save
from rlvr_envs.agents.grpo.tracking.metrics import summarise
from rlvr_envs.agents.grpo.update import imitate, make_optimizer, renew_reference, update
from rlvr_envs.agents.grpo.warm_start import demonstrate
from rlvr_envs.core.seeding import draw_seed, stream
from rlvr_envs.curricula import Curriculum


def train(
    config: Config,
    *,
    curriculum: Curriculum | None = None,
    make_env: MakeEnv | None = None,
    quiet: bool = False,
) -> Path:
    """Train a model and return its newest checkpoint, a folder that transformers can load.

    The first ``warm_start`` steps are supervised, on the tasks' own solutions.

    Args:
        config: what to do.
        curriculum: one of your own, instead of the one that ``config`` names.
        make_env: makes an environment of a task and a rung, instead of ``config``'s wrappers.
        quiet: show no progress.

    Raises:
        ConfigError: the configuration cannot work; before the model is loaded, where that can be
            known.
        DependencyError: a package is missing.
    """
    check(config)
    run = begin(config, curriculum=curriculum, make_env=make_env, quiet=quiet)
    last = min(run.total, run.step + (config.stop_after or run.total))
    newest = run.newest or run.folder
    try:
        if run.step == 0 and config.evaluate_every:
            run.metrics.log(0, evaluate(run))
        for step in range(run.step, last):
            began = time.perf_counter()
            numbers = learn(run, step)
            refresh(run)
            numbers["time/step_s"] = time.perf_counter() - began
            run.step = step + 1
            if config.evaluate_every and (
                not run.step % config.evaluate_every or run.step == run.total
            ):
                numbers |= evaluate(run)
            run.metrics.log(run.step, numbers)
            if run.step % config.save_every == 0 or run.step == last:
                newest = save(run)
    finally:
        run.close()
    return newest


def learn(run: Run, step: int) -> dict[str, float]:
    """Take one training step and return what was measured."""
    config = run.config
    begins_to_reinforce = step == config.warm_start
    if begins_to_reinforce and step:
        # The moments are of another loss, and the reference is what reinforcing begins with.
        run.learner.optimizer = make_optimizer(run.learner.model, config)
        renew_reference(run.learner)
    set_learning_rate(run, step)
    if step < config.warm_start:
        return imitate(run.learner, demonstrations(run, step))
    began = time.perf_counter()
    groups, numbers = sample(run, step)
    sampled_s = time.perf_counter() - began
    episodes = [episode for group in groups for episode in group]
    if episodes:
        numbers |= summarise(episodes) | update(run.learner, episodes, step)
        run.metrics.samples(step + 1, episodes[: config.samples])
        seconds = time.perf_counter() - began
        numbers["tokens/s"] = sum(episode.n_tokens for episode in episodes) / seconds
        numbers["time/train_s"] = seconds - sampled_s
    renew = config.reference_every
    if renew and (step + 1 - config.warm_start) % renew == 0:
        renew_reference(run.learner)
    return numbers | {"time/sample_s": sampled_s}


def set_learning_rate(run: Run, step: int) -> None:
    """Warm up and stay: first to the supervised steps' rate, then to the other."""
    config = run.config
    if step < config.warm_start:
        rate = config.warm_start_learning_rate
    else:
        rate, step = config.learning_rate, step - config.warm_start
    for group in run.learner.optimizer.param_groups:
        group["lr"] = rate * min(1.0, (step + 1) / (config.warmup + 1))


def sample(run: Run, step: int) -> tuple[list[list[Episode]], dict[str, float]]:
    """Play a step's groups; with dynamic sampling, until enough of them hold a signal.

    Every worker plays its share and gets them all.
    """
    config, workers = run.config, run.workers
    found: list[list[Episode]] = []
    drawn = 0
    for attempt in range(config.max_rounds if config.dynamic_sampling else 1):
        proposals = [run.curriculum.propose() for _ in range(config.groups - len(found))]
        seeds = [
            draw_seed(stream("train", config.seed, step, attempt, place))
            if proposal.problem_seed is None
            else proposal.problem_seed
            for place, proposal in enumerate(proposals)
        ]
        mine = range(workers.rank, len(proposals), workers.size)
        played = run.rollout.play(
            [proposals[place] for place in mine],
            [seeds[place] for place in mine],
            config.group_size,
            seed=draw_seed(stream("sample", config.seed, step, attempt, workers.rank)),
        )
        for group in in_order(workers.gather_objects(by_group(played))):
            drawn += 1
            scores = [episode.score for episode in group if episode.score == episode.score]
            # An environment that broke has not said what it would pose; the others have.
            first = next((episode for episode in group if episode.segments), group[0])
            if first.task:
                run.curriculum.record(first.task, first.difficulty, scores, first.problem_seed)
            # As the environment paid them: that an answer was longer than others is no signal.
            rewards = torch.tensor([[episode.reward for episode in group]])
            if not config.dynamic_sampling or bool(informative(rewards).any()):
                found.append(group)
        if len(found) >= config.groups:
            break
    run.curriculum.end_step()
    for number, group in enumerate(found):
        for episode in group:
            episode.group = number
    return found, {"groups/drawn": float(drawn), "groups/kept": float(len(found))}


def by_group(episodes: Sequence[Episode]) -> list[list[Episode]]:
    """Return the episodes group by group, in the order of their numbers."""
    groups: dict[int, list[Episode]] = {}
    for episode in episodes:
        groups.setdefault(episode.group, []).append(episode)
    return [groups[number] for number in sorted(groups)]


def in_order(shares: Sequence[list[list[Episode]]]) -> Iterator[list[Episode]]:
    """Yield what the workers played in the order in which it was proposed: one of each in turn."""
    for place in range(max(map(len, shares), default=0)):
        yield from (share[place] for share in shares if place < len(share))


def demonstrations(run: Run, step: int) -> list[Episode]:
    """Return the oracle's episodes for a supervised step."""
    config = run.config
    found = []
    for place in range(config.warm_start_batch):
        task, rung = cell = run.cells[place % len(run.cells)]
        if cell not in run.envs:
            run.envs[cell] = run.make_env(task, rung)
        rng = stream("demonstrations", config.seed, step, place)
        problem_seed, another = draw_seed(rng), draw_seed(rng)
        mistaken = another if rng.random() < config.warm_start_noise else None
        found.append(
            demonstrate(run.envs[cell], run.chat, problem_seed, mistaken=mistaken, group=place)
        )
    return found


def evaluate(run: Run) -> dict[str, float]:
    """Return the held-out scores of the weights as they are; the first worker alone does so."""
    if not run.workers.is_main:
        return {}
    began = time.perf_counter()
    numbers = held_out(run.config, run.sampler, run.chat)
    return numbers | {"time/evaluate_s": time.perf_counter() - began}
