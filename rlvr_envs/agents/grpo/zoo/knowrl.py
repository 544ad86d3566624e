"""KnowRL: knowledge points in the prompt, as few as a problem needs."""

from rlvr_envs.agents.grpo.presets import recipe

recipe(
    "knowrl",
    "KnowRL",
    differs="points are steps of the worked solution unless a wrapper of yours has others; they "
    "are left out one after another while training, where the paper searches before it",
    estimator="dr_grpo",
    loss="clipped(low=0.2, high=0.28)",
    group_size=8,
    wrappers=("KnowledgePoints(rollouts=8)",),
    callbacks=("rounds(rounds=4)",),
)
