"""Styles: what is in them, what is not, and what only looks as if it were."""

from dataclasses import replace

import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.hardware.families import FAMILIES, draw_design
from rlvr_envs.generators.hardware.netlist_text import rewritten
from rlvr_envs.generators.hardware.styles import FLIP_FLOP, NAMES, flip_flop, style_of
from rlvr_envs.verifiers.hdl.interface import Clocking, Port, Reference
from rlvr_envs.verifiers.hdl.judge import judge

CLOCKING = Clocking("clk", "rst")
HEAD = "module TopModule (input clk, input rst, input a, output {}q);"
LOGIC = "module TopModule (input logic clk, input logic rst, input logic a, output logic q);"
GOOD = {
    "systemverilog": [
        f"{LOGIC} always_ff @(posedge clk) if (rst) q <= '0; else q <= 1'(a); endmodule // reg",
        f"{LOGIC} logic wire_; assign q = a; endmodule /* always wire */",
    ],
    "verilog2001": [
        f"{HEAD.format('reg ')} always @(posedge clk) q <= 1'b0 + $signed(a); endmodule // logic",
        f"{HEAD.format('')} assign q = a ? 'd1 : 4 'd2; endmodule",
    ],
    "two_blocks": [
        (
            f"{HEAD.format('reg ')} reg n; localparam Z = 1'b0;"
            " always @(*) begin n = 1'b0; if (a) n = q ^ a; case (a) 1: n = 0; endcase end"
            " always @(posedge clk) if (rst) q <= Z; else q <= n; endmodule"
        ),
        (
            f"{LOGIC} logic n; always_ff @(posedge clk or negedge rst) begin if (!rst) begin q <= 0;"
            " end else begin q <= n; end end always_comb n = a; endmodule"
        ),
    ],
    "dataflow": [
        f"{HEAD.format('')} wire n = rst ? 1'b0 : a + q; {FLIP_FLOP} f (clk, n, q); endmodule",
    ],
    "structural": [
        (
            f"{HEAD.format('')} wire n, r; not g (r, rst); assign n = ~a & r;"
            f" {FLIP_FLOP} f (.clk(clk), .d(n), .q(q)); endmodule // always @(posedge clk) q <= a;"
        ),
    ],
}
BAD = {
    "systemverilog": [
        (LOGIC + " reg n; endmodule", "reg"),
        (LOGIC + " always @(*) q = a; endmodule", "always"),
        (HEAD.format("logic ") + " assign q = a; endmodule", "without `logic`"),
        ("`define input\n" + LOGIC + " endmodule", "directive"),
        (LOGIC + " logic \\a/* ; reg n; logic \\b*/ ; endmodule", "begins with a backslash"),
        ("// logic always_ff\n" + HEAD.format("reg ") + "always @(*) q = a; endmodule", "input"),
    ],
    "verilog2001": [
        (LOGIC + " endmodule", "logic"),
        (HEAD.format("") + " assign q = 1'(a); endmodule", "`'`"),
        (HEAD.format("") + " assign q = '0; endmodule", "'0"),
        (HEAD.format("") + " assign q = a ==? 1'b1; endmodule", "==?"),
        (HEAD.format("reg ") + " always @(*) begin q = 0; q += a; end endmodule", "+="),
        (HEAD.format("reg ") + " always @(*) for (integer i=0;i<1;i=i+1) q = a; endmodule", "loop"),
        (HEAD.format("") + " assign q = $countones(a); endmodule", "countones"),
        (HEAD.format("") + " m m (.*); endmodule", "."),
        ("`ifdef X\n`endif\n" + HEAD.format("") + " endmodule", "directive"),
    ],
    "two_blocks": [
        (
            HEAD.format("reg ") + " localparam N = 1; if (N) begin : g always @(posedge clk)"
            " if (a) q <= q + 1; end endmodule",
            "within",
        ),
        (
            HEAD.format("reg ") + " reg n; always @(*) n = a; if (1) begin : g"
            " always_comb q = ~n; end endmodule",
            "within",
        ),
        (HEAD.format("reg ") + " always @(posedge clk) q <= ~a; endmodule", "computes"),
        (HEAD.format("reg ") + " always @(posedge clk) q <= {a}; endmodule", "computes"),
        (HEAD.format("reg ") + " always @(posedge clk) q = a; endmodule", "="),
        (HEAD.format("reg ") + " always_ff @(posedge clk iff a) q <= n; endmodule", "edges"),
        (HEAD.format("reg ") + " always @(posedge a) q <= n; endmodule", "edges"),
        (HEAD.format("reg ") + " always @(posedge clk) if ((rst) == n) q <= 1; endmodule", "reset"),
        (HEAD.format("reg ") + " always @(posedge clk) if (~~~~~rst == n) q <= 1; endmodule", "if"),
        (HEAD.format("reg ") + " always @(posedge clk) if (a) q <= 1; endmodule", "reset"),
        (HEAD.format("reg ") + " always @(posedge clk) if (rst & a) q <= 1; endmodule", "reset"),
        (HEAD.format("reg ") + " always @(posedge clk) q[a] <= 1; endmodule", "["),
        (
            HEAD.format("reg ") + " always @(posedge clk) case (a) 1: q <= 1; endcase endmodule",
            "case",
        ),
        (HEAD.format("") + " assign q = a; endmodule", "assign"),
        (HEAD.format("") + " wire n = a; endmodule", "value"),
        (HEAD.format("") + " and g (q, a, a); endmodule", "and"),
        (HEAD.format("reg ") + " always @(*) q = a; or g (n, a, a); endmodule", "between"),
        (
            HEAD.format("reg ") + " always @(*) q = a; always @(*) n = a; endmodule",
            "2 combinational",
        ),
        (HEAD.format("reg ") + " always @(a) q = a; endmodule", "begins"),
        (
            HEAD.format("reg ") + " always @(posedge clk) q <= n; always @(posedge clk) n <= a;"
            " endmodule",
            "2 clocked",
        ),
        (
            HEAD.format("reg ") + " always @(*) q = a; endmodule module X; endmodule",
            "more than one",
        ),
        (HEAD.format("reg ") + " always_comb begin @(posedge clk) q = a; end endmodule", "edge"),
    ],
    "dataflow": [
        (HEAD.format("reg ") + " assign q = a; endmodule", "reg"),
        (HEAD.format("logic ") + " always_comb q = a; endmodule", "always_comb"),
        (HEAD.format("") + " function f; input x; f = x; endfunction endmodule", "function"),
        (f"module {FLIP_FLOP}; endmodule " + HEAD.format("") + "endmodule", "again"),
        (
            HEAD.format("")
            + "X x(a, q); endmodule module X(input logic a); initial q=1; endmodule",
            "initial",
        ),
    ],
    "structural": [
        (HEAD.format("") + " assign q = a & a & clk; endmodule", "more than one"),
        (HEAD.format("") + " assign q = a + clk; endmodule", "+"),
        (HEAD.format("") + " assign q = a ? clk : rst; endmodule", "?"),
        (HEAD.format("") + " assign q = a == clk; endmodule", "=="),
        (HEAD.format("") + " assign q = a && clk; endmodule", "&&"),
        (HEAD.format("") + " wire n = a; endmodule", "outside"),
        (HEAD.format("") + " not (q, a & a); endmodule", "outside"),
        (HEAD.format("") + " assign q = v[a]; endmodule", "numbers"),
        (HEAD.format("") + " assign q = v[0 +: 1]; endmodule", "+:"),
        (HEAD.format("reg ") + " endmodule", "reg"),
        (HEAD.format("") + " always @(*) q = a; endmodule", "always"),
        (HEAD.format("") + " assign q = $signed(a); endmodule", "signed"),
        (HEAD.format("") + " X #(1) x(a); endmodule", "#"),
        (HEAD.format("") + " endmodule module D(input logic a); endmodule", "logic"),
        (f"module {FLIP_FLOP}(input d, output q); endmodule" + HEAD.format(""), "again"),
    ],
}


