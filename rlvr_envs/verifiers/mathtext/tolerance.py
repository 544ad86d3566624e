"""When two scalars count as equal.

A gold that is a whole number, or a fraction whose decimals end, is exact. A gold written as a
decimal stands for half a unit in its last place, for an answer that is exact or at least as
precise. Any other exact gold accepts a decimal of at least six significant digits, correctly
rounded. Nothing is absolute: an answer is never right because both numbers are tiny.
"""

from fractions import Fraction

from rlvr_envs.verifiers.mathtext import identity, nodes
from rlvr_envs.verifiers.mathtext.nodes import Node, Num, Sym

_WHOLE_PARAMETERS = frozenset(("k", "n", "m", "l"))
MIN_DIGITS = 6  # of a decimal that stands for an irrational or periodic number


def same_expr(gold: Node, answer: Node, rel_tol: float | None) -> bool | None:
    """Return whether an answer's expression is the gold's, or None if that stays open."""
    if isinstance(gold, Num):
        if isinstance(answer, Num):
            return _same_numbers(gold, answer, rel_tol)
        return _decimal_gold(gold, answer, rel_tol)
    if isinstance(answer, Num) and not nodes.symbols(gold):
        return _decimal_answer(gold, answer, rel_tol)
    decided = identity.same(gold, answer)
    if not decided and rel_tol is not None and not nodes.symbols(gold):
        return _within(gold, answer, rel_tol)
    if not decided and nodes.symbols(gold):
        renamed = _rename_constants(gold, answer)
        return decided if renamed is None else identity.same(gold, renamed)
    return decided


def _same_numbers(gold: Num, answer: Num, rel_tol: float | None) -> bool:
    distance = abs(gold.value - answer.value)
    if distance == 0:
        return True
    if rel_tol is not None and distance <= Fraction(rel_tol) * abs(gold.value):
        return True
    if gold.ulp is not None:
        precise = answer.ulp is None or answer.ulp <= gold.ulp
        return precise and 2 * distance <= gold.ulp
    periodic = answer.ulp is not None and not _terminates(gold.value)
    return periodic and answer.digits >= MIN_DIGITS and 2 * distance <= (answer.ulp or 0)


def _terminates(value: Fraction) -> bool:
    """Whether the decimals of a fraction end: only twos and fives divide its denominator."""
    rest = value.denominator
    if rest.bit_length() > 4_000:
        return False
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest == 1


def _decimal_gold(gold: Num, answer: Node, rel_tol: float | None) -> bool | None:
    if gold.ulp is None and rel_tol is None:
        return identity.same(gold, answer)
    if nodes.symbols(answer):
        return identity.same(gold, answer)
    value = identity.value_of(answer)
    if value is None:
        return identity.same(gold, answer)
    distance = abs(value * gold.value.denominator - gold.value.numerator)
    allowed = (
        max(_half(gold.ulp), Fraction(rel_tol or 0) * abs(gold.value)) * gold.value.denominator
    )
    if allowed == 0:
        return identity.same(gold, answer)
    return bool(distance * allowed.denominator <= allowed.numerator)


def _half(ulp: Fraction | None) -> Fraction:
    return Fraction(0) if ulp is None else ulp / 2


def _decimal_answer(gold: Node, answer: Num, rel_tol: float | None) -> bool | None:
    r"""Compare a decimal with an exact gold such as ``\sqrt{2}``."""
    if rel_tol is not None:
        near = _within(gold, answer, rel_tol)
        if near:
            return True
    if answer.ulp is None:
        return identity.same(gold, answer)
    value = identity.value_of(gold)
    if value is None or answer.digits < MIN_DIGITS:
        return identity.same(gold, answer)
    distance = abs(value * answer.value.denominator - answer.value.numerator)
    allowed = answer.ulp / 2 * answer.value.denominator
    return bool(distance * allowed.denominator <= allowed.numerator)


def _within(gold: Node, answer: Node, rel_tol: float) -> bool | None:
    left, right = identity.value_of(gold), identity.value_of(answer)
    if left is None or right is None:
        return None
    return bool(abs(left - right) <= rel_tol * abs(left))


def _rename_constants(gold: Node, answer: Node) -> Node | None:
    """Give the arbitrary constants of an answer the names that the gold uses, if it has any.

    Covers a bare ``+ C`` under any usual letter, and indexed constants in the other case.
    """
    mine, theirs = nodes.symbols(gold), nodes.symbols(answer)
    for name in sorted(theirs - mine):
        swapped = name.swapcase()
        if "_" in name and swapped in mine and swapped not in theirs:
            answer = nodes.substitute(answer, name, Sym(swapped))
    mine_only, theirs_only = mine - theirs, theirs - mine
    if len(mine_only) == len(theirs_only) == 1 and _mentions_pi(gold):
        old, new = next(iter(theirs_only)), next(iter(mine_only))
        if {old, new} <= _WHOLE_PARAMETERS:  # the k of a general solution such as pi/6 + k pi
            return nodes.substitute(answer, old, Sym(new))
    constant = _bare_constant(gold)
    other = _bare_constant(answer)
    if constant and other and constant != other and other not in mine and constant not in theirs:
        answer = nodes.substitute(answer, other, Sym(constant))
    return answer if nodes.symbols(answer) != theirs else None


def _mentions_pi(node: Node) -> bool:
    return node == nodes.Const("pi") or any(map(_mentions_pi, nodes.children(node)))


def _bare_constant(node: Node) -> str | None:
    if isinstance(node, nodes.Add):
        for term in node.terms:
            if isinstance(term, Sym) and term.name in ("C", "c", "K", "k", "D", "A", "B"):
                return term.name
    return None
