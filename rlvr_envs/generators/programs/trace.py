"""A run of a program, told line by line: what each statement makes of the variables."""

from collections.abc import Mapping

from rlvr_envs.generators.programs import nodes
from rlvr_envs.generators.programs.interpret import Machine

_TIGHT = {"or": 1, "and": 2, "+": 4, "-": 4, "concat": 4, "*": 5, "//": 5, "%": 5}
_COMPARED = 3
_ATOM = 6


def trace(
    program: nodes.Program, inputs: Mapping[str, nodes.Value], *, max_steps: int
) -> list[str]:
    """Return a line for each statement of the body, and for each round of a loop there.

    A line shows calculations with the values put in, such as ``total = 2 * 9 = 18``; ``//`` is a
    quotient rounded down and ``%`` its remainder. What happens inside functions is left out.

    Raises:
        StepLimit: more than ``max_steps`` statements and operators were needed.
        IrError: the program did something that has no meaning.
    """
    tracer = _Tracer(program, max_steps)
    names = {
        name: list(value) if isinstance(value, list) else value for name, value in inputs.items()
    }
    lines = [f"Read {name} = {_shown(value)}." for name, value in names.items()]
    for statement in program.body:
        tracer.start()
        tracer.statement(statement, names)
        lines += tracer.told()
    return lines


class _Tracer(Machine):
    """A machine that notes what the statements outside functions do."""

    def start(self) -> None:
        """Begin a new statement of the body."""
        self.rounds: list[list[str]] = [[]]
        self.nested = 0

    def told(self) -> list[str]:
        """Return what was noted: a line, or one for each round of a loop."""
        return [f"{'; '.join(events)}." for events in self.rounds if events]

    def note(self, event: str) -> None:
        self.rounds[-1].append(event)

    def statement(
        self, statement: nodes.Statement, names: dict[str, nodes.Value]
    ) -> nodes.Value | None:
        if self.depth:
            return super().statement(statement, names)
        match statement:
            case nodes.Let(name, _, value) | nodes.Assign(name, value):
                work = _Writer(self, names).text(value)
                super().statement(statement, names)
                self.note(_equal(name, work, _shown(names[name])))
                return None
            case nodes.SetItem(name, index, value):
                work = _Writer(self, names).text(value)
                place = f"{name}[{self.value(index, names)}]"
                result = _shown(self.value(value, names))
                super().statement(statement, names)
                self.note(_equal(place, work, result))
                self.note(f"{name} = {_shown(names[name])}")
                return None
            case nodes.Append(name, value):
                work = _Writer(self, names).text(value)
                super().statement(statement, names)
                self.note(f"append {work} to {name}: {_shown(names[name])}")
                return None
            case nodes.Print():
                super().statement(statement, names)
                self.note(f"print {self.lines[-1].rstrip()}")
                return None
        return super().statement(statement, names)

    def compound(
        self, statement: nodes.Statement, names: dict[str, nodes.Value]
    ) -> nodes.Value | None:
        if self.depth:
            return super().compound(statement, names)
        self.nested += 1
        match statement:
            case nodes.If(condition, then, otherwise):
                holds = self.told_condition(condition, names)
                self.block(then if holds else otherwise, names)
            case nodes.While(condition, body):
                while self.told_condition(condition, names):
                    self.tick()
                    self.block(body, names)
                    self.next_round()
            case nodes.For(var, start, stop, body):
                for count in range(self.integer(start, names), self.integer(stop, names)):
                    self.tick()
                    names[var] = count
                    self.note(f"{var} = {count}")
                    self.block(body, names)
                    self.next_round()
        self.nested -= 1
        return None

    def next_round(self) -> None:
        """Begin a new line if the loop is one of the body itself."""
        if self.nested == 1:
            self.rounds.append([])

    def told_condition(self, condition: nodes.Expression, names: dict[str, nodes.Value]) -> bool:
        work = _Writer(self, names).text(condition)
        holds = bool(self.value(condition, names))
        self.note(f"{work} is {'true' if holds else 'false'}")
        return holds


def _equal(name: str, work: str, value: str) -> str:
    return f"{name} = {value}" if work == value else f"{name} = {work} = {value}"


def _shown(value: nodes.Value) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list):
        return f"[{', '.join(map(str, value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


class _Writer:
    """Writes an expression with the values of its variables, and notes what calls give."""

    def __init__(self, machine: "_Tracer", names: dict[str, nodes.Value]) -> None:
        self.machine = machine
        self.names = names

    def text(self, node: nodes.Expression, tightness: int = 0) -> str:
        """Return the expression, in parentheses if it binds less tightly than is needed."""
        text, own = self.parts(node)
        return f"({text})" if own < tightness else text

    def parts(self, node: nodes.Expression) -> tuple[str, int]:
        """Return the text of an expression, and how tightly it binds."""
        match node:
            case nodes.Binary():
                return self.binary(node)
            case nodes.Not(inner) | nodes.Neg(inner):
                sign, own = ("not ", 2) if isinstance(node, nodes.Not) else ("-", 4)
                return f"{sign}{self.text(inner, _ATOM)}", own
            case nodes.Call(name, args):
                text = f"{name}({', '.join(map(self.text, args))})"
                self.machine.note(f"{text} gives {_shown(self.machine.value(node, self.names))}")
                return text, _ATOM
            case nodes.ListOf(items):
                return f"[{', '.join(map(self.text, items))}]", _ATOM
        # Items and lengths are looked up, not calculated: their values read better.
        value = self.machine.value(node, self.names)
        low = isinstance(value, int) and value < 0
        return _shown(value), 4 if low else _ATOM

    def binary(self, node: nodes.Binary) -> tuple[str, int]:
        op, left, right = node.op, node.left, node.right
        own = _TIGHT.get(op, _COMPARED)
        if op in ("min", "max"):
            return f"{op}({self.text(left)}, {self.text(right)})", _ATOM
        first = self.text(left, own)
        if op in nodes.LOGIC and bool(self.machine.value(left, self.names)) == (op == "or"):
            return f"{first} {op} ...", own  # the right side is not looked at
        sign = "+" if op == "concat" else op
        return f"{first} {sign} {self.text(right, own + 1)}", own
