"""Word problems, some of which lack a premise; then the right answer is to say so."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.latex import Rational, linear, number
from rlvr_envs.generators.mathematics.premises import KINDS, QUESTIONS, Premise, distract, tell
from rlvr_envs.generators.mathematics.steps import ascii_math, eliminate, operand, total, worked
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
        """Each level adds a step and a distractor, up to 100 each, and larger numbers."""
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
        A short story (collections, ages, a journey, areas, a mixture, equations) determines a
        number. With probability ``ill_posed_share``, one premise that the answer needs is left
        out. Distractors are added, some of them consequences of the other premises, so that the
        number of premises does not give this away.

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
        The premises, the distractors and the numbers grow.

    References:
        Fan et al., Missing Premise exacerbates Overthinking: Are Reasoning Models losing Critical
        Thinking Skill?, 2025.
    """

    # "Cannot be determined" earns the share of ill-posed questions, half of them by default.
    shortcut_bound = 0.65

    def generate(self, rng: Rng) -> MissingPremiseProblem:
        config = self.config
        kind = pick(rng, config.kinds)
        story = tell(rng, kind, config.n_steps, config.max_number)
        premises, answer = story.premises, story.answer
        names = sorted({name for premise in premises for name in premise.names})
        ill_posed = rng.random() < config.ill_posed_share
        if ill_posed:
            del premises[pick(rng, story.droppable)]
        for _ in range(integer(rng, 0, config.n_distractors)):
            extra = distract(rng, kind, premises, names, config.max_number)
            names.extend(extra.names)
            if extra not in premises:
                premises.append(extra)
        told = tuple(premises[i] for i in rng.permutation(len(premises)).tolist())
        return MissingPremiseProblem(kind, told, story.asked, None if ill_posed else answer)

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
        return STEPS[problem.kind](problem.premises, problem.asked)


def _says_undetermined(answer: str) -> bool:
    if len(answer) > _MAX_PHRASE:
        return False
    plain = _WRAPPER.sub(" ", answer)
    words = " ".join(re.findall(r"[a-z]+|[0-9]+", plain.lower()))
    lead = _LEAD.match(words)
    return words in _SYNONYMS or (lead is not None and words[lead.end() :] in _SYNONYMS)


# Steps to the answers, or to the premise that is missing.


Premises = Sequence[Premise]
_OPEN = "So the answer is not determined."


def _by_name(premises: Premises, form: str) -> dict[str, int]:
    """Return the first number that a form of premise gives to each name."""
    return {p.names[0]: p.numbers[0] for p in premises if p.form == form}


def _chain(premises: Premises, start: str, forms: Sequence[str]) -> list[Premise]:
    """Return the premise that defines a name, then the one that defines its source, and so on."""
    rules = {p.names[0]: p for p in premises if p.form in forms}
    found: list[Premise] = []
    name = start
    while name in rules:
        found.append(rules[name])
        name = found[-1].names[-1]
        if len(found[-1].names) == 1:
            break
    return found


def _stamps(premises: Premises, asked: Sequence[str]) -> list[str]:
    chain = _chain(premises, asked[0], ("has", "more", "times"))
    if not chain or chain[-1].form != "has":
        last = chain[-1].names[-1] if chain else asked[0]
        return [*(p.text() for p in chain), f"Nothing says how many stamps {last} has. {_OPEN}"]
    value = chain[-1].numbers[0]
    steps = [f"{chain[-1].names[0]}: {value}"]
    for premise in reversed(chain[:-1]):
        sign = "+" if premise.form == "more" else "*"
        work = f"{value} {sign} {premise.numbers[0]}"
        value = value + premise.numbers[0] if sign == "+" else value * premise.numbers[0]
        steps.append(f"{premise.names[0]}: {work} = {value}")
    return steps


def _ages(premises: Premises, asked: Sequence[str]) -> list[str]:
    sums = [p for p in premises if p.form == "sum_later"]
    if not sums:
        return ["Only differences of ages are given.", f"All could be older alike. {_OPEN}"]
    (young, old), (years, later) = sums[0].names, sums[0].numbers
    chain = _chain(premises, old, ("older",))
    names = [p.names[1] for p in chain]
    if young not in names:
        last = names[-1] if names else old
        return [p.text() for p in chain] + [f"Nothing links the age of {last} to {young}. {_OPEN}"]
    gaps = [p.numbers[0] for p in chain[: names.index(young) + 1]]
    gap, now = sum(gaps), later - 2 * years
    age = Fraction(now - gap, 2)
    steps = [
        f"{old} is {worked(total(gaps), gap)} years older than {young}.",
        f"Their ages now add up to {later} - 2 * {years} = {now}.",
        f"{young}: ({now} - {gap}) / 2 = {age}",
    ]
    return steps if asked[0] == young else [*steps, f"{old}: {age} + {gap} = {age + gap}"]


