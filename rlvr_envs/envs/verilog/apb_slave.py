"""ApbSlave: registers of several kinds behind a peripheral bus."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.tables import table
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, feature_knob
from rlvr_envs.verifiers.hdl.interface import Clocking

# In the order in which higher levels add them.
FEATURES = ("error", "clear", "wait", "strobes", "count", "lock")
_STORED = ("ctrl", "mode", "limit", "gain", "mask", "base", "delay", "shape")
_SENSED = ("status", "sense", "temp", "version")
_MOST_STORED, _WIDEST = len(_STORED), 16


@dataclass(frozen=True, slots=True, kw_only=True)
class ApbSlaveConfig(DesignConfig):
    """How many registers there are, and of how many kinds."""

    stored: int = knob(2, "number of registers that can be written", low=1, high=_MOST_STORED)
    width: int = knob(4, "width of the data bus, in bits", low=2, high=_WIDEST)
    features: int = feature_knob(2, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "ApbSlaveConfig":
        """Two levels of three add a feature, up to 9; the third adds a register and two bits.

        The numbers stop at 8 registers of 16 bits.
        """
        more = (difficulty + 2) // 3
        return cls(
            stored=min(1 + more, _MOST_STORED),
            width=min(4 + 2 * more, _WIDEST),
            features=min((2 * difficulty) // 3, len(FEATURES)),
        )


@register("ApbSlave-v0", domain="verilog", answer_format=LANGUAGE)
class ApbSlaveTask(DesignTask[ApbSlaveConfig]):
    """Write the registers of a peripheral that is read and written over an APB bus.

    Description:
        A bus reads and writes registers at addresses of a table. Some hold what is written, some
        show an input, some have flags that are cleared by writing ones, one counts and is cleared
        by reading. Later levels add error responses, wait states, strobes and a lock.

    Observation:
        What the module does in numbered rules or prose, the table of registers, its ports, and
        the kind of its reset.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md), also for
        signals that a bus would not send. A reset that is not written and a value that is not
        determined count as wrong.

    Difficulty:
        More registers, and more kinds of them that meet each other.

    References:
        Arm, AMBA APB Protocol Specification, IHI 0024; Liu et al. 2023, VerilogEval,
        arXiv:2309.07544, for the form of such problems.
    """

    def design(self, rng: Rng) -> hw.Design:
        config, features = self.config, FEATURES[: self.config.features]
        width = config.width
        stored, sensed = list(_STORED), list(_SENSED)
        rng.shuffle(stored)
        rng.shuffle(sensed)
        count = config.stored + 1 + sum(f in features for f in ("clear", "count", "lock"))
        address = max(2, (2 * count - 1).bit_length())
        places = list(range(2**address))
        rng.shuffle(places)
        sizes = tuple(integer(rng, max(1, width // 2), width) for _ in range(config.stored))
        waits = pick(rng, ((0, 1), (1, 0), (0, 2), (2, 1), (1, 2), (3, 1), (2, 0), (1, 3)))
        return ApbSources(
            clocking=hw.draw_clocking(rng),
            width=width,
            address=address,
            places=tuple(places[:count]),
            stored=tuple(stored[: config.stored]),
            sizes=sizes,
            starts=tuple(integer(rng, 0, 2**size - 1) for size in sizes),
            sensed=sensed[0],
            set_wins=bool(integer(rng, 0, 1)),
            waits=waits,
            saturates=bool(integer(rng, 0, 1)),
            key=integer(rng, 1, 2**width - 1),
            locked=integer(rng, 0, config.stored - 1),
            features=features,
        ).design()


# Register files of peripherals in words and in two kinds of Verilog.


@dataclass(frozen=True, slots=True)
class ApbSources:
    """What was drawn for one peripheral, its rules and its sources."""

    clocking: Clocking
    width: int
    address: int  # bits of an address
    places: tuple[int, ...]  # addresses of the registers, in the order of `_names`
    stored: tuple[str, ...]
    sizes: tuple[int, ...]  # of the stored registers, in bits
    starts: tuple[int, ...]  # of the stored registers, after reset
    sensed: str
    set_wins: bool  # whether a flag that is set and cleared at once is set
    waits: tuple[int, int]  # of a read and of a write
    saturates: bool  # whether the count stays at its end
    key: int
    locked: int  # the index of the stored register that is locked
    features: tuple[str, ...]

    def design(self) -> hw.Design:
        """Return the design."""
        ports = self._signals()
        return hw.Design(
            title=f"the registers of a peripheral on an APB bus, with {self.width}-bit data",
            signals=ports,
            rules=self._rules(),
            golden=hw.module(
                ports, self._golden(), registers=("prdata", *(f"{n}_q" for n in self.stored))
            ),
            alternative=hw.sv_module(ports, self._alternative()),
            clocking=self.clocking,
            figure=self._figure(),
        )

    def _has(self, feature: str) -> bool:
        return feature in self.features

    @property
    def _names(self) -> list[str]:
        added = (("clear", "flags"), ("count", "hits"), ("lock", "key"))
        return [*self.stored, self.sensed, *(name for feature, name in added if self._has(feature))]

    def _place(self, name: str) -> str:
        return hw.literal(self.address, self.places[self._names.index(name)])

    def _signals(self) -> tuple[hw.Signal, ...]:
        signals = hw.clock_signals(self.clocking) + hw.inputs(
            ("psel", 1, "1 selects this peripheral"),
            ("penable", 1, "1 in the access phase"),
            ("pwrite", 1, "1 for a write, 0 for a read"),
            ("paddr", self.address, "address of a register"),
            ("pwdata", self.width, "data to write"),
        )
        if self._has("strobes"):
            signals += hw.inputs(("pstrb", 2, "which halves of the data are written"))
        signals += hw.inputs((f"{self.sensed}_in", self.width, f"the value of `{self.sensed}`"))
        if self._has("clear"):
            signals += hw.inputs(("events", self.width, "bits that are 1 set bits of `flags`"))
        if self._has("count"):
            signals += hw.inputs(("tick", 1, "1 counts up `hits`"))
        signals += hw.outputs(
            ("prdata", self.width, "data that is read"),
            ("pready", 1, "1 in the cycle in which a transfer ends"),
        )
        if self._has("error"):
            signals += hw.outputs(("pslverr", 1, "1 if a transfer is in error"))
        signals += hw.outputs(
            *(
                (f"{name}_q", size, f"the value of the register `{name}`")
                for name, size in zip(self.stored, self.sizes, strict=True)
            )
        )
        if self._has("clear"):
            signals += hw.outputs(("irq", 1, "1 while any bit of `flags` is 1"))
        return signals

    def _figure(self) -> str:
        rows = []
        for name, place in zip(self._names, self.places, strict=False):
            kind, start = "counts, cleared by a read", "0"
            if name in self.stored:
                index = self.stored.index(name)
                bits = f"{self.sizes[index]} bit{'s' * (self.sizes[index] > 1)}"
                kind = f"stored, {bits}"
                kind += ", locked" if self._has("lock") and index == self.locked else ""
                start = hw.literal(self.sizes[index], self.starts[index])
            elif name == self.sensed:
                kind, start = "sensed", "-"
            elif name == "flags":
                kind = "cleared by ones"
            elif name == "key":
                kind = "key"
            rows.append((place, f"`{name}`", kind, start))
        return table(("address", "register", "kind", "after reset"), rows)

    def _rules(self) -> tuple[str, ...]:
        rules = [
            (
                "The table below lists the registers with their addresses (in decimal), their "
                "kinds, and their values after reset."
            ),
            *self._transfer_rules(),
            *self._kind_rules(),
        ]
        if self._has("error"):
            also = (
                f", or is a write to `{self.stored[self.locked]}` while it is locked"
                if self._has("lock")
                else ""
            )
            fixed = f"`{self.sensed}`" + (" or `hits`" if self._has("count") else "")
            rules.append(
                "A transfer is in error if `paddr` is not in the table, or if it is a write to "
                f"{fixed}{also}. `pslverr` is 1 in each cycle in which a transfer takes place that "
                "is in error, and 0 in all other cycles."
            )
        names = ", ".join(f"`{name}_q`" for name in self.stored)
        shown = "always shows" if len(self.stored) == 1 else "always show"
        more = " `irq` is 1 if and only if a bit of `flags` is 1." if self._has("clear") else ""
        rules.append(f"{names} {shown} the value of the register of that name.{more}")
        rules.append(
            "`prdata` is 0 in each cycle in which no read takes place. In a cycle in which a read "
            "takes place, it is the value that the register at `paddr` has before the edge that "
            "ends the cycle, with zeros in the higher bits if the register is narrower than "
            "`prdata`, or 0 if `paddr` is not in the table. It depends on the inputs of the same "
            "cycle."
        )
        return tuple(rules)

    def _transfer_rules(self) -> list[str]:
        if self._has("wait"):
            read, write = self.waits
            ready = (
                "Let c be the number of consecutive cycles directly before the current one in "
                "which `psel` and `penable` were 1 and `pready` was 0 (only cycles after the last "
                "reset count; cycles in which reset is active do not). `pready` is 1 in a cycle if "
                f"`psel` and `penable` are 1 and c is at least N, where N is {write} if `pwrite` "
                f"is 1 in that cycle, and {read} if it is 0. Otherwise it is 0."
            )
        else:
            ready = "`pready` is 1 in each cycle in which `psel` and `penable` are 1, otherwise 0."
        return [
            ready,
            (
                "A transfer takes place in each cycle in which `pready` is 1: a write if "
                "`pwrite` is 1, a read if it is 0. It does not matter what happened in the "
                "cycles before (there need not be a setup phase). A write takes effect at the "
                "rising clock edge that ends the cycle. A write to an address that is not in "
                "the table has no effect."
            ),
        ]

    def _kind_rules(self) -> list[str]:
        half = self.width // 2
        rules = [
            (
                "A stored register keeps what was last written: the lowest bits of `pwdata`, "
                "as many as the register has."
            ),
            (
                f"`{self.sensed}` is not stored: a read of it gives the value of "
                f"`{self.sensed}_in` in the same cycle, and a write to it has no effect."
            ),
        ]
        if self._has("strobes"):
            rules.append(
                f"In a write, `pstrb[0]` stands for bits {half - 1} to 0 of the data and "
                f"`pstrb[1]` for bits {self.width - 1} to {half}. A half whose strobe is 0 is not "
                "written: those bits of a stored register keep their values"
                + (", and no bit of `flags` is cleared there" if self._has("clear") else "")
                + ". Reads ignore `pstrb`."
            )
        if self._has("clear"):
            wins = "is 1 afterwards" if self.set_wins else "is 0 afterwards"
            rules.append(
                f"`flags` has {self.width} bits. At every rising clock edge, each bit of `flags` "
                "becomes 1 if the same bit of `events` is 1. A write to `flags` clears each bit "
                "whose bit in `pwdata` is 1. A bit that is set by `events` and cleared by a write "
                f"at the same edge {wins}. All other bits keep their values."
            )
        if self._has("count"):
            top = 2**self.width - 1
            end = f"stays at {top}" if self.saturates else f"goes from {top} to 0"
            rules.append(
                f"`hits` has {self.width} bits and counts up by 1 at each rising clock edge where "
                f"`tick` is 1; it {end}. At the edge that ends a read of `hits`, it is cleared "
                "instead: it becomes 1 if `tick` is 1 at that edge, and 0 if not. A write to "
                "`hits` has no effect."
            )
        if self._has("lock"):
            every = " with both bits of `pstrb` at 1" if self._has("strobes") else ""
            none = (
                " (any other value of `pstrb` makes the write ignored)"
                if self._has("strobes")
                else ""
            )
            rules.append(
                f"`{self.stored[self.locked]}` is locked after reset: writes to it have no effect. "
                f"A write of {hw.literal(self.width, self.key)} to `key`{every} unlocks it, and a "
                f"write of any other value locks it again{none}. A read of `key` gives 1 if it is "
                "unlocked, and 0 if it is locked."
            )
        return rules

    def _value(self, name: str) -> str:
        """Return the value of a register as a word of the bus."""
        if name == self.sensed:
            return f"{name}_in"
        if name in ("flags", "hits"):
            return name
        wide = 1 if name == "key" else self.sizes[self.stored.index(name)]
        source = "unlocked" if name == "key" else f"{name}_q"
        return source if wide == self.width else f"{{{self.width - wide}'d0, {source}}}"

    def _merged(self, name: str, size: int) -> str:
        """Return what a write makes of a stored register."""
        part = f"[{size - 1}:0]" if size < self.width else ""
        if not self._has("strobes"):
            return f"pwdata{part}"
        return f"({name}_q & ~lanes{part}) | (pwdata{part} & lanes{part})"

    def _golden(self) -> str:
        """Return a case of addresses for reads and one for writes."""
        has, half, w = self._has, self.width // 2, self.width
        lines = []
        if has("strobes"):
            lines.append(
                f"wire [{w - 1}:0] lanes = {{{{{w - half}{{pstrb[1]}}}}, {{{half}{{pstrb[0]}}}}}};"
            )
        lines += [f"reg [{w - 1}:0] flags;\nassign irq = flags != 0;"] if has("clear") else []
        lines += [f"reg [{w - 1}:0] hits;"] if has("count") else []
        lines += ["reg unlocked;"] if has("lock") else []
        if has("wait"):
            read, write = self.waits
            lines.append("reg [1:0] waited;")
            lines.append(
                f"assign pready = psel && penable && waited >= (pwrite ? 2'd{write} : 2'd{read});"
            )
        else:
            lines.append("assign pready = psel && penable;")
        cases = [f"{self._place(n)}: prdata = {self._value(n)};" for n in self._names]
        body = "\n".join([*cases, "default: prdata = 0;"])
        lines.append(
            "always @(*) begin\n    prdata = 0;\n    if (pready && !pwrite) case (paddr)\n"
            f"{hw.indented(body, 8)}\n    endcase\nend"
        )
        if has("error"):
            lines.append(self._golden_error())
        lines.append(self._golden_moves())
        return "\n".join(lines)

    def _golden_moves(self) -> str:
        """Return the clocked block."""
        has, w = self._has, self.width
        resets, writes, always = list[str](), list[str](), list[str]()
        for k, (name, size) in enumerate(zip(self.stored, self.sizes, strict=True)):
            resets.append(f"{name}_q <= {hw.literal(size, self.starts[k])};")
            guard = "if (unlocked) " if has("lock") and k == self.locked else ""
            writes.append(f"{self._place(name)}: {guard}{name}_q <= {self._merged(name, size)};")
        if has("clear"):
            resets.append("flags <= 0;")
            always.append("flags <= flags | events;")
            gone = "pwdata & lanes" if has("strobes") else "pwdata"
            kept = f"(flags & ~({gone})) | events"
            if not self.set_wins:
                kept = f"(flags | events) & ~({gone})"
            writes.append(f"{self._place('flags')}: flags <= {kept};")
        if has("count"):
            resets.append("hits <= 0;")
            end = f" && hits != {{{w}{{1'b1}}}}" if self.saturates else ""
            always.append(f"if (tick{end}) hits <= hits + 1;")
            always.append(f"if (pready && !pwrite && paddr == {self._place('hits')}) hits <= tick;")
        if has("lock"):
            resets.append("unlocked <= 0;")
            every = "if (pstrb == 2'd3) " if has("strobes") else ""
            writes.append(
                f"{self._place('key')}: {every}unlocked <= pwdata == {hw.literal(w, self.key)};"
            )
        if has("wait"):
            resets.append("waited <= 0;")
            always.append("waited <= psel && penable && !pready ? waited + 1 : 0;")
        case = "\n".join([*writes, "default: ;"])
        always.append(f"if (pready && pwrite) case (paddr)\n{hw.indented(case, 4)}\nendcase")
        return hw.clocked(self.clocking, "\n".join(resets), "\n".join(always))

    def _golden_error(self) -> str:
        cases = []
        for name in self._names:
            bad = "0"
            if name in (self.sensed, "hits"):
                bad = "pwrite"
            elif self._has("lock") and name == self.stored[self.locked]:
                bad = "pwrite && !unlocked"
            cases.append(f"{self._place(name)}: bad = {bad};")
        text = hw.indented("\n".join([*cases, "default: bad = 1;"]), 8)
        return (
            f"reg bad;\nalways @(*) begin\n    case (paddr)\n{text}\n    endcase\nend\n"
            "assign pslverr = pready && bad;"
        )

    def _alternative(self) -> str:
        """Return a bit that selects each register, and masks of what is written."""
        has, half, w = self._has, self.width // 2, self.width
        names = self._names
        lines = ["logic ends, reads, writes;", f"logic [{len(names) - 1}:0] hit, put;"]
        lines += [f"assign hit[{k}] = paddr == {self._place(n)};" for k, n in enumerate(names)]
        lines.append("assign put = hit & {" + f"{len(names)}{{writes}}" + "};")
        lines.append(f"logic [{w - 1}:0] lanes;")
        low = f"{{{half}{{pstrb[0]}}}}" if has("strobes") else ""
        high = f"{{{w - half}{{pstrb[1]}}}}" if has("strobes") else ""
        lines.append(f"assign lanes = {f'{{{high}, {low}}}' if has('strobes') else chr(39) + '1'};")
        reset, moves = [], []
        ready = "1'b1"
        if has("wait"):
            read, write = self.waits
            lines.append("logic [3:0] past;")  # a bit for each cycle that was waited
            ready = f"(pwrite ? past[{write}] : past[{read}])"
            reset.append("past <= 4'd1;")
            moves.append("past <= psel & penable & ~ends ? {past[2:0], 1'b1} : 4'd1;")
        lines.append(f"assign ends = psel & penable & {ready};\nassign pready = ends;")
        lines.append("assign reads = ends & ~pwrite;\nassign writes = ends & pwrite;")
        terms = [
            f"({{{w}{{hit[{k}] & reads}}}} & {w}'({self._plain(n)}))" for k, n in enumerate(names)
        ]
        bad = self._alternative_registers(lines, reset, moves)
        if has("error"):
            lines.append(f"assign pslverr = ends & ({bad});")
        lines.append(f"assign prdata = {' | '.join(terms)};")
        lines.append(
            hw.clocked(self.clocking, "\n".join(reset), "\n".join(moves), keyword="always_ff")
        )
        return "\n".join(lines)

    def _alternative_registers(self, lines: list[str], reset: list[str], moves: list[str]) -> str:
        """Add the registers to a list of declarations, of resets and of moves.

        Returns:
            What makes a transfer an error.
        """
        has, w, names = self._has, self.width, self._names
        for k, (name, size) in enumerate(zip(self.stored, self.sizes, strict=True)):
            gate = f"put[{k}]" + (" & open" if has("lock") and k == self.locked else "")
            reset.append(f"{name}_q <= {hw.literal(size, self.starts[k])};")
            moves.append(
                f"{name}_q <= {name}_q ^ (({name}_q ^ pwdata[{size - 1}:0]) & "
                f"lanes[{size - 1}:0] & {{{size}{{{gate}}}}});"
            )
        bad = "~|hit" + f" | put[{names.index(self.sensed)}]"
        if has("clear"):
            lines.append(f"logic [{w - 1}:0] raised, gone;")
            lines.append(f"assign gone = {{{w}{{put[{names.index('flags')}]}}}} & pwdata & lanes;")
            lines.append("assign irq = |raised;")
            reset.append("raised <= '0;")
            moves.append(
                "raised <= raised & ~gone | events;"
                if self.set_wins
                else "raised <= ~(~(raised | events) | gone);"
            )
        if has("count"):
            k = names.index("hits")
            lines.append(f"logic [{w - 1}:0] total, base;")
            lines.append(f"assign base = hit[{k}] & reads ? '0 : total;")
            step = "tick & ~&base" if self.saturates else "tick"
            reset.append("total <= '0;")
            moves.append(f"total <= base + {w}'({step});")
            bad += f" | put[{k}]"
        if has("lock"):
            k = names.index("key")
            lines.append("logic open;")
            reset.append("open <= 1'b0;")
            moves.append(f"if (put[{k}] & &lanes) open <= ~|(pwdata ^ {hw.literal(w, self.key)});")
            bad += f" | put[{self.locked}] & ~open"
        return bad

    def _plain(self, name: str) -> str:
        """Return the value of a register in the alternative."""
        inner = {"flags": "raised", "hits": "total", "key": "open", self.sensed: f"{name}_in"}
        return inner.get(name, f"{name}_q")
