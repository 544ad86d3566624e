"""Markup around words: what is taken away, what stays, and time that stays linear."""

import pytest

from rlvr_envs.verifiers import parse
from rlvr_envs.verifiers.markup import hyphened, unmarked


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (r"\text{Ann}, \text{Bob}", "Ann, Bob"),
        (r"\text{Ann, Bob}", "Ann, Bob"),
        (r"\mathrm{A}\,\textbf{B}\quad{}C", "A B {}C"),
        (r"$\{Ann, Bob\}$", "{Ann, Bob}"),
        (r"\(Ann\)", "Ann"),
        ("**Ann**", "Ann"),
        ("`Ann`", "Ann"),
        ("```\nAnn\nBob\n```", "Ann\nBob"),
        ("```text\nAnn\n```", "Ann"),
        (" Ann ", "Ann"),
    ],
)
def test_markup_is_taken_away(text, plain):
    assert unmarked(text) == plain


@pytest.mark.parametrize(
    "text",
    [
        "Ann$",
        "$Ann",
        "$",
        "$$",
        "**",
        "```Ann```",
        r"\textual{Ann}",
        r"\text{Ann",
        r"\quadrant",
        r"\boxed{Ann}",
        "(Ann)",
    ],
)
def test_other_text_stays(text):
    assert unmarked(text) == text


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        (r"\{\text{Ann}, \text{Bob}\}", ["Ann", "Bob"]),
        ("Ann, Bob.", ["Ann", "Bob"]),
        ("(Ann, Bob).", ["Ann", "Bob"]),
        ("Ann, Bob..", ["Ann", "Bob.."]),
        (".", []),
    ],
)
def test_words_are_read_without_it(text, pieces):
    assert parse.words(text) == pieces


@pytest.mark.parametrize(
    "piece", [r"\text{", "$", "```\n", "```\n   ", "\\", r"\{", "**", r"\quad"]
)
def test_much_of_it_is_still_no_word(piece):
    assert unmarked(piece * 30_000) != "Ann"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("1\u20132, 1 \u2212 3", "1-2, 1-3"),
        ("1 - 2\n-3", "1-2\n-3"),
        ("1 -> 2, 2 → 3, a => b", "1->2, 2→3, a => b"),
        ("no dash", "no dash"),
    ],
)
def test_hyphens(text, plain):
    assert hyphened(text) == plain


def test_many_blanks_and_hyphens_take_linear_time():
    assert len(hyphened(" " * 50_000 + "-" * 50_000)) == 100_000
    assert len(hyphened("a" + " - " * 30_000)) == 30_002
