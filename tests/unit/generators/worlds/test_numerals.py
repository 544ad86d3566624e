"""Numbers in words: written as in English, and read back as the same number."""

import pytest

from rlvr_envs.generators.worlds.numerals import amount_of, in_words, year_in_words, year_of


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "zero"),
        (13, "thirteen"),
        (40, "forty"),
        (71, "seventy-one"),
        (100, "one hundred"),
        (205, "two hundred and five"),
        (1000, "one thousand"),
        (1310, "one thousand three hundred and ten"),
        (4008, "four thousand and eight"),
        (98_765, "ninety-eight thousand seven hundred and sixty-five"),
        (300_000, "three hundred thousand"),
    ],
)
def test_numbers_by_hand(number, text):
    assert in_words(number) == text


@pytest.mark.parametrize(
    ("year", "text"),
    [(1820, "eighteen twenty"), (1897, "eighteen ninety-seven"), (1900, "nineteen hundred"),
     (1905, "nineteen oh-five"), (1911, "nineteen eleven")],
)  # fmt: skip
def test_years_by_hand(year, text):
    assert year_in_words(year) == text


def test_every_number_is_read_back():
    texts = {number: in_words(number) for number in (*range(1, 20_000), *range(20_000, 130_000, 7))}
    assert len(set(texts.values())) == len(texts)
    assert all(amount_of(text) == number for number, text in texts.items())
    assert all(year_of(year_in_words(year)) == year for year in range(1700, 2000))
    assert all(amount_of(f"{number:,}") == number for number in (7, 310, 1310, 98_000))


@pytest.mark.parametrize(
    "text",
    ["", "hundred", "one and two", "twenty three", "five hundred thousand and", "ten eleven", "²",
     "thousand one", "one  thousand", "seven people", "zero", "-5", "1.5"],
)  # fmt: skip
def test_other_texts_are_not_amounts(text):
    assert amount_of(text) is None


@pytest.mark.parametrize(
    "text", ["", "97", "18970", "eighteen", "eighteen ninety seven", "in 1897"]
)
def test_other_texts_are_not_years(text):
    assert year_of(text) is None
