"""Checks of the difficulty levels: what solving costs, and what a simple baseline earns."""

import dataclasses
import itertools
import math
from collections import Counter
from statistics import fmean

from rlvr_envs.conformance.subject import Drawn, Subject, require, standard_error
from rlvr_envs.core.problem import hidden_fields
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status, Verdict

_SPREAD = (0, 5, 10)


def effort_grows(subject: Subject) -> None:
    """The mean effort grows from level 0 to 5 to 10; it is a number, and never negative."""
    subject.needs_generator()
    means = []
    for level in _SPREAD:
        found = [
            drawn.instance.task.effort(drawn.instance.problem)
            for drawn in subject.draw(subject.count(48), levels=(level,))
        ]
        require(
            all(math.isfinite(effort) and effort >= 0 for effort in found),
            f"an effort at level {level} is no number from 0: {found}",
        )
        means.append(fmean(found))
    require(
        means[0] < means[1] < means[2],
        f"the mean effort at the levels {_SPREAD} is {means}: it must grow",
    )


def baseline_is_fair(subject: Subject) -> None:
    """The baseline answers readably, and alike whatever the hidden fields of the problem hold."""
    subject.needs_generator()
    seen = list(subject.draw(subject.count(12), levels=(0, 3)))
    for drawn in seen:
        verdict = baseline_verdict(drawn)
        require(
            verdict.status is not Status.UNPARSABLE,
            f"problem_seed {drawn.instance.problem_seed}: the baseline's answer is not readable: "
            f"{verdict.detail}",
        )
    for one, other in itertools.pairwise(seen):
        if one.instance.interactive:
            break  # what a session answers depends on what is hidden
        problem = one.instance.problem
        secrets = hidden_fields(type(problem))
        changed = dataclasses.replace(
            problem, **{name: getattr(other.instance.problem, name) for name in secrets}
        )
        answers = [one.instance.task.baseline(stream("baseline"), p) for p in (problem, changed)]
        require(
            answers[0] == answers[1],
            f"problem_seed {one.instance.problem_seed}: the baseline looks at one of {secrets}",
        )


def baseline_gains_nothing(subject: Subject) -> None:
    """What the baseline earns does not rise from level 0 to 5 to 10, beyond chance."""
    subject.needs_generator()
    before: list[float] = []
    for level in _SPREAD:
        drawn = subject.draw(subject.count(48), levels=(level,))
        scores = [baseline_verdict(each).score for each in drawn]
        if before:
            noise = 2 * math.hypot(standard_error(before), standard_error(scores))
            require(
                fmean(scores) <= fmean(before) + noise,
                f"the baseline earns {fmean(scores):.3f} at level {level}, and {fmean(before):.3f} "
                "at the level before",
            )
        before = scores


def levels_differ(subject: Subject) -> None:
    """Neighbouring levels have other configurations and, from the same seeds, other problems."""
    subject.needs_generator()
    config_type = subject.task_type.Config
    for low, high in itertools.pairwise(range(11)):
        require(
            config_type.at(low) != config_type.at(high), f"levels {low} and {high} are the same"
        )
    for low, high in ((0, 1), (1, 2), (2, 3)):
        pairs = zip(*(subject.draw(3, levels=(level,)) for level in (low, high)), strict=True)
        require(
            any(one.instance.prompt() != other.instance.prompt() for one, other in pairs),
            f"seeds 0 to 2 give the same problems at the levels {low} and {high}",
        )


def level_zero_is_wide(subject: Subject) -> None:
    """Level 0 has as many distinct problems as the task says: few pairs of seeds coincide."""
    subject.needs_generator()
    count = 480 if subject.thorough else 160
    prompts = Counter(d.instance.prompt() for d in subject.draw(count, levels=(0,)))
    alike = sum(times * (times - 1) // 2 for times in prompts.values())
    least = subject.task_type.distinct_at_zero
    expected = count * (count - 1) / 2 / least
    require(
        alike <= expected + 2 * expected**0.5 + 1,
        f"of {count} problems at level 0 only {len(prompts)} are distinct, so there are fewer than "
        f"{least} in all: widen level 0, or state distinct_at_zero with its reason",
    )


def baseline_verdict(drawn: Drawn) -> Verdict:
    """Return what the task's baseline gets for a problem."""
    task, problem = drawn.instance.task, drawn.instance.problem
    rng = stream("baseline", drawn.instance.problem_seed or 0)
    return drawn.judged(task.baseline(rng, problem))
