"""BreakingPoint: all plans on small ranges against its budgets, and a judge that gives nothing away."""

from dataclasses import asdict, replace
from functools import cache

import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.code import breaking_point
from rlvr_envs.envs.code.breaking_point import (
    RULES,
    BreakingPointConfig,
    BreakingPointProblem,
    BreakingPointTask,
    Costs,
    Game,
    Hidden,
    least_budget,
    most_told,
    next_move,
)

COSTS = (
    Costs(whole=1, broken=1),
    Costs(whole=2, broken=5),
    Costs(whole=3, broken=3, breaks=2),
    Costs(whole=2, broken=3, breaks=1),
    Costs(whole=2, broken=2, rest=3),
    Costs(whole=1, broken=2, every=3, extra=4),
    Costs(whole=2, broken=3, breaks=3, rest=2, every=2, extra=1),
)


def cheapest_plan(size, costs):
    """Try every test at every point of every plan; return the least worst cost."""

    @cache
    def worst(size, broken_so_far, just_broken, made):
        if size == 1:
            return 0
        if costs.breaks and broken_so_far == costs.breaks:
            return float("inf")
        more = costs.rest if just_broken else 0
        if costs.every and (made + 1) % costs.every == 0:
            more += costs.extra
        return more + min(
            max(
                costs.broken + worst(below, broken_so_far + 1, True, made + 1),
                costs.whole + worst(size - below, broken_so_far, False, made + 1),
            )
            for below in range(1, size)
        )

    return worst(size, 0, False, 0)


def make(difficulty, seed=0):
    task = BreakingPointTask(BreakingPointConfig.at(difficulty))
    return task, task.generate(stream("breaking", difficulty, seed))


def posed(costs, objects, first=10):
    return BreakingPointProblem(
        costs=costs,
        story="rope",
        first=first,
        broken_code=7,
        whole_code=3,
        example=Hidden(4, 1),
        most=max(each.size for each in objects),
        objects=tuple(objects),
    )


@pytest.mark.parametrize("costs", COSTS)
def test_budgets_are_those_of_the_cheapest_of_all_plans(costs):
    for size in range(1, 14):
        budget = least_budget(size, costs)
        assert budget == cheapest_plan(size, costs), size
        assert most_told(budget, costs) >= size


def test_budgets_known_by_hand():
    assert least_budget(1000, Costs(whole=1, broken=1)) == 10
    assert least_budget(101, Costs(whole=1, broken=1, breaks=2)) == 14  # 100 floors, two eggs
    assert least_budget(9, Costs(whole=1, broken=1, breaks=1)) == 8


@pytest.mark.parametrize("costs", COSTS)
def test_the_plan_finds_every_threshold_within_the_budget(costs):
    for size in (2, 3, 7, 12, 30):
        for offset in range(-1, size):
            game = Game(posed(costs, [Hidden(size, offset)]), Hidden(size, offset))
            while not game.found:
                made = next_move(size, game.budget, game.tests, 10, 7, **asdict(costs))
                assert game.move(made) == "", (size, offset, game.tests)


@pytest.mark.parametrize("costs", COSTS)
def test_the_judge_beats_every_first_test_that_is_not_a_best_one(costs):
    size = 9
    budget = cheapest_plan(size, costs)
    for below in range(1, size):
        game = Game(posed(costs, [Hidden(size, -1)]), Hidden(size, -1))
        first_is_best = budget_after(costs, size, below) <= budget
        told = game.move(f"? {10 + below}")
        while not told and not game.found:
            made = next_move(size, game.budget, game.tests, 10, 7, **asdict(costs))
            told = game.move(made)
        assert (told == "") == first_is_best, below


def budget_after(costs, size, below):
    """Return the worst cost of a plan that begins with a test, by trying all that follow."""

    def worst(size, broken_so_far, just_broken, made):
        if size == 1:
            return 0
        if costs.breaks and broken_so_far == costs.breaks:
            return float("inf")
        return min(after(size, each, broken_so_far, just_broken, made) for each in range(1, size))

    def after(size, below, broken_so_far, just_broken, made):
        more = costs.rest * just_broken
        more += costs.extra if costs.every and (made + 1) % costs.every == 0 else 0
        return more + max(
            costs.broken + worst(below, broken_so_far + 1, True, made + 1),
            costs.whole + worst(size - below, broken_so_far, False, made + 1),
        )

    return after(size, below, 0, False, 0)


@pytest.mark.parametrize(
    "output",
    [
        "",
        "?",
        "!",
        "12",
        "? 10",  # says nothing: all of them are at least 10
        "? 15",  # beyond the range
        "? -1",
        "? 12.0",
        "? 1e1",
        "? 12 ! 12",
        "? 12\n? 12",
        "! 10",  # another one is possible
        "! 12",
        "! 10 11 12 13 14",
        "? ١٢",
        "?? 12",
        "? 12" + " " * 200,
        "? " + "1" * 5000,
        "12 ?",
        "nan",
        "? None",
        "! 10 or 12",
    ],
)
def test_bad_moves_lose(output):
    costs = Costs(whole=1, broken=1)
    game = Game(posed(costs, [Hidden(5, -1)]), Hidden(5, -1))
    assert game.move(output) != ""
    assert not game.found


