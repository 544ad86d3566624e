"""Travelling salesman: the shortest round trip through every city."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers
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

_MAX_CITIES = 400  # more than any level has


@dataclass(frozen=True, slots=True, kw_only=True)
class TravelingSalesmanConfig(OptimisationConfig):
    """How many cities there are, and how far apart."""

    n_cities: int = knob(8, "cities", low=4, high=_MAX_CITIES)
    min_distance: int = 10
    max_distance: int = 100

    def check(self) -> None:
        if not 1 <= self.min_distance < self.max_distance <= 10**6:
            raise ConfigError(f"need 1 <= min_distance < max_distance <= 10**6, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "TravelingSalesmanConfig":
        """Cities are added, through NP-Engine's bands, up to 64: more make too long a table."""
        return cls(
            budget=budget_at(difficulty),
            n_cities=min(64, ramp(difficulty, 7, easy=11, medium=20, hard=35, bench=45)),
        )


@dataclass(frozen=True, slots=True)
class TravelingSalesmanProblem:
    """Row i of ``distances`` holds those from city i to the cities after it, numbered from 1."""

    distances: tuple[tuple[int, ...], ...]
    reference: Reference = hidden()


@register("TravelingSalesman-v0", domain="np_hard")
class TravelingSalesmanTask(OptimisationTask[TravelingSalesmanConfig, TravelingSalesmanProblem]):
    """Find the shortest round trip that visits every city once.

    Description:
        Distances are the same in both directions and drawn at random. They need not obey the
        triangle inequality, so there is no map behind them.

    Observation:
        The table of distances between the cities.

    Action:
        Every city once, in the order of the trip; the way back to the first one is implied.

    Reward:
        Scheme ``over_greedy``: how far the trip's length lies between that of always going on to
        the nearest city, from city 1, which earns 0, and the shortest known, which earns 1.
        ``ratio`` begins instead at visiting the cities in numeric order: any order written down
        without a look at the table is as good on average. Leaving a city out or visiting it twice
        earns 0. ``graph_r1`` squares the ratio, as Graph-R1 does for tours.

    Verification:
        The distances along the trip are added up. The reference is the shortest trip on the most
        promising edges, from CP-SAT; Held and Karp's bound usually proves it optimal, and the row
        says so. No known gaps.

    Difficulty:
        Only the size grows: cities are added, up to 64.

    References:
        Dantzig, Fulkerson and Johnson, 1954; Held and Karp, 1970. Li et al., "NP-Engine", 2025
        (arXiv:2510.16476), for the distances and the size bands. "Graph-R1", 2025
        (arXiv:2508.20373), for the scheme of that name.
    """

    sense: ClassVar[Literal["max", "min"]] = "min"
    graph_r1_power: ClassVar[int] = 2

    def draw(self, rng: Rng) -> TravelingSalesmanProblem:
        config = self.config
        distances = tuple(
            integers(rng, config.min_distance, config.max_distance, config.n_cities - city)
            for city in range(1, config.n_cities)
        )
        table = _table(distances)
        tour = two_opt(nearest_neighbour(table), table)
        numeric = length(range(config.n_cities), table)
        reference = Reference.known(length(tour, table), _written(tour), trivial=numeric)
        return TravelingSalesmanProblem(distances, reference)

    def improve(self, rng: Rng, problem: TravelingSalesmanProblem) -> Reference:
        found = shortest_tour(_table(problem.distances), budget=self.config.budget)
        return Reference(
            objective=found.length,
            bound=found.bound,
            proven=found.length == found.bound,
            trivial=problem.reference.trivial,
            answer=_written(found.tour),
            effort=found.effort,
        )

    def prompt(self, problem: TravelingSalesmanProblem) -> str:
        table = _table(problem.distances)
        rows = "\n".join(f"{city}: {listed(row)}" for city, row in enumerate(table, start=1))
        n = len(table)
        credit = self.partial_credit(
            "it is shorter than the tour that starts at city 1 and always goes on to the nearest "
            "city not visited yet",
            "it is shorter than visiting the cities in numeric order",
        )
        return (
            f"There are {n} cities, numbered from 1 to {n}. Each row of this table gives the "
            f"number of a city, a colon, and the distances from it to the cities 1 to {n}, in this "
            f"order. Distances are the same in both directions.\n\n{rows}\n\nFind a tour of "
            "minimum length: a round trip that visits every city exactly once and returns to its "
            f"start (travelling salesman problem). {credit} Answer with the cities in the order of "
            "the tour, separated by commas. Do not repeat the first city at the end."
        )

    def measure(self, problem: TravelingSalesmanProblem, answer: str) -> int:
        n = len(problem.distances) + 1
        trip = read_distinct(answer, low=1, high=n, what="city")
        if len(trip) < n:
            raise Infeasible(f"the tour leaves out {n - len(trip)} of {n} cities")
        legs = zip(trip, [*trip[1:], trip[0]], strict=True)
        return sum(problem.distances[min(leg) - 1][abs(leg[1] - leg[0]) - 1] for leg in legs)

    def explain(self, problem: TravelingSalesmanProblem) -> list[str]:
        """Return the legs of the trip, each with the nearest cities and the length so far."""
        table, total = _table(problem.distances), 0
        trip = read_distinct(self.solve(problem), low=1, high=len(table), what="city")
        steps = []
        for i, (here, there) in enumerate(zip(trip, [*trip[1:], trip[0]], strict=True), 1):
            total += table[here - 1][there - 1]
            near = sorted(trip[i:], key=lambda city: table[here - 1][city - 1])[:3]
            offered = ", ".join(f"{city} ({table[here - 1][city - 1]})" for city in near)
            nearest = (
                f"Nearest to {here} of those left: {offered}. " if near else "All are visited. "
            )
            steps.append(
                f"{nearest}From {here} to {there}: {table[here - 1][there - 1]}, in all {total}."
            )
        return [*steps, self.conclusion(problem, "The length")]

    def baseline(self, rng: Rng, problem: TravelingSalesmanProblem) -> str:
        """Go from city 1 to the nearest city not visited yet, and so on."""
        return _written(nearest_neighbour(_table(problem.distances)))

    def neighbour(self, problem: TravelingSalesmanProblem, answer: str, rng: Rng) -> str:
        """Turn a stretch of the trip round, or move it elsewhere."""
        n = len(problem.distances) + 1
        trip = read_distinct(answer, low=1, high=n, what="city")
        start = integer(rng, 0, len(trip) - 2)
        end = integer(rng, start + 2, len(trip))
        rest, stretch = trip[:start] + trip[end:], trip[start:end][::-1]
        place = start if integer(rng, 0, 1) else integer(rng, 0, len(rest))
        return listed(rest[:place] + stretch + rest[place:])


