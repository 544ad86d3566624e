"""Episodes on an executor: one call poses a problem and plays all samples of it that are wanted.

The policy travels with the call, so a process or a node asks an endpoint itself.
"""

import asyncio
import atexit
import pickle
import secrets
import threading
from collections import deque
from collections.abc import Container, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor as Threads
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from rlvr_envs.core.errors import ConfigError, DependencyError, RegistrationError, WorkerError
from rlvr_envs.core.executor import Call, Executor
from rlvr_envs.core.instance import Row
from rlvr_envs.evaluation.episode import Episode, stored_problem
from rlvr_envs.evaluation.plan import Cell, Plan, Question
from rlvr_envs.evaluation.policy import Policy
from rlvr_envs.evaluation.store import Record

# CPU seconds for the samples of one question. Verifiers that meet hostile answers have lower limits
# of their own; a solver of a hard problem may take minutes.
CPU_S = 600.0
_BATCH = 8  # few, because a problem or a reply of an endpoint may take seconds


@dataclass(frozen=True, slots=True)
class Job:
    """The episodes of a policy on one question, or what a run stores of it.

    Attributes:
        run: names the evaluation, so that a policy is unpickled once for each.
        policy: the policy, pickled.
        plan: what is asked.
        cell: where the question is from, pickled.
        problem_seed: what the question is generated from, or None.
        index: its number, or None.
        row: the problem itself, if it is stored.
        samples: the numbers of the episodes.
        again: records, by their sample, whose verifier had failed: those are only judged.
        stored: whether the run has the problem.
    """

    run: str
    policy: bytes
    plan: Plan
    cell: bytes
    problem_seed: int | None
    index: int | None
    row: Row | None
    samples: tuple[int, ...]
    again: Mapping[int, Record]
    stored: bool

    def question(self) -> Question:
        """Return the question."""
        return Question(_cell(self.cell), self.problem_seed, self.index, self.row)


@dataclass(frozen=True, slots=True)
class Played:
    """What came of a question: its records, and the problem for the run to store, if it is to."""

    question: Question
    records: list[Record]
    problem: Record | None


@dataclass(frozen=True, slots=True)
class Stop:
    """Why the evaluation cannot go on before the user has mended something."""

    reason: str
    missing: bool  # whether something has to be installed

    def raised(self) -> Exception:
        """Return the exception for the caller of the evaluation."""
        return DependencyError(self.reason) if self.missing else ConfigError(self.reason)


class _AtOnce(Threads):
    """Runs in the calling thread: nothing else waits in the process of a call."""

    def submit(self, function: Any, /, *arguments: Any, **named: Any) -> "Future[Any]":
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments, **named))
        except BaseException as error:  # noqa: BLE001 - raised where the result is awaited
            future.set_exception(error)
        return future


def pack(policy: Policy, executor: Executor) -> bytes:
    """Return a policy as it travels.

    Raises:
        ConfigError: it cannot leave this process.
    """
    policy.check_portable()
    try:
        packed = pickle.dumps(policy)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise _stays(policy, str(error)) from error
    (found,) = executor.map(f"{__name__}:unpacks", [Call((packed,))], cpu_s=CPU_S)
    # Other faults than an exception belong to the machine, and the episodes will meet them.
    if type(found.error) is WorkerError:
        raise _stays(policy, str(found.error))
    return packed


def _stays(policy: Policy, reason: str) -> ConfigError:
    return ConfigError(
        f"the policy {policy.name!r} cannot be sent to another process ({reason}): define it in a "
        "module on sys.path, or evaluate without an executor"
    )


def unpacks(packed: bytes) -> bool:
    """Run where episodes are played: whether the policy can be made there."""
    return isinstance(pickle.loads(packed), Policy)  # noqa: S301 - sent by our own parent


@lru_cache(maxsize=4)
def _policy(packed: bytes, run: str) -> Policy:
    policy: Policy = pickle.loads(packed)  # noqa: S301 - sent by our own parent
    return policy


@lru_cache(maxsize=256)
def _cell(packed: bytes) -> Cell:
    cell: Cell = pickle.loads(packed)  # noqa: S301 - as above
    return cell


def play(job: Job) -> tuple[list[Record], Record | None] | Stop:
    """Return the records of a job, and the problem if it is to be stored.

    This runs where the executor is. Only the process that has the run's folder writes to it.
    """
    try:
        question = job.question()
        records: list[Record] = []
        if job.samples:
            policy = _policy(job.policy, job.run)
            episodes = [
                Episode(question, sample, policy=policy, plan=job.plan, threads=_AtOnce())
                for sample in job.samples
            ]
            records = _run(_play(policy, episodes, job.again))
        return records, None if job.stored else stored_problem(question, job.plan)
    except DependencyError as error:
        return Stop(str(error), missing=True)
    except RegistrationError as error:
        told = f"{error}. Another process knows only tasks that an installed package registers"
        return Stop(told, missing=False)
    except ConfigError as error:
        return Stop(str(error), missing=False)


