r"""Residues: ``x \equiv 3 \pmod 7``, ``10 \bmod 7`` and ``7k + 3`` say the same of x."""

import re

from rlvr_envs.verifiers.mathtext.normalise import split_modulus

_NAME = re.compile(r"\s*+\$?[A-Za-z](?:_\w|_\{\w+\})?\s*+(?:\\equiv(?![A-Za-z])|\u2261|=)\s*+")
_RESIDUE = re.compile(r"[+-]?\d{1,300}")
_BETWEEN = re.compile(r"\s*+(?:,|;|\\text\{\s*+(?:or|and),?\s*+\}|\bor\b|\band\b)\s*+")
_FAMILY = re.compile(
    r"\$?(?:[A-Za-z]\s*+=\s*+)?(\d{1,300})\s*+(?:\\cdot\s*+|\*\s*+)?([klmntj])"
    r"(?:\s*+([+-])\s*+(\d{1,300}))?\s*+(?:,.*|\\q?quad.*|\\text\{.*|for .*|\(.*)?\$?",
    re.DOTALL,
)


def residues(text: str) -> tuple[int, frozenset[int]] | None:
    """Return the modulus and the residues, from 0 up to it, that a text names; None if it does not.

    Texts of other forms, such as a remainder of an expression, are left to the readers.
    """
    parts = split_modulus(text)
    if parts is None:
        return None
    rest, modulus = parts
    pieces = [_NAME.sub("", piece).strip(" $") for piece in _BETWEEN.split(rest)]
    if not modulus or not all(map(_RESIDUE.fullmatch, pieces)):
        return None
    return modulus, frozenset(int(piece) % modulus for piece in pieces)


def family(text: str) -> tuple[int, frozenset[int]] | None:
    """Return what `residues` does for a family of numbers such as ``7k + 3``."""
    found = _FAMILY.fullmatch(text.strip())
    if found is None or not int(found[1]):
        return None
    modulus, shift = int(found[1]), int(found[4] or 0)
    return modulus, frozenset({(-shift if found[3] == "-" else shift) % modulus})
