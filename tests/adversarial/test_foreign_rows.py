"""Rows of strangers: they open nothing, end in time, and break nothing but themselves."""

import dataclasses
import json
import random
import sys
import typing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import gymnasium as gym
import pytest

import rlvr_envs
from rlvr_envs.cli.main import main
from rlvr_envs.core import registry
from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.errors import DependencyError, RowError, WorkerMemory, WorkerTimeout
from rlvr_envs.core.instance import TrustedRow
from rlvr_envs.core.problem import check_size
from rlvr_envs.executors import Call, Processes
from rlvr_envs.serving.episodes import Refusal, make_rows

CORPUS = "rlvr/SearchCorpus-v0"
BAIT = "bait-of-rows"


def stored(task_id, **arguments):
    """Return a row as it comes from a file."""
    example = dict(registry.find(task_id).example)
    row = rlvr_envs.make_problem(task_id, seed=5, **{**example, **arguments})
    return json.loads(json.dumps(row))


def own_response(row):
    reference = row["reference"]
    return (
        reference
        if isinstance(reference, list)
        else answer_format(row["answer_format"]).wrap(reference)
    )


# What a row may open: nothing that it names.


class _Opened:
    """What this process opens or reaches whose name holds the bait, while it is on."""

    def __init__(self):
        self.on = False
        self.seen = []
        sys.addaudithook(self._hook)  # never goes away, so it is one for all tests

    def _hook(self, event, arguments):
        watched = event.startswith(("open", "os.", "socket.", "shutil.", "subprocess."))
        if self.on and watched and any(BAIT in repr(each) for each in arguments):
            self.seen.append((event, arguments))


_OPENED = _Opened()


def naming_knobs(task_type):
    """Return the knobs that hold any text: one of them may be a name of something."""
    hints = typing.get_type_hints(task_type.Config)
    return [
        each.name
        for each in dataclasses.fields(task_type.Config)
        if str in (hints[each.name], *typing.get_args(hints[each.name]))
    ]


@pytest.mark.parametrize("domain", registry.DOMAINS)
def test_no_task_opens_what_a_row_names(domain, tmp_path):
    """Whatever text a row's configuration holds, no file or server of that name is touched."""
    bait = tmp_path / f"{BAIT}.jsonl"
    bait.write_text('{"id": "a", "title": "A", "text": "b", "question": "c", "answer": "d"}\n')
    baits = [str(bait), f"http://{BAIT}.invalid/"]
    _OPENED.seen.clear()
    for task_id in rlvr_envs.list_tasks(domain):
        names = naming_knobs(registry.find(task_id).task_type)
        if not names:
            continue
        try:
            row = stored(task_id)
        except DependencyError:
            continue
        for name in names:
            for bait in baits:
                altered = {**row, "config": {**row["config"], name: bait}}
                if name == "corpus":  # a file of questions goes with it
                    altered["config"]["questions"] = bait
                _OPENED.on = True
                try:
                    rlvr_envs.solve(altered)
                    rlvr_envs.verify(altered, own_response(row))
                except RowError:
                    pass
                finally:
                    _OPENED.on = False
    assert _OPENED.seen == []


@pytest.fixture
def files(tmp_path):
    (tmp_path / "pages.jsonl").write_text('{"id": "a", "title": "Ost", "text": "A harbour."}\n')
    (tmp_path / "asked.jsonl").write_text('{"question": "which harbour", "answer": ["Ost"]}\n')
    return {
        "corpus": str(tmp_path / "pages.jsonl"),
        "questions": str(tmp_path / "asked.jsonl"),
        "index_dir": str(tmp_path / "index"),
    }


