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
from torch.nn.utils.rnn import pad_sequence

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
    reset_reference,
    set_learning_rate,
)
from rlvr_envs.agents.grpo.lifecycle import begin, refresh, save
from rlvr_envs.agents.grpo.objective import (
    LossInputs,
    Tally,
    averages,
    by_token,
    info_of,
    measure,
    micro_loss,
    weights_of,
)
from rlvr_envs.agents.grpo.parts import MakeEnv
from rlvr_envs.agents.grpo.preflight import check
from rlvr_envs.agents.grpo.run import Run
from rlvr_envs.agents.grpo.sampling.asynchronous import Ahead
from rlvr_envs.agents.grpo.tracking.metrics import evenly, summarise
from rlvr_envs.agents.grpo.warm_start import demonstrations
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
        make_env: makes an environment of a task and a level, instead of ``config``'s wrappers.
        quiet: show no progress.

    Raises:
        ConfigError: the configuration cannot work; before the model is loaded, where that can be
            known.
        DependencyError: a package is missing.
        UsageError: another process is training in the same folder.

    Examples:
        >>> from rlvr_envs.agents.grpo.presets import preset
        >>> from rlvr_envs.agents.grpo.train import train
        >>> tiny = {"model": "tiny", "groups": 2, "group_size": 2, "max_tokens": 4, "device": "cpu"}
        >>> train(preset(tasks=("Gcd-v0",), steps=1, out="run", **tiny), quiet=True).name
        'step-00000001'
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
    supervised = config.optimiser.warm_start
    if step == supervised and step:
        # The moments are of another loss, and the reference is what reinforcing begins with.
        run.learner.optimizer = make_optimizer(run.learner.model, config)
        reset_reference(run.learner)
    set_learning_rate(run.learner, step)
    if step < supervised:
        return imitate(run.learner, demonstrations(run, step))
    began = time.perf_counter()
    groups, numbers = take(run, step)
    sampled_s = time.perf_counter() - began
    episodes = batch_of(groups)
    for callback in run.callbacks:
        episodes = callback.on_batch(run, episodes)
    if episodes:
        numbers |= update(run.learner, episodes, step)
        seconds = time.perf_counter() - began
        numbers["tokens/s"] = sum(episode.n_tokens for episode in episodes) / seconds
        numbers["time/train_s"] = seconds - sampled_s
    every = config.algorithm.reference_every
    if every and (step + 1 - supervised) % every == 0:
        reset_reference(run.learner)
    return numbers | {"time/sample_s": sampled_s}


def take(run: Run, step: int) -> tuple[list[Group], dict[str, float]]:
    """Return the groups to learn from in a step, which may have been played ahead of it."""

    def played(number: int) -> list[Group]:
        groups, run.drawn[number] = sample(run, number)
        for group in groups:
            group.step = number
        return groups

    def oldest(group: Group) -> int:
        return run.learner.version if group.version is None else group.version

    if run.ahead is None:
        most = run.config.sampling.max_staleness
        run.ahead = Ahead(played, oldest, max_staleness=most, first=step)
    groups = run.ahead.take(run.learner.version)
    if release := getattr(run.sampler, "release", None):
        release()  # an engine that takes turns with training lets go of its memory
    number = groups[0].step if groups else min(run.drawn)
    numbers = run.drawn[number]
    run.drawn = {later: each for later, each in run.drawn.items() if later > number}
    return groups, numbers | {
        "staleness": _mean([float(run.learner.version - oldest(group)) for group in groups]),
        "groups/dropped": float(run.ahead.dropped),
    }


