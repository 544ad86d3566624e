"""Other words for the relations in questions, beside those of `schema`.

Each relation has two or more ways to name its value and to ask for it, and other predicates. A
question draws one of each, so that the words of a relation do not tell which it is by themselves.
No wording of one relation says another: "came from" would fit a birthplace and a seat. Nouns and
predicates end with the thing that they speak of, since they nest: "the person who gave the place
where Anna was born its name" is hard to follow.
"""

from collections.abc import Mapping
from dataclasses import replace

from rlvr_envs.generators.worlds.dice import Dice
from rlvr_envs.generators.worlds.schema import RELATIONS, Relation

# By relation and field of `Relation`: what may stand there instead. The predicates of a relation
# between things are triples of `one`, `several` and `clause`.
_NOUNS = {
    "birthplace": ("the native place of {x}", "the place of birth of {x}"),
    "teacher": ("the person who taught {x}", "the instructor of {x}"),
    "employer": ("the organisation that employed {x}", "the organisation that gave a post to {x}"),
    "born": ("the birth year of {x}", "the year that saw the birth of {x}"),
    "member": ("the organisation joined by {x}", "the organisation that admitted {x}"),
    "attended": ("the event that was attended by {x}", "the event with the participant {x}"),
    "namesake": ("the namesake of {x}", "the person recalled by the name of {x}"),
    "feast": ("the event remembered by the feast of {x}", "the event recalled each year by {x}"),
    "population": ("the population of {x}", "the number of people living in {x}"),
    "elevation": ("the altitude in metres of {x}", "the height in metres above the sea of {x}"),
    "mayor": ("the mayor of {x}",),
    "seat": ("the place with the headquarters of {x}", "the base of {x}"),
    "founder": ("the person who founded {x}", "the person who set up {x}"),
    "founded": ("the year of foundation of {x}", "the year that saw the founding of {x}"),
    "staff": ("the size of the staff of {x}", "the number of people employed by {x}"),
    "head": ("the head of {x}",),
    "author": ("the person who wrote {x}", "the writer of {x}"),
    "publisher": ("the organisation that published {x}", "the organisation that issued {x}"),
    "published": ("the publication year of {x}", "the year that saw the publication of {x}"),
    "pages": ("the length in pages of {x}", "the page count of {x}"),
    "venue": ("the place that hosted {x}", "the scene of {x}"),
    "organiser": ("the organisation that organised {x}", "the organisation that arranged {x}"),
    "opening": ("the work that opened {x}", "the work heard first at {x}"),
    "held": ("the year that saw {x}", "the year of the opening of {x}"),
    "visitors": ("the attendance of {x}", "the number of people who visited {x}"),
}
_ASKS = {
    "birthplace": ("What is the native place of {x}?", "In which place was {x} born?"),
    "teacher": ("Who taught {x}?", "Under whom did {x} study?"),
    "employer": ("Who employed {x}?", "Which organisation had {x} on its payroll?"),
    "born": ("When was {x} born? Give the year.", "What is the birth year of {x}?"),
    "member": ("Which organisation did {x} join?", "Of which organisation was {x} a member?"),
    "attended": ("Which event was attended by {x}?", "At which event was {x} present?"),
    "namesake": ("Who gave {x} its name?", "Whom does the name of {x} honour?"),
    "feast": (
        "Which event does the feast of {x} recall?",
        "In memory of which event is there a feast in {x}?",
    ),
    "population": ("How many people live in {x}?", "What is the population of {x}?"),
    "elevation": (
        "At how many metres above the sea does {x} lie?",
        "What is the altitude of {x} in metres?",
    ),
    "mayor": ("Who was mayor of {x} in {year}?", "Who governed {x} as its mayor in {year}?"),
    "seat": ("Where is {x} based?", "In which place are the headquarters of {x}?"),
    "founder": ("Who set up {x}?", "By whom was {x} founded?"),
    "founded": ("When was {x} founded? Give the year.", "What is the founding year of {x}?"),
    "staff": ("How many people work for {x}?", "What is the size of the staff of {x}?"),
    "head": ("Who led {x} in {year}?", "Who was at the head of {x} in {year}?"),
    "author": ("Who wrote {x}?", "By whom was {x} written?"),
    "publisher": ("Which organisation issued {x}?", "By which organisation was {x} published?"),
    "published": ("When was {x} published? Give the year.", "In which year did {x} come out?"),
    "pages": ("How long is {x}, in pages?", "What is the page count of {x}?"),
    "venue": ("Where did {x} take place?", "Which place hosted {x}?"),
    "organiser": ("Which organisation arranged {x}?", "By which organisation was {x} put on?"),
    "opening": ("With which work did {x} begin?", "Which work was heard first at {x}?"),
    "held": ("When was {x} held? Give the year.", "In which year was {x} held?"),
    "visitors": ("How many people visited {x}?", "What was the attendance of {x}?"),
}
_PREDICATES = {
    "birthplace": (("is a native of {x}", "are natives of {x}", "native to {x}"),),
    "teacher": (
        ("studied under {x}", "studied under {x}", "who studied under {x}"),
        ("was a pupil of {x}", "were pupils of {x}", "who was a pupil of {x}"),
    ),
    "employer": (
        ("was on the payroll of {x}", "were on the payroll of {x}", "on the payroll of {x}"),
        ("worked for {x}", "worked for {x}", "who worked for {x}"),
    ),
    "member": (
        ("held a membership of {x}", "held a membership of {x}", "with a membership of {x}"),
        (
            "was among the members of {x}",
            "were among the members of {x}",
            "among the members of {x}",
        ),
    ),
    "attended": (
        ("attended {x}", "attended {x}", "who attended {x}"),
        ("was present at {x}", "were present at {x}", "who was present at {x}"),
    ),
    "namesake": (
        ("owes its name to {x}", "owe their names to {x}", "that owes its name to {x}"),
        ("bears the name of {x}", "bear the name of {x}", "that bears the name of {x}"),
    ),
    "feast": (
        (
            "holds a feast in memory of {x}",
            "hold a feast in memory of {x}",
            "with a feast in memory of {x}",
        ),
    ),
    "seat": (
        ("is based in {x}", "are based in {x}", "based in {x}"),
        ("has its headquarters in {x}", "have their headquarters in {x}", "headquartered in {x}"),
    ),
    "founder": (
        ("was set up by {x}", "were set up by {x}", "set up by {x}"),
        (
            "owes its existence to {x}",
            "owe their existence to {x}",
            "that owes its existence to {x}",
        ),
    ),
    "author": (
        ("is a work of {x}", "are works of {x}", "from the desk of {x}"),
        ("is from the pen of {x}", "are from the pen of {x}", "from the pen of {x}"),
    ),
    "publisher": (
        ("was issued by {x}", "were issued by {x}", "issued by {x}"),
        ("came out with {x}", "came out with {x}", "that came out with {x}"),
    ),
    "venue": (
        ("took place in {x}", "took place in {x}", "that took place in {x}"),
        ("was staged in {x}", "were staged in {x}", "staged in {x}"),
    ),
    "organiser": (
        ("was arranged by {x}", "were arranged by {x}", "arranged by {x}"),
        ("was put on by {x}", "were put on by {x}", "put on by {x}"),
    ),
    "opening": (("began with {x}", "began with {x}", "that began with {x}"),),
}
# By measure: the greatest, the smallest, the greater and the smaller.
_RANKS = {
    "born": ("is the youngest", "is the oldest", "is younger", "is older"),
    "population": (
        "is the most populous",
        "is the least populous",
        "is more populous",
        "is less populous",
    ),
    "elevation": (
        "has the greatest altitude",
        "has the smallest altitude",
        "has the greater altitude",
        "has the smaller altitude",
    ),
    "founded": (
        "has the latest founding year",
        "has the earliest founding year",
        "has the later founding year",
        "has the earlier founding year",
    ),
    "staff": (
        "has the largest staff",
        "has the smallest staff",
        "has the larger staff",
        "has the smaller staff",
    ),
    "published": (
        "came out last",
        "came out first",
        "came out at a later date",
        "came out at an earlier date",
    ),
    "pages": ("is the longest", "is the shortest", "is longer", "is shorter"),
    "held": (
        "is the most recent",
        "is the earliest",
        "is the more recent",
        "is the earlier",
    ),
    "visitors": (
        "drew the largest crowd",
        "drew the smallest crowd",
        "drew the larger crowd",
        "drew the smaller crowd",
    ),
}


