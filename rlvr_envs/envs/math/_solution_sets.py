"""Sets of real numbers that solve a condition, and answers that state such a set."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

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

MAX_TEXT = 20_000


@dataclass(frozen=True, slots=True)
class Span:
    """An interval; None stands for an infinite end. A point is closed, with equal ends."""

    low: Fraction | None
    high: Fraction | None
    with_low: bool
    with_high: bool


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
