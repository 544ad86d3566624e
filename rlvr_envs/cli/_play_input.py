"""What a person types in a game: lines with history and completion, and whole blocks of code."""

import sys
from collections.abc import Iterable
from types import ModuleType

_PROMPT = "> "
_MOST_WORDS = 5_000  # to complete; a long session forgets nothing that one could still want


class Keyboard:
    """Reads lines; in a terminal with readline they have a history, and Tab completes words."""

    def __init__(self) -> None:
        self._typed = sys.stdin.isatty()
        self._words: dict[str, None] = {}
        self._found: list[str] = []
        self._readline = _readline() if self._typed and sys.stdout.isatty() else None
        if self._readline is not None:
            self._readline.set_completer(self._completed)
            self._readline.set_completer_delims(" \t\n")
            # macOS has libedit under the same name, with other words for its settings.
            edit = "libedit" in (self._readline.__doc__ or "")
            self._readline.parse_and_bind("bind ^I rl_complete" if edit else "tab: complete")

    def offer(self, words: Iterable[str]) -> None:
        """Take words that Tab completes from now on."""
        if len(self._words) < _MOST_WORDS:
            self._words.update(dict.fromkeys(words))

    def line(self) -> str:
        """Return a line; what comes through a pipe is shown, as a terminal would."""
        text = input(_PROMPT)
        if not self._typed:
            print(text)
        return text

    def block(self) -> str:
        """Return lines up to an empty one."""
        lines: list[str] = []
        while True:
            line = input(_PROMPT if self._typed else "")
            if not line and lines:
                return "\n".join(lines)
            lines.append(line)

    def _completed(self, begun: str, number: int) -> str | None:
        """Return a word that begins so, counted from 0, as readline asks."""
        if number == 0:
            self._found = sorted(word for word in self._words if word.startswith(begun))
        return self._found[number] if number < len(self._found) else None


def _readline() -> ModuleType | None:
    try:
        import readline
    except ImportError:  # not on every system
        return None
    return readline
