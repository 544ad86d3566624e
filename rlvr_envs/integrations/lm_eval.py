"""Tasks for the Language Model Evaluation Harness (the ``lm_eval`` package).

Run as a module, this prints the folder of the task files, for ``--include_path``::

    lm_eval run --include_path "$(python -m rlvr_envs.integrations.lm_eval)" --tasks rlvr_math \
        --metadata '{"rlvr": {"difficulty": "0-2", "count": 50}}' --model ...
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from datasets import Dataset, DatasetDict

from rlvr_envs.core import registry
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.instance import Instance, Row
from rlvr_envs.integrations.judging import judge_apart
from rlvr_envs.integrations.rows import read_options

# The task files that `lm_eval` finds by ``--include_path`` or ``TaskManager(include_path=...)``.
TASKS = Path(__file__).with_suffix("").with_name("lm_eval_tasks")

_METADATA = '--metadata \'{"rlvr": {"ids": ["Gcd-v0"], "difficulty": "0-2", "count": 50}}\''


def load_rows(
    domain: str | None = None, rlvr: Mapping[str, Any] | None = None, **_: object
) -> DatasetDict:
    """Return the problems of a task file, as the task's ``custom_dataset``.

    Args:
        domain: whose single-turn tasks to ask; None for those that ``rlvr`` names.
        rlvr: the options in ``--metadata``: ``count``, ``difficulty``, ``seed``,
            ``answer_format`` and knobs; for the task ``rlvr_custom`` also ``ids``, or
            ``dataset`` and ``split``.
        **_: the arguments of the model, which lm-eval passes too.

    Raises:
        ConfigError: an option is unknown, out of range or missing, or a task is interactive.
    """
    options = dict(rlvr or {})
    rows = _chosen(options) if domain is None else read_options(single_turn_ids(domain), options)
    documents = [
        {"prompt": row["prompt"], "target": _target(row), "row": json.dumps(row)} for row in rows
    ]
    return DatasetDict(test=Dataset.from_list(documents))


def single_turn_ids(domain: str) -> list[str]:
    """Return the ids of a domain's mixture that are answered in one turn.

    Raises:
        RegistrationError: there is no such domain.
    """
    specs = map(registry.find, registry.task_ids(domain))
    return [spec.id for spec in specs if spec.weight > 0 and not spec.interactive]


def process_results(document: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
    """Return the metrics of one response; without ``score`` where the verifier failed.

    lm-eval averages each metric over the documents that have it.
    """
    verdict = judge_apart(Instance.from_row(json.loads(document["row"])), results[0])
    if not verdict.scored:
        return {"unscored": 1.0}
    return {"score": verdict.score, "solved": float(verdict.score == 1.0), "unscored": 0.0}


def _chosen(options: dict[str, Any]) -> list[Row]:
    ids, dataset = options.pop("ids", None), options.pop("dataset", None)
    if (ids is None) == (dataset is None):
        raise ConfigError(f"rlvr_custom needs one of 'ids' and 'dataset', such as {_METADATA}")
    rows = read_options(ids if dataset is None else Path(dataset), options)
    played = sorted({row["id"] for row in rows if registry.find(row["id"]).interactive})
    if played:
        raise ConfigError(
            f"lm-eval asks for one response a problem, and cannot play {', '.join(played)}: leave "
            "these out, or evaluate them with Inspect or `rlvr eval`"
        )
    return rows


def _target(row: Row) -> str:
    reference = row.get("reference")
    return reference if isinstance(reference, str) else ""


if __name__ == "__main__":
    print(TASKS)  # noqa: T201 - for a command line to take
