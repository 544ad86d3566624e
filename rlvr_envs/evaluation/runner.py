"""Runs an evaluation: every policy on every problem, recorded, resumable.

The episodes of one policy run side by side in one event loop; judging happens in threads, which
in turn use the isolated workers of the verifiers.
"""

import asyncio
import os
import platform
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor as Threads
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.executor import Executor, Serial, check_executor
from rlvr_envs.core.verdict import Status
from rlvr_envs.core.version import __version__
from rlvr_envs.evaluation.episode import Episode, episode_key, stored_problem
from rlvr_envs.evaluation.matches import AnchorGames, check_players, rate_records
from rlvr_envs.evaluation.on_executor import play_all, problems_of
from rlvr_envs.evaluation.plan import Plan, Question, expand_ids, read_difficulties
from rlvr_envs.evaluation.policies import make_policies
from rlvr_envs.evaluation.policy import Policy, PolicyOptions
from rlvr_envs.evaluation.ratings import Ratings
from rlvr_envs.evaluation.store import SUMMARY, Record, RunFolder, question_of, write_json
from rlvr_envs.evaluation.summary import Summary, light, summarise


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an evaluation has come; ``resumed`` episodes were on disk before it began.

    Examples:
        >>> from rlvr_envs.evaluation import Progress, evaluate
        >>> def show(progress: Progress) -> None:
        ...     print(f"{progress.done}/{progress.total}")
        >>> run = evaluate("rlvr/Gcd-v0", "oracle", episodes=1, progress=show)
        0/1
        1/1
    """

    done: int
    total: int
    resumed: int
    record: Record | None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A finished evaluation.

    Attributes:
        plan: what was asked.
        config: plan and policies, as stored in ``run.json``, with those that the folder had before.
        records: one record an episode; without the responses where there is a folder.
        summary: the statistics.
        folder: where the run is stored, or None.
        size: how many episodes of each policy make the run complete.
        ratings: of the policies and their opponents, if there are opponents.

    Examples:
        >>> from rlvr_envs.evaluation import evaluate
        >>> run = evaluate("rlvr/Gcd-v0", "oracle", episodes=2)
        >>> run.size, len(run.records), run.folder
        (2, 2, None)
    """

    plan: Plan
    config: dict[str, Any]
    records: list[Record]
    summary: Summary
    folder: Path | None
    size: int
    ratings: Ratings | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the statistics as JSON data, with the ratings if there are some."""
        found = self.summary.to_json()
        return found | ({"ratings": self.ratings.to_json()} if self.ratings else {})


def evaluate(  # noqa: PLR0913 - every argument is the user's, and all but two are keywords
    ids: str | Sequence[str],
    policies: str | Policy | Sequence[str | Policy],
    *,
    difficulty: int | str | Sequence[int] | None = None,
    episodes: int = 20,
    samples: int = 1,
    seed: int = 0,
    shots: int = 0,
    answer_format: str | None = None,
    knobs: dict[str, Any] | None = None,
    opponents: Sequence[str] = (),
    options: PolicyOptions | None = None,
    out: str | Path | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Evaluation:
    """Ask policies the problems of some ids and return what they scored.

    Args:
        ids: tasks and mixtures; the namespace may be left out.
        policies: texts such as ``"oracle"`` and ``"openai:gpt-4o"``, or `Policy` objects.
        difficulty: one level or several, also as ``"0-5"``; None for the defaults of the knobs.
        episodes: problems of each id and difficulty.
        samples: responses to each problem.
        seed: what the problems are derived from; the same for every policy.
        shots: solved problems of the same task before each question.
        answer_format: the label of an answer format, instead of each task's own.
        knobs: fields of the tasks' configuration, by name.
        opponents: built-in players, such as ``["random", "mcts:50", "optimal"]``: each problem of a
            game is a match against each of them from both sides, and all are rated.
        options: options of the policies that run a model.
        out: the folder of the run. A run that was cut short goes on where it was, and one that was
            finished may go on to more episodes, samples and policies.
        workers: threads that judge; as many as this process may use cores by default.
        executor: where episodes are played, instead of this process: `open_executor` opens one.
        progress: called after each episode.

    Raises:
        ConfigError: an argument is unknown, out of range or does not fit the folder.
        RegistrationError: there is no such id.
        DependencyError: a policy needs a package that is missing.

    Examples:
        >>> from rlvr_envs.evaluation import evaluate
        >>> run = evaluate("rlvr/Gcd-v0", ["oracle", "constant:1"], difficulty=[0], episodes=3)
        >>> for group in run.summary["overall"]:
        ...     print(group.by, group.score.mean)
        {'policy': 'constant:1'} 0.0
        {'policy': 'oracle'} 1.0
    """
    if difficulty is None or isinstance(difficulty, str):
        levels = read_difficulties(difficulty)
    else:
        levels = (difficulty,) if isinstance(difficulty, int) else tuple(dict.fromkeys(difficulty))
    plan = Plan(
        ids=expand_ids([ids] if isinstance(ids, str) else ids),
        difficulties=levels,
        episodes=episodes,
        samples=samples,
        seed=seed,
        shots=shots,
        answer_format=answer_format,
        knobs=knobs or {},
        opponents=(opponents,) if isinstance(opponents, str) else tuple(opponents),
    )
    given = [policies] if isinstance(policies, (str, Policy)) else list(policies)
    named = iter(make_policies([p for p in given if isinstance(p, str)], options))
    made = [next(named) if isinstance(p, str) else p for p in given]
    return run_plan(plan, made, out=out, workers=workers, executor=executor, progress=progress)


def run_plan(  # noqa: PLR0913 - as above
    plan: Plan,
    policies: Sequence[Policy],
    *,
    out: str | Path | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[Progress], None] | None = None,
    asked: Sequence[Question] | None = None,
) -> Evaluation:
    """Ask policies the questions of a plan, or those that are given; see `evaluate`.

    Raises:
        ConfigError: an argument is out of range or does not fit the folder.

    Examples:
        >>> from rlvr_envs.evaluation import Plan, make_policy, run_plan
        >>> plan = Plan(ids=("rlvr/Gcd-v0",), difficulties=(0, 2), episodes=2)
        >>> len(run_plan(plan, [make_policy("oracle")]).records)
        4
    """
    names = [policy.name for policy in policies]
    if not names or len(set(names)) < len(names):
        raise ConfigError(f"an evaluation needs policies, each once, got {names}")
    if workers is not None and workers < 1:
        raise ConfigError(f"workers must be at least 1, got {workers}")
    check_executor(executor)
    if workers is not None and executor is not None:
        raise ConfigError(
            "'workers' are threads of this process, and 'executor' is elsewhere: give one"
        )
    if asked is None:
        asked = [question for cell in plan.cells() for question in cell.questions(plan)]
    check_players(asked)
    config = plan.to_json() | {"policies": {p.name: p.settings() for p in policies}}
    folder = None if out is None else RunFolder(Path(out), config, versions())
    config = config if folder is None else folder.config
    try:
        run = _Run(plan, asked, policies, folder, progress)
        run.meet(executor or Serial())
        if executor is not None:
            run.on(executor)
        else:
            _in_event_loop(run, workers or _cores())
        records = list(run.finished.values())
        done = Evaluation(
            plan,
            config,
            records,
            summarise(records, samples=plan.samples),
            folder.path if folder else None,
            len(asked) * plan.samples,
            rate_records(records, run.anchors.games.values(), plan.opponents)
            if plan.opponents
            else None,
        )
        if folder is not None:
            stored = {"config": config, "versions": versions(), **done.to_json()}
            write_json(folder.path / SUMMARY, stored)
    finally:
        if folder is not None:
            folder.close()
    return done


def versions() -> dict[str, str]:
    """Return what a reader needs to know of the machine's software."""
    return {"rlvr_envs": __version__, "python": platform.python_version()}


