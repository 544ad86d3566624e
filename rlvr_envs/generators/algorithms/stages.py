"""What may be done to a list before a question is asked about it.

Each function takes a list of integers in [0, 1000) and returns another one; it is both Python and,
by `lower`, a program in every language.
"""

from collections.abc import Callable
from dataclasses import dataclass

from rlvr_envs.core.seeding import Rng, integer


def affine(xs: list[int], factor: int, shift: int, modulus: int) -> list[int]:
    out = xs[:]
    for i in range(len(xs)):
        out[i] = (factor * xs[i] + shift) % modulus
    return out


def weigh_places(xs: list[int], factor: int, modulus: int) -> list[int]:
    out = xs[:]
    for i in range(len(xs)):
        out[i] = (xs[i] + factor * i) % modulus
    return out


def running_sums(xs: list[int], modulus: int) -> list[int]:
    out = xs[:]
    total = 0
    for i in range(len(xs)):
        total = (total + xs[i]) % modulus
        out[i] = total
    return out


def differences(xs: list[int]) -> list[int]:
    out: list[int] = []
    for i in range(1, len(xs)):
        out.append(max(xs[i] - xs[i - 1], xs[i - 1] - xs[i]))
    return out


def turn_round(xs: list[int]) -> list[int]:
    n = len(xs)
    out = xs[:]
    for i in range(n):
        out[i] = xs[n - 1 - i]
    return out


def rotate_left(xs: list[int], count: int) -> list[int]:
    n = len(xs)
    out = xs[:]
    for i in range(n):
        out[i] = xs[(i + count) % n]
    return out


def drop_residue(xs: list[int], modulus: int, rest: int) -> list[int]:
    out: list[int] = []
    for i in range(len(xs)):
        if xs[i] % modulus != rest:
            out.append(xs[i])
    return out


def drop_places(xs: list[int], every: int, place: int) -> list[int]:
    out: list[int] = []
    for i in range(len(xs)):
        if i % every != place:
            out.append(xs[i])
    return out


def merge_equal(xs: list[int]) -> list[int]:
    out: list[int] = []
    for i in range(len(xs)):
        if i == 0 or xs[i] != xs[i - 1]:
            out.append(xs[i])
    return out


def fold_halves(xs: list[int], modulus: int) -> list[int]:
    n = len(xs)
    out = xs[:]
    for i in range(n):
        out[i] = (xs[i] + xs[n - 1 - i]) % modulus
    return out


def neighbour_maxima(xs: list[int]) -> list[int]:
    n = len(xs)
    out = xs[:]
    for i in range(1, n):
        out[i] = max(xs[i], xs[i - 1])
    for i in range(n - 1):
        out[i] = max(out[i], xs[i + 1])
    return out


def neighbour_minima(xs: list[int]) -> list[int]:
    n = len(xs)
    out = xs[:]
    for i in range(1, n):
        out[i] = min(xs[i], xs[i - 1])
    for i in range(n - 1):
        out[i] = min(out[i], xs[i + 1])
    return out


def digit_sums(xs: list[int], factor: int) -> list[int]:
    out = xs[:]
    for i in range(len(xs)):
        rest = xs[i]
        total = 0
        while rest > 0:
            total += rest % 10
            rest = rest // 10
        out[i] = factor * total
    return out


def odd_places_first(xs: list[int]) -> list[int]:
    n = len(xs)
    out: list[int] = []
    for i in range(n // 2):
        out.append(xs[2 * i + 1])
    for i in range(n - n // 2):
        out.append(xs[2 * i])
    return out


def part(xs: list[int], start: int, stop: int) -> list[int]:
    out: list[int] = []
    for i in range(start, stop):
        out.append(xs[i])
    return out


@dataclass(frozen=True, slots=True)
class StageKind:
    """A kind of stage."""

    apply: Callable[..., list[int]]  # the function
    draw: Callable[[Rng], tuple[int, ...]]  # draws its parameters
    words: str  # what it does, as an instruction about "the list"; the parameters fill the places


def _draw_affine(rng: Rng) -> tuple[int, ...]:
    return integer(rng, 2, 40), integer(rng, 0, 300), integer(rng, 60, 1000)


def _below(least: int, most: int) -> Callable[[Rng], tuple[int, ...]]:
    return lambda rng: (integer(rng, least, most),)


def _residue(least: int, most: int) -> Callable[[Rng], tuple[int, ...]]:
    def draw(rng: Rng) -> tuple[int, ...]:
        modulus = integer(rng, least, most)
        return modulus, integer(rng, 0, modulus - 1)

    return draw


STAGES: dict[str, StageKind] = {
    "affine": StageKind(affine, _draw_affine, "Replace every item x by ({0} * x + {1}) mod {2}."),
    "weigh_places": StageKind(
        weigh_places,
        lambda rng: (integer(rng, 1, 60), integer(rng, 60, 1000)),
        "Replace the item x at position i (counted from 0) by (x + {0} * i) mod {1}.",
    ),
    "running_sums": StageKind(
        running_sums,
        _below(60, 1000),
        "Replace the list by its prefix sums modulo {0}: every item becomes the sum, mod {0}, of "
        "the original item and all original items before it.",
    ),
    "differences": StageKind(
        differences,
        lambda rng: (),
        "Replace the list by the absolute differences of neighbouring items, from left to right. "
        "The list gets one item shorter; a list of one item becomes empty.",
    ),
    "turn_round": StageKind(turn_round, lambda rng: (), "Reverse the list."),
    "rotate_left": StageKind(
        rotate_left,
        _below(1, 30),
        "Rotate the list to the left by {0}: each single rotation moves its first item to the end "
        "(an empty list stays empty).",
    ),
    "drop_residue": StageKind(
        drop_residue, _residue(3, 12), "Remove every item x that satisfies x mod {0} = {1}."
    ),
    "drop_places": StageKind(
        drop_places,
        _residue(3, 9),
        "Remove every item whose position i (counted from 0) satisfies i mod {0} = {1}.",
    ),
    "merge_equal": StageKind(
        merge_equal,
        lambda rng: (),
        "Replace every run of equal consecutive items by a single one of them.",
    ),
    "fold_halves": StageKind(
        fold_halves,
        _below(60, 1000),
        "Replace every item by the sum, mod {0}, of itself and the item at the mirrored position: "
        "the first item pairs with the last, the second with the second to last, and so on; an "
        "item exactly in the middle pairs with itself. Change all positions at the same time.",
    ),
    "neighbour_maxima": StageKind(
        neighbour_maxima,
        lambda rng: (),
        "Replace every item by the largest of itself and its left and right neighbours, where they "
        "exist. Change all positions at the same time.",
    ),
    "neighbour_minima": StageKind(
        neighbour_minima,
        lambda rng: (),
        "Replace every item by the smallest of itself and its left and right neighbours, where "
        "they exist. Change all positions at the same time.",
    ),
    "digit_sums": StageKind(
        digit_sums, _below(1, 35), "Replace every item by {0} times the sum of its decimal digits."
    ),
    "odd_places_first": StageKind(
        odd_places_first,
        lambda rng: (),
        "Move the items at odd positions (counted from 0) in front of those at even positions. "
        "Keep the order within both groups.",
    ),
}
