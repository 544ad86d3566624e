"""What is kept of a training run: numbers of each step, some episodes in full, and a line to watch.

`METRICS` has a JSON object a step, and `SAMPLES` one an episode; both are whole after any crash but
for their last line. When a run goes on from a checkpoint, what they hold of the steps that are done
again is cut.

What is measured of a step covers all that was sampled in it, also the groups that dynamic sampling
threw away; what the update measures is in `objective.measure`.
"""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, BinaryIO

from rlvr_envs.agents.grpo.episode import Episode, Group, differ
from rlvr_envs.agents.grpo.tracking import reporters
from rlvr_envs.agents.grpo.tracking.reporters import Reporter
from rlvr_envs.core.errors import ConfigError, did_you_mean_path
from rlvr_envs.core.files import JsonLine, appended, json_lines, replaced
from rlvr_envs.core.seeding import Rng
from rlvr_envs.core.verdict import Status

METRICS = "metrics.jsonl"
SAMPLES = "samples.jsonl"
WHY_EQUAL = ("solved", "failed", "equal", "unscored")


def cell(task: str, difficulty: int | None) -> str:
    """Return how names of metrics say a task and its difficulty, such as ``Gcd-v0/2``."""
    return f"{task.rpartition('/')[2]}/{'default' if difficulty is None else difficulty}"


def summarise(groups: Sequence[Group]) -> dict[str, float]:
    """Return the numbers of all groups that were sampled in a step.

    Episodes that could not be scored count in lengths, turns and shares, and nowhere else; what was
    given instead of sampled counts nowhere. What has no episode to be computed from is NaN.

    Returns:
        reward/mean and score/mean; length/mean, length/max, length/right and length/wrong, in
        tokens that the model wrote, the last two of answers with and without full marks;
        turns/mean and turn_length/mean, the tokens of an action; entropy, the mean of -log p over
        all sampled tokens, which in expectation is the entropy of the distributions that they were
        drawn from, in nats; the shares of episodes that are truncated and unscored; zero_variance,
        the share of groups whose rewards do not differ, and groups/solved, /failed, /equal and
        /unscored, the shares that it is made of, see `why_equal`; solve/<task>/<difficulty>,
        the share of full marks; and, where both seats of games are played, score/first and
        score/second, the mean scores of the seat that moves first and of the other.
    """
    episodes = [e for group in groups for e in sampled_of(group)]
    scored = [e for e in episodes if not math.isnan(e.reward)]
    actions = [action for e in episodes for action in e.actions]
    lengths: dict[bool, list[int]] = {True: [], False: []}
    solved: dict[str, list[bool]] = defaultdict(list)
    for episode in scored:
        right = episode.status == Status.CORRECT
        solved[cell(episode.task, episode.difficulty)].append(right)
        lengths[right].append(episode.n_trained)
    found = [why_equal(group) for group in groups]
    return {
        "reward/mean": _mean(e.reward for e in scored),
        "score/mean": _mean(e.score for e in scored),
        "length/mean": _mean(e.n_trained for e in episodes),
        "length/max": max((e.n_trained for e in episodes), default=math.nan),
        "length/right": _mean(lengths[True]),
        "length/wrong": _mean(lengths[False]),
        "turns/mean": _mean(len(e.actions) for e in episodes),
        "turn_length/mean": _mean(len(action.tokens) for action in actions),
        "entropy": _mean(-logp for action in actions for logp in action.logps or ()),
        "truncated": _mean(not e.finished for e in episodes),
        "unscored": _mean(math.isnan(e.reward) for e in episodes),
        "zero_variance": _mean(why is not None for why in found),
        **{f"groups/{why}": _mean(each == why for each in found) for why in WHY_EQUAL},
        **{f"solve/{where}": _mean(marks) for where, marks in sorted(solved.items())},
        **_by_seat(groups),
    }


def _by_seat(groups: Sequence[Group]) -> dict[str, float]:
    """Return the mean scores of who moves first and of who moves second, nothing without two."""
    found: dict[str, list[float]] = {"score/first": [], "score/second": []}
    for group in groups:
        for episode in sampled_of(group):
            if not math.isnan(episode.score):
                place = "first" if episode.seat == group.posed.seat else "second"
                found[f"score/{place}"].append(episode.score)
    if not found["score/second"]:
        return {}
    return {name: _mean(scores) for name, scores in found.items()}


def sampled_of(group: Group) -> list[Episode]:
    """Return a group's episodes that the model sampled."""
    return [episode for episode in group.episodes if not episode.demonstrated]


def why_equal(group: Group) -> str | None:
    """Return why comparing the answers of a group teaches nothing, or None if rewards differ.

    It is "unscored" where no episode has a reward, "solved" where all have full marks, "failed"
    where all scores are 0, and else "equal".
    """
    scored = [each for each in sampled_of(group) if not math.isnan(each.reward)]
    if differ(scored):
        return None
    if not scored:
        return "unscored"
    if all(each.status == Status.CORRECT for each in scored):
        return "solved"
    return "equal" if any(each.score for each in scored) else "failed"


def evenly(groups: Sequence[Group], count: int, rng: Rng) -> list[Episode]:
    """Return that many sampled episodes of groups, spread over tasks, then scores, then groups."""
    found = [(number, e) for number, group in enumerate(groups) for e in sampled_of(group)]
    left = [found[place] for place in rng.permutation(len(found))]
    taken: Counter[tuple[str, Any]] = Counter()

    def keys(place: int) -> list[tuple[str, Any]]:
        number, episode = left[place]
        score = None if math.isnan(episode.score) else round(episode.score, 2)
        return [("task", episode.task), ("score", score), ("group", number)]

    chosen: list[Episode] = []
    while left and len(chosen) < count:
        place = min(range(len(left)), key=lambda place: [taken[key] for key in keys(place)])
        taken.update(keys(place))
        chosen.append(left.pop(place)[1])
    return chosen


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return fmean(found) if found else math.nan


