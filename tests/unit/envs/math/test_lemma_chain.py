"""Lemma chain: every lemma against counting, credit by steps, wrong answers."""

import dataclasses
import itertools
import math
import re
from fractions import Fraction

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.math.lemma_chain import (
    LEMMAS,
    NAMES,
    LemmaChain,
    LemmaChainConfig,
    LemmaChainTask,
    Link,
)

# Every lemma counted from its sentence, without its formula; small numbers only.


def digits_of(n):
    return sum(int(digit) for digit in str(n))


def divides(d, n):
    return n % d == 0


def regions(n):
    """Cut by lines y = k x - k^2, no two parallel and no three through one point: Euler."""
    points = {
        (Fraction(j * j - k * k, j - k), Fraction(j * j - k * k, j - k) * k - k * k)
        for j, k in itertools.combinations(range(n), 2)
    }
    edges = n * n  # each line is cut at n - 1 points
    return 1 + edges - len(points)


def circle(n):
    people = list(range(1, n + 1))
    while len(people) > 1:
        people = [*people[2:], people[0]]
    return people[0]


def ruin(n, p):
    """Expected tosses by the probabilities of still playing, summed up."""
    place, total = [0.0] * (n + 1), 0.0
    place[p] = 1.0
    for _ in range(60 * n * n):
        total += sum(place[1:n])
        after = [0.0] * (n + 1)
        for k in range(1, n):
            after[k - 1] += place[k] / 2
            after[k + 1] += place[k] / 2
        place = after
    return round(total, 6)


def root_power(n, p, k):
    sums = [2, n]
    while len(sums) <= k:
        sums.append(n * sums[-1] - p * sums[-2])
    return sums[k]


def exponent_in(p, value):
    return next(k for k in itertools.count() if value % p ** (k + 1))


def first_power(n, p):
    return next(k for k in itertools.count(1) if (p**k - 1) % n == 0)


def primitive_roots(n):
    p = next(k for k in itertools.count(n + 1) if all(k % d for d in range(2, k)))
    return sum(len({pow(g, k, p) for k in range(p)} - {0}) == p - 1 for g in range(1, p))


def fibonacci(n):
    low, high = 0, 1
    for _ in range(n):
        low, high = high, low + high
    return low


COUNTED = {
    "digit_sum": lambda n, p: digits_of(p * n),
    "remainder": lambda n, p, q, r: next(k for k in range(r) if (p * n + q - k) % r == 0),
    "handshakes": lambda n: sum(1 for _ in itertools.combinations(range(n), 2)),
    "diagonals": lambda n: sum(
        1 for a, b in itertools.combinations(range(n), 2) if (b - a) % n not in (1, n - 1)
    ),
    "trailing_zeros": lambda n: len(t := str(math.factorial(n))) - len(t.rstrip("0")),
    "multiples": lambda n, p, q: sum(divides(p, k) or divides(q, k) for k in range(1, n + 1)),
    "regions": regions,
    "power_remainder": lambda n, p, q: p**n % q,
    "totient": lambda n: sum(math.gcd(k, n) == 1 for k in range(1, n + 1)),
    "divisor_sum": lambda n: sum(k for k in range(1, n + 1) if divides(k, n)),
    "root_squares": lambda n, p: root_power(n, p, 2),
    "survivor": circle,
    "ruin": ruin,
    "grid_squares": lambda n: sum(
        1 for size in range(1, n + 1) for _ in itertools.product(range(n - size + 1), repeat=2)
    ),
    "three_parts": lambda n: sum(1 for a in range(1, n) for b in range(a, n) if n - a - b >= b),
    "egyptian": lambda n: sum(divides(u - n, u * n) for u in range(n + 1, n + n * n + 1)),
    "power_sum": lambda n, p: root_power(n, p, 3),
    "nines": lambda n, p: digits_of(10**n - p),
    "order": first_power,
    "lifted": lambda n, p, q, r: exponent_in(p, q ** math.factorial(n) - r ** math.factorial(n)),
    "triangles": lambda n: sum(
        1 for a in range(1, n) for b in range(a, n) if b <= n - a - b < a + b
    ),
    "gcd_sum": lambda n: sum(math.gcd(k, n) for k in range(1, n + 1)),
    "primitive_roots": primitive_roots,
    "odd_binomials": lambda n: sum(math.comb(n, k) % 2 for k in range(n + 1)),
    "fibonacci": lambda n, p: fibonacci(n) % p,
    "tower": lambda n, p, q: pow(7, p**n, q),
    "lattice_circle": lambda n: sum(
        x * x + y * y == n * n for x in range(-n, n + 1) for y in range(-n, n + 1)
    ),
}
# The largest number that is counted; 0 stands for as few as eight numbers from the least.
LARGEST = {"lifted": 7, "ruin": 14, "lattice_circle": 70, "egyptian": 90, "primitive_roots": 70}


