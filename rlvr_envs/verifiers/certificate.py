r"""The spellings of a certificate: an answer that is a list, a grid or several lines.

Tasks read such answers through `rlvr_envs.verifiers.parse` and `rlvr_envs.verifiers.grids`, which
begin here, so that all of them take the same spellings:

- markup around the answer (`rlvr_envs.verifiers.markup`), a full stop at its end;
- lines that are numbered (``1.``), marked (``-``) or labelled in order (``Bin 1:``);
- tables in Markdown, with a header or without, and TeX's matrices;
- items apart by commas, semicolons, arrows, white space or a last "and";
- whole numbers written as ``18/2``, ``\frac{18}{2}`` or ``9.0``.
"""

import re

from rlvr_envs.verifiers.markup import unmarked

MAX_DIGITS = 1_000  # of one number

_MATRIX = re.compile(r"\\(?:begin|end)\{(?:[bpvBV]?|small)(?:matrix|array)\}(?:\{[lcr|]*\})?")
_RULE = re.compile(r"[|\s]*+(?::?+-{2,}+:?+[|\s]*+)+")
_BULLET = re.compile(r"[-*\u2022][ \t]+(?=\S)")
_NUMBER = re.compile(r"\(?(\d{1,6})[.):][ \t]+(?=\S)")
_LABEL = re.compile(r"[A-Za-z][A-Za-z ]{0,30}?[ _#]{0,2}(\d{1,6})[ \t]*[:=][ \t]*(?=\S)")
_RESULT = re.compile(r"(?:final answer|answer|result|solution)[ \t]*[:=][ \t]*", re.IGNORECASE)
_ARROW = re.compile(r"\s*(?:\u2192|\u21d2|\u27f6|[-=]>)\s*")
_AND = re.compile(r",?[ \t]+(?:and|&)[ \t]+(?![,;])")
_ITEM_END = re.compile(r"[,;\n]")
_BRACKETS = {"[": "]", "(": ")", "{": "}"}
_PLAIN = re.compile(r"[+-]?[0-9]+")
_POINT = re.compile(r"([+-]?[0-9]+)\.0{1,20}")
_QUOTIENT = re.compile(r"([+-]?)(?:([0-9]+)/([0-9]+)|\\[dt]?frac\{(-?[0-9]+)\}\{([0-9]+)\})")


def lines(text: str, *, rows: int | None = None) -> list[str]:
    """Return the lines that hold something, without what frames, numbers, marks or labels them.

    Args:
        text: the answer.
        rows: how many lines the answer should have, where that is known. What stands above the rule
            of a table is its header, unless a line would be missing without it.
    """
    if _MATRIX.search(text):
        text = _MATRIX.sub("\n", text).replace("\\\\", "\n").replace("&", " ")
    text = unmarked(text)
    found = [line.strip() for line in text.split("\n") if line.strip()]
    rules = [i for i, line in enumerate(found) if "-" in line and _RULE.fullmatch(line)]
    if rules and "|" in text:
        body = [line for i, line in enumerate(found) if i > rules[0] and i not in rules]
        entire = [line for i, line in enumerate(found) if i not in rules]
        found = entire if rows is not None and len(body) < rows else body
    return unlabelled([_cells(line) for line in found])


def _cells(line: str) -> str:
    """Return a row of a table, which has a bar at either end, as a list of its cells."""
    if len(line) > 2 and line[0] == line[-1] == "|":
        return ", ".join(cell.strip() for cell in line[1:-1].split("|"))
    return line


def unlabelled(found: list[str]) -> list[str]:
    """Return lines without the bullets, numbers or labels that all of them begin with.

    Numbers must count up by one, from 0 or 1: otherwise they may be what was asked for.
    """
    if len(found) == 1:
        return [_RESULT.sub("", found[0], count=1)] if _RESULT.match(found[0]) else found
    for pattern in (_BULLET, _NUMBER, _LABEL):
        heads = [pattern.match(line) for line in found]
        if not all(heads):
            continue
        counts = [int(head[1]) for head in heads if head and pattern.groups]
        if not counts or counts in (list(range(len(found))), list(range(1, len(found) + 1))):
            return [line[head.end() :] for line, head in zip(found, heads, strict=True) if head]
    return found


def unbracketed(text: str) -> str:
    """Return a list without a full stop at its end and one pair of brackets around it."""
    if text.endswith(".") and not text.endswith(".."):
        text = text[:-1].rstrip()
    if text and _BRACKETS.get(text[0]) == text[-1]:
        text = text[1:-1].strip()
    return text


def items(text: str) -> list[str]:
    """Return the items of a list whose items may be of several words, such as ``fill 1``."""
    text = unbracketed("\n".join(lines(text)))
    parted = _ARROW.split(text) if not set(",;\n") & set(text) else [text]
    if len(parted) > 1 and all(piece[:1].isalpha() for piece in parted):
        return [piece.strip() for piece in parted]
    return [piece.strip() for piece in _ITEM_END.split(_AND.sub(", ", text))]


def separated(text: str) -> str:
    """Return a text whose arrows, and whose last "and", became commas where they part items."""
    listed = "," in text or ";" in text
    arrows = _ARROW.findall(text)
    if arrows and not listed and (len(arrows) > 1 or arrows[0] != arrows[0].strip()):
        return _ARROW.sub(", ", text)
    if listed or len(text.split()) == 3:
        return _AND.sub(", ", text)
    return text


def whole(text: str, *, max_digits: int = MAX_DIGITS) -> int | None:
    """Return a whole number, written with digits, as a quotient or with zeros after the point."""
    if len(text) > 2 * max_digits + 20:
        return None
    point = _POINT.fullmatch(text)
    plain = point[1] if point else text
    if _PLAIN.fullmatch(plain):
        return int(plain) if len(plain.lstrip("+-")) <= max_digits else None
    quotient = _QUOTIENT.fullmatch(text)
    if quotient is None:
        return None
    top, bottom = (digits for digits in quotient.groups()[1:] if digits is not None)
    if max(len(top), len(bottom)) > max_digits or not int(bottom) or int(top) % int(bottom):
        return None
    value = int(top) // int(bottom)
    return -value if quotient[1] == "-" else value