def read(folder: Path) -> dict[int, dict[str, float]]:
    """Return step → name → value of a run, without what was not a number.

    Args:
        folder: of the run, or its `METRICS`.

    Raises:
        ConfigError: there is no such file.
        RowError: a line of it is no step.
    """
    path = folder / METRICS if folder.is_dir() else folder
    if not path.is_file():
        hint = did_you_mean_path(folder)
        raise ConfigError(f"{str(folder)!r} is not a run: it has no {METRICS}{hint}")
    steps: dict[int, dict[str, float]] = {}
    for _, _, _, row in _lines(path):
        values = {k: v for k, v in row.items() if k != "step" and isinstance(v, (int, float))}
        steps.setdefault(row["step"], {}).update(values)
    return dict(sorted(steps.items()))


class Metrics:
    """Writes what is logged into the folder of a run, and shows it.

    Args:
        folder: of the run; made if it is not there.
        report: where numbers go besides: ``tensorboard``, ``wandb``, ``trackio``.
        total: the steps of the run, for the bar.
        quiet: show nothing on stderr.
        config: what a report may show beside the curves.

    Raises:
        ConfigError: the folder cannot be made, or a report is unknown.
        DependencyError: the package of a report is missing.
    """

    def __init__(
        self,
        folder: Path,
        *,
        report: Sequence[str] = (),
        total: int | None = None,
        quiet: bool = False,
        config: Mapping[str, Any] | None = None,
    ) -> None:
        for name in report:
            reporters.require(name)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"the run folder {str(folder)!r} cannot be made: {error}") from error
        self._folder = folder
        self._names = tuple(report)
        self._config = dict(config or {})
        self._files: dict[str, BinaryIO] = {}
        self._watch = None if quiet else reporters.watch(total)
        self._reporters: list[Reporter] = [] if self._watch is None else [self._watch]
        self._samples: dict[int, list[Episode]] = {}
        self._told: dict[str, str] = {}

    def log(self, step: int, values: Mapping[str, float]) -> None:
        """Take down the numbers of a step, with its samples and what was told since the last one.

        Args:
            step: how many training steps are over; the first call says where this process begins.
            values: numbers by name; NaN and infinity are written as null.
        """
        self._begin(step)
        plain = {name: _number(value) for name, value in values.items()}
        plain |= dict.fromkeys(self._told, 1)
        told = {"told": self._told} if self._told else {}
        self._write(METRICS, {"step": step, **plain, **told})
        self._told = {}
        for episode in self._samples.pop(step, ()):
            self._write(SAMPLES, {"step": step, **_row(episode)})
        finite = {name: value for name, value in plain.items() if value is not None}
        for reporter in self._reporters:
            reporter.log(step, finite)

    def samples(self, step: int, episodes: Sequence[Episode]) -> None:
        """Take down episodes, which are written out in full when their step is logged."""
        self._samples[step] = list(episodes)

    def tell(self, name: str, text: str) -> None:
        """Say what a person should know now; it is logged with the next step."""
        self._told[name] = text
        if self._watch is not None:
            self._watch.tell(text)

    def close(self) -> None:
        """Close files, reports and bar."""
        for file in self._files.values():
            file.close()
        for reporter in self._reporters:
            reporter.close()
        self._reporters = []

    def _begin(self, step: int) -> None:
        if self._files:
            return
        for name in (METRICS, SAMPLES):
            path = self._folder / name
            _cut(path, step)
            self._files[name] = appended(path)
        for name in self._names:
            self._reporters.append(reporters.make(name, self._folder, step, self._config))

    def _write(self, name: str, row: Mapping[str, Any]) -> None:
        line = json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"
        # A lone surrogate, which a response may hold, has no place in UTF-8.
        self._files[name].write(line.encode("utf-8", "backslashreplace"))
        self._files[name].flush()


def _row(e: Episode) -> dict[str, Any]:
    """Return what `SAMPLES` has of an episode."""
    return {
        "task": e.task,
        "difficulty": e.difficulty,
        "problem_seed": e.problem_seed,
        "reward": _number(e.reward),
        "score": _number(e.score),
        "status": str(e.status),
        "finished": e.finished,
        "tokens": e.n_trained,
        "turn_rewards": [_number(reward) for reward in e.turn_rewards],
        "info": {name: _number(value) for name, value in e.info.items()},
        "prompt": e.heard[0] if e.heard else None,
        "observations": e.heard[1:],
        "texts": e.texts,
    }


def _number(value: float) -> float | None:
    if isinstance(value, (bool, int)):
        return int(value)
    plain = float(value)  # also of tensors and NumPy's numbers
    return plain if math.isfinite(plain) else None


def _lines(path: Path) -> Iterator[JsonLine]:
    return json_lines(
        path, lambda row: "" if isinstance(row.get("step"), int) else f"no step: {row!r:.40}"
    )


def _cut(path: Path, step: int) -> None:
    """Leave in a file what is of earlier steps; at any time there is the old file or the new."""
    if not path.exists():
        return
    with replaced(path) as file:
        file.writelines(line.text for line in _lines(path) if line.data["step"] < step)
