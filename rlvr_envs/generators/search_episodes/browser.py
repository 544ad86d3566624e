"""The tools of one episode: search, open and find, with every limit.

A long result comes in parts: an argument that ends in `#2` asks for the second. Nothing here
draws randomness; which calls fail follows from the episode's seed and the number of the call.
Pages are data: whatever stands on one is shown, and nothing of it is read as a call or a frame.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.search_episodes.protocol import FIND, OPEN, SEARCH, Call, quoted
from rlvr_envs.generators.worlds.pages import Page
from rlvr_envs.generators.worlds.site import document
from rlvr_envs.retrieval.base import Hit
from rlvr_envs.retrieval.query import clean, read

_HITS = 50  # of a search, all parts together
_AROUND = 70  # characters shown on each side of a word that was found
_SHOWN = 80  # characters of an argument that a message repeats
_PART = re.compile(r"#(\d{1,4})\Z", re.ASCII)
# A sentence may end in the number of a note.
_SENTENCE_END = re.compile(r"(?<=\.) |(?<=\.\[\d\]) |(?<=\.\[\d\d\]) ")
FAILED = "The tool did not respond. Try again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the tools of an episode give."""

    max_calls: int
    part_chars: int = 3_000  # of a page in one result
    hits: int = 10  # of a search in one result
    failure_rate: float = 0.0  # calls that fail, which costs the call

    def __post_init__(self) -> None:
        if self.max_calls < 1 or self.hits < 1 or self.part_chars < 500:
            raise ConfigError(
                f"need max_calls >= 1, hits >= 1 and part_chars >= 500, got {self.max_calls}, "
                f"{self.hits} and {self.part_chars}"
            )
        if not 0 <= self.failure_rate <= 0.5:
            raise ConfigError(f"failure_rate is in [0, 0.5], got {self.failure_rate}")


class Searcher(Protocol):
    """What finds pages."""

    def search(self, query: str, k: int) -> list[Hit]:
        """Return up to ``k`` hits, the best first."""


class Pages(Protocol):
    """What a browser shows: pages by address, and an engine over them."""

    @property
    def engine(self) -> Searcher:
        """What finds pages."""

    def page(self, page_id: str) -> Page | None:
        """Return the page at an address, None where there is none."""

    def text(self, page_id: str) -> str:
        """Return the text of a page that was found, without links and headings."""


