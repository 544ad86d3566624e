"""What curricula and callbacks do inside whole runs, where the verdicts are certain."""

import itertools
import json
import math
from collections import Counter, defaultdict
from typing import ClassVar

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from rlvr_envs.agents.grpo import plugins  # noqa: E402
from rlvr_envs.agents.grpo.credit import Groups, credit  # noqa: E402
from rlvr_envs.agents.grpo.model import checkpoint  # noqa: E402
from rlvr_envs.agents.grpo.presets import preset  # noqa: E402
from rlvr_envs.agents.grpo.problems import Problems  # noqa: E402
from rlvr_envs.agents.grpo.run import Callback  # noqa: E402
from rlvr_envs.curricula import Fixed, Nested, Proposal, RolloutGdro  # noqa: E402

GCD = {"tasks": ("Gcd-v0",)}


def by_turns(*scores):
    """Return a judge that pays each problem's episodes these scores, one after the other."""
    given = defaultdict(lambda: itertools.cycle(scores))
    return lambda instance: next(given[instance.fingerprint()])


def by_level(*scores):
    """Return a judge that pays by level; where there is None, every other episode 1."""
    half = by_turns(0, 1)

    def judge(instance):
        score = scores[instance.difficulty]
        return half(instance) if score is None else score

    return judge


# Reinforce-Ada


def test_reinforce_ada_samples_on_until_a_group_is_balanced(tmp_path, watched):
    """Two rounds: 0 0, then 0 1. Both ends are trained on, against the mean of all four."""
    notes = watched(
        tmp_path,
        by_turns(0, 0, 0, 1),
        curriculum="adaptive_group(keep=2, batch=2, rounds=4)",
        steps=1,
        groups=2,
        **GCD,
    )
    for group in notes.groups[0]:
        assert [each.score for each in group.episodes] == [0, 0, 0, 1]
        assert [each.left_out for each in group.episodes] == [False, True, True, False]
        assert len({each.heard[0] for each in group.episodes}) == 1
    config = preset(**GCD)
    advantages, kept, _ = credit(Groups(notes.batches[0], config))
    assert kept.tolist() == [True, False, False, True] * 2
    assert advantages[:4, 0].tolist() == [-0.25, -0.25, -0.25, 0.75]
    trained = sum(each.n_trained for each in notes.batches[0] if not each.left_out)
    assert notes.metrics[0]["tokens"] == trained < sum(e.n_trained for e in notes.batches[0])
    assert notes.metrics[0]["grad_norm"] > 0


@pytest.mark.parametrize(
    ("mode", "scores", "rounds"),
    [
        ("positive", (0, 0, 1), 2),
        ("positive", (1,), 1),
        ("balanced", (1,), 3),
        ("positive", (0,), 3),
    ],
)
def test_reinforce_ada_stops_by_its_mode_or_after_its_rounds(
    tmp_path, watched, mode, scores, rounds
):
    text = f"adaptive_group(mode={mode!r}, keep=2, batch=2, rounds=3)"
    notes = watched(tmp_path, by_turns(*scores), curriculum=text, steps=1, groups=1, **GCD)
    (group,) = notes.groups[0]
    assert len(group.episodes) == 2 * rounds


# GDRO


def test_prompt_gdro_multiplies_the_loss_of_what_stays_hard(tmp_path, watched):
    notes = watched(
        tmp_path,
        by_level(1.0, 0.0, None),
        curriculum="prompt_gdro(beta=1.0, eta=1.5)",
        difficulty="0-2",
        groups=12,
        steps=3,
        **GCD,
    )
    # Once rates are known: every group of level 1 fails. Half of level 2 succeeds, but every group
    # of it does, so that it is in the bin of level 0.
    weights = {each.difficulty: each.weight for each in notes.batches[2]}
    assert weights[1] == pytest.approx(math.exp(1.5))
    losses = [1 - group.scores.count(1) / 2 for group in notes.groups[1] if group.arm[1] != 1]
    assert weights[0] == weights[2] == pytest.approx(math.exp(1.5 * sum(losses) / len(losses)))
    assert {each.weight for each in notes.batches[0]} == {1.0}


def test_the_weight_of_a_curriculum_is_the_weight_of_the_gradient(tmp_path, watched):
    class Heavy(Nested):
        def weight(self, group):
            return 3.0

    norms = []
    for name, around in (("light", Nested), ("heavy", Heavy)):
        inner = Fixed([Proposal(task="rlvr/Gcd-v0", difficulty=0)])
        notes = watched(tmp_path / name, by_turns(0, 1), around(inner), steps=1, **GCD)
        norms.append(notes.metrics[0]["grad_norm"])
    assert norms[1] == pytest.approx(3 * norms[0], rel=1e-4)


