"""The effort of a writing, and the module whose outputs are always 0."""

import math

import pytest

from rlvr_envs.generators.hardware.design import silent
from rlvr_envs.generators.hardware.sizes import writing_effort
from rlvr_envs.verifiers.hdl.interface import Port, Reference
from rlvr_envs.verifiers.hdl.judge import judge

AND = """module TopModule (
    input [3:0] a,
    input [3:0] b,
    output [3:0] y
);
    assign y = a & b;
endmodule
"""


def test_effort_is_that_of_halstead_by_hand():
    # Operators: module ( input [ : input [ : output [ : ; assign = & ;, of 10 kinds.
    # Operands: TopModule 3 0 a 3 0 b 3 0 y y a b, of 6 kinds. Three words of four bits are declared.
    volume = (16 + 13) * math.log2(10 + 6)
    assert writing_effort(AND) == pytest.approx(volume * 10 / 2 * 13 / 6 * math.log2(14) / 1000)


def test_comments_count_for_nothing_and_width_for_little():
    assert writing_effort(AND.replace("assign", "// and\n    assign")) == writing_effort(AND)
    wider = writing_effort(AND.replace("3:", "31:"))
    longer = writing_effort(AND.replace("a & b", "a & b | ~a & ~b"))
    assert writing_effort(AND) < wider < longer


def test_a_text_without_operands_takes_no_effort():
    assert writing_effort("") == 0
    assert writing_effort("begin end") == 0


def test_a_silent_module_has_the_ports_and_shows_zeros():
    ports = (Port("a", "input", 4), Port("y", "output", 4), Port("z", "output"))
    zeros = (
        "module TopModule (input [3:0] a, output [3:0] y, output z);\nassign {y, z} = 0;\nendmodule"
    )
    assert judge(silent(ports), Reference(zeros, ports)).score == 1.0
    ones = zeros.replace("= 0", "= 5'h1f")
    verdict = judge(silent(ports), Reference(ones, ports))
    assert verdict.score == 0.0
    assert verdict.parts["ports"] == 1.0
