"""Slightly wrong versions of a function of ours, and the choice of inputs that tell them apart.

A test is worth having if a plausible wrong program fails it. The wrong versions have one change
each: another operator, a number one off, the other of min and max. They are made from the text of
the function, which never comes from outside of this package.
"""

import ast
import copy
import inspect
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from types import CodeType, FunctionType
from typing import Any, TypeVar

from rlvr_envs.core.errors import ConfigError

InputT = TypeVar("InputT")

_OTHERS: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add,),
    ast.FloorDiv: (ast.Mod,),
    ast.Mod: (ast.FloorDiv,),
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}
_OTHER_CALLS = {"min": "max", "max": "min"}
_ROUNDS = 2_000  # of all loops of one call together; one that needs more is taken to hang
_CALLS = 10_000  # of functions within the function, which a wrong recursion calls without end


class _Hangs(Exception):
    """A wrong function goes round and round."""


class _Rounds:
    """Counts rounds: those of `while` loops, or the calls of inner functions."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.refill()

    def refill(self) -> None:
        self.left = self._most

    def spend(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise _Hangs


@cache
def wrong_functions(function: Callable[..., Any]) -> tuple[Callable[..., Any], ...]:
    """Return the versions of a function with one change each; a call that hangs raises."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    changed = []
    for place in range(len(list(ast.walk(tree)))):
        for number in range(len(_changes(_node(tree, place)))):
            version = copy.deepcopy(tree)
            _changes(_node(version, place))[number]()
            changed.append(_built(version, function))
    return tuple(changed)


@cache
def edited_function(function: Callable[..., Any], old: str, new: str) -> Callable[..., Any]:
    """Return a function with a piece of its text replaced wherever it stands; a hang raises.

    Raises:
        ConfigError: the text is not in the function.
    """
    text = textwrap.dedent(inspect.getsource(function))
    if old not in text:
        raise ConfigError(f"{function.__name__} has no {old!r} in its text, which is to be {new!r}")
    return _built(ast.parse(text.replace(old, new)), function)


def _node(tree: ast.AST, place: int) -> ast.AST:
    return list(ast.walk(tree))[place]


def _changes(node: ast.AST) -> list[Callable[[], None]]:
    """Return what can be done to a node, so that it is slightly wrong."""
    changes: list[tuple[str, Any]] = []
    match node:
        case ast.BinOp(op=op) | ast.AugAssign(op=op) | ast.BoolOp(op=op):
            changes = [("op", other()) for other in _OTHERS.get(type(op), ())]
        case ast.Compare(ops=[op]):
            changes = [("ops", [other()]) for other in _OTHERS.get(type(op), ())]
        case ast.If(test=test):
            changes = [("test", ast.UnaryOp(ast.Not(), test)), ("body", [ast.Pass()])]
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            changes = [("value", value + step) for step in ((-1, 1) if value > 0 else (1,))]
        case ast.Name(id=name) if name in _OTHER_CALLS:
            changes = [("id", _OTHER_CALLS[name])]
        case ast.Call(func=ast.Name(id="range"), args=[*before, stop]) if len(before) < 2:
            early = ast.BinOp(stop, ast.Sub(), ast.Constant(1))
            changes = [("args", [*before, early])]
    return [partial(setattr, node, name, value) for name, value in changes]


def defined(tree: ast.Module, name: str, space: dict[str, Any]) -> Callable[..., Any]:
    """Return the function of a name that a text of ours defines, and put it into its globals.

    Nothing of the text is run: only the code of the function is taken out of it.
    """
    module = compile(ast.fix_missing_locations(tree), name, "exec")
    codes = (item for item in module.co_consts if isinstance(item, CodeType))
    code = next(each for each in codes if each.co_name == name)
    space[name] = FunctionType(code, space, name)
    found: Callable[..., Any] = space[name]
    return found


def _built(tree: ast.Module, function: Callable[..., Any]) -> Callable[..., Any]:
    rounds, calls = _Rounds(_ROUNDS), _Rounds(_CALLS)
    for node in list(ast.walk(tree)):
        if isinstance(node, ast.While | ast.FunctionDef) and node is not tree.body[0]:
            spend = ast.Name("_spend" if isinstance(node, ast.While) else "_enter", ast.Load())
            node.body.insert(0, ast.Expr(ast.Call(spend, [], [])))
    space = {**function.__globals__, "_spend": rounds.spend, "_enter": calls.spend}
    changed = defined(tree, function.__name__, space)

    def call(*args: Any, **named: Any) -> Any:
        rounds.refill()
        calls.refill()
        return changed(*args, **named)

    return call


def agrees(version: Callable[[], Any], result: Any) -> bool:
    """Whether a call of a wrong function gives a result all the same."""
    try:
        return bool(version() == result)
    except Exception:  # noqa: BLE001  # a wrong function may fail in any way
        return False


def telling(
    inputs: Iterable[InputT],
    n_versions: int,
    told: Callable[[InputT, int], bool],
    *,
    patience: int,
) -> Iterator[InputT]:
    """Yield the inputs that tell a wrong version from the right one where few before did.

    Versions that are told twice are done with: unknown ones like them are then likely told, too.

    Args:
        inputs: in the order in which they are tried.
        n_versions: how many wrong versions there are.
        told: whether an input tells a version, by its number, from the right one.
        patience: how many inputs in a row may tell nothing before the rest is left out.
    """
    alive, once, idle = list(range(n_versions)), set[int](), 0
    for each in inputs:
        found = {version for version in alive if told(each, version)}
        idle = 0 if found else idle + 1
        if found:
            yield each
        alive = [version for version in alive if version not in found & once]
        once |= found
        if not alive or idle > patience:
            return


def most_telling(
    inputs: Sequence[InputT],
    n_versions: int,
    told: Callable[[InputT, int], bool],
    count: int,
) -> list[InputT]:
    """Return the inputs that together tell most wrong versions from the right one.

    One after the other, the input is taken that tells most of those not told yet.
    """
    left = {
        place: {version for version in range(n_versions) if told(each, version)}
        for place, each in enumerate(inputs)
    }
    chosen: list[InputT] = []
    while left and len(chosen) < count:
        best = max(left, key=lambda place: len(left[place]))
        chosen.append(inputs[best])
        known = left.pop(best)
        left = {place: versions - known for place, versions in left.items()}
    return chosen
