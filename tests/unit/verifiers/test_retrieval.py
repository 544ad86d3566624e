"""Short answers over documents: against a second implementation, and against cheats."""

import random
import re
import string
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.verdict import Status
from rlvr_envs.verifiers import retrieval
from rlvr_envs.verifiers.retrieval import concise_f1, exact, f1, names, number, unanswerable

# Few words, so that the same ones meet; no digits, whose rule is stricter than SQuAD's.
TEXTS = st.lists(
    st.sampled_from(
        ["Anna", "anna", "Vell,", "the", "An", "a", "'Velburg'", "of", "by-night", "!"]
    ),
    min_size=1,
    max_size=6,
).map(" ".join)
SETTINGS = settings(max_examples=60, deadline=None)
ENTITIES = [["Anna Vell", "Nan"], ["Paris, Texas"], ["Trinidad and Tobago", "Trinidad"]]
HOSTILE = {
    "marks": "a" + "\u0316\u0301" * 4_900,
    "commas": "a," * 5_000,
    "breaks": "\n1. and" * 1_400,
    "commands": r"\text{" * 1_600,
    "fences": "```\n" + " \n" * 4_900,
    "groups": "1,234" + ",234" * 2_400,
    "digits": "9" * 10_000,
    "nulls": "\0" * 10_000,
    "surrogate": "\ud800",
    "right to left": "\u202evelburg",
    "wide": "\uff11\uff12",
    "huge": "Velburg " * 1_000_000,
}


def squad(text: str) -> str:
    """The rule as the SQuAD paper states it, by other means."""
    bare = re.sub(f"[{re.escape(string.punctuation)}]", "", text.lower())
    return re.sub(r"\s+", " ", re.sub(r"\b(?:the|an|a)\b", " ", bare)).strip()


def squad_f1(left: str, right: str) -> Fraction:
    """Harmonic mean of precision and recall, word by word."""
    ours, theirs = squad(left).split(), squad(right).split()
    left_over, shared = list(theirs), 0
    for word in ours:
        if word in left_over:
            left_over.remove(word)
            shared += 1
    if not shared:
        return Fraction(0)
    precision, recall = Fraction(shared, len(ours)), Fraction(shared, len(theirs))
    return 2 * precision * recall / (precision + recall)


@SETTINGS
@given(answer=TEXTS, accepted=st.lists(TEXTS, min_size=1, max_size=3))
def test_words_are_compared_as_squad_does(answer: str, accepted: list[str]) -> None:
    accepted = [form for form in accepted if squad(form)] or ["Anna Vell"]
    if not squad(answer):  # empty for SQuAD; here "The The" is still a name
        assert exact(answer, accepted).score == f1(answer, accepted).score == 0.0
        return
    same = any(squad(answer) == squad(form) for form in accepted)
    assert (exact(answer, accepted).status is Status.CORRECT) == same
    verdict = f1(answer, accepted)
    assert verdict.score == pytest.approx(float(max(squad_f1(answer, form) for form in accepted)))
    assert verdict.parts == {"f1": verdict.score, "exact": float(same)}


@pytest.mark.parametrize(
    ("answer", "form", "same"),
    [
        ("the Velburg!", "Velburg", True),
        (r"\text{Velburg}", "Velburg", True),
        ("**Velburg**", "Velburg", True),
        ("O\u2019Neil", "O'Neil", True),
        ("e\u0301lan", "\u00e9lan", True),
        ("\u00c9LAN", "\u00e9lan", True),
        ("elan", "\u00e9lan", False),
        ("The The", "The The", True),
        ("the", "The The", False),
        ("1,234", "1234", True),
        ("1.5", "15", False),
        ("1.5 million", "15 million", False),
        ("-5", "5", False),
        ("5", "-5", False),
        ("e\u0301" * 50, "\u00e9" * 50, True),  # words of 100 characters are composed,
        ("e\u0301" * 51, "\u00e9" * 51, False),  # longer ones are not
        ("\u22125", "-5", True),
        ("3/4", "34", False),
        ("1914-1918", "1914\u20131918", True),
        ("F-16", "F16", True),
        ("V\u0435lburg", "Velburg", False),  # a Cyrillic letter
        ("Vel\u200bburg", "Velburg", False),
    ],
)
def test_exact_on_single_cases(answer: str, form: str, same: bool) -> None:
    assert (exact(answer, [form]).score == 1.0) == same
    assert (f1(answer, [form]).parts["exact"] == 1.0) == same


