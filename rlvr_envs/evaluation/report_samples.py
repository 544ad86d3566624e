"""Which episodes a report shows in full, and their prompts."""

from dataclasses import dataclass
from pathlib import Path

from rlvr_envs.core.source import open_source
from rlvr_envs.core.verdict import Status
from rlvr_envs.evaluation.plan import Plan
from rlvr_envs.evaluation.store import Problems, Record, read_records

# Up to so many tasks, two episodes of each kind of end are shown, beyond that one.
_FEW_TASKS = 12


@dataclass(frozen=True, slots=True)
class Sample:
    """One episode with the texts that its record leaves out."""

    record: Record
    prompt: str
    reference: str


def pick_samples(path: Path, plan: Plan) -> list[Sample]:
    """Return samples of each task and policy: right, wrong and unscored ones.

    The problems are those stored beside the episodes; those of a run that stored none are made
    again. Which ones does not depend on the order in which the episodes ended.
    """
    latest = {}
    chosen: dict[tuple[str, str, str], list[Record]] = {}
    for record in read_records(path):
        latest[record["key"]] = record["verdict"]["status"]
    tasks = set()
    for record in read_records(path):
        status = str(record["verdict"]["status"])
        if latest[record["key"]] != status:
            continue  # asked again since
        tasks.add(record["task"])
        kind = status if status != Status.PARTIAL else Status.WRONG.value
        best = chosen.setdefault((str(record["task"]), str(record["policy"]), kind), [])
        best.append(record)
        best.sort(key=lambda r: (int(r["sample"]), str(r["key"])))
        del best[2:]
    count = 2 if len(tasks) <= _FEW_TASKS else 1
    shown = [record for key in sorted(chosen) for record in chosen[key][:count]]
    problems = Problems(path.parent)
    return [_completed(record, problems.of(record), plan) for record in shown]


def _completed(record: Record, problem: Record | None, plan: Plan) -> Sample:
    if problem is not None:
        return Sample(record, problem["prompt"], _as_text(problem["reference"]))
    try:
        source = open_source(
            record["id"],
            difficulty=record["difficulty"],
            answer_format=plan.answer_format,
            knobs=plan.knobs,
        )
        if record["index"] is not None:
            instance = source.at_index(record["index"])
        else:
            instance = source.draw(record["problem_seed"])
        if record.get("fingerprint") not in (None, instance.fingerprint()):
            return Sample(record, "(not stored, and this version makes another problem)", "")
        return Sample(record, instance.prompt(), _as_text(instance.reference()))
    except Exception as error:  # noqa: BLE001 - a task that fails now must not cost the report
        return Sample(record, f"(not available: {type(error).__name__}: {error})", "")


def _as_text(reference: str | list[str] | None) -> str:
    return "\n".join(reference) if isinstance(reference, list) else reference or ""
