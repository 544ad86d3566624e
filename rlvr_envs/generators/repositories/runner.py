"""The program that runs a repository's tests inside of the sandbox, for the agent to see.

It uses the standard library only. What it prints decides nothing: hidden checks judge elsewhere.
"""

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


def failure(error: BaseException) -> str:
    """Return where and how a test failed."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    told = f": {error}" if str(error) else ""
    place = f"{pathlib.Path(last.filename).name}, line {last.lineno}"
    return f"    {last.line}\n    {type(error).__name__}{told} ({place})"


def tests(wanted: str) -> list[tuple[str, Callable[[], Any] | None]]:
    """Return the tests whose labels hold a text; one that cannot be loaded is told, and None."""
    found: list[tuple[str, Callable[[], Any] | None]] = []
    for path in sorted(pathlib.Path("tests").glob("test_*.py")):
        try:
            space = vars(importlib.import_module(f"tests.{path.stem}"))
        except BaseException as error:  # noqa: BLE001 - it is told
            found.append((f"{path}: {type(error).__name__}: {error}", None))
            continue
        for name, function in list(space.items()):
            label = f"{path}::{name}"
            if name.startswith("test_") and wanted in label and callable(function):
                found.append((label, function))
    return found


def main() -> None:
    """Run the tests whose names hold the argument, or all."""
    sys.path.insert(0, "")
    passed = failed = 0
    for label, function in tests(sys.argv[1] if len(sys.argv) > 1 else ""):
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
                say(failure(error))
        else:
            passed += 1
            say(f"passed {label}")
    say(f"{passed} passed, {failed} failed")


if __name__ == "__main__":
    main()
