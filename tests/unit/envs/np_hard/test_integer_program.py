"""Integer programs: every story solved by brute force from its told numbers, forms, configuration."""

import itertools
from functools import cache

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.np_hard.integer_program import (
    STORIES,
    IntegerProgramConfig,
    IntegerProgramProblem,
    IntegerProgramTask,
    best,
    program,
)
from rlvr_envs.generators.optimisation.linear_programs import holds, optimum
from rlvr_envs.generators.optimisation.stories import Size

TASK = IntegerProgramTask(IntegerProgramConfig())


def furniture(profits, stocks, most, *needs):
    return max(
        sum(p * x for p, x in zip(profits, built, strict=True))
        for built in itertools.product(*(range(m + 1) for m in most))
        if all(
            sum(a * x for a, x in zip(row, built, strict=True)) <= stock
            for row, stock in zip(needs, stocks, strict=True)
        )
    )


def pipes(pipe, lengths, counts):
    @cache
    def fewest(left):
        """Pipes for what is left, by every choice of pieces from the next pipe."""
        if not any(left):
            return 0
        return min(
            1 + fewest(tuple(a - b for a, b in zip(left, cut, strict=True)))
            for cut in itertools.product(*(range(a + 1) for a in left))
            if any(cut) and sum(n * a for n, a in zip(cut, lengths, strict=True)) <= pipe[0]
        )

    return fewest(counts)


def shifts(needs, wages, length):
    n = len(needs)
    costs = []
    for begun in itertools.product(range(max(needs) + 1), repeat=n):
        at_work = [0] * n
        for start, nurses in enumerate(begun):
            for later in range(length[0]):
                at_work[(start + later) % n] += nurses
        if all(a >= b for a, b in zip(at_work, needs, strict=True)):
            costs.append(sum(a * b for a, b in zip(begun, wages, strict=True)))
    return min(costs)


def depots(rents, capacities, demands, *freight):
    @cache
    def cheapest(shop, left):
        """Freight of the shops from ``shop`` on, with ``left`` at the open sites."""
        if shop == len(demands):
            return 0
        found = [10**9]
        for parts in itertools.product(*(range(min(c, demands[shop]) + 1) for c in left)):
            if sum(parts) == demands[shop]:
                rest = tuple(a - b for a, b in zip(left, parts, strict=True))
                paid = sum(x * freight[i][shop] for i, x in enumerate(parts))
                found.append(paid + cheapest(shop + 1, rest))
        return min(found)

    return min(
        sum(r for r, is_open in zip(rents, opened, strict=True) if is_open)
        + cheapest(0, tuple(c * o for c, o in zip(capacities, opened, strict=True)))
        for opened in itertools.product((0, 1), repeat=len(rents))
    )


def projects(values, budgets, needed, excluded, *costs):
    n, found = len(values), []
    for done in itertools.product((0, 1), repeat=n):
        affordable = all(
            sum(c for c, d in zip(row, done, strict=True) if d) <= budget
            for row, budget in zip(costs, budgets, strict=True)
        )
        based = all(
            done[b - 1] or not done[a - 1] for a, b in zip(*[iter(needed)] * 2, strict=True)
        )
        apart = not any(
            done[a - 1] and done[b - 1] for a, b in zip(*[iter(excluded)] * 2, strict=True)
        )
        if affordable and based and apart:
            found.append(sum(v for v, d in zip(values, done, strict=True) if d))
    return max(found)


def trucks(hire, available, loads, *room):
    return min(
        sum(a * b for a, b in zip(hire, hired, strict=True))
        for hired in itertools.product(*(range(a + 1) for a in available))
        if all(
            sum(a * b for a, b in zip(row, hired, strict=True)) >= load
            for row, load in zip(room, loads, strict=True)
        )
    )


def power(starts, costs, least, most, demand):
    outputs = [[0, *range(low, high + 1)] for low, high in zip(least, most, strict=True)]
    return min(
        sum(s + c * x for s, c, x in zip(starts, costs, plan, strict=True) if x)
        for plan in itertools.product(*outputs)
        if sum(plan) == demand[0]
    )


BRUTE = {
    "furniture": furniture,
    "pipes": pipes,
    "shifts": shifts,
    "depots": depots,
    "projects": projects,
    "trucks": trucks,
    "power": power,
}


