"""Checks of what a model may try instead of a right answer, and of what it must not be told."""

import dataclasses
import itertools
import re
from collections import Counter

from rlvr_envs.conformance.subject import NotApplicable, Subject, require
from rlvr_envs.conformance.trouble import TROUBLE
from rlvr_envs.core.problem import hidden_fields
from rlvr_envs.core.verdict import Verdict

_FORMULA = re.compile(r"\$\$([^$]+)\$\$|\$([^$]+)\$")


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
        verdict = one.instance.judge(one.form.wrap(wrong))
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


def guessing_does_not_pay(subject: Subject) -> None:
    """The best constant answer, chosen on some problems, earns little on others."""
    subject.needs_generator()
    count = subject.count(240)
    seen = list(subject.draw_answered(count, levels=(3,)))
    chosen, judged = seen[: count // 2], seen[count // 2 :]
    constant = Counter(str(drawn.reference) for drawn in chosen).most_common(1)[0][0]
    response = seen[0].form.wrap(constant)
    mean = sum(drawn.instance.judge(response).score for drawn in judged) / len(judged)
    bound = subject.task_type.guess_bound
    require(
        mean <= bound,
        f"always answering {constant!r} earns {mean:.2f}, more than {bound} on average",
    )


def echoing_does_not_pay(subject: Subject) -> None:
    """Pieces of the prompt, handed back as the answer, earn no more than guessing."""
    subject.needs_generator()
    earned: dict[str, list[float]] = {}
    for drawn in subject.draw_answered(subject.count(90), levels=(0, 3)):
        text = drawn.instance.task.prompt(drawn.instance.problem)
        formulas = [a or b for a, b in _FORMULA.findall(text)] or [text]
        echoes = {
            "whole prompt": text,
            "first formula": formulas[0],
            "last formula": formulas[-1],
            "longest formula": max(formulas, key=len),
            "right-hand side": formulas[-1].split("=")[-1],
        }
        scores = {
            echo: drawn.instance.judge(drawn.form.wrap(echo)).score for echo in {*echoes.values()}
        }
        for name, echo in echoes.items():
            earned.setdefault(name, []).append(scores[echo])
    bound = subject.task_type.guess_bound
    for name, found in earned.items():
        mean = sum(found) / len(found)
        require(mean <= bound, f"answering with the {name} earns {mean:.2f} on average")
