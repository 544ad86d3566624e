"""The steps of `slow_stages` again, each in O(n log n) or better.

They compute the expected outputs, and their text is the oracle's answer.
"""

from bisect import bisect_left
from collections import deque
from itertools import accumulate


def running_total(xs: list[int], a: int, m: int) -> list[int]:
    return [(a + total) % m for total in accumulate(xs)]


def remaining_total(xs: list[int], a: int, m: int) -> list[int]:
    return [a * total % m for total in accumulate(reversed(xs))][::-1]


def earlier_equals(xs: list[int], a: int, m: int) -> list[int]:
    seen: dict[int, int] = {}
    out = []
    for x in xs:
        count = seen.get(x, 0)
        out.append((a * count + x) % m)
        seen[x] = count + 1
    return out


def highest_so_far(xs: list[int], a: int, m: int) -> list[int]:
    return [(a * best + x) % m for best, x in zip(accumulate(xs, max), xs, strict=True)]


def window_total(xs: list[int], a: int, m: int) -> list[int]:
    width = len(xs) // (a % 3 + 2) + 1
    total = 0
    out = []
    for i, x in enumerate(xs):
        total += x
        if i >= width:
            total -= xs[i - width]
        out.append(total % m)
    return out


def gap_to_equal(xs: list[int], a: int, m: int) -> list[int]:
    last: dict[int, int] = {}
    out = []
    for i, x in enumerate(xs):
        out.append(a * (i - last.get(x, i)) % m)
        last[x] = i
    return out


def smaller_later(xs: list[int], a: int, m: int) -> list[int]:
    order = {x: rank for rank, x in enumerate(sorted(set(xs)), 1)}
    tree = [0] * (len(order) + 1)
    out = []
    for x in reversed(xs):
        i = order[x] - 1
        count = 0
        while i > 0:
            count += tree[i]
            i -= i & -i
        out.append((count + a * x) % m)
        i = order[x]
        while i < len(tree):
            tree[i] += 1
            i += i & -i
    return out[::-1]


def partners(xs: list[int], a: int, m: int) -> list[int]:
    counts = [0] * (a + 5)
    out = []
    for x in xs:
        out.append(counts[-x % (a + 5)] % m)
        counts[x % (a + 5)] += 1
    return out


def next_higher(xs: list[int], a: int, m: int) -> list[int]:
    stack: list[int] = []
    out = []
    for x in reversed(xs):
        while stack and stack[-1] <= x:
            stack.pop()
        out.append((stack[-1] if stack else a) % m)
        stack.append(x)
    return out[::-1]


def window_peak(xs: list[int], a: int, m: int) -> list[int]:
    width = len(xs) // (a % 3 + 2) + 1
    queue: deque[int] = deque()
    out = []
    for i, x in enumerate(xs):
        while queue and xs[queue[-1]] <= x:
            queue.pop()
        queue.append(i)
        if queue[0] <= i - width:
            queue.popleft()
        out.append((xs[queue[0]] + a * x) % m)
    return out


def best_recent_sum(xs: list[int], a: int, m: int) -> list[int]:
    level = m // 2 + a
    best = 0
    out = []
    for x in xs:
        best = max(best, 0) + x - level
        out.append(best % m)
    return out


def longest_climb(xs: list[int], a: int, m: int) -> list[int]:
    ends: list[int] = []
    out = []
    for x in xs:
        place = bisect_left(ends, x)
        if place == len(ends):
            ends.append(x)
        else:
            ends[place] = x
        out.append((a * (place + 1) + x) % m)
    return out


def lucky_blocks(xs: list[int], a: int, m: int) -> list[int]:
    counts = [0] * (a + 7)
    total = 0
    out = []
    for x in xs:
        counts[total % (a + 7)] += 1
        total += x
        out.append((counts[total % (a + 7)] + x) % m)
    return out


def lows_of_blocks(xs: list[int], a: int, m: int) -> list[int]:
    stack: list[tuple[int, int]] = []
    total = 0
    out = []
    for x in xs:
        width = 1
        while stack and stack[-1][0] >= x:
            low, count = stack.pop()
            total -= low * count
            width += count
        stack.append((x, width))
        total += x * width
        out.append((total + a) % m)
    return out


def distances(xs: list[int], a: int, m: int) -> list[int]:
    order = {x: rank for rank, x in enumerate(sorted(set(xs)), 1)}
    counts = [0] * (len(order) + 1)
    sums = [0] * (len(order) + 1)
    everything = 0
    out = []
    for seen, x in enumerate(xs):
        i = order[x]
        count = low = 0
        while i > 0:
            count += counts[i]
            low += sums[i]
            i -= i & -i
        total = x * count - low + (everything - low) - x * (seen - count)
        out.append((total + a) % m)
        everything += x
        i = order[x]
        while i < len(counts):
            counts[i] += 1
            sums[i] += x
            i += i & -i
    return out


def mixed_bits(xs: list[int], a: int, m: int) -> list[int]:
    width = max(xs, default=0).bit_length()
    ones = [0] * width
    out = []
    for seen, x in enumerate(xs):
        total = a
        for b in range(width):
            if x >> b & 1:
                total += (seen - ones[b]) << b
                ones[b] += 1
            else:
                total += ones[b] << b
        out.append(total % m)
    return out
