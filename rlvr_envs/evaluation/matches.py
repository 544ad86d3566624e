"""Matches against built-in players: the games between these players, and the ratings of runs.

The built-in players (``random``, ``mcts:N``, ``optimal``, or a policy of `add_policy`) are the
anchors of the scale. They meet in the same positions as the policies, each pair from both sides.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from rlvr_envs.core.errors import ConfigError, UsageError, WorkerError
from rlvr_envs.core.executor import Call, Executor
from rlvr_envs.core.games import CHANCE, OVER, GameProblem, GameTask, drawn
from rlvr_envs.core.parallel import require
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.source import Source
from rlvr_envs.evaluation.plan import SIDES, Plan, Question
from rlvr_envs.evaluation.ratings import Game, Ratings, rate
from rlvr_envs.evaluation.runs import Run, StoredEpisode, labels, open_runs
from rlvr_envs.evaluation.store import (
    ANCHORS,
    Record,
    position_of,
    question_of,
    read_anchor_games,
    read_config,
)

# CPU seconds for the games of all pairs from one position.
CPU_S = 600.0
_BATCH = 4

_Key = tuple[str, str, str]  # position, who moves first, who moves second


def check_players(asked: Iterable[Question]) -> None:
    """Check that there are players of the names that the questions have.

    Raises:
        ConfigError: there is none, or no position can be drawn.
    """
    seen = set()
    for question in asked:
        cell = question.cell
        if cell.opponent and (cell.opponent, cell.source.id) not in seen:
            seen.add((cell.opponent, cell.source.id))
            first = cell.source.draw(question.problem_seed or 0) if cell.side == SIDES[0] else None
            if first is not None and isinstance(first.task, GameTask):
                first.task.opponent(first.problem)


def play_match(task: GameTask[Any, Any], problem: GameProblem, first: str, second: str) -> float:
    """Return what the built-in player who moves first gets from a position: 1, 0.5 or 0."""
    game, state = task.game(problem), task.state(problem)
    players = {
        problem.seat: task.opponent(problem, first),
        1 - problem.seat: task.opponent(problem, second),
    }
    rng = stream("anchors", problem.seed, first, second)
    while (mover := game.mover(state)) != OVER:
        move = drawn(rng, game, state) if mover == CHANCE else players[mover](state, rng)
        state = game.after(state, move)
    outcome = game.returns(state)[problem.seat]
    return 0.5 if outcome == 0 else float(outcome > 0)


def play_pairs(
    source: Source, problem_seed: int, pairs: Sequence[tuple[str, str]]
) -> list[float] | None:
    """Return what the first of each pair gets from a position; None where there is no position.

    This runs where the executor is.
    """
    try:
        instance = source.draw(problem_seed)
    except ConfigError:  # the episodes from there record why
        return None
    task = instance.task
    if not isinstance(task, GameTask):
        raise ConfigError(f"{instance.spec.id} is no game")
    return [play_match(task, instance.problem, first, second) for first, second in pairs]


class AnchorGames:
    """The games between the built-in players of a plan.

    Args:
        plan: what is asked.
        asked: its questions.
        known: the games that were played before.

    Attributes:
        games: the games so far.
        total: how many there are to be.
    """

    def __init__(self, plan: Plan, asked: Iterable[Question], known: Iterable[Record] = ()) -> None:
        self._pairs = list(permutations(plan.opponents, 2))
        self._positions: dict[str, Question] = {}
        for question in asked:
            if question.cell.side == SIDES[0]:
                self._positions.setdefault(position_of(question.key), question)
        self.games: dict[_Key, Record] = {
            key: each
            for each in known
            for key in [_key(each)]
            if key[0] in self._positions and key[1:] in self._pairs
        }
        self.total = len(self._positions) * len(self._pairs)

    def play(self, executor: Executor) -> Iterator[Record]:
        """Play the games that are missing, and yield each.

        Raises:
            WorkerError: the games from a position failed.
        """
        wanted = []
        for position, question in self._positions.items():
            pairs = [pair for pair in self._pairs if (position, *pair) not in self.games]
            if pairs:
                wanted.append((position, question, pairs))
        calls = (Call((q.cell.source, q.problem_seed or 0, pairs)) for _, q, pairs in wanted)
        outcomes = executor.map(f"{__name__}:play_pairs", calls, cpu_s=CPU_S, batch=_BATCH)
        for (position, question, pairs), outcome in zip(wanted, outcomes, strict=True):
            if outcome.error is not None:
                require(outcome.error)
                raise WorkerError(
                    f"the games between the opponents from {position} failed: {outcome.error}"
                ) from outcome.error
            if not isinstance(outcome.value, list):  # there is no position
                continue
            for (first, second), points in zip(pairs, outcome.value, strict=True):
                game = {
                    "position": position,
                    "task": question.cell.source.id,
                    "difficulty": question.cell.difficulty,
                    "first": first,
                    "second": second,
                    "points": points,
                }
                self.games[_key(game)] = game
                yield game


def _key(game: Mapping[str, Any]) -> _Key:
    return game["position"], game["first"], game["second"]


def rate_records(
    records: Iterable[Record], anchor_games: Iterable[Record], opponents: Sequence[str]
) -> Ratings:
    """Return the ratings of a run's policies, from its records and the games of its opponents."""
    played = sorted((r for r in records if r.get("opponent")), key=lambda r: int(r["sample"]))
    games = [
        Game(
            player=record["policy"],
            opponent=record["opponent"],
            position=position_of(question_of(record)),
            first=record["side"] == SIDES[0],
            points=float(record["verdict"]["score"]) if record["scored"] else None,
            task=record["task"] or record["id"],
            difficulty=record["difficulty"],
        )
        for record in played
    ]
    return rate([*games, *map(_between, anchor_games)], opponents)


