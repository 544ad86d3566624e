"""Alu: a table of operations with flags."""

from collections.abc import Iterable
from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware.design import Design, inputs, literal, module, outputs, sv_module
from rlvr_envs.generators.hardware.tables import article
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, feature_knob

# The operations of `Alu`: what they are in words, and two expressions of each.


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


# In the order in which higher levels add them.
FEATURES = ("zero", "negative", "carry", "overflow", "parity", "swap")
_ABOUT = {
    "zero": "1 if the result is 0",
    "negative": "most significant bit of the result",
    "carry": "carry or borrow of an addition or subtraction",
    "overflow": "signed overflow of an addition or subtraction",
    "parity": "parity of the result",
}
_WIDEST, _MOST = 24, 16


@dataclass(frozen=True, slots=True, kw_only=True)
class AluConfig(DesignConfig):
    """How wide the operands are, and how many operations there are."""

    width: int = knob(5, "operand width in bits", low=2, high=_WIDEST)
    operations: int = knob(4, "number of operations in the table", low=2, high=_MOST)
    features: int = feature_knob(2, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "AluConfig":
        """A bit and an operation more a step and, up to 8, 2 features every 3 steps.

        The numbers stop at 24 bits and 16 operations.
        """
        return cls(
            width=min(2 + difficulty, _WIDEST),
            operations=min(2 + difficulty, _MOST),
            features=min((2 * difficulty + 2) // 3, len(FEATURES)),
        )


@register("Alu-v0", domain="verilog", answer_format=LANGUAGE)
class AluTask(DesignTask[AluConfig]):
    """Write an arithmetic logic unit from a random table of operations.

    Description:
        An input selects an operation: logic, arithmetic, comparison, bit tricks and counts, under
        opcodes in no order. Some flags describe the result, others belong to some operations
        only. An input can swap the operands.

    Observation:
        What the module does in numbered rules or prose, its ports, and a table of operations.

    Difficulty:
        Operands get wider, the table gets longer and the flags more.

    References:
        Harris and Harris, Digital Design and Computer Architecture, 5.2, for such units; Warren,
        Hacker's Delight, for the bit tricks; Liu et al. 2023, VerilogEval, arXiv:2309.07544, for
        the form of such problems.
    """

    def design(self, rng: Rng) -> Design:
        config = self.config
        order = rng.permutation(len(OPERATIONS)).tolist()[: config.operations]
        if config.features >= FEATURES.index("carry") + 1:
            # A flag that belongs to sums and differences needs one of them.
            arithmetic = [i for i, op in enumerate(OPERATIONS) if op.carry]
            if not set(arithmetic) & set(order):
                order[0] = pick(rng, arithmetic)
        bits = (config.operations - 1).bit_length()
        codes = rng.permutation(2**bits).tolist()[: config.operations]
        return _Alu(
            width=config.width,
            bits=bits,
            table={code: OPERATIONS[i] for code, i in sorted(zip(codes, order, strict=True))},
            other=integer(rng, 0, 2**config.width - 1),
            even=bool(integer(rng, 0, 1)),
            swap_level=integer(rng, 0, 1),
            features=FEATURES[: config.features],
            names=pick(rng, (("op", "y"), ("sel", "result"), ("func", "out"))),
        ).design()


@dataclass(frozen=True, slots=True)
class _Alu:
    width: int
    bits: int  # of the code
    table: dict[int, Operation]
    other: int  # the result for codes that are not in the table
    even: bool  # whether the parity is 1 for an even number of ones
    swap_level: int
    features: tuple[str, ...]
    names: tuple[str, str]  # of the code and the result

    def design(self) -> Design:
        has, (code, y) = self.features.__contains__, self.names
        signals = inputs(
            ("a", self.width, "first operand"),
            ("b", self.width, "second operand"),
            (code, self.bits, "opcode"),
        )
        if has("swap"):
            signals += inputs(
                ("swap", 1, f"the operands are swapped while this is {self.swap_level}")
            )
        signals += outputs((y, self.width, "the result"))
        for flag in FEATURES[:-1]:
            if has(flag):
                signals += outputs((flag, 1, _ABOUT[flag]))
        rows = [
            f"| {literal(self.bits, value)} | {op.words(self.width)} |"
            for value, op in self.table.items()
        ]
        return Design(
            title=f"{article(self.width)} {self.width}-bit arithmetic logic unit (ALU) with "
            f"{len(rows)} operations",
            signals=signals,
            rules=self._rules(),
            golden=module(signals, self._golden(), registers=(y, "carry", "overflow")),
            alternative=sv_module(signals, self._alternative()),
            figure="\n".join([f"| `{code}` | result |", "| --- | --- |", *rows]),
        )

    def _rules(self) -> tuple[str, ...]:
        has, n, (code, y) = self.features.__contains__, self.width, self.names
        meanings = [op.meaning for op in self.table.values()]
        result = f"`{y}` is the result that the table gives for opcode `{code}`, modulo 2^{n}."
        if any(" is smaller than " in meaning for meaning in meanings):
            result += " A condition gives 1 if it is true and 0 if it is false."
        if any("signed" in meaning for meaning in meanings):
            result += " Operands are unsigned unless the table says signed (two's complement)."
        else:
            result += " Operands are unsigned."
        rules = [result]
        if len(self.table) < 2**self.bits:
            rules.append(
                f"If the value of `{code}` is not in the table, `{y}` is {literal(n, self.other)} "
                f"(decimal {self.other})."
            )
        if has("swap"):
            rules.append(
                f"While `swap` is {self.swap_level}, the two operands are swapped: everywhere in "
                "these rules and in the table, `a` means the input `b`, and `b` means the input "
                "`a`."
            )
        if has("zero"):
            rules.append(f"`zero` is 1 if and only if `{y}` is 0.")
        if has("negative"):
            rules.append(f"`negative` is bit {n - 1} of `{y}` (its most significant bit).")
        if has("parity"):
            kind = "even" if self.even else "odd"
            rules.append(f"`parity` is 1 if and only if the number of ones in `{y}` is {kind}.")
        if has("carry"):
            conditions = {
                "add": f"`a` + `b` if the exact unsigned sum is above {2**n - 1}",
                "subtract": "`a` - `b` if `a` is smaller than `b` (unsigned)",
            }
            cases = " and for the operation ".join(conditions[kind] for kind in self._flagged())
            rules.append(
                f"`carry` is 1 for the operation {cases}. Otherwise, and for all other operations "
                "and opcodes, it is 0."
            )
        if has("overflow"):
            names = {"add": "`a` + `b`", "subtract": "`a` - `b`"}
            cases = " and ".join(names[kind] for kind in self._flagged())
            rules.append(
                f"`overflow` is 1 for {cases} if the exact result of the two's complement operands "
                f"is below {-(2 ** (n - 1))} or above {2 ** (n - 1) - 1}. Otherwise, and for all "
                "other operations and opcodes, it is 0."
            )
        return tuple(rules)

    def _flagged(self) -> list[str]:
        """Return which of the operations with flags there are: ``add``, ``subtract``."""
        there = {op.carry for op in self.table.values()}
        return [kind for kind in ("add", "subtract") if kind in there]

    def _flag_codes(self, which: str) -> str:
        """Return a condition on the code: that it adds or subtracts."""
        codes = [value for value, op in self.table.items() if op.carry == which]
        tests = [f"{self.names[0]} == {literal(self.bits, value)}" for value in codes]
        return f"({' || '.join(tests) or 0})"

    def _operands(self) -> tuple[str, str]:
        if "swap" not in self.features:
            return "a", "b"
        order = ("a", "b") if self.swap_level else ("b", "a")
        return f"swap ? {order[1]} : {order[0]}", f"swap ? {order[0]} : {order[1]}"

    def _golden(self) -> str:
        """Return a case over the codes; carries come from sums of one bit more."""
        has, n, (code, y) = self.features.__contains__, self.width, self.names
        left, right = self._operands()
        lines = [f"wire [{n - 1}:0] p = {left};\nwire [{n - 1}:0] q = {right};"]
        lines += golden_blocks(self.table.values(), n)
        lines.append(f"always @(*)\ncase ({code})")
        lines += [
            f"{literal(self.bits, value)}: {y} = {op.golden(n)};"
            for value, op in self.table.items()
        ]
        lines.append(f"default: {y} = {literal(n, self.other)};\nendcase")
        adds, subtracts = self._flag_codes("add"), self._flag_codes("subtract")
        if has("zero"):
            lines.append(f"assign zero = {y} == 0;")
        if has("negative"):
            lines.append(f"assign negative = {y}[{n - 1}];")
        if has("parity"):
            lines.append(f"assign parity = {'~' if self.even else ''}^{y};")
        if has("carry"):
            lines.append(f"wire [{n}:0] sum = p + q;\nwire [{n}:0] difference = p - q;")
            lines.append(f"always @(*)\nif ({adds}) carry = sum[{n}];")
            lines.append(f"else if ({subtracts}) carry = difference[{n}];\nelse carry = 0;")
        if has("overflow"):
            same, kept = f"p[{n - 1}] == q[{n - 1}]", f"{y}[{n - 1}] == p[{n - 1}]"
            lines.append(f"always @(*)\nif ({adds}) overflow = {same} && !({kept});")
            lines.append(f"else overflow = {subtracts} && !({same}) && !({kept});")
        return "\n".join(lines)

    def _alternative(self) -> str:
        """Return all results at once, of which one is taken, and flags from bounds."""
        has, n, (code, y) = self.features.__contains__, self.width, self.names
        left, right = self._operands()
        lines = [f"logic [{n - 1}:0] p, q;\nassign p = {left};\nassign q = {right};"]
        terms = []
        for value, op in self.table.items():
            hit = f"{code} == {literal(self.bits, value)}"
            lines.append(f"logic [{n - 1}:0] r{value};\nassign r{value} = {op.alternative(n)};")
            terms.append(f"({{{n}{{{hit}}}}} & r{value})")
        hits = " | ".join(f"{code} == {literal(self.bits, value)}" for value in self.table)
        terms.append(f"({{{n}{{~({hits})}}}} & {literal(n, self.other)})")
        lines.append(f"assign {y} = {' | '.join(terms)};")
        adds, subtracts = self._flag_codes("add"), self._flag_codes("subtract")
        if has("zero"):
            lines.append(f"assign zero = ~|{y};")
        if has("negative"):
            lines.append(f"assign negative = $signed({y}) < 0;")
        if has("parity"):
            ones = " ^ ".join(f"{y}[{i}]" for i in range(n))
            lines.append(f"assign parity = 1'b{int(self.even)} ^ {ones};")
        if has("carry"):
            lines.append(f"assign carry = {adds} & (q > ~p) | {subtracts} & (p < q);")
        if has("overflow"):
            low, high = -(2 ** (n - 1)), 2 ** (n - 1) - 1
            lines.append(f"logic signed [{n + 1}:0] ps, qs, both;")
            lines.append(f"assign ps = {n + 2}'($signed(p));\nassign qs = {n + 2}'($signed(q));")
            lines.append(f"assign both = {adds} ? ps + qs : {subtracts} ? ps - qs : 0;")
            lines.append(f"assign overflow = both < {low} | both > {high};")
        return "\n".join(lines)


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
    Operation("`a` rotated left by one bit", "{p[@u:0], p[@t]}", "(p << 1) | (p >> @t)"),
    Operation(
        "`a` shifted right arithmetically by one bit (the most significant bit is copied)",
        "$signed(p) >>> 1",
        "{p[@t], p[@t:1]}",
    ),
    Operation(
        "`a` shifted left by `b` bits, filled with zeros (0 if `b` is @n or more)",
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
        "the number of leading zeros of `a` (@n if `a` is 0)",
        "leading",
        block="leading = p[k] ? @t - k : leading + (k == 0 ? @n : 0);",
        each="@n'(~|(p >> @i))",
        between=" + ",
    ),
    Operation(
        "`a` with its least significant 1 cleared (0 if `a` is 0)", "p & (p - 1'b1)", "p ^ (p & -p)"
    ),
    Operation(
        "the absolute difference of `a` and `b`",
        "p > q ? p - q : q - p",
        "((p - q) ^ {@n{p < q}}) + (p < q)",
    ),
    Operation(
        "`a` + `b` with saturation: all ones if the exact sum does not fit",
        "q > ~p ? {@n{1'b1}} : p + q",
        "(p + q) | {@n{(p + q) < p}}",
    ),
    Operation(
        "half of the exact sum of `a` and `b`, rounded down",
        "({1'b0, p} + {1'b0, q}) >> 1",
        "(p & q) + ((p ^ q) >> 1)",
    ),
    Operation(
        "`a` XOR (`a` shifted right logically by one bit)",
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
