"""Finite functions: iterates, preimages, cycles and fixed points."""

from collections.abc import Sequence
from dataclasses import dataclass

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.latex import number_set, polynomial
from rlvr_envs.generators.mathematics.steps import value_parts
from rlvr_envs.verifiers.symbolic import judge_math


@dataclass(frozen=True, slots=True)
class FiniteFunction:
    """A function on 0..n-1: the table of its values, or the coefficients of a polynomial mod n."""

    table: tuple[int, ...] = ()
    coefficients: tuple[int, ...] = ()

    def values(self, n: int) -> tuple[int, ...]:
        """Return the values at 0..n-1."""
        if self.table:
            return self.table
        return tuple(sum(c * x**k for k, c in enumerate(self.coefficients)) % n for x in range(n))


KINDS = ("iterate", "composition", "cycle_length", "fixed_points", "preimage", "image_size")
_NAMES = "fghpqrstuvw"


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionPropertiesConfig(TaskConfig):
    """The size of the functions, and the kinds of questions."""

    n_points: int = knob(12, "the functions map {0, ..., n_points - 1} to itself", low=4)
    n_functions: int = knob(2, "number of functions in a composition", low=1, high=len(_NAMES))
    max_iterations: int = knob(
        1_000, "the largest number of times that a function is applied", low=2
    )
    formula_share: float = knob(
        0.3, "probability that a function is given by a formula, not by a table", low=0, high=1
    )
    kinds: tuple[str, ...] = knob(
        KINDS, "kinds of questions; each problem has one of them", choices=KINDS
    )

    @classmethod
    def at(cls, difficulty: int) -> "FunctionPropertiesConfig":
        """Three more points and four times the iterations a level; a function every third."""
        return cls(
            n_points=5 + 3 * difficulty,
            n_functions=min(len(_NAMES), 1 + (difficulty + 2) // 3),
            max_iterations=4 ** (1 + difficulty),
            formula_share=0.0 if difficulty < 2 else 0.3,
        )


@dataclass(frozen=True, slots=True)
class FunctionPropertiesProblem:
    """The functions and the question, which may be about their composition.

    Attributes:
        kind: one of `KINDS`.
        n_points: the functions map 0..n_points-1 to itself.
        functions: the one applied last comes first, as in ``f(g(x))``.
        point: the point in the question; 0 where there is none.
        iterations: how often the function is applied; 1 unless the question is about an iterate.
        answer: one number, or the elements of a preimage in increasing order.
    """

    kind: str
    n_points: int
    functions: tuple[FiniteFunction, ...]
    point: int
    iterations: int
    answer: tuple[int, ...] = hidden()


@register("FunctionProperties-v0", domain="math")
class FunctionPropertiesTask(Task[FunctionPropertiesConfig, FunctionPropertiesProblem]):
    """Answer a question about functions of a finite set to itself.

    Description:
        Functions are given by tables or by polynomials modulo n. The questions: a high iterate at
        a point, a composition at a point, the length of the cycle that a point leads to, the
        number of fixed points of a composition, all preimages of a value, the size of an image.
        Cycle lengths and numbers of fixed points are drawn uniformly, so no value is much more
        frequent than others.

    Observation:
        The functions and the question.

    Action:
        One integer; for preimages, a set of integers.

    Reward:
        1 for the right number or the whole set, otherwise 0.

    Verification:
        Exact, on integers and finite sets.

    Difficulty:
        The number of points, of composed functions and of iterations grows.

    References:
        Knuth, The Art of Computer Programming, volume 2, section 3.1 (functional graphs).
    """

    def generate(self, rng: Rng) -> FunctionPropertiesProblem:
        kind, n = pick(rng, self.config.kinds), self.config.n_points
        iterations = 1
        if kind == "cycle_length":
            point = integer(rng, 0, n - 1)
            functions = [FiniteFunction(_with_cycle(rng, n, point))]
        elif kind == "fixed_points":
            functions, point = _with_fixed_points(rng, n, self.config.n_functions), 0
        else:
            count = 1 if kind == "iterate" else self.config.n_functions
            functions = [self._draw(rng) for _ in range(count)]
            point = integer(rng, 0, n - 1)
            if kind == "preimage":
                point = composed(functions, n)[point]
            elif kind == "iterate":
                iterations = integer(rng, 2, self.config.max_iterations)
        answer = _answer(kind, composed(functions, n), point, iterations)
        return FunctionPropertiesProblem(kind, n, tuple(functions), point, iterations, answer)

    def prompt(self, problem: FunctionPropertiesProblem) -> str:
        n, names = problem.n_points, _NAMES[: len(problem.functions)]
        definitions = "\n".join(
            _definition(name, function, n)
            for name, function in zip(names, problem.functions, strict=True)
        )
        inner = "(".join(names)
        value = f"{inner}(%s{')' * len(names)}"
        asked = _QUESTIONS[problem.kind].format(
            f="f",
            of_x=value % "x",
            of_point=value % problem.point,
            point=problem.point,
            k=problem.iterations,
        )
        noun = "function maps" if len(names) == 1 else "functions map"
        points = f"$\\{{0, 1, \\dots, {n - 1}\\}}$"
        return f"The following {noun} the set {points} to itself.\n{definitions}\n{asked}"

    def verify(self, problem: FunctionPropertiesProblem, answer: str) -> Verdict:
        kind = "set" if problem.kind == "preimage" else "integer"
        return judge_math(self.solve(problem), answer, answer_type=kind)

    def solve(self, problem: FunctionPropertiesProblem) -> str:
        if problem.kind == "preimage":
            return number_set(problem.answer)
        return str(problem.answer[0])

    def explain(self, problem: FunctionPropertiesProblem) -> list[str]:
        n, point, functions = problem.n_points, problem.point, problem.functions
        if problem.kind == "composition":
            steps = []
            for name, function in list(zip(_NAMES, functions, strict=False))[::-1]:
                steps.append(f"{name} takes {point} to {value_told(function, point, n)}")
                point = function.values(n)[point]
            return steps
        if problem.kind in ("iterate", "cycle_length"):
            return _orbit_steps(problem)
        values = list(range(n))
        steps = []
        for depth, function in enumerate(reversed(functions)):
            values = [function.values(n)[x] for x in values]
            names = _NAMES[len(functions) - 1 - depth : len(functions)]
            name = f"{'('.join(names)}(x{')' * len(names)}"
            steps.append(f"{name} for x from 0 to {n - 1}: {', '.join(map(str, values))}")
        if problem.kind == "preimage":
            return [*steps, f"Look for the places, counted from 0, where the value is {point}."]
        if problem.kind == "fixed_points":
            fixed = [str(x) for x, y in enumerate(values) if x == y]
            return [
                *steps,
                f"x equals its value for {', '.join(fixed) or 'no x'}: {len(fixed)} times.",
            ]
        different = list(map(str, sorted(set(values))))
        return [
            *steps,
            f"The different values are {', '.join(different)}: {len(different)}.",
        ]

    def _draw(self, rng: Rng) -> FiniteFunction:
        n = self.config.n_points
        if rng.random() < self.config.formula_share:
            return FiniteFunction(coefficients=(*_values(rng, n, 2), integer(rng, 1, n - 1)))
        return FiniteFunction(_values(rng, n, n))


_QUESTIONS = {
    "iterate": (
        "Let $f^k$ be the function $f$ applied $k$ times, for example $f^2(x) = f(f(x))$. "
        "What is $f^{{{k}}}({point})$?"
    ),
    "composition": "What is ${of_point}$?",
    "cycle_length": (
        "If you start at {point} and apply $f$ repeatedly, you reach a cycle. "
        "How many different numbers does this cycle contain?"
    ),
    "fixed_points": "For how many numbers $x$ in the set is ${of_x} = x$?",
    "preimage": "Find the set of all $x$ with ${of_x} = {point}$. Answer with the set, in braces.",
    "image_size": "How many different values does ${of_x}$ take for $x$ in this set?",
}


def _definition(name: str, function: FiniteFunction, n: int) -> str:
    if function.coefficients:
        return f"${name}(x) = ({polynomial(function.coefficients)}) \\bmod {n}$"
    entries = ", ".join(f"{name}({x}) = {y}" for x, y in enumerate(function.table))
    return f"${entries}$"


def _answer(kind: str, values: Sequence[int], point: int, iterations: int) -> tuple[int, ...]:
    if kind == "preimage":
        return tuple(x for x, y in enumerate(values) if y == point)
    if kind == "fixed_points":
        return (sum(x == y for x, y in enumerate(values)),)
    if kind == "image_size":
        return (len(set(values)),)
    path, seen = [point], {point: 0}
    while values[path[-1]] not in seen:
        path.append(values[path[-1]])
        seen[path[-1]] = len(path) - 1
    start = seen[values[path[-1]]]
    length = len(path) - start
    if kind == "cycle_length":
        return (length,)
    step = iterations if iterations < start else start + (iterations - start) % length
    return (path[step],)


def _values(rng: Rng, n: int, count: int) -> tuple[int, ...]:
    values: list[int] = rng.integers(n, size=count).tolist()
    return tuple(values)


def _with_cycle(rng: Rng, n: int, point: int) -> tuple[int, ...]:
    """Return a function whose path from the point runs into a cycle of uniform length."""
    length = integer(rng, 1, n)
    tail = integer(rng, 0, n - length)
    order = [x for x in rng.permutation(n).tolist() if x != point]
    path = [point, *order[: tail + length - 1]]
    values = list(_values(rng, n, n))
    for x, y in zip(path, [*path[1:], path[tail]], strict=True):
        values[x] = y
    return tuple(values)


def _with_fixed_points(rng: Rng, n: int, count: int) -> list[FiniteFunction]:
    """Return functions whose composition has a number of fixed points drawn evenly.

    All but the one applied last are permutations, so that it can undo them.
    """
    n_fixed = integer(rng, 0, n // 2)
    fixed = set(rng.permutation(n).tolist()[:n_fixed])
    goal = [x if x in fixed else (x + integer(rng, 1, n - 1)) % n for x in range(n)]
    inner = [FiniteFunction(tuple(rng.permutation(n).tolist())) for _ in range(count - 1)]
    last = [0] * n
    for x, y in enumerate(composed(inner, n)):
        last[y] = goal[x]
    return [FiniteFunction(tuple(last)), *inner]


def _orbit_steps(problem: FunctionPropertiesProblem) -> list[str]:
    """Return the path from the point, the cycle that it ends in, and what follows from them."""
    (function,) = problem.functions
    path = [problem.point]
    steps = []
    while path.count(path[-1]) == 1:
        steps.append(f"f takes {path[-1]} to {value_told(function, path[-1], problem.n_points)}")
        path.append(function.values(problem.n_points)[path[-1]])
        if problem.kind == "iterate" and len(path) > problem.iterations:
            return steps
    start = path.index(path[-1])
    length = len(path) - 1 - start
    steps.append(f"{path[-1]} was there before, after {start} steps: from there on a cycle.")
    steps.append(f"The cycle has {len(path) - 1} - {start} = {length} numbers.")
    if problem.kind == "iterate":
        left = (problem.iterations - start) % length
        steps.append(f"({problem.iterations} - {start}) mod {length} = {left}")
        steps.append(f"So go {left} steps from {path[start]} in the cycle: {path[start + left]}.")
    return steps


# Functions of a finite set 0..n-1 to itself: their values, compositions, and values worked out.


def composed(functions: Sequence[FiniteFunction], n: int) -> list[int]:
    """Return the values of the composition, whose last function is applied first."""
    result = list(range(n))
    for function in reversed(functions):
        values = function.values(n)
        result = [values[x] for x in result]
    return result


def value_told(function: FiniteFunction, x: int, n: int) -> str:
    """Return the value at a point, worked out where the function is a polynomial."""
    if not function.coefficients:
        return f"{function.table[x]}."
    work, _ = value_parts(function.coefficients, x)
    return f"({work}) mod {n} = {function.values(n)[x]}."
