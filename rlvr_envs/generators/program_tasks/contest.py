"""Contest problems: a technique, rules that come and go, stories, forms of input, special judges.

A `Contest` is a `Program` whose problems differ by more than numbers. Rules are constants that are
0 where they do not apply; a rule changes the algorithm that is needed. A story words the same
question anew, and a form orders what is read. Where several outputs are right, a judge of ours
reads them. Tests are chosen by the wrong programs that they tell from a right one: the reference
with one operator or number wrong, with a constant one off, without one of the rules, and the
mistakes that the author wrote down. The last tests are large, so that slow programs run out of
time.
"""

import inspect
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.seeding import Rng, draw_seed, integer, pick, stream
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.program_tasks.program_task import (
    Example,
    Kind,
    Program,
    Solution,
    Values,
    near_misses,
    output_text,
    run_solution,
    scale_at,
    stdin_text,
)
from rlvr_envs.generators.wrong_functions import edited_function, most_telling, telling
from rlvr_envs.sandboxes.base import Limits
from rlvr_envs.verifiers.program import StdioTest, judge_stdio, tokens

Accepts: TypeAlias = Callable[[list[int], Any, Values, Values], str]

LIMITS = Limits(cpu_s=2.0, memory_mib=512)  # of each test

_NEAR_MISSES = 16  # of the reference, drawn for each problem
_EXAMPLES = 3  # inputs that those shown are chosen from
_EXAMPLE_TRIES = 60
_MOST_NUMBERS = 1_000_000
_SPACE = re.compile(r"[ \t\n\r\f\v]+")
_NOTE = re.compile(
    r"  # noqa:.*"
)  # is for the linter of this package, not for who reads the program
_NOTHING: dict[Kind, str] = {"int": "0", "str": "''", "list": "[]", "rows": "[]"}  # if absent
_INTEGER = re.compile(r"[+-]?[0-9]{1,30}")


