"""Limits of what the verifiers read: the last that is accepted, and the first that is not."""

import json
import math
from fractions import Fraction

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.verdict import Status
from rlvr_envs.verifiers import exact, parse, program_output, program_values, retrieval
from rlvr_envs.verifiers.exact import MAX_BITS, TooLarge
from rlvr_envs.verifiers.grids import read_grid, read_moves, show_grid
from rlvr_envs.verifiers.markup import hyphened, unmarked
from rlvr_envs.verifiers.program_values import Match, Unreadable, agrees


def test_numbers_of_a_thousand_digits_are_read():
    limit = parse.MAX_DIGITS
    assert limit == 1_000
    assert parse.integer("-" + "9" * limit) == 1 - 10**limit
    assert parse.integer("-" + "9" * (limit + 1)) is None
    grouped = "9" + ",999" * 333
    assert parse.integer(grouped) == int("9" * 1_000)
    assert parse.integer("9" + grouped) is None
    assert parse.integer("12,345", max_digits=5) == 12345
    assert parse.integer("12,345", max_digits=3) is None
    assert parse.integer("+12", max_digits=2) == 12
    assert parse.rational(".5", max_digits=2) == Fraction(1, 2)
    assert parse.rational(".25", max_digits=2) is None
    assert parse.rational("1/34", max_digits=2) == Fraction(1, 34)
    assert parse.rational("12/345", max_digits=3) == Fraction(12, 345)
    assert parse.rational("1/2345", max_digits=3) is None
    assert parse.rational("1234/5", max_digits=3) is None
    assert parse.rational("1 / 2", max_digits=2) is None  # five characters for four
    assert parse.naturals("0, 5") == [0, 5]
    assert parse.integers("12 -34", max_digits=2) == [12, -34]
    assert parse.integers("12 345", max_digits=2) is None


def test_lists_are_as_long_as_the_caller_says():
    assert parse.integers("1 2 3", max_items=3) == [1, 2, 3]
    assert parse.integers("1 2 3", max_items=2) is None
    assert parse.words("a" * parse.MAX_CHARACTERS) == ["a" * parse.MAX_CHARACTERS]
    assert parse.words("a" * (parse.MAX_CHARACTERS + 1)) is None
    assert parse.words("a b.") == ["a", "b"]
    assert parse.words("a b..") == ["a", "b.."]
    assert parse.words("(a]") == ["(a]"]
    assert parse.words("[a b].") == ["a", "b"]
    assert parse.words(".") == []
    assert len(parse.words("1 " * 9_999 + "1") or ()) == parse.MAX_ITEMS == 10_000
    assert parse.words("1 " * 10_000 + "1") is None


def test_a_matrix_has_so_many_numbers_in_all():
    assert parse.matrix("1 2\n3 4", max_items=4) == [[1, 2], [3, 4]]
    assert parse.matrix("1 2\n3 4", max_items=3) is None
    assert parse.matrix("1\n2", max_items=1) is None
    assert parse.matrix("12 3", max_digits=1) is None
    assert parse.matrix("7") == [[7]]
    spaces = " " * (parse.MAX_CHARACTERS - 1)
    assert parse.matrix("7" + spaces) == [[7]]
    assert parse.matrix("7 " + spaces) is None


def test_grids_have_the_rows_and_columns_asked_for():
    assert read_grid("a", 1, 1, "ab") == (("a",),)
    assert read_grid("a\nb", 2, 1, "ab") == (("a",), ("b",))
    assert read_grid("ab", 1, 1, "ab") is None
    assert read_grid("ab", 1, 1, ["ab"]) == (("ab",),)
    assert read_grid("ab", 1, 2, "ab") == (("a", "b"),)
    assert read_grid("'a' \"b\"", 1, 2, "ab") == (("a", "b"),)
    assert show_grid((("a", "b"), ("b", "a"))) == "a b\nb a"
    padded = "a" + " " * (parse.MAX_CHARACTERS - 1)
    assert read_grid(padded, 1, 1, "ab") == (("a",),)
    assert read_grid(padded + " ", 1, 1, "ab") is None


def test_as_many_moves_as_the_limit():
    moves = {"U": "up", "D": "down"}
    assert read_moves("U D", moves, limit=2) == ["up", "down"]
    assert read_moves("UD", moves, limit=2) == ["up", "down"]
    assert read_moves("U D U", moves, limit=2) is None
    assert read_moves("UDU", moves, limit=2) is None
    assert read_moves("u", moves, limit=1) == ["up"]
    assert read_moves("UD", {"UD": "both", "U": "up"}, limit=1) == ["both"]
    assert read_moves("UU", {"UD": "both", "U": "up"}, limit=2) is None  # not all are one letter


