"""`rlvr serve` beside OpenEnv's own server with the same environments, on this machine alone.

    make integration-openenv  # once: the environment that OpenEnv's server runs in
    python benchmarks/serving.py

Clients are coroutines of one process, each with a WebSocket; servers and clients share the cores.
A message is a reset or a step. Also: verdicts a second over /verify beside verdicts in this
process, and the memory of many idle sessions.
"""

import asyncio
import json
import os
import resource
import runpy
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from urllib.request import urlopen

import results_file

import rlvr_envs
from rlvr_envs.serving.async_client import AsyncClient

ROOT = Path(__file__).resolve().parents[1]
CLIENTS = (1, 16, 64, 256)
# A game of several turns, whose steps cost little; and tasks of one turn, from cheap to dear.
ENVIRONMENTS = {
    "GuessNumber-v0": "\\boxed{1}",
    "Sudoku-v0": "<answer>1</answer>",
    "Derivative-v0": "\\boxed{x^2\\sin x + 1}",
}
DIFFICULTY = 3
VERDICTS = 4000
_STOCK = """
import sys, uvicorn
from functools import partial
from openenv.core.env_server.http_server import create_app
from rlvr_envs.integrations.openenv import RlvrAction, RlvrEnvironment, RlvrObservation, RlvrState
app = create_app(
    partial(RlvrEnvironment, sys.argv[1]), RlvrAction, RlvrObservation,
    env_name="stock", max_concurrent_envs=100_000, state_cls=RlvrState,
)
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), log_level="error")
"""


def main() -> None:
    """Measure, print and store."""
    parser = results_file.parser(__doc__, "serving")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3, help="of all measurements in turn")
    parser.add_argument("--idle", type=int, default=10_000, help="idle sessions")
    args = parser.parse_args()
    python = _stock_python()
    samples: list[dict[str, Any]] = []
    for _ in range(args.rounds):
        for env_id in ENVIRONMENTS:
            for name, command in {"ours": _ours(env_id), "stock": _stock(python, env_id)}.items():
                with server(command) as port:
                    for clients in CLIENTS:
                        spent, own = _cpu_s(), time.process_time()
                        found = asyncio.run(load(port, env_id, clients, args.seconds))
                        messages = found.pop("messages")
                        found["cpu_us"] = round(1e6 * (_cpu_s() - spent) / messages)
                        found["clients_us"] = round(1e6 * (time.process_time() - own) / messages)
                        samples.append({"env": env_id, "server": name, "clients": clients, **found})
                        print(samples[-1], file=sys.stderr)
    figures = {
        "messages": results_file.table(_rows(samples)),
        "clients_cpu_us": median(sample["clients_us"] for sample in samples),
        "verdicts": verdicts(args.rounds),
        "idle_sessions": idle(args.idle),
    }
    head = results_file.head(
        "messages a second (resets and steps), their 99th percentile and the CPU of the server for "
        "each, of both servers with the same environments; median of the rounds",
        *("fastapi", "uvicorn", "websockets"),
        stock="openenv 0.10.0 in its own virtual environment",
        difficulty=DIFFICULTY,
    )
    results_file.store(args, head, figures, samples)
    print(json.dumps(figures, indent=1))


def _stock_python() -> Path:
    python: Path = runpy.run_path(str(ROOT / "scripts/client_env.py"))["python_of"]("openenv")
    if not python.exists():
        raise SystemExit("OpenEnv's server is not there: make integration-openenv")
    return python


def _ours(*ids: str) -> list[str]:
    limits = ["--sessions", "100000", "--idle", "86400", "--log-level", "warning"]
    return [sys.executable, "-m", "rlvr_envs", "serve", *ids, *limits, "--port"]


def _stock(python: Path, env_id: str) -> list[str]:
    return [str(python), "-c", _STOCK, env_id]


@contextmanager
def server(command: list[str]) -> Iterator[int]:
    """Run a server on a free port until the block ends."""
    port = _free_port()
    process = subprocess.Popen([*command, str(port)], cwd=ROOT)
    try:
        for _ in range(600):
            try:
                urlopen(f"http://127.0.0.1:{port}/health").read()
                break
            except OSError:
                time.sleep(0.1)
        yield port
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def _free_port() -> int:
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


