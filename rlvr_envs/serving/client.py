"""The client of `rlvr serve`; `rlvr_envs.serving.async_client` is the one for asynchronous code.

    with Client("http://localhost:8000") as client:
        rows = client.problems("Gcd-v0", difficulty=2, count=8)
        verdicts = client.verify_all([(row, my_model(row["prompt"])) for row in rows])
        with client.session("GuessNumber-v0") as session:
            turn = session.reset(seed=7)
            while not turn.done:
                turn = session.step(my_model(turn.text))

The asynchronous client does the work, in an event loop in a thread.
"""

import asyncio
import os
import threading
from collections.abc import Coroutine, Iterable, Sequence
from typing import Any, Self, TypeVar

from rlvr_envs.core.instance import Row
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.serving.async_client import AsyncClient, AsyncSession, ServerError, Turn

__all__ = ["Client", "ServerError", "Session", "Turn"]

Result = TypeVar("Result")


class _Loop:
    """An event loop in a thread, in which synchronous clients let their work be done."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, name="rlvr-client", daemon=True).start()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        future = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return future.result()
        except BaseException:  # such as Ctrl-C
            future.cancel()
            raise


_loop: _Loop | None = None
_loop_lock = threading.Lock()


def _run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run to the end in this process's loop; a forked child makes its own."""
    global _loop  # noqa: PLW0603 - one for all clients of a process
    with _loop_lock:
        if _loop is None or _loop.owner != os.getpid():
            _loop = _Loop()
    return _loop.run(work)


class Session:
    r"""`AsyncSession` for synchronous code; get one from `Client.session`.

    Examples:
        >>> from rlvr_envs.serving.client import Client
        >>> with Client("http://localhost:8000") as client:  # doctest: +SKIP
        ...     with client.session("rlvr/Gcd-v0") as session:
        ...         turn = session.reset(seed=7)
        ...         turn = session.step(r"\boxed{6}")
    """

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    def reset(self, **data: Any) -> Turn:
        """Begin an episode; see `AsyncSession.reset`."""
        return _run(self._session.reset(**data))

    def step(self, action: str) -> Turn:
        """Take an action; see `AsyncSession.step`."""
        return _run(self._session.step(action))

    def state(self) -> dict[str, Any]:
        """Return how far the episode has come."""
        return _run(self._session.state())

    def close(self) -> None:
        """End the session."""
        _run(self._session.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Client:
    r"""`AsyncClient` for synchronous code; the arguments are the same.

    Examples:
        >>> from rlvr_envs.serving.client import Client
        >>> with Client("http://localhost:8000") as client:  # doctest: +SKIP
        ...     [row] = client.problems("rlvr/Gcd-v0", difficulty=2, seed=0, count=1)
        ...     client.verify(row, r"\boxed{6}").score
    """

    def __init__(self, url: str, *, token: str | None = None, retry_s: float = 60.0) -> None:
        self._client = AsyncClient(url, token=token, retry_s=retry_s)

    def session(self, env: str | None = None) -> Session:
        """Return a session of an environment, or of the server's first one; it connects later."""
        return Session(self._client.session(env))

    def problems(
        self,
        id: str,  # noqa: A002 - the word of the row's own key
        **wanted: Any,
    ) -> list[Row]:
        """Return rows; see `AsyncClient.problems`."""
        return _run(self._client.problems(id, **wanted))

    def verify(self, row: Row, response: str | Sequence[str]) -> Verdict:
        """Return the verdict on a response to a row; see `AsyncClient.verify`."""
        return _run(self._client.verify(row, response))

    def verify_all(self, pairs: Iterable[tuple[Row, str | Sequence[str]]]) -> list[Verdict]:
        """Return the verdicts on pairs of row and response; see `AsyncClient.verify_all`."""
        return _run(self._client.verify_all(pairs))

    def close(self) -> None:
        """Close the connections of this client; its sessions have their own."""
        _run(self._client.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
