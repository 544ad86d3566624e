"""From source texts to netlists: hostile ones end in a refusal, honest ones mean what they say."""

import dataclasses
import importlib.util
import json
import os
import random
import re
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from rlvr_envs.cli import doctor
from rlvr_envs.core.errors import ConfigError, DependencyError, SandboxUnavailable
from rlvr_envs.core.verdict import Status
from rlvr_envs.sandboxes.base import Result, RunStatus
from rlvr_envs.verifiers.hdl import elaborate as module
from rlvr_envs.verifiers.hdl import sandbox as hdl_sandbox_module
from rlvr_envs.verifiers.hdl.elaborate import (
    ElaborationLimits,
    Netlist,
    Refusal,
    elaborate,
    elaborate_once,
)
from rlvr_envs.verifiers.hdl.interface import Port
from rlvr_envs.verifiers.hdl.judge import refused
from rlvr_envs.verifiers.hdl.sandbox import abc_path, hdl_sandbox, tools
from rlvr_envs.verifiers.hdl.source import Source

try:
    hdl_sandbox()
except DependencyError as missing:
    pytestmark = pytest.mark.skip(reason=str(missing))

ADDER = "module TopModule(input [15:0] a, input [15:0] b, input clk, output [15:0] s);\n"
SUM = " assign s = a + b;\n"
CELL = "module TopModule(input clk, rst, input [7:0] a, b, output logic [7:0] y);\n"


class Machine:
    """Evaluates a netlist bit by bit, to have something to compare a compiled simulator with."""

    def __init__(self, netlist):
        lines = netlist.aiger.decode().splitlines()
        _, inputs, latches, outputs, ands = map(int, lines[0].split()[1:6])
        rows = iter(lines[1:])
        self.inputs = [int(next(rows)) for _ in range(inputs)]
        self.latches = [tuple(map(int, next(rows).split()[:2])) for _ in range(latches)]
        self.outputs = [int(next(rows)) for _ in range(outputs)]
        self.ands = [tuple(map(int, next(rows).split())) for _ in range(ands)]
        self.named = {"i": {}, "o": {}}
        for kind, number, name, bit in re.findall(
            r"^([io])(\d+) (\w+)(?:\[(\d+)\])?$", "\n".join(rows), re.MULTILINE
        ):
            self.named[kind].setdefault(name, {})[int(bit or 0)] = int(number)
        self.state = [0] * latches

    def step(self, **values):
        bits = {0: 0, **{literal >> 1: 0 for literal in self.inputs}}
        for name, places in self.named["i"].items():
            for bit, number in places.items():
                bits[self.inputs[number] >> 1] = values.get(name, 0) >> bit & 1
        for (literal, _), value in zip(self.latches, self.state, strict=True):
            bits[literal >> 1] = value

        def at(literal):
            return bits[literal >> 1] ^ (literal & 1)

        for target, left, right in self.ands:
            bits[target >> 1] = at(left) & at(right)
        self.state = [at(following) for _, following in self.latches]
        return {
            name: sum(at(self.outputs[number]) << bit for bit, number in places.items())
            for name, places in self.named["o"].items()
        }


def good(source, **options):
    netlist = elaborate(source, "TopModule", **options)
    assert isinstance(netlist, Netlist), netlist
    return netlist


