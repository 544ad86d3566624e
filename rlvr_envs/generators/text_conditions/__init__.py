"""Conditions on a text that a program can check, and texts that they are read off."""
