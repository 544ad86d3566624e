"""WindowRules: every slice of a list against its solutions, and wrong programs."""

import itertools

import contest_programs as contests
import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.code.window_rules import EDITS, RULES, WindowRulesTask
from rlvr_envs.generators.program_tasks.contest import ContestConfig
from rlvr_envs.generators.program_tasks.program_task import scale_at

CONTEST = WindowRulesTask.contest
FREE = dict.fromkeys((*RULES, "asked"), 0) | {"spread": 2}


def good(part, rules):
    """Judge one slice by the words of the rules."""
    held = [max(part) - min(part) <= rules["spread"], len(set(part)) >= rules["few"]]
    held.append(sum(part) >= rules["least"])
    if rules["kinds"]:
        held.append(len(set(part)) <= rules["kinds"])
    if rules["load"]:
        held.append(sum(part) <= rules["load"])
    if rules["multiple"]:
        held.append(len(part) % rules["multiple"] == 0)
    return all(held)


def answered(xs, rules):
    slices = [xs[a:b] for a, b in itertools.combinations(range(len(xs) + 1), 2)]
    kept = [part for part in slices if good(part, rules)]
    if rules["asked"] == 0:
        return len(kept)
    return max(map(len if rules["asked"] == 1 else sum, kept), default=0)


def test_the_solutions_find_what_looking_at_every_slice_finds():
    outputs = set()
    for seed in range(150):
        rng = stream("slices", seed)
        rules = CONTEST.constants(rng, {**scale_at(CONTEST, 4), "rules": seed % 6})
        xs = CONTEST.inputs(rng, scale_at(CONTEST, seed % 3), rules)["xs"]
        wanted = answered(xs, rules)
        assert [each(xs=xs, **rules) for each in CONTEST.solutions] == [wanted] * 2, seed
        outputs.add(wanted)
    assert len(outputs) > 30


@pytest.mark.parametrize("load", [2, 5])  # an entry alone may be too much
def test_the_solution_is_right_on_every_short_list_under_every_set_of_rules(load):
    numbers = {"kinds": 2, "few": 2, "load": load, "least": 3, "multiple": 2}
    for on in itertools.product((0, 1), repeat=len(RULES)):
        given = {name: numbers[name] * each for name, each in zip(RULES, on, strict=True)}
        for asked in range(3):
            rules = {**given, "spread": 1, "asked": asked}
            for xs in itertools.product((1, 2, 3), repeat=4):
                assert CONTEST.solutions[0](xs=list(xs), **rules) == answered(xs, rules)


@pytest.mark.parametrize(
    ("rules", "wanted"),
    [
        ({}, 8),  # 4, 1, 2, 2, 9; 1 2, 2 2, 1 2 2
        ({"asked": 1}, 3),
        ({"asked": 2}, 9),
        ({"kinds": 1}, 6),
        ({"few": 2}, 2),
        ({"load": 4}, 6),
        ({"least": 4}, 4),  # 4, 2 2, 1 2 2, 9
        ({"multiple": 2}, 2),
        ({"multiple": 5}, 0),
    ],
)
def test_small_cases_by_hand(rules, wanted):
    for solution in CONTEST.solutions:
        assert solution(xs=[4, 1, 2, 2, 9], **FREE | rules) == wanted


def test_the_solutions_agree():
    contests.check_solutions_agree(WindowRulesTask)


@pytest.mark.parametrize("edit", EDITS)
def test_mistakes_earn_nothing(edit):
    contests.check_edit(WindowRulesTask, edit)


def test_near_misses_fail():
    wrong, passed = contests.survivors(WindowRulesTask)
    assert wrong > 100
    assert len(passed) <= wrong // 50, passed


def test_rules_come_in_and_matter():
    contests.check_rules(WindowRulesTask, most_at_ten=5)


@pytest.mark.parametrize("source", contests.JUNK)
def test_junk_earns_nothing(source):
    task, problem = contests.make(WindowRulesTask, 2)
    assert task.verify(problem, source).score == 0.0


def test_examples_and_prompts_say_something():
    contests.check_examples(WindowRulesTask)
    contests.check_prompt(WindowRulesTask)


def test_looking_at_every_stretch_is_right_and_too_slow():
    task, problem = contests.make(WindowRulesTask, 0)
    assert task.verify(problem, task.program_of(problem, CONTEST.solutions[1])).score == 1.0
    task, problem = contests.make(WindowRulesTask, 10)
    verdict = task.verify(problem, task.program_of(problem, CONTEST.solutions[1]))
    assert verdict.score == 0.0
    assert "too long" in verdict.detail


def test_effort_and_baseline():
    task, problem = contests.make(WindowRulesTask, 0)
    assert task.effort(problem) == 18.0
    assert task.verify(problem, task.baseline(stream("b"), problem)).score == 0.0
    assert ContestConfig.at(9).level == 18
