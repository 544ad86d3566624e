"""Functions of a few bits, drawn together with the way in which they are told."""

from dataclasses import dataclass

from rlvr_envs.core.seeding import Rng, integer, pick

# In the order in which they are added along the ladder.
TELLINGS = ("table", "minterms", "maxterms", "constant", "patterns", "nested")
_LONGEST_TABLE = 6  # inputs of a table that is told row by row


@dataclass(frozen=True, slots=True)
class Function:
    """One output: how it is told, and what it is in every row (bit n of ``values``)."""

    telling: str
    values: int
    patterns: tuple[tuple[str, int], ...] = ()  # a pattern of 0, 1 and -, and the value there
    default: int = 0  # where no pattern fits
    earlier: tuple[int, ...] = ()  # outputs that a nested function looks at, most significant first
    bits: tuple[int, ...] = ()  # inputs that it looks at after them, as their bits in a row number
    inner: int = 0  # its value for each number that these make


class Drawer:
    """Draws functions one after another; a nested one looks at those before it."""

    def __init__(self, rng: Rng, width: int, tellings: tuple[str, ...]) -> None:
        self.rng, self.width, self.tellings = rng, width, tellings
        self.drawn: list[Function] = []

    def draw(self, place: int) -> Function:
        """Draw a function that is not constant; the newest way of telling comes last."""
        rows = 2**self.width
        fit = [
            telling
            for telling in self.tellings
            if (telling != "table" or self.width <= _LONGEST_TABLE)
            and (telling != "nested" or place >= 2)
        ]
        telling = pick(self.rng, fit)
        while True:
            function = self._function(telling, rows)
            if 0 < function.values < 2**rows - 1:
                self.drawn.append(function)
                return function

    def _function(self, telling: str, rows: int) -> Function:
        if telling == "patterns":
            return self._patterns(rows)
        if telling == "nested":
            return self._nested(rows)
        values = integer(self.rng, 0, 2**rows - 1)
        if telling in ("minterms", "maxterms") and rows > 16:
            # Few rows to list: about 12 of them.
            values = sum({1 << integer(self.rng, 0, rows - 1) for _ in range(12)})
            if telling == "maxterms":
                values ^= 2**rows - 1
        return Function(telling, values)

    def _patterns(self, rows: int) -> Function:
        patterns = []
        for k in range(min(2 + self.width // 2, 6)):
            text = "".join(pick(self.rng, "01--") for _ in range(self.width))
            patterns.append((text if set(text) != {"-"} else "1" + text[1:], (k + 1) % 2))
        default = integer(self.rng, 0, 1)
        values = sum(_first(patterns, default, row, self.width) << row for row in range(rows))
        return Function("patterns", values, tuple(patterns), default)

    def _nested(self, rows: int) -> Function:
        places = sorted(integer(self.rng, 0, len(self.drawn) - 1) for _ in range(2))
        if places[0] == places[1]:
            places = [0, len(self.drawn) - 1]
        first = integer(self.rng, 0, self.width - 1)
        bits = (first, (first + integer(self.rng, 1, self.width - 1)) % self.width)
        inner = integer(self.rng, 1, 2**16 - 2)
        values = 0
        for row in range(rows):
            number = 0
            for bit in (*(self.drawn[p].values >> row for p in places), *(row >> b for b in bits)):
                number = 2 * number + (bit & 1)
            values |= (inner >> number & 1) << row
        return Function("nested", values, earlier=tuple(places), bits=bits, inner=inner)


def _first(patterns: list[tuple[str, int]], default: int, row: int, width: int) -> int:
    text = f"{row:0{width}b}"
    for pattern, value in patterns:
        if all(p in ("-", t) for p, t in zip(pattern, text, strict=True)):
            return value
    return default
