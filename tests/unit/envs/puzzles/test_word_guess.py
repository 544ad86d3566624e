"""WordGuess: marks by an independent rule, the game to its end, hostile messages."""

import itertools
import re

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.word_guess import (
    WordGuessConfig,
    WordGuessProblem,
    WordGuessTask,
    marks,
)
from rlvr_envs.generators.words.english import words_of

TASK = WordGuessTask(WordGuessConfig())
PROBLEM = WordGuessProblem(("abbey", "babes", "cabin", "eerie"), 3, "abbey")


def marked(secret, guess):
    """The marks of a guess: the n-th copy of a letter out of place is matched if n copies are free."""
    found = []
    for place, letter in enumerate(guess):
        if secret[place] == letter:
            found.append("right")
            continue
        hits = sum(a == b == letter for a, b in zip(secret, guess, strict=True))
        free = secret.count(letter) - hits
        earlier = sum(guess[i] == letter != secret[i] for i in range(place))
        found.append("misplaced" if earlier < free else "absent")
    return tuple(found)


def test_every_answer_of_a_small_game():
    words = ["".join(letters) for letters in itertools.product("ab", "abc", "abc", "ab")]
    for secret, guess in itertools.product(words, repeat=2):
        assert marks(secret, guess) == marked(secret, guess)


def test_answers_to_real_words():
    for secret in words_of(5)[::60]:
        for guess in words_of(5)[::40]:
            assert marks(secret, guess) == marked(secret, guess)
    assert marks("abbey", "babes") == ("misplaced", "misplaced", "right", "right", "absent")
    assert marks("hello", "belle") == ("absent", "right", "right", "right", "absent")


@pytest.mark.parametrize("difficulty", [0, 4, 8])
def test_the_oracle_wins_and_every_guess_fits_what_it_was_told(difficulty):
    task = WordGuessTask(WordGuessConfig.at(difficulty))
    for seed in range(10):
        problem = task.generate(stream("WordGuess", seed))
        assert problem.secret in problem.words
        session, told = task.begin(problem), []
        actions = task.play(problem)
        assert len(actions) <= problem.n_tries
        for action in actions:
            guess = re.fullmatch(r"\\boxed\{([a-z]+)\}", action)[1]
            assert all(marked(guess, earlier) == answer for earlier, answer in told)
            reply = session.reply(action)
            if reply.verdict is None:
                told.append((guess, tuple(re.findall(r" [a-z] ([a-z]+)[,.]", reply.text))))
                assert len(told[-1][1]) == len(guess)
        assert reply.verdict.score == 1.0
        assert reply.verdict.parts["tries"] == len(actions)


def test_an_answer_is_told_in_words():
    reply = TASK.begin(PROBLEM).reply(r"Perhaps \boxed{Babes}?")
    marks_told = "b misplaced, a misplaced, b right, e right, s absent"
    assert reply.text == f"babes: {marks_told}.\n(2 tries left.)"
    assert reply.verdict is None
    assert marks_told in TASK.prompt(PROBLEM)


@pytest.mark.parametrize("action", [r"\boxed{abbey}", r"\boxed{ABBEY}", r'So \boxed{"abbey"}.'])
def test_the_secret_wins_in_any_form(action):
    assert TASK.begin(PROBLEM).reply(action).verdict.score == 1.0


@pytest.mark.parametrize(
    "action",
    [
        "abbey",
        "",
        r"\boxed{abbot}",
        r"\boxed{abbe}",
        r"\boxed{abbey or babes}",
        r"\boxed{abbey, babes}",
        r"<think>\boxed{abbey}</think> no idea",
        "\\boxed{" + "a" * 10_000 + "}",
    ],
)
def test_what_is_no_guess_costs_a_try_and_tells_nothing(action):
    reply = TASK.begin(PROBLEM).reply(action)
    assert reply.verdict is None
    assert "one of the listed words" in reply.text
    assert not {"right", "misplaced", "absent"} & set(re.findall(r"\w+", reply.text))
    assert "(2 tries left.)" in reply.text


def test_effort_counts_the_words_that_are_compared():
    """The oracle starts with one of four words; after its marks the rest is compared again."""
    actions = TASK.play(PROBLEM)
    left, compared = list(PROBLEM.words), 0
    for action in actions:
        guess = action[7:-1]
        compared += len(left)
        left = [word for word in left if marked(word, guess) == marked("abbey", guess)]
    assert TASK.effort(PROBLEM) == compared >= 4 + len(actions) - 1


def test_the_baseline_guesses_listed_words_without_repetition():
    actions = TASK.baseline(stream("policy"), PROBLEM)
    assert len(set(actions)) == len(actions) <= 3
    assert {action[7:-1] for action in actions} <= set(PROBLEM.words)


def test_tries_run_out():
    session = TASK.begin(PROBLEM)
    replies = [session.reply(r"\boxed{eerie}") for _ in range(3)]
    assert [reply.verdict is None for reply in replies] == [True, True, False]
    assert replies[2].verdict.score == 0.0
    assert "abbey" not in replies[2].verdict.detail


def test_a_word_that_takes_longer_gets_the_tries_it_needs():
    task = WordGuessTask(WordGuessConfig(n_words=200, n_tries=1))
    problem = task.generate(stream("WordGuess", "short"))
    assert problem.n_tries == len(task.play(problem)) > 1


def test_lists_are_of_the_size_asked_for_as_far_as_there_are_words():
    for length, n_words in ((5, 100), (3, 5000)):
        task = WordGuessTask(WordGuessConfig(word_length=length, n_words=n_words))
        words = task.generate(stream("WordGuess", "list")).words
        assert list(words) == sorted(set(words))
        assert len(words) == min(n_words, len(words_of(length)))


@pytest.mark.parametrize(
    "knob",
    [{"word_length": 2}, {"word_length": 9}, {"n_words": 1}, {"n_tries": 0}, {"n_tries": 65}],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        WordGuessConfig(**knob)
