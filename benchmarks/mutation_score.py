"""Measure how many small faults in core and verifiers the tests notice, on a sample.

    python benchmarks/mutation_score.py [--sample 40] [--seed 0] [--workers 2] [--keep]

cosmic-ray changes one operator, number or decorator at a time, in copies of the tree, and the tests
of the module's group (tests/mutation/groups.toml) run until one fails. The same seed draws the same
mutants for as long as their lines stay what they are. The score goes to
benchmarks/results/mutation_score.json, and the mutants that survived to build/mutants/.
"""

import ast
import hashlib
import json
import math
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import cosmic_ray.commands
import results_file
from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.testing import run_tests
from cosmic_ray.work_db import WorkDB
from cosmic_ray.work_item import MutationSpec, TestOutcome, WorkItem, WorkResult

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "mutants"
AREAS = ("rlvr_envs/core", "rlvr_envs/verifiers")
GROUPS: list[dict[str, str]] = tomllib.loads((ROOT / "tests/mutation/groups.toml").read_text())[
    "group"
]
EQUIVALENT = tomllib.loads((ROOT / "tests/mutation/equivalent.toml").read_text())["mutant"]
# Nothing tells ``==`` None from ``is`` None, and only the interpreter's caches ``is`` from ``==``.
ALIKE = ("Eq_Is", "NotEq_IsNot", "Is_Eq", "IsNot_NotEq")
GUARDS = ("strict=", "frozen=", "slots=")  # against mistakes of our own, which are never made
CAPACITY = re.compile(r"[0-9][0-9_]{2,}\b")  # one more or less than that many is no fault
DOTTED_EXCEPTION = re.compile(r"\bexcept\b.*\w\.\w")
TIMEOUT = "timeout"  # as cosmic-ray says it
MEMORY_KIB = 8 << 20  # of address space, for a mutant that allocates without an end


def main() -> None:
    """Draw the sample, judge it, and write the score."""
    parser = results_file.parser(__doc__, "mutation_score")
    parser.add_argument("--sample", type=int, default=40, help="mutants of each area")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("--workers", type=int, default=2, help="mutants at a time")
    parser.add_argument("--keep", action="store_true", help="run only what no run killed before")
    options = parser.parse_args()
    head = results_file.head(
        "of small faults put into core and verifiers, the share that the tests notice",
        *("cosmic-ray", "pytest"),
    )
    os.chdir(ROOT)
    BUILD.mkdir(parents=True, exist_ok=True)
    session = BUILD / f"session-{options.seed}.sqlite"
    if not options.keep:
        session.unlink(missing_ok=True)
    database = WorkDB(session, WorkDB.Mode.create)
    drawn = {item.job_id: item for item in draw(options.sample, options.seed)}
    known = {item.job_id for item in database.work_items}
    database.add_work_items(item for job, item in drawn.items() if job not in known)
    killed = {job for job, result in database.results if result.is_killed}
    pending = [item for job, item in drawn.items() if job not in killed]
    for job, result in judge(pending, options.workers):
        database.set_result(job, result)
        print(outcome(result), *place(drawn[job].mutations[0]), flush=True)
    judged = [(drawn[job], result) for job, result in database.results if job in drawn]
    results_file.store(options, head, *report(judged, options.seed))


