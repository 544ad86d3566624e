"""Exports: rows in the shapes that trainers read.

Each export is a pure function of a row, its split and its number. All but those for supervised
fine-tuning carry the whole row as JSON text, so that a reward function needs nothing else::

    score = rlvr_envs.verify(json.loads(text), response).score
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from rlvr_envs.core import registry
from rlvr_envs.core.errors import ConfigError, UsageError, did_you_mean
from rlvr_envs.core.instance import Instance, Row
from rlvr_envs.core.problem import canonical
from rlvr_envs.core.tables import JSONL_SUFFIXES, PARQUET_SUFFIXES, require_pyarrow
from rlvr_envs.core.task import InteractiveTask
from rlvr_envs.datasets.rows import json_line

Record = dict[str, Any]
Export = Callable[[Row, str, int], Record]

# The name under which a NeMo Gym configuration must list the agent that plays these rows.
NEMO_GYM_AGENT = "rlvr_envs_agent"
_BATCH = 4096


def _chat(row: Row) -> list[Record]:
    return [{"role": "user", "content": row["prompt"]}]


def _reference(row: Row) -> str:
    reference = row.get("reference")
    return reference if isinstance(reference, str) else canonical(reference)


def to_trl(row: Row, split: str, index: int) -> Record:
    """Return a row for TRL: a conversational prompt; other columns reach the reward function."""
    return {
        "prompt": _chat(row),
        "row": canonical(row),
        "id": row["id"],
        "difficulty": row.get("difficulty"),
        "fingerprint": row.get("fingerprint"),
    }


def to_verl(row: Row, split: str, index: int) -> Record:
    """Return a row for verl; its reward function gets the row as ``ground_truth``."""
    return {
        "data_source": row["id"],
        "prompt": _chat(row),
        "ability": registry.find(row["id"]).domain,
        "reward_model": {"style": "rule", "ground_truth": canonical(row)},
        "extra_info": {
            "split": split,
            "index": index,
            "difficulty": row.get("difficulty"),
            "fingerprint": row.get("fingerprint"),
            "reference": _reference(row),
        },
    }


def to_openrlhf(row: Row, split: str, index: int) -> Record:
    """Return a row for OpenRLHF: use ``--input_key input --label_key label``."""
    return {"input": _chat(row), "label": canonical(row), "datasource": row["id"]}


def to_nemo_gym(row: Row, split: str, index: int) -> Record:
    """Return a row for NeMo Gym; keys beside its own reach the server's ``verify``."""
    return {
        "responses_create_params": {"input": _chat(row)},
        "agent_ref": {"type": "responses_api_agents", "name": NEMO_GYM_AGENT},
        "row": canonical(row),
        "id": row["id"],
        "difficulty": row.get("difficulty"),
        "fingerprint": row.get("fingerprint"),
    }


def to_verifiers(row: Row, split: str, index: int) -> Record:
    """Return a row for verifiers; a rubric finds the whole row in ``info``."""
    return {
        "prompt": _chat(row),
        "answer": _reference(row),
        "info": {
            "row": canonical(row),
            "id": row["id"],
            "difficulty": row.get("difficulty"),
            "fingerprint": row.get("fingerprint"),
        },
    }


def to_sft(row: Row, split: str, index: int) -> Record:
    """Return a row for supervised fine-tuning: the oracle's dialogue, as messages.

    Raises:
        UsageError: the oracle's actions end the episode too soon.
    """
    instance = Instance.from_row(row)
    if not isinstance(instance.task, InteractiveTask):
        answer = {"role": "assistant", "content": instance.solution()}
        return {"messages": [*_chat(row), answer]}
    solution = instance.task.play(instance.problem)
    session = instance.task.begin(instance.problem)
    messages = _chat(row)
    for number, action in enumerate(solution, 1):
        messages.append({"role": "assistant", "content": action})
        reply = session.reply(action)
        if number < len(solution):
            if reply.verdict is not None:
                raise UsageError(f"the oracle of {row['id']} goes on after the episode's end")
            messages.append({"role": "user", "content": reply.text})
    return {"messages": messages}


def to_sft_explained(row: Row, split: str, index: int) -> Record:
    """Return what `to_sft` does, with the steps of the worked solution before the answer.

    A problem without one has the answer alone.
    """
    record = to_sft(row, split, index)
    demonstration = Instance.from_row(row).demonstration()
    if isinstance(demonstration, str):
        record["messages"][-1]["content"] = demonstration
    return record


EXPORTS: dict[str, Export] = {
    "trl": to_trl,
    "verl": to_verl,
    "openrlhf": to_openrlhf,
    "nemo_gym": to_nemo_gym,
    "verifiers": to_verifiers,
    "sft": to_sft,
    "sft_explained": to_sft_explained,
}
# NeMo Gym reads JSONL alone.
JSONL_ONLY = ("nemo_gym",)


def find_export(name: str) -> Export:
    """Return the export of a name.

    Raises:
        ConfigError: there is none.
    """
    if name not in EXPORTS:
        hint = did_you_mean(name, EXPORTS)
        raise ConfigError(f"no export {name!r}{hint} (known: {', '.join(EXPORTS)})")
    return EXPORTS[name]


def write_export(name: str, rows: Iterable[Row], path: Path, split: str = "train") -> int:
    """Write the export of rows to a JSONL or Parquet file; return how many there were.

    Raises:
        ConfigError: there is no such export, or it has no such file format.
        DependencyError: Parquet is wanted and pyarrow is missing.
    """
    export = find_export(name)
    allowed = JSONL_SUFFIXES if name in JSONL_ONLY else (*JSONL_SUFFIXES, *PARQUET_SUFFIXES)
    if path.suffix not in allowed:
        raise ConfigError(f"a {name} file ends in {' or '.join(allowed)}, got {str(path)!r}")
    write = _write_parquet if path.suffix in PARQUET_SUFFIXES else _write_jsonl
    partial = path.with_name(path.name + ".part")
    count = write((export(row, split, index) for index, row in enumerate(rows)), partial)
    partial.replace(path)
    return count


def _write_jsonl(records: Iterable[Record], path: Path) -> int:
    count = 0
    with path.open("wb") as file:
        for record in records:
            file.write(json_line(record))
            count += 1
    return count


def _write_parquet(records: Iterable[Record], path: Path) -> int:
    arrow = require_pyarrow()
    batches = _batches(records)
    first = next(batches, None)
    if first is None:
        raise ConfigError("there are no rows to export")
    schema = arrow.schema([(key, _arrow_type(arrow, value)) for key, value in first[0].items()])
    count = 0
    with arrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in chain([first], batches):
            writer.write_table(arrow.Table.from_pylist(batch, schema=schema))
            count += len(batch)
    return count


def _batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    batch: list[Record] = []
    for record in records:
        batch.append(record)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _arrow_type(arrow: Any, value: object) -> Any:
    """Return the type of a column of ours; what may be None is an integer."""
    if isinstance(value, str):
        return arrow.string()
    if isinstance(value, dict):
        return arrow.struct([(key, _arrow_type(arrow, item)) for key, item in value.items()])
    if isinstance(value, list):
        return arrow.list_(_arrow_type(arrow, value[0]))
    return arrow.int64()
