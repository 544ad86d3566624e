"""Translating a program into another language."""

from dataclasses import dataclass
from typing import ClassVar

from rlvr_envs.core.errors import ConfigError, did_you_mean
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, draw_seed, integer
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.algorithms.plan import FAMILIES, answer, draw_inputs, draw_plan, program
from rlvr_envs.generators.programs.emit import EMITTED, emit
from rlvr_envs.generators.programs.interpret import interpret
from rlvr_envs.generators.programs.nodes import Program
from rlvr_envs.generators.programs.random_program import MAX_STEPS, random_inputs, random_program
from rlvr_envs.generators.programs.stdin import stdin_text
from rlvr_envs.sandboxes import languages
from rlvr_envs.sandboxes.base import Limits
from rlvr_envs.verifiers.program import StdioTest, judge_stdio

_LIMITS = Limits(cpu_s=4.0)  # the programs need milliseconds: a limit only ends those that hang
_TRIES = 10
_ALGORITHMS = 0.3  # share of programs that solve a question instead of being random


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeTranslationConfig(TaskConfig):
    """The languages, and the size of the program."""

    source: str = knob("javascript", "the language of the given program")
    target: str = knob("python", "the language of the answer")
    size: int = knob(8, "approximate number of statements", low=1)
    n_stages: int = knob(1, "list changes before the question, in programs that answer one", low=0)
    level: int = knob(4, "hardest level of question", low=0)
    n_tests: int = knob(12, "hidden tests", low=8, high=50)

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
        compared token by token with that of an interpreter of the programs' own form. The hidden
        outputs differ from each other. A program that agrees on all of them but differs elsewhere
        passes.

    Difficulty:
        The number of statements grows, and with it nesting and helper functions.

    References:
        Roziere et al., "Unsupervised Translation of Programming Languages", 2020.
    """

    judged_in_sandbox: ClassVar[bool] = True

    def generate(self, rng: Rng) -> CodeTranslationProblem:
        shape, tests = self._draw(rng)
        for _ in range(_TRIES):
            outputs = [test.expected for test in tests]
            if max(map(outputs.count, outputs)) <= len(outputs) // 3:
                break
            shape, tests = self._draw(rng)
        return CodeTranslationProblem(
            emit(shape, self.config.source),
            tests[0],
            emit(shape, self.config.target),
            tests[1:],
        )

    def _draw(self, rng: Rng) -> tuple[Program, tuple[Test, ...]]:
        """Draw a program, and tests of it: the example, then the hidden ones."""
        config = self.config
        tests: dict[str, str] = {}
        if rng.random() < _ALGORITHMS:
            names = [name for name, family in FAMILIES.items() if family.level <= config.level]
            plan = draw_plan(rng, names, config.n_stages, 3)
            shape = program(plan)
            for number in range(config.n_tests + 1):
                given = draw_inputs(plan, draw_seed(rng), 4 + 2 * number)
                tests[stdin_text(shape, given)] = str(answer(plan, given))
        else:
            shape = random_program(rng, size=config.size)
            for number in range(config.n_tests + 1):
                given = random_inputs(
                    rng, shape, length=4 + integer(rng, 0, number), magnitude=12 + 8 * number
                )
                output = interpret(shape, given, max_steps=MAX_STEPS).output
                tests[stdin_text(shape, given)] = output
        return shape, tuple(Test(stdin, expected) for stdin, expected in tests.items())

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


NAMES = {
    **{name: name.capitalize() for name in EMITTED},
    "cpp": "C++",
    "javascript": "JavaScript",
    "ocaml": "OCaml",
}
