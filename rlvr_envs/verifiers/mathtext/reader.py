"""From answer text to a typed value; never raises, whatever the text."""

import re
from functools import lru_cache

from rlvr_envs.verifiers.exact import TooLarge
from rlvr_envs.verifiers.mathtext.lexer import Unreadable, tokens
from rlvr_envs.verifiers.mathtext.nodes import symbols
from rlvr_envs.verifiers.mathtext.normalise import (
    drop_enumeration,
    join_thousands,
    normalise,
    plain_words,
    read_decimal_comma,
)
from rlvr_envs.verifiers.mathtext.parser import Parser
from rlvr_envs.verifiers.mathtext.values import BaseN, Opaque, Scalar, Text, Value

_BASE = re.compile(
    r"\(?\s*(-?[0-9][0-9A-Fa-f]*|[A-F][0-9A-F]+)\s*\)?\s*"
    r"(?:_\s*(?:\{\s*)?(?:\\text\{\s*)?(?:base\s*)?([0-9]{1,2})[\s}]*"
    r"|\s(?:\\text\{\s*)?\(?\s*(?:in\s*)?base[\s-]*([0-9]{1,2})[\s})]*)"
)
_CHOICE_WORD = (
    r"(?:(?:\\(?:text|textbf|mathrm)\s*\{\s*)?(?i:(?:the )?(?:correct )?(?:option|choice|answer)"
    r"(?: is)?)\s*:?\s*\}?\s*)?"
)
_CHOICE = re.compile(
    _CHOICE_WORD
    + r"(?:\\(?:text|textbf|mathrm|mathbf|mbox|textrm)\s*\{)?\s*\(?\s*([A-Z])\s*[).:]?\s*\}?"
)
_CHOICE_WITH_TEXT = re.compile(
    r"(?:\\(?:text|textbf|mathrm|mathbf|mbox|textrm)\s*\{)?\s*(?:\(([A-Z])\)|([A-Z])[.):])\s*\}?\s*\S"
)
_SMALL_CHOICE = re.compile(r"\(?([a-z])\)?\.?")
_OTHER_CHOICE = re.compile(r"\([A-Z]\)|(?<![A-Za-z\\])[A-Z][.):](?!\w)|\b(?:and|or)\s+[A-Z]\b")
_ALL_REALS = frozenset(("all real numbers", "all reals", "any real number"))
_FORMULA = re.compile(r"[^\w\s.,:;!?'()/&-]")
_NAMED = re.compile(
    r"[\s$]*+(?:\\?[A-Za-z]{2,}|[A-WZa-w])(?:\{[A-Za-z]\})?"
    r"(?:[_^](?:\w|\{[^{}]*+\}))*(?:\\left)?(?:\s*+[(\[].*[)\]])?[\s$]*+|[\s$]*+[A-Za-z][\s$]*+",
    re.DOTALL,
)
_DERIVATIVE = re.compile(r"(?:d|partial).*(?:d|partial).+")  # how d/dx is read, as one unknown
_LETTER = re.compile(r"[A-Za-z]")
_WORDS = re.compile(r"[A-Za-z]{2,}")

MAX_TEXT_WORDS = 8  # more is prose, which nothing can judge


@lru_cache(maxsize=4096)
def read(text: str) -> Value:
    """Return what a short answer says; `Opaque` when that is not understood."""
    clean = drop_enumeration(normalise(text))
    based = read_base(clean)
    if based is not None:
        return based
    if clean.lower().strip(".") in _ALL_REALS:
        return Text("all real numbers")
    return _parse(join_thousands(clean))


def without_label(text: str, known: frozenset[str]) -> str | None:
    r"""Return the 6 of ``\det(A) = 6``, or None if the text has no such label.

    A label is what comes before the first equality sign, if it cannot be read or is a name, with
    or without arguments, of something that the gold does not mention. A number, a list or one
    side of an equation is no label.
    """
    at = _first_equality(text)
    label, rest = (text[:at], text[at + 1 :]) if at else ("", "")
    if not _LETTER.search(label) or not rest.strip():
        return None
    value = read(label)
    if isinstance(value, Scalar):
        new = symbols(value.expr) - known
        named = _NAMED.fullmatch(label) or any(map(_DERIVATIVE.fullmatch, new))
        return rest if new and named else None
    is_words = isinstance(value, Text) or (isinstance(value, Opaque) and not value.final)
    return rest if is_words else None


def _first_equality(text: str) -> int:
    """Return the place of the first equality sign outside all brackets, or 0."""
    depth = 0
    for at, character in enumerate(text):
        if character in "({[":
            depth += 1
        elif character in ")}]":
            depth -= 1
        elif character == "=" and not depth:
            around = text[max(at - 1, 0) : at + 2]
            return 0 if set(around) & set("<>!:") or "==" in around else at
    return 0


def read_as_list(text: str) -> Value | None:
    """Return the reading of ``1,234`` as two numbers, or None where commas are not ambiguous."""
    clean = normalise(text)
    return _parse(clean) if join_thousands(clean) != clean else None


def read_as_decimal(text: str) -> Value | None:
    """Return the reading of ``3,14`` as a decimal, or None where the comma is not one."""
    clean = normalise(text)
    pointed = read_decimal_comma(clean)
    return _parse(pointed) if pointed != clean else None


def _parse(clean: str) -> Value:
    if not clean:
        return Opaque("empty", final=True)
    try:
        return Parser(tokens(clean)).parse()
    except Unreadable as error:
        return Opaque(str(error))
    except TooLarge as error:
        return Opaque(str(error), final=True, large=True)
    except (RecursionError, ArithmeticError, IndexError) as error:
        return Opaque(type(error).__name__, final=True, large=True)


def read_base(clean: str) -> BaseN | None:
    """Return digits with a base, such as ``52_8``, if the text is just that."""
    if "_" not in clean and "base" not in clean:
        return None
    match = _BASE.fullmatch(clean)
    if match is None:
        return None
    base = int(match.group(2) or match.group(3))
    digits = match.group(1).upper().lstrip("0") or "0"
    if not 2 <= base <= 36 or any(int(digit, 36) >= base for digit in digits.lstrip("-")):
        return None
    return BaseN(digits, base)


def read_declared_choice(text: str) -> str | None:
    """Return the letter of an answer that must be a choice, in either case."""
    small = _SMALL_CHOICE.fullmatch(text.strip())
    return small.group(1).upper() if small else read_choice(text, with_text=True)


def read_choice(text: str, *, with_text: bool) -> str | None:
    """Return the letter of a multiple-choice answer; ``(B) 12`` counts when text may follow."""
    clean = normalise(text)
    match = _CHOICE.fullmatch(clean)
    if match is not None:
        return match.group(1)
    if not with_text:
        return None
    match = _CHOICE_WITH_TEXT.match(clean)
    if match is None or _OTHER_CHOICE.search(clean, match.end() - 1):
        return None
    return match.group(1) or match.group(2)


def read_text(text: str) -> Text | None:
    """Return an answer made of a few words, or None when it is prose or has no words."""
    words = plain_words(text)
    if len(words.split()) > MAX_TEXT_WORDS or not _WORDS.search(words) or _FORMULA.search(words):
        return None
    return Text(words)
