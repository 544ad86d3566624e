"""A recursive-descent parser from tokens to typed values, with a cap on nesting.

Precedence, loosest first: lists, relations, unions, sums, products, signs, powers. Juxtaposition
multiplies. A whole number before a proper fraction is a mixed number.
"""

from collections.abc import Callable
from fractions import Fraction

from rlvr_envs.verifiers.mathtext import nodes, units
from rlvr_envs.verifiers.mathtext.functions import apply, numeral
from rlvr_envs.verifiers.mathtext.lexer import Token, Unreadable
from rlvr_envs.verifiers.mathtext.nodes import Form, Node, Num, Sym
from rlvr_envs.verifiers.mathtext.normalise import plain_words
from rlvr_envs.verifiers.mathtext.values import (
    Braces,
    Chain,
    Combined,
    Grid,
    Group,
    Listing,
    Ratio,
    Scalar,
    Text,
    Value,
)

MAX_DEPTH = 30

_END = Token("end of text", "", False)
_RELATIONS = frozenset(("=", "<", ">", "<=", ">=", "!=", "~=", "in"))
_CLOSERS = {"(": (")", "]"), "[": ("]", ")"), "langle": ("rangle",)}
_MATRICES = frozenset("pmatrix bmatrix matrix Bmatrix smallmatrix array".split())
_ALWAYS_FUNCTIONS = frozenset("fghFGH")
_OFTEN_FUNCTIONS = frozenset("fghFGHpqPQuvwxyzIVTNWSDAR") | {"phi", "psi", "delta", "theta", "Phi"}
_SIGNS: dict[str, Node] = {
    "+": nodes.ONE,
    "-": nodes.MINUS_ONE,
    "pm": nodes.SIGN,
    "mp": nodes.neg(nodes.SIGN),
}


