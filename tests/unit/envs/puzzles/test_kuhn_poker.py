"""KuhnPoker: values against formulas written out by hand, a red team, and whole matches."""

from fractions import Fraction
from itertools import product

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.kuhn_poker import KuhnPokerConfig, KuhnPokerTask
from rlvr_envs.generators.games.betting import PokerProblem
from rlvr_envs.generators.games.matches import Rounds

TASK = KuhnPokerTask(KuhnPokerConfig())
# The opponent never raises and folds anything: raising always wins the ante.
TIMID = PokerProblem(
    opening=("K", "J"),
    n_rounds=1,
    ranks="JQK",
    n_raises=1,
    size=1,
    table=((0, 100, 0),) * 3,
    shown="Your card: K.",
)
WRONG = [
    "",
    "all in",
    "bet",
    "check",
    "fold or call",
    "call, raise",
    "call raise",
    "not fold",
    "-call",
    "c",
    "raise 2",
    "1",
    "callcall",
    "fоld",
    "pass\n",
    "I win",
    "NaN",
    "undo",
    "best move",
    "call?",
    "Your card: K",
    "fold fold",
    "99999999999999999999",
    "K",
    "raise!",
    "r aise",
    "None",
]


def by_hand(seat, card, raised, table, size):
    """Return what each move is worth: Kuhn's three cards 0 to 2, the opponent's chances in per cent.

    ``raised`` is whether the opponent has raised; as seat 0 that means after a call of the agent.
    """
    others = [each for each in range(3) if each != card]
    sign = {each: 1 if card > each else -1 for each in others}
    up = {each: Fraction(table[each][0], 100) for each in others}
    out = {each: Fraction(table[each][1], 100) for each in others}
    pay = {each: out[each] + (1 - out[each]) * sign[each] * (1 + size) for each in others}

    def mean(weight, worth):
        total = sum(weight[each] for each in others)
        return sum(weight[each] * worth[each] for each in others) / total

    showdown = {each: sign[each] * (1 + size) for each in others}
    if raised:
        if not any(up.values()):
            return None
        return {"fold": -1, "call": mean(up, showdown)}
    if seat == 1:
        checked = {each: 1 - up[each] for each in others}
        if not any(checked.values()):
            return None
        return {"call": mean(checked, sign), "raise": mean(checked, pay)}
    checked = sum((1 - up[each]) * sign[each] for each in others)
    answered = max(-sum(up.values()), sum(up[each] * showdown[each] for each in others))
    return {"call": Fraction(checked + answered, 2), "raise": Fraction(sum(pay.values()), 2)}


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("seat", [0, 1])
def test_the_values_of_all_moves_are_those_worked_out_by_hand(seat, size):
    compared = 0
    habits = [(0, 0, 0), (30, 60, 0), (100, 100, 0), (50, 0, 0)]
    for table in product(habits, repeat=3):
        problem = PokerProblem(
            n_rounds=1, seat=seat, ranks="JQK", n_raises=1, size=size, table=table
        )
        game = TASK.one_round(problem)
        for card, raised in product(range(3), (False, True)):
            expected = by_hand(seat, card, raised, table, size)
            state = game.start()
            cards = ["JQK"[card], "JQK"[(card + 1) % 3]]
            for move in cards if seat == 0 else cards[::-1]:
                state = game.after(state, move)
            before = {(0, False): [], (0, True): ["call", "raise"], (1, False): ["call"]}
            for move in before.get((seat, raised), ["raise"]):
                state = game.after(state, move)
            if expected is None:
                continue  # the opponent never plays so
            found = TASK.move_values(problem, Rounds(state))
            assert {move: pytest.approx(float(v)) for move, v in expected.items()} == found
            compared += 1
    assert compared > 300


@pytest.mark.parametrize("answer", WRONG)
def test_what_is_no_legal_move_is_refused(answer):
    session = TASK.begin(TIMID)
    for _ in range(2):
        assert session.reply(rf"\boxed{{{answer}}}").verdict is None
    assert session.reply(rf"\boxed{{{answer}}}").verdict.score == 0.0


@pytest.mark.parametrize(
    "answer", ["raise", "Raise", "RAISE", "`raise`", r"\text{raise}", "raise "]
)
def test_the_spellings_of_the_best_move(answer):
    assert TASK.begin(TIMID).reply(rf"\boxed{{{answer}}}").verdict.score == 1.0


@pytest.mark.parametrize("answer", ["call", "CALL", "Call"])
def test_a_move_that_wins_by_luck_earns_nothing(answer):
    verdict = TASK.begin(TIMID).reply(rf"\boxed{{{answer}}}").verdict
    assert verdict.parts["outcome"] == 1.0
    assert verdict.score == 1.0  # with a king both moves get the ante: the opponent only calls
    queen = PokerProblem(
        opening=("Q", "J"), n_rounds=1, ranks="JQK", n_raises=1, size=1, table=TIMID.table
    )
    verdict = TASK.begin(queen).reply(rf"\boxed{{{answer}}}").verdict
    assert verdict.parts["outcome"] == 1.0
    assert verdict.score == 0.0
    assert verdict.parts["regret"] == pytest.approx(1.0)


@pytest.mark.parametrize("level", [0, 2, 5, 10])
def test_the_oracle_is_right_whatever_the_cards(level):
    task = KuhnPokerTask(KuhnPokerConfig.at(level))
    outcomes = []
    for seed in range(12):
        problem = task.generate(stream("kuhn", level, seed))
        verdict = task.replay(problem, task.play(problem))
        assert verdict.score == 1.0
        outcomes.append(verdict.parts["outcome"])
    assert len(set(outcomes)) > 3


def test_always_the_same_move_is_seldom_right():
    task = KuhnPokerTask(KuhnPokerConfig.at(4))
    for word in ("fold", "call", "raise"):
        scores = []
        for seed in range(30):
            problem = task.generate(stream("same", seed))

            def same(state, problem=problem, word=word):
                moves = task.game(problem).actions(state)
                return word if word in moves else moves[0]

            moves = task.moves(problem, same)
            scores.append(task.replay(problem, moves).score)
        assert sum(scores) <= 2


def test_what_is_out_of_range_is_refused():
    with pytest.raises(ConfigError, match="step divides 100, got 30"):
        KuhnPokerConfig(step=30)
    with pytest.raises(ConfigError, match="opponent"):
        KuhnPokerConfig(opponent="optimal")
