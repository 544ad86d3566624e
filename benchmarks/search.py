"""Search: worlds, questions and steps a second; engines at 10,000 and 100,000 articles.

Each measurement is made in a process of its own. `search_worlds.py` has those of the tasks and
their worlds, by difficulty and by kind of question. Engines are measured by indexing, reopening,
latency and memory, over the same file of articles and the same queries: names of the articles with
words of their texts, and phrases. Tantivy and the engine of a
bare install are measured through `rlvr_envs.retrieval`, bm25s (pip install bm25s) by its own API
with our words; it knows no phrases and does not rank by the title.

    python benchmarks/search.py
    python benchmarks/search.py --part worlds --out worlds.json    # one of the parts

Times are of the wall clock and, since other work stretches them, of the CPU beside them. Memory is
the proportional set size (a page that processes share counts in parts), split into what is the
process's own and what is mapped from files.
"""

import json
import multiprocessing
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fresh_process
import results_file
import search_worlds

from rlvr_envs.retrieval import query as words_of
from rlvr_envs.retrieval.base import Document
from rlvr_envs.retrieval.corpus import open_corpus
from rlvr_envs.retrieval.engines import build

MEASURED = (
    "search worlds, questions and steps a second of CPU time by difficulty; engines over 10,000 "
    "and 100,000 articles of 84 words; memory in MiB, its own and mapped from files"
)
PACKAGES = ("numpy", "tantivy", "bm25s")
SIZES = (10_000, 100_000)
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

    names, numbers, vocabulary = bm25s_words(path)
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
                    found = fresh_process.measured(__file__, cell, engine, str(path), str(cache))
                    results.setdefault(str(size), {}).setdefault(engine, {})[cell] = found
        for engine in engines:
            if engine != "bm25s":
                found = fresh_process.measured(__file__, "small", engine, scratch, scratch)
                results.setdefault("in_memory", {})[engine] = found
    return results


def run_worlds() -> dict[str, Any]:
    """Measure the search tasks and their worlds, by difficulty."""
    results: dict[str, Any] = {}
    for what, difficulty, kind in search_worlds.cells():
        found = fresh_process.measured(__file__, what, difficulty, kind)
        level = results.setdefault(str(difficulty), {})
        if kind:
            level = level.setdefault("by_kind", {})
        level[kind or what] = found
    return results


def summary(raw: dict[str, Any]) -> dict[str, Any]:
    """Return a line for each measurement, with the rates of a kind of questions by difficulty."""
    found: dict[str, Any] = {}
    if worlds := raw.get("worlds"):
        found["worlds"] = {
            f"difficulty {difficulty}, {what}": row[what]
            for difficulty, row in worlds.items()
            for what in row
            if what != "by_kind"
        }
        found[f"a second, by kind, at difficulties {', '.join(worlds)}"] = {
            kind: {
                what: [row["by_kind"][kind].get(what) for row in worlds.values()]
                for what in ("questions", "problems")
            }
            for kind in search_worlds.KINDS
        }
    if engines := raw.get("engines"):
        found["engines"] = {
            f"{size}, {engine}, {what}": short(row)
            for size, some in engines.items()
            for engine, cells in some.items()
            for what, row in cells.items()
        }
    return found


def short(row: dict[str, Any]) -> dict[str, Any]:
    """Return a cell with its latencies as lists; what opening added to memory is in the samples."""
    return {
        f"{name}: {', '.join(value)}" if isinstance(value, dict) else name: list(value.values())
        if isinstance(value, dict)
        else value
        for name, value in row.items()
        if name != "memory_added_mib"
    }


def main() -> int:
    """Measure and store everything."""
    parser = results_file.parser(__doc__, "search")
    parser.add_argument("--part", choices=PARTS, help="measure this alone")
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--engines", nargs="*", choices=ENGINES, default=list(ENGINES))
    args = parser.parse_args()
    raw: dict[str, Any] = {}
    if args.part in {None, "worlds"}:
        raw["worlds"] = run_worlds()
    if args.part in {None, "engines"}:
        raw["engines"] = run_engines(args.sizes, args.engines)
    whole = not args.part and set(args.sizes) >= set(SIZES) and len(args.engines) == len(ENGINES)
    head = results_file.head(MEASURED, *PACKAGES)
    results_file.store(args, head, summary(raw), raw, whole=whole)
    return 0


def cell_of(what: str, *rest: Any) -> dict[str, Any]:
    """Measure one cell in this process."""
    if what in CELLS:
        engine, path, cache = rest
        return CELLS[what](engine, Path(path), Path(cache))
    difficulty, kind = rest
    return search_worlds.measure(what, difficulty, kind)


if __name__ == "__main__":
    raise SystemExit(0 if fresh_process.asked(cell_of) else main())
