"""Arithmetic with dates, weekdays and clocks, real and made up."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics import calendar_text as words
from rlvr_envs.generators.mathematics import effort
from rlvr_envs.generators.mathematics.calendar_text import WEEKDAYS
from rlvr_envs.generators.mathematics.calendars import (
    Date,
    MadeUpCalendar,
    gregorian_date,
    gregorian_number,
)
from rlvr_envs.generators.mathematics.steps import operand, total
from rlvr_envs.verifiers.symbolic import judge_math

KINDS = (
    *("weekday_after", "weekday_of_date", "difference", "date_after", "clock"),
    *("made_up_difference", "made_up_date", "made_up_clock"),
)
_EARLY = ("weekday_after", "weekday_of_date", "difference", "date_after", "clock")
_LATE = ("weekday_of_date", "difference", "date_after", "made_up_difference", "made_up_date")
# Drawn dates begin here, and lie up to 500 years later.
_FIRST_YEAR = 1600
_SPAN_DAYS = 365 * 500


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarArithmeticConfig(TaskConfig):
    """The kinds of questions, and how far they reach."""

    kinds: tuple[str, ...] = knob(
        KINDS, "kinds of questions; each problem has one of them", choices=KINDS
    )
    n_steps: int = knob(2, "how many moves forward or back a question has", low=1)
    max_days: int = knob(
        5_000, "the largest move or difference in days; on a clock, in tens of minutes", low=8
    )
    max_months: int = knob(8, "the largest number of months in a made-up year", low=2)
    max_month_days: int = knob(
        40, "the largest number of days in a made-up month, without the leap day", low=5
    )
    leap_exceptions: bool = knob(False, "whether some leap years of a made-up calendar are plain")

    @classmethod
    def at(cls, difficulty: int) -> "CalendarArithmeticConfig":
        """Moves triple in size each level; every second level adds a move; made-up years grow.

        Made-up calendars come in at level 2; weeks and clocks that only take a remainder leave
        after level 5, when leap years get exceptions.
        """
        return cls(
            kinds=_EARLY if difficulty < 2 else KINDS if difficulty < 6 else _LATE,
            n_steps=1 + difficulty // 2,
            max_days=12 * 3**difficulty,
            max_months=3 + difficulty,
            max_month_days=10 + 3 * difficulty,
            leap_exceptions=difficulty > 5,
        )


@dataclass(frozen=True, slots=True)
class CalendarArithmeticProblem:
    """A start, the moves from it, and the rules.

    Attributes:
        kind: one of `KINDS`.
        start: a date, a weekday from 0, or hours and minutes.
        steps: the days or minutes gone forward, or back where negative, in turn.
        end: the later date of a difference, or the date whose weekday is asked for; else empty.
        calendar: the rules of a made-up calendar.
        day: how many hours a day has, and minutes an hour; empty where no clock is asked about.
        answer: like ``start``, or a single number.
    """

    kind: str
    start: tuple[int, ...]
    steps: tuple[int, ...]
    end: tuple[int, ...]
    calendar: MadeUpCalendar | None
    day: tuple[int, ...]
    answer: tuple[int, ...] = hidden()


@register("CalendarArithmetic-v0", domain="math")
class CalendarArithmeticTask(Task[CalendarArithmeticConfig, CalendarArithmeticProblem]):
    """Count days, find dates and weekdays, and add to clock times.

    Description:
        Questions about dates of the Gregorian calendar, weekdays and the 24-hour clock, and
        about made-up calendars and clocks, whose rules the prompt states. The Gregorian rules
        hold for every year, also before 1582 and after 9999.

    Observation:
        The question, and the rules of a made-up calendar or clock.

    Action:
        A whole number of days, the name of a weekday, a date such as 2024-03-05, or a time such
        as 08:05.

    Reward:
        1 for the right answer, otherwise 0.

    Verification:
        Exact. A weekday may be shortened to three letters. A Gregorian date may also be written
        as 5 March 2024 or March 5, 2024. A time must not use am or pm.

    Difficulty:
        The size and number of the moves and the length of made-up years grow. Real calendars come
        first, then made-up ones join.

    References:
        Reingold and Dershowitz, Calendrical Calculations.
    """

    def generate(self, rng: Rng) -> CalendarArithmeticProblem:
        kind = pick(rng, self.config.kinds)
        if kind.endswith("clock"):
            return self._clock(rng, kind)
        if kind == "weekday_after":
            start = integer(rng, 0, 6)
            steps = self._steps(rng, None)
            answer = ((start + sum(steps)) % 7,)
            return CalendarArithmeticProblem(kind, (start,), steps, (), None, (), answer)
        return self._dates(rng, kind)

    def prompt(self, problem: CalendarArithmeticProblem) -> str:
        if problem.kind.endswith("clock"):
            return _ask_clock(problem)
        if problem.kind.startswith("weekday"):
            return _ask_weekday(problem)
        return _ask_date(problem)

    def verify(self, problem: CalendarArithmeticProblem, answer: str) -> Verdict:
        if problem.kind.endswith("difference"):
            return judge_math(str(problem.answer[0]), answer, answer_type="integer")
        if problem.kind.startswith("weekday"):
            given, noun = words.read_weekday(answer), "weekday"
            expected = "the name of a weekday"
        elif problem.kind.endswith("clock"):
            given, noun = words.read_time(answer), "time"
            expected = "a time such as 08:05"
        else:
            given = words.read_date(answer, named_months=problem.calendar is None)
            noun, expected = "date", "a date such as 0012-03-05"
        if given is None:
            return Verdict.unparsable(f"expected {expected}")
        if given != problem.answer:
            return Verdict.wrong(f"the {noun} is wrong")
        return Verdict.correct()

    def solve(self, problem: CalendarArithmeticProblem) -> str:
        if problem.kind.startswith("weekday"):
            return words.WEEKDAYS[problem.answer[0]]
        if problem.kind.endswith("clock"):
            return words.time(*problem.answer)
        if problem.kind.endswith("difference"):
            return str(problem.answer[0])
        return words.date_number(problem.answer)

    def effort(self, problem: CalendarArithmeticProblem) -> int:
        """Count the digit operations of the worked solution, and of adding the moves up."""
        moves = effort.totalling((0, *problem.steps))
        return moves + effort.written(self.explain(problem))

    def baseline(self, rng: Rng, problem: CalendarArithmeticProblem) -> str:
        """Count months of 30 and years of 360 days, and weeks by the last digit of the days."""
        start, days = problem.start, sum(problem.steps)
        if problem.kind.startswith("weekday"):
            if not problem.end:
                return words.WEEKDAYS[(start[0] + abs(days) % 10) % 7]
            return words.WEEKDAYS[abs(problem.end[2] - start[2]) % 7]
        if problem.kind.endswith("clock"):
            return words.time(start[0], (start[1] + days) % problem.day[1])
        if problem.end:
            years, months, gap = (b - a for a, b in zip(start, problem.end, strict=True))
            return str(max(0, 360 * years + 30 * months + gap))
        year, rest = divmod(360 * start[0] + 30 * start[1] + start[2] - 31 + days, 360)
        return words.date_number((year, rest // 30 + 1, rest % 30 + 1))

    def explain(self, problem: CalendarArithmeticProblem) -> list[str]:
        start, steps = problem.start, problem.steps
        if problem.kind.endswith("clock"):
            return clock(start, steps, problem.day)
        if problem.kind == "weekday_after":
            return weekday(start[0], sum(steps), steps)
        system: System = problem.calendar or _Gregorian()
        year, month, day = start
        if problem.end:
            last_year, last_month, last_day = problem.end
            end = last_year, last_month, last_day
            lines = difference(system, (year, month, day), end)
            if problem.kind == "difference" or problem.calendar:
                return lines
            first = system.number((year, month, day))
            return [*lines, *weekday(first % 7, system.number(end) - first)]
        return later(system, (year, month, day), steps)

    def _dates(self, rng: Rng, kind: str) -> CalendarArithmeticProblem:
        """Draw a question on the Gregorian calendar or on a made-up one."""
        calendar = self._calendar(rng) if kind.startswith("made_up") else None
        system: System = _Gregorian() if calendar is None else calendar
        if calendar is None:
            begin = system.number((_FIRST_YEAR, 1, 1)) + integer(rng, 0, _SPAN_DAYS)
        else:
            begin = integer(rng, 0, 20 * sum(calendar.months))
        steps: tuple[int, ...] = ()
        end: tuple[int, ...] = ()
        answer: tuple[int, ...]
        if kind == "weekday_of_date" or kind.endswith("difference"):
            gap = integer(rng, 2, self.config.max_days)
            answer = (gap,) if kind != "weekday_of_date" else ((begin + gap) % 7,)
            end = system.date(begin + gap)
        else:
            steps = self._steps(rng, begin)
            answer = system.date(begin + sum(steps))
        start = system.date(begin)
        return CalendarArithmeticProblem(kind, start, steps, end, calendar, (), answer)

    def _clock(self, rng: Rng, kind: str) -> CalendarArithmeticProblem:
        day = (24, 60) if kind == "clock" else (integer(rng, 7, 40), integer(rng, 20, 99))
        start = (integer(rng, 0, day[0] - 1), integer(rng, 0, day[1] - 1))
        steps = self._steps(rng, None, unit=10)
        total = start[0] * day[1] + start[1] + sum(steps)
        answer = (total // day[1] % day[0], total % day[1])
        return CalendarArithmeticProblem(kind, start, steps, (), None, day, answer)

    def _steps(self, rng: Rng, start: int | None, unit: int = 1) -> tuple[int, ...]:
        """Draw steps forward and back; a start keeps them from going below 0."""
        steps: list[int] = []
        for _ in range(self.config.n_steps):
            size = integer(rng, 2, unit * self.config.max_days)
            back = rng.random() < 0.4
            if back and (start is None or start + sum(steps) >= size):
                size = -size
            steps.append(size)
        return tuple(steps)

    def _calendar(self, rng: Rng) -> MadeUpCalendar:
        n_months = integer(rng, 2, self.config.max_months)
        months = integers(rng, 4, self.config.max_month_days, n_months)
        every = integer(rng, 2, 7)
        plain = every * integer(rng, 3, 9) if self.config.leap_exceptions else 0
        return MadeUpCalendar(months, every, integer(rng, 1, n_months), plain)


class _Gregorian:
    def number(self, date: Date) -> int:
        return gregorian_number(date)

    def date(self, number: int) -> Date:
        return gregorian_date(number)


def _ask_clock(problem: CalendarArithmeticProblem) -> str:
    hours, minutes = problem.day
    if problem.kind == "clock":
        clocks = "A 24-hour clock (from 00:00 to 23:59)"
    else:
        last = words.time(hours - 1, minutes - 1)
        clocks = (
            f"On a made-up planet, a day has {hours} hours of {minutes} minutes. Clocks there run "
            f"from 00:00 to {last} and then start again at 00:00. A clock"
        )
    return (
        f"{clocks} shows {words.time(*problem.start)}. {words.walk(problem.steps, 'minutes')}. "
        "What time does the clock show then? Answer in the form HH:MM."
    )


def _ask_weekday(problem: CalendarArithmeticProblem) -> str:
    if problem.kind == "weekday_after":
        day = words.WEEKDAYS[problem.start[0]]
        return (
            f"Today is a {day}. From today, {words.walk(problem.steps, 'days').lower()}. "
            "Which day of the week do you reach?"
        )
    known, asked = ((year, month, day) for year, month, day in (problem.start, problem.end))
    name = words.WEEKDAYS[gregorian_number(known) % 7]
    return (
        f"{_GREGORIAN} {words.gregorian(known)} is a {name}. Which day of the week is "
        f"{words.gregorian(asked)}?"
    )


def _ask_date(problem: CalendarArithmeticProblem) -> str:
    calendar = problem.calendar
    written = words.gregorian if calendar is None else words.made_up
    rules = _GREGORIAN if calendar is None else words.rules(calendar)
    year, month, day = problem.start
    start = written((year, month, day))
    if problem.end:
        year, month, day = problem.end
        return (
            f"{rules} How many days is it from {start} to {written((year, month, day))}? "
            "(From one day to the next is 1 day.)"
        )
    return (
        f"{rules} Start on {start}. {words.walk(problem.steps, 'days')}. Which date do you reach? "
        "Answer with the numbers of the year, the month and the day in the form YYYY-MM-DD."
    )


_GREGORIAN = "Use the rules of the Gregorian calendar for every year."


# Steps to dates, weekdays and times, for any calendar that numbers its days.


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
