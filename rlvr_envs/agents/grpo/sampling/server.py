"""A server as a sampler: `/v1/completions` as vLLM has it, with tokens in and tokens out.

The weights are the server's, so training needs a way to hand it new ones: see `ServerOptions`.
"""

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from rlvr_envs.agents.grpo.sampling.sampler import Completion, Request
from rlvr_envs.core.errors import ConfigError, DependencyError, RlvrEnvsError
from rlvr_envs.core.extras import hint
from rlvr_envs.core.seeding import draw_seed, stream
from rlvr_envs.evaluation.endpoint import retry_after

# What may pass: too early, too many, and faults of the server.
_PASSING = frozenset({408, 409, 425, 429})
_LONGEST_WAIT_S = 30.0

# Sampling from the model's distribution as it is, whatever the model's own settings say.
_NEUTRAL = {
    "n": 1,
    "top_p": 1.0,
    "top_k": 0,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}


class ServerError(RlvrEnvsError):
    """The server gave no answer, after all attempts."""


@dataclass(frozen=True, kw_only=True)
class ServerOptions:
    """How to speak with the server."""

    update: Callable[[], None] | str | None = None
    """What gives the server the trained weights and empties its caches: a function, or a URL to
    post to; None if they never change, as in an evaluation."""
    tempered: bool = False
    """Whether its log-probabilities are those at the temperature: vLLM's with
    ``--logprobs-mode processed_logprobs``. Otherwise they are taken for those of temperature 1."""
    concurrency: int = 64
    """Requests under way at a time."""
    timeout_s: float = 600.0
    """How long to wait for an answer."""
    attempts: int = 5
    """How often a request is sent before it is given up."""
    first_wait_s: float = 0.5
    """How long to wait before the second attempt; it doubles each time."""
    api_key_env: str = "RLVR_SERVER_KEY"
    """The environment variable with the key, if the server wants one."""


