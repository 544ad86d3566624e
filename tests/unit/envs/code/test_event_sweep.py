"""EventSweep: minutes written out one by one against its solutions, and wrong programs."""

import contest_programs as contests
import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.code.event_sweep import EDITS, RULES, EventSweepTask
from rlvr_envs.generators.program_tasks.contest import ContestConfig
from rlvr_envs.generators.program_tasks.program_task import scale_at

CONTEST = EventSweepTask.contest
FREE = dict.fromkeys((*RULES, "green", "asked"), 0) | {"need": 5}


def load_of(t, jobs, rules):
    """Add up the uses at a minute by the words of the rules, lane by lane."""
    lanes = {}
    for start, _, use, kind, low, high in jobs:
        grown = use + rules["grow"] * (t - start)
        for lane in range(low, high + 1) if rules["lanes"] else [0]:
            lanes.setdefault(lane, []).append((grown, kind))
    loads = [0]
    for uses in lanes.values():
        supplied = [grown for grown, kind in uses if rules["drain"] and kind == 1]
        used = [(grown, kind) for grown, kind in uses if not (rules["drain"] and kind == 1)]
        added = [grown for grown, _ in used]
        if rules["solo"]:
            kinds = {kind for _, kind in used}
            added = [max(grown for grown, of in used if of == kind) for kind in kinds]
        if rules["top"]:
            added = sorted(added)[-rules["top"] :]
        loads.append(sum(added) - sum(supplied))
    return max(loads)


def answered(jobs, rules):
    minutes = []
    for t in range(max(job[1] for job in jobs) + 1):
        on = [job for job in jobs if t in range(job[0] + rules["setup"], job[1])]
        looked_at = len({job[3] for job in on}) >= rules["kinds"]
        if rules["period"]:
            looked_at = looked_at and t % rules["period"] < rules["green"]
        minutes.append(load_of(t, on, rules) if looked_at else -1)
    if rules["asked"] == 0:
        return max(0, *minutes)
    word = "".join("x" if load >= rules["need"] else " " for load in minutes)
    return word.count("x") if rules["asked"] == 1 else max(map(len, word.split()), default=0)


def test_the_solutions_find_what_writing_all_minutes_out_finds():
    outputs = set()
    for seed in range(250):
        rng = stream("minutes", seed)
        rules = CONTEST.constants(rng, {**scale_at(CONTEST, 4), "rules": seed % 7})
        jobs = CONTEST.inputs(rng, scale_at(CONTEST, seed % 2), rules)["jobs"]
        wanted = answered(jobs, rules)
        assert [each(jobs=jobs, **rules) for each in CONTEST.solutions] == [wanted] * 2, seed
        outputs.add(wanted)
    assert len(outputs) > 40


JOBS = [(0, 6, 3, 2, 1, 2), (2, 5, 4, 3, 2, 4), (3, 9, 2, 1, 3, 3), (6, 8, 1, 3, 1, 1)]


@pytest.mark.parametrize(
    ("rules", "wanted"),
    [
        ({}, 9),  # minutes 3 and 4
        ({"asked": 1}, 4),  # 2 to 5: 7, 9, 9, 5
        ({"asked": 1, "need": 3}, 8),
        ({"asked": 2, "need": 7}, 3),
        ({"setup": 2}, 7),  # at minute 4, the third job does not run yet
        ({"grow": 1}, 16),  # minute 4: 7 + 6 + 3
        ({"drain": 1}, 7),
        ({"drain": 1, "asked": 1}, 3),  # 7, 5, 5
        ({"solo": 1, "need": 3, "asked": 1}, 8),
        ({"top": 1}, 4),
        ({"kinds": 3, "asked": 1}, 2),
        ({"period": 5, "green": 2}, 5),  # minutes 0, 1, 5, 6
        ({"lanes": 1}, 7),  # on lane 2
        ({"lanes": 1, "asked": 1}, 5 - 2),
        ({"lanes": 1, "drain": 1, "need": 4, "asked": 1}, 3),
        ({"need": 100, "asked": 2}, 0),
    ],
)
def test_small_cases_by_hand(rules, wanted):
    given = FREE | rules
    assert [each(jobs=JOBS, **given) for each in CONTEST.solutions] == [wanted] * 2


def test_the_solutions_agree():
    contests.check_solutions_agree(EventSweepTask, level=5)


@pytest.mark.parametrize("edit", EDITS)
def test_mistakes_earn_nothing(edit):
    contests.check_edit(EventSweepTask, edit, least=3)


def test_near_misses_fail():
    wrong, passed = contests.survivors(EventSweepTask, highest=4)
    assert wrong > 150
    assert len(passed) <= wrong // 50, passed


def test_rules_come_in_and_matter():
    contests.check_rules(EventSweepTask, most_at_ten=5)


@pytest.mark.parametrize("source", contests.JUNK)
def test_junk_earns_nothing(source):
    task, problem = contests.make(EventSweepTask, 2)
    assert task.verify(problem, source).score == 0.0


def test_examples_and_prompts_say_something():
    contests.check_examples(EventSweepTask)
    contests.check_prompt(EventSweepTask)


def test_columns_that_no_rule_needs_are_absent():
    """Reading and prompt leave them out, and the oracle's program fills in zeros."""
    task, problem = contests.make(EventSweepTask, 0)
    assert sorted(problem.form.columns[0]) == [0, 1, 2]
    assert "`kind`" not in task.prompt(problem)
    assert "low" not in task.prompt(problem)
    assert task.solve(problem).count(", 0, 0, 0,) for row in read_rows()") == 1


def through_all_jobs(jobs, need, setup, asked, **_):
    """Between two events, go through all jobs; this is right without most rules."""
    times = sorted({time for start, end, *_ in jobs for time in (start + setup, end)})
    found = [0]
    for place in range(len(times) - 1):
        now = times[place]
        load = sum(use for start, end, use, *_ in jobs if start + setup <= now < end)
        if load >= need:
            found.append(times[place + 1] - now)
    return sum(found) if asked == 1 else max(found)


def test_going_through_all_minutes_or_jobs_is_too_slow_at_full_size():
    task, problem = contests.make(EventSweepTask, 0)
    plain = CONTEST.solutions[1]
    assert task.verify(problem, task.program_of(problem, plain)).score == 1.0
    rules = FREE | {"asked": 1}
    for slow in (plain, through_all_jobs):
        verdict = contests.verdict_on_large(EventSweepTask, rules, 20, slow)
        assert (verdict.score, "too long" in verdict.detail) == (0.0, True)
    assert contests.verdict_on_large(EventSweepTask, rules, 2, through_all_jobs).score == 1.0


def test_the_sweep_is_fast_enough_under_the_slowest_rules():
    slowest = {"setup": 2, "kinds": 2, "period": 7, "green": 3}
    for rules in ({"grow": 2, "drain": 1, "solo": 1, "top": 3}, {"lanes": 1, "drain": 1}):
        given = FREE | slowest | rules
        verdict = contests.verdict_on_large(EventSweepTask, given, 40, CONTEST.solutions[0])
        assert verdict.score == 1.0, verdict


def test_effort_and_baseline():
    task, problem = contests.make(EventSweepTask, 0)
    harder, later = contests.make(EventSweepTask, 9)
    assert 0 < task.effort(problem) < harder.effort(later)
    assert task.verify(problem, task.baseline(stream("b"), problem)).score == 0.0
    assert ContestConfig.at(9).level == 18
