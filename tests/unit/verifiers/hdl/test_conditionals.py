"""Conditional compilation: what synthesis reads of a text, and what other tools would."""

import pytest

from rlvr_envs.verifiers.hdl import elaborate as elaborate_module
from rlvr_envs.verifiers.hdl.conditionals import Unbalanced, readings
from rlvr_envs.verifiers.hdl.elaborate import Netlist, elaborate, rewrite
from rlvr_envs.verifiers.hdl.source import MOST_READINGS, read_source
from rlvr_envs.verifiers.hdl.tokens import Forbidden

READ = {
    "`ifdef SYNTHESIS a `else b `endif": "a",
    "`ifndef SYNTHESIS a `else b `endif c": "b c",
    "`ifdef A a `elsif SYNTHESIS b `elsif B c `else d `endif": "b",
    "`ifdef SYNTHESIS a `elsif SYNTHESIS b `else c `endif": "a",
    "`define A\n`ifdef A a `endif": "`define A a",
    "`define A\n`undef A\n`ifdef A a `endif": "`define A `undef A",
    "`define A\n`undefineall\n`ifdef A a `endif": "`define A `undefineall",
    "`ifdef NO `define A\n`endif `ifdef A a `endif b": "b",
    "`ifdef NO `ifdef SYNTHESIS a `else b `endif `else c `endif": "c",
    "`ifdef NO `elsif NEITHER a `endif b": "b",
    "`ifdef FORMAL a `endif `ifdef DEBUG b `endif c": "c",
    "`ifdef /* so */ SYNTHESIS a `endif": "a",
    "`define A x \\\n y\n`ifdef A a `endif": "`define A x \\ y a",
    '"`ifdef" // `else': '"`ifdef" // `else',
}


@pytest.mark.parametrize("text", READ)
def test_synthesis_reads_one_branch(text):
    found = next(readings(text))
    assert found.split() == READ[text].split()
    assert len(found) == len(text)
    assert [line for line, _ in enumerate(found) if found[line] == "\n"] == [
        line for line, _ in enumerate(text) if text[line] == "\n"
    ]


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("`ifdef DEBUG a `else b `endif", []),
        ("`ifdef SYNTHESIS a `else b `endif", ["b"]),
        ("`ifdef YOSYS a `else b `endif", ["a"]),
        ("`ifdef __slang__ a `elsif YOSYS b `else c `endif", ["b", "a"]),
        ("`ifdef SYNTHESIS a `elsif __ICARUS__ b `else c `endif", ["c", "b"]),
        ("`define VERILATOR\n`ifdef VERILATOR a `else b `endif", []),
        ("`ifdef SYNTHESIS a `else a `endif", []),
    ],
)
def test_other_tools_read_what_they_define(text, others):
    first, *rest = (reading.split() for reading in readings(text))
    assert [words for words in rest if words != first] == [[other] for other in others]


@pytest.mark.parametrize(
    "text",
    ["`ifdef A", "`endif", "`else", "`ifdef A `else `else `endif", "`ifdef", "`ifdef 3 `endif"],
)
def test_conditions_have_to_fit_together(text):
    with pytest.raises(Unbalanced):
        list(readings(text))
    assert read_source(text, "T").stage == "compile"


@pytest.mark.parametrize("directive", ["`ifdef B", "`else", "`endif", "`define B", "`undef B"])
def test_a_macro_holds_no_directive(directive):
    with pytest.raises(Forbidden, match=r"line 2: .* inside a macro"):
        next(readings(f"\n`define A {directive}\n`ifdef A\n`endif"))


COUNTER = """module T(input clk, rst, output reg [3:0] q);
    always @(posedge clk) q <= rst ? 0 : q + 1;
{}endmodule
"""
HARMLESS = (
    '`ifndef SYNTHESIS\ninitial begin $dumpfile("q"); #9 $finish; end\n`endif\n',
    "`ifndef SYNTHESIS\nalways @(posedge clk) $display(q);\n`endif\n",
    "`ifdef VERILATOR\nalways @(posedge clk) assert (q < 16) else $fatal;\n`endif\n",
    "`ifdef __ICARUS__\nreg unused; always @(posedge clk) unused <= q[0];\n`endif\n",
    "`ifdef FORMAL\nreg past; initial assume (past == $past(q));\n`endif\n",
)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_part_of_the_design_may_differ(text):
    plain, found = elaborate(COUNTER.format(""), "T"), elaborate(COUNTER.format(text), "T")
    assert isinstance(found, Netlist)
    assert (found.ports, found.state_bits, found.cells) == (
        plain.ports,
        plain.state_bits,
        plain.cells,
    )


@pytest.mark.parametrize(
    "text",
    [
        "`ifndef SYNTHESIS\ninitial q = 0;\n`endif\n",
        "`ifdef __slang__\n`else\ninitial q = 3;\n`endif\n",
        "`ifdef VCS\nassign q = nobody;\n`endif\n",
        "`ifdef VERILATOR\nbad\n`endif\n",
    ],
)
def test_a_design_that_other_tools_read_otherwise_is_refused(text):
    found = elaborate(COUNTER.format(text), "T")
    assert found.detail.startswith("a tool that defines other names than SYNTHESIS reads")


@pytest.mark.parametrize(("ask", "times"), [(elaborate, 2), (rewrite, 3)])
def test_each_reading_is_synthesised_once(monkeypatch, ask, times):
    texts = []
    run = elaborate_module._run

    def counted(source, request, limits):
        texts.append(source.hardware or source.text)
        return run(source, request, limits)

    monkeypatch.setattr(elaborate_module, "_run", counted)
    found = ask(COUNTER.format(HARMLESS[3]), "T")
    assert isinstance(found, Netlist)
    assert (len(texts), len(set(texts))) == (times, 2)  # only gates are compared


def test_there_is_an_end_to_readings():
    tools = ("YOSYS", "__slang__", "VERILATOR", "VCS", "INCA")[: MOST_READINGS + 1]
    text = "".join(f"`ifdef {tool}\nwire w{tool};\n`endif\n" for tool in tools)
    assert "too many designs" in read_source(COUNTER.format(text), "T").detail