@pytest.mark.parametrize("name", NAMES)
def test_every_lemma_agrees_with_counting(name):
    lemma = LEMMAS[name]
    low = 3 if name == "lifted" else lemma.low
    high = LARGEST.get(name, low + 90)
    for n in range(low, min(high, lemma.high) + 1, 1 if high < 40 else 3):
        for k in range(3):
            parameters = lemma.draw(stream(name, n, k), n)
            expected = COUNTED[name](n, *parameters)
            assert lemma.value(n, *parameters) == expected, (n, parameters)
            assert lemma.text.format(n="x_1", **dict(zip("pqr", parameters, strict=False)))
            assert lemma.reason(n, *parameters)


CHAIN = LemmaChain(
    12,
    (Link("handshakes", ()), Link("multiples", (2, 5)), Link("diagonals", ())),
    (66, 40, 740),
)


def judged(answer, credit="final"):
    return LemmaChainTask(LemmaChainConfig(credit=credit)).verify(CHAIN, answer)


def test_prompt_of_a_chain():
    final, steps = (LemmaChainTask(LemmaChainConfig(credit=c)) for c in ("final", "steps"))
    lines = final.prompt(CHAIN).splitlines()
    assert lines[0] == "Let $x_0 = 12$."
    assert (
        lines[2] == "Let $x_2$ be the number of integers from $1$ to $x_1$ that $2$ or $5$ divides."
    )
    assert lines[-1] == "Find $x_3$. Answer with one integer."
    assert "3 in all" in steps.prompt(CHAIN)
    assert final.explain(CHAIN)[1] == "x_2 = 40: 33 + 13 - 6, by inclusion and exclusion"
    assert [int(re.search("= ([0-9]+):", line)[1]) for line in final.explain(CHAIN)] == [
        66,
        40,
        740,
    ]


def test_a_long_chain_names_its_numbers():
    task = LemmaChainTask(LemmaChainConfig(n_steps=14))
    problem = task.generate(stream("long"))
    text = task.prompt(problem)
    assert "$x_{14}$" in text
    assert "x_10" not in text
    assert task.verify(problem, task.solve(problem)).score == 1.0
    assert task.step_credit(problem, "\n".join(task.explain(problem))) == 1.0


@pytest.mark.parametrize("answer", ["740", "740.0", "x_3 = 740", "$740$", "+740", " 740 ", "7.4e2"])
def test_right_final_answers(answer):
    assert judged(answer).score == 1.0


WRONG = [
    *(
        "",
        " ",
        "?",
        "0",
        "1",
        "12",
        "66",
        "40",
        "738",
        "741",
        "-740",
        "7400",
        "72",
        "740.5",
        "74.0",
    ),
    *("66, 40, 740", "740, 66", "740 or 40", "40*37/2", "40 * (40 - 3) / 2", "740 or 741"),
    *(
        "x_3",
        "\\binom{40}{2}",
        "seven hundred",
        "9" * 5000,
        "9^{9^9}",
        "nan",
        "∞",
        "{740, 1}",
    ),
    *("between 735 and 745", "740/0", "0x2e4", "٧٤٠1", "740!", "\\sqrt{740}"),
]


