"""What a random program may name at one place, with bounds on every value.

The bounds are what makes random programs safe by construction: no integer leaves the range, no
index leaves its sequence, nothing is divided by zero, and no loop runs for long.
"""

from dataclasses import dataclass, field

from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.programs import nodes

MAX_INPUT = 1000  # the magnitude of an input, and of an item of one
MAX_ITEMS = 32  # the length of an input
VARIABLE_BOUND = 10**9  # the magnitude that no integer variable exceeds
EXPRESSION_BOUND = 10**14  # likewise of an expression
LETTERS = "abcde"  # what input strings are made of

_NAMES: dict[nodes.Type, tuple[str, ...]] = {
    "int": ("total", "best", "count", "state", "left", "gap", "score", "mark", "rest", "code"),
    "list": ("items", "values", "picked", "row", "trace", "levels"),
    "str": ("text", "word", "letters", "path"),
    "bool": ("found", "ready"),
}
_MODULI = (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 17, 19, 23, 31, 50, 64, 97, 100)


@dataclass
class Known:
    """A variable in scope.

    Attributes:
        bound: the largest magnitude of an integer, or of a list's items.
        budget: how much of `VARIABLE_BOUND` later changes of an integer may still use up.
        length: the largest length of a list or string.
        filled: whether a list or string certainly has an item.
        locked: whether it may not be assigned.
        indexes: the sequences that the variable is certainly a valid index of.
    """

    name: str
    type: nodes.Type
    bound: int = VARIABLE_BOUND
    budget: int = VARIABLE_BOUND
    length: int = 0
    filled: bool = False
    locked: bool = False
    indexes: tuple[str, ...] = ()


