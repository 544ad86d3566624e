"""Text for a terminal: without what would move the cursor or change the terminal in other ways."""

import re

# Control characters but tabs and line ends, and halves of surrogate pairs, which cannot be encoded.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def harmless(text: str) -> str:
    """Return a text in which no file, model or server can speak to the terminal."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)
