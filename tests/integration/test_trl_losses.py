"""Losses and gradients against TRL's own code, on the same numbers in double precision.

TRL's loss is a method of its trainer. Importing the trainer takes 8 seconds of CPU time for
libraries that the loss does not use, so the method alone is compiled from TRL's file, unchanged. It
is called on a stand-in that has the settings, and gets the batch at once. Ours gets it in three
unequal micro-batches, with weights of the whole, as the training loop computes it.
"""

import ast
import importlib.metadata
import importlib.util
import itertools
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
spec = importlib.util.find_spec("trl")
if spec is None or spec.origin is None:
    pytest.skip("needs trl", allow_module_level=True)
if not importlib.metadata.version("trl").startswith("1.16."):
    pytest.skip("reads internals of TRL 1.16, here is another", allow_module_level=True)

from rlvr_envs.agents.grpo import advantages, losses  # noqa: E402
from rlvr_envs.agents.grpo.config import Config  # noqa: E402
from rlvr_envs.agents.grpo.objective import LossInputs, Tally, micro_loss  # noqa: E402
from rlvr_envs.agents.grpo.presets import preset  # noqa: E402

GROUPS, SIZE, LENGTH, LONGEST = 3, 4, 9, 20
BATCH = GROUPS * SIZE
PARTS = (slice(0, 5), slice(5, 6), slice(6, BATCH))
LOW, HIGH, DELTA, CAP, BETA = 0.2, 0.28, 1.5, 1.3, 0.05
# Between two plain numbers TRL's `where` gives float32, so that 1.05 is rounded.
SOFT_NEGATIVE = torch.tensor(1.05).item()
# TRL's loss type and level of importance sampling.
VARIANTS = [
    ("grpo", "token"),
    ("bnpo", "token"),
    ("dr_grpo", "token"),
    ("dapo", "token"),
    ("cispo", "token"),
    ("sapo", "token"),
    ("grpo", "sequence"),
    ("dapo", "sequence"),
    ("luspo", "sequence"),
]
KL = ("none", "plain", "times ratio")
MISMATCH = ("none", "truncate token", "mask token", "truncate sequence")


class Accelerator:
    """One process; TRL asks for more to log."""

    num_processes = 1

    def gather(self, values):
        return values

    def reduce(self, values, reduction):
        return values


@pytest.fixture(scope="module")
def compute_loss():
    """TRL's ``GRPOTrainer._compute_loss``."""
    path = Path(spec.origin).parent / "trainer" / "grpo_trainer.py"
    trainer = definition(ast.parse(path.read_text("utf-8")), "GRPOTrainer")
    method = ast.Module([definition(trainer, "_compute_loss")], type_ignores=[])
    names = {"torch": torch, "nanmin": torch.min, "nanmax": torch.max}  # the latter two to log
    exec(compile(method, str(path), "exec"), names)  # an installed package's own code
    return names["_compute_loss"]


def definition(tree, name):
    return next(node for node in tree.body if getattr(node, "name", None) == name)


def random_batch(generator, *, observations):
    """Log-probabilities, advantages and masks; every row has a trained token."""

    def normal(scale):
        return scale * torch.randn(BATCH, LENGTH, generator=generator, dtype=torch.float64)

    lengths = torch.randint(1, LENGTH + 1, (BATCH, 1), generator=generator)
    written = torch.ones(BATCH, LENGTH, dtype=torch.long)
    if observations:
        written[:, 2:4] = 0  # the first token remains
    base = -3 * torch.rand(BATCH, LENGTH, generator=generator, dtype=torch.float64)
    old = base + normal(0.3)
    rewards = torch.rand(GROUPS, SIZE, generator=generator, dtype=torch.float64)
    return SimpleNamespace(
        logp=(base + normal(0.3)),
        old=old,
        reference=base + normal(0.3),
        sampled=old + normal(0.3),
        advantages=advantages.grpo(rewards).flatten(),
        attention=(torch.arange(LENGTH) < lengths).long(),
        written=written,
    )


def weights_as_trl(batch, mismatch):
    """What TRL computes when it samples: its cap and its ways of applying it."""
    mask = batch.attention * batch.written
    step = (batch.old - batch.sampled) * mask
    if mismatch == "truncate sequence":
        return step.sum(-1, keepdim=True).exp().clamp(max=CAP)
    ratio = step.exp()
    return ratio.clamp(max=CAP) if mismatch == "truncate token" else ratio * (ratio <= CAP)


def stand_in(variant, batch, *, kl, delta, mismatch):
    """What the method reads of its trainer."""
    loss_type, level = variant
    corrected = mismatch != "none"
    settings = SimpleNamespace(
        use_bias_correction_kl=kl == "times ratio",
        delta=delta,
        sapo_temperature_pos=1.0,
        sapo_temperature_neg=1.05,
        steps_per_generation=1,
    )
    return SimpleNamespace(
        args=settings,
        accelerator=Accelerator(),
        model=SimpleNamespace(training=True),
        loss_type=loss_type,
        importance_sampling_level=level,
        beta=0.0 if kl == "none" else BETA,
        epsilon_low=LOW,
        epsilon_high=5.0 if loss_type == "cispo" else HIGH,
        max_completion_length=LONGEST,
        use_vllm=corrected,
        vllm_importance_sampling_correction=corrected,
        aux_loss_enabled=False,
        top_entropy_quantile=1.0,
        off_policy_mask_threshold=None,
        current_gradient_accumulation_steps=1,
        _entropy_bonus_enabled=False,
        _metrics={"train": defaultdict(list)},
        _get_per_token_logps_and_entropies=lambda *_, **__: (
            batch.logp,
            torch.zeros_like(batch.logp),
            None,
        ),
    )


