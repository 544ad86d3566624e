"""Guess a number: find it in a range by hearing whether it is larger or smaller."""

import itertools
import math
import re
from dataclasses import dataclass, replace

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.core.task import InteractiveTask
from rlvr_envs.generators.guessing import MAX_TRIES, GuessingSession, boxed, protocol
from rlvr_envs.verifiers import parse

LARGER, SMALLER = "larger", "smaller"
_TOLD = re.compile(rf"The number is ({LARGER}|{SMALLER}) than (\d+)\.")
_MOST_DIGITS = 30  # of a guess


@dataclass(frozen=True, slots=True, kw_only=True)
class GuessNumberConfig(TaskConfig):
    """How many numbers there are, how many answers may be false, and how many tries are spare."""

    n_numbers: int = knob(1000, "numbers that the secret is one of", low=2)
    n_spare: int = knob(
        0, "tries beyond those that a player needs who halves the range each time", low=0
    )
    n_lies: int = knob(0, "answers that may be false", low=0, high=3)

    def check(self) -> None:
        if _tries(self.n_numbers, self.n_lies) + self.n_spare > MAX_TRIES:
            raise ConfigError(f"need n_numbers for at most {MAX_TRIES} tries, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "GuessNumberConfig":
        """The range doubles with each level, from 6 numbers up to some 10**12.

        Levels 0 to 2 have a spare try. From level 6 on one answer may be false, from level 9 on
        two.
        """
        return cls(
            n_numbers=6 * 2 ** min(difficulty, 37),
            n_spare=int(difficulty < 3),
            n_lies=(difficulty >= 6) + (difficulty >= 9),
        )


@dataclass(frozen=True, slots=True)
class GuessNumberProblem:
    """The range, both ends included, and the number."""

    low: int
    high: int
    n_tries: int
    number: int = hidden()
    n_lies: int = 0
    lies: tuple[int, ...] = hidden(())  # the tries, from 1, that are answered falsely


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
        is_larger = int(self._secret) > int(guess)
        if self._tries in self._problem.lies:
            is_larger = not is_larger
        return f"The number is {LARGER if is_larger else SMALLER} than {guess}."


@register("GuessNumber-v0", domain="puzzles", max_turns=MAX_TRIES)
class GuessNumberTask(InteractiveTask[GuessNumberConfig, GuessNumberProblem]):
    r"""Find a number in a range; each guess is answered with "larger" or "smaller".

    Description:
        The range begins anywhere, and the number is drawn evenly from it. There are as many tries
        as always suffice for a player who halves the range, and at the first levels one more. At
        high levels an answer or two may be false; then there are about as many tries as the best
        player needs, and asking everything twice takes too many.

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
        The range grows. Then answers may be false, so that the player has to weigh what each
        number would make of the answers so far.

    References:
        Knuth, "The Art of Computer Programming", volume 3, section 6.2.1, on binary search.
        Rivest, Meyer, Kleitman, Winklmann and Spencer, "Coping with Errors in Binary Search
        Procedures", 1980, for the oracle's play where answers may be false.
    """

    def generate(self, rng: Rng) -> GuessNumberProblem:
        size, n_lies = self.config.n_numbers, self.config.n_lies
        low = integer(rng, 1, 9 * size + 5000)
        n_tries = _tries(size, n_lies) + self.config.n_spare
        problem = GuessNumberProblem(
            low=low,
            high=low + size - 1,
            n_tries=n_tries,
            number=integer(rng, low, low + size - 1),
            n_lies=n_lies,
            lies=tuple(sorted(1 + i for i in rng.permutation(n_tries)[:n_lies].tolist())),
        )
        return replace(problem, n_tries=max(n_tries, len(self.play(problem))))

    def prompt(self, problem: GuessNumberProblem) -> str:
        lies = ""
        if problem.n_lies:
            answers = "answer is" if problem.n_lies == 1 else "answers are"
            lies = f" At most {problem.n_lies} {answers} false."
        return (
            f"Guess a secret whole number from {problem.low} to {problem.high}, inclusive. If your "
            f'guess is wrong, you are told whether the number is "{LARGER}" or "{SMALLER}" than '
            f"your guess.{lies}\n\n{protocol(problem.n_tries, str(problem.low))}"
        )

    def begin(self, problem: GuessNumberProblem) -> GuessNumberSession:
        return GuessNumberSession(problem)

    def play(self, problem: GuessNumberProblem) -> list[str]:
        """Halve what is left each time, where a number counts more the fewer lies it would need."""
        left = [(problem.low, problem.high, 0)]
        tries = iter(range(problem.n_tries - 1, -1, -1))

        def policy(text: str) -> str:
            if told := _TOLD.search(text):
                left[:] = _after(left, int(told[2]), told[1], problem.n_lies)
            return boxed([str(_middle(left, next(tries, 0), problem.n_lies))])[0]

        return self.played(replace(problem, n_tries=MAX_TRIES), policy, turns=MAX_TRIES)

    def baseline(self, rng: Rng, problem: GuessNumberProblem) -> list[str]:
        """Count upwards from the low end of the range."""
        numbers = itertools.count(problem.low)
        return self.played(problem, lambda _: boxed([str(next(numbers))])[0], turns=problem.n_tries)


# Numbers from one to another that would make so many of the answers false.
_Range = tuple[int, int, int]


def _after(ranges: list[_Range], guess: int, answer: str, n_lies: int) -> list[_Range]:
    """Return the numbers that are possible after an answer to a wrong guess."""
    found = []
    for low, high, false in ranges:
        for start, end, side in (
            (low, min(high, guess - 1), SMALLER),
            (max(low, guess + 1), high, LARGER),
        ):
            if start <= end and false + (side != answer) <= n_lies:
                found.append((start, end, false + (side != answer)))
    return found


def _middle(ranges: list[_Range], n_tries: int, n_lies: int) -> int:
    """Return the number at which half of the weight is reached.

    A number weighs as much as there are ways to answer the tries left if it is the secret.
    """
    weighed = [(low, high, _ways(n_tries, n_lies - false)) for low, high, false in ranges]
    half = (sum((high - low + 1) * weight for low, high, weight in weighed) + 1) // 2
    for low, high, weight in weighed:
        if half <= (high - low + 1) * weight:
            return low + (half - 1) // weight
        half -= (high - low + 1) * weight
    raise ValueError("no number agrees with the answers")


def _ways(n_tries: int, n_lies: int) -> int:
    """Return in how many ways at most so many of some answers can be false."""
    return sum(math.comb(n_tries, i) for i in range(n_lies + 1))


def _tries(n_numbers: int, n_lies: int) -> int:
    """Return how many tries a player needs who halves what is possible."""
    n_tries = 1
    while n_numbers * _ways(n_tries, n_lies) >= 2**n_tries:
        n_tries += 1
    return n_tries
