"""Paths of a question: from an entity that it names to one that it means."""

from dataclasses import dataclass

from rlvr_envs.generators.worlds.dice import Dice
from rlvr_envs.generators.worlds.facts import Fact
from rlvr_envs.generators.worlds.plan import Hop, Plan
from rlvr_envs.generators.worlds.schema import LINKS, RELATIONS, TYPES
from rlvr_envs.generators.worlds.world import World
from rlvr_envs.generators.worlds.writing import Library

_LINKS_INTO = {
    kind: tuple(name for names in LINKS.values() for name in names if RELATIONS[name].value == kind)
    for kind in TYPES
}


@dataclass(frozen=True, slots=True)
class Source:
    """What questions are drawn from."""

    library: Library
    dice: Dice
    luck: float  # in [0, 1): what a kind decides once for a question, however many draws fail

    @property
    def world(self) -> World:
        """The world that the pages tell of."""
        return self.library.world

    def fact(self) -> Fact:
        """Draw a fact."""
        return self.dice.pick(self.world.facts)

    def fact_of(self, relation: str) -> Fact | None:
        """Draw a fact of this relation, None where the draws find none."""
        for _ in range(40):
            fact = self.fact()
            if fact.relation == relation:
                return fact
        return None


def path_to(source: Source, target: int, hops: int) -> Plan | None:
    """Draw a path of so many links that ends at an entity, None where it comes to a stop."""
    world = source.world
    relations: list[str] = []
    seen = {target}
    at = target
    for _ in range(hops):
        into = [
            index for name in _LINKS_INTO[world.kind(at)] for index in world.to.get((name, at), ())
        ]
        if not into:
            return None
        fact = world.facts[source.dice.pick(into)]
        if fact.subject in seen:
            return None
        relations.append(fact.relation)
        at = fact.subject
        seen.add(at)
    plan = [Hop("name", entity=_called(source, at))]
    plan += [Hop("follow", (i,), name) for i, name in enumerate(reversed(relations))]
    return tuple(plan)


def _called(source: Source, entity: int) -> str:
    """Draw the name by which a question calls an entity: its second one more often than pages do.

    A search for a second name mostly brings up other pages than its own first.
    """
    found = source.world.entities[entity]
    rate = 3 * source.world.spec.alias_use
    return found.alias if found.alias and source.dice.chance(rate) else found.label


def extend(plan: Plan, op: str, relation: str = "", year: int = 0) -> Plan:
    """Add a hop that goes on from the last one."""
    return (*plan, Hop(op, (len(plan) - 1,), relation, year=year))


def join(first: Plan, second: Plan, op: str, relation: str = "") -> Plan:
    """Put two plans beside each other and add a hop that takes the last values of both."""
    shift = len(first)
    moved = tuple(
        Hop(hop.op, tuple(i + shift for i in hop.inputs), hop.relation, hop.entity, hop.year)
        for hop in second
    )
    ends = (shift - 1, shift + len(second) - 1)
    return (*first, *moved, Hop(op, ends, relation))
