"""The relations of a world: their types and the words that questions use for them.

The sentences that tell them in articles are in `sentences`.
"""

from dataclasses import dataclass

TYPES = ("person", "place", "organisation", "work", "event")
PLURALS = {
    "person": "people",
    "place": "places",
    "organisation": "organisations",
    "work": "works",
    "event": "events",
}
NUMBERS = ("year", "amount")


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation from entities of one type to entities of another, or to numbers.

    `{x}` stands for the subject in `noun` and `ask`, for the value in `one`, `several` and
    `clause`.
    """

    name: str
    subject: str  # type of the subject
    value: str  # type of the value, or one of NUMBERS
    noun: str  # the value, named by its subject
    ask: str  # the question for the value
    one: str = ""  # said of one subject
    several: str = ""  # said of several subjects
    clause: str = ""  # said of a subject, behind its noun
    functional: bool = True  # a subject has at most one value
    timed: bool = False  # a value holds from one year to another
    most: str = ""  # said of the subject with the greatest number
    least: str = ""
    more: str = ""  # said of the greater of two
    less: str = ""
    moment: str = ""  # for years: what happened to the subject `{x}`
    short: str = ""  # a shorter `noun`, which the oracle of the proposer uses

    @property
    def is_number(self) -> bool:
        """Whether the values are numbers."""
        return self.value in NUMBERS


_ALL = (
    Relation(
        "birthplace",
        "person",
        "place",
        "the birthplace of {x}",
        "Where was {x} born?",
        "was born in {x}",
        "were born in {x}",
        "born in {x}",
    ),
    Relation(
        "teacher",
        "person",
        "person",
        "the teacher of {x}",
        "Who was the teacher of {x}?",
        "was taught by {x}",
        "were taught by {x}",
        "taught by {x}",
    ),
    Relation(
        "employer",
        "person",
        "organisation",
        "the employer of {x}",
        "For which organisation did {x} work?",
        "was employed by {x}",
        "were employed by {x}",
        "employed by {x}",
    ),
    Relation(
        "born",
        "person",
        "year",
        "the year of birth of {x}",
        "In which year was {x} born?",
        most="was born last",
        least="was born first",
        more="was born later",
        less="was born earlier",
        moment="the birth of {x}",
    ),
    Relation(
        "member",
        "person",
        "organisation",
        "the organisation to which {x} belonged",
        "To which organisation did {x} belong?",
        "was a member of {x}",
        "were members of {x}",
        "who was a member of {x}",
        functional=False,
    ),
    Relation(
        "attended",
        "person",
        "event",
        "the event attended by {x}",
        "In which event did {x} take part?",
        "took part in {x}",
        "took part in {x}",
        "who took part in {x}",
        functional=False,
    ),
    Relation(
        "namesake",
        "place",
        "person",
        "the person honoured by the name of {x}",
        "After whom was {x} named?",
        "was named after {x}",
        "were named after {x}",
        "named after {x}",
        short="the namesake of {x}",
    ),
    Relation(
        "feast",
        "place",
        "event",
        "the event commemorated by {x}",
        "Which event does {x} commemorate with a feast?",
        "commemorates {x}",
        "commemorate {x}",
        "commemorating {x}",
    ),
    Relation(
        "population",
        "place",
        "amount",
        "the number of inhabitants of {x}",
        "How many inhabitants does {x} have?",
        most="has the most inhabitants",
        least="has the fewest inhabitants",
        more="has more inhabitants",
        less="has fewer inhabitants",
    ),
    Relation(
        "elevation",
        "place",
        "amount",
        "the elevation in metres of {x}",
        "How many metres above sea level is {x}?",
        most="lies highest",
        least="lies lowest",
        more="lies higher",
        less="lies lower",
    ),
    Relation(
        "mayor",
        "place",
        "person",
        "the mayor of {x}",
        "In {year}, who was the mayor of {x}?",
        functional=False,
        timed=True,
    ),
    Relation(
        "seat",
        "organisation",
        "place",
        "the seat of {x}",
        "Where does {x} have its seat?",
        "has its seat in {x}",
        "have their seat in {x}",
        "with its seat in {x}",
    ),
    Relation(
        "founder",
        "organisation",
        "person",
        "the founder of {x}",
        "Who founded {x}?",
        "was founded by {x}",
        "were founded by {x}",
        "founded by {x}",
    ),
    Relation(
        "founded",
        "organisation",
        "year",
        "the founding year of {x}",
        "In which year was {x} founded?",
        most="was founded last",
        least="was founded first",
        more="was founded later",
        less="was founded earlier",
        moment="the founding of {x}",
    ),
    Relation(
        "staff",
        "organisation",
        "amount",
        "the number of employees of {x}",
        "How many employees does {x} have?",
        most="has the most employees",
        least="has the fewest employees",
        more="has more employees",
        less="has fewer employees",
    ),
    Relation(
        "head",
        "organisation",
        "person",
        "the head of {x}",
        "In {year}, who was the head of {x}?",
        functional=False,
        timed=True,
    ),
    Relation(
        "author",
        "work",
        "person",
        "the author of {x}",
        "Who is the author of {x}?",
        "was written by {x}",
        "were written by {x}",
        "written by {x}",
    ),
    Relation(
        "publisher",
        "work",
        "organisation",
        "the publisher of {x}",
        "Which organisation published {x}?",
        "was published by {x}",
        "were published by {x}",
        "published by {x}",
    ),
    Relation(
        "published",
        "work",
        "year",
        "the year of publication of {x}",
        "In which year was {x} published?",
        most="was published last",
        least="was published first",
        more="was published later",
        less="was published earlier",
        moment="the publication of {x}",
    ),
    Relation(
        "pages",
        "work",
        "amount",
        "the number of pages of {x}",
        "How many pages does {x} have?",
        most="has the most pages",
        least="has the fewest pages",
        more="has more pages",
        less="has fewer pages",
    ),
    Relation(
        "venue",
        "event",
        "place",
        "the venue of {x}",
        "Where was {x} held?",
        "was held in {x}",
        "were held in {x}",
        "held in {x}",
    ),
    Relation(
        "organiser",
        "event",
        "organisation",
        "the organiser of {x}",
        "Which organisation organised {x}?",
        "was organised by {x}",
        "were organised by {x}",
        "organised by {x}",
    ),
    Relation(
        "opening",
        "event",
        "work",
        "the opening work of {x}",
        "Which work opened {x}?",
        "was opened with {x}",
        "were opened with {x}",
        "opened with {x}",
    ),
    Relation(
        "held",
        "event",
        "year",
        "the year of {x}",
        "In which year did {x} take place?",
        most="took place last",
        least="took place first",
        more="took place later",
        less="took place earlier",
        moment="{x}",
    ),
    Relation(
        "visitors",
        "event",
        "amount",
        "the number of visitors of {x}",
        "How many visitors did {x} have?",
        most="had the most visitors",
        least="had the fewest visitors",
        more="had more visitors",
        less="had fewer visitors",
    ),
)
RELATIONS = {relation.name: relation for relation in _ALL}

# By type of the subject or value: what a question may go along next.
LINKS = {
    kind: tuple(r.name for r in _ALL if r.subject == kind and r.functional and not r.is_number)
    for kind in TYPES
}
MEASURES = {
    kind: tuple(r.name for r in _ALL if r.subject == kind and r.is_number) for kind in TYPES
}
INTO = {kind: tuple(r.name for r in _ALL if r.value == kind and not r.timed) for kind in TYPES}
