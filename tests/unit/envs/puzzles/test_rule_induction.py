"""Rule induction: every rule written out, every answer, forms, configuration."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.rule_induction import (
    Attribute,
    Example,
    RuleInductionConfig,
    RuleInductionProblem,
    RuleInductionTask,
    fitting_rules,
)

TASK = RuleInductionTask(RuleInductionConfig())
SMALL = RuleInductionProblem(
    1,
    (Attribute("colour", ("red", "blue", "green")), Attribute("size", ("tiny", "large", "huge"))),
    (Example(("red", "tiny"), True), Example(("blue", "tiny"), False)),
    (("red", "huge"), ("blue", "large")),
    "YN",
)


def rules_in_words(attributes, n_tests):
    """Every rule of exactly so many tests, as a Python expression over a thing ``x``."""
    if n_tests == 1:
        for k, attribute in enumerate(attributes):
            for value in attribute.values:
                yield f"(x[{k}] == {value!r})"
                yield f"(x[{k}] != {value!r})"
    for n in range(1, n_tests):
        left, right = (list(rules_in_words(attributes, m)) for m in (n, n_tests - n))
        for one, other in itertools.product(left, right):
            yield f"({one} and {other})"
            yield f"({one} or {other})"


def judgements(problem, n_tests):
    """What the rules of exactly so many tests that fit the examples say of the questions."""
    things = [example.thing for example in problem.examples]
    wanted = [example.accepted for example in problem.examples]
    rules = ", ".join(rules_in_words(problem.attributes, n_tests))
    judge = eval(f"lambda x: ({rules})")
    by_thing = [judge(thing) for thing in (*things, *problem.questions)]
    return {
        "".join("NY"[accepted] for accepted in row[len(things) :])
        for row in zip(*by_thing, strict=True)
        if list(row[: len(things)]) == wanted
    }


@pytest.mark.parametrize("seed", range(16))
def test_all_rules_that_fit_agree(seed):
    n_tests = 1 + seed % 2
    config = RuleInductionConfig(n_tests=n_tests, n_attributes=3 + seed % 2)
    problem = RuleInductionTask(config).generate(stream("Rules", seed))
    assert judgements(problem, n_tests) == {problem.answer}
    for fewer in range(1, n_tests):
        assert judgements(problem, fewer) == set()


@pytest.mark.parametrize("seed", range(2))
def test_all_rules_of_three_tests_that_fit_agree(seed):
    problem = RuleInductionTask(RuleInductionConfig(n_tests=3)).generate(stream("Rules", 3, seed))
    assert judgements(problem, 1) == judgements(problem, 2) == set()
    tests = [
        (k, value, sign)
        for k, attribute in enumerate(problem.attributes)
        for value in attribute.values
        for sign in (True, False)
    ]
    things = [*(example.thing for example in problem.examples), *problem.questions]
    table = {t: tuple((thing[t[0]] == t[1]) == t[2] for thing in things) for t in tests}
    wanted = tuple(example.accepted for example in problem.examples)
    both = [tuple(map(min, table[a], table[b])) for a in tests for b in tests]
    either = [tuple(map(max, table[a], table[b])) for a in tests for b in tests]
    found = set()
    for pair in {*both, *either}:
        for c in tests:
            for join in (min, max):
                row = tuple(map(join, pair, table[c]))
                if row[: len(wanted)] == wanted:
                    found.add("".join("NY"[v] for v in row[len(wanted) :]))
    assert found == {problem.answer}


def test_search_by_hand():
    # Four things; the tests accept {0, 1} and {0, 2}, as bits 0011 and 0101.
    found = fitting_rules([0b0011, 0b0101], 2, 0b0011, 0b0011)
    assert found.by_length == [[0b0011], [0b0011, 0b0111]]
    assert found.tried == 2 + 2 * 2 * 2


def test_every_answer():
    answers = map("".join, itertools.product("YN", repeat=2))
    assert [a for a in answers if TASK.verify(SMALL, a).score == 1.0] == ["YN"]


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("Y, N", 1.0),
        ("y n", 1.0),
        (r"\mathrm{Y}, \mathrm{N}", 1.0),
        ("yes, no", 1.0),
        ("Y", 0.0),
        ("YNY", 0.0),
        ("T F", 0.0),
        ("1. Y\n2. N", 0.0),
        ("YY", 0.0),
    ],
)
def test_forms(answer, score):
    assert TASK.verify(SMALL, answer).score == score


@pytest.mark.parametrize(
    "knob",
    [
        *({"n_tests": 0}, {"n_tests": 4}, {"n_attributes": 8}, {"n_values": 2}),
        *({"n_questions": 1}, {"n_questions": 7}),
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        RuleInductionConfig(**knob)


TWO_VALUES = RuleInductionProblem(
    1,
    (Attribute("colour", ("red", "blue")), Attribute("size", ("tiny", "huge"))),
    (Example(("red", "tiny"), True), Example(("blue", "huge"), False)),
    (("red", "tiny"), ("blue", "huge"), ("red", "huge")),
    "YNY",
)


def test_effort_counts_the_rules_put_together():
    # Four values make eight tests; "is red" and "is not blue" are the same with two colours.
    assert RuleInductionTask(RuleInductionConfig()).effort(TWO_VALUES) == 4


def test_the_baseline_judges_by_the_first_example_most_alike():
    task = RuleInductionTask(RuleInductionConfig())
    assert task.baseline(stream("baseline"), TWO_VALUES) == "YNY"
