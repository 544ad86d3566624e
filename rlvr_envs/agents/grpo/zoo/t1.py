"""T1 (arXiv 2501.11651): many hot samples, held by a reference that follows the policy."""

from rlvr_envs.agents.grpo.plugins import callback
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.agents.grpo.run import Callback, Run
from rlvr_envs.core.errors import ConfigError


@callback(name="moving_reference")
class MovingReference(Callback):
    """Moves the reference model's weights towards the policy's after each step."""

    def __init__(self, *, rate: float = 0.01) -> None:
        """Take the policy's share in the reference after a step."""
        if not 0 < rate <= 1:
            raise ConfigError(f"rate is above 0 and at most 1, got {rate!r}")
        self._rate = rate

    def on_step(self, run: Run, numbers: dict[str, float]) -> None:
        """Follow, once reinforcing has begun."""
        learner = run.learner
        if learner.reference is None:
            raise ConfigError("moving_reference moves the reference model: give kl or a loss of it")
        if run.step > run.config.optimiser.warm_start:
            weights = learner.workers.full_state_dict(learner.model)
            learner.reference.follow(weights, self._rate)


recipe(
    "t1",
    "T1, arXiv 2501.11651",
    differs="from reports: penalties on repetition are a wrapper of yours; rate and weights are "
    "not known",
    estimator="rloo",
    loss="clipped(high=0.2)",
    group_size=64,
    temperature=1.2,
    entropy_coef=0.001,
    kl="k3",
    kl_coef=0.001,
    callbacks=("moving_reference(rate=0.01)",),
    minibatches=4,
)
