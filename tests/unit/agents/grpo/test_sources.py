"""Sources: new problems, epochs, rows of files and pools; each goes on exactly where it was."""

import json
from collections import Counter

import pytest

from rlvr_envs.agents.grpo.config import Data
from rlvr_envs.agents.grpo.episode import Episode, Group
from rlvr_envs.agents.grpo.problems import Problems
from rlvr_envs.agents.grpo.sources import make_source
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.source import open_source
from rlvr_envs.curricula import Proposal

MATH = Proposal(task="rlvr/MathDataset-v0", difficulty=3)
GCD = Proposal(task="rlvr/Gcd-v0", difficulty=1)
SIZE = 9


@pytest.fixture
def data(tmp_path):
    """Return the data of a run with nine questions and Gcd."""
    path = tmp_path / "sums.jsonl"
    rows = ({"question": f"What is {n} + 1?", "answer": str(n + 1)} for n in range(SIZE))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def made(**changes):
        return Data(tasks=(f'MathDataset-v0(path="{path}")', "Gcd-v0"), **changes)

    return made


@pytest.fixture
def stored(tmp_path):
    """A file of rows: eight of Gcd at two levels, four of NextTerm; with pass rates for some."""
    path = tmp_path / "rows.jsonl"
    found = [open_source("Gcd-v0", difficulty=n % 2).draw(n).to_row() for n in range(8)]
    found += [open_source("NextTerm-v0", difficulty=0).draw(n).to_row() for n in range(4)]
    rates = {0: 1.0, 1: 0.5, 2: 0.0}
    for place, rate in rates.items():
        found[place]["pass_rate"] = rate
    path.write_text("".join(json.dumps(row) + "\n" for row in found))
    return path


def source(name, data, seed=0):
    return make_source(name, Problems(data), seed)


def draws(made, proposals, steps):
    return [made.draw(proposals, step, 0) for step in range(steps)]


def played(proposal, *scores):
    episodes = [
        Episode(
            group=0,
            task=proposal.task,
            difficulty=proposal.difficulty,
            problem_seed=proposal.problem_seed,
            reward=score,
            score=score,
        )
        for score in scores
    ]
    return Group(proposal, episodes)


def test_a_stream_never_repeats_and_the_step_says_all():
    problems = Data(tasks=("Gcd-v0",))
    found = draws(source("auto", problems), [GCD] * 3, 5)
    seeds = [each.problem_seed for step in found for each in step]
    assert len(set(seeds)) == 15
    later = source("stream", problems).draw([GCD] * 3, 4, 0)
    assert later == found[4]
    assert source("stream", problems).draw([GCD], 4, 1)[0].problem_seed not in seeds
    assert source("stream", problems, seed=1).draw([GCD], 0, 0)[0].problem_seed not in seeds


@pytest.mark.parametrize("name", ["stream", "epochs", "pool"])
def test_a_problem_that_is_named_stays(name, data):
    named = [Proposal(task="rlvr/Gcd-v0", problem_seed=5), Proposal(task=MATH.task, index=0)]
    assert source(name, data()).draw(named, 0, 0) == named


def test_every_row_comes_once_in_an_epoch_in_another_order_each_time(data):
    made = source("auto", data())
    epochs = [[made.draw([MATH], 0, 0)[0].index for _ in range(SIZE)] for _ in range(3)]
    assert [sorted(epoch) for epoch in epochs] == [list(range(SIZE))] * 3
    assert len({tuple(epoch) for epoch in epochs}) == 3
    other = source("epochs", data(), seed=1)
    assert [other.draw([MATH], 0, 0)[0].index for _ in range(SIZE)] not in epochs


def test_a_row_that_comes_again_is_reset_by_another_seed(data):
    made = source("epochs", data())
    seeds = {}
    for _ in range(3 * SIZE):
        (found,) = made.draw([MATH], 0, 0)
        seeds.setdefault(found.index, set()).add(found.reset_seed)
    assert all(len(each) == 3 for each in seeds.values())


def test_tasks_without_numbered_problems_pose_new_ones(data):
    found = [each for step in draws(source("auto", data()), [MATH, GCD], SIZE) for each in step]
    assert sorted(each.index for each in found if each.task == MATH.task) == list(range(SIZE))
    assert len({each.problem_seed for each in found if each.task == GCD.task}) == SIZE


def test_epochs_keep_to_their_split(data):
    problems = Problems(data(splits="train=0.5,test=0.5"))
    made = make_source("epochs", problems, 0)
    trained = {made.draw([MATH], 0, 0)[0].index for _ in range(3 * SIZE)}
    assert trained == set(problems.indices(MATH.task))
    assert 0 < len(trained) < SIZE


