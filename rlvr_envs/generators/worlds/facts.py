"""The facts of a world: who, where, when and how many, consistent in time.

Nobody is taught by someone younger, founds anything as a child or writes after a long death;
the lists of members and participants vary in length on purpose, so that counts do.
"""

from dataclasses import dataclass

from rlvr_envs.generators.worlds.dice import Dice

_BORN = (1820, 1869)
_EVENTS = (1886, 1905)  # everyone is grown up and nobody is too old
_MAYORS_FROM = (1870, 1884)
_GROUP = (2, 9)  # sizes of memberships and of lists of participants
_CANDIDATES = 14  # for an office; some are too young or too old for it
_TRIES = 4  # draws of a partner before a fact is left out


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact; start and end are years where the relation holds for a time, else 0."""

    subject: int
    relation: str
    value: int
    start: int = 0
    end: int = 0


class _Drawing:
    """The state of one drawing: the facts so far, and the dates that later ones must respect."""

    def __init__(self, ranges: dict[str, range], gap_rate: float, dice: Dice) -> None:
        self.dice = dice
        self.gap_rate = gap_rate
        self.ranges = ranges
        self.facts: list[Fact] = []
        self.date: dict[int, int] = {}  # of birth, founding and publication

    def add(self, subject: int, relation: str, value: int) -> None:
        """Record a fact, unless it falls into a gap."""
        if not self.dice.chance(self.gap_rate):
            self.facts.append(Fact(subject, relation, value))

    def skewed(self, kind: str) -> int:
        """Draw an entity; a few of each type are drawn often."""
        numbers = self.ranges[kind]
        return numbers.start + self.dice.skewed(len(numbers))

    def uniform(self, kind: str) -> int:
        numbers = self.ranges[kind]
        return numbers.start + self.dice.below(len(numbers))

    def before(self, kind: str, year: int) -> int | None:
        """Draw an entity that was there by then, None where the draws find no such one."""
        for _ in range(_TRIES):
            entity = self.skewed(kind)
            if self.date[entity] <= year:
                return entity
        return None

    def group(self, relation: str, value: int) -> None:
        """Draw the people who stand in a relation to a value."""
        people = self.ranges["person"]
        for i in self.dice.sample(len(people), self.dice.between(*_GROUP)):
            self.facts.append(Fact(people.start + i, relation, value))

    def terms(self, subject: int, relation: str, start: int) -> None:
        """Draw who held an office one after the other."""
        people = self.ranges["person"]
        terms = self.dice.between(3, 5)
        for i in self.dice.sample(len(people), _CANDIDATES):
            person = people.start + i
            if terms and start - 60 <= self.date[person] <= start - 20:
                end = start + self.dice.between(3, 9)
                self.facts.append(Fact(subject, relation, person, start, end))
                start = end
                terms -= 1


def _people(drawing: _Drawing) -> None:
    dice, date = drawing.dice, drawing.date
    people = drawing.ranges["person"]
    for person in people:
        date[person] = dice.between(*_BORN)
    for person in people:
        drawing.add(person, "born", date[person])
        drawing.add(person, "birthplace", drawing.skewed("place"))
        drawing.add(person, "employer", drawing.uniform("organisation"))
        teacher = drawing.before("person", date[person] - 12)
        if teacher is not None:
            drawing.add(person, "teacher", teacher)


def _places(drawing: _Drawing) -> None:
    dice = drawing.dice
    for place in drawing.ranges["place"]:
        drawing.add(place, "population", dice.between(310, 98000))
        drawing.add(place, "elevation", dice.between(11, 1900))
        drawing.add(place, "namesake", drawing.uniform("person"))
        drawing.add(place, "feast", drawing.uniform("event"))
        drawing.terms(place, "mayor", dice.between(*_MAYORS_FROM))


def _organisations(drawing: _Drawing) -> None:
    dice, date = drawing.dice, drawing.date
    for organisation in drawing.ranges["organisation"]:
        founder = drawing.uniform("person")
        date[organisation] = date[founder] + dice.between(21, 34)
        drawing.add(organisation, "founder", founder)
        drawing.add(organisation, "founded", date[organisation])
        drawing.add(organisation, "seat", drawing.skewed("place"))
        drawing.add(organisation, "staff", dice.between(12, 7900))
        drawing.terms(organisation, "head", date[organisation])
        drawing.group("member", organisation)


def _works(drawing: _Drawing) -> None:
    dice, date = drawing.dice, drawing.date
    for work in drawing.ranges["work"]:
        author = drawing.skewed("person")
        year = date[author] + dice.between(22, 60)
        date[work] = year
        drawing.add(work, "author", author)
        drawing.add(work, "published", year)
        drawing.add(work, "pages", dice.between(41, 1150))
        publisher = drawing.before("organisation", year)
        if publisher is not None:
            drawing.add(work, "publisher", publisher)


def _events(drawing: _Drawing) -> None:
    dice = drawing.dice
    for event in drawing.ranges["event"]:
        year = dice.between(*_EVENTS)
        drawing.add(event, "held", year)
        drawing.add(event, "venue", drawing.skewed("place"))
        drawing.add(event, "visitors", dice.between(150, 64000))
        organiser = drawing.before("organisation", year)
        if organiser is not None:
            drawing.add(event, "organiser", organiser)
        work = drawing.before("work", year)
        if work is not None:
            drawing.add(event, "opening", work)
        drawing.group("attended", event)


def draw_facts(ranges: dict[str, range], gap_rate: float, dice: Dice) -> list[Fact]:
    """Draw all facts about the entities, which are given by type."""
    drawing = _Drawing(ranges, gap_rate, dice)
    for step in (_people, _places, _organisations, _works, _events):
        step(drawing)
    return drawing.facts
