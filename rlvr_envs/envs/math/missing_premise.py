"""Word problems, some of which lack a premise; then the right answer is to say so."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.effort import written
from rlvr_envs.generators.mathematics.latex import Rational, linear, number
from rlvr_envs.generators.mathematics.premises import (
    KINDS,
    QUESTIONS,
    THINGS,
    Premise,
    Things,
    area,
    tell,
)
from rlvr_envs.generators.mathematics.steps import (
    ascii_math,
    eliminate,
    operand,
    polynomial,
    total,
    worked,
)
from rlvr_envs.verifiers.symbolic import judge_math

UNDETERMINED = "cannot be determined"
_SYNONYMS = frozenset(
    {
        UNDETERMINED,
        "can not be determined",
        "can t be determined",
        "could not be determined",
        "cannot be found",
        "cannot determine",
        "undetermined",
        "not determined",
        "not determinable",
        "indeterminate",
        "indeterminable",
        "not enough information",
        "not enough information to determine",
        "not enough information is given",
        "insufficient information",
        "information is insufficient",
        "impossible to determine",
        "impossible to tell",
    }
)
_WRAPPER = re.compile(r"\\(?:text|textbf|textit|textrm|mathrm|mbox)\b")
_LEAD = re.compile(r"(?:the answer (?:is )?|it (?:is )?|there is )")
_MAX_PHRASE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingPremiseConfig(TaskConfig):
    """The kinds of stories, their length, and how many of them are ill-posed."""

    kinds: tuple[str, ...] = knob(KINDS, "one is drawn for each problem", choices=KINDS)
    n_steps: int = knob(
        3, "people, days, plots, jars or unknowns that the answer involves", low=1, high=100
    )
    n_distractors: int = knob(2, "up to this many extra premises that do not help", low=0, high=100)
    max_number: int = knob(30, "rough size of the numbers", low=4)
    ill_posed_share: float = knob(0.5, "share of problems with a missing premise", low=0, high=1)

    @classmethod
    def at(cls, difficulty: int) -> "MissingPremiseConfig":
        """Each level adds a step and a distractor, up to 100 each, and larger numbers.

        From level 2 some numbers follow only from those of another thing, from 3 some chains are
        fixed by a sum alone.
        """
        return cls(
            n_steps=min(100, 1 + difficulty),
            n_distractors=min(100, difficulty),
            max_number=10 * (1 + difficulty),
        )


@dataclass(frozen=True, slots=True)
class MissingPremiseProblem:
    """The premises in prompt order and the question; the answer is None if undetermined."""

    kind: str
    premises: tuple[Premise, ...]
    asked: tuple[str, ...]
    answer: Fraction | None = hidden()


@register("MissingPremise-v0", domain="math")
class MissingPremiseTask(Task[MissingPremiseConfig, MissingPremiseProblem]):
    """Answer a question, or say that it cannot be answered.

    Description:
        A short story (collections, ages, a journey, areas, a mixture, equations) determines
        some numbers and leaves others open. It is drawn first; then the question asks for an
        open number with probability ``ill_posed_share``, otherwise for one that is determined.
        So nothing that can be counted in the premises gives this away. Distractors are added,
        some of them consequences of the other premises.

    Observation:
        The premises in random order, the question, and the phrase to use if the answer cannot be
        determined.

    Action:
        One exact number, or "cannot be determined".

    Reward:
        1 for the number if it is determined, 1 for "cannot be determined" if it is not,
        otherwise 0. By design, always answering "cannot be determined" earns
        ``ill_posed_share`` (0.5 by default); no other constant answer earns much.

    Verification:
        Numbers are judged exactly. For the other problems a fixed list of phrases is accepted,
        with any case and punctuation; phrases not on the list are not.

    Difficulty:
        The premises, the distractors and the numbers grow; comparisons between things, and
        chains that only a sum fixes, come in.

    References:
        Fan et al., Missing Premise exacerbates Overthinking: Are Reasoning Models losing Critical
        Thinking Skill?, 2025.
    """

    # "Cannot be determined" earns the share of ill-posed questions, half of them by default.
    shortcut_bound = 0.65

    def generate(self, rng: Rng) -> MissingPremiseProblem:
        config = self.config
        kind = pick(rng, config.kinds)
        story = tell(rng, kind, config.n_steps, config.n_distractors, config.max_number)
        premises = tuple(story.premises[i] for i in rng.permutation(len(story.premises)).tolist())
        if rng.random() < config.ill_posed_share:
            return MissingPremiseProblem(kind, premises, story.open, None)
        return MissingPremiseProblem(kind, premises, story.asked, story.answer)

    def prompt(self, problem: MissingPremiseProblem) -> str:
        premises = " ".join(premise.text() for premise in problem.premises)
        question = QUESTIONS[problem.kind].format(*problem.asked)
        return (
            f"{premises} {question} Answer with the exact number, as an integer or a fraction. If "
            f'the information above does not determine it, answer "{UNDETERMINED}".'
        )

    def verify(self, problem: MissingPremiseProblem, answer: str) -> Verdict:
        # The detail must not tell which of the two kinds of answer is right.
        if _says_undetermined(answer):
            right = problem.answer is None
            return Verdict.correct() if right else Verdict.wrong("the answer is wrong")
        if problem.answer is None:
            return Verdict.wrong("the answer is wrong")
        judged = judge_math(number(problem.answer), answer, answer_type="rational", exact=True)
        if judged.score or not judged.scored:
            return judged
        return Verdict.wrong("the answer is wrong")

    def solve(self, problem: MissingPremiseProblem) -> str:
        return UNDETERMINED if problem.answer is None else number(problem.answer)

    def explain(self, problem: MissingPremiseProblem) -> list[str]:
        """Return the steps to the number, or to the premise that is missing."""
        if problem.kind in THINGS:
            return _things(problem)
        return _equations(problem) if problem.kind == "equations" else _people(problem)

    def effort(self, problem: MissingPremiseProblem) -> int:
        """Count the digits of all premises and of the worked solution, and its products' work."""
        return written([*(premise.text() for premise in problem.premises), *self.explain(problem)])

    def baseline(self, rng: Rng, problem: MissingPremiseProblem) -> str:
        """Add up the numbers of all premises, as if they were what is asked for."""
        return str(sum(premise.numbers[-1] for premise in problem.premises))


