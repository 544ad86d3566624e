"""Exact values of games on boards, and how fast a win can be forced, on sets of cells as bits.

A node is what the search knows of a position: the cells of the seat to move, those of the other
seat, and what saves work below. Both searches stop at a win at once and follow the only defence.
"""

from abc import abstractmethod
from functools import cache
from typing import Generic, NamedTuple, TypeVar

from rlvr_envs.core.games import OVER
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.generators.games.boards import (
    Board,
    BoardGame,
    HexGame,
    LineGame,
    all_lines,
    hex_edges,
)

NodeT = TypeVar("NodeT")


class BoardValues(Generic[NodeT]):
    """What a position is worth if both seats play best; each position is valued once.

    Attributes:
        nodes: positions valued so far.
    """

    def __init__(self, game: BoardGame) -> None:
        self._game = game
        self._order = _from_the_middle(game.n_rows, game.n_columns)
        self._known: dict[tuple[int, int], int] = {}
        self._within: dict[tuple[int, int], tuple[int, int]] = {}
        self.nodes = 0

    @abstractmethod
    def node(self, own: int, other: int) -> NodeT:
        """Return the node of a position that is not over."""

    @abstractmethod
    def cells(self, node: NodeT) -> tuple[int, int, int]:
        """Return the cells that can be filled, those that win at once, and those to defend."""

    @abstractmethod
    def after(self, node: NodeT, bit: int) -> NodeT:
        """Return the node after the seat to move has filled a cell and not won."""

    @abstractmethod
    def hopes(self, node: NodeT) -> tuple[bool, bool]:
        """Return whether the seat to move and the other one may win at all."""

    def value(self, state: Board) -> int:
        """Return what seat 0 gets: 1, 0 or -1."""
        mover = self._game.mover(state)
        if mover == OVER:
            return int(self._game.returns(state)[0])
        own, other = (state.first, state.second) if mover == 0 else (state.second, state.first)
        found = self._value(own, other, self.node(own, other))
        return found if mover == 0 else -found

    def opening(self, rng: Rng, n_moves: int) -> tuple[str, ...] | None:
        """Draw random moves that prevent wins at once and make none; None where none is left."""
        node, moves = self.node(0, 0), list[str]()
        for _ in range(n_moves):
            free, mine, theirs = self.cells(node)
            choice = (theirs or free) & ~mine
            if not choice:
                return None
            bit = pick(rng, [each for each in self._order if choice & each])
            moves.append(self._game.move_of(bit.bit_length() - 1))
            node = self.after(node, bit)
        return tuple(moves)

    def shortest_win(self, state: Board, at_most: int) -> int:
        """Return in how many moves the seat to move can force a win; 0 where not in so many."""
        own, other = state.first, state.second
        if self._game.mover(state) == 1:
            own, other = other, own
        node = self.node(own, other)
        return next((n for n in range(1, at_most + 1) if self._wins(own, other, node, n)), 0)

    def _value(self, own: int, other: int, node: NodeT) -> int:
        known = self._known.get((own, other))
        if known is None:
            self.nodes += 1
            known = self._known[own, other] = self._search(own, other, node)
        return known

    def _search(self, own: int, other: int, node: NodeT) -> int:
        free, mine, theirs = self.cells(node)
        if mine:
            return 1
        if theirs & (theirs - 1):
            return -1
        may_win, may_lose = self.hopes(node)
        best, most = (-1 if may_lose else 0), int(may_win)
        if not free or best == most:
            return 0
        best = -1
        for bit in self._order:
            if (theirs or free) & bit:
                found = -self._value(other, own | bit, self.after(node, bit))
                if found > best:
                    best = found
                    if best >= most:
                        break
        return best

    def _wins(self, own: int, other: int, node: NodeT, n_moves: int) -> bool:
        """Return whether the seat to move can force a win within so many moves of its own."""
        won, lost = self._within.get((own, other), (1000, 0))
        if n_moves >= won or n_moves <= lost:
            return n_moves >= won
        found = self._forces(own, other, node, n_moves)
        won, lost = self._within.get((own, other), (1000, 0))
        self._within[own, other] = (n_moves, lost) if found else (won, n_moves)
        return found

    def _forces(self, own: int, other: int, node: NodeT, n_moves: int) -> bool:
        free, mine, theirs = self.cells(node)
        if mine:
            return True
        if n_moves == 1 or theirs & (theirs - 1):
            return False
        return any(
            (theirs or free) & bit and self._holds(other, own | bit, self.after(node, bit), n_moves)
            for bit in self._order
        )

    def _holds(self, own: int, other: int, node: NodeT, n_moves: int) -> bool:
        """Return whether the other seat wins within one move fewer, whatever this one plays."""
        free, mine, theirs = self.cells(node)
        if mine or not free:
            return False
        if theirs & (theirs - 1):
            return True
        return all(
            self._wins(other, own | bit, self.after(node, bit), n_moves - 1)
            for bit in self._order
            if (theirs or free) & bit
        )


