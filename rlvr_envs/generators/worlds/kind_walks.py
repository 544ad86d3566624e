"""Questions along one path: chain, inverse, temporal and unanswerable.

Each function draws a plan with so many hops, or None where the draw leads nowhere.
"""

from rlvr_envs.generators.worlds.paths import Source, extend, path_to
from rlvr_envs.generators.worlds.plan import Plan
from rlvr_envs.generators.worlds.schema import LINKS, MEASURES, RELATIONS, Relation

# The answer "there is none" must not pay. It is looked for in this share of the questions, and
# found in about three quarters of these: many relations have no gap in a small world.
_MISSING_RATE = 0.17
_DRAWS = 40


def chain(source: Source, hops: int) -> Plan | None:
    """Follow two functional relations or more, the last of them to an entity or a number."""
    return _walk(source, max(2, hops))


def _walk(source: Source, hops: int) -> Plan | None:
    fact = source.fact()
    if not RELATIONS[fact.relation].functional:
        return None
    path = path_to(source, fact.subject, hops - 1)
    return path and extend(path, "follow", fact.relation)


def inverse(source: Source, hops: int) -> Plan | None:
    """Ask for the only subject with a value, at the end of a path or before its last hop."""
    world, fact = source.world, source.fact()
    if RELATIONS[fact.relation].is_number or RELATIONS[fact.relation].timed:
        return None
    if len(world.to[fact.relation, fact.value]) != 1:
        return None
    onward = hops > 1 and source.dice.chance(0.5)
    path = path_to(source, fact.value, hops - (2 if onward else 1))
    if path is None:
        return None
    plan = extend(path, "back", fact.relation)
    if not onward:
        return plan
    kind = world.kind(fact.subject)
    return extend(plan, "follow", source.dice.pick(LINKS[kind] + MEASURES[kind]))


def temporal(source: Source, hops: int) -> Plan | None:
    """Ask who held an office in a year within a term, so that no two terms meet in it."""
    fact = source.fact()
    if not RELATIONS[fact.relation].timed:
        return None
    path = path_to(source, fact.subject, hops - 1)
    year = source.dice.between(fact.start + 1, fact.end - 1)
    return path and extend(path, "at", fact.relation, year)


def unanswerable(source: Source, hops: int) -> Plan | None:
    """Follow relations, of which a few questions need one that nobody recorded."""
    return _broken(source, hops) if source.luck < _MISSING_RATE else _walk(source, hops)


def _broken(source: Source, hops: int) -> Plan | None:
    """Draw a chain one fact of which is missing: its last, or the one before.

    The missing relation is fixed first, as often as there are facts of it: were it found by trying,
    the one that most often has gaps would tell by itself that there is no answer.
    """
    world, dice = source.world, source.dice
    relation = _functional(source, source.luck / _MISSING_RATE)
    if relation is None:
        return None
    onward = hops > 1 and not relation.is_number and dice.chance(0.5)
    subject = dice.pick(world.ranges[relation.subject])
    if (subject, relation.name) in world.of:
        return None
    path = path_to(source, subject, hops - (2 if onward else 1))
    if path is None:
        return None
    plan = extend(path, "follow", relation.name)
    if not onward:
        return plan
    return extend(plan, "follow", dice.pick(LINKS[relation.value] + MEASURES[relation.value]))


def _functional(source: Source, luck: float) -> Relation | None:
    """Return the functional relation that luck means, each as often as there are facts of it."""
    facts = source.world.facts
    for _ in range(_DRAWS):
        relation = RELATIONS[facts[int(luck * len(facts))].relation]
        if relation.functional:
            return relation
        luck = luck * 997 % 1
    return None