def test_rollout_gdro_gives_more_episodes_where_scores_vary(tmp_path, watched):
    """At one budget; level 0 always fails, half of level 1 succeeds."""

    class Alternating(Fixed):
        levels = itertools.cycle([0, 1])

        def propose(self):
            return Proposal(task="rlvr/Gcd-v0", difficulty=next(self.levels))

    notes = watched(
        tmp_path,
        by_level(0.0, None),
        RolloutGdro(Alternating([Proposal()]), mean=4, beta=1.0),
        difficulty="0-1",
        groups=8,
        steps=3,
        **GCD,
    )
    sizes = [{(g.arm[1], len(g.episodes)) for g in step} for step in notes.groups]
    assert sizes == [{(0, 4), (1, 4)}, {(0, 2), (1, 6)}, {(0, 2), (1, 6)}]


def test_rollout_gdro_by_problem_needs_problems_that_return(tmp_path, watched):
    """A pool of two problems, of which one is never solved and the other half of the time."""
    turn = itertools.count()
    hard = {}

    def judge(instance):
        number = hard.setdefault(instance.fingerprint(), len(hard))
        return 0 if number % 2 else next(turn) % 2

    notes = watched(
        tmp_path,
        judge,
        curriculum="rollout_gdro(mean=4, by='problem', beta=1.0)",
        source="pool(size=2, fresh=0.0)",
        groups=2,
        steps=4,
        **GCD,
    )
    problems = Problems(preset(**GCD).data)
    sizes = [
        {hard[problems.instance(g.proposal).fingerprint()]: len(g.episodes) for g in step}
        for step in notes.groups
    ]
    assert sizes[0] == {0: 4, 1: 4}
    assert sizes[3] == {0: 6, 1: 2}


# Pairs


def test_pairs_weigh_rare_successes_and_rare_failures(tmp_path, watched):
    """W-GRPO: problem 0 is solved once in four, problem 1 fails once in four."""
    order = {}
    turns = defaultdict(itertools.count)

    def judge(instance):
        number = order.setdefault(instance.fingerprint(), len(order))
        turn = next(turns[number])
        return (turn % 4 == 0) if number == 0 else (turn % 4 != 0)

    notes = watched(
        tmp_path,
        judge,
        curriculum="pairs(problems=2, amplify=5.0)",
        groups=2,
        group_size=4,
        steps=4,
        **GCD,
    )
    last = notes.batches[-1]
    found = defaultdict(set)
    for episode in last:
        rare = episode.score == (sum(e.score for e in last if e.group == episode.group) == 1)
        found[rare].add(episode.weight)
    assert found == {True: {5.0}, False: {1.0}}
    assert len({group.proposal.problem for group in notes.groups[-1]}) == 2


# Others


def test_over_sampling_follows_the_share_of_groups_with_a_signal(tmp_path, watched):
    """CodeV-R1's adaptive DAPO: a quarter of problems holds a signal, so more are drawn at once."""
    half = by_turns(0, 1)
    notes = watched(
        tmp_path,
        lambda instance: instance.problem_seed % 4 == 0 and half(instance),
        curriculum="oversampled(most=4.0, beta=1.0)",
        dynamic_sampling=True,
        max_rounds=12,
        groups=4,
        steps=3,
        **GCD,
    )
    drawn = [row["groups/drawn"] for row in notes.metrics]
    kept = [row["groups/kept"] for row in notes.metrics]
    assert all(each <= 4 for each in kept)
    assert drawn[0] > 4
    assert len(notes.groups[1]) == drawn[1]
    first_round = math.ceil(4 / max(sum(g.informative for g in notes.groups[0]) / drawn[0], 0.25))
    assert drawn[1] >= first_round > 4


def test_a_growing_horizon_cuts_games_short_and_keeps_the_tasks(tmp_path, watched):
    notes = watched(
        tmp_path,
        curriculum="growing_horizon(stages=(1, 3), steps_per_stage=2, over=linear(over_steps=4))",
        tasks=("GuessNumber-v0",),
        difficulty="0-1",
        steps=4,
        context=2048,
    )
    turns = [{len(g.posed.actions) for g in step} for step in notes.groups]
    assert turns == [{1}, {1}, {3}, {3}]
    assert [{g.arm[1] for g in step} for step in notes.groups] == [{0}, {0}, {1}, {1}]


def test_learning_progress_goes_where_scores_change(tmp_path, watched):
    """Level 0 is never solved and level 2 always; level 1 is learnt from the third step on."""
    turn = itertools.count()

    def judge(instance):
        return {0: 0, 2: 1}[instance.difficulty] if instance.difficulty != 1 else next(turn) >= 12

    notes = watched(
        tmp_path,
        judge,
        curriculum="learning_progress(window=8, floor=0.0)",
        difficulty="0-2",
        groups=12,
        steps=4,
        **GCD,
    )
    levels = [Counter(group.arm[1] for group in step) for step in notes.groups]
    assert len(levels[0]) == 3
    assert set(levels[2]) == {1}


