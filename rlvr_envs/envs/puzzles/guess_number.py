"""Guess a number: find it in a range by hearing whether it is larger or smaller."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.core.task import InteractiveTask
from rlvr_envs.generators.guessing import (
    MAX_TRIES,
    GuessingSession,
    boxed,
    guesses,
    protocol,
)
from rlvr_envs.verifiers import parse

LARGER, SMALLER = "larger", "smaller"
_MOST_DIGITS = 30  # of a guess


@dataclass(frozen=True, slots=True, kw_only=True)
class GuessNumberConfig(TaskConfig):
    """How many numbers there are, and how many tries beyond the halvings that always suffice."""

    n_numbers: int = knob(1000, "numbers that the secret is one of", low=2)
    n_spare: int = knob(
        0, "tries beyond those that a player needs who halves the range each time", low=0
    )

    def check(self) -> None:
        if self.n_numbers.bit_length() + self.n_spare > MAX_TRIES:
            raise ConfigError(f"need n_numbers.bit_length() + n_spare <= {MAX_TRIES}, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "GuessNumberConfig":
        """The range triples a rung, up to 2**60 numbers; spare tries are gone from rung 6 on."""
        return cls(
            n_numbers=min(2**60, 6 * 3 ** min(difficulty, 40)),
            n_spare=max(0, 3 - difficulty // 2),
        )


@dataclass(frozen=True, slots=True)
class GuessNumberProblem:
    """The range, both ends included, and the number."""

    low: int
    high: int
    n_tries: int
    number: int = hidden()


class GuessNumberSession(GuessingSession):
    """One game."""

    def __init__(self, problem: GuessNumberProblem) -> None:
        super().__init__(str(problem.number), problem.n_tries)
        self._problem = problem

    @property
    def form(self) -> str:
        return f"a whole number from {self._problem.low} to {self._problem.high}"

    def read(self, answer: str) -> str | None:
        value = parse.integer(answer, max_digits=_MOST_DIGITS)
        if value is None or not self._problem.low <= value <= self._problem.high:
            return None
        return str(value)

    def told(self, guess: str) -> str:
        return f"The number is {_compared(self._secret, guess)} than {guess}."


@register("GuessNumber-v0", domain="puzzles", max_turns=MAX_TRIES)
class GuessNumberTask(InteractiveTask[GuessNumberConfig, GuessNumberProblem]):
    r"""Find a number in a range; each guess is answered with "larger" or "smaller".

    Description:
        The range begins anywhere, and the number is drawn evenly from it. There are as many tries
        as always suffice for a player who halves the range, and at low rungs a few more.

    Observation:
        The range; after each guess, whether the number is larger or smaller.

    Action:
        A message with a whole number in \boxed{}.

    Reward:
        1 for the number within the tries, otherwise 0.

    Episode End:
        With the number, or with the last try. A message without a number of the range is a try.

    Verification:
        The guess is compared with the number. No known gaps.

    Difficulty:
        The range grows, and with it the number of tries, of which at first some can be wasted.

    References:
        Knuth, "The Art of Computer Programming", volume 3, section 6.2.1, on binary search.
    """

    def generate(self, rng: Rng) -> GuessNumberProblem:
        size = self.config.n_numbers
        low = integer(rng, 1, 9 * size + 1000)
        return GuessNumberProblem(
            low=low,
            high=low + size - 1,
            n_tries=size.bit_length() + self.config.n_spare,
            number=integer(rng, low, low + size - 1),
        )

    def prompt(self, problem: GuessNumberProblem) -> str:
        return (
            f"Find a secret whole number from {problem.low} to {problem.high}, both included. "
            f'Each wrong guess is answered by whether the number is "{LARGER}" or "{SMALLER}" than '
            f"the guess.\n\n{protocol(problem.n_tries, str(problem.low))}"
        )

    def begin(self, problem: GuessNumberProblem) -> GuessNumberSession:
        return GuessNumberSession(problem)

    def play(self, problem: GuessNumberProblem) -> list[str]:
        """Halve the range that is left each time."""

        def middle(told: list[tuple[str, str]]) -> str:
            low = max(
                [problem.low, *(int(guess) + 1 for guess, answer in told if answer == LARGER)]
            )
            high = min(
                [problem.high, *(int(guess) - 1 for guess, answer in told if answer == SMALLER)]
            )
            return str((low + high) // 2)

        return boxed(guesses(str(problem.number), middle, _compared))


def _compared(number: str, guess: str) -> str:
    return LARGER if int(number) > int(guess) else SMALLER