@dataclass
class Scope:
    """The variables in scope, and how often the current place runs at most."""

    rng: Rng
    known: list[Known] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    runs: int = 1  # how often the current block runs at most
    read: set[str] = field(default_factory=set)  # sequences that the outermost loop goes over
    grown: set[str] = field(default_factory=set)  # sequences that grow in the outermost loop

    def fresh(self, kind: nodes.Type) -> str:
        """Return a name that the function does not use yet."""
        for name in _NAMES[kind]:
            if name not in self.used:
                self.used.add(name)
                return name
        count = 2
        while f"{_NAMES[kind][0]}_{count}" in self.used:
            count += 1
        name = f"{_NAMES[kind][0]}_{count}"
        self.used.add(name)
        return name

    def counter(self) -> str:
        """Return the name of a loop's variable."""
        taken = {variable.name for variable in self.known}
        return next(name for name in ("i", "j", "k", "m", "n", "p") if name not in taken)

    def of(self, kind: nodes.Type) -> list[Known]:
        """Return the variables of a type."""
        return [variable for variable in self.known if variable.type == kind]

    def free(self, kind: nodes.Type) -> list[Known]:
        """Return the variables of a type that may be assigned."""
        return [
            variable for variable in self.known if variable.type == kind and not variable.locked
        ]

    def chance(self, probability: float) -> bool:
        """Return True with a probability."""
        return bool(self.rng.random() < probability)

    # Expressions; an integer comes with the largest magnitude that it can have.

    def constant(self) -> tuple[nodes.Expression, int]:
        """Return a small number."""
        value = integer(self.rng, 1, 9) if self.chance(0.8) else integer(self.rng, -20, 60)
        return nodes.Int(value), abs(value)

    def leaf(self) -> tuple[nodes.Expression, int]:
        """Return a variable, an item, a length or a constant."""
        choice = self.rng.random()
        counting = any(variable.indexes for variable in self.known)
        items = self.item() if choice < (0.5 if counting else 0.12) else None
        if items is not None:
            return items
        ints = self.of("int")
        if ints and choice < 0.85:
            counters = [variable for variable in ints if variable.indexes]
            variable = pick(self.rng, counters if counters and self.chance(0.5) else ints)
            return nodes.Var(variable.name), variable.bound
        sequences = [*self.of("list"), *self.of("str")]
        if sequences and choice < 0.9:
            sequence = pick(self.rng, sequences)
            return nodes.Length(nodes.Var(sequence.name)), sequence.length
        return self.constant()

    def item(self) -> tuple[nodes.Expression, int] | None:
        """Return an item of a list, or None where no list certainly has one."""
        found = self.place("list")
        return (
            None
            if found is None
            else (nodes.Index(nodes.Var(found[0].name), found[1]), found[0].bound)
        )

    def place(self, kind: nodes.Type) -> tuple[Known, nodes.Expression] | None:
        """Return a sequence and a valid index of it."""
        options = [
            (sequence, variable)
            for sequence in self.of(kind)
            for variable in self.of("int")
            if sequence.name in variable.indexes
        ]
        if options and self.chance(0.85):
            sequence, variable = pick(self.rng, options)
            return sequence, nodes.Var(variable.name)
        filled = [sequence for sequence in self.of(kind) if sequence.filled]
        if not filled:
            return None
        sequence = pick(self.rng, filled)
        return sequence, self.index(sequence)

    def index(self, sequence: Known) -> nodes.Expression:
        """Return a valid index of a sequence that has an item."""
        length = nodes.Length(nodes.Var(sequence.name))
        choice = self.rng.random()
        if choice < 0.25:
            return nodes.Int(0)
        if choice < 0.45:
            return length - 1
        ints = self.of("int")
        base: nodes.Expression = nodes.Var(pick(self.rng, ints).name) if ints else nodes.Int(7)
        return (base if self.chance(0.5) else base + integer(self.rng, 1, 5)) % length

    def number(self, depth: int) -> tuple[nodes.Expression, int]:
        """Return an integer expression and its largest magnitude."""
        if depth <= 0:
            return self.leaf()
        left, first = self.number(depth - 1 if self.chance(0.7) else 0)
        op = pick(self.rng, ("+", "+", "-", "-", "*", "*", "%", "%", "//", "min", "max"))
        if op in ("%", "//"):
            divisor = pick(self.rng, _MODULI) if op == "%" else integer(self.rng, 2, 5)
            bound = divisor - 1 if op == "%" else first // divisor + 1
            return nodes.Binary(op, _variable(left, self), nodes.Int(divisor)), bound
        if op == "*":
            right, second = self.constant() if self.chance(0.6) else self.leaf()
        else:
            right, second = self.leaf()
        if (isinstance(left, nodes.Int) and isinstance(right, nodes.Int)) or left == right:
            left, first = self.leaf()
        bound = {"*": first * second, "min": max(first, second), "max": max(first, second)}.get(
            op, first + second
        )
        if bound > EXPRESSION_BOUND:
            return left % 1009, 1008
        return nodes.Binary(op, left, right), bound

    def below(
        self, expression: nodes.Expression, bound: int, limit: int
    ) -> tuple[nodes.Expression, int]:
        """Return the expression, reduced modulo some number where it could exceed the limit."""
        if bound <= limit:
            return expression, bound
        modulus = min(pick(self.rng, (97, 100, 101, 128, 257, 1000, 1009)), max(limit, 1) + 1)
        return expression % modulus, modulus - 1

    def condition(self, depth: int = 1) -> nodes.Expression:
        """Return a boolean expression."""
        choice = self.rng.random()
        if depth > 1 and choice < 0.3:
            return nodes.Binary(pick(self.rng, ("and", "or")), self.condition(), self.condition())
        if depth > 1 and choice < 0.36:
            return nodes.Not(self.condition())
        place = self.place("str") if choice > 0.6 else None
        if place is not None:
            return nodes.Index(nodes.Var(place[0].name), place[1]).eq(pick(self.rng, LETTERS))
        if choice < 0.65:
            modulus = pick(self.rng, (2, 2, 3, 3, 4, 5, 7))
            left = _variable(self.number(1)[0], self)
            rest = nodes.Binary("%", left, nodes.Int(modulus))
            return nodes.Binary(
                pick(self.rng, ("==", "!=")), rest, nodes.Int(integer(self.rng, 0, modulus - 1))
            )
        left = _variable(self.number(1)[0], self)
        right = self.constant()[0] if self.chance(0.4) else self.leaf()[0]
        if left == right:
            right = nodes.Int(integer(self.rng, 2, 12))
        return nodes.Binary(pick(self.rng, ("<", "<=", ">", ">=")), left, right)

    def string(self) -> tuple[nodes.Expression, int]:
        """Return a string expression of one or a few characters, and its largest length."""
        place = self.place("str") if self.chance(0.6) else None
        if place is not None:
            return nodes.Index(nodes.Var(place[0].name), place[1]), 1
        if self.chance(0.4):
            return nodes.Index(nodes.Str("0123456789"), _variable(self.number(1)[0], self) % 10), 1
        return nodes.Str(pick(self.rng, ("a", "b", "xy", "-", "z", "+"))), 2


def _variable(expression: nodes.Expression, scope: Scope) -> nodes.Expression:
    """Return the expression, or a variable instead of a constant."""
    ints = scope.of("int")
    return (
        nodes.Var(pick(scope.rng, ints).name)
        if isinstance(expression, nodes.Int) and ints
        else expression
    )


def mentions(expression: nodes.Expression, name: str) -> bool:
    """Return whether an expression reads a variable."""
    if expression == nodes.Var(name):
        return True
    return any(mentions(inner, name) for inner in nodes.children(expression))
