"""The dataset card: what the rows are, how they were made and how to make them again.

The card holds nothing that changes from run to run, so that it too comes out byte for byte the
same: no date, no host, no path of the machine.
"""

import hashlib
import json
import platform
import shlex
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from rlvr_envs.core.source import open_source
from rlvr_envs.core.task import IndexedTask
from rlvr_envs.core.version import __version__
from rlvr_envs.datasets.plan import Plan
from rlvr_envs.datasets.store import CARD, DATA, write_whole

_SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
)

_ABOUT = """\
Each row is one problem with its prompt, its hidden data and a reference answer; the row alone is
enough to judge a response: `rlvr_envs.verify(row, response)`, or `rlvr verify` on the command
line.
"""
_DISJOINT = (
    "- A question's split follows from its fingerprint, so that splits share no question, here or "
    "with other datasets cut in the same shares."
)
_FOREIGN = (
    "- Questions were read from files and not generated: the licence of those files holds for them."
)


def write_card(folder: Path, plan: Plan, manifest: Mapping[str, Any]) -> None:
    """Write the card of a finished dataset."""
    write_whole(folder / CARD, card(plan, manifest).encode())


def content_fingerprint(manifest: Mapping[str, Any]) -> str:
    """Return one digest of the names and contents of all files."""
    lines = sorted(f"{file['sha256']}  {file['name']}\n" for file in manifest["files"])
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def command(plan: Plan) -> str:
    """Return the command that makes this dataset again."""
    words = ["rlvr", "generate", *(f"{name}={count}" for name, count in plan.sources)]
    words += ["--seed", str(plan.seed), "--shard-rows", str(plan.shard_rows)]
    words += ["--format", plan.file_format]
    if plan.difficulty is not None:
        words += ["--difficulty", plan.difficulty]
    if len(plan.splits) > 1 or plan.splits[0][0] != "train":
        words += ["--split", ",".join(f"{name}={_number(share)}" for name, share in plan.splits)]
    for name, value in plan.knobs.items():
        words += ["--knob", f"{name}={json.dumps(value)}"]
    if plan.answer_format is not None:
        words += ["--answer-format", plan.answer_format]
    words += [] if plan.check else ["--no-check"]
    words += ["--allow-fewer"] if plan.allow_fewer else []
    for name, _ in plan.benchmarks:
        words += ["--decontaminate", name]
    words += ["--licence", plan.licence] if plan.licence else []
    words += ["--out", "DATASET"]
    return shlex.join(words)


def card(plan: Plan, manifest: Mapping[str, Any]) -> str:
    """Return the text of the card."""
    counts = {(split, task, level): n for split, task, level, n in manifest["counts"]}
    total = sum(counts.values())
    parts = [
        _header(plan, total),
        f"# Verifiable problems: {', '.join(name for name, _ in plan.sources)}\n",
        _ABOUT,
        f"## Provenance\n\n{_provenance(plan, manifest)}",
        f"## Counts\n\n{_counts(plan, counts)}",
        f"## How rows were chosen\n\n{_choice(plan, manifest)}",
    ]
    return "\n".join(parts)


def _header(plan: Plan, total: int) -> str:
    size = next((name for limit, name in _SIZES if total < limit), "n>1M")
    lines = ["---", f"license: {_licence(plan)}", "language:", "- en", "tags:"]
    lines += ["- rlvr", "- reinforcement-learning", "- verifiable-rewards"]
    lines += ["size_categories:", f"- {size}", "configs:", "- config_name: default"]
    lines += ["  data_files:"]
    for name, _ in plan.splits:
        lines += [f"  - split: {name}", f"    path: {DATA}/{name}-*.{plan.file_format}"]
    return "\n".join([*lines, "---", ""])


def _provenance(plan: Plan, manifest: Mapping[str, Any]) -> str:
    facts = {
        "package": f"rlvr-envs {__version__}",
        "command": f"`{command(plan)}`",
        "seed": plan.seed,
        "difficulty": plan.difficulty or "the defaults of each task",
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    if plan.file_format == "parquet":
        import pyarrow as arrow

        facts["pyarrow"] = arrow.__version__
    facts |= {
        "licence": _licence(plan),
        "files": len(manifest["files"]),
        "fingerprint of the contents": f"`{content_fingerprint(manifest)}`",
    }
    rows = "".join(f"| {name} | {value} |\n" for name, value in facts.items())
    return f"| fact | value |\n|---|---|\n{rows}"


def _counts(plan: Plan, counts: Mapping[tuple[str, str, int | None], int]) -> str:
    """Return a table of tasks by difficulties for each split."""
    return "\n".join(_table(name, counts) for name, _ in plan.splits)


def _table(split: str, counts: Mapping[tuple[str, str, int | None], int]) -> str:
    found = {(task, level): n for (name, task, level), n in counts.items() if name == split}
    tasks = sorted({task for task, _ in found})
    levels = sorted({level for _, level in found}, key=lambda level: -1 if level is None else level)
    names = ["default" if level is None else str(level) for level in levels]
    lines = [f"| {split}: task, difficulty | {' | '.join([*names, 'all'])} |"]
    lines.append("|---|" + "---:|" * (len(names) + 1))
    for task in tasks:
        cells = [found.get((task, level), 0) for level in levels]
        lines.append(f"| {task} | {' | '.join(map(str, [*cells, sum(cells)]))} |")
    sums = [sum(found.get((task, level), 0) for task in tasks) for level in levels]
    lines.append(f"| all | {' | '.join(map(str, [*sums, sum(sums)]))} |")
    return "\n".join(lines) + "\n"


def _choice(plan: Plan, manifest: Mapping[str, Any]) -> str:
    def total(key: str) -> int:
        return sum(int(cell[key]) for cell in manifest["cells"])

    repeated = f"{total('repeated')} repeated draws of {total('drawn')} were left out"
    checked = "judged correct before it was written" if plan.check else "not checked"
    lines = [
        f"- Questions are distinct by fingerprint: {repeated}.",
        _DISJOINT,
        f"- The oracle's answer of every row was {checked}.",
    ]
    if _foreign(plan):
        lines.append(_FOREIGN)
    if plan.benchmarks:
        lines.append(
            f"- {total('contaminated')} draws were left out because they equal a question of a "
            "benchmark or share 13 words in a row with one:"
        )
        lines += [f"  - `{name}` (sha256 `{digest}`)" for name, digest in plan.benchmarks]
    for cell, state in zip(plan.cells(), manifest["cells"], strict=True):
        if state["exhausted"]:
            lines.append(
                f"- {cell.source} at difficulty {cell.level} ran out of distinct problems: "
                f"{state['accepted']} of {cell.count}."
            )
    return "\n".join(lines) + "\n"


def _foreign(plan: Plan) -> bool:
    return any(
        issubclass(spec.task_type, IndexedTask)
        for name, _ in plan.sources
        for spec in open_source(name).specs
    )


def _licence(plan: Plan) -> str:
    """Return the licence: what the user says, else the package's own for what it generates."""
    return plan.licence or ("other" if _foreign(plan) else "apache-2.0")


def _number(share: Fraction) -> str:
    return f"{float(share):.10g}"
