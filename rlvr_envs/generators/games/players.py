"""Opponents: the best play where values are exact, and Monte Carlo tree search."""

import math
import re
from collections.abc import Callable
from typing import Any, Generic

from rlvr_envs.core.games import CHANCE, OVER, Game, Mover, State, drawn
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.generators.games.solving import Values, candidates, move_values

_MCTS = re.compile(r"mcts:([1-9]\d{0,4})", re.ASCII)
_EXPLORE = math.sqrt(2)  # Kocsis and Szepesvári's constant for returns in [-1, 1]


def optimal(game: Game[Any], values: Values) -> Mover:
    """Return the player who makes a best move.

    Of several it makes one after which the smallest share of replies is best, not counting replies
    that lose to what one look ahead shows: a lost game stays hard to win.
    """

    def move(state: Any, rng: Rng) -> str:
        worth = move_values(game, values, state)
        most = max(worth.values())
        best = [each for each, value in worth.items() if value == most]
        ways = [_good_replies(game, values, game.after(state, each)) for each in best]
        fewest = min(ways)
        return pick(rng, [each for each, n in zip(best, ways, strict=True) if n == fewest])

    return move


def _good_replies(game: Game[Any], values: Values, state: Any) -> float:
    if game.mover(state) in (OVER, CHANCE):
        return 0.0
    sign = 1 if game.mover(state) == 0 else -1
    replies = [sign * values.value(game.after(state, m)) for m in candidates(game, state)]
    return replies.count(max(replies)) / len(replies)


class _Node:
    """What the search knows of a state: visits and the sum of what seat 0 got, by move."""

    __slots__ = ("moves", "sums", "visits")

    def __init__(self, moves: tuple[str, ...]) -> None:
        self.moves = moves
        self.visits = [0] * len(moves)
        self.sums = [0.0] * len(moves)


class TreeSearch(Generic[State]):
    """Monte Carlo tree search with upper confidence bounds (UCT) and random playouts.

    It sees the whole state, so it is for games in which everyone does.
    Kocsis and Szepesvári, "Bandit Based Monte-Carlo Planning", 2006.
    """

    def __init__(self, game: Game[State], n_playouts: int) -> None:
        self._game = game
        self._n_playouts = n_playouts

    def __call__(self, state: State, rng: Rng) -> str:
        tree: dict[State, _Node] = {}
        for _ in range(self._n_playouts):
            self._playout(tree, state, rng)
        root = tree[state]
        return root.moves[max(range(len(root.moves)), key=lambda i: root.visits[i])]

    def _playout(self, tree: dict[State, _Node], state: State, rng: Rng) -> None:
        game, path = self._game, list[tuple[_Node, int, int]]()
        while (mover := game.mover(state)) != OVER:
            if mover == CHANCE:
                state = game.after(state, drawn(rng, game, state))
                continue
            node = tree.get(state)
            if node is None:
                node = tree[state] = _Node(game.actions(state))
                at = int(rng.random() * len(node.moves))
                path.append((node, at, mover))
                state = self._to_the_end(game.after(state, node.moves[at]), rng)
                break
            at = self._promising(node, rng)
            path.append((node, at, mover))
            state = game.after(state, node.moves[at])
        result = game.returns(state)
        for node, at, mover in path:
            node.visits[at] += 1
            node.sums[at] += result[mover]

    def _promising(self, node: _Node, rng: Rng) -> int:
        fresh = [i for i, n in enumerate(node.visits) if not n]
        if fresh:
            return pick(rng, fresh)
        log = math.log(sum(node.visits))
        scores = [
            total / n + _EXPLORE * math.sqrt(log / n)
            for total, n in zip(node.sums, node.visits, strict=True)
        ]
        return max(range(len(scores)), key=scores.__getitem__)

    def _to_the_end(self, state: State, rng: Rng) -> State:
        game = self._game
        while (mover := game.mover(state)) != OVER:
            move = drawn(rng, game, state) if mover == CHANCE else pick(rng, game.actions(state))
            state = game.after(state, move)
        return state


def named(name: str, game: Game[Any], values: Callable[[], Values]) -> Mover | None:
    """Return the player called ``optimal`` or ``mcts:N``, N playouts a move; None for others."""
    if name == "optimal":
        return optimal(game, values())
    found = _MCTS.fullmatch(name)
    return TreeSearch(game, int(found[1])) if found else None
