"""Glue for trainers and evaluators of others: one module a client, imported only when it is used.

Each module imports its client itself, so that ``import rlvr_envs`` needs none of them.
"""
