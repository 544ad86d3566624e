"""LinkRepairs: groups written out as sets against its solutions, and wrong programs."""

import itertools

import contest_programs as contests
import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.code.link_repairs import EDITS, RULES, LinkRepairsTask
from rlvr_envs.generators.program_tasks.contest import ContestConfig
from rlvr_envs.generators.program_tasks.program_task import scale_at

CONTEST = LinkRepairsTask.contest
FREE = dict.fromkeys((*RULES, "worth_least", "asked"), 0) | {"least": 2}


def good_groups(given, there, rules):
    """Merge sets that share a point; try all colourings of each."""
    groups = [{point} for point in range(1, given["n"] + 1)]
    for a, b, _ in there:
        joined = [group for group in groups if a in group or b in group]
        groups = [group for group in groups if group not in joined] + [set().union(*joined)]
    found = []
    for group in groups:
        inner = [link for link in there if link[0] in group]
        held = [len(group) >= rules["least"], len(inner) - len(group) + 1 >= rules["spare"]]
        if rules["rich"]:
            worths = [given["points"][point - 1][0] for point in group]
            held.append(sum(worths) >= rules["worth_least"])
        if rules["kinds"]:
            held.append(len({given["points"][point - 1][1] for point in group}) >= rules["kinds"])
        if rules["even"]:
            points = sorted(group)
            colourings = (
                dict(zip(points, colours, strict=True))
                for colours in itertools.product((0, 1), repeat=len(points))
            )
            held.append(any(all(of[a] != of[b] for a, b, _ in inner) for of in colourings))
        if all(held):
            found.append(group)
    return found


def there_after(given, step, rules):
    if rules["priced"]:
        return [link for link in given["links"] if link[2] <= step]
    if rules["removal"]:
        return given["links"][step:]
    links = given["links"][:step]
    return links[-given["span"] :] if rules["lapse"] else links


def answered(given, rules):
    m = len(given["links"])
    last = max(link[2] for link in given["links"]) if rules["priced"] else m
    states = [
        good_groups(given, there_after(given, step, rules), rules) for step in range(last + 1)
    ]
    if rules["asked"] == 4:
        answers = []
        for x, y in given["pairs"]:
            held = [at for at, state in enumerate(states) if any({x, y} <= each for each in state)]
            answers.append((held[-1] if rules["removal"] else held[0]) if held else -1)
        return answers
    answers = []
    for state in states[1:]:
        pairs = [pair for group in state for pair in itertools.combinations(group, 2)]
        kinds = [point[1] for point in given["points"]] or [0] * given["n"]
        alike = sum(kinds[a - 1] == kinds[b - 1] for a, b in pairs)
        largest = max(map(len, state), default=0)
        answers.append((len(state), largest, len(pairs), alike)[rules["asked"]])
    return answers


def test_the_solutions_find_what_writing_all_groups_out_finds():
    outputs, kinds = set(), set()
    for seed in range(200):
        rng = stream("groups", seed)
        rules = CONTEST.constants(rng, {**scale_at(CONTEST, 4), "rules": seed % 6})
        given = CONTEST.inputs(rng, scale_at(CONTEST, seed % 2), rules)
        wanted = answered(given, rules)
        assert [each(**given, **rules) for each in CONTEST.solutions] == [wanted] * 2, seed
        outputs.add(tuple(wanted))
        kinds.add((rules["removal"], rules["lapse"], rules["priced"], rules["asked"]))
    assert len(outputs) > 100
    assert len(kinds) > 12


POINTS = [(5, 1), (1, 2), (1, 1), (9, 2)]
LINKS = [(1, 2, 4), (2, 3, 1), (3, 1, 4), (3, 4, 2)]
GIVEN = {"n": 4, "span": 2, "points": POINTS, "links": LINKS, "pairs": [(1, 2), (1, 4), (2, 3)]}


@pytest.mark.parametrize(
    ("rules", "wanted"),
    [
        ({}, [1, 1, 1, 1]),
        ({"asked": 1}, [2, 3, 3, 4]),
        ({"asked": 2}, [1, 3, 3, 6]),
        ({"asked": 3}, [0, 1, 1, 2]),
        ({"asked": 4}, [1, 4, 2]),
        ({"least": 3}, [0, 1, 1, 1]),
        ({"removal": 1}, [1, 1, 1, 0]),
        ({"removal": 1, "asked": 2}, [6, 3, 1, 0]),
        ({"removal": 1, "asked": 4}, [1, 2, 1]),
        ({"lapse": 1, "asked": 2}, [1, 3, 3, 3]),
        ({"priced": 1, "asked": 4}, [4, 4, 1]),
        ({"rich": 1, "worth_least": 7, "asked": 1}, [0, 3, 3, 4]),
        ({"kinds": 2, "least": 1}, [1, 1, 1, 1]),
        ({"spare": 1}, [0, 0, 1, 1]),
        ({"even": 1, "asked": 1}, [2, 3, 0, 0]),
        ({"even": 1, "asked": 4}, [1, -1, 2]),
        ({"even": 1, "removal": 1, "asked": 4}, [1, 2, 1]),
    ],
)
def test_small_cases_by_hand(rules, wanted):
    for solution in CONTEST.solutions:
        assert solution(**GIVEN, **FREE | rules) == wanted


def test_the_solutions_agree():
    contests.check_solutions_agree(LinkRepairsTask, level=4)


@pytest.mark.parametrize("edit", EDITS)
def test_mistakes_earn_nothing(edit):
    contests.check_edit(LinkRepairsTask, edit, least=3)


def test_near_misses_fail():
    wrong, passed = contests.survivors(LinkRepairsTask, highest=4)
    assert wrong > 150
    assert len(passed) <= wrong // 50, passed


def test_rules_come_in_and_matter():
    contests.check_rules(LinkRepairsTask, most_at_ten=4)


@pytest.mark.parametrize("source", contests.JUNK)
def test_junk_earns_nothing(source):
    task, problem = contests.make(LinkRepairsTask, 2)
    assert task.verify(problem, source).score == 0.0


def test_examples_and_prompts_say_something():
    contests.check_examples(LinkRepairsTask)
    contests.check_prompt(LinkRepairsTask)


def test_going_through_all_groups_is_right_and_too_slow():
    task, problem = contests.make(LinkRepairsTask, 0)
    plain = CONTEST.solutions[1]
    assert task.verify(problem, task.program_of(problem, plain)).score == 1.0
    for rules in ({}, {"removal": 1}, {"lapse": 1}, {"priced": 1, "asked": 4}):
        verdict = contests.verdict_on_large(LinkRepairsTask, FREE | rules, 20, plain)
        assert (verdict.score, "too long" in verdict.detail) == (0.0, True)


def test_union_find_is_fast_enough_under_the_slowest_rules():
    all_rules = {"rich": 1, "worth_least": 9, "kinds": 2, "spare": 1, "even": 1}
    for rules in ({"lapse": 1, "asked": 1}, {"asked": 3}, {"priced": 1, "asked": 4}):
        given = FREE | all_rules | rules
        verdict = contests.verdict_on_large(LinkRepairsTask, given, 40, CONTEST.solutions[0])
        assert verdict.score == 1.0, verdict


def test_effort_and_baseline():
    task, problem = contests.make(LinkRepairsTask, 0)
    harder, later = contests.make(LinkRepairsTask, 9)
    assert 0 < task.effort(problem) < harder.effort(later)
    assert task.verify(problem, task.baseline(stream("b"), problem)).score == 0.0
    assert ContestConfig.at(9).level == 18
