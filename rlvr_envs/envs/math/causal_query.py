"""Causal queries: associational, interventional and counterfactual distributions."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import NamedTuple, Protocol

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.causal_model import Distribution, Mechanism, Model, distance
from rlvr_envs.generators.mathematics.causal_text import describe, name, question, read_distribution
from rlvr_envs.generators.mathematics.latex import decimal
from rlvr_envs.generators.mathematics.steps import worked
from rlvr_envs.generators.mathematics.words import listed

LEVELS = ("association", "intervention", "counterfactual")
_TOLERANCE = Fraction(1, 100)
_GAP = Fraction(1, 20)  # how far the answer has to be from what a shortcut gives
_TRIES = 40
_NEAR = 3  # the second variable of the query is among this many before the last one


@dataclass(frozen=True, slots=True, kw_only=True)
class CausalQueryConfig(TaskConfig):
    """The size of the causal graph, and the kinds of queries."""

    n_variables: int = knob(5, "variables that the query depends on, with its own", low=2)
    n_bystanders: int = knob(2, "more variables, on which the query does not depend", low=0)
    max_values: int = knob(2, "each variable takes 2..max_values values", low=2, high=4)
    max_parents: int = knob(
        2, "the largest number of parents (direct causes) of a variable", low=1, high=4
    )
    denominator: int = knob(
        20, "given probabilities are multiples of 1/denominator", choices=(10, 20, 50, 100)
    )
    levels: tuple[str, ...] = knob(
        LEVELS, "kinds of queries; each problem has one of them", choices=LEVELS
    )

    @classmethod
    def at(cls, difficulty: int) -> "CausalQueryConfig":
        """One more variable a level, more bystanders; later more parents and values."""
        return cls(
            n_variables=2 + difficulty,
            n_bystanders=difficulty // 2,
            max_values=2 if difficulty < 4 else 3,
            max_parents=1 if difficulty == 0 else 2 if difficulty < 8 else 3,
            denominator=10 if difficulty < 2 else 20 if difficulty < 5 else 100,
        )


@dataclass(frozen=True, slots=True)
class CausalQueryProblem:
    """The mechanisms in the order of the prompt, and the query.

    Attributes:
        sizes: how many values each variable takes.
        mechanisms: one for each variable.
        denominator: the sum of the weights of every given distribution.
        level: association, intervention or counterfactual.
        target: the variable whose distribution is asked for.
        variable: the variable that is observed, set, or different in the counterfactual.
        value: the value that it is observed to have, or set to.
        seen: the observed values of the variable and the target in a counterfactual query;
            empty otherwise.
        answer: the exact distribution.
    """

    sizes: tuple[int, ...]
    mechanisms: tuple[Mechanism, ...]
    denominator: int
    level: str
    target: int
    variable: int
    value: int
    seen: tuple[int, ...]
    answer: tuple[Fraction, ...] = hidden()


@register("CausalQuery-v0", domain="math")
class CausalQueryTask(Task[CausalQueryConfig, CausalQueryProblem]):
    """Compute a conditional, interventional or counterfactual distribution in a causal model.

    Description:
        A random causal graph with all of its mechanisms. Associational and interventional
        queries come with conditional probability tables; counterfactual queries come with a
        structural causal model with independent noise variables, so the text determines the
        answer. A problem is drawn again, up to a limit, if its answer is within total variation
        distance 0.05 of what a shortcut gives (ignoring the observation or the intervention, or
        confusing the two), or if it needs less than half of the variables.

    Observation:
        The mechanisms in random order, and the query.

    Action:
        The list of the probabilities of the target variable's values, such as ``[0.25, 0.75]``.

    Reward:
        1 if the list is within total-variation distance 0.01 (inclusive) of the exact
        distribution, otherwise 0.

    Verification:
        Exact rational arithmetic. The list must have one number in [0, 1] for every value. Its
        sum may differ from 1 by as much as rounding to two decimals can cause.

    Difficulty:
        The query depends on more variables; then variables have more values and parents.

    References:
        Generalization of RLVR Using Causal Reasoning as a Testbed, arXiv 2512.20760, 2025;
        Pearl, Causality, chapters 1, 3 and 7.
    """

    def generate(self, rng: Rng) -> CausalQueryProblem:
        level = pick(rng, self.config.levels)
        best, widest = self._draw(rng, level)
        for _ in range(_TRIES - 1):
            if widest >= _GAP:
                break
            problem, gap = self._draw(rng, level)
            if gap > widest:
                best, widest = problem, gap
        return best

    def prompt(self, problem: CausalQueryProblem) -> str:
        model = describe(problem.sizes, problem.mechanisms, problem.denominator)
        seen = problem.seen if problem.level == "counterfactual" else None
        asked = question(problem.level, problem.target, problem.variable, problem.value, seen)
        values = [f"{name(problem.target)}={v}" for v in range(problem.sizes[problem.target])]
        return f"{model}\n\n{asked} {_FORM.format(values=listed(values))}"

    def verify(self, problem: CausalQueryProblem, answer: str) -> Verdict:
        given = read_distribution(answer)
        if given is None:
            return Verdict.unparsable("expected a list of probabilities such as [0.25, 0.75]")
        size = len(problem.answer)
        if len(given) != size:
            return Verdict.wrong(f"the list must have {size} numbers, not {len(given)}")
        if abs(sum(given, Fraction(-1))) > Fraction(size, 200):
            return Verdict.wrong("the probabilities do not add up to 1")
        far = distance(given, problem.answer)
        if far > _TOLERANCE:
            return Verdict.wrong("the distribution is more than 0.01 away from the right one")
        return Verdict.correct(distance=float(far))

    def solve(self, problem: CausalQueryProblem) -> str:
        return _listed(problem.answer)

    def effort(self, problem: CausalQueryProblem) -> int:
        """Count the probabilities and values in the tables of the variables that bear on the query.

        A counterfactual reads them three times: for the noises, and in both worlds.
        """
        model = Model(problem.sizes, problem.mechanisms)
        query = Query(problem.target, problem.variable, problem.value)
        worlds = 3 if problem.level == "counterfactual" else 1
        tables = (model.mechanisms[v] for v in _kept(model, problem.level, query))
        return worlds * sum(len(row) for table in tables for row in table.rows)

    def baseline(self, rng: Rng, problem: CausalQueryProblem) -> str:
        """Answer the mean of the rows in the target's own table."""
        table = Model(problem.sizes, problem.mechanisms).mechanisms[problem.target]
        size = problem.sizes[problem.target]
        weights = [0] * size
        for row in table.rows:
            pairs = zip(row, table.noise, strict=True) if table.noise else enumerate(row)
            for value, weight in pairs:
                weights[value] += weight
        return _listed(Fraction(weight, sum(weights)) for weight in weights)

    def explain(self, problem: CausalQueryProblem) -> list[str]:
        model = Model(problem.sizes, problem.mechanisms)
        query = Query(problem.target, problem.variable, problem.value, problem.seen)
        return query_steps(model, problem.denominator, problem.level, query)

    def _draw(self, rng: Rng, level: str) -> tuple[CausalQueryProblem, Fraction]:
        """Draw a model and a query, with how far its answer is from those of the shortcuts."""
        model, target, variable = self._pose(rng, level)
        sizes = model.sizes
        value = integer(rng, 0, sizes[variable] - 1)
        seen: tuple[int, ...] = ()
        if level == "counterfactual":
            real = (value + integer(rng, 1, sizes[variable] - 1)) % sizes[variable]
            seen = (real, integer(rng, 0, sizes[target] - 1))
        answer, shortcuts = _answers(model, level, target, (variable, value, seen))
        told = tuple(model.mechanisms[v] for v in rng.permutation(len(sizes)).tolist())
        total = self.config.denominator
        problem = CausalQueryProblem(
            sizes, told, total, level, target, variable, value, seen, answer
        )
        gap = min(1 - max(answer), *(distance(answer, shortcut) for shortcut in shortcuts))
        return problem, gap

    def _pose(self, rng: Rng, level: str) -> tuple[Model, int, int]:
        """Draw a model, a target and the other variable, at least half of the model counting."""
        backwards = level == "association" and rng.random() < 0.5
        tries = 0
        while True:
            tries += 1
            sizes, mechanisms, order = draw_model(
                rng, self.config, structural=level == "counterfactual"
            )
            model = Model(sizes, mechanisms)
            pairs = [(order[-1], v) for v in order[max(0, len(order) - 1 - _NEAR) : -1]]
            if backwards:
                pairs = [(v, last) for last, v in pairs]
            broad = [pair for pair in pairs if _involved(model, level, *pair) >= len(order)]
            if broad or tries == _TRIES:
                return model, *pick(rng, broad or pairs)


