"""What can be said of a text: the numbers and words of conditions that it meets.

Every function takes a text with at least one word, and gives None where there is nothing to say.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from string import ascii_lowercase

from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.text_conditions.text_view import TextView

_COMMON = ("the", "a", "and", "of", "to", "in", "is", "was", "it", "with", "for", "on", "they")


@dataclass(frozen=True, slots=True)
class Details:
    """The numbers and the words in a condition; what they mean depends on its kind."""

    number: int = 0
    other: int = 0
    words: tuple[str, ...] = ()


def word_range(view: TextView, rng: Rng) -> Details:
    """Return how many words there may be: hardly more, so that text put around it is noticed."""
    count = len(view.words)
    low = max(1, count - integer(rng, 0, count // 8))
    return Details(low, count + integer(rng, 0, 1))


def topic(view: TextView, rng: Rng) -> Details:
    """Return two or three of the longer words."""
    words = [word for word in sorted(view.counts) if len(word) > 3] or sorted(view.counts)
    size = min(len(words), integer(rng, 2, 3))
    return Details(words=tuple(words[i] for i in rng.permutation(len(words))[:size].tolist()))


def word_count(view: TextView, rng: Rng) -> Details:
    """Return a word and how often it occurs."""
    word = pick(rng, sorted(view.counts))
    return Details(view.counts[word], words=(word,))


def missing_letter(view: TextView, rng: Rng) -> Details | None:
    """Return a letter that does not occur."""
    missing = [letter for letter in ascii_lowercase if letter not in view.letters]
    return Details(words=(pick(rng, missing),)) if missing else None


def letter_count(view: TextView, rng: Rng) -> Details | None:
    """Return a rare letter and how often it occurs."""
    counts = Counter(view.letters)
    few = [letter for letter in ascii_lowercase if 0 < counts[letter] <= 6]
    if not few:
        return None
    letter = pick(rng, few)
    return Details(counts[letter], words=(letter,))


def missing_words(view: TextView, rng: Rng) -> Details | None:
    """Return four common words that do not occur."""
    missing = [word for word in _COMMON if word not in view.counts]
    chosen = sorted(rng.permutation(len(missing))[:4].tolist())
    return Details(words=tuple(missing[i] for i in chosen)) if len(missing) > 3 else None


def sentence_length(view: TextView, rng: Rng) -> Details | None:
    """Return the number of a sentence and how many words it has."""
    if len(view.sentences) < 2:
        return None
    number = integer(rng, 1, len(view.sentences))
    return Details(number, len(view.sentences[number - 1]))


def edge_word(place: int) -> Callable[[TextView, Rng], Details | None]:
    """Return what gives the number of a sentence and its first (0) or last (-1) word."""

    def edge(view: TextView, rng: Rng) -> Details | None:
        if len(view.sentences) < 2:
            return None
        number = integer(rng, 1, len(view.sentences))
        return Details(number, words=(view.sentences[number - 1][place],))

    return edge


def paragraph_length(view: TextView, rng: Rng) -> Details | None:
    """Return the number of a paragraph and how many sentences it has."""
    if len(view.paragraphs) < 2:
        return None
    number = integer(rng, 1, len(view.paragraphs))
    return Details(number, len(view.paragraphs[number - 1]))


def paragraph_start(view: TextView, rng: Rng) -> Details | None:
    """Return the number of a later paragraph and its first word."""
    if len(view.paragraphs) < 2:
        return None
    number = integer(rng, 2, len(view.paragraphs))
    return Details(number, words=(view.paragraphs[number - 1][0][0],))


def starting_letter(view: TextView, rng: Rng) -> Details:
    """Return a letter and how many words begin with it."""
    letter = pick(rng, sorted(view.counts))[0]
    return Details(sum(word[0] == letter for word in view.words), words=(letter,))


def long_words(view: TextView, rng: Rng) -> Details | None:
    """Return a length and how many words have it or are longer."""
    length = integer(rng, 6, 8)
    count = sum(len(word) >= length for word in view.words)
    return Details(length, count) if count else None


def order(view: TextView, rng: Rng) -> Details | None:
    """Return two words in the order in which they first occur."""
    words = list(dict.fromkeys(view.words))
    if len(words) < 4:
        return None
    one, other = sorted(rng.permutation(len(words))[:2].tolist())
    return Details(words=(words[one], words[other]))
