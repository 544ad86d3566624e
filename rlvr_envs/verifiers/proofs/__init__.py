"""Proofs step by step: statements, goals and tactics in the manner of Lean, checked by a kernel.

`kernel.py` is all that has to be trusted, with the axioms in `backend.py` and the reader of
statements in `notation.py`; `tactics.py` finds proofs that the kernel then follows.
"""