def test_aliases_earn_full_marks_and_lists_of_candidates_none() -> None:
    accepted = ["Anna Vell", "Nan"]
    assert exact("nan", accepted).score == 1.0
    question = "Who is the teacher of Anna Vell?"
    sprays = ("Anna Vell, Nan", "Anna Vell or Ben Orr", "It is Anna Vell.", question, "Anna\nBen")
    for spray in sprays:
        verdict = exact(spray, accepted)
        assert (verdict.status, verdict.score) == (Status.WRONG, 0.0)
        assert "Anna" not in verdict.detail
        assert f1(spray, accepted).score < 1.0
    everyone = ", ".join(f"Name{n}" for n in range(500)) + ", Anna Vell"
    assert f1(everyone, accepted).score < 0.01


def test_yes_and_no_earn_nothing_in_part() -> None:
    assert f1("yes", ["yes"]).score == 1.0
    assert f1("yes or no", ["yes"]).score == 0.0
    assert f1("no", ["no man's land"]).score == 0.0
    assert f1("man's", ["no man's land"]).score == 0.5


@SETTINGS
@given(TEXTS, st.lists(TEXTS.filter(lambda form: form.strip(" !")), min_size=1, max_size=3))
def test_concise_f1_is_f1_by_the_forms_that_are_long_enough(answer: str, forms: list[str]) -> None:
    words = len(retrieval.normal(answer).split())
    kept = [form for form in forms if len(retrieval.normal(form).split()) >= words]
    verdict = concise_f1(answer, forms)
    if exact(answer, forms).score == 1.0:
        assert verdict.score == 1.0
    else:
        assert verdict.score == (f1(answer, kept).score if kept else 0.0)
    assert verdict.score <= f1(answer, forms).score


def test_concise_f1_pays_nothing_for_more_words_than_were_asked_for() -> None:
    for answer in ("Anna Vell, Ben Orr", "Anna Vell Ben", "Nan, Anna Vell", "It is Anna Vell"):
        assert concise_f1(answer, ["Anna Vell", "Nan"]).score == 0.0
        assert 0.0 < f1(answer, ["Anna Vell", "Nan"]).score < 1.0
    assert concise_f1("Vell", ["Anna Vell", "Nan"]).score == pytest.approx(2 / 3)
    assert concise_f1("Anna Vell", ["Nan", "Anna Vell of Velburg"]).score == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        (f"{lead}{text}{unit}", value)
        for text, value in (
            ("512", 512),
            ("1,234,567", 1234567),
            ("0012", 12),
            ("1,234.50", Fraction("1234.5")),
        )
        for lead in ("", " ", "+")
        for unit in ("", " m", " Metres.", "m")
    ]
    + [("-3", -3), ("\u22123", -3), ("$512$", 512), ("512.", 512), (".5", Fraction(1, 2))],
)
def test_plain_numbers_are_read(answer: str, value: Fraction) -> None:
    units = ["m", "metres"]
    assert number(answer, value, units).score == 1.0
    assert number(answer, value + 1, units).status is Status.WRONG
    assert number(answer, -value, units).status is Status.WRONG


