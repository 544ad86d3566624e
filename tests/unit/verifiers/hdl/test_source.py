"""What of a source text is refused before any tool sees it, and why."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlvr_envs.verifiers.hdl.macros import ENDLESS, Macro, expanded
from rlvr_envs.verifiers.hdl.source import MOST_CHARACTERS, Refusal, Source, read_source

HEAD = "module TopModule(input [3:0] a, output [3:0] y);\n"

FORBIDDEN = {
    "print": ("initial $display(1);", "$display prints"),
    "print-formatted": ("initial $fdisplay(1, a);", "$fdisplay prints"),
    "monitor": ("initial $monitor(a);", "$monitor prints"),
    "finish": ("initial $finish;", "$finish ends a simulation"),
    "stop": ("initial $stop(1);", "$stop ends a simulation"),
    "fatal-by-macro": ('`define F $fatal\ninitial `F(1, "x");', "$fatal is a statement of its own"),
    "error-of-a-macro": ("`define C )\ninitial $error(1 `C;", "$error is a statement of its own"),
    "error-in-an-expression": ("assign y = $error(1) + 1;", "$error is a statement of its own"),
    "read-file": ('initial $readmemh("/etc/passwd", m);', "$readmemh reaches files"),
    "write-file": ('initial $writememb("/tmp/x", m);', "$writememb reaches files"),
    "open-file": ('integer f = $fopen("/tmp/x");', "$fopen reaches files"),
    "dump": ('initial $dumpfile("/tmp/x");', "$dumpfile reaches files"),
    "system": ('initial $system("id");', "$system reaches outside"),
    "plusargs": ('initial if ($test$plusargs("x")) y = 1;', "$test$plusargs reaches outside"),
    "random": ("assign y = $random;", "$random is random"),
    "urandom": ("assign y = $urandom_range(3);", "$urandom_range is random"),
    "time": ("assign y = $time;", "$time reads a simulation's time"),
    "root": ("assign y = $root.tb.gold.y;", "$root names what lies outside"),
    "past": ("assign y = $past(a);", "$past belongs to assertions"),
    "unknown-function": (
        "assign y = $frobnicate(a);",
        "$frobnicate is none of the system functions",
    ),
    "another-function": ("assign y = $cast(a);", "$cast is none of the system functions"),
    "assert-that-acts": ("always @* assert (a == 0) y = 0;", "an assertion here is"),
    "assert-or-act": ("always @* assert (a == 0) else y = 0;", "an assertion here is"),
    "assert-by-macro": ("`define A assert (1)\nalways @* `A y = 0;", "an assertion here is"),
    "assert-a-macro": ("`define C )\nalways @* assert (1 `C;", "an assertion here is"),
    "assert-property": ("assert property (@(posedge a) 1);", "an assertion here is"),
    "assume": ("assume property (@(posedge a) 1 == 0);", "assume belongs to verification"),
    "cover": ("cover property (@(posedge a) 1);", "cover belongs to verification"),
    "restrict": ("restrict property (@(posedge a) 0);", "restrict belongs to verification"),
    "sequence": ("sequence s; a; endsequence", "sequence belongs to verification"),
    "force": ("initial force tb.y = 0;", "force overrides signals"),
    "release": ("initial release tb.y;", "release overrides signals"),
    "bind": ("bind TopModule other u();", "bind puts modules into other designs"),
    "fork": ("initial fork join", "fork is for testbenches"),
    "wait": ("initial wait (a);", "wait is for testbenches"),
    "event-in-a-block": ("always begin @(posedge a); y = a; end", "an event (@) stands right"),
    "event-behind-a-delay": ("always #1 @(posedge a) y = a;", "an event (@) stands right"),
    "second-event": ("always @(posedge a) begin y = a; @a; end", "an event (@) stands right"),
    "class": ("class c; endclass", "class is for testbenches"),
    "final": ("final y = 0;", "a final block"),
    "primitive": ("primitive p(output o, input i);", "user-defined primitives"),
    "specify": ("specify endspecify", "specify describes delays"),
    "config": ("config c; endconfig", "config chooses among libraries"),
    "static": (
        "function f(input x); static reg t = 0; begin t = t ^ x; f = t; end endfunction",
        "static variables keep values",
    ),
    "tran": ("wire w; tran (w, a);", "tran joins nets in both directions"),
    "import": ('import "DPI-C" function int system(string s);', "import of a function"),
    "import-by-macro": ("`define S x\nimport `S function int f();", "import of a function"),
    "export": ('export "DPI-C" function f;', "export of a function"),
    "include": ('`include "/etc/passwd"', "`include is about files"),
    "line": ('`line 1 "x" 0', "`line is about files"),
    "file": ("assign y = `__FILE__;", "`__FILE__ is about files"),
    "pragma": ("`pragma protect begin", "`pragma is neither a macro"),
    "undefined-macro": ("assign y = `NOBODY;", "`NOBODY is neither a macro"),
    "pasting": ("`define P(x) $``x", "a backquote stands before"),
    "stringified": ('`define P(x) `"x`"', "a backquote stands before"),
    "attribute-by-macro": ("`define K keep\n(* `K *) wire q;", "an attribute is a list"),
    "attribute-in-two": ("`define O (*\n`O anyseq *) wire q;", "an attribute is a list"),
    "attribute-swallows": (
        "`define O (* keep\nalways @(*) y = a;\n`O *) wire q;",
        "an attribute is a list",
    ),
    "name-ends-in-a-backslash": ("wire \\a\\ ;", "a backslash may only"),
    "condition-in-a-macro": ("`define I `ifdef A\n`ifdef B\n`endif", "`ifdef inside a macro"),
    "name-of-a-tool": ("`define __slang__ 1", "__slang__ is a name that tools define"),
    "forget-a-tool": ("`undef SYNTHESIS", "SYNTHESIS is a name that tools define"),
    "define-nothing": ("`define \\a 1", "`define needs the name"),
    "print-in-a-simulator": (
        "`ifndef SYNTHESIS\ninteger f = $fopen(1);\n`endif",
        "$fopen reaches files",
    ),
    "three-quotes": ('localparam s = """ " """;', "a string with three quotes"),
    "string-without-end": ('localparam s = "abc\n";', "a string does not end"),
    "comment-without-end": ("/* abc", "a comment begins with"),
    "hidden-text": ("// synthesis translate_off\n// pragma translate_on", "a comment hides"),
    "hidden-text-in-a-block": ("/* synopsys translate_off */", "a comment hides"),
    "behind-a-return": ("// \r initial $finish;", "$finish ends a simulation"),
    "character": ("assign y = a × 2;", "is not in ASCII"),
    "string-character": ('localparam s = "é";', "is not in ASCII"),
    "control": ("assign y = a;\0", "a control character"),
    "backslash": ("assign y = a \\ ;", "a backslash may only end a line"),
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_forbidden_construct_has_its_own_reason(name):
    body, reason = FORBIDDEN[name]
    refusal = read_source(f"{HEAD}{body}\nassign y = a;\nendmodule\n", "TopModule")
    assert isinstance(refusal, Refusal)
    assert refusal.stage == "forbidden"
    assert reason in refusal.detail


