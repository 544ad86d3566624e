"""Programs with mistakes in them, known to fail, and the tests that show it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.generators.algorithms.plan import FAMILIES, draw_inputs, draw_plan, input_format
from rlvr_envs.generators.algorithms.plan import program as plan_program
from rlvr_envs.generators.algorithms.plan import statement as plan_statement
from rlvr_envs.generators.programs.emit import emit
from rlvr_envs.generators.programs.interpret import IrError, interpret
from rlvr_envs.generators.programs.mutate import draw_mistakes, make
from rlvr_envs.generators.programs.nodes import Int, Print, Program, Value, Var
from rlvr_envs.generators.programs.random_program import random_inputs, random_program
from rlvr_envs.generators.programs.spoken import in_words, inputs_in_words
from rlvr_envs.generators.programs.stdin import stdin_text
from rlvr_envs.sandboxes import languages

_RANDOM = 0.5  # the share of random programs; the others answer a question
_PROGRAMS = 12  # programs tried
_TRIES = 3  # sets of mistakes tried in each
_MOST_STEPS = 12_000  # of a program on one input: the interpreter takes some 10 ms
_LEAST_FAILING = 2  # tests of either kind that the program with the mistakes fails


@dataclass(frozen=True, slots=True)
class Test:
    """An input, what should be printed, and what the program with the mistakes prints."""

    stdin: str
    expected: str
    printed: str

    @property
    def fails(self) -> bool:
        """Whether the mistakes show."""
        return self.printed.split() != self.expected.split()


@dataclass(frozen=True, slots=True)
class Subject:
    """A right program, what it should do in words, and how its inputs are drawn."""

    statement: str
    program: Program
    inputs: Callable[[Rng], dict[str, Value]]


@dataclass(frozen=True, slots=True)
class Repair:
    """A program with mistakes, the right one, and tests of which it fails some."""

    statement: str
    broken: str
    fixed: str
    n_mistakes: int
    public: tuple[Test, ...]
    hidden: tuple[Test, ...]


def draw_repair(
    rng: Rng, *, language: str, size: int, n_mistakes: int, n_public: int, n_hidden: int
) -> Repair:
    """Draw a program of a size and put mistakes into it, each of which a hidden test finds."""
    for _ in range(_PROGRAMS):
        subject = (_random_subject if rng.random() < _RANDOM else _asked_subject)(rng, size)
        inputs = _different_inputs(rng, subject, n_public + n_hidden)
        for _ in range(_TRIES if inputs else 0):
            found = _broken(rng, subject, inputs, n_mistakes, n_public)
            if found is not None:
                program, count, tests = found
                return Repair(
                    subject.statement,
                    emit(program, language),
                    emit(subject.program, language),
                    count,
                    tests[:n_public],
                    tests[n_public:],
                )
    return _last_resort(rng, language, n_public, n_hidden)


def _random_subject(rng: Rng, size: int) -> Subject:
    program = random_program(rng, size=size)
    statement = _spoken(program)
    return Subject(statement, program, lambda rng: random_inputs(rng, program))


def _spoken(program: Program) -> str:
    """Return what a program reads and does."""
    return f"Read from standard input:\n\n{inputs_in_words(program)}\n\n{in_words(program)}"


def _asked_subject(rng: Rng, size: int) -> Subject:
    """Draw a question in words whose answer a program finds."""
    names = [name for name, family in FAMILIES.items() if family.level <= size]
    plan = draw_plan(rng, names, stages=size // 3, most_parts=1 + size // 5)
    statement = f"{plan_statement(plan)}\n\n{input_format(plan)}"

    def inputs(rng: Rng) -> dict[str, Value]:
        return draw_inputs(plan, integer(rng, 0, 10**9), integer(rng, 2, 12))

    return Subject(statement, plan_program(plan), inputs)


def _different_inputs(rng: Rng, subject: Subject, count: int) -> list[dict[str, Value]]:
    """Return inputs of which no two are equal, or none where there are too few of them."""
    found: dict[str, dict[str, Value]] = {}
    for _ in range(4 * count):
        values = subject.inputs(rng)
        found.setdefault(stdin_text(subject.program, values), values)
        if len(found) == count:
            return list(found.values())
    return []


def _broken(
    rng: Rng,
    subject: Subject,
    inputs: list[dict[str, Value]],
    n_mistakes: int,
    n_public: int,
) -> tuple[Program, int, tuple[Test, ...]] | None:
    """Return a program with mistakes, how many, and what its tests are; or None."""
    runs = [interpret(subject.program, values) for values in inputs]
    most = 5 * max(run.steps for run in runs) + 1000
    if most > 5 * _MOST_STEPS:
        return None
    expected = [run.output for run in runs]

    def shows(program: Program) -> bool:
        """Whether one mistake alone fails a hidden test, by what it prints."""
        hidden = zip(inputs[n_public:], expected[n_public:], strict=True)
        try:
            return any(
                interpret(program, values, max_steps=most).output.split() != right.split()
                for values, right in hidden
            )
        except IrError:
            return False

    mistakes = draw_mistakes(rng, subject.program, n_mistakes, shows)
    if len(mistakes) < (n_mistakes + 1) // 2 or not mistakes:
        return None
    try:
        program = make(subject.program, mistakes)
        printed = [interpret(program, values, max_steps=most).output for values in inputs]
    except IrError:
        return None
    tests = tuple(
        Test(stdin_text(subject.program, values), right, wrong)
        for values, right, wrong in zip(inputs, expected, printed, strict=True)
    )
    failing = [sum(t.fails for t in part) for part in (tests[:n_public], tests[n_public:])]
    if min(failing) < _LEAST_FAILING or not all(map(str.strip, printed)):
        return None
    return program, len(mistakes), tests


def _last_resort(rng: Rng, language: str, n_public: int, n_hidden: int) -> Repair:
    step = integer(rng, 1, 10**6)
    right, wrong = (
        Program((("a", "int"),), (), (Print((Var("a") + Int(number),)),))
        for number in (step, step + 1)
    )
    tests = tuple(
        Test(f"{a}\n", f"{a + step}\n", f"{a + step + 1}\n") for a in range(n_public + n_hidden)
    )
    return Repair(
        _spoken(right),
        emit(wrong, language),
        emit(right, language),
        1,
        tests[:n_public],
        tests[n_public:],
    )


class Broken(Protocol):
    """What a problem says of a program with mistakes."""

    @property
    def statement(self) -> str:
        """What the program should do."""

    @property
    def source(self) -> str:
        """The program."""

    @property
    def language(self) -> str:
        """What it is written in."""

    @property
    def n_mistakes(self) -> int:
        """How many mistakes are in it."""


def task_in_words(problem: Broken) -> str:
    """Return what the program should do, and the program."""
    mistakes = "one mistake" if problem.n_mistakes == 1 else f"{problem.n_mistakes} mistakes"
    fence = languages.find(problem.language).fence
    return (
        f"A program has {mistakes}. This is what it should do:\n\n{problem.statement}\n\n"
        f"This is the program:\n\n```{fence}\n{problem.source.rstrip()}\n```"
    )


def failing_tests_in_words(tests: Sequence[Test]) -> str:
    """Return the inputs of tests, what should be printed and what is."""
    return "\n\n".join(
        f"For this input:\n\n```\n{test.stdin.rstrip()}\n```\n\nit should print:\n\n"
        f"```\n{test.expected.rstrip()}\n```\n\nbut it prints:\n\n"
        f"```\n{test.printed.rstrip()}\n```"
        for test in tests
    )
