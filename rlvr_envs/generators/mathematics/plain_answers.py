"""The first step of reading answers that are checked by more than equality."""

import re

MAX_TEXT = 4_000

# LaTeX for spacing and size, and dollar signs.
_NOISE = re.compile(
    r"\\left(?![a-z])|\\right(?![a-z])|\\[,;:! ()\[\]]|\\q?quad|\\displaystyle(?![a-z])|\$|\s+"
)
_TWO_NUMBERS = re.compile(r"[0-9]\s+[0-9]")


def squeeze(answer: str) -> str | None:
    """Return the answer without spaces, math delimiters, LaTeX for spacing and size, and a period.

    Return None for a text that is too long, or in which a space separates two numbers, which
    would be joined without it.
    """
    if len(answer) > MAX_TEXT or _TWO_NUMBERS.search(answer):
        return None
    return _NOISE.sub("", answer.replace("\u2212", "-")).removesuffix(".")
