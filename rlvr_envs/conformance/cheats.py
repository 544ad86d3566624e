"""Checks of what a model may try instead of a right answer, and of what it must not be told."""

import dataclasses
import itertools
import re
from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from rlvr_envs.conformance.shortcuts import rules
from rlvr_envs.conformance.subject import (
    Drawn,
    NotApplicable,
    Subject,
    require,
    standard_error,
)
from rlvr_envs.conformance.trouble import TROUBLE
from rlvr_envs.core.problem import hidden_fields
from rlvr_envs.core.verdict import Verdict

SHORTCUT_LEVELS = (0, 2, 5, 8)
_CONSTANTS = 8  # the most common answers are tried as constants


def trouble_earns_nothing(subject: Subject) -> None:
    """Answers that have broken graders never raise, never hang and never score."""
    few = subject.task_type.judged_in_sandbox and not subject.thorough
    for drawn in subject.draw(subject.count(3), levels=(3,) if few else (0, 3)):
        for name, text in TROUBLE.items():
            for response in (text, drawn.form.wrap(text)):
                verdict = drawn.instance.judge(response)
                require(
                    isinstance(verdict, Verdict) and verdict.score == 0.0 and verdict.scored,
                    f"the answer {name!r} got {verdict}",
                )


def buried_oracle_earns_nothing(subject: Subject) -> None:
    """The right text inside a longer answer, or without its format, earns nothing."""
    for drawn in subject.draw_answered(subject.count(12), levels=(0, 3)):
        wrap, reference = drawn.form.wrap, str(drawn.reference)
        sprayed = f"no idea, {reference}, 0, 1, 2"
        attempts = {
            "a guess list": wrap(sprayed),
            "a changed mind": f"{wrap(reference)} but then {wrap(sprayed)}",
            "an answer in the thoughts": f"<think>{wrap(reference)}</think> I give up.",
            "an alternative": wrap(f"{reference} or {reference}0 or 7"),
        }
        if drawn.instance.format_label != "raw":
            attempts["an answer without its format"] = reference
        for name, response in attempts.items():
            verdict = drawn.instance.judge(response)
            require(verdict.score == 0.0, f"{name} {response!r:.200} got {verdict}")


def prompt_shows_nothing_hidden(subject: Subject) -> None:
    """The prompt depends on public fields alone: another problem's secrets leave it unchanged."""
    seen = [drawn.instance for drawn in subject.draw(subject.count(18), levels=(0, 3))]
    secrets = hidden_fields(type(seen[0].problem))
    require(bool(secrets), "no field is hidden: declare the answer or witness with hidden()")
    for one, other in itertools.pairwise(seen):
        swapped = {name: getattr(other.problem, name) for name in secrets}
        changed = dataclasses.replace(one.problem, **swapped)
        require(
            one.task.prompt(changed) == one.task.prompt(one.problem),
            f"the prompt of problem_seed {one.problem_seed} changes with {secrets}",
        )


def details_keep_the_answer(subject: Subject) -> None:
    """What is said of a wrong answer, which may go back to the model, does not hold the right one.

    Short answers stand in many sentences by chance, so a third problem's are counted beside them.
    """
    seen = list(subject.draw_answered(subject.count(18), levels=(0, 3, 6)))
    looked = told = by_chance = 0
    for one, other, third in zip(seen, seen[1:], seen[2:], strict=False):
        right, wrong, elsewhere = (str(each.reference) for each in (one, other, third))
        verdict = one.judged(wrong)
        # what repeats a piece of the answer given tells nothing
        if verdict.score < 1.0 and not _says(wrong, right) and not _says(wrong, elsewhere):
            looked += 1
            told += _says(verdict.detail, right)
            by_chance += _says(verdict.detail, elsewhere)
    if not looked:
        raise NotApplicable("no other problem's answer is wrong here")
    require(
        told - by_chance <= looked / 4,
        f"of {looked} wrong answers' details {told} hold the right answer, and {by_chance} another "
        "problem's: say what is wrong, not what would be right",
    )


def _says(text: str, words: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(words.strip())}(?!\w)", text) is not None


def shortcuts_do_not_pay(subject: Subject) -> None:
    """Neither one constant answer nor a rule that reads the prompt alone earns more than the bound.

    Constants are the most common answers of half of the problems, tried on the other half; the
    rules are those of `rlvr_envs.conformance.shortcuts`.
    """
    subject.needs_generator()
    bound = subject.task_type.shortcut_bound
    for level in SHORTCUT_LEVELS:
        count = subject.count(240 if level == 0 else 60)
        seen = list(subject.draw_answered(count, levels=(level,)))
        for name, scores in shortcut_scores(seen).items():
            require(
                fmean(scores) <= bound + 2 * standard_error(scores),
                f"{name} earns {fmean(scores):.3f} on average at level {level}, and the bound is "
                f"{bound}: widen what is drawn, or state a bound with its reason",
            )


def shortcut_scores(seen: Sequence[Drawn]) -> dict[str, list[float]]:
    """Return what each shortcut earns on problems of one level, by its name."""
    half = len(seen) // 2
    common = Counter(str(drawn.reference) for drawn in seen[:half]).most_common(_CONSTANTS)
    found = {
        f"always answering {constant!r:.80}": [
            drawn.judged(constant).score for drawn in seen[half:]
        ]
        for constant, _ in common
    }
    for drawn in seen:
        for name, answer in rules(drawn.instance.task.prompt(drawn.instance.problem)).items():
            found.setdefault(f"answering with the {name}", []).append(drawn.judged(answer).score)
    return {name: scores for name, scores in found.items() if len(scores) >= max(2, half / 2)}
