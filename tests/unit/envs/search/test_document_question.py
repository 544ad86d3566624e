"""DocumentQuestion: a reader of the prompt alone finds the answer, and nothing else is paid."""

import re
from collections import defaultdict

import pytest

from rlvr_envs.core import registry
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.generators.worlds import sentences as words
from rlvr_envs.generators.worlds.questions import KINDS

Task = registry.find("rlvr/DocumentQuestion-v0").task_type
NUMBERS = {"born", "population", "elevation", "founded", "staff", "published", "pages", "held"}
NUMBERS |= {"visitors"}
SOURCES = ["civil register", "chronicle", "newspaper"]


def drawn(difficulty=3, seed=0, **knobs):
    task = Task(Task.Config.at(difficulty) if not knobs else Task.Config(**knobs))
    return task, task.generate(stream("test.documents", difficulty, seed))


def of_kind(kind, seed=0, world_level=4, hops=2):
    return drawn(seed=seed, kinds=(kind,), world_level=world_level, hops=hops)


def documents(prompt):
    """The title and the lines of each document of a prompt."""
    body = prompt.split("\n\nA fact is in the document about")[0]
    for piece in re.split(r"\n\nDocument \d+: ", body)[1:]:
        title, *lines = piece.split("\n")
        yield title, lines


class PromptReader:
    """The facts of a prompt: it knows the sentence patterns, and no page, world or plan."""

    def __init__(self, prompt):
        self.latest = "the report of the later year is right" in prompt
        self.names = {}
        self.told = defaultdict(list)  # by subject and relation: value, years, report
        shown = list(documents(prompt))
        for title, lines in shown:
            self.names[title] = title
            for alias in re.findall(r" is also known as ([^.]+)\.", "\n".join(lines)):
                self.names[alias] = title
        for title, lines in shown:
            for line in lines:
                self._line(title, line)

    def _line(self, title, line):
        if row := re.fullmatch(r"\| (.+) \| (.+) \|", line):
            for relation, label in words.ROWS.items():
                if match := pattern(label).fullmatch(row[1]):
                    self._add(title, title, relation, row[2], match.groupdict(), None)
            return
        for each in re.split(r"(?<=\.)(?:\[\d+\])? ", re.sub(r"^(- |\[\d+\] )", "", line)):
            sentence, report = each, None
            if said := re.fullmatch(r"According to the ([a-z ]+) of (\d{4}), (.*)", each):
                report = (said[1], int(said[2]))
                sentence = said[3][0].upper() + said[3][1:]
            for relation, templates in words.FACTS.items():
                for match in filter(None, (pattern(t).fullmatch(sentence) for t in templates)):
                    self._add(title, match["s"], relation, match["o"], match.groupdict(), report)

    def _named(self, title, name):
        return title if name == title.split(" (")[0] else self.names.get(name)

    def _add(self, title, subject, relation, value, terms, report):
        subject = self._named(title, subject)
        if relation in NUMBERS:
            value = int(value.replace(",", "")) if re.fullmatch(r"\d[\d,]*", value) else None
        else:
            value = self._named(title, value)
        if subject is None or value is None:
            return
        years = int(terms.get("a") or 0), int(terms.get("b") or 0)
        self.told[subject, relation].append((value, years, report))

    def values(self, subject, relation):
        """What is believed: by the rule where reports differ."""
        told = self.told[subject, relation]
        if any(report is None for _, _, report in told):
            return [(value, years) for value, years, report in told if report is None]

        def weight(claim):
            source, year = claim[2]
            return year if self.latest else -SOURCES.index(source)

        return [max(told, key=weight)[:2]] if told else []

    def follow(self, subject, relation):
        return [value for value, _ in self.values(subject, relation)]

    def back(self, value, relation):
        return [
            subject
            for subject, name in list(self.told)
            if name == relation and value in self.follow(subject, relation)
        ]

    def answer(self, plan):
        """Work out what a plan asks for, from the prompt."""
        found = []
        for hop in plan:
            inputs = [found[i] for i in hop.inputs]
            value = self.along(hop, inputs[0] if inputs else []) or combined(hop.op, inputs)
            if hop.op in BEST:
                group = [each for values in inputs for each in values]
                value = [BEST[hop.op](group, key=self.number(hop.relation))]
            found.append(list(dict.fromkeys(value)))
        return ", ".join(map(str, found[-1])) or "unanswerable"

    def along(self, hop, entities):
        if hop.op == "name":
            return [self.names[hop.entity]]
        if hop.op == "at":
            return self.during(entities[0], hop.relation, hop.year)
        find = {"follow": self.follow, "back": self.back}.get(hop.op)
        return [value for each in entities for value in find(each, hop.relation)] if find else []

    def during(self, subject, relation, year):
        return [value for value, (a, b) in self.values(subject, relation) if a < year < b]

    def number(self, relation):
        return lambda entity: self.follow(entity, relation)[0]


