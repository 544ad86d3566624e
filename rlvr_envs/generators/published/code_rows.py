"""Rows of published code datasets, recognised by their keys and read into one form.

HumanEval and HumanEval+ (``prompt``, ``test``, ``entry_point``), MBPP and MBPP+ (``code`` and
``test_list``), APPS (``input_output``), CodeContests (``public_tests`` and so on), Codeforces as
open-r1 has it (``official_tests``), LiveCodeBench (``private_test_cases``) and rows with
``test_cases`` of inputs and outputs, as Agnostics has them. A column ``checker`` or
``generated_checker`` beside inputs and outputs holds a script that judges the output.
Reading runs nothing; what only running could tell is left to `CodeRow.unread`.
"""

import ast
import base64
import binascii
import json
import math
import pickletools
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.generators.published.code_assertions import Assertion, NotData, parse, read_tests
from rlvr_envs.verifiers.program_checker import MAX_CHECKER
from rlvr_envs.verifiers.program_values import to_text

_MAX_UNPACKED = 1 << 28  # bytes of packed tests
_TEXT_COLUMNS = ("question_content", "description", "question", "problem", "prompt", "text")
_CHECKER_COLUMNS = ("checker", "generated_checker")
_TEST_COLUMNS = ("test_cases", "tests", "private_test_cases", "public_test_cases")
_MAX_CPU_S = 600  # that a row may allow a test
_MAX_MEMORY_MIB = 1 << 14
_STRING_OPCODES = ("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8")
_PYTHON3 = 3  # CodeContests' number of the language


class NotARow(ValueError):
    """A row cannot be posed or judged; the message says why."""


@dataclass(frozen=True, slots=True)
class StoredTest:
    """A test as a row stores it."""

    given: str  # the standard input, or the arguments as typed JSON
    expected: str  # the standard output, or the result as typed JSON
    rel_tol: float = 0.0  # relative tolerance of floats in a result
    abs_tol: float = 0.0  # absolute tolerance of floats in a result
    truth: bool = False  # whether only the truth of the result counts
    strict: bool = False  # whether types count (``1``, ``1.0`` and ``True`` differ)
    alike: bool = False  # whether a list may stand for a tuple


@dataclass(frozen=True, slots=True)
class Unread:
    """Tests that only running the file's own solution can turn into data."""

    reason: str  # why they are no data
    code: str = ""  # test code with a function ``check(candidate)``, or an empty text
    inputs: tuple[str, ...] = ()  # arguments without results, as typed JSON
    abs_tol: float = 0.0  # of floats in the results


@dataclass(frozen=True, slots=True)
class CodeRow:
    """A row in one form."""

    layout: str  # its name
    statement: str  # what is asked
    tests: tuple[StoredTest, ...]  # of the function or the program
    function: str = ""  # the name to define, or an empty text for a program
    prelude: str = ""  # code that stands before the answer
    epilogue: str = ""  # code that stands after it
    solution: str = ""  # a right answer in Python, or an empty text
    unread: Unread | None = None  # what is missing of the tests
    specification: str = ""  # of a function, what it computes, without how to answer
    example: str = ""  # an assertion that the row shows, and tests as well, or an empty text
    checker: str = ""  # a script that judges outputs (`script_checker`), or an empty text
    cpu_s: float | None = None  # the row's own limit for each test, or None
    memory_mib: int | None = None  # likewise


def read_row(data: Mapping[str, Any]) -> CodeRow:
    """Return a row in one form.

    Raises:
        NotARow: no layout has its keys, or it holds no test that could be used.
    """
    present = {key for key, value in data.items() if value is not None}
    for keys, reader in _READERS:
        if keys <= present:
            return _with_checker(reader(data), data)
    names = ", ".join(sorted(map(str, data))) or "none"
    raise NotARow(f"no layout has these columns: {names:.200}")


def _with_checker(row: CodeRow, data: Mapping[str, Any]) -> CodeRow:
    column = next((name for name in _CHECKER_COLUMNS if data.get(name)), None)
    if column is None:
        return row
    checker = _text(data, column)
    if row.function:
        raise NotARow(f"{column!r} judges outputs, and the row asks for a function")
    if len(checker) > MAX_CHECKER:
        raise NotARow(f"{column!r} has {len(checker)} characters, and at most {MAX_CHECKER} fit")
    try:
        parse(checker)
    except NotData as error:
        raise NotARow(f"{column!r} cannot be run: {error}") from error
    return replace(row, checker=checker)


