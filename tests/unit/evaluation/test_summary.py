"""From records to statistics."""

from rlvr_envs.evaluation.summary import powers, summarise
from rlvr_envs.evaluation.table import tables


def record(problem, sample, score, *, status=None, answer=None, policy="p", **more):
    status = status or ("correct" if score == 1 else "partial" if score else "wrong")
    return {
        "key": f"{policy}|rlvr/T-v0|0|{problem}|{sample}",
        "policy": policy,
        "id": "rlvr/T-v0",
        "task": "rlvr/T-v0",
        "domain": "math",
        "difficulty": 0,
        "sample": sample,
        "answer": answer,
        "verdict": {"score": score, "status": status},
        "scored": status not in ("policy_error", "verifier_error"),
        "turns": 0 if status == "policy_error" else 1,
        "response_chars": 10,
        "elapsed_s": 0.5,
    } | more


def overall(records, samples):
    (group,) = summarise(records, samples=samples)["overall"]
    return group


def test_powers_end_in_the_number_of_samples():
    assert powers(1) == [1]
    assert powers(4) == [1, 2, 4]
    assert powers(6) == [1, 2, 4, 6]


def test_hand_counted_group():
    group = overall(
        [
            record(1, 0, 1.0, answer="a"),
            record(1, 1, 0.0, answer="b"),
            record(1, 2, 1.0, answer="a"),
            record(2, 0, 0.5, answer="c", finish="length"),
            record(2, 1, 0.0),
            record(2, 2, 0.0, response_chars=40),
        ],
        samples=3,
    )
    assert (group.problems, group.episodes, group.unscored) == (2, 6, 0)
    assert group.score.mean == 2.5 / 6
    assert group.solved.mean == 2 / 6
    assert [round(group.pass_at[k].mean, 6) for k in (1, 2, 3)] == [
        round(2 / 6, 6),
        0.5,  # problem 1: certain, problem 2: never
        0.5,
    ]
    assert group.majority_at[3].mean == (1.0 + 0.5) / 2
    assert group.statuses == {"correct": 2, "partial": 1, "wrong": 3}
    assert group.cut_short == 1
    assert group.chars["mean"] == 15
    assert group.chars["median"] == 10


def test_unscored_episodes_count_but_do_not_score():
    group = overall(
        [
            record(1, 0, 1.0),
            record(1, 1, None, status="policy_error"),
            record(2, 0, 0.0, status="verifier_error"),
            record(2, 1, 1.0),
        ],
        samples=2,
    )
    assert (group.episodes, group.unscored, group.score.mean) == (4, 2, 1.0)
    assert group.pass_at[1].mean == 1.0
    assert 2 not in group.pass_at  # no problem has two scored samples


def test_interactive_episodes_hold_no_vote():
    group = overall([record(1, 0, 1.0, turns=3), record(2, 0, 1.0, answer="x")], samples=1)
    assert group.majority_at[1].mean == 1.0
    assert overall([record(1, 0, 1.0, turns=3)], samples=1).majority_at == {}


def test_comparison_is_over_the_problems_that_both_answered():
    records = [
        record(1, 0, 1.0, policy="a"),
        record(2, 0, 1.0, policy="a"),
        record(1, 0, 0.0, policy="b"),
        record(2, 0, None, status="policy_error", policy="b"),
    ]
    (comparison,) = summarise(records, samples=1).comparisons
    assert (comparison.policy, comparison.baseline, comparison.problems) == ("b", "a", 1)
    assert comparison.difference.mean == -1.0


def test_difficulties_are_sorted_as_numbers():
    records = [record(i, 0, 1.0, difficulty=level) for i, level in enumerate((10, 2, 0))]
    groups = summarise(records, samples=1)["difficulty"]
    assert [group.by["difficulty"] for group in groups] == [0, 2, 10]


def measured(problem, feasible, ratio, score, **more):
    """A record of an optimisation task; its score is not its ratio."""
    found = record(problem, 0, score, task="rlvr/Tour-v0", domain="np_hard", **more)
    found["verdict"]["parts"] = {"feasible": feasible, "ratio": ratio, "objective": 7.0}
    return found


def unread(problem, **more):
    return record(problem, 0, 0.0, status="unparsable", task="rlvr/Tour-v0", **more)


def test_shares_of_feasible_answers_and_mean_ratios():
    records = [
        measured(1, 1.0, 1.0, 1.0),
        measured(2, 1.0, 0.5, 0.2),
        measured(3, 0.0, 0.0, 0.0),
        unread(4, domain="np_hard"),  # no parts: not feasible
        record(5, 0, None, status="policy_error", task="rlvr/Tour-v0"),  # says nothing
    ]
    group = overall(records, samples=1)
    assert (group.feasible.mean, group.ratio.mean) == (0.5, 1.5 / 4)
    assert group.score.mean == 1.2 / 4
    assert group.feasible.low < 0.5 < group.feasible.high
    (table,) = tables(summarise(records, samples=1))[:1]
    assert (
        dict(zip(table.header, table.rows[-1], strict=True)).items()
        >= {
            "SR": "0.500",
            "AR": "0.375",
        }.items()
    )