class LineNode(NamedTuple):
    """A position; the lines that only one seat has marks in; cells that would complete them."""

    own: int
    other: int
    own_lines: tuple[int, ...]
    other_lines: tuple[int, ...]
    own_wins: int
    other_wins: int


class LineValues(BoardValues[LineNode]):
    """The values of games in which a line wins."""

    def __init__(self, game: LineGame) -> None:
        super().__init__(game)
        self._lines = all_lines(game.n_rows, game.n_columns, game.n_in_row)
        self._all = (1 << game.n_rows * game.n_columns) - 1
        self._top = (1 << game.n_columns) - 1
        self._below = game.n_columns if game.gravity else 0
        self._floor = self._top << (game.n_rows - 1) * game.n_columns

    def node(self, own: int, other: int) -> LineNode:
        own_lines = tuple(line for line in self._lines if not line & other)
        other_lines = tuple(line for line in self._lines if not line & own)
        return LineNode(
            own, other, own_lines, other_lines, _gaps(own_lines, own), _gaps(other_lines, other)
        )

    def cells(self, node: LineNode) -> tuple[int, int, int]:
        taken = node.own | node.other
        free = self._all & ~taken
        if self._below:
            free &= taken >> self._below | self._floor
        return free, node.own_wins & free, node.other_wins & free

    def after(self, node: LineNode, bit: int) -> LineNode:
        own, other, own_lines, other_lines, own_wins, other_wins = node
        own |= bit
        for line in own_lines:
            if line & bit:
                gap = line & ~own
                if not gap & (gap - 1):
                    own_wins |= gap
        left = tuple([line for line in other_lines if not line & bit])
        return LineNode(other, own, left, own_lines, other_wins & ~bit, own_wins & ~bit)

    def hopes(self, node: LineNode) -> tuple[bool, bool]:
        return bool(node.own_lines), bool(node.other_lines)


def _gaps(lines: tuple[int, ...], own: int) -> int:
    """Return the cells that complete a line."""
    found = 0
    for line in lines:
        gap = line & ~own
        if not gap & (gap - 1):
            found |= gap
    return found


class HexNode(NamedTuple):
    """A position, the seat to move, and what touches each edge of each seat.

    Those are the cells on the edge, and those in or beside a chain of cells from it.
    """

    own: int
    other: int
    seat: int
    own_near: tuple[int, int]
    other_near: tuple[int, int]


class HexValues(BoardValues[HexNode]):
    """The values of Hex."""

    def __init__(self, game: HexGame) -> None:
        super().__init__(game)
        self._starts, self._ends, self._around = hex_edges(game.n_rows, game.n_columns)
        self._all = (1 << game.n_rows * game.n_columns) - 1

    def node(self, own: int, other: int) -> HexNode:
        seat = (own | other).bit_count() % 2
        near = self._near(own, seat), self._near(other, 1 - seat)
        return HexNode(own, other, seat, *near)

    def cells(self, node: HexNode) -> tuple[int, int, int]:
        own, other, _, own_near, other_near = node
        free = self._all & ~(own | other)
        return free, own_near[0] & own_near[1] & free, other_near[0] & other_near[1] & free

    def after(self, node: HexNode, bit: int) -> HexNode:
        own, other, seat, (start, end), other_near = node
        own |= bit
        if start & bit:
            start = self._more(own, start, bit)
        if end & bit:
            end = self._more(own, end, bit)
        return HexNode(other, own, 1 - seat, other_near, (start, end))

    def hopes(self, node: HexNode) -> tuple[bool, bool]:
        return True, True

    def _near(self, own: int, seat: int) -> tuple[int, int]:
        start, end = self._starts[seat], self._ends[seat]
        return self._more(own, start, start & own), self._more(own, end, end & own)

    def _more(self, own: int, found: int, fresh: int) -> int:
        """Return the cells found, and those in or beside the chains of the fresh cells."""
        around = self._around
        while fresh:
            cell = fresh & -fresh
            near = around[cell.bit_length() - 1] & ~found
            found |= near
            fresh = fresh & ~cell | near & own
        return found


def values_of(game: BoardGame) -> LineValues | HexValues:
    """Return what values the positions of a game, with nothing valued yet."""
    if isinstance(game, LineGame):
        return LineValues(game)
    if isinstance(game, HexGame):
        return HexValues(game)
    raise TypeError(f"no values for {game!r}")


@cache
def _from_the_middle(n_rows: int, n_columns: int) -> tuple[int, ...]:
    """Return the cells, those in the middle first: they have more lines and cut off more."""
    cells = [(row, column) for row in range(n_rows) for column in range(n_columns)]
    cells.sort(key=lambda c: (2 * c[0] - n_rows + 1) ** 2 + (2 * c[1] - n_columns + 1) ** 2)
    return tuple(1 << row * n_columns + column for row, column in cells)
