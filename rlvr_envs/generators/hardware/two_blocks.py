"""The style of one combinational block that computes and one clocked block that stores."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rlvr_envs.generators.hardware.keywords import LATER, VERILOG
from rlvr_envs.generators.hardware.syntax import Token
from rlvr_envs.verifiers.hdl.interface import Clocking

_ITEMS = frozenset(
    {"always", "always_ff", "always_comb", "reg", "wire", "logic", "integer", "input", "output"}
    | {"localparam", "parameter", "int", "bit", "genvar", "endmodule"}
)
_OUTSIDE = frozenset(
    {"assign", "function", "task", "generate", "initial", "final", "typedef", "always_latch"}
    | {"defparam", "and", "nand", "nor", "xor", "xnor", "not", "buf", "bufif0", "bufif1", "notif0"}
    | {"notif1", "nmos", "pmos", "rnmos", "rpmos", "cmos", "rcmos", "tran", "tranif0", "tranif1"}
    | {"rtran", "rtranif0", "rtranif1", "pullup", "pulldown"}
)
_BLOCKS = frozenset({"always", "always_ff", "always_comb", "always_latch"})
_OPENS = frozenset({";", "end", "endcase"})  # what stands before an item of a module
_MOVES = frozenset({"(", ")", ";", "<=", "!", "~", "==", "!="})
_COMPUTING = (VERILOG | LATER) - {"begin", "end", "if", "else"}
_LOOKED_AT = 8  # tokens of a condition; that of a reset has at most 6


def not_two_blocks(found: Sequence[Token], clocking: Clocking | None) -> str:
    """Return which rule of the style some tokens break, empty if they are in it."""
    texts = [token.text for token in found]
    if texts.count("module") != 1 or texts[-1] != "endmodule":
        return "there is more than one module"
    outside = sorted(_OUTSIDE.intersection(texts))
    if outside:
        return f"the word `{outside[0]}` is not allowed"
    counts = [0, 0]  # of combinational and of clocked blocks
    for item in _items(found):
        is_clocked = any(token.text in ("posedge", "negedge") for token in item)
        if not item[0].text.startswith("always"):
            wrong = _not_a_declaration(item)
        else:
            counts[is_clocked] += 1
            wrong = _not_only_moves(item, clocking) if is_clocked else _not_combinational(item)
        if wrong:
            return wrong
    if sum(token.text in _BLOCKS for token in found) != sum(counts):
        return "a block is within something else"
    if counts[1] > (clocking is not None) or counts[0] > 1:
        return f"there are {counts[1]} clocked blocks and {counts[0]} combinational blocks"
    return ""


def _items(found: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Yield what stands in a module: each declaration and each block, with all up to the next."""
    starts = []
    depth = 0
    for number, token in enumerate(found):
        depth += {"begin": 1, "end": -1}.get(token.text, 0)
        opened = number > 0 and found[number - 1].text in _OPENS
        if depth == 0 and opened and token.text in _ITEMS:
            starts.append(number)
    for start, end in pairwise(starts):
        yield found[start:end]


def _not_a_declaration(item: Sequence[Token]) -> str:
    word = item[0].text
    if word not in ("localparam", "parameter") and any(token.text == "=" for token in item):
        return f"a `{word}` declaration gives a value"
    return ""


def _not_combinational(item: Sequence[Token]) -> str:
    texts = [token.text for token in item]
    every = texts[1:5] == ["@", "(", "*", ")"] or texts[1:3] == ["@", "*"]
    if texts[0] != "always_comb" and not (texts[0] == "always" and every):
        return "a combinational block begins with neither `always @(*)` nor `always_comb`"
    if texts.count("@") != (texts[0] == "always") or "or" in texts:
        return "there is something other than declarations between the blocks"
    return ""


def _not_only_moves(item: Sequence[Token], clocking: Clocking | None) -> str:
    """Return a complaint where a clocked block does more than to take values and to reset."""
    texts = [token.text for token in item]
    if texts[0] == "always_comb" or texts[1:3] != ["@", "("] or clocking is None:
        return "a clock edge is used outside of a clocked block"
    head = texts.index(")") + 1 if ")" in texts else 0
    edges = {"posedge", "negedge", "or", clocking.clock, clocking.reset}
    if any(token.kind == "word" and token.text not in edges for token in item[1:head]):
        return "the clocked block must use the edges of the clock and the reset only"
    for number in range(head, len(item)):
        wrong = _not_a_move(item[number : number + _LOOKED_AT], clocking)
        if wrong:
            return wrong
    return ""


def _not_a_move(rest: Sequence[Token], clocking: Clocking) -> str:
    """Return what is wrong with the first token of the rest of a clocked block."""
    token = rest[0]
    if (token.kind == "symbol" and token.text not in _MOVES) or (
        token.kind == "word" and token.text in _COMPUTING
    ):
        return f"`{token.text}` is not allowed in the clocked block"
    if token.text == "<=" and [after.text for after in rest[2:3]] != [";"]:
        return "the clocked block computes something, but it may only store values"
    if token.text == "if" and not _tests(rest[1:], clocking.reset):
        return "an `if` in the clocked block may test only the reset"
    return ""


def _tests(condition: Sequence[Token], reset: str) -> bool:
    """Return whether a condition in one pair of parentheses names the reset and nothing else."""
    texts = [token.text for token in condition]
    if ")" not in texts:
        return False
    inside = condition[: texts.index(")")]
    names = [token.text for token in inside if token.kind == "word"]
    return names == [reset] and sum(token.text == "(" for token in inside) == 1
