"""What `search.py` measures of the worlds of the search tasks: worlds, questions, steps, memory.

Rates are per second of CPU time of one process, since other work stretches the clock on the wall;
steps have their latency by the wall clock beside it.
"""

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import gymnasium as gym

from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.worlds.articles import library
from rlvr_envs.generators.worlds.questions import KINDS, QuestionSpec, draw_question
from rlvr_envs.generators.worlds.site import site
from rlvr_envs.generators.worlds.spec import WorldSpec
from rlvr_envs.generators.worlds.world import build_world

DIFFICULTIES = (0, 2, 5, 10)
SECONDS = 1.0  # of CPU time that a rate is measured over
STEPS = 600
PER_EPISODE = 30
ENVIRONMENTS = 64


def rate(work: Callable[[int], Any], seconds: float = SECONDS) -> float:
    """Return how often a second work is done; it is given 0, 1, 2, … and warms up first."""
    work(0)
    done, begin = 0, time.process_time()
    while (spent := time.process_time() - begin) < seconds or done < 3:
        done += 1
        work(done)
    return float(f"{done / spent:.3g}")


def worlds(difficulty: int) -> dict[str, Any]:
    """Worlds a second: their facts, with their pages, and with the index over these."""
    spec = WorldSpec.at(difficulty)
    site(spec, 10**6)  # what is prepared once a process
    facts = rate(lambda i: build_world(spec, i))
    pages = rate(lambda i: library(build_world(spec, 10_000 + i)))
    whole = rate(lambda i: site(spec, 20_000 + i))
    return {"pages": spec.n_articles, "facts": facts, "with_pages": pages, "with_index": whole}


def questions(difficulty: int, kind: str) -> dict[str, Any]:
    """Questions a second over worlds that are there, and whole problems, gates and oracle run."""
    spec, asked = WorldSpec.at(difficulty), QuestionSpec.at(difficulty)
    ready = [build_world(spec, seed) for seed in range(8)]
    for world in ready:
        library(world)

    def draw(number: int) -> None:
        with suppress(ConfigError):  # a world without one: the task draws another world
            draw_question(ready[number % 8], kind, asked, stream("benchmark", number))

    drawn = rate(draw)
    source = TextEnv(f"{kind.title()}Search-v0", difficulty=difficulty).source
    return {"questions": drawn, "problems": rate(lambda i: source.draw(i, difficulty))}


def _calls(problem: Any) -> Iterator[tuple[str, str]]:
    """Yield calls as an agent makes them: search for a name, open the page, find a word there."""
    pages = library(build_world(problem.world, problem.world_seed)).pages
    for page in pages:
        yield "search", f'<search>"{page.title}"</search>'
        yield "search words", f"<search>who leads the town of {page.title}</search>"
        yield "open", f"<access>{page.id}</access>"
        yield "find", "<find>born</find>"


def steps(difficulty: int) -> dict[str, Any]:
    """Steps a second through gym.make, by call; a reset brings another world."""
    knobs = {"difficulty": difficulty, "failure_rate": 0.0, "max_calls": 100}
    env = gym.make("rlvr/ChainSearch-v0", disable_env_checker=True, **knobs)
    spent: dict[str, list[float]] = {}
    resets, cpu, done = [], 0.0, 0
    while done < STEPS:
        begin = time.perf_counter()
        env.reset(seed=done)
        resets.append(time.perf_counter() - begin)
        calls = _calls(env.unwrapped.instance.problem)  # type: ignore[attr-defined]  # a TextEnv
        for _, (kind, action) in zip(range(PER_EPISODE), calls, strict=False):
            begin, cpu_begin = time.perf_counter(), time.process_time()
            env.step(action)
            cpu += time.process_time() - cpu_begin
            spent.setdefault(kind, []).append(time.perf_counter() - begin)
            done += 1
    return {
        "steps": float(f"{done / cpu:.3g}"),
        "p50_ms": {k: round(statistics.median(s) * 1000, 3) for k, s in sorted(spent.items())},
        "reset_p50_ms": round(statistics.median(resets) * 1000, 1),
    }


def memory(difficulty: int) -> dict[str, Any]:
    """Memory in MiB: the package, a world, 63 more environments of it, and 64 worlds."""
    used = [_own_mib()]
    envs = [TextEnv("ChainSearch-v0", difficulty=difficulty) for _ in range(ENVIRONMENTS)]
    used.append(_own_mib())

    def play(env: TextEnv, seed: int) -> None:
        env.reset(options={"problem_seed": seed})
        for _, (_, action) in zip(range(4), _calls(env.instance.problem), strict=False):
            env.step(action)

    for some in (envs[:1], envs[1:]):
        for env in some:
            play(env, 1)
        used.append(_own_mib())
    for number, env in enumerate(envs):
        play(env, number)
    used.append(_own_mib())
    names = ("environments", "first_world", "63_more_of_it", "64_worlds")
    return {name: round(b - a, 1) for name, a, b in zip(names, used[:-1], used[1:], strict=True)}


def _own_mib() -> float:
    lines = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss_Anon")) / 1024


def cells() -> Iterator[tuple[str, int, str]]:
    """Yield what there is to measure: what, difficulty, and the kind of question."""
    for difficulty in DIFFICULTIES:
        yield "worlds", difficulty, ""
        yield "steps", difficulty, ""
        for kind in KINDS:
            yield "questions", difficulty, kind
    yield "memory", 5, ""


def measure(what: str, difficulty: int, kind: str) -> dict[str, Any]:
    """Measure one of the cells in this process."""
    if what == "questions":
        return questions(difficulty, kind)
    return {"worlds": worlds, "steps": steps, "memory": memory}[what](difficulty)
