"""Answer formats: the one place that words the instruction and extracts the answer.

Common rules. Only text after the last ``</think>`` counts, and nothing after a ``<think>`` that
never closes. The last complete final answer counts. Text around the answer earns nothing. Time
is linear in the length of the text, whatever the text.
"""

import json
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple

from rlvr_envs.core.errors import ConfigError, did_you_mean

MAX_BOXES = 8  # more boxes joined into one answer than this is spraying, not answering

_BOX = re.compile(r"\\(?:boxed|fbox)\s*+\{")
_LONE_BOX = re.compile(  # braces nested once at most
    r"\\boxed\{((?:[^{}\\]|\\[^{}]|\{(?:[^{}\\]|\\[^{}])*\})+)\}"
)
_BRACES = re.compile(r"\\(?:boxed|fbox)\s*+\{|\\.|[{}]", re.DOTALL)
_JOINER = re.compile(r"(?:[\s$,;.~\\()\[\]]|\\q?quad\b|\band\b|\bor\b|\\text\{\s*(?:and|or)\s*\})*")
# Possessive quantifiers: a hostile line cannot make the match quadratic.
_FENCE = re.compile(r"^ {0,3}+(`{3,}+|~{3,}+)[ \t]*+([^\s`]*+)[^\n`]*+$", re.MULTILINE)


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
        return self.find(spoken(response))

    @abstractmethod
    def find(self, text: str) -> Extraction:
        """Find the final answer in a response without its thoughts."""


def spoken(response: str) -> str:
    """Return the response without its thoughts."""
    close = response.rfind("</think>")
    if close >= 0:
        response = response[close + len("</think>") :]
    opened = response.find("<think>")
    return response if opened < 0 else response[:opened]


class Boxed(AnswerFormat):
    r"""The last balanced ``\boxed{...}``; boxes joined only by commas or "and" are one list."""

    name = "boxed"

    def instruction(self) -> str:
        return r"Put your final answer in \boxed{}."

    def wrap(self, answer: str) -> str:
        return f"\\boxed{{{answer}}}"

    def find(self, text: str) -> Extraction:
        if text.count("box") == 1:  # as in most responses: nothing nested, nothing to join
            lone = _LONE_BOX.search(text)
            if lone is not None and (answer := lone[1].strip()):
                return Extraction(answer)
        boxes = _outer_boxes(text)
        if not boxes:
            return Extraction(None, r"no complete \boxed{} was found")
        run = [boxes[-1]]
        for box in reversed(boxes[:-1]):
            if not _JOINER.fullmatch(text, box.end, run[-1].start):
                break
            run.append(box)
            if len(run) > MAX_BOXES:
                return Extraction(None, f"more than {MAX_BOXES} boxed answers stand side by side")
        answers = [text[box.inside : box.end - 1].strip() for box in reversed(run)]
        distinct = list(dict.fromkeys(answers))
        if not all(distinct):
            return Extraction(None, r"the \boxed{} is empty")
        return Extraction(", ".join(distinct))


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


class Tag(AnswerFormat):
    """The last complete ``<answer>...</answer>``."""

    name = "tag"

    def instruction(self) -> str:
        return "Give your final answer between <answer> and </answer>."

    def wrap(self, answer: str) -> str:
        return f"<answer>{answer}</answer>"

    def find(self, text: str) -> Extraction:
        close = text.rfind("</answer>")
        start = text.rfind("<answer>", 0, max(close, 0))
        if start < 0:
            return Extraction(None, "no complete <answer>...</answer> was found")
        answer = text[start + len("<answer>") : close].strip()
        return Extraction(answer) if answer else Extraction(None, "the answer tag is empty")


# Tags that mean the same language as another.
_TAGS = {
    "py": "python",
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
    "v": "verilog",
    "sv": "verilog",
    "systemverilog": "verilog",
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
        tagged: str | None = None
        untagged: str | None = None
        opened: re.Match[str] | None = None
        for fence in _FENCE.finditer(text):
            if opened is None:
                opened = fence
            elif not fence[2] and fence[1].startswith(opened[1]):
                body = text[opened.end() + 1 : max(opened.end() + 1, fence.start() - 1)]
                tag = opened[2].lower()
                if _TAGS.get(tag, tag) == self.language.lower():
                    tagged = body
                elif not opened[2]:
                    untagged = body
                opened = None
        chosen = tagged if tagged is not None else untagged
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
    """
    if label in _PLAIN:
        return _PLAIN[label]()
    kind, _, language = label.partition(":")
    if kind == "fenced" and re.fullmatch(r"[A-Za-z][\w+#-]*", language):
        return Fenced(language)
    hint = did_you_mean(label, ANSWER_FORMATS)
    raise ConfigError(f"no answer format {label!r}{hint} (known: {', '.join(ANSWER_FORMATS)})")
