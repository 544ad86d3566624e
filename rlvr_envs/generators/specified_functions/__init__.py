"""Functions specified in words, by examples, or as a chain of steps."""
