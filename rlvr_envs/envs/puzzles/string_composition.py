"""Value of a composition of numbered string functions."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.string_functions import FUNCTIONS, LETTERS, literal, numbers_of

SPLITS = ("all", "train", "held_out")
_TRIES = 40  # of one step, until it changes the string and keeps it in bounds
_MOST_DEPTH, _MOST_LENGTH = 100, 10_000
_JOINED = 0.1  # share of steps that concatenate two parts
_SIDE_DEPTH = 2  # functions in the second operand of a join or an interlacing
_ROTATE, _SHIFT = 8, 11  # functions that keep the length of a string
_PARAMETERS = {"": "s", "number": "s, n"}  # of all other kinds: two strings
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”"}


@dataclass(frozen=True, slots=True, kw_only=True)
class StringCompositionConfig(TaskConfig):
    """How deep the composition is, of which functions, and whether they are explained."""

    depth: int = knob(
        3, "functions and concatenations, one inside another", low=1, high=_MOST_DEPTH
    )
    split: str = knob(
        "all", 'functions used: "all", or one split, "train" or "held_out"', choices=SPLITS
    )
    definitions_shown: bool = True
    max_length: int = knob(40, "length of the longest string in between", low=20, high=_MOST_LENGTH)

    @classmethod
    def at(cls, difficulty: int) -> "StringCompositionConfig":
        """Each level goes one function deeper and lets the strings grow by six characters."""
        return cls(
            depth=min(_MOST_DEPTH, 1 + difficulty),
            max_length=min(_MOST_LENGTH, 20 + 6 * difficulty),
        )


@dataclass(frozen=True, slots=True)
class Term:
    """An expression.

    Attributes:
        function: the number of the function; None for a join, the input or a literal.
        operands: the terms it is applied to; none for the input and for a literal.
        argument: the number or string that a function takes last, or the literal itself.
    """

    function: int | None = None
    operands: tuple["Term", ...] = ()
    argument: int | str | None = None


@dataclass(frozen=True, slots=True)
class StringCompositionProblem:
    """The expression and its input."""

    expression: Term
    text: str
    definitions_shown: bool
    output: str = hidden()


@register("StringComposition-v0", domain="puzzles", answer_format="tag")
class StringCompositionTask(Task[StringCompositionConfig, StringCompositionProblem]):
    """Evaluate a nested expression of numbered string functions for an input.

    Description:
        The expression is built of the functions `func_0` to `func_24`; which function has which
        number never changes. Every function changes the string it is applied to. Some steps
        concatenate or interlace the string with a second, smaller expression. The functions used
        are described in words; one knob leaves the descriptions out, for a model that has met the
        functions before, and another restricts the functions to thirteen for training or to the
        twelve others, to distinguish a skill from memorised functions.

    Observation:
        The expression, the input string, and what the functions do.

    Action:
        The string that comes out, in double quotes.

    Reward:
        1 for exactly that string, otherwise 0.

    Verification:
        Comparison of strings, upper and lower case being different. Quotes may be left out where
        the string does not begin or end with a space. No known gaps.

    Difficulty:
        The expression gets deeper, and the strings in it get longer.

    References:
        Yuan et al., From f(x) and g(x) to f(g(x)): LLMs Learn New Skills in RL by Composing Old
        Ones, arXiv:2509.25123.
    """

    literal_answer = True

    def generate(self, rng: Rng) -> StringCompositionProblem:
        text = _draw_input(rng)
        term, value = self._grown(rng, text, self.config.depth)
        return StringCompositionProblem(term, text, self.config.definitions_shown, value)

    def _grown(self, rng: Rng, text: str, depth: int) -> tuple[Term, str]:
        """Return a term of ``depth`` steps above the input, and its value."""
        term, value = Term(), text
        for height in range(depth):
            for _ in range(_TRIES):
                step = self._step(rng, text, height)
                above = _above(step, term, first=rng.random() < 0.5)
                grown = _value(above, text)
                if grown not in ("", value, text) and len(grown) <= self.config.max_length:
                    break
            else:
                function = _SHIFT if _SHIFT in numbers_of(self.config.split) else _ROTATE
                above = Term(function, (term,), 1)
                grown = _value(above, text)
            term, value = above, grown
        return term, value

    def _step(self, rng: Rng, text: str, height: int) -> Term:
        """Draw a join or a function, with all its operands but the term that it is applied to."""
        if rng.random() < _JOINED:
            return Term(operands=(self._operand(rng, text, height),))
        number = pick(rng, numbers_of(self.config.split))
        function = FUNCTIONS[number]
        if function.argument == "string":
            return Term(number, (self._operand(rng, text, height),))
        return Term(number, (), *function.draw_argument(rng))

    def _operand(self, rng: Rng, text: str, height: int) -> Term:
        """Draw the other operand of a step: a literal, the input, or a smaller term."""
        depth = integer(rng, -1, min(_SIDE_DEPTH, height))
        return Term(argument=literal(rng)) if depth < 0 else self._grown(rng, text, depth)[0]

    def prompt(self, problem: StringCompositionProblem) -> str:
        told = "\n".join(map(_described, sorted(_functions(problem.expression))))
        if not problem.definitions_shown:
            told = (
                "The functions are not described here. `func_0` to `func_24` are the same "
                "functions in every problem of this kind."
            )
        written = _written(problem.expression)
        joining = " The operator `+` concatenates strings." if " + " in written else ""
        question = f'What is the value of this expression for x = "{problem.text}"?{joining}'
        expression = f"```\n{written}\n```"
        parts = (question, expression, told, "Answer with the string in double quotes.")
        return "\n\n".join(part for part in parts if part)

    def verify(self, problem: StringCompositionProblem, answer: str) -> Verdict:
        given = answer.strip()
        if given.endswith(tuple(f"{quote}." for quote in _QUOTES.values())):
            given = given[:-1]
        if len(given) > 1 and _QUOTES.get(given[0]) == given[-1]:
            given = given[1:-1]
        if not given:
            return Verdict.unparsable("expected a string in double quotes")
        if given == problem.output:
            return Verdict.correct()
        return Verdict.wrong("that is not the value of the expression")

    def solve(self, problem: StringCompositionProblem) -> str:
        return f'"{problem.output}"'

    def explain(self, problem: StringCompositionProblem) -> list[str]:
        """Return the value of each function and each join, the innermost ones first."""
        values: dict[Term, str] = {}
        steps = []
        for term in reversed(_terms(problem.expression)):
            if term in values:
                continue
            inner = [f'"{_value(operand, problem.text)}"' for operand in term.operands]
            values[term] = _value(term, problem.text)
            steps.append(f'{_applied(term, inner)} = "{values[term]}"')
        return steps

    def effort(self, problem: StringCompositionProblem) -> int:
        """Return how many characters are written when the terms are worked out one by one."""
        return sum(len(_value(term, problem.text)) for term in _terms(problem.expression))

    def baseline(self, rng: Rng, problem: StringCompositionProblem) -> str:
        """Work the expression out and forget every eighth function on average."""
        return f'"{_value(problem.expression, problem.text, rng)}"'


def _draw_input(rng: Rng) -> str:
    """Draw three to ten letters, many of them vowels, and a space among them now and then."""
    letters = [pick(rng, LETTERS + "aeiou") for _ in range(integer(rng, 3, 10))]
    if integer(rng, 0, 2) == 0:
        letters.insert(integer(rng, 1, len(letters) - 1), " ")
    return "".join(letters)


def _above(step: Term, term: Term, *, first: bool) -> Term:
    """Return the step applied to a term, which is its first operand unless it has another."""
    operands = (term, *step.operands) if first or not step.operands else (*step.operands, term)
    return Term(step.function, operands, step.argument)


def _value(term: Term, text: str, slips: Rng | None = None) -> str:
    """Return the value of a term; with ``slips``, some functions are skipped at random."""
    if not term.operands:
        return text if term.argument is None else str(term.argument)
    values = [_value(operand, text, slips) for operand in term.operands]
    if term.function is None:
        return "".join(values)
    if slips is not None and slips.random() < 1 / 8:
        return values[0]
    arguments = values[1:] if term.argument is None else [term.argument]
    return FUNCTIONS[term.function].apply(values[0], *arguments)


def _terms(term: Term) -> list[Term]:
    """Return the term and those inside it that are neither the input nor a literal."""
    inside = [found for operand in term.operands for found in _terms(operand)]
    return [term, *inside] if term.operands else []


def _functions(term: Term) -> set[int]:
    return {found.function for found in _terms(term) if found.function is not None}


def _written(term: Term) -> str:
    if not term.operands:
        return "x" if term.argument is None else f'"{term.argument}"'
    return _applied(term, [_written(operand) for operand in term.operands])


def _applied(term: Term, operands: list[str]) -> str:
    """Return a function or a join of operands as text."""
    if term.function is None:
        return f"({' + '.join(operands)})"
    if isinstance(term.argument, str):
        operands.append(f'"{term.argument}"')
    elif term.argument is not None:
        operands.append(str(term.argument))
    return f"func_{term.function}({', '.join(operands)})"


def _described(number: int) -> str:
    function = FUNCTIONS[number]
    return f"- `func_{number}({_PARAMETERS.get(function.argument, 's, t')})` {function.words}."
