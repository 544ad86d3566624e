"""How a page speaks of what it is about: by name, by noun or by pronoun, never ambiguously."""

from rlvr_envs.generators.worlds.dice import Dice
from rlvr_envs.generators.worlds.world import World

SUBJECT, OBJECT, POSSESSIVE = range(3)
_SHE = ("she", "her", "her")
_HE = ("he", "him", "his")
_IT = ("it", "it", "its")
PRONOUNS = frozenset((*_SHE, *_HE, *_IT))
_FEMALE = ("a", "ette", "ylla")  # ends of first names
_BY_NAME, _BY_PRONOUN, _BY_NOUN = 0.2, 0.65, 0.85  # shares, summed up; the rest is last names


def pronouns(kind: str, name: str) -> tuple[str, str, str]:
    """Return subject, object and possessive pronoun of a thing; a first name tells the gender."""
    if kind != "person":
        return _IT
    return _SHE if name.split(" ", 1)[0].endswith(_FEMALE) else _HE


class Voice:
    """The references to one entity in the paragraphs of its page.

    The first one in a paragraph is a name. A pronoun stands only where nothing that it could mean
    as well was mentioned since the last name or noun: for a person, another one; for anything
    else, any other thing. A noun or last name stands only where the paragraph mentions no
    other thing that has it.
    """

    def __init__(self, world: World, entity: int, dice: Dice) -> None:
        subject = world.entities[entity]
        self._world, self._entity, self._dice = world, entity, dice
        self._kind, self._noun = subject.kind, subject.noun
        self._names = [subject.name] + ([subject.alias] if subject.alias else [])
        self._pronouns = pronouns(subject.kind, subject.name)
        self._named = self._rival = self._noun_taken = False
        self._last = subject.name.rpartition(" ")[2] if subject.kind == "person" else ""

    def start(self) -> None:
        """Begin a paragraph."""
        self._named = self._noun_taken = False

    def distract(self) -> None:
        """Note that something else was spoken of, so that no pronoun follows."""
        self._rival = True

    def met(self, entity: int) -> None:
        """Note that another entity was mentioned."""
        other = self._world.entities[entity]
        if self._kind != "person":
            self._rival = self._rival or other.kind != "person"
        elif other.kind == "person":
            self._rival = True
            if any(form.endswith(self._last) for form in other.forms):
                self._noun_taken = True
        if other.noun == self._noun:
            self._noun_taken = True

    def refer(self, case: int) -> str:
        """Refer to the entity, in small letters where it is no name."""
        luck = self._dice.unit()
        if self._named and not self._rival and _BY_NAME < luck < _BY_PRONOUN:
            return self._pronouns[case]
        self._rival = False
        if not self._named or luck < _BY_NAME or self._noun_taken:
            self._named = True
            text = self._names[-1] if luck * 5 % 1 < 0.25 else self._names[0]
        elif luck > _BY_NOUN and self._last:
            text = self._last
        else:
            text = f"the {self._noun}"
        return f"{text}'s" if case == POSSESSIVE else text
