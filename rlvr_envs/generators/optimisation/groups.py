"""Reader of answers that put numbers into groups: bins, routes, the queues of machines."""

import re
from collections.abc import Iterable, Sequence

from rlvr_envs.generators.optimisation.lists import listed
from rlvr_envs.generators.optimisation.task import Infeasible, Unreadable
from rlvr_envs.verifiers.certificate import lines, unlabelled
from rlvr_envs.verifiers.parse import MAX_CHARACTERS, integers

_BREAK = re.compile(r"[\n;|]|\]\s*,\s*\[")


def read_groups(answer: str, *, what: str) -> list[list[int]]:
    """Return the groups of an answer: one a line, or apart by a semicolon or a bar.

    A list of lists is read too, and lines with labels such as ``Bin 1:``. Blank lines are skipped;
    no group is empty.

    Raises:
        Unreadable: a group is not a list of whole numbers, or there is none.
    """
    if len(answer) > MAX_CHARACTERS:
        raise Unreadable(f"more than {MAX_CHARACTERS} characters")
    groups = []
    pieces = [piece.strip() for piece in _BREAK.split("\n".join(lines(answer)))]
    for piece in unlabelled([piece for piece in pieces if piece]):
        group = integers(piece.strip("[]"))
        if group is None:
            raise Unreadable(f"expected the numbers of each {what}, separated by commas")
        groups.append(group)
    if not groups:
        raise Unreadable(f"expected one {what} or more, one a line")
    return groups


def check_partition(groups: Sequence[Sequence[int]], count: int, *, what: str) -> None:
    """Check that each number from 1 to ``count`` is in exactly one group.

    Raises:
        Infeasible: a number is out of range, is missing or is listed twice.
    """
    seen: set[int] = set()
    for number in (number for group in groups for number in group):
        if not 1 <= number <= count:
            raise Infeasible(f"there is no {what} {number!s:.40}: they run from 1 to {count}")
        if number in seen:
            raise Infeasible(f"{what} {number} is listed twice")
        seen.add(number)
    if len(seen) < count:
        raise Infeasible(f"only {len(seen)} of {count} {what}s are listed")


def grouped(groups: Iterable[Iterable[int]]) -> str:
    """Return groups as an answer, one a line."""
    return "\n".join(map(listed, groups))
