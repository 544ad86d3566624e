"""Boolean expressions: their values under an assignment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.logic.formulas import (
    Formula,
    atom,
    draw_formula,
    read_formula,
    truth_table,
)
from rlvr_envs.generators.words.names import joined
from rlvr_envs.verifiers.grids import read_grid

VARIABLES = tuple("pqrsuwxyzabcdeghkmn")  # no t and f, which are answers, and no l, o and v
_ANSWERS = {word: word[0] for word in ("t", "f", "true", "false")}
_MOST_EXPRESSIONS, _MOST_LITERALS = 50, 250


class Notation(StrEnum):
    """How operators are written."""

    WORDS = "words"
    SYMBOLS = "symbols"


_SIGNS = {
    Notation.WORDS: {"not": "not ", "and": "and", "or": "or", "xor": "xor", "if": "implies"}
    | {"iff": "iff"},
    Notation.SYMBOLS: {"not": "¬", "and": "∧", "or": "∨", "xor": "⊕", "if": "→", "iff": "↔"},
}
_MEANINGS = {
    "not": "{}X is true if X is false; X is the variable or the bracket right after the operator.",
    "and": "X {} Y is true if both X and Y are true.",
    "or": "X {} Y is true if at least one of X and Y is true.",
    "xor": "X {} Y is true if exactly one of X and Y is true.",
    "if": "X {} Y is false only if X is true and Y is false.",
    "iff": "X {} Y is true if X and Y have the same value.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BooleanExpressionConfig(TaskConfig):
    """How many expressions there are, how long they are, and over how many variables."""

    n_expressions: int = knob(5, "expressions", low=2, high=_MOST_EXPRESSIONS)
    n_literals: int = knob(
        6, "occurrences of variables in an expression", low=2, high=_MOST_LITERALS
    )
    n_variables: int = knob(4, "variables", low=2, high=len(VARIABLES))

    @classmethod
    def at(cls, difficulty: int) -> "BooleanExpressionConfig":
        """Expressions get longer and more numerous, over more variables."""
        return cls(
            n_expressions=min(3 + difficulty // 2, _MOST_EXPRESSIONS),
            n_literals=min(2 + difficulty + difficulty**2 // 5, _MOST_LITERALS),
            n_variables=min(2 + difficulty // 2, len(VARIABLES)),
        )


@dataclass(frozen=True, slots=True)
class BooleanExpressionProblem:
    """Atom i of an expression is variable i; a letter of the answer is an expression's value."""

    values: tuple[bool, ...]
    expressions: tuple[str, ...]
    notation: Notation
    answer: str = hidden()


