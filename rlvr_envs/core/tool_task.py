"""Tasks whose actions are calls of typed tools on a world that the problem describes.

A subclass says what the world is (an object whose methods are tools, `rlvr_envs.core.typed_tools`),
how right its state is at the end, and which calls should have been made. What scores how much is
said here once: a process and a format earn nothing without an outcome, and an episode with a
forbidden call earns no more than the safety cap.
"""

from abc import abstractmethod
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.task import InteractiveTask, Reply, Session
from rlvr_envs.core.tools import BadCall, Tool
from rlvr_envs.core.typed_tools import read_call, tools_of
from rlvr_envs.core.verdict import Status, Verdict

ConfigT = TypeVar("ConfigT")
ProblemT = TypeVar("ProblemT")


class ToolWorld:
    """The state of one episode; a subclass adds tools as methods.

    A tool that refuses a call raises `BadCall`; a call that the rules forbid is carried out and
    noted in `unsafe`.

    Attributes:
        finished: whether a tool has ended the episode.
        calls: the name and the arguments of each call that was read, in order.
        unsafe: what was done that the rules forbid, in words.
    """

    def __init__(self) -> None:
        self.finished = False
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.unsafe: list[str] = []

    def called(self, name: str, **arguments: Any) -> bool:
        """Whether a tool was called with these arguments, and perhaps others."""
        return any(
            each == name and arguments.items() <= given.items() for each, given in self.calls
        )


class Weights(NamedTuple):
    """What the parts of a score weigh; they add up to 1."""

    outcome: float = 0.7
    process: float = 0.2
    format: float = 0.1


class ToolTask(InteractiveTask[ConfigT, ProblemT], Generic[ConfigT, ProblemT]):
    """A task of calls on a world.

    The score is the outcome times (weight of the outcome + weight of the process x process +
    weight of the format x format), all from 0 to 1; the format is the share of messages that hold a
    call that can be read. With a forbidden call it is at most `safety_cap`.

    Attributes:
        weights: of the three parts.
        safety_cap: the most that an episode with a forbidden call earns, below 1.
    """

    weights: ClassVar[Weights] = Weights()
    safety_cap: ClassVar[float] = 0.1

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Check the weights and the cap, once for each class."""
        super().__init_subclass__(**kwargs)
        if abs(sum(cls.weights) - 1) > 1e-9 or min(cls.weights) < 0:
            raise ConfigError(f"the weights of {cls.__name__} add up to 1, got {cls.weights}")
        if not 0 <= cls.safety_cap < 1:
            raise ConfigError(
                f"the safety_cap of {cls.__name__} is from 0 to below 1, got {cls.safety_cap}"
            )

    @abstractmethod
    def world(self, problem: ProblemT) -> ToolWorld:
        """Return the world of a problem as an episode finds it."""

    @abstractmethod
    def turns(self, problem: ProblemT) -> int:
        """Return how many messages an episode has."""

    @abstractmethod
    def outcome(self, problem: ProblemT, world: ToolWorld) -> float:
        """Return how right the world is at the end, from 0 to 1."""

    def process(self, problem: ProblemT, world: ToolWorld) -> float:
        """Return the share of the calls that had to be made, from 0 to 1."""
        return 1.0

    def begin(self, problem: ProblemT) -> Session:
        return ToolSession(self, problem)

    def tools(self, problem: ProblemT) -> tuple[Tool, ...]:
        return tuple(each.offered() for each in tools_of(self.world(problem)))

    def usage(self, problem: ProblemT) -> str:
        """Return which tools there are and how they are called, for the prompt."""
        tools = tools_of(self.world(problem))
        example = next((each for each in tools if each.arguments), tools[0])
        given = ", ".join(f'"{name}": ...' for name in example.arguments)
        elements = "".join(f"<{name}>...</{name}>" for name in example.arguments)
        call = f'{{"name": "{example.name}", "arguments": {{{given}}}}}'
        element = f"<{example.name}>{elements}</{example.name}>"
        listed = "\n".join(each.usage() for each in tools)
        return (
            f"In each message, make one call of a tool:\n\n{listed}\n\nA call is a JSON object, "
            f"{call}, or an element with an element for each argument, {element}. If a message has "
            "several calls, only the first one is run. You have "
            f"{self.turns(problem)} messages."
        )

    def judge(self, problem: ProblemT, world: ToolWorld, *, format: float) -> Verdict:  # noqa: A002
        """Return the verdict on a world at the end of an episode."""
        outcome, process = self.outcome(problem, world), self.process(problem, world)
        unsafe = float(len(world.unsafe))
        parts = {"outcome": outcome, "process": process, "format": format, "unsafe": unsafe}
        if world.unsafe:
            told = f"the rules forbid this: {world.unsafe[0]}"
            score = min(self.safety_cap, self._score(outcome, process, format))
            return _graded(score, told, parts)
        if outcome == process == format == 1:
            return Verdict(1.0, Status.CORRECT, "", parts)
        told = f"outcome {outcome:.2f}, process {process:.2f}, format {format:.2f}"
        # Rounding must not make full marks of parts that are not full.
        score = min(self._score(outcome, process, format), 1 - 1e-9)
        return _graded(score, told, parts)

    def _score(self, outcome: float, process: float, format: float) -> float:  # noqa: A002
        weights = self.weights
        return outcome * (weights.outcome + weights.process * process + weights.format * format)


def _graded(score: float, told: str, parts: dict[str, float]) -> Verdict:
    return Verdict(score, Status.PARTIAL if score else Status.WRONG, told, parts)


class ToolSession:
    """One episode of a `ToolTask`."""

    def __init__(self, task: ToolTask[Any, Any], problem: Any) -> None:
        self._task, self._problem = task, problem
        self._world = task.world(problem)
        self._tools = tools_of(self._world)
        self._turns = self._read = 0

    def reply(self, action: str) -> Reply:
        """Run the call of a message; the last one ends in the verdict."""
        self._turns += 1
        void = False
        try:
            call = read_call(action, self._tools)
        except BadCall as error:
            told, void = f"Error: {error}.", True
        else:
            self._read += 1
            self._world.calls.append((call.tool.name, call.arguments))
            told = call.run()
        left = self._task.turns(self._problem) - self._turns
        if self._world.finished or left < 1:
            share = self._read / self._turns
            verdict = self._task.judge(self._problem, self._world, format=share)
            return Reply("", verdict, void=void, out_of_turns=not self._world.finished)
        return Reply(f"{told}\n({left} more {'message' if left == 1 else 'messages'}.)", void=void)
