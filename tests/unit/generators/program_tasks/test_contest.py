"""Contests: forms of input, special judges, the choice of tests, and programs as text."""

import pytest

from rlvr_envs.core.seeding import integer, integers, stream
from rlvr_envs.generators.program_tasks.contest import (
    Contest,
    ContestConfig,
    ContestTask,
    Drawn,
    Form,
    fault,
    fault_of,
    integers_of,
    program_text,
    written,
)
from rlvr_envs.verifiers.program import run_python


def statement(constants):
    bonus = " Rows whose weight is even count {bonus} more each." if constants["bonus"] else ""
    return f"Add what the {{things}} weigh, {{least}} at least.{bonus}"


def constants(rng, scale):
    return {"least": integer(rng, 2, 30), "bonus": integer(rng, 1, 9) * (scale["rules"] > 0)}


def inputs(rng, scale, constants):
    size = integer(rng, 1, scale["n"])
    return {
        "k": integer(rng, 0, 9),
        "word": "ab"[integer(rng, 0, 1)],
        "extra": integers(rng, 0, 9, 2),
        "rows": [integers(rng, 1, 40, 2) for _ in range(size)],
    }


def solve(k, word, extra, rows, least, bonus):
    total = k + sum(extra) + len(word)
    for count, weight in rows:
        if weight >= least:
            total += count * weight
            if bonus and weight % 2 == 0:
                total += bonus
    return [total]


def forgets_k(k, word, extra, rows, least, bonus):
    return [solve(0, word, extra, rows, least, bonus)[0]]


def fails(k, word, extra, rows, least, bonus):
    raise ZeroDivisionError


def work(scale, constants):
    return float(scale["n"])


def contest(**changed):
    parts = {
        "statement": statement,
        "scale": {"n": (3, 60), "rules": (0, 3)},
        "constants": constants,
        "reads": {"k": "int", "word": "str", "extra": "list", "rows": "rows"},
        "inputs": inputs,
        "solutions": (solve,),
        "stories": {"a": {"things": "apples"}, "b": {"things": "bricks"}},
        "columns": {"rows": ("count", "weight of the {things}")},
        "meaning": {"k": "a start", "word": "a word", "extra": "more", "rows": "the {things}"},
        "output": lambda constants: "Print the sum for the {things}.",
        "work": work,
        "rules": ("bonus",),
        "mistakes": (forgets_k,),
        "edits": (("weight >= least", "weight > least"), ("== 0", "== 1", "bonus")),
    }
    return Contest(**{**parts, **changed})


class WeighingTask(ContestTask):
    contest = contest()


def make(level=20, seed=0):
    task = WeighingTask(ContestConfig(level=level))
    return task, task.generate(stream("weighing", level, seed))


GIVEN = {"k": 5, "word": "a", "extra": (1, 2), "rows": [(3, 40), (7, 11)]}
FORM = Form(("rows", "word", "k", "extra"), ((1, 0), (), (), ()))


def test_a_form_orders_inputs_and_columns():
    assert written(contest(), FORM, GIVEN) == "2\n40 3\n11 7\na\n5\n2\n1 2\n"
    plain = Form(("k", "word", "extra", "rows"), ((), (), (), (0, 1)))
    assert written(contest(), plain, GIVEN) == "5\na\n2\n1 2\n2\n3 40\n7 11\n"


def test_a_program_reads_what_a_form_writes():
    numbers = {"least": 10, "bonus": 4}
    text = program_text(contest(), FORM, solve, numbers)
    told = run_python(text, written(contest(), FORM, GIVEN))
    assert told.stdout.decode().split() == ["210"]  # 5 + 3 + 1 + 120 + 4 + 77
    assert solve(**GIVEN, **numbers) == [210]


def test_inputs_and_columns_that_are_absent_are_not_read():
    class SmallerTask(ContestTask):
        contest = contest(
            absent=lambda constants: () if constants["bonus"] else ("extra", "count"),
            inputs=lambda *given: {**inputs(*given), "extra": [], "rows": [(0, 5), (0, 40)]},
        )

    task = SmallerTask(ContestConfig(level=0))
    problem = task.generate(stream("smaller"))
    assert sorted(problem.form.order) == ["k", "rows", "word"]
    assert problem.form.columns[problem.form.order.index("rows")] == (1,)
    prompt = task.prompt(problem)
    assert "`extra`" not in prompt
    assert "in this order: weight of the" in prompt
    assert "\n2\n5\n40\n" in "\n" + problem.shown[0].stdin
    text = task.solve(problem)
    assert run_python(text, problem.shown[0].stdin).stdout.decode().strip()
    assert "extra=[]" in text
    assert task.verify(problem, text).score == 1.0


