"""The calls without a session: ``/problems`` makes rows, ``/verify`` judges responses to rows.

For trainers that only need rewards. A row holds the reference answer, so these calls are for the
trainer and never for the model: `rlvr serve --no-rows` leaves them out.
"""

import asyncio
import json
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, model_validator

from rlvr_envs.core import registry
from rlvr_envs.core.errors import RegistrationError
from rlvr_envs.core.seeding import SEED_LIMIT
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.serving.metrics import Metrics
from rlvr_envs.serving.routes import Failure, Json
from rlvr_envs.serving.sessions import Sessions, WireError

MAX_ITEMS = 1000
# Items of one request that are judged at once; the rest of the queue is for others.
_AT_ONCE = 64

Response = str | list[str]


class ProblemsBody(BaseModel):
    """Which problems to make: those of ``seed``, ``seed + 1``, ... up to ``count``."""

    model_config = ConfigDict(extra="forbid")
    id: str
    seed: int = Field(default=0, ge=0, lt=SEED_LIMIT - MAX_ITEMS)
    count: int = Field(default=1, ge=1, le=MAX_ITEMS)
    difficulty: int | tuple[int, int] | None = None
    answer_format: str | None = None
    knobs: dict[str, Any] = Field(default_factory=dict)


class Rows(BaseModel):
    """Rows of problems, with their hidden data and reference answers."""

    rows: list[dict[str, Any]]


class Item(BaseModel):
    """A response to a row: the full text, or the actions of an interactive episode."""

    row: dict[str, Any]
    response: Response


class VerifyBody(BaseModel):
    """One ``row`` and ``response``, or up to 1,000 of them as ``items``."""

    model_config = ConfigDict(extra="forbid")
    row: dict[str, Any] | None = None
    response: Response | None = None
    items: Annotated[list[Item], Field(max_length=MAX_ITEMS)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _either(cls, data: Any) -> Any:
        if isinstance(data, Mapping):
            one = {"row", "response"} & set(data)
            if ("items" in data) == bool(one) or len(one) == 1:
                raise ValueError("send 'row' and 'response', or 'items', a list of such pairs")
        return data


class Judged(BaseModel):
    """A verdict; where it is not ``scored``, the fault is ours and the score is null."""

    score: float | None
    status: str
    scored: bool
    detail: str
    parts: dict[str, float]


class Verdicts(BaseModel):
    """A verdict for each item, in order."""

    verdicts: list[Judged]


class OpenRlhfBody(BaseModel):
    """What OpenRLHF posts to a remote reward model; a label is a row as JSON text."""

    query: list[str] = Field(max_length=MAX_ITEMS)
    prompts: list[str] = Field(max_length=MAX_ITEMS)
    labels: list[str] = Field(max_length=MAX_ITEMS)


class OpenRlhfRewards(BaseModel):
    """What OpenRLHF reads."""

    rewards: list[float]
    scores: list[float]
    extra_logs: dict[str, list[float]]


class SlimeBody(BaseModel):
    """What slime posts to a remote reward model; the label is a row, or its JSON text."""

    prompt: Any = None
    response: str
    label: dict[str, Any] | str


class Judge:
    """Judges responses to rows."""

    def __init__(self, sessions: Sessions, metrics: Metrics) -> None:
        self._sessions = sessions
        self._metrics = metrics

    async def one(self, row: dict[str, Any], response: Response) -> Verdict:
        """Return a verdict."""
        found = await self._sessions.ask("judge", row, response, in_sandbox=_in_sandbox(row))
        verdict = found if isinstance(found, Verdict) else Verdict.verifier_error(f"{found!r:.80}")
        self._metrics.verdicts.labels(verdict.status).inc()
        return verdict

    async def all(self, items: list[tuple[dict[str, Any], Response]]) -> list[Verdict]:
        """Return the verdicts in order; an item that is refused refuses all, with its number."""
        turns = asyncio.Semaphore(_AT_ONCE)

        async def in_turn(row: dict[str, Any], response: Response) -> Verdict:
            async with turns:
                return await self.one(row, response)

        tasks = [asyncio.create_task(in_turn(row, response)) for row, response in items]
        await asyncio.gather(*tasks, return_exceptions=True)
        for number, task in enumerate(tasks):
            error = task.exception()
            if isinstance(error, WireError):
                raise WireError(error.code, error.status, f"item {number}: {error}")
        return [task.result() for task in tasks]


def rows_router(sessions: Sessions, metrics: Metrics) -> APIRouter:
    """Return the routes."""
    router = APIRouter(
        tags=["rows"],
        responses={code: {"model": Failure} for code in (400, 401, 413, 422, 500, 503)},
    )
    judge = Judge(sessions, metrics)

    @router.post("/problems", response_model=Rows)
    async def problems(body: ProblemsBody) -> Any:
        """Make rows, each enough to judge a response to it."""
        return Json({"rows": await sessions.ask("make_rows", body.model_dump())})

    @router.post("/verify", response_model=Judged | Verdicts)
    async def verify(body: VerifyBody) -> Any:
        """Judge one response, or many."""
        if body.items is not None:
            verdicts = await judge.all([(item.row, item.response) for item in body.items])
            return Json({"verdicts": [_judged(verdict) for verdict in verdicts]})
        return Json(_judged(await judge.one(body.row or {}, body.response or "")))

    @router.post("/verify/openrlhf", response_model=OpenRlhfRewards)
    async def verify_openrlhf(body: OpenRlhfBody) -> Any:
        """Judge as OpenRLHF's remote reward model: the response is the query after its prompt."""
        if not len(body.query) == len(body.prompts) == len(body.labels):
            raise WireError("VALIDATION_ERROR", 422, "query, prompts and labels differ in length")
        items: list[tuple[dict[str, Any], Response]] = [
            (_row(label), query.removeprefix(prompt))
            for query, prompt, label in zip(body.query, body.prompts, body.labels, strict=True)
        ]
        scores = [_score(verdict) for verdict in await judge.all(items)]
        return {"rewards": scores, "scores": scores, "extra_logs": {}}

    @router.post("/verify/slime")
    async def verify_slime(body: SlimeBody) -> float:
        """Judge as slime's remote reward model: the reply is a number."""
        row = body.label if isinstance(body.label, dict) else _row(body.label)
        return _score(await judge.one(row, body.response))

    return router


def _in_sandbox(row: Mapping[str, Any]) -> bool:
    try:
        return bool(registry.find(str(row.get("id"))).task_type.judged_in_sandbox)
    except RegistrationError:
        return False  # which a worker finds too, and says so


def _judged(verdict: Verdict) -> dict[str, Any]:
    told = verdict.to_json() | {"scored": verdict.scored}
    return told if verdict.scored else told | {"score": None}


def _score(verdict: Verdict) -> float:
    """Return a score for a trainer that takes numbers only, and that asks again after a 503."""
    if not verdict.scored:
        raise WireError("EXECUTION_ERROR", 503, f"not scored, the fault is ours: {verdict.detail}")
    return verdict.score


def _row(label: str) -> dict[str, Any]:
    try:
        row = json.loads(label)
    except (ValueError, RecursionError) as error:
        raise WireError(
            "VALIDATION_ERROR", 422, f"a label is a row as JSON text: {error}: {label!r:.80}"
        ) from None
    if not isinstance(row, dict):
        raise WireError("VALIDATION_ERROR", 422, f"a label is a row as JSON text, got {row!r:.80}")
    return row
