"""Judge a query by its rows on several databases: it runs in the sandbox."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Any

from rlvr_envs.core.verdict import Status, Verdict
from rlvr_envs.generators.databases.themes import Cell, Database, Row, Rows
from rlvr_envs.sandboxes.base import Job, Limits, Result, RunStatus
from rlvr_envs.sandboxes.shared import shared_sandbox

_LIMITS = Limits(cpu_s=10.0, stdout_kib=900, output_kib=1024)
_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Expected:
    """The rows that a query has to return, and the columns that their order is judged by."""

    rows: Rows
    order_by: tuple[int, ...] = ()


@cache
def _runner() -> bytes:
    return files("rlvr_envs.generators.databases").joinpath("runner.py").read_bytes()


def judge_query(
    query: str,
    schema: str,
    names: Sequence[str],
    databases: Sequence[Database],
    expected: Sequence[Expected],
) -> Verdict:
    """Return full marks if the query gives the expected rows on every database."""
    most = 1 + max(len(each.rows) for each in expected)
    result = _run(query, schema, names, databases, most)
    if result.status is RunStatus.SANDBOX_ERROR:
        return Verdict.verifier_error(result.detail)
    found = _read(result)
    if found is None:
        return Verdict.wrong(f"running the query ended with {result.status.value}")
    right = 0
    reason = ""
    for answer, wanted in zip(found, expected, strict=True):
        fault = answer.get("error") or compare(answer["rows"], wanted)
        right += not fault
        reason = reason or str(fault)
    parts = {"databases_right": float(right), "databases": float(len(expected))}
    if right == len(expected):
        return Verdict(1.0, Status.CORRECT, parts=parts)
    return Verdict(0.0, Status.WRONG, reason, parts)


def _run(
    query: str, schema: str, names: Sequence[str], databases: Sequence[Database], most: int
) -> Result:
    request = {
        "schema": schema,
        "databases": [dict(zip(names, tables, strict=True)) for tables in databases],
        "query": query,
        "most": most,
    }
    job = Job(
        script="main.py",
        files={"main.py": _runner()},
        stdin=json.dumps(request).encode(),
        limits=_LIMITS,
    )
    return shared_sandbox().run(job)


def _read(result: Result) -> list[Mapping[str, Any]] | None:
    """Return what the runner wrote, or None if it did not get to write."""
    if not result.ok or result.stdout_truncated:
        return None
    found: list[Mapping[str, Any]] = json.loads(result.stdout)
    return found


def compare(rows: Sequence[Sequence[Any]], expected: Expected) -> str:
    """Return how the rows differ from the expected ones, or an empty text.

    Rows are compared as a multiset. Where an order was asked for, the columns it goes by must come
    in the expected order too, so rows that tie may stand either way.
    """
    wanted = expected.rows
    if len(rows) != len(wanted):
        return "the number of rows is wrong"
    if wanted and any(len(row) != len(wanted[0]) for row in rows):
        return "the number of columns is wrong"
    if not _same_multiset(rows, wanted):
        return "the rows have wrong values"
    for row, other in zip(rows, wanted, strict=True):
        if not all(_same(row[column], other[column]) for column in expected.order_by):
            return "the rows are in the wrong order"
    return ""


def _same_multiset(rows: Sequence[Sequence[Any]], wanted: Rows) -> bool:
    if not any(isinstance(cell, float) for row in wanted for cell in row):
        return Counter(map(_exact, rows)) == Counter(map(_exact, wanted))
    computed = [
        column
        for column in range(len(wanted[0]))
        if any(isinstance(row[column], float) for row in wanted)
    ]
    # Sorted by the exact columns first, equal rows end up in equal places.
    left = sorted(rows, key=lambda row: _rank(row, computed))
    right = sorted(wanted, key=lambda row: _rank(row, computed))
    return all(
        all(_same(cell, other) for cell, other in zip(row, match, strict=True))
        for row, match in zip(left, right, strict=True)
    )


def _exact(row: Sequence[Any]) -> tuple[tuple[str, str], ...]:
    return tuple((type(cell).__name__, repr(cell)) for cell in row)


def _rank(row: Sequence[Any], computed: Sequence[int]) -> tuple[list[tuple[str, str]], list[float]]:
    exact = [
        (type(cell).__name__, repr(cell))
        for column, cell in enumerate(row)
        if column not in computed
    ]
    numbers = (row[column] for column in computed)
    return exact, [float(n) if isinstance(n, (int, float)) else -math.inf for n in numbers]


def _same(cell: object, wanted: Cell) -> bool:
    """Compare a cell; a computed average may be off by rounding, and may be an integer."""
    if isinstance(wanted, float):
        return (
            isinstance(cell, (int, float))
            and math.isfinite(cell)
            and math.isclose(cell, wanted, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
        )
    return type(cell) is type(wanted) and cell == wanted


def settled(rows: Rows, order_by: tuple[int, ...]) -> Rows:
    """Return the rows in an order that does not depend on how the engine found them.

    Rows that the question leaves in any order are sorted; only those that tie may move.
    """
    found: list[Row] = []
    for _, tied in groupby(rows, key=lambda row: [row[column] for column in order_by]):
        found += sorted(tied, key=_exact_values)
    return tuple(found)


def _exact_values(row: Row) -> list[tuple[bool, str, float]]:
    return [(cell is None, cell if isinstance(cell, str) else "", _number(cell)) for cell in row]


def _number(cell: Cell) -> float:
    return float(cell) if isinstance(cell, (int, float)) else 0.0


def as_rows(rows: Sequence[Sequence[Any]]) -> Rows:
    """Return rows as problems hold them."""
    return tuple(_as_row(row) for row in rows)


def _as_row(row: Sequence[Any]) -> Row:
    return tuple(row)
