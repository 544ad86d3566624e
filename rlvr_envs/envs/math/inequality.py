"""Inequalities in one unknown: linear, polynomial, rational, with absolute values."""

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, nonzero, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics import effort
from rlvr_envs.generators.mathematics.evaluation import operations
from rlvr_envs.generators.mathematics.latex import interval, number, polynomial, signed_sum, union
from rlvr_envs.generators.mathematics.polynomials import Poly, add, evaluate, multiply
from rlvr_envs.generators.mathematics.steps import (
    horner,
    operand,
    read_polynomial,
    value_parts,
)
from rlvr_envs.generators.mathematics.steps import (
    polynomial as polynomial_text,
)
from rlvr_envs.verifiers.mathtext.nodes import Sym, symbols
from rlvr_envs.verifiers.mathtext.reader import read
from rlvr_envs.verifiers.mathtext.values import (
    Braces,
    Chain,
    Combined,
    Group,
    Listing,
    Scalar,
    Value,
)
from rlvr_envs.verifiers.symbolic import judge_math


@dataclass(frozen=True, slots=True)
class Span:
    """An interval; None stands for an infinite end. A point is closed, with equal ends."""

    low: Fraction | None
    high: Fraction | None
    with_low: bool
    with_high: bool


KINDS = ("linear", "polynomial", "absolute", "rational")
_RELATIONS: dict[str, Callable[[Fraction | int], bool]] = {
    "<": lambda gap: gap < 0,
    "\\le": lambda gap: gap <= 0,
    ">": lambda gap: gap > 0,
    "\\ge": lambda gap: gap >= 0,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class InequalityConfig(TaskConfig):
    """The kinds of inequalities, the number of roots or poles, and the size of the numbers."""

    kinds: tuple[str, ...] = knob(
        KINDS, "kinds of inequalities, each equally likely", choices=KINDS
    )
    n_points: int = knob(
        3, "number of roots and poles; there are twice as many absolute values, less three", low=2
    )
    max_point: int = knob(12, "numerators of roots and poles lie in -max_point..max_point")
    max_denominator: int = knob(
        2, "denominators of roots and poles are drawn from 1..max_denominator", low=1
    )

    def check(self) -> None:
        if self.max_point < self.n_points:
            raise ConfigError(f"need max_point >= n_points, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "InequalityConfig":
        """A point every second level, larger numbers; one more kind a level up to level 3."""
        return cls(
            kinds=KINDS[: 1 + difficulty] if difficulty < 4 else KINDS[1:],
            n_points=2 + difficulty // 2,
            max_point=6 + 3 * difficulty,
            max_denominator=1 + difficulty // 3,
        )


@dataclass(frozen=True, slots=True)
class InequalityProblem:
    """The inequality in LaTeX, and its solutions as disjoint intervals in increasing order."""

    inequality: str
    solutions: tuple[Span, ...] = hidden()


@register("Inequality-v0", domain="math")
class InequalityTask(Task[InequalityConfig, InequalityProblem]):
    """Solve an inequality over the real numbers.

    Description:
        One of: a linear inequality; a polynomial with chosen rational roots, some of them double;
        a quotient with chosen roots and poles, compared with a constant; a sum of multiples of
        absolute values, compared with its value at a chosen point. Each has a simple root or a
        change of sign, so the solution set is never empty and never all real numbers.

    Observation:
        The inequality.

    Action:
        The solution set as an interval or a union of intervals, or as inequalities for x.

    Reward:
        1 for the solution set, otherwise 0.

    Verification:
        The sets are compared exactly, endpoint by endpoint. Inequalities in an answer must bound
        x itself, so a copy of the question earns 0. No known gaps.

    Difficulty:
        The number of roots, poles and absolute values, and the size of the numbers grow.

    References:
        Hendrycks et al., Measuring Mathematical Problem Solving With the MATH Dataset,
        arXiv:2103.03874 (intermediate algebra).
    """

    def generate(self, rng: Rng) -> InequalityProblem:
        relation = pick(rng, tuple(_RELATIONS))
        make = {
            "linear": self._linear,
            "polynomial": self._polynomial,
            "absolute": self._absolute,
            "rational": self._rational,
        }[pick(rng, self.config.kinds)]
        left, right, points, gap = make(rng)
        test = _RELATIONS[relation]

        def holds(x: Fraction) -> bool:
            value = gap(x)
            return value is not None and test(value)

        return InequalityProblem(f"{left} {relation} {right}", solve_on_line(points, holds))

    def _points(self, rng: Rng, count: int) -> list[Fraction]:
        """Return distinct points; there are at least twice as many to choose from."""
        found: list[Fraction] = []
        while len(found) < count:
            top = integer(rng, -self.config.max_point, self.config.max_point)
            point = Fraction(top, integer(rng, 1, self.config.max_denominator))
            if point not in found:
                found.append(point)
        return found

    def _linear(self, rng: Rng) -> "_Parts":
        (point,) = self._points(rng, 1)
        limit = self.config.max_point
        slope, constant = point.denominator * nonzero(rng, limit), nonzero(rng, limit)
        left = polynomial((constant, slope))
        right = number(slope * point + constant)
        return left, right, [point], lambda x: slope * (x - point)

    def _polynomial(self, rng: Rng) -> "_Parts":
        points = self._points(rng, self.config.n_points)
        roots = [*points, *(point for point in points[1:] if integer(rng, 0, 3) == 0)]
        factor = pick(rng, (1, -1))
        text = polynomial(_scaled(_with_roots(roots), factor))
        return text, "0", points, lambda x: factor * _sign(roots, x)

    def _rational(self, rng: Rng) -> "_Parts":
        points = self._points(rng, self.config.n_points)
        n_poles = integer(rng, 1, self.config.n_points - 1)
        bottom = _with_roots(points[:n_poles])
        factor, bound = nonzero(rng, 3), integer(rng, -3, 3)
        top = _scaled(_with_roots(points[n_poles:]), factor)
        shown = add(top, _scaled(bottom, bound))
        text = f"\\frac{{{polynomial(shown)}}}{{{polynomial(bottom)}}}"
        poles = points[:n_poles]
        return text, str(bound), points, lambda x: None if x in poles else factor * _sign(points, x)

    def _absolute(self, rng: Rng) -> "_Parts":
        kinks = self._points(rng, 2 * self.config.n_points - 3)
        factors = [nonzero(rng, 4) for _ in kinks]
        if not sum(f * kink.denominator for f, kink in zip(factors, kinks, strict=True)):
            factors[0] *= 5  # so that the outermost slopes are not 0
        terms = [(f, k.denominator, k.numerator) for f, k in zip(factors, kinks, strict=True)]

        def total(x: Fraction) -> Fraction:
            return sum((f * abs(b * x - a) for f, b, a in terms), Fraction(0))

        planted = max(kinks) + Fraction(integer(rng, 1, self.config.max_point))
        bound = total(planted)
        left = signed_sum((f, f"\\left|{polynomial((-a, b))}\\right|") for f, b, a in terms)
        points = [*kinks, *_crossings(sorted(kinks), lambda x: total(x) - bound)]
        return left, number(bound), points, lambda x: total(x) - bound

    def prompt(self, problem: InequalityProblem) -> str:
        text = problem.inequality
        linear = "^" not in text and "|" not in text and "frac" not in text
        closed = _RELATION.split(text)[1] in ("\\le", "\\ge")
        points = ", with isolated points, if any, in braces" if closed and not linear else ""
        return (
            f"Solve the inequality over the real numbers:\n\n$${text}$$\n\n"
            f"Give the solution set as an interval or a union of intervals{points}."
        )

    def verify(self, problem: InequalityProblem, answer: str) -> Verdict:
        answer = with_set_braces(answer)
        if not states_set(answer):
            return Verdict.unparsable("expected intervals, or inequalities for x itself")
        return judge_math(self.solve(problem), answer, answer_type="interval", exact=True)

    def solve(self, problem: InequalityProblem) -> str:
        return union(
            [
                interval(span.low, span.high, low_closed=span.with_low, high_closed=span.with_high)
                for span in problem.solutions
            ]
        )

    def effort(self, problem: InequalityProblem) -> int:
        """Count the digit operations of the worked solution, with its table of signs."""
        return effort.written(self.explain(problem))

    def baseline(self, rng: Rng, problem: InequalityProblem) -> str:
        """Leave powers, denominators and bars away, and never turn the sign around."""
        left, sign, right = _RELATION.split(problem.inequality)
        quotient = _QUOTIENT.fullmatch(left)
        sums = [(1, quotient[1] if quotient else left)]
        if "|" in left:
            sums = [(_factor(sign, size), inside) for sign, size, inside in _BARS.findall(left)]
        constant = slope = 0
        for factor, text in sums:
            low, high, *_ = (*read_polynomial(text), 0)
            constant, slope = constant + factor * low, slope + factor * high
        end = (_number(right) - constant) / slope if slope else Fraction(0)
        below, closed = sign in ("<", "\\le"), sign in ("\\le", "\\ge")
        ends = (None, end) if below else (end, None)
        return interval(*ends, low_closed=closed, high_closed=closed)

    def explain(self, problem: InequalityProblem) -> list[str]:
        config = self.config
        candidates = {
            Fraction(top, bottom)
            for bottom in range(1, config.max_denominator + 1)
            for top in range(-config.max_point, config.max_point + 1)
        }
        return inequality_steps(problem.inequality, sorted(candidates))


# Left side, right side, the points where the truth may change, and a function with the sign of
# left minus right; None where a side is undefined.
_Parts = tuple[str, str, list[Fraction], Callable[[Fraction], Fraction | int | None]]


def _with_roots(points: list[Fraction]) -> Poly:
    product: Poly = (1,)
    for point in points:
        product = multiply(product, (-point.numerator, point.denominator))
    return product


def _sign(roots: list[Fraction], x: Fraction) -> int:
    """Return the sign of the product of all ``x - root``."""
    if x in roots:
        return 0
    return -1 if sum(x < root for root in roots) % 2 else 1


def _scaled(coefficients: Poly, factor: int) -> Poly:
    return multiply(coefficients, (factor,)) if factor else ()


def _crossings(kinks: list[Fraction], gap: Callable[[Fraction], Fraction]) -> list[Fraction]:
    """Return the zeros of a function that is a line between, before and after its kinks."""
    found = []
    ends = [kinks[0] - 1, *kinks, kinks[-1] + 1]
    for place, (left, right) in enumerate(itertools.pairwise(ends)):
        at_left, at_right = gap(left), gap(right)
        if at_left == at_right:
            continue
        zero = left - at_left * (right - left) / (at_right - at_left)
        inside = (place == 0 or zero >= left) and (place == len(kinks) or zero <= right)
        if inside and zero not in kinks and zero not in found:
            found.append(zero)
    return found


# Steps to the solutions of an inequality, read from the way in which `Inequality` writes it.


_RELATION = re.compile(r" (<|\\le|>|\\ge) ")
_QUOTIENT = re.compile(r"\\frac\{(.*)\}\{(.*)\}")
_BARS = re.compile(r"([+-]?) ?([0-9]*)\\left\|([^|]*)\\right\|")
_PLAIN = {"<": "<", "\\le": "<=", ">": ">", "\\ge": ">="}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
Candidates = Sequence[Fraction]


def inequality_steps(inequality: str, candidates: Candidates) -> list[str]:
    """Return the steps to the solutions; roots and poles are looked for among the candidates."""
    left, sign, right = _RELATION.split(inequality)
    relation = _PLAIN[sign]
    if "|" in left:
        return _absolute(left, relation, _number(right))
    quotient = _QUOTIENT.fullmatch(left)
    if quotient is not None:
        above, below = map(read_polynomial, quotient.groups())
        return _rational((above, below), int(right), relation, candidates)
    coefficients = read_polynomial(left)
    if len(coefficients) == 2:
        return _linear(coefficients, relation, _number(right))
    roots = [x for x in candidates if not evaluate(tuple(map(Fraction, coefficients)), x)]
    found = [
        f"{polynomial_text(coefficients)} is 0 at x = {x}: {horner(coefficients, x)}" for x in roots
    ]

    def value(x: Fraction) -> str:
        return horner(coefficients, x)

    ends = "" if relation in "<>" else " The roots themselves give 0, which is allowed."
    return [
        "Find the roots; between neighbouring ones the sign does not change.",
        *found,
        *_signs(roots, value),
        f"Keep the parts where the value is {relation} 0.{ends}",
    ]


def _number(text: str) -> Fraction:
    return operations(text)[1][0]


def _factor(sign: str, size: str) -> int:
    """Return the number before a pair of bars."""
    return int(f"{sign}{size or 1}")


def _linear(coefficients: Sequence[int], relation: str, right: Fraction) -> list[str]:
    constant, slope = coefficients
    gap = right - constant
    verb = "Subtract" if constant > 0 else "Add"
    steps = []
    if constant:
        steps.append(f"{verb} {abs(constant)}: {polynomial_text((0, slope))} {relation} {gap}")
    if slope != 1:
        turned = _TURNED[relation] if slope < 0 else relation
        steps.append(f"Divide by {slope}: {operand(gap)} / {operand(slope)} = {gap / slope}")
        if slope < 0:
            steps.append("Dividing by a negative number turns the sign around.")
        steps.append(f"x {turned} {gap / slope}")
    return steps


def _signs(points: Candidates, value: Callable[[Fraction], str]) -> list[str]:
    """Return a line with the value at a point of each part of the line between the points."""
    steps = []
    for low, high in zip((None, *points), (*points, None), strict=True):
        where = f"between {low} and {high}" if low is not None else f"below {high}"
        where = where if high is not None else f"above {low}"
        x = _inside(low, high)
        steps.append(f"For x {where}, such as {x}: {value(x)}")
    return steps


def _inside(low: Fraction | None, high: Fraction | None) -> Fraction:
    """Return a point between two others, of which one may be missing."""
    if low is None:
        return (high or Fraction(0)) - 1
    return low + 1 if high is None else (low + high) / 2


def _rational(
    sides: tuple[tuple[int, ...], tuple[int, ...]],
    bound: int,
    relation: str,
    candidates: Candidates,
) -> list[str]:
    steps = []
    above, below = sides
    top = add(above, multiply(below, (-bound,)) if bound else ())
    if bound:
        steps.append(f"Subtract {bound} and put both over one denominator.")
        steps.append(
            f"This gives ({polynomial_text(top)}) / ({polynomial_text(below)}) {relation} 0."
        )
    zeros, poles = (
        [x for x in candidates if not evaluate(tuple(map(Fraction, part)), x)]
        for part in (top, below)
    )
    steps.append(f"The numerator is 0 at {', '.join(map(str, zeros))}.")
    steps.append(f"The denominator is 0 at {', '.join(map(str, poles))}; these x never belong.")

    def value(x: Fraction) -> str:
        (up, high), (down, low) = (value_parts(part, x) for part in (top, below))
        return f"({up}) / ({down}) = {high / low}"

    ends = "" if relation in "<>" else " The zeros of the numerator belong too."
    return [
        *steps,
        *_signs(sorted((*zeros, *poles)), value),
        f"Keep the parts where the value is {relation} 0.{ends}",
    ]


def _absolute(left: str, relation: str, bound: Fraction) -> list[str]:
    terms = []
    for sign, size, inside in _BARS.findall(left):
        a, b = read_polynomial(inside)
        terms.append((_factor(sign, size), a, b))
    kinks = sorted({Fraction(-a, b) for _, a, b in terms})
    steps = [f"What is between bars changes sign at {', '.join(map(str, kinks))}."]
    for low, high in zip((None, *kinks), (*kinks, None), strict=True):
        x = (
            (high or Fraction(0)) - 1
            if low is None
            else low + 1
            if high is None
            else (low + high) / 2
        )
        constant = slope = 0
        for factor, a, b in terms:
            sign = 1 if a + b * x > 0 else -1
            constant, slope = constant + factor * sign * a, slope + factor * sign * b
        parts = (None if low is None else f"x >= {low}", None if high is None else f"x <= {high}")
        where = " and ".join(filter(None, parts))
        steps.append(f"For {where} it says {polynomial_text((constant, slope))} {relation} {bound}")
        if slope:
            turned = _TURNED[relation] if slope < 0 else relation
            steps[-1] += f", so x {turned} {(bound - constant) / slope}."
        else:
            holds = bound - constant > 0 if "<" in relation else bound - constant < 0
            always = holds or (bound == constant and "=" in relation)
            steps[-1] += ", which always holds." if always else ", which never holds."
    return [*steps, "Take from each part what lies in it, and join these."]


# Sets of real numbers that solve a condition, and answers that state such a set.


MAX_TEXT = 20_000


def solve_on_line(
    points: Iterable[Fraction], holds: Callable[[Fraction], bool]
) -> tuple[Span, ...]:
    """Return where a condition holds that may change at the points only."""
    cuts = sorted(set(points))
    pieces: list[tuple[Fraction | None, Fraction | None, Fraction]] = []
    lower: Fraction | None = None
    for cut in cuts:
        inside = cut - 1 if lower is None else (lower + cut) / 2
        pieces += [(lower, cut, inside), (cut, cut, cut)]
        lower = cut
    pieces.append((lower, None, Fraction(0) if lower is None else lower + 1))
    found: list[Span] = []
    touching = False  # whether the last span reaches up to the next piece
    for low, high, inside in pieces:
        if not holds(inside):
            touching = False
            continue
        closed = low is not None and low == high
        if touching:
            found[-1] = Span(found[-1].low, high, found[-1].with_low, closed)
        else:
            found.append(Span(low, high, closed, closed))
        touching = True
    return tuple(found)


def with_set_braces(answer: str) -> str:
    """Return an answer with the braces of plain text, which mean a set, as those of LaTeX."""
    return answer if "\\" in answer else answer.replace("{", "\\{").replace("}", "\\}")


def states_set(answer: str) -> bool:
    """Whether an answer states a set: by intervals, or by inequalities between x and numbers."""
    return len(answer) <= MAX_TEXT and _states(read(answer))


def _states(value: Value) -> bool:
    if isinstance(value, Chain):
        if value.relations == ("=",) and isinstance(value.sides[1], Group | Combined | Braces):
            return _is_set_name(value.sides[0]) and _states(value.sides[1])
        return all(isinstance(side, Scalar) and _is_bare(side) for side in value.sides) or (
            value.relations == ("in",) and _states(value.sides[1])
        )
    if isinstance(value, Combined):
        return all(map(_states, value.parts))
    if isinstance(value, Listing):
        return all(map(_states, value.items))
    return isinstance(value, Group | Braces)


def _is_set_name(value: Value) -> bool:
    return isinstance(value, Scalar) and isinstance(value.expr, Sym)


def _is_bare(side: Scalar) -> bool:
    return isinstance(side.expr, Sym) or not symbols(side.expr)
