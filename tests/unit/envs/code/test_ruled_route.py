"""RuledRoute: every walk against its solutions, its judge against broken routes, wrong programs."""

import contest_programs as contests
import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.code.ruled_route import EDITS, RULES, RuledRouteTask, accepts
from rlvr_envs.generators.program_tasks.contest import ContestConfig
from rlvr_envs.generators.program_tasks.program_task import scale_at

CONTEST = RuledRouteTask.contest
FREE = dict.fromkeys((*RULES, "rest", "inn_every", "green", "route"), 0) | {"toll": 5}


def walk_all(n, roads, rules, longest):
    """Try every walk of up to so many roads, with vouchers used on every set of them."""
    best = []

    def go(town, minute, steps, last, permit, since, left):
        if town == n and (not rules["modulus"] or steps % rules["modulus"] == rules["rest"]):
            best.append(minute)
        if steps == longest or (rules["stretch"] and since == rules["stretch"]):
            return
        while rules["period"] and minute % rules["period"] >= rules["green"]:
            minute += 1
        for a, b, length, kind in roads:
            if town not in (a, b) or (rules["key"] and kind == 3 and not permit):
                continue
            to = b if town == a else a
            late = rules["toll"] * (kind == 1) + rules["change"] * (last not in (0, kind))
            inn = rules["inn_every"] and to % rules["inn_every"] == 0
            has = permit or bool(rules["key"] and to % rules["key"] == 0)
            rest = (steps + 1, kind, has, 0 if inn else since + 1)
            go(to, minute + late + length, *rest, left)
            if left:
                go(to, minute + late + length // 2, *rest, left - 1)

    go(1, 0, 0, 0, False, 0, rules["coupons"])
    return min(best, default=-1)


def test_the_solutions_find_what_trying_every_walk_finds():
    found = set()
    for seed in range(60):
        rng = stream("walks", seed)
        rules = CONTEST.constants(rng, {**scale_at(CONTEST, 4), "rules": seed % 4}) | {"route": 0}
        inputs = CONTEST.inputs(rng, scale_at(CONTEST, 0), rules)
        roads = inputs["roads"][:5]
        wanted = walk_all(inputs["n"], roads, rules, 9)
        got = [each(n=inputs["n"], roads=roads, **rules) for each in CONTEST.solutions]
        if wanted == -1 or got[0][0] < wanted:
            continue  # only a walk of more than nine roads keeps the rules, or is quicker
        assert got == [[wanted]] * 2, seed
        found.add(wanted)
    assert len(found) > 20


def test_the_solutions_agree():
    contests.check_solutions_agree(RuledRouteTask)


@pytest.mark.parametrize("edit", EDITS)
def test_mistakes_earn_nothing(edit):
    contests.check_edit(RuledRouteTask, edit)


def test_near_misses_fail():
    wrong, passed = contests.survivors(RuledRouteTask)
    assert wrong > 150
    assert len(passed) <= wrong // 50, passed


def test_rules_come_in_and_matter():
    contests.check_rules(RuledRouteTask, most_at_ten=4)


@pytest.mark.parametrize("source", contests.JUNK)
def test_junk_earns_nothing(source):
    task, problem = contests.make(RuledRouteTask, 2)
    assert task.verify(problem, source).score == 0.0


def test_examples_and_prompts_say_something():
    contests.check_examples(RuledRouteTask)
    contests.check_prompt(RuledRouteTask)


ROADS = [(1, 2, 6, 1), (2, 3, 4, 2), (1, 3, 19, 3), (3, 2, 4, 2)]
MAP = {"n": 3, "roads": ROADS}


@pytest.mark.parametrize(
    ("output", "told"),
    [
        ([15, 2, 1, 2], ""),
        ([15, 2, 1, 4], ""),  # another quickest route
        ([], "minutes"),
        ([14, 2, 1, 2], "minutes"),
        ([15], "number of roads"),
        ([15, 2], "number of roads"),
        ([15, 3, 1, 2], "number of roads"),
        ([15, 2, 1, 2, 2], "number of roads"),
        ([15, 1, 3], "another time"),
        ([15, 2, 2, 1], "broken"),
        ([15, 1, 1], "does not end"),
        ([15, 2, 1, 5], "not that of a row"),
        ([15, 2, 1, 0], "not that of a row"),
        ([15, 2, -1, 2], "too many"),
        ([15, 4, 1, 2, 2, 2], "another time"),
    ],
)
def test_the_judge_travels_the_route(output, told):
    assert CONTEST.solutions[0](**MAP, **FREE | {"route": 1}) == [15, 2, 1, 2]
    said = accepts(output, [15, 2, 1, 2], MAP, FREE | {"route": 1})
    assert told in said
    assert bool(told) == bool(said)


@pytest.mark.parametrize(
    ("rules", "output", "told"),
    [
        ({"coupons": 1}, [12, 2, -1, 2], ""),
        ({"coupons": 2}, [10, 2, -1, -4], ""),
        ({"coupons": 1}, [12, 2, 1, -2], "another time"),
        ({"modulus": 2, "rest": 1}, [19, 1, 3], ""),
        ({"modulus": 2, "rest": 1}, [19, 2, 1, 2], "remainder"),
        ({"change": 3}, [18, 2, 1, 4], ""),
        ({"key": 2, "change": 9}, [19, 1, 3], "permit"),
        ({"period": 10, "green": 1}, [24, 2, 1, 2], ""),
        ({"period": 10, "green": 2}, [19, 1, 3], ""),
        ({"stretch": 1, "inn_every": 3}, [19, 2, 1, 2], "stretch"),
    ],
)
def test_the_judge_knows_the_rules(rules, output, told):
    said = accepts(output, [output[0], 0], MAP, FREE | {"route": 1} | rules)
    assert told in said
    assert bool(told) == bool(said)


def test_slow_programs_pass_small_tests_and_run_out_of_time_later():
    task, problem = contests.make(RuledRouteTask, 2)
    assert task.verify(problem, task.program_of(problem, CONTEST.solutions[1])).score == 1.0
    for seed in range(8):
        task, problem = contests.make(RuledRouteTask, 11, seed)
        verdict = task.verify(problem, task.program_of(problem, CONTEST.solutions[1]))
        if verdict.score == 0.0:
            assert "too long" in verdict.detail
            return
    pytest.fail("the slow program passes everything")


def test_effort_and_baseline():
    task, problem = contests.make(RuledRouteTask, 0)
    assert task.effort(problem) == 4 * 5  # five towns, one state in each
    assert task.baseline(stream("b"), problem) == f"print({problem.shown[-1].stdout!r})"
    assert task.verify(problem, task.baseline(stream("b"), problem)).score == 0.0
    assert ContestConfig.at(3).level == 6
