"""Programs of the small representation as JSON text, so that a stored problem can be run again."""

import dataclasses
import json
from functools import lru_cache
from typing import Any

from rlvr_envs.core.errors import RowError
from rlvr_envs.generators.programs import nodes
from rlvr_envs.generators.programs.check import check

_KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        *(nodes.Int, nodes.Bool, nodes.Str, nodes.Var, nodes.Binary, nodes.Not, nodes.Neg),
        *(nodes.Length, nodes.Index, nodes.Call, nodes.ListOf, nodes.Let, nodes.Assign),
        *(nodes.SetItem, nodes.Append, nodes.If, nodes.While, nodes.For, nodes.Return),
        *(nodes.Print, nodes.Function, nodes.Program),
    )
}


def program_text(program: nodes.Program) -> str:
    """Return a program as JSON: a node is an object of one name, a tuple is a list."""
    return json.dumps(_plain(program), separators=(",", ":"))


@lru_cache(maxsize=64)
def read_program(text: str) -> nodes.Program:
    """Rebuild the program that `program_text` wrote.

    Raises:
        RowError: the text is no program.
    """
    try:
        program = _node(json.loads(text))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise RowError(f"not a stored program: {text!r:.80} ({error})") from error
    if not isinstance(program, nodes.Program):
        raise RowError(f"not a stored program: {text!r:.80}")
    return check(program)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if dataclasses.is_dataclass(value):
        parts = [_plain(getattr(value, field.name)) for field in dataclasses.fields(value)]
        return {type(value).__name__: parts}
    return value


def _node(data: Any) -> Any:
    if isinstance(data, list):
        return tuple(_node(item) for item in data)
    if isinstance(data, dict):
        ((name, parts),) = data.items()
        return _KINDS[name](*map(_node, parts))
    return data
