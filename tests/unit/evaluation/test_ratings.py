"""Ratings: exact small cases, equations of the likelihood, open ends, and coverage in simulation."""

import math
import random

import numpy as np
import pytest

from rlvr_envs.core.errors import UsageError
from rlvr_envs.evaluation.ratings import Game, rate
from rlvr_envs.evaluation.table import rating_notes, rating_tables, rating_text

LEVELS = {"random": 0, "mcts": 200, "optimal": 400}
POLICIES = {"middle": 300, "weak": -100, "strong": 700}


def pair(player, opponent, position, points, **more):
    """Return two games from a position: as the one who moves first, and as the second one."""
    return [
        Game(player, opponent, position, first=bool(side), points=got, **more)
        for side, got in zip((1, 0), points, strict=True)
    ]


def rated(ratings, name, group="overall", anchor=None):
    (found,) = ratings.groups[group]
    (player,) = (
        each for each in found.players if each.player == name and anchor in (None, each.anchor)
    )
    return player


def elo(odds):
    return 400 * math.log10(odds)


def test_two_players_by_hand():
    # 5.5 of 8 points, and the prior's draw on both sides: odds of 6 to 3.
    games = [
        *pair("mine", "random", "a", [1.0, 1.0]),
        *pair("mine", "random", "b", [1.0, 0.0]),
        *pair("mine", "random", "c", [1.0, 0.5]),
        *pair("mine", "random", "d", [0.0, 1.0]),
    ]
    mine = rated(rate(games, ["random"]), "mine")
    assert mine.rating == pytest.approx(elo(6.0 / 3.0), abs=1e-6)
    assert (mine.games, mine.positions, mine.won, mine.drawn, mine.lost) == (8, 4, 5, 1, 2)
    assert mine.points == 5.5 / 8
    assert mine.against == {"random": 5.5 / 8}
    assert not mine.anchor


def test_anchors_alone_by_hand():
    games = pair("best", "random", "a", [1.0, 0.5], anchor=True)
    games += pair("best", "random", "b", [1.0, 1.0], anchor=True)
    ratings = rate(games, ["random", "best"])
    assert rated(ratings, "best").rating == pytest.approx(elo(4.0 / 1.0), abs=1e-6)
    assert rated(ratings, "random").rating == 0.0
    assert rated(ratings, "random").points == 0.5 / 4
    assert rated(ratings, "random").lost == 3


def tournament(seed, n_positions, policies=POLICIES):
    """Return games of players with known strengths; whoever is better wins more often."""
    rng, games = np.random.default_rng(seed), []

    def points(difference):
        return float(rng.random() < 1 / (1 + 10 ** (-difference / 400)))

    for place in range(n_positions):
        for first, second in (("random", "mcts"), ("random", "optimal"), ("mcts", "optimal")):
            got = [points(LEVELS[first] - LEVELS[second]) for _ in range(2)]
            games += pair(first, second, f"p{place}", got, anchor=True)
        for name, strength in policies.items():
            for opponent, other in LEVELS.items():
                got = [points(strength - other) for _ in range(2)]
                games += pair(name, opponent, f"p{place}", got)
    return games


def test_the_ratings_solve_the_equations_of_the_likelihood():
    """Every player has as many points as its ratings predict, the prior's draws included."""
    games = tournament(3, 12)
    ratings = rate(games, list(LEVELS))
    scale = {each.player: each.rating for each in ratings.groups["overall"][0].players}
    for name in ("mcts", "optimal", *POLICIES):
        got, expected = 0.0, 0.0
        met = set()
        for game in games:
            seats = ((game.player, game.opponent, game.points),)
            if game.anchor:
                seats += ((game.opponent, game.player, 1 - game.points),)
            for player, opponent, points in seats:
                if player == name:
                    got += points
                    expected += 1 / (1 + 10 ** ((scale[opponent] - scale[name]) / 400))
                    met.add(opponent)
        for opponent in met:
            got += 0.5
            expected += 1 / (1 + 10 ** ((scale[opponent] - scale[name]) / 400))
        assert got == pytest.approx(expected, abs=1e-6)


def test_a_policy_changes_no_other_rating():
    games = tournament(5, 10)
    alone = rate([g for g in games if g.anchor or g.player == "middle"], list(LEVELS))
    together = rate(games, list(LEVELS))
    for name in ("middle", *LEVELS):
        assert rated(alone, name) == rated(together, name)


def test_the_order_of_games_does_not_matter():
    games = tournament(6, 8)
    mixed = games.copy()
    random.Random(1).shuffle(mixed)
    ratings = [rate(each, list(LEVELS)).to_json() for each in (games, mixed)]
    assert ratings[0] == ratings[1]


@pytest.mark.parametrize("n_positions", [12, 40])
def test_intervals_hold_known_strengths(n_positions):
    n_runs, held = 50, dict.fromkeys([*POLICIES, "mcts", "optimal"], 0)
    for seed in range(n_runs):
        ratings = rate(tournament([seed, n_positions], n_positions), list(LEVELS))
        for name in held:
            found, truth = rated(ratings, name), (LEVELS | POLICIES)[name]
            low = -math.inf if found.low is None else found.low
            high = math.inf if found.high is None else found.high
            held[name] += low <= truth <= high
    assert min(held.values()) >= 0.86 * n_runs  # 3 standard errors below 0.95
    assert sum(held.values()) >= 0.93 * n_runs * len(held)


