"""Modules with global state, classes that replace them, and calls that compare the two."""
