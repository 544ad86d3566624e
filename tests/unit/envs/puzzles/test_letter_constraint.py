"""LetterConstraint: every kind by an independent rule, whole small worlds, forms, configuration."""

import functools
import itertools
import re

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.puzzles.letter_constraint import (
    KINDS,
    LetterCondition,
    LetterConstraintConfig,
    LetterConstraintProblem,
    LetterConstraintTask,
)

TASK = LetterConstraintTask(LetterConstraintConfig())

# What the conditions mean, from their words alone: a pattern of the sentence, and a rule.
RULES = [
    (r"(\w) does not occur\.", lambda s, a: a not in s),
    (r"(\w) occurs exactly once\.", lambda s, a: list(s).count(a) == 1),
    (r"(\w) occurs exactly twice\.", lambda s, a: list(s).count(a) == 2),
    (r"(\w) occurs exactly (\d+) times\.", lambda s, a, n: list(s).count(a) == int(n)),
    (r"(\w) occurs more often than (\w)\.", lambda s, a, b: list(s).count(a) > list(s).count(b)),
    (
        r"Positions (\d+) and (\d+) have the same letter\.",
        lambda s, i, j: s[int(i) - 1] == s[int(j) - 1],
    ),
    (
        r"Positions (\d+) and (\d+) have different letters\.",
        lambda s, i, j: s[int(i) - 1] != s[int(j) - 1],
    ),
    (r"The string contains (\w+) as consecutive letters\.", lambda s, part: part in s),
    (
        r"The string does not contain (\w\w) as consecutive letters\.",
        lambda s, part: part not in s,
    ),
    (r"Position (\d+) has (\w) or (\w)\.", lambda s, i, a, b: s[int(i) - 1] in (a, b)),
    (
        r"(\w) and (\w) both occur, and the first \1 comes before the first \2\.",
        lambda s, a, b: re.fullmatch(f"[^{a}{b}]*{a}.*{b}.*", s),
    ),
    (
        r"Every (\w) is immediately followed by (\w)\.",
        lambda s, a, b: not re.search(f"{a}(?!{b})", s),
    ),
    (r"Exactly (\d+) different letters occur\.", lambda s, n: len(set(s)) == int(n)),
    (r"All letters are the same\.", lambda s: len(set(s)) == 1),
    (r"No two adjacent letters are the same\.", lambda s: not re.search(r"(.)\1", s)),
    (
        r"The longest run of the same letter has length (\d+)\.",
        lambda s, n: max(len(m[0]) for m in re.finditer(r"(.)\1*", s)) == int(n),
    ),
]


@functools.cache
def rule_of(said):
    """The rule that a sentence states, and its arguments."""
    [(found, rule)] = [(m, rule) for p, rule in RULES if (m := re.fullmatch(p, said))]
    return rule, found.groups()


def meant(condition, text):
    """Whether a string meets a condition, by the condition's words."""
    rule, arguments = rule_of(condition.say())
    return bool(rule(text, *arguments))


@pytest.mark.parametrize("difficulty", [0, 1, 2])
def test_whole_small_world(difficulty):
    task = LetterConstraintTask(LetterConstraintConfig.at(difficulty))
    for seed in range(12):
        problem = task.generate(stream("LetterConstraint", seed))
        right = 0
        for letters in itertools.product(problem.alphabet, repeat=problem.length):
            text = "".join(letters)
            met = [meant(condition, text) for condition in problem.conditions]
            verdict = task.verify(problem, text)
            assert verdict.score == all(met)
            assert verdict.parts["share"] == pytest.approx(sum(met) / len(met))
            right += all(met)
        assert right >= 1


def conditions_of(text, alphabet):
    rng = stream("conditions", text)
    for kind in KINDS:
        for _ in range(4):
            condition = KINDS[kind].offer(text, alphabet, rng)
            if condition is not None:
                yield condition


