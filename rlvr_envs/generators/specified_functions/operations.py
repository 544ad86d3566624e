"""Functions on lists, words, text and counts that specified functions are chained from.

All are total: an empty list or text has a stated result. Their own text is what an oracle hands in,
so each uses built-ins alone. `specifications` says them in words.
"""


def keep_multiples(xs: list[int], k: int) -> list[int]:
    return [x for x in xs if x % k == 0]


def drop_multiples(xs: list[int], k: int) -> list[int]:
    return [x for x in xs if x % k]


def drop_smaller(xs: list[int], k: int) -> list[int]:
    return [x for x in xs if x >= k]


def add(xs: list[int], k: int) -> list[int]:
    return [x + k for x in xs]


def multiply(xs: list[int], k: int) -> list[int]:
    return [x * k for x in xs]


def remainders(xs: list[int], k: int) -> list[int]:
    return [x % k for x in xs]


def absolute(xs: list[int]) -> list[int]:
    return [abs(x) for x in xs]


def exclusive_or(xs: list[int], k: int) -> list[int]:
    return [x ^ k for x in xs]


def reverse(xs: list[int]) -> list[int]:
    return xs[::-1]


def ascending(xs: list[int]) -> list[int]:
    return sorted(xs)


def descending(xs: list[int]) -> list[int]:
    return sorted(xs, reverse=True)


def by_digit_sum(xs: list[int]) -> list[int]:
    return sorted(xs, key=lambda x: (sum(int(digit) for digit in str(abs(x))), x))


def by_remainder(xs: list[int], k: int) -> list[int]:
    return sorted(xs, key=lambda x: x % k)


def first_occurrences(xs: list[int]) -> list[int]:
    return list(dict.fromkeys(xs))


def last_occurrences(xs: list[int]) -> list[int]:
    return list(dict.fromkeys(xs[::-1]))[::-1]


def prefix_sums(xs: list[int]) -> list[int]:
    return [sum(xs[: i + 1]) for i in range(len(xs))]


def differences(xs: list[int]) -> list[int]:
    return [xs[i + 1] - xs[i] for i in range(len(xs) - 1)]


def window_sums(xs: list[int], k: int) -> list[int]:
    return [sum(xs[i : i + k]) for i in range(len(xs) - k + 1)]


def window_maxima(xs: list[int], k: int) -> list[int]:
    return [max(xs[i : i + k]) for i in range(len(xs) - k + 1)]


def block_sums(xs: list[int], k: int) -> list[int]:
    return [sum(xs[i : i + k]) for i in range(0, len(xs), k)]


def reverse_blocks(xs: list[int], k: int) -> list[int]:
    return [x for i in range(0, len(xs), k) for x in xs[i : i + k][::-1]]


def rotate(xs: list[int], k: int) -> list[int]:
    places = k % len(xs) if xs else 0
    return xs[places:] + xs[:places]


def every(xs: list[int], k: int) -> list[int]:
    return xs[::k]


def running_maximum(xs: list[int]) -> list[int]:
    return [max(xs[: i + 1]) for i in range(len(xs))]


