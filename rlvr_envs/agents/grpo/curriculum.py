"""The curricula of `rlvr_envs.curricula` as plug-ins, over the tasks and levels of a run.

What a curriculum takes: ``seed``; ``tasks``, full ids, a mixture's among them, and ``weights``,
their shares; ``arms``, pairs of a task and a level, and ``shares``, theirs; ``low`` and ``high``,
the ends of the levels; ``steps`` of the run; ``free``, whether the rows of a file say what comes;
``climb``, for those that go up level by level: ``climb(make)`` is the curriculum that ``make(low,
high)`` returns, held to the levels of a file where its rows are trained on; ``inner``, which makes
the curriculum of a text, for those that go around another one; and ``draw``, which returns so many
different problems to train on, by the shares.
"""
# ruff: noqa: PLR0913 - what a curriculum is handed and its settings are all parameters

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.plugins import curriculum
from rlvr_envs.agents.grpo.problems import Cell, Problems, expand
from rlvr_envs.agents.grpo.sources import fresh
from rlvr_envs.core.seeding import stream
from rlvr_envs.curricula import (
    AdaptiveGroup,
    AdaptiveGroups,
    Control,
    Curation,
    Curriculum,
    Dump,
    Fixed,
    GrowingHorizon,
    HardBrittlePairs,
    HardFocus,
    LearningProgress,
    Linear,
    OnLevels,
    Oversampled,
    PassRateBins,
    PromptGdro,
    Proposal,
    RisingWindow,
    RolloutGdro,
    Stage,
    StagedDomains,
    SuccessBand,
    Weakness,
)

Inner = Callable[[str], Curriculum]
Climb = Callable[[Callable[[int, int], Curriculum]], Curriculum]
Draw = Callable[[int], list[Proposal]]

T = TypeVar("T")

_TRIES = 20  # draws for each problem that is wanted


def make_curriculum(config: Config, problems: Problems) -> Curriculum:
    """Return the curriculum that a configuration names.

    Raises:
        ConfigError: there is none of that name, or its settings do not fit.
    """
    levels = [level for _, level in problems.cells if level is not None]
    low, high = min(levels, default=0), max(levels, default=0)
    tasks = tuple(problems.knobs)
    known: dict[str, Any] = {
        "seed": config.seed,
        "tasks": tasks,
        "arms": tuple(problems.cells),
        "weights": tuple(problems.weights[task] for task in tasks),
        "shares": shares_of(problems),
        "low": low,
        "high": high,
        "steps": config.optimiser.steps,
        "free": bool(problems.rows) and not config.data.tasks,
        "climb": lambda make: climbing(make, problems, low, high),
        "draw": lambda count: different(problems, count, config.seed),
    }

    def inner(text: str) -> Curriculum:
        made: Curriculum = curriculum.choose(text)(known)
        return made

    known["inner"] = inner
    return inner(config.data.curriculum)


def climbing(
    make: Callable[[int, int], Curriculum], problems: Problems, low: int, high: int
) -> Curriculum:
    """Return the curriculum that is made of the lowest and the highest level.

    Among the rows of a file it counts the levels that they have, which need not begin at 0 nor
    follow each other; rows of data sets have none.
    """
    if not problems.rows:
        return make(low, high)
    levels = {
        task: [level for name, level in problems.cells if name == task and level is not None]
        for task in problems.knobs
    }
    return OnLevels(make(0, max(1, *map(len, levels.values())) - 1), levels)


def different(problems: Problems, count: int, seed: int) -> list[Proposal]:
    """Return so many different problems to train on, or fewer where there seem to be no more."""
    arms = [Proposal(task=task, difficulty=level) for task, level in problems.cells]
    kinds = Fixed(arms, shares_of(problems))
    found: dict[tuple[str | None, object], Proposal] = {}
    for number in range(_TRIES * count):
        proposal = fresh(problems, kinds.propose(), stream("different", seed, number))
        found.setdefault((proposal.task, proposal.problem), proposal)
        if len(found) == count:
            break
    return list(found.values())


def shares_of(problems: Problems) -> tuple[float, ...]:
    """Return the share of each arm: of its task's, which all of its levels have alike."""
    count = Counter(task for task, _ in problems.cells)
    return tuple(problems.weights[task] / count[task] for task, _ in problems.cells)


