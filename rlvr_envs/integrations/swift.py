"""ms-swift 4: a reward function for ``swift rlhf --rlhf_type grpo``, and its dataset.

Importing this module registers the reward under the name `REWARD`. On the command line a file with
the line ``import rlvr_envs.integrations.swift`` does, given as ``--external_plugins``. Do not give
this file itself: ms-swift would put its folder on the path, where it hides ms-swift.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from swift.rewards import ORM, orms

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.files import replaced
from rlvr_envs.core.instance import Instance
from rlvr_envs.core.problem import canonical
from rlvr_envs.integrations.judging import judge_texts, score_of
from rlvr_envs.integrations.rows import open_rows

REWARD = "rlvr"


class RowScore(ORM):
    """Scores completions by the rows in the column ``row``, in worker processes."""

    def __call__(
        self, completions: Sequence[str], row: Sequence[str], **_: Any
    ) -> list[float | None]:
        """Return the scores; None, which ms-swift counts as 0, for what could not be scored.

        Raises:
            RowError: a row was altered.
            UsageError: a row is of a task of several turns.
        """
        return [score_of(verdict) for verdict in judge_texts(row, completions)]


orms[REWARD] = RowScore


def write_dataset(
    source: str | Path | Sequence[str], path: str | Path, *, text: bool = False, **selection: Any
) -> int:
    """Write problems of one turn as ms-swift reads them, JSONL; return how many there are.

    Args:
        source: an id or several, or the path of a dataset folder or file.
        path: of the file.
        text: whether the model has no chat template, so that a line end closes the prompt.
        selection: ``count``, ``difficulty``, ``seed`` and the like: see
            `rlvr_envs.integrations.rows.open_rows`.

    Raises:
        ConfigError: an argument is wrong, or a task is played in several turns.
        RegistrationError: there is no such id.
        RowError: a row of the dataset cannot be read.
    """
    rows = open_rows(source, **selection)
    lines = []
    for row in rows:
        if Instance.from_row(row).interactive:
            raise ConfigError(f"{row['id']} is played in several turns, and this reward has one")
        prompt = {"role": "user", "content": row["prompt"] + "\n" * text}
        lines.append(json.dumps({"messages": [prompt], "row": canonical(row)}))
    with replaced(Path(path)) as file:
        file.write(("\n".join(lines) + "\n").encode())
    return len(lines)
