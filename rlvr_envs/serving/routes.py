"""The routes of OpenEnv 0.10 over HTTP, and its WebSockets.

OpenEnv's own server makes a new environment for each HTTP request, so its ``/step`` cannot go on
with the episode of ``/reset``. Here ``/reset`` names the session in its metadata, and ``/step``,
``/state`` and ``/close`` take it as ``session_id``.
"""

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request, WebSocket
from fastapi.requests import HTTPConnection
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from rlvr_envs.core import registry
from rlvr_envs.core.seeding import SEED_LIMIT
from rlvr_envs.core.version import __version__
from rlvr_envs.serving.mcp import answer_rpc, parse_failure
from rlvr_envs.serving.openenv import Sockets, payload, text_of
from rlvr_envs.serving.sessions import (
    SPLIT_NAMES,
    TASKS_PER_SPLIT,
    Sessions,
    WireError,
)

# Its title is not "Action": some clients take that name for OpenEnv's empty base class.
ACTION_SCHEMA = {
    "title": "RlvrAction",
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "The agent's whole message."},
        "metadata": {"type": "object"},
    },
    "required": ["text"],
}
OBSERVATION_SCHEMA = {
    "title": "RlvrObservation",
    "type": "object",
    "properties": {"text": {"type": "string"}, "metadata": {"type": "object"}},
    "required": ["text"],
}
STATE_SCHEMA = {
    "title": "RlvrState",
    "type": "object",
    "properties": {
        "episode_id": {"type": ["string", "null"]},
        "step_count": {"type": "integer", "minimum": 0},
        "env_id": {"type": "string"},
        "done": {"type": "boolean"},
    },
    "required": ["episode_id", "step_count"],
}


Split = Literal["train", "validation", "test"]


class Json(JSONResponse):
    """JSON in ASCII: a model's text may hold half of a surrogate pair, which is no UTF-8."""

    def render(self, content: Any) -> bytes:
        """Return the bytes of a reply."""
        return json.dumps(content, separators=(",", ":")).encode()


class Failure(BaseModel):
    """What is wrong with a request, and what to do."""

    detail: str
    code: str | None = None


class Observation(BaseModel):
    """What an environment answers; the reward of an answer that was not scored is null."""

    observation: dict[str, Any]
    reward: float | None = None
    done: bool = False
    metadata: dict[str, Any] | None = None


class ResetBody(BaseModel):
    """The problem to pose, and the session to go on with, if there is one.

    At most one of ``seed``, ``problem_seed``, ``problem`` (a row), ``index`` (of a dataset
    environment), and ``split`` with ``index`` names the problem.
    """

    model_config = ConfigDict(extra="forbid")
    session_id: str | None = None
    episode_id: str | None = Field(default=None, max_length=255)
    seed: int | None = Field(default=None, ge=0)
    problem_seed: int | None = Field(default=None, ge=0, lt=SEED_LIMIT)
    problem: dict[str, Any] | None = None
    split: Split | None = None
    index: int | None = Field(default=None, ge=0)
    difficulty: int | tuple[int, int] | None = None
    answer_format: str | None = None
    max_turns: int | None = Field(default=None, ge=1)
    tasks: list[str] | None = None
    weights: dict[str, float] | None = None
    knobs: dict[str, Any] | None = None


class StepBody(BaseModel):
    """An action of a session; ``timeout_s`` and ``request_id`` are taken and not used."""

    session_id: str
    action: dict[str, Any]
    timeout_s: float | None = Field(default=None, gt=0)
    request_id: str | None = Field(default=None, max_length=255)


class SessionBody(BaseModel):
    """A session."""

    session_id: str


class SplitBody(BaseModel):
    """A split."""

    split: Split


class TaskBody(SplitBody):
    """A task of a split."""

    index: int = Field(ge=0, lt=TASKS_PER_SPLIT)


class RangeBody(SplitBody):
    """Tasks of a split, from ``start`` up to and without ``stop``."""

    start: int | None = Field(default=None, ge=0)
    stop: int | None = Field(default=None, ge=0)


def _named(env: str) -> None:
    """Declare the name of the environment in a path; `_env_of` reads it."""


def _env_of(request: HTTPConnection) -> str:
    return _env_id(request.app.state.names, request.path_params.get("env"))


# The id of the environment that a path names.
Env = Annotated[str, Depends(_env_of)]


def openenv_router(sessions: Sessions, sockets: Sockets) -> APIRouter:
    """Return the routes, for an application whose ``state.names`` maps short names to ids."""
    router = APIRouter(
        responses={code: {"model": Failure} for code in (400, 401, 404, 409, 413, 422, 500, 503)}
    )
    root = APIRouter(tags=["the first environment"])
    named = APIRouter(
        prefix="/e/{env}", tags=["an environment by name"], dependencies=[Depends(_named)]
    )
    for each in (root, named):
        _add_sessions(each, sessions)
        _add_facts(each)
        _add_rpc(each, sessions)
        _add_sockets(each, sockets)
        router.include_router(each)
    _add_tasks(router)
    return router


def _env_id(names: dict[str, str], name: str | None) -> str:
    if name is None:
        return next(iter(names.values()))
    known = {short.lower(): env_id for short, env_id in names.items()}
    if name.lower() not in known:
        raise WireError(
            "FACTORY_ERROR",
            404,
            f"this server has no environment {name!r:.80}; GET "
            "/list_environments names those that it has",
        )
    return known[name.lower()]


