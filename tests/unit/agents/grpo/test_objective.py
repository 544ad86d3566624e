"""What a configuration minimises: advantages of a step's episodes, and losses that add up."""

import math
from dataclasses import replace
from math import nan

import pytest

torch = pytest.importorskip("torch")

from rlvr_envs.agents.grpo.config import Config  # noqa: E402
from rlvr_envs.agents.grpo.episode import Episode, Segment  # noqa: E402
from rlvr_envs.agents.grpo.formulas import loss  # noqa: E402
from rlvr_envs.agents.grpo.objective import (  # noqa: E402
    Scored,
    Tally,
    Whole,
    advantages_of,
    groups_of,
    micro_loss,
)

CONFIG = Config(advantage="dr_grpo", kl="none", mismatch="none")


def episode(group, reward, length=3, *, turns=None, finished=True, task="a"):
    turns = [reward] if turns is None else turns
    segments = [
        part for _ in turns for part in (Segment((1, 2)), Segment((5,) * length, (-1.0,) * length))
    ]
    return Episode(
        group=group,
        task=task,
        difficulty=0,
        problem_seed=0,
        segments=segments,
        reward=reward,
        score=reward,
        turn_rewards=turns,
        finished=finished,
    )


def test_groups_of_different_sizes_are_compared_each_with_its_own():
    episodes = [episode(4, 1.0), episode(4, 0.0), episode(9, 1.0), episode(4, 0.5)]
    found = groups_of(episodes, CONFIG)
    assert found.rewards.tolist()[0] == [1.0, 0.0, 0.5]
    assert found.rewards[1, 0] == 1.0
    assert found.rewards[1, 1:].isnan().all()
    advantages, kept = advantages_of(episodes, CONFIG)
    assert advantages[:, 0].tolist() == [0.5, -0.5, 0.0, 0.0]
    assert kept.all()


def test_what_was_not_scored_is_left_out_of_everything():
    episodes = [episode(0, 1.0), episode(0, nan), episode(0, 0.0)]
    advantages, kept = advantages_of(episodes, CONFIG)
    assert kept.tolist() == [True, False, True]
    assert advantages[:, 0].tolist() == [0.5, 0.0, -0.5]


def test_overlong_answers_are_left_out_or_pay():
    episodes = [episode(0, 1.0, 8, finished=False), episode(0, 1.0, 2), episode(0, 0.0, 6)]
    masked = replace(CONFIG, overlong="mask")
    assert advantages_of(episodes, masked)[1].tolist() == [False, True, True]
    paying = replace(CONFIG, overlong="penalty", overlong_buffer=4, max_tokens=8)
    assert groups_of(episodes, paying).rewards.tolist() == [[0.0, 1.0, -0.5]]
    for given in episodes:
        given.max_tokens = 10  # by their proposal
    assert groups_of(episodes, paying).rewards.tolist() == [[0.5, 1.0, 0.0]]


def test_turns_have_advantages_of_their_own():
    episodes = [episode(0, 1.0, turns=[0.0, 1.0]), episode(0, 0.0, turns=[0.0])]
    advantages, _ = advantages_of(episodes, replace(CONFIG, advantage="trloo"))
    # the return to go is 1 at both turns of the first; nobody else has a second turn
    assert advantages.tolist() == [[1.0, 1.0], [-1.0, 0.0]]


def test_the_pivot_is_not_trained_on():
    episodes = [episode(0, r) for r in (0.0, 0.5, 1.0)]
    advantages, kept = advantages_of(episodes, replace(CONFIG, advantage="mc_grpo", group_size=3))
    assert kept.tolist() == [True, False, True]
    assert advantages[0] < 0 < advantages[2]


def test_long_answers_weigh_more_in_reinforce_plus_plus():
    episodes = [episode(0, 1.0, 1), episode(1, 0.0, 3)]
    advantages, _ = advantages_of(episodes, replace(CONFIG, advantage="reinforce_plus_plus"))
    # mean over tokens 1/4, sample variance 1/4
    assert advantages[:, 0].tolist() == pytest.approx([1.5, -0.5])


def test_tasks_are_compared_with_themselves():
    episodes = [episode(0, 1.0, task="a"), episode(1, 3.0, task="a"), episode(2, 100.0, task="b")]
    config = replace(CONFIG, advantage="dr_mas_experimental")
    advantages, _ = advantages_of(episodes, config)
    assert advantages[2] == 0
    assert advantages[0] == -advantages[1] < 0