def _says_undetermined(answer: str) -> bool:
    if len(answer) > _MAX_PHRASE:
        return False
    plain = _WRAPPER.sub(" ", answer)
    words = " ".join(re.findall(r"[a-z]+|[0-9]+", plain.lower()))
    lead = _LEAD.match(words)
    return words in _SYNONYMS or (lead is not None and words[lead.end() :] in _SYNONYMS)


# Steps to the answers, or to the premise that is missing.


_OPEN = "So the answer is not determined."
_LINKS = ("more", "times", "older")


def _people(problem: MissingPremiseProblem) -> list[str]:
    """Return the numbers along the chain that ends in the person asked for."""
    name = problem.asked[0]
    rules = {p.names[0]: p for p in problem.premises if p.form in _LINKS}
    chain: list[Premise] = []
    while name in rules:
        chain.insert(0, rules[name])
        name = chain[0].names[1]
    members = [name, *(premise.names[0] for premise in chain)]
    facts = [p for p in problem.premises if p.form not in _LINKS and {*p.names} <= {*members}]
    if not facts:
        told = [premise.text() for premise in reversed(chain)]
        return [*told, f"Nothing fixes the number of {name}, with which this ends. {_OPEN}"]
    steps: list[str] = []
    value = facts[0].numbers[0]
    if facts[0].form != "has":
        steps, value = _first_of(chain, facts[0])
    steps.append(f"{name}: {value}")
    for premise in chain:
        sign, number_ = "*" if premise.form == "times" else "+", premise.numbers[0]
        work = f"{value} {sign} {number_}"
        value = value * number_ if sign == "*" else value + number_
        steps.append(f"{premise.names[0]}: {work} = {value}")
    return steps


def _first_of(chain: Sequence[Premise], fact: Premise) -> tuple[list[str], int]:
    """Return the number of the first person of a chain, from the sum of the first and the last."""
    now, steps = fact.numbers[-1], []
    if fact.form == "sum_later":
        years, later = fact.numbers
        now = later - 2 * years
        steps.append(f"Their ages now add up to {later} - 2 * {years} = {now}.")
    steps.append(f"Let k stand for {fact.names[0]}.")
    constant, factor = 0, 1
    for premise in chain:
        amount = premise.numbers[0]
        if premise.form == "times":
            constant, factor = constant * amount, factor * amount
        else:
            constant += amount
        steps.append(f"{premise.names[0]}: {polynomial((constant, factor), 'k')}")
    value = (now - constant) // (factor + 1)
    steps.append(f"So {polynomial((constant, factor + 1), 'k')} is {now}.")
    return [*steps, f"({now} - {constant}) / {factor + 1} = {value}"], value


