from itertools import product

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.base_conversion import (
    BaseConversionConfig,
    BaseConversionProblem,
    BaseConversionTask,
    read_digits,
    written,
)


@pytest.mark.parametrize("difficulty", [0, 3, 5, 10])
def test_the_result_has_the_value_of_the_expression(difficulty):
    task = BaseConversionTask(BaseConversionConfig.at(difficulty))
    for seed in range(20):
        problem = task.generate(stream("base", difficulty, seed))
        values = [str(int(d, b)) for d, b in zip(problem.numbers, problem.bases, strict=True)]
        text = values[0] + "".join(
            operator + value for operator, value in zip(problem.operators, values[1:], strict=True)
        )
        assert int(problem.result, problem.target) == eval(text)


def test_whole_small_world():
    task = BaseConversionTask(BaseConversionConfig(n_digits=1, max_base=4))
    for seed in range(20):
        problem = task.generate(stream("base", seed))
        value = 0
        for digit in problem.numbers[0]:
            value = value * problem.bases[0] + int(digit)
        for length in (1, 2, 3, 4):
            for digits in product(range(4), repeat=length):
                legal = all(digit < problem.target for digit in digits)
                total = sum(d * problem.target**k for k, d in enumerate(reversed(digits)))
                passed = task.verify(problem, "".join(map(str, digits))).score == 1.0
                assert passed == (legal and total == value)


def test_digits_are_written_as_python_reads_them():
    for value in (0, 1, 35, 36, 10**30):
        for base in (2, 7, 16, 36):
            assert int(written(value, base), base) == value


def test_equal_forms_pass_and_other_bases_do_not():
    task = BaseConversionTask(BaseConversionConfig())
    problem = BaseConversionProblem(("11111111",), (2,), (), 16, "FF")
    for form in (
        "FF",
        "ff",
        "0xFF",
        "00FF",
        r"\text{FF}_{16}",
        "FF_16",
        "(FF)_{16}",
        "$FF$",
        "FF base 16",
        "FF (base 16)",
        r"\mathrm{FF}",
    ):
        assert task.verify(problem, form).score == 1.0, form
    for form in (
        "255",
        "11111111_2",
        "255_10",
        "FF_{15}",
        "377_8",
        "FE",
        "-FF",
        "F F",
        "FG",
        "",
        "11111111",
        "F+F",
        "²",
    ):
        assert task.verify(problem, form).score == 0.0, form


def test_grouped_digits_are_read():
    assert read_digits("1010 1111", 2) == 175
    assert read_digits("1,000", 10) == 1000
    assert read_digits("base", 36) == int("base", 36)
    assert read_digits("9" * 3000, 10) is None


@pytest.mark.parametrize(
    "knobs", [{"n_digits": 0}, {"n_numbers": 0}, {"max_base": 2}, {"max_base": 37}]
)
def test_bad_knobs_are_refused(knobs):
    with pytest.raises(ConfigError):
        BaseConversionConfig(**knobs)


def test_effort_and_baseline_of_a_small_problem():
    task = BaseConversionTask(BaseConversionConfig())
    # 2 * 5 + 3 is a product of single digits and a sum of two-digit numbers.
    problem = BaseConversionProblem(("23",), (5,), (), 10, "13")
    assert task.effort(problem) == 1 + 2
    assert task.baseline(stream("baseline"), problem) == "10"
    # 13 is divided by 5 twice, with quotients of one digit.
    problem = BaseConversionProblem(("13",), (10,), (), 5, "23")
    assert task.effort(problem) == 2
    assert task.baseline(stream("baseline"), problem) == "20"


def test_base_ten_is_on_one_side_at_the_lowest_levels():
    for difficulty in (0, 1):
        task = BaseConversionTask(BaseConversionConfig.at(difficulty))
        for seed in range(50):
            problem = task.generate(stream("base", "ten", difficulty, seed))
            assert (problem.bases[0] == 10) != (problem.target == 10)
