"""Probability: every kind against its sample space, forms of the answer, configuration."""

from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product

import pytest
import sympy

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.probability import (
    ProbabilityConfig,
    ProbabilityProblem,
    ProbabilityTask,
)
from rlvr_envs.generators.mathematics.probability import KINDS


def share(cases, event):
    cases = list(cases)
    return Fraction(sum(map(event, cases)), len(cases))


def mean(cases, value):
    cases = list(cases)
    return Fraction(sum(map(value, cases)), len(cases))


def pairs(flat):
    return list(zip(flat[::2], flat[1::2], strict=True))


def dice_sum(dice, faces, target, above):
    rolls = product(range(1, faces + 1), repeat=dice)
    return share(rolls, lambda r: sum(r) >= target if above else sum(r) == target)


def urn(red, blue, draws, wanted, replaced):
    balls = range(red + blue)
    cases = product(balls, repeat=draws) if replaced else permutations(balls, draws)
    return share(cases, lambda drawn: sum(ball < red for ball in drawn) == wanted)


def colours(draws, alike, *balls):
    marbles = [colour for colour, count in enumerate(balls) for _ in range(count)]
    kinds = 1 if alike else draws
    return share(combinations(marbles, draws), lambda drawn: len(set(drawn)) == kinds)


def which_bag(draws, wanted, *flat):
    weights = []
    for red, blue in pairs(flat):
        cases = combinations(range(red + blue), draws)
        weights.append(share(cases, lambda drawn, red=red: max(drawn) < red))
    return weights[wanted - 1] / sum(weights)


def disease(rarity, sensitivity, false_alarms, times):
    ill, well = Fraction(1, rarity), Fraction(rarity - 1, rarity)
    for _ in range(times):
        ill, well = ill * sensitivity / 100, well * false_alarms / 100
    return ill / (ill + well)


@cache
def wait(red, blue, wanted):
    """Expectation by the first ball drawn."""
    if wanted == 0:
        return Fraction(0)
    after_red = wait(red - 1, blue, wanted - 1)
    after_blue = wait(red, blue - 1, wanted) if blue else 0
    return 1 + (red * after_red + blue * after_blue) / Fraction(red + blue)


def extreme(dice, faces, highest):
    return mean(product(range(1, faces + 1), repeat=dice), max if highest else min)


def transfer(*flat):
    bags = pairs(flat)

    def red_at(index, red, blue):
        """Chance of red at the end when a ball leaves bag ``index`` with this content."""
        if index == len(bags) - 1:
            return Fraction(red, red + blue)
        r, b = bags[index + 1]
        took_red = red_at(index + 1, r + 1, b)
        took_blue = red_at(index + 1, r, b + 1)
        return (red * took_red + blue * took_blue) / (red + blue)

    return red_at(0, *bags[0])


def turns(players, wanted, faces, least):
    """First-step equations solved backwards: one full round either ends the game or repeats it."""
    hit = Fraction(faces - least + 1, faces)
    wins, alive = [], Fraction(1)
    for _ in range(players):
        wins.append(alive * hit)
        alive -= wins[-1]
    return wins[wanted - 1] / sum(wins)


def wheel(spread, *flat):
    points = [prize for sectors, prize in pairs(flat) for _ in range(sectors)]
    average = mean(points, lambda p: p)
    return mean(points, lambda p: (p - average) ** 2) if spread else average


def walk(rounds, start, goal, top, bottom):
    """First-step equations, solved exactly."""
    win = sympy.Rational(top, bottom)
    x = sympy.symbols(f"x0:{goal + 1}")
    ends = [x[0], x[goal] - (0 if rounds else 1)]
    inner = [x[k] - rounds - win * x[k + 1] - (1 - win) * x[k - 1] for k in range(1, goal)]
    return Fraction(str(sympy.solve([*ends, *inner], x)[x[start]]))


def pattern(faces, *wanted):
    """First-step equations over how much of the pattern has been rolled."""
    x = sympy.symbols(f"x0:{len(wanted) + 1}")
    equations = [x[-1]]
    for k in range(len(wanted)):
        after = 0
        for face in range(1, faces + 1):
            rolled = [*wanted[:k], face]
            done = next(
                n for n in range(k + 1, -1, -1) if rolled[len(rolled) - n :] == [*wanted[:n]]
            )
            after += x[done]
        equations.append(x[k] - 1 - after / sympy.Integer(faces))
    return Fraction(str(sympy.solve(equations, x)[x[0]]))


ENUMERATED = {
    "dice_sum": dice_sum,
    "urn": urn,
    "colours": colours,
    "which_bag": which_bag,
    "test": disease,
    "wait": wait,
    "extreme": extreme,
    "transfer": transfer,
    "turns": turns,
    "wheel": wheel,
    "walk": walk,
    "pattern": pattern,
}


@pytest.mark.parametrize("kind", KINDS)
def test_whole_small_world(kind):
    task = ProbabilityTask(ProbabilityConfig(kinds=(kind,), size=0))
    for seed in range(12):
        problem = task.generate(stream("Probability", kind, seed))
        expected = ENUMERATED[kind](*problem.numbers)
        bottom = expected.denominator
        for top in range(max(0, expected.numerator - 4), expected.numerator + 5):
            verdict = task.verify(problem, f"{top}/{bottom}")
            assert verdict.score == float(Fraction(top, bottom) == expected)


@pytest.mark.parametrize("kind", KINDS)
def test_larger_questions_agree_with_enumeration(kind):
    task = ProbabilityTask(ProbabilityConfig(kinds=(kind,), size=4))
    for seed in range(6):
        problem = task.generate(stream("Probability", "larger", kind, seed))
        assert problem.value == ENUMERATED[kind](*problem.numbers)


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        (r"\frac{3}{8}", 1.0),
        ("3/8", 1.0),
        ("6/16", 1.0),
        ("0.375", 1.0),
        (r"$\dfrac{3}{8}$", 1.0),
        ("0.38", 0.0),
        ("5/8", 0.0),
        ("-3/8", 0.0),
        ("3", 0.0),
    ],
)
def test_forms(answer, score):
    task = ProbabilityTask(ProbabilityConfig.at(0))
    problem = ProbabilityProblem("urn", (1, 1, 3, 1, 1), Fraction(3, 8))
    assert task.verify(problem, answer).score == score


@pytest.mark.parametrize("kind", KINDS)
def test_every_public_number_matters_to_the_wording(kind):
    task = ProbabilityTask(ProbabilityConfig(kinds=(kind,), size=6))
    seen = {}
    for seed in range(150):
        problem = task.generate(stream("Probability", "wording", kind, seed))
        assert seen.setdefault(task.prompt(problem), problem.numbers) == problem.numbers
    assert len(seen) > 20


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"kinds": ()}, "kinds are"),
        ({"kinds": ("x",)}, "kinds are"),
        ({"size": -1}, "size is 0 or more"),
    ],
)
def test_config_is_checked(knobs, message):
    with pytest.raises(ConfigError, match=message):
        ProbabilityConfig(**knobs)


def test_effort_and_baseline_of_a_small_question():
    task = ProbabilityTask(ProbabilityConfig())
    problem = ProbabilityProblem("transfer", (1, 2, 3, 4), Fraction(5, 12))
    digits = sum(character.isdigit() for character in "".join(task.explain(problem)))
    assert task.effort(problem) > digits  # products and quotients cost more than their digits
    assert task.baseline(stream("b"), problem) == "1/3"