@pytest.mark.parametrize("answer", WRONG)
def test_wrong_final_answers_earn_nothing(answer):
    assert judged(answer).score == 0.0


def test_the_prompt_earns_nothing():
    task = LemmaChainTask(LemmaChainConfig())
    assert judged(task.prompt(CHAIN)).score == 0.0
    assert judged(task.baseline(stream("b"), CHAIN)).score == 0.0


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("66, 40, 740", 1),
        ("[66, 40, 740]", 1),
        ("66 40 740", 1),
        ("$x_1 = 66, x_2 = 40, x_{3} = 740$", 1),
        ("66, 40, 741", 2 / 3),
        ("66, 37, 740", 1 / 3),
        ("65, 40, 740", 0),
        ("740, 40, 66", 0),
        ("66, 66, 66", 1 / 3),
        ("740", 0),
        ("66, 40", 0),
        ("66, 40, 740, 740", 0),
        ("12, 66, 40, 740", 0),
        ("66, 40, x_3", 0),
        ("66, 40, 740 or 741", 0),
        ("", 0),
        ("66,40," + "9" * 30_000, 0),
    ],
)
def test_credit_by_steps(answer, score):
    verdict = judged(answer, credit="steps")
    assert verdict.score == pytest.approx(score)
    assert (verdict.status is Status.CORRECT) == (score == 1)
    assert "740" not in verdict.detail


def test_oracle_and_baseline_with_credit_by_steps():
    task = LemmaChainTask(LemmaChainConfig(credit="steps"))
    assert task.solve(CHAIN) == "66, 40, 740"
    assert task.verify(CHAIN, task.baseline(stream("b"), CHAIN)).score == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("", 0),
        ("740", 0),
        ("x_1 = 66\nso x_2 = 40", 1 / 3),
        ("x_1 = 66: C(12, 2)\nx_2 = 40\nx_3 = 740", 1),
        ("$x_{1} = 66$\n- x_3 = 740", 2 / 3),
        ("x_1 = 66\nx_1 = 67", 0),
        ("x_1 = 660\nx_2 = 40.5", 0),
        ("x_9 = 66", 0),
    ],
)
def test_step_credit(text, share):
    task = LemmaChainTask(LemmaChainConfig())
    assert task.step_credit(CHAIN, text) == pytest.approx(share)


@pytest.mark.parametrize("level", [0, 3, 6, 10, 20, 60])
def test_chains_of_every_level(level):
    config = LemmaChainConfig.at(level)
    task = LemmaChainTask(config)
    for n in range(30):
        problem = task.generate(stream("level", level, n))
        assert len(problem.links) == config.n_steps
        value = problem.start
        for link, after in zip(problem.links, problem.values, strict=True):
            assert LEMMAS[link.lemma].low <= value <= LEMMAS[link.lemma].high
            assert LEMMAS[link.lemma].value(value, *link.parameters) == after
            value = after
        assert all(6 <= v <= 10**6 for v in problem.values)
        assert task.verify(problem, str(value)).score == 1.0


def test_effort_counts_ideas():
    task = LemmaChainTask(LemmaChainConfig())
    harder = dataclasses.replace(CHAIN, links=(Link("grid_squares", ()), *CHAIN.links[1:]))
    assert task.effort(harder) > task.effort(CHAIN) + 20


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"lemmas": ()}, "lemmas are"),
        ({"lemmas": ("zorn",)}, "lemmas are"),
        ({"n_steps": 0}, "n_steps"),
        ({"max_start": 11}, "max_start"),
        ({"credit": "half"}, "credit"),
    ],
)
def test_config_is_checked(knobs, message):
    with pytest.raises(ConfigError, match=message):
        LemmaChainConfig(**knobs)


def test_a_chain_that_cannot_be_is_an_error():
    config = LemmaChainConfig(lemmas=("odd_binomials",), n_steps=3)
    with pytest.raises(ConfigError, match="no chain of 3 steps"):
        LemmaChainTask(config).generate(stream("none"))
