"""Common English words that word puzzles draw from; their source stands in `english_licence.txt`.

The list is part of the seeds' meaning: a changed list changes the problems of every word puzzle,
so it only ever changes together with their versions.
"""

import re
from functools import lru_cache
from importlib.resources import files

from rlvr_envs.verifiers.markup import unmarked

SHORTEST, LONGEST = 3, 8  # letters of the words in the list

_WORD = re.compile(r"[A-Za-z]+")


@lru_cache(maxsize=1)
def all_words() -> tuple[str, ...]:
    """Return every word, in lower case and in alphabetical order."""
    path = files("rlvr_envs.generators.words") / "english.txt"
    return tuple(path.read_text(encoding="ascii").split())


@lru_cache(maxsize=LONGEST)
def words_of(length: int) -> tuple[str, ...]:
    """Return the words of a length, in alphabetical order."""
    return tuple(word for word in all_words() if len(word) == length)


@lru_cache(maxsize=1)
def anagram_classes() -> dict[str, tuple[str, ...]]:
    """Return sorted letters → the words that are made of just these letters."""
    classes: dict[str, tuple[str, ...]] = {}
    for word in all_words():
        letters = "".join(sorted(word))
        classes[letters] = (*classes.get(letters, ()), word)
    return classes


def read_word(text: str) -> str | None:
    """Return an answer that is one word of the letters a-z, in lower case; None if it is not."""
    text = unmarked(text).strip("\"'.") if len(text) < 100 else ""
    return text.lower() if _WORD.fullmatch(text) else None
