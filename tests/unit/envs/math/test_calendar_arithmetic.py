"""CalendarArithmetic: datetime and day-by-day counting as oracles, forms, configuration."""

import calendar
import datetime
import re

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.math.calendar_arithmetic import (
    KINDS,
    CalendarArithmeticConfig,
    CalendarArithmeticProblem,
    CalendarArithmeticTask,
)
from rlvr_envs.generators.mathematics.calendars import (
    MadeUpCalendar,
    gregorian_date,
    gregorian_number,
)

MONTHS = list(calendar.month_name)[1:]
WEEKDAYS = list(calendar.day_name)
DATE = r"(\d+) (" + "|".join(MONTHS) + r") (\d+)"


def steps(text):
    return [
        -int(size) if way == "back" else int(size)
        for way, size in re.findall(r"(forward|back) (\d+) (?:days|minutes)", text)
    ]


def date_of(match):
    day, month, year = match
    return datetime.date(int(year), MONTHS.index(month) + 1, int(day))


def weekday(text):
    today = re.match(r"Today is a (\w+)\.", text)
    if today:
        return WEEKDAYS[(WEEKDAYS.index(today[1]) + sum(steps(text))) % 7]
    return date_of(re.findall(DATE, text)[-1]).strftime("%A")


def gregorian(text):
    dates = [date_of(match) for match in re.findall(DATE, text)]
    if len(dates) == 2:
        return str((dates[1] - dates[0]).days)
    moved = dates[0]
    for step in steps(text):
        moved += datetime.timedelta(days=step)
    return moved.isoformat()


def made_up(text):
    """Count through the calendar one day at a time, by the rules in the text."""
    listed = re.search(r"they have ([^.]+) days", text)[1]
    months = [int(m) for m in re.findall(r"\d+", listed)]
    every = int(re.search(r"multiple of (\d+)", text)[1])
    leap = int(re.search(r"month (\d+) has one extra day", text)[1])
    dates = [
        (int(y), int(m), int(d))
        for d, m, y in re.findall(r"day (\d+) of month (\d+) of year (\d+)", text)
    ]

    def length(year, month):
        return months[month - 1] + (1 if year % every == 0 and month == leap else 0)

    def after(year, month, day):
        if day < length(year, month):
            return year, month, day + 1
        return (year, month + 1, 1) if month < len(months) else (year + 1, 1, 1)

    def before(year, month, day):
        if day > 1:
            return year, month, day - 1
        year, month = (year, month - 1) if month > 1 else (year - 1, len(months))
        return year, month, length(year, month)

    if len(dates) == 2:
        date, count = dates[0], 0
        while date != dates[1]:
            date, count = after(*date), count + 1
        return str(count)
    date, total = dates[0], sum(steps(text))
    for _ in range(abs(total)):
        date = after(*date) if total > 0 else before(*date)
    return "-".join(map(str, date))


def clock(text):
    """Turn the clock one minute at a time."""
    planet = re.search(r"has (\d+) hours of (\d+) minutes", text)
    n_hours, n_minutes = map(int, planet.groups()) if planet else (24, 60)
    hour, minute = map(int, re.search(r"shows (\d+):(\d+)", text).groups())
    total = sum(steps(text))
    for _ in range(abs(total)):
        minute += 1 if total > 0 else -1
        if minute in (-1, n_minutes):
            hour = (hour + (1 if minute > 0 else -1)) % n_hours
            minute %= n_minutes
    return f"{hour}:{minute:02}"


ORACLES = {
    "weekday_after": weekday,
    "weekday_of_date": weekday,
    "difference": gregorian,
    "date_after": gregorian,
    "clock": clock,
    "made_up_difference": made_up,
    "made_up_date": made_up,
    "made_up_clock": clock,
}


def of_kind(kind, **knobs):
    return CalendarArithmeticTask(CalendarArithmeticConfig(kinds=(kind,), **knobs))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n_steps", "max_days"), [(1, 12), (3, 900)])
def test_the_text_alone_gives_the_answer(kind, n_steps, max_days):
    task = of_kind(kind, n_steps=n_steps, max_days=max_days)
    for seed in range(20):
        problem = task.generate(stream("CalendarArithmetic", kind, n_steps, seed))
        assert task.verify(problem, ORACLES[kind](task.prompt(problem))).score == 1.0


def test_whole_small_world_of_dates():
    task = of_kind("date_after", n_steps=1, max_days=12)
    for seed in range(10):
        problem = task.generate(stream("CalendarArithmetic", "small", seed))
        expected = gregorian(task.prompt(problem))
        near = datetime.date.fromisoformat(expected)
        for offset in range(-40, 41):
            date = near + datetime.timedelta(days=offset)
            assert task.verify(problem, date.isoformat()).score == float(offset == 0)


@pytest.mark.parametrize("kind", ["weekday_after", "weekday_of_date"])
def test_whole_small_world_of_weekdays(kind):
    task = of_kind(kind)
    for seed in range(20):
        problem = task.generate(stream("CalendarArithmetic", "weekdays", seed))
        accepted = [name for name in WEEKDAYS if task.verify(problem, name).score == 1.0]
        assert accepted == [weekday(task.prompt(problem))]


