"""What `rlvr view` costs for 100,000 episodes: the index, the first page, a filter, a search.

    python benchmarks/viewer.py

The episodes are synthetic: three policies answer the same problems, four samples each. Build time
and peak memory are those of a process of its own. The page is opened as a file in headless
Chromium, driven by selenium; without them, only the index is measured.
"""

import argparse
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import results_file

COUNT = 100_000
POLICIES = ("small", "medium", "large")
TASKS = {"rlvr/Gcd-v0": "math", "rlvr/SubsetSum-v0": "np_hard", "rlvr/GuessNumber-v0": "puzzles"}
LEVELS, SAMPLES, TIMES = 6, 4, 7
WORDS = ("number", "divisor", "remainder", "therefore", "sum", "we", "then", "answer", "of", "the")

BUILD = """
import resource, sys, time
from pathlib import Path
from rlvr_envs.evaluation.runs import open_runs
from rlvr_envs.evaluation.viewer.index import write_page
empty = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
began, used = time.perf_counter(), time.process_time()
write_page(open_runs([sys.argv[1]]), Path(sys.argv[2]))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(time.perf_counter() - began, time.process_time() - used, peak / 1024, empty / 1024)
"""
# Milliseconds from a change of the address until its rows are there, laid out.
FILTER = """
const [hash, done] = arguments, began = performance.now();
performance.clearMarks();
location.hash = hash;
(function look() {
  if (performance.getEntriesByName("shown").length) {
    document.body.offsetHeight;
    done(performance.now() - began);
  } else setTimeout(look);
})();
"""
SHOWN = "return performance.getEntriesByName('shown').map(mark => mark.startTime)"
STATUS = "return document.querySelector('#rows p')?.textContent"


def main() -> None:
    """Measure, print and store."""
    parser = results_file.parser(__doc__, "viewer")
    parser.add_argument("--count", type=int, default=COUNT, help="episodes")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run, page = Path(folder, "run"), Path(folder, "page")
        _write_run(run, args.count)
        index = _index(run, page)
        seen, raw = _browser(page, args)
    figures = {"episodes": args.count, "index": index, "browser": seen}
    print(json.dumps(figures, indent=1), file=sys.stderr)
    head = results_file.head(
        "rlvr view on synthetic episodes: building its files, and in headless Chromium the median "
        "time until the first page and until the rows of a changed filter are laid out",
        "selenium",
    )
    results_file.store(args, head, figures, raw, whole=args.count == COUNT)


def _write_run(folder: Path, count: int) -> None:
    rng = random.Random(0)  # noqa: S311 - synthetic texts
    folder.mkdir()
    with (
        (folder / "episodes.jsonl").open("w") as out,
        (folder / "problems.jsonl").open("w") as asked,
    ):
        for number in range(count // (len(POLICIES) * SAMPLES)):
            task = list(TASKS)[number % len(TASKS)]
            level = number // len(TASKS) % LEVELS
            question = f"{task}|{level}|{number}"
            problem = {"question": question, "id": task, "config": {"size": level}}
            problem |= {"prompt": _text(rng, 60), "reference": "7", "difficulty": level}
            asked.write(json.dumps(problem | {"fingerprint": str(number)}) + "\n")
            for record in _records(rng, task, level, number):
                out.write(json.dumps(record | {"question": question}) + "\n")


def _records(rng: random.Random, task: str, level: int, number: int) -> Iterator[dict[str, Any]]:
    for place, policy in enumerate(POLICIES):
        for sample in range(SAMPLES):
            right = rng.random() < 0.3 + 0.2 * place - 0.05 * level
            text = _text(rng, rng.randint(20, 200))
            yield {
                "key": f"{policy}|{task}|{level}|{number}|{sample}",
                "policy": policy,
                "id": task,
                "task": task,
                "domain": TASKS[task],
                "difficulty": level,
                "problem_seed": number,
                "index": None,
                "fingerprint": str(number),
                "sample": sample,
                "response": text,
                "answer": text[-20:],
                "verdict": {
                    "score": float(right),
                    "status": "correct" if right else "wrong",
                    "detail": "" if right else "the number is not right",
                    "parts": {},
                },
                "scored": True,
                "turns": 1,
                "response_chars": len(text),
                "elapsed_s": 1.0,
            }


def _text(rng: random.Random, words: int) -> str:
    return " ".join(rng.choices(WORDS, k=words))


def _index(run: Path, page: Path) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", BUILD, run, page], check=True, capture_output=True, text=True
    )
    seconds, used, peak, empty = map(float, done.stdout.split())
    data = [path.stat().st_size for path in page.rglob("*") if path.name != "plotly.js"]
    return {
        "episodes_mib": round((run / "episodes.jsonl").stat().st_size / 2**20, 1),
        "build_s": round(seconds, 2),
        "build_cpu_s": round(used, 2),
        "peak_mib": round(peak, 1),
        "peak_mib_before_reading": round(empty, 1),
        "page_mib": round(sum(data) / 2**20, 1),
        "files": len(data),
    }


def _browser(page: Path, args: argparse.Namespace) -> tuple[dict[str, Any] | None, Any]:
    try:
        from selenium import webdriver
    except ImportError:
        webdriver = None
    driver = shutil.which("chromedriver")
    if webdriver is None or driver is None:
        print("selenium or chromedriver is missing: the page is not measured", file=sys.stderr)
        return None, None
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(flag)
    options.binary_location = shutil.which("chromium") or ""
    with webdriver.Chrome(options=options, service=webdriver.ChromeService(driver)) as browser:
        opened = [_opened(browser, f"{page.as_uri()}/index.html") for _ in range(TIMES)]
        raw: dict[str, list[float]] = {}
        raw["first_page_ms"], raw["all_loaded_ms"] = map(list, zip(*opened, strict=True))
        for name, address in {
            "filter_ms": "task=rlvr%2FGcd-v0&status=wrong",
            "level_ms": "level=3&low=0.5",
            "sort_ms": "sort=-chars",
            "sort_by_answer_ms": "sort=answer",
            "everything_ms": "",
        }.items():
            raw[name] = []
            for _ in range(TIMES):
                browser.execute_async_script(FILTER, "#view=scores")
                raw[name].append(browser.execute_async_script(FILTER, f"#{address}"))
        browser.get("about:blank")
        browser.get(f"{page.as_uri()}/index.html#text=nowhere+to+be+found")
        while browser.execute_script(STATUS) != "0 episodes":
            time.sleep(0.1)
        raw["search_all_texts_ms"] = browser.execute_script(SHOWN)[-1:]
        version = browser.capabilities["browserVersion"]
    figures = {name: round(statistics.median(found), 1) for name, found in raw.items()}
    return {"chromium": version, **figures}, raw


def _opened(browser: Any, address: str) -> tuple[float, float]:
    """Return milliseconds until the first page was shown, and until all episodes were there."""
    browser.get("about:blank")
    browser.get(address)
    while len(found := browser.execute_script(SHOWN)) < 2:
        time.sleep(0.02)
    return found[0], found[-1]


if __name__ == "__main__":
    main()
