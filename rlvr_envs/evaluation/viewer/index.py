"""The files of the page: scripts that each hand a piece of data to `data.js`.

A page opened as a file may not fetch anything, but may load scripts. So every piece of data is a
script that calls ``rlvr(name, number, data)``. What the table shows is there in columns; prompts
and episodes are in pieces of their own, which are loaded when they are looked at or searched. All
of it is ASCII and JSON, and the page puts it into text nodes alone, so no text can become markup or
code.
"""

import hashlib
import json
import math
import shutil
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from typing import Any

from rlvr_envs.core.errors import ConfigError, RowError
from rlvr_envs.core.version import __version__
from rlvr_envs.evaluation.compare import Answered, PairComparison, Series, compare
from rlvr_envs.evaluation.metrics import Estimate, clustered_mean
from rlvr_envs.evaluation.page import mark_of
from rlvr_envs.evaluation.runs import Run, StoredEpisode, labels
from rlvr_envs.evaluation.viewer.plots import figures, plotly_script

DATA = "data"
MAIN = "main.js"  # the piece that is read first, and written last
_STATIC = ("index.html", "viewer.css", "data.js", "viewer.js")

ROWS = 10_000  # of the table in a piece
_TEXTS = 400  # episodes or problems in a piece, at most
_CHARS = 500_000  # in a piece, unless one alone has more
_ANSWER_CHARS = 80  # of an answer in the table; the whole response is a click away
_CHANGES = 1_000  # problems listed for a pair
_ALL_PAIRS = 12  # series of which every two are compared; of more, each with the first


@dataclass(slots=True)
class _Pieces:
    """Writes texts in pieces; ``starts`` says with which text each piece begins."""

    folder: Path
    name: str
    starts: list[int] = field(default_factory=list)
    count: int = 0
    _lines: list[str] = field(default_factory=list)
    _chars: int = 0

    def add(self, data: Mapping[str, Any]) -> int:
        """Add a text and return its number."""
        line = _ascii(data)
        if self._lines and (len(self._lines) >= _TEXTS or self._chars + len(line) > _CHARS):
            self.flush()
        self._lines.append(line)
        self._chars += len(line)
        self.count += 1
        return self.count - 1

    def flush(self) -> None:
        """Write what is waiting."""
        if self._lines:
            number = len(self.starts)
            self.starts.append(self.count - len(self._lines))
            _write(self.folder, self.name, number, f"[{','.join(self._lines)}]")
            self._lines, self._chars = [], 0


@dataclass(slots=True)
class _Words:
    """Numbers for words that many rows share; -1 for None."""

    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, word: str | None) -> int:
        """Return the number of a word."""
        return -1 if word is None else self.numbers.setdefault(word, len(self.numbers))

    def words(self) -> list[str | None]:
        """Return the words in order, and None at the end, where -1 is."""
        return [*self.numbers, None]


class _Problems:
    """The problems of all runs, each once."""

    def __init__(self, folder: Path) -> None:
        self.texts = _Pieces(folder, "problem")
        self.tasks, self.domains = _Words(), _Words()
        self.questions: list[str] = []
        self.fingerprints: list[str | None] = []
        self.task, self.domain = array("l"), array("l")
        self.levels: list[int | None] = []
        self._numbers: dict[tuple[str, str | None], int] = {}

    def add_stored(self, row: Mapping[str, Any]) -> None:
        """Add a problem of a run's file."""
        key = row["question"], row.get("fingerprint")
        if key not in self._numbers:
            # Its id may be that of a mixture, so the task is taken from the episodes.
            self._add(key, row.get("difficulty"), _problem_texts(row))

    def number(self, each: StoredEpisode) -> int:
        """Return the number of an episode's problem, which is added if it is not stored."""
        known = each.fingerprint
        if known is None and each.prompt is not None:  # of training, where wrappers may add to it
            known = "prompt " + hashlib.sha256(_utf8(each.prompt)).hexdigest()[:16]
        key = each.question, known
        if key not in self._numbers:
            self._add(key, each.level, {"prompt": each.prompt})
        number = self._numbers[key]
        if each.task is not None:
            self.task[number] = self.tasks.number(each.task)
            self.domain[number] = self.domains.number(each.domain)
        return number

    def _add(
        self, key: tuple[str, str | None], level: int | None, texts: Mapping[str, Any]
    ) -> None:
        self._numbers[key] = self.texts.add(texts)
        self.questions.append(key[0])
        self.fingerprints.append(key[1])
        self.task.append(-1)
        self.domain.append(-1)
        self.levels.append(level)