def _between(game: Mapping[str, Any]) -> Game:
    return Game(
        player=game["first"],
        opponent=game["second"],
        position=game["position"],
        first=True,
        points=float(game["points"]),
        task=game["task"],
        difficulty=game["difficulty"],
        anchor=True,
    )


@dataclass(frozen=True, slots=True)
class _Rated:
    """A run with matches: its opponents, other knobs, policies' episodes and anchors' games."""

    run: Run
    opponents: list[str]
    knobs: dict[str, Any]
    episodes: list[StoredEpisode]
    between: list[Record]

    @property
    def cells(self) -> set[tuple[str | None, int | None]]:
        """The tasks and levels that were played."""
        return {(game["task"], game["difficulty"]) for game in self.between} | {
            (each.task, each.level) for each in self.episodes
        }


def rate_runs(named: Iterable[str]) -> Ratings:
    """Return the ratings of the policies of several runs on one scale.

    The runs' opponents are the same players, so they connect the runs. Only tasks and levels that
    all runs have count.

    Raises:
        ConfigError: see `open_runs`; or the runs' knobs or versions differ.
        UsageError: a run has no matches, or the runs have none in common.
        RowError: a file cannot be read.

    Examples:
        >>> from rlvr_envs.evaluation import evaluate, rate_runs
        >>> run = evaluate("rlvr/Nim-v0", "oracle", episodes=2, opponents=["optimal"], out="run")
        >>> rate_runs(["run"]) == run.ratings
        True
    """
    runs = [_opened(run) for run in open_runs(named)]
    first = runs[0]
    for other in runs[1:]:
        if other.knobs != first.knobs:
            raise ConfigError(
                f"{other.run.path} was evaluated with the knobs {other.knobs}, and "
                f"{first.run.path} with {first.knobs}: these are other games"
            )
    common = set.intersection(*(each.cells for each in runs))
    if not common:
        raise UsageError(
            "the runs have no game at the same level in common: evaluate all with the same ids and "
            "levels"
        )
    more = set.union(*(each.cells for each in runs)) - common
    notes = [f"left out, as not all runs have it: {_names(more)}"] if more else []
    policies = {
        (each.run.path, e.policy): (each.run, e.policy) for each in runs for e in each.episodes
    }
    names = dict(zip(policies, labels(list(policies.values())), strict=True))
    games = [
        Game(
            player=names[each.run.path, episode.policy],
            opponent=str(episode.facts["opponent"]),
            position=position_of(episode.question),
            first=episode.facts["side"] == SIDES[0],
            points=episode.score,
            task=episode.task,
            difficulty=episode.level,
        )
        for each in runs
        for episode in sorted(each.episodes, key=lambda e: e.sample)
        if (episode.task, episode.level) in common
    ]
    between: dict[_Key, Record] = {}
    for each in runs:
        for game in each.between:
            if between.setdefault(_key(game), game)["points"] != game["points"]:
                raise ConfigError(
                    f"the game of {game['first']} and {game['second']} from {game['position']} "
                    f"ended otherwise in {each.run.path} than in a run before it: they were made "
                    "by different versions"
                )
    kept = (g for g in between.values() if (g["task"], g["difficulty"]) in common)
    opponents = list(dict.fromkeys(name for each in runs for name in each.opponents))
    return rate([*games, *map(_between, kept)], opponents, notes)


def _opened(run: Run) -> _Rated:
    if run.training:
        raise UsageError(
            f"{run.path} is a training run: evaluate its checkpoints with `rlvr eval --opponents`"
        )
    config = read_config(run.path)["config"]
    opponents = config.get("opponents")
    if not opponents:
        raise UsageError(
            f"{run.path} has no matches: evaluate games with `rlvr eval --opponents "
            "random,mcts:50,optimal`"
        )
    # One that was judged or asked again is the last one of its key.
    latest = {each.key: each for each in run.episodes() if "opponent" in each.facts}
    return _Rated(
        run,
        [str(name) for name in opponents],
        dict(config.get("knobs") or {}),
        list(latest.values()),
        list(read_anchor_games(run.path / ANCHORS)),
    )


def _names(cells: Iterable[tuple[str | None, int | None]]) -> str:
    told = sorted((str(task), -1 if level is None else level) for task, level in cells)
    return ", ".join(
        f"{task} at {'its defaults' if level < 0 else f'level {level}'}" for task, level in told
    )
