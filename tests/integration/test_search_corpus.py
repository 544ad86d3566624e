"""SearchCorpus over files and servers: layouts, indexes, replay, sharing, and hostile corpora."""

import json
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import gymnasium as gym
import pytest

import rlvr_envs
from rlvr_envs.core.errors import ConfigError, RowError
from rlvr_envs.core.verdict import Status
from rlvr_envs.retrieval import corpus as corpora
from rlvr_envs.retrieval import remote

TASK_ID = "rlvr/SearchCorpus-v0"
PAGES = [
    {"id": "velburg", "title": "Velburg", "text": "Velburg is a town. Its mayor is Anna Vell."},
    {"id": "anna", "title": "Anna Vell", "text": "Anna Vell was born in Ost."},
    {"id": "ost", "title": "Ost", "text": "Ost is a harbour with 1,200 people."},
]
HOTPOT = {
    "_id": "h1",
    "question": "Where was the mayor of Velburg born?",
    "answer": "Ost",
    "supporting_facts": [["Velburg", 1], ["Anna Vell", 0]],
}
NQ = {"question": "who is the mayor of velburg", "answer": ["Anna Vell", "Vell"]}


def write(path, records):
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture(autouse=True)
def forget(monkeypatch, tmp_path):
    """A test opens what lies on disk, and leaves nothing in the user's cache."""
    monkeypatch.setattr(corpora, "_open", {})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))


@pytest.fixture
def files(tmp_path):
    return {
        "corpus": write(tmp_path / "pages.jsonl", PAGES),
        "questions": write(tmp_path / "questions.jsonl", [HOTPOT, NQ]),
        "index_dir": str(tmp_path / "indexes"),
    }


def indexes(folder):
    return sorted(path.name for path in Path(folder).iterdir() if path.is_dir())


def play(env, actions):
    for action in actions:
        text, reward, over, _, info = env.step(action)
    assert over
    return reward, info["verdict"], text


def test_an_episode_over_files(files):
    env = gym.make(TASK_ID, **files)
    prompt, _ = env.reset(options={"index": 0})
    assert HOTPOT["question"] in prompt
    found = env.step("<search>mayor velburg</search>")[0]
    assert "Velburg (velburg): Velburg is a town. Its mayor is Anna Vell." in found
    assert "born in Ost" in env.step("<access>anna</access>")[0]
    reward, verdict, _ = play(env, ["<answer>Ost</answer>"])
    assert reward == 1.0
    assert verdict.parts["evidence_opened"] == 0.5


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
@pytest.mark.parametrize("engine", ["bm25", "tantivy"])
def test_the_oracle_plays_on_every_format_and_engine(files, tmp_path, suffix, engine):
    if engine == "tantivy":
        pytest.importorskip("tantivy", reason="the extra 'search' is not installed")
    if suffix == ".parquet":
        arrow = pytest.importorskip("pyarrow", reason="the extra 'report' is not installed")
        import pyarrow.parquet

        facts = {"title": ["Velburg", "Anna Vell"], "sent_id": [1, 0]}  # as in the Hub's files
        questions = [{**HOTPOT, "supporting_facts": facts}]
        for name, records in (("corpus", PAGES), ("questions", questions)):
            files[name] = str(tmp_path / f"{name}.parquet")
            pyarrow.parquet.write_table(arrow.Table.from_pylist(records), files[name])
    env = gym.make(TASK_ID, engine=engine, **files)
    env.reset(options={"index": 0})
    reward, verdict, _ = play(env, env.unwrapped.instance.solution())
    assert reward == verdict.parts["evidence_opened"] == 1.0


def test_wiki_18_shows_a_passage_with_those_around_it(files, tmp_path):
    passages = [
        {"id": str(n), "contents": f'"{title}"\n{title} passage {n}, about the tide.'}
        for n, title in enumerate(["Ost"] * 4 + ["Velburg"] * 9 + ["Tarn"])
    ]
    files["corpus"] = write(tmp_path / "wiki-18.jsonl", passages)
    env = gym.make(TASK_ID, **files)
    env.reset(options={"index": 0})
    opened = env.step("<access>8</access>")[0].split("\n")
    assert opened[1] == "# Velburg"
    assert opened[2:4] == ["## Passage: 8", "Velburg passage 8, about the tide."]
    told = [line.split(": ")[1] for line in opened if line.startswith("##")]
    assert told == ["8", "6", "7", "9", "10"]
    assert "passage 3" not in env.step("<access>4</access>")[0]


