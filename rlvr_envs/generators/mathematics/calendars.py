"""Days numbered from 0 in the Gregorian calendar and in made-up ones, for years of any size."""

from dataclasses import dataclass
from typing import TypeAlias

Date: TypeAlias = tuple[int, int, int]  # year, month, day, each from 1

# Before each month of a year that starts in March, so that a leap day comes last.
_BEFORE = (0, 31, 61, 92, 122, 153, 184, 214, 245, 275, 306, 337)


@dataclass(frozen=True, slots=True)
class MadeUpCalendar:
    """Months of fixed lengths; every ``leap_every``-th year, ``leap_month`` has a day more.

    Every ``plain_every``-th year is an exception to this, unless it is 0: a multiple of the other.
    """

    months: tuple[int, ...]
    leap_every: int
    leap_month: int
    plain_every: int = 0

    def number(self, date: Date) -> int:
        """Return the number of a day, that of the first day of year 1 being 0."""
        year, month, day = date
        year_length = sum(self.months)
        leaps = (year - 1) // self.leap_every
        if self.plain_every:
            leaps -= (year - 1) // self.plain_every
        number = (year - 1) * year_length + leaps + sum(self.months[: month - 1]) + day - 1
        return number + (month > self.leap_month and self._is_leap(year))

    def date(self, number: int) -> Date:
        """Return the day of a number."""
        year_length = sum(self.months)
        low, high = number // (year_length + 1) + 1, number // year_length + 1
        while low < high:
            middle = (low + high + 1) // 2
            if self.number((middle, 1, 1)) <= number:
                low = middle
            else:
                high = middle - 1
        rest, month = number - self.number((low, 1, 1)), 1
        while rest >= (length := self.month_length(low, month)):
            rest -= length
            month += 1
        return low, month, rest + 1

    def month_length(self, year: int, month: int) -> int:
        """Return how many days a month has."""
        return self.months[month - 1] + (month == self.leap_month and self._is_leap(year))

    def _is_leap(self, year: int) -> bool:
        exception = self.plain_every and year % self.plain_every == 0
        return year % self.leap_every == 0 and not exception


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
