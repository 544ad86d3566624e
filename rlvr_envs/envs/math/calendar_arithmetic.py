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
# Drawn dates begin here, and lie up to 500 years later.
_FIRST_YEAR = 1600
_SPAN_DAYS = 365 * 500


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarArithmeticConfig(TaskConfig):
    """The kinds of questions, and how far they reach."""

    kinds: tuple[str, ...] = knob(KINDS, "one is drawn for each problem", choices=KINDS)
    n_steps: int = knob(2, "how often one goes forward or back", low=1)
    max_days: int = knob(
        5_000, "a step, or a difference, is at most this many days or minutes", low=8
    )
    max_months: int = knob(8, "of a made-up year", low=2)
    max_month_days: int = knob(40, "of a made-up month", low=5)

    @classmethod
    def at(cls, difficulty: int) -> "CalendarArithmeticConfig":
        """The reach triples a rung, every other adds a step, and made-up years grow."""
        return cls(
            n_steps=1 + difficulty // 2,
            max_days=12 * 3**difficulty,
            max_months=3 + difficulty,
            max_month_days=10 + 3 * difficulty,
        )


@dataclass(frozen=True, slots=True)
class CalendarArithmeticProblem:
    """A start, what is done to it, and the rules.

    Attributes:
        kind: one of `KINDS`.
        start: a date, a weekday from 0, or hours and minutes.
        steps: the days or minutes gone forward, or back where negative, in turn.
        end: the later date of a difference; empty otherwise.
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
        Questions on the Gregorian calendar, continued before 1582 and beyond 9999 by the same
        rule, on weekdays and on the 24-hour clock, and the same on made-up calendars and clocks
        whose rules are stated, which cannot be remembered.

    Observation:
        The rules where they are made up, and the question.

    Action:
        A whole number of days, the name of a weekday, a date such as 2024-03-05, or a time such
        as 08:05.

    Reward:
        1 for the right answer, otherwise 0.

    Verification:
        Exact. Weekdays may be shortened to three letters. Gregorian dates may also be written as
        5 March 2024 or March 5, 2024; times need the 24-hour form.

    Difficulty:
        The reach in days, the number of steps and the length of made-up years grow.

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
            given, expected = words.read_weekday(answer), "the name of a weekday"
        elif problem.kind.endswith("clock"):
            given, expected = words.read_time(answer), "a time such as 08:05"
        else:
            given = words.read_date(answer, named_months=problem.calendar is None)
            expected = "a date such as 0012-03-05"
        if given is None:
            return Verdict.unparsable(f"expected {expected}")
        if given != problem.answer:
            return Verdict.wrong(f"this is {expected}, but not the right one")
        return Verdict.correct()

    def solve(self, problem: CalendarArithmeticProblem) -> str:
        if problem.kind.startswith("weekday"):
            return words.WEEKDAYS[problem.answer[0]]
        if problem.kind.endswith("clock"):
            return words.time(*problem.answer)
        if problem.kind.endswith("difference"):
            return str(problem.answer[0])
        return words.date_number(problem.answer)

    def explain(self, problem: CalendarArithmeticProblem) -> list[str]:
        start, steps = problem.start, problem.steps
        if problem.kind.endswith("clock"):
            return clock(start, steps, problem.day)
        if problem.kind == "weekday_after":
            return weekday(start[0], sum(steps), steps)
        system: _System = problem.calendar or _Gregorian()
        year, month, day = start
        if problem.kind == "weekday_of_date":
            return to_weekday(system, (year, month, day), (2000, 1, 1), 5)
        if problem.end:
            last_year, last_month, last_day = problem.end
            return difference(system, (year, month, day), (last_year, last_month, last_day))
        return later(system, (year, month, day), steps)

    def _dates(self, rng: Rng, kind: str) -> CalendarArithmeticProblem:
        """Draw a question on the Gregorian calendar or on a made-up one."""
        calendar = self._calendar(rng) if kind.startswith("made_up") else None
        system: _System = _Gregorian() if calendar is None else calendar
        if calendar is None:
            begin = system.number((_FIRST_YEAR, 1, 1)) + integer(rng, 0, _SPAN_DAYS)
        else:
            begin = integer(rng, 0, 20 * sum(calendar.months))
        steps: tuple[int, ...] = ()
        end: tuple[int, ...] = ()
        answer: tuple[int, ...]
        if kind == "weekday_of_date":
            begin += integer(rng, 0, self.config.max_days)
            answer = (begin % 7,)
        elif kind.endswith("difference"):
            answer = (integer(rng, 2, self.config.max_days),)
            end = system.date(begin + answer[0])
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
        return MadeUpCalendar(months, integer(rng, 2, 7), integer(rng, 1, n_months))


class _System(Protocol):
    def number(self, date: Date) -> int: ...
    def date(self, number: int) -> Date: ...


class _Gregorian:
    def number(self, date: Date) -> int:
        return gregorian_number(date)

    def date(self, number: int) -> Date:
        return gregorian_date(number)


def _ask_clock(problem: CalendarArithmeticProblem) -> str:
    hours, minutes = problem.day
    if problem.kind == "clock":
        rules = "A clock shows the time from 00:00 to 23:59."
    else:
        rules = (
            f"On a made-up planet, a day has {hours} hours of {minutes} minutes. A clock shows "
            f"the hours and the minutes, from 00:00 to {words.time(hours - 1, minutes - 1)}."
        )
    return (
        f"{rules} It is {words.time(*problem.start)}. From there, "
        f"{words.walk(problem.steps, 'minutes')}. What does the clock show then? "
        "Answer with the time as HH:MM."
    )


def _ask_weekday(problem: CalendarArithmeticProblem) -> str:
    if problem.kind == "weekday_after":
        day = words.WEEKDAYS[problem.start[0]]
        return (
            f"Today is a {day}. From today, {words.walk(problem.steps, 'days')}. "
            "Which day of the week is it then?"
        )
    year, month, day_of_month = problem.start
    return (
        "1 January 2000 was a Saturday. By the rules of the Gregorian calendar, which day of the "
        f"week is {words.gregorian((year, month, day_of_month))}?"
    )


def _ask_date(problem: CalendarArithmeticProblem) -> str:
    calendar = problem.calendar
    told = words.gregorian if calendar is None else words.made_up
    rules = "By the rules of the Gregorian calendar:" if calendar is None else words.rules(calendar)
    year, month, day = problem.start
    start = told((year, month, day))
    if problem.end:
        year, month, day = problem.end
        return (
            f"{rules} How many days after {start} is {told((year, month, day))}? "
            "(The next day is 1 day after.)"
        )
    return (
        f"{rules} From {start}, {words.walk(problem.steps, 'days')}. Which date is it then? "
        "Answer with the year, the month's number and the day as YYYY-MM-DD."
    )


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