def inputs_of(batch, mismatch):
    prompt = torch.zeros(BATCH, 2, dtype=torch.long)
    inputs = {
        "prompt_ids": prompt,
        "prompt_mask": prompt + 1,
        "completion_ids": torch.zeros(BATCH, LENGTH, dtype=torch.long),
        "completion_mask": batch.attention,
        "tool_mask": batch.written,
        "advantages": batch.advantages,
        "old_per_token_logps": batch.old,
        "ref_per_token_logps": batch.reference,
        "num_items_in_batch": (batch.attention * batch.written).sum(),
    }
    if mismatch != "none":
        inputs["importance_sampling_ratio"] = weights_as_trl(batch, mismatch)
    return inputs


# The aggregation of each of TRL's loss types; the others' is the mean over tokens.
AGGREGATIONS = {
    "grpo": "sequence_mean",
    "sapo": "sequence_mean",
    "dr_grpo": "constant_length",
    "luspo": "sequence_sum",
}
CORRECTIONS = {
    "none": "none",
    "truncate token": f"truncate(most={CAP})",
    "mask token": f"leave_out(most={CAP})",
    "truncate sequence": f"truncate(most={CAP}, level='sequence')",
}


def our_config(variant, *, kl, delta, mismatch) -> Config:
    """What we call a variant of theirs."""
    loss_type, level = variant
    others = {"cispo": "cispo(high=5.0)", "sapo": f"soft_adaptive(negative={SOFT_NEGATIVE})"}
    bounds = f"low={LOW}, high={HIGH}"
    if level == "sequence":
        clipped = f"gspo({bounds}, dual={delta})"
    else:
        clipped = f"clipped({bounds}, dual={delta})"
    return preset(
        estimator="grpo",
        loss=others.get(loss_type, clipped),
        aggregation=AGGREGATIONS.get(loss_type, "token_mean"),
        correction=CORRECTIONS[mismatch],
        kl="k3" if kl == "plain" else "none",
        kl_coef=BETA,
        max_tokens=LONGEST,
    )


def our_loss(config, batch, part, *, kl):
    """One micro-batch's share."""
    mask = (batch.attention * batch.written).bool()
    known = {
        "lengths": mask.sum(1).double(),
        "groups": torch.arange(BATCH) // SIZE,
        "advantages": batch.advantages,
        "longest": LONGEST,
    }
    inputs = LossInputs(
        logp=batch.logp[part],
        old=batch.old[part],
        sampled=batch.sampled[part],
        mask=mask[part],
        advantages=batch.advantages[part, None],
        weights=config.aggregation(known)[part],
        turns=mask[part].long() - 1,
        entropy=torch.zeros_like(batch.logp[part]),
        reference=batch.reference[part],
    )
    found = micro_loss(config, inputs, Tally())
    if kl == "times ratio":  # TRL's is times the loss's own ratio, which is no setting of ours
        ratio = inputs.sequence_ratio if config.loss.name == "gspo" else inputs.ratio
        penalty = losses.k3(inputs.logp, inputs.reference, inputs.mask) * ratio
        found = found + BETA * (inputs.weights * penalty.sum(1)).sum()
    return found


@pytest.mark.parametrize("variant", VARIANTS, ids="-".join)
def test_losses_and_gradients_are_those_of_trl(variant, compute_loss):
    generator = torch.Generator().manual_seed(VARIANTS.index(variant))
    deltas = (None, DELTA) if variant[0] not in ("cispo", "sapo") else (None,)
    for kl, delta, mismatch, observations in itertools.product(KL, deltas, MISMATCH, (False, True)):
        options = {"kl": kl, "delta": delta, "mismatch": mismatch}
        batch = random_batch(generator, observations=observations)
        start = batch.logp
        batch.logp = start.clone().requires_grad_()
        trainer = stand_in(variant, batch, **options)
        wanted = compute_loss(trainer, None, inputs_of(batch, mismatch))
        (slope,) = torch.autograd.grad(wanted, batch.logp)
        batch.logp = start.clone().requires_grad_()
        config = our_config(variant, **options)
        total = 0.0
        for part in PARTS:
            share = our_loss(config, batch, part, kl=kl)
            share.backward()
            total += share.item()
        assert slope.any()
        assert abs(total - wanted.item()) <= 1e-12, (options, observations)
        assert (batch.logp.grad - slope).abs().max() <= 1e-12, (options, observations)


def test_the_ratios_reach_all_ranges():
    batch = random_batch(torch.Generator().manual_seed(0), observations=False)
    kept = batch.attention.bool()
    ratio = (batch.logp - batch.old).exp()[kept]
    weights = (batch.old - batch.sampled).exp()[kept]
    assert (ratio < 1 - LOW).any()
    assert (ratio > 1 + HIGH).any()
    negative = (batch.advantages[:, None] < 0).expand_as(kept)[kept]
    assert (ratio[negative] > DELTA).any()
    assert (weights > CAP).any()
