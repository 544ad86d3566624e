"""Give other names to what a language would misread."""

from rlvr_envs.generators.programs.nodes import (
    Append,
    Assign,
    Binary,
    Block,
    Call,
    Expression,
    For,
    Function,
    If,
    Index,
    Length,
    Let,
    ListOf,
    Neg,
    Not,
    Print,
    Program,
    Return,
    SetItem,
    Statement,
    Var,
    Variable,
    While,
)


def words(text: str) -> frozenset[str]:
    """Return the words of a text, as the emitters list their reserved names."""
    return frozenset(text.split())


def rename(program: Program, reserved: frozenset[str]) -> Program:
    """Return the program with an underscore after each of its names that is reserved."""
    if not reserved:
        return program
    names = _Renamer(reserved)
    functions = tuple(
        Function(names.new(f.name), names.variables(f.params), f.returns, names.block(f.body))
        for f in program.functions
    )
    return Program(names.variables(program.inputs), functions, names.block(program.body))


class _Renamer:
    def __init__(self, reserved: frozenset[str]) -> None:
        self.reserved = reserved

    def new(self, name: str) -> str:
        return f"{name}_" if name in self.reserved else name

    def variables(self, pairs: tuple[Variable, ...]) -> tuple[Variable, ...]:
        return tuple((self.new(name), kind) for name, kind in pairs)

    def block(self, body: Block) -> Block:
        return tuple(map(self.statement, body))

    def statement(self, statement: Statement) -> Statement:
        value = self.expression
        match statement:
            case Let(name, kind, inner):
                return Let(self.new(name), kind, value(inner))
            case Assign(name, inner):
                return Assign(self.new(name), value(inner))
            case Append(name, inner):
                return Append(self.new(name), value(inner))
            case SetItem(name, index, inner):
                return SetItem(self.new(name), value(index), value(inner))
        return self.flow(statement)

    def flow(self, statement: Statement) -> Statement:
        value = self.expression
        match statement:
            case If(condition, then, otherwise):
                return If(value(condition), self.block(then), self.block(otherwise))
            case While(condition, body):
                return While(value(condition), self.block(body))
            case For(var, start, stop, body):
                return For(self.new(var), value(start), value(stop), self.block(body))
            case Return(inner):
                return Return(value(inner))
            case Print(items):
                return Print(tuple(map(value, items)))
        return statement

    def expression(self, expression: Expression) -> Expression:
        new = self.expression
        match expression:
            case Var(name):
                return Var(self.new(name))
            case Binary(op, left, right):
                expression = Binary(op, new(left), new(right))
            case Index(sequence, index):
                expression = Index(new(sequence), new(index))
            case Call(function, args):
                return Call(self.new(function), tuple(map(new, args)))
            case ListOf(items):
                return ListOf(tuple(map(new, items)))
            case Not(inner) | Neg(inner) | Length(inner):
                expression = type(expression)(new(inner))
        return expression
