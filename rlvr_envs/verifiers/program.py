"""Judging programs by what they do, from outside.

A program runs in the sandbox and its output comes out as data; what is expected, and the code
that compares, never go in. So nothing that a program does to its own process can make it right:
it can only say what its output is, and for that it must know the right one. Exit statuses, markers
and reports of success mean nothing.

Programs are judged on their output for an input (`judge_stdio`), or on the result that they write
as JSON for arguments that they read as JSON (`judge_json`), Python functions on their result for
arguments (`judge_function`), each test in a fresh process.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.sandboxes import languages
from rlvr_envs.sandboxes.base import Case, Job, Limits, Result, RunStatus
from rlvr_envs.sandboxes.packages import with_packages
from rlvr_envs.sandboxes.shared import shared_sandbox
from rlvr_envs.verifiers.program_calls import (
    ENDINGS,
    FUNCTION_LIMITS,
    Outcome,
    OutcomeKind,
    function_cases,
    function_job,
    read_outcome,
)
from rlvr_envs.verifiers.program_json import NotJson, read_line, to_line
from rlvr_envs.verifiers.program_output import WRONG, Checker, Compare, exact, floats, lines, tokens
from rlvr_envs.verifiers.program_values import STRICT, Match, Unreadable, agrees, read, to_text

__all__ = [
    "STRICT",
    "Call",
    "Checker",
    "Compare",
    "Match",
    "Outcome",
    "OutcomeKind",
    "Reward",
    "StdioTest",
    "call_function",
    "exact",
    "floats",
    "judge_function",
    "judge_json",
    "judge_stdio",
    "lines",
    "run_python",
    "tokens",
]

Reward = Literal["all", "fraction"]

_FIRST_ROUND = 2  # tests tried before more are started: most wrong programs fail the first
_GROWTH = 4
_LAST_ROUND = 64  # bounds what a flood of output can take up here
_SLOW = (RunStatus.CPU_TIMEOUT, RunStatus.WALL_TIMEOUT)
_PATIENCE = 8  # tests that may run out of time before the rest count as failed too
_DIAGNOSIS = 600  # characters of a compiler's message that a verdict quotes


@dataclass(frozen=True, slots=True)
class StdioTest:
    r"""An input and the output that it should give.

    Attributes:
        stdin: what the program reads.
        expected: what it should print; of no use where a checker decides.
        empty_ok: whether printing nothing may be right.

    Examples:
        >>> from rlvr_envs.verifiers.program import StdioTest, judge_stdio
        >>> judge_stdio("print(input())", "python", [StdioTest(stdin="7\n", expected="7\n")]).score
        1.0
    """

    stdin: str
    expected: str
    empty_ok: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """Arguments and the result that they should give.

    Attributes:
        args: the arguments, as plain data.
        expected: the result, as plain data.
        match: how closely the result must agree.

    Examples:
        >>> from rlvr_envs.verifiers.program import Call, judge_function
        >>> call = Call(args=(2, 3), expected=5)
        >>> judge_function("def add(a, b): return a - b", "add", [call]).score
        0.0
    """

    args: tuple[Any, ...]
    expected: Any
    match: Match = STRICT

    def __post_init__(self) -> None:
        if self.match.truth and type(self.expected) is not bool:
            raise ConfigError(f"a truth is expected as a bool, got {self.expected!r:.80}")
        try:
            read(to_text(self.expected))
        except Unreadable as error:
            raise ConfigError(f"no result can be as large as what is expected: {error}") from error


def judge_stdio(  # noqa: PLR0913 - all but three are keywords with a usual value
    source: str,
    language: str,
    tests: Sequence[StdioTest],
    *,
    compare: Compare = tokens,
    reward: Reward = "all",
    limits: Limits | None = None,
    checker: Checker | None = None,
    packages: tuple[str, ...] = (),
) -> Verdict:
    r"""Judge a program by its output on each input.

    Args:
        source: the program.
        language: what it is written in.
        tests: inputs and outputs; the shortest inputs are tried first.
        compare: how an output must agree with the expected one.
        reward: ``"all"`` gives 1 for passing all tests and stops at the first that fails;
            ``"fraction"`` gives the share of tests passed, where the tests after the eighth that
            ran out of time are not run and count as failed.
        limits: for each test.
        checker: decides instead of a comparison, for problems with several right answers: takes
            input and output, returns the empty string or what is wrong; it must bear any text.
            What it raises ends the judging and is raised.
        packages: what a program in Python may import besides the standard library.

    Raises:
        ConfigError: there are no tests, or one that an empty program would pass.
        ToolchainMissing: the language is not installed.
        SandboxUnavailable: no sandbox works here.

    Examples:
        >>> from rlvr_envs.verifiers.program import StdioTest, judge_stdio
        >>> source = "print(int(input()) * 2)"
        >>> judge_stdio(source, "python", [StdioTest("3\n", "6\n"), StdioTest("5\n", "10\n")]).score
        1.0
        >>> judge_stdio(source, "python", [StdioTest("3\n", "9\n")]).status
        <Status.WRONG: 'wrong'>
    """
    _check(tests, reward)
    if checker is None and any(not (t.expected.strip() or t.empty_ok) for t in tests):
        raise ConfigError(
            "a test expects no output, which an empty program passes; empty_ok=True allows it"
        )
    found = languages.find(language)
    found.require()
    longest = max(len(test.expected.encode()) for test in tests)
    job = found.job(source, limits=_with_room(limits or Limits(), 2 * longest))
    job = with_packages(job, packages, shared_sandbox())
    ordered = sorted(tests, key=lambda test: len(test.stdin))

    def decide(index: int, output: str) -> str:
        test = ordered[index]
        if checker is not None:
            return checker(test.stdin, output)
        return compare(test.expected, output)

    cases = [Case(stdin=test.stdin.encode()) for test in ordered]
    return _judge(job, cases, _on_output(decide), reward)


def judge_json(
    source: str,
    language: str,
    calls: Sequence[Call],
    *,
    reward: Reward = "all",
    limits: Limits | None = None,
) -> Verdict:
    """Judge a program that stands for a function, by the result that it writes for each call.

    It reads one line, a JSON list of the arguments, and writes one line, the result as JSON.

    Args:
        source: the program.
        language: what it is written in.
        calls: arguments and results; a list may always stand for a tuple, which JSON lacks.
        reward: as in `judge_stdio`.
        limits: for each call.

    Raises:
        ConfigError: there are no calls, or arguments or a result cannot be written as JSON.
        ToolchainMissing: the language is not installed.
        SandboxUnavailable: no sandbox works here.
    """
    _check(calls, reward)
    found = languages.find(language)
    found.require()
    try:
        given = [to_line(list(call.args)) for call in calls]
        longest = max(len(to_line(call.expected).encode()) for call in calls)
    except NotJson as error:
        raise ConfigError(f"arguments or a result cannot be written as JSON: {error}") from error
    ordered = sorted(zip(given, calls, strict=True), key=lambda pair: len(pair[0]))
    job = found.job(source, limits=_with_room(limits or Limits(), 4 * longest))

    def decide(index: int, output: str) -> str:
        call = ordered[index][1]
        try:
            result = read_line(output)
        except NotJson as error:
            return str(error)
        match = replace(call.match, sequences_alike=True)
        return "" if agrees(call.expected, result, match) else WRONG

    cases = [Case(stdin=f"{line}\n".encode()) for line, _ in ordered]
    return _judge(job, cases, _on_output(decide), reward)


def judge_function(
    source: str,
    function: str,
    calls: Sequence[Call],
    *,
    reward: Reward = "all",
    limits: Limits | None = None,
    packages: tuple[str, ...] = (),
) -> Verdict:
    r"""Judge a Python function by its results, each call in a process of its own.

    Args:
        source: Python code that defines the function.
        function: its name; ``Class.method`` is called on an object made without arguments.
        calls: arguments and results.
        reward: as in `judge_stdio`.
        limits: for each call.
        packages: what the code may import besides the standard library.

    Raises:
        ConfigError: there are no calls, or the name is none.
        ToolchainMissing: the sandbox's Python lacks a package.
        SandboxUnavailable: no sandbox works here.

    Examples:
        >>> from rlvr_envs.verifiers.program import Call, judge_function
        >>> source = "def double(n):\n    return 2 * n"
        >>> judge_function(source, "double", [Call((3,), 6), Call((5,), 10)]).score
        1.0
    """
    _check(calls, reward)
    ordered = sorted(calls, key=lambda call: len(to_text(call.args)))
    longest = max(len(to_text(call.expected)) for call in calls)
    job = function_job(source, _with_room(limits or FUNCTION_LIMITS, 4 * longest))
    job = with_packages(job, packages, shared_sandbox())
    loose = any(call.match.as_python for call in calls)
    nonces, cases = function_cases(function, [call.args for call in ordered], loose)

    def decide(index: int, result: Result) -> str:
        outcome = read_outcome(result, nonces[index])
        if outcome.kind is not OutcomeKind.VALUE:
            return outcome.detail
        call = ordered[index]
        agree = agrees(call.expected, outcome.value, call.match)
        return "" if agree else f"{function} returns a wrong result"

    return _judge(job, cases, decide, reward)


def call_function(
    source: str,
    function: str,
    args_list: Sequence[tuple[Any, ...]],
    *,
    limits: Limits | None = None,
    loose: bool = False,
    packages: tuple[str, ...] = (),
) -> list[Outcome]:
    """Call a Python function of a solution with each of the arguments, and return what came of it.

    Args:
        source: Python code that defines the function.
        function: its name, as in `judge_function`.
        args_list: the arguments of each call; each is made in a process of its own.
        limits: for each call.
        loose: whether the standard library's kinds of dict come back as dicts.
        packages: what the code may import besides the standard library.

    Raises:
        ConfigError: the arguments are no plain data, or the name is none.
        ToolchainMissing: the sandbox's Python lacks a package.
        SandboxUnavailable: no sandbox works here.

    Examples:
        >>> from rlvr_envs.verifiers.program import call_function
        >>> outcomes = call_function("def double(n): return 2 * n", "double", [(3,), ("ab",)])
        >>> [outcome.value for outcome in outcomes]
        [6, 'abab']
    """
    nonces, cases = function_cases(function, args_list, loose)
    job = with_packages(function_job(source, limits or FUNCTION_LIMITS), packages, shared_sandbox())
    results = shared_sandbox().run_batch(job, cases)
    return [read_outcome(*pair) for pair in zip(results, nonces, strict=True)]


def run_python(source: str, stdin: str = "", *, limits: Limits | None = None) -> Result:
    r"""Run a Python program and return how it ended and what it wrote.

    Examples:
        >>> from rlvr_envs.verifiers.program import run_python
        >>> run_python("print(input()[::-1])", "stressed\n").stdout
        b'desserts\n'
    """
    job = languages.find("python").job(source, limits=limits)
    return shared_sandbox().run(replace(job, stdin=stdin.encode("utf-8", "replace")))


def _check(tests: Sequence[object], reward: str) -> None:
    if not tests:
        raise ConfigError("there are no tests, and any program would pass them")
    if reward not in ("all", "fraction"):
        raise ConfigError(f"reward is 'all' or 'fraction', got {reward!r}")


def _with_room(limits: Limits, size: int) -> Limits:
    """Return limits under which the right output, of this many bytes, is not cut."""
    kib = size // 1024 + 4
    return replace(
        limits,
        stdout_kib=max(limits.stdout_kib, kib),
        output_kib=max(limits.output_kib, limits.stdout_kib, kib),
    )


def _on_output(decide: Callable[[int, str], str]) -> Callable[[int, Result], str]:
    """Return a decision about a run, given one about its output, which has to be whole text."""

    def decide_on_run(index: int, result: Result) -> str:
        if result.stdout_truncated:
            return ENDINGS[RunStatus.OUTPUT_LIMIT]
        try:
            output = result.stdout.decode()
        except UnicodeDecodeError:
            return "the output is not UTF-8"
        return decide(index, output)

    return decide_on_run


def _judge(
    job: Job, cases: Sequence[Case], decide: Callable[[int, Result], str], reward: Reward
) -> Verdict:
    total = len(cases)
    passed, tried, slow, first = 0, 0, 0, ""
    for result in _runs(job, cases, until_fault=reward == "all"):
        parts = _parts(passed, total, compiled=result.status is not RunStatus.COMPILE_ERROR)
        if result.status is RunStatus.SANDBOX_ERROR:
            return Verdict.verifier_error(f"the sandbox failed: {result.detail:.200}", **parts)
        if result.status is RunStatus.COMPILE_ERROR:
            return Verdict.wrong(f"the program does not compile: {_diagnosis(result)}", **parts)
        reason = decide(tried, result) if result.ok else ENDINGS[result.status]
        tried += 1
        passed += not reason
        first = first or reason
        if reason and reward == "all":
            return Verdict.wrong(f"{reason} (tests passed before it: {passed} of {total})", **parts)
        slow += result.status in _SLOW
        if slow == _PATIENCE:
            break
    if tried < total and slow < _PATIENCE:
        return Verdict.verifier_error(f"the sandbox gave {tried} results for {total} tests")
    parts = _parts(passed, total, compiled=True)
    detail = f"{first} (tests passed: {passed} of {total})" if first else ""
    return Verdict.graded(passed / total, detail, **parts)


def _runs(job: Job, cases: Sequence[Case], *, until_fault: bool) -> Iterator[Result]:
    """Run the cases as far as the results are asked for, in rounds that grow.

    A job that compiles is run in as few as may be, because each round may compile again.
    """
    sandbox = shared_sandbox()
    compiled = len(cases) if until_fault else _LAST_ROUND
    start, size = 0, compiled if job.compile else _FIRST_ROUND
    while start < len(cases):
        chosen = cases[start : start + size]
        results = sandbox.run_batch(job, chosen, stop_on_fault=until_fault)
        yield from results
        if len(results) < len(chosen):
            return
        start, size = start + size, min(size * _GROWTH, _LAST_ROUND)


def _parts(passed: int, total: int, *, compiled: bool) -> dict[str, float]:
    return {
        "tests_passed": float(passed),
        "tests_total": float(total),
        "fraction": passed / total,
        "compiled": float(compiled),
    }


def _diagnosis(result: Result) -> str:
    text = (result.stderr or result.stdout).decode("utf-8", "replace")[:_DIAGNOSIS]
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text).strip()
