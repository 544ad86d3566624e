"""Counting: every kind against listing all cases, the wording, configuration."""

from itertools import combinations, pairwise, permutations, product

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.counting import (
    KINDS,
    SURFACES,
    CountingConfig,
    CountingProblem,
    CountingTask,
)

MAX_CASES = 50_000  # a larger question is left out of the listing, and another seed tried


def arrangement(spread, *copies):
    letters = [kind for kind, count in enumerate(copies) for _ in range(count)]
    rows = set(permutations(letters)) if len(letters) <= 8 else None
    return rows and sum(not (spread and any(a == b == 0 for a, b in pairwise(row))) for row in rows)


def committee(first, second, seats, least):
    people = range(first + second)
    return sum(sum(p < first for p in chosen) >= least for chosen in combinations(people, seats))


def paths(width, height, *flat):
    blocked = set(zip(flat[::2], flat[1::2], strict=True))

    def walk(x, y):
        if (x, y) in blocked or x > width or y > height:
            return 0
        return 1 if (x, y) == (width, height) else walk(x + 1, y) + walk(x, y + 1)

    return walk(0, 0)


def shares(things, takers, least, most):
    if (most - least + 1) ** takers > MAX_CASES:
        return None
    return sum(sum(share) == things for share in product(range(least, most + 1), repeat=takers))


def table(people, special, apart):
    if people > 8:
        return None

    def fits(row):
        seats = sorted(i for i, person in enumerate(row) if person < special)
        steps = [(b - a) % people for a, b in zip(seats, [*seats[1:], seats[0]], strict=True)]
        return min(steps) > 1 if apart else sorted(steps)[:-1] == [1] * (special - 1)

    return sum(fits((0, *rest)) for rest in permutations(range(1, people)))


def multiples(limit, avoided, *divisors):
    hits = sum(any(n % d == 0 for d in divisors) for n in range(1, limit + 1))
    return limit - hits if avoided else hits


def runs(length, symbols, run):
    if symbols**length > MAX_CASES:
        return None
    return sum(
        all(any(code[i : i + run]) for i in range(length - run + 1))
        for code in product(range(symbols), repeat=length)
    )


def spaced(places, chosen, gap):
    return sum(
        all(b - a > gap for a, b in pairwise(group))
        for group in combinations(range(places), chosen)
    )


def fixed_points(things, fixed):
    if things > 8:
        return None
    return sum(
        sum(i == image for i, image in enumerate(order)) == fixed
        for order in permutations(range(things))
    )


def parts(things, count, named):
    if count**things > MAX_CASES:
        return None
    onto = [f for f in product(range(count), repeat=things) if len(set(f)) == count]
    if named:
        return len(onto)
    return len(
        {frozenset(frozenset(i for i in range(things) if f[i] == p) for p in f) for f in onto}
    )


LISTED = {
    "arrangement": arrangement,
    "committee": committee,
    "paths": paths,
    "shares": shares,
    "table": table,
    "multiples": multiples,
    "runs": runs,
    "spaced": spaced,
    "fixed_points": fixed_points,
    "parts": parts,
}


@pytest.mark.parametrize("kind", KINDS)
def test_whole_small_world(kind):
    task = CountingTask(CountingConfig(kinds=(kind,), size=3))
    listed = 0
    for seed in range(60):
        problem = task.generate(stream("Counting", kind, seed))
        expected = LISTED[kind](*problem.numbers)
        if expected is None:
            continue
        window = range(max(0, expected - 5), expected + 6)
        assert [v for v in window if task.verify(problem, str(v)).score == 1.0] == [expected]
        listed += 1
        if listed == 20:
            return
    pytest.fail(f"only {listed} questions were small enough to list")


@pytest.mark.parametrize("kind", ["committee", "paths", "multiples", "spaced"])
def test_larger_questions_agree_with_listing(kind):
    task = CountingTask(CountingConfig(kinds=(kind,), size=8))
    for seed in range(8):
        problem = task.generate(stream("Counting", "larger", kind, seed))
        assert int(task.solve(problem)) == LISTED[kind](*problem.numbers)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("surface", range(SURFACES))
def test_every_public_number_matters_to_the_wording(kind, surface):
    task = CountingTask(CountingConfig(kinds=(kind,), size=6))
    seen = {}
    for seed in range(150):
        numbers = task.generate(stream("Counting", "wording", kind, seed)).numbers
        text = task.prompt(CountingProblem(kind, surface, numbers, 0))
        assert seen.setdefault(text, numbers) == numbers
    assert len(seen) > 10


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"kinds": ()}, "kinds are"),
        ({"kinds": ("x",)}, "kinds are"),
        ({"size": 1}, "size is 2 or more"),
    ],
)
def test_config_is_checked(knobs, message):
    with pytest.raises(ConfigError, match=message):
        CountingConfig(**knobs)


def test_effort_and_baseline_of_a_small_problem():
    task = CountingTask(CountingConfig())
    problem = CountingProblem("spaced", 0, (7, 2, 1), 15)
    # Digits of "Take 1", "7 - 1 * 1 = 6", "Any 2" and "C(6, 2) = 15", and one product.
    assert task.effort(problem) == 1 + 4 + 1 + 4 + 1
    assert task.baseline(stream("baseline"), problem) == "21"  # of C(7, 2) pairs some are too close


@pytest.mark.parametrize("kind", KINDS)
def test_the_baseline_leaves_a_rule_out(kind):
    task = CountingTask(CountingConfig(kinds=(kind,)))
    problems = [task.generate(stream("Counting", "hurried", kind, seed)) for seed in range(20)]
    hurried = [int(task.baseline(stream("baseline"), problem)) for problem in problems]
    assert any(a != problem.count for a, problem in zip(hurried, problems, strict=True))
