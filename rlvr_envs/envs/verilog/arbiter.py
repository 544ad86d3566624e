"""Arbiter: grant one of several requesters at a time."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, feature_knob
from rlvr_envs.verifiers.hdl.interface import Clocking

# In the order in which higher levels add them.
FEATURES = ("rotate", "index", "lock", "weights", "urgent", "limit")
_MOST_REQUESTS, _HEAVIEST = 12, 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ArbiterConfig(DesignConfig):
    """How many requesters there are, and the rules that choose one."""

    requests: int = knob(4, "number of requesters", low=2, high=_MOST_REQUESTS)
    weight: int = knob(
        2,
        "largest weight: cycles in a row for which a requester may keep its grant",
        low=2,
        high=_HEAVIEST,
    )
    features: int = feature_knob(1, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "ArbiterConfig":
        """Two levels of three add a feature, up to 9; the third adds a requester and a weight.

        The numbers stop at 12 requesters with weights up to 8.
        """
        more = (difficulty + 2) // 3
        return cls(
            requests=min(3 + more, _MOST_REQUESTS),
            weight=min(2 + more, _HEAVIEST),
            features=min((2 * difficulty) // 3, len(FEATURES)),
        )


@register("Arbiter-v0", domain="verilog", answer_format=LANGUAGE)
class ArbiterTask(DesignTask[ArbiterConfig]):
    """Write an arbiter with round robin, weights, a lock and urgent requests.

    Description:
        At every clock edge at most one requester is granted, by fixed priority or round robin. A
        requester may keep its grant for some cycles, or lock it, and urgent requests take
        priority over others.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md). A reset that
        is not written and a value that is not determined count as wrong.

    Difficulty:
        Requesters become more, and so do the rules for who goes first and who may stay.

    References:
        Dally and Towles, Principles and Practices of Interconnection Networks, chapter 18, for
        arbiters; Liu et al. 2023, VerilogEval, arXiv:2309.07544, for the form of such problems.
    """

    def design(self, rng: Rng) -> hw.Design:
        count, features = self.config.requests, FEATURES[: self.config.features]
        bits = (count - 1).bit_length()
        weights = integers(rng, 1, self.config.weight, count)
        return ArbiterSources(
            clocking=hw.draw_clocking(rng),
            line=tuple(int(i) for i in rng.permutation(count)),
            weights=weights if "weights" in features else (1,) * count,
            limit=integer(rng, max(2, *weights), self.config.weight + 2),
            idle=integer(rng, 0, 2**bits - 1),
            features=features,
            request=pick(rng, ("req", "request", "want")),
            grant=pick(rng, ("grant", "gnt", "ack")),
        ).design()


# Arbiters in words and in two kinds of Verilog; what is drawn comes from the task.


@dataclass(frozen=True, slots=True)
class ArbiterSources:
    """What was drawn for one arbiter, its rules and its sources."""

    clocking: Clocking
    line: tuple[int, ...]  # the requesters in the order of the search
    weights: tuple[int, ...]  # of the requesters by number
    limit: int  # cycles after which a lock is ignored
    idle: int  # what the index shows without a grant
    features: tuple[str, ...]
    request: str
    grant: str

    def design(self) -> hw.Design:
        has, ports = self.features.__contains__, self._signals()
        how = "round-robin" if has("rotate") else "fixed-priority"
        return hw.Design(
            title=f"a {how} arbiter for {self._count} requesters",
            signals=ports,
            rules=(*self._choice_rules(), *self._stay_rules()),
            golden=hw.module(ports, self._golden()),
            alternative=hw.sv_module(ports, self._alternative()),
            clocking=self.clocking,
        )

    @property
    def _count(self) -> int:
        return len(self.line)

    @property
    def _bits(self) -> int:
        return (self._count - 1).bit_length()

    def _signals(self) -> tuple[hw.Signal, ...]:
        has, n = self.features.__contains__, self._count
        signals = hw.clock_signals(self.clocking)
        signals += hw.inputs((self.request, n, "requests; bit i belongs to requester i"))
        if has("lock"):
            signals += hw.inputs(
                ("lock", 1, "while this is 1, the granted requester may keep its grant")
            )
        if has("urgent"):
            signals += hw.inputs(("urgent", n, "urgent flags; bit i belongs to requester i"))
        signals += hw.outputs(
            (self.grant, n, "registered grants, at most one bit is 1; bit i belongs to requester i")
        )
        if has("index"):
            signals += hw.outputs(("index", self._bits, "number of the granted requester"))
        return signals

    def _choice_rules(self) -> list[str]:
        has, req, grant = self.features.__contains__, self.request, self.grant
        order = ", ".join(map(str, self.line))
        rules = [
            (
                f"Requester i requests while `{req}[i]` is 1. At each rising clock edge, at most "
                f"one requester that requests at that edge is chosen. `{grant}` is registered: bit "
                f"i is 1 from that edge until the next one if requester i was chosen, and all "
                f"other bits are 0. Reset sets `{grant}` to 0."
            ),
        ]
        if has("rotate"):
            rules.append(
                f"The requesters form a ring in the order {order}, and then {self.line[0]} again. "
                "A search starts at the requester that follows, in the ring, the one granted most "
                "recently (however long ago), and ends with that one. The first requester found "
                f"that requests is chosen. After reset, the search starts at requester "
                f"{self.line[0]}."
            )
        else:
            rules.append(
                f"The priority order is {order}, highest first. The first one that requests is "
                "chosen."
            )
        rules.append("If there is no request, there is no grant.")
        if has("urgent"):
            rules.append(
                "Requester i is urgent while it requests and `urgent[i]` is 1. If any requester is "
                "urgent, the search skips all requesters that are not urgent."
            )
        if has("index"):
            rules.append(
                f"`index` is the number of the granted requester, or {self.idle} while there is no "
                "grant."
            )
        return rules

    def _stay_rules(self) -> list[str]:
        has = self.features.__contains__
        if not has("lock"):
            return []
        limit = (
            f" and it has been granted for fewer than {self.limit} cycles" if has("limit") else ""
        )
        rules = [
            (
                "The holder is the requester that is granted in the cycle before an edge. If the "
                "holder still requests at that edge and may stay, it is chosen again without a "
                "search."
            )
        ]
        if not has("weights"):
            return [*rules, "The holder may stay if `lock` is 1 at that edge."]
        table = ", ".join(f"{weight} for requester {i}" for i, weight in enumerate(self.weights))
        free = "" if not has("urgent") else " and either it is urgent or no requester is urgent"
        rules += [
            f"The holder may stay if `lock` is 1 at that edge{limit}.",
            (
                "The holder may also stay, without `lock`, if it has been granted for fewer cycles "
                f"than its weight{free}. The weights are: {table}."
            ),
            (
                "These cycles are counted from the search that chose the holder: the first cycle "
                "after that search counts as 1, and cycles in which it stayed because of `lock` "
                "count too. A search that chooses the holder again restarts its count."
            ),
        ]
        return rules

    def _pool(self, language: str) -> list[str]:
        """Return the requests, and those that a search looks at, in the order of the line."""
        n = self._count
        parts = [f"{self.request}[{i}]" for i in self.line[::-1]]
        kind = "wire" if language == "verilog" else "logic"
        lines = [f"{kind} [{n - 1}:0] asks, pool;", f"assign asks = {{{', '.join(parts)}}};"]
        if "urgent" not in self.features:
            return [*lines, "assign pool = asks;"]
        pressing = ", ".join(f"urgent[{i}]" for i in self.line[::-1])
        return [
            *lines,
            f"{kind} [{n - 1}:0] pressing;\nassign pressing = asks & {{{pressing}}};",
            "assign pool = |pressing ? pressing : asks;",
        ]

    def _counter(self) -> int:
        """Return the bits of a count of cycles, which stops at the largest that matters."""
        return max(*self.weights, self.limit).bit_length()

    def _golden(self) -> str:
        """Return a search from place to place; the holder is a number."""
        has, n, b, c = self.features.__contains__, self._count, self._bits, self._counter()
        begin = "last" if has("rotate") else hw.literal(b, n - 1)
        lines = [
            f"reg granted, found;\nreg [{b - 1}:0] last, chosen;\nreg [{b}:0] at;\ninteger k;",
            *self._pool("verilog"),
            "always @(*) begin\n    found = 0;\n    chosen = last;",
            f"    for (k = 1; k <= {n}; k = k + 1) begin\n        at = {begin} + k;",
            f"        if (at >= {n}) at = at - {n};",
            "        if (!found && pool[at]) begin\n            found = 1;",
            "            chosen = at;\n        end\n    end\nend",
        ]
        reset, search = (
            f"granted <= 0;\nlast <= {hw.literal(b, n - 1)};",
            "granted <= found;\nlast <= chosen;",
        )
        if has("lock"):
            stay = self._golden_stay(c)
            if has("weights"):
                lines.append(f"reg [{c - 1}:0] run;")
                table = self._by_place([str(self.weights[i]) for i in self.line])
                lines.append(f"wire [{c - 1}:0] weight = {table};")
                reset, search = f"{reset}\nrun <= 0;", f"{search}\nrun <= 1;"
            lines.append(f"wire stays = granted && asks[last] && ({stay});")
            count = f"if (run != {hw.literal(c, -1)}) run <= run + 1;" if has("weights") else ""
            search = f"if (stays) begin\n    {count}\nend else begin\n{hw.indented(search, 4)}\nend"
        lines.append(hw.clocked(self.clocking, reset, search))
        for place, i in enumerate(self.line):
            lines.append(f"assign {self.grant}[{i}] = granted && last == {place};")
        if has("index"):
            table = self._by_place([hw.literal(b, i) for i in self.line])
            lines.append(f"assign index = granted ? ({table}) : {hw.literal(b, self.idle)};")
        return "\n".join(lines)

    def _by_place(self, values: list[str]) -> str:
        """Return an expression that has one of the values, by the place granted last."""
        chosen = [f"last == {place} ? {value} : " for place, value in enumerate(values[:-1])]
        return "".join([*chosen, values[-1]])

    def _golden_stay(self, bits: int) -> str:
        has = self.features.__contains__
        if not has("weights"):
            return "lock"
        lock = f"lock && run < {hw.literal(bits, self.limit)}" if has("limit") else "lock"
        return f"{lock} || run < weight && pool[last]"

    def _alternative(self) -> str:
        """Return a search by subtraction; the holder is a bit of a vector, cycles count down."""
        has, n, b, c = self.features.__contains__, self._count, self._bits, self._counter()
        spots = {i: place for place, i in enumerate(self.line)}
        base = f"{{{n}'d0, mark[{n - 2}:0], mark[{n - 1}]}}" if has("rotate") else f"{2 * n}'d1"
        lines = [
            f"logic [{n - 1}:0] mark, holder, choice;\nlogic [{2 * n - 1}:0] twice, single;",
            *self._pool("systemverilog"),
            f"assign twice = {{pool, pool}};\nassign single = twice & ~(twice - {base});",
            f"assign choice = single[{2 * n - 1}:{n}] | single[{n - 1}:0];",
        ]
        reset = f"holder <= '0; mark <= {n}'d{1 << n - 1};"
        moves = "holder <= choice; if (|choice) mark <= choice;"
        if has("lock"):
            stay = "lock"
            if has("weights"):
                lines.append(f"logic [{c - 1}:0] left, turns;")
                stay = "|(holder & pool) && left != 0"
                lock, more = "lock", ""
                reset += " left <= '0;"
                moves += " left <= turns;"
                weights = [self.weights[i] - 1 for i in self.line]
                lines.append("always_comb begin\n    turns = '0;")
                lines += [
                    f"    if (choice[{p}]) turns = {hw.literal(c, weight)};"
                    for p, weight in enumerate(weights)
                ]
                lines.append("end")
                if has("limit"):
                    lines.append(f"logic [{c - 1}:0] locks;")
                    lock, more = "lock && locks != 0", " if (locks != 0) locks <= locks - 1'b1;"
                    reset += " locks <= '0;"
                    moves += f" locks <= {hw.literal(c, self.limit - 1)};"
                stay = f"({lock}) || ({stay})"
                more = f"if (left != 0) left <= left - 1'b1;{more}"
            else:
                more = "holder <= holder;"
            moves = f"if (|(holder & asks) && ({stay})) begin {more} end\nelse begin {moves} end"
        lines.append(hw.clocked(self.clocking, reset, moves, keyword="always_ff"))
        bits = ", ".join(f"holder[{spots[i]}]" for i in reversed(range(n)))
        lines.append(f"assign {self.grant} = {{{bits}}};")
        if has("index"):
            numbers = " | ".join(
                f"({{{b}{{holder[{p}]}}}} & {hw.literal(b, i)})" for p, i in enumerate(self.line)
            )
            lines.append(f"assign index = |holder ? {numbers} : {hw.literal(b, self.idle)};")
        return "\n".join(lines)
