"""Runs told line by line: what they say is what the interpreter does."""

import re

import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.programs.emit import EMITTED, emit, prepared_for
from rlvr_envs.generators.programs.interpret import StepLimit, interpret
from rlvr_envs.generators.programs.nodes import (
    Append,
    Assign,
    Call,
    For,
    Function,
    If,
    Int,
    Length,
    Let,
    ListOf,
    Print,
    Program,
    Return,
    SetItem,
    Var,
    While,
)
from rlvr_envs.generators.programs.random_program import MAX_STEPS, random_inputs, random_program
from rlvr_envs.generators.programs.trace import trace

_EVENT = re.compile(r"[^=<>!]+ = (.+) = ([^=]+)")


def drawn(seed, size=7):
    rng = stream("trace", seed)
    program = random_program(rng, size=size)
    return program, random_inputs(rng, program, length=4)


def events(lines):
    return [event for line in lines for event in line.removesuffix(".").split("; ")]


@pytest.mark.parametrize("seed", range(40))
def test_what_is_printed_is_the_output(seed):
    program, inputs = drawn(seed)
    lines = trace(program, inputs, max_steps=4 * MAX_STEPS)
    printed = [e.removeprefix("print").strip() for e in events(lines) if e.startswith("print")]
    assert printed == interpret(program, inputs, max_steps=MAX_STEPS).output.splitlines()


def test_calculations_are_right():
    checked = 0
    for seed in range(60):
        program, inputs = drawn(seed)
        for event in events(trace(program, inputs, max_steps=4 * MAX_STEPS)):
            found = _EVENT.fullmatch(event)
            if found and not re.search(r"\b(?!min\b|max\b)[a-z_]+\w*\(", event):
                checked += 1
                assert eval(found[1]) == eval(found[2]), event
            elif event.endswith((" is true", " is false")) and "..." not in event:
                work, _, said = event.rpartition(" is ")
                if not re.search(r"\b(?!min\b|max\b|and\b|or\b|not\b)[a-z_]+\w*\(", work):
                    checked += 1
                    assert eval(work) == (said == "true"), event
    assert checked > 500


@pytest.mark.parametrize("language", EMITTED)
def test_names_are_those_of_the_emitted_program(language):
    program, inputs = drawn(3)
    written = prepared_for(program, language)
    renamed = {
        name: inputs[old]
        for (name, _), (old, _) in zip(written.inputs, program.inputs, strict=True)
    }
    code = emit(program, language)
    for event in events(trace(written, renamed, max_steps=4 * MAX_STEPS)):
        name = re.match(r"([a-z_]\w*)(?:\[\d+\])? = ", event)
        if name:
            assert name[1] in code


def test_every_statement_is_told():
    xs, i, n = Var("xs"), Var("i"), Var("n")
    double = Function("double", (("a", "int"),), "int", (Return(Var("a") * 2),))
    program = Program(
        (("n", "int"),),
        (double,),
        (
            Let("xs", "list", ListOf((Int(1),))),
            For("i", Int(0), Int(2), (Append("xs", i + n),)),
            SetItem("xs", Int(0), Call("double", (xs[0],))),
            If((n > 5) & (xs[1].eq(0)), (Assign("n", Int(0)),), (Assign("n", n - 1),)),
            While(n > 1, (Assign("n", n // 2),)),
            Print((Length(xs), n)),
        ),
    )
    assert trace(program, {"n": 3}, max_steps=1_000) == [
        "Read n = 3.",
        "xs = [1].",
        "i = 0; append 0 + 3 to xs: [1, 3].",
        "i = 1; append 1 + 3 to xs: [1, 3, 4].",
        "double(1) gives 2; xs[0] = double(1) = 2; xs = [2, 3, 4].",
        "3 > 5 and ... is false; n = 3 - 1 = 2.",
        "2 > 1 is true; n = 2 // 2 = 1.",
        "1 > 1 is false.",
        "print 3 1.",
    ]


def test_inputs_stay_as_they_are_and_long_runs_end():
    inputs = {"xs": [1, 2]}
    program = Program(
        (("xs", "list"),),
        (),
        (SetItem("xs", Int(0), Int(9)), Print((Var("xs"),))),
    )
    assert trace(program, inputs, max_steps=100)[-1] == "print 9 2."
    assert inputs == {"xs": [1, 2]}
    with pytest.raises(StepLimit):
        trace(program, inputs, max_steps=3)
