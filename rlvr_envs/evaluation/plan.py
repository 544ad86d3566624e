"""What an evaluation asks: ids, difficulties, problems and samples, checked before it starts."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import islice
from threading import Lock
from typing import Any

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.games import GameTask
from rlvr_envs.core.instance import Instance, Row
from rlvr_envs.core.registry import find, task_ids
from rlvr_envs.core.seeding import draw_seed, stream
from rlvr_envs.core.source import Source, open_source
from rlvr_envs.core.task import IndexedTask

_MAX_PART_CHARS = 20  # of a level or a range in text
_TRIES = 1000  # seeds for each problem that is wanted

SIDES = ("first", "second")  # of a match: the values of the knob ``match``
_SET_BY_MATCHES = frozenset({"judge", "match", "opponent", "seat"})


def read_difficulties(text: str | None) -> tuple[int | None, ...]:
    """Return the levels of a text such as ``0,2,5`` or ``0-5``; of None, the knobs' defaults.

    Raises:
        ConfigError: the text is neither.
    """
    if text is None:
        return (None,)
    levels: list[int] = []
    for part in text.split(","):
        low, dash, high = part.strip().partition("-")
        if not low.isdecimal() or (dash and not high.isdecimal()) or len(part) > _MAX_PART_CHARS:
            raise ConfigError(
                f"a difficulty is a number from 0, a list '0,2,5' or a range '0-5', got {text!r}"
            )
        first, last = int(low), int(high or low)
        if first > last or last - first > 1000:
            raise ConfigError(f"the range {part!r} of {text!r} is empty or has over 1000 levels")
        levels.extend(range(first, last + 1))
    return tuple(dict.fromkeys(levels))


def read_knobs(pairs: Sequence[str]) -> dict[str, Any]:
    """Return the knobs of ``["n_items=12", "kind=hard"]``; what is no JSON is text.

    Raises:
        ConfigError: there is no name, or nothing is set.
    """
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise ConfigError(f"a knob is set as name=value, got {pair!r}")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def expand_ids(ids: Sequence[str], *, per_task: bool = False) -> tuple[str, ...]:
    """Return full ids without repetition; with ``per_task``, a mixture becomes its tasks.

    Raises:
        RegistrationError: there is no such id.
    """
    found: list[str] = []
    for given in ids:
        source = open_source(given)
        found.extend(source.task_ids if per_task else (source.id,))
    return tuple(dict.fromkeys(found))


def is_rated(task_type: type[Any]) -> bool:
    """Return whether a task is a game with matches that ratings can be made of."""
    return issubclass(task_type, GameTask) and any(
        f.name == "match" for f in fields(task_type.Config)
    )


def check_rated(ids: Sequence[str]) -> None:
    """Check that ids are games with matches.

    Raises:
        ConfigError: one is not.
    """
    for given in ids:
        for spec in open_source(given).specs:
            if not is_rated(spec.task_type):
                rated = [each for each in task_ids() if is_rated(find(each).task_type)]
                what = "no game"
                if issubclass(spec.task_type, GameTask):
                    what = "a game without a choice of opponents"
                raise ConfigError(
                    f"{spec.id} is {what}, and ratings are made of games against opponents: "
                    f"evaluate {', '.join(each.rpartition('/')[2] for each in rated)}"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The questions of an evaluation; two plans that are equal ask the same ones.

    Attributes:
        ids: tasks and mixtures.
        difficulties: difficulty levels; None stands for the defaults of the knobs.
        episodes: how many problems of each id and difficulty.
        samples: how many responses to each problem.
        seed: what the problem seeds are derived from.
        shots: how many solved problems of the same task come before each question, as turns of
            the chat; small models need them to keep to the answer format.
        answer_format: the label of an answer format, instead of each task's own.
        knobs: fields of the tasks' configuration, by name.
        opponents: built-in players. If there are any, all ids are games, and every problem is a
            match against each opponent from both sides.

    Examples:
        >>> from rlvr_envs.evaluation import Plan
        >>> plan = Plan(ids=("rlvr/Gcd-v0",), difficulties=(0, 2), episodes=10)
        >>> len(plan.cells())
        2
    """

    ids: tuple[str, ...]
    difficulties: tuple[int | None, ...] = (None,)
    episodes: int = 20
    samples: int = 1
    seed: int = 0
    shots: int = 0
    answer_format: str | None = None
    knobs: Mapping[str, Any] = field(default_factory=dict)
    opponents: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.ids:
            raise ConfigError("an evaluation needs at least one id (`rlvr list` shows them all)")
        if not self.difficulties:
            raise ConfigError("an evaluation needs at least one difficulty, got an empty list")
        for name, value, low in (
            ("episodes", self.episodes, 1),
            ("samples", self.samples, 1),
            ("seed", self.seed, 0),
            ("shots", self.shots, 0),
        ):
            if isinstance(value, bool) or not isinstance(value, int) or value < low:
                raise ConfigError(f"{name} is an integer from {low}, got {value!r}")
        self._check_opponents()

    def _check_opponents(self) -> None:
        if len(set(self.opponents)) < len(self.opponents):
            raise ConfigError(f"opponents are named once each, got {', '.join(self.opponents)}")
        if fixed := sorted(_SET_BY_MATCHES & set(self.knobs)) if self.opponents else []:
            raise ConfigError(
                f"opponents are played in matches from both sides, which set the knob "
                f"{fixed[0]!r}: leave it out"
            )

    def to_json(self) -> dict[str, Any]:
        """Return the plan as JSON data."""
        return {
            "ids": list(self.ids),
            "difficulties": list(self.difficulties),
            "episodes": self.episodes,
            "samples": self.samples,
            "seed": self.seed,
            "shots": self.shots,
            "answer_format": self.answer_format,
            "knobs": dict(self.knobs),
            # A run from before there were opponents can be resumed.
            **({"opponents": list(self.opponents)} if self.opponents else {}),
        }

    def cells(self) -> "list[Cell]":
        """Return the combinations of id, difficulty and match, each with its source open.

        Raises:
            ConfigError: a difficulty or a knob does not fit a task, or a task has no matches.
            RegistrationError: an id does not exist.
        """
        if self.opponents:
            check_rated(self.ids)
        matches: list[tuple[str | None, str | None]]
        matches = [(name, side) for name in self.opponents for side in SIDES] or [(None, None)]
        cells = [
            Cell(
                open_source(
                    task_id,
                    difficulty=level,
                    answer_format=self.answer_format,
                    knobs={**self.knobs, **({"opponent": name, "match": side} if name else {})},
                ),
                level,
                name,
                side,
            )
            for task_id in self.ids
            for level in self.difficulties
            for name, side in matches
        ]
        for spec in (spec for cell in cells for spec in cell.source.specs):
            if self.shots and spec.interactive:
                raise ConfigError(f"shots are for tasks of one turn, and {spec.id} is interactive")
        return cells


