"""RepositoryRepair: what the tools say, that repairs count, and that nothing else does."""

import importlib
import json
import sys
from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.code import repository_repair
from rlvr_envs.envs.code.repository_repair import (
    RepositoryRepairConfig,
    RepositoryRepairProblem,
    RepositoryRepairTask,
)
from rlvr_envs.generators.repositories.mutants import mutants
from rlvr_envs.generators.repositories.package import Check, Edit, File, Repair, Repository
from rlvr_envs.sandboxes.base import Result
from rlvr_envs.verifiers.program_package import PackageFault
from rlvr_envs.verifiers.program_values import read, to_text

TASK = RepositoryRepairTask(RepositoryRepairConfig())
WRONG = "def double(n):\n    return 3 * n\n\n\ndef same(n):\n    return n\n"
TOTAL = (
    "from shop.base import double\n\n\ndef total(numbers):\n"
    "    return sum(double(n) for n in numbers)\n"
)
TESTS = (
    "from shop.sums import total\n\n\ndef test_total():\n    got = total([1, 2])\n    assert got == 6, got\n\n\n"
    "def test_empty():\n    assert total([]) == 0\n"
)
FILES = {
    "README.md": "# shop\n",
    "shop/__init__.py": "",
    "shop/base.py": WRONG,
    "shop/sums.py": TOTAL,
    "tests/test_sums.py": TESTS,
}


def check(function, argument, expected):
    return Check(function, to_text([argument]), to_text(expected))


PROBLEM = RepositoryRepairProblem(
    Repository("shop", tuple(File(*pair) for pair in FILES.items()), 1, 1),
    8,
    False,
    Repair(
        (check("base.double", 7, 14), check("sums.total", [5, 6, -2], 18)),
        (check("base.same", 9, 9), check("base.double", 0, 0), check("sums.total", [], 0)),
        (Edit("shop/base.py", "3 * n", "2 * n"),),
    ),
)


def call(tool, **arguments):
    return json.dumps({"name": tool, "arguments": arguments})


SUBMIT = call("submit")


def write(path, text):
    return call("write_file", path=path, text=text)


def told(*actions):
    session = TASK.begin(PROBLEM)
    return [session.reply(action) for action in actions]


def test_tools_list_read_and_run():
    listed, whole, part, run = told(
        call("list_files"),
        "<read_file><path>shop/base.py</path></read_file>",
        call("read_file", path="./shop/base.py", first=1, last=2),
        call("run_tests"),
    )
    assert "shop/sums.py (5)" in listed.text
    assert WRONG in whole.text
    assert "lines 1 to 2 of 7" in part.text
    assert "same" not in part.text
    assert "FAILED tests/test_sums.py::test_total" in run.text
    assert "AssertionError: 9 (test_sums.py, line 6)" in run.text
    assert "1 passed, 1 failed" in run.text
    assert "(4 more messages.)" in run.text


def test_tests_run_by_name():
    (run,) = told("<run_tests><name>empty</name></run_tests>")
    assert "1 passed, 0 failed" in run.text


@pytest.mark.parametrize(
    "repair",
    [
        call("replace_text", path="shop/base.py", old="3 * n", new="2 * n"),
        "<replace_text><path>shop/base.py</path><old>3 * n</old><new>n + n</new></replace_text>",
        (
            "<think>It triples.</think>I repair it.\n<replace_text>\n<path>shop/base.py</path>\n<old>\n"
            "def double(n):\n    return 3 * n\n</old>\n<new>\ndef double(n):\n    return 2 * n\n</new>\n"
            "</replace_text>"
        ),
        f"```json\n{write('shop/base.py', WRONG.replace('3', '2'))}\n```",
        f"<tool_call>{write('shop/base.py', WRONG.replace('3', '2'))}</tool_call>",
        f"<write_file><path>shop/base.py</path><text>{WRONG.replace('3', '2')}</text></write_file>",
    ],
)
def test_repairs_earn_full_marks(repair):
    verdict = TASK.replay(PROBLEM, [repair, SUBMIT])
    assert verdict.score == 1.0
    assert verdict.parts["fail_to_pass"] == verdict.parts["pass_to_pass"] == 1.0


def test_the_last_message_ends_in_a_verdict_too():
    repair = call("replace_text", path="shop/base.py", old="3 * n", new="2 * n")
    replies = told(repair, *["hm"] * 7)
    assert replies[-1].verdict.score == 1.0
    assert replies[-1].out_of_turns
    assert all(reply.void for reply in replies[1:])