def test_exact_arithmetic_goes_as_far_as_its_bits():
    most = Fraction(2**MAX_BITS - 1)
    assert exact.bits(most) == exact.bits(1 / most) == MAX_BITS
    assert exact.bits(Fraction(3, 8)) == 4
    assert exact.add(most, most) == 2 * most
    assert exact.multiply(most, most) == most * most
    for operation in (exact.add, exact.multiply):
        with pytest.raises(TooLarge):
            operation(most + 1, most)
    assert exact.power(Fraction(-2), 3) == -8
    assert exact.power(Fraction(3), MAX_BITS // 2) == 3 ** (MAX_BITS // 2)
    assert exact.power(Fraction(2, 3), -1) == Fraction(3, 2)
    with pytest.raises(TooLarge):
        exact.power(Fraction(3), MAX_BITS // 2 + 1)
    assert exact.power(Fraction(-1), -3) == -1
    assert exact.power(Fraction(1), 0) == 1
    assert exact.power(Fraction(7), 0) == 1


@pytest.mark.parametrize("degree", [2, 3, 4, 5, 6])
def test_roots_are_exact_for_degrees_to_six(degree):
    for top, bottom in ((1, 1), (2, 3), (10**9 + 7, 10**6), (0, 1)):
        assert exact.root(Fraction(top, bottom) ** degree, degree) == Fraction(top, bottom)
    assert exact.root(Fraction(2**degree + 1), degree) is None
    assert exact.root(Fraction(2**degree, 3), degree) is None
    assert exact.root(Fraction(3, 2**degree), degree) is None
    minus = exact.root(Fraction((-3) ** degree if degree % 2 else -(3**degree)), degree)
    assert minus == (-3 if degree % 2 else None)


def test_roots_factorials_and_binomials_are_bounded():
    assert exact.root(Fraction(4**999), 2) == 2**999
    assert exact.root(Fraction(4**1000), 2) is None  # 2,001 bits
    assert exact.root(Fraction(1), 1) is None
    assert exact.root(Fraction(1), 7) is None
    assert exact.factorial(Fraction(0)) == 1
    assert exact.factorial(Fraction(exact.MAX_FACTORIAL)) == math.factorial(exact.MAX_FACTORIAL)
    assert exact.binomial(Fraction(10**6), Fraction(2_000)) == math.comb(10**6, 2_000)
    assert exact.binomial(Fraction(10**6), Fraction(10**6 - 2)) == math.comb(10**6, 2)
    with pytest.raises(TooLarge):
        exact.binomial(Fraction(10**6), Fraction(2_001))
    for n, k in ((Fraction(1, 2), Fraction(1)), (Fraction(3), Fraction(1, 2)), (3, -1), (-3, 1)):
        with pytest.raises(ValueError, match="natural"):
            exact.binomial(Fraction(n), Fraction(k))
    assert exact.binomial(Fraction(0), Fraction(0)) == 1


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("$$x$$", "x"),
        ("$x$", "x"),
        (r"\(x\)", "x"),
        (r"\[x\]", "x"),
        ("**x**", "x"),
        ("$", "$"),
        ("$$", "$$"),
        ("$x", "$x"),
        ("****", "****"),
        ("** $x$ **", "$x$"),
        ("$**x**$", "x"),
        ("`x`", "x"),
        ("```go\nx\n```", "x"),
        (r"a\,b\quad c", "a b  c"),
        (r"\quadratic", r"\quadratic"),
        (r"\{\texttt{x}\}", "{x}"),
    ],
)
def test_marks_around_a_text(text, plain):
    assert unmarked(text) == plain


def test_dashes_and_arrows_join_words():
    assert hyphened("A \u2013 B") == "A-B"
    assert hyphened("A -> B, C    →    D") == "A->B, C→D"
    assert hyphened("A     - B") == "A     - B"  # four blanks at most


def test_output_tolerances_include_their_ends():
    near = program_output.floats(rel=0.0, abs=0.5)
    assert near("1.0", "1.5") == near("1.0", "0.5") == near("-1.0", "-1.5") == ""
    assert near("1.0", "1.51")
    relative = program_output.floats(rel=0.25, abs=0.0)
    assert relative("4.0", "5.0") == relative("-4.0", "-5.0") == relative("4.0", "3.0") == ""
    assert relative("4.0", "5.1")
    assert relative("3.9", "5.0")  # of the expected value
    assert program_output.floats(rel=0, abs=0)("1.0", "1.00") == ""
    long = "1." + "0" * (program_output.MAX_NUMBER - 2)
    assert program_output.floats()("1.0", long) == ""
    assert program_output.floats()("1.0", long + "0")
    assert program_output.floats()("1.5 2.5", "1.5") == "the output has too few or too many words"
    assert program_output.lines("a\n", "b\n") == program_output.WRONG == "the output is wrong"