HOSTILE = {
    "print-and-end": (f'{ADDER} initial begin $display("ok"); $finish; end endmodule', "forbidden"),
    "peek-at-the-bench": (f"{ADDER} assign s = testbench.gold.sum;\nendmodule", "compile"),
    "peek-at-a-sibling": (f"{ADDER} assign s = gold.s;\nendmodule", "compile"),
    "peek-from-the-root": (f"{ADDER} assign s = $root.gold.s;\nendmodule", "forbidden"),
    "instance-of-the-reference": (f"{ADDER} gold u(a, b, clk, s);\nendmodule", "compile"),
    "module-twice": (f"{ADDER}{SUM}endmodule\n{ADDER}{SUM}endmodule", "compile"),
    "module-of-itself": (f"{ADDER} TopModule u(a, b, clk, s);\nendmodule", "compile"),
    "another-name": (f"{ADDER.replace('TopModule', 'Top')}{SUM}endmodule", "compile"),
    "force-the-bench": (f"{ADDER}{SUM} initial force testbench.ok = 1;\nendmodule", "forbidden"),
    "assume-false": (f"{ADDER} always @* assume (0);\nendmodule", "forbidden"),
    "internal-cell": (f"{ADDER} \\$assume u(.A(1'b0), .EN(1'b1)); endmodule", "compile"),
    "bind": (f"{ADDER}{SUM}endmodule\nbind TopModule x y();", "forbidden"),
    "foreign-function": (f'import "DPI-C" function int system();\n{ADDER}endmodule', "forbidden"),
    "include": (f'`include "/etc/passwd"\n{ADDER}{SUM}endmodule', "forbidden"),
    "file-into-a-memory": (
        f'{ADDER} reg [7:0] m[0:9]; initial $readmemh("/etc/passwd", m); endmodule',
        "forbidden",
    ),
    "inout": (f"{ADDER.replace('output', 'inout')}{SUM}endmodule", "unsupported"),
    "driven-beside-a-gate": (
        f"{ADDER} assign s = a[0] ? b : 16'bz; assign s = ~b;\nendmodule",
        "compile",
    ),
    "other-design-for-tools": (
        f"{ADDER}`ifdef __ICARUS__\n assign s = a;\n`else{SUM}`endif\nendmodule",
        "forbidden",
    ),
    "condition-without-end": (f"{ADDER}`ifdef A\n{SUM}endmodule", "compile"),
    "two-drivers": (f"{ADDER}{SUM} assign s = a;\nendmodule", "compile"),
    "driven-input": (f"{ADDER}{SUM} assign b = 0;\nendmodule", "compile"),
    "joined-inputs": (f"{ADDER}{SUM} assign b = a;\nendmodule", "compile"),
    "input-driven-by-a-gate": (f"{ADDER}{SUM} assign b = a + 1;\nendmodule", "compile"),
    "two-processes": (
        (
            f"{ADDER} reg [15:0] q; always @(posedge clk) q <= a; always @(posedge clk) q <= b;"
            " assign s = q; endmodule"
        ),
        "compile",
    ),
    "loop": (f"{ADDER} wire [15:0] t = s ^ a; assign s = t & b;\nendmodule", "compile"),
    "loop-without-delay": (
        f"{ADDER} reg c = 0; always #0 c = ~c; assign s = c; endmodule",
        "compile",
    ),
    "endless-loop": (
        f"{ADDER} reg q; always @* begin q = 0; while (1) q = ~q; end assign s = q; endmodule",
        "resource",
    ),
    "endless-constant": (
        (
            f"{ADDER} function integer f(input integer n); for (f = 0; f < 2000000000; f = f + 1) ;"
            " endfunction localparam X = f(1); assign s = X; endmodule"
        ),
        "compile",
    ),
    "generate-bomb": (
        f"{ADDER} for (genvar i = 0; i < 1000000000; i++) begin : g wire x; end endmodule",
        "compile",
    ),
    "nested-generate-bomb": (
        (
            f"{ADDER} for (genvar i = 0; i < 999; i++) for (genvar j = 0; j < 999; j++) for"
            " (genvar k = 0; k < 999; k++) begin : g wire x = a[0]; end endmodule"
        ),
        "compile",
    ),
    "nested-loops": (
        (
            f"{ADDER} reg [15:0] q; integer i, j; always @* begin q = 0;"
            " for (i = 0; i < 3000; i = i + 1) for (j = 0; j < 3000; j = j + 1) q = q + a; end"
            " assign s = q; endmodule"
        ),
        "resource",
    ),
    "giant-vector": (f"{ADDER} wire [2000000000:0] v = a; assign s = v; endmodule", "compile"),
    "giant-memory": (
        f"{ADDER} reg [1023:0] m[0:268435455]; always @(posedge clk) m[a] <= b; endmodule",
        "compile",
    ),
    "large-memory": (
        (
            f"{ADDER} reg [15:0] m[0:65535]; always @(posedge clk) m[a] <= b; assign s = m[b];"
            " endmodule"
        ),
        "resource",
    ),
    "large-product": (
        f"{ADDER} wire [2047:0] v = {{128{{a}}}}; wire [2047:0] w = v * v; assign s = w; endmodule",
        "resource",
    ),
    "large-quotient": (
        (
            f"{ADDER} wire [4095:0] v = {{256{{a}}}}; wire [4095:0] w = v / {{256{{b}}}};"
            " assign s = w; endmodule"
        ),
        "resource",
    ),
    "deep-parentheses": (f"{ADDER} assign s = {'(' * 20000}a{')' * 20000};\nendmodule", "compile"),
    "deep-blocks": (
        f"{ADDER} always @* {'begin ' * 4000} s = a; {'end ' * 4000} endmodule",
        "compile",
    ),
    "port-with-an-odd-name": (f"module TopModule(input {'a' * 99}); endmodule", "unsupported"),
    "interface-port": ("interface I; endinterface module TopModule(I i); endmodule", "compile"),
    "parameter-without-value": (f"{ADDER} parameter W; {SUM} endmodule", "compile"),
    "real": (f"{ADDER} real r; initial r = 1.5; endmodule", "unsupported"),
    "prose": ("Sure! Here is the adder you asked for.", "compile"),
    "nothing": ("", "compile"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_source_ends_in_a_refusal(name):
    source, stage = HOSTILE[name]
    refusal = elaborate(source, "TopModule")
    assert isinstance(refusal, Refusal)
    assert refusal.stage == stage, refusal.detail
    assert 0 < len(refusal.detail) <= module.MOST_DETAIL
    assert "/" not in refusal.detail.replace("/etc/passwd", "")  # no path of the machine


def test_a_design_that_takes_too_much_is_stopped():
    source = (
        f"{ADDER} wire [16000000:0] v = a; wire [16000000:0] w = v + 1; assign s = w; endmodule"
    )
    limits = ElaborationLimits(cpu_s=60.0, memory_mib=512)
    refusal = elaborate(source, "TopModule", limits=limits)
    assert refusal.stage == "resource"
    assert "takes too much" in refusal.detail


def test_the_number_of_gates_is_limited():
    source = f"{ADDER} assign s = a * b;\nendmodule"
    assert (
        "and-gates, above 300"
        in elaborate(source, "TopModule", limits=ElaborationLimits(ands=300)).detail
    )


@pytest.mark.skipif("hdl_sandbox().backend == 'process'", reason="this sandbox isolates nothing")
def test_beyond_the_filter_no_file_can_be_read_or_written(tmp_path):
    secret = tmp_path / "secret.hex"
    secret.write_text("5a\n")
    text = (
        "module TopModule(output [7:0] y); reg [7:0] m[0:0];\n"
        f'initial $readmemh("{secret}", m); assign y = m[0]; endmodule'
    )
    marker = tmp_path / "marker"
    written = text.replace("$readmemh", "$writememh").replace(str(secret), str(marker))
    request = {"top": "TopModule", "clocked": True, "split_x": False, "lax": False}
    request.update(state_bits=100, rom_bits=100, ands=100)
    for source in (text, written):
        run = module._run(Source(source, "TopModule", ()), request, ElaborationLimits())
        netlist = run.files.get("out.aag", b"")
        assert run.status is RunStatus.NONZERO_EXIT or b"aag 8 8 " in netlist  # eight free bits
    assert not marker.exists()


def test_messages_name_place_line_and_cause():
    body = f"{SUM} wire q;\n always @(posedge clk) q <= a;\n assign x = none; wire q;\nendmodule"
    refusal = elaborate(ADDER + body, "TopModule")
    assert refusal.detail.splitlines() == [
        "answer.sv:4:24: cannot assign to a net within a procedural context",
        "    always @(posedge clk) q <= a;",
        "answer.sv:5:13: use of undeclared identifier 'none'",
        "    assign x = none; wire q;",
        "answer.sv:5:24: redefinition of 'q'",
    ]


def test_the_missing_module_is_named():
    refusal = elaborate("module Top(input a); endmodule", "TopModule")
    assert refusal == Refusal("compile", "there is no module TopModule, only Top")


def test_a_loop_and_several_drivers_are_named():
    loop = elaborate(
        f"{ADDER} wire t, u; assign t = u & a[0]; assign u = t | b[0]; assign s = u; endmodule",
        "TopModule",
    )
    assert loop.detail == "the design has a combinational loop through u, t"
    both = "wire [15:0] t; assign t = ~a; assign t = ~b; assign s = ~t;"
    drivers = elaborate(f"{ADDER} {both} endmodule", "TopModule")
    assert drivers.detail == "t, or a net connected to it, has several drivers"
    inputs = elaborate(f"{ADDER} wire t; assign t = a[0]; assign t = b[0]; endmodule", "TopModule")
    assert inputs.detail.startswith("the input b is driven inside")


CLOCKINGS = {
    "synchronous reset": (
        "always_ff @(posedge clk) if (rst) y <= 0; else y <= a;",
        [("clk", "posedge")],
        0,
        8,
    ),
    "asynchronous reset": (
        "always_ff @(posedge clk or posedge rst) if (rst) y <= 0; else y <= a;",
        [("clk", "posedge")],
        0,
        8,
    ),
    "reset when low": (
        "always_ff @(posedge clk or negedge rst) if (!rst) y <= 0; else y <= a;",
        [("clk", "posedge")],
        0,
        8,
    ),
    "falling edge": ("always_ff @(negedge clk) y <= a;", [("clk", "negedge")], 0, 8),
    "two clocks": (
        "logic t; always @(posedge clk) t <= a; always @(posedge rst) y <= t;",
        [("clk", "posedge"), ("rst", "posedge")],
        0,
        9,
    ),
    "both edges": (
        "logic t; always @(posedge clk) t <= a; always @(negedge clk) y <= t;",
        [("clk", "negedge"), ("clk", "posedge")],
        0,
        9,
    ),
    "gated clock": ("wire g = clk & rst; always @(posedge g) y <= a;", [("", "posedge")], 0, 8),
    "divided clock": (
        "logic d; always @(posedge clk) d <= ~d; always @(posedge d) y <= a;",
        [("", "posedge"), ("clk", "posedge")],
        0,
        9,
    ),
    "clock as data": (
        "logic t; always @(posedge clk) t <= a; assign y = t & clk;",
        [("clk", "level"), ("clk", "posedge")],
        0,
        1,
    ),
    "clock of another name": (
        "wire c = clk; always @(posedge c) y <= a;",
        [("clk", "posedge")],
        0,
        8,
    ),
    "latch": ("always_latch if (rst) y = a;", [], 8, 8),
    "incomplete case": ("always_comb case (a[0]) 0: y = b; endcase", [], 8, 8),
    "memory": (
        "logic [7:0] m[0:3]; always_ff @(posedge clk) m[a[1:0]] <= b; assign y = m[b[1:0]];",
        [("clk", "posedge")],
        0,
        32,
    ),
    "memory read at an edge": (
        "logic [7:0] m[0:3]; always_ff @(posedge clk) begin m[a[1:0]] <= b; y <= m[b[1:0]]; end",
        [("clk", "posedge")],
        0,
        40,
    ),
    "table": (
        "logic [7:0] m[0:3]; initial begin m[0] = 1; m[1] = 2; m[2] = 4; m[3] = 8; end assign y = m[a[1:0]];",
        [],
        0,
        0,
    ),
    "set and reset": (
        "always @(posedge clk or posedge rst or posedge a[0]) if (rst) y <= 0; else if (a[0]) y <= 1; else y <= b;",
        [("clk", "posedge")],
        0,
        8,
    ),
    "no state": ("assign y = a;", [], 0, 0),
}


@pytest.mark.parametrize("name", CLOCKINGS)
@pytest.mark.parametrize("clocked", [True, False])
def test_clocks_latches_and_state_are_found(name, clocked):
    body, clocks, latches, state = CLOCKINGS[name]
    netlist = good(f"{CELL}{body} endmodule", clocked=clocked)
    assert (list(netlist.clocks), netlist.latches, netlist.state_bits) == (clocks, latches, state)


def test_ports_come_in_their_order_with_their_widths():
    netlist = good(
        "module TopModule(z, b, q); input [0:3] b; output q; input z; assign q = z ^ ^b; endmodule"
    )
    assert set(netlist.ports) == {Port("z", "input"), Port("b", "input", 4), Port("q", "output")}
    netlist = good(
        "module TopModule(input z, output q, input [3:0] a); assign q = z ^ ^a; endmodule"
    )
    assert netlist.ports == (Port("z", "input"), Port("q", "output"), Port("a", "input", 4))


def test_bits_are_counted_from_the_lowest_whatever_their_numbers_are():
    machine = Machine(
        good(
            "module TopModule(input [7:4] a, input [0:1] b, output [0:3] y, output [9:5] z);"
            " assign y = {a[7], b, a[4]}; assign z = {2'b10, a[6:4]}; endmodule"
        )
    )
    assert machine.step(a=0b0101, b=0b10) == {"y": 0b0101, "z": 0b10101}


FEATURES = {
    "enum": (
        "typedef enum logic [1:0] {A, B, C} t; t s; always_comb unique case (a[1:0]) 0: s = C; 1: s = B; default: s = A; endcase assign y = s;",
        lambda a, b: {0: 2, 1: 1}.get(a & 3, 0),
    ),
    "packed struct": (
        "typedef struct packed {logic [3:0] h, l;} p; p x; assign x = a; assign y = {x.l, x.h};",
        lambda a, b: (a & 15) << 4 | a >> 4,
    ),
    "packed union": (
        "typedef union packed {logic [7:0] w; logic [1:0][3:0] n;} p; p x; assign x.w = a; assign y = {x.n[0], x.n[1]};",
        lambda a, b: (a & 15) << 4 | a >> 4,
    ),
    "for loop": (
        "always_comb for (int i = 0; i < 8; i++) y[i] = a[7 - i];",
        lambda a, b: int(f"{a:08b}"[::-1], 2),
    ),
    "break": (
        "always_comb begin y = 8; for (int i = 0; i < 8; i++) if (a[i]) begin y = 8'(i); break; end end",
        lambda a, b: (a & -a).bit_length() - 1 if a else 8,
    ),
    "generate": (
        "for (genvar i = 0; i < 8; i++) begin : g assign y[i] = a[i] ^ b[7 - i]; end",
        lambda a, b: a ^ int(f"{b:08b}"[::-1], 2),
    ),
    "function": (
        "function automatic logic [7:0] f(input logic [7:0] x); return x + 8'd1; endfunction assign y = f(a);",
        lambda a, b: a + 1,
    ),
    "task": (
        "task automatic t(input logic [7:0] x, output logic [7:0] z); z = x - 1; endtask always_comb t(a, y);",
        lambda a, b: a - 1,
    ),
    "inside": (
        "assign y = a inside {[1:5], 9, [8'hf0:8'hff]};",
        lambda a, b: 1 <= a <= 5 or a == 9 or a >= 0xF0,
    ),
    "case inside": (
        "always_comb case (a) inside [0:3]: y = 1; 8'b1???_????: y = 2; default: y = 3; endcase",
        lambda a, b: 1 if a < 4 else 2 if a > 127 else 3,
    ),
    "casez": (
        "always_comb casez (a) 8'b1???????: y = 1; 8'b01??????: y = 2; default: y = 3; endcase",
        lambda a, b: 1 if a > 127 else 2 if a > 63 else 3,
    ),
    "streaming": ("assign y = {<<{a}};", lambda a, b: int(f"{a:08b}"[::-1], 2)),
    "assignment pattern": (
        "logic [3:0] t[2]; assign t = '{a[3:0], a[7:4]}; assign y = {t[0], t[1]};",
        lambda a, b: (a & 15) << 4 | a >> 4,
    ),
    "casts": ("assign y = 8'(signed'(a[3:0])) + b;", lambda a, b: ((a & 15) ^ 8) - 8 + b),
    "let": ("let m(x, z) = x > z ? x : z; assign y = m(a, b);", max),
    "constant block": ("always_comb y = 8'h5a;", lambda a, b: 0x5A),
    "foreach": (
        "int i; always_comb begin i = 0; foreach (a[k]) i += a[k]; y = i; end",
        lambda a, b: a.bit_count(),
    ),
    "bit selects": (
        "always_comb begin y = a; y[b[2:0]] = a[b[5:3]]; end",
        lambda a, b: a & ~(1 << (b & 7)) | (a >> (b >> 3 & 7) & 1) << (b & 7),
    ),
    "power": ("assign y = 2 ** a[2:0];", lambda a, b: 1 << (a & 7)),
    "delays": ("assign #5 y = a & b;", lambda a, b: a & b),
    "macros": ("`define MAX(p, q) ((p) > (q) ? (p) : (q))\nassign y = `MAX(a, b);", max),
    "names of nobody": ("`ifdef FORMAL\nbad\n`else\nassign y = a;\n`endif", lambda a, b: a),
    "a simulator's report": (
        "assign y = a;\n`ifndef SYNTHESIS\nalways @(y) $display(y);\n`endif",
        lambda a, b: a,
    ),
    "attributes": ("(* keep, anyseq *) wire [7:0] q = a; assign y = q;", lambda a, b: a),
    "assertions": (
        'always_comb begin y = a; assert (y == a) else $error("%d", y); end',
        lambda a, b: a,
    ),
    "reports": ('if ($bits(a) < 8) $fatal(1, "narrow"); assign y = a;', lambda a, b: a),
    "escaped names": (
        (
            "wire [7:0] \\a+b , \\always_comb ; assign \\a+b = a + b;\n"
            "assign \\always_comb = \\a+b ; assign y = \\always_comb ;"
        ),
        lambda a, b: a + b,
    ),
    "a net of two drivers": (
        "tri [7:0] n; assign n = a[0] ? b : 8'bz; assign n = a[0] ? 8'bz : a; assign y = n;",
        lambda a, b: b if a & 1 else a,
    ),
    "switches": (
        (
            "wire n, m; bufif1 (n, a[1], a[0]); bufif0 (n, b[1], a[0]); nmos (m, n, b[0]);\n"
            "pmos (m, a[2], b[0]); assign y = m;"
        ),
        lambda a, b: ((a if a & 1 else b) >> 1 if b & 1 else a >> 2) & 1,
    ),
    "incomplete list": ("always @(a) y = a & b;", lambda a, b: a & b),
    "primitives": ("and g[7:0](y, a, b);", lambda a, b: a & b),
    "supply": ("supply1 v; assign y = a + v;", lambda a, b: a + 1),
    "digits": (
        "always @* begin y[3:0] = a % 10; y[7:4] = (a / 10) % 10; end",
        lambda a, b: a % 10 | a // 10 % 10 << 4,
    ),
    "integer remainder": (
        "integer i; always_comb begin i = a; y = (i * 3) % 7; end",
        lambda a, b: a * 3 % 7,
    ),
    "negative quotient": (
        "int i; always_comb begin i = $signed(a); y = i / 3 - i % 3; end",
        lambda a, b: (lambda n: int(n / 3) - (n - 3 * int(n / 3)))((a ^ 128) - 128),
    ),
    "shift": ("assign y = $signed(a) >>> b[2:0];", lambda a, b: ((a ^ 128) - 128) >> (b & 7)),
}


@pytest.mark.parametrize("name", FEATURES)
def test_features_of_the_language_mean_what_they_say(name):
    body, expected = FEATURES[name]
    machine = Machine(good(f"{CELL}{body} endmodule"))
    rng = random.Random(name)
    pairs = [(0, 0), (255, 255), *((rng.randrange(256), rng.randrange(256)) for _ in range(60))]
    assert [machine.step(a=a, b=b)["y"] for a, b in pairs] == [
        expected(a, b) & 255 for a, b in pairs
    ]


HIERARCHIES = {
    "parameters": "module M #(parameter int W = 4, parameter type T = logic [W-1:0])(input T d, output T q); assign q = ~d; endmodule\n"
    + CELL + "M #(.W(8)) u(.d(a), .q(y)); endmodule",
    "defparam": "module M #(parameter W = 0)(input [7:0] d, output [7:0] q); assign q = d ^ W; endmodule\n"
    + CELL + "M u(a, y); defparam u.W = 255; endmodule",
    "interface": "interface B; logic [7:0] d; modport s(input d); endinterface\n"
    "module S(B.s i, output [7:0] q); assign q = ~i.d; endmodule\n" + CELL + "B i(); assign i.d = a; S u(i, y); endmodule",
    "package": "package p; function automatic logic [7:0] f(logic [7:0] v); return ~v; endfunction endpackage\n"
    + CELL + "import p::*; assign y = f(a); endmodule",
    "wildcard": "module M(input [7:0] a, output [7:0] y); assign y = ~a; endmodule\n" + CELL + "M u(.*); endmodule",
    "a second top": "module Other(output y); assign y = 1; endmodule\n" + CELL + "assign y = ~a; endmodule",
}  # fmt: skip


@pytest.mark.parametrize("name", HIERARCHIES)
def test_modules_may_have_others_below_them(name):
    machine = Machine(good(HIERARCHIES[name]))
    assert [machine.step(a=a)["y"] for a in (0, 1, 170, 255)] == [255, 254, 85, 0]


OPERATORS = """
module TopModule(input signed [5:0] a, b, input [5:0] u, v,
  output signed [11:0] p, output [11:0] q, output signed [5:0] d, m, output [5:0] ud, um,
  output lt, le, gt, ge, slt, sge, output [7:0] s1, s2, s3, s4, output signed [6:0] n);
  assign p = a * b, q = u * v, d = a / b, m = a % b, ud = u / v, um = u % v;
  assign lt = u < v, le = u <= v, gt = u > v, ge = u >= v, slt = a < b, sge = a >= b;
  assign s1 = u << v[3:0], s2 = u >> v, s3 = a >>> v[2:0], s4 = a >> v, n = -a;
endmodule
"""


def operators(a, b, u, v):
    """Return the outputs of `OPERATORS`."""

    def quotient(left, right):  # towards zero
        size = abs(left) // abs(right)
        return -size if (left < 0) != (right < 0) else size

    x, y = ((number ^ 32) - 32 for number in (a, b))
    found = {"p": x * y, "q": u * v, "lt": u < v, "le": u <= v, "gt": u > v, "ge": u >= v}
    found |= {"slt": x < y, "sge": x >= y, "s1": u << (v & 15), "s2": u >> v, "s3": x >> (v & 7)}
    found |= {"s4": (x & 255) >> v, "n": -x, "d": quotient(x, y) if y else -1}
    found |= {"m": x - y * quotient(x, y) if y else x}
    found |= {"ud": u // v if v else -1, "um": u % v if v else u}
    widths = {"p": 12, "q": 12, "d": 6, "m": 6, "ud": 6, "um": 6, "n": 7}
    widths |= dict.fromkeys(("s1", "s2", "s3", "s4"), 8)
    return {name: int(value) & ((1 << widths.get(name, 1)) - 1) for name, value in found.items()}


def test_arithmetic_is_right():
    machine = Machine(good(OPERATORS))
    rng = random.Random(1)
    corners = (0, 1, 31, 32, 62, 63)
    for _ in range(600):
        a, b, u, v = (rng.choice((rng.randrange(64), rng.choice(corners))) for _ in range(4))
        assert machine.step(a=a, b=b, u=u, v=v) == operators(a, b, u, v)


@pytest.mark.parametrize("divisor", [1, 3, 7, 10, 100])
def test_division_by_a_constant_is_right(divisor):
    source = f"module TopModule(input [7:0] a, output [7:0] q, r); assign q = a / {divisor}; assign r = a % {divisor}; endmodule"
    machine = Machine(good(source))
    assert [machine.step(a=a) for a in range(256)] == [
        {"q": a // divisor, "r": a % divisor} for a in range(256)
    ]


def extended(value, width, signed):
    return value - (1 << width) if signed and value >> (width - 1) else value


def apply(operator, left, right, *, width, shift):
    """Return what an operator gives, or None where the language leaves it open."""
    if operator in "/%":
        if not right:
            return None
        quotient = abs(left) // abs(right) * (-1 if (left < 0) != (right < 0) else 1)
        return quotient if operator == "/" else left - right * quotient
    found = {"+": left + right, "-": left - right, "*": left * right}
    found |= {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}
    # >> brings in zeros at the width of the expression
    found |= {"<<": left << shift, ">>": left % (1 << width) >> shift, ">>>": left >> shift}
    return int(found[operator])


@pytest.mark.parametrize("seed", range(6))
def test_operands_of_any_width_and_sign(seed):
    rng = random.Random(seed)
    cases = []
    for operator in ("+", "-", "*", "/", "%", "<", "<=", ">", ">=", "<<", ">>", ">>>"):
        cases.append((operator, rng.random() < 0.5, *(rng.randint(1, 7) for _ in range(3))))
    body, ports = [], []
    for n, (operator, signed, wide_a, wide_b, wide_y) in enumerate(cases):
        sign = "signed" if signed else ""
        ports += [f"input {sign} [{wide_a - 1}:0] a{n}", f"input {sign} [{wide_b - 1}:0] b{n}"]
        ports.append(f"output [{wide_y - 1}:0] y{n}")
        body.append(f"assign y{n} = a{n} {operator} b{n};")
    netlist = good(f"module TopModule({', '.join(ports)}); {' '.join(body)} endmodule")
    machine = Machine(netlist)
    for _ in range(40):
        values = {
            name: rng.choice((rng.randrange(1 << width), 0, (1 << width) - 1))
            for n, case in enumerate(cases)
            for name, width in ((f"a{n}", case[2]), (f"b{n}", case[3]))
        }
        found = machine.step(**values)
        for n, (operator, signed, wide_a, wide_b, wide_y) in enumerate(cases):
            a, b = values[f"a{n}"], values[f"b{n}"]
            left, right = extended(a, wide_a, signed), extended(b, wide_b, signed)
            width = max(wide_a, wide_y)
            expected = apply(operator, left, right, width=width, shift=b)
            if expected is not None:
                assert found[f"y{n}"] == expected % (1 << wide_y), (cases[n], a, b)


def test_a_step_is_a_cycle_of_the_clock():
    source = f"{CELL} always_ff @(posedge clk) if (rst) y <= 3; else y <= y + a; endmodule"
    machine = Machine(good(source))
    machine.step(rst=1)
    assert [machine.step(a=2)["y"] for _ in range(3)] == [3, 5, 7]


def test_without_cycles_the_clock_is_an_input():
    source = f"{CELL} always_ff @(negedge clk) y <= a; endmodule"
    machine = Machine(good(source, clocked=False))
    steps = [(1, 5), (0, 5), (0, 9), (1, 9), (0, 9)]
    assert [machine.step(clk=clk, a=a)["y"] for clk, a in steps][1:] == [5, 5, 5, 9]


def free(netlist):
    """Return how many bits of the netlist are chosen by nobody: inputs that no port has."""
    total = int(netlist.aiger.split()[2])
    return total - sum(port.width for port in netlist.ports if port.direction == "input")


def test_what_nothing_determines_is_free():
    assert free(good(f"{CELL} assign y = a; endmodule")) == 0
    assert free(good(f"{CELL} endmodule")) == 8
    assert free(good(f"{CELL} assign y = 8'bx; endmodule")) == 8
    uninitialised = good(f"{CELL} always @(posedge clk) y <= a; endmodule")
    assert free(uninitialised) == 8
    assert free(good(f"{CELL} initial y = 0; always @(posedge clk) y <= a; endmodule")) == 0
    assert free(good(f"{CELL} assign y = a / 8'd0; endmodule")) == 8
    # Two registers of the same input differ before the first edge.
    twice = "logic p, q; always @(posedge clk) begin p <= a; q <= a; end assign y = p ^ q;"
    assert free(good(f"{CELL} {twice} endmodule")) == 2
    settled = good(f"{CELL} always @(posedge clk) y <= 1; endmodule")
    assert free(settled) == 8


def test_beyond_the_end_of_a_vector_everything_is_free():
    netlist = good(f"{CELL} assign y = a[b +: 4]; endmodule")
    assert free(netlist) > 0
    machine = Machine(netlist)
    assert [machine.step(a=0xB7, b=b)["y"] for b in range(5)] == [0x7, 0xB, 0xD, 0x6, 0xB]


def test_an_x_of_a_reference_gets_an_output_of_its_own():
    source = "module TopModule(input [1:0] a, output reg y); always_comb case (a) 0: y = 1; 1: y = 0; default: y = 1'bx; endcase endmodule"
    machine = Machine(good(source, split_x=True))
    found = [machine.step(a=a) for a in range(4)]
    assert [step["y_x"] for step in found] == [0, 0, 1, 1]
    assert [step["y_d"] for step in found][:2] == [1, 0]


def test_cells_count_gates_and_registers():
    gates = {"assign y = a;": 0, "assign y = a & b;": 8, "always @(posedge clk) y <= a;": 8}
    assert {body: good(f"{CELL}{body} endmodule").cells for body in gates} == gates
    assert good(f"{CELL}assign y = a + b; endmodule").cells < 8 * 5


def test_a_forked_child_elaborates_for_itself():
    source = f"{CELL} assign y = a ^ b; endmodule"
    expected = good(source).aiger
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        found = elaborate(source, "TopModule")
        os.write(writing, b"same" if getattr(found, "aiger", b"") == expected else b"other")
        os._exit(0)
    os.waitpid(pid, 0)
    assert os.read(reading, 9) == b"same"
    assert good(source).aiger == expected


def test_public_references_become_netlists():
    path = Path(__file__).resolve().parents[5] / "shared/data/verilog"
    files = sorted(path.glob("verilog_eval_v2*.jsonl"))
    if not files:
        pytest.skip(
            "the public Verilog data (a folder shared/data beside the checkout) is not here"
        )
    rows = [json.loads(line) for line in files[0].read_text().splitlines()]
    refused = {
        row["task_id"]: found
        for row in rows
        if isinstance(found := elaborate(row["ref"], "RefModule"), Refusal)
    }
    assert rows
    assert refused == {}


def test_a_reference_is_elaborated_once(monkeypatch):
    source = f"{CELL} assign y = a | b; endmodule // for this test alone"
    found = elaborate_once(source, "TopModule")
    monkeypatch.setattr(module, "_run", None)
    assert elaborate_once(source, "TopModule") is found


class Broken:
    """A sandbox that gives the results it was told to."""

    def __init__(self, *results):
        self.results = list(results)

    def run(self, job):
        return self.results.pop(0)


def test_faults_are_ours_and_not_remembered(monkeypatch):
    source = f"{CELL} assign y = a; endmodule // of a machine that fails"
    fault = Result.fault("the slot is gone")
    broken = Broken(fault, fault)
    monkeypatch.setattr(module, "hdl_sandbox", lambda: broken)
    assert elaborate_once(source, "TopModule").stage == "fault"
    assert elaborate_once(source, "TopModule").stage == "fault"
    assert broken.results == []


UNSYNTHESISABLE = Result(
    status=RunStatus.NONZERO_EXIT,
    stderr=b"ERROR: the strict front end cannot do it",
    files={"stage": b"synthesis"},
)


@pytest.mark.parametrize("before", [(), (UNSYNTHESISABLE,)])
def test_a_reference_that_takes_too_long_is_our_fault_and_tried_again(monkeypatch, before):
    """Of an answer it is wrong, whichever of the two front ends takes too long."""
    source = f"{CELL} assign y = a; endmodule // of a slow machine, after {len(before)}"
    late = Result(status=RunStatus.CPU_TIMEOUT, cpu_s=31.0)
    with monkeypatch.context() as slow:
        slow.setattr(module, "hdl_sandbox", lambda: broken)
        broken = Broken(*before, late)
        refusal = elaborate(source, "TopModule")
        assert refused(refusal).status is Status.WRONG
        broken = Broken(*before, late)
        assert elaborate_once(source, "TopModule") == dataclasses.replace(refusal, stage="fault")
    assert isinstance(elaborate_once(source, "TopModule"), Netlist)


def test_a_reference_that_is_refused_for_its_text_is_remembered(monkeypatch):
    source = f"{CELL} assign y = ; endmodule // of a dataset"
    found = elaborate_once(source, "TopModule")
    assert found.stage == "compile"
    monkeypatch.setattr(module, "_run", None)
    assert elaborate_once(source, "TopModule") is found


@pytest.mark.parametrize(
    ("result", "stage"),
    [
        (Result(status=RunStatus.WALL_TIMEOUT, cpu_s=0.1), "fault"),
        (Result(status=RunStatus.WALL_TIMEOUT, cpu_s=4.0), "fault"),
        (Result(status=RunStatus.CPU_TIMEOUT, cpu_s=5.0), "timeout"),
        (Result(status=RunStatus.MEMORY, cpu_s=0.5, peak_memory_mib=1024), "resource"),
        (Result(status=RunStatus.SIGNAL, signal=signal.SIGKILL, cpu_s=2.1), "fault"),
        (Result(status=RunStatus.SIGNAL, signal=signal.SIGKILL, cpu_s=4.9), "timeout"),
        (Result(status=RunStatus.SIGNAL, signal=signal.SIGSEGV), "unsupported"),
        (Result(status=RunStatus.OK), "fault"),
        (
            Result(
                status=RunStatus.NONZERO_EXIT, stderr=b"Traceback (most recent call last):\nX: y"
            ),
            "fault",
        ),
        (
            Result(
                status=RunStatus.NONZERO_EXIT,
                stderr=b"ERROR: nothing can be done",
                files={"stage": b"map", "diagnostics.json": b'[{"sev'},
            ),
            "unsupported",
        ),
    ],
)
def test_how_a_run_ended_decides_whose_fault_it_is(monkeypatch, result, stage):
    monkeypatch.setattr(module, "hdl_sandbox", lambda: Broken(result))
    assert elaborate(f"{CELL} assign y = a; endmodule", "TopModule").stage == stage


def test_limits_are_checked():
    with pytest.raises(ConfigError, match="ands is above 0, got 0"):
        ElaborationLimits(ands=0)


def test_without_the_tools_it_says_how_to_get_them(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(DependencyError, match="pip install 'pyosys>="):
        tools()


def test_containers_are_refused_with_what_to_choose(monkeypatch):
    class Containers:
        backend = "docker"

    monkeypatch.setattr(hdl_sandbox_module, "shared_sandbox", Containers)
    with pytest.raises(SandboxUnavailable, match="RLVR_SANDBOX=landlock"):
        hdl_sandbox()


def test_the_model_checker_lies_where_jobs_find_it():
    assert abc_path().endswith("yosys-abc")


def test_doctor_says_which_tools_are_there(monkeypatch):
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    found = doctor._verilog_tools()
    assert re.fullmatch(r"pyosys [\d.]+", found[0])
    assert found[1:] == [
        "yosys-abc beside it",
        "no iverilog (only testbenches of datasets need it)",
    ]


@pytest.fixture
def job(monkeypatch):
    """The module of the job, without the synthesis tool, for its functions of plain data."""
    name = "rlvr_envs.verifiers.hdl._elaborate_job"
    monkeypatch.setitem(sys.modules, "pyosys", SimpleNamespace(libyosys=None))
    monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module(name)
    sys.modules.pop(name, None)


def test_places_and_digits_are_read(job):
    assert job.place({"attributes": {"src": "answer.sv:12.34-12.56"}}) == (12, 34)
    assert job.place({"attributes": {}}) == job.place({"attributes": {"src": "?"}}) == (0, 0)
    assert job.lowest("110", 3) == "011"
    assert job.lowest("10", 4) == "0100"
    assert job.lowest("10110", 2) == "01"


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("always_comb y = a;", "always @(*) y = a;"),
        ("function f;", "function automatic f;"),
        ("task t;", "task automatic t;"),
        ("function automatic f;", "function automatic f;"),
        ("function /* a */ static f;", "function /* a */ static f;"),
        ("endfunction", "endfunction"),
        ('"always_comb"', '"always_comb"'),
        ("// always_comb\nalways_comb", "// always_comb\nalways @(*)"),
        ("/* task t */", "/* task t */"),
        ("`define task 1", "`define task 1"),
    ],
)
def test_two_kinds_of_words_are_changed(job, text, becomes):
    assert job.WORDS.sub(job.reworded, text) == becomes


def a_module(job, *cells, memories=None, **ports):
    """Return what the job finds in a module of cells, each a kind, its wires and parameters."""
    found = {name: {"direction": way, "bits": bits} for name, (way, bits) in ports.items()}
    named = {
        f"cell{n}": {"type": kind, "connections": wires, "parameters": values}
        for n, (kind, wires, values) in enumerate(cells)
    }
    nets = {name: {"attributes": {}} for name in ports}
    module = {"ports": found, "cells": named, "netnames": nets, "memories": memories or {}}
    return job.Facts(module)


INPUTS = {"clk": ("input", [2]), "rst": ("input", [3]), "d": ("input", [4, 5])}


@pytest.mark.parametrize(("polarity", "edge"), [("1", "posedge"), ("0", "negedge")])
def test_a_flip_flop_has_a_clock_and_a_reset(job, polarity, edge):
    wires = {"CLK": [2], "ARST": [3], "D": [4, 5], "Q": [6, 7]}
    cell = "$adff", wires, {"CLK_POLARITY": polarity, "ARST_POLARITY": polarity}
    found = a_module(job, cell, q=("output", [6, 7]), **INPUTS)
    assert found.clocks() == [("clk", edge)]
    assert found.resets() == [("rst", int(polarity))]
    assert (found.state_bits, found.latches, found.products) == (2, 0, 0)
    assert found.ports[0] == ("q", "output", 2)


def test_a_clock_that_is_data_too_or_made_inside_is_told(job):
    cell = "$dff", {"CLK": [2], "D": [2], "Q": [6]}, {"CLK_POLARITY": "1"}
    assert a_module(job, cell, **INPUTS).clocks() == [("clk", "level"), ("clk", "posedge")]
    cell = "$dff", {"CLK": [9], "D": [4], "Q": [6]}, {"CLK_POLARITY": "1"}
    assert a_module(job, cell, **INPUTS).clocks() == [("", "posedge")]
    cell = "$dff", {"CLK": [5], "D": [3], "Q": [6]}, {"CLK_POLARITY": "1"}
    assert a_module(job, cell, **INPUTS).clocks() == [("", "posedge")]  # one bit of a bus
    assert a_module(job, **INPUTS).clocks() == a_module(job, **INPUTS).resets() == []


def test_latches_products_and_memories_have_a_size(job):
    cell = "$dlatch", {"EN": [2], "D": [4, 5], "Q": [6, 7]}, {"EN_POLARITY": "1"}
    found = a_module(job, cell, cell, **INPUTS)
    assert (found.latches, found.state_bits) == (4, 4)
    cell = "$mul", {"A": [2, 3, 4], "B": [4, 5], "Y": [8]}, {}
    assert a_module(job, cell, cell, **INPUTS).products == 12
    for ports, sizes in (("0", (0, 64)), ("1", (64, 0)), ("10", (64, 0))):
        none = {name: "0" for row in job.CLOCKS["$mem_v2"] for name in row[1:]}
        size = {"SIZE": "10000", "WIDTH": "100", "WR_PORTS": ports}
        cell = "$mem_v2", {"RD_CLK": [2], "WR_CLK": [2]}, {**none, **size}
        found = a_module(job, cell, **INPUTS)
        assert (found.state_bits, found.rom_bits) == sizes
        assert found.clocks() == []  # no port uses its clock
    memories = {"ram": {"size": 16, "width": 4}, "rom": {"size": 8, "width": 2}}
    write = "$memwr_v2", {"CLK": [2]}, {"MEMID": "\\ram", "CLK_POLARITY": "1", "CLK_ENABLE": "1"}
    found = a_module(job, write, memories=memories, **INPUTS)
    assert (found.state_bits, found.rom_bits) == (64, 16)
    assert found.clocks() == [("clk", "posedge")]


@pytest.mark.parametrize(
    ("ports", "stage"),
    [
        ({"a": ("inout", [2])}, "unsupported"),
        ({"a": ("input", ["0"])}, "compile"),
        ({"a": ("input", [2]), "b": ("input", [2])}, "compile"),
    ],
)
def test_ports_that_cannot_be_judged_are_refused(job, ports, stage):
    with pytest.raises(job.Refused) as refused:
        a_module(job, **ports)
    assert refused.value.args[0] == stage


def test_a_design_that_drives_z_is_refused(job):
    with pytest.raises(job.Refused, match="drives z"):
        a_module(job, ("$tribuf", {"A": [2], "Y": [4]}, {}), **INPUTS)