def test_what_became_too_easy_is_left_out_of_the_next_epoch(data):
    """The filter of AceReason-Nemotron; what was never scored stays."""
    made = source("epochs(most=0.99)", data())
    for _ in range(SIZE):
        (found,) = made.draw([MATH], 0, 0)
        scores = {0: (1.0, 1.0), 1: (1.0, 0.0), 2: (0.0, 0.0), 3: ()}.get(found.index, (1.0, 1.0))
        made.record(played(found, *scores or (float("nan"),)))
    assert {made.draw([MATH], 0, 0)[0].index for _ in range(3)} == {1, 2, 3}
    for index in (1, 2, 3):
        made.record(played(Proposal(task=MATH.task, index=index), 1.0))
    assert {made.draw([MATH], 0, 0)[0].index for _ in range(SIZE)} == set(range(SIZE))


def test_rows_come_as_they_are_in_epochs(stored):
    name = f"rows(path={str(stored)!r})"
    made = source(name, Data(source=name))
    epochs = [[made.draw([Proposal()], 0, 0)[0] for _ in range(12)] for _ in range(2)]
    for epoch in epochs:
        assert len({each.problem for each in epoch}) == 12
        assert Counter((each.task, each.difficulty) for each in epoch) == {
            ("rlvr/Gcd-v0", 0): 4,
            ("rlvr/Gcd-v0", 1): 4,
            ("rlvr/NextTerm-v0", 0): 4,
        }
        assert all(each.row["id"] == each.task for each in epoch)
    assert [each.problem for each in epochs[0]] != [each.problem for each in epochs[1]]
    level = [made.draw([GCD], 0, 0)[0] for _ in range(4)]
    assert {each.difficulty for each in level} == {1}
    assert len({each.problem for each in level}) == 4
    with pytest.raises(ConfigError, match="no problem of rlvr/Gcd-v0 at difficulty 7"):
        made.draw([Proposal(task="Gcd-v0", difficulty=7)], 0, 0)


def test_rows_are_filtered_by_the_pass_rates_that_they_have(stored):
    """The offline filter: before the first epoch."""
    name = f"rows(path={str(stored)!r}, least=0.1, most=0.9)"
    made = source(name, Data(source=name))
    first = [made.draw([Proposal()], 0, 0)[0] for _ in range(10)]
    assert len({each.problem for each in first}) == 10
    assert {each.row.get("pass_rate") for each in first} == {None, 0.5}
    for each in first:
        made.record(played(each, 0.0))
    made.record(played(first[0], 0.5))
    assert made.draw([Proposal()], 0, 0)[0].problem == first[0].problem
    assert made.draw([Proposal()], 0, 0)[0].problem == first[0].problem


def test_problems_of_a_pool_return():
    made = source("pool(fresh=0.25)", Data(tasks=("Gcd-v0",)))
    seeds = [[each.problem_seed for each in made.draw([GCD] * 8, step, 0)] for step in range(40)]
    assert all(len(set(step)) == 8 for step in seeds)  # no problem twice in a step
    counts = Counter(seed for step in seeds for seed in step)
    assert 0.2 < len(counts) / 320 < 0.35
    assert max(counts.values()) > 3
    assert Problems(Data(tasks=("Gcd-v0",))).cells[0][0] == GCD.task
    assert all(seed is not None for seed in counts)


def test_levels_and_tasks_have_pools_of_their_own(data):
    made = source("pool(fresh=0.3)", data())
    by_kind = {}
    for step in range(20):
        for each in made.draw([MATH, GCD, Proposal(task=GCD.task, difficulty=2)], step, 0):
            kind = by_kind.setdefault((each.task, each.difficulty), [])
            kind.append((each.problem_seed, each.index))
    assert {kind: len(found) for kind, found in by_kind.items()} == {
        (MATH.task, 3): 20,
        (GCD.task, 1): 20,
        (GCD.task, 2): 20,
    }
    assert {index for _, index in by_kind[MATH.task, 3]} <= set(range(SIZE))
    assert not {seed for seed, _ in by_kind[GCD.task, 1]} & {s for s, _ in by_kind[GCD.task, 2]}


