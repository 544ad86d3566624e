"""Families: the fast solution, brute force and the programs in every language agree."""

import inspect

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.algorithms import lists, others, slow_lists, slow_others
from rlvr_envs.generators.algorithms.draw import LIMIT, SHAPES, Draw, items
from rlvr_envs.generators.algorithms.plan import (
    COMBINE,
    FAMILIES,
    Plan,
    Stage,
    answer,
    draw_inputs,
    draw_plan,
    find_family,
    input_format,
    program,
    statement,
)
from rlvr_envs.generators.algorithms.scales import FULL, SMALLEST, scale_of, size_of, sizes
from rlvr_envs.generators.algorithms.stages import STAGES
from rlvr_envs.generators.programs.check import check
from rlvr_envs.generators.programs.emit import EMITTED
from rlvr_envs.generators.programs.interpret import interpret
from rlvr_envs.generators.programs.stdin import stdin_text

# Brute force takes exponential time in these.
TINY = ("knapsack", "edit_distance", "common_length", "merge_cost")


def plans(name, count):
    for seed in range(count):
        rng = stream("plan", name, seed)
        yield seed, draw_plan(rng, [name], seed % 4, 1 + seed % 4)


@pytest.mark.parametrize("name", FAMILIES)
def test_fast_solution_brute_force_and_program_agree(name):
    largest = 6 if name in TINY else 12 if name in ("shortest_path", "fewest_coins") else 24
    for seed, plan in plans(name, 40):
        inputs = draw_inputs(plan, seed, 1 + seed % largest)
        right = answer(plan, inputs, slow=True)
        assert answer(plan, inputs) == right, (plan, inputs)
        assert interpret(check(program(plan)), inputs).output == f"{right}\n", (plan, inputs)


@pytest.mark.parametrize("name", ["count_pairs", "survivor", "coin_ways", "balanced_length"])
def test_brute_force_is_a_program_too(name):
    for seed, plan in plans(name, 6):
        inputs = draw_inputs(plan, seed, 5 + seed)
        slow = interpret(check(program(plan, slow=True)), inputs).output
        assert slow == f"{answer(plan, inputs)}\n"


@pytest.mark.parametrize("name", FAMILIES)
def test_answers_are_diverse(name):
    size = min(120, FAMILIES[name].most)
    answers = [answer(plan, draw_inputs(plan, seed, size)) for seed, plan in plans(name, 60)]
    assert len(set(answers)) >= 10
    assert max(map(answers.count, answers)) <= 24


@pytest.mark.parametrize("name", FAMILIES)
def test_large_tests_are_within_reach_of_stdin_and_of_the_range(name):
    family = FAMILIES[name]
    plan = draw_plan(stream("large", name), [name], 2, 1)
    inputs = draw_inputs(plan, 5, size_of(family, FULL, "python"))
    assert len(stdin_text(program(plan), inputs)) < 400_000
    assert abs(answer(plan, inputs)) < 2**53


@pytest.mark.parametrize("name", FAMILIES)
def test_statements_read_well(name):
    for _, plan in plans(name, 12):
        text = statement(plan)
        assert "{" not in text
        assert "}" not in text
        assert text.rstrip().endswith(".")
        assert "  " not in text
        for read, _ in find_family(name).inputs:
            assert f" {read}" in input_format(plan)


def test_every_solution_belongs_to_a_family():
    named = {family.fast.__name__ for family in FAMILIES.values()}
    for module, counterpart in ((lists, slow_lists), (others, slow_others)):
        for name in vars(module):
            if inspect.isfunction(getattr(module, name)) and name != "gcd":
                assert name in named
                assert getattr(module, name) is not getattr(counterpart, name)
    assert len(FAMILIES) >= 14


@pytest.mark.parametrize("kind", STAGES)
def test_stages_keep_items_in_range_and_do_not_change_their_input(kind):
    for seed in range(30):
        stage = STAGES[kind]
        xs = items(Draw(seed), seed % 12, SHAPES[seed % len(SHAPES)])
        before = list(xs)
        parameters = stage.draw(stream(kind, seed))
        result = stage.apply(xs, *parameters)
        assert xs == before
        assert all(0 <= item < LIMIT for item in result)
        plan = Plan("longest_streak", (3,), (Stage(kind, parameters),))
        found = interpret(check(program(plan)), {"xs": xs}).output
        assert found == f"{lists.longest_streak(result, 3)}\n"
        stage.words.format(*parameters)


@pytest.mark.parametrize("combine", COMBINE)
def test_parts_put_together(combine):
    plan = Plan("best_trade", (1,), (), 3, combine)
    inputs = {"xs": [1, 9, 4, 6, 5, 3, 3, 7]}  # parts 1 9 / 4 6 5 / 3 3 7, answers 8, 2, 4
    right = {"sum": 14, "largest": 8, "smallest": 2, "alternating": 10}[combine]
    assert answer(plan, inputs) == right
    assert interpret(check(program(plan)), inputs).output == f"{right}\n"


