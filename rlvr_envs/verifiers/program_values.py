"""What a function returned: read from the sandbox's text under caps, and compared strictly.

Values cross the border as typed JSON (`program_driver.encode`), never as pickles or source text.
The reader here trusts nothing: size, nesting, digits and hash collisions are bounded, and each
text that is not exactly what the writer would have written is refused.
"""

import json
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.verifiers.program_driver import MAX_DEPTH, NotData, encode

REPORTS = ("value", "error", "missing", "refused")
MAX_INT_DIGITS = 20  # of a plain JSON integer; longer ones come in base 16
MAX_INT_HEX = 300_000  # characters: numbers of a million bits
MAX_COLLISIONS = 64  # keys of one hash: a set of thousands would take minutes to build


class Unreadable(ValueError):
    """A text from the sandbox is not what a value looks like."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """How closely a result must agree with the expected value; by default exactly, types too.

    Attributes:
        rel_tol: relative error allowed for floats, as in `math.isclose` but of the expected value.
        abs_tol: absolute error allowed for floats.
        as_python: whether to compare as Python's ``==`` does: ``True == 1 == 1.0``, a set equals a
            frozenset, and the standard library's kinds of dict are dicts.
        sequences_alike: whether a list may stand for a tuple and the other way round.
        truth: whether only the truth of the result counts; the expected value is a bool.
    """

    rel_tol: float = 0.0
    abs_tol: float = 0.0
    as_python: bool = False
    sequences_alike: bool = False
    truth: bool = False

    def __post_init__(self) -> None:
        for name in ("rel_tol", "abs_tol"):
            value = getattr(self, name)
            if not (isinstance(value, int | float) and 0 <= value < math.inf):
                raise ConfigError(f"{name} is a finite number from 0, got {value!r}")


STRICT = Match()
_NUMBERS = (int, float, complex)


def to_text(value: Any) -> str:
    """Return a value as typed JSON text.

    Raises:
        ConfigError: it holds something that cannot travel.
    """
    try:
        return json.dumps(encode(value))
    except NotData as error:
        raise ConfigError(
            "arguments and results are None, bool, int, float, complex, str, bytes, list, tuple, "
            f"set, frozenset and dict, nested at most {MAX_DEPTH} deep; got {error}"
        ) from error


def read(text: str) -> Any:
    """Return the value of a typed JSON text from the sandbox.

    Raises:
        Unreadable: it is no such text, or past a cap.
    """
    value = _rebuild(text)
    _check_depth(value)
    return value


def read_report(text: str) -> tuple[str, Any]:
    """Return the kind and the value of a report, ``["value", 5]``; raise `Unreadable`."""
    report = _rebuild(text)
    if type(report) is not list or len(report) != 2 or report[0] not in REPORTS:
        raise Unreadable("no report")
    kind, value = report
    _check_depth(value)
    return kind, value


def _rebuild(text: str) -> Any:
    try:
        return json.loads(
            text,
            object_pairs_hook=_tagged,
            parse_int=_plain_int,
            parse_float=_refuse,
            parse_constant=_refuse,
        )
    except (ValueError, TypeError, RecursionError) as error:
        raise Unreadable(f"{type(error).__name__}: {error}") from error


def _plain_int(text: str) -> int:
    if len(text) > MAX_INT_DIGITS:
        raise Unreadable("a long integer")
    return int(text)


def _refuse(text: str) -> Any:
    raise Unreadable(f"a bare {text[:20]!r}")


def _tagged(pairs: list[tuple[str, Any]]) -> Any:
    if len(pairs) != 1 or pairs[0][0] not in _READERS:
        raise Unreadable("an object that is no value")
    tag, inner = pairs[0]
    wanted = str if tag in "ifb" else list
    if type(inner) is not wanted:
        raise Unreadable(f"a {type(inner).__name__} under {tag!r}")
    return _READERS[tag](inner)


def _read_int(text: str) -> int:
    if len(text) > MAX_INT_HEX:
        raise Unreadable("a long integer")
    value = int(text, 16)
    if hex(value) != text:
        raise Unreadable("an integer in a form of its own")
    return value


def _read_float(text: Any) -> float:
    if type(text) is not str or len(text) > 32:
        raise Unreadable("a float in a form of its own")
    value = float(text)
    if repr(value) != text:
        raise Unreadable("a float in a form of its own")
    return value


def _read_complex(parts: list[Any]) -> complex:
    real, imaginary = map(_read_float, parts)
    return complex(real, imaginary)


def _hashable(items: list[Any]) -> list[Any]:
    worst = Counter(map(hash, items)).most_common(1)
    if worst and worst[0][1] > MAX_COLLISIONS:
        raise Unreadable("too many keys of the same hash")
    return items


def _read_dict(pairs: list[Any]) -> dict[Any, Any]:
    for pair in pairs:
        if type(pair) is not list or len(pair) != 2:
            raise Unreadable("a dict whose items are no pairs")
    _hashable([key for key, _ in pairs])
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Unreadable("a dict with the same key twice")
    return found


def _read_set(items: list[Any]) -> set[Any]:
    found = set(_hashable(items))
    if len(found) != len(items):
        raise Unreadable("a set with the same item twice")
    return found


_READERS: dict[str, Callable[[Any], Any]] = {
    "i": _read_int,
    "f": _read_float,
    "c": _read_complex,
    "b": bytes.fromhex,
    "t": tuple,
    "s": _read_set,
    "z": lambda items: frozenset(_read_set(items)),
    "d": _read_dict,
}


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                below += [*item.keys(), *item.values()]
            elif isinstance(item, list | tuple | set | frozenset):
                below += item
        if not below:
            return
        level = below
    raise Unreadable("a value that is nested too deeply")


def agrees(expected: Any, got: Any, match: Match = STRICT) -> bool:
    """Return whether a result agrees with the expected value."""
    if match.truth:
        return bool(got) is bool(expected)
    if isinstance(expected, list | tuple):
        return _sequences_agree(expected, got, match)
    if isinstance(expected, dict):
        return _dicts_agree(expected, got, match)
    if isinstance(expected, set | frozenset):
        alike = isinstance(got, set | frozenset) if match.as_python else type(got) is type(expected)
        return alike and len(got) == len(expected) and _keys(expected, match) == _keys(got, match)
    return _scalars_agree(expected, got, match)


def _sequences_agree(expected: list[Any] | tuple[Any, ...], got: Any, match: Match) -> bool:
    alike = type(got) is type(expected) or (match.sequences_alike and isinstance(got, list | tuple))
    return (
        alike
        and len(got) == len(expected)
        and all(agrees(left, right, match) for left, right in zip(expected, got, strict=True))
    )


def _dicts_agree(expected: dict[Any, Any], got: Any, match: Match) -> bool:
    if type(got) is not dict or len(got) != len(expected):
        return False
    theirs = {_key(key, match): value for key, value in got.items()}
    ours = {_key(key, match): value for key, value in expected.items()}
    return ours.keys() == theirs.keys() and all(agrees(ours[k], theirs[k], match) for k in ours)


def _keys(items: Any, match: Match) -> list[str]:
    return sorted(_key(item, match) for item in items)


def _key(value: Any, match: Match) -> str:
    """Return a text that is equal for equal hashable values, by the rules of the match."""
    if isinstance(value, tuple | frozenset):
        inner = [_key(item, match) for item in value]
        inner = inner if isinstance(value, tuple) else sorted(inner)
        return json.dumps([type(value).__name__, inner])
    if match.as_python and isinstance(value, complex) and value.imag == 0:
        value = value.real
    if match.as_python and isinstance(value, bool | float) and value == value // 1:
        value = int(value)
    if isinstance(value, float) and value == 0.0:
        value = 0.0  # and not -0.0, which is equal to it
    return json.dumps([type(value).__name__, encode(value)])


def _scalars_agree(expected: Any, got: Any, match: Match) -> bool:
    if match.as_python and isinstance(expected, _NUMBERS) and isinstance(got, _NUMBERS):
        return _numbers_agree(expected, got, match)
    if type(got) is not type(expected):
        return False
    if isinstance(expected, float | complex):
        return _numbers_agree(expected, got, match)
    return bool(expected == got)


def _numbers_agree(expected: Any, got: Any, match: Match) -> bool:
    """Compare numbers, of which only finite ones may differ, and a NaN agrees with a NaN."""
    try:
        left, right = complex(expected), complex(got)
    except OverflowError:  # an integer beyond all floats
        return bool(expected == got)
    parts = (left.real, left.imag, right.real, right.imag)
    if not all(map(math.isfinite, parts)):
        return _same_float(left.real, right.real) and _same_float(left.imag, right.imag)
    if not match.abs_tol and not match.rel_tol:
        return bool(expected == got)  # and not of floats, which large integers do not fit
    tolerance = max(match.abs_tol, match.rel_tol * math.hypot(left.real, left.imag))
    return math.hypot(left.real - right.real, left.imag - right.imag) <= tolerance < math.inf


def _same_float(left: float, right: float) -> bool:
    return left == right or (math.isnan(left) and math.isnan(right))
