"""Problems as data: a JSON codec for frozen dataclasses, and fields that stay hidden.

A field may be bool, int, float, str, None, `fractions.Fraction`, an enum, a tuple of those, a
union of those, or another such dataclass. The codec is closed on purpose: what a row holds can
be read by any JSON reader, and reading a row never runs anything.
"""

import dataclasses
import hashlib
import json
import math
import os
import re
import types
import typing
from collections.abc import Callable, Mapping
from enum import Enum
from fractions import Fraction
from functools import cache
from typing import Any, TypeVar

from rlvr_envs.core.errors import RowError

T = TypeVar("T")
_HIDDEN = "rlvr_envs.hidden"
_FRACTION = re.compile(r"-?\d+(/\d+)?", re.ASCII)
_MISSING = dataclasses.MISSING

# What the data of a row may hold. The largest that tasks write are the tests of published
# programming problems, some MiB. Python writes and reads no longer integers.
_MAX_CHARS = 1 << 26
_MAX_ITEMS = 1 << 22
_MAX_DEPTH = 32
_MAX_DIGITS = 4300
_INTEGER_END = 10**_MAX_DIGITS


def hidden(default: Any = _MISSING) -> Any:
    """Declare a dataclass field that neither the prompt nor the public view may show.

    Example:
        ``witness: tuple[int, ...] = hidden()``

    Examples:
        >>> from dataclasses import dataclass
        >>> from rlvr_envs.core.problem import hidden
        >>> @dataclass(frozen=True)
        ... class Sum:
        ...     terms: tuple[int, ...]
        ...     total: int = hidden()
    """
    return dataclasses.field(default=default, metadata={_HIDDEN: True})


@cache
def _fields(cls: Any) -> tuple[tuple[str, bool], ...]:
    return tuple((f.name, bool(f.metadata.get(_HIDDEN))) for f in dataclasses.fields(cls))


def to_json(value: Any) -> Any:
    """Return a dataclass, or anything that its fields may hold, as JSON data."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, tuple):
        return [to_json(item) for item in value]
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: to_json(getattr(value, name)) for name, _ in _fields(value.__class__)}
    raise TypeError(f"a problem may not hold a {type(value).__name__}: {value!r}")


def hidden_fields(cls: Any) -> list[str]:
    """Return the names of the fields that `hidden` declares in a problem's class."""
    return [name for name, secret in _fields(cls) if secret]


def public_view(problem: Any) -> dict[str, Any]:
    """Return the fields of a problem that an agent may see, as JSON data."""
    return {
        name: to_json(getattr(problem, name))
        for name, secret in _fields(problem.__class__)
        if not secret
    }


