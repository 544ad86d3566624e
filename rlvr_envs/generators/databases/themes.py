"""Databases for questions: five themes of three linked tables each, and rows to fill them.

Every theme has the same shape, so that a question is worded once: a parent, its children, and the
children's events. Rows are drawn from few values on purpose: equal amounts, equal names, missing
links and values at the edge of a condition are what tells a nearly right query from a right one.
"""

from dataclasses import dataclass
from typing import TypeAlias

from rlvr_envs.core.seeding import Rng, integer, pick

Cell: TypeAlias = int | float | str | None
Row: TypeAlias = tuple[Cell, ...]
Rows: TypeAlias = tuple[Row, ...]
Database: TypeAlias = tuple[Rows, ...]  # the rows of each table, in the order of the schema


@dataclass(frozen=True, slots=True)
class Table:
    """A table, what one row of it is called, and the columns by what they hold."""

    name: str  # of the table
    noun: str  # one row of it
    label: str = ""  # a text that names a row; unique only for parents
    kind: str = ""  # a text out of few; a date for events
    kinds: tuple[str, ...] = ()  # what ``kind`` may be; empty for dates
    amount: str = ""  # a whole number, never missing
    spare: str = ""  # a whole number that may be missing, or empty where there is none
    link: str = ""  # the column that refers to the table one level up, or empty


@dataclass(frozen=True, slots=True)
class Theme:
    """A parent, a child and an event table."""

    name: str
    parent: Table
    child: Table
    event: Table

    def tables(self, count: int) -> tuple[Table, ...]:
        """Return the first tables of: child, parent, event."""
        return (self.child, self.parent, self.event)[:count]


_PLACES = ("Lima", "Oslo", "Quito", "Riga")

THEMES = (
    Theme(
        "company",
        Table("departments", "department", "name", "city", _PLACES),
        Table(
            "employees",
            "employee",
            "name",
            "role",
            ("analyst", "clerk", "driver", "engineer"),
            "salary",
            "bonus",
            "department_id",
        ),
        Table("shifts", "shift", kind="day", amount="duration", link="employee_id"),
    ),
    Theme(
        "library",
        Table("branches", "branch", "name", "town", _PLACES),
        Table(
            "books",
            "book",
            "title",
            "genre",
            ("atlas", "drama", "novel", "poetry"),
            "price",
            "rating",
            "branch_id",
        ),
        Table("loans", "loan", kind="day", amount="fee", link="book_id"),
    ),
    Theme(
        "shop",
        Table("suppliers", "supplier", "name", "country", ("Chile", "Ghana", "Japan", "Norway")),
        Table(
            "products",
            "product",
            "name",
            "category",
            ("books", "garden", "kitchen", "toys"),
            "price",
            "discount",
            "supplier_id",
        ),
        Table("sales", "sale", kind="day", amount="quantity", link="product_id"),
    ),
    Theme(
        "school",
        Table("schools", "school", "name", "district", ("east", "north", "south", "west")),
        Table(
            "students",
            "student",
            "name",
            "subject",
            ("art", "biology", "history", "physics"),
            "score",
            "year",
            "school_id",
        ),
        Table("exams", "exam", kind="day", amount="mark", link="student_id"),
    ),
    Theme(
        "harbour",
        Table("docks", "dock", "name", "side", ("inner", "lee", "outer", "weather")),
        Table(
            "ships",
            "ship",
            "name",
            "flag",
            ("Danish", "Greek", "Indian", "Polish"),
            "tonnage",
            "crew",
            "dock_id",
        ),
        Table("voyages", "voyage", kind="day", amount="duration", link="ship_id"),
    ),
)

_LABELS = (
    *("Alder", "Basalt", "Cedar", "Delta", "Ember", "Fjord", "Grove", "Heron", "Indigo", "Juniper"),
    *("Kestrel", "Larch", "Maple", "Nimbus", "Otter", "Pebble", "Quartz", "Raven", "Sable", "Tern"),
)