def _missing(noun: str, name: str, given: Sequence[dict[str, int]], words: Sequence[str]) -> str:
    """Return which of some numbers is not given of a thing, or nothing."""
    for numbers, word in zip(given, words, strict=True):
        if name not in numbers:
            return f"Nothing says {word} {noun} {name}. {_OPEN}"
    return ""


def _names(asked: Sequence[str]) -> list[str]:
    return [str(i) for i in range(1, int(asked[0].split()[-1]) + 1)]


def _journey(premises: Premises, asked: Sequence[str]) -> list[str]:
    given = _by_name(premises, "speed"), _by_name(premises, "hours")
    steps: list[str] = []
    parts = []
    for day in _names(asked):
        open_ = _missing("day", day, given, ("how fast the bus is on", "how long it travels on"))
        if open_:
            return [*steps, open_]
        speed, hours = given[0][day], given[1][day]
        parts.append(speed * hours)
        steps.append(f"Day {day}: {speed} * {hours} = {parts[-1]} km")
    return [*steps, f"{worked(total(parts), sum(parts))}"]


def _plots(premises: Premises, asked: Sequence[str]) -> list[str]:
    given = _by_name(premises, "perimeter"), _by_name(premises, "longer")
    steps: list[str] = []
    parts: list[Rational] = []
    for plot in _names(asked):
        words = ("the perimeter of", "how much length and width differ on")
        open_ = _missing("plot", plot, given, words)
        if open_:
            return [*steps, open_]
        around, extra = given[0][plot], given[1][plot]
        width = Fraction(around - 2 * extra, 4)
        parts.append(width * (width + extra))
        steps.append(f"Plot {plot}: length and width add up to {around} / 2 = {around // 2}.")
        steps.append(f"Its width is ({around // 2} - {extra}) / 2 = {width}.")
        steps.append(f"Its area is {width} * ({width} + {extra}) = {parts[-1]}.")
    return [*steps, f"{worked(total(parts), sum(parts))}"]


def _mixture(premises: Premises, asked: Sequence[str]) -> list[str]:
    given = _by_name(premises, "volume"), _by_name(premises, "strength")
    steps: list[str] = []
    sugar: list[Rational] = []
    for jar in _names(asked):
        open_ = _missing("jar", jar, given, ("the volume of", "the strength of"))
        if open_:
            return [*steps, open_]
        volume, strength = given[0][jar], given[1][jar]
        sugar.append(Fraction(volume * strength, 100))
        steps.append(f"Jar {jar}: {volume} * {strength} / 100 = {sugar[-1]} ml of sugar")
    volumes = [given[0][jar] for jar in _names(asked)]
    part, whole = sum(sugar), sum(volumes)
    return [
        *steps,
        f"All the sugar: {total(sugar)} = {part} ml",
        f"All the syrup: {total(volumes)} = {whole} ml",
        f"In percent: {operand(part)} / {whole} * 100 = {100 * part / whole}",
    ]


def _equations(premises: Premises, asked: Sequence[str]) -> list[str]:
    names = premises[0].names
    wanted = names.index(asked[0])
    order = [i for i in range(len(names)) if i != wanted] + [wanted]
    shown = [names[i] for i in order]

    def show(row: Sequence[Rational]) -> str:
        return f"{ascii_math(linear(row[:-1], shown))} = {row[-1]}"

    rows = [[*(p.numbers[i] for i in order), p.numbers[-1]] for p in premises]
    found = eliminate(rows, show, noun="equation", width=len(names))
    steps = [f"Equation {i}: {show(row)}" for i, row in enumerate(rows, 1)] + found.steps
    if found.pivots[-1] != len(names) - 1:
        return [*steps, f"No equation is left that has {asked[0]} alone. {_OPEN}"]
    row = found.rows[len(found.pivots) - 1]
    value = row[-1] / row[-2]
    return [*steps, f"Now {show(row)}: {operand(row[-1])} / {operand(row[-2])} = {value}"]


STEPS: dict[str, Callable[[Premises, Sequence[str]], list[str]]] = {
    "stamps": _stamps,
    "ages": _ages,
    "journey": _journey,
    "plots": _plots,
    "mixture": _mixture,
    "equations": _equations,
}
