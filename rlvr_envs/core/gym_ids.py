"""Registration of every id with Gymnasium."""

import gymnasium

from rlvr_envs.core import registry

# An environment on a server: gym.make(REMOTE, url="http://localhost:8000", env="Gcd-v0").
REMOTE = "rlvr/Remote-v0"


def register_ids() -> None:
    """Register every id that Gymnasium does not know yet; call again after adding tasks.

    The environments themselves are built only when one is made.

    Examples:
        >>> import gymnasium
        >>> import rlvr_envs
        >>> rlvr_envs.register_ids()
        >>> "rlvr/Gcd-v0" in gymnasium.registry
        True
    """
    for env_id in registry.all_ids():
        if env_id not in gymnasium.registry:
            gymnasium.register(
                env_id,
                entry_point="rlvr_envs.core.env:TextEnv",
                vector_entry_point="rlvr_envs.core.vector:TextVectorEnv",
                kwargs={"env_id": env_id},
            )
    if REMOTE not in gymnasium.registry:
        gymnasium.register(REMOTE, entry_point="rlvr_envs.serving.remote:RemoteEnv")
