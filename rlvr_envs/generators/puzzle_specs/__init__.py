"""Puzzles from a YAML file.

`spec` reads the file, `language` and `terms` are its formulas, and `draw` makes a puzzle of it.
"""
