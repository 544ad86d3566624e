"""The retrieval server: Search-R1's wire, read by a plain client and by the package's own."""

import json
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import gymnasium as gym
import pytest

import rlvr_envs  # noqa: F401 - registers the tasks
from rlvr_envs.cli.main import main
from rlvr_envs.generators.worlds.site import Shelf, site
from rlvr_envs.generators.worlds.spec import WorldSpec
from rlvr_envs.retrieval.corpus import open_corpus
from rlvr_envs.retrieval.remote import HttpEngine
from rlvr_envs.retrieval.server import MOST_HITS, MOST_QUERIES, RetrievalServer

PAGES = site(WorldSpec.at(0), 1)
PAGE = next(iter(PAGES.pages.values()))


@pytest.fixture(scope="module")
def server():
    with RetrievalServer(Shelf(PAGES)) as running:
        yield running


def ask(server, path, data):
    body = data if isinstance(data, bytes) else json.dumps(data).encode()
    try:
        with urllib.request.urlopen(server.url + path, body, timeout=20) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_each_query_has_its_hits_with_scores_in_falling_order(server):
    asked = {"queries": [f'"{PAGE.title}"', "member"], "topk": 2, "return_scores": True}
    status, reply = ask(server, "/retrieve", asked)
    assert status == 200
    first, second = reply["result"]
    assert first[0]["document"]["id"] == PAGE.id
    assert first[0]["document"]["contents"].startswith(f'"{PAGE.title}"\n## Overview\n')
    assert len(second) == 2
    assert second[0]["score"] >= second[1]["score"] > 0


def test_without_scores_documents_stand_bare_and_topk_may_be_left_out(server):
    status, reply = ask(server, "/retrieve", {"queries": ["member"]})
    assert status == 200
    assert len(reply["result"][0]) == 3
    assert reply["result"][0][0].keys() == {"id", "contents"}


def test_a_query_without_words_finds_nothing(server):
    assert ask(server, "/retrieve", {"queries": ["", "  ", "zzzqqq"]})[1] == {
        "result": [[], [], []]
    }
    assert ask(server, "/retrieve", {"queries": []})[1] == {"result": []}


def test_documents_are_shown_by_their_ids(server):
    status, reply = ask(server, "/access", {"urls": [PAGE.id, "no-such-page"]})
    assert status == 200
    assert reply["result"][0]["contents"].startswith(f'"{PAGE.title}"\n')
    assert reply["result"][1] is None


@pytest.mark.parametrize(
    ("path", "data", "status", "told"),
    [
        ("/retrieve", b"{", 400, "not JSON"),
        ("/retrieve", b"\xff", 400, "not JSON"),
        ("/retrieve", b"[" * 100_000, 400, "not JSON"),
        ("/retrieve", [1], 400, "JSON object"),
        ("/retrieve", {}, 400, "queries is a list of texts, got None"),
        ("/retrieve", {"queries": "Ost"}, 400, "queries is a list of texts"),
        ("/retrieve", {"queries": [1]}, 400, "queries is a list of texts"),
        ("/retrieve", {"queries": ["a"] * (MOST_QUERIES + 1)}, 400, "at most 1024 texts"),
        ("/retrieve", {"queries": ["a"], "topk": 0}, 400, "topk is a whole number from 1"),
        ("/retrieve", {"queries": ["a"], "topk": MOST_HITS + 1}, 400, "topk is a whole number"),
        ("/retrieve", {"queries": ["a"], "topk": True}, 400, "topk is a whole number"),
        ("/retrieve", {"queries": ["a"], "topk": "3"}, 400, "topk is a whole number"),
        ("/retrieve", {"queries": ["a"], "return_scores": 1}, 400, "true or false"),
        ("/access", {"urls": None}, 400, "urls is a list of texts"),
        ("/else", {}, 404, "there are /retrieve, /access"),
    ],
)
def test_a_bad_request_is_told_what_is_wrong(server, path, data, status, told):
    got, reply = ask(server, path, data)
    assert got == status
    assert told in reply["detail"]


