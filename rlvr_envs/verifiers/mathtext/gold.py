"""Compiling a gold answer: read once, typed, and refused when it cannot be judged."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from rlvr_envs.core.errors import ConfigError, did_you_mean
from rlvr_envs.verifiers.mathtext import nodes
from rlvr_envs.verifiers.mathtext.forms import settle, without_rounding
from rlvr_envs.verifiers.mathtext.nodes import Num
from rlvr_envs.verifiers.mathtext.normalise import plain_words
from rlvr_envs.verifiers.mathtext.reader import (
    read,
    read_as_list,
    read_choice,
    read_declared_choice,
    read_text,
)
from rlvr_envs.verifiers.mathtext.regions import INEQUALITIES, region_of
from rlvr_envs.verifiers.mathtext.values import (
    BaseN,
    Braces,
    Chain,
    Choice,
    Combined,
    Grid,
    Group,
    Listing,
    Opaque,
    Ratio,
    Scalar,
    Text,
    Value,
)

MAX_GOLD = 20_000  # characters that are parsed; a longer gold is compared by spelling alone
MAX_CHOICE = "J"  # a later capital is a variable, unless the type says otherwise

_PROSE = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{4,}")
_COMMAND = re.compile(r"\\[A-Za-z]+")
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_MAX_PROSE_WORDS = 3


@dataclass(frozen=True, slots=True)
class CompiledGold:
    """A gold answer, read once."""

    text: str  # the gold as given, without outer white space
    answer_type: str  # the declared or inferred type
    verifiable: bool  # whether answers can be judged against it
    reason: str  # why not, when it is not verifiable
    declared: bool  # whether the type was given rather than inferred
    value: Value  # the typed reading
    integer: int | None = None  # the gold when it is a plain whole number
    hopeless: bool = False  # whether a second reader has nothing to add


def compile_gold(
    gold: str, *, answer_type: str | None = None, rounded: bool = False
) -> CompiledGold:
    """Return a gold ready to judge answers, from a cache when it was compiled before.

    Args:
        gold: the right answer.
        answer_type: what kind of answer it is; read from the gold when None.
        rounded: whether a decimal stands for all numbers that round to it, as in data sets whose
            golds are rounded. Otherwise it is exact.

    Raises:
        ConfigError: the answer type is unknown.
    """
    return _compile(gold, answer_type, rounded)


@lru_cache(maxsize=65_536)
def _compile(gold: str, answer_type: str | None, rounded: bool) -> CompiledGold:
    if answer_type is not None and answer_type not in ANSWER_TYPES:
        known = ", ".join(ANSWER_TYPES)
        hint = did_you_mean(answer_type, ANSWER_TYPES)
        raise ConfigError(f"no answer type {answer_type!r}{hint} (known: {known})")
    text = gold.strip()
    if not text:
        return _refused(text, answer_type, "it is empty")
    if len(text) > MAX_GOLD:
        return _refused(text, answer_type, f"it is longer than {MAX_GOLD} characters")
    try:
        found = _typed(text, answer_type)
        return found if rounded else replace(found, value=without_rounding(found.value))
    except (ArithmeticError, ValueError, TypeError, RecursionError) as error:
        return _refused(text, answer_type, f"it could not be read ({type(error).__name__})")


def _refused(text: str, answer_type: str | None, reason: str) -> CompiledGold:
    return CompiledGold(
        text=text,
        answer_type=answer_type or "text",
        verifiable=False,
        reason=reason,
        declared=answer_type is not None,
        value=Opaque(reason, final=True),
    )


def _typed(text: str, answer_type: str | None) -> CompiledGold:
    if answer_type is not None:
        value = _AS_DECLARED[answer_type](text)
        if value is None:
            return _refused(text, answer_type, f"it cannot be read as {answer_type}")
        return _compiled(text, answer_type, value, declared=True)
    value = _inferred(text)
    if isinstance(value, Opaque):
        return _opaque(text, value)
    return _compiled(text, type_of(value), value, declared=False)


def _compiled(text: str, name: str, value: Value, *, declared: bool) -> CompiledGold:
    whole = None
    if isinstance(value, Scalar) and isinstance(value.expr, Num) and not value.unit:
        exact = value.expr.ulp is None and value.expr.value.denominator == 1
        whole = value.expr.value.numerator if exact else None
    return CompiledGold(
        text=text,
        answer_type=name,
        verifiable=True,
        reason="",
        declared=declared,
        value=value,
        integer=whole,
    )


def _opaque(text: str, value: Opaque) -> CompiledGold:
    """Keep a gold that only the second reader may understand; refuse prose."""
    words = _PROSE.findall(_COMMAND.sub(" ", text))
    if len(words) > _MAX_PROSE_WORDS:
        return _refused(text, None, "it is prose")
    if not any(character.isalnum() for character in text):
        return _refused(text, None, "it holds no letter and no digit")
    bare = _ESCAPED.sub("", text)
    if bare.count("{") != bare.count("}"):
        return _refused(text, None, "its braces do not balance")
    return CompiledGold(
        text=text,
        answer_type="expression",
        verifiable=True,
        reason="",
        declared=False,
        value=value,
        hopeless=value.final,
    )


def _inferred(text: str) -> Value:
    letter = read_choice(text, with_text=False)
    if letter is not None and letter <= MAX_CHOICE:
        return Choice(letter)
    value = settle(read(text))
    if isinstance(value, Text):
        return read_text(text) or Opaque("words without an end")
    if not isinstance(value, Opaque):
        return value
    lettered = read_choice(text, with_text=True)
    if lettered is not None and lettered <= MAX_CHOICE:
        return Choice(lettered)
    if "\\" in _COMMAND.sub("", text) or not set(_COMMAND.findall(text)) <= _TEXT_ONLY:
        return value
    return read_text(text) or value


_TEXT_ONLY = frozenset(("\\text", "\\mbox", "\\textbf", "\\mathrm", "\\textit", "\\textrm"))


def type_of(value: Value) -> str:
    """Return the name of the type of a value."""
    if isinstance(value, Scalar):
        return _scalar_type(value)
    if isinstance(value, Group):
        half_open = (value.opening, value.closing) not in (("(", ")"), ("langle", "rangle"))
        return "interval" if half_open and region_of(value) is not None else "tuple"
    if isinstance(value, Chain):
        inequality = INEQUALITIES.issuperset(value.relations) or value.relations == ("in",)
        return "interval" if inequality else "equation"
    return _TYPE_NAMES[type(value)]


_TYPE_NAMES: dict[type, str] = {
    Listing: "list",
    Braces: "set",
    Combined: "interval",
    Grid: "matrix",
    Ratio: "ratio",
    BaseN: "base_n",
    Choice: "choice",
    Text: "text",
}


def _scalar_type(value: Scalar) -> str:
    if value.unit:
        return "number_with_unit"
    if isinstance(value.expr, Num):
        if value.expr.ulp is not None:
            return "real"
        return "integer" if value.expr.value.denominator == 1 else "rational"
    if nodes.symbols(value.expr):
        return "expression"
    return "complex" if _mentions_i(value.expr) else "real"


def _mentions_i(node: nodes.Node) -> bool:
    return node == nodes.Const("i") or any(_mentions_i(child) for child in nodes.children(node))


# Declared types


def _read(text: str) -> Value:
    return settle(read(text))


def _unlabelled(text: str) -> Value:
    value = _read(text)
    if isinstance(value, Chain) and value.relations in (("=",), ("in",)):
        return value.sides[1]
    return value


def _exact(text: str) -> Value | None:
    value = _unlabelled(text)
    if not isinstance(value, Scalar) or not isinstance(value.expr, Num):
        return None
    return Scalar(Num(value.expr.value), value.unit)


def _integer(text: str) -> Value | None:
    value = _exact(text)
    whole = isinstance(value, Scalar) and isinstance(value.expr, Num)
    return value if whole and value.expr.value.denominator == 1 else None  # type: ignore[union-attr]


def _of(*kinds: type) -> Callable[[str], Value | None]:
    def read_as(text: str) -> Value | None:
        value = _unlabelled(text)
        return value if isinstance(value, kinds) else None

    return read_as


def _list(text: str) -> Value | None:
    value = read_as_list(text)
    value = _read(text) if value is None or isinstance(value, Opaque) else settle(value)
    return None if isinstance(value, Opaque) else value


def _set(text: str) -> Value | None:
    value = _list(text)
    if isinstance(value, Listing):
        return Braces(value.items)
    return Braces((value,)) if isinstance(value, Scalar) else value


def _equation(text: str) -> Value | None:
    value = _read(text)
    return value if isinstance(value, Chain) else None


def _interval(text: str) -> Value | None:
    value = _unlabelled(text)
    return value if isinstance(value, Group | Combined | Chain | Listing | Braces) else None


def _choice(text: str) -> Value | None:
    letter = read_declared_choice(text)
    return None if letter is None else Choice(letter)


def _text(text: str) -> Value | None:
    words = plain_words(text)
    return Text(words) if words else None


_AS_DECLARED: dict[str, Callable[[str], Value | None]] = {
    "integer": _integer,
    "rational": _exact,
    "real": _of(Scalar),
    "expression": _of(Scalar, Listing),
    "complex": _of(Scalar, Listing),
    "equation": _equation,
    "list": _list,
    "set": _set,
    "interval": _interval,
    "tuple": _of(Group),
    "matrix": _of(Grid),
    "base_n": _of(BaseN),
    "ratio": _of(Ratio, Scalar),
    "number_with_unit": _of(Scalar),
    "choice": _choice,
    "text": _text,
}
ANSWER_TYPES = tuple(_AS_DECLARED)
