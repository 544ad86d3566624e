"""Regular languages in words, patterns in a stated dialect, and automata that compare them."""
