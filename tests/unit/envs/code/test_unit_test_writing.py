"""UnitTestWriting: suites are read as data, and judged as running them would judge them."""

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.code.unit_test_writing import UnitTestWritingConfig, UnitTestWritingTask
from rlvr_envs.generators.code_length import code_length
from rlvr_envs.generators.programs.nodes import Function, Int, Return
from rlvr_envs.generators.tested_functions.functions import KINDS, rule_function, trial_inputs
from rlvr_envs.generators.tested_functions.quality import RAISES, mutant, output, slips
from rlvr_envs.generators.tested_functions.suite import read_suite
from rlvr_envs.generators.tested_functions.values import SuiteError

PAIR = Function("f", (("a", "int"), ("b", "int")), "int", (Return(Int(0)),))
ITEMS = Function("g", (("items", "list"),), "int", (Return(Int(0)),))


def problem_of(kind, difficulty=4):
    task = UnitTestWritingTask(UnitTestWritingConfig.at(difficulty))
    for seed in range(100):
        problem = task.generate(stream("kind", kind, seed))
        if problem.kind == kind:
            return task, problem
    raise AssertionError(kind)


def run_in_python(source, name, args):
    """Run the function's own Python text."""
    space = {}
    exec(source, space)
    try:
        return str(space[name](*(list(a) if isinstance(a, tuple) else a for a in args)))
    except (IndexError, ZeroDivisionError):
        return RAISES


@pytest.mark.parametrize("kind", KINDS)
def test_the_shown_code_does_what_mutants_are_compared_with(kind):
    results = set()
    for seed in range(8):
        subject = rule_function(kind, 3, seed)
        for args in trial_inputs(stream("inputs", kind, seed), subject, 40):
            wanted = run_in_python(subject.source, subject.function.name, args)
            assert output(subject.program, args) == wanted
            results.add(wanted)
    assert len(results) > 40


@pytest.mark.parametrize("kind", KINDS)
def test_the_score_is_the_share_of_mutants_that_a_test_fails_on(kind):
    task, problem = problem_of(kind)
    subject = problem.subject
    mutants = [mutant(subject.program, slips(kind, problem.n_rules, problem.seed)[number])
               for number in problem.mutants]  # fmt: skip
    tests = task.solve(problem).split("\n\n\n")
    scores = []
    for count in range(1, len(tests) + 1):
        told = [
            any(
                output(m, args) != output(subject.program, args) for args in problem.witness[:count]
            )
            for m in mutants
        ]
        verdict = task.verify(problem, "\n".join(tests[:count]))
        assert verdict.score == pytest.approx(sum(told) / len(told))
        assert verdict.parts["mutants_killed"] == sum(told)
        scores.append(verdict.score)
    assert scores[-1] == 1.0
    assert scores == sorted(scores)


@pytest.mark.parametrize("kind", KINDS)
def test_one_wrong_expectation_makes_a_suite_worth_nothing(kind):
    task, problem = problem_of(kind)
    right = task.solve(problem)
    head, _, last = right.rpartition(" == ")
    wrong = f"{head} == {'[]' if kind != 'text' else repr('no')}"
    verdict = task.verify(problem, wrong)
    assert verdict.status is Status.WRONG
    assert "fails on the function itself" in verdict.detail
    assert last.strip("'") not in verdict.detail.split()


def test_suites_in_other_clothes_say_the_same():
    def checks(source):
        return [(c.args, c.expected) for c in read_suite(source, PAIR, 20).checks]

    wanted = [((1, 2), 3), ((4, -5), 6)]
    loop = "for a, b, c in [(1, 2, 3), (4, -5, 6)]:"
    for source in (
        "def test_a():\n    assert f(1, 2) == 3\n    assert 6 == f(4, b=-5)",
        "from solution import f\ndef test_a():\n    assert f(1, 2) == 3 and f(4, -5) == 6",
        f"def test_all():\n    'each'\n    {loop}\n        got = f(a, b)\n        assert got == c",
        (
            "CASES = [(1, 2, 3), (4, -5, 6)]\nimport pytest\n"
            "@pytest.mark.parametrize('a, b, c', CASES)\ndef test_a(a, b, c):\n    assert f(a, b) == c"
        ),
        (
            "import pytest\n@pytest.mark.parametrize(('a', 'b', 'c'), [(1, 2, 3), (4, -5, 2 * 3)])\n"
            "def test_a(c, a, b):\n    assert f(a, b) == c, 'message'"
        ),
        (
            "import unittest\nclass TestF(unittest.TestCase):\n    def test_a(self):\n"
            "        self.assertEqual(f(1, 2), 3)\n        x: int = 4\n        assert f(x, -5) == 6"
        ),
    ):
        assert checks(source) == wanted, source


def test_measures_of_a_suite():
    source = (
        "def test_a():\n    assert f(1, 2) == 3\n    assert f(1, 2) == 3\n    assert 1 == 1\n"
        "def test_b():\n    pass\n"
    )
    assert read_suite(source, PAIR, 20).quality() == {
        "tests": 2.0,
        "assertions": 2.0,
        "repeated_assertions": 1.0,
        "tests_without_assertion": 1.0,
        "idle_assertions": 1.0,
        "most_assertions_in_a_test": 2.0,
    }


