"""Faults: small changes of a function's source that leave its docstring as it is."""

import ast
from collections.abc import Iterator

_COMPARED: dict[type[ast.cmpop], tuple[str, ...]] = {
    ast.GtE: (">=", ">", "<="),
    ast.Gt: (">", ">=", "<"),
    ast.LtE: ("<=", "<", ">="),
    ast.Lt: ("<", "<=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
}
_COMPUTED: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
}
_CALLED = {"min": "max", "max": "min"}

Change = tuple[int, int, int, int, str, str]  # a place, what stands there, and what shall


def mutants(source: str) -> list[str]:
    """Return the sources of a function with one fault each, in the order of their places.

    The source is ASCII, and is not run.
    """
    starts = [0]
    for line in source.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    found = []
    for node in _outside_of_texts(ast.parse(source)):
        for first, column, last, end_column, old, new in _changes(node):
            start, end = starts[first - 1] + column, starts[last - 1] + end_column
            changed = source[start:end].replace(old, new, 1)
            found.append((start, source[:start] + changed + source[end:]))
    return list(dict.fromkeys(text for _, text in sorted(found) if text != source))


def _outside_of_texts(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk a tree, but not into f-strings, in which old versions of Python misstate places."""
    yield tree
    for child in ast.iter_child_nodes(tree):
        if not isinstance(child, ast.JoinedStr):
            yield from _outside_of_texts(child)


def _changes(node: ast.AST) -> Iterator[Change]:  # noqa: C901 - a case for each kind of node
    if isinstance(node, ast.Compare):
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            old, *others = _COMPARED.get(type(operator), ("",))
            for new in others:
                yield *_gap(left, right), old, new
            left = right
    elif isinstance(node, ast.BinOp) and type(node.op) in _COMPUTED:
        yield *_gap(node.left, node.right), *_COMPUTED[type(node.op)]
    elif isinstance(node, ast.BoolOp):
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        yield *_gap(node.values[0], node.values[1]), old, new
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        for value in (node.value + 1, node.value - 1):
            if value >= 0:
                yield *_place(node), str(node.value), str(value)
    elif isinstance(node, ast.Name) and node.id in _CALLED:
        yield *_place(node), node.id, _CALLED[node.id]
    elif isinstance(node, ast.UnaryOp):
        sign = "not " if isinstance(node.op, ast.Not) else "-"
        yield *_place(node), sign, ""


def _gap(left: ast.expr, right: ast.expr) -> tuple[int, int, int, int]:
    """Return the place between two expressions."""
    return left.end_lineno or 0, left.end_col_offset or 0, right.lineno, right.col_offset


def _place(node: ast.expr) -> tuple[int, int, int, int]:
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0