@pytest.mark.parametrize(
    "answer",
    [
        *("", "m", "512 km", "in 512", "512 513", "512, 513", "1 234", "12,34", "1234,567"),
        *("1,2345", "5e2", "512/1", "2*256", "\u0665", "\u00b2", "0x200", "1_000", "--5", "1.2.3"),
        *("five", "NaN", "inf", "512 m m", "512 or 513", "511\n512", "9" * 1_001),
    ],
)
def test_anything_else_is_no_number(answer: str) -> None:
    assert number(answer, 512, ["m"]).status is Status.UNPARSABLE


@pytest.mark.parametrize(
    "answer",
    [
        "Nan; Paris, Texas and Trinidad and Tobago",
        "Trinidad, Paris, Texas, and anna vell",
        "1. Anna Vell\n2) Paris, Texas\n- **Trinidad and Tobago**",
        '["Anna Vell", "Paris, Texas", "Trinidad"]',
        "Nan, Anna Vell, Nan, Paris, Texas, Trinidad",
    ],
)
def test_the_exact_set_in_any_writing_earns_full_marks(answer: str) -> None:
    assert names(answer, ENTITIES).score == 1.0


def test_a_name_may_itself_begin_like_a_list_mark() -> None:
    leagues = [["2. Bundesliga"], ["Bundesliga"]]
    assert names("2. Bundesliga", leagues).parts["found"] == 1.0
    assert names("2. Bundesliga, Bundesliga", leagues).score == 1.0
    assert names("1. 2. Bundesliga\n2. Bundesliga", [["2. Bundesliga"]]).score == 1.0
    assert names("2. Bundesliga", [["Bundesliga"]]).score == 1.0


def test_a_name_with_several_breaks_is_read_wherever_it_stands() -> None:
    islands = [["Turks, Caicos and Salt Cay"], ["Salt Cay"], ["Turks"]]
    assert names("Turks, Caicos and Salt Cay", islands).parts["found"] == 1.0
    assert names("Turks, Turks, Caicos and Salt Cay, Salt Cay", islands).score == 1.0
    assert names("Salt Cay; Turks", islands[1:]).score == 1.0
    assert names("Caicos and Salt Cay", islands).parts["named"] == 2.0
    # More breaks than any form has are several names.
    assert names("Turks,, Caicos and Salt Cay", islands).parts["found"] == 2.0


def test_sets_are_graded_by_f1() -> None:
    verdict = names("Nan, Trinidad, Ben Orr, Ben Orr", ENTITIES)
    assert verdict.score == pytest.approx(2 * 2 / (3 + 3))
    assert dict(verdict.parts) == {"f1": verdict.score, "found": 2.0, "named": 3.0}
    assert verdict.detail == "the names are not exactly the expected ones"
    assert names("Ben Orr", ENTITIES).status is Status.WRONG
    assert names(" ,; and\n", ENTITIES).status is Status.UNPARSABLE
    for hedge in ("Nan or Trinidad", "the answer is Nan", "Nan (also Anna Vell)", "Paris"):
        assert names(hedge, ENTITIES).score == 0.0


def test_far_too_many_names_earn_nothing() -> None:
    right = "Nan, Trinidad, Paris, Texas"
    strangers = [f"Stranger{chr(97 + n)}" for n in range(7)]
    most = names(", ".join([right, *strangers[:6]]), ENTITIES)
    assert most.score == pytest.approx(2 * 3 / (9 + 3))
    sprayed = names(", ".join([right, *strangers]), ENTITIES)
    assert (sprayed.score, sprayed.parts["f1"]) == (0.0, 0.0)


def test_a_shared_form_stands_for_one_entity_each_time() -> None:
    twins = [["Anna Vell"], ["Anna Vell", "Nan"]]
    assert names("Anna Vell", twins).score == pytest.approx(2 / 3)
    assert names("Anna Vell and Anna Vell", twins).score == 1.0
    assert names("Anna Vell, Nan", twins).score == 1.0
    assert names("Anna Vell, Nan", twins[::-1]).score == 1.0
    assert names("Nan, Nan", twins).score == pytest.approx(2 / 3)


