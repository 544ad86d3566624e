"""Clues: which cells or numbers of a puzzle to show, such that it has one solution."""

from collections.abc import Callable, MutableSequence, Sequence
from math import isqrt
from typing import TypeVar

from rlvr_envs.core.seeding import Rng
from rlvr_envs.generators.grids.candidates import Network, Values, rival_of, shuffled

ClueT = TypeVar("ClueT")

_REMOVALS = 40  # clues at most that are tried whether they can go


def choose_clues(
    rng: Rng,
    network: Network,
    solution: Values,
    n_clues: int,
    unknown: int,
    max_nodes: int | None = None,
) -> list[int]:
    """Return cells that determine the solution, in order; ``n_clues`` or as few more as found.

    A random choice grows by cells that tell a rival solution apart until there is none; then
    clues without which there is none either are taken away.

    Args:
        rng: draws the choice.
        network: the rules.
        solution: the value of each cell.
        n_clues: how many cells are wanted.
        unknown: the mask of a cell that is not shown.
        max_nodes: guesses of a search for a rival; by default what `rival_of` takes.
    """
    order = shuffled(rng, len(solution))
    kept = set(order[:n_clues])
    at_once = 1 + len(solution) // 60
    while len(kept) < len(solution):
        rival = rival_of(solution, network, shown_masks(solution, kept, unknown), max_nodes)
        if rival.none_exists:
            break
        if rival.values is None:
            at_once *= 2
        useful = rival.differs_at(solution, [c for c in order if c not in kept])
        kept.update(useful[i] for i in shuffled(rng, len(useful))[:at_once])
    removals = min(2 * isqrt(len(solution)), _REMOVALS)
    for cell in [cell for cell in order if cell in kept][:removals]:
        if len(kept) <= n_clues:
            break
        masks = shown_masks(solution, kept, unknown)
        masks[cell] = unknown ^ 1 << solution[cell]
        if rival_of(solution, network, masks, max_nodes).none_exists:
            kept.remove(cell)
    return sorted(kept)


def thin(
    clues: MutableSequence[ClueT],
    order: Sequence[int],
    nothing: ClueT,
    percent: int,
    is_unique: Callable[[], bool],
) -> None:
    """Take clues away, each unless that leaves a second solution.

    Args:
        clues: is changed.
        order: the places of the clues that may go, the first to go first.
        nothing: stands where a clue was.
        percent: of them that stay; more where one solution needs them.
        is_unique: whether the puzzle has one solution with the clues as they are now.
    """
    left = len(order)
    for place in order:
        if left <= len(order) * percent // 100:
            return
        clue, clues[place] = clues[place], nothing
        if is_unique():
            left -= 1
        else:
            clues[place] = clue


def shown_masks(solution: Sequence[int], kept: set[int], unknown: int) -> list[int]:
    """Return the masks of a solution of which only some cells are shown."""
    return [1 << v if cell in kept else unknown for cell, v in enumerate(solution)]
