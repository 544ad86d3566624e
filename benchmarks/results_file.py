"""Where benchmarks store what they measured: a summary to read and quote, raw samples beside it.

`results/NAME.json` is kept in git: about 60 lines that say what was measured, on what, with which
versions, by which command and when, and the figures. `results/NAME.raw.json` has the samples that
the figures are of; git ignores it.
"""

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import shlex
import sys
from pathlib import Path
from typing import Any

import rlvr_envs

RESULTS = Path(__file__).resolve().parent / "results"
WIDTH = 180  # characters of a line, if its values can be put on several

Json = dict[str, Any]


def parser(doc: str | None, name: str) -> argparse.ArgumentParser:
    """Return a parser with the first line of a module's text and the option ``--out``."""
    found = argparse.ArgumentParser(description=(doc or "").splitlines()[0])
    found.add_argument(
        "--out",
        type=Path,
        metavar="FILE.json",
        help="where the summary goes, and FILE.raw.json beside it; a whole run goes to "
        f"benchmarks/results/{name}.json by default",
    )
    found.set_defaults(name=name)
    return found


def store(
    args: argparse.Namespace,
    head: Json,
    figures: Json,
    raw: Any,
    *,
    whole: bool = True,
) -> None:
    """Write the summary and the raw samples; a part of a benchmark only where ``--out`` says."""
    out = args.out or (RESULTS / f"{args.name}.json" if whole else None)
    if out is None:
        print("not stored: a part alone is stored where --out says", file=sys.stderr)
        return
    write(out, head | {"figures": figures})
    text = json.dumps(head | {"samples": raw}) + "\n"
    raw_file(out).write_text(text, encoding="utf-8")
    print(f"stored: {out} and {raw_file(out).name}", file=sys.stderr)


def raw_file(out: Path) -> Path:
    """Return where the raw samples of a summary are."""
    return out.with_suffix(".raw.json")


def write(out: Path, summary: Json) -> None:
    """Write a summary."""
    out.parent.mkdir(parents=True, exist_ok=True)
    plain = json.loads(json.dumps(summary))  # whose tuples are lists
    out.write_text(as_text(plain) + "\n", encoding="utf-8")


def head(measured: str, *packages: str, gpu: str = "", **more: Any) -> Json:
    """Return what a summary begins with: what was measured, on what, with what, how and when.

    Args:
        measured: in a sentence.
        packages: whose versions matter.
        gpu: its name, if there is one at work.
        more: fields that only this benchmark has.
    """
    return {
        "measured": measured,
        "device": device(gpu),
        "versions": versions(*packages),
        "command": command(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        **more,
    }


def device(gpu: str = "") -> Json:
    """Return what the numbers were measured on, and how busy it is."""
    found: Json = {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "system": f"{platform.system()} {platform.machine()}",
        "load": round(os.getloadavg()[0], 1),
    }
    return found | ({"gpu": gpu} if gpu else {})


def processor() -> str:
    """Return the processor's name."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.exists() else []
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


def versions(*packages: str) -> Json:
    """Return the versions of Python, of this package and of others, None where one is missing."""
    found: Json = {"python": platform.python_version(), "rlvr_envs": rlvr_envs.__version__}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = None
    return found


def command() -> str:
    """Return the command that runs, with the names alone of files elsewhere on this machine."""
    words = (word if not Path(word).is_absolute() else Path(word).name for word in sys.argv[1:])
    return shlex.join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *words])


def table(rows: dict[str, Json]) -> Json:
    """Return rows as lists under the names of their columns, None where a row lacks one."""
    columns = list(dict.fromkeys(name for row in rows.values() for name in row))
    told = {name: [row.get(column) for column in columns] for name, row in rows.items()}
    return {"columns": columns, "rows": told}


def rows_of(found: Json) -> dict[str, Json]:
    """Return the rows of a table as mappings again."""
    columns = found["columns"]
    return {name: dict(zip(columns, row, strict=True)) for name, row in found["rows"].items()}


def as_text(value: Any, depth: int = 0, used: int = 0) -> str:
    """Return JSON in which whatever fits stands on one line, and else every entry on its own.

    Args:
        value: to be written.
        depth: of its entries.
        used: characters that stand before it on its line.
    """
    flat = json.dumps(value, ensure_ascii=False)
    if not value or not isinstance(value, dict | list):
        return flat
    if depth and used + len(flat) <= WIDTH:  # every field of a file has a line of its own
        return flat
    margin = " " * (depth + 1)
    if isinstance(value, list):
        opening, closing, names, values = "[", "]", [""] * len(value), value
    else:
        opening, closing, values = "{", "}", list(value.values())
        names = [f"{json.dumps(name, ensure_ascii=False)}: " for name in value]
    entries = [
        name + as_text(each, depth + 1, depth + 2 + len(name))
        for name, each in zip(names, values, strict=True)
    ]
    if depth and not any(isinstance(each, dict | list) for each in values):
        entries = filled(entries)
    return f"{opening}\n{margin}" + f",\n{margin}".join(entries) + f"\n{' ' * depth}{closing}"


def filled(entries: list[str]) -> list[str]:
    """Return lines of several short entries each."""
    lines: list[str] = []
    for entry in entries:
        if lines and len(lines[-1]) + len(entry) < WIDTH - 10:
            lines[-1] += f", {entry}"
        else:
            lines.append(entry)
    return lines