def _table(distances: tuple[tuple[int, ...], ...]) -> list[list[int]]:
    """Return the whole table, with both directions and zeros on the diagonal."""
    n = len(distances) + 1
    table = [[0] * n for _ in range(n)]
    for a, row in enumerate(distances):
        for b, distance in enumerate(row, start=a + 1):
            table[a][b] = table[b][a] = distance
    return table


def _written(tour: list[int]) -> str:
    return listed(city + 1 for city in tour)


# Shortest tours: two heuristics, Held and Karp's lower bound, and a search on the edges it leaves.
#
# Cities are numbered from 0 here. Everything is integer arithmetic, so it is the same everywhere.


Matrix = Sequence[Sequence[int]]
_Array = npt.NDArray[np.int64]
_STARTS = 60  # of the heuristics, shared out over the cities
_SCALE = 64  # of distances inside the bound, so that potentials can be fractions
_ROUNDS = 20  # of subgradient ascent
_EDGES_PER_CITY = 3  # that the solver may use
_ASKED = 50  # at most, of the solver about one problem
_FAR = 2**40


@dataclass(frozen=True, slots=True)
class Shortest:
    """The shortest tour found, a lower bound on all tours, and the work in microseconds."""

    tour: list[int]
    length: int
    bound: int
    effort: int


