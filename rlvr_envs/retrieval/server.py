"""A retrieval server as Search-R1's trainers ask one, over any collection of documents.

``POST /retrieve {"queries": [q, …], "topk": k, "return_scores": true}`` answers
``{"result": [[{"document": {"id": …, "contents": …}, "score": …}, …], …]}``, a list for each query;
without scores the documents stand there bare. The first line of ``contents`` is the title in
quotes, as in wiki-18. ``POST /access {"urls": [id, …]}``, as ASearcher's server has it, answers
``{"result": [{"contents": …} or null, …]}``. `remote.HttpEngine` is a client of it.

It is a server of the standard library with a thread a connection, for one machine: it has no
tokens, and listens to this machine alone unless it is told otherwise.
"""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol, Self

from rlvr_envs.retrieval.base import Document, Hit

MOST_QUERIES = 1_024  # in one request
MOST_HITS = 100  # for one query
_MOST_BYTES = 8 * 2**20  # of a request
_WAIT_S = 30  # for a client that does not send what it announced
_OK, _BAD, _MISSING, _LENGTHLESS, _LARGE = 200, 400, 404, 411, 413


class Collection(Protocol):
    """What is served: a corpus on disk, or the pages of a world."""

    def search(self, query: str, k: int) -> list[Hit]:
        """Return up to ``k`` hits, the best first."""

    def page(self, document_id: str) -> Document | None:
        """Return the document with an id, or None."""


class BadRequest(ValueError):
    """A request that cannot be answered; its text says what was wrong, and what is allowed."""


class RetrievalServer:
    """A server of a collection.

    It listens as soon as it is made, and answers within `serve`, or while it is used as a context
    manager, in a thread of its own.

    Attributes:
        url: where it is asked.

    Args:
        collection: the documents.
        host: the address to listen on.
        port: 0 for any that is free.
        topk: hits for each query of a request that does not say how many.

    Raises:
        OSError: the port is taken, or the address is none of this machine.

    Examples:
        >>> from rlvr_envs.retrieval.server import RetrievalServer
        >>> class Empty:
        ...     def search(self, query, k):
        ...         return []
        ...
        ...     def page(self, document_id):
        ...         return None
        >>> with RetrievalServer(Empty()) as server:
        ...     server.url.startswith("http://127.0.0.1:")
        True
    """

    def __init__(
        self, collection: Collection, host: str = "127.0.0.1", port: int = 0, topk: int = 3
    ) -> None:
        routes = {
            "/retrieve": lambda asked: _retrieved(collection, asked, topk),
            "/access": lambda asked: _accessed(collection, asked),
        }
        self._http = ThreadingHTTPServer((host, port), _handler(routes))
        self._http.daemon_threads = True
        self._thread: threading.Thread | None = None
        self.url = f"http://{host}:{self._http.server_port}"

    def serve(self) -> None:
        """Answer requests until `close` is called from another thread, or an interrupt."""
        self._http.serve_forever()

    def close(self) -> None:
        """Stop answering, and free the port."""
        if self._thread is not None:
            self._http.shutdown()
            self._thread.join()
        self._http.server_close()

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def contents(document: Document) -> str:
    """Return a document as one text: its title in quotes on the first line, as in wiki-18."""
    return f'"{" ".join(document.title.split())}"\n{document.text}'


def _retrieved(collection: Collection, asked: dict[str, Any], topk: int) -> list[Any]:
    queries = _texts(asked, "queries")
    count = asked.get("topk")
    if count is None:
        count = topk
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_HITS:
        raise BadRequest(f"topk is a whole number from 1 to {MOST_HITS}, got {count!r:.80}")
    scored = asked.get("return_scores", False)
    if not isinstance(scored, bool):
        raise BadRequest(f"return_scores is true or false, got {scored!r:.80}")
    return [_found(collection, query, count, scored=scored) for query in queries]


def _found(collection: Collection, query: str, count: int, *, scored: bool) -> list[Any]:
    listed: list[Any] = []
    for hit in collection.search(query, count) if query.strip() else []:
        page = collection.page(hit.id)
        if page is not None:
            document = {"id": hit.id, "contents": contents(page)}
            listed.append({"document": document, "score": hit.score} if scored else document)
    return listed


def _accessed(collection: Collection, asked: dict[str, Any]) -> list[Any]:
    pages = [collection.page(each) for each in _texts(asked, "urls")]
    return [None if page is None else {"contents": contents(page)} for page in pages]


def _texts(asked: dict[str, Any], name: str) -> list[str]:
    texts = asked.get(name)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise BadRequest(f"{name} is a list of texts, got {texts!r:.80}")
    if len(texts) > MOST_QUERIES:
        raise BadRequest(f"{name} has at most {MOST_QUERIES} texts, got {len(texts)}")
    return texts


_Routes = dict[str, Callable[[dict[str, Any]], list[Any]]]


def _handler(routes: _Routes) -> type[BaseHTTPRequestHandler]:
    """Make the class that answers the requests of one server."""

    class Handler(BaseHTTPRequestHandler):
        timeout = _WAIT_S

        def do_POST(self) -> None:
            status, answer = self._answer()
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _answer(self) -> tuple[int, dict[str, Any]]:
            route = routes.get(self.path.split("?")[0])
            if route is None:
                known = ", ".join(routes)
                return _MISSING, {"detail": f"no path {self.path!r:.80}: there are {known}"}
            length = self.headers.get("Content-Length", "")
            if not (length.isascii() and length.isdigit() and len(length) < 20):
                return _LENGTHLESS, {"detail": "a request needs its Content-Length"}
            if int(length) > _MOST_BYTES:
                return _LARGE, {"detail": f"a request has at most {_MOST_BYTES} bytes"}
            try:
                asked = json.loads(self.rfile.read(int(length)))
                if not isinstance(asked, dict):
                    raise BadRequest("a request is a JSON object")
                return _OK, {"result": route(asked)}
            except (ValueError, RecursionError) as error:
                told = str(error) if isinstance(error, BadRequest) else "the request is not JSON"
                return _BAD, {"detail": told}

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
            """Keep still: the library prints nothing."""

    return Handler
