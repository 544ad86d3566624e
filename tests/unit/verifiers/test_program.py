"""Judging programs and functions: verdicts, what they cost, and what they never say."""

import pytest

from rlvr_envs.core.errors import ConfigError, ToolchainMissing
from rlvr_envs.core.verdict import Status
from rlvr_envs.sandboxes import languages
from rlvr_envs.sandboxes.base import Limits, Result, RunStatus
from rlvr_envs.verifiers import program
from rlvr_envs.verifiers.program import (
    Call,
    Match,
    OutcomeKind,
    StdioTest,
    call_function,
    floats,
    judge_function,
    judge_stdio,
    lines,
    run_python,
)

SQUARES = [StdioTest(f"{n}\n", f"{n * n}\n") for n in (1, 30, 7, 12345, -4)]
SQUARE = "print(int(input()) ** 2)"
SUMS = [Call(([n, 1, 2],), n + 3) for n in (0, 5, 100, -7)]
SUM = "def total(items):\n    return sum(items)"
QUICK = Limits(cpu_s=0.5, memory_mib=64)


def stdio(source, tests=SQUARES, **options):
    return judge_stdio(source, "python", tests, **options)


def test_a_right_program():
    verdict = stdio(SQUARE)
    assert verdict.status is Status.CORRECT
    assert dict(verdict.parts) == {
        "tests_passed": 5,
        "tests_total": 5,
        "fraction": 1.0,
        "compiled": 1.0,
    }


def test_a_right_function():
    verdict = judge_function(SUM, "total", SUMS)
    assert verdict.score == verdict.parts["fraction"] == 1.0


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("print(int(input()) ** 2 + 1)", "the output is wrong"),
        ("print(int(input()) * 1)", "the output is wrong"),
        ("", "the output is wrong"),
        ("def f(:", "ended with an error"),
        (f"{SQUARE}\nraise SystemExit(3)", "ended with an error"),
        (f"{SQUARE}\nimport os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "crashed"),
        (f"{SQUARE}\nwhile True: pass", "took too long"),
        (f"{SQUARE}\nx = b'x' * 10**9", ""),
        (f"{SQUARE}\nprint(' ' * 10**7)", "wrote too much"),
        (f"{SQUARE}\nprint(' ' * 10**5)", "wrote too much"),
        ("import sys; sys.stdout.buffer.write(b'\\xff')", "not UTF-8"),
    ],
)
def test_wrong_programs_are_wrong_and_told_why(source, told):
    verdict = stdio(source, limits=QUICK)
    assert verdict.status is Status.WRONG
    assert told in verdict.detail


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("def total(items): return 1.0 * sum(items)", "total returns a wrong result"),
        ("def total(items): return None", "wrong result"),
        ("def total(items): return range(3)", "not plain data"),
        ("def total(items): return print(sum(items))", "wrong result"),
        ("def totally(items): return sum(items)", "not defined"),
        ("total = 5", "not defined"),
        ("def total(): return 3", "raised TypeError"),
        ("def total(items): raise ValueError(items)", "raised ValueError"),
        ("def total(items): 1 / 0", "raised ZeroDivisionError"),
        ("def total(items):\n return (", "raised SyntaxError"),
        ("def total(items):\n x = []\n x.append(x)\n return x", "not plain data"),
        ("def total(items):\n while True: pass", "took too long"),
        ("def total(items): return 'x' * 10**6", "wrote too much|too long"),
        ("import os\ndef total(items): os.kill(os.getpid(), 11)", "crashed"),
    ],
)
def test_wrong_functions_are_wrong_and_told_why(source, told):
    verdict = judge_function(source, "total", SUMS, limits=QUICK)
    assert verdict.status is Status.WRONG
    assert any(words in verdict.detail for words in told.split("|")), verdict.detail


def test_a_detail_tells_nothing_of_the_tests():
    secret = "3141592653"
    leaks = [
        "import sys\nsys.exit(input())",
        "raise type(input(), (Exception,), {})",
        "print(input())\n1 / 0",
        "raise KeyError(input())",
    ]
    for source in leaks:
        assert secret not in stdio(source, [StdioTest(secret, secret + "1")]).detail
    for raised in ("type(x, (Exception,), {})", "ValueError(x)", "SystemExit(x)"):
        source = f"def f(x): raise {raised}"
        assert secret not in judge_function(source, "f", [Call((secret,), secret)]).detail