@dataclass(frozen=True, kw_only=True)
class Contest(Program):
    """What a contest problem is made of, beside what every `Program` is made of.

    The statement is a function of the constants; its result has gaps ``{word}`` for the words of
    the story and the constants.

    Attributes:
        stories: the words of each story, by the story's name.
        columns: of each input that is ``rows``, what its columns are called, in the order of the
            tuples. A problem may have them in another order.
        meaning: what each input is, with gaps for the words of the story.
        absent: returns the inputs and columns, by name, that a problem with these constants does
            not have. Solutions get 0, or an empty word or list, for such an input, and 0 in such
            a column; `inputs` has to draw them so.
        output: what is to be printed, as a function of the constants.
        work: the steps that the reference takes on the largest inputs, about, given the scale and
            the constants.
        rules: the constants that are 0 where the rule does not apply.
        mistakes: solutions that are wrong in a way that people are; tests tell them.
        edits: mistakes as changes of the reference: a piece of its text, what stands there
            instead, and, if the change is none without a rule, this rule.
        tried: levels of scale of the inputs that are tried for what they tell: small ones, in
            little time, tell most, and a few larger ones what only long inputs show.
        patience: how many of these in a row may tell nothing before the rest is left out.
        accepts: says what is wrong with an output of integers, or returns the empty text, given the
            output, the reference's result, the inputs and the constants. Without it the output has
            to be the reference's.
        dull: outputs that say little, which examples avoid.
        dull_words: so are outputs that are made of these alone.
    """

    stories: Mapping[str, Mapping[str, str]]
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    meaning: Mapping[str, str]
    output: Callable[[Values], str]
    work: Callable[[Mapping[str, int], Values], float]
    rules: Sequence[str] = ()
    mistakes: Sequence[Solution] = ()
    edits: Sequence[tuple[str, str] | tuple[str, str, str]] = ()
    absent: Callable[[Values], Collection[str]] | None = None
    tried: Sequence[int] = (0, 1, 2, 0, 2, 1, 2, 3, 4, 5, 6)
    patience: int = 8
    accepts: Accepts | None = None
    dull: Sequence[str] = ("0", "-1")
    dull_words: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """How inputs are written.

    Attributes:
        order: the names of the inputs, in the order in which they are read.
        columns: for each of them the order of its columns; empty where it has none.
    """

    order: tuple[str, ...]
    columns: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A test: its inputs follow from the seed and the level of scale."""

    seed: int
    level: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestConfig(TaskConfig):
    """How many rules there are, and how large the inputs get."""

    level: int = knob(8, "scale of rules and inputs", low=0, high=1000)
    n_tests: int = knob(10, "hidden tests of up to the full size, at least", low=6, high=100)
    n_timed: int = knob(2, "further hidden tests of the full size", low=1, high=20)

    @classmethod
    def at(cls, difficulty: int) -> "ContestConfig":
        """Rules come in one after the other, and inputs grow; the scale is twice the difficulty."""
        return cls(level=min(2 * difficulty, 1000), n_tests=min(10 + difficulty, 100))


@dataclass(frozen=True, slots=True)
class ContestProblem:
    """The constants and rules, the story, the form of the input, examples, and the tests."""

    constants: tuple[tuple[str, int], ...]
    story: str
    form: Form
    shown: tuple[Example, ...]
    tests: tuple[Drawn, ...] = hidden()
    timed: tuple[Drawn, ...] = hidden()


class ContestTask(Task[ContestConfig, ContestProblem]):
    """A task that is made by setting `contest`; subclasses are registered and documented."""

    contest: ClassVar[Contest]
    judged_in_sandbox: ClassVar[bool] = True

    def generate(self, rng: Rng) -> ContestProblem:
        config, contest = self.config, self.contest
        constants = dict(contest.constants(rng, scale_at(contest, config.level)))
        wrong = self._wrong(rng, constants)
        shown = self._shown(rng, constants, wrong)
        seen = {stdin_text(contest, self._inputs(constants, drawn)) for drawn in shown}
        tests = list(self._telling(rng, constants, wrong, seen))
        while len(tests) < config.n_tests:
            lowest = config.level * len(tests) // config.n_tests
            tests.append(Drawn(draw_seed(rng), integer(rng, lowest, config.level)))
        form = _draw_form(rng, contest, constants)
        return ContestProblem(
            constants=tuple(constants.items()),
            story=pick(rng, sorted(contest.stories)),
            form=form,
            shown=tuple(self._example(constants, form, drawn) for drawn in shown),
            tests=tuple(tests),
            timed=tuple(Drawn(draw_seed(rng), config.level) for _ in range(config.n_timed)),
        )

    def _wrong(self, rng: Rng, constants: Values) -> list[tuple[Solution, Values]]:
        """Return wrong programs: mistakes, a rule left out, and some near misses."""
        contest, first = self.contest, self.contest.solutions[0]
        edits = [edit for edit in contest.edits if len(edit) < 3 or constants[edit[2]]]
        mistakes = [*contest.mistakes, *(edited_function(first, *edit[:2]) for edit in edits)]
        found = [(mistake, constants) for mistake in mistakes]
        found += [(first, {**constants, rule: 0}) for rule in contest.rules if constants[rule]]
        near = near_misses([first], constants)
        places = rng.permutation(len(near))[:_NEAR_MISSES].tolist()
        return found + [near[place] for place in sorted(places)]

    def _shown(
        self, rng: Rng, constants: Values, wrong: Sequence[tuple[Solution, Values]]
    ) -> list[Drawn]:
        """Draw two small examples whose outputs say something and tell most wrong programs."""
        found: list[Drawn] = []
        dull: list[Drawn] = []
        outputs: Counter[str] = Counter()
        for _ in range(_EXAMPLE_TRIES):
            drawn = Drawn(draw_seed(rng), integer(rng, 0, min(2, self.config.level)))
            inputs = self._inputs(constants, drawn)
            output = output_text(run_solution(self.contest.solutions[0], inputs, constants))
            poor = output in self.contest.dull or outputs[output]
            poor = poor or set(output.split()) <= set(self.contest.dull_words)
            outputs[output] += 1
            (dull if poor else found).append(drawn)
            if len(found) == _EXAMPLES:
                break
        candidates = found if len(found) >= 2 else found + dull[: 2 - len(found)]
        return most_telling(candidates, len(wrong), self._teller(constants, wrong), 2)

    def _telling(
        self,
        rng: Rng,
        constants: Values,
        wrong: Sequence[tuple[Solution, Values]],
        seen: set[str],
    ) -> Iterator[Drawn]:
        drawn = [
            Drawn(draw_seed(rng), min(level, self.config.level)) for level in self.contest.tried
        ]
        new = [
            each
            for each in drawn
            if stdin_text(self.contest, self._inputs(constants, each)) not in seen
        ]
        return telling(
            new, len(wrong), self._teller(constants, wrong), patience=self.contest.patience
        )

    def _teller(
        self, constants: Values, wrong: Sequence[tuple[Solution, Values]]
    ) -> Callable[[Drawn, int], bool]:
        known: dict[Drawn, tuple[Values, Any]] = {}

        def told(drawn: Drawn, number: int) -> bool:
            if drawn not in known:
                inputs = self._inputs(constants, drawn)
                known[drawn] = (
                    inputs,
                    run_solution(self.contest.solutions[0], inputs, constants),
                )
            solution, changed = wrong[number]
            return bool(
                fault_of(
                    self.contest, solution, known[drawn][0], constants, known[drawn][1], changed
                )
            )

        return told

    def _inputs(self, constants: Values, drawn: Drawn) -> Values:
        """Return the inputs of a test."""
        scale = scale_at(self.contest, drawn.level)
        return self.contest.inputs(stream("contest", drawn.seed), scale, constants)

    def _example(self, constants: Values, form: Form, drawn: Drawn) -> Example:
        inputs = self._inputs(constants, drawn)
        result = run_solution(self.contest.solutions[0], inputs, constants)
        return Example(written(self.contest, form, inputs), output_text(result))

    def prompt(self, problem: ContestProblem) -> str:
        contest, constants = self.contest, dict(problem.constants)
        words = {**contest.stories[problem.story], **constants}
        statement = contest.statement
        text = statement if isinstance(statement, str) else statement(constants)
        limits = contest.limits
        scale = scale_at(contest, self.config.level)
        sizes = f"{limits(scale, constants).format(**words)} " if limits else ""
        examples = "\n\n".join(
            f"Input:\n```\n{example.stdin}```\nOutput:\n```\n{example.stdout}\n```"
            for example in problem.shown
        )
        return (
            f"{textwrap.dedent(text).strip().format(**words)}\n\n"
            "The program reads from standard input, in this order:\n"
            f"{_reading(contest, problem.form, words)}\n\n"
            f"{contest.output(constants).format(**words)}\n\n"
            f"{sizes}Each test may use {LIMITS.cpu_s:g} s of CPU time and {LIMITS.memory_mib} MiB "
            f"of memory.\n\n{examples}\n\n"
            "Write this program in Python, using only the standard library."
        )

    def verify(self, problem: ContestProblem, answer: str) -> Verdict:
        """Run the small tests first; what is expected of the large ones is worked out after."""
        passed, total = 0.0, float(len(problem.tests) + len(problem.timed))
        verdict = Verdict.wrong("there are no tests")
        for tests in (problem.tests, problem.timed):
            verdict = self._judge(problem, tests, answer)
            passed += verdict.parts.get("tests_passed", 0.0)
            if verdict.score < 1.0:
                break
        parts = {**verdict.parts, "tests_passed": passed, "tests_total": total}
        parts["fraction"] = passed / total
        return Verdict(verdict.score, verdict.status, verdict.detail, parts)

    def _judge(self, problem: ContestProblem, tests: Sequence[Drawn], answer: str) -> Verdict:
        contest, constants = self.contest, dict(problem.constants)
        known: dict[str, tuple[Values, Any]] = {}
        for drawn in tests:
            inputs = self._inputs(constants, drawn)
            result = run_solution(contest.solutions[0], inputs, constants)
            known[written(contest, problem.form, inputs)] = inputs, result

        def check(stdin: str, stdout: str) -> str:
            inputs, result = known[stdin]
            return fault(contest, stdout, inputs, constants, result)

        cases = [StdioTest(stdin, output_text(result)) for stdin, (_, result) in known.items()]
        return judge_stdio(answer, "python", cases, limits=LIMITS, checker=check)

    def solve(self, problem: ContestProblem) -> str:
        return self.program_of(problem, self.contest.solutions[0])

    def program_of(self, problem: ContestProblem, function: Solution) -> str:
        """Return a solution, or a mistake, as a whole program for a problem."""
        return program_text(self.contest, problem.form, function, dict(problem.constants))

    def passes(self, problem: ContestProblem, function: Solution, **changed: int) -> bool:
        """Whether a function of ours passes the tests that are not timed.

        Args:
            problem: whose tests.
            function: takes inputs and constants as solutions do.
            changed: constants that it gets instead of the problem's.
        """
        constants = dict(problem.constants)
        for drawn in problem.tests:
            inputs = self._inputs(constants, drawn)
            result = run_solution(self.contest.solutions[0], inputs, constants)
            given = {**constants, **changed}
            if fault_of(self.contest, function, inputs, constants, result, given):
                return False
        return True

    def effort(self, problem: ContestProblem) -> float:
        """Return the steps of the reference on the largest inputs, as `Contest.work` tells them."""
        scale = scale_at(self.contest, self.config.level)
        return self.contest.work(scale, dict(problem.constants))

    def baseline(self, rng: Rng, problem: ContestProblem) -> str:
        """Return a program that prints the output of the last example, whatever it reads."""
        return f"print({problem.shown[-1].stdout!r})"


def fault(contest: Contest, output: str, inputs: Values, constants: Values, result: Any) -> str:
    """Return what is wrong with an output, or the empty text, given the reference's result."""
    if contest.accepts is None:
        return tokens(output_text(result), output)
    found = integers_of(output)
    if found is None:
        return "the output is not made of integers"
    return contest.accepts(found, result, inputs, constants)


