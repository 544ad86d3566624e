"""Datasets of rows: generate, split, read, describe."""
