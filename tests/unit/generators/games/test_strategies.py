"""Poker strategies against values that are published or worked out by hand."""

from itertools import permutations, product

import pytest

from rlvr_envs.generators.games.cards import CALL, FOLD, RAISE, Hand, kuhn, leduc
from rlvr_envs.generators.games.strategies import (
    BestResponse,
    equilibrium,
    expected,
    nash_conv,
    strategy_of,
    tree,
    uniform,
)

KUHN, LEDUC = tree(kuhn()), tree(leduc())


def test_sizes_of_the_trees():
    assert len(uniform(KUHN)) == 12
    assert len(uniform(LEDUC)) == 288  # 936 where suits are told apart


def test_how_far_uniform_play_is_from_an_equilibrium():
    # OpenSpiel states 0.916667 for Kuhn and 4.747222 for Leduc
    assert nash_conv(KUHN, uniform(KUHN)) == pytest.approx(11 / 12)
    assert nash_conv(LEDUC, uniform(LEDUC)) == pytest.approx(4.7472222, abs=1e-6)


def pure_payoff(cards, first, second):
    """Play Kuhn by its rules: first has (open, answer), second (after check, after bet), by card."""
    mine, other = cards
    won = 1 if mine > other else -1
    if first[mine][0]:
        return 2 * won if second[other][1] else 1
    if not second[other][0]:
        return won
    return 2 * won if first[mine][1] else -1


def test_kuhns_best_response_is_that_of_all_pure_strategies():
    plans = list(product(product((0, 1), repeat=2), repeat=3))
    strategy = {
        view: {m: (0.7 if m == RAISE else 0.3 / (len(odds) - 1)) for m in odds}
        if RAISE in odds
        else {FOLD: 0.6, CALL: 0.4}
        for view, odds in uniform(KUHN).items()
    }
    found = BestResponse(KUHN, strategy, 0).value

    def odds_of(plan):
        value = 0.0
        for cards in permutations(range(3), 2):
            for after_check, after_bet in product((0, 1), repeat=2):
                p = (0.7 if after_check else 0.3) * (0.4 if after_bet else 0.6)
                second = {cards[1]: (after_check, after_bet)}
                value += p * pure_payoff(cards, plan, second) / 6
        return value

    assert found == pytest.approx(max(map(odds_of, plans)))


@pytest.mark.parametrize("alpha", [0.0, 0.2, 1 / 3])
def test_kuhns_own_equilibria_cannot_be_exploited(alpha):
    bet = {"J": alpha, "Q": 0.0, "K": 3 * alpha}
    answer = {"J": 0.0, "Q": alpha + 1 / 3, "K": 1.0}
    second_bet = {"J": 1 / 3, "Q": 0.0, "K": 1.0}
    second_answer = {"J": 0.0, "Q": 1 / 3, "K": 1.0}

    def choose(node):
        card = node.view.removeprefix("Your card: ")[0]
        tables = (bet, answer) if node.seat == 0 else (second_bet, second_answer)
        p = tables[FOLD in node.moves][card]
        last = node.moves[-1]
        return {node.moves[0]: 1 - p, last: p}

    strategy = strategy_of(KUHN, choose)
    assert nash_conv(KUHN, strategy) == pytest.approx(0.0, abs=1e-12)
    assert expected(KUHN, strategy) == pytest.approx(-1 / 18)


def test_cfr_finds_equilibria():
    strategy = equilibrium(KUHN, 300)
    assert nash_conv(KUHN, strategy) < 0.002
    assert expected(KUHN, strategy) == pytest.approx(-1 / 18, abs=0.001)
    few, more = (nash_conv(LEDUC, equilibrium(LEDUC, n)) for n in (3, 12))
    assert more < few / 2 < 2


def test_leduc_hands():
    game = leduc()
    assert game.returns(Hand("QKQ", ("cc", "rc"))) == (5.0, -5.0)  # a pair beats a higher card
    assert game.returns(Hand("QKJ", ("rc", "rrc"))) == (-11.0, 11.0)
    assert game.returns(Hand("KKJ", ("cc", "cc"))) == (0.0, 0.0)
    assert game.returns(Hand("JK", ("rf",))) == (1.0, -1.0)
    assert game.actions(Hand("JK", ("rr",))) == (FOLD, CALL)
    assert game.view(Hand("JK", ("rr",)), 0) == (
        "Your card: J. You are player 1. Round 1: raise, raise."
    )
    assert "K" not in game.view(Hand("JK", ("rr",)), 0)
