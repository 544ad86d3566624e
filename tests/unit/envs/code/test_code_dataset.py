"""Programming problems from files: layouts, what is refused, and rows that outlive their file."""

import base64
import dataclasses
import json
import pickle
import zlib

import gymnasium as gym
import numpy as np
import pytest

import rlvr_envs
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.code.code_dataset import CodeDatasetConfig, CodeDatasetTask
from rlvr_envs.generators.published import code_files
from rlvr_envs.generators.published.code_assertions import NotData, read_tests
from rlvr_envs.generators.published.code_rows import NotARow, read_row
from rlvr_envs.sandboxes.base import Limits
from rlvr_envs.verifiers.program_values import read

ID = "rlvr/CodeDataset-v0"


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def task(path, **knobs):
    return CodeDatasetTask(CodeDatasetConfig(path=str(path), **knobs))


def only(tmp_path, row, **knobs):
    """Return the task of a file of one row, and its problem."""
    found = task(write(tmp_path / "a.jsonl", [row]), **knobs)
    assert len(found) == 1
    return found, found.problem_at(0)


HUMANEVAL = {
    "task_id": "x/0",
    "prompt": 'from typing import List\n\n\ndef twice(n: int) -> List[int]:\n    """Twice n."""\n',
    "entry_point": "twice",
    "canonical_solution": "    return [n, n]\n",
    "test": "METADATA = {}\n\n\ndef check(candidate):\n"
    "    assert True, 'simple'\n    assert candidate(1) == [1, 1], 'one'\n"
    "    assert [5, 5] == candidate(5)\n",
}
HUMANEVAL_PLUS = HUMANEVAL | {
    "test": "import numpy as np\n\ndef assertion(out, exp, atol):\n    assert out == exp\n\n"
    "def check(candidate):\n    inputs = [[1], [2], [3]]\n"
    "    results = [[1, 1], [2, 2], [3, 3]]\n"
    "    for i, (inp, exp) in enumerate(zip(inputs, results)):\n"
    "        assertion(candidate(*inp), exp, 0)\n",
}
EVALPLUS_RAW = HUMANEVAL | {
    "test": "def check(candidate):\n    for n in range(3):\n        assert candidate(n) == [n] * 2\n",
    "base_input": [[1], [2]],
    "plus_input": [[30]],
    "atol": 0,
}
MBPP = {
    "task_id": 2,
    "text": "Write a function to double a number in a list.",
    "code": "import math\ndef twice(n):\n    return [n, n]\n",
    "test_list": ["assert twice(1) == [1, 1]", "assert twice(4) == [4, 4]"],
    "test_setup_code": "",
    "challenge_test_list": ["assert twice(-1) == [-1, -1]"],
}
MBPP_PLUS = {
    "task_id": 2,
    "prompt": "Write a function to double a number in a list.",
    "code": MBPP["code"],
    "test_imports": [],
    "test_list": MBPP["test_list"],
    "test": "import numpy as np\ninputs = [[1], [2], [4]]\nresults = [[1, 1], [2, 2], [4, 4]]\n"
    "for i, (inp, exp) in enumerate(zip(inputs, results)):\n    assertion(twice(*inp), exp, 0)\n",
}
APPS = {
    "problem_id": 1,
    "question": "Print twice the number.",
    "solutions": json.dumps(["print(2 * int(input()))"]),
    "input_output": json.dumps({"inputs": ["1\n", ["2"]], "outputs": ["2\n", ["4"]]}),
    "difficulty": "interview",
    "starter_code": "",
}
APPS_FUNCTION = APPS | {
    "solutions": json.dumps(["class Solution:\n    def twice(self, n):\n        return n, n"]),
    "input_output": json.dumps(
        {"fn_name": "twice", "inputs": [[1], [2]], "outputs": [[1, 1], [2, 2]]}
    ),
    "starter_code": "class Solution:\n    def twice(self, n: int) -> List[int]:\n        ",
}
CODEWARS = APPS | {
    "solutions": json.dumps(["def twice(n):\n    return 2 * n"]),
    "input_output": json.dumps({"fn_name": "twice", "inputs": [[1], [2]], "outputs": [[2], [4]]}),
    "starter_code": "def twice(n):\n\t",
}
CODECONTESTS = {
    "name": "1_A",
    "description": "Print twice the number.",
    "public_tests": {"input": ["1\n"], "output": ["2\n"]},
    "private_tests": {"input": ["5\n"], "output": ["10\n"]},
    "generated_tests": {"input": ["7\n"], "output": ["14\n"]},
    "solutions": {"language": [2, 3], "solution": ["int main() {}", "print(2 * int(input()))"]},
}


