"""Plain English messages of any length, all of whose words are known: what ciphers hide.

The lists are part of the seeds' meaning, as the list in `english` is.
"""

from functools import lru_cache

from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.words.english import all_words

_PEOPLE = (
    "captain soldier farmer king queen doctor teacher painter driver uncle judge pilot nurse "
    "writer dancer hunter guard stranger visitor officer student brother sister mother father "
    "daughter child minister manager priest partner poet chemist singer merchant agent president"
)
_ACTIONS = (
    "carried found sold watched lost bought cleaned wanted moved shared broke took brought "
    "followed opened closed checked counted dropped examined fixed gathered ignored kicked kept "
    "left missed noticed offered painted placed pushed received remembered replaced returned "
    "saved sent showed stole studied touched turned used visited mentioned discovered"
)
_QUALITIES = (
    "old small bright heavy quiet green odd yellow clever tall young happy tired round brave "
    "lucky quick golden empty warm broken strange cheap dark foreign fresh gentle huge famous "
    "hidden local modern narrow perfect rare simple secret wooden useful funny dirty"
)
_THINGS = (
    "box letter map coin bell lamp book key cup mirror clock bridge carpet hat ladder camera ship "
    "bottle bicycle picture ticket engine window knife paper flag gift hammer jacket basket "
    "machine wallet package question river violin umbrella table quilt glove zoo parcel"
)
_PLACES = (
    "harbour garden kitchen market palace school station tower village forest river bridge hotel "
    "castle church library mountain museum office prison square theatre island valley beach "
    "factory gate field hospital kingdom"
)
_WHERE = "near behind inside outside beyond above below towards across from at in by"
_WHEN = "when after before because while until although since and but"
_OPENINGS = (
    "yesterday once today later suddenly perhaps often again finally then at|last in|spring "
    "last|year every|morning after|dinner before|noon without|warning for|six|weeks"
)
_LITTLE = "a an and as at by for from in of on the to with last six without"


@lru_cache(maxsize=1)
def known_words() -> frozenset[str]:
    """Return the words that a message may be made of: those of the list, and all used here."""
    lists = (_PEOPLE, _ACTIONS, _QUALITIES, _THINGS, _PLACES, _WHERE, _WHEN, _LITTLE)
    own = " ".join([*lists, _OPENINGS.replace("|", " ")])
    return frozenset(own.split()).union(all_words())


@lru_cache(maxsize=1)
def longest_word() -> int:
    """Return the length of the longest of the known words."""
    return max(map(len, known_words()))


def draw_message(rng: Rng, n_words: int) -> list[str]:
    """Draw the words, in lower case, of sentences that have at least ``n_words`` in all."""
    words: list[str] = []
    while len(words) < n_words:
        words += _sentence(rng, n_words - len(words))
    return words


def made_of_words(letters: str) -> bool:
    """Whether lower-case letters without spaces can be divided into known words."""
    known, longest = known_words(), longest_word()
    ends = {0}  # how many of the first letters can be divided
    for end in range(1, len(letters) + 1):
        if any(
            start in ends and letters[start:end] in known for start in range(end - longest, end)
        ):
            ends.add(end)
    return bool(letters) and len(letters) in ends


def _sentence(rng: Rng, n_wanted: int) -> list[str]:
    words = _clause(rng)
    if n_wanted > 6 and rng.random() < 0.6:
        words += [_one(rng, _WHERE), "the", _one(rng, _PLACES)]
    if n_wanted > 9 and rng.random() < 0.6:
        words += [_one(rng, _WHEN), *_clause(rng)]
    if n_wanted > 6 and rng.random() < 0.4:
        words = [*_one(rng, _OPENINGS).split("|"), *words]
    return words


def _clause(rng: Rng) -> list[str]:
    return ["the", *_noun(rng, _PEOPLE), _one(rng, _ACTIONS), "the", *_noun(rng, _THINGS)]


def _noun(rng: Rng, nouns: str) -> list[str]:
    quality = [_one(rng, _QUALITIES)] if integer(rng, 0, 1) else []
    return [*quality, _one(rng, nouns)]


def _one(rng: Rng, words: str) -> str:
    return pick(rng, _divided(words))


@lru_cache(maxsize=16)
def _divided(words: str) -> list[str]:
    return words.split()
