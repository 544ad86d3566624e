"""Statements with proofs: of propositional logic, of equations, and of natural numbers.

Each comes with the tactics of a proof, which the kernel has checked before the statement is given
out (`statements.checked`).
"""
