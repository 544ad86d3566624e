"""Engines in a database: Elasticsearch, OpenSearch and Qdrant, each by its own client.

A document has the fields ``title`` and ``text``; its id is the record's. Queries are built from
words and phrases, never handed over as query syntax. A fault raises `RetrievalError`. Ties are by
id among the hits that the database returns; beyond them, ranking is the database's.
"""

import uuid
from collections.abc import Iterable
from importlib import import_module
from itertools import islice
from typing import Any

from rlvr_envs.core.errors import DependencyError
from rlvr_envs.core.extras import pip_install
from rlvr_envs.retrieval import query as queries
from rlvr_envs.retrieval.base import (
    TITLE_BOOST,
    Document,
    Hit,
    RetrievalError,
    check_k,
    ranked,
)
from rlvr_envs.retrieval.dense import Embed, vectors

_BATCH = 256


class ElasticEngine:
    """An index of Elasticsearch or OpenSearch.

    Both speak the same language; `elasticsearch` and `opensearch` make one from an address, and
    the constructor takes a client that is set up otherwise.

    Examples:
        >>> from elasticsearch import Elasticsearch  # doctest: +SKIP
        >>> from rlvr_envs.retrieval.databases import ElasticEngine
        >>> client = Elasticsearch("http://localhost:9200", api_key="…")  # doctest: +SKIP
        >>> engine = ElasticEngine(client, "pages")  # doctest: +SKIP
    """

    def __init__(self, client: Any, index: str) -> None:
        self._client = client
        self._index = index

    def search(self, query: str, k: int) -> list[Hit]:
        """Return up to ``k`` hits, the best first.

        Raises:
            RetrievalError: the database failed.
        """
        check_k(k)
        wanted = queries.read(query)
        if not wanted:
            return []
        body = {
            "query": _elastic_query(wanted),
            "size": k,
            "_source": ["title"],
            "track_scores": True,
        }
        reply = self._call(self._client.search, body=body)
        return ranked(
            (
                Hit(str(hit["_id"]), str(hit["_source"].get("title", "")), float(hit["_score"]))
                for hit in reply["hits"]["hits"]
            ),
            k,
        )

    def page(self, document_id: str) -> Document | None:
        """Return the document with an id, or None.

        Raises:
            RetrievalError: the database failed.
        """
        body = {"query": {"ids": {"values": [queries.clean(document_id)]}}, "size": 1}
        hits = self._call(self._client.search, body=body)["hits"]["hits"]
        if not hits:
            return None
        source = hits[0]["_source"]
        return Document(document_id, str(source.get("title", "")), str(source.get("text", "")))

    def add(self, documents: Iterable[Document]) -> None:
        """Write documents and make them visible to search; an id that is there is replaced.

        Raises:
            RetrievalError: the database failed or refused a document.
        """
        remaining = iter(documents)
        while batch := list(islice(remaining, _BATCH)):
            lines: list[dict[str, Any]] = []
            for document in batch:
                lines.append({"index": {"_id": document.id}})
                lines.append({"title": document.title, "text": document.text})
            reply = self._call(self._client.bulk, body=lines)
            if reply["errors"]:
                raise RetrievalError(f"the index {self._index!r} refused documents: {reply!r:.300}")
        self._call(self._client.indices.refresh)

    def __len__(self) -> int:
        return int(self._call(self._client.count)["count"])

    def _call(self, method: Any, **arguments: Any) -> Any:
        try:
            return method(index=self._index, **arguments)
        except Exception as error:  # the clients share no base class
            raise RetrievalError(
                f"the index {self._index!r} failed: {type(error).__name__}: {error!s:.300}"
            ) from error


def elasticsearch(url: str, index: str, timeout_s: float = 10.0) -> ElasticEngine:
    """Return an engine over an index of Elasticsearch.

    Raises:
        DependencyError: the client is not installed.

    Examples:
        >>> from rlvr_envs.retrieval.base import Document
        >>> from rlvr_envs.retrieval.databases import elasticsearch
        >>> engine = elasticsearch("http://localhost:9200", "pages")  # doctest: +SKIP
        >>> engine.add([Document("1", "Paris", "In France.")])  # doctest: +SKIP
    """
    client = _client("elasticsearch", "elasticsearch")
    return ElasticEngine(client.Elasticsearch(url, request_timeout=timeout_s), index)


def opensearch(url: str, index: str, timeout_s: float = 10.0) -> ElasticEngine:
    """Return an engine over an index of OpenSearch.

    Raises:
        DependencyError: the client is not installed.

    Examples:
        >>> from rlvr_envs.retrieval.databases import opensearch
        >>> engine = opensearch("http://localhost:9200", "pages")  # doctest: +SKIP
        >>> engine.search("France", 3)  # doctest: +SKIP
    """
    client = _client("opensearchpy", "opensearch-py")
    return ElasticEngine(client.OpenSearch(url, timeout=timeout_s), index)


