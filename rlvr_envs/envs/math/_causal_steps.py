"""Steps to the answer of a causal query, by listing the cases that bear on it."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import prod
from typing import NamedTuple

from rlvr_envs.generators.mathematics.causal_model import Model
from rlvr_envs.generators.mathematics.causal_text import name
from rlvr_envs.generators.mathematics.latex import decimal
from rlvr_envs.generators.mathematics.steps import worked
from rlvr_envs.generators.mathematics.words import listed

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
