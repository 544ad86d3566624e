"""A plan is one question: a family with parameters, stages before it, and parts put together.

From a plan follow the statement, the answer to any input, and programs in every language.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rlvr_envs.core.errors import ConfigError, did_you_mean
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.algorithms.draw import SHAPES, Draw
from rlvr_envs.generators.algorithms.family import Family
from rlvr_envs.generators.algorithms.list_families import LIST_FAMILIES
from rlvr_envs.generators.algorithms.other_families import OTHER_FAMILIES
from rlvr_envs.generators.algorithms.stages import STAGES, part
from rlvr_envs.generators.programs import nodes
from rlvr_envs.generators.programs.lower import lower

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in sorted((*LIST_FAMILIES, *OTHER_FAMILIES), key=lambda family: family.level)
}
COMBINE = {
    "sum": "the sum of these values",
    "largest": "the largest of these values",
    "smallest": "the smallest of these values",
    "alternating": "the first value minus the second plus the third minus the fourth, and so on",
}


@dataclass(frozen=True, slots=True)
class Stage:
    """One change of the list."""

    kind: str
    parameters: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """One question."""

    family: str  # the name of the family
    parameters: tuple[int, ...]  # its parameters
    stages: tuple[Stage, ...] = ()  # what is done to the list before
    parts: int = 1  # how many parts the list is cut into; 1 asks about the whole
    combine: str = "sum"  # how the answers about the parts are put together


def find_family(name: str) -> Family:
    """Return the family of a name; raise `ConfigError` where there is none."""
    if name not in FAMILIES:
        hint = did_you_mean(name, FAMILIES)
        raise ConfigError(f"no family {name!r}{hint} (known: {', '.join(FAMILIES)})")
    return FAMILIES[name]


def draw_plan(rng: Rng, names: Sequence[str], stages: int, most_parts: int) -> Plan:
    """Draw a question about one of the named families, with up to so many stages and parts."""
    family = find_family(pick(rng, names))
    parameters = family.draw(rng)
    if not family.staged:
        return Plan(family.name, parameters)
    kinds = sorted(STAGES)
    chosen: list[Stage] = []
    for _ in range(integer(rng, (stages + 1) // 2, stages)):
        kind = pick(rng, kinds)
        while chosen and kind == chosen[-1].kind:
            kind = pick(rng, kinds)
        chosen.append(Stage(kind, STAGES[kind].draw(rng)))
    parts = integer(rng, 2, most_parts) if most_parts > 1 and rng.random() < 0.4 else 1
    return Plan(family.name, parameters, tuple(chosen), parts, pick(rng, sorted(COMBINE)))


def draw_inputs(plan: Plan, seed: int, size: int) -> dict[str, nodes.Value]:
    """Return the inputs of the test of a seed and a size; the same for ever."""
    family = find_family(plan.family)
    draw = Draw(seed)
    values = family.make(draw, size, SHAPES[seed % len(SHAPES)], plan.parameters)
    return {name: value for (name, _), value in zip(family.inputs, values, strict=True)}


def answer(plan: Plan, inputs: dict[str, nodes.Value], *, slow: bool = False) -> int:
    """Return the right answer, by the fast solution or by brute force."""
    family = find_family(plan.family)
    solve = family.slow if slow else family.fast
    return answer_by(plan, inputs, solve, [STAGES[stage.kind].apply for stage in plan.stages])


def answer_by(
    plan: Plan,
    inputs: dict[str, nodes.Value],
    solve: Callable[..., int],
    changes: Sequence[Callable[..., list[int]]],
) -> int:
    """Return the answer that a solution gives after changes of the list, one for each stage."""
    if not find_family(plan.family).staged:
        return solve(*inputs.values(), *plan.parameters)
    xs = inputs["xs"]
    if not isinstance(xs, list):
        raise ConfigError(f"the input of {plan.family} is a list, got {xs!r:.80}")
    for change, stage in zip(changes, plan.stages, strict=True):
        xs = change(xs, *stage.parameters)
    if plan.parts == 1:
        return solve(xs, *plan.parameters)
    n = len(xs)
    cuts = [i * n // plan.parts for i in range(plan.parts + 1)]
    values = [solve(part(xs, start, stop), *plan.parameters) for start, stop in pairwise(cuts)]
    results = {
        "sum": sum(values),
        "largest": max(values),
        "smallest": min(values),
        "alternating": sum(values[::2]) - sum(values[1::2]),
    }
    return results[plan.combine]


def program(plan: Plan, *, slow: bool = False) -> nodes.Program:
    """Return the program that answers the question."""
    family = find_family(plan.family)
    solve = family.slow if slow else family.fast
    functions: dict[str, nodes.Function] = {}
    body: list[nodes.Statement] = []
    current: tuple[nodes.Expression, ...] = tuple(nodes.Var(name) for name, _ in family.inputs)
    for number, stage in enumerate(plan.stages, 1):
        kind = STAGES[stage.kind]
        functions |= {function.name: function for function in lower(kind.apply)}
        changed = nodes.Call(kind.apply.__name__, (*current, *map(nodes.Int, stage.parameters)))
        body.append(nodes.Let(f"step_{number}", "list", changed))
        current = (nodes.Var(f"step_{number}"),)
    constants = tuple(map(nodes.Int, plan.parameters))
    if plan.parts == 1:
        functions |= {function.name: function for function in lower(solve)}
        body.append(nodes.Print((nodes.Call(solve.__name__, (*current, *constants)),)))
    else:
        functions |= {f.name: f for f in (*lower(part), *lower(solve))}
        body += _parts(plan, current[0], solve.__name__, constants)
    return nodes.Program(family.inputs, tuple(functions.values()), tuple(body))


def _parts(
    plan: Plan, items: nodes.Expression, solve: str, constants: tuple[nodes.Expression, ...]
) -> list[nodes.Statement]:
    """Return the statements that ask about every part and put the answers together."""
    i, n, total, value = nodes.Var("i"), nodes.Var("n"), nodes.Var("total"), nodes.Var("answer")
    piece = nodes.Call("part", (items, i * n // plan.parts, (i + 1) * n // plan.parts))
    together: nodes.Statement
    if plan.combine == "sum":
        together = nodes.Assign("total", total + value)
    elif plan.combine == "alternating":
        plus, minus = nodes.Assign("total", total + value), nodes.Assign("total", total - value)
        together = nodes.If((i % 2).eq(0), (plus,), (minus,))
    else:
        better = nodes.Binary("max" if plan.combine == "largest" else "min", total, value)
        together = nodes.If(
            i.eq(0), (nodes.Assign("total", value),), (nodes.Assign("total", better),)
        )
    loop = nodes.For(
        "i",
        nodes.Int(0),
        nodes.Int(plan.parts),
        (
            nodes.Let("piece", "list", piece),
            nodes.Let("answer", "int", nodes.Call(solve, (nodes.Var("piece"), *constants))),
            together,
        ),
    )
    first = [nodes.Let("n", "int", nodes.Length(items)), nodes.Let("total", "int", nodes.Int(0))]
    return [*first, loop, nodes.Print((total,))]


def statement(plan: Plan) -> str:
    """Return the question in words, without the input format."""
    family = find_family(plan.family)
    words = family.words(plan.parameters)
    if not family.staged:
        return words
    lines = ["You are given a list xs of integers."]
    if plan.stages:
        lines = ["You are given a list xs of integers. Change it in these steps:"]
        for number, stage in enumerate(plan.stages, 1):
            lines.append(f"{number}. {STAGES[stage.kind].words.format(*stage.parameters)}")
        lines.append("")
    asked = "the resulting list" if plan.stages else "the list"
    if plan.parts == 1:
        lines.append(f"For {asked}, print {words}." if plan.stages else f"Print {words}.")
    else:
        numbers = "i = 0, 1" if plan.parts == 2 else f"i = 0, ..., {plan.parts - 1}"
        lines.append(
            f"Cut {asked} into {plan.parts} parts. Let m be its length, and number positions from "
            f"0. Part i ({numbers}) consists of the items at the positions from floor(i * m / "
            f"{plan.parts}) up to, but not including, floor((i + 1) * m / {plan.parts}). For every "
            f"part, taken as a separate list, find {words}. Print {COMBINE[plan.combine]}."
        )
    return "\n".join(lines)


def input_format(plan: Plan) -> str:
    """Return what the program reads, in words."""
    lines = []
    for name, kind in find_family(plan.family).inputs:
        if kind == "int":
            lines.append(f"- a line with the integer {name}")
        elif kind == "str":
            lines.append(f"- a line with the string {name}")
        else:
            lines.append(
                f"- a line with the length of the list {name}, then a line with its items, "
                "separated by single spaces"
            )
    return "The input consists of:\n\n" + "\n".join(lines)
