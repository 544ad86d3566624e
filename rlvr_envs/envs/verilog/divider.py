"""Divider: division of whole numbers, a few bits in each cycle."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.syntax import tokens
from rlvr_envs.generators.hardware.tables import table
from rlvr_envs.generators.hardware.task import (
    LANGUAGE,
    DesignConfig,
    DesignTask,
    VerilogProblem,
    feature_knob,
)
from rlvr_envs.verifiers.hdl.interface import Clocking

# In the order in which higher levels add them.
FEATURES = ("remainder", "zero", "signed", "abort", "early", "mode")
# How a division by zero shows in the quotient.
ZERO_RULES = ("ones", "zero", "dividend")
# Kinds of division.
KINDS = {
    "unsigned": "the operands are unsigned",
    "truncated": "the operands are signed, and the quotient is rounded towards zero",
    "floored": "the operands are signed, and the quotient is rounded down (towards minus infinity)",
    "euclidean": "the operands are signed, and the remainder is never negative",
}
_WIDEST = 16
_NAMES = (
    ("start", "dividend", "divisor", "quotient"),
    ("go", "num", "den", "quot"),
    ("begin_div", "a", "b", "q"),
)
_OPERATORS = frozenset({"/", "%", "/=", "%="})


@dataclass(frozen=True, slots=True, kw_only=True)
class DividerConfig(DesignConfig):
    """How wide the operands are, and which features are added."""

    width: int = knob(4, "width of the operands, in bits", low=2, high=_WIDEST)
    features: int = feature_knob(2, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "DividerConfig":
        """Two levels of three add a feature, up to 9; the third adds a bit.

        The width stops at 16 bits.
        """
        more = (difficulty + 2) // 3
        return cls(width=min(4 + more, _WIDEST), features=min((2 * difficulty) // 3, len(FEATURES)))


@register("Divider-v0", domain="verilog", answer_format=LANGUAGE)
class DividerTask(DesignTask[DividerConfig]):
    """Write a divider of whole numbers without the operator for it.

    Description:
        Operands are taken at a start, and a known number of cycles later quotient and remainder
        come. Later levels add a rule for division by zero, signed operands with three ways to
        round, an abort, a duration that depends on the dividend, and an input for the kind.

    Observation:
        What the module does in numbered rules or prose, its ports, and the kind of its reset.

    Action:
        The module as one block of Verilog or SystemVerilog, without the operators ``/`` and
        ``%``.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md). For wide
        operands the proof may stay open, and a long simulation decides. A reset that is not
        written and a value that is not determined count as wrong.

    Difficulty:
        Operands get wider, and more cases need care.

    References:
        Parhami, Computer Arithmetic, ch. 13, for division by shifting and subtracting; Boute, The
        Euclidean definition of the functions div and mod, TOPLAS 1992, for the kinds of rounding.
    """

    def design(self, rng: Rng) -> hw.Design:
        features = FEATURES[: self.config.features]
        width = integer(rng, max(2, self.config.width - 1), self.config.width)
        kinds = list(KINDS)
        rng.shuffle(kinds)
        if "mode" not in features:
            kinds = [pick(rng, list(KINDS)[1:]) if "signed" in features else "unsigned"]
        return DividerSources(
            clocking=hw.draw_clocking(rng),
            width=width,
            step=integer(rng, 1, 2),
            kinds=tuple(kinds),
            zero_rule=pick(rng, ZERO_RULES),
            start=integer(rng, 0, 2**width - 1),
            abort_wins=bool(integer(rng, 0, 1)),
            features=features,
            names=pick(rng, _NAMES),
        ).design()

    def verify(self, problem: VerilogProblem, answer: str) -> Verdict:
        used = _OPERATORS.intersection(token.text for token in tokens(answer))
        if used:
            return Verdict.wrong(f"the operator `{min(used)}` is not allowed")
        return super().verify(problem, answer)


# Dividers in words and in two kinds of Verilog; what is drawn comes from the task.


@dataclass(frozen=True, slots=True)
class DividerSources:
    """What was drawn for one divider, its rules and its sources."""

    clocking: Clocking
    width: int
    step: int  # bits of the quotient that a cycle makes
    kinds: tuple[str, ...]  # of division, by code
    zero_rule: str
    start: int  # of the quotient, after reset
    abort_wins: bool  # whether a start at the time of an abort is ignored
    features: tuple[str, ...]
    names: tuple[str, str, str, str]

    def design(self) -> hw.Design:
        """Return the design."""
        ports = self._signals()
        registers = [self.names[3], "done"]
        registers += ["remainder"] if self._has("remainder") else []
        registers += ["by_zero"] if self._has("zero") else []
        return hw.Design(
            title=f"a divider for {self.width}-bit numbers that takes several clock cycles",
            signals=ports,
            rules=(*self._time_rules(), *self._value_rules(), *self._last_rules()),
            golden=hw.module(ports, self._golden(), registers=registers),
            alternative=hw.sv_module(ports, self._alternative()),
            clocking=self.clocking,
            figure=self._figure(),
        )

    def _has(self, feature: str) -> bool:
        return feature in self.features

    @property
    def _longest(self) -> int:
        """Return the cycles of a division where the dividend has all its bits."""
        return -(-self.width // self.step)

    @property
    def _bits(self) -> int:
        return self._longest.bit_length()

    def _signals(self) -> tuple[hw.Signal, ...]:
        start, dividend, divisor, quotient = self.names
        signals = hw.clock_signals(self.clocking) + hw.inputs(
            (start, 1, "1 requests a division"),
            (dividend, self.width, "the dividend"),
            (divisor, self.width, "the divisor"),
        )
        if self._has("mode"):
            signals += hw.inputs(("mode", 2, "selects the kind of division"))
        if self._has("abort"):
            signals += hw.inputs(("abort", 1, "1 aborts a division"))
        signals += hw.outputs(
            (quotient, self.width, "the last quotient"),
            ("busy", 1, "1 during a division"),
            ("done", 1, "1 in the cycle in which a result is new"),
        )
        if self._has("remainder"):
            signals += hw.outputs(("remainder", self.width, "the last remainder"))
        if self._has("zero"):
            signals += hw.outputs(("by_zero", 1, "1 if the last divisor was 0"))
        return signals

    @property
    def _results(self) -> str:
        """Return the outputs that a division sets, in words."""
        names = [f"`{self.names[3]}`"]
        names += ["`remainder`"] if self._has("remainder") else []
        names += ["`by_zero`"] if self._has("zero") else []
        return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

    def _time_rules(self) -> list[str]:
        start, dividend, divisor, _ = self.names
        taken = f"`{dividend}` and `{divisor}`"
        if self._has("mode"):
            taken = f"`{dividend}`, `{divisor}` and `mode`"
        rules = [
            (
                f"At a rising clock edge where `{start}` is 1 and `busy` is 0, {taken} are "
                f"sampled and a division begins. While `busy` is 1, `{start}` is ignored."
            ),
        ]
        per = "one bit" if self.step == 1 else "two bits"
        if self._has("early"):
            size = "the number of bits of the magnitude of the dividend without leading zeros"
            half = "" if self.step == 1 else " divided by 2, rounded up"
            how = f"B{half}, but at least 1, where B is {size}"
            rules.append(
                f"A division takes L clock cycles: L is {how} (a divider that makes {per} of the "
                "quotient in each cycle needs no more)."
            )
        else:
            rules.append(f"A division takes L = {self._longest} clock cycles.")
        if self._has("zero"):
            rules.append("If the divisor is 0, L is 1 instead.")
        rules.append(
            "`busy` is 1 in the L cycles after the edge at which the division began, and 0 "
            f"otherwise. At the edge that ends the last of these cycles, {self._results} "
            "take the result, and `done` becomes 1 for one cycle. In that cycle `busy` is 0 again, "
            "so that the next division can begin at the edge that ends it. "
            f"{self._results} keep their values until the next result."
        )
        if len(self.features) == 0:
            rules[-1] = rules[-1].replace(" take the", " takes the")
            rules[-1] = rules[-1].replace(" keep their values", " keeps its value")
        if self._has("abort"):
            idle = (
                f"`{start}` is ignored at that edge, too"
                if self.abort_wins
                else f"a division begins if `{start}` is 1, as without `abort`"
            )
            rules.append(
                "At a rising clock edge where `abort` is 1 and `busy` is 1, the division ends "
                "without a result (also if it would have ended at that edge): `busy` and `done` "
                f"are 0 in the next cycle. At an edge where `abort` is 1 and `busy` is 0, {idle}."
            )
        return rules

    def _value_rules(self) -> list[str]:
        quotient = self.names[3]
        rest = (
            ", and `remainder` is dividend - quotient * divisor" if self._has("remainder") else ""
        )
        rules = []
        if self._has("mode"):
            rules.append("`mode` selects the kind of division; see the table below.")
        elif self._has("signed"):
            rules.append(f"The numbers are in two's complement: {KINDS[self.kinds[0]]}.")
        else:
            rules.append("The operands are unsigned.")
        if self.kinds != ("unsigned",):
            euclidean = (
                "Where the remainder is never negative, it is less than the magnitude of the "
                "divisor. "
                if "euclidean" in self.kinds
                else ""
            )
            rules.append(
                f"`{quotient}` is the quotient as a whole number{rest}. Results of signed operands "
                f"are in two's complement. {euclidean}If the quotient of signed operands does "
                "not fit (the lowest number "
                f"divided by -1), its lowest {self.width} bits are taken."
            )
        else:
            rules.append(f"`{quotient}` is the quotient, rounded down{rest}.")
        value = {
            "ones": f"`{quotient}` has all bits 1",
            "zero": f"`{quotient}` is 0",
            "dividend": f"`{quotient}` is the dividend",
        }[self.zero_rule]
        also = " and `remainder` is the dividend" if self._has("remainder") else ""
        rules.append(
            f"If the divisor is 0, {value}{also}, whatever the kind of division is."
            if self._has("mode")
            else f"If the divisor is 0, {value}{also}."
        )
        if self._has("zero"):
            rules.append("`by_zero` is 1 if the divisor was 0, and 0 otherwise.")
        return rules

    def _last_rules(self) -> list[str]:
        quotient = self.names[3]
        return [
            (
                f"Reset aborts a division, and sets `{quotient}` to "
                f"{hw.literal(self.width, self.start)} and all other outputs to 0. All outputs "
                "depend on the state only, not on the current inputs."
            ),
            "Do not use the operators `/` and `%` anywhere, not even for constants.",
        ]

    def _figure(self) -> str:
        if not self._has("mode"):
            return ""
        return table(("`mode`", "division"), [(k, KINDS[v]) for k, v in enumerate(self.kinds)])

    def _is(self, kind: str, mode: str) -> str:
        """Return whether a division is of a kind."""
        if len(self.kinds) == 1:
            return "1'b1" if self.kinds[0] == kind else "1'b0"
        return f"({mode} == 2'd{self.kinds.index(kind)})"

    def _cycles(self, magnitude: str, divisor: str, *, golden: bool) -> str:
        """Return statements that set `cycles` to the duration, counted from 0."""
        w, bits = self.width, self._bits
        if not self._has("early"):
            text = f"cycles = {hw.literal(bits, self._longest - 1)};"
        elif golden:
            text = "cycles = 0;\n" + "\n".join(
                f"if ({magnitude} >= {w + 1}'d{2 ** (k * self.step)}) "
                f"cycles = {hw.literal(bits, k)};"
                for k in range(1, self._longest)
            )
        else:
            text = (
                f"cycles = '0;\nfor (int k = {self.step}; k < {w}; k++)\n"
                f"    if ({magnitude}[k]) cycles = {bits}'(k >> {self.step - 1});"
            )
        if self._has("zero"):
            text += f"\nif ({divisor} == 0) cycles = 0;"
        return text

    def _zero_quotient(self, dividend: str) -> str:
        w = self.width
        return {"ones": f"{{{w}{{1'b1}}}}", "zero": f"{w}'d0", "dividend": dividend}[self.zero_rule]

    def _golden(self) -> str:
        """Return a divider that takes multiples of the divisor from the dividend, largest first."""
        start, dividend, divisor, quotient = self.names
        w, has, bits, step = self.width, self._has, self._bits, self.step
        signed = f"!{self._is('unsigned', 'mode')}" if self.kinds != ("unsigned",) else "1'b0"
        lines = [f"reg [{w - 1}:0] n, whole, rest, by, q0, r0, q1, r1;"]
        lines += [f"reg active, minus_n, minus_d, nothing;\nreg [{bits - 1}:0] left, cycles;"]
        lines += ["reg [1:0] kind;"] if has("mode") else []
        lines += [
            f"wire below = {signed} && {dividend}[{w - 1}];",
            f"wire [{w - 1}:0] amount = below ? -{dividend} : {dividend};",
            f"wire [{w}:0] size = {{1'b0, amount}};",
            f"always @(*) begin\n{hw.indented(self._cycles('size', divisor, golden=True), 4)}\nend",
        ]
        places = [f"left * {step} + {k}" if k else f"left * {step}" for k in range(step)][::-1]
        if step == 1:
            places = ["left"]
        takes = "\n".join(
            f"if ({{{w + 1}'d0, r0}} >= ({{{w + 1}'d0, by}} << ({place}))) begin\n"
            f"    r0 = r0 - (by << ({place}));\n    q0 = q0 | ({w}'d1 << ({place}));\nend"
            for place in places
        )
        lines += [
            f"always @(*) begin\n    q0 = whole;\n    r0 = rest;\n{hw.indented(takes, 4)}\nend",
            self._golden_rounding(),
            "assign busy = active;",
        ]
        results = f"{quotient} <= q1;" + ("\nremainder <= r1;" if has("remainder") else "")
        results += "\nby_zero <= nothing;" if has("zero") else ""
        begin = (
            f"active <= 1;\nleft <= cycles;\nn <= {dividend};\nwhole <= 0;\nrest <= amount;\n"
            f"nothing <= {divisor} == 0;"
        )
        if self.kinds == ("unsigned",):
            begin += f"\nby <= {divisor};"
        else:
            begin += (
                f"\nminus_n <= below;\nminus_d <= {signed} && {divisor}[{w - 1}];\n"
                f"by <= {signed} && {divisor}[{w - 1}] ? -{divisor} : {divisor};"
            )
        begin += "\nkind <= mode;" if has("mode") else ""
        ending = f"active <= 0;\ndone <= 1;\n{results}"
        moves = (
            f"whole <= q0;\nrest <= r0;\nleft <= left - 1;\n"
            f"if (left == 0) begin\n{hw.indented(ending, 4)}\nend"
        )
        if has("abort"):
            moves = f"if (abort) active <= 0;\nelse begin\n{hw.indented(moves, 4)}\nend"
        go = f"{start} && !abort" if has("abort") and self.abort_wins else start
        body = (
            f"done <= 0;\nif (active) begin\n{hw.indented(moves, 4)}\nend else if ({go}) begin\n"
            f"{hw.indented(begin, 4)}\nend"
        )
        lines.append(hw.clocked(self.clocking, self._reset("active"), body))
        text = "\n".join(lines)
        if self.kinds == ("unsigned",):
            text = text.replace("minus_n, minus_d, ", "")
        return text

    def _golden_rounding(self) -> str:
        """Return the block that makes the results of the whole and the rest of magnitudes."""
        text = "q1 = q0;\nr1 = r0;\n"
        if self.kinds != ("unsigned",):
            text = "q1 = minus_n != minus_d ? -q0 : q0;\nr1 = minus_n ? -r0 : r0;\n"
        if "floored" in self.kinds:
            text += (
                f"if ({self._is('floored', 'kind')} && r0 != 0 && minus_n != minus_d) begin\n"
                "    q1 = q1 - 1;\n    r1 = minus_d ? r1 - by : r1 + by;\nend\n"
            )
        if "euclidean" in self.kinds:
            text += (
                f"if ({self._is('euclidean', 'kind')} && r0 != 0 && minus_n) begin\n"
                "    q1 = minus_d ? q1 + 1 : q1 - 1;\n    r1 = r1 + by;\nend\n"
            )
        text += f"if (nothing) begin\n    q1 = {self._zero_quotient('n')};\n    r1 = n;\nend"
        return f"always @(*) begin\n{hw.indented(text, 4)}\nend"

    def _reset(self, active: str) -> str:
        text = f"{active} <= 0;\ndone <= 0;\n{self.names[3]} <= "
        text += f"{hw.literal(self.width, self.start)};"
        text += "\nremainder <= 0;" if self._has("remainder") else ""
        return text + ("\nby_zero <= 0;" if self._has("zero") else "")

    def _alternative(self) -> str:
        """Return a divider that shifts and subtracts, and corrects what comes out."""
        start, dividend, divisor, quotient = self.names
        w, has, bits, step = self.width, self._has, self._bits, self.step
        long = self._longest * step  # bits that go through
        signed = self.kinds != ("unsigned",)
        lines = [
            "logic active;",
            f"logic [{bits - 1}:0] left, cycles;\nlogic [{long - 1}:0] low, next_low, aligned;",
            f"logic [{w - 1}:0] high, next_high, by, size, by_size, shown, rest;\nlogic none;",
        ]
        if signed:
            lines.append("logic neg_n, neg_d, in_n, in_d;")
        if has("mode"):
            lines.append("logic [1:0] kind;")
        sign = self._is("unsigned", "mode")
        if signed:
            keeps = f" & ~{sign}" if len(self.kinds) > 1 else ""
            lines += [
                f"assign in_n = {dividend}[{w - 1}]{keeps};",
                f"assign in_d = {divisor}[{w - 1}]{keeps};",
                f"assign size = ({dividend} ^ {{{w}{{in_n}}}}) + {w}'(in_n);",
                f"assign by_size = ({divisor} ^ {{{w}{{in_d}}}}) + {w}'(in_d);",
            ]
        else:
            lines += [f"assign size = {dividend};", f"assign by_size = {divisor};"]
        fill = f"{long}'(size)"
        if has("early"):
            shift = "" if step == 1 else " << 1"
            top = self._longest - 1
            fill += f" << (({bits + 3}'d{top} - {bits + 3}'(cycles)){shift})"
        cycles = self._cycles("size", divisor, golden=False)
        lines += [
            f"always_comb begin\n{hw.indented(cycles, 4)}\nend",
            f"assign aligned = {fill};",
            "always_comb begin\n    next_high = high; next_low = low;",
            f"    for (int k = 0; k < {step}; k++) begin",
            f"        automatic logic [{w}:0] trial;",
            f"        trial = {{next_high, next_low[{long - 1}]}};",
            f"        next_low = {{next_low[{long - 2}:0], 1'b0}};" if long > 1 else "",
            "        if (trial >= {1'b0, by}) begin",
            "            trial = trial - {1'b0, by};\n            next_low[0] = 1'b1;",
            f"        end\n        next_high = trial[{w - 1}:0];\n    end\nend",
        ]
        lines += self._corrected()
        results = f"{quotient} <= shown;" + (" remainder <= rest;" if has("remainder") else "")
        results += " by_zero <= none;" if has("zero") else ""
        begin = "active <= 1'b1; left <= cycles; high <= '0; low <= aligned; by <= by_size;"
        begin += f" none <= ~|{divisor}; first <= {dividend};"
        begin += " neg_n <= in_n; neg_d <= in_d;" if signed else ""
        begin += " kind <= mode;" if has("mode") else ""
        move = (
            "high <= next_high; low <= next_low; left <= left - 1'b1;\n"
            f"if (left == 0) begin active <= 1'b0; done <= 1'b1; {results} end"
        )
        if has("abort"):
            move = f"if (abort) active <= 1'b0;\nelse begin\n{hw.indented(move, 4)}\nend"
        go = f"{start} & ~abort" if has("abort") and self.abort_wins else start
        body = (
            f"done <= 1'b0;\nif (~active) begin\n    if ({go}) begin {begin} end\nend else begin\n"
            f"{hw.indented(move, 4)}\nend"
        )
        lines.append(hw.clocked(self.clocking, self._reset("active"), body, keyword="always_ff"))
        lines.append("assign busy = active;")
        return "\n".join(line for line in lines if line)

    def _corrected(self) -> list[str]:
        """Return the statements that make the results of magnitudes."""
        w = self.width
        lines = [f"logic [{w - 1}:0] first;", "always_comb begin"]
        lines += [f"    shown = next_low[{w - 1}:0]; rest = next_high;"]
        if self.kinds != ("unsigned",):
            down = f"{self._is('floored', 'kind')} & (neg_n ^ neg_d)"
            up = f"{self._is('euclidean', 'kind')} & neg_n"
            lines += [
                f"    if (|rest & ({down} | {up})) begin",
                "        shown = shown + 1'b1; rest = by - rest;",  # the next multiple of by
                f"        if ({self._is('floored', 'kind')} ? neg_d : 1'b0) rest = -rest;",
                "    end else if (neg_n) rest = -rest;",
                "    if (neg_n ^ neg_d) shown = -shown;",
            ]
        lines += [
            f"    if (none) begin shown = {self._zero_quotient('first')}; rest = first; end",
            "end",
        ]
        return lines
