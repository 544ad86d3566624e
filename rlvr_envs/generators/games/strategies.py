"""Strategies of two-player games with hidden information: CFR+, best responses, exploitability.

A strategy gives for each information state, the text that a seat sees, the probability of each
legal move. Games must have perfect recall: a seat's text tells all of its own moves. What is
computed here walks the whole tree, so it is for small games.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from rlvr_envs.core.games import CHANCE, OVER, Game

Strategy: TypeAlias = Mapping[str, Mapping[str, float]]


@dataclass(slots=True)
class Node:
    """A state in the tree of a game.

    Attributes:
        seat: the seat to move, or `CHANCE` or `OVER`.
        view: what that seat sees.
        moves: the moves or the outcomes of chance.
        below: the node after each of them.
        chances: the probability of each outcome of chance.
        result: what seat 0 gets at the end.
    """

    seat: int
    view: str = ""
    moves: tuple[str, ...] = ()
    below: list["Node"] = field(default_factory=list)
    chances: tuple[float, ...] = ()
    result: float = 0.0


def tree(game: Game[Any], state: Any | None = None) -> Node:
    """Return the tree of all that can happen from a state, by default the first."""
    state = game.start() if state is None else state
    seat = game.mover(state)
    if seat == OVER:
        return Node(seat, result=float(game.returns(state)[0]))
    if seat == CHANCE:
        outcomes = game.chances(state)
        node = Node(seat, moves=tuple(outcome for outcome, _ in outcomes))
        node.chances = tuple(float(probability) for _, probability in outcomes)
    else:
        node = Node(seat, game.view(state, seat), game.actions(state))
    node.below = [tree(game, game.after(state, move)) for move in node.moves]
    return node


def uniform(root: Node) -> dict[str, dict[str, float]]:
    """Return the strategy that takes each legal move with equal probability."""
    return strategy_of(root, lambda node: {move: 1 / len(node.moves) for move in node.moves})


def strategy_of(
    root: Node, choose: Callable[[Node], dict[str, float]]
) -> dict[str, dict[str, float]]:
    """Return the strategy of a rule that is asked once for each information state."""
    found, left = dict[str, dict[str, float]](), [root]
    while left:
        node = left.pop()
        if node.seat >= 0 and node.view not in found:
            found[node.view] = choose(node)
        left.extend(node.below)
    return found


def expected(node: Node, strategy: Strategy) -> float:
    """Return what seat 0 gets on average if both seats play a strategy."""
    if node.seat == OVER:
        return node.result
    if node.seat == CHANCE:
        return sum(p * expected(b, strategy) for p, b in zip(node.chances, node.below, strict=True))
    odds = strategy[node.view]
    return sum(odds[m] * expected(b, strategy) for m, b in zip(node.moves, node.below, strict=True))


class BestResponse:
    """The best that a seat can do against a strategy of the other seat.

    Attributes:
        value: what the seat gets on average from the root.
    """

    def __init__(self, root: Node, strategy: Strategy, seat: int) -> None:
        self._strategy, self._seat = strategy, seat
        self._sign = 1 if seat == 0 else -1
        self._states: dict[str, list[tuple[float, Node]]] = defaultdict(list)
        self._chosen: dict[str, dict[str, float]] = {}
        self._gather(root, 1.0)
        self.value = self._value(root)

    def reaches(self) -> dict[str, float]:
        """Return how likely chance and the strategy lead to each information state of the seat."""
        return {view: sum(r for r, _ in states) for view, states in self._states.items()}

    def move_values(self, view: str) -> dict[str, float]:
        """Return what each move of an information state is worth, given what the seat has seen.

        The seat plays best afterwards. A state that the strategy never leads to counts all states
        behind the text alike.
        """
        if view not in self._chosen:
            states = self._states[view]
            total = sum(reach for reach, _ in states)
            weights = [reach / total if total else 1 / len(states) for reach, _ in states]
            self._chosen[view] = {
                move: sum(
                    weight * self._value(node.below[i])
                    for weight, (_, node) in zip(weights, states, strict=True)
                )
                for i, move in enumerate(states[0][1].moves)
            }
        return self._chosen[view]

    def _odds(self, node: Node) -> tuple[float, ...]:
        if node.seat == CHANCE:
            return node.chances
        odds = self._strategy[node.view]
        return tuple(odds[move] for move in node.moves)

    def _gather(self, node: Node, reach: float) -> None:
        if node.seat == self._seat:
            self._states[node.view].append((reach, node))
            odds: tuple[float, ...] = (1.0,) * len(node.below)
        else:
            odds = self._odds(node) if node.below else ()
        for probability, below in zip(odds, node.below, strict=True):
            self._gather(below, reach * probability)

    def _value(self, node: Node) -> float:
        if node.seat == OVER:
            return self._sign * node.result
        if node.seat == self._seat:
            values = self.move_values(node.view)
            best = max(node.moves, key=values.__getitem__)
            return self._value(node.below[node.moves.index(best)])
        odds = self._odds(node)
        return sum(p * self._value(b) for p, b in zip(odds, node.below, strict=True) if p)


def nash_conv(root: Node, strategy: Strategy) -> float:
    """Return how much both seats together gain by a best response; 0 at an equilibrium."""
    return sum(BestResponse(root, strategy, seat).value for seat in (0, 1))


def equilibrium(root: Node, n_rounds: int) -> dict[str, dict[str, float]]:
    """Return the average strategy of CFR+, which nears an equilibrium with each round.

    Tammelin, "Solving Large Imperfect Information Games Using CFR+", 2014.
    """
    regrets: dict[str, list[float]] = {}
    sums: dict[str, list[float]] = {}

    def walk(node: Node, seat: int, own: float, other: float, weight: float) -> float:
        """Return what the seat gets, and update it; reaches are of the seat and of the rest."""
        if node.seat == OVER:
            return node.result if seat == 0 else -node.result
        if node.seat == CHANCE:
            return sum(
                p * walk(below, seat, own, other * p, weight)
                for p, below in zip(node.chances, node.below, strict=True)
            )
        held = regrets.setdefault(node.view, [0.0] * len(node.moves))
        odds = _shares(held)
        if node.seat != seat:
            return sum(
                p * walk(below, seat, own, other * p, weight)
                for p, below in zip(odds, node.below, strict=True)
            )
        values = [
            walk(below, seat, own * p, other, weight)
            for p, below in zip(odds, node.below, strict=True)
        ]
        mean = sum(p * value for p, value in zip(odds, values, strict=True))
        fresh[node.view] = [
            old + other * (value - mean)
            for old, value in zip(fresh.get(node.view, held), values, strict=True)
        ]
        total = sums.setdefault(node.view, [0.0] * len(node.moves))
        for i, p in enumerate(odds):
            total[i] += weight * own * p
        return mean

    for number in range(1, n_rounds + 1):
        for seat in (0, 1):
            fresh: dict[str, list[float]] = {}
            walk(root, seat, 1.0, 1.0, float(number))
            regrets |= {view: [max(0.0, r) for r in found] for view, found in fresh.items()}
    return strategy_of(
        root, lambda node: dict(zip(node.moves, _shares(sums[node.view]), strict=True))
    )


def _shares(amounts: list[float]) -> list[float]:
    total = sum(amounts)
    return [each / total if total > 0 else 1 / len(amounts) for each in amounts]
