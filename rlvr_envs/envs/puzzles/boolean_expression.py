"""Boolean expressions: their values under an assignment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.logic.formulas import (
    Formula,
    atom,
    columns,
    draw_formula,
    read_formula,
    truth_table,
)
from rlvr_envs.generators.words.names import joined
from rlvr_envs.verifiers.grids import read_grid

VARIABLES = tuple("pqrswxyzabcdeghkmn")  # no t, f and u, which are answers, and no l, o and v
_ANSWERS = {word: word[0].upper() for word in ("t", "f", "u", "true", "false", "unknown")}
_WORDS = {"T": "true", "F": "false"}
_DRAWS = 40  # of an expression with the wanted answer
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
    n_unknown: int = knob(0, "variables whose values are not given", low=0, high=8)

    def check(self) -> None:
        if self.n_unknown >= self.n_variables:
            raise ConfigError(f"n_unknown is less than n_variables, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "BooleanExpressionConfig":
        """Expressions get longer; from level 3 on, more and more variables are unknown."""
        return cls(
            n_expressions=min(5 + difficulty // 3, _MOST_EXPRESSIONS),
            n_literals=min(2 + difficulty + difficulty**2 // 8, _MOST_LITERALS),
            n_variables=min(3 + difficulty // 2, len(VARIABLES)),
            n_unknown=min(difficulty // 3, 8),
        )


@dataclass(frozen=True, slots=True)
class BooleanExpressionProblem:
    """Atom i of an expression is variable i; the last ``n_unknown`` variables have no value.

    A letter of the answer is an expression's value, U where it depends on the unknown ones.
    """

    values: tuple[bool, ...]
    n_unknown: int
    expressions: tuple[str, ...]
    notation: Notation
    answer: str = hidden()


@register("BooleanExpression-v0", domain="puzzles")
class BooleanExpressionTask(Task[BooleanExpressionConfig, BooleanExpressionProblem]):
    """Find the values of several Boolean expressions.

    Description:
        The expressions are random trees over the variables, written in words or in symbols, with
        all the brackets that they need. Each is true with probability one half, whatever its shape.
        Where variables are unknown, each is true, false or undecided with the same probability.

    Observation:
        The values of the variables, the numbered expressions, and what the operators mean.

    Action:
        A T, F or U for each expression, in order; U if the unknown variables decide.

    Reward:
        1 if all values are right, otherwise 0.

    Verification:
        The expressions are evaluated for all values of the unknown variables. No known gaps.

    Difficulty:
        Expressions get longer. From level 3 on the values of some variables are unknown, and an
        expression may be true or false all the same: it takes cases. Random answers to k
        expressions are right with probability 2**-k at most.

    References:
        Boole, "An Investigation of the Laws of Thought", 1854. Suzgun et al., "Challenging
        BIG-Bench Tasks", 2022 (arXiv:2210.09261), has a task of this kind.
    """

    def generate(self, rng: Rng) -> BooleanExpressionProblem:
        config = self.config
        values = tuple(
            bool(integer(rng, 0, 1)) for _ in range(config.n_variables - config.n_unknown)
        )
        notation = pick(rng, tuple(Notation))
        answers = "TFU" if config.n_unknown else "TF"
        drawn = [self._draw(rng, values, pick(rng, answers)) for _ in range(config.n_expressions)]
        answer = "".join(_answer(formula, values, config.n_unknown) for formula in drawn)
        expressions = tuple(map(str, drawn))
        return BooleanExpressionProblem(values, config.n_unknown, expressions, notation, answer)

    def _draw(self, rng: Rng, values: Sequence[bool], wanted: str) -> Formula:
        """Draw an expression, if it can be with the wanted answer."""
        drawn = self._draw_once(rng, values, wanted)
        for _ in range(_DRAWS):
            if _answer(drawn, values, self.config.n_unknown) == wanted:
                break
            drawn = self._draw_once(rng, values, wanted)
        return drawn

    def _draw_once(self, rng: Rng, values: Sequence[bool], wanted: str) -> Formula:
        unknown = [integer(rng, 0, 1) for _ in range(self.config.n_unknown)]
        value = wanted == "T" if wanted != "U" else bool(integer(rng, 0, 1))
        return draw_formula(rng, (1, *map(int, values), *unknown), value, self.config.n_literals)

    def prompt(self, problem: BooleanExpressionProblem) -> str:
        given = joined(
            [
                f"{name} is {'true' if value else 'false'}"
                for name, value in zip(VARIABLES, problem.values, strict=False)
            ]
        )
        unknown = VARIABLES[len(problem.values) :][: problem.n_unknown]
        hidden_ones = ""
        if unknown:
            are = "value of {} is" if len(unknown) == 1 else "values of {} are"
            hidden_ones = f" The {are.format(joined(unknown))} unknown."
        formulas = [read_formula(text) for text in problem.expressions]
        signs = _SIGNS[problem.notation]
        lines = [f"{i}. {_written(formula, signs)}" for i, formula in enumerate(formulas, 1)]
        used = set().union(*(_operators(formula) for formula in formulas))
        legend = [f"- {_MEANINGS[op].format(signs[op])}" for op in _MEANINGS if op in used]
        return (
            f"Given that {given}, find the value of each expression.{hidden_ones}\n\n"
            + "\n".join(lines)
            + "\n\nMeaning of the operators:\n"
            + "\n".join(legend)
            + "\n\nAnswer with one letter for each expression, in order: T if it is true, F if it "
            "is false" + (", U if that depends on unknown values." if unknown else ".")
        )

    def verify(self, problem: BooleanExpressionProblem, answer: str) -> Verdict:
        count = len(problem.expressions)
        letters = "T, F or U" if problem.n_unknown else "T or F"
        grid = read_grid(answer.lower(), 1, count, _ANSWERS)
        if grid is None:
            return Verdict.unparsable(f"expected {count} letters, each {letters}")
        for text, cell in zip(problem.expressions, grid[0], strict=True):
            formula = read_formula(text)
            if _answer(formula, problem.values, problem.n_unknown) != _ANSWERS[cell]:
                return Verdict.wrong("at least one value is wrong")
        return Verdict.correct()

    def solve(self, problem: BooleanExpressionProblem) -> str:
        return problem.answer

    def explain(self, problem: BooleanExpressionProblem) -> list[str]:
        """Return each expression with its values filled in, and then bracket by bracket."""
        signs = _SIGNS[problem.notation]
        steps = []
        for number, text in enumerate(problem.expressions, 1):
            formula = read_formula(text)
            stages = [_written(formula, signs)]
            known = {atom(i): _WORDS["FT"[value]] for i, value in enumerate(problem.values, 1)}
            while (stage := _written(formula, signs, known)) != stages[-1]:
                stages.append(stage)
                known |= {
                    part: _WORDS[answer]
                    for part in _parts(formula)
                    if any(inner in known for inner in part.parts)
                    and (answer := _answer(part, problem.values, problem.n_unknown)) in _WORDS
                }
            steps.append(f"{number}. {' = '.join(stages[:2])}")
            steps += [f"{number}. = {stage}" for stage in stages[2:]]
            if formula not in known:
                answer = _answer(formula, problem.values, problem.n_unknown)
                decided = f"In every case, {stages[-1]} = {_WORDS.get(answer)}"
                depends = f"{stages[-1]} depends on unknown values"
                steps.append(f"{number}. {depends if answer == 'U' else decided}")
        return steps

    def effort(self, problem: BooleanExpressionProblem) -> int:
        """Count the operators that are applied, over all values of the unknown variables."""
        n_known = len(problem.values)
        found = 0
        for text in problem.expressions:
            unknown = {atom for atom in _atoms(text) if atom > n_known}
            found += text.count("(") << len(unknown)
        return found

    def baseline(self, rng: Rng, problem: BooleanExpressionProblem) -> str:
        """Look at the first variable of each expression only."""
        known = ["FT"[value] for value in problem.values] + ["U"] * problem.n_unknown
        return "".join(known[_atoms(text)[0] - 1] for text in problem.expressions)


def _answer(formula: Formula, values: Sequence[bool], n_unknown: int) -> str:
    """Return T, F, or U where it depends on the variables behind those with values."""
    everything, *unknown = columns(n_unknown)
    tables = (everything, *(everything * value for value in values), *unknown)
    return {everything: "T", 0: "F"}.get(truth_table(formula, tables), "U")


def _atoms(text: str) -> list[int]:
    """Return the atoms of a formula, in order of occurrence."""
    return [
        int(word) for word in text.replace("(", " ").replace(")", " ").split() if word.isdigit()
    ]


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
