"""Routes of vehicles from a depot: their length, and heuristics that shorten them.

Places are numbered from 0, the depot. Distances are the differences of the coordinates added up,
so they are whole numbers.
"""

import itertools
from collections.abc import Sequence

Place = tuple[int, int]
Route = list[int]

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
