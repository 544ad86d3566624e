"""SQL queries that answer a question on any database of a schema."""

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import ClassVar

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.code_length import code_length
from rlvr_envs.generators.databases.judge import Expected, as_rows, compare, judge_query, settled
from rlvr_envs.generators.databases.mutants import edges, mutants
from rlvr_envs.generators.databases.questions import SHAPES, Question, ask
from rlvr_envs.generators.databases.themes import (
    THEMES,
    Cell,
    Database,
    Rows,
    Table,
    columns,
    fill,
    schema,
)

_QUESTIONS = 60  # drawn before a database is given up on
_JUDGED = 5  # questions whose hidden databases are drawn before the last is taken
_UNTOLD = 0.1  # of the slips; some of them change nothing
_CANDIDATES = 24  # hidden databases drawn to choose from
_NUMBERS = ("no", "one", "two", "three", "four")
_SHOWN_ROWS = 12  # of an expected result


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlQueryConfig(TaskConfig):
    """Which questions are asked, of how large databases."""

    first_shape: int = knob(0, "the easiest kind of question, see `SHAPES`")
    last_shape: int = knob(8, "the hardest kind of question")
    n_filters: int = knob(1, "conditions in a question", low=1, high=60)
    n_rows: int = knob(8, "rows of the main table of the shown database", low=4, high=500)
    n_hidden: int = knob(4, "hidden databases, at least", low=2, high=50)

    def check(self) -> None:
        if not 0 <= self.first_shape <= self.last_shape < len(SHAPES):
            raise ConfigError(
                f"need 0 <= first_shape <= last_shape <= {len(SHAPES) - 1}, got {self}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "SqlQueryConfig":
        """Three neighbouring kinds of question, the harder the later; conditions and rows grow."""
        last = min(len(SHAPES) - 1, 2 + 3 * difficulty // 2)
        return cls(
            first_shape=last - 2,
            last_shape=last,
            n_filters=min(60, 1 + 2 * difficulty // 5),
            n_rows=min(500, 5 + difficulty),
            n_hidden=4 + difficulty // 5,
        )


@dataclass(frozen=True, slots=True)
class SqlQueryProblem:
    """A schema with data, a question, its answer there, and the hidden databases with theirs."""

    schema: str
    tables: tuple[str, ...]
    shown: Database
    question: str
    columns: tuple[str, ...]
    order_by: tuple[int, ...]
    answer: Rows  # on the shown database
    databases: tuple[Database, ...] = hidden()
    answers: tuple[Rows, ...] = hidden()
    sql: str = hidden()


@register("SqlQuery-v0", domain="code", answer_format="fenced:sql")
class SqlQueryTask(Task[SqlQueryConfig, SqlQueryProblem]):
    """Write one SQLite query that answers a question about linked tables.

    Description:
        A question is made in words and as a query at once. Rows hold equal names, equal amounts,
        missing values, missing links and values at the edge of the conditions. Hidden databases
        of the same schema are chosen so that slips in the query (another comparison, join,
        aggregate, order, a lost condition) change the result on at least one of them, wherever
        they change anything.

    Observation:
        The tables with their rows, the question, and its answer on these rows.

    Action:
        One SELECT statement of SQLite.

    Reward:
        1 if the query gives the right rows on the shown and on every hidden database.

    Verification:
        The query runs in the sandbox, on databases in memory, where it may read these tables and
        do nothing else; expected rows stay outside. Rows are compared as a multiset, values with
        their types, column names not at all; where an order is asked for, the columns it goes by
        must come in that order. Averages and percentages may be off by 1e-6. Known gap: a wrong
        query that agrees on all the databases passes.

    Difficulty:
        The kind of question: filters, aggregates, groups, joins, subqueries, windows. A level has
        three neighbouring kinds. The conditions and the rows grow, too.

    References:
        T. Yu et al., Spider: a large-scale human-labeled dataset for complex and cross-domain
        semantic parsing and text-to-SQL task, 2018; R. Zhong, T. Yu and D. Klein, Semantic
        evaluation for text-to-SQL with distilled test suites, 2020.
    """

    judged_in_sandbox: ClassVar[bool] = True

    def generate(self, rng: Rng) -> SqlQueryProblem:
        config = self.config
        theme = pick(rng, THEMES)
        shape = integer(rng, config.first_shape, config.last_shape)
        tables = theme.tables(SHAPES[shape][1])
        judged = 0
        for attempt in range(_QUESTIONS):
            shown = fill(rng, tables, config.n_rows + attempt // 10)
            question = ask(rng, theme, shape, config.n_filters)
            with closing(_open(tables, shown)) as connection:
                answer = settled(_rows(connection, question.sql), question.order_by)
            many = bool(question.order_by) and attempt < _QUESTIONS // 2
            if len(answer) <= many or not _telling(answer):
                continue
            judged += 1
            databases, answers, clear = self._hidden(rng, tables, question)
            if clear or judged == _JUDGED:
                break
        else:
            raise ConfigError(f"found no question with a non-trivial answer for {config}")
        names = tuple(table.name for table in tables)
        return SqlQueryProblem(
            *(schema(tables), names, shown, question.words, question.columns, question.order_by),
            *(answer, databases, answers, question.sql),
        )

    def _hidden(
        self, rng: Rng, tables: tuple[Table, ...], question: Question
    ) -> tuple[tuple[Database, ...], tuple[Rows, ...], bool]:
        """Draw databases that tell slips from the question; at last, whether they tell most."""
        slips = sorted(set(mutants(question.sql)) - {question.sql})
        alive = slips
        databases: list[Database] = []
        answers: list[Rows] = []
        for number in range(_CANDIDATES):
            size = self.config.n_rows + integer(rng, 0, self.config.n_rows) + 2 * number
            database = fill(rng, tables, size, edges(question.sql))
            with closing(_open(tables, database)) as connection:
                answer = settled(_rows(connection, question.sql), question.order_by)
                wanted = Expected(answer, question.order_by)
                left = [sql for sql in alive if _agrees(connection, sql, wanted)]
            missing = len(databases) < self.config.n_hidden
            fresh = bool(answer) and (answer not in answers or number > _CANDIDATES // 2)
            if len(left) < len(alive) or (missing and fresh):
                databases.append(database)
                answers.append(answer)
                alive = left
            if len(databases) >= self.config.n_hidden and not alive:
                break
        return tuple(databases), tuple(answers), len(alive) <= 3 + _UNTOLD * len(slips)

    def prompt(self, problem: SqlQueryProblem) -> str:
        columns, count = problem.columns, len(problem.columns)
        comma = "," if count > 2 else ""
        listed = f"{', '.join(columns[:-1])}{comma} and {columns[-1]}" if count > 1 else columns[0]
        asked = "one column" if count == 1 else f"{_NUMBERS[count]} columns, in this order"
        one_value = count == 1 and not columns[0].endswith(" id")
        order = "" if one_value else " The rows may come in any order."
        if problem.order_by:
            order = " Return the rows in the order described above."
        exact = " Do not round." if any(_is_computed(name) for name in columns) else ""
        return (
            f"A SQLite database has these tables and rows:\n\n{_listing(problem)}\n\n"
            f"{problem.question}\n\nWrite one SQLite query that answers this for any database with "
            f"this schema. Return {asked}: {listed}.{order}{exact}\n\n"
            f"For the rows above, the result is:\n{_shown_answer(problem.answer)}"
        )

    def verify(self, problem: SqlQueryProblem, answer: str) -> Verdict:
        if not answer.strip():
            return Verdict.unparsable("the query is empty")
        return judge_query(
            answer,
            problem.schema,
            problem.tables,
            (problem.shown, *problem.databases),
            [Expected(rows, problem.order_by) for rows in (problem.answer, *problem.answers)],
        )

    def solve(self, problem: SqlQueryProblem) -> str:
        return f"{problem.sql};"

    def effort(self, problem: SqlQueryProblem) -> int:
        """Count the words and signs of the query, once for each SELECT, JOIN and OVER in it."""
        return code_length(problem.sql) * len(re.findall("SELECT|JOIN|OVER", problem.sql))

    def baseline(self, rng: Rng, problem: SqlQueryProblem) -> str:
        """Return all rows of the first table."""
        return f"SELECT * FROM {problem.tables[0]};"  # noqa: S608  # our own name

    def explain(self, problem: SqlQueryProblem) -> list[str]:
        """Return the clauses of the query, in the order in which they take effect."""
        clauses = _clauses(problem.sql)
        return [
            f"{words}: {keyword} {clauses[keyword]}"
            for keyword, words in _MEANINGS.items()
            if keyword in clauses
        ]


def _is_computed(column: str) -> bool:
    """Whether the values of a column may have decimals."""
    return "average" in column or "percentage" in column


def _open(tables: tuple[Table, ...], database: Database) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript(schema(tables))
    for table, rows in zip(tables, database, strict=True):
        marks = ", ".join("?" * len(columns(table, tables)))
        connection.executemany(f"INSERT INTO {table.name} VALUES ({marks})", rows)  # noqa: S608  # our own names
    return connection


def _rows(connection: sqlite3.Connection, sql: str) -> Rows:
    """Return the rows of a query of our own."""
    return as_rows(connection.execute(sql).fetchall())


def _agrees(connection: sqlite3.Connection, sql: str, wanted: Expected) -> bool:
    """Whether a slip, which may have made nonsense of the query, gives the wanted rows."""
    try:
        return not compare(_rows(connection, sql), wanted)
    except sqlite3.Error:
        return False


def _telling(answer: Rows) -> bool:
    """Whether an answer says something: it is not empty, nor all NULL and 0."""
    return any(cell not in (None, 0) for row in answer for cell in row)


def _listing(problem: SqlQueryProblem) -> str:
    parts = []
    statements = problem.schema.split("\n")
    for statement, name, rows in zip(statements, problem.tables, problem.shown, strict=True):
        values = ",\n".join(f"  ({', '.join(map(_literal, row))})" for row in rows)
        parts.append(f"{statement}\nINSERT INTO {name} VALUES\n{values};")
    return "\n\n".join(parts)


def _literal(cell: Cell) -> str:
    if cell is None:
        return "NULL"
    return f"'{cell}'" if isinstance(cell, str) else repr(cell)


def _shown_answer(rows: Sequence[Sequence[Cell]]) -> str:
    lines = [f"({', '.join(map(_literal, row))})" for row in rows[:_SHOWN_ROWS]]
    if len(rows) > _SHOWN_ROWS:
        lines.append(f"and {len(rows) - _SHOWN_ROWS} more rows")
    return "\n".join(lines)


# The clauses of a query in the order in which they take effect.
_MEANINGS = {
    "FROM": "Where the rows come from",
    "WHERE": "Which rows stay",
    "GROUP BY": "What makes a group",
    "HAVING": "Which groups stay",
    "SELECT": "What is returned",
    "ORDER BY": "In which order",
    "LIMIT": "How many of them",
}
_KEYWORD = re.compile(rf"[()']|\b(?:{'|'.join(_MEANINGS)})\b")


def _clauses(sql: str) -> dict[str, str]:
    """Return the clauses of a query by their keywords; subqueries stay whole."""
    depth, quoted = 0, False
    starts: list[tuple[str, int, int]] = []
    for found in _KEYWORD.finditer(sql):
        word = found[0]
        if word == "'":
            quoted = not quoted
        elif not quoted and word in "()":
            depth += 1 if word == "(" else -1
        elif not quoted and not depth:
            starts.append((word, found.start(), found.end()))
    ends = [*(start for _, start, _ in starts[1:]), len(sql)]
    return {
        word: sql[after:end].strip() for (word, _, after), end in zip(starts, ends, strict=True)
    }
