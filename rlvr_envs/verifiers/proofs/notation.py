"""How terms and formulas are written, in the manner of Lean: reading and showing them.

``¬ p``, ``p ∧ q``, ``p ∨ q``, ``p → q``, ``p ↔ q``, ``True``, ``False``, ``s = t``, ``s ≠ t``,
``∀ x y, p``; terms are ``0``, ``S n``, ``m + n``, ``m * n`` and functions before their arguments,
``f a (g b)``. They bind as in Lean: ``*``, ``+``, ``=``, ``¬``, ``∧``, ``∨``, ``→``, ``↔``.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from rlvr_envs.verifiers.proofs.kernel import (
    FALSE,
    MOST_DEPTH,
    TRUE,
    ZERO,
    Expr,
    ProofError,
    equal,
    fn,
    negation,
    successor,
    var,
)

MOST_CHARS = 20_000  # of a text that is read
_LONGEST_NAME = 40
_LARGEST_NUMERAL = 20
_NAME = r"[^\W\d][\w']*"
_TOKEN = re.compile(rf"\s*(?:({_NAME})|(\d+)|(\.[12]|\.[^\W\d]\w*|:=|=>|[()\[\]⟨⟩,:=≠+*∧∨→↔¬∀←|]))")
_ASCII = (
    *(("<->", "↔"), ("<-", "←"), ("->", "→"), ("/\\", "∧"), ("\\/", "∨"), ("!=", "≠")),
    *(("↦", "=>"), ("⊤", "True"), ("⊥", "False"), ("λ", "fun ")),
)
_ASCII_WORDS = {"forall": "∀", "not": "¬", "Not": "¬"}
RESERVED = frozenset(
    (
        *("fun", "by", "at", "with", "generalizing", "from", "show", "have", "let", "in"),
        *("do", "match", "if", "then", "else", "theorem", "lemma", "example", "axiom"),
        *("def", "sorry", "admit", "rfl", "True", "False", "And", "Or", "Iff", "Not", "Eq"),
        *("Prop", "Type", "Sort", "forall", "exists", "not", "end", "import", "open"),
        *("set_option", "macro", "syntax", "elab", "notation", "instance", "variable"),
        *("universe", "using", "only", "ℕ", "α", "0", "S"),
    )
)

# How tightly each operator binds, and how tightly its left and right parts have to.
_BINDS = {
    "↔": (20, 21, 21),
    "→": (25, 26, 25),
    "∨": (30, 31, 30),
    "∧": (35, 36, 35),
    "¬": (40, 40, 40),
    "=": (50, 51, 51),
    "≠": (50, 51, 51),
    "+": (65, 65, 66),
    "*": (70, 70, 71),
}
_PREFIX, _ARGUMENT = 1023, 1024


@dataclass(frozen=True, slots=True)
class Signature:
    """The names that a statement may use.

    Attributes:
        functions: how many arguments each function takes; a constant takes none.
        atoms: the propositions.
        sort: ``ℕ``, ``α``, or nothing where there are no individuals.
    """

    functions: Mapping[str, int]
    atoms: frozenset[str]
    sort: str = ""

    @property
    def names(self) -> frozenset[str]:
        """All names that no variable and no hypothesis may have."""
        return frozenset(self.functions) | self.atoms


def tokens(text: str) -> list[str]:
    """Return the tokens of a text.

    Raises:
        ProofError: a sign means nothing here, or the text is too long.
    """
    if len(text) > MOST_CHARS:
        raise ProofError(f"at most {MOST_CHARS:,} characters are read at once")
    for written, meant in _ASCII:
        text = text.replace(written, meant)
    found, place, text = list[str](), 0, text.rstrip()
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None:
            raise ProofError(f"the sign {text[place:].lstrip()[:1]!r} means nothing here")
        place = token.end()
        word = next(group for group in token.groups() if group)
        found.append(_ASCII_WORDS.get(word, word))
    return found


def is_name(word: str) -> bool:
    """Return whether a token may name a variable or a hypothesis."""
    return bool(re.fullmatch(_NAME, word)) and len(word) <= _LONGEST_NAME and word not in RESERVED


class Reader:
    """Reads tokens from the left; the tactics read through it too."""

    def __init__(self, words: list[str], signature: Signature, variables: Iterable[str]) -> None:
        self.words = words
        self.at = 0
        self.signature = signature
        self.variables = frozenset(variables)
        self._bound: list[str] = []
        self._nested = 0

    @property
    def next(self) -> str:
        """The next token; empty at the end."""
        return self.words[self.at] if self.at < len(self.words) else ""

    def take(self) -> str:
        """Return the next token and go past it."""
        word = self.next
        if not word:
            raise ProofError("the text ends too early")
        self.at += 1
        return word

    def skip(self, word: str) -> bool:
        """Go past a token if it comes next, and return whether it did."""
        if self.next == word:
            self.at += 1
            return True
        return False

    def expect(self, word: str) -> None:
        """Go past a token that has to come next."""
        if not self.skip(word):
            raise ProofError(f"expected {word!r}, found {self.next or 'the end'!r:.60}")

    def name(self) -> str:
        """Return a name that has to come next."""
        word = self.take()
        if not is_name(word):
            raise ProofError(f"expected a name, found {word!r:.60}")
        return word

    def done(self) -> None:
        """Check that nothing is left."""
        if self.next:
            raise ProofError(f"unexpected {self.next!r:.60}")

    def formula(self) -> Expr:
        """Return the formula that comes next."""
        found = self.expression()
        if found.is_term:
            raise ProofError("expected a formula, found a term")
        return found

    def term(self, least: int = 0) -> Expr:
        """Return the term that comes next."""
        found = self.expression(least)
        if not found.is_term:
            raise ProofError("expected a term, found a formula")
        return found

    def argument(self) -> Expr:
        """Return the term that comes next, without arguments unless it has parentheses."""
        return self.term(_ARGUMENT)

    def expression(self, least: int = 0) -> Expr:
        """Return the expression that comes next, of operators that bind at least so tightly."""
        self._nested += 1
        if self._nested > 2 * MOST_DEPTH:
            raise ProofError("the text is nested too deeply")
        left = self._prefix(least)
        while (op := self.next) in _BINDS and op != "¬" and _BINDS[op][0] >= least:
            self.at += 1
            left = self._joined(op, left, self.expression(_BINDS[op][2]))
        self._nested -= 1
        return left

    def _joined(self, op: str, left: Expr, right: Expr) -> Expr:
        if op in "+*":
            self._arity(op, 2)
            return fn(op, left, right)
        if op == "≠":
            return negation(equal(left, right))
        return Expr(op, args=(left, right))

    def _prefix(self, least: int) -> Expr:  # noqa: C901, PLR0911 - one branch a kind of word
        word = self.take()
        if word == "(":
            inner = self.expression()
            self.expect(")")
            return inner
        if word == "¬" and least <= _BINDS["¬"][0]:
            return negation(self.expression(_BINDS["¬"][0]))
        if word == "∀" and least <= _BINDS["="][0]:
            return self._quantified()
        if word.isdecimal() and word.isascii():
            return self._numeral(word)
        if word in ("True", "False"):
            return TRUE if word == "True" else FALSE
        if word in self._bound:
            return Expr("bound", index=self._bound[::-1].index(word))
        if word in self.signature.atoms:
            return Expr("atom", word)
        if word in self.variables:
            return var(word)
        if word in self.signature.functions and word not in "+*":
            count = self.signature.functions[word]
            if count and least > _PREFIX:
                raise ProofError(f"{word} and its argument need parentheses here")
            return fn(word, *(self.argument() for _ in range(count)))
        raise ProofError(f"there is no {word!r:.60} here")

    def _numeral(self, word: str) -> Expr:
        self._arity("0", 0)
        if len(word) > 2 or int(word) > _LARGEST_NUMERAL:
            raise ProofError(f"a numeral is at most {_LARGEST_NUMERAL}, got {word:.20}")
        term = ZERO
        for _ in range(int(word)):
            term = successor(term)
        return term

    def _arity(self, name: str, count: int) -> None:
        if self.signature.functions.get(name) != count:
            raise ProofError(f"there is no {name!r} here")

    def _quantified(self) -> Expr:
        names, parenthesised = list[str](), self.skip("(")
        while self.next not in (",", ":", ")", ""):
            names.append(self.name())
        if self.skip(":"):
            self._sort()
        if parenthesised:
            self.expect(")")
        self.expect(",")
        if not names or not self.signature.sort:
            raise ProofError("∀ is followed by names of individuals")
        if len(self._bound) + len(names) > MOST_DEPTH:
            raise ProofError("the text is nested too deeply")
        if clash := [name for name in names if name in self.signature.names]:
            raise ProofError(f"the name {clash[0]!r} is taken")
        self._bound += names
        body = self.formula()
        del self._bound[-len(names) :]
        for name in reversed(names):
            body = Expr("∀", args=(body,), hint=name)
        return body

    def _sort(self) -> None:
        word = self.take()
        if word not in (self.signature.sort, {"ℕ": "Nat"}.get(self.signature.sort)):
            raise ProofError(f"there is no sort {word!r:.60} here")


def read_formula(text: str, signature: Signature, variables: Iterable[str] = ()) -> Expr:
    """Return the formula that a text says.

    Raises:
        ProofError: it says none.
    """
    reader = Reader(tokens(text), signature, variables)
    formula = reader.formula()
    reader.done()
    return formula


def show(expr: Expr, taken: Iterable[str] = ()) -> str:
    """Return an expression as text.

    Args:
        expr: the expression.
        taken: names that bound variables may not have, beside those of free ones within.
    """
    return _show(expr, 0, [], frozenset(taken) | expr.free)


def _show(  # noqa: C901, PLR0911 - one branch a kind of expression
    expr: Expr, least: int, bound: list[str], taken: frozenset[str]
) -> str:
    def part_of(inner: Expr, binds: int) -> str:
        return _show(inner, binds, bound, taken)

    def part(index: int, binds: int) -> str:
        return part_of(expr.args[index], binds)

    if expr.op in ("var", "atom"):
        return expr.name
    if expr.op == "bound":
        return bound[-1 - expr.index]
    if expr.op in "⊤⊥":
        return "True" if expr.op == "⊤" else "False"
    if expr.op == "∀":
        names, body = list[str](), expr
        while body.op == "∀":
            names.append(fresh(body.hint or "x", taken.union(bound, names)))
            body = body.args[0]
        text = f"∀ {' '.join(names)}, {_show(body, 0, [*bound, *names], taken)}"
        return f"({text})" if least else text
    if expr.op == "fn" and expr.name not in ("+", "*"):
        pieces = [expr.name, *(part(i, _ARGUMENT) for i in range(len(expr.args)))]
        return _wrapped(" ".join(pieces), len(pieces) > 1 and least > _PREFIX)
    op = expr.name if expr.op == "fn" else expr.op
    if op == "→" and expr.args[1].op == "⊥":
        inner = expr.args[0]
        if inner.op == "=":
            own, left, right = _BINDS["≠"]
            sides = f"{part_of(inner.args[0], left)} ≠ {part_of(inner.args[1], right)}"
            return _wrapped(sides, own < least)
        doubled = inner.op == "→" and inner.args[1].op == "⊥" and inner.args[0].op != "="
        binds = _BINDS["¬"][1] if doubled else _PREFIX
        return _wrapped(f"¬{part_of(inner, binds)}", least > _BINDS["¬"][0])
    own, left, right = _BINDS[op]
    return _wrapped(f"{part(0, left)} {op} {part(1, right)}", own < least)


def _wrapped(text: str, needed: bool) -> str:
    return f"({text})" if needed else text


def fresh(name: str, taken: Iterable[str] | Callable[[str], bool]) -> str:
    """Return a name like the given one that is not taken."""
    used = taken if callable(taken) else frozenset(taken).__contains__
    tried, count = name, 0
    while used(tried) or tried in RESERVED:
        count += 1
        tried = f"{name}{count}"
    return tried
