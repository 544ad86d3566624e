import hashlib
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import numpy as np
import pytest

from rlvr_envs.core.errors import DependencyError
from rlvr_envs.retrieval import databases
from rlvr_envs.retrieval.base import Document, RetrievalError
from rlvr_envs.retrieval.databases import ElasticEngine
from rlvr_envs.retrieval.dense import DenseEngine


class Client:
    """Stands where a client of Elasticsearch would, and keeps what it was asked."""

    def __init__(self, hits=(), fault=None):
        self.asked = []
        self.hits = list(hits)
        self.fault = fault
        self.indices = SimpleNamespace(refresh=lambda index: {})

    def search(self, *, index, body):
        if self.fault:
            raise self.fault
        self.asked.append((index, body))
        return {"hits": {"hits": self.hits}}

    def bulk(self, *, index, body):
        self.asked.append((index, body))
        return {"errors": self.fault is not None}


def words_of(node):
    """Return every text that a query hands to the database's analyser."""
    if isinstance(node, dict):
        assert not {"query_string", "simple_query_string", "regexp", "wildcard"} & set(node)
        return [text for value in node.values() for text in words_of(value)]
    if isinstance(node, list):
        return [text for value in node for text in words_of(value)]
    return [node] if isinstance(node, str) else []


def test_a_query_is_built_from_words_and_phrases():
    client = Client()
    ElasticEngine(client, "pages").search('title:x^9 AND "ost vor" (y', 7)
    ((index, body),) = client.asked
    assert (index, body["size"]) == ("pages", 7)
    clauses = body["query"]["bool"]
    assert [one["multi_match"]["query"] for one in clauses["must"]] == ["ost vor"]
    assert clauses["must"][0]["multi_match"]["type"] == "phrase"
    assert [one["multi_match"]["query"] for one in clauses["should"]] == ["title x 9 y"]


def test_hostile_queries_reach_the_database_as_words():
    client = Client()
    engine = ElasticEngine(client, "pages")
    for query in ("x" * 10**6, '"a b" ' * 10**5, "/(a+)+$/ *?* [a TO b]", "\ud800 a", '{"x": 1}'):
        assert engine.search(query, 3) == []
        texts = words_of(client.asked[-1][1])
        assert sum(map(len, texts)) < 5000
        assert json.dumps(client.asked[-1][1]).encode()
    asked = len(client.asked)
    assert engine.search('"" ?', 3) == []
    assert len(client.asked) == asked


def test_hits_are_best_first_and_ties_by_id():
    hits = [
        {"_id": key, "_score": score, "_source": {"title": f"T{key}"}}
        for key, score in (("b", 1.0), ("c", 2.0), ("a", 1.0))
    ]
    found = ElasticEngine(Client(hits), "pages").search("x", 3)
    assert [(hit.id, hit.title) for hit in found] == [("c", "Tc"), ("a", "Ta"), ("b", "Tb")]


def test_a_fault_of_the_database_is_no_answer():
    engine = ElasticEngine(Client(fault=TimeoutError("late")), "pages")
    with pytest.raises(RetrievalError, match="the index 'pages' failed: TimeoutError: late"):
        engine.search("x", 3)
    with pytest.raises(RetrievalError, match="refused documents"):
        engine.add([Document("a", "t", "x")])


