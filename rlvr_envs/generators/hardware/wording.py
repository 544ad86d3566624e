"""A design in words: the prompt, in one of several layouts that say the same."""

from rlvr_envs.generators.hardware.design import TOP, Design, Signal
from rlvr_envs.verifiers.hdl.interface import Clocking

LAYOUTS = 3

_OPENINGS = (
    f"Write a synthesizable Verilog module named `{TOP}` that implements {{title}}.",
    f"Implement a synthesizable Verilog module named `{TOP}`. It is {{title}}.",
    f"Design {{title}}. Write it as a synthesizable Verilog module named `{TOP}`.",
)

_EXACT = (
    "Your module must behave exactly like a hidden reference design for every sequence of inputs."
)
FUNCTIONS = (
    "System tasks such as `$display` are not allowed. The only system functions that you may use "
    "are `$signed`, `$unsigned`, `$clog2`, `$bits`, `$countones`, `$countbits`, `$onehot`, "
    "`$onehot0`, array queries such as `$size`, and real-number functions such as `$pow`."
)
ALLOWED = (
    "You may use Verilog or SystemVerilog. Do not use delays, initial values, user-defined "
    "primitives, the enum methods `next` and `prev`, `include`, assertions, or modules that you do "
    f"not define yourself. {FUNCTIONS}"
)


def wording(design: Design, layout: int, *, terms: bool = True) -> str:
    """Return the prompt of a design; every layout states all ports and all rules.

    Args:
        design: what to describe.
        layout: which of the `LAYOUTS`.
        terms: whether to add how answers are judged, and which Verilog they may use.
    """
    parts = [_OPENINGS[layout].format(title=design.title)]
    parts.append((_listed, _declared, _tabled)[layout](design.signals, design.clocking))
    if design.clocking is not None:
        parts.append(timing(design.clocking))
    else:
        parts.append("The module is combinational.")
    parts.append(_rules(design.rules, numbered=layout != 1))
    if design.figure:
        parts.append(design.figure)
    if terms:
        parts.append(f"{_EXACT} {ALLOWED}")
    return "\n\n".join(parts)


def timing(clocking: Clocking) -> str:
    """Return when the state changes, and what kind of reset there is."""
    clock, reset = clocking.clock, clocking.reset
    edge = f"State changes only at the rising edge of `{clock}`"
    if not reset:
        return f"{edge}. There is no reset."
    level = "active-high" if clocking.reset_active else "active-low"
    if clocking.asynchronous:
        kind = (
            f"{edge}, or when reset is asserted. `{reset}` is an asynchronous, {level} reset: it "
            f"takes effect at once, without a clock edge, and lasts as long as `{reset}` is "
            f"{clocking.reset_active}."
        )
    else:
        kind = (
            f"{edge}. `{reset}` is a synchronous, {level} reset: it takes effect at each rising "
            f"edge of `{clock}` where `{reset}` is {clocking.reset_active}."
        )
    return (
        f"{kind} Reset takes priority over everything else. Reset is active in the first clock "
        "cycle; before that, the state is unknown."
    )


def _meaning(signal: Signal, clocking: Clocking | None) -> str:
    if clocking is not None and signal.name == clocking.clock:
        return "clock"
    if clocking is not None and signal.name == clocking.reset:
        return f"reset, active-{'high' if clocking.reset_active else 'low'}"
    return signal.meaning


def _listed(signals: tuple[Signal, ...], clocking: Clocking | None) -> str:
    lines = [
        f"- {signal.direction} `{signal.name}` ({signal.port.size}): {_meaning(signal, clocking)}"
        for signal in signals
    ]
    return "\n".join(["It has exactly these ports:", *lines])


def _declared(signals: tuple[Signal, ...], clocking: Clocking | None) -> str:
    ends = ["," for _ in signals[:-1]] + [""]
    lines = [
        f"    {signal.port.declaration()}{end}  // {_meaning(signal, clocking)}"
        for signal, end in zip(signals, ends, strict=True)
    ]
    code = "\n".join([f"module {TOP} (", *lines, ");"])
    return f"Use this header (you may declare outputs as `reg`):\n\n```\n{code}\n```"


def _tabled(signals: tuple[Signal, ...], clocking: Clocking | None) -> str:
    lines = [
        f"| `{signal.name}` | {signal.direction} | {signal.width} | {_meaning(signal, clocking)} |"
        for signal in signals
    ]
    head = ["| port | direction | bits | meaning |", "| --- | --- | --- | --- |"]
    return "\n".join([*head, *lines, "", "The module has no other ports."])


def _rules(rules: tuple[str, ...], *, numbered: bool) -> str:
    if not numbered:
        return " ".join(rules)
    return "\n".join(f"{number}. {rule}" for number, rule in enumerate(rules, 1))
