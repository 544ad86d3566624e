"""Numbers and dates in the tables of pages, in forms of several languages, and how they are read.

A year is told by a date in it, since that is how tables give years. An amount has its thousands
apart in one of several ways, and a height has a metric unit. Each form has one reading: "12.345"
alone, which is about twelve in one language and twelve thousand in another, is not among them.
"""

import re
from dataclasses import replace
from fractions import Fraction

from rlvr_envs.generators.worlds import sentences as words
from rlvr_envs.generators.worlds.dice import Dice
from rlvr_envs.generators.worlds.pages import Page, Section
from rlvr_envs.generators.worlds.schema import RELATIONS

PLAIN, MIXED = "plain", "mixed"
FORMS = (PLAIN, MIXED)

# Labels that speak of dates and of no unit, by relation, instead of those of `sentences.ROWS`.
LABELS = {
    "born": "Born",
    "founded": "Founded",
    "published": "Published",
    "held": "Opening day",
    "elevation": "Elevation",
}
# fmt: off
_MONTHS = {
    "en": ("January", "February", "March", "April", "May", "June", "July", "August", "September",
           "October", "November", "December"),
    "fr": ("janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre",
           "octobre", "novembre", "décembre"),
    "de": ("Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September",
           "Oktober", "November", "Dezember"),
    "es": ("enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre",
           "octubre", "noviembre", "diciembre"),
}
# fmt: on
_DATES = (
    ("en", "{day} {month} {year}"),
    ("en", "{month} {day}, {year}"),
    ("fr", "{day} {month} {year}"),
    ("de", "{day}. {month} {year}"),
    ("es", "{day} de {month} de {year}"),
    ("", "{year}-{number:02}-{day:02}"),
)
_DAYS = 28  # of every month
_APART = (",", " ", "'", "")  # between thousands
_METRES = {"cm": Fraction(1, 100), "m": Fraction(1), "km": Fraction(1000)}
_NUMBERED = {
    words.ROWS[relation.name]: relation for relation in RELATIONS.values() if relation.is_number
}
_ROW = re.compile(r"\| ([^|\n]+) \| ([0-9,]+) \|")
_ISO = re.compile(r"(\d{4})-\d\d-\d\d")
_DATE = re.compile(r"(?:\d{1,2}\.? (?:de )?\w+ (?:de )?|\w+ \d{1,2}, )(\d{4})")
_AMOUNT = re.compile(r"(\d{1,3}(?:([, '])\d{3}(?:\2\d{3})*)?|\d+)(\.\d+)?(?: (thousand|cm|m|km))?")


def mixed(page: Page, dice: Dice) -> Page:
    """Return a page with the numbers and years of its tables in mixed forms, else the same."""

    def row(told: re.Match[str]) -> str:
        relation = _NUMBERED.get(told[1])
        if relation is None:
            return told[0]
        value = int(told[2].replace(",", ""))
        label = LABELS.get(relation.name, told[1])
        if relation.value == "year":
            return f"| {label} | {date(value, dice)} |"
        written = height if relation.name == "elevation" else amount
        return f"| {label} | {written(value, dice)} |"

    sections = tuple(Section(part.heading, _ROW.sub(row, part.text)) for part in page.sections)
    return replace(page, sections=sections)


def date(year: int, dice: Dice) -> str:
    """Write a date in a year."""
    language, form = dice.pick(_DATES)
    number, day = dice.between(1, 12), dice.between(1, _DAYS)
    month = _MONTHS[language][number - 1] if language else ""
    return form.format(day=day, month=month, number=number, year=year)


def amount(value: int, dice: Dice) -> str:
    """Write an amount without a unit."""
    apart = dice.pick((*_APART, "thousand"))
    if apart == "thousand":
        return f"{_decimal(Fraction(value, 1000))} thousand"
    return f"{value:,}".replace(",", apart)


def height(metres: int, dice: Dice) -> str:
    """Write a height with its unit."""
    unit = dice.pick(tuple(_METRES))
    return f"{_decimal(metres / _METRES[unit])} {unit}"


def _decimal(value: Fraction) -> str:
    """Write a number of at most three decimals, with commas between thousands."""
    return f"{float(value):,.3f}".rstrip("0").rstrip(".")


def read(text: str) -> int | None:
    """Return the year of a date, an amount, or a height in metres; None for anything else."""
    dated = _ISO.fullmatch(text) or _DATE.fullmatch(text)
    if dated:
        return int(dated[1])
    told = _AMOUNT.fullmatch(text)
    if told is None:
        return None
    digits = re.sub(r"[, ']", "", told[1])
    scale = Fraction(1000) if told[4] == "thousand" else _METRES.get(told[4] or "m")
    value = Fraction(digits + (told[3] or "")) * (scale or 1)
    return int(value) if value.denominator == 1 else None