class Elastic(BaseHTTPRequestHandler):
    """As much of the database as the tests ask for: documents by words, without a score."""

    pages: dict[str, dict]

    def do_PUT(self):
        self.do_POST()

    def do_GET(self):
        self.do_POST()

    def do_POST(self):
        size = int(self.headers.get("Content-Length") or 0)
        text = self.rfile.read(size).decode()
        action = self.path.split("?")[0].rsplit("/", 1)[-1]
        self.answer(getattr(self, action.strip("_"))(text))

    def bulk(self, text):
        lines = [json.loads(line) for line in text.splitlines() if line]
        for head, page in zip(lines[::2], lines[1::2], strict=True):
            self.pages[head["index"]["_id"]] = page
        return {"errors": False, "items": []}

    def refresh(self, text):
        return {}

    def count(self, text):
        return {"count": len(self.pages)}

    def search(self, text):
        query = json.loads(text)["query"]
        if "ids" in query:
            found = [key for key in query["ids"]["values"] if key in self.pages]
        else:
            wanted = set(query["bool"]["should"][0]["multi_match"]["query"].split())
            found = [k for k, page in self.pages.items() if wanted & set(page["text"].split())]
        hits = [{"_id": key, "_score": 1.0, "_source": self.pages[key]} for key in found]
        return {"hits": {"hits": hits}}

    def answer(self, data):
        body = json.dumps(data).encode()
        self.send_response(200)
        self.send_header("X-Elastic-Product", "Elasticsearch")
        asked = self.headers.get("Accept", "")
        kind = "application/vnd.elasticsearch+json;compatible-with=9"
        self.send_header("Content-Type", kind if "vnd.elastic" in asked else "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *told):
        pass


@pytest.mark.parametrize(
    ("module", "make"),
    [("elasticsearch", databases.elasticsearch), ("opensearchpy", databases.opensearch)],
)
def test_the_real_clients_are_called_rightly(module, make):
    pytest.importorskip(module, reason=f"the client {module} is not installed")
    handler = type("Handler", (Elastic,), {"pages": {}})
    http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    engine = make(f"http://127.0.0.1:{http.server_port}", "pages", timeout_s=60)
    try:
        pages = [Document("b", "T", "ost vor"), Document("a", "U", "vor"), Document("c", "", "x")]
        engine.add(pages)
        assert len(engine) == 3
        assert [hit.id for hit in engine.search("vor", 5)] == ["a", "b"]
        assert engine.page("b") == pages[0]
        assert engine.page("z") is None
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
    with pytest.raises(RetrievalError, match="the index 'pages' failed"):
        engine.search("vor", 5)
    engine._client.close()


def hashed(texts):
    rows = np.zeros((len(texts), 32))
    for row, text in zip(rows, texts, strict=True):
        for word in text.lower().split():
            digest = hashlib.sha256(word.encode()).digest()
            row += [1 if byte > 127 else -1 for byte in digest]
    return rows


def test_qdrant_ranks_as_exact_cosine_does(documents):
    pytest.importorskip("qdrant_client", reason="the client qdrant-client is not installed")
    engine = databases.qdrant(":memory:", "pages", hashed)
    engine.add(documents)
    engine.add(documents[:10])  # replaced, not doubled
    exact = DenseEngine(documents, hashed)
    assert len(engine) == len(documents)
    for page in documents[:20]:
        ours, theirs = engine.search(page.text, 5), exact.search(page.text, 5)
        assert [h.score for h in ours] == pytest.approx([h.score for h in theirs], abs=1e-3)
        assert ours[0].id == theirs[0].id
    assert engine.page(documents[5].id) == documents[5]
    assert engine.page("\ud800") is None
    for query in ("", "\ud800 x", "x" * 10**6, '"' * 5000):
        assert len(engine.search(query, 3)) <= 3
    engine._client.close()


def test_faults_of_qdrant(documents):
    pytest.importorskip("qdrant_client", reason="the client qdrant-client is not installed")
    engine = databases.qdrant(":memory:", "pages", hashed)
    with pytest.raises(RetrievalError, match="the collection 'pages' failed"):
        engine.search("x", 3)
    engine._client.close()
    away = databases.qdrant("http://127.0.0.1:1", "pages", hashed, timeout_s=1)
    with pytest.raises(RetrievalError, match="the collection 'pages' failed"):
        away.search("x", 3)
    away._client.close()


@pytest.mark.parametrize(
    ("module", "package", "make"),
    [
        ("elasticsearch", "elasticsearch", lambda: databases.elasticsearch("http://x", "i")),
        ("opensearchpy", "opensearch-py", lambda: databases.opensearch("http://x", "i")),
        ("qdrant_client", "qdrant-client", lambda: databases.qdrant(":memory:", "c", hashed)),
    ],
)
def test_a_missing_client_is_told(monkeypatch, module, package, make):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DependencyError, match=f"pip install {package}"):
        make()
