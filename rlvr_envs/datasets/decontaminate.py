"""Decontamination: questions that overlap with benchmarks stay out of a dataset.

Two texts overlap when they are equal after normalisation, or share a run of 13 words, the length
that is customary since GPT-3. Normalisation folds case, Unicode forms and everything that is not
a letter or a digit. A question of fewer than 13 words can only be caught by equality.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

from rlvr_envs.core.errors import ConfigError, did_you_mean_path
from rlvr_envs.core.tables import entries

NGRAM = 13
QUESTION_COLUMNS = ("question", "problem", "prompt", "input", "query", "text")
_WORD = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    """Return the normalised words of a text."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


class Benchmarks:
    """The texts of benchmarks, ready to be compared with questions.

    Args:
        texts: the questions of the benchmarks.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._marks: set[bytes] = set()
        for text in texts:
            self._marks.update(_marks(words(text)))

    @classmethod
    def from_files(cls, paths: Iterable[Path]) -> "Benchmarks":
        """Return the benchmarks of text files (a question a line), JSONL or Parquet files.

        Raises:
            ConfigError: a file is missing, or has a bad line or no column of questions.
        """
        return cls(text for path in paths for text in _texts(path))

    def overlap(self, question: str) -> bool:
        """Return whether a question overlaps with a benchmark."""
        return any(mark in self._marks for mark in _marks(words(question)))


def _marks(found: list[str]) -> Iterator[bytes]:
    """Return digests of the whole text and of its runs of words."""
    if found:
        yield _digest("=" + " ".join(found))
    for start in range(len(found) - NGRAM + 1):
        yield _digest(" ".join(found[start : start + NGRAM]))


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _texts(path: Path) -> Iterator[str]:
    if path.suffix == ".txt":
        if not path.is_file():
            raise ConfigError(f"there is no file {str(path)!r}{did_you_mean_path(path)}")
        yield from path.read_text(encoding="utf-8").split("\n")
        return
    for entry in entries(path):
        if entry.fault:
            raise ConfigError(f"{entry.place}: {entry.fault}")
        text = next((entry.data[k] for k in QUESTION_COLUMNS if entry.data.get(k)), None)
        if not isinstance(text, str):
            raise ConfigError(
                f"{entry.place}: no text in any of the columns {', '.join(QUESTION_COLUMNS)} "
                f"(found: {', '.join(entry.data)})"
            )
        yield text
