"""0/1 knapsack: the most valuable items that fit."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.optimisation.lists import listed, read_distinct
from rlvr_envs.generators.optimisation.task import (
    Infeasible,
    OptimisationConfig,
    OptimisationTask,
    Reference,
    budget_at,
    ramp,
)
from rlvr_envs.solvers import cp_sat

_MAX_ITEMS, _MAX_WEIGHT = 10_000, 10**6


@dataclass(frozen=True, slots=True, kw_only=True)
class KnapsackConfig(OptimisationConfig):
    """How many items there are, and how tight the knapsack is."""

    n_planted: int = knob(5, "planted items, which fit together", low=1)
    n_distractors: int = knob(6, "items besides the planted ones", low=1)
    max_weight: int = knob(20, "largest weight of a planted item", low=2, high=_MAX_WEIGHT)
    slack_percent: int = knob(
        20,
        "most capacity beyond the weight of the planted items, in percent of it",
        low=0,
        high=1000,
    )

    def check(self) -> None:
        if self.n_planted + self.n_distractors > _MAX_ITEMS:
            raise ConfigError(f"need n_planted + n_distractors <= {_MAX_ITEMS}, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "KnapsackConfig":
        """Items are added and their weights grow, through NP-Engine's bands; the slack shrinks."""
        return cls(
            budget=budget_at(difficulty),
            n_planted=ramp(difficulty, 3, easy=8, medium=10, hard=20, bench=30),
            n_distractors=ramp(difficulty, 4, easy=11, medium=20, hard=27, bench=37),
            max_weight=min(_MAX_WEIGHT, 20 + 5 * difficulty),
            slack_percent=max(2, 30 - 3 * difficulty),
        )


@dataclass(frozen=True, slots=True)
class KnapsackProblem:
    """Items are numbered from 1."""

    weights: tuple[int, ...]
    values: tuple[int, ...]
    capacity: int
    reference: Reference = hidden()


