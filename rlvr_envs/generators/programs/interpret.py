"""Run a program in its own small interpreter: the reference for what every emitter must do."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rlvr_envs.core.errors import RlvrEnvsError
from rlvr_envs.generators.programs import nodes

MAX_DEPTH = 120  # of calls within calls


class IrError(RlvrEnvsError):
    """A program is ill-formed, or did something that has no meaning."""


class StepLimit(IrError):
    """A program ran for longer than it was allowed to."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a program printed, and how many statements and operators that took."""

    output: str
    steps: int


def interpret(
    program: nodes.Program, inputs: Mapping[str, nodes.Value], *, max_steps: int = 1_000_000
) -> Run:
    """Run a program on its inputs.

    Raises:
        StepLimit: more than ``max_steps`` statements and operators were needed.
        IrError: an input is missing, or the program divided by zero, left a sequence, or left the
            range of integers.
    """
    machine = Machine(program, max_steps)
    names: dict[str, nodes.Value] = {}
    for name, kind in program.inputs:
        if name not in inputs:
            raise IrError(f"the input {name!r} is missing; given: {sorted(inputs)}")
        value = inputs[name]
        names[name] = list(value) if kind == "list" and isinstance(value, (list, tuple)) else value
    machine.block(program.body, names)
    return Run("".join(machine.lines), machine.steps)


class Machine:
    """The state of one run; `block` returns a value only where a `Return` was met."""

    def __init__(self, program: nodes.Program, max_steps: int) -> None:
        self.functions = {function.name: function for function in program.functions}
        self.lines: list[str] = []
        self.steps = 0
        self.max_steps = max_steps
        self.depth = 0

    def tick(self) -> None:
        self.steps += 1
        if self.steps > self.max_steps:
            raise StepLimit(f"the program needs more than {self.max_steps} steps")

    def block(self, body: nodes.Block, names: dict[str, nodes.Value]) -> nodes.Value | None:
        for statement in body:
            self.tick()
            result = self.statement(statement, names)
            if result is not None:
                return result
        return None

    def statement(
        self, statement: nodes.Statement, names: dict[str, nodes.Value]
    ) -> nodes.Value | None:
        run = _RUN.get(type(statement))
        if run is None:
            return self.compound(statement, names)
        return run(self, statement, names)

    def store(self, node: nodes.Let | nodes.Assign, names: dict[str, nodes.Value]) -> None:
        names[node.name] = _copy(self.value(node.value, names))

    def set_item(self, node: nodes.SetItem, names: dict[str, nodes.Value]) -> None:
        items = _as_list(names.get(node.name))
        at = self.integer(node.index, names)
        _check_index(at, len(items))
        items[at] = self.integer(node.value, names)

    def append(self, node: nodes.Append, names: dict[str, nodes.Value]) -> None:
        _as_list(names.get(node.name)).append(self.integer(node.value, names))

    def give_back(self, node: nodes.Return, names: dict[str, nodes.Value]) -> nodes.Value:
        return _copy(self.value(node.value, names))

    def print(self, node: nodes.Print, names: dict[str, nodes.Value]) -> None:
        self.lines.append(" ".join(_shown(self.value(item, names)) for item in node.items) + "\n")

    def compound(
        self, statement: nodes.Statement, names: dict[str, nodes.Value]
    ) -> nodes.Value | None:
        match statement:
            case nodes.If(condition, then, otherwise):
                return self.block(then if self.value(condition, names) else otherwise, names)
            case nodes.While(condition, body):
                while self.value(condition, names):
                    self.tick()
                    result = self.block(body, names)
                    if result is not None:
                        return result
            case nodes.For(var, start, stop, body):
                for count in range(self.integer(start, names), self.integer(stop, names)):
                    self.tick()
                    names[var] = count
                    result = self.block(body, names)
                    if result is not None:
                        return result
        return None

    def integer(self, expression: nodes.Expression, names: dict[str, nodes.Value]) -> int:
        value = self.value(expression, names)
        if isinstance(value, bool) or not isinstance(value, int):
            raise IrError(f"expected an integer, got {value!r:.80}")
        return value

    def value(self, expression: nodes.Expression, names: dict[str, nodes.Value]) -> nodes.Value:
        self.steps += 1  # as `tick` does, which would be one call more in the busiest place
        if self.steps > self.max_steps:
            raise StepLimit(f"the program needs more than {self.max_steps} steps")
        evaluate = _EVALUATE.get(type(expression))
        if evaluate is None:
            raise IrError(f"not an expression: {expression!r:.80}")
        return evaluate(self, expression, names)

    def literal(
        self, node: nodes.Int | nodes.Bool | nodes.Str, names: dict[str, nodes.Value]
    ) -> nodes.Value:
        return node.value

    def variable(self, node: nodes.Var, names: dict[str, nodes.Value]) -> nodes.Value:
        if node.name not in names:
            raise IrError(f"the variable {node.name!r} has no value")
        return names[node.name]

    def sequence(self, node: nodes.Expression, names: dict[str, nodes.Value]) -> str | list[int]:
        items = self.value(node, names)
        if not isinstance(items, (str, list)):
            raise IrError(f"{items!r:.80} is no sequence")
        return items

    def index(self, node: nodes.Index, names: dict[str, nodes.Value]) -> nodes.Value:
        items = self.sequence(node.sequence, names)
        at = self.integer(node.index, names)
        _check_index(at, len(items))
        return items[at]

    def length(self, node: nodes.Length, names: dict[str, nodes.Value]) -> nodes.Value:
        return len(self.sequence(node.operand, names))

    def negation(self, node: nodes.Not, names: dict[str, nodes.Value]) -> nodes.Value:
        return not self.value(node.operand, names)

    def minus(self, node: nodes.Neg, names: dict[str, nodes.Value]) -> nodes.Value:
        return -self.integer(node.operand, names)

    def new_list(self, node: nodes.ListOf, names: dict[str, nodes.Value]) -> nodes.Value:
        return [self.integer(item, names) for item in node.items]

    def binary(self, node: nodes.Binary, names: dict[str, nodes.Value]) -> nodes.Value:
        op = node.op
        first = self.value(node.left, names)
        if op in nodes.LOGIC:
            return bool(first) if bool(first) == (op == "or") else self.value(node.right, names)
        second = self.value(node.right, names)
        if op == "concat" or op in nodes.EQUALITY:
            return _on_any(op, first, second)
        if not isinstance(first, int) or not isinstance(second, int):
            raise IrError(f"{op} takes integers, got {first!r:.80} and {second!r:.80}")
        if op in ("//", "%") and second == 0:
            raise IrError(f"{first} {op} 0")
        if op not in _OPERATIONS:
            raise IrError(f"no operator {op!r}")
        result = _OPERATIONS[op](first, second)
        if not -nodes.MAX_INT <= result <= nodes.MAX_INT:
            raise IrError(f"{first} {op} {second} leaves the range of integers")
        return result

    def call(self, node: nodes.Call, names: dict[str, nodes.Value]) -> nodes.Value:
        name, args = node.function, [self.value(arg, names) for arg in node.args]
        function: nodes.Function | None = self.functions.get(name)
        if function is None:
            raise IrError(f"no function {name!r}")
        if self.depth >= MAX_DEPTH:
            raise IrError(f"{name} calls itself more than {MAX_DEPTH} times deep")
        self.depth += 1
        result = self.block(
            function.body,
            {param: arg for (param, _), arg in zip(function.params, args, strict=True)},
        )
        self.depth -= 1
        if result is None:
            raise IrError(f"{name} ended without a value")
        return result


