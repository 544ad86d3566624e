"""Answers that a policy could give to the math tasks without solving them earn nothing."""

import math
import re
from collections.abc import Callable

import pytest

from rlvr_envs.core.registry import find
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.task import configure
from rlvr_envs.envs.math.chinese_remainder import ChineseRemainderProblem
from rlvr_envs.envs.math.derivative import DerivativeProblem
from rlvr_envs.envs.math.function_composition import FunctionCompositionProblem
from rlvr_envs.envs.math.polynomial_division import PolynomialDivisionProblem
from rlvr_envs.verifiers.mathtext import fallback
from rlvr_envs.verifiers.symbolic import judge_math

IDS = (
    "CalendarArithmetic", "ChineseRemainder", "Counting", "DefiniteIntegral", "DigitProblem",
    "Eigenvalues", "FunctionProperties", "Gcd", "Limit", "LinearEquation", "LinearSystem",
    "MatrixDeterminant", "MatrixInverse", "MatrixProduct", "ModularInverse", "NextTerm",
    "PolynomialRoots", "Probability", "RatioProportion", "SeriesSum", "Totient",
    "UnitConversion", "WordProblem",
)  # fmt: skip
OTHER = "86423"

# What turns a right answer into one that says something else, or several things.
SPOILED: tuple[Callable[[str], str], ...] = (
    lambda right: rf"{right} \text{{ or }} {OTHER}",
    lambda right: f"{OTHER} or {right}",
    lambda right: f"{right}, {OTHER}",
    lambda right: f"{right}; {OTHER}",
    lambda right: f"{right} = {OTHER}",
    lambda right: f"{OTHER} = {right}",
    lambda right: rf"{OTHER} \approx {right}",
    lambda right: rf"\neq {right}",
    lambda right: rf"{right} \pm 1",
    lambda right: rf"x \in \{{{right}, {OTHER}\}}",
    lambda right: f"{OTHER} % {right}",
    lambda right: rf"{OTHER}\phantom{{{right}}}",
    lambda right: f"{right}|{OTHER}",
    lambda right: rf"{right}, \ldots",
    lambda right: rf"{right} \\ {OTHER}",
    lambda right: rf"{right} \pmod{{1}}",
)


def problems(name: str, difficulty: int):
    spec = find(f"rlvr/{name}-v0")
    task = spec.task_type(configure(spec.task_type, difficulty, {}))
    for seed in range(6):
        yield task, task.generate(stream("red-team", name, difficulty, seed))


@pytest.mark.parametrize("name", IDS)
def test_a_right_answer_among_others_earns_nothing(name):
    for difficulty in (0, 3):
        for task, problem in problems(name, difficulty):
            right = task.solve(problem)
            if right == "0" or not re.search(r"\d", right):
                continue  # weekdays and clock times are words; 0 is both 0 and -0
            assert task.verify(problem, right).score == 1.0
            for spoil in SPOILED:
                assert task.verify(problem, spoil(right)).score == 0.0, spoil(right)


COPIES: dict[str, Callable[[list[str]], str]] = {
    "Gcd": lambda numbers: rf"\gcd({', '.join(numbers)})",
    "ModularInverse": lambda numbers: rf"{numbers[0]}^{{-1}} \bmod {numbers[1]}",
    "Totient": lambda numbers: rf"\varphi({numbers[0]})",
}


@pytest.mark.parametrize("name", COPIES)
def test_a_copied_question_earns_nothing(name):
    for difficulty in (0, 3):
        for task, problem in problems(name, difficulty):
            numbers = re.findall(r"\d+", task.prompt(problem))
            assert task.verify(problem, COPIES[name](numbers)).score == 0.0


@pytest.mark.parametrize("name", ["Limit", "DefiniteIntegral", "SeriesSum", "IndefiniteIntegral"])
def test_a_copied_formula_earns_nothing(name):
    for difficulty in (0, 3):
        for task, problem in problems(name, difficulty):
            for formula in re.findall(r"\$\$(.+?)\$\$", task.prompt(problem), re.DOTALL):
                assert task.verify(problem, formula.rstrip(".")).score == 0.0
                assert task.verify(problem, f"I = {formula.rstrip('.')}").score == 0.0


FUNCTION = r"\sin(({0})^2+3({0})) \ln(({0})^2+2)"
SLOPE = r"(2x+3)\cos(x^2+3x)\ln(x^2+2) + \frac{2x \sin(x^2+3x)}{x^2+2}"
STEPS = (
    "10^{-8}", "10^{-16}", "10^{-20}", "10^{-100}", "10^{-15.5}", "e^{-37}", "2^{-55}",
    r"\frac{1}{10^{17}}", "0.0000000000000001", r"10^{-16} x", r"\pi^{-33}",
)  # fmt: skip


