"""Tasks made of a statement, a generator and reference solutions.

The author of such a task writes plain Python: a statement with gaps, what fills the gaps, what
draws inputs of a given scale, and at least two solutions. The first solution computes the expected
outputs and is also, as text, the oracle's answer; `check` says whether the parts fit
together. The numbers in the gaps are drawn anew for every problem, so that no single program
answers them all.
"""

import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.code_length import code_length
from rlvr_envs.generators.wrong_functions import agrees, most_telling, telling, wrong_functions
from rlvr_envs.sandboxes.base import Limits
from rlvr_envs.verifiers.program import StdioTest, judge_stdio

Kind: TypeAlias = Literal["int", "str", "list", "rows"]
Values: TypeAlias = Mapping[str, Any]
Solution: TypeAlias = Callable[..., Any]

LEVELS = 30  # of scale; beyond, scale grows more slowly
_LINEAR = 100  # ranges up to here are walked evenly
_WIDE = 1000  # beyond this range, scale grows by 1.6 a level instead of 1.3
_EXAMPLES = 10  # small inputs drawn to choose those shown from
_TRIES = 100  # inputs drawn to find telling ones
_PATIENCE = 25  # of which so many in a row may tell nothing
_TELLING_LEVEL = 10  # of scale: small inputs tell as much, in less time
_LIMITS = Limits(cpu_s=10.0, memory_mib=512)


@dataclass(frozen=True)
class Program:
    """What a program task is made of.

    Attributes:
        statement: what is asked, with ``{name}`` where a constant goes; or, where rules come and
            go with the constants, a function of them that returns such a text.
        limits: says how large the inputs get, given the scale and the constants; the prompt leaves
            this out where there is none.
        scale: the parameters of size, each with its value at level 0 and about what it reaches at
            level 30.
        constants: draws the numbers (or words) that the statement names, given the scale.
        reads: the inputs and their kinds, in the order in which they are read: ``int``, ``str``
            (one line), ``list`` (of integers), ``rows`` (tuples of as many integers each).
        inputs: draws the inputs by name, given the scale and the constants.
        solutions: functions of the inputs and constants by name that return what is to be printed:
            an integer, a word, or a list of those. The first must be fast, and uses nothing from
            outside of itself: its text is the oracle's answer.
    """

    statement: str | Callable[[Values], str]
    scale: Mapping[str, tuple[int, int]]
    constants: Callable[[Rng, Mapping[str, int]], Values]
    reads: Mapping[str, Kind]
    inputs: Callable[[Rng, Mapping[str, int], Values], Values]
    solutions: Sequence[Solution]
    limits: Callable[[Mapping[str, int], Values], str] | None = None


def scale_at(program: Program, level: int) -> dict[str, int]:
    """Return the scale of a level.

    A range up to 100 is walked in 30 even steps. A wider one grows by 1.3 a level up to 1000 and
    by 1.6 above. Past level 30 a tenth of what was reached is added a level, without end.
    """
    return {name: _grown(*ends, level) for name, ends in program.scale.items()}


