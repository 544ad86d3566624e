"""Rows that ask for a Python function, posed as programs, so that any language can answer them.

The program reads the arguments as one line of JSON and writes the result as one. An example shows
these lines. It is one that the row publishes, unless the row tests the same call; then it is made
up, of the shape that arguments and results have.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias

from rlvr_envs.generators.published.code_assertions import NotData, read_tests
from rlvr_envs.generators.published.code_rows import CodeRow, NotARow, StoredTest
from rlvr_envs.verifiers.program_json import NotJson, to_line
from rlvr_envs.verifiers.program_values import read

_DOCTEST = re.compile(r"^[ \t]*>>> (.+)\n[ \t]*(\S.*)$", re.MULTILINE)
_SAFE = 2**53  # beyond it, not every integer is a double
_LONGEST = 200  # characters of a line of an example
_MOST_ITEMS = 3  # of a list in an example that is made up
_MADE_UP = range(2, 50)  # numbers to make an example of
_PYTHON = 'language="python" poses it'
_FORM = (
    "Write a program instead of a function. It reads one line from the standard input: a JSON "
    "array with the arguments of one call of `{name}`, in order. It writes one line to the "
    "standard output: the result of the call as JSON.{rules}{example}"
)
_ALONE = " This shows the form alone:"

_Calls: TypeAlias = dict[StoredTest, tuple[tuple[Any, ...], Any]]


def as_program(row: CodeRow) -> CodeRow:
    """Return a row that asks for a function as one that asks for a program in any language.

    Raises:
        NotARow: arguments or results are no JSON, or more than the result is looked at.
    """
    if row.epilogue:
        wrapper = row.function.rpartition("_")[2]
        raise NotARow(f"its tests look at {wrapper}(...) of a result; {_PYTHON}")
    try:
        calls: _Calls = {test: (read(test.given), read(test.expected)) for test in row.tests}
        given = {test: to_line(args) for test, (args, _) in calls.items()}
        for _, result in calls.values():
            to_line(result)
    except NotJson as error:
        raise NotARow(f"its arguments or results are no JSON ({error}); {_PYTHON}") from error
    name = row.function.rpartition(".")[2]
    published = _examples(row, name)
    tests = row.tests
    if row.example and published:  # which is a test as well: it need not be, where there are others
        tests = tuple(test for test in tests if given[test] != published[0][0]) or tests
    tested = {given[test] for test in tests}
    fit = [pair for pair in published if pair[0] not in tested]
    example = _shown(*fit[0]) if fit else _made_up(name, calls, tested)
    form = _FORM.format(name=name, rules=_rules(calls), example=example)
    return replace(row, statement=f"{row.specification}\n\n{form}", tests=tests)


def _examples(row: CodeRow, name: str) -> list[tuple[str, str]]:
    """Return the examples that a row publishes, each as the lines that are read and written."""
    doctests = [f"assert {call} == {told}" for call, told in _DOCTEST.findall(row.specification)]
    found = []
    for code in filter(None, (row.example, *doctests)):
        try:
            told = read_tests(code, (name,))
            pair = to_line(told[0].args), to_line(told[0].expected)
        except (NotData, NotJson):
            continue
        if len(told) == 1 and not told[0].wrapper and max(map(len, pair)) <= _LONGEST:
            found.append(pair)
    return found


def _rules(calls: _Calls) -> str:
    """Return what is to be known of JSON, as far as the values need it."""
    results = list(_values(result for _, result in calls.values()))
    values = [*results, *_values(arg for args, _ in calls.values() for arg in args)]
    rules = ""
    if any(type(value) is tuple for value in values):
        rules += " Tuples are arrays."
    if any(type(value) is float for value in results):
        rules += (
            " Write floats with 17 significant digits, or as many as tell them from all others."
        )
    if any(type(value) is int and abs(value) > _SAFE for value in values):
        rules += " Some integers are beyond 2**53, and exact."
    return rules


def _values(whole: Iterable[Any]) -> Iterator[Any]:
    """Yield values and what is within them."""
    waiting = list(whole)
    while waiting:
        value = waiting.pop()
        yield value
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list | tuple):
            waiting += value


def _shown(given: str, written: str) -> str:
    return f" For example, it reads `{given}` and writes `{written}`."


def _made_up(name: str, calls: _Calls, tested: set[str]) -> str:
    """Return an example of the form alone, which says nothing of what the function computes."""
    args = max((args for args, _ in calls.values()), key=lambda args: len(to_line(args)))
    result = _like(max((out for _, out in calls.values()), key=lambda out: len(to_line(out))), 2)
    told = f"the result `{result!r}` would be the line `{to_line(result)}`"
    for number in _MADE_UP:
        invented = tuple(_like(arg, number + place) for place, arg in enumerate(args))
        if (line := to_line(invented)) not in tested:
            call = f"{name}({', '.join(map(repr, invented))})"
            return f"{_ALONE} the call `{call}` would be the line `{line}`, and {told}."
    return f"{_ALONE} {told}."


def _like(value: Any, number: int) -> Any:
    """Return a small value of the same shape, made of a number."""
    if isinstance(value, str):
        return chr(ord("a") + number % 26)
    if isinstance(value, dict):
        return {_like("", number): _like(item, number) for item in [*value.values()][:1]}
    if isinstance(value, list | tuple):
        items = [_like(item, number + place) for place, item in enumerate(value[:_MOST_ITEMS])]
        return type(value)(items)
    return type(value)(number) if type(value) in (int, float) else value
