"""One episode: a policy answers one problem, and the verifier judges it.

The record of an episode is a JSON object and is all that statistics and report look at.
"""

import asyncio
import hashlib
import time
from collections.abc import Callable
from concurrent.futures import Executor as Threads
from functools import partial
from typing import Any, TypeVar

from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.errors import DependencyError
from rlvr_envs.core.instance import MAX_RESPONSE_CHARS, Instance, too_long
from rlvr_envs.core.task import InteractiveTask, Reply, Session, not_over
from rlvr_envs.core.tools import Tool
from rlvr_envs.core.verdict import Status, Verdict
from rlvr_envs.evaluation.plan import Plan, Question, solved_examples
from rlvr_envs.evaluation.policy import Message, Policy, PolicyError, Request, Response
from rlvr_envs.evaluation.store import Record, json_line
from rlvr_envs.evaluation.tool_calls import Turn, messages_after, played
from rlvr_envs.evaluation.usage import ASKED, asked_fields

# The status of an episode in which the policy, not the verifier, failed.
POLICY_ERROR = "policy_error"

# A longer answer is recorded by its digest: it is only compared with others.
_MAX_ANSWER_CHARS = 200

T = TypeVar("T")


def episode_key(policy: str, question: Question, sample: int) -> str:
    """Return what names an episode within its run."""
    return f"{policy}|{question.key}|{sample}"


class Episode:
    """One sample of one question, with everything that answering and judging it needs."""

    def __init__(
        self, question: Question, sample: int, *, policy: Policy, plan: Plan, threads: Threads
    ) -> None:
        self.question = question
        self.sample = sample
        self.policy = policy
        self.plan = plan
        self._threads = threads
        self._actions: list[str] = []
        self._replies: list[str] = []
        self._responses: list[Response] = []
        self._error: PolicyError | None = None
        self._instance: Instance | None = None

    @property
    def key(self) -> str:
        """What names this episode within its run."""
        return episode_key(self.policy.name, self.question, self.sample)

    async def run(self) -> Record:
        """Play the episode and return its record; a failing policy or task is recorded too."""
        began = time.perf_counter()
        try:
            self._instance = instance = await self._off_loop(self.question.instance)
            opening = await self._off_loop(self._opening)
        except DependencyError:  # no problem can be made here before something is installed
            raise
        except Exception as error:  # noqa: BLE001 - one broken task must not end the others' run
            return self._record(_fault("the task posed no problem", error).to_json(), began)
        try:
            verdict = (await self._play(instance, opening)).to_json()
        except PolicyError as error:
            self._error = error
            verdict = {"score": None, "status": POLICY_ERROR, "detail": str(error), "parts": {}}
        return self._record(verdict, began)

    async def judge_again(self, old: Record) -> Record:
        """Return the record of an episode whose verifier had failed, judged once more.

        An episode that broke off before its end is played again.
        """
        began = time.perf_counter()
        response = old["response"]
        self._actions = [response] if isinstance(response, str) else list(response)
        self._replies = old.get("replies", [])
        try:
            self._instance = instance = await self._off_loop(self.question.instance)
        except DependencyError:
            raise
        except Exception as error:  # noqa: BLE001 - as in `run`
            verdict = _fault("the task posed no problem", error)
        else:
            verdict = await self._off_loop(partial(instance.judge, response))
            limit = instance.spec.max_turns
            if instance.interactive and breaks_off(verdict, len(self._actions), limit):
                self._actions, self._replies, self._responses = [], [], []
                return await self.run()
        kept = {name: old[name] for name in ("elapsed_s", *ASKED) if name in old}
        return self._record(verdict.to_json(), began) | kept

    def lost(self, error: Exception) -> Record:
        """Return the record of an episode that ended with the process that played it."""
        return self._record(_fault("the episode was lost", error).to_json(), time.perf_counter())

    async def _off_loop(self, function: Callable[[], T]) -> T:
        """Run what may take long in a thread, so that requests under way go on."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, function)

    def _opening(self) -> list[Message]:
        """Return the chat up to the policy's first turn."""
        instance = self.question.instance()
        messages: list[Message] = []
        for question, answer in shots(instance, self.plan):
            messages += [
                {"role": "user", "content": question},
                {"role": "assistant", "content": answer},
            ]
        return [*messages, {"role": "user", "content": instance.prompt()}]

    async def _play(self, instance: Instance, messages: list[Message]) -> Verdict:
        session: Session | None = None
        tools: tuple[Tool, ...] = ()
        if isinstance(instance.task, InteractiveTask):
            try:
                session = instance.task.begin(instance.problem)
                tools = instance.task.tools(instance.problem)
            except DependencyError:
                raise
            except Exception as error:  # noqa: BLE001 - a broken task is no bad answer
                return _fault("the task failed", error)
        while True:
            request = Request(
                instance,
                tuple(messages),
                self.sample,
                self.plan.seed,
                len(self._actions),
                self.question.index,
                tools,
            )
            response = await self.policy.act(request)
            turn = played(response, tools) if session else Turn(response.text)
            self._responses.append(response)
            self._actions.append(turn.action)
            if session is None:
                return await self._off_loop(partial(instance.judge, turn.action))
            reply = await self._off_loop(partial(_answer, session, turn.action))
            self._replies.append(reply.text)
            if reply.verdict is not None:
                return reply.verdict
            limit = instance.spec.max_turns
            if len(self._actions) >= limit:
                return Verdict.wrong(f"the limit of {limit} turns is reached")
            messages += messages_after(response, turn, reply.text, len(self._actions))

    def _record(self, verdict: dict[str, Any], began: float) -> Record:
        instance, question = self._instance, self.question
        interactive = instance is not None and instance.interactive
        response = self._actions if interactive else next(iter(self._actions), None)
        record: Record = {
            "key": self.key,
            "question": question.key,
            "policy": self.policy.name,
            "id": question.cell.source.id,
            "task": instance.spec.id if instance else None,
            "domain": instance.spec.domain if instance else None,
            "difficulty": question.cell.difficulty,
            "problem_seed": question.problem_seed,
            "index": question.index,
            "fingerprint": instance.fingerprint() if instance else None,
            "sample": self.sample,
            "response": response or None if interactive else response,
            "answer": None,
            "verdict": verdict,
            "scored": verdict["status"] not in (POLICY_ERROR, Status.VERIFIER_ERROR),
            "turns": len(self._actions),
            "response_chars": sum(map(len, self._actions)),
            "elapsed_s": round(time.perf_counter() - began, 4),
        }
        if instance and not interactive and isinstance(response, str):
            record["answer"] = extracted(instance, response)
        if interactive:
            record["replies"] = self._replies
        if question.cell.opponent:
            record |= {"opponent": question.cell.opponent, "side": question.cell.side}
        record |= asked_fields(self._responses, self._error, interactive=interactive)
        return record


