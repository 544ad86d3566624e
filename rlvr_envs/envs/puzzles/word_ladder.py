"""Word ladder: from one word to another, changing one letter at a time."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.moves.scoring import graded
from rlvr_envs.generators.words.english import LONGEST, SHORTEST, words_of
from rlvr_envs.verifiers import parse

_ARROW = re.compile(r"[-=]>|→|\\(?:to|rightarrow|Rightarrow)(?![A-Za-z])")
_TRIES = 12  # starts tried for a ladder of the required length


@dataclass(frozen=True, slots=True, kw_only=True)
class WordLadderConfig(TaskConfig):
    """The length of the words and of the ladder, and the size of the list."""

    word_length: int = knob(4, "letters of a word", low=SHORTEST, high=LONGEST)
    n_steps: int = knob(
        5, "steps of a shortest ladder; fewer if no two words are so far apart", low=1
    )
    n_words: int = knob(40, "words listed, including those of the ladder")
    optimal_only: bool = knob(False, "a longer ladder earns only fewest steps / steps")

    def check(self) -> None:
        if self.n_words <= self.n_steps:
            raise ConfigError(f"need n_words > n_steps, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "WordLadderConfig":
        """The ladder grows by a step a level, the list of words faster, and the words lengthen."""
        return cls(
            word_length=3 if difficulty < 3 else 4 if difficulty < 11 else 5,
            n_steps=2 + difficulty,
            n_words=8 + 4 * difficulty + 4 * difficulty**2,
        )


@dataclass(frozen=True, slots=True)
class WordLadderProblem:
    """Two words, and the words of the same length that may be used."""

    start: str
    goal: str
    words: tuple[str, ...]
    optimal_only: bool
    ladder: tuple[str, ...] = hidden()  # a shortest one


@register("WordLadder-v0", domain="puzzles")
class WordLadderTask(Task[WordLadderConfig, WordLadderProblem]):
    """Find a chain of listed words in which neighbours differ in one letter.

    Description:
        Two words lie a stated number of steps apart in the graph of common English words. A
        shortest way between them is listed, in alphabetical order, among words that branch off it
        and words drawn at random.

    Observation:
        Both words and the list of the words that may be used.

    Action:
        The words of the ladder in order, both ends included, separated by commas.

    Reward:
        1 for any ladder, otherwise 0. Under `optimal_only`: the least number of steps divided by
        the number taken.

    Verification:
        Each word is looked up in the list and compared with the one before it. No word may be
        used twice. The least number of steps is exact: every ladder in the list is also one
        among all words, where the listed one is a shortest. No known gaps.

    Difficulty:
        The ladder and the list grow; words have three letters at first, then
        four, and five from level 11.

    References:
        Carroll, "Doublets: A Word-Puzzle", 1879. The words are from SCOWL.
    """

    def generate(self, rng: Rng) -> WordLadderProblem:
        config = self.config
        ladder = _draw_ladder(rng, config.word_length, config.n_steps)
        words = _surrounded(rng, ladder, config.n_words)
        return WordLadderProblem(ladder[0], ladder[-1], words, config.optimal_only, ladder)

    def prompt(self, problem: WordLadderProblem) -> str:
        wanted = (
            " A ladder with as few words as possible earns full marks; a longer one earns less."
        )
        return (
            f'Find a word ladder from "{problem.start}" to "{problem.goal}". A word ladder is a '
            "sequence of words in which each word differs from the one before it in exactly one "
            f'letter, in the same position. It must start with "{problem.start}" and end with '
            f'"{problem.goal}". Use only words from this list, and each of them at most once:\n\n'
            f"{' '.join(problem.words)}\n\n"
            "Answer with all words of the ladder in order, including the first and the last, "
            f"separated by commas.{wanted if problem.optimal_only else ''}"
        )

    def verify(self, problem: WordLadderProblem, answer: str) -> Verdict:
        ladder = _read(answer)
        if ladder is None:
            return Verdict.unparsable("expected words separated by commas")
        if (ladder[0], ladder[-1]) != (problem.start, problem.goal):
            ends = f"{problem.start!r} to {problem.goal!r}"
            return Verdict.wrong(f"the ladder must lead from {ends}")
        listed, before = set(problem.words), ""
        for word in ladder:
            if word not in listed:
                return Verdict.wrong(f"{word!r:.40} is not in the list, or is used twice")
            if before and not _differ_in_one(before, word):
                return Verdict.wrong(f"{before!r} and {word!r} do not differ in exactly one letter")
            listed.remove(word)
            before = word
        return graded(len(ladder) - 1, len(problem.ladder) - 1, optimal_only=problem.optimal_only)

    def solve(self, problem: WordLadderProblem) -> str:
        return ", ".join(problem.ladder)

    def explain(self, problem: WordLadderProblem) -> list[str]:
        """Return the words that each number of steps reaches, and the way back from the goal."""
        links = _links(problem.words)
        steps = []
        far = _distances(links, problem.start, len(problem.ladder) - 1)
        for length in range(1, len(problem.ladder)):
            layer = " ".join(word for word, steps_to in far.items() if steps_to == length)
            steps.append(f"{length} from {problem.start}: {layer}")
        back = ", ".join(reversed(problem.ladder))
        return [*steps, f"Back from {problem.goal}, each word one step nearer: {back}"]

    def effort(self, problem: WordLadderProblem) -> int:
        """Return how many words a breadth-first search visits before it knows the goal."""
        links = _links(problem.words)
        seen, layer = {problem.start}, [problem.start]
        while layer and problem.goal not in seen:
            layer = list(dict.fromkeys(n for word in layer for n in links[word] if n not in seen))
            seen.update(layer)
        return len(seen)

    def baseline(self, rng: Rng, problem: WordLadderProblem) -> str:
        """Step to a word that shares as many letters with the goal as possible, and never back."""
        links = _links(problem.words)
        ladder = [problem.start]
        while ladder[-1] != problem.goal:
            options = [word for word in links[ladder[-1]] if word not in ladder]
            if not options:
                break
            best = max(_shared(word, problem.goal) for word in options)
            ladder.append(pick(rng, [w for w in options if _shared(w, problem.goal) == best]))
        return ", ".join(ladder)


def _read(answer: str) -> list[str] | None:
    """Return the words of an answer in lower case; arrows may stand for the commas."""
    if len(answer) > parse.MAX_CHARACTERS:
        return None
    pieces = parse.words(_ARROW.sub(",", answer))
    return [piece.lower() for piece in pieces] if pieces else None


def _shared(one: str, other: str) -> int:
    return sum(a == b for a, b in zip(one, other, strict=True))


def _differ_in_one(one: str, other: str) -> bool:
    return len(one) == len(other) and _shared(one, other) == len(one) - 1


def _links(words: Collection[str]) -> dict[str, list[str]]:
    """Return word → the words that differ from it in one letter, in the order of ``words``."""
    patterns: dict[tuple[int, str], list[str]] = {}
    for word in words:
        for place in range(len(word)):
            patterns.setdefault((place, word[:place] + word[place + 1 :]), []).append(word)
    found: dict[str, list[str]] = {word: [] for word in words}
    for group in patterns.values():
        for word in group:
            found[word] += [other for other in group if other != word]
    return found


@lru_cache(maxsize=LONGEST)
def _graph(length: int) -> dict[str, list[str]]:
    return _links(words_of(length))


def _draw_ladder(rng: Rng, length: int, n_steps: int) -> tuple[str, ...]:
    """Return a shortest way of ``n_steps`` between two words, or the longest that turned up."""
    graph = _graph(length)
    linked = [word for word in graph if graph[word]]
    steps: dict[str, int] = {}
    for _ in range(_TRIES):
        start = pick(rng, linked)
        found = _distances(graph, start, n_steps)
        if not steps or max(found.values()) > max(steps.values()):
            steps = found
        if max(steps.values()) == n_steps:
            break
    farthest = max(steps.values())
    ladder = [pick(rng, [word for word, far in steps.items() if far == farthest])]
    while steps[ladder[-1]]:
        here = steps[ladder[-1]]
        ladder.append(pick(rng, [w for w in graph[ladder[-1]] if steps.get(w, here) < here]))
    return tuple(reversed(ladder))


def _distances(graph: dict[str, list[str]], start: str, limit: int) -> dict[str, int]:
    """Return word → steps from ``start``, for the words up to ``limit`` steps away."""
    steps, layer = {start: 0}, [start]
    for step in range(1, limit + 1):
        layer = list(dict.fromkeys(n for word in layer for n in graph[word] if n not in steps))
        steps.update(dict.fromkeys(layer, step))
    return steps


def _surrounded(rng: Rng, ladder: tuple[str, ...], count: int) -> tuple[str, ...]:
    """Return the ladder's words and others, in alphabetical order: branches, and any words."""
    length = len(ladder[0])
    graph, every = _graph(length), words_of(length)
    if count >= len(every):
        return every
    words = list(ladder)
    known = set(words)
    for _ in range(count - len(words)):  # some find nothing new
        word = pick(rng, graph[pick(rng, words)])
        if word not in known and integer(rng, 0, 3):
            known.add(word)
            words.append(word)
    strangers = [every[i] for i in rng.permutation(len(every)).tolist() if every[i] not in known]
    return tuple(sorted(words + strangers[: count - len(words)]))
