"""Expressions of whole numbers with ``+``, ``-``, ``*``, ``/``: reading, writing, searching.

Reading is exact, bounded and without ``eval``: a text is an expression as a whole or not at all.
"""

import ast
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise

from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.verifiers import parse

MAX_CHARACTERS = 2_000
MAX_DEPTH = 100
MAX_DIGITS = 15
# An expression of so many such numbers stays within the characters that are read.
MAX_NUMBERS, LARGEST_NUMBER = 60, 10**12

_SPELLINGS = {
    **dict.fromkeys(("×", "·", "⋅", "∗", r"\times", r"\cdot", r"\ast"), "*"),
    **dict.fromkeys(("÷", r"\div"), "/"),
    **dict.fromkeys(("−", "–"), "-"),
    **dict.fromkeys((r"\left(", "["), "("),
    **dict.fromkeys((r"\right)", "]"), ")"),
    **dict.fromkeys((r"\dfrac", r"\tfrac"), r"\frac"),
}
_SPELLING = re.compile("|".join(map(re.escape, sorted(_SPELLINGS, key=len, reverse=True))))
_SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_TOKEN = re.compile(rf"\s*([0-9]{{1,{MAX_DIGITS}}}|[-+*/(){{}}]|\\frac)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression's exact value, and the numbers in it from left to right."""

    value: Fraction
    numbers: tuple[int, ...]


class _UnreadableError(Exception):
    pass


def read_expression(text: str) -> Expression | None:
    """Return the expression that a text is; None if it is none or divides by zero."""
    if len(text) > MAX_CHARACTERS:
        return None
    plain = _SPELLING.sub(lambda found: _SPELLINGS[found[0]], text.strip().strip("$")).strip()
    tokens, at = [], 0
    while at < len(plain):
        found = _TOKEN.match(plain, at)
        if found is None:
            return None
        tokens.append(found[1])
        at = found.end()
    # Two numbers side by side are refused by the grammar, but 16 digits must not become two.
    if any(a.isdigit() and b.isdigit() for a, b in pairwise(tokens)):
        return None
    reader = _Reader(tokens)
    try:
        value = reader.sum(0)
    except (_UnreadableError, ZeroDivisionError):
        return None
    return Expression(value, tuple(reader.numbers)) if reader.at == len(tokens) else None


class _Reader:
    """Recursive descent: a sum of products of signed numbers, fractions and groups."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.at = 0
        self.numbers: list[int] = []

    def next_is(self, choices: str) -> str | None:
        """Take the next token if it is one of these characters."""
        if self.at < len(self.tokens) and self.tokens[self.at] in tuple(choices):
            self.at += 1
            return self.tokens[self.at - 1]
        return None

    def sum(self, depth: int) -> Fraction:
        total = self.product(depth)
        while sign := self.next_is("+-"):
            term = self.product(depth)
            total = total + term if sign == "+" else total - term
        return total

    def product(self, depth: int) -> Fraction:
        result = self.factor(depth)
        while sign := self.next_is("*/"):
            other = self.factor(depth)
            result = result * other if sign == "*" else result / other
        return result

    def group(self, brackets: str, depth: int) -> Fraction:
        if not self.next_is(brackets[0]):
            raise _UnreadableError
        value = self.sum(depth + 1)
        if not self.next_is(brackets[1]):
            raise _UnreadableError
        return value

    def factor(self, depth: int) -> Fraction:
        if depth > MAX_DEPTH or self.at == len(self.tokens):
            raise _UnreadableError
        if self.next_is("-"):
            return -self.factor(depth + 1)
        piece = self.tokens[self.at]
        if piece == "(":
            return self.group("()", depth)
        self.at += 1
        if piece == r"\frac":
            top = self.group("{}", depth)
            return top / self.group("{}", depth)
        if not piece.isdigit():
            raise _UnreadableError
        self.numbers.append(int(piece))
        return Fraction(self.numbers[-1])


def judge_expression(answer: str, numbers: Sequence[int], target: int, *, use_all: bool) -> Verdict:
    """Judge whether a text is an expression of the numbers, each used once, with the target.

    "= target" may follow. Without ``use_all``, numbers may be left out.
    """
    left, equals, right = answer.rstrip().removesuffix(".").partition("=")
    expression = read_expression(left)
    if expression is None or (equals and parse.integer(right.strip().strip("$")) != target):
        return Verdict.unparsable(
            "expected one expression of whole numbers, +, -, *, / and parentheses"
        )
    used, given = Counter(expression.numbers), Counter(numbers)
    if used - given:
        number = min(used - given)
        return Verdict.wrong(f"{number} is used more often than it is given")
    if use_all and used != given:
        return Verdict.wrong(f"the given number {min(given - used)} is not used")
    if expression.value != target:
        return Verdict.wrong(f"the value is {expression.value!s:.60}, not {target}")
    return Verdict.correct()


@dataclass(frozen=True, slots=True)
class Term:
    """A value with its text, for building expressions whose results are whole and positive."""

    value: int
    text: str
    rank: int = 3  # 1 for a sum or difference, 2 for a product or quotient, 3 for a number


def combined(a: Term, operation: str, b: Term) -> Term | None:
    """Return ``a operation b`` if it is a positive whole number and does something."""
    if operation == "+":
        return Term(a.value + b.value, f"{a.text} + {b.text}", 1)
    if operation == "-":
        right = b.text if b.rank > 1 else f"({b.text})"
        return Term(a.value - b.value, f"{a.text} - {right}", 1) if a.value > b.value else None
    left = a.text if a.rank > 1 else f"({a.text})"
    if operation == "*":
        right = b.text if b.rank > 1 else f"({b.text})"
        return (
            Term(a.value * b.value, f"{left} * {right}", 2) if min(a.value, b.value) > 1 else None
        )
    right = b.text if b.rank > 2 else f"({b.text})"
    whole = b.value > 1 and a.value % b.value == 0
    return Term(a.value // b.value, f"{left} / {right}", 2) if whole else None


def random_term(rng: Rng, numbers: Sequence[int], limit: int) -> Term | None:
    """Combine all the numbers at random; None where no step stays within the limit."""
    terms = [Term(number, str(number)) for number in numbers]
    while len(terms) > 1:
        first, second = (terms.pop(int(rng.integers(len(terms)))) for _ in range(2))
        high, low = (first, second) if first.value >= second.value else (second, first)
        choices = [combined(high, operation, low) for operation in "+-**/"]
        possible = [term for term in choices if term is not None and term.value <= limit]
        if not possible:
            return None
        terms.append(pick(rng, possible))
    return terms[0]


def closest_of_a_few(rng: Rng, numbers: Sequence[int], target: int, *, use_all: bool) -> str:
    """Return the best of ten random expressions."""
    best = Term(sum(numbers), " + ".join(map(str, numbers)))
    for _ in range(10):
        count = (
            len(numbers) if use_all else int(rng.integers(min(2, len(numbers)), len(numbers) + 1))
        )
        chosen = [numbers[i] for i in rng.permutation(len(numbers))[:count].tolist()]
        term = random_term(rng, chosen, 10 * target)
        if term is not None and abs(term.value - target) < abs(best.value - target):
            best = term
    return best.text


def search_effort(numbers: Sequence[int], target: int, *, use_all: bool, limit: int) -> int:
    """Count the results computed until a depth-first search finds the target, up to a limit.

    The search replaces two numbers by their result; all results are whole and positive.
    """
    start = tuple(sorted(numbers))
    stack, seen = [start], {start}
    computed = 0
    while stack:
        here = stack.pop()
        for i in range(len(here) - 1, 0, -1):
            for j in range(i):
                rest = here[:j] + here[j + 1 : i] + here[i + 1 :]
                for value in _results(here[i], here[j]):
                    computed += 1
                    found = value == target and not (use_all and rest)
                    if found or computed >= limit:
                        return computed
                    state = tuple(sorted((*rest, value)))
                    if len(state) > 1 and state not in seen:
                        seen.add(state)
                        stack.append(state)
    return computed


def _results(high: int, low: int) -> list[int]:
    found = [high + low]
    if high > low:
        found.append(high - low)
    if low > 1:
        found.append(high * low)
        if high % low == 0:
            found.append(high // low)
    return found


def fewest_numbers(numbers: Sequence[int], target: int, *, most: int) -> int:
    """Return how many of the numbers make the target at least; ``most`` where fewer do not.

    All results on the way are whole and positive.
    """
    ordered = sorted(numbers)
    for count in range(1, most):
        if any(_makes(chosen, target) for chosen in set(combinations(ordered, count))):
            return count
    return most


_SMALL = 3  # numbers whose values are listed; more are split into two groups


def _makes(numbers: tuple[int, ...], target: int) -> bool:
    """Return whether an expression of all the numbers, in ascending order, has a value."""
    if len(numbers) <= _SMALL:
        return target in _values(numbers)
    return any(
        rest in _values(others) if len(others) <= _SMALL else _makes(others, rest)
        for some, others in _splits(numbers)
        for value in _values(some)
        for rest in _partners(target, value)
    )


@lru_cache(maxsize=50_000)
def _values(numbers: tuple[int, ...]) -> frozenset[int]:
    """Return the values of the expressions of all of a few numbers."""
    if len(numbers) == 1:
        return frozenset(numbers)
    pairs = (
        (max(a, b), min(a, b))
        for some, others in _splits(numbers)
        for a in _values(some)
        for b in _values(others)
    )
    return frozenset(value for high, low in pairs for value in _results(high, low))


def _splits(numbers: tuple[int, ...]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return the ways to cut numbers into two groups, the first at most as large."""
    found = []
    places = range(len(numbers))
    for size in range(1, len(numbers) // 2 + 1):
        for chosen in combinations(places, size):
            some = tuple(numbers[i] for i in chosen)
            found.append((some, tuple(numbers[i] for i in places if i not in chosen)))
    return found


def _partners(target: int, value: int) -> list[int]:
    """Return the numbers that make the target together with a value, in one operation."""
    found = [target + value, value - target, target - value, target * value]
    if target % value == 0:
        found.append(target // value)
    if value % target == 0:
        found.append(value // target)
    return [number for number in found if number > 0]


def worked_backwards(expression: str, target: int) -> list[str]:
    """Return the operations of an expression from the last one back, each with what it needs.

    All results must be whole numbers.
    """
    steps = []
    waiting = [(ast.parse(expression, mode="eval").body, target)]
    for node, value in waiting:  # grows while it is read
        if not isinstance(node, ast.BinOp):
            continue
        sides = [(side, _whole(side)) for side in (node.left, node.right)]
        waiting += sides
        a, b = (number for _, number in sides)
        made = [n for side, n in sides if isinstance(side, ast.BinOp)]
        given = [n for side, n in sides if not isinstance(side, ast.BinOp)]
        if not made:
            rest = "both are given"
        elif given:
            rest = f"{given[0]} is given, and {made[0]} is made of other numbers"
        else:
            rest = "both are made of other numbers"
        steps.append(f"{value} = {a} {_SIGNS[type(node.op)]} {b}: {rest}.")
    return steps


def _whole(node: ast.expr) -> int:
    """Return the value of a part of an expression of whole numbers."""
    value = read_expression(ast.unparse(node))
    return 0 if value is None else int(value.value)
