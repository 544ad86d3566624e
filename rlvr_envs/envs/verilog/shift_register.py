"""ShiftRegister: registers that shift, rotate, load and more, selected by a mode."""

from dataclasses import dataclass
from functools import partial

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.tables import article, listed
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, feature_knob

_WIDEST, _MOST = 18, 12


# In the order in which higher levels add them.
FEATURES = ("enable", "out", "done", "keep")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShiftRegisterConfig(DesignConfig):
    """How long the register is, and which operations it has."""

    width: int = knob(6, "register width in bits", low=4, high=_WIDEST)
    operations: int = knob(
        4, "number of operations; with one, there is no mode input", low=1, high=_MOST
    )
    features: int = feature_knob(1, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "ShiftRegisterConfig":
        """The register gets a bit and an operation a step, up to 18 and 12; a feature every 2."""
        return cls(
            width=min(4 + difficulty, _WIDEST),
            operations=min(1 + difficulty, _MOST),
            features=min(difficulty // 2, len(FEATURES)),
        )


@register("ShiftRegister-v0", domain="verilog", answer_format=LANGUAGE)
class ShiftRegisterTask(DesignTask[ShiftRegisterConfig]):
    """Write a universal shift register with random mode codes.

    Description:
        From a serial input that is shifted in, up to a dozen modes: shifts with a serial bit,
        with zeros and with the sign, rotations, load, clear, inversion and permutations. Later
        levels add an enable, the bit shifted out, a flag of a complete word and a mask.

    Observation:
        What the module does in numbered rules or prose, its ports, a table of the modes, and the
        kind of its reset; in one problem of three also an example run, as a table or a waveform.

    Difficulty:
        The register gets longer and its modes more, then outputs follow from several of them.

    References:
        Texas Instruments, SN74LS194A, the universal shift register; Liu et al. 2023, VerilogEval,
        arXiv:2309.07544, for the form of such problems.
    """

    def design(self, rng: Rng) -> hw.Design:
        config = self.config
        serial = "left" if integer(rng, 0, 1) else "right"
        others = [name for name in operation_names(config.width) if name != serial]
        chosen = rng.permutation(len(others))[: config.operations - 1].tolist()
        amounts = [integer(rng, 1, 3) for _ in range(config.operations)]
        names = [serial, *(others[i] for i in chosen)]
        codes = rng.permutation(2 ** (config.operations - 1).bit_length()).tolist()
        operations = sorted(
            (code, name, amount) for code, name, amount in zip(codes, names, amounts, strict=False)
        )
        return Register(
            width=config.width,
            operations=tuple(
                Operation(name, config.width, amount, code) for code, name, amount in operations
            ),
            start=integer(rng, 0, 2**config.width - 1),
            q=pick(rng, ("q", "word", "r")),
            serial=pick(rng, ("sin", "si", "din")),
            features=FEATURES[: config.features],
        ).design(rng)


# The registers of ShiftRegister: slices joined, and bit by bit.


_SHIFTS = ("left", "right", "rotate left", "rotate right", "arithmetic right")
_NAMES = (*_SHIFTS, "zeros left", "zeros right", "load", "hold", "clear", "invert", "reverse")
_OF_EVEN = ("halves", "pairs")  # need an even number of bits


def operation_names(width: int) -> tuple[str, ...]:
    """Return what a register of some bits can do."""
    return _NAMES if width % 2 else _NAMES + _OF_EVEN


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a register."""

    name: str  # of `operation_names`
    width: int  # of the register
    amount: int  # by how many bits, where any number is possible
    code: int  # the mode that selects it

    @property
    def places(self) -> int:
        """By how many bits it shifts."""
        return 1 if self.name in ("left", "right") else self.amount

    def leaving(self) -> int | None:
        """Return the bit that leaves the register last, or is carried to its other end last."""
        if self.name in ("left", "rotate left", "zeros left"):
            return self.width - self.places
        if self.name in ("right", "rotate right", "arithmetic right", "zeros right"):
            return self.places - 1
        return None

    def words(self, q: str, serial: str) -> str:
        """Return what it does, as the rest of a sentence whose subject is the register."""
        top = self.width - 1
        by = f"by {self.places} bit{'s' * (self.places > 1)}"
        low = "least significant bit"
        high = "most significant bit"
        if self.places > 1:
            low, high = (f"{self.places} {end}s" for end in (low, high))
        return {
            "left": f"shifts left by 1 bit; bit 0 becomes `{serial}`",
            "right": f"shifts right by 1 bit; bit {top} becomes `{serial}`",
            "load": "becomes `data`",
            "hold": "keeps its value",
            "rotate left": f"rotates left {by}",
            "rotate right": f"rotates right {by}",
            "arithmetic right": f"shifts right arithmetically {by}; the {high} become the old "
            f"value of bit {top}",
            "zeros left": f"shifts left {by}; the {low} become 0",
            "zeros right": f"shifts right {by}; the {high} become 0",
            "clear": "becomes 0",
            "invert": "inverts all its bits",
            "reverse": f"reverses its bits: bit i becomes the old value of bit {top}-i",
            "halves": "swaps its upper half and its lower half",
            "pairs": "swaps bits 2i and 2i+1, for every i",
        }[self.name].replace("become ", "become " if self.places > 1 else "becomes ")

    def slices(self, q: str, serial: str) -> str:
        """Return the result, put together from slices."""
        top, n = self.width - 1, self.places
        rest, upper = f"{q}[{top - n}:0]", f"{q}[{top}:{n}]"
        half = self.width // 2
        return {
            "left": f"{{{rest}, {serial}}}",
            "right": f"{{{serial}, {upper}}}",
            "load": "data",
            "hold": q,
            "rotate left": f"{{{rest}, {q}[{top}:{top - n + 1}]}}",
            "rotate right": f"{{{q}[{n - 1}:0], {upper}}}",
            "arithmetic right": f"{{{{{n}{{{q}[{top}]}}}}, {upper}}}",
            "zeros left": f"{q} << {n}",
            "zeros right": f"{q} >> {n}",
            "clear": hw.literal(self.width, 0),
            "invert": f"~{q}",
            "reverse": f"{{{', '.join(f'{q}[{i}]' for i in range(self.width))}}}",
            "halves": f"{{{q}[{half - 1}:0], {q}[{top}:{half}]}}",
            "pairs": f"(({q} & {self._odd()}) >> 1) | (({q} << 1) & {self._odd()})",
        }[self.name]

    def _odd(self) -> str:
        return hw.literal(self.width, sum(1 << i for i in range(1, self.width, 2)))

    def bit(self, i: int, q: str, serial: str) -> str:
        """Return what one bit becomes."""
        if self.name in ("load", "clear"):
            return f"data[{i}]" if self.name == "load" else "1'b0"
        if self.name in ("hold", "invert"):
            return f"{q}[{i}]" if self.name == "hold" else f"!{q}[{i}]"
        source = {
            "reverse": self.width - 1 - i,
            "halves": i + self.width // 2,
            "pairs": i ^ 1,
        }.get(self.name, i - self.places if "left" in self.name else i + self.places)
        if 0 <= source < self.width:
            return f"{q}[{source}]"
        if self.name in ("left", "right"):
            return serial
        if self.name.startswith("zeros"):
            return "1'b0"
        return f"{q}[{self.width - 1 if 'arith' in self.name else source % self.width}]"


@dataclass(frozen=True, slots=True)
class Register:
    """A register, its operations, and the two ways to write it."""

    width: int
    operations: tuple[Operation, ...]  # the one of them shifts a serial bit in
    start: int  # after reset
    q: str
    serial: str
    features: tuple[str, ...]

    @property
    def _mode(self) -> int:
        return (len(self.operations) - 1).bit_length()

    def design(self, rng: Rng) -> hw.Design:
        """Return the design; ``rng`` draws the clock and the reset."""
        clocking = hw.draw_clocking(rng)
        has, names = self.features.__contains__, [o.name for o in self.operations]
        signals = hw.clock_signals(clocking) + hw.inputs((self.serial, 1, "serial input"))
        if self._mode:
            signals += hw.inputs(("mode", self._mode, "selects the operation"))
        if "load" in names:
            signals += hw.inputs(("data", self.width, "parallel input"))
        if has("enable"):
            signals += hw.inputs(("enable", 1, "clock enable"))
        if has("keep"):
            signals += hw.inputs(("keep", self.width, "mask of bits that keep their value"))
        signals += hw.outputs((self.q, self.width, "the register"))
        if has("out"):
            signals += hw.outputs(("out", 1, "last bit shifted out"))
        if has("done"):
            signals += hw.outputs(("done", 1, "1 if a whole word has been shifted in"))
        golden, other = self._golden(), self._alternative()
        registers = [self.q, *(["out"] if has("out") else [])]
        texts = []
        for keyword, (declared, reset, body) in (("always", golden), ("always_ff", other)):
            moves = f"if (enable) begin\n{hw.indented(body, 4)}\nend" if has("enable") else body
            start = f"{self.q} <= {hw.literal(self.width, self.start)};\n{reset}"
            texts.append(declared + hw.clocked(clocking, start, moves, keyword=keyword))
        kind = f"{self.width}-bit universal shift register with {len(names)} modes"
        return hw.Design(
            title=f"{article(self.width)} "
            f"{kind if self._mode else f'{self.width}-bit shift register'}",
            signals=signals,
            rules=self._rules(),
            golden=hw.module(signals, texts[0], registers=registers),
            alternative=hw.sv_module(signals, texts[1]),
            clocking=clocking,
            figure=self._figure(),
            behaviour=partial(shifts, self),
        )

    def _figure(self) -> str:
        if not self._mode:
            return ""
        rows = [
            f"| {self._mode}'b{o.code:0{self._mode}b} | {o.words(self.q, self.serial)} |"
            for o in self.operations
        ]
        return "\n".join([f"| `mode` | `{self.q}` |", "| --- | --- |", *rows])

    def _rules(self) -> tuple[str, ...]:
        has, name = self.features.__contains__, f"`{self.q}`"
        enabled = " where `enable` is 1 and" if has("enable") else " where"
        edge = f"At every rising clock edge{enabled} reset is inactive, {name}"
        rules = [
            f"Reset sets {name} to {hw.literal(self.width, self.start)}.",
            f"Left is towards bit {self.width - 1}, the most significant bit.",
        ]
        if self._mode:
            rest = ""
            if len(self.operations) < 2**self._mode:
                rest = " If `mode` is not in the table, it keeps its value."
            rules.append(f"{edge} does what the table gives for `mode`.{rest}")
        else:
            rules.append(f"{edge} {self.operations[0].words(self.q, self.serial)}.")
        if has("enable"):
            others = [f"`{o}`" for o in ("out", "done") if has(o)]
            keep = "keep their values" if others else "keeps its value"
            rules.append(f"While `enable` is 0, {listed([name, *others])} {keep}.")
        if has("out"):
            rules.append(
                "`out` is registered. At an edge where the register shifts or rotates, `out` "
                "becomes the bit that is shifted out last, or rotated to the other end last (a "
                "move by several bits counts as that many moves by 1 bit). No other operation "
                "changes it. Reset sets it to 0."
            )
        if has("done"):
            load = " and after each load" if self._loads() else ""
            rules.append(
                f"The shifts that take in `{self.serial}` are counted; the count starts at 0 after "
                f"reset{load}. `done` is 1 if and only if at least {self.width} such shifts have "
                "been counted. It depends on past clock edges only, not on the current inputs."
            )
        if has("keep"):
            rules.append(
                f"Bit i of {name} keeps its value in every operation while `keep[i]` is 1. `keep` "
                "does not affect the other bits, `out` or `done`."
            )
        return tuple(rules)

    def _loads(self) -> bool:
        return any(o.name == "load" for o in self.operations)

    def _case(self, rows: list[tuple[int, str]], rest: str) -> str:
        """Return a choice by the mode."""
        if not self._mode:
            return rows[0][1] if rows else rest
        lines = [f"    {hw.literal(self._mode, code)}: {text}" for code, text in rows]
        return "\n".join(["case (mode)", *lines, f"    default: {rest}", "endcase"])

    def _golden(self) -> tuple[str, str, str]:
        """Return declarations, reset and moves: slices, and a count of the shifts."""
        has, q = self.features.__contains__, self.q
        chosen = self._case(
            [(o.code, f"moved = {o.slices(q, self.serial)};") for o in self.operations],
            f"moved = {q};",
        )
        declared = (
            f"reg [{self.width - 1}:0] moved;\nalways @(*) begin\n{hw.indented(chosen, 4)}\nend\n"
        )
        kept = f"(moved & ~keep) | ({q} & keep)" if has("keep") else "moved"
        reset, body = [], [f"{q} <= {kept};"]
        if has("out"):
            leaving = [(o.code, o.leaving()) for o in self.operations]
            rows = [(code, f"out <= {q}[{at}];") for code, at in leaving if at is not None]
            reset.append("out <= 1'b0;")
            body.append(self._case(rows, "out <= out;"))
        if has("done"):
            bits = self.width.bit_length()
            full = hw.literal(bits, self.width)
            declared += f"reg [{bits - 1}:0] shifts;\nassign done = shifts == {full};\n"
            reset.append("shifts <= 0;")
            rows = [
                (o.code, f"if (shifts != {full}) shifts <= shifts + 1'b1;")
                for o in self.operations
                if o.name in ("left", "right")
            ]
            rows += [(o.code, "shifts <= 0;") for o in self.operations if o.name == "load"]
            body.append(self._case(rows, "shifts <= shifts;"))
        return declared, "\n".join(reset), "\n".join(body)

    def _alternative(self) -> tuple[str, str, str]:
        """Return the same with one wire for each bit, and shifts counted by a row of ones."""
        has, q, top = self.features.__contains__, self.q, self.width - 1
        lines = [f"logic [{top}:0] moved;"]
        asked = {o.name: f"(mode == {hw.literal(self._mode, o.code)})" for o in self.operations}
        if not self._mode:
            asked = dict.fromkeys(asked, "1'b1")
        for i in range(self.width):
            choice = f"{q}[{i}]"
            for o in self.operations:
                choice = f"{asked[o.name]} ? {o.bit(i, q, self.serial)} : {choice}"
            keep = f"keep[{i}] ? {q}[{i}] : " if has("keep") else ""
            lines.append(f"assign moved[{i}] = {keep}{choice};")
        reset, body = [], [f"{q} <= moved;"]
        if has("out"):
            terms = [(asked[o.name], o.leaving()) for o in self.operations]
            taken = " | ".join(f"({on} & {q}[{at}])" for on, at in terms if at is not None)
            any_shift = " | ".join(on for on, at in terms if at is not None)
            reset.append("out <= '0;")
            body.append(f"if ({any_shift}) out <= {taken};")
        if has("done"):
            serial = " | ".join(asked[name] for name in ("left", "right") if name in asked)
            lines.append(f"logic [{top}:0] made;\nassign done = made[{top}];")
            reset.append("made <= '0;")
            body.append(f"if ({serial}) made <= {{made[{top - 1}:0], 1'b1}};")
            if self._loads():
                body.append(f"if {asked['load']} made <= '0;")
        return "\n".join(lines) + "\n", "\n".join(reset), "\n".join(body)


def shifts(made: Register, rows: hw.Inputs) -> hw.Shown:
    """Return what a shift register shows."""
    value, out, taken, shown = made.start, 0, 0, []
    codes = {operation.code: operation for operation in made.operations}
    for row in rows:
        shown.append({made.q: value})
        shown[-1] |= {"out": out} if "out" in made.features else {}
        shown[-1] |= {"done": int(taken >= made.width)} if "done" in made.features else {}
        single = made.operations[0] if len(made.operations) == 1 else None
        operation = single or codes.get(row["mode"])
        if operation is None or not row.get("enable", 1):
            continue
        leaving, keep = operation.leaving(), row.get("keep", 0)
        out = out if leaving is None else value >> leaving & 1
        taken = 0 if operation.name == "load" else taken + (operation.name in ("left", "right"))
        moved = _moved(operation, value, row[made.serial], row.get("data", 0))
        value = moved & ~keep | value & keep
    return shown


def _moved(operation: Operation, value: int, serial: int, data: int) -> int:
    """Return a word after an operation."""
    width, n = operation.width, operation.places
    full, half, top = (1 << width) - 1, width // 2, value >> (width - 1)
    odd = sum(1 << i for i in range(1, width, 2))
    return (
        full
        & {
            "left": value << 1 | serial,
            "right": value >> 1 | serial << (width - 1),
            "load": data,
            "hold": value,
            "rotate left": value << n | value >> (width - n),
            "rotate right": value >> n | value << (width - n),
            "arithmetic right": value >> n | top * (full << (width - n)),
            "zeros left": value << n,
            "zeros right": value >> n,
            "clear": 0,
            "invert": ~value,
            "reverse": int(f"{value:0{width}b}"[::-1], 2),
            "halves": value >> half | value << half,
            "pairs": (value & odd) >> 1 | value << 1 & odd,
        }[operation.name]
    )
