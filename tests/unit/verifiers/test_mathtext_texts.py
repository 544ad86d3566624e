"""From text to typed answers: spelling, tokens, labels, names and regions, rule by rule."""

from fractions import Fraction

import pytest

from rlvr_envs.verifiers.mathtext import forms, lexer, normalise, reader, regions, relations
from rlvr_envs.verifiers.mathtext.gold import MAX_GOLD, compile_gold
from rlvr_envs.verifiers.mathtext.lexer import MAX_TOKENS, Unreadable, tokens
from rlvr_envs.verifiers.mathtext.reader import read
from rlvr_envs.verifiers.mathtext.values import (
    BaseN,
    Braces,
    Chain,
    Combined,
    Grid,
    Group,
    Listing,
    Opaque,
    Ratio,
    Scalar,
    Text,
    Value,
)
from rlvr_envs.verifiers.symbolic import judge_math, verify_math


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("$x$", "x"),
        ("$$x$$", "x"),
        (r"\(x\)", "x"),
        (r"\[x\]", "x"),
        ("**5**", "5"),
        ("`5`", "5"),
        ("**$5$**.", "5"),
        (" 5 ; ", "5"),
        ("$a$ and $b$", "$a$ and $b$"),
        ("$$", "$$"),
        ("$", "$"),
        ("****", "****"),
        (r"5\,", r"5\,"),
    ],
)
def test_delimiters_around_an_answer_are_dropped(text: str, bare: str) -> None:
    assert normalise.unwrap(text) == bare


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"0.\overline{3}", Fraction(1, 3)),
        (r"0.1\overline{6}", Fraction(1, 6)),
        (r"2.\overline{45}", Fraction(27, 11)),
        (r"1.2\overline{9}", Fraction(13, 10)),
        (r"12.34\overline{567}", Fraction(1234567 - 1234, 99900)),
        ("1,234", Fraction(1234)),
        ("12 345 678", Fraction(12345678)),
        ("¾", Fraction(3, 4)),
        ("= 5", Fraction(5)),
        ("Answer: 5", Fraction(5)),
        ("٢½", None),
    ],
)
def test_numbers_in_other_spellings(text: str, value: Fraction | None) -> None:
    found = read(text)
    number = getattr(found.expr, "value", None) if isinstance(found, Scalar) else None
    assert number == value


@pytest.mark.parametrize(
    ("text", "parts", "rest"),
    [
        (r"12 \pmod{13}", ("12", 13), "12"),
        (r"12 \pmod{12}", ("12", 12), r"12 \pmod{12}"),  # no residue: 12 is not below 12
        (r"3, 14 \pmod{13}", ("3, 14", 13), r"3, 14 \pmod{13}"),
        ("3, 4 (mod 13)", ("3, 4", 13), "3, 4"),
        (r"$4, \quad (\text{mod } 13)$.", ("$4", 13), "$4"),
        ("12 mod 13 + 1", None, "12 mod 13 + 1"),
        ("12", None, "12"),
    ],
)
def test_a_modulus_names_the_residue(text: str, parts: tuple[str, int] | None, rest: str) -> None:
    assert normalise.split_modulus(text) == parts
    assert normalise.drop_modulus(text) == rest


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("1,234", "1234"),
        ("1,234,567", "1234567"),
        ("1,234 and 5,678", "1234 and 5678"),
        ("1,23", "1,23"),
        ("1234,567", "1234,567"),
        ("0,123", "0,123"),
        ("(1,234)", "(1,234)"),
        ("[1,234", "[1,234"),
        (r"\{1,234", r"\{1,234"),
        ("1,234 & 5", "1,234 & 5"),
    ],
)
def test_commas_group_thousands_outside_brackets(text: str, joined: str) -> None:
    assert normalise.join_thousands(text) == joined


