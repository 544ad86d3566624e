"""Slow counterparts to `others`: brute force over pairs, subsets, paths and splittings."""

from rlvr_envs.generators.algorithms.others import gcd


def bracket_repairs(s: str, weight: int) -> int:
    n = len(s)
    deepest = 0
    for i in range(n):
        depth = 0
        for j in range(i + 1):
            if s[j] == "(":
                depth += 1
            elif depth > 0:
                depth -= 1
        deepest = max(deepest, depth)
    gone = [0] * n
    left = n
    changed = True
    while changed:
        changed = False
        last = -1
        for i in range(n):
            if gone[i] == 0:
                if s[i] == ")" and last >= 0 and not changed and s[last] == "(":
                    gone[i] = 1
                    gone[last] = 1
                    left -= 2
                    changed = True
                last = i
    return weight * left + deepest


def balanced_length(s: str, weight: int) -> int:
    n = len(s)
    best = 0
    pairs = 0
    open_now = 0
    for i in range(n):
        if s[i] == "(":
            open_now += 1
        elif open_now > 0:
            open_now -= 1
            pairs += 1
        depth = 0
        broken = False
        for j in range(i, n):
            if s[j] == "(":
                depth += 1
            else:
                depth -= 1
            if depth < 0:
                broken = True
            if depth == 0 and not broken:
                best = max(best, j - i + 1)
    return weight * best + pairs


def run_lengths(s: str, least: int, power: int) -> int:
    n = len(s)
    total = 0
    for i in range(n):
        length = 0
        going = True
        for j in range(i, n):
            if s[j] != s[i]:
                going = False
            if going:
                length += 1
        starts = i == 0
        if i > 0:
            starts = s[i] != s[i - 1]
        if starts and length >= least:
            gain = 1
            for _k in range(power):
                gain *= length
            total += gain
    return total


def count_primes(low: int, high: int, modulus: int, rest: int) -> int:
    total = 0
    for p in range(max(low, 2), high + 1):
        divisors = 0
        for q in range(2, p):
            if p % q == 0:
                divisors += 1
        if divisors == 0 and p % modulus == rest:
            total += 1
    return total


def survivor(n: int, step: int, shift: int) -> int:
    circle = [0] * n
    for i in range(n):
        circle[i] = i
    place = 0
    for gone in range(n - 1):
        size = n - gone
        place = (place + step - 1) % size
        for i in range(place, size - 1):
            circle[i] = circle[i + 1]
        place = place % (size - 1)
    return (circle[0] + shift) % n + 1


def cycle_length(start: int, modulus: int, factor: int, shift: int) -> int:
    values = [start % modulus]
    found = 0
    while found == 0:
        last = values[len(values) - 1]
        value = (factor * last + shift) % modulus
        for i in range(len(values)):
            if values[i] == value:
                found = len(values) - i
        values.append(value)
    return found


def range_divisors(xs: list[int], starts: list[int], width: int) -> int:
    total = 0
    for k in range(len(starts)):
        divisor = 0
        for i in range(starts[k], starts[k] + width):
            divisor = gcd(xs[i], divisor)
        total += divisor
    return total


def most_overlaps(starts: list[int], lengths: list[int], horizon: int) -> int:
    best = 0
    for time in range(horizon):
        current = 0
        for i in range(len(starts)):
            if starts[i] <= time < starts[i] + lengths[i]:
                current += 1
        best = max(best, current)
    return best


def group_sizes(n: int, first: list[int], second: list[int], least: int) -> int:
    groups = [0] * n
    for i in range(n):
        groups[i] = i
    for k in range(len(first)):
        a = groups[first[k]]
        b = groups[second[k]]
        for i in range(n):
            if groups[i] == b:
                groups[i] = a
    total = 0
    for i in range(n):
        size = 0
        for j in range(n):
            if groups[j] == i:
                size += 1
        if size >= least:
            total += 1
    return total


