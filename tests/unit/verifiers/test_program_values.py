"""Values from the sandbox: what is read, what is refused, what agrees with what."""

import json
import math
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.verifiers.program_driver import decode
from rlvr_envs.verifiers.program_values import (
    STRICT,
    Match,
    Unreadable,
    agrees,
    read,
    read_report,
    to_text,
)

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(10**60), 10**60)
    | st.floats()
    | st.complex_numbers()
    | st.text(st.characters(), max_size=8)
    | st.binary(max_size=8)
)
keys = st.recursive(
    scalars.filter(lambda value: value == value),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3),
    max_leaves=5,
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(keys, inner, max_size=4)
        | st.sets(keys, max_size=4)
    ),
    max_leaves=12,
)


def same(left, right):
    """Equality that looks at types, written apart from `agrees`."""
    if type(left) is not type(right):
        return False
    if isinstance(left, float):
        return left == right or (math.isnan(left) and math.isnan(right))
    if isinstance(left, complex):
        return same(left.real, right.real) and same(left.imag, right.imag)
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return len(left) == len(right) and all(
            any(same(k, other) and same(left[k], right[other]) for other in right) for k in left
        )
    if isinstance(left, (set, frozenset)):
        return len(left) == len(right) and all(any(same(a, b) for b in right) for a in left)
    return left == right


@given(values)
def test_a_value_travels_there_and_back(value):
    text = to_text(value)
    assert text.isascii()
    assert "\n" not in text
    assert same(read(text), value)
    assert same(decode(json.loads(text)), value)
    assert agrees(value, read(text))
    assert read_report(f'["value", {text}]')[0] == "value"


@given(values, values)
def test_strict_agreement_is_equality_of_values_and_types(left, right):
    assert agrees(left, right) == same(left, right)


@given(values, values)
def test_agreement_as_python_is_the_equality_of_python(left, right):
    assume("nan" not in to_text([left, right]))  # Python's containers take a NaN for itself
    assert agrees(left, right, Match(as_python=True)) == (left == right)


class Int(int):
    pass


class Always:
    def __eq__(self, other):
        return True

    __hash__ = None


@pytest.mark.parametrize(
    "value", [Int(5), Always(), [Always()], {"a": Int(1)}, Fraction(1, 2), range(3), len, iter([])]
)
def test_what_is_no_plain_data_does_not_travel(value):
    with pytest.raises(ConfigError, match="plain data"):
        to_text(value)


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return value


def test_nesting_is_bounded_on_both_sides():
    assert read(to_text(nested(50))) == nested(50)
    with pytest.raises(ConfigError, match="nested"):
        to_text(nested(51))
    with pytest.raises(Unreadable):
        read(json.dumps(nested(51)))