def test_decimal_commas_stand_alone() -> None:
    assert normalise.read_decimal_comma("3,14") == "3.14"
    assert normalise.read_decimal_comma("-3,14") == "-3.14"
    for kept in ("1,2,3", "x = 3,14", "3.14", ","):
        assert normalise.read_decimal_comma(kept) == kept


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ab", [("sym", "a"), ("sym", "b")]),
        ("abcd", [("sym", letter) for letter in "abcd"]),
        ("abcde", [("text", "abcde")]),  # five letters are a word
        ("5 ft", [("num", "5"), ("text", "ft")]),
        ("x ft", [("sym", "x"), ("sym", "f"), ("sym", "t")]),
        ("5 ft lb", [("num", "5"), ("text", "ft"), ("text", "lb")]),
        ("sinx", [("fun", "sin"), ("sym", "x")]),
        ("arcsinx", [("fun", "arcsin"), ("sym", "x")]),
        ("tg x", [("fun", "tan"), ("sym", "x")]),
        ("e i oo", [("const", "e"), ("const", "i"), ("const", "oo")]),
        ("x + const", [("sym", "x"), ("op", "+"), ("sym", "C")]),
        (r"x + \text{constant}", [("sym", "x"), ("op", "+"), ("sym", "C")]),
        (r"x \text{constant}", [("sym", "x"), ("text", "constant")]),
        (r"\text{}x", [("sym", "x")]),
        (r"\text{ 1,234 }", [("num", "1234")]),
        (r"\text{12 apples}", [("num", "12"), ("text", "apples")]),
        (r"x \text{ or } y", [("sym", "x"), ("op", "or"), ("sym", "y")]),
        (r"x \text{, and } y", [("sym", "x"), ("op", "and"), ("sym", "y")]),
        (r"\boxed{x+1}", [("sym", "x"), ("op", "+"), ("num", "1")]),
        (r"\vec{v}", [("sym", "vec v")]),
        (r"\mathbf{v}", [("sym", "v")]),
        (r"\mathbf{vw}", [("text", "vw")]),
        (r"\mathrm{i}", [("const", "i")]),
        (r"\text{i}", [("text", "i")]),
        (r"\mathrm{e}", [("const", "e")]),
        (r"\operatorname{lcm}", [("fun", "lcm")]),
        (r"\text{a {b} c}d", [("text", "a {b} c"), ("sym", "d")]),
        (r"\text a b", [("text", "a"), ("sym", "b")]),
        ("a**2;", [("sym", "a"), ("op", "^"), ("num", "2"), ("op", ";")]),
        ("1.5e3x", [("num", "1.5e3"), ("sym", "x")]),
        ("2e", [("num", "2"), ("const", "e")]),
    ],
)  # fmt: skip
def test_tokens(text: str, found: list[tuple[str, str]]) -> None:
    assert [(token.kind, token.text) for token in tokens(text)] == found


def test_tokens_know_the_space_before_them() -> None:
    assert [token.spaced for token in tokens("a bc d + 1")] == [
        False,
        True,
        False,
        True,
        True,
        True,
    ]
    assert [token.spaced for token in tokens(r"a \pi\pi \vec v")] == [False, True, False, True]


def test_as_many_tokens_as_the_limit() -> None:
    assert len(tokens("+" * MAX_TOKENS)) == MAX_TOKENS
    for text in ("+" * (MAX_TOKENS + 1), '"', "?", "@", "#", "`", r"\begin x", r"\text{a{b}"):
        with pytest.raises(Unreadable):
            tokens(text)


def test_arguments_of_commands_end_at_their_brace() -> None:
    assert lexer._argument("  {ab{c}d}e", 0) == ("ab{c}d", 10)
    assert lexer._argument("xyz", 1) == ("y", 2)
    assert lexer._argument("xyz", 3) == ("", 4)


