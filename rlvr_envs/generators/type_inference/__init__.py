"""Code without annotations, and the types that follow from what it does."""
