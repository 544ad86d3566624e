"""Typed answers: what an answer text says, before anything is compared."""

from dataclasses import dataclass

from rlvr_envs.verifiers.mathtext.nodes import Node


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number or an expression, with the unit written after it."""

    expr: Node
    unit: str = ""  # "%", "deg", or the unit's words


@dataclass(frozen=True, slots=True)
class Group:
    """Two or more items in brackets: a point, a tuple, or an interval."""

    opening: str  # ( [ or <
    items: tuple["Value", ...]
    closing: str


@dataclass(frozen=True, slots=True)
class Braces:
    """A finite set."""

    items: tuple["Value", ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """Items side by side without brackets."""

    items: tuple["Value", ...]
    joiner: str  # "," or ";" or "and" or "or"


@dataclass(frozen=True, slots=True)
class Grid:
    """A matrix."""

    rows: tuple[tuple["Value", ...], ...]


@dataclass(frozen=True, slots=True)
class Chain:
    """Sides joined by relations, such as ``x = 3`` or ``1 < x <= 2``."""

    sides: tuple["Value", ...]
    relations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Combined:
    """Sets joined by unions or intersections."""

    parts: tuple["Value", ...]
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ratio:
    """Numbers separated by colons; a clock time has a term with a leading zero."""

    terms: tuple[Node, ...]
    is_time: bool


@dataclass(frozen=True, slots=True)
class BaseN:
    """Digits in a stated base."""

    digits: str
    base: int


@dataclass(frozen=True, slots=True)
class Choice:
    """A letter of a multiple-choice question."""

    letter: str


@dataclass(frozen=True, slots=True)
class Text:
    """Words, reduced by `plain_words`."""

    words: str


@dataclass(frozen=True, slots=True)
class Opaque:
    """An answer that was not understood, and why."""

    reason: str  # why not
    final: bool = False  # whether a second reader would not understand it either
    large: bool = False  # whether it was refused for its size, so that it may be right all the same


Value = (
    Scalar
    | Group
    | Braces
    | Listing
    | Grid
    | Chain
    | Combined
    | Ratio
    | BaseN
    | Choice
    | Text
    | Opaque
)