@pytest.mark.parametrize(
    ("text", "based"),
    [
        ("101_2", BaseN("101", 2)),
        ("Z_{36}", None),
        ("1F_{36}", BaseN("1F", 36)),
        ("1F_{37}", None),
        ("0_1", None),
        ("2_2", None),
        ("007_8", BaseN("7", 8)),
        ("000_8", BaseN("0", 8)),
        ("-12_3", BaseN("-12", 3)),
        (r"12_{\text{base 3}}", BaseN("12", 3)),
        ("12 base 3", BaseN("12", 3)),
        ("12 in base-3", BaseN("12", 3)),
        ("12", None),
    ],
)
def test_digits_and_their_base(text: str, based: BaseN | None) -> None:
    assert reader.read_base(text) == based


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("x=1", 1),
        ("f(a=1)=2", 6),
        ("{a=1}[b=2](c=3)", 0),
        ("x:=1", 0),
        ("x<=1", 0),
        ("x>=1", 0),
        ("x!=1", 0),
        ("x==1", 0),
        ("x=y=1", 1),
        ("=1", 0),
        ("x", 0),
    ],
)
def test_the_first_equality_outside_of_brackets(text: str, place: int) -> None:
    assert reader._first_equality(text) == place


def test_letters_that_must_be_choices() -> None:
    found = {text: reader.read_declared_choice(text) for text in ("b", "(b)", " b. ", "B", "bc")}
    assert found == {"b": "B", "(b)": "B", " b. ": "B", "B": "B", "bc": None}


@pytest.mark.parametrize(
    ("text", "name", "content"),
    [
        ("x = 3", "x", "3"),
        ("3 = x", "x", "3"),
        ("f(x) = x + 1", "f(x)", "x + 1"),
        ("(x, y) = (1, 2)", "(x, y)", "(1, 2)"),
        ("AB = 5", "AB", "5"),
        ("|AB| = 5", "|AB|", "5"),
        (r"x \in [1, 2]", "x", "[1, 2]"),
    ],
)
def test_a_value_is_given_to_a_name(text: str, name: str, content: str) -> None:
    assert forms.assignment(read(text)) == forms.Assigned(read(name), read(content))


@pytest.mark.parametrize(
    "text",
    ["x = x + 1", "2x = 3", "x < 3", "x = y = 3", "f(x) = f(x) + 1", "x^2 = 4", "3", r"3 \in [1, 2]",
     r"\pm x = 3", "ab = 5"],
)  # fmt: skip
def test_what_gives_no_value_to_a_name(text: str) -> None:
    assert forms.assignment(read(text)) is None


def test_records_have_as_many_values_as_names() -> None:
    def texts(*words: str) -> tuple[Value, ...]:
        return tuple(map(read, words))

    point = (texts("x", "y"), texts("1", "2"))
    assert forms.record(read("(x, y) = (1, 2)")) == point
    assert forms.record(read("x = 1, y = 2")) == point
    for text in (
        "(x, y) = (1, 2, 3)", "(x, y) = 1", "x = (1, 2)", "x = 1, x = 2", "x = 1, 2", "5",
    ):  # fmt: skip
        assert forms.record(read(text)) is None


def test_names_that_repeat_in_turn() -> None:
    p, q, r = (read(name) for name in "pqr")
    assert forms._period([p, q, p, q]) == 2
    assert forms._period([p, q, r] * 3) == 3
    for keys in ([p, p], [p, q], [p, q, p], [p, q, q, p], [p, q, p, None], [p, q, p, q, p]):
        assert forms._period(keys) == 0


@pytest.mark.parametrize(
    ("text", "settled"),
    [
        ("x = 1 + 1 = 2", "x = 2"),
        ("1 + 1 = 2", "2"),
        ("1 + 1 = 3", None),
        ("x = 1 + 1 = 3", None),
        (r"\pi \approx 3.14", r"\pi"),
        (r"\pi \approx 3.2", None),
        (r"x \approx 3.14", "x = 3.14"),
        (r"x = \pi \approx 3.14", r"x = \pi"),
        (r"x = 1 \pm 2", "x = 3, x = -1"),
        ("x = 1, x = 2", "1, 2"),
        ("k, k \\in \\mathbb{Z}", "k"),
    ],
)
def test_chains_are_settled(text: str, settled: str | None) -> None:
    found = forms.settle(read(text))
    if settled is None:
        assert isinstance(found, Opaque)
        assert found.final
    else:
        assert judge_math(settled, text).score == 1.0