_FORM = (
    "Answer with the list of the probabilities of {values}, in this order, in square brackets and "
    "separated by commas. Round each probability to two decimals."
)


def _listed(distribution: Iterable[Fraction]) -> str:
    hundredths = (int(100 * p + Fraction(1, 2)) for p in distribution)
    return f"[{', '.join(f'{h // 100}.{h % 100:02}' for h in hundredths)}]"


def _involved(model: Model, level: str, target: int, variable: int) -> int:
    """Return twice the number of variables that bear on the query."""
    return 2 * model.involved(target, variable, None if level == "association" else variable)


def _answers(
    model: Model, level: str, target: int, query: tuple[int, int, tuple[int, ...]]
) -> tuple[Distribution, list[Distribution]]:
    """Return the answer to a query, and what the shortcuts say instead."""
    variable, value, seen = query
    marginal = model.observed(target, {})
    if level == "association":
        return model.observed(target, {variable: value}), [marginal]
    forced = model.intervened(target, variable, value)
    if level == "intervention":
        conditional = model.observed(target, {variable: value})
        # Without a confounder the two agree, and there is nothing to mix up.
        return forced, [marginal] if conditional == forced else [marginal, conditional]
    evidence = {variable: seen[0], target: seen[1]}
    return model.counterfactual(target, variable, value, evidence), [marginal, forced]


