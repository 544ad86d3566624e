"""Search: worlds, questions and steps a second; engines at 10,000 and 100,000 articles.

Each measurement is made in a process of its own. `search_worlds.py` has those of the tasks and
their worlds, by difficulty and by kind of question. Engines are measured by indexing, reopening,
latency and memory, over the same file of articles and the same queries: names of the articles with
words of their texts, and phrases. Tantivy and the engine of a
bare install are measured through `rlvr_envs.retrieval`, bm25s (pip install bm25s) by its own API
with our words; it knows no phrases and does not rank by the title.

    python benchmarks/search.py                  # everything
    python benchmarks/search.py --part worlds    # one of the parts; the other is kept

Times are of the wall clock and, since other work stretches them, of the CPU beside them. Memory is
the proportional set size (a page that processes share counts in parts), split into what is the
process's own and what is mapped from files.
"""

import argparse
import json
import multiprocessing
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import search_worlds

import rlvr_envs
from rlvr_envs.retrieval import query as words_of
from rlvr_envs.retrieval.base import Document, build
from rlvr_envs.retrieval.corpus import open_corpus

RESULTS = Path(__file__).resolve().parent / "results" / "search.json"
PARTS = ("worlds", "engines")
ENGINES = ("tantivy", "bm25", "bm25s")
SMALL = (50, 200, 1000, 5000)  # worlds that live in memory for an episode
ENVIRONMENTS = 64
WORKERS = 8
K = 5

SYLLABLES = ["ka", "lo", "mi", "ren", "tus", "vor", "del", "sha", "nim", "ost", "be", "ru"]
COMMON = [a + b for a in SYLLABLES for b in SYLLABLES] + ["the", "of", "and", "was", "in", "a"] * 8


def name(rng: random.Random) -> str:
    """Return a name of two words."""
    first, second = ("".join(rng.choices(SYLLABLES, k=k)) for k in (3, 4))
    return f"{first} {second}".title()


def articles(count: int) -> Iterator[Document]:
    """Return articles of about 84 words that name a few others."""
    rng = random.Random(1)  # noqa: S311 - articles, not secrets
    names = [name(rng) for _ in range(count)]
    for number, title in enumerate(names):
        text = rng.choices(COMMON, k=rng.randint(50, 100))
        for _ in range(4):
            text.insert(rng.randrange(len(text)), rng.choice(names))
        yield Document(f"a{number}", title, f"{title} {' '.join(text)}.")


def queries(count: int, path: Path) -> dict[str, list[str]]:
    """Return queries of each kind over the articles of a file."""
    rng = random.Random(2)  # noqa: S311 - queries, not secrets
    pages = [json.loads(line) for line in path.open(encoding="utf-8")]
    plain, quoted = [], []
    for page in rng.sample(pages, count):
        some = rng.sample(page["text"].split(), 3)
        plain.append(f"{page['title']} {' '.join(some)}")
        other = rng.choice(pages)["title"]
        quoted.append(f'"{other}" {some[0]}')
    return {"words": plain, "phrases": quoted}


def memory() -> dict[str, float]:
    """Return this process's share of memory, in MiB."""
    found = {}
    for line in Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines():
        key, _, rest = line.partition(":")
        if key in {"Pss", "Pss_Anon", "Pss_File"}:
            found[key] = int(rest.split()[0]) / 1024
    return {"own": round(found["Pss_Anon"], 1), "mapped": round(found["Pss_File"], 1)}


