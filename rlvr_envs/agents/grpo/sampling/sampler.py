"""The sampler protocol: what continues token sequences, and tells how likely each token was."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Request:
    """A sequence to continue.

    Requests of one call with equal prompts are a group: a sampler may compute the prompt once.

    Attributes:
        prompt: token ids, at least one.
        max_tokens: the most tokens to add, from 1.
    """

    prompt: tuple[int, ...]
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Completion:
    """What was added.

    Attributes:
        tokens: token ids, the end-of-sequence token included where it was sampled.
        logps: each one's log-probability in the distribution that it was sampled from, that is at
            the sampler's temperature, in nats.
        finished: whether an end-of-sequence token ended it, rather than ``max_tokens``.
    """

    tokens: tuple[int, ...]
    logps: tuple[float, ...]
    finished: bool


class Sampler(Protocol):
    """Continues sequences; `generate` (plain transformers), `slots` and `server` have one each."""

    def generate(
        self, requests: Sequence[Request], *, temperature: float = 1.0, seed: int = 0
    ) -> list[Completion]:
        """Return a completion of each request, in their order.

        Args:
            requests: may be of any number and lengths.
            temperature: above 0; or 0 for the likeliest token, whose log-probability is then that
                of temperature 1.
            seed: of the draws: the same requests, weights and seed give the same tokens.

        Raises:
            ConfigError: a request does not fit into the model's context.
        """

    def update(self) -> None:
        """Take in that the weights have changed: nothing computed before may be used again."""
