"""Judging hardware descriptions: equivalence with a reference, by simulation and by proof."""
