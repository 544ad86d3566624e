"""The rows that a client trains on or is evaluated with: new ones, or those of a dataset."""

from collections.abc import Mapping, Sequence
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.instance import Instance, Row
from rlvr_envs.datasets.read import read_rows
from rlvr_envs.evaluation.plan import Cell, Plan, Question, expand_ids, read_difficulties

DEFAULT_COUNT = 100

# The arguments of `open_rows` that a client may set; every other name is a knob.
_OPTIONS = ("count", "difficulty", "seed", "split", "answer_format")


def open_rows(  # noqa: PLR0913 - every argument is the user's, and all but one are keywords
    source: str | Path | Sequence[str],
    *,
    count: int | None = None,
    difficulty: int | str | None = None,
    seed: int = 0,
    split: str | None = None,
    answer_format: str | None = None,
    knobs: Mapping[str, Any] | None = None,
) -> list[Row]:
    """Return rows of ids, or of a dataset.

    New rows are distinct and depend on the arguments alone. A dataset or file of rows is read in
    its order, so ``difficulty``, ``seed``, ``answer_format`` and ``knobs`` do not apply to it.

    Args:
        source: an id or several (``"Gcd-v0"``), or the path of a dataset folder or file.
        count: how many rows, shared evenly by ids and difficulties; None for 100 new rows, or
            for all rows of a dataset.
        difficulty: a difficulty level, or several as ``"0-3"`` or ``"0,2,5"``; None for the
            defaults of the tasks.
        seed: what new problems are derived from.
        split: of a dataset folder; all of them by default.
        answer_format: the label of an answer format, instead of each task's own.
        knobs: fields of the tasks' configuration, by name.

    Raises:
        ConfigError: an argument is out of range, or there are too few distinct problems.
        RegistrationError: there is no such id.
        RowError: a row of the dataset cannot be read.
    """
    if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
        raise ConfigError(f"count is an integer from 1, or None, got {count!r}")
    if isinstance(source, (str, Path)) and Path(source).exists():
        return list(islice(read_rows(Path(source), split), count))
    if isinstance(source, Path):
        raise ConfigError(f"there is no dataset {str(source)!r}")
    levels = (difficulty,) if isinstance(difficulty, int) else read_difficulties(difficulty)
    ids = expand_ids([source] if isinstance(source, str) else source)
    wanted = count or DEFAULT_COUNT
    plan = Plan(
        ids=ids,
        difficulties=levels,
        episodes=-(-wanted // (len(ids) * len(levels) or 1)),
        seed=seed,
        answer_format=answer_format,
        knobs=knobs or {},
    )
    seen: set[str] = set()
    asked = zip_longest(*(_distinct(cell, plan, seen) for cell in plan.cells()))
    questions = [question for question in chain.from_iterable(asked) if question is not None]
    return [question.instance().to_row() for question in questions[:wanted]]


def read_options(source: str | Path | Sequence[str], options: Mapping[str, Any]) -> list[Row]:
    """Return the rows of options that a client read from its command line or a file.

    These are the arguments of `open_rows` by name; other names are knobs. A list of difficulty
    levels is one too.

    Args:
        source: as in `open_rows`.
        options: their names and values.

    Raises:
        ConfigError: an option is unknown or out of range, or is of no use for a dataset.
        RegistrationError: there is no such id.
        RowError: a row of the dataset cannot be read.
    """
    given = {name: value for name, value in options.items() if name in _OPTIONS}
    knobs = {name: value for name, value in options.items() if name not in _OPTIONS}
    stored = isinstance(source, (str, Path)) and Path(source).exists()
    useless = sorted({*options} - {"count", "split"}) if stored else []
    if useless:
        raise ConfigError(
            f"a dataset takes the options count and split alone, got {', '.join(useless)}"
        )
    if isinstance(given.get("difficulty"), (list, tuple)):
        given["difficulty"] = ",".join(map(str, given["difficulty"]))
    return open_rows(source, **given, knobs=knobs)


def _distinct(cell: Cell, plan: Plan, seen: set[str]) -> list[Question]:
    def new(instance: Instance) -> bool:
        fingerprint = instance.fingerprint()
        known = fingerprint in seen
        seen.add(fingerprint)
        return not known

    return cell.questions(plan, keep=new)