def cases(kind, *pairs):
    return json.dumps([{"input": x, "output": y, "testtype": kind} for x, y in pairs])


def packed(text):
    return base64.b64encode(zlib.compress(pickle.dumps(text))).decode()


LIVECODEBENCH = {
    "question_title": "Twice",
    "question_content": "Print twice the number.",
    "platform": "atcoder",
    "question_id": "abc",
    "starter_code": "",
    "public_test_cases": cases("stdin", ("1\n", "2\n")),
    "private_test_cases": cases("stdin", ("3\n", "6\n"), ("4\n", "8\n")),
    "metadata": "{}",
}
LIVECODEBENCH_PACKED = LIVECODEBENCH | {
    "private_test_cases": packed(LIVECODEBENCH["private_test_cases"])
}
LIVECODEBENCH_FUNCTION = LIVECODEBENCH | {
    "question_content": "Return the number twice, and the text.",
    "starter_code": "class Solution:\n    def twice(self, n: int, s: str) -> List[int]:\n        ",
    "public_test_cases": cases("functional", ('1\n"a"', '[1, 1, "a"]')),
    "private_test_cases": cases("functional", ('30\n""', '[30, 30, ""]')),
    "metadata": json.dumps({"func_name": "twice"}),
}
AGNOSTICS = {
    "question_id": "abc",
    "question_content": "Print twice the number.",
    "private_test_cases": json.dumps([{"input": "3\n", "output": "6\n"}]),
}
TEST_CASES = {
    "prompt": "Print twice the number.",
    "test_cases": [{"input": "3\n", "output": "6\n"}, {"input": "9\n", "output": "18\n"}],
}
TESTS_IN_COLUMNS = {
    "question": "Print twice the number.",
    "tests": json.dumps({"inputs": ["3\n"], "outputs": ["6\n"]}),
}

