"""Plans: what a question asks for, as data, and their values in a world.

A plan is a tuple of hops, each of which names the earlier hops that it takes its values from:

    name     the entity that the question names
    follow   the value of a relation                  back   the subjects with that value
    at       the value that held in a year            both   what is in two groups
    most     who of a group has the greatest number   least  the smallest
    more     the greater of two                       less   the smaller
    count    how many                                 all    the whole group
    sum      two numbers together                     gap    the distance of two years
"""

from dataclasses import dataclass

from rlvr_envs.generators.worlds.schema import RELATIONS
from rlvr_envs.generators.worlds.world import World

GREATEST = ("most", "more")
RANKED = ("most", "least", "more", "less")
PATH = ("follow", "at", "back")  # ops that go along one relation
OF_GROUPS = ("both", "most", "least", "count", "all")  # ops that take any number of values


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of a plan; `inputs` are the places of earlier hops in it."""

    op: str
    inputs: tuple[int, ...] = ()
    relation: str = ""
    entity: str = ""  # the label or the second name, where the question names one
    year: int = 0


Plan = tuple[Hop, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """What a hop comes to: its values, without repetition, and the facts that show them."""

    values: tuple[int, ...]
    facts: tuple[int, ...] = ()


_NOTHING = Step(())


def evaluate(world: World, plan: Plan) -> list[Step]:
    """Work out every hop of a plan; a hop without a definite value has no values."""
    steps: list[Step] = []
    for hop in plan:
        steps.append(_value(world, hop, [steps[i] for i in hop.inputs]))
    return steps


def _value(world: World, hop: Hop, inputs: list[Step]) -> Step:
    if hop.op == "name":
        return Step((world.numbers[hop.entity],))
    if hop.op in PATH:
        return _along(world, hop, inputs[0].values)
    if hop.op in RANKED:
        return _best(world, hop, [value for step in inputs for value in step.values])
    return _combined(hop.op, [step.values for step in inputs])


def _combined(op: str, inputs: list[tuple[int, ...]]) -> Step:
    """Work out the ops that need no fact beyond their inputs."""
    first, second = inputs[0], inputs[-1]
    if op == "all":
        return Step(first)
    if op == "count":
        return Step((len(first),))
    if op == "both":
        return Step(tuple(value for value in first if value in second))
    if len(first) != 1 or len(second) != 1:
        return _NOTHING
    return Step((first[0] + second[0] if op == "sum" else abs(first[0] - second[0]),))


def _along(world: World, hop: Hop, values: tuple[int, ...]) -> Step:
    found: dict[int, None] = {}
    used: list[int] = []
    for value in values:
        key = (hop.relation, value)
        indices = world.to.get(key) if hop.op == "back" else world.of.get((value, hop.relation))
        for index in indices or ():
            fact = world.facts[index]
            if hop.op != "at" or fact.start < hop.year < fact.end:
                found[fact.subject if hop.op == "back" else fact.value] = None
                used.append(index)
    return Step(tuple(found), tuple(used))


def _best(world: World, hop: Hop, group: list[int]) -> Step:
    used: list[int] = []
    for entity in group:
        indices = world.of.get((entity, hop.relation))
        if not indices:
            return _NOTHING
        used.append(indices[0])
    if not used:
        return _NOTHING
    numbers = [world.facts[index].value for index in used]
    best = max(numbers) if hop.op in GREATEST else min(numbers)
    values = [entity for entity, number in zip(group, numbers, strict=True) if number == best]
    return Step(tuple(values), tuple(used))


def value_kind(plan: Plan) -> str:
    """Say whether the last hop gives entities ("name") or a number."""
    last = plan[-1]
    if last.op in ("count", "sum", "gap"):
        return "number"
    if last.op == "follow" and RELATIONS[last.relation].is_number:
        return "number"
    return "name"
