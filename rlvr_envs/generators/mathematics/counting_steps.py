"""Steps to the counts of `rlvr_envs.envs.math.counting`, a function for each kind."""

from collections.abc import Callable
from itertools import combinations
from math import comb, factorial, lcm, perm, prod

from rlvr_envs.generators.mathematics.steps import times, total, worked

Numbers = tuple[int, ...]


def choose(n: int, k: int) -> str:
    """Return a binomial coefficient with its value."""
    return f"C({n}, {k}) = {comb(n, k)}"


def _arrangement(numbers: Numbers) -> list[str]:
    spread, *copies = numbers
    free = copies[1:] if spread else copies
    ways = factorial(sum(free)) // prod(map(factorial, free))
    steps = ["Arrange the things of all other kinds first."] if spread else []
    below = "".join(f" / {factorial(n)}" for n in free)
    steps += [
        f"{sum(free)} things in a row: {sum(free)}! = {factorial(sum(free))} orders.",
        "Equal things look alike: divide by the factorial of each number of copies.",
        f"{factorial(sum(free))}{below} = {ways}",
    ]
    if spread:
        gaps = sum(free) + 1
        steps += [
            f"The {copies[0]} things kept apart go into different ones of the {gaps} gaps.",
            f"{choose(gaps, copies[0])}",
            f"{ways} * {comb(gaps, copies[0])} = {ways * comb(gaps, copies[0])}",
        ]
    return steps


def _committee(numbers: Numbers) -> list[str]:
    first, second, seats, least = numbers
    steps = [f"Count by how many of the {first} are chosen, from {least} on."]
    parts = []
    for k in range(least, min(first, seats) + 1):
        one, two = comb(first, k), comb(second, seats - k)
        parts.append(one * two)
        steps.append(
            f"{k} of them: {choose(first, k)}, {choose(second, seats - k)}, "
            f"{one} * {two} = {one * two}"
        )
    return [*steps, f"{worked(total(parts), sum(parts))}"]


def _paths(numbers: Numbers) -> list[str]:
    width, height, *flat = numbers
    blocked = set(zip(flat[::2], flat[1::2], strict=True))
    steps = ["A point is reached from the left or from below: add the ways to those two points."]
    steps.append("Blocked points get 0.")
    column = [1] + [0] * height
    for x in range(width + 1):
        for y in range(height + 1):
            if (x, y) in blocked:
                column[y] = 0
            elif y:
                column[y] += column[y - 1]
        steps.append(f"Ways to (x, y) with x = {x}, for y from 0: {', '.join(map(str, column))}")
    return steps


