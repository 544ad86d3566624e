"""Composition of string functions: write the code of a nested expression of numbered functions."""

from collections.abc import Sequence
from dataclasses import dataclass

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.code_length import code_length
from rlvr_envs.generators.specified_functions.definitions import definition
from rlvr_envs.generators.string_functions import (
    FUNCTIONS,
    LETTERS,
    Argument,
    StringFunction,
    literal,
    numbers_of,
)
from rlvr_envs.verifiers.program import Call, judge_function

SIDES = ("all", "train", "held_out")
DEFINITIONS = ("code", "words", "examples", "none")
_EXAMPLES = 3  # shown values of the composition
_TESTS = 12  # hidden ones
_SHOWN_CALLS = 10  # examples of a function that is not described
_LONGEST = 400  # of any intermediate string
_TRIES = 24
_PARAMETERS = {"": "s", "number": "s, n"}  # of all other kinds: two strings
_ALPHABET = LETTERS + "aeiou" + "ABCDEFGH" + "0123" + "-_|" + "    "


@dataclass(frozen=True, slots=True, kw_only=True)
class StringFunctionCodeConfig(TaskConfig):
    """How deep the composition is, of which functions, and what is said about them."""

    depth: int = knob(3, "functions applied one after another", low=1)
    functions: str = knob(
        "all", 'functions used: "all", or one side of the split "train" | "held_out"', choices=SIDES
    )
    definitions: str = knob(
        "words", 'how they are given: "code", "words", "examples" or "none"', choices=DEFINITIONS
    )

    @classmethod
    def at(cls, difficulty: int) -> "StringFunctionCodeConfig":
        """Each level is one function deeper; from level 3 on, functions are given by examples."""
        return cls(depth=1 + difficulty, definitions="words" if difficulty < 3 else "examples")


@dataclass(frozen=True, slots=True)
class StringFunctionCodeProblem:
    """The expression, what is said of its functions, values of it, and hidden tests."""

    expression: str
    functions: tuple[str, ...]
    examples: tuple[tuple[str, str], ...]
    tests: tuple[tuple[str, str], ...] = hidden()
    source: str = hidden()


@dataclass(frozen=True, slots=True)
class _Term:
    """An expression, and its value at every input."""

    text: str
    values: tuple[str, ...]


@register("StringFunctionCode-v0", domain="code", answer_format="fenced:python")
class StringFunctionCodeTask(Task[StringFunctionCodeConfig, StringFunctionCodeProblem]):
    """Write the Python function that a composition of numbered string functions defines.

    Description:
        A nested expression of functions `func_0` to `func_24` is given; which function has which
        number never changes. The functions it uses are described in words or in code, or only by
        examples of their values, or (for a model that has met them before) not at all. Joins and
        interlacings of two sub-expressions occur. One knob restricts the functions to thirteen
        for training or to the twelve others, to separate a skill from memory.

    Observation:
        The expression, the functions, and three examples.

    Action:
        Python source that defines `main(x)` and all that it needs.

    Reward:
        1 if `main` returns the right string on every hidden test, otherwise 0.

    Verification:
        The code runs in a sandbox on twelve hidden inputs; the values are compared outside.
        Functions given by examples alone are pinned down by ten calls each, which another
        function could share in principle; the hidden inputs decide.

    Difficulty:
        The depth grows by one a level; from level 3 on, functions are given only by examples.

    References:
        Yuan et al., From f(x) and g(x) to f(g(x)): LLMs Learn New Skills in RL by Composing Old
        Ones, arXiv:2509.25123.
    """

    judged_in_sandbox = True

    def generate(self, rng: Rng) -> StringFunctionCodeProblem:
        inputs = _inputs(rng, _EXAMPLES + _TESTS)
        allowed = numbers_of(self.config.functions)
        used: dict[int, Argument | None] = {}
        term = _Term("x", inputs)
        for _ in range(self.config.depth):
            term = _grown(rng, term, inputs, allowed, used)
        pairs = tuple(zip(inputs, term.values, strict=True))
        shown = tuple(
            _shown(rng, number, used[number], self.config.definitions) for number in sorted(used)
        )
        return StringFunctionCodeProblem(
            term.text,
            shown,
            pairs[:_EXAMPLES],
            pairs[_EXAMPLES:],
            _source(sorted(used), term.text),
        )

    def prompt(self, problem: StringFunctionCodeProblem) -> str:
        examples = "\n".join(f"main({x!r}) == {y!r}" for x, y in problem.examples)
        functions = "\n\n".join(problem.functions)
        alone = "Your code must define every `func_...` that it uses. " if functions else ""
        joins = ", where `+` concatenates strings" if " + " in problem.expression else ""
        if functions:
            told = "The expression uses these functions on strings:"
            if self.config.definitions == "examples":
                told = (
                    "Here are example calls of each function in it. Find out what each function "
                    "does:"
                )
            functions = f"{told}\n\n{functions}\n\n"
        return (
            "Write a Python function `main(x)` that takes a string x and returns the value of this "
            f"expression{joins}:\n\n```\n{problem.expression}\n```\n\n"
            f"{functions}Examples:\n\n```\n{examples}\n```\n\n"
            f"{alone}Your code is tested on other strings of lower-case letters and spaces."
        )

    def verify(self, problem: StringFunctionCodeProblem, answer: str) -> Verdict:
        calls = [Call((x,), y) for x, y in problem.tests]
        return judge_function(answer, "main", calls)

    def solve(self, problem: StringFunctionCodeProblem) -> str:
        return problem.source

    def effort(self, problem: StringFunctionCodeProblem) -> int:
        """Count the words and signs of the reference solution."""
        return code_length(problem.source)

    def baseline(self, rng: Rng, problem: StringFunctionCodeProblem) -> str:
        """Return a function that returns its argument unchanged."""
        return "def main(x):\n    return x"


