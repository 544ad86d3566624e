"""Checkers of data sets: Python scripts that say whether an output is right.

A checker is called as ``python checker.py input.txt correct_output.txt solution_output.txt`` and
prints 1 for a right output, 0 for a wrong one, or a fraction between, which is wrong as well. It is
foreign code, so each call is a job of its own in the sandbox. What the judged program did is over
by then; all that a checker gets of it is the text of its output.
"""

import re
from collections.abc import Mapping
from decimal import Decimal

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.sandboxes.base import Job, Limits, Result, RunStatus
from rlvr_envs.sandboxes.shared import shared_sandbox
from rlvr_envs.verifiers.program_calls import ENDINGS
from rlvr_envs.verifiers.program_output import Checker

MAX_CHECKER = 1 << 16  # characters
_SCRIPT = "checker.py"
_FILES = ("input.txt", "correct_output.txt", "solution_output.txt")
_LIMITS = Limits(cpu_s=10.0, memory_mib=512, file_mib=64, disk_mib=256)
_SCORE = re.compile(r"[+-]?([0-9]{1,40}\.?[0-9]{0,40}|\.[0-9]{1,40})([eE][+-]?[0-9]{1,3})?")
_COMPLAINT = "the checker says that the output is wrong"
_UNREADABLE = "the checker cannot read the output"


class CheckerFault(Exception):
    """A checker did not say whether an output is right; the message says what it did instead."""


class _SandboxFault(CheckerFault):
    """It was not the checker's doing."""


def script_checker(source: str, expected: Mapping[str, str]) -> Checker:
    """Return a checker for `judge_stdio` that asks a script.

    A script that fails on an output, but not on the right one, has met an output that it cannot
    read, which is wrong: else a program could choose not to be scored. It raises `CheckerFault`
    where the script fails on the right output too, or the sandbox fails.

    Args:
        source: the script.
        expected: a right output for each input.

    Raises:
        ConfigError: the script is too long.
    """
    if len(source) > MAX_CHECKER:
        raise ConfigError(f"a checker has at most {MAX_CHECKER} characters, got {len(source)}")
    script = source.encode("utf-8", "replace")

    def ask(stdin: str, output: str) -> Decimal:
        texts = (stdin, expected[stdin], output)
        files = {name: text.encode() for name, text in zip(_FILES, texts, strict=True)}
        job = Job(script=_SCRIPT, files={_SCRIPT: script, **files}, args=_FILES, limits=_LIMITS)
        return _score(shared_sandbox().run(job))

    def check(stdin: str, output: str) -> str:
        try:
            return "" if ask(stdin, output) == 1 else _COMPLAINT
        except _SandboxFault:
            raise
        except CheckerFault:
            if ask(stdin, expected[stdin]) != 1:
                raise
            return _UNREADABLE

    return check


def _score(result: Result) -> Decimal:
    """Return what a checker printed; raise `CheckerFault` unless it is a number from 0 to 1."""
    if result.status is RunStatus.SANDBOX_ERROR:
        raise _SandboxFault(f"the sandbox failed on the row's checker: {result.detail:.200}")
    if not result.ok:
        told = ENDINGS[result.status].replace("the program", "it")
        raise CheckerFault(f"the row's checker failed: {told}")
    printed = result.stdout.decode("utf-8", "replace").strip()
    if result.stdout_truncated or not _SCORE.fullmatch(printed) or not 0 <= Decimal(printed) <= 1:
        raise CheckerFault("the row's checker failed: it printed no number from 0 to 1")
    return Decimal(printed)