def draw(size: int, seed: int) -> list[WorkItem]:
    """Return a mutant at each of some places of each area; hashes of seed and text choose both."""
    modules = [path for area in AREAS for path in sorted(Path(area).rglob("*.py"))]
    everything = WorkDB(":memory:", WorkDB.Mode.create)
    cosmic_ray.commands.init(modules, everything, {})
    lines = {path: path.read_text().splitlines() for path in modules}
    typed = {path: annotations(path) for path in modules}
    places: dict[tuple[str, int, int, str], list[MutationSpec]] = {}
    for spec in (item.mutations[0] for item in everything.work_items):
        inside = any(first <= spec.start_pos < last for first, last in typed[spec.module_path])
        line = lines[spec.module_path][spec.start_pos[0] - 1]
        left_out = (
            inside
            or spec.operator_name.endswith(ALIKE)
            or line[: spec.start_pos[1]].endswith(GUARDS)
            or CAPACITY.match(line, spec.start_pos[1])
            or DOTTED_EXCEPTION.search(line)  # which cosmic-ray fails to replace
        )
        if not left_out:
            places.setdefault(place(spec), []).append(spec)
    seen: Counter[str] = Counter()
    ranked = {}
    for (path, line, column, function), specs in sorted(places.items()):
        text = lines[Path(path)][line - 1]
        key = f"{seed} {path} {function} {text.strip()} {column - len(text) + len(text.lstrip())}"
        seen[key] += 1  # the same line may come again in a function
        rank = hashlib.sha256(f"{key} {seen[key]}".encode()).hexdigest()
        specs.sort(key=lambda spec: (spec.operator_name, spec.occurrence))
        ranked[rank] = specs[int(rank, 16) % len(specs)]
    taken: Counter[str] = Counter()
    sample = []
    for rank, spec in sorted(ranked.items(), key=lambda pair: pair[0]):
        area = group(spec.module_path)["area"]
        taken[area] += 1
        if taken[area] <= size:
            sample.append(WorkItem.single(rank, spec))
    return sample


def place(spec: MutationSpec) -> tuple[str, int, int, str]:
    """Return where a mutant is."""
    line, column = spec.start_pos
    return str(spec.module_path), line, column, spec.definition_name or ""