FUNCTION = "def twice(n):\n    return [n, n]\n"
PROGRAM = "print(2 * int(input()))"
METHOD = (
    "class Solution:\n    def twice(self, n: int, s: str) -> List[int]:\n        return [n, n, s]\n"
)
LAYOUTS = {
    "humaneval": (HUMANEVAL, 2, FUNCTION),
    "humaneval+": (HUMANEVAL_PLUS, 3, "def twice(n: int) -> List[int]:\n    return [n, n]\n"),
    "mbpp": (MBPP, 3, FUNCTION),
    "mbpp+": (MBPP_PLUS, 3, FUNCTION),
    "apps": (APPS, 2, PROGRAM),
    "apps function": (APPS_FUNCTION, 2, "class Solution:\n    def twice(self, n):\n        return [n] * 2"),
    "codewars": (CODEWARS, 2, "def twice(n):\n    return n + n"),
    "codecontests": (CODECONTESTS, 3, PROGRAM),
    "livecodebench": (LIVECODEBENCH, 3, PROGRAM),
    "livecodebench packed": (LIVECODEBENCH_PACKED, 3, PROGRAM),
    "livecodebench function": (LIVECODEBENCH_FUNCTION, 2, METHOD),
    "agnostics": (AGNOSTICS, 1, PROGRAM),
    "test cases": (TEST_CASES, 2, PROGRAM),
    "tests in columns": (TESTS_IN_COLUMNS, 1, PROGRAM),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_are_recognised_and_judged(tmp_path, name):
    row, count, right = LAYOUTS[name]
    found, problem = only(tmp_path, row)
    assert len(problem.tests) == count
    assert found.verify(problem, right).score == 1.0
    assert found.verify(problem, found.solve(problem)).score == 1.0
    wrong = right.replace("2 *", "3 *").replace("[n, n", "[n, 0").replace("[n] * 2", "n")
    wrong = wrong.replace("n + n", "n")
    assert wrong != right
    assert found.verify(problem, wrong).status is Status.WRONG
    assert found.verify(problem, "").score == 0.0


def test_inputs_without_results_are_worked_out_only_where_that_is_allowed(tmp_path):
    path = write(tmp_path / "a.jsonl", [EVALPLUS_RAW])
    with pytest.raises(ConfigError, match=r"run_solutions=True has them worked out"):
        len(task(path))
    allowed = task(path, run_solutions=True)
    problem = allowed.problem_at(0)
    assert [(read(t.given), read(t.expected)) for t in problem.tests] == [
        ((1,), [1, 1]), ((2,), [2, 2]), ((30,), [30, 30]),
    ]  # fmt: skip
    assert allowed.verify(problem, FUNCTION).score == 1.0
    assert allowed.verify(problem, "def twice(n): return [n, 30]").score == 0.0


def test_calls_of_test_code_are_recorded_only_where_that_is_allowed(tmp_path):
    row = {key: value for key, value in EVALPLUS_RAW.items() if "input" not in key}
    row["test"] = row["test"].replace("range(3)", "(random.randint(0, 9) for _ in range(9))")
    row["test"] = "import random\n" + row["test"]
    path = write(tmp_path / "a.jsonl", [row])
    with pytest.raises(ConfigError, match="line 3 is a loop"):
        len(task(path))
    allowed = task(path, run_solutions=True)
    problem = allowed.problem_at(0)
    assert 3 < len(problem.tests) <= 9
    assert allowed.verify(problem, FUNCTION).score == 1.0
    assert allowed.verify(problem, "def twice(n): return [n]").score == 0.0
    # The file's own solution fails its own tests: then there is nothing to judge by.
    row["canonical_solution"] = "    return [n]\n"
    with pytest.raises(ConfigError, match="no results: it raised AssertionError"):
        len(task(write(tmp_path / "b.jsonl", [row]), run_solutions=True))


def test_a_solution_that_took_too_long_is_run_again(tmp_path, monkeypatch):
    slow = "    import time\n    while time.process_time() < 0.4: pass\n    return [n, n]\n"
    rows = [HUMANEVAL, EVALPLUS_RAW | {"canonical_solution": slow}]
    path = write(tmp_path / "a.jsonl", rows)
    with monkeypatch.context() as machine:
        machine.setattr(code_files, "_RUN_LIMITS", Limits(cpu_s=0.1))
        with pytest.raises(ConfigError, match=r"a.jsonl:2: .* now at least: .* 0.1 s of CPU time"):
            len(task(path, run_solutions=True))
        assert len(task(path, run_solutions=True, on_bad_row="skip")) == 1
    assert len(task(path, run_solutions=True, on_bad_row="skip")) == 2
    assert len(task(path, run_solutions=True)) == 2


def test_an_mbpp_row_of_loops_is_recorded(tmp_path):
    row = MBPP | {
        "test_list": [
            "assert twice(1) == [1, 1]",
            "assert all(twice(n) == [n] * 2 for n in (5, 6))",
        ]
    }
    found, problem = only(tmp_path, row, run_solutions=True)
    assert len(problem.tests) == 4
    assert found.verify(problem, FUNCTION).score == 1.0


def test_code_that_python_warns_of_is_read_in_silence(tmp_path):
    row = MBPP | {
        "code": "import re\ndef twice(n):\n    assert re.match('\\d', '1')\n    return [n, n]\n",
        "test_list": ["assert twice('\\d') == ['\\d', '\\d']"],
    }
    found, problem = only(tmp_path, row)
    assert found.verify(problem, found.solve(problem)).score == 1.0


READ = [
    ("assert f(1) == 2", ((1,), 2)),
    ("assert f(-1, [2.5, 'a']) == (1, None)", ((-1, [2.5, "a"]), (1, None))),
    ("assert 2 == f(1)", ((1,), 2)),
    ("assert f() == {'a': {1, 2}}", ((), {"a": {1, 2}})),
    ("assert f(b'x') == 2 ** 10 - 1", ((b"x",), 1023)),
    ("assert f('ab' * 3 + 'c') == 'x'", (("abababc",), "x")),
    ("assert f(float('inf')) == -float('inf')", ((float("inf"),), -float("inf"))),
    ("assert f([]) == set()", (([],), set())),
    ("assert f([0] * 3) == tuple([1, 2])", (([0, 0, 0],), (1, 2))),
    ("assert f(7 // 2, 7 % 4, 1 / 4) == 3j", ((3, 3, 0.25), 3j)),
]


@pytest.mark.parametrize(("code", "pair"), READ)
def test_assertions_are_read(code, pair):
    (told,) = read_tests(code, ("f",))
    assert (told.args, told.expected) == pair
    further = (told.truth, told.strict, told.wrapper, told.rel_tol, told.abs_tol)
    assert further == (False, False, "", 0.0, 0.0)


def test_kinds_of_assertions():
    def told(code):
        return read_tests(code, ("f",))[0]

    assert (told("assert f(1)").expected, told("assert f(1)").truth) == (True, True)
    assert (told("assert not f(1)").expected, told("assert not f(1)").truth) == (False, True)
    assert told("assert f(1) is True").strict
    assert told("assert f(1) is None").expected is None
    assert told("assert abs(f(1) - 0.5) < 1e-6").abs_tol == 1e-6
    assert told("assert math.fabs(0.5 - f(1)) <= 0.01").expected == 0.5
    assert told("assert math.isclose(f(1), 0.5, rel_tol=0.001)").rel_tol == 0.001
    assert told("assert math.isclose(f(1), 0.5)").rel_tol == 1e-9
    assert told("assert set(f(1)) == set([1, 2])").wrapper == "set"
    assert told("assert sorted(f(1)) == [1, 2]").wrapper == "sorted"
    plus = "inputs = [[1.0]]\nresults = [2.5]\nfor i, (inp, exp) in enumerate(zip(inputs, results)):\n    assertion(f(*inp), exp, {})\n"
    assert (told(plus.format(0)).abs_tol, told(plus.format(0)).rel_tol) == (1e-6, 1e-7)
    assert told(plus.format(0.01)).abs_tol == 0.01


NOT_DATA = [
    "x = 5\nassert f(x) == 2",
    "for n in range(3):\n    assert f(n) == n",
    "assert f(1) == g(2)",
    "assert f(1) != 2",
    "assert f(1) in (1, 2)",
    "assert f(1) < 5",
    "assert f(1) == 2 and f(2) == 3",
    "assert f(n=1) == 2",
    "assert f(*[1]) == 2",
    "assert len(f(1)) == 2",
    "assert f(1)[0] == 2",
    "assert f(lambda: 1) == 2",
    "assert f(10 ** 10 ** 10) == 2",
    "assert f('a' * 10 ** 9) == 2",
    "assert f('%1000000000d' % 1) == 2",
    "assert f(1 / 0) == 2",
    "assert f({[]: 1}) == 2",
    "assert f(...) == 2",
    "assert f(__import__('os')) == 2",
    "assert f(f'{1}') == '1'",
    "with open('x') as file:\n    pass",
    "print(f(1))",
    "assert True",
    "",
    "assert f(1 ==",
    "assert " + "-" * 100_000 + "1 == f(1)",
    "assert f(" + "[" * 300 + "]" * 300 + ") == 1",
    "inputs = [[1]]\nresults = [1, 2]\nfor i, (inp, exp) in enumerate(zip(inputs, results)):\n    assertion(f(*inp), exp, 0)",
    "inputs = [[1]]\nresults = [1]\nfor i, (inp, exp) in enumerate(zip(inputs, results)):\n    assertion(len(f(*inp)), exp, 0)",
]


@pytest.mark.parametrize("code", NOT_DATA, ids=lambda code: code[:30])
def test_what_is_more_than_data_is_refused_and_never_run(code):
    with pytest.raises(NotData):
        read_tests(code, ("f",))


def test_results_that_a_test_wraps_are_wrapped_in_the_sandbox(tmp_path):
    row = MBPP | {
        "code": "def twice(n):\n    return [n, 2 * n]\n",
        "test_list": ["assert set(twice(1)) == {1, 2}", "assert set(twice(3)) == {6, 3}"],
        "challenge_test_list": [],
    }
    found, problem = only(tmp_path, row)
    assert found.verify(problem, "def twice(n): return (2 * n, n, n)").score == 1.0
    assert found.verify(problem, "def twice(n): return [n]").score == 0.0
    mixed = row | {"test_list": [row["test_list"][0], "assert twice(3) == [3, 6]"]}
    assert read_row(mixed).unread.reason == "its results are wrapped in different ways"


def test_python_equality_and_identity(tmp_path):
    # What the assertions of a file mean is kept: == counts True as 1, and `is` does not.
    for code, answers in (
        ("assert twice(1) == 1", {"True": 1.0, "1.0": 1.0, "'1'": 0.0, "[1]": 0.0}),
        ("assert twice(1) is True", {"True": 1.0, "1": 0.0}),
        ("assert twice(1)", {"[0]": 1.0, "7": 1.0, "0": 0.0, "''": 0.0}),
        ("assert twice(1) == {'a': 1}", {"collections.Counter('a')": 1.0, "{'a': 2}": 0.0}),
        ("assert twice(1) == (1, 2)", {"(1, 2)": 1.0, "[1, 2]": 0.0}),
    ):
        found, problem = only(tmp_path, MBPP | {"test_list": [code], "challenge_test_list": []})
        for answer, score in answers.items():
            source = f"import collections\ndef twice(n): return {answer}"
            assert found.verify(problem, source).score == score, (code, answer)


def test_part_of_the_reward_and_tolerance(tmp_path):
    row = TEST_CASES | {
        "test_cases": [{"input": "1", "output": "0.5"}, {"input": "2", "output": "1"}]
    }
    third = "n = int(input())\nprint(0.5000001 if n == 1 else 1)"
    for knobs, score in (({}, 0.0), ({"reward": "fraction"}, 0.5), ({"rel_tol": 1e-6}, 1.0)):
        found, problem = only(tmp_path, row, **knobs)
        assert found.verify(problem, third).score == score


def test_the_prompt_shows_what_to_define_and_none_of_the_tests_but_one(tmp_path):
    found, problem = only(tmp_path, MBPP)
    prompt = found.prompt(problem)
    assert "`twice`" in prompt
    assert "assert twice(1) == [1, 1]" in prompt
    assert "twice(4)" not in prompt
    found, problem = only(tmp_path, HUMANEVAL)
    assert HUMANEVAL["prompt"].strip() in found.prompt(problem)
    assert "[5, 5]" not in found.prompt(problem)


def test_the_code_around_an_answer(tmp_path):
    helper = "import math\n\n\ndef half(n):\n    return n / 2\n\n\n"
    row = HUMANEVAL | {"prompt": helper + 'def twice(n):\n    """Twice n."""\n'}
    found, problem = only(tmp_path, row)
    assert found.verify(problem, "def twice(n): return [n, math.floor(2 * half(n))]").score == 1.0
    future = "from __future__ import annotations\ndef twice(n: Nothing): return [n, n]"
    assert found.verify(problem, future).score == 1.0


def test_json_and_parquet_serve_what_jsonl_does(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [CODECONTESTS | {"name": str(n)} for n in range(5)]
    parquet.write_table(arrow.Table.from_pylist(rows), tmp_path / "a.parquet")
    (tmp_path / "a.json").write_text(json.dumps(rows))
    write(tmp_path / "a.jsonl", rows)
    found = [task(tmp_path / f"a.{kind}") for kind in ("jsonl", "json", "parquet")]
    problems = [[one.problem_at(index) for index in range(len(one))] for one in found]
    assert problems[0] == problems[1] == problems[2]
    assert len(problems[0]) == 5


def test_an_index_picks_a_row_and_a_seed_picks_one_again(tmp_path):
    rows = [TEST_CASES | {"prompt": f"q{n}"} for n in range(50)]
    env = gym.make(ID, path=write(tmp_path / "a.jsonl", rows))
    prompt, _ = env.reset(options={"index": np.int64(7)})
    assert prompt.startswith("q7\n")
    assert env.step(f"```python\n{PROGRAM}\n```")[1] == 1.0
    drawn = [env.reset(seed=seed)[0] for seed in range(60)]
    assert drawn == [env.reset(seed=seed)[0] for seed in range(60)]
    assert len(set(drawn)) > 20
    for index in (-1, 50, "0", 1.0, None):
        with pytest.raises(ConfigError, match="from 0 to 49"):
            env.reset(options={"index": index})


def test_a_row_outlives_its_file(tmp_path):
    path = tmp_path / "a.jsonl"
    write(path, [HUMANEVAL])
    row = rlvr_envs.make_problem(ID, seed=0, path=str(path))
    path.unlink()
    row = json.loads(json.dumps(row))
    assert rlvr_envs.verify(row, rlvr_envs.solve(row)).score == 1.0
    assert rlvr_envs.verify(row, "```python\ndef twice(n): return [n]\n```").score == 0.0


def test_a_file_that_has_changed_is_read_again(tmp_path):
    path = tmp_path / "a.jsonl"
    assert len(task(write(path, [TEST_CASES]))) == 1
    assert len(task(write(path, [TEST_CASES, APPS]))) == 2


BAD = {
    "no layout": ({"frage": "q", "gold": "1"}, "no layout has these columns: frage, gold"),
    "no tests": (TEST_CASES | {"test_cases": []}, "no text that asks or no tests"),
    "nothing expected": (
        TEST_CASES | {"test_cases": [{"input": "1", "output": " \n"}]}, "expects anything"),
    "odd cases": (TEST_CASES | {"test_cases": [{"in": "1"}]}, "no list of inputs and outputs"),
    "unequal": (
        APPS | {"input_output": json.dumps({"inputs": ["1"], "outputs": []})}, "more inputs"),
    "torn json": (APPS | {"input_output": '{"inputs"'}, "not JSON"),
    "no outputs": (APPS | {"input_output": "[]"}, "no inputs and outputs"),
    "no text": (HUMANEVAL | {"prompt": 5}, "'prompt' is no text: 5"),
    "no assertion": (HUMANEVAL | {"test": "def check(candidate):\n    pass"}, "no assertion"),
    "code that is none": (MBPP | {"code": "def ("}, "its code cannot be read: it is no Python"),
    "another function": (MBPP | {"test_list": ["assert other(1) == 1"]}, "calls no function"),
    "half a surrogate pair": (TEST_CASES | {"prompt": "\ud800"}, "surrogates not allowed"),
    "no name": (LIVECODEBENCH_FUNCTION | {"metadata": "{}"}, "the function None"),
    "not packed": (LIVECODEBENCH | {"private_test_cases": "!!!"}, "neither JSON nor packed JSON"),
    "packed bytes": (LIVECODEBENCH | {"private_test_cases": packed(b"x")}, "no single text"),
    "packed list": (LIVECODEBENCH | {"private_test_cases": packed(["a", "b"])}, "no single text"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_rows_that_cannot_be_posed_are_refused(tmp_path, name):
    row, reason = BAD[name]
    path = write(tmp_path / "a.jsonl", [APPS, row])
    with pytest.raises(ConfigError) as error:
        len(task(path))
    assert "1 of 2 rows" in str(error.value)
    assert reason in str(error.value)
    assert 'on_bad_row="skip"' in str(error.value)
    assert len(task(path, on_bad_row="skip")) == 1
    with pytest.raises(ConfigError, match="1 of 1 rows"):
        len(task(write(tmp_path / "b.jsonl", [row]), on_bad_row="skip"))


class Payload:
    def __reduce__(self):
        return (pytest.fail, ("a pickle of the file was loaded",))


def test_packed_tests_are_never_unpickled():
    row = LIVECODEBENCH | {"private_test_cases": packed(Payload())}
    with pytest.raises(NotARow, match="no single text"):
        read_row(row)


def test_what_a_user_gets_wrong_is_said(tmp_path):
    with pytest.raises(ConfigError, match=r"no file .*nowhere\.jsonl"):
        len(task(tmp_path / "nowhere.jsonl"))
    (tmp_path / "empty.jsonl").write_text("\n\n")
    with pytest.raises(ConfigError, match="holds no rows"):
        len(task(tmp_path / "empty.jsonl"))
    (tmp_path / "torn.jsonl").write_text('{"prompt": "q"}\n\n{"prompt": "q", "te')
    with pytest.raises(ConfigError, match=r"torn\.jsonl:3: not JSON"):
        len(task(tmp_path / "torn.jsonl"))
    (tmp_path / "a.csv").write_text("question,tests\n")
    with pytest.raises(ConfigError, match="is no table"):
        len(task(tmp_path / "a.csv"))
    (tmp_path / "object.json").write_text("{}")
    with pytest.raises(ConfigError, match="no list of rows"):
        len(task(tmp_path / "object.json"))
    (tmp_path / "torn.json").write_text("[{")
    with pytest.raises(ConfigError, match="is not JSON"):
        len(task(tmp_path / "torn.json"))


@pytest.mark.parametrize(
    "knobs",
    [{"on_bad_row": "ignore"}, {"reward": "some"}, {"language": "pyhton"}, {"path": ""},
     {"rel_tol": 1.5}, {"cpu_s": 0}, {"memory_mib": -1}, {"difficulty": 1}],
)  # fmt: skip
def test_bad_knobs_are_refused_before_the_file_is_read(knobs):
    with pytest.raises(ConfigError):
        gym.make(ID, **({"path": "nowhere.jsonl"} | knobs))


def test_the_sample_is_of_several_layouts_and_each_is_solved():
    found = task("sample")
    layouts = [row.layout for row in found.file().rows]
    assert sorted(set(layouts)) == ["apps", "humaneval", "mbpp", "test_cases"]
    assert not found.file().refused
    assert all(len(row.tests) >= 8 for row in found.file().rows)
    for index in range(len(found)):
        problem = found.problem_at(index)
        assert found.verify(problem, found.solve(problem)).score == 1.0
        assert found.verify(problem, "pass").score == 0.0


def test_effort_and_baseline(tmp_path):
    found, problem = only(tmp_path, HUMANEVAL)
    solution = dataclasses.replace(problem, solution="return [n, n]")
    assert found.effort(solution) == 6
    first = found.baseline(stream("rng"), problem)
    assert first.startswith("def twice(*args):")
    assert found.verify(problem, first).score == 0.0
    plain = dataclasses.replace(problem, statement="Add.", solution="", language="perl")
    assert found.effort(plain) == 2
    assert "print" in found.baseline(stream("rng"), plain)