@curriculum
def fixed(arms: Sequence[Cell], shares: Sequence[float], free: bool, seed: int) -> Fixed:
    """Each task by its weight, each of its levels alike; or the rows of a file as they come."""
    if free:
        return Fixed([Proposal()], seed=seed)
    proposals = [Proposal(task=task, difficulty=level) for task, level in arms]
    return Fixed(proposals, shares, seed)


@curriculum
def linear(
    tasks: Sequence[str],
    weights: Sequence[float],
    climb: Climb,
    steps: int,
    seed: int,
    *,
    over_steps: int | None = None,
) -> Curriculum:
    """Climb from the lowest level to the highest, by default in the steps of the run."""

    def make(low: int, high: int) -> Linear:
        taken = over_steps or steps
        return Linear(tasks, start=low, end=high, steps=taken, weights=weights, seed=seed)

    return climb(make)


@curriculum
def rising_window(
    tasks: Sequence[str],
    weights: Sequence[float],
    climb: Climb,
    seed: int,
    *,
    width: int = 4,
    promote_at: float = 0.9,
    least_scores: int = 64,
) -> Curriculum:
    """Draw from the highest levels reached, and add one when the top is mastered (RLVE)."""

    def make(low: int, high: int) -> RisingWindow:
        return RisingWindow(
            tasks,
            start=low,
            width=width,
            promote_at=promote_at,
            least_scores=least_scores,
            weights=weights,
            seed=seed,
        )

    return climb(make)


@curriculum
def success_band(
    tasks: Sequence[str],
    weights: Sequence[float],
    climb: Climb,
    seed: int,
    *,
    target: float = 0.5,
    gain: float = 2.0,
    most: float = 1.0,
    active: int | None = None,
    patience: int = 5,
    trend: int = 20,
) -> Curriculum:
    """Move each task's level until the target share succeeds; swap tasks that stall (SCALER)."""

    def make(low: int, high: int) -> SuccessBand:
        return SuccessBand(
            dict.fromkeys(tasks, high),
            control=Control(target=target, gain=gain, most=most),
            curation=Curation(active=active or len(tasks), patience=patience, trend=trend),
            weights=weights,
            seed=seed,
        )

    return climb(make)


@curriculum
def dump(
    arms: Sequence[Cell],
    shares: Sequence[float],
    seed: int,
    *,
    window: int = 300,
    temperature: float = 0.1,
) -> Dump:
    """Go where absolute advantages are large (DUMP)."""
    return Dump(arms, window=window, temperature=temperature, weights=shares, seed=seed)


@curriculum
def weakness(
    arms: Sequence[Cell],
    shares: Sequence[float],
    seed: int,
    *,
    survey_steps: int = 10,
    threshold: float = 0.5,
    window: int = 32,
    floor: float = 0.1,
) -> Weakness:
    """Draw tasks and levels in proportion to how often they fail (SwS)."""
    return Weakness(
        arms,
        survey_steps=survey_steps,
        threshold=threshold,
        window=window,
        floor=floor,
        weights=shares,
        seed=seed,
    )


@curriculum
def learning_progress(
    arms: Sequence[Cell],
    shares: Sequence[float],
    seed: int,
    *,
    window: int = 16,
    floor: float = 0.2,
) -> LearningProgress:
    """Draw tasks and levels in proportion to how much their scores change (ALP)."""
    return LearningProgress(arms, window=window, floor=floor, weights=shares, seed=seed)


