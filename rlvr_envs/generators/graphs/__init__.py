"""Graphs for tasks: drawing, wording and reading them."""