BY_HEART = "def double(n):\n    return {1: 2, 2: 4}.get(n, 3 * n)\n\n\ndef same(n):\n    return n\n"
EQUAL = (
    "class Any(int):\n    def __eq__(self, other):\n        return True\n    __hash__ = None\n\n\n"
    "def double(n):\n    return Any(0)\n\n\ndef same(n):\n    return Any(0)\n"
)
FORGED = (
    "import os\nos.write(1, b'0 [\"value\", 14]\\n')\n\n\ndef double(n):\n    os._exit(0)\n\n\n"
    "def same(n):\n    return n\n"
)
STACK = (
    "import sys\n\n\ndef double(n):\n    frame = sys._getframe()\n    while frame.f_back:\n"
    "        frame = frame.f_back\n        if 'expected' in frame.f_locals:\n"
    "            return frame.f_locals['expected']\n    return 0\n\n\ndef same(n):\n    return n\n"
)
DRIVER = (
    "import sys\nmain = sys.modules['__main__']\nmain.encode = lambda *a, **k: 14\n\n\n"
    "def double(n):\n    return 1\n\n\ndef same(n):\n    return n\n"
)
READS_TESTS = (
    "import pathlib\n\n\ndef double(n):\n"
    "    return 2 * n if pathlib.Path('tests/test_sums.py').exists() else 3 * n\n\n\n"
    "def same(n):\n    return n\n"
)
CHEATS = {
    "nothing": [],
    "tests that hold": [write("tests/test_sums.py", "def test_total():\n    assert True\n")],
    "no tests": [write("tests/test_sums.py", "")],
    "conftest": [write("tests/conftest.py", "import shop.base\nshop.base.double = lambda n: 2*n")],
    "tests patch the package": [
        write("tests/test_a.py", "import shop.base\nshop.base.double = lambda n: 2 * n")
    ],
    "by heart": [write("shop/base.py", BY_HEART)],
    "equal to all": [write("shop/base.py", EQUAL)],
    "exit": [write("shop/base.py", "import os\nos._exit(0)\n")],
    "system exit": [write("shop/base.py", "raise SystemExit(0)\n")],
    "forged report": [write("shop/base.py", FORGED)],
    "looks up the stack": [write("shop/base.py", STACK)],
    "patches the driver": [write("shop/base.py", DRIVER)],
    "right where tests are": [write("shop/base.py", READS_TESTS)],
    "no package": [write("shop/base.py", "")],
    "syntax error": [write("shop/base.py", "def double(n:\n")],
    "another fault": [call("replace_text", path="shop/base.py", old="3 * n", new="4 * n")],
    "repaired elsewhere": [
        call("replace_text", path="shop/sums.py", old="double(n)", new="2 * n"),
    ],
    "breaks another": [
        call("replace_text", path="shop/base.py", old="3 * n", new="2 * n"),
        call("replace_text", path="shop/base.py", old="return n\n", new="return -n\n"),
    ],
    "another type": [call("replace_text", path="shop/base.py", old="3 * n", new="2.0 * n")],
    "a text": [call("replace_text", path="shop/base.py", old="3 * n", new="str(2 * n)")],
    "never ends": [call("replace_text", path="shop/base.py", old="return 3", new="while 3")],
    "solution outside": [write("solution.py", "def double(n):\n    return 2 * n\n")],
    "driver outside": [write("main.py", "print('ok')\n")],
    "outside of the folder": [write("../shop/base.py", WRONG.replace("3", "2"))],
    "shadowed module": [write("json.py", "def loads(text):\n    return 14\n")],
    "import hook": [
        write(
            "shop/__init__.py",
            "import sys\nclass F:\n    def find_spec(self, *a):\n        return None\n"
            "sys.meta_path.insert(0, F())\nsys.modules['shop.base'] = None\n",
        )
    ],
    "only said": ["The function double should return 2 * n. I have repaired it."],
    "only thought": [
        "<think>"
        + call("replace_text", path="shop/base.py", old="3 * n", new="2 * n")
        + "</think>Done."
    ],
    "second call of a message": [
        (
            "<list_files></list_files>\n<replace_text><path>shop/base.py</path><old>3 * n</old>"
            "<new>2 * n</new></replace_text>"
        )
    ],
    "old text twice": [call("replace_text", path="shop/base.py", old="n", new="2 * n")],
}


@pytest.mark.parametrize("actions", CHEATS.values(), ids=CHEATS)
def test_red_team_earns_nothing(actions):
    verdict = TASK.replay(PROBLEM, [*actions, SUBMIT])
    assert verdict.score == 0.0
    assert verdict.status is Status.WRONG


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("hm", "no call of a tool (tools: list_files, read_file"),
        (call("read_file", path="/etc/passwd"), "a path is README.md, shop/NAME.py"),
        (call("read_file", path="shop/other.py"), "no file shop/other.py"),
        (call("read_file", path="README.md", first=9), "first is from 1 to 2"),
        (call("read_file", path="README.md", first=2, last=1), "last is 2 or more"),
        (call("read_file", path="README.md", first="two"), "a whole number, got"),
        (call("read_file"), "lacks the argument 'path'"),
        (call("reed_file", path="README.md"), "did you mean 'read_file'"),
        (call("replace_text", path="shop/base.py", old="5 * n", new=""), "stands 0 times"),
        (call("replace_text", path="shop/base.py", old="return", new=""), "stands 2 times"),
        (write("shop/big.py", "x" * 50_001), "at most 50000 characters"),
        ('{"name": "submit"', "no JSON object"),
    ],
)
def test_bad_calls_are_told(action, said):
    (reply,) = told(action)
    assert reply.verdict is None
    assert said in reply.text