def test_a_class_with_a_method():
    source = "class Solution:\n    def total(self, items):\n        return sum(items)"
    assert judge_function(source, "Solution.total", SUMS).score == 1.0
    assert judge_function(source, "Solution.sum", SUMS).score == 0.0
    assert judge_function(SUM, "Solution.total", SUMS).score == 0.0


def test_what_a_function_prints_is_not_its_result():
    source = (
        "import os, subprocess, sys\n"
        "def total(items):\n"
        "    print('debugging', flush=True)\n"
        "    os.write(1, b'more of it')\n"
        "    subprocess.run([sys.executable, '-c', 'print(\"and from a child\")'])\n"
        "    return sum(items)\n"
        "print('loaded', flush=True)"
    )
    assert judge_function(source, "total", SUMS).score == 1.0


def test_what_would_run_after_the_result_does_not():
    source = (
        "import atexit, threading, time\n"
        "atexit.register(time.sleep, 1000)\n"
        "threading.Thread(target=time.sleep, args=(1000,)).start()\n"
        "def total(items):\n    return sum(items)"
    )
    assert judge_function(source, "total", SUMS, limits=Limits(wall_s=5.0)).score == 1.0


def test_a_solution_may_use_dataclasses_threads_and_processes():
    source = (
        "import dataclasses, threading, subprocess, sys\n"
        "@dataclasses.dataclass\nclass Item:\n    value: 'int'\n"
        "def total(items):\n"
        "    found = []\n"
        "    work = threading.Thread(target=lambda: found.append(sum(items)))\n"
        "    work.start(); work.join()\n"
        "    return Item(found[0]).value"
    )
    assert judge_function(source, "total", SUMS).score == 1.0


def test_the_fraction_of_tests_passed():
    half = "x = int(input())\nprint(x * x if x > 7 else 'no')"
    verdict = stdio(half, reward="fraction")
    assert (verdict.status, verdict.score) == (Status.PARTIAL, 0.4)
    assert (verdict.parts["tests_passed"], verdict.parts["tests_total"]) == (2, 5)
    assert stdio(half).score == 0.0
    assert stdio(SQUARE, reward="fraction").score == 1.0
    assert stdio("", reward="fraction").status is Status.WRONG
    source = "def total(items): return sum(items) if items[0] else 1 / 0"
    assert judge_function(source, "total", SUMS, reward="fraction").score == 0.75


def test_a_language_that_compiles():
    languages.find("c").require()
    right = (
        "#include <stdio.h>\n"
        'int main(void) { long n; scanf("%ld", &n); printf("%ld\\n", n * n); return 0; }\n'
    )
    assert judge_stdio(right, "c", SQUARES).score == 1.0
    assert judge_stdio(right.replace("n * n", "n + n"), "c", SQUARES).score == 0.0
    broken = judge_stdio(right.replace("return 0;", "return 0"), "c", SQUARES)
    assert broken.status is Status.WRONG
    assert broken.parts["compiled"] == 0.0
    assert "does not compile" in broken.detail
    assert "error" in broken.detail


def test_comparisons_and_checkers():
    thirds = [StdioTest(f"{n}", f"{n / 3:.6f}") for n in (1, 2)]
    assert stdio("print(int(input()) / 3)", thirds).score == 0.0
    assert stdio("print(int(input()) / 3)", thirds, compare=floats(rel=1e-5)).score == 1.0
    spaced = [StdioTest("x", "1 2\n3 4")]
    assert stdio("print('1 2 3 4')", spaced).score == 1.0
    assert stdio("print('1 2 3 4')", spaced, compare=lines).score == 0.0

    def divisor(stdin, stdout):
        text = stdout.strip()
        fits = text.isascii() and text.isdigit() and len(text) < 9 and int(text) > 1
        return "" if fits and int(stdin) % int(text) == 0 else "it is no divisor"

    composite = [StdioTest("12", ""), StdioTest("35", "")]
    small = "n = int(input())\nprint(next(d for d in range(2, n) if n % d == 0))"
    assert stdio(small, composite, checker=divisor).score == 1.0
    assert stdio(small.replace("range(2, n)", "range(n, 1, -1)"), composite, checker=divisor).score
    verdict = stdio("print(5)", composite, checker=divisor)
    assert verdict.score == 0.0
    assert "it is no divisor" in verdict.detail


def test_long_outputs_fit_if_they_are_right():
    long = "1234567 " * 40_000
    assert stdio("print(input() * 40_000)", [StdioTest("1234567 ", long)]).score == 1.0
    items = list(range(100_000))
    calls = [Call((100_000,), items)]
    assert judge_function("def f(n): return list(range(n))", "f", calls).score == 1.0


