r"""Files of questions with answers: which columns hold them, and what the answer of a cell is.

Columns are recognised by name, whatever the case: GSM8K (``question``, ``answer`` that ends in
``#### 42``), MATH-500 and AIME (``problem``, ``answer``; else the last ``\boxed{}`` of
``solution``), DeepMath (``question``, ``final_answer``) and question with ``gold``. Columns of a
difficulty, a topic, a worked solution and a measured pass rate are kept where a file has them.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.errors import ConfigError, did_you_mean, did_you_mean_path
from rlvr_envs.core.tables import Entry, Refused, RowFile, entries, read_rows
from rlvr_envs.verifiers.symbolic import compile_gold

QUESTION_COLUMNS = ("question", "problem", "prompt", "query")
ANSWER_COLUMNS = ("final_answer", "gold", "expected_answer", "answer", "solution")
DIFFICULTY_COLUMNS = ("difficulty", "level")
TOPIC_COLUMNS = ("topic", "subject", "type", "category")
SOLUTION_COLUMNS = ("solution", "rationale", "r1_solution_1")
PASS_RATE_COLUMNS = ("pass_rate", "solve_rate", "pass@1")

_MARKER = "####"
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its answer, the place where they stand, and what else the file says of it.

    Attributes:
        place: file and line.
        text: the question.
        gold: the answer.
        difficulty: as the file has it, such as ``Level 3``; "" if it says nothing.
        topic: likewise.
        solution: a worked solution, likewise.
        pass_rate: the share of attempts of some model that were right, if it was measured.
    """

    place: str
    text: str
    gold: str
    difficulty: str = ""
    topic: str = ""
    solution: str = ""
    pass_rate: float | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """Which questions of a file are served; an empty tuple and None leave all.

    Attributes:
        difficulties: what their difficulty may be.
        topics: what their topic may be.
        pass_rate: the least and the largest pass rate; questions without one are left out.
    """

    difficulties: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    pass_rate: tuple[float, float] | None = None

    def takes(self, question: Question) -> bool:
        """Whether a question is served."""
        if self.difficulties and question.difficulty not in self.difficulties:
            return False
        if self.topics and question.topic not in self.topics:
            return False
        if self.pass_rate is None:
            return True
        low, high = self.pass_rate
        return question.pass_rate is not None and low <= question.pass_rate <= high


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a file holds its questions, and how its answers are to be read."""

    path: Path  # the file
    question_column: str | None  # its column of questions; None recognises it
    answer_column: str | None  # its column of answers; None recognises it
    answer_type: str | None  # of all answers; None reads it off each
    choice: Choice = Choice()  # which of the questions are served


def load(layout: Layout) -> RowFile[Question]:
    """Return what a file holds, from a cache while the file has not changed.

    Raises:
        ConfigError: there is no such file or column, a line cannot be read, or there are no rows.
    """
    if not layout.path.is_file():
        hint = did_you_mean_path(layout.path)
        raise ConfigError(f"MathDataset: there is no file {str(layout.path)!r}{hint}")
    state = layout.path.stat()
    return _load(layout, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=8)
def _load(layout: Layout, modified_ns: int, size: int) -> RowFile[Question]:
    columns: tuple[str, str] | None = None

    def pose(entry: Entry) -> Question | Refused:
        nonlocal columns
        if columns is None:  # the first row tells which there are
            columns = _columns(layout, list(entry.data))
        return _question(entry, columns, layout.answer_type)

    found = read_rows(layout.path, entries(layout.path), pose)
    chosen = tuple(filter(layout.choice.takes, found.rows))
    if found.rows and not chosen:
        raise ConfigError(
            f"no question of {str(layout.path)!r} is left by {layout.choice}; it has the "
            f"difficulties {_some(q.difficulty for q in found.rows)} and the topics "
            f"{_some(q.topic for q in found.rows)}"
        )
    return replace(found, rows=chosen)


def _some(values: Iterable[str]) -> str:
    """Return the values that occur, at most ten of them."""
    seen = sorted(set(values) - {""})
    return ", ".join(map(repr, seen[:10])) + ", …" * (len(seen) > 10) if seen else "(none)"


def _columns(layout: Layout, present: Sequence[str]) -> tuple[str, str]:
    return (
        _column(layout, "question_column", QUESTION_COLUMNS, present),
        _column(layout, "answer_column", ANSWER_COLUMNS, present),
    )


def _column(layout: Layout, knob: str, known: Sequence[str], present: Sequence[str]) -> str:
    wanted: str | None = getattr(layout, knob)
    if wanted is not None:
        if wanted in present:
            return wanted
        raise ConfigError(
            f"{str(layout.path)!r} has no column {wanted!r}{did_you_mean(wanted, present)} "
            f"(columns: {', '.join(present)})"
        )
    by_name = {name.lower(): name for name in reversed(present)}
    for name in known:
        if name in by_name:
            return by_name[name]
    raise ConfigError(
        f"no column of {str(layout.path)!r} is known to hold the {knob.partition('_')[0]}: set "
        f"{knob}= to one of {', '.join(present)}"
    )


def _question(entry: Entry, columns: tuple[str, str], kind: str | None) -> Question | Refused:
    text, gold = (entry.data.get(column) for column in columns)
    if not isinstance(text, str) or not text.strip():
        return Refused(entry.place, f"{columns[0]!r} is no text: {text!r:.60}")
    answer = read_gold(gold)
    if answer is None:
        return Refused(entry.place, f"{columns[1]!r} holds no answer: {gold!r:.60}")
    if not (_is_unicode(text) and _is_unicode(answer)):
        return Refused(entry.place, "the text holds half a surrogate pair, which is no character")
    compiled = compile_gold(answer, answer_type=kind)
    if not compiled.verifiable:
        return Refused(
            entry.place, f"the answer {answer!r:.60} cannot be judged: {compiled.reason}"
        )
    return Question(entry.place, text, answer, *_details(entry.data, set(columns)))


def _details(data: Mapping[str, Any], taken: set[str]) -> tuple[str, str, str, float | None]:
    """Return difficulty, topic, solution and pass rate of a row, as far as it has them."""
    names = {name.lower(): name for name in reversed(list(data)) if name not in taken}
    found = []
    for known in (DIFFICULTY_COLUMNS, TOPIC_COLUMNS, SOLUTION_COLUMNS, PASS_RATE_COLUMNS):
        cell = next((data[names[name]] for name in known if name in names), None)
        found.append("" if cell is None else str(cell))
    *texts, rate = (text if _is_unicode(text) else "" for text in found)
    try:
        return texts[0], texts[1], texts[2], float(rate)
    except ValueError:
        return texts[0], texts[1], texts[2], None


def read_gold(cell: Any) -> str | None:
    r"""Return the answer in a cell: after ``####``, in the last ``\boxed{}``, or all of it.

    A number is written out; a list of one, as OlympiadBench has it, is its item.
    """
    if isinstance(cell, list) and len(cell) == 1:
        cell = cell[0]
    if isinstance(cell, (int, float)) and not isinstance(cell, bool):
        return str(cell) if math.isfinite(cell) else None
    if not isinstance(cell, str):
        return None
    _, marker, last = cell.rpartition(_MARKER)
    if marker:
        return _THOUSANDS.sub("", last.strip()) or None
    if _BOX.search(cell):
        return answer_format("boxed").extract(cell).answer
    return cell.strip() or None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