def test_every_kind_says_what_it_checks():
    strings = ["".join(letters) for letters in itertools.product("ABC", repeat=5)]
    seen = set()
    for text in strings[::9]:
        for condition in conditions_of(text, "ABC"):
            seen.add(condition.kind)
            assert condition.allows(text, 5)
            for other in strings[::5]:
                assert condition.allows(other, 5) == meant(condition, other), (condition, other)
    assert seen == set(KINDS)


def test_no_beginning_of_a_right_string_is_given_up():
    for seed in range(60):
        rng = stream("beginnings", seed)
        text = "".join("ABC"[i] for i in rng.integers(3, size=7).tolist())
        for condition in conditions_of(text, "ABC"):
            for end in range(len(text) + 1):
                assert condition.allows(text[:end], len(text)), (condition, text, end)


SMALL = LetterConstraintProblem(
    4,
    "ABK",
    (LetterCondition("count", "A", 2), LetterCondition("part", "BA")),
    "KABA",
)


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("KABA", 1.0),
        ("kaba", 1.0),
        (r"\text{KABA}", 1.0),
        ("K A B A", 1.0),
        ("K, A, B, A", 1.0),
        ('"ABAB"', 1.0),
        ("BABA.", 1.0),
        ("AABB", 0.0),
        ("KABAA", 0.0),
        ("BAA", 0.0),
        ("KABC", 0.0),
        ("KABA or ABAB", 0.0),
        ("KABA, ABAB", 0.0),
        ("\u212aABA", 0.0),
        ("text = KABA", 0.0),
        ("", 0.0),
        ("BA" * 50_000, 0.0),
    ],
)
def test_forms_and_exploits(answer, score):
    assert TASK.verify(SMALL, answer).score == score


def test_share_and_unreadable_answers():
    assert TASK.verify(SMALL, "BABB").parts["share"] == 0.5
    assert TASK.verify(SMALL, "?").status is Status.UNPARSABLE


def test_conditions_are_different_and_as_many_as_asked_for():
    for difficulty in (3, 6, 9, 12):
        config = LetterConstraintConfig.at(difficulty)
        problem = LetterConstraintTask(config).generate(stream("different", difficulty))
        assert len(set(problem.conditions)) == len(problem.conditions)
        assert config.n_conditions - 4 <= len(problem.conditions) <= config.n_conditions


@pytest.mark.parametrize(
    "knob",
    [
        *({"length": 2}, {"length": 101}, {"n_letters": 1}, {"n_letters": 27}),
        *({"n_conditions": 0}, {"n_conditions": 1001}),
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        LetterConstraintConfig(**knob)


def test_effort_counts_the_beginnings_looked_at():
    all_a = LetterConstraintProblem(3, "AB", (LetterCondition("count", "A", 3),), "AAA")
    assert TASK.effort(all_a) == 4  # nothing, A, AA, AAA
    late = LetterConstraintProblem(3, "AB", (LetterCondition("count", "B", 2),), "ABB")
    assert TASK.effort(late) == 4
    part = LetterConstraintProblem(
        3, "AB", (LetterCondition("part", "BA"), LetterCondition("count", "B", 2)), "BBA"
    )
    assert TASK.effort(part) == 1 + 2 + 3  # A, AB in vain, then B, BB, BBA and the start


def test_the_baseline_breaks_no_condition_if_it_can_help_it():
    all_a = LetterConstraintProblem(3, "AB", (LetterCondition("count", "A", 3),), "AAA")
    assert TASK.baseline(stream("letters"), all_a) == "AAA"


def test_the_hardest_of_the_problems_compared_is_taken():
    easy, hard = (
        LetterConstraintTask(LetterConstraintConfig(length=8, n_conditions=8, n_compared=n))
        for n in (1, 8)
    )
    efforts = [
        sum(task.effort(task.generate(stream("letters", seed))) for seed in range(10))
        for task in (easy, hard)
    ]
    assert efforts[1] > 2 * efforts[0]