def annotations(path: Path) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return where annotations begin and end: ``int - None`` fails on import and proves nothing."""
    nodes: list[ast.expr | None] = []
    for node in ast.walk(ast.parse(path.read_text())):
        nodes += [getattr(node, "annotation", None), getattr(node, "returns", None)]
    return [
        ((node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0))
        for node in nodes
        if node is not None
    ]


def group(module: Path) -> dict[str, str]:
    """Return the first group that names a module."""
    name = str(module.relative_to("rlvr_envs").with_suffix(""))
    name = name.removeprefix("core/").removeprefix("verifiers/")
    for one in GROUPS:
        inside = one["area"].split("/")[0] == module.parts[1]
        if inside and any(fnmatchcase(name, pattern) for pattern in one["modules"].split()):
            return one
    raise SystemExit(f"no group in tests/mutation/groups.toml names {module}")


def tests_of(one: dict[str, str]) -> list[Path]:
    """Return the test files of a group."""
    found = [path for tests in one["tests"].split() for path in Path("tests").glob(tests)]
    return sorted(found)


def command(tests: list[Path], cpu_s: float) -> str:
    """Return the command that runs test files until one fails."""
    pytest = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--timeout=60"]
    run = shlex.join([*pytest, "-m", "not slow", *map(str, tests)])
    limits = f"ulimit -S -t {math.ceil(cpu_s)}; ulimit -S -v {MEMORY_KIB}"
    told = f"code=$?; test $code -ne {128 + signal.SIGXCPU} || echo {TIMEOUT}; exit $code"
    return shlex.join(["sh", "-c", f"{limits}; {run}; {told}"])


def judge(items: list[WorkItem], workers: int) -> Iterator[tuple[str, WorkResult]]:
    """Yield the results, as they come, from workers that have a copy of the tree each."""
    groups = {item.job_id: GROUPS.index(group(item.mutations[0].module_path)) for item in items}
    tests = {number: tests_of(GROUPS[number]) for number in sorted(set(groups.values()))}
    with (
        tempfile.TemporaryDirectory(dir=BUILD) as trees,
        ProcessPoolExecutor(workers, initializer=settle, initargs=(trees,)) as pool,
    ):
        commands = [command(files, 300) for files in tests.values()]
        limits = dict(zip(tests, pool.map(seconds, commands), strict=True))
        waiting = {}
        for item in items:
            own = f"test_{item.mutations[0].module_path.stem.strip('_')}"
            number = groups[item.job_id]
            limit = 10 + 4 * limits[number]
            run = command(sorted(tests[number], key=lambda path: path.stem != own), limit)
            waiting[pool.submit(mutate_and_test, item.mutations, run, 20 * limit)] = item.job_id
        for future in as_completed(waiting):
            yield waiting[future], future.result()


def settle(trees: str) -> None:
    """Give this worker a copy of the tree, and go there."""
    tree = Path(trees) / str(os.getpid())
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, capture_output=True, check=True, text=True).stdout.split("\0")
    for name in names:
        if name.startswith(("rlvr_envs/", "tests/", "pyproject.toml")) and Path(name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(name, tree / name)
    os.chdir(tree)
    # Bytecode that is told by content: mutants come too fast for times.
    compiling = [sys.executable, "-m", "compileall", "-qq", "--invalidation-mode", "checked-hash"]
    subprocess.run([*compiling, "rlvr_envs"], check=True)
    os.environ["PYTHONPATH"] = str(tree)
    os.environ["CI"] = "1"  # hypothesis then draws the same each time


def seconds(tests: str) -> float:
    """Return the CPU time of tests that must pass when nothing is mutated."""
    before = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    result, output = run_tests(tests, 1200)
    if result is not TestOutcome.SURVIVED:
        raise SystemExit(f"these tests fail without a mutant: {tests}\n{output}")
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - before


def outcome(result: WorkResult) -> str:
    """Return what became of a mutant."""
    if result.test_outcome is TestOutcome.SURVIVED:
        return "survived"
    if result.test_outcome is not TestOutcome.KILLED:
        raise SystemExit(f"a mutant could not be judged: {result.output}")
    output = result.output or ""
    late = output.rstrip().endswith(TIMEOUT) or "Failed: Timeout (>" in output
    return "timed_out" if late else "killed"


def is_equivalent(spec: MutationSpec, diff: str) -> bool:
    """Return whether a person has found that a mutant changes nothing that can be observed."""
    changed = diff.splitlines()[4:]
    removed, added = (
        next((line[1:].strip() for line in changed if line[0] == sign and line[1:].strip()), "")
        for sign in "-+"
    )
    return any(
        mutant.get("file", str(spec.module_path)) == str(spec.module_path)
        and mutant.get("function", spec.definition_name or "") == (spec.definition_name or "")
        and (mutant["line"], mutant.get("becomes", added)) == (removed, added)
        for mutant in EQUIVALENT
    )


def report(
    judged: Iterable[tuple[WorkItem, WorkResult]], seed: int
) -> tuple[dict[str, Any], list[Any]]:
    """Return the score of each area and what became of each mutant; list those that survived."""
    counts: dict[str, Counter[str]] = {one["area"]: Counter() for one in GROUPS}
    survivors, rows = [], []
    for item, result in judged:
        spec, found = item.mutations[0], outcome(result)
        if found == "survived" and is_equivalent(spec, result.diff or ""):
            found = "equivalent"
        if found == "survived":
            survivors.append(f"{place(spec)} {spec.operator_name}\n{result.diff}\n")
        counts[group(spec.module_path)["area"]][found] += 1
        rows.append([*place(spec), spec.operator_name, found])
    (BUILD / f"survivors-{seed}.txt").write_text("\n".join(sorted(survivors)))
    counts["all"] = sum(counts.values(), Counter())
    names = ("killed", "timed_out", "survived", "equivalent")
    score = {
        area: {"score": share(found), **{name: found[name] for name in names}}
        for area, found in counts.items()
    }
    print(json.dumps(score, indent=1))
    return score, rows


def share(found: Counter[str]) -> float:
    """Return the share of the mutants that tests noticed, without the equivalent ones."""
    noticed = found["killed"] + found["timed_out"]
    return round(noticed / max(1, noticed + found["survived"]), 3)


if __name__ == "__main__":
    main()
