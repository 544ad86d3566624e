"""The solvers that a proposed question is tried on where nobody brings one: four shortcuts.

Each is deterministic and stands for a way to the answer that goes no way at all: by what is
common in the world, by one search, by one page, by the first three pages. A question that they
answer asks for less than its hops say; none of them follows a second relation.
"""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from rlvr_envs.generators.worlds.plan import Hop, Plan
from rlvr_envs.generators.worlds.reading import Mention, Text, claims
from rlvr_envs.generators.worlds.site import Site
from rlvr_envs.generators.worlds.world import World
from rlvr_envs.retrieval.query import clean

_LINK = re.compile(r"\[([^\]\n]*)\]\([^)\n]*\)")
_HITS = 10
_PASSAGES = 3


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, with what its words say: the relation that it asks for and where it starts."""

    text: str
    plan: Plan
    world: World
    site: Site

    @property
    def starts(self) -> list[int]:
        """The things that the question names."""
        return [self.world.numbers[hop.entity] for hop in self.plan if hop.op == "name"]

    @property
    def last(self) -> Hop:
        """The last relation between two things that the question follows."""
        hop = self.plan[-1]
        while hop.op in ("both", "most", "least"):
            hop = self.plan[hop.inputs[0]]
        return hop

    def names(self, shown: str) -> bool:
        """Tell whether the question itself names something."""
        return shown.lower() in self.text.lower()

    def hits(self) -> list[str]:
        """Return the pages that one search with the question finds."""
        return [hit.id for hit in self.site.engine.search(clean(self.text), _HITS)]


def common(asked: Asked) -> str:
    """Answer with what the relation most often leads to in the whole world."""
    world, last = asked.world, asked.last
    along = last.op in ("follow", "at")
    counts = Counter(
        fact.value if along else fact.subject
        for fact in world.facts
        if fact.relation == last.relation
    )
    most = min(counts, key=lambda one: (-counts[one], one))
    return world.entities[most].label


def one_search(asked: Asked) -> str:
    """Answer with the first hit that the question does not name."""
    titles = (asked.site.pages[page].title for page in asked.hits())
    return next((title for title in titles if not asked.names(title)), "")


def one_page(asked: Asked) -> str:
    """Answer with what the page of a named thing tells of the relation that is asked for."""
    for start in asked.starts:
        page = asked.site.pages[asked.world.entities[start].id]
        lines = [line for section in page.sections for line in section.text.split("\n")]
        for claim in claims(Text(page.title, tuple(lines)), asked.last.relation):
            found = claim.value if claim.subject is None else claim.subject
            if isinstance(found, Mention):
                return found.shown
    return ""


def three_pages(asked: Asked) -> str:
    """Answer with what the first three hits link to most often, unless the question names it."""
    counts: Counter[str] = Counter()
    for page in asked.hits()[:_PASSAGES]:
        for section in asked.site.pages[page].sections:
            counts.update(name for name in _LINK.findall(section.text) if not asked.names(name))
    return min(counts, key=lambda name: (-counts[name], name), default="")


SHORTCUTS: tuple[Callable[[Asked], str], ...] = (common, one_search, one_page, three_pages)