@register("Knapsack-v0", domain="np_hard")
class KnapsackTask(OptimisationTask[KnapsackConfig, KnapsackProblem]):
    """Choose items of the greatest total value that fit into a knapsack.

    Description:
        Planted items fit together with little room to spare. Distractors are heavy for their
        value, or light and nearly worthless, or traps: better by value for weight than the planted
        items, but too heavy to go with most of them.

    Observation:
        The capacity, and each item's number, weight and value.

    Action:
        The numbers of the chosen items, each once, in any order.

    Reward:
        Scheme ``over_greedy``: how far the value lies between that of taking items by value for
        weight as long as they fit, which earns 0, and the best known value, which earns 1;
        ``ratio`` begins instead at the best single item. An overfull knapsack earns 0.

    Verification:
        The items' weights and values are added up. The best known value comes from CP-SAT, and
        the row says whether it is proven to be optimal. No known gaps.

    Difficulty:
        Only the size grows: more items, larger weights and less room to spare.

    References:
        Kellerer, Pferschy and Pisinger, "Knapsack Problems", 2004. Li et al., "NP-Engine", 2025
        (arXiv:2510.16476), for the kinds of distractors and the size bands.
    """

    sense: ClassVar[Literal["max", "min"]] = "max"

    def draw(self, rng: Rng) -> KnapsackProblem:
        config = self.config
        items = [self._planted(rng) for _ in range(config.n_planted)]
        load = sum(weight for weight, _ in items)
        items += [self._distractor(rng, load) for _ in range(config.n_distractors)]
        order = rng.permutation(len(items)).tolist()
        weights = tuple(items[i][0] for i in order)
        values = tuple(items[i][1] for i in order)
        capacity = load * (100 + integer(rng, 0, config.slack_percent)) // 100
        single = max(v for w, v in zip(weights, values, strict=True) if w <= capacity)
        planted = [place for place, i in enumerate(order) if i < config.n_planted]
        starts = [planted, *([i] for i in range(len(order)) if weights[i] <= capacity)]
        choices = [_by_ratio(weights, values, capacity, start) for start in starts]
        known = max(choices, key=lambda chosen: sum(values[i] for i in chosen))
        worth = sum(values[i] for i in known)
        answer = listed(sorted(i + 1 for i in known))
        reference = Reference.known(worth, answer, trivial=single)
        return KnapsackProblem(weights, values, capacity, reference)

    def _planted(self, rng: Rng) -> tuple[int, int]:
        weight = integer(rng, 2, self.config.max_weight)
        return weight, weight * integer(rng, 8, 16) // 8 + 1

    def _distractor(self, rng: Rng, load: int) -> tuple[int, int]:
        kind = pick(rng, ("heavy", "heavy", "cheap", "cheap", "trap"))
        if kind == "heavy":
            weight = integer(rng, self.config.max_weight, 2 * self.config.max_weight)
            return weight, max(1, weight * integer(rng, 3, 7) // 8)
        if kind == "cheap":
            return integer(rng, 1, max(2, self.config.max_weight // 3)), integer(rng, 1, 3)
        weight = load // 2 + integer(rng, 1, self.config.max_weight)
        return weight, weight * integer(rng, 10, 15) // 8

    def improve(self, rng: Rng, problem: KnapsackProblem) -> Reference:
        weights, values, known = problem.weights, problem.values, problem.reference
        model = cp_sat.new_model()
        taken = [model.new_bool_var("") for _ in weights]
        model.add(sum(w * x for w, x in zip(weights, taken, strict=True)) <= problem.capacity)
        model.maximize(sum(v * x for v, x in zip(values, taken, strict=True)))
        solved = cp_sat.solve(model, taken, budget=self.config.budget)
        if solved is None or solved.objective < known.objective:
            return dataclasses.replace(known, bound=sum(values))
        return Reference(
            objective=solved.objective,
            bound=solved.bound,
            proven=solved.proven,
            trivial=known.trivial,
            answer=listed(i for i, x in enumerate(solved.values, start=1) if x),
            effort=solved.effort,
        )

    def prompt(self, problem: KnapsackProblem) -> str:
        pairs = zip(problem.weights, problem.values, strict=True)
        items = "\n".join(
            f"{i}: weight {weight}, value {value}" for i, (weight, value) in enumerate(pairs, 1)
        )
        credit = self.partial_credit(
            "its value is higher than that of going through the items from the highest to the "
            "lowest value per weight and taking every item that still fits",
            "its value is higher than that of every single item that fits",
        )
        return (
            f"A knapsack holds a total weight of at most {problem.capacity}. You can take each of "
            f"these items at most once:\n\n{items}\n\nChoose items whose total weight is at most "
            f"{problem.capacity} and whose total value is as large as possible. {credit} Answer "
            "with the numbers of the chosen items, separated by commas."
        )

    def measure(self, problem: KnapsackProblem, answer: str) -> int:
        chosen = read_distinct(answer, low=1, high=len(problem.weights), what="item")
        weight = sum(problem.weights[i - 1] for i in chosen)
        if weight > problem.capacity:
            raise Infeasible(f"the items weigh {weight}, more than {problem.capacity}")
        return sum(problem.values[i - 1] for i in chosen)

    def effort(self, problem: KnapsackProblem) -> int:
        """Return the states of Nemhauser and Ullmann's search: loads that no other beats."""
        states, seen = [(0, 0)], 1  # loads with their values, both rising
        for weight, value in zip(problem.weights, problem.values, strict=True):
            added = [(w + weight, v + value) for w, v in states if w + weight <= problem.capacity]
            merged = sorted([*states, *added], key=lambda state: (state[0], -state[1]))
            states, best = [], -1
            for load, worth in merged:
                if worth > best:
                    best = worth
                    states.append((load, worth))
            seen += len(states)
        return seen

    def explain(self, problem: KnapsackProblem) -> list[str]:
        """Return the items by value for weight, the bound they give, and what is taken."""
        weights, values = problem.weights, problem.values
        chosen = set(read_distinct(self.solve(problem), low=1, high=len(weights), what="item"))
        order = sorted(range(1, len(weights) + 1), key=lambda i: -values[i - 1] / weights[i - 1])
        ratios = ", ".join(f"{i} ({values[i - 1] / weights[i - 1]:.2f})" for i in order)
        steps = [f"Items by value for a unit of weight, the best first: {ratios}."]
        left, most = problem.capacity, Fraction(0)
        for i in order:
            part = min(weights[i - 1], left)
            left, most = left - part, most + Fraction(values[i - 1] * part, weights[i - 1])
        steps.append(
            f"With the items in this order, the last one cut where the knapsack is full, its value "
            f"would be {float(most):.2f}: no choice is worth more than {int(most)}."
        )
        weight = value = 0
        for i in order:
            if i not in chosen:
                continue
            weight, value = weight + weights[i - 1], value + values[i - 1]
            steps.append(
                f"Take item {i}: weight {weight} of {problem.capacity} so far, value {value}."
            )
        return [*steps, self.conclusion(problem, "The total value")]

    def baseline(self, rng: Rng, problem: KnapsackProblem) -> str:
        """Take the items by value for weight, as long as they fit."""
        chosen = _by_ratio(problem.weights, problem.values, problem.capacity)
        return listed(sorted(i + 1 for i in chosen))

    def neighbour(self, problem: KnapsackProblem, answer: str, rng: Rng) -> str:
        """Swap an item for another, or add one."""
        chosen = set(read_distinct(answer, low=1, high=len(problem.weights), what="item"))
        outside = sorted(set(range(1, len(problem.weights) + 1)) - chosen)
        if chosen and integer(rng, 0, 1):
            chosen.remove(pick(rng, sorted(chosen)))
        if outside:
            chosen.add(pick(rng, outside))
        return listed(sorted(chosen))


def _by_ratio(
    weights: Sequence[int], values: Sequence[int], capacity: int, start: Sequence[int] = ()
) -> list[int]:
    """Return a choice that begins with ``start`` and goes on by value for weight while it fits."""
    chosen, room = list(start), capacity - sum(weights[i] for i in start)
    for i in sorted(range(len(weights)), key=lambda i: -values[i] / weights[i]):
        if i not in start and weights[i] <= room:
            room -= weights[i]
            chosen.append(i)
    return chosen
