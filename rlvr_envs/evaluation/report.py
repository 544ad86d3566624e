"""The report of a run: one page of HTML that needs nothing else, no network either."""

import html
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from textwrap import indent
from typing import Any

from rlvr_envs.core.errors import UsageError
from rlvr_envs.core.files import replaced
from rlvr_envs.evaluation.metrics import Estimate
from rlvr_envs.evaluation.page import (
    document,
    facts,
    folded,
    grid,
    heading,
    require_plotly,
    section,
    table,
)
from rlvr_envs.evaluation.plan import Plan
from rlvr_envs.evaluation.report_plots import STATUS_COLOURS, Plots, short
from rlvr_envs.evaluation.report_samples import Sample, pick_samples
from rlvr_envs.evaluation.runner import Evaluation, versions
from rlvr_envs.evaluation.store import EPISODES, REPORT
from rlvr_envs.evaluation.summary import Group, Summary
from rlvr_envs.evaluation.table import (
    estimate_text,
    rating_notes,
    rating_tables,
    too_few_text,
)
from rlvr_envs.evaluation.usage import cost

# Longer texts are cut in the page; they are whole in episodes.jsonl.
MAX_TEXT_CHARS = 6000

# Up to so many ids, the title names them.
_FEW_IDS = 3

_escape = html.escape


def write_report(done: Evaluation, *, price: tuple[float, float] | None = None) -> Path:
    """Write ``report.html`` into the folder of a run and return its path.

    Args:
        done: the evaluation.
        price: dollars for a million tokens read and for a million written; None leaves out what
            the tokens cost.

    Raises:
        DependencyError: plotly is missing.
        UsageError: the run has no folder, so its texts were not kept.
    """
    require_plotly()
    if done.folder is None:
        raise UsageError("a report shows responses, which only a run with a folder keeps: set out")
    samples = pick_samples(done.folder / EPISODES, done.plan)
    path = done.folder / REPORT
    with replaced(path) as file:
        # A lone surrogate, which a response may hold, has no place in UTF-8.
        file.write(page(done, samples, price=price).encode("utf-8", "replace"))
    return path


def page(
    done: Evaluation, samples: Iterable[Sample], *, price: tuple[float, float] | None = None
) -> str:
    """Return the whole page; for the price see `write_report`."""
    summary = done.summary
    ids = done.plan.ids
    body = (
        _facts(done),
        _tiles(summary, price),
        _ratings(done),
        _plots(summary),
        _metrics_table(summary),
        _by_domain(summary),
        _comparisons(summary),
        _samples(samples, summary),
        _config(done),
    )
    title = f"Evaluation of {', '.join(ids) if len(ids) <= _FEW_IDS else f'{len(ids)} tasks'}"
    return document(title, "".join(body))


def _facts(done: Evaluation) -> str:
    plan = done.plan
    return facts(
        {
            "tasks": len({record["task"] for record in done.records}),
            "difficulties": _levels(plan),
            "problems each": plan.episodes,
            "samples each": plan.samples,
            "shots": plan.shots,
            "seed": plan.seed,
            "episodes": len(done.records),
        }
    )


def _ratings(done: Evaluation) -> str:
    if done.ratings is None:
        return ""
    tables = (table(each.header, each.rows) for each in rating_tables(done.ratings))
    return heading("Ratings", " ".join(rating_notes(done.ratings))) + "".join(tables)


def _levels(plan: Plan) -> str:
    return ", ".join("default" if level is None else str(level) for level in plan.difficulties)


