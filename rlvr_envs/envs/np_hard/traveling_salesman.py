"""Travelling salesman: the shortest round trip through every city."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers
from rlvr_envs.envs.np_hard import _tours
from rlvr_envs.generators.optimisation.lists import listed, read_distinct
from rlvr_envs.generators.optimisation.task import (
    Infeasible,
    OptimisationConfig,
    OptimisationTask,
    Reference,
    budget_at,
    ramp,
)

_MAX_CITIES = 400  # more than any rung has
_DRAWS = 20  # at most, of a problem where visiting the cities in numeric order is no optimum


@dataclass(frozen=True, slots=True, kw_only=True)
class TravelingSalesmanConfig(OptimisationConfig):
    """How many cities there are, and how far apart."""

    n_cities: int = 8
    min_distance: int = 10
    max_distance: int = 100

    def __post_init__(self) -> None:
        OptimisationConfig.__post_init__(self)
        if not 4 <= self.n_cities <= _MAX_CITIES:
            raise ConfigError(f"n_cities is from 4 to {_MAX_CITIES}, got {self.n_cities}")
        if not 1 <= self.min_distance < self.max_distance <= 10**6:
            raise ConfigError(f"need 1 <= min_distance < max_distance <= 10**6, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "TravelingSalesmanConfig":
        """Cities are added, through NP-Engine's bands."""
        return cls(
            budget=budget_at(difficulty),
            n_cities=ramp(difficulty, 5, easy=10, medium=20, hard=35, bench=45),
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
        Every city once, in the order of the trip; the way back to the first one is understood.

    Reward:
        Scheme ``ratio``: how far the trip's length lies between that of visiting the cities in
        numeric order, which earns 0, and the shortest known, which earns 1. Any order written
        down without a look at the table is as good as numeric order on average, and earns near 0.
        Always going on to the nearest city earns most of the marks, 0.8 to 0.9; whoever wants to
        pay for the best trip alone takes the scheme ``binary``. Leaving a city out or visiting it
        twice earns 0. ``graph_r1`` squares the ratio, as Graph-R1 does for tours.

    Episode End:
        After one step.

    Verification:
        The distances along the trip are added up. The reference is the shortest trip on the most
        promising edges, from CP-SAT; Held and Karp's bound usually proves it optimal, and the row
        says so. No known gaps.

    Difficulty:
        The cities grow in number.

    References:
        Dantzig, Fulkerson and Johnson, 1954; Held and Karp, 1970. Li et al., "NP-Engine", 2025
        (arXiv:2510.16476), for the distances and the size bands. "Graph-R1", 2025
        (arXiv:2508.20373), for the scheme of that name.

    Version History:
        v0: first version.
    """

    sense: ClassVar[Literal["max", "min"]] = "min"
    graph_r1_power: ClassVar[int] = 2

    def generate(self, rng: Rng) -> TravelingSalesmanProblem:
        for _ in range(_DRAWS - 1):
            problem = self._draw(rng)
            if problem.reference.baseline is not None:
                return problem
        return self._draw(rng)

    def _draw(self, rng: Rng) -> TravelingSalesmanProblem:
        config = self.config
        distances = tuple(
            integers(rng, config.min_distance, config.max_distance, config.n_cities - city)
            for city in range(1, config.n_cities)
        )
        full = _table(distances)
        found = _tours.shortest_tour(full, budget=config.budget)
        numeric = _tours.length(range(config.n_cities), full)
        reference = Reference(
            objective=found.length,
            bound=found.bound,
            proven=found.length == found.bound,
            baseline=numeric if numeric > found.length else None,
            answer=_written(found.tour),
            effort=found.effort,
        )
        return TravelingSalesmanProblem(distances, reference)

    def prompt(self, problem: TravelingSalesmanProblem) -> str:
        table = _table(problem.distances)
        rows = "\n".join(f"{city}: {listed(row)}" for city, row in enumerate(table, start=1))
        n = len(table)
        return (
            f"There are {n} cities, numbered from 1 to {n}. This table has one row for each city, "
            "with its number in front of the colon, followed by the distances from it to the "
            f"cities 1 to {n} in order; distances are the same in both directions.\n\n{rows}\n\n"
            "Find the shortest round trip that visits every city exactly once and returns to "
            "where it began. Answer with the cities in the order of the trip, separated by "
            "commas, without repeating the first one at the end."
        )

    def measure(self, problem: TravelingSalesmanProblem, answer: str) -> int:
        n = len(problem.distances) + 1
        trip = read_distinct(answer, low=1, high=n, what="city")
        if len(trip) < n:
            raise Infeasible(f"the trip leaves out {n - len(trip)} of {n} cities")
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

    def greedy(self, problem: TravelingSalesmanProblem) -> str:
        """Go from city 1 to the nearest city not visited yet, and so on."""
        return _written(_tours.nearest_neighbour(_table(problem.distances)))

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
