"""Steps to dates, weekdays and times, for any calendar that numbers its days."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

from rlvr_envs.generators.mathematics.calendar_text import WEEKDAYS
from rlvr_envs.generators.mathematics.calendars import Date
from rlvr_envs.generators.mathematics.steps import operand, total


class System(Protocol):
    """A calendar: the number of a date, and the date of a number."""

    def number(self, date: Date) -> int:
        """Return the number of a day."""

    def date(self, number: int) -> Date:
        """Return the day of a number."""


def clock(start: Sequence[int], steps: Sequence[int], day: Sequence[int]) -> list[str]:
    """Return the steps from a time by some minutes to another time."""
    hours, minutes = day
    begin = start[0] * minutes + start[1]
    end = begin + sum(steps)
    left = end % (hours * minutes)
    return [
        f"In minutes since midnight: {start[0]} * {minutes} + {start[1]} = {begin}",
        f"{total((begin, *steps))} = {end}",
        f"A day has {hours} * {minutes} = {hours * minutes} minutes.",
        f"{operand(end)} mod {hours * minutes} = {left}",
        f"{left} = {left // minutes} * {minutes} + {left % minutes}: hours and minutes.",
    ]


def weekday(start: int, days: int, work: Sequence[int] = ()) -> list[str]:
    """Return the steps from a weekday by some days, added up from parts, to another weekday."""
    steps = [f"In all {total(work)} = {days} days."] if len(work) > 1 else []
    left = days % 7
    return [
        *steps,
        f"Weeks change nothing: {operand(days)} mod 7 = {left}",
        f"{WEEKDAYS[start]} and {left} more days: count on from {WEEKDAYS[start]}.",
    ]


def to_weekday(system: System, date: Date, known: Date, known_weekday: int) -> list[str]:
    """Return the steps to the weekday of a date from that of the first day of a known year."""
    years = system.number((date[0], 1, 1)) - system.number(known)
    steps, day = _day_of_year(system, date)
    return [
        f"From 1 January {known[0]} to 1 January {date[0]}, leap days included: {years} days.",
        *steps,
        *weekday(known_weekday, years + day - 1, (years, day, -1)),
    ]


def difference(system: System, start: Date, end: Date) -> list[str]:
    """Return the steps to the days between two dates."""
    first, begin = _day_of_year(system, start)
    second, last = _day_of_year(system, end)
    years = system.number((end[0], 1, 1)) - system.number((start[0], 1, 1))
    between = (
        [f"The years from {start[0]} to {end[0] - 1} have {years} days in all."] if years else []
    )
    return [*first, *second, *between, f"{years} + {last} - {begin} = {years + last - begin}"]


def later(system: System, start: Date, steps: Sequence[int]) -> list[str]:
    """Return the steps from a date by some days, forward and back, to another date."""
    lines, day = _day_of_year(system, start)
    days = day + sum(steps)
    lines.append(f"Add the days: {total((day, *steps))} = {days}, counted in year {start[0]}.")
    year, month, last = system.date(system.number(start) + sum(steps))
    shift = system.number((year, 1, 1)) - system.number((start[0], 1, 1))
    if shift:
        lines.append(
            f"From the start of year {start[0]} to that of year {year} it is {shift} days: "
            f"{days} - {operand(shift)} = {days - shift}"
        )
    before = days - shift - last
    return [
        *lines,
        f"So it is day {days - shift} of year {year}.",
        f"The months before month {month} have {before} days.",
        f"{days - shift} - {before} = {last}, the day of month {month}.",
    ]


def _day_of_year(system: System, date: Date) -> tuple[list[str], int]:
    """Return the step to the number of a date in its year, from 1, and that number."""
    year, month, day = date
    firsts = [system.number((year, k, 1)) for k in range(1, month + 1)]
    lengths = [after - before for before, after in pairwise(firsts)]
    number = sum(lengths) + day
    if not lengths:
        return [f"Day {day} of month 1 is day {day} of year {year}."], number
    work = total((*lengths, day))
    return [f"Day {day} of month {month} is day {work} = {number} of year {year}."], number
