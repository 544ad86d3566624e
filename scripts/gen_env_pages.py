"""Write docs/environments/: a page for each task and the table of all ids, from the registry."""

import inspect
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from levels_plot import charts

from rlvr_envs.core import registry
from rlvr_envs.core.documentation import sections, summary
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.knobs import knobs_of
from rlvr_envs.core.registry import TaskSpec
from rlvr_envs.core.task import IndexedTask

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "environments"
SHOWN_LEVELS = (0, 1, 2, 3, 5, 10, 20)
LEVELS = (
    "The levels of nearly all tasks grow by size; [decision 17](../decisions/0017-levels-are-"
    "measured.md) says what that can do and what it cannot. The page of a task shows effort and "
    "baseline by level, and how many problems a strong language model solves where that was "
    "measured."
)
# A level is hard for a strong model if it solves at most so many of its problems.
HARD = 1 / 3
# Four problems a level, two beyond level 10, and two a level of tasks that join ideas.
SOLVED = ("solve_rates", "solve_rates_beyond", "solve_rates_ideas")
RESULTS = FOLDER.parents[1] / "benchmarks" / "results"


def main() -> None:
    """Write every page anew."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    specs = [registry.find(task_id) for task_id in registry.task_ids()]
    figures = _figures("levels")
    solved = [_figures(name) for name in SOLVED]
    for spec in specs:
        path = FOLDER / spec.domain / f"{_name(spec)}.md"
        path.parent.mkdir(exist_ok=True)
        text = page(spec, _levels(figures, spec.id), [_solved(solved, spec.id), made_slowly(spec)])
        path.write_text(text, encoding="utf-8")
    (FOLDER / "index.md").write_text(index(specs), encoding="utf-8")
    for domain in registry.DOMAINS:
        members = [spec for spec in specs if spec.domain == domain]
        text = domain_index(domain, members, solved)
        (FOLDER / domain / "index.md").write_text(text, encoding="utf-8")
    n_pages = len(specs) + 1 + len(registry.DOMAINS)
    n_decisions = len(list((FOLDER.parent / "decisions").glob("0*.md")))
    print(f"wrote {n_pages} pages; {n_decisions} decisions beside them")


def _figures(name: str) -> dict[str, Any]:
    """Return the figures that a benchmark has stored; none where it has not."""
    return dict(_stored(name).get("figures", {}))


def _stored(name: str) -> dict[str, Any]:
    """Return what a benchmark has stored; nothing where it has not."""
    path = RESULTS / f"{name}.json"
    return dict(json.loads(path.read_text("utf-8"))) if path.exists() else {}


def made_slowly(spec: TaskSpec) -> str:
    """Return in a sentence why making problems takes long; nothing where it does not."""
    stored = _stored("throughput" if spec.domain == "math" else f"throughput_{spec.domain}")
    found = stored.get("figures", {}).get("under_the_floor", {}).get(_name(spec))
    if found is None:
        return ""
    rate, reason = found
    return (
        f"At difficulty {stored['difficulty']['tasks']}, {rate:.1f} problems are made in a second "
        f"of CPU time (`benchmarks/throughput.py`): {reason}."
    )


def _solved(measured: list[dict[str, Any]], task_id: str) -> str:
    """Return how many problems a language model solves; nothing if that was not measured."""
    found = [_rates(figures, task_id) for figures in measured]
    rates = {level: share for each in found for level, share in each.items()}
    if not rates:
        return ""
    told = ", ".join(f"{100 * share:.0f} % at {level}" for level, share in rates.items())
    joins_ideas = bool(found[-1])
    count = (
        "one or two problems a level"
        if joins_ideas
        else "four problems a level and of two beyond level 10"
    )
    text = f"{measured[0]['model']}, solved {told}, of {count} (`benchmarks/solve_rates.py`)."
    if rates.get("level 10", 0.0) > HARD and not joins_ideas:
        text += (
            " The higher levels of this task add size, not another idea: for a strong model they "
            "measure care."
        )
    return text


def _rates(figures: dict[str, Any], task_id: str) -> dict[str, float]:
    """Return the share of a task's problems that is solved, by level; nothing if not measured."""
    row = figures["tasks"]["rows"].get(task_id) if figures else None
    shares = zip(figures["tasks"]["columns"], row, strict=True) if row is not None else ()
    return {level: share for level, share in shares if share is not None}


def _levels(figures: dict[str, Any], task_id: str) -> dict[str, dict[str, Any]]:
    """Return what was measured of a task, by difficulty; nothing if it was not measured."""
    row = figures["tasks"]["rows"].get(task_id) if figures else None
    if row is None:
        return {}
    found = dict(zip(figures["tasks"]["columns"], row, strict=True))
    problems = max(found.pop("problems"))
    return {
        str(level): {"problems": problems} | {name: column[i] for name, column in found.items()}
        for i, level in enumerate(figures["difficulties"])
        if found["effort"][i] is not None
    }


def _name(spec: TaskSpec) -> str:
    return spec.id.removeprefix("rlvr/")