def _tiles(summary: Summary, price: tuple[float, float] | None) -> str:
    plots = Plots(summary)
    tiles = []
    for group in summary["overall"]:
        score, policy = group.score, str(group.by["policy"])
        mean = "–" if score.mean is None else f"{score.mean:.3f}"
        interval = "" if score.low is None else f"95 % CI {score.low:.3f} to {score.high:.3f}"
        lines = [interval, f"solved {_number(group.solved)}"]
        if summary.samples > 1 and summary.samples in group.pass_at:
            lines[-1] += f" · pass@{summary.samples} {_number(group.pass_at[summary.samples])}"
        if group.feasible is not None:
            lines.append(f"SR {_number(group.feasible)} · AR {_number(group.ratio)}")
        if group.unscored:
            lines.append(f"{group.unscored} of {group.episodes} episodes unscored")
        if group.undecided:
            lines.append(f"{group.undecided} answers undecided")
        if group.cut_short:
            lines.append(f"{group.cut_short} responses cut at the token limit")
        if group.tokens is not None:
            read = "" if group.prompt_tokens is None else f"{group.prompt_tokens:,} tokens in · "
            lines.append(f"{read}{group.tokens:,} tokens out")
        if price and (dollars := cost(group.prompt_tokens, group.tokens, price)) is not None:
            lines.append(f"${dollars:.4f} at ${price[0]:g} in and ${price[1]:g} out a million")
        if group.retries:
            lines.append(f"{group.retries} requests tried again, {group.waited_s:.0f} s of waiting")
        small = "".join(f"<small>{_escape(line)}</small>" for line in lines if line)
        tiles.append(
            f'<div class="card tile" style="--colour:{plots.colour(policy)}">'
            f'<div class="name">{_escape(policy)}</div><div class="big">{mean}</div>{small}</div>'
        )
    return f'<div class="tiles">{"".join(tiles)}</div>\n'


def _plots(summary: Summary) -> str:
    by = "domain" if summary.is_wide else "task"
    parts = _sections(Plots(summary, by), by)
    if summary.samples > 2:
        note = "Chance that one of k samples is right (lines), and score of the majority (dashed)."
        parts.append(section("More samples", note, Plots(summary).samples()))
    return "".join(parts)


def _sections(plots: Plots, by: str) -> list[str]:
    """Return the plots whose rows are tasks or domains."""
    several_levels = len(plots.levels) > 1
    parts = [
        section(f"Score by {by}", "Mean score with its 95 % confidence interval.", plots.scores())
    ]
    if several_levels:
        note = "Mean score along the difficulty levels; the bands are 95 % confidence intervals."
        parts.append(section("Score against difficulty", note, plots.curves()))
    if several_levels and len(plots.names) > 1:
        note = "Mean score of each cell."
        parts.append(grid(f"{by.capitalize()} by difficulty", note, _each(plots, plots.heatmap)))
    note = "How the episodes ended. Verifier and policy errors are left out of every score."
    parts.append(grid("Verdicts", note, _each(plots, plots.statuses)))
    note = "Characters a response: quartiles, and whiskers at 5 % and 95 %."
    parts.append(grid("Length of responses", note, _each(plots, plots.lengths)))
    return parts


def _by_domain(summary: Summary) -> str:
    """Return the tasks of a large mixture, a folded section for each domain."""
    if not summary.is_wide:
        return ""
    blocks = []
    for domain, tasks in summary.domains.items():
        scores = (
            f"{g.by['policy']} {_number(g.score)}"
            for g in summary["domain"]
            if g.by["domain"] == domain
        )
        groups = [g for g in _in_order(summary["task"], "task") if g.by["task"] in tasks]
        inside = [_metrics(summary, groups), *_sections(Plots(summary, only=tasks), "task")]
        note = f"· {len(tasks)} tasks · {' · '.join(scores)}"
        blocks.append(folded(domain, note, "".join(inside)))
    note = "The tasks of each domain: the same tables and plots."
    return heading("Tasks", note) + "".join(blocks)


def _each(plots: Plots, draw: Callable[[str], str]) -> dict[str, str]:
    """Return a plot for each policy."""
    return {policy: draw(policy) for policy in plots.policies}


@dataclass(frozen=True, slots=True)
class _Optional:
    """Which columns of the table of metrics there are beside the usual ones."""

    quality: bool
    undecided: bool
    cut_short: bool
    tokens: bool


