"""Programs drawn from the whole grammar mean the same in every language.

What has no meaning (an index outside, a division by zero, a loop without end) is left out by
trying: the interpreter must accept a program on three inputs.
"""

import random

import pytest

from rlvr_envs.generators.programs.check import check, walk_expressions, walk_statements
from rlvr_envs.generators.programs.emit import EMITTED, emit
from rlvr_envs.generators.programs.interpret import IrError, interpret
from rlvr_envs.generators.programs.nodes import (
    Append,
    Assign,
    Binary,
    Bool,
    Call,
    For,
    Function,
    If,
    Index,
    Int,
    Length,
    Let,
    ListOf,
    Neg,
    Not,
    Print,
    Program,
    Return,
    SetItem,
    Str,
    Var,
    While,
    children,
)
from rlvr_envs.generators.programs.stdin import stdin_text
from rlvr_envs.sandboxes import languages
from rlvr_envs.sandboxes.base import Case, Limits
from rlvr_envs.sandboxes.shared import shared_sandbox

INPUTS = (("a", "int"), ("b", "int"), ("s", "str"), ("xs", "list"), ("ys", "list"))
TEXTS = ("", "a", "ab", " ", "x y", "$a", "\\n", '"', "'", "-n", "*", "a ", "`", "%d", "#{a}", "!")
NUMBERS = (0, 1, 2, 3, 5, 7, 10, 100, -1, -2, -6)
LEAST = 24  # statements; most programs that have a meaning are short
KINDS = ("int", "int", "bool", "str", "list")


