"""The training loop: sample, judge, advantages, loss, update, log, save; read it from `train` on.

A step samples groups of episodes, compares each with its group, and moves the weights. All that is
drawn comes from streams that the number of the step names, so a run that goes on from a checkpoint
goes on as if it had never stopped.
"""

import math
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.batch import Batch
from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.credit import MOVING, Groups, credit
from rlvr_envs.agents.grpo.episode import Episode, Group
from rlvr_envs.agents.grpo.evaluate import held_out
from rlvr_envs.agents.grpo.learner import (
    Learner,
    descend,
    imitate,
    make_optimizer,
    recomputed,
    renew_reference,
    set_learning_rate,
)
from rlvr_envs.agents.grpo.objective import LossInputs, Tally, averages, measure, micro_loss
from rlvr_envs.agents.grpo.parts import MakeEnv
from rlvr_envs.agents.grpo.preflight import check
from rlvr_envs.agents.grpo.run import Run, begin, refresh, save
from rlvr_envs.agents.grpo.tracking.metrics import evenly, summarise
from rlvr_envs.agents.grpo.warm_start import demonstrate
from rlvr_envs.core.files import locked
from rlvr_envs.core.seeding import draw_seed, stream
from rlvr_envs.curricula import Curriculum, Proposal


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
        UsageError: another process is training in the same folder.
    """
    check(config)
    # Of several workers one writes.
    first = os.environ.get("RANK", "0") == "0"
    with locked(Path(config.output.out)) if first else nullcontext():
        return go_on(begin(config, curriculum=curriculum, make_env=make_env, quiet=quiet))


def go_on(run: Run) -> Path:
    """Train from where a run is to its end, and return its newest checkpoint."""
    config = run.config
    last = min(run.total, run.step + (config.output.stop_after or run.total))
    every = config.evaluation.evaluate_every
    newest = run.newest or run.folder
    try:
        if run.step == 0 and every:
            run.metrics.log(0, evaluate(run))
        while run.step < last and not run.best.over(config.evaluation.patience):
            began = time.perf_counter()
            numbers = learn(run, run.step)
            refresh(run)
            numbers["time/step_s"] = time.perf_counter() - began
            run.step += 1
            if every and (not run.step % every or run.step == run.total):
                numbers |= evaluate(run)
            for callback in run.callbacks:
                callback.on_step(run, numbers)
            run.metrics.log(run.step, numbers)
            done = run.step == last or run.best.over(config.evaluation.patience)
            if done or run.step % config.output.save_every == 0 or run.best.step == run.step:
                newest = save(run)
    finally:
        for callback in run.callbacks:
            callback.on_end(run)
        run.close()
    return newest


def learn(run: Run, step: int) -> dict[str, float]:
    """Take one training step and return what was measured."""
    config = run.config
    imitating = config.optimiser.warm_start
    if step == imitating and step:
        # The moments are of another loss, and the reference is what reinforcing begins with.
        run.learner.optimizer = make_optimizer(run.learner.model, config)
        renew_reference(run.learner)
    set_learning_rate(run.learner, step)
    if step < imitating:
        return imitate(run.learner, demonstrations(run, step))
    began = time.perf_counter()
    groups, numbers = sample(run, step)
    sampled_s = time.perf_counter() - began
    episodes = batch_of(groups)
    for callback in run.callbacks:
        episodes = callback.on_batch(run, episodes)
    if episodes:
        numbers |= update(run.learner, episodes, step)
        seconds = time.perf_counter() - began
        numbers["tokens/s"] = sum(episode.n_tokens for episode in episodes) / seconds
        numbers["time/train_s"] = seconds - sampled_s
    renew = config.algorithm.reference_every
    if renew and (step + 1 - imitating) % renew == 0:
        renew_reference(run.learner)
    return numbers | {"time/sample_s": sampled_s}


def sample(run: Run, step: int) -> tuple[list[Group], dict[str, float]]:
    """Play a step's groups; with dynamic sampling, until enough of them hold a signal.

    Every worker plays its share and gets them all.
    """
    config = run.config.sampling
    found: list[Group] = []
    drawn: list[Group] = []
    for attempt in range(config.max_rounds if config.dynamic_sampling else 1):
        proposals = [run.curriculum.propose() for _ in range(config.groups - len(found))]
        for group in play(run, run.source.draw(proposals, step, attempt), (step, attempt)):
            drawn.append(group)
            take_down(run, group)
            # As the environment paid them: that an answer was longer than others is no signal.
            if not config.dynamic_sampling or group.informative:
                found.append(group)
        if len(found) >= config.groups:
            break
    run.curriculum.end_step()
    shown = evenly(drawn, run.config.output.samples, stream("samples", run.config.seed, step))
    run.metrics.samples(step + 1, shown)
    counts = {"groups/drawn": float(len(drawn)), "groups/kept": float(len(found))}
    return found, counts | summarise(drawn)


def play(run: Run, proposals: Sequence[Proposal], place: tuple[int, ...]) -> list[Group]:
    """Return a group for each proposal, which all workers together have played.

    A curriculum with a method ``more`` is asked after each round of what else to play of a group.
    """
    more = getattr(run.curriculum, "more", None)
    groups = _round(run, proposals, place)
    waiting = list(groups) if more is not None else []
    turn = 0
    while waiting:
        turn += 1
        wanted = [(group, count) for group in waiting if (count := more(group))]  # type: ignore[misc]
        again = [replace(group.proposal, samples=count) for group, count in wanted]
        waiting = [group for group, _ in wanted]
        for group, extra in zip(waiting, _round(run, again, (*place, turn)), strict=True):
            group.episodes += extra.episodes
    return groups


def _round(run: Run, proposals: Sequence[Proposal], place: tuple[int, ...]) -> list[Group]:
    """Play the proposals once, every worker its share."""
    workers = run.workers
    mine = range(workers.rank, len(proposals), workers.size)
    played = run.rollout.play(
        [proposals[k] for k in mine],
        run.config.sampling.group_size,
        seed=draw_seed(stream("sample", run.config.seed, *place, workers.rank)),
    )
    return list(in_order(workers.gather_objects(played)))


def in_order(shares: Sequence[list[Group]]) -> Iterator[Group]:
    """Yield what the workers played in the order in which it was proposed: one of each in turn."""
    for place in range(max(map(len, shares), default=0)):
        yield from (share[place] for share in shares if place < len(share))


def take_down(run: Run, group: Group) -> None:
    """Tell curriculum, source and callbacks how a group went; each may set what it weighs."""
    posed = group.posed
    if posed.task:
        seed = posed.problem_seed
        run.curriculum.record(posed.task, posed.difficulty, group.scores, seed)
    if observe := getattr(run.curriculum, "observe", None):
        observe(group)
    if weigh := getattr(run.curriculum, "weight", None):
        weight = weigh(group)
        for episode in group.episodes:
            episode.weight *= weight
    run.source.record(group)
    for callback in run.callbacks:
        callback.on_group(run, group)


def batch_of(groups: Sequence[Group]) -> list[Episode]:
    """Return the episodes of groups, which are numbered in their order."""
    for number, group in enumerate(groups):
        for episode in group.episodes:
            episode.group = number
    return [episode for group in groups for episode in group.episodes]


def update(learner: Learner, episodes: list[Episode], step: int) -> dict[str, float]:
    """Move the weights by a step's episodes, of all workers, and return what was measured."""
    config = learner.config
    if config.estimator.wants("beliefs"):
        learner.believe(episodes)
    shifts: dict[int, Tensor] = {}
    moving = any(map(config.estimator.wants, MOVING))
    worth = credit(Groups(episodes, config))
    usable = [i for i, keep in enumerate(worth[1].tolist()) if keep and episodes[i].n_trained]
    old = recomputed(learner, episodes, usable) if config.updates > 1 else {}
    tally = Tally()
    norms: list[float | None] = []
    for epoch in range(config.optimiser.epochs):
        order = stream("minibatches", config.seed, step, epoch).permutation(len(usable)).tolist()
        for k in range(config.optimiser.minibatches):
            part = sorted(usable[i] for i in order[k :: config.optimiser.minibatches])
            if moving and norms:  # such advantages are those of the weights as they are
                now = recomputed(learner, episodes, part)
                shifts |= {i: (now[i] - old[i]).sum() for i in part}
                worth = credit(Groups(episodes, config, shifts))
            norms.append(move(learner, episodes, part, worth, old, tally, step))
    return averages(learner.workers.gather_objects(tally)) | {
        "grad_norm": _mean([norm for norm in norms if norm is not None]),
        "updates/skipped": float(norms.count(None)),
        "learning_rate": learner.optimizer.param_groups[0]["lr"],
    }


