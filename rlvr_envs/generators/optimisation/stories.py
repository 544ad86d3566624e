"""Word problems (stories) that ask for the optimum of a program, and how to word their numbers."""

from collections.abc import Callable
from dataclasses import dataclass

from rlvr_envs.core.seeding import Rng
from rlvr_envs.generators.optimisation.linear_programs import Program

Numbers = tuple[tuple[int, ...], ...]

MAX_NUMBER = 10_000  # of a story's size, far more than any use


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a story: quantities to choose, limits on them, and the largest number."""

    choices: int
    limits: int
    largest: int


@dataclass(frozen=True, slots=True)
class Story:
    """A kind of story."""

    draw: Callable[[Rng, Size], Numbers]
    tell: Callable[[Numbers], str]
    program: Callable[[Numbers], Program]


def unit(count: int, place: int, value: int = 1) -> tuple[int, ...]:
    """Return a row of zeros with one value in it."""
    return tuple(value if i == place else 0 for i in range(count))


def listing(noun: str, texts: list[str]) -> str:
    """Return numbered lines."""
    return "\n".join(f"{noun} {i}: {text}" for i, text in enumerate(texts, 1))


def joined(numbers: tuple[int, ...], pattern: str) -> str:
    """Return a pattern filled with each number and its place, separated by commas."""
    return ", ".join(pattern.format(number, i) for i, number in enumerate(numbers, 1))


def tell_freight(costs: tuple[tuple[int, ...], ...], source: str) -> str:
    """Return the costs of freight, a line for each source."""
    return listing(source, [joined(row, "{0} to shop {1}") for row in costs])
