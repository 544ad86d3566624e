"""Twenty-five functions on strings, known only by number, for compositions.

The list follows Yuan et al., From f(x) and g(x) to f(g(x)), arXiv:2509.25123. Every function is
total and self-contained: it uses nothing but built-ins, so that its own source text can be shown.
Nothing here knows of any kind of task.
"""

from collections.abc import Callable
from dataclasses import dataclass

from rlvr_envs.core.seeding import Rng, integer, pick

LETTERS = "abcdefghijklmnopqrstuvwxyz"
Argument = int | str


@dataclass(frozen=True, slots=True)
class StringFunction:
    """One function, its words, and the argument that it takes beside the string.

    Attributes:
        apply: from the string, and the argument if there is one, to a string.
        words: what it does to the string ``s``, as a sentence without a subject.
        argument: "" for none; "number" (named ``n``), "letters", "separator" or "string"
            (named ``t``).
        low: the least number that is drawn.
        high: the greatest number that is drawn.
        trained: whether it belongs to the training side of the split.
    """

    apply: Callable[..., str]
    words: str
    argument: str = ""
    low: int = 0
    high: int = 0
    trained: bool = False

    def draw_argument(self, rng: Rng) -> tuple[Argument, ...]:
        """Draw the argument; a function of two strings gets a literal here."""
        if not self.argument:
            return ()
        if self.argument == "number":
            return (integer(rng, self.low, self.high),)
        return (pick(rng, "-_|") if self.argument == "separator" else literal(rng),)


def literal(rng: Rng) -> str:
    """Draw two to four lower-case letters."""
    return "".join(pick(rng, LETTERS) for _ in range(integer(rng, 2, 4)))


def _deterministic_shuffle(s: str) -> str:
    length, stride = len(s), 3
    while any(stride % d == 0 and length % d == 0 for d in range(2, length + 1)):
        stride += 2
    return "".join(s[i * stride % length] for i in range(length))


def _repeat(s: str, n: int) -> str:
    return s * n


def _remove_vowels(s: str) -> str:
    return "".join(c for c in s if c not in "aeiouAEIOU")


def _sort_characters(s: str) -> str:
    return "".join(sorted(s))


def _reverse_words(s: str) -> str:
    return " ".join(reversed(s.split(" ")))


def _add_prefix(s: str, t: str) -> str:
    return t + s


def _add_suffix(s: str, t: str) -> str:
    return s + t


def _interlace(s: str, t: str) -> str:
    shorter = min(len(s), len(t))
    return "".join(s[i] + t[i] for i in range(shorter)) + s[shorter:] + t[shorter:]


def _rotate(s: str, n: int) -> str:
    n = n % len(s) if s else 0
    return s[n:] + s[:n]


def _mirror(s: str) -> str:
    return s + s[::-1]


def _alternate_case(s: str) -> str:
    return "".join(c.lower() if i % 2 else c.upper() for i, c in enumerate(s))


def _shift_letters(s: str, n: int) -> str:
    shifted = ""
    for c in s:
        if "a" <= c <= "z":
            shifted += chr((ord(c) - ord("a") + n) % 26 + ord("a"))
        elif "A" <= c <= "Z":
            shifted += chr((ord(c) - ord("A") + n) % 26 + ord("A"))
        else:
            shifted += c
    return shifted


def _number_vowels(s: str) -> str:
    digits = {"a": "1", "e": "2", "i": "3", "o": "4", "u": "5"}
    return "".join(digits.get(c.lower(), c) for c in s)


def _insert_separator(s: str, t: str) -> str:
    return t.join(s)


def _duplicate_characters(s: str) -> str:
    return "".join(c + c for c in s)


def _bracket_characters(s: str) -> str:
    return "".join("«" + c + "»" for c in s)


def _compress_runs(s: str) -> str:
    return "".join(c for i, c in enumerate(s) if i == 0 or c != s[i - 1])


def _reverse_recursively(s: str) -> str:
    if len(s) < 2:
        return s
    half = len(s) // 2
    return _reverse_recursively(s[half:]) + _reverse_recursively(s[:half])


def _concatenate_in_a_loop(s: str, n: int) -> str:
    result = ""
    for _ in range(n):
        result += s
    return result


def _rotate_in_a_loop(s: str, n: int) -> str:
    while n > 0 and s:
        s = s[1:] + s[0]
        n -= 1
    return s


def _interlace_recursively(s: str, t: str) -> str:
    if not s or not t:
        return s + t
    return s[0] + t[0] + _interlace_recursively(s[1:], t[1:])


