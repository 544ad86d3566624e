"""Mastermind: answers by an independent count, the game to its end, hostile messages."""

import itertools
import re

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.mastermind import (
    MastermindConfig,
    MastermindProblem,
    MastermindTask,
    marks,
)

TASK = MastermindTask(MastermindConfig())
PROBLEM = MastermindProblem(4, "ABCDEF", 5, "BACC")


def counted(code, guess):
    """The answer to a guess, found by crossing letters out."""
    code, guess = list(code), list(guess)
    right = 0
    for place in reversed(range(len(code))):
        if code[place] == guess[place]:
            right += 1
            del code[place], guess[place]
    elsewhere = 0
    for letter in guess:
        if letter in code:
            elsewhere += 1
            code.remove(letter)
    return right, elsewhere


def test_every_answer_of_a_small_game():
    codes = ["".join(letters) for letters in itertools.product("ABC", repeat=4)]
    for code, guess in itertools.product(codes, repeat=2):
        assert marks(code, guess) == counted(code, guess)


@pytest.mark.parametrize("difficulty", [0, 3, 6])
def test_the_oracle_wins_and_every_guess_fits_what_it_was_told(difficulty):
    task = MastermindTask(MastermindConfig.at(difficulty))
    for seed in range(10):
        problem = task.generate(stream("Mastermind", seed))
        session, told = task.begin(problem), []
        actions = task.play(problem)
        assert len(actions) <= problem.n_tries
        for action in actions:
            guess = re.fullmatch(r"\\boxed\{([A-Z]+)\}", action)[1]
            assert all(counted(guess, earlier) == answer for earlier, answer in told)
            reply = session.reply(action)
            if reply.verdict is None:
                right, elsewhere = re.search(
                    r"right place (\d+), wrong place (\d+)", reply.text
                ).groups()
                told.append((guess, (int(right), int(elsewhere))))
        assert reply.verdict.score == 1.0
        assert reply.verdict.parts["tries"] == len(actions)


def test_an_answer_is_told_in_words():
    reply = TASK.begin(PROBLEM).reply(r"Perhaps \boxed{a, b, c, a}?")
    assert reply.text == "ABCA: right place 1, wrong place 2.\n(4 tries left.)"
    assert reply.verdict is None
    assert "right place 1, wrong place 2" in TASK.prompt(PROBLEM)


@pytest.mark.parametrize(
    "action", [r"\boxed{BACC}", r"\boxed{b a c c}", r"\boxed{\text{BACC}}", r"So: \boxed{B,A,C,C}."]
)
def test_the_code_wins_in_any_form(action):
    assert TASK.begin(PROBLEM).reply(action).verdict.score == 1.0


@pytest.mark.parametrize(
    "action",
    [
        "BACC",
        "",
        r"\boxed{}",
        r"\boxed{BAC}",
        r"\boxed{BACCC}",
        r"\boxed{BACG}",
        r"\boxed{BACC or AACC}",
        r"\boxed{\u212aACC}",
        r"<think>\boxed{BACC}</think> no idea",
        "\\boxed{" + "B" * 10_000 + "}",
    ],
)
def test_what_is_no_guess_costs_a_try_and_tells_nothing(action):
    session = TASK.begin(PROBLEM)
    reply = session.reply(action)
    assert reply.verdict is None
    assert "4 letters from A, B, C, D, E, F" in reply.text
    assert "right place" not in reply.text
    assert "(4 tries left.)" in reply.text


def test_of_two_guesses_the_last_counts():
    assert "AACC" in TASK.begin(PROBLEM).reply(r"\boxed{BACC} or rather \boxed{AACC}").text


def test_effort_and_baseline():
    """Each guess is compared with all before it and with the code, letter by letter."""
    made = len(TASK.play(PROBLEM))
    assert TASK.effort(PROBLEM) == 4 * sum(range(1, made + 1))
    actions = TASK.baseline(stream("policy"), PROBLEM)
    assert len(actions) == 5
    assert all(re.fullmatch(r"\\boxed\{[A-F]{4}\}", action) for action in actions)


def test_every_level_has_more_codes():
    configs = [MastermindConfig.at(level) for level in range(18)]
    codes = [config.n_letters**config.n_places for config in configs]
    assert codes == sorted(set(codes))


def test_tries_run_out():
    session = TASK.begin(PROBLEM)
    replies = [session.reply(r"\boxed{AAAA}") for _ in range(5)]
    assert [reply.verdict is None for reply in replies] == [True] * 4 + [False]
    assert replies[3].text.endswith("(1 try left.)")
    assert replies[4].verdict.score == 0.0
    assert "BACC" not in replies[4].verdict.detail


def test_a_game_that_takes_longer_gets_the_tries_it_needs():
    task = MastermindTask(MastermindConfig(n_places=5, n_letters=6, n_tries=1))
    problem = task.generate(stream("Mastermind", "short"))
    assert problem.n_tries == len(task.play(problem)) > 1


@pytest.mark.parametrize(
    "knob",
    [
        {"n_places": 0},
        {"n_places": 11},
        {"n_letters": 1},
        {"n_letters": 27},
        {"n_letters": 10, "n_places": 9},
        {"n_tries": 0},
        {"n_tries": 65},
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        MastermindConfig(**knob)
