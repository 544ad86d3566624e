"""The application: what `rlvr serve` runs, or what you mount in an ASGI server of your own."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from rlvr_envs.core import registry
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.source import open_source
from rlvr_envs.core.version import __version__
from rlvr_envs.serving.guard import Guard, Receive, Scope, Send, Tokens, UnderWay
from rlvr_envs.serving.metrics import Metrics, note
from rlvr_envs.serving.openenv import Sockets
from rlvr_envs.serving.quota import Quota
from rlvr_envs.serving.routes import Json, openenv_router
from rlvr_envs.serving.rows import rows_router
from rlvr_envs.serving.sessions import Sessions, WireError
from rlvr_envs.serving.work import Work


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a server offers, and its limits.

    Attributes:
        ids: the environments, the first one at the root; all of them by default.
        tokens: who may come in; everybody by default.
        rows: whether ``/problems`` and ``/verify`` are served.
        routers: make the routes of other wires, which take precedence over OpenEnv's.
        quota: a limit of what is posed; with it neither ``rows`` nor ``routers`` are served, which
            know no limit.
        workers: processes that pose and judge; as many as this process may use cores by default.
        sessions: sessions at once.
        queue: requests that may wait or run at once.
        max_bytes: of a request's body.
        idle_s: a session that nobody uses for so many seconds ends.
        life_s: a session ends after so many seconds in any case.
    """

    ids: Sequence[str] = ()
    tokens: Tokens = field(default_factory=lambda: Tokens([]))
    rows: bool = True
    routers: Sequence[Callable[[Sessions, Metrics], APIRouter]] = ()
    quota: Quota | None = None
    workers: int | None = None
    sessions: int = 512
    queue: int = 4096
    max_bytes: int = 8 << 20
    idle_s: float = 900.0
    life_s: float = 3600.0

    def __post_init__(self) -> None:
        if self.quota is not None and (self.rows or self.routers):
            raise ConfigError(
                "a server with a quota has no /problems, no /verify and no other wire, which would "
                "give out problems and verdicts that it does not count: leave them out"
            )
        for name in ("workers", "sessions", "queue", "max_bytes"):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < 1):
                raise ConfigError(f"{name} is an integer from 1, got {value!r}")
        for name in ("idle_s", "life_s"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} is a number above 0, got {getattr(self, name)!r}")

    def names(self) -> dict[str, str]:
        """Return short name → id of the environments.

        Raises:
            RegistrationError: there is no such id.
        """
        given = self.ids if self.quota is None else self.quota.ids
        ids = [open_source(each).id for each in given]
        if not ids:
            ids = sorted(registry.all_ids(), key=lambda each: each != "rlvr/All-v0")
        return {each.partition("/")[2]: each for each in ids}


class Server:
    """An ASGI application: `rlvr serve` runs it, or any other ASGI server.

    Raises:
        RegistrationError: there is no such id.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.under_way = UnderWay()
        names = settings.names()
        self._work = Work(settings.workers or _cores(), settings.queue, _modules(names))
        self.metrics.queue.set_function(lambda: self._work.pending)
        self.sessions = Sessions(
            self._work,
            self.metrics,
            limit=settings.sessions,
            idle_s=settings.idle_s,
            life_s=settings.life_s,
        )
        self.sessions.quota = settings.quota
        if settings.quota is not None:
            settings.quota.show(self.metrics)
        sockets = Sockets(self.sessions, self.metrics, self.under_way)
        app = FastAPI(
            title="rlvr_envs", version=__version__, lifespan=self._lifespan, description=_ABOUT
        )
        app.state.names = names
        for router in settings.routers:
            app.include_router(router(self.sessions, self.metrics))
        app.include_router(openenv_router(self.sessions, sockets))
        if settings.rows:
            app.include_router(rows_router(self.sessions, self.metrics))
        app.add_exception_handler(WireError, self._refused)
        app.add_exception_handler(RequestValidationError, self._misfit)
        app.add_exception_handler(Exception, self._broken)
        app.add_api_route("/metrics", self._metrics_page, include_in_schema=False)
        self.app = app
        self._guard = Guard(
            app,
            tokens=settings.tokens,
            metrics=self.metrics,
            under_way=self.under_way,
            max_bytes=settings.max_bytes,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a connection."""
        await self._guard(scope, receive, send)

    @asynccontextmanager
    async def _lifespan(self, _: FastAPI) -> AsyncIterator[None]:
        self._work.start()
        reaper = asyncio.create_task(self.sessions.reap())
        note("started", sessions=self.settings.sessions)
        try:
            yield
        finally:
            reaper.cancel()
            with suppress(asyncio.CancelledError):
                await reaper
            self._work.close()
            note("stopped")

    async def drain(self) -> None:
        """Refuse what comes from now on, and wait until all that was accepted is answered."""
        self.sessions.closing = True
        await self.under_way.none()

    async def _refused(self, _: Request, error: Exception) -> Response:
        status = error.status if isinstance(error, WireError) else 500
        code = error.code if isinstance(error, WireError) else None
        self.metrics.errors.labels(code).inc()
        headers = {"Retry-After": "1"} if status == 503 else None
        return Json({"detail": str(error), "code": code}, status, headers)

    async def _misfit(self, _: Request, error: Exception) -> Response:
        """Say where a request does not fit, without repeating what it held."""
        found = error.errors() if isinstance(error, RequestValidationError) else []
        told = [f"{'.'.join(map(str, each['loc'])) or 'body'}: {each['msg']}" for each in found[:5]]
        self.metrics.errors.labels("VALIDATION_ERROR").inc()
        return Json({"detail": "; ".join(told), "code": "VALIDATION_ERROR"}, 422)

    async def _broken(self, _: Request, error: Exception) -> Response:
        note("fault", logging.ERROR, error=f"{type(error).__name__}: {error}")
        return Json({"detail": "the server failed; its log says how", "code": None}, 500)

    async def _metrics_page(self) -> Response:
        return Response(generate_latest(self.metrics.registry), media_type=CONTENT_TYPE_LATEST)


_ABOUT = """\
Environments for reinforcement learning with verifiable rewards, over the wire of OpenEnv 0.10.
An environment is served at `/e/NAME/...`, and the first one at the root too.
"""


def _modules(names: dict[str, str]) -> tuple[str, ...]:
    """Return the modules of the tasks that are served, which workers import once."""
    specs = {spec.id: spec for each in names.values() for spec in open_source(each).specs}
    return tuple(sorted({spec.task_type.__module__ for spec in specs.values()}))


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
