"""Questions about a group that is given by a relation: intersection, count, superlative, set."""

from collections.abc import Mapping

from rlvr_envs.generators.worlds.paths import Source, extend, join, path_to
from rlvr_envs.generators.worlds.plan import Plan, evaluate
from rlvr_envs.generators.worlds.schema import INTO, MEASURES, RELATIONS, TYPES

_SET_SIZES = (2, 5)
_RANKED_SIZES = (3, 9)
_CONSTRAINED = 0.3  # sets that two constraints give
_DRAWS = 40

Into = Mapping[str, tuple[str, ...]]  # by type of the value: relations that groups share one of


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
