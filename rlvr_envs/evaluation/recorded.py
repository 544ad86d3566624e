"""Responses that were recorded before, as a policy."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rlvr_envs.core import registry
from rlvr_envs.core.errors import ConfigError, RowError, did_you_mean_path, misspelt
from rlvr_envs.evaluation.policy import Policy, PolicyError, Request, Response, nth_action


class RecordedPolicy(Policy):
    """Responses from a JSONL file, such as the ``episodes.jsonl`` of another run.

    A row names its problem by ``problem_seed``, ``index`` or ``fingerprint``, may narrow it by
    ``id`` and ``difficulty``, and holds ``response``: a text, or the list of actions of an
    interactive episode. Rows of one problem are its samples, in order.
    """

    def __init__(self, name: str, path: Path) -> None:
        super().__init__(name)
        self._path = path
        self._responses = _read_recorded(path)

    def __reduce__(self) -> Any:  # another process reads the file itself
        return RecordedPolicy, (self.name, self._path.resolve())

    async def act(self, request: Request) -> Response:
        for key in _recorded_keys(request):
            found = self._responses.get(key)
            if found is not None:
                if request.sample >= len(found):
                    raise PolicyError(f"only {len(found)} responses are recorded for this problem")
                return Response(nth_action(found[request.sample], request.turn, "recording"))
        raise PolicyError("no response is recorded for this problem")


# Key of a row: the kind of name, the id or None, the difficulty or "any", and the name.
_RecordKey = tuple[str, str | None, Any, Any]
_ANY = "any"


def _recorded_keys(request: Request) -> list[_RecordKey]:
    instance = request.instance
    names = (
        ("problem_seed", instance.problem_seed),
        ("index", request.index),
        ("fingerprint", instance.fingerprint()),
    )
    return [
        (kind, task_id, level, name)
        for kind, name in names
        if name is not None
        for task_id in (instance.spec.id, None)
        for level in (instance.difficulty, _ANY)
    ]


def _read_recorded(path: Path) -> dict[_RecordKey, list[str | list[str]]]:
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except FileNotFoundError:
        raise ConfigError(
            f"there is no file {str(path)!r} of recorded responses{did_you_mean_path(path)}"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"the recorded responses {str(path)!r} cannot be read: {error}"
        ) from error
    found: dict[_RecordKey, dict[int, str | list[str]]] = {}
    policies = set()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        row = _recorded_row(line, f"{path}, line {number}")
        if row.get("response") is None:
            continue  # an episode that had no response
        policies.add(row.get("policy"))
        for key in _row_keys(row):
            samples = found.setdefault(key, {})
            samples[row.get("sample", len(samples))] = row["response"]
    if len(policies) > 1:
        names = ", ".join(sorted(map(repr, policies)))
        raise ConfigError(f"{path} holds responses of several policies ({names}): split it first")
    return {key: [samples[i] for i in sorted(samples)] for key, samples in found.items()}


def _recorded_row(line: str, where: str) -> Mapping[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RowError(f"{where}: not JSON ({error})") from error
    if not isinstance(row, dict) or "response" not in row:
        hint = misspelt("response", row) if isinstance(row, dict) else ""
        raise RowError(f"{where}: a row is an object with 'response', got {line:.80}{hint}")
    response = row["response"]
    texts = response if isinstance(response, list) else [response]
    if response is not None and not (texts and all(isinstance(text, str) for text in texts)):
        raise RowError(f"{where}: 'response' is a text or a list of texts, got {response!r:.80}")
    for name in ("problem_seed", "index", "sample", "difficulty"):
        value = row.get(name, 0)
        unset = value is None and name != "sample"
        if not unset and (isinstance(value, bool) or not isinstance(value, int)):
            raise RowError(f"{where}: {name!r} is an integer, got {value!r:.80}")
    for name in ("fingerprint", "policy"):
        if not isinstance(row.get(name, ""), str | None):
            raise RowError(f"{where}: {name!r} is a text, got {row[name]!r:.80}")
    if not any(row.get(kind) is not None for kind in ("problem_seed", "index", "fingerprint")):
        raise RowError(f"{where}: the row needs 'problem_seed', 'index' or 'fingerprint'")
    return row


def _row_keys(row: Mapping[str, Any]) -> list[_RecordKey]:
    named = row.get("task") or row.get("id")
    task_id = registry.full_id(str(named)) if named else None
    if task_id in registry.mixture_ids():
        task_id = None
    level = row.get("difficulty", _ANY)
    return [
        (kind, task_id, level, row[kind])
        for kind in ("problem_seed", "index", "fingerprint")
        if row.get(kind) is not None
    ]
