"""The operations of `Alu`: what they are in words, and two expressions of each."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation on the operands ``p`` and ``q``, which the prompt calls `a` and `b`.

    Attributes:
        meaning: in words.
        first: an expression; @n stands for the width, @t for the top bit, @h for half the width.
        second: another one.
        block: statements before ``first`` that set a register, whose name comes first.
        carry: ``add`` or ``subtract`` where the flags of sums and differences apply.
        each: an expression of bit @i, with which ``second`` is made of all bits instead.
        between: what stands between these; a comma makes a concatenation with bit 0 at the top.
    """

    meaning: str
    first: str
    second: str = ""
    block: str = ""
    carry: str = ""
    each: str = ""
    between: str = ", "

    def words(self, width: int) -> str:
        """Return the meaning for a width."""
        return _filled(self.meaning, width)

    def golden(self, width: int) -> str:
        """Return the first expression."""
        return _filled(self.first, width)

    def alternative(self, width: int) -> str:
        """Return the second expression."""
        if not self.each:
            return _filled(self.second, width)
        bits = [_filled(self.each, width).replace("@i", str(i)) for i in range(width)]
        text = self.between.join(bits)
        return f"{{{text}}}" if self.between == ", " else text


def _filled(text: str, width: int) -> str:
    marks = {"@n": width, "@t": width - 1, "@u": width - 2, "@h": width // 2}
    for mark, value in marks.items():
        text = text.replace(mark, str(value))
    return text


OPERATIONS = (
    Operation("`a` + `b`", "p + q", "p - ~q - 1'b1", carry="add"),
    Operation("`a` - `b`", "p - q", "p + ~q + 1'b1", carry="subtract"),
    Operation("`a` AND `b`", "p & q", "~(~p | ~q)"),
    Operation("`a` OR `b`", "p | q", "~(~p & ~q)"),
    Operation("`a` XOR `b`", "p ^ q", "(p | q) & ~(p & q)"),
    Operation("NOT (`a` AND `b`)", "~(p & q)", "~p | ~q"),
    Operation("NOT (`a` OR `b`)", "~(p | q)", "~p & ~q"),
    Operation("`a` AND NOT `b`", "p & ~q", "p ^ (p & q)"),
    Operation("NOT `a`", "~p", "{@n{1'b1}} - p"),
    Operation("`a` is smaller than `b`", "p < q", "@n'(({1'b0, p} - {1'b0, q}) >> @n)"),
    Operation(
        "`a` is smaller than `b`, both signed",
        "$signed(p) < $signed(q)",
        "{~p[@t], p[@u:0]} < {~q[@t], q[@u:0]}",
    ),
    Operation("the larger of `a` and `b`", "p > q ? p : q", "p ^ ((p ^ q) & {@n{p < q}})"),
    Operation(
        "the smaller of `a` and `b`, both signed",
        "$signed(p) < $signed(q) ? p : q",
        "(p[@t] ^ q[@t] ? p[@t] : p < q) ? p : q",
    ),
    Operation("`a` rotated left by one place", "{p[@u:0], p[@t]}", "(p << 1) | (p >> @t)"),
    Operation(
        "`a` shifted right by one place, its top bit copied",
        "$signed(p) >>> 1",
        "{p[@t], p[@t:1]}",
    ),
    Operation(
        "`a` shifted left by `b` places, with zeros, so 0 where `b` is @n or more",
        "p << q",
        "q >= @n ? {@n{1'b0}} : @n'({p, {@n{1'b0}}} >> (@n - q))",
    ),
    Operation(
        "the bits of `a` in reverse order",
        "mirror",
        block="mirror[@t - k] = p[k];",
        each="p[@i]",
    ),
    Operation(
        "the number of ones in `a`",
        "ones",
        block="ones = ones + p[k];",
        each="@n'(p[@i])",
        between=" + ",
    ),
    Operation(
        "the number of zeros above the topmost 1 of `a`, @n where `a` is 0",
        "leading",
        block="leading = p[k] ? @t - k : leading + (k == 0 ? @n : 0);",
        each="@n'(~|(p >> @i))",
        between=" + ",
    ),
    Operation("`a` with its lowest 1 set to 0, 0 where `a` is 0", "p & (p - 1'b1)", "p ^ (p & -p)"),
    Operation(
        "the absolute difference of `a` and `b`",
        "p > q ? p - q : q - p",
        "((p - q) ^ {@n{p < q}}) + (p < q)",
    ),
    Operation(
        "the sum of `a` and `b`, or all ones where it does not fit",
        "q > ~p ? {@n{1'b1}} : p + q",
        "(p + q) | {@n{(p + q) < p}}",
    ),
    Operation(
        "half the exact sum of `a` and `b`, rounded down",
        "({1'b0, p} + {1'b0, q}) >> 1",
        "(p & q) + ((p ^ q) >> 1)",
    ),
    Operation(
        "`a` XOR (`a` shifted right by one place, with a zero)",
        "p ^ (p >> 1)",
        "{p[@t], p[@t:1] ^ p[@u:0]}",
    ),
)


def golden_blocks(operations: Iterable[Operation], width: int) -> list[str]:
    """Return the loops that the first expressions of some operations need."""
    lines = []
    for operation in operations:
        if operation.block:
            name, k = operation.first, f"k_{operation.first}"
            lines.append(f"reg [{width - 1}:0] {name};\ninteger {k};\nalways @(*) begin")
            lines.append(f"{name} = 0;\nfor ({k} = 0; {k} < {width}; {k} = {k} + 1)")
            lines.append(f"{_filled(operation.block, width).replace('k', k)}\nend")
    return lines