class Wild:
    """Draws a program; it is well-formed, but may have no meaning."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.functions = []
        self.count = 0

    def chance(self, share):
        return self.random.random() < share

    def pick(self, items):
        return self.random.choice(tuple(items))

    def name(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def program(self):
        for _ in range(self.random.randint(0, 3)):
            self.function()
        names = dict(INPUTS)
        body = self.block(names, set(), 8, None, 3)
        for statement in body:
            if isinstance(statement, Let):
                names[statement.name] = statement.type
        shown = [self.shown(name, kind) for name, kind in names.items()]
        return Program(INPUTS, tuple(self.functions), (*body, *shown))

    def shown(self, name, kind):
        if kind == "bool":
            return If(Var(name), (Print((Str(name),)),))
        return Print((Var(name),))

    def function(self):
        params = (("p", "list"), *((self.name("q"), self.pick(KINDS)) for _ in range(2)))
        returns = self.pick(KINDS)
        names = dict(params)
        body = self.block(names, set(names), 3, returns, 2)
        result = Return(self.value(returns, names, 2))
        self.functions.append(Function(self.name("fun"), params, returns, (*body, result)))

    def block(self, names, fixed, size, returns, depth):
        names = dict(names)
        body = []
        for _ in range(self.random.randint(0, size)):
            body += self.statement(names, fixed, returns, depth)
        return tuple(body)

    def statement(self, names, fixed, returns, depth):
        free = [name for name in names if name not in fixed]
        kind = self.pick(["let", "set", "list", "if", "for", "while", "print"])
        if kind == "let":
            name, of = self.name("v"), self.pick(KINDS)
            made = [Let(name, of, self.value(of, names, 3))]
            names[name] = of
            return made
        if kind == "set" and free:
            name = self.pick(free)
            return [Assign(name, self.value(names[name], names, 3))]
        if kind == "list" and any(names[name] == "list" for name in free):
            name = self.pick(name for name in free if names[name] == "list")
            value = self.value("int", names, 3)
            place = Binary("%", self.value("int", names, 2), Length(Var(name)))
            return [Append(name, value) if self.chance(0.5) else SetItem(name, place, value)]
        if depth > 0 and kind in ("if", "for", "while"):
            return self.nested(kind, names, fixed, returns, depth - 1)
        if returns is None:
            return [Print(tuple(self.value(self.pick(("int", "str")), names, 3) for _ in "ab"))]
        return []

    def nested(self, kind, names, fixed, returns, depth):
        if kind == "if":
            then = self.block(names, fixed, 2, returns, depth)
            if returns and self.chance(0.4):
                then = (Return(self.value(returns, names, 2)),)
            otherwise = self.block(names, fixed, 2, returns, depth)
            return [If(self.value("bool", names, 4), then, otherwise)]
        name = self.name("i")
        if kind == "for":
            start = self.value("int", names, 1)
            stop = Binary("min", self.value("int", names, 2), start + self.random.randint(0, 4))
            body = self.block({**names, name: "int"}, fixed | {name}, 3, returns, depth)
            return [For(name, start, stop, body)]
        first = Let(name, "int", Int(0))
        names[name] = "int"
        fixed.add(name)
        few, more = Var(name) < self.random.randint(1, 4), self.value("bool", names, 3)
        body = self.block(names, fixed, 2, returns, depth)
        condition = few & more if self.chance(0.5) else more & few
        return [first, While(condition, (Assign(name, Var(name) + 1), *body))]

    def value(self, kind, names, depth):
        if depth <= 0 or self.chance(0.15):
            return self.leaf(kind, names)
        able = [function for function in self.functions if function.returns == kind]
        if able and self.chance(0.25):
            function = self.pick(able)
            given = [self.argument(of, names, depth - 1) for _, of in function.params]
            return Call(function.name, tuple(given))
        return getattr(self, f"{kind}_value")(names, depth - 1)

    def leaf(self, kind, names):
        known = [Var(name) for name, of in names.items() if of == kind]
        if known and self.chance(0.75):
            return self.pick(known)
        made = {"int": Int, "bool": Bool, "str": Str, "list": ListOf}[kind]
        return made(
            self.pick({"int": NUMBERS, "bool": (True, False), "str": TEXTS}.get(kind, ((),)))
        )

    def argument(self, kind, names, depth):
        return self.a_list(names) if kind == "list" else self.value(kind, names, depth)

    def a_list(self, names):
        return Var(self.pick(name for name, of in names.items() if of == "list"))

    def int_value(self, names, depth):
        form = self.pick(["operator", "operator", "operator", "minus", "letters", "items", "index"])
        if form == "operator":
            op = self.pick(["+", "-", "*", "//", "%", "min", "max", "+", "-"])
            return Binary(op, self.value("int", names, depth), self.value("int", names, depth))
        if form == "minus":
            return Neg(self.value("int", names, depth))
        if form == "letters":
            return Length(self.value("str", names, depth))
        items = self.a_list(names)
        place = Binary("%", self.value("int", names, depth - 1), Length(items))
        return Length(items) if form == "items" else Index(items, place)

    def bool_value(self, names, depth):
        form = self.pick(["and", "or", "not", "str", "int", "int"])
        if form == "not":
            return Not(self.value("bool", names, depth))
        if form in ("and", "or"):
            return Binary(form, self.value("bool", names, depth), self.value("bool", names, depth))
        op = (
            self.pick(("==", "!="))
            if form == "str"
            else self.pick(["<", "<=", ">", ">=", "==", "!="])
        )
        return Binary(op, self.value(form, names, depth), self.value(form, names, depth))

    def str_value(self, names, depth):
        first = self.value("str", names, depth)
        if self.chance(0.5):
            return Binary("concat", first, self.value("str", names, depth))
        return Index(first, Binary("%", self.value("int", names, depth - 1), Length(first)))

    def list_value(self, names, depth):
        if self.chance(0.5):
            return self.a_list(names)
        return ListOf(tuple(self.value("int", names, depth) for _ in range(3)))


def known_to_fail(expression):
    """A compiler may refuse what it sees to divide by zero or to lie outside, even if unused."""
    match expression:
        case Binary("//" | "%", _, right):
            found = constant(right) and not (isinstance(right, Int) and right.value)
        case Index(_, place):
            found = constant(place)
        case _:
            found = False
    return found or any(map(known_to_fail, children(expression)))


def constant(expression):
    if isinstance(expression, (Var, Call)):
        return False
    return all(map(constant, children(expression)))


def program_with_cases(seed):
    """Return the first program from a seed on that has a meaning, and inputs with their outputs."""
    for attempt in range(seed * 5000, seed * 5000 + 5000):
        program = check(Wild(attempt).program())
        bodies = [program.body, *(function.body for function in program.functions)]
        if sum(1 for body in bodies for _ in walk_statements(body)) < LEAST:
            continue
        if any(known_to_fail(e) for body in bodies for e in walk_expressions(body)):
            continue
        draw = random.Random(attempt)
        cases = [
            {
                "a": draw.randint(-9, 9),
                "b": draw.choice((draw.randint(-9, 9), 10**9)),
                "s": draw.choice(("a", "ab", "x y", "b$a", "abcabc")),
                "xs": [draw.randint(-5, 5) for _ in range(draw.randint(0, 5))],
                "ys": [draw.randint(-99, 99) for _ in range(draw.randint(1, 4))],
            }
            for _ in range(3)
        ]
        try:
            outputs = [interpret(program, case, max_steps=20_000).output for case in cases]
        except IrError:
            continue
        return program, list(zip(cases, outputs, strict=True))
    raise AssertionError(f"no program has a meaning among the many of seed {seed}")


@pytest.mark.parametrize("language", EMITTED)
@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.slow) for s in (1, 2))])
def test_a_wild_program_means_the_same_in_every_language(seed, language):
    found = languages.find(language)
    if not found.available():
        pytest.skip(f"{language} is not installed: {found.install}")
    program, cases = program_with_cases(seed)
    source = emit(program, language)
    runs = [Case(stdin=stdin_text(program, inputs).encode()) for inputs, _ in cases]
    results = shared_sandbox().run_batch(found.job(source, limits=Limits(cpu_s=20)), runs)
    for (inputs, expected), result in zip(cases, results, strict=True):
        assert result.ok, (inputs, result.detail, result.stderr.decode(), source)
        assert result.stdout.decode() == expected, (inputs, source)
