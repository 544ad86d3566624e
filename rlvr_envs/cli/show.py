"""Show an id: its documentation, knobs and spaces, and an example with its answer."""

import argparse
import textwrap
from collections.abc import Sequence
from typing import Any

from rlvr_envs.cli._text import (
    add_json,
    add_knobs,
    difficulty,
    fill,
    natural,
    say,
    say_json,
    table,
    width,
)
from rlvr_envs.core import registry
from rlvr_envs.core.documentation import sections, summary
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.knobs import knobs_of
from rlvr_envs.core.registry import TaskSpec
from rlvr_envs.core.task import IndexedTask
from rlvr_envs.evaluation.plan import read_knobs

HELP = "show what an id is: documentation, knobs, an example with its reference answer"

LEVELS = (0, 1, 2, 3, 5, 10, 20)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id", help="an id, with or without rlvr/")
    parser.add_argument(
        "--difficulty",
        type=difficulty,
        metavar="D",
        help="of the example: a level '3', or a range '0-5' whose levels are equally likely",
    )
    parser.add_argument("--seed", type=natural, default=0, help="of the example (default: 0)")
    parser.add_argument(
        "--explain",
        action="store_true",
        help="show the example's worked solution, where it has one",
    )
    add_knobs(parser)
    add_json(
        parser,
        "{id, domain, about, sections, tasks, knobs: {name: {default, help, allowed}}, "
        "example: {task, difficulty, problem_seed, prompt, answers, explanation}}",
    )


def run(args: argparse.Namespace) -> int:
    """Print the page."""
    env_id = registry.full_id(args.id)
    chosen = read_knobs(args.knob)
    spec = None if env_id in registry.mixture_ids() else registry.find(env_id)
    example = spec.example if spec else {}
    env = TextEnv(env_id, difficulty=args.difficulty, **{**example, **chosen})
    prompt, info = env.reset(seed=args.seed)
    instance = env.instance
    solution = instance.solution()
    answers = [solution] if isinstance(solution, str) else solution
    steps = instance.task.explain(instance.problem)
    if args.json:
        names = ("task", "difficulty", "problem_seed")
        example = {name: info[name] for name in names} | {
            "prompt": prompt,
            "answers": answers,
            "explanation": steps,
        }
        say_json(_json(env_id, spec, env.source.task_ids) | {"example": example})
        return 0
    say(env_id)
    say("=" * len(env_id))
    if spec is None:
        say(f"A mixture of {len(env.source.task_ids)} tasks: {', '.join(env.source.task_ids)}.\n")
    else:
        say(_documentation(spec), end="\n\n")
        say(_knobs(spec), end="\n\n")
    say(f"Observation space: {env.observation_space}\nAction space: {env.action_space}\n")
    level = "default" if info["difficulty"] is None else info["difficulty"]
    say(f"Example (task {info['task']}, difficulty {level}, seed {args.seed}):\n")
    say(textwrap.indent(fill(prompt, 4), "    "))
    if args.explain:
        say("\nA worked solution:\n" if steps else "\nThis problem has no worked solution.")
        for step in steps:
            say(textwrap.indent(step, "    "))
    say("\nAn answer of full marks:\n")
    say(textwrap.indent("\n".join(answers), "    "))
    return 0


def _json(env_id: str, spec: TaskSpec | None, tasks: Sequence[str]) -> dict[str, Any]:
    """Return what the page says of an id, for programs."""
    if spec is None:
        return {
            "id": env_id,
            "domain": registry.mixture_ids()[env_id] or "all",
            "about": "a mixture of its tasks",
            "sections": {},
            "tasks": tasks,
            "knobs": {},
        }
    default = spec.task_type.Config(**spec.example)
    knobs = {
        name: {"default": getattr(default, name), "help": each.help, "allowed": each.allowed}
        for name, each in knobs_of(spec.task_type.Config).items()
    }
    return {
        "id": env_id,
        "domain": spec.domain,
        "about": summary(spec.task_type),
        "sections": sections(spec.task_type),
        "tasks": tasks,
        "knobs": knobs,
    }


def _documentation(spec: TaskSpec) -> str:
    found = [_filled(summary(spec.task_type))]
    for name, text in sections(spec.task_type).items():
        paragraphs = [_filled(each, "    ") for each in text.split("\n\n")]
        found.append(f"{name}:\n" + "\n\n".join(paragraphs))
    return "\n\n".join(found)


def _filled(text: str, indent: str = "") -> str:
    """Return a paragraph filled anew, for a terminal of any width."""
    lines = textwrap.wrap(
        " ".join(text.split()), min(width(), 100), initial_indent=indent, subsequent_indent=indent
    )
    return "\n".join(lines)


def _knobs(spec: TaskSpec) -> str:
    """Return what the knobs are, and their values at some difficulty levels."""
    config_type = spec.task_type.Config
    known = knobs_of(config_type)
    configs = {"default": config_type(**spec.example)}
    if not issubclass(spec.task_type, IndexedTask):
        configs |= {str(level): config_type.at(level) for level in LEVELS}
    rows = [
        [name, *(_cell(getattr(config, name)) for config in configs.values())] for name in known
    ]
    lists = [
        _filled(f"{name} by default: {', '.join(map(str, value))}")
        for name in known
        if isinstance(value := getattr(configs["default"], name), tuple)
    ]
    told = [
        f"    {name}: {'; '.join(filter(None, (each.help, each.allowed)))}"
        for name, each in known.items()
        if each.help or each.allowed
    ]
    levels = f"Knobs at difficulty levels:\n\n{table(('knob', *configs), rows)}"
    return "\n\n".join([*(["Knobs:\n" + "\n".join(told)] if told else []), levels, *lists])


def _cell(value: object) -> str:
    text = f"{len(value)} values" if isinstance(value, tuple) else str(value)
    return text if len(text) <= 24 else f"{text[:21]}..."
