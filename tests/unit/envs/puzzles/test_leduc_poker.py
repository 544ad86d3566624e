"""LeducPoker: values against a search over beliefs, a red team, and whole matches."""

import pytest

from rlvr_envs.core.games import OVER
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.leduc_poker import LeducPokerConfig, LeducPokerTask

TASK = LeducPokerTask(LeducPokerConfig(n_rounds=1))
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


class Beliefs:
    """What moves are worth by following weights of the opponent's card, with no tree of states.

    Moves are letters: f, c and r. A round of betting is the text of its moves.
    """

    def __init__(self, problem):
        self.ranks, self.most, self.size = problem.ranks, problem.n_raises, problem.size
        self.table, self.seat = problem.table, problem.seat

    def legal(self, bets):
        answer = bets.endswith("r")
        return ("f" if answer else "") + "c" + ("r" if bets.count("r") < self.most else "")

    def odds(self, card, board, bets):
        n = len(self.ranks)
        row = 2 * n if card == board else self.ranks.index(card) + (n if board else 0)
        up, out, again = self.table[row]
        legal, answer = self.legal(bets), bets.endswith("r")
        chance = {"f": out if answer else 0, "r": (again if answer else up) if "r" in legal else 0}
        chance["c"] = 100 - chance["f"] - chance["r"]
        return {letter: chance[letter] / 100 for letter in legal}

    def ended(self, bets):
        return bets.endswith("f") or (len(bets) > 1 and bets.endswith("c"))

    def stakes(self, first, second):
        """What each player has put in, if both have called all raises but perhaps the last."""
        paid = {0: 1, 1: 1}
        for bets, size in ((first, self.size), (second, 2 * self.size)):
            for i, letter in enumerate(bets):
                if letter == "c":
                    paid[i % 2] = paid[1 - i % 2]
                if letter == "r":
                    paid[i % 2] = paid[1 - i % 2] + size
        return paid

    def total(self, card, board, first, second, weights):
        """Sum over the opponent's cards of weight times what the agent gets."""
        bets = second if board else first
        if not any(weights.values()):
            return 0.0
        if self.ended(bets):
            paid = self.stakes(first, second)
            if bets.endswith("f"):
                loser = (len(bets) - 1) % 2
                won = -paid[self.seat] if loser == self.seat else paid[1 - self.seat]
                return won * sum(weights.values())
            if board:
                return sum(w * self.shown(card, o, board) * paid[0] for o, w in weights.items())
            found = 0.0
            for new in self.ranks:
                left = {o: 2 - (card == new) - (o == new) for o in weights}
                deck = 2 * len(self.ranks) - 2
                after = {o: w * left[o] / deck for o, w in weights.items()}
                found += self.total(card, new, first, "", after)
            return found
        if len(bets) % 2 == self.seat:
            return max(self.moves(card, board, first, second, weights).values())
        found = 0.0
        for letter in self.legal(bets):
            after = {o: w * self.odds(o, board, bets)[letter] for o, w in weights.items()}
            found += self.total(card, board, *self.more(board, first, second, letter), after)
        return found

    def more(self, board, first, second, letter):
        return (first, second + letter) if board else (first + letter, second)

    def shown(self, card, other, board):
        if card == other:
            return 0
        if board in (card, other):
            return 1 if board == card else -1
        return 1 if self.ranks.index(card) > self.ranks.index(other) else -1

    def moves(self, card, board, first, second, weights):
        bets = second if board else first
        return {
            letter: self.total(card, board, *self.more(board, first, second, letter), weights)
            for letter in self.legal(bets)
        }

    def values(self, state):
        """Return what the moves of the agent are worth in a state, from what it has seen."""
        card, board = state.cards[self.seat], state.cards[2:]
        first, second = state.rounds[0], state.rounds[1] if board else ""
        deck = 2 * len(self.ranks) - 1
        weights = {o: (2 - (o == card)) / deck for o in self.ranks}
        for past, bets in (("", first), (board, second)):
            for i, letter in enumerate(bets):
                if i % 2 != self.seat:
                    for o in weights:
                        weights[o] *= self.odds(o, past, bets[:i])[letter]
            if past == "" and board:
                for o in weights:
                    weights[o] *= 2 - (card == board) - (o == board)
        total = sum(weights.values())
        found = self.moves(card, board, first, second, weights)
        return {letter: value / total for letter, value in found.items()}


@pytest.mark.parametrize("seed", range(12))
def test_values_are_those_of_a_search_over_beliefs(seed):
    config = LeducPokerConfig(n_ranks=2 + seed % 2, n_raises=1 + seed % 2, n_rounds=3)
    task = LeducPokerTask(config)
    problem = task.generate(stream("beliefs", seed))
    beliefs, session, compared = Beliefs(problem), task.begin(problem), 0
    letters = {"fold": "f", "call": "c", "raise": "r"}
    while True:
        found = task.move_values(problem, session.state)
        expected = beliefs.values(session.state.inner)
        assert {letters[m]: pytest.approx(v) for m, v in found.items()} == expected
        compared += 1
        move = max(found, key=found.get) if compared % 2 else min(found, key=found.get)
        if session.reply(rf"\boxed{{{move}}}").verdict is not None:
            break
    assert compared >= 3


@pytest.mark.parametrize("answer", WRONG)
def test_what_is_no_legal_move_is_refused(answer):
    session = TASK.begin(TASK.generate(stream("wrong", 1)))
    for _ in range(2):
        assert session.reply(rf"\boxed{{{answer}}}").verdict is None
    assert session.reply(rf"\boxed{{{answer}}}").verdict.score == 0.0


def test_the_worst_move_is_judged_wrong_even_where_it_wins():
    lucky = 0
    for seed in range(40):
        problem = TASK.generate(stream("worst", seed))

        def worst(state, problem=problem):
            values = TASK.move_values(problem, state)
            return min(values, key=values.get)

        verdict = TASK.replay(problem, TASK.moves(problem, worst))
        if verdict.parts["regret"] > 1e-6:
            assert verdict.score == 0.0
            lucky += verdict.parts["outcome"] > 0
    assert lucky > 0


@pytest.mark.parametrize("level", [0, 3, 6, 10])
def test_the_oracle_is_right_whatever_the_cards(level):
    task = LeducPokerTask(LeducPokerConfig.at(level))
    for seed in range(5):
        problem = task.generate(stream("leduc", level, seed))
        actions = task.play(problem)
        assert task.replay(problem, actions).score == 1.0
        assert len(actions) >= problem.n_rounds


def test_the_opponents_card_is_not_shown():
    problem = TASK.generate(stream("hidden", 3))
    state = TASK.state(problem)
    assert TASK.game(problem).mover(state) != OVER
    assert f"Your card: {state.inner.cards[problem.seat]}." in TASK.prompt(problem)
    other = next(r for r in problem.ranks if r != state.inner.cards[1 - problem.seat])
    cards = list(state.inner.cards)
    cards[1 - problem.seat] = other
    changed = state._replace(inner=state.inner._replace(cards="".join(cards)))
    game = TASK.game(problem)
    assert game.view(changed, problem.seat) == game.view(state, problem.seat)
