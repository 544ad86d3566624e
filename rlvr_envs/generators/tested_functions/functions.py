"""Small functions made of rules, each with the words that specify it and inputs that try it out."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from rlvr_envs.core.seeding import Rng, integer, pick, stream
from rlvr_envs.generators.programs import nodes
from rlvr_envs.generators.programs.emit import emit

Argument: TypeAlias = int | str | tuple[int, ...]
Args: TypeAlias = tuple[Argument, ...]

_LETTERS = "abcxy"
_MANY = 4  # rules


class Said(NamedTuple):
    """A part of a function, with its words."""

    node: nodes.Expression
    words: str


class Rule(NamedTuple):
    """What is done where a condition holds."""

    condition: Said
    then: nodes.Block
    words: str


@dataclass(frozen=True, slots=True)
class Tested:
    """A function to be tested."""

    function: nodes.Function  # what it is
    specification: str  # what it does, in words that settle every case
    numbers: tuple[int, ...]  # the numbers in its rules; inputs near them are the telling ones

    @property
    def program(self) -> nodes.Program:
        """The program that prints the function's result for its arguments."""
        names = tuple(nodes.Var(name) for name, _ in self.function.params)
        body = (nodes.Print((nodes.Call(self.function.name, names),)),)
        return nodes.Program(self.function.params, (self.function,), body)

    @property
    def source(self) -> str:
        """The function in Python."""
        return emit(self.program, "python").split("\n\n\n")[0]


class _Numbers:
    """Draws numbers and remembers them."""

    def __init__(self, rng: Rng) -> None:
        self.rng = rng
        self.drawn: set[int] = set()

    def draw(self, low: int, high: int) -> int:
        number = integer(self.rng, low, high)
        self.drawn.add(number)
        return number


_ORDERS = {
    ">": "is greater than",
    "<": "is less than",
    ">=": "is at least",
    "<=": "is at most",
}


def _compared(numbers: _Numbers, subjects: tuple[Said, ...], span: int) -> Said:
    """Draw a comparison of one of the subjects with a number, or a remainder."""
    rng = numbers.rng
    subject = pick(rng, subjects)
    if rng.random() < 0.25:
        divisor = integer(rng, 2, 5)
        rest = integer(rng, 0, divisor - 1)
        numbers.drawn |= {divisor, rest}
        node = (subject.node % divisor).eq(rest)
        whole = f"({subject.words})" if " + " in subject.words or " - " in subject.words else ""
        return Said(node, f"{whole or subject.words} modulo {divisor} is {rest}")
    op = pick(rng, tuple(_ORDERS))
    bound = numbers.draw(2, span)
    return Said(
        nodes.Binary(op, subject.node, nodes.Int(bound)), f"{subject.words} {_ORDERS[op]} {bound}"
    )


def _condition(numbers: _Numbers, subjects: tuple[Said, ...], n_rules: int) -> Said:
    """Draw a comparison, or two joined by "and" or "or"; of many rules, most are narrow."""
    span = 9 + 4 * n_rules
    first = _compared(numbers, subjects, span)
    if numbers.rng.random() < (0.6 if n_rules < _MANY else 0.2):
        return first
    second = _compared(numbers, subjects, span)
    joined = pick(numbers.rng, ("and", "or" if n_rules < _MANY else "and"))
    node = nodes.Binary(joined, first.node, second.node)
    return Said(node, f"{first.words} {joined} {second.words}")


def _rules_in_words(rules: list[Rule]) -> str:
    lines = [
        f"{number}. If {rule.condition.words}, {rule.words}."
        for number, rule in enumerate(rules, 1)
    ]
    return "\n".join(lines)


def _chain(rules: list[Rule], otherwise: nodes.Block) -> nodes.Block:
    """Return the rules as one statement: the first that applies decides."""
    block = otherwise
    for rule in reversed(rules):
        block = (nodes.If(rule.condition.node, rule.then, block),)
    return block


def _of_numbers(numbers: _Numbers, name: str, n_rules: int) -> tuple[nodes.Function, str]:
    a, b = Said(nodes.Var("a"), "a"), Said(nodes.Var("b"), "b")
    subjects = (a, b, Said(a.node + b.node, "a + b"), Said(a.node - b.node, "a - b"))
    rules = []
    for _ in range(n_rules):
        result = _result(numbers, a, b)
        condition = _condition(numbers, subjects, n_rules)
        rules.append(Rule(condition, (nodes.Return(result.node),), f"return {result.words}"))
    last = _result(numbers, a, b)
    branches = [nodes.If(rule.condition.node, rule.then) for rule in rules]
    body: nodes.Block = (*branches, nodes.Return(last.node))
    words = (
        f"`{name}(a, b)` takes two integers and returns an integer. It follows the first of these "
        f"rules whose condition holds:\n\n{_rules_in_words(rules)}\n\nIf no condition holds, "
        f"return {last.words}."
    )
    return nodes.Function(name, (("a", "int"), ("b", "int")), "int", body), words


