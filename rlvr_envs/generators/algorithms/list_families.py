"""The families about one list of integers, which stages may change before the question."""

from collections.abc import Callable

from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.generators.algorithms import lists, slow_lists
from rlvr_envs.generators.algorithms.draw import Draw, items
from rlvr_envs.generators.algorithms.family import (
    Family,
    Parameters,
    residue,
    signed,
    template,
    within,
)
from rlvr_envs.generators.programs.nodes import Value

LONG = 40_000  # wider windows make fewer of them, so brute force over them needs longer lists


def _list(draw: Draw, size: int, shape: str, parameters: Parameters) -> list[Value]:
    return [items(draw, size, shape)]


def _family(
    name: str,
    level: int,
    draw: Callable[[Rng], Parameters],
    words: str | Callable[[Parameters], str],
    *,
    most: int = 20_000,
) -> Family:
    return Family(
        name=name,
        level=level,
        inputs=(("xs", "list"),),
        fast=getattr(lists, name),
        slow=getattr(slow_lists, name),
        draw=draw,
        make=_list,
        words=template(words) if isinstance(words, str) else words,
        most=most,
        staged=True,
    )


def _varied(rng: Rng) -> Parameters:
    modulus = integer(rng, 4, 40)
    return modulus, integer(rng, 1, modulus // 2)


def _window(parameters: Parameters) -> str:
    parts, sign = parameters
    extreme = "largest" if sign > 0 else "smallest"
    return (
        f"the sum, over all windows of w consecutive items, of the {extreme} item of the window, "
        f"where w = floor(n / {parts}) + 1 and n is the length of the list (0 for an empty list)"
    )


def _frequent(parameters: Parameters) -> str:
    modulus, sign = parameters
    which = "smallest" if sign > 0 else "largest"
    return (
        f"the remainder r (0 <= r < {modulus}) that occurs most often among the values x mod "
        f"{modulus} of the items x of the list; if several remainders occur equally often, take "
        f"the {which} of them (in an empty list, all {modulus} remainders occur equally often)"
    )


LIST_FAMILIES = (
    _family(
        "longest_streak",
        0,
        within((0, 60)),
        "the length of the longest block of consecutive items of the list in which any two "
        "neighbouring items differ by at most {0} (0 for an empty list)",
    ),
    _family("most_frequent", 0, signed(2, 60), _frequent),
    _family(
        "best_trade",
        0,
        within((1, 9)),
        "the largest value of x[j] - x[i] over all pairs of positions with j >= i + {0}, where "
        "x[i] is the item at position i (0 if there is no such pair or no such value is positive)",
    ),
    _family(
        "best_segment",
        1,
        within((2, 300)),
        "the largest total profit of a block of consecutive items of the list, where an item x has "
        "the profit x - {0} (the block may be empty; its total profit is then 0)",
    ),
    _family(
        "equal_ends",
        1,
        within((3, 300)),
        "the length of the longest block of consecutive items of the list whose first and last "
        "items have the same remainder modulo {0} (a block of one item counts; 0 for an empty "
        "list)",
    ),
    _family(
        "count_pairs",
        1,
        residue(2, 60),
        "the number of pairs of positions i < j in the list for which (x[i] + x[j]) mod {0} = "
        "{1}, where x[i] is the item at position i",
    ),
    _family(
        "trapped_water",
        2,
        within((5, 400)),
        "the amount of rain water that a landscape holds, where the height at each position is "
        "x mod {0} for the item x of the list there: the sum of min(a, b) - h over all positions, "
        "where h is the height at the position, a is the largest height at the position or to its "
        "left, and b is the largest height at the position or to its right (0 for an empty list)",
    ),
    _family(
        "fewest_jumps",
        2,
        within((2, 30)),
        "the smallest number of jumps from the first to the last position of the list, where a "
        "jump from a position with the item x goes forward by 1 to (x mod {0}) + 1 positions (0 if "
        "the list has at most one item)",
    ),
    _family(
        "heaviest_apart",
        3,
        within((2, 9)),
        "the largest possible sum of chosen items of the list, where the positions of any two "
        "chosen items must differ by at least {0} (0 if nothing is chosen)",
    ),
    _family(
        "divisible_segments",
        3,
        residue(2, 90),
        "the number of non-empty blocks of consecutive items of the list whose sum has remainder "
        "{1} modulo {0} (blocks at different positions are different)",
    ),
    _family(
        "longest_varied",
        3,
        _varied,
        "the length of the longest block of consecutive items of the list in which the number of "
        "different remainders modulo {0} is at most {1} (0 for an empty list)",
    ),
    _family("window_extremes", 4, signed(2, 6), _window, most=LONG),
    _family(
        "window_distinct",
        4,
        within((2, 6), (4, 60)),
        "the sum, over all windows of w consecutive items, of the number of different remainders "
        "modulo {1} of the window's items, where w = floor(n / {0}) + 1 and n is the length of the "
        "list (0 for an empty list)",
        most=LONG,
    ),
    _family(
        "waiting_time",
        4,
        within((1, 50)),
        "the sum of the waiting times of all items of the list: for the item x at position i, let "
        "j be the first later position whose item y satisfies floor(y / {0}) > floor(x / {0}); the "
        "waiting time is j - i, or 0 if there is no such position",
        most=50_000,  # most items wait for a short time only, even in brute force
    ),
    _family(
        "count_inversions",
        5,
        within((0, 80)),
        "the number of pairs of positions i < j in the list for which x[i] > x[j] + {0}, where "
        "x[i] is the item at position i",
    ),
    _family(
        "longest_rising",
        5,
        within((0, 20)),
        "the length of the longest subsequence of the list (items in their original order, not "
        "necessarily neighbours) in which every item is at least the item before it plus {0} (0 "
        "for an empty list)",
    ),
    _family(
        "largest_rectangle",
        5,
        within((1, 400)),
        "the area of the largest rectangle in a bar chart with one bar for each item x of the "
        "list, "
        "in order, each 1 wide and x + {0} high: the largest product of the number of bars in a "
        "block of consecutive bars and the height of the lowest bar in the block (0 for an empty "
        "list)",
    ),
)