def test_tests_that_judge_nothing_are_refused():
    with pytest.raises(ConfigError, match="no tests"):
        stdio(SQUARE, [])
    with pytest.raises(ConfigError, match="no tests"):
        judge_function(SUM, "total", [])
    with pytest.raises(ConfigError, match="empty program"):
        stdio(SQUARE, [*SQUARES, StdioTest("5", " \n")])
    assert stdio("pass", [StdioTest("5", "", empty_ok=True)]).score == 1.0
    with pytest.raises(ConfigError, match="'all' or 'fraction'"):
        stdio(SQUARE, reward="some")
    for name in ("a.b.c", "1f", "f()", "", "f\n", "os;x"):
        with pytest.raises(ConfigError, match="a function has a name"):
            judge_function(SUM, name, SUMS)
    for value in (object(), {1: [2, {3: range(3)}]}):
        with pytest.raises(ConfigError, match="plain data"):
            Call((1,), value)
    with pytest.raises(ConfigError, match="plain data"):
        judge_function(SUM, "total", [Call((len,), 1)])
    with pytest.raises(ConfigError, match="expected as a bool"):
        Call((1,), 5, Match(truth=True))
    with pytest.raises(ConfigError, match="as large as"):
        Call((1,), 1 << 2_000_000)


def test_an_unknown_language_and_one_that_is_not_installed(monkeypatch):
    with pytest.raises(ConfigError, match="pyhton"):
        judge_stdio(SQUARE, "pyhton", SQUARES)
    monkeypatch.setattr(languages, "TOOL_DIRECTORIES", ())
    monkeypatch.setattr(languages, "find_tool", lambda tool: None)
    with pytest.raises(ToolchainMissing, match="lua"):
        judge_stdio("print(1)", "lua", SQUARES)