def shots(instance: Instance, plan: Plan) -> list[tuple[str, str]]:
    """Return the solved problems that come before a question: their prompts and full responses.

    Raises:
        ConfigError: the task has too few different problems.
    """
    examples = solved_examples(instance, plan.shots, plan.seed)
    return [(example.prompt(), str(example.solution())) for example in examples]


def stored_problem(question: Question, plan: Plan) -> Record | None:
    """Return a question as a run stores it, or None if there is nothing to store.

    That is the row of its problem, the key of the question, and ``shots`` if the plan has any.
    Where the oracle fails, the row has no reference.
    """
    try:
        instance = question.instance()
        try:
            row = instance.to_row()
        except Exception:  # noqa: BLE001 - nothing of an evaluation rests on the oracle
            row = instance.to_row(reference=False)
        turns = {"shots": list(map(list, shots(instance, plan)))} if plan.shots else {}
        problem = {"question": question.key, **row, **turns}
        json_line(problem)  # a hidden integer may have more digits than Python writes
    except Exception:  # noqa: BLE001 - the episodes of the question record why, or need no row
        return None
    return problem


def breaks_off(verdict: Verdict, actions: int, max_turns: int) -> bool:
    """Return whether a verdict says that an episode's actions end where it does not.

    Such an episode was cut short by a fault of its task, not by its policy.
    """
    return actions < max_turns and verdict == not_over(actions)


def _answer(session: Session, action: str) -> Reply:
    """Return a session's reply; one that breaks has no say in the score."""
    if len(action) > MAX_RESPONSE_CHARS:
        return Reply("", too_long(action))
    try:
        return session.reply(action)
    except DependencyError:  # as in `Instance.judge`
        raise
    except Exception as error:  # noqa: BLE001 - a broken task must not look like a bad answer
        return Reply("", _fault("the task failed", error))


def _fault(what: str, error: Exception) -> Verdict:
    return Verdict.verifier_error(f"{what}: {type(error).__name__}: {error}")


def extracted(instance: Instance, response: str) -> str | None:
    """Return the answer in a response with its white space made plain, for counting votes."""
    return answer_in(response, instance.format_label)


def answer_in(response: str, format_label: str) -> str | None:
    """Return the answer in a response of a format as `extracted` does."""
    if len(response) > MAX_RESPONSE_CHARS:
        return None
    answer = answer_format(format_label).extract(response).answer
    if answer is None:
        return None
    plain = " ".join(answer.split())
    if len(plain) <= _MAX_ANSWER_CHARS:
        return plain
    return "sha256:" + hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()
