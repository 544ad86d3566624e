"""Running an evaluation: records, resuming, failures."""

import asyncio
import json
import re

import pytest

from rlvr_envs.core.errors import ConfigError, DependencyError
from rlvr_envs.evaluation import FunctionPolicy, Policy, PolicyError, Response, evaluate
from rlvr_envs.evaluation.store import read_problems, read_records
from rlvr_envs.evaluation.table import short_names, tables


class FlakyPolicy(Policy):
    """Gives no response to the requests numbered in `failing`."""

    def __init__(self, failing):
        super().__init__("flaky")
        self.failing = set(failing)
        self.asked = 0

    async def act(self, request):
        self.asked += 1
        if self.asked in self.failing:
            raise PolicyError("the line is dead")
        return Response(request.instance.solution())


def stored(folder):
    return list(read_records(folder / "episodes.jsonl"))


def problems(folder):
    return list(read_problems(folder / "problems.jsonl"))


def test_the_oracle_solves_everything_and_random_does_not():
    run = evaluate(
        ["EvalPlus-v0", "EvalTagPlus-v0"],
        ["oracle", "random"],
        difficulty=[0, 2],
        episodes=10,
        samples=2,
    )
    oracle, random = run.summary["overall"]
    assert (oracle.by, oracle.score.mean, oracle.problems) == ({"policy": "oracle"}, 1.0, 40)
    assert random.score.mean < 0.6
    assert oracle.episodes == random.episodes == 80
    assert len(run.summary["task_difficulty"]) == 8
    (comparison,) = run.summary.comparisons
    assert (comparison.policy, comparison.baseline) == ("random", "oracle")
    assert comparison.difference.mean == pytest.approx(random.score.mean - 1)


def test_every_policy_is_asked_the_same_problems(tmp_path):
    evaluate("EvalPlus-v0", ["oracle", "random"], episodes=10, out=tmp_path)
    asked = {"oracle": set(), "random": set()}
    for record in stored(tmp_path):
        asked[record["policy"]].add(record["problem_seed"])
    assert asked["oracle"] == asked["random"]
    assert len(asked["oracle"]) == 10


def test_a_record_says_all_that_is_needed_to_judge_it_again(tmp_path):
    from rlvr_envs.core.source import open_source

    evaluate("EvalTagPlus-v0", "random", difficulty=1, episodes=5, samples=2, out=tmp_path)
    records = stored(tmp_path)
    assert len(records) == 10
    for record in records:
        source = open_source(record["id"], difficulty=record["difficulty"])
        instance = source.draw(record["problem_seed"])
        assert instance.fingerprint() == record["fingerprint"]
        assert instance.judge(record["response"]).to_json() == record["verdict"]
        assert record["response_chars"] == len(record["response"])
        assert f"<answer>{record['answer']}</answer>" == record["response"]


def test_a_run_replays_as_a_recording(tmp_path):
    first = evaluate("EvalPlus-v0", "random", episodes=8, samples=3, out=tmp_path)
    again = evaluate(
        "EvalPlus-v0", f"recorded:{tmp_path / 'episodes.jsonl'}", episodes=8, samples=3
    )
    assert again.summary["overall"][0].score == first.summary["overall"][0].score
    assert again.summary["overall"][0].unscored == 0


def test_the_oracle_plays_interactive_episodes_to_their_end():
    records = evaluate("EvalHotCold-v0", "oracle", episodes=4).records
    assert [(r["turns"], r["verdict"]["status"]) for r in records] == [(2, "correct")] * 4


