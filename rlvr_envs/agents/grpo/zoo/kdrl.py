"""KDRL (arXiv 2506.02208): a teacher's opinion of what was sampled beside its reward."""

from rlvr_envs.agents.grpo.presets import recipe

recipe(
    "kdrl",
    "KDRL, arXiv 2506.02208",
    differs="the teacher is yours (`--reference FOLDER`); without one it is the initial model, and "
    "this a plain KL penalty; its weight stays the same, where the paper's falls",
    estimator="grpo",
    loss="clipped(high=0.28)",
    # The gradient of k2 is that of KL(policy, teacher) on the policy's own samples.
    kl="k2",
    kl_coef=2e-3,
    minibatches=4,
)
