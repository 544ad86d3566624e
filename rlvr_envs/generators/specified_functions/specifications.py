"""Operations in words: what each function of `operations` does, and with which parameters."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rlvr_envs.core.seeding import Rng, integer, integers, pick
from rlvr_envs.generators.specified_functions import operations as op

LETTERS = "abcdefghijklmnopqrstuvwxyz"
KINDS = {
    "ints": ("list[int]", "list of integers"),
    "words": ("list[str]", "list of words"),
    "text": ("str", "string"),
    "counts": ("dict[str, int]", "dict from strings to integers"),
    "int": ("int", "integer"),
}
STARTS = ("ints", "ints", "words", "text", "counts")


@dataclass(frozen=True, slots=True)
class Operation:
    """One step: from a kind of value to a kind of value."""

    takes: str  # the kind of the value
    gives: str  # the kind of the result
    words: str  # an imperative clause; ``{0}`` stands for the parameter
    apply: Callable[..., Any]  # the function, of the value and the parameter
    low: int | None = None  # the least parameter, or None where there is none
    high: int = 0  # the greatest parameter

    def draw(self, rng: Rng) -> tuple[int, ...]:
        """Draw the parameters."""
        return () if self.low is None else (integer(rng, self.low, self.high),)


def _ints(words: str, apply: Callable[..., Any], *span: int) -> Operation:
    return Operation("ints", "ints", words, apply, *span)


def _words(words: str, apply: Callable[..., Any], *span: int) -> Operation:
    return Operation("words", "words", words, apply, *span)


def _text(words: str, apply: Callable[..., Any], *span: int) -> Operation:
    return Operation("text", "text", words, apply, *span)


OPERATIONS: tuple[Operation, ...] = (
    _ints("keep only the numbers divisible by {0}", op.keep_multiples, 2, 4),
    _ints("remove the numbers divisible by {0}", op.drop_multiples, 2, 6),
    _ints("remove the numbers smaller than {0}", op.drop_smaller, -9, 9),
    _ints("add {0} to every number", op.add, 1, 20),
    _ints("multiply every number by {0}", op.multiply, 2, 5),
    _ints("replace every number by its non-negative remainder modulo {0}", op.remainders, 5, 40),
    _ints("replace every number by its absolute value", op.absolute),
    _ints(
        "replace every number by its bitwise exclusive or (XOR) with {0}", op.exclusive_or, 1, 31
    ),
    _ints("reverse the list", op.reverse),
    _ints("sort the numbers in ascending order", op.ascending),
    _ints("sort the numbers in descending order", op.descending),
    _ints(
        "sort the numbers in ascending order of the sum of the decimal digits of their absolute "
        "values, and numbers with equal sums by the numbers themselves, ascending",
        op.by_digit_sum,
    ),
    _ints(
        "sort the numbers in ascending order of their non-negative remainder modulo {0}, and keep "
        "numbers with equal remainders in their current order",
        op.by_remainder,
        2,
        9,
    ),
    _ints("keep only the first occurrence of each number", op.first_occurrences),
    _ints(
        "keep only the last occurrence of each number, in the current order", op.last_occurrences
    ),
    _ints(
        "replace the list by its prefix sums: each number becomes the sum of itself and all "
        "numbers before it in the current list",
        op.prefix_sums,
    ),
    _ints(
        "replace the list by the differences of neighbours: each number minus the one before it "
        "(an empty list if there are fewer than two)",
        op.differences,
    ),
    _ints(
        "replace the list by the sums of all windows of {0} consecutive numbers, left to right "
        "(an empty list if there are fewer than {0})",
        op.window_sums,
        2,
        3,
    ),
    _ints(
        "replace the list by the maxima of all windows of {0} consecutive numbers, left to right "
        "(an empty list if there are fewer than {0})",
        op.window_maxima,
        2,
        3,
    ),
    _ints(
        "cut the list into blocks of {0} numbers, where the last block may be shorter, and replace "
        "each block by its sum",
        op.block_sums,
        2,
        3,
    ),
    _ints(
        "cut the list into blocks of {0} numbers, where the last block may be shorter, and reverse "
        "the numbers within each block",
        op.reverse_blocks,
        2,
        4,
    ),
    _ints(
        "move the first number to the end, {0} times (an empty list stays empty)", op.rotate, 2, 5
    ),
    _ints("keep only the numbers at positions divisible by {0}, counted from 0", op.every, 2, 3),
    _ints(
        "replace every number by the largest of itself and all numbers before it",
        op.running_maximum,
    ),
    _ints(
        "reorder the list as first, last, second, second to last, and so on, until every number "
        "is used once",
        op.fold_ends,
    ),
    _ints(
        "replace every number by the count of smaller numbers before it in the current list",
        op.smaller_before,
    ),
    _ints("multiply every number by its position in the list, counted from 1", op.weigh_by_place),
    _ints(
        "replace every number by the number of times that it occurs in the current list",
        op.frequencies,
    ),
    _ints(
        "keep only the numbers that are greater than all their neighbours (the first and the last "
        "number have one neighbour, and a single number has none and is kept)",
        op.peaks,
    ),
    _ints(
        "replace every run of equal consecutive numbers by two numbers: the number and the length "
        "of the run",
        op.run_lengths,
    ),
    _ints(
        "go through the list with a state that starts at 0: for each number x, set the state to "
        "the non-negative remainder of (2 * state + x) modulo {0}, and replace x by the new state",
        op.carry,
        7,
        50,
    ),
    Operation("ints", "int", "take the sum of the numbers (0 if there are none)", op.total),
    Operation(
        "ints", "int", "take the largest minus the smallest number (0 if there are none)", op.spread
    ),
    Operation(
        "ints",
        "int",
        "take the first number minus the second plus the third and so on (0 if there are none)",
        op.alternating_sum,
    ),
    Operation(
        "ints",
        "int",
        "take the largest sum of a block of consecutive numbers, where an empty block has the sum "
        "0",
        op.best_block,
    ),
    Operation(
        "ints",
        "int",
        "take the sum of the products of all pairs of neighbours (0 if there are none)",
        op.products_of_neighbours,
    ),
    Operation(
        "ints",
        "text",
        "join the last decimal digits of the absolute values of the numbers into one string",
        op.last_digits,
    ),
    _words("keep only the words longer than {0} characters", op.longer, 2, 4),
    _words("sort the words by length, and words of equal length by code point", op.by_length),
    _words("sort the words by code point", op.alphabetical),
    _words(
        "sort the words by their last character only (by code point, empty words first), and keep "
        "words with the same last character in their current order",
        op.by_last_letter,
    ),
    _words("reverse every word", op.reverse_each),
    _words("sort the characters within every word by code point", op.sort_each),
    _words(
        "within every word, move the first character to the end, {0} times", op.rotate_each, 2, 4
    ),
    _words("shorten every word to its first {0} characters", op.cut_each, 2, 4),
    _words("keep only the first occurrence of each word", op.distinct_words),
    _words("reverse the order of the words", op.reverse_list),
    _words(
        "replace the list by the concatenations of neighbours: each word followed by the next word "
        "(an empty list if there are fewer than two)",
        op.join_neighbours,
    ),
    _words("remove the words that begin with a, e, i, o or u", op.without_vowel_start),
    Operation("words", "ints", "replace every word by its length", op.lengths),
    Operation(
        "words",
        "ints",
        "replace every word by the number of its characters that are a, e, i, o or u",
        op.vowel_numbers,
    ),
    Operation(
        "words",
        "ints",
        "replace every word by the sum of the alphabet positions of its letters, from a = 1 to "
        "z = 26, where all other characters count 0",
        op.letter_sums,
    ),
    Operation("words", "text", "join the words with hyphens into one string", op.join),
    Operation(
        "words",
        "text",
        "join the first and the last character of every word into one string (a word of one "
        "character gives it twice, and an empty word gives nothing)",
        op.ends,
    ),
    Operation("words", "counts", "count how often each word occurs", op.word_counts),
    Operation(
        "words",
        "counts",
        "map every first character of a word to the total length of the words that begin with it "
        '(the key is "" for empty words)',
        op.lengths_by_letter,
    ),
    _text("reverse the string", op.reverse_text),
    _text("remove the letters a, e, i, o, u", op.without_vowels),
    _text(
        "shift every letter a-z forward by {0} in the alphabet, where a follows z, and "
        "leave all other characters unchanged",
        op.shift_letters,
        1,
        25,
    ),
    _text("replace every run of equal characters by a single one", op.squeeze),
    _text(
        "swap the first two characters, the next two, and so on (a single last character stays)",
        op.swap_pairs,
    ),
    _text(
        "replace every run of equal characters by the character and the length of the run in "
        "decimal",
        op.write_runs,
    ),
    _text(
        "distribute the characters in turn over {0} strings, like dealing cards, and join these "
        "strings in order",
        op.deal,
        2,
        3,
    ),
    Operation(
        "text",
        "words",
        "split the string at spaces and hyphens into words, and leave out empty words",
        op.split,
    ),
    Operation(
        "text",
        "ints",
        "list the alphabet positions of the letters a-z in the string, from a = 1 to z = 26, in "
        "order",
        op.positions,
    ),
    Operation(
        "text",
        "counts",
        "count how often each letter a-z occurs in the string (leave out letters that do not "
        "occur)",
        op.letter_counts,
    ),
    Operation(
        "counts", "counts", "remove the keys whose value is less than {0}", op.at_least, 1, 4
    ),
    Operation(
        "counts",
        "counts",
        "replace every value by {0} times the value plus the length of its key",
        op.weigh,
        2,
        5,
    ),
    Operation(
        "counts",
        "counts",
        "map every first character of a key to the sum of the values of the keys that begin with "
        'it (the new key is "" for an empty key)',
        op.by_first_letter,
    ),
    Operation(
        "counts",
        "words",
        "list the keys in descending order of their values, and keys of equal value by code point",
        op.keys_by_count,
    ),
    Operation(
        "counts",
        "ints",
        "list the values in the order of their keys by code point",
        op.counts_by_key,
    ),
    Operation(
        "counts",
        "text",
        "write every key followed by its value in decimal, in the order of the keys by code point, "
        "joined with hyphens",
        op.spell,
    ),
)

BY_KIND = {kind: tuple(o for o in OPERATIONS if o.takes == kind) for kind in KINDS}
SAME_KIND = {
    kind: tuple(o for o in BY_KIND[kind] if o.gives == kind) for kind in ("ints", "words", "text")
}


def draw_value(rng: Rng, kind: str, size: int) -> Any:
    """Draw an input of a kind; ``size`` bounds the number of its parts."""
    count = integer(rng, size // 2, size)
    if kind == "ints":
        return list(integers(rng, -20, 60, count))
    if kind == "counts":
        return {_word(rng): integer(rng, 0, 12) for _ in range(count)}
    words = [_word(rng) for _ in range(count)]
    if count > 2:
        words[integer(rng, 1, count - 1)] = words[0]  # something must occur twice
    return words if kind == "words" else " ".join(words)


def _word(rng: Rng) -> str:
    return "".join(pick(rng, LETTERS[:12] + "aeiou") for _ in range(integer(rng, 1, 6)))
