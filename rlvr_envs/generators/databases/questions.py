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


_AGGREGATES = {"MIN": "smallest", "MAX": "largest", "SUM": "total", "AVG": "average"}


def _list(rng: Rng, s: Scene) -> Question:
    c, where = s.child, where_clause(rng, s.n_filters, s.child)
    return Question(
        f"List all {c.name} {_such(where)}. Return one row for each {c.noun}.",
        (f"the {c.noun}'s {named(c.label)}", f"the {c.noun}'s {named(c.amount)}"),
        f"SELECT {c.label}, {c.amount} FROM {c.name} WHERE {where.sql}",
    )


def _count(rng: Rng, s: Scene) -> Question:
    c, where = s.child, where_clause(rng, s.n_filters, s.child)
    return Question(
        f"How many {c.name} are there {_such(where)}?",
        (f"the number of {c.name}",),
        f"SELECT COUNT(*) FROM {c.name} WHERE {where.sql}",
    )


def _aggregate(rng: Rng, s: Scene) -> Question:
    c, where = s.child, where_clause(rng, s.n_filters, s.child)
    function, column = pick(rng, tuple(_AGGREGATES)), pick(rng, (c.amount, c.spare))
    words = f"the {_AGGREGATES[function]} {named(column)}"
    ignored = f"The answer is NULL if there are no such {c.name}."
    if column == c.spare:
        ignored = "Ignore NULL values. The answer is NULL if no values remain."
    return Question(
        f"Consider only {c.name} {_such(where)}. What is {words} among them? {ignored}",
        (words,),
        f"SELECT {function}({column}) FROM {c.name} WHERE {where.sql}",
    )


def _distinct(rng: Rng, s: Scene) -> Question:
    c, where = s.child, where_clause(rng, s.n_filters, s.child)
    return Question(
        f"Which pairs of {named(c.label)} and {named(c.kind)} occur among the {c.name} "
        f"{_such(where)}? Return each pair once.",
        (f"the {named(c.label)}", f"the {named(c.kind)}"),
        f"SELECT DISTINCT {c.label}, {c.kind} FROM {c.name} WHERE {where.sql}",
    )


def _top(rng: Rng, s: Scene) -> Question:
    c, where, k = s.child, where_clause(rng, s.n_filters, s.child), integer(rng, 2, 5)
    word, direction = pick(rng, (("highest", "DESC"), ("lowest", "ASC")))
    return Question(
        f"Consider only {c.name} {_such(where)}. Sort them by {named(c.amount)}, {word} first; if "
        f"the {named(c.amount)} is equal, the smaller id comes first. Return the first {k} of "
        "them, or all if there are fewer.",
        (f"the {c.noun}'s id", f"the {c.noun}'s {named(c.amount)}"),
        f"SELECT id, {c.amount} FROM {c.name} WHERE {where.sql} "
        f"ORDER BY {c.amount} {direction}, id ASC LIMIT {k}",
        (0, 1),
    )


def _group(rng: Rng, s: Scene) -> Question:
    c, where = s.child, where_clause(rng, s.n_filters, s.child)
    function = pick(rng, tuple(_AGGREGATES))
    total = f"the {_AGGREGATES[function]} {named(c.amount)}"
    return Question(
        f"Consider only {c.name} {_such(where)}. For each {named(c.kind)} among them, find the "
        f"number of {c.name}, the number of {c.name} whose {named(c.spare)} is not NULL, and "
        f"{total}.",
        (
            f"the {named(c.kind)}",
            f"the number of {c.name}",
            f"the number of {c.name} whose {named(c.spare)} is not NULL",
            total,
        ),
        f"SELECT {c.kind}, COUNT(*), COUNT({c.spare}), {function}({c.amount}) FROM {c.name} "
        f"WHERE {where.sql} GROUP BY {c.kind}",
    )


def _having(rng: Rng, s: Scene) -> Question:
    c, where, k = s.child, where_clause(rng, s.n_filters, s.child), integer(rng, 2, 3)
    return Question(
        f"Consider only {c.name} {_such(where)}. Which {named(c.label)}s occur at least {k} "
        f"times among them? For each such {named(c.label)}, return the number of {c.name} that "
        "have it. Sort "
        "by this number, largest first; rows with equal numbers may come in any order.",
        (f"the {named(c.label)}", f"the number of {c.name} with this {named(c.label)}"),
        f"SELECT {c.label}, COUNT(*) FROM {c.name} WHERE {where.sql} GROUP BY {c.label} "
        f"HAVING COUNT(*) >= {k} ORDER BY COUNT(*) DESC",
        (1,),
    )


def _join(rng: Rng, s: Scene) -> Question:
    c, p = s.child, s.parent
    where = where_clause(rng, s.n_filters + 1, p, c)
    return Question(
        f"List all {c.name} that have a {p.noun} and {_such(where)}. Return one row for each "
        f"{c.noun}.",
        (f"the {c.noun}'s id", f"the {p.noun}'s {named(p.label)}"),
        f"SELECT {c.name}.id, {p.name}.{p.label} FROM {c.name} JOIN {p.name} "
        f"ON {s.child_to_parent} WHERE {where.sql}",
    )


