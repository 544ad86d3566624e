"""PipelinedMultiplier: products that appear some cycles after their factors."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, feature_knob
from rlvr_envs.verifiers.hdl.interface import Clocking

# In the order in which higher levels add them.
FEATURES = ("valid", "stall", "modes", "add", "flush", "narrow")
_WIDEST, _LONGEST = 10, 8


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelinedMultiplierConfig(DesignConfig):
    """How wide the factors are, the latency, and the features of the pipeline."""

    width: int = knob(
        3,
        "width of the first factor, in bits; the second is as wide or one bit wider",
        low=2,
        high=_WIDEST,
    )
    latency: int = knob(2, "latency in cycles", low=1, high=_LONGEST)
    features: int = feature_knob(2, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "PipelinedMultiplierConfig":
        """Two levels of three add a feature, up to 9; the third adds a cycle and a bit.

        The numbers stop at 10 bits and 8 cycles.
        """
        more = (difficulty + 2) // 3
        return cls(
            width=min(2 + more, _WIDEST),
            latency=min(1 + more, _LONGEST),
            features=min((2 * difficulty) // 3, len(FEATURES)),
        )


@register("PipelinedMultiplier-v0", domain="verilog", answer_format=LANGUAGE)
class PipelinedMultiplierTask(DesignTask[PipelinedMultiplierConfig]):
    """Write a multiplier with a pipeline that can be stalled and flushed.

    Description:
        The product of two factors appears after a fixed number of cycles. Factors are signed or
        unsigned, fixed or selected by inputs. A third number may be added, and the sum may
        saturate to fewer bits. Later levels add a valid signal, a stall and a flush.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md). For wide
        factors the proof may stay open, and a long simulation decides. A reset that is not written
        and a value that is not determined count as wrong.

    Difficulty:
        The factors get wider, the pipeline longer, and its features more.

    References:
        Baugh and Wooley 1973, A Two's Complement Parallel Array Multiplication Algorithm, IEEE
        Trans. Computers C-22(12); Liu et al. 2023, VerilogEval, arXiv:2309.07544, for the form.
    """

    def design(self, rng: Rng) -> hw.Design:
        config, features = self.config, FEATURES[: self.config.features]
        other = config.width + integer(rng, 0, 1)
        total = config.width + other
        size = integer(rng, total - 3, total - 1) if "narrow" in features else total
        return MultiplierSources(
            clocking=hw.draw_clocking(rng),
            widths=(config.width, other),
            size=size,
            latency=config.latency,
            signed=(bool(integer(rng, 0, 1)), bool(integer(rng, 0, 1))),
            idle=integer(rng, 0, 2**size - 1),
            moving=integer(rng, 0, 1),
            hard_flush=bool(integer(rng, 0, 1)),
            features=features,
            names=pick(rng, (("a", "b", "p"), ("x", "y", "z"), ("lhs", "rhs", "result"))),
            addend=pick(rng, ("c", "addend")),
        ).design()


# Pipelined multipliers in words and in two kinds of Verilog; what is drawn comes from the task.


@dataclass(frozen=True, slots=True)
class MultiplierSources:
    """What was drawn for one multiplier, its rules and its sources."""

    clocking: Clocking
    widths: tuple[int, int]
    size: int  # bits of the result
    latency: int
    signed: tuple[bool, bool]  # the factors, where no inputs select it
    idle: int  # the result where it is not valid
    moving: int  # level of the input at which the pipeline moves
    hard_flush: bool  # whether a flush needs no moving
    features: tuple[str, ...]
    names: tuple[str, str, str]
    addend: str

    def design(self) -> hw.Design:
        """Return the design."""
        ports = self._signals()
        one, other = self.widths
        return hw.Design(
            title=f"a pipelined {one}-bit by {other}-bit multiplier with a latency of "
            f"{self._cycles(self.latency)}",
            signals=ports,
            rules=(*self._value_rules(), *self._flow_rules()),
            golden=hw.module(ports, self._golden()),
            alternative=hw.sv_module(ports, self._alternative()),
            clocking=self.clocking,
        )

    def _cycles(self, number: int) -> str:
        return f"{number} cycle" + ("s" if number > 1 else "")

    @property
    def _total(self) -> int:
        return sum(self.widths)

    @property
    def _move(self) -> str:
        return "enable" if self.moving else "stall"

    def _signals(self) -> tuple[hw.Signal, ...]:
        has, (a, b, p) = self.features.__contains__, self.names
        signals = hw.clock_signals(self.clocking)
        if has("stall"):
            signals += hw.inputs(
                (
                    self._move,
                    1,
                    f"{self.moving} advances the pipeline, {1 - self.moving} stalls it",
                )
            )
        if has("flush"):
            signals += hw.inputs(("flush", 1, "1 flushes the pipeline"))
        if has("valid"):
            signals += hw.inputs(("in_valid", 1, "1 if the factors are valid"))
        signals += hw.inputs(
            (a, self.widths[0], "first factor"), (b, self.widths[1], "second factor")
        )
        if has("modes"):
            signals += hw.inputs(
                (f"{a}_signed", 1, f"1 if `{a}` is signed"),
                (f"{b}_signed", 1, f"1 if `{b}` is signed"),
            )
        if has("add"):
            signals += hw.inputs((self.addend, self._total, "number to add to the product"))
        if has("valid"):
            signals += hw.outputs(("out_valid", 1, "1 if the result is valid"))
        signals += hw.outputs((p, self.size, "result"))
        return signals + (
            hw.outputs(("overflow", 1, "1 if the result saturated")) if has("narrow") else ()
        )

    def _value_rules(self) -> list[str]:
        has, (a, b, _), c = self.features.__contains__, self.names, self.addend
        kinds = [
            "a two's complement number" if sign else "an unsigned number" for sign in self.signed
        ]
        if has("modes"):
            rules = [
                (
                    f"`{a}` is a two's complement number if `{a}_signed` is 1, and unsigned "
                    f"otherwise. `{b}` is a two's complement number if `{b}_signed` is 1, and "
                    "unsigned otherwise."
                )
            ]
        else:
            rules = [f"`{a}` is {kinds[0]}, `{b}` is {kinds[1]}."]
        either = f"if at least one of `{a}` and `{b}` is"
        if has("add"):
            rules.append(
                f"`{c}` belongs to the factors of the same cycle. It is a two's complement number "
                f"{either} signed, and unsigned otherwise."
            )
        what = f"`{a}` times `{b}`" + (f" plus `{c}`" if has("add") else "")
        if not has("narrow"):
            rules.append(f"The result is the {self.size} least significant bits of {what}.")
            return rules
        low, high = -(2 ** (self.size - 1)), 2 ** (self.size - 1) - 1
        rules.append(
            f"The result is the exact value of {what}, saturated to a range. The range is {low} to "
            f"{high} (two's complement) {either} signed, and 0 to {2**self.size - 1} (unsigned) "
            "otherwise. A value below the range becomes its minimum, and a value above the range "
            "becomes its maximum. `overflow` appears together with the result: it is 1 if the "
            "value was out of range, and 0 otherwise."
        )
        return rules

    def _flow_rules(self) -> list[str]:
        has, p = self.features.__contains__, self.names[2]
        unless = f"`{p}` is {hw.literal(self.size, self.idle)}" + (
            " and `overflow` is 0" if has("narrow") else ""
        )
        taken = "`in_valid` is 1" if has("valid") else ""
        if has("stall"):
            level = f"`{self._move}` is {self.moving}"
            rules = [
                f"The pipeline advances at each rising clock edge where {level}. At all other "
                "edges it stalls: no factors are accepted and all outputs keep their values"
                + (", except for a flush." if has("flush") and self.hard_flush else ".")
            ]
            move = "advancing edge"
        else:
            rules, move = [], "rising clock edge"
        count = (
            f"after {self.latency} {move}s, counting the one that accepts them"
            if self.latency > 1
            else "right after that edge"
        )
        if has("valid"):
            rules.append(
                f"Factors are accepted at each {move} where {taken}. Their result appears {count}: "
                f"`out_valid` is then 1 and `{p}` is the result, until the next {move}. While "
                f"`out_valid` is 0, {unless}."
            )
            rules.append("Reset empties the pipeline: `out_valid` becomes 0.")
        else:
            rules.append(
                f"Factors are accepted at each {move}. Their result appears on `{p}` {count}, and "
                f"stays until the next {move}. Reset sets `{p}` and all results in the pipeline to "
                "0."
            )
        if has("flush"):
            when = f"an {move}" if has("stall") else f"a {move}"
            if self.hard_flush:
                when = "a rising clock edge (even if the pipeline stalls)"
            rules.append(
                f"At {when} where `flush` is 1, everything in the pipeline is dropped, including "
                "the result at the output and the factors at the input at that edge. `out_valid` "
                "becomes 0."
            )
        return rules

    def _kinds(self) -> tuple[str, str]:
        """Return whether each factor is signed, as expressions."""
        if "modes" in self.features:
            return f"{self.names[0]}_signed", f"{self.names[1]}_signed"
        one, other = (f"1'b{int(sign)}" for sign in self.signed)
        return one, other

    def _moves(self) -> str:
        if "stall" not in self.features:
            return "1'b1"
        return self._move if self.moving else f"!{self._move}"

    def _golden(self) -> str:
        """Return a product of numbers that got a sign, a comparison with the range, and a shift."""
        has, (a, b, p), late = self.features.__contains__, self.names, self.latency
        (one, other), (wa, wb), room = self._kinds(), self.widths, self._total + 3
        addend = f" + $signed({{either & {self.addend}[{self._total - 1}], {self.addend}}})"
        lines = [
            f"wire either = {one} | {other};",
            f"wire signed [{wa}:0] first = {{{one} & {a}[{wa - 1}], {a}}};",
            f"wire signed [{wb}:0] second = {{{other} & {b}[{wb - 1}], {b}}};",
            f"wire signed [{room - 1}:0] exact = first * second{addend if has('add') else ''};",
        ]
        entry, size, n = f"exact[{self.size - 1}:0]", self.size, self.size
        if has("narrow"):
            high = f"either ? {room}'sd{2 ** (n - 1) - 1} : {room}'sd{2**n - 1}"
            low = f"either ? -{room}'sd{2 ** (n - 1)} : {room}'sd0"
            kind = f"wire signed [{room - 1}:0]"
            cut = "exact > high ? high : exact < low ? low : exact"
            lines += [f"{kind} high = {high};", f"{kind} low = {low};", f"{kind} cut = {cut};"]
            entry, size = f"{{cut != exact, cut[{n - 1}:0]}}", n + 1
        lines.append(f"wire [{size - 1}:0] entry = {entry};\nreg [{late * size - 1}:0] pipe;")
        older = f"{{pipe[{(late - 1) * size - 1}:0], entry}}" if late > 1 else "entry"
        reset, body = ("", "") if has("valid") else ("pipe <= 0;", "")
        moves = f"pipe <= {older};"
        if has("valid"):
            lines.append(f"reg [{late - 1}:0] alive;")
            reset = "alive <= 0;"
            marks = f"{{alive[{late - 2}:0], in_valid}}" if late > 1 else "in_valid"
            moves += f"\n    alive <= {marks};"
        body = f"if ({self._moves()}) begin\n    {moves}\nend"
        if has("flush"):
            body += f"\nif (flush{'' if self.hard_flush else f' && {self._moves()}'}) alive <= 0;"
        lines.append(hw.clocked(self.clocking, reset, body))
        last = f"pipe[{late * size - 1}:{(late - 1) * size}]"
        shown = f"pipe[{(late - 1) * size + n - 1}:{(late - 1) * size}]"
        if not has("valid"):
            return "\n".join([*lines, f"assign {p} = {last};"])
        alive = f"alive[{late - 1}]"
        lines.append(f"assign out_valid = {alive};")
        lines.append(f"assign {p} = {alive} ? {shown} : {hw.literal(n, self.idle)};")
        if has("narrow"):
            lines.append(f"assign overflow = {alive} && pipe[{late * size - 1}];")
        return "\n".join(lines)

    def _alternative(self) -> str:
        """Return shifted summands, corrected for signs; stages in the other direction."""
        has, (a, b, p), late, n = self.features.__contains__, self.names, self.latency, self.size
        (one, other), (wa, wb), room = self._kinds(), self.widths, self._total + 3
        cast = f"{room}'"
        lines = [
            f"logic [{room - 1}:0] sum;\nlogic [{n - 1}:0] value;\nlogic less, under, beyond;",
            f"assign less = {one} && {a}[{wa - 1}];\nassign under = {other} && {b}[{wb - 1}];",
            "always_comb begin\n    sum = '0;",
            f"    for (int i = 0; i < {wb}; i++) if ({b}[i]) sum += {cast}({a}) << i;",
            f"    if (less) sum -= {cast}({b}) << {wa};",
            f"    if (under) sum -= {cast}({a}) << {wb};",
            f"    if (less && under) sum += {cast}(1) << {wa + wb};",
        ]
        if has("add"):
            sign = f"({one} || {other}) && {self.addend}[{wa + wb - 1}]"
            lines.append(f"    sum += {cast}({self.addend});")
            lines.append(f"    if ({sign}) sum -= {cast}(1) << {wa + wb};")
        lines.append(f"end\nassign beyond = {self._beyond(room)};")
        full = f"({one} || {other}) ? {{sum[{room - 1}], {{{n - 1}{{!sum[{room - 1}]}}}}}} : '1"
        cut = f"beyond ? ({full}) : " if has("narrow") else ""
        lines.append(f"assign value = {cut}sum[{n - 1}:0];")
        lines.append(f"logic [{n - 1}:0] stage [{late}];\nlogic [{late - 1}:0] mark, odd;")
        resets = "mark <= '0;"
        if not has("valid"):
            resets += f" for (int i = 0; i < {late}; i++) stage[i] <= '0;"
        news = "in_valid" if has("valid") else "1'b1"
        moves = (
            f"stage[{late - 1}] <= value; odd <= {late}'({{beyond, odd}} >> 1);\n"
            f"    for (int i = 1; i < {late}; i++) stage[i - 1] <= stage[i];\n"
            f"    mark <= {late}'({{{news}, mark}} >> 1);"
        )
        body = f"if ({self._moves()}) begin\n    {moves}\nend"
        if has("flush"):
            when = "" if self.hard_flush else f" && {self._moves()}"
            body = f"if (flush{when}) mark <= '0;\nelse {body}"
        lines.append(hw.clocked(self.clocking, resets, body, keyword="always_ff"))
        if has("valid"):
            lines.append("assign out_valid = mark[0];")
        idle = hw.literal(n, self.idle if has("valid") else 0)
        lines.append(f"assign {p} = mark[0] ? stage[0] : {idle};")
        if has("narrow"):
            lines.append("assign overflow = mark[0] & odd[0];")
        return "\n".join(lines)

    def _beyond(self, room: int) -> str:
        """Return whether the upper bits of an exact sum say more than the result can."""
        if "narrow" not in self.features:
            return "1'b0"
        one, other = self._kinds()
        upper = f"sum[{room - 1}:{self.size - 1}]"
        same = f"!(&{upper} || ~|{upper})"
        return f"({one} || {other}) ? {same} : |sum[{room - 1}:{self.size}]"
