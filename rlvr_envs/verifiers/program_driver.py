"""The program that calls a function of a solution, inside of the sandbox and in its process.

The text of this file is sent into the sandbox beside the solution; it uses the standard library
only. It reads one request from the standard input, ``{"nonce", "function", "args", "loose"}``,
loads ``solution.py`` as a module, calls the function, and writes one line: the nonce, a space and
a report ``[kind, data]``. It knows no expected value and judges nothing: a solution that tampers
with it can forge nothing but its own result, and for that it must know the right one.

`encode` and `decode` define how values travel as JSON: None, bool, str, int and list as
themselves, everything else as an object with one key that says the type.
"""

import collections
import importlib
import json
import os
import sys
from collections.abc import Callable
from typing import Any

MAX_DEPTH = 50
_PLAIN_INT = 10**15  # longer ones travel in base 16, which is read in linear time
_STDLIB_DICTS = (collections.Counter, collections.defaultdict, collections.OrderedDict)


class NotData(Exception):
    """A value holds something that cannot travel."""


def encode(value: Any, loose: bool = False, depth: int = 0) -> Any:
    """Return a value as JSON data.

    Args:
        value: of the exact types None, bool, int, float, complex, str, bytes, list, tuple, set,
            frozenset or dict, all the way down.
        loose: whether the standard library's kinds of dict count as dict, and numpy's numbers and
            arrays as numbers and lists.
        depth: of the containers around it.

    Raises:
        NotData: it holds anything else, also a subclass of these, or is nested too deeply.
    """
    if loose and type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        value = value.tolist()
    kind = type(value)
    if kind in _SCALARS:
        return _SCALARS[kind](value)
    if depth >= MAX_DEPTH:
        raise NotData("a value that is nested too deeply")
    if kind is dict or (loose and kind in _STDLIB_DICTS):
        below = depth + 1
        return {"d": [[encode(k, loose, below), encode(v, loose, below)] for k, v in value.items()]}
    if kind not in _SEQUENCES:
        raise NotData("a value of a type that is not plain data")
    items = [encode(item, loose, depth + 1) for item in value]
    tag = _SEQUENCES[kind]
    return {tag: items} if tag else items


def _same(value: Any) -> Any:
    return value


def _encode_int(value: int) -> Any:
    return value if -_PLAIN_INT < value < _PLAIN_INT else {"i": hex(value)}


_SCALARS: dict[type, Callable[[Any], Any]] = {
    type(None): _same,
    bool: _same,
    str: _same,
    int: _encode_int,
    float: lambda value: {"f": repr(value)},
    complex: lambda value: {"c": [repr(value.real), repr(value.imag)]},
    bytes: lambda value: {"b": value.hex()},
}
_SEQUENCES: dict[type, str] = {list: "", tuple: "t", set: "s", frozenset: "z"}


def decode(data: Any) -> Any:
    """Return the value that `encode` wrote; for data of ours, which needs no caps."""
    if type(data) is list:
        return [decode(item) for item in data]
    if type(data) is not dict:
        return data
    ((tag, inner),) = data.items()
    return _DECODERS[tag](inner)


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "i": lambda inner: int(inner, 16),
    "f": float,
    "c": lambda inner: complex(float(inner[0]), float(inner[1])),
    "b": bytes.fromhex,
    "t": lambda inner: tuple(decode(item) for item in inner),
    "s": lambda inner: {decode(item) for item in inner},
    "z": lambda inner: frozenset(decode(item) for item in inner),
    "d": lambda inner: {decode(key): decode(item) for key, item in inner},
}


def report(function: str, args: Any, loose: bool) -> list[Any]:
    """Load the solution, call its function and return ``[kind, data]``.

    ``Class.method`` is called on an object made without arguments.
    """
    sys.path.insert(0, "")
    module = importlib.import_module("solution")
    outer, _, method = function.partition(".")
    target = getattr(module, outer, None)
    if method and isinstance(target, type):
        target = getattr(target(), method, None)
    if not callable(target):
        return ["missing", None]
    value = target(*args)
    try:
        return ["value", encode(value, loose)]
    except NotData as error:
        return ["refused", str(error)]


def main() -> None:
    """Answer the request on the standard input."""
    request = json.loads(sys.stdin.buffer.read())
    args = decode(request["args"])
    # What the solution prints goes to the standard error; only this descriptor reaches the judge.
    channel = os.dup(1)
    os.dup2(2, 1)
    try:
        told = report(request["function"], args, request["loose"])
    except BaseException as error:  # noqa: BLE001 - SystemExit is the solution's doing too
        told = ["error", type(error).__name__]
    frame = f"{request['nonce']} {json.dumps(told)}\n".encode("ascii")
    while frame:
        frame = frame[os.write(channel, frame) :]
    os._exit(0)  # no hook and no thread of the solution runs after the report


if __name__ == "__main__":
    main()
