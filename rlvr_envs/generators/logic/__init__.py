"""Propositional formulas, and lists of conclusions of which some follow."""
