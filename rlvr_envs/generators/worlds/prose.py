"""The writer of varied prose: pages of several genres whose sentences tell one to four facts.

Facts stand where the plain writer could have put them: on the page of their subject or on one
that it lists under "See also", in text, a table or a note. What differs is how a page tells them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.worlds import genres, predicates
from rlvr_envs.generators.worlds import sentences as words
from rlvr_envs.generators.worlds.dice import Dice
from rlvr_envs.generators.worlds.facts import Fact
from rlvr_envs.generators.worlds.genres import Genre
from rlvr_envs.generators.worlds.numerals import in_words, year_in_words
from rlvr_envs.generators.worlds.pages import Section
from rlvr_envs.generators.worlds.schema import RELATIONS
from rlvr_envs.generators.worlds.voice import OBJECT, POSSESSIVE, PRONOUNS, SUBJECT, Voice
from rlvr_envs.generators.worlds.world import Report, World
from rlvr_envs.generators.worlds.writing import Writer

_IN_WORDS = 0.25  # numbers that are spelt out
_FRAMED = 0.3  # statements that stand in a frame
_TURNED = 0.3  # statements of one fact about the page's subject that begin with the value
_OWNED = 0.25
_AS_PLAIN = 0.1  # in a sentence of the plain writer
_MERGED = 0.6  # values of one relation that share a predicate
_SIZES = (1, 1, 2, 2, 2, 3, 3)  # predicates of a sentence
_MOST_VALUES = 3
_LISTED = 0.4  # facts about other things that are a list instead of text
_PARAGRAPH = 4  # sentences
_ANY_FILLER = 0.15  # fillers that are those of plain prose
_GENRE_FILLER = 0.25
_FILLER_YEARS = (1931, 1949)
_VOWELS = "aeiou"

_Beat = Callable[[], str]  # writes a sentence when its turn comes


@dataclass(frozen=True, slots=True)
class Statement:
    """What a page says of a fact, and who reports it."""

    fact: Fact
    value: int
    report: Report | None


@dataclass(slots=True)
class _Plan:
    """What a page has to tell."""

    own: list[Statement] = field(default_factory=list)
    noted: list[Statement] = field(default_factory=list)  # about other entities
    rows: list[Statement] = field(default_factory=list)
    notes: list[Statement] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Predicate:
    """A predicate with what its slot holds: statements of one relation in one direction."""

    template: str
    told: tuple[Statement, ...]
    turned: bool

    @property
    def opens(self) -> bool:
        """Whether it is a passive that can open a sentence: "Born in Velburg, she …"."""
        lead, _, rest = self.template.partition(" ")
        return lead == "was" and rest.split(" ", 1)[0] not in predicates.NO_OPENING


def _different(group: list[_Predicate]) -> list[_Predicate]:
    """Return a group in which no predicate stands twice, as far as there are others."""
    seen: set[str] = set()
    changed = []
    for each in group:
        template = each.template
        if template in seen and len(each.told) == 1:
            said = predicates.TURNED if each.turned else predicates.SAID
            others = [text for text in said[each.told[0].fact.relation] if text not in seen]
            template = others[0] if others else template
        seen.add(template)
        changed.append(replace(each, template=template))
    return changed


def capital(text: str) -> str:
    """Return a text with a capital first letter."""
    return text[:1].upper() + text[1:]


class VariedWriter(Writer):
    """Writes all pages of one world in varied prose."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.dice = Dice(stream("search.prose", repr(world.spec), world.seed))
        self.plans = [_Plan() for _ in world.entities]
        # The things that a fact or a false report joins: a near miss about two of them would
        # contradict it.
        self.joined: set[tuple[int, int]] = set()

    def tell(self, fact: Fact, value: int, report: Report | None) -> int:
        spec, home = self.world.spec, fact.subject
        statement = Statement(fact, value, report)
        if not RELATIONS[fact.relation].is_number:
            self.joined.update(((home, value), (value, home)))
        u = self.dice.unit()
        if u < spec.elsewhere:
            page = self.host(fact, value)
            if page != home:
                self.plans[page].noted.append(statement)
                self.drafts[home].see.append(page)
                return page
        plan = self.plans[home]
        u -= spec.elsewhere
        if 0 <= u < spec.in_table and report is None:
            plan.rows.append(statement)
        elif 0 <= u - spec.in_table < spec.in_footnote:
            plan.notes.append(statement)
        else:
            plan.own.append(statement)
        return home

    def sections(self, page: int) -> Iterator[Section]:
        yield from _PageWriter(self, page).sections()

    def distract(self, page: int) -> None:
        """Leave near misses to the page's own writer, which places them in its paragraphs."""


