"""Board games: values against a brute force on lists of cells, which shares no code with them."""

from functools import cache

import pytest

from rlvr_envs.core.games import OVER
from rlvr_envs.core.seeding import pick, stream
from rlvr_envs.generators.games.bitboards import values_of
from rlvr_envs.generators.games.boards import HexGame, LineGame
from rlvr_envs.generators.games.players import TreeSearch, optimal
from rlvr_envs.generators.games.solving import Exact, move_values


def line(cells, rows, columns, in_row, mark):
    """Whether a mark has a line, found by walking from every cell."""
    for r in range(rows):
        for c in range(columns):
            for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
                walk = [(r + dr * i, c + dc * i) for i in range(in_row)]
                if all(cells.get(cell) == mark for cell in walk):
                    return True
    return False


def chain(cells, rows, columns, mark):
    """Whether a mark connects its sides, found by growing a set of cells."""
    goal = (lambda r, c: r == rows - 1) if mark == "X" else (lambda r, c: c == columns - 1)
    start = (lambda r, c: r == 0) if mark == "X" else (lambda r, c: c == 0)
    found = {cell for cell, held in cells.items() if held == mark and start(*cell)}
    while True:
        more = {
            (r + dr, c + dc)
            for r, c in found
            for dr, dc in ((0, 1), (0, -1), (1, 0), (-1, 0), (1, -1), (-1, 1))
            if cells.get((r + dr, c + dc)) == mark
        }
        if more <= found:
            return any(goal(*cell) for cell in found)
        found |= more


def brute(rows, columns, wins, gravity):
    """Return a function from a frozen set of marks to what X gets."""

    @cache
    def value(marks):
        cells = dict(marks)
        for mark, gets in (("X", 1), ("O", -1)):
            if wins(cells, mark):
                return gets
        mover = "XO"[len(cells) % 2]
        free = [(r, c) for r in range(rows) for c in range(columns) if (r, c) not in cells]
        if gravity:
            free = [(r, c) for r, c in free if r == rows - 1 or (r + 1, c) in cells]
        values = [value(marks | {(cell, mover)}) for cell in free]
        return (max if mover == "X" else min)(values) if values else 0

    return value


def marks_of(game, moves):
    """Return the marks that moves make, by walking through them."""
    cells = {}
    for i, move in enumerate(moves):
        numbers = [int(word) - 1 for word in move.split()]
        if len(numbers) == 1:
            row = max(r for r in range(game.n_rows) if (r, numbers[0]) not in cells)
            numbers = [row, numbers[0]]
        cells[tuple(numbers)] = "XO"[i % 2]
    return frozenset(cells.items())


GAMES = {
    "tic-tac-toe": LineGame(3, 3, n_in_row=3),
    "three in a row of 3x4": LineGame(3, 4, n_in_row=3),
    "falling three of 3x4": LineGame(3, 4, n_in_row=3, gravity=True),
    "hex 3x3": HexGame(3, 3),
    "hex 2x4": HexGame(2, 4),
}


@pytest.mark.parametrize("name", GAMES)
def test_values_are_those_of_a_brute_force(name):
    game = GAMES[name]
    if isinstance(game, HexGame):
        wins, gravity = (lambda cells, mark: chain(cells, game.n_rows, game.n_columns, mark)), False
    else:
        wins = lambda cells, mark: line(cells, game.n_rows, game.n_columns, game.n_in_row, mark)  # noqa: E731
        gravity = game.gravity
    expected, exact = brute(game.n_rows, game.n_columns, wins, gravity), Exact(game)
    fast = values_of(game)
    compared = 0
    for seed in range(30):
        rng, state, moves = stream("boards", seed), game.start(), []
        while True:
            # a draw is called early, when no line is left
            if len(moves) >= game.n_rows * game.n_columns - 8:
                assert exact.value(state) == expected(marks_of(game, moves))
                assert fast.value(state) == expected(marks_of(game, moves))
                compared += 1
            if game.mover(state) == OVER:
                assert game.returns(state)[0] == expected(marks_of(game, moves))
                break
            moves.append(pick(rng, game.actions(state)))
            state = game.after(state, moves[-1])
    assert compared > 60


def test_known_values_of_whole_games():
    assert Exact(LineGame(3, 3, n_in_row=3)).value(LineGame(3, 3, n_in_row=3).start()) == 0
    assert Exact(HexGame(3, 3)).value(HexGame(3, 3).start()) == 1  # the first player wins Hex


def shortest(game, exact, state):
    """Return how many moves the shortest forced win takes, by minimax over the number itself."""
    seat = game.mover(state)

    def moves(now):
        if game.mover(now) == OVER:
            return 0 if game.returns(now)[seat] > 0 else 99
        below = [moves(game.after(now, move)) for move in game.actions(now)]
        return 1 + min(below) if game.mover(now) == seat else max(below)

    found = moves(state)
    assert (found < 99) == (exact.value(state) == (1 if seat == 0 else -1))
    return found if found < 99 else 0


@pytest.mark.parametrize("name", GAMES)
def test_the_shortest_forced_win(name):
    game = GAMES[name]
    exact = Exact(game)
    for seed in range(20):
        rng, state = stream("wins", seed), game.start()
        for _ in range(game.n_rows * game.n_columns - 6):
            if game.mover(state) != OVER:
                state = game.after(state, pick(rng, game.actions(state)))
        if game.mover(state) != OVER:
            assert values_of(game).shortest_win(state, 6) == shortest(game, exact, state)


def test_the_best_player_never_loses_tic_tac_toe():
    game = LineGame(3, 3, n_in_row=3)
    best = optimal(game, Exact(game))
    results = []
    for seed in range(40):
        rng, state = stream("best", seed), game.start()
        while game.mover(state) != OVER:
            mine = game.mover(state) == seed % 2
            state = game.after(state, best(state, rng) if mine else pick(rng, game.actions(state)))
        results.append(game.returns(state)[seed % 2])
    assert min(results) == 0.0
    assert results.count(1.0) > 20


def test_tree_search_sees_a_win_and_a_threat_and_is_seeded():
    game = LineGame(3, 3, n_in_row=3)
    state = game.start()
    for move in ("1 1", "2 1", "1 2", "2 2"):
        state = game.after(state, move)
    assert TreeSearch(game, 200)(state, stream("search", 1)) == "1 3"
    state = game.after(state, "3 3")
    assert TreeSearch(game, 200)(state, stream("search", 1)) == "2 3"
    games = [TreeSearch(game, 30)(game.start(), stream("search", seed)) for seed in (1, 1, 2, 3)]
    assert games[0] == games[1]


def test_moves_without_value_are_told_apart():
    game = HexGame(3, 3)
    values = move_values(game, Exact(game), game.start())
    assert values["2 2"] == 1
    assert values["1 1"] == -1
    assert len(values) == 9


def test_a_board_is_shown_with_numbers():
    game = LineGame(2, 3, n_in_row=3)
    state = game.after(game.after(game.start(), "1 2"), "2 3")
    assert game.view(state, 0) == "   1 2 3\n 1 . X .\n 2 . . O"
