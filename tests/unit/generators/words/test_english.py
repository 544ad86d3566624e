"""The word list that ships with the package, and reading a word."""

import pytest

from rlvr_envs.generators.words.english import (
    LONGEST,
    SHORTEST,
    all_words,
    anagram_classes,
    read_word,
    words_of,
)


def test_list_is_sorted_and_plain():
    words = all_words()
    assert list(words) == sorted(set(words))
    assert all(word.isascii() and word.isalpha() and word.islower() for word in words)
    assert {len(word) for word in words} == set(range(SHORTEST, LONGEST + 1))


def test_every_length_has_words_enough():
    counts = {length: len(words_of(length)) for length in range(SHORTEST, LONGEST + 1)}
    assert sum(counts.values()) == len(all_words()) > 7000
    assert counts[3] > 250
    assert min(counts[n] for n in range(4, LONGEST + 1)) > 850
    assert words_of(LONGEST + 1) == ()


def test_common_words_are_there_and_names_are_not():
    assert {"cat", "house", "winter", "triangle"} <= set(all_words())
    assert not {"london", "peter", "france", "monday", "xerox"} & set(all_words())


def test_anagram_classes_hold_every_word_once():
    classes = anagram_classes()
    assert sorted(word for found in classes.values() for word in found) == list(all_words())
    assert {"art", "rat"} <= set(classes["art"])


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("cat", "cat"),
        (' "Cat." ', "cat"),
        ("CAT", "cat"),
        (r"\text{cat}", "cat"),
        (r"\text{cat", None),
        (r"\cat", None),
        ("", None),
        ("two words", None),
        ("café", None),
        ("ca²", None),
        ("\u212aey", None),  # the sign of the kelvin, which Python lower-cases to a k
        ("cat\ncot", None),
        ("a" * 1000, None),
    ],
)
def test_reading_a_word(text, word):
    assert read_word(text) == word