async def load(port: int, env_id: str, clients: int, seconds: float) -> dict[str, float]:
    """Let clients play for some seconds; return messages a second and latencies."""
    from websockets.asyncio.client import connect

    times: list[float] = []
    url, answer = f"ws://127.0.0.1:{port}/ws", ENVIRONMENTS[env_id]
    step = json.dumps({"type": "step", "data": {"text": answer}})

    async def play(number: int, end: float) -> None:
        async with connect(url, compression=None, open_timeout=60) as socket:
            seed = number * 1_000_000
            while time.monotonic() < end:
                seed += 1
                data = {"seed": seed, "difficulty": DIFFICULTY}
                message, done = json.dumps({"type": "reset", "data": data}), False
                while not done:
                    began = time.perf_counter()
                    await socket.send(message)
                    reply = json.loads(await socket.recv())
                    times.append(time.perf_counter() - began)
                    if reply["type"] != "observation":
                        raise SystemExit(f"refused: {reply}")
                    message, done = step, reply["data"]["done"]

    began = time.monotonic()
    await asyncio.gather(*(play(i, began + seconds) for i in range(clients)))
    elapsed = time.monotonic() - began
    times.sort()
    return {
        "messages": len(times),
        "a_second": round(len(times) / elapsed),
        "p50_ms": round(1000 * times[len(times) // 2], 1),
        "p99_ms": round(1000 * times[int(0.99 * len(times))], 1),
    }


def _rows(samples: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    rows = {}
    for env_id in ENVIRONMENTS:
        for clients in CLIENTS:
            row: dict[str, Any] = {}
            for name in ("ours", "stock"):
                here = [
                    sample
                    for sample in samples
                    if (sample["env"], sample["clients"], sample["server"])
                    == (env_id, clients, name)
                ]
                row[name] = median(sample["a_second"] for sample in here)
                row[f"{name}_p99_ms"] = round(median(sample["p99_ms"] for sample in here), 2)
                row[f"{name}_cpu_us"] = median(sample["cpu_us"] for sample in here)
            row["ratio"] = round(row["ours"] / row["stock"], 2)
            rows[f"{env_id}, {clients} clients"] = row
    return rows


def verdicts(rounds: int) -> dict[str, float]:
    """Return verdicts a second over /verify, and in this process."""
    rows = [rlvr_envs.make_problem("Gcd-v0", seed=seed, difficulty=3) for seed in range(200)]
    pairs = [(row, f"\\boxed{{{i}}}") for i, row in enumerate(rows)] * (VERDICTS // len(rows))
    here, there = [], []
    with server(_ours("Gcd-v0")) as port:
        for _ in range(rounds):
            began = time.perf_counter()
            local = [rlvr_envs.verify(*pair) for pair in pairs]
            here.append(len(pairs) / (time.perf_counter() - began))
            began = time.perf_counter()
            remote = asyncio.run(_verify_over(port, pairs))
            there.append(len(pairs) / (time.perf_counter() - began))
            if remote != local:
                raise SystemExit("verdicts over the network differ from those of this process")
    return {
        "over_verify": round(median(there)),
        "in_process_one_core": round(median(here)),
        "ratio": round(median(there) / median(here), 2),
    }


async def _verify_over(port: int, pairs: list[Any]) -> list[Any]:
    async with AsyncClient(f"http://127.0.0.1:{port}") as client:
        parts = [pairs[i : i + 200] for i in range(0, len(pairs), 200)]
        found = await asyncio.gather(*(client.verify_all(part) for part in parts))
        return [verdict for part in found for verdict in part]


def idle(count: int) -> dict[str, float]:
    """Return the memory of the server's processes with and without idle sessions, in MB."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = min(count, hard - 500)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # the server inherits it
    with server(_ours("Gcd-v0")) as port:
        before = _memory_mb()
        after = asyncio.run(_hold(port, count))
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return {"sessions": count, "empty_mb": before, "full_mb": after}


async def _hold(port: int, count: int) -> float:
    from websockets.asyncio.client import connect

    limit = asyncio.Semaphore(100)

    async def one(number: int) -> Any:
        async with limit:
            url = f"ws://127.0.0.1:{port}/ws"
            socket = await connect(url, compression=None, open_timeout=60, ping_interval=None)
            await socket.send(json.dumps({"type": "reset", "data": {"seed": number}}))
            await socket.recv()
            return socket

    sockets = await asyncio.gather(*(one(i) for i in range(count)))
    memory = _memory_mb()
    await asyncio.gather(*(socket.close() for socket in sockets))
    return memory


def _servers() -> dict[int, list[str]]:
    """Return the processes that descend from this one, with the fields of their states."""
    states = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            states[int(path.parent.name)] = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
    family = [os.getpid()]
    for pid in family:
        family += [child for child, state in states.items() if int(state[1]) == pid]
    return {pid: states[pid] for pid in family[1:]}


def _cpu_s() -> float:
    """Return the CPU seconds of the server's processes, and of those that they have replaced."""
    ticks = sum(sum(map(int, state[11:15])) for state in _servers().values())
    return ticks / os.sysconf("SC_CLK_TCK")


def _memory_mb() -> float:
    """Return the resident memory of the server's processes, what they share counted once."""
    kib = 0
    for pid in _servers():
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                kib += int(line.split()[1])
    return round(kib / 1024, 1)


if __name__ == "__main__":
    main()
