"""UpDownCounter: a counter modulo any number, with the controls that counters have."""

from dataclasses import dataclass
from functools import partial

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask

# In the order in which higher levels add them.
FEATURES = (
    *("enable", "down", "load", "saturate", "step", "flag"),
    *("mode", "limit", "prescale", "undo"),
)
_MODES = ("wrap", "saturate", "reflect", "restart")  # by the value of `mode`
_WIDEST = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class UpDownCounterConfig(DesignConfig):
    """How many bits the counter has, and how many controls."""

    width: int = knob(4, "width of the count, in bits", low=2, high=_WIDEST)
    features: int = knob(
        2,
        "number of controls, added in the order enable, down, load, saturate, step, flag, mode, "
        "limit, prescale, undo",
        low=0,
        high=len(FEATURES),
    )

    @classmethod
    def at(cls, difficulty: int) -> "UpDownCounterConfig":
        """Every level adds a control, up to all 10; every third one adds a bit, up to 64."""
        return cls(
            width=min(3 + (difficulty + 2) // 3, _WIDEST), features=min(difficulty, len(FEATURES))
        )


@register("UpDownCounter-v0", domain="verilog", answer_format=LANGUAGE)
class UpDownCounterTask(DesignTask[UpDownCounterConfig]):
    """Write a counter modulo a number, with up to ten controls that interact.

    Description:
        The counter counts modulo any number, not only a power of two. Controls are an enable, a
        direction, a load of a value that may be out of range, saturation instead of wrapping, a
        step of two, and a flag of the last count before the end. Then an input chooses among
        wrapping, saturating, reflecting and restarting; a new limit takes effect when the count
        passes its end; enabled edges are prescaled; and the last change can be undone.

    Observation:
        What the module does in numbered rules or prose, its ports, and the kind of its reset; in
        one problem of three also an example run, as a table or a waveform.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md). A reset that
        is not written and a value that is not determined count as wrong.

    Difficulty:
        The controls become more, and each interacts with those before it.

    References:
        Liu et al. 2023, VerilogEval, arXiv:2309.07544, for the form of such problems.
    """

    def design(self, rng: Rng) -> hw.Design:
        width = self.config.width
        return Counter(
            width=width,
            modulus=integer(rng, 2 ** (width - 1) + 1, 2**width),
            start=integer(rng, 0, 2 ** (width - 1)),
            features=FEATURES[: self.config.features],
            prescale=integer(rng, 2, 5),
        ).design(rng)


@dataclass(frozen=True, slots=True)
class Counter:
    """A counter, and the two ways to write it."""

    width: int
    modulus: int
    start: int  # after reset
    features: tuple[str, ...]
    prescale: int = 2  # enabled edges for each move, with the feature prescale

    def design(self, rng: Rng) -> hw.Design:
        """Return the design; ``rng`` draws the clock and the reset."""
        clocking = hw.draw_clocking(rng)
        has, start = self.features.__contains__, hw.literal(self.width, self.start)
        signals = (
            *hw.clock_signals(clocking),
            *hw.inputs(*self._inputs()),
            *hw.outputs(("count", self.width, "current count")),
        )
        if has("flag"):
            signals += hw.outputs(("last", 1, "1 if the count is at its end"))
        top = hw.literal(self.width, self.modulus - 1)
        reset = f"count <= {start};" + f"\nlimit <= {top};\npending <= {top};" * has("limit")
        reset += f"\nearlier <= {start};" * has("undo")
        golden = self._golden() + hw.clocked(
            clocking, reset + "\nticks <= 0;" * has("prescale"), self._golden_moves()
        )
        ring = hw.literal(self.prescale, 1)
        other = hw.clocked(
            clocking,
            reset + f"\nring <= {ring};" * has("prescale"),
            self._moves(),
            keyword="always_ff",
        )
        return hw.Design(
            title=self._title(),
            signals=signals,
            rules=self._rules(),
            golden=hw.module(
                signals, self._registers("reg") + golden + self._flag(), registers=("count",)
            ),
            alternative=hw.sv_module(
                signals,
                self._registers("logic") + self._alternative() + other + self._flag(),
            ),
            clocking=clocking,
            behaviour=partial(counter, self),
        )

    def _inputs(self) -> list[tuple[str, int, str]]:
        has = self.features.__contains__
        ports = {
            "enable": ("enable", 1, "count enable"),
            "down": ("down", 1, "direction (1 = down, 0 = up)"),
            "load": ("load", 1, "synchronous load"),
            "step": ("step", 1, "step size (1 = by 2, 0 = by 1)"),
            "mode": ("mode", 2, "what happens at the end of the range"),
            "limit": ("set_limit", 1, "sets a new limit"),
            "undo": ("undo", 1, "undoes the last change of the count"),
        }
        found = [port for name, port in ports.items() if has(name)]
        if has("load"):
            what = "value to load, or new limit" if has("limit") else "value to load"
            found.append(("value", self.width, what))
        return found

    def _title(self) -> str:
        has = self.features.__contains__
        way = "up/down counter" if has("down") else "up counter"
        how = "saturating " if has("saturate") else "wrapping "
        return (
            f"{'an' if has('mode') and has('down') else 'a'} {'' if has('mode') else how}{way} "
            f"with values from 0 to {self.modulus - 1}"
        )

    @property
    def _top(self) -> str:
        """The largest count at present, in Verilog."""
        return "limit" if "limit" in self.features else hw.literal(self.width, self.modulus - 1)

    @property
    def _next_top(self) -> str:
        """The largest count after the end was passed, in Verilog."""
        return "pending" if "limit" in self.features else self._top

    def _rules(self) -> tuple[str, ...]:
        has = self.features.__contains__
        top = "L" if has("limit") else str(self.modulus - 1)
        rules = [f"Reset sets `count` to {self.start}."]
        if has("limit"):
            rules.append(
                f"The largest count is the limit L, which reset sets to {self.modulus - 1}."
            )
        if has("load"):
            rules.append(
                f"At a rising clock edge where `load` is 1, `count` becomes `value`, or {top} if "
                "`value` is larger than that. Loading takes priority over counting and does not "
                "need `enable`."
            )
        if has("undo"):
            rules.append(
                "At a rising clock edge where `undo` is 1 and `load` is 0, `count` becomes B, or "
                f"{top} if B is larger than that. B is the value that `count` had before the last "
                "edge at which `count` took another value, for whatever reason; after reset, B is "
                f"{self.start}. Undoing takes priority over counting and does not need `enable`."
            )
        idle = " and ".join(f"`{name}` is 0" for name in ("load", "undo") if has(name))
        if has("enable"):
            unless = f" unless it is {'loaded or undone' if has('undo') else 'loaded'}"
            rules.append(f"If `enable` is 0, `count` keeps its value{unless * has('load')}.")
        at = "At every rising clock edge"
        if has("enable"):
            at = f"At a rising clock edge where `enable` is 1{f' and {idle}' if idle else ''}"
        if has("prescale"):
            rules.append(
                f"The counter moves at every {_ORDINALS[self.prescale]} edge where `enable` is 1 "
                f"and {idle}. These edges are counted from the last reset, load, undo or move, "
                "whichever came last; at the others, `count` keeps its value."
            )
            at = "When the counter moves"
        way = "`count` increases by 1"
        if has("down"):
            way = "`count` decreases by 1 if `down` is 1, and increases by 1 otherwise"
        twice = " If `step` is 1, it changes by 2 instead of 1." if has("step") else ""
        rules.append(f"{at}, {way}.{twice}")
        return (*rules, *self._end_rules())

    def _end_rules(self) -> list[str]:
        has, top = self.features.__contains__, self.modulus - 1
        rules = []
        if has("mode"):
            rules += self._mode_rules()
        elif has("saturate"):
            ends = f"If counting up would exceed {top}, `count` stops at that value."
            below = " If counting down would go below 0, `count` stops at 0." * has("down")
            rules.append(f"The counter saturates. {ends}{below}")
        else:
            down = f", and {top} follows 0 when it counts down" if has("down") else ""
            rules.append(
                f"The counter wraps around (modulo {self.modulus}): 0 follows {top} when it counts "
                f"up{down}."
            )
        if has("flag"):
            where = f"`count` is {'L' if has('limit') else top}"
            if has("down"):
                where = f"`down` is 0 and {where}, or `down` is 1 and `count` is 0"
            rules.append(f"`last` is combinational: it is 1 if and only if {where}.")
        return rules

    def _mode_rules(self) -> list[str]:
        top, then = str(self.modulus - 1), ""
        rules = []
        if "limit" in self.features:
            rules.append(
                "A new limit waits until the count passes an end. At a rising clock edge where "
                f"`set_limit` is 1, the waiting limit W becomes `value`, or 2 if `value` is below "
                f"2, or {top} if `value` is above {top}; this needs neither `enable` nor any other "
                "input, and happens beside everything else. Reset sets W to "
                f"{top}. At an edge where the count passes an end, L becomes the W of before that "
                "edge. Below, N is that new L."
            )
            top, then = "L", "N"
        after = then or top
        rules.append(
            f"The count passes an end if a move would take it above {top}, by an excess e of 1 or "
            "2, or below 0 by an excess e. `mode` at that edge decides what it becomes instead. "
            f"0 (wrap): e - 1 above {top}, and {after} + 1 - e below 0. "
            f"1 (saturate): {after} above {top}, and 0 below 0. "
            f"2 (reflect): {after} - e above {top}, and e below 0. "
            f"3 (restart): {self.start} in both cases"
            + (", or N if that is smaller." if then else ".")
        )
        return rules

    def _flag(self) -> str:
        if "flag" not in self.features:
            return ""
        if "down" not in self.features:
            return f"\nassign last = count == {self._top};"
        return f"\nassign last = down ? count == 0 : count == {self._top};"

    def _registers(self, kind: str) -> str:
        """Return the declarations of all that is stored besides the count."""
        has, bits = self.features.__contains__, f"[{self.width - 1}:0]"
        text = f"{kind} {bits} limit, pending;\n" * has("limit")
        text += f"{kind} {bits} earlier;\n" * has("undo")
        if not has("prescale"):
            return text
        if kind == "reg":
            return f"{text}reg [{self._tick_bits - 1}:0] ticks;\n"
        return f"{text}logic [{self.prescale - 1}:0] ring;\n"

    def _golden(self) -> str:
        """Return the next count by nested conditions on the present one."""
        has, top = self.features.__contains__, self._top
        body = self._move("+", f"{{1'b0, count}} + amount > {top}")
        if has("down"):
            down = self._move("-", "count < amount")
            body = f"if (down) {_block(down)} else {_block(body)}"
        if has("prescale"):
            due = f"if (ticks == {self.prescale - 1}) {_block(body)}"
            body = f"late = ticks == {self.prescale - 1} ? 0 : ticks + 1;\n{due}"
        if has("enable"):
            body = f"if (enable) {_block(body)}"
        for name, value in (("undo", "earlier"), ("load", "value")):
            if has(name):
                taken = f"next = {value} > {top} ? {top} : {value};" + "\nlate = 0;" * has(
                    "prescale"
                )
                body = f"if ({name}) {_block(taken)} else {_block(body)}"
        body = body.replace("amount", "(step ? 2'd2 : 2'd1)" if has("step") else "1'd1")
        first = "next = count;" + "\npast = 0;" * has("limit") + "\nlate = ticks;" * has("prescale")
        return (
            f"reg [{self.width - 1}:0] next;\n"
            + "reg past;\n" * has("limit")
            + f"reg [{self._tick_bits - 1}:0] late;\n" * has("prescale")
            + f"always @(*) {_block(first + chr(10) + body)}\n"
        )

    def _golden_moves(self) -> str:
        """Return what the registers take at an edge."""
        has, most = self.features.__contains__, hw.literal(self.width, self.modulus - 1)
        lines = ["count <= next;"]
        if has("limit"):
            lines.append("if (past) limit <= pending;")
            lines.append(
                f"if (set_limit)\n    pending <= value < 2 ? 2 : value > {most} ? {most} : value;"
            )
        if has("prescale"):
            lines.append("ticks <= late;")
        if has("undo"):
            lines.append("if (next != count) earlier <= count;")
        return "\n".join(lines)

    @property
    def _tick_bits(self) -> int:
        return (self.prescale - 1).bit_length()

    def _move(self, sign: str, past: str) -> str:
        has, following = self.features.__contains__, f"next = count {sign} amount;"
        up, top, after = sign == "+", self._top, self._next_top
        wrap = f"count {sign} amount {'-' if up else '+'} {self.width + 1}'d{self.modulus}"
        stop = after if up else hw.literal(self.width, 0)
        if not has("mode"):
            end = stop if has("saturate") else wrap
            return f"if ({past})\n    next = {end};\nelse\n    {following}"
        if has("limit"):
            wrap = f"count + amount - {top} - 1" if up else f"{after} + 1 + count - amount"
        reflect = f"{after} - (count + amount - {top})" if up else "amount - count"
        start = hw.literal(self.width, self.start)
        restart = f"{start} > {after} ? {after} : {start}" if has("limit") else start
        cases = [
            f"2'd{code}: next = {value};"
            for code, value in enumerate((wrap, stop, reflect, restart))
        ]
        beyond = "\n".join(["case (mode)", *cases, "endcase"]) + "\npast = 1;" * has("limit")
        return f"if ({past}) {_block(beyond)} else\n    {following}"

    def _alternative(self) -> str:
        """Return the next count computed in signed numbers that have room for every move."""
        room, has = self.width + 3, self.features.__contains__
        amount = "(step ? 2 : 1)" if has("step") else "1"
        moved = f"present + {amount}"
        if has("down"):
            moved = f"down ? present - {amount} : {moved}"
        top = f"{room}'({self._top})"
        text = (
            f"logic signed [{room - 1}:0] present, moved, bounded;\n"
            f"logic [{self.width - 1}:0] following;\n"
            f"assign present = {room}'(count);\nassign moved = {moved};\n"
        )
        if has("mode"):
            text += self._choice(room, top)
        elif has("saturate"):
            text += f"assign bounded = moved < 0 ? 0 : moved > {top} ? {top} : moved;\n"
        else:
            size = self.modulus
            text += (
                f"assign bounded = moved < 0 ? moved + {size} : moved > {top} ? moved - {size} : "
                "moved;\n"
            )
        choice = f"{self.width}'(bounded)"
        if has("enable"):
            goes = f"enable && ring[{self.prescale - 1}]" if has("prescale") else "enable"
            text += f"logic moves;\nassign moves = {goes};\n"
            choice = f"moves ? {choice} : count"
        for name, value in (("undo", "earlier"), ("load", "value")):
            if has(name):
                limit = self._top
                choice = f"{name} ? ({value} <= {limit} ? {value} : {limit}) : {choice}"
        return f"{text}assign following = {choice};\n"

    def _choice(self, room: int, top: str) -> str:
        """Return what a count becomes, by how far it is beyond an end."""
        after, under = f"{room}'({self._next_top})", "moved < 0"
        return (
            f"logic signed [{room - 1}:0] excess, edge_count, other;\nlogic passes;\n"
            f"assign passes = {under} || moved > $signed({top});\n"
            f"assign excess = {under} ? -moved : moved - $signed({top});\n"
            f"assign edge_count = {under} ? 0 : $signed({after});\n"
            f"assign other = {under} ? $signed({after}) : 0;\n"
            "always_comb\n    unique case (mode)\n"
            f"        2'd0: bounded = {under} ? other + 1 - excess : other - 1 + excess;\n"
            "        2'd1: bounded = edge_count;\n"
            f"        2'd2: bounded = {under} ? edge_count + excess : edge_count - excess;\n"
            f"        2'd3: bounded = $signed({after}) < {self.start} ? $signed({after}) : "
            f"{self.start};\n    endcase\n"
        ).replace("bounded =", "beyond =").replace("excess,", "excess, beyond,") + (
            "assign bounded = passes ? beyond : moved;\n"
        )

    def _moves(self) -> str:
        """Return what is stored at an edge, given the next count."""
        has, most = self.features.__contains__, hw.literal(self.width, self.modulus - 1)
        lines = ["count <= following;"]
        free = " && ".join(f"!{name}" for name in ("load", "undo") if has(name))
        if has("limit"):
            low = hw.literal(self.width, 2)
            lines += [
                f"if (moves && {free} && passes) limit <= pending;",
                f"if (set_limit) pending <= value > {most} ? {most} : value >= 2 ? value : {low};",
            ]
        if has("prescale"):
            turned = f"{{ring[{self.prescale - 2}:0], ring[{self.prescale - 1}]}}"
            lines.append(f"if (!({free})) ring <= {hw.literal(self.prescale, 1)};")
            lines.append(f"else if (enable) ring <= {turned};")
        if has("undo"):
            lines.append("if (following != count) earlier <= count;")
        return "\n".join(lines)


_ORDINALS = {2: "second", 3: "third", 4: "fourth", 5: "fifth"}


def _block(body: str) -> str:
    return f"begin\n{hw.indented(body, 4)}\nend"


def counter(made: Counter, rows: hw.Inputs) -> hw.Shown:
    """Return what a counter shows."""
    has, most = made.features.__contains__, made.modulus - 1
    count = before = made.start
    limit = pending = most
    ticks, shown = 0, []
    for row in rows:
        down, old = row.get("down", 0), count
        shown.append({"count": count})
        if has("flag"):
            shown[-1]["last"] = int(count == (0 if down else limit))
        due = not has("prescale") or ticks == made.prescale - 1
        if row.get("load", 0) or row.get("undo", 0):
            count = min(row["value"] if row["load"] else before, limit)
            ticks = 0
        elif row.get("enable", 1):
            ticks = 0 if due else ticks + 1
            moved = count + (1 + row.get("step", 0)) * (-1 if down else 1)
            if due and not 0 <= moved <= limit:
                kind = _MODES[row["mode"]] if has("mode") else "wrap"
                if not has("mode") and has("saturate"):
                    kind = "saturate"
                count = _beyond(moved, kind, (limit, pending, made.start))
                limit = pending
            elif due:
                count = moved
        if row.get("set_limit", 0):
            pending = min(max(row["value"], 2), most)
        before = before if count == old else old
    return shown


def _beyond(moved: int, kind: str, ends: tuple[int, int, int]) -> int:
    """Return what a count becomes beyond an end; given are both limits and the first count."""
    top, after, start = ends
    excess = -moved if moved < 0 else moved - top
    return {
        "wrap": after + 1 - excess if moved < 0 else excess - 1,
        "saturate": 0 if moved < 0 else after,
        "reflect": excess if moved < 0 else after - excess,
        "restart": min(start, after),
    }[kind]
