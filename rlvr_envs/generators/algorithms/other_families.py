"""The families about strings, numbers, grids, graphs and plans."""

from collections.abc import Callable

from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.generators.algorithms import inputs, others, slow_others
from rlvr_envs.generators.algorithms.family import (
    Family,
    Maker,
    Parameters,
    nothing,
    template,
    within,
)
from rlvr_envs.generators.programs.nodes import Variable


def _family(
    name: str,
    levels: tuple[int, int, int],
    reads: tuple[Variable, ...],
    draw: Callable[[Rng], Parameters],
    make: Maker,
    words: str,
) -> Family:
    level, most, power = levels
    return Family(
        name=name,
        level=level,
        inputs=reads,
        fast=getattr(others, name),
        slow=getattr(slow_others, name),
        draw=draw,
        make=make,
        words=template(words),
        most=most,
        power=power,
    )


def _primes(rng: Rng) -> Parameters:
    modulus = integer(rng, 2, 12)
    rests = [rest for rest in range(modulus) if others.gcd(rest, modulus) == 1]
    return modulus, rests[integer(rng, 0, len(rests) - 1)]


S: Variable = ("s", "str")
N: Variable = ("n", "int")
XS: Variable = ("xs", "list")

OTHER_FAMILIES = (
    _family(
        "run_lengths",
        (0, 20_000, 1),
        (S,),
        within((1, 4), (1, 3)),
        inputs.runs,
        "You are given a string s of lower-case letters. A run is a maximal block of consecutive "
        "equal letters. Print the sum of L**{1} (L to the power of {1}) over all runs of s whose "
        "length L is at least {0}.",
    ),
    _family(
        "bracket_repairs",
        (0, 20_000, 1),
        (S,),
        within((2, 99)),
        inputs.brackets,
        "You are given a string s of round brackets, which need not be balanced. Read it from left "
        "to right: every ) is matched with the latest unmatched ( before it, if there is one, and "
        "stays unmatched otherwise. Let u be the number of brackets (of both kinds) that are "
        "unmatched at the end. Let d be the largest number of brackets ( that are unmatched at the "
        "same time while reading. Print {0} * u + d.",
    ),
    _family(
        "survivor",
        (1, 400_000, 1),
        (N,),
        within((2, 60), (0, 50)),
        inputs.circle,
        "You are given an integer n. The numbers 1, 2, ..., n stand in a circle in this order. "
        "Count around the circle, starting with the number 1. The k-th number counted, with k = "
        "{0}, leaves the circle, and counting starts again from 1 with the next number that is "
        "still in the circle. Repeat this until one number is left. From it, go {1} places forward "
        "in the original circle of all n numbers (after n comes 1). Print the number you reach.",
    ),
    _family(
        "count_primes",
        (1, 60_000, 1),
        (("low", "int"), ("high", "int")),
        _primes,
        inputs.interval,
        "You are given two integers low and high. Print how many prime numbers p with low <= p <= "
        "high have remainder {1} when divided by {0}.",
    ),
    _family(
        "most_overlaps",
        (2, 40_000, 1),
        (("starts", "list"), ("lengths", "list")),
        within((2000, 9000)),
        inputs.visits,
        "You are given two lists of equal length, starts and lengths. A museum is open from time 0 "
        "to time {0}. Visitor i arrives at time starts[i] and leaves at time starts[i] + "
        "lengths[i], which is at most {0}. Visitors who leave at a time t are gone before those "
        "who arrive at time t enter. Print the largest number of visitors who are in the museum at "
        "the same time (0 if there are no visitors).",
    ),
    _family(
        "cycle_length",
        (2, 200_000, 1),
        (("start", "int"), ("modulus", "int")),
        within((1, 900), (1, 900)),
        inputs.cycle,
        "You are given two integers, start and modulus (0 <= start < modulus). A sequence begins "
        "with start, and every number x is followed by ({0} * x + {1}) mod modulus. From some "
        "place on, the sequence repeats. Print the length of its cycle: the smallest p > 0 such "
        "that, from some place on, every number equals the number p places later.",
    ),
    _family(
        "balanced_length",
        (3, 20_000, 1),
        (S,),
        within((2, 99)),
        inputs.brackets,
        "You are given a string s of round brackets, which need not be balanced. Let b be the "
        "length of the longest block of consecutive characters of s that is a balanced bracket "
        "sequence (0 if there is none). Read s from left to right and match every ) with the "
        "latest unmatched ( before it, if there is one; let m be the number of matched pairs. "
        "Print {0} * b + m.",
    ),
    _family(
        "group_sizes",
        (3, 15_000, 1),
        (N, ("first", "list"), ("second", "list")),
        within((1, 4)),
        inputs.graph,
        "You are given an integer n and two lists of equal length, first and second. There are n "
        "people, numbered from 0 to n - 1. For every position k, the people first[k] and second[k] "
        "know each other (both may be the same person, and pairs may occur more than once). Two "
        "people belong to the same group if a chain of people who know each other connects them. "
        "Print the number of groups whose size is at least {0}.",
    ),
    _family(
        "count_paths",
        (3, 20_000, 1),
        (("width", "int"), ("cells", "list")),
        within((1, 3), (1000, 9999)),
        inputs.grid,
        "You are given an integer width and a list cells: the values of a grid with width columns, "
        "row by row, from the top left to the bottom right. A cell with a value below {0} is a "
        "wall; all others are free. The first and the last cell are free. A path goes from the "
        "first to the last cell through free cells only, and each step goes one cell to the right "
        "or one cell down. Print the number of paths, modulo {1}.",
    ),
    _family(
        "shortest_path",
        (4, 10_000, 1),
        (("width", "int"), ("cells", "list")),
        within((1, 4)),
        inputs.grid,
        "You are given an integer width and a list cells: the values of a grid with width columns, "
        "row by row, from the top left to the bottom right. A cell with a value below {0} is a "
        "wall; all others are free. The first and the last cell are free. A step goes from a cell "
        "to a free cell directly above, below, left or right of it. Print the smallest number of "
        "steps from the first to the last cell, or -1 if there is no path.",
    ),
    _family(
        "coin_ways",
        (4, 8_000, 1),
        (("coins", "list"), ("amount", "int")),
        within((500, 9999)),
        inputs.coins,
        "You are given a list coins of different coin values, each available without limit, and "
        "an integer amount. Print the number of ways to pay the amount exactly, modulo {0}. Two "
        "ways are the same if they use the same number of each coin.",
    ),
    _family(
        "fewest_coins",
        (4, 8_000, 1),
        (("coins", "list"), ("amount", "int")),
        within((-99, -1)),
        inputs.coins,
        "You are given a list coins of different coin values, each available without limit, and "
        "an integer amount. Print the smallest number of coins that pay the amount exactly, or "
        "{0} if it cannot be paid.",
    ),
    _family(
        "range_divisors",
        (5, 40_000, 1),
        (XS, ("starts", "list"), ("width", "int")),
        nothing,
        inputs.ranges,
        "You are given a list xs of positive integers, a list starts of positions in it (from 0) "
        "and an integer width. For every position p in starts, find the greatest common divisor "
        "of the items of xs at the positions p, p + 1, ..., p + width - 1, which all exist. Print "
        "the sum of these divisors, one for every item of starts.",
    ),
    _family(
        "knapsack",
        (5, 60, 2),
        (("weights", "list"), ("worths", "list"), ("capacity", "int")),
        nothing,
        inputs.bags,
        "You are given two lists of equal length, weights and worths, and an integer capacity. "
        "Object i has the weight weights[i] and the value worths[i]. Choose objects, each at most "
        "once, whose total weight does not exceed the capacity. Print the largest possible total "
        "value.",
    ),
    _family(
        "edit_distance",
        (6, 250, 2),
        (XS, ("ys", "list")),
        within((1, 3)),
        inputs.two_lists,
        "You are given two lists of integers, xs and ys. Removing an item or inserting an item "
        "anywhere costs 1; changing an item into any other integer costs {0}. Print the smallest "
        "total cost of turning xs into ys.",
    ),
    _family(
        "common_length",
        (6, 250, 2),
        (XS, ("ys", "list")),
        within((0, 6)),
        inputs.two_lists,
        "You are given two lists of integers, xs and ys. Choose the same number of items from both "
        "lists and keep their order. For every k, the k-th chosen item of xs and the k-th chosen "
        "item of ys must differ by at most {0}. Print the largest number of items that can be "
        "chosen from each list.",
    ),
    _family(
        "merge_cost",
        (7, 60, 3),
        (XS,),
        within((0, 99)),
        inputs.piles,
        "You are given a list xs of at least two positive integers, the sizes of piles in a row. "
        "You can merge two neighbouring piles into one pile in the same place; its size is the sum "
        "of their sizes, and the merge costs this size plus {0}. Print the smallest total cost of "
        "merging all piles into one.",
    ),
)
