"""Exact mathematics: objects, their LaTeX, and the lines of worked solutions."""
