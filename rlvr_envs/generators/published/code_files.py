"""Files of programming problems: which rows can be posed, and why the others cannot."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from rlvr_envs.core.errors import ConfigError, RlvrEnvsError, SandboxError
from rlvr_envs.core.tables import Entry, Refused, RowFile, entries, json_entries, read_rows
from rlvr_envs.generators.published.code_programs import as_program
from rlvr_envs.generators.published.code_rows import CodeRow, NotARow, StoredTest, Unread, read_row
from rlvr_envs.sandboxes.base import Limits, RunStatus
from rlvr_envs.verifiers.program import Outcome, OutcomeKind, call_function
from rlvr_envs.verifiers.program_values import read, to_text

_MOST_TESTS = 256  # of one row; the shortest are kept
_FLOAT_TOLERANCE = 1e-6  # where an expected float is what a solution returned
_RUN_LIMITS = Limits(cpu_s=10.0, stdout_kib=16_384, output_kib=16_384)
_RECORD = "recorded_calls"
_RECORDER = """


def {record}():
    import copy, random
    random.seed(0)
    calls = []
    def recorded(*args):
        given = copy.deepcopy(args)
        result = {function}(*args)
        calls.append((given, copy.deepcopy(result)))
        return result
    check(recorded)
    return calls
"""


def load(
    path: Path, *, run_solutions: bool, programs: bool, packages: tuple[str, ...] = ()
) -> RowFile[CodeRow]:
    """Return what a file holds.

    Args:
        path: JSONL, JSON (a list of objects) or Parquet.
        run_solutions: whether the file's own solutions may run in the sandbox, where tests are
            no data.
        programs: whether rows that ask for a Python function ask for a program instead, in any
            language (`as_program`).
        packages: what the solutions may import besides the standard library.

    Raises:
        ConfigError: a line cannot be read, or there are no rows.
        ToolchainMissing: a solution is to run, and the sandbox's Python lacks a package.
    """

    def pose(entry: Entry) -> CodeRow | Refused:
        try:
            row = read_row(entry.data)
            if row.unread is not None:
                row = _with_results(row, row.unread, run_solutions, packages)
            return _usable(row, programs=programs)
        except (NotARow, ConfigError, KeyError, TypeError, ValueError) as error:
            told = str(error) if isinstance(error, RlvrEnvsError | NotARow) else repr(error)
            return Refused(entry.place, told)
        except SandboxError as error:
            reason = f"its solution could not be run to its end, now at least: {error}"
            return Refused(entry.place, reason, passing=True)

    records = json_entries(path) if path.suffix == ".json" else entries(path)
    return read_rows(path, records, pose)


def _with_results(
    row: CodeRow, unread: Unread, run_solutions: bool, packages: tuple[str, ...]
) -> CodeRow:
    if not run_solutions or not row.solution:
        wanted = "run_solutions=True has" if row.solution else "no solution could have"
        raise NotARow(f"its tests are no data ({unread.reason}); {wanted} them worked out")
    return replace(row, tests=_worked_out(row, unread, packages), unread=None)


def _usable(row: CodeRow, *, programs: bool) -> CodeRow:
    tested = (text for test in row.tests for text in (test.given, test.expected))
    for text in (row.statement, row.prelude, row.solution, row.checker, *tested):
        text.encode()  # half a surrogate pair is no character: the error refuses the row
    kept = set(sorted(row.tests, key=lambda test: len(test.given))[:_MOST_TESTS])
    row = replace(row, tests=tuple(test for test in row.tests if test in kept))
    return as_program(row) if row.function and programs else row


def _worked_out(row: CodeRow, unread: Unread, packages: tuple[str, ...]) -> tuple[StoredTest, ...]:
    """Return the tests that running the file's own solution gives."""

    def call(source: str, function: str, args: list[tuple[Any, ...]]) -> list[Outcome]:
        return call_function(
            source, function, args, limits=_RUN_LIMITS, loose=True, packages=packages
        )

    if unread.code:
        recorder = _RECORDER.format(record=_RECORD, function=row.function)
        source = f"{row.solution}\n\n{unread.code}\n{recorder}"
        outcome = call(source, _RECORD, [()])[0]
        pairs = [(to_text(given), result) for given, result in _value(outcome)]
    elif unread.inputs:
        args = [read(text) for text in unread.inputs]
        source = f"{row.prelude}\n{row.solution}"
        outcomes = call(source, row.function, args)
        pairs = list(zip(unread.inputs, map(_value, outcomes), strict=True))
    else:
        raise NotARow(f"its tests are no data: {unread.reason}")
    if not pairs:
        raise NotARow("its tests call the function never")
    near = unread.abs_tol or _FLOAT_TOLERANCE
    tests = (StoredTest(given, to_text(out), rel_tol=near, abs_tol=near) for given, out in pairs)
    return tuple(dict.fromkeys(tests))


def _value(outcome: Outcome) -> Any:
    late = outcome.result.status is RunStatus.CPU_TIMEOUT
    if late or outcome.kind is OutcomeKind.SANDBOX_ERROR:
        raise SandboxError(outcome.result.detail)
    if outcome.kind is not OutcomeKind.VALUE:
        raise NotARow(f"running its own solution gives no results: {outcome.detail}")
    return outcome.value