def _result(numbers: _Numbers, a: Said, b: Said) -> Said:
    """Draw what a rule returns."""
    one, other = pick(numbers.rng, ((a, b), (b, a)))
    factor, shift = numbers.draw(2, 6), numbers.draw(1, 12)
    options = (
        Said(nodes.Int(shift), f"{shift}"),
        Said(one.node * factor + shift, f"{one.words} * {factor} + {shift}"),
        Said(one.node - shift, f"{one.words} - {shift}"),
        Said(
            nodes.Binary("max", one.node, other.node) + shift,
            f"the larger of {one.words} and {other.words}, plus {shift}",
        ),
        Said(
            nodes.Binary("min", one.node, other.node) * factor,
            f"{factor} times the smaller of {one.words} and {other.words}",
        ),
        Said(one.node * factor - other.node, f"{one.words} * {factor} - {other.words}"),
    )
    return pick(numbers.rng, options)


def _of_list(numbers: _Numbers, name: str, n_rules: int) -> tuple[nodes.Function, str]:
    rng = numbers.rng
    x, total = nodes.Var("x"), nodes.Var("total")
    subjects = (Said(x, "the item"), Said(x, "the item"), Said(total, "the total so far"))
    rules = [
        Rule(_condition(numbers, subjects, n_rules), *_update(numbers)) for _ in range(n_rules)
    ]
    start, cap = numbers.draw(0, 9), numbers.draw(20, 60)
    loop = (
        nodes.Let("x", "int", nodes.Index(nodes.Var("items"), nodes.Var("i"))),
        *_chain(rules, (nodes.Assign("total", total + x),)),
    )
    body: nodes.Block = (
        nodes.Let("total", "int", nodes.Int(start)),
        nodes.For("i", nodes.Int(0), nodes.Length(nodes.Var("items")), loop),
        *((nodes.If(total > cap, (nodes.Return(nodes.Int(cap)),)),) if rng.random() < 0.6 else ()),
        nodes.Return(total),
    )
    capped = f", or {cap} if the total is greater than {cap}" if len(body) == 4 else ""
    words = (
        f"`{name}(items)` takes a list of integers and returns an integer. The total starts at "
        f"{start}. For each item, in order, follow the first of these rules whose condition holds:"
        f"\n\n{_rules_in_words(rules)}\n\nIf no condition holds, add the item to the total. At the "
        f"end, return the total{capped}."
    )
    return nodes.Function(name, (("items", "list"),), "int", body), words


def _update(numbers: _Numbers) -> tuple[nodes.Block, str]:
    """Draw what a rule does to the total."""
    x, total = nodes.Var("x"), nodes.Var("total")
    number = numbers.draw(2, 9)
    options: tuple[tuple[nodes.Expression, str], ...] = (
        (total - number, f"subtract {number} from the total"),
        (total + x * number, f"add {number} times the item to the total"),
        (total + number, f"add {number} to the total"),
        (nodes.Int(number), f"set the total to {number}"),
        (nodes.Binary("max", total, x), "set the total to the larger of the total and the item"),
        (total - x, "subtract the item from the total"),
    )
    value, words = pick(numbers.rng, options)
    return (nodes.Assign("total", value),), words


def _of_text(numbers: _Numbers, name: str, n_rules: int) -> tuple[nodes.Function, str]:
    rng = numbers.rng
    out, char = nodes.Var("out"), nodes.Var("char")
    rules = [Rule(_char_condition(numbers), *_extension(rng)) for _ in range(n_rules)]
    limit, mark = numbers.draw(2, 6), pick(rng, ("!", "?", "#"))
    loop = (
        nodes.Let("char", "str", nodes.Index(nodes.Var("text"), nodes.Var("i"))),
        *_chain(rules, (nodes.Assign("out", nodes.Binary("concat", out, char)),)),
        nodes.Assign("previous", char),
    )
    body: nodes.Block = (
        nodes.Let("out", "str", nodes.Str("")),
        nodes.Let("previous", "str", nodes.Str("")),
        nodes.For("i", nodes.Int(0), nodes.Length(nodes.Var("text")), loop),
        nodes.If(
            nodes.Length(out) > limit, (nodes.Return(nodes.Binary("concat", out, nodes.Str(mark))),)
        ),
        nodes.Return(out),
    )
    words = (
        f"`{name}(text)` takes a string and returns a string. The result starts empty. For each "
        "character, in order, follow the first of these rules whose condition holds:\n\n"
        f"{_rules_in_words(rules)}\n\nIf no condition holds, append the character to the result. "
        "At "
        f'the end, if the result is longer than {limit} characters, append "{mark}" to it. Return '
        "the result."
    )
    return nodes.Function(name, (("text", "str"),), "str", body), words


