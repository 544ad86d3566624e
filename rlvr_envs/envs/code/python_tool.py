"""Questions that take a computation, with Python at hand before the answer."""

from dataclasses import dataclass
from typing import ClassVar

from rlvr_envs.core.errors import ConfigError, SandboxError
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import InteractiveTask, Reply
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.envs.code._computations import DRAWS, Question
from rlvr_envs.generators.slow_programs.composed import compose, step_name
from rlvr_envs.sandboxes.base import Limits
from rlvr_envs.sandboxes.tool import PythonRuns, read_message
from rlvr_envs.verifiers.symbolic import judge_math

LIMITS = Limits(cpu_s=5.0)
_LEAST = 10**5  # no answer is closer to 0, so that none can be guessed
_TRIES = 60  # a draw in three fails at worst


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonToolConfig:
    """How much there is to compute, and how many messages there are for it."""

    n_questions: int = 1  # their answers are added up, with weights
    tier: int = 1  # the hardest kind of question, 0..2
    size: int = 2  # of the numbers in the questions
    n_turns: int = 6  # messages of the model, the one with the answer included

    def __post_init__(self) -> None:
        tiers = 0 <= self.tier < len(DRAWS)
        if self.n_questions < 1 or not tiers or self.size < 0 or self.n_turns < 1:
            raise ConfigError(
                f"need n_questions >= 1, tier in 0..{len(DRAWS) - 1}, size >= 0 and n_turns >= 1, "
                f"got {self}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "PythonToolConfig":
        """Every fourth rung adds a question, every second a harder kind; the numbers grow."""
        return cls(
            n_questions=1 + difficulty // 4,
            tier=min(difficulty // 2, len(DRAWS) - 1),
            size=difficulty,
        )


@dataclass(frozen=True, slots=True)
class PythonToolProblem:
    """The question, its answer, and a program that computes it."""

    question: str
    n_turns: int
    answer: int = hidden()
    program: str = hidden()


class PythonToolSession:
    """One episode; the sandbox is opened at the first run and closed at the end.

    An episode that is dropped closes it too: the sandbox's session does that by itself.
    """

    def __init__(self, problem: PythonToolProblem) -> None:
        self._problem = problem
        self._python = PythonRuns(LIMITS)
        self._turns = self._runs = self._idle = 0

    def reply(self, action: str) -> Reply:
        """Run the code of a message, or judge the answer in it."""
        self._turns += 1
        left = self._problem.n_turns - self._turns
        message = read_message(action)
        if message.answer is not None:
            return self._end(message.answer)
        if left < 1:
            self._python.close()
            told = f"there was no final answer within {self._problem.n_turns} messages"
            verdict = Verdict.wrong(told, **self._parts())
            return Reply("", verdict, void=message.code is None, out_of_turns=True)
        note = f"({left} more {'message' if left == 1 else 'messages'}.)"
        if message.code is None:
            self._idle += 1
            return Reply(
                "Send Python code in a ```python block, or the final answer between <answer> and "
                f"</answer>. {note}",
                void=True,
            )
        try:
            output = self._python.run(message.code)
        except SandboxError as error:
            told = f"the sandbox failed: {error!s:.200}"
            return Reply("", Verdict.verifier_error(told, **self._parts()))
        self._runs += 1
        return Reply(f"{output}\n{note}")

    def _end(self, answer: str) -> Reply:
        self._python.close()
        verdict = judge_math(str(self._problem.answer), answer, answer_type="integer")
        parts = {**verdict.parts, **self._parts()}
        return Reply("", Verdict(verdict.score, verdict.status, verdict.detail, parts))

    def _parts(self) -> dict[str, float]:
        """Return how the messages were used; training may leave out episodes with idle ones."""
        return {
            "turns": float(self._turns),
            "tool_runs": float(self._runs),
            "idle_turns": float(self._idle),
        }


@register("PythonTool-v0", domain="code", answer_format="tag", max_turns=32)
class PythonToolTask(InteractiveTask[PythonToolConfig, PythonToolProblem]):
    r"""Answer a question of counting or number theory, running Python first if need be.

    Description:
        Numbers of paths, permutations, strings and payments, terms of recurrences, sums over primes
        and orbits, determinants: short to state, long to work out by hand, and quickly computed by
        a program. Answers have six digits or more.

    Observation:
        The question and the rules; then, after each run, what the code wrote: escaped, with the
        middle left out where it is long, and with a note of how many messages are left.

    Action:
        A message with a ```python code block, which is run, or with the final answer between
        `<answer>` and `</answer>` (or in `\boxed{}`). A message with both is judged by the answer.

    Reward:
        1 for the right integer, otherwise 0.

    Episode End:
        With the final answer, or with the last message allowed.

    Verification:
        Exact, on integers computed by other means than the sandbox. Only the sandbox's own output
        is ever shown as output; what a message itself claims to be output is not read. Each run is
        a new process in a working directory that lasts for the episode. No known gaps.

    Difficulty:
        The number of questions, their kinds and their numbers grow.

    References:
        Xue et al., "SimpleTIR: End-to-End Reinforcement Learning for Multi-Turn Tool-Integrated
        Reasoning", for leaving out episodes with messages that hold neither code nor answer
        (`parts["idle_turns"]` counts them).

    Version History:
        v0: first version.
    """

    judged_in_sandbox: ClassVar[bool] = True

    def generate(self, rng: Rng) -> PythonToolProblem:
        drawn = [self._draw(rng, number) for number in range(self.config.n_questions)]
        weights = [integer(rng, 2, 9) for _ in drawn]
        if len(drawn) == 1:
            question, weights = f"What is {drawn[0].words}?", [1]
        else:
            names = [_name(number) for number in range(len(drawn))]
            stated = [f"- {name}: {item.words}" for name, item in zip(names, drawn, strict=True)]
            total = " + ".join(f"{w} {name}" for w, name in zip(weights, names, strict=True))
            question = "Consider these numbers.\n\n" + "\n".join(stated) + f"\n\nWhat is {total}?"
        terms = [
            f"{weight} * {step_name(number)}{_arguments(item)}"
            for number, (weight, item) in enumerate(zip(weights, drawn, strict=True), 1)
        ]
        return PythonToolProblem(
            question=question,
            n_turns=self.config.n_turns,
            answer=sum(w * item.answer() for w, item in zip(weights, drawn, strict=True)),
            program=compose([item.function for item in drawn], f"print({' + '.join(terms)})"),
        )

    def _draw(self, rng: Rng, number: int) -> Question:
        """Draw a question: the first of the hardest kind allowed, the others of any."""
        tier = self.config.tier
        kinds = DRAWS[tier] if number == 0 else [d for draws in DRAWS[: tier + 1] for d in draws]
        question = pick(rng, kinds)(rng, self.config.size)
        for _ in range(_TRIES):
            if abs(question.answer()) >= _LEAST:
                break
            question = pick(rng, kinds)(rng, self.config.size)
        return question

    def prompt(self, problem: PythonToolProblem) -> str:
        last = (
            f"You have {problem.n_turns} messages, and the last of them must hold the final answer"
            if problem.n_turns > 1
            else "You have one message, which must hold the final answer"
        )
        return (
            f"{problem.question}\n\n"
            "You may run Python before you answer. A message with a code block that begins with "
            "```python runs it (the last one, if there are several), and what it prints comes "
            "back. Every run is a new process: variables are gone, files in the working directory "
            f"stay. Only the standard library is there. A run has {LIMITS.cpu_s:g} s of CPU time "
            f"and {LIMITS.memory_mib} MiB of memory; long output is cut. A message with the final "
            "answer, an integer, between <answer> and </answer> and outside of any code block "
            f"ends the task, and code in it is not run. {last}."
        )

    def begin(self, problem: PythonToolProblem) -> PythonToolSession:
        return PythonToolSession(problem)

    def play(self, problem: PythonToolProblem) -> list[str]:
        final = f"<answer>{problem.answer}</answer>"
        if problem.n_turns == 1:
            return [final]
        return [f"```python\n{problem.program}\n```", final]


def _name(number: int) -> str:
    return chr(ord("A") + number) if number < 26 else f"A{number}"


def _arguments(question: Question) -> str:
    return f"({', '.join(map(repr, question.args))})"
