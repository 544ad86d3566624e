"""Inputs are chosen by the mistakes that they show."""

from itertools import islice

from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.programs.interpret import interpret
from rlvr_envs.generators.programs.nodes import Assign, If, Int, Let, Print, Program, Var
from rlvr_envs.generators.programs.random_program import random_program
from rlvr_envs.generators.programs.telling_inputs import telling_inputs, varied_inputs

a, b = Var("a"), Var("b")
EDGE = Program(
    (("a", "int"), ("b", "int")),
    (),
    (Let("c", "int", Int(0)), If(a > 5, (Assign("c", b),)), Print((Var("c"),))),
)


def test_the_edge_of_a_condition_is_among_them():
    inputs = [{"a": value, "b": 3} for value in (1, 2, 9, 8, 5, 6)]
    chosen = telling_inputs(stream("edge"), EDGE, inputs)
    assert {"a": 5, "b": 3} in chosen  # tells >= from >
    assert {"a": 6, "b": 3} in chosen  # tells 6 from 5


def test_inputs_vary_and_are_safe():
    program = random_program(stream("varied"), size=6, inputs=("list", "int"))
    drawn = list(islice(varied_inputs(stream("varied"), program), 18))
    assert {len(each["xs"]) for each in drawn} >= {1, 2}
    assert max(len(each["xs"]) for each in drawn) > 10
    assert len({interpret(program, each).output for each in drawn}) > 6
