"""How a row is written: a JSON object a line in JSONL, ten columns in Parquet.

A row's ``config``, ``problem`` and ``reference`` are shaped by its task. JSONL holds them as they
are; Parquet holds them as JSON text, so that every task's rows fit one schema. `unpack` takes
either form.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from rlvr_envs.core.errors import RowError
from rlvr_envs.core.instance import ROW_KEYS, Row
from rlvr_envs.core.problem import canonical

FREE_FORM = ("config", "problem", "reference")
INTEGERS = ("difficulty", "problem_seed")


def pack(row: Row) -> Row:
    """Return the row with its free-form data as JSON text."""
    return row | {key: canonical(row[key]) for key in FREE_FORM if key in row}


def unpack(data: Mapping[str, Any]) -> Row:
    """Return the row of a record in either form.

    Raises:
        RowError: what should be JSON text is not.
    """
    row = dict(data)
    if not isinstance(row.get("config"), str):
        return row
    for key in FREE_FORM:
        if isinstance(row.get(key), str):
            try:
                row[key] = json.loads(row[key])
            except (RecursionError, ValueError) as error:
                raise RowError(f"{key} is not JSON text: {row[key]!r:.80} ({error})") from error
    return row


def json_line(record: Mapping[str, Any]) -> bytes:
    """Return a record as a line of JSONL."""
    try:
        return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    except UnicodeEncodeError:  # a lone surrogate, which only an escape can hold
        return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def arrow_table(arrow: Any, rows: Iterable[Row]) -> Any:
    """Return rows as a pyarrow table of the fixed schema."""
    packed = [pack(row) for row in rows]
    schema = arrow.schema(
        [(key, arrow.int64() if key in INTEGERS else arrow.string()) for key in ROW_KEYS]
    )
    return arrow.Table.from_pylist(packed, schema=schema)
