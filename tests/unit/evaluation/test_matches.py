"""Matches against built-in players: fair positions, the anchors' games, resuming, joining runs."""

import json
import re

import pytest
from fakes.run_folders import record, write_run

from rlvr_envs.core.errors import ConfigError, RowError, UsageError
from rlvr_envs.core.games import add_policy
from rlvr_envs.evaluation import FunctionPolicy, Policy, PolicyError, Response, evaluate, rejudge
from rlvr_envs.evaluation.matches import AnchorGames, play_match, rate_runs
from rlvr_envs.evaluation.plan import Plan
from rlvr_envs.evaluation.report import write_report
from rlvr_envs.evaluation.store import read_anchor_games, read_problems, read_records
from rlvr_envs.executors import Serial

PLAYERS = ("random", "optimal")


def first_empty_cell(messages):
    """Mark the first empty cell of the board that was shown last."""
    for line in messages[-1]["content"].splitlines():
        row, *cells = line.split() or [""]
        if row.isdecimal() and "." in cells:
            return rf"\boxed{{{row} {cells.index('.') + 1}}}"
    return "no cell is empty"


MINE = FunctionPolicy("first cell", first_empty_cell)


def ratings_of(run):
    return {(p.player, p.anchor): p for p in run.ratings.groups["overall"][0].players}


def play(**more):
    given = {"difficulty": 1, "episodes": 6, "opponents": PLAYERS} | more
    return evaluate(
        given.pop("ids", "TicTacToe-v0"), given.pop("policies", ["oracle", MINE]), **given
    )


def test_policies_and_opponents_are_rated():
    run = play(episodes=10)
    found = ratings_of(run)
    assert run.size == 10 * 2 * 2  # both sides, against both
    assert found["random", True].rating == 0
    # The oracle plays as well as the optimal player, and better than who fills cells in order.
    assert found["oracle", False].against["optimal"] == 0.5
    assert abs(found["oracle", False].rating - found["optimal", True].rating) < 150
    assert found["oracle", False].rating > found["first cell", False].rating + 100
    assert found["oracle", False].games == found["first cell", False].games == 40
    assert found["optimal", True].games == 20
    assert run.to_json()["ratings"]["reference"] == "random"


def test_every_position_is_played_from_both_sides_against_each():
    run = play(policies=["oracle"])
    sides = {}
    for each in run.records:
        sides.setdefault(each["problem_seed"], set()).add((each["opponent"], each["side"]))
    assert len(sides) == 6
    for found in sides.values():
        assert found == {(p, side) for p in PLAYERS for side in ("first", "second")}


def test_optimal_players_win_as_the_first_and_lose_as_the_second():
    run = play(policies=["oracle"])
    scores = {
        side: {r["verdict"]["score"] for r in run.records if (r["opponent"], r["side"]) == side}
        for side in [("optimal", "first"), ("optimal", "second")]
    }
    assert scores == {("optimal", "first"): {1.0}, ("optimal", "second"): {0.0}}


def test_the_position_is_one_for_all_but_the_first_move():
    plan = Plan(ids=("rlvr/Hex-v0",), difficulties=(1,), episodes=2, opponents=PLAYERS)
    openings = {}
    for cell in plan.cells():
        for question in cell.questions(plan):
            problem = question.instance().problem
            opening = problem.opening if cell.side == "first" else problem.opening[:-1]
            seat = problem.seat if cell.side == "first" else 1 - problem.seat
            openings.setdefault(question.problem_seed, set()).add((opening, seat))
    assert len(openings) == 2
    assert all(len(found) == 1 for found in openings.values())


def test_anchors_games_are_the_same_again():
    plan = Plan(ids=("rlvr/Nim-v0",), difficulties=(1,), episodes=4, opponents=("random", "mcts:5"))
    asked = [question for cell in plan.cells() for question in cell.questions(plan)]
    first, second = (list(AnchorGames(plan, asked).play(Serial())) for _ in range(2))
    assert first == second
    assert len(first) == 4 * 2
    again = AnchorGames(plan, asked, first[:3])
    assert list(again.play(Serial())) == first[3:]
    assert len(again.games) == again.total == 8


def test_who_moves_first_is_the_first_of_a_pair():
    plan = Plan(ids=("rlvr/Nim-v0",), difficulties=(2,), episodes=3, opponents=PLAYERS)
    for question in plan.cells()[0].questions(plan):
        instance = question.instance()
        assert play_match(instance.task, instance.problem, "optimal", "random") == 1.0
        assert play_match(instance.task, instance.problem, "optimal", "optimal") == 1.0