@pytest.mark.parametrize(
    "name", ["reinforce", "grpo", "rloo", "lite_ppo", "bnpo", "ngrpo", "psr", "nsr"]
)
def test_every_estimator_of_groups_gives_one_number_an_episode(name):
    episodes = [episode(g, r) for g, r in ((0, 1.0), (0, 0.0), (1, 1.0), (1, 1.0))]
    advantages, kept = advantages_of(episodes, replace(CONFIG, advantage=name))
    assert advantages.shape == (4, 1)
    assert advantages.isfinite().all()
    assert kept.all()
    assert advantages[0] >= advantages[1]


def of_whole_answers(name):
    """Return a loss over whole answers, of log-probabilities (6, 3) now, then, and rewards."""
    from rlvr_envs.agents.grpo.formulas import sequence_loss

    mask = torch.ones(6, 3, dtype=torch.bool)
    if name == "pacs":
        return lambda logps, old, rewards: sequence_loss.pacs(
            sequence_loss.log_ratios(logps, old, mask).view(2, 3), rewards
        )
    weights = sequence_loss.length_weights(torch.full((2, 3), 3), longest=256, temperature=0.1)
    return lambda logps, _, rewards: sequence_loss.drpo(
        sequence_loss.log_likelihoods(logps, mask, by_length=True).view(2, 3),
        rewards,
        weights,
        temperature=10.0,
    )


