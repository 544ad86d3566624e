"""A page of HTML that needs nothing else, no network either: its frame, its parts, its figures."""

import base64
import hashlib
import html
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from rlvr_envs.core.errors import ConfigError, DependencyError
from rlvr_envs.core.extras import hint


def require_plotly() -> None:
    """Check that the package for plots is there.

    Raises:
        DependencyError: it is not.
    """
    try:
        import plotly  # noqa: F401 - only whether it is there
    except ImportError as error:
        raise DependencyError(
            f"the report page needs plotly: {hint('report', 'plotly')}"
        ) from error


def mark_of(runs: Iterable[Path]) -> str:
    """Return what a page holds to say which runs it was made of: a digest of their folders."""
    folders = sorted({str(run.resolve()) for run in runs})
    return "runs-" + hashlib.sha256("\0".join(folders).encode(errors="replace")).hexdigest()[:32]


def check_replaceable(file: Path, mark: str) -> None:
    """Check that nothing else is lost where a page is written: it is new, or of the same runs.

    Raises:
        ConfigError: the file is of other runs, or something else.
    """
    if file.exists() and (not file.is_file() or mark.encode() not in file.read_bytes()):
        raise ConfigError(
            f"{str(file)!r} is there already, and was not made of these runs: choose another "
            "--out, or replace it by --force"
        )


def document(title: str, body: str) -> str:
    """Return the whole page around a body of HTML."""
    from plotly.offline import get_plotlyjs

    plotly = get_plotlyjs()
    css = files("rlvr_envs.evaluation").joinpath("report.css").read_text(encoding="utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(plotly, DRAW)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>\n{css}</style>\n"
        f"<script>{plotly}</script>\n</head>\n<body>\n<main>\n"
        f"<h1>{html.escape(title)}</h1>{body}</main>\n"
        f"<script>{DRAW}</script>\n</body>\n</html>\n"
    )


def _policy(*scripts: str) -> str:
    """Return what a page may do: run these scripts and no other, and load nothing from anywhere.

    Plots are styled where they stand and saved as images by way of data and blob addresses.
    """
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    allowed = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def facts(named: dict[str, object]) -> str:
    """Return a line of facts, each with its name."""
    items = (f"{html.escape(name)} <b>{html.escape(str(v))}</b>" for name, v in named.items())
    return f'<p class="facts">{" · ".join(items)}</p>\n'


def heading(title: str, note: str) -> str:
    """Return a title with what a reader has to know."""
    return f'<h2>{html.escape(title)}</h2>\n<p class="note">{html.escape(note)}</p>\n'


def section(title: str, note: str, plot: str) -> str:
    """Return a plot under its title."""
    return f'{heading(title, note)}<div class="card plot">{plot}</div>\n'


def grid(title: str, note: str, plots: dict[str, str]) -> str:
    """Return plots side by side where there is room, each with its name."""
    cards = "".join(
        f'<div class="card"><h3>{html.escape(name)}</h3>{plot}</div>'
        for name, plot in plots.items()
    )
    return f'{heading(title, note)}<div class="plots">{cards}</div>\n'


def table(header: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 1) -> str:
    """Return a table of texts; the columns after the first ``texts`` ones are flush right."""

    def line(tag: str, cells: Sequence[str]) -> str:
        inside = (
            f'<{tag} class="{"text" if place < texts else "number"}">{html.escape(cell)}</{tag}>'
            for place, cell in enumerate(cells)
        )
        return f"<tr>{''.join(inside)}</tr>"

    body = "".join(line("td", row) for row in rows)
    return (
        f'<div class="card scroll"><table><thead>{line("th", header)}</thead>'
        f"<tbody>{body}</tbody></table></div>\n"
    )


def folded(title: str, note: str, inside: str) -> str:
    """Return HTML that a click on its title unfolds."""
    return (
        f"<details><summary>{html.escape(title)} <span>{html.escape(note)}</span></summary>"
        f'<div class="episodes">{inside}</div></details>\n'
    )


def placed(figure: Any) -> str:
    """Return a figure of plotly for `DRAW` to draw.

    The data waits in a script element of its own, in which no text can end the element.
    """
    data = figure.to_json().replace("<", "\\u003c")
    return (
        f'<div class="figure" style="height:{figure.layout.height}px">'
        f'<script type="application/json">{data}</script></div>'
    )


# Draws when the page is laid out: a plot takes the width that its card has at that time, and the
# page's colours, which are others in the dark. What is folded has no width until it is unfolded.
DRAW = """
const figures = [...document.querySelectorAll(".figure")].map(place =>
  [place, JSON.parse(place.firstElementChild.textContent)]);
const folded = place => place.closest("details:not([open])");
function draw() {
  const style = getComputedStyle(document.documentElement), clear = "rgba(0,0,0,0)";
  const [ink, line] = ["--ink", "--line"].map(name => style.getPropertyValue(name).trim());
  const tint = axis => ({...axis, gridcolor: line, linecolor: line, zerolinecolor: line});
  for (const [place, {data, layout}] of figures.filter(([place]) => !folded(place))) {
    const own = {...layout, paper_bgcolor: clear, plot_bgcolor: clear};
    own.font = {...layout.font, color: ink};
    for (const name of Object.keys(layout).filter(name => /^[xy]axis/.test(name)))
      own[name] = tint(layout[name]);
    if (layout.polar) {
      const {radialaxis, angularaxis} = layout.polar;
      own.polar = {...layout.polar, bgcolor: clear};
      own.polar.radialaxis = tint(radialaxis);
      own.polar.angularaxis = tint(angularaxis);
    }
    Plotly.react(place, data, own, {responsive: true, displayModeBar: false});
  }
}
draw();
document.addEventListener("toggle", event => event.target.open && draw(), true);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
"""
