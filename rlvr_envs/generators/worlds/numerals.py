"""Years and amounts in English words, and what they stand for."""

from functools import cache

# fmt: off
_SMALL = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
          "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
          "nineteen")
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
# fmt: on
_VALUES = {word: n for n, word in enumerate(_SMALL)}
_VALUES |= {word: 10 * n for n, word in enumerate(_TENS) if word}
_YEARS = range(1700, 2100)


def in_words(number: int) -> str:
    """Write an integer in [0, 1,000,000) in words, as "one thousand three hundred and ten"."""
    if number < 100:
        if number < len(_SMALL):
            return _SMALL[number]
        tens, ones = divmod(number, 10)
        return f"{_TENS[tens]}-{_SMALL[ones]}" if ones else _TENS[tens]
    if number < 1000:
        hundreds, rest = divmod(number, 100)
        said = f"{_SMALL[hundreds]} hundred"
        return f"{said} and {in_words(rest)}" if rest else said
    thousands, rest = divmod(number, 1000)
    said = f"{in_words(thousands)} thousand"
    if not rest:
        return said
    return f"{said} {'and ' if rest < 100 else ''}{in_words(rest)}"


def year_in_words(year: int) -> str:
    """Write a year from 1100 to 1999 in words, as "eighteen ninety-seven"."""
    century, rest = divmod(year, 100)
    if not rest:
        return f"{in_words(century)} hundred"
    return f"{in_words(century)} {'oh-' if rest < 10 else ''}{in_words(rest)}"


@cache
def _years() -> dict[str, int]:
    return {year_in_words(year): year for year in _YEARS}


def year_of(text: str) -> int | None:
    """Return a year written in digits or in words, None for anything else."""
    if text.isascii() and text.isdigit() and len(text) == 4:
        return int(text)
    return _years().get(text)


def amount_of(text: str) -> int | None:
    """Return an amount written in digits or in words, None for anything else."""
    digits = text.replace(",", "")
    if digits.isascii() and digits.isdigit():
        return int(digits)
    total = group = 0
    for word in text.replace("-", " ").split():
        if word == "hundred":
            group *= 100
        elif word == "thousand":
            total, group = total + group * 1000, 0
        elif word in _VALUES:
            group += _VALUES[word]
        elif word != "and":
            return None
    value = total + group
    return value if value and in_words(value) == text else None