@curriculum
def staged(
    arms: Sequence[Cell],
    tasks: Sequence[str],
    weights: Sequence[float],
    steps: int,
    seed: int,
    *,
    stages: tuple[str, ...] = (),
    lengths: tuple[int | None, ...] = (),
    promote_at: tuple[float | None, ...] = (),
    response_tokens: tuple[int | None, ...] = (),
    horizon: tuple[int | None, ...] = (),
    window: int = 10,
) -> StagedDomains:
    """One stage after the other (AceReason): tasks by stage, "Gcd-v0 Math-v0", and its limits.

    Without ``stages`` each task is one. ``lengths`` in steps and the others are one for each stage;
    the last stage has no end. What says neither length nor ``promote_at`` has its part of the run.
    """
    part = max(1, steps // len(stages or tasks))
    share = dict(zip(tasks, weights, strict=True))
    made = []

    def at(given: Sequence[T | None], place: int) -> T | None:
        return given[place] if place < len(given) else None

    for place, text in enumerate(stages or tasks):
        own = tuple(expand(text.split())[0])
        length, success = at(lengths, place), at(promote_at, place)
        length = part if length is None and success is None else length
        levels = {level for task, level in arms if task in own and level is not None}
        made.append(
            Stage(
                tasks=own,
                steps=length,
                promote_at=success,
                difficulty=tuple(sorted(levels)),
                response_tokens=at(response_tokens, place),
                horizon=at(horizon, place),
                weights=tuple(share.get(task, 1.0) for task in own),
            )
        )
    return StagedDomains(made, window=window, seed=seed)


@curriculum
def growing_horizon(
    inner: Inner,
    *,
    stages: tuple[int, ...] = (10, 20, 30),
    steps_per_stage: int | None = 100,
    promote_at: float | None = None,
    window: int = 10,
    over: str = "fixed",
) -> GrowingHorizon:
    """More turns, stage by stage (ScalingInter-RL), around another curriculum."""
    return GrowingHorizon(
        stages,
        steps_per_stage=steps_per_stage,
        promote_at=promote_at,
        window=window,
        over=inner(over),
    )


@curriculum
def adaptive_group(
    inner: Inner,
    *,
    mode: Literal["positive", "balanced"] = "balanced",
    keep: int = 4,
    batch: int = 8,
    rounds: int = 4,
    positive_above: float = 0.7,
    over: str = "fixed",
) -> AdaptiveGroups:
    """Sample each problem until its group holds a signal (Reinforce-Ada)."""
    group = AdaptiveGroup(
        mode, keep=keep, batch=batch, rounds=rounds, positive_above=positive_above
    )
    return AdaptiveGroups(inner(over), group=group)


@curriculum
def prompt_gdro(
    arms: Sequence[Cell],
    shares: Sequence[float],
    inner: Inner,
    seed: int,
    *,
    use: Literal["weights", "draws"] = "weights",
    by: Literal["level", "problem"] = "level",
    edges: tuple[float, ...] = (0.4, 0.75),
    window: int = 50,
    margin: float = 0.0,
    eta: float = 0.65,
    gamma: float = 0.01,
    beta: float = 0.4,
    over: str = "fixed",
) -> PromptGdro:
    """More weight, or more draws, for pass-rate bins that stay hard (Prompt-GDRO)."""
    return PromptGdro(
        arms,
        over=inner(over) if use == "weights" else None,
        by=by,
        bins=PassRateBins(edges, window, margin),
        eta=eta,
        gamma=gamma,
        beta=beta,
        weights=shares,
        seed=seed,
    )


@curriculum
def rollout_gdro(
    inner: Inner,
    *,
    mean: int = 4,
    least: int = 2,
    beta: float = 0.1,
    by: Literal["level", "problem"] = "level",
    edges: tuple[float, ...] = (0.2, 0.4, 0.6, 0.8),
    window: int = 50,
    over: str = "fixed",
) -> RolloutGdro:
    """Larger groups where scores vary most, at one budget (Rollout-GDRO)."""
    bins = PassRateBins(edges, window)
    return RolloutGdro(inner(over), mean=mean, least=least, beta=beta, by=by, bins=bins)


@curriculum
def hard_focus(
    draw: Draw,
    seed: int,
    *,
    problems: int = 256,
    broad_steps: int = 50,
    phases: tuple[tuple[int, int], ...] = ((50, 64), (50, 16)),
    samples: int = 8,
    focus_samples: int = 64,
) -> HardFocus:
    """Many episodes of the problems that stay hardest, in phases of (steps, problems) (DRIVE)."""
    found = draw(problems)  # fewer, where a data set is small
    return HardFocus(
        found,
        broad_steps=broad_steps,
        phases=[(steps, min(kept, len(found))) for steps, kept in phases],
        samples=samples,
        focus_samples=focus_samples,
        seed=seed,
    )


@curriculum
def pairs(
    draw: Draw,
    seed: int,
    *,
    problems: int = 64,
    hard: float = 0.3,
    brittle: float = 0.7,
    window: int = 32,
    amplify: float = 2.0,
) -> HardBrittlePairs:
    """Hard but solvable and easy but brittle problems in turn, rare outcomes weighted (W-GRPO)."""
    return HardBrittlePairs(
        draw(problems), hard=hard, brittle=brittle, window=window, amplify=amplify, seed=seed
    )


@curriculum
def oversampled(
    inner: Inner, *, most: float = 4.0, beta: float = 0.3, over: str = "fixed"
) -> Oversampled:
    """Draw as many groups at a time as the share with a signal suggests (CodeV-R1)."""
    return Oversampled(inner(over), most=most, beta=beta)
