"""What must hold of the repository's files."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = sorted((ROOT / "rlvr_envs").rglob("*.py"))


def relative(path):
    return str(path.relative_to(ROOT))


def syntax_trees():
    """Yield each module of the package with its syntax tree."""
    for path in PACKAGE:
        yield path, ast.parse(path.read_text("utf-8"))


def test_every_module_says_what_it_is():
    assert not [relative(path) for path, tree in syntax_trees() if not ast.get_docstring(tree)]


def test_no_vague_or_shadowing_names():
    vague = {"utils", "util", "common", "helpers", "misc", "types", "random", "string"}
    assert not [relative(path) for path in PACKAGE if path.stem in vague]


def test_answers_are_never_evaluated():
    never = {"eval", "exec", "parse_expr", "sympify", "literal_eval"}
    never_called = {"parse_expr", "sympify", "literal_eval", "alarm", "setitimer"}
    # Only a worker's own process may have a timer: its signal has no handler and ends the process.
    timers = {"_worker.py": {"setitimer"}}
    found = []
    for path, tree in syntax_trees():
        if path.parent.name == "slot":  # which runs inside the sandbox, to execute just that
            continue
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            name = getattr(call.func, "id", None) in never
            if name or getattr(call.func, "attr", None) in never_called - timers.get(
                path.name, set()
            ):
                found.append(f"{relative(path)}:{call.lineno}")
    assert not found


def test_no_user_error_is_an_assert():
    assert not [
        f"{relative(path)}:{node.lineno}"
        for path, tree in syntax_trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Assert)
    ]


def test_text_files_are_clean(tracked):
    for path in tracked:
        text = path.read_bytes()
        if b"\0" in text or path.suffix in {".png", ".parquet"}:
            continue
        assert not text or text.endswith(b"\n"), f"{relative(path)}: no newline at the end"
        assert b"\r\n" not in text, f"{relative(path)}: Windows line ends"
        assert not re.search(rb"[ \t]+\n", text) or path.suffix == ".md", (
            f"{relative(path)}: spaces"
        )


def test_files_are_small(tracked):
    for path in tracked:
        assert path.stat().st_size < 1_000_000, f"{relative(path)} is large: store it elsewhere"


def test_no_conflict_markers_and_no_home_paths(tracked):
    for path in tracked:
        text = path.read_text("utf-8", errors="replace")
        assert not re.search(r"^(<{7}|>{7}) ", text, re.MULTILINE), relative(path)
        assert not re.search(r"/(home|root|Users)/\w+/", text), relative(path)


def test_no_possessive_groups():
    # Python before 3.11.5 matches a possessive quantifier on a group wrongly (on a character class
    # it does not), and Debian ships 3.11.2.
    found = []
    for path, tree in syntax_trees():
        for node in ast.walk(tree):
            called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            if not called or getattr(node.func.value, "id", "") != "re":
                continue
            texts = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
            if any(isinstance(t, str) and re.search(r"(?<!\\)\)[*+?]\+", t) for t in texts):
                found.append(f"{relative(path)}:{node.lineno}")
    assert not found
