"""Show an id: its documentation, spaces, knobs and ladder, and an example with its answer."""

import argparse
import dataclasses
import inspect
import textwrap

from rlvr_envs.cli._text import add_knobs, difficulty, fill, natural, table, width
from rlvr_envs.core import registry
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.registry import TaskSpec
from rlvr_envs.core.task import IndexedTask
from rlvr_envs.evaluation.plan import read_knobs

HELP = "show what an id is: documentation, spaces, ladder, an example with its oracle answer"

LADDER = (0, 1, 2, 3, 5, 10, 20)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id", help="an id, with or without rlvr/")
    parser.add_argument(
        "--difficulty",
        type=difficulty,
        metavar="D",
        help="of the example: a rung '3', or a range '0-5' whose rungs are equally likely",
    )
    parser.add_argument("--seed", type=natural, default=0, help="of the example (default: 0)")
    parser.add_argument(
        "--explain",
        action="store_true",
        help="show the example's worked solution, where it has one",
    )
    add_knobs(parser)


def run(args: argparse.Namespace) -> int:
    """Print the page."""
    env_id = registry.full_id(args.id)
    chosen = read_knobs(args.knob)
    print(env_id)
    print("=" * len(env_id))
    if env_id in registry.mixture_ids():
        env = TextEnv(env_id, difficulty=args.difficulty, **chosen)
        print(f"A mixture of {len(env.source.task_ids)} tasks: {', '.join(env.source.task_ids)}.\n")
    else:
        spec = registry.find(env_id)
        env = TextEnv(env_id, difficulty=args.difficulty, **{**spec.example, **chosen})
        print(_wrapped(inspect.cleandoc(spec.task_type.__doc__ or "")), end="\n\n")
        print(_ladder(spec), end="\n\n")
    print(f"Observation space: {env.observation_space}\nAction space: {env.action_space}\n")
    prompt, info = env.reset(seed=args.seed)
    instance = env.instance
    solution = instance.solution()
    answers = [solution] if isinstance(solution, str) else solution
    rung = "default" if info["difficulty"] is None else info["difficulty"]
    print(f"Example (task {info['task']}, difficulty {rung}, seed {args.seed}):\n")
    print(textwrap.indent(fill(prompt, 4), "    "))
    if args.explain:
        steps = instance.task.explain(instance.problem)
        print("\nA worked solution:\n" if steps else "\nThis problem has no worked solution.")
        for step in steps:
            print(textwrap.indent(step, "    "))
    print("\nAn answer of full marks:\n")
    print(textwrap.indent("\n".join(answers), "    "))
    return 0


def _wrapped(text: str) -> str:
    """Return a docstring with its paragraphs filled anew, for a terminal of any width."""
    filled = []
    for paragraph in text.split("\n\n"):
        heading, line_end, body = paragraph.partition("\n")
        if not line_end or not body.startswith("    "):
            heading, body = "", paragraph
        indent = "    " if heading else ""
        plain = " ".join(body.split())
        lines = textwrap.wrap(
            plain, min(width(), 100), initial_indent=indent, subsequent_indent=indent
        )
        filled.append("\n".join([*([heading] if heading else []), *lines]))
    return "\n\n".join(filled)


def _ladder(spec: TaskSpec) -> str:
    config_type = spec.task_type.Config
    configs = {"default": config_type(**spec.example)}
    if not issubclass(spec.task_type, IndexedTask):
        configs |= {str(rung): config_type.at(rung) for rung in LADDER}
    rows = [
        [field.name, *(_cell(getattr(config, field.name)) for config in configs.values())]
        for field in dataclasses.fields(config_type)
    ]
    lists = [
        f"{field.name} by default: {', '.join(map(str, value))}"
        for field in dataclasses.fields(config_type)
        if isinstance(value := getattr(configs["default"], field.name), tuple)
    ]
    ladder = f"Knobs along the ladder of difficulties:\n\n{table(('knob', *configs), rows)}"
    return "\n\n".join([ladder, *(_wrapped(text) for text in lists)])


def _cell(value: object) -> str:
    text = f"{len(value)} values" if isinstance(value, tuple) else str(value)
    return text if len(text) <= 24 else f"{text[:21]}..."
