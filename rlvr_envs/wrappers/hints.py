"""Hints in prompts: to problems that were failed before, or as long as a target asks for."""

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.env import MAX_OBSERVATION_CHARS
from rlvr_envs.core.errors import ConfigError, did_you_mean
from rlvr_envs.core.instance import Instance
from rlvr_envs.core.verdict import Status
from rlvr_envs.wrappers.failures import Failures
from rlvr_envs.wrappers.item_response import ItemResponse
from rlvr_envs.wrappers.shaping import check_wraps_text

HintsOf = Callable[[Instance], Sequence[str]]
MAX_PREFIXES = 32


def reference_prefixes(instance: Instance) -> list[str]:
    """Return beginnings of the oracle's answer, shortest first, none of them the whole.

    A text of several lines is cut into lines, another into words, and a single word into
    characters; where a task has several turns, its first actions. Long ones are cut at 32 places.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import reference_prefixes
        >>> env = gymnasium.make("rlvr/Sudoku-v0", difficulty=0).unwrapped
        >>> prompt, info = env.reset(seed=0)
        >>> reference_prefixes(env.instance)[0]
        '2 1 3 4'
    """
    reference = instance.reference()
    if isinstance(reference, list):
        return _prefixes([f"{action}\n" for action in reference])
    return _prefixes(_pieces(reference.strip()))


def worked_prefixes(instance: Instance) -> list[str]:
    """Return beginnings of the worked solution, shortest first, none of them the whole.

    They are its first steps; a solution of a single step is cut into sentences, and a single
    sentence into words. Empty where the task has no worked solution.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import worked_prefixes
        >>> env = gymnasium.make("rlvr/Gcd-v0", difficulty=0).unwrapped
        >>> prompt, info = env.reset(seed=0)
        >>> worked_prefixes(env.instance)[0]
        '128 = 1 * 112 + 16.'
    """
    steps = instance.task.explain(instance.problem)
    if len(steps) > 1:
        return _prefixes([f"{step}\n" for step in steps])
    sentences = re.split(r"(?<=[.;] )", "".join(steps))
    return _prefixes(sentences if len(sentences) > 1 else _pieces("".join(steps)))


def solution_prefixes(instance: Instance) -> list[str]:
    """Return `worked_prefixes`, or `reference_prefixes` where there are none.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import solution_prefixes
        >>> env = gymnasium.make("rlvr/WordProblem-v0", difficulty=0).unwrapped
        >>> prompt, info = env.reset(seed=0)
        >>> solution_prefixes(env.instance)[0]
        'ration packs in the Birch module: 29'
    """
    return worked_prefixes(instance) or reference_prefixes(instance)


# By the names that a command line has for them.
NAMED: dict[str, HintsOf] = {
    "reference": reference_prefixes,
    "worked": worked_prefixes,
    "solution": solution_prefixes,
}


def hints_of(hints: HintsOf | str) -> HintsOf:
    """Return where hints come from, by name or as it is.

    Raises:
        ConfigError: there is no such name, or what is given cannot be called.
    """
    if isinstance(hints, str):
        if hints not in NAMED:
            hint = did_you_mean(hints, NAMED)
            raise ConfigError(f"no hints {hints!r}{hint} (known: {', '.join(NAMED)})")
        return NAMED[hints]
    if not callable(hints):
        raise ConfigError(f"hints is called with an instance, got {hints!r:.80}")
    return hints


# What a hint of these is said to be.
_LEADS: dict[HintsOf, str] = {
    reference_prefixes: "how a right answer begins",
    worked_prefixes: "how a worked solution begins",
}


