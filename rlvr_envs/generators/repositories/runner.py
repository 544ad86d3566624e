"""The program that runs a repository's tests inside of the sandbox, for the agent to see.

It uses the standard library only. What it prints decides nothing: hidden checks judge elsewhere.
"""

import ast
import importlib
import pathlib
import sys
import traceback

MOST_SHOWN = 6  # failures that are told in full


def actual(error: BaseException, space: dict[str, object]) -> str:
    """Return what the left side of a failed ``assert a == b`` is, or the empty string."""
    line = traceback.extract_tb(error.__traceback__)[-1].line or ""
    try:
        test = ast.parse(line).body[0]
        if isinstance(test, ast.Assert) and isinstance(test.test, ast.Compare):
            left = ast.unparse(test.test.left)
            return f"\n    but {left} is {eval(left, space)!r}"
    except BaseException:
        pass
    return ""


def main() -> None:
    """Run the tests whose names hold the argument, or all."""
    sys.path.insert(0, "")
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    passed = failed = 0
    for path in sorted(pathlib.Path("tests").glob("test_*.py")):
        try:
            module = importlib.import_module(f"tests.{path.stem}")
        except BaseException as error:
            failed += 1
            print(f"FAILED {path}: {type(error).__name__}: {error}")
            continue
        for name, function in list(vars(module).items()):
            label = f"{path}::{name}"
            if not name.startswith("test_") or wanted not in label or not callable(function):
                continue
            try:
                function()
                passed += 1
                print(f"passed {label}")
            except BaseException as error:
                failed += 1
                print(f"FAILED {label}")
                if failed <= MOST_SHOWN:
                    last = traceback.extract_tb(error.__traceback__)[-1]
                    told = str(error) and f": {error}"
                    place = f"{pathlib.Path(last.filename).name}, line {last.lineno}"
                    kind = type(error).__name__
                    print(
                        f"    {last.line}\n    {kind}{told} ({place}){actual(error, vars(module))}"
                    )
    print(f"{passed} passed, {failed} failed")


if __name__ == "__main__":
    main()