def move(  # noqa: PLR0913 - the loop's own state, handed down once
    learner: Learner,
    episodes: list[Episode],
    part: list[int],
    worth: tuple[Tensor, Tensor, Tensor | None],
    old: dict[int, Tensor],
    tally: Tally,
    step: int,
) -> float | None:
    """Take one optimiser step on some of a step's episodes, and return the gradient's length.

    ``worth`` are the advantages (B, K) of all of them, which count, and scales if there are any.
    """
    config, (advantages, _, scales) = learner.config, worth
    weights = weights_of(config, episodes, part, advantages)
    # Where nothing else pulls, what has no advantage has no gradient: it only counts.
    pulled = config.algorithm.kl != "none" or config.algorithm.entropy_coef > 0
    pulled |= bool(config.loss.plugin.traits.get("always"))
    pulling = [i for i in part if pulled or episodes[i].demonstrated or bool(advantages[i].any())]

    def inputs(given: Batch, chunk: Sequence[int]) -> LossInputs:
        # First, since adapters are set to other values for it and back.
        reference = learner.reference_scores(given)
        observed = given.observed if config.loss.wants("observed") else None
        wanted = given.mask if observed is None else given.mask | observed
        logps, entropies = learner.scores(given, wanted)
        places = torch.tensor(chunk)
        return LossInputs(
            logp=logps,
            old=_padded([old[i] for i in chunk], logps) if old else logps.detach(),
            sampled=given.sampled,
            mask=given.mask,
            advantages=by_token(config, advantages[places].to(logps), given.turns),
            weights=weights[places].to(logps),
            turns=given.turns,
            entropy=entropies,
            reference=reference,
            scores=torch.tensor([episodes[i].score for i in chunk]).to(logps),
            demonstrated=torch.tensor([episodes[i].demonstrated for i in chunk]).to(given.mask),
            lag=given.lag(learner.version),
            scales=torch.ones_like(logps)
            if scales is None
            else by_token(config, scales[places].to(logps), given.turns),
            observed=observed,
            step=step,
        )

    def loss_of(given: Batch, chunk: Sequence[int]) -> Tensor:
        return micro_loss(config, inputs(given, chunk), tally)

    norm, _ = descend(learner, episodes, pulling, loss_of)
    still = [i for i in part if i not in set(pulling)]
    for given, chunk in learner.batches(
        episodes, still[learner.workers.rank :: learner.workers.size]
    ):
        if config.updates > 1:
            with torch.no_grad():
                measure(config, inputs(given, chunk), None, {}, tally)
        else:  # nothing has moved since it was sampled
            tally.count(float(given.mask.sum()), ratio=1.0, clip_fraction=0.0)
    return norm