_EVALUATE: dict[type, Callable[[Machine, Any, dict[str, nodes.Value]], nodes.Value]] = {
    nodes.Int: Machine.literal,
    nodes.Bool: Machine.literal,
    nodes.Str: Machine.literal,
    nodes.Var: Machine.variable,
    nodes.Binary: Machine.binary,
    nodes.Not: Machine.negation,
    nodes.Neg: Machine.minus,
    nodes.Length: Machine.length,
    nodes.Index: Machine.index,
    nodes.Call: Machine.call,
    nodes.ListOf: Machine.new_list,
}

_RUN: dict[type, Callable[[Machine, Any, dict[str, nodes.Value]], nodes.Value | None]] = {
    nodes.Let: Machine.store,
    nodes.Assign: Machine.store,
    nodes.SetItem: Machine.set_item,
    nodes.Append: Machine.append,
    nodes.Return: Machine.give_back,
    nodes.Print: Machine.print,
}

_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "min": min,
    "max": max,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def _on_any(op: str, first: nodes.Value, second: nodes.Value) -> nodes.Value:
    if op == "concat":
        if not isinstance(first, str) or not isinstance(second, str):
            raise IrError(f"concat takes strings, got {first!r:.80} and {second!r:.80}")
        return first + second
    return first == second if op == "==" else first != second


def _copy(value: nodes.Value) -> nodes.Value:
    return list(value) if isinstance(value, list) else value


def _as_list(value: nodes.Value | None) -> list[int]:
    if not isinstance(value, list):
        raise IrError(f"expected a list, got {value!r:.80}")
    return value


def _check_index(index: int, length: int) -> None:
    if not 0 <= index < length:
        raise IrError(f"the index {index} is outside a sequence of length {length}")


def _shown(value: nodes.Value) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
