"""The environment: adapts a source of instances to Gymnasium's reset and step."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

import gymnasium

from rlvr_envs.core.errors import ConfigError, DependencyError, UsageError, did_you_mean
from rlvr_envs.core.instance import MAX_RESPONSE_CHARS, Instance, row_errors, too_long
from rlvr_envs.core.seeding import SEED_LIMIT, Rng, draw_seed, stream
from rlvr_envs.core.source import open_source, read_difficulty
from rlvr_envs.core.spaces import UnicodeText
from rlvr_envs.core.task import InteractiveTask, Reply, Session
from rlvr_envs.core.terminal import harmless
from rlvr_envs.core.verdict import Verdict

MAX_OBSERVATION_CHARS = 262_144

_OPTIONS = ("difficulty", "problem_seed", "problem", "index")


class TextEnv(gymnasium.Env[str, str]):
    r"""Poses problems as text and scores answers as text.

    A single-turn episode is one `reset`, which returns the prompt, and one `step` with the
    agent's full response. In an interactive episode every `step` returns the next observation;
    `max_turns` truncates it.

    The reward is the verdict's score. ``info`` holds ``task`` (the id that posed the problem),
    ``domain``, ``difficulty``, ``problem_seed`` and ``turn``; after a step ``void_turn``, whether
    there was nothing in the message to act on; and once the episode is over also ``verdict``,
    ``scored``, ``reference`` (the oracle's answer) and ``out_of_turns``, whether a limit of turns,
    the task's own or the environment's, ended it. A verdict that is not
    ``scored`` says that the verifier failed: leave that episode out of training and statistics.

    Options of `reset`, each for this episode only: ``difficulty``; ``problem_seed`` (that very
    problem again); ``problem`` (a dataset row); ``index`` (a row of a dataset environment).

    Args:
        env_id: the id of a task or of a mixture.
        difficulty: a level from 0, an inclusive range ``(lowest, highest)``, or None for the
            defaults of the knobs.
        tasks: for a mixture, the ids to mix.
        weights: for a mixture, id → share.
        answer_format: the label of an answer format, instead of the task's own.
        max_turns: truncates an interactive episode; None for the task's own limit.
        render_mode: ``"ansi"`` returns the transcript from `render`, ``"human"`` prints it.
        with_reference: whether the last ``info`` of an episode holds the reference answer. It
            costs a run of the oracle; False leaves it out.
        knobs: fields of the task's configuration, by name.

    Raises:
        ConfigError: an argument is unknown or out of range.

    Examples:
        >>> import gymnasium
        >>> import rlvr_envs
        >>> env = gymnasium.make("rlvr/Gcd-v0", difficulty=0)
        >>> prompt, info = env.reset(seed=0)
        >>> prompt.splitlines()[0]
        'What is the greatest common divisor of 112 and 128?'
        >>> observation, reward, terminated, truncated, info = env.step(r"\boxed{16}")
        >>> reward, info["reference"]
        (1.0, '16')
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]  # Gymnasium declares it per instance
        "render_modes": ["ansi", "human"],
        "render_fps": 1,
    }

    def __init__(  # noqa: PLR0913 - every argument is the user's, and all but one are keywords
        self,
        env_id: str,
        *,
        difficulty: object = None,
        tasks: Sequence[str] | None = None,
        weights: Mapping[str, float] | None = None,
        answer_format: str | None = None,
        max_turns: int | None = None,
        render_mode: str | None = None,
        with_reference: bool = True,
        **knobs: Any,
    ) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ConfigError(f"render_mode is 'ansi', 'human' or None, got {render_mode!r}")
        if max_turns is not None and (not isinstance(max_turns, int) or max_turns < 1):
            raise ConfigError(f"max_turns is an integer from 1, got {max_turns!r}")
        self.source = open_source(
            env_id,
            difficulty=difficulty,
            tasks=tasks,
            weights=weights,
            answer_format=answer_format,
            knobs=knobs,
        )
        self.render_mode = render_mode
        self.observation_space = UnicodeText(MAX_OBSERVATION_CHARS)
        self.action_space = UnicodeText(MAX_RESPONSE_CHARS)
        self._max_turns = max_turns
        self._with_reference = with_reference
        self._seeds: Rng | None = None
        self._instance: Instance | None = None
        self._session: Session | None = None
        self._replayed = False
        self._turn = 0
        self._turn_limit = 0
        self._over = True
        self._transcript: list[str] = []

    @property
    def turn_limit(self) -> int:
        """The number of turns after which the running episode is cut off.

        A wrapper may lower or raise it for this episode; the next one begins with the
        environment's own. Before the first reset it is 0.
        """
        return self._turn_limit

    @turn_limit.setter
    def turn_limit(self, turns: int) -> None:
        if isinstance(turns, bool) or not isinstance(turns, int) or turns < 1:
            raise ConfigError(f"a turn_limit is an integer from 1, got {turns!r}")
        self._turn_limit = turns

    @property
    def instance(self) -> Instance:
        """The current instance, reference included: for tools and wrappers, not for agents."""
        if self._instance is None:
            raise UsageError("there is no problem yet: call reset() first")
        return self._instance

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Pose the next problem and return its prompt."""
        super().reset(seed=seed)
        if seed is not None:
            self._seeds = stream("episodes", self.source.id, seed)
        self._instance = instance = self._choose(options or {})
        self._session = None
        self._replayed = "problem" in (options or {})
        with self._errors():
            if isinstance(instance.task, InteractiveTask):
                self._session = instance.task.begin(instance.problem)
            prompt = instance.prompt()
        self._turn, self._over = 0, False
        self._turn_limit = self._max_turns or instance.spec.max_turns
        if len(prompt) > MAX_OBSERVATION_CHARS:
            raise ConfigError(
                f"the prompt has {len(prompt)} characters, the limit is {MAX_OBSERVATION_CHARS}: "
                "lower the difficulty"
            )
        self._transcript = [prompt]
        self._show()
        return prompt, self._info()

    def _choose(self, options: Mapping[str, Any]) -> Instance:
        if not isinstance(options, Mapping):
            raise ConfigError(f"reset options are a dict, got {options!r:.80}")
        for name in options:
            if name not in _OPTIONS:
                hint = did_you_mean(str(name), _OPTIONS)
                raise ConfigError(f"no reset option {name!r}{hint} (known: {', '.join(_OPTIONS)})")
        exclusive = [name for name in ("problem_seed", "problem", "index") if name in options]
        if len(exclusive) > 1:
            raise ConfigError(f"the reset options {' and '.join(exclusive)} exclude each other")
        if "problem" in options:
            return self.source.replay(options["problem"])
        if "index" in options:
            return self.source.at_index(options["index"])
        difficulty = read_difficulty(options.get("difficulty"))
        return self.source.draw(self._problem_seed(options.get("problem_seed")), difficulty)

    def _problem_seed(self, given: object) -> int:
        if given is None:
            if self._seeds is None:
                self._seeds = stream("episodes", self.source.id, draw_seed(self.np_random))
            return draw_seed(self._seeds)
        try:
            seed = given.__index__()  # type: ignore[attr-defined]  # numpy integers too
        except AttributeError:
            seed = -1
        if not 0 <= seed < SEED_LIMIT:
            raise ConfigError(f"a problem_seed is an integer in [0, 2**53), got {given!r}")
        return int(seed)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take the agent's text; return observation, reward, terminated, truncated and info.

        Raises:
            UsageError: the episode is over or has not begun, or the action is not text.
            DependencyError: the task needs a program or package that is missing here.
        """
        if self._over:
            raise UsageError("there is no running episode: call reset() before step()")
        if not isinstance(action, str):
            raise UsageError(f"an action is a string, got {action!r:.80}")
        return self.conclude(action, self._reply(action))

    def _reply(self, action: str) -> Reply:
        if self._session is None:
            return Reply.judged(self.instance.judge(action))
        if len(action) > MAX_RESPONSE_CHARS:
            return Reply.judged(too_long(action))
        try:
            return self._session.reply(action)
        except DependencyError:  # nothing can be played here before something is installed
            raise
        except Exception as error:  # noqa: BLE001 - a broken task must not look like a bad answer
            fault = f"the task failed: {type(error).__name__}: {error}"
            return Reply("", Verdict.verifier_error(fault))

    def conclude(self, action: str, reply: Reply) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Book a reply that was judged elsewhere; `step` is this after judging it here."""
        self._turn += 1
        self._transcript += [action, reply.text] if reply.text else [action]
        verdict, truncated = reply.verdict, False
        if verdict is None and self._turn >= self._turn_limit:
            verdict = Verdict.wrong(f"the limit of {self._turn_limit} turns is reached")
            truncated = True
        self._over = verdict is not None
        info = {**self._info(), "void_turn": reply.void}
        if verdict is None:
            self._show()
            return reply.text, 0.0, False, False, info
        info |= {
            "verdict": verdict,
            "scored": verdict.scored,
            "out_of_turns": truncated or reply.out_of_turns,
        }
        if self._with_reference:
            with self._errors():
                info["reference"] = self.instance.reference()
        self._transcript.append(f"[{verdict.status}: {verdict.score:g}] {verdict.detail}".strip())
        self._show()
        return reply.text, float(verdict.score), not truncated, truncated, info

    def _errors(self) -> AbstractContextManager[None]:
        """Have what breaks on a stored row be the row's fault, and not the task's."""
        return row_errors(self.instance.spec.id) if self._replayed else nullcontext()

    def _info(self) -> dict[str, Any]:
        instance = self.instance
        return {
            "task": instance.spec.id,
            "domain": instance.spec.domain,
            "difficulty": instance.difficulty,
            "problem_seed": instance.problem_seed,
            "turn": self._turn,
        }

    def render(self) -> str | None:
        """Return the transcript so far (``ansi``) or None (``human`` prints as it goes)."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() needs a render_mode: make the environment with 'ansi'")
            return None
        return "\n\n".join(self._transcript) if self.render_mode == "ansi" else None

    def _show(self) -> None:
        if self.render_mode == "human":
            text = harmless(self._transcript[-1])
            print(text, flush=True)  # noqa: T201 - what render_mode="human" asks for
