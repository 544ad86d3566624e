"""Questions about one list of integers in [0, 1000), which may be empty: fast answers.

The functions are both Python and, by `lower`, programs in every language. `slow_lists` has a slow
counterpart to each.
"""

LEAVES = 1024  # of a tree over the values, all of which are below 1000


def longest_streak(xs: list[int], gap: int) -> int:
    n = len(xs)
    best = 0
    length = 0
    for i in range(n):
        if i > 0 and xs[i] - xs[i - 1] <= gap and xs[i - 1] - xs[i] <= gap:
            length += 1
        else:
            length = 1
        best = max(best, length)
    return best


def count_pairs(xs: list[int], modulus: int, rest: int) -> int:
    n = len(xs)
    seen = [0] * modulus
    total = 0
    for i in range(n):
        total += seen[(rest - xs[i]) % modulus]
        seen[xs[i] % modulus] += 1
    return total


def count_inversions(xs: list[int], gap: int) -> int:
    n = len(xs)
    tree = [0] * (2 * LEAVES)
    total = 0
    for i in range(n):
        if xs[i] + gap + 1 < LEAVES:
            above = xs[i] + gap + 1 + LEAVES
            total += tree[above]
            while above > 1:
                if above % 2 == 0:
                    total += tree[above + 1]
                above //= 2
        place = xs[i] + LEAVES
        while place >= 1:
            tree[place] += 1
            place //= 2
    return total


def longest_rising(xs: list[int], least: int) -> int:
    n = len(xs)
    ends = [0] * n
    size = 0
    for i in range(n):
        low = 0
        high = size
        while low < high:
            middle = (low + high) // 2
            if ends[middle] + least <= xs[i]:
                low = middle + 1
            else:
                high = middle
        if low == size:
            size += 1
            ends[low] = xs[i]
        else:
            ends[low] = min(ends[low], xs[i])
    return size


def window_extremes(xs: list[int], parts: int, sign: int) -> int:
    n = len(xs)
    width = n // parts + 1
    queue = [0] * n
    head = 0
    tail = 0
    total = 0
    for i in range(n):
        while tail > head and sign * xs[queue[tail - 1]] <= sign * xs[i]:
            tail -= 1
        queue[tail] = i
        tail += 1
        if queue[head] <= i - width:
            head += 1
        if i >= width - 1:
            total += xs[queue[head]]
    return total


def best_segment(xs: list[int], cost: int) -> int:
    n = len(xs)
    best = 0
    current = 0
    for i in range(n):
        current = max(0, current + xs[i] - cost)
        best = max(best, current)
    return best


def window_distinct(xs: list[int], parts: int, modulus: int) -> int:
    n = len(xs)
    width = n // parts + 1
    counts = [0] * modulus
    distinct = 0
    total = 0
    for i in range(n):
        if counts[xs[i] % modulus] == 0:
            distinct += 1
        counts[xs[i] % modulus] += 1
        if i >= width:
            old = xs[i - width] % modulus
            counts[old] -= 1
            if counts[old] == 0:
                distinct -= 1
        if i >= width - 1:
            total += distinct
    return total


def waiting_time(xs: list[int], more: int) -> int:
    n = len(xs)
    stack = [0] * n
    size = 0
    total = 0
    for i in range(n):
        while size > 0 and xs[stack[size - 1]] // more < xs[i] // more:
            total += i - stack[size - 1]
            size -= 1
        stack[size] = i
        size += 1
    return total


def largest_rectangle(xs: list[int], base: int) -> int:
    n = len(xs)
    stack = [0] * (n + 1)
    size = 0
    best = 0
    for i in range(n + 1):
        height = -1
        if i < n:
            height = xs[i] + base
        while size > 0 and xs[stack[size - 1]] + base >= height:
            top = xs[stack[size - 1]] + base
            size -= 1
            left = -1
            if size > 0:
                left = stack[size - 1]
            best = max(best, top * (i - left - 1))
        if i < n:
            stack[size] = i
            size += 1
    return best


def divisible_segments(xs: list[int], modulus: int, rest: int) -> int:
    n = len(xs)
    seen = [0] * modulus
    seen[0] = 1
    prefix = 0
    total = 0
    for i in range(n):
        prefix = (prefix + xs[i]) % modulus
        total += seen[(prefix - rest) % modulus]
        seen[prefix] += 1
    return total


def longest_varied(xs: list[int], modulus: int, most: int) -> int:
    n = len(xs)
    counts = [0] * modulus
    distinct = 0
    left = 0
    best = 0
    for i in range(n):
        if counts[xs[i] % modulus] == 0:
            distinct += 1
        counts[xs[i] % modulus] += 1
        while distinct > most:
            counts[xs[left] % modulus] -= 1
            if counts[xs[left] % modulus] == 0:
                distinct -= 1
            left += 1
        best = max(best, i - left + 1)
    return best


def fewest_jumps(xs: list[int], reach: int) -> int:
    n = len(xs)
    jumps = 0
    end = 0
    farthest = 0
    for i in range(n - 1):
        farthest = max(farthest, i + 1 + xs[i] % reach)
        if i == end:
            jumps += 1
            end = farthest
    return jumps


def trapped_water(xs: list[int], height: int) -> int:
    n = len(xs)
    right = [0] * (n + 1)
    for k in range(n):
        right[n - 1 - k] = max(right[n - k], xs[n - 1 - k] % height)
    left = 0
    total = 0
    for i in range(n):
        left = max(left, xs[i] % height)
        total += min(left, right[i]) - xs[i] % height
    return total


def best_trade(xs: list[int], wait: int) -> int:
    n = len(xs)
    best = 0
    lowest = 0
    for i in range(wait, n):
        if i == wait:
            lowest = xs[0]
        lowest = min(lowest, xs[i - wait])
        best = max(best, xs[i] - lowest)
    return best


def most_frequent(xs: list[int], modulus: int, sign: int) -> int:
    n = len(xs)
    counts = [0] * modulus
    for i in range(n):
        counts[xs[i] % modulus] += 1
    best = 0
    for rest in range(modulus):
        if counts[rest] > counts[best] or (counts[rest] == counts[best] and sign < 0):
            best = rest
    return best


def heaviest_apart(xs: list[int], apart: int) -> int:
    n = len(xs)
    best = [0] * (n + 1)
    for i in range(n):
        before = 0
        if i >= apart:
            before = best[i + 1 - apart]
        best[i + 1] = max(best[i], before + xs[i])
    return best[n]


def equal_ends(xs: list[int], modulus: int) -> int:
    n = len(xs)
    first = [0] * modulus
    best = 0
    for i in range(n):
        rest = xs[i] % modulus
        if first[rest] == 0:
            first[rest] = i + 1
        best = max(best, i + 2 - first[rest])
    return best
