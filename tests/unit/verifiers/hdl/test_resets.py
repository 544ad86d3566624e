"""Registers keep what they have where nothing assigns them: right forms pass, wrong ones fail."""

import pytest

from rlvr_envs.verifiers.hdl.interface import Clocking, Port, Reference
from rlvr_envs.verifiers.hdl.judge import judge

HEAD = "module TopModule(input clk, input rst, input d, input e, output reg q);\n"
PORTS = (*(Port(name, "input") for name in ("clk", "rst", "d", "e")), Port("q", "output"))
ASYNC = "always @(posedge clk or posedge rst)"
PLAIN = f"{ASYNC} if (rst) q <= 0; else q <= d ^ z;"


def reference(*, level=1, asynchronous=True, body="q <= d;"):
    """A register of one bit with a reset."""
    edge = f" or {'posedge' if level else 'negedge'} rst" if asynchronous else ""
    head = f"always @(posedge clk{edge}) if ({'' if level else '!'}rst) q <= 0; else "
    clocking = Clocking("clk", "rst", level, asynchronous)
    return Reference(f"{HEAD}{head}{body} endmodule", PORTS, clocking)


def judged(text, **kind):
    return judge(f"{HEAD}{text}\nendmodule", reference(**kind))


# All of them are `q <= d` with a reset: z and its like are 0 (or 1) from the reset on.
RIGHT = {
    "reset in one branch": f"reg z; {ASYNC} if (rst) begin z <= 0; q <= 0; end else q <= d ^ z;",
    "to one": f"reg z; {ASYNC} if (rst) begin z <= 1; q <= 0; end else q <= d & z;",
    "in a block of its own": f"reg z; {ASYNC} if (rst) z <= 0; {PLAIN}",
    "with an if inside": f"reg z; {ASYNC} if (rst) if (1) z <= 0; {PLAIN}",
    "with an empty else": f"reg z; {ASYNC} if (rst) z <= 0; else; {PLAIN}",
    "with an empty block": f"reg z; {ASYNC} if (rst) z <= 0; else begin end {PLAIN}",
    "assigned to itself": f"reg z; {ASYNC} if (rst) z <= 0; else z <= z; {PLAIN}",
    "other bits move": (
        f"reg [3:0] z; {ASYNC} if (rst) begin z <= 0; q <= 0; end "
        "else begin z[1] <= e; q <= d ^ z[3]; end"
    ),
    "bit by bit": (
        f"reg [3:0] z; {ASYNC} if (rst) begin z[3] <= 0; z[0] <= 1; q <= 0; end "
        "else begin z[0] <= e; q <= d ^ z[3]; end"
    ),
    "a part moves": (
        f"reg [7:0] z; {ASYNC} if (rst) begin z <= 0; q <= 0; end "
        "else begin z[e * 2 +: 2] <= {2{d}}; q <= d ^ z[7]; end"
    ),
    "several in braces": f"reg y, z; {ASYNC} if (rst) {{y, z, q}} <= 0; else q <= d ^ z;",
    "blocking": (
        f"reg [1:0] z; {ASYNC} if (rst) begin z = 0; q = 0; end "
        "else begin z[1] = d; q = z[1] ^ z[0]; end"
    ),
    "blocking in one branch": (
        f"reg [1:0] z; {ASYNC} if (rst) begin z = 0; q <= 0; end "
        "else begin z[0] <= d; q <= d ^ z[1]; end"
    ),
    "a structure": (
        "struct packed {logic a; logic b;} s; always_ff @(posedge clk, posedge rst) if (rst) begin "
        "s <= '0; q <= 0; end else begin s.a <= e; q <= d ^ s.b; end"
    ),
    "a member": (
        "struct packed {logic a; logic b;} s; always_ff @(posedge clk, posedge rst) if (rst) begin "
        "s.a <= 0; s.b <= 0; q <= 0; end else begin s.a <= e; q <= d ^ s.b; end"
    ),
    "a table in a loop": (
        f"reg [1:0] m [0:3]; integer i; {ASYNC} if (rst) begin for (i = 0; i < 4; i = i + 1) "
        "m[i] <= 0; q <= 0; end else begin m[1] <= 2; q <= d ^ m[0][1]; end"
    ),
    "steps by one": (
        f"reg [1:0] z; {ASYNC} if (rst) begin for (int i = 0; i < 2; i++) z[i] <= 0; q <= 0; end "
        "else q <= d ^ z[1];"
    ),
    "two blocks share a vector": (
        f"reg [3:0] z; integer i, j; {ASYNC} if (rst) for (i = 0; i < 2; i = i + 1) z[i] <= 0; "
        f"else z[0] <= e; {ASYNC} if (rst) begin for (j = 2; j < 4; j = j + 1) z[j] <= 0; q <= 0; "
        "end else begin z[3] <= e; q <= d ^ z[1] ^ z[2]; end"
    ),
    "two blocks share an integer": (
        f"reg [3:0] z; reg [1:0] y; integer i; {ASYNC} if (rst) for (i = 0; i < 4; i = i + 1) "
        f"z[i] <= 0; else z[0] <= e; {ASYNC} if (rst) begin for (i = 0; i < 2; i = i + 1) "
        "y[i] <= 0; q <= 0; end else q <= d ^ z[1] ^ y[1];"
    ),
    "generated blocks": (
        f"reg [3:0] z; genvar g; generate for (g = 0; g < 4; g = g + 1) begin : b reg y; {ASYNC} "
        f"if (rst) begin y <= 0; z[g] <= 0; end else z[g] <= y; end endgenerate "
        f"{PLAIN.replace('z;', 'z[2];')}"
    ),
    "a loop in generated blocks": (
        f"reg [3:0] z [0:1]; genvar g; generate for (g = 0; g < 2; g = g + 1) begin : b {ASYNC} "
        "if (rst) for (int i = 0; i < 4; i++) z[g][i] <= 0; else z[g][1] <= e; end endgenerate "
        f"{PLAIN.replace('z;', 'z[1][2];')}"
    ),
    "names of blocks": (
        f"{ASYNC} begin : m reg z; if (rst) begin : r z <= 0; q <= 0; end : r "
        "else begin : w q <= d ^ z; end : w end : m"
    ),
    "a variable of the branch": (
        f"reg z; {ASYNC} if (rst) begin : k reg t; t = 0; z <= t; q <= t; end else q <= d ^ z;"
    ),
    "a case": (
        f"reg y, z; {ASYNC} if (rst) begin z <= 0; y <= 0; q <= 0; end else case (e ? 1'b1 : 1'b0) "
        "(e ? 1'b1 : 1'b0): begin q <= d ^ z; end default: q <= d ^ y; endcase"
    ),
    "a task": (
        f"reg z; task clear; begin z <= 0; q <= 0; end endtask {ASYNC} if (rst) clear; "
        "else q <= d ^ z;"
    ),
    "a task of a task": (
        "reg z; task zero(input v); begin z <= v; end endtask "
        f"task clear; begin zero(0); q <= 0; end endtask {ASYNC} if (rst) clear; else q <= d ^ z;"
    ),
    "a function": (
        "reg z; function f(input x); begin z = 0; f = x; end endfunction "
        f"{ASYNC} if (rst) q <= f(0); else q <= d ^ z;"
    ),
    "a macro of a statement": (
        f"\n`define R(x, v = 0) x <= v;\nreg z; {ASYNC} if (rst) begin `R(z) `R(q) end "
        "else q <= d ^ z;"
    ),
    "a macro of the block": (
        f"\n`define FF {ASYNC} \\\n if (rst)\nreg z; `FF begin z <= 0; q <= 0; end else q <= d ^ z;"
    ),
    "macros of macros": (
        "\n`define SET(a, b) a <= b\n`define BOTH(x) begin `SET(x, 1'b0); `SET(q, 1'b0); end\n"
        f"reg z; {ASYNC} if (rst) `BOTH(z) else q <= d ^ z;"
    ),
    "set and reset": (
        "reg z; wire s = 0; always @(posedge clk or posedge rst or posedge s) if (rst) begin "
        "z <= 0; q <= 0; end else if (s) begin z <= 0; q <= 1; end else q <= d ^ z;"
    ),
    "delays": f"reg z; {ASYNC} if (rst) begin z <= #1 0; q <= #1 0; end else q <= #1 d ^ z;",
    "a clock of another name": (
        "reg z; wire c = clk; always @(posedge c or posedge rst) if (rst) begin z <= 0; q <= 0; "
        "end else q <= d ^ z;"
    ),
    "a module below": (
        "wire w; Sub sub(clk, rst, d, w); always @* q = w; endmodule\n"
        f"module Sub(input clk, rst, d, output reg q); reg z; {ASYNC} if (rst) begin z <= 0; "
        "q <= 0; end else q <= d ^ z;"
    ),
    "reset by a parameter": (
        f"parameter R = 0; reg y, z; {ASYNC} if (rst) begin z <= 0; q <= 0; if (R) y <= 0; end "
        "else begin y <= d; q <= d ^ z; end"
    ),
    "a latch that is reset": f"reg z; always @* if (rst) z = 0; {PLAIN}",
    "always_latch": f"reg z; always_latch if (rst) z <= 0; {PLAIN}",
    "an initial value that stays": f"reg z = 0; {PLAIN}",
    "an initial block": f"reg z; initial z = 0; {PLAIN}",
    "an initial value of one": f"reg z = 1; {ASYNC} if (rst) q <= 0; else q <= d & z;",
    "a value at first, and the same by reset": (
        f"reg z = 0; {ASYNC} if (rst) begin z <= 0; q <= 0; end else q <= d ^ z;"
    ),
    "another value at first": (
        f"reg z = 1; {ASYNC} if (rst) begin z <= 0; q <= 0; end else q <= d ^ z;"
    ),
    "an unused register": f"reg z; {ASYNC} if (rst) q <= 0; else begin z <= e; q <= d; end",
}

