"""Dates, times and weekdays in words, and their reading."""

import re
from collections.abc import Sequence

from rlvr_envs.generators.mathematics.calendars import Date, MadeUpCalendar
from rlvr_envs.generators.mathematics.words import listed

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_MAX_TEXT = 100
_NOISE = re.compile(
    r"\\(?:text|textbf|mathrm|textrm|mbox)\b|\\displaystyle\b|\\[ ,;:()\[\]]|[${}]|\s+"
)
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{2})")
_NUMBERS = re.compile(r"([0-9]{1,25})-([0-9]{1,3})-([0-9]{1,4})")
_NAME = "|".join(f"{month[:3]}(?:{month[3:]})?" for month in MONTHS)
_DAY_FIRST = re.compile(
    rf"(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?({_NAME}),? (\d{{1,25}})", re.I | re.A
)
_MONTH_FIRST = re.compile(rf"({_NAME}) (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{1,25}})", re.I | re.A)


def gregorian(date: Date) -> str:
    """Return a date such as ``5 March 2024``."""
    year, month, day = date
    return f"{day} {MONTHS[month - 1]} {year}"


def made_up(date: Date) -> str:
    """Return a date of a calendar whose months have numbers."""
    year, month, day = date
    return f"day {day} of month {month} of year {year}"


def time(hours: int, minutes: int) -> str:
    """Return a time such as ``08:05``."""
    return f"{hours:02}:{minutes:02}"


def date_number(date: Sequence[int]) -> str:
    """Return a date such as ``2024-03-05``."""
    return "{:04}-{:02}-{:02}".format(*date)


def rules(calendar: MadeUpCalendar) -> str:
    """Return the rules of a made-up calendar in words."""
    months = listed(list(map(str, calendar.months)))
    plain = calendar.plain_every
    exception = f", unless it is a multiple of {plain}" if plain else ""
    return (
        f"In a made-up calendar, every year has {len(calendar.months)} months. In order, they have "
        f"{months} days. In every year whose number is a multiple of {calendar.leap_every}"
        f"{exception}, month {calendar.leap_month} has one extra day. Months and the days of a "
        "month are numbered from 1."
    )


def walk(steps: Sequence[int], unit: str) -> str:
    """Return moves forward and back in words, such as ``Go forward 3 days, then back 2 days``."""
    moves = [f"{'back' if step < 0 else 'forward'} {abs(step)} {unit}" for step in steps]
    return f"Go {', then '.join(moves)}"


def read_weekday(answer: str) -> tuple[int, ...] | None:
    """Return the number of a weekday from its name or the first three letters of it."""
    word = _plain(answer).rstrip(".").lower()
    for index, name in enumerate(WEEKDAYS):
        if word in (name.lower(), name[:3].lower()):
            return (index,)
    return None


def read_time(answer: str) -> tuple[int, ...] | None:
    """Return hours and minutes from a time such as ``08:05``."""
    match = _TIME.fullmatch(_plain(answer))
    return (int(match[1]), int(match[2])) if match else None


def read_date(answer: str, *, named_months: bool) -> tuple[int, ...] | None:
    """Return year, month and day from ``2024-03-05`` or, with named months, ``5 March 2024``."""
    text = _plain(answer)
    match = _NUMBERS.fullmatch(text)
    if match:
        return int(match[1]), int(match[2]), int(match[3])
    if not named_months:
        return None
    match = _DAY_FIRST.fullmatch(text)
    if match:
        return int(match[3]), _month(match[2]), int(match[1])
    match = _MONTH_FIRST.fullmatch(text)
    return (int(match[3]), _month(match[1]), int(match[2])) if match else None


def _month(name: str) -> int:
    return next(
        i for i, month in enumerate(MONTHS, start=1) if month[:3].lower() == name[:3].lower()
    )


def _plain(answer: str) -> str:
    if len(answer) > _MAX_TEXT:
        return ""
    return " ".join(_NOISE.sub(" ", answer).split()).removesuffix(".")
