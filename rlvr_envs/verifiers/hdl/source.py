"""An answer as text: what may be given to the tools, and why anything else may not."""

import re
from dataclasses import dataclass

MOST_CHARACTERS = 65536

_MODULE = re.compile(r"\bmodule\s++(?:automatic\s++|static\s++)?([A-Za-z_]\w*+)")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why there is no netlist.

    Attributes:
        stage: forbidden, compile, unsupported (legal, but not to be synthesised here), resource,
            or fault (ours or the machine's: never scored).
        detail: a sentence for whoever wrote the source.
    """

    stage: str
    detail: str


@dataclass(frozen=True, slots=True)
class Source:
    """A text that may be elaborated.

    Attributes:
        text: with plain line ends.
        top: the module that is asked for.
        modules: the names of the modules that it defines, as far as they are written out.
    """

    text: str
    top: str
    modules: tuple[str, ...]

    def line(self, number: int) -> str:
        """Return a line, counted from 1; nothing beyond the end."""
        lines = self.text.split("\n")
        return lines[number - 1] if 0 < number <= len(lines) else ""

    def without_top(self) -> str:
        """Return a sentence for a text that lacks the module asked for."""
        found = ", ".join(self.modules[:8])
        return f"there is no module {self.top}" + (f", only {found:.200}" if found else "")


def read_source(text: str, top: str) -> Source | Refusal:
    """Return a source that the tools may be given, or why not."""
    if len(text) > MOST_CHARACTERS:
        most = MOST_CHARACTERS
        return Refusal("forbidden", f"the source has {len(text)} characters, above {most}")
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return Source(plain, top, tuple(_MODULE.findall(plain)))