class _Run:
    """The state of one evaluation under way."""

    def __init__(
        self,
        plan: Plan,
        asked: Sequence[Question],
        policies: Sequence[Policy],
        folder: RunFolder | None,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.plan = plan
        self.policies = policies
        self._names = {policy.name for policy in policies}
        self._asked = asked
        self._folder = folder
        self._progress = progress
        before = folder.anchor_games() if folder is not None and plan.opponents else ()
        self.anchors = AnchorGames(plan, asked, before)
        self.total = len(asked) * plan.samples * len(policies) + self.anchors.total
        self.finished: dict[str, Record] = {}
        # Judged again, or asked again, when a run is resumed.
        self._unscored: dict[str, Record] = {}
        # Question → fingerprint of the problem that was asked, of a run that has a folder.
        self._fingerprints: dict[str, str] = {}
        self._storing: dict[str, asyncio.Future[None]] = {}
        if folder is not None:
            self._read(folder)
        # Episodes of policies that the folder has and this call does not ask.
        self._others = sum(record["policy"] not in self._names for record in self.finished.values())
        self._resumed = self._done()

    def _read(self, folder: RunFolder) -> None:
        self._fingerprints |= folder.fingerprints
        for record in folder.records():
            key = record["key"]
            if record.get("fingerprint"):
                self._fingerprints[question_of(record)] = record["fingerprint"]
            if record["scored"] or record["policy"] not in self._names:
                self.finished[key] = light(record)
            else:
                self._unscored[key] = record

    def _done(self) -> int:
        return len(self.finished) - self._others + len(self.anchors.games)

    def meet(self, executor: Executor) -> None:
        """Play the games between the opponents."""
        for game in self.anchors.play(executor):
            if self._folder is not None:
                self._folder.add_anchor_game(game)
            self._tell(None)

    def on(self, executor: Executor) -> None:
        """Play the episodes on an executor."""
        self._tell(None)
        for policy in self.policies:
            wanted = self._wanted(policy)
            first = next(wanted, None)
            if first is not None:
                stored = None if self._folder is None else self._folder.fingerprints
                wanted = chain([first], wanted)
                for played in play_all(policy, self.plan, wanted, executor, stored):
                    self._keep(played.problem)
                    for record in played.records:
                        self._book(record)
        if lost := self._lost():
            for problem in problems_of(lost, self.plan, executor):
                self._keep(problem)

    def _lost(self) -> list[Question]:
        """Return the questions that the folder has no problem of, once their episodes are there.

        They are those of a run of an older version, and those whose line was lost.
        """
        if self._folder is None:
            return []
        return [each for each in self._asked if each.key not in self._folder.fingerprints]

    def _keep(self, problem: Record | None) -> None:
        """Store a problem, but not in the place of the one that was asked."""
        if problem is None or self._folder is None:
            return
        known = self._fingerprints.setdefault(problem["question"], problem["fingerprint"])
        if known == problem["fingerprint"]:
            self._folder.add_problem(problem)

    def _wanted(self, policy: Policy) -> Iterator[tuple[Question, dict[int, Record | None]]]:
        """Return the samples of each question that are still to play, or to judge again."""
        for question in self._asked:
            keys = {s: episode_key(policy.name, question, s) for s in range(self.plan.samples)}
            samples = {
                sample: old if old is not None and _judgeable(old) else None
                for sample, key in keys.items()
                if key not in self.finished
                for old in (self._unscored.get(key),)
            }
            if samples:
                yield question, samples

    async def run(self, threads: Threads, workers: int) -> None:
        """Play the episodes in this process."""
        self._tell(None)
        for policy in self.policies:
            jobs = self._jobs(policy, threads)
            first = next(jobs, None)
            if first is None:
                continue
            await policy.open()
            try:
                await self._crew(first, jobs, policy.concurrency or workers, threads)
            finally:
                await policy.close()
        for question in self._lost():
            await self._storing_of(question, threads)

    def _storing_of(self, question: Question, threads: Threads) -> "asyncio.Future[None]":
        """Begin to store the problem of a question, unless that is done; others may wait for it."""
        key = question.key
        if key not in self._storing:
            self._storing[key] = asyncio.ensure_future(self._store(question, threads))
        return self._storing[key]

    async def _store(self, question: Question, threads: Threads) -> None:
        if self._folder is not None and question.key not in self._folder.fingerprints:
            make = partial(stored_problem, question, self.plan)
            self._keep(await asyncio.get_running_loop().run_in_executor(threads, make))

    async def _crew(
        self, first: Episode, jobs: Iterator[Episode], size: int, threads: Threads
    ) -> None:
        """Run the episodes, ``size`` at once; the first error ends them all."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._work(first, jobs, threads))
            for _ in range(size - 1):
                job = next(jobs, None)
                if job is None:
                    break
                group.create_task(self._work(job, jobs, threads))

    async def _work(self, job: Episode | None, jobs: Iterator[Episode], threads: Threads) -> None:
        while job is not None:
            storing = None if self._folder is None else self._storing_of(job.question, threads)
            old = self._unscored.get(job.key)
            if old is not None and _judgeable(old):
                record = await job.judge_again(old)
            else:
                record = await job.run()
            if storing is not None:
                await storing
            self._book(record)
            job = next(jobs, None)

    def _book(self, record: Record) -> None:
        if self._folder is not None:
            self._check_problem(record)
            self._folder.append(record)
            record = light(record)
        self.finished[record["key"]] = record
        self._tell(record)

    def _check_problem(self, record: Record) -> None:
        """Check that a question poses the same problem as before in this run."""
        question, found = question_of(record), record["fingerprint"]
        if found is not None and found != self._fingerprints.setdefault(question, found):
            raise ConfigError(
                f"this version makes another problem of the question {question} than the run has: "
                "go on with the version that began it, or use another --out"
            )

    def _jobs(self, policy: Policy, threads: Threads) -> Iterator[Episode]:
        for question in self._asked:
            for sample in range(self.plan.samples):
                if episode_key(policy.name, question, sample) not in self.finished:
                    yield Episode(question, sample, policy=policy, plan=self.plan, threads=threads)

    def _tell(self, record: Record | None) -> None:
        if self._progress is not None:
            self._progress(Progress(self._done(), self.total, self._resumed, record))


def _judgeable(record: Record) -> bool:
    """Whether only the verifier failed: there is a response, which need not be asked for again."""
    failed = record["verdict"]["status"] == Status.VERIFIER_ERROR
    return bool(failed and record["response"] is not None)


def _in_event_loop(run: _Run, workers: int) -> None:
    """Run to the end, from a script or from within a notebook's own event loop."""

    def start() -> None:
        threads = ThreadPoolExecutor(workers, "rlvr-eval")
        try:
            asyncio.run(_unwrapped(run, threads, workers))
        finally:
            # Ctrl-C must not wait for a verdict that nobody will read.
            threads.shutdown(wait=False, cancel_futures=True)

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        start()
        return
    failed: list[BaseException] = []

    def guarded() -> None:
        try:
            start()
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            failed.append(error)

    thread = threading.Thread(target=guarded, name="rlvr-eval")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


async def _unwrapped(run: _Run, threads: Threads, workers: int) -> None:
    """Run, and raise the first error itself instead of a group of one."""
    try:
        await run.run(threads, workers)
    except BaseExceptionGroup as group:
        raise group.exceptions[0] from None


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
