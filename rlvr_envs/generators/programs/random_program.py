"""Random programs that end, keep every rule by construction, and depend on their inputs."""

from collections.abc import Callable

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import Rng, integer, integers, pick
from rlvr_envs.generators.programs import nodes
from rlvr_envs.generators.programs.check import check
from rlvr_envs.generators.programs.interpret import StepLimit, interpret
from rlvr_envs.generators.programs.random_functions import Made, random_function
from rlvr_envs.generators.programs.random_scope import (
    LETTERS,
    MAX_INPUT,
    MAX_ITEMS,
    VARIABLE_BOUND,
    Known,
    Scope,
    mentions,
)

MAX_RUNS = 2500  # how often one place of a program runs at most
MAX_STEPS = 400_000  # more than any random program needs
_INPUT_NAMES: dict[nodes.Type, tuple[str, ...]] = {
    "int": ("a", "b", "c"),
    "list": ("xs", "ys"),
    "str": ("s", "t"),
}


def random_program(
    rng: Rng,
    *,
    size: int,
    inputs: tuple[nodes.Type, ...] | None = None,
    functions: int | None = None,
) -> nodes.Program:
    """Return a random program.

    It is safe for every input within `MAX_INPUT` and `MAX_ITEMS` whose lists and strings have an
    item (see `random_inputs`), and its output differs between inputs.

    Args:
        rng: the only source of randomness.
        size: how many statements to draw, roughly; those of idioms and prints come on top.
        inputs: the types of the inputs, or None to draw them.
        functions: how many helper functions it has, or None for a number that fits the size.
    """
    if size < 1:
        raise ConfigError(f"a program's size is at least 1, got {size}")
    if inputs is not None and any(inputs.count(t) > len(_INPUT_NAMES.get(t, ())) for t in inputs):
        raise ConfigError(f"at most 3 integers, 2 lists and 2 strings as inputs, got {inputs}")
    for _ in range(30):
        program = _Maker(rng, size, inputs, functions).program()
        if _is_sensitive(rng, program):
            return program
    return _fallback(rng)


