"""What a family of questions is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.generators.algorithms.draw import Draw
from rlvr_envs.generators.programs.nodes import Value, Variable

Parameters: TypeAlias = tuple[int, ...]
Maker: TypeAlias = Callable[[Draw, int, str, Parameters], list[Value]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A question with parameters, and two solutions of it.

    Attributes:
        name: what the knob ``families`` calls it.
        level: the difficulty from which on it is asked.
        inputs: what the program reads.
        fast: the solution; it takes the inputs, then the parameters.
        slow: the same by brute force.
        draw: draws the parameters.
        make: draws the inputs of one test of a size and a shape.
        words: the question: for staged families a phrase such as "the largest item of the list",
            for others all there is to say about the inputs and the answer.
        most: the size of the largest test at difficulty 10, in Python.
        power: the fast solution takes about ``size ** power`` steps.
        staged: whether the only input is a list, which may be changed in stages before.
    """

    name: str
    level: int
    inputs: tuple[Variable, ...]
    fast: Callable[..., int]
    slow: Callable[..., int]
    draw: Callable[[Rng], Parameters]
    make: Maker
    words: Callable[[Parameters], str]
    most: int
    power: int = 1
    staged: bool = False


def nothing(rng: Rng) -> Parameters:
    """Draw no parameters."""
    return ()


def within(*ranges: tuple[int, int]) -> Callable[[Rng], Parameters]:
    """Return what draws a parameter from each range."""
    return lambda rng: tuple(integer(rng, low, high) for low, high in ranges)


def residue(low: int, high: int) -> Callable[[Rng], Parameters]:
    """Return what draws a modulus from the range, and a remainder."""

    def draw(rng: Rng) -> Parameters:
        modulus = integer(rng, low, high)
        return modulus, integer(rng, 0, modulus - 1)

    return draw


def signed(low: int, high: int) -> Callable[[Rng], Parameters]:
    """Return what draws a number from the range, and a sign."""
    return lambda rng: (integer(rng, low, high), 2 * integer(rng, 0, 1) - 1)


def template(text: str) -> Callable[[Parameters], str]:
    """Return what puts parameters into a text."""
    return lambda parameters: text.format(*parameters)
