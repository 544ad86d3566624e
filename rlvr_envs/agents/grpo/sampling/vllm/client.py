"""Speaking with a vLLM server: its routes, and failures that pass.

Only what may be done twice is tried again.
"""

import time
from collections.abc import Mapping
from typing import Any

from rlvr_envs.core.bounded_http import (
    BoundedClient,
    NoReply,
    Reply,
    checked_url,
    key_in,
    retry_after,
)
from rlvr_envs.core.errors import ConfigError, RlvrEnvsError

# What may pass: too early, too many, and faults of the server.
_PASSING = frozenset({408, 409, 425, 429})
_LONGEST_WAIT_S = 30.0
# Log-probabilities of many long samples take some ten MiB.
_MOST_BYTES = 1 << 28

START = (
    "VLLM_SERVER_DEV_MODE=1 vllm serve MODEL --enable-scale-out --logprobs-mode processed_logprobs"
)


class ServerError(RlvrEnvsError):
    """The server gave no answer, or one that shows that it is not in the state it should be in."""


class VllmClient:
    """The HTTP side of a vLLM server; threads may share it.

    Args:
        url: the server's address, such as ``http://localhost:8000``.
        api_key_env: the environment variable with the key, if the server wants one.
        timeout_s: how long to wait for a whole answer.
        attempts: how often what may be done twice is tried.
        first_wait_s: how long to wait before the second attempt; it doubles each time.
        connections: requests under way at a time.

    Raises:
        ConfigError: the address is malformed or holds a password, or a number is out of range.
        DependencyError: httpx is missing.
    """

    def __init__(
        self,
        url: str,
        *,
        api_key_env: str = "RLVR_SERVER_KEY",
        timeout_s: float = 600.0,
        attempts: int = 5,
        first_wait_s: float = 0.5,
        connections: int = 64,
    ) -> None:
        place = f"put the key into the environment variable {api_key_env}"
        checked_url(url, "a server's URL", "http://localhost:8000", place)
        if min(attempts, connections) < 1:
            raise ConfigError(
                f"attempts and connections are at least 1, got {attempts} and {connections}"
            )
        self.url = url.rstrip("/").removesuffix("/v1")
        self.connections = connections
        self._attempts, self._first_wait_s = attempts, first_wait_s
        self._client = BoundedClient(
            "sampling from a server",
            timeout_s=timeout_s,
            most_bytes=_MOST_BYTES,
            key=key_in(api_key_env),
            connections=connections,
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close_now()

    def get(self, path: str) -> Any:
        """Return what the server answers, as JSON.

        Raises:
            ConfigError: it refuses.
            ServerError: it gives no answer.
        """
        return self._json(path, self._ask("GET", path, None, self._attempts))

    def post(self, path: str, body: Mapping[str, Any] | None = None, *, again: bool = False) -> Any:
        """Return what the server answers to a body, as JSON; None for an empty answer.

        Args:
            path: the route, with its query.
            body: what is sent.
            again: whether it may be done twice, so that it is tried again after what may pass.

        Raises:
            ConfigError: the server refuses.
            ServerError: it gives no answer.
        """
        attempts = self._attempts if again else 1
        return self._json(path, self._ask("POST", path, body or {}, attempts))

    def probe(self, method: str, path: str) -> int:
        """Return the status with which the server answers an empty request.

        Raises:
            ServerError: it cannot be reached.
        """
        try:
            body: dict[str, Any] | None = {} if method == "POST" else None
            return self._client.ask_now(method, self.url + path, body).status
        except NoReply as error:
            raise ServerError(
                f"no server answers at {self.url} ({error}): start it with {START}"
            ) from error

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None, attempts: int) -> Reply:
        problem = ""
        for attempt in range(attempts):
            asked = 0.0
            try:
                reply = self._client.ask_now(method, self.url + path, body)
            except NoReply as error:
                problem = str(error)
            else:
                if 200 <= reply.status < 300:
                    return reply
                problem = f"HTTP {reply.status}: {self._client.quoted(reply.text, 500)}"
                if reply.status not in _PASSING and reply.status < 500:
                    raise ConfigError(f"the server refuses {self.url}{path}: {problem}")
                asked = retry_after(reply.retry_after, time.time())
            if attempt + 1 < attempts:
                wait = max(asked, self._first_wait_s * 2**attempt)
                time.sleep(min(wait, _LONGEST_WAIT_S))
        times = "1 attempt" if attempts == 1 else f"{attempts} attempts"
        raise ServerError(f"the server failed at {self.url}{path} ({times}): {problem}")

    def _json(self, path: str, reply: Reply) -> Any:
        if not reply.body:
            return None
        try:
            return reply.json()
        except ValueError as error:
            told = self._client.quoted(reply.text, 200)
            raise ServerError(f"the answer of {self.url}{path} is no JSON: {told!r}") from error