def test_a_pool_knows_pass_rates_and_poses_what_is_in_its_band():
    made = source("pool(size=3, fresh=0.0, least=0.2, most=0.8)", Data(tasks=("Gcd-v0",)))
    (one,) = made.draw([GCD], 0, 0)
    made.record(played(one, 1.0, 0.0))
    assert list(made.rates().values()) == [0.5]
    assert made.draw([GCD], 1, 0)[0].problem_seed == one.problem_seed
    made.record(played(one, 1.0, 1.0))
    assert list(made.rates().values()) == [0.75]
    (two,) = made.draw([GCD], 2, 0)  # the newest group of the first was solved: a new one
    assert two.problem_seed != one.problem_seed
    made.record(played(two, 0.0, 1.0))
    made.draw([GCD] * 3, 3, 0)  # the second, and two that are new
    assert f"{GCD.task} {one.problem_seed}" not in made.rates()  # out of the band, so it left
    assert len(made.rates()) == 3


def test_what_was_tried_most_leaves_a_full_pool_first():
    made = source("pool(size=2, fresh=1.0)", Data(tasks=("Gcd-v0",)))
    one, two = made.draw([GCD] * 2, 0, 0)
    made.record(played(two, 1.0, 0.0))
    made.draw([GCD], 1, 0)
    kept = {name.rpartition(" ")[2] for name in made.rates()}
    assert str(one.problem_seed) in kept
    assert str(two.problem_seed) not in kept


def test_a_pool_of_rows(stored):
    name = f"pool(fresh=0.5, over=rows(path={str(stored)!r}))"
    made = source(name, Data(source=name))
    found = [each for step in draws(made, [Proposal()] * 2, 12) for each in step]
    assert all(each.row["fingerprint"] == each.problem for each in found)
    assert len({each.problem for each in found}) < 24
    made.record(played(found[0], 1.0))
    assert made.rates()[f"{found[0].task} {found[0].problem}"] == 1.0


@pytest.mark.parametrize(
    "name", ["stream", "epochs(most=0.9)", "pool(size=5, fresh=0.3, most=0.9)", "rows"]
)
def test_each_goes_on_exactly(name, data, stored):
    given, proposals = data(), [MATH, GCD, MATH, GCD]
    if name == "rows":
        name = f"rows(path={str(stored)!r}, most=0.9)"
        given, proposals = Data(source=name), [Proposal(), GCD]
    one = source(name, given)
    for step in range(25):
        other = source(name, given)
        other.load_state_dict(json.loads(json.dumps(one.state_dict())))
        found = one.draw(proposals, step, 0)
        assert other.draw(proposals, step, 0) == found
        more = one.draw(proposals[:1], step, 1)
        assert other.draw(proposals[:1], step, 1) == more
        for place, each in enumerate([*found, *more]):
            for made in (one, other):
                made.record(played(each, float((step + place) % 2), 1.0))
        assert other.state_dict() == one.state_dict()


def test_another_file_is_not_gone_on_with(data, tmp_path):
    made = source("epochs", data())
    made.draw([MATH], 0, 0)
    path = tmp_path / "sums.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-2]))
    other = source("epochs", data())
    other.load_state_dict(made.state_dict())
    with pytest.raises(ConfigError, match=r"there were 9 problems.*now there are 7"):
        other.draw([MATH], 0, 0)


@pytest.mark.parametrize("change", [list.reverse, list.pop], ids=["order", "fewer"])
def test_other_rows_are_not_gone_on_with(stored, change):
    name = f"rows(path={str(stored)!r})"
    state = source(name, Data(source=name)).state_dict()
    lines = stored.read_text().splitlines()
    change(lines)
    stored.write_text("\n".join(lines))
    with pytest.raises(ConfigError, match="rows are not those that the run began with"):
        source(name, Data(source=name)).load_state_dict(state)


@pytest.mark.parametrize("rate", ["high", 1.5, float("nan")])
def test_a_pass_rate_is_a_share(stored, rate):
    first, *others = stored.read_text().splitlines()
    stored.write_text("\n".join([json.dumps({**json.loads(first), "pass_rate": rate}), *others]))
    name = f"rows(path={str(stored)!r})"
    with pytest.raises(ConfigError, match=r"pass_rate .*: give a number from 0 to 1"):
        source(name, Data(source=name))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("streem", "did you mean 'stream'"),
        ("pool(size=0)", "size is from 1"),
        ("pool(fresh=1.5)", "fresh is a share"),
        ("pool(least=0.8, most=0.2)", "least <= most"),
        ("epochs(most=2.0)", "least <= most"),
        ("pool(sizes=3)", "no setting 'sizes'"),
        ("pool(over=streem)", "did you mean 'stream'"),
    ],
)
def test_settings_that_cannot_work(name, told):
    with pytest.raises(ConfigError, match=told):
        source(name, Data(tasks=("Gcd-v0",)))