def _humaneval(data: Mapping[str, Any]) -> CodeRow:
    prompt, entry = _text(data, "prompt"), _text(data, "entry_point")
    statement = (
        "Complete this Python function. Answer with all of it, and the imports that it needs.\n\n"
        f"```python\n{prompt.strip()}\n```"
    )
    specification = (
        f"Compute what this Python function returns.\n\n```python\n{prompt.strip()}\n```"
    )
    prelude = prompt[: _definition_start(prompt, entry)]
    body = data.get("canonical_solution")
    solution = prompt + body if isinstance(body, str) else ""
    tests, wrapper, unread = _from_code(_text(data, "test"), ("candidate", entry))
    name, epilogue = _wrapped(entry, wrapper)
    if unread is not None and "base_input" in data:
        given = [*data["base_input"], *(data.get("plus_input") or [])]
        inputs = tuple(to_text(tuple(args)) for args in given)
        unread = Unread("it states inputs without results", "", inputs, data.get("atol") or 0.0)
    row = CodeRow("humaneval", statement, tests, name, prelude, epilogue, solution, unread)
    return replace(row, specification=specification)


def _mbpp(data: Mapping[str, Any]) -> CodeRow:
    asked = data.get("text") if isinstance(data.get("text"), str) else _text(data, "prompt")
    listed = _strings(data, "test_list")
    further = data.get("challenge_test_list")
    code = _text(data, "code")
    names = _defined(code)
    setup = str(data.get("test_setup_code") or "") + "\n".join(data.get("test_imports") or [])
    whole = data.get("test")  # of MBPP+
    joined = whole if isinstance(whole, str) else "\n".join([*listed, *(further or [])])
    tests, wrapper, unread = _from_code(joined, names)
    called = next(iter(_called(listed[0], names)), "")
    if not called:
        raise NotARow("its first test calls no function that its code defines")
    statement = (
        f"{str(asked).strip()}\n\nAnswer with Python code that defines the function "
        f"`{called}`. For example:\n\n```python\n{listed[0].strip()}\n```"
    )
    specification = f"{str(asked).strip()}\n\n{_signature(code, called)}"
    if unread is not None:
        body = "\n".join(f"    {line}" for line in joined.splitlines())
        rebound = f"def check(candidate):\n    {called} = candidate\n{body}\n"
        unread = Unread(unread.reason, rebound if not isinstance(whole, str) else "")
    name, epilogue = _wrapped(called, wrapper)
    row = CodeRow("mbpp", statement, tests, name, setup, epilogue, code, unread)
    return replace(row, specification=specification, example=listed[0])


def _apps(data: Mapping[str, Any]) -> CodeRow:
    cases = _json(data, "input_output")
    if not isinstance(cases, dict) or not {"inputs", "outputs"} <= cases.keys():
        raise NotARow("'input_output' has no inputs and outputs")
    inputs, outputs = cases["inputs"], cases["outputs"]
    if len(inputs) != len(outputs):
        raise NotARow("'input_output' has more inputs than outputs")
    solutions = _json(data, "solutions") if data.get("solutions") else []
    solution = next((text for text in solutions if isinstance(text, str)), "")
    asked, starter = _text(data, "question"), str(data.get("starter_code") or "")
    function = cases.get("fn_name")
    if not function:
        tests = _stdio(zip(map(_lines, inputs), map(_lines, outputs), strict=True))
        return CodeRow("apps", asked, tests, solution=solution)
    if all(isinstance(output, list) and len(output) == 1 for output in outputs):
        outputs = [output[0] for output in outputs]  # as Codewars' problems have them
    pairs = [(tuple(args), output) for args, output in zip(inputs, outputs, strict=True)]
    return _functional("apps", asked, starter, str(function), pairs, solution)


def _livecodebench(data: Mapping[str, Any]) -> CodeRow:
    cases = [*_cases(data, "public_test_cases"), *_cases(data, "private_test_cases")]
    asked, starter = _text(data, "question_content"), str(data.get("starter_code") or "")
    kinds = {str(case.get("testtype", "stdin")) for case in cases}
    if kinds == {"stdin"}:
        return CodeRow("livecodebench", asked, _stdio(_pairs(cases)))
    metadata = _json(data, "metadata") if data.get("metadata") else {}
    name = metadata.get("func_name") if isinstance(metadata, dict) else None
    if kinds != {"functional"} or not isinstance(name, str):
        raise NotARow(f"tests of the kinds {', '.join(sorted(kinds))} and the function {name!r}")
    pairs = [
        (tuple(map(_value, str(case["input"]).split("\n"))), _value(str(case["output"])))
        for case in cases
    ]
    return _functional("livecodebench", asked, starter, name, pairs, "")


