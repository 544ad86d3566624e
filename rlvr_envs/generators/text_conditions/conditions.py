"""Conditions on a text that a program can check: what each says, and whether a text meets it.

Conditions are taken from a text that exists, so that any number of them can be met at once.
`text_view.definitions` explains their terms.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.generators.text_conditions import details as said
from rlvr_envs.generators.text_conditions.details import Details
from rlvr_envs.generators.text_conditions.text_view import TextView

_TITLE = re.compile(r"<<.*>>")
_MARKS = {"?": "question mark", "!": "exclamation mark", ",": "comma", ";": "semicolon"}


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition: the name of its kind, and its details."""

    kind: str
    details: Details

    def say(self) -> str:
        """Return the condition as a sentence."""
        return KINDS[self.kind].say(self.details)

    def holds(self, view: TextView) -> bool:
        """Return whether a text meets the condition."""
        return KINDS[self.kind].holds(self.details, view)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of condition.

    Attributes:
        say: a condition as a sentence.
        holds: whether a text meets a condition.
        offer: details of a condition that a text (with at least one word) meets, or None where
            there are none that would say much.
    """

    say: Callable[[Details], str]
    holds: Callable[[Details, TextView], bool]
    offer: Callable[[TextView, Rng], Details | None]


def offer(kind: str, view: TextView, rng: Rng) -> Condition | None:
    """Return a condition of a kind that the text meets; None where there is none."""
    details = KINDS[kind].offer(view, rng)
    return None if details is None else Condition(kind, details)


def _some(count: int, noun: str) -> str:
    """Return a number of things, such as ``1 word`` or ``3 words``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _between(low: int, high: int, noun: str) -> str:
    if low == high:
        return f"exactly {_some(low, noun)}"
    return f"at least {_some(low, noun)} and at most {_some(high, noun)}"


def _quoted(words: Sequence[str]) -> str:
    marked = [f'"{word}"' for word in words]
    return marked[0] if len(marked) == 1 else f"{', '.join(marked[:-1])} and {marked[-1]}"


def _item(items: Sequence[list[str]], number: int) -> list[str]:
    """Return item ``number``, from 1, or an empty one where there are fewer."""
    return items[number - 1] if number <= len(items) else []


def _initials(view: TextView) -> str:
    return "".join(sentence[0][0] for sentence in view.sentences)


def _capitals(view: TextView) -> int:
    return sum(len(word) > 1 and word.isupper() for word in view.written)


def _lengths(view: TextView) -> list[int]:
    return [len(sentence) for sentence in view.sentences]


def _in_order(details: Details, view: TextView) -> bool:
    one, other = details.words
    words = view.words
    return one in words and other in words and words.index(one) < words.index(other)


def _mark(mark: str) -> Kind:
    """Return the kind that counts a mark; that a text has none is said of commas alone."""
    noun = _MARKS[mark]
    return Kind(
        lambda d: (
            f"The text has {f'exactly {_some(d.number, noun)}' if d.number else f'no {noun}s'}."
        ),
        lambda d, view: view.text.count(mark) == d.number,
        lambda view, rng: (
            Details(view.text.count(mark)) if mark in view.text or mark == "," else None
        ),
    )


def _if(holds: Callable[[TextView], bool], sentence: str) -> Kind:
    """Return a kind of condition without details."""
    return Kind(
        lambda d: sentence,
        lambda d, view: holds(view),
        lambda view, rng: Details() if holds(view) else None,
    )


