"""CordicRotator: rotations by shifts and additions, one step in each cycle."""

import math
from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.sizes import writing_effort
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
FEATURES = ("vectoring", "round", "guard", "quadrant", "kind", "early")
# What a step makes of x; d is +1 or -1, and S(y) is y shifted.
KINDS = {
    "circular": "x - d * S(y)",
    "linear": "x",
    "hyperbolic": "x + d * S(y)",
}
_GUARD = 2  # bits that working values have more than inputs
_WIDEST, _MOST_STEPS = 12, 12
_NAMES = (
    ("start", "x", "y", "z"),
    ("go", "a", "b", "angle"),
    ("begin_step", "re", "im", "phase"),
    ("load", "u", "v", "theta"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CordicRotatorConfig(DesignConfig):
    """How wide the numbers are, how many steps there are, and which features are added."""

    width: int = knob(6, "width of the numbers, in bits", low=5, high=_WIDEST)
    steps: int = knob(3, "number of steps", low=2, high=_MOST_STEPS)
    features: int = feature_knob(1, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "CordicRotatorConfig":
        """Two levels of three add a feature, up to 9; the third adds a bit and two steps.

        The numbers stop at 12 bits and 12 steps.
        """
        more = (difficulty + 2) // 3
        return cls(
            width=min(6 + more, _WIDEST),
            steps=min(2 + 2 * more, _MOST_STEPS),
            features=min((2 * difficulty) // 3, len(FEATURES)),
        )


@register("CordicRotator-v0", domain="verilog", answer_format=LANGUAGE)
class CordicRotatorTask(DesignTask[CordicRotatorConfig]):
    """Write a CORDIC: a vector is rotated by an angle with shifts and additions.

    Description:
        Three numbers are taken at a start, and each cycle adds shifted numbers and constants of a
        table, with signs that depend on them. Later levels add a second mode, rounded shifts,
        guard bits with saturation, a rotation by a right angle before the first step, linear or
        hyperbolic rotations, and an end as soon as nothing is left to rotate.

    Observation:
        What the module does in numbered rules or prose, a table of shifts and constants, its
        ports, and the kind of its reset.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md), to the last
        bit, also where numbers overflow. For wide numbers the proof may stay open, and a long
        simulation decides. A reset that is not written and a value that is not determined count
        as wrong.

    Difficulty:
        Signs, shifts and overflows follow more rules, and steps differ from each other.

    References:
        Volder, The CORDIC Trigonometric Computing Technique, 1959; Walther, A Unified Algorithm
        for Elementary Functions, 1971, for linear and hyperbolic rotations.
    """

    def design(self, rng: Rng) -> hw.Design:
        features = FEATURES[: self.config.features]
        kinds = ["circular"]
        if "kind" in features:
            kinds.append(pick(rng, ("linear", "hyperbolic")))
            rng.shuffle(kinds)
        width = self.config.width
        return CordicSources(
            clocking=hw.draw_clocking(rng),
            width=width,
            steps=self.config.steps,
            kinds=tuple(kinds),
            vector_code=integer(rng, 0, 1),
            starts=tuple(integer(rng, 0, 2**width - 1) for _ in range(3)),
            features=features,
            names=pick(rng, _NAMES),
        ).design()

    def effort(self, problem: VerilogProblem) -> float:
        """Return Halstead's effort of the plain writing, in which every feature shows."""
        return writing_effort(problem.golden)


def step_table(kind: str, steps: int, width: int) -> list[tuple[int, int]]:
    """Return the shift and the constant of each step.

    A half turn is ``2 ** (width - 1)``. Hyperbolic steps begin with a shift by 1, and the shift by
    4 comes twice, without which they would not converge (Walther 1971).
    """
    shifts = list(range(steps))
    scale = 2 ** (width - 1) / math.pi
    if kind == "linear":
        return [(s, round(2 ** (width - 3 - s))) for s in shifts]
    if kind == "circular":
        return [(s, round(math.atan(2.0**-s) * scale)) for s in shifts]
    shifts = [s for s in range(1, steps + 1) for _ in range(1 + (s == 4))][:steps]
    return [(s, round(math.atanh(2.0**-s) * scale)) for s in shifts]


# Rotators in words and in two kinds of Verilog; what is drawn comes from the task.


@dataclass(frozen=True, slots=True)
class CordicSources:
    """What was drawn for one rotator, its rules and its sources."""

    clocking: Clocking
    width: int
    steps: int
    kinds: tuple[str, ...]  # of rotation, by code
    vector_code: int  # of the mode in which y is driven to 0
    starts: tuple[int, ...]  # of the outputs, after reset
    features: tuple[str, ...]
    names: tuple[str, str, str, str]

    def design(self) -> hw.Design:
        """Return the design."""
        ports = self._signals()
        return hw.Design(
            title=(
                f"a CORDIC for {self.width}-bit numbers, which carries out one of its "
                f"{self.steps} steps in each clock cycle"
            ),
            signals=ports,
            rules=(*self._time_rules(), *self._step_rules(), *self._last_rules()),
            golden=hw.module(ports, self._golden(), registers=["done", *self._outs]),
            alternative=hw.sv_module(ports, self._alternative()),
            clocking=self.clocking,
            figure=self._figure(),
        )

    def _has(self, feature: str) -> bool:
        return feature in self.features

    @property
    def _inner(self) -> int:
        """Return the bits of the working values."""
        return self.width + (_GUARD if self._has("guard") else 0)

    @property
    def _ins(self) -> list[str]:
        return [f"{name}_in" for name in self.names[1:]]

    @property
    def _outs(self) -> list[str]:
        return [f"{name}_out" for name in self.names[1:]]

    @property
    def _tables(self) -> list[list[tuple[int, int]]]:
        return [step_table(kind, self.steps, self.width) for kind in self.kinds]

    @property
    def _quarter(self) -> int:
        """Return the angle of a quarter turn."""
        return 1 << (self.width - 2)

    def _signals(self) -> tuple[hw.Signal, ...]:
        meanings = ("the number x", "the number y", "the number z")
        return (
            hw.clock_signals(self.clocking)
            + hw.inputs((self.names[0], 1, "1 requests a calculation"))
            + (hw.inputs(("mode", 1, "selects the mode")) if self._has("vectoring") else ())
            + (hw.inputs(("kind", 1, "selects the kind")) if self._has("kind") else ())
            + hw.inputs(
                *((n, self.width, m) for n, m in zip(self._ins, meanings, strict=True)),
            )
            + hw.outputs(
                ("busy", 1, "1 during a calculation"),
                ("done", 1, "1 in the cycle in which results are new"),
                *(
                    (n, self.width, f"the last result for {m[-1]}")
                    for n, m in zip(self._outs, meanings, strict=True)
                ),
            )
        )

    def _figure(self) -> str:
        head = ["step"]
        for kind in self.kinds:
            of = f", {kind}" if len(self.kinds) > 1 else ""
            head += [f"shift s{of}", f"constant A{of}"]
        rows = zip(*self._tables, strict=True)
        return table(head, [(k, *(n for pair in row for n in pair)) for k, row in enumerate(rows)])

    def _time_rules(self) -> list[str]:
        start, ins = self.names[0], ", ".join(f"`{name}`" for name in self._ins)
        taken = ["`mode`"] * self._has("vectoring") + ["`kind`"] * self._has("kind")
        also = f", together with {' and '.join(taken)}" if taken else ""
        n = self._inner
        widened = (
            f" The working values have {n} bits, two more than the inputs, which are extended by "
            "their sign."
            if self._has("guard")
            else f" They have {n} bits."
        )
        rules = [
            (
                "All numbers are whole numbers in two's complement. The module has three working "
                f"values x, y and z.{widened} What does not fit wraps around: the lowest {n} bits "
                "of a result are kept."
            ),
            (
                f"At a rising clock edge where `{start}` is 1 and `busy` is 0, {ins} are "
                f"sampled as x, y and z{also}, and a calculation begins. While `busy` is 1, "
                f"`{start}` is ignored."
            ),
        ]
        if self._has("quadrant"):
            rules.append(self._quadrant_rule())
        end = f"step {self.steps - 1}"
        rules.append(
            f"In a calculation `busy` is 1 for {self.steps} cycles, and at the edge that ends each "
            f"of them a step is carried out, from step 0 to {end}. `busy` is 0 in all other "
            "cycles."
        )
        if self._has("early"):
            what = "z is 0 in the rotation mode or y is 0 in the vectoring mode"
            rules[-1] = (
                f"In a calculation `busy` is 1 for at most {self.steps} cycles, and at the edge "
                f"that ends each of them a step is carried out, from step 0 to {end}. But if "
                f"before a step {what}, the calculation ends at the edge of that step, which "
                "changes nothing: no further steps are carried out. `busy` is 0 in all other "
                "cycles."
            )
        return rules

    def _quadrant_rule(self) -> str:
        q = self._quarter
        only = " This is only done for the circular kind." if len(self.kinds) > 1 else ""
        return (
            "At the same edge, x, y and z are turned by a quarter turn if necessary, before they "
            f"are stored. Let Q be {q}. In the rotation mode: if z is at least Q, they become -y, "
            "x and z - Q; if z is less than -Q, they become y, -x and z + Q. In the vectoring "
            "mode, if x is negative: if y is negative as well, they become -y, x and z - Q, and "
            f"otherwise y, -x and z + Q.{only}"
        )

    def _step_rules(self) -> list[str]:
        rules = [
            (
                "A step takes its shift s and its constant A from the table below. S(v) is "
                + (
                    "v divided by 2 to the power of s, rounded to the nearest whole number; "
                    "halfway between two, the higher one is taken (v is not changed before that, "
                    "so nothing overflows)."
                    if self._has("round")
                    else "v divided by 2 to the power of s, rounded down (an arithmetic shift)."
                )
            )
        ]
        rotation = "d is +1 if z is at least 0, and -1 if z is negative"
        if self._has("vectoring"):
            code = self.vector_code
            rules.append(
                f"If `mode` was sampled as {1 - code}, the mode is rotation: {rotation}. If it was "
                f"sampled as {code}, the mode is vectoring: d is +1 if y is negative, and -1 if y "
                "is at least 0."
            )
        else:
            rules.append(f"In each step, {rotation}.")
        if len(self.kinds) == 1:
            new = KINDS[self.kinds[0]]
        else:
            new = " and ".join(
                f"{KINDS[kind]} if `kind` was sampled as {code} (the {kind} kind)"
                for code, kind in enumerate(self.kinds)
            )
        rules.append(
            f"A step sets all three at once, from the values before it: x becomes {new}; y becomes "
            "y + d * S(x); z becomes z - d * A."
        )
        return rules

    def _last_rules(self) -> list[str]:
        names = ", ".join(f"`{name}`" for name in self._outs)
        top = 2 ** (self.width - 1)
        fit = ""
        if self._has("guard"):
            fit = f" A value above {top - 1} is shown as {top - 1}, and one below {-top} as {-top}."
        values = ", ".join(hw.literal(self.width, start) for start in self.starts)
        return [
            (
                f"At the edge that ends a calculation, {names} take the values of x, y and z after "
                f"the last step, and `done` becomes 1 for one cycle.{fit} The outputs keep these "
                "values until the next results. In the cycle in which `done` is 1, `busy` is 0 "
                "again, so that the next calculation can begin at the edge that ends it."
            ),
            (
                f"Reset aborts a calculation, and sets {names} to {values} and all other outputs "
                "to 0. All outputs depend on the state only, not on the current inputs."
            ),
        ]

    def _is_vector(self, mode: str) -> str:
        if not self._has("vectoring"):
            return "1'b0"
        return mode if self.vector_code else f"!{mode}"

    def _reset(self) -> str:
        """Return what reset does, also to what no output shows: proofs are shorter for it."""
        shown = "\n".join(
            f"{name} <= {hw.literal(self.width, start)};"
            for name, start in zip(self._outs, self.starts, strict=True)
        )
        kept = "\nvectoring <= 0;" if self._has("vectoring") else ""
        kept += "\nkind_kept <= 0;" if self._has("kind") else ""
        return f"busy_q <= 0;\ndone <= 0;\n{shown}\nx <= 0;\ny <= 0;\nz <= 0;{kept}"

    def _golden(self) -> str:
        """Return a case of steps and signed arithmetic."""
        has, v, w, n = self._has, self._inner, self.width, self.steps
        bits = (n - 1).bit_length()
        shift_bits = max(s for rows in self._tables for s, _ in rows).bit_length()
        lines = [
            f"reg busy_q;\nreg [{bits - 1}:0] step;\nreg signed [{v - 1}:0] x, y, z, nx, ny, nz;",
            f"reg [{shift_bits - 1}:0] s;\nreg signed [{v - 1}:0] a;\nassign busy = busy_q;",
        ]
        lines += ["reg vectoring;"] if has("vectoring") else []
        lines += ["reg kind_kept;"] if has("kind") else []
        cases = []
        for code, rows in enumerate(self._tables):
            for k, (shift, constant) in enumerate(rows):
                at = f"{{1'd{code}, {bits}'d{k}}}" if has("kind") else f"{bits}'d{k}"
                cases.append(f"{at}: begin s = {shift}; a = {constant}; end")
        chosen = "{kind_kept, step}" if has("kind") else "step"
        body = hw.indented("\n".join([*cases, "default: begin s = 0; a = 0; end"]), 8)
        lines.append(f"always @(*) begin\n    case ({chosen})\n{body}\n    endcase\nend")
        if has("round"):
            lines.append(
                f"wire signed [{v}:0] half = s == 0 ? 0 : 1 << (s - 1);\n"
                f"wire signed [{v}:0] xr = x + half;\nwire signed [{v}:0] yr = y + half;\n"
                f"wire signed [{v - 1}:0] xs = xr >>> s;\nwire signed [{v - 1}:0] ys = yr >>> s;"
            )
        else:
            lines.append(
                f"wire signed [{v - 1}:0] xs = x >>> s;\nwire signed [{v - 1}:0] ys = y >>> s;"
            )
        lines.append(
            "wire up = vectoring ? y < 0 : z >= 0;" if has("vectoring") else "wire up = z >= 0;"
        )
        lines += ["wire stop = vectoring ? y == 0 : z == 0;"] if has("early") else []
        lines.append(f"always @(*) begin\n{hw.indented(self._golden_step(), 4)}\nend")
        last = f"step == {n - 1}" + (" || stop" if has("early") else "")
        shown = list(zip(self._outs, ("nx", "ny", "nz"), strict=True))
        low, high = -(2 ** (w - 1)), 2 ** (w - 1) - 1
        fits = "\n".join(
            f"{out} <= {new} > {high} ? {high} : {new} < {low} ? {low} : {new};"
            if has("guard")
            else f"{out} <= {new};"
            for out, new in shown
        )
        begin = self._golden_begin()
        end = hw.indented(f"busy_q <= 0;\ndone <= 1;\n{fits}", 8)
        move = "x <= nx;\ny <= ny;\nz <= nz;\nstep <= step + 1;"
        body = (
            f"done <= 0;\nif (busy_q) begin\n{hw.indented(move, 4)}\n    if ({last}) begin\n{end}\n"
            f"    end\nend else if ({self.names[0]}) begin\n{hw.indented(begin, 4)}\nend"
        )
        lines.append(hw.clocked(self.clocking, f"{self._reset()}\nstep <= 0;", body))
        return "\n".join(lines)

    def _golden_step(self) -> str:
        """Return what a step makes of the working values."""
        changes = {
            "circular": "nx = up ? x - ys : x + ys;",
            "linear": "nx = x;",
            "hyperbolic": "nx = up ? x + ys : x - ys;",
        }
        text = changes[self.kinds[0]]
        if self._has("kind"):
            text = f"if (kind_kept) {changes[self.kinds[1]]}\nelse {text}"
        text += "\nny = up ? y + xs : y - xs;\nnz = up ? z - a : z + a;"
        if self._has("early"):
            text += "\nif (stop) begin\n    nx = x;\n    ny = y;\n    nz = z;\nend"
        return text

    def _golden_begin(self) -> str:
        """Return what happens at a start."""
        x, y, z = (f"$signed({name})" for name in self._ins)
        text = "busy_q <= 1;\nstep <= 0;"
        text += f"\nvectoring <= {self._is_vector('mode')};" if self._has("vectoring") else ""
        text += "\nkind_kept <= kind;" if self._has("kind") else ""
        plain = f"x <= {x};\ny <= {y};\nz <= {z};"
        if not self._has("quadrant"):
            return f"{text}\n{plain}"
        q = self._quarter
        is_vector = self._is_vector("mode")
        left = f"{is_vector} ? {x} < 0 && {y} < 0 : {z} >= {q}"
        right = f"{is_vector} ? {x} < 0 && {y} >= 0 : {z} < -{q}"
        if self._has("kind"):
            circular = f"kind == {self.kinds.index('circular')}"
            left, right = f"{circular} && ({left})", f"{circular} && ({right})"
        turns = (
            f"if ({left}) begin\n    x <= -{y};\n    y <= {x};\n    z <= {z} - {q};\n"
            f"end else if ({right}) begin\n    x <= {y};\n    y <= -{x};\n    z <= {z} + {q};\n"
            f"end else begin\n{hw.indented(plain, 4)}\nend"
        )
        return f"{text}\n{turns}"

    def _alternative(self) -> str:
        """Return one bit for each step, and additions of inverted numbers with a carry."""
        has, v, w, n = self._has, self._inner, self.width, self.steps
        lines = [
            f"logic [{n - 1}:0] now;\nlogic [{v - 1}:0] x, y, z, sx, sy, plus, mx, my, mz;",
            f"logic [{v - 1}:0] px, py, pz;\nlogic down, up, over;\nassign busy = |now;",
        ]
        lines += ["logic vectoring;"] if has("vectoring") else []
        lines += ["logic kind_kept;"] if has("kind") else []
        terms: dict[str, list[str]] = {"sx": [], "sy": [], "plus": []}
        for code, rows in enumerate(self._tables):
            of = "" if len(self.kinds) == 1 else f" & {'' if code else '~'}kind_kept"
            for k, (shift, constant) in enumerate(rows):
                gate = f"{{{v}{{now[{k}]{of}}}}}"
                for name, source in (("sx", "x"), ("sy", "y")):
                    terms[name].append(f"({gate} & {self._shifted(source, shift)})")
                terms["plus"].append(f"({gate} & {v}'d{constant})")
        lines += [f"assign {name} = {' | '.join(parts)};" for name, parts in terms.items()]
        top = v - 1
        sign = f"vectoring ? ~y[{top}] : z[{top}]" if has("vectoring") else f"z[{top}]"
        lines.append(f"assign down = {sign};\nassign up = ~down;")
        idle = "~|(vectoring ? y : z)" if has("early") else "1'b0"
        lines.append(f"assign over = now[{n - 1}] | {idle};")
        step = {
            "circular": f"x + (sy ^ {{{v}{{~down}}}}) + {v}'(up)",
            "linear": "x",
            "hyperbolic": f"x + (sy ^ {{{v}{{down}}}}) + {v}'(down)",
        }
        new = step[self.kinds[0]]
        if len(self.kinds) > 1:
            new = f"kind_kept ? {step[self.kinds[1]]} : {new}"
        for name, old, text in (
            ("mx", "x", new),
            ("my", "y", f"y + (sx ^ {{{v}{{down}}}}) + {v}'(down)"),
            ("mz", "z", f"z + (plus ^ {{{v}{{~down}}}}) + {v}'(up)"),
        ):
            lines.append(f"assign {name} = {f'{idle} ? {old} : ' if has('early') else ''}{text};")
        lines += self._alternative_begin()
        moves = ["done <= busy & over;", f"now <= over ? '0 : {{now[{n - 2}:0], 1'b0}};"]
        go = f"if (~busy & {self.names[0]}) begin\n    now <= {n}'d1; x <= px; y <= py; z <= pz;"
        go += f" vectoring <= {self._is_vector('mode')};" if has("vectoring") else ""
        go += " kind_kept <= kind;" if has("kind") else ""
        moves.append("if (busy) begin x <= mx; y <= my; z <= mz; end")
        moves.append(f"{go}\nend")
        for out, name in zip(self._outs, ("mx", "my", "mz"), strict=True):
            value = name
            if has("guard"):  # the guard bits and the sign agree where it fits
                fits = f"&{name}[{top}:{w - 1}] | ~|{name}[{top}:{w - 1}]"
                limit = f"{{{name}[{top}], {{{w - 1}{{~{name}[{top}]}}}}}}"
                value = f"({fits}) ? {name}[{w - 1}:0] : {limit}"
            moves.append(f"if (busy & over) {out} <= {value};")
        reset = self._reset().replace("busy_q <= 0;", "now <= '0;")
        lines.append(hw.clocked(self.clocking, reset, "\n".join(moves), keyword="always_ff"))
        return "\n".join(lines)

    def _shifted(self, name: str, shift: int) -> str:
        """Return a number that is shifted, rounded by the last bit that goes."""
        v = self._inner
        if not shift:
            return name
        copies = f"{{{min(shift, v)}{{{name}[{v - 1}]}}}}"
        rest = f", {name}[{v - 1}:{shift}]" if shift < v else ""
        text = f"{{{copies}{rest}}}"
        if self._has("round"):
            text = f"({text} + {v}'({name}[{min(shift, v) - 1}]))"
        return text

    def _alternative_begin(self) -> list[str]:
        """Return the numbers at a start."""
        v, w = self._inner, self.width
        wide = [f"{v}'($signed({name}))" for name in self._ins]
        x, y, z = self._ins
        if not self._has("quadrant"):
            pairs = zip(("px", "py", "pz"), wide, strict=True)
            return [f"assign {name} = {text};" for name, text in pairs]
        top = w - 1
        is_vector = self._is_vector("mode").replace("!", "~")
        # The highest two bits differ outside of the half plane of small angles.
        circular = "1'b1"
        if self._has("kind"):
            circular = f"kind ~^ 1'b{self.kinds.index('circular')}"
        turn = f"({is_vector} ? {x}[{top}] : {z}[{top}] ^ {z}[{top - 1}])"
        left = f"({is_vector} ? {y}[{top}] : ~{z}[{top}])"
        q = f"{v}'d{self._quarter}"
        return [
            "logic turned, left;",
            f"assign turned = {turn} & ({circular});\nassign left = {left};",
            f"assign px = turned ? (left ? -{wide[1]} : {wide[1]}) : {wide[0]};",
            f"assign py = turned ? (left ? {wide[0]} : -{wide[0]}) : {wide[1]};",
            f"assign pz = turned ? (left ? {wide[2]} - {q} : {wide[2]} + {q}) : {wide[2]};",
        ]
