"""AxiLiteSlave: registers behind five independent channels."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.tables import listed, table
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, feature_knob
from rlvr_envs.verifiers.hdl.interface import Clocking

# In the order in which higher levels add them.
FEATURES = ("errors", "independent", "clear", "strobes", "overlap", "latency", "shared")
# Which of a write and a read goes first where both could.
FIRSTS = ("write", "read", "alternate")
_STORED = ("ctrl", "mode", "limit", "gain", "mask", "base", "delay", "shape")
_SENSED = ("status", "sense", "temp", "version")
_MOST_STORED, _WIDEST = len(_STORED), 16
_SLAVE_ERROR, _DECODE_ERROR = 2, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class AxiLiteSlaveConfig(DesignConfig):
    """How many registers there are, and which features the bus has."""

    stored: int = knob(2, "number of registers that can be written", low=1, high=_MOST_STORED)
    width: int = knob(4, "width of the data bus, in bits", low=2, high=_WIDEST)
    features: int = feature_knob(2, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "AxiLiteSlaveConfig":
        """Two levels of three add a feature, up to 11; the third adds a register and two bits.

        The numbers stop at 8 registers of 16 bits.
        """
        more = (difficulty + 2) // 3
        return cls(
            stored=min(1 + more, _MOST_STORED),
            width=min(4 + 2 * more, _WIDEST),
            features=min((2 * difficulty) // 3, len(FEATURES)),
        )


@register("AxiLiteSlave-v0", domain="verilog", answer_format=LANGUAGE)
class AxiLiteSlaveTask(DesignTask[AxiLiteSlaveConfig]):
    """Write the registers of a peripheral that is read and written over an AXI4-Lite bus.

    Description:
        Addresses, data and responses of writes, and addresses and data of reads, pass over five
        channels with a handshake each. Later levels add error responses, addresses and data that
        come in any order, flags that are cleared by ones, strobes, transfers without pauses, reads
        that take several cycles, and registers with one port for writes and reads.

    Observation:
        What the module does in numbered rules or prose, the table of registers, its ports, and
        the kind of its reset.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md), also for
        signals that a manager would not send. A reset that is not written and a value that is not
        determined count as wrong.

    Difficulty:
        The channels become independent of each other, and then meet again.

    References:
        Arm, AMBA AXI and ACE Protocol Specification, IHI 0022, part B, for AXI4-Lite; Liu et al.
        2023, VerilogEval, arXiv:2309.07544, for the form of such problems.
    """

    def design(self, rng: Rng) -> hw.Design:
        config, features = self.config, FEATURES[: self.config.features]
        stored, sensed = list(_STORED), list(_SENSED)
        rng.shuffle(stored)
        rng.shuffle(sensed)
        count = config.stored + 1 + ("clear" in features)
        address = max(2, (2 * count - 1).bit_length())
        places = list(range(2**address))
        rng.shuffle(places)
        sizes = tuple(
            integer(rng, max(1, config.width // 2), config.width) for _ in range(config.stored)
        )
        return AxiLiteSources(
            clocking=hw.draw_clocking(rng),
            width=config.width,
            address=address,
            places=tuple(places[:count]),
            stored=tuple(stored[: config.stored]),
            sizes=sizes,
            starts=tuple(integer(rng, 0, 2**size - 1) for size in sizes),
            sensed=sensed[0],
            unmapped=pick(rng, (_SLAVE_ERROR, _DECODE_ERROR)),
            eager=bool(integer(rng, 0, 1)),
            set_wins=bool(integer(rng, 0, 1)),
            latency=integer(rng, 1, 3),
            first=pick(rng, FIRSTS),
            features=features,
        ).design()


# Register files behind a bus in words and in two kinds of Verilog; what is drawn comes from the
# task.


@dataclass(frozen=True, slots=True)
class AxiLiteSources:
    """What was drawn for one peripheral, its rules and its sources."""

    clocking: Clocking
    width: int
    address: int  # bits of an address
    places: tuple[int, ...]  # addresses of the registers, in the order of `_names`
    stored: tuple[str, ...]
    sizes: tuple[int, ...]  # of the stored registers, in bits
    starts: tuple[int, ...]  # of the stored registers, after reset
    sensed: str
    unmapped: int  # response to an address without a register
    eager: bool  # whether what is transferred at an edge can be written at the same edge
    set_wins: bool  # whether a flag that is set and cleared at once is set
    latency: int  # edges from the transfer of a read address to the read
    first: str  # one of `FIRSTS`
    features: tuple[str, ...]

    def design(self) -> hw.Design:
        """Return the design."""
        ports = self._signals()
        registers = ["bvalid", "rvalid", "rdata", *(f"{n}_q" for n in self.stored)]
        registers += ["bresp", "rresp"] if self._has("errors") else []
        return hw.Design(
            title=(
                f"the registers of a peripheral on an AXI4-Lite bus, with {self.width}-bit data"
            ),
            signals=ports,
            rules=self._rules(),
            golden=hw.module(ports, self._golden(), registers=registers),
            alternative=hw.sv_module(ports, self._alternative()),
            clocking=self.clocking,
            figure=self._figure(),
        )

    def _has(self, feature: str) -> bool:
        return feature in self.features

    @property
    def _names(self) -> list[str]:
        return [*self.stored, self.sensed, *(["flags"] if self._has("clear") else [])]

    def _place(self, name: str) -> str:
        return hw.literal(self.address, self.places[self._names.index(name)])

    def _signals(self) -> tuple[hw.Signal, ...]:
        strobes = self._has("strobes")
        signals = hw.clock_signals(self.clocking) + hw.inputs(
            ("awvalid", 1, "channel AW: 1 offers an address to write to"),
            ("awaddr", self.address, "channel AW: the address"),
            ("wvalid", 1, "channel W: 1 offers data to write"),
            ("wdata", self.width, "channel W: the data"),
            *([("wstrb", 2, "channel W: which halves are written")] if strobes else []),
            ("bready", 1, "channel B: 1 accepts a response to a write"),
            ("arvalid", 1, "channel AR: 1 offers an address to read from"),
            ("araddr", self.address, "channel AR: the address"),
            ("rready", 1, "channel R: 1 accepts data that were read"),
            (f"{self.sensed}_in", self.width, f"the value of `{self.sensed}`"),
        )
        if self._has("clear"):
            signals += hw.inputs(("events", self.width, "bits that are 1 set bits of `flags`"))
        errors = self._has("errors")
        signals += hw.outputs(
            ("awready", 1, "channel AW: 1 accepts an address"),
            ("wready", 1, "channel W: 1 accepts data"),
            ("bvalid", 1, "channel B: 1 offers a response"),
            *([("bresp", 2, "channel B: the response")] if errors else []),
            ("arready", 1, "channel AR: 1 accepts an address"),
            ("rvalid", 1, "channel R: 1 offers data"),
            ("rdata", self.width, "channel R: the data"),
            *([("rresp", 2, "channel R: the response")] if errors else []),
            *(
                (f"{name}_q", size, f"the value of the register `{name}`")
                for name, size in zip(self.stored, self.sizes, strict=True)
            ),
        )
        if self._has("clear"):
            signals += hw.outputs(("irq", 1, "1 while any bit of `flags` is 1"))
        return signals

    def _figure(self) -> str:
        rows = []
        for name, place in zip(self._names, self.places, strict=False):
            kind, start = "cleared by ones", "0"
            if name in self.stored:
                index = self.stored.index(name)
                kind = f"stored, {self.sizes[index]} bit{'s' * (self.sizes[index] > 1)}"
                start = hw.literal(self.sizes[index], self.starts[index])
            elif name == self.sensed:
                kind, start = "sensed", "-"
            rows.append((place, f"`{name}`", kind, start))
        return table(("address", "register", "kind", "after reset"), rows)

    def _rules(self) -> tuple[str, ...]:
        names = [f"`{name}_q`" for name in self.stored]
        shown = "always shows" if len(names) == 1 else "always show"
        more = " `irq` is 1 if and only if a bit of `flags` is 1." if self._has("clear") else ""
        held = " Nothing is held" if self._has("independent") else ""
        held += ", and no read is pending" if self._has("latency") else ""
        zero = ["`bvalid`", "`rvalid`", "`rdata`"]
        zero += ["`bresp`", "`rresp`"] if self._has("errors") else []
        return (
            (
                "The table below lists the registers with their addresses (in decimal), their "
                "kinds, and their values after reset."
            ),
            (
                "There are five channels, AW, W, B, AR and R. On each of them a transfer takes "
                "place at every rising clock edge where its valid signal and its ready signal are "
                "both 1."
            ),
            *self._write_rules(),
            *self._read_rules(),
            *self._kind_rules(),
            f"{listed(names)} {shown} the value of the register of that name.{more}",
            f"After reset, {listed(zero)} are 0.{held}{'.' * bool(held)}",
        )

    def _write_rules(self) -> list[str]:
        also = " or `bready` is 1" if self._has("overlap") else ""
        free = f"Channel B is free in a cycle if `bvalid` is 0{also}."
        strobe = " and `wstrb`" if self._has("strobes") else ""
        rules = [free]
        if not self._has("independent"):
            rules.append(
                "`awready` and `wready` are always equal. They are 1 in each cycle in which "
                "`awvalid` and `wvalid` are 1 and channel B is free, and 0 in all other cycles. A "
                "write takes place at the edge that ends such a cycle, with the address A in "
                "`awaddr` and the data D in `wdata`."
            )
        else:
            available = (
                "is held before the edge or is transferred at that same edge"
                if self.eager
                else "is held before the edge (to be transferred at that edge is not enough)"
            )
            leaves = (
                " or a write takes place at the edge that ends the cycle"
                if self._has("overlap")
                else ""
            )
            rules.append(
                "The module can hold one address that was transferred on channel AW, and one word "
                f"of data (`wdata`{strobe}) that was transferred on channel W. They may come in "
                f"any order. `awready` is 1 if and only if no address is held{leaves}, and "
                f"`wready` is 1 if and only if no data are held{leaves}."
            )
            wins = (
                " The write may have to wait for a read (see below)." if self._has("shared") else ""
            )
            rules.append(
                "A write takes place at a rising clock edge if an address is available, data are "
                "available, and channel B is free in the cycle that the edge ends. An address (or "
                f"data) is available at an edge if it {available}. The write uses the held address "
                "and data where they are held, and otherwise those transferred at the edge: call "
                "them A and D. What it uses is not held after the edge. Everything else that "
                f"was held before an edge or was transferred at it is held after it.{wins}"
            )
        response = ""
        if self._has("errors"):
            response = (
                f" and `bresp` becomes {self.unmapped} if A is not in the table, {_SLAVE_ERROR} if "
                f"A is the address of `{self.sensed}`, and 0 otherwise"
            )
        rules.append(
            f"At an edge at which a write takes place, `bvalid` becomes 1{response}. At an edge "
            "where `bvalid` and `bready` are 1 and no write takes place, `bvalid` becomes 0. "
            "At all other edges `bvalid` keeps its value."
            + (" `bresp` keeps its value until the next write." if self._has("errors") else "")
        )
        return rules

    def _read_rules(self) -> list[str]:
        also = " or `rready` is 1" if self._has("overlap") else ""
        free = f"`rvalid` is 0{also}"
        rules = []
        if not self._has("latency"):
            rules.append(
                f"`arready` is 1 if and only if {free}. A read takes place at each edge at "
                "which an address is transferred on channel AR, from that address."
            )
        else:
            both = f" and ({free})" if also else f" and {free}"
            after = (
                "the first rising edge"
                if self.latency == 1
                else f"the {('second', 'third')[self.latency - 2]} rising edge"
            )
            later = ", or later if it has to wait" if self._has("shared") else ""
            rules.append(
                f"`arready` is 1 if and only if no read is pending{both}. When an address is "
                "transferred on channel AR, a read from that address becomes pending. It takes "
                f"place at {after} after the edge of the transfer{later}, and is not pending "
                "any more after that."
            )
        if self._has("shared"):
            first = {
                "write": "the write takes place and the read waits",
                "read": "the read takes place and the write waits",
                "alternate": (
                    "one takes place and the other waits: the write at the first such edge after "
                    "reset, and from then on the one that waited at the last such edge"
                ),
            }[self.first]
            rules.append(
                "The registers have one port: at most one of a write and a read takes place at an "
                f"edge. If by the rules above both would take place at an edge, {first}. A read "
                "that waits would take place at the next edge, and so on until it takes place. "
                "For a write that waits, the rule for writes decides anew at the next edge."
            )
        response = ""
        if self._has("errors"):
            response = (
                f" and `rresp` becomes 0, or {self.unmapped} if the address is not in the table"
            )
        keeps = "`rdata` and `rresp` keep their values" if response else "`rdata` keeps its value"
        rules.append(
            "At an edge at which a read takes place, `rvalid` becomes 1, `rdata` becomes the value "
            "that the register at the address has before that edge, with zeros in the higher bits "
            "if the register is narrower, or 0 if the address is not in the table"
            f"{',' * bool(response)}{response}. At an edge where `rvalid` and `rready` are 1 and "
            "no read takes place, `rvalid` becomes 0. At all other edges `rvalid` keeps its "
            f"value. {keeps} until the next read."
        )
        return rules

    def _kind_rules(self) -> list[str]:
        half = self.width // 2
        rules = [
            (
                "A write to a stored register sets it to the lowest bits of D, as many as the "
                f"register has. `{self.sensed}` is not stored: it always has the value of "
                f"`{self.sensed}_in`, and a write to it has no effect. A write to an address that "
                "is not in the table has no effect on the registers."
            ),
        ]
        if self._has("strobes"):
            kept = "those bits of a stored register keep their values"
            kept += ", and no bit of `flags` is cleared there" if self._has("clear") else ""
            rules.append(
                f"The bit 0 of `wstrb` that was transferred with D stands for bits {half - 1} to 0 "
                f"of D, its bit 1 for bits {self.width - 1} to {half}. A half whose strobe is 0 is "
                f"not written: {kept}. Strobes do not change responses."
            )
        if self._has("clear"):
            wins = "is 1 afterwards" if self.set_wins else "is 0 afterwards"
            rules.append(
                f"`flags` has {self.width} bits. At every rising clock edge, each bit of `flags` "
                "becomes 1 if the same bit of `events` is 1. A write to `flags` clears each bit "
                "whose bit in D is 1. A bit that is set by `events` and cleared by a write at the "
                f"same edge {wins}. All other bits keep their values."
            )
        return rules

    def _value(self, name: str) -> str:
        """Return the value of a register as a word of the bus."""
        if name == self.sensed:
            return f"{name}_in"
        if name == "flags":
            return name
        wide = self.sizes[self.stored.index(name)]
        return f"{name}_q" if wide == self.width else f"{{{self.width - wide}'d0, {name}_q}}"

    def _golden(self) -> str:
        """Return what is held in registers with a flag each, and cases of addresses."""
        has, w, a = self._has, self.width, self.address
        lines = [f"reg [{w - 1}:0] flags;\nassign irq = flags != 0;"] if has("clear") else []
        also = (" || bready", " || rready") if has("overlap") else ("", "")
        lines.append(f"wire b_free = !bvalid{also[0]};\nwire r_free = !rvalid{also[1]};")
        lines += self._golden_held()
        if has("strobes"):
            half = w // 2
            lines.append(
                f"wire [{w - 1}:0] lanes = {{{{{w - half}{{strobes[1]}}}}, "
                f"{{{half}{{strobes[0]}}}}}};"
            )
        if has("latency"):
            bits = max(1, (self.latency - 1).bit_length())
            lines.append(
                f"reg pending;\nreg [{a - 1}:0] from;\nreg [{bits - 1}:0] left;\n"
                "assign arready = !pending && r_free;"
            )
        else:
            lines.append(f"wire [{a - 1}:0] from = araddr;\nassign arready = r_free;")
        lines += self._golden_turns()
        cases = "\n".join(f"{self._place(n)}: seen = {self._value(n)};" for n in self._names)
        known = "\n".join(f"{self._place(n)}: there = 1;" for n in self._names)
        lines.append(
            f"reg [{w - 1}:0] seen;\nalways @(*) case (from)\n"
            f"{hw.indented(cases, 4)}\n    default: seen = 0;\nendcase"
        )
        if has("errors"):
            lines.append(
                f"reg there;\nalways @(*) case (from)\n{hw.indented(known, 4)}\n"
                "    default: there = 0;\nendcase"
            )
        lines.append(self._golden_moves())
        return "\n".join(lines)

    def _golden_held(self) -> list[str]:
        """Return the address, the data and the strobes of a write."""
        w, a, strobes = self.width, self.address, self._has("strobes")
        if not self._has("independent"):
            return [
                f"wire writes;\nwire [{a - 1}:0] to = awaddr;\nwire [{w - 1}:0] data = wdata;",
                *(["wire [1:0] strobes = wstrb;"] if strobes else []),
                "assign awready = writes;\nassign wready = writes;",
            ]
        strobed = "\nreg [1:0] s_kept;\nwire [1:0] strobes = d_held ? s_kept : wstrb;"
        leaves = " || writes" if self._has("overlap") else ""
        return [
            (
                f"wire writes;\nreg a_held, d_held;\nreg [{a - 1}:0] a_kept;\n"
                f"reg [{w - 1}:0] d_kept;\nwire [{a - 1}:0] to = a_held ? a_kept : awaddr;\n"
                f"wire [{w - 1}:0] data = d_held ? d_kept : wdata;{strobed if strobes else ''}\n"
                f"assign awready = !a_held{leaves};\nassign wready = !d_held{leaves};"
            )
        ]

    def _golden_turns(self) -> list[str]:
        """Return when a write and a read take place."""
        write = "awvalid && wvalid && b_free"
        if self._has("independent"):
            write = "a_held && d_held && b_free"
            if self.eager:
                write = "(a_held || awvalid) && (d_held || wvalid) && b_free"
        read = "pending && left == 0" if self._has("latency") else "arvalid && arready"
        if not self._has("shared"):
            return [f"assign writes = {write};\nwire reads = {read};"]
        turn = {"write": "0", "read": "1", "alternate": "read_next"}[self.first]
        return [
            *(["reg read_next;"] if self.first == "alternate" else []),
            (
                f"wire can_write = {write};\nwire can_read = {read};\n"
                f"wire reads = can_read && !(can_write && !{turn});\n"
                f"assign writes = can_write && !(can_read && {turn});"
            ),
        ]

    def _golden_moves(self) -> str:
        """Return the clocked block."""
        has = self._has
        resets = ["bvalid <= 0;", "rvalid <= 0;", "rdata <= 0;"]
        answers, shown = ["bvalid <= 1;"], ["rvalid <= 1;", "rdata <= seen;"]
        body, cases = ["if (bready) bvalid <= 0;", "if (rready) rvalid <= 0;"], list[str]()
        other = "default: ;"
        if has("errors"):
            resets += ["bresp <= 0;", "rresp <= 0;"]
            answers.append("bresp <= 0;")
            shown.append(f"rresp <= there ? 0 : {self.unmapped};")
            cases.append(f"{self._place(self.sensed)}: bresp <= {_SLAVE_ERROR};")
            other = f"default: bresp <= {self.unmapped};"
        for name, size, start in zip(self.stored, self.sizes, self.starts, strict=True):
            resets.append(f"{name}_q <= {hw.literal(size, start)};")
            part = f"[{size - 1}:0]" if size < self.width else ""
            new = f"data{part}"
            if has("strobes"):
                new = f"({name}_q & ~lanes{part}) | (data{part} & lanes{part})"
            cases.append(f"{self._place(name)}: {name}_q <= {new};")
        if has("clear"):
            resets.append("flags <= 0;")
            body.append("flags <= flags | events;")
            gone = "data & lanes" if has("strobes") else "data"
            kept = f"(flags & ~({gone})) | events"
            if not self.set_wins:
                kept = f"(flags | events) & ~({gone})"
            cases.append(f"{self._place('flags')}: flags <= {kept};")
        self._golden_waits(resets, body)
        case = hw.indented("\n".join([*cases, other]), 4)
        write = "\n".join([*answers, f"case (to)\n{case}\nendcase"])
        body.append(f"if (writes) begin\n{hw.indented(write, 4)}\nend")
        read = hw.indented("\n".join(shown), 4)
        body.append(f"if (reads) begin\n{read}\nend")
        return hw.clocked(self.clocking, "\n".join(resets), "\n".join(body))

    def _golden_waits(self, resets: list[str], body: list[str]) -> None:
        """Add what is held, a read that is pending and whose turn it is."""
        has = self._has
        if has("independent"):
            resets.append("a_held <= 0;\nd_held <= 0;")
            kept = "\n    s_kept <= wstrb;" if has("strobes") else ""
            if has("overlap"):  # what is used leaves, and the next one may come at the same edge
                body.append("if (a_held == writes) a_held <= awvalid;")
                body.append("if (d_held == writes) d_held <= wvalid;")
            else:
                body.append("a_held <= (a_held || awvalid) && !writes;")
                body.append("d_held <= (d_held || wvalid) && !writes;")
            body.append("if (awready) a_kept <= awaddr;")
            body.append(f"if (wready) begin\n    d_kept <= wdata;{kept}\nend")
        if has("latency"):
            resets.append("pending <= 0;")
            body.append(
                "if (reads) pending <= 0;\nif (pending && left != 0) left <= left - 1;\n"
                "if (arvalid && arready) begin\n    pending <= 1;\n    from <= araddr;\n"
                f"    left <= {self.latency - 1};\nend"
            )
        if has("shared") and self.first == "alternate":
            resets.append("read_next <= 0;")
            body.append("if (can_read && can_write) read_next <= !read_next;")

    def _alternative(self) -> str:
        """Return a bit that selects each register, and the stages of a read as a chain of bits."""
        has, half, w, a, names = self._has, self.width // 2, self.width, self.address, self._names
        last = len(names) - 1
        lines = [
            "logic puts, gets, may_put, may_get;",
            f"logic [{last}:0] hit, put, look;\nlogic [{a - 1}:0] target, source;",
            f"logic [{w - 1}:0] word, lanes;",
        ]
        lines += [f"assign hit[{k}] = target == {self._place(n)};" for k, n in enumerate(names)]
        lines += [f"assign look[{k}] = source == {self._place(n)};" for k, n in enumerate(names)]
        lines.append(f"assign put = hit & {{{last + 1}{{puts}}}};")
        free = ("~bvalid", "~rvalid")
        if has("overlap"):
            free = ("~(bvalid & ~bready)", "~(rvalid & ~rready)")
        reset, moves = list[str](), list[str]()
        self._alternative_held(lines, reset, moves, free[0])
        mask = "'1"
        if has("strobes"):
            mark = "mark" if has("independent") else "wstrb"
            mask = f"{{{{{w - half}{{{mark}[1]}}}}, {{{half}{{{mark}[0]}}}}}}"
        lines.append(f"assign lanes = {mask};")
        self._alternative_read(lines, reset, moves, free[1])
        self._alternative_registers(lines, reset, moves)
        reset.append("{bvalid, rvalid} <= '0; rdata <= '0;")
        moves.append("bvalid <= puts | bvalid & ~bready;\nrvalid <= gets | rvalid & ~rready;")
        terms = " | ".join(
            f"({{{w}{{look[{k}]}}}} & {w}'({self._plain(n)}))" for k, n in enumerate(names)
        )
        moves.append(f"if (gets) rdata <= {terms};")
        if has("errors"):
            reset.append("bresp <= '0; rresp <= '0;")
            moves.append(
                f"if (puts) bresp <= ({{2{{~|hit}}}} & 2'd{self.unmapped}) | "
                f"({{2{{hit[{names.index(self.sensed)}]}}}} & 2'd{_SLAVE_ERROR});\n"
                f"if (gets) rresp <= {{2{{~|look}}}} & 2'd{self.unmapped};"
            )
        lines.append(
            hw.clocked(self.clocking, "\n".join(reset), "\n".join(moves), keyword="always_ff")
        )
        return "\n".join(lines)

    def _alternative_held(
        self, lines: list[str], reset: list[str], moves: list[str], free: str
    ) -> None:
        """Add the address and the data of a write to declarations, resets and moves."""
        has, w, a = self._has, self.width, self.address
        if not has("independent"):
            lines.append("assign target = awaddr;\nassign word = wdata;")
            lines.append(f"assign may_put = awvalid & wvalid & {free};")
            lines.append("assign awready = puts;\nassign wready = puts;")
            return
        lines.append(f"logic [{a - 1}:0] kept_address;\nlogic [{w - 1}:0] kept_word;")
        lines.append("logic want_address, want_word;")  # nothing is held
        lines.append("assign target = want_address ? awaddr : kept_address;")
        lines.append("assign word = want_word ? wdata : kept_word;")
        leaves = " | puts" if has("overlap") else ""
        lines.append(f"assign awready = want_address{leaves};\nassign wready = want_word{leaves};")
        missing = ("want_address", "want_word")
        if self.eager:
            missing = ("want_address & ~awvalid", "want_word & ~wvalid")
        lines.append(f"assign may_put = ~({missing[0]}) & ~({missing[1]}) & {free};")
        reset.append("want_address <= 1'b1; want_word <= 1'b1;")
        for want, comes in (("want_address", "awvalid"), ("want_word", "wvalid")):
            moves.append(
                f"{want} <= puts ? {want} | ~{comes} : {want} & ~{comes};"
                if has("overlap")
                else f"{want} <= puts | {want} & ~{comes};"
            )
        moves.append("kept_address <= awready ? awaddr : kept_address;")
        moves.append("kept_word <= wready ? wdata : kept_word;")
        if has("strobes"):
            lines.append("logic [1:0] mark, kept_mark;")
            lines.append("assign mark = want_word ? wstrb : kept_mark;")
            moves.append("kept_mark <= wready ? wstrb : kept_mark;")

    def _alternative_read(
        self, lines: list[str], reset: list[str], moves: list[str], free: str
    ) -> None:
        """Add when reads and writes take place to declarations, resets and moves."""
        if not self._has("latency"):
            lines.append(f"assign source = araddr;\nassign arready = {free};")
            lines.append("assign may_get = arvalid & arready;")
        else:
            lines.append(f"logic [{self.latency - 1}:0] stage;")  # one bit goes through
            lines.append(f"assign arready = ~|stage & {free};")
            lines.append(f"assign may_get = stage[{self.latency - 1}];")
            reset.append("stage <= '0;")
            moves.append("if (arvalid & arready) source <= araddr;")
            if self.latency > 1:
                rest = f"stage[{self.latency - 3}:0], " if self.latency > 2 else ""
                top = f"stage[{self.latency - 1}] & ~gets | stage[{self.latency - 2}]"
                moves.append(f"stage <= {{{top}, {rest}arvalid & arready}};")
            else:
                moves.append("stage <= arvalid & arready | stage & ~gets;")
        if not self._has("shared"):
            lines.append("assign puts = may_put;\nassign gets = may_get;")
        elif self.first == "alternate":
            lines.append("logic write_turn;")
            lines.append("assign puts = may_put & (write_turn | ~may_get);")
            lines.append("assign gets = may_get & ~puts;")
            reset.append("write_turn <= 1'b1;")
            moves.append("write_turn <= write_turn ^ (may_put & may_get);")
        elif self.first == "write":
            lines.append("assign puts = may_put;\nassign gets = may_get & ~may_put;")
        else:
            lines.append("assign puts = may_put & ~may_get;\nassign gets = may_get;")

    def _alternative_registers(self, lines: list[str], reset: list[str], moves: list[str]) -> None:
        """Add the registers to declarations, resets and moves."""
        w, names = self.width, self._names
        for k, (name, size) in enumerate(zip(self.stored, self.sizes, strict=True)):
            reset.append(f"{name}_q <= {hw.literal(size, self.starts[k])};")
            moves.append(
                f"{name}_q <= {name}_q ^ (({name}_q ^ word[{size - 1}:0]) & "
                f"lanes[{size - 1}:0] & {{{size}{{put[{k}]}}}});"
            )
        if self._has("clear"):
            lines.append(f"logic [{w - 1}:0] raised, gone;")
            lines.append(f"assign gone = {{{w}{{put[{names.index('flags')}]}}}} & word & lanes;")
            lines.append("assign irq = |raised;")
            reset.append("raised <= '0;")
            moves.append(
                "raised <= raised & ~gone | events;"
                if self.set_wins
                else "raised <= ~(~(raised | events) | gone);"
            )

    def _plain(self, name: str) -> str:
        """Return the value of a register in the alternative."""
        return {"flags": "raised", self.sensed: f"{name}_in"}.get(name, f"{name}_q")
