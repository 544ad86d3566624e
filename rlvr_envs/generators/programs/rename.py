"""Give other names to what a language would misread."""

from rlvr_envs.generators.programs import nodes


def words(text: str) -> frozenset[str]:
    """Return the words of a text, as the emitters list their reserved names."""
    return frozenset(text.split())


def rename(program: nodes.Program, reserved: frozenset[str]) -> nodes.Program:
    """Return the program with an underscore after each of its names that is reserved."""
    if not reserved:
        return program
    names = _Renamer(reserved)
    functions = tuple(
        nodes.Function(names.new(f.name), names.variables(f.params), f.returns, names.block(f.body))
        for f in program.functions
    )
    return nodes.Program(names.variables(program.inputs), functions, names.block(program.body))


class _Renamer:
    def __init__(self, reserved: frozenset[str]) -> None:
        self.reserved = reserved

    def new(self, name: str) -> str:
        return f"{name}_" if name in self.reserved else name

    def variables(self, pairs: tuple[nodes.Variable, ...]) -> tuple[nodes.Variable, ...]:
        return tuple((self.new(name), kind) for name, kind in pairs)

    def block(self, body: nodes.Block) -> nodes.Block:
        return tuple(map(self.statement, body))

    def statement(self, statement: nodes.Statement) -> nodes.Statement:
        value = self.expression
        match statement:
            case nodes.Let(name, kind, inner):
                return nodes.Let(self.new(name), kind, value(inner))
            case nodes.Assign(name, inner):
                return nodes.Assign(self.new(name), value(inner))
            case nodes.Append(name, inner):
                return nodes.Append(self.new(name), value(inner))
            case nodes.SetItem(name, index, inner):
                return nodes.SetItem(self.new(name), value(index), value(inner))
        return self.flow(statement)

    def flow(self, statement: nodes.Statement) -> nodes.Statement:
        value = self.expression
        match statement:
            case nodes.If(condition, then, otherwise):
                return nodes.If(value(condition), self.block(then), self.block(otherwise))
            case nodes.While(condition, body):
                return nodes.While(value(condition), self.block(body))
            case nodes.For(var, start, stop, body):
                return nodes.For(self.new(var), value(start), value(stop), self.block(body))
            case nodes.Return(inner):
                return nodes.Return(value(inner))
            case nodes.Print(items):
                return nodes.Print(tuple(map(value, items)))
        return statement

    def expression(self, expression: nodes.Expression) -> nodes.Expression:
        new = self.expression
        match expression:
            case nodes.Var(name):
                return nodes.Var(self.new(name))
            case nodes.Binary(op, left, right):
                expression = nodes.Binary(op, new(left), new(right))
            case nodes.Index(sequence, index):
                expression = nodes.Index(new(sequence), new(index))
            case nodes.Call(function, args):
                return nodes.Call(self.new(function), tuple(map(new, args)))
            case nodes.ListOf(items):
                return nodes.ListOf(tuple(map(new, items)))
            case nodes.Not(inner) | nodes.Neg(inner) | nodes.Length(inner):
                expression = type(expression)(new(inner))
        return expression
