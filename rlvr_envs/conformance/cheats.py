"""Checks of what a model may try instead of a right answer, and of what it must not be told."""

import dataclasses
import itertools
import re
from collections import Counter

from rlvr_envs.conformance.look import (
    NotApplicable,
    draw,
    draw_answered,
    how_many,
    needs_generator,
    require,
)
from rlvr_envs.conformance.trouble import TROUBLE
from rlvr_envs.core import registry
from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.problem import public_view
from rlvr_envs.core.task import IndexedTask
from rlvr_envs.core.verdict import Verdict

_FORMULA = re.compile(r"\$\$([^$]+)\$\$|\$([^$]+)\$")


def trouble_earns_nothing(task_id: str) -> None:
    """Answers that have broken graders never raise, never hang and never score."""
    for instance in draw(task_id, how_many(task_id, 2), rungs=(0, 5)):
        form = answer_format(instance.format_label)
        for name, text in TROUBLE.items():
            for response in (text, form.wrap(text)):
                verdict = instance.judge(response)
                require(
                    isinstance(verdict, Verdict) and verdict.score == 0.0 and verdict.scored,
                    f"the answer {name!r} got {verdict}",
                )


def buried_oracle_earns_nothing(task_id: str) -> None:
    """The right text inside a longer answer, or without its format, earns nothing."""
    for instance in draw_answered(task_id, 4, rungs=(0, 3)):
        form = answer_format(instance.format_label)
        reference = str(instance.reference())
        sprayed = f"no idea, {reference}, 0, 1, 2"
        attempts = {
            "a guess list": form.wrap(sprayed),
            "a changed mind": f"{form.wrap(reference)} but then {form.wrap(sprayed)}",
            "an answer in the thoughts": f"<think>{form.wrap(reference)}</think> I give up.",
            "an alternative": form.wrap(f"{reference} or {reference}0 or 7"),
        }
        if instance.format_label != "raw":
            attempts["an answer without its format"] = reference
        for name, response in attempts.items():
            verdict = instance.judge(response)
            require(verdict.score == 0.0, f"{name} {response!r:.200} got {verdict}")


def prompt_shows_nothing_hidden(task_id: str) -> None:
    """The prompt depends on public fields alone: another problem's secrets leave it unchanged."""
    seen = list(draw(task_id, 6, rungs=(0, 4)))
    secret = [
        field.name
        for field in dataclasses.fields(seen[0].problem)
        if field.name not in public_view(seen[0].problem)
    ]
    require(bool(secret), "no field is hidden: declare the answer or witness with hidden()")
    for one, other in itertools.pairwise(seen):
        swapped = {name: getattr(other.problem, name) for name in secret}
        changed = dataclasses.replace(one.problem, **swapped)
        require(
            one.task.prompt(changed) == one.task.prompt(one.problem),
            f"the prompt of problem_seed {one.problem_seed} changes with {secret}",
        )


def details_keep_the_answer(task_id: str) -> None:
    """What is said of a wrong answer, which may go back to the model, does not hold the right one.

    Short answers stand in many sentences by chance, so a third problem's are counted beside them.
    """
    seen = list(draw_answered(task_id, how_many(task_id, 6), rungs=(0, 3, 6)))
    looked = told = by_chance = 0
    for one, other, third in zip(seen, seen[1:], seen[2:], strict=False):
        right, wrong, elsewhere = (str(each.reference()) for each in (one, other, third))
        verdict = one.judge(answer_format(one.format_label).wrap(wrong))
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


def guessing_does_not_pay(task_id: str) -> None:
    """The best constant answer, chosen on some problems, earns little on others."""
    count = how_many(task_id, 120)
    instances = [i for i in draw(task_id, count, rungs=(3,)) if not i.interactive]
    if not instances or issubclass(registry.find(task_id).task_type, IndexedTask):
        raise NotApplicable("it is interactive, or its problems are the rows of a file")
    chosen, judged = instances[: count // 2], instances[count // 2 :]
    constant = Counter(str(i.reference()) for i in chosen).most_common(1)[0][0]
    wrapped = answer_format(instances[0].format_label).wrap(constant)
    mean = sum(i.judge(wrapped).score for i in judged) / len(judged)
    bound = registry.find(task_id).task_type.guess_bound
    require(
        mean <= bound,
        f"always answering {constant!r} earns {mean:.2f}, more than {bound} on average",
    )


def echoing_does_not_pay(task_id: str) -> None:
    """Pieces of the prompt, handed back as the answer, earn no more than guessing."""
    needs_generator(task_id)
    earned: dict[str, list[float]] = {}
    for instance in draw_answered(task_id, 30, rungs=(0, 3)):
        form = answer_format(instance.format_label)
        text = instance.task.prompt(instance.problem)
        formulas = [a or b for a, b in _FORMULA.findall(text)] or [text]
        echoes = {
            "whole prompt": text,
            "first formula": formulas[0],
            "last formula": formulas[-1],
            "longest formula": max(formulas, key=len),
            "right-hand side": formulas[-1].split("=")[-1],
        }
        for name, echo in echoes.items():
            earned.setdefault(name, []).append(instance.judge(form.wrap(echo)).score)
    bound = registry.find(task_id).task_type.guess_bound
    for name, scores in earned.items():
        mean = sum(scores) / len(scores)
        require(mean <= bound, f"answering with the {name} earns {mean:.2f} on average")
