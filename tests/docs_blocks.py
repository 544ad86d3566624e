"""Run the code blocks of a Markdown page as the page shows them: python tests/docs_blocks.py PAGE

The blocks of a page run in their order, in the folder that this is started in: ``python`` blocks in
one namespace, ``bash`` blocks in a shell of their own, ``console`` blocks command by command, each
followed by lines that it prints. Where the line of a Python expression ends in a comment that is a
value, or starts with one and a colon, the expression has that value; what ``print`` prints is its
comment. ``pip install`` only checks that what it is given can be asked for;
with ``-e .``, the entry points of a package in the folder are found.

A comment directly before a block says what else becomes of it:

    <!-- not run: REASON -->    nothing: it needs a GPU, a server of others, ...
    <!-- slow: REASON -->       it runs only with --slow
    <!-- shorter: OPTIONS -->   these options are added to its last command
    <!-- needs: NAME ... -->    it runs where these commands and modules are installed
    <!-- file: NAME -->         it is saved under this name
    <!-- output -->             the block before printed it; an ellipsis stands for anything
    <!-- server -->             it goes on running while the later blocks do; 8000 is a free port
"""

import ast
import contextlib
import importlib.util
import io
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import tokenize
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
RUN = ("python", "bash", "console")
DIRECTIVES = {  # and whether each is followed by a colon and something
    "not run": True,
    "slow": True,
    "shorter": True,
    "needs": True,
    "file": True,
    "output": False,
    "server": False,
}
GENERATED = {ROOT / "docs" / name for name in ("environments", "results", "reference")}
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(p for p in (ROOT / "docs").rglob("*.md") if not GENERATED & set(p.parents)),
]
_DIRECTIVE = re.compile(r"\s*<!-- ([a-z ]+?)(?:: (.+?))? -->\s*", re.DOTALL)
_PORT = "8000"
_INSTALLED = ".installed"
_SERVER_STARTS_S = 120


class BlockError(Exception):
    """A block is not what it shows, or says nothing of what becomes of it."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code: where its first line stands, and what the comment before it says."""

    page: str
    line: int
    language: str
    text: str
    directive: str = ""
    argument: str = ""

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(text: str, page: str) -> Iterator[Block]:
    """Yield the blocks of a page.

    Raises:
        BlockError: a block is of no language that runs, and no comment says what becomes of it.
    """
    comment = ""
    for token in MarkdownIt().parse(text):
        if token.type == "fence":
            language = token.info.partition(" ")[0]
            directive, argument = "", ""
            found = _DIRECTIVE.fullmatch(comment)
            if found:
                directive, argument = found[1], " ".join((found[2] or "").split())
            block = Block(page, token.map[0] + 2, language, token.content, directive, argument)
            if directive and bool(argument) is not DIRECTIVES.get(directive):
                raise BlockError(
                    f"{block}: {comment.strip()} is none of the comments {[*DIRECTIVES]}"
                )
            if language not in RUN and directive not in ("not run", "file", "output"):
                raise BlockError(
                    f"{block}: blocks of the languages {', '.join(RUN)} run; put a comment 'not run: "
                    f"REASON', 'file: NAME' or 'output' before this one, of language {language!r}"
                )
            yield block
        comment = token.content if token.type == "html_block" else ""