@pytest.mark.parametrize(
    ("curriculum", "scores"),
    [
        ("dump(temperature=0.05)", (1.0, None)),  # advantages are large where scores differ
        ("weakness(survey_steps=1, floor=0.0)", (1.0, 0.0)),  # what fails
        ("rising_window(width=1, least_scores=4)", (1.0, 0.0)),  # what comes after the mastered
    ],
)
def test_levels_follow_what_happened(tmp_path, watched, curriculum, scores):
    settings = {"curriculum": curriculum, "difficulty": "0-1", "groups": 12, "steps": 3}
    notes = watched(tmp_path, by_level(*scores), **settings, **GCD)
    levels = [{group.arm[1] for group in step} for step in notes.groups]
    assert 0 in levels[0]
    assert levels[2] == {1}


def test_stages_change_tasks_and_let_answers_grow(tmp_path, watched):
    """AceReason: one domain after the other, and longer answers within one."""
    notes = watched(
        tmp_path,
        tasks=("Gcd-v0", "NextTerm-v0"),
        curriculum="staged(stages=('Gcd-v0', 'Gcd-v0', 'NextTerm-v0'), lengths=(1, 1), "
        "response_tokens=(2, 4, 3))",
        steps=4,
    )
    seen = [
        (group.arm[0], max(each.n_trained for each in group.episodes))
        for step in notes.groups
        for group in step[:1]
    ]
    gcd, terms = "rlvr/Gcd-v0", "rlvr/NextTerm-v0"
    assert seen == [(gcd, 2), (gcd, 4), (terms, 3), (terms, 3)]


def test_hard_focus_comes_back_with_many_episodes(tmp_path, watched):
    notes = watched(
        tmp_path,
        lambda instance: instance.problem_seed % 2,
        curriculum="hard_focus(problems=6, broad_steps=2, phases=((2, 2),), samples=2, "
        "focus_samples=5)",
        groups=8,
        steps=4,
        **GCD,
    )
    assert [{len(group.episodes) for group in step} for step in notes.groups] == [
        {2},
        {2},
        {5},
        {5},
    ]
    late = {group.proposal.problem for step in notes.groups[2:] for group in step}
    assert len(late) == 2


def test_a_mixture_has_arms(tmp_path, watched):
    notes = watched(
        tmp_path,
        lambda instance: 1,
        tasks=('Math-v0(tasks=("Gcd-v0", "NextTerm-v0"))',),
        curriculum="success_band",
        difficulty="0-3",
        groups=6,
        steps=3,
    )
    arms = {group.arm for group in notes.groups[-1]}
    assert arms == {("rlvr/Gcd-v0", 2), ("rlvr/NextTerm-v0", 2)}


# Callbacks


@plugins.callback(name="counts_for_tests")
class Counts(Callback):
    """Counts what it is told, and keeps the counts."""

    calls: ClassVar[list] = []

    def __init__(self, *, name: str = ""):
        self.name, self.counts = name, Counter()

    def _note(self, what):
        self.counts[what] += 1
        self.calls.append((self.name, what))

    def on_group(self, run, group):
        self._note("group")

    def on_batch(self, run, episodes):
        self._note("batch")
        return episodes[:2]

    def on_step(self, run, numbers):
        self._note("step")
        numbers[f"seen/{self.name}"] = float(self.counts["group"])

    def on_evaluate(self, run, numbers):
        assert "held_out/score" in numbers
        self._note("evaluate")

    def on_end(self, run):
        self._note("end")

    def state_dict(self):
        return dict(self.counts)

    def load_state_dict(self, state):
        self.counts = Counter(state)


def test_callbacks_are_told_of_everything_and_go_on(tmp_path, watched):
    settings = {"evaluate_every": 2, "evaluate_problems": 2, "groups": 2, "steps": 4, **GCD}
    settings |= {"callbacks": ("counts_for_tests(name='a')", "counts_for_tests(name='b')")}
    Counts.calls.clear()
    notes = watched(tmp_path, stop_after=2, **settings)
    told = [what for name, what in Counts.calls if name == "a"]
    step = ["group", "group", "batch", "step"]
    assert told == ["evaluate", *step, *step[:3], "evaluate", "step", "end"]
    assert [what for name, what in Counts.calls if name == "b"] == told
    assert all(len(batch) == 4 for batch in notes.batches)
    assert all(row["tokens"] <= 2 * 4 for row in notes.metrics[1:])  # two episodes are left
    state = checkpoint.load_state(checkpoint.newest(tmp_path / "checkpoints"))
    assert state["callbacks"][1] == json.loads(json.dumps(state["callbacks"][2]))
    assert state["callbacks"][1] == {"group": 4, "batch": 2, "step": 2, "evaluate": 2}
    notes = watched(tmp_path, resume=True, **settings)
    assert [row["seen/b"] for row in notes.metrics if "seen/b" in row] == [2, 4, 6, 8]


def test_an_end_is_told_of_a_run_that_failed_too(tmp_path, watched):
    def judge(instance):
        raise KeyboardInterrupt

    Counts.calls.clear()
    with pytest.raises(KeyboardInterrupt):
        watched(tmp_path, judge, callbacks=("counts_for_tests",), **GCD)
    assert Counts.calls == [("", "end")]
