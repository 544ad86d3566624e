"""Dense retrieval: the cosine between vectors, exact over all documents.

Vectors come from any callable that maps texts to rows of numbers, such as a client of an embedding
server, or from a model of sentence-transformers. They rank; a quoted phrase still has to be there.
Ranking is as reproducible as the vectors are: the same on one machine and model, not on others.
"""

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from rlvr_envs.core.errors import ConfigError, DependencyError
from rlvr_envs.core.extras import pip_install
from rlvr_envs.retrieval import query as queries
from rlvr_envs.retrieval.base import Document, Hit, RetrievalError, check_k, lowest, ranked
from rlvr_envs.retrieval.texts import Lookup, Texts

Embed = Callable[[Sequence[str]], Any]
"""Maps texts to as many rows of equally many numbers: an array, or lists of floats.

Examples:
    >>> from rlvr_envs.retrieval.dense import Embed
    >>> embed: Embed = lambda texts: [[len(text), text.count(" ")] for text in texts]
"""

_BATCH = 256


class DenseEngine:
    """An engine over the vectors of documents, in memory.

    Examples:
        >>> from rlvr_envs.retrieval.base import Document
        >>> from rlvr_envs.retrieval.dense import DenseEngine
        >>> def embed(texts):
        ...     return [[text.count("a"), text.count("e")] for text in texts]
        >>> documents = [Document("1", "Panama", "A canal."), Document("2", "Erie", "Lake")]
        >>> DenseEngine(documents, embed).search("banana", 1)[0].title
        'Panama'
    """

    def __init__(self, documents: Iterable[Document], embed: Embed) -> None:
        """Embed documents, which are gone through once, title and text together.

        Raises:
            ConfigError: two documents share an id.
            RetrievalError: the callable failed or gave no vectors.
        """
        held = list(documents)
        self._embed = embed
        self._ids = Texts.of(document.id for document in held)
        Lookup.of(self._ids)
        self._titles = Texts.of(document.title for document in held)
        # The words between spaces, where a phrase is found by its words between spaces.
        self._words = Texts.of(f" {_plain(doc.title)} | {_plain(doc.text)} " for doc in held)
        texts = [f"{document.title}\n{document.text}" for document in held]
        batches = [texts[at : at + _BATCH] for at in range(0, len(texts), _BATCH)]
        blocks = [vectors(embed, batch) for batch in batches]
        self._vectors = np.concatenate(blocks) if blocks else np.zeros((0, 0), np.float32)

    def search(self, query: str, k: int) -> list[Hit]:
        """Return up to ``k`` hits, the best first, equals by id.

        Raises:
            RetrievalError: the callable failed or gave no vector.
        """
        check_k(k)
        wanted = queries.read(query)
        if not wanted or not len(self):
            return []
        vector = vectors(self._embed, [queries.clean(query)])[0]
        if vector.shape != self._vectors.shape[1:]:
            raise RetrievalError(
                f"the query's vector has {len(vector)} numbers, the documents' have "
                f"{self._vectors.shape[1]}: one model should make both"
            )
        scores = (self._vectors @ vector).astype(np.float64)
        docs = np.arange(len(scores))
        for phrase in wanted.phrases:
            text = f" {' '.join(phrase)} "
            docs = np.array([doc for doc in docs.tolist() if text in self._words[doc]], np.int64)
        if len(docs) > k:
            within = scores[docs]
            docs = docs[within >= lowest(float(np.partition(within, -k)[-k]))]
        return ranked((Hit(self._ids[d], self._titles[d], scores[d]) for d in docs.tolist()), k)

    def __len__(self) -> int:
        return len(self._ids)


def vectors(embed: Embed, texts: Sequence[str]) -> Any:
    """Return one row of length 1 for each text.

    Raises:
        RetrievalError: the callable failed or gave something else.

    Examples:
        >>> from rlvr_envs.retrieval.dense import vectors
        >>> vectors(lambda texts: [[3.0, 4.0] for _ in texts], ["Paris"])
        array([[0.6, 0.8]], dtype=float32)
    """
    try:
        rows = np.asarray(embed(texts), np.float32)
    except Exception as error:
        raise RetrievalError(f"the embedder failed: {type(error).__name__}: {error}") from error
    if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
        raise RetrievalError(
            f"the embedder should give {len(texts)} rows of finite numbers, got an array of shape "
            f"{rows.shape}"
        )
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def sentence_transformers(model: str, device: str = "cpu") -> Embed:
    """Return a callable that embeds with a model of sentence-transformers.

    Args:
        model: a name or a folder.
        device: where it runs, such as ``cpu`` or ``cuda``.

    Raises:
        DependencyError: sentence-transformers is not installed.
        ConfigError: there is no such model.

    Examples:
        >>> from rlvr_envs.retrieval.dense import sentence_transformers
        >>> embed = sentence_transformers("all-MiniLM-L6-v2")  # doctest: +SKIP
        >>> embed(["the capital of France"]).shape  # doctest: +SKIP
        (1, 384)
    """
    try:
        package = import_module("sentence_transformers")
    except ImportError as error:
        raise DependencyError(
            f"dense retrieval needs the package 'sentence-transformers', which cannot be imported "
            f"({error}): {pip_install('sentence-transformers')}, or pass a callable that embeds"
        ) from error
    try:
        loaded = package.SentenceTransformer(model, device=device)
    except (OSError, ValueError) as error:
        raise ConfigError(f"the model {model!r} cannot be loaded: {error}") from error
    return lambda texts: loaded.encode(list(texts), show_progress_bar=False)


def _plain(text: str) -> str:
    return " ".join(queries.words(text))
