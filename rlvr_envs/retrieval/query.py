"""How text becomes words, and how a query is read: the same for every embedded engine.

A query is what a model wrote, so nothing in it is syntax that could fail or grow: text between
double quotes is a phrase, everything else is plain words. What is too long is cut: a query after
`MAX_CHARS` characters, its words after `MAX_WORDS`, its phrases after `MAX_PHRASES`, and a phrase
after `MAX_PHRASE_WORDS` words.
"""

import re
import unicodedata
from dataclasses import dataclass

MAX_CHARS = 2_000
MAX_WORDS = 32
MAX_PHRASES = 8
MAX_PHRASE_WORDS = 16
MAX_WORD_CHARS = 64  # what a word has beyond them is cut, in documents and queries alike

# Chinese and Japanese write no spaces: each of their characters is a word.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_QUOTED = re.compile(r'["\u201c\u201d\u201e]([^"\u201c\u201d\u201e]*)["\u201c\u201d\u201e]')

# Words that say nothing about what a page is about; a query of nothing else keeps them.
_EMPTY_WORDS = (
    "a an and are as at be by did do does for from had has have how in into is it its of on or "
    "that the their there these they this to was were what when where which who whom whose will "
    "with"
)
STOP_WORDS = frozenset(_EMPTY_WORDS.split())


@dataclass(frozen=True, slots=True)
class Query:
    """A query as the engines run it.

    Attributes:
        words: each once, in the order of the query; a document that has more of them, and rarer
            ones, comes first.
        phrases: words in a row that a hit has to have, in its title or in its text.
    """

    words: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...]

    def __bool__(self) -> bool:
        return bool(self.words or self.phrases)


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, without accents, other marks, punctuation."""
    if text.isascii():
        found = _ASCII_WORD.findall(text.lower())
    else:
        plain = unicodedata.normalize("NFKD", text).casefold()
        found = _WORD.findall("".join(c for c in plain if unicodedata.category(c)[0] != "M"))
    if found and max(map(len, found)) > MAX_WORD_CHARS:
        return [word[:MAX_WORD_CHARS] for word in found]
    return found


def clean(text: str) -> str:
    """Return text that can be sent somewhere: no longer than a query, and valid UTF-8."""
    return text[:MAX_CHARS].encode("utf-8", "replace").decode()


def read(text: str) -> Query:
    """Return what a query asks for; any text is a query, and one without words finds nothing."""
    text = text[:MAX_CHARS]
    phrases: list[tuple[str, ...]] = []
    for quoted in _QUOTED.findall(text):
        phrase = tuple(words(quoted)[:MAX_PHRASE_WORDS])
        if phrase and phrase not in phrases:
            phrases.append(phrase)
    loose = list(dict.fromkeys(words(_QUOTED.sub(" ", text))))
    telling = [word for word in loose if word not in STOP_WORDS]
    kept = telling if telling or phrases else loose
    return Query(tuple(kept[:MAX_WORDS]), tuple(phrases[:MAX_PHRASES]))