def _elastic_query(wanted: queries.Query) -> dict[str, Any]:
    fields = [f"title^{TITLE_BOOST:g}", "text"]

    def matching(text: str, kind: str) -> dict[str, Any]:
        return {"multi_match": {"query": text, "fields": fields, "type": kind}}

    clauses: dict[str, Any] = {}
    if wanted.phrases:
        clauses["must"] = [matching(" ".join(phrase), "phrase") for phrase in wanted.phrases]
    if wanted.words:
        clauses["should"] = [matching(" ".join(wanted.words), "most_fields")]
    return {"bool": clauses}


class QdrantEngine:
    """A collection of Qdrant, searched by vectors; quotes are part of the text that is embedded.

    Examples:
        >>> from qdrant_client import QdrantClient  # doctest: +SKIP
        >>> from rlvr_envs.retrieval.databases import QdrantEngine
        >>> from rlvr_envs.retrieval.dense import sentence_transformers
        >>> embed = sentence_transformers("all-MiniLM-L6-v2")  # doctest: +SKIP
        >>> engine = QdrantEngine(QdrantClient("localhost"), "pages", embed)  # doctest: +SKIP
    """

    def __init__(self, client: Any, collection: str, embed: Embed) -> None:
        """Take a ``qdrant_client.QdrantClient`` and what maps texts to vectors."""
        self._client = client
        self._collection = collection
        self._embed = embed

    def search(self, query: str, k: int) -> list[Hit]:
        """Return up to ``k`` hits, the best first.

        Raises:
            RetrievalError: the database or the embedder failed.
        """
        check_k(k)
        if not queries.read(query):
            return []
        vector = vectors(self._embed, [queries.clean(query)])[0]
        reply = self._call(
            self._client.query_points,
            query=vector.tolist(),
            limit=k,
            with_payload=["id", "title"],
        )
        return ranked(
            (
                Hit(str(found.payload["id"]), str(found.payload["title"]), float(found.score))
                for found in reply.points
            ),
            k,
        )

    def page(self, document_id: str) -> Document | None:
        """Return the document with an id, or None.

        Raises:
            RetrievalError: the database failed.
        """
        found = self._call(
            self._client.retrieve, ids=[_point(queries.clean(document_id))], with_payload=True
        )
        if not found:
            return None
        payload = found[0].payload
        return Document(document_id, str(payload["title"]), str(payload["text"]))

    def add(self, documents: Iterable[Document]) -> None:
        """Write documents, making the collection where there is none; ids are replaced.

        Raises:
            RetrievalError: the database or the embedder failed.
        """
        models = _client("qdrant_client", "qdrant-client").models
        remaining = iter(documents)
        while batch := list(islice(remaining, _BATCH)):
            rows = vectors(self._embed, [f"{page.title}\n{page.text}" for page in batch])
            if not self._call(self._client.collection_exists):
                size = models.VectorParams(size=rows.shape[1], distance=models.Distance.COSINE)
                self._call(self._client.create_collection, vectors_config=size)
            points = [
                models.PointStruct(
                    id=_point(page.id),
                    vector=row.tolist(),
                    payload={"id": page.id, "title": page.title, "text": page.text},
                )
                for page, row in zip(batch, rows, strict=True)
            ]
            self._call(self._client.upsert, points=points)

    def __len__(self) -> int:
        return int(self._call(self._client.count).count)

    def _call(self, method: Any, **arguments: Any) -> Any:
        try:
            return method(self._collection, **arguments)
        except Exception as error:  # the client raises its transport's errors as they are
            raise RetrievalError(
                f"the collection {self._collection!r} failed: {type(error).__name__}: "
                f"{error!s:.300}"
            ) from error


def qdrant(url: str, collection: str, embed: Embed, timeout_s: int = 10) -> QdrantEngine:
    """Return an engine over a collection of Qdrant; the address ``:memory:`` needs no server.

    Raises:
        DependencyError: the client is not installed.

    Examples:
        >>> from rlvr_envs.retrieval.base import Document
        >>> from rlvr_envs.retrieval.databases import qdrant
        >>> def embed(texts):
        ...     return [[len(text), 1.0] for text in texts]
        >>> engine = qdrant(":memory:", "pages", embed)  # doctest: +SKIP
        >>> engine.add([Document("1", "Paris", "In France.")])  # doctest: +SKIP
    """
    package = _client("qdrant_client", "qdrant-client")
    if url == ":memory:":
        return QdrantEngine(package.QdrantClient(":memory:"), collection, embed)
    # The check of versions is a request from a thread of its own, which warns at any moment.
    client = package.QdrantClient(url=url, timeout=timeout_s, check_compatibility=False)
    return QdrantEngine(client, collection, embed)


def _point(document_id: str) -> str:
    """Return the id of a point, which has to be a number or a UUID."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, document_id))


def _client(module: str, package: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise DependencyError(
            f"this engine needs the package {package!r}, which cannot be imported ({error}): "
            f"{pip_install(package)}"
        ) from error
