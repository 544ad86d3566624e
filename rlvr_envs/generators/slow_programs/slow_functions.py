"""Functions whose running time grows too fast, in plain Python.

`fast_functions` holds a function of the same name and results for each. Their text is what a
problem shows, so a change of it changes the problems. Each takes its data (a list of integers from
0, or one integer), two small numbers from 1 and a modulus from 10, and returns an integer.
"""

from math import gcd


def pairs_of_sum(xs: list[int], a: int, b: int, m: int) -> int:
    count = 0
    for i in range(len(xs)):
        for j in range(i):
            if (xs[i] + xs[j]) % (a + 2) == b % (a + 2):
                count += 1
    return count % m


def best_block(xs: list[int], a: int, b: int, m: int) -> int:
    best = 0
    for i in range(len(xs)):
        total = 0
        for j in range(i, len(xs)):
            total += xs[j] - 40 - a
            if total > best:
                best = total
    return b * best % m


def counted_line(n: int, a: int, b: int, m: int) -> int:
    total = 0
    for i in range(n):
        total += a * i + b
    return total % m


def repeated_step(n: int, a: int, b: int, m: int) -> int:
    value = 1
    for _ in range(n):
        value = (a * value + b) % m
    return value


def two_term(n: int, a: int, b: int, m: int) -> int:
    left, right = 0, 1
    for _ in range(n):
        left, right = right, (a * right + b * left) % m
    return left


def widest_range(xs: list[int], a: int, b: int, m: int) -> int:
    best = 0
    for i in range(len(xs)):
        for j in range(i):
            if a * (xs[i] - xs[j]) + b * (i - j) > best:
                best = a * (xs[i] - xs[j]) + b * (i - j)
    return best % m


def quotients(n: int, a: int, b: int, m: int) -> int:
    total = b
    for k in range(1, n + 1):
        total += a * (n // k)
    return total % m


def grid_paths(n: int, a: int, b: int, m: int) -> int:
    def paths(i: int, j: int) -> int:
        if i == 0 or j == 0:
            return 1
        return (a * paths(i - 1, j) + b * paths(i, j - 1)) % m

    return paths(n, n)


def compositions(n: int, a: int, b: int, m: int) -> int:
    if n < 0:
        return 0
    if n == 0:
        return 1 % m
    smaller = compositions(n - 1, a, b, m) + compositions(n - a - 1, a, b, m)
    return (smaller + compositions(n - b - 2, a, b, m)) % m


def few_kinds(xs: list[int], a: int, b: int, m: int) -> int:
    count = 0
    for i in range(len(xs)):
        kinds = set()
        for j in range(i, len(xs)):
            kinds.add(xs[j] % (a + b + 1))
            if len(kinds) <= a:
                count += 1
    return count % m


def clear_inversions(xs: list[int], a: int, b: int, m: int) -> int:
    count = 0
    for i in range(len(xs)):
        for j in range(i):
            if xs[j] > xs[i] + a:
                count += b
    return count % m


def mirror(xs: list[int], a: int, b: int, m: int) -> int:
    def longest(i: int, j: int) -> int:
        if i >= j:
            return a * (i == j)
        if xs[i] % (b + 1) == xs[j] % (b + 1):
            return longest(i + 1, j - 1) + 2 * a
        return max(longest(i + 1, j), longest(i, j - 1))

    return longest(0, len(xs) - 1) % m


def triples_of_sum(xs: list[int], a: int, b: int, m: int) -> int:
    count = 0
    for i in range(len(xs)):
        for j in range(i):
            for k in range(j):
                if (xs[i] + xs[j] + xs[k]) % (a + 2) == b % (a + 2):
                    count += 1
    return count % m


def staircase(n: int, a: int, b: int, m: int) -> int:
    total = 0
    for i in range(n):
        total += (a * i + b) // (a + b + 1)
    return total % m


def digit_sums(n: int, a: int, b: int, m: int) -> int:
    count = 0
    for k in range(n):
        if sum(int(digit) for digit in str(k)) % (a + 1) == b % (a + 1):
            count += 1
    return count % m


def last_in_circle(n: int, a: int, b: int, m: int) -> int:
    place = 0
    for size in range(2, n + 1):
        place = (place + a + 1) % size
    return (place + b) % m


def coprime_pairs(n: int, a: int, b: int, m: int) -> int:
    count = 0
    for i in range(1, n + 1):
        for j in range(1, i + 1):
            if gcd(i, j) == 1:
                count += a
    return (count + b) % m


def tree_distances(xs: list[int], a: int, b: int, m: int) -> int:
    total = b
    for i in range(len(xs)):
        for j in range(i):
            low, high = j, i
            while low != high:
                high = xs[high] % high
                total += a
                if low > high:
                    low, high = high, low
    return total % m


def cheapest_merge(xs: list[int], a: int, b: int, m: int) -> int:
    def cost(i: int, j: int) -> int:
        if j - i < 2:
            return 0
        weight = a * (xs[i] + xs[j - 1]) + b * (j - i)
        return weight + min(cost(i, k) + cost(k, j) for k in range(i + 1, j))

    return cost(0, len(xs)) % m