def fingerprint(task_id: str, problem: Any) -> str:
    """Return 32 hex digits that are equal exactly for equal questions of a task.

    Hidden fields are left out: one question with two witnesses is one question.
    """
    text = canonical([task_id, public_view(problem)])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def canonical(data: Any) -> str:
    """Return JSON data as text, the same for equal data."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def from_json(cls: type[T], data: Any) -> T:
    """Rebuild the dataclass that `to_json` wrote.

    Raises:
        RowError: a field is missing, unknown or of the wrong type.
    """
    decode: Decoder = _decoder(typing.cast(Any, cls))
    return typing.cast(T, decode(data, cls.__name__))


def check_size(data: Any, where: str) -> None:
    """Check that JSON data is no larger than any problem: in text, items, depth and digits.

    Raises:
        RowError: it is larger, or is no JSON data.
    """
    chars, items, level, depth = 0, 0, [data], 0
    while level:
        depth += 1
        below: list[Any] = []
        for each in level:
            if isinstance(each, str):
                chars += len(each)
            elif isinstance(each, (list, tuple, Mapping)):
                items += len(each)
            elif isinstance(each, int) and abs(each) >= _INTEGER_END:
                raise RowError(f"{where}: an integer has more than {_MAX_DIGITS} digits")
            if chars > _MAX_CHARS or items > _MAX_ITEMS or depth > _MAX_DEPTH:
                raise RowError(
                    f"{where}: larger than any problem is ({_MAX_CHARS:,} characters, "
                    f"{_MAX_ITEMS:,} values, {_MAX_DEPTH} lists within each other)"
                )
            if isinstance(each, (list, tuple)):
                below.extend(each)
            elif isinstance(each, Mapping):
                below.extend(each.values())
        level = below


def fitted(kind: Any, value: Any, where: str) -> Any:
    """Return a value as a field of a type holds it.

    A list becomes a tuple, a path its text, an integer a float where one is wanted.

    Raises:
        RowError: the value is of another type, or is a float that is not finite.
    """
    plain = value.item() if hasattr(value, "item") else value  # of numpy
    plain = os.fspath(plain) if isinstance(plain, os.PathLike) else plain
    decoded = _decoder(kind)(plain if isinstance(plain, list) else to_json(plain), where)
    if isinstance(decoded, float) and not math.isfinite(decoded):
        raise RowError(f"{where}: expected a finite number, got {value!r:.80}")
    return decoded


Decoder: typing.TypeAlias = Callable[[Any, str], Any]


@cache
def _decoder(kind: Any) -> Decoder:
    origin = typing.get_origin(kind)
    if origin is tuple:
        return _tuple_decoder(typing.get_args(kind))
    if origin in (typing.Union, types.UnionType):
        return _union_decoder(typing.get_args(kind))
    if origin is typing.Literal:
        return _union_decoder(tuple(type(value) for value in typing.get_args(kind)))
    if dataclasses.is_dataclass(kind):
        return _dataclass_decoder(typing.cast(type, kind))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _enum_decoder(kind)
    if kind in _SCALARS:
        return _SCALARS[kind]
    raise TypeError(f"a problem's field may not be of type {kind!r}")


def _scalar(kind: type, allowed: tuple[type, ...]) -> Decoder:
    def decode(data: Any, where: str) -> Any:
        if not isinstance(data, allowed) or (isinstance(data, bool) and kind is not bool):
            raise RowError(f"{where}: expected {kind.__name__}, got {data!r:.80}")
        return kind(data)

    return decode


def _none(data: Any, where: str) -> None:
    if data is not None:
        raise RowError(f"{where}: expected null, got {data!r:.80}")


def _fraction(data: Any, where: str) -> Fraction:
    if not isinstance(data, str) or not _FRACTION.fullmatch(data):
        raise RowError(f"{where}: expected a fraction such as '3/4', got {data!r:.80}")
    try:
        return Fraction(data)
    except ZeroDivisionError as error:
        raise RowError(f"{where}: zero denominator in {data!r:.80}") from error


_SCALARS: dict[Any, Decoder] = {
    bool: _scalar(bool, (bool,)),
    int: _scalar(int, (int,)),
    float: _scalar(float, (int, float)),
    str: _scalar(str, (str,)),
    types.NoneType: _none,
    Fraction: _fraction,
}


def _tuple_decoder(args: tuple[Any, ...]) -> Decoder:
    def decode(data: Any, where: str) -> tuple[Any, ...]:
        if not isinstance(data, (list, tuple)):
            raise RowError(f"{where}: expected a list, got {data!r:.80}")
        if len(args) == 2 and args[1] is Ellipsis:
            item = _decoder(args[0])
            return tuple(item(value, where) for value in data)
        if len(data) != len(args):
            raise RowError(f"{where}: expected {len(args)} items, got {len(data)}")
        return tuple(_decoder(arg)(value, where) for arg, value in zip(args, data, strict=True))

    return decode


def _union_decoder(args: tuple[Any, ...]) -> Decoder:
    def decode(data: Any, where: str) -> Any:
        for arg in args:
            try:
                return _decoder(arg)(data, where)
            except RowError:
                continue
        raise RowError(f"{where}: {data!r:.80} fits none of {args}")

    return decode


def _enum_decoder(kind: type[Enum]) -> Decoder:
    def decode(data: Any, where: str) -> Enum:
        try:
            return kind(data)
        except ValueError as error:
            raise RowError(f"{where}: {error}") from error

    return decode


def _dataclass_decoder(cls: type) -> Decoder:
    hints = typing.get_type_hints(cls)
    known = [name for name, _ in _fields(cls)]

    def decode(data: Any, where: str) -> Any:
        if not isinstance(data, Mapping):
            raise RowError(f"{where}: expected an object, got {data!r:.80}")
        missing, unknown = sorted(set(known) - set(data)), sorted(set(data) - set(known))
        if missing or unknown:
            raise RowError(f"{where}: missing fields {missing}, unknown fields {unknown}")
        return cls(**{n: _decoder(hints[n])(data[n], f"{where}.{n}") for n in known})

    return decode
