"""A design in words: the prompt, in one of several layouts that say the same."""

from rlvr_envs.generators.hardware.design import TOP, Design, Signal
from rlvr_envs.verifiers.hdl.interface import Clocking

LAYOUTS = 3

_OPENINGS = (
    f"Write a synthesizable Verilog module named `{TOP}`: {{title}}.",
    f"Implement {{title}} as a synthesizable Verilog module named `{TOP}`.",
    f"Design {{title}}. The Verilog module is called `{TOP}` and must be synthesizable.",
)

_TERMS = (
    "The module is judged by whether it behaves exactly like a reference for every sequence of "
    "inputs. Verilog and SystemVerilog are fine; delays, initial values, system tasks, `include`, "
    "assertions and references to other modules than your own are not."
)


def wording(design: Design, layout: int) -> str:
    """Return the prompt of a design; every layout tells all ports and all rules."""
    parts = [_OPENINGS[layout].format(title=design.title)]
    parts.append((_listed, _declared, _tabled)[layout](design.signals, design.clocking))
    if design.clocking is not None:
        parts.append(timing(design.clocking))
    else:
        parts.append("The module is combinational.")
    parts.append(_rules(design.rules, numbered=layout != 1))
    if design.figure:
        parts.append(design.figure)
    parts.append(_TERMS)
    return "\n\n".join(parts)


def timing(clocking: Clocking) -> str:
    """Return when the state changes, and what kind of reset there is."""
    edge = f"State changes at the rising edge of `{clocking.clock}`."
    if not clocking.reset:
        return f"{edge} There is no reset."
    if clocking.asynchronous:
        kind = "asynchronous: it acts at once, without a clock edge, and for as long as it is"
    else:
        kind = "synchronous: it acts at a rising clock edge at which it is"
    return (
        f"{edge} The reset `{clocking.reset}` is {kind} {clocking.reset_active}. It goes before "
        "everything else. It is active in the first cycle; before that, nothing is known of the "
        "state."
    )


def _meaning(signal: Signal, clocking: Clocking | None) -> str:
    if clocking is not None and signal.name == clocking.clock:
        return "clock"
    if clocking is not None and signal.name == clocking.reset:
        return f"reset, active {'high' if clocking.reset_active else 'low'}"
    return signal.meaning


def _listed(signals: tuple[Signal, ...], clocking: Clocking | None) -> str:
    lines = [
        f"- {signal.direction} `{signal.name}` ({signal.port.size}): {_meaning(signal, clocking)}"
        for signal in signals
    ]
    return "\n".join(["Its ports are exactly these:", *lines])


def _declared(signals: tuple[Signal, ...], clocking: Clocking | None) -> str:
    ends = ["," for _ in signals[:-1]] + [""]
    lines = [
        f"    {signal.port.declaration()}{end}  // {_meaning(signal, clocking)}"
        for signal, end in zip(signals, ends, strict=True)
    ]
    code = "\n".join([f"module {TOP} (", *lines, ");"])
    return f"Its header is this, where an output may also be a `reg`:\n\n```\n{code}\n```"


def _tabled(signals: tuple[Signal, ...], clocking: Clocking | None) -> str:
    lines = [
        f"| `{signal.name}` | {signal.direction} | {signal.width} | {_meaning(signal, clocking)} |"
        for signal in signals
    ]
    head = ["| port | direction | bits | meaning |", "| --- | --- | --- | --- |"]
    return "\n".join([*head, *lines, "", "There are no other ports."])


def _rules(rules: tuple[str, ...], *, numbered: bool) -> str:
    if not numbered:
        return " ".join(rules)
    return "\n".join(f"{number}. {rule}" for number, rule in enumerate(rules, 1))
