"""What an engine is: documents in, ranked hits out.

Ranking is the same across processes, rebuilds and load: scores that differ by less than what
floating-point sums in another order would make of them are equal, and equals are in the order of
their ids. `rlvr_envs.retrieval.query` says how a query is read.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from rlvr_envs.core.errors import ConfigError, RlvrEnvsError

MAX_HITS = 1_000

# BM25 in the two fields of a document, added up; a word of the title counts for more.
K1 = 1.2
B = 0.75
TITLE_BOOST = 2.0

_EQUAL = 1e-5  # relative: sums of 32 numbers in single precision are within a few 1e-6
_DIGITS = 4  # of the scores that are shown


class RetrievalError(RlvrEnvsError):
    """An engine or its server failed; the fault is not the answer's.

    Examples:
        >>> from rlvr_envs.retrieval.dense import vectors
        >>> vectors(lambda texts: [], ["Paris"])
        Traceback (most recent call last):
            ...
        rlvr_envs.retrieval.base.RetrievalError: the embedder should give 1 rows of finite numbers,
        got an array of shape (0,)
    """


@dataclass(frozen=True, slots=True)
class Document:
    """A document to index.

    Attributes:
        id: what it is opened by; no two documents share one.
        title: indexed, and counts for more than the text.
        text: what is indexed beside the title.

    Examples:
        >>> from rlvr_envs.retrieval.base import Document
        >>> from rlvr_envs.retrieval.engines import build
        >>> engine = build([Document(id="1", title="Paris", text="The capital of France.")], "bm25")
        >>> engine.search("France", 3)[0].title
        'Paris'
    """

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found; the score ranks the hits of one query and means nothing else.

    Examples:
        >>> from rlvr_envs.retrieval.base import Document, Hit
        >>> from rlvr_envs.retrieval.engines import build
        >>> engine = build([Document("1", "Paris", "The capital of France.")], "bm25")
        >>> hits: list[Hit] = engine.search("paris", 3)
        >>> hits[0].id, hits[0].title
        ('1', 'Paris')
    """

    id: str
    title: str
    score: float


class Engine(Protocol):
    """An index that can be searched; it is shared by environments and never changes.

    Examples:
        >>> from rlvr_envs.retrieval.base import Engine, Hit
        >>> class Nothing:
        ...     def search(self, query: str, k: int) -> list[Hit]:
        ...         return []
        >>> engine: Engine = Nothing()
    """

    def search(self, query: str, k: int) -> list[Hit]:
        """Return up to ``k`` hits, the best first, equals by id; any text is a query.

        Raises:
            ConfigError: ``k`` is not in 1..`MAX_HITS`.
            RetrievalError: the engine or its server failed.
        """

    def __len__(self) -> int:
        """Return the number of documents."""


def check_k(k: int) -> int:
    """Return the number of hits asked for.

    Raises:
        ConfigError: it is not in 1..`MAX_HITS`.

    Examples:
        >>> from rlvr_envs.retrieval.base import check_k
        >>> check_k(5)
        5
        >>> check_k(0)
        Traceback (most recent call last):
            ...
        rlvr_envs.core.errors.ConfigError: k should be an integer in 1..1000, got 0
    """
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= MAX_HITS:
        raise ConfigError(f"k should be an integer in 1..{MAX_HITS}, got {k!r}")
    return k


def ranked(hits: Iterable[Hit], k: int) -> list[Hit]:
    """Return the best ``k`` hits; scores that differ by rounding only are made equal.

    Examples:
        >>> from rlvr_envs.retrieval.base import Hit, ranked
        >>> hits = [Hit("b", "B", 1.0), Hit("a", "A", 1.0), Hit("c", "C", 2.0)]
        >>> [hit.id for hit in ranked(hits, 2)]
        ['c', 'a']
    """
    level = top = float("nan")
    levelled = []
    for hit in sorted(hits, key=lambda hit: -hit.score):
        if not hit.score >= level - abs(level) * _EQUAL:
            top = round(hit.score, _DIGITS)
        level = hit.score
        levelled.append(Hit(hit.id, hit.title, top))
    levelled.sort(key=lambda hit: (-hit.score, hit.id))
    return levelled[:k]


def lowest(score: float) -> float:
    """Return the lowest score of hits that may share a rank with a hit of this score.

    Examples:
        >>> from rlvr_envs.retrieval.base import lowest
        >>> lowest(2.0) < 2.0
        True
    """
    return score - abs(score) * _EQUAL - 10.0**-_DIGITS