def _left(rng: Rng, s: Scene) -> Question:
    c, p, where = s.child, s.parent, where_clause(rng, s.n_filters, s.child)
    return Question(
        f"For every {p.noun}, count its {c.name} {_such(where)}. Include {p.name} that have "
        "none, with the number 0.",
        (f"the {p.noun}'s {named(p.label)}", f"the number of {c.name}"),
        f"SELECT {p.name}.{p.label}, COUNT({c.name}.id) FROM {p.name} LEFT JOIN {c.name} "
        f"ON {s.child_to_parent} AND {where.sql} GROUP BY {p.name}.id",
    )


def _without(rng: Rng, s: Scene) -> Question:
    c, p, where = s.child, s.parent, where_clause(rng, s.n_filters, s.child)
    return Question(
        f"Which {p.name} have no {c.noun} {_such(where)}? Include {p.name} that have no {c.noun} "
        "at all.",
        (f"the {p.noun}'s {named(p.label)}", f"the {p.noun}'s {named(p.kind)}"),
        f"SELECT {p.label}, {p.kind} FROM {p.name} WHERE NOT EXISTS (SELECT 1 FROM {c.name} "
        f"WHERE {s.child_to_parent} AND {where.sql})",
    )


def _above_average(rng: Rng, s: Scene) -> Question:
    c, where = s.child, where_clause(rng, s.n_filters, s.child)
    return Question(
        f"Consider only {c.name} {_such(where)}. Which of them have a {named(c.amount)} above the "
        f"average {named(c.amount)} of their {named(c.kind)}? The average is over all {c.name} of "
        f"that {named(c.kind)}, including those that are not considered.",
        (f"the {c.noun}'s id",),
        f"SELECT id FROM {c.name} WHERE {where.sql} AND {c.amount} > (SELECT AVG(other.{c.amount}) "
        f"FROM {c.name} AS other WHERE other.{c.kind} = {c.name}.{c.kind})",
    )


def _three_tables(rng: Rng, s: Scene) -> Question:
    c, p, e = s.child, s.parent, s.event
    where, least = where_clause(rng, s.n_filters + 1, e, c), amount(rng)
    return Question(
        f"For each {p.noun}, find the total {named(e.amount)} of the {e.name} of its {c.name}. "
        f"Count only {e.name} {_such(where)}. Leave out every {p.noun} that has no such "
        f"{e.noun}, or whose total is below {least}. Sort by total, largest first; sort equal "
        f"totals by the {p.noun}'s {named(p.label)}, from A to Z.",
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
        f"Consider only {c.name} that have a {p.noun} and {_such(where)}. Within each {p.noun}, "
        f"rank them by {named(c.amount)}, highest first. The rank of a {c.noun} is 1 plus the "
        f"number of considered {c.name} of the same {p.noun} with a higher {named(c.amount)}. "
        f"Return all {c.name} with a rank of at most {k}.",
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
        f"Consider only {e.name} {_such(where)}. For each of them, find the running total of "
        f"the {named(e.amount)} within its {c.noun}: sort the considered {e.name} of the {c.noun} "
        "by "
        f"{named(e.kind)} and then by id, and add up the {named(e.amount)} of all {e.name} up to "
        "and including this one.",
        (f"the {e.noun}'s id", "the running total"),
        f"SELECT {e.name}.id, SUM({e.name}.{e.amount}) OVER (PARTITION BY {e.name}.{e.link} "
        f"ORDER BY {e.name}.{e.kind}, {e.name}.id) FROM {e.name} JOIN {c.name} "
        f"ON {s.event_to_child} WHERE {where.sql}",
    )


def _share(rng: Rng, s: Scene) -> Question:
    c, p = s.child, s.parent
    where = where_clause(rng, s.n_filters, s.child)
    return Question(
        f"Consider only {c.name} that have a {p.noun} and {_such(where)}. For each of them, find "
        f"its {named(c.amount)} as a percentage (0 to 100) of the total {named(c.amount)} of the "
        f"considered {c.name} of the same {p.noun}.",
        (f"the {c.noun}'s id", "the percentage"),
        f"SELECT {c.name}.id, 100.0 * {c.name}.{c.amount} / SUM({c.name}.{c.amount}) OVER "
        f"(PARTITION BY {p.name}.id) FROM {c.name} JOIN {p.name} ON {s.child_to_parent} "
        f"WHERE {where.sql}",
    )


def _change(rng: Rng, s: Scene) -> Question:
    c, e = s.child, s.event
    where = where_clause(rng, s.n_filters, e, c)
    return Question(
        f"Consider only {e.name} {_such(where)}. Sort those of each {c.noun} by {named(e.kind)} "
        f"and then by id. For each {e.noun} except the first of its {c.noun}, find its "
        f"{named(e.amount)} minus the {named(e.amount)} of the {e.noun} directly before it.",
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