@register("BooleanExpression-v0", domain="puzzles")
class BooleanExpressionTask(Task[BooleanExpressionConfig, BooleanExpressionProblem]):
    """Find the values of several Boolean expressions.

    Description:
        The expressions are random trees over the variables, written in words or in symbols, with
        all the brackets that they need. Each is true with probability one half, whatever its shape.

    Observation:
        The values of the variables, the numbered expressions, and what the operators mean.

    Action:
        A T or an F for each expression, in order.

    Reward:
        1 if all values are right, otherwise 0.

    Verification:
        The expressions are evaluated. No known gaps.

    Difficulty:
        There are more expressions, each longer and over more variables. Random answers to
        k expressions are right with probability 2**-k.

    References:
        Boole, "An Investigation of the Laws of Thought", 1854. Suzgun et al., "Challenging
        BIG-Bench Tasks", 2022 (arXiv:2210.09261), has a task of this kind.
    """

    def generate(self, rng: Rng) -> BooleanExpressionProblem:
        config = self.config
        values = tuple(bool(integer(rng, 0, 1)) for _ in range(config.n_variables))
        notation = pick(rng, tuple(Notation))
        wanted = [bool(integer(rng, 0, 1)) for _ in range(config.n_expressions)]
        row = (1, *map(int, values))
        expressions = tuple(
            str(draw_formula(rng, row, value, config.n_literals)) for value in wanted
        )
        answer = "".join("T" if value else "F" for value in wanted)
        return BooleanExpressionProblem(values, expressions, notation, answer)

    def prompt(self, problem: BooleanExpressionProblem) -> str:
        given = joined(
            [
                f"{name} is {'true' if value else 'false'}"
                for name, value in zip(VARIABLES, problem.values, strict=False)
            ]
        )
        formulas = [read_formula(text) for text in problem.expressions]
        signs = _SIGNS[problem.notation]
        lines = [f"{i}. {_written(formula, signs)}" for i, formula in enumerate(formulas, 1)]
        used = set().union(*(_operators(formula) for formula in formulas))
        legend = [f"- {_MEANINGS[op].format(signs[op])}" for op in _MEANINGS if op in used]
        return (
            f"Given that {given}, find the value of each expression:\n\n"
            + "\n".join(lines)
            + "\n\nMeaning of the operators:\n"
            + "\n".join(legend)
            + "\n\nAnswer with one letter for each expression, in order: T if it is true, F if it "
            "is false."
        )

    def verify(self, problem: BooleanExpressionProblem, answer: str) -> Verdict:
        count = len(problem.expressions)
        grid = read_grid(answer.lower(), 1, count, _ANSWERS)
        if grid is None:
            return Verdict.unparsable(f"expected {count} letters, each T or F")
        for text, cell in zip(problem.expressions, grid[0], strict=True):
            if _value(read_formula(text), problem.values) != (_ANSWERS[cell] == "t"):
                return Verdict.wrong("at least one value is wrong")
        return Verdict.correct()

    def solve(self, problem: BooleanExpressionProblem) -> str:
        return problem.answer

    def explain(self, problem: BooleanExpressionProblem) -> list[str]:
        """Return each expression with its values filled in, and then bracket by bracket."""
        signs, words = _SIGNS[problem.notation], ("false", "true")
        row = (1, *map(int, problem.values))
        steps = []
        for number, text in enumerate(problem.expressions, 1):
            formula = read_formula(text)
            stages = [_written(formula, signs)]
            known: dict[Formula, str] = {atom(i): words[value] for i, value in enumerate(row) if i}
            while stages[-1] not in words:
                stages.append(_written(formula, signs, known))
                known |= {
                    part: words[truth_table(part, row)]
                    for part in _parts(formula)
                    if all(inner in known for inner in part.parts)
                }
            steps.append(f"{number}. {stages[0]} = {stages[1]}")
            steps += [f"{number}. = {stage}" for stage in stages[2:]]
        return steps

    def effort(self, problem: BooleanExpressionProblem) -> int:
        """Count the operators that are applied."""
        return sum(text.count("(") for text in problem.expressions)

    def baseline(self, rng: Rng, problem: BooleanExpressionProblem) -> str:
        """Look at the first variable of each expression only."""
        first = [text.replace("(", " ").replace(")", " ").split() for text in problem.expressions]
        atoms = [next(int(word) for word in words if word.isdigit()) for words in first]
        return "".join("T" if problem.values[atom - 1] else "F" for atom in atoms)


def _value(formula: Formula, values: Sequence[bool]) -> bool:
    return bool(truth_table(formula, (1, *map(int, values))))


def _operators(formula: Formula) -> set[str]:
    return {formula.operator}.union(*(_operators(part) for part in formula.parts))


def _parts(formula: Formula) -> list[Formula]:
    """Return the formula and all that it is made of."""
    return [formula, *(inner for part in formula.parts for inner in _parts(part))]


def _written(
    formula: Formula, signs: dict[str, str], known: Mapping[Formula, str] = MappingProxyType({})
) -> str:
    """Return a formula as the prompt writes it, with values for the parts that are known."""
    if formula in known:
        return known[formula]
    if formula.operator == "atom":
        return VARIABLES[formula.number - 1]
    parts = [_written(part, signs, known) for part in formula.parts]
    for i, part in enumerate(formula.parts):
        if len(part.parts) > 1 and part not in known:
            parts[i] = f"({parts[i]})"
    if formula.operator == "not":
        return f"{signs['not']}{parts[0]}"
    return f" {signs[formula.operator]} ".join(parts)
