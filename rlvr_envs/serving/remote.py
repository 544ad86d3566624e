"""``rlvr/Remote-v0``: an environment that runs on a server."""

from typing import Any, ClassVar

import gymnasium

from rlvr_envs.core.env import MAX_OBSERVATION_CHARS
from rlvr_envs.core.errors import ConfigError, UsageError
from rlvr_envs.core.instance import MAX_RESPONSE_CHARS
from rlvr_envs.core.seeding import Rng, draw_seed, stream
from rlvr_envs.core.spaces import UnicodeText
from rlvr_envs.serving.client import Client, Turn

_NAMES_A_PROBLEM = ("problem_seed", "problem", "index", "split")


class RemoteEnv(gymnasium.Env[str, str]):
    """Plays an environment of `rlvr serve` as if it were here.

    The problems of a seed are those of ``gym.make(env, ...).reset(seed=seed)``, and ``info`` is the
    same but for the reference answer, which stays on the server. An episode goes on when the server
    is started again.

    Args:
        url: such as ``http://localhost:8000``.
        env: the id of a task or of a mixture that the server has.
        token: what the server asks for, if it asks.
        retry_s: how long to try again while the server is busy or away, in seconds.
        render_mode: ``"ansi"`` returns the transcript from `render`.
        arguments: those of `TextEnv`; the server refuses unknown ones.

    Raises:
        ConfigError: the url or the render mode has another form.
        DependencyError: a package of the client is missing.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi"], "render_fps": 1}  # type: ignore[misc]

    def __init__(
        self,
        url: str,
        env: str,
        *,
        token: str | None = None,
        retry_s: float = 60.0,
        render_mode: str | None = None,
        **arguments: Any,
    ) -> None:
        if render_mode not in (None, "ansi"):
            raise ConfigError(f"render_mode is 'ansi' or None, got {render_mode!r}")
        self.render_mode = render_mode
        self.observation_space = UnicodeText(MAX_OBSERVATION_CHARS)
        self.action_space = UnicodeText(MAX_RESPONSE_CHARS)
        self._client = Client(url, token=token, retry_s=retry_s)
        self._session = self._client.session(env)
        self._id = env if "/" in env else f"rlvr/{env}"
        known = ("difficulty", "answer_format", "max_turns", "tasks", "weights")
        self._arguments = {name: arguments.pop(name) for name in known if name in arguments}
        self._knobs = arguments
        self._seeds: Rng | None = None
        self._running = False
        self._transcript: list[str] = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Pose the next problem and return its prompt; the options are those of `TextEnv`.

        Raises:
            ServerError: the server refuses the arguments, or cannot be reached.
        """
        super().reset(seed=seed)
        if seed is not None:
            self._seeds = stream("episodes", self._id, seed)
        chosen = dict(options or {})
        if not any(chosen.get(name) is not None for name in _NAMES_A_PROBLEM):
            if self._seeds is None:
                self._seeds = stream("episodes", self._id, draw_seed(self.np_random))
            chosen["problem_seed"] = draw_seed(self._seeds)
        turn = self._session.reset(**{**self._arguments, "knobs": self._knobs, **chosen})
        self._running = True
        self._transcript = [turn.text]
        return turn.text, turn.metadata

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take the agent's text; return observation, reward, terminated, truncated and info.

        Raises:
            UsageError: the episode is over or has not begun, or the action is not text.
            ServerError: the server cannot be reached.
        """
        if not self._running:
            raise UsageError("there is no running episode: call reset() before step()")
        if not isinstance(action, str):
            raise UsageError(f"an action is a string, got {action!r:.80}")
        turn = self._session.step(action)
        self._running = not turn.done
        self._transcript += [action, turn.text] if turn.text else [action]
        info = _info(turn)
        truncated = bool(turn.metadata.get("truncated", False))
        return turn.text, turn.reward or 0.0, turn.done and not truncated, truncated, info

    def render(self) -> str | None:
        """Return the transcript so far."""
        return "\n\n".join(self._transcript) if self.render_mode == "ansi" else None

    def close(self) -> None:
        """End the session."""
        self._session.close()
        self._client.close()


def _info(turn: Turn) -> dict[str, Any]:
    of_verdict = ("score", "status", "detail", "parts", "truncated")
    info = {name: value for name, value in turn.metadata.items() if name not in of_verdict}
    return info if turn.verdict is None else {**info, "verdict": turn.verdict}