def index(specs: list[TaskSpec]) -> str:
    """Return the table of all ids."""
    lines = ["# Environments", ""]
    for mixture, domain in registry.mixture_ids().items():
        members = [s for s in specs if domain in (None, s.domain)]
        if members:
            about = "every domain, each weighing the same" if domain is None else domain
            lines.append(f"- `{mixture}`: a mixture of {len(members)} tasks ({about})")
    lines += [
        "",
        LEVELS,
    ]
    lines += ["", "| id | domain | what it asks |", "|---|---|---|"]
    for spec in specs:
        page_of = f"[`{spec.id}`]({spec.domain}/{_name(spec)}.md)"
        lines.append(f"| {page_of} | {spec.domain} | {summary(spec.task_type)} |")
    return "\n".join([*lines, ""])


def domain_index(domain: str, specs: list[TaskSpec], solved: list[dict[str, Any]]) -> str:
    """Return the tasks of a domain: what each asks, and how many a language model solves."""
    first, _, ideas = solved
    columns = first["tasks"]["columns"] if first else []
    about = ""
    if first:
        about = (
            f"The share of four problems a level (of some tasks two) that {first['model']}, solves "
            "(`benchmarks/solve_rates.py`); the page of a task shows how its effort grows."
        )
    lines = [f"# All tasks of the domain {domain}", "", about, ""]
    lines += [f"| task | what it asks | {' | '.join(columns)} |", "|---" * (len(columns) + 2) + "|"]
    for spec in specs:
        rates = _rates(first, spec.id) or _rates(ideas, spec.id)
        shares = [f"{100 * share:.0f} %" for share in rates.values()]
        cells = shares or ["–"] * len(columns)
        link = f"[`{_name(spec)}`]({_name(spec)}.md)"
        lines.append(f"| {link} | {summary(spec.task_type)} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def page(spec: TaskSpec, levels: dict[str, dict[str, Any]], measured: list[str]) -> str:
    """Return the page of a task: what its author wrote, what a program knows, what was measured."""
    parts = [f"# {_name(spec)}", summary(spec.task_type), "## Example", _example(spec)]
    parts += [f"## {name}\n\n{text}" for name, text in sections(spec.task_type).items()]
    parts += ["## Facts", _facts(spec), "## Knobs", _knobs(spec)]
    if levels:
        parts.append(_measured(spec, levels))
    parts += filter(None, measured)
    return "\n\n".join([*parts, ""])


def _measured(spec: TaskSpec, levels: dict[str, dict[str, Any]]) -> str:
    """Return what `benchmarks/levels.py` measured."""
    problems = max(row.get("problems", 0) for row in levels.values())
    task = spec.task_type
    about = (
        f"Measured over up to {problems} problems a level by `benchmarks/levels.py`. Effort: "
        f"{_first_sentence(task.effort)} The baseline: {_first_sentence(task.baseline)}"
    )
    return f"{about}\n\n{charts(levels)}"


def _first_sentence(method: Callable[..., Any]) -> str:
    """Return what the first line of a method's docstring says, as the rest of a sentence."""
    line = inspect.getdoc(method).partition("\n")[0]  # type: ignore[union-attr]
    return line[0].lower() + line[1:]


def _facts(spec: TaskSpec) -> str:
    env = TextEnv(spec.id, **dict(spec.example))
    return "\n".join(
        [
            "| | |",
            "|---|---|",
            f'| make | `gym.make("{spec.id}")` |',
            f"| domain | {spec.domain} |",
            f"| answer format | `{spec.answer_format}` |",
            f"| observation space | `{env.observation_space}` |",
            f"| action space | `{env.action_space}` |",
            f"| turns | {spec.max_turns} |",
        ]
    )


def _knobs(spec: TaskSpec) -> str:
    """Return what the knobs are, and their values at some difficulty levels."""
    config_type = spec.task_type.Config
    known = knobs_of(config_type)
    lines = []
    if any(each.help or each.allowed for each in known.values()):
        lines += ["| knob | what it is | allowed |", "|---|---|---|"]
        lines += [f"| `{name}` | {each.help} | {each.allowed} |" for name, each in known.items()]
        lines.append("")
    names = list(known)
    lines += [
        inspect.cleandoc(config_type.at.__doc__ or ""),
        "",
        f"| difficulty | {' | '.join(names)} |",
        "|---" * (len(names) + 1) + "|",
    ]
    levels = () if issubclass(spec.task_type, IndexedTask) else SHOWN_LEVELS
    rows = [("default", config_type())] + [(str(d), config_type.at(d)) for d in levels]
    for label, config in rows:
        cells = " | ".join(f"`{getattr(config, name)!s}`" for name in names)
        lines.append(f"| {label} | {cells} |")
    return "\n".join(lines)


def _example(spec: TaskSpec) -> str:
    parts = []
    levels = (None,) if issubclass(spec.task_type, IndexedTask) else (0, 3)
    for level in levels:
        env = TextEnv(spec.id, difficulty=level, **dict(spec.example))
        prompt, _ = env.reset(seed=0)
        solution = env.instance.solution()
        answer = solution if isinstance(solution, str) else "\n\n".join(solution)
        title = "The sample file" if level is None else f"Difficulty {level}"
        parts.append(
            f"{title}, seed 0:\n\n````text\n{prompt}\n````\n\n"
            f"An answer of full marks:\n\n````text\n{answer}\n````"
        )
    return "\n\n".join(parts)


if __name__ == "__main__":
    main()
