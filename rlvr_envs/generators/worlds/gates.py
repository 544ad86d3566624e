"""What a question must pass: one answer, no idle constraint, no shortcut through one page."""

import re
from collections.abc import Iterator
from dataclasses import replace

from rlvr_envs.generators.worlds.plan import OF_GROUPS, PATH, Plan, Step, evaluate, value_kind
from rlvr_envs.generators.worlds.schema import RELATIONS
from rlvr_envs.generators.worlds.world import World
from rlvr_envs.generators.worlds.writing import Library


def consumers(plan: Plan) -> list[str]:
    """Say for every hop which op takes its values; the last hop has "" for none."""
    taken = [""] * len(plan)
    for hop in plan:
        for i in hop.inputs:
            taken[i] = hop.op
    return taken


def is_definite(plan: Plan, steps: list[Step]) -> bool:
    """Tell whether everything that the question speaks of as one thing is one thing."""
    for hop, step, taken in zip(plan, steps, consumers(plan), strict=True):
        if not step.values:
            return False
        if len(step.values) > 1 and taken not in OF_GROUPS and hop.op != "all":
            return False
    return True


def _before(plan: Plan, at: int) -> Iterator[int]:
    """Yield the hops that a path came through on its way to a hop, from there backwards."""
    while plan[at].op in PATH:
        at = plan[at].inputs[0]
        yield at


def _shorter(plan: Plan) -> Iterator[Plan]:
    """Yield the plans with a stretch of a path or one of two constraints dropped."""
    last = len(plan) - 1
    for at, hop in enumerate(plan):
        if at == last and hop.op == "both":
            yield from (plan[: kept + 1] for kept in hop.inputs)
        elif at < last:
            for kept in hop.inputs if hop.op == "both" else _before(plan, at):
                yield tuple(
                    replace(other, inputs=tuple(kept if i == at else i for i in other.inputs))
                    for other in plan
                )


def _returns(plan: Plan, steps: list[Step]) -> bool:
    """Tell whether the answer is also a stop on the way to it."""
    if plan[-1].op not in PATH or (plan[-1].relation and RELATIONS[plan[-1].relation].is_number):
        return False
    answer = steps[-1].values
    return any(not set(steps[at].values).isdisjoint(answer) for at in range(len(plan) - 1))


def leader(world: World, plan: Plan) -> tuple[int, ...]:
    """Return who comes first in the whole world by the number that the last hop compares."""
    last = plan[-1]
    numbers = {
        world.facts[indices[0]].subject: world.facts[indices[0]].value
        for subject in world.ranges[RELATIONS[last.relation].subject]
        if (indices := world.of.get((subject, last.relation)))
    }
    best = (max if last.op == "most" else min)(numbers.values())
    return tuple(subject for subject, number in numbers.items() if number == best)


def _meant(plan: Plan, steps: list[Step]) -> list[set[int]]:
    """Return what a plan comes to, for a comparison both sides of it: one may win by far."""
    if plan[-1].op in ("more", "less"):
        return [set(steps[i].values) for i in plan[-1].inputs]
    return [set(steps[-1].values)]


def is_tight(world: World, plan: Plan, steps: list[Step]) -> bool:
    """Tell whether the answer changes with every hop or constraint that one drops."""
    answer, last = set(steps[-1].values), plan[-1]
    meant = _meant(plan, steps)
    if _returns(plan, steps):
        return False
    if any(_meant(short, evaluate(world, short)) == meant for short in _shorter(plan)):
        return False
    if last.op in ("most", "least"):
        return answer.isdisjoint(leader(world, plan))
    if last.op == "at":
        office = evaluate(world, (*plan[:-1], replace(last, op="follow")))
        return len(office[-1].values) > 1
    return True


def shown(world: World, plan: Plan, steps: list[Step]) -> list[tuple[int, ...]]:
    """Return the facts that show the answer, a tuple for every hop that needs any.

    Of two groups that meet in one entity only the facts about this entity count: who has them
    has the answer.
    """
    if plan[-1].op != "both":
        return [step.facts for step in steps if step.facts]
    met = set(steps[-1].values)
    groups = set(plan[-1].inputs)
    kept = [
        tuple(f for f in step.facts if at not in groups or world.facts[f].subject in met)
        for at, step in enumerate(steps)
    ]
    return [facts for facts in kept if facts]


def named_entities(world: World, plan: Plan) -> set[int]:
    """Return the entities that the question names."""
    return {world.numbers[hop.entity] for hop in plan if hop.op == "name"}


def is_spread(library: Library, plan: Plan, evidence: list[tuple[int, ...]]) -> bool:
    """Tell whether no page that names what the question names shows more than one hop.

    Where one fact ends a path of several hops, its page must not name the start at all. What two
    named things have in common is meant to be on one page.
    """
    if len(evidence) < 2 or _is_direct(plan):
        return True
    told, starts = library.told, named_entities(library.world, plan)
    full: dict[int, int] = {}
    for facts in evidence:
        pages = {told[fact] for fact in facts}
        if len(pages) == 1:
            page = pages.pop()
            full[page] = full.get(page, 0) + 1
    if any(hops > 1 and not starts.isdisjoint(library.named[p]) for p, hops in full.items()):
        return False
    if len(starts) == 1 and len(evidence[-1]) == 1:
        return starts.isdisjoint(library.named[told[evidence[-1][0]]])
    return True


def _is_direct(plan: Plan) -> bool:
    """Tell whether a plan asks for what two named things have in common."""
    return plan[-1].op == "both" and all(
        plan[i].inputs == (i - 1,) and plan[i - 1].op == "name" for i in plan[-1].inputs
    )


def is_told_apart(world: World, plan: Plan, steps: list[Step]) -> bool:
    """Tell whether nothing else that the question comes across shares a name with an answer.

    A shared name alone is accepted for each of those who bear it: it would be right on both sides
    of a comparison.
    """
    if value_kind(plan) == "number":
        return True
    met: set[int] = set()
    for at, (hop, step) in enumerate(zip(plan, steps, strict=True)):
        if value_kind(plan[: at + 1]) == "number":
            continue
        met.update(step.values)
        if hop.op == "follow":
            met.update(world.conflicts[f].value for f in step.facts if f in world.conflicts)
    answers = set(steps[-1].values)
    names = {world.entities[entity].name for entity in answers}
    return not any(world.entities[entity].name in names for entity in met - answers)


def gives_away(text: str, answers: tuple[tuple[str, ...], ...]) -> bool:
    """Tell whether a question contains its answer, or one of several."""
    return any(
        re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text, re.IGNORECASE) is not None
        for forms in answers
        for form in forms
    )