def schema(tables: tuple[Table, ...]) -> str:
    """Return the statements that create the tables."""
    return "\n".join(_create(table, tables) for table in tables)


def columns(table: Table, tables: tuple[Table, ...]) -> tuple[str, ...]:
    """Return the names of a table's columns."""
    return tuple(name for name, _ in _columns(table, tables))


def _linked(table: Table, tables: tuple[Table, ...]) -> str:
    """Return the name of the table that a table refers to, or an empty text."""
    above = [other.name for other in tables if table.link == f"{other.noun}_id"]
    return above[0] if above else ""


def _columns(table: Table, tables: tuple[Table, ...]) -> list[tuple[str, str]]:
    unique = "" if table.link else " UNIQUE"
    above = _linked(table, tables)
    named = [
        ("id", "INTEGER PRIMARY KEY"),
        (table.label, f"TEXT NOT NULL{unique}"),
        (table.kind, "TEXT NOT NULL"),
        (table.amount, "INTEGER NOT NULL"),
        (table.spare, "INTEGER"),
        (table.link if above else "", f"INTEGER REFERENCES {above}(id)"),
    ]
    return [(name, kind) for name, kind in named if name]


def _create(table: Table, tables: tuple[Table, ...]) -> str:
    body = ", ".join(f"{name} {kind}" for name, kind in _columns(table, tables))
    return f"CREATE TABLE {table.name} ({body});"


def fill(rng: Rng, tables: tuple[Table, ...], size: int, edges: tuple[int, ...] = ()) -> Database:
    """Draw the rows of a database whose main table has ``size`` of them.

    Every other amount is one of the ``edges``, or next to it.
    """
    sizes = {"child": size, "parent": 2 + size // 4, "event": size + size // 2}
    counts = dict(zip(("child", "parent", "event"), sizes.values(), strict=True))
    roles = ("child", "parent", "event")[: len(tables)]
    drawn = []
    for role, table in zip(roles, tables, strict=True):
        above = counts["parent"] if role == "child" else counts["child"]
        linked = bool(_linked(table, tables))
        drawn.append(_rows(rng, table, counts[role], above if linked else 0, edges))
    return tuple(drawn)


def _rows(rng: Rng, table: Table, count: int, above: int, edges: tuple[int, ...]) -> Rows:
    unique = not table.link
    labels = _unique_labels(rng, count)
    if not unique:
        labels = [pick(rng, labels[: 2 + count // 3]) for _ in range(count)]
    # A few of the rows above are linked to by nobody.
    targets = [number for number in range(1, above + 1) if number == 1 or rng.random() < 0.8]
    rows = []
    for number in range(count):
        row: list[Cell] = [number + 1]
        if table.label:
            row.append(labels[number])
        row.append(pick(rng, table.kinds) if table.kinds else day(rng))
        if table.amount:
            near = pick(rng, edges) if edges and rng.random() < 0.5 else amount(rng)
            row.append(near + pick(rng, (-1, 0, 0, 1)))
        if table.spare:
            row.append(None if rng.random() < 0.3 else integer(rng, 0, 9))
        if above:
            # An event always has its child; a child may be without a parent.
            lost = bool(table.label) and rng.random() < 0.15
            row.append(None if lost else pick(rng, targets))
        rows.append(tuple(row))
    return tuple(rows)


def _unique_labels(rng: Rng, count: int) -> list[str]:
    order = [str(_LABELS[place]) for place in rng.permutation(len(_LABELS)).tolist()]
    return [
        order[number % len(order)] + (f" {number // len(order) + 1}" * (number >= len(order)))
        for number in range(count)
    ]


def amount(rng: Rng) -> int:
    """Draw an amount: a multiple of 5 from 10 to 80."""
    return 5 * integer(rng, 2, 16)


def day(rng: Rng) -> str:
    """Draw a date out of some forty."""
    return f"2024-{integer(rng, 1, 4):02d}-{3 * integer(rng, 1, 9):02d}"
