"""Families of questions: the window of a level, trivial answers, values in LaTeX."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig
from rlvr_envs.core.seeding import integer, stream
from rlvr_envs.generators.mathematics.families import Family, FamilyTask, Question, shown, window
from rlvr_envs.generators.mathematics.surds import root


@dataclass(frozen=True, slots=True, kw_only=True)
class SquareConfig(TaskConfig):
    kinds: tuple[str, ...] = ("square",)
    size: int = 9


def square(n):
    return Question(f"Square {n}.", n * n, [f"{n} * {n} = {n * n}"], 2 * n)


class SquareTask(FamilyTask[SquareConfig]):
    Config = SquareConfig
    families: ClassVar = {
        "square": Family(2, lambda rng, size: (integer(rng, 0, size),), square),
        "one": Family(1, lambda rng, size: (1,), square),
    }


def test_the_window_slides_to_the_hardest():
    kinds = [str(k) for k in range(14)]
    assert window(kinds, 0) == ("0", "1", "2", "3")
    assert window(kinds, 10) == window(kinds, 99) == ("10", "11", "12", "13")
    starts = [int(window(kinds, level)[0]) for level in range(11)]
    assert starts == sorted(set(starts))


def test_values_in_latex():
    assert shown(7) == "7"
    assert shown(Fraction(-3, 4)) == "-\\frac{3}{4}"
    assert shown(root(12)) == "2\\sqrt{3}"


def test_a_question_is_posed_solved_and_judged():
    task = SquareTask(SquareConfig())
    problems = [task.generate(stream("square", n)) for n in range(60)]
    assert {p.numbers for p in problems} == {(n,) for n in range(2, 10)}  # not 0 and 1
    for problem in problems:
        (n,) = problem.numbers
        assert task.prompt(problem) == f"Square {n}. {task.form}"
        assert task.explain(problem) == [f"{n} * {n} = {n * n}"]
        assert task.baseline(stream("b"), problem) == str(2 * n)
        assert [k for k in range(99) if task.verify(problem, str(k)).score] == [n * n]
        assert task.effort(problem) == 5**2 + 2 + len(str(n * n)) + 1


def test_only_trivial_answers_are_an_error():
    with pytest.raises(ConfigError, match="'one' with size=9 had trivial answers"):
        SquareTask(SquareConfig(kinds=("one",))).generate(stream("one"))
