"""A world: typed entities, the facts about them, and the reports that contradict a fact.

What is true is in `World.facts`; a `Conflict` adds a false report, and the world's rule says why
it is false. Entities are numbered, and facts hold these numbers.
"""

from dataclasses import dataclass, field
from functools import lru_cache

from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.worlds.dice import Dice
from rlvr_envs.generators.worlds.facts import Fact, draw_facts
from rlvr_envs.generators.worlds.names import NOUNS, Namer, slug
from rlvr_envs.generators.worlds.schema import RELATIONS
from rlvr_envs.generators.worlds.spec import SOURCES, WorldSpec

_KEPT = 16  # worlds that a process keeps; one of 200 articles takes about a megabyte
_HOMONYMS = ("person", "place", "work")  # the types that share names on purpose
_EARLIEST_REPORT = 1950
_LATEST_REPORT = 1999


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing of the world; its label is its name, with its noun where the name is shared."""

    id: str
    kind: str
    noun: str
    name: str
    label: str
    alias: str | None

    @property
    def forms(self) -> tuple[str, ...]:
        """The label and the other names it goes by."""
        others = [self.name] if self.name != self.label else []
        return (self.label, *others, *([self.alias] if self.alias else []))


@dataclass(frozen=True, slots=True)
class Report:
    """Who says something, and when."""

    source: str
    year: int


@dataclass(frozen=True, slots=True)
class Conflict:
    """A fact with its own report, and a false value with another one."""

    true: Report
    false: Report
    value: int


@dataclass(frozen=True, slots=True)
class World:
    """Entities, facts and conflicts (by the index of the fact), with indexes over the facts."""

    spec: WorldSpec
    seed: int
    entities: tuple[Entity, ...]
    facts: tuple[Fact, ...]
    conflicts: dict[int, Conflict]
    ranges: dict[str, range]  # the numbers of the entities of a type
    of: dict[tuple[int, str], list[int]] = field(repr=False)  # facts by subject and relation
    to: dict[tuple[str, int], list[int]] = field(repr=False)  # facts by relation and value
    numbers: dict[str, int] = field(repr=False)  # entities by label and by second name

    @property
    def rule(self) -> str:
        """How to decide between two reports, in words for the agent."""
        if self.spec.rule == "latest":
            return "If two sources disagree about a fact, the report of the later year is right."
        first, second, third = SOURCES
        return (
            f"If two sources disagree about a fact, believe the {first} before the {second}, "
            f"and the {second} before the {third}."
        )

    def kind(self, entity: int) -> str:
        """The type of an entity."""
        return self.entities[entity].kind


def _counts(spec: WorldSpec) -> dict[str, int]:
    return {
        "person": spec.n_people,
        "place": spec.n_places,
        "organisation": spec.n_organisations,
        "work": spec.n_works,
        "event": spec.n_events,
    }


def _draw_entities(spec: WorldSpec, dice: Dice) -> tuple[list[Entity], dict[str, range]]:
    namer = Namer(dice)
    entities: list[Entity] = []
    ranges: dict[str, range] = {}
    for kind, count in _counts(spec).items():
        drawn: list[list[str]] = []  # noun, name, label
        single: list[int] = []  # those whose name nobody shares yet
        for _ in range(count):
            noun = dice.pick(NOUNS[kind])
            if kind in _HOMONYMS and single and dice.chance(spec.homonym_rate):
                twin = drawn[single.pop(dice.below(len(single)))]
                noun = dice.pick([other for other in NOUNS[kind] if other != twin[0]])
                twin[2] = f"{twin[1]} ({twin[0]})"
                drawn.append([noun, twin[1], f"{twin[1]} ({noun})"])
                continue
            name = ""
            if kind == "person" and drawn and dice.chance(spec.family_rate):
                name = namer.relative(dice.pick(drawn)[1], {name for _, name, _ in drawn})
            name = name or namer.name(kind, noun)
            single.append(len(drawn))
            drawn.append([noun, name, name])
        ranges[kind] = range(len(entities), len(entities) + count)
        for noun, name, label in drawn:
            alias = namer.name(kind, noun) if dice.chance(spec.alias_rate) else None
            entities.append(Entity(slug(label), kind, noun, name, label, alias))
    return entities, ranges


def _reports(rule: str, dice: Dice) -> tuple[Report, Report]:
    """Draw a right and a wrong report, told apart by the rule alone."""
    early = dice.between(_EARLIEST_REPORT, _LATEST_REPORT - 1)
    late = dice.between(early + 1, _LATEST_REPORT)
    first, second = sorted(dice.sample(len(SOURCES), 2))
    if rule == "latest":
        sources = [SOURCES[first], SOURCES[second]]
        if dice.chance(0.5):
            sources.reverse()
        return Report(sources[0], late), Report(sources[1], early)
    years = [early, late] if dice.chance(0.5) else [late, early]
    return Report(SOURCES[first], years[0]), Report(SOURCES[second], years[1])


def _false_value(fact: Fact, ranges: dict[str, range], dice: Dice) -> int | None:
    kind = RELATIONS[fact.relation].value
    if kind == "year":
        return fact.value + dice.between(1, 9) * (1 if dice.chance(0.5) else -1)
    if kind == "amount":
        return fact.value + dice.between(1, 1 + fact.value // 4)
    other = ranges[kind].start + dice.below(len(ranges[kind]))
    return None if other in (fact.value, fact.subject) else other


def _draw_conflicts(
    spec: WorldSpec, facts: list[Fact], ranges: dict[str, range], dice: Dice
) -> dict[int, Conflict]:
    conflicts: dict[int, Conflict] = {}
    for index, fact in enumerate(facts):
        if not dice.chance(spec.conflict_rate) or not RELATIONS[fact.relation].functional:
            continue
        value = _false_value(fact, ranges, dice)
        if value is not None:
            true, false = _reports(spec.rule, dice)
            conflicts[index] = Conflict(true, false, value)
    return conflicts


@lru_cache(maxsize=_KEPT)
def build_world(spec: WorldSpec, seed: int) -> World:
    """Build the world of this spec and seed; equal arguments give equal worlds."""
    dice = Dice(stream("search.world", repr(spec), seed))
    entities, ranges = _draw_entities(spec, dice)
    facts = draw_facts(ranges, spec.gap_rate, dice)
    of: dict[tuple[int, str], list[int]] = {}
    to: dict[tuple[str, int], list[int]] = {}
    for index, fact in enumerate(facts):
        of.setdefault((fact.subject, fact.relation), []).append(index)
        to.setdefault((fact.relation, fact.value), []).append(index)
    conflicts = _draw_conflicts(spec, facts, ranges, dice)
    numbers = {entity.alias: number for number, entity in enumerate(entities) if entity.alias}
    numbers |= {entity.label: number for number, entity in enumerate(entities)}
    return World(spec, seed, tuple(entities), tuple(facts), conflicts, ranges, of, to, numbers)