BEST = {"most": max, "more": max, "least": min, "less": min}


def combined(op, inputs):
    first, last = (inputs[0], inputs[-1]) if inputs else ([], [])
    if op == "both":
        return [each for each in first if each in last]
    if op == "count":
        return [len(set(first))]
    if op == "sum":
        return [first[0] + last[0]]
    if op == "gap":
        return [abs(first[0] - last[0])]
    return first if op == "all" else []


_COMPILED = {}


def pattern(template):
    if template not in _COMPILED:
        slots = {"{s}": "(?P<s>.+?)", "{o}": "(?P<o>.+?)", "{a}": r"(?P<a>\d{4})"}
        slots["{b}"] = r"(?P<b>\d{4})"
        pieces = re.split(r"(\{[soab]\})", template)
        _COMPILED[template] = re.compile("".join(slots.get(p, re.escape(p)) for p in pieces))
    return _COMPILED[template]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("level", "hops"), [(0, 1), (3, 2), (6, 3), (9, 4)])
def test_who_reads_the_prompt_alone_finds_the_answer(kind, level, hops):
    for seed in range(2):
        task, problem = of_kind(kind, seed, world_level=level, hops=hops)
        answer = PromptReader(task.prompt(problem)).answer(problem.plan)
        verdict = task.verify(problem, answer)
        assert verdict.status is Status.CORRECT, (problem.question, answer, task.solve(problem))


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_document_of_the_facts_the_answer_is_another_one(kind):
    """The facts are read, not guessed: take away the answer's documents, and they are missing."""
    missed = 0
    for seed in range(6):
        task, problem = of_kind(kind, seed, hops=3)
        start = problem.plan[0].entity
        prompt = task.prompt(problem)
        kept = [
            d for d in re.split(r"(?=Document \d+: )", prompt) if start not in d.split("A fact")[0]
        ]
        reader = PromptReader("".join(kept))
        reader.names.setdefault(start, start)
        for hop in problem.plan:
            if hop.op == "name":
                reader.names.setdefault(hop.entity, hop.entity)
        try:
            answer = reader.answer(problem.plan)
        except (IndexError, ValueError):
            answer = "nothing"
        missed += task.verify(problem, answer).score < 1.0
    assert missed >= 4


def test_documents_stand_in_another_order_than_the_facts_are_needed():
    places = []
    for seed in range(30):
        task, problem = of_kind("chain", seed, hops=4)
        titles = [title for title, _ in documents(task.prompt(problem))]
        assert len(titles) == len(set(titles)) == len(problem.documents)
        places.append(titles.index(task.solve(problem)) if task.solve(problem) in titles else -1)
    assert len(set(places)) > 5


def test_some_documents_have_no_part_in_the_answer():
    for seed in range(10):
        task, problem = drawn(seed=seed, kinds=("set",), n_documents=1, world_level=3)
        steps = " ".join(task.explain(problem))
        used = set(re.findall(r"\d+", " ".join(re.findall(r"\(documents? ([\d, ]+)\)", steps))))
        assert len(used) < len(problem.documents)


def test_levels_get_longer_and_ask_more_kinds():
    prompts = {d: [len(drawn(d, s)[0].prompt(drawn(d, s)[1])) for s in range(4)] for d in (0, 10)}
    assert max(prompts[0]) < 15_000
    assert min(prompts[10]) > 50_000
    assert (
        len(Task.Config.at(0).kinds) < len(Task.Config.at(1).kinds) < len(Task.Config.at(3).kinds)
    )
    assert set(Task.Config.at(3).kinds) == set(KINDS)