@pytest.mark.parametrize(("name", "text"), [(n, text) for n in NAMES for text in GOOD[n]])
def test_what_is_in_a_style(name, text):
    assert style_of(name).broken_by(text, CLOCKING) == ""


@pytest.mark.parametrize(("name", "text", "why"), [(n, *row) for n in NAMES for row in BAD[n]])
def test_what_breaks_a_style(name, text, why):
    found = style_of(name).broken_by(text, CLOCKING)
    assert found
    assert why in found


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ["", "always", "// module", "module", "`x module m; endmodule"])
def test_any_text_gets_an_answer(name, text):
    assert isinstance(style_of(name).broken_by(text, CLOCKING), str)
    assert style_of(name).broken_by(text, None) or text == "module"


@pytest.mark.parametrize("family", FAMILIES[::4])
@pytest.mark.parametrize("name", [name for name in NAMES if name != "dataflow"])
def test_a_netlist_can_be_written_in_every_style(family, name):
    for level in (0, 3):
        design = draw_design(stream(family, level), level, (family,))
        text = rewritten(design.reference, name)
        assert style_of(name).broken_by(text, design.clocking) == ""
        assert not style_of("dataflow").broken_by(text, design.clocking) or name != "structural"
        if style_of(name).given and design.clocking is not None:
            text += flip_flop(design.clocking)
        assert judge(text, design.reference).score == 1.0
        other = replace(design.reference, source=design.alternative)
        assert judge(text, other).score == 1.0


@pytest.mark.parametrize("active", [0, 1])
@pytest.mark.parametrize("name", ["verilog2001", "two_blocks", "structural"])
def test_registers_with_and_without_a_reset(name, active):
    clocking = Clocking("clk", "n1", active, asynchronous=True)
    ports = (
        Port("clk", "input"),
        Port("n1", "input"),
        Port("d", "input", 2),
        Port("q", "output", 3),
    )
    edge, test = ("posedge", "n1") if active else ("negedge", "!n1")
    source = (
        "module TopModule (input clk, input n1, input [1:0] d, output reg [2:0] q);\n"
        "reg held, seen; always @(posedge clk) held <= d[0];\n"
        f"always @(posedge clk or {edge} n1) if ({test}) begin q <= 3'd5; seen <= 0; end\n"
        "else begin q <= {d, seen & held}; seen <= 1; end endmodule\n"
    )
    reference = Reference(source, ports, clocking)
    text = rewritten(reference, name)
    assert style_of(name).broken_by(text, clocking) == ""
    if name == "structural":
        assert "1'b0" in text
        text += flip_flop(clocking)
    assert judge(text, reference).score == 1.0
    assert judge(text, replace(reference, source=source.replace("3'd5", "3'd4"))).score == 0.0
