"""Two small charts of measured difficulty levels, as SVG that suits light and dark pages."""

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 340, 170, 58, 26, 30
EFFORT, SUCCESS = "#3b6fd4", "#c2571a"


def charts(levels: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the chart of effort, and beside it that of the baseline's success if there is one."""
    rows = [(int(level), row) for level, row in levels.items() if "effort" in row]
    rows.sort(key=lambda item: item[0])
    found = []
    if any(row["effort"] > 0 for _, row in rows):
        found.append(
            _chart("effort (mean, logarithmic)", _points(rows, "effort"), EFFORT, log=True)
        )
    if all(row["baseline"] is not None for _, row in rows):
        success = _points(rows, "solved")
        found.append(_chart("solved by the simple baseline", success, SUCCESS, log=False))
    return f'<p class="levels">{"".join(found)}</p>' if found else ""


def _points(rows: Sequence[tuple[int, Mapping[str, Any]]], name: str) -> list[tuple[int, float]]:
    return [(level, float(row[name])) for level, row in rows]


def _chart(title: str, points: list[tuple[int, float]], colour: str, *, log: bool) -> str:
    low, high = _range([value for _, value in points], log=log)
    right, bottom = WIDTH - 12, HEIGHT - BOTTOM
    first, last = points[0][0], points[-1][0]

    def x(level: float) -> float:
        return LEFT + (level - first) / (last - first) * (right - LEFT)

    def y(value: float) -> float:
        if log:
            value, least, most = (math.log10(max(v, 0.1)) for v in (value, low, high))
        else:
            least, most = low, high
        return bottom - (value - least) / (most - least) * (bottom - TOP)

    parts = [
        (
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img" '
            f'aria-label="{html.escape(title)}" font-size="11" fill="currentColor">'
        ),
        f'<text x="{LEFT}" y="14" font-weight="bold">{html.escape(title)}</text>',
    ]
    for tick in _ticks(low, high, log=log):
        at = f"{y(tick):.1f}"
        parts.append(
            f'<line x1="{LEFT}" x2="{right}" y1="{at}" y2="{at}" stroke="currentColor" '
            f'opacity="0.15"/><text x="{LEFT - 6}" y="{at}" dy="4" text-anchor="end">'
            f"{_label(tick)}</text>"
        )
    for level, _ in points:
        parts.append(
            f'<text x="{x(level):.1f}" y="{bottom + 15}" text-anchor="middle">{level}</text>'
        )
    parts.append(
        f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 2}" text-anchor="middle">difficulty</text>'
    )
    line = " ".join(f"{x(level):.1f},{y(value):.1f}" for level, value in points)
    parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
    parts += [
        f'<circle cx="{x(level):.1f}" cy="{y(value):.1f}" r="3" fill="{colour}"/>'
        for level, value in points
    ]
    return "".join([*parts, "</svg>"])


def _range(values: list[float], *, log: bool) -> tuple[float, float]:
    if not log:
        return 0.0, 1.0
    low = 10 ** math.floor(math.log10(max(min(values), 0.1)))
    high = 10 ** math.ceil(math.log10(max(*values, 1.0)))
    return low, high if high > low else low * 10


def _ticks(low: float, high: float, *, log: bool) -> list[float]:
    if not log:
        return [0.0, 0.5, 1.0]
    first, last = round(math.log10(low)), round(math.log10(high))
    step = max(1, (last - first) // 3)
    return [10.0**power for power in range(first, last + 1, step)]


def _label(value: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"
