"""The same seed gives the same world, pages, ranking and replies, wherever and however it runs.

Run as a script it prints the digests of the tasks that it is given, in the order given.
"""

import hashlib
import json
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import rlvr_envs
from rlvr_envs.cli.main import main
from rlvr_envs.core import registry
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.vector import TextVectorEnv
from rlvr_envs.generators.search_episodes import task
from rlvr_envs.generators.worlds import articles as articles_module
from rlvr_envs.generators.worlds import site as site_module
from rlvr_envs.generators.worlds import world as _world
from rlvr_envs.generators.worlds.articles import articles
from rlvr_envs.generators.worlds.questions import KINDS
from rlvr_envs.generators.worlds.site import site, unlinked
from rlvr_envs.generators.worlds.spec import WorldSpec
from rlvr_envs.generators.worlds.world import build_world
from rlvr_envs.retrieval.base import Document
from rlvr_envs.retrieval.engines import build

NAMES = sorted(
    spec.id
    for task_id in registry.task_ids("search")
    if getattr((spec := registry.find(task_id)).task_type, "kind", None) in KINDS
)
LEVELS = (1, 6)
ENGINES = ("bm25", "tantivy")
CALLS = (
    "<search>Who was born in the place that was founded first?</search>",
    "<search>was #2</search>",
    '<search>"also known as"</search>',
    "<find>year</find>",
    "nothing",
)


def digest(value):
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]


def episode(name, difficulty, seed=5):
    """Digest the world, the pages, the row and every observation of an episode, apart."""
    env = TextEnv(name, difficulty=difficulty)
    prompt, info = env.reset(seed=seed)
    problem = env.instance.problem
    world = build_world(problem.world, problem.world_seed)
    row = env.instance.to_row()
    told = [prompt, info["problem_seed"]]
    for action in [*CALLS, *row["reference"]]:
        text, reward, terminated, _, info = env.step(action)
        told.append([text, reward])
    assert terminated
    assert info["verdict"].scored
    return {
        "world": digest([repr(world.entities), repr(world.facts), repr(world.conflicts)]),
        "pages": digest([repr(page) for page in articles(world)]),
        "row": digest(row),
        "replies": digest(told),
    }


def digests(names):
    return {f"{name} {level}": episode(name, level) for level in LEVELS for name in names}


def in_a_process(names, **environment):
    done = subprocess.run(
        [sys.executable, __file__, *names],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def forget():
    """Empty what a process keeps of worlds, pages, sites and plays."""
    for kept in (_world.build_world, articles_module._written, site_module.site, task._played):
        kept.cache_clear()


def hits_of(engine, pages):
    """Return what an engine ranks for names, phrases and plain words of some pages."""
    rng = random.Random(3)
    queries = [page.title for page in pages] + [f'"{page.title}"' for page in pages]
    for page in pages:
        words = unlinked(page.sections[-1].text).split()
        queries.append(" ".join(rng.sample(words, min(4, len(words)))))
    return [[(hit.id, hit.title, hit.score) for hit in engine.search(q, 20)] for q in queries]


def documents_of(pages):
    return [
        Document(page.id, page.title, "\n".join(unlinked(s.text) for s in page.sections))
        for page in pages
    ]


def needs(engine):
    if engine == "tantivy":
        pytest.importorskip("tantivy", reason="the extra 'search' is not installed")


@pytest.fixture(scope="module")
def expected():
    return digests(NAMES)


def test_all_ten_tasks_are_here(expected):
    assert len(NAMES) == 10
    assert len(expected) == 20
    assert len({found["replies"] for found in expected.values()}) == 20


@pytest.mark.parametrize("hash_seed", ["0", "4242"])
def test_fresh_processes_with_other_hash_seeds_and_another_order_agree(hash_seed, expected):
    names = NAMES if hash_seed == "0" else NAMES[::-1]
    assert in_a_process(names, PYTHONHASHSEED=hash_seed) == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_the_engine_that_the_environment_names_changes_nothing(engine, expected):
    needs(engine)
    assert in_a_process(NAMES[:3], RLVR_SEARCH_ENGINE=engine).items() <= expected.items()


def test_what_a_process_has_kept_changes_nothing(expected):
    forget()
    assert digests(NAMES[::-1]) == expected
    assert digests(NAMES) == expected


def test_threads_that_share_worlds_agree(expected):
    """Eight threads begin with nothing kept, so that they build the same sites at once."""
    jobs = [(name, level) for name in NAMES for level in LEVELS] * 2
    random.Random(1).shuffle(jobs)
    forget()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda job: episode(*job), jobs))
    for (name, level), one in zip(jobs, found, strict=True):
        assert one == expected[f"{name} {level}"]


