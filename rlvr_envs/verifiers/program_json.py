"""Arguments and results as lines of JSON, for a program that stands for a Python function.

JSON has lists, but no tuples, sets, bytes, complex numbers or infinities, and its keys are texts.
Tuples are written as lists; whatever else it lacks is refused. What a program prints is read under
the same rules, and complaints about it tell nothing of what is expected.
"""

import json
import math
from typing import Any

_SPACE = " \t\n\r\f\v"


class NotJson(ValueError):
    """A value cannot be written as JSON, or an output is no line of JSON; the message says why."""


def to_line(value: Any) -> str:
    """Return plain data as one line of JSON, in which a tuple is a list.

    Raises:
        NotJson: it holds something that JSON has no form for.
    """
    _check(value)
    try:
        line = json.dumps(value, ensure_ascii=False, allow_nan=False)
        line.encode()
    except ValueError as error:  # too long an integer, or half a surrogate pair
        raise NotJson(str(error)) from error
    return line


def read_line(output: str) -> Any:
    """Return the value of an output that is one line of JSON, with white space around it.

    Raises:
        NotJson: it is anything else.
    """
    line = output.strip(_SPACE)
    if "\n" in line:
        raise NotJson("the output has more than one line")
    try:
        return json.loads(line, parse_constant=_constant, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise NotJson("the output is no JSON value") from error


def _check(value: Any) -> None:
    parts: Any = ()
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise NotJson("a dict with a key that is no text")
        parts = value.values()
    elif isinstance(value, list | tuple):
        parts = value
    elif isinstance(value, float) and not math.isfinite(value):
        raise NotJson(f"the float {value}")
    elif value is not None and not isinstance(value, bool | int | float | str):
        raise NotJson(f"a {type(value).__name__}")
    for part in parts:
        _check(part)


def _constant(word: str) -> Any:
    raise NotJson(word)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotJson("the same key twice")
    return found