@dataclass(slots=True)
class Page:
    """The state that the blocks of a page share."""

    folder: Path
    slow: bool = False
    scope: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    printed: str = ""
    port: str = _PORT
    server: subprocess.Popen[bytes] | None = None
    left_out: list[str] = field(default_factory=list)

    def run(self, block: Block) -> str:
        """Do what is to be done with a block and return it in a word."""
        done = self._instead(block)
        if done is not None:
            return done
        text = self._here(block)
        if block.language == "python":
            self.printed = run_python(text, self.scope, block)
        elif block.language == "bash":
            more = f" {block.argument}" if block.directive == "shorter" else ""
            self.printed = self._shell(text.rstrip() + more, block)
        else:
            self._console(text, block)
        return "ran"

    def _here(self, block: Block) -> str:
        """Return the text with the port that the server listens on."""
        return block.text.replace(_PORT, self.port)

    def _instead(self, block: Block) -> str | None:
        """Do what a comment asks for instead of running the block; None if it is to run."""
        match block.directive:
            case "not run":
                return "not run"
            case "slow" if not self.slow:
                return "slow"
            case "needs" if absent := [n for n in block.argument.split() if not _installed(n)]:
                self.left_out.append(f"{block}: not installed: {', '.join(absent)}")
                return "left out"
            case "file":
                path = self.folder / block.argument
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(self._here(block), "utf-8")
                return "saved"
            case "output":
                if not _shown(block.text).fullmatch(_plain(self.printed)):
                    raise BlockError(f"{block}: printed was instead\n{self.printed}")
                return "compared"
            case "server":
                self._serve(block)
                return "serves"
            case _:
                return None

    def close(self) -> None:
        """Stop the server, if one runs."""
        if self.server is not None:
            os.killpg(self.server.pid, signal.SIGTERM)
            self.server.wait()

    def _shell(self, text: str, block: Block) -> str:
        done = subprocess.run(
            ["/bin/bash", "-euo", "pipefail", "-c", text],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            env=environment(self.folder),
            cwd=self.folder,
        )
        if done.returncode:
            raise BlockError(f"{block}: status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def _console(self, text: str, block: Block) -> None:
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, shown = _split(part)
            printed = self._shell(command, block)
            if not _shown(shown).search(_plain(printed)):
                raise BlockError(f"{block}: {command.strip()} printed instead\n{printed}")

    def _serve(self, block: Block) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = str(free.getsockname()[1])
        self.server = subprocess.Popen(
            ["/bin/bash", "-euc", block.text.replace(_PORT, self.port)],
            env=environment(self.folder),
            cwd=self.folder,
            start_new_session=True,
        )
        deadline = time.monotonic() + _SERVER_STARTS_S
        while time.monotonic() < deadline and self.server.poll() is None:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", int(self.port)), 1).close()
                return
            time.sleep(0.1)
        raise BlockError(f"{block}: the server does not listen on port {self.port}")


def environment(folder: Path) -> dict[str, str]:
    """Return an environment whose first commands are this Python's and check what pip is given.

    A package in the folder that ``pip install -e .`` was given is on the path, and so are its entry
    points.
    """
    commands = folder / ".bin"
    if not commands.exists():
        commands.mkdir()
        lines = {"python": "", "rlvr": "-m rlvr_envs", "pip": f"{__file__} --pip"}
        for name, arguments in lines.items():
            script = commands / name
            script.write_text(f'#!/bin/sh\nexec {sys.executable} {arguments} "$@"\n')
            script.chmod(0o755)
        for name in ("benchmarks", "examples"):  # whose files commands of the docs name
            (folder / name).symlink_to(ROOT / name)
    tools = Path(sys.executable).parent
    return os.environ | {
        "PATH": f"{commands}:{tools}:{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT}:{folder}:{folder / _INSTALLED}",
    }


def _installed(name: str) -> bool:
    return shutil.which(name) is not None or importlib.util.find_spec(name) is not None


def _split(part: str) -> tuple[str, str]:
    """Return a command, which may go on in lines after a backslash, and the lines below it."""
    lines = part.split("\n")
    end = next(i for i, line in enumerate(lines) if not line.endswith("\\")) + 1
    return "\n".join(lines[:end]), "\n".join(lines[end:])


def _plain(printed: str) -> str:
    """Return what was printed without spaces at the ends of lines, which no page has."""
    return "\n".join(line.rstrip() for line in printed.strip().split("\n"))


def _shown(text: str) -> re.Pattern[str]:
    """Return a pattern for what a page shows, in which an ellipsis stands for anything."""
    parts = re.split(r"\u2026|\.\.\.", text.strip())
    return re.compile(r".*?".join(map(re.escape, parts)), re.DOTALL)


def run_python(text: str, scope: dict[str, Any], block: Block) -> str:
    """Run a block statement by statement and return what it prints.

    Raises:
        BlockError: a value is another than the comment beside it says.
    """
    above = "\n" * (block.line - 1)  # so that a traceback names lines of the page
    remarks = {
        token.end[0]: token.string.removeprefix("#").strip()
        for token in tokenize.generate_tokens(io.StringIO(above + text).readline)
        if token.type == tokenize.COMMENT
    }
    name = str(ROOT / block.page)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for statement in ast.parse(above + text, name).body:
            before = printed.tell()
            if not isinstance(statement, ast.Expr):
                exec(compile(ast.Module([statement], []), name, "exec"), scope)
                continue
            value = eval(compile(ast.Expression(statement.value), name, "eval"), scope)
            remark = remarks.get(statement.end_lineno or 0)
            if remark is not None:
                shown = printed.getvalue()[before:].strip()
                _compare(value, shown, remark, f"{block.page}:{statement.lineno}")
    return printed.getvalue()


def _compare(value: object, printed: str, remark: str, place: str) -> None:
    if value is None and printed:
        if not _shown(remark).fullmatch(printed):
            raise BlockError(f"{place}: prints {printed!r}, and its comment says {remark!r}")
        return
    for said in (remark, remark.partition(": ")[0]):
        with contextlib.suppress(SyntaxError, ValueError):
            if value != ast.literal_eval(said):
                raise BlockError(f"{place}: is {value!r}, and its comment says {said}")
            return


def pip(arguments: list[str]) -> None:
    """Check what a command asks pip to install; ``-e .`` makes the metadata of the package here.

    Raises:
        BlockError: this project has no such extra.
        packaging.requirements.InvalidRequirement: this is no requirement.
    """
    if arguments == ["install", "-e", "."]:
        from build import ProjectBuilder

        ProjectBuilder(".").metadata_path(_INSTALLED)
        return
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for argument in arguments:
        if argument in ("install", ".") or argument.startswith("--"):
            continue
        asked = Requirement(argument.replace(".[", f"{project['name']}[", 1))
        unknown = asked.extras - set(project["optional-dependencies"])
        if asked.name == project["name"] and unknown:
            raise BlockError(f"no extra {', '.join(unknown)}")


def run_page(path: Path, folder: Path, *, slow: bool = False) -> Page:
    """Run the blocks of a page in a folder, and say of each what became of it and how soon."""
    name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name
    page = Page(folder, slow)
    try:
        for block in blocks(path.read_text("utf-8"), name):
            begun = time.monotonic()
            with contextlib.chdir(folder):
                done = page.run(block)
            print(f"{block}: {done}, {time.monotonic() - begun:.1f} s", file=sys.stderr)
    finally:
        page.close()
    return page


def main(arguments: list[str]) -> int:
    """Run a page here; 3 if a block was left out because something is not installed."""
    if arguments[0] == "--pip":
        pip(arguments[1:])
        return 0
    slow = "--slow" in arguments
    sys.path += [str(Path.cwd()), str(Path.cwd() / _INSTALLED)]  # as in the shell blocks
    (path,) = (Path(each) for each in arguments if each != "--slow")
    try:
        left_out = run_page(path.resolve(), Path.cwd(), slow=slow).left_out
    except BlockError as error:
        print(error, file=sys.stderr)
        return 1
    print("\n".join(left_out))
    return 3 if left_out else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
