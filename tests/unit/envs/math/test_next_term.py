"""NextTerm: every rule followed term by term as it is worded, the small world, configuration."""

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.next_term import RULES, NextTermConfig, NextTermProblem, NextTermTask


def arithmetic(numbers):
    value, step = numbers
    while True:
        yield value
        value += step


def geometric(numbers):
    value, ratio = numbers
    while True:
        yield value
        value *= ratio


def increments(numbers):
    value, slope, constant = numbers
    n = 1
    while True:
        yield value
        n += 1
        value += slope * n + constant


def differences(numbers):
    known = list(numbers)
    yield from known
    order = len(known) - 1
    while True:
        rows = [known]
        for _ in range(order):
            rows.append([b - a for a, b in zip(rows[-1][:-1], rows[-1][1:], strict=True)])
        ends = rows[-1][0] if len(set(rows[-1])) == 1 else None
        for row in rows[-2::-1]:
            ends += row[-1]
        known.append(ends)
        yield ends


def recurrence(numbers):
    order = len(numbers) // 2
    constant, coefficients, terms = numbers[0], numbers[1 : order + 1], list(numbers[order + 1 :])
    yield from terms
    while True:
        terms.append(constant + sum(c * terms[-back] for back, c in enumerate(coefficients, 1)))
        yield terms[-1]


def remainders(numbers):
    modulus, factor, addend, value = numbers
    while True:
        yield value
        value = (factor * value + addend) - (factor * value + addend) // modulus * modulus


def digits(numbers):
    value, addend = numbers
    while True:
        yield value
        rest, value = value, value + addend
        while rest:
            value += rest % 10
            rest //= 10


def branching(numbers):
    value, factor, addend = numbers
    while True:
        yield value
        value = factor * value + addend if value % 2 else value // 2


def interleaved(numbers):
    odd, difference, even, ratio = numbers
    while True:
        yield odd
        yield even
        odd, even = odd + difference, even * ratio


def skipping(numbers):
    n = 0
    while True:
        n += 1
        if all(n % divisor for divisor in numbers):
            yield n


def runs(numbers):
    k = 0
    while True:
        k += 1
        for _ in range(numbers[0] * k + numbers[1]):
            yield k


FOLLOWED = {
    "cycle": remainders,
    "runs": runs,
    "arithmetic": arithmetic,
    "geometric": geometric,
    "increments": increments,
    "differences": differences,
    "recurrence": recurrence,
    "remainders": remainders,
    "digits": digits,
    "branching": branching,
    "interleaved": interleaved,
    "skipping": skipping,
}


def followed(problem):
    terms = FOLLOWED[problem.kind](problem.numbers)
    return [next(terms) for _ in range(problem.index)][-1]


@pytest.mark.parametrize("kind", RULES)
def test_whole_small_world(kind):
    task = NextTermTask(NextTermConfig(kinds=(kind,), n_steps=4, max_value=6, max_order=1))
    for seed in range(20):
        problem = task.generate(stream("NextTerm", kind, seed))
        expected = followed(problem)
        window = range(expected - 10, expected + 11)
        assert [v for v in window if task.verify(problem, str(v)).score == 1.0] == [expected]


@pytest.mark.parametrize("kind", RULES)
def test_larger_terms_agree_with_following_the_rule(kind):
    task = NextTermTask(NextTermConfig(kinds=(kind,), n_steps=20, max_value=40, max_order=4))
    for seed in range(25):
        problem = task.generate(stream("NextTerm", "larger", kind, seed))
        assert problem.term == followed(problem)


@pytest.mark.parametrize("kind", RULES)
def test_the_term_asked_for_is_not_given(kind):
    task = NextTermTask(NextTermConfig(kinds=(kind,), n_steps=3, max_value=4, max_order=5))
    for seed in range(50):
        problem = task.generate(stream("NextTerm", "given", kind, seed))
        assert problem.index > 2
        if kind in ("differences", "recurrence"):
            assert problem.index > len(problem.numbers) // (1 if kind == "differences" else 2)


def test_wording_of_one_recurrence():
    task = NextTermTask(NextTermConfig())
    problem = NextTermProblem("recurrence", 5, (-4, 2, -1, 3, 7), 0)
    assert task.prompt(problem) == (
        "A sequence starts with $a_1 = 3$ and $a_2 = 7$. For all $n > 2$, "
        "$a_n = 2a_{n-1} - a_{n-2} - 4$. Find $a_{5}$."
    )


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"kinds": ()}, "kinds are"),
        ({"kinds": ("guess",)}, "kinds are"),
        ({"n_steps": 2}, "n_steps"),
        ({"max_value": 3}, "max_value"),
        ({"max_order": 0}, "max_order"),
    ],
)
def test_config_is_checked(knobs, message):
    with pytest.raises(ConfigError, match=message):
        NextTermConfig(**knobs)


def test_effort_and_baseline_of_a_small_problem():
    task = NextTermTask(NextTermConfig())
    problem = NextTermProblem("digits", 3, (12, 5), 28)
    assert task.explain(problem)[0] == "Term 2: 12 + 5 + 1 + 2 = 20"
    assert task.effort(problem) == 8 + 8
    assert task.baseline(stream("b"), problem) == "22"