WRONG = {
    "empty": "",
    "blank": "   ",
    "unanswerable": "unanswerable",
    "no answer": "no answer",
    "the question": lambda t, p: p.question,
    "the prompt": lambda t, p: t.prompt(p)[:9_000],
    "the start": lambda t, p: p.plan[0].entity,
    "its id": lambda t, p: p.documents[0],
    "another problem's": lambda t, p: t.solve(of_kind(p.kind, 77)[1]) + "x",
    "hedged": lambda t, p: f"{t.solve(p)} or Anna Vell",
    "both": lambda t, p: f"{t.solve(p)}, Anna Vell",
    "all titles": lambda t, p: ", ".join(title for title, _ in documents(t.prompt(p))),
    "negated": lambda t, p: f"not {t.solve(p)}",
    "explained": lambda t, p: f"It is {t.solve(p)}, as document 3 says",
    "cut": lambda t, p: t.solve(p)[:-1],
    "doubled": lambda t, p: t.solve(p) * 2,
    "backwards": lambda t, p: t.solve(p)[::-1] + "q",
    "next number": lambda t, p: str(int(t.solve(p)) + 1) if t.solve(p).isdigit() else "1",
    "huge number": "9" * 5_000,
    "infinite": "inf",
    "not a number": "NaN",
    "other digits": "\u0661\u0662",
    "other letters": "\u0391\u03bd\u03bd\u03b1",
    "a list": "[1, 2, 3]",
    "a tag": "<search>Anna</search>",
    "a page": "Document 1",
    "very long": "Anna Vell " * 20_000,
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_answer_earns_nothing(wrong):
    for kind in ("chain", "inverse", "count", "set", "comparison", "temporal", "arithmetic"):
        for seed in range(2):
            task, problem = of_kind(kind, seed)
            text = WRONG[wrong]
            answer = text if isinstance(text, str) else text(task, problem)
            assert task.verify(problem, answer).score == 0.0, (kind, answer[:200])


def test_a_part_of_a_set_earns_nothing_and_its_names_come_in_any_order():
    task, problem = of_kind("set")
    names = [forms[0] for forms in problem.answers]
    assert task.verify(problem, ", ".join(names[1:])).status is Status.WRONG
    assert task.verify(problem, "\n".join(f"- {n}" for n in names).replace("- ", "")).score == 1.0
    assert task.verify(problem, " and ".join(reversed(names))).score == 1.0


def test_second_names_and_other_spellings_are_right():
    problems = [of_kind("chain", seed, world_level=10) for seed in range(30)]
    named = [(t, p) for t, p in problems if len(p.answers[0]) > 1 and p.form == "name"]
    assert named
    for task, problem in named:
        for form in problem.answers[0]:
            for spelled in (form, form.upper(), f"**{form}**", f" {form}.", f"the {form}"):
                assert task.verify(problem, spelled).score == 1.0, spelled


def test_a_missing_fact_is_to_be_declined():
    problems = [of_kind("unanswerable", seed) for seed in range(40)]
    missing = [(t, p) for t, p in problems if p.form == "unanswerable"]
    assert 1 <= len(missing) <= 15
    for task, problem in missing:
        assert task.verify(problem, "Unanswerable.").score == 1.0
        assert task.explain(problem)
    assert all(
        t.verify(p, "unanswerable").score == 0.0 for t, p in problems if p.form != "unanswerable"
    )


def test_matching_words_earns_little():
    scores = []
    for seed in range(40):
        task, problem = drawn(4, seed)
        scores.append(task.verify(problem, task.baseline(stream("b", seed), problem)).score)
    assert sum(scores) / len(scores) <= 0.1


def test_knobs_out_of_range_are_told():
    with pytest.raises(ConfigError, match="kinds are some of chain"):
        Task.Config(kinds=("riddle",))
    with pytest.raises(ConfigError, match="n_documents is from 1"):
        Task.Config(n_documents=0)
