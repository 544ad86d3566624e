"""Questions about a database: each is made in words and as a query, side by side."""

# ruff: noqa: S608  # these queries are made of our own words

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.databases.conditions import Clause, named, where_clause
from rlvr_envs.generators.databases.themes import Table, Theme, amount


@dataclass(frozen=True, slots=True)
class Question:
    """A question.

    Attributes:
        words: what is asked.
        columns: what the columns of the answer hold, in order.
        sql: a query that answers it.
        order_by: the columns of the answer that its order is judged by; empty for any order.
    """

    words: str
    columns: tuple[str, ...]
    sql: str
    order_by: tuple[int, ...] = ()


class Scene(NamedTuple):
    """What questions are made from."""

    theme: Theme
    n_filters: int

    @property
    def child(self) -> Table:
        return self.theme.child

    @property
    def parent(self) -> Table:
        return self.theme.parent

    @property
    def event(self) -> Table:
        return self.theme.event

    @property
    def child_to_parent(self) -> str:
        """The condition that joins the two."""
        return f"{self.child.name}.{self.child.link} = {self.parent.name}.id"

    @property
    def event_to_child(self) -> str:
        """The condition that joins the two."""
        return f"{self.event.name}.{self.event.link} = {self.child.name}.id"


def _such(clause: Clause) -> str:
    return f"for which {clause.words}"


_AGGREGATES = {"MIN": "smallest", "MAX": "largest", "SUM": "total", "AVG": "average (mean)"}


def _list(rng: Rng, s: Scene) -> Question:
    c, where = s.child, where_clause(rng, s.n_filters, s.child)
    return Question(
        f"List, with one row each, the {c.name} {_such(where)}.",
        (named(c.label), named(c.amount)),
        f"SELECT {c.label}, {c.amount} FROM {c.name} WHERE {where.sql}",
    )


def _count(rng: Rng, s: Scene) -> Question:
    c, where = s.child, where_clause(rng, s.n_filters, s.child)
    return Question(
        f"How many {c.name} are there {_such(where)}?",
        ("their number",),
        f"SELECT COUNT(*) FROM {c.name} WHERE {where.sql}",
    )


def _aggregate(rng: Rng, s: Scene) -> Question:
    c, where = s.child, where_clause(rng, s.n_filters, s.child)
    function, column = pick(rng, tuple(_AGGREGATES)), pick(rng, (c.amount, c.spare))
    words = f"the {_AGGREGATES[function]} {named(column)}"
    return Question(
        f"Of the {c.name} {_such(where)}, what is {words} (missing values left out; NULL if "
        "there is nothing to take it of)?",
        (words,),
        f"SELECT {function}({column}) FROM {c.name} WHERE {where.sql}",
    )


def _distinct(rng: Rng, s: Scene) -> Question:
    c, where = s.child, where_clause(rng, s.n_filters, s.child)
    return Question(
        f"Which pairs of {named(c.label)} and {named(c.kind)} occur among the {c.name} "
        f"{_such(where)}? Give each pair once.",
        (named(c.label), named(c.kind)),
        f"SELECT DISTINCT {c.label}, {c.kind} FROM {c.name} WHERE {where.sql}",
    )


def _top(rng: Rng, s: Scene) -> Question:
    c, where, k = s.child, where_clause(rng, s.n_filters, s.child), integer(rng, 2, 5)
    word, direction = pick(rng, (("highest", "DESC"), ("lowest", "ASC")))
    return Question(
        f"Of the {c.name} {_such(where)}, which {k} have the {word} {named(c.amount)}? Put the "
        f"{word} first; of equal ones, the smaller id comes first (and is preferred). Fewer rows "
        "if there are not that many.",
        ("id", named(c.amount)),
        f"SELECT id, {c.amount} FROM {c.name} WHERE {where.sql} "
        f"ORDER BY {c.amount} {direction}, id ASC LIMIT {k}",
        (0, 1),
    )


def _group(rng: Rng, s: Scene) -> Question:
    c, where = s.child, where_clause(rng, s.n_filters, s.child)
    function = pick(rng, tuple(_AGGREGATES))
    total = f"their {_AGGREGATES[function]} {named(c.amount)}"
    return Question(
        f"Consider only {c.name} {_such(where)}. For each {named(c.kind)} among them: how many "
        f"there are, how many of those have a {named(c.spare)} that is not missing, and {total}.",
        (named(c.kind), "the number", f"those with a known {named(c.spare)}", total),
        f"SELECT {c.kind}, COUNT(*), COUNT({c.spare}), {function}({c.amount}) FROM {c.name} "
        f"WHERE {where.sql} GROUP BY {c.kind}",
    )


