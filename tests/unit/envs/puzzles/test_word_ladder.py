"""Word ladder: the whole small world, forms and exploits, the shortest ladder, configuration."""

import functools
import itertools
import operator

import networkx
import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.word_ladder import (
    WordLadderConfig,
    WordLadderProblem,
    WordLadderTask,
)
from rlvr_envs.generators.words.english import words_of

TASK = WordLadderTask(WordLadderConfig.at(0))
SMALL = WordLadderProblem(
    "cat", "dog", ("bat", "cat", "cot", "dog", "dot", "rat"), False, ("cat", "cot", "dot", "dog")
)


def is_ladder(problem, words):
    """Whether words are a ladder, by its definition."""
    steps = [sum(a != b for a, b in zip(*pair, strict=True)) for pair in itertools.pairwise(words)]
    return (
        (words[0], words[-1]) == (problem.start, problem.goal)
        and set(words) <= set(problem.words)
        and len(set(words)) == len(words)
        and set(steps) == {1}
    )


@pytest.mark.parametrize("seed", range(12))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("WordLadder", seed))
    sequences = [s for n in (2, 3, 4) for s in itertools.product(problem.words, repeat=n)]
    right = [s for s in sequences if is_ladder(problem, s)]
    assert min(map(len, right)) == len(problem.ladder)
    for words in sequences:
        verdict = TASK.verify(problem, ", ".join(words))
        assert verdict.score == is_ladder(problem, words)


@functools.cache
def graph(words):
    """All words that differ in one letter, found by comparing every two of them."""
    found = networkx.Graph()
    for one, other in itertools.combinations(words, 2):
        if sum(map(operator.ne, one, other)) == 1:
            found.add_edge(one, other)
    return found


@pytest.mark.parametrize("difficulty", [2, 6, 9])
def test_the_shortest_ladder_is_the_shortest_among_all_words(difficulty):
    task = WordLadderTask(WordLadderConfig.at(difficulty))
    for seed in range(4):
        problem = task.generate(stream("WordLadder", "shortest", seed))
        for words in (problem.words, words_of(len(problem.start))):
            steps = networkx.shortest_path_length(graph(words), problem.start, problem.goal)
            assert steps == len(problem.ladder) - 1 == 2 + difficulty
        assert len(problem.words) == task.config.n_words


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("cat, cot, dot, dog", 1.0),
        ("CAT -> COT -> DOT -> DOG", 1.0),
        ("[cat cot dot dog]", 1.0),
        (r"\text{cat, cot, dot, dog}", 1.0),
        (r"\text{cat} \to \text{cot} \rightarrow \mathrm{dot}, dog", 1.0),
        (r"\text{cat, cot, dot, dog", 0.0),
        ("cat → cot → dot → dog", 1.0),
        ("cat, bat, rat, cat, cot, dot, dog", 0.0),  # a word twice
        ("cat, cat, cot, dot, dog", 0.0),
        ("cot, dot", 0.0),  # without its ends
        ("dog, dot, cot, cat", 0.0),
        ("cat, dog", 0.0),
        ("cat, cot, cog, dog", 0.0),  # a word, but not in the list
        ("cat, cot, dots, dog", 0.0),
        ("cat", 0.0),
        ("", 0.0),
        ("cat, cot, dot, dog.", 1.0),
        ("from cat, cot, dot, dog", 0.0),
        ("cat, " * 20_000 + "dog", 0.0),
    ],
)
def test_forms_and_exploits(answer, score):
    assert TASK.verify(SMALL, answer).score == score


def test_a_ladder_with_detours_passes_unless_the_shortest_is_wanted():
    words = ("bat", "bot", *SMALL.words)
    free = WordLadderProblem("cat", "dog", words, False, SMALL.ladder)
    strict = WordLadderProblem("cat", "dog", words, True, SMALL.ladder)
    detour = "cat, bat, bot, dot, dog"
    assert TASK.verify(free, detour).score == 1.0
    assert TASK.verify(strict, detour).score == pytest.approx(3 / 4)
    assert TASK.verify(strict, "cat, cot, dot, dog").score == 1.0
    assert "as few words as possible" in TASK.prompt(strict)
    assert "as few words as possible" not in TASK.prompt(free)


def test_two_words_of_the_ladder_always_exist():
    longest = WordLadderTask(WordLadderConfig(word_length=8, n_steps=30, n_words=40))
    problem = longest.generate(stream("WordLadder", "rare"))
    assert longest.verify(problem, longest.solve(problem)).score == 1.0
    assert len(problem.ladder) >= 2


@pytest.mark.parametrize(
    "knob",
    [{"word_length": 2}, {"word_length": 9}, {"n_steps": 0}, {"n_words": 5}],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        WordLadderConfig(**knob)
