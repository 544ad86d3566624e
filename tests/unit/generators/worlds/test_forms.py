"""Numbers and dates of tables: one reading each, for the oracle and by an independent reader."""

import re

import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.worlds import forms
from rlvr_envs.generators.worlds.dice import Dice
from rlvr_envs.generators.worlds.schema import RELATIONS
from rlvr_envs.generators.worlds.site import site
from rlvr_envs.generators.worlds.spec import WorldSpec
from rlvr_envs.generators.worlds.world import build_world


def written(write, value, count=200):
    dice = Dice(stream("forms", value))
    return {write(value, dice) for _ in range(count)}


@pytest.mark.parametrize("year", [1820, 1897, 1905])
def test_a_date_is_read_as_its_year(year):
    told = written(forms.date, year)
    assert len(told) > 100
    assert {forms.read(text) for text in told} == {year}
    assert {int(year_) for text in told for year_ in re.findall(r"\d{4}", text)} == {year}


@pytest.mark.parametrize("value", [7, 41, 310, 999, 1000, 1150, 12345, 98000])
def test_an_amount_has_five_forms_with_one_reading(value):
    told = written(forms.amount, value)
    assert {forms.read(text) for text in told} == {value}
    assert len(told) == (5 if value >= 1000 else 2)


def test_a_height_has_three_units():
    assert written(forms.height, 1200) == {"120,000 cm", "1,200 m", "1.2 km"}
    for metres in range(11, 1901):
        assert {forms.read(text) for text in written(forms.height, metres, 12)} == {metres}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3 mars 1897", 1897),
        ("3. März 1897", 1897),
        ("3 de marzo de 1897", 1897),
        ("March 3, 1897", 1897),
        ("1897-03-03", 1897),
        ("1,200 m", 1200),
        ("1.2 km", 1200),
        ("1897", 1897),
    ],
)
def test_forms_by_hand(text, value):
    assert forms.read(text) == value


@pytest.mark.parametrize(
    "text",
    ["", "mars", "1.2", "12.3456 km", "1,20", "12,34,567", "1 2 3", "3 mars", "-5", "1e3", "½ km",
     "1,200 ft", "1'200,300", "3 mars 97", "1.5 cm", "km", "1897-3-3", "one thousand", "12.5.1897"],
)  # fmt: skip
def test_other_texts_are_not_numbers(text):
    assert forms.read(text) is None


def test_mixed_pages_differ_from_plain_ones_in_their_tables_alone():
    spec = WorldSpec.at(12)
    plain, other = site(spec, 5), site(spec, 5, forms.MIXED)
    changed = 0
    for page in plain.pages.values():
        for one, two in zip(page.sections, other.pages[page.id].sections, strict=True):
            assert one.heading == two.heading
            assert one.text == two.text or one.heading == "Data"
            changed += one.text != two.text
    assert changed > 20


def test_every_row_of_a_mixed_table_tells_its_fact():
    spec = WorldSpec.at(12)
    world, pages = build_world(spec, 3), site(spec, 3, forms.MIXED).pages
    labels = {"Born": "born", "Founded": "founded", "Published": "published",
              "Opening day": "held", "Elevation": "elevation", "Inhabitants": "population",
              "Employees": "staff", "Pages": "pages", "Visitors": "visitors"}  # fmt: skip
    assert set(labels.values()) == {name for name, each in RELATIONS.items() if each.is_number}
    seen = 0
    for number, page in enumerate(pages.values()):
        for section in page.sections:
            for label, value in re.findall(r"^\| (.+) \| (.+) \|$", section.text, re.MULTILINE):
                assert label not in {"Year of birth", "Elevation (m)", "Year"}
                if label in labels:
                    (index,) = world.of[number, labels[label]]
                    assert forms.read(value) == world.facts[index].value
                    seen += 1
    assert seen > 30
