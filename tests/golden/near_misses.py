"""Near misses: a right answer with one small mistake in it, the kind that a model makes.

They are made from the reference alone and draw nothing at random, so the same reference gives the
same near misses for ever. Where many answers are right, a near miss may be right too.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple


class NearMiss(NamedTuple):
    """A changed answer (or list of actions), and the change in a form that a person can read."""

    what: str
    answer: str | list[str]


class Edit(NamedTuple):
    """``text[start:end]`` becomes ``new``."""

    start: int
    end: int
    new: str

    def apply(self, text: str) -> str:
        return text[: self.start] + self.new + text[self.end :]


SHORT = 32  # an answer of at most this length is shown whole
MARGIN = 8  # characters shown on each side of a change in a longer answer

# An item of a list, a grid, a formula or a sentence; LaTeX commands are not items.
_ITEM = re.compile(
    r"(?<![\\\w])(?<!begin\{)(?<!end\{)[^\s,;:()\[\]{}\\&\"<>]*[\w#.][^\s,;:()\[\]{}\\&\"<>]*"
)
_NUMBER = re.compile(r"(?<![A-Za-z\\])\d+")
_WORD = re.compile(r"(?<![\\\w])[^\W\d_]+")
# Where few signs have a meaning, another of them is the likely mistake.
_ALPHABETS = ("01", "#.", "TF", "YN", "LRUD")

_SIGNS = {" + ": " - ", " - ": " + ", " * ": " + ", " / ": " * ", "*": "+", r"\cdot": "+"}
# fmt: off
_PROGRAM_OPERATORS = {
    " + ": " - ", " - ": " + ", " * ": " + ", " % ": " + ", " // ": " % ",
    " < ": " <= ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == ",
    " && ": " || ", " || ": " && ", " & ": " | ", " | ": " & ", " ^ ": " | ",
    " and ": " or ", " or ": " and ", " AND ": " OR ", " OR ": " AND ",
    "min(": "max(", "max(": "min(", "MIN(": "MAX(", "MAX(": "MIN(", "AVG(": "SUM(",
}
# fmt: on
_PROGRAM_OPERATOR = re.compile(
    "|".join((r"\b" if old[0].isalpha() else "") + re.escape(old) for old in _PROGRAM_OPERATORS)
)
# Not the width of a declared signal or of a constant: hardware is the same with a wider one.
_CONSTANT = re.compile(r"(?<![\w.'])\d+(?![\w.':])|(?<='d)\d+|(?<='[bho])[\da-f]+")
_TYPES = {"int": "str", "str": "int", "bool": "int", "float": "int"}
_TYPE = re.compile(r"\b(?:int|str|bool|float)\b")
# Lines where a change means nothing, or that the program is not built or does not end.
_SKIPPED_LINE = re.compile(
    r"\s*(?://|#|--|\"\"\"|/\*|\*|(?:import|from|input|output|parameter|use|for|while)\b|.*\bposedge\b)"
)

_ACTION = re.compile(r"\A(```[^\n]*\n|<\w+>\"?|\\boxed\{)(.*?)(\n```|\"?</\w+>|\})\s*\Z", re.DOTALL)


def near_misses(reference: str | list[str], *, program: bool = False) -> list[NearMiss]:
    """Return the near misses of a reference, the best first; each differs from it.

    Args:
        reference: an answer, or the actions of an interactive task.
        program: whether the answer is the text of a program.
    """
    made = _of_actions(reference) if isinstance(reference, list) else _of_text(reference, program)
    found: dict[str, NearMiss] = {}
    for miss in made:
        if miss.answer != reference:
            found.setdefault(miss.what, miss)
    return list(found.values())


def _of_text(text: str, program: bool) -> Iterator[NearMiss]:
    edits = _program_edits(text) if program else _text_edits(text)
    for edit in edits:
        changed = edit.apply(text)
        if changed.split() != text.split():
            yield NearMiss(changed if len(changed) <= SHORT else _shown(text, edit), changed)


def _of_actions(actions: list[str]) -> Iterator[NearMiss]:
    """Yield two changes of the last action, which is the answer, and one each of two others."""
    count = len(actions)
    for index, turn in dict.fromkeys([(count - 1, 0), (count // 2, 0), (count - 1, 1), (0, 0)]):
        action = actions[index]
        parts = _ACTION.match(action)
        start, inside = (parts.start(2), parts[2]) if parts else (0, action)
        changes = list(_of_text(inside, program=action.startswith("```")))
        for miss in changes[turn : turn + 1]:
            changed = action[:start] + miss.answer + action[start + len(inside) :]
            what = f"action {index + 1} of {count}: {miss.what}"
            yield NearMiss(what, [*actions[:index], changed, *actions[index + 1 :]])
    for index in _from_the_middle(count - 1):
        one, two = actions[index : index + 2]
        if one != two:
            what = f"actions {index + 1} and {index + 2} of {count} swapped"
            yield NearMiss(what, [*actions[:index], two, one, *actions[index + 2 :]])
            break


def _text_edits(text: str) -> Iterator[Edit]:
    """Yield one edit of each kind, and then a second one of some."""
    numbers = list(_NUMBER.finditer(text))
    items = [(match.start(), match.end()) for match in _ITEM.finditer(text)]
    if len(items) < 2:
        items = [(i, i + 1) for i, sign in enumerate(text) if sign.isalnum()]
    values = [*_sign_from_alphabet(text)] or [*_other_numbers(numbers)] or [*_other_letter(text)]
    yield from values[:1]
    yield from _swap(text, items)
    yield from _operator(text, numbers)
    yield from _drop(items)
    yield from values[1:]
    yield Edit(len(text), len(text), text[-1:])


def _sign_from_alphabet(text: str) -> Iterator[Edit]:
    signs = [(i, sign) for i, sign in enumerate(text) if not sign.isspace() and sign not in ",|"]
    for alphabet in _ALPHABETS:
        enough = len(signs) >= (1 if alphabet.isalpha() else 2)
        if enough and all(sign in alphabet for _, sign in signs):
            i, sign = signs[len(signs) // 2]
            yield Edit(i, i + 1, alphabet[alphabet.index(sign) ^ 1])


def _other_numbers(numbers: list[re.Match[str]]) -> Iterator[Edit]:
    """Yield the number in the middle one greater or smaller, then the last with another digit."""
    if numbers:
        middle, last = numbers[len(numbers) // 2], numbers[-1]
        yield Edit(middle.end() - 1, middle.end(), _next_digit(middle[0][-1]))
        yield Edit(last.start(), last.start() + 1, _next_digit(last[0][0]))


def _next_digit(digit: str) -> str:
    return "8" if digit == "9" else str(int(digit) + 1)


def _other_letter(text: str) -> Iterator[Edit]:
    """Yield a letter of the middle word as another one of the text, or the next of the alphabet."""
    words = list(_WORD.finditer(text))
    if words:
        word = words[len(words) // 2]
        i = word.start() + len(word[0]) // 2
        case = str.isupper if text[i].isupper() else str.islower
        others = [c for c in text if c.isalpha() and case(c) and c != text[i]]
        after = chr(ord(text[i]) + 1) if text[i] not in "zZ" else chr(ord(text[i]) - 25)
        yield Edit(i, i + 1, others[len(others) // 2] if others else after)


def _swap(text: str, items: list[tuple[int, int]]) -> Iterator[Edit]:
    for index in _from_the_middle(len(items) - 1):
        (a, b), (c, d) = items[index : index + 2]
        if text[a:b] != text[c:d]:
            yield Edit(a, d, text[c:d] + text[b:c] + text[a:b])
            return


def _operator(text: str, numbers: list[re.Match[str]]) -> Iterator[Edit]:
    for old, new in _SIGNS.items():
        if old in text:
            start = text.rindex(old)
            yield Edit(start, start + len(old), new)
            return
    if len(numbers) == 1:
        start = numbers[0].start()
        if text[:start].endswith("-"):
            yield Edit(start - 1, start, "")
        elif start == 0:
            yield Edit(0, 0, "-")


def _drop(items: list[tuple[int, int]]) -> Iterator[Edit]:
    if len(items) > 1:
        yield Edit(items[-2][1], items[-1][1], "")


def _program_edits(text: str) -> Iterator[Edit]:
    """Yield changed operators, from the middle outwards, and then changed constants."""
    operators = _in_code(_PROGRAM_OPERATOR, text)
    for index in _from_the_middle(len(operators)):
        match = operators[index]
        yield Edit(match.start(), match.end(), _PROGRAM_OPERATORS[match[0]])
    constants = _in_code(_CONSTANT, text)
    for index in _from_the_middle(len(constants)):
        match = constants[index]
        digit = match[0][-1]
        sized = match.start() > 0 and text[match.start() - 2] == "'"
        changed = f"{int(digit, 16) ^ 1:x}" if sized else _next_digit(digit)
        yield Edit(match.end() - 1, match.end(), "0" if match[0] == "1" else changed)
    if "..." in text:  # stubs of functions, whose types are the answer
        types = _in_code(_TYPE, text)
        for index in _from_the_middle(len(types)):
            yield Edit(types[index].start(), types[index].end(), _TYPES[types[index][0]])
    yield from _text_edits(text)


def _in_code(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    found = []
    for match in pattern.finditer(text):
        line = text[text.rfind("\n", 0, match.start()) + 1 :]
        before = line[: match.start() - text.rfind("\n", 0, match.start()) - 1]
        # Another index may lie outside of an array, where C promises nothing.
        indexed = len(re.findall(r"\w\[", before)) > before.count("]")
        if not indexed and not _SKIPPED_LINE.match(line):
            found.append(match)
    return found


def _from_the_middle(count: int) -> list[int]:
    return sorted(range(count), key=lambda index: (abs(index - count // 2), index))


def _shown(text: str, edit: Edit) -> str:
    """Return the change with a little of its line on both sides."""
    line = text.count("\n", 0, edit.start) + 1
    begin = max(text.rfind("\n", 0, edit.start) + 1, edit.start - MARGIN)
    end = text.find("\n", edit.end)
    end = min(len(text) if end < 0 else end, edit.end + MARGIN)
    new = text[begin : edit.start] + edit.new + text[edit.end : end]
    return f"line {line}: {text[begin:end].strip()} -> {new.strip()}"
