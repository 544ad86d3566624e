import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from rlvr_envs.core.errors import ConfigError, DependencyError
from rlvr_envs.retrieval import remote
from rlvr_envs.retrieval.base import Document, RetrievalError
from rlvr_envs.retrieval.engines import build
from rlvr_envs.retrieval.remote import HttpEngine

pytest.importorskip("httpx", reason="the extra 'report' is not installed")


class Server:
    """A server on this machine whose replies a test writes."""

    def __init__(self):
        self.asked = []
        self.reply = lambda path, data: (200, {})
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                data = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.asked.append((self.path, data))
                status, answer = server.reply(self.path, data)
                body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                try:
                    self.wfile.write(body)
                except OSError:
                    server.asked.append(("left", None))

            def log_message(self, *told):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.01,))
        self.thread.start()

    def close(self):
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(remote, "_PAUSE_S", 0.0)
    server = Server()
    yield server
    server.close()


def search_r1(documents):
    """Answer as Search-R1's retrieval server does."""
    engine = build(documents, "bm25")
    pages = {page.id: page for page in documents}

    def reply(path, data):
        found = [
            [
                {
                    "document": {
                        "id": hit.id,
                        "contents": f'"{hit.title}"\n{pages[hit.id].text}',
                    },
                    "score": hit.score,
                }
                for hit in engine.search(query, data["topk"])
            ]
            for query in data["queries"]
        ]
        return 200, {"result": found}

    return reply


def test_search_r1(server, documents):
    server.reply = search_r1(documents)
    engine = HttpEngine(url=server.url + "/", size=len(documents))
    query = documents[4].text
    assert engine.search(query, 5) == build(documents, "bm25").search(query, 5)
    asked = {"queries": [query], "topk": 5, "return_scores": True}
    assert server.asked == [("/retrieve", asked)]
    assert engine.page(documents[4].id) == documents[4]  # search showed it: no request
    assert len(server.asked) == 1
    assert len(engine) == len(documents)


def test_asearcher(server):
    pages = {"http://x/1": '"Ost Vor"\nThe whole page.', "http://x/2": ""}

    def reply(path, data):
        if path == "/access":
            found = [{"contents": pages[url]} if url in pages else None for url in data["urls"]]
            return 200, {"result": found}
        item = {"url": "http://x/1", "contents": '"Ost Vor"\nA passage.', "id": "17"}
        return 200, {"result": [[{"document": item, "score": 2}]]}

    server.reply = reply
    engine = HttpEngine(url=server.url)
    (hit,) = engine.search("ost", 3)
    assert (hit.id, hit.title, hit.score) == ("http://x/1", "Ost Vor", 2.0)
    assert engine.page(hit.id) == Document("http://x/1", "Ost Vor", "The whole page.")
    assert engine.page("http://x/2") is None
    assert engine.page("http://x/3") is None


def test_a_server_without_access_has_only_what_search_showed(server):
    server.reply = lambda path, data: (404, {"detail": "Not Found"})
    assert HttpEngine(url=server.url).page("a") is None


def test_documents_without_scores_or_ids(server):
    server.reply = lambda path, data: (200, {"result": [[{"contents": '"T"\nx'}, {"title": "U"}]]})
    hits = HttpEngine(url=server.url).search("q", 3)
    assert [(hit.id, hit.title, hit.score) for hit in hits] == [("T", "T", 0.0), ("U", "U", 0.0)]


def test_no_more_hits_than_asked_for(server):
    server.reply = lambda path, data: (200, {"result": [[{"title": str(n)} for n in range(99)]]})
    assert len(HttpEngine(url=server.url).search("q", 3)) == 3


