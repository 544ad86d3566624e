"""Cheap parsers of plain answers, for tasks: a value, or None when the text is not one.

Every parser bounds what it accepts before it converts, takes ASCII digits only, and reads the whole
text: words around a number are no answer. Mathematics belongs in `rlvr_envs.verifiers.symbolic`.
"""

import re
from fractions import Fraction

from rlvr_envs.verifiers.certificate import MAX_DIGITS, lines, separated, unbracketed, whole
from rlvr_envs.verifiers.markup import unmarked

MAX_ITEMS = 10_000  # of one list
MAX_CHARACTERS = 100_000

_GROUPED = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_QUOTIENT = re.compile(r"([+-]?[0-9]+)\s*/\s*([0-9]+)")
_MINUS = "\u2212"  # the sign that mathematics is typeset with
_SEPARATOR = re.compile(r"\s*[,;]\s*|\s+")


def integer(text: str, *, max_digits: int = MAX_DIGITS) -> int | None:
    """Return a whole number such as ``-12``, ``1,234``, ``18/2`` or ``9.0``."""
    if len(text) > 4 * max_digits + 100:
        return None
    text = unmarked(text).removesuffix(".").replace(_MINUS, "-")
    if _GROUPED.fullmatch(text):
        text = text.replace(",", "")
    return whole(text, max_digits=max_digits)


def natural(text: str, *, max_digits: int = MAX_DIGITS) -> int | None:
    """Return a whole number that is not negative."""
    value = integer(text, max_digits=max_digits)
    return None if value is None or value < 0 else value


def rational(text: str, *, max_digits: int = MAX_DIGITS) -> Fraction | None:
    """Return an exact number written as an integer, a finite decimal or a quotient."""
    text = text.strip()
    if len(text) > 2 * max_digits:
        return None
    value = integer(text, max_digits=max_digits)
    if value is not None:
        return Fraction(value)
    if _DECIMAL.fullmatch(text) and len(text) <= max_digits:
        return Fraction(text)
    quotient = _QUOTIENT.fullmatch(text)
    if quotient is None or max(map(len, quotient.groups())) > max_digits:
        return None
    top, bottom = int(quotient[1]), int(quotient[2])
    return None if bottom == 0 else Fraction(top, bottom)


def words(text: str, *, max_items: int = MAX_ITEMS) -> list[str] | None:
    """Return the pieces of a list, in any of the spellings of `rlvr_envs.verifiers.certificate`.

    One pair of brackets may stand around the list. An empty list gives no pieces.
    """
    if len(text) > MAX_CHARACTERS:
        return None
    text = unbracketed("\n".join(lines(text)))
    if not text:
        return []
    pieces = _SEPARATOR.split(separated(text))
    return pieces if len(pieces) <= max_items and all(pieces) else None


def integers(
    text: str, *, max_items: int = MAX_ITEMS, max_digits: int = MAX_DIGITS
) -> list[int] | None:
    """Return a list of whole numbers such as ``1, 2, 3`` or ``[1 2 3]``; never an empty one."""
    pieces = words(text.replace(_MINUS, "-"), max_items=max_items)
    if not pieces:
        return None
    found = [whole(piece, max_digits=max_digits) for piece in pieces]
    numbers = [number for number in found if number is not None]
    return numbers if len(numbers) == len(found) else None


def naturals(
    text: str, *, max_items: int = MAX_ITEMS, max_digits: int = MAX_DIGITS
) -> list[int] | None:
    """Return a list of whole numbers, none of them negative."""
    found = integers(text, max_items=max_items, max_digits=max_digits)
    return None if found is None or min(found) < 0 else found


def matrix(
    text: str, *, max_items: int = MAX_ITEMS, max_digits: int = MAX_DIGITS
) -> list[list[int]] | None:
    """Return rows of whole numbers, one row a line; all rows are of the same length."""
    found_lines = lines(text) if len(text) <= MAX_CHARACTERS else []
    if not 0 < len(found_lines) <= max_items:
        return None
    rows = [integers(line.strip("|").rstrip(","), max_digits=max_digits) for line in found_lines]
    found = [row for row in rows if row is not None]
    same_length = len({len(row) for row in found}) == 1
    small = sum(map(len, found)) <= max_items
    return found if len(found) == len(rows) and same_length and small else None
