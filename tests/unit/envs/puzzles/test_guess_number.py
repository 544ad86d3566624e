"""GuessNumber: every number of small ranges, hostile messages, the last try."""

import re

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.guess_number import (
    GuessNumberConfig,
    GuessNumberProblem,
    GuessNumberTask,
    _tries,
)

TASK = GuessNumberTask(GuessNumberConfig())
PROBLEM = GuessNumberProblem(1001, 1008, 4, 1005)


@pytest.mark.parametrize("size", [2, 3, 7, 8, 20])
def test_halving_finds_every_number_in_time_and_fits_what_it_was_told(size):
    task = GuessNumberTask(GuessNumberConfig(n_numbers=size))
    drawn = task.generate(stream("GuessNumber", size))
    assert drawn.high - drawn.low + 1 == size
    longest = 0
    for number in range(drawn.low, drawn.high + 1):
        problem = GuessNumberProblem(drawn.low, drawn.high, drawn.n_tries, number)
        session, left = task.begin(problem), set(range(drawn.low, drawn.high + 1))
        actions = task.play(problem)
        longest = max(longest, len(actions))
        for action in actions:
            guess = int(re.fullmatch(r"\\boxed\{(\d+)\}", action)[1])
            assert guess in left
            reply = session.reply(action)
            if reply.verdict is None:
                left = {n for n in left if (n > guess) == ("larger" in reply.text)} - {guess}
        assert reply.verdict.score == 1.0
    assert longest == drawn.n_tries


def test_numbers_are_spread_over_the_range():
    task = GuessNumberTask(GuessNumberConfig(n_numbers=4))
    problems = [task.generate(stream("spread", seed)) for seed in range(100)]
    assert {problem.number - problem.low for problem in problems} == {0, 1, 2, 3}


def test_answers_and_the_last_try():
    session = TASK.begin(PROBLEM)
    texts = [session.reply(rf"\boxed{{{guess}}}").text for guess in ("1001", "1,006")]
    assert texts[0] == "The number is larger than 1001.\n(3 tries left.)"
    assert texts[1] == "The number is smaller than 1006.\n(2 tries left.)"
    assert session.reply("1005").verdict is None
    verdict = session.reply(r"\boxed{1004}").verdict
    assert verdict.score == 0.0
    assert "1005" not in verdict.detail


def test_the_last_try_may_win():
    session = TASK.begin(PROBLEM)
    for _ in range(3):
        assert session.reply(r"\boxed{1002}").verdict is None
    assert session.reply(r"Well, \boxed{1005}.").verdict.score == 1.0


@pytest.mark.parametrize(
    "action",
    [
        "1005",
        r"\boxed{}",
        r"\boxed{1004.5}",
        r"\boxed{1000}",
        r"\boxed{1009}",
        r"\boxed{-1005}",
        r"\boxed{1005, 1006}",
        r"\boxed{1004} and \boxed{1005}",
        r"\boxed{10²}",
        r"\boxed{NaN}",
        "\\boxed{" + "9" * 5000 + "}",
    ],
)
def test_what_is_no_guess_costs_a_try_and_tells_nothing(action):
    reply = TASK.begin(PROBLEM).reply(action)
    assert reply.verdict is None
    assert "a whole number from 1001 to 1008" in reply.text
    assert "larger" not in reply.text
    assert "smaller" not in reply.text
    assert "(3 tries left.)" in reply.text


@pytest.mark.parametrize("lie", [*range(1, 9), 99])
def test_the_oracle_finds_every_number_whichever_answer_is_false(lie):
    n_tries = _tries(20, 1)
    task = GuessNumberTask(GuessNumberConfig(n_numbers=20, n_lies=1))
    for number in range(101, 121):
        problem = GuessNumberProblem(101, 120, n_tries, number, 1, (lie,))
        actions = task.play(problem)
        assert len(actions) <= n_tries
        assert task.replay(problem, actions).score == 1.0


def test_a_false_answer_is_told_and_announced():
    problem = GuessNumberProblem(1001, 1008, 9, 1005, 1, (2,))
    session = TASK.begin(problem)
    told = [session.reply(r"\boxed{1001}").text.split(".")[0] for _ in range(3)]
    assert [text.split()[3] for text in told] == ["larger", "smaller", "larger"]
    assert "At most 1 answer is false." in TASK.prompt(problem)
    assert "false" not in TASK.prompt(PROBLEM)


def test_counting_upwards_does_not_always_win():
    task, won = GuessNumberTask(GuessNumberConfig.at(0)), 0
    for seed in range(200):
        problem = task.generate(stream("count", seed))
        actions = task.baseline(stream("policy"), problem)
        assert actions[0] == rf"\boxed{{{problem.low}}}"
        won += task.replay(problem, actions).score == 1.0
    assert 110 < won < 160  # four tries for six numbers
    assert task.effort(PROBLEM) == 3  # 1004, 1006, 1005


@pytest.mark.parametrize("knob", [{"n_numbers": 1}, {"n_numbers": 2**64}, {"n_spare": -1}])
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        GuessNumberConfig(**knob)
