"""NeMo Gym: the calls of its resources servers, for ``rlvr serve --wire nemo-gym``.

Its ``simple_agent`` asks ``/seed_session`` and ``/verify``; its ``gymnasium_agent``, which also
plays interactive tasks, asks ``/reset``, ``/step`` and ``/close``. A request carries the line of
the dataset that `rlvr export --to nemo_gym` wrote, so its row decides what is played, not the ids
of the server. This module needs FastAPI, and not NeMo Gym.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from statistics import fmean
from typing import Any
from urllib.parse import quote, unquote

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict

from rlvr_envs.core import registry
from rlvr_envs.core.errors import RegistrationError
from rlvr_envs.core.instance import Row
from rlvr_envs.core.verdict import Status, Verdict
from rlvr_envs.serving.metrics import Metrics
from rlvr_envs.serving.rows import Judge
from rlvr_envs.serving.sessions import Session, Sessions, WireError, invalid

# NeMo Gym carries the cookies of a reply to the next request of the same rollout.
_COOKIE = "rlvr_session"
# NeMo Gym keeps at most so much of a reason.
_REASON_CHARS = 2000
# Its own name for what is our fault, and the key by which its older versions leave a rollout out.
_KIND = "verifier_error"
_LEFT_OUT = "_ng_failure_class"
_TASK = "_ng_task_index"


class Line(BaseModel):
    """A line of the dataset, and what the agent adds to it."""

    model_config = ConfigDict(extra="allow")
    responses_create_params: dict[str, Any]
    row: str | None = None


class Answered(Line):
    """A line of the dataset with the model's response."""

    response: dict[str, Any]


class AggregateBody(BaseModel):
    """What `/verify` replied to the rollouts of a run."""

    verify_responses: list[dict[str, Any]]


def nemo_gym_router(sessions: Sessions, metrics: Metrics) -> APIRouter:
    """Return the routes."""
    router = APIRouter(tags=["NeMo Gym"])
    _add_answers(router, Judge(sessions, metrics))
    _add_episodes(router, sessions)
    return router


def _add_answers(router: APIRouter, judge: Judge) -> None:
    @router.post("/seed_session")
    async def seed_session() -> dict[str, Any]:
        """Begin a rollout of one answer, which needs no session."""
        return {}

    @router.post("/verify")
    async def verify(body: Answered) -> dict[str, Any]:
        """Judge a response; where the verifier failed, mark the sample as masked."""
        row = _row(body)
        if registry.find(row["id"]).interactive:
            raise invalid(f"{row['id']} takes several turns: play it with the gymnasium_agent")
        verdict = await judge.one(row, _text(body.response))
        return body.model_dump() | _scored(verdict)

    @router.post("/aggregate_metrics")
    async def aggregate_metrics(body: AggregateBody) -> dict[str, Any]:
        """Return the means of the numbers that `/verify` replied, without masked samples."""
        measured = [each for each in body.verify_responses if not each.get("mask_sample")]
        groups: dict[Any, list[dict[str, Any]]] = defaultdict(list)
        for each in measured:
            groups[each.get(_TASK, 0)].append(each)
        overall = _means(measured)
        headline = {name: value for name, value in overall.items() if name == "mean/reward"}
        by_task = [{_TASK: task, **_means(group)} for task, group in groups.items()]
        return {
            "agent_metrics": overall,
            "key_metrics": headline,
            "group_level_metrics": by_task,
        }


def _add_episodes(router: APIRouter, sessions: Sessions) -> None:
    @router.post("/reset")
    async def reset(body: Line, request: Request, response: Response) -> dict[str, Any]:
        """Begin an episode; the observation is empty where the line holds the prompt already."""
        row = _row(body)
        session = sessions.open(row["id"], request.state.client)
        try:
            turn = await sessions.reset(session, {"problem": row})
        except BaseException:
            sessions.end(session)
            raise
        _remember(response, session)
        prompted = bool(body.responses_create_params.get("input"))
        info = {**turn.metadata, "supports_explicit_close": True}
        return {"observation": None if prompted else turn.text, "info": info}

    @router.post("/step")
    async def step(body: Answered, request: Request, response: Response) -> dict[str, Any]:
        """Take the model's message; an episode that could not be judged is an error, never a 0."""
        session = _recall(sessions, request)
        turn = await sessions.step(session, _text(body.response))
        _remember(response, session)  # a client keeps only the cookies of the last reply
        if turn.done:
            sessions.end(session)
            if turn.reward is None:
                detail = turn.metadata["detail"]
                raise WireError("EXECUTION_ERROR", 503, f"not scored, the fault is ours: {detail}")
        truncated = bool(turn.metadata.get("truncated"))
        return {
            "observation": turn.text or None,
            "reward": turn.reward or 0.0,
            "terminated": turn.done and not truncated,
            "truncated": truncated,
            "info": turn.metadata,
        }

    @router.post("/close")
    async def close(request: Request) -> dict[str, Any]:
        """End the session of an episode; it may have ended."""
        with suppress(WireError):
            sessions.end(_recall(sessions, request))
        return {}


def _scored(verdict: Verdict) -> dict[str, Any]:
    """Return the fields that a verdict adds to the line of a dataset."""
    found = {
        "reward": verdict.score,
        "mask_sample": not verdict.scored,
        "verdict": verdict.to_json(),
        **{f"is_{status}": float(status is verdict.status) for status in Status},
        **{f"part/{name}": value for name, value in verdict.parts.items()},
    }
    if verdict.scored:
        return found
    reason = verdict.detail[:_REASON_CHARS]
    return found | {"failure_kind": _KIND, "failure_reason": reason, _LEFT_OUT: _KIND}


def _remember(response: Response, session: Session) -> None:
    value = f"{session.key}.{quote(session.env_id, safe='')}"
    response.set_cookie(_COOKIE, value, httponly=True)


def _recall(sessions: Sessions, request: Request) -> Session:
    key, _, env_id = request.cookies.get(_COOKIE, "").partition(".")
    return sessions.find(key, request.state.client, unquote(env_id))


def _row(line: Line) -> Row:
    try:
        row = json.loads(line.row or "")
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise invalid("'row' is a row as JSON text, as `rlvr export --to nemo_gym` writes it")
    try:
        registry.find(str(row.get("id")))
    except RegistrationError as error:
        raise invalid(str(error)) from None
    return row


def _text(response: Mapping[str, Any]) -> str:
    """Return what the model said: the texts of its messages, without its reasoning."""
    said: list[str] = []
    for item in response.get("output") or ():
        if not isinstance(item, dict) or item.get("type") != "message":
            continue
        content = item.get("content")
        parts = [{"type": "output_text", "text": content}] if isinstance(content, str) else content
        said += [str(part["text"]) for part in parts or () if part.get("type") == "output_text"]
    return "".join(said)


def _means(responses: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    numbers: dict[str, list[float]] = defaultdict(list)
    for each in responses:
        for name, value in each.items():
            if isinstance(value, (int, float)) and not isinstance(value, bool) and name[0] != "_":
                numbers[f"mean/{name}"].append(value)
    return {name: fmean(values) for name, values in numbers.items()}