def test_a_reason_names_its_line():
    refusal = read_source(f"/* a\nb */ {HEAD}// c\n  initial $finish;\nendmodule", "TopModule")
    assert refusal.detail.startswith("line 4: $finish")


@pytest.mark.parametrize(
    "body",
    [
        "assign y = $signed(a) >>> $clog2($bits(a));",
        "// $display(1); `include anything, assert, \\escaped, é",
        "/* initial $finish; \n * `nothing */",
        'localparam s = "$finish; // assert `x (* keep *)";',
        "always @(*) y = a; always @( * ) z = a; always @(* ) w = a;",
        "always @* (* full_case, parallel_case *) case (a) 0: y = 1; endcase",
        '(* ram_style = "block" *) reg [3:0] m [0:3];',
        "sub u(.*); sub v(.a(a), .*);",
        "import p::*; export p::x;",
        "wire asserted, forced, wait_for, my_class, bind_it, covered;",
        "`define W 4\n`ifdef SYNTHESIS\nassign y = `W'd1;\n`else\n`endif",
        "`define LONG a \\\n + a\nassign y = `LONG;",
        "`timescale 1ns/1ps\n`default_nettype none",
        "assign y = a ** 2; assign z = (a)*(a);",
        '(* keep *) wire q; (* KEEP = "TRUE", mine = 8\'d3, anyseq *) wire r;',
        'always @* assert (a == 0); always @* assert final (a) else $error("%d", (a));',
        'parameter W = 1; if (W < 1) $fatal(1, "W is %d", W); else $info;',
        "wire \\a+b , \\$assume ; assign \\a+b = \\$assume ;",
        "`ifdef FORMAL\nassume property (1); initial $finish;\n`endif",
        "`ifndef SYNTHESIS\ninitial $display(1);\n`endif",
        "bufif1 b(y, a, 1); notif0 (y, a, 1); nmos (y, a, 1);",
    ],
)
def test_what_honest_designs_have_is_let_through(body):
    source = read_source(f"{HEAD}{body}\nendmodule\n", "TopModule")
    assert isinstance(source, Source)
    assert source.modules == ("TopModule",)


