"""Finite functions: iterates, preimages, cycles and fixed points."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics import effort
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
_ORBITS = ("iterate", "cycle_length")
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
        """Four more points and four times the iterations a level; a function every third level.

        Formulas come in at level 2. From level 4 on, compositions are iterated too, and no problem
        asks for a single value of one.
        """
        return cls(
            n_points=16 + 4 * difficulty,
            n_functions=min(len(_NAMES), 1 + (difficulty + 2) // 3),
            max_iterations=4 ** (1 + difficulty),
            formula_share=0.0 if difficulty < 2 else 0.3,
            kinds=KINDS if difficulty < 4 else tuple(k for k in KINDS if k != "composition"),
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
        Where there are three functions or more, iterates and cycles are those of a composition.
        Cycle lengths, sizes of images and numbers of fixed points are drawn uniformly, so no value
        is much more frequent than others.

    Observation:
        The functions and the question.

    Action:
        One integer; for preimages, a set of integers.

    Reward:
        1 for the right number or the whole set, otherwise 0.

    Verification:
        Exact, on integers and finite sets.

    Difficulty:
        The number of points, of composed functions and of iterations grows. Following the
        iterations one by one soon takes too long: only the cycle that they enter counts.

    References:
        Knuth, The Art of Computer Programming, volume 2, section 3.1 (functional graphs).
    """

    def generate(self, rng: Rng) -> FunctionPropertiesProblem:
        kind, n, count = pick(rng, self.config.kinds), self.config.n_points, self.config.n_functions
        if kind in _ORBITS:
            count = max(1, count - 1)
        iterations, point = 1, integer(rng, 0, n - 1)
        if kind in _PLANTED:
            functions = _split(rng, _PLANTED[kind](rng, n, point), count)
            point = point if kind == "cycle_length" else 0
        else:
            functions = [self._draw(rng) for _ in range(count)]
            if kind == "preimage":
                point = composed(functions, n)[point]
            elif kind == "iterate":
                most = self.config.max_iterations
                iterations = integer(rng, (most + 1) // 2, most)
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
        lead = problem.kind in _ORBITS and len(names) > 1
        asked = f"Let $c(x) = {value % 'x'}$. " if lead else ""
        asked += _QUESTIONS[problem.kind].format(
            f="c" if lead else "f",
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

    def effort(self, problem: FunctionPropertiesProblem) -> int:
        """Count the values looked up; one that is calculated costs a product of such numbers."""
        n = problem.n_points
        once = sum(
            effort.multiplying(n, n) if function.coefficients else 1
            for function in problem.functions
        )
        if problem.kind in _ORBITS:
            path, _ = _orbit(composed(problem.functions, n), problem.point)
            last = problem.iterations if problem.kind == "iterate" else n
            return once * min(len(path), last)
        return once if problem.kind == "composition" else once * n

    def baseline(self, rng: Rng, problem: FunctionPropertiesProblem) -> str:
        """Apply the first function once to the point."""
        value = problem.functions[0].values(problem.n_points)[problem.point]
        return number_set((value,)) if problem.kind == "preimage" else str(value)

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
            return FiniteFunction(
                coefficients=(*integers(rng, 0, n - 1, 2), integer(rng, 1, n - 1))
            )
        return FiniteFunction(_table(rng, n))


_QUESTIONS = {
    "iterate": (
        "Let ${f}^k$ be the function ${f}$ applied $k$ times, for example ${f}^2(x) = "
        "{f}({f}(x))$. What is ${f}^{{{k}}}({point})$?"
    ),
    "composition": "What is ${of_point}$?",
    "cycle_length": (
        "If you start at {point} and apply ${f}$ repeatedly, you reach a cycle. "
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
    path, start = _orbit(values, point)
    length = len(path) - start
    if kind == "cycle_length":
        return (length,)
    step = iterations if iterations < start else start + (iterations - start) % length
    return (path[step],)


def _orbit(values: Sequence[int], point: int) -> tuple[list[int], int]:
    """Return the path from a point until a value comes again, and where that value is in it."""
    places = {point: 0}
    path = [point]
    while (after := values[path[-1]]) not in places:
        places[after] = len(path)
        path.append(after)
    return path, places[after]


def _table(rng: Rng, n: int) -> tuple[int, ...]:
    """Return values of which none occurs more than twice, so that none is an easy guess."""
    return tuple(value % n for value in rng.permutation(2 * n).tolist()[:n])


def _with_cycle(rng: Rng, n: int, point: int) -> tuple[int, ...]:
    """Return a function whose path from the point runs into a cycle of uniform length."""
    length = integer(rng, 1, n)
    tail = integer(rng, 0, n - length)
    order = [x for x in rng.permutation(n).tolist() if x != point]
    path = [point, *order[: tail + length - 1]]
    values = list(_table(rng, n))
    for x, y in zip(path, [*path[1:], path[tail]], strict=True):
        values[x] = y
    return tuple(values)


def _with_fixed_points(rng: Rng, n: int, point: int) -> tuple[int, ...]:
    """Return a function whose number of fixed points is drawn evenly, up to half of all."""
    del point
    fixed = set(rng.permutation(n).tolist()[: integer(rng, 0, n // 2)])
    return tuple(x if x in fixed else (x + integer(rng, 1, n - 1)) % n for x in range(n))


def _with_image(rng: Rng, n: int, point: int) -> tuple[int, ...]:
    """Return a function whose number of different values is drawn evenly, from 2 on."""
    del point
    image = rng.permutation(n).tolist()[: integer(rng, 2, n)]
    values = [*image, *(pick(rng, image) for _ in range(n - len(image)))]
    return tuple(values[i] for i in rng.permutation(n).tolist())


_PLANTED: dict[str, Callable[[Rng, int, int], tuple[int, ...]]] = {
    "cycle_length": _with_cycle,
    "fixed_points": _with_fixed_points,
    "image_size": _with_image,
}


def _split(rng: Rng, goal: Sequence[int], count: int) -> list[FiniteFunction]:
    """Return functions whose composition is the goal.

    All but the one applied last are permutations, so that it can undo them.
    """
    n = len(goal)
    inner = [FiniteFunction(tuple(rng.permutation(n).tolist())) for _ in range(count - 1)]
    last = [0] * n
    for x, y in enumerate(composed(inner, n)):
        last[y] = goal[x]
    return [FiniteFunction(tuple(last)), *inner]


def _orbit_steps(problem: FunctionPropertiesProblem) -> list[str]:
    """Return the path from the point, the cycle that it ends in, and what follows from them."""
    functions, n = problem.functions, problem.n_points
    pairs = list(zip(_NAMES, functions, strict=False))[::-1]
    path = [problem.point]
    steps = []
    while path.count(path[-1]) == 1:
        x = path[-1]
        for name, function in pairs:
            steps.append(f"{name} takes {x} to {value_told(function, x, n)}")
            x = function.values(n)[x]
        path.append(x)
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