def tree(folder):
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file()
    }


def test_generation_gives_the_same_bytes_with_one_worker_and_with_two(tmp_path):
    ids = [f"{name}=4" for name in NAMES]
    for workers in ("1", "2"):
        out = str(tmp_path / workers)
        arguments = ["generate", *ids, "--difficulty", "0:0.5,4:0.5", "--shard-rows", "9"]
        assert main([*arguments, "--quiet", "--out", out, "--workers", workers]) == 0
    assert tree(tmp_path / "1") == tree(tmp_path / "2")
    assert len(tree(tmp_path / "1")) > 4


@pytest.mark.parametrize("workers", [1, 2])
def test_vector_environments_tell_the_same_with_any_number_of_workers(workers):
    def told(count):
        env = TextVectorEnv(
            "rlvr/Search-v0", num_envs=6, group_size=2, workers=count, difficulty=(0, 5)
        )
        try:
            prompts, _ = env.reset(seed=11)
            lines = [list(prompts)]
            for call in (*CALLS, "<answer>unanswerable</answer>"):
                texts, rewards, terminated, truncated, _ = env.step([call] * 6)
                lines.append([list(texts), rewards.tolist(), terminated.tolist()])
                assert not truncated.any()
            assert terminated.all()
        finally:
            env.close()
        assert len(set(prompts)) == 3, "a group meets one problem, groups meet others"
        return digest(lines)

    assert told(workers) == told(0)


def test_one_environment_meets_what_the_first_of_many_meets():
    env = TextEnv("rlvr/Search-v0", difficulty=3)
    vector = TextVectorEnv("rlvr/Search-v0", num_envs=2, difficulty=3)
    try:
        assert vector.reset(seed=7)[0][0] == env.reset(seed=7)[0]
        for call in CALLS:
            assert vector.step([call] * 2)[0][0] == env.step(call)[0]
    finally:
        vector.close()


@pytest.mark.parametrize("engine", ENGINES)
def test_rebuilding_and_the_order_of_the_documents_change_no_ranking(engine):
    needs(engine)
    pages = articles(build_world(WorldSpec.at(8), 2))
    documents = documents_of(pages)
    first = hits_of(build(documents, engine), pages)
    assert hits_of(build(documents, engine), pages) == first
    assert hits_of(build(documents[::-1], engine), pages) == first
    random.Random(2).shuffle(documents)
    assert hits_of(build(documents, engine), pages) == first
    assert sum(map(len, first)) > 10 * len(pages)


def test_both_engines_rank_the_pages_of_a_world_alike():
    needs("tantivy")
    pages = articles(build_world(WorldSpec.at(8), 2))
    ranked = [
        [[hit[:2] for hit in hits] for hits in hits_of(build(documents_of(pages), name), pages)]
        for name in ENGINES
    ]
    assert ranked[0] == ranked[1]


def test_threads_that_share_an_engine_get_the_same_hits():
    problem_site = site(WorldSpec.at(5), 9)
    pages = list(problem_site.pages.values())
    alone = hits_of(problem_site.engine, pages)
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(lambda _: hits_of(problem_site.engine, pages), range(6)))
    assert together == [alone] * 6


def test_a_row_is_played_alike_in_another_process(tmp_path):
    """The whole episode of the oracle, from the row alone."""
    rows = [rlvr_envs.make_problem(name, seed=3, difficulty=5) for name in NAMES]
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows), "utf-8")
    script = (
        "import json, sys, rlvr_envs\n"
        "rows = json.load(open(sys.argv[1], encoding='utf-8'))\n"
        "print(json.dumps([rlvr_envs.verify(r, r['reference']).parts for r in rows]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        env={**os.environ, "PYTHONHASHSEED": "99"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    verdicts = [rlvr_envs.verify(row, row["reference"]) for row in rows]
    assert [verdict.score for verdict in verdicts] == [1.0] * 10
    assert json.loads(done.stdout) == [dict(verdict.parts) for verdict in verdicts]


if __name__ == "__main__":
    print(json.dumps(digests(sys.argv[1:])))  # noqa: T201 - what the tests read
