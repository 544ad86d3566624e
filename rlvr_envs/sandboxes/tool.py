"""Python as a tool of a model: reading its messages, running its code, showing what that wrote.

What a program wrote is data: it is escaped, so that nothing in it can look like a tag, a control
token of a chat template or the end of its own block.
"""

import re
from dataclasses import dataclass

from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.errors import SandboxError
from rlvr_envs.core.thoughts import spoken
from rlvr_envs.sandboxes import languages
from rlvr_envs.sandboxes.base import Limits, Result, RunStatus
from rlvr_envs.sandboxes.sandbox import SandboxSession
from rlvr_envs.sandboxes.shared import shared_sandbox

PYTHON = ("python", "py", "python3")

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^\s`]*)[^`]*")
_TAG = re.compile(r"<(?=[/|!A-Za-z])")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a message: prose, or a code block.

    Attributes:
        text: as it stands in the message.
        tag: of a block, in lower case; None for prose.
        code: what a complete block holds; None for prose, and for a block that never closes.
    """

    text: str
    tag: str | None = None
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """What stands in a message: the last code block of the language, and the final answer."""

    code: str | None
    answer: str | None


def pieces(text: str) -> list[Piece]:
    """Return the parts of a message in order; joined by line ends they are the message."""
    found: list[Piece] = []
    lines: list[str] = []
    opened: re.Match[str] | None = None
    for line in text.split("\n"):
        fence = _FENCE.fullmatch(line)
        if opened is None and fence:
            if lines:
                found.append(Piece("\n".join(lines)))
            opened, lines = fence, [line]
            continue
        lines.append(line)
        if opened and fence and not fence[2] and fence[1].startswith(opened[1]):
            found.append(Piece("\n".join(lines), opened[2].lower(), "\n".join(lines[1:-1])))
            opened, lines = None, []
    if lines:
        found.append(Piece("\n".join(lines), opened[2].lower() if opened else None))
    return found


def last_code(parts: list[Piece], tags: tuple[str, ...] = PYTHON) -> str | None:
    """Return what the last complete block of a language holds, unless it is empty."""
    blocks = [p.code for p in parts if p.tag in tags and p.code is not None and p.code.strip()]
    return blocks[-1] if blocks else None


def read_message(text: str, tags: tuple[str, ...] = PYTHON) -> Message:
    r"""Return what a message holds: thoughts count for nothing, nor does what is in other blocks.

    A code block counts if it is complete and its tag is one of ``tags``; the last one is taken. A
    final answer stands outside of every block, as <answer>...</answer> or, without that, \boxed{}.
    """
    parts = pieces(spoken(text))
    outside = "\n".join(part.text for part in parts if part.tag is None)
    answer = answer_format("tag").find(outside).answer
    return Message(last_code(parts, tags), answer or answer_format("boxed").find(outside).answer)


def shown(output: bytes, limit: int = 2000) -> str:
    """Return what a program wrote as text that cannot be mistaken for anything else.

    The middle of a long output is left out, with a note that says so.
    """
    text = output.decode("utf-8", "replace")
    if len(text) > limit:
        head, tail = text[: limit * 3 // 4], text[-limit // 4 :]
        text = f"{head}\n[{len(text) - len(head) - len(tail)} characters left out]\n{tail}"
    plain = "".join(c if c.isprintable() or c in "\n\t" else _escaped(c) for c in text)
    return _TAG.sub("&lt;", plain).rstrip("\n")


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def block(text: str, tag: str = "output") -> str:
    """Return text as a block that nothing in it can end."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{tag}\n{text}\n{fence}"


def report(result: Result, limits: Limits) -> str:
    """Return what a run wrote and how it ended, as text to show."""
    endings = {
        RunStatus.CPU_TIMEOUT: f"stopped after {limits.cpu_s:g} s of CPU time",
        RunStatus.WALL_TIMEOUT: "stopped for waiting too long",
        RunStatus.MEMORY: f"stopped for using more than {limits.memory_mib} MiB",
        RunStatus.OUTPUT_LIMIT: "stopped for writing too much",
    }
    told = [shown(result.stdout)] if result.stdout else []
    if result.stderr:
        told.append(shown(result.stderr))
    if not result.ok:
        told.append(f"[{endings.get(result.status, 'ended with an error')}]")
    return "\n".join(told) or "[no output]"


class PythonRuns:
    """The runs of one episode: new processes in a working directory that lasts.

    The sandbox is opened at the first run. Runs that are dropped close it too: the sandbox's
    session does that by itself.

    Args:
        limits: of each run, and of the working directory.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._session: SandboxSession | None = None

    def run(self, code: str) -> str:
        """Run a program and return what it wrote, as a block to show.

        Raises:
            SandboxError: the sandbox broke, and is closed.
            DependencyError: there is none.
        """
        if self._session is None:
            self._session = shared_sandbox().session(self._limits)
        job = languages.find("python").job(code, limits=self._limits)
        try:
            result = self._session.run(job)
        except SandboxError:
            self.close()
            raise
        if result.status is RunStatus.SANDBOX_ERROR:
            self.close()
            raise SandboxError(result.detail)
        return block(report(result, self._limits))

    def close(self) -> None:
        """Give the sandbox back; may be called again."""
        if self._session is not None:
            self._session.close()
            self._session = None
