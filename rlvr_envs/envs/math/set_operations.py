"""Set expressions: unions, intersections, differences and complements of finite sets."""

import re
from dataclasses import dataclass, replace

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, pick
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.effort import WorkedTask
from rlvr_envs.generators.mathematics.latex import number_set
from rlvr_envs.generators.mathematics.plain_answers import squeeze
from rlvr_envs.generators.mathematics.steps import total, worked
from rlvr_envs.verifiers.symbolic import judge_math

_ATTEMPTS = 200  # maximum number of draws to avoid a result that is empty or the whole universe
_NAMES = "ABCDEFGHIJKLMNOPQRST"
_MAX_OPERATIONS = 400  # keeps the recursion depth of the tree bounded
_LEAF = "?"

_MEANINGS = {
    "cup": "",
    "cap": "",
    "setminus": "$X \\setminus Y$ is the set of elements of $X$ that are not in $Y$",
    "triangle": "$X \\triangle Y$ is the set of elements in exactly one of $X$ and $Y$",
    "complement": "$\\overline{X}$ is the set of elements of $U$ that are not in $X$",
}
_BINARY = ("cup", "cap", "setminus", "triangle")
_ASKS = {
    "members": "Find the set ${}$. Answer with the set in braces, its elements in any order.",
    "size": "How many elements does ${}$ have?",
    "total": "What is the sum of the elements of ${}$?",
}
KINDS = tuple(_ASKS)

_LIST = re.compile(r"[A-Za-z]?=?(?:\\\{(.*)\\\}|\\lbrace(.*)\\rbrace|\{(.*)\}|([0-9,]*))")
_MEMBERS = re.compile(r"[0-9]{1,9}(?:[,;][0-9]{1,9})*")