def length(tour: Sequence[int], distances: Matrix) -> int:
    """Return the length of a closed tour."""
    return sum(distances[a][b] for a, b in zip(tour, [*tour[1:], tour[0]], strict=True))


def nearest_neighbour(distances: Matrix, start: int = 0) -> list[int]:
    """Return the tour that always goes on to the nearest city not visited yet."""
    tour, left = [start], [city for city in range(len(distances)) if city != start]
    while left:
        row = distances[tour[-1]]
        following = min(left, key=lambda city: (row[city], city))
        left.remove(following)
        tour.append(following)
    return tour


def two_opt(tour: Sequence[int], distances: Matrix) -> list[int]:
    """Return the tour after reversing stretches of it as long as that makes it shorter."""
    found, n = list(tour), len(tour)
    improved = True
    while improved:
        improved = False
        for i in range(n - 2):
            for j in range(i + 2, n - (i == 0)):
                a, b, c, d = found[i], found[i + 1], found[j], found[(j + 1) % n]
                new = distances[a][c] + distances[b][d]
                if new < distances[a][b] + distances[c][d]:
                    found[i + 1 : j + 1] = found[i + 1 : j + 1][::-1]
                    improved = True
    return found


def shortest_tour(distances: Matrix, *, budget: float) -> Shortest:
    """Return a shortest tour, or the best one that the budget allows.

    The solver sees only the edges that a tree of the bound would take in most cheaply. A tour
    with another edge is at least as long as the bound and that edge's surcharge, which usually
    proves that leaving it out lost nothing.
    """
    n = len(distances)
    starts = range(max(1, min(n, _STARTS // n)))
    hints = [two_opt(nearest_neighbour(distances, start), distances) for start in starts]
    hint = min(hints, key=lambda tour: length(tour, distances))
    bound, surcharges = held_karp(distances, length(hint, distances))
    if _rounded_up(bound) == length(hint, distances):
        return Shortest(hint, length(hint, distances), _rounded_up(bound), 0)
    pairs = sorted((int(surcharges[a, b]), a, b) for a in range(n) for b in range(a + 1, n))
    n_kept = _EDGES_PER_CITY * n
    kept = sorted({(a, b) for _, a, b in pairs[:n_kept]} | _steps(hint))
    found = _on_edges(distances, kept, hint, budget)
    elsewhere = pairs[n_kept][0] if n_kept < len(pairs) else _FAR
    proven = max(_rounded_up(bound), min(found.bound, _rounded_up(bound + elsewhere)))
    return Shortest(found.tour, found.length, min(proven, found.length), found.effort)


def held_karp(distances: Matrix, upper: int) -> tuple[int, _Array]:
    """Return a lower bound on all tours, and for each edge what it adds to the bound if taken.

    Both are in units of 1/64 of a distance. A tour is a tree of the cities but the first, and two
    edges at the first; potentials on the cities make the cheapest of these resemble a tour (Held
    and Karp, 1970). ``upper`` is the length of some tour and only sets the size of the steps.
    """
    scaled = np.array(distances, dtype=np.int64) * _SCALE
    potentials = np.zeros(len(scaled), dtype=np.int64)
    best, weights = -_FAR, scaled
    for rounds_left in range(_ROUNDS, 0, -1):
        current = scaled + potentials[:, None] + potentials[None, :]
        total, degrees = _one_tree(current)
        lower = total - 2 * int(potentials.sum())
        if lower > best:
            best, weights = lower, current
        excess = degrees - 2
        norm = int((excess**2).sum())
        if norm == 0:
            break
        gap = max(upper * _SCALE - lower, _SCALE)
        potentials += max(1, gap * rounds_left // (_ROUNDS * norm)) * excess
    return best, _surcharges(weights)


def _prim(weights: _Array) -> list[tuple[int, int]]:
    """Return the edges of a minimum spanning tree as (parent, child), in the order of growth."""
    n = len(weights)
    costs = weights[0].copy()
    parents = np.zeros(n, dtype=np.int64)
    costs[0] = _FAR
    outside = np.ones(n, dtype=bool)
    outside[0] = False
    edges = []
    for _ in range(n - 1):
        child = int(costs.argmin())
        edges.append((int(parents[child]), child))
        outside[child] = False
        costs[child] = _FAR
        nearer = outside & (weights[child] < costs)
        costs[nearer] = weights[child][nearer]
        parents[nearer] = child
    return edges


def _one_tree(weights: _Array) -> tuple[int, _Array]:
    """Return the weight of the cheapest tree with a cycle through city 0, and its degrees."""
    degrees = np.zeros(len(weights), dtype=np.int64)
    total = 0
    for parent, child in _prim(weights[1:, 1:]):
        total += int(weights[parent + 1, child + 1])
        degrees[parent + 1] += 1
        degrees[child + 1] += 1
    nearest = weights[0, 1:].argsort(kind="stable")[:2] + 1
    degrees[nearest] += 1
    degrees[0] = 2
    return total + int(weights[0, nearest].sum()), degrees


def _surcharges(weights: _Array) -> _Array:
    """Return how much heavier the cheapest such tree gets when it must hold an edge."""
    n = len(weights)
    heaviest = np.zeros((n, n), dtype=np.int64)  # edge on the way between two cities of the tree
    joined = [1]
    for above, below in _prim(weights[1:, 1:]):
        parent, child = above + 1, below + 1
        heaviest[child, joined] = np.maximum(heaviest[parent, joined], weights[parent, child])
        heaviest[joined, child] = heaviest[child, joined]
        joined.append(child)
    second = np.partition(weights[0, 1:], 1)[1]
    heaviest[0, :] = heaviest[:, 0] = second
    found: _Array = np.maximum(weights - heaviest, 0)
    return found


def _rounded_up(scaled: int) -> int:
    return -(-scaled // _SCALE)


def _steps(tour: Sequence[int]) -> set[tuple[int, int]]:
    """Return the edges of a tour, the smaller city first."""
    return {(min(a, b), max(a, b)) for a, b in zip(tour, [*tour[1:], tour[0]], strict=True)}


def _on_edges(
    distances: Matrix, edges: list[tuple[int, int]], hint: Sequence[int], budget: float
) -> Shortest:
    """Return the shortest tour on some edges, which hold those of the hint.

    Every city has two edges; whenever that gives several small tours, each of them is told to
    reach out, and the solver is asked again (Dantzig, Fulkerson and Johnson, 1954).
    """
    n, stepped = len(distances), _steps(hint)
    model = cp_sat.new_model()
    used = [model.new_bool_var("") for _ in edges]
    for city in range(n):
        model.add(sum(x for x, ends in zip(used, edges, strict=True) if city in ends) == 2)
    model.minimize(sum(distances[a][b] * x for x, (a, b) in zip(used, edges, strict=True)))
    for x, step in zip(used, edges, strict=True):
        model.add_hint(x, step in stepped)
    bound, effort = 0, 0
    for _ in range(_ASKED):
        solved = cp_sat.solve(model, used, budget=budget - effort / 1e6)
        if solved is None:
            break
        bound, effort = max(bound, solved.bound), effort + solved.effort
        parts = _cycles(n, [e for e, value in zip(edges, solved.values, strict=True) if value])
        if len(parts) == 1:
            return Shortest(parts[0], solved.objective, bound, effort)
        if effort >= budget * 1e6:
            break
        for part in map(set, parts):
            leaving = (
                x for x, (a, b) in zip(used, edges, strict=True) if (a in part) != (b in part)
            )
            model.add(sum(leaving) >= 2)
    return Shortest(list(hint), length(hint, distances), bound, effort)


def _cycles(n: int, edges: list[tuple[int, int]]) -> list[list[int]]:
    """Return the cycles that edges form which meet every city twice."""
    beside: list[list[int]] = [[] for _ in range(n)]
    for a, b in edges:
        beside[a].append(b)
        beside[b].append(a)
    left, cycles = set(range(n)), []
    for start in range(n):
        if start not in left:
            continue
        cycle, city = [], start
        while city in left:
            left.remove(city)
            cycle.append(city)
            city = next((other for other in beside[city] if other in left), start)
        cycles.append(cycle)
    return cycles
