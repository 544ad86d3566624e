"""The taskset that ``vf-eval rlvr_vf`` loads; see `rlvr_envs.integrations.verifiers`."""

from rlvr_envs.integrations.verifiers import RlvrEnv, RlvrTaskset

__all__ = ["RlvrEnv", "RlvrTaskset"]
