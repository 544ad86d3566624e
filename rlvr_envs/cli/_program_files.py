"""Read an author's program file and check it: what `rlvr new-task --from-program` does first."""

import ast
import importlib.util
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.generators.program_tasks.check import ProgramReport, check_program
from rlvr_envs.generators.program_tasks.program_task import Program

# What a task file imports beside what the author's code does.
_OURS = (
    ("rlvr_envs.core.registry", "register"),
    ("rlvr_envs.generators.program_tasks.program_task", "Program"),
    ("rlvr_envs.generators.program_tasks.program_task", "ProgramTask"),
)
_NEEDED = {
    "STATEMENT": "a text with {name} where a constant goes",
    "SCALE": "a dict: parameter of size -> (value at level 0, value at about level 30)",
    "READS": "a dict: input -> 'int', 'str', 'list' or 'rows'",
    "constants": "a function (rng, scale) that draws the constants by name",
    "inputs": "a function (rng, scale, constants) that draws the inputs by name",
}
_WIDTH = 100  # of a line
_SOLUTION = re.compile(r"solve\w*")


@dataclass(frozen=True, slots=True)
class ProgramFile:
    """An author's file, checked.

    Attributes:
        values: what fills the template of a task file.
        report: what was measured.
    """

    values: dict[str, str]
    report: ProgramReport


def read_program(path: Path) -> ProgramFile:
    """Return the parts of a program file, or of a folder with ``program.py`` in it.

    A folder may hold the statement apart, as ``statement.txt``.

    Raises:
        ConfigError: a part is missing, or they make no good task.
    """
    source, statement = _sources(path)
    text = source.read_text("utf-8")
    if statement:
        text = _with_statement(text, statement)
    module = _load(source)
    if statement:
        module.STATEMENT = statement  # type: ignore[attr-defined]  # set as the file would
    found: dict[str, Any] = {name: getattr(module, name, None) for name in _NEEDED}
    missing = [f"{name}: {_NEEDED[name]}" for name, value in found.items() if value is None]
    if missing:
        raise ConfigError(f"{source} lacks " + "; ".join(missing))
    solutions = _solutions(module)
    program = Program(
        found["STATEMENT"],
        found["SCALE"],
        found["constants"],
        found["READS"],
        found["inputs"],
        tuple(solutions.values()),
    )
    report = check_program(program)
    parsed = ast.parse(text)
    doc = (ast.get_docstring(parsed) or "").strip().partition("\n")[0]
    names = ", ".join(solutions)
    values = {
        "summary": doc or "Say in one line what the program does.",
        "imports": _imports(parsed, text),
        "body": _body(parsed, text),
        "scale": ", ".join(program.scale),
        "solutions": f"({names})",
    }
    return ProgramFile(values, report)


def _sources(path: Path) -> tuple[Path, str]:
    if path.is_dir():
        statement = path / "statement.txt"
        source = path / "program.py"
        text = statement.read_text("utf-8") if statement.is_file() else ""
    else:
        source, text = path, ""
    if not source.is_file():
        raise ConfigError(
            f"there is no file {str(source)!r}: --from-program names a Python file, "
            "or a folder with a program.py in it"
        )
    return source, text


def _with_statement(text: str, statement: str) -> str:
    body = statement.strip().replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    tree = ast.parse(text)
    last = max((node.end_lineno or 0 for node in tree.body if _is_head(node)), default=0)
    lines = text.split("\n")
    lines[last:last] = ["", f'STATEMENT = """\n{body}\n"""']
    return "\n".join(lines)


def _load(source: Path) -> ModuleType:
    """Import the author's own file."""
    spec = importlib.util.spec_from_file_location(f"program_{source.stem}", source)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{source} is no Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # the author's code may raise anything
        raise ConfigError(f"{source} cannot be imported: {error!r}") from error
    return module


def _solutions(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """Return the functions whose names begin with ``solve``, in the order of the file."""
    found = {
        name: value
        for name, value in vars(module).items()
        if _SOLUTION.fullmatch(name) and callable(value)
    }
    if "solve" not in found:
        raise ConfigError(
            "the file defines no function `solve`, the fast solution; others are called solve_..."
        )
    return {"solve": found.pop("solve"), **found}


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, (ast.Import, ast.ImportFrom))


def _is_head(node: ast.stmt) -> bool:
    return _is_import(node) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _imports(tree: ast.Module, text: str) -> str:
    """Return the author's imports and ours, the standard library's first."""
    plain: list[str] = []
    names: dict[str, set[str]] = {}
    for module, name in _OURS:
        names.setdefault(module, set()).add(name)
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            listed = {f"{a.name} as {a.asname}" if a.asname else a.name for a in node.names}
            names.setdefault(node.module or "", set()).update(listed)
        elif _is_import(node):
            plain.append(ast.get_source_segment(text, node) or "")
    froms = [_from(module, sorted(names[module])) for module in sorted(names)]
    ours = [line for line in froms if line.startswith("from rlvr_envs")]
    others = [*sorted(plain), *(line for line in froms if line not in ours)]
    return "\n".join([*others, *([""] if others else []), *ours])


def _from(module: str, names: list[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= _WIDTH:
        return line
    return "\n".join([f"from {module} import (", *(f"    {name}," for name in names), ")"])


def _body(tree: ast.Module, text: str) -> str:
    """Return the file without its docstring and imports, comments included."""
    lines = text.split("\n")
    for node in tree.body:
        first = node is tree.body[0]
        if _is_import(node) or (first and _is_head(node)):
            for number in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[number] = "\0"
    return "\n".join(line for line in lines if line != "\0").strip("\n") + "\n"
