"""Functions as programs that read and write JSON: what is written, what is read, what is right."""

import json
import math

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.verdict import Status
from rlvr_envs.verifiers.program import Call, Match, judge_json
from rlvr_envs.verifiers.program_json import NotJson, read_line, to_line

EQUAL = Match(as_python=True)


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ((1, [2.5, None]), "[1, [2.5, null]]"),
        ({"ä": (True, "a\nb")}, '{"ä": [true, "a\\nb"]}'),
        (10**30, "1" + "0" * 30),
        ((), "[]"),
    ],
)
def test_plain_data_is_one_line(value, line):
    assert to_line(value) == line


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({1}, "a set"),
        ([b"x"], "a bytes"),
        ((1j,), "a complex"),
        ([[math.nan]], "the float nan"),
        (-math.inf, "the float -inf"),
        ([{1: 2}], "a key that is no text"),
        ("\ud800", "surrogates not allowed"),
        ([10**5000], "digits"),
    ],
)
def test_what_json_lacks_is_refused(value, told):
    with pytest.raises(NotJson, match=told):
        to_line(value)


def test_an_output_is_read_as_json():
    assert read_line(' [1, 2.0, {"a": null}]\r\n') == [1, 2.0, {"a": None}]
    assert read_line("1e3") == 1000.0
    with pytest.raises(NotJson, match="more than one line"):
        read_line("[1,\n2]")


@pytest.mark.parametrize(
    "output",
    ["", "NaN", "-Infinity", "1 2", "[1", "True", "'a'", "\ufeff1", '{"a": 1, "a": 1}', "9" * 5000,
     "[" * 100_000, "\x001"],
)  # fmt: skip
def test_what_is_no_json_is_told_without_the_output(output):
    with pytest.raises(NotJson, match=r"^the output is no JSON value$"):
        read_line(output)


def judged(source, *calls, **options):
    return judge_json(source, "python", calls, **options)


def prints(value):
    return f"import json\nprint(json.dumps({value!r}))"


def test_a_program_gets_the_arguments_and_is_judged_by_its_result():
    calls = [Call(([1, 2], "ä"), [2, 1, "ä"]), Call(([], ""), [""])]
    right = "import json\nxs, s = json.loads(input())\nprint(json.dumps(xs[::-1] + [s]))"
    assert judged(right, *calls).score == 1.0
    assert judged(right.replace("[::-1]", ""), *calls).status is Status.WRONG
    half = judged(right.replace("[::-1]", ""), *calls, reward="fraction")
    assert (half.score, half.status) == (0.5, Status.PARTIAL)
    assert judged(f"{right}\nprint()", *calls).score == 1.0
    assert judged(f"print('debug')\n{right}", *calls).detail.startswith("the output has more")
    assert judged("", *calls).status is Status.WRONG


@pytest.mark.parametrize(
    ("expected", "match", "right", "wrong"),
    [
        (2, EQUAL, [2, 2.0], [3, "2", [2], None]),
        (0.1 + 0.2, EQUAL, [0.30000000000000004], [0.3]),
        (1.5, Match(as_python=True, abs_tol=0.01), [1.505, 1.5], [1.52, "1.5"]),
        (100.0, Match(as_python=True, rel_tol=0.1), [91, 109.5], [111]),
        ((1, (2,)), EQUAL, [[1, [2]], [1.0, [2]]], [[1, 2], [1, [2], []], {"0": 1}]),
        ({"a": [1]}, EQUAL, [{"a": [1]}], [{"a": 1}, {"a": [1], "b": 2}, [["a", [1]]]]),
        (True, EQUAL, [True, 1], [False, "true"]),
        (True, Match(), [True], [1, 1.0]),
        (True, Match(as_python=True, truth=True), [True, 7, "a", [0]], [0, "", None, []]),
        (None, EQUAL, [None], [False, 0, ""]),
        ("1", EQUAL, ["1"], [1]),
        (10**20, EQUAL, [10**20], [10**20 + 1]),
    ],
)
def test_results_are_compared_as_values(expected, match, right, wrong):
    call = Call((), expected, match)
    assert [judged(prints(value), call).score for value in right] == [1.0] * len(right)
    assert [judged(prints(value), call).score for value in wrong] == [0.0] * len(wrong)


def test_nothing_of_the_tests_enters_the_process_or_the_detail():
    secret = "3141592653"
    call = Call((1,), [secret])
    looks = (
        "import os, sys\nfrom pathlib import Path\n"
        "told = [sys.stdin.read(), str(sys.argv), str(os.environ)]\n"
        "told += [p.read_text() for p in Path('.').iterdir() if p.is_file()]\n"
        f"print(str({secret[::-1]!r}[::-1] in ''.join(told)).lower())"
    )
    assert judged(looks, Call((1,), False)).score == 1.0
    for answer in (looks, prints([secret + "0"]), "print('[')", "print('\\xff')"):
        verdict = judged(answer, call)
        assert (verdict.score, secret in verdict.detail) == (0.0, False)


def test_a_long_result_fits():
    source = "import json\nprint(json.dumps(list(range(json.loads(input())[0]))))"
    assert judged(source, Call((60_000,), list(range(60_000)))).score == 1.0
    assert len(json.dumps(list(range(60_000)))) > 1 << 17


def test_tests_that_cannot_be_written_as_json_are_refused():
    with pytest.raises(ConfigError, match="no tests"):
        judged("print(1)")
    for call in (Call(({1},), 1), Call((), {1: 2}), Call((math.inf,), 1)):
        with pytest.raises(ConfigError, match="cannot be written as JSON"):
            judged("print(1)", call)