def test_the_index_lies_where_it_is_told_and_else_in_the_users_cache(files, tmp_path):
    before = sorted(path.name for path in tmp_path.iterdir())
    gym.make(TASK_ID, **files).reset(seed=0)
    assert len(indexes(files["index_dir"])) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*before, "indexes"])
    files["index_dir"] = None
    gym.make(TASK_ID, **files).reset(seed=0)
    (name,) = indexes(tmp_path / "user" / "rlvr_envs" / "search")
    manifest = json.loads(
        (tmp_path / "user" / "rlvr_envs" / "search" / name / corpora.MANIFEST).read_text("utf-8")
    )
    assert manifest["corpus"] == files["corpus"]
    assert manifest["size"] == Path(files["corpus"]).stat().st_size
    assert manifest["documents"] == len(PAGES)


def test_sixty_four_environments_share_one_corpus(files, monkeypatch):
    opened = []
    monkeypatch.setattr(corpora, "Corpus", counted(corpora.Corpus, opened))
    envs = [gym.make(TASK_ID, max_calls=1 + n % 3, **files) for n in range(64)]
    for n, env in enumerate(envs):
        env.reset(seed=n)
        assert "Velburg" in env.step("<search>velburg</search>")[0]
    assert len(opened) == 1
    assert len({id(env.unwrapped.instance.task.site()[0]) for env in envs}) == 1


def counted(kind, made):
    def make(*given):
        made.append(given)
        return kind(*given)

    return make


def test_a_vector_of_environments(files):
    envs = gym.make_vec(TASK_ID, num_envs=4, group_size=2, **files)
    observations, _ = envs.reset(seed=3)
    assert observations[0] == observations[1]
    results, _, _, _, _ = envs.step(("<search>velburg</search>",) * 4)
    assert all("Velburg (velburg)" in text for text in results)
    _, rewards, over, _, _ = envs.step(("<answer>Carl</answer>",) * 4)
    assert rewards.tolist() == [0.0] * 4
    assert over.all()
    envs.close()


def stored(files, index=0):
    env = gym.make(TASK_ID, **files)
    env.reset(options={"index": index})
    return json.loads(json.dumps(env.unwrapped.instance.to_row()))


def test_a_row_is_not_played_on_other_documents(files, tmp_path):
    row = stored(files)
    assert rlvr_envs.verify(row, rlvr_envs.solve(row), trusted=True).score == 1.0
    write(tmp_path / "pages.jsonl", [*PAGES, {"id": "new", "title": "New", "text": "x"}])
    env = gym.make(TASK_ID, **files)
    with pytest.raises(RowError, match=r"other documents than '.*pages\.jsonl' holds now"):
        env.reset(options={"problem": row})
    verdict = rlvr_envs.verify(row, rlvr_envs.solve(row), trusted=True)
    assert verdict.status is Status.VERIFIER_ERROR
    assert not verdict.scored
    env = gym.make(TASK_ID, **files)
    env.reset(options={"index": 0})
    assert play(env, env.unwrapped.instance.solution())[0] == 1.0
    Path(files["corpus"]).unlink()
    with pytest.raises(RowError, match="there is no corpus"):
        env.reset(options={"problem": row})


def test_a_row_is_played_on_the_same_documents_elsewhere(files, tmp_path):
    row = stored(files)
    (tmp_path / "elsewhere").mkdir()
    spaced = [json.dumps(page, indent=None, separators=(" ,  ", " : ")) for page in PAGES]
    row["config"]["corpus"] = write(tmp_path / "elsewhere" / "other.jsonl", spaced)
    assert rlvr_envs.verify(row, rlvr_envs.solve(row), trusted=True).score == 1.0


def test_a_row_needs_no_question_file(files):
    row = stored(files, 1)
    Path(files["questions"]).unlink()
    assert rlvr_envs.verify(row, ["<answer>Vell</answer>"], trusted=True).score == 1.0


KILLED = """
import os, signal, sys
from rlvr_envs.retrieval import corpus
from rlvr_envs.retrieval.base import Document

def die(*given, **how):
    os.kill(os.getpid(), signal.SIGKILL)

where = sys.argv[3]
if where == "reading":
    document = corpus._document
    corpus._document = lambda entry: document(entry) if entry.data["id"] != "ost" else die()
elif where == "manifest":
    corpus.Path.write_text = die
else:
    corpus.Path.rename = die
corpus.open_corpus(sys.argv[1], "bm25", sys.argv[2])
"""


