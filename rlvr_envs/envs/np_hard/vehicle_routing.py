"""Vehicle routing: the shortest routes from a depot that serve all customers."""

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers
from rlvr_envs.generators.optimisation.groups import check_partition, grouped, read_groups
from rlvr_envs.generators.optimisation.task import (
    Infeasible,
    OptimisationConfig,
    OptimisationTask,
    Reference,
)
from rlvr_envs.solvers import cp_sat

Place = tuple[int, int]
Route = list[int]
_MAX_STOPS, _MAX_NUMBER = 64, 10**6  # far more than a level in use has
_BUDGET = 0.004  # proves most plans of eight customers; more would take seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class VehicleRoutingConfig(OptimisationConfig):
    """How many customers there are, how far apart, and how many a vehicle serves."""

    n_customers: int = 4
    size: int = knob(20, "coordinates lie in 0..size", low=2, high=_MAX_NUMBER)
    max_demand: int = knob(5, "the largest demand of a customer", low=1, high=_MAX_NUMBER)
    stops_per_route: int = knob(3, "customers of average demand that fill a vehicle; at least 2")

    def check(self) -> None:
        stops = (self.n_customers, self.stops_per_route)
        if not 2 <= min(stops) <= max(stops) <= _MAX_STOPS:
            raise ConfigError(f"need 2 <= n_customers, stops_per_route <= {_MAX_STOPS}, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "VehicleRoutingConfig":
        """Vehicles that serve more and a customer are added in turn, and the map grows."""
        return cls(
            budget=_BUDGET,
            n_customers=min(_MAX_STOPS, 7 + difficulty // 2),
            size=min(_MAX_NUMBER, 10 + 5 * difficulty),
            max_demand=min(_MAX_NUMBER, 4 + difficulty),
            stops_per_route=min(_MAX_STOPS, 2 + (difficulty + 1) // 2),
        )


@dataclass(frozen=True, slots=True)
class VehicleRoutingProblem:
    """The depot stands first; customers are numbered from 1."""

    places: tuple[Place, ...]
    demands: tuple[int, ...]
    capacity: int
    reference: Reference = hidden()


@register("VehicleRouting-v0", domain="np_hard", answer_format="tag")
class VehicleRoutingTask(OptimisationTask[VehicleRoutingConfig, VehicleRoutingProblem]):
    """Serve all customers by routes of the smallest total length.

    Description:
        Vehicles of one capacity, as many as needed, start and end at a depot; every customer
        is visited once. Streets run along a grid, so distances are whole numbers. Problems in
        which no single move shortens the plan of the savings heuristic are drawn again.

    Observation:
        The capacity, the depot, and each customer's coordinates and demand.

    Action:
        One line for each route: the customers in the order of the visits.

    Reward:
        Scheme ``over_greedy``: how far the total length lies between that of the savings heuristic
        (begin with a route for each customer and join those whose joining saves most), which earns
        0, and the best known, which earns 1. ``ratio`` begins instead at the better of two trivial
        plans: a route for each customer, and customers in the order of their numbers with a new
        route whenever the vehicle is full. An overloaded vehicle, a customer left out or visited
        twice earns 0.

    Verification:
        The routes are checked and measured. The best known plan comes from the savings heuristic
        with local search and from CP-SAT; the row says whether it is proven to be optimal, which
        it seldom is beyond eight customers. No known gaps.

    Difficulty:
        Only the size grows: more customers on a larger map, and longer routes.

    References:
        Dantzig and Ramser, "The truck dispatching problem", Management Science 6, 1959. Clarke
        and Wright, "Scheduling of vehicles from a central depot", Operations Research 12, 1964.
    """

    sense: ClassVar[Literal["max", "min"]] = "min"
    draws: ClassVar[int] = 60

    def draw(self, rng: Rng) -> VehicleRoutingProblem:
        config = self.config
        places: list[Place] = []
        for _ in range(config.n_customers + 1):
            place = (integer(rng, 0, config.size), integer(rng, 0, config.size))
            if place in places:  # once again; two customers may share a place after all
                place = (integer(rng, 0, config.size), integer(rng, 0, config.size))
            places.append(place)
        demands = integers(rng, 1, config.max_demand, config.n_customers)
        average = config.stops_per_route * sum(demands) // config.n_customers
        capacity = max(*demands, average + 1)
        matrix = distances(places)
        plan = improved(matrix, demands, capacity, savings(matrix, demands, capacity))
        apart = 2 * sum(matrix[0])
        trivial = min(apart, length(matrix, in_turn(demands, capacity)))
        reference = Reference.known(length(matrix, plan), grouped(plan), trivial=trivial)
        return VehicleRoutingProblem(tuple(places), demands, capacity, reference)

    def improve(self, rng: Rng, problem: VehicleRoutingProblem) -> Reference:
        matrix = distances(problem.places)
        known = _heuristic(problem)
        objective, bound, effort = length(matrix, known), 2 * max(matrix[0]), 0
        model, arcs = self._model(problem, known)
        solved = cp_sat.solve(model, list(arcs.values()), budget=self.config.budget)
        if solved is not None:
            bound, effort = max(bound, solved.bound), solved.effort
            if solved.objective < objective:
                objective = solved.objective
                used = [arc for arc, x in zip(arcs, solved.values, strict=True) if x]
                known = _routes(used)
        if objective > bound:
            known = rebuilt(matrix, problem.demands, problem.capacity, known)
            objective = length(matrix, known)
        return Reference(
            objective=objective,
            bound=bound,
            proven=bound == objective,
            trivial=problem.reference.trivial,
            answer=grouped(known),
            effort=effort,
        )

    def _model(
        self, problem: VehicleRoutingProblem, known: list[Route]
    ) -> tuple[Any, dict[tuple[int, int], Any]]:
        """Return the model of all routes, and whether a vehicle drives from here to there."""
        matrix, demands = distances(problem.places), (0, *problem.demands)
        model = cp_sat.new_model()
        hints = {arc for route in known for arc in zip([0, *route], [*route, 0], strict=True)}
        arcs = {
            (a, b): model.new_bool_var("")
            for a in range(len(demands))
            for b in range(len(demands))
            if a != b and (0 in (a, b) or demands[a] + demands[b] <= problem.capacity)
        }
        loads = [model.new_int_var(demand, problem.capacity, "") for demand in demands]
        load = {}
        for route in known:
            for i, customer in enumerate(route):
                load[customer] = sum(demands[stop] for stop in route[: i + 1])
        for customer, amount in load.items():
            model.add_hint(loads[customer], amount)
        for (a, b), arc in arcs.items():
            model.add_hint(arc, (a, b) in hints)
            if 0 not in (a, b):
                model.add(loads[b] >= loads[a] + demands[b]).only_enforce_if(arc)
        model.add_multiple_circuit([(a, b, arc) for (a, b), arc in arcs.items()])
        least = -(-sum(demands) // problem.capacity)
        model.add(sum(arc for (a, _), arc in arcs.items() if a == 0) >= least)
        model.minimize(sum(matrix[a][b] * arc for (a, b), arc in arcs.items()))
        return model, arcs

    def prompt(self, problem: VehicleRoutingProblem) -> str:
        customers = "\n".join(
            f"{i}: at ({x}, {y}), demand {demand}"
            for i, ((x, y), demand) in enumerate(
                zip(problem.places[1:], problem.demands, strict=True), 1
            )
        )
        x, y = problem.places[0]
        credit = self.partial_credit(
            "it is shorter than starting with a route for each customer and joining again and "
            "again the two routes whose joining saves the most distance",
            "it is shorter than both of these plans: a separate route for each customer, and the "
            "customers in numeric order with a new route whenever the next demand does not fit",
        )
        return (
            f"Vehicles deliver goods from a depot at ({x}, {y}) to these "
            f"customers:\n\n{customers}\n\nPlan the routes of the vehicles (vehicle routing "
            "problem). Each route starts at the depot, visits one or more customers and returns to "
            "the depot. The demands of the customers on one route add up to at most "
            f"{problem.capacity}. Every customer is on exactly one route, once. There may be any "
            "number of routes. The distance between (a, b) and (c, d) is |a - c| + |b - "
            f"d|.\n\nMinimise the total distance of all routes. {credit} Answer with one line for "
            "each route: the numbers of its customers in the order of the visits, separated by "
            "commas, without the depot."
        )

    def measure(self, problem: VehicleRoutingProblem, answer: str) -> int:
        routes = read_groups(answer, what="route")
        check_partition(routes, len(problem.demands), what="customer")
        for number, route in enumerate(routes, 1):
            load = sum(problem.demands[customer - 1] for customer in route)
            if load > problem.capacity:
                raise Infeasible(f"route {number} carries {load}, more than {problem.capacity}")
        places = problem.places
        stops = [[places[0], *(places[c] for c in route), places[0]] for route in routes]
        return sum(
            abs(a - c) + abs(b - d) for way in stops for (a, b), (c, d) in itertools.pairwise(way)
        )

    def effort(self, problem: VehicleRoutingProblem) -> int:
        """Return how many routes a vehicle can drive, which are the columns of an exact model."""
        loads = Counter({(0, 0): 1})  # sets of customers by their size and their demand
        for demand in problem.demands:
            for (size, load), count in list(loads.items()):
                if load + demand <= problem.capacity:
                    loads[size + 1, load + demand] += count
        return sum(count * math.factorial(size) for (size, _), count in loads.items() if size)

    def explain(self, problem: VehicleRoutingProblem) -> list[str]:
        routes = read_groups(self.solve(problem), what="route")
        steps = explained(distances(problem.places), problem.demands, routes)
        return [*steps, self.conclusion(problem, "The total distance")]

    def baseline(self, rng: Rng, problem: VehicleRoutingProblem) -> str:
        """Begin with a route for each customer, and join those whose joining saves most."""
        matrix = distances(problem.places)
        return grouped(savings(matrix, problem.demands, problem.capacity))

    def neighbour(self, problem: VehicleRoutingProblem, answer: str, rng: Rng) -> str:
        """Move a customer, swap two, or reverse a stretch of a route."""
        routes = read_groups(answer, what="route")
        kind = integer(rng, 0, 2)
        customer, other = integers(rng, 1, len(problem.demands), 2)
        if kind == 0:
            routes = [[c for c in route if c != customer] for route in routes] + [[]]
            target = routes[integer(rng, 0, len(routes) - 1)]
            target.insert(integer(rng, 0, len(target)), customer)
        elif kind == 1:
            swap = {customer: other, other: customer}
            routes = [[swap.get(c, c) for c in route] for route in routes]
        else:
            route = routes[integer(rng, 0, len(routes) - 1)]
            i, j = sorted(integers(rng, 0, len(route), 2))
            route[i:j] = route[i:j][::-1]
        return grouped(route for route in routes if route)


def _heuristic(problem: VehicleRoutingProblem) -> list[Route]:
    """Return the best of several plans that local search arrives at."""
    matrix, demands, capacity = distances(problem.places), problem.demands, problem.capacity
    starts = [savings(matrix, demands, capacity, weight=weight) for weight in (1, 2, 3, 4)]
    starts += [in_turn(demands, capacity), in_turn(demands[::-1], capacity)]
    starts[-1] = [[len(demands) + 1 - customer for customer in route] for route in starts[-1]]
    plans = [improved(matrix, demands, capacity, routes) for routes in starts]
    return min(plans, key=lambda routes: length(matrix, routes))


def _routes(arcs: list[tuple[int, int]]) -> list[Route]:
    """Return the routes that arcs make up."""
    following = {a: b for a, b in arcs if a != 0}
    routes = []
    for start in sorted(b for a, b in arcs if a == 0):
        route = [start]
        while following[route[-1]] != 0:
            route.append(following[route[-1]])
        routes.append(route)
    return routes


# Routes of vehicles from a depot: their length, and heuristics that shorten them.
#
# Places are numbered from 0, the depot. Distances are the differences of the coordinates added up,
# so they are whole numbers.


_PASSES = 40  # of the local search
_TAKEN = 5  # customers that are taken out together


def distances(places: Sequence[Place]) -> list[list[int]]:
    """Return the distance between every two places."""
    return [[abs(a - c) + abs(b - d) for c, d in places] for a, b in places]


def length(matrix: Sequence[Sequence[int]], routes: Sequence[Sequence[int]]) -> int:
    """Return the length of all routes, from the depot and back to it."""
    return sum(
        matrix[a][b] for route in routes for a, b in zip([0, *route], [*route, 0], strict=True)
    )


def explained(
    matrix: Sequence[Sequence[int]], demands: Sequence[int], routes: Sequence[Sequence[int]]
) -> list[str]:
    """Return the load and the length of each route, and the length so far."""
    steps, total = [], 0
    for number, route in enumerate(routes, 1):
        stops = [0, *route, 0]
        legs = [matrix[a][b] for a, b in itertools.pairwise(stops)]
        loads = [demands[customer - 1] for customer in route]
        total += sum(legs)
        steps.append(
            f"Route {number}, customers {', '.join(map(str, route))}: load "
            f"{' + '.join(map(str, loads))} = {sum(loads)}, length {' + '.join(map(str, legs))} = "
            f"{sum(legs)}, in all {total}."
        )
    return steps


def in_turn(demands: Sequence[int], capacity: int) -> list[Route]:
    """Return routes that visit customers by number, each as long as the load fits."""
    routes: list[Route] = [[]]
    room = capacity
    for customer, demand in enumerate(demands, 1):
        if demand > room:
            routes.append([])
            room = capacity
        routes[-1].append(customer)
        room -= demand
    return routes


def savings(
    matrix: Sequence[Sequence[int]], demands: Sequence[int], capacity: int, *, weight: int = 2
) -> list[Route]:
    """Return routes by Clarke and Wright: join the ends whose joining saves most.

    ``weight`` is how much the way between the ends counts, in halves; 2 is the saving itself.
    """
    count = len(demands)
    routes = {customer: [customer] for customer in range(1, count + 1)}
    load = dict(enumerate(demands, 1))
    owner = {customer: customer for customer in routes}
    pairs = sorted(
        (weight * matrix[a][b] - 2 * (matrix[a][0] + matrix[0][b]), a, b)
        for a in range(1, count + 1)
        for b in range(1, a)
    )
    for _, a, b in pairs:
        one, other = owner[a], owner[b]
        if one == other or load[one] + load[other] > capacity:
            continue
        left, right = routes[one], routes[other]
        if left[-1] != a:
            left = left[::-1]
        if right[0] != b:
            right = right[::-1]
        if left[-1] != a or right[0] != b:
            continue
        routes[one] = left + right
        load[one] += load[other]
        for customer in routes.pop(other):
            owner[customer] = one
    return list(routes.values())


def improved(
    matrix: Sequence[Sequence[int]], demands: Sequence[int], capacity: int, routes: list[Route]
) -> list[Route]:
    """Return routes after moving and swapping customers and reversing stretches while it helps."""
    best = [list(route) for route in routes]
    for _ in range(_PASSES):
        before = length(matrix, best)
        for customer in range(1, len(demands) + 1):
            best = _moved(matrix, demands, capacity, best, customer)
        best = _swapped(matrix, demands, capacity, best)
        best = [_straightened(matrix, route) for route in best]
        if length(matrix, best) == before:
            break
    return best


def _moved(
    matrix: Sequence[Sequence[int]],
    demands: Sequence[int],
    capacity: int,
    routes: list[Route],
    customer: int,
) -> list[Route]:
    """Put one customer where the detour is shortest, perhaps on a route of its own."""
    rest = [[stop for stop in route if stop != customer] for route in routes]
    return _inserted(matrix, demands, capacity, rest, customer)


def _inserted(
    matrix: Sequence[Sequence[int]],
    demands: Sequence[int],
    capacity: int,
    routes: list[Route],
    customer: int,
) -> list[Route]:
    open_to = [*(route for route in routes if route), []]
    _, where, place = min(
        (matrix[a][customer] + matrix[customer][b] - matrix[a][b], k, i)
        for k, route in enumerate(open_to)
        if sum(demands[stop - 1] for stop in route) + demands[customer - 1] <= capacity
        for i, (a, b) in enumerate(zip([0, *route], [*route, 0], strict=True))
    )
    open_to[where].insert(place, customer)
    return [route for route in open_to if route]


def rebuilt(
    matrix: Sequence[Sequence[int]], demands: Sequence[int], capacity: int, routes: list[Route]
) -> list[Route]:
    """Return routes after taking out neighbours and putting them back in while that helps."""
    best, customers = routes, range(1, len(demands) + 1)
    for centre in customers:
        near = [customer for _, customer in sorted((matrix[centre][c], c) for c in customers)]
        near = near[:_TAKEN]
        heavy = sorted(near, key=lambda customer: (-demands[customer - 1], customer))
        for order in (near, near[::-1], heavy):
            plan = [[stop for stop in route if stop not in near] for route in best]
            for customer in order:
                plan = _inserted(matrix, demands, capacity, plan, customer)
            plan = improved(matrix, demands, capacity, plan)
            if length(matrix, plan) < length(matrix, best):
                best = plan
    return best


def _swapped(
    matrix: Sequence[Sequence[int]], demands: Sequence[int], capacity: int, routes: list[Route]
) -> list[Route]:
    """Swap two customers wherever that makes their routes shorter and no load too large."""
    loads = [sum(demands[stop - 1] for stop in route) for route in routes]
    places = [(k, i) for k, route in enumerate(routes) for i in range(len(route))]
    for (k, i), (m, j) in itertools.combinations(places, 2):
        one, other = routes[k], routes[m]
        if k == m:
            continue
        change = demands[other[j] - 1] - demands[one[i] - 1]
        if loads[k] + change > capacity or loads[m] - change > capacity:
            continue
        before = length(matrix, (one, other))
        one[i], other[j] = other[j], one[i]
        if length(matrix, (one, other)) < before:
            loads[k] += change
            loads[m] -= change
        else:
            one[i], other[j] = other[j], one[i]
    return routes


def _straightened(matrix: Sequence[Sequence[int]], route: Route) -> Route:
    """Reverse the stretch of a route whose reversal saves most, while one does."""
    stops = [0, *route, 0]
    for _ in range(_PASSES):
        saving, i, j = min(
            (
                (
                    matrix[stops[i - 1]][stops[j]]
                    + matrix[stops[i]][stops[j + 1]]
                    - matrix[stops[i - 1]][stops[i]]
                    - matrix[stops[j]][stops[j + 1]],
                    i,
                    j,
                )
                for i in range(1, len(stops) - 2)
                for j in range(i + 1, len(stops) - 1)
            ),
            default=(0, 0, 0),
        )
        if saving >= 0:
            break
        stops[i : j + 1] = stops[i : j + 1][::-1]
    return stops[1:-1]