def _having(rng: Rng, s: Scene) -> Question:
    c, where, k = s.child, where_clause(rng, s.n_filters, s.child), integer(rng, 2, 3)
    return Question(
        f"Which {named(c.label)}s are borne by at least {k} {c.name} {_such(where)}? Give each "
        f"with its number of such {c.name}; the largest number first, rows of equal numbers in "
        "any order.",
        (named(c.label), "the number"),
        f"SELECT {c.label}, COUNT(*) FROM {c.name} WHERE {where.sql} GROUP BY {c.label} "
        f"HAVING COUNT(*) >= {k} ORDER BY COUNT(*) DESC",
        (1,),
    )


def _join(rng: Rng, s: Scene) -> Question:
    c, p = s.child, s.parent
    where = where_clause(rng, s.n_filters + 1, p, c)
    return Question(
        f"List, with one row each, the {c.name} that have a {p.noun} and {_such(where)}.",
        (f"the {c.noun}'s id", f"the {p.noun}'s {named(p.label)}"),
        f"SELECT {c.name}.id, {p.name}.{p.label} FROM {c.name} JOIN {p.name} "
        f"ON {s.child_to_parent} WHERE {where.sql}",
    )


def _left(rng: Rng, s: Scene) -> Question:
    c, p, where = s.child, s.parent, where_clause(rng, s.n_filters, s.child)
    return Question(
        f"For every {p.noun}, those without any included: how many {c.name} does it have "
        f"{_such(where)}?",
        (f"the {p.noun}'s {named(p.label)}", "the number"),
        f"SELECT {p.name}.{p.label}, COUNT({c.name}.id) FROM {p.name} LEFT JOIN {c.name} "
        f"ON {s.child_to_parent} AND {where.sql} GROUP BY {p.name}.id",
    )


def _without(rng: Rng, s: Scene) -> Question:
    c, p, where = s.child, s.parent, where_clause(rng, s.n_filters, s.child)
    return Question(
        f"Which {p.name} have no {c.noun} at all {_such(where)}?",
        (f"the {p.noun}'s {named(p.label)}", f"its {named(p.kind)}"),
        f"SELECT {p.label}, {p.kind} FROM {p.name} WHERE NOT EXISTS (SELECT 1 FROM {c.name} "
        f"WHERE {s.child_to_parent} AND {where.sql})",
    )


def _above_average(rng: Rng, s: Scene) -> Question:
    c, where = s.child, where_clause(rng, s.n_filters, s.child)
    return Question(
        f"Consider only {c.name} {_such(where)}. Which of them have a {named(c.amount)} above the "
        f"average of all {c.name}, considered or not, of the same {named(c.kind)}?",
        (f"the {c.noun}'s id",),
        f"SELECT id FROM {c.name} WHERE {where.sql} AND {c.amount} > (SELECT AVG(other.{c.amount}) "
        f"FROM {c.name} AS other WHERE other.{c.kind} = {c.name}.{c.kind})",
    )


def _three_tables(rng: Rng, s: Scene) -> Question:
    c, p, e = s.child, s.parent, s.event
    where, least = where_clause(rng, s.n_filters + 1, e, c), amount(rng)
    return Question(
        f"For each {p.noun}: what is the total {named(e.amount)} of the {e.name} of its "
        f"{c.name}, counting only {e.name} {_such(where)}? Leave out every {p.noun} whose "
        f"total is below {least}, or which has none. The largest total first, equal totals by "
        f"{named(p.label)} from A to Z.",
        (f"the {p.noun}'s {named(p.label)}", "the total"),
        f"SELECT {p.name}.{p.label}, SUM({e.name}.{e.amount}) FROM {p.name} JOIN {c.name} "
        f"ON {s.child_to_parent} JOIN {e.name} ON {s.event_to_child} WHERE {where.sql} "
        f"GROUP BY {p.name}.id HAVING SUM({e.name}.{e.amount}) >= {least} "
        f"ORDER BY 2 DESC, {p.name}.{p.label} ASC",
        (0, 1),
    )


