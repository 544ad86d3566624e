"""Write the tables of docs/algorithms.md: presets from the registry, and what was measured."""

import json
from pathlib import Path
from typing import Any

from rlvr_envs.agents.grpo.plugins import aggregation, estimator, loss
from rlvr_envs.agents.grpo.presets import recipes

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "algorithms.md"
MEASURED = ROOT / "benchmarks" / "results" / "grpo_mechanisms.json"


def main() -> None:
    """Write the page anew, with what stands around its tables."""
    PAGE.write_text(page(PAGE.read_text("utf-8")), encoding="utf-8")


def page(text: str) -> str:
    """Return a page with its tables made anew, each between two marks that name it."""
    for name, lines in {
        "presets": presets(),
        "plug-ins": plugins(),
        "mechanisms": mechanisms(),
    }.items():
        before, _, rest = text.partition(f"<!-- {name} -->\n")
        _, _, after = rest.partition(f"<!-- end of {name} -->\n")
        table = "\n".join(lines)
        text = f"{before}<!-- {name} -->\n\n{table}\n\n<!-- end of {name} -->\n{after}"
    return text


def presets() -> list[str]:
    """Return a row for each preset."""
    rows = ["| preset | paper | settings | what differs |", "| --- | --- | --- | --- |"]
    for each in recipes():
        told = ", ".join(f"{name} {_short(value)}" for name, value in each.settings.items())
        rows.append(f"| `{each.name}` | {each.paper} | {told} | {each.differs} |")
    return rows


def plugins() -> list[str]:
    """Return a row for each estimator, loss and aggregation."""
    rows = ["| kind | name and settings | what it returns |", "| --- | --- | --- |"]
    for registry in (estimator, loss, aggregation):
        for plugin in registry:
            told, _, first = plugin.help.rpartition(": ")
            if plugin.settings:
                told, _, first = plugin.help.partition("): ")
                told += ")"
            rows.append(f"| {registry.kind} | `{told.replace('|', chr(92) + '|')}` | {first} |")
    return rows


def mechanisms() -> list[str]:
    """Return a row for each preset that was measured."""
    found = json.loads(MEASURED.read_text("utf-8"))["figures"]
    columns = found["columns"]
    rows = [
        "| preset | an update | ratio not 1 | clipped | greatest ratio | nearest | cosine |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, values in found["rows"].items():
        row: dict[str, Any] = dict(zip(columns, values, strict=True))
        cells = [f"`{name}`", *(str(row[column]) for column in columns[:4])]
        rows.append(f"| {' | '.join(cells)} | `{row['nearest']}` | {row['cosine']} |")
    return rows


def _short(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(map(_short, value))
    return f"`{value}`"


if __name__ == "__main__":
    main()
