"""What designs of some families do, cycle by cycle, in Python: for the waveforms in their prompts.

Each function takes the drawn design and the inputs of the cycles after a reset, and returns the
outputs just before the rising edge that ends each cycle.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlvr_envs.envs.verilog._edge_detector import Detector as EdgeDetector
    from rlvr_envs.envs.verilog._sequence_detector import Detector as SequenceDetector
    from rlvr_envs.envs.verilog._shift_register import Operation, Register
    from rlvr_envs.envs.verilog._state_machine import Branch, Machine
    from rlvr_envs.envs.verilog.up_down_counter import Counter

_Rows = Sequence[Mapping[str, int]]
_Shown = list[dict[str, int]]
_CHANGES = {"rising": {(0, 1)}, "falling": {(1, 0)}, "any": {(0, 1), (1, 0)}}


def counter(made: "Counter", rows: _Rows) -> _Shown:
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


def edges(made: "EdgeDetector", rows: _Rows) -> _Shown:
    """Return what a detector of edges shows."""
    has, count, seen, before = made.features.__contains__, 0, 0, 0
    lines = [[made.level] * (1 + made.stages * has("sync")) for _ in made.kinds]
    waits = [0] * len(made.kinds)
    shown = []
    for row in rows:
        word = 0
        for i, (kind, line) in enumerate(zip(made.kinds, lines, strict=True)):
            line.append(row[made.line] >> i & 1)
            found = (line[0], line[1]) in _CHANGES[kind] and row.get("mask", -1) >> i & 1
            line.pop(0)
            edge = bool(found) and not waits[i]
            waits[i] = made.gap * has("gap") if edge else max(0, waits[i] - 1)
            word |= edge << i
        shown.append({made.edges: before if made.registered else word})
        shown[-1] |= {"seen": seen} if has("sticky") else {}
        shown[-1] |= {"count": count} if has("count") else {}
        clear = row.get("clear", 0)
        seen = seen & ~clear | word if made.set_wins else (seen | word) & ~clear
        count += word.bit_count()
        count = min(count, 63) if made.saturates else count % 64
        before = word
    return shown


def sequence(made: "SequenceDetector", rows: _Rows) -> _Shown:
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


def shifts(made: "Register", rows: _Rows) -> _Shown:
    """Return what a shift register shows."""
    value, out, taken, shown = made.start, 0, 0, []
    codes = {operation.code: operation for operation in made.operations}
    for row in rows:
        shown.append({made.q: value})
        shown[-1] |= {"out": out} if "out" in made.features else {}
        shown[-1] |= {"done": int(taken >= made.width)} if "done" in made.features else {}
        single = made.operations[0] if len(made.operations) == 1 else None
        operation = single or codes.get(row["mode"])
        if operation is None or not row.get("enable", 1):
            continue
        leaving, keep = operation.leaving(), row.get("keep", 0)
        out = out if leaving is None else value >> leaving & 1
        taken = 0 if operation.name == "load" else taken + (operation.name in ("left", "right"))
        moved = _moved(operation, value, row[made.serial], row.get("data", 0))
        value = moved & ~keep | value & keep
    return shown


def _moved(operation: "Operation", value: int, serial: int, data: int) -> int:
    """Return a word after an operation."""
    width, n = operation.width, operation.places
    full, half, top = (1 << width) - 1, width // 2, value >> (width - 1)
    odd = sum(1 << i for i in range(1, width, 2))
    return (
        full
        & {
            "left": value << 1 | serial,
            "right": value >> 1 | serial << (width - 1),
            "load": data,
            "hold": value,
            "rotate left": value << n | value >> (width - n),
            "rotate right": value >> n | value << (width - n),
            "arithmetic right": value >> n | top * (full << (width - n)),
            "zeros left": value << n,
            "zeros right": value >> n,
            "clear": 0,
            "invert": ~value,
            "reverse": int(f"{value:0{width}b}"[::-1], 2),
            "halves": value >> half | value << half,
            "pairs": (value & odd) >> 1 | value << 1 & odd,
        }[operation.name]
    )


def machine(made: "Machine", rows: _Rows) -> _Shown:
    """Return what a state machine shows."""
    has = made.features.__contains__
    state, came, stayed, visits, shown = 0, 0, 0, 0, []
    for row in rows:
        branch = next(b for b in made.rows[state] if _holds(b, made, row))
        shown.append({made.out: branch.value if made.mealy else made.values[state]})
        shown[-1] |= {"visits": visits % 16} if has("visits") else {}
        target, enabled = state, row.get("enable", 1)
        aborted = row.get("abort", 0)
        stayed += bool(enabled)
        if aborted:
            target = made.abort
        elif enabled and stayed >= (made.times[state] if has("dwell") else 1):
            target = came if branch.target < 0 else branch.target
        if target != state:
            came, state = state, target
            visits += state == made.visited
            stayed = 0
        elif aborted:
            stayed = 0
    return shown


def _holds(branch: "Branch", made: "Machine", row: Mapping[str, int]) -> bool:
    return all(row[made.inputs[i]] == value for i, value in branch.guard)
