"""What tasks draw their problems from: small libraries, each with a name and tests of its own.

A module belongs here if two tasks use it, or if it is a subject of its own, such as a programming
language with an interpreter. What only one task needs stands in that task's file. Generators know
verifiers and `rlvr_envs.core`, and nothing of environments.
"""