@pytest.mark.parametrize(
    ("name", "parameters", "inputs", "right"),
    [
        ("longest_streak", (1,), {"xs": [5, 6, 7, 9, 9, 8, 8]}, 4),
        ("count_pairs", (5, 0), {"xs": [1, 4, 6, 9]}, 4),
        ("count_inversions", (0,), {"xs": [3, 1, 2, 1]}, 4),
        ("longest_rising", (1,), {"xs": [3, 1, 2, 2, 5]}, 3),
        ("longest_rising", (0,), {"xs": [3, 1, 2, 2, 5]}, 4),
        ("trapped_water", (400,), {"xs": [3, 0, 2, 0, 4]}, 7),
        ("largest_rectangle", (1,), {"xs": [1, 0, 4, 5, 1]}, 10),
        ("most_frequent", (3, 1), {"xs": [4, 7, 2, 5, 9]}, 1),
        ("most_frequent", (3, -1), {"xs": [4, 7, 2, 5, 9]}, 2),
        ("fewest_jumps", (3,), {"xs": [2, 0, 0, 1, 0]}, 2),
        ("survivor", (3, 0), {"n": 7}, 4),
        ("survivor", (3, 5), {"n": 7}, 2),
        ("count_primes", (4, 3), {"low": 2, "high": 23}, 5),
        ("run_lengths", (2, 2), {"s": "aabcccd"}, 13),
        ("bracket_repairs", (10,), {"s": ")(()("}, 32),
        ("balanced_length", (10,), {"s": "(()(())"}, 63),
        ("cycle_length", (1, 1), {"start": 0, "modulus": 7}, 7),
        ("coin_ways", (1000,), {"coins": [1, 2, 5], "amount": 5}, 4),
        ("fewest_coins", (-7,), {"coins": [4, 6], "amount": 14}, 3),
        ("fewest_coins", (-7,), {"coins": [4, 6], "amount": 9}, -7),
        ("knapsack", (), {"weights": [2, 3, 4], "worths": [3, 4, 6], "capacity": 6}, 9),
        ("edit_distance", (1,), {"xs": [1, 2, 3], "ys": [2, 3, 9]}, 2),
        ("edit_distance", (3,), {"xs": [1], "ys": [2]}, 2),
        ("common_length", (0,), {"xs": [1, 3, 2, 4], "ys": [3, 4, 1, 4]}, 2),
        ("merge_cost", (0,), {"xs": [1, 2, 3, 4]}, 19),
        ("shortest_path", (1,), {"width": 3, "cells": [9, 0, 9, 9, 0, 9, 9, 9, 9]}, 4),
        ("shortest_path", (1,), {"width": 2, "cells": [9, 0, 0, 9]}, -1),
        ("count_paths", (1, 1000), {"width": 3, "cells": [9] * 9}, 6),
        ("group_sizes", (2,), {"n": 6, "first": [0, 1, 3, 5], "second": [1, 2, 4, 5]}, 2),
        ("range_divisors", (), {"xs": [4, 6, 9], "starts": [0, 1], "width": 2}, 5),
        ("most_overlaps", (10,), {"starts": [0, 2, 4], "lengths": [4, 3, 1]}, 2),
    ],
)
def test_answers_worked_out_by_hand(name, parameters, inputs, right):
    assert answer(Plan(name, parameters), inputs) == right


def test_inputs_are_fixed_for_ever():
    # These numbers stand in rows that others have stored: a change needs new ids.
    assert Draw(7).integers(0, 999, 5) == [515, 860, 173, 903, 370]
    assert draw_inputs(Plan("run_lengths", (1, 1)), 12, 12) == {"s": "cdaacdaaabcc"}


def test_sizes_grow_and_differ_between_languages():
    family = find_family("count_inversions")
    grown = [size_of(family, growth, "python") for growth in range(FULL + 1)]
    assert grown[0] == SMALLEST
    assert grown == sorted(set(grown))
    assert size_of(family, FULL + 9, "python") == grown[-1] == family.most
    assert size_of(family, FULL, "bash") < grown[-1] < size_of(family, FULL, "c")
    assert sizes(1000, 10)[0] == 4
    assert sizes(1000, 10)[-2:] == [1000, 1000]
    assert all(scale_of(language).cpu_s >= 1 for language in (*EMITTED, "brainfuck"))


def test_unknown_families_are_named():
    with pytest.raises(ConfigError, match="did you mean 'knapsack'"):
        find_family("knapsak")
