"""The task: what generates a problem, words it, judges answers to it and solves it.

A task is stateless apart from its frozen configuration, picklable, and knows nothing of
Gymnasium; `rlvr_envs.core.env` adapts any task to an environment.
"""

import dataclasses
import operator
import typing
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from rlvr_envs.core.errors import ConfigError, RowError, did_you_mean
from rlvr_envs.core.problem import fitted
from rlvr_envs.core.seeding import Rng
from rlvr_envs.core.tools import ACT, Tool
from rlvr_envs.core.verdict import Status, Verdict

# The arguments that every environment takes beside its task's knobs.
ENV_ARGUMENTS = (
    *("difficulty", "tasks", "weights", "answer_format", "max_turns", "render_mode"),
    "with_reference",
)

# Names that no knob may have: the above, and what gym.make and gym.make_vec take for themselves.
RESERVED = (
    *ENV_ARGUMENTS,
    *("env_id", "num_envs", "group_size", "workers", "autoreset_mode", "vectorization_mode"),
    *("vector_kwargs", "wrappers", "seed", "problem_seed", "id", "max_episode_steps"),
    *("disable_env_checker", "additional_wrappers"),
)

ConfigT = TypeVar("ConfigT")
ProblemT = TypeVar("ProblemT")


@dataclass(frozen=True, slots=True)
class Variant(Generic[ProblemT]):
    """The same problem said in another way, and how answers follow it.

    Attributes:
        problem: the problem, hidden fields included, that the task poses and judges as any other.
        answer: returns the answer to it that corresponds to one to the original. Both are bare, and
            in the form in which the task's oracle writes them.
        changes: what was rewritten, such as ``names`` and ``order``.
    """

    problem: ProblemT
    answer: Callable[[str], str]
    changes: tuple[str, ...]