def test_nothing_hidden_is_told():
    session = TASK.begin(PROBLEM)
    shown = [TASK.prompt(PROBLEM), session.reply(call("run_tests")).text]
    shown.append(session.reply(SUBMIT).verdict.detail)
    for each in ("14", "18", "2 * n"):
        assert all(each not in text for text in shown)


def test_faults_of_the_sandbox_are_no_score(monkeypatch):
    class Broken:
        def run(self, job):
            return Result.fault("it broke")

    def fails(files, calls):
        raise PackageFault("it broke")

    monkeypatch.setattr(repository_repair, "shared_sandbox", Broken)
    assert told(call("run_tests"))[0].verdict.status is Status.VERIFIER_ERROR
    monkeypatch.setattr(repository_repair, "judge_package", fails)
    assert told(SUBMIT)[0].verdict.status is Status.VERIFIER_ERROR


def results(files, checks, folder):
    """Import a package from disk and say which checks hold: by Python's own import system."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    package = next(path for path in files if path.endswith("__init__.py")).split("/")[0]
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        found = []
        for each in checks:
            module, name = each.function.split(".")
            function = getattr(importlib.import_module(f"{package}.{module}"), name)
            try:
                found.append(function(*read(each.args)) == read(each.expected))
            except Exception:  # noqa: BLE001 - a fault may raise anything
                found.append(False)
        return found
    finally:
        sys.path.remove(str(folder))
        for name in [n for n in sys.modules if n.split(".")[0] == package]:
            del sys.modules[name]


@pytest.mark.parametrize("level", [0, 2, 5, 7, 10])
def test_checks_fail_before_the_repair_and_hold_after_it(level, tmp_path):
    task = RepositoryRepairTask(RepositoryRepairConfig.at(level))
    for seed in range(4):
        problem = task.generate(stream("repository", level, seed))
        files = {file.path: file.text for file in problem.repository.files}
        repair = problem.repair
        folder = tmp_path / f"{seed}"
        assert not any(results(files, repair.failing, folder / "a"))
        assert all(results(files, repair.passing, folder / "a"))
        for number, edit in enumerate(repair.edits):
            assert files[edit.path].count(edit.old) == 1
            partly = {**files, edit.path: files[edit.path].replace(edit.old, edit.new)}
            files = partly
            done = all(results(files, repair.failing, folder / f"b{number}"))
            assert done == (number == len(repair.edits) - 1)
        assert all(results(files, repair.passing, folder / "c"))


@pytest.mark.parametrize("level", [0, 4, 8])
def test_visible_tests_fail_before_the_repair_and_hold_after_it(level):
    task = RepositoryRepairTask(RepositoryRepairConfig.at(level))
    problem = task.generate(stream("visible", level))
    session = task.begin(problem)
    texts = [session.reply(action).text for action in task.play(problem)]
    assert "FAILED" in texts[0]
    assert " 0 failed" in texts[-2]


def test_mutants_change_one_place_and_still_parse():
    source = (
        'def f(x):\n    """At least 3."""\n    if x >= 3 and not x == 5:\n'
        '        return min(x * 2, 9)\n    return f"{x + 1}" + (1 if x else 0)'
    )
    found = mutants(source)
    assert len(found) == len(set(found)) > 10
    assert source.replace(">=", ">") in found
    assert source.replace("and", "or") in found
    assert source.replace("min", "max") in found
    assert source.replace("not ", "") in found
    assert source.replace('" + (', '" - (') in found
    for text in found:
        compile(text, "mutant", "exec")
        assert "At least 3." in text
        assert "{x + 1}" in text


@pytest.mark.parametrize(
    "knobs",
    [{"n_functions": 1}, {"n_modules": 9}, {"n_faults": 0}, {"n_functions": 2, "n_faults": 3}],
)
def test_config_is_checked(knobs):
    with pytest.raises((ConfigError, ValueError), match=next(iter(knobs))):
        RepositoryRepairConfig(**knobs)


def test_effort_and_baseline():
    shallow = replace(PROBLEM, repository=replace(PROBLEM.repository, depth=0))
    assert TASK.effort(PROBLEM) == 2 * TASK.effort(shallow) > 0
    assert TASK.replay(PROBLEM, TASK.baseline(stream("rng"), PROBLEM)).score == 0.0