def _char_condition(numbers: _Numbers) -> Said:
    rng = numbers.rng
    letter, other = pick(rng, _LETTERS), pick(rng, _LETTERS)
    divisor, length = integer(rng, 2, 3), numbers.draw(1, 5)
    rest = integer(rng, 0, divisor - 1)
    char, previous = nodes.Var("char"), nodes.Var("previous")
    options = (
        Said(char.eq(letter), f'the character is "{letter}"'),
        Said(char.eq(letter), f'the character is "{letter}"'),
        Said(char.eq(previous), "the character equals the character before it"),
        Said(
            previous.eq(letter) & char.ne(other),
            f'the character before it is "{letter}" and the character is not "{other}"',
        ),
        Said(
            (nodes.Var("i") % divisor).eq(rest), f"its position (from 0) modulo {divisor} is {rest}"
        ),
        Said(
            nodes.Length(nodes.Var("out")) >= length,
            f"the result has at least {length} characters so far",
        ),
    )
    return pick(rng, options)


def _extension(rng: Rng) -> tuple[nodes.Block, str]:
    """Draw what a rule does to the result."""
    out, char, letter = nodes.Var("out"), nodes.Var("char"), pick(rng, "pqrst")
    options: tuple[tuple[nodes.Expression, str], ...] = (
        (nodes.Binary("concat", out, nodes.Str(letter)), f'append "{letter}" to the result'),
        (
            nodes.Binary("concat", nodes.Binary("concat", out, char), nodes.Str(letter)),
            f'append the character and then "{letter}" to the result',
        ),
        (
            nodes.Binary("concat", nodes.Binary("concat", out, char), char),
            "append the character to the result twice",
        ),
        (nodes.Binary("concat", char, out), "put the character in front of the result"),
    )
    value, words = pick(rng, options)
    return (nodes.Assign("out", value),), words


_Maker: TypeAlias = Callable[[_Numbers, str, int], tuple[nodes.Function, str]]
_KINDS: dict[str, tuple[_Maker, tuple[str, ...]]] = {
    "numbers": (_of_numbers, ("settle", "rate", "gauge", "weigh", "assess", "quote")),
    "list": (_of_list, ("tally", "collect", "balance", "gather", "sweep", "reckon")),
    "text": (_of_text, ("rewrite", "encode", "respell", "mangle", "transcribe", "convert")),
}
KINDS = tuple(_KINDS)


@lru_cache(maxsize=512)
def rule_function(kind: str, n_rules: int, seed: int) -> Tested:
    """Return the function of a kind, a number of rules and a seed."""
    rng = stream("tested_function", kind, n_rules, seed)
    make, names = _KINDS[kind]
    numbers = _Numbers(rng)
    function, words = make(numbers, pick(rng, names), n_rules)
    return Tested(function, words, tuple(sorted(numbers.drawn)))


def trial_inputs(rng: Rng, subject: Tested, count: int) -> list[Args]:
    """Draw different arguments, many of them at the edges of the rules."""
    near = sorted({n + d for n in (*subject.numbers, 0) for d in (-1, 0, 1)})
    found: dict[Args, None] = {}
    for _ in range(count):
        args = tuple(_argument(rng, variable, near) for variable in subject.function.params)
        found.setdefault(args)
    return list(found)


def _argument(rng: Rng, variable: nodes.Variable, near: list[int]) -> Argument:
    kind: nodes.Type = variable[1]
    if kind == "int":
        return _number(rng, near)
    if kind == "list":
        return tuple(_number(rng, near) for _ in range(integer(rng, 0, 4)))
    letters = _LETTERS + "z"
    return "".join(pick(rng, letters) for _ in range(integer(rng, 0, 6)))


def _number(rng: Rng, near: list[int]) -> int:
    return pick(rng, near) if rng.random() < 0.6 else integer(rng, -12, 40)