@pytest.mark.parametrize("output", ["? 12", "?12", " ? 12\n", "? +12", "\t?\t12\r\n", "? 012"])
def test_moves_are_read_as_usually_written(output):
    costs = Costs(whole=1, broken=1)
    game = Game(posed(costs, [Hidden(5, -1)]), Hidden(5, -1))
    assert game.move(output) == ""
    assert [value for value, _ in game.tests] == [12]


def test_a_guess_does_not_pay_even_where_it_is_hit():
    game = Game(posed(COSTS[0], [Hidden(5, -1)]), Hidden(5, -1))
    for value in range(10, 15):
        assert "another" in game.move(f"! {value}")


def test_what_a_program_reads():
    game = Game(posed(Costs(whole=2, broken=5), [Hidden(5, 1)]), Hidden(5, 1))
    assert game.stdin() == f"5 {game.budget}\n0\n"
    game.move("? 11")
    game.move("? 12")
    assert game.stdin() == f"5 {game.budget}\n2\n11 3\n12 7\n"
    assert game.move("! 11") == ""


def test_no_test_is_made_when_everything_is_broken():
    costs = Costs(whole=1, broken=1, breaks=1)
    game = Game(posed(costs, [Hidden(5, 2)]), Hidden(5, 2))
    assert game.move("? 14") == ""
    assert "nothing is left" in game.move("? 11")


EDITS = (
    ("min(below, high - low)", "(high - low + 1) // 2"),
    ("min(below, high - low)", "1"),
    ("rest * last +", ""),
    ("extra if every and", "0 if every and"),
    ("left == 0", "False"),
    ("code == broken_code", "code != broken_code"),
    ("value - 1, 1", "value, 1"),
    ("low, last = value, 0", "low, last = value + 1, 0"),
    ("budget -= broken", "budget -= whole"),
    ("budget - more - broken", "budget - more - whole"),
    ("max(whole, broken)", "0"),
    ("number = len(tests) + 1", "number = len(tests)"),
    ('return f"! {low}"', 'return f"! {high + 1}"'),
    ("if low == high", "if high - low < 2"),
    ("low, high = first, first + n - 1", "low, high = first, first + n"),
    ("low, high = first, first + n - 1", "low, high = 1, n"),
)


@pytest.mark.parametrize("edit", EDITS)
def test_mistaken_programs_lose(edit):
    judged = 0
    for seed in range(6):
        task, problem = make(8, seed)
        right = task.solve(problem)
        assert edit[0] in right
        judged += task.verify(problem, right.replace(*edit)).score == 0.0
        if judged:
            return
    pytest.fail("no problem tells")


@pytest.mark.parametrize(
    "source",
    [
        "",
        "print(",
        "print('! 1')",
        "print(input())",
        "raise SystemExit",
        "import os; os._exit(0)",
        "while True: pass",
        "print('? 2' * 10**6)",
    ],
)
def test_junk_earns_nothing(source):
    task, problem = make(1)
    assert task.verify(problem, source).score == 0.0


@pytest.mark.parametrize("difficulty", [0, 5, 10])
def test_the_oracle_wins_and_another_problems_program_does_not(difficulty):
    task, problem = make(difficulty)
    assert task.verify(problem, task.solve(problem)).status is Status.CORRECT
    other = task.generate(stream("another"))
    verdict = task.verify(problem, task.solve(other))
    assert verdict.score == 0.0
    assert verdict.parts["objects"] == 5


def test_halving_wins_without_rules_only():
    task, problem = make(0)
    assert task.verify(problem, task.baseline(stream("b"), problem)).score == 1.0
    task, problem = make(9)
    assert task.verify(problem, task.baseline(stream("b"), problem)).score == 0.0


def test_rules_come_in_and_the_prompt_tells_those_alone():
    texts = {"uneven": "otherwise.", "breaks": "no further", "rest": "whatever", "every": "number"}
    counts = []
    for difficulty in (0, 1, 4, 7):
        task, problem = make(difficulty)
        costs = problem.costs
        on = {name for name in RULES[1:] if getattr(costs, name)}
        on |= {"uneven"} if costs.whole != costs.broken else set()
        counts.append(len(on))
        rules = task.prompt(problem).split("\n\n")[1]
        assert {name for name, text in texts.items() if text in rules} == on
    assert counts == [0, 1, 2, 4]


def test_the_prompt_is_the_same_whatever_is_hidden():
    task, problem = make(3)
    other = replace(problem, objects=(Hidden(3, 0),))
    assert task.prompt(problem) == task.prompt(other)
    assert task.effort(problem) > task.effort(other)


def test_all_moves_together_have_a_limit(monkeypatch):
    monkeypatch.setattr(breaking_point, "TOGETHER_S", -1.0)
    task, problem = make(2)
    verdict = task.verify(problem, task.solve(problem))
    assert verdict.score == 0.0
    assert "together" in verdict.detail
