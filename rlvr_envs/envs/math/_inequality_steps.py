"""Steps to the solutions of an inequality, read from the way in which `Inequality` writes it."""

import re
from collections.abc import Callable, Sequence
from fractions import Fraction

from rlvr_envs.generators.mathematics.evaluation import operations
from rlvr_envs.generators.mathematics.polynomials import add, evaluate, multiply
from rlvr_envs.generators.mathematics.steps import (
    horner,
    operand,
    polynomial,
    read_polynomial,
    value_parts,
)

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
        f"{polynomial(coefficients)} is 0 at x = {x}: {horner(coefficients, x)}" for x in roots
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


def _linear(coefficients: Sequence[int], relation: str, right: Fraction) -> list[str]:
    constant, slope = coefficients
    gap = right - constant
    verb = "Subtract" if constant > 0 else "Add"
    steps = []
    if constant:
        steps.append(f"{verb} {abs(constant)}: {polynomial((0, slope))} {relation} {gap}")
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
        steps.append(f"This gives ({polynomial(top)}) / ({polynomial(below)}) {relation} 0.")
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
        terms.append(((-1 if sign == "-" else 1) * int(size or 1), a, b))
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
        steps.append(f"For {where} it says {polynomial((constant, slope))} {relation} {bound}")
        if slope:
            turned = _TURNED[relation] if slope < 0 else relation
            steps[-1] += f", so x {turned} {(bound - constant) / slope}."
        else:
            holds = bound - constant > 0 if "<" in relation else bound - constant < 0
            always = holds or (bound == constant and "=" in relation)
            steps[-1] += ", which always holds." if always else ", which never holds."
    return [*steps, "Take from each part what lies in it, and join these."]