class Browser:
    """The state of one episode over a site.

    Args:
        site: the pages, and what finds them.
        limits: what the tools give.
        seed: decides which calls fail.
        whole: whether a search shows whole documents, as Search-R1's does; these count as opened.

    Attributes:
        calls: how many calls were made, those that failed included.
        opened: the ids of the pages that were opened, in order.
    """

    def __init__(self, site: Pages, limits: Limits, seed: int = 0, *, whole: bool = False) -> None:
        self._site = site
        self._limits = limits
        self._seed = seed
        self._whole = whole
        self._page: Page | None = None
        self.calls = 0
        self.opened: dict[str, None] = {}

    @property
    def left(self) -> int:
        """How many calls there still are."""
        return self._limits.max_calls - self.calls

    def spend(self) -> None:
        """Count a call that could not be read."""
        self.calls += 1

    def run(self, call: Call) -> str:
        """Run a call of a tool and return its result; once the calls are used up, say so."""
        if self.left < 1:
            return "All calls are used up. Give your answer."
        self.calls += 1
        if self._fails():
            return FAILED
        tools = {SEARCH: self._search, OPEN: self._open, FIND: self._find}
        return quoted(tools[call.tool](call.text))

    def _fails(self) -> bool:
        rate = self._limits.failure_rate
        if not rate:
            return False
        return float(stream("search.failures", self._seed, self.calls).random()) < rate

    def _search(self, text: str) -> str:
        query, number = _numbered(clean(text))
        found = self._site.engine.search(query, _HITS)
        if not found:
            return (
                "Nothing was found. Words in double quotes must occur as a phrase: use fewer "
                "words, or no quotes."
            )
        asked = read(query)
        needle = " ".join(asked.phrases[0]) if asked.phrases else max(asked.words, key=len)
        size = self._limits.hits
        parts = [found[i : i + size] for i in range(0, len(found), size)]
        if not 1 <= number <= len(parts):
            return _missing(number, len(parts))
        shown = parts[number - 1]
        if self._whole:
            return "\n".join(map(self._read, shown, range(1 + (number - 1) * size, len(found) + 1)))
        lines = [
            f"{_line(hit.title)} ({_line(hit.id)}): {self._around(hit.id, needle)}" for hit in shown
        ]
        return "\n".join([f"{len(found)} found{_of(number, len(parts))}:", *lines])

    def _read(self, hit: Hit, number: int) -> str:
        """Return a document as Search-R1 shows it, which counts as opened."""
        self.opened[hit.id] = None
        return f'Doc {number}(Title: "{_line(hit.title)}") {self._contents(hit.id)}'

    def _contents(self, page_id: str) -> str:
        """Return all that a page says."""
        page = self._site.page(page_id)
        return self._site.text(page_id) if page is None else document(page)

    def _around(self, page_id: str, needle: str) -> str:
        """Return the text around the first place where a page has some words, or its opening."""
        text = self._site.text(page_id)
        # Between the words of a phrase there may be brackets, as in "Name (town)".
        words = r"\W+".join(map(re.escape, needle.split()))
        found = re.search(rf"\b{words}\b", text, re.IGNORECASE)
        at, to = found.span() if found else (0, 0)
        begin, end = max(0, at - _AROUND), to + _AROUND
        middle = " ".join(text[begin:end].split())
        return f"{'...' if begin else ''}{middle}{'...' if end < len(text) else ''}"

    def _open(self, text: str) -> str:
        address, number = _numbered(text)
        page_id, _, heading = address.partition("#")
        page = self._site.page(page_id.strip())
        if page is None:
            return (
                f"There is no page with the id {_repeated(page_id)}. Search for the page by name."
            )
        sections = page.sections
        if heading.strip():
            asked = heading.strip().casefold()
            sections = tuple(s for s in sections if s.heading.casefold() == asked)
            if not sections:
                known = _line(", ".join(section.heading for section in page.sections))
                known = split([known], self._limits.part_chars)[0]
                title = _line(page.title)
                return f"{title} has no section {_repeated(heading)}. Its sections: {known}."
        lines = [line for s in sections for line in (f"## {_line(s.heading)}", *s.text.split("\n"))]
        parts = split(lines, self._limits.part_chars)
        if not 1 <= number <= len(parts):
            return _missing(number, len(parts))
        self._page = page
        self.opened[page.id] = None
        return f"# {_line(page.title)}{_of(number, len(parts))}\n{parts[number - 1]}"

    def _find(self, text: str) -> str:
        if self._page is None:
            return "Open a page first: this tool looks for text on the page opened last."
        sought, number = _numbered(text)
        if not sought:
            return "Give a text to find."
        lines = [
            f"{_line(section.heading)}: {sentence}"
            for section in self._page.sections
            for line in section.text.split("\n")
            for sentence in _SENTENCE_END.split(line)
            if sought.casefold() in sentence.casefold()
        ]
        if not lines:
            return f"{_line(self._page.title)} does not contain the text {_repeated(sought)}."
        parts = split(lines, self._limits.part_chars)
        if not 1 <= number <= len(parts):
            return _missing(number, len(parts))
        found = f"{len(lines)} found on {_line(self._page.title)}{_of(number, len(parts))}:"
        return f"{found}\n{parts[number - 1]}"


def _numbered(text: str) -> tuple[str, int]:
    """Split an argument into itself and the part that its end asks for, 1 unless it says so."""
    text = text.strip()
    asked = _PART.search(text)
    return (text[: asked.start()].strip(), int(asked[1])) if asked else (text, 1)


def _missing(number: int, count: int) -> str:
    return f"There is no part {number}: the result has {count} part{'s' if count > 1 else ''}."


def _of(number: int, count: int) -> str:
    """Say which part of a result this is, and how to get the next."""
    if count == 1:
        return ""
    more = f"; end the call with #{number + 1} for the next" if number < count else ""
    return f" (part {number} of {count}{more})"


def _repeated(text: str) -> str:
    """Return the beginning of what a model wrote, in quotes and on one line."""
    return ascii(text.strip()[:_SHOWN])


def _line(text: str) -> str:
    """Return a title or a heading on one line, so that it cannot pass for the lines after it."""
    return " ".join(text.split())


def split(lines: Sequence[str], limit: int) -> list[str]:
    """Put lines together into parts of at most so many characters.

    A longer line is cut at its sentences, and a sentence that is longer still wherever it must be.
    """
    parts: list[str] = []
    part = ""
    for line in lines:
        for joint, piece in _pieces(line, limit):
            if part and len(part) + len(joint) + len(piece) > limit:
                parts.append(part)
                part = piece
            else:
                part = f"{part}{joint}{piece}" if part else piece
    return [*parts, part]


def _pieces(line: str, limit: int) -> Iterator[tuple[str, str]]:
    """Yield the pieces of a line, each with what joins it to the one before."""
    for i, sentence in enumerate(_SENTENCE_END.split(line) if len(line) > limit else [line]):
        yield " " if i else "\n", sentence[:limit]
        for at in range(limit, len(sentence), limit):
            yield "", sentence[at : at + limit]