# Random causal graphs of bounded width, and random mechanisms for them.


_WINDOW = 4  # parents are looked for among this many variables before, which bounds the cost


class Shape(Protocol):
    """The size of a model."""

    @property
    def n_variables(self) -> int: ...
    @property
    def n_bystanders(self) -> int: ...
    @property
    def max_values(self) -> int: ...
    @property
    def max_parents(self) -> int: ...
    @property
    def denominator(self) -> int: ...


def draw_model(
    rng: Rng, shape: Shape, *, structural: bool
) -> tuple[tuple[int, ...], list[Mechanism], list[int]]:
    """Return the sizes, the mechanisms, and the variables that count, causes first.

    The last of these depends on all the others. Variables are numbered at random, so that their
    numbers say nothing.
    """
    n_variables, n_all = shape.n_variables, shape.n_variables + shape.n_bystanders
    graph = _draw_graph(rng, n_variables, shape.max_parents)
    for _ in range(shape.n_bystanders):
        count = integer(rng, 0, min(shape.max_parents, len(graph)))
        graph.append(sorted(rng.permutation(len(graph)).tolist()[:count]))
    label = rng.permutation(n_all).tolist()
    sizes = integers(rng, 2, shape.max_values, n_all)
    mechanisms = []
    for node, parents in enumerate(graph):
        variable, causes = label[node], tuple(label[parent] for parent in parents)
        n_rows = 1
        for cause in causes:
            n_rows *= sizes[cause]
        size = sizes[variable]
        if structural:
            noise = _weights(rng, size + 1, shape.denominator)
            rows = tuple(_onto(rng, size, size + 1) for _ in range(n_rows))
        else:
            noise = ()
            rows = tuple(_weights(rng, size, shape.denominator) for _ in range(n_rows))
        mechanisms.append(Mechanism(variable, causes, rows, noise))
    return sizes, mechanisms, label[:n_variables]


def _draw_graph(rng: Rng, n: int, max_parents: int) -> list[list[int]]:
    """Return the parents of each node; every node but the last has a child.

    At most ``max_parents`` nodes are without a child at any time, so the last can take them all.
    """
    graph: list[list[int]] = [[]]
    childless = [0]
    for node in range(1, n):
        window = range(max(0, node - _WINDOW), node)
        others = [v for v in window if v not in childless]
        if node == n - 1:
            taken = childless
        elif len(childless) < max_parents and rng.random() < 0.4:
            taken = []
        else:
            taken = childless[: integer(rng, 1, len(childless))]
        room = integer(rng, 0, max_parents - len(taken))
        extra = [others[i] for i in rng.permutation(len(others)).tolist()[:room]]
        childless = [v for v in childless if v not in taken] + [node]
        graph.append(sorted([*taken, *extra]))
    return graph


def _weights(rng: Rng, size: int, total: int) -> tuple[int, ...]:
    """Return positive integers of a given sum, every such tuple being equally likely."""
    cuts = sorted((rng.permutation(total - 1)[: size - 1] + 1).tolist())
    return tuple(b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True))


def _onto(rng: Rng, size: int, length: int) -> tuple[int, ...]:
    """Return values in random order, each of 0..size-1 among them."""
    values = [*range(size), *(pick(rng, range(size)) for _ in range(length - size))]
    return tuple(values[i] for i in rng.permutation(length).tolist())


# Steps to the answer of a causal query, by listing the cases that bear on it.


_MAX_CASES = 32  # longer lists teach nobody
_MAX_NOISES = 300  # combinations of noises, of which only those that fit are listed


class Query(NamedTuple):
    """The target, the other variable with its value, and what was seen of both, if anything."""

    target: int
    variable: int
    value: int
    seen: tuple[int, ...] = ()


