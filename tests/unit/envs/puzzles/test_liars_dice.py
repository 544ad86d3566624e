"""LiarsDice: values against a search over beliefs, the opponent's rule, and a red team."""

from itertools import product

import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.liars_dice import LiarsDiceConfig, LiarsDiceProblem, LiarsDiceTask

TASK = LiarsDiceTask(LiarsDiceConfig(n_rounds=1))
# The agent has a 3; the opponent has bid three dice that show 1, though there are only two dice.
EASY = LiarsDiceProblem(
    opening=("2", "3", "1 2", "2 1", "2 2"),
    seat=1,
    n_rounds=1,
    n_faces=3,
    n_dice=1,
    n_dice_opponent=1,
    doubts=(50, 100),
    bluffs=0,
)
WRONG = [
    "",
    "true",
    "3",
    "3 1",
    "1 3",
    "2 2",
    "2 4",
    "0 3",
    "-2 3",
    "2 3 or liar",
    "liar, 2 3",
    "liar liar",
    "not liar",
    "2.3",
    "2/3",
    "two 3",
    "2 3 3",
    "23",
    "l i a r",
    "lіar",
    "٢ ٣",
    "99999999999999999999 3",
    "pass",
    "challenge",
    "liar?",
    "I win",
    "None",
    "1 1, 1 2, 1 3, 2 1, 2 2, 2 3",
]


class Beliefs:
    """What moves are worth, from weights of the opponent's rolls; bids are pairs of numbers."""

    def __init__(self, problem):
        self.p = problem
        most = problem.n_dice + problem.n_dice_opponent
        self.bids = [(n, f) for n in range(1, most + 1) for f in range(1, problem.n_faces + 1)]

    def odds(self, roll, last):
        """The opponent's moves with their chances, by the words of the prompt."""
        higher = [bid for bid in self.bids if last is None or bid > last]
        if not higher:
            return {"liar": 1.0}
        doubt = 0.0
        if last is not None and (needed := last[0] - roll.count(last[1])) > 0:
            doubt = self.p.doubts[min(needed, len(self.p.doubts)) - 1] / 100
        found = dict.fromkeys([*higher, "liar"], 0.0) | {"liar": doubt}
        honest = [bid for bid in higher if roll.count(bid[1]) >= bid[0]]
        bluff = self.p.bluffs / 100 if honest else 1.0
        found[higher[0]] += (1 - doubt) * bluff
        if honest:
            found[honest[0]] += (1 - doubt) * (1 - bluff)
        return found

    def called(self, own, last, weights, mine):
        """What the agent gets in all if the last bid, its own or not, is challenged."""
        true = {r: own.count(last[1]) + r.count(last[1]) >= last[0] for r in weights}
        return sum(w if true[r] == mine else -w for r, w in weights.items())

    def moves(self, own, last, weights):
        found = {}
        if last is not None:
            found["liar"] = self.called(own, last, weights, False)
        for bid in self.bids:
            if last is None or bid > last:
                found[bid] = self.answered(own, bid, weights)
        return found

    def answered(self, own, bid, weights):
        total = 0.0
        chances = {roll: self.odds(roll, bid) for roll in weights}
        for move in {move for each in chances.values() for move in each}:
            after = {r: w * chances[r].get(move, 0) for r, w in weights.items()}
            after = {r: w for r, w in after.items() if w}
            if not after:
                continue
            if move == "liar":
                total += self.called(own, bid, after, True)
            else:
                total += max(self.moves(own, move, after).values())
        return total

    def values(self, state):
        own = [int(face) for face in state.dice[self.p.seat]]
        faces = range(1, self.p.n_faces + 1)
        weights = dict.fromkeys(product(faces, repeat=self.p.n_dice_opponent), 1.0)
        last = None
        for i, move in enumerate(state.moves):
            bid = tuple(map(int, move.split()))
            if i % 2 != self.p.seat:
                weights = {r: w * self.odds(r, last)[bid] for r, w in weights.items()}
            last = bid
        total = sum(weights.values())
        return {m: v / total for m, v in self.moves(own, last, weights).items()}


@pytest.mark.parametrize("seed", range(12))
def test_values_are_those_of_a_search_over_beliefs(seed):
    dice = ((3, 1, 1), (2, 2, 1), (2, 1, 2), (2, 2, 2))[seed % 4]
    config = LiarsDiceConfig(
        n_faces=dice[0],
        n_dice=dice[1],
        n_dice_opponent=dice[2],
        n_rounds=4,
        n_doubts=1 + seed % 3,
    )
    task = LiarsDiceTask(config)
    problem = task.generate(stream("beliefs", seed))
    beliefs, session, rng, compared = Beliefs(problem), task.begin(problem), stream("b"), 0
    while True:
        found = task.move_values(problem, session.state)
        expected = {
            move if move == "liar" else f"{move[0]} {move[1]}": pytest.approx(value)
            for move, value in beliefs.values(session.state.inner).items()
        }
        assert found == expected
        compared += 1
        legal = list(found)
        move = legal[int(rng.integers(len(legal)))] if compared % 2 else max(found, key=found.get)
        if session.reply(rf"\boxed{{{move}}}").verdict is not None:
            break
    assert compared >= 4


@pytest.mark.parametrize("answer", WRONG)
def test_what_is_no_legal_move_is_refused(answer):
    session = TASK.begin(EASY)
    for _ in range(2):
        assert session.reply(rf"\boxed{{{answer}}}").verdict is None
    assert session.reply(rf"\boxed{{{answer}}}").verdict.score == 0.0


@pytest.mark.parametrize(
    "answer", ["liar", "Liar", "LIAR", "call liar", "I call liar", r"\text{liar}"]
)
def test_the_spellings_of_the_best_move(answer):
    verdict = TASK.begin(EASY).reply(rf"\boxed{{{answer}}}").verdict
    assert verdict.score == 1.0


@pytest.mark.parametrize("answer", ["2 3", "bid 2 dice of face 3", "(2, 3)", "2 dice showing 3"])
def test_a_bid_that_loses_value_is_wrong(answer):
    verdict = TASK.begin(EASY).reply(rf"\boxed{{{answer}}}").verdict
    assert verdict is not None
    assert verdict.score == 0.0
    assert verdict.parts["regret"] > 0


@pytest.mark.parametrize("level", [0, 3, 6, 10])
def test_the_oracle_is_right_whatever_the_dice(level):
    task = LiarsDiceTask(LiarsDiceConfig.at(level))
    outcomes = []
    for seed in range(6):
        problem = task.generate(stream("dice", level, seed))
        verdict = task.replay(problem, task.play(problem))
        assert verdict.score == 1.0
        outcomes.append(verdict.parts["outcome"])
    assert len(set(outcomes)) > 1


def test_a_legal_move_at_random_is_seldom_right():
    task = LiarsDiceTask(LiarsDiceConfig.at(2))
    right = 0.0
    for seed in range(30):
        problem, rng = task.generate(stream("random", seed)), stream("moves", seed)

        def move(state, problem=problem, rng=rng):
            legal = task.game(problem).actions(state)
            return legal[int(rng.integers(len(legal)))]

        right += task.replay(problem, task.moves(problem, move)).score
    assert right <= 2
