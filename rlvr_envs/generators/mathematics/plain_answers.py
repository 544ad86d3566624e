"""Answers whose validity is more than equality: the first step of reading them."""

import re

MAX_TEXT = 4_000

# LaTeX that only spaces or sizes, and dollar signs.
_NOISE = re.compile(
    r"\\left(?![a-z])|\\right(?![a-z])|\\[,;:! ()\[\]]|\\q?quad|\\displaystyle(?![a-z])|\$|\s+"
)
_TWO_NUMBERS = re.compile(r"[0-9]\s+[0-9]")


def squeeze(answer: str) -> str | None:
    """Return the answer without spaces, math delimiters, a last period and LaTeX of size and space.

    None stands for a text that is too long, or in which a space parts two numbers, which
    dropping it would join.
    """
    if len(answer) > MAX_TEXT or _TWO_NUMBERS.search(answer):
        return None
    return _NOISE.sub("", answer.replace("\u2212", "-")).removesuffix(".")