def _codecontests(data: Mapping[str, Any]) -> CodeRow:
    pairs = []
    for column in ("public_tests", "private_tests", "generated_tests"):
        held = data.get(column) or {}
        pairs += list(zip(held.get("input") or [], held.get("output") or [], strict=True))
    held = data.get("solutions") or {}
    listed = zip(held.get("language") or [], held.get("solution") or [], strict=True)
    solution = next((text for number, text in listed if number == _PYTHON3), "")
    return CodeRow("codecontests", _text(data, "description"), _stdio(pairs), solution=solution)


def _codeforces(data: Mapping[str, Any]) -> CodeRow:
    mode, interaction = data.get("input_mode"), data.get("interaction_format")
    if mode not in (None, "stdio"):
        raise NotARow(f"its program reads and writes by {mode!r:.40} and not by 'stdio'")
    if interaction:
        raise NotARow("its program talks to another ('interaction_format')")
    parts = [_text(data, "description").strip()]
    for heading, column in (("Input", "input_format"), ("Output", "output_format")):
        if data.get(column):
            parts.append(f"{heading}\n\n{_text(data, column).strip()}")
    for given, output in _pairs(_cases(data, "examples")):
        told = f"Input:\n{str(given).strip()}\n\nOutput:\n{str(output).strip()}"
        parts.append(f"Example\n\n{told}")
    if data.get("note"):
        parts.append(f"Note\n\n{_text(data, 'note').strip()}")
    memory_mib = _limit(data, "memory_limit", _MAX_MEMORY_MIB)
    return CodeRow(
        "codeforces",
        "\n\n".join(parts),
        _stdio(_pairs(_cases(data, "official_tests"))),
        cpu_s=_limit(data, "time_limit", _MAX_CPU_S),
        memory_mib=None if memory_mib is None else math.ceil(memory_mib),
    )


def _test_cases(data: Mapping[str, Any]) -> CodeRow:
    column = next((name for name in _TEST_COLUMNS if data.get(name)), None)
    asked = next((name for name in _TEXT_COLUMNS if isinstance(data.get(name), str)), None)
    if column is None or asked is None:
        raise NotARow("it has no text that asks or no tests")
    return CodeRow("test_cases", _text(data, asked), _stdio(_pairs(_cases(data, column))))


_READERS: tuple[tuple[set[str], Callable[[Mapping[str, Any]], CodeRow]], ...] = (
    ({"prompt", "test", "entry_point"}, _humaneval),
    ({"code", "test_list"}, _mbpp),
    ({"question", "input_output"}, _apps),
    ({"description", "public_tests"}, _codecontests),
    ({"description", "official_tests"}, _codeforces),
    ({"question_content", "private_test_cases"}, _livecodebench),
    ({"test_cases"}, _test_cases),
    ({"tests"}, _test_cases),
)


def _from_code(
    code: str, names: Sequence[str]
) -> tuple[tuple[StoredTest, ...], str, Unread | None]:
    """Return the tests in test code, what wraps the result, and what could not be read."""
    try:
        found = read_tests(code, names)
        wrappers = {told.wrapper for told in found}
        if len(wrappers) > 1:
            raise NotData("its results are wrapped in different ways")  # noqa: TRY301
        return tuple(map(_stored, found)), wrappers.pop(), None
    except (NotData, ConfigError) as error:
        return (), "", Unread(str(error), code)


def _stored(told: Assertion) -> StoredTest:
    return StoredTest(
        to_text(told.args),
        to_text(told.expected),
        float(told.rel_tol),
        float(told.abs_tol),
        told.truth,
        told.strict,
    )


def _wrapped(name: str, wrapper: str) -> tuple[str, str]:
    """Return the function to call and the code that defines it, where results are wrapped."""
    if not wrapper:
        return name, ""
    called = f"{name}_as_{wrapper}"
    return called, f"\n\ndef {called}(*args):\n    return {wrapper}({name}(*args))\n"


def _functional(
    layout: str,
    asked: str,
    starter: str,
    name: str,
    pairs: Iterable[tuple[tuple[Any, ...], Any]],
    solution: str,
) -> CodeRow:
    function = f"Solution.{name}" if "class Solution" in (starter or solution) else name
    given = f"\n\nIt begins:\n\n```python\n{starter.strip()}\n```" if starter.strip() else ""
    statement = f"{asked.strip()}\n\nAnswer with Python code that defines `{function}`.{given}"
    begun = _begun(starter) if starter.strip() else _signature(solution, name)
    tests = tuple(StoredTest(to_text(args), to_text(out), alike=True) for args, out in pairs)
    prelude = "from typing import *\n"  # which the starting code takes for granted
    return CodeRow(
        layout,
        statement,
        _some(tests),
        function,
        prelude,
        solution=solution,
        specification=f"{asked.strip()}\n\n{begun}",
    )


