"""Unit conversion between made-up units, along a chain of given conversions."""

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.effort import WorkedTask
from rlvr_envs.generators.mathematics.latex import number
from rlvr_envs.generators.mathematics.steps import operand
from rlvr_envs.verifiers.symbolic import judge_math

KINDS = ("plain", "square", "rate", "unknown")
_ONSETS, _VOWELS, _CODAS = "bdfgklmnprstvz", "aeiou", "bdfklmnptz"
_TAKEN = frozenset({"dunam", "semen"})  # names that mean something
_WRAPPED = re.compile(r"\\(?:text|mathrm|textrm|mbox|operatorname)\s*\{([^{}]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitConversionConfig(TaskConfig):
    """The length of the chain, the distractors, and the size of the factors."""

    n_steps: int = knob(3, "conversions between the two units", low=1)
    n_distractors: int = knob(2, "units that are defined but not needed", low=0)
    max_factor: int = knob(9, "both sides of a conversion have 1..max_factor units", low=3)
    max_amount: int = knob(50, "the largest amount", low=2)
    kinds: tuple[str, ...] = knob(
        KINDS,
        "plain, square and rate ask for an amount, unknown for a number in an equation",
        choices=KINDS,
    )

    @classmethod
    def at(cls, difficulty: int) -> "UnitConversionConfig":
        """A step a level, from level 5 on every second, with a distractor, and larger factors.

        Square units and rates come in at level 3, equations with an unknown number at level 4.
        """
        return cls(
            n_steps=1 + min(difficulty, 5) + max(0, difficulty - 4) // 2,
            n_distractors=difficulty,
            max_factor=4 + 2 * difficulty,
            max_amount=12 + 12 * difficulty,
            kinds=("plain",) if difficulty < 3 else KINDS[: min(difficulty, 4)],
        )


@dataclass(frozen=True, slots=True)
class Conversion:
    """A given conversion: ``left`` of ``unit`` equals ``right`` of ``other``; 0 is unknown."""

    left: int
    unit: str
    right: int
    other: str


@dataclass(frozen=True, slots=True)
class UnitConversionProblem:
    """The given conversions and the one to find; ``units`` are its source and target.

    Rates are per unit of ``per``, before and after; other kinds do not use it. Where a number of
    an equation is to be found, the ``result`` of the conversion is given.
    """

    kind: str
    facts: tuple[Conversion, ...]
    amount: int
    units: tuple[str, str]
    per: tuple[str, str] | None
    answer: Fraction = hidden()
    result: Fraction | None = None


@register("UnitConversion-v0", domain="math")
class UnitConversionTask(WorkedTask[UnitConversionConfig, UnitConversionProblem]):
    """Convert an amount between made-up units, using a list of conversions.

    Description:
        The units are invented for each problem, so nothing can be recalled from training. The
        conversions form a tree, or two trees for a rate, and the agent has to find the chain
        between the two units; all other units are distractors. Questions ask for plain amounts,
        square units and rates, or for an unknown number in one of the equations.

    Observation:
        The conversions in random order, and the question.

    Action:
        One exact number, with or without the unit.

    Reward:
        1 for the right number, with the right unit or without a unit, otherwise 0.

    Verification:
        Exact rational arithmetic; the number may be written in any form. A wrong unit is a
        wrong answer.

    Difficulty:
        The chain, the distractors and the factors grow; square units, rates, and questions that
        have to be solved for a number come in.

    References:
        Factor-label method of dimensional analysis.
    """

    def generate(self, rng: Rng) -> UnitConversionProblem:
        config = self.config
        kind = pick(rng, config.kinds)
        # A rate shares the steps between its two chains, each of one step at least.
        lower = max(1, config.n_steps // 2) if kind == "rate" else 0
        upper = max(1, config.n_steps - lower)
        names = _draw_names(rng, upper + lower + 2 + config.n_distractors)
        chain, names = names[: upper + 1], names[upper + 1 :]
        per, names = names[: lower + 1], names[lower + 1 :]
        facts: list[Conversion] = []
        factor = _link(rng, chain, config.max_factor, facts)
        per_factor = _link(rng, per, config.max_factor, facts)
        amount = integer(rng, 2, config.max_amount)
        answer = amount * (factor**2 if kind == "square" else factor / per_factor)
        result = None
        if kind == "unknown":
            result = answer
            answer = Fraction(_hide(rng, facts))
        known = [*chain, *per] if kind == "rate" else chain[:]
        for name in names:
            facts.append(_fact(rng, pick(rng, known), name, config.max_factor)[0])
            known.append(name)
        facts = [facts[i] for i in rng.permutation(len(facts)).tolist()]
        return UnitConversionProblem(
            kind,
            tuple(facts),
            amount,
            (chain[0], chain[-1]),
            (per[0], per[-1]) if kind == "rate" else None,
            answer,
            result,
        )

    def prompt(self, problem: UnitConversionProblem) -> str:
        facts = "\n".join(
            f"{f.left or '$x$'} {f.unit} = {f.right or '$x$'} {f.other}" for f in problem.facts
        )
        amount, (source, target) = problem.amount, problem.units
        if problem.per is not None:
            question = (
                f"Convert {amount} {source} per {problem.per[0]} to {target} per {problem.per[1]}."
            )
        elif problem.kind == "square":
            question = f"Convert {amount} square {source} to square {target}."
        else:
            question = f"Convert {amount} {source} to {target}."
        if problem.result is not None:
            return (
                f"The following units are made up, and the number $x$ is unknown:\n{facts}\n\n"
                f"By these equations, {amount} {source} are {problem.result} {target}. Find $x$. "
                "Answer with the exact number."
            )
        equations = "these equations" if len(problem.facts) > 1 else "this equation"
        return (
            f"The following units are made up. Use {equations} to convert between them:\n{facts}"
            f"\n\n{question} Answer with the exact number, as an integer or a fraction."
        )

    def verify(self, problem: UnitConversionProblem, answer: str) -> Verdict:
        bare = _without_unit(answer, _unit(problem))
        names = {name for fact in problem.facts for name in (fact.unit, fact.other)}
        if not names.isdisjoint(re.findall(r"[a-z]+", bare.lower())):
            return Verdict.wrong("the answer has a unit other than the target unit")
        return judge_math(number(problem.answer), bare, answer_type="rational", exact=True)

    def solve(self, problem: UnitConversionProblem) -> str:
        return number(problem.answer)

    def explain(self, problem: UnitConversionProblem) -> list[str]:
        """Return the amount in one unit of the chain after another."""
        if problem.result is not None:
            return _solved(problem, problem.result)
        steps = []
        value = Fraction(problem.amount)
        square = "square " if problem.kind == "square" else ""
        for unit, other, plain in _chain(problem.facts, *problem.units):
            steps.append(f"One {unit} is {plain} {other}.")
            ratio = plain**2 if square else plain
            if square:
                steps.append(f"One square {unit} is {operand(plain)}^2 = {ratio} square {other}.")
            work = f"{operand(value)} * {operand(ratio)}"
            value *= ratio
            steps.append(f"In {square}{other}: {work} = {value}")
        if problem.per is None:
            return steps
        factor = Fraction(1)
        for unit, other, ratio in _chain(problem.facts, *problem.per):
            factor *= ratio
            steps.append(f"One {unit} is {ratio} {other}, one {problem.per[0]} {factor} {other}.")
        steps.append(f"Per {problem.per[1]} it is that much less or more, so divide.")
        return [*steps, f"{operand(value)} / {operand(factor)} = {value / factor}"]

    def baseline(self, rng: Rng, problem: UnitConversionProblem) -> str:
        """Convert by the first equation that has the source unit, and stop there."""
        source = problem.units[0]
        fact = next(f for f in problem.facts if source in (f.unit, f.other))
        ratio = Fraction(fact.right or 1, fact.left or 1)
        return number(problem.amount * (ratio if fact.unit == source else 1 / ratio))


def _hide(rng: Rng, facts: list[Conversion]) -> int:
    """Make a number above 1 in one of the facts unknown, and return it."""
    at = integer(rng, 0, len(facts) - 1)
    fact = facts[at]
    if fact.left == 1 or (fact.right > 1 and rng.random() < 0.5):
        facts[at] = replace(fact, right=0)
        return fact.right
    facts[at] = replace(fact, left=0)
    return fact.left


def _solved(problem: UnitConversionProblem, result: Fraction) -> list[str]:
    """Return the unknown number from what the conversion would give with 1 in its place."""
    facts = tuple(replace(f, left=f.left or 1, right=f.right or 1) for f in problem.facts)
    open_ = next(f for f in problem.facts if 0 in (f.left, f.right))
    value = Fraction(problem.amount)
    grows = False
    steps = ["Convert with 1 in the place of x."]
    for unit, other, ratio in _chain(facts, *problem.units):
        work = f"{operand(value)} * {operand(ratio)}"
        value *= ratio
        steps.append(f"In {other}: {work} = {value}")
        if {unit, other} == {open_.unit, open_.other}:
            grows = (open_.right == 0) == (unit == open_.unit)
    one, two = (result, value) if grows else (value, result)
    how = "times" if grows else "divided by"
    steps.append(f"The right amount, {result}, is this {how} x.")
    return [*steps, f"x = {operand(one)} / {operand(two)} = {one / two}"]


def _link(rng: Rng, chain: list[str], top: int, facts: list[Conversion]) -> Fraction:
    """State a conversion for every link and return how many last units one first unit is."""
    factor = Fraction(1)
    for unit, other in pairwise(chain):
        fact, step = _fact(rng, unit, other, top)
        facts.append(fact)
        factor *= step
    return factor


def _fact(rng: Rng, unit: str, other: str, top: int) -> tuple[Conversion, Fraction]:
    """Return a conversion between two different amounts, and the factor from unit to other."""
    left = integer(rng, 1, top)
    right = integer(rng, 1, top - 1)
    right += right >= left
    ratio = Fraction(right, left)
    left, right = ratio.denominator, ratio.numerator
    if rng.random() < 0.5:
        return Conversion(left, unit, right, other), ratio
    return Conversion(right, other, left, unit), ratio


def _draw_names(rng: Rng, count: int) -> list[str]:
    names: dict[str, None] = {}
    while len(names) < count:
        name = "".join(pick(rng, part) for part in (_ONSETS, _VOWELS, _CODAS, _VOWELS, _CODAS))
        if name not in _TAKEN:
            names[name] = None
    return list(names)


def _unit(problem: UnitConversionProblem) -> str:
    target = problem.units[1]
    if problem.per is not None:
        return rf"{target}\s*(?:per|/)\s*{problem.per[1]}"
    if problem.kind == "square":
        return rf"(?:square\s+{target}|{target}\s*\^\s*(?:2|\{{2\}}))"
    return target


def _without_unit(answer: str, unit: str) -> str:
    """Return the answer without the right unit at its end, which may be set as text."""
    plain = _WRAPPED.sub(r" \1 ", answer).replace("\\ ", " ").replace("\\,", " ")
    plain = plain.replace("~", " ").strip().removesuffix(".").removesuffix("$").rstrip()
    found = re.search(rf"(?<![A-Za-z])\s*{unit}$", plain, re.IGNORECASE)
    if found is None:
        return answer
    return plain[: found.start()].rstrip().removesuffix("$").strip().removeprefix("$")


def _chain(
    facts: tuple[Conversion, ...], source: str, target: str
) -> list[tuple[str, str, Fraction]]:
    """Return the conversions from one unit to another: unit, next unit, and how many of it."""
    links: dict[str, list[tuple[str, Fraction]]] = {}
    for fact in facts:
        ratio = Fraction(fact.right, fact.left)
        links.setdefault(fact.unit, []).append((fact.other, ratio))
        links.setdefault(fact.other, []).append((fact.unit, 1 / ratio))
    paths: list[list[tuple[str, str, Fraction]]] = [[]]
    for path in paths:  # the list grows as it is read; the conversions form a tree
        at = path[-1][1] if path else source
        if at == target:
            return path
        before = path[-1][0] if path else ""
        paths += [[*path, (at, other, ratio)] for other, ratio in links[at] if other != before]
    raise ValueError(f"no conversions lead from {source} to {target}")