def _ranked(rng: Rng, s: Scene) -> Question:
    c, p = s.child, s.parent
    where, k = where_clause(rng, s.n_filters, s.child), integer(rng, 1, 3)
    return Question(
        f"Consider only {c.name} that have a {p.noun} and {_such(where)}. In each {p.noun}, "
        f"rank them by {named(c.amount)}, the highest first; the rank of each is 1 plus the "
        f"number of those in its {p.noun} with a higher one. Which have rank {k} or better?",
        (f"the {p.noun}'s {named(p.label)}", f"the {c.noun}'s id", "the rank"),
        f"SELECT place, number, position FROM (SELECT {p.name}.{p.label} AS place, {c.name}.id AS "
        f"number, RANK() OVER (PARTITION BY {p.name}.id ORDER BY {c.name}.{c.amount} DESC) AS "
        f"position FROM {c.name} JOIN {p.name} ON {s.child_to_parent} WHERE {where.sql}) "
        f"WHERE position <= {k}",
    )


def _running(rng: Rng, s: Scene) -> Question:
    c, e = s.child, s.event
    where = where_clause(rng, s.n_filters, e, c)
    return Question(
        f"Consider only {e.name} {_such(where)}. For each of them: the running total of "
        f"{named(e.amount)} over those of its {c.noun}, in order of {named(e.kind)} and, where "
        "that is equal, of id, up to and including its own.",
        (f"the {e.noun}'s id", "the running total"),
        f"SELECT {e.name}.id, SUM({e.name}.{e.amount}) OVER (PARTITION BY {e.name}.{e.link} "
        f"ORDER BY {e.name}.{e.kind}, {e.name}.id) FROM {e.name} JOIN {c.name} "
        f"ON {s.event_to_child} WHERE {where.sql}",
    )


def _share(rng: Rng, s: Scene) -> Question:
    c, p = s.child, s.parent
    where = where_clause(rng, s.n_filters, s.child)
    return Question(
        f"Consider only {c.name} that have a {p.noun} and {_such(where)}. For each of them: what "
        f"percentage of the total {named(c.amount)} of those of its {p.noun} is its own?",
        (f"the {c.noun}'s id", "the percentage, not rounded"),
        f"SELECT {c.name}.id, 100.0 * {c.name}.{c.amount} / SUM({c.name}.{c.amount}) OVER "
        f"(PARTITION BY {p.name}.id) FROM {c.name} JOIN {p.name} ON {s.child_to_parent} "
        f"WHERE {where.sql}",
    )


def _change(rng: Rng, s: Scene) -> Question:
    c, e = s.child, s.event
    where = where_clause(rng, s.n_filters, e, c)
    return Question(
        f"Consider only {e.name} {_such(where)}. Put those of each {c.noun} in order of "
        f"{named(e.kind)} and, where that is equal, of id. For each one but the first of its "
        f"{c.noun}: by how much does its {named(e.amount)} exceed that of the one before it?",
        (f"the {e.noun}'s id", "the difference"),
        f"SELECT number, now - past FROM (SELECT {e.name}.id AS number, {e.name}.{e.amount} "
        f"AS now, LAG({e.name}.{e.amount}) OVER (PARTITION BY {e.name}.{e.link} ORDER BY "
        f"{e.name}.{e.kind}, {e.name}.id) AS past FROM {e.name} JOIN {c.name} "
        f"ON {s.event_to_child} WHERE {where.sql}) WHERE past IS NOT NULL",
    )


# In order of difficulty, each with the number of tables that it needs.
SHAPES: tuple[tuple[Callable[[Rng, Scene], Question], int], ...] = (
    (_list, 1),
    (_count, 1),
    (_aggregate, 1),
    (_distinct, 1),
    (_top, 1),
    (_group, 1),
    (_having, 1),
    (_join, 2),
    (_left, 2),
    (_without, 2),
    (_above_average, 1),
    (_three_tables, 3),
    (_ranked, 2),
    (_running, 3),
    (_share, 2),
    (_change, 3),
)


def ask(rng: Rng, theme: Theme, shape: int, n_filters: int) -> Question:
    """Draw a question of a shape, with at least ``n_filters`` conditions in it."""
    return SHAPES[shape][0](rng, Scene(theme, n_filters))