def explore(width: int, cells: list[int], wall: int, cell: int, left: int) -> int:
    size = len(cells)
    if cell == size - 1:
        return 0
    if left == 0:
        return size
    best = size
    for side in range(4):
        target = -1
        if side == 0 and cell % width > 0:
            target = cell - 1
        elif side == 1 and cell % width < width - 1:
            target = cell + 1
        elif side == 2 and cell >= width:
            target = cell - width
        elif side == 3 and cell + width < size:
            target = cell + width
        if target >= 0 and cells[target] >= wall:
            best = min(best, 1 + explore(width, cells, wall, target, left - 1))
    return best


def shortest_path(width: int, cells: list[int], wall: int) -> int:
    size = len(cells)
    for left in range(size):
        if explore(width, cells, wall, 0, left) <= left:
            return left
    return -1


def paths_to(width: int, cells: list[int], wall: int, cell: int) -> int:
    if cell == 0:
        return 1
    if cells[cell] < wall:
        return 0
    total = 0
    if cell % width > 0:
        total += paths_to(width, cells, wall, cell - 1)
    if cell >= width:
        total += paths_to(width, cells, wall, cell - width)
    return total


def count_paths(width: int, cells: list[int], wall: int, modulus: int) -> int:
    return paths_to(width, cells, wall, len(cells) - 1) % modulus


def ways_from(coins: list[int], amount: int, first: int) -> int:
    if amount == 0:
        return 1
    if amount < 0 or first == len(coins):
        return 0
    return ways_from(coins, amount - coins[first], first) + ways_from(coins, amount, first + 1)


def coin_ways(coins: list[int], amount: int, modulus: int) -> int:
    return ways_from(coins, amount, 0) % modulus


def fewest_from(coins: list[int], amount: int, none: int) -> int:
    if amount == 0:
        return 0
    best = none
    for k in range(len(coins)):
        if coins[k] <= amount:
            best = min(best, 1 + fewest_from(coins, amount - coins[k], none))
    return best


def fewest_coins(coins: list[int], amount: int, none: int) -> int:
    best = fewest_from(coins, amount, 1000000)
    if best >= 1000000:
        return none
    return best


def best_from(weights: list[int], worths: list[int], capacity: int, first: int) -> int:
    if first == len(weights):
        return 0
    best = best_from(weights, worths, capacity, first + 1)
    if weights[first] <= capacity:
        rest = best_from(weights, worths, capacity - weights[first], first + 1)
        best = max(best, rest + worths[first])
    return best


def knapsack(weights: list[int], worths: list[int], capacity: int) -> int:
    return best_from(weights, worths, capacity, 0)


def distance_from(xs: list[int], ys: list[int], change: int, i: int, j: int) -> int:
    if i == 0 or j == 0:
        return i + j
    cost = change
    if xs[i - 1] == ys[j - 1]:
        cost = 0
    least = distance_from(xs, ys, change, i - 1, j - 1) + cost
    least = min(least, distance_from(xs, ys, change, i - 1, j) + 1)
    return min(least, distance_from(xs, ys, change, i, j - 1) + 1)


def edit_distance(xs: list[int], ys: list[int], change: int) -> int:
    return distance_from(xs, ys, change, len(xs), len(ys))


def common_from(xs: list[int], ys: list[int], gap: int, i: int, j: int) -> int:
    if i == 0 or j == 0:
        return 0
    most = max(common_from(xs, ys, gap, i - 1, j), common_from(xs, ys, gap, i, j - 1))
    if xs[i - 1] - ys[j - 1] <= gap and ys[j - 1] - xs[i - 1] <= gap:
        most = max(most, common_from(xs, ys, gap, i - 1, j - 1) + 1)
    return most


def common_length(xs: list[int], ys: list[int], gap: int) -> int:
    return common_from(xs, ys, gap, len(xs), len(ys))


def cost_between(xs: list[int], extra: int, low: int, high: int) -> int:
    if low == high:
        return 0
    cheapest = -1
    total = xs[high]
    for k in range(low, high):
        total += xs[k]
        parts = cost_between(xs, extra, low, k) + cost_between(xs, extra, k + 1, high)
        if cheapest < 0 or parts < cheapest:
            cheapest = parts
    return cheapest + total + extra


def merge_cost(xs: list[int], extra: int) -> int:
    return cost_between(xs, extra, 0, len(xs) - 1)
