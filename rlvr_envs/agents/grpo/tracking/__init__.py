"""What a run leaves behind for people: numbers of each step, samples, curves."""