def test_line_ends_are_made_plain_and_lines_are_found():
    source = read_source("\ufeffmodule TopModule;\r\n// b\rendmodule", "TopModule")
    assert source.text == "module TopModule;\n// b\nendmodule"
    assert [source.line(n) for n in (0, 1, 3, 4)] == ["", "module TopModule;", "endmodule", ""]


def test_an_empty_source_is_none():
    assert read_source("// nothing\n", "TopModule").stage == "compile"


def test_the_length_is_limited():
    refusal = read_source("/" * (MOST_CHARACTERS + 1), "TopModule")
    assert "at most 65536 are read" in refusal.detail
    assert isinstance(read_source("a" * MOST_CHARACTERS, "TopModule"), Source)


def bomb(levels: int) -> str:
    """Return macros of which each repeats the one before four times."""
    lines = ["`define A0 a"]
    lines += [f"`define A{i} `A{i - 1}+`A{i - 1}+`A{i - 1}+`A{i - 1}" for i in range(1, levels)]
    return "\n".join([*lines, f"{HEAD}assign y = `A{levels - 1};\nendmodule"])


@pytest.mark.parametrize(
    "text",
    [
        bomb(15),
        f"`define D(x) x+x+x+x\n{HEAD}assign y = {'`D(' * 12}a{')' * 12};\nendmodule",
        f"`define D(x) `E(`E(x))\n`define E(x) x+x\n{HEAD}assign y={'`D(' * 9}a{')' * 9};endmodule",
        f"`define A `B\n`define B `A\n{HEAD}assign y = `A;\nendmodule",
        "\n".join(f"`define M{i} a" for i in range(200)),
    ],
)
def test_macros_that_explode_are_refused(text):
    assert "macros" in read_source(text, "TopModule").detail


def test_macros_that_do_not_explode_are_not():
    assert isinstance(read_source(bomb(6), "TopModule"), Source)
    nested = f"`define MAX(a, b) ((a) > (b) ? (a) : (b))\n{HEAD}assign y = `MAX(a, `MAX(1, 2));"
    assert isinstance(read_source(nested + "\nendmodule", "TopModule"), Source)


def test_the_length_after_replacement_is_exact_for_plain_macros():
    macros = {"A": [Macro((), ("x", "+", "x"))], "B": [Macro((), ("`A", "*", "`A"))]}
    assert expanded(macros, ["y", "=", "`B", ";"]) == 3 + 7
    twice = {"D": [Macro.of(["(", "x", ")", "x", "+", "x"], glued=True)]}
    # Three tokens of the macro, and the argument with its parentheses for each time it stands there.
    assert expanded(twice, ["`D", "(", "a", ")"]) == 3 + 2 + 2 + 1
    assert expanded({"A": [Macro((), ("`A", "`A"))]}, ["`A"]) == ENDLESS


@given(st.text(max_size=400))
def test_any_text_is_read_or_refused(text):
    assert isinstance(read_source(text, "TopModule"), Source | Refusal)


TRICKY = st.sampled_from(
    ["(*", "*)", "(", ")", '"', "\\", "`", "`define ", "X", "`X", "$", "//", "/*", "*/", "\n", " "]
)


@given(st.lists(TRICKY, max_size=60).map("".join))
def test_any_tokens_are_read_or_refused(text):
    assert isinstance(read_source(text, "TopModule"), Source | Refusal)


@pytest.mark.parametrize("piece", ['" \\', "/*", "/* *", "(* ", "`", "\\ ", "(", "`define X ", '"'])
def test_a_long_hostile_text_comes_to_an_end(piece):
    text = (piece * MOST_CHARACTERS)[:MOST_CHARACTERS]
    assert isinstance(read_source(text, "TopModule"), Source | Refusal)
