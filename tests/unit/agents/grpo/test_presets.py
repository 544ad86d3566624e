"""Presets: each one's mechanism changes the gradient, and no two have the same gradient.

Gradients are those of `trial.gradient`, on one stored batch whose tokens have become likelier or
less likely since they were sampled.
"""

from dataclasses import replace
from itertools import combinations
from math import nan

import pytest

from rlvr_envs.core.errors import ConfigError

torch = pytest.importorskip("torch")

from rlvr_envs.agents.grpo.episode import Episode, Segment  # noqa: E402
from rlvr_envs.agents.grpo.presets import preset, recipe, recipes  # noqa: E402
from rlvr_envs.agents.grpo.trial import gradient, try_out  # noqa: E402

ALL = [each.name for each in recipes()]
# What wrappers and callbacks of a preset do to episodes is tested beside them, and their objective
# may be another's. The answers that these callbacks add are in the stored batch.
STORED = ("initial_solutions", "oracle_in_group")
NAMES = [
    each.name
    for each in recipes()
    if "wrappers" not in each.settings
    and all(name in STORED for name in each.settings.get("callbacks", ()))
]

# Scores of 5 groups of 5: mixed, graded, all wrong, all right, one that could not be scored.
SCORES = [
    [1.0, 0.0, 0.0, 1.0, 0.0],
    [0.3, 0.7, 1.0, 0.0, 0.1],
    [0.0] * 5,
    [1.0] * 5,
    [1.0, 0.0, nan, 1.0, 1.0],
]


def stored():
    """A batch with what the methods look at: turns, agents, beliefs, lengths, prefixes, answers
    that were cut off, and answers that were given."""
    draw = torch.Generator().manual_seed(0)

    def number(low, high):
        return int(torch.randint(low, high, (1,), generator=draw))

    episodes = []
    for group, scores in enumerate(SCORES):
        for place, score in enumerate(scores):
            said = [[number(3, 5) for _ in range(number(2, 9))] for _ in range(number(1, 3))]
            segments = []
            for text in said:
                logps = tuple((-3 * torch.rand(len(text), generator=draw)).tolist())
                segments += [Segment((1, 2)), Segment(tuple(text), logps)]
            last = len(said) - 1
            episodes.append(
                Episode(
                    group=group,
                    task="stored",
                    difficulty=0,
                    problem_seed=group,
                    segments=segments,
                    reward=score,
                    score=score,
                    turn_rewards=[0.0] * last + [score],
                    agents=list(range(last + 1)),
                    beliefs=(-2 * torch.rand(last + 2, generator=draw)).tolist(),
                    finished=(group + place) % 4 > 0,
                    demonstrated=group == 3 and place > 2,
                    info={"void_turn": float(group == 0 and place == 0)}
                    | {"over_turn": float(group == 1 and place == 1)},
                )
            )
    return episodes


def slope(config, moved=0.5):
    # Actions of up to 8 tokens, so that the penalty on length counts.
    return gradient(config.replace(max_tokens=9, overlong_buffer=6), stored(), moved)[0]


def same(first, second):
    return torch.allclose(first, second, rtol=1e-4, atol=1e-9)


UNCLIPPED = "clipped(low=1.0, high=1e9)"