@pytest.mark.parametrize(
    ("text", "settled"),
    [
        ("x = 1, x = 2", "1, 2"),
        ("x = 1 or x = 2", "1 or 2"),
        ("x = 1, 2", "1, 2"),
        ("1, 2; 3, 4", "1, 2, 3, 4"),
        ("x = 1, y = 2; x = 3, y = 4", "x = 1, y = 2; x = 3, y = 4"),
        ("x = 1, y = 2, x = 3, y = 4", "x = 1, y = 2; x = 3, y = 4"),
        ("x = 1, y = 2", "x = 1, y = 2"),
        (r"\pm 1, 5", "1, -1, 5"),
        (r"2 + k, k \in \mathbb{Z}", "2 + k"),
    ],
)
def test_lists_are_settled(text: str, settled: str) -> None:
    found, expected = forms.settle(read(text)), read(settled)
    if isinstance(found, Listing) and isinstance(expected, Listing):
        assert found.items == expected.items
    else:
        assert found == expected


@pytest.mark.parametrize(
    ("text", "kind", "done"),
    [
        ("42", "integer", True),
        ("1/2", "integer", False),
        ("84/2", "integer", False),
        ("40+2", "integer", False),
        ("4:2", "integer", False),
        ("1/2", "rational", True),
        ("1/2 + 1/3", "rational", False),
        ("(1, 2)", "tuple", True),
        ("(1, 1+1)", "tuple", False),
        (r"\{1, 2+3\}", "set", False),
        (r"\begin{pmatrix} 1 & 2+3 \end{pmatrix}", "matrix", False),
        (r"\begin{pmatrix} 1 & 5 \end{pmatrix}", "matrix", True),
        ("2+1:3", "ratio", False),
        ("2:3", "ratio", True),
        ("1+1", "expression", True),
        ("x = 1", "equation", True),
        ("1", "equation", False),
        ("x < 1+1", "interval", False),
        ("x < 2", "interval", True),
        ("[1, 2] \\cup [3, 3+1]", "interval", False),
        ("[1, 2] \\cup [3, 4]", "interval", True),
        (r"\sin 1", "real", False),
    ],
)
def test_numbers_must_be_worked_out(text: str, kind: str, done: bool) -> None:
    assert forms.is_worked_out(read(text), kind, read("7")) is done


def test_a_gold_that_is_no_number_lets_functions_be() -> None:
    assert forms.is_worked_out(read(r"\sin 1"), "real", read(r"\cos 1"))
    assert not forms.is_worked_out(read(r"\sin 1"), "real", read(r"\infty"))


@pytest.mark.parametrize(
    ("text", "slope"),
    [("3x + 1", 3.0), ("-x/2", -0.5), ("5", 0.0), ("x^2", 0.0), ("|x - 3|", 0.0),
     ("x(x-1)(x-2)", 0.0), ("x y", 0.0),
     ("|x|", 0.0), ("x(x-1)(x-2)(x-5) + x", 0.0)],
)  # fmt: skip
def test_slopes_of_lines(text: str, slope: float) -> None:
    value = read(text)
    assert isinstance(value, Scalar)
    assert regions._slope(value.expr, "x") == slope


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("x + y > 1", "2x + 2y > 2", True),
        ("x + y > 1", "1 < x + y", True),
        ("x + y > 1", "-x - y < -1", True),
        ("x + y > 1", "-x - y > -1", False),
        ("x + y > 1", "x + y >= 1", False),
        ("x + y > 1", "x + y > 2", False),
        ("x + y > 1", "0 < x + y < 1", False),
        ("x + y != 1", "-x - y != -1", True),
        ("x + y != 1", "x + y != 2", False),
        ("0 < x + y < 2", "2 > x + y > 0", True),
        ("0 < x + y < 2", "0 < x + y <= 2", False),
        ("x + y > 1", "x + z > 1", False),
        ("1 > 0", "2 > 0", False),
    ],
)
def test_inequalities_in_several_unknowns(left: str, right: str, same: bool) -> None:
    gold, answer = read(left), read(right)
    assert isinstance(gold, Chain)
    assert isinstance(answer, Chain)
    assert relations.same_inequalities(gold, answer) is same


