import json
import os
import pickle
import subprocess
import sys

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.retrieval import corpus as corpora
from rlvr_envs.retrieval.base import Document, RetrievalError
from rlvr_envs.retrieval.corpus import documents as documents_of
from rlvr_envs.retrieval.corpus import open_corpus
from rlvr_envs.retrieval.engines import build


@pytest.fixture(params=["bm25", "tantivy"])
def engine(request):
    if request.param == "tantivy":
        pytest.importorskip("tantivy", reason="the extra 'search' is not installed")
    return request.param


@pytest.fixture(autouse=True)
def forget(monkeypatch):
    """A test opens what lies on disk, not what another test has open."""
    monkeypatch.setattr(corpora, "_open", {})


def write(path, records):
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def record(page):
    return {"id": page.id, "title": page.title, "text": page.text}


def indexes(cache):
    return sorted(path.name for path in cache.iterdir() if path.is_dir())


def test_the_corpus_answers_as_the_engine_in_memory(tmp_path, engine, documents):
    path = write(tmp_path / "pages.jsonl", map(record, documents))
    opened = open_corpus(path, engine, tmp_path / "cache")
    memory = build(documents, engine)
    assert len(opened) == len(memory) == len(documents)
    for page in documents[::10]:
        assert opened.search(page.text, 7) == memory.search(page.text, 7)
        assert opened.page(page.id) == page
    assert list(opened.ids()) == [page.id for page in documents]
    assert opened.page("nowhere") is None
    assert opened.page("") is None
    assert opened.page("\ud800") is None


def test_a_second_opening_indexes_nothing(tmp_path, engine, documents, monkeypatch):
    path = write(tmp_path / "pages.jsonl", map(record, documents))
    first = open_corpus(path, engine, tmp_path / "cache")
    assert open_corpus(path, engine, tmp_path / "cache") is first
    expected = first.search("ka lo mi", 5)
    monkeypatch.setattr(corpora, "_open", {})
    monkeypatch.setattr(corpora, "_write", None)
    again = open_corpus(path, engine, tmp_path / "cache")
    assert again is not first
    assert again.search("ka lo mi", 5) == expected


def test_a_changed_file_is_indexed_anew(tmp_path, engine):
    path = write(tmp_path / "pages.jsonl", [{"id": "a", "title": "old", "text": "tide"}])
    assert open_corpus(path, engine, tmp_path / "cache").search("tide", 1)[0].title == "old"
    write(path, [{"id": "a", "title": "new", "text": "tide"}])
    os.utime(path, ns=(1, 1))
    assert open_corpus(path, engine, tmp_path / "cache").search("tide", 1)[0].title == "new"


def test_the_digest_is_that_of_the_documents(tmp_path, engine, documents):
    path = write(tmp_path / "pages.jsonl", map(record, documents))
    opened = open_corpus(path, engine, tmp_path / "cache")
    assert opened.digest == corpora.digest(documents)
    assert len(opened.digest) == 32
    assert opened.path == path
    assert opened.folder.parent == tmp_path / "cache"
    spaced = [{"text": page.text, "title": page.title, "docid": page.id} for page in documents]
    again = open_corpus(write(tmp_path / "same.ndjson", spaced), engine, tmp_path / "cache")
    assert again.digest == opened.digest


def test_other_documents_have_another_digest():
    pages = [Document("a", "b", "c"), Document("d", "e", "f\ud800")]
    others = [
        [],
        pages[:1],
        pages[::-1],
        [Document("ab", "", "c"), pages[1]],
        [Document("a", "bc", ""), pages[1]],
        [pages[0], Document("d", "e", "f")],
    ]
    assert len({corpora.digest(some) for some in (pages, *others)}) == len(others) + 1


def test_neighbours_have_the_same_title_and_stand_next_to_each_other(tmp_path, engine):
    titles = ["Ost", "Ost", "Vor", "Ost", "Ost", "Ost", "Ost", "", ""]
    pages = [{"id": str(n), "title": title, "text": "x"} for n, title in enumerate(titles)]
    opened = open_corpus(write(tmp_path / "pages.jsonl", pages), engine, tmp_path / "cache")

    def near(document_id, count):
        return [[page.id for page in side] for side in opened.neighbours(document_id, count)]

    assert near("0", 2) == [[], ["1"]]
    assert near("2", 2) == [[], []]
    assert near("4", 9) == [["3"], ["5", "6"]]
    assert near("5", 1) == [["4"], ["6"]]
    assert near("6", 0) == [[], []]
    assert near("7", 2) == near("8", 2) == near("nowhere", 2) == [[], []]
    assert opened.neighbours("4", 1)[0] == [opened.page("3")]


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".bz2", ".xz", ".zip"])
def test_a_compressed_file_is_told_to_be_unpacked(tmp_path, suffix):
    path = write(tmp_path / f"pages.jsonl{suffix}", ["x"])
    with pytest.raises(ConfigError, match="is compressed: unpack it first"):
        open_corpus(path, "bm25", tmp_path / "cache")


