"""Programs with mistakes in them, known to fail, and the tests that show it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Protocol

from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.generators.algorithms.plan import FAMILIES, draw_plan, input_format
from rlvr_envs.generators.algorithms.plan import program as plan_program
from rlvr_envs.generators.algorithms.plan import statement as plan_statement
from rlvr_envs.generators.algorithms.telling_tests import make_test, telling_tests
from rlvr_envs.generators.programs.emit import emit
from rlvr_envs.generators.programs.interpret import IrError, StepLimit, interpret
from rlvr_envs.generators.programs.mutate import draw_mistakes
from rlvr_envs.generators.programs.nodes import Int, Print, Program, Var
from rlvr_envs.generators.programs.random_program import random_program
from rlvr_envs.generators.programs.spoken import in_words, inputs_in_words
from rlvr_envs.generators.programs.stdin import stdin_text
from rlvr_envs.generators.programs.telling_inputs import Inputs, telling_inputs, varied_inputs
from rlvr_envs.sandboxes import languages

_RANDOM = 0.5  # the share of random programs; the others answer a question
_PROGRAMS = 12  # programs tried
_TRIES = 3  # sets of mistakes tried in each
_MOST_STEPS = 12_000  # of a program on one input: the interpreter takes some 10 ms
_MORE = 4  # hidden inputs beside those that tell mistakes, at least
_OTHERS = 10  # inputs that public tests are chosen from
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
    """A right program, what it should do in words, and inputs."""

    statement: str  # the words
    program: Program  # the program
    inputs: Callable[[Rng], Iterator[Inputs]]  # draws inputs without end
    telling: Sequence[Inputs]  # inputs for which most programs with a mistake print something else


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
    """Draw a program of a size and put mistakes into it, each of which a hidden test finds.

    There are ``n_hidden`` hidden tests, or more where it takes more to find most mistakes.
    """
    for _ in range(_PROGRAMS):
        subject = (_random_subject if rng.random() < _RANDOM else _asked_subject)(rng, size)
        hidden, others = _different_inputs(rng, subject, n_hidden)
        for _ in range(_TRIES if others else 0):
            found = _broken(rng, subject, hidden, n_mistakes)
            if found is None:
                continue
            program, count = found
            public = _shown_first(_tests(subject.program, program, others))[:n_public]
            tests = _tests(subject.program, program, hidden)
            if min(_failing(public), _failing(tests)) >= _LEAST_FAILING:
                return Repair(
                    subject.statement,
                    emit(program, language),
                    emit(subject.program, language),
                    count,
                    public,
                    tests,
                )
    return _last_resort(rng, language, n_public, n_hidden)


def _random_subject(rng: Rng, size: int) -> Subject:
    program = random_program(rng, size=size)
    statement = _spoken(program)
    found = telling_inputs(rng, program, varied_inputs(rng, program))
    return Subject(statement, program, lambda rng: varied_inputs(rng, program), found)


def _spoken(program: Program) -> str:
    """Return what a program reads and does."""
    return f"Read from standard input:\n\n{inputs_in_words(program)}\n\n{in_words(program)}"


def _asked_subject(rng: Rng, size: int) -> Subject:
    """Draw a question in words whose answer a program finds."""
    names = [name for name, family in FAMILIES.items() if family.level <= size]
    plan = draw_plan(rng, names, stages=size // 3, most_parts=1 + size // 5)
    statement = f"{plan_statement(plan)}\n\n{input_format(plan)}"

    def inputs(rng: Rng) -> Iterator[Inputs]:
        while True:
            yield make_test(rng, plan, integer(rng, 2, 12)).inputs

    found = [test.inputs for test in telling_tests(rng, plan)]
    return Subject(statement, plan_program(plan), inputs, found)


def _different_inputs(
    rng: Rng, subject: Subject, n_hidden: int
) -> tuple[list[Inputs], list[Inputs]]:
    """Return hidden inputs and others, all different; or none where there are too few."""
    found: dict[str, Inputs] = {}
    n_hidden = max(n_hidden, len(subject.telling) + _MORE)
    for values in chain(subject.telling, islice(subject.inputs(rng), 4 * (n_hidden + _OTHERS))):
        found.setdefault(stdin_text(subject.program, values), values)
        if len(found) == n_hidden + _OTHERS:
            every = list(found.values())
            return every[:n_hidden], every[n_hidden:]
    return [], []


def _broken(
    rng: Rng, subject: Subject, hidden: list[Inputs], n_mistakes: int
) -> tuple[Program, int] | None:
    """Return a program with mistakes that ends for every input, and how many; or None."""
    try:
        runs = [interpret(subject.program, each, max_steps=_MOST_STEPS) for each in hidden]
    except StepLimit:
        return None
    expected = [run.output.split() for run in runs]
    most = 5 * max(run.steps for run in runs) + 1000
    current = subject.program

    def accept(alone: Program, together: Program) -> bool:
        """Whether a mistake alone fails a hidden test, and does not stop the whole program."""
        nonlocal current
        try:
            printed = [interpret(alone, each, max_steps=most).output.split() for each in hidden]
            whole = [interpret(together, each, max_steps=most).output.strip() for each in hidden]
        except IrError:
            return False
        if printed == expected or not all(whole):
            return False
        current = together
        return True

    mistakes = draw_mistakes(rng, subject.program, n_mistakes, accept)
    if len(mistakes) < (n_mistakes + 1) // 2 or not mistakes:
        return None
    return current, len(mistakes)


def _tests(right: Program, wrong: Program, inputs: Sequence[Inputs]) -> tuple[Test, ...]:
    """Return tests of the inputs for which the wrong program ends by itself."""
    tests = []
    for values in inputs:
        run = interpret(right, values)
        try:
            printed = interpret(wrong, values, max_steps=5 * run.steps + 20_000).output
        except IrError:
            continue
        if printed.strip():
            tests.append(Test(stdin_text(right, values), run.output, printed))
    return tuple(tests)


def _shown_first(tests: Sequence[Test]) -> tuple[Test, ...]:
    """Return tests with two that fail in front, of different outputs if there are such."""
    failing = [test for test in tests if test.fails]
    outputs = [test.expected for test in failing]
    fresh = [test for at, test in enumerate(failing) if test.expected not in outputs[:at]]
    front = [*fresh, *(test for test in failing if test not in fresh)][:_LEAST_FAILING]
    return (*front, *(test for test in tests if test not in front))


def _failing(tests: Sequence[Test]) -> int:
    return sum(test.fails for test in tests)


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