@pytest.mark.parametrize(
    ("gold", "kind", "integer"),
    [
        ("42", "integer", 42),
        ("42 cm", "number_with_unit", None),
        ("1/2", "rational", None),
        ("0.5", "real", None),
        ("4.2e1", "real", None),
        (r"\sqrt{2}", "real", None),
        ("1 + i", "complex", None),
        ("x + i", "expression", None),
        ("(1, 2)", "tuple", None),
        ("[1, 2)", "interval", None),
        ("[2, 1)", "tuple", None),
        (r"\langle 1, 2 \rangle", "tuple", None),
        ("x < 2", "interval", None),
        (r"x \in [1, 2]", "interval", None),
        ("x + y = 2", "equation", None),
        ("1, 2", "list", None),
        (r"\{1, 2\}", "set", None),
        ("B", "choice", None),
        ("J", "choice", None),
        ("K", "expression", None),
        ("2:3", "ratio", None),
        ("12_3", "base_n", None),
        ("ellipses", "text", None),
    ],
)
def test_types_of_golds(gold: str, kind: str, integer: int | None) -> None:
    found = compile_gold(gold)
    assert (found.answer_type, found.integer, found.declared) == (kind, integer, False)
    assert (found.verifiable, found.reason, found.hopeless) == (True, "", False)


def test_golds_that_cannot_be_judged_say_why() -> None:
    for text, reason in (
        ("  ", "empty"),
        ("1" + "+1" * MAX_GOLD, "longer than"),
        ("???", "no letter"),
        (r"\sum_{k} {", "braces"),
        (r"it \sum depends upon several other things", "prose"),
    ):
        found = compile_gold(text)
        assert not found.verifiable
        assert reason in found.reason
        assert isinstance(found.value, Opaque)
    assert compile_gold("1" * (MAX_GOLD + 1)).reason == f"it is longer than {MAX_GOLD} characters"
    assert "longer" not in compile_gold("1" * MAX_GOLD).reason
    declared = compile_gold("1/2", answer_type="integer")
    assert (declared.verifiable, declared.declared) == (False, True)
    assert declared.reason == "it cannot be read as integer"


@pytest.mark.parametrize(
    ("text", "answer_type", "kind"),
    [
        ("1,234", "list", Listing),
        ("5", "set", Braces),
        ("1, 2", "set", Braces),
        ("x = 5", "integer", Scalar),
        ("(1, 2)", "tuple", Group),
        (r"\begin{pmatrix}1&2\end{pmatrix}", "matrix", Grid),
        ("2/3", "ratio", Scalar),
        ("2:3", "ratio", Ratio),
        (r"[1,2]\cup[3,4]", "interval", Combined),
        ("a word", "text", Text),
    ],
)
def test_declared_types_decide_the_reading(text: str, answer_type: str, kind: type) -> None:
    found = compile_gold(text, answer_type=answer_type)
    assert isinstance(found.value, kind)
    assert (found.answer_type, found.declared) == (answer_type, True)


@pytest.mark.parametrize("space", [" ", r"\,", r"\ ", "~", "  "])
@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        (r"\cos^2(179) - 288", r"\cos^2{}179 - 288"),
        (r"3\sin^2(100) + \cos(5)", r"3\sin^2{}100 + \cos 5"),
        ("7", r"\log_2{}128"),
        (r"\frac{\ln 500}{\ln 3} + 1", r"\log_3{}500 + 1"),
        (r"2 + \frac{3}{\ln 10}\ln 300", r"2 + 3\log_{10}{}300"),
    ],
)
def test_a_number_after_an_exponent_or_an_index_is_its_own(
    gold: str, answer: str, space: str
) -> None:
    # `^2 179` is no grouping of 2179 by thousands
    assert verify_math(gold, rf"\boxed{{{answer.replace('{}', space)}}}").score == 1.0


def test_a_gold_with_thousands_separators_is_one_number() -> None:
    assert compile_gold("1,234").integer == 1234
    assert isinstance(compile_gold("1, 234").value, Listing)
    assert isinstance(compile_gold("1,234", answer_type="list").value, Listing)
