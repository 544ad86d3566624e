r"""Families of functions with arbitrary constants: ``C e^x``, or ``c_1 \cos x + c_2 \sin x``.

Two ways to write one family differ in the names of their constants, in the number that an added
constant hides (``\sin^2 x + C`` and ``-\cos^2 x + C``), or in the basis of a linear space of
functions of one variable. A factor is hidden in such a space alone, whose constants are numbered c
or C: ``\frac12 C V^2`` and ``C V^2`` differ, and so do ``k_1 x`` and ``2 k_1 x``, since C and k may
be given.
"""

import re
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from rlvr_envs.verifiers.mathtext import identity, nodes
from rlvr_envs.verifiers.mathtext.nodes import Add, Node, Num, Sym

Floats = npt.NDArray[np.float64]

_ARBITRARY = re.compile(r"[CcK](?:_?\d)?|[kKAB]_?\d")
_NUMBERED = re.compile(r"[Cc]_?\d")
_ANY_LETTER = re.compile(r"[CcKkABDEFGMN](?:_?\d)?")
_SAMPLES = 12
_TOLERANCE = 1e-8  # of a singular value that counts as zero, relative to the largest


def same_family(gold: Node, answer: Node) -> bool:
    """Return whether two expressions describe the same family of functions."""
    names = nodes.symbols(gold)
    mine = sorted(name for name in names if _ARBITRARY.fullmatch(name))
    variables = names.difference(mine)
    if not mine or not variables:
        return False
    others = nodes.symbols(answer)
    theirs = sorted(
        name
        for name in others
        if (name in mine or name not in names) and _ANY_LETTER.fullmatch(name)
    )
    if len(mine) != len(theirs) or others.difference(theirs) != variables:
        return False
    if len(mine) > 1:
        linear = len(variables) == 1 and all(map(_NUMBERED.fullmatch, mine))
        return linear and _same_space(gold, mine, answer, theirs, *variables)
    renamed = nodes.substitute(answer, theirs[0], Sym(mine[0]))
    return identity.same(gold, renamed) is True or _same_shift(gold, renamed, mine[0])


def _same_shift(gold: Node, answer: Node, constant: str) -> bool:
    """Return whether the two differ by a number, beside a constant that is added to both."""
    if not (_is_added(gold, constant) and _is_added(answer, constant)):
        return False
    difference = nodes.add(answer, nodes.neg(gold))
    for attempt in range(3):
        fixed = difference
        for place, name in enumerate(sorted(nodes.symbols(difference))):
            fixed = nodes.substitute(fixed, name, Num(_sample(attempt, place)))
        if identity.size_of(fixed) is not None:
            return identity.same(difference, fixed) is True
    return False


def _is_added(node: Node, constant: str) -> bool:
    if not isinstance(node, Add):
        return False
    rest = [term for term in node.terms if term != Sym(constant)]
    alone = len(rest) == len(node.terms) - 1
    return alone and all(constant not in nodes.symbols(term) for term in rest)


def _sample(attempt: int, place: int) -> Fraction:
    return Fraction(7 * attempt + 5 * place + 3, 8 + attempt)


def _same_space(
    gold: Node, mine: list[str], answer: Node, theirs: list[str], variable: str
) -> bool:
    """Return whether two families that are linear in their constants are the same affine space."""
    one, other = _affine(gold, mine, variable), _affine(answer, theirs, variable)
    if one is None or other is None:
        return False
    rank = len(mine)
    together = np.hstack([one[0], other[0], (one[1] - other[1])[:, None]])
    return _rank(one[0]) == _rank(other[0]) == _rank(together) == rank


def _affine(node: Node, constants: list[str], variable: str) -> tuple[Floats, Floats] | None:
    """Return the basis (samples × constants) and the offset of an affine family at some points."""
    zero = [0] * len(constants)
    units = [[int(i == j) for j in range(len(constants))] for i in range(len(constants))]
    mixed = [2 + i for i in range(len(constants))]
    rows = []
    for attempt in range(4 * _SAMPLES):
        at = nodes.substitute(node, variable, Num(_sample(attempt, 0)))
        values = [_with(at, constants, weights) for weights in (zero, *units, mixed)]
        if all(value is not None and np.isfinite(value) for value in values):
            rows.append(values)
        if len(rows) == _SAMPLES:
            break
    if len(rows) < _SAMPLES:
        return None
    table = np.array(rows, dtype=float)
    offset, basis = table[:, 0], table[:, 1:-1] - table[:, :1]
    if not np.allclose(offset + basis @ np.array(mixed, float), table[:, -1], rtol=1e-9, atol=1e-9):
        return None
    return basis, offset


def _with(node: Node, constants: list[str], weights: list[int]) -> float | None:
    for name, weight in zip(constants, weights, strict=True):
        node = nodes.substitute(node, name, Num(Fraction(weight)))
    return identity.size_of(node)


def _rank(matrix: Floats) -> int:
    scale = np.linalg.norm(matrix, axis=0)
    if not scale.all():
        matrix, scale = matrix[:, scale > 0], scale[scale > 0]
    if not matrix.size:
        return 0
    found = np.linalg.svd(matrix / scale, compute_uv=False)
    return int((found > _TOLERANCE * found[0]).sum())
