"""Real data: HumanEval's own solutions earn full marks, and broken ones nothing."""

import ast
import random
from pathlib import Path

import pytest

from rlvr_envs.envs.code.code_dataset import CodeDatasetConfig, CodeDatasetTask
from rlvr_envs.sandboxes import languages

DATA = Path(__file__).resolve().parents[3] / "shared/data/code/humaneval_even.jsonl"
pytestmark = pytest.mark.skipif(not DATA.is_file(), reason=f"needs {DATA}, which is not shipped")

READ_AS_DATA = 78  # of 82; the tests of the four others are loops
ROWS = 82


@pytest.fixture(scope="module")
def as_data():
    return CodeDatasetTask(CodeDatasetConfig(path=str(DATA), on_bad_row="skip"))


@pytest.fixture(scope="module")
def worked_out():
    return CodeDatasetTask(CodeDatasetConfig(path=str(DATA), run_solutions=True))


def problems(task):
    return [task.problem_at(index) for index in range(len(task))]


def test_most_rows_are_read_without_running_anything(as_data):
    assert len(as_data) == READ_AS_DATA
    assert all("is a loop" in row.reason for row in as_data.file().refused)
    tests = [len(problem.tests) for problem in problems(as_data)]
    assert sum(tests) > 500
    assert min(tests) >= 1


def test_all_rows_are_usable_where_solutions_may_run(worked_out):
    assert len(worked_out) == ROWS
    assert not worked_out.file().refused


def test_the_solutions_of_the_file_earn_full_marks(worked_out):
    for problem in problems(worked_out):
        verdict = worked_out.verify(problem, worked_out.solve(problem))
        assert verdict.score == 1.0, (problem.function, verdict)


SPOILED = """

def {name}(*args, _right={name}):
    result = _right(*args)
    if isinstance(result, bool):
        return not result
    if isinstance(result, (int, float)):
        return result + 1
    if isinstance(result, str):
        return result + "x"
    if isinstance(result, (list, tuple)):
        return result + type(result)([None])
    return 0 if result is None else None
"""


def test_solutions_with_a_spoiled_result_earn_nothing(worked_out):
    for problem in problems(worked_out):
        spoiled = problem.solution + SPOILED.format(name=problem.function)
        verdict = worked_out.verify(problem, spoiled)
        assert verdict.score == 0.0, (problem.function, verdict)


# Python under another name, so that its functions are posed as programs.
SNAKE = """
[snake]
install = "apt-get install python3"
filename = "main.py"
compile = ""
execute = "python3 main.py"
prompt = "Write the program in Python."
warm = true
"""
AS_PROGRAM = """

import json
print(json.dumps({name}(*json.loads(input()))))
"""


def test_functions_as_programs_are_judged_alike(tmp_path, monkeypatch):
    (tmp_path / "snake.toml").write_text(SNAKE)
    monkeypatch.setenv(languages.VARIABLE, str(tmp_path / "snake.toml"))
    config = CodeDatasetConfig(path=str(DATA), run_solutions=True, language="snake")
    task = CodeDatasetTask(config)
    assert len(task) == ROWS
    for problem in problems(task):
        program = AS_PROGRAM.format(name=problem.function)
        assert task.verify(problem, problem.solution + program).score == 1.0, problem.function
        spoiled = problem.solution + SPOILED.format(name=problem.function) + program
        assert task.verify(problem, spoiled).score == 0.0, problem.function


SWAPS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add,
    ast.Div: ast.FloorDiv, ast.FloorDiv: ast.Div, ast.Mod: ast.FloorDiv,
    ast.And: ast.Or, ast.Or: ast.And, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip


class Mutator(ast.NodeTransformer):
    """Changes one place of a program: a comparison, an operator or a whole number."""

    def __init__(self, place):
        self.place, self.seen = place, 0

    def generic_visit(self, node):
        node = super().generic_visit(node)
        number = isinstance(node, ast.Constant) and type(node.value) is int
        if number or type(node) in SWAPS:
            self.seen += 1
            if self.seen - 1 == self.place:
                return ast.Constant(node.value + 1) if number else SWAPS[type(node)]()
        return node


def mutants(source, count):
    finder = Mutator(-1)
    finder.visit(ast.parse(source))
    places = random.Random(0).sample(range(finder.seen), min(count, finder.seen))
    for place in sorted(places):
        yield ast.unparse(ast.fix_missing_locations(Mutator(place).visit(ast.parse(source))))


def test_mutants_of_solutions_seldom_pass(worked_out):
    # Some mutants are as right as the original (x < 0 for x <= 0 where 0 changes nothing) and some
    # wrong ones slip through the few tests of a row, so a share is what can be asked for.
    made = survived = 0
    for problem in problems(worked_out):
        for mutant in mutants(problem.solution, 2):
            made += 1
            survived += worked_out.verify(problem, mutant).score == 1.0
    assert made > 120
    assert survived <= 0.2 * made, f"{survived} of {made} mutants pass"


def test_a_solution_of_another_row_earns_nothing(as_data):
    listed = problems(as_data)
    for problem, other in zip(listed, listed[1:] + listed[:1], strict=True):
        renamed = other.solution + f"\n\n{problem.function} = {other.function}\n"
        assert as_data.verify(problem, renamed).score == 0.0, (problem.function, other.function)
