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
        "You are given a string s of round brackets, which need not be balanced. Brackets are "
        "matched as usual: reading from left to right, every ) is matched with the latest "
        "unmatched ( before it, if there is one, and stays unmatched otherwise. Let u be the "
        "number of brackets (of both kinds) that stay unmatched at the end, and let d be the "
        "largest number of brackets ( that are waiting for their match at the same time. Print "
        "{0} * u + d.",
    ),
    _family(
        "survivor",
        (1, 400_000, 1),
        (N,),
        within((2, 60), (0, 50)),
        inputs.circle,
        "The numbers 1, 2, ..., n stand in a circle in this order. Counting starts with the "
        "number 1 and goes around the circle again and again; every k-th number that is counted, "
        "with k = {0}, leaves the circle at once, and counting goes on from 1 with the next number "
        "that still stands. When one number is left, go {1} places on from it in the original "
        "circle of all n numbers (after n comes 1 again). Print the number you arrive at.",
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
        "A museum is open from time 0 to time {0}. Visitor i comes at time starts[i] and stays "
        "for lengths[i] units of time; whoever leaves at a time t is gone when those who come at "
        "t enter. No one stays beyond time {0}. Print the largest number of visitors who are in "
        "the museum at the same time (0 if there are none).",
    ),
    _family(
        "cycle_length",
        (2, 200_000, 1),
        (("start", "int"), ("modulus", "int")),
        within((1, 900), (1, 900)),
        inputs.cycle,
        "A sequence of integers begins with start, and every number x is followed by the number "
        "({0} * x + {1}) mod modulus. You are given start and modulus (0 <= start < modulus). From "
        "some place on the sequence repeats itself. Print the length of its cycle: the smallest p "
        "> 0 such that, from some place on, every number equals the one p places later.",
    ),
    _family(
        "balanced_length",
        (3, 20_000, 1),
        (S,),
        within((2, 99)),
        inputs.brackets,
        "You are given a string s of round brackets, which need not be balanced. Let b be the "
        "length of the longest block of consecutive characters of s that is a balanced bracket "
        "sequence (0 if there is none), and let m be the number of pairs when every ) is matched "
        "with the latest unmatched ( before it, if there is one. Print {0} * b + m.",
    ),
    _family(
        "group_sizes",
        (3, 15_000, 1),
        (N, ("first", "list"), ("second", "list")),
        within((1, 4)),
        inputs.graph,
        "There are n people, numbered from 0 to n - 1. For every position k, the people first[k] "
        "and second[k] know each other (someone may be paired with himself, and pairs may occur "
        "more than once). Two people belong to the same group if a chain of acquaintances "
        "connects them. Print the number of groups of at least {0} people.",
    ),
    _family(
        "count_paths",
        (3, 20_000, 1),
        (("width", "int"), ("cells", "list")),
        within((1, 3), (1000, 9999)),
        inputs.grid,
        "A grid has width columns; its cells are listed row by row, from the top left to the "
        "bottom right. A cell with a value below {0} is a wall; the first and the last cell are "
        "free. A path goes from the first cell to the last one through free cells only, each step "
        "to the right or down. Print the number of paths, modulo {1}.",
    ),
    _family(
        "shortest_path",
        (4, 10_000, 1),
        (("width", "int"), ("cells", "list")),
        within((1, 4)),
        inputs.grid,
        "A grid has width columns; its cells are listed row by row, from the top left to the "
        "bottom right. A cell with a value below {0} is a wall; the first and the last cell are "
        "free. A step goes from a cell to a free cell directly above, below, to the left or to "
        "the right. Print the smallest number of steps from the first cell to the last one, or -1 "
        "if there is no way.",
    ),
    _family(
        "coin_ways",
        (4, 8_000, 1),
        (("coins", "list"), ("amount", "int")),
        within((500, 9999)),
        inputs.coins,
        "You are given a list coins of different coin values, each available without limit, and "
        "an integer amount. Print in how many ways the amount can be paid exactly, modulo {0}; "
        "two ways are the same if they use the same number of each coin.",
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
        "the sum of these divisors.",
    ),
    _family(
        "knapsack",
        (5, 60, 2),
        (("weights", "list"), ("worths", "list"), ("capacity", "int")),
        nothing,
        inputs.bags,
        "You are given the weights and the worths of some things (thing i weighs weights[i] and "
        "is worth worths[i]) and the capacity of a bag. Every thing may be packed once. Print the "
        "largest total worth of things whose total weight does not exceed the capacity.",
    ),
    _family(
        "edit_distance",
        (6, 250, 2),
        (XS, ("ys", "list")),
        within((1, 3)),
        inputs.two_lists,
        "You are given two lists of integers, xs and ys. To remove an item from a list, or to "
        "insert one anywhere, costs 1; to change an item into any other number costs {0}. Print "
        "the smallest total cost of turning xs into ys.",
    ),
    _family(
        "common_length",
        (6, 250, 2),
        (XS, ("ys", "list")),
        within((0, 6)),
        inputs.two_lists,
        "You are given two lists of integers, xs and ys. Choose equally many items from both, "
        "keeping their order, such that the k-th chosen item of xs and the k-th chosen item of ys "
        "differ by at most {0}, for every k. Print the largest number of items that can be chosen "
        "from each list.",
    ),
    _family(
        "merge_cost",
        (7, 60, 3),
        (XS,),
        within((0, 99)),
        inputs.piles,
        "You are given a list xs of at least two positive integers, the sizes of piles that stand "
        "in a row. Two neighbouring piles can be merged into one, whose size is the sum of theirs "
        "and which takes their place; that costs the size of the new pile plus {0}. Print the "
        "smallest total cost of merging all piles into one.",
    ),
)