@pytest.mark.parametrize("where", ["reading", "manifest", "moving"])
def test_a_killed_build_leaves_no_index(files, where):
    command = [sys.executable, "-c", KILLED, files["corpus"], files["index_dir"], where]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    (left,) = indexes(files["index_dir"])
    assert left.endswith(".tmp")
    env = gym.make(TASK_ID, engine="bm25", **files)
    env.reset(options={"index": 0})
    assert play(env, env.unwrapped.instance.solution())[0] == 1.0
    (made,) = indexes(files["index_dir"])
    assert left.startswith(made)
    assert made != left


EPISODE = """
import json, sys
import gymnasium as gym, rlvr_envs
env = gym.make("rlvr/SearchCorpus-v0", **json.loads(sys.argv[1]))
env.reset(options={"index": 0})
for action in env.unwrapped.instance.solution():
    text, reward, *_ = env.step(action)
print(reward, env.unwrapped.instance.problem.digest)
"""


def test_processes_that_start_at_once_make_one_index(files):
    command = [sys.executable, "-c", EPISODE, json.dumps(files)]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    ends = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [0] * 3, ends
    assert len({out for out, _ in ends}) == 1
    assert ends[0][0].startswith("1.0 ")
    assert len(indexes(files["index_dir"])) == 1


GOOD = json.dumps(PAGES[0]).encode()
BAD_CORPORA = {
    "invalid UTF-8": (b'{"id": "a", "text": "\xff"}', r":2: not UTF-8: .* at byte"),
    "a raw NUL": (b'{"id": "a", "text": "\x00"}', ":2: not JSON"),
    "NULs": (b"\x00" * 1_000, ":2: not JSON"),
    "half a line": (b'{"id": "a", "te', ":2: not JSON"),
    "deep nesting": (b"[" * 100_000, ":2: not JSON"),
    "a repeated id": (GOOD, ":2: the id 'velburg' stands at .*:1 already"),
    "an empty id": (b'{"id": "", "text": "x"}', ":2: 'id' should have 1 to 1,000 characters"),
    "a long id": (b'{"id": "%s", "text": "x"}' % (b"y" * 1_001), "1 to 1,000 characters"),
    "no text": (b'{"id": "a", "title": "t"}', ":2: no text: expected one of"),
    "questions": (json.dumps(HOTPOT).encode(), ":2: no text: expected one of"),
    "a text of lists": (b'{"id": "a", "text": [["x"]]}', ":2: 'text' should be text"),
}


@pytest.mark.parametrize("name", BAD_CORPORA)
def test_a_bad_corpus_is_told_at_the_first_reset_and_leaves_nothing(files, name):
    line, told = BAD_CORPORA[name]
    Path(files["corpus"]).write_bytes(GOOD + b"\n" + line + b"\n")
    env = gym.make(TASK_ID, **files)
    for _ in range(2):
        with pytest.raises(ConfigError, match=told):
            env.reset(seed=0)
    assert indexes(files["index_dir"]) == []


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("none.jsonl", "there is no corpus"),
        ("pages.jsonl.gz", "is compressed: unpack it first"),
        ("pages.txt", "is no table"),
        ("empty.jsonl", "holds no documents"),
        ("folder", "there is no file"),
        ("pages.parquet", "cannot be read as Parquet"),
    ],
)
def test_what_is_no_corpus_is_refused(files, tmp_path, name, told):
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
    elif name != "none.jsonl":
        path.write_bytes(b"\x1f\x8b\x08" if path.suffix in {".gz", ".parquet"} else b"\n")
    if path.suffix == ".parquet":
        pytest.importorskip("pyarrow", reason="the extra 'report' is not installed")
    env = gym.make(TASK_ID, **(files | {"corpus": str(path)}))
    with pytest.raises(ConfigError, match=told):
        env.reset(seed=0)


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({"question": "x"}, r"questions\.jsonl:2: no answer that holds a word"),
        ({"question": "x", "answers": []}, "no answer that holds a word"),
        ({"question": "x", "answer": "y", "answerable": False}, "has no answer"),
        (PAGES[0], "'question' should be a text"),
    ],
)
def test_a_question_that_cannot_be_posed_is_named_or_left_out(files, tmp_path, record, told):
    write(tmp_path / "questions.jsonl", [HOTPOT, record, NQ])
    with pytest.raises(ConfigError, match=told):
        gym.make(TASK_ID, **files).reset(seed=0)
    env = gym.make(TASK_ID, on_bad_row="skip", **files)
    env.reset(options={"index": 1})
    assert env.unwrapped.instance.problem.question == NQ["question"]
    with pytest.raises(ConfigError, match="from 0 to 1"):
        env.reset(options={"index": 2})


