"""Write docs/papers.md, what of each paper is here, from papers.toml beside this script."""

import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
ROWS = ROOT / "scripts" / "papers.toml"
PAGE = ROOT / "docs" / "papers.md"
BUILT = {
    "exact": "what the paper defines, as far as that is public",
    "reduced": "a part of it, or another form",
    "interface": "a place for it, with an example",
    "no": "not built",
}
PARTS = {
    "environments": "Environments and verifiers",
    "rewards": "Rewards and wrappers",
    "curricula": "Curricula and sampling",
    "optimisation": "Policy optimisation",
}

HEAD = ("| paper | here | what | try it | test |", "| --- | --- | --- | --- | --- |")

Row = Mapping[str, Any]


def main() -> None:
    """Write the page anew."""
    PAGE.write_text(page(tomllib.loads(ROWS.read_text("utf-8"))), encoding="utf-8")


def page(papers: Mapping[str, list[Row]]) -> str:
    """Return the page: what the words mean, how many there are, and a table for each part."""
    counts = {part: Counter(row["built"] for row in rows) for part, rows in papers.items()}
    total = sum(map(len, papers.values()))
    lines = [
        "# Papers",
        "",
        f"What of {total} papers on reinforcement learning with verifiable rewards is here.",
        "Each row names the test of its defining behaviour.",
        "",
        *(f"- **{word}**: {meaning}" for word, meaning in BUILT.items()),
        "",
        f"| | {' | '.join(BUILT)} |",
        f"| --- |{' --- |' * len(BUILT)}",
        *(
            f"| {PARTS[part]} | {' | '.join(str(counts[part][word]) for word in BUILT)} |"
            for part in PARTS
        ),
    ]
    for part, heading in PARTS.items():
        lines += ["", f"## {heading}", "", *HEAD]
        lines += map(_row, papers[part])
    return "\n".join(lines) + "\n"


def _row(row: Row) -> str:
    what = row.get("what", "")
    but = f"{'; but ' if what else ''}{row['but']}" if row.get("but") else ""
    name, title = row["name"], row["title"]
    paper = f"**{name}**{title.removeprefix(name) if title.startswith(name) else f': {title}'}"
    tried = "<br>".join(f"`{command(use)}`" for use in row.get("uses", ()))
    test = f"`{row['test'].removeprefix('tests/')}`" if "test" in row else ""
    cells = (paper, row["built"], what + but, tried, test)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def command(use: str) -> str:
    """Return the command that runs what a row uses, or the name of what is imported."""
    kind, _, name = use.rpartition(":")
    if kind == "preset":
        return f"rlvr train {name}"
    if kind in ("curriculum", "wrapper"):
        return f"rlvr train --{'curriculum' if kind == 'curriculum' else 'wrappers'} {name}"
    return f"rlvr show {name}" if name.endswith("-v0") else name


if __name__ == "__main__":
    main()
