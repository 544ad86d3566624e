"""The plain writer: a world rendered as linked pages, one an entity, each fact told exactly once.

A fact that two sources tell differently is told twice, each time with its source; the false
report stands where the fact could have stood as well. `Library` also says where a fact is told
and whom a page names, which is what the questions' gates ask.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.worlds import sentences as words
from rlvr_envs.generators.worlds.dice import Dice
from rlvr_envs.generators.worlds.facts import Fact
from rlvr_envs.generators.worlds.names import slug
from rlvr_envs.generators.worlds.pages import Page, Section
from rlvr_envs.generators.worlds.schema import RELATIONS
from rlvr_envs.generators.worlds.world import Report, World

_VOWELS = "aeiou"


@dataclass(frozen=True, slots=True)
class Library:
    """The pages of a world, page i about entity i."""

    world: World
    pages: tuple[Page, ...]
    told: tuple[int, ...]  # the page of every fact
    named: tuple[frozenset[int], ...]  # the entities that a page names
    denied: dict[int, int]  # the page of the false report about a fact, where there is one


@dataclass(slots=True)
class Draft:
    """A page in the making."""

    own: list[str] = field(default_factory=list)
    noted: list[str] = field(default_factory=list)  # about other entities
    rows: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    see: list[int] = field(default_factory=list)
    named: set[int] = field(default_factory=set)


class Writer:
    """Writes all pages of one world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.dice = Dice(stream("search.articles", repr(world.spec), world.seed))
        self.drafts = [Draft() for _ in world.entities]
        self.told: list[int] = []
        self.denied: dict[int, int] = {}

    def mention(self, page: int, entity: int) -> str:
        """Write a link to an entity, by one of its names; some links are dead."""
        self.drafts[page].named.add(entity)
        spec, dice, target = self.world.spec, self.dice, self.world.entities[entity]
        shown = target.label
        if target.alias is not None and dice.chance(spec.alias_use):
            shown = target.alias
        if spec.dead_link_rate and dice.chance(spec.dead_link_rate):
            return f"[{shown}]({slug(shown)}-lost)"
        return f"[{shown}]({target.id})"

    def subject(self, page: int, entity: int) -> str:
        """Write the subject of a sentence: its name at home, a link elsewhere."""
        return self.world.entities[entity].name if page == entity else self.mention(page, entity)

    def value(self, page: int, relation: str, value: int) -> str:
        """Write the value of a fact."""
        kind = RELATIONS[relation].value
        if kind == "year":
            return str(value)
        return f"{value:,}" if kind == "amount" else self.subject(page, value)

    def sentence(self, page: int, fact: Fact, value: int, report: Report | None) -> str:
        """Write the sentence that tells a fact, with its source if it has one."""
        patterns = words.FACTS[fact.relation]
        used = min(len(patterns), self.world.spec.paraphrases)
        pattern = patterns[self.dice.below(used)]
        lead = ""
        if report is not None:
            lead = words.ACCORDING.format(source=report.source, year=report.year)
            if not pattern.startswith("{"):
                pattern = pattern[0].lower() + pattern[1:]
        return lead + pattern.format(
            s=self.subject(page, fact.subject),
            o=self.value(page, fact.relation, value),
            a=fact.start,
            b=fact.end,
        )

    def host(self, fact: Fact, value: int) -> int:
        """Find another page for a fact: its value's, or one that the subject's page leads to."""
        if not RELATIONS[fact.relation].is_number:
            return value
        for relation in (
            "birthplace",
            "teacher",
            "seat",
            "author",
            "publisher",
            "venue",
            "namesake",
        ):
            for index in self.world.of.get((fact.subject, relation), ()):
                return self.world.facts[index].value
        return fact.subject

    def tell(self, fact: Fact, value: int, report: Report | None) -> int:
        """Put a fact on a page, in the form that the spec's shares give; return the page."""
        spec, dice, home = self.world.spec, self.dice, fact.subject
        u = dice.unit()
        if u < spec.elsewhere:
            page = self.host(fact, value)
            if page != home:
                self.drafts[page].noted.append(self.sentence(page, fact, value, report))
                self.drafts[home].see.append(page)
                return page
        draft = self.drafts[home]
        u -= spec.elsewhere
        if 0 <= u < spec.in_table and report is None:
            label = words.ROWS[fact.relation].format(a=fact.start, b=fact.end)
            draft.rows.append(f"| {label} | {self.value(home, fact.relation, value)} |")
            return home
        text = self.sentence(home, fact, value, report)
        if 0 <= u - spec.in_table < spec.in_footnote:
            draft.notes.append(f"[{len(draft.notes) + 1}] {text}")
            topic = words.ROWS[fact.relation].format(a=fact.start, b=fact.end)
            text = dice.pick(words.NOTED).format(
                topic=topic[0].lower() + topic[1:],
                s=self.world.entities[home].name,
                n=len(draft.notes),
            )
        draft.own.append(text)
        return home

    def write(self) -> None:
        """Tell every fact, and every false report."""
        conflicts = self.world.conflicts
        for index, fact in enumerate(self.world.facts):
            conflict = conflicts.get(index)
            if conflict is None:
                self.told.append(self.tell(fact, fact.value, None))
                continue
            if self.dice.chance(0.5):
                self.denied[index] = self.tell(fact, conflict.value, conflict.false)
                self.told.append(self.tell(fact, fact.value, conflict.true))
            else:
                self.told.append(self.tell(fact, fact.value, conflict.true))
                self.denied[index] = self.tell(fact, conflict.value, conflict.false)

    def distract(self, page: int) -> None:
        """Add sentences that mention another entity and tell no fact."""
        world, dice, draft = self.world, self.dice, self.drafts[page]
        for _ in range(world.spec.distractors):
            other = dice.below(len(world.entities))
            if other != page:
                text = dice.pick(words.DISTRACTORS[world.kind(other)])
                text = text.format(s=world.entities[page].name, o=self.mention(page, other))
                draft.own.append(text)

    def sections(self, page: int) -> Iterator[Section]:
        """Lay a page out; a section without content is left away."""
        entity, draft, dice = self.world.entities[page], self.drafts[page], self.dice
        article = "an" if entity.noun[0] in _VOWELS else "a"
        opening = [words.IS_A.format(s=entity.name, article=article, noun=entity.noun)]
        if entity.alias:
            opening.append(words.ALIAS.format(s=entity.name, o=entity.alias))
        yield Section("Overview", " ".join([*opening, *self.padding()]))
        order = dice.sample(len(draft.own), len(draft.own))
        headings = words.HEADINGS[entity.kind]
        for i, heading in enumerate(headings):
            lines = [draft.own[j] for j in order[i :: len(headings)]]
            if lines:
                yield Section(heading, " ".join([*lines, *self.padding()]))
        yield from self.lists(page)

    def lists(self, page: int) -> Iterator[Section]:
        """Lay out what is not running text."""
        draft = self.drafts[page]
        if draft.noted:
            yield Section("Also recorded", "\n".join(f"- {line}" for line in draft.noted))
        if draft.rows:
            yield Section("Data", "\n".join(["| Entry | Value |", "| --- | --- |", *draft.rows]))
        if draft.notes:
            yield Section("Notes", "\n".join(draft.notes))
        if draft.see:
            links = [self.mention(page, other) for other in sorted(set(draft.see))]
            yield Section("See also", "\n".join(f"- {link}" for link in links))

    def padding(self) -> Iterator[str]:
        """Draw the sentences that only make a section longer."""
        for _ in range(self.world.spec.fillers):
            yield f"{self.dice.pick(words.FILLER_STARTS)} {self.dice.pick(words.FILLER_ENDS)}"

    def page(self, number: int) -> Page:
        """Write the page of an entity; all facts must have been told."""
        entity = self.world.entities[number]
        self.distract(number)
        self.drafts[number].named.add(number)
        return Page(entity.id, entity.label, tuple(self.sections(number)))

    def library(self) -> Library:
        """Write everything and return it."""
        self.write()
        pages = tuple(self.page(i) for i in range(len(self.world.entities)))
        named = tuple(frozenset(draft.named) for draft in self.drafts)
        return Library(self.world, pages, tuple(self.told), named, self.denied)
