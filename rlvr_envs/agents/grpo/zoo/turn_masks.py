"""Episodes with void turns, or that ran out of turns, are not trained on; they count in groups."""

from rlvr_envs.agents.grpo.presets import recipe

recipe(
    "simple_tir",
    "SimpleTIR, arXiv 2509.02479",
    estimator="grpo",
    loss="clipped(low=0.2, high=0.28)",
    minibatches=4,
    leave_out=("void_turn",),
)
recipe(
    "over_turn",
    "Mini-o3, arXiv 2509.07969, over-turn masking",
    differs="of the paper's recipe, the mask alone",
    estimator="grpo",
    loss="clipped(low=0.2, high=0.28)",
    leave_out=("over_turn",),
)
