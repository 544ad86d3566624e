"""Pairs of grids that show a rule, and the verdict on the grid that it makes of another."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rlvr_envs.core.verdict import Verdict
from rlvr_envs.verifiers.grids import read_grid, show_grid

Grid = tuple[str, ...]
_GRID = re.compile(r"[0-9\s,\[\]()|]+")


@dataclass(frozen=True, slots=True)
class Example:
    """An input grid and its output grid, as rows of digits."""

    given: Grid
    made: Grid


def show_examples(examples: Sequence[Example]) -> str:
    """Return the inputs and outputs, numbered from 1."""
    return "\n\n".join(
        f"Input {i}:\n{show_grid(example.given)}\n\nOutput {i}:\n{show_grid(example.made)}"
        for i, example in enumerate(examples, start=1)
    )


def judge_output(expected: Grid, answer: str) -> Verdict:
    """Judge an answer that should be a grid, digit by digit."""
    grid = read_grid(answer, len(expected), len(expected[0]), "0123456789")
    if grid is None and not _GRID.fullmatch(answer):
        return Verdict.unparsable("expected a grid of digits")
    if grid is None or tuple("".join(row) for row in grid) != expected:
        return Verdict.wrong("at least one cell or the size is wrong")
    return Verdict.correct()
