"""Rows of files with checkers of their own, and Codeforces' problems as open-r1 has them."""

import json

import pytest

import rlvr_envs
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.code.code_dataset import CodeDatasetConfig, CodeDatasetTask
from rlvr_envs.generators.published.code_rows import read_row
from rlvr_envs.verifiers.program_checker import MAX_CHECKER

ID = "rlvr/CodeDataset-v0"


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def only(tmp_path, row, **knobs):
    found = CodeDatasetTask(CodeDatasetConfig(path=write(tmp_path / "a.jsonl", row), **knobs))
    return found, found.problem_at(0)


# Two numbers above 0 with the sum of the input, in any order.
CHECKER = """
import sys

def main():
    total = int(open(sys.argv[1]).read())
    parts = [int(word) for word in open(sys.argv[3]).read().split()]
    print(1 if len(parts) == 2 and min(parts) > 0 and sum(parts) == total else 0)

if __name__ == "__main__":
    main()
"""
CODEFORCES = {
    "id": "1/A",
    "title": "Split",
    "time_limit": 1.0,
    "memory_limit": 64.0,
    "description": "Write the number as a sum.",
    "input_format": "The number.",
    "output_format": "The two summands.",
    "interaction_format": None,
    "note": "Any order will do.",
    "examples": [{"input": "5\n", "output": "2 3\n"}],
    "editorial": None,
    "official_tests": [{"input": "5\n", "output": "2 3\n"}, {"input": "9\n", "output": "4 5\n"}],
    "official_tests_complete": True,
    "input_mode": "stdio",
    "generated_checker": CHECKER,
}
TEST_CASES = {
    "prompt": "Write the number as a sum of two.",
    "test_cases": CODEFORCES["official_tests"],
    "checker": CHECKER,
}
OTHER = "n = int(input())\nprint(n - 1, 1)"
WRONG = "n = int(input())\nprint(n, 0)"
SAME = "n = int(input())\nprint(n // 2, n - n // 2)"


@pytest.mark.parametrize("row", [CODEFORCES, TEST_CASES], ids=["codeforces", "test cases"])
def test_a_checker_accepts_other_outputs_than_the_row_has(tmp_path, row):
    found, problem = only(tmp_path, row)
    assert problem.checker == CHECKER
    assert found.verify(problem, OTHER).score == 1.0
    assert found.verify(problem, SAME).score == 1.0
    assert found.verify(problem, found.solve(problem)).score == 1.0
    assert found.verify(problem, WRONG).status is Status.WRONG
    found, problem = only(tmp_path, row | {"checker": None, "generated_checker": ""})
    assert found.verify(problem, OTHER).status is Status.WRONG
    assert found.verify(problem, SAME).score == 1.0


def test_part_of_the_tests_may_be_right_by_a_checker(tmp_path):
    found, problem = only(tmp_path, TEST_CASES, reward="fraction")
    verdict = found.verify(problem, "n = int(input())\nprint(n - 1, 1 if n > 5 else 0)")
    assert (verdict.status, verdict.score) == (Status.PARTIAL, 0.5)


def test_a_checker_judges_programs_in_any_language(tmp_path):
    found, problem = only(tmp_path, TEST_CASES, language="c")
    source = (
        "#include <stdio.h>\n"
        'int main(void) { int n; scanf("%d", &n); printf("%d\\n%d", n - 1, 1); return 0; }\n'
    )
    assert found.verify(problem, source).score == 1.0
    assert found.verify(problem, source.replace(", 1)", ", 2)")).status is Status.WRONG


def test_the_statement_of_codeforces(tmp_path):
    found, problem = only(tmp_path, CODEFORCES)
    assert found.prompt(problem).startswith(
        "Write the number as a sum.\n\nInput\n\nThe number.\n\nOutput\n\nThe two summands.\n\n"
        "Example\n\nInput:\n5\n\nOutput:\n2 3\n\nNote\n\nAny order will do.\n\nThe program reads"
    )
    bare = {key: CODEFORCES[key] for key in ("description", "official_tests")}
    found, problem = only(tmp_path, bare)
    assert found.prompt(problem).startswith("Write the number as a sum.\n\nThe program reads")
    assert found.verify(problem, SAME).score == 1.0


def test_limits_of_the_row_hold_unless_you_set_others(tmp_path):
    _, problem = only(tmp_path, CODEFORCES)
    assert (problem.cpu_s, problem.memory_mib) == (1.0, 64)
    _, problem = only(tmp_path, CODEFORCES | {"memory_limit": 0.5}, cpu_s=3)
    assert (problem.cpu_s, problem.memory_mib) == (3.0, 1)
    _, problem = only(tmp_path, CODEFORCES | {"time_limit": None}, memory_mib=100)
    assert (problem.cpu_s, problem.memory_mib) == (5.0, 100)
    assert only(tmp_path, TEST_CASES)[1].cpu_s == 5.0
    assert only(tmp_path, TEST_CASES)[1].memory_mib == 512


