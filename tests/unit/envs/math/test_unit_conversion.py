"""UnitConversion: the text alone gives the answer, the small world, units, configuration."""

import re
from fractions import Fraction

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.unit_conversion import (
    KINDS,
    Conversion,
    UnitConversionConfig,
    UnitConversionProblem,
    UnitConversionTask,
)


def searched(prompt):
    """Return the answer by a search through the conversions that the text states."""
    sizes = {}
    for left, unit, right, other in re.findall(
        r"^(\d+) (\w+) = (\d+) (\w+)$", prompt, re.MULTILINE
    ):
        sizes.setdefault(unit, []).append((other, Fraction(int(right), int(left))))
        sizes.setdefault(other, []).append((unit, Fraction(int(left), int(right))))

    def factor(source, target):
        known = {source: Fraction(1)}
        queue = [source]
        for unit in queue:
            for other, ratio in sizes[unit]:
                if other not in known:
                    known[other] = known[unit] * ratio
                    queue.append(other)
        return known[target]

    stated = re.search(r"By these equations, (\d+) (\w+) are (\S+) (\w+)\.", prompt)
    if stated:
        return int(stated[1]) * factor(stated[2], stated[4]) == Fraction(stated[3])
    rate = re.search(r"Convert (\d+) (\w+) per (\w+) to (\w+) per (\w+)\.", prompt)
    if rate:
        amount, source, per, target, target_per = rate.groups()
        return int(amount) * factor(source, target) / factor(per, target_per)
    amount, source, target = re.search(
        r"Convert (\d+) (?:square )?(\w+) to (?:square )?(\w+)\.", prompt
    ).groups()
    return int(amount) * factor(source, target) ** (2 if "square" in prompt else 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("difficulty", [0, 2, 6, 15])
def test_the_text_alone_gives_the_answer(kind, difficulty):
    level = UnitConversionConfig.at(difficulty)
    config = UnitConversionConfig(
        n_steps=level.n_steps, n_distractors=level.n_distractors, kinds=(kind,)
    )
    task = UnitConversionTask(config)
    for seed in range(20):
        problem = task.generate(stream("UnitConversion", kind, difficulty, seed))
        text = task.prompt(problem)
        if kind != "unknown":
            assert problem.answer == searched(text)
            continue
        assert [x for x in range(1, 30) if searched(text.replace("$x$", str(x)))] == [
            problem.answer
        ]
        assert task.explain(problem)[-1].endswith(f" = {problem.answer}")


@pytest.mark.parametrize("seed", range(20))
def test_whole_small_world(seed):
    task = UnitConversionTask(UnitConversionConfig.at(0))
    problem = task.generate(stream("UnitConversion", "small", seed))
    expected = searched(task.prompt(problem))
    window = {Fraction(top, bottom) for top in range(-3, 50) for bottom in range(1, 6)}
    accepted = {value for value in window if task.verify(problem, str(value)).score == 1.0}
    assert accepted == {expected}


def problem(kind):
    facts = (Conversion(5, "mudok", 12, "tiliz"), Conversion(1, "rafen", 1, "kolid"))
    per = ("mudok", "rafen") if kind == "rate" else None
    return UnitConversionProblem(kind, facts, 1, ("mudok", "tiliz"), per, Fraction(12, 5))


TASK = UnitConversionTask(UnitConversionConfig())


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        ("plain", "12/5"),
        ("plain", r"\frac{12}{5}"),
        ("plain", "2.4"),
        ("plain", "24/10 tiliz"),
        ("plain", "2.4 TILIZ."),
        ("plain", r"\frac{12}{5}\ \text{tiliz}"),
        ("plain", r"$\frac{12}{5}\,\mathrm{tiliz}$"),
        ("plain", r"$\frac{12}{5}$ tiliz"),
        ("square", "2.4 square tiliz"),
        ("square", r"2.4\ \text{tiliz}^2"),
        ("rate", "2.4 tiliz per rafen"),
        ("rate", r"\frac{12}{5} \text{ tiliz}/\text{rafen}"),
    ],
)
def test_number_with_the_right_unit_or_none_passes(kind, answer):
    assert TASK.verify(problem(kind), answer).score == 1.0


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        ("plain", "12"),
        ("plain", "5/12"),
        ("plain", "2.4 mudok"),
        ("plain", "2.4 mudok = 1 tiliz"),
        ("plain", "tiliz"),
        ("square", "2.4 square mudok"),
        ("rate", "2.4 tiliz per mudok"),
        ("plain", ""),
    ],
)
def test_wrong_number_or_unit_fails(kind, answer):
    assert TASK.verify(problem(kind), answer).score == 0.0


def test_distractors_do_not_shorten_the_chain():
    task = UnitConversionTask(UnitConversionConfig(n_steps=4, n_distractors=3, kinds=("plain",)))
    for seed in range(20):
        made = task.generate(stream("UnitConversion", "tree", seed))
        units = {name for fact in made.facts for name in (fact.unit, fact.other)}
        assert len(made.facts) == len(units) - 1 == 7


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"n_steps": 0}, "n_steps"),
        ({"n_distractors": -1}, "n_distractors"),
        ({"max_factor": 2}, "max_factor"),
        ({"max_amount": 1}, "max_amount"),
        ({"kinds": ("cubic",)}, "kinds"),
    ],
)
def test_config_is_checked(knobs, message):
    with pytest.raises(ConfigError, match=message):
        UnitConversionConfig(**knobs)


def test_effort_and_baseline_of_a_small_problem():
    steps = TASK.explain(problem("plain"))
    assert steps == ["One mudok is 12/5 tiliz.", "In tiliz: 1 * (12/5) = 12/5"]
    # the digits, and a product of one digit and two
    assert TASK.effort(problem("plain")) == 10 + 2
    assert TASK.baseline(stream("b"), problem("plain")) == r"\frac{12}{5}"