def test_values_are_read_up_to_their_caps():
    assert program_values.read("9" * 20) == 10**20 - 1
    with pytest.raises(Unreadable, match="a long integer"):
        program_values.read("9" * 21)
    digits = "f" * (program_values.MAX_INT_HEX - 2)
    assert program_values.read(json.dumps({"i": "0x" + digits})) == int(digits, 16)
    with pytest.raises(Unreadable, match="a long integer"):
        program_values.read(json.dumps({"i": "0xf" + digits}))
    with pytest.raises(Unreadable, match="a float in a form of its own"):
        program_values.read(json.dumps({"f": "1" * 33}))
    step = 2**61 - 1  # whole numbers that far apart have one hash
    alike = [{"i": hex(step * k)} for k in range(1, program_values.MAX_COLLISIONS + 2)]
    assert len(program_values.read(json.dumps({"s": alike[:-1]}))) == 64
    with pytest.raises(Unreadable, match="too many keys of the same hash"):
        program_values.read(json.dumps({"s": alike}))
    assert program_values.read('{"d": []}') == {}
    assert program_values.read('{"d": [["a", 1]]}') == {"a": 1}
    with pytest.raises(Unreadable, match="items are no pairs"):
        program_values.read('{"d": ["ab"]}')
    assert program_values.read('{"z": [1]}') == frozenset([1])
    assert program_values.read('{"b": "0aff"}') == b"\x0a\xff"
    assert program_values.read('{"c": ["1.5", "-2.0"]}') == 1.5 - 2j
    assert program_values.read_report('["refused", 1]') == ("refused", 1)


@pytest.mark.parametrize(
    ("expected", "got", "match", "agree"),
    [
        (1.0, 1.5, Match(abs_tol=0.5), True),
        (1.0, 1.5000001, Match(abs_tol=0.5), False),
        (4.0, 5.0, Match(rel_tol=0.25), True),
        (-4.0, -5.0, Match(rel_tol=0.25), True),
        (3.9, 5.0, Match(rel_tol=0.25), False),
        (3 + 4j, 3 + 5j, Match(rel_tol=0.2), True),
        (3 + 4j, 3 + 5.1j, Match(rel_tol=0.2), False),
        (0.0, 0.5, Match(rel_tol=0.25, abs_tol=0.5), True),
        (1.0, 2.0, Match(rel_tol=1.0), True),
        ([1], (1,), Match(sequences_alike=True), True),
        ([1], "1", Match(sequences_alike=True), False),
        ([1, 2], (1,), Match(sequences_alike=True), False),
        ({(1, 2): 0}, {(2, 1): 0}, Match(), False),
        ({frozenset([1, 2]): 0}, {frozenset([2, 1]): 0}, Match(), True),
        ({1: 1.0}, {1: 1.5}, Match(abs_tol=0.5), True),
        ({1: 1.0}, {2: 1.0}, Match(abs_tol=0.5), False),
        ({1.5}, {1.5}, Match(as_python=True), True),
        ({1 + 2j}, {1.0}, Match(as_python=True), False),
        (complex(math.inf, 1), complex(math.inf, 1), Match(abs_tol=1.0), True),
        (complex(math.inf, 1), complex(math.inf, 2), Match(abs_tol=1.0), False),
        (complex(1, math.nan), complex(2, math.nan), Match(abs_tol=5.0), False),
        (10**400, 10**400, Match(as_python=True, rel_tol=0.5), True),
    ],
)
def test_what_a_match_allows(expected, got, match, agree):
    assert agrees(expected, got, match) is agree


def test_a_search_answer_is_read_up_to_its_length():
    limit = retrieval.MAX_CHARACTERS
    fits = "Vell" + " " * (limit - 4)
    assert retrieval.exact(fits, ["Vell"]).score == retrieval.f1(fits, ["Vell"]).score == 1.0
    assert retrieval.names(fits, [["Vell"]]).score == 1.0
    assert retrieval.number("7" + " " * (limit - 1), 7).score == 1.0
    for verdict in (
        retrieval.exact(fits + " ", ["Vell"]),
        retrieval.f1(fits + " ", ["Vell"]),
        retrieval.names(fits + " ", [["Vell"]]),
        retrieval.number("7" + " " * limit, 7),
    ):
        assert verdict.status is Status.UNPARSABLE
        assert "longer than" in verdict.detail


def test_a_spray_of_names_earns_nothing():
    wanted = [["Ann"], ["Ben"]]
    most = retrieval.MAX_SPRAY * len(wanted)
    others = [f"Other{n}" for n in range(most)]
    allowed = retrieval.names(", ".join(["Ann", *others[: most - 1]]), wanted)
    assert allowed.score == pytest.approx(2 / (most + 2))
    assert allowed.parts["named"] == most
    refused = retrieval.names(", ".join(["Ann", *others]), wanted)
    assert (refused.status, refused.parts["named"]) == (Status.WRONG, most + 1.0)
    with pytest.raises(ConfigError):
        retrieval.names("Ann", [])
    with pytest.raises(ConfigError):
        retrieval.names("Ann", [["!"]])
    with pytest.raises(ConfigError, match="got the text"):
        retrieval.exact("Ann", "Ann")


def test_a_form_that_two_share_stands_for_each_in_turn():
    both = [["Ann Vell", "Vell"], ["Ben Vell", "Vell"]]
    assert retrieval.names("Vell", both).parts["found"] == 1.0
    assert retrieval.names("Vell, Vell", both).score == 1.0
    assert retrieval.names("Vell, Vell, Vell", both).score == 1.0
    assert retrieval.names("Vell, Ann Vell", both).score == 1.0
    assert retrieval.names("Vell, Ben Vell", both).score == 1.0
    assert retrieval.names("Ann Vell, Ann Vell", both).parts["found"] == 1.0
