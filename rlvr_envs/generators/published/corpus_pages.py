"""Documents of a corpus as pages: addresses that can be written in a call, sections, clean text.

A corpus is somebody else's text. What a browser shows of it has no control characters, and an id
that a call could not hold is shown encoded as in a URL (``a#b`` as ``a%23b``) and opens in that
form.
"""

import re
from typing import Protocol
from urllib.parse import quote, unquote

from rlvr_envs.generators.worlds.pages import Page, Section
from rlvr_envs.retrieval.base import Document, Hit

_NEIGHBOURS = 2  # passages of the same title that are shown on each side of one
_MOST_HEADINGS = 100  # a text with more of them is shown as one section
_TITLE_CHARS = 200
_UNTITLED = "Untitled"
_LEAD = "Text"

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_UNWRITABLE = re.compile("[#<>`]|^\\s|\\s$|[^\\S ]|[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_PRINTED = "!\"$&'()*+,-./:;=?@[]^_{|}~"  # what stands for itself in an encoded id
_HEADING = re.compile(
    r"^(?:#{1,6} +(\S.{0,98}?)|(={2,6}) *([^\s=][^=\n]{0,98}?) *\2)[ \t]*$", re.MULTILINE
)


class Collection(Protocol):
    """Documents that can be searched and read: a corpus on disk, in memory, or on a server."""

    def search(self, query: str, k: int) -> list[Hit]:
        """Return up to ``k`` hits, the best first."""

    def page(self, document_id: str) -> Document | None:
        """Return the document with an id, or None."""

    def neighbours(self, document_id: str, count: int) -> tuple[list[Document], list[Document]]:
        """Return up to ``count`` passages before and after one, of the same title."""

    def __len__(self) -> int:
        """Return the number of documents."""


class CorpusSite:
    """A collection as a browser takes it: pages by address, and an engine that finds addresses."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection

    @property
    def engine(self) -> "CorpusSite":
        """What searches: the site itself."""
        return self

    def search(self, query: str, k: int) -> list[Hit]:
        """Return up to ``k`` hits, with addresses for ids and a title each."""
        found = self._collection.search(query, k)
        return [Hit(address(hit.id), shown_title(hit.title), hit.score) for hit in found]

    def page(self, page_address: str) -> Page | None:
        """Return the page at an address, None where there is none."""
        document = self._document(page_address)
        if document is None:
            return None
        before, after = self._collection.neighbours(document.id, _NEIGHBOURS)
        sections = _with_neighbours(document, before, after) if before or after else ()
        return Page(
            address(document.id),
            shown_title(document.title),
            sections or _sections(shown_text(document.text)),
        )

    def text(self, page_address: str) -> str:
        """Return the text of a document, on one line; empty where there is none."""
        document = self._document(page_address)
        return "" if document is None else " ".join(_CONTROL.sub(" ", document.text).split())

    def _document(self, page_address: str) -> Document | None:
        found = self._collection.page(page_address)
        if found is not None or "%" not in page_address:
            return found
        try:
            document_id = unquote(page_address, errors="surrogatepass")
        except UnicodeDecodeError:
            return None
        return self._collection.page(document_id)

    def __len__(self) -> int:
        return len(self._collection)


def address(document_id: str) -> str:
    """Return what a document is opened by: its id, encoded where a call could not hold that."""
    if not _UNWRITABLE.search(document_id):
        return document_id
    return quote(document_id, safe=_PRINTED, errors="surrogatepass")


def shown_title(title: str) -> str:
    """Return a title on one line."""
    return " ".join(_CONTROL.sub(" ", title[:_TITLE_CHARS]).split()) or _UNTITLED


def shown_text(text: str) -> str:
    """Return a text without control characters."""
    return _CONTROL.sub(" ", text.replace("\r\n", "\n"))


def _sections(text: str) -> tuple[Section, ...]:
    """Return the sections of a text: at headings of Markdown (``## A``) or of a wiki (``== A ==``).

    What comes before the first heading is a section of its own.
    """
    headings = list(_HEADING.finditer(text))
    if not headings or len(headings) > _MOST_HEADINGS:
        return (Section(_LEAD, text),)
    ends = [*(found.start() for found in headings[1:]), len(text)]
    lead = text[: headings[0].start()].strip("\n")
    found = [
        Section(heading[1] or heading[3], text[heading.end() : end].strip("\n"))
        for heading, end in zip(headings, ends, strict=True)
    ]
    return (Section(_LEAD, lead), *found) if lead else tuple(found)


def _with_neighbours(
    document: Document, before: list[Document], after: list[Document]
) -> tuple[Section, ...]:
    """Return a passage first, so that it is in the first part, and what stands around it."""
    told = [("Passage", [document]), ("Before it", before), ("After it", after)]
    return tuple(
        Section(f"{where}: {address(passage.id)}", shown_text(passage.text))
        for where, passages in told
        for passage in passages
    )