# What each preset brings, as settings in whose place it would be missing. The size of what has
# moved follows where one is given, and "on policy" where the two are the same before any update.
MECHANISMS = {
    "default": [({"loss": UNCLIPPED}, "on policy"), ({"estimator": "reinforce"}, 0.5)],
    "grpo": [
        ({"loss": UNCLIPPED}, "on policy"),
        ({"estimator": "dr_grpo"}, 0.5),
        ({"kl": "none"}, "on policy"),
        ({"aggregation": "token_mean"}, 0.5),
    ],
    "dr_grpo": [({"estimator": "grpo"}, 0.5), ({"aggregation": "sequence_mean"}, 0.5)],
    "dapo": [
        ({"loss": "clipped(low=0.2, high=0.2)"}, "on policy"),
        ({"overlong": "count"}, 0.5),
        ({"aggregation": "sequence_mean"}, 0.5),
    ],
    "simple_tir": [({"leave_out": ()}, 0.5)],
    "over_turn": [({"leave_out": ()}, 0.5)],
    "rloo": [({"estimator": "dr_grpo"}, 0.5), ({"kl": "none"}, 0.5)],
    "reinforce": [({"estimator": "dr_grpo"}, 0.5)],
    "reinforce_plus_plus": [({"estimator": "lite_ppo"}, 0.5), ({"kl": "none"}, 0.5)],
    "reinforce_plus_plus_baseline": [
        ({"estimator": "reinforce_plus_plus"}, 0.5),
        ({"estimator": "dr_grpo"}, 0.5),
        ({"kl": "none"}, 0.5),
    ],
    "gspo": [({"loss": "clipped(low=3e-4, high=4e-4)"}, "on policy")],
    "cispo": [({"loss": "clipped(low=1.0, high=4.0)"}, 4.0), ({"loss": "reinforce"}, "on policy")],
    "lite_ppo": [({"estimator": "grpo"}, 0.5), ({"estimator": "dr_grpo"}, 0.5)],
    "soft_adaptive": [({"loss": UNCLIPPED}, "on policy")],
    "bnpo": [({"estimator": "dr_grpo"}, 0.5), ({"loss": "clipped"}, 4.0)],
    "ngrpo": [({"estimator": "grpo"}, 0.5), ({"loss": "clipped"}, "on policy")],
    "mc_grpo": [({"estimator": "grpo"}, 0.5)],
    "psr": [({"estimator": "nsr"}, 0.5)],
    "nsr": [({"estimator": "reinforce"}, 0.5)],
    "weighted_reinforce": [({"estimator": "nsr"}, 0.5)],
    "asym_re": [({"estimator": "dr_grpo"}, 0.5)],
    "one_side": [
        ({"loss": "clipped(low=0.6, high=2.0)"}, "on policy"),
        ({"loss": "reinforce"}, 4.0),
    ],
    "opmd": [({"loss": "reinforce"}, "on policy")],
    "topr": [({"loss": "reinforce"}, "on policy")],
    "minpro": [({"loss": "clipped"}, "on policy")],
    "dispo": [({"loss": "cispo(high=11.0)"}, "on policy")],
    "dhpo": [({"loss": "clipped"}, "on policy"), ({"loss": "gspo"}, "on policy")],
    "balanced": [({"aggregation": "token_mean"}, 0.5)],
    "tempo": [({"estimator": "grpo"}, 0.5)],
    "trloo": [({"estimator": "rloo"}, 0.5)],
    "dr_mas": [({"estimator": "grpo"}, 0.5)],
    "igpo": [({"estimator": "grpo"}, 0.5)],
    "a2tgpo": [
        ({"loss": "clipped(high=0.2)"}, "on policy"),
        ({"estimator": "a2tgpo(widening=0.0)"}, "on policy"),
        ({"estimator": "a2tgpo(weight=0.0)"}, 0.5),
    ],
    "ace": [({"loss": "clipped(high=0.2)"}, 0.5)],
    "prorl": [({"kl": "none"}, "on policy"), ({"loss": "clipped"}, "on policy")],
    "grpo_lambda": [({"estimator": "grpo"}, 0.5)],
    "rapo": [({"loss": "clipped"}, 0.5), ({"loss": "rapo(least=1.0)"}, 0.5)],
    "dph_rl": [({"loss": "clipped"}, 0.5), ({"loss": "dph_rl(coef=0.0)"}, 0.5)],
    "dph_rl_js": [({"loss": "dph_rl"}, 0.5)],
    "pacs": [({"estimator": "dr_grpo"}, 0.5), ({"estimator": "pacs(balance=False)"}, 0.5)],
    "drpo": [
        ({"loss": "reinforce"}, "on policy"),
        ({"estimator": "drpo(length_temperature=1e6)"}, 0.5),
    ],
    "scalerl": [
        ({"estimator": "grpo"}, 0.5),
        ({"aggregation": "token_mean"}, 0.5),
        ({"loss": "clipped(low=1.0, high=4.0)"}, 4.0),
        ({"overlong": "count"}, 0.5),
    ],
    "apo": [({"loss": "clipped"}, 0.5), ({"estimator": "grpo"}, 0.5)],
    "kdrl": [({"kl": "none"}, "on policy")],
    "mapo": [({"estimator": "grpo"}, 0.5), ({"estimator": "mapo(mix=1.0)"}, 0.5)],
    "mssr": [({"loss": "clipped"}, 0.5), ({"estimator": "reinforce"}, 0.5)],
    "oblr_po": [({"estimator": "dr_grpo"}, 0.5)],
    "rl_plus": [({"loss": "clipped"}, 0.5)],
    "rlpr": [({"estimator": "grpo"}, 0.5)],
    "siren": [({"loss": "clipped"}, 0.5), ({"loss": "siren(share=1.0)"}, 0.5)],
    "stable_reinforce": [
        ({"loss": "clipped(high=0.2)"}, 8.0),
        ({"estimator": "within_deviations(most=1.0)"}, 0.5),
        ({"kl": "none"}, "on policy"),
    ],
    # The entropy of the batch is above the target, where nothing rests.
    "ulorl": [({"loss": "ulorl(mastered=0.5, target=99.0)"}, 0.5)],
}
CASES = [
    pytest.param(name, off, moved, id=f"{name}-{off}")
    for name, offs in MECHANISMS.items()
    for off, moved in offs
]


