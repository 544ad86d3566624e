"""Pig: chances against plain value iteration over all states, published values, and a red team."""

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.pig import PigConfig, PigProblem, PigTask
from rlvr_envs.generators.games.pig import Pig, PigValues, Scores

TASK = PigTask(PigConfig(n_games=1))
# 1 point is enough to win, and 3 are there: only to hold is best.
DONE = PigProblem(target=10, n_faces=6, n_bad=1, positions=((9, 0, 3),))
WRONG = [
    "",
    "stop",
    "bank",
    "roll or hold",
    "hold, roll",
    "hold hold",
    "not roll",
    "-hold",
    "h",
    "hold 3",
    "3",
    "1",
    "holdhold",
    "hоld",
    "ＨＯＬＤ",
    "pass",
    "I win",
    "NaN",
    "roll again",
    "keep",
    "hold?",
    "You have 9",
    "99999999999999999999",
    "9" * 300,
    "h old",
]


def swept(target, faces, bad):
    """Chances of winning by sweeping all states until nothing changes: own, other, turn."""
    states = [
        (own, other, turn)
        for own in range(target)
        for other in range(target)
        for turn in range(target - own + faces)
    ]
    chance = dict.fromkeys(states, 0.5)

    def start(own, other):
        return 1.0 if own >= target else chance[own, other, 0]

    while True:
        change = 0.0
        for own, other, turn in states:
            if own + turn >= target:
                best = 1.0
            else:
                good = sum(chance[own, other, turn + f] for f in range(bad + 1, faces + 1))
                roll = (bad * (1 - start(other, own)) + good) / faces
                best = max(roll, 1 - start(other, own + turn))
            change = max(change, abs(best - chance[own, other, turn]))
            chance[own, other, turn] = best
        if change < 1e-13:
            return chance


@pytest.mark.parametrize(("target", "faces", "bad"), [(7, 3, 1), (8, 4, 1), (9, 4, 2), (10, 6, 1)])
def test_values_are_those_of_sweeping_all_states(target, faces, bad):
    chance, values = swept(target, faces, bad), PigValues(Pig(target, faces, bad))
    for (own, other, turn), expected in chance.items():
        first = values.value(Scores((own, other), 0, turn))
        second = values.value(Scores((other, own), 1, turn))
        assert first == pytest.approx(2 * expected - 1, abs=1e-9)
        assert second == pytest.approx(1 - 2 * expected, abs=1e-9)


def test_piglet_has_its_published_chances():
    # Neller and Presser: a coin instead of a die, two points win; 4/7, 5/7, 4/5, 2/5, 2/3, 1/2
    # a coin's good side counts 2 here, so scores and target are counted in twos
    values = PigValues(Pig(4, 2, 1))
    published = {
        (0, 0, 0): 4 / 7,
        (0, 0, 1): 5 / 7,
        (0, 1, 0): 2 / 5,
        (0, 1, 1): 3 / 5,
        (1, 0, 0): 4 / 5,
        (1, 1, 0): 2 / 3,
    }
    for (own, other, turn), chance in published.items():
        found = values.value(Scores((2 * own, 2 * other), 0, 2 * turn))
        assert (found + 1) / 2 == pytest.approx(chance)


@pytest.mark.parametrize("answer", WRONG)
def test_what_is_no_legal_move_is_refused(answer):
    session = TASK.begin(DONE)
    for _ in range(2):
        assert session.reply(rf"\boxed{{{answer}}}").verdict is None
    assert session.reply(rf"\boxed{{{answer}}}").verdict.score == 0.0


@pytest.mark.parametrize("answer", ["hold", "Hold", "HOLD", "`hold`", r"\text{hold}", "hold "])
def test_the_spellings_of_the_best_decision(answer):
    verdict = TASK.begin(DONE).reply(rf"\boxed{{{answer}}}").verdict
    assert verdict.score == 1.0
    assert verdict.parts["outcome"] == 1.0


def test_a_lucky_roll_earns_nothing():
    lucky = 0
    for seed in range(20):
        problem = PigProblem(target=10, n_faces=6, n_bad=1, positions=((9, 0, 3),), seed=seed)
        session = TASK.begin(problem)
        reply = session.reply(r"\boxed{roll}")
        while reply.verdict is None:
            best = TASK.best(problem, session.state)
            reply = session.reply(rf"\boxed{{{best}}}")
        assert reply.verdict.score == 0.0
        lucky += reply.verdict.parts["outcome"] > 0
    assert lucky > 5


@pytest.mark.parametrize("level", [0, 3, 6, 10])
def test_the_oracle_is_right_whatever_the_dice(level):
    task = PigTask(PigConfig.at(level))
    outcomes = []
    for seed in range(8):
        problem = task.generate(stream("pig", level, seed))
        verdict = task.replay(problem, task.play(problem))
        assert verdict.score == 1.0
        outcomes.append(verdict.parts["outcome"])
    assert len(set(outcomes)) > 1


def test_one_word_for_every_decision_is_seldom_right():
    task = PigTask(PigConfig.at(3))
    for word in ("roll", "hold"):
        right = 0.0
        for seed in range(20):
            problem = task.generate(stream("word", seed))
            right += task.replay(problem, task.moves(problem, lambda state, w=word: w)).score
        assert right <= 1


def test_what_is_out_of_range_is_refused():
    with pytest.raises(ConfigError, match="n_bad"):
        PigConfig(n_bad=3)