def random_inputs(
    rng: Rng, program: nodes.Program, *, length: int = 8, magnitude: int = 20
) -> dict[str, nodes.Value]:
    """Return inputs of a random program: items of magnitude up to ``magnitude``."""
    if not (1 <= length <= MAX_ITEMS and 1 <= magnitude <= MAX_INPUT):
        raise ConfigError(f"need 1 <= length <= {MAX_ITEMS} and 1 <= magnitude <= {MAX_INPUT}")
    values: dict[str, nodes.Value] = {}
    for name, kind in program.inputs:
        size = integer(rng, (length + 1) // 2, length)
        if kind == "int":
            values[name] = integer(rng, -magnitude // 4, magnitude)
        elif kind == "list":
            values[name] = list(integers(rng, -magnitude // 3, magnitude, size))
        else:
            values[name] = "".join(pick(rng, LETTERS) for _ in range(size))
    return values


def _is_sensitive(rng: Rng, program: nodes.Program) -> bool:
    outputs = set()
    try:
        for _ in range(5):
            inputs = random_inputs(rng, program)
            outputs.add(interpret(program, inputs, max_steps=MAX_STEPS).output)
    except StepLimit:
        return False
    return len(outputs) >= 4


def _fallback(rng: Rng) -> nodes.Program:
    value = (nodes.Var("a") * integer(rng, 2, 99) + integer(rng, 1, 999)) % integer(rng, 500, 1500)
    return check(nodes.Program((("a", "int"),), (), (nodes.Print((value,)),)))


class _Maker:
    """Draws one program."""

    def __init__(
        self, rng: Rng, size: int, inputs: tuple[nodes.Type, ...] | None, functions: int | None
    ) -> None:
        self.rng = rng
        self.size = size
        self.left = size
        self.kinds = inputs or self.draw_inputs()
        wanted = (size + 2) // 7 if functions is None else functions
        self.functions: list[Made] = []
        for _ in range(wanted):
            made = random_function(rng, {function.name for function, _ in self.functions})
            if made is not None:
                self.functions.append(made)
        self.scope = Scope(rng)

    def draw_inputs(self) -> tuple[nodes.Type, ...]:
        if self.size <= 2:
            return pick(self.rng, (("int",), ("int", "int"), ("list",)))
        options: tuple[tuple[nodes.Type, ...], ...] = (
            ("list",),
            ("list", "int"),
            ("list", "int"),
            ("int", "int"),
            ("str", "int"),
            ("str", "list"),
            ("list", "int", "int"),
            ("list", "str", "int"),
        )
        return pick(self.rng, options)

    def program(self) -> nodes.Program:
        counts: dict[nodes.Type, int] = {}
        inputs: list[tuple[str, nodes.Type]] = []
        for kind in self.kinds:
            name = _INPUT_NAMES[kind][counts.get(kind, 0)]
            counts[kind] = counts.get(kind, 0) + 1
            inputs.append((name, kind))
            self.scope.used.add(name)
            self.scope.known.append(
                Known(
                    name, kind, MAX_INPUT, length=0 if kind == "int" else MAX_ITEMS, filled=True,
                    locked=True,
                )
            )  # fmt: skip
        body: list[nodes.Statement] = [self.new_number()]
        if self.size >= 4:
            body.append(self.new_number())
        if self.size >= 3 and self.scope.chance(0.6):
            body.append(self.new_list())
        if "str" in self.kinds and self.scope.chance(0.6):
            body.append(self.new_string())
        while self.left > 0:
            body += self.statement(depth=0)
        body += self.prints()
        functions: tuple[nodes.Function, ...] = tuple(function for function, _ in self.functions)
        return check(nodes.Program(tuple(inputs), functions, tuple(body)))

    # Declarations.

    def new_number(self) -> nodes.Statement:
        expression, bound = (
            self.scope.constant() if self.scope.chance(0.6) else self.scope.number(1)
        )
        name = self.scope.fresh("int")
        self.scope.known.append(Known(name, "int", budget=VARIABLE_BOUND - bound))
        return nodes.Let(name, "int", expression)

    def new_list(self) -> nodes.Statement:
        name = self.scope.fresh("list")
        if self.scope.chance(0.5):
            self.scope.known.append(Known(name, "list", bound=MAX_INPUT))
            return nodes.Let(name, "list", nodes.ListOf())
        items = integers(self.rng, 0, 9, integer(self.rng, 2, 5))
        self.scope.known.append(
            Known(name, "list", bound=MAX_INPUT, length=len(items), filled=True)
        )
        return nodes.Let(name, "list", nodes.ListOf(tuple(map(nodes.Int, items))))

    def new_string(self) -> nodes.Statement:
        name = self.scope.fresh("str")
        self.scope.known.append(Known(name, "str", length=0))
        return nodes.Let(name, "str", nodes.Str(""))

    # Statements.

    def statement(self, depth: int) -> nodes.Block:
        self.left -= 1
        options: list[tuple[Callable[[int], nodes.Block | None], int]] = [
            (self.assign, 4),
            (self.grow, 2 if depth else 1),
            (self.put, 2),
            (self.say, 1),
            (self.branch, 3 if depth < 3 else 0),
            (self.go_over, (5 if depth == 0 else 2) if depth < 2 else 0),
            (self.count, 2 if depth < 2 else 0),
            (self.shrink, 1 if depth < 2 else 0),
        ]
        if self.functions:
            options.append((self.use_function, 3))
        total = sum(weight for _, weight in options)
        chosen = integer(self.rng, 1, total)
        for option, weight in options:
            chosen -= weight
            if chosen <= 0:
                return option(depth) or self.assign(depth)
        return self.assign(depth)

    def body(self, depth: int, most: int = 3) -> nodes.Block:
        """Draw a block of its own."""
        visible = len(self.scope.known)
        result = list(self.statement(depth))
        for _ in range(integer(self.rng, 0, most - 1)):
            if self.left > 0:
                result += self.statement(depth)
        del self.scope.known[visible:]
        return tuple(result)

    def assign(self, depth: int) -> nodes.Block:
        return self.store(*self.scope.number(1 if self.scope.chance(0.5) else 2))

    def store(self, expression: nodes.Expression, bound: int) -> nodes.Block:
        """Put a number into a variable: add it, compare it, or replace what was there."""
        targets = self.scope.free("int")
        target = pick(self.rng, targets)
        variable = nodes.Var(target.name)
        choice, room = self.rng.random(), target.budget // 4
        if choice < 0.65:
            value, bound = self.scope.below(expression, bound, room // self.scope.runs)
            reads_itself = mentions(value, target.name)
            if not reads_itself and bound * self.scope.runs <= room:
                target.budget -= bound * self.scope.runs
                return (
                    nodes.Assign(
                        target.name, nodes.Binary("+" if choice < 0.5 else "-", variable, value)
                    ),
                )
            value, bound = self.scope.below(variable * 3 + value, VARIABLE_BOUND * 4, 1009)
        elif choice < 0.8 and not mentions(expression, target.name):
            value, bound = self.scope.below(expression, bound, min(room, 10**6))
            value = nodes.Binary(pick(self.rng, ("min", "max")), variable, value)
        elif mentions(expression, target.name) or target.budget < 10**7:
            value, bound = self.scope.below(expression, bound + VARIABLE_BOUND, 1009)
        else:
            value, bound = self.scope.below(expression, bound, min(room, 10**6))
        target.budget -= bound
        return (nodes.Assign(target.name, value),)

    def grow(self, depth: int) -> nodes.Block | None:
        lists = [
            known
            for known in self.scope.free("list")
            if known.name not in self.scope.read and known.length + self.scope.runs <= MAX_RUNS
        ]
        if not lists:
            return None
        target = pick(self.rng, lists)
        value, _ = self.scope.below(*self.scope.number(1), target.bound)
        target.length += self.scope.runs
        self.scope.grown.add(target.name)
        return (nodes.Append(target.name, value),)

    def put(self, depth: int) -> nodes.Block | None:
        found = self.scope.place("list")
        if found is None:
            return None
        target, index = found
        value, _ = self.scope.below(*self.scope.number(1), target.bound)
        return (nodes.SetItem(target.name, index, value),)

    def say(self, depth: int) -> nodes.Block | None:
        """Lengthen a string."""
        strings = [
            known
            for known in self.scope.free("str")
            if known.name not in self.scope.read and known.length + 2 * self.scope.runs <= 200
        ]
        if not strings:
            return None
        target = pick(self.rng, strings)
        piece, length = self.scope.string()
        target.length += length * self.scope.runs
        self.scope.grown.add(target.name)
        sides = (
            (nodes.Var(target.name), piece)
            if self.scope.chance(0.7)
            else (piece, nodes.Var(target.name))
        )
        return (nodes.Assign(target.name, nodes.Binary("concat", *sides)),)

    def branch(self, depth: int) -> nodes.Block:
        condition = self.scope.condition(2)
        then = self.body(depth + 1, 2)
        return (
            nodes.If(condition, then, self.body(depth + 1, 2) if self.scope.chance(0.45) else ()),
        )

    def use_function(self, depth: int) -> nodes.Block | None:
        function, bound = pick(self.rng, self.functions)
        args: list[nodes.Expression] = []
        for _, kind in function.params:
            if kind == "list":
                lists = self.scope.of("list")
                if not lists or self.scope.runs > 60:
                    return None
                args.append(nodes.Var(pick(self.rng, lists).name))
            else:
                args.append(self.scope.below(*self.scope.number(0), VARIABLE_BOUND)[0])
        return self.store(nodes.Call(function.name, tuple(args)), bound)

    # Loops.

    def loop(
        self,
        counter: Known,
        runs: int,
        depth: int,
        bounds: tuple[nodes.Expression, nodes.Expression],
    ) -> nodes.Block:
        outer = self.scope.runs
        self.scope.runs = outer * runs
        self.scope.known.append(counter)
        body = self.body(depth + 1)
        self.scope.known.remove(counter)
        self.scope.runs = outer
        if outer == 1:
            self.scope.read.clear()
            self.scope.grown.clear()
        return (nodes.For(counter.name, *bounds, body),)

    def go_over(self, depth: int) -> nodes.Block | None:
        """Count through the indices of a sequence."""
        options = [
            known
            for known in (*self.scope.of("list"), *self.scope.of("str"))
            if known.length > 0
            and known.length * self.scope.runs <= MAX_RUNS
            and known.name not in self.scope.grown
        ]
        if not options:
            return None
        sequence = pick(self.rng, options)
        self.scope.read.add(sequence.name)
        counter = Known(
            self.scope.counter(), "int", sequence.length, locked=True, indexes=(sequence.name,)
        )
        start: nodes.Expression = nodes.Int(1) if self.scope.chance(0.15) else nodes.Int(0)
        outer = [known for known in self.scope.known if sequence.name in known.indexes]
        if outer and self.scope.chance(0.5):
            start = nodes.Binary("+", nodes.Var(outer[-1].name), nodes.Int(1))
        return self.loop(
            counter, sequence.length, depth, (start, nodes.Length(nodes.Var(sequence.name)))
        )

    def count(self, depth: int) -> nodes.Block | None:
        """Repeat a few times."""
        rounds = integer(self.rng, 3, 8)
        if rounds * self.scope.runs > MAX_RUNS:
            return None
        counter = Known(self.scope.counter(), "int", rounds + 3, locked=True)
        start = integer(self.rng, 0, 3)
        return self.loop(counter, rounds, depth, (nodes.Int(start), nodes.Int(start + rounds)))

    def shrink(self, depth: int) -> nodes.Block | None:
        """Divide or decrease a number until little is left of it."""
        if self.scope.runs > 40:
            return None
        start, _ = self.scope.below(*self.scope.number(0), 1000)
        name = self.scope.fresh("int")
        divisor = integer(self.rng, 2, 4)
        magnitude = nodes.Binary("max", start, -start)
        outer = self.scope.runs
        self.scope.runs = outer * 11
        known = Known(name, "int", 1000, locked=True)
        self.scope.known.append(known)
        body = self.body(depth + 1, 2)
        self.scope.runs = outer
        self.scope.known.remove(known)
        step = nodes.Assign(name, nodes.Var(name) // divisor)
        return (nodes.Let(name, "int", magnitude), nodes.While(nodes.Var(name) > 0, (*body, step)))

    # The end.

    def prints(self) -> nodes.Block:
        numbers = [nodes.Var(known.name) for known in self.scope.free("int")]
        result: list[nodes.Statement] = []
        if self.scope.chance(0.5) or len(numbers) < 2:
            result.append(nodes.Print(tuple(numbers[:3])))
        else:
            result += [nodes.Print((number,)) for number in numbers[:3]]
        for known in (*self.scope.free("list"), *self.scope.free("str")):
            if not known.length:
                continue
            if known.type == "list" and known.length > 3 * MAX_ITEMS:
                result.append(nodes.Print((nodes.Length(nodes.Var(known.name)),)))
            else:
                result.append(nodes.Print((nodes.Var(known.name),)))
        return tuple(result)
