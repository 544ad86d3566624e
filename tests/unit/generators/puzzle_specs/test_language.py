"""Formulas of specifications: values, terms, and what may not be written."""

import itertools

import pytest

from rlvr_envs.generators.puzzle_specs.language import Formula, SpecError, Text
from rlvr_envs.generators.puzzle_specs.terms import Choice

PETS = ("cat", "dog")
KNOWN = {
    "n": 4,
    "people": ("Ann", "Bob", "Cy"),
    "seat": {"Ann": 1, "Bob": 3, "Cy": 2},
    "pet": {name: Choice(i % 2, PETS) for i, name in enumerate(("Ann", "Bob", "Cy"))},
    "sure": {"Ann": True, "Bob": False, "Cy": True},
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("n + 2 * 3 - 1", 9),
        ("7 // 2 + 7 % 4", 6),
        ("-n", -4),
        ("1 < seat['Cy'] < 3", True),
        ("seat['Ann'] == 1 and not seat['Bob'] == 1", True),
        ("sum(seat[p] for p in people if pet[p] == 'cat')", 3),
        ("count(pet[p] == 'dog' for p in people)", 1),
        ("all(seat[p] <= n for p in people)", True),
        ("any(seat[p] > n for p in people)", False),
        ("distinct(seat)", True),
        ("max(seat) - min(seat)", 2),
        ("abs(seat['Ann'] - seat['Bob'])", 2),
        ("len(people)", 3),
        ("range(2, 5)", (2, 3, 4)),
        ("[seat[p] for p in people]", (1, 3, 2)),
        ("5 if sure['Bob'] else 6", 6),
        ("implies(sure['Bob'], sure['Ann'])", True),
        ("iff(sure['Bob'], sure['Ann'])", False),
        ("'Bob' in people and 'Zoe' not in people", True),
        ("pet['Ann'] == pet['Cy']", True),
        ("pet['Ann'] == 'bird'", False),
        ("sum(sure)", 2),
        ("[a == b for a in (1, 2) for b in (1, 2)]", (True, False, False, True)),
    ],
)
def test_values(text, value):
    assert Formula(text, "here").value(KNOWN) == value


def test_the_names_a_label():
    assert str(Formula("the(p for p in people if seat[p] == 3)", "here").value(KNOWN)) == "Bob"


def test_texts_are_filled():
    text = Text("{people} have {n - 1} seats; {people[1]} keeps a {pet['Bob']}.", "here")
    assert text.filled(KNOWN) == "Ann, Bob and Cy have 3 seats; Bob keeps a dog."


FORMULAS = (
    "seat['Ann'] < seat['Bob']",
    "sum(seat) % 2 == 1",
    "distinct(seat)",
    "max(seat) - min(seat) == 2",
    "abs(seat['Ann'] - seat['Cy']) == 1",
    "the(p for p in people if seat[p] == 1) == 'Bob'",
    "count(seat[p] > 1 for p in people) == 2",
    "any(seat[a] == seat[b] for a in people for b in people if a != b)",
    "sum(seat[p] for p in people if seat[p] != 2) > 3",
    "pet['Ann'] != pet['Bob'] or seat['Ann'] in (1, 3)",
    "iff(pet['Cy'] == 'cat', sure['Cy']) and implies(sure['Ann'], not sure['Bob'])",
    "(seat['Ann'] if sure['Ann'] else 2) // 2 == 1",
)


@pytest.mark.parametrize("text", FORMULAS)
def test_terms_mean_what_values_mean(text):
    """In every small world a formula is true exactly where z3 finds its term true."""
    z3 = pytest.importorskip("z3")
    people = KNOWN["people"]
    seats = {p: z3.Int(f"seat {p}") for p in people}
    pets = {p: z3.Int(f"pet {p}") for p in people}
    sure = {p: z3.Bool(f"sure {p}") for p in people}
    terms = {
        **KNOWN,
        "seat": seats,
        "pet": {p: Choice(term, PETS) for p, term in pets.items()},
        "sure": sure,
    }
    formula = Formula(text, "here")
    term = formula.value(terms)
    used = [name for name in ("seat", "pet", "sure") if name in text]
    values = {"seat": (1, 2, 3), "pet": (0, 1), "sure": (False, True)}
    spaces = [itertools.product(values[name], repeat=3) for name in used]
    for world in itertools.product(*spaces):
        names, fixed = dict(KNOWN), []
        for name, row in zip(used, world, strict=True):
            of_people = dict(zip(people, row, strict=True))
            wrapped = {p: Choice(i, PETS) for p, i in of_people.items()}
            names[name] = wrapped if name == "pet" else of_people
            unknowns = {"seat": seats, "pet": pets, "sure": sure}[name]
            fixed += [
                (unknowns[p], z3.BoolVal(v) if name == "sure" else z3.IntVal(v))
                for p, v in of_people.items()
            ]
        there = z3.simplify(z3.substitute(term, *fixed))
        assert z3.is_true(there) == formula.value(names), (text, world)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("__import__('os').system('true')", "functions can be called"),
        ("people.__class__", "Attribute may not be used"),
        ("(lambda: 1)()", "functions can be called"),
        ("9 ** 9 ** 9", "Pow may not be used"),
        ("n / 2", "Div may not be used"),
        ("f'{n}'", "may not be used"),
        ("1.5", "neither an integer nor a name"),
        ("None", "neither an integer nor a name"),
        ("n +", "is not a formula"),
        ("", "is not a formula"),
        ("(" * 500, "is not a formula"),
        ("sum(x=1)", "functions can be called"),
        ([1], "a formula must be text"),
    ],
)
def test_what_may_not_be_written(text, reason):
    with pytest.raises(SpecError, match=reason):
        Formula(text, "here")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("seat['Zoe']", "column 1: there is nothing for 'Zoe'"),
        ("people[7]", "place 7 is not in 0..2"),
        ("1 + 'Ann'", "'Ann' is not a number"),
        ("not 3", "neither true nor false"),
        ("n % 0", "a divisor must be a known positive integer"),
        ("min([p for p in people if p == 'Zoe'])", "need at least one value"),
        ("range(100000)", "at most 2000"),
        ("implies(1)", "implies takes 2 arguments"),
        ("sum(1, 2)", "sum takes one list"),
        ("the(n for p in people)", "chooses among names"),
    ],
)
def test_what_does_not_fit_names_its_place(text, reason):
    with pytest.raises(SpecError, match=reason) as caught:
        Formula(text, "spec.yaml: query.answer").value(KNOWN)
    assert str(caught.value).startswith("spec.yaml: query.answer: in ")


def test_unknown_names_are_found_before_anything_is_drawn():
    formula = Formula("seat[p] + soat[p]", "here")
    with pytest.raises(SpecError, match="nothing is called 'soat'; did you mean 'seat'"):
        formula.check_names(frozenset({"seat", "p"}))
