"""Python between the messages of any single-turn task, for tool-integrated reasoning."""

from typing import Any

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import ConfigError, SandboxError
from rlvr_envs.core.instance import MAX_RESPONSE_CHARS
from rlvr_envs.core.task import Reply
from rlvr_envs.core.thoughts import spoken
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.sandboxes.base import Limits
from rlvr_envs.sandboxes.tool import PYTHON, PythonRuns, last_code, pieces
from rlvr_envs.wrappers.shaping import check_wraps_text

# What a message with code could be an answer in.
_TAKEN = ("raw", *(f"fenced:{tag}" for tag in PYTHON))


class PythonTool(gymnasium.Wrapper[str, str, str, str], RecordConstructorArgs):
    r"""Runs the Python code of a message in the sandbox and returns what it wrote.

    A message with a final answer, in the task's answer format and outside of Python blocks, goes
    to the environment without its Python blocks and ends the episode. Another one with a complete
    block (```python) has the last such block run: a new process in a working directory that lasts
    for the episode. After ``max_turns`` messages without an answer the episode is truncated. If
    the sandbox breaks, the episode is not scored.

    Thoughts count for nothing: neither code nor an answer in them. ``info["tool_runs"]`` and
    ``info["idle_turns"]`` count the runs and the messages that held neither code nor an answer.
    Put wrappers that shape rewards around this one: inside they would see the last message only.

    Args:
        env: an environment of single-turn tasks; their answer format must not be ``raw`` or a
            block of Python.
        max_turns: messages of the model, the one with the answer included.
        limits: of each run.
        announce: whether the prompt ends in the rules.

    Raises:
        ConfigError: an argument is out of range or, at reset, the task does not fit.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import PythonTool
        >>> env = PythonTool(gymnasium.make("rlvr/Gcd-v0", difficulty=0))
        >>> prompt, info = env.reset(seed=0)
        >>> observation = env.step("```python\nimport math\nprint(math.gcd(112, 128))\n```")[0]
        >>> observation.splitlines()[1]
        '16'
        >>> env.step(r"\boxed{16}")[1]
        1.0
        >>> env.close()
    """

    def __init__(
        self,
        env: gymnasium.Env[str, str],
        *,
        max_turns: int = 6,
        limits: Limits | None = None,
        announce: bool = True,
    ) -> None:
        RecordConstructorArgs.__init__(self, max_turns=max_turns, limits=limits, announce=announce)
        super().__init__(env)
        check_wraps_text(self, env.unwrapped)
        if isinstance(max_turns, bool) or not isinstance(max_turns, int) or max_turns < 1:
            raise ConfigError(f"max_turns is an integer from 1, got {max_turns!r}")
        self._max_turns = max_turns
        self._limits = limits or Limits(cpu_s=5.0)
        self._announce = announce
        self._python = PythonRuns(self._limits)
        self._running = False
        self._turns = self._runs = self._idle = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Pose the next problem, and tell the rules."""
        self._python.close()
        self._running = False
        prompt, info = self.env.reset(seed=seed, options=options)
        instance = self._base.instance
        if instance.interactive or instance.format_label in _TAKEN:
            kind = "is interactive" if instance.interactive else f"is {instance.format_label!r}"
            raise ConfigError(
                f"PythonTool needs a single-turn task whose answer is no code, and {info['task']} "
                f"{kind}; where the format is the trouble, make it with answer_format='tag'"
            )
        self._base.turn_limit = self._max_turns
        self._turns = self._runs = self._idle = 0
        self._running = True
        return f"{prompt}\n\n{self._rules()}" if self._announce else prompt, self._counted(info)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Run the code of a message, or hand its answer to the environment."""
        if not self._running or not isinstance(action, str) or len(action) > MAX_RESPONSE_CHARS:
            return self._ended(*self.env.step(action))
        parts = pieces(spoken(action))
        prose = "\n".join(part.text for part in parts if part.tag not in PYTHON)
        own = answer_format(self._base.instance.format_label)
        if own.find(prose).answer is not None:
            return self._ended(*self.env.step(prose))
        self._turns += 1
        code = last_code(parts)
        self._idle += code is None
        reply = Reply("", void=code is None) if self._left < 1 else self._reply(code)
        text, reward, terminated, truncated, info = self._base.conclude(action, reply)
        if terminated or truncated:
            return self._ended(text, reward, terminated, truncated, info)
        return text, reward, terminated, truncated, self._counted(info)

    def close(self) -> None:
        """Give the sandbox back and close the environment."""
        self._python.close()
        super().close()

    def _reply(self, code: str | None) -> Reply:
        note = f"({self._left} more {'message' if self._left == 1 else 'messages'}.)"
        if code is None:
            asked = "Send Python code in a ```python block, or the final answer."
            return Reply(f"{asked} {note}", void=True)
        try:
            output = self._python.run(code)
        except SandboxError as error:
            return Reply("", Verdict.verifier_error(f"the sandbox failed: {error!s:.200}"))
        self._runs += 1
        return Reply(f"{output}\n{note}")

    def _ended(
        self, text: str, reward: Any, terminated: bool, truncated: bool, info: dict[str, Any]
    ) -> tuple[str, float, bool, bool, dict[str, Any]]:
        self._python.close()
        self._running = False
        return text, float(reward), terminated, truncated, self._counted(info)

    def _counted(self, info: dict[str, Any]) -> dict[str, Any]:
        return {**info, "tool_runs": self._runs, "idle_turns": self._idle}

    def _rules(self) -> str:
        last = (
            f"You have {self._max_turns} messages, and the last of them must hold the final answer."
            if self._max_turns > 1
            else "You have one message, which must hold the final answer."
        )
        return (
            "You may run Python before you answer. A message with a code block that begins with "
            "```python runs it (the last one, if there are several), and what it prints comes "
            "back. Every run is a new process: variables are gone, files in the working directory "
            f"stay. A run has {self._limits.cpu_s:g} s of CPU time and {self._limits.memory_mib} "
            "MiB of memory; long output is cut. A message with the final answer, outside of any "
            f"Python block, ends the task, and code in it is not run. {last}"
        )

    @property
    def _left(self) -> int:
        """How many messages there are after this one; a wrapper outside may have set fewer."""
        return self._base.turn_limit - self._turns

    @property
    def _base(self) -> TextEnv:
        base: Any = self.env.unwrapped
        return base  # type: ignore[no-any-return]  # checked when it was wrapped
