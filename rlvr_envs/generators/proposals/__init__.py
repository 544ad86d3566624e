"""Questions that a model proposes about a world: read, checked, and tried on solvers."""
