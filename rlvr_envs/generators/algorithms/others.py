"""Questions about strings, numbers, grids, graphs and plans: fast answers.

The functions are both Python and, by `lower`, programs in every language. `slow_others` has a slow
counterpart to each.
"""


def bracket_repairs(s: str, weight: int) -> int:
    n = len(s)
    depth = 0
    unmatched = 0
    deepest = 0
    for i in range(n):
        if s[i] == "(":
            depth += 1
            deepest = max(deepest, depth)
        elif depth > 0:
            depth -= 1
        else:
            unmatched += 1
    return weight * (unmatched + depth) + deepest


def balanced_length(s: str, weight: int) -> int:
    n = len(s)
    stack = [0] * (n + 1)
    stack[0] = -1
    size = 1
    best = 0
    total = 0
    for i in range(n):
        if s[i] == "(":
            stack[size] = i
            size += 1
        else:
            size -= 1
            if size == 0:
                stack[0] = i
                size = 1
            else:
                total += 1
                best = max(best, i - stack[size - 1])
    return weight * best + total


def run_lengths(s: str, least: int, power: int) -> int:
    n = len(s)
    length = 0
    total = 0
    for i in range(n):
        if i > 0 and s[i] == s[i - 1]:
            length += 1
        else:
            length = 1
        if (i == n - 1 or s[i] != s[i + 1]) and length >= least:
            gain = 1
            for _k in range(power):
                gain *= length
            total += gain
    return total


def count_primes(low: int, high: int, modulus: int, rest: int) -> int:
    composite = [0] * (high + 1)
    total = 0
    for p in range(2, high + 1):
        if composite[p] == 0:
            if p >= low and p % modulus == rest:
                total += 1
            q = p * p
            while q <= high:
                composite[q] = 1
                q += p
    return total


def survivor(n: int, step: int, shift: int) -> int:
    place = 0
    for size in range(2, n + 1):
        place = (place + step) % size
    return (place + shift) % n + 1


def cycle_length(start: int, modulus: int, factor: int, shift: int) -> int:
    seen = [0] * modulus
    value = start % modulus
    steps = 1
    while seen[value] == 0:
        seen[value] = steps
        steps += 1
        value = (factor * value + shift) % modulus
    return steps - seen[value]


def gcd(a: int, b: int) -> int:
    first = a
    second = b
    while second > 0:
        rest = first % second
        first = second
        second = rest
    return first


def range_divisors(xs: list[int], starts: list[int], width: int) -> int:
    n = len(xs)
    table = xs[:]
    span = 1
    while span * 2 <= width:
        for i in range(n - span):
            table[i] = gcd(table[i], table[i + span])
        span *= 2
    total = 0
    for k in range(len(starts)):
        total += gcd(table[starts[k]], table[starts[k] + width - span])
    return total


def most_overlaps(starts: list[int], lengths: list[int], horizon: int) -> int:
    changes = [0] * (horizon + 1)
    for i in range(len(starts)):
        changes[starts[i]] += 1
        changes[starts[i] + lengths[i]] -= 1
    current = 0
    best = 0
    for time in range(horizon):
        current += changes[time]
        best = max(best, current)
    return best


def group_sizes(n: int, first: list[int], second: list[int], least: int) -> int:
    parents = [0] * n
    sizes = [1] * n
    for i in range(n):
        parents[i] = i
    for k in range(len(first)):
        a = first[k]
        while parents[a] != a:
            a = parents[a]
        b = second[k]
        while parents[b] != b:
            b = parents[b]
        if a != b:
            if sizes[a] < sizes[b]:
                c = a
                a = b
                b = c
            parents[b] = a
            sizes[a] += sizes[b]
    total = 0
    for i in range(n):
        if parents[i] == i and sizes[i] >= least:
            total += 1
    return total


def shortest_path(width: int, cells: list[int], wall: int) -> int:
    size = len(cells)
    distance = [-1] * size
    queue = [0] * size
    distance[0] = 0
    head = 0
    tail = 1
    while head < tail:
        cell = queue[head]
        head += 1
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
            if target >= 0 and cells[target] >= wall and distance[target] < 0:
                distance[target] = distance[cell] + 1
                queue[tail] = target
                tail += 1
    return distance[size - 1]


def count_paths(width: int, cells: list[int], wall: int, modulus: int) -> int:
    size = len(cells)
    ways = [0] * size
    ways[0] = 1
    for cell in range(1, size):
        if cells[cell] >= wall:
            if cell % width > 0:
                ways[cell] = ways[cell - 1]
            if cell >= width:
                ways[cell] = (ways[cell] + ways[cell - width]) % modulus
    return ways[size - 1]


def coin_ways(coins: list[int], amount: int, modulus: int) -> int:
    ways = [0] * (amount + 1)
    ways[0] = 1
    for k in range(len(coins)):
        for total in range(coins[k], amount + 1):
            ways[total] = (ways[total] + ways[total - coins[k]]) % modulus
    return ways[amount]


def fewest_coins(coins: list[int], amount: int, none: int) -> int:
    fewest = [amount + 1] * (amount + 1)
    fewest[0] = 0
    for total in range(1, amount + 1):
        for k in range(len(coins)):
            if coins[k] <= total:
                fewest[total] = min(fewest[total], fewest[total - coins[k]] + 1)
    if fewest[amount] > amount:
        return none
    return fewest[amount]


def knapsack(weights: list[int], worths: list[int], capacity: int) -> int:
    best = [0] * (capacity + 1)
    for k in range(len(weights)):
        before = best[:]
        for room in range(weights[k], capacity + 1):
            best[room] = max(before[room], before[room - weights[k]] + worths[k])
    return best[capacity]


def edit_distance(xs: list[int], ys: list[int], change: int) -> int:
    m = len(ys)
    above = [0] * (m + 1)
    for j in range(m + 1):
        above[j] = j
    for i in range(len(xs)):
        row = [0] * (m + 1)
        row[0] = i + 1
        for j in range(m):
            cost = change
            if xs[i] == ys[j]:
                cost = 0
            row[j + 1] = min(above[j] + cost, min(above[j + 1], row[j]) + 1)
        above = row[:]
    return above[m]


def common_length(xs: list[int], ys: list[int], gap: int) -> int:
    m = len(ys)
    above = [0] * (m + 1)
    for i in range(len(xs)):
        row = [0] * (m + 1)
        for j in range(m):
            row[j + 1] = max(above[j + 1], row[j])
            if xs[i] - ys[j] <= gap and ys[j] - xs[i] <= gap:
                row[j + 1] = max(row[j + 1], above[j] + 1)
        above = row[:]
    return above[m]


def merge_cost(xs: list[int], extra: int) -> int:
    n = len(xs)
    sums = [0] * (n + 1)
    for i in range(n):
        sums[i + 1] = sums[i] + xs[i]
    best = [0] * (n * n)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            cheapest = best[i * n + i] + best[(i + 1) * n + j]
            for k in range(i + 1, j):
                cheapest = min(cheapest, best[i * n + k] + best[(k + 1) * n + j])
            best[i * n + j] = cheapest + sums[j + 1] - sums[i] + extra
    return best[n - 1]