def _metrics_table(summary: Summary) -> str:
    by = "domain" if summary.is_wide else "task"
    groups = _in_order(summary[by], by)
    if len({group.by[by] for group in groups}) > 1:
        groups += summary["overall"]
    note = (
        "Intervals are clustered by problem. One that is wider than half of the scale is left out: "
        "there are too few problems to compare. pass@k is unbiased; maj@k scores "
        "the most frequent answer of k samples. Responses have the median length in characters; "
        "seconds are the mean of an episode."
    )
    if any(group.feasible is not None for group in groups):
        note += (
            " SR is the share of feasible answers; AR is the mean ratio of an answer's objective "
            "to the best known, 0 if it is not feasible."
        )
    return heading("Metrics", note) + _metrics(summary, groups)


def _in_order(groups: list[Group], by: str) -> list[Group]:
    return sorted(groups, key=lambda g: (str(g.by[by]), str(g.by["policy"])))


def _metrics(summary: Summary, groups: list[Group]) -> str:
    """Return a table with a row for each group."""
    ks = [summary.samples] if summary.samples > 1 else []
    optional = _Optional(
        quality=any(group.feasible is not None for group in groups),
        undecided=any(group.undecided for group in groups),
        cut_short=any(group.cut_short for group in groups),
        tokens=any(group.tokens is not None for group in groups),
    )
    first = "domain" if any("domain" in group.by for group in groups) else "task"
    names = [first, "policy", "", "score", "95 % CI", "solved", *["SR", "AR"] * optional.quality]
    names += [name for k in ks for name in (f"pass@{k}", f"maj@{k}")]
    names += ["problems", "episodes", "unscored", *["undecided"] * optional.undecided]
    names += ["cut short"] * optional.cut_short
    names += ["chars", *["tokens in", "tokens out"] * optional.tokens, "seconds"]
    head = "".join(f"<th{_right(place)}>{_escape(name)}</th>" for place, name in enumerate(names))
    rows = "".join(_metrics_row(group, ks, optional) for group in groups)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f'<div class="card scroll">{table}</div>\n'


def _right(place: int) -> str:
    return ' class="number"' if place > 2 else ""


def _metrics_row(group: Group, ks: list[int], optional: _Optional) -> str:
    score = group.score
    interval = "–" if score.low is None else f"{score.low:.3f} – {score.high:.3f}"
    too_few = too_few_text(group)
    cells = [
        short(str(group.by.get("task") or group.by.get("domain") or "all tasks")),
        _escape(str(group.by["policy"])),
        "" if too_few else _meter(score),
        _number(score),
        too_few or interval,
        _number(group.solved),
        *([_number(group.feasible), _number(group.ratio)] if optional.quality else []),
        *(_number(found.get(k)) for k in ks for found in (group.pass_at, group.majority_at)),
        str(group.problems),
        str(group.episodes),
        str(group.unscored),
        *([f"{group.undecided / group.episodes:.1%}"] if optional.undecided else []),
        *([str(group.cut_short)] if optional.cut_short else []),
        f"{group.chars['median']:.0f}" if group.chars else "–",
        *([_count(group.prompt_tokens), _count(group.tokens)] if optional.tokens else []),
        f"{group.elapsed_s:.2f}",
    ]
    inside = "".join(f"<td{_right(place)}>{cell}</td>" for place, cell in enumerate(cells))
    kind = "" if {"task", "domain"} & group.by.keys() else ' class="whole"'
    return f"<tr{kind}>{inside}</tr>"


def _meter(score: Estimate) -> str:
    if score.mean is None:
        return ""
    low = score.mean if score.low is None else score.low
    high = score.mean if score.high is None else score.high
    return (
        f'<span class="meter"><i style="left:{100 * low:.1f}%;width:{100 * (high - low):.1f}%">'
        f'</i><b style="left:{100 * score.mean:.1f}%"></b></span>'
    )