KINDS: dict[str, Kind] = {
    "words": Kind(
        lambda d: f"The text has {_between(d.number, d.other, 'word')}.",
        lambda d, view: d.number <= len(view.words) <= d.other,
        said.word_range,
    ),
    "topic": Kind(
        lambda d: f"The text contains the words {_quoted(d.words)}.",
        lambda d, view: set(d.words) <= set(view.counts),
        said.topic,
    ),
    "repetition": Kind(
        lambda d: f"No word occurs more than {_times(d.number)}.",
        lambda d, view: 0 < max(view.counts.values(), default=0) <= d.number,
        lambda view, rng: Details(max(view.counts.values())),
    ),
    "sentences": Kind(
        lambda d: f"The text has exactly {_some(d.number, 'sentence')}.",
        lambda d, view: len(view.sentences) == d.number,
        lambda view, rng: Details(len(view.sentences)),
    ),
    "paragraphs": Kind(
        lambda d: f"The text has exactly {_some(d.number, 'paragraph')}.",
        lambda d, view: len(view.paragraphs) == d.number,
        lambda view, rng: Details(len(view.paragraphs)),
    ),
    "first word": Kind(
        lambda d: f"The first word is {_quoted(d.words)}.",
        lambda d, view: view.words[:1] == list(d.words),
        lambda view, rng: Details(words=(view.words[0],)),
    ),
    "last word": Kind(
        lambda d: f"The last word is {_quoted(d.words)}.",
        lambda d, view: view.words[-1:] == list(d.words),
        lambda view, rng: Details(words=(view.words[-1],)),
    ),
    "word count": Kind(
        lambda d: f"The word {_quoted(d.words)} occurs exactly {_times(d.number)}.",
        lambda d, view: view.counts[d.words[0]] == d.number,
        said.word_count,
    ),
    "missing letter": Kind(
        lambda d: f"The letter {_quoted(d.words)} does not occur, in upper or lower case.",
        lambda d, view: d.words[0] not in view.letters,
        said.missing_letter,
    ),
    "letter count": Kind(
        lambda d: (
            f"The letter {_quoted(d.words)} occurs exactly {_times(d.number)}, counting upper and "
            "lower case together."
        ),
        lambda d, view: view.letters.count(d.words[0]) == d.number,
        said.letter_count,
    ),
    "missing words": Kind(
        lambda d: f"The text contains none of the words {_quoted(d.words)}.",
        lambda d, view: not set(d.words) & set(view.counts),
        said.missing_words,
    ),
    "sentence lengths": Kind(
        lambda d: f"Every sentence has {_between(d.number, d.other, 'word')}.",
        lambda d, view: all(d.number <= length <= d.other for length in _lengths(view)),
        lambda view, rng: Details(min(_lengths(view)), max(_lengths(view))),
    ),
    "sentence length": Kind(
        lambda d: f"Sentence {d.number} has exactly {_some(d.other, 'word')}.",
        lambda d, view: len(_item(view.sentences, d.number)) == d.other,
        said.sentence_length,
    ),
    "sentence start": Kind(
        lambda d: f"Sentence {d.number} begins with the word {_quoted(d.words)}.",
        lambda d, view: _item(view.sentences, d.number)[:1] == list(d.words),
        said.edge_word(0),
    ),
    "sentence end": Kind(
        lambda d: f"The last word of sentence {d.number} is {_quoted(d.words)}.",
        lambda d, view: _item(view.sentences, d.number)[-1:] == list(d.words),
        said.edge_word(-1),
    ),
    "initials": Kind(
        lambda d: (
            "The first letters of the sentences, one after another, spell "
            f"{_quoted(d.words)}; case does not matter."
        ),
        lambda d, view: _initials(view) == d.words[0],
        lambda view, rng: Details(words=(_initials(view),)) if len(view.sentences) > 1 else None,
    ),
    "growing sentences": _if(
        lambda view: (
            len(view.sentences) > 1
            and all(a < b for a, b in zip(_lengths(view), _lengths(view)[1:], strict=False))
        ),
        "There are at least two sentences, and each after the first has more words than the one "
        "before it.",
    ),
    "same ends": _if(
        lambda view: len(view.sentences) > 1 and view.sentences[0] == view.sentences[-1],
        "There are at least two sentences, and the last has the same words as the first, in the "
        "same order.",
    ),
    "paragraph length": Kind(
        lambda d: f"Paragraph {d.number} has exactly {_some(d.other, 'sentence')}.",
        lambda d, view: (
            d.number <= len(view.paragraphs) and len(view.paragraphs[d.number - 1]) == d.other
        ),
        said.paragraph_length,
    ),
    "paragraph start": Kind(
        lambda d: f"Paragraph {d.number} begins with the word {_quoted(d.words)}.",
        lambda d, view: (
            d.number <= len(view.paragraphs) and view.paragraphs[d.number - 1][0][0] == d.words[0]
        ),
        said.paragraph_start,
    ),
    "lower case": _if(
        lambda view: view.text == view.text.lower(), "The text has no capital letters."
    ),
    "upper case": _if(
        lambda view: view.text == view.text.upper(), "The text has no lower-case letters."
    ),
    "sentence case": _if(
        lambda view: bool(view.openings) and all(word[0].isupper() for word in view.openings),
        "The first word of every sentence begins with a capital letter.",
    ),
    "capitals": Kind(
        lambda d: (
            f"Exactly {_some(d.number, 'word')} of two letters or more "
            f"{'is' if d.number == 1 else 'are'} written entirely in capital letters."
        ),
        lambda d, view: _capitals(view) == d.number,
        lambda view, rng: Details(n) if 0 < (n := _capitals(view)) < len(view.words) else None,
    ),
    "question marks": _mark("?"),
    "exclamation marks": _mark("!"),
    "commas": _mark(","),
    "semicolons": _mark(";"),
    "numbers": Kind(
        lambda d: f"The text has exactly {_some(d.number, 'number')} written in digits.",
        lambda d, view: len(view.numbers) == d.number,
        lambda view, rng: Details(len(view.numbers)) if view.numbers else None,
    ),
    "number": Kind(
        lambda d: f"The text contains the number {d.words[0]}, written in digits.",
        lambda d, view: d.words[0] in view.numbers,
        lambda view, rng: Details(words=(pick(rng, view.numbers),)) if view.numbers else None,
    ),
    "list items": Kind(
        lambda d: (
            f"Exactly {_some(d.number, 'line')} {'begins' if d.number == 1 else 'begin'} "
            "with a hyphen and a space."
        ),
        lambda d, view: sum(line.startswith("- ") for line in view.lines) == d.number,
        lambda view, rng: (
            Details(n) if (n := sum(line.startswith("- ") for line in view.lines)) else None
        ),
    ),
    "title": _if(
        lambda view: view.lines[:1] != [] and bool(_TITLE.fullmatch(view.lines[0])),
        "The first line begins with << and ends with >>.",
    ),
    "quotation": _if(
        lambda view: len(view.text) > 1 and view.text[0] == view.text[-1] == '"',
        'The text begins and ends with a double quotation mark (").',
    ),
    "longest word": Kind(
        lambda d: f"No word has more than {_some(d.number, 'letter')}.",
        lambda d, view: max(map(len, view.words), default=0) <= d.number,
        lambda view, rng: Details(max(map(len, view.words))),
    ),
    "long words": Kind(
        lambda d: (
            f"Exactly {_some(d.other, 'word')} {'has' if d.other == 1 else 'have'} "
            f"{d.number} letters or more."
        ),
        lambda d, view: sum(len(word) >= d.number for word in view.words) == d.other,
        said.long_words,
    ),
    "starting letter": Kind(
        lambda d: (
            f"Exactly {_some(d.number, 'word')} {'begins' if d.number == 1 else 'begin'} "
            f"with the letter {_quoted(d.words)}."
        ),
        lambda d, view: sum(word[0] == d.words[0] for word in view.words) == d.number,
        said.starting_letter,
    ),
    "order": Kind(
        lambda d: (
            f'The words "{d.words[0]}" and "{d.words[1]}" both occur, and the first '
            f'"{d.words[0]}" comes before the first "{d.words[1]}".'
        ),
        _in_order,
        said.order,
    ),
    "different words": Kind(
        lambda d: f"The text has exactly {_some(d.number, 'different word')}.",
        lambda d, view: len(view.counts) == d.number,
        lambda view, rng: Details(len(view.counts)) if len(view.words) > 1 else None,
    ),
}