WRONG = {
    "never reset": f"reg z; {ASYNC} if (rst) q <= 0; else q <= d ^ z;",
    "reset to the wrong value": (
        f"reg z; {ASYNC} if (rst) begin z <= 1; q <= 0; end else q <= d ^ z;"
    ),
    "the first value is not the one of the reset": (
        f"reg z = 0; {ASYNC} if (rst) begin z <= 1; q <= 0; end else q <= d ^ z;"
    ),
    "likewise of one bit": (
        f"reg [1:0] z = 0; {ASYNC} if (rst) begin z <= 3; q <= 0; end "
        "else begin z[0] <= d; q <= d ^ z[1]; end"
    ),
    "likewise by a macro": (
        f"\n`define R(x) x <= 1;\nreg z = 0; {ASYNC} if (rst) begin `R(z) q <= 0; end "
        "else q <= d ^ z;"
    ),
    "likewise by a task": (
        f"reg z = 0; task t; z <= 1; endtask {ASYNC} if (rst) begin t; q <= 0; end else q <= d ^ z;"
    ),
    "likewise in a loop": (
        f"reg [1:0] z = 0; {ASYNC} if (rst) begin for (int i = 0; i < 2; i++) z[i] <= 1; "
        "q <= 0; end else q <= d ^ z[1];"
    ),
    "loaded by the reset": (f"reg z; {ASYNC} if (rst) begin z <= e; q <= 0; end else q <= d ^ z;"),
    "another bit is reset": (
        f"reg [1:0] z; {ASYNC} if (rst) begin z[0] <= 0; q <= 0; end else q <= d ^ z[1];"
    ),
    "it moves": (
        f"reg z; {ASYNC} if (rst) begin z <= 0; q <= 0; end else begin z <= e; q <= d ^ z; end"
    ),
    "a latch that is open otherwise": f"reg z; always @* if (!rst) z = e; {PLAIN}",
    "only some are reset": (
        f"reg [3:0] z; {ASYNC} if (rst) begin for (int i = 0; i < 3; i++) z[i] <= 0; q <= 0; end "
        "else q <= d ^ z[3];"
    ),
    "reset by a parameter that is 0": (
        f"parameter R = 0; reg z; {ASYNC} if (rst) begin q <= 0; if (R) z <= 0; end "
        "else q <= d ^ z;"
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_register_keeps_its_value(name):
    verdict = judged(RIGHT[name])
    assert verdict.score == 1.0, verdict.detail
    assert verdict.parts["proved"] == 1.0


@pytest.mark.parametrize("name", WRONG)
def test_it_keeps_no_other_value(name):
    verdict = judged(WRONG[name])
    assert verdict.score == 0.0
    assert verdict.parts.get("ports") == 1.0, verdict.detail  # it was compared


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (
            (
                "reg z; always_ff @(posedge clk, negedge rst) "
                "if (~rst) begin z <= 0; q <= 0; end else q <= d ^ z;"
            ),
            {"level": 0},
        ),
        (
            "reg z; always @(posedge clk) if (rst) begin z <= 0; q <= 0; end else q <= d ^ z;",
            {"asynchronous": False},
        ),
        (
            (
                "reg z; always @(posedge clk) if (rst) z <= 0; "
                "always @(posedge clk) if (rst) q <= 0; else q <= d ^ z;"
            ),
            {"asynchronous": False},
        ),
        (
            (
                f"reg z; {ASYNC} if (rst) begin z <= 0; q <= 0; end "
                "else if (e) q <= d ^ z; else q <= q | z;"
            ),
            {"body": "if (e) q <= d;"},
        ),
    ],
    ids=["active-low", "synchronous", "synchronous, apart", "enabled"],
)
def test_whatever_the_reset(body, kind):
    assert judged(body, **kind).score == 1.0
    turned = body.replace("z <= 0", "z <= 1")
    assert judged(turned, **kind).score == 0.0