def _inputs(rng: Rng, count: int) -> tuple[str, ...]:
    """Return distinct inputs of three to ten letters; every third one has a space in it."""
    drawn: dict[str, None] = {}
    while len(drawn) < count:
        text = [pick(rng, LETTERS + "aeiou") for _ in range(integer(rng, 3, 10))]
        if len(drawn) % 3 == 2:
            text.insert(integer(rng, 1, len(text) - 1), " ")
        drawn["".join(text)] = None
    return tuple(drawn)


def _grown(
    rng: Rng,
    term: _Term,
    inputs: tuple[str, ...],
    allowed: Sequence[int],
    used: dict[int, Argument | None],
) -> _Term:
    """Return the term inside one more operation that changes it and keeps it in bounds."""
    for _ in range(_TRIES):
        if rng.random() < 0.1:
            other = _Term("x", inputs) if rng.random() < 0.5 else _constant(rng, len(inputs))
            grown, number, argument = _joined(rng, term, other), None, None
        else:
            number = pick(rng, allowed)
            grown, argument = _applied(rng, number, term, inputs)
        if _is_telling(term, grown):
            if number is not None:
                used.setdefault(number, argument)
            return grown
    # Rotations and shifts keep the length and lose nothing.
    number = 8 if 8 in allowed else 11
    grown, argument = _applied(rng, number, term, inputs)
    used.setdefault(number, argument)
    return grown


def _is_telling(before: _Term, after: _Term) -> bool:
    """Whether the values stay short and varied, and a third of them changed at least."""
    count = len(after.values)
    changed = sum(a != b for a, b in zip(before.values, after.values, strict=True))
    return (
        max(map(len, after.values)) <= _LONGEST
        and len(set(after.values)) >= count - 2
        and changed >= count // 3
    )


def _constant(rng: Rng, count: int) -> _Term:
    text = literal(rng)
    return _Term(repr(text), (text,) * count)


def _joined(rng: Rng, one: _Term, other: _Term) -> _Term:
    if rng.random() < 0.5:
        one, other = other, one
    values = tuple(a + b for a, b in zip(one.values, other.values, strict=True))
    return _Term(f"({one.text} + {other.text})", values)


def _applied(
    rng: Rng, number: int, term: _Term, inputs: tuple[str, ...]
) -> tuple[_Term, Argument | None]:
    function = FUNCTIONS[number]
    if function.argument == "string" and rng.random() < 0.5:
        pairs = zip(term.values, inputs, strict=True)
        values = tuple(function.apply(s, x) for s, x in pairs)
        return _Term(f"func_{number}({term.text}, x)", values), None
    arguments = function.draw_argument(rng)
    written = "".join(f", {argument!r}" for argument in arguments)
    values = tuple(function.apply(value, *arguments) for value in term.values)
    grown = _Term(f"func_{number}({term.text}{written})", values)
    return grown, arguments[0] if arguments else None


def _shown(rng: Rng, number: int, argument: Argument | None, definitions: str) -> str:
    """Return what the prompt says about one function."""
    function, name = FUNCTIONS[number], f"func_{number}"
    head = f"{name}({_PARAMETERS.get(function.argument, 's, t')})"
    if definitions == "words":
        return f"- `{head}` {function.words}."
    if definitions == "code":
        return f"```python\n{definition(function.apply, name)}\n```"
    if definitions == "none":
        return f"- `{head}`"
    return "```\n" + "\n".join(_calls(rng, function, name, argument)) + "\n```"


def _calls(rng: Rng, function: StringFunction, name: str, argument: Argument | None) -> list[str]:
    """Return calls with their values; the first half has the argument of the expression."""
    lines = []
    for place in range(_SHOWN_CALLS):
        text = "".join(pick(rng, _ALPHABET) for _ in range(integer(rng, 2, 9))).strip() or "Ae"
        if place in (2, 7):
            text = text[:3] + text[-1] * 2 + text[3:] + text[:1]  # a run, and a repeated start
        arguments = function.draw_argument(rng)
        if argument is not None and place < _SHOWN_CALLS // 2:
            arguments = (argument,)
        written = "".join(f", {value!r}" for value in arguments)
        lines.append(f"{name}({text!r}{written}) == {function.apply(text, *arguments)!r}")
    return lines


def _source(used: Sequence[int], expression: str) -> str:
    parts = [definition(FUNCTIONS[number].apply, f"func_{number}") for number in used]
    return "\n\n\n".join([*parts, f"def main(x: str) -> str:\n    return {expression}"])
