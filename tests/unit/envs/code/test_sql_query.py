"""SqlQuery: right queries in other words, near misses, and queries that try more than reading."""

import dataclasses
import sqlite3

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.code.sql_query import SqlQueryConfig, SqlQueryTask
from rlvr_envs.generators.databases.judge import Expected, compare, judge_query, settled
from rlvr_envs.generators.databases.mutants import mutants
from rlvr_envs.generators.databases.questions import SHAPES, ask
from rlvr_envs.generators.databases.themes import THEMES, columns, fill, schema

SCHEMA = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, n INTEGER);"
FIRST = (((1, "a", 3), (2, "b", None), (3, "a", 5)),)
SECOND = (((1, "c", 1), (2, "c", 1), (3, "d", None), (4, "e", 7)),)


def judge(query, first, second, order_by=()):
    expected = [Expected(first, order_by), Expected(second, order_by)]
    return judge_query(query, SCHEMA, ("t",), (FIRST, SECOND), expected)


def ask_shape(shape, *, seed=0):
    knobs = {"first_shape": shape, "last_shape": shape, "n_filters": 2, "n_rows": 14}
    task = SqlQueryTask(SqlQueryConfig(**knobs))
    return task, task.generate(stream("shape", shape, seed))


@pytest.mark.parametrize("shape", range(len(SHAPES)))
def test_slips_fail_and_the_reference_passes(shape):
    task, problem = ask_shape(shape)
    assert task.verify(problem, task.solve(problem)).score == 1.0
    slips = sorted(set(mutants(problem.sql)) - {problem.sql})
    wrong = [slip for slip in slips if task.verify(problem, slip).score == 0.0]
    assert len(wrong) >= 0.6 * len(slips)
    if " WHERE " in problem.sql:  # dropping the conditions altogether is never right
        assert task.verify(problem, problem.sql.split(" WHERE ")[0]).score == 0.0


@pytest.mark.parametrize("shape", range(len(SHAPES)))
def test_answers_that_quote_the_shown_rows_fail(shape):
    task, problem = ask_shape(shape, seed=1)
    rows = ", ".join(
        "(" + ", ".join("NULL" if cell is None else repr(cell) for cell in row) + ")"
        for row in problem.answer
    )
    verdict = task.verify(problem, f"VALUES {rows}")
    assert verdict.score == 0.0
    assert verdict.parts["databases_right"] >= 1.0


def test_questions_of_every_shape_and_theme_are_valid_sql():
    for theme in THEMES:
        for shape, (_, count) in enumerate(SHAPES):
            tables = theme.tables(count)
            rng = stream("valid", theme.name, shape)
            question = ask(rng, theme, shape, 5)
            connection = sqlite3.connect(":memory:")
            connection.executescript(schema(tables))
            for table, rows in zip(tables, fill(rng, tables, 20), strict=True):
                marks = ", ".join("?" * len(columns(table, tables)))
                connection.executemany(f"INSERT INTO {table.name} VALUES ({marks})", rows)
            cursor = connection.execute(question.sql)
            assert len(cursor.description) == len(question.columns)
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
            connection.close()


@pytest.mark.parametrize(
    ("rows", "order_by", "fault"),
    [
        ([[1, "a"], [1, "b"], [2, "c"]], (), ""),
        ([[2, "c"], [1, "b"], [1, "a"]], (), ""),
        ([[1, "b"], [1, "a"], [2, "c"]], (0,), ""),
        ([[2, "c"], [1, "a"], [1, "b"]], (0,), "order"),
        ([[1, "b"], [1, "a"], [2, "c"]], (0, 1), "order"),
        ([[1, "a"], [1, "a"], [2, "c"]], (), "values"),
        ([[1, "a"], [1, "b"]], (), "number of rows"),
        ([[1, "a"], [1, "b"], [2, "c"], [2, "c"]], (), "number of rows"),
        ([[1], [1], [2]], (), "columns"),
        ([[1.0, "a"], [1, "b"], [2, "c"]], (), "values"),
        ([["1", "a"], [1, "b"], [2, "c"]], (), "values"),
        ([[None, "a"], [1, "b"], [2, "c"]], (), "values"),
        ([[{"blob": "31"}, "a"], [1, "b"], [2, "c"]], (), "values"),
    ],
)
def test_rows_are_compared_as_a_multiset_and_in_order_where_asked(rows, order_by, fault):
    found = compare(rows, Expected(((1, "a"), (1, "b"), (2, "c")), order_by))
    assert (fault in found) if fault else not found


