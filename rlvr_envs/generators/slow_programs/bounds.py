"""What is known of the functions of `slow_functions`: how hard, how large, within which bound."""

from typing import Literal, NamedTuple


class Kind(NamedTuple):
    """What is known of one function."""

    tier: int  # how hard it is to rewrite, 0..3
    takes: Literal["list", "int"]  # what its first argument is
    bound: str  # how its time may grow with the argument's length or value
    largest: int  # the largest length or value that is timed
    small: int  # up to where the given code takes next to no time


KINDS = {
    "pairs_of_sum": Kind(0, "list", "O(n)", 60_000, 12),
    "best_block": Kind(0, "list", "O(n)", 60_000, 12),
    "counted_line": Kind(0, "int", "O(log n)", 4 * 10**12, 99),
    "repeated_step": Kind(0, "int", "O(log n)", 4 * 10**15, 99),
    "widest_range": Kind(1, "list", "O(n)", 60_000, 12),
    "two_term": Kind(1, "int", "O(log n)", 4 * 10**15, 99),
    "grid_paths": Kind(1, "int", "O(n^2)", 400, 6),
    "compositions": Kind(1, "int", "O(n)", 60_000, 14),
    "quotients": Kind(2, "int", "O(sqrt(n))", 10**10, 99),
    "few_kinds": Kind(2, "list", "O(n)", 40_000, 12),
    "clear_inversions": Kind(2, "list", "O(n log n)", 40_000, 12),
    "triples_of_sum": Kind(2, "list", "O(n)", 8_000, 12),
    "mirror": Kind(2, "list", "O(n^2)", 400, 9),
    "tree_distances": Kind(3, "list", "O(n)", 40_000, 12),
    "coprime_pairs": Kind(3, "int", "O(n log n)", 80_000, 60),
    "digit_sums": Kind(3, "int", "O(log n)", 4 * 10**12, 500),
    "staircase": Kind(3, "int", "O(log n)", 4 * 10**15, 99),
    "last_in_circle": Kind(3, "int", "O(log n)", 4 * 10**12, 99),
    "cheapest_merge": Kind(3, "list", "O(n^3)", 88, 8),
}

# By how much the time may grow from a quarter of the largest size to all of it: some three times
# what the bound says, and in any case less than the next worse bound says times that.
GROWTH = {
    "O(log n)": 4.0,
    "O(sqrt(n))": 6.0,
    "O(n)": 11.0,
    "O(n log n)": 13.0,
    "O(n^2)": 45.0,
    "O(n^3)": 180.0,
}
