"""Mutants: what they change, and that simulation tells most of them."""

import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.hardware.families import FAMILIES, draw_design
from rlvr_envs.generators.hardware.mutations import _changes_of, inverted, mutants, mutate
from rlvr_envs.generators.hardware.refutation import refuted
from rlvr_envs.generators.hardware.syntax import tokens
from rlvr_envs.verifiers.hdl.interface import Clocking, Port, Reference
from rlvr_envs.verifiers.hdl.judge import judge

PORTS = (
    *(Port(name, "input") for name in ("clk", "rst", "up", "hold")),
    Port("step", "input", 2),
    Port("q", "output", 4),
)
SOURCE = """module TopModule (
    input clk, input rst, input up, input hold, input [1:0] step, output reg [3:0] q
);
    // if (rst) q <= q - 1;
    wire [1:0] by = {step[1], up};
    always @(posedge clk or posedge rst) begin
        if (rst) q <= 4'd9;
        else if (up && !hold) begin
            q <= q < 4'd5 ? q + by : q - 1'd1;
        end else q <= 4'd3;
    end
endmodule
"""
REFERENCE = Reference(SOURCE, PORTS, Clocking("clk", "rst", 1, asynchronous=True))


def without_space(text):
    return [token.text for token in tokens(text)]


CHANGES = [
    ("q < 4'd5", "q <= 4'd5"),  # operator
    ("q < 4'd5", "4'd5 < q"),  # operands
    ("q + by", "q - by"),
    ("q - 1'd1", "1'd1 - q"),
    ("4'd9", "4'd8"),  # reset value
    ("(rst)", "(!(rst))"),  # reset level
    ("(rst)", "(1'b1)"),
    ("step[1]", "step[0]"),  # bit
    ("{step[1], up}", "{up, step[1]}"),  # pieces
    ("up && !hold", "up || !hold"),
    ("up && !hold", "up && hold"),  # inverter
    ("up && !hold", "up"),  # term
    ("up && !hold", "!hold"),
    ("up && !hold", "hold && !hold"),  # signal
    ("q + by", "q + step"),
    ("q + by : q - 1'd1", "q - 1'd1 : q + by"),  # choice
    (" else q <= 4'd3;", ""),  # else
    ("q <= q < 4'd5 ? q + by : q - 1'd1;", ""),  # statement
    ("posedge clk", "negedge clk"),
    (" or posedge rst", ""),
    ("wire [1:0]", "wire [0:0]"),
]


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_each_mistake_is_among_the_mutants(old, new):
    assert SOURCE.count(old) == 1 or old == "(rst)"
    place = SOURCE.rindex(old)
    changed = SOURCE[:place] + new + SOURCE[place + len(old) :]
    found = {tuple(without_space(mutant.source)): mutant for mutant in mutants(SOURCE)}
    assert tuple(without_space(changed)) in found


def test_mutants_differ_from_the_source_and_from_each_other():
    found = mutants(SOURCE)
    assert len({mutant.source for mutant in found} | {SOURCE}) == len(found) + 1
    assert all("// if (rst) q <= q - 1;" in mutant.source for mutant in found)
    assert all(mutant.description.startswith("line ") for mutant in found)
    assert all(len(mutant.description) < 200 for mutant in found)


def test_clocks_are_not_mistaken_for_data():
    said = {mutant.description.partition(": ")[2] for mutant in mutants(SOURCE)}
    assert {"up became hold", "hold became up", "by became step"} <= said
    assert not {"rst became up", "up became rst", "up became clk", "q became by"} & said


def test_most_mutants_behave_otherwise():
    found = mutants(SOURCE)[::3]
    told = [refuted(mutant.source, REFERENCE) is not None for mutant in found]
    assert sum(told) > 0.6 * len(told)


def test_drawn_mutants_are_mutants():
    every = {mutant.source for mutant in mutants(SOURCE)}
    drawn = {mutate(SOURCE, stream("mutate", number)) for number in range(60)}
    assert drawn <= every
    assert len(drawn) > 15
    assert mutate("module m; endmodule", stream("none")) is None


def test_what_is_kept_of_a_source_changes_no_draw():
    others = [SOURCE.replace("4'd9", f"4'd{value}") for value in range(8)]
    _changes_of.cache_clear()
    first = [mutate(SOURCE, stream("draw", n)) for n in range(40)]
    for other in others:
        assert mutate(other, stream("draw", 0)) != first[0]
    assert _changes_of.cache_info().currsize == _changes_of.cache_info().maxsize < len(others)
    assert [mutate(SOURCE, stream("draw", n)) for n in range(40)] == first
    before = mutants(SOURCE)
    _changes_of.cache_clear()
    assert mutants(SOURCE) == before


def test_an_equivalent_source_is_not_refuted():
    assert refuted(SOURCE.replace("q - 1'd1", "q + 4'd15"), REFERENCE) is None
    assert refuted("module TopModule(); endmodule", REFERENCE) is None


def test_a_refutation_shows_a_run_and_tells_mutants_apart():
    one, other = (
        refuted(SOURCE.replace(old, new), REFERENCE)
        for old, new in (("4'd9", "4'd8"), ("4'd3", "4'd2"))
    )
    assert "q expected" in one.trace()
    assert one.differs_from(other)
    assert not one.differs_from(one)


@pytest.mark.parametrize("family", FAMILIES[::4])
def test_an_inverted_output_is_never_right(family):
    design = draw_design(stream(family), 1, (family,))
    source = inverted(design.alternative, design.reference.ports)
    assert refuted(source, design.reference) is not None
    assert judge(source, design.reference).parts["ports"] == 1.0


def test_the_inverted_module_is_the_one_that_is_asked_for():
    source = (
        "module Part(input a, output b);\nassign b = a;\nendmodule\n"
        "module TopModule(input a, output y);\nPart part(.a(a), .b(y));\nendmodule\n"
    )
    ports = (Port("a", "input"), Port("y", "output"))
    mutant = inverted(source, ports)
    assert judge(mutant.replace("~inner", "inner"), Reference(source, ports)).score == 1.0
    assert "behaves differently" in judge(mutant, Reference(source, ports)).detail
