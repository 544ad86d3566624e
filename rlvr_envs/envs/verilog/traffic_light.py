"""TrafficLight: the lights of a crossing, with times, a sensor and a pedestrian phase."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, feature_knob


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase of the lights."""

    name: str  # as the rules call it
    main: str  # which lamps of the main road, or of the only light, are on
    side: str  # which lamps of the side road are on
    time: int  # its length in steps; the minimum length where inputs decide too
    limit: int = 0  # its maximum length where it can be extended, otherwise 0


_LONGEST = 40


# In the order in which higher levels add them.
FEATURES = ("side", "tick", "sensor", "walk", "extend", "night")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficLightConfig(DesignConfig):
    """How long the phases are, and what they depend on."""

    longest: int = knob(8, "largest length of a phase, in steps", low=2, high=_LONGEST)
    features: int = feature_knob(2, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "TrafficLightConfig":
        """Two levels of three add a feature, up to 9; phases get 2 longer a level, up to 40."""
        features = min((2 * difficulty) // 3, len(FEATURES))
        return cls(longest=min(3 + 2 * difficulty, _LONGEST), features=features)


@register("TrafficLight-v0", domain="verilog", answer_format=LANGUAGE)
class TrafficLightTask(DesignTask[TrafficLightConfig]):
    """Write the controller of a traffic light or of a crossing.

    Description:
        Phases that last some cycles, of one light or of a main and a side road. Later levels add a
        time base, a sensor that ends the main road's green, a pedestrian phase on request, a
        green that is extended up to a limit, and a flashing mode for the night.

    Observation:
        What the module does in numbered rules or prose, its ports, a table of the phases, and the
        kind of its reset.

    Difficulty:
        Phases get longer, and more of what they depend on interacts.

    References:
        Mead and Conway 1980, Introduction to VLSI Systems, 3.10, the traffic-light controller;
        Katz 1994, Contemporary Logic Design, 8.5.
    """

    def design(self, rng: Rng) -> hw.Design:
        features = FEATURES[: self.config.features]
        phases = _crossing(rng, self.config) if "side" in features else _light(rng, self.config)
        last = len(phases) - ("walk" in features)
        return Crossing(
            phases=phases,
            start=integer(rng, 0, last - 1),
            order=pick(rng, ("RYG", "GYR", "YRG", "RGY", "YGR", "GRY")),
            button_wins=integer(rng, 0, 1) == 1,
            car=pick(rng, ("car", "sensor", "waiting")),
            features=features,
        ).design(rng)


def _light(rng: Rng, config: TrafficLightConfig) -> tuple[Phase, ...]:
    """Return the phases of a single light."""
    lights = [("GO", "G"), ("STOP_SOON", "Y"), ("STOP", "R")]
    if integer(rng, 0, 1):
        lights.append(("GO_SOON", "RY"))
    return tuple(Phase(name, on, "", _time(rng, config)) for name, on in lights)


def _time(rng: Rng, config: TrafficLightConfig) -> int:
    return integer(rng, 1, config.longest)


def _crossing(rng: Rng, config: TrafficLightConfig) -> tuple[Phase, ...]:
    """Return the phases of a crossing; what is before a green and after a yellow is drawn."""
    features = FEATURES[: config.features]
    soon, clear = integer(rng, 0, 1), integer(rng, 0, 1)
    phases = []
    for road in ("MAIN", "SIDE"):
        names = [("SOON", "RY")] * soon + [("GO", "G"), ("STOP", "Y")] + [("CLEAR", "R")] * clear
        for name, on in names:
            lights = (on, "R") if road == "MAIN" else ("R", on)
            time = _time(rng, config)
            limit = 0
            if (road, name) == ("SIDE", "GO") and "extend" in features:
                limit = time + integer(rng, 1, config.longest)
            phases.append(Phase(f"{road}_{name}", *lights, time, limit))
    if "walk" in features:
        phases.append(Phase("WALK", "R", "R", _time(rng, config)))
    return tuple(phases)


# The crossings of TrafficLight: phases as numbers, and as a ring of flip-flops.


_COLOURS = {"R": "red", "Y": "yellow", "G": "green"}


@dataclass(frozen=True, slots=True)
class Crossing:
    """Phases and what they depend on, and the two ways to write them."""

    phases: tuple[Phase, ...]  # in their order; the last one may be WALK
    start: int  # after reset
    order: str  # of the lamps, the highest bit first
    button_wins: bool  # where a walk is requested as one begins
    car: str
    features: tuple[str, ...]

    @property
    def _walk(self) -> int:
        """The number of the phase WALK, and how many others there are."""
        return len(self.phases) - ("walk" in self.features)

    @property
    def _light(self) -> str:
        return "main" if "side" in self.features else "light"

    def design(self, rng: Rng) -> hw.Design:
        """Return the design; ``rng`` draws the clock and the reset."""
        clocking = hw.draw_clocking(rng)
        has = self.features.__contains__
        signals = hw.clock_signals(clocking)
        if has("tick"):
            signals += hw.inputs(("tick", 1, "time base; steps count only while it is 1"))
        if has("sensor"):
            signals += hw.inputs((self.car, 1, "1 if there is a car on the side road"))
        if has("walk"):
            signals += hw.inputs(("button", 1, "pedestrian button"))
        if has("night"):
            signals += hw.inputs(("night", 1, "1 selects night mode (flashing)"))
        signals += hw.outputs(
            (self._light, 3, "lamps" if not has("side") else "lamps of the main road")
        )
        registers = [self._light]
        if has("side"):
            signals += hw.outputs(("side", 3, "lamps of the side road"))
            registers.append("side")
        if has("walk"):
            signals += hw.outputs(("walk", 1, "walk lamp for pedestrians"))
            signals += hw.outputs(("asked", 1, "1 while a walk request is pending"))
            registers += ["walk", "asked"]
        text, reset, moves = self._golden()
        golden = text + hw.clocked(clocking, reset, moves)
        text, reset, moves = self._alternative()
        other = text + hw.clocked(clocking, reset, moves, keyword="always_ff")
        what = "the traffic lights of a crossing" if has("side") else "one traffic light"
        return hw.Design(
            title=f"a controller for {what}",
            signals=signals,
            rules=self._rules(),
            golden=hw.module(signals, golden, registers=registers),
            alternative=hw.sv_module(signals, other),
            clocking=clocking,
            figure=self._figure(),
        )

    def _lamps(self, on: str) -> int:
        return sum(1 << (2 - self.order.index(colour)) for colour in on)

    def _figure(self) -> str:
        has = self.features.__contains__
        head = ["phase", f"`{self._light}`", "`side`", "`walk`", "steps"]
        kept = [True, True, has("side"), has("walk"), True]
        rows = [head, ["---"] * len(head)]
        for phase in self.phases:
            lights = [" and ".join(_COLOURS[c] for c in on) for on in (phase.main, phase.side)]
            rows.append([phase.name, *lights, str(int(phase.name == "WALK")), str(phase.time)])
        return "\n".join(
            f"| {' | '.join(cell for cell, keep in zip(row, kept, strict=True) if keep)} |"
            for row in rows
        )

    def _rules(self) -> tuple[str, ...]:
        has = self.features.__contains__
        bits = ", ".join(f"bit {2 - i} is {_COLOURS[c]}" for i, c in enumerate(self.order))
        lights = "`main` and `side`" if has("side") else "`light`"
        step = "rising clock edge where `tick` is 1" if has("tick") else "rising clock edge"
        rules = [
            f"In {lights}, {bits}. A lamp is on if its bit is 1.",
            (
                "The lamps depend on the current phase only. The table lists the lamps that are "
                "on; all others are off."
            ),
            (
                "The phases follow one another in the order of the table. After the last phase, "
                f"the first one begins again. Reset begins phase {self.phases[self.start].name}."
            ),
            (
                f"A phase of n steps ends, and the next phase begins, at the n-th {step} after it "
                "began. Only edges where reset is inactive count."
            ),
        ]
        if has("sensor"):
            other = " or `asked` is 1" if has("walk") else ""
            rules.append(
                f"As an exception, MAIN_GO ends at the first such edge, not before the n-th one, "
                f"where `{self.car}` is 1{other}."
            )
        if has("extend"):
            limit = next(phase.limit for phase in self.phases if phase.limit)
            rules.append(
                f"As an exception, SIDE_GO ends at the first such edge, not before the n-th one, "
                f"where `{self.car}` is 0, but at the latest at edge number {limit}."
            )
        walk = self._walk_rules() if has("walk") else ()
        return (*rules, *walk, *(self._night_rules() if has("night") else ()))

    def _walk_rules(self) -> tuple[str, ...]:
        tie = "stays 1" if self.button_wins else "still becomes 0"
        before, first = self.phases[self._walk - 1].name, self.phases[0].name
        return (
            (
                f"If `asked` is 0 at the edge at which {before} ends, WALK is skipped and {first} "
                "begins."
            ),
            (
                "`asked` is registered: it becomes 1 at a rising clock edge where `button` is 1, "
                "regardless of `tick`. It becomes 0 at the edge at which WALK begins; if `button` "
                f"is 1 at that edge, it {tie}. Reset sets it to 0."
            ),
        )

    def _night_rules(self) -> tuple[str, ...]:
        return (
            (
                "There is also a phase FLASH, which is not in the table. At every rising clock "
                "edge where `tick` and `night` are both 1, FLASH begins, regardless of the current "
                "phase. If the current phase is already FLASH, it continues with its next step "
                "instead."
            ),
            (
                "In FLASH, the yellow lamp of `main` and the red lamp of `side` are on in the "
                "first step, off in the second step, on in the third step, and so on. `walk` is 0, "
                "and all other lamps are off."
            ),
            (
                "FLASH ends at the first rising clock edge where `tick` is 1 and `night` is 0. "
                f"Then {self.phases[0].name} begins. The rules for `asked` also apply in FLASH."
            ),
        )

    def _leave(self, number: int, early: str, late: str) -> str:
        """Return when a phase ends, given when its time and its limit are over."""
        phase = self.phases[number]
        if phase.name == "MAIN_GO" and "sensor" in self.features:
            other = " || asked" if "walk" in self.features else ""
            return f"{early} && ({self.car}{other})"
        if phase.limit:
            return f"{early} && (!{self.car} || {late})"
        return early

    def _golden(self) -> tuple[str, str, str]:
        """Return phases as numbers and a clock that counts up."""
        has = self.features.__contains__
        count = len(self.phases) + has("night")
        bits = (count - 1).bit_length()
        wide = self._wide
        text = "".join(
            f"localparam [{bits - 1}:0] {name} = {hw.literal(bits, n)};\n"
            for n, name in enumerate([p.name for p in self.phases] + ["FLASH"] * has("night"))
        )
        text += f"reg [{bits - 1}:0] phase, next;\nreg [{wide - 1}:0] past;\nreg ends;\n"
        cases = []
        for n, phase in enumerate(self.phases):
            after = self.phases[(n + 1) % len(self.phases)].name
            if has("walk") and n == self._walk - 1:
                after = f"asked ? WALK : {self.phases[0].name}"
            early, late = (f"past >= {hw.literal(wide, t - 1)}" for t in (phase.time, phase.limit))
            lines = [f"ends = {self._leave(n, early, late)};", f"next = {after};"]
            cases.append(f"{phase.name}: begin\n{hw.indented(chr(10).join(lines), 4)}\nend")
        cases.append(f"default: begin\n    ends = 1'b1;\n    next = {self.phases[0].name};\nend")
        text += f"always @(*)\ncase (phase)\n{hw.indented(chr(10).join(cases), 4)}\nendcase\n"
        text += "reg lit;\n" * has("night") + self._shown("phase")
        moves = (
            "if (ends) begin\n    phase <= next;\n    past <= 0;\nend "
            f"else if (past != {hw.literal(wide, -1)})\n    past <= past + 1'b1;"
        )
        reset = f"phase <= {self.phases[self.start].name};\npast <= 0;\n"
        begins = "ends && next == WALK"
        if has("night"):
            reset += "lit <= 1'b1;\n"
            flash = hw.indented(
                "phase <= FLASH;\nlit <= phase == FLASH ? !lit : 1'b1;\npast <= 0;", 4
            )
            moves = f"if (night) begin\n{flash}\nend else begin\n{hw.indented(moves, 4)}\nend"
            begins = f"!night && {begins}"
        if has("tick"):
            moves = f"if (tick) begin\n{hw.indented(moves, 4)}\nend"
        if has("walk"):
            reset += "asked <= 1'b0;\n"
            first, second = (
                "if (button) asked <= 1'b1;\n",
                f"if (tick && {begins}) asked <= 1'b0;\n",
            )
            moves += "\n" + (second + first if self.button_wins else first + second)
        return text, reset, moves

    def _shown(self, phase: str) -> str:
        """Return the lamps by the phase."""
        has, rows = self.features.__contains__, []
        for p in self.phases:
            lamps = f"{self._light} = {hw.literal(3, self._lamps(p.main))};"
            lamps += f" side = {hw.literal(3, self._lamps(p.side))};" * has("side")
            rows.append(f"{p.name}: begin {lamps}{' walk = 1;' * (p.name == 'WALK')} end")
        rest = f"{self._light} = 0;"
        if has("night"):
            yellow, red = (hw.literal(3, self._lamps(colour)) for colour in "YR")
            rest = f"main = lit ? {yellow} : 3'd0; side = lit ? {red} : 3'd0;"
        elif has("side"):
            rest += " side = 0;"
        rows.append(f"default: begin {rest} end")
        body = (
            "walk = 0;\n" * has("walk")
            + f"case ({phase})\n{hw.indented(chr(10).join(rows), 4)}\nendcase"
        )
        return f"always @(*) begin\n{hw.indented(body, 4)}\nend\n"

    def _alternative(self) -> tuple[str, str, str]:
        """Return a flip-flop for each phase, and a clock that counts down."""
        has, flash = self.features.__contains__, len(self.phases)
        text, reset, moves = self._clocks()
        text += "logic lit;\n" * has("night") + self._ring() + self._bits_of("main")
        if has("side"):
            text += self._bits_of("side")
        if has("night"):
            reset += "lit <= 1'b1;\n"
            moves += f"lit <= !(night && at[{flash}] && lit);\n"
        if has("tick"):
            moves = f"if (tick) begin\n{hw.indented(moves, 4)}\nend\n"
        if has("walk"):
            text += f"assign walk = at[{self._walk}];\n"
            reset += "asked <= 1'b0;\n"
            begins = f"(tick && to[{self._walk}] && !at[{self._walk}])"
            kept = f"(button || asked) && !{begins}"
            if self.button_wins:
                kept = f"button || (asked && !{begins})"
            moves += f"asked <= {kept};\n"
        return text, reset, moves

    @property
    def _wide(self) -> int:
        """Bits of a clock that tells all times apart."""
        return max(1, (max(max(p.time, p.limit) for p in self.phases) - 1).bit_length())

    def _clocks(self) -> tuple[str, str, str]:
        """Return the clock of the ring, and the move of the ring."""
        size = len(self.phases) + ("night" in self.features)
        again = "move || night" if "night" in self.features else "move"
        text = f"logic [{size - 1}:0] at, to;\nlogic move;\nlogic [{self._wide - 1}:0] left;\n"
        reset = f"at <= {hw.literal(size, 1 << self.start)};\nleft <= '1;\n"
        moves = f"at <= to;\nif ({again}) left <= '1;\nelse if (left != 0) left <= left - 1'b1;\n"
        return text, reset, moves

    def _ring(self) -> str:
        """Return which phase follows."""
        has, count = self.features.__contains__, len(self.phases)
        text = f"logic [{count - 1}:0] over;\n"
        full = 2**self._wide
        for n, phase in enumerate(self.phases):
            early, late = (
                f"left <= {hw.literal(self._wide, full - t)}" for t in (phase.time, phase.limit)
            )
            text += f"assign over[{n}] = at[{n}] && {self._leave(n, early, late)};\n"
        into = [f"over[{(n - 1) % count}]" for n in range(count)]
        if has("walk"):
            into[0] += f" || (over[{self._walk - 1}] && !asked)"
            into[self._walk] += " && asked"
        if has("night"):
            into[0] += f" || at[{count}]"
        text += f"assign move = |over{f' || at[{count}]' if has('night') else ''};\n"
        text += "always_comb begin\n    to = move ? '0 : at;\n"
        text += "".join(f"    if ({into[n]}) to[{n}] = 1'b1;\n" for n in range(count))
        if has("night"):
            text += f"    if (night) to = {hw.literal(count + 1, 1 << count)};\n"
        return text + "end\n"

    def _bits_of(self, light: str) -> str:
        """Return each lamp as the phases in which it is on."""
        name = self._light if light == "main" else light
        text = ""
        for place, colour in enumerate(reversed(self.order)):
            on = [
                f"at[{n}]"
                for n, p in enumerate(self.phases)
                if colour in (p.main if light == "main" else p.side)
            ]
            if "night" in self.features and colour == ("Y" if light == "main" else "R"):
                on.append(f"(at[{len(self.phases)}] && lit)")
            text += f"assign {name}[{place}] = {' || '.join(on) or 0};\n"
        return text
