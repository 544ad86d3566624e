"""Checkers of data sets: what they say counts, and what they do not say is a fault of theirs."""

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.sandboxes.base import Limits, Result
from rlvr_envs.verifiers import program_checker
from rlvr_envs.verifiers.program import StdioTest, judge_stdio
from rlvr_envs.verifiers.program_checker import MAX_CHECKER, CheckerFault, script_checker

# Right is any divisor but 1 and the number itself.
DIVISOR = """
import sys

def main():
    number = int(open(sys.argv[1]).read())
    printed = open(sys.argv[3]).read().split()
    fits = len(printed) == 1 and 1 < int(printed[0]) < number and number % int(printed[0]) == 0
    print(1 if fits else 0)

if __name__ == "__main__":
    main()
"""
EXPECTED = {"12\n": "2\n", "35\n": "5\n"}


def said(source, output="4", stdin="12\n"):
    return script_checker(source, EXPECTED)(stdin, output)


def test_a_checker_accepts_several_outputs():
    assert [said(DIVISOR, output) for output in ("2", "3\n", " 6")] == ["", "", ""]
    assert [said(DIVISOR, output) for output in ("1", "12", "5", "2 3", "")] == [
        "the checker says that the output is wrong"
    ] * 5
    tests = [StdioTest(*pair) for pair in EXPECTED.items()]
    largest = "n = int(input())\nprint(next(d for d in range(n - 1, 1, -1) if n % d == 0))"
    checker = script_checker(DIVISOR, EXPECTED)
    assert judge_stdio(largest, "python", tests, checker=checker).score == 1.0
    assert judge_stdio("print(5)", "python", tests, checker=checker).score == 0.0


def test_a_checker_is_called_with_three_files():
    source = (
        "import sys\n"
        "told = [open(name, encoding='utf-8').read() for name in sys.argv[1:]]\n"
        "names = ['checker.py', 'input.txt', 'correct_output.txt', 'solution_output.txt']\n"
        "print(int(sys.argv == names and told == ['35\\n', '5\\n', 'ä\\x00']))"
    )
    assert said(source, "ä\x00", "35\n") == ""


@pytest.mark.parametrize(
    ("printed", "right"),
    [("1", True), ("1.0", True), ("1.", True), (" 1\n", True), ("0", False), ("0.0", False),
     (".5", False), ("0.99999999999999999999999", False), ("1e-05", False), ("-0.0", False)],
)  # fmt: skip
def test_a_fraction_is_wrong(printed, right):
    assert (said(f"print({printed!r})") == "") is right


@pytest.mark.parametrize(
    "printed",
    ["", "2", "-1", "1.0000001", "nan", "True", "ok", "1 1", "1\n0", "1" * 50, "1e9999", "\u0661"],
)
def test_another_print_is_a_fault(printed):
    with pytest.raises(CheckerFault, match="printed no number from 0 to 1"):
        said(f"print({printed!r})")


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("print(1)\n1 / 0", "it ended with an error"),
        ("print(1)\nimport sys\nsys.exit(3)", "it ended with an error"),
        ("print(1, flush=True)\nimport os\nos.kill(os.getpid(), 11)", "it crashed"),
        ("print(1", "it ended with an error"),
        ("while True: pass", "it took too long"),
        ("x = bytearray(10**9)", "it ended with an error|it used too much memory"),
        ("while True: print(1)", "it wrote too much"),
        ("print('0' * 10**5)", "it printed no number"),
    ],
)
def test_a_checker_that_fails_is_at_fault(source, told, monkeypatch):
    monkeypatch.setattr(program_checker, "_LIMITS", Limits(cpu_s=0.5, output_kib=256))
    with pytest.raises(CheckerFault, match=told):
        said(source)


def test_an_output_that_only_a_right_checker_fails_on_is_wrong():
    assert said(DIVISOR, "two") == "the checker cannot read the output"
    picky = DIVISOR.replace("1 < int", "0 > int")  # takes not even the right output for right
    with pytest.raises(CheckerFault, match="it ended with an error"):
        said(picky, "two")


def test_a_fault_tells_nothing_of_the_tests():
    leak = "import sys\nsys.exit(open(sys.argv[2]).read())"
    with pytest.raises(CheckerFault) as caught:
        said(leak, stdin="35\n")
    assert "5" not in str(caught.value)


def test_a_fault_of_the_sandbox_is_none_of_the_checker(monkeypatch):
    class Broken:
        def run(self, job):
            return Result.fault("no slot")

    monkeypatch.setattr(program_checker, "shared_sandbox", Broken)
    with pytest.raises(CheckerFault, match=r"^the sandbox failed .*: no slot$"):
        said(DIVISOR)


def test_each_output_has_a_job_of_its_own():
    writes = (
        "import os, sys\n"
        "print(int(not os.path.exists('left')))\n"
        "open('left', 'w').close()\n"
        "open(sys.argv[2], 'w').write('4')"
    )
    checker = script_checker(writes, EXPECTED)
    assert [checker("12\n", "4") for _ in range(3)] == ["", "", ""]


def test_a_checker_has_a_bounded_length():
    with pytest.raises(ConfigError, match=f"at most {MAX_CHECKER} characters"):
        script_checker("#" * (MAX_CHECKER + 1), EXPECTED)
    assert said("print(1)\n" + "#" * (MAX_CHECKER - 9)) == ""
