"""Comparisons: hand-worked numbers, what may be compared, and how often a verdict is wrong."""

import json
from dataclasses import replace

import pytest
from fakes import bench_runs

from rlvr_envs.bench.compare import compare, compared, tables
from rlvr_envs.bench.entries import gather
from rlvr_envs.bench.statistics import Bootstrap
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream

FEW = Bootstrap(resamples=200)
SUITE = bench_runs.suite()


def drawn(name, mean=0.5, suite=SUITE, spread=0.05):
    return bench_runs.drawn(suite, name, stream("made up", name), mean, spread)


@pytest.fixture(scope="module")
def three():
    """A good algorithm, and two bad ones that are equal but for their seeds."""
    return [drawn("bad", 0.3), drawn("good", 0.7), drawn("bad2", 0.3)]


def test_what_is_better_is_separated_and_what_is_equal_is_not(three):
    comparison = compare(SUITE, three)
    for ranking in comparison.rankings.values():
        best, *rest = ranking.standings
        assert (best.algorithm, best.ranks) == ("good", (1, 1))
        assert [each.ranks for each in rest] == [(2, 3), (2, 3)]
        found = {frozenset((pair.x, pair.y)): pair for pair in ranking.pairs}
        assert len(found) == 3
        for bad in ("bad", "bad2"):
            pair = found[frozenset(("good", bad))]
            assert (pair.x, pair.verdict, pair.probability.mean) == ("good", "better", 1.0)
            assert pair.higher == ["e0", "e1", "e2", "e3"]
            assert pair.lower == []
        equal = found[frozenset(("bad", "bad2"))]
        assert (equal.verdict, equal.higher, equal.lower) == ("not separated", [], [])


def test_the_numbers_by_hand():
    suite = bench_runs.suite(experiments=1, seeds=2)
    failed = bench_runs.run(suite, "a", "e0", 1, 0.0, failed="out of memory", cpu_s=240.0)
    entries = [
        [bench_runs.run(suite, "a", "e0", 0, 0.55), failed],
        bench_runs.entry(suite, "b", {"e0": [0.1, 0.1]}),
    ]
    comparison = compare(suite, entries)
    assert comparison.start == {"e0": pytest.approx(0.1)}
    a, b = comparison.rankings["samples"].standings
    assert a.mean.mean == a.iqm.mean == pytest.approx((0.5 - 1 / 9) / 2)
    assert a.optimality_gap.mean == pytest.approx(1 - (0.5 - 1 / 9) / 2)
    assert (b.iqm.mean, b.iqm.low, b.iqm.high) == pytest.approx((0, 0, 0))
    (pair,) = comparison.rankings["samples"].pairs
    assert pair.probability.mean == 0.5
    on_tokens = comparison.rankings["tokens"]
    assert on_tokens.experiments["e0"]["a"].mean == pytest.approx((0.46 + 0.02) / 2)
    account = comparison.accounts["a"]
    assert (account.runs, account.collapsed, account.cpu_min) == (2, 0.5, 3.0)
    assert account.unscored == pytest.approx(0.02)
    assert comparison.accounts["b"].collapsed == 0


def test_a_run_that_used_fewer_tokens_keeps_its_last_score():
    suite = bench_runs.suite(experiments=1, seeds=1)
    entries = gather(suite, [bench_runs.entry(suite, "a", {"e0": [0.9]}, tokens=100)])
    assert entries.scores("a", "tokens")["e0"].tolist() == pytest.approx([0.9])
    assert entries.scores("a", "samples")["e0"].tolist() == pytest.approx([0.9])


def test_curves_are_by_shares_of_the_budget_or_seconds():
    suite = bench_runs.suite(experiments=2, seeds=3)
    entries = gather(suite, [bench_runs.entry(suite, "a", {f"e{e}": [0.5] * 3 for e in (0, 1)})])
    for spent, budgets, expected in (
        ("samples", [0, 0.25, 1, 2], [0.1, 0.2, 0.5, 0.5]),
        ("tokens", [0, 0.5, 1, 1.25], [0.1, 0.26, 0.42, 0.5]),
        ("device_s", [0, 30, 60, 90], [0.1, 0.3, 0.5, 0.5]),
    ):
        found = entries.curves("a", spent, budgets)["e1"]
        assert found.shape == (4, 3)
        assert found[:, 2].tolist() == pytest.approx(expected)


def test_an_algorithms_numbers_depend_on_no_other_algorithm(three):
    bad, good, other = three
    alone = compare(SUITE, [good], how=FEW).rankings["samples"].standings[0]
    among = compare(SUITE, [other, good, bad], how=FEW).rankings["samples"].standings[0]
    assert replace(among, ranks=(1, 1)) == alone


def test_a_single_seed_separates_nothing_and_a_single_algorithm_has_no_pairs():
    suite = bench_runs.suite(seeds=1)
    comparison = compare(suite, [drawn("a", 0.9, suite), drawn("b", 0.2, suite)])
    for ranking in comparison.rankings.values():
        assert [each.ranks for each in ranking.standings] == [(1, 2), (1, 2)]
        assert ranking.standings[0].iqm.low is None
        assert ranking.pairs[0].verdict == "not separated"
        assert ranking.pairs[0].higher == []
    assert compare(suite, [drawn("a", 0.9, suite)]).rankings["tokens"].pairs == []


