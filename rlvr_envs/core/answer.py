"""Answer formats: the one place that words the instruction and extracts the answer.

Common rules. Thoughts do not count (`rlvr_envs.core.thoughts`), nor do invisible characters. The
last complete final answer counts; an empty form or one with a placeholder, such as the instruction
repeated, is no answer. Text around the answer earns nothing. Time is linear in the length of the
text, whatever the text.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, NamedTuple

from rlvr_envs.core.errors import ConfigError, did_you_mean
from rlvr_envs.core.thoughts import code_blocks, spoken, visible

_MAX_JOINER = 200  # characters between two boxes that are one list
MAX_BOXES = 8  # more boxes joined into one answer than this is spraying, not answering

_BOX = re.compile(r"\\{1,2}(?:boxed|fbox)\s*+\{")
_LONE_BOX = re.compile(  # braces nested once at most
    r"\\boxed\{((?:[^{}\\]|\\[^{}]|\{(?:[^{}\\]|\\[^{}])*\})+)\}"
)
_BRACES = re.compile(r"\\{1,2}(?:boxed|fbox)\s*+\{|\\.|[{}]", re.DOTALL)
_BARE_BOX = re.compile(r"\\(?:boxed|fbox)[ \t]++([-+]?+\d++(?:[.,/]\d++)*)")
# What joins boxes to one list: commas, "and" or the marks of list items; no blank line.
_LINK = (
    r"[,;&]|\band\b|\\(?:text|mbox|textrm|mathrm)\{[\s,~]*+(?:and)?[\s,~]*+\}"
    r"|\n[ \t]*+(?:[-*\u2022]|\(?\w{1,3}[.)])"
)
_FILL = r"(?:[ \t$~*]|\\[ ,;:!()\[\]]|\\q?quad\b)*"
_LABEL = r"(?:[A-Za-z](?:\d|_\w|_\{\w+\})?[ \t]*+[=:])?"
_JOINER = re.compile(rf"{_FILL}(?:(?:{_LINK}|\n){_FILL})*{_LABEL}{_FILL}")
_JOINS = re.compile(_LINK)
_BLANK_LINE = re.compile(r"\n[ \t]*+\n")
_DOTS = r"(?:\.{3,}|\u2026|\\[lc]?dots)"
_BLANK = re.compile(rf"\s*+(?:{_DOTS}|\\(?:text|mbox)\{{\s*{_DOTS}?\s*\}})?\s*+")
_PLACEHOLDER = re.compile(
    r"\s*+(?:\\text\{)?[<\[]?(?:(?:your|the|my)\s+)?(?:final\s+)?answer(?:\s+here)?[>\]]?\}?\s*+",
    re.IGNORECASE,
)
_WRAPPED = re.compile(r"(\*\*|\$\$?|`)([^*$`]++)\1|\\[(\[](.*)\\[)\]]", re.DOTALL)
_RATIO = re.compile(r"([-+]?)\\[dt]?frac\{?(\d{1,40})\}?\{?(\d{1,40})\}?")
_DECIMAL = re.compile(r"[-+]?\d{1,40}(?:\.\d{0,40})?(?:/\d{1,40})?")


class Extraction(NamedTuple):
    """The answer found in a response, or the reason why there is none."""

    answer: str | None
    reason: str = ""


class AnswerFormat(ABC):
    """How an answer is asked for, written and found; get one with `answer_format`."""

    name: ClassVar[str]

    @property
    def label(self) -> str:
        """The text that `answer_format` turns back into this format."""
        return self.name

    @abstractmethod
    def instruction(self) -> str:
        """Return the sentence that tells the agent how to give its final answer."""

    @abstractmethod
    def wrap(self, answer: str) -> str:
        """Return a full response that offers ``answer``."""

    def extract(self, response: str) -> Extraction:
        """Find the final answer in a full response."""
        return self.find(spoken(visible(response)))

    @abstractmethod
    def find(self, text: str) -> Extraction:
        """Find the final answer in a response without its thoughts."""


class Boxed(AnswerFormat):
    r"""The last balanced ``\boxed{...}``.

    Boxes that only commas, "and" or the marks of list items join are one list, without repeated
    values. Boxes apart, by "or", a full stop or a blank line for example, are not: the last counts.
    """

    name = "boxed"

    def instruction(self) -> str:
        return r"Put your final answer in \boxed{}."

    def wrap(self, answer: str) -> str:
        return f"\\boxed{{{answer}}}"

    def find(self, text: str) -> Extraction:
        if text.count("box") == 1:  # as in most responses: nothing nested, nothing to join
            lone = _LONE_BOX.search(text)
            if lone is not None and not _BLANK.fullmatch(lone[1]):
                return Extraction(lone[1].strip())
        boxes = _outer_boxes(text)
        if not boxes:
            bare = _BARE_BOX.findall(text)
            return Extraction(bare[-1]) if bare else Extraction(None, _NO_BOX)
        filled = _filled(text, boxes)
        if not filled:
            return Extraction(None, r"the \boxed{} is empty")
        run = [filled[-1]]
        for box in reversed(filled[:-1]):
            if not _joined(text, box.end, run[-1].start):
                break
            run.append(box)
            if len(run) > MAX_BOXES:
                return Extraction(None, f"more than {MAX_BOXES} boxed answers stand side by side")
        answers = [_content(text, box) for box in reversed(run)]
        distinct = {_value(answer): answer for answer in reversed(answers)}
        return Extraction(", ".join(reversed(distinct.values())))


_NO_BOX = r"no complete \boxed{} was found"


@dataclass(frozen=True, slots=True)
class _Box:
    start: int
    inside: int
    end: int


def _outer_boxes(text: str) -> list[_Box]:
    """Return the outermost balanced boxes at the end of the text, first one first.

    Looks at the tail only as far as it must: a response has many braces, but the last few
    boxes decide. A tail that does not balance falls back on one pass over everything.
    """
    starts = [match.start() for match in _BOX.finditer(text)]
    if not starts:
        return []
    tail = starts[max(0, len(starts) - MAX_BOXES - 1)]
    found = _balanced(text, tail)
    return found or (_balanced(text, starts[0]) if tail != starts[0] else [])


def _balanced(text: str, begin: int) -> list[_Box]:
    stack: list[tuple[bool, int, int]] = []
    found: list[_Box] = []
    for token in _BRACES.finditer(text, begin):
        kind = token.group()
        if kind == "}":
            if stack:
                is_box, start, inside = stack.pop()
                if is_box:
                    while found and found[-1].start > start:
                        found.pop()
                    found.append(_Box(start, inside, token.end()))
        elif kind[-1] == "{" and kind != "\\{":
            stack.append((kind != "{", token.start(), token.end()))
    return found


def _joined(text: str, begin: int, end: int) -> bool:
    """Return whether what stands between two boxes makes them items of one list."""
    return (
        end - begin <= _MAX_JOINER
        and _JOINER.fullmatch(text, begin, end) is not None
        and _JOINS.search(text, begin, end) is not None
        and _BLANK_LINE.search(text, begin, end) is None
    )


def _filled(text: str, boxes: list[_Box]) -> list[_Box]:
    """Return the boxes that hold an answer; a placeholder counts only where nothing else stands."""
    some = [box for box in boxes if not _BLANK.fullmatch(text, box.inside, box.end - 1)]
    real = [box for box in some if not _PLACEHOLDER.fullmatch(text, box.inside, box.end - 1)]
    return real or some


def _content(text: str, box: _Box) -> str:
    """Return what stands in a box, or in the one box within it."""
    inside = text[box.inside : box.end - 1].strip()
    while (inner := _BOX.match(inside)) and inside.endswith("}"):
        boxes = _balanced(inside, 0)
        if len(boxes) != 1 or boxes[0].end != len(inside):
            break
        inside = inside[inner.end() : -1].strip()
    return inside


def _value(answer: str) -> object:
    """Return what equal answers share: a number's value, or the text without white space."""
    text = re.sub(r"\\[,;:! ]|[\s$~]", "", answer)
    number = re.sub(r"(?<=\d)\{?,\}?(?=\d{3}(?!\d))", "", text)
    if ratio := _RATIO.fullmatch(number):
        number = f"{ratio[1]}{ratio[2]}/{ratio[3]}"
    if _DECIMAL.fullmatch(number):
        try:
            over, _, under = number.partition("/")
            return Fraction(over) / Fraction(under or 1)
        except ZeroDivisionError:
            return text
    return text


