"""How large tests are, and how long programs may take, in each language.

The sizes follow the speed of a plain implementation: at full growth the fast solution takes a small
part of the limit, and the slow one a multiple of it. The limits leave room for a loaded
machine and for clumsier programs than ours.
"""

import math
from dataclasses import dataclass

from rlvr_envs.generators.algorithms.family import Family

SMALLEST = 7  # the size at growth 0
FULL = 10  # the growth from which on sizes stay the same


@dataclass(frozen=True, slots=True)
class Scale:
    """How much larger than in Python tests are, and the limit in CPU seconds."""

    factor: float
    cpu_s: float


_COMPILED = Scale(5.0, 1.0)
_SCALES = {
    **dict.fromkeys(("c", "cpp", "rust", "go", "java", "ocaml"), _COMPILED),
    # An allocatable array grows by copying, in our programs and in most.
    "fortran": Scale(0.08, 4.0),
    "javascript": Scale(4.0, 1.0),
    "lua": Scale(1.0, 2.0),
    "python": Scale(1.0, 2.0),
    "ruby": Scale(0.7, 3.0),
    "perl": Scale(0.5, 3.0),
    "r": Scale(0.5, 4.0),
    "bash": Scale(0.15, 8.0),
}


def scale_of(language: str) -> Scale:
    """Return the scale of a language; one that is not known is taken to be slow."""
    return _SCALES.get(language, Scale(0.25, 5.0))


def size_of(family: Family, growth: int, language: str) -> int:
    """Return the size of the largest tests at a growth from 0 to `FULL`."""
    most = max(SMALLEST, family.most * math.pow(scale_of(language).factor, 1 / family.power))
    return round(SMALLEST * math.pow(most / SMALLEST, min(growth, FULL) / FULL))


def sizes(largest: int, count: int) -> list[int]:
    """Return the sizes of a number of tests: from tiny to the largest, which comes twice."""
    first = min(4, largest)
    steps = max(count - 2, 1)
    rising = [round(first * math.pow(largest / first, k / steps)) for k in range(count - 1)]
    return [*rising, largest]
