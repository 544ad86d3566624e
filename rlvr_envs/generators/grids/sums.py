"""Cells of different numbers that have a given sum, for puzzles of crossing sums."""

from functools import cache
from itertools import combinations

from rlvr_envs.generators.grids.candidates import Values


class Sum:
    """Cells of different numbers, from 1 to ``most``, that add up to a total."""

    def __init__(self, cells: Values, total: int, most: int = 9) -> None:
        self.cells = cells
        self.choices = choices(len(cells), most).get(total, [])
        self._all = (2 << most) - 2

    def narrow(self, masks: list[int]) -> list[int] | None:
        possible = fixed = 0
        for cell in self.cells:
            mask = masks[cell]
            possible |= mask
            if not mask & (mask - 1):
                fixed |= mask
        kept, needed = 0, self._all
        for choice in self.choices:
            if not choice & ~possible and not fixed & ~choice:
                kept |= choice
                needed &= choice
        changed = []
        for cell in self.cells:
            left = masks[cell] & kept
            elsewhere = 0
            for other in self.cells:
                if other != cell:
                    elsewhere |= masks[other]
            left = left & needed & ~elsewhere or left
            if not left:
                return None
            if left != masks[cell]:
                masks[cell] = left
                changed.append(cell)
        return changed


@cache
def choices(length: int, most: int = 9) -> dict[int, list[int]]:
    """Return the sets of so many numbers from 1 to ``most``, as bits, by their sum."""
    found: dict[int, list[int]] = {}
    for numbers in combinations(range(1, most + 1), length):
        found.setdefault(sum(numbers), []).append(sum(1 << number for number in numbers))
    return found
