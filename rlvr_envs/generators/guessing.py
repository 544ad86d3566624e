"""What the games have in common in which a secret is guessed, with an answer to every guess."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeVar

from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.task import Reply
from rlvr_envs.core.verdict import Verdict

MAX_TRIES = 64  # the turn limit that these games are registered with

_BOXED = answer_format("boxed")
AnswerT = TypeVar("AnswerT")


class GuessingSession(ABC):
    """One episode: a message with a guess is answered until the guess is right or tries run out.

    A message without a readable guess costs a try as well.
    """

    def __init__(self, secret: str, n_tries: int) -> None:
        self._secret = secret
        self._n_tries = n_tries
        self._tries = 0

    @property
    @abstractmethod
    def form(self) -> str:
        """What a guess has to be, as a noun with its article."""

    @abstractmethod
    def read(self, answer: str) -> str | None:
        """Return the guess in an answer, written as the secret is, or None if it is not one."""

    @abstractmethod
    def told(self, guess: str) -> str:
        """Return what is said to a wrong guess."""

    def reply(self, action: str) -> Reply:
        """Take the guess of a message and answer it."""
        self._tries += 1
        found = _BOXED.extract(action)
        guess = None if found.answer is None else self.read(found.answer)
        if guess == self._secret:
            return Reply("", Verdict.correct(tries=float(self._tries)))
        left = self._n_tries - self._tries
        if left < 1:
            reason = f"not found within {tries_in_words(self._n_tries)}"
            verdict = Verdict.wrong(reason, tries=float(self._tries))
            return Reply("", verdict, void=guess is None, out_of_turns=True)
        told = self._refusal(found.answer) if guess is None else self.told(guess)
        tries = "try" if left == 1 else "tries"
        return Reply(f"{told}\n({left} {tries} left.)", void=guess is None)

    def _refusal(self, answer: str | None) -> str:
        if answer is None:
            return rf"There is no guess in \boxed{{}} in your message. A guess is {self.form}."
        return f"That is no guess: a guess is {self.form}."


def tries_in_words(count: int) -> str:
    """Return ``1 try`` or ``5 tries``."""
    return "1 try" if count == 1 else f"{count} tries"


def protocol(n_tries: int, example: str) -> str:
    """Return how the game goes on, as the last paragraph of a prompt."""
    return (
        f"You have {tries_in_words(n_tries)}. Make one guess in each message, in \\boxed{{}}, for "
        f"example {_BOXED.wrap(example)}. A message without a proper guess counts as a try."
    )


def guesses(
    secret: str,
    first: Callable[[list[tuple[str, AnswerT]]], str],
    answer: Callable[[str, str], AnswerT],
) -> list[str]:
    """Return the guesses of a player who guesses ``first(history)`` until the secret is found.

    The player learns of the secret only ``answer(secret, guess)`` for each guess, and has to name
    something that fits all answers, so that no guess is made twice.
    """
    history: list[tuple[str, AnswerT]] = []
    while not history or history[-1][0] != secret:
        guess = first(history)
        history.append((guess, answer(secret, guess)))
    return [guess for guess, _ in history]


def boxed(made: list[str]) -> list[str]:
    """Return guesses as messages."""
    return [_BOXED.wrap(guess) for guess in made]
