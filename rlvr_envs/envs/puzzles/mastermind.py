"""Mastermind: find a hidden code from the numbers of right places and letters of guesses."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from rlvr_envs.core.errors import ConfigError
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
    tries_in_words,
)
from rlvr_envs.verifiers.markup import unmarked

Marks = tuple[int, int]  # letters at the right place; letters that occur, but elsewhere

_MOST_CODES = 10**8  # among which the oracle still finds consistent ones in a second
_REDRAWS = 8  # of a code that takes the consistent player too many tries
# Places and letters, by level.
_LEVELS = (
    *((2, 3), (2, 5), (3, 4), (3, 6), (4, 5), (4, 7)),
    *((4, 8), (5, 7), (5, 9), (6, 7), (6, 9), (6, 10)),
    *((6, 11), (7, 8), (7, 9), (7, 10), (7, 11), (7, 12)),
)
_SEPARATORS = re.compile(r"[\s,;]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class MastermindConfig(TaskConfig):
    """How long the code is, of how many letters, and how many guesses are allowed."""

    n_places: int = knob(4, "places of the code", low=1, high=10)
    n_letters: int = knob(6, "letters of the alphabet", low=2, high=len(ascii_uppercase))
    n_tries: int = knob(9, "guesses allowed", low=1, high=MAX_TRIES)

    def check(self) -> None:
        if self.n_letters**self.n_places > _MOST_CODES:
            raise ConfigError(
                f"n_letters to the power of n_places must be at most {_MOST_CODES:,}, got {self}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "MastermindConfig":
        """The number of codes about triples with each level: more places, more letters or both.

        From level 17 on there are seven places and twelve letters; levels above 20 take tries away.
        """
        places, letters = _LEVELS[min(difficulty, len(_LEVELS) - 1)]
        tries = 5 + min(difficulty, 20) // 2 - min(5, max(0, difficulty - 20) // 2)
        return cls(n_places=places, n_letters=letters, n_tries=tries)


@dataclass(frozen=True, slots=True)
class MastermindProblem:
    """The length and the letters of the code, the number of tries, and the code."""

    n_places: int
    letters: str
    n_tries: int
    code: str = hidden()


class MastermindSession(GuessingSession):
    """One game."""

    def __init__(self, problem: MastermindProblem) -> None:
        super().__init__(problem.code, problem.n_tries)
        self._problem = problem

    @property
    def form(self) -> str:
        places = self._problem.n_places
        count = "1 letter" if places == 1 else f"{places} letters"
        return f"{count} from {', '.join(self._problem.letters)}"

    def read(self, answer: str) -> str | None:
        if len(answer) > 100:
            return None
        letters = _SEPARATORS.sub("", unmarked(answer))
        known = {*self._problem.letters, *self._problem.letters.lower()}
        if len(letters) != self._problem.n_places or not known.issuperset(letters):
            return None
        return letters.upper()

    def told(self, guess: str) -> str:
        right, elsewhere = marks(self._secret, guess)
        return f"{guess}: right place {right}, wrong place {elsewhere}."


@register("Mastermind-v0", domain="puzzles", max_turns=MAX_TRIES)
class MastermindTask(InteractiveTask[MastermindConfig, MastermindProblem]):
    r"""Find a hidden code of letters in several guesses.

    Description:
        Some letters of the alphabet are drawn, then a code of them, in which letters may repeat.
        The code is drawn again if a player who always guesses the first consistent code needs too
        many tries. Where no draw is easy enough, there are as many tries as that player needs.

    Observation:
        The rules; after each guess, how many of its letters are in the right place, and how many
        others occur in another place, counted as in the board game: a letter of the code is matched
        with one letter of the guess.

    Action:
        A message with a guess in \boxed{}, such as \boxed{ABCA}; upper or lower case, with or
        without spaces or commas.

    Reward:
        1 for the code within the tries, otherwise 0.

    Episode End:
        With the code, or with the last try. A message without a proper guess is a try too.

    Verification:
        The guess is compared with the code. No known gaps.

    Difficulty:
        The code grows, and so does the number of letters; more slowly, the number of tries. A
        longer code and more letters make each answer fit more codes, so that a guess has to be
        checked against all the answers so far.

    References:
        Knuth, "The Computer as Master Mind", 1977. The oracle only ever guesses codes that fit all
        answers so far.
    """

    def generate(self, rng: Rng) -> MastermindProblem:
        config = self.config
        drawn = sorted(rng.permutation(len(ascii_uppercase))[: config.n_letters].tolist())
        letters = "".join(ascii_uppercase[i] for i in drawn)
        best, fewest = "", 0
        for _ in range(_REDRAWS):
            code = "".join(pick(rng, letters) for _ in range(config.n_places))
            needed = len(_solved(code, letters))
            if not best or needed < fewest:
                best, fewest = code, needed
            if fewest <= config.n_tries:
                break
        return MastermindProblem(config.n_places, letters, max(config.n_tries, fewest), best)

    def prompt(self, problem: MastermindProblem) -> str:
        places = "1 letter" if problem.n_places == 1 else f"{problem.n_places} letters"
        return (
            f"Find a secret code of {places}. Each letter is one of {', '.join(problem.letters)}; "
            "a letter may occur more than once. After each wrong guess you get two numbers. “Right "
            "place” counts the letters of the guess that the code has in the same place. “Wrong "
            "place” counts the other letters of the guess that the code has in another place; each "
            "letter of the code is matched with at most one letter of the guess. For example, if "
            "the code is BACC and the guess is ABCA, you get: right place 1, wrong place 2. (C is "
            "in its place; B and one A are in wrong places; the other A has no match left.)\n\n"
            f"You have {tries_in_words(problem.n_tries)}. Make one guess of {places} in each "
            f"message, in \\boxed{{}}: the guess of the example would be {boxed(['ABCA'])[0]}. A "
            "message without a proper guess counts as a try."
        )

    def begin(self, problem: MastermindProblem) -> MastermindSession:
        return MastermindSession(problem)

    def play(self, problem: MastermindProblem) -> list[str]:
        return boxed(_solved(problem.code, problem.letters))

    def effort(self, problem: MastermindProblem) -> int:
        """Count the letters that are compared to check each guess of the oracle with all before."""
        made = len(_solved(problem.code, problem.letters))
        return problem.n_places * made * (made + 1) // 2

    def baseline(self, rng: Rng, problem: MastermindProblem) -> list[str]:
        """Guess random codes, whatever the answers are."""

        def policy(_: str) -> str:
            letters = (pick(rng, problem.letters) for _ in range(problem.n_places))
            return boxed(["".join(letters)])[0]

        return self.played(problem, policy, turns=problem.n_tries)


def marks(code: str, guess: str) -> Marks:
    """Return how many letters of a guess are at their place, and how many others occur."""
    right = sum(a == b for a, b in zip(code, guess, strict=True))
    return right, (Counter(code) & Counter(guess)).total() - right


def _solved(code: str, letters: str) -> list[str]:
    """Return the guesses of a player who always names the first code that fits every answer."""
    return guesses(code, lambda told: _Search(len(code), letters, told).code(), marks)


class _Search:
    """Fills the places of a code from the left, and counts what it has in common with each guess.

    A beginning is given up as soon as it has too many matches with a guess, or too few to come.
    """

    def __init__(self, n_places: int, letters: str, history: Sequence[tuple[str, Marks]]) -> None:
        self._letters = letters
        self._rest = n_places
        self._asked = [
            (guess, Counter(guess), right, right + elsewhere)
            for guess, (right, elsewhere) in history
        ]
        self._code: list[str] = []
        self._used: Counter[str] = Counter()
        self._shared = [(0, 0)] * len(history)  # letters at their place, letters in all

    def code(self) -> str:
        if not self._fill():
            raise ValueError("no code gives these answers")
        return "".join(self._code)

    def _fill(self) -> bool:
        if not self._rest:
            return True
        shift = (len(self._code) + len(self._asked)) % len(self._letters)
        before = self._shared
        self._rest -= 1
        for letter in self._letters[shift:] + self._letters[:shift]:
            shared = self._with(letter)
            if shared is None:
                continue
            self._shared = shared
            self._code.append(letter)
            self._used[letter] += 1
            if self._fill():
                return True
            self._code.pop()
            self._used[letter] -= 1
            self._shared = before
        self._rest += 1
        return False

    def _with(self, letter: str) -> list[tuple[int, int]] | None:
        """Return what a longer beginning shares with each guess, or None if it fits no answer."""
        place, used, rest = len(self._code), self._used[letter], self._rest
        found = []
        for asked, (placed, shared) in zip(self._asked, self._shared, strict=True):
            guess, counts, right, both = asked
            here = placed + (guess[place] == letter)
            total = shared + (used < counts[letter])
            if not here <= right <= here + rest or not total <= both <= total + rest:
                return None
            found.append((here, total))
        return found