def sample(run: Run, step: int) -> tuple[list[Group], dict[str, float]]:
    """Play a step's groups; with dynamic sampling, until enough of them hold a signal.

    Every worker plays its share and gets them all.
    """
    config = run.config.sampling
    found: list[Group] = []
    drawn: list[Group] = []
    for attempt in range(config.max_rounds if config.dynamic_sampling else 1):
        proposals = propose(run, config.groups - len(found), step, attempt)
        for group in play(run, proposals, (step, attempt)):
            drawn.append(group)
            take_down(run, group)
            # As the environment paid them: that an answer was longer than others is no signal.
            if not config.dynamic_sampling or group.informative:
                found.append(group)
        if len(found) >= config.groups:
            break
    run.curriculum.end_step()
    found = found[: config.groups]  # a curriculum may have drawn more than were missing
    shown = evenly(drawn, run.config.output.samples, stream("samples", run.config.seed, step))
    run.metrics.samples(step + 1, shown)
    counts = {"groups/drawn": float(len(drawn)), "groups/kept": float(len(found))}
    return found, counts | summarise(drawn)


def propose(run: Run, missing: int, step: int, attempt: int) -> list[Proposal]:
    """Return what to pose next: what the curriculum wants, with problems of the source."""
    curriculum = run.curriculum
    if run.config.sampling.dynamic_sampling:
        missing = getattr(curriculum, "ahead", int)(missing)
    drawn = run.source.draw([curriculum.propose() for _ in range(missing)], step, attempt)
    allotted: list[Proposal] = getattr(curriculum, "allot", list)(drawn)
    return allotted


def play(run: Run, proposals: Sequence[Proposal], place: tuple[int, ...]) -> list[Group]:
    """Return a group for each proposal, which all workers together have played.

    After each round curriculum and callbacks are asked what else to play of a group.
    """
    groups = waiting = _round(run, proposals, place)
    turn = 0
    while wanted := [(group, asked) for group in waiting if (asked := _more(run, group))]:
        turn += 1
        waiting = [group for group, _ in wanted]
        extras = _round(run, [asked for _, asked in wanted], (*place, turn))
        for group, extra in zip(waiting, extras, strict=True):
            group.episodes += extra.episodes
    return groups


def _more(run: Run, group: Group) -> Proposal | None:
    """Return what else is to be played of a group: what the first that wants anything says."""
    more = getattr(run.curriculum, "more", None)
    if more is not None and (count := more(group)):
        return replace(group.proposal, samples=count)
    asked = (callback.more(run, group) for callback in run.callbacks)
    return next(filter(None, asked), None)


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
    task, difficulty = group.arm
    if task:
        run.curriculum.record(task, difficulty, group.unaided, group.proposal.problem)
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
    # Advantages that follow the weights join a group's answers, which then learn together.
    together: dict[int, list[int]] = {}
    for i in usable:
        together.setdefault(episodes[i].group if moving else i, []).append(i)
    units = list(together.values())
    for epoch in range(config.optimiser.epochs):
        order = stream("minibatches", config.seed, step, epoch).permutation(len(units)).tolist()
        for k in range(config.optimiser.minibatches):
            part = sorted(i for u in order[k :: config.optimiser.minibatches] for i in units[u])
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
        before = pad_sequence([old[i] for i in chunk], True) if old else logps.detach()
        demonstrated = torch.tensor([episodes[i].demonstrated for i in chunk]).to(given.mask)
        return LossInputs(
            logp=logps,
            old=before,
            sampled=given.sampled,
            mask=given.mask,
            advantages=by_token(config, advantages[places].to(logps), given.turns),
            weights=weights[places].to(logps),
            turns=given.turns,
            entropy=entropies,
            reference=reference,
            scores=torch.tensor([episodes[i].score for i in chunk]).to(logps),
            demonstrated=demonstrated,
            lag=given.lag(learner.version),
            scales=torch.ones_like(logps)
            if scales is None
            else by_token(config, scales[places].to(logps), given.turns),
            observed=observed,
            step=step,
            info=info_of([episodes[i] for i in chunk]),
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


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def evaluate(run: Run) -> dict[str, float]:
    """Return the held-out scores of the weights as they are; the first worker alone has them."""
    began, numbers = time.perf_counter(), dict[str, float]()
    if run.workers.is_main:
        numbers = held_out(run.config, run.sampler, run.chat, run.problems)
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
