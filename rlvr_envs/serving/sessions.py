"""Sessions: who plays what, how far each episode has come, and when a session ends."""

import asyncio
import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Protocol

from rlvr_envs.core.errors import RlvrEnvsError, WorkerTimeout, did_you_mean
from rlvr_envs.core.instance import Row
from rlvr_envs.core.parallel import verdict_of
from rlvr_envs.core.seeding import Rng, draw_seed, stream
from rlvr_envs.serving import episodes
from rlvr_envs.serving.episodes import SPLITS, Episode, Refusal, Turn
from rlvr_envs.serving.metrics import Metrics
from rlvr_envs.serving.work import Busy, Work

# Tasks that each split lists; an episode may name any of them by its number.
TASKS_PER_SPLIT = 10_000
SPLIT_NAMES = tuple(name for name, _ in SPLITS)

_ARGUMENTS = ("difficulty", "answer_format", "max_turns", "tasks", "weights")
_PROBLEM = ("seed", "problem_seed", "problem", "index", "split")
RESET_FIELDS = (*_PROBLEM, *_ARGUMENTS, "knobs", "episode_id")


class WireError(RlvrEnvsError):
    """A request that is refused: an error code of OpenEnv, a status of HTTP and a sentence."""

    def __init__(self, code: str, status: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.status = status


def invalid(message: str) -> WireError:
    """Return the error for a message whose content does not fit."""
    return WireError("VALIDATION_ERROR", 422, message)


class Quota(Protocol):
    """A limit of what is posed, see `rlvr_envs.serving.quota`."""

    def choose(self, env_id: str, data: Mapping[str, Any], seeds: Rng) -> Row:
        """Return the problem of a reset."""

    def one(self) -> AbstractContextManager[None]:
        """Count an episode that begins."""


@dataclass(slots=True, eq=False)
class Session:
    """One client's environment.

    Attributes:
        key: the secret name of the session.
        env_id: what it plays.
        client: the name of the client's token.
        close: closes the WebSocket that is attached, if there is one.
        attached: whether a WebSocket is attached.
        ends_with_socket: whether the session ends when the WebSocket does.
        busy: whether a request of this session is under way.
        worker: the process that has the environment cached, if one has.
        seeds: what the problem seeds of the next episodes are drawn from.
    """

    key: str
    env_id: str
    client: str
    created: float
    used: float
    close: Callable[[str], object] | None = None
    attached: bool = False
    ends_with_socket: bool = False
    busy: bool = False
    episode: Episode | None = None
    episode_id: str | None = None
    actions: list[str] = field(default_factory=list)
    over: bool = True
    in_sandbox: bool = False
    worker: int | None = None
    seeds: Rng | None = None
    resets: int = 0

    def state(self) -> dict[str, Any]:
        """Return what OpenEnv calls the state: nothing that helps to find the answer."""
        return {
            "episode_id": self.episode_id,
            "step_count": len(self.actions),
            "env_id": self.env_id,
            "done": self.over and self.episode is not None,
        }


class Sessions:
    """All sessions of a server.

    ``quota`` limits what they play, where there is one.

    Args:
        work: what runs the episodes.
        metrics: what counts them.
        limit: sessions at once.
        idle_s: a session that nobody used for so many seconds ends.
        life_s: a session ends after so many seconds in any case.
    """

    def __init__(
        self, work: Work, metrics: Metrics, *, limit: int, idle_s: float, life_s: float
    ) -> None:
        self._work = work
        self._metrics = metrics
        self.limit = limit
        self.idle_s = idle_s
        self.life_s = life_s
        self.closing = False
        self.quota: Quota | None = None
        self._found: dict[str, Session] = {}
        metrics.sessions.set_function(lambda: len(self._found))

    def __len__(self) -> int:
        return len(self._found)

    def open(self, env_id: str, client: str) -> Session:
        """Return a new session.

        Raises:
            WireError: there are too many, or the server is going down.
        """
        self._require_running()
        if len(self._found) >= self.limit:
            raise WireError(
                "CAPACITY_REACHED",
                503,
                f"{len(self._found)} sessions are open, the most this server holds: close one or "
                "try again later",
            )
        now = time.monotonic()
        session = Session(secrets.token_urlsafe(16), env_id, client, now, now)
        self._found[session.key] = session
        return session

    def find(self, key: object, client: str, env_id: str) -> Session:
        """Return a session of this client and environment.

        Raises:
            WireError: there is none of that name.
        """
        session = self._found.get(key) if isinstance(key, str) else None
        if session is None or session.client != client or session.env_id != env_id:
            raise WireError(
                "SESSION_ERROR",
                404,
                "no such session: it may have ended for lack of use; begin a new one with reset",
            )
        return session

    def free(self, key: object, client: str, env_id: str) -> Session:
        """Return a session that no WebSocket is attached to.

        Raises:
            WireError: there is no such session, or it is in use.
        """
        session = self.find(key, client, env_id)
        if session.attached:
            raise WireError("SESSION_ERROR", 409, "another WebSocket is attached to this session")
        return session

    def end(self, session: Session) -> None:
        """End a session; it may have ended before."""
        self._found.pop(session.key, None)

    async def reset(self, session: Session, data: Mapping[str, Any]) -> Turn:
        """Begin an episode.

        Raises:
            WireError: the data name no problem, or the session is busy.
        """
        arguments, options, episode_id = self._read_reset(session.env_id, data)
        with self._using(session):
            seed = data.get("seed")
            if session.seeds is None or seed is not None:
                seed = secrets.randbits(63) if seed is None else seed
                session.seeds = stream("episodes", session.env_id, seed)
            if self.quota is not None:
                row = self.quota.choose(session.env_id, data, session.seeds)
                arguments, options = json.dumps({"env_id": session.env_id}), {"problem": row}
            elif data.get("split") is not None:
                options = await self._task_options(arguments, data)
            elif not options:
                options = {"problem_seed": draw_seed(session.seeds)}
            session.resets += 1
            episode = Episode(f"{session.key}/{session.resets}", arguments, options)
            with self.quota.one() if self.quota is not None else nullcontext():
                turn = _turn(await self.ask("begin", episode, session=session))
            session.episode, session.episode_id = episode, episode_id or episode.key[-12:]
            session.actions, session.over = [], False
            session.in_sandbox = turn.in_sandbox
        self._metrics.resets.inc()
        return turn

    async def step(self, session: Session, action: str) -> Turn:
        """Take an action.

        Raises:
            WireError: no episode is under way, or the session is busy.
        """
        if session.episode is None:
            raise WireError("EXECUTION_ERROR", 409, "no episode has begun: send reset first")
        if session.over:
            raise WireError("EXECUTION_ERROR", 409, "the episode is over: send reset first")
        with self._using(session):
            actions = (*session.actions, action)
            found = await self.ask(
                "act", session.episode, actions, session=session, in_sandbox=session.in_sandbox
            )
            turn = _turn(found)
            session.actions.append(action)
            session.over = turn.done
        self._metrics.step(turn)
        return turn

    async def ask(
        self, name: str, *arguments: Any, session: Session | None = None, in_sandbox: bool = False
    ) -> object:
        """Return what a function of `episodes` returns.

        Args:
            name: of the function.
            arguments: its own.
            session: whose turn it is, if it is one's.
            in_sandbox: whether a sandbox judges.

        Raises:
            WireError: the request is at fault, the queue is full, or the work failed.
        """
        near = None if session is None else session.worker
        try:
            outcome, worker = await self._work.run(
                name, *arguments, near=near, in_sandbox=in_sandbox
            )
        except Busy as busy:
            raise WireError("CAPACITY_REACHED", 503, str(busy)) from busy
        except RecursionError:
            raise invalid("the request is nested too deeply") from None
        if session is not None:
            session.worker = worker
        if outcome.error is not None:
            if name == "judge":
                return verdict_of(outcome)
            if name == "act":
                timeout = isinstance(outcome.error, WorkerTimeout)
                return episodes.unjudged(f"{outcome.error}", timeout=timeout)
            raise WireError("EXECUTION_ERROR", 500, f"the request failed here: {outcome.error}")
        if isinstance(outcome.value, Refusal):
            raise WireError("EXECUTION_ERROR", 422, outcome.value.reason)
        return outcome.value

    async def _task_options(self, arguments: str, data: Mapping[str, Any]) -> dict[str, Any]:
        split, index = data["split"], data.get("index")
        check_task(split, index)
        return {"problem_seed": await self.ask("problem_of_split", arguments, split, index)}

    def _read_reset(
        self, env_id: str, data: Mapping[str, Any]
    ) -> tuple[str, dict[str, Any], str | None]:
        """Return the arguments of an environment, the options of its reset and the episode's id."""
        given = {name: value for name, value in data.items() if value is not None}
        for name in given:
            if name not in RESET_FIELDS:
                raise invalid(
                    f"reset has no field {name!r}{did_you_mean(name, RESET_FIELDS)} (fields: "
                    f"{', '.join(RESET_FIELDS)}; knobs of a task go into 'knobs')"
                )
        seed, episode_id = given.get("seed"), given.get("episode_id")
        if seed is not None and (type(seed) is not int or seed < 0):
            raise invalid(f"seed is an integer from 0, got {seed!r:.80}")
        if episode_id is not None and (not isinstance(episode_id, str) or len(episode_id) > 255):
            raise invalid(f"episode_id is a text of at most 255 characters, got {episode_id!r:.80}")
        named = [name for name in ("problem_seed", "problem", "index") if name in given]
        if len(named) > 1 or (named and seed is not None):
            raise invalid(
                f"{', '.join([*named, *(['seed'] if seed is not None else [])])} "
                "exclude each other: send one of them"
            )
        knobs = given.get("knobs", {})
        if not isinstance(knobs, dict):
            raise invalid(f"knobs is an object, got {knobs!r:.80}")
        arguments = {name: given[name] for name in _ARGUMENTS if name in given}
        taken = set(knobs) & {"env_id", "render_mode", "with_reference", *_ARGUMENTS}
        if taken:
            raise invalid(f"not a knob: {', '.join(sorted(taken))}")
        text = json.dumps({"env_id": env_id, **arguments, **knobs}, sort_keys=True)
        return text, {name: given[name] for name in named}, episode_id

    @contextmanager
    def _using(self, session: Session) -> Iterator[None]:
        self._require_running()
        if session.busy:
            raise WireError("SESSION_ERROR", 409, "this session is still busy with a request")
        session.busy = True
        try:
            yield
        finally:
            session.busy = False
            session.used = time.monotonic()

    def _require_running(self) -> None:
        if self.closing:
            raise WireError(
                "SESSION_ERROR", 503, "the server is going down and did not take this request"
            )

    async def reap(self) -> None:
        """End, for ever, the sessions that nobody uses or that are too old."""
        while True:
            await asyncio.sleep(min(self.idle_s, self.life_s, 50.0) / 10)
            now = time.monotonic()
            for session in list(self._found.values()):
                idle, age = now - session.used, now - session.created
                if session.busy or (idle < self.idle_s and age < self.life_s):
                    continue
                self.end(session)
                self._metrics.expired.inc()
                if session.close is not None:
                    session.close("the session was not used" if age < self.life_s else "too old")


def _turn(found: object) -> Turn:
    return found if isinstance(found, Turn) else episodes.unjudged(f"not a turn: {found!r:.80}")


def check_task(split: object, index: object) -> None:
    """Check that a split has a task of this number.

    Raises:
        WireError: it has not.
    """
    if split not in SPLIT_NAMES:
        raise invalid(f"a split is one of {', '.join(SPLIT_NAMES)}, got {split!r:.80}")
    if type(index) is not int or not 0 <= index < TASKS_PER_SPLIT:
        raise invalid(f"index is an integer from 0 to {TASKS_PER_SPLIT - 1}, got {index!r:.80}")
