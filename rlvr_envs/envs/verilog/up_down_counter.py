"""UpDownCounter: a counter modulo any number, with the controls that counters have."""

from dataclasses import dataclass
from functools import partial

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.generators.hardware.design import (
    Design,
    Inputs,
    Shown,
    clock_signals,
    clocked,
    draw_clocking,
    indented,
    inputs,
    literal,
    module,
    outputs,
    sv_module,
)
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask

# In the order in which higher levels add them.
FEATURES = ("enable", "down", "load", "saturate", "step", "flag")
_WIDEST = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class UpDownCounterConfig(DesignConfig):
    """How many bits the counter has, and how many controls."""

    width: int = knob(4, "width of the count, in bits", low=2, high=_WIDEST)
    features: int = knob(
        2,
        "number of controls, added in the order enable, down, load, saturate, step, flag",
        low=0,
        high=len(FEATURES),
    )

    @classmethod
    def at(cls, difficulty: int) -> "UpDownCounterConfig":
        """The counter gets a bit a step and, up to difficulty 9, a control every 3 steps of 2."""
        return cls(
            width=min(3 + difficulty, _WIDEST),
            features=min((2 * difficulty) // 3, len(FEATURES)),
        )


@register("UpDownCounter-v0", domain="verilog", answer_format=LANGUAGE)
class UpDownCounterTask(DesignTask[UpDownCounterConfig]):
    """Write a counter modulo a number, with up to six controls that interact.

    Description:
        The counter counts modulo any number, not only a power of two. Controls are an enable, a
        direction, a load of a value that may be out of range, saturation instead of wrapping, a
        step of two, and a flag of the last count before the end.

    Observation:
        What the module does in numbered rules or prose, its ports, and the kind of its reset; in
        one problem of three also an example run, as a table or a waveform.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md). A reset that
        is not written and a value that is not determined count as wrong.

    Difficulty:
        The counter gets wider, and the controls and their interactions more.

    References:
        Liu et al. 2023, VerilogEval, arXiv:2309.07544, for the form of such problems.
    """

    def design(self, rng: Rng) -> Design:
        width = self.config.width
        return Counter(
            width=width,
            modulus=integer(rng, 2 ** (width - 1) + 1, 2**width),
            start=integer(rng, 0, 2 ** (width - 1)),
            features=FEATURES[: self.config.features],
        ).design(rng)


@dataclass(frozen=True, slots=True)
class Counter:
    """A counter, and the two ways to write it."""

    width: int
    modulus: int
    start: int  # after reset
    features: tuple[str, ...]

    def design(self, rng: Rng) -> Design:
        """Return the design; ``rng`` draws the clock and the reset."""
        clocking = draw_clocking(rng)
        signals = (
            *clock_signals(clocking),
            *inputs(*(port for port in self._inputs() if port[0] in self._input_names())),
            *outputs(("count", self.width, "current count")),
        )
        if "flag" in self.features:
            signals += outputs(("last", 1, "1 if the count is at its end"))
        start = f"count <= {literal(self.width, self.start)};"
        flag = self._flag()
        golden = clocked(clocking, start, self._golden()) + flag
        other = (
            self._alternative()
            + clocked(clocking, start, "count <= following;", keyword="always_ff")
            + flag
        )
        return Design(
            title=self._title(),
            signals=signals,
            rules=self._rules(),
            golden=module(signals, golden, registers=("count",)),
            alternative=sv_module(signals, other),
            clocking=clocking,
            behaviour=partial(counter, self),
        )

    def _inputs(self) -> tuple[tuple[str, int, str], ...]:
        return (
            ("enable", 1, "count enable"),
            ("down", 1, "direction (1 = down, 0 = up)"),
            ("load", 1, "synchronous load"),
            ("value", self.width, "value to load"),
            ("step", 1, "step size (1 = by 2, 0 = by 1)"),
        )

    def _input_names(self) -> tuple[str, ...]:
        names = tuple(name for name in self.features if name not in ("saturate", "flag"))
        return (*names, "value") if "load" in names else names

    def _title(self) -> str:
        way = "up/down counter" if "down" in self.features else "up counter"
        how = "saturating" if "saturate" in self.features else "wrapping"
        return f"a {how} {way} with values from 0 to {self.modulus - 1}"

    def _rules(self) -> tuple[str, ...]:
        has = self.features.__contains__
        rules = [f"Reset sets `count` to {self.start}."]
        if has("load"):
            rules.append(
                f"At a rising clock edge where `load` is 1, `count` becomes `value`, or "
                f"{self.modulus - 1} if `value` is larger than that. Loading takes priority over "
                "counting and does not need `enable`."
            )
        if has("enable"):
            unless = " unless it is loaded" if has("load") else ""
            rules.append(f"If `enable` is 0, `count` keeps its value{unless}.")
        at = "At every rising clock edge"
        if has("enable"):
            also = " and `load` is 0" if has("load") else ""
            at = f"At a rising clock edge where `enable` is 1{also}"
        way = "`count` increases by 1"
        if has("down"):
            way = "`count` decreases by 1 if `down` is 1, and increases by 1 otherwise"
        twice = " If `step` is 1, it changes by 2 instead of 1." if has("step") else ""
        rules.append(f"{at}, {way}.{twice}")
        if has("saturate"):
            ends = f"If counting up would exceed {self.modulus - 1}, `count` stops at that value."
            below = " If counting down would go below 0, `count` stops at 0." * has("down")
            rules.append(f"The counter saturates. {ends}{below}")
        else:
            down = f", and {self.modulus - 1} follows 0 when it counts down" if has("down") else ""
            rules.append(
                f"The counter wraps around (modulo {self.modulus}): 0 follows {self.modulus - 1} "
                f"when it counts up{down}."
            )
        if has("flag"):
            where = f"`count` is {self.modulus - 1}"
            if has("down"):
                where = f"`down` is 0 and {where}, or `down` is 1 and `count` is 0"
            rules.append(f"`last` is combinational: it is 1 if and only if {where}.")
        return tuple(rules)

    def _flag(self) -> str:
        if "flag" not in self.features:
            return ""
        top = literal(self.width, self.modulus - 1)
        if "down" not in self.features:
            return f"\nassign last = count == {top};"
        return f"\nassign last = down ? count == 0 : count == {top};"

    def _golden(self) -> str:
        """Return the moves as nested conditions on the present count."""
        top = self.modulus - 1
        body = self._move("+", f"count > {literal(self.width, top)} - amount", top)
        if "down" in self.features:
            down = self._move("-", "count < amount", 0)
            body = f"if (down) begin\n{indented(down, 4)}\nend else begin\n{indented(body, 4)}\nend"
        if "enable" in self.features:
            body = f"if (enable) begin\n{indented(body, 4)}\nend"
        if "load" in self.features:
            limit = literal(self.width, top)
            taken = f"count <= value > {limit} ? {limit} : value;"
            body = f"if (load)\n    {taken}\nelse begin\n{indented(body, 4)}\nend"
        amount = "(step ? 2'd2 : 2'd1)" if "step" in self.features else "1'd1"
        return body.replace("amount", amount)

    def _move(self, sign: str, past: str, end: int) -> str:
        if "saturate" in self.features:
            beyond = literal(self.width, end)
        else:
            back = "-" if sign == "+" else "+"
            beyond = f"count {sign} amount {back} {self.width + 1}'d{self.modulus}"
        return f"if ({past})\n    count <= {beyond};\nelse\n    count <= count {sign} amount;"

    def _alternative(self) -> str:
        """Return the next count computed in signed numbers that have room for every move."""
        room = self.width + 3
        has = self.features.__contains__
        amount = "(step ? 2 : 1)" if has("step") else "1"
        moved = f"down ? present - {amount} : present + {amount}" if has("down") else ""
        top, size = self.modulus - 1, self.modulus
        if has("saturate"):
            bounded = f"moved < 0 ? 0 : moved > {top} ? {top} : moved"
        else:
            bounded = f"moved < 0 ? moved + {size} : moved > {top} ? moved - {size} : moved"
        choice = f"{self.width}'(bounded)"
        if has("enable"):
            choice = f"enable ? {choice} : count"
        if has("load"):
            limit = literal(self.width, top)
            choice = f"load ? (value <= {limit} ? value : {limit}) : {choice}"
        return (
            f"logic signed [{room - 1}:0] present, moved, bounded;\n"
            f"logic [{self.width - 1}:0] following;\n"
            f"assign present = {room}'(count);\n"
            f"assign moved = {moved or f'present + {amount}'};\n"
            f"assign bounded = {bounded};\n"
            f"assign following = {choice};\n"
        )


def counter(made: Counter, rows: Inputs) -> Shown:
    """Return what a counter shows."""
    count, top, shown = made.start, made.modulus - 1, []
    for row in rows:
        down = row.get("down", 0)
        shown.append({"count": count})
        if "flag" in made.features:
            shown[-1]["last"] = int(count == (0 if down else top))
        if row.get("load", 0):
            count = min(row["value"], top)
        elif row.get("enable", 1):
            moved = count + (1 + row.get("step", 0)) * (-1 if down else 1)
            saturates = "saturate" in made.features
            count = min(max(moved, 0), top) if saturates else moved % made.modulus
    return shown