@cache
def _runner() -> asyncio.Runner:
    """Return the event loop of this process: a new one would cost more than a plain episode."""
    runner = asyncio.Runner()
    atexit.register(runner.close)
    return runner


def _run(playing: Coroutine[Any, Any, list[Record]]) -> list[Record]:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        if threading.current_thread() is threading.main_thread():
            return _runner().run(playing)
        return asyncio.run(playing)
    with ThreadPoolExecutor(1) as beside:  # a notebook has a loop of its own
        return beside.submit(asyncio.run, playing).result()


async def _play(
    policy: Policy, episodes: Sequence[Episode], again: Mapping[int, Record]
) -> list[Record]:
    await policy.open()
    try:
        return await asyncio.gather(
            *(
                each.judge_again(again[each.sample]) if each.sample in again else each.run()
                for each in episodes
            )
        )
    finally:
        await policy.close()


def play_all(
    policy: Policy,
    plan: Plan,
    wanted: Iterable[tuple[Question, Mapping[int, Record | None]]],
    executor: Executor,
    stored: Container[str] | None = None,
) -> Iterator[Played]:
    """Yield the records of every question of a policy, in order.

    Args:
        policy: who answers.
        plan: what is asked.
        wanted: questions, each with the samples that are wanted: the number of a sample, and its
            record if only its verifier had failed.
        executor: where.
        stored: the keys of the questions whose problems the run has; None if it stores none.

    Raises:
        ConfigError: the policy cannot leave this process, or an endpoint refuses it.
        DependencyError: something is missing where the episodes are played.
        WorkerError: the policy raised something other than `PolicyError`.
    """
    packed, run = pack(policy, executor), secrets.token_hex(8)
    sent: deque[tuple[Question, tuple[int, ...]]] = deque()
    for outcome in executor.map(
        f"{__name__}:play",
        _calls(wanted, plan, stored, sent, (run, packed)),
        cpu_s=CPU_S,
        batch=_BATCH,
    ):
        question, samples = sent.popleft()
        if isinstance(outcome.value, Stop):
            raise outcome.value.raised()
        if isinstance(outcome.value, tuple):
            yield Played(question, *outcome.value)
            continue
        error = outcome.error or WorkerError(f"the records are {outcome.value!r:.80}")
        if type(error) is WorkerError:  # an exception, and not of a task: those are recorded
            raise WorkerError(f"the policy {policy.name!r} failed on {question.key}: {error}")
        episodes = [
            Episode(question, sample, policy=policy, plan=plan, threads=_AtOnce())
            for sample in samples
        ]
        yield Played(question, [episode.lost(error) for episode in episodes], None)


def problems_of(questions: Iterable[Question], plan: Plan, executor: Executor) -> Iterator[Record]:
    """Yield what a run stores of questions, of those that can be posed there."""
    nothing: Mapping[int, Record | None] = {}
    wanted = ((question, nothing) for question in questions)
    calls = _calls(wanted, plan, (), deque(), ("", b""))
    for outcome in executor.map(f"{__name__}:play", calls, cpu_s=CPU_S, batch=_BATCH):
        if isinstance(outcome.value, tuple) and outcome.value[1] is not None:
            yield outcome.value[1]


def _calls(
    wanted: Iterable[tuple[Question, Mapping[int, Record | None]]],
    plan: Plan,
    stored: Container[str] | None,
    sent: deque[tuple[Question, tuple[int, ...]]],
    policy: tuple[str, bytes],
) -> Iterator[Call]:
    """Yield the calls of `play`, and add the question and samples of each to ``sent``."""
    cells: dict[int, bytes] = {}
    run, packed = policy
    for question, samples in wanted:
        if id(question.cell) not in cells:
            cells[id(question.cell)] = pickle.dumps(question.cell)
        sent.append((question, tuple(samples)))
        job = Job(
            run=run,
            policy=packed,
            plan=plan,
            cell=cells[id(question.cell)],
            problem_seed=question.problem_seed,
            index=question.index,
            row=question.row,
            samples=tuple(samples),
            again={sample: old for sample, old in samples.items() if old is not None},
            stored=stored is None or question.key in stored,
        )
        yield Call((job,))