def fault_of(
    contest: Contest,
    function: Solution,
    inputs: Values,
    constants: Values,
    result: Any,
    given: Values,
) -> str:
    """Return what is wrong with a function of ours on an input, or the empty text.

    Args:
        contest: the problem.
        function: takes inputs and constants as solutions do.
        inputs: what it gets.
        constants: of the problem.
        result: the reference's.
        given: the constants that the function gets.
    """
    try:
        output = output_text(run_solution(function, inputs, given))
    except Exception as error:  # noqa: BLE001  # a wrong function may fail in any way
        return f"it fails: {error}"
    return fault(contest, output, inputs, constants, result)


def integers_of(text: str) -> list[int] | None:
    """Return the integers that a text consists of, or None if it is anything else."""
    words = [word for word in _SPACE.split(text) if word]
    if len(words) > _MOST_NUMBERS or not all(map(_INTEGER.fullmatch, words)):
        return None
    return [int(word) for word in words]


def _draw_form(rng: Rng, contest: Contest, constants: Values) -> Form:
    absent = contest.absent(constants) if contest.absent else ()
    order = [name for name in contest.reads if name not in absent]
    rng.shuffle(order)
    columns: list[tuple[int, ...]] = []
    for name in order:
        named = contest.columns.get(name, ())
        places = [place for place, column in enumerate(named) if column not in absent]
        rng.shuffle(places)
        columns.append(tuple(places))
    return Form(tuple(order), tuple(columns))


