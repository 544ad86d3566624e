"""Queries that are nearly right: slips that the hidden databases have to tell from the original."""

import re
from collections.abc import Iterator

# What stands in a query, and what a slip makes of it, one occurrence at a time.
_SLIPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r">=", (">", "=")),
    (r"<=", ("<",)),
    (r"(?<![<>])=", ("<>",)),
    (r"<>", ("=",)),
    (r"(?<!<)>(?!=)", (">=", "<")),
    (r"<(?![=>])", ("<=", ">")),
    (r"\bAND\b(?! \d)", ("OR",)),
    (r"(?<=\.id) AND\b", (" WHERE",)),
    (r"\bOR\b", ("AND",)),
    (r"\bNOT ", ("",)),
    (r"\bIN\b", ("NOT IN",)),
    (r"\bIS NULL\b", ("IS NOT NULL",)),
    (r"\bLEFT JOIN\b", ("JOIN",)),
    (r"(?<!LEFT )\bJOIN\b", ("LEFT JOIN",)),
    (r"\bDESC\b", ("ASC",)),
    (r"\bASC\b", ("DESC",)),
    (r"\bDISTINCT ", ("",)),
    (r"^SELECT (?!DISTINCT)", ("SELECT DISTINCT ",)),
    (r"\bMIN\(", ("MAX(",)),
    (r"\bMAX\(", ("MIN(", "AVG(")),
    (r"\bSUM\(", ("AVG(", "MAX(")),
    (r"\bAVG\(", ("SUM(", "MAX(")),
    (r"\bCOUNT\([\w.]+\)", ("COUNT(*)",)),
    (r"\bRANK\(\)", ("ROW_NUMBER()", "DENSE_RANK()")),
    (r"PARTITION BY [\w.]+ ?", ("",)),
    (r" GROUP BY [\w.]+", ("",)),
    (r" HAVING .+?(?= ORDER BY|$)", ("",)),
    (r" LIMIT \d+", ("",)),
    (r"(?<=BETWEEN )\d+", ("0",)),
    (r"100\.0", ("100", "1.0")),
)
_AMOUNT = 10  # smaller numbers count rows, or are compared with the optional column
_NUMBER = re.compile(r"(?<![\w.'-])\d+(?![\w.'-])")


def edges(sql: str) -> tuple[int, ...]:
    """Return the numbers that a query compares amounts with."""
    return tuple(sorted({int(found[0]) for found in _limits(sql) if int(found[0]) >= _AMOUNT}))


def _limits(sql: str) -> Iterator[re.Match[str]]:
    return (
        found for found in _NUMBER.finditer(sql) if not sql.endswith("SELECT ", 0, found.start())
    )


def mutants(sql: str) -> Iterator[str]:
    """Return the query with one slip in it, for every slip that fits; some may change nothing."""
    for pattern, others in _SLIPS:
        for found in re.finditer(pattern, sql):
            for other in others:
                yield sql[: found.start()] + other + sql[found.end() :]
    for found in _limits(sql):
        for change in (1, -1):
            yield f"{sql[: found.start()]}{int(found[0]) + change}{sql[found.end() :]}"