def _things(problem: MissingPremiseProblem) -> list[str]:
    """Return the two numbers of each thing asked for, and what they give together."""
    things = THINGS[problem.kind]
    stated, compared, second, _ = things.forms
    given = {(p.form, p.names[0]): p for p in problem.premises}
    steps: list[str] = []
    pairs = []
    for name in re.findall("[0-9]+", problem.asked[0]):
        lineage = [name]
        while (compared, lineage[-1]) in given:
            lineage.append(given[compared, lineage[-1]].names[1])
        if (stated, lineage[-1]) not in given:
            comparisons = [given[compared, each].text() for each in lineage[:-1]]
            return [*steps, *comparisons, _lacks(things, stated, lineage[-1])]
        if (second, name) not in given:
            return [*steps, _lacks(things, second, name)]
        sizes = [
            *(given[compared, each].numbers[0] for each in lineage[:-1]),
            given[stated, lineage[-1]].numbers[0],
        ]
        if len(sizes) > 1:
            steps.append(f"The {stated} of {things.noun} {name}: {total(sizes)} = {sum(sizes)}")
        pairs.append((sum(sizes), given[second, name].numbers[0]))
        steps += _SINGLE[problem.kind](name, *pairs[-1])
    return [*steps, *_TOGETHER[problem.kind](pairs)]


def _lacks(things: Things, form: str, name: str) -> str:
    word = "difference of length and width" if form == "longer" else form
    return f"Nothing gives the {word} of {things.noun} {name}. {_OPEN}"


def _plot(name: str, around: int, extra: int) -> list[str]:
    half = operand(Fraction(around, 2))
    width = Fraction(around - 2 * extra, 4)
    return [
        f"Plot {name}: length and width add up to {around} / 2 = {half}.",
        f"Its width is ({half} - {extra}) / 2 = {width}.",
        f"Its area is {operand(width)} * ({width} + {extra}) = {area(around, extra)}.",
    ]


_SINGLE: dict[str, Callable[[str, int, int], list[str]]] = {
    "journey": lambda day, speed, hours: [f"Day {day}: {speed} * {hours} = {speed * hours} km"],
    "plots": _plot,
    "mixture": lambda jar, volume, strength: [
        f"Jar {jar}: {volume} * {strength} / 100 = {Fraction(volume * strength, 100)} ml of sugar"
    ],
}


def _added(parts: Sequence[Rational]) -> list[str]:
    return [worked(total(parts), sum(parts))]


def _mixture(jars: Sequence[tuple[int, int]]) -> list[str]:
    sugar = [Fraction(volume * strength, 100) for volume, strength in jars]
    volumes = [volume for volume, _ in jars]
    part, whole = sum(sugar), sum(volumes)
    return [
        f"All the sugar: {total(sugar)} = {part} ml",
        f"All the syrup: {total(volumes)} = {whole} ml",
        f"In percent: {operand(part)} / {whole} * 100 = {100 * part / whole}",
    ]


_TOGETHER: dict[str, Callable[[Sequence[tuple[int, int]]], list[str]]] = {
    "journey": lambda days: _added([speed * hours for speed, hours in days]),
    "plots": lambda plots: _added([area(*plot) for plot in plots]),
    "mixture": _mixture,
}


def _equations(problem: MissingPremiseProblem) -> list[str]:
    """Return the elimination of all unknowns but the one asked for."""
    names = problem.premises[0].names
    wanted = names.index(problem.asked[0])
    order = [i for i in range(len(names)) if i != wanted] + [wanted]
    shown = [names[i] for i in order]

    def show(row: Sequence[Rational]) -> str:
        return f"{ascii_math(linear(row[:-1], shown))} = {row[-1]}"

    rows = [[*(p.numbers[i] for i in order), p.numbers[-1]] for p in problem.premises]
    found = eliminate(rows, show, noun="equation", width=len(names))
    steps = [f"Equation {i}: {show(row)}" for i, row in enumerate(rows, 1)] + found.steps
    if found.pivots[-1] != len(names) - 1:
        return [*steps, f"No equation is left that has {problem.asked[0]} alone. {_OPEN}"]
    row = found.rows[len(found.pivots) - 1]
    value = row[-1] / row[-2]
    return [*steps, f"Now {show(row)}: {operand(row[-1])} / {operand(row[-2])} = {value}"]
