"""Steps over a list, each in plain but quadratic Python.

`fast_stages` holds a function of the same name and results for each. Their text is what a problem
shows, so a change of it changes the problems. Every step takes a list of integers from 0, a small
number and a modulus, and returns as many integers below the modulus; its inner loop runs about
n * n / 2 times whatever the values are, so that its time follows from the length alone.
"""


def running_total(xs: list[int], a: int, m: int) -> list[int]:
    out = []
    for i in range(len(xs)):
        total = a
        for j in range(i + 1):
            total += xs[j]
        out.append(total % m)
    return out


def remaining_total(xs: list[int], a: int, m: int) -> list[int]:
    out = []
    for i in range(len(xs)):
        total = 0
        for j in range(i, len(xs)):
            total += xs[j]
        out.append(a * total % m)
    return out


def earlier_equals(xs: list[int], a: int, m: int) -> list[int]:
    out = []
    for i in range(len(xs)):
        count = 0
        for j in range(i):
            if xs[j] == xs[i]:
                count += 1
        out.append((a * count + xs[i]) % m)
    return out


def highest_so_far(xs: list[int], a: int, m: int) -> list[int]:
    out = []
    for i in range(len(xs)):
        best = xs[0]
        for j in range(i + 1):
            if xs[j] > best:
                best = xs[j]
        out.append((a * best + xs[i]) % m)
    return out


def window_total(xs: list[int], a: int, m: int) -> list[int]:
    width = len(xs) // (a % 3 + 2) + 1
    out = []
    for i in range(len(xs)):
        total = 0
        for j in range(i + 1):
            if j > i - width:
                total += xs[j]
        out.append(total % m)
    return out


def gap_to_equal(xs: list[int], a: int, m: int) -> list[int]:
    out = []
    for i in range(len(xs)):
        last = i
        for j in range(i):
            if xs[j] == xs[i]:
                last = j
        out.append(a * (i - last) % m)
    return out


def smaller_later(xs: list[int], a: int, m: int) -> list[int]:
    out = []
    for i in range(len(xs)):
        count = 0
        for j in range(i + 1, len(xs)):
            if xs[j] < xs[i]:
                count += 1
        out.append((count + a * xs[i]) % m)
    return out


def partners(xs: list[int], a: int, m: int) -> list[int]:
    out = []
    for i in range(len(xs)):
        count = 0
        for j in range(i):
            if (xs[i] + xs[j]) % (a + 5) == 0:
                count += 1
        out.append(count % m)
    return out


def next_higher(xs: list[int], a: int, m: int) -> list[int]:
    out = []
    for i in range(len(xs)):
        found = a
        for j in range(len(xs) - 1, i, -1):
            if xs[j] > xs[i]:
                found = xs[j]
        out.append(found % m)
    return out


def window_peak(xs: list[int], a: int, m: int) -> list[int]:
    width = len(xs) // (a % 3 + 2) + 1
    out = []
    for i in range(len(xs)):
        best = 0
        for j in range(i + 1):
            if j > i - width and xs[j] > best:
                best = xs[j]
        out.append((best + a * xs[i]) % m)
    return out


def best_recent_sum(xs: list[int], a: int, m: int) -> list[int]:
    level = m // 2 + a
    out = []
    for i in range(len(xs)):
        total = 0
        best = xs[i] - level
        for j in range(i, -1, -1):
            total += xs[j] - level
            if total > best:
                best = total
        out.append(best % m)
    return out


def longest_climb(xs: list[int], a: int, m: int) -> list[int]:
    length: list[int] = []
    for i in range(len(xs)):
        best = 0
        for j in range(i):
            if xs[j] < xs[i] and length[j] > best:
                best = length[j]
        length.append(best + 1)
    return [(a * size + x) % m for size, x in zip(length, xs, strict=True)]


def lucky_blocks(xs: list[int], a: int, m: int) -> list[int]:
    out = []
    for i in range(len(xs)):
        total = 0
        count = 0
        for j in range(i, -1, -1):
            total += xs[j]
            if total % (a + 7) == 0:
                count += 1
        out.append((count + xs[i]) % m)
    return out


def lows_of_blocks(xs: list[int], a: int, m: int) -> list[int]:
    out = []
    for i in range(len(xs)):
        low = xs[i]
        total = a
        for j in range(i, -1, -1):
            if xs[j] < low:
                low = xs[j]
            total += low
        out.append(total % m)
    return out


def distances(xs: list[int], a: int, m: int) -> list[int]:
    out = []
    for i in range(len(xs)):
        total = 0
        for j in range(i):
            total += abs(xs[i] - xs[j])
        out.append((total + a) % m)
    return out


def mixed_bits(xs: list[int], a: int, m: int) -> list[int]:
    out = []
    for i in range(len(xs)):
        total = a
        for j in range(i):
            total += xs[i] ^ xs[j]
        out.append(total % m)
    return out