def weights_of(
    config: Config, episodes: Sequence[Episode], part: Sequence[int], advantages: Tensor
) -> Tensor:
    """Return the weights (B,) of a step's episodes in the loss, 0 outside of ``part``."""
    weights = torch.zeros(len(episodes))
    if part:
        known = {
            "lengths": torch.tensor([float(episodes[i].n_trained) for i in part]),
            "groups": torch.tensor([episodes[i].group for i in part]),
            "advantages": advantages[list(part), 0],
            "longest": config.sampling.max_tokens,
        }
        own = torch.tensor([episodes[i].weight for i in part])
        weights[list(part)] = config.aggregation(known) * own
    return weights


def by_token(config: Config, values: Tensor, turns: Tensor) -> Tensor:
    """Return (B, K) as it is for K = 1, else each token's value or its turn's, (B, T)."""
    if values.shape[1] == 1:
        return values
    if config.estimator.plugin.traits.get("level") == "token":
        return values[:, : turns.shape[1]]
    return values.gather(1, turns.clamp(min=0)).masked_fill(turns < 0, 0.0)


def _padded(rows: Sequence[Tensor], like: Tensor) -> Tensor:
    padded = torch.zeros_like(like)
    for place, row in enumerate(rows):
        padded[place, : len(row)] = row
    return padded


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def demonstrations(run: Run, step: int) -> list[Episode]:
    """Return the oracle's episodes for a supervised step."""
    chosen = run.config.optimiser
    found = []
    for place in range(chosen.warm_start_batch):
        task, rung = cell = run.cells[place % len(run.cells)]
        if cell not in run.envs:
            run.envs[cell] = run.make_env(task, rung)
        rng = stream("demonstrations", run.config.seed, step, place)
        problem_seed, another = draw_seed(rng), draw_seed(rng)
        mistaken = another if rng.random() < chosen.warm_start_noise else None
        found.append(
            demonstrate(
                run.envs[cell],
                run.chat,
                problem_seed,
                mistaken=mistaken,
                group=place,
                worked=chosen.warm_start_worked,
            )
        )
    return found


def evaluate(run: Run) -> dict[str, float]:
    """Return the held-out scores of the weights as they are; the first worker alone has them."""
    began, numbers = time.perf_counter(), dict[str, float]()
    if run.workers.is_main:
        numbers = held_out(run.config, run.sampler, run.chat)
        for callback in run.callbacks:
            callback.on_evaluate(run, numbers)
        numbers["time/evaluate_s"] = time.perf_counter() - began
    score = run.workers.broadcast_object(numbers.get("held_out/score", math.nan))
    run.best.record(run.step, score, counts=run.step > run.config.optimiser.warm_start)
    if run.best.over(run.config.evaluation.patience):
        run.metrics.tell(
            "stopped",
            f"stopped after {run.best.since} evaluations without a better held-out score than "
            f"{run.best.score:.3g} after step {run.best.step}",
        )
    return numbers
