r"""Files of questions with answers: which columns hold them, and what the answer of a cell is.

Columns are recognised by name, whatever the case: GSM8K (``question``, ``answer`` that ends in
``#### 42``), MATH-500 and AIME (``problem``, ``answer``; else the last ``\boxed{}`` of
``solution``), DeepMath (``question``, ``final_answer``) and question with ``gold``.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.errors import ConfigError, did_you_mean
from rlvr_envs.core.tables import Entry, Refused, RowFile, entries, read_rows
from rlvr_envs.verifiers.symbolic import compile_gold

QUESTION_COLUMNS = ("question", "problem", "prompt", "query")
ANSWER_COLUMNS = ("final_answer", "gold", "expected_answer", "answer", "solution")

_MARKER = "####"
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its answer, and the place where they stand."""

    place: str
    text: str
    gold: str


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a file holds its questions, and how its answers are to be read.

    Attributes:
        path: the file.
        question_column: its column of questions; None recognises it.
        answer_column: its column of answers; None recognises it.
        answer_type: of all answers; None reads it off each.
    """

    path: Path
    question_column: str | None
    answer_column: str | None
    answer_type: str | None


def load(layout: Layout) -> RowFile[Question]:
    """Return what a file holds, from a cache while the file has not changed.

    Raises:
        ConfigError: there is no such file or column, a line cannot be read, or there are no rows.
    """
    if not layout.path.is_file():
        raise ConfigError(f"MathDataset: there is no file {str(layout.path)!r}")
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

    return read_rows(layout.path, entries(layout.path), pose)


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
    return Question(entry.place, text, answer)


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
