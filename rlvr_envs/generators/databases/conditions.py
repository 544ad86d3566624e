"""Conditions on rows: each is made in words and as SQL, side by side."""

from typing import NamedTuple

from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.databases.themes import Table, amount, day


class Clause(NamedTuple):
    """A condition: the column that it is about (if it is about one), as SQL, and in words."""

    column: str
    sql: str
    words: str


def named(column: str) -> str:
    """Return the name of a column as words."""
    return column.replace("_", " ")


def where_clause(rng: Rng, count: int, *tables: Table) -> Clause:
    """Draw conditions on the tables: two must both hold; of more, one of several pairs."""
    drawn: list[Clause] = []
    for number in range(count):
        table = tables[number % len(tables)]
        drawn.append(_another(rng, table, {clause.column for clause in drawn}))
    pairs = [_pair(drawn[at : at + 2]) for at in range(0, count, 2)]
    if len(pairs) == 1:
        return pairs[0]
    sql = " OR ".join(f"({pair.sql})" for pair in pairs)
    return Clause(
        "",
        f"({sql})",
        "at least one of these holds: "
        + "; ".join(f"({chr(97 + number % 26)}) {pair.words}" for number, pair in enumerate(pairs)),
    )


def _pair(clauses: list[Clause]) -> Clause:
    if len(clauses) == 1:
        return clauses[0]
    first, second = clauses
    return Clause("", f"{first.sql} AND {second.sql}", f"{first.words} and {second.words}")


def _another(rng: Rng, table: Table, taken: set[str]) -> Clause:
    """Draw a condition, on a column that no other is about as long as there is one."""
    columns = {column for column in (table.kind, table.amount, table.spare) if column}
    while True:
        clause = condition(rng, table)
        if clause.column not in taken or columns <= taken:
            return clause


def condition(rng: Rng, table: Table) -> Clause:
    """Draw a condition on a row of a table."""
    makers = [_kind_is, _kind_is_not, _kind_among] if table.kinds else [_since, _before]
    if table.amount:
        makers += [_amount_above, _amount_at_most, _amount_between]
    if table.spare:
        makers += [_spare_missing, _spare_at_least]
    return pick(rng, makers)(rng, table)


def _whose(table: Table, column: str) -> str:
    return f"the {table.noun}'s {named(column)}"


def _kind_is(rng: Rng, table: Table) -> Clause:
    kind = pick(rng, table.kinds)
    return Clause(
        table.kind,
        f"{table.name}.{table.kind} = '{kind}'",
        f"{_whose(table, table.kind)} is '{kind}'",
    )


def _kind_is_not(rng: Rng, table: Table) -> Clause:
    kind = pick(rng, table.kinds)
    return Clause(
        table.kind,
        f"{table.name}.{table.kind} <> '{kind}'",
        f"{_whose(table, table.kind)} is not '{kind}'",
    )


def _kind_among(rng: Rng, table: Table) -> Clause:
    first = pick(rng, table.kinds)
    second = pick(rng, [kind for kind in table.kinds if kind != first])
    return Clause(
        table.kind,
        f"{table.name}.{table.kind} IN ('{first}', '{second}')",
        f"{_whose(table, table.kind)} is '{first}' or '{second}'",
    )


def _since(rng: Rng, table: Table) -> Clause:
    date = day(rng)
    return Clause(
        table.kind,
        f"{table.name}.{table.kind} >= '{date}'",
        f"{_whose(table, table.kind)} is {date} or later",
    )


def _before(rng: Rng, table: Table) -> Clause:
    date = day(rng)
    return Clause(
        table.kind,
        f"{table.name}.{table.kind} < '{date}'",
        f"{_whose(table, table.kind)} is before {date}",
    )


def _amount_above(rng: Rng, table: Table) -> Clause:
    least = amount(rng)
    return Clause(
        table.amount,
        f"{table.name}.{table.amount} > {least}",
        f"{_whose(table, table.amount)} is above {least}",
    )


def _amount_at_most(rng: Rng, table: Table) -> Clause:
    most = amount(rng)
    return Clause(
        table.amount,
        f"{table.name}.{table.amount} <= {most}",
        f"{_whose(table, table.amount)} is at most {most}",
    )


def _amount_between(rng: Rng, table: Table) -> Clause:
    low = amount(rng)
    high = low + 5 * integer(rng, 2, 6)
    return Clause(
        table.amount,
        f"{table.name}.{table.amount} BETWEEN {low} AND {high}",
        f"{_whose(table, table.amount)} is from {low} to {high} (inclusive)",
    )


def _spare_missing(rng: Rng, table: Table) -> Clause:
    known = rng.random() < 0.5
    return Clause(
        table.spare,
        f"{table.name}.{table.spare} IS {'NOT ' * known}NULL",
        f"{_whose(table, table.spare)} is {'not ' * known}NULL",
    )


def _spare_at_least(rng: Rng, table: Table) -> Clause:
    least = integer(rng, 2, 7)
    return Clause(
        table.spare,
        f"{table.name}.{table.spare} >= {least}",
        f"{_whose(table, table.spare)} is at least {least} (NULL does not count)",
    )