@SETTINGS
@given(
    size=st.integers(1, 6),
    given_right=st.sets(st.integers(0, 5)),
    strangers=st.integers(0, 8),
    order=st.randoms(use_true_random=False),
    separator=st.sampled_from([", ", "; ", "\n", " and ", ", and "]),
)
def test_set_f1_is_that_of_the_sets(
    size: int, given_right: set[int], strangers: int, order: random.Random, separator: str
) -> None:
    letters = string.ascii_lowercase
    expected = {f"Town {letters[n]}x" for n in range(size)}
    said = {f"Town {letters[n]}x" for n in given_right}
    said |= {f"Hill {letters[n]}x" for n in range(strangers)}
    written = sorted(said)
    order.shuffle(written)
    verdict = names(separator.join(written), [[name] for name in expected])
    if len(said) > 3 * size:
        assert verdict.score == 0.0
    elif said:
        both = len(said & expected)
        precision, recall = both / len(said), both / len(expected)
        mean = 2 * precision * recall / (precision + recall) if both else 0.0
        assert verdict.score == pytest.approx(mean)
        assert (verdict.status is Status.CORRECT) == (said == expected)


@pytest.mark.parametrize("answer", [*retrieval.UNANSWERABLE_FORMS, "The question is unanswerable."])
def test_unanswerable_is_recognised(answer: str) -> None:
    assert unanswerable(answer)
    assert unanswerable(answer.upper() + ".")


@pytest.mark.parametrize(
    "answer",
    [
        *("", "unknown", "I do not know", "none", "answerable", "unanswerable, or Velburg", "no"),
        *("unanswerable " * 2, "unanswerable" + " " * 10_000),
    ],
)
def test_nothing_else_is_unanswerable(answer: str) -> None:
    assert not unanswerable(answer)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_earns_nothing(text: str) -> None:
    for verdict in (
        exact(text, ["Velburg"]),
        f1(text, ["Velburg"]),
        number(text, 12, ["m"]),
        names(text, ENTITIES),
    ):
        assert verdict.score == 0.0
        assert verdict.status in (Status.WRONG, Status.UNPARSABLE)
    assert not unanswerable(text)


@SETTINGS
@given(text=st.text(max_size=60))
def test_any_text_gets_a_verdict_and_is_its_own_answer(text: str) -> None:
    for verdict in (number(text, 7), names(text, ENTITIES), f1(text, ["Velburg 9"])):
        assert 0.0 <= verdict.score <= 1.0
    if retrieval.normal(text):
        assert exact(text, [text]).score == 1.0
        assert f1(text, [text]).score == 1.0
    else:
        assert exact(text, ["Velburg"]).status is Status.UNPARSABLE


def test_the_limit_of_length_is_a_limit_for_all() -> None:
    longest = "Velburg".ljust(retrieval.MAX_CHARACTERS)
    assert exact(longest, ["Velburg"]).score == 1.0
    assert names(longest, [["Velburg"]]).score == 1.0
    for verdict in (
        exact(longest + " ", ["Velburg"]),
        f1(longest + " ", ["Velburg"]),
        names(longest + " ", [["Velburg"]]),
        number("7".ljust(retrieval.MAX_CHARACTERS + 1), 7),
    ):
        assert verdict.status is Status.UNPARSABLE
        assert "10,000" in verdict.detail


def test_a_problem_that_nobody_could_answer_is_refused() -> None:
    for check in (exact, f1):
        with pytest.raises(ConfigError, match="no accepted answer"):
            check("x", ["!", ""])
        with pytest.raises(ConfigError, match="list of accepted answers"):
            check("x", "xyz")
    with pytest.raises(ConfigError, match="no accepted answer"):
        names("x", [["x"], []])
    with pytest.raises(ConfigError, match="at least one"):
        names("x", [])