class Tag(AnswerFormat):
    """The last complete ``<answer>...</answer>``; Markdown around all of its text is left out."""

    name = "tag"

    def instruction(self) -> str:
        return "Give your final answer between <answer> and </answer>."

    def wrap(self, answer: str) -> str:
        return f"<answer>{answer}</answer>"

    def find(self, text: str) -> Extraction:
        reason = "no complete <answer>...</answer> was found"
        spare: str | None = None
        for inside in tagged(text, "answer"):
            if inside == " and " or _BLANK.fullmatch(inside):
                if inside != " and ":
                    reason = "the answer tag is empty"
            elif _PLACEHOLDER.fullmatch(inside):
                spare = spare or inside
            else:
                return Extraction(_unmarked(inside))
        return Extraction(None, reason) if spare is None else Extraction(spare.strip())


def tagged(text: str, name: str) -> Iterator[str]:
    """Yield what stands in the complete elements of a name, the last one first."""
    opened, closed = f"<{name}>", f"</{name}>"
    end = len(text)
    while (start := text.rfind(opened, 0, end)) >= 0:
        inside = start + len(opened)
        close = text.find(closed, inside, end)
        if close >= 0:
            yield text[inside:close]
        end = start


def _unmarked(text: str) -> str:
    """Return a text without the code fence, emphasis or math signs around all of it."""
    text = text.strip()
    blocks = code_blocks(text)
    if len(blocks) == 1 and blocks[0][2:] == (0, len(text)):
        return blocks[0][1].strip()
    whole = _WRAPPED.fullmatch(text)
    return text if whole is None else (whole[2] or whole[3] or "").strip() or text


