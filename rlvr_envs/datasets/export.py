"""Exports: rows in the shapes that trainers read.

Each export is a pure function of a row, its split and its number. All but those for supervised
fine-tuning carry the whole row as JSON text, so that a reward function needs nothing else::

    score = rlvr_envs.verify(json.loads(text), response).score

A trainer needs other settings to play an interactive task than to ask for one response: a rollout
function, an agent. So the rows of interactive tasks never stand among the others: they go into a
file of their own beside it (`interactive_path`).
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from rlvr_envs.core import registry
from rlvr_envs.core.errors import ConfigError, UsageError, did_you_mean
from rlvr_envs.core.files import replaced, replaced_path
from rlvr_envs.core.instance import Instance, Row, row_errors
from rlvr_envs.core.problem import canonical
from rlvr_envs.core.tables import JSONL_SUFFIXES, PARQUET_SUFFIXES, require_pyarrow
from rlvr_envs.core.task import InteractiveTask
from rlvr_envs.datasets.rows import json_line

Record = dict[str, Any]
Export = Callable[[Row, str, int], Record]
Write = Callable[[Record], object]

# The names under which a NeMo Gym configuration must list the agents of these rows: one that asks
# for a response, and one that plays.
NEMO_GYM_AGENT = "rlvr_envs_agent"
NEMO_GYM_PLAYER = "rlvr_envs_gymnasium_agent"

# The agent loops of verl: its own, which asks for a response, and the name of one that plays.
VERL_AGENT = "single_turn_agent"
VERL_PLAYER = "rlvr_envs"
_BATCH = 4096


def _chat(row: Row) -> list[Record]:
    return [{"role": "user", "content": row["prompt"]}]


def _interactive(row: Row) -> bool:
    return registry.find(row["id"]).interactive


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
    """Return a row for verl; its reward function gets the row as ``ground_truth``.

    Each row names its agent loop, so that one run can train on files of both kinds.
    """
    return {
        "data_source": row["id"],
        "prompt": _chat(row),
        "ability": registry.find(row["id"]).domain,
        "agent_name": VERL_PLAYER if _interactive(row) else VERL_AGENT,
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
    """Return a row for OpenRLHF: use ``--data.input_key input --data.label_key label``."""
    return {"input": _chat(row), "label": canonical(row), "datasource": row["id"]}


def to_nemo_gym(row: Row, split: str, index: int) -> Record:
    """Return a row for NeMo Gym; keys beside its own reach the server."""
    agent = NEMO_GYM_PLAYER if _interactive(row) else NEMO_GYM_AGENT
    return {
        "responses_create_params": {"input": _chat(row)},
        "agent_ref": {"type": "responses_api_agents", "name": agent},
        "row": canonical(row),
        "id": row["id"],
        "difficulty": row.get("difficulty"),
        "fingerprint": row.get("fingerprint"),
    }


def to_verifiers(row: Row, split: str, index: int) -> Record:
    """Return a row for verifiers; what scores it finds the whole row in ``info``.

    The keys are those of a ``TaskData`` with two fields more, ``answer`` and ``info``; versions
    before 0.4 read the same ones.
    """
    return {
        "name": row["id"],
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
# Whose records hold the oracle's whole dialogue, so that one file takes the rows of all tasks.
DIALOGUES = ("sft", "sft_explained")


def find_export(name: str) -> Export:
    """Return the export of a name.

    Raises:
        ConfigError: there is none.
    """
    if name not in EXPORTS:
        hint = did_you_mean(name, EXPORTS)
        raise ConfigError(f"no export {name!r}{hint} (known: {', '.join(EXPORTS)})")
    return EXPORTS[name]


def interactive_path(path: Path) -> Path:
    """Return the file for the rows of interactive tasks, such as ``train.interactive.jsonl``."""
    return path.with_name(f"{path.stem}.interactive{path.suffix}")


def write_export(
    name: str, rows: Iterable[Row], path: Path, split: str = "train"
) -> dict[Path, int]:
    """Write the export of rows to a JSONL or Parquet file; return each file and its rows' number.

    Rows of interactive tasks go to `interactive_path`, but for exports of `DIALOGUES`. A file of
    either name that an earlier export left and this one does not write is removed.

    Raises:
        ConfigError: there is no such export, or it has no such file format, or there are no rows.
        DependencyError: Parquet is wanted and pyarrow is missing.
        RowError: a row is incomplete or was altered, or would open what it names.
    """
    export = find_export(name)
    allowed = JSONL_SUFFIXES if name in JSONL_ONLY else (*JSONL_SUFFIXES, *PARQUET_SUFFIXES)
    if path.suffix not in allowed:
        raise ConfigError(f"a {name} file ends in {' or '.join(allowed)}, got {str(path)!r}")
    open_file = _parquet_file if path.suffix in PARQUET_SUFFIXES else _jsonl_file
    beside = interactive_path(path)
    counts: dict[Path, int] = {}
    with ExitStack() as stack:
        writers: dict[Path, Write] = {}
        for index, row in enumerate(rows):
            target = beside if name not in DIALOGUES and _interactive(row) else path
            if target not in writers:
                writers[target] = stack.enter_context(open_file(target))
            with row_errors(str(row.get("id"))):
                record = export(row, split, index)
            writers[target](record)
            counts[target] = counts.get(target, 0) + 1
    if not counts:
        raise ConfigError("there are no rows to export")
    for target in {path, beside} - set(counts):
        target.unlink(missing_ok=True)
    return dict(sorted(counts.items(), key=lambda item: item[0] == beside))


@contextmanager
def _jsonl_file(path: Path) -> Iterator[Write]:
    with replaced(path) as file:
        yield lambda record: file.write(json_line(record))


@contextmanager
def _parquet_file(path: Path) -> Iterator[Write]:
    """Open a Parquet file, whose schema is that of the first record."""
    arrow = require_pyarrow()
    batch: list[Record] = []
    with replaced_path(path) as beside, ExitStack() as stack:
        writer: Any = None

        def flush() -> None:
            nonlocal writer
            if writer is None:
                columns = [(key, _arrow_type(arrow, value)) for key, value in batch[0].items()]
                schema = arrow.schema(columns)
                writer = stack.enter_context(
                    arrow.parquet.ParquetWriter(beside, schema, compression="zstd")
                )
            writer.write_table(arrow.Table.from_pylist(batch, schema=writer.schema))
            batch.clear()

        def write(record: Record) -> None:
            batch.append(record)
            if len(batch) == _BATCH:
                flush()

        yield write
        if batch:
            flush()


def _arrow_type(arrow: Any, value: object) -> Any:
    """Return the type of a column of ours; what may be None is an integer."""
    if isinstance(value, str):
        return arrow.string()
    if isinstance(value, dict):
        return arrow.struct([(key, _arrow_type(arrow, item)) for key, item in value.items()])
    if isinstance(value, list):
        return arrow.list_(_arrow_type(arrow, value[0]))
    return arrow.int64()
