"""The contracts that every part keeps; imports nothing else from this package."""
