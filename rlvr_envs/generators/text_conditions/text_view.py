"""A text, taken apart into words, sentences, paragraphs and lines by rules that can be stated."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cached_property

_WORD_DEFINITION = (
    "A word is an unbroken run of the letters a-z and A-Z. Any other character, such as a hyphen, "
    "an apostrophe or a digit, ends it. Words that differ only in case are the same word."
)
_SENTENCE_DEFINITION = (
    "A sentence has at least one word. It ends with a full stop, a question mark, an exclamation "
    "mark or the end of a line."
)
# A term and its definition, which is stated where a condition uses the term.
_DEFINITIONS = {
    "sentence": _SENTENCE_DEFINITION,
    "paragraph": "A paragraph has at least one word. Blank lines separate paragraphs.",
    "digits": "A number written in digits is an unbroken run of the digits 0-9.",
}
_NUMBERED = re.compile(r"\b(sentence|paragraph) [0-9]")

_WORD = re.compile(r"[A-Za-z]+")
_NUMBER = re.compile(r"[0-9]+")
_SENTENCE_END = re.compile(r"[.!?\n]")


def definitions(conditions: Iterable[str]) -> str:
    """Return the definitions of the terms that some conditions use, as a list."""
    said = " ".join(conditions).lower()
    found = [_WORD_DEFINITION, *(meaning for term, meaning in _DEFINITIONS.items() if term in said)]
    numbered = sorted({match[1] for match in _NUMBERED.finditer(said)}, reverse=True)
    if numbered:
        found.append(f"{'s and '.join(numbered).capitalize()}s are numbered from 1.")
    return "\n".join(f"- {meaning}" for meaning in found)


class TextView:
    """A text, and what it consists of; lists are made when they are first asked for."""

    def __init__(self, text: str) -> None:
        self.text = text.replace("\r\n", "\n").strip()

    @cached_property
    def written(self) -> list[str]:
        """The words as they are written."""
        return _WORD.findall(self.text)

    @cached_property
    def words(self) -> list[str]:
        """The words in lower case."""
        return [word.lower() for word in self.written]

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each word occurs."""
        return Counter(self.words)

    @cached_property
    def letters(self) -> str:
        """The letters a-z of the text, in lower case; look-alikes of other alphabets are none."""
        return "".join(self.words)

    @cached_property
    def numbers(self) -> list[str]:
        """The runs of digits."""
        return _NUMBER.findall(self.text)

    @cached_property
    def sentences(self) -> list[list[str]]:
        """The words of each sentence, in lower case."""
        return _sentences(self.text)

    @cached_property
    def openings(self) -> list[str]:
        """The first word of each sentence, as it is written."""
        found = (_WORD.search(part) for part in _SENTENCE_END.split(self.text))
        return [word.group() for word in found if word]

    @cached_property
    def lines(self) -> list[str]:
        """The lines that are not blank, without the spaces around them."""
        return [line.strip() for line in self.text.split("\n") if line.strip()]

    @cached_property
    def paragraphs(self) -> list[list[list[str]]]:
        """The words of each sentence of each paragraph, in lower case."""
        blocks, block = list[str](), list[str]()
        for line in [*self.text.split("\n"), ""]:
            if line.strip():
                block.append(line)
            elif block:
                blocks.append("\n".join(block))
                block = []
        return [sentences for text in blocks if (sentences := _sentences(text))]


def _sentences(text: str) -> list[list[str]]:
    parts = (_WORD.findall(part) for part in _SENTENCE_END.split(text))
    return [[word.lower() for word in words] for words in parts if words]