@pytest.mark.parametrize(("name", "mean"), [("pacs", "sequence_sum"), ("drpo", "sequence_mean")])
def test_losses_of_whole_answers_are_reinforce_where_nothing_has_moved(name, mean):
    rewards = torch.tensor([[1.0, 0.0, 0.0], [1.0, nan, 0.0]])
    old = -torch.rand(6, 3, generator=torch.Generator().manual_seed(0))
    episodes = [episode(i // 3, float(rewards[i // 3, i % 3])) for i in range(6)]
    for given, logps in zip(episodes, old.tolist(), strict=True):
        given.segments[-1] = Segment((5, 5, 5), tuple(logps))
    config = replace(CONFIG, advantage=name, objective="reinforce", aggregation=mean)
    advantages, kept = advantages_of(episodes, config)
    mask = torch.ones(6, 3, dtype=torch.bool)

    def gradient(loss_of):
        logps = old.clone().requires_grad_()
        loss_of(logps).backward()
        return logps.grad

    def whole(logps):
        return of_whole_answers(name)(logps, old, rewards)

    def in_parts(logps):
        chosen = kept.nonzero()[:, 0]
        n = float(len(chosen))
        batch = Scored(
            mask=mask[chosen],
            old=old[chosen],
            sampled=old[chosen],
            reference=None,
            advantages=advantages[chosen],
        )
        return micro_loss(config, logps[chosen], old[chosen], batch, Whole(3 * n, n), Tally())

    assert torch.allclose(gradient(in_parts), gradient(whole), atol=1e-7)
    assert gradient(whole).abs().sum() > 0


@pytest.mark.parametrize("name", ["pacs", "drpo"])
def test_part_of_the_marks_is_no_right_answer_to_what_takes_two_classes(name):
    graded = [episode(0, r) for r in (1.0, 0.7, 0.0)]
    plain = [episode(0, r) for r in (1.0, 0.0, 0.0)]
    config = replace(CONFIG, advantage=name)
    assert torch.equal(advantages_of(graded, config)[0], advantages_of(plain, config)[0])


def test_short_right_answers_weigh_more_in_drpo_and_short_wrong_ones_do_not():
    lengths = ((1.0, 2), (1.0, 6), (0.0, 2), (0.0, 6))
    config = replace(CONFIG, advantage="drpo", max_tokens=8, length_temperature=0.5)
    found = advantages_of([episode(0, r, n) for r, n in lengths], config)[0][:, 0]
    # of weights exp((1 - 2/8) / 0.5) and exp((1 - 6/8) / 0.5), times 4 answers
    share = 1 / (1 + math.exp(-1))
    assert found.tolist() == pytest.approx([4 * share, 4 * (1 - share), -2, -2])


def test_tokens_at_which_answers_part_have_advantages_of_their_own():
    config = replace(CONFIG, advantage="tempo_experimental")
    episodes = [episode(0, 1.0), episode(0, 0.0), episode(1, 1.0, 2), episode(0, 1.0)]
    for given, said in zip(episodes, ((5, 6, 7), (5, 8, 9), (5, 6), (5, 6, 4)), strict=True):
        given.segments[-1] = Segment(said, (-1.0,) * len(said))
    found, kept = advantages_of(episodes, config)
    assert kept.all()
    assert found.shape == (4, 5)  # two tokens of the prompt come first
    mean, spread = 2 / 3, math.sqrt(1 / 3) + 1e-4
    right, wrong = (1 - mean) / spread, -mean / spread
    branch = [0, 0, 0, 1 - mean, 0]
    assert found[0].tolist() == pytest.approx([right + step / spread for step in branch])
    assert found[3].tolist() == pytest.approx(found[0].tolist())
    lost = [0, 0, 0, -mean, 0]
    assert found[1].tolist() == pytest.approx([wrong + step / spread for step in lost])
    assert not found[2].any()  # alone in its group


def test_wrong_answers_that_became_likelier_are_pushed_harder():
    advantages = torch.tensor([[1.0], [-1.0], [-1.0]])
    logps = torch.tensor([[-1.0, -1.0], [-1.0, -1.0], [-3.0, -1.0]], requires_grad=True)
    reference = torch.tensor([[-2.0, -2.0], [-2.0, -1.0], [-1.0, -1.0]])
    batch = Scored(
        mask=torch.ones(3, 2, dtype=torch.bool),
        old=logps.detach(),
        sampled=logps.detach(),
        reference=reference,
        advantages=advantages,
    )
    config = replace(CONFIG, kl="k3", kl_coef=0.0, ace_experimental=0.5)
    micro_loss(config, logps, torch.zeros(3, 2), batch, Whole(6, 3), Tally()).backward()
    # by log(policy / reference) a token: +1 (but right), +0.5, -1
    pushes = [1.0, *(-(1 + 0.5 * math.log1p(math.exp(c))) for c in (0.5, -1.0))]
    wanted = [[-push / 6] * 2 for push in pushes]
    assert torch.allclose(logps.grad, torch.tensor(wanted))


def test_episodes_may_be_left_out_by_how_they_went():
    episodes = [episode(0, r) for r in (0.0, 1.0, 0.0, 0.0)]
    episodes[0].info = {"out_of_turns": 1.0}
    episodes[2].info = {"malformed": 2.0}
    for names, kept in (
        (("over_turn_experimental",), [False, True, True, True]),
        (("void_turn_experimental",), [True, True, False, True]),
        (("over_turn_experimental", "void_turn_experimental"), [False, True, False, True]),
    ):
        advantages, found = advantages_of(episodes, replace(CONFIG, leave_out=names))
        assert found.tolist() == kept
        assert advantages[1] == 0.75  # the group's statistics have all of them


def scored(n=6, t=5, seed=0):
    draw = torch.Generator().manual_seed(seed)

    def values():
        return -torch.rand(n, t, generator=draw, dtype=torch.float64)

    mask = torch.rand(n, t, generator=draw) < 0.7
    mask[:, 0] = True
    advantages = torch.randn(n, 1, generator=draw, dtype=torch.float64)
    batch = Scored(
        mask=mask, old=values(), sampled=values(), reference=values(), advantages=advantages
    )
    return values(), -values(), batch


def rows(batch, chosen):
    return Scored(
        **{
            name: None if getattr(batch, name) is None else getattr(batch, name)[chosen]
            for name in ("mask", "old", "sampled", "reference", "advantages", "weights")
        }
    )


SETTINGS = [
    {},
    {"kl": "k3", "kl_coef": 0.1},
    {"mismatch": "truncate"},
    {"mismatch": "mask", "mismatch_limit": 1.2},
    {"ratio": "sequence", "aggregation": "sequence_mean"},
    {"ratio": "prefix"},
    {"objective": "cispo"},
    {"objective": "topr", "ratio": "sequence"},
    {"objective": "soft_adaptive"},
    {"objective": "reinforce", "aggregation": "sequence_sum"},
    {"aggregation": "constant_length"},
    {"entropy_coef": 0.1},
    {"clip_dual": 3.0},
    {"aggregation": "balanced"},
    {"objective": "one_side"},
    {"objective": "dispo_experimental"},
    {"objective": "dhpo_experimental"},
    {"objective": "opmd_experimental", "aggregation": "sequence_sum"},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_micro_batches_add_up_to_the_whole(settings):
    config = replace(CONFIG, **settings)
    logps, entropies, batch = scored()
    if config.kl == "none":
        batch = replace(batch, reference=None)
    if config.aggregation == "balanced":
        groups = torch.tensor([0, 0, 0, 1, 1, 1])
        weights = loss.balanced_weights(batch.advantages[:, 0], batch.mask.sum(1), groups)
        batch = replace(batch, weights=weights)
    whole = Whole(tokens=float(batch.mask.sum()), episodes=6.0)

    def gradient(*parts):
        given = logps.clone().requires_grad_()
        total = sum(
            micro_loss(config, given[p], entropies[p], rows(batch, p), whole, Tally())
            for p in parts
        )
        total.backward()
        return total.detach(), given.grad

    at_once, slope = gradient(slice(0, 6))
    in_parts, slope_in_parts = gradient(slice(0, 1), slice(1, 4), slice(4, 6))
    assert at_once == pytest.approx(in_parts.item(), abs=1e-12)
    assert torch.allclose(slope, slope_in_parts, rtol=0, atol=1e-12)
    assert (slope[~batch.mask] == 0).all()
    assert slope.abs().sum() > 0


def test_what_is_measured():
    config = replace(CONFIG, clip_low=0.2, clip_high=0.2)
    zero = torch.zeros(1, 4)
    logps = torch.tensor([[0.0, 0.5, -0.5, 0.1]])
    mask = torch.tensor([[False, True, True, True]])
    batch = Scored(
        mask=mask, old=zero, sampled=zero - 0.25, reference=None, advantages=torch.ones(1, 1)
    )
    tally = Tally()
    micro_loss(config, logps, zero + 2.0, batch, Whole(3.0, 1.0), tally)
    assert tally.sums["tokens"] == 3
    assert tally.sums["clip_fraction"] == 1  # below the range it counts only for A < 0
    assert tally.sums["entropy"] == 6
    assert tally.sums["mismatch"] == pytest.approx(0.75)
    assert tally.peaks["ratio"] == pytest.approx(2.718281828**0.5)


@pytest.mark.parametrize("name", ["k1", "k2", "forward_kl", "jensen_shannon", "k3"])
def test_a_penalty_pulls_as_its_divergence_does(name):
    """Over all of a vocabulary, the expected gradient is that of the divergence itself."""
    draw = torch.Generator().manual_seed(0)
    logits, other = torch.randn(2, 6, generator=draw, dtype=torch.float64)
    reference = other.log_softmax(0)

    def gradient(of):
        given = logits.clone().requires_grad_()
        of(given.log_softmax(0)).backward()
        return given.grad

    def divergence(logp):
        middle = ((logp.exp() + reference.exp()) / 2).log()
        first = (logp.exp() * (logp - middle)).sum() / 2
        second = (reference.exp() * (reference - middle)).sum() / 2
        return {
            "k1": (logp.exp() * (logp - reference)).sum(),
            "k2": (logp.exp() * (logp - reference)).sum(),
            "k3": (reference.exp() * (reference - logp)).sum(),
            "forward_kl": (reference.exp() * (reference - logp)).sum(),
            "jensen_shannon": first + second,
        }[name]

    def expected(logp):
        """Return the penalty in expectation over draws, whose probabilities have no gradient."""
        total = 0.0
        for token in range(6):
            one = logp[token].reshape(1, 1)
            batch = Scored(
                mask=torch.ones(1, 1, dtype=torch.bool),
                old=one.detach(),
                sampled=one.detach(),
                reference=reference[token].reshape(1, 1),
                advantages=torch.zeros(1, 1, dtype=torch.float64),
            )
            config = replace(CONFIG, kl=name, kl_coef=1.0)
            loss_of_one = micro_loss(config, one, one, batch, Whole(1.0, 1.0), Tally())
            total = total + logp[token].detach().exp() * loss_of_one
        return total

    assert gradient(divergence).abs().max() > 0.01
    assert torch.allclose(gradient(expected), gradient(divergence), rtol=0, atol=1e-12)


def test_the_last_turn_pays_for_an_overlong_action():
    episodes = [
        episode(0, 1.0, 8, turns=[0.25, 0.75], finished=False),
        episode(0, 0.0, 2, turns=[0.0, 0.0]),
    ]
    paying = replace(CONFIG, advantage="trloo", overlong="penalty", overlong_buffer=4, max_tokens=8)
    advantages, _ = advantages_of(episodes, paying)
    assert advantages.tolist() == [[0.0, -0.25], [0.0, 0.25]]


def test_advantages_beside_a_median_are_bounded_whatever_the_clipping():
    episodes = [episode(0, r) for r in (0.0, 0.0, 1.0)]
    for clip_high in (0.0, 0.28, 5.0):
        config = replace(CONFIG, advantage="mc_grpo", clip_high=clip_high)
        advantages, kept = advantages_of(episodes, config)
        assert advantages[:, 0].tolist() == [0.0, 0.0, 4.0 * 3]
        assert kept.tolist() == [False, True, True]
