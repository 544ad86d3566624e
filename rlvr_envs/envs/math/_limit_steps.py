"""Steps to a limit, for the kinds of `rlvr_envs.envs.math.limit` that a rule takes apart."""

import re
from fractions import Fraction

from rlvr_envs.generators.mathematics.calculus import Num, X, differentiate, latex, num, substitute
from rlvr_envs.generators.mathematics.calculus_steps import from_text, parts_of_quotient
from rlvr_envs.generators.mathematics.polynomials import evaluate
from rlvr_envs.generators.mathematics.steps import (
    divided_out,
    horner,
    operand,
    polynomial,
    read_polynomial,
)

_INSIDE = r"([^{}\\]*(?:\{[0-9]+\}[^{}\\]*)*)"  # a polynomial; braces hold exponents
_QUOTIENT = re.compile(rf"\\frac\{{{_INSIDE}\}}\{{{_INSIDE}\}}")
_ROOT = re.compile(r"\\left\( \\sqrt\{([^\\]*)\} - (.*) \\right\)")
_POWER = re.compile(r"\\left\(\\frac\{([^\\]*)\}\{([^\\]*)\}\\right\)\^\{(.*)\}")


def limit_steps(expression: str, point: str) -> list[str]:
    """Return the steps to a limit; none where only Taylor series would lead to it."""
    quotient = _QUOTIENT.fullmatch(expression)
    if point == "\\infty":
        if quotient is not None:
            return _leading(*map(read_polynomial, quotient.groups()))
        root, power = _ROOT.fullmatch(expression), _POWER.fullmatch(expression)
        if root is not None:
            return _conjugate(*map(read_polynomial, (root[1], _sign_turned(root[2]))))
        return _one_to_infinity(*map(read_polynomial, power.groups())) if power else []
    if quotient is not None and point != "0":
        above, below = map(read_polynomial, quotient.groups())
        return _cancelled(above, below, int(point))
    # Taylor series inside a power, the last kind, stand in parentheses.
    return [] if expression.startswith("\\left(") else _by_derivatives(expression)


def _leading(above: tuple[int, ...], below: tuple[int, ...]) -> list[str]:
    degree = len(below) - 1
    top = above[degree]
    return [
        f"For large x the highest powers decide. Divide above and below by x^{degree}.",
        f"Above, all but {top} goes to 0; below, all but {below[-1]}.",
        f"{operand(top)} / {operand(below[-1])} = {Fraction(top, below[-1])}",
    ]


def _cancelled(above: tuple[int, ...], below: tuple[int, ...], root: int) -> list[str]:
    steps = []
    factor = (-root, 1)
    while not evaluate(below, root):
        steps.append(f"Above at x = {root}: {horner(above, root)}")
        steps.append(f"Below at x = {root}: {horner(below, root)}")
        above, below = divided_out(above, factor), divided_out(below, factor)
        steps.append(
            f"Cancel {polynomial(factor)}: ({polynomial(above)}) over ({polynomial(below)})"
        )
    top, bottom = evaluate(above, root), evaluate(below, root)
    return [
        *steps,
        f"Above at x = {root}: {horner(above, root)}",
        f"Below at x = {root}: {horner(below, root)}",
        f"{operand(top)} / {operand(bottom)} = {Fraction(top, bottom)}",
    ]


def _sign_turned(text: str) -> str:
    """Return what is subtracted term by term, such as ``3x - 2`` of ``- 3x - 2``, as a sum."""
    first, *rest = re.split(r" ([+-]) ", text)
    signs = {"+": "-", "-": "+"}
    return first + "".join(f" {signs[part]} " if part in signs else part for part in rest)


def _conjugate(square: tuple[int, ...], line: tuple[int, ...]) -> list[str]:
    shift, lead = line
    constant, slope, _ = square
    left = slope - 2 * lead * shift
    rest = constant - shift * shift
    shown = polynomial((shift, lead))
    return [
        f"Multiply and divide by the root plus {shown}.",
        f"Above stands ({polynomial(square)}) - ({shown})^2, which is {polynomial((rest, left))}.",
        f"Its factor of x is {slope} - 2 * {lead} * {operand(shift)} = {left}.",
        f"Divide above and below by x. The root over x tends to {lead}.",
        f"So what is below tends to {lead} + {lead} = {2 * lead}.",
        f"{operand(left)} / {2 * lead} = {Fraction(left, 2 * lead)}",
    ]


def _one_to_infinity(
    above: tuple[int, ...], below: tuple[int, ...], exponent: tuple[int, ...]
) -> list[str]:
    gap, scale, rate = above[0] - below[0], below[1], exponent[1]
    value = Fraction(gap * rate, scale)
    return [
        f"The base is 1 + d with d = ({gap}) / ({polynomial(below)}), and d tends to 0.",
        "Such a power tends to e to the limit of d times the exponent.",
        f"That is ({gap}) * ({polynomial(exponent)}) / ({polynomial(below)}).",
        f"The highest powers decide: {operand(gap)} * {operand(rate)} / {operand(scale)} = {value}",
        f"So the limit is e to the power {value}.",
    ]


def _by_derivatives(expression: str) -> list[str]:
    """Return the steps by l'Hospital's rule, where one derivative is enough."""
    above, below = parts_of_quotient(from_text(expression))
    zero = num(0)
    if any(substitute(part, X, zero) != zero for part in (above, below)):
        return []
    slopes = [differentiate(part) for part in (above, below)]
    top, bottom = (substitute(slope, X, zero) for slope in slopes)
    if not isinstance(top, Num) or not isinstance(bottom, Num) or not bottom.value:
        return []
    return [
        "Above and below tend to 0, so take derivatives of both (l'Hospital's rule).",
        f"The derivative of {latex(above)} is {latex(slopes[0])}, at 0 {latex(top)}.",
        f"The derivative of {latex(below)} is {latex(slopes[1])}, at 0 {latex(bottom)}.",
        f"{operand(top.value)} / {operand(bottom.value)} = {Fraction(top.value) / bottom.value}",
    ]