class Task(ABC, Generic[ConfigT, ProblemT]):
    """One kind of problem; subclass as ``Task[MyConfig, MyProblem]`` and register it.

    Attributes:
        Config: the frozen, keyword-only dataclass of the knobs (`rlvr_envs.core.knobs`). Its
            classmethod ``at(difficulty)`` returns the configuration of a difficulty level.
        Problem: the frozen dataclass of one problem (see `rlvr_envs.core.problem`).
        shortcut_bound: the most that one constant answer, or a rule that only looks at the prompt
            (`rlvr_envs.conformance.shortcuts`), may earn on average at any level; a check holds
            the task to it.
        distinct_at_zero: how many distinct problems level 0 has at least; a check holds the task
            to it.
        literal_answer: whether an answer is text that counts as it stands, so that it has no other
            spelling.
        judged_in_sandbox: whether `verify` hands the answer to a sandbox, which has processes of
            its own: such answers are judged in threads, not in worker processes.
        trusted: whether the configuration is the caller's own, and not that of a row that could
            come from anybody; `outside` looks at it.

    Examples:
        >>> import numpy as np
        >>> from rlvr_envs.core.registry import find
        >>> Gcd = find("rlvr/Gcd-v0").task_type
        >>> task = Gcd(Gcd.Config.at(0))
        >>> problem = task.generate(np.random.default_rng(0))
        >>> task.verify(problem, task.solve(problem)).score
        1.0

    Episode End:
        After one step.

    Version History:
        v0: first version.
    """

    Config: ClassVar[type[Any]]
    Problem: ClassVar[type[Any]]
    shortcut_bound: ClassVar[float] = 0.05
    distinct_at_zero: ClassVar[int] = 2_000
    literal_answer: ClassVar[bool] = False
    judged_in_sandbox: ClassVar[bool] = False
    trusted: bool = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Read `Config` and `Problem` off the type arguments, so that they are said once."""
        super().__init_subclass__(**kwargs)
        for base in getattr(cls, "__orig_bases__", ()):
            args = typing.get_args(base)
            if len(args) == 2 and all(isinstance(arg, type) for arg in args):
                cls.Config, cls.Problem = args

    def __init__(self, config: ConfigT) -> None:
        self.config = config

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.config})"

    def outside(self, name: str) -> Any:
        """Return a knob that names a file, a folder or a server, so that it can be opened.

        Tasks read such knobs by this alone, and only where they open what is named.

        Raises:
            RowError: a row or a client chose the name, and nobody said that it may.
        """
        value = getattr(self.config, name)
        (field,) = (each for each in dataclasses.fields(self.Config) if each.name == name)
        if self.trusted or value == field.default:
            return value
        raise RowError(
            f"{type(self).__name__.removesuffix('Task')} would open {name}={value!r:.80}, which a "
            "row (or a client) chose: if it is yours, allow it with trusted=True in "
            "rlvr_envs.verify and solve, with --trust-rows in rlvr verify, rejudge and export, or "
            "make the environment with the row's own knobs"
        )

    @abstractmethod
    def generate(self, rng: Rng) -> ProblemT:
        """Draw one problem, using no randomness but ``rng``."""

    @abstractmethod
    def prompt(self, problem: ProblemT) -> str:
        """Return the task text, without the sentence about the answer's format."""

    @abstractmethod
    def verify(self, problem: ProblemT, answer: str) -> Verdict:
        """Judge an extracted answer: its validity, never its equality with a witness.

        Total: any text gives a verdict.
        """

    @abstractmethod
    def solve(self, problem: ProblemT) -> str:
        """Return an answer of full marks (the oracle)."""

    def effort(self, problem: ProblemT) -> float:
        """Return how hard a problem is: the work of the solver that the docstring names.

        It depends on the problem alone, so it is the same on every machine, and it is 0 or more.
        Within each family of a task its mean grows from difficulty level to level.
        """
        raise NotImplementedError

    def baseline(self, rng: Rng, problem: ProblemT) -> str | list[str]:
        """Return the answer of a simple policy, or its actions where the task is interactive.

        The policy is what a hurried solver would do: it may use the rules, it does not search, and
        it never looks at a hidden field. Its answer is readable. What it earns may be much at
        level 0, and does not rise with the level.
        """
        raise NotImplementedError

    def explain(self, problem: ProblemT) -> list[str]:
        """Return the steps of a worked solution, in order, without the answer in its format.

        Each step follows from those before it, so that any number of first steps is a hint. Tasks
        that have none return an empty list.
        """
        return []

    def variant(self, problem: ProblemT, rng: Rng) -> "Variant[ProblemT] | None":
        """Return a problem that has the same difficulty and says the same in another way.

        It is a symmetry of the task, such as other names or another order. What is right stays
        right, what is wrong stays wrong, and the answers correspond one to one. Tasks that declare
        no symmetry return None.
        """
        return None

    def step_credit(self, problem: ProblemT, solution: str) -> float | None:
        """Return the share of the needed steps that a text works out rightly.

        It is for training, never part of a verdict. Tasks that read no steps return None.
        """
        return None