def _prefixes(pieces: Sequence[str]) -> list[str]:
    cuts = range(1, len(pieces))
    kept = [cuts[i * len(cuts) // MAX_PREFIXES] for i in range(MAX_PREFIXES)] if cuts else []
    prefixes = dict.fromkeys("".join(pieces[:cut]).strip() for cut in kept)
    return [prefix for prefix in prefixes if prefix]


def _pieces(text: str) -> list[str]:
    lines = text.splitlines(keepends=True)
    if len(lines) > 1:
        return lines
    words: list[str] = re.findall(r"\S+\s*", text)
    return words if len(words) > 1 else list(text)


class HintSequence:
    """The hints to one problem, from none up.

    Args:
        instance: the problem.
        hints: where they come from.
        reveal: whether the oracle's answer itself is the last of them, and no hint is held back
            for being a right answer.
    """

    def __init__(self, instance: Instance, hints: HintsOf, *, reveal: bool) -> None:
        self._instance = instance
        self._hints = hints
        self._reveal = reveal

    @cached_property
    def _lead(self) -> str:
        source = self._hints
        if source is solution_prefixes:
            source = worked_prefixes if worked_prefixes(self._instance) else reference_prefixes
        return _LEADS.get(source, "")

    @cached_property
    def _texts(self) -> list[str]:
        """The hints; worked out only where they are asked for, because oracles take their time."""
        texts: Any = self._hints(self._instance)
        listed = isinstance(texts, (list, tuple))
        if not listed or not all(isinstance(text, str) for text in texts):
            raise ConfigError(f"hints are a list of texts, weakest first, got {texts!r:.80}")
        return [*texts, whole(self._instance)] if self._reveal else list(texts)

    def __len__(self) -> int:
        return len(self._texts)

    def opening(self, level: int) -> str:
        r"""Return how a response begins that follows the hint of a level; empty for level 0.

        A hint that begins the answer is put where the answer stands in a response, such as behind
        ``\boxed{``; any other hint is the beginning as it is.
        """
        if not level:
            return ""
        text = self._texts[level - 1]
        instance = self._instance
        if self._lead != _LEADS[reference_prefixes] or instance.interactive:
            return text
        answer = whole(instance).strip()
        before, found, _ = answer_format(instance.format_label).wrap(answer).partition(answer)
        return before + text if found else text

    @property
    def problem(self) -> str:
        """What tells the problem from others."""
        return self._instance.fingerprint()

    def at(self, level: int, room: int = MAX_OBSERVATION_CHARS) -> tuple[int, str]:
        """Return the strongest hint up to a level that may be told, and its level; 0 is none."""
        for lower in range(min(level, len(self)) if level else 0, 0, -1):
            text = self._texts[lower - 1]
            told = f"Hint, {self._lead}:\n{text}" if self._lead else f"Hint: {text}"
            if len(told) <= room and (self._reveal or not self._tells_all(text)):
                return lower, told
        return 0, ""

    def _tells_all(self, text: str) -> bool:
        """Whether a hint is a right answer, as it stands, or written as one it or its last word."""
        responses = [text]
        if not self._instance.interactive:
            form = answer_format(self._instance.format_label)
            responses += [
                form.wrap(text),
                *(form.wrap(word.strip(".")) for word in text.split()[-1:]),
            ]
        return any(self._instance.judge(told).status is Status.CORRECT for told in responses)


def whole(instance: Instance) -> str:
    """Return the oracle's answer, or its actions, as one text."""
    reference = instance.reference()
    return "\n".join(reference) if isinstance(reference, list) else reference


class PromptHints(gymnasium.Wrapper[str, str, str, str]):
    """Ends a prompt in a hint, and takes down how the episode went.

    ``info["hint"]`` is what was added, empty for nothing, ``info["hint_level"]`` which of the
    hints it is, from 0 for none. After a reset, ``info["bare_prompt"]`` is the prompt without it,
    and ``info["hint_opening"]`` how a response begins that follows it. The reset option
    ``hint_level`` asks for a level, for this episode only. Rewards and verdicts are left alone.

    Args:
        env: an environment of this package, wrapped or not.
        hints: called with the instance; returns hints from the weakest to the strongest, one of
            which is shown at a time. Or the name of one of `NAMED`.
        reveal: whether the strongest hint is the oracle's answer itself. Otherwise a hint that is
            a right answer is held back for a weaker one.

    Raises:
        ConfigError: the hints are no texts.
    """

    prompts_once = True  # retries would pose the problem without its hint

    def __init__(self, env: gymnasium.Env[str, str], hints: HintsOf | str, *, reveal: bool) -> None:
        super().__init__(env)
        check_wraps_text(self, env.unwrapped)
        self._hints = hints_of(hints)
        self._reveal = reveal
        self._played: HintSequence | None = None
        self._wanted = 0
        self._info: dict[str, Any] = {}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Pose the next problem, with the hint that it has come to."""
        asked = None
        if isinstance(options, dict) and "hint_level" in options:
            asked = options["hint_level"]
            options = {name: options[name] for name in options if name != "hint_level"}
        if asked is not None and (
            isinstance(asked, bool) or not isinstance(asked, int) or asked < 0
        ):
            raise ConfigError(f"a hint_level is an integer from 0, got {asked!r}")
        prompt, info = self.env.reset(seed=seed, options=options)
        base: Any = self.env.unwrapped
        self._played = sequence = self._sequence(base.instance)
        self._wanted = self._level(sequence) if asked is None else asked
        level, hint = sequence.at(self._wanted, MAX_OBSERVATION_CHARS - len(prompt) - 2)
        self._info = {"hint": hint, "hint_level": level}
        told = f"{prompt}\n\n{hint}" if hint else prompt
        bare = {"bare_prompt": prompt, "hint_opening": sequence.opening(level)}
        return told, {**info, **self._info, **bare}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take the agent's text; the end of an episode is taken down."""
        text, reward, terminated, truncated, info = self.env.step(action)
        if (terminated or truncated) and info["verdict"].scored and self._played is not None:
            self._record(self._played, self._wanted, info["verdict"].score)
        return text, float(reward), terminated, truncated, {**info, **self._info}

    def _sequence(self, instance: Instance) -> HintSequence:
        """Return the hints to a problem."""
        return HintSequence(instance, self._hints, reveal=self._reveal)

    def _level(self, sequence: HintSequence) -> int:
        """Return the level that a problem has come to."""
        raise NotImplementedError

    def _record(self, sequence: HintSequence, level: int, score: float) -> None:
        """Take down the score of an episode that was to be played at a level."""
        raise NotImplementedError


def gives_hints(env: object) -> bool:
    """Return whether one of an environment's wrappers takes the reset option ``hint_level``."""
    while isinstance(env, gymnasium.Wrapper) and not isinstance(env, PromptHints):
        env = env.env
    return isinstance(env, PromptHints)


class HintOnRequest(PromptHints, RecordConstructorArgs):
    """Gives the hint that the reset option ``hint_level`` asks for, and none where nothing does.

    It is for a trainer that decides by itself, as Guide (arXiv 2506.13923) does after a group that
    failed as a whole. ``info["bare_prompt"]`` is what the policy's probability without the hint
    needs, for the importance weights of that paper.

    Args:
        env: an environment of this package, wrapped or not.
        hints: called with the instance; returns hints from the weakest to the strongest. Or
            ``"reference"``, ``"worked"`` or ``"solution"`` (`solution_prefixes`).
        reveal: whether the strongest hint is the oracle's answer itself.

    Raises:
        ConfigError: the hints are no texts.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import HintOnRequest
        >>> env = HintOnRequest(gymnasium.make("rlvr/WordProblem-v0", difficulty=0))
        >>> prompt, info = env.reset(seed=0, options={"hint_level": 1})
        >>> info["hint_level"], prompt == info["bare_prompt"]
        (1, False)
    """

    def __init__(
        self,
        env: gymnasium.Env[str, str],
        *,
        hints: HintsOf | str = solution_prefixes,
        reveal: bool = False,
    ) -> None:
        RecordConstructorArgs.__init__(self, _disable_deepcopy=True, hints=hints, reveal=reveal)
        super().__init__(env, hints, reveal=reveal)

    def _level(self, sequence: HintSequence) -> int:
        return 0

    def _record(self, sequence: HintSequence, level: int, score: float) -> None:
        pass


class HintOnFailure(PromptHints, RecordConstructorArgs):
    r"""Gives a hint to a problem that was failed before, when it comes back.

    A problem is posed without a hint until ``memory`` has counted enough failures of it in a row;
    then with the weakest hint, and so on. A solved episode takes one step back. Guide (arXiv
    2506.13923) gives the hint at once, which is `HintOnRequest` with the agent's callback
    ``hint_after_failure``.

    Args:
        env: an environment of this package, wrapped or not.
        memory: what counts; give the environments of a group the same one.
        hints: called with the instance; returns hints from the weakest to the strongest. Or
            ``"reference"``, ``"worked"`` or ``"solution"`` (`solution_prefixes`).
        reveal: whether the strongest hint is the oracle's answer itself.
        patience: of a memory that is made here, as of `Failures`; the size of a group.

    Raises:
        ConfigError: the hints are no texts.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import HintOnFailure
        >>> env = HintOnFailure(gymnasium.make("rlvr/WordProblem-v0", difficulty=0), patience=1)
        >>> prompt, info = env.reset(options={"problem_seed": 7})
        >>> step = env.step(r"\boxed{0}")
        >>> hinted, info = env.reset(options={"problem_seed": 7})
        >>> prompt == hinted, info["hint_level"]
        (False, 1)
    """

    def __init__(
        self,
        env: gymnasium.Env[str, str],
        memory: Failures | None = None,
        *,
        hints: HintsOf | str = solution_prefixes,
        reveal: bool = False,
        patience: int = 8,
    ) -> None:
        RecordConstructorArgs.__init__(
            self,
            _disable_deepcopy=True,
            memory=memory,
            hints=hints,
            reveal=reveal,
            patience=patience,
        )
        super().__init__(env, hints, reveal=reveal)
        self.memory = memory or Failures(patience=patience)

    def _level(self, sequence: HintSequence) -> int:
        return self.memory.level(sequence.problem)

    def _record(self, sequence: HintSequence, level: int, score: float) -> None:
        most = len(sequence) if level else 1  # nothing is shown where there is not even one
        self.memory.record(sequence.problem, level, max(1, most), score)


class ItemResponseHints(PromptHints, RecordConstructorArgs):
    """Shows as much of the solution as keeps the accuracy at a target (SEELE, arXiv 2509.06923).

    The hints of a problem are the beginnings of its solution, none of them the whole; with n of
    them, the solution has n + 1 steps. How many are shown is up to ``memory``.

    Args:
        env: an environment of this package, wrapped or not.
        memory: fits the curves; give the environments of a group the same one.
        hints: called with the instance; returns the first step of a solution, the first two, ...
            Or ``"reference"``, ``"worked"`` or ``"solution"`` (`solution_prefixes`).
        rollouts: of a memory that is made here, as of `ItemResponse`; the size of a group.
        rounds: the same.
        target: the same.

    Raises:
        ConfigError: the hints are no texts.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import ItemResponse, ItemResponseHints
        >>> memory = ItemResponse(rollouts=8, target=0.5)
        >>> env = ItemResponseHints(gymnasium.make("rlvr/WordProblem-v0", difficulty=3), memory)
        >>> env.reset(seed=0)[1]["hint_level"]
        9
    """

    def __init__(
        self,
        env: gymnasium.Env[str, str],
        memory: ItemResponse | None = None,
        *,
        hints: HintsOf | str = solution_prefixes,
        rollouts: int = 8,
        rounds: int = 4,
        target: float = 0.5,
    ) -> None:
        RecordConstructorArgs.__init__(
            self,
            _disable_deepcopy=True,
            memory=memory,
            hints=hints,
            rollouts=rollouts,
            rounds=rounds,
            target=target,
        )
        super().__init__(env, hints, reveal=False)
        self.memory = memory or ItemResponse(rollouts=rollouts, rounds=rounds, target=target)

    def _level(self, sequence: HintSequence) -> int:
        return self.memory.level(sequence.problem, len(sequence) + 1)

    def _record(self, sequence: HintSequence, level: int, score: float) -> None:
        self.memory.record(sequence.problem, level, len(sequence) + 1, score)