def private() -> float:
    """Return the memory that this process has written since it was forked, in MiB."""
    lines = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty")) / 1024


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds that work takes, and its result."""
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def latency(search: Callable[[str], Any], asked: list[str]) -> dict[str, float]:
    """Return milliseconds a query; the first few warm up."""
    for query in asked[:20]:
        search(query)
    begin = time.process_time()
    spent = [timed(lambda q=query: search(q))[0] * 1000 for query in asked]
    cpu = (time.process_time() - begin) * 1000 / len(asked)
    cuts = statistics.quantiles(spent, n=100)
    return {"p50_ms": round(cuts[49], 3), "p99_ms": round(cuts[98], 3), "cpu_ms": round(cpu, 3)}


def folder_mib(folder: Path) -> float:
    """Return the size of the files in a folder."""
    sizes = [file.stat().st_size for file in folder.rglob("*") if file.is_file()]
    return round(sum(sizes) / 2**20, 1)


def build_cell(engine: str, path: Path, cache: Path) -> dict[str, Any]:
    """Index the file on disk."""
    before, begin = memory()["own"], sum(os.times()[:4])
    if engine == "bm25s":
        seconds, _ = timed(lambda: bm25s_build(path, cache / engine))
    else:
        seconds, _ = timed(lambda: open_corpus(path, engine, cache / engine))
    grown = round(memory()["own"] - before, 1)
    size = folder_mib(cache / engine)
    return {
        "build_s": round(seconds, 2),
        "cpu_s": round(sum(os.times()[:4]) - begin, 2),
        "left_in_memory_mib": grown,
        "disk_mib": size,
    }


def bm25s_words(path: Path) -> tuple[list[str], list[list[int]], dict[str, int]]:
    """Return the ids of articles, their words as numbers, and the numbers."""
    vocabulary: dict[str, int] = {}
    names, numbers = [], []
    for line in path.open(encoding="utf-8"):
        page = json.loads(line)
        words = words_of.words(f"{page['title']} {page['text']}")
        kept = [word for word in words if word not in words_of.STOP_WORDS]
        names.append(page["id"])
        numbers.append([vocabulary.setdefault(word, len(vocabulary)) for word in kept])
    return names, numbers, vocabulary


def bm25s_build(path: Path, folder: Path) -> None:
    """Index with bm25s, from the file to the disk."""
    import bm25s

    with ProcessPoolExecutor(1) as pool:  # a process may be allowed only so much of the CPU
        names, numbers, vocabulary = pool.submit(bm25s_words, path).result()
    index = bm25s.BM25(k1=1.2, b=0.75)
    index.index((numbers, vocabulary), show_progress=False)
    index.save(str(folder), corpus=names)


def search_cell(engine: str, path: Path, cache: Path) -> dict[str, Any]:
    """Open what is on disk, and search."""
    asked = queries(1000, path)
    before = memory()
    if engine == "bm25s":
        import bm25s

        seconds, index = timed(
            lambda: bm25s.BM25.load(str(cache / engine), mmap=True, load_corpus=True)
        )
        del asked["phrases"]

        def search(query: str) -> Any:
            terms = [w for w in words_of.words(query) if w not in words_of.STOP_WORDS]
            return index.retrieve([terms], k=K, show_progress=False)
    else:
        seconds, corpus = timed(lambda: open_corpus(path, engine, cache / engine))

        def search(query: str) -> Any:
            return corpus.search(query, K)

    found: dict[str, Any] = {"reopen_s": round(seconds, 4)}
    found |= {kind: latency(search, some) for kind, some in asked.items()}
    after = memory()
    found["memory_added_mib"] = {key: round(after[key] - before[key], 1) for key in after}
    return found


def shared_cell(engine: str, path: Path, cache: Path) -> dict[str, Any]:
    """Share one corpus among environments of one process, and among forked workers."""
    asked = queries(ENVIRONMENTS * 10, path)["words"]
    before = memory()

    def episodes(corpora: list[Any], some: list[str]) -> None:
        for turn, query in enumerate(some):
            held = corpora[turn % len(corpora)]
            for hit in held.search(query, K):
                held.page(hit.id)

    episodes([open_corpus(path, engine, cache / engine)], asked)
    one = memory()
    many = [open_corpus(path, engine, cache / engine) for _ in range(ENVIRONMENTS)]
    episodes(many, asked)
    after = memory()
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(WORKERS)
    told = context.SimpleQueue()

    def work(number: int) -> None:
        begin = private()
        barrier.wait(60)
        episodes(many[number::WORKERS], asked[number::WORKERS])
        barrier.wait(60)
        told.put(private() - begin)
        barrier.wait(60)

    workers = [context.Process(target=work, args=(number,)) for number in range(WORKERS)]
    for worker in workers:
        worker.start()
    grown = [told.get() for _ in workers]
    for worker in workers:
        worker.join()
    return {
        "first_environment_mib": {key: round(one[key] - before[key], 1) for key in one},
        f"{ENVIRONMENTS - 1}_more_mib": {key: round(after[key] - one[key], 1) for key in one},
        f"{WORKERS}_forked_workers_write_mib": round(sum(grown), 1),
    }


def small_cell(engine: str, path: Path, cache: Path) -> dict[str, Any]:
    """Build small worlds in memory."""
    del path, cache
    found = {}
    for count in SMALL:
        pages = list(articles(count))
        built = [timed(lambda: build(pages, engine)) for _ in range(3)]  # noqa: B023 - run at once
        index = built[-1][1]
        asked = [f"{page.title} {page.text[-20:]}" for page in pages[:50]]
        spent = latency(lambda query: index.search(query, K), asked)  # noqa: B023 - run at once
        found[str(count)] = {"build_ms": round(min(s for s, _ in built) * 1000, 1), **spent}
    return found


CELLS = {"build": build_cell, "search": search_cell, "shared": shared_cell, "small": small_cell}


def measured(*cell: object) -> dict[str, Any]:
    """Measure one cell in a process of its own: of an engine, or of `search_worlds`."""
    command = [sys.executable, __file__, "--cell", *map(str, cell)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fault = done.stderr.strip().splitlines()[-1:] or [f"signal {-done.returncode}"]
        return {"fault": fault[0]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def machine() -> dict[str, object]:
    """Return what the numbers depend on."""
    versions = {}
    for package in ("numpy", "tantivy", "bm25s"):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "missing"
    return {
        "platform": platform.platform(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
        "versions": versions,
        "rlvr_envs": rlvr_envs.__version__,
    }


def run_engines(sizes: list[int], engines: list[str]) -> dict[str, Any]:
    """Measure the engines."""
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for size in sizes:
            path, cache = Path(scratch) / f"{size}.jsonl", Path(scratch) / str(size)
            with path.open("w", encoding="utf-8") as file:
                for page in articles(size):
                    record = {"id": page.id, "title": page.title, "text": page.text}
                    file.write(json.dumps(record) + "\n")
            for engine in engines:
                cells = ("build", "search") if engine == "bm25s" else ("build", "search", "shared")
                for cell in cells:
                    found = measured(cell, engine, path, cache)
                    print(f"{size} articles, {engine}, {cell}: {found}", file=sys.stderr)
                    results.setdefault(str(size), {}).setdefault(engine, {})[cell] = found
        for engine in engines:
            if engine != "bm25s":
                found = measured("small", engine, Path(scratch), Path(scratch))
                print(f"in memory, {engine}: {found}", file=sys.stderr)
                results.setdefault("in_memory", {})[engine] = found
    return results


def run_worlds() -> dict[str, Any]:
    """Measure the search tasks and their worlds, by difficulty."""
    results: dict[str, Any] = {}
    for what, difficulty, kind in search_worlds.cells():
        found = measured(what, difficulty, kind)
        print(f"difficulty {difficulty}, {kind or what}: {found}", file=sys.stderr)
        rung = results.setdefault(str(difficulty), {})
        if kind:
            rung = rung.setdefault("by_kind", {})
        rung[kind or what] = found
    return results


def main() -> int:
    """Measure and store everything."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--part", choices=PARTS, help="measure this and keep the rest")
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--engines", nargs="*", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--cell", nargs="+", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.cell:
        print(json.dumps(cell_of(*args.cell)))
        return 0
    stored = json.loads(args.out.read_text(encoding="utf-8")) if args.out.exists() else {}
    for part in PARTS:
        if args.part in {None, part}:
            begin = machine()
            engines = part == "engines"
            results = run_engines(args.sizes, args.engines) if engines else run_worlds()
            command = f"python benchmarks/search.py --part {part}"
            stored[part] = {"command": command, "machine": begin, "results": results}
    args.out.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    return 0


def cell_of(cell: str, *rest: str) -> dict[str, Any]:
    """Measure one cell in this process."""
    if cell in CELLS:
        engine, path, cache = rest
        return CELLS[cell](engine, Path(path), Path(cache))
    difficulty, kind = rest
    return search_worlds.measure(cell, int(difficulty), kind)


if __name__ == "__main__":
    raise SystemExit(main())