@pytest.mark.parametrize(
    ("checker", "told"),
    [
        ("1 / 0", "the row's checker failed: it ended with an error"),
        ("print('ok')", "the row's checker failed: it printed no number from 0 to 1"),
        ("", None),
        ("print(0.5)", None),
    ],
)
def test_a_checker_that_fails_leaves_the_answer_unscored(tmp_path, checker, told):
    found, problem = only(tmp_path, TEST_CASES | {"checker": checker})
    verdict = found.verify(problem, OTHER)
    assert verdict.scored is (told is None)
    assert verdict.detail == told or verdict.status is Status.WRONG
    for answer in ("1 / 0", "print('\\x00' * 10 ** 7)"):  # which no checker looks at
        assert found.verify(problem, answer).status is Status.WRONG


def test_a_checker_never_runs_beside_the_program(tmp_path):
    looks = (
        "import os, sys\n"
        "told = sorted(os.listdir('.')) + sys.argv[1:]\n"
        "total = int(input())\n"
        "print(total - 1, 1) if told == ['main.py'] else print(told)\n"
        "open('checker.py', 'w').write('print(1)')\n"
    )
    found, problem = only(tmp_path, TEST_CASES)
    assert found.verify(problem, looks).score == 1.0
    assert found.verify(problem, looks.replace("total - 1", "total")).status is Status.WRONG


def test_a_checker_is_part_of_the_row_and_hidden(tmp_path):
    path = tmp_path / "a.jsonl"
    row = rlvr_envs.make_problem(ID, seed=0, path=write(path, CODEFORCES))
    path.unlink()
    row = json.loads(json.dumps(row))
    assert row["problem"]["checker"] == CHECKER
    assert "sys.argv" not in row["prompt"]
    assert rlvr_envs.verify(row, f"```python\n{OTHER}\n```").score == 1.0
    assert rlvr_envs.verify(row, f"```python\n{WRONG}\n```").status is Status.WRONG
    row["problem"]["checker"] = "#" * (MAX_CHECKER + 1)
    told = rlvr_envs.verify(row, f"```python\n{OTHER}\n```")
    assert (told.scored, f"at most {MAX_CHECKER} characters" in told.detail) == (False, True)


FUNCTION = {
    "prompt": "def answer():\n    pass\n",
    "entry_point": "answer",
    "test": "def check(candidate):\n    assert candidate() == 42\n",
}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (CODEFORCES | {"input_mode": "file"}, "reads and writes by 'file' and not by 'stdio'"),
        (CODEFORCES | {"interaction_format": "Ask."}, "its program talks to another"),
        (CODEFORCES | {"official_tests": []}, "no test that expects anything"),
        (CODEFORCES | {"official_tests": [{"in": 1}]}, "'official_tests' is no list of inputs"),
        (CODEFORCES | {"examples": "x"}, "not JSON|neither JSON"),
        (CODEFORCES | {"description": " "}, "'description' is no text"),
        (CODEFORCES | {"note": 5}, "'note' is no text"),
        (CODEFORCES | {"time_limit": 0}, "'time_limit' is no number above 0"),
        (CODEFORCES | {"time_limit": True}, "'time_limit' is no number above 0"),
        (CODEFORCES | {"memory_limit": float("nan")}, "'memory_limit' is no number above 0"),
        (CODEFORCES | {"memory_limit": 10**9}, "'memory_limit' is no number above 0"),
        (CODEFORCES | {"generated_checker": ["a"]}, "'generated_checker' is no text"),
        (CODEFORCES | {"generated_checker": "int main() {}"}, "cannot be run: it is no Python"),
        (TEST_CASES | {"checker": "#" * (MAX_CHECKER + 1)}, f"at most {MAX_CHECKER} fit"),
        (TEST_CASES | {"checker": "'\ud800'"}, "surrogates not allowed|cannot be run"),
        (FUNCTION | {"checker": CHECKER}, "judges outputs, and the row asks for a function"),
    ],
)
def test_rows_that_cannot_be_posed_are_refused(tmp_path, row, reason):
    path = write(tmp_path / "a.jsonl", TEST_CASES, row)
    with pytest.raises(ConfigError, match=rf"a\.jsonl:2: .*({reason})"):
        len(CodeDatasetTask(CodeDatasetConfig(path=path)))
    assert len(CodeDatasetTask(CodeDatasetConfig(path=path, on_bad_row="skip"))) == 1


def test_codeforces_is_read_from_parquet(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.Table.from_pylist([CODEFORCES]), tmp_path / "a.parquet")
    (row,) = CodeDatasetTask(CodeDatasetConfig(path=str(tmp_path / "a.parquet"))).file().rows
    assert row == read_row(CODEFORCES)
    assert (row.layout, row.checker, len(row.tests)) == ("codeforces", CHECKER, 2)
