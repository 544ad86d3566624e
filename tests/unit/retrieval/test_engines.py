import json
import math
import multiprocessing
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from rlvr_envs.core.errors import ConfigError, DependencyError
from rlvr_envs.retrieval import base, engines
from rlvr_envs.retrieval.base import Document, Hit
from rlvr_envs.retrieval.engines import build, choose

HERE = Path(__file__).parent


@pytest.fixture(params=["bm25", "tantivy"])
def engine_name(request):
    if request.param == "tantivy":
        pytest.importorskip("tantivy", reason="the extra 'search' is not installed")
    return request.param


@pytest.fixture
def engine(engine_name, documents):
    return build(documents, engine_name)


def queries_of(documents, n):
    rng = random.Random(5)
    for number in range(n):
        page = rng.choice(documents)
        words = page.text.split()
        picked = rng.sample(words, min(len(words), rng.randint(1, 4)))
        at = rng.randrange(len(words) - 2)
        phrase = f' "{" ".join(words[at : at + rng.randint(1, 3)])}"' if number % 2 else ""
        yield " ".join(picked) + phrase


def slow_bm25(documents, words, phrases):
    """Return id → score, straight from the formula."""
    scores = {}
    n = len(documents)
    wanted = [(word,) for word in words] + list(phrases)
    for boost, part in ((base.TITLE_BOOST, "title"), (1.0, "text")):
        texts = {doc.id: getattr(doc, part).split() for doc in documents}
        mean = sum(map(len, texts.values())) / n
        for phrase in wanted:
            weight = 0.0
            for word in phrase:
                having = sum(word in text for text in texts.values())
                weight += math.log(1 + (n - having + 0.5) / (having + 0.5))
            for key, text in texts.items():
                tf = sum(
                    tuple(text[at : at + len(phrase)]) == tuple(phrase) for at in range(len(text))
                )
                if tf:
                    bulk = base.K1 * (1 - base.B + base.B * len(text) / mean)
                    scores[key] = scores.get(key, 0.0) + boost * weight * tf * (base.K1 + 1) / (
                        tf + bulk
                    )
    for phrase in phrases:
        joined = f" {' '.join(phrase)} "
        for doc in documents:
            if joined not in f" {doc.title} " and joined not in f" {doc.text} ":
                scores.pop(doc.id, None)
    return scores


def test_ranking_is_bm25(engine, documents):
    for query in queries_of(documents, 40):
        loose, _, quoted = query.partition(' "')
        phrases = [tuple(quoted.rstrip('"').split())] if quoted else []
        expected = slow_bm25(documents, set(loose.split()), phrases)
        best = sorted(expected, key=lambda key: (-round(expected[key], 3), key))
        hits = engine.search(query, 10)
        assert len(hits) == min(10, len(best))
        for hit in hits:
            assert hit.score == pytest.approx(expected[hit.id], abs=2e-3)
        assert hits[0].score == pytest.approx(expected[best[0]], abs=2e-3)
        lowest = hits[-1].score + 2e-3
        missed = set(expected) - {hit.id for hit in hits}
        assert all(expected[key] <= lowest for key in missed)


def test_both_engines_give_the_same_ids(documents):
    pytest.importorskip("tantivy", reason="the extra 'search' is not installed")
    one, other = build(documents, "bm25"), build(documents, "tantivy")
    for query in queries_of(documents, 150):
        for k in (1, 5, 40):
            assert [h.id for h in one.search(query, k)] == [h.id for h in other.search(query, k)]


def test_long_texts_rank_the_same_in_both_engines(documents):
    pytest.importorskip("tantivy", reason="the extra 'search' is not installed")
    rng = random.Random(2)
    long = [
        Document(
            f"l{n}", "page", " ".join(rng.choices("abcdefgh", k=rng.randint(1, 3000))) + " key"
        )
        for n in range(60)
    ]
    one, other = build(long, "bm25"), build(long, "tantivy")
    for query in ("key", "a b", '"a b" key', '"a a"', '"a b a"'):
        ours, theirs = one.search(query, 60), other.search(query, 60)
        assert [h.id for h in ours] == [h.id for h in theirs]
        assert [h.score for h in ours] == pytest.approx([h.score for h in theirs], rel=1e-4)


def test_hits_are_in_order_and_ties_by_id(engine_name):
    rng = random.Random(9)
    pages = [Document(f"p{n:03d}", "same", "the very same words") for n in range(200)]
    rng.shuffle(pages)
    engine = build(pages, engine_name)
    for query in ("same", "words very", '"very same"', "the"):
        for k in (1, 7, 200, 1000):
            hits = engine.search(query, k)
            assert [hit.id for hit in hits] == [f"p{n:03d}" for n in range(min(k, 200))]
            assert len({hit.score for hit in hits}) == 1


def test_scores_descend(engine, documents):
    for query in queries_of(documents, 40):
        hits = engine.search(query, 50)
        assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.id))
        assert all(hit.score > 0 for hit in hits)


