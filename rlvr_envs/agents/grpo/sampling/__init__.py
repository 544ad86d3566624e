"""What continues token sequences: one protocol, and an engine a module, each a plug-in."""

from rlvr_envs.agents.grpo.sampling import engines  # noqa: F401 - registers them
