"""Translating a program into another language."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

from rlvr_envs.core.errors import ConfigError, did_you_mean
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.algorithms.plan import FAMILIES, Plan, answer, draw_plan, program
from rlvr_envs.generators.algorithms.telling_tests import make_test, telling_tests
from rlvr_envs.generators.code_length import code_length
from rlvr_envs.generators.programs.emit import EMITTED, emit, emit_constant
from rlvr_envs.generators.programs.interpret import interpret
from rlvr_envs.generators.programs.nodes import Program
from rlvr_envs.generators.programs.random_program import MAX_STEPS, random_program
from rlvr_envs.generators.programs.stdin import stdin_text
from rlvr_envs.generators.programs.telling_inputs import Inputs, telling_inputs, varied_inputs
from rlvr_envs.sandboxes import languages
from rlvr_envs.sandboxes.base import Limits
from rlvr_envs.verifiers.program import StdioTest, judge_stdio

_LIMITS = Limits(cpu_s=4.0)  # the programs need milliseconds: a limit only ends those that hang
_TRIES = 10
_SPARE = 2  # inputs beside those wanted, since some may be equal
_MORE = 4  # inputs beside those that tell mistakes, at least
_ALGORITHMS = 0.3  # share of programs that solve a question instead of being random


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeTranslationConfig(TaskConfig):
    """The languages, and the size of the program."""

    source: str = knob("javascript", "the language of the given program")
    target: str = knob("python", "the language of the answer")
    size: int = knob(8, "approximate number of statements", low=1)
    n_stages: int = knob(1, "list changes before the question, in programs that answer one", low=0)
    level: int = knob(4, "hardest level of question", low=0)
    n_tests: int = knob(12, "hidden tests, at least", low=8, high=50)

    def check(self) -> None:
        for language in (self.source, self.target):
            if language not in EMITTED:
                hint = did_you_mean(language, EMITTED)
                raise ConfigError(
                    f"no translation from or into {language!r}{hint} ({', '.join(EMITTED)})"
                )
        if self.source == self.target:
            raise ConfigError(f"source and target are both {self.source!r}: choose two languages")

    @classmethod
    def at(cls, difficulty: int) -> "CodeTranslationConfig":
        """Each level adds two statements; higher ones add list changes and harder questions."""
        return cls(size=2 + 2 * difficulty, n_stages=difficulty // 2, level=difficulty)


@dataclass(frozen=True, slots=True)
class Test:
    """An input and the output."""

    stdin: str
    expected: str


@dataclass(frozen=True, slots=True)
class CodeTranslationProblem:
    """The program, one example of its input and output, and hidden tests."""

    code: str
    example: Test
    translation: str = hidden()
    tests: tuple[Test, ...] = hidden()


@register("CodeTranslation-v0", domain="code", answer_format="fenced:{target}")
class CodeTranslationTask(Task[CodeTranslationConfig, CodeTranslationProblem]):
    """Translate a program into another language.

    Description:
        Most programs are random: loops, branches, lists, strings and helper functions, with
        divisions of negative numbers and copies of lists that languages treat differently. Others
        answer an algorithmic question. The source and the target are any two of fourteen languages.

    Observation:
        The program, and an example of its input and output.

    Action:
        A program in the language of the knob ``target``.

    Reward:
        1 if it prints what the given program prints, for every hidden input; otherwise 0.

    Verification:
        The program runs on at least eight hidden inputs other than the example, and its output is
        compared token by token with that of an interpreter of the programs' own form. Inputs are
        chosen so that copies of the program with a mistake in them print something else.
        A program that agrees on all of them but differs elsewhere passes.

    Difficulty:
        The number of statements grows, and with it nesting and helper functions.

    References:
        Roziere et al., "Unsupervised Translation of Programming Languages", 2020.
    """

    judged_in_sandbox: ClassVar[bool] = True

    def generate(self, rng: Rng) -> CodeTranslationProblem:
        shape, plan = self._draw(rng)
        plain = self._plain(rng, shape, plan)
        for _ in range(_TRIES):
            if _varied([test.expected for test in _tests(shape, plan, plain)]):
                break
            shape, plan = self._draw(rng)
            plain = self._plain(rng, shape, plan)
        if plan is None:
            telling = telling_inputs(rng, shape, varied_inputs(rng, shape))
        else:
            telling = [test.inputs for test in telling_tests(rng, plan)]
        missing = self.config.n_tests - len(telling)
        more = plain[1 : max(_MORE, missing + _SPARE) + 1]
        tests = _tests(shape, plan, [plain[0], *telling, *more])
        return CodeTranslationProblem(
            emit(shape, self.config.source), tests[0], emit(shape, self.config.target), tests[1:]
        )

    def _draw(self, rng: Rng) -> tuple[Program, Plan | None]:
        """Draw a program, and the question that it answers if it is not a random one."""
        config = self.config
        if rng.random() >= _ALGORITHMS:
            return random_program(rng, size=config.size), None
        names = [name for name, family in FAMILIES.items() if family.level <= config.level]
        plan = draw_plan(rng, names, config.n_stages, 3)
        return program(plan), plan

    def _plain(self, rng: Rng, shape: Program, plan: Plan | None) -> list[Inputs]:
        """Draw inputs as they come: the first is the example."""
        count = self.config.n_tests + _SPARE + 1
        if plan is None:
            return list(islice(varied_inputs(rng, shape), count))
        return [make_test(rng, plan, integer(rng, 4, 25)).inputs for _ in range(count)]

    def prompt(self, problem: CodeTranslationProblem) -> str:
        source, target = self.config.source, languages.find(self.config.target)
        return (
            f"Translate this {NAMES[source]} program into {NAMES[target.name]}. For every input, "
            "your program must print the same output as the given program; white space between "
            "words does not count. It is tested on other inputs of the same form as the example."
            "\n\n"
            f"```{languages.find(source).fence}\n{problem.code}```\n\n"
            f"Example input:\n```\n{problem.example.stdin}```\n"
            f"Example output:\n```\n{problem.example.expected.rstrip()}\n```\n\n{target.prompt}"
        )

    def verify(self, problem: CodeTranslationProblem, answer: str) -> Verdict:
        tests = [StdioTest(test.stdin, test.expected, empty_ok=True) for test in problem.tests]
        return judge_stdio(answer, self.config.target, tests, limits=_LIMITS)

    def solve(self, problem: CodeTranslationProblem) -> str:
        return problem.translation

    def effort(self, problem: CodeTranslationProblem) -> int:
        """Count the words and signs of the program to translate."""
        return code_length(problem.code)

    def baseline(self, rng: Rng, problem: CodeTranslationProblem) -> str:
        """Return a program that prints the output of the example, whatever it reads."""
        return emit_constant(problem.example.expected, self.config.target)


def _tests(shape: Program, plan: Plan | None, inputs: Iterable[Inputs]) -> tuple[Test, ...]:
    """Return different tests of a program."""
    tests: dict[str, Test] = {}
    for given in inputs:
        stdin = stdin_text(shape, given)
        if stdin in tests:
            continue
        if plan is None:
            output = interpret(shape, given, max_steps=MAX_STEPS).output
        else:
            output = str(answer(plan, given))
        tests[stdin] = Test(stdin, output)
    return tuple(tests.values())


def _varied(outputs: Sequence[str]) -> bool:
    """Whether no output is that of more than a third of the tests."""
    return max(map(outputs.count, outputs)) <= len(outputs) // 3


NAMES = {
    **{name: name.capitalize() for name in EMITTED},
    "cpp": "C++",
    "javascript": "JavaScript",
    "ocaml": "OCaml",
}
