"""Puzzles of moves: shortest paths, how moves are scored, and play turn by turn."""