@pytest.fixture
def server():
    """A search server that counts the requests it gets."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked.append(self.rfile.read(int(self.headers["Content-Length"])))
            body = b'{"result": [[]]}'
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=made.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{made.server_port}", asked
    made.shutdown()
    made.server_close()


def test_a_row_makes_no_request_unless_it_is_trusted(files, server, tmp_path, capsys):
    pytest.importorskip("httpx", reason="the extra 'report' is not installed")
    url, asked = server
    row = stored(CORPUS)
    row["config"] |= {**files, "corpus": url}
    row["problem"] |= {"digest": "", "titles": [], "pages": []}
    row |= {"fingerprint": None, "reference": ["<search>ost</search>", "<answer>Ost</answer>"]}
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps(row) + "\n")
    assert main(["verify", str(rows), "--oracle"]) == 2
    assert f"would open corpus='{url}'" in (told := capsys.readouterr().err)
    assert "--trust-rows" in told
    assert main(["export", "--to", "sft", str(rows), "--out", str(tmp_path / "x.jsonl")]) == 2
    with pytest.raises(RowError, match="would open corpus"):
        rlvr_envs.verify(row, ["<search>ost</search>"])
    with pytest.raises(RowError, match="would open corpus"):
        gym.make(CORPUS).reset(options={"problem": row})
    assert asked == []
    main(["verify", str(rows), "--oracle", "--trust-rows"])
    assert len(asked) == 1


def test_a_row_writes_no_folder_unless_it_is_trusted(files, tmp_path, capsys):
    row = json.loads(json.dumps(rlvr_envs.make_problem(CORPUS, seed=1, **files)))
    for made in (tmp_path / "index").iterdir():  # as on another machine
        made.rename(tmp_path / made.name)
    row["config"]["index_dir"] = str(tmp_path / "elsewhere")
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps(row) + "\n")
    assert main(["verify", str(rows), "--oracle"]) == 2
    assert not (tmp_path / "elsewhere").exists()
    assert main(["verify", str(rows), "--oracle", "--trust-rows"]) == 0
    assert (tmp_path / "elsewhere").exists()
    assert rlvr_envs.verify(row, rlvr_envs.solve(row), trusted=True).score == 1.0


def test_the_callers_own_knobs_may_name_files(files):
    row = rlvr_envs.make_problem(CORPUS, seed=1, **files)
    assert isinstance(row, TrustedRow)
    assert rlvr_envs.verify(row, rlvr_envs.solve(row)).score == 1.0
    foreign = json.loads(json.dumps(row))
    gym.make(CORPUS, **files).reset(options={"problem": foreign})
    with pytest.raises(RowError, match="would open"):
        gym.make(CORPUS, **files, max_calls=3).reset(options={"problem": foreign})


def test_a_row_of_your_own_file_is_judged_without_the_file(tmp_path):
    path = tmp_path / "asked.jsonl"
    path.write_text('{"question": "1 + 1?", "answer": "2"}\n')
    row = json.loads(json.dumps(rlvr_envs.make_problem("MathDataset-v0", seed=1, path=str(path))))
    path.unlink()
    assert rlvr_envs.verify(row, rlvr_envs.solve(row)).score == 1.0


def test_a_client_of_a_server_names_no_file(files):
    refused = make_rows({"id": CORPUS, "seed": 0, "count": 1, "knobs": files})
    assert isinstance(refused, Refusal)
    assert "would open" in refused.reason


# How long a row may take, and what may come of it.

ENDLESS = ("rlvr/ChainSearch-v0", ("problem", "world", "n_people"), 10**12)


def put(row, path, value):
    """Return a row with another value at a path, and no fingerprint that would tell."""
    row = {**json.loads(json.dumps(row)), "fingerprint": None}
    place = row
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return row


def test_one_altered_integer_holds_up_no_other_row(tmp_path, capsys):
    task_id, path, value = ENDLESS
    good = stored("rlvr/Gcd-v0")
    rows, out = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    endless = put(stored(task_id, difficulty=0), path, value)
    unsolved = {key: each for key, each in endless.items() if key != "reference"}
    rows.write_text("".join(json.dumps(row) + "\n" for row in (endless, good, unsolved)))
    command = ["verify", str(rows), "--oracle", "--cpu-s", "1", "--out", str(out)]
    assert main(command) == 2
    assert "row 2 of rlvr/ChainSearch-v0: the oracle fails" in capsys.readouterr().err
    assert main([*command, "--skip-bad-rows"]) == 1
    verdicts = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(each["row"], each["status"]) for each in verdicts] == [(0, "timeout"), (1, "correct")]


@pytest.mark.parametrize(
    "data",
    [
        10**5000,
        -(10**5000),
        "x" * (2**26 + 1),
        [[[[0] * 300] * 300] * 300] * 2,
        json.loads("[" * 100 + "]" * 100),
    ],
    ids=["integer", "negative integer", "text", "values", "depth"],
)
def test_data_larger_than_any_problem_is_refused(data):
    with pytest.raises(RowError, match=r"digits|larger than any problem"):
        check_size({"a": [data]}, "problem")


def test_data_of_any_form_in_a_file_is_a_bad_line(tmp_path, capsys):
    row = stored("rlvr/Gcd-v0")
    deep = json.dumps({**row, "problem": "DEEP"}).replace('"DEEP"', "[" * 900 + "]" * 900)
    long = json.dumps({**row, "problem": "LONG"}).replace('"LONG"', "9" * 5000)
    rows = tmp_path / "rows.jsonl"
    rows.write_text("\n".join([deep, long, json.dumps(row)]))
    assert main(["verify", str(rows), "--oracle", "--skip-bad-rows"]) == 0
    assert "1 of 3 rows answered, 2 bad lines left out" in capsys.readouterr().out


def paths(data, before=()):
    """Return the place of every value in JSON data; of a long list, of its first items."""
    found = []
    items = data.items() if isinstance(data, dict) else enumerate(data[:4])
    for key, value in items:
        found.append((*before, key))
        if isinstance(value, (dict, list)):
            found += paths(value, (*before, key))
    return found


def altered(rng, value):
    """Return another value, near the old one or of another type."""
    anything = [0, -1, 10**9, 10**30, 10**4000, 1.5, float("nan"), True, None, "", "(", [], {}]
    near = [rng.choice(anything)]
    if type(value) is int:
        near = [value + 1, value * 1000 + 7, -value - 1, 10**12]
    elif isinstance(value, str):
        near = [value[:-1], value + "(", value * 50, f"http://{BAIT}.invalid/"]
    elif isinstance(value, list):
        near = [value[:-1], value + value[:1], value * 20, []]
    return rng.choice([*near, rng.choice(anything)])


def mutants(row, each):
    """Return copies of a row, each with one value altered: some for every field."""
    rng = random.Random(row["id"])
    places = [(key,) for key in ("answer_format", "difficulty", "problem_seed", "reference")]
    for part in ("config", "problem"):
        for field in row[part]:
            below = row[part][field]
            inner = paths(below, (part, field)) if isinstance(below, (dict, list)) else []
            places += rng.sample([(part, field), *inner], min(each, 1 + len(inner)))
    for place in places:
        old = row
        for key in place:
            old = old[key]
        yield place, put(row, place, altered(rng, old))


@pytest.fixture(scope="module")
def workers():
    with Processes() as executor:
        yield executor


@pytest.mark.parametrize("domain", registry.DOMAINS)
def test_an_altered_row_gives_a_verdict_or_a_row_error(domain, thorough, workers):
    """Of fields of every task's rows; what takes too long is ended."""
    judged, solved = [], []
    for task_id in rlvr_envs.list_tasks(domain):
        try:
            row = stored(task_id)
        except DependencyError:
            continue
        cases = list(mutants(row, 10 if thorough else 2))
        if not thorough:  # tasks with many fields would take minutes
            cases = random.Random(task_id).sample(cases, min(24, len(cases)))
        solved += [(place, Call((mutant,))) for place, mutant in cases]
        in_sandbox = registry.find(task_id).task_type.judged_in_sandbox
        if in_sandbox and not thorough:  # a program is run for each
            cases = random.Random(task_id).sample(cases, 4)
        response = own_response(row)
        judged += [(place, Call((mutant, response), in_sandbox)) for place, mutant in cases]
    check_outcomes(workers, "verify", judged)
    check_outcomes(workers, "solve", solved)