class _PageWriter:
    """Writes one page."""

    def __init__(self, writer: VariedWriter, page: int) -> None:
        self.writer, self.page, self.dice = writer, page, writer.dice
        self.world = writer.world
        self.plan = writer.plans[page]
        self.kind = self.world.kind(page)
        self.voice = Voice(self.world, page, writer.dice)
        self.genre: Genre = writer.dice.pick(genres.GENRES)
        fillers = len(genres.FILLERS[self.kind])
        self.unused = writer.dice.sample(fillers, fillers)  # of these fillers, and of the genre's
        self.asides = writer.dice.sample(len(self.genre.fillers), len(self.genre.fillers))

    # Sections.

    def sections(self) -> Iterator[Section]:
        """Lay the page out: what is text, and then or before it what is a list or a table."""
        plan, layout = self.plan, self.genre.layout
        lists = []
        if layout == genres.CARD:
            told = plan.rows + [s for s in plan.own if s.report is None]
            plan.own, plan.rows = [s for s in plan.own if s.report is not None], []
            lists = [Section("Card", "\n".join(map(self._card_line, told)))] if told else []
        elif layout == genres.DATES:
            told = [s for s in plan.own if s.report is None and s.fact.relation in predicates.DATED]
            plan.own = [s for s in plan.own if s not in told]
            told.sort(key=lambda s: s.fact.start or s.value)
            lists = [Section("Dates", "\n".join(map(self._dated_line, told)))] if told else []
        if plan.rows:
            rows = [f"| {self._label(s)} | {self._plain_value(s)} |" for s in plan.rows]
            lists.append(Section("Data", "\n".join(["| Entry | Value |", "| --- | --- |", *rows])))
        text = list(self._texts())
        first = lists and layout not in (genres.CARD, genres.DATES) and self.dice.chance(0.3)
        yield text[0]
        if first or layout in (genres.CARD, genres.DATES):
            yield from lists
        yield from text[1:]
        if plan.noted:
            yield Section(self.dice.pick(genres.ALSO), self._noted())
        if not first and layout not in (genres.CARD, genres.DATES):
            yield from lists
        if plan.notes:
            notes = (
                f"[{number}] {self._note(statement)}"
                for number, statement in enumerate(plan.notes, 1)
            )
            yield Section("Notes", "\n".join(notes))
        see = self.writer.drafts[self.page].see
        if see:
            links = (f"- {self._link(other)}" for other in sorted(set(see)))
            yield Section("See also", "\n".join(links))

    def _texts(self) -> Iterator[Section]:
        headings = self.genre.headings or ("Overview", *words.HEADINGS[self.kind])
        facts, others = self._beats(len(headings))
        self.voice.start()
        opening = self._opening()
        closing = self.dice.pick(self.genre.closings) if self.genre.closings else ""
        for number, heading in enumerate(headings):
            lines = [opening] if number == 0 else []
            told, noise = facts[number :: len(headings)], others[number :: len(headings)]
            cut = self.dice.below(len(noise) + 1)  # facts follow each other, so that they connect
            lines += self._paragraphs([*noise[:cut], *told, *noise[cut:]])
            if closing and number == len(headings) - 1:
                lines.append(closing)
            if lines:
                yield Section(heading, "\n".join(lines))

    def _opening(self) -> str:
        entity = self.world.entities[self.page]
        article = "an" if entity.noun[0] in _VOWELS else "a"
        inside = entity.alias is not None and self.dice.chance(0.5)
        text = self.dice.pick(self.genre.openings).format(
            s=entity.name,
            aka=f" (also known as {entity.alias})" if inside else "",
            an=f"{article} {entity.noun}",
        )
        if entity.alias and not inside:
            text += f" {words.ALIAS.format(s=entity.name, o=entity.alias)}"
        return text

    def _beats(self, sections: int) -> tuple[list[_Beat], list[_Beat]]:
        """Return what makes the sentences of the text: those that tell facts, and the others."""
        spec, dice, plan = self.world.spec, self.dice, self.plan
        facts: list[_Beat] = [partial(self._statement, group) for group in self._grouped(plan.own)]
        facts += [partial(self._pointer, n, s) for n, s in enumerate(plan.notes, 1)]
        others: list[_Beat] = [self._filler] * (spec.fillers * sections)
        for _ in range(spec.distractors):
            other = dice.below(len(self.world.entities))
            if other != self.page and (self.page, other) not in self.writer.joined:
                others.append(partial(self._near_miss, other))
        return self._shuffled(facts), self._shuffled(others)

    def _shuffled(self, beats: list[_Beat]) -> list[_Beat]:
        return [beats[i] for i in self.dice.sample(len(beats), len(beats))]

    def _paragraphs(self, beats: list[_Beat]) -> Iterator[str]:
        """Write sentences as paragraphs, numbered items or answers, as the genre has them."""
        layout = self.genre.layout
        size = 2 if layout == genres.ITEMS else _PARAGRAPH
        for number, at in enumerate(range(0, len(beats), size), 1):
            self.voice.start()
            text = " ".join(beat() for beat in beats[at : at + size])
            if layout == genres.ITEMS:
                text = f"({number}) {text}"
            elif layout == genres.TALK:
                text = f"Visitor: {self.dice.pick(genres.ASKED)}\nGuide: {text}"
            yield text

    # Lists.

    def _label(self, statement: Statement) -> str:
        fact = statement.fact
        return words.ROWS[fact.relation].format(a=fact.start, b=fact.end)

    def _plain_value(self, statement: Statement) -> str:
        return self.writer.value(self.page, statement.fact.relation, statement.value)

    def _card_line(self, statement: Statement) -> str:
        return f"- {self._label(statement)}: {self._plain_value(statement)}"

    def _dated_line(self, statement: Statement) -> str:
        fact = statement.fact
        told = predicates.DATED[fact.relation]
        if fact.start:
            return f"- {fact.start} to {fact.end}: {told.format(o=self._plain_value(statement))}"
        return f"- {statement.value}: {told}"

    def _noted(self) -> str:
        """Write what the page tells about other things."""
        mine = [s for s in self.plan.noted if s.fact.relation in predicates.TURNED]
        mine = [s for s in mine if s.value == self.page]
        others: dict[int, list[Statement]] = {}
        for statement in self.plan.noted:
            if statement not in mine:
                others.setdefault(statement.fact.subject, []).append(statement)
        groups = self._grouped(mine, turned=True)
        groups += [group for told in others.values() for group in self._grouped(told)]
        groups = [groups[i] for i in self.dice.sample(len(groups), len(groups))]
        if self.dice.chance(_LISTED):
            lines = []
            for group in groups:
                self.voice.start()
                lines.append(f"- {self._statement(group)}")
            return "\n".join(lines)
        paragraphs = []
        for at in range(0, len(groups), _PARAGRAPH):
            self.voice.start()
            paragraphs.append(" ".join(map(self._statement, groups[at : at + _PARAGRAPH])))
        return "\n".join(paragraphs)

    def _note(self, statement: Statement) -> str:
        self.voice.start()
        (group,) = self._grouped([statement])
        return self._statement(group)

    # Sentences that tell facts.

    def _grouped(
        self, statements: list[Statement], *, turned: bool = False
    ) -> list[list[_Predicate]]:
        """Put statements about one thing together, so that each group makes a sentence."""
        dice = self.dice
        said = predicates.TURNED if turned else predicates.SAID
        shared = predicates.TURNED_TO_SEVERAL if turned else predicates.SAID_OF_SEVERAL
        groups = []
        merged: dict[str, list[Statement]] = {}
        single: list[_Predicate] = []
        for statement in statements:
            relation = statement.fact.relation
            if statement.report is not None:
                groups.append([_Predicate(dice.pick(said[relation]), (statement,), turned)])
            elif relation in shared and dice.chance(_MERGED):
                merged.setdefault(relation, []).append(statement)
            else:
                single.append(_Predicate(dice.pick(said[relation]), (statement,), turned))
        for relation, told in merged.items():
            for at in range(0, len(told), _MOST_VALUES):
                template = dice.pick(shared[relation])
                single.append(_Predicate(template, tuple(told[at : at + _MOST_VALUES]), turned))
        order = dice.sample(len(single), len(single))
        at = 0
        while at < len(order):
            size = dice.pick(_SIZES)
            groups.append(_different([single[i] for i in order[at : at + size]]))
            at += size
        return groups

    def _statement(self, group: list[_Predicate]) -> str:
        """Write the sentence of a group, in a frame or with its source."""
        report = group[0].told[0].report
        if report is not None:
            if self.kind != "person":
                self.voice.distract()  # "it" could be the source
            core = self._core(group)
            frame = self.dice.pick(genres.REPORTS)
            text = frame.format(c=core, source=report.source, year=report.year)
            return f"{capital(text)}."
        if self.dice.chance(_FRAMED):
            self.voice.distract()  # a frame speaks of other people
            core = self._core(group, framed=True)
            return f"{capital(self.dice.pick(self.genre.frames).format(c=core))}."
        return f"{capital(self._core(group))}."

    def _core(self, group: list[_Predicate], *, framed: bool = False) -> str:
        first = group[0]
        fact = first.told[0].fact
        about = first.told[0].value if first.turned else fact.subject
        if len(group) == 1 and len(first.told) == 1 and not first.turned:
            luck = self.dice.unit()
            relation = fact.relation
            if luck < _AS_PLAIN:
                return self._as_plain(first.told[0])
            luck -= _AS_PLAIN
            if luck < _OWNED and relation in predicates.OWNED:
                owner = self._reference(about, POSSESSIVE)
                return self.dice.pick(predicates.OWNED[relation]).format(
                    p=owner, o=self._slot(first)
                )
            if luck < _OWNED + _TURNED and relation in predicates.TURNED:
                template = self.dice.pick(predicates.TURNED[relation])
                turned = _Predicate(template, first.told, turned=True)
                return f"{self._reference(first.told[0].value, SUBJECT)} {self._said(turned)}"
        return self._joined(about, group, framed=framed)

    def _joined(self, about: int, group: list[_Predicate], *, framed: bool) -> str:
        """Join predicates of one thing: as a list, after an opening one, or around a clause."""
        dice = self.dice
        if len(group) == 1:
            return f"{self._reference(about, SUBJECT)} {self._said(group[0])}"
        luck = dice.unit()
        if luck < 0.3 and group[0].opens and not framed:
            opening = self._said(group[0]).removeprefix("was ")
            subject = self._reference(about, SUBJECT)
            return f"{opening}, {subject} {self._listed(group[1:])}"
        subject = self._reference(about, SUBJECT)
        if luck < 0.5 and subject not in PRONOUNS:
            who = "who" if self.world.kind(about) == "person" else "which"
            return f"{subject}, {who} {self._said(group[0])}, {self._listed(group[1:])}"
        if luck < 0.7 and about == self.page:
            said = self._said(group[0])
            link = "; " if luck < 0.6 else ", and "
            return f"{subject} {said}{link}{self._reference(about, SUBJECT)} " + self._listed(
                group[1:]
            )
        return f"{subject} {self._listed(group)}"

    def _listed(self, group: list[_Predicate]) -> str:
        *said, last = map(self._said, group)
        return f"{', '.join(said)} and {last}" if said else last

    def _said(self, predicate: _Predicate) -> str:
        fact = predicate.told[0].fact
        when = ""
        if fact.start:
            when = self.dice.pick(predicates.TIMES).format(
                a=fact.start, b=fact.end, n=in_words(fact.end - fact.start)
            )
        held = self._slot(predicate)
        return predicate.template.format(o=held, s=held, t=when)

    def _slot(self, predicate: _Predicate) -> str:
        """Write what stands in the slot of a predicate: values, or subjects where it is turned."""
        relation = RELATIONS[predicate.told[0].fact.relation]
        if relation.value == "year":
            return self._year(predicate.told[0].value)
        if relation.value == "amount":
            return self._amount(predicate.told[0].value)
        *most, last = (
            self._reference(s.fact.subject if predicate.turned else s.value, OBJECT)
            for s in predicate.told
        )
        return f"{', '.join(most)} and {last}" if most else last

    def _year(self, year: int) -> str:
        before = self.dice.pick(predicates.SEASONS)
        spelt = self.dice.chance(_IN_WORDS)
        return before + (year_in_words(year) if spelt else str(year))

    def _amount(self, amount: int) -> str:
        return in_words(amount) if self.dice.chance(_IN_WORDS) else f"{amount:,}"

    def _as_plain(self, statement: Statement) -> str:
        fact = statement.fact
        number = RELATIONS[fact.relation].is_number
        template = self.dice.pick(words.FACTS[fact.relation])
        if not template.startswith("{"):
            template = template[0].lower() + template[1:]
        named = {"s": fact.subject} if number else {"s": fact.subject, "o": statement.value}
        texts = {slot: self._named(entity) for slot, entity in named.items()}
        if number:
            texts["o"] = self._plain_value(statement)
        return template.removesuffix(".").format(**texts, a=fact.start, b=fact.end)

    # References.

    def _link(self, entity: int) -> str:
        self.voice.met(entity)
        return self.writer.mention(self.page, entity)

    def _named(self, entity: int) -> str:
        return self.world.entities[entity].name if entity == self.page else self._link(entity)

    def _reference(self, entity: int, case: int) -> str:
        if entity == self.page:
            return self.voice.refer(case)
        return f"{self._link(entity)}'s" if case == POSSESSIVE else self._link(entity)

    # Sentences that tell no fact.

    def _filler(self) -> str:
        """Write a sentence that tells nothing; those about the page's subject come once."""
        dice, kind = self.dice, self.kind
        luck = dice.unit()
        if luck < _GENRE_FILLER and self.asides:
            text = self._filled(self.genre.fillers[self.asides.pop()], "")
        elif luck < _GENRE_FILLER + _ANY_FILLER or not self.unused:
            text = f"{dice.pick(words.FILLER_STARTS)} {dice.pick(words.FILLER_ENDS)}"
        else:
            filler = genres.FILLERS[kind][self.unused.pop()]
            text = self._filled(f"{dice.pick(genres.LEADS)}{filler}.", "")
        self.voice.distract()
        return capital(text)

    def _near_miss(self, other: int) -> str:
        dice, kind = self.dice, self.world.kind(other)
        if dice.chance(0.5):
            template = dice.pick(words.DISTRACTORS[kind])
            text = template.format(s=self.world.entities[self.page].name, o=self._link(other))
        else:
            text = self._filled(f"{dice.pick(genres.NEAR_MISSES[kind])}.", self._link(other))
        self.voice.distract()
        return capital(text)

    def _pointer(self, number: int, statement: Statement) -> str:
        fact = statement.fact
        text = self.dice.pick(genres.NOTED).format(
            topic=genres.TOPICS[fact.relation].format(a=fact.start, b=fact.end),
            p=self.voice.refer(POSSESSIVE),
            n=number,
        )
        return f"{capital(text)}.[{number}]"

    def _filled(self, template: str, link: str) -> str:
        """Fill the slots of a sentence that tells nothing."""
        dice, voice = self.dice, self.voice
        filled = {"o": link, "y": dice.between(*_FILLER_YEARS), "n": dice.between(3, 400)}
        for slot, case in (("s", SUBJECT), ("m", OBJECT), ("p", POSSESSIVE)):
            if f"{{{slot}}}" in template:
                filled[slot] = voice.refer(case)
        return template.format(**filled)
