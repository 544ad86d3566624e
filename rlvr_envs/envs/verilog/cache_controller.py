"""CacheController: a direct-mapped cache between a processor and a slow memory."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.sizes import writing_effort
from rlvr_envs.generators.hardware.tables import listed
from rlvr_envs.generators.hardware.task import (
    LANGUAGE,
    DesignConfig,
    DesignTask,
    VerilogProblem,
    feature_knob,
)
from rlvr_envs.verifiers.hdl.interface import Clocking

# In the order in which higher levels add them.
FEATURES = ("write", "allocate", "words", "back", "uncached", "flush", "early")
_NAMES = (
    ("req", "addr", "ready", "done"),
    ("cpu_req", "cpu_addr", "cpu_ready", "cpu_done"),
    ("start", "address", "idle", "finished"),
    ("go", "at", "free", "ack"),
    ("load", "where", "calm", "fin"),
    ("fetch", "location", "accept", "complete"),
    ("ask", "addr_in", "open", "fin_req"),
)
_MOST_INDEX, _MOST_TAG, _MOST_OFFSET, _WIDEST = 3, 6, 2, 8


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheControllerConfig(DesignConfig):
    """How large the cache is, and which features are added."""

    index: int = knob(1, "bits of the number of a line", low=1, high=_MOST_INDEX)
    tag: int = knob(2, "bits of a tag", low=1, high=_MOST_TAG)
    offset: int = knob(1, "bits of the place of a word in a line", low=1, high=_MOST_OFFSET)
    width: int = knob(3, "width of a word, in bits", low=2, high=_WIDEST)
    features: int = feature_knob(2, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "CacheControllerConfig":
        """Two levels of three add a feature, up to 11; the third adds bits to words and tags.

        The number of lines doubles at 7 and 19, and from level 12 on lines have four words. The
        numbers stop at 8 lines, tags of 6 bits and words of 8 bits.
        """
        more = (difficulty + 2) // 3
        return cls(
            index=min(1 + (difficulty + 5) // 6 // 2, _MOST_INDEX),
            tag=min(2 + more, _MOST_TAG),
            offset=1 if difficulty < 12 else 2,
            width=min(3 + more, _WIDEST),
            features=min((2 * difficulty) // 3, len(FEATURES)),
        )


@register("CacheController-v0", domain="verilog", answer_format=LANGUAGE)
class CacheControllerTask(DesignTask[CacheControllerConfig]):
    """Write a direct-mapped cache with its controller, between a processor and a memory.

    Description:
        Reads are answered from lines that are valid and have the right tag; otherwise the line is
        filled over a handshake with a memory. Later levels add writes through the cache, lines
        that are filled for writes, lines of several words, dirty lines that are written back,
        addresses past the cache, a flush, and fills that begin with the word that is wanted.

    Observation:
        What the module does in numbered rules or prose, its ports, and the kind of its reset.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md), also for
        memories that answer at once, late or without being asked. For large caches the proof may
        stay open, and a long simulation decides. A reset that is not written and a value that is
        not determined count as wrong.

    Difficulty:
        More rules say when memory is written and read, and they meet at a miss.

    References:
        Hennessy and Patterson, Computer Architecture: A Quantitative Approach, appendix B and
        section 2.3, for write policies, early restart and critical word first.
    """

    def design(self, rng: Rng) -> hw.Design:
        config, features = self.config, FEATURES[: self.config.features]
        width = integer(rng, max(2, config.width - 1), config.width)
        return CacheSources(
            clocking=hw.draw_clocking(rng),
            index=config.index,
            tag=integer(rng, max(1, config.tag - 1), config.tag),
            offset=config.offset if "words" in features else 0,
            width=width,
            start=integer(rng, 0, 2**width - 1),
            region=integer(rng, 0, 1),
            downwards=bool(integer(rng, 0, 1)),
            features=features,
            names=pick(rng, _NAMES),
        ).design()

    def effort(self, problem: VerilogProblem) -> float:
        """Return Halstead's effort of the state machine, in which every feature shows."""
        return writing_effort(problem.golden)


