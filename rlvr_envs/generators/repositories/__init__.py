"""Small Python packages with faults, whose functions call each other across modules."""
