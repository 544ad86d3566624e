"""Write the first version of a task, its test and its change note: they run as they are.

In a checkout of this project the files go where they belong. Elsewhere, give --into a folder of
your own package; the entry point to add is printed. --kind says how answers are judged: by the
one right answer (answer), by rules that many answers obey (certificate), or over several turns
(interactive). With --from-program, the task is made of a statement, a generator and solutions that
you wrote (see docs/program_tasks.md).
"""

import argparse
import ast
import importlib.util
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template
from types import ModuleType
from typing import Any

from rlvr_envs.cli._text import say
from rlvr_envs.core import registry
from rlvr_envs.core.errors import ConfigError, did_you_mean, did_you_mean_path
from rlvr_envs.generators.program_tasks.check import ProgramReport, check_program
from rlvr_envs.generators.program_tasks.program_task import Program

HELP = "write a new task's files: rlvr new-task puzzles/TileSwap"
# Each kind, with the templates of its task and of its test.
_KINDS = {
    "answer": ("task", "test_task"),
    "certificate": ("certificate_task", "test_certificate_task"),
    "interactive": ("interactive_task", "test_interactive_task"),
}
_NAME = re.compile(r"[A-Z][A-Za-z0-9]*", re.ASCII)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("task", metavar="DOMAIN/Name", help="for example puzzles/TileSwap")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument(
        "--kind",
        choices=_KINDS,
        default="answer",
        help="one right answer, many that obey rules, or several turns (default: answer)",
    )
    kinds.add_argument(
        "--from-program",
        type=Path,
        metavar="FILE",
        help="a Python file with statement, generator and solutions, or a folder with program.py",
    )
    parser.add_argument("--into", type=Path, help="a folder of your own package, for its tasks")
    parser.add_argument("--root", type=Path, default=Path(), help="the checkout (default: here)")


def run(args: argparse.Namespace) -> int:
    """Write the files and say what comes next; existing files are never touched."""
    domain, name = _read(args.task)
    values = {
        "name": name,
        "domain": domain,
        "title": re.sub(r"(?<!^)(?=[A-Z])", " ", name).capitalize(),
        "answer_format": "boxed" if domain == "math" else "tag",
    }
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    plan = _plan(args, domain, snake)
    taken = [str(path) for path in plan if path.exists()]
    if taken:
        raise ConfigError(f"these files exist already: {', '.join(taken)}")
    if args.from_program:
        values |= _program_values(args.from_program, domain)
    for path, template in plan.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        text = files("rlvr_envs.cli").joinpath(f"templates/{template}.txt").read_text("utf-8")
        with path.open("x", encoding="utf-8") as file:
            file.write(Template(text).substitute(values))
        say(f"wrote {path}")
    if args.into:
        say("name the module in your pyproject.toml:\n\n[project.entry-points.'rlvr_envs.tasks']")
        say(f'{snake} = "YOUR_PACKAGE.{snake}"\n')
    golden = "" if args.into else "  and  pytest --update-golden tests/golden"
    say(f"next: fill it in, then  rlvr check {name}-v0{golden}")
    return 0


def _program_values(path: Path, domain: str) -> dict[str, str]:
    if domain != "code":
        raise ConfigError(f"--from-program makes tasks of the domain code, not {domain!r}")
    program = read_program(path)
    report = program.report
    say(
        f"{path} passes: {report.levels} levels of scale, solutions agree on {report.compared} "
        f"inputs, {report.distinct} different outputs of 100 (the commonest "
        f"{report.commonest:.0%}), {report.alike:.0%} of problems share a program"
    )
    return program.values


def _read(text: str) -> tuple[str, str]:
    domain, slash, name = text.partition("/")
    if not slash or not _NAME.fullmatch(name):
        raise ConfigError(f"a task is named DOMAIN/Name, such as puzzles/TileSwap, got {text!r}")
    if domain not in registry.DOMAINS:
        hint = did_you_mean(domain, registry.DOMAINS)
        raise ConfigError(f"no domain {domain!r}{hint} (known: {', '.join(registry.DOMAINS)})")
    if f"{registry.NAMESPACE}/{name}-v0" in registry.all_ids():
        raise ConfigError(f"{registry.NAMESPACE}/{name}-v0 exists already")
    return domain, name


def _plan(args: argparse.Namespace, domain: str, snake: str) -> dict[Path, str]:
    """Return path → template."""
    (task, test), change = _KINDS[args.kind], "change"
    if args.from_program:
        task, test, change = "program_task", "test_program_task", "program_change"
    if args.into:
        return {args.into / f"{snake}.py": task, args.into / f"test_{snake}.py": test}
    root: Path = args.root
    if not (root / "rlvr_envs" / "envs").is_dir():
        raise ConfigError(
            f"{root.resolve()} is no checkout of rlvr_envs: go to one, name it with --root, or "
            "give --into a folder of your own package"
        )
    return {
        root / f"rlvr_envs/envs/{domain}/{snake}.py": task,
        root / f"tests/unit/envs/{domain}/test_{snake}.py": test,
        root / f"changes/{snake}.env.md": change,
    }


# Read an author's program file and check it: what `rlvr new-task --from-program` does first.


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
            f"or a folder with a program.py in it{did_you_mean_path(source)}"
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
