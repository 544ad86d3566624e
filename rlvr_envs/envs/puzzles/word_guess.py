"""Word guess: find a hidden word from marks for the letters of each guess."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.task import InteractiveTask
from rlvr_envs.generators.guessing import (
    MAX_TRIES,
    GuessingSession,
    boxed,
    guesses,
    protocol,
)
from rlvr_envs.generators.words.english import LONGEST, SHORTEST, read_word, words_of

RIGHT, MISPLACED, ABSENT = "right", "misplaced", "absent"

_REDRAWS = 8  # of a word that takes the consistent player too many tries
_COMPARED = 30  # candidates that the player tells apart by all answers they could get


@dataclass(frozen=True, slots=True, kw_only=True)
class WordGuessConfig(TaskConfig):
    """The length of the words, the size of the list and the number of guesses."""

    word_length: int = knob(5, "letters of a word", low=SHORTEST, high=LONGEST)
    n_words: int = knob(
        100, "words listed, one of which is the secret; fewer if there are not enough", low=2
    )
    n_tries: int = knob(6, "guesses allowed", low=1, high=MAX_TRIES)

    @classmethod
    def at(cls, difficulty: int) -> "WordGuessConfig":
        """The list of words grows up to a thousand; levels 8 and 20 take a try away."""
        return cls(
            word_length=3 if difficulty < 3 else 4 if difficulty < 6 else 5,
            n_words=min(1000, 10 + 8 * difficulty + 5 * difficulty**2),
            n_tries=5 if difficulty < 8 else 4 if difficulty < 20 else 3,
        )


@dataclass(frozen=True, slots=True)
class WordGuessProblem:
    """The listed words in alphabetical order, and the secret."""

    words: tuple[str, ...]
    n_tries: int
    secret: str = hidden()


class WordGuessSession(GuessingSession):
    """One game."""

    def __init__(self, problem: WordGuessProblem) -> None:
        super().__init__(problem.secret, problem.n_tries)
        self._words = frozenset(problem.words)

    @property
    def form(self) -> str:
        return "one of the listed words"

    def read(self, answer: str) -> str | None:
        word = read_word(answer)
        return word if word in self._words else None

    def told(self, guess: str) -> str:
        marked = zip(guess, marks(self._secret, guess), strict=True)
        return f"{guess}: {', '.join(f'{letter} {mark}' for letter, mark in marked)}."


@register("WordGuess-v0", domain="puzzles", max_turns=MAX_TRIES)
class WordGuessTask(InteractiveTask[WordGuessConfig, WordGuessProblem]):
    r"""Guess which word of a list is the secret.

    Description:
        The secret is drawn evenly from the listed words. A draw is repeated if a player who guesses
        only words that fit all marks needs too many tries; if no draw will do, there are as many
        tries as that player needs.

    Observation:
        The rules and the words; after each guess, for each of its letters, whether it is in the
        right position, misplaced or absent.

    Action:
        A message with one of the words in \boxed{}.

    Reward:
        1 for the secret within the tries, otherwise 0.

    Episode End:
        With the secret, or with the last try. A message without a listed word is a try too.

    Verification:
        The guess is compared with the secret. No known gaps.

    Difficulty:
        The list of words grows, the words are of three letters at first, of five from level 6 on,
        and later there are fewer tries.

    References:
        Wardle, "Wordle", 2021, whose marks for repeated letters these are. The words are from
        SCOWL.
    """

    def generate(self, rng: Rng) -> WordGuessProblem:
        config = self.config
        every = words_of(config.word_length)
        chosen = sorted(rng.permutation(len(every))[: config.n_words].tolist())
        words = tuple(every[i] for i in chosen)
        best, fewest = "", 0
        for _ in range(_REDRAWS):
            secret = pick(rng, words)
            needed = len(_solved(secret, words))
            if not best or needed < fewest:
                best, fewest = secret, needed
            if fewest <= config.n_tries:
                break
        return WordGuessProblem(words, max(config.n_tries, fewest), best)

    def prompt(self, problem: WordGuessProblem) -> str:
        return (
            "One of the words below is the secret. Find it by guessing. Each guess must be one of "
            "these words. After a guess, each of its letters gets one of these marks:\n\n"
            f'- "{RIGHT}": the secret has this letter in the same position.\n'
            f'- "{MISPLACED}": the secret has this letter, but not in this position.\n'
            f'- "{ABSENT}": the secret does not have this letter.\n\n'
            "Each letter of the secret counts for at most one letter of the guess: first for a "
            f'"{RIGHT}" letter, then for "{MISPLACED}" letters from left to right. A letter of the '
            f'guess for which no letter of the secret is left is "{ABSENT}". For example, if the '
            'secret were "abbey", the marks for the guess "babes" would be: b misplaced, a '
            "misplaced, b right, e right, s absent.\n\n"
            f"Words: {' '.join(problem.words)}\n\n{protocol(problem.n_tries, problem.words[0])}"
        )

    def begin(self, problem: WordGuessProblem) -> WordGuessSession:
        return WordGuessSession(problem)

    def play(self, problem: WordGuessProblem) -> list[str]:
        return boxed(_solved(problem.secret, problem.words))

    def effort(self, problem: WordGuessProblem) -> int:
        """Count the words that the oracle compares with the marks, over all its guesses."""
        left, compared = list(problem.words), 0
        for guess in _solved(problem.secret, problem.words):
            compared += len(left)
            answer = marks(problem.secret, guess)
            left = [word for word in left if marks(word, guess) == answer]
        return compared

    def baseline(self, rng: Rng, problem: WordGuessProblem) -> list[str]:
        """Guess listed words at random, whatever the marks are."""
        order = iter(rng.permutation(len(problem.words)).tolist())
        return self.played(
            problem, lambda _: boxed([problem.words[next(order)]])[0], turns=len(problem.words)
        )


def marks(secret: str, guess: str) -> tuple[str, ...]:
    """Return the mark of every letter of a guess."""
    left = Counter(a for a, b in zip(secret, guess, strict=True) if a != b)
    found = []
    for letter, there in zip(guess, secret, strict=True):
        if letter == there:
            found.append(RIGHT)
        elif left[letter]:
            left[letter] -= 1
            found.append(MISPLACED)
        else:
            found.append(ABSENT)
    return tuple(found)


def _solved(secret: str, words: Sequence[str]) -> list[str]:
    """Return the guesses of a player who only names words that fit every answer so far."""
    candidates = list(words)

    def first(told: list[tuple[str, tuple[str, ...]]]) -> str:
        if told:
            guess, answer = told[-1]
            candidates[:] = [word for word in candidates if marks(word, guess) == answer]
        return _telling(candidates)

    return guesses(secret, first, marks)


def _telling(candidates: Sequence[str]) -> str:
    """Return the candidate whose answer would say most, or nearly so where there are many."""
    if len(candidates) > _COMPARED:
        occurs = Counter(letter for word in candidates for letter in set(word))
        return max(candidates, key=lambda word: sum(occurs[letter] for letter in set(word)))

    def left(guess: str) -> int:
        sizes = Counter(marks(word, guess) for word in candidates)
        return sum(size * size for size in sizes.values())

    return min(candidates, key=left)
