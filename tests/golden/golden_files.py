"""The files of golden lines: one JSON Lines file a domain, one line a problem.

They are read, compared and added to here; a line that is there is never rewritten.
"""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Line = dict[str, Any]

KEYS = (
    *("id", "difficulty", "seed", "problem_seed", "prompt", "reference", "oracle", "near"),
    "first_prompt",  # in full, on the first line of a task
)
FULL = 80  # a reference of at most this many characters is stored in full
SHOWN = 160  # characters of a changed value in a message


def place(line: Line) -> tuple[str, int, int]:
    """Return what lines are sorted by; the rows of a file have no difficulty and come first."""
    difficulty = -1 if line["difficulty"] is None else line["difficulty"]
    return line["id"], difficulty, line["seed"]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def compact(reference: str | list[str]) -> str | list[str]:
    """Return a short reference as it is, a long one as a hash with its length."""
    if isinstance(reference, str):
        length, text, unit = len(reference), reference, "characters"
    else:
        text = json.dumps(reference, ensure_ascii=False)
        length, unit = len(reference), "actions"
    return reference if len(text) <= FULL else f"sha256 {digest(text)}, {length} {unit}"


def written(line: Line) -> str:
    """Return the line as it stands in a file."""
    return json.dumps({key: line[key] for key in KEYS if key in line}, ensure_ascii=False)


def read(path: Path) -> list[Line]:
    """Return the lines of a file, none if there is no file."""
    if not path.exists():
        return []
    return [json.loads(text) for text in path.read_text(encoding="utf-8").split("\n") if text]


def add(path: Path, task_id: str, lines: Iterable[Line]) -> None:
    """Write the lines of a task that has none, and leave all other lines as they are.

    Raises:
        ValueError: the task has lines.
    """
    stored = read(path)
    if any(line["id"] == task_id for line in stored):
        raise ValueError(f"{path.name} has lines of {task_id}: delete them to write new ones")
    text = "".join(written(line) + "\n" for line in sorted([*stored, *lines], key=place))
    # A run that is stopped must not leave half a file.
    new = path.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def differences(stored: list[Line], now: list[Line]) -> str:
    """Return in words how the first line that differs was and is; nothing if none does."""
    was, here = ({place(line): line for line in lines} for lines in (stored, now))
    differing = [key for key in sorted({*was, *here}) if was.get(key) != here.get(key)]
    if not differing:
        return ""
    first = differing[0]
    found = [
        f"{len(differing)} of {len({*was, *here})} lines differ; the first is {first[0]}, {_where(first)}:"
    ]
    if first not in here:
        found.append("  it is stored, and no such problem is drawn now")
    elif first not in was:
        found.append("  it is not stored")
    else:
        old, new = was[first], here[first]
        for key in KEYS:
            if old.get(key) != new.get(key):
                found += [f"  {key}", *_both(old.get(key), new.get(key))]
    return "\n".join(found)


def _where(key: tuple[str, int, int]) -> str:
    return f"seed {key[2]}" if key[1] < 0 else f"difficulty {key[1]}, seed {key[2]}"


def _both(old: object, new: object) -> list[str]:
    """Return both values, cut to where they begin to differ."""
    texts = [json.dumps(value, ensure_ascii=False) for value in (old, new)]
    signs = enumerate(zip(*texts, strict=False))
    same = next((i for i, (a, b) in signs if a != b), min(map(len, texts)))
    begin = max(0, same - SHOWN // 2) if max(map(len, texts)) > SHOWN else 0
    was, here = (("..." if begin else "") + text[begin : begin + SHOWN] for text in texts)
    return [f"    stored: {was}", f"    now:    {here}"]
