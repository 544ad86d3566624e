"""Grids: cells, Latin squares, mazes, and the exact search over cells that take one value each."""
