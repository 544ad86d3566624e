"""The wordings of which a proposed question is made: a small language that a program can read.

A wording is a line of words in lower case. `X` stands for a name or for another wording, `Y` for
a year. Beside these come the words that `schema` has for the questions of the other tasks.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from rlvr_envs.generators.worlds.schema import PLURALS, RELATIONS, TYPES, Relation

SLOT, YEAR = "X", "Y"
PRONOUNS = ("who", "that", "which")

# More wordings of the value, by relation; the first is in `schema` where it needs no year.
_VALUES = {
    "birthplace": ("the place where X was born", "the place of birth of X"),
    "teacher": ("the person who taught X", "the person who trained X"),
    "employer": ("the organisation that employed X", "the organisation for which X worked"),
    "member": ("the organisation of X",),
    "attended": ("the event in which X took part",),
    "namesake": (
        "the namesake of X",
        "the person after whom X was named",
        "the person who gave X its name",
    ),
    "feast": ("the event that X commemorates", "the event that X celebrates with its feast"),
    "mayor": ("the mayor of X in Y", "the person who was mayor of X in Y"),
    "seat": ("the place where X has its seat", "the place where X is based"),
    "founder": ("the person who founded X",),
    "head": ("the head of X in Y", "the person who was head of X in Y"),
    "author": ("the person who wrote X", "the writer of X"),
    "publisher": ("the organisation that published X",),
    "venue": ("the place where X was held", "the place where X took place"),
    "organiser": ("the organisation that organised X",),
    "opening": ("the work that opened X", "the work with which X was opened"),
}
# More wordings of what holds of a subject with the value X.
_SUBJECTS = {
    "teacher": ("learned from X",),
    "employer": ("worked for X",),
    "member": ("belonged to X",),
    "attended": ("attended X",),
    "seat": ("is based in X",),
    "venue": ("took place in X",),
    "opening": ("began with X",),
}
# Words that stand for others, so that neither tense nor spelling matters.
_SPELLINGS = {
    "organization": "organisation",
    "organizations": "organisations",
    "was": "is",
    "were": "are",
    "did": "does",
    "had": "has",
}
# Words of questions that belong to no relation.
_JOINTS = ("of", "all", "among", "the", "one", "and", "is", "what", "which", "name", "in")


@dataclass(frozen=True, slots=True)
class Wording:
    """Words before the slot and after it; what they say follows from the relation and the op."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    op: str
    relation: str
    dated: bool = False  # "in Y" stands behind it, or in front of the question


def spelled(word: str) -> str:
    """Return a word in lower case, in the spelling and the tense of the wordings."""
    word = word.lower()
    return _SPELLINGS.get(word, word)


def _wording(line: str, op: str, relation: str) -> Wording:
    words = [word if word in (SLOT, YEAR) else spelled(word) for word in line.split()]
    dated = words[-1] == YEAR
    words = words[:-2] if dated else words  # without "in Y"
    at = words.index(SLOT)
    return Wording(tuple(words[:at]), tuple(words[at + 1 :]), op, relation, dated)


def _asked() -> Iterator[Relation]:
    """Yield the relations whose values are no numbers."""
    return (relation for relation in RELATIONS.values() if not relation.is_number)


def _value_lines(relation: Relation) -> tuple[str, ...]:
    if relation.timed:
        return _VALUES[relation.name]
    return (relation.noun.format(x=SLOT), *_VALUES[relation.name])


@cache
def values() -> tuple[Wording, ...]:
    """Return what names the value of a relation, such as "the founder of X"."""
    return tuple(
        _wording(line, "at" if relation.timed else "follow", relation.name)
        for relation in _asked()
        for line in _value_lines(relation)
    )


@cache
def asked_values() -> tuple[Wording, ...]:
    """Return the questions for a value, such as "who founded X"."""
    found = []
    for relation in _asked():
        op = "at" if relation.timed else "follow"
        if relation.timed:
            lines = [f"who was the {relation.name} of X in Y"]
        else:
            lines = [_bare(relation.ask.format(x=SLOT))]
        for line in _value_lines(relation):
            _, kind, *rest = line.split()
            if kind == relation.value and rest[0] in PRONOUNS:
                words = rest[1:] if rest[1] != SLOT else []
                lines += [f"{lead} {' '.join(words)}" for lead in _leads(kind) if words]
        found += [_wording(line, op, relation.name) for line in dict.fromkeys(lines)]
    return tuple(found)


def _leads(kind: str) -> tuple[str, ...]:
    return ("who", "which person") if kind == "person" else (f"which {kind}", "what")


def _bare(question: str) -> str:
    return " ".join(w if w == SLOT else w.lower() for w in question.rstrip("?").split())


@cache
def predicates(several: bool) -> tuple[Wording, ...]:
    """Return what holds of the subjects with a value, such as "was founded by X"."""
    found = []
    for relation in _asked():
        if relation.timed:
            continue
        told = relation.several if several else relation.one
        lines = [told.format(x=SLOT), *_SUBJECTS.get(relation.name, ())]
        if several:
            lines = [line.replace("is based", "are based") for line in lines]
        found += [_wording(line, "back", relation.name) for line in lines]
    return tuple(found)


@cache
def clauses() -> tuple[Wording, ...]:
    """Return what stands behind a noun without a pronoun, such as "founded by X"."""
    found = []
    for relation in _asked():
        line = relation.clause.format(x=SLOT)
        if line and line.split()[0] not in PRONOUNS:
            found.append(_wording(line, "back", relation.name))
    return tuple(found)


@cache
def measures() -> dict[tuple[str, ...], tuple[str, str]]:
    """Return op and relation by what is said of the first or the last, such as "lies highest"."""
    found = {}
    for relation in RELATIONS.values():
        if relation.is_number:
            found[tuple(map(spelled, relation.most.split()))] = ("most", relation.name)
            found[tuple(map(spelled, relation.least.split()))] = ("least", relation.name)
    return found


@cache
def vocabulary() -> frozenset[str]:
    """Return every word that may stand in a question beside names and years."""
    words = {word for line in measures() for word in line}
    for group in (values(), asked_values(), predicates(False), predicates(True), clauses()):
        words.update(word for wording in group for word in (*wording.before, *wording.after))
    words.update(TYPES, PLURALS.values(), PRONOUNS)
    return frozenset({*words, *_JOINTS})


def guide() -> str:
    """Return the wordings in words for the agent, grouped by what they name."""
    lines = []
    for kind in TYPES:
        named = [_value_lines(r)[0] for r in _asked() if r.value == kind]
        held = [
            f"the {kind} {PRONOUNS[kind != 'person']} {r.one.format(x=SLOT)}"
            for r in _asked()
            if r.subject == kind and r.one
        ]
        lines.append(f"- {kind}: {'; '.join((*named, *held))}")
    ranked = [f"{r.most} / {r.least}" for r in RELATIONS.values() if r.is_number]
    return "\n".join([*lines, f'- after "which one": {"; ".join(ranked)}'])
