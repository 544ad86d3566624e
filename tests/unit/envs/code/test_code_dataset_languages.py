"""Rows of files in other languages than Python: functions are programs that speak JSON there."""

import json

import gymnasium as gym
import pytest

import rlvr_envs
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.code.code_dataset import CodeDatasetConfig, CodeDatasetTask
from rlvr_envs.generators.programs.emit import emit_constant
from rlvr_envs.sandboxes import languages

ID = "rlvr/CodeDataset-v0"


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def task(path, language="javascript", **knobs):
    return CodeDatasetTask(CodeDatasetConfig(path=str(path), language=language, **knobs))


def only(tmp_path, row, **knobs):
    found = task(write(tmp_path / "a.jsonl", row), **knobs)
    return found, found.problem_at(0)


def humaneval(*assertions, doc="Pair up.", head="def pair(n: int, s: str) -> tuple:"):
    lines = "".join(f"    assert {each}\n" for each in assertions)
    return {
        "prompt": f'{head}\n    """{doc}"""\n',
        "entry_point": "pair",
        "canonical_solution": "    return (n, s)\n",
        "test": f"def check(candidate):\n{lines}",
    }


PAIR = humaneval("candidate(1, 'ä') == (1, 'ä')", "candidate(5, '') == (5, '')")
MBPP = {
    "text": "Write a function to double a number.",
    "code": "import math\ndef double(n: int = 0, *rest) -> int: return 2 * n\n",
    "test_list": ["assert double(1) == 2", "assert double(4) == 8"],
}
APPS = {
    "question": "Return twice the number.",
    "solutions": json.dumps(["class Solution:\n    def twice(self, n):\n        return 2 * n"]),
    "input_output": json.dumps({"fn_name": "twice", "inputs": [[1], [7]], "outputs": [2, 14]}),
    "starter_code": "class Solution:\n    def twice(self, n: int) -> int:\n        ",
}
BARE_APPS = APPS | {"starter_code": ""}
LIVECODEBENCH = {
    "question_content": "Return twice the number.",
    "starter_code": APPS["starter_code"],
    "public_test_cases": json.dumps([{"input": "1", "output": "2", "testtype": "functional"}]),
    "private_test_cases": json.dumps([{"input": "7", "output": "14", "testtype": "functional"}]),
    "metadata": json.dumps({"func_name": "twice"}),
}
STDIO = {"prompt": "Print 42.", "test_cases": [{"input": "3\n", "output": "42\n"}]}
FUNCTION = {
    "prompt": 'def answer(n: int) -> int:\n    """Return 42."""\n',
    "entry_point": "answer",
    "test": "def check(candidate):\n    assert candidate(3) == 42\n",
}


def in_javascript(expression, name="args"):
    """Return a program whose result is an expression of its arguments."""
    return (
        f"const {name} = JSON.parse(require('fs').readFileSync(0, 'utf8'));\n"
        f"console.log(JSON.stringify({expression}));\n"
    )


@pytest.mark.parametrize("language", languages.names())
def test_every_language_is_posed_and_judged(tmp_path, language):
    if not languages.find(language).available():
        pytest.skip(f"{language} is not installed")
    env = gym.make(ID, path=write(tmp_path / "a.jsonl", STDIO, FUNCTION), language=language)
    fence = languages.find(language).fence

    def step(index, program):
        prompt, _ = env.reset(options={"index": index})
        function_in_python = language == "python" and index == 1
        assert (languages.find(language).prompt in prompt) is not function_in_python
        _, reward, over, _, info = env.step(f"```{fence}\n{program}\n```")
        assert over
        assert (info["reference"] == "") is (language != "python")
        return reward, info["verdict"].status

    right, wrong = emit_constant("42", language), emit_constant("41", language)
    assert step(0, right) == (1.0, Status.CORRECT)
    assert step(0, wrong) == (0.0, Status.WRONG)
    if language == "python":
        right, wrong = (f"def answer(n):\n    return {value}" for value in (42, 41))
    assert step(1, right) == (1.0, Status.CORRECT)
    assert step(1, wrong) == (0.0, Status.WRONG)