def test_a_policy_whose_answers_cannot_be_read_has_a_share_of_none():
    records = [measured(1, 1.0, 1.0, 1.0, policy="a"), unread(1, policy="b")]
    groups = summarise(records, samples=1)["overall"]
    assert [(g.feasible.mean, g.ratio.mean) for g in groups] == [(1.0, 1.0), (0.0, 0.0)]


def test_other_tasks_have_neither_and_a_mixed_group_has_none():
    records = [measured(1, 1.0, 0.5, 0.5), record(2, 0, 1.0), record(3, 0, 0.0)]
    summary = summarise(records, samples=1)
    (whole,) = summary["overall"]
    assert (whole.feasible, whole.ratio) == (None, None)
    by_task = {group.by["task"]: group for group in summary["task"]}
    assert by_task["rlvr/Tour-v0"].ratio.mean == 0.5
    assert by_task["rlvr/T-v0"].ratio is None
    rows = {row[0]: row for row in tables(summary)[0].rows}
    place = tables(summary)[0].header.index("AR")
    assert (rows["np_hard"][place], rows["math"][place], rows["all"][place]) == ("0.500", "–", "–")
    (table,) = tables(summarise(records[1:], samples=1))
    assert "SR" not in table.header


def test_parts_that_only_look_alike_are_no_optimisation_task():
    records = [measured(1, 1.0, 0.5, 0.5), record(2, 0, 0.5, task="rlvr/Tour-v0")]
    assert overall(records, samples=1).feasible is None


def mixture(*policies, tasks=7):
    """Records of two domains with as many tasks each; task 0 of each has 2 problems, others 20."""
    return [
        record(f"{domain}{task}{problem}", 0, float(problem % 2), policy=policy, domain=domain,
               task=f"rlvr/{domain.capitalize()}{task}-v0")
        for policy in policies
        for domain in ("code", "math")
        for task in range(tasks)
        for problem in range(20 if task else 2)
    ]  # fmt: skip


def test_few_tasks_are_side_by_side_and_many_are_behind_their_domains():
    few = summarise(mixture("p", tasks=6), samples=1)
    assert not few.is_wide
    assert len(tables(few)[-1].rows) == 12
    many = summarise(mixture("p"), samples=1)
    assert many.is_wide
    assert many.domains["math"] == [f"rlvr/Math{i}-v0" for i in range(7)]
    assert [table.header[0] for table in tables(many)] == ["domain"]
    *_, table = tables(many, per_task=True)
    assert [row[0] for row in table.rows] == [
        "code (7 tasks)", *(f"  rlvr/Code{i}-v0" for i in range(7)),
        "math (7 tasks)", *(f"  rlvr/Math{i}-v0" for i in range(7)),
    ]  # fmt: skip
    assert table.rows[8][1].startswith("0.500 [")
    assert table.rows[9][1] == "0.500 (2 problems: too few to compare)"
    assert table.rows[10][1].startswith("0.500 [")


def test_many_tasks_of_one_domain_have_no_domain_to_be_behind():
    records = [r for r in mixture("p", tasks=20) if r["domain"] == "math"]
    summary = summarise(records, samples=1)
    assert not summary.is_wide
    assert len(tables(summary)[-1].rows) == 20


def test_tasks_with_too_few_problems_are_noted_beside_the_means_of_several_policies():
    *_, table = tables(summarise(mixture("a", "b", tasks=2), samples=1))
    assert table.header == ["task", "a", "b", "note"]
    notes = {row[0]: row[1:] for row in table.rows}
    assert notes["rlvr/Code0-v0"] == ["0.500", "0.500", "2 problems: too few to compare"]
    assert notes["rlvr/Code1-v0"] == ["0.500", "0.500", ""]
    several = [r for r in mixture("a", "b") if not r["task"].endswith("0-v0")]
    *_, table = tables(summarise(several, samples=1), per_task=True)
    assert table.header == ["task", "a", "b"]


def test_a_task_that_posed_nothing_stands_below_the_domains():
    nothing = record("x", 0, None, status="verifier_error", task=None, domain=None)
    *_, table = tables(summarise([*mixture("p"), nothing], samples=1), per_task=True)
    assert table.rows[-1] == ["(no problem)", "–"]


def test_tokens_and_retries_are_summed_over_all_episodes():
    group = overall(
        [
            record(1, 0, 1.0, tokens=5, prompt_tokens=50, attempts=3, waited_s=1.5),
            record(2, 0, None, status="policy_error", attempts=7, waited_s=2.0),
            record(3, 0, 0.0),  # from before there were counts
        ],
        samples=1,
    )
    assert (group.prompt_tokens, group.tokens) == (50, 5)
    assert (group.retries, group.waited_s) == (2 + 6, 3.5)


def test_the_table_shows_tokens_and_retries_where_there_are_any():
    plain = [record(1, 0, 1.0), record(1, 0, 0.0, policy="q")]
    assert "tokens out" not in tables(summarise(plain, samples=1))[0].header
    counted = [record(1, 0, 1.0, tokens=5, attempts=3), record(1, 0, 0.0, policy="q")]
    (table,) = tables(summarise(counted, samples=1))
    assert table.header[-3:] == ["chars", "tokens out", "retries"]
    assert [row[-2:] for row in table.rows] == [["5", "2"], ["–", "0"]]