def test_engines_do_not_share_an_index(tmp_path, documents):
    pytest.importorskip("tantivy", reason="the extra 'search' is not installed")
    path = write(tmp_path / "pages.jsonl", map(record, documents))
    for name in ("bm25", "tantivy"):
        open_corpus(path, name, tmp_path / "cache")
    assert len(indexes(tmp_path / "cache")) == 2


def test_a_pickled_corpus_is_opened_where_it_arrives(tmp_path, engine, documents):
    path = write(tmp_path / "pages.jsonl", map(record, documents))
    opened = open_corpus(path, engine, tmp_path / "cache")
    data = pickle.dumps(opened)
    assert len(data) < 1000
    assert pickle.loads(data) is opened


DAMAGES = {
    "a file is gone": lambda folder: (folder / "texts.bin").unlink(),
    "a file is cut": lambda folder: os.truncate(folder / "ids.npy", 10),
    "no manifest": lambda folder: (folder / corpora.MANIFEST).unlink(),
    "a strange manifest": lambda folder: (folder / corpora.MANIFEST).write_text("[1]"),
    "half a manifest": lambda folder: (folder / corpora.MANIFEST).write_text('{"files": {'),
    "a manifest without a digest": lambda folder: (folder / corpora.MANIFEST).write_text(
        '{"files": {}}'
    ),
    "garbage of the same size": lambda folder: [
        file.write_bytes(b"\xff" * file.stat().st_size)
        for file in folder.rglob("*")
        if file.is_file() and file.suffix in {".json", ".npy"} and file.name != corpora.MANIFEST
    ],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_is_written_again(tmp_path, engine, documents, damage, monkeypatch):
    path = write(tmp_path / "pages.jsonl", map(record, documents))
    cache = tmp_path / "cache"
    expected = open_corpus(path, engine, cache).search("ka lo mi", 5)
    (name,) = indexes(cache)
    DAMAGES[damage](cache / name)
    monkeypatch.setattr(corpora, "_open", {})
    opened = open_corpus(path, engine, cache)
    assert opened.search("ka lo mi", 5) == expected
    assert opened.page(documents[3].id) == documents[3]


PROGRAM = """
import sys
from rlvr_envs.retrieval.corpus import open_corpus
corpus = open_corpus(sys.argv[1], sys.argv[2], sys.argv[3])
print([(hit.id, hit.score) for hit in corpus.search("ka lo mi ren", 9)])
"""


def test_processes_that_build_at_once_get_one_index(tmp_path, engine, documents):
    path = write(tmp_path / "pages.jsonl", map(record, documents))
    cache = tmp_path / "cache"
    command = [sys.executable, "-c", PROGRAM, str(path), engine, str(cache)]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    ends = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [0] * 4, ends
    assert len({out for out, _ in ends}) == 1
    assert len(indexes(cache)) == 1


def test_what_a_dead_process_left_is_removed(tmp_path, engine, documents):
    path = write(tmp_path / "pages.jsonl", map(record, documents))
    cache = tmp_path / "cache"
    open_corpus(path, engine, cache)
    (name,) = indexes(cache)
    (cache / name / corpora.MANIFEST).unlink()
    (cache / f"{name}.left.tmp").mkdir()
    corpora._open.clear()
    open_corpus(path, engine, cache)
    assert indexes(cache) == [name]


BAD_LINES = [
    ("{not json", r":2: not JSON"),
    ('["a"]', r":2: expected a JSON object"),
    ({"title": "t", "text": "x"}, r":2: no id: expected one of 'id', .* got the fields 'title'"),
    ({"id": "b", "title": "t"}, r":2: no text: expected one of 'text', 'contents'"),
    ({"id": "b", "text": ["x"]}, r":2: 'text' should be text, got \['x'\]"),
    ({"id": "b", "title": 3, "text": "x"}, r":2: 'title' should be text, got 3"),
    ({"id": True, "text": "x"}, r":2: 'id' should be text, got True"),
    ({"id": "", "text": "x"}, r":2: 'id' should have 1 to 1,000 characters, got ''"),
    ({"id": "y" * 1_001, "text": "x"}, r":2: 'id' should have 1 to 1,000 characters"),
    ({"id": {"x": 1}, "text": "x"}, r":2: 'id' should be text"),
    ({"id": "a", "text": "x"}, r":2: the id 'a' stands at .*:1 already"),
]


@pytest.mark.parametrize(("line", "told"), BAD_LINES)
def test_a_bad_line_is_told_and_nothing_is_left(tmp_path, engine, line, told):
    path = write(tmp_path / "pages.jsonl", [{"id": "a", "title": "t", "text": "x"}, line])
    with pytest.raises(ConfigError, match=told):
        open_corpus(path, engine, tmp_path / "cache")
    assert indexes(tmp_path / "cache") == []


def test_no_file_and_no_documents_are_told(tmp_path, engine):
    with pytest.raises(ConfigError, match="there is no corpus"):
        open_corpus(tmp_path / "none.jsonl", engine, tmp_path / "cache")
    empty = write(tmp_path / "empty.jsonl", ["", " "])
    with pytest.raises(ConfigError, match="holds no documents"):
        open_corpus(empty, engine, tmp_path / "cache")
    other = write(tmp_path / "pages.txt", ["x"])
    with pytest.raises(ConfigError, match="is no table"):
        open_corpus(other, engine, tmp_path / "cache")


def test_a_cache_that_cannot_be_written_is_told(tmp_path, engine, documents):
    path = write(tmp_path / "pages.jsonl", map(record, documents[:3]))
    taken = write(tmp_path / "file", ["x"])
    with pytest.raises(ConfigError, match="name another cache folder"):
        open_corpus(path, engine, taken / "cache")


def test_an_index_that_can_be_neither_used_nor_written_anew_is_told(
    tmp_path, engine, documents, monkeypatch
):
    path = write(tmp_path / "pages.jsonl", map(record, documents[:3]))
    folder = open_corpus(path, engine, tmp_path / "cache").folder
    lock = tmp_path / "cache" / f"{folder.name}.lock"
    lock.unlink()
    lock.mkdir()

    def locked(*given):
        raise RetrievalError("no lock file can be written")

    monkeypatch.setattr(corpora, "_open", {})
    monkeypatch.setattr(corpora, "Corpus", locked)
    with pytest.raises(ConfigError, match=r"cannot be used: no lock file can be written$"):
        open_corpus(path, engine, tmp_path / "cache")


def test_the_layouts(tmp_path):
    path = write(
        tmp_path / "pages.jsonl",
        [
            {"id": "0", "contents": '"Ost Vor"\nA city in the north.'},
            {"id": 1, "contents": "Plain title\nIts text\nin two lines"},
            {"_id": "2", "title": "T", "contents": '"Not the title"\nx'},
            {"docid": "3", "contents": "one line only"},
            {"url": "http://x/4", "content": '"Quoted" (song)\nx'},
            {"id": "5", "title": None, "text": "y" * 301 + "\nz"},
            {"id": "6", "title": "", "text": ""},
            {"id": "7", "title": "half \ud800", "text": "pair"},
        ],
    )
    pages = list(documents_of(path))
    assert pages == [
        Document("0", "Ost Vor", "A city in the north."),
        Document("1", "Plain title", "Its text\nin two lines"),
        Document("2", "T", '"Not the title"\nx'),
        Document("3", "", "one line only"),
        Document("http://x/4", '"Quoted" (song)', "x"),
        Document("5", "", "y" * 301 + "\nz"),
        Document("6", "", ""),
        Document("7", "half \ud800", "pair"),
    ]
    opened = open_corpus(path, "bm25", tmp_path / "cache")
    assert [opened.page(page.id) for page in pages] == pages


def test_parquet(tmp_path, engine, documents):
    arrow = pytest.importorskip("pyarrow", reason="the extra 'report' is not installed")
    import pyarrow.parquet

    path = tmp_path / "pages.parquet"
    table = arrow.Table.from_pylist([record(page) for page in documents])
    pyarrow.parquet.write_table(table, path)
    opened = open_corpus(path, engine, tmp_path / "cache")
    assert [opened.page(page.id) for page in documents] == documents
