"""PriorityEncoder: the numbers of the requests with the highest priority."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware.design import Design, inputs, literal, module, outputs, sv_module
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, feature_knob

# In the order in which higher levels add them.
FEATURES = ("valid", "mask", "direction", "start", "urgent", "count")
_WIDEST, _MOST_GRANTS = 16, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorityEncoderConfig(DesignConfig):
    """How many requests there are, and their priority order."""

    width: int = knob(6, "number of request lines", low=3, high=_WIDEST)
    grants: int = knob(1, "number of requests to encode at a time")
    features: int = feature_knob(2, FEATURES)

    def check(self) -> None:
        most = min(self.width, _MOST_GRANTS)
        if not 1 <= self.grants <= most:
            raise ConfigError(f"grants is between 1 and {most}, got {self.grants}")

    @classmethod
    def at(cls, difficulty: int) -> "PriorityEncoderConfig":
        """Two levels of three add a feature, up to 9; the third adds a request.

        A grant comes every 4 levels.

        The numbers stop at 16 requests and 4 grants.
        """
        return cls(
            width=min(5 + (difficulty + 2) // 3, _WIDEST),
            grants=min(1 + difficulty // 4, _MOST_GRANTS),
            features=min((2 * difficulty) // 3, len(FEATURES)),
        )


@register("PriorityEncoder-v0", domain="verilog", answer_format=LANGUAGE)
class PriorityEncoderTask(DesignTask[PriorityEncoderConfig]):
    """Write a priority encoder with a movable order and several grants.

    Description:
        The module encodes its first request, or the first few. The order goes up or down, fixed
        or selected by an input, may start anywhere and wrap around, and may put urgent requests
        first. Later levels add a valid flag, a mask and a count.

    Observation:
        What the module does in numbered rules or prose, and its ports.

    Difficulty:
        Requests and grants become more, and so do the rules for their order.

    References:
        Harris and Harris, Digital Design and Computer Architecture, 2.4, for priority circuits;
        Liu et al. 2023, VerilogEval, arXiv:2309.07544, for the form of such problems.
    """

    def design(self, rng: Rng) -> Design:
        config = self.config
        bits = (config.width - 1).bit_length()
        return _Encoder(
            width=config.width,
            grants=config.grants,
            bits=bits,
            idle=integer(rng, 0, 2**bits - 1),
            downwards=bool(integer(rng, 0, 1)),
            mask_level=integer(rng, 0, 1),
            beyond=pick(rng, (0, config.width - 1)),
            features=FEATURES[: config.features],
            request=pick(rng, ("req", "request", "x", "irq", "want", "ask")),
            index=pick(rng, ("index", "pos", "y", "first", "code")),
        ).design()


@dataclass(frozen=True, slots=True)
class _Encoder:
    width: int
    grants: int
    bits: int  # of an index
    idle: int  # the index without a request
    downwards: bool  # the order where no input selects it
    mask_level: int  # of requests that count
    beyond: int  # where the search starts where the input says too large a number
    features: tuple[str, ...]
    request: str
    index: str

    def design(self) -> Design:
        has = self.features.__contains__
        signals = inputs((self.request, self.width, "request lines"))
        if has("mask"):
            signals += inputs(("mask", self.width, "masks requests"))
        if has("direction"):
            signals += inputs(("down", 1, "search direction (0 = upwards, 1 = downwards)"))
        if has("start"):
            signals += inputs(("start", self.bits, "number at which the search starts"))
        if has("urgent"):
            signals += inputs(("urgent", self.width, "urgent flags of the requests"))
        signals += outputs(*((name, self.bits, "number of a request") for name in self._indices()))
        if has("valid"):
            meaning = (
                f"bit 0 is 1 if `{self._indices()[0]}` is valid, bit 1 for the next, and so on"
            )
            if self.grants == 1:
                meaning = "1 if there is a request"
            signals += outputs(("valid", self.grants, meaning))
        if has("count"):
            size = self.width.bit_length()
            signals += outputs(("count", size, "number of requests"))
        how = f" that encodes the first {self.grants} of them" if self.grants > 1 else ""
        return Design(
            title=f"a priority encoder for {self.width} requests{how}",
            signals=signals,
            rules=self._rules(),
            golden=module(signals, self._golden(), registers=(*self._indices(), "valid", "count")),
            alternative=sv_module(signals, self._alternative()),
        )

    def _indices(self) -> list[str]:
        if self.grants == 1:
            return [self.index]
        return [f"{self.index}{k}" for k in range(self.grants)]

    def _rules(self) -> tuple[str, ...]:
        has, top = self.features.__contains__, self.width - 1
        rules = [f"Request i is asserted if `{self.request}[i]` is 1, for i from 0 to {top}."]
        if has("mask"):
            rules.append(
                f"If `mask[i]` is {1 - self.mask_level}, request i is masked: every rule treats it "
                "as not asserted."
            )
        ways = [
            "upwards (from lower to higher numbers)",
            "downwards (from higher to lower numbers)",
        ]
        way = ways[self.downwards]
        if has("direction"):
            way = f"{ways[0]} if `down` is 0, and {ways[1]} if `down` is 1"
        up, down = f"from {top} to 0", f"from 0 to {top}"
        wrap = down if self.downwards else up
        if has("direction"):
            wrap = f"{up} going upwards, {down} going downwards"
        if has("start"):
            rules.append(
                f"The search for requests goes {way}. It starts with number `start` and wraps "
                f"around ({wrap}), until it has visited each number once."
            )
            if self.width < 2**self.bits:
                rules.append(f"A value of `start` above {top} is treated as {self.beyond}.")
        else:
            rules.append(f"The search for requests goes {way}.")
        if has("urgent"):
            rules.append(
                "Request i is urgent if `urgent[i]` is 1. All urgent requests come before all "
                "others. Within each of these two groups, the order of the search decides."
            )
        return (*rules, *self._output_rules())

    def _output_rules(self) -> tuple[str, ...]:
        has, idle = self.features.__contains__, f"{self.idle}"
        if self.grants == 1:
            rules = [
                f"`{self.index}` is the number of the first request, or {idle} if there is none."
            ]
            if has("valid"):
                rules.append("`valid` is 1 if and only if there is a request.")
        else:
            more = f", and so on to `{self._indices()[-1]}`" * (self.grants > 2)
            order = (
                f"`{self.index}0` is the number of the first request, `{self.index}1` of the second"
            )
            rules = [f"{order}{more}. An output for which no request is left is {idle}."]
            if has("valid"):
                rules.append("`valid[k]` is 1 if and only if there are more than k requests.")
        if has("count"):
            rules.append(f"`count` is the total number of requests (0 to {self.width}).")
        return tuple(rules)

    def _live(self) -> str:
        if "mask" not in self.features:
            return self.request
        return f"{self.request} & {'' if self.mask_level else '~'}mask"

    def _start(self) -> str:
        """Return an expression for where the search begins."""
        has, top = self.features.__contains__, literal(self.bits, self.width - 1)
        if has("start"):
            return f"(start > {top} ? {literal(self.bits, self.beyond)} : start)"
        first = literal(self.bits, 0)
        if has("direction"):
            return f"(down ? {top} : {first})"
        return top if self.downwards else first

    def _down(self) -> str:
        return "down" if "direction" in self.features else f"1'b{int(self.downwards)}"

    def _golden(self) -> str:
        """Return a walk over the requests, step by step."""
        has, n, top = self.features.__contains__, self.width, literal(self.bits, self.width - 1)
        rounds = 2 * n if has("urgent") else n
        serves = f" && urgent[at] == (k < {n})" if has("urgent") else ""
        resets = "".join(
            f"    {name} = {literal(self.bits, self.idle)};\n" for name in self._indices()
        )
        takes = "".join(
            f"            if (found == {k}) {name} = at;\n"
            for k, name in enumerate(self._indices())
        )
        lines = [
            f"wire [{n - 1}:0] live = {self._live()};",
            f"reg [{self.bits - 1}:0] at;\nreg [{n.bit_length() - 1}:0] found;\ninteger k;",
            f"always @(*) begin\n{resets}    found = 0;\n    at = {self._start()};",
            f"    for (k = 0; k < {rounds}; k = k + 1) begin",
            f"        if (live[at]{serves}) begin\n{takes}",
            "            found = found + 1;\n        end",
            f"        if ({self._down()}) at = at == 0 ? {top} : at - 1;",
            f"        else at = at == {top} ? 0 : at + 1;\n    end",
        ]
        if has("valid"):
            lines += [f"    valid[{k}] = found > {k};" for k in range(self.grants)]
        if has("count"):
            lines.append("    count = found;")
        text = "\n".join([*lines, "end"])
        return text if self.grants > 1 else text.replace("valid[0]", "valid")

    def _alternative(self) -> str:
        """Return requests in the order of the search, of which the lowest bits are isolated."""
        has, n = self.features.__contains__, self.width
        total = 2 * n if has("urgent") else n
        mirrored = ", ".join(f"live[{i}]" for i in range(n))
        mirrored_urgent = mirrored.replace("live", "urgent")
        lines = [
            f"logic [{n - 1}:0] live, line, turned;\nlogic [{self.bits - 1}:0] start_at, from;",
            f"assign live = {self._live()};\nassign start_at = {self._start()};",
            f"assign from = {self._down()} ? {literal(self.bits, n - 1)} - start_at : start_at;",
            f"assign line = {self._down()} ? {{{mirrored}}} : live;",
            f"assign turned = {n}'({{line, line}} >> from);",
            f"logic [{total - 1}:0] rest0;",
        ]
        if has("urgent"):
            lines += [
                f"logic [{n - 1}:0] pressing, first;",
                f"assign pressing = {self._down()} ? {{{mirrored_urgent}}} : urgent;",
                f"assign first = {n}'({{pressing, pressing}} >> from);",
                "assign rest0 = {turned & ~first, turned & first};",
            ]
        else:
            lines.append("assign rest0 = turned;")
        lines += [self._place(step) for step in range(n)]
        for k, name in enumerate(self._indices()):
            lines.append(f"logic [{total - 1}:0] one{k}, rest{k + 1};")
            lines.append(f"assign one{k} = rest{k} & (~rest{k} + 1'b1);")
            lines.append(f"assign rest{k + 1} = rest{k} ^ one{k};")
            terms = [
                f"({{{self.bits}{{one{k}[{place}]}}}} & place{place % n})" for place in range(total)
            ]
            terms.append(f"({{{self.bits}{{~|one{k}}}}} & {literal(self.bits, self.idle)})")
            lines.append(f"assign {name} = {' | '.join(terms)};")
            if has("valid"):
                lines.append(f"assign valid{f'[{k}]' if self.grants > 1 else ''} = |rest{k};")
        if has("count"):
            bits = " + ".join(f"{n.bit_length()}'(live[{i}])" for i in range(n))
            lines.append(f"assign count = {bits};")
        return "\n".join(lines)

    def _place(self, step: int) -> str:
        """Return which request the search sees after a number of steps."""
        last, wide, size = self.width - 1, self.bits + 1, self.bits
        return (
            f"logic [{wide - 1}:0] sum{step};\nlogic [{size - 1}:0] ring{step}, place{step};\n"
            f"assign sum{step} = {wide}'(from) + {wide}'d{step};\n"
            f"assign ring{step} = {size}'(sum{step} > {wide}'d{last} "
            f"? sum{step} - {wide}'d{last + 1} : sum{step});\n"
            f"assign place{step} = {self._down()} ? {size}'d{last} - ring{step} : ring{step};"
        )
