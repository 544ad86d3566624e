"""Anagram of several words: choose words from a list that use exactly the given letters."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.words.english import LONGEST, SHORTEST, words_of
from rlvr_envs.verifiers import parse

_OFFERED = 6  # words of which the one that fits the letters best becomes a distractor
_MOST_NODES = 20_000  # of the search that measures effort


@dataclass(frozen=True, slots=True, kw_only=True)
class AnagramConfig(TaskConfig):
    """How many words there are to choose from, how many to choose, and how long they are."""

    n_chosen: int = 3
    n_words: int = 20
    max_length: int = knob(
        5, "letters of the longest words; the shortest have three", low=SHORTEST + 1, high=LONGEST
    )

    def check(self) -> None:
        if not 1 <= self.n_chosen < self.n_words <= 1000:
            raise ConfigError(f"need 1 <= n_chosen < n_words <= 1000, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "AnagramConfig":
        """Two levels in three add a word to choose; all lengthen the list and its words."""
        return cls(
            n_chosen=1 + (2 * difficulty + 1) // 3,
            n_words=min(1000, 5 + 3 * difficulty + difficulty**2 // 2),
            max_length=min(LONGEST, 4 + difficulty // 2),
        )


@dataclass(frozen=True, slots=True)
class AnagramProblem:
    """The letters and the words, both in alphabetical order, and how many words to choose."""

    letters: str
    n_chosen: int
    words: tuple[str, ...]
    chosen: tuple[str, ...] = hidden()


@register("Anagram-v0", domain="puzzles")
class AnagramTask(Task[AnagramConfig, AnagramProblem]):
    """Choose words from a list that together use exactly the given letters.

    Description:
        Some common English words are drawn, and their letters are put into alphabetical order. The
        list mixes these words with others that share most of the letters.

    Observation:
        The letters, the words, and how many words to choose.

    Action:
        The chosen words, separated by commas, in any order.

    Reward:
        1 for the right number of words with exactly the given letters, otherwise 0.

    Verification:
        The letters of the words are counted. Every choice that fits passes. No known gaps.

    Difficulty:
        The words to choose grow in number and length, and the list grows faster.

    References:
        Karp, "Reducibility among Combinatorial Problems", 1972, for exact cover, of which this is
        a form with repeated elements. The words are from SCOWL.
    """

    def generate(self, rng: Rng) -> AnagramProblem:
        config = self.config
        pool, counts = _pool(config.max_length)
        n_drawn = config.n_chosen + _OFFERED * (config.n_words - config.n_chosen)
        order = rng.choice(len(pool), min(n_drawn, len(pool)), replace=False)
        drawn, offered = order[: config.n_chosen], order[config.n_chosen :]
        chosen = [pool[i] for i in drawn.tolist()]
        heap = counts.take(drawn, axis=1).sum(axis=1, keepdims=True)
        spare = np.maximum(counts.take(offered, axis=1) - heap, 0).sum(axis=0)
        starts = np.arange(0, len(spare), _OFFERED)
        if len(spare) % _OFFERED:  # there are not enough words: the last group is smaller
            spare = np.append(spare, [spare.max()] * (-len(spare) % _OFFERED))
        best = starts + spare.reshape(-1, _OFFERED).argmin(axis=1)
        words = chosen + [pool[i] for i in offered[best].tolist()]
        letters = "".join(sorted("".join(chosen)))
        return AnagramProblem(letters, len(chosen), tuple(sorted(words)), tuple(sorted(chosen)))

    def prompt(self, problem: AnagramProblem) -> str:
        one = problem.n_chosen == 1
        task = (
            "Choose one word from the list. It"
            if one
            else f"Choose {problem.n_chosen} different words from the list. Together they"
        )
        form = "the word" if one else "the words in any order, separated by commas"
        return (
            f"{task} must use exactly these letters, each as often as it is shown:\n\n"
            f"{' '.join(problem.letters)}\n\nThe list:\n\n{' '.join(problem.words)}\n\n"
            f"Answer with {form}."
        )

    def verify(self, problem: AnagramProblem, answer: str) -> Verdict:
        words = parse.words(answer)
        if not words:
            return Verdict.unparsable("expected words separated by commas")
        chosen = [word.lower() for word in words]
        if len(chosen) != problem.n_chosen or len(set(chosen)) != len(chosen):
            return Verdict.wrong(f"expected {problem.n_chosen} different words")
        for word in chosen:
            if word not in problem.words:
                return Verdict.wrong(f"{word!r:.40} is not in the list")
        if sorted("".join(chosen)) != list(problem.letters):
            return Verdict.wrong("the words do not use exactly the given letters")
        return Verdict.correct()

    def solve(self, problem: AnagramProblem) -> str:
        return ", ".join(problem.chosen)

    def explain(self, problem: AnagramProblem) -> list[str]:
        """Return word by word where the letter with the fewest words that fit must come from."""
        left, words, chosen = Counter(problem.letters), set(problem.words), set(problem.chosen)
        steps = []
        while chosen:
            fitting = [word for word in sorted(words) if not Counter(word) - left]
            rarest = min(sorted(left), key=lambda letter: sum(letter in word for word in fitting))
            holding = [word for word in fitting if rarest in word]
            word = min(chosen.intersection(holding))
            left -= Counter(word)
            words.remove(word)
            chosen.remove(word)
            rest = " ".join(sorted(left.elements())) or "nothing"
            steps.append(
                f"Words with {rarest} that fit: {', '.join(holding)}. Take {word}, which leaves "
                f"{rest}."
            )
        return steps

    def effort(self, problem: AnagramProblem) -> int:
        """Return how many choices a search tries that always covers the rarest letter first."""
        return _Cover(problem).nodes()

    def baseline(self, rng: Rng, problem: AnagramProblem) -> str:
        """Take words that fit into the letters left, until there are enough or none fits."""
        left, words = Counter(problem.letters), list(problem.words)
        chosen: list[str] = []
        while len(chosen) < problem.n_chosen:
            fitting = [word for word in words if not Counter(word) - left]
            word = pick(rng, fitting or words)
            chosen.append(word)
            words.remove(word)
            left -= Counter(word)
        return ", ".join(chosen)


@lru_cache(maxsize=LONGEST)
def _pool(max_length: int) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the words up to a length, and how often each letter of the alphabet is in each."""
    pool = tuple(w for n in range(SHORTEST, max_length + 1) for w in words_of(n))
    return pool, np.array([[word.count(letter) for word in pool] for letter in ascii_lowercase])