class IndexedTask(Task[ConfigT, ProblemT]):
    """A task whose problems are numbered, such as the rows of a file.

    Examples:
        >>> from rlvr_envs.core.registry import find
        >>> MathDataset = find("rlvr/MathDataset-v0").task_type
        >>> MathDataset(MathDataset.Config()).problem_at(0).question
        'A shelf has 4 rows with 17 jars in each row. How many jars stand on the shelf?'
    """

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of problems."""

    @abstractmethod
    def problem_at(self, index: int) -> ProblemT:
        """Return problem ``index``, from 0; raise `ConfigError` where there is none."""

    def generate(self, rng: Rng) -> ProblemT:
        """Draw one of the numbered problems, each equally likely."""
        return self.problem_at(int(rng.integers(len(self))))

    def check_index(self, index: int, count: int, noun: str = "problem") -> int:
        """Return an index as an ``int`` if it is from 0 to ``count - 1``.

        Raises:
            ConfigError: it is not; the message calls what is numbered by the ``noun``.
        """
        try:
            number = operator.index(index)
        except TypeError:
            number = -1
        if 0 <= number < count:
            return number
        raise ConfigError(
            f"{type(self).__name__.removesuffix('Task')} has no {noun} {index!r}: an index is an "
            f"integer from 0 to {count - 1}"
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """What an interactive task says to an action.

    Attributes:
        text: the next observation.
        verdict: once the episode is over.
        void: whether there was nothing in the message to act on: no call, no move and no answer.
        out_of_turns: whether the episode is over because the task's own limit of messages, tries or
            calls is used up.

    Examples:
        >>> from rlvr_envs import Reply, Verdict
        >>> Reply("The number is larger than 5.").verdict is None
        True
        >>> Reply.judged(Verdict.correct()).verdict.score
        1.0
    """

    text: str
    verdict: Verdict | None = None
    void: bool = False
    out_of_turns: bool = False

    @classmethod
    def judged(cls, verdict: Verdict) -> "Reply":
        """Return the reply to the one message of a task that is answered in one."""
        return cls("", verdict, void=verdict.status is Status.UNPARSABLE)


class Session(Protocol):
    """One episode of an interactive task.

    Examples:
        >>> from rlvr_envs import Reply, Session, Verdict
        >>> class Echo:
        ...     def reply(self, action: str) -> Reply:
        ...         return Reply(action, Verdict.correct() if action == "stop" else None)
        >>> session: Session = Echo()
        >>> session.reply("stop").verdict.score
        1.0
    """

    def reply(self, action: str) -> Reply:
        """Take an action and answer it; any text is taken."""


@dataclass(frozen=True, slots=True)
class Shorthand:
    """How a person plays an interactive task by hand; models never see it.

    Attributes:
        commands: each short command, with what it does; the last one ends the episode, and its
            last word says with what, such as "a your answer".
        expand: returns the action of a short command, an action as it is, and None for a text
            that is neither.
        shorten: returns an action as a short command, a word and what it is given.
        plain: returns an observation for a person to read: headings, lists, tables and links in
            Markdown, without what only a program needs.

    Examples:
        >>> from rlvr_envs.core.task import Shorthand
        >>> shorthand = Shorthand(
        ...     commands=(("a words", "answer"),),
        ...     expand=lambda text: f"<answer>{text[2:]}</answer>" if text[:2] == "a " else None,
        ...     shorten=lambda action: f"a {action[8:-9]}",
        ...     plain=str.strip,
        ... )
        >>> shorthand.expand("a Paris")
        '<answer>Paris</answer>'
    """

    commands: tuple[tuple[str, str], ...]
    expand: Callable[[str], str | None]
    shorten: Callable[[str], str]
    plain: Callable[[str], str]


class InteractiveTask(Task[ConfigT, ProblemT]):
    """A task of several turns: search, tools, games.

    Examples:
        >>> import rlvr_envs
        >>> row = rlvr_envs.make_problem("rlvr/GuessNumber-v0", seed=0, difficulty=0)
        >>> actions = rlvr_envs.solve(row)
        >>> rlvr_envs.verify(row, actions).score
        1.0
        >>> rlvr_envs.verify(row, actions[:-1])
        Verdict(score=0.0, status=<Status.WRONG: 'wrong'>, detail='the episode was not over after 1
        actions', parts={})

    Episode End:
        After the answer, or at the turn limit.
    """

    @abstractmethod
    def begin(self, problem: ProblemT) -> Session:
        """Start an episode; a session draws no randomness of its own."""

    @abstractmethod
    def play(self, problem: ProblemT) -> list[str]:
        """Return the oracle's actions, which end in full marks."""

    def effort(self, problem: ProblemT) -> float:
        """Return the number of actions that the oracle takes."""
        return len(self.play(problem))

    def played(self, problem: ProblemT, policy: Callable[[str], str], *, turns: int) -> list[str]:
        """Return the actions of a policy in an episode, at most ``turns`` of them.

        Args:
            problem: the problem.
            policy: returns the next action, given the last observation; the prompt comes first.
            turns: where to stop if the episode goes on.
        """
        session, text, actions = self.begin(problem), self.prompt(problem), list[str]()
        while len(actions) < turns:
            actions.append(policy(text))
            reply = session.reply(actions[-1])
            if reply.verdict is not None:
                break
            text = reply.text
        return actions

    def shorthand(self, problem: ProblemT) -> Shorthand | None:
        """Return how a person plays by short commands, None where actions are short as they are."""
        return None

    def tools(self, problem: ProblemT) -> tuple[Tool, ...]:
        """Return the functions that a model may call instead of writing its actions as text.

        By default there is one, `act`, which takes the text of any action.
        """
        return (ACT,)

    def verify(self, problem: ProblemT, answer: str) -> Verdict:
        """Judge an episode of a single action."""
        return self.replay(problem, [answer])

    def solve(self, problem: ProblemT) -> str:
        """Return the oracle's last action."""
        return self.play(problem)[-1]

    def replay(self, problem: ProblemT, actions: Sequence[str]) -> Verdict:
        """Play the actions in turn and return the verdict they end in."""
        session = self.begin(problem)
        for action in actions:
            verdict = session.reply(action).verdict
            if verdict is not None:
                return verdict
        return not_over(len(actions))


def not_over(actions: int) -> Verdict:
    """Return the verdict on an episode that was still to go on when its actions ended."""
    return Verdict.wrong(f"the episode was not over after {actions} actions")


def configure(
    task_type: type[Task[Any, Any]], difficulty: int | None, knobs: Mapping[str, Any]
) -> Any:
    """Return the configuration of a difficulty level, with knobs set by name.

    Without a difficulty, the knobs change the configuration's own defaults.

    Raises:
        ConfigError: a knob does not exist or is out of range, or the difficulty is no integer
            from 0.
    """
    config_type = task_type.Config
    names = [field.name for field in dataclasses.fields(config_type)]
    for name in knobs:
        if name not in names:
            hint = did_you_mean(name, [*names, *ENV_ARGUMENTS])
            raise ConfigError(
                f"{task_type.__name__} has no knob {name!r}{hint} (knobs: {', '.join(names)})"
            )
    level = None if difficulty is None else config_type.at(check_difficulty(difficulty))
    knobs = {name: _of_its_type(task_type, name, value) for name, value in knobs.items()}
    try:
        return config_type(**knobs) if level is None else dataclasses.replace(level, **knobs)
    except (TypeError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        given = ", ".join(f"{name}={value!r}" for name, value in knobs.items())
        raise ConfigError(
            f"{task_type.__name__} cannot use {given:.200} ({error}); `rlvr show` lists the knobs "
            "with their defaults"
        ) from error


def _of_its_type(task_type: type[Task[Any, Any]], name: str, value: Any) -> Any:
    kind = typing.get_type_hints(task_type.Config)[name]
    try:
        return fitted(kind, value, name)
    except (RowError, TypeError, ValueError) as error:
        expected = kind.__name__ if isinstance(kind, type) else str(kind).replace("typing.", "")
        raise ConfigError(
            f"{task_type.__name__} cannot use {name}={value!r:.80} (it takes a value of type "
            f"{expected}); `rlvr show` lists the knobs with their defaults"
        ) from error


def check_difficulty(difficulty: object) -> int:
    """Return the difficulty if it is an integer from 0; raise `ConfigError` otherwise."""
    if isinstance(difficulty, bool) or not isinstance(difficulty, int) or difficulty < 0:
        raise ConfigError(f"a difficulty is an integer from 0, got {difficulty!r}")
    return difficulty
