"""What golden lines say: the problems of a task, and the verdicts on their oracle and near misses.

A task that runs programs or proofs judges only a few of its problems unless it is told to be
thorough; all other tasks judge everything.
"""

from collections.abc import Iterator
from pathlib import Path

from golden_files import Line, add, compact, differences, digest, place, read
from near_misses import NearMiss, near_misses

from rlvr_envs.core import registry
from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.instance import Instance
from rlvr_envs.core.task import IndexedTask

SEEDS = range(8)
LEVELS = (0, 3, 7)
NEAR_MISSES = 3
NEAR_MISSES_OF_PROGRAMS = 2
MOST_NEAR_MISSES = 5  # where those before it are right too
# Such a verdict may depend on how busy the machine is, so it is never stored.
UNSTEADY = {"timeout", "verifier_error"}

Reference = str | list[str]


def runs_programs(task_id: str) -> bool:
    return registry.find(task_id).task_type.judged_in_sandbox


def file_of(task_id: str, folder: Path) -> Path:
    return folder / f"{registry.find(task_id).domain}.jsonl"


def settle(task_id: str, folder: Path, *, update: bool = False, thorough: bool = False) -> str:
    """Compare a task with its lines; return in words what is wrong, nothing if they agree.

    With ``update``, the lines of a task that has none are written; no other line ever is.
    """
    path = file_of(task_id, folder)
    stored = [line for line in read(path) if line["id"] == task_id]
    if not stored and not update:
        return (
            f"{task_id} has no lines in {path.name}: run pytest tests/golden --update-golden and "
            "commit the file"
        )
    if not stored:
        add(path, task_id, new_lines(task_id))
        return ""
    found = differences(stored, lines_now(task_id, stored, thorough=thorough))
    if not found:
        return ""
    return (
        f"{found}\nA changed task needs a new version. Before version 0.1.0 is tagged, a wanted "
        f"change may stay: delete all lines of {task_id} from {path.name} and run pytest "
        "tests/golden --update-golden"
    )


def problems(task_id: str) -> Iterator[tuple[Line, Instance, Reference]]:
    """Yield each problem's line without verdicts, the problem and its reference."""
    spec = registry.find(task_id)
    levels = (None,) if issubclass(spec.task_type, IndexedTask) else LEVELS
    for level in levels:
        env = TextEnv(task_id, difficulty=level, **dict(spec.example))
        for seed in SEEDS:
            prompt, info = env.reset(seed=seed)
            reference = env.instance.reference()
            line = {
                "id": task_id,
                "difficulty": level,
                "seed": seed,
                "problem_seed": info["problem_seed"],
                "prompt": digest(prompt),
                "reference": compact(reference),
            }
            if (level, seed) == (levels[0], SEEDS[0]):
                line["first_prompt"] = prompt
            yield line, env.instance, reference


def new_lines(task_id: str) -> list[Line]:
    """Return the lines to write for a task, with every verdict."""
    count = NEAR_MISSES_OF_PROGRAMS if runs_programs(task_id) else NEAR_MISSES
    lines = []
    for line, instance, reference in problems(task_id):
        near: dict[str, str] = {}
        for miss in _near_misses(instance, reference):
            verdict = _verdict(instance, miss.answer)
            if verdict.split()[0] not in UNSTEADY:
                near[miss.what] = verdict
            refused = any(map(_refused, near.values()))
            if len(near) >= (count if refused else MOST_NEAR_MISSES):
                break
        lines.append({**line, "oracle": _verdict(instance, reference), "near": near})
    return lines


def lines_now(task_id: str, stored: list[Line], *, thorough: bool = False) -> list[Line]:
    """Return the lines as they would be written now.

    Unless thorough, a task that runs programs judges the oracle and one refused near miss of the
    first seed of each level; its other verdicts are taken from the stored lines.
    """
    sparse = runs_programs(task_id) and not thorough
    before = {place(line): line for line in stored}
    lines = []
    for line, instance, reference in problems(task_id):
        was = before.get(place(line), {"oracle": "not stored", "near": {}})
        oracle, near = was["oracle"], dict(was["near"])
        if not sparse or line["seed"] == SEEDS[0]:
            oracle = _verdict(instance, reference)
            answers = {miss.what: miss.answer for miss in _near_misses(instance, reference)}
            for what in sorted(near, key=lambda what: not _refused(near[what]))[
                : 1 if sparse else None
            ]:
                known = what in answers
                near[what] = _verdict(instance, answers[what]) if known else "no longer made"
        lines.append({**line, "oracle": oracle, "near": near})
    return lines


def _near_misses(instance: Instance, reference: Reference) -> list[NearMiss]:
    label = instance.format_label
    return near_misses(reference, program=label.startswith("fenced:") and label != "fenced:csv")


def _refused(verdict: str) -> bool:
    return not verdict.startswith("correct")


def _verdict(instance: Instance, answer: Reference) -> str:
    """Return status and score of a bare answer, or of the actions of an episode."""
    wrapped = isinstance(answer, str)
    response = answer_format(instance.format_label).wrap(answer) if wrapped else answer
    verdict = instance.judge(response)
    return f"{verdict.status} {verdict.score:.6g}"
