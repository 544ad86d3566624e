"""Cryptarithms: the whole small world, one solution by other searches, forms of answers."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.cryptarithm import (
    CryptarithmConfig,
    CryptarithmProblem,
    CryptarithmTask,
    Letters,
    search_digits,
)

SEND = (("D", 7), ("E", 5), ("M", 1), ("N", 6), ("O", 0), ("R", 8), ("S", 9), ("Y", 2))
MONEY = CryptarithmProblem(10, ("SEND", "MORE"), "MONEY", (), SEND)
RIGHT = "S=9, E=5, N=6, D=7, M=1, O=0, R=8, Y=2"
TASK = CryptarithmTask(CryptarithmConfig())


def number(word, digits, base):
    return sum(digits[letter] * base**place for place, letter in enumerate(word[::-1]))


def solutions(problem):
    """All solutions by trying every assignment of different digits to the letters not told."""
    words = (*problem.addends, problem.total)
    told = dict(problem.told)
    free = sorted(set("".join(words)) - set(told))
    rest = [d for d in range(problem.base) if d not in told.values()]
    for values in itertools.permutations(rest, len(free)):
        digits = {**told, **dict(zip(free, values, strict=True))}
        *parts, total = (number(word, digits, problem.base) for word in words)
        if sum(parts) == total and all(digits[word[0]] for word in words):
            yield digits


def written(digits):
    return ", ".join(f"{letter}={digit}" for letter, digit in sorted(digits.items()))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("level", [0, 2])
def test_whole_small_world(level, seed):
    """Every assignment of digits to the letters not told, repeated digits included."""
    task = CryptarithmTask(CryptarithmConfig.at(level))
    problem = task.generate(stream("Cryptarithm", seed))
    right = [written(digits) for digits in solutions(problem)]
    assert right == [written(dict(problem.digits))]
    told = dict(problem.told)
    free = sorted(set("".join((*problem.addends, problem.total))) - set(told))
    for values in itertools.product(range(10), repeat=len(free)):
        answer = written({**told, **dict(zip(free, values, strict=True))})
        assert task.verify(problem, answer).score == (answer in right)


@pytest.mark.parametrize(("level", "seed"), [(5, 0), (6, 1), (8, 2), (10, 3), (14, 4)])
def test_one_solution_by_another_solver(level, seed):
    cp_model = pytest.importorskip("ortools.sat.python.cp_model")
    problem = CryptarithmTask(CryptarithmConfig.at(level)).generate(stream("Cryptarithm", seed))
    model = cp_model.CpModel()
    names = [name for name, _ in problem.digits]
    words = (*problem.addends, problem.total)
    told = dict(problem.told)
    digits = {
        name: model.new_int_var(told.get(name, 0), told.get(name, problem.base - 1), name)
        for name in names
    }
    model.add_all_different(list(digits.values()))
    for word in words:
        model.add(digits[word[0]] > 0)
    *parts, total = (number(word, digits, problem.base) for word in words)
    model.add(sum(parts) == total)
    assert cp_model.CpSolver().solve(model) == cp_model.OPTIMAL
    right = [digit for _, digit in problem.digits]
    model.add_forbidden_assignments([digits[name] for name in names], [right])
    assert cp_model.CpSolver().solve(model) == cp_model.INFEASIBLE


def test_known_puzzles():
    """SEND + MORE = MONEY has one solution; TWO + TWO = FOUR has seven."""
    found = search_digits(Letters(10, ("SEND", "MORE"), "MONEY"), {}, max_nodes=10**6)
    assert found.solutions == (dict(SEND),)
    assert found.complete
    four = CryptarithmProblem(10, ("TWO", "TWO"), "FOUR", (), ())
    right = list(solutions(four))
    assert len(right) == 7
    found = search_digits(Letters(10, ("TWO", "TWO"), "FOUR"), {}, max_nodes=10**6)
    assert len(found.solutions) == 2
    assert not found.complete
    for digits in right:
        assert TASK.verify(four, written(digits)).score == 1.0


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        (RIGHT, 1.0),
        ("S=9 , E = 5;N=6, D: 7,M=1,\nO=0, R=8, Y=2".replace(",\n", "\n"), 1.0),
        (RIGHT.replace("=", ": "), 1.0),
        ("\\text{" + RIGHT + "}", 1.0),
        (RIGHT.replace(" ", r"\ "), 1.0),
        (RIGHT.replace("R=8, Y=2", "R=2, Y=8"), 0.0),
        ("S=0, E=0, N=0, D=0, M=0, O=0, R=0, Y=0", 0.0),  # 0 + 0 = 0
        ("S=9, E=5, N=6, D=7, M=1, O=0, R=8", 0.0),
        (RIGHT + ", X=3", 0.0),
        (RIGHT + ", Y=2", 0.0),  # a letter twice
        (RIGHT + ", Y=3", 0.0),
        (RIGHT.lower(), 0.0),
        (RIGHT.replace("9", "9.0"), 0.0),
        (RIGHT.replace("2", "²"), 0.0),
        (RIGHT.replace("=2", "=-2"), 0.0),
        ("9567 + 1085 = 10652", 0.0),
        ("9, 5, 6, 7, 1, 0, 8, 2", 0.0),
        ("A=1," * 1000, 0.0),
        ("", 0.0),
    ],
)
def test_forms_and_near_misses(answer, score):
    assert TASK.verify(MONEY, answer).score == score


def test_told_digits_and_the_base_count():
    hex_like = CryptarithmProblem(12, ("AB", "AB"), "CA", (("A", 4),), ())
    assert [written(d) for d in solutions(hex_like)] == ["A=4, B=2, C=8", "A=4, B=8, C=9"]
    for answer, score in (
        ("A=4, B=2, C=8", 1.0),
        ("A=4, B=8, C=9", 1.0),
        ("A=2, B=1, C=4", 0.0),  # right, but A is told
        ("A=4, B=14, C=10", 0.0),
    ):
        assert TASK.verify(hex_like, answer).score == score
    assert "base 12" in TASK.prompt(hex_like)
    assert "A = 4" in TASK.prompt(hex_like)


def test_effort_grows_and_guesses_are_readable():
    efforts = []
    rng = stream("Cryptarithm", "guess")
    for level in (0, 5, 9):
        task = CryptarithmTask(CryptarithmConfig.at(level))
        problems = [task.generate(stream("Cryptarithm", "effort", seed)) for seed in range(15)]
        efforts.append(sum(map(task.effort, problems)))
        assert all(task.verify(p, task.baseline(rng, p)).status != "unparsable" for p in problems)
    assert 5 * efforts[0] < efforts[1] < efforts[2] / 5


@pytest.mark.parametrize(
    "knob",
    [
        *({"n_addends": 1}, {"n_addends": 101}, {"length": 1}, {"length": 101}),
        *({"base": 3}, {"base": 27}, {"max_unknown": 0}),
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        CryptarithmConfig(**knob)


def test_effort_counts_the_digits_tried():
    for told, effort in (
        ((("A", 4),), 1),  # B is 8
        ((("B", 8),), 1),
        ((), 6),  # A is from 1 to 4; two of the four fit before the search ends
    ):
        assert TASK.effort(CryptarithmProblem(10, ("A", "A"), "B", told, ())) == effort


def test_the_baseline_keeps_the_given_digits_and_repeats_none():
    problem = CryptarithmProblem(10, ("SEND", "MORE"), "MONEY", (("M", 1), ("O", 0)), SEND)
    answer = TASK.baseline(stream("cryptarithm"), problem)
    digits = dict(pair.split("=") for pair in answer.split(", "))
    assert (digits["M"], digits["O"]) == ("1", "0")
    assert len(set(digits.values())) == len(digits) == 8
