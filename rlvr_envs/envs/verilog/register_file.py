"""RegisterFile: registers written and read by number, with ports, lanes and bypasses."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, feature_knob
from rlvr_envs.verifiers.hdl.interface import Clocking

# In the order in which higher levels add them.
FEATURES = ("fixed", "bypass", "lanes", "registered", "second", "clear")
_MOST_WORDS, _WIDEST, _MOST_READS = 16, 16, 3
_WRITE_NAMES = (("we", "wa", "wd"), ("write", "waddr", "wdata"), ("wr_en", "wr_addr", "wr_data"))
_READ_NAMES = (("ra", "rd"), ("raddr", "rdata"), ("rd_addr", "rd_data"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterFileConfig(DesignConfig):
    """How many registers there are, and how they are accessed."""

    words: int = knob(
        6,
        "largest number of registers; at least three quarters of it are drawn",
        low=2,
        high=_MOST_WORDS,
    )
    width: int = knob(4, "width of a register, in bits", low=2, high=_WIDEST)
    reads: int = knob(1, "number of read ports", low=1, high=_MOST_READS)
    features: int = feature_knob(2, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "RegisterFileConfig":
        """Two levels of three add a feature, up to 9; the third adds two registers and a bit.

        A read port comes every 5 levels.

        The numbers stop at 16 registers, 16 bits and 3 read ports.
        """
        more = (difficulty + 2) // 3
        return cls(
            words=min(3 + 2 * more, _MOST_WORDS),
            width=min(2 + more, _WIDEST),
            reads=min(1 + difficulty // 5, _MOST_READS),
            features=min((2 * difficulty) // 3, len(FEATURES)),
        )


@register("RegisterFile-v0", domain="verilog", answer_format=LANGUAGE)
class RegisterFileTask(DesignTask[RegisterFileConfig]):
    """Write a register file with several ports and rules for accesses in the same cycle.

    Description:
        Registers are written and read by number. One of them may be fixed to a constant; reads
        may see the write of the same cycle or come a cycle later; writes may be confined to some
        lanes of a word; a second write port may reach the same register; all may be cleared.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md). A reset that
        is not written and a value that is not determined count as wrong.

    Difficulty:
        Registers, bits and read ports become more, and the features that interact too.

    References:
        Harris and Harris, Digital Design and Computer Architecture, 5.5, for register files;
        Liu et al. 2023, VerilogEval, arXiv:2309.07544, for the form of such problems.
    """

    def design(self, rng: Rng) -> hw.Design:
        config = self.config
        words = integer(rng, max(2, config.words - config.words // 4), config.words)
        top = 2**config.width - 1
        size = -(-config.width // integer(rng, 2, 2 if config.width < 6 else 4))
        return RegisterFileSources(
            clocking=hw.draw_clocking(rng),
            words=words,
            width=config.width,
            reads=config.reads,
            size=size,
            start=integer(rng, 0, top),
            fixed=integer(rng, 0, words - 1),
            constant=integer(rng, 0, top),
            beyond=integer(rng, 0, top),
            stronger=integer(rng, 0, 1),
            features=FEATURES[: config.features],
            write=pick(rng, _WRITE_NAMES),
            read=pick(rng, _READ_NAMES),
        ).design()


# Register files in words and in two kinds of Verilog; what is drawn comes from the task.


@dataclass(frozen=True, slots=True)
class RegisterFileSources:
    """What was drawn for one register file, its rules and its sources."""

    clocking: Clocking
    words: int
    width: int
    reads: int
    size: int  # bits of a lane
    start: int  # of every register after reset
    fixed: int  # the register that does not change
    constant: int  # what it holds
    beyond: int  # what reading a number without a register gives
    stronger: int  # the write port that wins
    features: tuple[str, ...]
    write: tuple[str, str, str]
    read: tuple[str, str]

    def design(self) -> hw.Design:
        has, ports = self.features.__contains__, self._signals()
        outs = [self._read(k)[1] for k in range(self.reads)]
        return hw.Design(
            title=f"a register file with {self.words} registers of {self.width} bits",
            signals=ports,
            rules=(*self._write_rules(), *self._read_rules()),
            golden=hw.module(ports, self._golden(), registers=outs if has("registered") else ()),
            alternative=hw.sv_module(ports, self._alternative()),
            clocking=self.clocking,
        )

    @property
    def _bits(self) -> int:
        return (self.words - 1).bit_length()

    @property
    def _suffixes(self) -> tuple[str, ...]:
        """Return the ends of the names of the write ports, the stronger one last."""
        if "second" not in self.features:
            return ("",)
        return ("_b", "_a") if self.stronger == 0 else ("_a", "_b")

    def _read(self, number: int) -> tuple[str, str]:
        end = str(number) if self.reads > 1 else ""
        return self.read[0] + end, self.read[1] + end

    def _signals(self) -> tuple[hw.Signal, ...]:
        has, (enable, address, data) = self.features.__contains__, self.write
        signals = hw.clock_signals(self.clocking)
        if has("clear"):
            signals += hw.inputs(("clear", 1, "1 clears all registers"))
        for end in sorted(self._suffixes):
            which = f" of write port {end[1:].upper()}" if end else ""
            signals += hw.inputs(
                (enable + end, 1, f"write enable{which}"),
                (address + end, self._bits, f"write address{which}"),
                (data + end, self.width, f"write data{which}"),
            )
            if has("lanes"):
                count = -(-self.width // self.size)
                signals += hw.inputs((f"lanes{end}", count, f"lane enables{which}"))
        reads = [self._read(k) for k in range(self.reads)]
        signals += hw.inputs(*((a, self._bits, "read address") for a, _ in reads))
        return signals + hw.outputs(*((d, self.width, f"read data for `{a}`") for a, d in reads))

    def _write_rules(self) -> list[str]:
        has, (enable, address, data) = self.features.__contains__, self.write
        suffixes = sorted(self._suffixes)
        rules = [
            (
                "The registers are numbered from 0. Reset sets each of them to "
                f"{hw.literal(self.width, self.start)}."
            )
        ]
        ending = f"`{data}`"
        if has("lanes"):
            ending += (
                " in the enabled lanes, and keeps its old bits in the other lanes. Lane k consists "
                f"of the bits {self.size}k to {self.size}k + {self.size - 1} of a word (as far as "
                "the word has these bits), and is enabled if bit k of `lanes` is 1"
            )
        when = f"At a rising clock edge where `{enable}` is 1, register number `{address}` becomes "
        if len(suffixes) == 1:
            rules.append(f"{when}{ending}.")
        else:
            rules.append(
                "There are two write ports, A and B. The names of their inputs end in `_a` and "
                f"`_b`; the rules omit this ending. {when}{ending}."
            )
            rules.append(
                "Both ports can write at the same clock edge. If both write the same bit of the "
                f"same register, port {self._suffixes[-1][1:].upper()} wins."
            )
        if has("fixed"):
            rules.append(
                f"Register {self.fixed} is an exception: it always holds "
                f"{hw.literal(self.width, self.constant)}, even "
                "after reset, and writes to it are ignored."
            )
        if self.words < 2**self._bits:
            rules.append(
                f"Register numbers above {self.words - 1} do not exist: writes to them are "
                f"ignored, and reads of them give {hw.literal(self.width, self.beyond)}."
            )
        if has("clear"):
            rules.append(
                "`clear` takes priority over writes: at a rising clock edge where `clear` is 1, "
                "all writes are ignored and every "
                f"register{' except the fixed one' * has('fixed')} becomes "
                f"{hw.literal(self.width, self.start)}."
            )
        return rules

    def _read_rules(self) -> list[str]:
        has = self.features.__contains__
        address, data = self._read(0)
        if self.reads > 1:
            address, data = f"{self.read[0]}k", f"{self.read[1]}k"
            last = self.reads - 1
            each = f"The read ports k = 0 to {last} are independent. " + (
                "Each is registered: " if has("registered") else "Each is combinational: "
            )
        else:
            each = "Reads are registered: " if has("registered") else "Reads are combinational: "
        if has("registered"):
            those = "all these outputs" if self.reads > 1 else "it"
            rules = [
                (
                    f"{each}at every rising clock edge, `{data}` takes the value of register "
                    f"number `{address}`. Reset sets {those} to 0."
                )
            ]
        else:
            rules = [f"{each}`{data}` is the value of register number `{address}`."]
        if not has("bypass"):
            rules.append(
                "A read gives the value from before the clock edge: a write is visible to reads "
                "only in later cycles."
            )
            return rules
        rules.append(
            "Reads see writes of the same cycle (write-first bypass): a read of a register that is "
            "written in the same cycle gives the value that the register has after the write"
            + (", including the bits of lanes that are not written" if has("lanes") else "")
            + "."
        )
        if has("clear"):
            rules.append("A read while `clear` is 1 gives the value from before the clear.")
        if not has("registered"):
            rules.append(
                "This bypass does not depend on reset: it works even while reset is active."
            )
        return rules

    def _golden(self) -> str:
        """Return a memory, and reads that compare their number with that of each write."""
        has, n = self.features.__contains__, self.words
        reset = f"for (k = 0; k < {n}; k = k + 1) regs[k] <= {hw.literal(self.width, self.start)};"
        writes = "\n".join(self._golden_write(end) for end in self._suffixes)
        if has("clear"):
            writes = f"if (clear) begin\n    {reset}\nend\n{writes}"
        lines = [f"reg [{self.width - 1}:0] regs [0:{n - 1}];", "integer k;"]
        lines += [f"wire hit{end} = {self._hit(end)};" for end in self._suffixes]
        lines.append(hw.clocked(self.clocking, reset, writes))
        shown = []
        for number in range(self.reads):
            address, data = self._read(number)
            value = f"regs[{address}]"
            if has("bypass"):
                value = (
                    "{" + ", ".join(self._seen(address, low) for low in self._lows()[::-1]) + "}"
                )
            if n < 2**self._bits:
                value = f"{address} < {n} ? {value} : {hw.literal(self.width, self.beyond)}"
            if has("fixed"):
                value = (
                    f"{address} == {self.fixed} ? {hw.literal(self.width, self.constant)} : {value}"
                )
            lines.append(f"wire [{self.width - 1}:0] seen{number} = {value};")
            shown.append((data, f"seen{number}"))
        if has("registered"):
            blank = "\n".join(f"{data} <= 0;" for data, _ in shown)
            taken = "\n".join(f"{data} <= {value};" for data, value in shown)
            lines.append(hw.clocked(self.clocking, blank, taken))
        else:
            lines += [f"assign {data} = {value};" for data, value in shown]
        return "\n".join(lines)

    def _lows(self) -> list[int]:
        """Return the lowest bit of each lane, or of the one that is the word."""
        return list(range(0, self.width, self.size)) if "lanes" in self.features else [0]

    def _part(self, low: int) -> str:
        high = min(low + self.size, self.width) - 1 if "lanes" in self.features else self.width - 1
        return f"[{high}:{low}]"

    def _hit(self, end: str) -> str:
        """Return whether a write port writes a register that takes it."""
        has, (enable, address, _) = self.features.__contains__, self.write
        terms = [enable + end]
        terms += ["!clear"] if has("clear") else []
        terms += [f"{address}{end} < {self.words}"] if self.words < 2**self._bits else []
        terms += [f"{address}{end} != {self.fixed}"] if has("fixed") else []
        return " && ".join(terms)

    def _golden_write(self, end: str) -> str:
        target, data = f"regs[{self.write[1]}{end}]", self.write[2] + end
        if "lanes" not in self.features:
            return f"if (hit{end}) {target} <= {data};"
        parts = [self._part(low) for low in self._lows()]
        return "\n".join(
            f"if (hit{end} && lanes{end}[{k}]) {target}{part} <= {data}{part};"
            for k, part in enumerate(parts)
        )

    def _seen(self, address: str, low: int) -> str:
        """Return the bits of a lane that a read sees."""
        part, value = self._part(low), f"regs[{address}]{self._part(low)}"
        for end in self._suffixes:
            lane = f" && lanes{end}[{low // self.size}]" if "lanes" in self.features else ""
            same = f"hit{end} && {self.write[1]}{end} == {address}{lane}"
            value = f"({same} ? {self.write[2]}{end}{part} : {value})"
        return value

    def _alternative(self) -> str:
        """Return all registers as one vector, and reads of it or of the one that comes next."""
        has, n, w = self.features.__contains__, self.words, self.width
        fixed = {self.fixed: self.constant} if has("fixed") else {}
        start = f"{n * w}'h{sum(fixed.get(r, self.start) << r * w for r in range(n)):x}"
        puts = ""
        for end in self._suffixes:
            enable, address, data = (name + end for name in self.write)
            lane = f" && lanes{end}[b / {self.size}]" if has("lanes") else ""
            puts += (
                f"        if ({enable} && int'({address}) == r{lane}) after[r * {w} + b] = "
                f"{data}[b];\n"
            )
        loops = f"for (int r = 0; r < {n}; r++) for (int b = 0; b < {w}; b++)"
        body = f"    {loops} begin\n{puts}    end\n"
        if has("fixed"):
            body += f"    after[{self.fixed * w} +: {w}] = {hw.literal(w, self.constant)};\n"
        if has("clear"):
            body = f"    if (!clear) begin\n{body}    end\n"
        view = "after" if has("bypass") else "held"
        reads, names = "", []
        for number in range(self.reads):
            address, data = self._read(number)
            target = f"next{number}" if has("registered") else data
            names.append((data, target))
            reads += (
                f"    {target} = {hw.literal(w, self.beyond)};\n"
                f"    for (int r = 0; r < {n}; r++) if (int'({address}) == r) "
                f"{target} = {view}[r * {w} +: {w}];\n"
            )
        moved = f"clear ? {start} : after" if has("clear") else "after"
        blank, taken = f"held <= {start};", f"held <= {moved};"
        declared = f"logic [{n * w - 1}:0] held, after;\n"
        if has("registered"):
            blank += "".join(f"\n{data} <= '0;" for data, _ in names)
            taken += "".join(f"\n{data} <= {target};" for data, target in names)
            declared += f"logic [{w - 1}:0] {', '.join(target for _, target in names)};\n"
        return (
            f"{declared}always_comb begin\n    after = held;\n{body}end\n"
            f"always_comb begin\n{reads}end\n"
            + hw.clocked(self.clocking, blank, taken, keyword="always_ff")
        )