def _add_sessions(router: APIRouter, sessions: Sessions) -> None:
    @router.post("/reset", response_model=Observation)
    async def reset(env_id: Env, request: Request, body: ResetBody | None = None) -> Any:
        """Begin an episode, in a new session or in that of ``session_id``."""
        data = {} if body is None else body.model_dump(exclude_unset=True)
        key, client = data.pop("session_id", None), request.state.client
        if key is not None:
            session = sessions.find(key, client, env_id)
            return Json(payload(await sessions.reset(session, data), session_id=session.key))
        session = sessions.open(env_id, client)
        try:
            turn = await sessions.reset(session, data)
        except BaseException:
            sessions.end(session)
            raise
        return Json(payload(turn, session_id=session.key))

    @router.post("/step", response_model=Observation)
    async def step(env_id: Env, request: Request, body: StepBody) -> Any:
        """Take an action; the session stays open for another reset."""
        session = sessions.find(body.session_id, request.state.client, env_id)
        turn = await sessions.step(session, text_of(body.action))
        return Json(payload(turn, session_id=session.key))

    @router.get("/state")
    async def state(env_id: Env, request: Request, session_id: str | None = None) -> dict[str, Any]:
        """Return how far a session has come; without one, the state of a new session."""
        if session_id is None:
            return {"episode_id": None, "step_count": 0, "env_id": env_id, "done": False}
        return sessions.find(session_id, request.state.client, env_id).state()

    @router.post("/close")
    async def close(env_id: Env, request: Request, body: SessionBody) -> dict[str, bool]:
        """End a session."""
        sessions.end(sessions.find(body.session_id, request.state.client, env_id))
        return {"closed": True}


def _add_facts(router: APIRouter) -> None:
    @router.get("/metadata")
    async def metadata(env_id: Env) -> dict[str, str | None]:
        """Say what the environment is."""
        return {
            "name": env_id.partition("/")[2],
            "description": _description(env_id),
            "readme_content": None,
            "version": __version__,
            "author": "The rlvr_envs developers",
            "documentation_url": None,
        }

    @router.get("/schema")
    async def schema() -> dict[str, Any]:
        """Return the JSON schemas of actions, observations and states."""
        return {
            "action": ACTION_SCHEMA,
            "observation": OBSERVATION_SCHEMA,
            "reset_observation": OBSERVATION_SCHEMA,
            "state": STATE_SCHEMA,
        }


def _description(env_id: str) -> str:
    if env_id not in registry.task_ids():
        return f"Problems of several tasks: {env_id}"
    doc = registry.find(env_id).task_type.__doc__ or env_id
    return doc.strip().partition("\n")[0]


def _add_rpc(router: APIRouter, sessions: Sessions) -> None:
    @router.post("/mcp")
    async def mcp(env_id: Env, request: Request) -> Response:
        """Take a JSON-RPC request: list or call the tool, open or close a session."""
        try:
            asked = json.loads(await request.body())
        except (ValueError, RecursionError) as error:
            return Json(parse_failure(str(error)))
        client = request.state.client
        return Json(await answer_rpc(asked, sessions, client=client, env_id=env_id))


def _add_sockets(router: APIRouter, sockets: Sockets) -> None:
    @router.websocket("/ws")
    async def socket(websocket: WebSocket) -> None:
        try:
            env_id = _env_of(websocket)
        except WireError as error:
            await websocket.accept()
            await sockets.refuse(websocket, error)
            return
        await sockets.serve(websocket, env_id)


def _add_tasks(router: APIRouter) -> None:
    """Add OpenEnv's task API: splits of numbered problems, which share no problem."""

    @router.get("/health", tags=["server"])
    async def health() -> dict[str, str]:
        """Say that the server runs; needs no token."""
        return {"status": "healthy"}

    @router.get("/list_environments", tags=["tasks"])
    async def list_environments(request: Request) -> list[str]:
        """Return the names of the environments that this server has."""
        return list(request.app.state.names)

    @router.get("/{env}/splits", tags=["tasks"])
    async def splits(env: str, env_id: Env) -> list[dict[str, str]]:
        """Return the splits of an environment."""
        return [{"name": name, "type": name} for name in SPLIT_NAMES]

    @router.post("/{env}/tasks", tags=["tasks"])
    async def tasks(env: str, env_id: Env, body: SplitBody) -> dict[str, Any]:
        """Return all tasks of a split: each is what a reset takes."""
        found = [_task(body.split, index) for index in range(TASKS_PER_SPLIT)]
        return {"tasks": found, "env_name": env_id.partition("/")[2]}

    @router.post("/{env}/num_tasks", tags=["tasks"])
    async def num_tasks(env: str, env_id: Env, body: SplitBody) -> dict[str, int]:
        """Return how many tasks a split has."""
        return {"num_tasks": TASKS_PER_SPLIT}

    @router.post("/{env}/task", tags=["tasks"])
    async def task(env: str, env_id: Env, body: TaskBody) -> dict[str, Any]:
        """Return a task of a split."""
        return {"task": _task(body.split, body.index)}

    @router.post("/{env}/task_range", tags=["tasks"])
    async def task_range(env: str, env_id: Env, body: RangeBody) -> dict[str, Any]:
        """Return the tasks from ``start`` up to and without ``stop``."""
        chosen = range(TASKS_PER_SPLIT)[body.start : body.stop]
        return {"tasks": [_task(body.split, index) for index in chosen]}


def _task(split: str, index: int) -> dict[str, Any]:
    return {"split": split, "index": index}
