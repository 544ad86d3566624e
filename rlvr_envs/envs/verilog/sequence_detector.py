"""SequenceDetector: find patterns in a stream of bits."""

from dataclasses import dataclass
from functools import partial

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask

_LONGEST, _MOST = 12, 4
_MOST_STATES = 120  # of the automaton; patterns with too many wildcards lose some


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceDetectorConfig(DesignConfig):
    """What to look for, and what controls the search."""

    length: int = knob(4, "length of the longest pattern, in bits", low=2, high=_LONGEST)
    patterns: int = knob(1, "number of patterns")
    wildcards: int = knob(0, "largest number of wildcard bits in each pattern")
    features: int = knob(1, "number of features, added in the order valid, count, restart, last")

    def check(self) -> None:
        if not 1 <= self.patterns <= min(_MOST, self.length - 1):
            most = min(_MOST, self.length - 1)
            raise ConfigError(
                f"patterns is between 1 and {most} with length={self.length}, got {self.patterns}"
            )
        if not 0 <= self.wildcards <= self.length - 2:
            raise ConfigError(
                f"wildcards is between 0 and {self.length - 2} with length={self.length}, "
                f"got {self.wildcards}"
            )
        most = len(FEATURES) - (self.patterns == 1)  # one pattern is always the last
        if not 0 <= self.features <= most:
            raise ConfigError(
                f"features is between 0 and {most} with patterns={self.patterns}, "
                f"got {self.features}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "SequenceDetectorConfig":
        """Even levels add a control, up to 8; odd ones a pattern or a wildcard, up to 4 and 3.

        Patterns get 4 bits every 5 levels, up to 12.
        """
        return cls(
            length=min(4 + (4 * difficulty) // 5, _LONGEST),
            patterns=min(1 + (difficulty + 3) // 4, _MOST),
            wildcards=min((difficulty + 1) // 4, 3),
            features=min(difficulty // 2, len(FEATURES)),
        )


@register("SequenceDetector-v0", domain="verilog", answer_format=LANGUAGE)
class SequenceDetectorTask(DesignTask[SequenceDetectorConfig]):
    """Write a detector of patterns in a stream of bits.

    Description:
        One to four patterns, overlapping or not, with wildcard bits. The output reports a match at
        once (Mealy) or a cycle later (Moore). Bits may be invalid, matches are counted, the
        search can be restarted, and the last match is stored.

    Observation:
        What the module does in numbered rules or prose, its ports, and the kind of its reset; in
        one problem of three also an example run, as a table or a waveform.

    Difficulty:
        Patterns get longer and more, and the controls and their interactions too.

    References:
        Knuth, Morris and Pratt 1977, Fast pattern matching in strings; Aho and Corasick 1975,
        Efficient string matching; Mealy 1955 and Moore 1956 for the two kinds of machines.
    """

    def design(self, rng: Rng) -> hw.Design:
        config = self.config
        patterns = _patterns(rng, config)
        while len(automaton(patterns, overlap=True)) > _MOST_STATES:
            patterns = tuple(p.replace("-", pick(rng, "01"), 1) for p in patterns)
        return Detector(
            patterns=patterns,
            mealy=integer(rng, 0, 1) == 1,
            overlap=integer(rng, 0, 1) == 1,
            reverse=integer(rng, 0, 1) == 1,
            wraps=integer(rng, 0, 1) == 1,
            stream=pick(rng, ("x", "d", "serial", "rx")),
            found=pick(rng, ("found", "y", "hit", "detected")),
            features=FEATURES[: config.features],
        ).design(rng)


def _patterns(rng: Rng, config: SequenceDetectorConfig) -> tuple[str, ...]:
    """Return different patterns; the first bit and the last are never wildcards."""
    found: list[str] = []
    while len(found) < config.patterns:
        size = config.length if not found else integer(rng, 2, config.length)
        bits = [str(integer(rng, 0, 1)) for _ in range(size)]
        for _ in range(min(config.wildcards, size - 2)):
            bits[integer(rng, 1, size - 2)] = "-"
        if "".join(bits) not in found:
            found.append("".join(bits))
    return tuple(found)


# The machines of SequenceDetector: an automaton, and a window of the last bits.


# In the order in which higher levels add them.
FEATURES = ("valid", "count", "restart", "last")
_COUNT_BITS = 4
# What a bit does to an automaton: the set of patterns that it completes, and the next state.
_Move = tuple[int, int]


def automaton(patterns: tuple[str, ...], *, overlap: bool) -> list[tuple[_Move, _Move]]:
    """Return what 0 and 1 do in each state; a state is how far every pattern may have come."""
    numbers: dict[frozenset[tuple[int, int]], int] = {frozenset(): 0}
    order = [next(iter(numbers))]
    moves = []
    for state in order:
        row = []
        for bit in "01":
            begun = {*state, *((i, 0) for i in range(len(patterns)))}
            ahead = {(i, at + 1) for i, at in begun if patterns[i][at] in (bit, "-")}
            done = {(i, at) for i, at in ahead if at == len(patterns[i])}
            after = frozenset(ahead - done) if overlap or not done else frozenset()
            if after not in numbers:
                numbers[after] = len(numbers)
                order.append(after)
            row.append((sum(1 << i for i, _ in done), numbers[after]))
        moves.append((row[0], row[1]))
    return moves


@dataclass(frozen=True, slots=True)
class Detector:
    """Patterns, what controls the search, and the two ways to write it."""

    patterns: tuple[str, ...]  # of 0, 1 and -, the bit that comes first at the left
    mealy: bool
    overlap: bool
    reverse: bool  # whether patterns are written with the first bit at the right
    wraps: bool  # whether the count wraps around instead of staying at its largest value
    stream: str
    found: str
    features: tuple[str, ...]

    def design(self, rng: Rng) -> hw.Design:
        """Return the design; ``rng`` draws the clock and the reset."""
        clocking = hw.draw_clocking(rng)
        many, bits = len(self.patterns), (len(self.patterns) - 1).bit_length() or 1
        controls = hw.inputs(("valid", 1, f"1 if `{self.stream}` is valid in this cycle"))
        controls += hw.inputs(("restart", 1, "1 restarts the search"))
        meaning = "1 for a match" if many == 1 else "bit i is 1 for a match of pattern i"
        results = hw.outputs(("count", _COUNT_BITS, "number of bits that completed a match"))
        results += hw.outputs(("last", bits, "number of the most recent pattern found"))
        signals = (
            *hw.clock_signals(clocking),
            *hw.inputs((self.stream, 1, "serial input, one bit per cycle")),
            *(signal for signal in controls if signal.name in self.features),
            *hw.outputs((self.found, many, meaning)),
            *(signal for signal in results if signal.name in self.features),
        )
        machine, history = self._machine(), self._history()
        reset, body = self._registers(bits)
        registers = [self.found, *(r.name for r in results if r.name in self.features)]
        golden = machine + hw.clocked(clocking, f"state <= 0;\n{reset}", f"state <= next;\n{body}")
        other = history + hw.clocked(
            clocking,
            f"seen <= 1;\n{reset}",
            f"seen <= seen_next;\n{body}",
            keyword="always_ff",
        )
        if self.mealy:
            registers.remove(self.found)
            golden, other = (f"{text}\nassign {self.found} = now;" for text in (golden, other))
        kind = "Mealy" if self.mealy else "Moore"
        what = f"the pattern {self._told(0)}" if many == 1 else f"{many} patterns"
        return hw.Design(
            title=f"a {kind} machine that detects {what} in a bit stream",
            signals=signals,
            rules=self._rules(),
            golden=hw.module(signals, golden, registers=registers),
            alternative=hw.sv_module(signals, other),
            clocking=clocking,
            figure=self._figure(),
            behaviour=partial(sequence, self),
        )

    def _told(self, index: int) -> str:
        text = self.patterns[index]
        return f"`{text[::-1] if self.reverse else text}`"

    def _figure(self) -> str:
        if len(self.patterns) == 1:
            return ""
        rows = [f"| {i} | {self._told(i)} |" for i in range(len(self.patterns))]
        return "\n".join(["| i | pattern |", "| --- | --- |", *rows])

    def _rules(self) -> tuple[str, ...]:
        has, many = self.features.__contains__, len(self.patterns) > 1
        takes = [f"`{name}` is {level}" for name, level in (("valid", 1), ("restart", 0))]
        needed = " and ".join(t for t in takes if t[1:].split("`")[0] in self.features)
        only = f" where {needed} and reset is inactive" if needed else " where reset is inactive"
        where = "right" if self.reverse else "left"
        any_bit = ", and `-` matches any bit" if "-" in "".join(self.patterns) else ""
        rules = [
            f"At every rising clock edge{only}, the module takes the bit `{self.stream}`.",
            f"In a pattern, the {where}most bit is the one taken first{any_bit}. A pattern is "
            "found when the most recently taken bits match it. Only bits taken after the last reset"
            + (" or restart" if has("restart") else "")
            + " can be part of a match.",
        ]
        if self.overlap:
            rules.append("Matches may overlap: a bit can be part of several matches.")
        else:
            whose = " of any pattern" if many else ""
            rules.append(
                f"Matches do not overlap: once a match{whose} is complete, none of the bits taken "
                "so far can be part of a later match."
                + (" But several patterns may be found with the same last bit." * many)
            )
        each = f"bit i of `{self.found}` (for pattern i of the table) is 1" if many else ""
        each = each or f"`{self.found}` is 1"
        if self.mealy:
            rules.append(
                f"`{self.found}` is combinational (Mealy output): {each} in the cycle that ends "
                "with the rising clock edge that takes the last bit of a match, and 0 otherwise. "
                "It depends on the bits taken before and on the current inputs other than reset: "
                "while reset is active, it has the value that it would have with reset inactive."
            )
        else:
            rules.append(
                f"`{self.found}` is registered (Moore output): {each} in the cycle that begins "
                "with the rising clock edge that takes the last bit of a match, and 0 otherwise. "
                "Reset sets it to 0."
            )
        return (*rules, *self._more_rules())

    def _more_rules(self) -> tuple[str, ...]:
        has, many = self.features.__contains__, len(self.patterns) > 1
        rules = []
        if has("restart"):
            rules.append(
                "At a rising clock edge where `restart` is 1, the search restarts: all bits taken "
                "before are forgotten."
            )
        if has("count"):
            once = " (only by 1 if several patterns are found with that bit)" if many else ""
            largest = 2**_COUNT_BITS - 1
            rules.append(
                "`count` is registered: it increases by 1 at each rising clock edge that takes a "
                f"bit that completes a match{once}, "
                + (f"and wraps from {largest} to 0." if self.wraps else f"saturating at {largest}.")
            )
        if has("last"):
            rules.append(
                "`last` is registered: it is the number i of the pattern found most recently (the "
                "lowest i if several were found with the same bit). It changes at the same edges "
                "as a match is counted."
            )
        kept = " and ".join(f"`{name}`" for name in ("count", "last") if has(name))
        if kept:
            left = "them" if has("last") else "it"
            stays = f". A restart does not change {left}" if has("restart") else ""
            rules.append(f"Reset sets {kept} to 0{stays}.")
        return tuple(rules)

    def _registers(self, bits: int) -> tuple[str, str]:
        """Return the reset and the moves of the outputs that are registers."""
        reset, body = [], []
        if not self.mealy:
            reset.append(f"{self.found} <= 0;")
            body.append(f"{self.found} <= now;")
        if "count" in self.features:
            full = hw.literal(_COUNT_BITS, 2**_COUNT_BITS - 1)
            more = "" if self.wraps else f" && count != {full}"
            reset.append("count <= 0;")
            body.append(f"if (now != 0{more}) count <= count + 1'b1;")
        if "last" in self.features:
            reset.append("last <= 0;")
            order = range(len(self.patterns))
            body.append(
                "else ".join(f"if (now[{i}]) last <= {hw.literal(bits, i)};\n" for i in order)
            )
        return "\n".join(reset), "\n".join(body)

    def _machine(self) -> str:
        """Return the automaton of Knuth, Morris and Pratt, as a table of states."""
        moves, many = automaton(self.patterns, overlap=self.overlap), len(self.patterns)
        wide = max(1, (len(moves) - 1).bit_length())
        lines = []
        for state, row in enumerate(moves):
            zero, one = (f"{{{hw.literal(many, d)}, {hw.literal(wide, n)}}}" for d, n in row)
            lines.append(
                f"{hw.literal(wide, state)}: {{now, next}} = {self.stream} ? {one} : {zero};"
            )
        cases = "\n".join(f"    {line}" for line in lines)
        guard = "if (!valid) next = state;\n    else " if "valid" in self.features else ""
        if "restart" in self.features:
            guard = f"if (restart) next = 0;\n    else {guard}"
        return (
            f"reg [{wide - 1}:0] state, next;\nreg [{many - 1}:0] now;\n"
            f"always @(*) begin\n    now = 0;\n    next = 0;\n    {guard}case (state)\n{cases}\n"
            "    default: next = 0;\n    endcase\nend\n"
        )

    def _history(self) -> str:
        """Return the comparison of the last bits; the highest 1 of ``seen`` marks their end."""
        has, many = self.features.__contains__, len(self.patterns)
        room = max(map(len, self.patterns)) - 1
        lines = [
            f"logic [{room}:0] seen, seen_next;\nlogic [{room + 1}:0] window;",
            f"logic [{many - 1}:0] now;\nlogic taken;",
        ]
        taken = [name for name, on in (("valid", has("valid")), ("!restart", has("restart"))) if on]
        lines.append(f"assign taken = {' & '.join(taken) or 1};")
        lines.append(f"assign window = {{seen, {self.stream}}};")
        for i, pattern in enumerate(self.patterns):
            value = pattern.replace("-", "?")
            size = len(pattern)
            lines.append(
                f"assign now[{i}] = taken & (|seen[{room}:{size - 1}]) & "
                f"(window[{size - 1}:0] ==? {size}'b{value});"
            )
        forget = " || ".join(
            name for name, on in (("restart", has("restart")), ("now != 0", not self.overlap)) if on
        )
        kept = f"{{seen[{room}] | window[{room}], window[{room - 1}:0]}}"
        lines.append(
            f"assign seen_next = {f'({forget}) ? 1 : ' if forget else ''}taken ? {kept} : seen;\n"
        )
        return "\n".join(lines)


def sequence(made: Detector, rows: hw.Inputs) -> hw.Shown:
    """Return what a detector of patterns shows."""
    bits, count, last, before, shown = "", 0, 0, 0, []
    for row in rows:
        now = 0
        if row.get("valid", 1) and not row.get("restart", 0):
            bits += str(row[made.stream])
            now = sum(1 << i for i, told in enumerate(made.patterns) if _ends(bits, told))
        shown.append({made.found: now if made.mealy else before})
        shown[-1] |= {"count": count} if "count" in made.features else {}
        shown[-1] |= {"last": last} if "last" in made.features else {}
        before = now
        if now:
            count = (count + 1) % 16 if made.wraps else min(count + 1, 15)
            last = (now & -now).bit_length() - 1
        if row.get("restart", 0) or (now and not made.overlap):
            bits = ""
    return shown


def _ends(bits: str, pattern: str) -> bool:
    if len(bits) < len(pattern):
        return False
    pairs = zip(bits[-len(pattern) :], pattern, strict=True)
    return all(told in ("-", bit) for bit, told in pairs)
