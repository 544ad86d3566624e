"""Readers of answers that name items, vertices or pairs by number."""

from collections.abc import Iterable

from rlvr_envs.generators.optimisation.task import Infeasible, Unreadable
from rlvr_envs.verifiers.parse import integers


def read_numbers(answer: str, *, low: int, high: int, what: str) -> list[int]:
    """Return a list of numbers of things, which may repeat.

    Raises:
        Unreadable: the answer is not a list of integers, or has no number.
        Infeasible: a number is out of range.
    """
    found = integers(answer)
    if not found:
        raise Unreadable(f"expected the numbers of one {what} or more, separated by commas")
    for number in found:
        if not low <= number <= high:
            raise Infeasible(f"there is no {what} {number!s:.40}: they run from {low} to {high}")
    return found


def read_distinct(answer: str, *, low: int, high: int, what: str) -> list[int]:
    """Return a list of different numbers, as `read_numbers` does.

    Raises:
        Unreadable: the answer is not a list of integers, or has no number.
        Infeasible: a number is out of range or stands there twice.
    """
    found = read_numbers(answer, low=low, high=high, what=what)
    seen: set[int] = set()
    for number in found:
        if number in seen:
            raise Infeasible(f"{what} {number} stands there twice")
        seen.add(number)
    return found


def listed(numbers: Iterable[int]) -> str:
    """Return numbers as an answer that names them."""
    return ", ".join(map(str, numbers))
