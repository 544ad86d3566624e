"""The oracle: answers a question through the tools alone, from what it has read.

It knows the plan of the question and the sentence patterns of the articles, not the world: it
searches for the names it knows, opens pages, follows their links, and applies the stated rule.
"""

import re
from collections.abc import Iterator, Sequence

from rlvr_envs.generators.search_episodes.browser import FAILED, Browser
from rlvr_envs.generators.search_episodes.protocol import ANSWER, OPEN, SEARCH, Call
from rlvr_envs.generators.worlds import prose_reading, reading
from rlvr_envs.generators.worlds.articles import PLAIN, VARIED
from rlvr_envs.generators.worlds.plan import GREATEST, PATH, RANKED, Hop, Plan
from rlvr_envs.generators.worlds.reading import Claim, Mention, Text, believed

NOTHING = "unanswerable"
_PARTS = re.compile(r" \(part \d+ of (\d+)(?:; [^)]*)?\)\Z")
_FOUND = re.compile(r"\d+ found(?: \(part \d+ of (\d+)(?:; [^)]*)?\))?:")
_HIT = re.compile(r"(.+?) \(([a-z-]+)\): ")

Values = list[str | int]  # ids of pages, or numbers


class Oracle:
    """One episode of the oracle; `calls` is what it did."""

    def __init__(self, browser: Browser, rule: str, prose: str = PLAIN) -> None:
        self._claims = (prose_reading if prose == VARIED else reading).claims
        self._browser = browser
        self._rule = rule
        self._texts: dict[str, Text | None] = {}  # by page id; None where there is no such page
        self._ids: dict[str, str | None] = {}  # by name
        self._names: dict[str, str] = {}  # by page id
        self.calls: list[Call] = []

    def answer(self, plan: Plan) -> Call:
        """Work through a plan and return the call that answers."""
        steps: list[Values] = []
        # Two groups that meet in a hop are looked at together there.
        meeting = [hop for hop in plan if hop.op == "both" and _of_groups(plan, hop)]
        groups = {i for hop in meeting for i in hop.inputs}
        for at, hop in enumerate(plan):
            inputs = [steps[i] for i in hop.inputs]
            if at in groups:
                steps.append(inputs[0])
            elif hop in meeting:
                relations = [plan[i].relation for i in hop.inputs]
                steps.append(self._common(relations, [_entities(values) for values in inputs]))
            else:
                steps.append(self._step(hop, inputs))
        last = steps[-1]
        shown = ", ".join(self._names.get(v, v) if isinstance(v, str) else str(v) for v in last)
        self.calls.append(Call(ANSWER, shown or NOTHING))
        return self.calls[-1]

    def _step(self, hop: Hop, inputs: list[Values]) -> Values:
        if hop.op == "name":
            found = self._look_up(hop.entity)
            return [] if found is None else [found]
        if hop.op in PATH:
            return self._along(hop, _entities(inputs[0]))
        if hop.op in RANKED:
            return self._ranked(hop, [one for values in inputs for one in _entities(values)])
        return _combined(hop.op, inputs[0], inputs[-1])

    def _along(self, hop: Hop, entities: list[str]) -> Values:
        if hop.op == "back":
            return [one for value in entities for one in self._subjects(value, hop.relation)]
        values = [self._value(entity, hop.relation, hop.year) for entity in entities]
        return [value for value in values if value is not None]

    def _ranked(self, hop: Hop, group: list[str]) -> Values:
        numbers = {one: self._value(one, hop.relation) for one in group}
        known = [number for number in numbers.values() if isinstance(number, int)]
        if not known:
            return []
        best = max(known) if hop.op in GREATEST else min(known)
        return [one for one in group if numbers[one] == best]

    def _common(self, relations: list[str], values: list[list[str]]) -> Values:
        """Return who has both values; their pages name both, if only under "See also"."""
        homes = [self._read(each) for pair in values for each in pair]
        if len(homes) != 2 or homes[0] is None or homes[1] is None:
            return []
        both = [f'"{one}" "{other}"' for one in homes[0].names for other in homes[1].names]
        naming = list(dict.fromkeys(page for query in both for _, page in self._search(query)))
        first, second = (
            self._subjects(value, relation, naming)
            for (value,), relation in zip(values, relations, strict=True)
        )
        return [subject for subject in first if subject in second]

    # What pages say.

    def _value(self, page_id: str, relation: str, year: int = 0) -> str | int | None:
        """Return the value of a relation, None where it is nowhere to be found."""
        found = self._claims_of(page_id, relation, year)
        if not found:
            return None
        claim, page = _believed(found, self._rule)
        if claim.value is None:
            return page
        return claim.value if isinstance(claim.value, int) else self._resolved(claim.value)

    def _claims_of(self, page_id: str, relation: str, year: int) -> list[tuple[Claim, str]]:
        """Return what is claimed of a subject: on its page, and where its page points to."""
        home = self._read(page_id)
        if home is None:
            return []
        found = [(c, page_id) for c in self._claims(home, relation) if c.subject is None]
        found = [pair for pair in found if _holds(pair[0], year)]
        if found and all(claim.report is None for claim, _ in found):
            return found
        for link in home.see_also:
            other = self._resolved(link)
            text = self._read(other) if other else None
            if text is None or other is None:
                continue
            for claim in self._claims(text, relation):
                if self._means(claim.subject, page_id) and _holds(claim, year):
                    found.append((claim, other))
        return found

    def _subjects(
        self, page_id: str, relation: str, naming: Sequence[str] | None = None
    ) -> list[str]:
        """Return everyone with a value; whom a report names must also be believed to have it.

        All pages that name the value are read, or only some of them.
        """
        home = self._read(page_id)
        if home is None:
            return []
        found: dict[str, bool] = {}  # whether it takes belief
        for subject, claim in (
            *self._told_at(home, relation),
            *self._told_of(page_id, relation, self._naming(home) if naming is None else naming),
        ):
            found[subject] = found.get(subject, True) and claim.report is not None
        return [
            subject
            for subject, reported in found.items()
            if not reported or self._value(subject, relation) == page_id
        ]

    def _told_at(self, home: Text, relation: str) -> Iterator[tuple[str, Claim]]:
        """Yield what a page claims of others with itself as the value."""
        for claim in self._claims(home, relation):
            if claim.value is None and claim.subject is not None:
                subject = self._resolved(claim.subject)
                if subject is not None:
                    yield subject, claim

    def _told_of(
        self, page_id: str, relation: str, naming: Sequence[str]
    ) -> Iterator[tuple[str, Claim]]:
        """Yield what the pages that name a thing claim of themselves with it as the value."""
        for other in naming:
            text = self._read(other) if other != page_id else None
            for claim in self._claims(text, relation) if text else ():
                if claim.subject is None and self._means(claim.value, page_id):
                    yield other, claim

    def _naming(self, text: Text) -> list[str]:
        """Return the pages that name what a page is about."""
        return list(dict.fromkeys(i for name in text.names for _, i in self._search(f'"{name}"')))

    # What names and links mean.

    def _means(self, mention: Mention | int | None, page_id: str) -> bool:
        """Tell whether a link means a page; a dead one is judged by the name that it shows."""
        if not isinstance(mention, Mention):
            return False
        if mention.target == page_id:
            return True
        text = self._read(page_id)
        return mention.target.endswith("-lost") and text is not None and mention.shown in text.names

    def _resolved(self, mention: Mention) -> str | None:
        if not mention.target.endswith("-lost"):
            self._names.setdefault(mention.target, mention.shown)
            return mention.target
        return self._look_up(mention.shown)

    def _look_up(self, name: str) -> str | None:
        """Return the page of a name: the one with this title, or the one that says so."""
        if name not in self._ids:
            titled = (i for title, i in self._search(f'"{name}"') if title == name)
            found = next(titled, None)
            if found is None:
                said = self._search(f'"also known as {name}"')
                found = next((i for _, i in said), None)
            self._ids[name] = found
            if found is not None:
                self._names.setdefault(found, name)
        return self._ids[name]

    # Calls.

    def _call(self, tool: str, text: str) -> str:
        """Make a call, and make it again where the tool fails."""
        call = Call(tool, text)
        while self._browser.left:
            self.calls.append(call)
            result = self._browser.run(call)
            if result != FAILED:
                return result
        return ""

    def _search(self, query: str) -> Iterator[tuple[str, str]]:
        """Yield titles and ids of the hits; further parts are asked for when they are needed."""
        number, count = 1, 1
        while number <= count:
            head, *lines = self._call(SEARCH, _numbered(query, number)).split("\n")
            parts = _FOUND.fullmatch(head)
            if parts is None:
                return
            count = int(parts[1] or 1)
            yield from ((match[1], match[2]) for line in lines if (match := _HIT.match(line)))
            number += 1

    def _read(self, page_id: str) -> Text | None:
        """Return a page with all its parts, which are opened once."""
        if page_id not in self._texts:
            self._texts[page_id] = self._opened(page_id)
        return self._texts[page_id]

    def _opened(self, page_id: str) -> Text | None:
        title, lines = "", []
        number, count = 1, 1
        while number <= count:
            result = self._call(OPEN, _numbered(page_id, number))
            if not result.startswith("# "):
                return None
            head, *body = result.split("\n")
            parts = _PARTS.search(head)
            count = int(parts[1]) if parts else 1
            title = _PARTS.sub("", head[2:])
            lines += body
            number += 1
        self._names[page_id] = title
        return Text(title, tuple(lines))


def _believed(found: list[tuple[Claim, str]], rule: str) -> tuple[Claim, str]:
    """Return the claim that the rule believes, with the page that makes it."""
    best = believed([claim for claim, _ in found], rule)
    return next(pair for pair in found if pair[0] is best)


def _holds(claim: Claim, year: int) -> bool:
    return not year or claim.start < year < claim.end


def _numbered(text: str, number: int) -> str:
    return text if number == 1 else f"{text} #{number}"


def _entities(values: Values) -> list[str]:
    return [value for value in values if isinstance(value, str)]


def _of_groups(plan: Plan, hop: Hop) -> bool:
    return all(plan[i].op == "back" for i in hop.inputs)


def _combined(op: str, first: Values, second: Values) -> Values:
    """Work out what takes no look at a page."""
    if op == "all":
        return first
    if op == "count":
        return [len(first)]
    if op == "both":
        return [value for value in first if value in second]
    numbers = [value for value in (*first, *second) if isinstance(value, int)]
    if len(numbers) != 2:
        return []
    return [sum(numbers) if op == "sum" else abs(numbers[0] - numbers[1])]