def test_forms_and_stories_differ_and_the_prompt_tells_them():
    problems = [make(seed=seed)[1] for seed in range(20)]
    task = make()[0]
    assert len({problem.form for problem in problems}) > 10
    assert {problem.story for problem in problems} == {"a", "b"}
    for problem in problems:
        prompt = task.prompt(problem)
        places = [prompt.index(f"`{name}`") for name in problem.form.order]
        assert places == sorted(places)
        thing = {"a": "apples", "b": "bricks"}[problem.story]
        columns = ("count", f"weight of the {thing}")
        order = problem.form.columns[problem.form.order.index("rows")]
        assert f"in this order: {', '.join(columns[at] for at in order)}" in prompt
        for example in problem.shown:
            assert example.stdin in prompt


def test_the_oracle_passes_and_mistakes_do_not():
    task, problem = make()
    assert dict(problem.constants)["bonus"] > 0
    verdict = task.verify(problem, task.solve(problem))
    assert verdict.score == 1.0
    assert verdict.parts["tests_total"] == len(problem.tests) + len(problem.timed)
    assert task.verify(problem, task.program_of(problem, forgets_k)).score == 0.0
    for old, new in (("weight >= least", "weight > least"), ("== 0", "== 1")):
        assert task.verify(problem, task.solve(problem).replace(old, new)).score == 0.0
    assert task.passes(problem, solve)
    assert not task.passes(problem, solve, bonus=0)
    assert not task.passes(problem, fails)


def test_edits_of_a_rule_are_left_out_without_it():
    task, _ = make(level=0)
    with_rule = task._wrong(stream("wrong"), {"least": 5, "bonus": 3})
    without = task._wrong(stream("wrong"), {"least": 5, "bonus": 0})
    # An edit and the version without the rule; near misses are as many, whatever the numbers.
    assert len(with_rule) == len(without) + 2


def test_tests_are_at_least_as_many_as_asked_and_follow_from_their_seed():
    task, problem = make()
    assert len(problem.tests) >= task.config.n_tests
    assert len(problem.timed) == task.config.n_timed
    assert all(drawn.level == task.config.level for drawn in problem.timed)
    numbers = dict(problem.constants)
    drawn = Drawn(5, 3)
    assert task._inputs(numbers, drawn) == task._inputs(numbers, Drawn(5, 3))
    assert task._inputs(numbers, drawn) != task._inputs(numbers, Drawn(6, 3))


def test_examples_avoid_dull_outputs():
    outputs = {example.stdout for seed in range(5) for example in make(seed=seed)[1].shown}
    dull = contest(dull=tuple(outputs))

    class DullTask(ContestTask):
        contest = dull

    task = DullTask(ContestConfig(level=20))
    for seed in range(5):
        shown = task.generate(stream("weighing", 20, seed)).shown
        assert not outputs & {example.stdout for example in shown}


def accepts(found, expected, inputs, constants):
    return "" if sum(found) == expected[0] else "the sum is another one"


def test_a_judge_decides_where_there_is_one():
    judged = contest(accepts=accepts)
    assert fault(judged, "3 4\n", GIVEN, {}, [7]) == ""
    assert fault(judged, "3 5", GIVEN, {}, [7]) == "the sum is another one"
    assert fault(judged, "3 four", GIVEN, {}, [7]) == "the output is not made of integers"
    assert fault(contest(), "7\n", GIVEN, {}, [7]) == ""
    assert fault(contest(), "3 4", GIVEN, {}, [7]) != ""


def test_a_function_that_fails_is_wrong():
    numbers = {"least": 10, "bonus": 4}
    told = fault_of(contest(), fails, GIVEN, numbers, [210], numbers)
    assert told.startswith("it fails")
    assert fault_of(contest(), solve, GIVEN, numbers, [210], numbers) == ""
    assert fault_of(contest(), solve, GIVEN, numbers, [210], {**numbers, "bonus": 0}) != ""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("3", [3]),
        (" -3\n+4\t007\r\n", [-3, 4, 7]),
        ("3.0", None),
        ("1e3", None),
        ("1_000", None),
        ("٣", None),
        ("3, 4", None),
        ("- 3", None),
        ("nan", None),
        ("9" * 31, None),
        ("1\u00a02", None),
    ],
)
def test_outputs_are_read_as_integers(text, found):
    assert integers_of(text) == found


def test_too_many_numbers_are_not_read():
    assert integers_of("1 " * 1_000_001) is None


def test_effort_baseline_and_levels():
    task, problem = make(level=0)
    assert task.effort(problem) == 3.0
    assert task.baseline(stream("b"), problem) == f"print({problem.shown[-1].stdout!r})"
    levels = [ContestConfig.at(difficulty) for difficulty in (0, 3, 10)]
    assert [config.level for config in levels] == [0, 6, 20]
    assert [config.n_tests for config in levels] == [10, 13, 20]
