"""What both prediction tasks share: stored programs, reading of inputs, telling outputs."""

import pytest

from rlvr_envs.core.errors import RowError
from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.programs.json_text import program_text, read_program
from rlvr_envs.generators.programs.nodes import Int, Print, Program, Var
from rlvr_envs.generators.programs.random_program import random_program
from rlvr_envs.generators.programs.sample_runs import draw_execution, input_format, read_inputs

PROGRAM = Program((("a", "int"), ("xs", "list"), ("s", "str")), (), (Print((Var("a"), Var("s"))),))


@pytest.mark.parametrize("seed", range(30))
def test_programs_survive_being_stored(seed):
    program = random_program(stream("stored", seed), size=1 + seed)
    assert read_program(program_text(program)) == program


@pytest.mark.parametrize(
    "text", ["", "3", "[]", "{}", '{"Int":[3]}', '{"Program":[]}', '{"Eval":["1"]}', "[" * 9999]
)
def test_other_texts_are_no_program(text):
    with pytest.raises(RowError, match="not a stored program"):
        read_program(text)


def test_a_stored_program_that_breaks_a_rule_is_refused():
    broken = Program((), (), (Print((Var("nowhere"),)),))
    with pytest.raises(Exception, match="nowhere"):
        read_program(program_text(broken))
    assert read_program(program_text(Program((), (), (Print((Int(1),)),)))).inputs == ()


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("5\n2\n-1 1000\nabe\n", {"a": 5, "xs": [-1, 1000], "s": "abe"}),
        ("5 2 -1 1000 abe", {"a": 5, "xs": [-1, 1000], "s": "abe"}),
        ("+5\n1\n0\na", {"a": 5, "xs": [0], "s": "a"}),
        ("5\n2\n-1 1001\nabe", None),  # too large
        ("5\n0\n\nabe", None),  # an empty list
        ("5\n3\n1 2\nabe", None),  # an item is missing
        ("5\n1\n1 2\nabe", None),  # one too many
        ("5\n1\n1\nabf", None),  # another letter
        ("5\n1\n1", None),
        ("5\n1\n1\nabe\n7", None),
        ("\u0665\n1\n1\nabe", None),  # an Arabic digit
        ("5\n1\n1_0\nabe", None),
        ("1e2\n1\n1\nabe", None),
        ("9" * 5000, None),
        ("5\n33\n" + "1 " * 33 + "\nabe", None),
        ("", None),
    ],
)
def test_inputs_are_read_strictly_but_for_white_space(text, values):
    assert read_inputs(PROGRAM, text) == values


def test_the_form_of_the_input_is_told_in_order():
    lines = input_format(PROGRAM).split("\n")
    assert ["integer" in lines[0], "list" in lines[1], "letters" in lines[2]] == [True] * 3


@pytest.mark.parametrize("size", [1, 5, 15])
def test_outputs_are_told_apart(size):
    drawn = [draw_execution(stream("apart", seed), size, 5, 20) for seed in range(40)]
    assert len({run.output for run in drawn}) >= (30 if size == 1 else 38)
    assert all(len(run.output) <= 400 for run in drawn)
    assert size < 3 or all(len(run.output.split()) > 1 for run in drawn)