def check_outcomes(workers, name, items):
    """Each call ends, with what it is for or with a `RowError`."""
    outcomes = workers.map(f"rlvr_envs.core.rows:{name}", [call for _, call in items], cpu_s=0.5)
    for (place, call), outcome in zip(items, outcomes, strict=True):
        ended = isinstance(outcome.error, (WorkerTimeout, WorkerMemory))
        fine = outcome.error is None or ended or str(outcome.error).startswith("RowError: ")
        assert fine, (name, call.arguments[0]["id"], place, str(outcome.error)[:300])


CODE_ROWS = {
    "checker": (
        {"prompt": "Print a number above the one that you read.", "checker": "print(1)",
         "tests": [{"input": "3", "output": "4"}, {"input": "5", "output": "6"}]},
        {},
        "print(int(input()) + 1)",
    ),
    "json": (
        {"prompt": "def pair(n, s):\n    pass\n", "entry_point": "pair",
         "test": "def check(candidate):\n    assert candidate(1, 'a') == (1, 'a')\n"},
        {"language": "perl"},
        "print scalar <STDIN>;",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", CODE_ROWS)
def test_an_altered_row_of_a_file_of_programs(kind, thorough, workers, tmp_path):
    """Of kinds of rows that the sample of the package has not."""
    data, knobs, program = CODE_ROWS[kind]
    (tmp_path / "a.jsonl").write_text(json.dumps(data) + "\n")
    row = stored("rlvr/CodeDataset-v0", path=str(tmp_path / "a.jsonl"), **knobs)
    response = answer_format(row["answer_format"]).wrap(program)
    assert rlvr_envs.verify(row, response).score == 1.0
    cases = list(mutants(row, 10 if thorough else 2))
    judged = [(place, Call((mutant, response), in_sandbox=True)) for place, mutant in cases]
    check_outcomes(workers, "verify", judged)
    check_outcomes(workers, "solve", [(place, Call((mutant,))) for place, mutant in cases])
