"""Programs that read a problem's input and print the answer, in any language."""

from dataclasses import dataclass
from typing import ClassVar

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.algorithms.plan import (
    FAMILIES,
    Plan,
    draw_inputs,
    draw_plan,
    find_family,
    input_format,
    program,
    statement,
)
from rlvr_envs.generators.algorithms.scales import FULL, scale_of, size_of, sizes
from rlvr_envs.generators.algorithms.telling_tests import (
    PlannedTest,
    examples,
    make_test,
    telling_tests,
)
from rlvr_envs.generators.code_length import code_length
from rlvr_envs.generators.programs.emit import emit, emit_constant
from rlvr_envs.generators.programs.nodes import Value
from rlvr_envs.generators.programs.stdin import stdin_text
from rlvr_envs.sandboxes import languages
from rlvr_envs.sandboxes.base import Limits
from rlvr_envs.verifiers.program import StdioTest, judge_stdio

_TRIES = 40  # plans drawn before one whose answers vary little is taken
_LARGE = 3  # tests at the end that cost most to make


@dataclass(frozen=True, slots=True, kw_only=True)
class StdioProgramConfig(TaskConfig):
    """The language, which questions there are, and how large their tests get."""

    language: str = knob("python", "language of the programs; any registered one")
    families: tuple[str, ...] = knob((), "names of families; empty for all up to the level")
    first_level: int = knob(0, "the easiest level of family", low=0, high=7)
    level: int = knob(4, "the hardest level of family", low=0)
    growth: int = knob(
        4, "test sizes, from tiny at 0 to sizes that need a good algorithm at 10", low=0
    )
    n_stages: int = knob(1, "largest number of list changes before the question", low=0)
    n_parts: int = knob(2, "largest number of parts that a list is cut into", low=1)
    n_tests: int = knob(10, "hidden tests, at least", low=8, high=50)

    def check(self) -> None:
        languages.find(self.language)
        for name in self.families:
            find_family(name)
        if not self.names():
            raise ConfigError(f"need first_level <= level, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "StdioProgramConfig":
        """Harder families replace easier ones, tests grow, and every third level adds a stage."""
        return cls(
            first_level=min(max(0, difficulty - 3), 4),
            level=difficulty,
            growth=min(difficulty, FULL),
            n_stages=difficulty // 3,
            n_parts=1 + difficulty // 2,
            n_tests=10 + difficulty // 5,
        )

    def names(self) -> tuple[str, ...]:
        """Return the names of the families that are asked."""
        return self.families or tuple(
            name
            for name, family in FAMILIES.items()
            if self.first_level <= family.level <= self.level
        )


@dataclass(frozen=True, slots=True)
class Example:
    """A test that the prompt shows."""

    stdin: str
    expected: str


@dataclass(frozen=True, slots=True)
class Test:
    """A hidden test: its inputs follow from the seed and the size."""

    seed: int
    size: int
    expected: str


@dataclass(frozen=True, slots=True)
class Bounds:
    """The largest list, string and number (in magnitude) among the inputs of all tests."""

    items: int
    letters: int
    number: int


@dataclass(frozen=True, slots=True)
class StdioProgramProblem:
    """The question, what is said of its inputs, and the tests."""

    plan: Plan
    bounds: Bounds
    cpu_s: float
    examples: tuple[Example, ...]
    tests: tuple[Test, ...] = hidden()


@register("StdioProgram-v0", domain="code", answer_format="fenced:{language}")
class StdioProgramTask(Task[StdioProgramConfig, StdioProgramProblem]):
    """Write a program that reads an input and prints the answer to an algorithmic question.

    Description:
        A family of algorithmic questions (longest streaks, inversions, shortest paths, knapsacks,
        ...) is drawn with its parameters; questions about a list may ask for changes of the list
        first, or for the answers about several parts of it put together. There are a few dozen
        families; parameters, changes and parts make many thousand questions even of the small
        ones.

    Observation:
        The question, the input format, bounds on the inputs, the time limit, and two examples.

    Action:
        A program in the language of the knob ``language``.

    Reward:
        1 if every hidden test is passed, otherwise 0.

    Verification:
        The program runs on at least eight hidden tests, other than the examples, and its output is
        compared token by token with the right answer. Small tests are drawn until slightly wrong
        solutions (another operator, a number one off, a change of the list left out) fail them;
        two are of the largest size. The time limit counts CPU seconds. From difficulty 8 or so on,
        brute force does not pass the largest tests; a solution that is slower than the reference by
        some tens of times may. Expected outputs come from Python functions that agree, in our
        tests, with brute force and with the programs the oracle writes.

    Difficulty:
        Harder families replace easier ones. The sizes of the tests grow, up to those that need a
        good algorithm at difficulty 10, and so do the numbers of changes and parts.

    References:
        Cormen et al., "Introduction to Algorithms"; Skiena, "The Algorithm Design Manual".
    """

    judged_in_sandbox: ClassVar[bool] = True

    def generate(self, rng: Rng) -> StdioProgramProblem:
        config = self.config
        plan, rising = self._draw(rng)
        for _ in range(_TRIES):
            if _varied(rising):
                break
            plan, rising = self._draw(rng)
        small = telling_tests(rng, plan)
        tests = [*small, *rising[len(small) :]]
        largest = size_of(find_family(plan.family), config.growth, config.language)
        tests += [make_test(rng, plan, size) for size in sizes(largest, config.n_tests)[-_LARGE:]]
        shown = examples(rng, plan, [test.inputs for test in tests])
        return StdioProgramProblem(
            plan,
            _bounds([test.inputs for test in (*tests, *shown)]),
            scale_of(config.language).cpu_s,
            tuple(
                Example(stdin_text(program(plan), test.inputs), str(test.expected))
                for test in shown
            ),
            tuple(Test(test.seed, test.size, str(test.expected)) for test in tests),
        )

    def _draw(self, rng: Rng) -> tuple[Plan, list[PlannedTest]]:
        """Draw a question, and tests of it of rising sizes below the largest."""
        config = self.config
        plan = draw_plan(rng, config.names(), config.n_stages, config.n_parts)
        largest = size_of(find_family(plan.family), config.growth, config.language)
        rising = sizes(largest, config.n_tests)[:-_LARGE]
        return plan, [make_test(rng, plan, size) for size in rising]

    def prompt(self, problem: StdioProgramProblem) -> str:
        language = languages.find(self.config.language)
        shown = "\n".join(
            f"Example input:\n```\n{example.stdin}```\n"
            f"Example output:\n```\n{example.expected}\n```"
            for example in problem.examples
        )
        return (
            "Write a program that reads from standard input and prints to standard output.\n\n"
            f"{statement(problem.plan)}\n\n{input_format(problem.plan)}\n\n"
            f"Print one integer. {_limits(problem)}\n\n{shown}\n\n{language.prompt}"
        )

    def verify(self, problem: StdioProgramProblem, answer: str) -> Verdict:
        shape = program(problem.plan)
        tests = [
            StdioTest(
                stdin_text(shape, draw_inputs(problem.plan, test.seed, test.size)), test.expected
            )
            for test in problem.tests
        ]
        return judge_stdio(answer, self.config.language, tests, limits=Limits(cpu_s=problem.cpu_s))

    def solve(self, problem: StdioProgramProblem) -> str:
        return emit(program(problem.plan), self.config.language)

    def effort(self, problem: StdioProgramProblem) -> int:
        """Count the words and signs of a Python program, once for each bit of the largest size."""
        largest = max(test.size for test in problem.tests)
        return code_length(emit(program(problem.plan), "python")) * largest.bit_length()

    def baseline(self, rng: Rng, problem: StdioProgramProblem) -> str:
        """Return a program that prints the output of the last example, whatever it reads."""
        return emit_constant(problem.examples[-1].expected, self.config.language)


def _varied(tests: list[PlannedTest]) -> bool:
    """Whether no output is that of most tests: a program that prints a constant earns nothing."""
    outputs = [test.expected for test in tests]
    return max(map(outputs.count, outputs)) <= len(outputs) // 2


def _bounds(inputs: list[dict[str, Value]]) -> Bounds:
    values = [value for given in inputs for value in given.values()]
    lists = [value for value in values if isinstance(value, list)]
    numbers = [value for value in values if isinstance(value, int)]
    return Bounds(
        max((len(value) for value in lists), default=0),
        max((len(value) for value in values if isinstance(value, str)), default=0),
        max(
            (abs(value) for value in [*numbers, *(item for xs in lists for item in xs)]), default=0
        ),
    )


def _limits(problem: StdioProgramProblem) -> str:
    bounds = problem.bounds
    parts = [
        f"lists have at most {bounds.items} items" if bounds.items else "",
        f"strings have at most {bounds.letters} characters" if bounds.letters else "",
        f"no integer has an absolute value above {bounds.number}" if bounds.number else "",
    ]
    stated = " and ".join(part for part in parts if part)
    return f"In all test inputs, {stated}. Each test may use {problem.cpu_s:g} seconds of CPU time."
