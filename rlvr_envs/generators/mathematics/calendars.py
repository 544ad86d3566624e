"""Days numbered from 0 in the Gregorian calendar and in made-up ones, for years of any size."""

from dataclasses import dataclass
from typing import TypeAlias

Date: TypeAlias = tuple[int, int, int]  # year, month, day, each from 1

# Before each month of a year that starts in March, so that a leap day comes last.
_BEFORE = (0, 31, 61, 92, 122, 153, 184, 214, 245, 275, 306, 337)


@dataclass(frozen=True, slots=True)
class MadeUpCalendar:
    """Months of fixed lengths; every ``leap_every``-th year, ``leap_month`` has a day more."""

    months: tuple[int, ...]
    leap_every: int
    leap_month: int

    def number(self, date: Date) -> int:
        """Return the number of a day, that of the first day of year 1 being 0."""
        year, month, day = date
        year_length = sum(self.months)
        number = (year - 1) * year_length + (year - 1) // self.leap_every + day - 1
        number += sum(self.months[: month - 1])
        return number + (month > self.leap_month and year % self.leap_every == 0)

    def date(self, number: int) -> Date:
        """Return the day of a number."""
        year_length = sum(self.months)
        # A cycle ends with its leap year, which is one day longer than the others.
        cycle, rest = divmod(number, self.leap_every * year_length + 1)
        in_cycle = min(rest // year_length, self.leap_every - 1)
        rest -= in_cycle * year_length
        month = 1
        while rest >= (length := self.month_length(in_cycle + 1, month)):
            rest -= length
            month += 1
        return cycle * self.leap_every + in_cycle + 1, month, rest + 1

    def month_length(self, year: int, month: int) -> int:
        """Return how many days a month has."""
        extra = month == self.leap_month and year % self.leap_every == 0
        return self.months[month - 1] + extra


def gregorian_number(date: Date) -> int:
    """Return the number of a day in the Gregorian calendar, that of 1 January of year 1 being 0."""
    year, month, day = date
    # Years are counted from March on, which puts the leap day at the end of a year.
    march_year = year - (month < 3)
    days = 365 * march_year + march_year // 4 - march_year // 100 + march_year // 400
    return days + _BEFORE[(month - 3) % 12] + day - 307


def gregorian_date(number: int) -> Date:
    """Return the Gregorian date of a day's number, from 0."""
    shifted = number + 306
    era, day = divmod(shifted, 146_097)
    year = (day - day // 1460 + day // 36_524 - day // 146_096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = max(index for index, before in enumerate(_BEFORE) if before <= day)
    calendar_month = (month + 2) % 12 + 1
    return 400 * era + year + (calendar_month < 3), calendar_month, day - _BEFORE[month] + 1