@dataclass(frozen=True, slots=True, kw_only=True)
class SetOperationsConfig(TaskConfig):
    """The kinds of questions, and the sizes of the sets and the expression."""

    kinds: tuple[str, ...] = knob(
        KINDS, "questions to draw from; total is the sum of the elements", choices=KINDS
    )
    universe: int = knob(15, "the universe is 1..universe", low=4, high=10000)
    n_sets: int = knob(3, "how many sets are given", low=2, high=len(_NAMES))
    n_operations: int = knob(
        3, "how many operations the expression has", low=1, high=_MAX_OPERATIONS
    )

    @classmethod
    def at(cls, difficulty: int) -> "SetOperationsConfig":
        """Each level adds four elements and an operation; every third level adds a set."""
        return cls(
            universe=min(8 + 4 * difficulty, 10_000),
            n_sets=min(3 + difficulty // 3, len(_NAMES)),
            n_operations=min(1 + difficulty, _MAX_OPERATIONS),
        )


@dataclass(frozen=True, slots=True)
class SetOperationsProblem:
    """The sets, an expression of them in postfix order, and the elements of its value."""

    kind: str
    universe: int
    sets: tuple[tuple[int, ...], ...]
    expression: tuple[str, ...]
    members: tuple[int, ...] = hidden()


@register("SetOperations-v0", domain="math")
class SetOperationsTask(WorkedTask[SetOperationsConfig, SetOperationsProblem]):
    """Evaluate an expression of finite sets.

    Description:
        Random subsets of {1, ..., n} and a random expression of them with unions,
        intersections, differences, symmetric differences and complements, whose value is
        neither empty nor the whole universe, and, where that is possible, neither one of the sets
        nor all of them together.

    Observation:
        The universe, the sets, and the expression.

    Action:
        A list of elements such as ``{1, 4, 7}``, or one integer if the question asks for a number.

    Reward:
        1 for the right set or number, otherwise 0.

    Verification:
        Exact. A set is a list of elements in any order, with or without braces; an expression
        of sets earns nothing.

    Difficulty:
        The universe, the number of sets and the length of the expression grow.

    References:
        Halmos, Naive Set Theory, sections 4 and 5.
    """

    def generate(self, rng: Rng) -> SetOperationsProblem:
        config = self.config
        kind = pick(rng, config.kinds)
        sets = tuple(_draw_subset(rng, config.universe) for _ in range(config.n_sets))
        copies = {*sets, tuple(sorted({element for each in sets for element in each}))}
        expression: tuple[str, ...] = ()
        members: tuple[int, ...] = ()
        for _ in range(_ATTEMPTS):
            drawn = _draw_expression(rng, config.n_sets, config.n_operations)
            value = tuple(sorted(_value(drawn, sets, config.universe)))
            proper = 0 < len(value) < config.universe
            if proper or not expression:
                expression, members = drawn, value
            if proper and value not in copies:
                break
        return SetOperationsProblem(kind, config.universe, sets, expression, members)

    def prompt(self, problem: SetOperationsProblem) -> str:
        universe = ""
        if "complement" in problem.expression:
            universe = f"The universe is $U = \\{{1, 2, \\ldots, {problem.universe}\\}}$. "
        lines = [f"{universe}The sets are"]
        lines += [
            f"${name} = {number_set(members)}$"
            for name, members in zip(_NAMES, problem.sets, strict=False)
        ]
        used = [text for sign, text in _MEANINGS.items() if text and sign in problem.expression]
        if used:
            lines.append(" ".join(f"{text}." for text in used))
        lines.append(_ASKS[problem.kind].format(_latex(problem.expression)))
        return "\n".join(lines)

    def verify(self, problem: SetOperationsProblem, answer: str) -> Verdict:
        if problem.kind != "members":
            return judge_math(self.solve(problem), answer, answer_type="integer")
        given = _read_members(answer)
        if given is None:
            return Verdict.unparsable("expected the elements of the set, such as {1, 4, 7}")
        if given != set(problem.members):
            return Verdict.wrong("these are not the elements of the set")
        return Verdict.correct()

    def solve(self, problem: SetOperationsProblem) -> str:
        if problem.kind == "members":
            return number_set(problem.members)
        return str(len(problem.members) if problem.kind == "size" else sum(problem.members))

    def explain(self, problem: SetOperationsProblem) -> list[str]:
        """Return the value of each part of the expression, innermost first."""
        steps: dict[str, None] = {}
        for end in range(len(problem.expression)):
            part = _operand(problem.expression[: end + 1])
            if len(part) > 1:
                members = sorted(_value(part, problem.sets, problem.universe))
                steps[f"{_latex(part)} = {{{', '.join(map(str, members))}}}"] = None
        if problem.kind == "size":
            return [*steps, f"Count them: {len(problem.members)} elements."]
        if problem.kind == "total":
            return [*steps, worked(total(problem.members), sum(problem.members))]
        return list(steps)

    def baseline(self, rng: Rng, problem: SetOperationsProblem) -> str:
        """Take the union of all sets, whatever the expression."""
        union = tuple(sorted({element for members in problem.sets for element in members}))
        return self.solve(replace(problem, members=union))


def _draw_subset(rng: Rng, universe: int) -> tuple[int, ...]:
    """Draw a subset of between a quarter and three quarters of the universe, about."""
    share = integer(rng, 25, 75)
    draws = integers(rng, 1, 100, universe)
    return tuple(element for element, draw in enumerate(draws, 1) if draw <= share) or (1,)


def _draw_expression(rng: Rng, n_sets: int, n_operations: int) -> tuple[str, ...]:
    """Draw a random expression, as tokens in postfix order; neighbouring sets in it differ."""
    last = integer(rng, 0, n_sets - 1)
    expression = list(_draw_tree(rng, n_operations))
    for position, item in enumerate(expression):
        if item == _LEAF:
            last = (last + integer(rng, 1, n_sets - 1)) % n_sets
            expression[position] = _NAMES[last]
    return tuple(expression)


def _draw_tree(rng: Rng, n_operations: int) -> tuple[str, ...]:
    if n_operations == 0:
        return (_LEAF,)
    if integer(rng, 1, 5) == 1:
        inner = _draw_tree(rng, n_operations - 1)
        # A complement of a complement would cancel, so the inner one is taken instead.
        return inner if inner[-1] == "complement" else (*inner, "complement")
    left = integer(rng, 0, n_operations - 1)
    one, two = _draw_tree(rng, left), _draw_tree(rng, n_operations - 1 - left)
    return (*one, *two, pick(rng, _BINARY))


def _value(
    expression: tuple[str, ...], sets: tuple[tuple[int, ...], ...], universe: int
) -> frozenset[int]:
    stack: list[frozenset[int]] = []
    for item in expression:
        if item == "complement":
            stack.append(frozenset(range(1, universe + 1)) - stack.pop())
        elif item in _BINARY:
            right, left = stack.pop(), stack.pop()
            stack.append(_combine(item, left, right))
        else:
            stack.append(frozenset(sets[_NAMES.index(item)]))
    return stack.pop()


def _combine(sign: str, left: frozenset[int], right: frozenset[int]) -> frozenset[int]:
    if sign == "cup":
        return left | right
    if sign == "cap":
        return left & right
    return left - right if sign == "setminus" else left ^ right


def _latex(expression: tuple[str, ...]) -> str:
    stack: list[tuple[str, bool]] = []  # the text, and whether it needs brackets inside another
    for item in expression:
        if item == "complement":
            stack.append((f"\\overline{{{stack.pop()[0]}}}", False))
        elif item in _BINARY:
            right, left = stack.pop(), stack.pop()
            texts = [f"({text})" if brackets else text for text, brackets in (left, right)]
            stack.append((f"{texts[0]} \\{item} {texts[1]}", True))
        else:
            stack.append((item, False))
    return stack.pop()[0]


def _read_members(answer: str) -> set[int] | None:
    text = squeeze(answer)
    match = _LIST.fullmatch(text) if text is not None else None
    if match is None:
        return None
    inside = next(group for group in match.groups() if group is not None)
    if not _MEMBERS.fullmatch(inside):
        return None
    return {int(element) for element in re.split("[,;]", inside)}


def _operand(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Return the last complete expression of tokens in postfix order."""
    missing, start = 1, len(tokens)
    while missing:
        start -= 1
        missing += (tokens[start] in _BINARY) - (tokens[start] not in (*_BINARY, "complement"))
    return tokens[start:]
