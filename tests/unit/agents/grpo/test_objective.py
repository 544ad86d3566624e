"""What a configuration minimises: advantages of a step's episodes, and losses that add up."""

from dataclasses import fields, replace
from math import nan

import pytest

torch = pytest.importorskip("torch")

from rlvr_envs.agents.grpo import aggregations  # noqa: E402
from rlvr_envs.agents.grpo.credit import Groups, credit  # noqa: E402
from rlvr_envs.agents.grpo.episode import Episode, Segment  # noqa: E402
from rlvr_envs.agents.grpo.objective import (  # noqa: E402
    LossInputs,
    Tally,
    by_token,
    micro_loss,
    weights_of,
)
from rlvr_envs.agents.grpo.presets import preset  # noqa: E402
from rlvr_envs.agents.grpo.zoo.balanced import balanced  # noqa: E402

CONFIG = preset(estimator="dr_grpo", kl="none", correction="none")


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


def groups(episodes, **settings):
    return Groups(episodes, CONFIG.replace(**settings))


def found(episodes, **settings):
    return credit(groups(episodes, **settings))


def test_groups_of_different_sizes_are_compared_each_with_its_own():
    episodes = [episode(4, 1.0), episode(4, 0.0), episode(9, 1.0), episode(4, 0.5)]
    table = groups(episodes).rewards
    assert table.tolist()[0] == [1.0, 0.0, 0.5]
    assert table[1, 0] == 1.0
    assert table[1, 1:].isnan().all()
    advantages, kept, scales = found(episodes)
    assert advantages[:, 0].tolist() == [0.5, -0.5, 0.0, 0.0]
    assert kept.all()
    assert scales is None


def test_what_was_not_scored_is_left_out_of_everything():
    advantages, kept, _ = found([episode(0, 1.0), episode(0, nan), episode(0, 0.0)])
    assert kept.tolist() == [True, False, True]
    assert advantages[:, 0].tolist() == [0.5, 0.0, -0.5]


def test_overlong_answers_are_left_out_or_pay():
    episodes = [episode(0, 1.0, 8, finished=False), episode(0, 1.0, 2), episode(0, 0.0, 6)]
    assert found(episodes, overlong="mask")[1].tolist() == [False, True, True]
    paying = {"overlong": "penalty", "overlong_buffer": 4, "max_tokens": 8}
    assert groups(episodes, **paying).rewards.tolist() == [[0.0, 1.0, -0.5]]
    for given in episodes:
        given.max_tokens = 10  # by their proposal
    assert groups(episodes, **paying).rewards.tolist() == [[0.5, 1.0, 0.0]]


def test_the_last_turn_pays_for_an_overlong_action():
    episodes = [
        episode(0, 1.0, 8, turns=[0.25, 0.75], finished=False),
        episode(0, 0.0, 2, turns=[0.0, 0.0]),
    ]
    paying = {"overlong": "penalty", "overlong_buffer": 4, "max_tokens": 8}
    advantages, _, _ = found(episodes, estimator="trloo", **paying)
    assert advantages.tolist() == [[0.0, -0.25], [0.0, 0.25]]


def test_turns_have_advantages_of_their_own():
    episodes = [episode(0, 1.0, turns=[0.0, 1.0]), episode(0, 0.0, turns=[0.0])]
    advantages, _, _ = found(episodes, estimator="trloo")
    # the return to go is 1 at both turns of the first; nobody else has a second turn
    assert advantages.tolist() == [[1.0, 1.0], [-1.0, 0.0]]
    turns = torch.tensor([[-1, 0, 0, -1, 1], [-1, 0, 0, -1, -1]])
    spread = by_token(CONFIG.replace(estimator="trloo"), advantages, turns)
    assert spread.tolist() == [[0.0, 1.0, 1.0, 0.0, 1.0], [0.0, -1.0, -1.0, 0.0, 0.0]]


def test_the_pivot_is_not_trained_on():
    advantages, kept, _ = found([episode(0, r) for r in (0.0, 0.5, 1.0)], estimator="mc_grpo")
    assert kept.tolist() == [True, False, True]
    assert advantages[0] < 0 < advantages[2]


def test_long_answers_weigh_more_in_reinforce_plus_plus():
    episodes = [episode(0, 1.0, 1), episode(1, 0.0, 3)]
    advantages, _, _ = found(episodes, estimator="reinforce_plus_plus")
    # mean over tokens 1/4, sample variance 1/4
    assert advantages[:, 0].tolist() == pytest.approx([1.5, -0.5])


def test_agents_are_compared_with_themselves():
    episodes = [episode(0, 1.0, turns=[0.0, 1.0]), episode(0, 0.0, turns=[0.0, 0.0])]
    for given, agents in zip(episodes, ([0, 1], [1, 0]), strict=True):
        given.agents = agents
    advantages, _, _ = found(episodes, estimator="dr_mas(eps=0.0)")
    root = 0.5**0.5
    assert advantages.tolist() == [pytest.approx([root, root]), pytest.approx([-root, -root])]


