"""A recursive-descent parser from tokens to typed values, with a cap on nesting.

Precedence, loosest first: lists, relations, unions, sums, products, signs, powers. Juxtaposition
multiplies. A whole number before a proper fraction is a mixed number.
"""

from collections.abc import Callable
from fractions import Fraction

from rlvr_envs.verifiers.mathtext import nodes, units
from rlvr_envs.verifiers.mathtext.atoms import AtomParser, scalar, signed, value_of
from rlvr_envs.verifiers.mathtext.functions import apply, numeral
from rlvr_envs.verifiers.mathtext.lexer import Token, Unreadable
from rlvr_envs.verifiers.mathtext.nodes import Form, Node, Num
from rlvr_envs.verifiers.mathtext.values import Chain, Combined, Grid, Listing, Ratio, Scalar, Value

MAX_DEPTH = 30

_RELATIONS = frozenset(("=", "<", ">", "<=", ">=", "!=", "~=", "in"))
_SIGNS: dict[str, Node] = {
    "+": nodes.ONE,
    "-": nodes.MINUS_ONE,
    "pm": nodes.SIGN,
    "mp": nodes.neg(nodes.SIGN),
}


class Parser(AtomParser):
    """Reads one answer; every method starts at the current token and ends after what it read."""

    def __init__(self, tokens: list[Token]) -> None:
        super().__init__(tokens)
        self.depth = 0
        self.joints: tuple[str, ...] = (";", "and", "or")
        # Lines are a list; a row mark before a letter is rather an escaped command.
        ends = [at for at, token in enumerate(tokens) if token.text == "row"]
        if ends and all(token.spaced for at in ends for token in tokens[at + 1 : at + 2]):
            self.joints = (";", "and", "or", "row")

    def parse(self) -> Value:
        """Return the whole answer.

        Raises:
            Unreadable: the tokens do not follow the grammar.
        """
        value = self.listing()
        if self.at < len(self.tokens):
            raise Unreadable(f"unexpected {self.peek().text[:20]!r}")
        return value

    # Lists

    def listing(self) -> Value:
        return self.joined(self.joints, lambda: self.joined((",",), self.clause))

    def joined(self, joiners: tuple[str, ...], read: Callable[[], Value]) -> Value:
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
            scale = Num(Fraction(multiplier), form=Form.SCALE)
            return Scalar(nodes.mul(value.expr, scale) if multiplier > 1 else value.expr, unit)
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
        value = self._sum()
        self.depth -= 1
        return value

    def _sum(self) -> Value:
        sign = self.sign()
        value = self.product()
        if not self.sees("+", "-", "pm", "mp"):
            if sign is None:
                return value
            if isinstance(value, Scalar) and value.unit:
                return Scalar(signed(sign, value.expr), value.unit)
            if isinstance(value, Grid):
                return _scaled(value, sign)
        terms = [signed(sign, scalar(value))]
        while (sign := self.sign()) is not None:
            terms.append(signed(sign, scalar(self.product())))
        return Scalar(nodes.add(*terms))

    def sign(self) -> Node | None:
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
            if self.peek().kind == "begin":
                return _scaled(self.primary(), nodes.mul(*factors))
            if self.take("/"):
                sign = self.sign()
                factors.append(nodes.power(scalar(self.power()), nodes.MINUS_ONE))
                factors.append(sign or nodes.ONE)
            elif self.take("*"):
                sign = self.sign()
                value = self.power()
                factors.append(nodes.mul(sign or nodes.ONE, value_of(value)))
            else:
                factors.append(self._adjacent(factors))
        return Scalar(nodes.mul(*factors))

    def _continues_product(self) -> bool:
        return self.sees("*", "/") or self.starts_factor()

    def starts_factor(self) -> bool:
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


def _scaled(matrix: Value, factor: Node) -> Value:
    """Return a matrix with each entry times a factor."""
    if not isinstance(matrix, Grid):
        raise Unreadable("a system inside an expression")
    rows = (tuple(_times(factor, scalar(item)) for item in row) for row in matrix.rows)
    return Grid(tuple(rows))


def _times(factor: Node, entry: Node) -> Scalar:
    """Return an entry of a scaled matrix; a common denominator leaves it written out."""
    product = nodes.mul(factor, entry)
    if isinstance(product, Num) and isinstance(factor, Num) and isinstance(entry, Num):
        written = factor.form is Form.QUOTIENT and entry.form is Form.LITERAL
        return Scalar(Num(product.value, form=Form.QUOTIENT)) if written else Scalar(product)
    return Scalar(product)
