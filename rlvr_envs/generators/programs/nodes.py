"""The nodes of the program representation, and what they mean.

Values are integers (of magnitude at most 2**53 - 1, by construction of each program), booleans,
ASCII strings and lists of integers. What every emitter may rely on, and `check` enforces:

- A function reads its parameters and its own variables only, never assigns a parameter, prints
  nothing, and ends in a `Return`; a `Return` ends its block, and the last one can be reached.
  Functions may call each other and themselves.
- A `Let` declares a variable for the rest of its block; a name has one type within a function, and
  is not declared twice in one place. A loop's variable is not assigned. Names are lower case.
- Lists are values: `Let`, `Assign` and `Return` copy, and no function changes a list it was given.
- `//` and `%` round towards minus infinity; an index counts from 0 and is within the sequence.
- `<`, `<=`, `>`, `>=` compare integers; `==` and `!=` compare integers or strings.
- A printed list stands alone on its line.

`Expression` overloads Python's operators, so that ``Var("a") + 1 < Var("b")`` builds nodes;
equality, which dataclasses need for themselves, is written ``a.eq(b)``.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias, Union

Type: TypeAlias = Literal["int", "bool", "str", "list"]
Value: TypeAlias = int | bool | str | list[int]
Operand: TypeAlias = Union["Expression", int, bool, str]
Variable: TypeAlias = tuple[str, Type]

MAX_INT = 2**53 - 1
ARITHMETIC = ("+", "-", "*", "//", "%", "min", "max")
ORDER = ("<", "<=", ">", ">=")
EQUALITY = ("==", "!=")
LOGIC = ("and", "or")


class Expression:
    """Something with a value; the subclasses are all there is."""

    __slots__ = ()
    __iter__ = None  # indexing builds a node, so iteration would never end

    def __add__(self, other: Operand) -> "Binary":
        return Binary("+", self, wrap(other))

    def __sub__(self, other: Operand) -> "Binary":
        return Binary("-", self, wrap(other))

    def __mul__(self, other: Operand) -> "Binary":
        return Binary("*", self, wrap(other))

    def __floordiv__(self, other: Operand) -> "Binary":
        return Binary("//", self, wrap(other))

    def __mod__(self, other: Operand) -> "Binary":
        return Binary("%", self, wrap(other))

    def __lt__(self, other: Operand) -> "Binary":
        return Binary("<", self, wrap(other))

    def __le__(self, other: Operand) -> "Binary":
        return Binary("<=", self, wrap(other))

    def __gt__(self, other: Operand) -> "Binary":
        return Binary(">", self, wrap(other))

    def __ge__(self, other: Operand) -> "Binary":
        return Binary(">=", self, wrap(other))

    def __and__(self, other: Operand) -> "Binary":
        return Binary("and", self, wrap(other))

    def __or__(self, other: Operand) -> "Binary":
        return Binary("or", self, wrap(other))

    def __invert__(self) -> "Not":
        return Not(self)

    def __neg__(self) -> "Neg":
        return Neg(self)

    def __getitem__(self, index: Operand) -> "Index":
        return Index(self, wrap(index))

    def eq(self, other: Operand) -> "Binary":
        """Compare for equality."""
        return Binary("==", self, wrap(other))

    def ne(self, other: Operand) -> "Binary":
        """Compare for inequality."""
        return Binary("!=", self, wrap(other))


@dataclass(frozen=True, slots=True)
class Int(Expression):
    """An integer literal, negative ones included."""

    value: int


@dataclass(frozen=True, slots=True)
class Bool(Expression):
    """True or false."""

    value: bool


@dataclass(frozen=True, slots=True)
class Str(Expression):
    """A literal of printable ASCII."""

    value: str


@dataclass(frozen=True, slots=True)
class Var(Expression):
    """The value of a variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Binary(Expression):
    """An operator of `ARITHMETIC`, `ORDER`, `EQUALITY`, `LOGIC`, or ``concat`` of two strings."""

    op: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Not(Expression):
    """Logical negation."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Neg(Expression):
    """Arithmetic negation."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Length(Expression):
    """The number of items of a list, or characters of a string."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Index(Expression):
    """An item of a list variable, or a string of one character out of a string."""

    sequence: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """A call of one of the program's functions."""

    function: str
    args: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class ListOf(Expression):
    """A new list of integers; it stands only where a list is declared, assigned or returned."""

    items: tuple[Expression, ...] = ()


def wrap(value: Operand) -> Expression:
    """Return the value as an expression."""
    if isinstance(value, Expression):
        return value
    if isinstance(value, bool):
        return Bool(value)
    return Int(value) if isinstance(value, int) else Str(value)


@dataclass(frozen=True, slots=True)
class Let:
    """Declare a variable with its first value."""

    name: str
    type: Type
    value: Expression


@dataclass(frozen=True, slots=True)
class Assign:
    """Give a declared variable a new value."""

    name: str
    value: Expression


@dataclass(frozen=True, slots=True)
class SetItem:
    """Replace one item of a list variable."""

    name: str
    index: Expression
    value: Expression


@dataclass(frozen=True, slots=True)
class Append:
    """Add an item to the end of a list variable."""

    name: str
    value: Expression


@dataclass(frozen=True, slots=True)
class If:
    """A branch."""

    condition: Expression
    then: tuple["Statement", ...]
    otherwise: tuple["Statement", ...] = ()


@dataclass(frozen=True, slots=True)
class While:
    """Repeat as long as the condition holds."""

    condition: Expression
    body: tuple["Statement", ...]


@dataclass(frozen=True, slots=True)
class For:
    """Count ``var`` from ``start`` to ``stop - 1``; both are evaluated once, before the loop."""

    var: str
    start: Expression
    stop: Expression
    body: tuple["Statement", ...]


@dataclass(frozen=True, slots=True)
class Return:
    """End the function with a value."""

    value: Expression


@dataclass(frozen=True, slots=True)
class Print:
    """Write one line: integers and strings with single spaces between, or one list's items."""

    items: tuple[Expression, ...]


Statement: TypeAlias = Let | Assign | SetItem | Append | If | While | For | Return | Print
Block: TypeAlias = tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Function:
    """A pure function."""

    name: str
    params: tuple[Variable, ...]
    returns: Type
    body: Block


@dataclass(frozen=True, slots=True)
class Program:
    """A program that reads its inputs from stdin (see `stdin`), then runs its body.

    The inputs (integers, strings, lists) are variables of the body, which may change them.
    """

    inputs: tuple[Variable, ...]
    functions: tuple[Function, ...]
    body: Block


def children(expression: Expression) -> tuple[Expression, ...]:
    """Return the expressions directly inside one."""
    match expression:
        case Binary(_, left, right):
            return (left, right)
        case Not(inner) | Neg(inner) | Length(inner):
            return (inner,)
        case Index(sequence, index):
            return (sequence, index)
        case Call(_, items) | ListOf(items):
            return items
    return ()


def blocks(statement: Statement) -> tuple[Block, ...]:
    """Return the blocks directly inside a statement."""
    match statement:
        case If(_, then, otherwise):
            return (then, otherwise)
        case While(_, body) | For(_, _, _, body):
            return (body,)
    return ()


def expressions(statement: Statement) -> tuple[Expression, ...]:
    """Return the expressions directly inside a statement, not those of its blocks."""
    match statement:
        case Let(_, _, value) | Assign(_, value) | Append(_, value) | Return(value):
            return (value,)
        case SetItem(_, index, value):
            return (index, value)
        case If(condition) | While(condition):
            return (condition,)
        case For(_, start, stop):
            return (start, stop)
        case Print(items):
            return items
