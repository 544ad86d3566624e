"""Decoder: select lines from an address."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware.design import Design, inputs, literal, module, outputs, sv_module
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, feature_knob

# In the order in which higher levels add them.
FEATURES = ("enable", "ranges", "miss", "offset", "access", "overlap")
_WIDEST, _MOST = 32, 16
_ACCESS = ("read", "write", "both")


@dataclass(frozen=True, slots=True, kw_only=True)
class DecoderConfig(DesignConfig):
    """How many addresses there are, and what is decoded from them."""

    width: int = knob(4, "address width in bits", low=2, high=_WIDEST)
    selects: int = knob(4, "number of select outputs, one for each region")
    features: int = feature_knob(2, FEATURES)

    def check(self) -> None:
        most = min(_MOST, 2**self.width // 2 + (self.features < 2))
        if not 2 <= self.selects <= most:
            raise ConfigError(
                f"selects is between 2 and {most} with width={self.width} and "
                f"features={self.features}, got {self.selects}; a larger width has room for more"
            )

    @classmethod
    def at(cls, difficulty: int) -> "DecoderConfig":
        """Two levels of three add a feature, up to 9; the third adds two regions, up to 16.

        Addresses have 6 bits, and a bit more a level, up to 32.
        """
        return cls(
            width=min(6 + difficulty, _WIDEST),
            selects=min(3 + 2 * ((difficulty + 2) // 3), _MOST),
            features=min((2 * difficulty) // 3, len(FEATURES)),
        )


@register("Decoder-v0", domain="verilog", answer_format=LANGUAGE)
class DecoderTask(DesignTask[DecoderConfig]):
    """Write an address decoder, from single addresses to overlapping regions with rights.

    Description:
        Each output bit stands for a region of addresses. Regions go from single addresses to
        ranges that may overlap. Later levels add an enable, a flag for addresses without a
        region, the offset in the region, and regions that refuse reads or writes.

    Observation:
        What the module does in numbered rules or prose, its ports, and a table of the regions.

    Difficulty:
        Addresses get wider and regions more, then overlaps, rights and outputs interact.

    References:
        Harris and Harris, Digital Design and Computer Architecture, 2.8, for decoders; Liu et al.
        2023, VerilogEval, arXiv:2309.07544, for the form of such problems.
    """

    def design(self, rng: Rng) -> Design:
        config = self.config
        features = FEATURES[: config.features]
        if "overlap" in features:
            bounds = [_range(rng, config.width) for _ in range(config.selects)]
        elif "ranges" in features:
            bounds = _apart(rng, config.width, config.selects)
        else:
            first = integer(rng, 0, 2**config.width - config.selects)
            bounds = [(first + i, first + i) for i in range(config.selects)]
            if integer(rng, 0, 1):
                bounds.reverse()
        return _Decoder(
            width=config.width,
            bounds=tuple(bounds),
            access=tuple(pick(rng, _ACCESS) for _ in bounds),
            level=integer(rng, 0, 1),
            enable_level=integer(rng, 0, 1),
            highest=bool(integer(rng, 0, 1)),
            features=features,
            address=pick(rng, ("addr", "a", "address")),
            select=pick(rng, ("y", "sel", "cs")),
        ).design()


def _range(rng: Rng, width: int) -> tuple[int, int]:
    """Return a range of at most half of all addresses."""
    first = integer(rng, 0, 2**width - 1)
    return first, min(first + integer(rng, 0, 2 ** (width - 1)), 2**width - 1)


def _apart(rng: Rng, width: int, count: int) -> list[tuple[int, int]]:
    """Return ranges that do not overlap, in any order."""
    cuts: set[int] = set()
    while len(cuts) < 2 * count:
        cuts.add(integer(rng, 0, 2**width))
    ordered = sorted(cuts)
    bounds = [(ordered[2 * i], ordered[2 * i + 1] - 1) for i in range(count)]
    return [bounds[i] for i in rng.permutation(count).tolist()]


@dataclass(frozen=True, slots=True)
class _Decoder:
    width: int
    bounds: tuple[tuple[int, int], ...]  # first and last address of each region
    access: tuple[str, ...]  # which each region allows
    level: int  # of a select that is active
    enable_level: int
    highest: bool  # whether the region with the largest number goes first where several overlap
    features: tuple[str, ...]
    address: str
    select: str

    def design(self) -> Design:
        count = len(self.bounds)
        signals = inputs((self.address, self.width, "address"))
        if "enable" in self.features:
            signals += inputs(
                ("enable", 1, f"active-{'high' if self.enable_level else 'low'} enable")
            )
        if "access" in self.features:
            signals += inputs(("write", 1, "1 for a write, 0 for a read"))
        signals += outputs(
            (self.select, count, f"select lines, active-{'high' if self.level else 'low'}")
        )
        if "miss" in self.features:
            signals += outputs(("miss", 1, "1 if the address is in no region"))
        if "offset" in self.features:
            signals += outputs(("offset", self.width, "offset of the address in its region"))
        if "access" in self.features:
            signals += outputs(("fault", 1, "1 if the access is refused"))
        return Design(
            title=f"a decoder for {self.width}-bit addresses with {count} select lines",
            signals=signals,
            rules=self._rules(),
            golden=module(signals, self._golden(), registers=("offset",)),
            alternative=sv_module(signals, self._alternative()),
            figure=self._figure(),
        )

    def _figure(self) -> str:
        if "ranges" not in self.features:
            return ""
        head = ["region", "first address", "last address"]
        rows = [
            [str(i), literal(self.width, first), literal(self.width, last)]
            for i, (first, last) in enumerate(self.bounds)
        ]
        if "access" in self.features:
            head.append("access")
            words = {"read": "read only", "write": "write only", "both": "read and write"}
            rows = [[*row, words[access]] for row, access in zip(rows, self.access, strict=True)]
        lines = [head, ["---"] * len(head), *rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def _rules(self) -> tuple[str, ...]:
        has = self.features.__contains__
        name = f"`{self.select}`"
        rules = [
            (
                f"The bits of {name} are active-{'high' if self.level else 'low'}: an active bit "
                f"is {self.level}, and an inactive bit is {1 - self.level}. At most one bit is "
                "active at a time."
            )
        ]
        if has("ranges"):
            rules.append(
                f"Bit i of {name} belongs to region i of the table; bit 0 is the least significant "
                "bit. A region includes its first and its last address."
            )
        else:
            first, second = self.bounds[0][0], self.bounds[1][0]
            way = f"{first} + i" if second > first else f"{first} - i"
            rules.append(
                f"Bit i of {name} is active if and only if `{self.address}`, as an unsigned "
                f"number, is {way}. Bit 0 is the least significant bit."
            )
        if has("overlap"):
            which = "largest" if self.highest else "smallest"
            rules.append(
                f"Regions may overlap. An address in several regions belongs to the one with the "
                f"{which} number i."
            )
        if has("access"):
            rules.append(
                "The access is a write if `write` is 1 and a read if it is 0. The access is "
                "refused if the region that the address belongs to does not allow it: a write to a "
                "read-only region, or a read of a write-only region"
                + (" (even if the address is also in other regions)" if has("overlap") else "")
                + ". `fault` is 1 if and only if the access is refused."
            )
        if has("ranges"):
            refused = " and the access is not refused" if has("access") else ""
            rules.append(
                f"A bit is active if and only if the address belongs to its region{refused}."
            )
        return (*rules, *self._more_rules())

    def _more_rules(self) -> tuple[str, ...]:
        has = self.features.__contains__
        rules = []
        if has("miss"):
            rules.append("`miss` is 1 if and only if the address is in no region.")
        if has("offset"):
            rules.append(
                "`offset` is the address minus the first address of the region whose bit is "
                "active, or 0 if no bit is active."
            )
        if has("enable"):
            rest = "".join(
                f" and `{flag}` is 0"
                for flag, feature in (("miss", "miss"), ("offset", "offset"), ("fault", "access"))
                if has(feature)
            )
            rules.append(
                f"`enable` is active-{'high' if self.enable_level else 'low'}: while it is "
                f"{1 - self.enable_level}, no bit of `{self.select}` is active{rest}, regardless "
                "of the other inputs."
            )
        return tuple(rules)

    def _golden(self) -> str:
        """Return the region's number found by a chain of comparisons, then what it selects."""
        count, has = len(self.bounds), self.features.__contains__
        wide = count.bit_length()
        none = literal(wide, count)
        order = range(count)[::-1] if self.highest else range(count)
        chain = [f"if ({self._inside(i)}) region = {literal(wide, i)};" for i in order]
        body = "\nelse ".join([*chain, f"region = {none};"])
        lines = [f"reg [{wide - 1}:0] region;\nalways @(*) begin\n{body}\nend"]
        on = "1'b1"
        if has("enable"):
            on = "enable" if self.enable_level else "!enable"
        allowed = "1'b1"
        if has("access"):
            rights = [f"{literal(wide, i)}: allowed = {self._right(i)};" for i in range(count)]
            cases = "\n".join([*rights, "default: allowed = 1'b1;"])
            lines.append(f"reg allowed;\nalways @(*)\ncase (region)\n{cases}\nendcase")
            lines.append(f"assign fault = {on} && !allowed;")
            allowed = "allowed"
        invert = "" if self.level else "~"
        lines.append(f"wire taken = {on} && {allowed} && region != {none};")
        shifted = f"(taken ? {literal(count, 1)} << region : {literal(count, 0)})"
        lines.append(f"assign {self.select} = {invert}{shifted};")
        if has("miss"):
            lines.append(f"assign miss = {on} && region == {none};")
        if has("offset"):
            firsts = [
                f"{literal(wide, i)}: offset = {self.address} - {literal(self.width, first)};"
                for i, (first, _) in enumerate(self.bounds)
            ]
            cases = "\n".join([*firsts, "default: offset = 0;"])
            lines.append("always @(*)\nif (!taken) offset = 0;")
            lines.append(f"else case (region)\n{cases}\nendcase")
        return "\n".join(lines)

    def _inside(self, i: int) -> str:
        first, last = (literal(self.width, bound) for bound in self.bounds[i])
        return f"{self.address} >= {first} && {self.address} <= {last}"

    def _right(self, i: int) -> str:
        return {"read": "!write", "write": "write", "both": "1'b1"}[self.access[i]]

    def _alternative(self) -> str:
        """Return a bit for each region, from the distance to its first address."""
        count, has = len(self.bounds), self.features.__contains__
        top, size = count - 1, self.width
        lines = [f"logic [{top}:0] in, first, may, hit;"]
        for i, (low, high) in enumerate(self.bounds):
            lines.append(f"logic [{size - 1}:0] far{i};")
            lines.append(f"assign far{i} = {self.address} - {literal(size, low)};")
            lines.append(f"assign in[{i}] = !(far{i} > {literal(size, high - low)});")
            lines.append(f"assign may[{i}] = {self._right(i) if has('access') else chr(49)};")
            before = f"in >> {i + 1}" if self.highest else f"in << {count - i}"
            lines.append(f"assign first[{i}] = in[{i}] & ~|({before});")
        on = ""
        if has("enable"):
            on = f" & {{{count}{{{'enable' if self.enable_level else '~enable'}}}}}"
        lines.append(f"assign hit = first & may{on};")
        lines.append(f"assign {self.select} = {'hit' if self.level else '~hit'};")
        if has("miss"):
            lines.append(f"assign miss = ~|in{on and ' & ' + on[on.rindex('{') + 1 : -2]};")
        if has("access"):
            lines.append(f"assign fault = |(first & ~may{on});")
        if has("offset"):
            terms = " | ".join(f"({{{size}{{hit[{i}]}}}} & far{i})" for i in range(count))
            lines.append(f"assign offset = {terms};")
        return "\n".join(lines)