def test_there_is_no_reference_in_another_language(tmp_path):
    row = rlvr_envs.make_problem(ID, seed=0, path=write(tmp_path / "a.jsonl", STDIO), language="c")
    (tmp_path / "a.jsonl").unlink()
    row = json.loads(json.dumps(row))
    assert row["reference"] == ""
    assert rlvr_envs.verify(row, rlvr_envs.solve(row)).status is Status.UNPARSABLE
    assert rlvr_envs.verify(row, f"```c\n{emit_constant('42', 'c')}\n```").score == 1.0
    found = task("sample", "c")
    problem = found.problem_at(0)
    assert "printf" in found.baseline(stream("rng"), problem)
    assert found.effort(problem) == task("sample", "python").effort(problem)


@pytest.mark.parametrize(
    ("row", "right", "wrong", "begun"),
    [
        (PAIR, "args", "args.reverse()", 'def pair(n: int, s: str) -> tuple:\n    """Pair up."""'),
        (MBPP, "2 * args[0]", "3 * args[0]", "def double(n: int=0, *rest) -> int:\n```"),
        (APPS, "2 * args[0]", "[2 * args[0]]", "def twice(self, n: int) -> int:\n```"),
        (BARE_APPS, "2 * args[0]", "args[0]", "def twice(self, n):\n```"),
        (LIVECODEBENCH, "2 * args[0]", "args", "def twice(self, n: int) -> int:\n```"),
    ],
    ids=["humaneval", "mbpp", "apps", "apps without a beginning", "livecodebench"],
)
def test_a_function_is_a_program_that_speaks_json(tmp_path, row, right, wrong, begun):
    languages.find("javascript").require()
    found, problem = only(tmp_path, row)
    prompt = found.prompt(problem)
    assert begun in prompt
    assert "return" not in prompt.replace("Return twice", "").replace("function returns", "")
    assert "a JSON array with the arguments of one call of" in prompt
    assert prompt.endswith(languages.find("javascript").prompt)
    assert found.verify(problem, in_javascript(right)).score == 1.0
    assert found.verify(problem, in_javascript(wrong)).status is Status.WRONG
    assert found.verify(problem, "").score == 0.0
    assert found.solve(problem) == ""


def test_rules_of_json_are_told_where_they_count(tmp_path):
    told = {}
    for name, result in (("int", "7"), ("tuple", "(1, 2)"), ("float", "0.5"), ("large", "2 ** 60")):
        found, problem = only(tmp_path, humaneval(f"candidate(1, '') == {result}"))
        told[name] = found.prompt(problem)
    rules = {"tuple": "Tuples are", "float": "17 significant digits", "large": "2**53"}
    for name, words in rules.items():
        assert [each for each, prompt in told.items() if words in prompt] == [name]


def test_an_example_of_a_docstring_is_shown_unless_it_is_a_test(tmp_path):
    doc = "Pair.\n    >>> pair(2, 'x')\n    (2, 'x')\n    >>> pair(3, 'y')\n    (3, 'y')\n    "
    found, problem = only(tmp_path, humaneval("candidate(1, 'a') == (1, 'a')", doc=doc))
    assert 'For example, it reads `[2, "x"]` and writes `[2, "x"]`.' in found.prompt(problem)
    found, problem = only(tmp_path, humaneval("candidate(2, 'x') == (2, 'x')", doc=doc))
    assert 'For example, it reads `[3, "y"]` and writes `[3, "y"]`.' in found.prompt(problem)
    for odd in ("pair(n, 'x')\n    7", "sorted(pair(9, 'x'))\n    [7]", "pair(9, 'x')\n    {1}",
                "pair(9, 'x'); assert pair(8, 'x')\n    7"):  # fmt: skip
        doc = f"Pair.\n    >>> {odd}\n    "
        found, problem = only(tmp_path, humaneval("candidate(1, 'a') == (1, 'a')", doc=doc))
        assert "For example" not in found.prompt(problem)


def test_an_example_that_is_made_up_has_the_shape_and_is_no_test(tmp_path):
    call = "[[1, 2], [3, 4, 5, 6, 7]], {'a': 1.5}"
    found, problem = only(tmp_path, humaneval(f"candidate({call}) == (None, 'x')"))
    assert (
        "This shows the form alone: the call `pair([[2, 3], [3, 4, 5]], {'d': 3.0})` would be the "
        "line `[[[2, 3], [3, 4, 5]], {\"d\": 3.0}]`, and the result `(None, 'd')` would be the "
        'line `[null, "d"]`.'
    ) in found.prompt(problem)
    found, problem = only(tmp_path, humaneval("candidate(2) == 9", "candidate(3) == 8"))
    assert "the call `pair(4)` would be the line `[4]`," in found.prompt(problem)
    # Nothing but the tested call has this shape.
    found, problem = only(tmp_path, humaneval("candidate(True) == 9"))
    assert "alone: the result `2` would be the line `2`." in found.prompt(problem)


