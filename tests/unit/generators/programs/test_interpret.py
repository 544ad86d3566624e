"""The meaning of programs: the interpreter, the rules that are checked, and the input format."""

import subprocess
import sys

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.generators.programs.check import check
from rlvr_envs.generators.programs.emit import EMITTED, emit, prepare
from rlvr_envs.generators.programs.interpret import IrError, StepLimit, interpret
from rlvr_envs.generators.programs.nodes import (
    MAX_INT,
    Append,
    Assign,
    Binary,
    Bool,
    Call,
    For,
    Function,
    If,
    Index,
    Int,
    Length,
    Let,
    ListOf,
    Not,
    Print,
    Program,
    Return,
    SetItem,
    Str,
    Var,
    While,
)
from rlvr_envs.generators.programs.stdin import stdin_text

xs, ys, i, n, s = map(Var, ("xs", "ys", "i", "n", "s"))


def body(*statements, inputs=(), functions=()):
    return Program(inputs, functions, statements)


def output(*statements, **inputs):
    kinds = {int: "int", str: "str", list: "list"}
    declared = tuple((name, kinds[type(value)]) for name, value in inputs.items())
    return interpret(check(body(*statements, inputs=declared)), inputs).output


def shown(expression, **inputs):
    return output(Print((expression,)), **inputs).strip()


