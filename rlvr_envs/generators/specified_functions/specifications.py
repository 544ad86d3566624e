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
    """One step: from a kind of value to a kind of value.

    Attributes:
        takes: the kind of the value.
        gives: the kind of the result.
        words: an imperative clause; ``{0}`` stands for the parameter.
        apply: the function, of the value and the parameter.
        low: the least parameter, or None where there is none.
        high: the greatest parameter.
    """

    takes: str
    gives: str
    words: str
    apply: Callable[..., Any]
    low: int | None = None
    high: int = 0

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
    _ints("replace every number by its remainder modulo {0}, from 0 on", op.remainders, 5, 40),
    _ints("replace every number by its absolute value", op.absolute),
    _ints("replace every number by its bitwise exclusive or with {0}", op.exclusive_or, 1, 31),
    _ints("reverse the list", op.reverse),
    _ints("sort the numbers in ascending order", op.ascending),
    _ints("sort the numbers in descending order", op.descending),
    _ints(
        "sort the numbers by the sum of the decimal digits of their absolute values, and equal "
        "sums by the numbers themselves, both ascending",
        op.by_digit_sum,
    ),
    _ints(
        "sort the numbers by their remainders modulo {0} (from 0 on), ascending, and leave numbers "
        "of equal remainder in their order",
        op.by_remainder,
        2,
        9,
    ),
    _ints("keep the first occurrence of each number only", op.first_occurrences),
    _ints("keep the last occurrence of each number only, in their order", op.last_occurrences),
    _ints("replace every number by the sum of all numbers up to and including it", op.prefix_sums),
    _ints(
        "replace the list by the differences of neighbours, each number minus the one before it "
        "(an empty list if there are fewer than two)",
        op.differences,
    ),
    _ints(
        "replace the list by the sums of all runs of {0} consecutive numbers, from left to right "
        "(an empty list if there are fewer than {0})",
        op.window_sums,
        2,
        3,
    ),
    _ints(
        "replace the list by the maxima of all runs of {0} consecutive numbers, from left to right "
        "(an empty list if there are fewer than {0})",
        op.window_maxima,
        2,
        3,
    ),
    _ints(
        "cut the list into blocks of {0} numbers, of which the last may be shorter, and replace "
        "each by its sum",
        op.block_sums,
        2,
        3,
    ),
    _ints(
        "cut the list into blocks of {0} numbers, of which the last may be shorter, and reverse "
        "each block in its place",
        op.reverse_blocks,
        2,
        4,
    ),
    _ints("move the first number to the end, {0} times (if there is any)", op.rotate, 2, 5),
    _ints("keep every {0}th number, beginning with the first", op.every, 2, 3),
    _ints(
        "replace every number by the largest of the numbers up to and including it",
        op.running_maximum,
    ),
    _ints(
        "reorder the list to: first, last, second, last but one, and so on, until every number "
        "has been taken once",
        op.fold_ends,
    ),
    _ints(
        "replace every number by how many numbers before it are smaller than it", op.smaller_before
    ),
    _ints("multiply every number by its place in the list, counted from 1", op.weigh_by_place),
    _ints("replace every number by how often it occurs in the list", op.frequencies),
    _ints(
        "keep only the numbers that are greater than each neighbour they have (a number at an end "
        "has one neighbour, a lone number none)",
        op.peaks,
    ),
    _ints(
        "replace every run of equal numbers by two numbers, the number and the length of the run",
        op.run_lengths,
    ),
    _ints(
        "go through the list with a state that begins at 0, set it at each number x to the "
        "remainder of (2 * state + x) modulo {0}, from 0 on, and replace x by the new state",
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
        "take the largest sum of any consecutive numbers, where no numbers at all sum to 0",
        op.best_block,
    ),
    Operation(
        "ints",
        "int",
        "take the sum of the products of every two neighbours (0 if there are none)",
        op.products_of_neighbours,
    ),
    Operation(
        "ints",
        "text",
        "join the last decimal digits of the absolute values of the numbers to a string",
        op.last_digits,
    ),
    _words("keep only the words longer than {0} characters", op.longer, 2, 4),
    _words("sort the words by length, and words of equal length by code point", op.by_length),
    _words("sort the words by code point", op.alphabetical),
    _words(
        "sort the words by their last character alone (by code point, an empty word first), and "
        "leave words with the same one in their order",
        op.by_last_letter,
    ),
    _words("reverse every word", op.reverse_each),
    _words("sort the characters within every word by code point", op.sort_each),
    _words(
        "within every word, move the first character to the end, {0} times", op.rotate_each, 2, 4
    ),
    _words("cut every word down to its first {0} characters", op.cut_each, 2, 4),
    _words("keep the first occurrence of each word only", op.distinct_words),
    _words("reverse the order of the words", op.reverse_list),
    _words(
        "replace the list by the joins of neighbours, each word followed by the next one (an empty "
        "list if there are fewer than two)",
        op.join_neighbours,
    ),
    _words("remove the words that begin with a, e, i, o or u", op.without_vowel_start),
    Operation("words", "ints", "replace every word by its length", op.lengths),
    Operation(
        "words",
        "ints",
        "replace every word by how many of its characters are a, e, i, o or u",
        op.vowel_numbers,
    ),
    Operation(
        "words",
        "ints",
        "replace every word by the sum of the places of its letters in the alphabet, a = 1 to "
        "z = 26, where all other characters count 0",
        op.letter_sums,
    ),
    Operation("words", "text", "join the words with hyphens to one string", op.join),
    Operation(
        "words",
        "text",
        "join the first and the last character of every word to one string (twice the same one for "
        "a word of one character)",
        op.ends,
    ),
    Operation("words", "counts", "count how often each word occurs", op.word_counts),
    Operation(
        "words",
        "counts",
        "map every first character of a word to the total length of the words that begin with it "
        '(the key "" for empty words)',
        op.lengths_by_letter,
    ),
    _text("reverse the string", op.reverse_text),
    _text("remove the letters a, e, i, o, u", op.without_vowels),
    _text(
        "move every letter a-z {0} places on in the alphabet, from z to a again, and leave all "
        "other characters",
        op.shift_letters,
        1,
        25,
    ),
    _text("replace every run of one character by a single one", op.squeeze),
    _text(
        "swap the first two characters, the next two, and so on (a last one that is alone stays)",
        op.swap_pairs,
    ),
    _text(
        "replace every run of one character by the character and the length of the run in decimal",
        op.write_runs,
    ),
    _text(
        "deal the characters out in turn to {0} strings, as cards are dealt, and join these "
        "strings in order",
        op.deal,
        2,
        3,
    ),
    Operation(
        "text", "words", "split the string at spaces and hyphens, without empty words", op.split
    ),
    Operation(
        "text",
        "ints",
        "list the places in the alphabet of its letters a-z, a = 1 to z = 26, in their order",
        op.positions,
    ),
    Operation("text", "counts", "count how often each letter a-z in it occurs", op.letter_counts),
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
        'it (the key "" for an empty key)',
        op.by_first_letter,
    ),
    Operation(
        "counts",
        "words",
        "list the keys by descending value, and keys of equal value by code point",
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