@pytest.mark.parametrize(
    ("cell", "same"),
    [
        (2.5, True),
        (2.5000000001, True),
        (2.4999, False),
        (2, False),
        ("2.5", False),
        (None, False),
        (float("inf"), False),
        (float("nan"), False),
    ],
)
def test_averages_may_be_off_by_rounding(cell, same):
    expected = Expected(((1, 2.5), (2, None), (3, 4.0)))
    assert (not compare([[3, 4], [2, None], [1, cell]], expected)) == same


@pytest.mark.parametrize(
    "query",
    [
        "SELECT name, COUNT(*) FROM t GROUP BY name",
        "select name as x, count(*) as y from t group by 1 order by 2;",
        "-- counting\nSELECT name, COUNT(1) FROM t GROUP BY name; ",
        "WITH c AS (SELECT name, COUNT(*) AS k FROM t GROUP BY name) SELECT * FROM c",
        "SELECT DISTINCT name, COUNT(*) OVER (PARTITION BY name) FROM t",
        "SELECT name, (SELECT COUNT(*) FROM t u WHERE u.name IS t.name) FROM t GROUP BY name",
    ],
)
def test_other_ways_of_asking_are_right(query):
    verdict = judge(query, (("a", 2), ("b", 1)), (("c", 2), ("d", 1), ("e", 1)))
    assert verdict.score == 1.0


FORBIDDEN = [
    "INSERT INTO t VALUES (9, 'z', 1)",
    "DELETE FROM t",
    "DROP TABLE t",
    "UPDATE t SET n = 0 RETURNING n",
    "CREATE TABLE u AS SELECT 1",
    "PRAGMA table_info(t)",
    "SELECT * FROM pragma_table_info('t')",
    "SELECT sql FROM sqlite_master",
    "SELECT name FROM sqlite_schema",
    "ATTACH DATABASE '/etc/passwd' AS p",
    "SELECT load_extension('/tmp/x.so')",
    "SELECT readfile('/etc/passwd')",
    "SELECT random()",
    "SELECT hex(randomblob(4))",
    "SELECT CURRENT_TIMESTAMP",
    "SELECT 1; SELECT 2",
    "VACUUM INTO '/tmp/copy.db'",
    "BEGIN",
    "EXPLAIN SELECT 1",
    "SELECT",
    "",
    "SELECT \x00 1",
    "SELECT '\ud800'",
]


@pytest.mark.parametrize("query", FORBIDDEN)
def test_whatever_is_more_than_reading_is_refused(query):
    verdict = judge(query, ((1,),), ((2,),))
    assert verdict.status is Status.WRONG


@pytest.mark.parametrize(
    "query",
    [
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT COUNT(*) FROM c",
        "SELECT COUNT(*) FROM t a, t b, t c, t d, t e, t f, t g, t h, t i, t j, t k, t l, t m, t n",
        "SELECT hex(zeroblob(1000000000))",
        "SELECT printf('%.*c', 100000000, 'x')",
        "WITH RECURSIVE c(x) AS (SELECT 'a' UNION ALL SELECT x || x FROM c) SELECT x FROM c",
        "SELECT " + "(" * 5000 + "1" + ")" * 5000,
        "SELECT " + "1+" * 20000 + "1",
        "SELECT n FROM t WHERE name LIKE '" + "%a" * 20000 + "'",
    ],
)
def test_endless_and_enormous_queries_end_in_a_verdict(query):
    verdict = judge(query, ((1,),), ((2,),))
    assert verdict.status is Status.WRONG


def test_bad_knobs_are_errors():
    for knobs in ({"last_shape": 99}, {"n_filters": 0}, {"n_rows": 2}, {"n_hidden": 1}):
        with pytest.raises(ConfigError):
            SqlQueryConfig(**knobs)


@pytest.mark.parametrize("order_by", [(), (1,)])
def test_answers_do_not_depend_on_how_the_engine_found_them(order_by):
    rows = ((2, "x", None), (1, "x", 0.5), (3, "y", 2.0), (0, "y", None))
    other = (rows[1], rows[0], rows[3], rows[2])
    assert settled(rows, order_by) == settled(other, order_by)
    assert sorted(map(repr, settled(rows, order_by))) == sorted(map(repr, rows))
    if order_by:
        assert [row[1] for row in settled(rows[::-1], order_by)] == ["y", "y", "x", "x"]


def test_effort_and_baseline():
    task = SqlQueryTask(SqlQueryConfig.at(0))
    problem = task.generate(stream("sql", 0))
    assert task.baseline(stream("rng"), problem) == f"SELECT * FROM {problem.tables[0]};"
    joined = "SELECT a FROM b JOIN c ON b.x = c.y"
    assert task.effort(dataclasses.replace(problem, sql=joined)) == 14 * 2