def _keep_letters(s: str) -> str:
    kept = ""
    for c in s:
        if "a" <= c <= "z" or "A" <= c <= "Z":
            kept += c
    return kept


def _make_length_even(s: str) -> str:
    return s if len(s) % 2 == 0 else s[:-1]


def _add_digits_until_divisible(s: str, n: int) -> str:
    if n == 0 or len(s) % 4 == 0:
        return s
    return _add_digits_until_divisible(s + str(n), n - 1)


def _extend_to_palindrome(s: str, n: int) -> str:
    if n == 0 or s == s[::-1]:
        return s
    return _extend_to_palindrome(s + s[0], n - 1)


def _number(
    apply: Callable[..., str], low: int, high: int, words: str, *, trained: bool
) -> StringFunction:
    return StringFunction(apply, words, "number", low, high, trained)


# Functions that do the same in two ways are on the same side of the split.
FUNCTIONS: tuple[StringFunction, ...] = (
    StringFunction(
        _deterministic_shuffle,
        "starts with the stride 3, adds 2 to it until it has no common factor above 1 with the "
        "length L of s, and returns the L characters of s at the indices i*stride modulo L for "
        "i = 0, 1, ..., L-1",
    ),
    _number(_repeat, 2, 4, "returns s repeated n times", trained=True),
    StringFunction(_remove_vowels, "removes the vowels a, e, i, o, u, in either case"),
    StringFunction(_sort_characters, "sorts the characters of s by code point", trained=True),
    StringFunction(
        _reverse_words,
        "splits s at every single space, reverses the order of the parts, and joins them with "
        "single spaces",
    ),
    StringFunction(_add_prefix, "puts t in front of s", "letters", trained=True),
    StringFunction(_add_suffix, "puts t after s", "letters"),
    StringFunction(
        _interlace,
        "alternates the characters of s and t, beginning with s, and appends the rest of the "
        "longer string",
        "string",
        trained=True,
    ),
    _number(_rotate, 1, 3, "moves the first n characters to the end, one by one", trained=False),
    StringFunction(_mirror, "returns s followed by s reversed", trained=True),
    StringFunction(
        _alternate_case,
        "converts the characters at even indices (from 0) to upper case and the others to lower "
        "case",
    ),
    _number(
        _shift_letters,
        1,
        5,
        "replaces every letter a-z and A-Z by the letter n places later in the alphabet (after z "
        "comes a), keeps its case, and leaves all other characters unchanged",
        trained=True,
    ),
    StringFunction(
        _number_vowels, "replaces a, e, i, o, u, in either case, by the digits 1, 2, 3, 4, 5"
    ),
    StringFunction(
        _insert_separator, "puts t between every two neighbouring characters", "separator", 0, 0
    ),
    StringFunction(_duplicate_characters, "doubles every character in place", trained=True),
    StringFunction(_bracket_characters, "puts every character between « and »", trained=True),
    StringFunction(
        _compress_runs, "replaces every run of equal characters by one of them", trained=True
    ),
    StringFunction(_reverse_recursively, "reverses s", trained=False),
    _number(_concatenate_in_a_loop, 2, 4, "joins n copies of s", trained=True),
    _number(
        _rotate_in_a_loop, 1, 3, "moves the first character to the end, n times", trained=False
    ),
    StringFunction(
        _interlace_recursively,
        "takes one character of s, one of t, and so on, until one string is used up, and then "
        "appends the rest of the other",
        "string",
        trained=True,
    ),
    StringFunction(
        _keep_letters, "removes everything except the letters a-z and A-Z", trained=True
    ),
    StringFunction(_make_length_even, "removes the last character if the length of s is odd"),
    _number(
        _add_digits_until_divisible,
        1,
        3,
        "appends the digits n, n-1, ..., 1, one at a time, and stops as soon as the length is "
        "divisible by 4 (it appends nothing if it already is)",
        trained=False,
    ),
    _number(
        _extend_to_palindrome,
        1,
        3,
        "appends the first character of s, up to n times, and stops as soon as the string is a "
        "palindrome (it appends nothing if it already is)",
        trained=True,
    ),
)


def numbers_of(side: str) -> tuple[int, ...]:
    """Return the numbers of the functions of a side: "all", "train" or "held_out"."""
    keep = {"all": (True, False), "train": (True,), "held_out": (False,)}[side]
    return tuple(i for i, function in enumerate(FUNCTIONS) if function.trained in keep)