@pytest.mark.parametrize("left", [-9, -8, -1, 0, 1, 7, 8])
@pytest.mark.parametrize("right", [-4, -3, -1, 1, 3, 5])
def test_division_rounds_down(left, right):
    assert shown(Int(left) // Int(right)) == str(left // right)
    assert shown(Int(left) % Int(right)) == str(left % right)


def test_operators_build_the_same_nodes_as_their_names():
    less = Binary("<", Binary("*", Binary("+", n, Int(1)), Int(2)), n)
    assert ((n + 1) * 2 < n) == less
    assert xs[n].eq("a") == Binary("==", Index(xs, n), Str("a"))
    assert ~((n > 1) | (n <= 0)) == Not(
        Binary("or", Binary(">", n, Int(1)), Binary("<=", n, Int(0)))
    )
    with pytest.raises(TypeError):
        list(xs)


def test_and_or_do_not_look_further_than_they_must():
    never = (Int(1) // n).eq(0)
    guarded = If(n.ne(0) & never, (Print((Int(1),)),), (Print((Int(2),)),))
    assert output(guarded, n=0) == "2\n"
    assert output(If(n.eq(0) | never, (Print((Int(3),)),)), n=0) == "3\n"


def test_lists_are_values():
    printed = output(
        Let("ys", "list", xs), Append("ys", Int(9)), SetItem("ys", Int(0), Int(5)),
        Print((xs,)), Print((ys,)), xs=[1, 2],
    )  # fmt: skip
    assert printed == "1 2\n5 2 9\n"


def test_bounds_of_a_loop_are_found_once():
    growing = For("i", Int(0), Length(xs), (Append("xs", xs[i] + 1),))
    assert output(growing, Print((xs,)), xs=[1, 2]) == "1 2 2 3\n"


def test_an_empty_list_prints_an_empty_line():
    assert output(Print((xs,)), xs=[]) == "\n"
    assert output(Print((s, Length(xs), Binary("concat", s[1], s))), s="ab c", xs=[]) == (
        "ab c 0 bab c\n"
    )


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        (Print((Int(1) // n,)), "1 // 0"),
        (Print((Int(1) % n,)), "1 % 0"),
        (Print((xs[n],)), "outside"),
        (Print((xs[n - 1],)), "outside"),
        (SetItem("xs", Int(0), n), "outside"),
        (Print((Int(MAX_INT) + 1,)), "range of integers"),
        (Print((Int(MAX_INT) * -2,)), "range of integers"),
        (While(n.eq(0), (Assign("n", n * 2),)), "steps"),
    ],
)
def test_what_has_no_meaning_is_an_error(statement, reason):
    with pytest.raises(IrError, match=reason):
        output(statement, n=0, xs=[])


def test_endless_recursion_is_an_error():
    call = Call("f", (n,))
    looping = Function("f", (("n", "int"),), "int", (Return(call),))
    with pytest.raises(IrError, match="deep"):
        interpret(body(Print((call,)), inputs=(("n", "int"),), functions=(looping,)), {"n": 1})


def test_steps_are_counted_and_limited():
    program = body(For("i", Int(0), Int(10), (Print((i,)),)))
    steps = interpret(program, {}).steps
    assert steps > 30
    assert interpret(program, {}, max_steps=steps).output.startswith("0\n1\n")
    with pytest.raises(StepLimit):
        interpret(program, {}, max_steps=steps - 1)


def function(*statements, params=(("n", "int"),), returns="int"):
    return body(
        Print((Call("f", (Int(1),)),)), functions=(Function("f", params, returns, statements),)
    )


@pytest.mark.parametrize(
    "program",
    [
        body(Print((n,))),
        body(Let("n", "int", Bool(True))),
        body(Let("n", "int", Int(1)), Let("n", "int", Int(2))),
        body(If(Int(1) < 2, (Let("n", "int", Int(1)),)), Print((n,))),
        body(Assign("n", Int(1))),
        body(Let("N", "int", Int(1))),
        body(Let("n_", "int", Int(1))),
        body(Let("n", "int", Int(MAX_INT + 1))),
        body(Let("s", "str", Str("ä"))),
        body(Let("xs", "list", ListOf()), Print((xs, Int(1)))),
        body(Let("xs", "list", ListOf()), Print((xs.eq(xs),))),
        body(Print((Bool(True),))),
        body(Print(())),
        body(Print((Str("a") < "b",))),
        body(If(Str("a") < "b", ())),
        body(If(Int(1).eq("b"), ())),
        body(Print((Length(ListOf()),))),
        body(Return(Int(1))),
        body(For("i", Int(0), Int(3), (Assign("i", Int(1)),))),
        body(For("i", Int(0), Int(3), (For("i", Int(0), Int(3), ()),))),
        body(Append("xs", Int(1)), inputs=(("xs", "int"),)),
        body(inputs=(("b", "bool"),)),
        body(Print((Call("f", ()),))),
        function(Print((n,)), Return(n)),
        function(Assign("n", Int(2)), Return(n)),
        function(If(n > 0, (Return(n),))),
        function(If(n > 0, (Return(n),), (Return(Int(0)),)), Return(n)),
        function(Return(n), Return(n)),
        function(Return(n), returns="bool"),
        function(Return(Int(1)), params=()),
        function(Return(Int(1)), params=(("xs", "list"),)),
    ],
    ids=repr,
)
def test_broken_rules_are_found(program):
    with pytest.raises(IrError):
        check(program)


def test_input_format():
    program = body(inputs=(("n", "int"), ("s", "str"), ("xs", "list"), ("ys", "list")))
    given = {"n": -3, "s": "a b", "xs": [1, -2], "ys": []}
    assert stdin_text(program, given) == "-3\na b\n2\n1 -2\n0\n\n"
    for text in ("", " a", "a\nb", "ü"):
        with pytest.raises(IrError):
            stdin_text(program, {**given, "s": text})
    with pytest.raises(IrError, match="missing"):
        stdin_text(program, {"n": 1})


def test_prepared_programs_name_nothing_reserved_and_hoist_changing_bounds():
    program = body(
        For("i", Int(0), Length(xs), (Append("xs", i),)), Print((xs,)), inputs=(("xs", "list"),)
    )
    prepared = prepare(program, frozenset({"xs"}))
    assert prepared.inputs == (("xs_", "list"),)
    assert prepared.body[:2] == (
        Let("bound_1", "int", Length(Var("xs_"))),
        For("i", Int(0), Var("bound_1"), (Append("xs_", i),)),
    )
    kept = prepare(program, frozenset({"xs"}), once=True)
    assert isinstance(kept.body[0], For)


def test_python_runs_what_the_interpreter_runs():
    program = body(
        Let("list", "int", n // 3),
        While(Var("list").ne(5) & Not(Var("list") > 9), (Assign("list", Var("list") + 1),)),
        Print((Var("list"), -(n - 1) - (n - (n - 2)), (n + 1) * (n % 3))),
        inputs=(("n", "int"),),
    )
    source = emit(program, "python")
    for value in (-7, 0, 15):
        ran = subprocess.run(
            [sys.executable, "-I", "-c", source], input=f"{value}\n", capture_output=True, text=True,
            check=True,
        )  # fmt: skip
        assert ran.stdout == interpret(program, {"n": value}).output


def test_unknown_languages_are_named():
    with pytest.raises(ConfigError, match="did you mean 'python'"):
        emit(body(Print((Int(1),))), "pyton")
    assert len(EMITTED) == 14
