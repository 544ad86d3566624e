"""Slow counterparts to `lists`: each looks at all pairs, segments or windows."""


def longest_streak(xs: list[int], gap: int) -> int:
    n = len(xs)
    best = 0
    for i in range(n):
        length = 1
        going = True
        for j in range(i + 1, n):
            if xs[j] - xs[j - 1] > gap or xs[j - 1] - xs[j] > gap:
                going = False
            if going:
                length += 1
        best = max(best, length)
    return best


def count_pairs(xs: list[int], modulus: int, rest: int) -> int:
    n = len(xs)
    total = 0
    for i in range(n):
        for j in range(i):
            if (xs[i] + xs[j]) % modulus == rest:
                total += 1
    return total


def count_inversions(xs: list[int], gap: int) -> int:
    n = len(xs)
    total = 0
    for j in range(n):
        for i in range(j):
            if xs[i] > xs[j] + gap:
                total += 1
    return total


def longest_rising(xs: list[int], least: int) -> int:
    n = len(xs)
    longest = [1] * n
    best = 0
    for j in range(n):
        for i in range(j):
            if xs[i] + least <= xs[j]:
                longest[j] = max(longest[j], longest[i] + 1)
        best = max(best, longest[j])
    return best


def window_extremes(xs: list[int], parts: int, sign: int) -> int:
    n = len(xs)
    width = n // parts + 1
    total = 0
    for start in range(n - width + 1):
        extreme = xs[start]
        for i in range(start, start + width):
            if sign * xs[i] > sign * extreme:
                extreme = xs[i]
        total += extreme
    return total


def best_segment(xs: list[int], cost: int) -> int:
    n = len(xs)
    best = 0
    for i in range(n):
        current = 0
        for j in range(i, n):
            current += xs[j] - cost
            best = max(best, current)
    return best


def window_distinct(xs: list[int], parts: int, modulus: int) -> int:
    n = len(xs)
    width = n // parts + 1
    total = 0
    for start in range(n - width + 1):
        seen = [0] * modulus
        for i in range(start, start + width):
            if seen[xs[i] % modulus] == 0:
                total += 1
            seen[xs[i] % modulus] = 1
    return total


def waiting_time(xs: list[int], more: int) -> int:
    n = len(xs)
    total = 0
    for i in range(n):
        wait = 0
        for j in range(i + 1, n):
            if wait == 0 and xs[j] // more > xs[i] // more:
                wait = j - i
        total += wait
    return total


def largest_rectangle(xs: list[int], base: int) -> int:
    n = len(xs)
    best = 0
    for i in range(n):
        height = xs[i] + base
        for j in range(i, n):
            height = min(height, xs[j] + base)
            best = max(best, height * (j - i + 1))
    return best


def divisible_segments(xs: list[int], modulus: int, rest: int) -> int:
    n = len(xs)
    total = 0
    for i in range(n):
        current = 0
        for j in range(i, n):
            current = (current + xs[j]) % modulus
            if current == rest:
                total += 1
    return total


def longest_varied(xs: list[int], modulus: int, most: int) -> int:
    n = len(xs)
    best = 0
    for i in range(n):
        seen = [0] * modulus
        distinct = 0
        for j in range(i, n):
            if seen[xs[j] % modulus] == 0:
                distinct += 1
                seen[xs[j] % modulus] = 1
            if distinct <= most:
                best = max(best, j - i + 1)
    return best


def fewest_jumps(xs: list[int], reach: int) -> int:
    n = len(xs)
    if n == 0:
        return 0
    fewest = [n] * n
    fewest[0] = 0
    for j in range(n):
        for i in range(j):
            if i + 1 + xs[i] % reach >= j:
                fewest[j] = min(fewest[j], fewest[i] + 1)
    return fewest[n - 1]


def trapped_water(xs: list[int], height: int) -> int:
    n = len(xs)
    total = 0
    for i in range(n):
        left = 0
        right = 0
        for j in range(n):
            if j <= i:
                left = max(left, xs[j] % height)
            if j >= i:
                right = max(right, xs[j] % height)
        total += min(left, right) - xs[i] % height
    return total


def best_trade(xs: list[int], wait: int) -> int:
    n = len(xs)
    best = 0
    for i in range(n):
        for j in range(i + wait, n):
            best = max(best, xs[j] - xs[i])
    return best


def most_frequent(xs: list[int], modulus: int, sign: int) -> int:
    n = len(xs)
    best = 0
    most = -1
    for i in range(n):
        count = 0
        for j in range(n):
            if xs[j] % modulus == xs[i] % modulus:
                count += 1
        rest = xs[i] % modulus
        if count > most or (count == most and sign * rest < sign * best):
            most = count
            best = rest
    if n == 0 and sign < 0:
        return modulus - 1
    return best


def heaviest_apart(xs: list[int], apart: int) -> int:
    n = len(xs)
    best = [0] * n
    total = 0
    for i in range(n):
        before = 0
        for j in range(i - apart + 1):
            before = max(before, best[j])
        best[i] = before + xs[i]
        total = max(total, best[i])
    return total


def equal_ends(xs: list[int], modulus: int) -> int:
    n = len(xs)
    best = 0
    for i in range(n):
        for j in range(i, n):
            if xs[i] % modulus == xs[j] % modulus:
                best = max(best, j - i + 1)
    return best
