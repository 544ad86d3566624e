"""TreePlan: every set of nodes against its solutions, its judge against broken plans, mistakes."""

import itertools

import contest_programs as contests
import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.code.tree_plan import EDITS, RULES, TreePlanTask, accepts
from rlvr_envs.generators.program_tasks.contest import ContestConfig
from rlvr_envs.generators.program_tasks.program_task import scale_at

CONTEST = TreePlanTask.contest
FREE = dict.fromkeys((*RULES, "fee", "degree", "rest", "asked"), 0)
NONE = -1_000_000


def parts_of(taken, links):
    """Merge sets of chosen nodes that a link joins."""
    parts = [{node} for node in taken]
    for a, b in links:
        if a in taken and b in taken:
            joined = [part for part in parts if a in part or b in part]
            parts = [part for part in parts if part not in joined] + [set().union(*joined)]
    return parts


def kept(taken, given, rules):
    """Judge a set of nodes by the words of the rules."""
    everyone = range(1, len(given["nodes"]) + 1)
    near = {node: {a + b - node for a, b in given["links"] if node in (a, b)} for node in everyone}
    held = [len(near[node] & taken) <= rules["degree"] for node in taken]
    if rules["guard"]:
        held += [bool(near[node] & taken) for node in everyone if node not in taken]
    if rules["kinds"]:
        kinds = [kind for _, kind in given["nodes"]]
        held += [
            kinds[one - 1] != kinds[two - 1] for one in taken for two in near[one] if two in taken
        ]
    if rules["groups"]:
        held.append(len(parts_of(taken, given["links"])) <= rules["groups"])
    if rules["modulus"]:
        held.append(len(taken) % rules["modulus"] == rules["rest"])
    return all(held)


def totals(given, rules):
    """Return the total of each set of nodes that keeps the rules."""
    everyone = range(1, len(given["nodes"]) + 1)
    found = {}
    for size in range(len(everyone) + 1):
        for taken in map(set, itertools.combinations(everyone, size)):
            if kept(taken, given, rules):
                cut = [link for link in given["links"] if len(taken & set(link)) == 1]
                gain = sum(given["nodes"][node - 1][0] - rules["fee"] for node in taken)
                found[frozenset(taken)] = gain - rules["border"] * len(cut)
    return found


def test_the_solutions_find_what_all_sets_of_nodes_show():
    outputs = set()
    for seed in range(150):
        rng = stream("sets", seed)
        rules = CONTEST.constants(rng, {**scale_at(CONTEST, 4), "rules": seed % 5})
        given = CONTEST.inputs(rng, scale_at(CONTEST, 0), rules)
        plans = totals(given, rules)
        best = max(plans.values(), default=NONE)
        for solution in CONTEST.solutions:
            got = solution(**given, **rules)
            if rules["asked"] == 2:
                each = [
                    max((plans[plan] for plan in plans if node in plan), default=NONE)
                    for node in range(1, len(given["nodes"]) + 1)
                ]
                assert got == each, seed
            else:
                assert got[0] == best, seed
            if rules["asked"] == 1 and best != NONE:
                assert plans[frozenset(got[2:])] == best
                assert len(got) == got[1] + 2
        outputs.add(best)
    assert len(outputs) > 30


NODES = [(3, 1), (5, 1), (4, 2), (-2, 2), (6, 1)]
LINKS = [(1, 2), (2, 3), (3, 4), (5, 3)]  # 1 - 2 - 3, and 4 and 5 beside 3
TREE = {"nodes": NODES, "links": LINKS}


@pytest.mark.parametrize(
    ("rules", "wanted"),
    [
        ({}, [11]),  # 2 and 5
        ({"fee": 4}, [3]),  # 2 and 5
        ({"degree": 1}, [14]),  # 1, 2, 5
        ({"degree": 2}, [18]),  # all but 4
        ({"degree": 2, "kinds": 1}, [15]),  # 2, 3, 5
        ({"degree": 1, "kinds": 1, "border": 1}, [10]),  # 1, 3, 5, less three links
        ({"border": 2}, [5]),  # 2 and 5, less three links; or 1 and 5
        ({"guard": 1}, [9]),  # 2, 4, 5
        ({"degree": 1, "groups": 1}, [10]),  # 3 and 5
        ({"modulus": 3, "rest": 2}, [11]),
        ({"modulus": 4, "rest": 0}, [0]),
        ({"modulus": 4, "rest": 3}, [9]),
        ({"modulus": 5, "rest": 4}, [NONE]),
        ({"asked": 2}, [9, 11, 7, 9, 11]),
        ({"asked": 2, "modulus": 3, "rest": 1}, [3, 5, 4, -2, 6]),
    ],
)
def test_small_cases_by_hand(rules, wanted):
    for solution in CONTEST.solutions:
        assert solution(**TREE, **FREE | rules) == wanted


