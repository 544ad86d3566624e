"""The words of a question, made from its plan."""

from collections.abc import Mapping

from rlvr_envs.generators.worlds.dice import Dice
from rlvr_envs.generators.worlds.plan import Hop, Plan
from rlvr_envs.generators.worlds.schema import PLURALS, RELATIONS, Relation

Words = Mapping[str, Relation]  # the relations by name, in the words of one question


def phrase(plan: Plan, at: int, *, short: bool = False, words: Words = RELATIONS) -> str:
    """Name the one value of a hop, for example "the teacher of Anna Vell"."""
    hop = plan[at]
    if hop.op == "name":
        return hop.entity
    relation = words[hop.relation]
    inner = phrase(plan, hop.inputs[0], short=short, words=words)
    if hop.op == "back":
        return f"the {relation.subject} {relation.clause.format(x=inner)}"
    return ((short and relation.short) or relation.noun).format(x=inner)


def _kind(plan: Plan, at: int) -> str:
    """Say what the values of a hop are, in the singular."""
    hop = plan[at]
    if hop.op == "both":
        return _kind(plan, hop.inputs[0])
    relation = RELATIONS[hop.relation]
    return relation.subject if hop.op == "back" else relation.value


def _predicate(plan: Plan, at: int, words: Words, *, several: bool) -> str:
    """Say what holds of the members of a group, for example "were born in Velburg"."""
    hop = plan[at]
    if hop.op == "both":
        return " and ".join(_predicate(plan, i, words, several=several) for i in hop.inputs)
    relation = words[hop.relation]
    inner = phrase(plan, hop.inputs[0], words=words)
    return (relation.several if several else relation.one).format(x=inner)


def _follow(plan: Plan, hop: Hop, dice: Dice, words: Words) -> str:
    relation = words[hop.relation]
    if dice.chance(0.5):
        return relation.ask.format(x=phrase(plan, hop.inputs[0], words=words))
    lead = {"person": "Who", "year": "What", "amount": "What"}.get(
        relation.value, f"Which {relation.value}"
    )
    return f"{lead} is {phrase(plan, len(plan) - 1, words=words)}?"


def _which(plan: Plan, at: int, words: Words) -> str:
    return f"Which {_kind(plan, at)} {_predicate(plan, at, words, several=False)}?"


def _ranked(plan: Plan, hop: Hop, words: Words) -> str:
    measure = words[hop.relation]
    told = measure.most if hop.op == "most" else measure.least
    who = "who" if measure.subject == "person" else "that"
    shared = _predicate(plan, hop.inputs[0], words, several=True)
    return f"Of all the {PLURALS[measure.subject]} {who} {shared}, which one {told}?"


def _compared(plan: Plan, hop: Hop, dice: Dice, words: Words) -> str:
    measure = words[hop.relation]
    told = measure.more if hop.op == "more" else measure.less
    first, second = (phrase(plan, i, words=words) for i in hop.inputs)
    if dice.chance(0.5):
        return f"Which {measure.subject} {told}: {first} or {second}?"
    who = "who" if measure.subject == "person" else "which"
    return f"Of {first} and {second}, {who} {told}?"


def _calculated(plan: Plan, hop: Hop, words: Words) -> str:
    if hop.op == "sum":
        first, second = (phrase(plan, i, words=words) for i in hop.inputs)
        return f"What is {first} plus {second}?"
    moments = []
    for i in hop.inputs:
        inner = phrase(plan, plan[i].inputs[0], words=words)
        moments.append(words[plan[i].relation].moment.format(x=inner))
    return f"How many years lie between {moments[0]} and {moments[1]}?"


def _grouped(plan: Plan, hop: Hop, words: Words) -> str:
    group = hop.inputs[0]
    members, told = PLURALS[_kind(plan, group)], _predicate(plan, group, words, several=True)
    if hop.op == "count":
        return f"How many {members} {told}?"
    return f"Which {members} {told}? Name all of them."


def question_text(plan: Plan, dice: Dice, words: Words = RELATIONS) -> str:
    """Write the question that a plan answers."""
    hop = plan[-1]
    if hop.op == "follow":
        return _follow(plan, hop, dice, words)
    if hop.op == "at":
        inner = phrase(plan, hop.inputs[0], words=words)
        return words[hop.relation].ask.format(x=inner, year=hop.year)
    if hop.op in ("back", "both"):
        return _which(plan, len(plan) - 1, words)
    if hop.op in ("most", "least"):
        return _ranked(plan, hop, words)
    if hop.op in ("more", "less"):
        return _compared(plan, hop, dice, words)
    last = _calculated if hop.op in ("sum", "gap") else _grouped
    return last(plan, hop, words)
