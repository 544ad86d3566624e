"""Worked solutions of puzzles whose cells take one value each: which value follows, and why.

The steps are those of a patient player: a cell with one value left, a value with one place left, a
rule that takes values away, and, where none of these helps, a value that leads to a contradiction.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass

from rlvr_envs.generators.grids.candidates import Network, Values
from rlvr_envs.generators.grids.cells import plane
from rlvr_envs.generators.words.names import joined

_TRIES = 150  # values supposed over a whole puzzle; beyond, a value of the solution is stated
_LONGEST = 6  # conclusions from a supposition on its way to the contradiction


@dataclass(frozen=True, slots=True)
class Words:
    """How a puzzle speaks of its parts.

    Attributes:
        cell: returns the name of a cell, such as ``r2c3``.
        around: what rules values out beside the rules, such as ``its row and column``.
        groups: the name of each group of cells that hold every value once, such as ``row 2``.
        rules: what each rule of the network says, such as ``r1c1 < r1c2``.
        value: returns what a value is called.
        verb: stands between the name of a cell and its value.
        only: why a value is a cell's, from the name of a group and of the value.
        missing: that a group cannot have a value, from their names.
        unsaid: a value that a chain of conclusions from a supposition leaves out.
    """

    cell: Callable[[int], str]
    around: str
    groups: Mapping[Values, str]
    rules: Sequence[str] = ()
    value: Callable[[int], str] = str
    verb: str = "is"
    only: str = "{group} has no other place for {value}"
    missing: str = "{group} has no place left for {value}"
    unsaid: int | None = None

    def holds(self, cells: Sequence[int], values: Sequence[int]) -> str:
        """Return that cells have one of the values."""
        what = joined([self.value(value) for value in values], "or")
        if self.verb == "is" and len(cells) > 1:
            return f"{joined([self.cell(cell) for cell in cells])} are {what}"
        return joined([f"{self.cell(cell)} {self.verb} {what}" for cell in cells])


def by_row_and_column(width: int) -> Callable[[int], str]:
    """Return the namer of the cells of a grid, such as ``row 2, column 3``."""
    return lambda cell: f"row {cell // width + 1}, column {cell % width + 1}"


def line_names(lines: Sequence[Values]) -> dict[Values, str]:
    """Return the names of rows and, after them, of as many columns."""
    size = len(lines) // 2
    return {
        line: f"{'row' if i < size else 'column'} {i % size + 1}" for i, line in enumerate(lines)
    }


def worked(network: Network, masks: Sequence[int], solution: Values, words: Words) -> list[str]:
    """Return steps that fill the open cells.

    Args:
        network: the rules, each of which looks at its own cells only.
        masks: the candidates of each cell; those with one value are given.
        solution: the values of the only solution.
        words: how to speak of cells, groups and rules.
    """
    player = _Player(network, masks, words)
    steps: list[str] = []
    tries = _TRIES
    while player.open_cells():
        step = player.advance()
        for cell, value in () if step else player.suppositions(solution):
            tries -= 1
            step = player.refuted(cell, value) if tries > 0 else None
            if step or tries <= 0:
                break
        steps.append(step or player.stated(solution))
    return [sentence(step) for step in steps]


def contradiction(network: Network, masks: Sequence[int], words: Words) -> list[str] | None:
    """Return how candidates lead to a contradiction, which comes last; None if they do not."""
    player = _Player(network, masks, words)
    steps = []
    tries = _TRIES
    try:
        while tries > 0:
            step = player.advance()
            for cell, value in () if step else player.suppositions():
                tries -= 1
                step = player.refuted(cell, value)
                if step or tries <= 0:
                    break
            if not step:
                return None
            steps.append(step)
    except _ContradictionError as trouble:
        return [*map(sentence, steps), sentence(f"but {trouble}")]
    return None


def sentence(text: str) -> str:
    """Return a clause as a sentence; names such as ``r2c3`` stay as they are."""
    at = 1 if text[0] == "“" else 0
    start = text[: at + 1] if text[1].isdigit() else text[: at + 1].upper()
    return f"{start}{text[at + 1 :]}."


class Count:
    """Cells of 0s and 1s of which a number are 1."""

    def __init__(self, cells: Values, number: int) -> None:
        self.cells, self.number = cells, number

    def narrow(self, masks: list[int]) -> list[int] | None:
        ones = sum(masks[cell] == 0b10 for cell in self.cells)
        free = [cell for cell in self.cells if masks[cell] == 0b11]
        if not ones <= self.number <= ones + len(free):
            return None
        if self.number not in (ones, ones + len(free)):
            return []
        for cell in free:
            masks[cell] = 0b01 if self.number == ones else 0b10
        return free


class Between:
    """Cells of 0s and 1s of which a number from ``low`` to ``high`` are 1."""

    def __init__(self, cells: Values, low: int, high: int) -> None:
        self.cells, self.low, self.high = cells, low, high

    def narrow(self, masks: list[int]) -> list[int] | None:
        ones, free = 0, []
        for cell in self.cells:
            mask = masks[cell]
            if mask == 0b11:
                free.append(cell)
            elif mask == 0b10:
                ones += 1
        if ones > self.high or ones + len(free) < self.low:
            return None
        if ones == self.high:
            fixed = 0b01
        elif ones + len(free) == self.low:
            fixed = 0b10
        else:
            return []
        for cell in free:
            masks[cell] = fixed
        return free


class Alone:
    """If the first cell holds 1, all the others hold 0."""

    def __init__(self, cells: Values) -> None:
        self.cells = cells

    def narrow(self, masks: list[int]) -> list[int] | None:
        free = [cell for cell in self.cells[1:] if masks[cell] == 0b11]
        if masks[self.cells[0]] != 0b10:
            return []
        for cell in free:
            masks[cell] = 0b01
        return None if any(masks[cell] == 0b10 for cell in self.cells[1:]) else free


class AtMostOne:
    """Of the cells, at most one holds 0."""

    def __init__(self, cells: Values) -> None:
        self.cells = cells

    def narrow(self, masks: list[int]) -> list[int] | None:
        zeros = sum(masks[cell] == 0b01 for cell in self.cells)
        if zeros != 1:
            return None if zeros else []
        free = [cell for cell in self.cells if masks[cell] == 0b11]
        for cell in free:
            masks[cell] = 0b10
        return free


class Connected:
    """The cells of a board that hold a value, 0 or 1, form one piece through their sides."""

    def __init__(self, n_rows: int, n_columns: int, value: int) -> None:
        self.cells = tuple(range(n_rows * n_columns))
        self._plane, self._bit = plane(n_rows, n_columns), 1 << value

    def narrow(self, masks: list[int]) -> list[int] | None:
        bit = self._plane.bit
        allowed = sum(bit[cell] for cell in self.cells if masks[cell] & self._bit)
        known = sum(bit[cell] for cell in self.cells if masks[cell] == self._bit)
        if not known:
            return []
        reached = self._plane.reach(known & -known, allowed)
        if known & ~reached:
            return None
        changed = []
        for cell in self.cells:
            if masks[cell] != 0b11:
                continue
            left = reached & ~bit[cell]
            cut_off = not bit[cell] & reached
            needed = not cut_off and known & ~self._plane.reach(known & -known, left)
            if cut_off or needed:
                masks[cell] = self._bit if needed else self._bit ^ 0b11
                changed.append(cell)
        return changed


class _ContradictionError(Exception):
    """What cannot be, in words."""


class _Player:
    """Candidates, and what follows from them step by step."""

    def __init__(self, network: Network, masks: Sequence[int], words: Words) -> None:
        self.network, self.masks, self.words = network, list(masks), words
        self.known = {cell for cell, mask in enumerate(masks) if not mask & (mask - 1)}
        self.cut: set[int] = set()  # cells that lost candidates in a step
        self.filled: list[str] = []
        self._left: dict[tuple[int, Values], dict[int, int] | None] = {}
        for cell in self.known:
            self._take_from_peers(cell)

    def open_cells(self) -> list[int]:
        """Return the cells whose values are not known, those with few candidates first."""
        cells = [cell for cell in range(self.network.n_cells) if cell not in self.known]
        return sorted(cells, key=lambda cell: self.masks[cell].bit_count())

    def advance(self) -> str | None:
        """Draw a conclusion; None if there is none.

        Raises:
            _ContradictionError: a cell or a value has nowhere to go.
        """
        return self._only_value() or self._only_place() or self._by_rule()

    def suppositions(self, solution: Values = ()) -> Iterator[tuple[int, int]]:
        """Yield open cells with values that they do not have, with all where it is not known."""
        for cell in self.open_cells():
            for value in _values(self.masks[cell]):
                if not solution or value != solution[cell]:
                    yield cell, value

    def refuted(self, cell: int, value: int) -> str | None:
        """Take a value away that soon leads to a contradiction; None if it does not."""
        other = copy(self)
        other.masks, other.known = self.masks.copy(), self.known.copy()
        supposed = other._fill(cell, value)
        other.filled = []
        try:
            for _ in range(_LONGEST):
                if other.advance() is None:
                    return None
        except _ContradictionError as trouble:
            left = list(_values(self.masks[cell] & ~(1 << value)))
            self.masks[cell] &= ~(1 << value)
            self.cut.add(cell)
            so = self._fill(cell, left[0]) if len(left) == 1 else self.words.holds([cell], left)
            then = joined([*other.filled, str(trouble)])
            return f"suppose {supposed}: then {then}. So {so}"
        return None

    def stated(self, solution: Values) -> str:
        """Fill an open cell whose other values are refuted only by a long search."""
        cell = self.open_cells()[0]
        return f"{self._fill(cell, solution[cell])}: any other choice there fails in the end"

    def _take_from_peers(self, cell: int) -> None:
        for peer in self.network.peers[cell]:
            self.masks[peer] &= ~self.masks[cell]

    def _fill(self, cell: int, value: int) -> str:
        self.masks[cell] = 1 << value
        self.known.add(cell)
        self._take_from_peers(cell)
        text = self.words.holds([cell], [value])
        if value != self.words.unsaid:
            self.filled.append(text)
        return text

    def _only_value(self) -> str | None:
        for cell, mask in enumerate(self.masks):
            if not mask:
                raise _ContradictionError(f"nothing is left for {self.words.cell(cell)}")
            if cell not in self.known and not mask & (mask - 1):
                why = f"{self.words.around}{' and the steps above' if cell in self.cut else ''}"
                return f"{self._fill(cell, mask.bit_length() - 1)}: {why} rule out the rest"
        return None

    def _only_place(self) -> str | None:
        for group in self.network.complete_groups:
            name = self.words.groups[group]
            masks = [self.masks[cell] for cell in group]
            for value in range(1, len(group) + 1):
                places = [
                    cell for cell, mask in zip(group, masks, strict=True) if mask >> value & 1
                ]
                said = {"group": name, "value": self.words.value(value)}
                if not places:
                    raise _ContradictionError(self.words.missing.format(**said))
                if len(places) == 1 and places[0] not in self.known:
                    return f"{self._fill(places[0], value)}: {self.words.only.format(**said)}"
        return None

    def _by_rule(self) -> str | None:
        """Follow the rule that leaves a cell the fewest candidates."""
        fewest, followed, best = 1 << 30, "", dict[int, int]()
        for number, said in enumerate(self.words.rules):
            left = self._left_by(number)
            if left is None:
                raise _ContradictionError(f"it cannot be that {said}")
            count = min((mask.bit_count() for mask in left.values()), default=fewest)
            if count < fewest:
                fewest, followed, best = count, said, left
            if fewest == 1:
                break
        alike: dict[int, list[int]] = {}
        for cell, mask in best.items():
            self.masks[cell] = mask
            self.cut.add(cell)
            alike.setdefault(mask, []).append(cell)
        for cell, mask in best.items():
            if not mask & (mask - 1):
                self._fill(cell, mask.bit_length() - 1)
        parts = [self.words.holds(cells, list(_values(mask))) for mask, cells in alike.items()]
        return f"{followed}, so {joined(parts)}" if parts else None

    def _left_by(self, number: int) -> dict[int, int] | None:
        """Return the cells that a rule narrows, with what it leaves; None if it cannot hold."""
        rule = self.network.rules[number]
        key = number, tuple(self.masks[cell] for cell in rule.cells)
        if key not in self._left:
            masks = self.masks.copy()
            changed = rule.narrow(masks)
            self._left[key] = None if changed is None else {cell: masks[cell] for cell in changed}
        return self._left[key]


def _values(mask: int) -> Iterator[int]:
    return (value for value in range(mask.bit_length()) if mask >> value & 1)