@pytest.mark.parametrize("step", STEPS)
def test_difference_quotients_are_no_derivatives(step):
    ahead, behind = (FUNCTION.format(f"x{sign}{step}") for sign in "+-")
    twice, back = (FUNCTION.format(f"x{sign}2*{step}") for sign in "+-")
    second_order = rf"\frac{{{ahead}-{behind}}}{{2*{step}}}"
    fourth_order = rf"\frac{{8({ahead}-{behind})-({twice}-{back})}}{{12*{step}}}"
    logarithm = rf"\frac{{1}}{{2*{step}}} \ln\frac{{e^{{{ahead}}}}}{{e^{{{behind}}}}}"
    problem = DerivativeProblem(FUNCTION.format("x"), 1, None, SLOPE)
    task, _ = next(problems("Derivative", 0))
    assert task.verify(problem, SLOPE + " + 0").score == 1.0
    for copied in (second_order, fourth_order, logarithm):
        assert task.verify(problem, copied).score == 0.0


@pytest.mark.parametrize(
    "term", ["10^{-40}", "10^{-40} x", "e^{-100}", "e^{-1000}", r"\pi^{-99} x"]
)
def test_terms_too_small_to_see_are_seen(term):
    for gold in (SLOPE, r"-7\pi - 156", r"x + \sqrt{2}"):
        assert judge_math(gold, f"{gold} + {term}", answer_type="expression").score == 0.0
        harmless = rf"{gold} + \sin^2 x + \cos^2 x - 1"
        assert judge_math(gold, harmless, answer_type="expression").score == 1.0


def test_a_congruence_of_the_question_is_not_its_answer():
    task, _ = next(problems("ChineseRemainder", 0))
    problem = ChineseRemainderProblem((8, 5), (1, 1), (1, 1), 1)
    for copied in (r"x \equiv 1 \pmod{8}", r"1 \pmod{8}", "1 (mod 5)"):
        assert task.verify(problem, copied).score == 0.0
    for right in ("1", "x = 1", rf"x \equiv 1 \pmod{{{math.lcm(8, 5)}}}"):
        assert task.verify(problem, right).score == 1.0


def test_two_sides_must_not_differ():
    composition, _ = next(problems("FunctionComposition", 3))
    composed = FunctionCompositionProblem(functions=((1, 1), (0, 2)), argument=None, result=(1, 2))
    assert composition.verify(composed, "f(g(x)) = 2x + 1").score == 1.0
    assert composition.verify(composed, "86423 = 2x + 1").score == 0.0
    division, _ = next(problems("PolynomialDivision", 0))
    divided = PolynomialDivisionProblem((5, 5, 3), (1, 1), (2, 3), (3,))
    assert division.verify(divided, "(q, r) = (3x + 2, 3)").score == 1.0
    assert division.verify(divided, "86423 = (3x + 2, 3)").score == 0.0


LAYOUTS = (
    "{}.", r"\({}\)", "${}$", "$${}$$", r"\displaystyle {}",
)  # fmt: skip


@pytest.mark.parametrize(
    "name",
    ["BaseConversion", "CalendarArithmetic", "CausalQuery", "Inequality", "LinearDiophantine",
     "PolynomialFactorization", "PrimeFactorization", "SetOperations", *IDS],
)  # fmt: skip
def test_a_right_answer_counts_in_any_layout(name):
    for difficulty in (0, 3):
        for task, problem in problems(name, difficulty):
            for layout in LAYOUTS:
                assert task.verify(problem, layout.format(task.solve(problem))).score == 1.0


def test_names_and_systems_are_read_by_the_tasks():
    for task, problem in problems("LinearSystem", 0):
        x, y = problem.solution
        for name, end in (("cases", " "), ("aligned", "&")):
            system = rf"\begin{{{name}}} x {end}= {x} \\ y {end}= {y} \end{{{name}}}"
            assert task.verify(problem, system).score == 1.0
            swapped = rf"\begin{{{name}}} y {end}= {x} \\ x {end}= {y} \end{{{name}}}"
            assert task.verify(problem, swapped).score == float(x == y)
    for task, problem in problems("PrimeFactorization", 0):
        assert task.verify(problem, f"n = {task.solve(problem)}").score == 1.0
    for task, problem in problems("Inequality", 0):
        assert task.verify(problem, f"S = {task.solve(problem)}").score == 1.0
        assert task.verify(problem, f"5 = {task.solve(problem)}").score == 0.0


def test_no_worker_is_kept_busy_by_what_nobody_can_read(monkeypatch):
    def refuse(*_):
        raise AssertionError("a task with exact answers asked the second reader")

    monkeypatch.setattr(fallback, "_ask", refuse)
    for task, problem in problems("Derivative", 0):
        for text in ("{" * 200, "12\\sinx", "\\pi)", "\\begin{vmatrix} x \\end{vmatrix}"):
            assert task.verify(problem, text).score == 0.0


def test_long_products_and_unclosed_environments_cost_little():
    """Bounded work, seen by its outcome: neither is differentiated nor searched for an end."""
    task, problem = next(problems("IndefiniteIntegral", 0))
    assert task.verify(problem, "x^2" * 500).status == "undecided"
    assert task.verify(problem, r"\begin{aligned}" * 120 + r"\end{gathered}").score == 0.0