@pytest.mark.parametrize(
    ("length", "status"), [(None, b"411"), (b"-1", b"411"), (b"x", b"411"), (b"9999999999", b"413")]
)
def test_a_body_is_not_read_without_a_fair_length(server, length, status):
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as line:
        told = b"" if length is None else b"Content-Length: " + length + b"\r\n"
        line.sendall(b"POST /retrieve HTTP/1.0\r\n" + told + b"\r\n")
        assert line.recv(1_000).split()[1] == status


def test_a_server_that_is_closed_frees_its_port():
    with RetrievalServer(Shelf(PAGES)) as first:
        port = int(first.url.rsplit(":", 1)[1])
    with RetrievalServer(Shelf(PAGES), port=port) as again:
        assert ask(again, "/retrieve", {"queries": ["member"], "topk": 1})[0] == 200


def test_the_packages_own_client_reads_it(server):
    pytest.importorskip("httpx", reason="the extra 'report' is not installed")
    engine = HttpEngine(url=server.url)
    here = PAGES.engine.search("member born", 5)
    assert [(hit.id, hit.title) for hit in engine.search("member born", 5)] == [
        (hit.id, hit.title) for hit in here
    ]
    assert engine.page(here[0].id).title == here[0].title
    assert engine.page("no-such-page") is None


def test_an_environment_plays_over_it_in_search_r1s_format(server, tmp_path):
    pytest.importorskip("httpx", reason="the extra 'report' is not installed")
    questions = tmp_path / "questions.jsonl"
    asked = {"question": "What has a page?", "answers": [PAGE.title], "titles": [PAGE.title]}
    questions.write_text(json.dumps(asked) + "\n")
    env = gym.make(
        "rlvr/SearchCorpus-v0",
        corpus=server.url,
        questions=str(questions),
        syntax="search_r1",
        hits=3,
    )
    env.reset(options={"index": 0})
    told = env.step(f'<search>"{PAGE.title}"</search>')[0]
    assert f'<information>Doc 1(Title: "{PAGE.title}") ## Overview' in told
    reward, info = env.step(f"<answer>{PAGE.title}</answer>")[1::3]
    assert reward == 1.0
    assert info["verdict"].parts["evidence_opened"] == 1.0


def test_a_corpus_file_is_served(tmp_path):
    corpus = tmp_path / "pages.jsonl"
    corpus.write_text('{"id": "ost", "title": "Ost", "text": "Ost is a harbour."}\n')
    with RetrievalServer(open_corpus(corpus, "bm25", tmp_path / "index")) as server:
        reply = ask(server, "/retrieve", {"queries": ["harbour"]})[1]
    assert reply == {"result": [[{"id": "ost", "contents": '"Ost"\nOst is a harbour.'}]]}


def test_the_command_serves_a_world_until_it_is_stopped():
    command = [sys.executable, "-m", "rlvr_envs", "serve-search", "--world", "0", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            url = process.stdout.readline().split()[-1].removesuffix("/retrieve")
            served = type("Served", (), {"url": url})
            status, reply = ask(served, "/retrieve", {"queries": ["member"], "topk": 2})
        finally:
            process.terminate()
    assert status == 200
    assert len(reply["result"][0]) == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "either a corpus file or --world"),
        (["pages.jsonl", "--world", "1"], "either a corpus file or --world"),
        (["--world", "-1"], "0 or more, got -1"),
        (["--world", "0", "--port", "70000"], "--port is from 0 to 65535, got 70000"),
        (["--world", "0", "--topk", "0"], "--topk is from 1 to 100, got 0"),
        (["no-such-file.jsonl"], "no-such-file.jsonl"),
        (["--world", "0", "--port", "0", "--host", "300.1.1.1"], "cannot listen on 300.1.1.1"),
    ],
)
def test_a_slip_on_the_command_line_is_one_line(arguments, told, capsys):
    assert main(["serve-search", *arguments]) != 0
    assert told in capsys.readouterr().err