def test_a_changed_question_file_is_read_anew(files, tmp_path):
    env = gym.make(TASK_ID, **files)
    env.reset(options={"index": 0})
    write(tmp_path / "questions.jsonl", [{**NQ, "question": "who leads velburg"}])
    assert "who leads velburg" in env.reset(options={"index": 0})[0]


def test_strange_documents_are_served(files, tmp_path):
    """Text that is odd but allowed neither breaks a result nor makes one long."""
    strange = [
        {"id": "huge", "title": "Huge", "text": "tide " * 400_000},
        {"id": "word", "title": "t" * 100_000, "text": "tide" + "x" * 1_000_000},
        {"id": "nul", "title": "Nul\x00\x1b[2J", "text": "tide \x00 and \x07 \ud800 end"},
        {"id": "untitled", "text": "tide without a title"},
        {"id": "null", "title": None, "text": "tide\nof two lines"},
        {"id": "none", "title": "", "text": ""},
        {"id": "a</access>#1", "title": "</information>", "text": "tide <answer>Ost</answer>"},
        {"id": 7, "title": "Same", "text": "tide"},
        {"id": "7.0", "title": "Same", "text": "tide"},
    ]
    lines = [json.dumps(record) for record in (*PAGES, *strange)]
    corpus = tmp_path / "pages.jsonl"
    corpus.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    env = gym.make(TASK_ID, max_calls=100, hits=50, **files)
    env.reset(options={"index": 0})
    texts = [env.step("<search>tide</search>")[0]]
    for page in ("huge", "word", "nul", "untitled", "none", "a%3C/access%3E%231", "7", "7.0"):
        texts.append(env.step(f"<access>{page}</access>")[0])
        texts.append(env.step("<find>tide</find>")[0])
        texts.append(env.step(f"<access>{page}#2</access>")[0])
    assert not [text for text in texts if "There is no page" in text]
    for text in texts:
        assert len(text) < 20_000
        assert not set(text) & set("\x00\x07\x1b\ud800\r")
        assert text.count("</information>") == 1
    assert play(env, env.unwrapped.instance.solution())[0] == 1.0


class Server:
    """A Search-R1 server on this machine; ``fault`` makes it answer something else."""

    def __init__(self):
        self.fault = None
        self.asked = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                data = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.asked.append(self.path)
                status, answer = server.answer(self.path, data)
                body = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *told):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.01,))
        self.thread.start()

    def answer(self, path, data):
        if self.fault is not None or path != "/retrieve":
            return self.fault or (404, {})
        found = [
            {
                "document": {"id": page["id"], "contents": f'"{page["title"]}"\n{page["text"]}'},
                "score": 1,
            }
            for page in PAGES
        ]
        return 200, {"result": [found[: data["topk"]]]}

    def close(self):
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


@pytest.fixture
def server(monkeypatch):
    pytest.importorskip("httpx", reason="the extra 'report' is not installed")
    monkeypatch.setattr(remote, "_PAUSE_S", 0.0)
    server = Server()
    yield server
    server.close()


def test_a_server_is_searched_and_its_passages_are_opened(files, server):
    env = gym.make(TASK_ID, **(files | {"corpus": server.url}))
    env.reset(options={"index": 0})
    assert "There is no page" in env.step("<access>anna</access>")[0]
    assert "Anna Vell (anna): Anna Vell was born" in env.step("<search>mayor</search>")[0]
    assert "# Anna Vell" in env.step("<access>anna</access>")[0]
    asked = len(server.asked)
    assert "Nothing was found" in env.step("<search>??</search>")[0]
    assert len(server.asked) == asked
    assert play(env, ["<answer>Ost</answer>"])[1].parts["evidence_opened"] == 0.5
    env.reset(options={"index": 0})
    assert "There is no page" in env.step("<access>anna</access>")[0]
    assert play(env, env.unwrapped.instance.solution())[0] == 1.0
    row = json.loads(json.dumps(env.unwrapped.instance.to_row()))
    assert row["problem"]["digest"] == ""
    assert rlvr_envs.verify(row, ["<answer>Ost</answer>"], trusted=True).score == 1.0
    assert not Path(files["index_dir"]).exists()


@pytest.mark.parametrize("fault", [(500, {}), (200, {"other": 1}), (200, {"result": [[3]]})])
def test_a_server_that_fails_is_no_wrong_answer(files, server, fault):
    env = gym.make(TASK_ID, **(files | {"corpus": server.url}))
    env.reset(options={"index": 0})
    server.fault = fault
    reward, verdict, _ = play(env, ["<search>mayor</search>"])
    assert reward == 0.0
    assert verdict.status is Status.VERIFIER_ERROR
