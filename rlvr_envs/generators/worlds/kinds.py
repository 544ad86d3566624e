"""The kinds of questions: along one path, about a group that a relation gives, about two things.

Each function draws a plan with so many hops, or None where the draw leads nowhere.
"""

from collections.abc import Mapping

from rlvr_envs.generators.worlds.paths import Source, extend, join, path_to
from rlvr_envs.generators.worlds.plan import Plan, evaluate
from rlvr_envs.generators.worlds.schema import INTO, LINKS, MEASURES, RELATIONS, TYPES, Relation

# The answer "there is none" must not pay. It is looked for in this share of the questions, and
# found in about three quarters of these: many relations have no gap in a small world.
_MISSING_RATE = 0.17
_DRAWS = 40
_SET_SIZES = (2, 5)
_RANKED_SIZES = (3, 9)
_CONSTRAINED = 0.3  # sets that two constraints give

Into = Mapping[str, tuple[str, ...]]  # by type of the value: relations that groups share one of


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


def _among(*, functional: bool) -> Into:
    found = {
        kind: tuple(name for name in names if RELATIONS[name].functional == functional)
        for kind, names in INTO.items()
    }
    return {kind: names for kind, names in found.items() if names}


_ANY: Into = {kind: names for kind, names in INTO.items() if names}
_SHARED, _LISTED = _among(functional=True), _among(functional=False)


def _group(source: Source, sizes: tuple[int, int], hops: int, into: Into = _ANY) -> Plan | None:
    """Draw a group with a size in the bounds, at the end of a path of so many hops."""
    world, dice = source.world, source.dice
    for _ in range(_DRAWS):
        kind = dice.pick(tuple(into))
        relation = dice.pick(into[kind])
        numbers = world.ranges[kind]
        value = numbers.start + dice.below(len(numbers))
        if sizes[0] <= len(world.to.get((relation, value), ())) <= sizes[1]:
            path = path_to(source, value, hops - 1)
            return path and extend(path, "back", relation)
    return None


def _crossing(source: Source, hops: int, least: int = 0) -> Plan | None:
    """Draw two groups that share someone; the path to one of them has all the hops.

    With at least one link before it, neither is about an entity that the question names: the page
    of what they share names both of these entities.
    """
    world, dice = source.world, source.dice
    first = source.fact()
    if RELATIONS[first.relation].is_number or RELATIONS[first.relation].timed:
        return None
    others = [
        world.facts[index]
        for kind in TYPES
        for name in INTO[kind]
        for index in world.of.get((first.subject, name), ())
    ]
    second = dice.pick(others)
    if second == first:
        return None
    long = path_to(source, first.value, max(least, hops - 1))
    short = path_to(source, second.value, max(least, dice.below(hops)))
    if long is None or short is None:
        return None
    one, two = extend(long, "back", first.relation), extend(short, "back", second.relation)
    return join(one, two, "both") if dice.chance(0.5) else join(two, one, "both")


def intersection(source: Source, hops: int) -> Plan | None:
    """Ask for the only one in two groups, each of which has others.

    With one hop the question names what both groups are about, and its answer's page has both.
    """
    return _crossing(source, hops, least=min(1, hops - 1))


def count(source: Source, hops: int) -> Plan | None:
    """Ask how many there are; luck fixes the wording and the number, each of them equally often.

    The wording must not tell the number: a fifth has two constraints and counts up to three, a
    fifth shares what everybody has one of, two to six, and the others are listed, four to nine.
    """
    place = source.luck * 5
    if place < 1:
        plan = _crossing(source, hops)
        if plan and len(evaluate(source.world, plan)[-1].values) != 1 + int(place * 3):
            return None
    else:
        size = 2 + int((place - 1) * 5) if place < 2 else 4 + int((place - 2) * 2)
        plan = _group(source, (size, size), hops, _SHARED if place < 2 else _LISTED)
    return plan and extend(plan, "count")


def all_of(source: Source, hops: int) -> Plan | None:
    """Ask for everyone in a group, or in two groups at once."""
    if source.dice.chance(_CONSTRAINED):
        plan = _crossing(source, hops)
    else:
        plan = _group(source, _SET_SIZES, hops)
    return plan and extend(plan, "all")


def superlative(source: Source, hops: int) -> Plan | None:
    """Ask who of a group comes first or last by a number."""
    plan = _group(source, _RANKED_SIZES, hops)
    if plan is None:
        return None
    kind = RELATIONS[plan[-1].relation].subject
    op = "most" if source.dice.chance(0.5) else "least"
    return extend(plan, op, source.dice.pick(MEASURES[kind]))


def comparison(source: Source, hops: int) -> Plan | None:
    """Ask which of two comes before the other; neither is named, so each needs a path.

    Beyond one hop no page that a search for a named thing brings up may lead straight to either of
    them: who knows one side is right every other time.
    """
    first = source.fact()
    if not RELATIONS[first.relation].is_number:
        return None
    second = source.fact_of(first.relation)
    if second is None or second.value == first.value:
        return None
    one, two = path_to(source, first.subject, hops), path_to(source, second.subject, hops)
    if one is None or two is None:
        return None
    return join(one, two, "more" if source.dice.chance(0.5) else "less", first.relation)


def arithmetic(source: Source, hops: int) -> Plan | None:
    """Ask for the sum of two amounts of a kind, or for the years between two dates."""
    first = source.fact()
    relation = RELATIONS[first.relation]
    if not relation.is_number:
        return None
    second = source.fact_of(first.relation) if relation.value == "amount" else source.fact()
    if second is None or second.subject == first.subject:
        return None
    if RELATIONS[second.relation].value != relation.value or second.value == first.value:
        return None
    one = path_to(source, first.subject, hops - 1)
    two = path_to(source, second.subject, hops - 1)
    if one is None or two is None:
        return None
    one, two = extend(one, "follow", first.relation), extend(two, "follow", second.relation)
    return join(one, two, "sum" if relation.value == "amount" else "gap")
