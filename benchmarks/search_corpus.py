"""SearchCorpus over a file: indexing it, opening it again, and 64 environments that share it.

Each cell is measured in a process of its own, over the articles of `benchmarks/search.py` at
10,000 and 100,000, with a hundred questions. An environment is made, its first question posed and
played by the oracle: a search, a page opened, an answer.

    python benchmarks/search_corpus.py

Times are of the wall clock with those of the CPU beside them. Memory is the proportional set size,
split into what is the process's own and what is mapped from files.
"""

import json
import tempfile
import time
from pathlib import Path
from typing import Any

import fresh_process
import gymnasium as gym
import results_file
from search import PACKAGES, SIZES, articles, memory

import rlvr_envs.envs.search.search_corpus  # noqa: F401 - what is loaded once is not timed
from rlvr_envs.retrieval.engines import choose

MEASURED = (
    "SearchCorpus over a file: the first question ever and of a later process, and 64 environments "
    "that share the corpus; memory in MiB, its own and mapped from files"
)
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


def cell(what: str, engine: str, folder: str) -> dict[str, Any]:
    """Measure one cell in this process."""
    return CELLS[what](Path(folder), choose(engine))


def main() -> int:
    """Measure and store everything."""
    parser = results_file.parser(__doc__, "search_corpus")
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--engines", nargs="*", default=["tantivy", "bm25"])
    args = parser.parse_args()
    results: dict[str, Any] = {}
    for size in args.sizes:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            write(folder, size)
            for engine in args.engines:
                found = {
                    what: fresh_process.measured(__file__, what, engine, scratch) for what in CELLS
                }
                results.setdefault(str(size), {})[engine] = found
    head = results_file.head(MEASURED, *PACKAGES)
    whole = set(args.sizes) >= set(SIZES) and len(args.engines) > 1
    results_file.store(args, head, results, results, whole=whole)
    return 0


if __name__ == "__main__":
    raise SystemExit(0 if fresh_process.asked(cell) else main())