def test_tokens_at_which_answers_part_have_advantages_of_their_own():
    episodes = [episode(0, 1.0), episode(0, 0.0), episode(1, 1.0, 2), episode(0, 1.0)]
    for given, said in zip(episodes, ((5, 6, 7), (5, 8, 9), (5, 6), (5, 6, 4)), strict=True):
        given.segments[-1] = Segment(said, (-1.0,) * len(said))
    advantages, kept, _ = found(episodes, estimator="tempo")
    assert kept.all()
    assert advantages.shape == (4, 5)  # two tokens of the prompt come first
    mean, spread = 2 / 3, (1 / 3) ** 0.5 + 1e-4
    right, wrong = (1 - mean) / spread, -mean / spread
    branch = [0, 0, 0, 1 - mean, 0]
    assert advantages[0].tolist() == pytest.approx([right + step / spread for step in branch])
    assert advantages[3].tolist() == pytest.approx(advantages[0].tolist())
    lost = [0, 0, 0, -mean, 0]
    assert advantages[1].tolist() == pytest.approx([wrong + step / spread for step in lost])
    assert not advantages[2].any()  # alone in its group


@pytest.mark.parametrize(("name", "mean"), [("pacs", "sequence_sum"), ("drpo", "sequence_mean")])
def test_losses_of_whole_groups_follow_the_weights(name, mean):
    """After an update their advantages are those of the weights as they are."""
    episodes = [episode(0, r) for r in (1.0, 0.0, 0.0)]
    given = {"estimator": name, "loss": "reinforce", "aggregation": mean}
    before = credit(groups(episodes, **given))[0]
    config = CONFIG.replace(**given)
    moved = {0: torch.tensor(3.0), 1: torch.tensor(-3.0), 2: torch.tensor(30.0)}
    after = credit(Groups(episodes, config, moved))[0]
    assert before[1] == before[2] < 0 < before[0]
    # The wrong answer that has become likelier is pushed harder, the other one less.
    assert after[2] < before[2]
    assert before[1] < after[1] < 0


def test_episodes_may_be_left_out_by_how_they_went():
    episodes = [episode(0, r) for r in (0.0, 1.0, 0.0, 0.0)]
    episodes[0].info = {"over_turn": 1.0}
    episodes[2].info = {"void_turn": 2.0}
    for names, kept in (
        (("over_turn",), [False, True, True, True]),
        (("void_turn",), [True, True, False, True]),
        (("over_turn", "void_turn"), [False, True, False, True]),
    ):
        advantages, counted, _ = found(episodes, leave_out=names)
        assert counted.tolist() == kept
        assert advantages[1] == 0.75  # the group's statistics have all of them


def test_advantages_beside_a_median_are_bounded():
    advantages, kept, _ = found([episode(0, r) for r in (0.0, 0.0, 1.0)], estimator="mc_grpo")
    assert advantages[:, 0].tolist() == [0.0, 0.0, 4.0 * 3]
    assert kept.tolist() == [False, True, True]


def scored(n=6, t=5, seed=0):
    draw = torch.Generator().manual_seed(seed)

    def values():
        return -torch.rand(n, t, generator=draw, dtype=torch.float64)

    mask = torch.rand(n, t, generator=draw) < 0.7
    mask[:, 0] = True
    advantages = torch.randn(n, 1, generator=draw, dtype=torch.float64)
    logp = values()
    return LossInputs(
        logp=logp,
        old=values(),
        sampled=values(),
        mask=mask,
        advantages=advantages,
        weights=torch.full((n,), 1 / n, dtype=torch.float64),
        turns=mask.long() - 1,
        entropy=-values(),
        reference=values(),
        scores=(advantages[:, 0] > 0).double(),
        demonstrated=torch.tensor([False] * (n - 1) + [True]),
        lag=torch.zeros(n, t).long(),
        scales=torch.ones(n, t, dtype=torch.float64),
        observed=~mask,
    )


def rows(inputs, chosen, **changed):
    values = {
        each.name: getattr(inputs, each.name)
        for each in fields(inputs)
        if each.name not in ("step", "info") and getattr(inputs, each.name) is not None
    } | changed
    return LossInputs(**{name: value[chosen] for name, value in values.items()})


