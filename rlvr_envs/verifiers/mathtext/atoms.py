"""The innermost part of the grammar: numbers, symbols, functions, fractions, brackets, matrices."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction

from rlvr_envs.verifiers.mathtext import nodes
from rlvr_envs.verifiers.mathtext.cursor import Cursor
from rlvr_envs.verifiers.mathtext.functions import apply, numeral
from rlvr_envs.verifiers.mathtext.lexer import Token, Unreadable
from rlvr_envs.verifiers.mathtext.nodes import Node, Num, Sym
from rlvr_envs.verifiers.mathtext.normalise import plain_words
from rlvr_envs.verifiers.mathtext.values import (
    Braces,
    Grid,
    Group,
    Listing,
    Scalar,
    Text,
    Value,
)

_CLOSERS = {"(": (")", "]"), "[": ("]", ")"), "langle": ("rangle",)}
_MATRICES = frozenset(("pmatrix", "bmatrix", "matrix", "Bmatrix", "smallmatrix", "array", "cases"))
_ALWAYS_FUNCTIONS = frozenset("fghFGH")
_OFTEN_FUNCTIONS = frozenset("fghFGHpqPQuvwxyzIVTNWSDAR") | {"phi", "psi", "delta", "theta", "Phi"}
_INVERTIBLE = frozenset(("sin", "cos", "tan", "cot", "sec", "csc"))


class AtomParser(Cursor, ABC):
    """Reads what stands between operators; brackets lead back to the whole grammar."""

    def __init__(self, tokens: list[Token]) -> None:
        super().__init__(tokens)
        self.bars = 0  # how many absolute values are open

    @abstractmethod
    def listing(self) -> Value:
        """Read a whole answer, lists included."""

    @abstractmethod
    def clause(self) -> Value:
        """Read an item of a list: a value or a chain of relations."""

    @abstractmethod
    def sum(self) -> Value:
        """Read a sum."""

    @abstractmethod
    def power(self) -> Value:
        """Read a primary and the powers after it."""

    @abstractmethod
    def starts_factor(self) -> bool:
        """Whether a factor begins at the current token."""

    @abstractmethod
    def sign(self) -> Node | None:
        """Read any run of signs and return its product, None when there is none."""

    @abstractmethod
    def joined(self, joiners: tuple[str, ...], read: Callable[[], Value]) -> Value:
        """Read items with joiners between them."""

    def primary(self) -> Value:
        """Read a number, symbol, function call, bracket or matrix."""
        token = self.peek()
        if token.kind == "op":
            return self._operator(token.text)
        if token.kind == "num":
            self.at += 1
            return Scalar(numeral(token.text))
        if token.kind == "const":
            self.at += 1
            return Scalar(nodes.Const(token.text))
        if token.kind in ("sym", "fun"):
            return Scalar(self._symbol() if token.kind == "sym" else self._function())
        if token.kind in ("begin", "text"):
            return self._matrix() if token.kind == "begin" else self._words()
        raise Unreadable(f"unexpected {token.text[:20] or token.kind!r}")

    def _words(self) -> Value:
        words = []
        while self.peek().kind == "text":
            words.append(self.peek().text)
            self.at += 1
        ahead = [self.peek(place) for place in range(4)]
        if [ahead[0].text, ahead[1].kind, ahead[2].text, ahead[3].text] == ["(", "sym", ")", "="]:
            self.at += 3  # the A of rank(A) = 2
        return Text(plain_words(" ".join(words)))

    def _operator(self, text: str) -> Value:
        if text in _CLOSERS:
            return self._group(text)
        if text in ("\\{", "{"):
            return self._braces(text)
        if text in ("|", "||"):
            return self._absolute(text)
        if text in ("lfloor", "lceil", "frac", "binom", "sqrt"):
            self.at += 1
            return Scalar(self._marked(text))
        if text == "empty":
            self.at += 1
            return Braces(())
        raise Unreadable(f"unexpected {text!r}")

    def _marked(self, text: str) -> Node:
        if text == "sqrt":
            return self._root()
        if text in ("frac", "binom"):
            return self._fraction(text)
        inside = scalar(self.sum())
        self.expect("rfloor" if text == "lfloor" else "rceil")
        return apply("floor" if text == "lfloor" else "ceil", (inside,))

    def _group(self, opening: str) -> Value:
        self.at += 1
        bars, self.bars = self.bars, 0
        inner = self.joined((",", ";"), self.clause)
        closing = self.expect(*_CLOSERS[opening])
        self.bars = bars
        if isinstance(inner, Listing):
            return Group(opening, inner.items, closing)
        if (opening, closing) not in (("(", ")"), ("[", "]")):
            raise Unreadable("a half-open bracket around one value")
        return inner

    def _braces(self, opening: str) -> Value:
        self.at += 1
        closing = "\\}" if opening == "\\{" else "}"
        if self.take(closing):
            if opening == "{":
                raise Unreadable("an empty group")
            return Braces(())
        bars, self.bars = self.bars, 0
        described = opening == "\\{" and self._skip_description()
        inner = self.listing()
        self.expect(closing)
        self.bars = bars
        if opening == "{" or described:
            return inner
        return Braces(inner.items if isinstance(inner, Listing) else (inner,))

    def _skip_description(self) -> bool:
        """Step over the ``x |`` or ``x in R :`` of a set given by a condition."""
        ahead = 3 if self.peek(1).text == "in" and self.peek(2).text.startswith("mathbb") else 1
        if self.peek().kind != "sym" or self.peek(ahead).text not in ("|", ":"):
            return False
        self.at += ahead + 1
        return True

    def _absolute(self, bar: str) -> Value:
        self.at += 1
        self.bars += 1
        inside = scalar(self.sum())
        self.expect(bar)
        self.bars -= 1
        return Scalar(apply("abs", (inside,)))

    def _fraction(self, text: str) -> Node:
        if text == "frac":
            quotient = self._derivative()
            if quotient is not None:
                return quotient
        top, bottom = self._single(), self._single()
        return nodes.div(top, bottom) if text == "frac" else apply("binomial", (top, bottom))

    def _derivative(self) -> Node | None:
        r"""Read ``\frac{dy}{dx}`` as one unknown, not as a quotient of products."""
        pieces: list[str] = []
        depth, groups, opened = 0, 0, 0
        for token in self.tokens[self.at : self.at + 24]:
            if token.text == "{" and depth == 0:
                opened = len(pieces)
            depth += {"{": 1, "}": -1}.get(token.text, 0)
            pieces.append(token.text)
            groups += token.text == "}" and depth == 0
            if groups == 2 or (depth <= 0 and token.text != "}"):
                break
        if groups != 2 or pieces[1] not in ("d", "partial") or pieces[opened + 1] != pieces[1]:
            return None
        self.at += len(pieces)
        return Sym("".join(piece for piece in pieces if piece not in "{}"))

    def _root(self) -> Node:
        degree: Node = Num(Fraction(2))
        if self.take("["):
            degree = scalar(self.sum())
            self.expect("]")
        inside = self.argument()
        return (
            nodes.power(inside, nodes.HALF)
            if degree == Num(Fraction(2))
            else apply("root", (inside, degree))
        )

    def _symbol(self) -> Node:
        name = self.peek().text
        self.at += 1
        if self.take("_"):
            name += "_" + self._index()
        while self.take("'"):
            name += "'"
        if self.sees("(") and not self.peek().spaced and self._is_applied(name):
            self.at += 1
            inner = self.joined((",",), self.sum)
            self.expect(")")
            items = inner.items if isinstance(inner, Listing) else (inner,)
            return nodes.Call(f"?{name}", tuple(scalar(item) for item in items))
        return Sym(name)

    def _is_applied(self, name: str) -> bool:
        """Whether a symbol before a bracket is a function: f, g and h are, x(t) and I(0) too."""
        stem = name.rstrip("'").partition("_")[0]
        if stem in _ALWAYS_FUNCTIONS or name.endswith("'"):
            return True
        inner, after = self.peek(1), self.peek(2)
        return stem in _OFTEN_FUNCTIONS and inner.kind in ("num", "sym") and after.text == ")"

    def _index(self) -> str:
        """Read a subscript as text: its content never computes."""
        if not self.take("{"):
            token = self.peek()
            self.at += 1
            return token.text
        parts = []
        while not self.take("}"):
            token = self.peek()
            if token.kind == "end of text" or token.text == "{":
                raise Unreadable("a subscript that is not plain")
            parts.append(token.text)
            self.at += 1
        return "".join(parts)

    def _function(self) -> Node:
        name = self.peek().text
        self.at += 1
        base: Node | None = None
        exponent: Node | None = None
        while self.sees("_", "^"):
            if self.take("_"):
                base = self.argument()
            elif self.take("^"):
                exponent = self.argument()
        args = self._call_arguments()
        if name == "log" and base is not None:
            return _raised(name, (args[0], base), exponent)
        if base is not None:
            raise Unreadable("a function with an index")
        return _raised(name, args, exponent)

    def _call_arguments(self) -> tuple[Node, ...]:
        if self.sees("("):
            inner = self.primary()
            if isinstance(inner, Group):
                return tuple(scalar(item) for item in inner.items)
            return (scalar(inner),)
        sign = self.sign()
        factors: list[Node] = []
        while self.starts_factor() and not (factors and self.peek().kind == "fun"):
            factors.append(scalar(self.power()))
            if self.sees("*") and self.peek(1).kind in ("sym", "const"):
                self.at += 1
        if not factors:
            raise Unreadable("a function without an argument")
        return (signed(sign, nodes.mul(*factors)),)

    def _matrix(self) -> Value:
        name = self.peek().text
        if name not in _MATRICES:
            raise Unreadable(f"the environment {name[:20]!r}")
        self.at += 1
        if name == "cases":
            return self._cases()
        rows: list[list[Value]] = [[self.clause()]]
        while not (self.peek().kind == "end" and self.peek().text == name):
            if self.take("&"):
                rows[-1].append(self.clause())
            else:
                self.expect("row")
                if self.peek().kind != "end":
                    rows.append([self.clause()])
        self.at += 1
        if len({len(row) for row in rows}) != 1:
            raise Unreadable("a ragged matrix")
        return Grid(tuple(map(tuple, rows)))

    def argument(self) -> Node:
        """Read the argument of a power, fraction or index: a group or one factor."""
        if self.sees("{"):
            return scalar(self.primary())
        sign = self.sign()
        token = self.peek()
        if token.kind in ("num", "sym", "const") or self.sees("(", "|", "frac", "sqrt", "\\{"):
            return signed(sign, scalar(self.primary()))
        if token.kind == "fun":
            return signed(sign, scalar(self.primary()))
        raise Unreadable(f"expected an argument before {token.text[:20]!r}")

    def _single(self) -> Node:
        """Read an argument of a fraction, where TeX takes a single digit."""
        token = self.peek()
        if token.kind == "num" and len(token.text) > 1 and token.text.isdigit():
            self.tokens[self.at] = Token("num", token.text[1:], False)
            return numeral(token.text[0])
        return self.argument()

    def _cases(self) -> Value:
        """Read a system of relations, one a line."""
        lines = [self.clause()]
        while not (self.peek().kind == "end" and self.peek().text == "cases"):
            while self.take(",", ";"):
                pass
            self.expect("row")
            if self.peek().kind != "end":
                lines.append(self.clause())
        self.at += 1
        return Listing(tuple(lines), "and")


def scalar(value: Value) -> Node:
    """Return the expression of a scalar without a unit.

    Raises:
        Unreadable: the value is of another kind, so it cannot stand in an expression.
    """
    if isinstance(value, Scalar):
        return value_of(value)
    raise Unreadable(f"a {type(value).__name__.lower()} inside an expression")


def value_of(value: Value) -> Node:
    """Return the expression of a scalar, percent and degrees worked in."""
    if not isinstance(value, Scalar):
        return scalar(value)
    if value.unit == "%":
        return nodes.div(value.expr, Num(Fraction(100)))
    if value.unit == "deg":
        return nodes.mul(value.expr, nodes.Const("pi"), Num(Fraction(1, 180)))
    if value.unit:
        raise Unreadable("a unit inside an expression")
    return value.expr


def signed(sign: Node | None, node: Node) -> Node:
    """Return a node times the sign read before it."""
    return node if sign is None else nodes.mul(sign, node)


def _raised(name: str, args: tuple[Node, ...], exponent: Node | None) -> Node:
    if exponent == nodes.MINUS_ONE and name in _INVERTIBLE:
        return apply("arc" + name, args)
    call = apply(name, args)
    return call if exponent is None else nodes.power(call, exponent)