def test_intervals_narrow_with_more_positions():
    widths = []
    for n_positions in (10, 40, 160):
        found = rated(rate(tournament(9, n_positions), list(LEVELS)), "middle")
        widths.append(found.high - found.low)
    assert widths[0] > 1.4 * widths[1] > 1.9 * widths[2]


@pytest.mark.parametrize(("points", "sign"), [(0.0, -1), (1.0, 1)])
def test_a_player_that_won_or_lost_everything_stays_finite_with_an_open_end(points, sign):
    games = [game for i in range(20) for game in pair("mine", "random", f"p{i}", [points, points])]
    found = rated(rate(games, ["random"]), "mine")
    assert found.rating == pytest.approx(sign * elo(40.5 / 0.5), abs=1e-6)
    outer, inner = (found.low, found.high) if sign < 0 else (found.high, found.low)
    assert outer is None
    # With 20 positions a share of 1 - 0.025 ** (1 / 20) may have gone unseen.
    share = 1 - 0.025 ** (1 / 20)
    assert inner == pytest.approx(
        sign * elo((40 * (1 - share) + 0.5) / (40 * share + 0.5)), abs=1e-6
    )
    text = f"{sign * 763} [" + ("-∞, -268]" if sign < 0 else "268, ∞]")
    assert rating_text(found) == text


def test_one_position_says_too_little():
    found = rated(rate(pair("mine", "random", "a", [1.0, 0.0]), ["random"]), "mine")
    assert (found.low, found.high) == (None, None)
    assert found.note == "1 position: too few to compare"
    assert rating_text(found) == "0 (1 position: too few to compare)"


def test_few_positions_say_too_little_until_the_interval_is_narrow():
    notes = {}
    for n_positions in (3, 30):
        games = [
            game
            for i in range(n_positions)
            for game in pair("mine", "random", f"p{i}", [1.0, float(i % 2)])
        ]
        notes[n_positions] = rated(rate(games, ["random"]), "mine").note
    assert notes == {3: "3 positions: too few to compare", 30: ""}


def test_games_without_the_one_with_sides_changed_do_not_count():
    games = [game for i in range(10) for game in pair("mine", "random", f"p{i}", [1.0, 0.0])]
    games += pair("mine", "random", "q", [1.0, None])  # not scored
    games += pair("mine", "random", "r", [1.0, 1.0])[:1]  # not played yet
    ratings = rate(games, ["random"])
    mine = rated(ratings, "mine")
    assert (mine.games, mine.points, mine.rating) == (20, 0.5, pytest.approx(0, abs=1e-6))
    assert ratings.groups["overall"][0].left_out == 3
    assert any("Games left out: 3," in note for note in rating_notes(ratings))


def test_a_policy_without_a_scored_game_has_no_rating():
    games = tournament(1, 10, {"middle": 300}) + pair("broken", "random", "p0", [None, None])
    found = rate(games, list(LEVELS))
    broken = rated(found, "broken")
    assert (broken.rating, broken.games, broken.points) == (None, 0, None)
    assert rating_text(broken) == "–"
    assert found.groups["overall"][0].players[-1] == broken


def test_no_games_at_all():
    (group,) = rate([], ["random", "optimal"]).groups["overall"]
    assert [each.games for each in group.players] == [0, 0]


def test_a_policy_may_have_the_name_of_an_opponent():
    games = [game for i in range(10) for game in pair("random", "random", f"p{i}", [1.0, 0.5])]
    ratings = rate(games, ["random"])
    assert rated(ratings, "random", anchor=True).rating == 0
    assert rated(ratings, "random", anchor=False).rating > 100
    (table,) = rating_tables(ratings)
    assert [row[0] for row in table.rows] == ["random", "built-in random"]


def test_anchors_that_never_met_have_no_common_scale():
    games = pair("mine", "random", "a", [1.0, 0.0]) + pair("mine", "optimal", "a", [0.0, 0.0])
    with pytest.raises(UsageError, match="no games connect optimal with random"):
        rate(games, ["random", "optimal"])


def test_a_reference_that_lost_everything_is_noted():
    games = [
        game
        for i in range(5)
        for game in pair("optimal", "random", f"p{i}", [1.0, 1.0], anchor=True)
    ]
    ratings = rate(games, ["random", "optimal"])
    (note,) = ratings.notes
    assert note.startswith("random lost every game against the other built-in players, so all")
    assert rated(ratings, "optimal").high is None


def test_tasks_and_levels_have_ratings_of_their_own():
    games = []
    for task, points in (("A", [1.0, 1.0]), ("B", [0.0, 0.0])):
        for level in (0, 1):
            for i in range(8):
                position = f"{task}|{level}|{i}"
                games += pair("mine", "random", position, points, task=task, difficulty=level)
    ratings = rate(games, ["random"])
    by_task = {
        group.by["task"]: {p.player: p.rating for p in group.players}["mine"]
        for group in ratings.groups["task"]
    }
    assert by_task["A"] == pytest.approx(elo(32.5 / 0.5), abs=1e-6)
    assert by_task["B"] == pytest.approx(-by_task["A"], abs=1e-6)
    assert [group.by for group in ratings.groups["difficulty"]] == [
        {"difficulty": 0},
        {"difficulty": 1},
    ]
    assert rated(ratings, "mine").rating == pytest.approx(0, abs=1e-6)
    whole, tasks, levels = rating_tables(ratings)
    assert whole.header[-1] == "vs random"
    assert [row[0] for row in tasks.rows] == ["A", "B"]
    assert [row[0] for row in levels.rows] == ["0", "1"]
