"""Answers in Python that import packages: the prompt names them, and the sandbox has to have them."""

import json
import subprocess

import pytest

import rlvr_envs
from rlvr_envs.core.errors import ConfigError, ToolchainMissing
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.code.code_dataset import CodeDatasetConfig, CodeDatasetTask
from rlvr_envs.sandboxes.backend import interpreter
from rlvr_envs.sandboxes.base import Job
from rlvr_envs.sandboxes.packages import with_packages
from rlvr_envs.sandboxes.shared import shared_sandbox
from rlvr_envs.verifiers.program import run_python
from rlvr_envs.verifiers.program_values import read

FUNCTION = {
    "text": "Write a function to add up squares.",
    "code": "def total(n):\n    return sum(i * i for i in range(n))\n",
    "test_list": ["assert total(3) == 5", "assert total(4) == 14"],
}
PROGRAM = {
    "question": "Add up the numbers.",
    "input_output": json.dumps({"inputs": ["1 2\n", "4 5 6\n"], "outputs": ["3\n", "15\n"]}),
}
SQUARES = "import numpy\n\ndef total(n):\n    return (numpy.arange(n) ** 2).sum()\n"
SUM = "import numpy\nprint(numpy.array(input().split(), dtype=int).sum())\n"


@pytest.fixture(scope="module")
def numpy():
    command = [interpreter()[0], "-I", "-c", "import numpy"]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("the sandbox's Python has no numpy: scripts/install_toolchains.sh numpy")


def task(folder, row, **knobs):
    path = folder / "rows.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return CodeDatasetTask(CodeDatasetConfig(path=str(path), **knobs))


@pytest.mark.parametrize(("row", "answer"), [(FUNCTION, SQUARES), (PROGRAM, SUM)])
def test_a_package_is_there_only_if_it_was_allowed(row, answer, numpy, tmp_path):
    allowed = task(tmp_path, row, packages=("numpy",))
    problem = allowed.problem_at(0)
    assert "only the standard library and numpy." in allowed.prompt(problem)
    assert allowed.verify(problem, answer).status is Status.CORRECT
    assert allowed.verify(problem, answer.replace("sum", "max")).status is Status.WRONG
    plain = task(tmp_path, row)
    assert plain.verify(plain.problem_at(0), answer).status is Status.WRONG


def test_arrays_are_lists_and_other_types_of_numpy_are_no_results(numpy, tmp_path):
    row = FUNCTION | {"test_list": ["assert total(2) == [1, 2]"]}
    found = task(tmp_path, row, packages=("numpy",))
    problem = found.problem_at(0)
    for value, status in [
        ("numpy.array([1, 2])", Status.CORRECT),
        ("[numpy.int64(1), numpy.float64(2)]", Status.CORRECT),
        ("numpy.array([1, 3])", Status.WRONG),
        ("numpy.dtype(int)", Status.WRONG),
    ]:
        answer = f"import numpy\ndef total(n):\n    return {value}\n"
        assert found.verify(problem, answer).status is status


def test_a_row_keeps_what_is_allowed(numpy, tmp_path):
    found = task(tmp_path, FUNCTION, packages=("numpy",))
    made = rlvr_envs.make_problem(
        "rlvr/CodeDataset-v0", path=found.config.path, packages=("numpy",), seed=0
    )
    assert rlvr_envs.verify(made, f"```python\n{SQUARES}```").score == 1.0


def test_solutions_that_work_out_results_may_import_what_answers_may(numpy, tmp_path):
    loop = "for n in range(4):\n    assert total(n) >= 0"
    row = FUNCTION | {"code": SQUARES, "test_list": [loop]}
    found = task(tmp_path, row, packages=("numpy",), run_solutions=True)
    problem = found.problem_at(0)
    assert [read(test.expected) for test in problem.tests] == [0, 0, 1, 5]
    assert found.verify(problem, FUNCTION["code"]).status is Status.CORRECT
    assert found.verify(problem, SQUARES.replace("sum", "max")).status is not Status.CORRECT
    with pytest.raises(ConfigError, match="ModuleNotFoundError"):
        len(task(tmp_path, row, run_solutions=True))
    with pytest.raises(ToolchainMissing, match="apt-get install python3-no_such_package"):
        len(task(tmp_path, row, packages=("no_such_package",), run_solutions=True))


def test_a_missing_package_is_no_wrong_answer(tmp_path):
    found = task(tmp_path, FUNCTION, packages=("no_such_package",))
    with pytest.raises(ToolchainMissing, match="apt-get install python3-no_such_package"):
        found.verify(found.problem_at(0), SQUARES)


@pytest.mark.parametrize(
    ("knobs", "told"),
    [
        ({"packages": "numpy"}, "a tuple of names"),
        ({"packages": ("numpy; import os",)}, "a tuple of names"),
        ({"packages": ("numpy",), "language": "lua"}, "packages are for Python"),
    ],
)
def test_what_cannot_be_a_package_is_refused(knobs, told):
    with pytest.raises(ConfigError, match=told):
        CodeDatasetConfig(**knobs)


def test_a_command_has_no_packages():
    with pytest.raises(ConfigError, match="the job runs '/bin/true'"):
        with_packages(Job(argv=("/bin/true",)), ("numpy",), shared_sandbox())


def test_a_job_that_asks_for_no_package_sees_none(numpy):
    source = "import sys; print([p for p in sys.path if 'packages' in p], sys.path[-1])"
    assert run_python(source).stdout.decode().startswith("[] ")
