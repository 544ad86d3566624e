"""Questions about two things side by side: comparison and arithmetic."""

from rlvr_envs.generators.worlds.paths import Source, extend, join, path_to
from rlvr_envs.generators.worlds.plan import Plan
from rlvr_envs.generators.worlds.schema import RELATIONS


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
