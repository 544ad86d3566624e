"""Engines on a server: Search-R1's and ASearcher's retrieval servers over HTTP.

A server that is away, slow or broken raises `RetrievalError`, which an environment books as a
fault of the machine, never as a wrong answer. Ranking is the server's, and so is what it makes of
quotes; a query is cut to the length that every engine reads.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rlvr_envs.core.bounded_http import BoundedClient, NoReply
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.retrieval.base import Document, Hit, RetrievalError, check_k
from rlvr_envs.retrieval.corpus import titled
from rlvr_envs.retrieval.query import clean

_KEPT = 10_000  # pages that were seen and can be opened by id
_MOST_BYTES = 64 * 2**20  # of one reply
_OK = 200
_PAUSE_S = 0.2  # before the second try; each further one waits twice as long


@dataclass(kw_only=True)
class HttpEngine:
    """A Search-R1 compatible retrieval server, with ASearcher's ``/access`` where it has it.

    ``POST /retrieve {"queries": [q], "topk": k, "return_scores": true}`` answers
    ``{"result": [[{"document": {"id", "contents"}, "score"}]]}``; a document without an id is
    known by its ``url``, or else by its title.

    Attributes:
        url: of the server, such as ``http://127.0.0.1:8000``.
        timeout_s: for one request.
        tries: how often a request is made before it counts as failed.
        size: how many documents the server holds, which it does not tell.

    Examples:
        >>> from rlvr_envs.retrieval.remote import HttpEngine
        >>> engine = HttpEngine(url="http://127.0.0.1:8000", timeout_s=5)
        >>> engine.search("capital of France", 3)  # doctest: +SKIP
    """

    url: str
    timeout_s: float = 10.0
    tries: int = 3
    size: int = 0
    _seen: dict[str, Document] = field(default_factory=dict, init=False, repr=False)
    _client: BoundedClient = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise ConfigError(f"url should begin with http:// or https://, got {self.url!r}")
        if not 0 < self.timeout_s < float("inf") or self.tries < 1:
            raise ConfigError(
                f"need timeout_s > 0 and tries >= 1, got {self.timeout_s} and {self.tries}"
            )
        self.url = self.url.rstrip("/")
        self._client = BoundedClient(
            "a search server", timeout_s=self.timeout_s, most_bytes=_MOST_BYTES
        )

    def search(self, query: str, k: int) -> list[Hit]:
        """Return up to ``k`` hits in the order of the server.

        Raises:
            RetrievalError: the server failed or answered something else.
        """
        check_k(k)
        if not query.strip():
            return []
        asked = {"queries": [clean(query)], "topk": k, "return_scores": True}
        reply = self._post("/retrieve", asked)
        try:
            found = [self._hit(item) for item in reply["result"][0][:k]]
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise RetrievalError(
                f"{self.url}/retrieve answered in another form than Search-R1's: {reply!r:.200}"
            ) from error
        return found

    def page(self, document_id: str) -> Document | None:
        """Return a document by its id or address: from ``/access``, or as search last showed it.

        Raises:
            RetrievalError: the server failed or answered something else.
        """
        if document_id in self._seen:
            return self._seen[document_id]
        reply = self._post("/access", {"urls": [clean(document_id)]}, missing=404)
        if reply is None:
            return None
        try:
            page = reply["result"][0]
            contents = page if page is None else page.get("contents", page.get("page"))
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise RetrievalError(
                f"{self.url}/access answered in another form than ASearcher's: {reply!r:.200}"
            ) from error
        if not isinstance(contents, str) or not contents:
            return None
        title, text = titled(contents)
        return Document(document_id, title, text)

    def _hit(self, item: Any) -> Hit:
        # Without scores a server may leave the wrapping out and answer bare documents.
        record = item.get("document", item)
        contents = record.get("contents", record.get("text", ""))
        title = record.get("title")
        title, text = (title, contents) if title is not None else titled(contents)
        known_by = [record.get("id"), record.get("url"), title]
        document_id = next((str(name) for name in known_by if name not in (None, "")), None)
        if document_id is None or not isinstance(title, str) or not isinstance(text, str):
            raise ValueError(f"no document: {record!r:.80}")
        if len(self._seen) >= _KEPT:
            del self._seen[next(iter(self._seen))]
        # What ASearcher's search shows of an address is a passage; the page is at /access.
        if not record.get("url"):
            self._seen[document_id] = Document(document_id, title, text)
        return Hit(str(record.get("url") or document_id), title, float(item.get("score", 0.0)))

    def _post(self, path: str, asked: dict[str, Any], missing: int = 0) -> Any:
        """Return what the server answers; None for the status ``missing``."""

        def once() -> Any:
            reply = self._client.ask_now("POST", self.url + path, asked)
            if reply.status == missing:
                return None
            if reply.status != _OK:
                raise NoReply(f"HTTP {reply.status}: {self._client.quoted(reply.text)}")
            try:
                return reply.json()
            except ValueError as error:
                raise NoReply(f"not JSON: {error}") from error

        return patiently(once, self.url + path, self.tries)

    def __len__(self) -> int:
        return self.size


def patiently(work: Callable[[], Any], where: str, tries: int) -> Any:
    """Return the result of work that is tried again where there is no reply.

    Raises:
        RetrievalError: every try failed.
    """
    for attempt in range(1, tries + 1):
        try:
            return work()
        except NoReply as error:
            if attempt == tries:
                raise RetrievalError(f"{where} failed {tries} times, at last: {error}") from error
            time.sleep(_PAUSE_S * 2 ** (attempt - 1))
    raise ConfigError(f"tries should be at least 1, got {tries}")