def test_a_run_is_resumed(tmp_path):
    whole = play(out=tmp_path / "run")
    assert len(list(read_anchor_games(tmp_path / "run" / "anchors.jsonl"))) == 12
    for name, kept in (("episodes.jsonl", 30), ("anchors.jsonl", 5)):
        path = tmp_path / "run" / name
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(lines[:kept]) + lines[kept][:20])  # the last one is cut off
    told = []
    again = play(out=tmp_path / "run", progress=told.append)
    assert again.ratings == whole.ratings
    assert (told[0].done, told[0].resumed) == (35 + 1, 35)
    assert (told[-1].done, told[-1].total) == (48 + 12, 48 + 12)
    assert len(list(read_anchor_games(tmp_path / "run" / "anchors.jsonl"))) == 12
    assert len(list(read_records(tmp_path / "run" / "episodes.jsonl"))) == 48
    stored = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert stored["ratings"] == json.loads(json.dumps(again.ratings.to_json()))


def test_a_run_may_grow_but_not_change_its_opponents(tmp_path):
    play(out=tmp_path, episodes=3, policies=["oracle"])
    grown = play(out=tmp_path, episodes=5)
    assert grown.ratings == play(episodes=5).ratings
    with pytest.raises(ConfigError, match="opponents was"):
        play(out=tmp_path, episodes=5, opponents=("random",))


def test_a_run_without_opponents_says_nothing_of_them(tmp_path):
    run = evaluate("TicTacToe-v0", "oracle", episodes=2, difficulty=0, out=tmp_path)
    assert run.ratings is None
    assert "ratings" not in run.to_json()
    assert "opponents" not in json.loads((tmp_path / "run.json").read_text())["config"]
    assert not (tmp_path / "anchors.jsonl").exists()


def test_an_executor_gives_the_same_ratings():
    assert play(policies=["oracle"], executor=Serial()).ratings == play(policies=["oracle"]).ratings


class Silent(Policy):
    """Fails on every problem where it is first."""

    async def act(self, request):
        if request.instance.task.config.match == "first":
            raise PolicyError("no line")
        return Response(request.instance.solution()[request.turn])


def test_unscored_games_leave_out_the_other_side_too():
    run = play(policies=["oracle", Silent("half")])
    found = ratings_of(run)
    assert found["half", False].rating is None
    assert run.ratings.groups["overall"][0].left_out == 24
    assert found["oracle", False].games == 24


def test_a_policy_that_never_makes_a_legal_move_is_below_all():
    run = play(policies=["constant:no"])
    players = run.ratings.groups["overall"][0].players
    assert players[-1].player == "constant:no"
    assert (players[-1].points, players[-1].low) == (0.0, None)


def test_a_policy_of_ones_own_is_an_opponent():
    add_policy("leftmost", lambda view, legal, rng: legal[0])
    run = play(opponents=("leftmost", "optimal"), policies=["oracle"])
    assert run.ratings.reference == "leftmost"
    assert ratings_of(run)["optimal", True].rating > 0


@pytest.mark.parametrize(
    ("ids", "more", "told"),
    [
        ("Gcd-v0", {}, "rlvr/Gcd-v0 is no game"),
        ("KuhnPoker-v0", {}, "a game without a choice of opponents"),
        (["Nim-v0", "Pig-v0"], {}, "evaluate ConnectFour-v0, Hex-v0, Nim-v0, TicTacToe-v0"),
        ("Puzzle-v0", {}, "is no game"),
        ("Nim-v0", {"opponents": ["optimol"]}, "did you mean 'optimal'"),
        ("Nim-v0", {"opponents": ["mcts:0"]}, "no opponent 'mcts:0'"),
        ("Nim-v0", {"opponents": ["random", "random"]}, "once each"),
        ("Nim-v0", {"knobs": {"seat": 0}}, "set the knob 'seat'"),
        ("Nim-v0", {"knobs": {"opponent": "random"}}, "set the knob 'opponent'"),
    ],
)
def test_what_cannot_be_rated_is_refused(ids, more, told, tmp_path):
    with pytest.raises(ConfigError, match=re.escape(told)):
        play(ids=ids, out=tmp_path / "run", **more)
    assert not (tmp_path / "run").exists()


def test_scores_of_one_position_are_one_cluster():
    """Samples and sides of three positions say no more than three problems do."""
    (group,) = play(policies=["oracle"], episodes=3, samples=4).summary["overall"]
    assert group.score.high - group.score.low > 0.6
    assert group.episodes == 3 * 2 * 2 * 4


