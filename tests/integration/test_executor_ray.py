"""The Ray executor on clusters of several nodes, which are processes of this machine."""

import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from patience import eventually

ray = pytest.importorskip("ray", reason="needs the ray extra")
from ray.cluster_utils import Cluster  # noqa: E402

import rlvr_envs  # noqa: E402
from rlvr_envs.core.errors import WorkerDied, WorkerTimeout  # noqa: E402
from rlvr_envs.datasets.score import judge, oracle_samples  # noqa: E402
from rlvr_envs.evaluation import evaluate  # noqa: E402
from rlvr_envs.executors import Call, Serial  # noqa: E402
from rlvr_envs.executors.ray import RayExecutor  # noqa: E402

# Ray's own sockets and warnings are not ours to mend.
pytestmark = pytest.mark.filterwarnings("ignore")


TRACED = "fakes.traced:traced"


@pytest.fixture
def cluster(monkeypatch):
    tests = str(Path(__file__).parents[1])  # nodes import `fakes.traced`
    monkeypatch.setenv("PYTHONPATH", f"{tests}:{os.environ.get('PYTHONPATH', '')}")
    made = []

    def make(nodes):
        cluster = Cluster(
            initialize_head=True,
            head_node_args={"num_cpus": 0, "include_dashboard": False},
        )
        made.append(cluster)
        for _ in range(nodes):
            cluster.add_node(num_cpus=1)
        ray.init(address=cluster.address, log_to_driver=False)
        return cluster

    yield make
    ray.shutdown()
    for cluster in made:
        cluster.shutdown()


def test_verdicts_are_those_of_this_process(cluster):
    cluster(2)
    rows = [rlvr_envs.make_problem("Gcd-v0", seed=n) for n in range(40)]
    rows += [rlvr_envs.make_problem("StringFunctionCode-v0", seed=n) for n in range(2)]
    rows += [rlvr_envs.make_problem("GuessNumber-v0", seed=n) for n in range(4)]
    samples = list(oracle_samples(rows))
    with RayExecutor() as executor:
        found = list(judge(samples, executor=executor))
    assert found == list(judge(samples, executor=Serial()))


def test_an_evaluation_survives_a_killed_host_and_a_killed_node(cluster):
    nodes = cluster(3)
    asked = {"difficulty": [0, 2], "episodes": 60, "samples": 2}
    ids, policies = ["Puzzle-v0", "GuessNumber-v0"], ["oracle", "random"]

    def kill(progress):
        if progress.done == 60:
            _kill(_hosts()[:1])
        elif progress.done == 300:
            nodes.remove_node(next(iter(nodes.worker_nodes)), allow_graceful=False)

    with RayExecutor() as executor:
        run = evaluate(ids, policies, **asked, executor=executor, progress=kill)
    there = {record["key"]: record["verdict"] for record in run.records}
    here = evaluate(ids, policies, **asked)
    assert there == {record["key"]: record["verdict"] for record in here.records}
    assert len(run.records) == len(there) == 960


def test_calls_survive_lost_workers_hosts_and_nodes(cluster, tmp_path):
    """While calls run, a pool worker, a host and a node are killed, and a node joins."""
    nodes = cluster(3)
    victims = list(nodes.worker_nodes)
    count, got = 300, []
    calls = (Call((n, str(tmp_path), "sleep")) for n in range(count))
    with RayExecutor() as executor:
        results = executor.map(TRACED, calls, cpu_s=5, batch=5)
        for number, outcome in enumerate(results):
            got.append(outcome.value)
            if number == 20:
                _kill(_workers_of(_hosts()[0])[:1])
            elif number == 60:
                _kill(_hosts()[:1])
            elif number == 120:
                nodes.remove_node(victims[0], allow_graceful=False)
            elif number == 180:
                nodes.add_node(num_cpus=1)
    assert got == list(range(count))
    done = {int(trace.name.partition("-")[0]) for trace in tmp_path.iterdir()}
    assert done == set(range(count))


def _hosts():
    """Return the process ids of the actors of the clusters that this test started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_text().startswith("ray::Host") and _is_ours(int(path.parent.name)):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return sorted(found)


def _parent(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _is_ours(pid):
    while pid > 1:
        if pid == os.getpid():
            return True
        pid = _parent(pid)
    return False


def _workers_of(host):
    """Return the process ids of the workers of a host's pool: its grandchildren."""
    children = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            children.setdefault(_parent(int(path.parent.name)), []).append(int(path.parent.name))
        except OSError:
            continue
    return [pid for child in children.get(host, []) for pid in children.get(child, [])]


def _kill(pids):
    assert pids
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def test_hostile_calls_cost_no_other(cluster, tmp_path):
    cluster(2)
    actions = {7: "hang", 23: "segfault"}
    calls = [Call((n, str(tmp_path), actions.get(n, ""))) for n in range(60)]
    with RayExecutor() as executor:
        found = list(executor.map(TRACED, calls, cpu_s=1, batch=8))
    assert isinstance(found[7].error, WorkerTimeout)
    assert isinstance(found[23].error, WorkerDied)
    honest = [outcome.value for n, outcome in enumerate(found) if n not in actions]
    assert honest == [n for n in range(60) if n not in actions]


def test_a_call_that_brings_hosts_down_is_found_by_halving(cluster, tmp_path):
    cluster(2)
    calls = [
        Call((n, str(tmp_path), "kill host" if n == 5 else ""), in_sandbox=True) for n in range(12)
    ]
    with RayExecutor() as executor:
        found = list(executor.map(TRACED, calls, cpu_s=5, batch=12))
    assert "its host was lost" in str(found[5].error)
    assert [o.value for n, o in enumerate(found) if n != 5] == [n for n in range(12) if n != 5]


def _digest(folder):
    return hashlib.sha256(
        b"".join(path.read_bytes() for path in sorted(folder.rglob("*.*")) if path.is_file())
    ).hexdigest()


GENERATE = (
    "generate",
    "Gcd-v0",
    "GuessNumber-v0",
    "--count",
    "300",
    "--shard-rows",
    "60",
    "--quiet",
)


def test_datasets_have_the_same_bytes_and_go_on_after_a_killed_driver(cluster, tmp_path):
    nodes = cluster(2)
    address = ["--executor", "ray", "--address", nodes.address]
    ways = {"serial": [], "two": ["--workers", "2"], "ray": address}
    for name, way in ways.items():
        run = [sys.executable, "-m", "rlvr_envs", *GENERATE, *way, "--out", str(tmp_path / name)]
        subprocess.run(run, check=True, timeout=300)
    out = tmp_path / "killed"
    run = [sys.executable, "-m", "rlvr_envs", *GENERATE, *address, "--out", str(out)]
    driver = subprocess.Popen(run)
    assert eventually(lambda: list(out.glob("data/*.jsonl")))
    driver.kill()
    driver.wait()
    assert len(list(out.glob("data/*.jsonl"))) < 10
    subprocess.run(run, check=True, timeout=300)
    ways["killed"] = address
    assert len({_digest(tmp_path / name) for name in ways}) == 1


def test_no_cluster_is_a_clear_error():
    done = subprocess.run(
        [
            *(sys.executable, "-m", "rlvr_envs", *GENERATE, "--out", "unused"),
            *("--executor", "ray", "--address", "127.0.0.1:1"),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 2
    assert "no Ray cluster at '127.0.0.1:1'" in done.stderr
    assert not Path("unused").exists()