def _shares(numbers: Numbers) -> list[str]:
    things, takers, least, most = numbers
    spare, room = things - takers * least, most - least + 1
    steps = []
    if least:
        steps.append(f"Give everybody {least}: {things} - {takers} * {least} = {spare} are left.")
    steps.append(f"Now each may get 0 to {room - 1} more. Without the upper bound there are")
    steps[-1] += f" {choose(spare + takers - 1, takers - 1)} ways."
    parts = [comb(spare + takers - 1, takers - 1)]
    for over in range(1, min(takers, spare // room) + 1):
        rest = spare - over * room
        parts.append((-1) ** over * comb(takers, over) * comb(rest + takers - 1, takers - 1))
        steps.append(
            f"{over} chosen to get at least {room}: {choose(takers, over)}, "
            f"{choose(rest + takers - 1, takers - 1)}, product {abs(parts[-1])}, "
            f"to be {'added' if parts[-1] > 0 else 'subtracted'}."
        )
    return [*steps, f"{worked(total(parts), sum(parts))}"]


def _table(numbers: Numbers) -> list[str]:
    people, special, apart = numbers
    others = people - special
    orders, inside = factorial(others), factorial(special)
    if not apart:
        return [
            f"Take the {special} as one block: {others} + 1 = {others + 1} units at the table.",
            f"Units around a table: {others}! = {orders} ways.",
            f"Within the block: {special}! = {inside} ways.",
            f"{orders} * {inside} = {orders * inside}",
        ]
    ways, seats = factorial(others - 1), perm(others, special)
    return [
        f"Seat the other {others} first: {others - 1}! = {ways} ways around the table.",
        f"They leave {others} gaps, and each gap takes at most one of the {special}.",
        f"In order: {times(range(others, others - special, -1))} = {seats} ways.",
        f"{ways} * {seats} = {ways * seats}",
    ]


def _multiples(numbers: Numbers) -> list[str]:
    limit, avoided, *divisors = numbers
    steps = ["Count multiples by inclusion and exclusion."]
    parts = []
    for chosen in range(1, len(divisors) + 1):
        found = [(lcm(*group), limit // lcm(*group)) for group in combinations(divisors, chosen)]
        told = ", ".join(f"{count} of {multiple}" for multiple, count in found)
        sign = "Add" if chosen % 2 else "Subtract"
        steps.append(f"{sign} the multiples of {chosen} of the numbers at once: {told}")
        parts.append((-1) ** (chosen + 1) * sum(count for _, count in found))
    union = sum(parts)
    steps.append(f"Divisible by at least one: {total(parts)} = {union}")
    return [*steps, f"By none: {limit} - {union} = {limit - union}"] if avoided else steps


def _runs(numbers: Numbers) -> list[str]:
    length, symbols, run = numbers
    good = [1]
    steps = [
        f"Let g(n) count the good rows of length n; g(0) is 1. Up to n = {run - 1} all are good.",
        f"Others end in 0 to {run - 1} of the bad symbol, after one of {symbols - 1} others.",
    ]
    for n in range(1, length + 1):
        if n < run:
            good.append(symbols**n)
            steps.append(f"n = {n}: {symbols}^{n} = {good[-1]}")
        else:
            recent = good[-1 : -run - 1 : -1]
            good.append((symbols - 1) * sum(recent))
            steps.append(f"n = {n}: {symbols - 1} * ({total(recent)}) = {good[-1]}")
    return steps


def _spaced(numbers: Numbers) -> list[str]:
    places, chosen, gap = numbers
    left = places - (chosen - 1) * gap
    return [
        f"Take {gap} free place{'' if gap == 1 else 's'} away after each chosen one but the last.",
        f"{places} - {chosen - 1} * {gap} = {left} places remain.",
        f"Any {chosen} of these may be chosen, and each choice belongs to one with the gaps.",
        choose(left, chosen),
    ]


def _fixed_points(numbers: Numbers) -> list[str]:
    things, fixed = numbers
    moved = things - fixed
    steps = [f"Choose what stays in place: {choose(things, fixed)}"]
    steps.append(
        f"The other {moved} must all move. Let d(n) count the ways for n; d(0) is 1, d(1) is 0."
    )
    counts = [1, 0]
    for n in range(2, moved + 1):
        counts.append((n - 1) * (counts[-1] + counts[-2]))
        steps.append(f"n = {n}: {n - 1} * ({counts[-2]} + {counts[-3]}) = {counts[-1]}")
    return [
        *steps,
        f"{comb(things, fixed)} * {counts[moved]} = {comb(things, fixed) * counts[moved]}",
    ]


def _parts(numbers: Numbers) -> list[str]:
    things, parts, named = numbers
    steps = [f"Give each of the {things} to any of {parts} parts, and leave out empty parts."]
    terms = []
    for k in range(parts):
        terms.append((-1) ** k * comb(parts, k) * (parts - k) ** things)
        verb = "add" if k % 2 == 0 else "subtract"
        work = f"{comb(parts, k)} * {parts - k}^{things} = {abs(terms[-1])}"
        steps.append(f"With {k} given parts empty, {verb} {work}.")
    steps.append(f"{total(terms)} = {sum(terms)}")
    if not named:
        ways = factorial(parts)
        steps.append(f"The parts have no names: divide by {parts}! = {ways}.")
        steps.append(f"{sum(terms)} / {ways} = {sum(terms) // ways}")
    return steps


STEPS: dict[str, Callable[[Numbers], list[str]]] = {
    "arrangement": _arrangement,
    "committee": _committee,
    "paths": _paths,
    "shares": _shares,
    "table": _table,
    "multiples": _multiples,
    "runs": _runs,
    "spaced": _spaced,
    "fixed_points": _fixed_points,
    "parts": _parts,
}