def test_every_story_has_a_brute_force():
    assert sorted(BRUTE) == sorted(STORIES)


@pytest.mark.parametrize("story", sorted(BRUTE))
@pytest.mark.parametrize("seed", range(6))
def test_small_world(story, seed):
    config = IntegerProgramConfig(n_choices=2, n_limits=1, max_number=4, story=story)
    task = IntegerProgramTask(config)
    problem = task.generate(stream("IntegerProgram", story, seed))
    gold = BRUTE[story](*problem.numbers)
    assert problem.optimum == gold
    for number in range(-5, 2 * gold + 5):
        assert task.verify(problem, str(number)).score == (number == gold)


@pytest.mark.parametrize("story", ["furniture", "projects", "trucks", "power"])
def test_several_limits(story):
    config = IntegerProgramConfig(n_choices=3, n_limits=3, max_number=7, story=story)
    for seed in range(3):
        problem = IntegerProgramTask(config).generate(stream("IntegerProgram", story, "m", seed))
        assert problem.optimum == BRUTE[story](*problem.numbers)


@pytest.mark.parametrize("story", sorted(STORIES))
@pytest.mark.parametrize("level", [0, 7, 14])
def test_solutions_meet_their_programs(story, level):
    numbers = STORIES[story].draw(
        stream("IntegerProgram", "holds", story, level),
        Size(2 + level // 2, 1 + level // 2, 6 + 2 * level),
    )
    program = STORIES[story].program(numbers)
    solved = best(program, 0.2)
    assert solved.proven
    assert holds(program, solved.values)
    total = sum(c * x for c, x in zip(program.objective, solved.values, strict=True))
    assert total == solved.objective > 0


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("1234", True),
        ("1,234", True),
        (" 1234 ", True),
        ("1234.0", True),
        ("1235", False),
        ("1233.9", False),
        ("-1234", False),
        ("1234 or 1235", False),
        ("x = 3, y = 4", False),
        ("NaN", False),
        ("", False),
    ],
)
def test_forms(answer, right):
    problem = IntegerProgramProblem("trucks", ((1,), (1,), (1,), (1,)), 1234, 0)
    assert TASK.verify(problem, answer).score == right


@pytest.mark.parametrize("story", sorted(STORIES))
def test_prompts_tell_every_number(story):
    task = IntegerProgramTask(IntegerProgramConfig(story=story))
    problem = task.generate(stream("IntegerProgram", "told", story))
    told = task.prompt(problem)
    assert problem.story == story
    for number in {number for row in problem.numbers for number in row}:
        assert str(number) in told


def test_a_draw_without_a_proof_is_replaced_by_a_smaller_one():
    config = IntegerProgramConfig(n_choices=16, n_limits=8, max_number=40, story="projects")
    hurried = IntegerProgramConfig(
        n_choices=16, n_limits=8, max_number=40, story="projects", budget=1e-9
    )
    whole = IntegerProgramTask(config).generate(stream("IntegerProgram", "large"))
    small = IntegerProgramTask(hurried).generate(stream("IntegerProgram", "large"))
    assert len(small.numbers[0]) < len(whole.numbers[0]) == 18
    assert small.optimum == projects(*small.numbers)


@pytest.mark.parametrize(
    "knob",
    [
        {"n_choices": 1},
        {"n_limits": 0},
        {"max_number": 2},
        {"max_number": 10_001},
        {"budget": 0},
        {"story": "fairy tale"},
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        IntegerProgramConfig(**knob)


def test_the_baseline_and_the_effort_of_a_small_problem():
    # 7 of length 4 and 1 of length 5, from pipes of 9: 4 pipes and 1, though 4 are enough
    problem = IntegerProgramProblem("pipes", ((9,), (4, 5), (7, 1)), 4, work=3)
    assert TASK.baseline(stream("baseline"), problem) == "5"
    assert TASK.verify(problem, "4").score == 1.0
    assert TASK.effort(problem) > problem.work


def test_most_draws_have_another_optimum_than_in_any_amounts():
    task = IntegerProgramTask(IntegerProgramConfig.at(3))
    drawn = [task.generate(stream("IntegerProgram", "whole", seed)) for seed in range(30)]
    assert sum(optimum(program(p)).value != p.optimum for p in drawn) >= 20