class _Cover:
    """A search for words that use up the letters, with the counts of letters packed in integers.

    A letter has eight bits; the highest is set before a subtraction and is still set after it
    where there were letters enough.
    """

    def __init__(self, problem: AnagramProblem) -> None:
        self._guard = _packed(ascii_lowercase) << 7
        self._letters = sorted(set(problem.letters))
        self._goal, self._n_chosen = _packed(problem.letters), problem.n_chosen
        self._words = {word: _packed(word) for word in problem.words}
        self._nodes = 0

    def nodes(self) -> int:
        fitting = [word for word in self._words if self._fits(word, self._goal)]
        self._search(self._goal, fitting, self._n_chosen)
        return self._nodes

    def _fits(self, word: str, left: int) -> bool:
        return ((left | self._guard) - self._words[word]) & self._guard == self._guard

    def _search(self, left: int, words: list[str], rest: int) -> bool:
        """Return whether ``rest`` of the words, all of which fit, use up the letters left."""
        self._nodes += 1
        if self._nodes >= _MOST_NODES or not left:
            return True
        if not rest:
            return False
        open_letters = [letter for letter in self._letters if left >> _place(letter) & 127]
        rarest = min(open_letters, key=lambda letter: sum(letter in word for word in words))
        remaining = list(words)
        for word in [word for word in words if rarest in word]:
            remaining.remove(word)
            after = left - self._words[word]
            if self._search(after, [w for w in remaining if self._fits(w, after)], rest - 1):
                return True
        return False


def _place(letter: str) -> int:
    return 8 * (ord(letter) - ord("a"))


def _packed(letters: Iterable[str]) -> int:
    return sum(1 << _place(letter) for letter in letters)
