"""Mistakes: small changes of a program, such as people make, that leave it well-formed.

A `Mistake` replaces what stands at a path of the program, so that several can be made together,
and each can be left out again.
"""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from rlvr_envs.core.seeding import Rng
from rlvr_envs.generators.programs import nodes
from rlvr_envs.generators.programs.check import Types, check, variable_types
from rlvr_envs.generators.programs.interpret import IrError

Path: TypeAlias = tuple[str | int, ...]

_OTHER_OPS = {
    "+": ("-",),
    "-": ("+",),
    "*": ("+",),
    "//": ("%",),
    "%": ("//",),
    "min": ("max",),
    "max": ("min",),
    "<": ("<=", ">"),
    "<=": ("<", ">="),
    ">": (">=", "<"),
    ">=": (">", "<="),
    "==": ("!=",),
    "!=": ("==",),
    "and": ("or",),
    "or": ("and",),
}
_ONE_SIDED = ("-", "//", "%", "concat")  # the order of the operands matters
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_ROUNDS = 4  # mistakes of each kind that are tried


@dataclass(frozen=True, slots=True)
class Mistake:
    """What stands in place of something else, and what kind of mistake that is."""

    kind: str
    path: Path
    wrong: Any

    def apart(self, other: "Mistake") -> bool:
        """Whether both can be made in one program."""
        shared = min(len(self.path), len(other.path))
        return self.path[:shared] != other.path[:shared]


def make(program: nodes.Program, mistakes: Sequence[Mistake]) -> nodes.Program:
    """Return the program with the mistakes in it.

    Raises:
        IrError: it is no longer well-formed.
    """
    changed: Any = program
    for mistake in mistakes:
        changed = _put(changed, mistake.path, mistake.wrong)
    return check(changed)


def put(program: nodes.Program, mistake: Mistake) -> nodes.Program:
    """Return the program with a mistake in it, which may be ill-formed: it fails when it runs."""
    changed: nodes.Program = _put(program, mistake.path, mistake.wrong)
    return changed


def _put(node: Any, path: Path, new: Any) -> Any:
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        return (*node[:step], _put(node[step], rest, new), *node[step + 1 :])
    return dataclasses.replace(node, **{step: _put(getattr(node, step), rest, new)})


def possible(program: nodes.Program) -> list[Mistake]:
    """Return the mistakes that can be made, those that alone break a rule of programs included."""
    found: list[Mistake] = []
    for number, function in enumerate(program.functions):
        base: Path = ("functions", number, "body")
        found += _Finder(program, function).block(function.body, base)
    found += _Finder(program, None).block(program.body, ("body",))
    return found


def draw_mistakes(
    rng: Rng,
    program: nodes.Program,
    count: int,
    accept: Callable[[nodes.Program, nodes.Program], bool],
) -> list[Mistake]:
    """Draw mistakes that can be made together, of kinds as different as may be.

    Args:
        rng: the only source of randomness.
        program: the program to make them in.
        count: how many; fewer are returned where no more are found.
        accept: whether a mistake will do, given the program with it alone and the program with
            those chosen before and it.
    """
    by_kind: dict[str, list[Mistake]] = {}
    for mistake in possible(program):
        by_kind.setdefault(mistake.kind, []).append(mistake)
    for options in by_kind.values():
        rng.shuffle(options)
    kinds = sorted(by_kind)
    rng.shuffle(kinds)
    chosen: list[Mistake] = []
    for _ in range(_ROUNDS):
        for kind in kinds:
            if len(chosen) == count:
                return chosen
            if by_kind[kind]:
                mistake = by_kind[kind].pop()
                programs = _with_and_alone(program, chosen, mistake)
                if programs is not None and accept(*programs):
                    chosen.append(mistake)
    return chosen


def _with_and_alone(
    program: nodes.Program, chosen: Sequence[Mistake], mistake: Mistake
) -> tuple[nodes.Program, nodes.Program] | None:
    """Return the program with a mistake alone, and with others too; or None if one is none."""
    if not all(mistake.apart(other) for other in chosen):
        return None
    try:
        return make(program, [mistake]), make(program, [*chosen, mistake])
    except IrError:
        return None


