"""Pwm: pulse width modulation."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, feature_knob

_WIDEST, _MOST_CHANNELS = 10, 6


# In the order in which higher levels add them.
FEATURES = ("period", "enable", "latched", "center", "channels", "dead")


@dataclass(frozen=True, slots=True, kw_only=True)
class PwmConfig(DesignConfig):
    """The resolution of the pulses, and the features of the modulator."""

    width: int = knob(4, "width of the duty input, in bits", low=2, high=_WIDEST)
    features: int = feature_knob(2, FEATURES)
    channels: int = knob(
        2,
        "number of channels, each with its own phase, with the feature channels",
        low=2,
        high=_MOST_CHANNELS,
    )
    dead: int = knob(2, "dead time in cycles, with the feature dead", low=1, high=8)

    @classmethod
    def at(cls, difficulty: int) -> "PwmConfig":
        """Two levels of three add a feature, up to 9; the third adds a bit, up to 10.

        Channels come more from 10 on, up to 6.
        """
        return cls(
            width=min(2 + (difficulty + 2) // 3, _WIDEST),
            features=min((2 * difficulty) // 3, len(FEATURES)),
            channels=min(2 + difficulty // 10, _MOST_CHANNELS),
            dead=min(1 + difficulty // 4, 8),
        )


@register("Pwm-v0", domain="verilog", answer_format=LANGUAGE)
class PwmTask(DesignTask[PwmConfig]):
    """Write a pulse width modulator, from one comparison to channels with dead time.

    Description:
        A counter is compared with a duty value. The period may be any number, the duty may be
        latched at the start of a period, the counter may go up and down, channels may be shifted
        in phase, and each may have a complementary output with dead time.

    Difficulty:
        The counter gets wider, and the features and their interactions more.

    References:
        Holmes and Lipo 2003, Pulse Width Modulation for Power Converters, for carriers, phases
        and dead time.
    """

    def design(self, rng: Rng) -> hw.Design:
        config = self.config
        features = FEATURES[: config.features]
        limit = 2**config.width
        period = integer(rng, limit // 2 + 1, limit - 1) if "period" in features else limit
        count = config.channels if "channels" in features else 1
        phases = [0, *(integer(rng, 1, period - 1) for _ in range(count - 1))]
        return Modulator(
            width=config.width,
            period=period,
            phases=tuple(phases),
            dead=config.dead,
            level=integer(rng, 0, 1),
            registered=integer(rng, 0, 1) == 1,
            start=integer(rng, 0, period - 1),
            duty=integer(rng, 0, limit - 1),
            out=pick(rng, ("pwm", "out", "pulse")),
            features=features,
        ).design(rng)


# The modulators of Pwm: one counter, and a counter for each channel.


@dataclass(frozen=True, slots=True)
class Modulator:
    """A counter, its channels, and the two ways to write them."""

    width: int
    period: int  # values of the counter
    phases: tuple[int, ...]  # of the channels
    dead: int
    level: int  # of an active output
    registered: bool  # whether the outputs come a cycle later
    start: int  # of the counter after reset
    duty: int  # that is in use after reset, where it is latched
    out: str
    features: tuple[str, ...]

    def design(self, rng: Rng) -> hw.Design:
        """Return the design; ``rng`` draws the clock and the reset."""
        clocking = hw.draw_clocking(rng)
        has, count = self.features.__contains__, len(self.phases)
        signals = hw.clock_signals(clocking)
        if has("enable"):
            signals += hw.inputs(("enable", 1, "count enable"))
        signals += hw.inputs(("duty", self.width, "on-time of the output"))
        meaning = f"active-{'high' if self.level else 'low'} output"
        meaning += "; bit i belongs to channel i" if count > 1 else ""
        outs = [(self.out, count, meaning)]
        if has("dead"):
            outs.append(("other", count, f"complementary {meaning}"))
        signals += hw.outputs(*outs)
        registers = [name for name, _, _ in outs] if self.registered else []
        golden = self._golden()
        text = golden[0] + self._dead_history()[0] + self._outputs()[0]
        reset = golden[1] + self._dead_history()[1] + self._outputs()[1]
        moves = golden[2] + self._dead_history()[2] + self._outputs()[2]
        other = self._alternative()
        other_text = other[0] + self._dead_runs()[0] + self._outputs()[0]
        other_reset = other[1] + self._dead_runs()[1] + self._outputs()[1]
        other_moves = other[2] + self._dead_runs()[2] + self._outputs()[2]
        golden_source = text + hw.clocked(clocking, reset, moves)
        other_source = other_text + hw.clocked(
            clocking, other_reset, other_moves, keyword="always_ff"
        )
        return hw.Design(
            title=self._title(),
            signals=signals,
            rules=self._rules(),
            golden=hw.module(signals, golden_source, registers=registers),
            alternative=hw.sv_module(signals, other_source),
            clocking=clocking,
        )

    def _title(self) -> str:
        count = len(self.phases)
        many = f"a {count}-channel pulse width modulator (PWM)" if count > 1 else ""
        dead = " with dead time" if "dead" in self.features else ""
        return (many or "a pulse width modulator (PWM)") + dead

    def _rules(self) -> tuple[str, ...]:
        has, top, many = self.features.__contains__, self.period - 1, len(self.phases) > 1
        edge = "At every rising clock edge" + (" where `enable` is 1" if has("enable") else "")
        if has("center"):
            moves = (
                f"it moves by 1: up until it reaches {top}, then down until it reaches 0, then up "
                f"again, and so on. It stays at {top} and at 0 for one step each. Reset sets it to "
                "0, counting up."
            )
        else:
            moves = (
                f"it increases by 1; after {top} it returns to 0. Reset sets it to {self.start}."
            )
        rules = [
            f"A counter takes the values 0 to {top}. {edge} and reset is inactive, {moves}"
            if has("enable")
            else f"A counter takes the values 0 to {top}. {edge} where reset is inactive, {moves}"
        ]
        used = "`duty`"
        if has("latched"):
            used = "the latched duty"
            rules.append(
                "The latched duty is a register. It takes the value of `duty` at each rising clock "
                f"edge at which counting makes the counter 0. Reset sets it to {self.duty}."
            )
        if many:
            phases = ", ".join(f"{phase} for channel {i}" for i, phase in enumerate(self.phases))
            rules.append(
                f"A channel is on in each cycle in which (counter + phase) modulo {self.period} is "
                f"less than {used}, and off in all other cycles. The phase is {phases}."
            )
        else:
            rules.append(
                f"The channel is on in each cycle in which the counter is less than {used}, and "
                "off in all other cycles."
            )
        which = f"Bit i of `{self.out}`" if many else f"`{self.out}`"
        whose = "channel i" if many else "the channel"
        if has("dead"):
            other = which.replace(self.out, "other")
            past = f"in each of the {self.dead} previous cycles"
            past = past if self.dead > 1 else "in the previous cycle"
            rules.append(
                f"{which} is active in each cycle in which {whose} is on and was on {past}. "
                f"{other[0].upper()}{other[1:]} is active in each cycle in which {whose} is off "
                f"and was off {past}. In all cycles before the end of reset, {whose} counts as "
                f"off. `enable` does not affect whether {whose} is on or off."
            )
        else:
            rules.append(f"{which} is active in each cycle in which {whose} is on.")
        if has("enable"):
            every = "no output is" if has("dead") or many else f"`{self.out}` is not"
            rules.append(f"As an exception, {every} active in a cycle in which `enable` is 0.")
        rules.append(
            f"Outputs are active-{'high' if self.level else 'low'}: an active output is "
            f"{self.level}, and "
            f"an inactive output is {1 - self.level}."
        )
        if self.registered:
            rules.append(
                "Outputs are registered: the value that the rules above give for a cycle appears "
                "one cycle later. Reset makes all outputs inactive."
            )
        else:
            rules.append(
                "Outputs are combinational: the value that the rules above give for a cycle "
                "appears in the same cycle."
            )
        return tuple(rules)

    def _outputs(self) -> tuple[str, str, str]:
        """Return declarations, reset and moves of the outputs; ``on`` and ``off`` are active."""
        names = {self.out: "on", **({"other": "off"} if "dead" in self.features else {})}
        count, invert = len(self.phases), "" if self.level else "~"
        values = {}
        for name, active in names.items():
            text = f"({active} & {{{count}{{enable}}}})" if "enable" in self.features else active
            values[name] = invert + text
        if not self.registered:
            return "".join(f"assign {n} = {v};\n" for n, v in values.items()), "", ""
        rest = hw.literal(count, 0 if self.level else -1)
        return (
            "",
            "".join(f"{name} <= {rest};\n" for name in names),
            "".join(f"{name} <= {value};\n" for name, value in values.items()),
        )

    def _dead_history(self) -> tuple[str, str, str]:
        """Return the active outputs by what the channels were in the last cycles."""
        count = len(self.phases)
        if "dead" not in self.features:
            return f"wire [{count - 1}:0] on = want;\n", "", ""
        names = [f"past{n}" for n in range(1, self.dead + 1)]
        before = ["want", *names[:-1]]
        return (
            (
                f"reg [{count - 1}:0] {', '.join(names)};\n"
                f"wire [{count - 1}:0] on = {' & '.join(['want', *names])};\n"
                f"wire [{count - 1}:0] off = ~({' | '.join(['want', *names])});\n"
            ),
            "".join(f"{name} <= 0;\n" for name in names),
            "".join(f"{a} <= {b};\n" for a, b in zip(names, before, strict=True)),
        )

    def _dead_runs(self) -> tuple[str, str, str]:
        """Return the active outputs by how long each channel has been what it is."""
        count = len(self.phases)
        if "dead" not in self.features:
            return f"logic [{count - 1}:0] on;\nassign on = want;\n", "", ""
        bits = self.dead.bit_length()
        full = hw.literal(bits, self.dead)
        loop = f"for (int i = 0; i < {count}; i++)"
        return (
            (
                f"logic [{count - 1}:0] last, on, off;\nlogic [{bits - 1}:0] run [{count}];\n"
                f"always_comb {loop} begin\n"
                f"    on[i] = want[i] && last[i] && run[i] == {full};\n"
                f"    off[i] = !want[i] && !last[i] && run[i] == {full};\nend\n"
            ),
            f"last <= '0;\n{loop} run[i] <= {full};\n",
            (
                f"last <= want;\n{loop}\n"
                f"    if (want[i] != last[i]) run[i] <= {hw.literal(bits, 1)};\n"
                f"    else if (run[i] != {full}) run[i] <= run[i] + 1'b1;\n"
            ),
        )

    def _golden(self) -> tuple[str, str, str]:
        """Return one counter, to which phases are added."""
        has, width, top = (
            self.features.__contains__,
            self.width,
            hw.literal(self.width, self.period - 1),
        )
        text, reset = (
            f"reg [{width - 1}:0] count;\n",
            f"count <= {hw.literal(width, self._first)};\n",
        )
        moves = f"count <= count == {top} ? {hw.literal(width, 0)} : count + 1'b1;\n"
        wraps = f"count == {top}"
        if has("center"):
            text += "reg falling;\n"
            reset += "falling <= 1'b0;\n"
            moves = (
                "count <= falling ? count - 1'b1 : count + 1'b1;\n"
                f"if (count == {hw.literal(width, self.period - 2)} && !falling) falling <= 1'b1;\n"
                "if (count == 1 && falling) falling <= 1'b0;\n"
            )
            wraps = "falling && count == 1"
        used = "duty"
        if has("latched"):
            used = "used"
            text += f"reg [{width - 1}:0] used;\n"
            reset += f"used <= {hw.literal(width, self.duty)};\n"
            moves += f"if ({wraps}) used <= duty;\n"
        terms = []
        for phase in self.phases:
            total = f"(count + {width + 1}'d{phase})"
            turn = f"{total} % {width + 1}'d{self.period}"
            terms.append(f"({turn} < {used})" if phase else f"(count < {used})")
        text += f"wire [{len(terms) - 1}:0] want = {{{', '.join(reversed(terms))}}};\n"
        return text, reset, self._enabled(moves)

    @property
    def _first(self) -> int:
        return 0 if "center" in self.features else self.start

    def _enabled(self, moves: str) -> str:
        if "enable" not in self.features:
            return moves
        return f"if (enable) begin\n{hw.indented(moves, 4)}\nend\n"

    def _alternative(self) -> tuple[str, str, str]:
        """Return a counter of what is left up to all ones, and sums in place of the modulo."""
        has, width, count = self.features.__contains__, self.width, len(self.phases)
        full, low = 2**width - 1, 2**width - self.period
        used = "used" if has("latched") else "duty"
        text = f"logic [{width - 1}:0] left;\nlogic [{count - 1}:0] want;\n"
        reset = f"left <= {hw.literal(width, full - self._first)};\n"
        last = f"left == {hw.literal(width, low)}"
        moves = f"left <= {last} ? '1 : left - 1'b1;\n"
        if has("center"):
            text += "logic rising;\n"
            reset += "rising <= 1'b1;\n"
            turns = (
                f"left == (rising ? {hw.literal(width, low + 1)} : {hw.literal(width, full - 1)})"
            )
            moves = f"rising <= rising ^ ({turns});\nleft <= rising ? left - 1'b1 : left + 1'b1;\n"
            last = f"!rising && left == {hw.literal(width, full - 1)}"
        if has("latched"):
            text += f"logic [{width - 1}:0] used;\n"
            reset += f"used <= {hw.literal(width, self.duty)};\n"
            moves += f"if ({last}) used <= duty;\n"
        text += f"logic [{width + 1}:0] sum;\nassign sum = {width + 2}'(left) + {used};\n"
        for i, phase in enumerate(self.phases):
            # counter + phase < used, where counter is full - left, and the same after a turn.
            first = f"sum > {width + 2}'d{full + phase}"
            again = f"sum + {width + 2}'d{self.period} > {width + 2}'d{full + phase}"
            before = f"left > {hw.literal(width, full - self.period + phase)}"
            turned = f"{before} ? {first} : {again}" if phase else first
            text += f"assign want[{i}] = {turned};\n"
        return text, reset, self._enabled(moves)
