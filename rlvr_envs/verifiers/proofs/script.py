"""Scripts: a text of several tactics, as it is written in Lean, read into single ones.

A tactic stands on a line of its own, or is ended by ``;``. Read over are ``by``, the bullet ``·``,
comments and the repeated statement before ``:= by``. ``cases h with`` and ``induction n with`` may
be followed by lines such as ``| inl a => ...``.
"""

import re
from dataclasses import dataclass

from rlvr_envs.verifiers.proofs.backend import ProofBackend, State
from rlvr_envs.verifiers.proofs.kernel import ProofError

MOST_CHARS = 20_000  # of a script
MOST_TACTICS = 300
_COMMENT = re.compile(r"--[^\n]*|/-.*?-/", re.DOTALL)
_BRANCH = re.compile(r"\|\s*@?(\w+)((?:\s+[\w']+)*)\s*=>\s*(.*)", re.DOTALL)
_CASE = re.compile(r"case\s+(\w+)((?:\s+[\w']+)*)\s*=>\s*(.*)", re.DOTALL)
_STATEMENT = re.compile(r"\s*(?:theorem|lemma|example)\b")
_BULLETS = "·•."
_JOINED = ("cases", "rcases", "induction")
_ENDS_OPEN = (",", "→", "∧", "∨", "↔", "=", "=>", "+", "*", ":", ":=", "[", "(", "⟨")


@dataclass(frozen=True, slots=True)
class Line:
    """A tactic of a script.

    Attributes:
        text: the tactic; empty where the line only says which case comes next.
        case: the case that it begins, such as ``succ``.
    """

    text: str
    case: str = ""


def read_script(text: str) -> list[Line]:
    """Return the tactics of a script.

    Raises:
        ProofError: the script is too long, or a line of it cannot be read.
    """
    if len(text) > MOST_CHARS:
        raise ProofError(f"a script has at most {MOST_CHARS:,} characters")
    text = _COMMENT.sub("", text)
    if _STATEMENT.match(text):
        _, found, text = text.partition(":= by")
        if not found:
            raise ProofError("the statement is not followed by := by and a proof")
    rows = _rows(text)
    lines = list[Line]()
    for number, (indent, row) in enumerate(rows):
        lines += _line(rows, number, indent, row)
        if len(lines) > MOST_TACTICS:
            raise ProofError(f"a script has at most {MOST_TACTICS} tactics")
    return lines


def _rows(text: str) -> list[tuple[int, str]]:
    """Return the lines with their indentation, those that go on joined."""
    rows = list[tuple[int, str]]()
    for raw in text.expandtabs(2).splitlines():
        row = raw.strip()
        if not row or row == "by":
            continue
        indent = len(raw) - len(raw.lstrip())
        if rows and rows[-1][1].endswith(_ENDS_OPEN) and not row.startswith("|"):
            rows[-1] = (rows[-1][0], f"{rows[-1][1]} {row}")
        else:
            rows.append((indent, row))
    return [
        (indent, piece.strip()) for indent, row in rows for piece in row.split(";") if piece.strip()
    ]


def _line(  # noqa: C901 - one branch a kind of line
    rows: list[tuple[int, str]], number: int, indent: int, row: str
) -> list[Line]:
    while row[:1] in _BULLETS or row.startswith(("by ", "{ ", "}")):
        row = row[2:] if row.startswith("by ") else row[1:]
        row = row.strip()
        if not row:
            return []
    if "<" + ";" in row or row.endswith("<"):
        raise ProofError("<;> is not read: write the tactic for each goal")
    if branch := _BRANCH.fullmatch(row):
        return [Line("", branch[1]), *_tail(rows, number, indent, branch[3])]
    if branch := _CASE.fullmatch(row):
        if branch[2].strip():
            raise ProofError("case is followed by its name alone: names are given where it arises")
        return [Line("", branch[1]), *_tail(rows, number, indent, branch[3])]
    if row.startswith("|"):
        raise ProofError(f"a case is | name => ..., got {row!r:.80}")
    head = row.split()[0]
    if head in _JOINED and row.split()[-1] == "with":
        row = _with_names(rows, number, row)
    if row.endswith(":= by"):
        row = row.removesuffix(":= by")
    elif ":= by " in row and head == "have":
        row, _, tail = row.partition(":= by ")
        return [Line(row.strip()), *_tail(rows, number, indent, tail)]
    return [Line(row.strip())]


def _tail(rows: list[tuple[int, str]], number: int, indent: int, text: str) -> list[Line]:
    text = text.strip()
    if text in ("", "by", "?_", "_"):
        return []
    return _line([*rows[: number + 1], *rows[number + 1 :]], number, indent, text)


def _with_names(rows: list[tuple[int, str]], number: int, row: str) -> str:
    """Return ``cases h with`` or ``induction n with`` with the names of its cases after it."""
    names, level = dict[str, list[str]](), None
    for indent, other in rows[number + 1 :]:
        if not (branch := _BRANCH.fullmatch(other)):
            if level is not None and indent < level:
                break
            continue
        level = indent if level is None else level
        if indent < level:
            break
        if indent == level and branch[1] not in names:
            names[branch[1]] = branch[2].split()
    if "succ" in names:
        return f"{row} {' '.join(names['succ'])}".strip()
    if "inl" in names or "inr" in names:
        sides = (" ".join(names.get(side, [])) or "_" for side in ("inl", "inr"))
        return f"{row} {' | '.join(sides)}"
    for both in ("intro", "mk"):
        if len(names.get(both, [])) == 2:
            return f"{row} ⟨{', '.join(names[both])}⟩"
    return row.removesuffix("with").strip()


def apply_line(backend: ProofBackend, state: State, line: Line, case: str) -> tuple[State, str]:
    """Return the state after a line, and the case that the next line works on, if one is named."""
    if line.case:
        if line.case not in [goal.case for goal in state.goals]:
            raise ProofError(f"no goal is the case {line.case:.60}")
        return state, line.case
    return backend.apply(state, line.text, case), ""