class _Table:
    """The episodes in columns, without their texts."""

    def __init__(self) -> None:
        self.statuses = _Words()
        self.series: dict[tuple[int, str], int] = {}
        self.columns: dict[str, Any] = {
            "series": array("l"),
            "problem": array("l"),
            "sample": array("q"),
            "status": array("l"),
            "score": array("d"),  # NaN: not scored
            "turns": array("l"),
            "chars": array("q"),
            "text": array("l"),
            "step": array("q"),  # -1: not of training
            "reward": array("d"),
            "answer": [],
        }
        self._rows: dict[tuple[int, str], int] = {}
        self._replaced: set[int] = set()

    def add(self, run: int, each: StoredEpisode, problem: int, text: int) -> None:
        """Add an episode, in place of an earlier one with the same key."""
        values = {
            "series": self.series.setdefault((run, each.policy), len(self.series)),
            "problem": problem,
            "sample": each.sample,
            "status": self.statuses.number(each.status),
            "score": math.nan if each.score is None else each.score,
            "turns": each.turns,
            "chars": each.chars,
            "text": text,
            "step": -1 if each.step is None else each.step,
            "reward": math.nan if each.reward is None else each.reward,
            "answer": None if each.answer is None else each.answer[:_ANSWER_CHARS],
        }
        row = len(self.columns["series"])
        for name, column in self.columns.items():
            column.append(values[name])
        if each.key is not None:
            earlier = self._rows.get((run, each.key))
            if earlier is not None:
                self._replaced.add(earlier)
            self._rows[run, each.key] = row

    def drop_replaced(self) -> None:
        """Leave the last episode of every key."""
        self._rows = {}
        if self._replaced:
            kept = [i for i in range(len(self)) if i not in self._replaced]
            for name, column in self.columns.items():
                left = [column[i] for i in kept]
                self.columns[name] = array(column.typecode, left) if name != "answer" else left
            self._replaced = set()

    def __len__(self) -> int:
        return len(self.columns["series"])


def write_page(runs: Sequence[Run], folder: Path) -> int:
    """Write the page of some runs into a folder and return how many episodes it shows.

    Raises:
        ConfigError: the folder holds something else, or the runs have no episode.
        RowError: a file of a run cannot be read.
    """
    data = _made(folder)
    problems, texts, table = _Problems(data), _Pieces(data, "text"), _Table()
    for run in runs:
        for row in run.problems():
            problems.add_stored(row)
    for place, run in enumerate(runs):
        for each in run.episodes():
            try:
                table.add(place, each, problems.number(each), texts.add(_episode_texts(each)))
            except OverflowError as error:
                told = f"{run.path}: a number of the episode {each.question!r} is too large"
                raise RowError(told) from error
    table.drop_replaced()
    if not len(table):
        raise ConfigError(f"no episode has ended yet in {', '.join(str(run.path) for run in runs)}")
    for pieces in (problems.texts, texts):
        pieces.flush()
    _write_all(data, runs, problems, texts, table)
    return len(table)


def _made(folder: Path) -> Path:
    """Make the folder, with the files that are the same for all runs, and return that of data."""
    data = folder / DATA
    ours = all((folder / name).exists() for name in _STATIC)
    if folder.exists() and not ours and any(folder.iterdir()):
        raise ConfigError(f"{str(folder)!r} holds other files: give a new folder, or an empty one")
    if data.exists():
        shutil.rmtree(data)
    data.mkdir(parents=True)
    for name in _STATIC:
        source = files("rlvr_envs.evaluation.viewer").joinpath(name)
        (folder / name).write_bytes(source.read_bytes())
    return data