REFUSED = {
    "looks at the code": "import inspect\ndef test_a():\n    assert 'max' in inspect.getsource(f)",
    "looks at frames": "import sys\ndef test_a():\n    assert sys._getframe(1).f_code == f(1, 2)",
    "looks at the byte code": "def test_a():\n    assert f.__code__.co_code == b'x'",
    "equals everything": "class Any:\n    def __eq__(self, other): return True\n"
    "def test_a():\n    assert f(1, 2) == Any()",
    "computes the result": "def right(a, b): return a\ndef test_a():\n    assert f(1, 2) == right(1, 2)",
    "compares with itself": "def test_a():\n    assert f(1, 2) == f(1, 2)",
    "swallows failures": "def test_a():\n    try:\n        assert f(1, 2) == 3\n    except: pass",
    "sleeps": "import time\ndef test_a():\n    time.sleep(9)\n    assert f(1, 2) == 3",
    "skips": "import pytest\n@pytest.mark.skip\ndef test_a():\n    assert f(1, 2) == 3",
    "chooses": "def test_a():\n    if f(1, 2) == 3:\n        assert f(2, 3) == 4",
    "tests a property": "def test_a():\n    assert f(1, 2) > 0",
    "negates": "def test_a():\n    assert f(1, 2) != 7",
    "is not strict": "def test_a():\n    assert f(1, 2) == 3 or True",
    "replaces the function": "f = [3]\ndef test_a():\n    assert f(1, 2) == 3",
    "has a lambda": "g = lambda: 3\ndef test_a():\n    assert f(1, 2) == g()",
    "evaluates": "def test_a():\n    assert f(1, 2) == eval('3')",
    "reads files": "def test_a():\n    assert f(1, 2) == open('x').read()",
    "walrus": "def test_a():\n    assert (x := f(1, 2)) == 3",
    "comprehension": "def test_a():\n    assert [f(1, 2) for i in [1]] == [3]",
    "has no name of a test": "def check():\n    assert f(1, 2) == 3",
    "asserts outside of tests": "assert f(1, 2) == 3",
    "hides a test": "def test_a():\n    assert f(1, 2) == 3\ndef test_a():\n    assert f(1, 2) == 4",
    "keyword": "def test_a():\n    assert f(1, c=2) == 3",
    "too few arguments": "def test_a():\n    assert f(1) == 3",
    "wrong types": "def test_a():\n    assert f(True, '2') == 3",
    "too many calls": "def test_a():\n    for i in range(99):\n        assert f(i, 2) == 3",
    "fixtures": "def test_a(x):\n    assert f(1, x) == 3",
    "defaults": "def test_a(x=1):\n    assert f(1, x) == 3",
    "starred": "def test_a():\n    assert f(*[1, 2]) == 3",
    "huge number": "def test_a():\n    assert f(10**99, 2) == 3",
    "huge list": "X = [0] * 10000000000\ndef test_a():\n    assert f(1, 2) == 3",
    "endless": "def test_a():\n" + "".join(f"{'    ' * n}for i{n} in range(99):\n" for n in range(1, 9))
    + "    " * 9 + "x = 1",
    "deep": "def test_a():\n    assert f(1, " + "(" * 150 + "2" + ",)" * 150 + ") == 3",
    "async": "async def test_a():\n    assert f(1, 2) == 3",
    "star import": "from os import *\ndef test_a():\n    assert f(1, 2) == 3",
    "no Python": "def test_a(:",
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_more_than_data_is_refused(name):
    with pytest.raises(SuiteError):
        read_suite(REFUSED[name], PAIR, 20)


def test_lists_are_lists():
    assert read_suite("def test_a():\n    assert g([1] * 2 + [3]) == 5", ITEMS, 5).checks[
        0
    ].args == ([1, 1, 3],)
    with pytest.raises(SuiteError):
        read_suite("def test_a():\n    assert g((1, 2)) == 5", ITEMS, 5)


def test_suites_that_say_nothing_earn_nothing():
    task, problem = problem_of("numbers")
    for source in ("", "def test_a():\n    pass", "def test_a():\n    assert 1 == 1", "# tests"):
        assert task.verify(problem, source).score == 0.0
    fits = f"def test_a():\n    assert {problem.function}(1, 2) == True"
    assert task.verify(problem, fits).status is Status.WRONG


def test_bad_knobs_are_errors():
    for knobs in ({"n_rules": 0}, {"n_mutants": 1}, {"max_checks": 0}):
        with pytest.raises(ConfigError):
            UnitTestWritingConfig(**knobs)


@pytest.mark.parametrize("kind", KINDS)
def test_effort_and_baseline(kind):
    task, problem = problem_of(kind)
    assert task.effort(problem) == len(problem.witness) * code_length(problem.source)
    suite = task.baseline(stream("rng"), problem)
    assert suite.count("assert") == 1
    verdict = task.verify(problem, suite)
    assert verdict.score < 0.5
    if kind != "numbers":  # what comes of nothing is said
        assert "fails on the function itself" not in verdict.detail
