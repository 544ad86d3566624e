"""References of datasets, which may hold what answers may not."""

import pytest

from rlvr_envs.verifiers.hdl.elaborate import Netlist, Refusal, elaborate
from rlvr_envs.verifiers.hdl.interface import Port, Reference
from rlvr_envs.verifiers.hdl.judge import judge
from rlvr_envs.verifiers.hdl.source import read_source, silenced

PLAIN = "module T(input a, b, output y);\n    assign y = a & b;\nendmodule\n"
TALKING = """module T(input a, b, output y);
    assign y = a & b;
    always @(a) $display("a is %b (%0d)", a, $time);
    always_comb assert (y == (a & b)) else $error("no");
    initial begin
        $dumpfile("t.vcd");
        $dumpvars;
        #100 $finish;
    end
    // synthesis translate_off
    initial $monitor("%b", y);
    // synthesis translate_on
endmodule
"""
PORTS = (Port("a", "input"), Port("b", "input"), Port("y", "output"))


def test_an_answer_that_prints_is_refused_and_a_reference_is_not():
    refused = elaborate(TALKING, "T")
    assert isinstance(refused, Refusal)
    assert refused.stage == "forbidden"
    found = elaborate(TALKING, "T", trusted=True)
    assert isinstance(found, Netlist)
    assert found.ports == PORTS


def test_what_it_prints_changes_nothing_of_its_function():
    reference = Reference(TALKING, PORTS, top="T", trusted=True)
    assert judge(PLAIN, reference).score == 1.0
    assert judge(PLAIN.replace("&", "|"), reference).score == 0.0
    assert "line" in judge(TALKING, reference).detail  # the filter of answers still holds


def test_an_untrusted_reference_that_prints_is_our_fault():
    verdict = judge(PLAIN, Reference(TALKING, PORTS, top="T"))
    assert not verdict.scored


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('$display("a ; ) \\" b", f(x, (y)));', ";"),
        ("$finish;", ";"),
        ("$finish ;", " ;"),
        ("if (a) $stop(1); else b = c;", "if (a) ; else b = c;"),
        ("$fdisplay(32'h8000_0002,\n  a);\nb", "\n;\nb"),
        ("assign y = $signed(a) + $clog2(4);", "assign y = $signed(a) + $clog2(4);"),
        ("$display // not ( yet\n (a);", "\n;"),
        ("$finish", ""),
        ("$finish(1)(b); f(c)", "(b); f(c)"),
        ("$display(a) b (c) d", "b (c) d"),
        ("$display((a) + (b), (c)) d;", "d;"),
        ("$finish (* keep *) b (c);", "b (c);"),
        ("$display((* keep *) a) b;", "b;"),
        ("$finish // one\n /* two */ (0) // three\n ; (d)", "\n// three\n; (d)"),
        ("$display(a);$display(b);(c)", ";;(c)"),
    ],
)
def test_calls_that_print_are_cut_out_and_lines_stay(text, left):
    found = silenced(text)
    assert "".join(found.split(" ")) == "".join(left.split(" "))
    assert found.count("\n") == text.count("\n")


def test_what_grows_beyond_bounds_is_refused_from_anybody():
    bomb = "`define A(x) x x x x x x x x\n" + "".join(
        f"`define {chr(66 + n)}(x) `{chr(65 + n)}(x) `{chr(65 + n)}(x) `{chr(65 + n)}(x)\n"
        for n in range(12)
    )
    found = read_source(bomb + "module T(); wire w = `M(1); endmodule", "T", trusted=True)
    assert isinstance(found, Refusal)
    assert "grow" in found.detail


@pytest.mark.parametrize(
    ("edge", "condition", "value", "expected"),
    [
        ("posedge r", "r", "0", (("r", 1),)),
        ("negedge r", "!r", "1", (("r", 0),)),
        ("posedge r", "r", "d", ()),  # a load is no reset
    ],
)
def test_a_netlist_names_its_asynchronous_resets(edge, condition, value, expected):
    source = (
        "module T(input c, r, d, output reg q);\n"
        f"always @(posedge c or {edge}) if ({condition}) q <= {value}; else q <= ~d;\nendmodule"
    )
    found = elaborate(source, "T")
    assert isinstance(found, Netlist)
    assert found.resets == expected
    assert found.clocks == (("c", "posedge"),)


def test_a_synchronous_reset_is_a_gate_like_any_other():
    source = "module T(input c, r, d, output reg q); always @(posedge c) q <= r ? 0 : d; endmodule"
    found = elaborate(source, "T")
    assert isinstance(found, Netlist)
    assert found.resets == ()


def test_a_macro_goes_on_behind_the_end_of_a_line():
    bomb = "`define A0 a\n" + "".join(
        f"`define A{n} \\\n `A{n - 1}+`A{n - 1}+ \\\n `A{n - 1}+`A{n - 1}\n" for n in range(1, 15)
    )
    refused = read_source(bomb + "module T(input a, output y); assign y = `A14; endmodule", "T")
    assert "macros" in refused.detail
    ended = "`define A x /* so\nit */\n`define B y\nmodule T; assign `A = `B; endmodule"
    assert read_source(ended, "T").modules == ("T",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("module T;\nwire a;\x07\nendmodule", "line 2: the source has a control character"),
        ("module T;\n\n\x07\nendmodule", "line 3: the source has a control character"),
        ("\x07", "line 1: the source has a control character"),
        ("module T; wire foo; assign foo = `foo; endmodule", "line 1: `foo is neither a macro"),
        ("`define A b\nmodule T; wire b = `b; endmodule", "line 2: `b is neither a macro"),
    ],
)
def test_a_refusal_names_the_line_and_the_word(text, words):
    assert read_source(text, "T").detail.startswith(words)
