"""A site: the pages of one world with a search engine over them, shared by its episodes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.worlds.articles import articles
from rlvr_envs.generators.worlds.dice import Dice
from rlvr_envs.generators.worlds.forms import MIXED, PLAIN, mixed
from rlvr_envs.generators.worlds.pages import Page
from rlvr_envs.generators.worlds.spec import WorldSpec
from rlvr_envs.generators.worlds.world import build_world
from rlvr_envs.retrieval.base import Document, Engine, Hit
from rlvr_envs.retrieval.engines import build

_KEPT = 16
# Below this many pages the plain engine is built at least as fast, and is there on any machine.
_SMALL = 1_000
_LINK = re.compile(r"\[([^\]\n]*)\]\([^)\n]*\)")


def unlinked(text: str) -> str:
    """Return a text with only the names of its links, as it is indexed."""
    return "".join(_LINK.split(text))  # split keeps the group: the names


def document(page: Page) -> str:
    """Return the text of a page with its headings, and of its links the names alone."""
    return "\n".join(f"## {part.heading}\n{unlinked(part.text)}" for part in page.sections)


@dataclass(frozen=True, slots=True)
class Site:
    """Pages by id, and an engine over them; neither ever changes."""

    pages: Mapping[str, Page]
    plain: Mapping[str, str]  # the text of a page without links and headings
    engine: Engine

    def page(self, page_id: str) -> Page | None:
        """Return the page of an address, None where a link is dead."""
        return self.pages.get(page_id)

    def text(self, page_id: str) -> str:
        """Return the text of a page, without links and headings."""
        return self.plain[page_id]


class Shelf:
    """The pages of a site as documents, for a retrieval server."""

    def __init__(self, pages: Site) -> None:
        self._site = pages

    def search(self, query: str, k: int) -> list[Hit]:
        """Return up to ``k`` hits, the best first."""
        return self._site.engine.search(query, k)

    def page(self, document_id: str) -> Document | None:
        """Return the document with an id, or None."""
        page = self._site.page(document_id)
        return None if page is None else Document(page.id, page.title, document(page))


@lru_cache(maxsize=_KEPT)
def site(spec: WorldSpec, seed: int, forms: str = PLAIN, prose: str = PLAIN) -> Site:
    """Return the site of a world, built once a process for as long as it is in use.

    Args:
        spec: what the world is like.
        seed: of the world.
        forms: how tables write numbers and years, one of `rlvr_envs.generators.worlds.forms.FORMS`.
        prose: how pages tell facts, one of `rlvr_envs.generators.worlds.articles.PROSE`.
    """
    pages = articles(build_world(spec, seed), prose)
    if forms == MIXED:
        dice = Dice(stream("search.forms", repr(spec), seed))
        pages = tuple(mixed(page, dice) for page in pages)
    plain = {
        page.id: unlinked("\n".join(section.text for section in page.sections)) for page in pages
    }
    documents = [Document(page.id, page.title, plain[page.id]) for page in pages]
    engine = build(documents, "bm25" if len(pages) < _SMALL else "auto")
    return Site({page.id: page for page in pages}, plain, engine)