SETTINGS = [
    {},
    {"kl": "k3", "kl_coef": 0.1},
    {"correction": "truncate"},
    {"correction": "leave_out(most=1.2)"},
    {"loss": "gspo", "aggregation": "sequence_mean"},
    {"loss": "minpro"},
    {"loss": "cispo"},
    {"loss": "topr"},
    {"loss": "soft_adaptive"},
    {"loss": "reinforce", "aggregation": "sequence_sum"},
    {"aggregation": "constant_length"},
    {"entropy_coef": 0.1},
    {"loss": "clipped(dual=3.0)"},
    {"aggregation": "balanced"},
    {"aggregation": "prompt_mean"},
    {"loss": "one_side"},
    {"loss": "dispo"},
    {"loss": "dhpo"},
    {"loss": "ace"},
    {"loss": "rapo"},
    {"loss": "dph_rl"},
    {"loss": "drpo"},
    {"loss": "a2tgpo"},
    {"loss": "opmd", "aggregation": "sequence_sum"},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_micro_batches_add_up_to_the_whole(settings):
    config = CONFIG.replace(**settings)
    inputs = scored()
    if not config.needs_reference:
        inputs = replace(inputs, reference=None)
    weights = config.aggregation(
        {
            "lengths": inputs.mask.sum(1).double(),
            "groups": torch.tensor([0, 0, 0, 1, 1, 1]),
            "advantages": inputs.advantages[:, 0],
            "longest": 9,
        }
    )
    inputs = replace(inputs, weights=weights)

    def gradient(*parts):
        given = inputs.logp.clone().requires_grad_()
        total = sum(micro_loss(config, rows(inputs, p, logp=given), Tally()) for p in parts)
        total.backward()
        return total.detach(), given.grad

    at_once, slope = gradient(slice(0, 6))
    in_parts, slope_in_parts = gradient(slice(0, 1), slice(1, 4), slice(4, 6))
    assert at_once == pytest.approx(in_parts.item(), abs=1e-12)
    assert torch.allclose(slope, slope_in_parts, rtol=0, atol=1e-12)
    assert (slope[~inputs.mask] == 0).all()
    assert slope.abs().sum() > 0


def test_weights_are_those_of_the_episodes_that_learn():
    episodes = [episode(0, 1.0, 2), episode(0, 0.0, 6), episode(1, 1.0, 4), episode(1, 0.0, 4)]
    episodes[2].weight = 3.0
    advantages = torch.tensor([[1.0], [-1.0], [1.0], [-1.0]])
    config = CONFIG.replace(aggregation="sequence_mean")
    found = weights_of(config, episodes, [0, 2, 3], advantages)
    assert found.tolist() == pytest.approx([1 / 6, 0.0, 3 / 12, 1 / 12])
    lengths, groups = torch.tensor([2.0, 4.0, 4.0]), torch.tensor([0, 1, 1])
    wanted = balanced(lengths, groups, advantages[[0, 2, 3], 0]).tolist()
    config = CONFIG.replace(aggregation="balanced")
    found = weights_of(config, episodes, [0, 2, 3], advantages)
    assert found[[0, 2, 3]].tolist() == pytest.approx([wanted[0], 3 * wanted[1], wanted[2]])
    assert aggregations.token_mean(lengths).tolist() == pytest.approx([0.1] * 3)


def test_what_was_given_is_not_corrected_for_a_sampler():
    inputs = scored()
    given = inputs.logp.clone().requires_grad_()
    config = CONFIG.replace(loss="reinforce", correction="truncate(most=1.5)")
    micro_loss(config, replace(inputs, logp=given), Tally()).backward()
    plain = (-inputs.advantages * inputs.weights[:, None]).expand(6, 5) * inputs.mask
    weights = (inputs.old - inputs.sampled).exp().clamp(max=1.5)
    torch.testing.assert_close(given.grad[:5], (plain * weights)[:5])
    imitated = -inputs.weights[5] * inputs.mask[5]  # this loss has no rule of its own for it
    torch.testing.assert_close(given.grad[5], imitated)


def test_what_is_measured():
    zero = torch.zeros(1, 4)
    inputs = LossInputs(
        logp=torch.tensor([[0.0, 0.5, -0.5, 0.1]], requires_grad=True),
        old=zero,
        sampled=zero - 0.25,
        mask=torch.tensor([[False, True, True, True]]),
        advantages=torch.ones(1, 1),
        weights=torch.ones(1),
        turns=torch.tensor([[-1, 0, 0, 0]]),
        entropy=zero + 2.0,
    )
    tally = Tally()
    micro_loss(CONFIG.replace(loss="clipped(high=0.2)"), inputs, tally)
    assert tally.sums["tokens"] == 3
    assert tally.sums["clip_fraction"] == 1  # below the range it counts only for A < 0
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
        config = CONFIG.replace(kl=name, kl_coef=1.0)
        total = 0.0
        for token in range(6):
            one = logp[token].reshape(1, 1)
            inputs = LossInputs(
                logp=one,
                old=one.detach(),
                sampled=one.detach(),
                mask=torch.ones(1, 1, dtype=torch.bool),
                advantages=torch.zeros(1, 1, dtype=torch.float64),
                weights=torch.ones(1, dtype=torch.float64),
                turns=torch.zeros(1, 1).long(),
                entropy=one.detach(),
                reference=reference[token].reshape(1, 1),
            )
            total = total + logp[token].detach().exp() * micro_loss(config, inputs, Tally())
        return total

    assert gradient(divergence).abs().max() > 0.01
    assert torch.allclose(gradient(expected), gradient(divergence), rtol=0, atol=1e-12)