def test_the_assertion_that_a_row_shows_is_no_test_where_there_are_others(tmp_path):
    found, problem = only(tmp_path, MBPP)
    assert "For example, it reads `[1]` and writes `2`." in found.prompt(problem)
    assert [test.given for test in problem.tests] == ['{"t": [4]}']
    found, problem = only(tmp_path, MBPP | {"test_list": MBPP["test_list"][:1]})
    assert [test.given for test in problem.tests] == ['{"t": [1]}']
    assert "the call `double(2)` would be" in found.prompt(problem)


@pytest.mark.parametrize(
    ("assertion", "right", "wrong"),
    [
        ("abs(candidate(1, '') - 0.5) < 1e-2", ["0.501", "0.5"], ["0.52", "'0.5'"]),
        ("candidate(1, '') == 3", ["3", "3.0"], ["3.5", "[3]"]),
        ("candidate(1, '') == 1", ["1", "true"], ["2", "null"]),
        ("candidate(1, '') is True", ["true"], ["1", "'true'"]),
        ("candidate(1, '')", ["[0]", "'x'", "7"], ["[]", "0", "null"]),
        ("candidate(1, '') == {'a': (1, [2])}", ["{a: [1, [2]]}"], ["{a: [1, 2]}", "{}"]),
    ],
)
def test_results_are_compared_as_the_test_of_the_row_does(tmp_path, assertion, right, wrong):
    languages.find("javascript").require()
    found, problem = only(tmp_path, humaneval(assertion))
    assert [found.verify(problem, in_javascript(each)).score for each in right] == [1.0] * len(
        right
    )
    assert [found.verify(problem, in_javascript(each)).score for each in wrong] == [0.0] * len(
        wrong
    )


@pytest.mark.parametrize(
    ("assertion", "reason"),
    [
        ("candidate({1}, '') == 1", "a set"),
        ("candidate(1, '') == {1, 2}", "a set"),
        ("candidate(1j, '') == 1", "a complex"),
        ("candidate(b'x', '') == 1", "a bytes"),
        ("candidate(1, '') == float('inf')", "the float inf"),
        ("candidate(1, '') == [float('nan')]", "the float nan"),
        ("candidate({1: 2}, '') == 1", "a key that is no text"),
        ("candidate('\\ud800', '') == 1", "surrogates not allowed"),
        ("sorted(candidate(1, '')) == [1, 2]", r"its tests look at sorted\(...\) of a result"),
        ("set(candidate(1, '')) == {1, 2}", r"its tests look at set\(...\) of a result"),
    ],
)
def test_rows_that_are_no_json_are_refused(tmp_path, assertion, reason):
    path = write(tmp_path / "a.jsonl", PAIR, humaneval(assertion))
    with pytest.raises(ConfigError, match=rf'a\.jsonl:2: .*{reason}.*language="python" poses it'):
        len(task(path))
    assert len(task(path, on_bad_row="skip")) == 1
    assert len(task(path, "python")) == 2


def test_results_that_a_solution_works_out_are_posed_too(tmp_path):
    row = humaneval("candidate(1, 'a') == (1, 'a')")
    row["test"] = "def check(candidate):\n    for n in (1, 2):\n        assert candidate(n, 'a')\n"
    with pytest.raises(ConfigError, match="run_solutions=True has them worked out"):
        len(task(write(tmp_path / "a.jsonl", row)))
    found, problem = only(tmp_path, row, run_solutions=True)
    assert len(problem.tests) == 2
    assert found.verify(problem, in_javascript("args")).score == 1.0
    assert found.verify(problem, in_javascript("[1, 'a']")).score == 0.0


def test_a_stored_row_of_a_program_needs_no_file(tmp_path):
    path = tmp_path / "a.jsonl"
    row = rlvr_envs.make_problem(ID, seed=0, path=write(path, PAIR), language="javascript")
    path.unlink()
    row = json.loads(json.dumps(row))
    right = f"```javascript\n{in_javascript('args')}\n```"
    assert rlvr_envs.verify(row, right).score == 1.0
    assert rlvr_envs.verify(row, right.replace("(args)", "(args[0])")).score == 0.0
    assert row["reference"] == rlvr_envs.make_problem(ID, seed=0, language="c")["reference"] == ""