@pytest.mark.parametrize(
    ("rules", "output", "told"),
    [
        ({}, [11, 2, 2, 5], ""),
        ({}, [11, 2, 5, 2], ""),
        ({}, [], "total"),
        ({}, [10, 2, 2, 5], "total"),
        ({}, [11], "number of the chosen"),
        ({}, [11, 2], "number of the chosen"),
        ({}, [11, 3, 2, 5], "number of the chosen"),
        ({}, [11, 2, 2, 5, 5], "number of the chosen"),
        ({}, [11, 3, 2, 5, 5], "repeats"),
        ({}, [11, 2, 2, 6], "out of range"),
        ({}, [11, 2, 0, 5], "out of range"),
        ({}, [11, 2, 2, -5], "out of range"),
        ({}, [11, 2, 1, 5], "another total"),
        ({}, [11, 0], "another total"),
        ({}, [11, 2, 2, 3], "too many"),
        ({"degree": 1}, [15, 3, 2, 3, 5], "too many"),
        ({"degree": 2, "kinds": 1}, [15, 3, 2, 3, 5], ""),
        ({"degree": 2, "kinds": 1}, [8, 2, 1, 2], "kind"),
        ({"guard": 1}, [7, 2, 1, 3], ""),
        ({"guard": 1}, [11, 2, 2, 5], "no chosen neighbour"),
        ({"border": 1}, [8, 2, 2, 5], ""),
        ({"border": 1}, [11, 2, 2, 5], "another total"),
        ({"groups": 1}, [11, 2, 2, 5], "parts"),
        ({"modulus": 3}, [11, 2, 2, 5], "remainder"),
    ],
)
def test_the_judge_looks_at_the_plan(rules, output, told):
    best = output[:1] if told != "total" else [11]
    said = accepts(output, [*best, 0], TREE, FREE | {"asked": 1} | rules)
    assert told in said
    assert bool(told) == bool(said)


def test_a_plan_is_judged_by_its_total_alone_if_there_is_none():
    for output, right in (([NONE], True), ([NONE, 0], False), ([0, 0], False)):
        said = accepts(output, [NONE], TREE, FREE | {"asked": 1})
        assert (said == "") == right


def test_the_solutions_agree():
    contests.check_solutions_agree(TreePlanTask, draws=40, level=1)


@pytest.mark.parametrize("edit", EDITS)
def test_mistakes_earn_nothing(edit):
    contests.check_edit(TreePlanTask, edit, least=3)


def test_near_misses_fail():
    wrong, passed = contests.survivors(TreePlanTask, highest=4)
    assert wrong > 150
    assert len(passed) <= wrong // 50, passed


def test_rules_come_in_and_matter():
    contests.check_rules(TreePlanTask, most_at_ten=4)


@pytest.mark.parametrize("source", contests.JUNK)
def test_junk_earns_nothing(source):
    task, problem = contests.make(TreePlanTask, 2)
    assert task.verify(problem, source).score == 0.0


def test_examples_and_prompts_say_something():
    contests.check_examples(TreePlanTask)
    contests.check_prompt(TreePlanTask)


def anew_for_each_node(nodes, links, asked, **_):
    """Take each node as root; this is right where no rule but the first holds, with degree 0."""
    n = len(nodes)
    around = [[] for _ in range(n + 1)]
    for a, b in links:
        around[a].append(b)
        around[b].append(a)
    answers = []
    for root in range(1, n + 1):
        order, parent = [root], [0] * (n + 1)
        for node in order:
            for other in around[node]:
                if other != parent[node]:
                    parent[other] = node
                    order.append(other)
        without, within = [0] * (n + 1), [0, *(gain for gain, _ in nodes)]
        for node in order[:0:-1]:
            without[parent[node]] += max(without[node], within[node])
            within[parent[node]] += without[node]
        answers.append(within[root])
    return answers


def test_trying_every_plan_or_root_is_right_and_too_slow():
    task, problem = contests.make(TreePlanTask, 0)
    plain = CONTEST.solutions[1]
    assert task.verify(problem, task.program_of(problem, plain)).score == 1.0
    rules = FREE | {"asked": 2}
    assert contests.verdict_on_large(TreePlanTask, rules, 8, anew_for_each_node).score == 1.0
    for slow, level in ((plain, 8), (anew_for_each_node, 26)):
        verdict = contests.verdict_on_large(TreePlanTask, rules, level, slow)
        assert (verdict.score, "too long" in verdict.detail) == (0.0, True)


def test_the_tables_are_fast_enough_under_the_slowest_rules():
    rules = {"degree": 2, "border": 1, "guard": 1, "kinds": 1}
    for more in ({"groups": 5, "asked": 2}, {"modulus": 4, "asked": 1}, {"asked": 2, "degree": 0}):
        given = FREE | rules | more
        verdict = contests.verdict_on_large(TreePlanTask, given, 60, CONTEST.solutions[0])
        assert verdict.score == 1.0, verdict


def test_effort_and_baseline():
    task, problem = contests.make(TreePlanTask, 0)
    harder, later = contests.make(TreePlanTask, 9)
    assert 0 < task.effort(problem) < harder.effort(later)
    assert task.verify(problem, task.baseline(stream("b"), problem)).score == 0.0
    assert ContestConfig.at(9).level == 18