class _Case(NamedTuple):
    told: str
    factors: list[Fraction]
    outcome: int


def query_steps(model: Model, denominator: int, level: str, query: Query) -> list[str]:
    """Return the steps, or none where there are too many cases to list."""
    if level == "counterfactual":
        steps = ["List the noises that fit what was observed. They stay as they were, and the rest"]
        steps[0] += f" follows with {name(query.variable)}={query.value}."
        cases = list(_noises(model, denominator, query))
    else:
        kept = _kept(model, level, query)
        steps = [f"These variables bear on it: {listed([name(v) for v in kept])}."]
        if level == "intervention":
            steps.append(
                f"{name(query.variable)}={query.value} is set, so its own causes do not count."
            )
        free = [v for v in kept if v != query.variable]
        if prod(model.sizes[v] for v in free) > _MAX_CASES:
            return []
        cases = list(_assignments(model, denominator, level, query))
    if not 0 < len(cases) <= _MAX_CASES:
        return []
    for case in cases:
        work = " * ".join(map(decimal, case.factors))
        steps.append(f"{case.told}: {worked(work, decimal(prod(case.factors)))}")
    return [*steps, *_shares(cases, name(query.target), model.sizes[query.target])]


def _shares(cases: list[_Case], target: str, size: int) -> list[str]:
    """Return the sums of the cases by the value of the target, and their shares."""
    steps = []
    sums = []
    for value in range(size):
        parts = [prod(case.factors) for case in cases if case.outcome == value]
        sums.append(sum(parts, Fraction(0)))
        work = " + ".join(map(decimal, parts)) or "0"
        steps.append(f"All with {target}={value}: {worked(work, decimal(sums[-1]))}")
    whole = sum(sums, Fraction(0))
    if whole != 1:
        steps.append(f"In all: {' + '.join(map(decimal, sums))} = {decimal(whole)}")
        for value, part in enumerate(sums):
            work = f"{decimal(part)} / {decimal(whole)} = {part / whole}"
            steps.append(f"The share of {target}={value}: {work}")
    return [*steps, "Round to two decimals."]


def _kept(model: Model, level: str, query: Query) -> list[int]:
    """Return the variables that bear on a query, causes first."""
    if level == "intervention":
        found = model.ancestors([query.target], cut=query.variable)
    else:
        found = model.ancestors([query.target, query.variable])
    order: list[int] = []
    while len(order) < len(found):
        order += [
            v
            for v in sorted(found)
            if v not in order
            and all(p in order or p not in found for p in model.mechanisms[v].parents)
        ]
    return order


def _assignments(model: Model, denominator: int, level: str, query: Query) -> Iterator[_Case]:
    kept = _kept(model, level, query)
    ranges = [[query.value] if v == query.variable else range(model.sizes[v]) for v in kept]
    for combination in product(*ranges):
        values = dict(zip(kept, combination, strict=True))
        factors = []
        for v in kept:
            if level == "intervention" and v == query.variable:
                continue
            factors.append(Fraction(_row(model, v, values)[values[v]], denominator))
        told = ", ".join(f"{name(v)}={values[v]}" for v in kept)
        if all(factors):
            yield _Case(told, factors, values[query.target])


def _noises(model: Model, denominator: int, query: Query) -> Iterator[_Case]:
    kept = _kept(model, "counterfactual", query)
    weights = [model.mechanisms[v].noise for v in kept]
    if prod(map(len, weights)) > _MAX_NOISES:
        return
    for combination in product(*(range(len(noise)) for noise in weights)):
        noise = dict(zip(kept, combination, strict=True))
        real, other = _world(model, noise, {}), _world(model, noise, {query.variable: query.value})
        if (real[query.variable], real[query.target]) != query.seen:
            continue
        factors = [
            Fraction(row[u], denominator) for row, u in zip(weights, combination, strict=True)
        ]
        told = ", ".join(f"U_{name(v)}={u}" for v, u in noise.items())
        if all(factors):
            outcome = other[query.target]
            told += f", so {name(query.target)} would be {outcome}"
            yield _Case(told, factors, outcome)


def _world(model: Model, noise: dict[int, int], forced: dict[int, int]) -> dict[int, int]:
    """Return the values of the variables, in the order of the noises, causes first."""
    values: dict[int, int] = {}
    for v, u in noise.items():
        values[v] = forced[v] if v in forced else _row(model, v, values)[u]
    return values


def _row(model: Model, variable: int, values: dict[int, int]) -> tuple[int, ...]:
    mechanism = model.mechanisms[variable]
    wanted = tuple(values[parent] for parent in mechanism.parents)
    return mechanism.rows[model.assignments(mechanism).index(wanted)]