class ServerSampler:
    """Continues sequences on an OpenAI-compatible server that takes and returns token ids.

    Args:
        url: the server's address, with or without the ``/v1``.
        model: the name under which it serves the model.
        end_tokens: what ends a completion.
        options: see `ServerOptions`.

    Raises:
        ConfigError: the address is malformed, or a number is out of range.
        DependencyError: httpx is missing.
    """

    def __init__(
        self,
        url: str,
        model: str,
        end_tokens: Sequence[int] | frozenset[int],
        *,
        options: ServerOptions | None = None,
    ) -> None:
        self.options = options or ServerOptions()
        if not url.startswith(("http://", "https://")):
            raise ConfigError(f"a server's URL is like 'http://localhost:8000', got {url!r}")
        if min(self.options.concurrency, self.options.attempts) < 1:
            raise ConfigError("concurrency and attempts are at least 1")
        try:
            import httpx
        except ImportError as error:
            raise DependencyError(
                f"sampling from a server needs httpx: {hint('report', 'httpx')}"
            ) from error
        self._httpx: Any = httpx
        self._url = url.rstrip("/").removesuffix("/v1")
        self._model = model
        self._ends = frozenset(end_tokens)
        key = os.environ.get(self.options.api_key_env, "").strip()
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}

    def update(self) -> None:
        """Have the server take the trained weights.

        Raises:
            ConfigError: nobody said how.
        """
        how = self.options.update
        if how is None:
            raise ConfigError(
                "the weights on the server do not change by themselves, and training needs that: "
                "set ServerOptions.update to a function or a URL that hands them over, or train "
                'with engine="slots"'
            )
        if isinstance(how, str):
            with self._client() as client:
                self._post(client, how, {})
        else:
            how()

    def generate(
        self, requests: Sequence[Request], *, temperature: float = 1.0, seed: int = 0
    ) -> list[Completion]:
        """Return a completion of each request, in their order (`Sampler.generate`).

        Each request has a seed of its own. Whether the same seed gives the same tokens is the
        server's affair; batches of other sizes may round otherwise.

        Raises:
            ConfigError: the server refuses a request, or does not return what is needed.
            ServerError: it gave no answer.
        """
        if not 0 <= temperature < float("inf"):
            raise ConfigError(f"temperature is at least 0, got {temperature}")
        if temperature not in (0, 1) and not self.options.tempered:
            raise ConfigError(
                f"log-probabilities at temperature {temperature} are needed: start the server so "
                "that it returns them (vLLM: --logprobs-mode processed_logprobs) and set "
                "ServerOptions.tempered, or sample at temperature 1"
            )
        for request in requests:
            if not request.prompt or request.max_tokens < 1:
                raise ConfigError("a prompt has at least one token, and max_tokens is at least 1")

        def complete(numbered: tuple[int, Request]) -> Completion:
            number, request = numbered
            own = draw_seed(stream("server sampler", seed, number)) % 2**31
            reply = self._post(
                client,
                f"{self._url}/v1/completions",
                self._body(request) | {"temperature": temperature, "seed": own},
            )
            return self._read(reply, request)

        with self._client() as client, ThreadPoolExecutor(self.options.concurrency) as pool:
            futures = [pool.submit(complete, each) for each in enumerate(requests)]
            try:
                return [future.result() for future in futures]
            finally:
                for future in futures:  # those that have not begun, if one has failed
                    future.cancel()

    def _body(self, request: Request) -> dict[str, Any]:
        return {
            "model": self._model,
            "prompt": list(request.prompt),
            "max_tokens": request.max_tokens,
            "stop_token_ids": sorted(self._ends),
            "logprobs": 1,
            "return_token_ids": True,
            "return_tokens_as_token_ids": True,
            **_NEUTRAL,
        }

    def _client(self) -> Any:
        return self._httpx.Client(
            headers=self._headers,
            timeout=self.options.timeout_s,
            limits=self._httpx.Limits(max_connections=self.options.concurrency),
        )

    def _post(self, client: Any, url: str, body: Mapping[str, Any]) -> Any:
        """Return the reply, trying again after what may pass."""
        problem = ""
        for attempt in range(self.options.attempts):
            asked = 0.0
            try:
                reply = client.post(url, json=body)
            except self._httpx.TransportError as error:
                problem = f"{type(error).__name__}: {error}"
            else:
                if reply.is_success:
                    return reply
                problem = f"HTTP {reply.status_code}: {' '.join(reply.text[:300].split())}"
                if reply.status_code not in _PASSING and reply.status_code < 500:
                    raise ConfigError(f"the server at {url} refuses: {problem}")
                asked = retry_after(reply.headers.get("retry-after"), time.time())
            if attempt + 1 < self.options.attempts:
                wait = max(asked, self.options.first_wait_s * 2**attempt)
                time.sleep(min(wait, _LONGEST_WAIT_S))
        raise ServerError(
            f"the server at {url} gave no answer in {self.options.attempts} attempts: {problem}"
        )

    def _read(self, reply: Any, request: Request) -> Completion:
        try:
            choice = reply.json()["choices"][0]
            logprobs = choice.get("logprobs") or {}
            logps = logprobs.get("token_logprobs") or []
            tokens = _token_ids(choice, logprobs.get("tokens") or [])
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            raise ConfigError(
                f"the server's answer is no completion as expected: {reply.text[:200]!r}"
            ) from error
        if tokens is None:
            raise ConfigError(
                "the server returns no token ids, and text cannot be turned back into what was "
                "sampled: vLLM does so, at return_token_ids"
            )
        if len(logps) != len(tokens) or not all(map(_is_logp, logps)):
            raise ConfigError(
                f"the server returned {len(tokens)} tokens, but not a log-probability of each: "
                f"{logps[:4]}"
            )
        prompt = choice.get("prompt_token_ids")
        if prompt is not None and tuple(prompt) != request.prompt:
            raise ConfigError("the server continued another prompt: does it cut long ones off?")
        return self._checked(tokens, logps, choice.get("finish_reason"), request.max_tokens)

    def _checked(
        self, tokens: list[int], logps: list[float], reason: object, limit: int
    ) -> Completion:
        ended = bool(tokens) and tokens[-1] in self._ends
        if not ended and len(tokens) != limit:
            raise ConfigError(
                f"a completion of {len(tokens)} tokens, of {limit} at most, ended for the reason "
                f"{reason!r} without an end token {sorted(self._ends)}: does the server leave it "
                "out, or has it a shorter context?"
            )
        if len(tokens) > limit or any(token in self._ends for token in tokens[:-1]):
            raise ConfigError("the server goes on after an end token or the limit of tokens")
        return Completion(tuple(tokens), tuple(logps), finished=ended)


def _token_ids(choice: Mapping[str, Any], tokens: Sequence[str]) -> list[int] | None:
    """Return the ids in either of vLLM's ways, or None."""
    ids = choice.get("token_ids")
    if ids is not None:
        return [int(each) for each in ids]
    if tokens and all(each.startswith("token_id:") for each in tokens):
        return [int(each.removeprefix("token_id:")) for each in tokens]
    return None


def _is_logp(number: object) -> bool:
    return isinstance(number, float | int) and math.isfinite(number) and number <= 1e-3