class _Finder:
    """Finds the mistakes that can be made in one function, or in the body of the program."""

    def __init__(self, program: nodes.Program, function: nodes.Function | None) -> None:
        self.types = Types(program)
        params = function.params if function else program.inputs
        body = function.body if function else program.body
        self.names: dict[str, nodes.Type] = variable_types(params, body)

    def block(self, body: nodes.Block, path: Path) -> Iterator[Mistake]:
        for at, statement in enumerate(body):
            if len(body) > 1 and _is_short(statement):
                yield Mistake("missing statement", path, (*body[:at], *body[at + 1 :]))
            if at + 1 < len(body) and statement != body[at + 1]:
                swapped = (*body[:at], body[at + 1], statement, *body[at + 2 :])
                yield Mistake("swapped statements", path, swapped)
            yield from self.statement(statement, (*path, at))

    def statement(self, statement: Any, path: Path) -> Iterator[Mistake]:
        for field in dataclasses.fields(statement):
            value = getattr(statement, field.name)
            inside = (*path, field.name)
            if isinstance(value, nodes.Expression):
                yield from self.expression(value, inside)
            elif isinstance(value, tuple) and value and isinstance(value[0], nodes.Expression):
                for at, item in enumerate(value):
                    yield from self.expression(item, (*inside, at))
            elif isinstance(value, tuple) and value:
                yield from self.block(value, inside)
        yield from self.whole(statement, path)

    def whole(self, statement: Any, path: Path) -> Iterator[Mistake]:
        """Yield mistakes that concern a statement as a whole."""
        match statement:
            case nodes.If(condition, then, otherwise):
                yield Mistake("negated condition", (*path, "condition"), _opposite(condition))
                if otherwise:
                    yield Mistake("swapped branches", path, nodes.If(condition, otherwise, then))
                    yield Mistake("missing branch", (*path, "otherwise"), ())
            case nodes.For(_, start, stop, _):
                yield Mistake("loop starts late", (*path, "start"), _plus(start, 1))
                yield Mistake("loop ends early", (*path, "stop"), _plus(stop, -1))
                yield Mistake("loop ends late", (*path, "stop"), _plus(stop, 1))
            case nodes.Let(_, "int", nodes.Int(value)):
                for other in (0, 1):
                    if other != value:
                        yield Mistake("wrong initial value", (*path, "value"), nodes.Int(other))
            case nodes.Assign(name, nodes.Binary(_, nodes.Var(left), right)) if left == name:
                if self.types.of(right, self.names) == self.names[name]:
                    yield Mistake("forgets what was there", (*path, "value"), right)
            case nodes.While(condition, body):
                yield Mistake("runs only once", path, nodes.If(condition, body))

    def expression(self, node: nodes.Expression, path: Path) -> Iterator[Mistake]:
        for field in dataclasses.fields(node):  # type: ignore[arg-type]  # every subclass is one
            value = getattr(node, field.name)
            if isinstance(value, nodes.Expression):
                yield from self.expression(value, (*path, field.name))
            elif isinstance(value, tuple):
                for at, item in enumerate(value):
                    yield from self.expression(item, (*path, field.name, at))
        yield from self.here(node, path)
        if isinstance(node, nodes.Binary):
            yield from _operators(node, path)

    def here(self, node: nodes.Expression, path: Path) -> Iterator[Mistake]:
        """Yield mistakes that replace an expression itself."""
        match node:
            case nodes.Int(value):
                yield Mistake("off by one", path, nodes.Int(value + 1))
                if value > 0:
                    yield Mistake("off by one", path, nodes.Int(value - 1))
            case nodes.Var(name):
                for other, kind in self.names.items():
                    if other != name and kind == self.names.get(name):
                        yield Mistake("wrong variable", path, nodes.Var(other))
            case nodes.Not(inner) | nodes.Neg(inner):
                yield Mistake("missing sign", path, inner)
            case nodes.Index(sequence, index):
                yield Mistake("wrong index", path, nodes.Index(sequence, _plus(index, -1)))
                yield Mistake("wrong index", path, nodes.Index(sequence, _plus(index, 1)))


def _is_short(statement: nodes.Statement) -> bool:
    """Whether a statement may be forgotten without much being lost."""
    inner = [line for body in nodes.blocks(statement) for line in body]
    return not isinstance(statement, (nodes.Let, nodes.Return)) and (
        len(inner) < 2 and not any(map(nodes.blocks, inner))
    )


def _operators(node: nodes.Binary, path: Path) -> Iterator[Mistake]:
    for other in _OTHER_OPS.get(node.op, ()):
        yield Mistake("wrong operator", path, nodes.Binary(other, node.left, node.right))
    if node.op in _ONE_SIDED and node.left != node.right:
        yield Mistake("swapped operands", path, nodes.Binary(node.op, node.right, node.left))


def _opposite(condition: nodes.Expression) -> nodes.Expression:
    match condition:
        case nodes.Binary(op, left, right) if op in _OPPOSITE:
            return nodes.Binary(_OPPOSITE[op], left, right)
        case nodes.Not(inner):
            return inner
    return nodes.Not(condition)


def _plus(expression: nodes.Expression, step: int) -> nodes.Expression:
    match expression:
        case nodes.Int(value) if value + step >= 0:
            return nodes.Int(value + step)
        case nodes.Binary("+", left, nodes.Int(1)) if step == -1:
            return left
        case nodes.Binary("-", left, nodes.Int(1)) if step == 1:
            return left
    return nodes.Binary("+" if step > 0 else "-", expression, nodes.Int(abs(step)))
