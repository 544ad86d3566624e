"""A design as the text of its netlist, in any of the styles: right by construction, no beauty.

The and-gates of an elaborated design become assignments of one operator each, its latches become
flip-flops. What a synchronous reset does is among the gates; an asynchronous one acts on the
flip-flops themselves, with the values that the gates would give under reset.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from rlvr_envs.generators.hardware.design import TOP, indented
from rlvr_envs.generators.hardware.styles import FLIP_FLOP
from rlvr_envs.verifiers.hdl.aig import Aig, read
from rlvr_envs.verifiers.hdl.equivalence import gold_of
from rlvr_envs.verifiers.hdl.interface import Clocking, Port, Reference

_ZERO = "1'b0"


def rewritten(reference: Reference, style: str) -> str:
    """Return the design of a reference in a style.

    Raises:
        ReferenceRefused: the reference cannot be elaborated.
    """
    graph = read(gold_of(reference))
    return _WRITERS[style](_Gates.of(graph, reference))


@dataclass(frozen=True, slots=True)
class _Gates:
    """A netlist with names.

    Attributes:
        ports: of the module.
        clocking: None where there is no state.
        names: variable → what it is called.
        gates: variable and the two literals whose conjunction it is.
        states: variable, literal of the next value, and the value that an asynchronous reset
            gives, None where none does.
        outputs: target of an assignment → literal.
        prefix: of names that no port has.
    """

    ports: tuple[Port, ...]
    clocking: Clocking | None
    names: dict[int, str]
    gates: list[tuple[int, int, int]]
    states: list[tuple[int, int, int | None]]
    outputs: dict[str, int]
    prefix: str

    @classmethod
    def of(cls, graph: Aig, reference: Reference) -> "_Gates":
        same = _simplified(graph)
        widths = {port.name: port.width for port in reference.ports}
        prefix = "n"
        while any(name.startswith(prefix) for name in widths):
            prefix += "n"
        names = {
            bit: _bit(port, place, widths[port])
            for port, bits in graph.inputs.items()
            for place, bit in enumerate(bits)
        }
        outputs = {
            _bit(port, place, widths[port]): _follow(same, literal)
            for port, row in graph.outputs.items()
            for place, literal in enumerate(row)
        }
        after = {state: _follow(same, literal) for state, literal in graph.latches}
        inside = {gate: (_follow(same, x), _follow(same, y)) for gate, x, y in graph.gates}
        live = _live(list(outputs.values()), after, inside)
        resets = _reset_values(graph, reference.clocking)
        states = [(n, after[n], resets.get(n)) for n, _ in graph.latches if n in live]
        gates = [(n, *inside[n]) for n, _, _ in graph.gates if n in live]
        names |= {n: f"{prefix}{n}" for n, *_ in (*gates, *states)}
        clocking = reference.clocking
        return cls(reference.ports, clocking, names, gates, states, outputs, prefix)

    def word(self, literal: int) -> str:
        """Return a literal as an expression."""
        if literal < 2:
            return f"1'b{literal}"
        return "~" * (literal & 1) + self.names[literal >> 1]

    def assignments(self, lead: str) -> list[str]:
        """Return all gates and outputs as assignments."""
        gates = [
            f"{lead}{self.names[gate]} = {self.word(left)} & {self.word(right)};"
            for gate, left, right in self.gates
        ]
        return gates + [f"{lead}{name} = {self.word(at)};" for name, at in self.outputs.items()]

    def declared(self, kind: str, names: list[str]) -> str:
        """Return declarations of single bits, as few to a line as fit."""
        lines = [", ".join(names[at : at + 10]) for at in range(0, len(names), 10)]
        return "".join(f"{kind} {line};\n" for line in lines)

    def module(self, body: str, *, inputs: str, outputs: str) -> str:
        """Return the module around a body."""
        words = {"input": inputs, "output": outputs}
        header = ",\n".join(
            "    " + port.declaration().replace(port.direction, words[port.direction], 1)
            for port in self.ports
        )
        return f"module {TOP} (\n{header}\n);\n{indented(body, 4)}\nendmodule\n"

    def edges(self) -> str:
        """Return when the state changes."""
        clocking = self.clocking
        if clocking is None:
            return ""
        edges = f"posedge {clocking.clock}"
        if clocking.reset and clocking.asynchronous:
            edge = "posedge" if clocking.reset_active else "negedge"
            return f"{edges} or {edge} {clocking.reset}"
        return edges

    def block(self, keyword: str, moves: list[tuple[int, str]]) -> str:
        """Return a clocked block in which variables take what is computed elsewhere."""
        resets = {number: value for number, _, value in self.states}
        plain = [f"{self.names[n]} <= {w};" for n, w in moves if resets[n] is None]
        under = [f"{self.names[n]} <= 1'b{resets[n]};" for n, _ in moves if resets[n] is not None]
        other = [f"{self.names[n]} <= {w};" for n, w in moves if resets[n] is not None]
        text = ""
        if plain:  # without the reset, which would be in their way
            clock = self.clocking.clock if self.clocking else ""
            text += _block(keyword, f"posedge {clock}", "\n".join(plain))
        if under and self.clocking:
            name = self.clocking.reset
            test = name if self.clocking.reset_active else f"!{name}"
            body = f"if ({test}) begin\n{_lines(under)}\nend else begin\n{_lines(other)}\nend"
            text += _block(keyword, self.edges(), body)
        return text


def _block(keyword: str, edges: str, body: str) -> str:
    return f"{keyword} @({edges}) begin\n{indented(body, 4)}\nend\n"


def _lines(statements: list[str]) -> str:
    return indented("\n".join(statements), 4)


def _bit(port: str, place: int, width: int) -> str:
    return port if width == 1 else f"{port}[{place}]"


def _follow(same: dict[int, int], literal: int) -> int:
    return same.get(literal >> 1, literal & ~1) ^ (literal & 1)


def _simplified(graph: Aig) -> dict[int, int]:
    """Return variable → the literal that it is the same as, for a design that has been reset.

    What is only unknown before the reset is 0 here, and the latch that says that the first step
    is over, whose next value is always 1, is 1.
    """
    same = dict.fromkeys(graph.free, 0) | {n: 1 for n, after in graph.latches if after == 1}
    for gate, one, other in graph.gates:
        left, right = sorted((_follow(same, one), _follow(same, other)))
        if left == 0 or left ^ 1 == right:
            same[gate] = 0
        elif left in (1, right):
            same[gate] = right
    return same


def _live(roots: list[int], after: dict[int, int], gates: dict[int, tuple[int, int]]) -> set[int]:
    """Return the variables that literals depend on, now or later."""
    stack = [literal >> 1 for literal in roots]
    seen: set[int] = set()
    while stack:
        number = stack.pop()
        if number not in seen:
            seen.add(number)
            stack += [literal >> 1 for literal in gates.get(number, ())]
            stack += [after[number] >> 1] if number in after else []
    return seen


def _reset_values(graph: Aig, clocking: Clocking | None) -> dict[int, int]:
    """Return latch → its value under an asynchronous reset, where it has one."""
    if clocking is None or not clocking.reset or not clocking.asynchronous:
        return {}
    known = {0: 0, graph.inputs[clocking.reset][0]: clocking.reset_active}

    def value(literal: int) -> int | None:
        found = known.get(literal >> 1)
        return None if found is None else found ^ (literal & 1)

    for gate, one, other in graph.gates:
        left, right = value(one), value(other)
        if left == 0 or right == 0:
            known[gate] = 0
        elif left == 1 and right == 1:
            known[gate] = 1
    found = {number: value(after) for number, after in graph.latches}
    return {number: bit for number, bit in found.items() if bit is not None}


# --- styles ---------------------------------------------------------------------------------


def _systemverilog(netlist: _Gates) -> str:
    inside = [netlist.names[n] for n, *_ in (*netlist.states, *netlist.gates)]
    body = netlist.declared("logic", inside) + "\n".join(netlist.assignments("assign ")) + "\n"
    body += netlist.block("always_ff", [(n, netlist.word(at)) for n, at, _ in netlist.states])
    return netlist.module(body, inputs="input logic", outputs="output logic")


def _verilog2001(netlist: _Gates) -> str:
    body = netlist.declared("reg", [netlist.names[n] for n, *_ in netlist.states])
    body += netlist.declared("wire", [netlist.names[n] for n, *_ in netlist.gates])
    body += "\n".join(netlist.assignments("assign ")) + "\n"
    body += netlist.block("always", [(n, netlist.word(at)) for n, at, _ in netlist.states])
    return netlist.module(body, inputs="input", outputs="output")


def _two_blocks(netlist: _Gates) -> str:
    states = [netlist.names[n] for n, *_ in netlist.states]
    nexts = [f"{netlist.prefix}_{name}" for name in states]
    gates = [netlist.names[n] for n, *_ in netlist.gates]
    lines = netlist.assignments("")
    lines += [
        f"{name} = {netlist.word(at)};"
        for name, (_, at, _) in zip(nexts, netlist.states, strict=True)
    ]
    body = netlist.declared("reg", [*states, *nexts, *gates])
    body += f"always @(*) begin\n{_lines(lines)}\nend\n"
    if len({value is None for *_, value in netlist.states}) > 1:
        # There is one block for all, so nothing has the reset: the gates see to it in each cycle.
        netlist = replace(netlist, states=[(n, at, None) for n, at, _ in netlist.states])
    moves = [(n, name) for name, (n, _, _) in zip(nexts, netlist.states, strict=True)]
    body += netlist.block("always", moves)
    return netlist.module(body, inputs="input", outputs="output reg")


def _flip_flops(netlist: _Gates) -> str:
    """Write the state as instances of the flip-flop that is given, which starts at 0."""
    clocking, prefix = netlist.clocking, netlist.prefix
    held = {n: f"{prefix}_q{n}" for n, *_ in netlist.states}
    inside = [netlist.names[n] for n, *_ in (*netlist.states, *netlist.gates)]
    wires = [*inside, *held.values(), *(f"{prefix}_d{n}" for n in held)]
    lines = netlist.assignments("assign ")
    reset = ""
    if clocking is not None and clocking.reset and clocking.asynchronous:
        wires.append(f"{prefix}_r")
        level = "" if clocking.reset_active else "~"
        lines.append(f"assign {prefix}_r = {level}{clocking.reset};")
        reset = f"{prefix}_r"
    for n, after, value in netlist.states:
        # A bit that is reset to 1 is kept inverted.
        invert = value == 1
        lines.append(f"assign {prefix}_d{n} = {netlist.word(after ^ invert)};")
        lines.append(f"assign {netlist.names[n]} = {'~' * invert}{held[n]};")
        pin = f".rst({reset if value is not None else _ZERO}), " * bool(reset)
        clock = clocking.clock if clocking else ""
        lines.append(
            f"{FLIP_FLOP} {prefix}_f{n} (.clk({clock}), {pin}.d({prefix}_d{n}), .q({held[n]}));"
        )
    body = netlist.declared("wire", wires) + "\n".join(lines)
    return netlist.module(body, inputs="input", outputs="output")


_WRITERS: dict[str, Callable[[_Gates], str]] = {
    "systemverilog": _systemverilog,
    "verilog2001": _verilog2001,
    "two_blocks": _two_blocks,
    "dataflow": _flip_flops,
    "structural": _flip_flops,
}
