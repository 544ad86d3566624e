"""ProRL (arXiv 2505.24864): long training by a KL penalty whose reference model is reset."""

from rlvr_envs.agents.grpo.presets import recipe

recipe(
    "prorl",
    "arXiv 2505.24864",
    differs="the weight of the KL penalty and the interval of resets are not verified; the paper "
    "resets the optimiser too, and when validation stagnates",
    estimator="grpo",
    loss="clipped(low=0.2, high=0.4)",
    group_size=16,
    minibatches=4,
    temperature=1.2,
    dynamic_sampling=True,
    kl="k3",
    kl_coef=1e-4,
    reference_every=200,
)