def test_every_preset_is_here():
    assert sorted(MECHANISMS) == sorted(NAMES)


@pytest.mark.parametrize(("name", "off", "moved"), CASES)
def test_what_a_preset_brings_changes_the_gradient(name, off, moved):
    config = preset(name)
    if moved == "on policy":
        # The reference is where the policy is, so that no penalty has a gradient either.
        assert same(slope(config, 0.0), slope(config.replace(**off), 0.0))
        moved = 0.5
    with_it, without = slope(config, moved), slope(config.replace(**off), moved)
    assert with_it.any()
    assert not same(with_it, without)


def test_no_two_presets_have_the_same_gradient():
    found = {name: slope(preset(name)) for name in NAMES}
    assert all(each.isfinite().all() and each.any() for each in found.values())
    alike = [pair for pair in combinations(NAMES, 2) if same(*(found[name] for name in pair))]
    assert not alike


@pytest.mark.parametrize("name", ALL)
def test_every_preset_can_be_tried_out(name):
    try_out(preset(name))


def rows(config, moved=0.5, given=False):
    """Which answers have a gradient; ``given`` ones are sampled like the others unless told."""
    episodes = [replace(each, demonstrated=each.demonstrated and given) for each in stored()]
    found = gradient(config.replace(max_tokens=9, overlong_buffer=6), episodes, moved)[0]
    return found.abs().sum(1).reshape(5, 5) > 0


def test_only_what_is_right_or_wrong_learns_in_psr_and_nsr():
    plain = {"entropy_coef": 0.0}
    right = torch.tensor(SCORES).nan_to_num(nan=0.0) > 0
    wrong = torch.tensor(SCORES).nan_to_num(nan=1.0) < 1
    assert torch.equal(rows(preset("psr", **plain), 0.0), right)
    assert torch.equal(rows(preset("nsr", **plain), 0.0), wrong)


def test_a_group_that_fails_learns_in_ngrpo_alone():
    assert rows(preset("ngrpo"), 0.0)[2].all()
    assert not rows(preset("grpo", kl="none"), 0.0)[2].any()
    assert not rows(preset("ngrpo"), 0.0)[3].any()


def test_equal_rewards_have_no_gradient_by_default():
    found = rows(preset("default"))
    assert not found[2:4].any()
    assert found[0].all()


def test_stored_answers_learn_in_dph_rl_though_their_group_is_of_equal_rewards():
    assert rows(preset("dph_rl"), given=True)[3].tolist() == [False, False, False, True, True]


def test_an_answer_that_could_not_be_scored_never_learns():
    for name in NAMES:
        assert not rows(preset(name))[4, 2], name


def test_numbers_of_papers():
    """Minibatches, groups and clipping as published."""
    told = {
        name: (config.optimiser.minibatches, config.sampling.group_size, config.algorithm.loss)
        for name in ("dapo", "grpo", "dr_grpo", "gspo", "psr", "prorl")
        for config in [preset(name)]
    }
    assert told == {
        "dapo": (16, 16, "clipped(low=0.2, high=0.28)"),
        "grpo": (1, 64, "clipped(high=0.2)"),
        "dr_grpo": (8, 8, "clipped(high=0.2)"),
        "gspo": (4, 8, "gspo"),
        "psr": (4, 8, "clipped(high=0.2)"),
        "prorl": (4, 16, "clipped(low=0.2, high=0.4)"),
    }


def test_a_preset_of_no_such_name_is_an_error_with_a_suggestion():
    with pytest.raises(ConfigError, match="did you mean 'gspo'"):
        preset("gsppo")


def test_a_preset_cannot_be_replaced_by_another_of_its_name():
    with pytest.raises(ConfigError, match="there is a preset 'dapo' already"):
        recipe("dapo", "somebody else's", estimator="rloo")