def fold_ends(xs: list[int]) -> list[int]:
    return [xs[i // 2] if i % 2 == 0 else xs[-1 - i // 2] for i in range(len(xs))]


def smaller_before(xs: list[int]) -> list[int]:
    return [sum(y < x for y in xs[:i]) for i, x in enumerate(xs)]


def weigh_by_place(xs: list[int]) -> list[int]:
    return [i * x for i, x in enumerate(xs, start=1)]


def frequencies(xs: list[int]) -> list[int]:
    return [xs.count(x) for x in xs]


def peaks(xs: list[int]) -> list[int]:
    last = len(xs) - 1
    return [
        x for i, x in enumerate(xs) if (i == 0 or xs[i - 1] < x) and (i == last or xs[i + 1] < x)
    ]


def run_lengths(xs: list[int]) -> list[int]:
    runs: list[int] = []
    for i, x in enumerate(xs):
        if i and x == xs[i - 1]:
            runs[-1] += 1
        else:
            runs += [x, 1]
    return runs


def carry(xs: list[int], k: int) -> list[int]:
    state, out = 0, []
    for x in xs:
        state = (2 * state + x) % k
        out.append(state)
    return out


def total(xs: list[int]) -> int:
    return sum(xs)


def spread(xs: list[int]) -> int:
    return max(xs) - min(xs) if xs else 0


def alternating_sum(xs: list[int]) -> int:
    return sum(xs[::2]) - sum(xs[1::2])


def best_block(xs: list[int]) -> int:
    best = total = 0
    for x in xs:
        total = max(0, total + x)
        best = max(best, total)
    return best


def products_of_neighbours(xs: list[int]) -> int:
    return sum(xs[i] * xs[i + 1] for i in range(len(xs) - 1))


def last_digits(xs: list[int]) -> str:
    return "".join(str(abs(x) % 10) for x in xs)


def longer(ws: list[str], k: int) -> list[str]:
    return [w for w in ws if len(w) > k]


def by_length(ws: list[str]) -> list[str]:
    return sorted(ws, key=lambda w: (len(w), w))


def alphabetical(ws: list[str]) -> list[str]:
    return sorted(ws)


def by_last_letter(ws: list[str]) -> list[str]:
    return sorted(ws, key=lambda w: w[-1:])


def reverse_each(ws: list[str]) -> list[str]:
    return [w[::-1] for w in ws]


def sort_each(ws: list[str]) -> list[str]:
    return ["".join(sorted(w)) for w in ws]


def rotate_each(ws: list[str], k: int) -> list[str]:
    return [w[k % len(w) :] + w[: k % len(w)] if w else w for w in ws]


def cut_each(ws: list[str], k: int) -> list[str]:
    return [w[:k] for w in ws]


def distinct_words(ws: list[str]) -> list[str]:
    return list(dict.fromkeys(ws))


def reverse_list(ws: list[str]) -> list[str]:
    return ws[::-1]


def join_neighbours(ws: list[str]) -> list[str]:
    return [ws[i] + ws[i + 1] for i in range(len(ws) - 1)]


def without_vowel_start(ws: list[str]) -> list[str]:
    return [w for w in ws if w[:1] not in ("a", "e", "i", "o", "u")]


def lengths(ws: list[str]) -> list[int]:
    return [len(w) for w in ws]


def vowel_numbers(ws: list[str]) -> list[int]:
    return [sum(w.count(vowel) for vowel in "aeiou") for w in ws]


def letter_sums(ws: list[str]) -> list[int]:
    return [sum(ord(c) - 96 for c in w if "a" <= c <= "z") for w in ws]


def join(ws: list[str]) -> str:
    return "-".join(ws)


def ends(ws: list[str]) -> str:
    return "".join(w[:1] + w[-1:] for w in ws)


def word_counts(ws: list[str]) -> dict[str, int]:
    return {w: ws.count(w) for w in ws}


def lengths_by_letter(ws: list[str]) -> dict[str, int]:
    totals: dict[str, int] = {}
    for w in ws:
        totals[w[:1]] = totals.get(w[:1], 0) + len(w)
    return totals


def split(text: str) -> list[str]:
    return [w for w in text.replace("-", " ").split(" ") if w]


def reverse_text(text: str) -> str:
    return text[::-1]


def without_vowels(text: str) -> str:
    return "".join(c for c in text if c not in "aeiou")


def shift_letters(text: str, k: int) -> str:
    return "".join(chr((ord(c) - 97 + k) % 26 + 97) if "a" <= c <= "z" else c for c in text)


def squeeze(text: str) -> str:
    return "".join(c for i, c in enumerate(text) if i == 0 or c != text[i - 1])


def swap_pairs(text: str) -> str:
    return "".join(text[i : i + 2][::-1] for i in range(0, len(text), 2))


def write_runs(text: str) -> str:
    parts: list[str] = []
    count = 0
    for i, c in enumerate(text):
        count += 1
        if i + 1 == len(text) or text[i + 1] != c:
            parts.append(c + str(count))
            count = 0
    return "".join(parts)


def deal(text: str, k: int) -> str:
    return "".join(text[i::k] for i in range(k))


def positions(text: str) -> list[int]:
    return [ord(c) - 96 for c in text if "a" <= c <= "z"]


def letter_counts(text: str) -> dict[str, int]:
    return {c: text.count(c) for c in text if "a" <= c <= "z"}


def at_least(counts: dict[str, int], k: int) -> dict[str, int]:
    return {key: count for key, count in counts.items() if count >= k}


def weigh(counts: dict[str, int], k: int) -> dict[str, int]:
    return {key: k * count + len(key) for key, count in counts.items()}


def by_first_letter(counts: dict[str, int]) -> dict[str, int]:
    totals: dict[str, int] = {}
    for key, count in counts.items():
        totals[key[:1]] = totals.get(key[:1], 0) + count
    return totals


def keys_by_count(counts: dict[str, int]) -> list[str]:
    return sorted(counts, key=lambda key: (-counts[key], key))


def counts_by_key(counts: dict[str, int]) -> list[int]:
    return [counts[key] for key in sorted(counts)]


def spell(counts: dict[str, int]) -> str:
    return "-".join(key + str(counts[key]) for key in sorted(counts))
