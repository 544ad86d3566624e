"""What several subcommands need: reading difficulties and knobs, and plain tables."""

import argparse
import json
from collections.abc import Sequence
from typing import Any

from rlvr_envs.core.errors import ConfigError


def difficulty(text: str) -> int | tuple[int, int]:
    """Read ``"3"`` or ``"0-5"``."""
    low, dash, high = text.partition("-")
    try:
        return (int(low), int(high)) if dash else int(low)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"a difficulty is a number such as 3, or a range such as 0-5, got {text!r}"
        ) from None


def knobs(pairs: Sequence[str]) -> dict[str, Any]:
    """Read ``["n_items=12", "kind=hard"]``; values are JSON where they can be, else text."""
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise ConfigError(f"a knob is set as name=value, got {pair!r}")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows as text with aligned columns."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in [header, *rows]
    ]
    return "\n".join(lines)
