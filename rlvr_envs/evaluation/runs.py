"""Finished and growing runs to look at: what `rlvr eval` and `rlvr train` store, in one shape.

Files are read as streams, so a run may be larger than memory.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

from rlvr_envs.core import registry
from rlvr_envs.core.errors import ConfigError, RlvrEnvsError, RowError, did_you_mean
from rlvr_envs.core.files import json_lines
from rlvr_envs.evaluation.store import (
    CONFIG,
    EPISODES,
    PROBLEMS,
    Record,
    question_of,
    read_problems,
    read_records,
)

SAMPLES = "samples.jsonl"  # of a training run; `rlvr_envs.agents` writes it

# Fields of a record that are numbers or words about the episode, as a reader of it may want them.
_FACTS = ("finish", "tokens", "prompt_tokens", "elapsed_s", "attempts", "opponent", "side")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEpisode:
    """One episode of a run, whichever command wrote it.

    Attributes:
        key: episodes of a run with the same key are one episode, of which the last counts; None
            where a file only has different ones.
        policy: the policy's name; of a training run the run's name.
        question: ``task|level|problem seed`` (or ``#index``), the same in all runs.
        level: the difficulty level, or None for the defaults of the knobs.
        fingerprint: of the problem, where it is stored.
        sample: which response to the question it is.
        score: None if the episode is not scored.
        step: of training, else None; ``reward`` likewise.
        chars: length of all actions.
        prompt: where the record itself has it.
        actions: what the policy wrote, turn by turn.
        replies: what the environment answered to each action, as far as it is stored.
        reasoning: what the policy thought before each action, as far as it is stored.
        calls: the tool calls that each action stands for, as text, with what was said beside them.
        facts: other fields of the record, by name.
    """

    key: str | None
    policy: str
    question: str
    task: str | None
    domain: str | None
    level: int | None
    fingerprint: str | None
    sample: int
    status: str
    score: float | None
    step: int | None = None
    reward: float | None = None
    turns: int
    chars: int
    answer: str | None = None
    prompt: str | None = None
    actions: list[str]
    replies: list[str]
    reasoning: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    detail: str
    parts: Mapping[str, Any]
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Run:
    """The folder of a run, of one of its policies only if ``policy`` is given."""

    path: Path
    policy: str | None = None

    @property
    def name(self) -> str:
        """The folder's name."""
        return _whole(self.path.resolve().name)

    @property
    def training(self) -> bool:
        """Whether `rlvr train` wrote it."""
        return not (self.path / EPISODES).exists()

    @property
    def size(self) -> int:
        """The bytes of the file of its episodes, which grows with each."""
        path = self.path / (SAMPLES if self.training else EPISODES)
        return path.stat().st_size if path.exists() else 0

    def seed(self) -> int | None:
        """Return the seed of an evaluation's problems, if it is stored."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            stored = json.loads((self.path / CONFIG).read_text("utf-8"))["config"]
            found = stored["seed"]
            return found if isinstance(found, int) else None
        return None

    def problems(self) -> Iterator[dict[str, Any]]:
        """Yield the stored problems; none of a run from before they were stored.

        Raises:
            RowError: a line is not a problem.
        """
        yield from read_problems(self.path / PROBLEMS)

    def episodes(self) -> Iterator[StoredEpisode]:
        """Yield the episodes in the order of the file.

        Raises:
            RowError: a line is not an episode.
        """
        found = self._samples() if self.training else map(_evaluated, self._records())
        yield from (each for each in found if self.policy in (None, each.policy))

    def _records(self) -> Iterator[Record]:
        return read_records(self.path / EPISODES)

    def _samples(self) -> Iterator[StoredEpisode]:
        counts: dict[str, int] = {}
        path = self.path / SAMPLES
        for number, _, _, row in json_lines(path):
            try:
                question = _whole(f"{row['task']}|{row['difficulty']}|{row['problem_seed']}")
                sample = counts.get(question, 0)
                counts[question] = sample + 1
                yield _trained(row, self.name, question, sample)
            except (KeyError, TypeError, ValueError) as error:
                fault = f"no sample of a training run ({error!r})"
                raise RowError(f"{path}, line {number}: {fault}: {row!r:.60}") from error


def _evaluated(record: Record) -> StoredEpisode:
    verdict = record["verdict"]
    return StoredEpisode(
        key=record["key"],
        policy=_whole(record["policy"]),
        question=_whole(question_of(record)),
        task=record["task"],
        domain=record["domain"],
        level=record["difficulty"],
        fingerprint=record.get("fingerprint"),
        sample=record["sample"],
        status=verdict["status"],
        score=float(verdict["score"]) if record["scored"] else None,
        turns=record["turns"],
        chars=record["response_chars"],
        answer=record["answer"],
        actions=_texts(record["response"]),
        replies=_texts(record.get("replies")),
        reasoning=_texts(record.get("reasoning")),
        calls=_calls(record),
        detail=str(verdict.get("detail") or ""),
        parts=_mapping(verdict.get("parts")),
        facts={name: record[name] for name in _FACTS if record.get(name) is not None},
    )


def _trained(row: Mapping[str, Any], name: str, question: str, sample: int) -> StoredEpisode:
    *actions, end = [*_texts(row["texts"]), ""]
    if actions and actions[-1].startswith(f"[{row['status']}"):  # the verdict, after the actions
        end = actions.pop()
    facts = {"tokens": row.get("tokens"), "finished": row.get("finished")}
    if len(turn_rewards := row.get("turn_rewards") or []) > 1:
        facts["turn_rewards"] = turn_rewards
    return StoredEpisode(
        key=None,
        policy=name,
        question=question,
        task=row["task"],
        domain=_domain(row["task"]),
        level=row["difficulty"],
        fingerprint=None,
        sample=sample,
        status=str(row["status"]),
        score=None if row["score"] is None else float(row["score"]),
        step=int(row["step"]),
        reward=None if row["reward"] is None else float(row["reward"]),
        turns=len(actions),
        chars=sum(map(len, actions)),
        prompt=row.get("prompt"),
        actions=actions,
        replies=_texts(row.get("observations")),
        detail=end.partition("] ")[2],
        parts=_mapping(row.get("info")),
        facts={name: value for name, value in facts.items() if value is not None},
    )


def _whole(name: str) -> str:
    """Return a name without halves of surrogate pairs, which no address or terminal can hold."""
    return name.encode("utf-8", "replace").decode("utf-8")


def _texts(found: object) -> list[str]:
    """Return texts of a field that holds one, several, or none."""
    if isinstance(found, list):
        return ["" if each is None else str(each) for each in found]
    return [] if found is None else [str(found)]


def _calls(record: Record) -> list[str]:
    """Return the tool calls of each turn, as the endpoint gave them."""
    turns, beside = record.get("tool_calls"), _texts(record.get("beside_calls"))
    if not isinstance(turns, list):
        return []
    found = []
    for said, calls in zip_longest(beside, turns, fillvalue=""):
        each_call = calls if isinstance(calls, list) else ()
        named = [_mapping(_mapping(call).get("function")) for call in each_call]
        texts = [f"{each.get('name')}({each.get('arguments')})" for each in named]
        found.append("\n".join(filter(None, [said, *texts])))
    return found


def _mapping(found: object) -> Mapping[str, Any]:
    return found if isinstance(found, dict) else {}


@cache
def _domain(task: str) -> str | None:
    """Return a task's domain; None for one that is not registered here, as of a plug-in."""
    with suppress(RlvrEnvsError, ImportError):
        return registry.find(task).domain
    return None


def open_runs(named: Iterable[str]) -> list[Run]:
    """Return the runs of ``FOLDER`` or ``FOLDER:policy``; a folder may hold several runs.

    Raises:
        ConfigError: there is no such run or policy, or one is given twice.
    """
    found: list[Run] = []
    for text in named:
        for run in _opened(text):
            if any(r.path.samefile(run.path) and r.policy == run.policy for r in found):
                raise ConfigError(f"the run {str(run.path)!r} is given twice")
            found.append(run)
    return found


def _opened(text: str) -> list[Run]:
    if Path(text).is_dir():
        path, policy = Path(text), None
    else:
        path, policy = _split(text)
    if _is_run(path):
        run = Run(path, policy)
        if policy is not None and not any(True for _ in run.episodes()):
            names = sorted({each.policy for each in Run(path).episodes()})
            hint = did_you_mean(policy, names)
            raise ConfigError(f"{path} has no policy {policy!r}{hint}; it has {', '.join(names)}")
        return [run]
    inside = [each for each in sorted(path.iterdir()) if each.is_dir() and _is_run(each)]
    if not inside:
        raise ConfigError(
            f"{str(path)!r} holds no run: neither {EPISODES} (of rlvr eval --out) nor {SAMPLES} "
            "(of rlvr train), nor folders with one"
        )
    return [Run(each, policy) for each in inside]


def _split(text: str) -> tuple[Path, str]:
    """Return folder and policy, which may both hold colons: at the first one after a folder."""
    parts = text.split(":")
    for place in range(1, len(parts)):
        folder = Path(":".join(parts[:place]))
        if folder.is_dir():
            return folder, ":".join(parts[place:])
    raise ConfigError(f"there is no folder {text!r}: give the folder of a run, or FOLDER:policy")


def _is_run(path: Path) -> bool:
    return any((path / name).is_file() for name in (EPISODES, SAMPLES))


def labels(series: Sequence[tuple[Run, str]]) -> list[str]:
    """Return a short name for each policy of each run, such that no two are the same."""
    ways = (
        [policy for _, policy in series],
        [run.name for run, _ in series],
        [run.name if run.training else f"{run.name}: {policy}" for run, policy in series],
        [f"{run.path}: {policy}" for run, policy in series],
    )
    return next((way for way in ways if len(set(way)) == len(way)), ways[-1])