def written(contest: Contest, form: Form, inputs: Values) -> str:
    """Return inputs as a program reads them, in a form."""
    turned = {
        name: [[row[place] for place in places] for row in inputs[name]] if places else inputs[name]
        for name, places in zip(form.order, form.columns, strict=True)
    }
    return stdin_text(_in_order(contest, form), turned)


def _in_order(contest: Contest, form: Form) -> Program:
    """Return what `stdin_text` looks at: the inputs in the order of a form."""
    reads = {name: contest.reads[name] for name in form.order}
    return Program(
        contest.statement,
        contest.scale,
        contest.constants,
        reads,
        contest.inputs,
        contest.solutions,
    )


def _reading(contest: Contest, form: Form, words: Values) -> str:
    lines = []
    for name, places in zip(form.order, form.columns, strict=True):
        meaning = contest.meaning[name].format(**words)
        match contest.reads[name]:
            case "int":
                text = f"a line with the integer `{name}`, {meaning}"
            case "str":
                text = f"a line with the word `{name}`, {meaning}"
            case "list":
                text = (
                    f"a line with the length of the list `{name}`, then a line with its integers: "
                    f"{meaning}"
                )
            case _:
                named = ", ".join(contest.columns[name][place] for place in places)
                text = (
                    f"a line with the number of rows of `{name}`, then a line for each row: "
                    f"{meaning}. The integers of a row are, in this order: {named.format(**words)}"
                )
        lines.append(f"- {text}")
    return "\n".join(lines)


def program_text(contest: Contest, form: Form, function: Solution, constants: Values) -> str:
    """Return a solution as a whole program that reads inputs in a form."""
    source = _NOTE.sub("", textwrap.dedent(inspect.getsource(function)).strip())
    given = []
    for name, places in zip(form.order, form.columns, strict=True):
        match contest.reads[name]:
            case "int":
                reader = "int(input())"
            case "str":
                reader = "input().strip()"
            case "list":
                reader = "read_list()"
            case _:
                taken = ", ".join(
                    f"row[{places.index(at)}]" if at in places else "0"
                    for at in range(len(contest.columns[name]))
                )
                reader = f"[({taken},) for row in read_rows()]"
        given.append(f"    {name}={reader},")
    given += [
        f"    {name}={_NOTHING[kind]},"
        for name, kind in contest.reads.items()
        if name not in form.order
    ]
    given += [f"    {name}={value!r}," for name, value in constants.items()]
    return "\n".join(
        [
            "from __future__ import annotations\n\n",
            "def read_list():\n    input()\n    return [int(word) for word in input().split()]\n\n",
            "def read_rows():",
            "    return [[int(word) for word in input().split()] for _ in range(int(input()))]\n\n",
            f"{source}\n\n",
            f"result = {function.__name__}(",
            *given,
            ")",
            "print(*result) if isinstance(result, (list, tuple)) else print(result)",
        ]
    )