def test_values_and_costs_of_calls():
    source = "def f(n):\n    if n < 0: raise ValueError\n    return {'sum': sum(range(n))}"
    small, large, bad = call_function(source, "f", [(3,), (10**7,), (-1,)])
    assert (small.kind, small.value) == (OutcomeKind.VALUE, {"sum": 3})
    assert large.value == {"sum": 10**7 * (10**7 - 1) // 2}
    assert large.result.cpu_s > small.result.cpu_s > 0
    assert (bad.kind, bad.value) == (OutcomeKind.EXCEPTION, None)
    assert call_function(source, "f", []) == []
    counted = "import collections\ndef f(x): return collections.Counter(x)"
    assert call_function(counted, "f", [("aab",)])[0].kind is OutcomeKind.NOT_DATA
    assert call_function(counted, "f", [("aab",)], loose=True)[0].value == {"a": 2, "b": 1}


def test_a_run_that_fails_has_no_value_even_if_its_report_came():
    source = (
        "import os, sys\n"
        "def f(x):\n"
        "    frame = sys._getframe()\n"
        "    while 'request' not in frame.f_locals:\n"
        "        frame = frame.f_back\n"
        "    nonce = frame.f_locals['request']['nonce']\n"
        "    os.write(frame.f_locals['channel'], f'{nonce} [\"value\", 5]\\n'.encode())\n"
        "    os._exit(x)\n"
    )
    forged, failed = call_function(source, "f", [(0,), (1,)])
    assert (forged.kind, forged.value) == (OutcomeKind.VALUE, 5)
    assert (failed.kind, failed.value) == (OutcomeKind.RUN_FAULT, None)


def test_arguments_are_fresh_in_every_call():
    source = (
        "def f(x):\n    x.append(1)\n    f.seen = getattr(f, 'seen', 0) + 1\n    return [x, f.seen]"
    )
    shared = [0]
    outcomes = call_function(source, "f", [(shared,), (shared,)])
    assert [outcome.value for outcome in outcomes] == [[[0, 1], 1]] * 2
    assert shared == [0]


def test_running_a_program():
    result = run_python("print(input()[::-1])", "abc\n")
    assert (result.status, result.stdout) == (RunStatus.OK, b"cba\n")
    assert run_python("1/0").status is RunStatus.NONZERO_EXIT
    assert run_python("while True: pass", limits=QUICK).status is RunStatus.CPU_TIMEOUT


@pytest.mark.parametrize("text", ["\ud800", "\0", "#" * 100_000, "x = '\ud800'", "\x0c", "é" * 99])
def test_any_source_gets_a_verdict(text):
    assert judge_function(text, "total", SUMS).status is Status.WRONG
    assert stdio(text).status is Status.WRONG


class Scripted:
    """A sandbox whose runs end as they are told to."""

    def __init__(self, *results):
        self.results, self.ran = list(results), 0

    def run_batch(self, job, cases, *, stop_on_fault=False):
        found = []
        for _ in cases:
            self.ran += 1
            found.append(self.results.pop(0))
            if stop_on_fault and not found[-1].ok:
                break
        return found


def wrote(text):
    return Result(status=RunStatus.OK, stdout=text.encode(), stdout_bytes=len(text))


FAULT = Result.fault("the slot died")
NUMBERS = [StdioTest("0" * n, f"{n}") for n in range(1, 7)]


def judged(monkeypatch, *results, reward="all"):
    sandbox = Scripted(*results)
    monkeypatch.setattr(program, "shared_sandbox", lambda: sandbox)
    return stdio("", NUMBERS, reward=reward), sandbox.ran


def test_a_fault_of_the_sandbox_is_no_verdict_on_the_program(monkeypatch):
    verdict, _ = judged(monkeypatch, wrote("1"), FAULT)
    assert verdict.status is Status.VERIFIER_ERROR
    assert not verdict.scored
    results = [*(wrote(str(n)) for n in range(1, 6)), FAULT]
    assert judged(monkeypatch, *results, reward="fraction")[0].status is Status.VERIFIER_ERROR


def test_a_fault_after_the_verdict_is_clear_does_not_matter(monkeypatch):
    verdict, ran = judged(monkeypatch, wrote("9"), FAULT)
    assert verdict.status is Status.WRONG
    assert ran == 2


def test_judging_stops_soon_after_the_first_failure(monkeypatch):
    right = [wrote(str(n)) for n in range(1, 7)]
    assert judged(monkeypatch, *right)[0].score == 1.0
    verdict, ran = judged(monkeypatch, wrote("1"), wrote("no"), *right)
    assert ran == 2
    assert verdict.parts["tests_passed"] == 1


def test_a_program_that_runs_out_of_time_again_and_again_is_not_waited_for(monkeypatch):
    late = Result(status=RunStatus.CPU_TIMEOUT)
    tests = [StdioTest("0" * n, f"{n}") for n in range(1, 201)]
    sandbox = Scripted(wrote("1"), *[late] * 8, *(wrote(str(n)) for n in range(10, 201)))
    monkeypatch.setattr(program, "shared_sandbox", lambda: sandbox)
    verdict = stdio("", tests, reward="fraction")
    assert (verdict.status, verdict.score) == (Status.PARTIAL, 1 / 200)
    assert sandbox.ran <= 10
    assert "took too long" in verdict.detail
    sandbox.results = [wrote("1"), *[late] * 7, *(wrote(str(n)) for n in range(9, 201))]
    assert stdio("", tests, reward="fraction").score == 193 / 200


def test_missing_results_are_a_fault_and_not_a_pass(monkeypatch):
    class Short(Scripted):
        def run_batch(self, job, cases, *, stop_on_fault=False):
            return super().run_batch(job, cases[:1], stop_on_fault=stop_on_fault)

    sandbox = Short(*(wrote(str(n)) for n in range(1, 7)))
    monkeypatch.setattr(program, "shared_sandbox", lambda: sandbox)
    assert stdio("", NUMBERS).status is Status.VERIFIER_ERROR


WORKS = "import time\nwhile time.process_time() < 0.7: pass\nprint(1)"
SLEEPS = "import time\ntime.sleep(600)"
NARROW = Limits(cpu_s=1.0, wall_s=0.5)


def test_a_program_that_works_longer_than_it_may_sleep_is_right():
    assert judge_stdio(WORKS, "python", [StdioTest("", "1")], limits=NARROW).score == 1.0


@pytest.mark.parametrize("reward", ["all", "fraction"])
def test_a_program_that_sleeps_is_wrong_and_scored(reward):
    verdict = judge_stdio(SLEEPS, "python", [StdioTest("", "1")], limits=NARROW, reward=reward)
    assert (verdict.status, verdict.scored) == (Status.WRONG, True)
    assert "waited too long" in verdict.detail


def test_a_program_that_the_machine_does_not_let_work_is_not_scored(monkeypatch):
    monkeypatch.setattr("rlvr_envs.sandboxes.base.STARVED", 1e-9)
    verdict = judge_stdio(WORKS, "python", [StdioTest("", "1")], limits=NARROW)
    assert (verdict.status, verdict.scored) == (Status.VERIFIER_ERROR, False)
