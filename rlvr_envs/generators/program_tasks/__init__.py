"""Tasks made of a statement, a generator and solutions, and the check of such a file."""
