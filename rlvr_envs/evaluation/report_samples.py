"""Which episodes a report shows in full, and their prompts."""

from dataclasses import dataclass
from pathlib import Path

from rlvr_envs.core.source import open_source
from rlvr_envs.core.verdict import Status
from rlvr_envs.evaluation.plan import Plan
from rlvr_envs.evaluation.store import Record, read_records

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

    Which ones does not depend on the order in which the episodes ended.
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
    return [_completed(record, plan) for key in sorted(chosen) for record in chosen[key][:count]]


def _completed(record: Record, plan: Plan) -> Sample:
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
        reference = instance.reference()
        shown = reference if isinstance(reference, str) else "\n".join(reference)
        return Sample(record, instance.prompt(), shown)
    except Exception as error:  # noqa: BLE001 - a task that fails now must not cost the report
        return Sample(record, f"(not available: {type(error).__name__}: {error})", "")
