"""`rlvr eval` as a program: its output, its errors, and how it survives being killed."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from fakes.openai_chat import ChatServer

pytest.importorskip("httpx")
pytest.importorskip("plotly")
pytest.importorskip("rich")

TASK = "rlvr/Gcd-v0"
EPISODES = 100  # enough that a loaded machine still meets the run at work


@pytest.fixture
def endpoint():
    """A model that needs 30 ms for each answer; counts what it is asked."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(body["messages"][0]["content"])
            time.sleep(0.03)
            data = json.dumps({"choices": [{"message": {"content": "\\boxed{1}"}}]}).encode()
            try:
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
            except (BrokenPipeError, ConnectionResetError):
                pass  # the client was killed

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.asked = asked
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def command(*arguments):
    return [sys.executable, "-m", "rlvr_envs", "eval", *map(str, arguments)]


def run(*arguments, status=0, program=command):
    done = subprocess.run(
        program(*arguments), check=False, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == status, done.stderr
    return done


def against(endpoint, folder):
    return (
        TASK,
        "--policy=openai:stub",
        f"--base-url=http://127.0.0.1:{endpoint.server_port}/v1",
        "--api-key-env=RLVR_NO_SUCH_KEY",
        "--concurrency=2",
        f"--episodes={EPISODES}",
        "--difficulty=0",
        "--no-report",
        f"--out={folder}",
    )


def lines(folder):
    path = folder / "episodes.jsonl"
    return path.read_bytes().splitlines(keepends=True) if path.exists() else []


def cut_short(endpoint, folder, sent):
    """Start a run, end it by a signal when some episodes are on disk; return their number."""
    process = subprocess.Popen(
        # A shell lets its background jobs ignore SIGINT, and with them these tests.
        ["env", "--default-signal=INT", *command(*against(endpoint, folder))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while len(lines(folder)) < 8 and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(sent)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode != 0
    found = len(lines(folder))
    assert 8 <= found < EPISODES
    return found, process.returncode, complaint


def problems(folder):
    return [json.loads(line) for line in (folder / "problems.jsonl").read_bytes().splitlines()]


def assert_complete(folder):
    records = [json.loads(line) for line in lines(folder)]
    questions = [problem["question"] for problem in problems(folder)]
    assert sorted(questions) == sorted({record["question"] for record in records})
    assert Counter(record["key"] for record in records).most_common(1)[0][1] == 1
    assert len(records) == EPISODES
    assert all(record["scored"] for record in records)
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["levels"]["overall"][0]["episodes"] == EPISODES


def test_kill_9_loses_nothing_that_ended_and_the_same_command_resumes(endpoint, tmp_path):
    kept, code, _ = cut_short(endpoint, tmp_path, signal.SIGKILL)
    assert code == -signal.SIGKILL
    before = lines(tmp_path)
    assert all(json.loads(line)["scored"] for line in before)
    posed = {problem["question"] for problem in problems(tmp_path)}
    assert posed >= {json.loads(line)["question"] for line in before}
    for name in ("episodes.jsonl", "problems.jsonl"):
        with (tmp_path / name).open("ab") as file:
            file.write(b'{"key": "half a li')  # what a full disk or a power cut leaves
    endpoint.asked.clear()
    run(*against(endpoint, tmp_path), "--no-progress")
    assert lines(tmp_path)[:kept] == before
    assert len(endpoint.asked) == EPISODES - kept
    assert_complete(tmp_path)


def test_ctrl_c_keeps_what_ended_and_says_so(endpoint, tmp_path):
    kept, code, complaint = cut_short(endpoint, tmp_path, signal.SIGINT)
    assert code == 130
    assert "what was finished is kept" in complaint
    assert "Traceback" not in complaint
    endpoint.asked.clear()
    run(*against(endpoint, tmp_path), "--no-progress")
    assert len(endpoint.asked) == EPISODES - kept
    assert_complete(tmp_path)


def test_a_run_leaves_five_files_a_table_and_a_report(tmp_path):
    done = run(
        "Gcd-v0", "--policy=oracle", "--policy=constant:1", "--difficulty=0,2", "--episodes=5",
        "--samples=2", f"--out={tmp_path / 'run'}",
    )  # fmt: skip
    assert {path.name for path in (tmp_path / "run").iterdir()} == {
        "run.json", "problems.jsonl", "episodes.jsonl", "summary.json", "report.html",
    }  # fmt: skip
    assert "pass@2" in done.stdout
    rows = [line.split() for line in done.stdout.splitlines()]
    assert rows[0] == [TASK]
    assert [row[1:3] for row in rows if row[:1] == ["oracle"]] == [["10×2", "1.000"]]
    assert [row[2] for row in rows if row[:1] in (["0"], ["2"])] == ["1.000", "1.000"]
    assert "report.html" in done.stderr


def test_json_needs_no_table(tmp_path):
    done = run(TASK, "--policy=oracle", "--episodes=3", "--json", "--no-progress")
    data = json.loads(done.stdout)
    assert data["levels"]["overall"][0]["score"]["mean"] == 1.0
    assert data["config"]["ids"] == [TASK]


def test_options_reach_the_endpoint_and_tokens_have_a_price(tmp_path):
    with ChatServer(lambda messages: "\\boxed{1}") as server:
        arguments = (
            TASK,
            "--policy=openai:stub",
            f"--base-url={server.url}",
            "--api-key-env=RLVR_NO_SUCH_KEY",
            "--episodes=3",
            "--stream",
            "--temperature=none",
            "--top-p=0.5",
            "--stop=a",
            "--stop=b",
            "--sampling-seed=3",
            '--chat-template-args={"enable_thinking": false}',
            '--extra-body={"top_k": 20}',
            f"--out={tmp_path}",
            "--no-report",
        )
        told = run(*arguments, "--price", "20000", "40000").stdout
        found = json.loads(run(*arguments, "--price", "20000", "40000", "--json").stdout)
    body = server.requests[0]
    assert "temperature" not in body
    assert (body["top_p"], body["stop"], body["seed"], body["top_k"]) == (0.5, ["a", "b"], 3, 20)
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    assert body["stream"] is True
    assert len(server.requests) == 3
    assert "cost of openai:stub: $0.1800" in told
    assert found["cost"] == {"openai:stub": 0.18}


def test_knobs_and_shots_reach_the_problems(tmp_path):
    run(
        TASK, "--policy=oracle", "--knob=n_numbers=5", "--shots=1", "--episodes=2",
        f"--out={tmp_path}",
    )  # fmt: skip
    config = json.loads((tmp_path / "run.json").read_text())["config"]
    assert (config["knobs"], config["shots"]) == ({"n_numbers": 5}, 1)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert len(re.findall(r"divisor of (?:\d+, ){3}\d+ and \d+\?", page)) == 2


def test_another_configuration_in_the_same_folder_is_refused(tmp_path):
    run(TASK, "--policy=oracle", "--episodes=3", f"--out={tmp_path}", "--no-report")
    before = lines(tmp_path)
    for changed, message in (
        ("--seed=1", "seed was 0, is 1"),
        ("--episodes=2", "ask for at least 3 episodes, or use another --out"),
    ):
        asked = (TASK, "--policy=oracle", "--episodes=3", changed, f"--out={tmp_path}")
        assert message in run(*asked, "--no-report", status=2).stderr
        assert lines(tmp_path) == before


def test_more_episodes_samples_and_policies_extend_a_run(tmp_path):
    asked = (TASK, "--no-report", f"--out={tmp_path}")
    run(*asked, "--policy=oracle", "--episodes=3")
    before = lines(tmp_path)
    run(*asked, "--policy=oracle", "--episodes=5", "--samples=2")
    assert lines(tmp_path)[:3] == before
    assert len(lines(tmp_path)) == 10
    done = run(*asked, "--policy=random", "--episodes=6", "--samples=2")
    assert [line.split()[:2] for line in done.stdout.splitlines()[3:5]] == [
        ["oracle", "5×2"],
        ["random", "6×2"],
    ]
    assert "oracle has 10 of the run's 12 episodes" in done.stderr
    config = json.loads((tmp_path / "run.json").read_text())["config"]
    assert (config["episodes"], config["samples"]) == (6, 2)
    assert list(config["policies"]) == ["oracle", "random"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["Gdc-v0", "--policy=oracle"], "did you mean 'rlvr/Gcd-v0'"),
        ([TASK, "--policy=orcale"], "did you mean 'oracle'"),
        ([TASK, "--policy=oracle", "--difficulty=0..3"], "'0-5', got '0..3'"),
        ([TASK, "--policy=oracle", "--episodes=0"], "episodes is an integer from 1"),
        ([TASK, "--policy=oracle", "--knob=n_number=3"], "did you mean 'n_numbers'"),
        ([TASK, "--policy=oracle", "--answer-format=xml"], "no answer format 'xml'"),
        ([TASK, "--policy=oracle", "--workers=0"], "an integer from 1 is needed, got '0'"),
        ([TASK, "--policy=oracle", "--executor=processes", "--workers=0"], "from 1 is needed"),
        ([TASK, "--policy=oracle", "--address=auto"], "an address is for the executor 'ray'"),
        ([TASK, "--policy=oracle", "--stop=x"], "stop=('x',) is for policies of the kind openai"),
        ([TASK, "--policy=openai:m", "--extra-body=[1]"], "expected a JSON object such as"),
        ([TASK, "--policy=openai:m", "--extra-body={"], "not JSON"),
        ([TASK, "--policy=openai:m", "--top-p=2"], "top_p is a share above 0, at most 1, got 2.0"),
        ([TASK, "--policy=openai:m", "--temperature=hot"], "a number is needed, got 'hot'"),
        ([TASK, "--policy=oracle", "--price", "1", "-2"], "a price is a number from 0"),
    ],
)
def test_bad_input_is_said_in_a_line_before_anything_runs(tmp_path, arguments, message):
    done = run(*arguments, f"--out={tmp_path / 'run'}", status=2)
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run").exists()


def test_worker_processes_give_the_same_table(tmp_path):
    asked = (TASK, "--policy=oracle", "--policy=random", "--episodes=10", "--no-report")
    here = run(*asked, f"--out={tmp_path / 'here'}")
    there = run(*asked, f"--out={tmp_path / 'there'}", "--executor=processes", "--workers=2")
    assert there.stdout == here.stdout
    scores = [
        [(row["by"], row["score"]) for row in json.loads(path.read_text())["levels"]["overall"]]
        for path in (tmp_path / "here/summary.json", tmp_path / "there/summary.json")
    ]
    assert scores[0] == scores[1]


def test_a_run_in_which_nothing_is_scored_has_status_1(tmp_path):
    recording = tmp_path / "none.jsonl"
    recording.write_text("")
    done = run(TASK, f"--policy=recorded:{recording}", "--episodes=2", status=1)
    assert "nothing could be scored" in done.stderr


def test_the_command_runs_without_an_api_key_in_the_environment():
    environment = {k: v for k, v in os.environ.items() if k != "OPENAI_API_KEY"}
    done = subprocess.run(
        command(TASK, "--policy=openai:m"),
        check=False,
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.returncode == 2
    assert "OPENAI_API_KEY holds no API key" in done.stderr


def rejudge(*arguments):
    return [sys.executable, "-m", "rlvr_envs", "rejudge", *map(str, arguments)]


def test_a_run_is_judged_again_in_processes_and_goes_on(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    asked = (TASK, "--policy=random", "--episodes=6", "--samples=2", "--no-report")
    run(*asked, f"--out={old}")
    done = run(old, f"--out={new}", "--workers=1", "--no-progress", program=rejudge)
    assert "12 episodes judged again, 0 of them with another verdict" in done.stdout
    before = lines(new)
    assert [json.loads(line)["verdict"] for line in before] == [
        json.loads(line)["verdict"] for line in lines(old)
    ]
    resumed = run(*asked, f"--out={new}")
    assert resumed.stdout == run(*asked, f"--out={old}").stdout
    assert lines(new) == before
    done = run(old, f"--out={new}", status=2, program=rejudge)
    assert "is not empty" in done.stderr
