"""Show an id: its documentation, spaces, knobs and ladder, and an example with its answer."""

import argparse
import dataclasses
import inspect
import textwrap

from rlvr_envs.cli._text import difficulty, knobs, table
from rlvr_envs.core import registry
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.registry import TaskSpec
from rlvr_envs.core.task import IndexedTask

HELP = "show what an id is: documentation, spaces, ladder, an example with its oracle answer"

LADDER = (0, 1, 2, 3, 5, 10, 20)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id", help="an id, with or without rlvr/")
    parser.add_argument("--difficulty", type=difficulty, help="of the example: 3, or 0-5")
    parser.add_argument("--seed", type=int, default=0, help="of the example (default: 0)")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KNOB=VALUE", help="set a knob (repeatable)"
    )


def run(args: argparse.Namespace) -> int:
    """Print the page."""
    env_id = registry.full_id(args.id)
    chosen = knobs(args.set)
    print(env_id)
    print("=" * len(env_id))
    if env_id in registry.mixture_ids():
        env = TextEnv(env_id, difficulty=args.difficulty, **chosen)
        print(f"A mixture of {len(env.source.task_ids)} tasks: {', '.join(env.source.task_ids)}.\n")
    else:
        spec = registry.find(env_id)
        env = TextEnv(env_id, difficulty=args.difficulty, **{**spec.example, **chosen})
        print(inspect.cleandoc(spec.task_type.__doc__ or ""), end="\n\n")
        print(_ladder(spec), end="\n\n")
    print(f"Observation space: {env.observation_space}\nAction space: {env.action_space}\n")
    prompt, info = env.reset(seed=args.seed)
    solution = env.instance.solution()
    answers = [solution] if isinstance(solution, str) else solution
    print(f"Example (task {info['task']}, difficulty {info['difficulty']}, seed {args.seed}):\n")
    print(textwrap.indent(prompt, "    "))
    print("\nAn answer of full marks:\n")
    print(textwrap.indent("\n".join(answers), "    "))
    return 0


def _ladder(spec: TaskSpec) -> str:
    config_type = spec.task_type.Config
    names = [field.name for field in dataclasses.fields(config_type)]
    default = config_type(**spec.example)
    rows = [("default", *(_cell(getattr(default, name)) for name in names))]
    if not issubclass(spec.task_type, IndexedTask):
        for rung in LADDER:
            config = config_type.at(rung)
            rows.append((str(rung), *(_cell(getattr(config, name)) for name in names)))
    return f"Knobs along the ladder:\n\n{table(('difficulty', *names), rows)}"


def _cell(value: object) -> str:
    text = str(value)
    return text if len(text) <= 24 else f"{text[:21]}..."
