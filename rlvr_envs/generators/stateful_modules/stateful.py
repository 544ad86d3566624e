"""Small stateful modules as data: drawn, run by an interpreter, and written as Python.

The state is a few integers and lists of integers. An operation may refuse (its guard fails), which
changes nothing; otherwise it changes the state and returns an integer.

An expression is an integer, a name, or a tuple of an operator and operands; a statement is a tuple
of a word and its parts. The same data is run here and written out, so that both agree.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from rlvr_envs.core.seeding import Rng, integer, pick

Expression: TypeAlias = int | str | tuple[Any, ...]
Statement: TypeAlias = tuple[Any, ...]
State: TypeAlias = dict[str, Any]
Writer: TypeAlias = Callable[[str], str]  # from a name of the state to how it is written

_COUNTERS = ("level", "credit", "energy", "stock", "score", "depth", "charge", "rank")
_LISTS = ("log", "queue", "marks", "trail", "items")
_VERBS = (
    *("advance", "collect", "deposit", "examine", "handle", "import_lot", "measure", "offer"),
    *("process", "record", "shift", "tally", "update", "weigh"),
)
_PARAMS = ("n", "k", "m")


@dataclass(frozen=True, slots=True)
class Operation:
    """A function of a module.

    Attributes:
        name: of the function.
        params: the names of its parameters, all integers.
        refuses: the condition on which it does nothing, or None where it never refuses.
        body: the statements.
        result: what it returns.
    """

    name: str
    params: tuple[str, ...]
    refuses: Expression | None
    body: tuple[Statement, ...]
    result: Expression


@dataclass(frozen=True, slots=True)
class Machine:
    """A module: the initial values of its integers, the names of its lists, its operations."""

    counters: tuple[tuple[str, int], ...]
    lists: tuple[str, ...]
    operations: tuple[Operation, ...]

    def start(self, values: tuple[int, ...]) -> State:
        """Return the state that begins with the given integers and empty lists."""
        state: State = dict(zip((name for name, _ in self.counters), values, strict=True))
        return state | {name: [] for name in self.lists}


def run(operation: Operation, state: State, args: tuple[int, ...]) -> int | None:
    """Run an operation on a state, which changes; return None where it refuses."""
    names = state | dict(zip(operation.params, args, strict=True))
    if operation.refuses is not None and value(operation.refuses, names):
        return None
    for statement in operation.body:
        _execute(statement, names)
    result = value(operation.result, names)
    state.update((name, names[name]) for name in state)
    return int(result)


def _execute(statement: Statement, names: State) -> None:
    match statement:
        case ("set", name, right):
            names[name] = value(right, names)
        case ("add", name, right):
            names[name] += value(right, names)
        case ("push", name, right):
            names[name] = [*names[name], value(right, names)]
        case ("shift", name, target):
            if names[name]:
                names[target] += names[name][0]
                names[name] = names[name][1:]
        case ("keep", name, count):
            names[name] = names[name][-count:]
        case ("if", condition, then, otherwise):
            for inner in then if value(condition, names) else otherwise:
                _execute(inner, names)


def value(expression: Expression, names: State) -> Any:
    """Return the value of an expression."""
    if isinstance(expression, int):
        return expression
    if isinstance(expression, str):
        return names[expression]
    operator, *operands = expression
    return _OPERATORS[operator](*(value(operand, names) for operand in operands))


_OPERATORS: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "%": lambda a, b: a % b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "==": lambda a, b: a == b,
    "min": min,
    "max": max,
    "len": len,
    "sum": sum,
    "last": lambda xs: xs[-1] if xs else 0,
}


def written(expression: Expression, name_of: Writer, binding: int = 0) -> str:
    """Return an expression as Python, in parentheses where ``binding`` is tighter than its own."""
    if isinstance(expression, int):
        return str(expression)
    if isinstance(expression, str):
        return name_of(expression)
    operator, *operands = expression
    if operator == "last":
        name = written(operands[0], name_of)
        return f"({name}[-1] if {name} else 0)"
    if operator.isalpha():
        return f"{operator}({', '.join(written(operand, name_of) for operand in operands)})"
    own = _BINDING.get(operator, 1)
    left, right = written(operands[0], name_of, own), written(operands[1], name_of, own + 1)
    text = f"{left} {operator} {right}"
    return f"({text})" if own < binding else text


_BINDING = {"+": 2, "-": 2, "*": 3, "%": 3}  # comparisons bind less


def lines(body: tuple[Statement, ...], name_of: Writer) -> list[str]:
    """Return statements as lines of Python, indented from 0."""
    found: list[str] = []
    for statement in body:
        match statement:
            case ("set", name, right):
                found.append(f"{name_of(name)} = {written(right, name_of)}")
            case ("add", name, right):
                found.append(f"{name_of(name)} += {written(right, name_of)}")
            case ("push", name, right):
                found.append(f"{name_of(name)}.append({written(right, name_of)})")
            case ("shift", name, target):
                found.append(f"if {name_of(name)}:")
                found.append(f"    {name_of(target)} += {name_of(name)}.pop(0)")
            case ("keep", name, count):
                found.append(f"{name_of(name)} = {name_of(name)}[-{count}:]")
            case ("if", condition, then, otherwise):
                found.append(f"if {written(condition, name_of)}:")
                found += [f"    {line}" for line in lines(then, name_of)]
                if otherwise:
                    found.append("else:")
                    found += [f"    {line}" for line in lines(otherwise, name_of)]
    return found


def changed(body: tuple[Statement, ...]) -> set[str]:
    """Return the names that statements give another value by assignment."""
    found: set[str] = set()
    for statement in body:
        if statement[0] == "if":
            found |= changed(statement[2]) | changed(statement[3])
        elif statement[0] == "shift":
            found.add(statement[2])
        elif statement[0] != "push":
            found.add(statement[1])
    return found


def draw_machine(
    rng: Rng, n_counters: int, n_lists: int, n_operations: int, n_statements: int
) -> Machine:
    """Draw a module; every operation changes something and returns what it may have changed."""
    names = [_name(_COUNTERS, i) for i in rng.permutation(max(8, n_counters))[:n_counters].tolist()]
    lists = [_name(_LISTS, i) for i in rng.permutation(max(5, n_lists))[:n_lists].tolist()]
    verbs = rng.permutation(max(len(_VERBS), n_operations))[:n_operations].tolist()
    drawer = _Drawer(rng, names, lists)
    operations = [drawer.operation(_name(_VERBS, i), n_statements) for i in verbs]
    for name in lists:
        if not any(("push", name) == statement[:2] for o in operations for statement in o.body):
            place = integer(rng, 0, n_operations - 1)
            operations[place] = drawer.filling(operations[place], name)
    return Machine(
        tuple((name, integer(rng, 1, 20)) for name in names), tuple(lists), tuple(operations)
    )


def _name(names: tuple[str, ...], index: int) -> str:
    """Return a name by number; beyond the list, names repeat with a number after them."""
    turn, place = divmod(index, len(names))
    return names[place] + (f"_{turn + 1}" if turn else "")


class _Drawer:
    """Draws operations over given state."""

    def __init__(self, rng: Rng, counters: list[str], lists: list[str]) -> None:
        self.rng, self.counters, self.lists = rng, counters, lists

    def operation(self, name: str, n_statements: int) -> Operation:
        rng = self.rng
        params = _PARAMS[: integer(rng, 1, 3)]
        refuses: Expression | None = None
        if rng.random() < 0.6:
            subject = (pick(rng, ("+", "*", "-")), pick(rng, params), pick(rng, self.counters))
            modulus = integer(rng, 7, 19)
            refuses = (pick(rng, "<>"), ("%", subject, modulus), integer(rng, 3, modulus - 3))
        target = pick(rng, self.counters)
        body = [("add", target, (pick(rng, ("+", "-")), pick(rng, params), integer(rng, 1, 9)))]
        for _ in range(n_statements):
            body.insert(integer(rng, 0, len(body)), self.statement(params, 0))
        return Operation(name, params, refuses, tuple(body), self.number(params, target))

    def filling(self, operation: Operation, name: str) -> Operation:
        """Return an operation that also adds to a list."""
        push = ("push", name, self.bounded(operation.params))
        return replace(operation, body=(*operation.body, push))

    def statement(self, params: tuple[str, ...], depth: int) -> Statement:
        rng, choice = self.rng, self.rng.random()
        if self.lists and choice < 0.4:
            chosen = pick(rng, self.lists)
            form = pick(rng, ("push", "push", "shift", "keep"))
            if form == "shift":
                return ("shift", chosen, pick(rng, self.counters))
            if form == "keep":
                return ("keep", chosen, integer(rng, 2, 4))
            return ("push", chosen, self.bounded(params))
        if depth < 2 and choice < 0.65:
            condition = (pick(rng, ("<", ">", "==")), self.bounded(params), integer(rng, 1, 9))
            then = (self.statement(params, depth + 1),)
            otherwise = (self.statement(params, depth + 1),) if rng.random() < 0.5 else ()
            return ("if", condition, then, otherwise)
        if choice < 0.85:
            return ("set", pick(rng, self.counters), self.bounded(params))
        return ("add", pick(rng, self.counters), pick(rng, params))

    def bounded(self, params: tuple[str, ...]) -> Expression:
        return ("%", self.number(params, pick(self.rng, self.counters)), integer(self.rng, 11, 97))

    def number(self, params: tuple[str, ...], name: str) -> Expression:
        rng = self.rng
        choices: tuple[Expression, ...] = (*params, *self.counters, integer(rng, 2, 9))
        other = pick(rng, choices)
        if self.lists and rng.random() < 0.5:
            other = (pick(rng, ("len", "sum", "last")), pick(rng, self.lists))
        return (pick(rng, ("+", "-", "*", "min", "max", "+")), name, other)
