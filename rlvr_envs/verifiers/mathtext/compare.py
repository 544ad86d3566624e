"""Typed comparison of a settled gold with a settled answer: True, False, or None for undecided."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from operator import itemgetter

from rlvr_envs.verifiers.mathtext import nodes, units, vectors
from rlvr_envs.verifiers.mathtext.families import same_family
from rlvr_envs.verifiers.mathtext.forms import Assigned, assignment, record, rename_parameter
from rlvr_envs.verifiers.mathtext.nodes import Node, Num, Sym
from rlvr_envs.verifiers.mathtext.normalise import NO_SOLUTION, canonical_words
from rlvr_envs.verifiers.mathtext.regions import INEQUALITIES, region_of, same_region
from rlvr_envs.verifiers.mathtext.relations import (
    are_scalar,
    same_equation,
    same_inequalities,
    same_solutions,
)
from rlvr_envs.verifiers.mathtext.tolerance import same_expr
from rlvr_envs.verifiers.mathtext.values import (
    BaseN,
    Braces,
    Chain,
    Choice,
    Combined,
    Grid,
    Group,
    Listing,
    Opaque,
    Ratio,
    Scalar,
    Text,
    Value,
)

Decision = bool | None
MAX_PAIRS = 4_000  # comparisons spent on matching two unordered lists


def same(gold: Value, answer: Value, rel_tol: float | None = None) -> Decision:
    """Return whether an answer says what the gold says, or None if that stays open."""
    if isinstance(answer, Opaque):
        return False if answer.final and not answer.large else None
    if isinstance(gold, Opaque):
        return None
    return _HANDLERS[type(gold)](gold, answer, rel_tol)


def every(decisions: Iterable[Decision]) -> Decision:
    """Return False if one is False, else None if one is open, else True."""
    seen_open = False
    for decision in decisions:
        if decision is False:
            return False
        seen_open |= decision is None
    return None if seen_open else True


# Scalars


def _scalar(gold: Scalar, answer: Value, rel_tol: float | None) -> Decision:
    answer = _unlabelled(answer)
    if isinstance(answer, Braces | Listing) and len(answer.items) == 1:
        answer = _unlabelled(answer.items[0])
    if isinstance(answer, Ratio):
        quotient = _quotient(answer)
        return quotient is not None and same_expr(gold.expr, quotient, rel_tol)
    if not isinstance(answer, Scalar):
        return False
    if gold.unit != answer.unit:
        converted = _converted(gold, answer)
        if converted is not None:
            return same_expr(*converted, rel_tol)
    readings = _readings(gold, answer)
    decisions = [same_expr(mine, theirs, rel_tol) for mine, theirs in readings]
    if True in decisions or (not gold.unit and same_family(gold.expr, answer.expr)):
        return True
    return None if None in decisions else False


def _converted(gold: Scalar, answer: Scalar) -> tuple[Node, Node] | None:
    """Return two measures in the unit of the gold, if one of them reads its unit as symbols."""
    sides = []
    for side in (gold, answer):
        if side.unit:
            sides.append((side.expr, units.dimensions(side.unit)))
        elif (spelled := units.spelled_in_symbols(side.expr)) is not None:
            sides.append(spelled)
        else:
            return None
    (mine, unit), (theirs, other) = sides
    ratio = Fraction(1) if unit == other else units.conversion(other, unit)
    return None if ratio is None else (mine, nodes.mul(theirs, Num(ratio)))


def _readings(gold: Scalar, answer: Scalar) -> list[tuple[Node, Node]]:
    """Return the pairs of expressions of which one must agree, units considered."""
    mine, theirs = gold.unit, answer.unit
    if mine == theirs:
        return [(gold.expr, answer.expr)]
    if not units.compatible(mine, theirs):
        ratio = units.conversion(units.dimensions(theirs), units.dimensions(mine))
        return [] if ratio is None else [(gold.expr, nodes.mul(answer.expr, Num(ratio)))]
    # A bare gold may be a number of percent, but nobody counts pi percent.
    counts = theirs != "%" or isinstance(gold.expr, Num)
    pairs = [(gold.expr, answer.expr)] if counts else []
    rounded = any(isinstance(side.expr, Num) and side.expr.ulp for side in (gold, answer))
    # A rounded number of degrees in radians would be within half a unit of too much.
    for unit in ("%",) if rounded else ("%", "deg"):
        factor = _FACTORS[unit]
        if mine == unit and not theirs:
            pairs.append((nodes.mul(gold.expr, *factor), answer.expr))
        elif theirs == unit and not mine:
            pairs.append((gold.expr, nodes.mul(answer.expr, *factor)))
    return pairs


_FACTORS: dict[str, tuple[Node, ...]] = {
    "%": (Num(Fraction(1, 100)),),
    "deg": (Num(Fraction(1, 180)), nodes.Const("pi")),
}


def _unlabelled(value: Value) -> Value:
    found = assignment(value)
    return value if found is None else found.value


# Relations


def _chain(gold: Chain, answer: Value, rel_tol: float | None) -> Decision:
    if gold.relations == ("in",):
        return same(gold.sides[1], _unlabelled(answer), rel_tol)
    if INEQUALITIES.issuperset(gold.relations):
        return _inequality(gold, answer, rel_tol)
    mine, theirs = assignment(gold), assignment(answer)
    if mine is not None and theirs is not None:
        return _assignments(gold, mine, answer, theirs, rel_tol)
    if isinstance(answer, Chain):
        return _equations(gold, answer)
    if mine is None or isinstance(answer, Text):
        return False
    return same(mine.value, answer, rel_tol)


def _assignments(
    gold: Value, mine: Assigned, answer: Value, theirs: Assigned, rel_tol: float | None
) -> Decision:
    if mine.name == theirs.name:
        return same(mine.value, theirs.value, rel_tol)
    if isinstance(gold, Chain) and isinstance(answer, Chain) and _equations(gold, answer):
        return True
    left, right = mine.name, theirs.name
    if _is_symbol(left) and _is_symbol(right):
        return False
    renamed = rename_parameter(left, right, theirs.value)
    if renamed is not None:
        return same(mine.value, renamed, rel_tol)
    return same(mine.value, theirs.value, rel_tol)


def _is_symbol(value: Value) -> bool:
    return isinstance(value, Scalar) and isinstance(value.expr, Sym)


def _equations(gold: Chain, answer: Chain) -> Decision:
    """Compare equations up to a constant factor and a swap of sides."""
    if gold.relations != ("=",) or answer.relations != ("=",):
        return False
    if not are_scalar(*gold.sides, *answer.sides):
        return every(same(a, b) for a, b in zip(gold.sides, answer.sides, strict=True))
    decided = same_equation(gold, answer)
    return decided or same_solutions(gold, answer) or decided


def _inequality(gold: Chain, answer: Value, rel_tol: float | None) -> Decision:
    mine = region_of(gold)
    if mine is not None:
        theirs = region_of(_unlabelled(answer))
        return theirs is not None and same_region(mine, theirs, rel_tol)
    if not isinstance(answer, Chain):
        return False
    if not are_scalar(*gold.sides, *answer.sides):
        return None
    return same_inequalities(gold, answer)


# Collections


def _group(gold: Group, answer: Value, rel_tol: float | None) -> Decision:
    fields = record(answer)
    answer = _unlabelled(answer if fields is None else Listing(_by_axis(*fields), ","))
    if isinstance(answer, Group):
        closed = (gold.opening, gold.closing) == (answer.opening, answer.closing)
        angled = {gold.opening, answer.opening} == {"(", "langle"} and "]" not in gold.closing
        return (closed or angled) and _in_order(gold.items, answer.items, rel_tol)
    if isinstance(answer, Grid):
        return _vector(answer, gold, rel_tol, swapped=True)
    if isinstance(answer, Scalar):
        found = vectors.components(answer.expr, len(gold.items))
        return found is not None and _in_order(gold.items, tuple(map(Scalar, found)), rel_tol)
    is_tuple = gold.opening in ("(", "langle") and gold.closing != "]"
    if isinstance(answer, Listing) and is_tuple and region_of(answer) is None:
        return answer.joiner != "or" and _in_order(gold.items, answer.items, rel_tol)
    return _as_region(gold, answer, rel_tol)


def _by_axis(names: tuple[Value, ...], values: tuple[Value, ...]) -> tuple[Value, ...]:
    """Return coordinates in the order of the axes x, y, z; values of other names as they are."""
    axes = [name.expr for name in names if isinstance(name, Scalar)]
    letters = [axis.name for axis in axes if isinstance(axis, Sym) and axis.name in ("x", "y", "z")]
    if len(letters) != len(values):
        return values
    return tuple(value for _, value in sorted(zip(letters, values, strict=True), key=itemgetter(0)))


def _as_region(gold: Value, answer: Value, rel_tol: float | None) -> Decision:
    if not isinstance(answer, Chain | Combined | Group | Braces | Listing):
        return False
    mine, theirs = region_of(gold), region_of(answer)
    if mine is None:
        return (
            None if isinstance(answer, Chain | Combined) and isinstance(gold, Combined) else False
        )
    return theirs is not None and same_region(mine, theirs, rel_tol)


def _in_order(gold: Sequence[Value], answer: Sequence[Value], rel_tol: float | None) -> Decision:
    if len(gold) != len(answer):
        return False
    return every(same(mine, theirs, rel_tol) for mine, theirs in zip(gold, answer, strict=True))


def _listing(gold: Listing, answer: Value, rel_tol: float | None) -> Decision:
    mine = region_of(gold)
    if mine is not None:
        theirs = region_of(_unlabelled(answer))
        return theirs is not None and same_region(mine, theirs, rel_tol)
    fields = record(gold)
    if fields is not None and len(fields[0]) > 1:
        return _record(gold, fields, answer, rel_tol)
    answer = _unlabelled(answer)
    if isinstance(answer, Group):
        return _bracketed_list(gold, answer, rel_tol)
    if not isinstance(answer, Listing | Braces):
        return False
    named = record(answer)
    if named is not None:
        return _in_order(gold.items, named[1], rel_tol)
    return _any_order(gold.items, answer.items, rel_tol)


def _bracketed_list(gold: Listing, answer: Group, rel_tol: float | None) -> Decision:
    """Compare a bare list with brackets: square ones are a list too, round ones fix the order."""
    if (answer.opening, answer.closing) == ("[", "]"):
        return _any_order(gold.items, answer.items, rel_tol)
    if any(isinstance(item, Group | Listing) for item in gold.items):
        return False
    return answer.closing == ")" and _in_order(gold.items, answer.items, rel_tol)


def _record(
    gold: Listing,
    fields: tuple[tuple[Value, ...], tuple[Value, ...]],
    answer: Value,
    rel_tol: float | None,
) -> Decision:
    """Compare ``x = 1, y = 2``: by name if the answer has the same names, else in order."""
    names, values = fields
    theirs = record(answer)
    if theirs is not None:
        if set(map(repr, theirs[0])) != set(map(repr, names)):
            renamed = not set(map(repr, theirs[0])) & set(map(repr, names))
            return renamed and _in_order(values, theirs[1], rel_tol)
        found = {repr(name): value for name, value in zip(*theirs, strict=True)}
        return every(
            same(value, found[repr(name)], rel_tol)
            for name, value in zip(names, values, strict=True)
        )
    if isinstance(answer, Group) and (answer.opening, answer.closing) == ("(", ")"):
        return _in_order(values, answer.items, rel_tol)
    if isinstance(answer, Listing):
        decided = _in_order(values, answer.items, rel_tol)
        return decided or _any_order(gold.items, answer.items, rel_tol)
    return False


def _braces(gold: Braces, answer: Value, rel_tol: float | None) -> Decision:
    answer = _unlabelled(answer)
    if isinstance(answer, Combined | Chain):
        return _as_region(gold, answer, rel_tol)
    if isinstance(answer, Braces):
        return _covers(gold.items, answer.items, rel_tol)
    if isinstance(answer, Listing):
        return _covers(gold.items, answer.items, rel_tol)
    if isinstance(answer, Text):
        return not gold.items and canonical_words(answer.words) == NO_SOLUTION
    return (
        len(gold.items) == 1 and isinstance(answer, Scalar) and same(gold.items[0], answer, rel_tol)
    )


def _any_order(gold: Sequence[Value], answer: Sequence[Value], rel_tol: float | None) -> Decision:
    """Match two lists as multisets; points and other structured items as sets."""
    if not any(isinstance(item, Scalar | Text) for item in (*gold, *answer)):
        return _covers(gold, answer, rel_tol)
    if len(gold) != len(answer):
        return False
    if len(gold) ** 2 > MAX_PAIRS:
        return _in_order(gold, answer, rel_tol) or None
    rest = list(answer)
    left_open = False
    for mine in gold:
        decisions = [same(mine, theirs, rel_tol) for theirs in rest]
        if True in decisions:
            rest.pop(decisions.index(True))
        elif None in decisions:
            left_open = True
        else:
            return False
    return None if left_open else True


def _covers(gold: Sequence[Value], answer: Sequence[Value], rel_tol: float | None) -> Decision:
    """Compare as sets: every item of each side equals one of the other."""
    if bool(gold) != bool(answer):
        return False
    if len(gold) * len(answer) > MAX_PAIRS:
        return _in_order(gold, answer, rel_tol) or None
    table = [[same(mine, theirs, rel_tol) for theirs in answer] for mine in gold]
    lines = [*table, *map(list, zip(*table, strict=True))]
    return every(True if True in line else (None if None in line else False) for line in lines)


def _grid(gold: Grid, answer: Value, rel_tol: float | None) -> Decision:
    answer = _unlabelled(answer)
    if isinstance(answer, Group):
        return _vector(gold, answer, rel_tol, swapped=False)
    if not isinstance(answer, Grid):
        return False
    if [len(row) for row in gold.rows] != [len(row) for row in answer.rows]:
        return False
    return every(
        _in_order(mine, theirs, rel_tol)
        for mine, theirs in zip(gold.rows, answer.rows, strict=True)
    )


def _vector(grid: Grid, group: Group, rel_tol: float | None, *, swapped: bool) -> Decision:
    """Compare a matrix of one row or one column with a tuple, or with rows in brackets."""
    rows = grid.rows
    if all(isinstance(item, Group) for item in group.items):
        inner = tuple(item.items for item in group.items if isinstance(item, Group))
        nested = Grid(inner)
        return _grid(nested, grid, rel_tol) if swapped else _grid(grid, nested, rel_tol)
    flat = rows[0] if len(rows) == 1 else tuple(row[0] for row in rows)
    if len(rows) > 1 and len(rows[0]) > 1:
        return False
    first, second = (group.items, flat) if swapped else (flat, group.items)
    return _in_order(first, second, rel_tol)


# The rest


def _quotient(ratio: Ratio) -> Node | None:
    """Return the quotient of a ratio of two terms."""
    if len(ratio.terms) != 2 or ratio.is_time or ratio.terms[1] == nodes.ZERO:
        return None
    return nodes.div(*ratio.terms)


def _ratio(gold: Ratio, answer: Value, rel_tol: float | None) -> Decision:
    answer = _unlabelled(answer)
    if isinstance(answer, Scalar):
        quotient = _quotient(gold)
        return quotient is not None and same_expr(quotient, answer.expr, rel_tol)
    if not isinstance(answer, Ratio) or len(answer.terms) != len(gold.terms):
        return False
    if gold.is_time or answer.is_time:
        return gold.terms == answer.terms
    first, other = gold.terms[0], answer.terms[0]
    return every(
        same_expr(nodes.mul(mine, other), nodes.mul(theirs, first), rel_tol)
        for mine, theirs in zip(gold.terms, answer.terms, strict=True)
    )


def _text(gold: Text, answer: Value, rel_tol: float | None) -> Decision:
    answer = _unlabelled(answer)
    if not isinstance(answer, Text):
        return False
    mine, theirs = canonical_words(gold.words), canonical_words(answer.words)
    plural = min(len(mine), len(theirs)) > 3 and (mine + "s" == theirs or theirs + "s" == mine)
    return mine == theirs or plural


def _exactly(gold: Value, answer: Value, rel_tol: float | None) -> Decision:
    return gold == _unlabelled(answer)


_HANDLERS: dict[type, Callable[..., Decision]] = {
    Scalar: _scalar,
    Chain: _chain,
    Group: _group,
    Listing: _listing,
    Braces: _braces,
    Combined: _as_region,
    Grid: _grid,
    Ratio: _ratio,
    Text: _text,
    BaseN: _exactly,
    Choice: _exactly,
}