def reworded(dice: Dice) -> Mapping[str, Relation]:
    """Draw the words of one question, from those of `schema` and those of this module."""
    return {name: _drawn(relation, dice) for name, relation in RELATIONS.items()}


def wordings(relation: Relation) -> tuple[Relation, ...]:
    """Return a relation in all its wordings, one change at a time, that of `schema` first."""
    changed = [replace(relation, noun=noun) for noun in _NOUNS[relation.name]]
    changed += [replace(relation, ask=ask) for ask in _ASKS[relation.name]]
    for one, several, clause in _PREDICATES.get(relation.name, ()):
        changed.append(replace(relation, one=one, several=several, clause=clause))
    if relation.name in _RANKS:
        changed.append(_ranked(relation))
    return (relation, *changed)


def _ranked(relation: Relation) -> Relation:
    most, least, more, less = _RANKS[relation.name]
    return replace(relation, most=most, least=least, more=more, less=less)


def _drawn(relation: Relation, dice: Dice) -> Relation:
    noun = dice.pick((relation.noun, *_NOUNS[relation.name]))
    ask = dice.pick((relation.ask, *_ASKS[relation.name]))
    told = (relation.one, relation.several, relation.clause)
    one, several, clause = dice.pick((told, *_PREDICATES.get(relation.name, ())))
    if relation.name in _RANKS and dice.chance(0.5):
        relation = _ranked(relation)
    return replace(relation, noun=noun, ask=ask, one=one, several=several, clause=clause)