def test_rejudging_keeps_the_ratings(tmp_path):
    run = play(out=tmp_path / "run", episodes=3)
    found = rejudge(tmp_path / "run", out=tmp_path / "again")
    assert found.changes == []
    stored = json.loads((tmp_path / "again" / "summary.json").read_text())
    assert stored["ratings"] == json.loads(json.dumps(run.ratings.to_json()))
    assert rate_runs([str(tmp_path / "again")]) == run.ratings


def test_a_stored_problem_alone_is_a_match(tmp_path):
    play(out=tmp_path, episodes=2, policies=["oracle"])
    rows = {row["question"]: row for row in read_problems(tmp_path / "problems.jsonl")}
    (second,) = {q for q in rows if q.endswith("second against optimal")} - {
        min(q for q in rows if q.endswith("second against optimal"))
    }
    assert rows[second]["config"]["match"] == "second"
    assert "force a win" not in rows[second]["prompt"]


def test_runs_are_joined(tmp_path):
    one = play(out=tmp_path / "both")
    play(out=tmp_path / "oracle", policies=["oracle"])
    play(out=tmp_path / "mine", policies=[MINE])
    joined = rate_runs([str(tmp_path / "oracle"), str(tmp_path / "mine")])
    assert joined == one.ratings
    assert rate_runs([str(tmp_path / "both")]) == one.ratings
    part = rate_runs([f"{tmp_path / 'both'}:oracle"])
    assert [p.player for p in part.groups["overall"][0].players if not p.anchor] == ["oracle"]


def test_runs_with_other_opponents_are_joined_by_a_common_one(tmp_path):
    play(out=tmp_path / "a", policies=["oracle"], opponents=("random", "optimal"))
    play(out=tmp_path / "b", policies=["oracle"], opponents=("random", "mcts:5"))
    found = rate_runs([str(tmp_path / "a"), str(tmp_path / "b")])
    assert {p.player for p in found.groups["overall"][0].players} == {
        "a",
        "b",
        "random",
        "optimal",
        "mcts:5",
    }
    play(out=tmp_path / "c", policies=["oracle"], opponents=("mcts:5",))
    with pytest.raises(UsageError, match=r"no games connect mcts:5 with random"):
        rate_runs([str(tmp_path / "a"), str(tmp_path / "c")])


def test_only_common_levels_count(tmp_path):
    play(out=tmp_path / "a", policies=["oracle"], difficulty="0,1")
    play(out=tmp_path / "b", policies=[MINE], difficulty=1)
    found = rate_runs([str(tmp_path / "a"), str(tmp_path / "b")])
    assert found.notes[0] == "left out, as not all runs have it: rlvr/TicTacToe-v0 at level 0"
    assert [group.by for group in found.groups["difficulty"]] == [{"difficulty": 1}]
    play(out=tmp_path / "c", policies=[MINE], difficulty=2)
    with pytest.raises(UsageError, match="no game at the same level in common"):
        rate_runs([str(tmp_path / "b"), str(tmp_path / "c")])


def test_runs_of_other_games_are_refused(tmp_path):
    play(out=tmp_path / "a", policies=["oracle"], episodes=2)
    play(out=tmp_path / "b", policies=["oracle"], episodes=2, knobs={"n_columns": 5})
    with pytest.raises(ConfigError, match="n_columns"):
        rate_runs([str(tmp_path / "a"), str(tmp_path / "b")])
    other = tmp_path / "c"
    play(out=other, policies=["oracle"], episodes=2)
    path = other / "anchors.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[0]["points"] = 1 - rows[0]["points"]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    with pytest.raises(ConfigError, match="different versions"):
        rate_runs([str(tmp_path / "a"), str(other)])


def test_a_run_without_matches_is_refused(tmp_path):
    write_run(tmp_path / "plain", [record("m")])
    with pytest.raises(UsageError, match="has no matches"):
        rate_runs([str(tmp_path / "plain")])
    with pytest.raises(ConfigError, match="there is no folder"):
        rate_runs([str(tmp_path / "nothing")])


def test_a_line_that_is_no_game_is_named(tmp_path):
    play(out=tmp_path, policies=["oracle"], episodes=2)
    with (tmp_path / "anchors.jsonl").open("a") as file:
        file.write('{"position": "p", "task": "t", "difficulty": 0, "first": "a", "second": "b", ')
        file.write('"points": 7}\n')
    with pytest.raises(RowError, match=r"points are 0, 0\.5 or 1, got 7"):
        rate_runs([str(tmp_path)])


def test_the_report_has_the_ratings(tmp_path):
    pytest.importorskip("plotly", reason="the report needs plotly")
    run = play(out=tmp_path, policies=["oracle"])
    text = write_report(run).read_text("utf-8")
    assert "<h2>Ratings</h2>" in text
    assert "built-in optimal" in text
    assert "400 points are odds of ten to one, and random has 0." in text