def test_phrases_have_to_be_there(engine_name):
    pages = [
        Document("a", "Red Harbour", "ships lie in the bay"),
        Document("b", "Harbour", "a red harbour lies in the far north of the land"),
        Document("c", "Red", "harbour harbour red red harbor"),
        Document("d", "north", "harbour"),
    ]
    engine = build(pages, engine_name)
    assert [hit.id for hit in engine.search('"red harbour"', 9)] == ["a", "b"]
    assert [hit.id for hit in engine.search('lies "red harbour" far north land', 9)] == ["b", "a"]
    assert [hit.id for hit in engine.search('"red harbour" "the bay"', 9)] == ["a"]
    assert {hit.id for hit in engine.search('"harbour"', 9)} == {"a", "b", "c", "d"}
    assert engine.search('"harbour red harbour"', 9) == []
    assert engine.search('"north harbour"', 9) == []  # title and text are no one run
    assert engine.search('"no such thing" red', 9) == []
    assert engine.search('"bay red"', 9) == []  # nor are two documents


def test_a_title_counts_for_more(engine_name):
    pages = [Document("a", "x", "kalo mira"), Document("b", "kalo", "x mira")]
    assert build(pages, engine_name).search("kalo", 2)[0].id == "b"


def test_accents_case_and_scripts(engine_name):
    pages = [Document("a", "Zürich", "Die Straße"), Document("b", "東京", "日本の首都")]
    engine = build(pages, engine_name)
    assert [hit.id for hit in engine.search("ZURICH strasse", 2)] == ["a"]
    assert [hit.id for hit in engine.search('"首都"', 2)] == ["b"]


HOSTILE = [
    "",
    "\x00\x01\x1b[31m",
    "\ud800 \udfff",
    '"' * 5000,
    '" ' * 500_000,
    "x" * 1_000_000,
    "ka " * 300_000,
    '"ka lo" ' * 100_000,
    "(" * 10_000 + "ka" + ")" * 10_000,
    "ka* AND ?? OR title:[* TO *] NOT /(a+)+$/ ~2 ^1e9",
    "text:ka +ka -ka !ka {ka}",
    "\u202eka\u0301" * 50_000,
    "\ufdfa" * 10_000,
    "9" * 10_000,
    "1" + "e9" * 9,
    "'; DROP TABLE pages; --",
    "\\" * 9999,
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_any_text_is_a_query(engine, number):
    hits = engine.search(HOSTILE[number], 5)
    assert len(hits) <= 5
    assert all(isinstance(hit, Hit) for hit in hits)
    assert engine.search(HOSTILE[number], 5) == hits


def test_hostile_documents_are_indexed(engine_name):
    pages = [Document(f"h{n}", text, text) for n, text in enumerate(HOSTILE)]
    engine = build([*pages, Document("z", "calm", "waters")], engine_name)
    assert len(engine) == len(HOSTILE) + 1
    assert [hit.id for hit in engine.search("calm", 3)] == ["z"]


def test_no_documents(engine_name):
    engine = build([], engine_name)
    assert len(engine) == 0
    assert engine.search('anything "at all"', 5) == []


@pytest.mark.parametrize("k", [0, -1, 1001, 2.5, True, "3"])
def test_a_wrong_k_is_told(engine, k):
    with pytest.raises(ConfigError, match=r"k should be an integer in 1\.\.1000"):
        engine.search("ka", k)


def test_an_id_that_is_there_twice_is_told(engine_name):
    pages = [Document("a", "", ""), Document("b", "", ""), Document("a", "", "")]
    with pytest.raises(ConfigError, match="the id 'a'"):
        build(pages, engine_name)


PROGRAM = """
import json, sys
sys.path.insert(0, {here!r})
from conftest import sample
from rlvr_envs.retrieval.engines import build
pages = sample(300)
engine = build(pages, {name!r})
queries = [" ".join(page.text.split()[:3]) for page in pages[:60]] + ['"ka"', "kaka", "lo mi ren"]
print(json.dumps([[(h.id, h.score) for h in engine.search(q, 20)] for q in queries]))
"""


def test_the_same_in_every_process_and_rebuild(engine_name):
    found = []
    for hash_seed in ("0", "1", "1"):
        program = PROGRAM.format(here=str(HERE), name=engine_name)
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        found.append(json.loads(done.stdout))
    assert found[0] == found[1] == found[2]
    assert sum(map(len, found[0])) > 300


def test_an_engine_serves_forked_workers(engine, documents):
    query = documents[7].text
    expected = engine.search(query, 5)
    context = multiprocessing.get_context("fork")
    reader, writer = context.Pipe(duplex=False)
    child = context.Process(target=lambda: writer.send(engine.search(query, 5)))
    child.start()
    try:
        assert reader.poll(60)
        assert reader.recv() == expected
    finally:
        child.join(10)


def test_the_variable_chooses(monkeypatch):
    monkeypatch.setenv(engines.VARIABLE, "bm25")
    assert choose() == "bm25"
    assert choose("tantivy") == "tantivy"
    monkeypatch.setenv(engines.VARIABLE, "tantivvy")
    with pytest.raises(ConfigError, match=r"RLVR_SEARCH_ENGINE should be one of .* 'tantivy'"):
        choose()
    monkeypatch.delenv(engines.VARIABLE)
    with pytest.raises(ConfigError, match="engine should be one of auto, bm25, tantivy"):
        choose("lucene")


def test_without_tantivy_the_fallback_serves(monkeypatch, documents):
    monkeypatch.delenv(engines.VARIABLE, raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "tantivy", None)
    assert type(build(documents)).__name__ == "Bm25Engine"
    with pytest.raises(DependencyError, match=r"pip install 'tantivy"):
        build(documents, "tantivy")