def _number(estimate: Estimate | None) -> str:
    return "–" if estimate is None or estimate.mean is None else f"{estimate.mean:.3f}"


def _count(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


def _comparisons(summary: Summary) -> str:
    if not summary.comparisons:
        return ""
    rows = [
        [f"{c.policy} − {c.baseline}", estimate_text(c.difference), str(c.problems)]
        for c in summary.comparisons
    ]
    note = "Mean difference of score on the same problems, with its 95 % confidence interval."
    return heading("Policies compared", note) + table(["policies", "difference", "problems"], rows)


def _samples(samples: Iterable[Sample], summary: Summary) -> str:
    by_task: dict[str, list[Sample]] = {}
    for sample in samples:
        by_task.setdefault(str(sample.record["task"]), []).append(sample)
    blocks = {
        task: folded(task, f"· {len(found)} episodes", "".join(map(_episode, found)))
        for task, found in sorted(by_task.items())
    }
    if summary.is_wide:
        for domain, tasks in summary.domains.items():
            found = [blocks.pop(task) for task in tasks if task in blocks]
            blocks[domain] = folded(domain, f"· {len(found)} tasks", "".join(found))
    note = f"Up to two episodes of each task, policy and kind of end; all are in {EPISODES}."
    return heading("Sample episodes", note) + "".join(blocks.values())


def _episode(sample: Sample) -> str:
    record, verdict = sample.record, sample.record["verdict"]
    status = str(verdict["status"])
    score = "unscored" if not record["scored"] else f"score {verdict['score']:g}"
    level = "default" if record["difficulty"] is None else record["difficulty"]
    which = record["problem_seed"] if record["index"] is None else f"#{record['index']}"
    colour = STATUS_COLOURS.get(status, "#777777")
    named = _escape(status.replace("_", " "))
    facts = [
        f"<b>{_escape(str(record['policy']))}</b>",
        f'<span class="badge" style="background:{colour}">{named}</span>',
        _escape(f"{score} · difficulty {level} · problem {which}"),
    ]
    texts = {"Prompt": sample.prompt}
    if record.get("reasoning"):
        texts["Reasoning"] = _turns(record["reasoning"])
    texts["Response"] = _turns(record["response"], record.get("replies", ()))
    if verdict.get("detail"):
        texts["Verdict"] = str(verdict["detail"])
    if sample.reference:
        texts["Oracle's answer"] = sample.reference
    blocks = "".join(
        f"<div><h4>{_escape(name)}</h4><pre>{_escape(_clipped(text))}</pre></div>"
        for name, text in texts.items()
    )
    return (
        f'<div class="episode"><header>{"".join(facts)}</header>'
        f'<div class="texts">{blocks}</div></div>'
    )


def _turns(said: str | list[str] | None, replies: Sequence[str] = ()) -> str:
    """Return what a policy said, each turn with what the task replied."""
    if said is None:
        return "(none)"
    if isinstance(said, str):
        return said
    turns = zip_longest(said, replies, fillvalue="")
    return "\n".join(
        f"[{turn}] {action}" + (f"\n{indent(str(reply), '    ')}" if reply else "")
        for turn, (action, reply) in enumerate(turns, 1)
    )


def _clipped(text: str) -> str:
    if len(text) <= MAX_TEXT_CHARS:
        return text
    return f"{text[:MAX_TEXT_CHARS]}\n… ({len(text) - MAX_TEXT_CHARS} more characters)"


def _config(done: Evaluation) -> str:
    data: dict[str, Any] = {"config": done.config, "versions": versions()}
    text = _escape(json.dumps(data, indent=2, ensure_ascii=False))
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return (
        f"{heading('Configuration', '')}{folded('run.json', '', f'<pre>{text}</pre>')}"
        f"<footer>Written {now} by rlvr_envs {_escape(versions()['rlvr_envs'])}.</footer>\n"
    )
