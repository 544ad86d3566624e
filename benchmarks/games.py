"""Games: how far random play, CFR+ and tree search are from an equilibrium of Kuhn and Leduc poker.

NashConv is what both seats together gain by a best response to a strategy; it is 0 at an
equilibrium, and exploitability is half of it. Tree search (UCT) draws the hidden card many times
from those that the moves allow, searches each full deal, and plays a move as often as it was
chosen; this is what `mcts:N` would do where cards are hidden, and it is known to be exploitable.

    python benchmarks/games.py
"""

from collections import Counter, defaultdict
from typing import Any

import results_file

from rlvr_envs.core.games import CHANCE, OVER
from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.games.cards import Poker, kuhn, leduc
from rlvr_envs.generators.games.players import TreeSearch
from rlvr_envs.generators.games.strategies import (
    equilibrium,
    expected,
    nash_conv,
    tree,
    uniform,
)

MEASURED = "NashConv of opponents in Kuhn and Leduc poker, and what the first seat gets, in chips"
GAMES = {"Kuhn": (kuhn(), 2000), "Leduc": (leduc(), 500)}  # with rounds of CFR+
PUBLISHED = {
    "Kuhn": {"NashConv of uniform play": 11 / 12, "value of the game": -1 / 18},
    "Leduc": {"NashConv of uniform play": 4.747222, "value of the game": -0.0856},
}
PLAYOUTS = 100
DEALS = 40  # of the hidden card, for each information state

States = dict[str, list[tuple[float, Any]]]


def states_of(game: Poker) -> States:
    """Return the states behind each information state, with the probability of their cards."""
    found: States = defaultdict(list)
    left = [(1.0, game.start())]
    while left:
        weight, state = left.pop()
        seat = game.mover(state)
        if seat == CHANCE:
            left += [(weight * float(p), game.after(state, o)) for o, p in game.chances(state)]
        elif seat != OVER:
            found[game.view(state, seat)].append((weight, state))
            left += [(weight, game.after(state, move)) for move in game.actions(state)]
    return found


def searched(game: Poker) -> dict[str, dict[str, float]]:
    """Return the strategy of tree search over drawn deals."""
    search = TreeSearch(game, PLAYOUTS)
    strategy = {}
    for view, states in sorted(states_of(game).items()):
        rng = stream("benchmark games", view)
        weights = [weight for weight, _ in states]
        shares = [weight / sum(weights) for weight in weights]
        drawn = rng.choice(len(states), DEALS, p=shares)
        chosen = Counter(search(states[i][1], rng) for i in drawn.tolist())
        moves = game.actions(states[0][1])
        strategy[view] = {move: chosen[move] / DEALS for move in moves}
    return strategy


def measured(name: str) -> dict[str, Any]:
    """Return the figures of a game."""
    game, rounds = GAMES[name]
    root = tree(game)
    strategies = {
        "random": uniform(root),
        f"mcts:{PLAYOUTS}": searched(game),
        f"CFR+, {rounds} rounds": equilibrium(root, rounds),
    }
    return {
        "published": {key: round(value, 6) for key, value in PUBLISHED[name].items()},
        "NashConv": {key: round(nash_conv(root, each), 6) for key, each in strategies.items()},
        "first seat gets in self-play": {
            key: round(expected(root, each), 6) for key, each in strategies.items()
        },
    }


def main() -> None:
    """Measure, print and store."""
    args = results_file.parser(__doc__, "games").parse_args()
    figures = {name: measured(name) for name in GAMES}
    for name, found in figures.items():
        print(name, found["NashConv"])
    results_file.store(args, results_file.head(MEASURED, "numpy"), figures, figures)


if __name__ == "__main__":
    main()
