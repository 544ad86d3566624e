"""The program that runs a repository's tests inside of the sandbox, for the agent to see.

It uses the standard library only. What it prints decides nothing: hidden checks judge elsewhere.
"""

import ast
import contextlib
import importlib
import pathlib
import sys
import traceback
from collections.abc import Callable
from typing import Any

MOST_SHOWN = 6  # failures that are told in full


def say(text: str) -> None:
    """Print a line at once: what is tested may end the process."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def actual(line: str, space: dict[str, Any]) -> str:
    """Return what the left side of a failed ``assert a == b`` is, or the empty string."""
    with contextlib.suppress(BaseException):  # the code under test may do anything
        test = ast.parse(line).body[0]
        if isinstance(test, ast.Assert) and isinstance(test.test, ast.Compare):
            left = ast.unparse(test.test.left)
            return f"\n    but {left} is {eval(left, space)!r}"  # noqa: S307 - in the sandbox
    return ""


def failure(error: BaseException, space: dict[str, Any]) -> str:
    """Return where and how a test failed."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    line = last.line or ""
    told = f": {error}" if str(error) else ""
    place = f"{pathlib.Path(last.filename).name}, line {last.lineno}"
    return f"    {line}\n    {type(error).__name__}{told} ({place}){actual(line, space)}"


def tests(wanted: str) -> list[tuple[str, Callable[[], Any] | None, dict[str, Any]]]:
    """Return the tests whose labels hold a text; one that cannot be loaded is told, and None."""
    found: list[tuple[str, Callable[[], Any] | None, dict[str, Any]]] = []
    for path in sorted(pathlib.Path("tests").glob("test_*.py")):
        try:
            space = vars(importlib.import_module(f"tests.{path.stem}"))
        except BaseException as error:  # noqa: BLE001 - it is told
            found.append((f"{path}: {type(error).__name__}: {error}", None, {}))
            continue
        for name, function in list(space.items()):
            label = f"{path}::{name}"
            if name.startswith("test_") and wanted in label and callable(function):
                found.append((label, function, space))
    return found


def main() -> None:
    """Run the tests whose names hold the argument, or all."""
    sys.path.insert(0, "")
    passed = failed = 0
    for label, function, space in tests(sys.argv[1] if len(sys.argv) > 1 else ""):
        if function is None:
            failed += 1
            say(f"FAILED {label}")
            continue
        try:
            function()
        except BaseException as error:  # noqa: BLE001 - it is told
            failed += 1
            say(f"FAILED {label}")
            if failed <= MOST_SHOWN:
                say(failure(error, space))
        else:
            passed += 1
            say(f"passed {label}")
    say(f"{passed} passed, {failed} failed")


if __name__ == "__main__":
    main()
