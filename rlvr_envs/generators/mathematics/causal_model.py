"""Discrete causal models with exact inference: mechanisms, their factors, variable elimination.

All weights are integers, so every probability is an exact fraction of two of them. A model is
either probabilistic, one row of weights for every assignment of the parents, or structural, where
a hidden noise of its own decides which value each assignment gives.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Table: TypeAlias = npt.NDArray[Any]  # of Python integers
Distribution: TypeAlias = tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Mechanism:
    """How one variable comes about.

    Attributes:
        variable: the index of the variable.
        parents: the variables that it depends on directly.
        rows: one row for every assignment of the parents, the last parent changing fastest. A row
            holds the weight of each value or, in a structural model, the value for each noise.
        noise: the weights of the noise of a structural model; empty in a probabilistic one.
    """

    variable: int
    parents: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...]
    noise: tuple[int, ...] = ()


class _Factor(NamedTuple):
    scope: tuple[int, ...]  # rising
    table: Table


class Model:
    """Mechanisms over variables of given sizes, and what can be asked of them."""

    def __init__(self, sizes: Sequence[int], mechanisms: Iterable[Mechanism]) -> None:
        self.sizes = tuple(sizes)
        self.mechanisms = {mechanism.variable: mechanism for mechanism in mechanisms}

    def assignments(self, mechanism: Mechanism) -> list[tuple[int, ...]]:
        """Return the parents' assignments in the order of the mechanism's rows."""
        return list(product(*(range(self.sizes[parent]) for parent in mechanism.parents)))

    def ancestors(self, variables: Iterable[int], cut: int | None = None) -> set[int]:
        """Return the variables and all that they depend on; nothing acts on the cut one."""
        found: set[int] = set()
        stack = list(variables)
        while stack:
            variable = stack.pop()
            if variable not in found:
                found.add(variable)
                if variable != cut:
                    stack.extend(self.mechanisms[variable].parents)
        return found

    def observed(self, target: int, evidence: Mapping[int, int]) -> Distribution:
        """Return the distribution of the target, given the evidence."""
        factors = self._factors(self.ancestors([target, *evidence]))
        return _normalised(_eliminate(factors, evidence, target))

    def intervened(self, target: int, variable: int, value: int) -> Distribution:
        """Return the distribution of the target when a variable is set to a value."""
        kept = self.ancestors([target], cut=variable) - {variable}
        return _normalised(_eliminate(self._factors(kept), {variable: value}, target))

    def counterfactual(
        self, target: int, variable: int, value: int, evidence: Mapping[int, int]
    ) -> Distribution:
        """Return the distribution that the target would have had under the other value.

        The noises, which the evidence tells about, are shared by the real and the other world;
        only what descends from the variable is there twice.
        """
        kept = self.ancestors([target, *evidence])
        n = len(self.sizes)
        changed = {v for v in kept if v != variable and variable in self.ancestors([v])}
        copies = {v: 2 * n + v for v in (*changed, variable)}
        factors = []
        for v in sorted(kept):
            mechanism = self.mechanisms[v]
            factors.append(_Factor((n + v,), np.array(mechanism.noise, dtype=object)))
            factors.append(self._structural(mechanism, {}))
            if v in changed:
                factors.append(self._structural(mechanism, copies))
        if target not in changed:
            return _normalised(_eliminate(factors, evidence, target))
        known = {**evidence, copies[variable]: value}
        return _normalised(_eliminate(factors, known, copies[target]))

    def involved(self, target: int, variable: int, cut: int | None = None) -> int:
        """Return how many variables bear on the target once the other one is known.

        These are the ancestors that are connected to the target in the moral graph without the
        known variable; nothing acts on the cut one.
        """
        kept = self.ancestors([target, variable], cut=cut)
        neighbours: dict[int, set[int]] = {v: set() for v in kept}
        for v in kept - {cut}:
            family = {v, *self.mechanisms[v].parents}
            for member in family:
                neighbours[member] |= family
        found: set[int] = set()
        stack = [target]
        while stack:
            v = stack.pop()
            if v not in found and v != variable:
                found.add(v)
                stack.extend(neighbours[v])
        return len(found)

    def _factors(self, variables: Iterable[int]) -> list[_Factor]:
        return [self._probabilistic(self.mechanisms[v]) for v in sorted(variables)]

    def _probabilistic(self, mechanism: Mechanism) -> _Factor:
        size = self.sizes[mechanism.variable]
        rows: Sequence[Sequence[int]] = mechanism.rows
        if mechanism.noise:
            rows = [
                [
                    sum(w for w, v in zip(mechanism.noise, row, strict=True) if v == value)
                    for value in range(size)
                ]
                for row in mechanism.rows
            ]
        shape = [*(self.sizes[parent] for parent in mechanism.parents), size]
        table = np.array(rows, dtype=object).reshape(shape)
        return _sorted((*mechanism.parents, mechanism.variable), table)

    def _structural(self, mechanism: Mechanism, renamed: Mapping[int, int]) -> _Factor:
        """Return the 0-1 factor of parents, noise and value; noises keep their numbers."""
        size, n_noise = self.sizes[mechanism.variable], len(mechanism.noise)
        shape = [*(self.sizes[parent] for parent in mechanism.parents), n_noise, size]
        rows = [[[int(v == value) for value in range(size)] for v in row] for row in mechanism.rows]
        table = np.array(rows, dtype=object).reshape(shape)
        parents = tuple(renamed.get(parent, parent) for parent in mechanism.parents)
        noise = len(self.sizes) + mechanism.variable
        return _sorted(
            (*parents, noise, renamed.get(mechanism.variable, mechanism.variable)), table
        )


def distance(left: Distribution, right: Distribution) -> Fraction:
    """Return the total-variation distance of two distributions of the same length."""
    return sum((abs(p - q) for p, q in zip(left, right, strict=True)), Fraction(0)) / 2


def _sorted(scope: tuple[int, ...], table: Table) -> _Factor:
    order = sorted(range(len(scope)), key=scope.__getitem__)
    return _Factor(tuple(scope[i] for i in order), table.transpose(order))


def _eliminate(factors: list[_Factor], evidence: Mapping[int, int], target: int) -> list[int]:
    """Return the weight of each value of the target, up to a common factor.

    Sums out one variable after another, each time the one whose product is smallest. A target
    that is itself part of the evidence keeps its own row of weights only.
    """
    fixed = {variable: value for variable, value in evidence.items() if variable != target}
    live = [_restrict(factor, fixed) for factor in factors]
    waiting = {variable for factor in live for variable in factor.scope} - {target}
    while waiting:
        costs = {v: _cost(live, v) for v in waiting}
        chosen = min(sorted(waiting), key=costs.__getitem__)
        touching = [factor for factor in live if chosen in factor.scope]
        live = [factor for factor in live if chosen not in factor.scope]
        joint = _multiply(touching)
        axis = joint.scope.index(chosen)
        scope = joint.scope[:axis] + joint.scope[axis + 1 :]
        live.append(_Factor(scope, np.asarray(joint.table.sum(axis=axis), dtype=object)))
        waiting.discard(chosen)
    weights: list[int] = _multiply(live).table.tolist()
    if target in evidence:
        return [w if value == evidence[target] else 0 for value, w in enumerate(weights)]
    return weights


def _restrict(factor: _Factor, evidence: Mapping[int, int]) -> _Factor:
    at = tuple(evidence.get(v, slice(None)) for v in factor.scope)
    scope = tuple(v for v in factor.scope if v not in evidence)
    return _Factor(scope, np.asarray(factor.table[at], dtype=object))


def _cost(factors: Iterable[_Factor], variable: int) -> int:
    sizes: dict[int, int] = {}
    for scope, table in factors:
        if variable in scope:
            sizes.update(zip(scope, table.shape, strict=True))
    return math.prod(sizes.values())


def _multiply(factors: Iterable[_Factor]) -> _Factor:
    """Return the product; smaller factors come first, so that the large arrays are few."""
    result = _Factor((), np.array(1, dtype=object))
    for factor in sorted(factors, key=lambda factor: factor.table.size):
        scope = tuple(sorted({*result.scope, *factor.scope}))
        left, right = _spread(result, scope), _spread(factor, scope)
        result = _Factor(scope, np.asarray(left * right, dtype=object))
    return result


def _spread(factor: _Factor, scope: tuple[int, ...]) -> Table:
    sizes = dict(zip(factor.scope, factor.table.shape, strict=True))
    return factor.table.reshape([sizes.get(v, 1) for v in scope])


def _normalised(weights: Sequence[int]) -> Distribution:
    total = sum(weights)
    return tuple(Fraction(weight, total) for weight in weights)