def test_gregorian_numbers_agree_with_datetime():
    for number in [*range(800_000, 0, -977), *range(730_000, 731_500), 0, 1, 58, 59, 365]:
        date = datetime.date.fromordinal(number + 1)
        assert gregorian_date(number) == (date.year, date.month, date.day)
        assert gregorian_number((date.year, date.month, date.day)) == number


def test_far_years_follow_the_400_year_cycle():
    for number in range(0, 10**7, 123_457):
        year, month, day = gregorian_date(number)
        assert gregorian_date(number + 146_097 * 10**12) == (year + 400 * 10**12, month, day)
        assert gregorian_number((year, month, day)) == number


@pytest.mark.parametrize("made", [MadeUpCalendar((4, 6), 2, 2), MadeUpCalendar((5, 4, 7), 3, 1)])
def test_made_up_dates_are_numbered_in_order(made):
    dates = [made.date(number) for number in range(200)]
    assert dates[0] == (1, 1, 1)
    assert dates == sorted(set(dates))
    assert [made.number(date) for date in dates] == list(range(200))
    assert all(1 <= day <= made.month_length(year, month) for year, month, day in dates)


TASK = CalendarArithmeticTask(CalendarArithmeticConfig())


def problem(kind, answer):
    rules = MadeUpCalendar((4, 6), 2, 2) if kind == "made_up_date" else None
    return CalendarArithmeticProblem(kind, (), (), (), rules, (), answer)


@pytest.mark.parametrize(
    ("kind", "right", "answer"),
    [
        ("date_after", (2024, 3, 5), "2024-03-05"),
        ("date_after", (2024, 3, 5), "2024-3-5"),
        ("date_after", (2024, 3, 5), "5 March 2024"),
        ("date_after", (2024, 3, 5), r"\text{March 5, 2024}"),
        ("date_after", (2024, 3, 5), "$2024-03-05$"),
        ("made_up_date", (12, 2, 6), "12-2-6"),
        ("made_up_date", (12, 2, 6), "0012-02-06"),
        ("clock", (8, 5), "08:05"),
        ("clock", (8, 5), "8:05"),
        ("weekday_after", (2,), "Wednesday"),
        ("weekday_after", (2,), r"\text{wed}"),
        ("difference", (1234,), "1,234"),
    ],
)
def test_usual_forms_pass(kind, right, answer):
    assert TASK.verify(problem(kind, right), answer).score == 1.0


@pytest.mark.parametrize(
    ("kind", "right", "answer"),
    [
        ("date_after", (2024, 3, 5), "03/05/2024"),
        ("date_after", (2024, 3, 5), "2024-03-05 or 2024-03-06"),
        ("made_up_date", (12, 2, 6), "6 February 12"),
        ("clock", (8, 5), "8:5"),
        ("clock", (8, 5), "805"),
        ("weekday_after", (2,), "2"),
        ("weekday_after", (2,), "Wednesday or Thursday"),
        ("weekday_after", (2,), "a Wednesday " * 50),
        ("clock", (8, 5), "٠٨:٠٥"),
    ],
)
def test_other_texts_are_not_read(kind, right, answer):
    assert TASK.verify(problem(kind, right), answer).status is Status.UNPARSABLE


def test_near_misses_are_wrong():
    assert TASK.verify(problem("date_after", (2024, 3, 5)), "2024-05-03").status is Status.WRONG
    assert TASK.verify(problem("clock", (8, 5)), "20:05").status is Status.WRONG
    assert TASK.verify(problem("weekday_after", (2,)), "Thu").status is Status.WRONG


@pytest.mark.parametrize(
    "knobs",
    [
        {"kinds": ("moon",)},
        {"n_steps": 0},
        {"max_days": 7},
        {"max_months": 1},
        {"max_month_days": 4},
    ],
)
def test_config_is_checked(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        CalendarArithmeticConfig(**knobs)


def problem_of(kind, start, steps=(), end=(), day=(), answer=()):
    return CalendarArithmeticProblem(kind, start, steps, end, None, day, answer)


@pytest.mark.parametrize(
    ("problem", "hurried"),
    [
        (problem_of("weekday_after", (0,), (8,), answer=(1,)), "Tuesday"),
        (problem_of("difference", (2001, 1, 1), end=(2001, 3, 1), answer=(59,)), "60"),
        (problem_of("clock", (23, 50), (20,), day=(24, 60), answer=(0, 10)), "23:10"),
        (problem_of("date_after", (2001, 1, 30), (3,), answer=(2001, 2, 2)), "2001-02-03"),
    ],
)
def test_the_baseline_forgets_what_is_irregular(problem, hurried):
    assert TASK.baseline(stream("baseline"), problem) == hurried


def test_effort_of_a_small_problem():
    # The worked solution writes "8 mod 7 = 1" and "1 more days"; the move costs a digit.
    assert TASK.effort(problem_of("weekday_after", (0,), (8,), answer=(1,))) == 1 + 4


def test_leap_years_may_have_exceptions():
    calendar = MadeUpCalendar((4, 7, 5), 3, 2, 9)
    date = (1, 1, 1)
    for number in range(2_000):
        assert calendar.number(date) == number
        assert calendar.date(number) == date
        year, month, day = date
        leap = year % 3 == 0 and year % 9 > 0
        if day < calendar.months[month - 1] + (month == 2 and leap):
            date = (year, month, day + 1)
        else:
            date = (year, month + 1, 1) if month < 3 else (year + 1, 1, 1)
