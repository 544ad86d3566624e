"""OpenEnv: any id as an environment for openenv's own server, to publish it on a hub.

Where nothing has to be published, `rlvr serve` speaks the same wire, judges in worker processes and
knows tokens. Both send the same fields, so openenv's `GenericEnvClient` plays either.
"""

import asyncio
import json
from functools import cached_property
from typing import Annotated, Any

from fastmcp import FastMCP
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, EnvironmentMetadata, Observation, State
from pydantic import BeforeValidator, Field

from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.version import __version__


def _as_text(value: object) -> str:
    """Return text as it is, and other values as JSON: some clients parse what looks like JSON."""
    return value if isinstance(value, str) else json.dumps(value)


class RlvrAction(Action):
    """What the model says."""

    text: Annotated[str, BeforeValidator(_as_text)] = Field(description="The whole message.")


class RlvrObservation(Observation):
    """What the environment answers.

    ``metadata`` names the task and the problem seed; at the end it holds the verdict. The reward is
    None after a reset, and where the verifier failed.
    """

    text: str


class RlvrState(State):
    """How far the episode has come."""

    env_id: str
    done: bool = False


class RlvrEnvironment(Environment):
    """One episode at a time of any id.

    Args:
        env_id: a task or a mixture.
        arguments: those of `TextEnv`, such as ``difficulty`` and knobs.

    Raises:
        ConfigError: an argument is unknown or out of range.
        RegistrationError: there is no such id.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, env_id: str, **arguments: Any) -> None:
        super().__init__()
        self._env = TextEnv(env_id, with_reference=False, **arguments)
        self._state = RlvrState(env_id=self._env.source.id)

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **options: Any
    ) -> RlvrObservation:
        """Begin an episode; the options are those of `TextEnv.reset`, and None leaves one out.

        Raises:
            ConfigError: an option is unknown or out of range.
        """
        given = {name: value for name, value in options.items() if value is not None}
        text, info = self._env.reset(seed=seed, options=given)
        self._state = RlvrState(env_id=self._state.env_id, episode_id=episode_id)
        return RlvrObservation(text=text, metadata=info)

    def step(
        self, action: RlvrAction, timeout_s: float | None = None, **options: Any
    ) -> RlvrObservation:
        """Take an action; ``timeout_s`` is not used, because verifiers have limits of their own.

        Raises:
            UsageError: no episode is under way.
        """
        text, reward, over, truncated, info = self._env.step(action.text)
        self._state.step_count += 1
        self._state.done = over or truncated
        verdict = info.pop("verdict", None)
        if verdict is not None:
            info |= {"truncated": truncated, **verdict.to_json()}
        scored = reward if info.get("scored", True) else None
        return RlvrObservation(text=text, reward=scored, done=self._state.done, metadata=info)

    @property
    def state(self) -> RlvrState:
        """How far the episode has come."""
        return self._state

    @cached_property
    def mcp_server(self) -> FastMCP:
        """The tool for clients that speak MCP."""
        server = FastMCP(self._state.env_id)
        server.tool(self.act)
        return server

    async def act(self, text: str) -> dict[str, Any]:
        """Send the next message to the environment: an answer, or an action.

        Args:
            text: The whole message.
        """
        observation = await asyncio.to_thread(self.step, RlvrAction(text=text))
        found: dict[str, Any] = observation.model_dump()
        return found

    def get_metadata(self) -> EnvironmentMetadata:
        """Say what the environment is."""
        name = self._state.env_id.partition("/")[2]
        return EnvironmentMetadata(name=name, description=f"rlvr_envs: {name}", version=__version__)

    def close(self) -> None:
        """End the environment."""
        self._env.close()
