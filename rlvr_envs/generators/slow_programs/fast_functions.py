"""The functions of `slow_functions` again, each within the bound that a problem states.

They compute the expected outputs, and their text is the oracle's answer.
"""

from itertools import accumulate


def pairs_of_sum(xs: list[int], a: int, b: int, m: int) -> int:
    counts = [0] * (a + 2)
    count = 0
    for x in xs:
        count += counts[(b - x) % (a + 2)]
        counts[x % (a + 2)] += 1
    return count % m


def best_block(xs: list[int], a: int, b: int, m: int) -> int:
    best = here = 0
    for x in xs:
        here = max(here + x - 40 - a, 0)
        best = max(best, here)
    return b * best % m


def counted_line(n: int, a: int, b: int, m: int) -> int:
    return (a * (n * (n - 1) // 2) + b * n) % m


def repeated_step(n: int, a: int, b: int, m: int) -> int:
    # (factor, shift) is one step, then two, four and so on.
    value, factor, shift = 1 % m if n else 1, a % m, b % m
    while n:
        if n % 2:
            value = (factor * value + shift) % m
        factor, shift = factor * factor % m, (factor * shift + shift) % m
        n //= 2
    return value


def two_term(n: int, a: int, b: int, m: int) -> int:
    def times(u: tuple[int, int], v: tuple[int, int]) -> tuple[int, int]:
        high = u[0] * v[0]
        return (u[0] * v[1] + u[1] * v[0] + a * high) % m, (u[1] * v[1] + b * high) % m

    # A pair (p, q) stands for p * x + q, where x * x = a * x + b.
    result, power = (0, 1), (1, 0)
    while n:
        if n % 2:
            result = times(result, power)
        power = times(power, power)
        n //= 2
    return result[0]


def widest_range(xs: list[int], a: int, b: int, m: int) -> int:
    values = [a * x + b * i for i, x in enumerate(xs)]
    lowest = accumulate(values, min)
    return max((value - low for value, low in zip(values, lowest, strict=True)), default=0) % m


def quotients(n: int, a: int, b: int, m: int) -> int:
    total = 0
    k = 1
    while k <= n:
        last = n // (n // k)
        total += (n // k) * (last - k + 1)
        k = last + 1
    return (a * total + b) % m


def grid_paths(n: int, a: int, b: int, m: int) -> int:
    row = [1] * (n + 1)
    for _ in range(n):
        left = 1
        for j in range(1, n + 1):
            left = row[j] = (a * row[j] + b * left) % m
    return row[n]


def compositions(n: int, a: int, b: int, m: int) -> int:
    ways = [1 % m]
    for k in range(1, n + 1):
        total = ways[k - 1]
        if k > a:
            total += ways[k - a - 1]
        if k > b + 1:
            total += ways[k - b - 2]
        ways.append(total % m)
    return ways[n]


def few_kinds(xs: list[int], a: int, b: int, m: int) -> int:
    inside = [0] * (a + b + 1)
    kinds = start = count = 0
    for end, x in enumerate(xs):
        kind = x % (a + b + 1)
        kinds += inside[kind] == 0
        inside[kind] += 1
        while kinds > a:
            gone = xs[start] % (a + b + 1)
            inside[gone] -= 1
            kinds -= inside[gone] == 0
            start += 1
        count += end - start + 1
    return count % m


def clear_inversions(xs: list[int], a: int, b: int, m: int) -> int:
    order = {x: rank for rank, x in enumerate(sorted({*xs, *(x + a for x in xs)}), 1)}
    tree = [0] * (len(order) + 1)
    count = 0
    for seen, x in enumerate(xs):
        i = order[x + a]
        count += seen
        while i > 0:
            count -= tree[i]
            i -= i & -i
        i = order[x]
        while i < len(tree):
            tree[i] += 1
            i += i & -i
    return count * b % m


def mirror(xs: list[int], a: int, b: int, m: int) -> int:
    keys = [x % (b + 1) for x in xs]
    row = [0] * (len(xs) + 1)
    for i in range(len(xs) - 1, -1, -1):
        inner, row[i] = 0, 1
        for j in range(i + 1, len(xs)):
            below = row[j]
            row[j] = inner + 2 if keys[i] == keys[j] else max(below, row[j - 1])
            inner = below
    return a * (row[len(xs) - 1] if xs else 0) % m


def triples_of_sum(xs: list[int], a: int, b: int, m: int) -> int:
    size = a + 2
    ones, twos = [0] * size, [0] * size
    count = 0
    for x in xs:
        count += twos[(b - x) % size]
        for rest in range(size):
            twos[(rest + x) % size] += ones[rest]
        ones[x % size] += 1
    return count % m


def staircase(n: int, a: int, b: int, m: int) -> int:
    total, step, start, base = 0, a, b, a + b + 1
    while n:
        total += step // base * (n * (n - 1) // 2) + start // base * n
        top = step % base * n + start % base
        # Count the points left under the line from the other axis.
        n, start, step, base = top // base, top % base, base, step % base
    return total % m


def digit_sums(n: int, a: int, b: int, m: int) -> int:
    size = a + 1
    free = [0] * size
    sofar = 0
    for digit in map(int, str(n)):
        spread = [0] * size
        for rest, count in enumerate(free):
            for d in range(10):
                spread[(rest + d) % size] += count
        for d in range(digit):
            spread[(sofar + d) % size] += 1
        free = spread
        sofar += digit
    return free[b % size] % m


def last_in_circle(n: int, a: int, b: int, m: int) -> int:
    place, size = 0, 1
    while size < n:
        # As many removals at once as leave the place below the size.
        jump = min(max((size - place) // (a + 1), 1), n - size)
        while jump > 1 and place + jump * (a + 1) >= size + jump:
            jump -= 1
        place = (place + jump * (a + 1)) % (size + jump)
        size += jump
    return (place + b) % m


def coprime_pairs(n: int, a: int, b: int, m: int) -> int:
    phi = list(range(n + 1))
    for p in range(2, n + 1):
        if phi[p] == p:
            for k in range(p, n + 1, p):
                phi[k] -= phi[k] // p
    return (a * sum(phi) + b) % m


def tree_distances(xs: list[int], a: int, b: int, m: int) -> int:
    sizes = [1] * len(xs)
    total = 0
    for i in range(len(xs) - 1, 0, -1):
        total += sizes[i] * (len(xs) - sizes[i])
        sizes[xs[i] % i] += sizes[i]
    return (a * total + b) % m


def cheapest_merge(xs: list[int], a: int, b: int, m: int) -> int:
    n = len(xs)
    cost = [[0] * (n + 1) for _ in range(n + 1)]
    for i in range(n - 1, -1, -1):
        for j in range(i + 2, n + 1):
            weight = a * (xs[i] + xs[j - 1]) + b * (j - i)
            cost[i][j] = weight + min(cost[i][k] + cost[k][j] for k in range(i + 1, j))
    return cost[0][n] % m
