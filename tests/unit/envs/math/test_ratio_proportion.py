"""RatioProportion: the text solved another way, forms of the answer, configuration."""

import re
from fractions import Fraction

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.ratio_proportion import (
    KINDS,
    RatioProportionConfig,
    RatioProportionProblem,
    RatioProportionTask,
)


def found(pattern, text):
    return [tuple(map(int, match.groups())) for match in re.finditer(pattern, text)]


def share(text):
    total = int(re.match(r"A total of (\d+) litres", text)[1])
    parts = list(map(int, re.search(r"ratio ([\d :]+), in", text)[1].split(" : ")))
    asked = int(re.search(r"does tank (\d+)", text)[1])
    assert len(parts) == int(re.search(r"tanks 1 (?:to|and) (\d+)", text)[1])
    return next(Fraction(total) * p / sum(parts) for i, p in enumerate(parts, 1) if i == asked)


def chain(text):
    grams = {1: Fraction(int(re.search(r"contains (\d+) grams of powder 1\.", text)[1]))}
    for source, target, a, b in found(r"of powder (\d+) to powder (\d+) is (\d+) : (\d+)", text):
        grams[target] = grams[source] / a * b
    return grams[int(re.search(r"grams of powder (\d+) does it contain", text)[1])]


def crew(text):
    """The walls per worker, day and hour must be the same in both sentences."""
    base = re.match(
        r"All workers work at the same constant rate\. "
        r"Working (\d+) hours a day, (\d+) workers build (\d+) walls in (\d+) days\.",
        text,
    )
    hours, workers, walls, days = map(int, base.groups())
    question = text[base.end() :]
    known = {
        noun: int(match[1])
        for noun in ("workers", "walls", "days", "hours a day")
        if (match := re.search(rf"(\d+) {noun}", question))
    }
    assert len(known) == 3
    scale = Fraction(1)
    for noun, value in (("workers", workers), ("days", days), ("hours a day", hours)):
        scale *= Fraction(known.get(noun, 1), value)
    return walls * scale if "walls" not in known else Fraction(known["walls"], walls) / scale


def pipes(text):
    """In as many hours as the product of all, a whole number of tanks is filled."""
    fills = found(r"fills the empty tank in (\d+) hours", text)
    drains = found(r"drains the full tank in (\d+) hours", text)
    span = 1
    for (hours,) in fills + drains:
        span *= hours
    tanks = sum(span // hours for (hours,) in fills) - sum(span // hours for (hours,) in drains)
    return Fraction(span, tanks)


def map_scale(text):
    """Lengths are followed back from the last copy to the map, then to the ground."""
    scale = int(re.search(r"1 : (\d+)", text)[1])
    length = Fraction(int(re.search(r"(\d+) centimetres on", text)[1]))
    for a, b in reversed(
        found(r"every length is (\d+)/(\d+) of the corresponding length on", text)
    ):
        length = length * b / a
    return length * scale / 100 / 1000


def dilution(text):
    volume, percent = found(r"(\d+) litres of a solution that is (\d+)%", text)[0]
    acid = Fraction(volume) * percent / 100
    amounts = re.search(r"replace (\d+) litres? of|amounts are ([\d, and]+) litres", text)
    for removed in map(int, re.findall(r"\d+", amounts[1] or amounts[2])):
        acid -= acid / volume * removed
    return acid / volume * 100


def alloy(text):
    bars = found(r"weighs (\d+) kg and consists of copper and tin in the ratio (\d+) : (\d+)", text)
    return sum(weight - Fraction(weight, copper + tin) * tin for weight, copper, tin in bars)


SOLVERS = {
    "share": share,
    "chain": chain,
    "crew": crew,
    "pipes": pipes,
    "map": map_scale,
    "dilution": dilution,
    "alloy": alloy,
}


def of_kind(kind, difficulty):
    level = RatioProportionConfig.at(difficulty)
    config = RatioProportionConfig(
        kinds=(kind,), n_terms=level.n_terms, max_number=level.max_number
    )
    return RatioProportionTask(config)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("difficulty", [0, 1, 5, 12])
def test_the_text_alone_gives_the_answer(kind, difficulty):
    task = of_kind(kind, difficulty)
    for seed in range(20):
        problem = task.generate(stream("RatioProportion", kind, difficulty, seed))
        assert problem.answer == SOLVERS[kind](task.prompt(problem))
        assert problem.answer > 0


@pytest.mark.parametrize("kind", KINDS)
def test_one_number_alone_gives_the_stated_result(kind):
    task = RatioProportionTask(RatioProportionConfig(kinds=(kind,), unknown_share=1.0))
    for seed in range(12):
        problem = task.generate(stream("RatioProportion", "unknown", kind, seed))
        text = task.prompt(problem)
        story, stated = re.fullmatch(
            r"One number .+ called \$x\$\. (.+) The answer is (\S+)\. Find \$x\$\.", text
        ).groups()
        tried = [*range(1, 250), *range(1_000, 120_000, 1_000)]
        solved = {x for x in tried if result_with(kind, story, x) == Fraction(stated)}
        assert solved == {problem.answer}
        assert task.explain(problem)[-1].endswith(f" = {problem.answer}")


def result_with(kind, story, x):
    try:
        return SOLVERS[kind](story.replace("$x$", str(x)))
    except ZeroDivisionError:
        return None


def test_effort_and_baseline_of_a_small_question():
    steps = TASK.explain(PROBLEM)
    assert steps[1] == "One part is 12 / 5 = 12/5 litres."
    # the digits, 12 / 5 by two digits, and 3 * (12/5) by two digits
    assert TASK.effort(PROBLEM) == sum(c.isdigit() for c in "".join(steps)) + 2 + 2
    assert TASK.baseline(stream("b"), PROBLEM) == "8"


@pytest.mark.parametrize("kind", KINDS)
def test_whole_small_world(kind):
    task = of_kind(kind, 0)
    window = {Fraction(top, bottom) for top in range(-2, 40) for bottom in range(1, 7)}
    for seed in range(5):
        problem = task.generate(stream("RatioProportion", "small", kind, seed))
        expected = SOLVERS[kind](task.prompt(problem))
        accepted = {value for value in window if task.verify(problem, str(value)).score == 1.0}
        assert accepted == window & {expected}


def test_every_question_to_the_crew_is_asked():
    task = of_kind("crew", 1)
    asked = {task.generate(stream("crew", seed)).numbers[0] for seed in range(60)}
    assert asked == {0, 1, 2, 3}


TASK = RatioProportionTask(RatioProportionConfig())
PROBLEM = RatioProportionProblem("share", (12, 1, 3, 2), Fraction(36, 5))


@pytest.mark.parametrize("answer", ["36/5", r"\frac{36}{5}", "7.2", "72/10", "$7.2$"])
def test_equal_numbers_pass(answer):
    assert TASK.verify(PROBLEM, answer).score == 1.0


@pytest.mark.parametrize("answer", ["", "7", "36", "-7.2", "5/36", "7.2 or 4.8", "36:5 of it"])
def test_other_answers_fail(answer):
    assert TASK.verify(PROBLEM, answer).score == 0.0


@pytest.mark.parametrize(
    "knobs", [{"kinds": ("tax",)}, {"n_terms": 1}, {"n_terms": 201}, {"max_number": 3}]
)
def test_config_is_checked(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        RatioProportionConfig(**knobs)