def test_hostile_queries_are_sent_short_and_whole(server):
    server.reply = lambda path, data: (200, {"result": [[]]})
    engine = HttpEngine(url=server.url)
    for query in ("\ud800", "x" * 10**6, '"' * 9999, "\x00\r\nHost: elsewhere", "🐟" * 5000):
        assert engine.search(query, 3) == []
        assert len(server.asked[-1][1]["queries"][0]) <= 2000
    asked = len(server.asked)
    assert engine.search(" \n", 3) == []
    assert len(server.asked) == asked


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (500, {"detail": "broken"}),
        (404, {}),
        (200, b"<html>"),
        (200, b"\xff\xfe\xff"),
        (200, b"[" * 100_000),
        (200, {}),
        (200, []),
        (200, {"result": []}),
        (200, {"result": [{}]}),
        (200, {"result": [["text"]]}),
        (200, {"result": [[{"document": None}]]}),
        (200, {"result": [[{"document": {}, "score": 1}]]}),
        (200, {"result": [[{"document": {"id": "a", "contents": 5}, "score": 1}]]}),
        (200, {"result": [[{"document": {"id": "a", "contents": "x"}, "score": "high"}]]}),
        (302, {}),
    ],
)
def test_a_broken_server_is_a_fault(server, status, answer):
    server.reply = lambda path, data: (status, answer)
    with pytest.raises(RetrievalError, match="/retrieve"):
        HttpEngine(url=server.url).search("q", 3)


def test_a_broken_page_is_a_fault(server):
    for answer in ({}, {"result": "x"}, {"result": [5]}, b"?"):
        server.reply = lambda path, data, answer=answer: (200, answer)
        with pytest.raises(RetrievalError, match="/access"):
            HttpEngine(url=server.url).page("a")


def test_a_passing_fault_is_tried_again(server):
    answers = [(503, {}), (200, b"?"), (200, {"result": [[{"title": "T"}]]})]
    server.reply = lambda path, data: answers.pop(0)
    assert [hit.id for hit in HttpEngine(url=server.url).search("q", 3)] == ["T"]
    server.reply = lambda path, data: (503, {})
    before = len(server.asked)
    with pytest.raises(RetrievalError, match="failed 2 times, at last: HTTP 503"):
        HttpEngine(url=server.url, tries=2).search("q", 3)
    assert len(server.asked) == before + 2


def test_a_slow_server_is_a_fault(server):
    done = threading.Event()

    def reply(path, data):
        done.wait(30)
        return 200, {"result": [[]]}

    server.reply = reply
    try:
        with pytest.raises(RetrievalError, match="at last: no answer within"):
            HttpEngine(url=server.url, timeout_s=0.1, tries=1).search("q", 3)
    finally:
        done.set()


def test_a_reply_that_never_ends_is_a_fault(monkeypatch):
    """Every byte comes in time, but there are always more."""
    stop = threading.Event()

    class Drip(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.end_headers()
            try:
                while not stop.is_set():
                    self.wfile.write(b" ")
                    time.sleep(0.01)
            except OSError:
                stop.set()

        def log_message(self, *told):
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Drip)
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    try:
        engine = HttpEngine(url=f"http://127.0.0.1:{http.server_port}", timeout_s=0.3, tries=1)
        with pytest.raises(RetrievalError, match=r"no answer within 0\.3 s"):
            engine.search("q", 3)
    finally:
        stop.set()
        http.shutdown()
        thread.join()
        http.server_close()


def test_no_server_is_a_fault(server):
    url = server.url
    engine = HttpEngine(url=url.replace(url.rsplit(":", 1)[1], "1"), tries=1)
    with pytest.raises(RetrievalError, match=r"failed 1 times, at last: .*ConnectError"):
        engine.search("q", 3)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"url": "127.0.0.1:8000"}, "should begin with http://"),
        ({"url": "http://x", "timeout_s": 0}, "timeout_s > 0"),
        ({"url": "http://x", "tries": 0}, "tries >= 1"),
    ],
)
def test_wrong_settings_are_told(settings, told):
    with pytest.raises(ConfigError, match=told):
        HttpEngine(**settings)


def test_a_missing_client_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(DependencyError, match=r"pip install 'httpx"):
        HttpEngine(url="http://x")