def test_the_comparison_is_json(three):
    told = json.loads(json.dumps(compare(SUITE, three, how=FEW).to_json(), allow_nan=False))
    assert told["rankings"]["samples"]["standings"][0]["algorithm"] == "good"
    assert told["how"]["resamples"] == 200


def test_other_suites_splits_and_names_are_refused(three):
    other = bench_runs.suite(draft=3)
    with pytest.raises(ConfigError, match=f"bad is of made-up-v1 {SUITE.hash:.12}, not of"):
        compare(other, three)
    tuned = [replace(run, split="validation") for run in three[1]]
    with pytest.raises(ConfigError, match=r"good .* validation problems, bad on the test"):
        compare(SUITE, [three[0], tuned])
    with pytest.raises(ConfigError, match="the same name"):
        compare(SUITE, [three[0], three[0]])
    for empty in ([], [three[0], []]):
        with pytest.raises(ConfigError, match="at least one"):
            compare(SUITE, empty)
    late = replace(three[0][0], points=three[0][0].points[1:])
    with pytest.raises(ConfigError, match="500 samples, not of the start"):
        compare(SUITE, [[late, *three[0][1:]]])
    with pytest.raises(ConfigError, match="no experiment 'e9'"):
        compare(SUITE, [[replace(three[0][0], experiment="e9")]])


def test_missing_runs_are_named_unless_the_common_part_is_asked_for(three):
    bad, good, _ = three
    some = [run for run in good if run.key not in {("e1", 0), ("e3", 4)}]
    with pytest.raises(ConfigError, match="good lacks e1 with seed 0, e3 with seed 4; complete"):
        compare(SUITE, [bad, some])
    with pytest.raises(ConfigError, match=r"bad lacks e0 .* and 13 more; good"):
        compare(SUITE, [bad[:2], good[:3]])
    comparison = compare(SUITE, [bad, some], common=True, how=FEW)
    assert comparison.missing == [("e1", 0), ("e3", 4)]
    assert {each.runs for each in comparison.accounts.values()} == {18}
    with pytest.raises(ConfigError, match="no experiment and seed in common"):
        compare(SUITE, [bad[:2], good[5:]], common=True)


def test_runs_on_validation_problems_need_not_be_of_the_suites_seeds(three):
    entries = [[replace(run, split="validation") for run in runs[:3]] for runs in three]
    assert compare(SUITE, entries, how=FEW).missing == []


def test_tables(three):
    found = tables(compare(SUITE, three, how=FEW))
    assert [table.header[0] for table in found] == [
        "equal samples",
        "pair, equal samples",
        "score, equal samples",
        "equal tokens",
        "pair, equal tokens",
        "score, equal tokens",
    ]
    assert all(len(row) == len(table.header) for table in found for row in table.rows)
    assert found[0].rows[0][:2] == ["good", "1"]
    assert found[0].rows[1][1] == "2 to 3"
    assert found[1].rows[0][2:] == ["better", "e0, e1, e2, e3", "–"]
    assert len(tables(compare(SUITE, three[:1], how=FEW))) == 4


def false_alarms(seeds, repetitions=400, experiments=4):
    """How often an algorithm is separated from itself under other seeds: overall, somewhere."""
    suite = bench_runs.suite(experiments, seeds)
    rng = stream("false alarms", seeds)
    overall = somewhere = 0
    for _ in range(repetitions):
        pair = [bench_runs.drawn(suite, name, rng, spread=0.1) for name in ("a", "b")]
        (found,) = compared(gather(suite, pair), FEW).rankings["samples"].pairs
        overall += found.verdict != "not separated"
        somewhere += bool(found.higher or found.lower)
    return overall / repetitions, somewhere / repetitions


@pytest.mark.parametrize("seeds", [3, 10])
def test_false_alarms_are_about_as_rare_as_the_level_says(seeds):
    overall, somewhere = false_alarms(seeds)
    assert overall <= 0.075  # 5 % nominal; 400 repetitions have a standard error of 1.1 %
    assert somewhere <= 0.075
    assert seeds < 10 or overall >= 0.02  # nor is it that nothing is ever separated


def test_a_difference_is_found_in_the_experiment_that_has_it():
    suite = bench_runs.suite(experiments=3, seeds=10)
    finals = {name: [0.4 + 0.01 * seed for seed in range(10)] for name in ("e0", "e1", "e2")}
    worse = finals | {"e1": [0.2 + 0.01 * seed for seed in range(10)]}
    entries = [bench_runs.entry(suite, "a", finals), bench_runs.entry(suite, "b", worse)]
    (pair,) = compare(suite, entries, how=FEW).rankings["samples"].pairs
    assert (pair.x, pair.higher, pair.lower) == ("a", ["e1"], [])
    assert pair.probability.mean == pytest.approx((0.5 + 1 + 0.5) / 3)
