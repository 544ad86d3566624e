from fractions import Fraction

import pytest
import sympy
from sympy.parsing.sympy_parser import (
    implicit_multiplication,
    parse_expr,
    standard_transformations,
)

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.inequality import (
    KINDS,
    InequalityConfig,
    InequalityProblem,
    InequalityTask,
    Span,
    solve_on_line,
    states_set,
)

TRANSFORMATIONS = (*standard_transformations, implicit_multiplication)
X = sympy.Symbol("x")


def relation(latex: str) -> sympy.Basic:
    text = latex.replace(r"\left|", "Abs(").replace(r"\right|", ")").replace("^", "**")
    text = text.replace("}{", ")/(").replace(r"\frac{", "((").replace("}", "))")
    text = text.replace(r"\le", "<=").replace(r"\ge", ">=")
    return parse_expr(text, {"x": X}, transformations=TRANSFORMATIONS)


def holds(shown: sympy.Basic, x: Fraction) -> bool:
    value = sympy.Rational(x.numerator, x.denominator)
    left, right = (side.subs(X, value) for side in shown.args)
    if not left.is_finite or not right.is_finite:
        return False
    return bool(shown.func(left, right))


def contains(spans: tuple[Span, ...], x: Fraction) -> bool:
    return any(
        (s.low is None or s.low < x or (s.with_low and s.low == x))
        and (s.high is None or x < s.high or (s.with_high and s.high == x))
        for s in spans
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_solutions_are_where_the_inequality_holds(kind):
    task = InequalityTask(InequalityConfig(kinds=(kind,), n_points=4))
    for seed in range(6):
        problem = task.generate(stream("inequality", kind, seed))
        shown = relation(problem.inequality)
        ends = {end for s in problem.solutions for end in (s.low, s.high) if end is not None}
        tested = {Fraction(k, 2) for k in range(-26, 27, 3)} | ends
        tested |= {end + shift for end in ends for shift in (Fraction(1, 97), Fraction(-1, 97))}
        for x in tested:
            assert contains(problem.solutions, x) == holds(shown, x), (problem, x)


def test_whole_small_world():
    task = InequalityTask(InequalityConfig.at(0))
    for seed in range(20):
        problem = task.generate(stream("inequality", seed))
        shown = relation(problem.inequality)
        for point in range(-7, 8):
            inside = [holds(shown, Fraction(2 * point + k, 2)) for k in (-1, 0, 1)]
            for brackets, expected in (
                ("({}, \\infty)", [False, False, True]),
                ("[{}, \\infty)", [False, True, True]),
                ("(-\\infty, {})", [True, False, False]),
                ("(-\\infty, {}]", [True, True, False]),
            ):
                passed = task.verify(problem, brackets.format(point)).score == 1.0
                assert passed == (inside == expected), (problem, brackets, point)


PROBLEM = InequalityProblem(
    "?",
    (
        Span(None, Fraction(-1, 2), False, True),
        Span(Fraction(3), Fraction(3), True, True),
        Span(Fraction(4), Fraction(6), False, True),
    ),
)


@pytest.mark.parametrize(
    "text",
    [
        r"(-\infty, -\frac{1}{2}] \cup \{3\} \cup (4, 6]",
        r"\left(4, 6\right] \cup (-\infty, -0.5] \cup \{3\}",
        "(-∞, -1/2] ∪ {3} ∪ (4, 6]",
        r"x \in (-\infty, -\frac12] \cup \{3\} \cup (4, 6]",
        r"(-\infty, -1/2] \cup \{3\} \cup (4, 5] \cup (5, 6]",
    ],
)
def test_equal_sets_pass(text):
    assert InequalityTask(InequalityConfig()).verify(PROBLEM, text).score == 1.0


@pytest.mark.parametrize(
    "text",
    [
        r"(-\infty, -\frac{1}{2}) \cup \{3\} \cup (4, 6]",
        r"(-\infty, -\frac{1}{2}] \cup (4, 6]",
        r"(-\infty, \frac{1}{2}] \cup \{3\} \cup (4, 6]",
        r"(-\infty, \infty)",
        r"\emptyset",
        "x > 4",
        "3",
        "",
    ],
)
def test_other_sets_do_not_pass(text):
    assert InequalityTask(InequalityConfig()).verify(PROBLEM, text).score == 0.0


def test_inequalities_for_x_pass_but_not_the_question_itself():
    task = InequalityTask(InequalityConfig())
    between = InequalityProblem("|x| < 3", (Span(Fraction(-3), Fraction(3), False, False),))
    for text in ("-3 < x < 3", "x > -3 and x < 3", "(-3, 3)"):
        assert task.verify(between, text).score == 1.0
    for text in ("|x| < 3", r"\left|x\right| < 3", "2x < 6 and x > -3", "x^2 < 9"):
        assert task.verify(between, text).score == 0.0
    outside = InequalityProblem(
        "?", (Span(None, Fraction(-3), False, False), Span(Fraction(3), None, True, False))
    )
    for text in ("x < -3 or x >= 3", r"x < -3 \text{ or } x \ge 3"):
        assert task.verify(outside, text).score == 1.0


def test_sets_are_told_from_other_answers():
    assert states_set("x < 2")
    assert states_set(r"[1, 2) \cup (3, \infty)")
    assert not states_set("x + 1 < 3")
    assert not states_set("5")


def test_solutions_merge_across_points_where_nothing_changes():
    everywhere = solve_on_line([Fraction(1), Fraction(2)], lambda x: True)
    assert everywhere == (Span(None, None, False, False),)
    assert solve_on_line([Fraction(1)], lambda x: x == 1) == (
        Span(Fraction(1), Fraction(1), True, True),
    )
    assert solve_on_line([Fraction(1)], lambda x: x != 1) == (
        Span(None, Fraction(1), False, False),
        Span(Fraction(1), None, False, False),
    )


@pytest.mark.parametrize(
    "knobs",
    [
        {"kinds": ()},
        {"kinds": ("cubic",)},
        {"n_points": 1},
        {"n_points": 5, "max_point": 4},
        {"max_denominator": 0},
    ],
)
def test_bad_knobs_are_refused(knobs):
    with pytest.raises(ConfigError):
        InequalityConfig(**knobs)


@pytest.mark.parametrize(
    ("text", "hurried"),
    [
        ("2x + 3 < 7", r"(-\infty, 2)"),
        ("-2x + 3 < 7", r"(-\infty, -2)"),  # the sign should have turned
        (r"x^2 - 3x + 2 \ge 0", r"[\frac{2}{3}, \infty)"),
        (r"2\left|x - 1\right| - \left|x\right| \le 3", r"(-\infty, 5]"),
        (r"\frac{2x - 4}{x + 2} > 0", r"(2, \infty)"),
    ],
)
def test_the_baseline_takes_everything_for_a_line(text, hurried):
    task = InequalityTask(InequalityConfig())
    assert task.baseline(stream("baseline"), InequalityProblem(text, ())) == hurried


def test_effort_of_a_small_problem():
    task = InequalityTask(InequalityConfig())
    easy, hard = (InequalityProblem(text, ()) for text in ("2x < 6", r"x^2 - 3x + 2 \ge 0"))
    # "Divide by 2: 6 / 2 = 3" and "x < 3", with one division of single digits.
    assert task.effort(easy) == 4 + 1 + 1
    assert task.effort(hard) > 3 * task.effort(easy)
