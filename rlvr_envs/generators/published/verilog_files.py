"""Files and folders of Verilog problems: which can be posed, and why the others cannot."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rlvr_envs.core.errors import ConfigError, SandboxError
from rlvr_envs.core.tables import Entry, Refused, RowFile, entries, json_entries, read_rows
from rlvr_envs.generators.published.verilog_references import Unusable, judged_by
from rlvr_envs.generators.published.verilog_rows import NotARow, VerilogRow, read_row
from rlvr_envs.verifiers.hdl.source import MOST_CHARACTERS

_TOLD = ("detail_description", "simple_description", "description")
# What RTLLM and those after it call a reference and a testbench; beside them are answers of models.
_VERIFIED = ("verified_*.v", "verified_*.sv", "verified.v", "*_ref.v", "*_ref.sv", "reference.v")
_TESTBENCHES = ("testbench.v", "testbench.sv")
_NO_PROOF = (
    "it holds a testbench and no reference, and passing a testbench is no proof, which "
    "accept_bounded=False asks for"
)


def load(
    path: Path, *, descriptions: Path | None, check: bool, bounded: bool = True
) -> RowFile[VerilogRow]:
    """Return what a file or a folder holds.

    Args:
        path: JSONL, JSON (a list of objects), Parquet, or a folder of VerilogEval or RTLLM.
        descriptions: a file of what is asked, for VerilogEval 1.
        check: whether each reference is elaborated now, and each testbench run, and refused if it
            cannot be.
        bounded: whether rows are posed that have a testbench and no reference.

    Raises:
        ConfigError: a line cannot be read, or there are no rows.
    """
    told = {} if descriptions is None else _descriptions(descriptions)

    def pose(entry: Entry) -> VerilogRow | Refused:
        try:
            return _usable(read_row(entry.data, told), check=check, bounded=bounded)
        except (NotARow, Unusable, ConfigError, KeyError, TypeError, ValueError) as error:
            plain = isinstance(error, NotARow | Unusable | ConfigError)
            return Refused(entry.place, str(error) if plain else repr(error))
        except SandboxError as error:
            reason = f"the machine could not check it, now at least: {error}"
            return Refused(entry.place, reason, passing=True)

    return read_rows(path, _entries(path), pose)


def _usable(row: VerilogRow, *, check: bool, bounded: bool) -> VerilogRow:
    if len(row.reference) > MOST_CHARACTERS:
        raise NotARow(f"its reference has more than {MOST_CHARACTERS} characters")
    texts = row.statement + row.reference + row.testbench
    texts.encode()  # half a surrogate pair is no character: the error refuses the row
    if not row.reference and not bounded:
        raise NotARow(_NO_PROOF)
    if not check:
        return row
    return judged_by(row if bounded else replace(row, testbench=""))


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
    if path.suffix == ".json":
        return json_entries(path, grouped=True)  # ResBench has categories of problems
    return entries(path)


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
        for column, names in (("verified", _VERIFIED), ("testbench", _TESTBENCHES)):
            found = sorted({file for name in names for file in asked.parent.glob(name)})
            if len(found) == 1:
                data[column] = _read(found[0])
        yield Entry(str(asked), data)


def _read(path: Path) -> str:
    return path.read_text("utf-8", errors="replace")
