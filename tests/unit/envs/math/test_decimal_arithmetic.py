import re
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.decimal_arithmetic import (
    FORMS,
    DecimalArithmeticConfig,
    DecimalArithmeticProblem,
    DecimalArithmeticTask,
)


def solved(question: str) -> Decimal:
    """Answer a question from its words alone, in decimal arithmetic."""
    if "$$" in question:
        text = question.split("$$")[1].replace(r"\left", "").replace(r"\right", "")
        text = re.sub(r"[0-9.]+", r"Decimal('\g<0>')", text.replace(r"\times", "*"))
        return eval(text, {"Decimal": Decimal})
    if question.startswith("What is"):
        *percents, last = re.findall(r"[0-9.]*[0-9]", question)
        value = Decimal(last)
        for percent in percents:
            value *= Decimal(percent) / 100
        return value
    start = Decimal(re.search(r"quantity of ([0-9.]*[0-9])", question)[1])
    value = start
    for verb, percent in re.findall(r"(rises|falls) by ([0-9.]+)%", question):
        value *= 1 + (1 if verb == "rises" else -1) * Decimal(percent) / 100
    end = re.search(r"changes to ([0-9.]*[0-9])", question)
    if end is not None:
        return (Decimal(end[1]) / value - 1) * 100
    return (value / start - 1) * 100 if "in total" in question else value


@pytest.mark.parametrize("form", FORMS)
def test_the_value_answers_the_question(form):
    task = DecimalArithmeticTask(DecimalArithmeticConfig(forms=(form,), n_terms=7))
    with localcontext() as context:
        context.prec = 200
        for seed in range(20):
            problem = task.generate(stream("decimals", form, seed))
            found = Fraction(solved(task.prompt(problem)))
            assert abs(found - problem.value) < Fraction(1, 10**60)


def test_whole_small_world():
    task = DecimalArithmeticTask(DecimalArithmeticConfig.at(0))
    for seed in range(20):
        problem = task.generate(stream("decimals", seed))
        right = solved(task.prompt(problem))
        for tenths in range(-200, 1000, 3):
            guess = Decimal(tenths) / 10
            assert (task.verify(problem, str(guess)).score == 1.0) == (guess == right)
        assert task.verify(problem, str(right)).score == 1.0


def test_percent_signs_count_where_percent_is_asked_for():
    task = DecimalArithmeticTask(DecimalArithmeticConfig())
    asked = DecimalArithmeticProblem("?", True, Fraction(25, 2))
    for form in ("12.5", "12.5%", r"12.50\%", "12.5 percent", "25/2"):
        assert task.verify(asked, form).score == 1.0
    other = DecimalArithmeticProblem("?", False, Fraction(25, 2))
    assert task.verify(other, "12.5").score == 1.0
    for form in ("12.5%", "12", "13", "-12.5", "10 + 2.5"):
        assert task.verify(other, form).score == 0.0


@pytest.mark.parametrize(
    "knobs", [{"n_terms": 1}, {"whole_digits": 0}, {"places": 0}, {"forms": ("ratio",)}]
)
def test_bad_knobs_are_refused(knobs):
    with pytest.raises(ConfigError):
        DecimalArithmeticConfig(**knobs)


@pytest.mark.parametrize(
    ("question", "in_percent", "hurried"),
    [
        (r"$$1.5 + 2.5 \times 3$$", False, "12"),
        ("A quantity of 8 rises by 50%, then falls by 50%. What is it?", False, "8"),
        ("A quantity of 8 rises by 50%, then changes to 6. By how many percent?", True, "-75"),
        ("What is 50% of 10% of 8?", False, "4"),
    ],
)
def test_the_baseline_adds_percentages_up(question, in_percent, hurried):
    task = DecimalArithmeticTask(DecimalArithmeticConfig())
    problem = DecimalArithmeticProblem(question, in_percent, Fraction(0))
    assert task.baseline(stream("baseline"), problem) == hurried


def test_effort_of_a_small_problem():
    task = DecimalArithmeticTask(DecimalArithmeticConfig())
    # 25 * 3 takes two products of digits, 15 + 75 two sums.
    assert task.effort(DecimalArithmeticProblem(r"$$1.5 + 2.5 \times 3$$", False, Fraction(9))) == 4
