"""The job that turns one hardware description into a netlist; runs in the sandbox, on its own.

The slots of the sandbox load it beforehand, and a job calls `main` in a fork of one. It uses the
standard library and pyosys alone, and reads ``answer.sv``, ``hardware.sv`` (the same without what
is no hardware) and ``request.json`` of its working directory. What it finds goes to files there:
``stage`` (how far it came), ``refusal.json`` or ``result.json`` with ``out.aag`` and ``out.map`` or
``out.v``, and ``diagnostics.json`` of the compiler. An error of Yosys ends the process at once,
which is why ``stage`` is written ahead of each part.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, NoReturn

from pyosys import libyosys as ys

SLANG = (
    "read_slang -j 1 --ignore-timing --ignore-assertions --disable-local-includes"
    " --max-generate-steps 20000 --unroll-limit 16384 --diag-json diagnostics.json"
)
PLACE = re.compile(r":(\d+)\.(\d+)")
# What is no keyword is matched first: strings, comments, escaped names, and names of macros.
WORDS = re.compile(
    r"""
      "[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*" | //[^\n]*+ | /\*[^*]*+\*++(?:[^/*][^*]*+\*++)*/
    | \\\S++
    | `(?:(?:define|undef|ifn?def|elsif)\s++)?\w++
    | \b(always_comb)\b
    | \b(function|task)\b
      (?!(?:\s|//[^\n]*+\n|/\*[^*]*+\*++(?:[^/*][^*]*+\*++)*/)+(?:automatic|static)\b)
    """,
    re.VERBOSE,
)

# How a cell of Yosys names its clocks: (connection, parameters for polarity and for use).
CLOCKS = {
    "$mem_v2": (
        ("RD_CLK", "RD_CLK_POLARITY", "RD_CLK_ENABLE"),
        ("WR_CLK", "WR_CLK_POLARITY", "WR_CLK_ENABLE"),
    ),
    "$memrd_v2": (("CLK", "CLK_POLARITY", "CLK_ENABLE"),),
    "$memwr_v2": (("CLK", "CLK_POLARITY", "CLK_ENABLE"),),
}
FLIP_FLOP = re.compile(r"\$(a|s|al)?dff(e|ce|sr|sre)?")
# What sets or clears it without one, if the last connection named here is constant.
RESETS = {
    "$adff": (("ARST", "ARST_POLARITY", ""),),
    "$aldff": (("ALOAD", "ALOAD_POLARITY", "AD"),),
    "$dffsr": (("CLR", "CLR_POLARITY", ""), ("SET", "SET_POLARITY", "")),
}
FF_CLOCK = (("CLK", "CLK_POLARITY", ""),)
LATCHES = frozenset({"$dlatch", "$adlatch", "$dlatchsr", "$sr"})
PRODUCTS = frozenset({"$mul", "$div", "$mod", "$divfloor", "$modfloor", "$pow"})
SELECTS = frozenset({"$shift", "$shiftx"})
TRISTATE = frozenset({"$tribuf", "$_TBUF_"})
NOT_GATES = frozenset({"$anyseq", "$scopeinfo"})
CHOICE = r"""
(* techmap_celltype = "$bmux" *)
module choose(A, S, Y);
    parameter WIDTH = 1, S_WIDTH = 1;
    input [(WIDTH << S_WIDTH) - 1:0] A;
    input [S_WIDTH - 1:0] S;
    output [WIDTH - 1:0] Y;
    assign Y = A[S * WIDTH +: WIDTH];
endmodule
"""
OPEN = r"""
(* techmap_celltype = "$tribuf" *)
module driven(A, EN, Y);
    parameter WIDTH = 1;
    input [WIDTH - 1:0] A;
    input EN;
    output [WIDTH - 1:0] Y;
    assign Y = EN ? A : {WIDTH{1'bx}};
endmodule
"""
SINGLE = r"""
(* techmap_celltype = "$pmux" *)
module single(A, B, S, Y);
    parameter WIDTH = 1, S_WIDTH = 1;
    input [WIDTH - 1:0] A;
    input [WIDTH * S_WIDTH - 1:0] B;
    input [S_WIDTH - 1:0] S;
    output [WIDTH - 1:0] Y;
    wire [WIDTH * (S_WIDTH + 1) - 1:0] among;
    assign among[0 +: WIDTH] = {WIDTH{1'b0}};
    genvar i;
    generate
        for (i = 0; i < S_WIDTH; i = i + 1)
            assign among[(i + 1) * WIDTH +: WIDTH] =
                among[i * WIDTH +: WIDTH] | ({WIDTH{S[i]}} & B[i * WIDTH +: WIDTH]);
    endgenerate
    assign Y = |(S & (S - 1'b1)) ? {WIDTH{1'bx}} : among[S_WIDTH * WIDTH +: WIDTH];
endmodule
"""
MEMORY = re.compile(r"^ *reg (?:\[\d+:\d+\] )?(\S+) +\[\d+:\d+\];", re.MULTILINE)
# Where a register may have an initial value.
STARTS = re.compile(r"\binitial\b|\b(?:reg|logic|bit|byte|int|integer)\b[^;()]*[^<>=!]=(?!=)")
TO_GATES = ("simplemap", "opt_expr", "opt_merge t:$*ff* t:$_*FF* %u %n", "opt_clean")


class Refused(Exception):
    """The design cannot be judged; the arguments are the stage and a sentence."""


class Job:
    """One elaboration."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.request, self.top = request, request["top"]
        self.design = ys.Design()
        self.starts = False
        self._stage = os.open("stage", os.O_WRONLY | os.O_CREAT)

    def stage(self, name: str) -> None:
        """Say what comes now."""
        os.pwrite(self._stage, name.ljust(16).encode(), 0)

    def run(self, *passes: str) -> None:
        """Run passes of Yosys on the design."""
        for words in passes:
            ys.run_pass(words, self.design)

    def said(self, command: str) -> str:
        """Run a pass, and return what it wrote."""
        self.run(f"tee -q -o said.txt {command}")
        return Path("said.txt").read_text(encoding="utf-8", errors="replace")

    def read(self) -> None:
        """Read the source; one that breaks the rules of the language ends here."""
        self.stage("compile")
        self.run(f"{SLANG} --ast-compilation-only --top {self.top} answer.sv")
        text = Path("hardware.sv").read_text(encoding="utf-8")
        self.starts = bool(STARTS.search(text))
        Path("answer.sv").write_text(WORDS.sub(reworded, text), encoding="utf-8")
        self.stage("synthesis")
        if self.request["lax"]:
            self.run("read_verilog -sv -noassert -noassume -norestrict answer.sv")
        else:
            self.run(f"{SLANG} --top {self.top} answer.sv")
        self.run(f"hierarchy -check -top {self.top}", "chformal -remove", "proc", "flatten")
        self.run("delete t:$print")  # which only references may hold
        self.run("opt_expr -keepdc", "opt_clean")

    def settle(self) -> None:
        """Make nets of many drivers choices among these: open where none drives, or several do."""
        Path("open.v").write_text(OPEN, encoding="ascii")
        self.run("select -set before t:$pmux", "tribuf -merge", "techmap -map open.v t:$tribuf")
        Path("single.v").write_text(SINGLE, encoding="ascii")
        self.run("techmap -map single.v t:$pmux @before %d", "opt_expr -keepdc", "opt_clean")

    def facts(self) -> dict[str, Any]:
        """Return what the design is; raise `Refused` where it is too large, or no plain logic."""
        self.stage("check")
        module = self.netlist()
        if self.request["tristate"] and floats(module):
            self.settle()
            module = self.netlist()
        facts = Facts(module)
        for kind, found, what in (
            ("state_bits", facts.state_bits, "bits of state"),
            ("rom_bits", facts.rom_bits, "bits of tables"),
            ("ands", facts.products, "gates in products and quotients"),
        ):
            most = self.request[kind]
            if found > most:
                raise Refused("resource", f"the design has {found} {what}, above {most}")
        self.check()  # not before: its time grows with the size of products, too
        # They show an x beyond the end, which a simulator knows what to do with.
        if facts.kinds & SELECTS and not self.request["rewrite"]:
            self.run("techmap -map %gates t:$shift t:$shiftx")
        return {
            "ports": facts.ports,
            "clocks": facts.clocks(),
            "latches": facts.latches,
            "state_bits": facts.state_bits,
            "resets": facts.resets(),
            "lost": bool(facts.resets()) and (self.starts or has_unknowns(module)),
        }

    def netlist(self) -> dict[str, Any]:
        """Return the design as data."""
        self.run("write_json netlist.json")
        text = Path("netlist.json").read_text(encoding="utf-8")
        return dict(json.loads(text)["modules"][self.top])

    def check(self) -> None:
        """Raise `Refused` where a signal has several drivers, or depends on itself."""
        said = self.said("check")
        conflict = re.search(r"multiple conflicting drivers for [^.]+\.\\?([\w.$]+)", said)
        if conflict:
            name = f"{conflict[1]:.100}"
            raise Refused("compile", f"{name}, or a net connected to it, has several drivers")
        if "found logic loop" in said:
            names = dict.fromkeys(re.findall(r"^ +wire \\(\S+)", said, re.MULTILINE))
            way = f" through {', '.join(names):.200}" if names else ""
            raise Refused("compile", f"the design has a combinational loop{way}")

    def map(self) -> int:
        """Turn the design into and-gates and flip-flops; return how many simple gates it had."""
        self.stage("map")
        self.run("memory_map", "async2sync" if self.request["clocked"] else "clk2fflogic")
        if self.request["split_x"]:
            # `xprop` takes for known what nothing drives, and what an enable keeps in a flip-flop.
            self.run("opt_clean", "dffunmap", "setundef -undriven -undef")
            self.run("xprop -assume-def-inputs -split-outputs")
            self.run("chformal -remove")
        # Values that nothing determines become free inputs before anything is simplified: most
        # passes would settle them as it suits. `opt_dff`, and merging flip-flops, would settle
        # what a flip-flop holds before its first clock.
        self.run("setundef -undriven -anyseq", "dffunmap")
        self.run("opt_expr", "opt_muxtree", "opt_reduce", "opt_expr", "opt_clean")
        self.run("techmap -map %arithmetic", *TO_GATES)
        kinds = self.kinds()
        if any(kind[1] != "_" and kind not in NOT_GATES for kind in kinds):
            self.run("techmap -map %gates", *TO_GATES)
            kinds = self.kinds()
        # What turned out to divide by zero is undetermined, too. The map says nothing of outputs
        # that are constant; the symbols name them.
        self.run("setundef -anyseq", "aigmap")
        self.run("write_aiger -ascii -zinit -symbols -no-startoffset -map out.map out.aag")
        with Path("out.aag").open(encoding="ascii") as file:
            ands = int(file.readline().split()[5])
        if ands > self.request["ands"]:
            most = self.request["ands"]
            raise Refused("resource", f"the design needs {ands} and-gates, above {most}")
        return sum(count for kind, count in kinds.items() if kind not in NOT_GATES)

    def write(self) -> None:
        """Write the design anew as one module of Verilog, with names of our own but for its ports.

        What is left of the text that it came from is what its gates, registers and latches do.
        """
        self.stage("map")
        # `write_verilog` would make a tree of gates of a choice among many.
        Path("choose.v").write_text(CHOICE, encoding="ascii")
        self.run("memory_collect", "techmap -map choose.v t:$bmux", "bwmuxmap", "opt_expr -keepdc")
        self.run("opt_clean", "rename -hide", "write_verilog -noattr out.v")
        text = Path("out.v").read_text(encoding="utf-8")
        if "\\$" in text:
            raise Refused("unsupported", "the design needs a cell that Verilog cannot express")
        for number, name in enumerate(MEMORY.findall(text)):  # which `rename` leaves as they are
            text = re.sub(rf"(?<![\w$\\.]){re.escape(name)}(?![\w$.])", f"_m{number}_", text)
        Path("out.v").write_text(text, encoding="utf-8")

    def kinds(self) -> dict[str, int]:
        """Return how many cells of each kind the design has."""
        said = self.said("stat -json")
        counts = json.loads(said[said.index("{") :])["design"]
        return dict(counts.get("num_cells_by_type", {}))


class Facts:
    """What the netlist of a module says about its ports and its state."""

    def __init__(self, module: dict[str, Any]) -> None:
        self.ports: list[tuple[str, str, int]] = []
        self._input: dict[Any, str] = {}  # bit -> the input that it is
        self._clocked: set[tuple[Any, int]] = set()
        self._reset: set[tuple[Any, int]] = set()
        self._read: set[Any] = set()  # bits that something but a clock pin reads
        self.latches, self.state_bits, self.rom_bits, self.products = 0, 0, 0, 0
        for name in sorted(module["ports"], key=lambda name: place(module["netnames"][name])):
            self._port(name, module["ports"][name])
        self.kinds = {cell["type"] for cell in module["cells"].values()}
        written = set()
        for cell in module["cells"].values():
            self._cell(cell)
            if cell["type"] == "$memwr_v2":
                written.add(cell["parameters"]["MEMID"].lstrip("\\"))
        for name, memory in module.get("memories", {}).items():
            self._memory(memory["size"] * memory["width"], written=name in written)

    def _port(self, name: str, port: dict[str, Any]) -> None:
        direction, bits = port["direction"], port["bits"]
        if direction == "inout":
            text = f"port {name} is an inout, and only inputs and outputs can be judged"
            raise Refused("unsupported", text)
        self.ports.append((name, direction, len(bits)))
        if direction == "output":
            self._read.update(bits)
            return
        for bit in bits:
            if isinstance(bit, str) or bit in self._input:  # a constant, or another input
                text = f"the input {name} is driven inside, perhaps by a net with several drivers"
                raise Refused("compile", text)
            self._input[bit] = name if len(bits) == 1 else ""

    def _cell(self, cell: dict[str, Any]) -> None:
        kind, wires, values = cell["type"], cell["connections"], cell["parameters"]
        pins = FF_CLOCK if FLIP_FLOP.fullmatch(kind) else CLOCKS.get(kind, ())
        for pin, polarity, use in pins:
            width = len(wires[pin])
            edges = lowest(values[polarity], width)
            used = lowest(values[use], width) if use else "1" * width
            for bit, edge, on in zip(wires[pin], edges, used, strict=True):
                if on == "1":
                    self._clocked.add((bit, int(edge)))
        for pin, polarity, loaded in RESETS.get(kind.removesuffix("e"), ()):
            if not loaded or all(isinstance(bit, str) for bit in wires[loaded]):
                self._reset.update((bit, int(values[polarity], 2)) for bit in wires[pin])
        clock_pins = {pin for pin, _, _ in pins}
        for pin, bits in wires.items():
            if pin not in clock_pins:
                self._read.update(bits)
        self._size(kind, wires, values)

    def _size(self, kind: str, wires: dict[str, Any], values: dict[str, str]) -> None:
        """Count what a cell adds to the size of the design."""
        if FLIP_FLOP.fullmatch(kind) or kind in LATCHES:
            self.state_bits += len(wires["Q"])
            self.latches += len(wires["Q"]) if kind in LATCHES else 0
        elif kind in PRODUCTS:  # as long as nothing is known of the operands
            self.products += len(wires["A"]) * len(wires["B"])
        elif kind == "$mem_v2":
            bits = int(values["SIZE"], 2) * int(values["WIDTH"], 2)
            self._memory(bits, written=int(values["WR_PORTS"], 2) > 0)
        elif kind in TRISTATE:
            text = "the design drives z: every signal is 0 or 1, chosen by a multiplexer"
            raise Refused("unsupported", text)

    def _memory(self, bits: int, *, written: bool) -> None:
        if written:
            self.state_bits += bits
        else:
            self.rom_bits += bits

    def clocks(self) -> list[tuple[str, str]]:
        """Return what moves the state: (input, edge), and (input, "level") where data reads it."""
        found = {(self._input.get(bit, ""), edge) for bit, edge in self._clocked}
        named = {(name, "posedge" if edge else "negedge") for name, edge in found}
        for bit, _ in self._clocked:
            if bit in self._input and bit in self._read:
                named.add((self._input[bit], "level"))
        return sorted(named)

    def resets(self) -> list[tuple[str, int]]:
        """Return the inputs that set or clear state without a clock, and the level."""
        found = {(self._input.get(bit, ""), level) for bit, level in self._reset}
        return sorted((name, level) for name, level in found if name)


def has_unknowns(module: dict[str, Any]) -> bool:
    """Return whether a net of the source has a bit that nothing determines."""
    nets = module["netnames"].values()
    return any("x" in net["bits"] for net in nets if not net["hide_name"])


def floats(module: dict[str, Any]) -> bool:
    """Return whether a cell of a module may leave a net to others, at z."""
    cells = module["cells"].values()
    return any(
        cell["type"] in TRISTATE or any("z" in bits for bits in cell["connections"].values())
        for cell in cells
    )


def reworded(found: re.Match[str]) -> str:
    """Return a word of a legal text as synthesis takes it; all but two kinds stay as they are.

    What an incomplete case in `always_comb` leaves alone is kept in a latch, as in simulation, and
    not a loop of gates; the new words are as long, so that columns in messages stay right. The
    variables of a function are each call's own: called from two blocks, they would be wires that
    two blocks drive.
    """
    if found[1]:
        return "always @(*)"
    return f"{found[2]} automatic" if found[2] else found[0]


def lowest(number: str, width: int) -> str:
    """Return so many bits of a binary number, the lowest first."""
    return number.zfill(width)[::-1][:width]


def place(net: dict[str, Any]) -> tuple[int, int]:
    """Return the line and column in which a net is declared; the front end sorts ports by name."""
    found = PLACE.search(net["attributes"].get("src", ""))
    return (int(found[1]), int(found[2])) if found else (0, 0)


def end(name: str, content: dict[str, Any]) -> NoReturn:
    """Write the outcome, and end without the time that taking everything down would cost."""
    Path(name).write_text(json.dumps(content), encoding="utf-8")
    os._exit(0)


def main() -> None:
    """Elaborate."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)  # the log of Yosys; its errors go to the standard error
    job = Job(json.loads(Path("request.json").read_text(encoding="utf-8")))
    try:
        job.read()
        facts = job.facts()
        facts["cells"] = 0
        if job.request["rewrite"]:
            job.write()
        else:
            facts["cells"] = job.map()
    except Refused as refusal:
        stage, detail = refusal.args
        end("refusal.json", {"stage": stage, "detail": detail})
    end("result.json", facts)
