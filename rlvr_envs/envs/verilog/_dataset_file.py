"""Files and folders of Verilog problems: which can be posed, and why the others cannot."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.tables import Entry, entries
from rlvr_envs.envs.verilog._dataset_layouts import NotARow, VerilogRow, read_row
from rlvr_envs.envs.verilog._dataset_reference import Unusable, check_row
from rlvr_envs.verifiers.hdl.source import MOST_CHARACTERS

_SHOWN = 3  # refused rows that an error quotes
_TOLD = ("detail_description", "simple_description", "description")


@dataclass(frozen=True, slots=True)
class Refused:
    """A row that cannot be posed, and why."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class VerilogFile:
    """What a file holds: the rows that can be posed, and those that cannot."""

    rows: tuple[VerilogRow, ...]
    refused: tuple[Refused, ...]

    def complaint(self) -> str:
        """Return a sentence about the refused rows."""
        shown = "; ".join(f"{row.place}: {row.reason:.300}" for row in self.refused[:_SHOWN])
        more = len(self.refused) - _SHOWN
        return shown + (f"; and {more} more" if more > 0 else "")


_NO_PROOF = (
    "it holds a testbench and no reference, and passing a testbench is no proof, which "
    "accept_bounded=False asks for"
)


def load(
    path: Path, *, descriptions: Path | None, check: bool, bounded: bool = True
) -> VerilogFile:
    """Return what a file or a folder holds, from a cache while it has not changed.

    Args:
        path: JSONL, JSON (a list of objects), Parquet, or a folder of VerilogEval or RTLLM.
        descriptions: a file of what is asked, for VerilogEval 1.
        check: whether each reference is elaborated now, and each testbench run, and refused if it
            cannot be.
        bounded: whether rows are posed that have a testbench and no reference.

    Raises:
        ConfigError: there is no such file, a line cannot be read, or there are no rows.
    """
    for file in filter(None, (path, descriptions)):
        if not file.exists():
            raise ConfigError(f"VerilogDataset: there is no file {str(file)!r}")
    state = path.stat()
    return _load(path, descriptions, check, bounded, (state.st_mtime_ns, state.st_size))


@lru_cache(maxsize=8)
def _load(
    path: Path, descriptions: Path | None, check: bool, bounded: bool, state: tuple[int, int]
) -> VerilogFile:
    rows: list[VerilogRow] = []
    refused: list[Refused] = []
    told = {} if descriptions is None else _descriptions(descriptions)
    for entry in _entries(path):
        if entry.fault:
            raise ConfigError(f"{entry.place}: {entry.fault}")
        try:
            row = read_row(entry.data, told)
            if len(row.reference) > MOST_CHARACTERS:
                raise NotARow(f"its reference has more than {MOST_CHARACTERS} characters")  # noqa: TRY301
            if row.testbench and not bounded:
                raise NotARow(_NO_PROOF)  # noqa: TRY301
            (
                row.statement + row.reference + row.testbench
            ).encode()  # half a surrogate pair is no character
            if check:
                check_row(row)
            rows.append(row)
        except (NotARow, Unusable, ConfigError, KeyError, TypeError, ValueError) as error:
            plain = isinstance(error, NotARow | Unusable | ConfigError)
            refused.append(Refused(entry.place, str(error) if plain else repr(error)))
    if not rows and not refused:
        raise ConfigError(f"{str(path)!r} holds no rows")
    return VerilogFile(tuple(rows), tuple(refused))


def _descriptions(path: Path) -> dict[str, str]:
    """Return what is asked in each task."""
    found = {}
    for entry in _entries(path):
        text = next((entry.data[key] for key in _TOLD if entry.data.get(key)), None)
        if entry.fault or not isinstance(text, str) or "task_id" not in entry.data:
            told = entry.fault or f"it needs 'task_id' and one of {', '.join(_TOLD)}"
            raise ConfigError(f"{entry.place}: {told}")
        found[str(entry.data["task_id"])] = text
    return found


def _entries(path: Path) -> Iterator[Entry]:
    if path.is_dir():
        return _folder(path)
    return _json_entries(path) if path.suffix == ".json" else entries(path)


def _json_entries(path: Path) -> Iterator[Entry]:
    try:
        data = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{str(path)!r} is not JSON: {error}") from error
    if isinstance(data, dict):  # as ResBench has it: category → problems
        data = [row for rows in data.values() if isinstance(rows, list) for row in rows]
    if not isinstance(data, list):
        raise ConfigError(f"{str(path)!r} holds no list of rows; JSONL needs the suffix .jsonl")
    for number, row in enumerate(data):
        fits = isinstance(row, dict)
        fault = "" if fits else f"expected a JSON object, got {row!r:.80}"
        yield Entry(f"{path} row {number}", row if fits else {}, fault)


def _folder(path: Path) -> Iterator[Entry]:
    """Return the problems of a checkout of VerilogEval 2 or of RTLLM, in the order of names."""
    for asked in sorted(path.rglob("*_prompt.txt")):
        name = asked.name.removesuffix("_prompt.txt")
        data = {"task_id": name, "prompt": _read(asked)}
        for column, end in (("ref", "_ref.sv"), ("test", "_test.sv")):
            file = asked.with_name(name + end)
            if file.is_file():
                data[column] = _read(file)
        yield Entry(str(asked), data)
    for asked in sorted(path.rglob("design_description.txt")):
        data = {"name": asked.parent.name, "design_description": _read(asked)}
        found = sorted(asked.parent.glob("verified_*.v"))
        if len(found) == 1:
            data["verified"] = _read(found[0])
        if (asked.parent / "testbench.v").is_file():
            data["testbench"] = _read(asked.parent / "testbench.v")
        yield Entry(str(asked), data)


def _read(path: Path) -> str:
    return path.read_text("utf-8", errors="replace")