@dataclass(frozen=True, slots=True)
class Cell:
    """One id at one difficulty; of a match also the opponent and the agent's side."""

    source: Source
    difficulty: int | None
    opponent: str | None = None
    side: str | None = None

    def questions(
        self, plan: Plan, keep: Callable[[Instance], bool] | None = None
    ) -> "list[Question]":
        """Return the questions of this cell; a longer list begins with the shorter one.

        The seeds come from a stream of their own for each id, difficulty and seed, so cells and
        neighbouring seeds share nothing, while every policy is asked the same. Numbered problems
        are a random selection without repetition, at most all of them. ``keep`` says of a problem
        whether it may be asked.

        Raises:
            ConfigError: there are too few problems that may be asked.
        """
        rng = stream("evaluation", self.source.id, f"difficulty {self.difficulty}", plan.seed)
        if len(self.source.specs) == 1 and issubclass(self.source.specs[0].task_type, IndexedTask):
            task = self.source.draw(0).task
            size = len(task) if isinstance(task, IndexedTask) else 0
            order = [Question(self, None, int(i)) for i in rng.permutation(size)]
            kept = (each for each in order if keep is None or keep(each.instance()))
            return list(islice(kept, plan.episodes))
        found: dict[int, Question] = {}
        for _ in range(_TRIES * plan.episodes):
            asked = Question(self, draw_seed(rng), None)
            if keep is None or keep(asked.instance()):
                found.setdefault(asked.problem_seed or 0, asked)
            if len(found) == plan.episodes:
                return list(found.values())
        raise ConfigError(
            f"{self.source.id} at difficulty {self.difficulty} has {len(found)} of the "
            f"{plan.episodes} problems that are wanted"
        )


class Question:
    """One problem of an evaluation, generated when it is first needed.

    Args:
        cell: where it is from.
        problem_seed: what it is generated from, or None.
        index: its number in a data set or among the rows, or None.
        row: the problem itself, if it is stored.
    """

    __slots__ = ("_instance", "_lock", "cell", "index", "problem_seed", "row")

    def __init__(
        self, cell: Cell, problem_seed: int | None, index: int | None, row: Row | None = None
    ) -> None:
        self.cell = cell
        self.problem_seed = problem_seed
        self.index = index
        self.row = row
        self._instance: Instance | None = None
        self._lock = Lock()

    @property
    def key(self) -> str:
        """The name of this question among all of a run."""
        which = f"#{self.index}" if self.problem_seed is None else str(self.problem_seed)
        cell = self.cell
        # After the first space, for `store.position_of`.
        match = f" {cell.side} against {cell.opponent}" if cell.opponent else ""
        return f"{cell.source.id}|{cell.difficulty}|{which}{match}"

    def instance(self) -> Instance:
        """Return the problem; several threads may ask at once."""
        with self._lock:
            if self._instance is None:
                if self.row is not None:
                    self._instance = self.cell.source.replay(self.row)
                elif self.index is not None:
                    self._instance = self.cell.source.at_index(self.index)
                else:
                    self._instance = self.cell.source.draw(self.problem_seed or 0)
            return self._instance


def solved_examples(instance: Instance, count: int, seed: int) -> list[Instance]:
    """Return other problems like this one: the same ones for every question of a task and level.

    Raises:
        ConfigError: the task has too few different problems.
    """
    rng = stream("evaluation shots", instance.spec.id, f"difficulty {instance.difficulty}", seed)
    seen = {instance.fingerprint()}
    found: list[Instance] = []
    for _ in range(20 * count):
        if len(found) == count:
            break
        drawn = draw_seed(rng)
        problem = instance.task.generate(stream(instance.spec.id, drawn))
        example = replace(instance, problem=problem, problem_seed=drawn)
        if example.fingerprint() not in seen:
            seen.add(example.fingerprint())
            found.append(example)
    if len(found) < count:
        raise ConfigError(f"{instance.spec.id} has too few problems here for {count} shots")
    return found