class Parser:
    """Reads one answer; every method starts at the current token and ends after what it read."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.depth = 0
        self.bars = 0  # how many absolute values are open

    def parse(self) -> Value:
        """Return the whole answer.

        Raises:
            Unreadable: the tokens do not follow the grammar.
        """
        value = self.listing()
        if self.at < len(self.tokens):
            raise Unreadable(f"unexpected {self.peek().text[:20]!r}")
        return value

    # Looking ahead

    def peek(self, ahead: int = 0) -> Token:
        place = self.at + ahead
        return self.tokens[place] if place < len(self.tokens) else _END

    def sees(self, *texts: str) -> bool:
        token = self.peek()
        return token.kind == "op" and token.text in texts

    def take(self, *texts: str) -> bool:
        if self.sees(*texts):
            self.at += 1
            return True
        return False

    def expect(self, *texts: str) -> str:
        token = self.peek()
        if not self.take(*texts):
            raise Unreadable(f"expected {texts[0]!r} before {token.text[:20]!r}")
        return token.text

    # Lists

    def listing(self) -> Value:
        return self._joined((";", "and", "or"), lambda: self._joined((",",), self.clause))

    def _joined(self, joiners: tuple[str, ...], read: Callable[[], Value]) -> Value:
        items = [read()]
        joiner = ""
        while self.sees(*joiners):
            joiner = self.peek().text if joiner in ("", ";", ",") else joiner
            while self.take(*joiners):  # "; and" is one joint
                pass
            items.append(read())
        return items[0] if len(items) == 1 else Listing(tuple(items), joiner)

    def clause(self) -> Value:
        """Read a value or a chain of relations; a comma before "and" belongs to the joint."""
        if self.take("~="):
            return self.sets()
        sides = [self.sets()]
        relations = []
        while self.peek().kind == "op" and self.peek().text in _RELATIONS:
            relations.append(self.expect(*_RELATIONS))
            sides.append(self.sets())
        if self.sees(",") and self.peek(1).text in ("and", "or"):
            self.at += 1
        return Chain(tuple(sides), tuple(relations)) if relations else sides[0]

    def sets(self) -> Value:
        parts = [self.measured()]
        operators = []
        while self.sees("cup", "cap"):
            operators.append(self.expect("cup", "cap"))
            parts.append(self.measured())
        return Combined(tuple(parts), tuple(operators)) if operators else parts[0]

    def measured(self) -> Value:
        """Read a value and the unit or ratio that follows it."""
        value = self.sum()
        if self.sees(":"):
            return self._ratio(value)
        if isinstance(value, Scalar) and not value.unit:
            unit = self._unit()
            multiplier, unit = units.split_multiplier(unit)
            expr = (
                nodes.mul(value.expr, Num(Fraction(multiplier))) if multiplier > 1 else value.expr
            )
            return Scalar(expr, unit)
        return value

    def _ratio(self, first: Value) -> Value:
        terms = [scalar(first)]
        clock = False
        while self.take(":"):
            clock |= self.peek().text.startswith("0")
            terms.append(scalar(self.sum()))
        return Ratio(tuple(terms), clock)

    def _unit(self) -> str:
        """Read the words after a number, with their powers and quotients."""
        if self.take("%"):
            return "%"
        words: list[str] = []
        while self.peek().kind == "text" or (words and self._continues_unit()):
            words.append(self.peek().text)
            self.at += 1
        return units.checked(" ".join(words)) if words else ""

    def _continues_unit(self) -> bool:
        token, before = self.peek(), self.peek(-1).text
        if before in ("^", "{", "-") or (token.text == "}" and self.peek(-1).kind == "num"):
            return token.kind == "num" or token.text in ("{", "-", "}")
        if before in ("/", "*"):
            return token.kind == "sym"
        return token.text == "^" or (
            token.text in ("/", "*") and self.peek(1).kind in ("text", "sym")
        )

    # Sums and products

    def sum(self) -> Value:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unreadable("nested too deeply")
        sign = self._sign()
        value = self.product()
        if sign is None and not self.sees("+", "-", "pm", "mp"):
            self.depth -= 1
            return value
        if isinstance(value, Scalar) and value.unit and not self.sees("+", "-", "pm", "mp"):
            self.depth -= 1
            return Scalar(_signed(sign, value.expr), value.unit)
        terms = [_signed(sign, scalar(value))]
        while (sign := self._sign()) is not None:
            terms.append(_signed(sign, scalar(self.product())))
        self.depth -= 1
        return Scalar(nodes.add(*terms))

    def _sign(self) -> Node | None:
        """Read any run of signs and return its product, None when there is none."""
        sign: Node | None = None
        while self.sees("+", "-", "pm", "mp"):
            text = self.expect("+", "-", "pm", "mp")
            sign = nodes.mul(sign or nodes.ONE, _SIGNS[text])
        return sign

    def product(self) -> Value:
        first = self.power()
        if isinstance(first, Scalar) and first.unit:
            return first
        if not self._continues_product():
            return first
        factors = [scalar(first)]
        while self._continues_product():
            if self.take("/"):
                sign = self._sign()
                factors.append(nodes.power(scalar(self.power()), nodes.MINUS_ONE))
                factors.append(sign or nodes.ONE)
            elif self.take("*"):
                sign = self._sign()
                value = self.power()
                factors.append(nodes.mul(sign or nodes.ONE, _value_of(value)))
            else:
                factors.append(self._adjacent(factors))
        return Scalar(nodes.mul(*factors))

    def _continues_product(self) -> bool:
        return self.sees("*", "/") or self._starts_factor()

    def _starts_factor(self) -> bool:
        token = self.peek()
        if token.kind != "op":
            return token.kind in ("num", "sym", "const", "fun", "begin")
        if token.text in ("|", "||"):
            return self.bars == 0
        return token.text in ("(", "[", "{", "frac", "sqrt", "binom", "lfloor", "lceil")

    def _adjacent(self, factors: list[Node]) -> Node:
        """Read a factor that stands next to another; numbers side by side are only ever mixed."""
        before, token = self.peek(-1), self.peek()
        last = factors[-1]
        if before.kind == "num" and isinstance(last, Num) and last.ulp is None:
            mixed = self._mixed_part(token)
            if mixed is not None:
                factors[-1] = nodes.ONE
                return Num(last.value + mixed.value, form=Form.QUOTIENT)
        if token.kind == "num" and before.kind == "num":
            raise Unreadable("two numbers side by side")
        return scalar(self.power())

    def _mixed_part(self, token: Token) -> Num | None:
        """Return the proper fraction that makes a mixed number with the whole before it."""
        start = self.at
        part: Node | None = None
        if token.text == "frac":
            part = scalar(self.power())
        elif token.kind == "num" and self.peek(1).text == "/" and self.peek(2).kind == "num":
            top, bottom = numeral(token.text), numeral(self.peek(2).text)
            part = nodes.div(top, bottom)
            self.at += 3
        if isinstance(part, Num) and 0 < part.value < 1 and part.ulp is None:
            return part
        self.at = start
        return None

    # Powers and what follows a primary

    def power(self) -> Value:
        value = self.primary()
        while True:
            if self.take("^"):
                value = Scalar(nodes.power(scalar(value), self.argument()))
            elif self.take("!"):
                value = Scalar(apply("factorial", (scalar(value),)))
            elif self.take("deg"):
                return Scalar(scalar(value), "deg")
            elif self.sees("%") and isinstance(value, Scalar):
                self.at += 1
                return Scalar(value.expr, "%")
            else:
                return value

    def argument(self) -> Node:
        """Read the argument of a power, fraction or index: a group or one factor."""
        if self.sees("{"):
            return scalar(self.primary())
        sign = self._sign()
        token = self.peek()
        if token.kind in ("num", "sym", "const") or self.sees("(", "|", "frac", "sqrt", "\\{"):
            return _signed(sign, scalar(self.primary()))
        if token.kind == "fun":
            return _signed(sign, scalar(self.primary()))
        raise Unreadable(f"expected an argument before {token.text[:20]!r}")

    def _single(self) -> Node:
        """Read an argument of a fraction, where TeX takes a single digit."""
        token = self.peek()
        if token.kind == "num" and len(token.text) > 1 and token.text.isdigit():
            self.tokens[self.at] = Token("num", token.text[1:], False)
            return numeral(token.text[0])
        return self.argument()

    # Primaries

    def primary(self) -> Value:
        token = self.peek()
        if token.kind == "num":
            self.at += 1
            return Scalar(numeral(token.text))
        if token.kind == "const":
            self.at += 1
            return Scalar(nodes.Const(token.text))
        if token.kind == "sym":
            return Scalar(self._symbol())
        if token.kind == "fun":
            return Scalar(self._function())
        if token.kind == "begin":
            return self._matrix()
        if token.kind == "op":
            return self._operator(token.text)
        if token.kind == "text":
            return self._words()
        raise Unreadable(f"unexpected {token.text[:20] or token.kind!r}")

    def _words(self) -> Value:
        words = []
        while self.peek().kind == "text":
            words.append(self.peek().text)
            self.at += 1
        return Text(plain_words(" ".join(words)))

    def _operator(self, text: str) -> Value:
        if text in _CLOSERS:
            return self._group(text)
        if text in ("\\{", "{"):
            return self._braces(text)
        if text in ("|", "||"):
            return self._absolute(text)
        if text == "empty":
            self.at += 1
            return Braces(())
        if text in ("lfloor", "lceil"):
            self.at += 1
            inside = scalar(self.sum())
            self.expect("rfloor" if text == "lfloor" else "rceil")
            return Scalar(apply("floor" if text == "lfloor" else "ceil", (inside,)))
        if text in ("frac", "binom", "sqrt"):
            self.at += 1
            return Scalar(self._fraction(text) if text != "sqrt" else self._root())
        raise Unreadable(f"unexpected {text!r}")

    def _group(self, opening: str) -> Value:
        self.at += 1
        bars, self.bars = self.bars, 0
        inner = self._joined((",", ";"), self.clause)
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
        inner = self.listing()
        self.expect(closing)
        self.bars = bars
        if opening == "{":
            return inner
        return Braces(inner.items if isinstance(inner, Listing) else (inner,))

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
        pieces, depth, groups = [], 0, 0
        for token in self.tokens[self.at : self.at + 24]:
            depth += {"{": 1, "}": -1}.get(token.text, 0)
            pieces.append(token.text)
            groups += token.text == "}" and depth == 0
            if groups == 2 or depth <= 0 and token.text != "}":
                break
        if groups != 2 or pieces[1] not in ("d", "partial") or "}" not in pieces[:-1]:
            return None
        middle = pieces.index("{", 1) if "{" in pieces[1:] else 0
        second = len(pieces) - 1 - pieces[::-1].index("{")
        start = second if "^" not in pieces[second - 1 : second] else middle
        if pieces[start + 1 : start + 2] != [pieces[1]]:
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
            inner = self._joined((",",), self.sum)
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
            if token.kind == _END.kind or token.text == "{":
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
        sign = self._sign()
        factors: list[Node] = []
        while self._starts_factor() and not (factors and self.peek().kind == "fun"):
            factors.append(scalar(self.power()))
            if self.sees("*") and self.peek(1).kind in ("sym", "const"):
                self.at += 1
        if not factors:
            raise Unreadable("a function without an argument")
        return (_signed(sign, nodes.mul(*factors)),)

    def _matrix(self) -> Value:
        name = self.peek().text
        if name not in _MATRICES:
            raise Unreadable(f"the environment {name[:20]!r}")
        self.at += 1
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


def scalar(value: Value) -> Node:
    """Return the expression of a scalar without a unit.

    Raises:
        Unreadable: the value is of another kind, so it cannot stand in an expression.
    """
    if isinstance(value, Scalar):
        return _value_of(value)
    raise Unreadable(f"a {type(value).__name__.lower()} inside an expression")


def _value_of(value: Value) -> Node:
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


def _signed(sign: Node | None, node: Node) -> Node:
    return node if sign is None else nodes.mul(sign, node)


def _raised(name: str, args: tuple[Node, ...], exponent: Node | None) -> Node:
    if exponent == nodes.MINUS_ONE and name in ("sin", "cos", "tan", "cot", "sec", "csc"):
        return apply("arc" + name, args)
    call = apply(name, args)
    return call if exponent is None else nodes.power(call, exponent)
