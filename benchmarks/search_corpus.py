"""SearchCorpus over a file: indexing it, opening it again, and 64 environments that share it.

Each cell is measured in a process of its own, over the articles of `benchmarks/search.py` at
10,000 and 100,000, with a hundred questions. An environment is made, its first question posed and
played by the oracle: a search, a page opened, an answer.

    python benchmarks/search_corpus.py

Times are of the wall clock with those of the CPU beside them. Memory is the proportional set size,
split into what is the process's own and what is mapped from files.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import gymnasium as gym
from search import articles, machine, memory

import rlvr_envs.envs.search.search_corpus  # noqa: F401 - what is loaded once is not timed
from rlvr_envs.retrieval.base import choose

RESULTS = Path(__file__).resolve().parent / "results" / "search_corpus.json"
ENVIRONMENTS = 64
QUESTIONS = 100


def write(folder: Path, count: int) -> None:
    """Write a corpus, and questions for the names of some of its articles."""
    questions = []
    with (folder / "corpus.jsonl").open("w", encoding="utf-8") as file:
        for number, page in enumerate(articles(count)):
            record = {"id": page.id, "title": page.title, "text": page.text}
            file.write(json.dumps(record) + "\n")
            if number % (count // QUESTIONS) == 0:
                asked = f"What is the name of article {number}?"
                questions.append({"question": asked, "answer": page.title, "titles": [page.title]})
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    (folder / "questions.jsonl").write_text(lines, encoding="utf-8")


def made(folder: Path, engine: str) -> gym.Env[str, str]:
    """Return an environment over the files of a folder."""
    return gym.make(
        "rlvr/SearchCorpus-v0",
        corpus=str(folder / "corpus.jsonl"),
        questions=str(folder / "questions.jsonl"),
        engine=engine,
        index_dir=str(folder / "indexes"),
    )


def play(env: Any, index: int) -> int:
    """Play the oracle's episode on one question; return how many steps it took."""
    env.reset(options={"index": index})
    actions = env.unwrapped.instance.solution()
    rewards = [env.step(action)[1] for action in actions]
    if rewards[-1] != 1.0:
        raise SystemExit(f"the oracle earned {rewards[-1]} on question {index}")
    return len(actions)


def first_question(folder: Path, engine: str) -> dict[str, Any]:
    """Make an environment and pose its first question: indexing, or opening the index."""
    begin, cpu = time.perf_counter(), time.process_time()
    made(folder, engine).reset(options={"index": 0})
    return {
        "first_question_s": round(time.perf_counter() - begin, 4),
        "cpu_s": round(time.process_time() - cpu, 4),
    }


def shared(folder: Path, engine: str) -> dict[str, Any]:
    """Play in one environment and then in 64: steps a second, and what the others add."""
    envs = [made(folder, engine)]
    for index in range(ENVIRONMENTS):
        play(envs[0], index)
    before = memory()
    envs += [made(folder, engine) for _ in range(ENVIRONMENTS - 1)]
    begin = time.perf_counter()
    steps = sum(play(env, index) for index, env in enumerate(envs))
    seconds = time.perf_counter() - begin
    after = memory()
    return {
        "memory_of_one_mib": before,
        f"{ENVIRONMENTS - 1}_more_mib": {key: round(after[key] - before[key], 1) for key in after},
        "steps_per_s": round(steps / seconds),
    }


CELLS = {"index": first_question, "reopen": first_question, "shared": shared}


def measured(cell: str, engine: str, folder: Path) -> dict[str, Any]:
    """Measure one cell in a process of its own."""
    command = [sys.executable, __file__, "--cell", cell, engine, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return {"fault": (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> int:
    """Measure and store everything."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--engines", nargs="*", default=["tantivy", "bm25"])
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--cell", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.cell:
        cell, engine, folder = args.cell
        print(json.dumps(CELLS[cell](Path(folder), choose(engine))))
        return 0
    results: dict[str, Any] = {}
    for size in args.sizes:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            write(folder, size)
            for engine in args.engines:
                found = {cell: measured(cell, engine, folder) for cell in CELLS}
                print(f"{size} articles, {engine}: {found}", file=sys.stderr)
                results.setdefault(str(size), {})[engine] = found
    told = {"command": "python benchmarks/search_corpus.py", "machine": machine()}
    args.out.write_text(json.dumps({**told, "results": results}, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
