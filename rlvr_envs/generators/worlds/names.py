"""Names of a world: from a model of syllables, none of them inside another."""

from rlvr_envs.generators.worlds.dice import Dice

# fmt: off
_ONSETS = ("b", "br", "d", "dr", "f", "g", "gl", "gr", "h", "j", "k", "kl", "l", "m", "n", "p",
           "pl", "r", "s", "st", "t", "tr", "v", "w", "th", "sh")
_MIDDLES = ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z")
_VOWELS = ("a", "e", "i", "o", "u", "a", "e", "o", "ae", "ei", "au")
_PLAIN_VOWELS = ("a", "e", "i", "o", "u")
_CODAS = ("", "", "", "n", "r", "l", "s")
_FIRST_ENDS = ("a", "en", "is", "o", "ette", "ias", "in", "ea", "us", "ylla", "ric", "olf")
# fmt: on
_ENDS = {
    "person": ("sen", "ard", "elle", "ov", "ini", "amar", "wick", "ez", "oux", "ander"),
    "place": (
        "aburg",
        "emouth",
        "estad",
        "holm",
        "aville",
        "igate",
        "eness",
        "adorf",
        "mere",
        "iford",
    ),
    "organisation": ("ia", "on", "um", "ax", "or", "ant"),
    "work": ("ene", "iel", "ora", "yth", "ande", "os"),
    "event": ("ath", "una", "ero", "ida", "usk", "eme"),
}
# What stands around the made-up word; every entry names it exactly once.
_FRAMES = {
    "organisation": {
        "society": ("{} Society", "Society of {}"),
        "guild": ("{} Guild", "Guild of {}"),
        "company": ("{} Company", "{} Works"),
        "academy": ("{} Academy", "Academy of {}"),
        "press": ("{} Press", "House of {}"),
    },
    "event": {
        "congress": ("{} Congress", "Congress of {}"),
        "exhibition": ("{} Exhibition", "Great {} Fair"),
        "regatta": ("{} Regatta", "{} Cup"),
        "festival": ("{} Festival", "Festival of {}"),
    },
}
_TITLES = ("Letters from {}", "Songs of {}", "A Voyage to {}", "Tales of {}", "{} by Night")
_SHORTEST = 5  # letters of a made-up word; shorter ones hide in others too often

NOUNS = {
    "person": (
        "painter",
        "surveyor",
        "botanist",
        "engineer",
        "physician",
        "composer",
        "printer",
        "merchant",
        "jurist",
        "astronomer",
    ),
    "place": ("town", "village", "port", "island", "valley", "market town"),
    "organisation": tuple(_FRAMES["organisation"]),
    "work": ("novel", "opera", "treatise", "play", "travelogue"),
    "event": tuple(_FRAMES["event"]),
}


class Namer:
    """Makes names for one world; no word it makes is part of another word it made."""

    def __init__(self, dice: Dice) -> None:
        self._dice = dice
        self._words: set[str] = set()
        self._parts: set[str] = set()  # every stretch of every word, from the shortest length on
        self._first = [self.word(_FIRST_ENDS) for _ in range(24)]

    def word(self, ends: tuple[str, ...]) -> str:
        """Make a new capitalised word with one of these ends."""
        while True:
            text = self._stem() + self._dice.pick(ends)
            if text in self._parts or len(text) < _SHORTEST:
                continue
            last = len(text) + 1
            stretches = {
                text[i:j] for i in range(last - _SHORTEST) for j in range(i + _SHORTEST, last)
            }
            if self._words.isdisjoint(stretches):
                self._words.add(text)
                self._parts |= stretches
                return text.capitalize()

    def _stem(self) -> str:
        dice = self._dice
        text = dice.pick(_ONSETS) + dice.pick(_VOWELS)
        if dice.chance(0.6):
            text += dice.pick(_CODAS) + dice.pick(_MIDDLES) + dice.pick(_PLAIN_VOWELS)
        return text + dice.pick(_MIDDLES)

    def relative(self, name: str, taken: set[str]) -> str:
        """Make another name with the last name of a person; empty where all of them are taken."""
        _, last = name.split()
        free = [full for first in self._first if (full := f"{first} {last}") not in taken]
        return self._dice.pick(free) if free else ""

    def name(self, kind: str, noun: str) -> str:
        """Make the name of an entity of this kind, for example a guild's."""
        word = self.word(_ENDS[kind])
        if kind == "person":
            return f"{self._dice.pick(self._first)} {word}"
        if kind == "work":
            return self._dice.pick(_TITLES).format(word)
        frames = _FRAMES.get(kind)
        return self._dice.pick(frames[noun]).format(word) if frames else word


def slug(label: str) -> str:
    """Turn a name into an address: lower case, with hyphens."""
    return label.lower().replace("(", "").replace(")", "").replace(" ", "-")
