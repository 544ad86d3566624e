"""Write a program in one of the languages; each has a module ``emit_<language>``.

Such a module has ``emit(program) -> str``, and may have ``RESERVED``, names that a program must not
use there, and ``BOUNDS_ONCE = True`` where a counting loop evaluates its bounds only once.
"""

import importlib
from dataclasses import replace

from rlvr_envs.core.errors import ConfigError, did_you_mean
from rlvr_envs.generators.programs import nodes
from rlvr_envs.generators.programs.check import check, walk_statements
from rlvr_envs.generators.programs.rename import rename

EMITTED = (
    *("python", "c", "cpp", "javascript", "lua", "r", "ocaml", "fortran", "go", "rust", "java"),
    *("ruby", "perl", "bash"),
)


def emit(program: nodes.Program, language: str) -> str:
    """Return the text of a program in a language.

    Raises:
        ConfigError: no emitter writes the language.
        IrError: the program breaks a rule of `nodes`.
    """
    if language not in EMITTED:
        hint = did_you_mean(language, EMITTED)
        raise ConfigError(f"no program is written in {language!r}{hint} ({', '.join(EMITTED)})")
    writer = importlib.import_module(f"rlvr_envs.generators.programs.emit_{language}")
    text: str = writer.emit(prepared_for(program, language))
    return text


def emit_constant(output: str, language: str) -> str:
    """Return a program in a language that reads nothing and prints a text."""
    lines = tuple(nodes.Print((nodes.Str(line),)) for line in output.splitlines())
    return emit(nodes.Program((), (), lines or (nodes.Print((nodes.Str(""),)),)), language)


def prepared_for(program: nodes.Program, language: str) -> nodes.Program:
    """Return the program that `emit` writes: an equal one, with the names used there."""
    writer = importlib.import_module(f"rlvr_envs.generators.programs.emit_{language}")
    once: bool = getattr(writer, "BOUNDS_ONCE", False)
    return prepare(program, getattr(writer, "RESERVED", frozenset()), once=once)


def prepare(
    program: nodes.Program, reserved: frozenset[str] = frozenset(), *, once: bool = False
) -> nodes.Program:
    """Return an equal program that is easier to write.

    It keeps every rule of `nodes`; none of its names is in ``reserved`` (the words of a language
    and the names that its emitter uses, in lower case); and, unless the language evaluates the
    bounds of a loop ``once`` anyway, those of a `For` may be evaluated again in every round, since
    nothing in its body changes them.
    """
    check(program)
    if once:
        return rename(program, reserved)
    functions = tuple(
        replace(function, body=_Hoister().block(function.body)) for function in program.functions
    )
    prepared = replace(program, functions=functions, body=_Hoister().block(program.body))
    return rename(prepared, reserved)


class _Hoister:
    """Gives the bounds that change while their loop runs a variable of their own."""

    def __init__(self) -> None:
        self.count = 0

    def block(self, body: nodes.Block) -> nodes.Block:
        result: list[nodes.Statement] = []
        for statement in body:
            match statement:
                case nodes.If(condition, then, otherwise):
                    result.append(nodes.If(condition, self.block(then), self.block(otherwise)))
                case nodes.While(condition, inner):
                    result.append(nodes.While(condition, self.block(inner)))
                case nodes.For():
                    result += self.loop(statement)
                case _:
                    result.append(statement)
        return tuple(result)

    def loop(self, loop: nodes.For) -> nodes.Block:
        body = self.block(loop.body)
        if not _changes(loop.body, loop.stop):
            return (nodes.For(loop.var, loop.start, loop.stop, body),)
        self.count += 1
        bound = f"bound_{self.count}"
        hoisted = nodes.Let(bound, "int", loop.stop)
        return (hoisted, nodes.For(loop.var, loop.start, nodes.Var(bound), body))


def _changes(body: nodes.Block, expression: nodes.Expression) -> bool:
    """Whether running the body may change the value of the expression."""
    if isinstance(expression, nodes.Int):
        return False
    changed = {
        statement.name
        for statement in walk_statements(body)
        if isinstance(statement, (nodes.Assign, nodes.SetItem, nodes.Append))
    }
    return bool(changed & _read(expression))


def _read(expression: nodes.Expression) -> set[str]:
    own = {expression.name} if isinstance(expression, nodes.Var) else set()
    return own.union(*(_read(inner) for inner in nodes.children(expression)))