def _begun(code: str) -> str:
    return f"As a Python function, it begins:\n\n```python\n{code.strip()}\n```"


def _signature(code: str, name: str) -> str:
    """Return the first line of a function in code that would tell its answer; or its name."""
    try:
        nodes = [node for node in ast.walk(parse(code)) if isinstance(node, ast.FunctionDef)]
    except NotData:
        nodes = []
    node = next((node for node in nodes if node.name == name), None)
    if node is None:
        return f"As a Python function, it is called `{name}`."
    returned = "" if node.returns is None else f" -> {ast.unparse(node.returns)}"
    return _begun(f"def {name}({ast.unparse(node.args)}){returned}:")


def _stdio(pairs: Iterable[tuple[Any, Any]]) -> tuple[StoredTest, ...]:
    tests = tuple(StoredTest(str(given), str(expected)) for given, expected in pairs)
    return _some(tuple(test for test in tests if test.expected.strip()))


def _some(tests: tuple[StoredTest, ...]) -> tuple[StoredTest, ...]:
    if not tests:
        raise NotARow("it has no test that expects anything")
    return tuple(dict.fromkeys(tests))


def _pairs(cases: Iterable[Mapping[str, Any]]) -> list[tuple[Any, Any]]:
    return [(case["input"], case["output"]) for case in cases]


def _lines(value: Any) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotARow(f"a value is not JSON: {text!r:.60}") from error


def _text(data: Mapping[str, Any], column: str) -> str:
    value = data.get(column)
    if not isinstance(value, str) or not value.strip():
        raise NotARow(f"{column!r} is no text: {value!r:.60}")
    return value


def _limit(data: Mapping[str, Any], column: str, most: float) -> float | None:
    """Return a limit of the row's own, or None where it has none."""
    value = data.get(column)
    if value is None:
        return None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 < value <= most:
        raise NotARow(f"{column!r} is no number above 0 and up to {most}: {value!r:.60}")
    return float(value)


def _strings(data: Mapping[str, Any], column: str) -> list[str]:
    value = data.get(column)
    if not isinstance(value, list) or not value or not all(isinstance(x, str) for x in value):
        raise NotARow(f"{column!r} is no list of texts: {value!r:.60}")
    return value


def _json(data: Mapping[str, Any], column: str) -> Any:
    value = data.get(column)
    return _value(value) if isinstance(value, str) else value


def _cases(data: Mapping[str, Any], column: str) -> list[Mapping[str, Any]]:
    """Return the test cases of a column: a list, or JSON text, or packed JSON text."""
    value = data.get(column)
    if isinstance(value, str):
        value = _value(value if value.lstrip()[:1] in ("[", "{", "") and value else _unpack(value))
    if isinstance(value, Mapping) and {"inputs", "outputs"} <= value.keys():
        pairs = zip(value["inputs"], value["outputs"], strict=True)
        value = [{"input": given, "output": expected} for given, expected in pairs]
    found = value or []
    fits = isinstance(found, list) and all(
        isinstance(case, Mapping) and {"input", "output"} <= case.keys() for case in found
    )
    if not fits:
        raise NotARow(f"{column!r} is no list of inputs and outputs")
    return list(found)


def _unpack(text: str) -> str:
    """Return the text in LiveCodeBench's packing: a pickled string, zipped, in base 64.

    The pickle is read off its opcodes and never loaded, because loading one may run anything.
    """
    try:
        opened = zlib.decompressobj()
        content = opened.decompress(base64.b64decode(text, validate=True), _MAX_UNPACKED)
        if opened.unconsumed_tail:
            raise NotARow("its packed tests are too long")
        found = [
            arg for code, arg, _ in pickletools.genops(content) if code.name in _STRING_OPCODES
        ]
    except (binascii.Error, zlib.error, ValueError, IndexError) as error:
        raise NotARow(f"its tests are neither JSON nor packed JSON: {error}") from error
    if len(found) != 1 or not isinstance(found[0], str):
        raise NotARow("its packed tests are no single text")
    return found[0]


def _definition_start(prompt: str, entry: str) -> int:
    """Return where the last definition of the function begins in a prompt."""
    start = prompt.rfind(f"def {entry}(")
    return max(start, 0)


def _defined(code: str) -> tuple[str, ...]:
    try:
        body = parse(code).body
    except NotData as error:
        raise NotARow(f"its code cannot be read: {error}") from error
    return tuple(node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef))


def _called(code: str, names: Sequence[str]) -> list[str]:
    try:
        nodes = list(ast.walk(parse(code)))
    except NotData:
        return []
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    return [func.id for func in calls if isinstance(func, ast.Name) and func.id in names]
