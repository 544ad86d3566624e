"""Run one query on several databases; this file is the program that the sandbox runs.

Reads one JSON object from stdin and writes one JSON list: for each database the rows, or what
went wrong. The query can read the tables and nothing else, and stops after a number of steps of
the database engine, so that its fate does not depend on the machine's speed.
"""

import json
import sqlite3
import sys
from typing import Any

_MAX_STEPS = 3_000_000  # of the engine, for one database
_EVERY = 10_000
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 200_000,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 50_000,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 50,
}
_READING = frozenset(
    {
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_RECURSIVE,
    }
)
# Functions whose value is not decided by the data, or that reach outside it.
_FORBIDDEN = frozenset(
    {
        *(
            "random",
            "randomblob",
            "load_extension",
            "readfile",
            "writefile",
            "edit",
            "fts3_tokenizer",
        ),
        *("current_date", "current_time", "current_timestamp", "changes", "total_changes"),
        *("last_insert_rowid", "sqlite_version", "sqlite_source_id", "sqlite_compileoption_get"),
    }
)


def _authorize(action: int, first: str | None, second: str | None, *_: object) -> int:
    if action not in _READING:
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _FORBIDDEN:
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_READ and (first or "").lower().startswith(("sqlite_", "pragma_")):
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def _connect(schema: str, tables: dict[str, list[list[Any]]]) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript(schema)
    for name, rows in tables.items():
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            connection.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)  # noqa: S608  # our own names
    for limit, value in _LIMITS.items():
        connection.setlimit(limit, value)
    connection.set_authorizer(_authorize)
    left = [_MAX_STEPS // _EVERY]

    def count() -> int:
        left[0] -= 1
        return int(left[0] < 0)

    connection.set_progress_handler(count, _EVERY)
    return connection


def _cell(value: object) -> object:
    return {"blob": value.hex()} if isinstance(value, bytes) else value


def rows_of(
    schema: str, tables: dict[str, list[list[Any]]], query: str, most: int
) -> dict[str, Any]:
    """Return the rows of a query, at most ``most`` of them, or the error."""
    connection = _connect(schema, tables)
    try:
        cursor = connection.execute(query)
        if cursor.description is None:
            return {"error": "the statement returns no rows: it is no query"}
        return {"rows": [[_cell(value) for value in row] for row in cursor.fetchmany(most)]}
    except (sqlite3.Error, sqlite3.Warning, ValueError, MemoryError) as error:
        return {"error": f"{error}"[:200]}
    finally:
        connection.close()


def main() -> None:
    """Answer the request on stdin."""
    job = json.loads(sys.stdin.read())
    found = [
        rows_of(job["schema"], tables, job["query"], job["most"]) for tables in job["databases"]
    ]
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