BOMBS = {
    "depth": "[" * 100_000 + "]" * 100_000,
    "open depth": "[" * 1_000_000,
    "objects": '{"t":[' * 50_000 + "]}" * 50_000,
    "digits": "9" * 5_000,
    "some digits": "9" * 40,
    "many digits": "9" * 1_000_000,
    "hex digits": '{"i": "0x' + "f" * 400_000 + '"}',
    "not hex": '{"i": "0xfg"}',
    "underscores": '{"i": "0x1_0"}',
    "padded": '{"i": "0x00000000000005"}',
    "nan": "NaN",
    "infinity": "-Infinity",
    "float": "1.5",
    "huge float": "1e999",
    "overflowing float": '{"f": "1e999"}',
    "float of other form": '{"f": "1.50"}',
    "float of spaces": '{"f": " 1.5 "}',
    "long float": '{"f": "' + "1" * 100_000 + '"}',
    "float that is a number": '{"f": 1}',
    "two tags": '{"t": [], "s": []}',
    "twice": '{"t": [1], "t": [2]}',
    "no tag": "{}",
    "unknown tag": '{"x": []}',
    "wrong inner": '{"t": "abc"}',
    "wrong inner 2": '{"b": [1]}',
    "odd hex": '{"b": "f"}',
    "same key": '{"d": [["a", 1], ["a", 2]]}',
    "equal keys": '{"d": [[1, 1], [true, 2]]}',
    "same item": '{"s": [1, 1]}',
    "no pairs": '{"d": [1]}',
    "unhashable": '{"s": [[1]]}',
    "unhashable key": '{"d": [[[1], 1]]}',
    "complex": '{"c": ["1.0"]}',
    "empty": "",
    "two values": "1 2",
    "torn": '{"t": [1',
    "half a string": '"abc',
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_and_forms_of_their_own_are_refused(name):
    with pytest.raises(Unreadable):
        read(BOMBS[name])


def test_a_set_whose_hashes_collide_is_refused_before_it_is_built():
    # As a set, these fifty thousand would take more than a minute.
    items = [{"i": hex(k * (2**61 - 1))} for k in range(10**7, 10**7 + 50_000)]
    for data in ({"s": items}, {"d": [[item, 0] for item in items]}):
        with pytest.raises(Unreadable, match="hash"):
            read(json.dumps(data))


@pytest.mark.parametrize("text", ["5", "[]", '["value"]', '["pass", 1]', '[["value"], 1]', "null"])
def test_no_reports(text):
    with pytest.raises(Unreadable):
        read_report(text)


PYTHON = Match(as_python=True)
NEAR = Match(rel_tol=1e-6, abs_tol=1e-9)
AGREE = [
    (2.0, 2.0, STRICT),
    (0.0, -0.0, STRICT),
    (math.nan, math.nan, STRICT),
    (math.inf, math.inf, STRICT),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}, STRICT),
    ({0.0: 1}, {-0.0: 1}, STRICT),
    (1.0, 1.0000001, NEAR),
    ([1.0, {"a": (2.0,)}], [1.0000001, {"a": (2.0000001,)}], NEAR),
    (1j, 1.0000001j, NEAR),
    (1, True, PYTHON),
    (1, 1.0, PYTHON),
    ({1: 1}, {1.0: True}, PYTHON),
    ({1, 2}, frozenset({1.0, 2}), PYTHON),
    (1, 1 + 0j, PYTHON),
    ({1: "a"}, {1 + 0j: "a"}, PYTHON),
    ({2**70, 0.0}, {float(2**70), False}, PYTHON),
    (5, 5.0000001, Match(as_python=True, rel_tol=1e-6)),
    ((1, 2), [1, 2], Match(sequences_alike=True)),
    (True, [0], Match(truth=True)),
    (False, "", Match(truth=True)),
]
DISAGREE = [
    (1, True, STRICT),
    (1, 1.0, STRICT),
    (1.0, 1, STRICT),
    ([1], (1,), STRICT),
    ({1}, frozenset({1}), STRICT),
    ({1}, {True}, STRICT),
    ({1: 2}, {True: 2}, STRICT),
    ("1", 1, STRICT),
    (b"a", "a", STRICT),
    ([1, 2], [1], STRICT),
    ([1], [1, 2], STRICT),
    ([], None, STRICT),
    (0, None, STRICT),
    (1.0, math.nan, STRICT),
    (1.0, math.nan, NEAR),
    (1.0, math.inf, NEAR),
    (math.nan, 1.0, NEAR),
    (math.inf, -math.inf, NEAR),
    (math.inf, 1e308, NEAR),
    (0.0, 1e-8, NEAR),
    (1.0, 1, NEAR),
    (complex(1, math.inf), 1 + 5j, NEAR),
    ([1.0, 2.0], [1.0], NEAR),
    (2**53 + 1, float(2**53), PYTHON),
    (10**400, 1e308, PYTHON),
    (10**400, 1j, PYTHON),
    (complex(1.7e308, 1.7e308), complex(-1.7e308, 0), NEAR),
    (1.7e308, -1.7e308, NEAR),
    (2**53 + 1, complex(2**53), PYTHON),
    ([1], (1,), PYTHON),
    ("1", 1, PYTHON),
    ([1, 2], {1, 2}, PYTHON),
    (True, 0, Match(truth=True)),
]


@pytest.mark.parametrize(("expected", "got", "match"), AGREE)
def test_values_that_agree(expected, got, match):
    assert agrees(expected, got, match)


@pytest.mark.parametrize(("expected", "got", "match"), DISAGREE)
def test_values_that_do_not(expected, got, match):
    assert not agrees(expected, got, match)


@pytest.mark.parametrize("tolerance", [-1.0, math.nan, math.inf, "0"])
def test_tolerances_out_of_range_are_refused(tolerance):
    with pytest.raises(ConfigError, match="abs_tol"):
        Match(abs_tol=tolerance)


def test_a_bare_number_is_told_by_its_first_20_characters():
    with pytest.raises(Unreadable, match=r"a bare '1\.234567890123456789'$"):
        read("1.2345678901234567890123456789")