def _write_all(
    data: Path, runs: Sequence[Run], problems: _Problems, texts: _Pieces, table: _Table
) -> None:
    series = [(runs[run], policy) for run, policy in table.series]
    names = labels(series)
    answers = _answers(names, problems, table)
    pairs = list(combinations(range(len(names)), 2))
    if len(names) > _ALL_PAIRS:
        pairs = [(0, other) for other in range(1, len(names))]
    for number, (first, second) in enumerate(pairs):
        _write(data, "pair", number, _ascii(_pair(compare(answers[first], answers[second]))))
    scores = _score_rows(answers)
    drawn = figures(names, scores)
    for number, figure in enumerate(drawn):
        _write(data, "figure", number, figure)
    if drawn:
        (data / "plotly.js").write_text(plotly_script(), encoding="utf-8")
    for number, start in enumerate(range(0, len(table), ROWS)):
        rows = {n: _plain(column[start : start + ROWS]) for n, column in table.columns.items()}
        _write(data, "table", number, _ascii(rows))
    columns = {
        "question": problems.questions,
        "task": problems.task.tolist(),
        "domain": problems.domain.tolist(),
        "level": problems.levels,
    }
    _write(data, "problems", 0, _ascii(columns))
    main = {
        "version": __version__,
        "runs": mark_of(run.path for run in runs),
        "rows": len(table),
        "pieces": -(-len(table) // ROWS),
        "series": [
            _facts(run, policy, answered)
            for (run, policy), answered in zip(series, answers, strict=True)
        ],
        "tasks": list(problems.tasks.numbers),
        "domains": list(problems.domains.numbers),
        "statuses": list(table.statuses.numbers),
        "training": max(table.columns["step"]) >= 0,
        "texts": texts.starts,
        "problems": problems.texts.starts,
        "pairs": pairs,
        "scores": [[task, level, *map(_interval, found)] for task, level, found in scores],
        "figures": len(drawn),
    }
    (data / MAIN).write_text(f"rlvr('main',0,{_ascii(main)})\n", encoding="ascii")


def _answers(names: Sequence[str], problems: _Problems, table: _Table) -> list[Series]:
    found = [Series(name) for name in names]
    tasks, domains = problems.tasks.words(), problems.domains.words()
    statuses = list(table.statuses.numbers)
    columns = (table.columns[name] for name in ("series", "problem", "score", "status"))
    for place, problem, score, status in zip(*columns, strict=True):
        answered = found[place].answered
        question = problems.questions[problem]
        if question not in answered:
            fingerprint = problems.fingerprints[problem]
            if fingerprint is not None and fingerprint.startswith("prompt "):
                fingerprint = None
            task, domain = tasks[problems.task[problem]], domains[problems.domain[problem]]
            answered[question] = Answered(task, domain, problems.levels[problem], fingerprint)
        answered[question].add(None if math.isnan(score) else score, statuses[status])
    return found


def _facts(run: Run, policy: str, series: Series) -> dict[str, Any]:
    return {
        "label": series.label,
        "run": run.name,
        "policy": policy,
        "training": run.training,
        "episodes": sum(a.statuses.total() for a in series.answered.values()),
        "problems": len(series.answered),
        # Samples of training are chosen to differ in score.
        "score": None
        if run.training
        else _interval(clustered_mean([a.scores for a in series.answered.values()])),
    }


def _score_rows(
    answers: Sequence[Series],
) -> list[tuple[str | None, int | None, list[Estimate]]]:
    """Return the mean score of every series by level, of all tasks (None) and of each."""
    found: dict[tuple[str | None, int | None], list[list[list[float]]]] = {}
    for place, series in enumerate(answers):
        for each in series.answered.values():
            for task in (None, each.task):
                empty: list[list[list[float]]] = [[] for _ in answers]
                found.setdefault((task, each.difficulty), empty)[place].append(each.scores)
    order = sorted(found, key=lambda k: tuple((part is not None, part or 0) for part in k))
    return [(*key, [clustered_mean(scores) for scores in found[key]]) for key in order]


def _pair(found: PairComparison) -> dict[str, Any]:
    return {
        "groups": [
            [
                name,
                next(iter(each.by.values()), None),
                each.problems,
                each.first,
                each.second,
                _interval(each.difference),
                [each.won, each.tied, each.lost],
            ]
            for name, groups in found.groups.items()
            for each in groups
        ],
        "changed": len(found.changes),
        "changes": [
            [
                change.question,
                change.task,
                change.difficulty,
                change.first,
                change.second,
                list(change.first_statuses.items()),
                list(change.second_statuses.items()),
            ]
            for change in found.changes[:_CHANGES]
        ],
        "alone": [found.only_first, found.only_second],
        "note": found.note,
    }


def _interval(found: Estimate) -> list[float | None]:
    return [found.mean, found.low, found.high]


def _problem_texts(row: Mapping[str, Any]) -> dict[str, Any]:
    prompt, reference = row.get("prompt"), row.get("reference")
    facts = {
        name: row.get(name)
        for name in ("id", "answer_format", "problem_seed", "fingerprint", "version")
    }
    return {
        "prompt": None if prompt is None else str(prompt),
        "shots": _shots(row.get("shots")),
        "reference": [str(r) for r in reference] if isinstance(reference, list) else reference,
        "facts": [[k, str(v)] for k, v in facts.items() if v is not None],
        "config": json.dumps(row.get("config"), indent=1, ensure_ascii=False),
    }


def _shots(stored: object) -> list[list[str]]:
    """Return the solved examples before a question as pairs of a speaker and a text."""
    found = []
    for each in stored if isinstance(stored, list) else []:
        if isinstance(each, dict) and "content" in each:
            found.append([str(each.get("role")), str(each["content"])])
        elif isinstance(each, dict):
            found += [[str(name), str(text)] for name, text in each.items()]
        elif isinstance(each, list) and len(each) == 2:
            found += [["user", str(each[0])], ["assistant", str(each[1])]]
        else:
            found.append(["example", str(each)])
    return found


def _episode_texts(each: StoredEpisode) -> dict[str, Any]:
    return {
        "actions": each.actions,
        "replies": each.replies,
        "reasoning": each.reasoning,
        "calls": each.calls,
        "detail": each.detail,
        "parts": [[str(name), _shown(value)] for name, value in each.parts.items()],
        "facts": [[str(name), _shown(value)] for name, value in each.facts.items()],
    }


def _shown(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _plain(column: Any) -> list[Any]:
    """Return a column for JSON, which has no NaN."""
    if isinstance(column, array) and column.typecode == "d":
        return [None if math.isnan(value) else round(value, 6) for value in column]
    return list(column)


def _ascii(data: object) -> str:
    return json.dumps(data, separators=(",", ":"))


def _write(folder: Path, name: str, number: int, data: str) -> None:
    path = folder / f"{name}-{number}.js"
    path.write_text(f"rlvr({json.dumps(name)},{number},{data})\n", encoding="ascii")


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