# Tags that mean the same language as another.
_TAGS = {
    "py": "python",
    "py3": "python",
    "python3": "python",
    "js": "javascript",
    "node": "javascript",
    "c++": "cpp",
    "cc": "cpp",
    "golang": "go",
    "rs": "rust",
    "rb": "ruby",
    "pl": "perl",
    "sh": "bash",
    "shell": "bash",
    "ml": "ocaml",
    "f90": "fortran",
    "sqlite": "sql",
    "sqlite3": "sql",
    "v": "verilog",
    "sv": "verilog",
    "systemverilog": "verilog",
    "system-verilog": "verilog",
}


@dataclass(frozen=True)
class Fenced(AnswerFormat):
    """The last complete code block of a language, or, if none is tagged, the last untagged one.

    The usual short tags of a language (py, js, c++, ...) count as the language's own.
    """

    language: str
    name = "fenced"

    @property
    def label(self) -> str:
        return f"fenced:{self.language}"

    def instruction(self) -> str:
        return f"Give your final answer as one ```{self.language} code block."

    def wrap(self, answer: str) -> str:
        longest = max((len(run) for run in re.findall(r"`+", answer)), default=0)
        fence = "`" * max(3, longest + 1)
        return f"{fence}{self.language}\n{answer}\n{fence}"

    def find(self, text: str) -> Extraction:
        bodies: dict[bool, str] = {}
        for tag, body, _, _ in code_blocks(text):
            tag = tag.strip("{.}")  # noqa: PLW2901 - Pandoc writes {.python}
            if not tag or _TAGS.get(tag, tag) == self.language.lower():
                bodies[bool(tag)] = body
        chosen = bodies.get(True, bodies.get(False))
        if chosen is None:
            return Extraction(None, f"no complete ```{self.language} code block was found")
        return Extraction(chosen) if chosen.strip() else Extraction(None, "the code block is empty")


class Json(AnswerFormat):
    """The last complete ```json block, or the whole response if it is itself JSON."""

    name = "json"

    def instruction(self) -> str:
        return "Give your final answer as one ```json code block."

    def wrap(self, answer: str) -> str:
        return Fenced("json").wrap(answer)

    def find(self, text: str) -> Extraction:
        block = Fenced("json").find(text).answer
        body = (text if block is None else block).strip()
        try:
            json.loads(body)
        except (ValueError, RecursionError):
            return Extraction(None, "no complete JSON answer was found")
        return Extraction(body)


class Raw(AnswerFormat):
    """The whole response, without its thoughts."""

    name = "raw"

    def instruction(self) -> str:
        return "Reply with your answer alone."

    def wrap(self, answer: str) -> str:
        return answer

    def find(self, text: str) -> Extraction:
        text = text.strip()
        return Extraction(text) if text else Extraction(None, "the response is empty")


_PLAIN: dict[str, type[AnswerFormat]] = {cls.name: cls for cls in (Boxed, Tag, Json, Raw)}
ANSWER_FORMATS = (*_PLAIN, "fenced:<language>")


@lru_cache(maxsize=64)
def answer_format(label: str) -> AnswerFormat:
    """Return the format of a label: boxed, tag, json, raw or ``fenced:<language>``.

    Raises:
        ConfigError: the label names no format.

    Examples:
        >>> import rlvr_envs
        >>> rlvr_envs.answer_format("tag").extract("It is <answer>7</answer>.")
        Extraction(answer='7', reason='')
    """
    if label in _PLAIN:
        return _PLAIN[label]()
    kind, _, language = label.partition(":")
    if kind == "fenced" and re.fullmatch(r"[A-Za-z][\w+#-]*", language):
        return Fenced(language)
    hint = did_you_mean(label, ANSWER_FORMATS)
    raise ConfigError(f"no answer format {label!r}{hint} (known: {', '.join(ANSWER_FORMATS)})")