@pytest.mark.parametrize(
    ("actions", "end"),
    [(["x"] * 9, (3, "wrong", True)), (["x", "crash"], (2, "verifier_error", False))],
)
def test_interactive_episodes_end_at_the_turn_limit_or_at_a_fault(actions, end):
    player = FunctionPolicy("player", lambda messages: actions[len(messages) // 2])
    (record,) = evaluate("EvalHotCold-v0", player, episodes=1).records
    assert (record["turns"], record["verdict"]["status"], record["scored"]) == end


def test_a_function_sees_the_chat_and_cannot_change_it():
    seen = []

    def play(messages):
        seen.append([m["role"] for m in messages])
        messages.clear()
        return "x"

    evaluate("EvalHotCold-v0", FunctionPolicy("mine", play), episodes=1)
    assert seen == [
        ["user"],
        ["user", "assistant", "user"],
        ["user", "assistant", "user", "assistant", "user"],
    ]


def test_shots_are_solved_problems_other_than_the_question():
    seen = []
    watcher = FunctionPolicy("watcher", lambda messages: seen.append(messages) or "x")
    evaluate("EvalTagPlus-v0", watcher, difficulty=1, episodes=12, shots=2)
    assert len(seen) == 12
    for messages in seen:
        assert [m["role"] for m in messages] == ["user", "assistant"] * 2 + ["user"]
        asked = [m["content"] for m in messages if m["role"] == "user"]
        assert len(set(asked)) == 3
        for question, answer in zip(asked, messages[1::2], strict=False):
            first, second = re.findall(r"(\d+) \+ (\d+)", question)[0]
            assert answer["content"] == f"<answer>{int(first) + int(second)}</answer>"


def test_shots_do_not_count_as_turns():
    run = evaluate("EvalPlus-v0", ["oracle", "random"], difficulty=1, episodes=4, shots=3)
    assert run.summary["overall"][0].score.mean == 1.0
    assert {record["turns"] for record in run.records} == {1}


def test_shots_that_cannot_be_had_are_refused_or_unscored():
    with pytest.raises(ConfigError, match="interactive"):
        evaluate("EvalHotCold-v0", "oracle", shots=1)
    (record,) = evaluate("EvalListed-v0", "oracle", episodes=1, shots=9).records
    assert not record["scored"]


def test_a_failing_policy_is_unscored_never_zero_and_asked_again_on_resume(tmp_path):
    run = evaluate("EvalPlus-v0", FlakyPolicy({2, 5, 6}), episodes=6, out=tmp_path)
    (group,) = run.summary["overall"]
    assert (group.episodes, group.unscored, group.score.mean) == (6, 3, 1.0)
    assert group.statuses == {"correct": 3, "policy_error": 3}
    failed = [r for r in stored(tmp_path) if not r["scored"]]
    assert all(r["verdict"]["score"] is None and r["response"] is None for r in failed)

    mended = FlakyPolicy(())
    again = evaluate("EvalPlus-v0", mended, episodes=6, out=tmp_path)
    (group,) = again.summary["overall"]
    assert (group.episodes, group.unscored, group.score.mean) == (6, 0, 1.0)
    assert mended.asked == 3
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["levels"]["overall"][0]["unscored"] == 0


def test_a_failing_verifier_is_unscored_and_its_response_judged_again_on_resume(tmp_path, mend):
    first = FlakyPolicy(())
    run = evaluate("EvalBreakable-v0", first, episodes=4, out=tmp_path)
    (group,) = run.summary["overall"]
    assert (group.unscored, group.score.mean) == (4, None)
    mend()
    second = FlakyPolicy(())
    (group,) = evaluate("EvalBreakable-v0", second, episodes=4, out=tmp_path).summary["overall"]
    assert (group.unscored, group.score.mean) == (0, 1.0)
    assert (first.asked, second.asked) == (4, 0)


class SpendingPolicy(Policy):
    async def act(self, request):
        answer = request.instance.solution()
        return Response(answer, "stop", 3, 10, "I think", attempts=2, waited_s=0.5)


def test_what_an_episode_used_stays_when_it_is_judged_again(tmp_path, mend):
    used = {
        "finish": "stop",
        "tokens": 3,
        "prompt_tokens": 10,
        "attempts": 2,
        "waited_s": 0.5,
        "reasoning": "I think",
    }
    evaluate("EvalBreakable-v0", SpendingPolicy("p"), episodes=1, out=tmp_path)
    mend()
    evaluate("EvalBreakable-v0", SpendingPolicy("p"), episodes=1, out=tmp_path)
    failed, judged = stored(tmp_path)
    assert (failed["scored"], judged["scored"]) == (False, True)
    assert failed.items() >= used.items() <= judged.items()


def test_a_task_that_poses_nothing_spoils_no_other(tmp_path):
    run = evaluate(["EvalUnposable-v0", "EvalPlus-v0"], "oracle", episodes=3, out=tmp_path)
    (group,) = run.summary["overall"]
    assert (group.episodes, group.unscored, group.score.mean) == (6, 3, 1.0)
    details = [r["verdict"]["detail"] for r in stored(tmp_path) if not r["scored"]]
    assert details == ["the task posed no problem: RuntimeError: nothing to ask"] * 3


def test_a_game_that_cannot_begin_is_unscored():
    (record,) = evaluate("EvalBoardless-v0", "constant:x", episodes=1).records
    assert (record["scored"], record["verdict"]["status"]) == (False, "verifier_error")


def test_an_empty_response_is_judged_again_not_asked_again(tmp_path, mend):
    silent = FunctionPolicy("silent", lambda messages: "\\boxed{} ")
    evaluate("EvalBreakable-v0", silent, episodes=1, out=tmp_path)
    asked = []
    text = (tmp_path / "episodes.jsonl").read_text()
    record = json.loads(text) | {"response": "", "scored": False}
    record["verdict"] = {"score": 0.0, "status": "verifier_error", "detail": "", "parts": {}}
    (tmp_path / "episodes.jsonl").write_text(json.dumps(record) + "\n")
    mend()
    again = FunctionPolicy("silent", lambda messages: asked.append(1) or "x")
    run = evaluate("EvalBreakable-v0", again, episodes=1, out=tmp_path)
    assert (asked, run.records[0]["verdict"]["status"]) == ([], "unparsable")


def test_difficulties_may_be_text_and_are_not_repeated():
    for given in ("0-1", [0, 1, 0]):
        run = evaluate("EvalPlus-v0", "oracle", difficulty=given, episodes=1)
        assert run.plan.difficulties == (0, 1)


def test_a_finished_run_asks_nothing_and_says_the_same(tmp_path):
    first = evaluate("EvalPlus-v0", "random", episodes=5, samples=2, out=tmp_path)
    before = (tmp_path / "episodes.jsonl").read_bytes()
    again = evaluate("EvalPlus-v0", "random", episodes=5, samples=2, out=tmp_path)
    assert (tmp_path / "episodes.jsonl").read_bytes() == before
    assert again.summary.to_json() == first.summary.to_json()


def test_an_error_that_is_no_policys_ends_the_run_and_keeps_what_was_done(tmp_path):
    class Fatal(FlakyPolicy):
        async def act(self, request):
            if self.asked == 3:
                raise ConfigError("the key is refused")
            return await super().act(request)

    with pytest.raises(ConfigError, match="the key is refused"):
        evaluate("EvalPlus-v0", Fatal(()), episodes=9, out=tmp_path, workers=1)
    assert len(stored(tmp_path)) == 3


def test_it_runs_inside_a_running_event_loop():
    async def notebook():
        return evaluate("EvalPlus-v0", "oracle", episodes=2)

    assert asyncio.run(notebook()).summary["overall"][0].score.mean == 1.0


def test_progress_counts_what_was_on_disk(tmp_path):
    evaluate("EvalPlus-v0", FlakyPolicy({1, 2}), episodes=5, out=tmp_path)
    seen = []
    evaluate("EvalPlus-v0", FlakyPolicy(()), episodes=5, out=tmp_path, progress=seen.append)
    assert [(p.done, p.total, p.resumed) for p in seen] == [(3, 5, 3), (4, 5, 3), (5, 5, 3)]


def test_a_mixture_is_told_apart_by_task():
    run = evaluate("Puzzle-v0", "oracle", episodes=4)
    assert {r["id"] for r in run.records} == {"rlvr/Puzzle-v0"}
    assert {g.by["domain"] for g in run.summary["domain"]} == {"puzzles"}


def test_the_same_policy_twice_and_bad_workers_are_refused():
    with pytest.raises(ConfigError, match="each once"):
        evaluate("EvalPlus-v0", ["oracle", "oracle"])
    with pytest.raises(ConfigError, match="workers"):
        evaluate("EvalPlus-v0", "oracle", workers=0)


def test_tables_put_the_policies_side_by_side():
    run = evaluate(
        ["EvalPlus-v0", "EvalBreakable-v0"], ["oracle", "constant:7"], episodes=3, samples=2
    )
    policies, tasks = tables(run.summary)
    assert policies.header[:2] == ["policy", "n"]
    assert "pass@2" in policies.header
    assert [row[:2] for row in policies.rows] == [["constant:7", "6×2"], ["oracle", "6×2"]]
    assert tasks.header == ["task", "constant:7", "oracle", "note"]
    assert tasks.rows[1][0] == "rlvr/EvalPlus-v0"
    assert tasks.rows[1][2:] == ["1.000", "3 problems: too few to compare"]
    assert tasks.rows[0] == ["rlvr/EvalBreakable-v0", "–", "–", ""]
    for table in (policies, tasks):
        assert {len(row) for row in table.rows} == {len(table.header)}


def test_tables_of_one_policy_show_its_intervals_and_difficulties():
    run = evaluate("EvalPlus-v0", "oracle", episodes=3, difficulty=[0, 2, 10])
    _, levels = tables(run.summary)
    assert levels.header == ["difficulty", "score [95 % CI]"]
    assert [row[0] for row in levels.rows] == ["0", "2", "10"]
    assert levels.rows[0][1].startswith("1.000 [")


def test_domains_are_told_apart_in_the_table_of_policies():
    ids = ["EvalPlus-v0", "EvalTagPlus-v0"]
    table = tables(evaluate(ids, "oracle", episodes=2).summary)[0]
    assert table.header[0] == "domain"
    assert [row[0] for row in table.rows] == ["math", "puzzles", "all"]


def test_long_names_of_policies_keep_their_ends():
    names = short_names(["oracle", "recorded:runs/first/episodes.jsonl"], 12)
    assert names == ["oracle", "…sodes.jsonl"]
    assert max(map(len, names)) == 12


def test_missing_packages_are_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "httpx", None)
    monkeypatch.setitem(sys.modules, "plotly", None)
    monkeypatch.setitem(sys.modules, "torch", None)
    from rlvr_envs.evaluation.policies import make_policy
    from rlvr_envs.evaluation.policy import PolicyOptions
    from rlvr_envs.evaluation.report import require_plotly

    local = PolicyOptions(base_url="http://127.0.0.1:1/v1")
    for needy in (
        lambda: make_policy("openai:m", local),
        lambda: make_policy("local:some/model"),
        require_plotly,
    ):
        with pytest.raises(DependencyError, match=r"needs (httpx|torch|plotly): pip install '"):
            needy()


def test_a_run_stores_each_problem_once_before_its_episodes(tmp_path):
    from rlvr_envs.core.instance import Instance

    seen = []

    def note(progress):
        if progress.record:
            seen.append(progress.record["question"] in {p["question"] for p in problems(tmp_path)})

    asked = {"difficulty": [0, 1], "episodes": 5, "samples": 3, "out": tmp_path, "progress": note}
    evaluate("EvalTagPlus-v0", ["oracle", "random"], **asked)
    rows = {problem["question"]: problem for problem in problems(tmp_path)}
    assert len(rows) == len(problems(tmp_path)) == 10
    assert seen == [True] * 60
    for record in stored(tmp_path):
        row = rows[record["question"]]
        assert record["key"] == f"{record['policy']}|{record['question']}|{record['sample']}"
        instance = Instance.from_row(row)
        assert instance.to_row() == {k: v for k, v in row.items() if k != "question"}
        assert instance.judge(record["response"]).to_json() == record["verdict"]


def test_shots_are_stored_with_the_problem(tmp_path):
    seen = []
    watcher = FunctionPolicy("watcher", lambda messages: seen.append(messages) or "x")
    asked = {"difficulty": 1, "episodes": 1, "shots": 2}
    evaluate("EvalTagPlus-v0", watcher, **asked, out=tmp_path / "shots")
    (problem,) = problems(tmp_path / "shots")
    turns = [text for shot in problem["shots"] for text in shot] + [problem["prompt"]]
    assert [message["content"] for message in seen[0]] == turns
    evaluate("EvalTagPlus-v0", watcher, episodes=1, out=tmp_path / "none")
    assert "shots" not in problems(tmp_path / "none")[0]


def test_a_problem_without_an_oracle_is_stored_and_one_that_is_not_posed_is_not(
    tmp_path, monkeypatch
):
    from rlvr_envs.core.registry import find

    def fails(self, problem):
        raise DependencyError("the solver is missing")

    monkeypatch.setattr(find("rlvr/EvalPlus-v0").task_type, "solve", fails)
    run = evaluate(["EvalUnposable-v0", "EvalPlus-v0"], "constant:1", episodes=2, out=tmp_path)
    assert [row["reference"] for row in problems(tmp_path)] == [None, None]
    assert {row["id"] for row in problems(tmp_path)} == {"rlvr/EvalPlus-v0"}
    assert run.summary["overall"][0].unscored == 2


def test_what_an_interactive_task_replied_is_recorded(tmp_path):
    actions = ["x", "y", "crash"]
    player = FunctionPolicy("player", lambda messages: actions[len(messages) // 2])
    evaluate("EvalHotCold-v0", [player, "oracle", "constant:x"], episodes=1, out=tmp_path)
    crashed, solved, limited = stored(tmp_path)
    assert crashed["replies"] == ["colder", "colder", ""]
    assert solved["replies"] == ["colder", "found"]
    assert limited["replies"] == ["colder"] * 3
    evaluate("EvalPlus-v0", "oracle", episodes=1, out=tmp_path / "plain")
    assert "replies" not in stored(tmp_path / "plain")[0]


def test_a_lost_problem_and_those_of_an_older_run_are_stored_on_resume(tmp_path):
    asked = {"episodes": 4, "out": tmp_path}
    evaluate("EvalPlus-v0", "oracle", **asked)
    path = tmp_path / "problems.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[0] + lines[2] + lines[3][:50])
    evaluate("EvalPlus-v0", "oracle", **asked)
    assert sorted(path.read_text().splitlines(keepends=True)) == sorted(lines)

    path.unlink()
    episodes = tmp_path / "episodes.jsonl"
    old = [{k: v for k, v in r.items() if k != "question"} for r in stored(tmp_path)]
    episodes.write_text("".join(json.dumps(record) + "\n" for record in old))
    run = evaluate("EvalPlus-v0", "oracle", **asked)
    assert sorted(path.read_text().splitlines(keepends=True)) == sorted(lines)
    assert (stored(tmp_path), run.summary["overall"][0].score.mean) == (old, 1.0)


def test_questions_that_are_given_are_stored_with_their_rows(tmp_path):
    from rlvr_envs.core.source import open_source
    from rlvr_envs.evaluation.plan import Cell, Plan, Question
    from rlvr_envs.evaluation.runner import run_plan

    source = open_source("EvalPlus-v0")
    rows = [source.draw(seed).to_row() for seed in (1, 2)]
    asked = [Question(Cell(source, None), None, i, row) for i, row in enumerate(rows)]
    plan = Plan(ids=("rlvr/EvalPlus-v0",), episodes=2)
    run_plan(plan, [FlakyPolicy(())], out=tmp_path, asked=asked)
    kept = sorted(problems(tmp_path), key=lambda row: row["question"])
    assert kept == [
        {"question": f"rlvr/EvalPlus-v0|None|#{i}", **row} for i, row in enumerate(rows)
    ]


def test_a_version_that_makes_other_problems_does_not_mix_them_into_a_run(tmp_path, monkeypatch):
    from rlvr_envs.core.registry import find

    plus = find("rlvr/EvalPlus-v0").task_type
    evaluate("EvalPlus-v0", "oracle", episodes=3, out=tmp_path)
    before = (tmp_path / "episodes.jsonl").read_bytes(), (tmp_path / "problems.jsonl").read_bytes()
    pair = plus.Problem
    monkeypatch.setattr(plus, "generate", lambda self, rng: pair(100, 100))
    for _ in range(2):
        with pytest.raises(ConfigError, match="makes another problem of the question"):
            evaluate("EvalPlus-v0", "oracle", episodes=3, samples=2, out=tmp_path)
        # Without the stored problems, the episodes still say what they answer.
        (tmp_path / "problems.jsonl").write_bytes(b"")
    evaluate("EvalPlus-v0", "oracle", episodes=3, samples=2, out=tmp_path / "other")
    (tmp_path / "problems.jsonl").write_bytes(before[1])
    assert (tmp_path / "episodes.jsonl").read_bytes() == before[0]


def test_a_larger_run_goes_on_where_the_smaller_one_ended(tmp_path):
    counting = FlakyPolicy(())
    evaluate("EvalPlus-v0", counting, episodes=4, out=tmp_path)
    before = stored(tmp_path)
    run = evaluate("EvalPlus-v0", counting, episodes=6, samples=2, out=tmp_path)
    assert counting.asked == 12
    assert stored(tmp_path)[:4] == before
    whole = evaluate("EvalPlus-v0", FlakyPolicy(()), episodes=6, samples=2, out=tmp_path / "whole")
    assert {r["key"] for r in run.records} == {r["key"] for r in whole.records}
    assert run.config == whole.config
    assert json.loads((tmp_path / "run.json").read_text())["config"]["episodes"] == 6
    assert len(problems(tmp_path)) == 6
    with pytest.raises(ConfigError, match="at least 6 episodes"):
        evaluate("EvalPlus-v0", counting, episodes=5, samples=2, out=tmp_path)


def test_another_policy_may_join_a_run(tmp_path):
    counting = FlakyPolicy(())
    evaluate("EvalPlus-v0", counting, episodes=3, out=tmp_path)
    run = evaluate("EvalPlus-v0", "constant:none", episodes=3, out=tmp_path)
    assert counting.asked == 3
    groups = {group.by["policy"]: group.score.mean for group in run.summary["overall"]}
    assert groups == {"flaky": 1.0, "constant:none": 0.0}
    assert list(run.config["policies"]) == ["flaky", "constant:none"]
    assert run.summary.comparisons[0].problems == 3
    assert len(problems(tmp_path)) == 3


def test_the_statistics_keep_what_policies_that_are_not_asked_did(tmp_path):
    evaluate("EvalPlus-v0", FlakyPolicy({2}), episodes=4, out=tmp_path)
    seen = []
    asked = {"episodes": 5, "out": tmp_path, "progress": seen.append}
    run = evaluate("EvalPlus-v0", "oracle", **asked)
    assert [(p.done, p.total, p.resumed) for p in seen] == [(done, 5, 0) for done in range(6)]
    groups = {group.by["policy"]: group for group in run.summary["overall"]}
    assert (groups["flaky"].episodes, groups["flaky"].unscored) == (4, 1)
    again = FlakyPolicy(())
    run = evaluate("EvalPlus-v0", again, **asked)
    assert again.asked == 2  # the one that failed, and the new one
    assert [(g.episodes, g.unscored) for g in run.summary["overall"]] == [(5, 0), (5, 0)]


def test_a_policy_that_has_fewer_samples_than_the_run_is_counted_by_episodes(tmp_path):
    evaluate("EvalPlus-v0", "oracle", episodes=3, out=tmp_path)
    run = evaluate("EvalPlus-v0", "constant:1", episodes=3, samples=2, out=tmp_path)
    (table,) = tables(run.summary)
    assert [row[:2] for row in table.rows] == [["constant:1", "3×2"], ["oracle", "3"]]


def test_an_episode_that_broke_off_is_played_again_not_blamed_on_the_policy(tmp_path):
    actions = ["x", "crash"]
    player = FunctionPolicy("player", lambda messages: actions[len(messages) // 2])
    evaluate("EvalHotCold-v0", player, episodes=1, out=tmp_path)
    path = tmp_path / "episodes.jsonl"
    record = stored(tmp_path)[0] | {"response": ["x", "y"]}  # since mended: no crash at y
    path.write_text(json.dumps(record) + "\n")
    asked = []
    again = FunctionPolicy("player", lambda messages: asked.append(1) or "z")
    (record,) = evaluate("EvalHotCold-v0", again, episodes=1, out=tmp_path).records
    assert (len(asked), record["turns"], record["verdict"]["status"]) == (3, 3, "wrong")
    assert stored(tmp_path)[-1]["response"] == ["z"] * 3


def test_a_problem_that_cannot_be_written_costs_no_episode(tmp_path, monkeypatch):
    from rlvr_envs.core.registry import find

    def huge(self, problem):
        return [10**5000]

    monkeypatch.setattr(find("rlvr/EvalPlus-v0").task_type, "solve", huge)
    run = evaluate("EvalPlus-v0", "constant:1", episodes=2, out=tmp_path)
    assert run.summary["overall"][0].unscored == 0
    assert problems(tmp_path) == []