# Caches in words and in two kinds of Verilog; what is drawn comes from the task.


@dataclass(frozen=True, slots=True)
class CacheSources:
    """What was drawn for one cache, its rules and its sources."""

    clocking: Clocking
    index: int
    tag: int
    offset: int  # 0: a line is one word
    width: int
    start: int  # of the word that was read, after reset
    region: int  # the highest bit of addresses past the cache
    downwards: bool  # whether words of a line are transferred from the last to the first
    features: tuple[str, ...]
    names: tuple[str, str, str, str]

    def design(self) -> hw.Design:
        """Return the design."""
        ports = self._signals()
        registers = [self.names[3], "rdata", "mem_addr"]
        registers += ["mem_wdata"] if self._has("write") else []
        size = "words" if not self.offset else f"lines of {2**self.offset} words"
        return hw.Design(
            title=f"a direct-mapped cache for {2**self.index} {size}, with its controller",
            signals=ports,
            rules=(
                *self._first_rules(),
                *self._memory_rules(),
                *self._request_rules(),
                *self._last_rules(),
            ),
            golden=hw.module(ports, self._golden(), registers=registers),
            alternative=hw.sv_module(ports, self._alternative()),
            clocking=self.clocking,
        )

    def _has(self, feature: str) -> bool:
        return feature in self.features

    @property
    def _address(self) -> int:
        return self.tag + self.index + self.offset

    def _signals(self) -> tuple[hw.Signal, ...]:
        req, addr, ready, done = self.names
        write = self._has("write")
        signals = hw.clock_signals(self.clocking) + hw.inputs(
            (req, 1, "processor: 1 asks for a word"),
            *([("we", 1, "processor: 1 to write, 0 to read")] if write else []),
            (addr, self._address, "processor: address of the word"),
            *([("wdata", self.width, "processor: word to write")] if write else []),
            *([("flush", 1, "processor: 1 flushes the cache")] if self._has("flush") else []),
            ("mem_ack", 1, "memory: 1 ends an access"),
            ("mem_rdata", self.width, "memory: word that is read"),
        )
        return signals + hw.outputs(
            (ready, 1, "processor: 1 if a request can be taken"),
            (done, 1, "processor: 1 after a request"),
            ("rdata", self.width, "processor: the last word that was read"),
            ("mem_req", 1, "memory: 1 during an access"),
            *([("mem_we", 1, "memory: 1 to write, 0 to read")] if write else []),
            ("mem_addr", self._address, "memory: address of the word"),
            *([("mem_wdata", self.width, "memory: word to write")] if write else []),
        )

    def _first_rules(self) -> list[str]:
        req, addr, ready, done = self.names
        has, low, top = self._has, self.offset, self._address - 1
        lines = 2**self.index
        parts = f"Bits {top} to {low + self.index} of `{addr}` are the tag, "
        index = f"bits {low + self.index - 1} to {low} are" if self.index > 1 else f"bit {low} is"
        parts += f"{'and ' * (not low)}{index} the number of the line"
        if low:
            which = "bit 0 is" if low == 1 else f"bits {low - 1} to 0 are"
            parts += f", and {which} the place of the word in the line"
        words = "one word" if not low else f"{2**low} words"
        dirty = " a dirty bit," if has("back") else ""
        taken = [f"`{addr}`", *(["`we`", "`wdata`"] if has("write") else [])]
        also = " or flush" if has("flush") else ""
        unless = " and `flush` is 0" if has("flush") else ""
        are = "are" if len(taken) > 1 else "is"
        complete, edge, cycle = "", "such an edge", f"the cycle in which `{done}` is 1"
        if has("early"):
            complete = "At this edge it is also complete, unless the rules say otherwise. "
            edge, cycle = "an edge at which a request is complete", "the cycle after its end"
        edge += ", or after an edge at which a flush ends" if has("flush") else ""
        return [
            f"{parts}.",
            (
                f"The cache has {lines} lines. Each has a valid bit,{dirty} a tag and {words} of "
                f"{self.width} bits."
            ),
            (
                f"`{ready}` is 1 in each cycle in which no request{also} is in progress, and 0 in "
                f"all other cycles. At a rising clock edge where `{req}` and `{ready}` are 1"
                f"{unless}, {listed(taken)} {are} sampled, and a request is in progress from the "
                f"next cycle on, which is its lookup cycle. While `{ready}` is 0, `{req}` is "
                "ignored."
            ),
            (
                "A request ends at an edge that the rules below name: after this edge it is not in "
                f"progress any more. {complete}`{done}` is 1 in the cycle after {edge}, and 0 in "
                f"all other cycles. (The next request can be sampled at the end of {cycle}.)"
            ),
        ]

    def _memory_rules(self) -> list[str]:
        has = self._has
        write = ", `mem_we` is 1 for a write and 0 for a read," if has("write") else ""
        data = " In a write, `mem_wdata` is the word to write." if has("write") else ""
        idle = ["`mem_addr`", *(["`mem_we`"] if has("write") else [])]
        rest = " `mem_wdata` is 0 in all cycles in which `mem_we` is 0." if has("write") else ""
        rules = [
            (
                f"In each cycle of a memory access, `mem_req` is 1{write} and `mem_addr` is the "
                f"address of the word.{data} The access ends at the first rising clock edge where "
                "`mem_ack` is 1 (this may be the edge that ends its first cycle). A read takes "
                "the word from `mem_rdata` at that edge. The first access of a request begins in "
                "the cycle after the lookup cycle, and each further access in the cycle after the "
                "edge at which the one before it ended."
            ),
            (
                "In cycles without a memory access, `mem_req` is 0, `mem_ack` is ignored, and "
                f"{' and '.join(idle)} {'are' if len(idle) > 1 else 'is'} 0.{rest}"
            ),
        ]
        if self.offset:
            last = 2**self.offset - 1
            order = (
                f"in the order from place {last} to place 0"
                if self.downwards
                else (f"in the order from place 0 to place {last}")
            )
            if has("early"):
                turn, end = ("down", f"place 0 by place {last}")
                if not self.downwards:
                    turn, end = ("up", f"place {last} by place 0")
                order = (
                    f"beginning with the place of the word that was asked for and going {turn} by "
                    f"one place each time ({end} again), until all are read"
                )
            rules.append(
                "To fill a line means to read all words at the tag of the request and the number "
                f"of the line from memory, {order}, with an access for each. The line is then "
                "valid, has this tag and these words"
                + (", and is not dirty." if has("back") else ".")
            )
        else:
            rules.append(
                "To fill a line means to read the word at the address of the request from "
                "memory, with one access. The line is then valid, has the tag of the request and "
                "this word" + (", and is not dirty." if has("back") else ".")
            )
        if has("back"):
            last = 2**self.offset - 1
            order = (
                f"from place {last} to place 0"
                if self.downwards
                else (f"from place 0 to place {last}")
            )
            rules.append(
                "To write back a line means to write all its words to memory, in the order "
                f"{order}, with an access for each. The addresses have the tag and the number of "
                "that line."
            )
        return rules

    def _request_rules(self) -> list[str]:
        has = self._has
        read = "read" if has("write") else "request"
        cached = ""
        rules = []
        if has("uncached"):
            rules.append(
                f"Addresses whose highest bit is {self.region} are not cached: a request for such "
                "an address never hits or misses and changes no line. It takes one memory access, "
                "a read or a write of the word at its address, and ends where the access ends. A "
                "read takes its word from this access. All other addresses are cached."
            )
            cached = " (for a cached address)"
        rules.append(
            f"A request{cached} hits if in its lookup cycle the line with the number in its "
            "address is valid and has its tag. Otherwise it misses."
        )
        rules.append(
            f"A {read} that hits ends at the edge that ends its lookup cycle. Its word is the "
            "one at its place in the line."
            if self.offset
            else f"A {read} that hits ends at the edge that ends its lookup cycle. Its word is "
            "the word of the line."
        )
        fills = "the line is filled"
        if has("back"):
            fills = "the line is written back if it is valid and dirty, and then it is filled"
        early = ""
        if has("early"):
            early = (
                " The request is complete at the edge at which the first access of the fill ends, "
                f"so that `{self.names[3]}` is 1 in the next cycle, although the request ends "
                "later."
            )
        rules.append(
            f"If a {read} misses, {fills}. The request ends at the edge at which the last "
            f"access ends.{early}"
        )
        rules += self._write_rules(early)
        return rules

    def _write_rules(self, early: str) -> list[str]:
        has = self._has
        if not has("write"):
            return []
        if has("back"):
            return [
                (
                    "A write that hits replaces its word in the line, which becomes dirty, and "
                    "ends at the edge that ends its lookup cycle, without a memory access."
                ),
                (
                    "If a write misses, the same accesses take place as for a read that misses. "
                    "Afterwards its word is replaced in the line, which becomes dirty (no further "
                    "cycle is needed for that). The request ends at the edge at which the last "
                    f"access of the fill ends.{' It is complete as a read is.' if early else ''}"
                ),
            ]
        rules = [
            (
                "A write that hits replaces its word in the line, and writes it to memory as well, "
                "with one access. The request ends where the access ends."
            )
        ]
        if has("allocate"):
            rules.append(
                "If a write misses, the line is filled first, and then the same happens as for a "
                "write that hits, with the write access directly after the fill (there is no "
                "second lookup cycle)."
            )
        else:
            rules.append(
                "A write that misses writes its word to memory, with one access, and changes no "
                "line. The request ends where the access ends."
            )
        return rules

    def _last_rules(self) -> list[str]:
        has = self._has
        req, _, ready, done = self.names
        rules = []
        if has("flush"):
            lines = 2**self.index
            rules.append(
                f"At a rising clock edge where `flush` and `{ready}` are 1, a flush begins, and "
                f"`{req}` is ignored. It is in progress from the next cycle on and goes through "
                f"the lines from 0 to {lines - 1}. A line that is valid and dirty is written back, "
                "which begins in the first cycle of its turn. Any other line takes one cycle "
                "without a memory access. After its turn a line is not valid, and the turn of the "
                "next line begins in the next cycle. The flush ends at the edge that ends the "
                f"turn of the last line. While `{ready}` is 0, `flush` is ignored."
            )
        when = "ends"
        if has("early"):
            when = "is complete"
        of = "a read" if has("write") else "a request"
        rules.append(
            f"`rdata` takes the word of {of} at the edge at which it {when}, and keeps it until "
            "the next read. Reset sets it to "
            f"{hw.literal(self.width, self.start)}."
        )
        also = " and flushes" if has("flush") else ""
        rules.append(
            f"Reset ends requests{also} at once, makes all lines invalid, and sets `{done}` to 0. "
            "All outputs depend on the state only, not on the current inputs."
        )
        return rules

    def _address_of(self, tag: str, line: str, place: str) -> str:
        return f"{{{tag}, {line}, {place}}}" if self.offset else f"{{{tag}, {line}}}"

    def _golden(self) -> str:
        """Return a state machine and arrays of lines."""
        has, t, i, o, w = self._has, self.tag, self.index, self.offset, self.width
        ready = self.names[2]
        lines = [
            "localparam IDLE = 0, LOOK = 1, SPILL = 2, FILL = 3, PUT = 4, SWEEP = 5;",
            f"reg [2:0] state;\nreg [{self._address - 1}:0] want;",
            f"reg [{2**i - 1}:0] valid;\nreg [{t - 1}:0] tags [0:{2**i - 1}];",
            f"reg [{w - 1}:0] store [0:{2 ** (i + o) - 1}];",
            f"wire [{t - 1}:0] tag = want[{self._address - 1}:{i + o}];",
            f"wire [{i - 1}:0] line = want[{i + o - 1}:{o}];",
            "wire found = valid[line] && tags[line] == tag;",
            f"assign {ready} = state == IDLE;",
        ]
        lines += [f"reg we_kept;\nreg [{w - 1}:0] word;"] if has("write") else []
        lines += [f"reg [{2**i - 1}:0] dirty;"] if has("back") else []
        if o:
            lines.append(f"reg [{o - 1}:0] k;\nwire [{o - 1}:0] place = want[{o - 1}:0];")
            order = "~k" if self.downwards else "k"
            first = f"place {'-' if self.downwards else '+'} k" if has("early") else order
            lines.append(f"wire [{o - 1}:0] read_spot = {first};")
            lines += [f"wire [{o - 1}:0] write_spot = {order};"] if has("back") else []
        if has("flush"):
            lines.append(
                f"reg [{i - 1}:0] turn;\nwire [{i - 1}:0] old = state == SWEEP ? turn : line;\n"
                "wire stale = valid[turn] && dirty[turn];"
            )
        elif has("back"):
            lines.append(f"wire [{i - 1}:0] old = line;")
        sweeps = " || (state == SWEEP && stale)" if has("flush") else ""
        spills = f"state == SPILL{sweeps}"
        lines.append(
            "assign mem_req = state == FILL"
            + (" || state == PUT" if has("write") else "")
            + (f" || {spills};" if has("back") else ";")
        )
        kept = f" || {spills}" if has("back") else ""
        body = "mem_addr = 0;\n"
        body += "mem_wdata = 0;\n" if has("write") else ""
        body += f"if (state == FILL) mem_addr = {self._address_of('tag', 'line', 'read_spot')};\n"
        if has("write"):
            lines.append(f"assign mem_we = (state == PUT && we_kept){kept};")
            body += (
                "if (state == PUT) begin\n    mem_addr = want;\n"
                "    if (we_kept) mem_wdata = word;\nend\n"
            )
        if has("back"):
            spot = "{old, write_spot}" if o else "old"
            address = self._address_of("tags[old]", "old", "write_spot")
            body += (
                f"if ({spills}) begin\n    mem_addr = {address};\n"
                f"    mem_wdata = store[{spot}];\nend\n"
            )
        lines.append(f"always @(*) begin\n{hw.indented(body, 4)}\nend")
        lines.append(self._golden_moves())
        return "\n".join(lines)

    def _golden_moves(self) -> str:
        """Return the clocked block.

        Reset also sets what no output shows, so that proofs need not learn when it matters.
        """
        has, o, done = self._has, self.offset, self.names[3]
        req, addr = self.names[:2]
        finish = f"state <= IDLE;\n{done} <= 1;"
        ends = "mem_ack && &k" if o else "mem_ack"
        take, clear = f"want <= {addr};", "want <= 0;"
        if has("write"):
            take += "\nwe_kept <= we;\nword <= wdata;"
            clear += "\nwe_kept <= 0;\nword <= 0;"
        idle = f"if ({req}) begin\n    state <= LOOK;\n{hw.indented(take, 4)}\nend"
        if has("flush"):
            idle = f"if (flush) state <= SWEEP;\nelse {idle}"
        cases = [f"IDLE: begin\n{hw.indented(idle, 4)}\nend"]
        cases.append(f"LOOK: begin\n{hw.indented(self._golden_look(finish), 4)}\nend")
        cases += [f"SPILL: if ({ends}) state <= FILL;"] if has("back") else []
        cases.append(f"FILL: if (mem_ack) begin\n{hw.indented(self._golden_fill(finish), 4)}\nend")
        if has("write"):
            put = finish + ("\nif (!we_kept) rdata <= mem_rdata;" if has("uncached") else "")
            cases.append(f"PUT: if (mem_ack) begin\n{hw.indented(put, 4)}\nend")
        if has("flush"):
            last_one = f"if (&turn) begin\n{hw.indented(finish, 4)}\nend"
            on = f"valid[turn] <= 0;\nturn <= turn + 1;\n{last_one}"
            cases.append(f"SWEEP: if (!stale || ({ends})) begin\n{hw.indented(on, 4)}\nend")
            clear += "\nturn <= 0;"
        cases.append("default: state <= IDLE;")
        body = f"{done} <= 0;\n"
        if o:
            clear += "\nk <= 0;"
            put = " && state != PUT" if has("write") else ""
            body += f"if (mem_req && mem_ack{put}) k <= k + 1;\n"
        body += "case (state)\n" + hw.indented("\n".join(cases), 4) + "\nendcase"
        clear += "\ndirty <= 0;" if has("back") else ""
        lines, words = 2**self.index, 2 ** (self.index + o)
        reset = (
            f"state <= IDLE;\n{done} <= 0;\nvalid <= 0;\n"
            f"rdata <= {hw.literal(self.width, self.start)};\n{clear}\n"
            f"for (n = 0; n < {lines}; n = n + 1) tags[n] <= 0;\n"
            f"for (n = 0; n < {words}; n = n + 1) store[n] <= 0;"
        )
        return "integer n;\n" + hw.clocked(self.clocking, reset, body)

    def _golden_look(self, finish: str) -> str:
        """Return what happens at the end of a lookup cycle."""
        has, o = self._has, self.offset
        spot = "want[" + f"{self.index + o - 1}:0]" if o else "line"
        read = f"rdata <= store[{spot}];\n{finish}"
        miss = "state <= FILL;"
        if has("back"):
            miss = "state <= valid[line] && dirty[line] ? SPILL : FILL;"
        if not has("write"):
            return f"if (found) begin\n{hw.indented(read, 4)}\nend else {miss}"
        write = f"store[{spot}] <= word;\n"
        write += f"dirty[line] <= 1;\n{finish}" if has("back") else "state <= PUT;"
        hit = f"if (we_kept) begin\n{hw.indented(write, 4)}\nend else begin\n"
        hit += f"{hw.indented(read, 4)}\nend"
        if not has("allocate"):
            miss = "state <= we_kept ? PUT : FILL;"
        text = f"if (found) begin\n{hw.indented(hit, 4)}\nend else {miss}"
        if has("uncached"):
            text = f"if (want[{self._address - 1}] == {self.region}) state <= PUT;\nelse {text}"
        return text

    def _golden_fill(self, finish: str) -> str:
        """Return what happens at the end of a read of a fill."""
        has, o = self._has, self.offset
        spot = "{line, read_spot}" if o else "line"
        wanted = "k == 0" if has("early") else "read_spot == place"
        new = "mem_rdata"
        if has("allocate"):
            new = f"we_kept && {wanted} ? word : mem_rdata" if o else "we_kept ? word : mem_rdata"
        text = f"store[{spot}] <= {new};\n"
        ending = "valid[line] <= 1;\ntags[line] <= tag;\n"
        ending += "dirty[line] <= we_kept;\n" if has("back") else ""
        if has("early"):
            first = "rdata <= mem_rdata;"
            text += (
                f"if ({wanted}) begin\n    {self.names[3]} <= 1;\n    if (!we_kept) {first}\nend\n"
            )
            ending += "state <= IDLE;"
        else:
            word = f"{wanted} ? mem_rdata : store[{{line, place}}]" if o else "mem_rdata"
            read = f"rdata <= {word};"
            if has("back"):
                ending += f"if (!we_kept) {read}\n{finish}"
            elif has("allocate"):
                ending += (
                    f"if (we_kept) state <= PUT;\nelse begin\n    {read}\n"
                    f"{hw.indented(finish, 4)}\nend"
                )
            else:
                ending += f"{read}\n{finish}"
        if not o:
            return text + ending
        return f"{text}if (&k) begin\n{hw.indented(ending, 4)}\nend"

    def _alternative(self) -> str:
        """Return a bit for each stage, accesses that are counted down, and lines in vectors."""
        has, t, i, o, w = self._has, self.tag, self.index, self.offset, self.width
        ready = self.names[2]
        a, lines_, words = self._address, 2**i, 2**o
        lines = [
            f"logic looking, filling, putting, sweeping, spilling;\nlogic [{a - 1}:0] want;",
            f"logic [{lines_ - 1}:0] live, changed, at_line;",
            f"logic [{lines_ * t - 1}:0] names;\nlogic [{lines_ * words * w - 1}:0] cells;",
            f"logic [{i - 1}:0] line, number;\nlogic [{t - 1}:0] own, name;",
            f"logic [{max(1, o) - 1}:0] left, spot, place;",
            f"logic [{w - 1}:0] in_line, moved, word;",
            "logic same, writes, past, final_one, over, taken, stale;",
            f"assign own = want[{a - 1} -: {t}];\nassign line = want[{o} +: {i}];",
            f"assign place = {f'want[{o - 1}:0]' if o else chr(39) + '0'};",
            "assign number = sweeping ? turn : line;" if has("flush") else "assign number = line;",
            f"assign name = names[number * {t} +: {t}];",
            "assign at_line = 1'b1 << number;",
            "assign same = |(live & at_line) & ~|(name ^ own);",
            "assign stale = |(live & changed & at_line);",
            f"assign {ready} = ~(looking | filling | putting | sweeping | spilling);",
            "assign over = mem_req & mem_ack;\nassign final_one = over & ~|left;",
        ]
        lines += [f"logic [{i - 1}:0] turn;"] if has("flush") else []
        if not has("write"):
            lines.append("assign writes = 1'b0;\nassign word = '0;")
        lines += ["assign changed = '0;"] if not has("back") else []
        lines += ["assign left = '0;"] if not o else []
        past = f"want[{a - 1}] ~^ 1'b{self.region}" if has("uncached") else "1'b0"
        lines.append(f"assign past = {past};")
        # `left` counts down the accesses of a line that are still to come.
        done_ones = f"{o}'d{words - 1} - left" if o else "'0"
        back = f"{'left' if self.downwards else done_ones}" if o else "'0"
        fill = back
        if has("early"):
            fill = f"place {'-' if self.downwards else '+'} ({done_ones})"
        lines.append(f"assign spot = filling ? {fill} : {back};")
        lines.append(f"assign in_line = cells[(int'(line) * {words} + int'(place)) * {w} +: {w}];")
        lines.append(f"assign moved = cells[(int'(number) * {words} + int'(spot)) * {w} +: {w}];")
        lines.append(
            "assign mem_req = filling | putting | spilling | sweeping & stale;\n"
            "assign taken = spilling | sweeping & stale;"
        )
        tail = ", spot" if o else ""
        lines.append(
            f"assign mem_addr = ({{{a}{{filling}}}} & {{own, line{tail}}}) | "
            f"({{{a}{{putting}}}} & want) | ({{{a}{{taken}}}} & {{name, number{tail}}});"
        )
        if has("write"):
            lines.append("assign mem_we = putting & writes | taken;")
            lines.append(
                f"assign mem_wdata = ({{{w}{{putting & writes}}}} & word) | "
                f"({{{w}{{taken}}}} & moved);"
            )
        lines.append(self._alternative_moves())
        order = [text for text in lines if text.startswith("logic")]
        return "\n".join([*order, *(text for text in lines if not text.startswith("logic"))])

    def _alternative_moves(self) -> str:
        """Return the clocked block."""
        has, o = self._has, self.offset
        req, addr, ready, done = self.names
        full = f"{o}'d{2**o - 1}"
        go = f"{req} & {ready}" + (" & ~flush" if has("flush") else "")
        through = has("write") and not has("back")
        body = [f"looking <= {go};", f"if ({go}) want <= {addr};"]
        if has("write"):
            body.append(f"if ({go}) begin writes <= we; word <= wdata; end")
        to_fill, direct = "looking & ~same & ~past", "looking & past"
        if through:
            direct = "looking & writes & same"
            if not has("allocate"):
                direct, to_fill = "looking & writes", f"{to_fill} & ~writes"
        after_fill = "filling & final_one & writes" if through and has("allocate") else "1'b0"
        spills = f"{to_fill} & stale" if has("back") else "1'b0"
        body += [
            f"putting <= {direct} | {after_fill} | putting & ~over;",
            f"spilling <= {spills} | spilling & ~final_one;",
            f"filling <= {to_fill} & ~({spills}) | (spilling | filling) & (spilling ~^ final_one);",
        ]
        if o:
            body.append(f"if (over & (filling | taken)) left <= |left ? left - 1'b1 : {full};")
        hit_ends = "looking & same & ~past" + (" & ~writes" if through else "")
        first = f"filling & final_one & ~({after_fill})"
        if has("early"):
            first = f"filling & over & left == {full}"
        complete = f"{hit_ends} | putting & over | {first}"
        if has("flush"):
            step, last = "sweeping & (~stale | final_one)", f"turn == {2**self.index - 1}"
            complete += f" | {step} & {last}"
            body.append(f"sweeping <= flush & {ready} | sweeping & ~({step} & {last});")
            body.append(f"if ({step}) turn <= turn + 1'b1;")
        else:
            body.append("sweeping <= 1'b0;")
        shown = "mem_rdata"
        if o and not has("early"):
            shown = "(spot == place ? mem_rdata : in_line)"
        body += [
            f"{done} <= {complete};",
            f"if ({hit_ends} & ~writes) rdata <= in_line;",
            f"else if (({first}) & ~writes) rdata <= {shown};",
            "else if (putting & over & ~writes) rdata <= mem_rdata;",
            *self._alternative_lines(),
        ]
        return hw.clocked(
            self.clocking, self._alternative_reset(), "\n".join(body), keyword="always_ff"
        )

    def _alternative_reset(self) -> str:
        """Return what reset does, also to what no output shows."""
        has, o, done = self._has, self.offset, self.names[3]
        reset = f"{{looking, filling, putting, sweeping, spilling, {done}}} <= '0; live <= '0;\n"
        reset += "want <= '0; names <= '0; cells <= '0; "
        reset += "writes <= 1'b0; word <= '0; " if has("write") else ""
        reset += "changed <= '0; " if has("back") else ""
        reset += "turn <= '0; " if has("flush") else ""
        reset += f"left <= {o}'d{2**o - 1}; " if o else ""
        reset += f"rdata <= {hw.literal(self.width, self.start)};"
        return reset

    def _alternative_lines(self) -> list[str]:
        """Return what changes the lines."""
        has, t, w, words = self._has, self.tag, self.width, 2**self.offset
        at = f"cells[(int'(line) * {words} + int'({{}})) * {w} +: {w}]"
        new = "mem_rdata"
        if has("allocate"):
            new = "(writes & spot == place ? word : mem_rdata)"
        body = [f"if (filling & over) {at.format('spot')} <= {new};"]
        if has("write"):
            body.append(f"if (looking & same & ~past & writes) {at.format('place')} <= word;")
        body.append("if (filling & final_one) begin")
        body.append(f"    live <= live | at_line;\n    names[line * {t} +: {t}] <= own;")
        if has("back"):
            body.append("    changed <= writes ? changed | at_line : changed & ~at_line;")
        body.append("end")
        if has("back"):
            body.append("if (looking & same & ~past & writes) changed <= changed | at_line;")
        if has("flush"):
            body.append("if (sweeping & (~stale | final_one)) live <= live & ~at_line;")
        return body