def _grown(least: int, most: int, level: int) -> int:
    span = most - least
    if span <= _LINEAR:
        return least + round(span * level / LEVELS)
    reached = (1.3 if span <= _WIDE else 1.6) ** min(level, LEVELS)
    return least + int(reached * (1 + max(0, level - LEVELS) / 10)) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramConfig:
    """How large the inputs are."""

    level: int = 8  # of scale, see `scale_at`
    n_hidden: int = 12  # hidden tests, at least
    n_shown: int = 2  # examples in the prompt

    def __post_init__(self) -> None:
        if not 0 <= self.level <= 1000:
            raise ConfigError(f"level is 0 to 1000, got {self.level}")
        if not 4 <= self.n_hidden <= 200 or not 1 <= self.n_shown <= 10:
            raise ConfigError(f"need n_hidden 4 to 200 and n_shown 1 to 10, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "ProgramConfig":
        """The level of scale, twice the difficulty: sizes and numbers grow without end."""
        return cls(level=2 * difficulty)


@dataclass(frozen=True, slots=True)
class Example:
    """An input and its output, as text."""

    stdin: str
    stdout: str


@dataclass(frozen=True, slots=True)
class ProgramProblem:
    """The constants of the statement, the examples, and the hidden tests."""

    constants: tuple[tuple[str, int | str], ...]
    shown: tuple[Example, ...]
    tests: tuple[Example, ...] = hidden()


class ProgramTask(Task[ProgramConfig, ProgramProblem]):
    """A task that is made by setting `program`; subclasses are registered and documented."""

    program: ClassVar[Program]
    judged_in_sandbox: ClassVar[bool] = True

    def generate(self, rng: Rng) -> ProgramProblem:
        config, program = self.config, self.program
        constants = dict(program.constants(rng, scale_at(program, config.level)))
        shown = self._shown(rng, constants)
        small = self._telling(rng, constants)
        half = config.n_hidden // 2
        small += [self._draw(rng, constants, 0, config.level) for _ in range(half - len(small))]
        large = [
            self._draw(rng, constants, config.level, config.level)
            for _ in range(config.n_hidden - half)
        ]
        tests = tuple(example for example, _ in (*small, *large))
        return ProgramProblem(tuple(constants.items()), shown, tests)

    def _draw(
        self, rng: Rng, constants: Values, lowest: int, highest: int
    ) -> tuple[Example, Values]:
        scale = scale_at(self.program, integer(rng, lowest, highest))
        inputs = self.program.inputs(rng, scale, constants)
        result = output_text(run_solution(self.program.solutions[0], inputs, constants))
        return Example(stdin_text(self.program, inputs), result), inputs

    def _shown(self, rng: Rng, constants: Values) -> tuple[Example, ...]:
        """Draw small examples: those that tell most wrong programs from a right one."""
        told, versions = self._teller(constants)
        drawn = [self._draw(rng, constants, 0, self.config.level // 3) for _ in range(_EXAMPLES)]
        found = most_telling(drawn, versions, told, self.config.n_shown)
        return tuple(example for example, _ in found)

    def _telling(self, rng: Rng, constants: Values) -> list[tuple[Example, Values]]:
        """Draw inputs that tell slightly wrong programs from a right one; small ones do."""
        told, versions = self._teller(constants)
        highest = min(self.config.level, _TELLING_LEVEL)
        drawn = (self._draw(rng, constants, 0, highest) for _ in range(_TRIES))
        return list(telling(drawn, versions, told, patience=_PATIENCE))

    def _teller(
        self, constants: Values
    ) -> tuple[Callable[[tuple[Example, Values], int], bool], int]:
        """Return whether inputs tell a wrong program of a number, and how many of those there are.

        They have one operator or number of a solution wrong, or a constant off by one.
        """
        versions = near_misses(self.program.solutions, constants)

        def told(drawn: tuple[Example, Values], number: int) -> bool:
            (example, inputs), (solution, numbers) = drawn, versions[number]
            return not agrees(
                lambda: output_text(run_solution(solution, inputs, numbers)), example.stdout
            )

        return told, len(versions)

    def prompt(self, problem: ProgramProblem) -> str:
        constants = dict(problem.constants)
        limits = (
            f"Each test may use {_LIMITS.cpu_s:g} s of CPU time and {_LIMITS.memory_mib} MiB of "
            "memory."
        )
        if self.program.limits:
            scale = scale_at(self.program, self.config.level)
            limits = f"{self.program.limits(scale, constants)} {limits}"
        examples = "\n\n".join(
            f"Input:\n```\n{example.stdin}```\nOutput:\n```\n{example.stdout}\n```"
            for example in problem.shown
        )
        return (
            f"{stated(self.program, constants)}\n\n"
            f"The program reads from standard input, in this order:\n{_reading(self.program)}\n\n"
            f"It prints the answer to standard output.\n\n{limits}\n\n"
            f"{examples}\n\nWrite this program in Python, using only the standard library."
        )

    def verify(self, problem: ProgramProblem, answer: str) -> Verdict:
        tests = [
            StdioTest(example.stdin, example.stdout, empty_ok=not example.stdout)
            for example in problem.tests
        ]
        return judge_stdio(answer, "python", tests, limits=_LIMITS)

    def solve(self, problem: ProgramProblem) -> str:
        return oracle_text(self.program, dict(problem.constants))

    def effort(self, problem: ProgramProblem) -> int:
        """Count the words and signs of the statement, once for each bit of the input's length."""
        longest = max(len(test.stdin.split()) for test in problem.tests)
        return code_length(stated(self.program, dict(problem.constants))) * longest.bit_length()

    def baseline(self, rng: Rng, problem: ProgramProblem) -> str:
        """Return a program that prints the output of the last example, whatever it reads."""
        return f"print({problem.shown[-1].stdout!r})"


def near_misses(solutions: Sequence[Solution], constants: Values) -> list[tuple[Solution, Values]]:
    """Return solutions with one operator or number wrong, and the first with a constant off by one.

    Each comes with the constants that it is called with.
    """
    versions = [(wrong, constants) for each in solutions for wrong in wrong_functions(each)]
    versions += [
        (solutions[0], {**constants, name: value + change})
        for name, value in constants.items()
        if isinstance(value, int)
        for change in ((-1, 1) if value > 2 else (1,))  # never 0, and no base of 1
    ]
    return versions


def stated(program: Program, constants: Values) -> str:
    """Return the statement with the constants in it."""
    text = program.statement
    if not isinstance(text, str):
        text = text(constants)
    return textwrap.dedent(text).strip().format(**constants)


def run_solution(solution: Solution, inputs: Values, constants: Values) -> Any:
    """Return what a solution makes of copies of the inputs."""
    return solution(**{name: _plain(value) for name, value in inputs.items()}, **constants)


def _plain(value: Any) -> Any:
    """Return an input as the oracle's program reads it: lists, and tuples within lists."""
    if not isinstance(value, (list, tuple)):
        return value
    return [tuple(item) if isinstance(item, (list, tuple)) else item for item in value]


def output_text(result: Any) -> str:
    """Return a solution's result as it is printed."""
    return " ".join(map(str, result)) if isinstance(result, (list, tuple)) else str(result)


def stdin_text(program: Program, inputs: Values) -> str:
    """Return inputs as a program reads them."""
    lines: list[str] = []
    for name, kind in program.reads.items():
        value = inputs[name]
        if kind in ("int", "str"):
            lines.append(str(value))
            continue
        lines.append(str(len(value)))
        if kind == "list":
            lines.append(" ".join(map(str, value)))
        else:
            lines.extend(" ".join(map(str, row)) for row in value)
    return "\n".join(lines) + "\n"


_FORMATS: dict[Kind, str] = {
    "int": "a line with the integer `{name}`",
    "str": "a line with the word `{name}`",
    "list": "a line with the length of the list `{name}`, then a line with its integers",
    "rows": "a line with the number of rows of `{name}`, then one line of integers for each row",
}


def _reading(program: Program) -> str:
    parts = [_FORMATS[kind].format(name=name) for name, kind in program.reads.items()]
    return "\n".join(f"- {part}" for part in parts)


_READERS: dict[Kind, str] = {
    "int": "int(input())",
    "str": "input().strip()",
    "list": "[int(word) for word in read_list()]",
    "rows": "[tuple(map(int, input().split())) for _ in range(int(input()))]",
}


def oracle_text(program: Program, constants: Values) -> str:
    """Return the first solution as a whole program."""
    function = program.solutions[0]
    source = textwrap.dedent(inspect.getsource(function)).strip()
    given = [f"    {name}={_READERS[kind]}," for name, kind in program.reads.items()]
    given += [f"    {name}={value!r}," for name, value in constants.items()]
    reader = "def read_list():\n    input()\n    return input().split()\n\n\n"
    return "\n".join(
        [
            "from __future__ import annotations\n\n",
            (reader if "list" in program.reads.values() else "") + source + "\n\n",
            f"result = {function.__name__}(",
            *given,
            ")",
            "print(*result) if isinstance(result, (list, tuple)) else print(result)",
        ]
    )
